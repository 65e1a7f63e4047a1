//! From existing objects to the inputs that reproduce them, for an import.
//!
//! Inputs that AWS returns are read back. Other inputs, such as the spacing that once placed the subnets, get a value
//! that results in the same objects. A configuration with other such values counts as equal if it results in the same
//! objects.

mod addresses;
pub(super) mod rules;
mod tags;

pub(super) use tags::{map_of as map_of_tags, maps as maps_of_tags};

use std::collections::{BTreeMap, BTreeSet};

use super::config::Config;
use super::route_table_layout::Layout;
use super::tier_zones;
use crate::model::keys::network as keys;
use crate::model::keys::network::{EndpointService, tier_of};
use crate::model::{Entry, Inventory, Ipv6Source, Key, NatGateway, Ref, Route, Spec, Subnet, Tier, Vpc, VpcEndpoint};
use crate::model::{Scope, VpcIpv6Block};
use crate::plugin::schema::with_defaults;
use crate::plugin::{Input, Nested, Value};

/// The inputs; `None` if the VPC does not have the tags of this provider.
pub(super) fn imported(inventory: &Inventory, scope: &Scope) -> Option<Value> {
    let found = FoundNetwork(inventory);
    let vpc = found.vpc()?;
    let name = vpc.name.known().filter(|name| !name.is_empty())?;
    let mut attributes = with_defaults(&Config::attributes(), &Value::Map(BTreeMap::new()));
    attributes.set("vpc_name", name.as_str().into());
    found.the_vpc(vpc, &mut attributes);
    found.zones_and_tiers(&mut attributes);
    addresses::blocks(inventory, &mut attributes);
    found.ipv6(scope, &mut attributes);
    found.gateways(&mut attributes);
    found.routing(&mut attributes);
    found.endpoints(&mut attributes);
    rules::rules(inventory, &mut attributes);
    tags::tags(inventory, scope, name, &mut attributes);
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

/// The existing objects that are not pending deletion.
struct FoundNetwork<'a>(&'a Inventory);

impl<'a> FoundNetwork<'a> {
    fn specs(&self) -> impl Iterator<Item = (&'a str, &'a Spec)> {
        let staying = self.0.current();
        staying.map(|entry| (entry.key.slot.as_str(), entry.spec()))
    }

