"""Builds the release twice, in different directories, and compares the zip files. Signs with gpg if it is installed.

Usage: package_test.py, run by `make package-test`. It builds the release from scratch up to two times.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def package(top, arguments=(), **variables):
    environment = {name: value for name, value in os.environ.items() if name not in ("CARGO_TARGET_DIR", "GPG_KEY")}
    subprocess.run([sys.executable, str(top / "scripts" / "package.py"), *arguments], check=True,
                   env=dict(environment, **variables))


def copy_of_the_project(place):
    """Copies the tracked files and the untracked files that are not ignored."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            stdout=subprocess.PIPE, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).exists():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)


def another_cargo_home(place):
    """Creates a cargo home in another directory, with the sources that cargo has already downloaded."""
    place.mkdir()
    home = pathlib.Path(os.environ.get("CARGO_HOME") or pathlib.Path.home() / ".cargo")
    for name in ("registry", "git", "config.toml"):
        if (home / name).exists():
            (place / name).symlink_to(home / name)


def compare(one, other):
    if one.read_bytes() == other.read_bytes():
        return
    with zipfile.ZipFile(one) as first, zipfile.ZipFile(other) as second:
        differing = [name for name in first.namelist() if first.read(name) != second.read(name)]
    sys.exit(f"{one} differs from a build in another directory: {', '.join(differing) or 'the files are equal'}")


def runs(archive, place):
    """Runs the binary with the mode in the zip, as Terraform does."""
    with zipfile.ZipFile(archive) as packed:
        about = next(it for it in packed.infolist() if it.filename.startswith("terraform-provider-fgw_v"))
        binary = pathlib.Path(packed.extract(about, place))
    binary.chmod(about.external_attr >> 16)
    if b"FGW_PANIC" in binary.read_bytes():
        sys.exit(f"{about.filename} contains the code that panics on demand, which is only for tests")
    printed = subprocess.run([str(binary), "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    if printed.split(" ")[1] != about.filename.split("_v")[1]:
        sys.exit(f"{about.filename} prints another version: {printed}")
    return printed


def signed_by_gpg(directory, place):
    if not shutil.which("gpg"):
        return "not signed, because gpg is not installed"
    place.mkdir(mode=0o700)
    variables = {"GNUPGHOME": str(place)}
    environment = dict(os.environ, **variables)
    try:
        subprocess.run(["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", "test@fgw.invalid",
                        "rsa2048", "sign", "never"], env=environment, check=True)
        package(ROOT, ["sums"], PACKAGE_DIR=str(directory), GPG_KEY="test@fgw.invalid", **variables)
        sums = next(directory.glob("*_SHA256SUMS"))
        verify = ["gpg", "--batch", "--quiet", "--verify", f"{sums}.sig", str(sums)]
        subprocess.run(verify, env=environment, check=True)
    finally:
        subprocess.run(["gpgconf", "--kill", "gpg-agent"], env=environment, check=False)
    return "checksums signed and verified with gpg"


def main():
    with tempfile.TemporaryDirectory(prefix="fgw-package-") as place:
        place = pathlib.Path(place)
        first, second = place / "first", place / "second"
        package(ROOT, PACKAGE_DIR=str(first))
        elsewhere = place / "another" / "directory"
        copy_of_the_project(elsewhere)
        another_cargo_home(place / "cargo")
        package(elsewhere, PACKAGE_DIR=str(second), CARGO_HOME=str(place / "cargo"))
        archive = next(first.glob("*.zip"))
        compare(archive, second / archive.name)
        print(f"{archive.name}: byte-identical in two builds in two directories")
        print(f"{archive.name}: {runs(archive, place / 'run')}")
        print(f"{archive.name}: {signed_by_gpg(first, place / 'gpg')}")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        failed = " ".join(map(str, error.cmd[:2]))
        sys.exit(f"{failed} failed with exit code {error.returncode}; see the error above")
