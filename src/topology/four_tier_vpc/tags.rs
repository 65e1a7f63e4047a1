//! The tags of each object: `default_tags`, then Name, then `custom_tags`, then the object's own map.

use std::collections::BTreeMap;

use super::config::Config;
use crate::model::{Scope, Tags, check_count};
use crate::plugin::{AttributePath, Input, Problem};

/// The tags of an object with the name `<vpc_name><suffix>`, without the keys that the provider ignores. An unknown map
/// makes all tags unknown; an unknown value affects only its own key.
pub(super) fn tags(config: &Config, scope: &Scope, suffix: &str, own: &[&Tags]) -> Tags {
    let name = config.vpc_name.clone().map(|name| format!("{name}{suffix}"));
    let name = Input::Known([("Name".to_string(), name)].into());
    scope.tags(&[&[&name, &config.custom_tags], own].concat())
}

/// Reports an object that would have more tags than AWS allows.
pub(super) fn too_many(slot: &str, tags: &Tags) -> Option<Problem> {
    let count = tags.known().map_or(0, BTreeMap::len);
    let subject = format!("With default_tags and Name, {slot} would have");
    check_count(&subject, count, &AttributePath::new("custom_tags"))
}

#[cfg(test)]
mod tests {
    use super::super::config::tests::config;
    use super::*;
    use crate::plugin::Value;

    fn scope() -> Scope {
        let default_tags = [("team", "default"), ("Name", "default"), ("only", "default")];
        let default_tags = default_tags.map(|(key, value)| (key.to_string(), value.to_string())).into();
        Scope { default_tags, ..Scope::default() }
    }

    #[test]
    fn the_more_specific_map_wins() {
        let custom = Value::map([("team", "custom".into()), ("level", "custom".into())]);
        let config = config(&[("custom_tags", custom), ("vpc_custom_tags", Value::map([("level", "vpc".into())]))]);
        let tags = tags(&config, &scope(), "-x", &[&config.vpc_custom_tags]);
        let tags = tags.known().unwrap();
        let value = |key: &str| tags[key].known().unwrap().as_str();
        assert_eq!(
            [value("only"), value("Name"), value("team"), value("level")],
            ["default", "main-x", "custom", "vpc"]
        );
    }

    #[test]
    fn a_custom_name_overrides_the_computed_one() {
        let config = config(&[("custom_tags", Value::map([("Name", "mine".into())]))]);
        assert_eq!(tags(&config, &scope(), "", &[]).known().unwrap()["Name"], Input::Known("mine".to_string()));
    }

    #[test]
    fn ignored_keys_are_not_managed() {
        let mut scope = scope();
        scope.ignore_tags.key_prefixes = vec!["kubernetes.io/".into()];
        let config = config(&[("custom_tags", Value::map([("kubernetes.io/x", "1".into())]))]);
        assert!(!tags(&config, &scope, "", &[]).known().unwrap().contains_key("kubernetes.io/x"));
    }

    #[test]
    fn an_unknown_map_makes_all_tags_unknown_and_a_value_only_one() {
        let config_of = |tags: Value| config(&[("custom_tags", tags)]);
        let config = config_of(Value::map([("a", Value::Unknown)]));
        let known = tags(&config, &scope(), "", &[]);
        assert_eq!(known.known().unwrap()["a"], Input::Unknown);
        assert_eq!(tags(&config_of(Value::Unknown), &scope(), "", &[]), Input::Unknown);
    }
}
