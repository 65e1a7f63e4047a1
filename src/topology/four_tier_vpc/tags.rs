//! The tags of each object: `default_tags`, then the computed Name, then `custom_tags`, then the map of its kind, then
//! its entry in `name_tags`.

use std::collections::BTreeMap;

use super::config::Config;
use super::name_tags::{self, NAME};
use crate::model::keys::network as keys;
use crate::model::{Scope, Spec, Tags, check_count};
use crate::plugin::{AttributePath, Input, Problem, Value};

/// The tags of the object in a slot, without the keys that the provider ignores. An unknown map makes all tags unknown;
/// an unknown value affects only its own key.
pub(super) fn tags(config: &Config, scope: &Scope, slot: &str, own: &[&Tags]) -> Tags {
    let name = config.vpc_name.clone().map(|name| name_tags::computed(&name, slot).unwrap_or(name));
    let computed = Input::Known([(NAME.to_string(), name)].into());
    let given = name_tags::of(config, slot);
    scope.tags(&[&[&computed, &config.custom_tags], own, &[&given]].concat())
}

/// The tags of the VPC without the computed name, for the attribute `tags_all`.
pub(super) fn of_root(config: &Config, scope: &Scope) -> Tags {
    without_computed(config, tags(config, scope, keys::VPC, &[&config.vpc_custom_tags]))
}

/// Tags of the VPC without the name, if that follows from `vpc_name`.
pub(super) fn without_computed(config: &Config, tags: Tags) -> Tags {
    let given = name_tags::of(config, keys::VPC);
    let mut maps = [&config.custom_tags, &config.vpc_custom_tags, &given].into_iter();
    let has_name = maps.any(|map| map.known().is_some_and(|map| map.contains_key(NAME)));
    tags.map(|mut tags| {
        if !has_name {
            tags.remove(NAME);
        }
        tags
    })
}

/// Reports an object that would have more tags than AWS allows.
pub(super) fn too_many(slot: &str, tags: &Tags) -> Option<Problem> {
    let count = tags.known().map_or(0, BTreeMap::len);
    let subject = format!("With default_tags and Name, {slot} would have");
    check_count(&subject, count, &AttributePath::new("custom_tags"))
}

/// The tags of an object that only its own entry can give. `general` are the imported `custom_tags`, and a name other
/// than the computed one is in `name_tags`.
pub(super) fn of_entry(found: &Tags, general: &Value, scope: &Scope) -> Tags {
    let is_own = |key: &str, value: &str| {
        key != NAME && general.get(key).as_str() != Some(value) && !scope.may_be_default_tag(key, value)
    };
    found.clone().map(|mut tags| {
        tags.retain(|key, value| value.known().is_none_or(|value| is_own(key, value)));
        tags
    })
}

/// Writes changed tags of an object into its entry.
pub(super) fn reflect_entry(object: &Spec, entry: &mut Value) {
    if let (Some(Input::Known(found)), Some(own)) = (object.tags(), entry.get("tags").as_map()) {
        let own = own.keys().filter_map(|key| Some((key.clone(), found.get(key)?.clone().into())));
        entry.set("tags", Value::Map(own.collect()));
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::tests::config;
    use super::*;

    fn scope() -> Scope {
        let default_tags = [("team", "default"), ("Name", "default"), ("only", "default")];
        let default_tags: BTreeMap<_, _> =
            default_tags.map(|(key, value)| (key.into(), Input::Known(value.into()))).into();
        Scope { default_tags: default_tags.into(), ..Scope::default() }
    }

    #[test]
    fn the_more_specific_map_wins() {
        let custom = Value::map([("team", "custom".into()), ("level", "custom".into())]);
        let config = config(&[("custom_tags", custom), ("vpc_custom_tags", Value::map([("level", "vpc".into())]))]);
        let tags = tags(&config, &scope(), "subnet.public.0", &[&config.vpc_custom_tags]);
        let tags = tags.known().unwrap();
        let value = |key: &str| tags[key].known().unwrap().as_str();
        assert_eq!(
            [value("only"), value("Name"), value("team"), value("level")],
            ["default", "main-public-0", "custom", "vpc"]
        );
    }

    #[test]
    fn a_custom_name_overrides_the_computed_one() {
        let config = config(&[("custom_tags", Value::map([("Name", "mine".into())]))]);
        assert_eq!(tags(&config, &scope(), keys::VPC, &[]).known().unwrap()["Name"], Input::Known("mine".to_string()));
    }

    #[test]
    fn an_entry_of_name_tags_overrides_every_other_name() {
        let names = Value::map([("vpc", "one".into()), ("subnet.public.0", Value::Unknown)]);
        let config = config(&[
            ("name_tags", names),
            ("custom_tags", Value::map([("Name", "all".into())])),
            ("vpc_custom_tags", Value::map([("Name", "vpc".into())])),
        ]);
        let name =
            |slot: &str| tags(&config, &scope(), slot, &[&config.vpc_custom_tags]).known().unwrap()["Name"].clone();
        assert_eq!(name(keys::VPC), Input::Known("one".to_string()));
        assert_eq!(name("subnet.public.0"), Input::Unknown);
        assert_eq!(name("subnet.public.1"), Input::Known("vpc".to_string()));
        assert_eq!(of_root(&config, &scope()).known().unwrap()["Name"], Input::Known("one".to_string()));
    }

    #[test]
    fn the_computed_name_is_not_in_tags_all() {
        let tags = of_root(&config(&[]), &scope());
        let keys: Vec<&String> = tags.known().unwrap().keys().collect();
        assert_eq!(keys, ["only", "team"]);
    }

    #[test]
    fn ignored_keys_are_not_managed() {
        let mut scope = scope();
        scope.ignore_tags.key_prefixes = vec!["kubernetes.io/".into()];
        let config = config(&[("custom_tags", Value::map([("kubernetes.io/x", "1".into())]))]);
        assert!(!tags(&config, &scope, keys::VPC, &[]).known().unwrap().contains_key("kubernetes.io/x"));
    }

    #[test]
    fn an_unknown_map_makes_all_tags_unknown_and_a_value_only_one() {
        let config_of = |tags: Value| config(&[("custom_tags", tags)]);
        let config = config_of(Value::map([("a", Value::Unknown)]));
        let known = tags(&config, &scope(), keys::VPC, &[]);
        assert_eq!(known.known().unwrap()["a"], Input::Unknown);
        assert_eq!(tags(&config_of(Value::Unknown), &scope(), keys::VPC, &[]), Input::Unknown);
    }
}
