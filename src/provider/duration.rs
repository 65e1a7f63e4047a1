//! Durations as Terraform providers write them, such as `1h30m`.

use std::time::Duration;

/// Parses hours, minutes and seconds, in this order, each a whole number. `None` if it is anything else.
pub(crate) fn parse(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut seconds: u64 = 0;
    for (unit, length) in [('h', 3600), ('m', 60), ('s', 1)] {
        if let Some((number, after)) = rest.split_once(unit) {
            if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            seconds = seconds.checked_add(number.parse::<u64>().ok()?.checked_mul(length)?)?;
            rest = after;
        }
    }
    (rest.is_empty() && !text.is_empty()).then(|| Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_minutes_and_seconds_add_up() {
        assert_eq!(parse("1h30m"), Some(Duration::from_secs(5400)));
        assert_eq!(parse("900s"), Some(Duration::from_secs(900)));
        assert_eq!(parse("1h0m1s"), Some(Duration::from_secs(3601)));
    }

    #[test]
    fn anything_else_is_no_duration() {
        for text in ["", "90", "1d", "30m1h", "-5m", "1.5h", "h", "99999999999999999999h"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
