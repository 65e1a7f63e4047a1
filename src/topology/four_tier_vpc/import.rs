//! From existing objects to the inputs that reproduce them, for an import.
//!
//! Inputs that AWS returns are read back. Other inputs, such as the spacing that once placed the subnets, get a value
//! that results in the same objects. A configuration with other such values counts as equal if it results in the same
//! objects.

mod addresses;
mod tags;

pub(super) use tags::{map_of as map_of_tags, maps as maps_of_tags};

use std::collections::BTreeMap;

use super::PARTS;
use super::config::Config;
use super::found::{nat_gateways, subnets_of, tables_of};
use super::mirrored::mirrored;
use super::route_table_layout::Layout;
use super::tier_zones;
use crate::model::VpcIpv6Block;
use crate::model::keys::network as keys;
use crate::model::keys::network::tier_of;
use crate::model::{InternetGateway, Inventory, Ipv6Source, Key, Ref, Route, Scope, Subnet, Tier, Vpc};
use crate::plugin::schema::with_defaults;
use crate::plugin::{Input, Nested, Value};
use crate::topology::mirrored::Found;

/// The inputs; `None` if the VPC does not have the tags of this provider.
pub(super) fn imported(inventory: &Inventory, scope: &Scope) -> Option<Value> {
    let found = Found::now(inventory);
    let vpc = found.all(Vpc::of).next()?;
    let name = vpc.name.known().filter(|name| !name.is_empty())?;
    let mut attributes = with_defaults(&Config::attributes(), &Value::Map(BTreeMap::new()));
    attributes.set("vpc_name", name.as_str().into());
    for input in mirrored() {
        input.import(inventory, &mut attributes);
    }
    found.the_vpc(vpc, &mut attributes);
    found.zones_and_tiers(&mut attributes);
    addresses::blocks(inventory, &mut attributes);
    found.ipv6(scope, &mut attributes);
    found.gateways(&mut attributes);
    found.routing(&mut attributes);
    tags::tags(inventory, scope, name, &mut attributes);
    for part in PARTS {
        part.import(found, scope, &mut attributes);
    }
    Some(attributes)
}

/// Takes the inputs that AWS does not return from a configuration: those that are null in `attributes`, and those that
/// only place new subnets.
pub(super) fn take_as_applied(attributes: &mut Value, configuration: &Value, inventory: &Inventory) {
    for (name, given) in configuration.as_map().into_iter().flatten() {
        if attributes.get(name).is_null() {
            attributes.set(name, given.clone());
        }
    }
    // AWS returns the range of a pool like any other.
    if configuration.get("cidr_block").is_null() {
        attributes.set("cidr_block", Value::Null);
    }
    addresses::take_as_applied(attributes, configuration, inventory);
}

