//! Errors with their causes.

/// A text without what the `credential_process` of a profile wrote to stderr. The SDK appends it to its error, and it
/// may contain secrets that the provider cannot recognize.
fn without_stderr(text: String) -> String {
    match text.split_once("Stderr:") {
        Some((before, _)) => {
            let before = before.trim_end_matches(['.', ' ']);
            format!("{before}. Run the command of credential_process by hand to see its error output")
        }
        None => text,
    }
}

/// An error and its causes in one line. hyper's own message is only "client error (Connect)". A cause that repeats the
/// text of the error is omitted.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut parts = vec![without_stderr(error.to_string())];
    let mut cause = error.source();
    while let Some(error) = cause {
        parts.push(without_stderr(error.to_string()));
        cause = error.source();
    }
    parts.dedup();
    parts.join(": ")
}

/// The first error of this type among an error and its causes.
pub(crate) fn find<'a, T: std::error::Error + 'static>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a T> {
    std::iter::successors(Some(error), |error| error.source()).find_map(|error| error.downcast_ref())
}
