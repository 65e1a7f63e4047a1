//! Formats of access logs.

/// Whether two formats mean the same: they are equal except for a newline at the end, or they are equal JSON. A tool
/// may write JSON with other spaces and another order, as `jsonencode` does.
pub fn is_same_format(one: &str, other: &str) -> bool {
    let (one, other) = (without_newline(one), without_newline(other));
    let json = |text| serde_json::from_str::<serde_json::Value>(text).ok();
    one == other || json(one).is_some_and(|one| json(other).is_some_and(|other| one == other))
}

/// The format without the newline at its end, which API Gateway allows.
pub fn without_newline(format: &str) -> &str {
    format.strip_suffix('\n').unwrap_or(format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_json_and_a_newline_at_the_end_make_no_difference() {
        let spaced = "{ \"requestId\": \"$context.requestId\", \"a\": [1, 2] }";
        for other in ["{\"a\":[1,2],\"requestId\":\"$context.requestId\"}", &format!("{spaced}\n")] {
            assert!(is_same_format(spaced, other) && is_same_format(other, spaced), "{other}");
        }
        assert!(is_same_format("$context.requestId\n", "$context.requestId"));
        for other in ["{\"requestId\":\"$context.requestId\"}", "{\"a\":[2,1],\"requestId\":\"$context.requestId\"}"] {
            assert!(!is_same_format(spaced, other), "{other}");
        }
        for (one, other) in [("$context.requestId", "$context.requestId "), ("a\n\n", "a"), ("a b", "a  b")] {
            assert!(!is_same_format(one, other), "{one:?} {other:?}");
        }
    }
}
