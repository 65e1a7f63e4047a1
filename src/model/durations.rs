//! Durations in the syntax of Go, which Terraform users know: `90s`, `5m`, `1h30m`, `1.5h`.

use std::time::Duration;

/// The longest duration, one year in seconds. It exceeds every operation and is far below the limits of clocks.
const LONGEST: f64 = 31_536_000.0;

/// Parses a sum of numbers with units. `None` if the text has another form or exceeds a year.
pub(crate) fn parse(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|it: char| !it.is_ascii_digit() && it != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest.find(|it: char| it.is_ascii_digit() || it == '.').unwrap_or(rest.len());
        seconds += number
            * match &rest[..letters] {
                "h" => 3600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 0.001,
                "us" | "µs" => 0.000_001,
                "ns" => 0.000_000_001,
                _ => return None,
            };
        rest = &rest[letters..];
    }
    (!text.is_empty() && seconds <= LONGEST).then(|| Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_the_syntax_of_go() {
        let seconds = |text: &str| parse(text).unwrap().as_secs();
        assert_eq!(seconds("5m"), 300);
        assert_eq!(seconds("1h30m"), 5400);
        assert_eq!(seconds("1.5h"), 5400);
        assert_eq!(seconds("1h0m1s"), 3601);
        assert_eq!(parse("1500ms"), Some(Duration::from_millis(1500)));
        assert_eq!(parse("0s"), Some(Duration::ZERO));
    }

    #[test]
    fn other_texts_are_not_durations() {
        for text in ["", "5", "m", "5 m", "-5m", "5min", "5d", "1..5h", "9999999h", "99999999999999999999h", "1µ"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
