"""Creates the files that the registries of Terraform and OpenTofu require: zip, manifest, checksums and signature.

Usage: package.py       builds and packs the provider for one platform, then creates the other files for this zip
       package.py sums  creates the other files for the existing zip files of all platforms

Variables, all optional:
  PROFILE=dev       another cargo profile than release
  TARGET=TRIPLE     another platform than this machine's, by Rust's name, such as x86_64-unknown-linux-musl
  FGW_BINARY=PATH   packs this binary as it is, and builds nothing
  PACKAGE_DIR=DIR   another directory than target/package
  TAG=v1.2.3        fails unless this is the version in Cargo.toml
  GPG_KEY=ID        the key to sign with, RSA or DSA, because registries accept no other; GPG_PASSPHRASE if it has one
  GPG=PROGRAM       another program than gpg

The zip is reproducible: one commit, built with the same versions of Rust, C compiler and zlib, gives the same bytes on
every machine. Times are fixed (SOURCE_DATE_EPOCH, or the earliest time that a zip can contain), names are sorted, and
the binary contains no path of the machine.
"""

import calendar
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
import zipfile

sys.dont_write_bytecode = True  # Packaging must not write files next to the sources.
import licenses

ROOT = licenses.ROOT
NAME = "terraform-provider-fgw"
SYSTEMS = {"linux": "linux", "darwin": "darwin", "windows": "windows"}
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
ZIP_BEGINS = calendar.timegm((1980, 1, 1, 0, 0, 0))
RSA, DSA = "1", "17"


def output_of(command):
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def version():
    """The version of the provider, which only Cargo.toml states."""
    found = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]["version"]
    tag = os.environ.get("TAG")
    if tag and tag != f"v{found}":
        sys.exit(f"the tag {tag} does not match the version {found} in Cargo.toml")
    return found


def platform_of(target):
    """The registries' name of a platform: linux_amd64 for Rust's x86_64-unknown-linux-musl."""
    machine, *rest = target.split("-")
    system = next((SYSTEMS[part] for part in rest if part in SYSTEMS), None)
    if machine not in MACHINES or not system:
        sys.exit(f"{target} is not a platform of a release: use {' or '.join(SYSTEMS)} on {' or '.join(MACHINES)}")
    return f"{system}_{MACHINES[machine]}"


def ending(target):
    """The ending of the name of a program."""
    return ".exe" if "windows" in target.split("-") else ""


def built(target, profile):
    """Builds the provider and returns the path of the binary, which contains no path of this machine."""
    directory = json.loads(output_of(["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"]))
    directory = directory["target_directory"]
    cargo = os.environ.get("CARGO_HOME") or str(pathlib.Path.home() / ".cargo")
    sysroot = output_of(["rustc", "--print", "sysroot"]).strip()
    about = dict(line.split(": ", 1) for line in output_of(["rustc", "-vV"]).splitlines() if ": " in line)
    # The last match counts. The library's path is the one that the compiler itself uses if its source is not installed.
    shown_as = {str(ROOT): "/fgw", directory: "/fgw/target", cargo: "/cargo", sysroot: "/rust",
                f"{sysroot}/lib/rustlib/src/rust": f"/rustc/{about['commit-hash']}"}
    flags = [f"--remap-path-prefix={path}={name}" for path, name in shown_as.items()]
    if target.endswith("-msvc"):
        # The binary contains its C library, so it runs on any Windows, and no time of its build.
        flags += ["-Ctarget-feature=+crt-static", "-Clink-arg=/Brepro"]
    # With --target, these flags do not apply to build scripts. They replace the flags that a user has set.
    environment = dict(os.environ, CARGO_ENCODED_RUSTFLAGS="\x1f".join(flags))
    command = ["cargo", "build", "--locked", "--bin", NAME, "--profile", profile, "--target", target]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    # Cargo writes the profile named dev to a directory named debug.
    binary = pathlib.Path(directory) / target / ("debug" if profile == "dev" else profile)
    binary /= NAME + ending(target)
    content = binary.read_bytes()
    for path in shown_as:
        if path.encode() in content:
            sys.exit(f"{binary} contains the path {path} of this machine, so it is not reproducible")
    return binary


