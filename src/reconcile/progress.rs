//! The progress of an apply, since Terraform shows one line for a whole topology.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use crate::cloud::retries::Retry;
use crate::model::printable;

/// Writes finished operations and retries to the log, and to the file or terminal in `FGW_PROGRESS` if it is set.
#[derive(Debug, Default)]
pub struct Progress {
    path: Option<PathBuf>,
    /// Opened for the first line. `None` if that failed.
    file: OnceLock<Option<File>>,
}

impl Progress {
    /// Writes to the file in the environment variable `FGW_PROGRESS`. If it cannot be opened, the first line logs a
    /// warning, and progress is written only to the log.
    pub fn from_environment() -> Progress {
        let path = std::env::var_os("FGW_PROGRESS").filter(|path| !path.is_empty()).map(PathBuf::from);
        Progress { path, file: OnceLock::new() }
    }

    /// Writes a line for a finished operation: `created nat_gateway.0 nat-0ab 1m32s, 31 of 49`.
    pub fn finished(&self, verb: &str, slot: &str, id: &str, took: Duration, done: usize, of: usize) {
        let mut line = format!("{verb} {slot} {id} ");
        write_duration(&mut line, took);
        let _ = write!(line, ", {done} of {of}");
        let line = printable(&line);
        tracing::info!("{line}");
        self.write(&line);
    }

    /// Writes a line for a retry, with the object of the call if there is one: `nat_gateway.0: retrying
    /// CreateNatGateway (2 of at most 7): HTTP status 503`.
    pub fn retrying(&self, slot: Option<&str>, retry: &Retry) {
        let line = slot.map_or_else(|| retry.to_string(), |slot| format!("{slot}: {retry}"));
        let line = printable(&line);
        tracing::warn!("{line}");
        self.write(&line);
    }

    fn write(&self, line: &str) {
        let Some(path) = &self.path else { return };
        let file = self.file.get_or_init(|| {
            let opened = open(path);
            opened.inspect_err(|error| tracing::warn!("cannot open {} from FGW_PROGRESS: {error}", path.display())).ok()
        });
        // One call for each line, so that lines of concurrent operations are never mixed.
        if let Some(mut file) = file.as_ref()
            && let Err(error) = file.write_all(format!("{line}\n").as_bytes())
        {
            tracing::warn!("cannot write to the file in FGW_PROGRESS: {error}");
        }
    }
}

/// Opens a file for appending, or creates one that only this user can read. Never blocks.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
    // Opening a pipe blocks until it has a reader, except with O_NONBLOCK. Opening a terminal can make it the one that
    // sends signals to this process, except with O_NOCTTY.
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(flags).open(path)?;
    let kind = file.metadata()?.file_type();
    match kind.is_file() || kind.is_char_device() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is neither a file nor a terminal")),
    }
}

/// Opens a file for appending, or creates one. By default, only this user can read the files in their directories.
#[cfg(windows)]
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().append(true).create(true).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file")),
    }
}

fn write_duration(line: &mut String, took: Duration) {
    let seconds = took.as_secs();
    let _ = match seconds {
        0 => write!(line, "{} ms", took.as_millis()),
        1..=59 => write!(line, "{seconds}s"),
        _ => write!(line, "{}m{}s", seconds / 60, seconds % 60),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_formatted_as_by_terraform() {
        let text = |millis| {
            let mut line = String::new();
            write_duration(&mut line, Duration::from_millis(millis));
            line
        };
        assert_eq!([text(12), text(2_900), text(92_000)], ["12 ms", "2s", "1m32s"]);
    }

    #[cfg(unix)]
    fn to(path: &Path) -> Progress {
        Progress { path: Some(path.into()), file: OnceLock::new() }
    }

    #[cfg(unix)]
    #[test]
    fn the_first_line_creates_a_private_file() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("progress");
        let progress = to(&path);
        assert!(!path.exists());
        progress.finished("created", "eip.0\n", "eipalloc-1\u{202e}", Duration::from_secs(2), 1, 2);
        progress.finished("created", "vpc", "vpc-1", Duration::from_secs(3), 2, 2);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let lines = std::fs::read_to_string(&path).unwrap();
        assert_eq!(lines, "created eip.0\\n eipalloc-1\\u{202e} 2s, 1 of 2\ncreated vpc vpc-1 3s, 2 of 2\n");
    }

    #[cfg(unix)]
    #[test]
    fn only_files_and_terminals_are_written() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(open(&pipe).is_err(), "a pipe without a reader");
        // On Linux and macOS, a pipe that is open for both directions has a reader.
        let _reader = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        let error = open(&pipe).unwrap_err();
        assert_eq!(error.to_string(), "it is neither a file nor a terminal");
        assert!(open(directory.path()).is_err());
        assert!(open(Path::new("/dev/null")).is_ok());
    }
}
