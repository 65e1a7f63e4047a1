//! Objects whose drift the user leaves to others.

use crate::plugin::Input;

/// Patterns of object keys. `*` stands for any text, so that `subnet.*` is all subnets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IgnoredDrift(Vec<String>);

impl IgnoredDrift {
    /// The patterns of the attribute `ignore_drift`. One that is unknown ignores nothing yet.
    pub fn of(patterns: &Input<Option<Vec<Input<String>>>>) -> IgnoredDrift {
        let known = patterns.known().and_then(Option::as_ref).into_iter().flatten().filter_map(Input::known);
        IgnoredDrift(known.cloned().collect())
    }

    /// Whether the drift of the object in this slot is ignored.
    pub fn covers(&self, slot: &str) -> bool {
        self.0.iter().any(|pattern| matches(pattern, slot))
    }

    /// The patterns that stand for none of these slots, with their places in the list.
    pub fn idle<'a>(&'a self, slots: &[&str]) -> Vec<(usize, &'a str)> {
        let is_idle = |pattern: &str| !slots.iter().any(|slot| matches(pattern, slot));
        let patterns = self.0.iter().map(String::as_str).enumerate();
        patterns.filter(|(_, pattern)| is_idle(pattern)).collect()
    }
}

fn matches(pattern: &str, slot: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == slot };
    let Some(left) = slot.strip_prefix(first) else { return false };
    // Whatever the star takes, what follows it must fit what is left.
    (0..=left.len()).filter(|end| left.is_char_boundary(*end)).any(|end| matches(rest, &left[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignored(patterns: &[&str]) -> IgnoredDrift {
        let patterns = patterns.iter().map(|pattern| Input::Known(pattern.to_string())).collect();
        IgnoredDrift::of(&Input::Known(Some(patterns)))
    }

    #[test]
    fn a_pattern_is_a_key_or_has_stars_for_any_text() {
        let slot = "subnet.private_app.0";
        for pattern in
            ["subnet.private_app.0", "subnet.*", "*", "*.0", "subnet.*.0", "*private*", "subnet.private_app.0*"]
        {
            assert!(ignored(&[pattern]).covers(slot), "{pattern}");
        }
        for pattern in ["subnet", "subnet.*.1", "route.*", "subnet.private_app", ""] {
            assert!(!ignored(&[pattern]).covers(slot), "{pattern}");
        }
    }

    #[test]
    fn a_pattern_that_stands_for_nothing_is_told() {
        assert_eq!(ignored(&["vpc", "vcp"]).idle(&["vpc", "eip.0"]), [(1, "vcp")]);
    }

    #[test]
    fn what_is_unknown_ignores_nothing() {
        assert_eq!(IgnoredDrift::of(&Input::Unknown), IgnoredDrift::default());
        assert!(!IgnoredDrift::of(&Input::Known(Some(vec![Input::Unknown]))).covers("vpc"));
    }
}
