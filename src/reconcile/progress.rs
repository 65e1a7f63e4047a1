//! Telling a person how far an apply is, since Terraform shows one line for a whole topology.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Mutex;
use std::time::Duration;

/// Where finished operations are told: always the log, and the file or terminal that `FGW_PROGRESS` names.
#[derive(Debug, Default)]
pub struct Progress {
    file: Mutex<Option<std::fs::File>>,
}

impl Progress {
    /// Opens the file that the environment variable `FGW_PROGRESS` names. One that cannot be opened is told in
    /// the log and otherwise does no harm.
    pub fn from_environment() -> Progress {
        let Some(path) = std::env::var_os("FGW_PROGRESS").filter(|path| !path.is_empty()) else {
            return Progress::default();
        };
        match std::fs::OpenOptions::new().append(true).create(true).open(&path) {
            Ok(file) => Progress { file: Mutex::new(Some(file)) },
            Err(error) => {
                tracing::warn!("FGW_PROGRESS names {}, which cannot be opened: {error}", path.display());
                Progress::default()
            }
        }
    }

    /// Tells one finished operation: `created nat_gateway.0 nat-0ab 1m32s, 31 of 49`.
    pub fn finished(&self, verb: &str, slot: &str, id: &str, took: Duration, done: usize, of: usize) {
        let mut line = format!("{verb} {slot} {id} ");
        write_duration(&mut line, took);
        let _ = write!(line, ", {done} of {of}");
        tracing::info!("{line}");
        let mut file = self.file.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(file) = file.as_mut()
            && let Err(error) = file.write_all(format!("{line}\n").as_bytes())
        {
            tracing::warn!("FGW_PROGRESS cannot be written: {error}");
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
    fn durations_read_like_those_of_terraform() {
        let text = |millis| {
            let mut line = String::new();
            write_duration(&mut line, Duration::from_millis(millis));
            line
        };
        assert_eq!([text(12), text(2_900), text(92_000)], ["12 ms", "2s", "1m32s"]);
    }
}
