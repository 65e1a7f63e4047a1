//! What holds for the tags of every object.

use super::{IgnoreTags, Scope};
use crate::model::Tags;
use crate::plugin::Input;

/// AWS allows 50 tags on an object, and two of them are ours: whose it is, and which one.
pub const MOST_TAGS: usize = 48;

impl Scope {
    /// `default_tags` with an object's own over them, later maps over earlier ones, less the keys that others manage. A
    /// map that is unknown makes all unknown; a value that is unknown is so alone.
    pub fn tags(&self, own: &[&Tags]) -> Tags {
        let defaults = self.default_tags.iter().map(|(key, value)| (key.clone(), Input::Known(value.clone())));
        let mut tags: std::collections::BTreeMap<_, _> = defaults.collect();
        for map in own {
            let Input::Known(map) = map else { return Input::Unknown };
            tags.extend(map.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        tags.retain(|key, _| !self.ignore_tags.ignores(key));
        Input::Known(tags)
    }
}

/// What is wrong with one default tag, and the way out.
pub(crate) fn check_tag(key: &str, value: &str, ignored: &IgnoreTags) -> Option<(String, &'static str)> {
    if ignored.ignores(key) {
        let message = format!("The tag {key:?} is also one that ignore_tags leaves to others.");
        return Some((message, "Remove it from one of the two."));
    }
    if key.is_empty() || key.chars().count() > 128 {
        return Some((format!("The tag key {key:?} is empty or too long."), "AWS takes 1 to 128 characters."));
    }
    if key.to_ascii_lowercase().starts_with("aws:") {
        return Some((format!("AWS sets tags that begin with aws: itself, such as {key:?}."), "Choose another key."));
    }
    if key.starts_with("fgw:") {
        let message = format!("This provider marks what it owns by tags that begin with fgw:, such as {key:?}.");
        return Some((message, "Choose another key."));
    }
    if value.chars().count() > 256 {
        return Some((format!("The value of tag {key:?} is too long."), "AWS takes up to 256 characters."));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(pairs: &[(&str, &str)]) -> Tags {
        Input::Known(pairs.iter().map(|(key, value)| (key.to_string(), Input::Known(value.to_string()))).collect())
    }

    fn scope() -> Scope {
        let default_tags = [("team", "default"), ("only", "default")];
        let default_tags = default_tags.map(|(key, value)| (key.to_string(), value.to_string())).into();
        Scope { default_tags, ..Scope::default() }
    }

    #[test]
    fn later_maps_win_over_earlier_ones_and_over_defaults() {
        let merged = scope().tags(&[&tags(&[("team", "a"), ("level", "a")]), &tags(&[("level", "b")])]);
        assert_eq!(merged, tags(&[("level", "b"), ("only", "default"), ("team", "a")]));
    }

    #[test]
    fn keys_that_others_manage_are_left_out() {
        let mut scope = scope();
        scope.ignore_tags.key_prefixes = vec!["kubernetes.io/".into()];
        scope.ignore_tags.keys = vec!["only".into()];
        assert_eq!(
            scope.tags(&[&tags(&[("kubernetes.io/x", "1"), ("k", "v")])]),
            tags(&[("k", "v"), ("team", "default")])
        );
    }

    #[test]
    fn an_unknown_map_makes_all_unknown_and_an_unknown_value_only_itself() {
        assert_eq!(scope().tags(&[&tags(&[("a", "b")]), &Input::Unknown]), Input::Unknown);
        let value = Input::Known([("a".to_string(), Input::Unknown)].into());
        let merged = scope().tags(&[&value]);
        assert_eq!(merged.known().unwrap()["a"], Input::Unknown);
        assert_eq!(merged.known().unwrap()["team"], Input::Known("default".to_string()));
    }
}
