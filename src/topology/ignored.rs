//! The objects whose drift the attribute `ignore_drift` excludes.

use super::patterns::matches;
use crate::plugin::Input;

/// Patterns of object keys. `*` matches any text, so `subnet.*` matches all subnets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IgnoredDrift(Vec<String>);

impl IgnoredDrift {
    /// The patterns of the attribute `ignore_drift`. An unknown pattern matches nothing.
    pub fn of(patterns: &Input<Option<Vec<Input<String>>>>) -> IgnoredDrift {
        let known = patterns.known().and_then(Option::as_ref).into_iter().flatten().filter_map(Input::known);
        IgnoredDrift(known.cloned().collect())
    }

    /// Whether the drift of the object with this slot is ignored.
    pub fn covers(&self, slot: &str) -> bool {
        self.0.iter().any(|pattern| matches(pattern, slot))
    }

    /// The patterns that match none of these slots, with their indices in the list.
    pub fn unmatched<'a>(&'a self, slots: &[&str]) -> Vec<(usize, &'a str)> {
        let is_unmatched = |pattern: &str| !slots.iter().any(|slot| matches(pattern, slot));
        let patterns = self.0.iter().map(String::as_str).enumerate();
        patterns.filter(|(_, pattern)| is_unmatched(pattern)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignored(patterns: &[&str]) -> IgnoredDrift {
        let patterns = patterns.iter().map(|pattern| Input::Known(pattern.to_string())).collect();
        IgnoredDrift::of(&Input::Known(Some(patterns)))
    }

    #[test]
    fn a_star_matches_any_text() {
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
    fn unmatched_patterns_are_reported() {
        assert_eq!(ignored(&["vpc", "vcp"]).unmatched(&["vpc", "eip.0"]), [(1, "vcp")]);
    }

    #[test]
    fn unknown_patterns_ignore_nothing() {
        assert_eq!(IgnoredDrift::of(&Input::Unknown), IgnoredDrift::default());
        assert!(!IgnoredDrift::of(&Input::Known(Some(vec![Input::Unknown]))).covers("vpc"));
    }
}
