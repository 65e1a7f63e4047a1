//! The Name tag of each object: the computed one, or the one that `name_tags` gives it.

use std::collections::BTreeMap;

use super::PARTS;
use super::config::Config;
use crate::model::keys::network::{self as keys, tier_of};
use crate::model::{Object, TaggingService, Tags, check_tags};
use crate::plugin::{AttributePath, Problem};

/// The key of the tag.
pub(super) const NAME: &str = "Name";

/// The computed name of the object in a slot; `None` if a network has no object with a Name tag there.
pub(super) fn computed(vpc_name: &str, slot: &str) -> Option<String> {
    Some(format!("{vpc_name}{}", suffix(slot)?))
}

fn suffix(slot: &str) -> Option<String> {
    let numbered = |text: &str, number: &str| {
        let is_index = number.parse::<u32>().is_ok_and(|index| number == index.to_string());
        is_index.then(|| format!("-{text}-{number}"))
    };
    let (kind, place) = slot.split_once('.').unwrap_or((slot, ""));
    match (kind, place.split_once('.')) {
        ("vpc" | "internet_gateway", None) if slot == kind => Some(String::new()),
        ("subnet" | "route_table", Some((_, index))) => numbered(tier_of("", place)?.name(), index),
        ("route_table", None) => Some(format!("-{}", tier_of("", place)?.name())),
        ("eip" | "nat_gateway", None) => numbered("nat-gateway", place),
        ("private_nat_gateway", None) => numbered("private-nat-gateway", place),
        _ => PARTS.iter().find_map(|part| part.name(slot)),
    }
}

/// The Name tag that `name_tags` gives the object in a slot, as a map of tags.
pub(super) fn of(config: &Config, slot: &str) -> Tags {
    config
        .name_tags
        .clone()
        .map(|names| names.get(slot).map(|name| (NAME.to_string(), name.clone())).into_iter().collect())
}

/// The entries that no network could use, and the names that AWS does not allow.
pub(super) fn problems(config: &Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (slot, name) in config.name_tags.known().into_iter().flatten() {
        let path = AttributePath::new("name_tags").key(slot);
        if suffix(slot).is_none() {
            let mut forms = keys::slots();
            forms.retain(|form| suffix(&form.replace('*', "0")).is_some());
            problems.push(Problem::new(
                path,
                format!("{slot:?} is not the key of an object that has a Name tag."),
                format!("Use a key of aws_objects in one of these forms: {}.", forms.join(", ")),
            ));
            continue;
        }
        let tag = BTreeMap::from([(NAME.to_string(), name.clone())]);
        let faults = check_tags(TaggingService::Ec2, &tag, &path);
        problems.extend(faults.into_iter().map(|fault| Problem { path: path.clone(), ..fault }));
    }
    problems
}

/// Warnings about entries for objects that the network does not have.
pub(super) fn unused(config: &Config, objects: &[Object]) -> Vec<Problem> {
    let slots = config.name_tags.known().into_iter().flat_map(BTreeMap::keys);
    let unused = slots.filter(|slot| objects.iter().all(|object| object.key.slot != **slot));
    let warning = |slot: &String| {
        let message = format!("The entry is not used, because the network has no object {slot}.");
        Problem::new(AttributePath::new("name_tags").key(slot), message, "Remove the entry, or correct its key.")
    };
    unused.map(warning).collect()
}

#[cfg(test)]
mod tests {
    use super::super::config::tests::config;
    use super::super::fixtures::{blueprint, objects};
    use super::*;
    use crate::model::{Input, Inventory};
    use crate::plugin::Value;
    use crate::topology::Blueprint;

    #[test]
    fn every_object_with_a_name_has_a_key_for_it() {
        let inputs = [("create_transit_subnets", true.into()), ("apply_default_nacl_rules", true.into())];
        for object in objects(&config(&inputs), "ab") {
            let name = object.spec.tags().map(|tags| tags.known().unwrap()[NAME].clone());
            assert_eq!(name, computed("main", &object.key.slot).map(Input::Known), "{}", object.key);
        }
    }

    #[test]
    fn keys_of_other_forms_have_no_name() {
        for slot in [
            "",
            "vpcs",
            "subnet",
            "subnet.public",
            "subnet.public.01",
            "subnet.dmz.0",
            "eip.x",
            "route.public.ipv4",
            "nat_gateway.0.1",
        ] {
            assert_eq!(suffix(slot), None, "{slot}");
        }
    }

    #[test]
    fn an_entry_for_an_object_that_does_not_exist_is_a_warning() {
        let names = [("name_tags", Value::map([("subnet.public.7", Value::from("x")), ("vpc", Value::from("y"))]))];
        let decided = blueprint(&config(&names), None, &Inventory::default(), "ab");
        let Ok(Blueprint::Decided { warnings, .. }) = decided else { panic!("{decided:?}") };
        let paths: Vec<String> = warnings.iter().map(|warning| warning.path.to_string()).collect();
        assert_eq!(paths, ["name_tags[\"subnet.public.7\"]"]);
        assert!(warnings[0].message.contains("subnet.public.7"), "{warnings:?}");
    }
}
