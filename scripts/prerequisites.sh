#!/bin/sh
# Prints which of the given programs are missing, and how to install them. Changes nothing.
#
#   scripts/prerequisites.sh cargo python terraform
#
# With python, the path of a suitable interpreter is the only line of standard output.
# Set PYTHON and TERRAFORM to use other programs (TERRAFORM=tofu).
set -eu

missing=

# The value of a key in Cargo.toml, which states the versions.
stated() { sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" "$(dirname "$0")/../Cargo.toml"; }

lacks() { missing="$missing
  $1"; }

has() { command -v "$1" >/dev/null 2>&1; }

suitable() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

need_cargo() {
    has cargo || lacks "cargo, $(stated rust-version) or later: https://rustup.rs"
    has cc || lacks 'a C compiler, which Rust needs for linking (Debian, Ubuntu: apt install build-essential; Fedora: dnf install gcc; macOS: xcode-select --install)'
}

need_python() {
    for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if has "$candidate" && suitable "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    lacks "Python 3.11 or later, tried: ${PYTHON:-python3, python3.14 to python3.11} (Debian, Ubuntu: apt install python3 python3-venv; Fedora: dnf install python3; macOS: brew install python)"
}

need_terraform() {
    has "${TERRAFORM:-terraform}" || lacks "${TERRAFORM:-terraform}, $(stated minimum) or later: https://developer.hashicorp.com/terraform/install (or OpenTofu, with TERRAFORM=tofu)"
}

for program in "$@"; do
    case $program in
        cargo | python | terraform) "need_$program" ;;
        *) echo "scripts/prerequisites.sh: unknown program $program, expected cargo, python or terraform" >&2; exit 2 ;;
    esac
done

if [ -n "$missing" ]; then
    echo "Missing on this machine:$missing" >&2
    exit 1
fi
