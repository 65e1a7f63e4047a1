#!/bin/sh
# Creates the Python virtual environment with the AWS emulators and boto3, as tests/requirements.txt pins them, and
# prints its directory as the last line of standard output. Does nothing if the environment is current. Installs only
# packages whose hashes tests/hashes contains. Of tailer, which LocalStack requires, only the source is published: pip
# checks its hash and builds it with the current setuptools, which it downloads without a known hash.
#
#   scripts/venv.sh                    creates or updates .venv in the project's root directory
#   FGW_VENV=DIR scripts/venv.sh       uses DIR instead
#   PYTHON=python3.12 scripts/venv.sh  uses this interpreter
#   scripts/venv.sh localstack         the same for LocalStack, with tests/localstack.txt and .venv-localstack, or
#                                      FGW_LOCALSTACK_VENV. Its requirements contradict those of the other emulators.
#   scripts/venv.sh policies           the same for the engines that run the policies of a guide, with
#                                      tests/policies.txt and .venv-policies, or FGW_POLICIES_VENV
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
case ${1:-emulators} in
emulators) venv=${FGW_VENV:-$root/.venv} requirements=$root/tests/requirements.txt ;;
localstack) venv=${FGW_LOCALSTACK_VENV:-$root/.venv-localstack} requirements=$root/tests/localstack.txt ;;
policies) venv=${FGW_POLICIES_VENV:-$root/.venv-policies} requirements=$root/tests/policies.txt ;;
*) echo "scripts/venv.sh: unknown environment $1" >&2 && exit 1 ;;
esac
# The stamp is a copy of the requirements, written last, so an incomplete environment has none.
stamp=requirements.made-from

current() { cmp -s "$requirements" "$venv/$stamp" && [ -x "$venv/bin/python" ]; }

if current; then
    echo "$venv"
    exit 0
fi

fail() {
    echo "scripts/venv.sh: $1" >&2
    exit 1
}

suitable() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

python=
for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    if command -v "$candidate" >/dev/null 2>&1 && suitable "$candidate"; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || fail "the AWS emulators need Python 3.11 or later, which was not found (tried: ${PYTHON:-python3, python3.14 ... python3.11}).
Install it (Debian, Ubuntu: apt install python3 python3-venv; Fedora: dnf install python3; macOS: brew install python), or set its path: PYTHON=/path/to/python3 scripts/venv.sh"
"$python" -c 'import venv, ensurepip' 2>/dev/null || fail "$python lacks the modules venv and ensurepip.
Debian, Ubuntu: apt install python3-venv (or python3.X-venv for that version)."

# A kernel lock on an existing file: a caller that is killed leaves nothing behind.
echo "creating $venv from tests/${requirements##*/} (once, takes a minute or two)" >&2
"$python" - "$venv" "$requirements" "$root/tests/hashes/${requirements##*/}" "$stamp" >&2 <<'PYTHON' || fail "could not create $venv; see the error above (pip needs access to a package index)."
import fcntl, pathlib, shutil, subprocess, sys

venv, requirements, hashes, stamp = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
with open(requirements) as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    wanted = requirements.read_bytes()
    copy = venv / stamp
    if copy.exists() and copy.read_bytes() == wanted:
        sys.exit(0)  # Another caller has created it while this one waited.
    if venv.exists() and any(venv.iterdir()) and not (venv / "pyvenv.cfg").exists():
        sys.exit(f"{venv} exists and is not a virtual environment: move it away or set FGW_VENV")
    copy.unlink(missing_ok=True)
    steps = [
        [sys.executable, "-m", "venv", "--clear", str(venv)],
        [str(venv / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input",
         "--require-hashes", "--requirement", hashes],
    ]
    for step in steps:
        done = subprocess.run(step)
        if done.returncode != 0:
            sys.exit(f"exit code {done.returncode}: {' '.join(step)}")
    shutil.copyfile(requirements, str(copy) + ".new")
    pathlib.Path(str(copy) + ".new").rename(copy)
PYTHON
current || fail "$venv was created, but does not match tests/${requirements##*/}"
echo "$venv"
