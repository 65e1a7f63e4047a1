//! Panics of a provider. They are reported to Terraform, and none in a call ends the process.

use std::any::Any;
use std::io::Write;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};

use futures::FutureExt;

use super::logs;
use super::printable::printable_lines;

tokio::task_local! {
    /// The panics so far, while code runs whose panic becomes an error of its call.
    static CAUGHT: Arc<Mutex<Vec<String>>>;
}

/// Installs a hook that prints each panic on stderr. `redact` removes secrets from the message.
///
/// A panic that is caught is a line of the log, at any log level, because an error has no backtrace. Any other one
/// starts with "panic: ". Terraform recognizes such a line as a crash report and shows it to the user, with the
/// statement that the provider crashed.
pub(super) fn report_on_stderr(format: logs::Format, redact: fn(&str) -> String) {
    std::panic::set_hook(Box::new(move |info| {
        let backtrace = std::backtrace::Backtrace::capture();
        let trace = match backtrace.status() {
            std::backtrace::BacktraceStatus::Captured => backtrace.to_string(),
            _ => String::new(),
        };
        let location = info.location().map(ToString::to_string).unwrap_or_default();
        let message = redact(message(info.payload()));
        let report = match note(&message, &location) {
            true => caught_panic(format, &message, location, trace),
            false => crash(&message, &location, &trace),
        };
        // Terraform may have closed stderr. The error is ignored, because a panic in the hook would abort the process.
        let _ = std::io::stderr().lock().write_all(report.as_bytes());
    }));
}

/// The result of this work. The error describes all panics in it, including those that it has caught itself before
/// another one ended it.
pub(super) async fn caught<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let seen = Arc::default();
    let result = AssertUnwindSafe(CAUGHT.scope(Arc::clone(&seen), work)).catch_unwind().await;
    result.map_err(|payload| {
        let seen = std::mem::take(&mut *seen.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        // Without the hook, nothing is noted.
        if seen.is_empty() { message(&*payload).to_string() } else { seen.join("\n") }
    })
}

/// Notes a panic for the error of its call. `false` if no call catches it.
fn note(message: &str, location: &str) -> bool {
    let noted = CAUGHT.try_with(|seen| {
        let mut seen = seen.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        seen.push(format!("{message} ({location})"));
    });
    noted.is_ok()
}

fn caught_panic(format: logs::Format, message: &str, location: String, trace: String) -> String {
    let message = format!("a call panicked: {message}");
    logs::error_line(format, module_path!(), &message, [("location", location), ("backtrace", trace)])
}

fn crash(message: &str, location: &str, trace: &str) -> String {
    let separator = if trace.is_empty() { "" } else { "\n\n" };
    format!("panic: {}\n    at {location}{separator}{trace}\n", printable_lines(message))
}

/// The message of a panic.
pub(super) fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&'static str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no message)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_panics_of_calls_are_noted() {
        assert!(!note("a", "x.rs:1"));
        assert_eq!(caught(async { note("a", "x.rs:1") }).await, Ok(true), "the call itself continues");
        let of_another_task = caught(async { tokio::spawn(async { note("a", "x.rs:1") }).await.unwrap() });
        assert_eq!(of_another_task.await, Ok(false));
    }

    #[tokio::test(start_paused = true)]
    async fn the_error_of_a_call_lists_all_of_its_panics() {
        let seen = caught(async {
            note("first", "x.rs:1");
            note("second", "y.rs:2");
            panic!("second");
        });
        assert_eq!(seen.await, Err::<(), _>("first (x.rs:1)\nsecond (y.rs:2)".to_string()));
        assert_eq!(caught(async { panic!("without a hook") }).await, Err::<(), _>("without a hook".to_string()));
    }

    /// Terraform reports a crash of the provider after a line that starts with "panic: " or "fatal error: ", also if it
    /// is the message of a line in JSON.
    #[test]
    fn only_a_panic_that_is_not_caught_looks_like_a_crash() {
        let text = caught_panic(logs::Format::Json, "panic: a\npanic: b", "x.rs:1".to_string(), "panic: c".to_string());
        let line: serde_json::Value = serde_json::from_str(text.strip_suffix('\n').unwrap()).unwrap();
        assert_eq!(line["@message"], "a call panicked: panic: a\\npanic: b");
        assert_eq!((&line["location"], &line["backtrace"]), (&"x.rs:1".into(), &"panic: c".into()));
        assert_eq!(crash("a\u{9b}", "x.rs:1", ""), "panic: a\\u{9b}\n    at x.rs:1\n");
        assert_eq!(crash("a", "x.rs:1", "  0: main"), "panic: a\n    at x.rs:1\n\n  0: main\n");
    }

    #[test]
    fn plain_and_formatted_panic_messages_are_extracted() {
        let number = 7;
        assert_eq!(message(&*std::panic::catch_unwind(|| panic!("plain")).unwrap_err()), "plain");
        assert_eq!(message(&*std::panic::catch_unwind(move || panic!("number {number}")).unwrap_err()), "number 7");
        assert_eq!(message(&*std::panic::catch_unwind(|| std::panic::panic_any(1)).unwrap_err()), "(no message)");
    }
}
