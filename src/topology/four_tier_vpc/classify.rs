//! Which objects of a foreign network can be adopted, and which place each of them has.
//!
//! An object gets a place only if the inputs of the resource can express it. All others stay unmanaged, each with a
//! reason.

mod evidence;
mod tables;

use std::collections::{BTreeMap, BTreeSet};

use ipnet::Ipv4Net;

use super::PARTS;
use super::zones::SubnetSlot;
use crate::model::keys::network as keys;
use crate::model::{Classification, FoundRouteTable, FoundSubnet, NetworkLandscape, RESOURCE, Tier, TopologyKind};

/// The tag with the slot of an object.
const OBJECT: &str = "fgw:object";

/// Decides.
pub(super) fn classify(landscape: &NetworkLandscape) -> Classification {
    let mut classifier = Classifier { landscape, result: Classification::default() };
    classifier.reject_others();
    if classifier.result.unmanaged.contains_key(&landscape.vpc_id) {
        return classifier.result;
    }
    classifier.place(&landscape.vpc_id, keys::VPC.to_string());
    let subnets = classifier.subnets();
    let subnets = classifier.route_tables(subnets);
    for (site, subnet) in &subnets {
        classifier.place(&subnet.id, keys::subnet_slot(site.0, site.1));
    }
    classifier.internet_gateway(&subnets);
    classifier.nat_gateways(&subnets);
    for part in PARTS {
        part.classify(&mut classifier);
    }
    for (id, reason) in &landscape.unexpressed {
        classifier.reject(id, reason.as_str());
    }
    classifier.result
}

/// The subnets that can be adopted, by place.
type Placed<'a> = BTreeMap<SubnetSlot, &'a FoundSubnet>;

/// A classification under construction.
pub(super) struct Classifier<'a> {
    pub(super) landscape: &'a NetworkLandscape,
    pub(super) result: Classification,
}

impl<'a> Classifier<'a> {
    pub(super) fn place(&mut self, id: &str, slot: String) {
        self.result.slots.insert(id.to_string(), slot);
    }

    pub(super) fn reject(&mut self, id: &str, reason: impl Into<String>) {
        self.result.unmanaged.entry(id.to_string()).or_insert(reason.into());
    }

    /// Gives an object its place, unless there is a reason why not.
    pub(super) fn place_or_reject(&mut self, id: &str, slot: String, reason: Option<String>) {
        match reason {
            Some(reason) => self.reject(id, reason),
            None if self.is_free(id) => self.place(id, slot),
            None => {}
        }
    }

    pub(super) fn is_free(&self, id: &str) -> bool {
        !self.result.unmanaged.contains_key(id)
    }

    /// Rejects the objects that another resource manages.
    fn reject_others(&mut self) {
        let landscape = self.landscape;
        let is_of_network = |owner: &&String| owner.starts_with(&format!("{}/", TopologyKind::FourTierVpc.name()));
        if let Some(owner) = landscape.vpc_tags.get(RESOURCE).filter(|owner| !is_of_network(owner)) {
            self.reject(&landscape.vpc_id, format!("its tag fgw:resource is {owner:?}"));
        }
        let below = format!("{}/{}", TopologyKind::FourTierVpc.name(), landscape.vpc_id);
        for (id, tags) in landscape.tags_below() {
            if let Some(owner) = tags.get(RESOURCE).filter(|owner| **owner != below) {
                self.reject(id, format!("its tag fgw:resource is {owner:?}, so another resource manages it"));
            }
        }
    }

    /// One subnet for each tier and AZ. In EKS, pods often have subnets in a secondary range, next to those of the
    /// nodes. These become a tier of their own, if one is free.
    fn subnets(&mut self) -> Placed<'a> {
        let landscape = self.landscape;
        let mut by_tier: BTreeMap<(Tier, &str), Vec<&'a FoundSubnet>> = BTreeMap::new();
        for subnet in &landscape.subnets {
            if !self.is_free(&subnet.id) {
                continue;
            }
            let tier = match subnet.cidr_block.parse::<Ipv4Net>() {
                Err(_) => Err("it has no IPv4 CIDR block, and no input expresses an IPv6-only subnet".to_string()),
                Ok(_) => evidence::tier_of(subnet, self.table_of(subnet), landscape),
            };
            match tier {
                Ok(tier) => by_tier.entry((tier, subnet.zone.as_str())).or_default().push(subnet),
                Err(reason) => self.reject(&subnet.id, reason),
            }
        }
        let is_secondary = |subnet: &FoundSubnet| is_secondary(subnet, landscape);
        let (mut chosen, mut further): (Vec<(Tier, &FoundSubnet)>, Placed<'_>) = Default::default();
        let free = [Tier::PrivatePersistence, Tier::Transit];
        let free = free.into_iter().find(|tier| by_tier.keys().all(|(it, _)| it != tier));
        for (number, ((tier, zone), mut subnets)) in (0..).zip(by_tier) {
            subnets.sort_by_key(|it| (is_secondary(it), it.cidr_block.parse::<Ipv4Net>().ok(), it.id.clone()));
            for other in &subnets[1..] {
                match free.filter(|_| tier != Tier::Public && is_secondary(other)) {
                    // One for each AZ.
                    Some(free) if further.values().all(|it| it.zone != zone) => {
                        further.insert((free, number), other);
                    }
                    _ => {
                        let (first, tier) = (&subnets[0].id, tier.slot());
                        self.reject(&other.id, format!("{first} is the subnet of the tier {tier} in {zone} already"));
                    }
                }
            }
            chosen.push((tier, subnets[0]));
        }
        chosen.extend(further.into_iter().map(|((tier, _), subnet)| (tier, subnet)));
        let indices = indices(&chosen);
        chosen.into_iter().map(|(tier, subnet)| ((tier, indices[subnet.zone.as_str()]), subnet)).collect()
    }

