//! Durations as Terraform users write them: `90s`, `5m`, `1h30m`.

/// The seconds that a duration stands for, rounded up; `None` where the text is no positive duration.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|it: char| !it.is_ascii_digit() && it != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest.find(|it: char| it.is_ascii_digit() || it == '.').unwrap_or(rest.len());
        total += number
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
    // A year is more than any operation takes, and keeps the number far from the limits of clocks.
    (total > 0.0 && total <= 31_536_000.0).then_some(total.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        assert_eq!(seconds("5m"), Some(300));
        assert_eq!(seconds("1h30m"), Some(5400));
        assert_eq!(seconds("1.5h"), Some(5400));
        assert_eq!(seconds("1500ms"), Some(2));
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in ["", "5", "m", "5 m", "-5m", "5min", "0s", "1..5h", "9999999h"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
