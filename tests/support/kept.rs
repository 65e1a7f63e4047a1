//! The artifacts of a failed test: its working directories, the logs of provider and emulator, and the calls that its
//! proxies logged, in `target/failed/<test>`.

use std::fs;
use std::path::{Path, PathBuf};

/// The directory for the artifacts of this test; `None` if the test is not failing. The name of the thread is the name
/// of the test.
pub(crate) fn directory() -> Option<PathBuf> {
    let thread = std::thread::current();
    let test = thread.name().filter(|_| std::thread::panicking())?;
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/failed").join(test.replace("::", "."));
    if !directory.exists() {
        fs::create_dir_all(&directory).ok()?;
        eprintln!("logs, calls and working directories of {test}: {}", directory.display());
    }
    Some(directory)
}

/// Writes a file into the directory of [`directory`]. An error is only printed, because the test already fails.
pub(crate) fn write(directory: &Path, name: &str, text: &str) {
    if let Err(error) = fs::write(directory.join(name), text) {
        eprintln!("cannot save {name}: {error}");
    }
}

/// Copies a directory, without links and sockets, into another one under its own name.
pub(crate) fn copy(from: &Path, into: &Path) {
    if let Err(error) = copied(from, &into.join(from.file_name().unwrap_or_default())) {
        eprintln!("cannot save {}: {error}", from.display());
    }
}

fn copied(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let target = to.join(entry.file_name());
        if kind.is_dir() {
            copied(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
