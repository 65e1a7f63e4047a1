#!/bin/sh
# Installs the provider that cargo built into a filesystem mirror, from which `terraform init` and `tofu init` install it
# as from a registry, and prints the configuration that they need.
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
version=$(cargo pkgid --locked | sed 's/.*[#@]//')

# The registries' name of this platform, from Rust's, such as x86_64-unknown-linux-gnu.
host=$(rustc -vV | sed -n 's/^host: //p')
case $host in
    *-linux-*) system=linux ;;
    *-darwin) system=darwin ;;
    *) echo "$host is not a platform that make install supports" >&2; exit 1 ;;
esac
case $host in
    x86_64-*) machine=amd64 ;;
    aarch64-*) machine=arm64 ;;
    *) echo "$host is not a platform that make install supports" >&2; exit 1 ;;
esac

mkdir -p "$directory"
directory=$(cd "$directory" && pwd)

# Terraform and OpenTofu each complete the source address fgw/fgw with the host of their own registry.
asked=$(mktemp -d)
trap 'rm -rf "$asked"' EXIT
printf 'terraform {\n  required_providers {\n    fgw = { source = "fgw/fgw" }\n  }\n}\n' > "$asked/main.tf"
registries=$(
    for program in "${TERRAFORM:-terraform}" "${TOFU:-tofu}"; do
        if command -v "$program" >/dev/null; then
            "$program" -chdir="$asked" providers 2>/dev/null | sed -n 's|.*provider\[\([^/]*\)/fgw/fgw\].*|\1|p'
        fi
    done | sort -u
)
[ -n "$registries" ] || { echo "make install needs terraform or tofu, which name the directory of the mirror" >&2; exit 1; }

for registry in $registries; do
    package=$directory/$registry/fgw/fgw/$version/${system}_$machine
    mkdir -p "$package"
    # Copy under a new name first, because a running Terraform must keep the file that it has opened.
    cp "$target/$built/terraform-provider-fgw" "$package/.new"
    mv "$package/.new" "$package/terraform-provider-fgw_v$version"
done

case $version in
    *-*) exact="
$version is a release candidate, which Terraform and OpenTofu install only if the configuration requires exactly this
version." ;;
    *) exact= ;;
esac

case $profile in
    dev) build="
This is the build for development, which is large and slow. For the build of a release: make install PROFILE=release
" ;;
    *) build= ;;
esac

cat <<TEXT
Installed version $version into $directory
$build
1. Add this to ~/.terraformrc (OpenTofu: ~/.tofurc), or to the file that TF_CLI_CONFIG_FILE names:

  provider_installation {
    filesystem_mirror {
      path    = "$directory"
      include = ["fgw/fgw"]
    }
    direct {
      exclude = ["fgw/fgw"]
    }
  }

   The file may contain only one block provider_installation. If it has one already, add the filesystem_mirror to it,
   and "fgw/fgw" to the exclude of its other methods.

2. Require the provider, and run terraform init or tofu init. Other providers still come from their registries.$exact

  terraform {
    required_providers {
      fgw = {
        source  = "fgw/fgw"
        version = "$version"
      }
    }
  }

If terraform init reports that the checksums differ, .terraform.lock.hcl has those of an earlier build of the same
version. Delete the block of fgw/fgw there, and run terraform init again.
TEXT
