//! From the tags of objects to the maps of tags in the configuration.

use std::collections::BTreeMap;

use super::super::name_tags::{self, NAME};
use super::addresses::most_common;
use crate::model::Scope;
use crate::model::keys::network::tier_of;
use crate::model::{Entry, Inventory};
use crate::plugin::Value;

/// Tags by key.
type ByKey = BTreeMap<String, String>;

/// The maps for subnets, in the order of [`Tier::ALL`](crate::model::Tier::ALL).
const SUBNET_MAPS: [&str; 4] = [
    "public_subnet_custom_tags",
    "private_app_subnet_custom_tags",
    "private_persistence_subnet_custom_tags",
    "transit_subnet_custom_tags",
];

/// The maps for route tables, in the same order.
const ROUTE_TABLE_MAPS: [&str; 4] = [
    "public_route_table_custom_tags",
    "private_app_route_table_custom_tags",
    "private_persistence_route_table_custom_tags",
    "transit_route_table_custom_tags",
];

/// The tags of one object.
struct Tagged<'a> {
    slot: &'a str,
    /// All of them.
    all: ByKey,
    /// Those that come neither from `default_tags` nor from the computed name.
    own: ByKey,
}

/// Keys on every object go to `custom_tags`, with the value that the objects without a map of their own have. Other
/// tags that all objects of a kind have go to the map of the kind. Other names go to `name_tags`, and other tags of
/// single objects are unmanaged.
pub(super) fn tags(inventory: &Inventory, scope: &Scope, vpc_name: &str, attributes: &mut Value) {
    let staying = inventory.current();
    let objects: Vec<Tagged> = staying.filter_map(|entry| tagged(entry, scope, vpc_name)).collect();
    let everywhere = everywhere(&objects);
    let mut kinds: BTreeMap<&str, Vec<ByKey>> = BTreeMap::new();
    for Tagged { slot, all, own } in &objects {
        let Some(map) = map_of(slot) else { continue };
        let is_of_kind = |key: &str, value: &String| match everywhere.get(key) {
            Some(general) => value != general,
            None => own.contains_key(key),
        };
        let mut tags = all.clone();
        tags.retain(|key, value| is_of_kind(key, value));
        kinds.entry(map).or_default().push(tags);
    }
    let kinds: BTreeMap<&str, ByKey> = kinds.into_iter().map(|(map, tags)| (map, of_kind(&tags))).collect();
    let names = objects.iter().filter_map(|it| Some((it.slot.to_string(), it.single_name(&kinds, &everywhere)?)));
    attributes.set("name_tags", names.collect::<ByKey>().into());
    for (map, tags) in kinds {
        attributes.set(map, tags.into());
    }
    attributes.set("custom_tags", everywhere.into());
}

impl Tagged<'_> {
    /// The name of this object, if it follows neither from its slot nor from a map of tags.
    fn single_name(&self, kinds: &BTreeMap<&str, ByKey>, everywhere: &ByKey) -> Option<String> {
        let of_kind = map_of(self.slot).and_then(|map| kinds.get(map)?.get(NAME));
        let name = self.all.get(NAME)?;
        let follows = match of_kind.or_else(|| everywhere.get(NAME)) {
            Some(from_map) => from_map == name,
            None => !self.own.contains_key(NAME),
        };
        (!follows).then(|| name.clone())
    }
}

/// The tags that all objects of a kind have. A name is that of the kind only if several objects have it.
fn of_kind(tags: &[ByKey]) -> ByKey {
    let mut common = common(tags.iter());
    common.retain(|key, _| key != NAME || tags.len() > 1);
    common
}

/// The tags for `custom_tags`: those with a key that every object has.
fn everywhere(objects: &[Tagged]) -> ByKey {
    let mapless: Vec<&Tagged> = objects.iter().filter(|it| map_of(it.slot).is_none()).collect();
    let Some(first) = objects.first() else { return ByKey::new() };
    let keys = first.all.keys().filter(|key| objects.iter().all(|it| it.all.contains_key(*key)));
    let value = |key: &String| match mapless.first() {
        Some(first) => {
            let agree = mapless.iter().all(|it| it.all.get(key) == first.all.get(key));
            let is_ours = mapless.iter().any(|it| it.own.contains_key(key));
            first.all.get(key).filter(|_| agree && is_ours).cloned()
        }
        // A name in custom_tags leaves no object with its computed name.
        None if key == NAME && objects.iter().any(|it| !it.own.contains_key(NAME)) => None,
        None => most_common(objects.iter().filter_map(|it| it.own.get(key))).cloned(),
    };
    keys.filter_map(|key| Some((key.clone(), value(key)?))).collect()
}

/// `None` for an object without tags or outside the slots of a network.
fn tagged<'a>(entry: &'a Entry, scope: &Scope, vpc_name: &str) -> Option<Tagged<'a>> {
    let name = name_tags::computed(vpc_name, &entry.key.slot)?;
    let tags = entry.spec().tags()?.known()?;
    let all: ByKey = tags.iter().filter_map(|(key, value)| Some((key.clone(), value.known()?.clone()))).collect();
    let mut own = all.clone();
    own.retain(|key, value| match key.as_str() {
        NAME => *value != name,
        _ => !scope.may_be_default_tag(key, value),
    });
    Some(Tagged { slot: &entry.key.slot, all, own })
}

/// The tags that all of these have.
fn common<'a>(mut all: impl Iterator<Item = &'a ByKey>) -> ByKey {
    let mut common = all.next().cloned().unwrap_or_default();
    for own in all {
        common.retain(|key, value| own.get(key) == Some(value));
    }
    common
}

/// The map for the tags of the object in this slot, in addition to `custom_tags`.
pub(in super::super) fn map_of(slot: &str) -> Option<&'static str> {
    match slot.split_once('.').map_or(slot, |(kind, _)| kind) {
        "vpc" => Some("vpc_custom_tags"),
        "eip" | "nat_gateway" | "private_nat_gateway" => Some("nat_gateway_custom_tags"),
        "default_security_group" => Some("security_group_tags"),
        "subnet" => Some(SUBNET_MAPS[tier_of("subnet.", slot)? as usize]),
        "route_table" => Some(ROUTE_TABLE_MAPS[tier_of("route_table.", slot)? as usize]),
        _ => None,
    }
}

/// All maps of tags.
pub(in super::super) fn maps() -> impl Iterator<Item = &'static str> {
    let single = ["custom_tags", "vpc_custom_tags", "nat_gateway_custom_tags", "security_group_tags"];
    single.into_iter().chain(SUBNET_MAPS).chain(ROUTE_TABLE_MAPS)
}
