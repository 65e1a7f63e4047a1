//! The existing objects of a network that inputs describe together.

use std::collections::BTreeSet;

use crate::model::keys::network::tier_of;
use crate::model::{Entry, Inventory, Key, NatGateway, Ref, Spec, Subnet, Tier};
use crate::topology::mirrored::Found;

/// The slots of the route tables that the subnets of a tier use: their own, or those of another tier.
pub(super) fn tables_of(inventory: &Inventory, tier: Tier) -> BTreeSet<String> {
    let associated = |subnet: &Key| {
        let of_subnet = |entry: &Entry| match &entry.applied {
            Spec::RouteTableAssociation(it) if it.subnet == *subnet => Some(it.route_table.clone()),
            _ => None,
        };
        inventory.current().find_map(of_subnet)
    };
    let main = || inventory.main_route_table().map(|table| Ref::Key(table.key.clone()));
    let of_tier = inventory.current().filter(|entry| tier_of("subnet.", &entry.key.slot) == Some(tier));
    let of_subnet = |entry: &Entry| match associated(&entry.key).or_else(main)? {
        Ref::Key(key) => Some(key.slot),
        Ref::Id(_) => None,
    };
    of_tier.filter_map(of_subnet).collect()
}

/// The NAT gateways in the slots with this prefix, in the order of their numbers.
pub(super) fn nat_gateways<'a>(found: Found<'a>, prefix: &str) -> Vec<&'a NatGateway> {
    let numbered = |(key, spec): (&'a Key, &'a Spec)| {
        Some((key.slot.strip_prefix(prefix)?.parse::<u32>().ok()?, NatGateway::of(spec)?))
    };
    let mut gateways: Vec<(u32, &NatGateway)> = found.specs().filter_map(numbered).collect();
    gateways.sort_by_key(|(number, _)| *number);
    gateways.into_iter().map(|(_, gateway)| gateway).collect()
}

/// The subnets of a tier, by index.
pub(super) fn subnets_of(found: Found<'_>, tier: Tier) -> Vec<&Subnet> {
    let of_tier = |(key, spec)| Subnet::of(spec).filter(|it| it.tier == tier && is_subnet(key));
    let mut subnets: Vec<&Subnet> = found.specs().filter_map(of_tier).collect();
    subnets.sort_by_key(|subnet| subnet.index);
    subnets
}

fn is_subnet(key: &Key) -> bool {
    key.slot.starts_with("subnet.")
}