    fn vpc(&self) -> Option<&'a Vpc> {
        self.specs().find_map(|(_, spec)| Vpc::of(spec))
    }

    fn has(&self, is: fn(&Spec) -> bool) -> bool {
        self.specs().any(|(_, spec)| is(spec))
    }

    fn routes(&self) -> impl Iterator<Item = &'a Route> {
        self.specs().filter_map(|(_, spec)| Route::of(spec))
    }

    /// The NAT gateways in the slots with this prefix, in the order of their numbers.
    fn nat_gateways(&self, prefix: &str) -> Vec<&'a NatGateway> {
        let mut gateways: Vec<(u32, &NatGateway)> = self
            .specs()
            .filter_map(|(slot, spec)| match spec {
                Spec::NatGateway(gateway) => Some((slot.strip_prefix(prefix)?.parse().ok()?, gateway)),
                _ => None,
            })
            .collect();
        gateways.sort_by_key(|(number, _)| *number);
        gateways.into_iter().map(|(_, gateway)| gateway).collect()
    }

    fn the_vpc(&self, vpc: &Vpc, attributes: &mut Value) {
        let learned = self.0.at(keys::VPC).and_then(|entry| entry.learned.get("cidr_block"));
        let range = vpc.cidr_block.known().cloned().flatten().or(learned.cloned());
        attributes.set("cidr_block", range.into());
        attributes.set("ipv4_ipam_pool_id", vpc.ipv4_ipam_pool_id.clone().into());
        attributes.set("ipv4_netmask_length", vpc.ipv4_netmask_length.clone().into());
        attributes.set("tenancy", vpc.instance_tenancy.clone().into());
        attributes.set("enable_dns_support", vpc.enable_dns_support.clone().into());
        attributes.set("enable_dns_hostnames", vpc.enable_dns_hostnames.clone().into());
        attributes.set("enable_network_address_usage_metrics", vpc.enable_network_address_usage_metrics.clone().into());
    }

    fn zones_and_tiers(&self, attributes: &mut Value) {
        let mut zones: BTreeMap<u32, &str> = BTreeMap::new();
        for tier in Tier::ALL {
            let subnets = subnets(self.0, tier);
            attributes.set(&format!("create_{}_subnets", tier.slot()), (!subnets.is_empty()).into());
            zones.extend(subnets.iter().map(|subnet| (subnet.index, subnet.availability_zone_id.as_str())));
        }
        let mut partial = BTreeMap::new();
        for tier in Tier::ALL {
            let subnets = subnets(self.0, tier);
            let has_subnet = |index: &u32| subnets.iter().any(|subnet| subnet.index == *index);
            let ids: Vec<&str> = zones.iter().filter(|(index, _)| has_subnet(index)).map(|(_, id)| *id).collect();
            if !ids.is_empty() && ids.len() < zones.len() {
                partial.insert(tier.slot().to_string(), ids.into());
            }
        }
        attributes.set(tier_zones::NAME, Value::Map(partial));
        let public = subnets(self.0, Tier::Public);
        let maps = public.iter().any(|subnet| subnet.map_public_ip_on_launch == Input::Known(true));
        attributes.set("map_public_ip_on_launch", maps.into());
        if !zones.is_empty() {
            attributes.set("num_availability_zones", number(zones.len()));
            attributes.set("availability_zone_ids", zones.into_values().collect::<Vec<_>>().into());
        }
    }

    fn ipv6(&self, scope: &Scope, attributes: &mut Value) {
        let source = self.specs().find_map(|(_, spec)| VpcIpv6Block::of(spec).map(|block| &block.source));
        let Some(source) = source else { return };
        attributes.set("enable_ipv6", true.into());
        let range = self.0.at(keys::IPV6_CIDR_BLOCK).and_then(|entry| entry.learned.get("ipv6_cidr_block"));
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
        let public = subnets(self.0, Tier::Public);
        let assigns = public.iter().any(|subnet| subnet.assign_ipv6_address_on_creation == Input::Known(true));
        attributes.set("assign_ipv6_address_on_creation", assigns.into());
        addresses::ipv6_blocks(range.map(String::as_str), &public, attributes);
    }

    fn gateways(&self, attributes: &mut Value) {
        let has_public_tier = !subnets(self.0, Tier::Public).is_empty();
        let has_gateway = self.has(|spec| matches!(spec, Spec::InternetGateway(_)));
        attributes.set("create_igw", (has_gateway || !has_public_tier).into());
        let private = self.nat_gateways("private_nat_gateway.");
        if let Some(gateway) = private.first() {
            attributes.set("enable_private_nat", true.into());
            attributes.set("num_nat_gateways", number(private.len()));
            let secondary = gateway.secondary_private_ip_address_count.clone();
            attributes.set("nat_secondary_private_ip_address_count", secondary.into());
            return;
        }
        let public = self.nat_gateways("nat_gateway.");
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

    fn routing(&self, attributes: &mut Value) {
        let own_public_tables = self.specs().any(|(slot, _)| slot.starts_with("route_table.public."));
        attributes.set("one_route_table_public_subnets", (!own_public_tables).into());
        let tiers = [Tier::PrivateApp, Tier::PrivatePersistence, Tier::Transit];
        let layouts =
            tiers.into_iter().filter_map(|tier| Some((tier.slot(), Value::from(self.layout(tier)?.value()?))));
        attributes.set("route_table_layout", Value::map(layouts));
        let routes_to_nat = |tier: Tier| {
            let tables = tables_of(self.0, tier);
            let to_nat = |target: &Ref| matches!(target, Ref::Key(key) if key.slot.contains("nat_gateway."));
            self.routes().any(|route| tables.contains(&route.route_table.slot) && to_nat(&route.target))
        };
        for tier in [Tier::PrivatePersistence, Tier::Transit] {
            attributes.set(&format!("allow_{}_internet_access", tier.slot()), routes_to_nat(tier).into());
        }
        for (tier, name) in PROPAGATION {
            attributes.set(name, self.propagating_gateways(tier).into());
        }
    }

    /// The layout of the route tables that the subnets of a tier use.
    fn layout(&self, tier: Tier) -> Option<Layout> {
        let table = tables_of(self.0, tier).into_iter().next()?;
        match tier_of("route_table.", &table)? {
            owner if owner != tier => Some(Layout::Of(owner)),
            _ if table == keys::route_table(tier, None).slot => Some(Layout::PerTier),
            _ => Some(Layout::PerSubnet),
        }
    }

    /// The gateways that propagate to every table of a tier. A gateway on only some of them was added outside
    /// Terraform.
    fn propagating_gateways(&self, tier: Tier) -> Vec<Input<String>> {
        let slots = tables_of(self.0, tier);
        let mut tables = self.specs().filter_map(|(slot, spec)| match spec {
            Spec::RouteTable(table) if slots.contains(slot) => table.propagating_gateways.known(),
            _ => None,
        });
        let mut common = tables.next().cloned().unwrap_or_default();
        for table in tables {
            common.retain(|gateway| table.contains(gateway));
        }
        common
    }

    fn endpoints(&self, attributes: &mut Value) {
        attributes.set("create_vpc_endpoints", self.has(|spec| matches!(spec, Spec::VpcEndpoint(_))).into());
        for (slot, spec) in self.specs() {
            let Spec::VpcEndpoint(VpcEndpoint { policy, .. }) = spec else { continue };
            let name = match EndpointService::ALL.into_iter().find(|it| slot == format!("vpc_endpoint.{}", it.slot())) {
                Some(EndpointService::ObjectStore) => "objectstore_endpoint_policy",
                Some(EndpointService::KeyValue) => "keyvalue_endpoint_policy",
                None => continue,
            };
            attributes.set(name, policy.clone().into());
        }
    }
}

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

/// The inputs with the gateways that propagate to the tables of each tier.
pub(super) const PROPAGATION: [(Tier, &str); 4] = [
    (Tier::Public, "public_propagating_vgws"),
    (Tier::PrivateApp, "private_propagating_vgws"),
    (Tier::PrivatePersistence, "persistence_propagating_vgws"),
    (Tier::Transit, "transit_propagating_vgws"),
];

/// The existing subnets of a tier that are not pending deletion, by index.
fn subnets(inventory: &Inventory, tier: Tier) -> Vec<&Subnet> {
    let found = FoundNetwork(inventory);
    let mut subnets: Vec<&Subnet> = found
        .specs()
        .filter_map(|(slot, spec)| match spec {
            Spec::Subnet(subnet) if subnet.tier == tier && slot.starts_with("subnet.") => Some(subnet),
            _ => None,
        })
        .collect();
    subnets.sort_by_key(|subnet| subnet.index);
    subnets
}

fn number(count: usize) -> Value {
    i64::try_from(count).unwrap_or(i64::MAX).into()
}

#[cfg(test)]
mod tests;
