//! Panics of a provider: told to Terraform, never the end of the process.

use std::any::Any;
use std::io::Write;

/// Prints panics in the one form that Terraform takes for a crash report and shows to the user, whatever the
/// log level: a line on stderr that starts with "panic: ".
pub(super) fn report_on_stderr() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|location| format!("\n    at {location}")).unwrap_or_default();
        let backtrace = std::backtrace::Backtrace::capture();
        let trace = match backtrace.status() {
            std::backtrace::BacktraceStatus::Captured => format!("\n\n{backtrace}"),
            _ => String::new(),
        };
        // Terraform may be gone, and a panic in the hook would end the process: there is nobody to tell.
        let _ = writeln!(std::io::stderr().lock(), "panic: {}{place}{trace}", message(info.payload()));
    }));
}

/// What a panic said.
pub(super) fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&'static str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no message)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_a_panic_is_found_whether_it_was_formatted_or_not() {
        let number = 7;
        assert_eq!(message(&*std::panic::catch_unwind(|| panic!("plain")).unwrap_err()), "plain");
        assert_eq!(message(&*std::panic::catch_unwind(move || panic!("number {number}")).unwrap_err()), "number 7");
        assert_eq!(message(&*std::panic::catch_unwind(|| std::panic::panic_any(1)).unwrap_err()), "(no message)");
    }
}
