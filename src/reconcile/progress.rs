//! The progress of an apply, since Terraform shows one line for a whole topology.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Mutex;
use std::time::Duration;

use crate::cloud::retries::Retry;

/// Writes finished operations and retries to the log, and to the file or terminal in `FGW_PROGRESS` if it is set.
#[derive(Debug, Default)]
pub struct Progress {
    file: Mutex<Option<std::fs::File>>,
}

impl Progress {
    /// Opens the file in the environment variable `FGW_PROGRESS`. If it cannot be opened, this logs a warning, and
    /// progress is written only to the log.
    pub fn from_environment() -> Progress {
        let Some(path) = std::env::var_os("FGW_PROGRESS").filter(|path| !path.is_empty()) else {
            return Progress::default();
        };
        match std::fs::OpenOptions::new().append(true).create(true).open(&path) {
            Ok(file) => Progress { file: Mutex::new(Some(file)) },
            Err(error) => {
                tracing::warn!("cannot open {} from FGW_PROGRESS: {error}", path.display());
                Progress::default()
            }
        }
    }

    /// Writes a line for a finished operation: `created nat_gateway.0 nat-0ab 1m32s, 31 of 49`.
    pub fn finished(&self, verb: &str, slot: &str, id: &str, took: Duration, done: usize, of: usize) {
        let mut line = format!("{verb} {slot} {id} ");
        write_duration(&mut line, took);
        let _ = write!(line, ", {done} of {of}");
        tracing::info!("{line}");
        self.write(&line);
    }

    /// Writes a line for a retry, with the object of the call if there is one: `nat_gateway.0: retrying
    /// CreateNatGateway (2 of at most 7): HTTP status 503`.
    pub fn retrying(&self, slot: Option<&str>, retry: &Retry) {
        let line = slot.map_or_else(|| retry.to_string(), |slot| format!("{slot}: {retry}"));
        tracing::warn!("{line}");
        self.write(&line);
    }

    fn write(&self, line: &str) {
        let mut file = self.file.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(file) = file.as_mut()
            && let Err(error) = file.write_all(format!("{line}\n").as_bytes())
        {
            tracing::warn!("cannot write to the file in FGW_PROGRESS: {error}");
        }
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
}