def pack(archive, members):
    """Writes a zip that depends only on its members (name, mode, content)."""
    moment = max(int(os.environ.get("SOURCE_DATE_EPOCH") or ZIP_BEGINS), ZIP_BEGINS)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, mode, content in sorted(members):
            about = zipfile.ZipInfo(name, time.gmtime(moment)[:6])
            about.create_system = 3  # Unix; otherwise the mode is ignored.
            about.external_attr = (0o100000 | mode) << 16
            about.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(about, content)


def packed(directory):
    """Builds and packs for one platform. Deletes existing packages, which are of an older commit."""
    number = version()
    target = os.environ.get("TARGET") or licenses.host()
    platform = platform_of(target)
    graph = licenses.Graph(target)
    if differences := licenses.differences(graph):
        sys.exit("\n".join(differences))
    if given := os.environ.get("FGW_BINARY"):
        binary = pathlib.Path(given)
    else:
        binary = built(target, os.environ.get("PROFILE") or "release")
    directory.mkdir(parents=True, exist_ok=True)
    for older in directory.glob(f"{NAME}_*"):
        older.unlink()
    pack(directory / f"{NAME}_{number}_{platform}.zip", [
        (f"{NAME}_v{number}{ending(target)}", 0o755, binary.read_bytes()),
        ("LICENSE", 0o644, (ROOT / "LICENSE").read_bytes()),
        ("THIRD-PARTY-NOTICES.txt", 0o644, licenses.notices(graph).encode()),
    ])
    if target.endswith("-gnu"):
        print("The binary requires a C library as recent as the one of this Linux. "
              f"TARGET={target.removesuffix('-gnu')}-musl builds a binary that requires none.")


def sign(file, signature):
    """Writes a detached, binary signature with the key in GPG_KEY."""
    key, passphrase = os.environ.get("GPG_KEY"), os.environ.get("GPG_PASSPHRASE")
    signature.unlink(missing_ok=True)
    if not key:
        print("GPG_KEY is not set, so there is no signature. The registries require one.")
        return
    program = shlex.split(os.environ.get("GPG") or "gpg")
    listed = output_of([*program, "--batch", "--with-colons", "--list-keys", key])
    kinds = [line.split(":")[3] for line in listed.splitlines() if line.startswith("pub:")]
    if len(kinds) != 1 or kinds[0] not in (RSA, DSA):
        sys.exit(f"GPG_KEY={key} matches {len(kinds)} keys of the kinds {kinds}; registries accept one key, RSA or DSA")
    unlock = ["--pinentry-mode", "loopback", "--passphrase-fd", "0"] if passphrase else []
    subprocess.run([*program, "--batch", "--yes", "--local-user", key, *unlock, "--output", str(signature),
                    "--detach-sign", str(file)], input=passphrase or "", text=True, check=True)


def summed(directory):
    """Writes manifest, checksums and signature for the zip files of this version, and only these, in a directory."""
    number = version()
    zips = sorted(directory.glob(f"{NAME}_{number}_*.zip"))
    if not zips:
        sys.exit(f"{directory} contains no zip of {number}: run make package")
    manifest = directory / f"{NAME}_{number}_manifest.json"
    shutil.copyfile(ROOT / "terraform-registry-manifest.json", manifest)
    files = sorted([*zips, manifest])
    sums = directory / f"{NAME}_{number}_SHA256SUMS"
    sums.write_text("".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files))
    sign(sums, directory / f"{sums.name}.sig")
    for file in sorted(directory.iterdir()):
        print(f"{file.stat().st_size:>12,}  {file}")


def main():
    directory = pathlib.Path(os.environ.get("PACKAGE_DIR") or ROOT / "target" / "package").absolute()
    if sys.argv[1:] not in ([], ["sums"]):
        sys.exit(__doc__)
    if not sys.argv[1:]:
        packed(directory)
    summed(directory)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error.cmd[0]} {error.cmd[1]} failed with exit code {error.returncode}; see the error above")
