//! The progress of an apply, since Terraform shows one line for a whole topology.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::cloud::retries::Retry;
use crate::model::printable;

/// Writes finished operations and retries to the log, and to the file or terminal in `FGW_PROGRESS` if it is set.
#[derive(Debug, Default)]
pub struct Progress {
    path: Option<PathBuf>,
    /// Opened for the first line. `None` if that failed.
    file: OnceLock<Option<File>>,
    /// The first failure.
    problem: OnceLock<String>,
    is_reported: AtomicBool,
}

/// How an operation finished.
#[derive(Clone, Copy, Debug)]
pub enum Took<'a> {
    /// After this time.
    Time(Duration),
    /// Without a call, because AWS deletes the object with this one.
    NoCall {
        /// The key of the other object.
        parent: &'a str,
    },
}

impl Progress {
    /// Writes to the file in the environment variable `FGW_PROGRESS`. If it cannot be opened, progress is written only
    /// to the log, and [`Progress::take_problem`] returns the reason.
    pub fn from_environment() -> Progress {
        let path = std::env::var_os("FGW_PROGRESS").filter(|path| !path.is_empty()).map(PathBuf::from);
        Progress { path, ..Progress::default() }
    }

    /// Logs a finished operation as `created nat_gateway.0 nat-0ab 1m32s, 31 of 49`, and writes the same in columns.
    pub fn finished(&self, verb: &str, slot: &str, id: &str, took: Took<'_>, done: usize, of: usize) {
        let took = match took {
            Took::Time(took) => duration(took),
            Took::NoCall { parent } => format!("with {parent}"),
        };
        tracing::info!("{}", printable(&format!("{verb} {slot} {id} {took}, {done} of {of}")));
        let width = of.to_string().len();
        self.write(&printable(&columns(&format!("{done:>width$}/{of}"), verb, slot, id, &took)));
    }

    /// Writes a line for an object on which others can depend already, while its operation still sets the rest. It has
    /// no number, because the operation is not finished.
    pub fn usable(&self, slot: &str, id: &str, of: usize) {
        let blank = " ".repeat(2 * of.to_string().len() + 1);
        self.write(&printable(&columns(&blank, "usable", slot, id, "")));
    }

    /// Writes a line for a retry or a wait, with the object of the call if there is one: `nat_gateway.0: retrying
    /// CreateNatGateway (2 of at most 7): HTTP status 503`.
    pub fn retrying(&self, slot: Option<&str>, retry: &Retry) {
        let line = slot.map_or_else(|| retry.to_string(), |slot| format!("{slot}: {retry}"));
        let line = printable(&line);
        match retry.is_wait {
            true => tracing::info!("{line}"),
            false => tracing::warn!("{line}"),
        }
        self.write(&line);
    }

    /// Returns why nothing was written so far, if something was to be written. Only once.
    pub fn take_problem(&self) -> Option<String> {
        self.problem.get().filter(|_| !self.is_reported.swap(true, Ordering::Relaxed)).cloned()
    }

    fn fails(&self, problem: String) {
        tracing::warn!("{problem}");
        self.problem.get_or_init(|| problem);
    }

    fn write(&self, line: &str) {
        let Some(path) = &self.path else { return };
        let file = self.file.get_or_init(|| {
            let opened = open(path);
            opened.inspect_err(|error| self.fails(format!("{} cannot be opened: {error}", path.display()))).ok()
        });
        // One call for each line, so that lines of concurrent operations are never mixed.
        if let Some(mut file) = file.as_ref()
            && let Err(error) = file.write_all(format!("{line}\n").as_bytes())
        {
            self.fails(format!("{} cannot be written: {error}", path.display()));
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

/// Columns of the width of most keys and IDs, so that a reader finds each value at the same place.
fn columns(number: &str, verb: &str, slot: &str, id: &str, duration: &str) -> String {
    format!("{number}  {verb:<8}  {slot:<34}  {id:<26}  {duration}").trim_end().to_string()
}

fn duration(took: Duration) -> String {
    let seconds = took.as_secs();
    match seconds {
        0 => format!("{} ms", took.as_millis()),
        1..=59 => format!("{seconds}s"),
        _ => format!("{}m{}s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_formatted_as_by_terraform() {
        let text = |millis| duration(Duration::from_millis(millis));
        assert_eq!([text(12), text(2_900), text(92_000)], ["12 ms", "2s", "1m32s"]);
    }

    #[cfg(unix)]
    fn to(path: &Path) -> Progress {
        Progress { path: Some(path.into()), ..Progress::default() }
    }

    #[cfg(unix)]
    #[test]
    fn the_first_line_creates_a_private_file() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("progress");
        let progress = to(&path);
        assert!(!path.exists());
        progress.finished("created", "eip.0\n", "eipalloc-1\u{202e}", Took::Time(Duration::from_secs(2)), 1, 2);
        progress.usable("vpc", "vpc-1", 12);
        progress.finished("created", "vpc", "vpc-1", Took::Time(Duration::from_secs(3)), 2, 12);
        progress.finished("deleted", "stage", "prod", Took::NoCall { parent: "api" }, 3, 12);
        let wait = Retry { is_wait: true, action: "AddPermission".into(), number: None, reason: "no".into() };
        progress.retrying(Some("permission.a"), &wait);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let lines = std::fs::read_to_string(&path).unwrap();
        let expected = [
            "1/2  created   eip.0\\n                              eipalloc-1\\u{202e}                 2s",
            "       usable    vpc                                 vpc-1",
            " 2/12  created   vpc                                 vpc-1                       3s",
            " 3/12  deleted   stage                               prod                        with api",
            "permission.a: waiting after AddPermission: no",
        ];
        assert_eq!(lines.lines().collect::<Vec<_>>(), expected);
        assert_eq!(progress.take_problem(), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_cannot_be_written_is_a_problem_once() {
        let directory = tempfile::tempdir().unwrap();
        let progress = to(&directory.path().join("missing/progress"));
        assert_eq!(progress.take_problem(), None);
        for _ in 0..2 {
            progress.finished("created", "vpc", "vpc-1", Took::Time(Duration::ZERO), 1, 1);
        }
        let problem = progress.take_problem().unwrap();
        assert!(problem.contains("missing/progress cannot be opened: No such file"), "{problem}");
        progress.finished("created", "vpc", "vpc-1", Took::Time(Duration::ZERO), 1, 1);
        assert_eq!(progress.take_problem(), None);
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
