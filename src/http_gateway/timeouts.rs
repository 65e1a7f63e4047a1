//! The `timeouts` block: durations as Terraform users write them.

use super::config::GatewayConfig;
use crate::plugin::{Check, Input};
use crate::product::Timeouts;

/// The timeouts that are set and known. Durations that are no durations have been reported by [`duration`].
pub(super) fn timeouts(config: &GatewayConfig) -> Timeouts {
    let Input::Known(Some(block)) = &config.timeouts else { return Timeouts::default() };
    let set = |input: &Input<Option<String>>| input.known()?.as_deref().and_then(seconds);
    Timeouts {
        create: set(&block.create),
        read: set(&block.read),
        update: set(&block.update),
        delete: set(&block.delete),
        ..Timeouts::default()
    }
}

/// The rule for one duration.
pub(super) fn duration() -> Check {
    let rule = "a duration of hours, minutes and seconds, such as 30s, 10m or 1h30m";
    Check::new(rule, move |value| match value.as_str() {
        Some(text) if seconds(text).is_none() => Err(format!("{value} is not {rule}.")),
        _ => Ok(()),
    })
}

/// The seconds of a positive duration; `None` where the text is none.
fn seconds(text: &str) -> Option<u64> {
    let mut total = 0u64;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: u64 = rest[..digits].parse().ok()?;
        let unit = match rest.as_bytes()[digits] {
            b'h' => 3600,
            b'm' => 60,
            b's' => 1,
            _ => return None,
        };
        total = total.checked_add(number.checked_mul(unit)?)?;
        rest = &rest[digits + 1..];
    }
    (total > 0).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn durations_add_their_units() {
        assert_eq!(seconds("1h30m"), Some(5400));
        assert_eq!(seconds("45s"), Some(45));
    }

    #[test]
    fn what_is_no_positive_duration_is_refused() {
        for text in ["", "10", "m", "-5m", "10 m", "5d", "0s", "99999999999999999999h", "1µ"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
