//! The inputs that are properties of objects.

use super::PARTS;
use super::found::{nat_gateways, subnets_of, tables_of};
use crate::model::{RouteTable, Subnet, Tier, Vpc};
use crate::plugin::{Input, Value};
use crate::topology::mirrored::{Found, Mirrored};

/// The inputs that are properties of objects, those of parts included, except maps of rules and of tags.
pub(super) fn mirrored() -> impl Iterator<Item = &'static Mirrored> {
    MIRRORED.iter().chain(PARTS.iter().flat_map(|part| part.mirrored()))
}

const MIRRORED: &[Mirrored] = &[
    Mirrored::new("tenancy", |it| it.each(Vpc::of, |vpc| &vpc.instance_tenancy)),
    Mirrored::new("enable_dns_support", |it| it.each(Vpc::of, |vpc| &vpc.enable_dns_support)),
    Mirrored::new("enable_dns_hostnames", |it| it.each(Vpc::of, |vpc| &vpc.enable_dns_hostnames)),
    Mirrored::new("enable_network_address_usage_metrics", |it| {
        it.each(Vpc::of, |vpc| &vpc.enable_network_address_usage_metrics)
    }),
    Mirrored::new("map_public_ip_on_launch", |it| public(it, |subnet| &subnet.map_public_ip_on_launch))
        .imported_as(any),
    Mirrored::new("nat_secondary_private_ip_address_count", |it| {
        let gateways = nat_gateways(it, "private_nat_gateway.").into_iter();
        gateways.map(|gateway| gateway.secondary_private_ip_address_count.clone().into()).collect()
    }),
    Mirrored::new("public_propagating_vgws", |it| propagating(it, Tier::Public)).imported_as(common),
    Mirrored::new("private_propagating_vgws", |it| propagating(it, Tier::PrivateApp)).imported_as(common),
    Mirrored::new("persistence_propagating_vgws", |it| propagating(it, Tier::PrivatePersistence)).imported_as(common),
    Mirrored::new("transit_propagating_vgws", |it| propagating(it, Tier::Transit)).imported_as(common),
];

fn public(found: Found<'_>, property: fn(&Subnet) -> &Input<bool>) -> Vec<Value> {
    subnets_of(found, Tier::Public).into_iter().map(|subnet| property(subnet).clone().into()).collect()
}

/// The gateways that propagate to each table that the subnets of a tier use.
fn propagating(found: Found<'_>, tier: Tier) -> Vec<Value> {
    let tables = tables_of(found.inventory, tier);
    let of_tier = found.specs().filter(|(key, _)| tables.contains(&key.slot));
    of_tier.filter_map(|(_, spec)| Some(RouteTable::of(spec)?.propagating_gateways.clone().into())).collect()
}

/// Whether any object has the property.
fn any(_: Found<'_>, values: Vec<Value>) -> Option<Value> {
    Some(values.contains(&Value::Bool(true)).into())
}

/// The elements that all lists contain. An element of only some of them was added outside Terraform.
fn common(_: Found<'_>, values: Vec<Value>) -> Option<Value> {
    let mut lists =
        values.into_iter().filter_map(|value| if let Value::List(list) = value { Some(list) } else { None });
    let mut common = lists.next().unwrap_or_default();
    for list in lists {
        common.retain(|element| list.contains(element));
    }
    Some(common.into())
}
