//! The Python virtual environments: with the emulators and boto3, with LocalStack, and with the engines of policies.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The directory of the environment. `scripts/venv.sh` creates or updates it if necessary, so that a plain `cargo test`
/// works too. Panics with the script's error output.
pub(crate) fn venv() -> &'static Path {
    static VENV: OnceLock<PathBuf> = OnceLock::new();
    VENV.get_or_init(create)
}

/// A program of the environment with LocalStack.
pub(crate) fn of_localstack(name: &str) -> PathBuf {
    static VENV: OnceLock<PathBuf> = OnceLock::new();
    VENV.get_or_init(|| run(&["localstack"])).join("bin").join(name)
}

/// A program of the environment with the engines of policies.
pub(crate) fn of_policies(name: &str) -> PathBuf {
    static VENV: OnceLock<PathBuf> = OnceLock::new();
    VENV.get_or_init(|| run(&["policies"])).join("bin").join(name)
}

/// A program of the environment, such as `python` or `moto_server`.
pub(crate) fn program(name: &str) -> PathBuf {
    venv().join("bin").join(name)
}

/// A file of a Python package of the environment.
pub(crate) fn package(path: &str) -> PathBuf {
    let versions = std::fs::read_dir(venv().join("lib")).expect("a Python environment has a library");
    let mut files =
        versions.map(|version| version.expect("a directory can be read").path().join("site-packages").join(path));
    files.find(|file| file.exists()).unwrap_or_else(|| panic!("tests/requirements.txt does not install {path}"))
}

/// Runs the script unconditionally, and returns the directory that it prints.
pub(crate) fn create() -> PathBuf {
    run(&[])
}

fn run(arguments: &[&str]) -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/venv.sh");
    let run = Command::new(&script)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("cannot run {}: {error}", script.display()));
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "cannot create the virtual environment of the emulators:\n{stderr}");
    let directory = String::from_utf8_lossy(&run.stdout).lines().last().map(PathBuf::from);
    directory.unwrap_or_else(|| panic!("scripts/venv.sh prints no directory:\n{stderr}"))
}
