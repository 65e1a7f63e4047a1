//! The Python virtual environment with the emulators and boto3.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The environment's directory, made by `scripts/venv.sh` when it is not current, so that a bare `cargo test` works
/// too. Panics with what the script says is missing.
pub(crate) fn venv() -> &'static Path {
    static VENV: OnceLock<PathBuf> = OnceLock::new();
    VENV.get_or_init(make)
}

/// A program of the environment, such as `python` or `moto_server`.
pub(crate) fn program(name: &str) -> PathBuf {
    venv().join("bin").join(name)
}

/// Runs the script once more, whatever it did before, and gives the directory it names.
pub(crate) fn make() -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/venv.sh");
    let run = Command::new(&script).output().unwrap_or_else(|error| panic!("cannot run {}: {error}", script.display()));
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "the emulators' virtual environment is missing:\n{said}");
    let directory = String::from_utf8_lossy(&run.stdout).lines().last().map(PathBuf::from);
    directory.unwrap_or_else(|| panic!("scripts/venv.sh names no directory:\n{said}"))
}
