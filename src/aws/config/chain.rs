//! Errors with their causes.

use aws_smithy_types::error::metadata::ErrorMetadata;

/// The text of an error for which AWS returns no message.
pub(crate) const NO_REASON: &str = "AWS gave no reason";

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
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut parts: Vec<String> =
        std::iter::successors(Some(error), |error| error.source()).map(|error| without_stderr(text(error))).collect();
    parts.dedup();
    parts.join(": ")
}

/// The text of an error. The SDK shows what AWS has returned as a data structure of Rust.
fn text(error: &(dyn std::error::Error + 'static)) -> String {
    match error.downcast_ref::<ErrorMetadata>() {
        Some(answer) => {
            let parts = [answer.code(), answer.message()].into_iter().flatten().collect::<Vec<_>>();
            if parts.is_empty() { NO_REASON.to_string() } else { parts.join(": ") }
        }
        None => error.to_string(),
    }
}

/// The first error of this type among an error and its causes.
pub(crate) fn find<'a, T: std::error::Error + 'static>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a T> {
    std::iter::successors(Some(error), |error| error.source()).find_map(|error| error.downcast_ref())
}

#[cfg(test)]
mod tests {
    use aws_sdk_sts::operation::assume_role::AssumeRoleError;

    use super::*;

    #[test]
    fn an_answer_of_aws_is_not_shown_as_a_data_structure() {
        let of = |answer: ErrorMetadata| chain(&AssumeRoleError::generic(answer));
        let answer = ErrorMetadata::builder().code("AccessDenied").message("not you");
        assert_eq!(of(answer.build()), "unhandled error (AccessDenied): AccessDenied: not you");
        assert_eq!(of(ErrorMetadata::builder().build()), "unhandled error: AWS gave no reason");
    }
}
