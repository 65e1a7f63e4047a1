#!/bin/sh
# Copies the provider that cargo built to DIRECTORY, and prints the Terraform configuration that uses it.
#
#   scripts/install.sh PROFILE DIRECTORY
set -eu

cd "$(dirname "$0")/.."
profile=$1
directory=$2

# Cargo writes the profile named dev to a directory named debug.
case $profile in
    dev) built=debug ;;
    *) built=$profile ;;
esac
target=$(cargo metadata --locked --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')

mkdir -p "$directory"
# Copy under a new name first, because a running Terraform must keep the file that it has opened.
cp "$target/$built/terraform-provider-fgw" "$directory/.terraform-provider-fgw.new"
mv "$directory/.terraform-provider-fgw.new" "$directory/terraform-provider-fgw"

cat <<TEXT
Installed $directory/terraform-provider-fgw

Add this to ~/.terraformrc, or to the file that TF_CLI_CONFIG_FILE names:

  provider_installation {
    dev_overrides {
      "fgw/fgw" = "$directory"
    }
    direct {}
  }

This provider then needs no "terraform init", and Terraform warns on each run that it is not a released version.
TEXT
