#!/bin/sh
# Copies the provider that cargo has built to where Terraform shall find it, and prints how to tell Terraform.
#
#   scripts/install.sh PROFILE DIRECTORY
set -eu

cd "$(dirname "$0")/.."
profile=$1
directory=$2

# Cargo puts the profile called dev into a directory called debug.
case $profile in
    dev) built=debug ;;
    *) built=$profile ;;
esac
target=$(cargo metadata --locked --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')

mkdir -p "$directory"
# Under a new name first: a Terraform that is running keeps the file that it has opened.
cp "$target/$built/terraform-provider-fgw" "$directory/.terraform-provider-fgw.new"
mv "$directory/.terraform-provider-fgw.new" "$directory/terraform-provider-fgw"

cat <<TEXT
Installed $directory/terraform-provider-fgw

Put this into ~/.terraformrc, or into a file that TF_CLI_CONFIG_FILE names:

  provider_installation {
    dev_overrides {
      "fgw/fgw" = "$directory"
    }
    direct {}
  }

With it no "terraform init" is needed for this provider, and Terraform says on each run that it is not a released one.
TEXT