impl Found<'_> {
    fn the_vpc(self, vpc: &Vpc, attributes: &mut Value) {
        let learned = self.inventory.at(keys::VPC).and_then(|entry| entry.learned.get("cidr_block"));
        let range = vpc.cidr_block.known().cloned().flatten().or(learned.cloned());
        attributes.set("cidr_block", range.into());
        attributes.set("ipv4_ipam_pool_id", vpc.ipv4_ipam_pool_id.clone().into());
        attributes.set("ipv4_netmask_length", vpc.ipv4_netmask_length.clone().into());
    }

    fn zones_and_tiers(self, attributes: &mut Value) {
        let mut zones: BTreeMap<u32, &str> = BTreeMap::new();
        for tier in Tier::ALL {
            let subnets = subnets_of(self, tier);
            attributes.set(&format!("create_{}_subnets", tier.slot()), (!subnets.is_empty()).into());
            zones.extend(subnets.iter().map(|subnet| (subnet.index, subnet.availability_zone_id.as_str())));
        }
        let mut partial = BTreeMap::new();
        for tier in Tier::ALL {
            let subnets = subnets_of(self, tier);
            let has_subnet = |index: &u32| subnets.iter().any(|subnet| subnet.index == *index);
            let ids: Vec<&str> = zones.iter().filter(|(index, _)| has_subnet(index)).map(|(_, id)| *id).collect();
            if !ids.is_empty() && ids.len() < zones.len() {
                partial.insert(tier.slot().to_string(), ids.into());
            }
        }
        attributes.set(tier_zones::NAME, Value::Map(partial));
        if !zones.is_empty() {
            attributes.set("num_availability_zones", number(zones.len()));
            attributes.set("availability_zone_ids", zones.into_values().collect::<Vec<_>>().into());
        }
    }

    fn ipv6(self, scope: &Scope, attributes: &mut Value) {
        let source = self.all(VpcIpv6Block::of).map(|block| &block.source).next();
        let Some(source) = source else { return };
        attributes.set("enable_ipv6", true.into());
        let range = self.inventory.at(keys::IPV6_CIDR_BLOCK).and_then(|entry| entry.learned.get("ipv6_cidr_block"));
        match source {
            Ipv6Source::Amazon { network_border_group } => {
                attributes.set("assign_generated_ipv6_cidr_block", true.into());
                // Null means the border group of the Region.
                let group = network_border_group.known().and_then(Option::as_deref);
                let group = group.filter(|group| *group != scope.region);
                attributes.set("ipv6_cidr_block_network_border_group", group.map(str::to_string).into());
            }
            Ipv6Source::Pool { pool_id, cidr_block, netmask_length } => {
                attributes.set("ipv6_ipam_pool_id", pool_id.clone().into());
                attributes.set("ipv6_netmask_length", netmask_length.clone().into());
                let requested = cidr_block.known().cloned().flatten();
                let requested = requested.or_else(|| range.cloned().filter(|_| netmask_length == &Input::Known(None)));
                attributes.set("ipv6_cidr_block", requested.into());
            }
        }
        let has_block = |subnet: &&Subnet| subnet.ipv6_cidr_block.known().is_some_and(Option::is_some);
        let with_ipv6 = Tier::ALL.into_iter().filter(|tier| subnets_of(self, *tier).iter().any(has_block));
        let with_ipv6: Vec<&str> = with_ipv6.map(Tier::slot).collect();
        // Without a public tier, the default has no effect.
        if !with_ipv6.is_empty() || !subnets_of(self, Tier::Public).is_empty() {
            attributes.set("ipv6_subnet_tiers", with_ipv6.into());
        }
        let subnets: Vec<&Subnet> = Tier::ALL.into_iter().flat_map(|tier| subnets_of(self, tier)).collect();
        addresses::ipv6_blocks(range.map(String::as_str), &subnets, attributes);
    }

    fn gateways(self, attributes: &mut Value) {
        let has_public_tier = !subnets_of(self, Tier::Public).is_empty();
        let has_gateway = self.all(InternetGateway::of).next().is_some();
        attributes.set("create_igw", (has_gateway || !has_public_tier).into());
        let private = nat_gateways(self, "private_nat_gateway.");
        if !private.is_empty() {
            attributes.set("enable_private_nat", true.into());
            attributes.set("num_nat_gateways", number(private.len()));
            return;
        }
        let public = nat_gateways(self, "nat_gateway.");
        attributes.set("num_nat_gateways", number(public.len()));
        let given: Vec<&str> = public
            .iter()
            .filter_map(|gateway| match &gateway.allocation {
                Some(Input::Known(Ref::Id(id))) => Some(id.as_str()),
                _ => None,
            })
            .collect();
        attributes.set("use_custom_nat_eips", (!given.is_empty()).into());
        attributes.set("custom_nat_eips", given.into());
    }

    fn routing(self, attributes: &mut Value) {
        let own_public_tables = self.specs().any(|(key, _)| key.slot.starts_with("route_table.public."));
        attributes.set("one_route_table_public_subnets", (!own_public_tables).into());
        let tiers = [Tier::PrivateApp, Tier::PrivatePersistence, Tier::Transit];
        let layouts =
            tiers.into_iter().filter_map(|tier| Some((tier.slot(), Value::from(self.layout(tier)?.value()?))));
        attributes.set("route_table_layout", Value::map(layouts));
        let has_way_out = |tier: Tier| {
            let tables = tables_of(self.inventory, tier);
            let is_way_out =
                |key: &Key| key.slot.contains("nat_gateway.") || key.slot == keys::EGRESS_ONLY_INTERNET_GATEWAY;
            let leads_out = |target: &Ref| matches!(target, Ref::Key(key) if is_way_out(key));
            self.all(Route::of).any(|route| tables.contains(&route.route_table.slot) && leads_out(&route.target))
        };
        for tier in [Tier::PrivatePersistence, Tier::Transit] {
            attributes.set(&format!("allow_{}_internet_access", tier.slot()), has_way_out(tier).into());
        }
    }

    /// The layout of the route tables that the subnets of a tier use.
    fn layout(self, tier: Tier) -> Option<Layout> {
        let table = tables_of(self.inventory, tier).into_iter().next()?;
        match tier_of("route_table.", &table)? {
            owner if owner != tier => Some(Layout::Of(owner)),
            _ if table == keys::route_table(tier, None).slot => Some(Layout::PerTier),
            _ => Some(Layout::PerSubnet),
        }
    }
}

/// The existing subnets of a tier that are not pending deletion, by index.
fn subnets(inventory: &Inventory, tier: Tier) -> Vec<&Subnet> {
    subnets_of(Found::now(inventory), tier)
}

fn number(count: usize) -> Value {
    i64::try_from(count).unwrap_or(i64::MAX).into()
}

#[cfg(test)]
mod tests;
