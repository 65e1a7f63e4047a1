//! Writes changes that were made outside Terraform into the attributes of the configuration, so that Terraform shows
//! them at the attribute that the user set.
//!
//! One attribute often applies to many objects. It changes only if all of them changed in the same way; other changes
//! appear only in `drift`.

mod rules;

use super::import::{PROPAGATION, maps_of_tags, tables_of};
use super::name_tags::NAME;
use crate::model::keys::network as keys;
use crate::model::keys::network::tier_of;
use crate::model::{Entry, Inventory, Spec, Subnet, Tags, Tier};
use crate::plugin::{Input, Value};

/// Writes differences from the last apply into the attributes that express them.
pub(super) fn write_drift(state: &mut Value, inventory: &Inventory) {
    the_vpc(state, inventory);
    endpoints(state, inventory);
    let public = |field: fn(&Subnet) -> Input<bool>| {
        agreed(inventory, move |slot, spec| match spec {
            Spec::Subnet(subnet) if tier_of("subnet.", slot) == Some(Tier::Public) => Some(field(subnet)),
            _ => None,
        })
    };
    set(state, "map_public_ip_on_launch", public(|subnet| subnet.map_public_ip_on_launch.clone()));
    set(state, "assign_ipv6_address_on_creation", public(|subnet| subnet.assign_ipv6_address_on_creation.clone()));
    let secondary = agreed(inventory, |slot, spec| match spec {
        Spec::NatGateway(gateway) if slot.starts_with("private_nat_gateway.") => {
            Some(gateway.secondary_private_ip_address_count.clone())
        }
        _ => None,
    });
    set(state, "nat_secondary_private_ip_address_count", secondary);
    for (tier, name) in PROPAGATION {
        let tables = tables_of(inventory, tier);
        let gateways = agreed(inventory, |slot, spec| match spec {
            Spec::RouteTable(table) if tables.contains(slot) => Some(table.propagating_gateways.clone()),
            _ => None,
        });
        set(state, name, gateways);
    }
    rules::rules(state, inventory);
    tags(state, inventory);
    names(state, inventory);
}

fn the_vpc(state: &mut Value, inventory: &Inventory) {
    let Some(entry) = inventory.at(keys::VPC) else { return };
    let (Spec::Vpc(applied), Some(Spec::Vpc(observed))) = (&entry.applied, entry.drifted()) else { return };
    let attributes = [
        ("enable_dns_support", &applied.enable_dns_support, &observed.enable_dns_support),
        ("enable_dns_hostnames", &applied.enable_dns_hostnames, &observed.enable_dns_hostnames),
        (
            "enable_network_address_usage_metrics",
            &applied.enable_network_address_usage_metrics,
            &observed.enable_network_address_usage_metrics,
        ),
    ];
    for (name, applied, observed) in attributes {
        if applied != observed {
            state.set(name, observed.clone().into());
        }
    }
    if applied.instance_tenancy != observed.instance_tenancy {
        state.set("tenancy", observed.instance_tenancy.clone().into());
    }
}

fn endpoints(state: &mut Value, inventory: &Inventory) {
    for (slot, name) in [
        ("vpc_endpoint.objectstore", "objectstore_endpoint_policy"),
        ("vpc_endpoint.keyvalue", "keyvalue_endpoint_policy"),
    ] {
        let policy = agreed(inventory, |at, spec| match spec {
            Spec::VpcEndpoint(endpoint) if at == slot => Some(endpoint.policy.clone()),
            _ => None,
        });
        set(state, name, policy);
    }
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
            let value = agreed(inventory, |slot, spec| {
                let own = super::import::map_of_tags(slot);
                let has_it_from_here = match map {
                    _ if key == NAME && has_entry(slot) => false,
                    "custom_tags" => !own.is_some_and(is_overridden),
                    _ => own == Some(map),
                };
                tag(spec.tags().filter(|_| has_it_from_here)?, key)
            });
            match value {
                Some(Some(value)) => reflected.insert(key.clone(), value.into()),
                Some(None) => reflected.remove(key),
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
        let only = |at: &str, spec: &Spec| tag(spec.tags().filter(|_| at == slot)?, NAME);
        match agreed(inventory, only) {
            Some(Some(found)) => *name = found.into(),
            Some(None) => return false,
            None => {}
        }
        true
    });
    state.set("name_tags", Value::Map(entries));
}

/// The value of a tag; the inner `None` means that the object has no such tag.
fn tag(tags: &Tags, key: &str) -> Option<Option<String>> {
    match tags.known()?.get(key) {
        Some(value) => Some(Some(value.known()?.clone())),
        None => Some(None),
    }
}

fn set<T: Into<Value>>(state: &mut Value, name: &str, value: Option<T>) {
    if let Some(value) = value {
        state.set(name, value.into());
    }
}

/// The new value of a property, if all objects that have it agreed on the old value and agree on another one now.
fn agreed<T: PartialEq>(inventory: &Inventory, property: impl Fn(&str, &Spec) -> Option<T>) -> Option<T> {
    let staying = inventory.current();
    let of = |entry: &Entry, spec: &Spec| property(&entry.key.slot, spec);
    let mut changes = staying.filter_map(|entry| Some((of(entry, &entry.applied)?, of(entry, entry.spec())?)));
    let first = changes.next()?;
    (changes.all(|change| change == first) && first.0 != first.1).then_some(first.1)
}

#[cfg(test)]
mod tests {
    use super::super::config::tests::config;
    use super::super::fixtures::{applied, objects};
    use super::*;

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
            entry.observed = Some(spec);
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

    #[test]
    fn new_and_removed_policies_are_reflected() {
        let policy = r#"{"Statement":[]}"#;
        let mut inventory = applied(&objects(&config(&[("objectstore_endpoint_policy", policy.into())]), "ab"));
        observe(
            &mut inventory,
            |_| true,
            |spec| {
                if let Spec::VpcEndpoint(endpoint) = spec {
                    let other = endpoint.policy == Input::Known(None);
                    endpoint.policy = Input::Known(other.then(|| "{}".to_string()));
                }
            },
        );
        let mut state = Value::map([("objectstore_endpoint_policy", Value::from(policy))]);
        write_drift(&mut state, &inventory);
        assert_eq!(state.get("objectstore_endpoint_policy"), &Value::Null);
        assert_eq!(state.get("keyvalue_endpoint_policy"), &"{}".into());
    }
}
