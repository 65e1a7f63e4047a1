//! Durations as Terraform users write them, the way Go reads them: `90s`, `5m`, `1h30m`, `1.5h`. Pure.

use std::time::Duration;

/// A year is more than any operation takes, and keeps the numbers far from the limits of clocks.
const LONGEST: f64 = 31_536_000.0;

/// Numbers with a unit each, added up. `None` if the text is anything else, or longer than a year.
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
    fn durations_are_read_as_go_reads_them() {
        let seconds = |text: &str| parse(text).unwrap().as_secs();
        assert_eq!(seconds("5m"), 300);
        assert_eq!(seconds("1h30m"), 5400);
        assert_eq!(seconds("1.5h"), 5400);
        assert_eq!(seconds("1h0m1s"), 3601);
        assert_eq!(parse("1500ms"), Some(Duration::from_millis(1500)));
        assert_eq!(parse("0s"), Some(Duration::ZERO));
    }

    #[test]
    fn anything_else_is_no_duration() {
        for text in ["", "5", "m", "5 m", "-5m", "5min", "5d", "1..5h", "9999999h", "99999999999999999999h", "1µ"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
