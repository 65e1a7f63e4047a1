//! Writes changes that were made outside Terraform into the attributes of the configuration, so that Terraform shows
//! them at the attribute that the user set.
//!
//! One attribute often applies to many objects. It changes only if all of them changed in the same way; other changes
//! appear only in `drift`.

use super::PARTS;
use super::import::{map_of_tags, maps_of_tags};
use super::mirrored::mirrored;
use super::name_tags::NAME;
use crate::model::{Inventory, Key, Spec, Tags};
use crate::plugin::Value;
use crate::topology::mirrored::{Found, changed};

/// Writes differences from the last apply into the attributes that express them.
pub(super) fn write_drift(state: &mut Value, inventory: &Inventory) {
    for input in mirrored() {
        input.reflect(inventory, state);
    }
    for part in PARTS {
        part.reflect(inventory, state);
    }
    tags(state, inventory);
    names(state, inventory);
}

/// Changes or removes a key of a map of tags if all objects that have the key from this map agree.
fn tags(state: &mut Value, inventory: &Inventory) {
    let named = state.get("name_tags").clone();
    let has_entry = |slot: &str| !named.get(slot).is_null();
    for map in maps_of_tags() {
        let Some(entries) = state.get(map).as_map().cloned() else { continue };
        let mut reflected = entries.clone();
        for (key, _) in entries.iter().filter(|(_, value)| !value.is_null()) {
            // A more specific map overrides `custom_tags` for its objects.
            let is_overridden = |own: &str| map == "custom_tags" && !state.get(own).get(key).is_null();
            let value = changed_tag(inventory, key, |slot| {
                let own = map_of_tags(slot);
                match map {
                    _ if key == NAME && has_entry(slot) => false,
                    "custom_tags" => !own.is_some_and(is_overridden),
                    _ => own == Some(map),
                }
            });
            match value {
                Some(Value::Null) => reflected.remove(key),
                Some(value) => reflected.insert(key.clone(), value),
                None => continue,
            };
        }
        if reflected != entries {
            state.set(map, Value::Map(reflected));
        }
    }
}

/// Changes or removes the entries of `name_tags` whose objects have another name.
fn names(state: &mut Value, inventory: &Inventory) {
    let Some(mut entries) = state.get("name_tags").as_map().cloned() else { return };
    entries.retain(|slot, name| {
        if name.is_null() {
            return true;
        }
        match changed_tag(inventory, NAME, |at| at == slot) {
            Some(Value::Null) => return false,
            Some(found) => *name = found,
            None => {}
        }
        true
    });
    state.set("name_tags", Value::Map(entries));
}

/// The new value of a tag of the objects in these slots, if they agree; null if they do not have it any more.
fn changed_tag(inventory: &Inventory, key: &str, has_slot: impl Fn(&str) -> bool) -> Option<Value> {
    let tag = |tags: &Tags| match tags.known()?.get(key) {
        Some(value) => Some(value.known()?.as_str().into()),
        None => Some(Value::Null),
    };
    let of = |(key, spec): (&Key, &Spec)| tag(spec.tags().filter(|_| has_slot(&key.slot))?);
    changed(inventory, |found: Found<'_>| found.specs().filter_map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::super::config::tests::config;
    use super::super::fixtures::{applied, objects};
    use super::*;
    use crate::model::keys::network as keys;
    use crate::model::{Drift, Entry};
    use crate::plugin::Input;

    fn team(value: &str) -> Value {
        Value::map([("team", Value::from(value))])
    }

    /// A network with the tag `team = blue`, whose VPC has `team = red`, and its state.
    fn tagged() -> (Inventory, Value) {
        let maps = [("custom_tags", team("blue")), ("vpc_custom_tags", team("red"))];
        (applied(&objects(&config(&maps), "ab")), Value::map(maps))
    }

    fn observe(inventory: &mut Inventory, selects: impl Fn(&Entry) -> bool, change: impl Fn(&mut Spec)) {
        for entry in inventory.entries.iter_mut().filter(|entry| selects(entry)) {
            let mut spec = entry.applied.clone();
            change(&mut spec);
            entry.drift = Drift::Changed(Box::new(spec));
        }
    }

    fn retag(spec: &mut Spec) {
        if let Some(Input::Known(tags)) = spec.tags_mut() {
            tags.insert("team".into(), Input::Known("green".into()));
        }
    }

    #[test]
    fn a_tag_changes_in_its_map_if_all_its_objects_agree() {
        let (mut inventory, mut state) = tagged();
        observe(&mut inventory, |entry| entry.key.slot != keys::VPC, retag);
        write_drift(&mut state, &inventory);
        assert_eq!((state.get("custom_tags"), state.get("vpc_custom_tags")), (&team("green"), &team("red")));
        observe(
            &mut inventory,
            |entry| entry.key.slot == keys::VPC,
            |spec| {
                if let Some(Input::Known(tags)) = spec.tags_mut() {
                    tags.remove("team");
                }
            },
        );
        write_drift(&mut state, &inventory);
        assert_eq!(state.get("vpc_custom_tags"), &Value::map::<&str>([]));
    }

    #[test]
    fn another_name_changes_the_entry_of_its_object_and_no_map() {
        let names = Value::map([("subnet.public.0", Value::from("left")), ("subnet.public.1", Value::from("right"))]);
        let all = Value::map([("Name", Value::from("all"))]);
        let maps = [("name_tags", names), ("custom_tags", all)];
        let (mut inventory, mut state) = (applied(&objects(&config(&maps), "ab")), Value::map(maps.clone()));
        let rename = |to: Option<&'static str>| {
            move |spec: &mut Spec| {
                let Some(Input::Known(tags)) = spec.tags_mut() else { return };
                match to {
                    Some(name) => tags.insert(NAME.into(), Input::Known(name.into())),
                    None => tags.remove(NAME),
                };
            }
        };
        observe(&mut inventory, |entry| entry.key.slot == "subnet.public.0", rename(Some("middle")));
        observe(&mut inventory, |entry| entry.key.slot == "subnet.public.1", rename(None));
        write_drift(&mut state, &inventory);
        assert_eq!(state.get("name_tags"), &Value::map([("subnet.public.0", Value::from("middle"))]));
        assert_eq!(state.get("custom_tags"), &maps[1].1);
    }

    #[test]
    fn a_tag_that_changes_on_one_object_changes_no_map() {
        let (mut inventory, mut state) = tagged();
        let before = state.clone();
        observe(&mut inventory, |entry| entry.key.slot == "subnet.public.0", retag);
        write_drift(&mut state, &inventory);
        assert_eq!(state, before);
    }
}
