//! Panics of a provider. They are reported to Terraform and never end the process.

use std::any::Any;
use std::io::Write;

use super::printable::printable_lines;

/// Installs a hook that prints each panic on stderr, in a line that starts with "panic: ". Terraform recognizes such a
/// line as a crash report and shows it to the user at every log level. `redact` removes secrets from the message.
pub(super) fn report_on_stderr(redact: fn(&str) -> String) {
    std::panic::set_hook(Box::new(move |info| {
        let place = info.location().map(|location| format!("\n    at {location}")).unwrap_or_default();
        let backtrace = std::backtrace::Backtrace::capture();
        let trace = match backtrace.status() {
            std::backtrace::BacktraceStatus::Captured => format!("\n\n{backtrace}"),
            _ => String::new(),
        };
        let message = redact(message(info.payload()));
        // Terraform may have closed stderr. The error is ignored, because a panic in the hook would abort the process.
        let _ = writeln!(std::io::stderr().lock(), "panic: {}{place}{trace}", printable_lines(&message));
    }));
}

/// The message of a panic.
pub(super) fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&'static str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no message)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_and_formatted_panic_messages_are_extracted() {
        let number = 7;
        assert_eq!(message(&*std::panic::catch_unwind(|| panic!("plain")).unwrap_err()), "plain");
        assert_eq!(message(&*std::panic::catch_unwind(move || panic!("number {number}")).unwrap_err()), "number 7");
        assert_eq!(message(&*std::panic::catch_unwind(|| std::panic::panic_any(1)).unwrap_err()), "(no message)");
    }
}
