//! From the tags of objects to the maps that they are configured in.

use std::collections::BTreeMap;

use super::tier_of;
use crate::objects::{Entry, Inventory};
use crate::plugin::Value;
use crate::product::Scope;

/// An object's own tags: what neither `default_tags` nor the computed name explains.
type Own = BTreeMap<String, String>;

/// The maps for subnets, in the order of [`Tier::ALL`](crate::objects::Tier::ALL).
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

/// Tags on every object go to `custom_tags`; of the others, those on every object of a kind go to the map of that kind.
/// What is left on single objects is not ours.
pub(super) fn tags(inventory: &Inventory, scope: &Scope, vpc_name: &str, attributes: &mut Value) {
    let staying = inventory.present().filter(|entry| !entry.leaving);
    let mut objects: Vec<(&str, Own)> =
        staying.filter_map(|entry| Some((entry.key.slot.as_str(), own(entry, scope, vpc_name)?))).collect();
    let everywhere = common(objects.iter().map(|(_, own)| own));
    for (_, own) in &mut objects {
        own.retain(|key, _| !everywhere.contains_key(key));
    }
    attributes.set("custom_tags", everywhere.into());
    let mut kinds: BTreeMap<&str, Vec<&Own>> = BTreeMap::new();
    for (slot, own) in &objects {
        if let Some(map) = map_of(slot) {
            kinds.entry(map).or_default().push(own);
        }
    }
    for (map, tags) in kinds {
        attributes.set(map, common(tags.into_iter()).into());
    }
}

/// `None` for an object that takes no tags, or none of ours.
fn own(entry: &Entry, scope: &Scope, vpc_name: &str) -> Option<Own> {
    let name = format!("{vpc_name}{}", suffix(&entry.key.slot)?);
    let tags = entry.spec().tags()?.known()?;
    let tags = tags.iter().filter_map(|(key, value)| Some((key.clone(), value.known()?.clone())));
    let explained = |key: &String, value: &String| match key.as_str() {
        "Name" => *value == name,
        _ => scope.default_tags.get(key) == Some(value),
    };
    Some(tags.filter(|(key, value)| !explained(key, value)).collect())
}

/// What all of them have.
fn common<'a>(mut all: impl Iterator<Item = &'a Own>) -> Own {
    let mut common = all.next().cloned().unwrap_or_default();
    for own in all {
        common.retain(|key, value| own.get(key) == Some(value));
    }
    common
}

/// What follows the network's name in the name of the object in this slot; `None` where the slot is not one of a network.
fn suffix(slot: &str) -> Option<String> {
    let numbered = |text: &str, number: &str| Some(format!("-{text}-{number}"));
    match slot {
        "vpc" | "internet_gateway" | "default_network_acl" | "default_security_group" => return Some(String::new()),
        _ => {}
    }
    let (kind, place) = slot.split_once('.')?;
    match kind {
        "subnet" | "route_table" => {
            let tier = tier_of("", place)?.name();
            match place.split_once('.') {
                Some((_, index)) => numbered(tier, index),
                None => Some(format!("-{tier}")),
            }
        }
        "eip" | "nat_gateway" => numbered("nat-gateway", place),
        "private_nat_gateway" => numbered("private-nat-gateway", place),
        "vpc_endpoint" => Some(format!("-{place}")),
        _ => None,
    }
}

/// The map for the tags of the object in this slot, beside `custom_tags`.
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
