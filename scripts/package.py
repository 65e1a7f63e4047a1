"""Makes what the registries of Terraform and OpenTofu take: zip, manifest, checksums and their signature.

Usage: package.py       builds the provider for one platform, packs it, then does the rest for this one zip
       package.py sums  does the rest for the zips that are there, of all platforms

Variables, all optional:
  PROFILE=dev       another profile of cargo than release
  TARGET=TRIPLE     another platform than this machine's, as Rust calls it, such as x86_64-unknown-linux-musl
  FGW_BINARY=PATH   packs this binary as it is, and builds nothing
  PACKAGE_DIR=DIR   instead of target/package
  TAG=v1.2.3        refuses to go on unless this is the version of Cargo.toml
  GPG_KEY=ID        the key to sign with, RSA or DSA, as the registry takes no other; GPG_PASSPHRASE if it has one
  GPG=PROGRAM       instead of gpg

One commit, built with the same versions of Rust, C compiler and zlib, gives the same zip, byte for byte, whoever builds
it and wherever: times are fixed (SOURCE_DATE_EPOCH, or the first that a zip can hold), names are sorted, and the binary
holds no path of the builder.
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

sys.dont_write_bytecode = True  # A package leaves nothing beside the sources.
import licences

ROOT = licences.ROOT
NAME = "terraform-provider-fgw"
SYSTEMS = {"linux": "linux", "darwin": "darwin"}
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
ZIP_BEGINS = calendar.timegm((1980, 1, 1, 0, 0, 0))
RSA, DSA = "1", "17"


def said_by(command):
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def version():
    """Of the provider: Cargo.toml is the one place that says it."""
    found = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]["version"]
    tag = os.environ.get("TAG")
    if tag and tag != f"v{found}":
        sys.exit(f"the tag {tag} is not v{found}, which Cargo.toml says")
    return found


def platform_of(target):
    """How the registries call what Rust calls x86_64-unknown-linux-musl: linux_amd64."""
    machine, *rest = target.split("-")
    system = next((SYSTEMS[part] for part in rest if part in SYSTEMS), None)
    if machine not in MACHINES or not system:
        sys.exit(f"no release is made for {target}: only for {', '.join(SYSTEMS)} on {', '.join(MACHINES)}")
    return f"{system}_{MACHINES[machine]}"


def built(target, profile):
    """Builds the provider and gives the path of the binary, which holds no path of this machine."""
    directory = json.loads(said_by(["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"]))
    directory = directory["target_directory"]
    cargo = os.environ.get("CARGO_HOME") or str(pathlib.Path.home() / ".cargo")
    sysroot = said_by(["rustc", "--print", "sysroot"]).strip()
    about = dict(line.split(": ", 1) for line in said_by(["rustc", "-vV"]).splitlines() if ": " in line)
    # Of several that match, the last counts. The library's is what the compiler says itself where its source is absent.
    shown_as = {str(ROOT): "/fgw", directory: "/fgw/target", cargo: "/cargo", sysroot: "/rust",
                f"{sysroot}/lib/rustlib/src/rust": f"/rustc/{about['commit-hash']}"}
    flags = [f"--remap-path-prefix={path}={name}" for path, name in shown_as.items()]
    # With --target these flags are not used for build scripts, nor are those that a user has set.
    environment = dict(os.environ, CARGO_ENCODED_RUSTFLAGS="\x1f".join(flags))
    command = ["cargo", "build", "--locked", "--bin", NAME, "--profile", profile, "--target", target]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    # Cargo puts the profile called dev into a directory called debug.
    binary = pathlib.Path(directory) / target / ("debug" if profile == "dev" else profile) / NAME
    content = binary.read_bytes()
    for path in shown_as:
        if path.encode() in content:
            sys.exit(f"{binary} holds the path {path} of this machine, so another would build another binary")
    return binary


def pack(archive, members):
    """Writes a zip of (name, mode, content) that depends on nothing else."""
    moment = max(int(os.environ.get("SOURCE_DATE_EPOCH") or ZIP_BEGINS), ZIP_BEGINS)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, mode, content in sorted(members):
            about = zipfile.ZipInfo(name, time.gmtime(moment)[:6])
            about.create_system = 3  # Unix, or the mode does not count.
            about.external_attr = (0o100000 | mode) << 16
            about.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(about, content)


def packed(directory):
    """Builds and packs for one platform. Packages that were there are of an older commit, and go."""
    number = version()
    target = os.environ.get("TARGET") or licences.host()
    platform = platform_of(target)
    graph = licences.Graph(target)
    if said := licences.differences(graph):
        sys.exit("\n".join(said))
    if given := os.environ.get("FGW_BINARY"):
        binary = pathlib.Path(given)
    else:
        binary = built(target, os.environ.get("PROFILE") or "release")
    directory.mkdir(parents=True, exist_ok=True)
    for older in directory.glob(f"{NAME}_*"):
        older.unlink()
    pack(directory / f"{NAME}_{number}_{platform}.zip", [
        (f"{NAME}_v{number}", 0o755, binary.read_bytes()),
        ("LICENSE", 0o644, (ROOT / "LICENSE").read_bytes()),
        ("THIRD-PARTY-NOTICES.txt", 0o644, licences.notices(graph).encode()),
    ])
    if target.endswith("-gnu"):
        print("The binary needs the C library of a Linux as new as this one: "
              f"TARGET={target.removesuffix('-gnu')}-musl makes one that needs none.")


def sign(file, signature):
    """A detached signature that is not armoured, with the key that the caller names."""
    key, passphrase = os.environ.get("GPG_KEY"), os.environ.get("GPG_PASSPHRASE")
    signature.unlink(missing_ok=True)
    if not key:
        print("Without GPG_KEY there is no signature: the registries need one.")
        return
    program = shlex.split(os.environ.get("GPG") or "gpg")
    listed = said_by([*program, "--batch", "--with-colons", "--list-keys", key])
    kinds = [line.split(":")[3] for line in listed.splitlines() if line.startswith("pub:")]
    if len(kinds) != 1 or kinds[0] not in (RSA, DSA):
        sys.exit(f"GPG_KEY={key} names {len(kinds)} keys of the kinds {kinds}: the registry takes one, RSA or DSA")
    unlock = ["--pinentry-mode", "loopback", "--passphrase-fd", "0"] if passphrase else []
    subprocess.run([*program, "--batch", "--yes", "--local-user", key, *unlock, "--output", str(signature),
                    "--detach-sign", str(file)], input=passphrase or "", text=True, check=True)


def summed(directory):
    """Manifest, checksums and signature for the zips of this version, and nothing else, in a directory."""
    number = version()
    zips = sorted(directory.glob(f"{NAME}_{number}_*.zip"))
    if not zips:
        sys.exit(f"no zip of {number} in {directory}: make package writes one")
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
        sys.exit(f"{error.cmd[0]} {error.cmd[1]} has failed with {error.returncode}; what went wrong is said above")
