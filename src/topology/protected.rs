//! The objects that the attribute `protected_objects` protects from deletion.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::patterns::{matches, overlap};
use crate::plugin::{AttributePath, Input, Problem, Value};

/// The name of the attribute, which every topology has.
pub const PROTECTED_OBJECTS: &str = "protected_objects";

/// The attribute as configured.
pub(super) type Patterns = Input<Option<BTreeSet<Input<String>>>>;

/// Patterns of the keys of protected objects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProtectedObjects(BTreeSet<String>);

impl ProtectedObjects {
    /// The patterns in a configuration or a state. An unknown pattern matches nothing: Terraform plans again when it is
    /// known.
    pub fn of(attributes: &Value) -> ProtectedObjects {
        let Value::List(patterns) = attributes.get(PROTECTED_OBJECTS) else { return ProtectedObjects::default() };
        ProtectedObjects(patterns.iter().filter_map(Value::as_str).map(str::to_string).collect())
    }

    /// The patterns of both.
    #[must_use]
    pub fn and(mut self, other: &ProtectedObjects) -> ProtectedObjects {
        self.0.extend(other.0.iter().cloned());
        self
    }

    /// Whether there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first pattern that matches a slot.
    pub fn pattern_for(&self, slot: &str) -> Option<&str> {
        self.0.iter().map(String::as_str).find(|pattern| matches(pattern, slot))
    }
}

/// The patterns that match no key of a topology with these slots. `*` in a slot is any text.
pub(super) fn problems(patterns: &Patterns, slots: &[String]) -> Vec<Problem> {
    let known = patterns.known().and_then(Option::as_ref).into_iter().flatten().filter_map(Input::known);
    let problem = |pattern: &String| {
        Problem::new(
            AttributePath::new(PROTECTED_OBJECTS),
            format!("{pattern:?} matches no key that aws_objects can contain, so it would protect nothing."),
            format!("Correct or remove it. Keys have these forms, where * is any text: {}.", slots.join(", ")),
        )
    };
    known.filter(|pattern| !is_possible(pattern, slots)).map(problem).collect()
}

/// Whether a pattern matches a key of a topology with these slots. A key `stray.<id>` is that of a
/// replaced object whose deletion is pending.
pub(super) fn is_possible(pattern: &str, slots: &[String]) -> bool {
    overlap(pattern, "stray.*") || slots.iter().any(|slot| overlap(pattern, slot))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(patterns: Value) -> Value {
        Value::map([(PROTECTED_OBJECTS, patterns)])
    }

    #[test]
    fn the_matching_pattern_is_found() {
        let protected = ProtectedObjects::of(&attributes(vec!["eip.*", "vpc"].into()));
        assert_eq!(protected.pattern_for("eip.2"), Some("eip.*"));
        assert_eq!((protected.pattern_for("vpc"), protected.pattern_for("nat_gateway.0")), (Some("vpc"), None));
        let more = ProtectedObjects::default().and(&protected);
        assert_eq!((more.pattern_for("vpc"), more.is_empty()), (Some("vpc"), false));
    }

    #[test]
    fn null_and_unknown_patterns_protect_nothing() {
        for patterns in [Value::Null, Value::Unknown, Value::List(vec![Value::Unknown]), Value::List(vec![])] {
            assert!(ProtectedObjects::of(&attributes(patterns.clone())).is_empty(), "{patterns}");
        }
    }
}