    /// The route table that serves a subnet.
    pub(super) fn table_of(&self, subnet: &FoundSubnet) -> Option<&'a FoundRouteTable> {
        let mut tables = self.landscape.route_tables.iter();
        let explicit = tables.clone().find(|table| table.associated.contains(&subnet.id));
        explicit.or_else(|| tables.find(|table| table.is_main))
    }

    fn internet_gateway(&mut self, subnets: &Placed<'a>) {
        let has_public_tier = subnets.keys().any(|(tier, _)| *tier == Tier::Public);
        for gateway in &self.landscape.internet_gateways {
            match has_public_tier {
                true if self.is_free(&gateway.id) => self.place(&gateway.id, keys::internet_gateway().slot),
                true => {}
                false => self.reject(&gateway.id, "no public subnet of this network uses it"),
            }
        }
    }

    /// Public NAT gateways in the public tier, or private ones in the transit tier, numbered by AZ.
    fn nat_gateways(&mut self, subnets: &Placed<'a>) {
        let found = &self.landscape.nat_gateways;
        let are_private = found.iter().all(|gateway| gateway.is_private);
        let tier = if are_private { Tier::Transit } else { Tier::Public };
        let mut placed: Vec<(u32, &str)> = Vec::new();
        for gateway in found {
            if gateway.is_private != are_private {
                self.reject(&gateway.id, "a network has either public or private NAT gateways, and this one has both");
                continue;
            }
            let site = subnets.iter().find(|(site, subnet)| site.0 == tier && subnet.id == gateway.subnet);
            match site {
                Some((site, _)) if self.is_free(&gateway.id) => placed.push((site.1, &gateway.id)),
                Some(_) => {}
                None => {
                    let (subnet, tier) = (&gateway.subnet, tier.slot());
                    self.reject(
                        &gateway.id,
                        format!("its subnet {subnet} is not one of the tier {tier} of this network"),
                    );
                }
            }
        }
        placed.sort_unstable();
        for (number, (_, id)) in placed.into_iter().enumerate() {
            let kind = if are_private { "private_nat_gateway" } else { "nat_gateway" };
            self.place(id, format!("{kind}.{number}"));
        }
    }
}

/// Whether a subnet is in a secondary range of the VPC.
fn is_secondary(subnet: &FoundSubnet, landscape: &NetworkLandscape) -> bool {
    let (block, primary) = (subnet.cidr_block.parse::<Ipv4Net>(), landscape.vpc_cidr_block.parse::<Ipv4Net>());
    block.is_ok_and(|block| primary.is_ok_and(|primary| !primary.contains(&block)))
}

/// The index of each AZ: the number at the end of the names of its subnets, if these numbers identify the AZs, else its
/// position in the order of the names of the AZs.
fn indices<'a>(subnets: &[(Tier, &'a FoundSubnet)]) -> BTreeMap<&'a str, u32> {
    let mut numbers: BTreeMap<&str, BTreeSet<Option<u32>>> = BTreeMap::new();
    for (_, subnet) in subnets {
        numbers.entry(&subnet.zone).or_default().insert(evidence::number_of(subnet));
    }
    let single = |numbers: &BTreeSet<Option<u32>>| match numbers.iter().collect::<Vec<_>>().as_slice() {
        [Some(number)] => Some(*number),
        _ => None,
    };
    let given: BTreeMap<&str, u32> = numbers.iter().filter_map(|(zone, all)| Some((*zone, single(all)?))).collect();
    let distinct: BTreeSet<u32> = given.values().copied().collect();
    if given.len() == numbers.len() && distinct.len() == given.len() && distinct.first() == Some(&0) {
        return given;
    }
    numbers.into_keys().zip(0..).collect()
}

#[cfg(test)]
pub(super) mod tests;
