//! What a failed test leaves for a look: its working directories, the logs of provider and emulator, and the calls that
//! its proxies have seen, in `target/failed/<test>`.

use std::fs;
use std::path::{Path, PathBuf};

/// The directory for what this test leaves; `None` unless it is failing. A test runs in a thread of its name.
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

/// Writes a file into a directory of [`directory`]. A test that fails already fails for its own reason.
pub(crate) fn write(directory: &Path, name: &str, text: &str) {
    if let Err(error) = fs::write(directory.join(name), text) {
        eprintln!("{name} could not be kept: {error}");
    }
}

/// Copies a directory, without links and sockets, into another one under its own name.
pub(crate) fn copy(from: &Path, into: &Path) {
    if let Err(error) = copied(from, &into.join(from.file_name().unwrap_or_default())) {
        eprintln!("{} could not be kept: {error}", from.display());
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
