//! The inputs of IPv6 in single tiers.

use std::collections::BTreeSet;

use super::effects::{OTHER_BLOCKS, TIERS_WITH_IPV6};
use super::empty::empty_map;
use super::{CidrBlocks, Config};
use crate::model::Tier;
use crate::plugin::{Check, Input, PlanEffect, Value};

/// Names of tiers.
pub(in super::super) type Tiers = BTreeSet<Input<String>>;

crate::attributes! {
    /// IPv6 in single tiers.
    pub struct Ipv6Tiers {
        /// Tiers whose subnets get IPv6 blocks with `enable_ipv6`: `public`, `private_app`, `private_persistence` and
        /// `transit`. An empty set leaves only the IPv6 range of the VPC. No IPv4 address changes. The blocks of a tier
        /// begin at a quarter of the range for each tier before it in this order: with 256 blocks, at 0, 64, 128 and
        /// 192. AWS rejects the removal of a tier while network interfaces have addresses of its blocks.
        ipv6_subnet_tiers: Input<Tiers>
            = default(vec!["public"]).check(tiers()).change(PlanEffect::PartialReplace(TIERS_WITH_IPV6)),
        /// Whether to create an egress-only internet gateway, and IPv6 default routes to it in the private tiers of
        /// `ipv6_subnet_tiers` that have internet access: the private app tier, and the others if they are allowed to.
        /// By default, it is created if such a tier routes IPv4 to public NAT gateways, so that no tier gets internet
        /// access only over IPv6. `true` requires `enable_ipv6`. Security groups apply to IPv6 separately: one with
        /// rules for IPv4 alone allows no IPv6 traffic.
        create_egress_only_igw: Input<Option<bool>> = optional_computed().change(PlanEffect::PartialReplace(
            "creates or deletes the egress-only internet gateway and the routes to it"
        )),
        /// Tiers in which new network interfaces get an IPv6 address. Each must be in `ipv6_subnet_tiers`. By default,
        /// `public` if `assign_ipv6_address_on_creation` is true, else none. Existing interfaces keep their addresses.
        assign_ipv6_address_on_creation_tiers: Input<Option<Tiers>> = optional_computed().check(tiers()).in_place(),
        /// IPv6 CIDR blocks of public subnets by `AZ-<index>`: a /56, /60 or /64 each. Without an entry, the subnet in
        /// the AZ with index i gets block number i of those of its tier. A subnet whose entry is removed keeps its
        /// block.
        public_subnet_ipv6_cidr_blocks: CidrBlocks = default(empty_map()).change(PlanEffect::Disruptive(OTHER_BLOCKS)),
        /// IPv6 CIDR blocks of private app subnets by `AZ-<index>`.
        private_app_subnet_ipv6_cidr_blocks: CidrBlocks
            = default(empty_map()).change(PlanEffect::Disruptive(OTHER_BLOCKS)),
        /// IPv6 CIDR blocks of private persistence subnets by `AZ-<index>`.
        private_persistence_subnet_ipv6_cidr_blocks: CidrBlocks
            = default(empty_map()).change(PlanEffect::Disruptive(OTHER_BLOCKS)),
        /// IPv6 CIDR blocks of transit subnets by `AZ-<index>`.
        transit_subnet_ipv6_cidr_blocks: CidrBlocks
            = default(empty_map()).change(PlanEffect::Disruptive(OTHER_BLOCKS)),
    }
}

fn tiers() -> Check {
    let problem = |value: &Value| {
        let name = value.as_str()?;
        let is_tier = Tier::ALL.into_iter().any(|tier| tier.slot() == name);
        (!is_tier).then(|| format!("{name:?} is not a tier."))
    };
    Check::new("a set of public, private_app, private_persistence and transit", move |value| match value {
        Value::List(items) => items.iter().find_map(problem).map_or(Ok(()), Err),
        _ => Ok(()),
    })
}

impl Config {
    /// The name and the value of the `*_subnet_ipv6_cidr_blocks` of this tier.
    pub fn ipv6_cidr_blocks(&self, tier: Tier) -> (&'static str, &CidrBlocks) {
        match tier {
            Tier::Public => ("public_subnet_ipv6_cidr_blocks", &self.ipv6.public_subnet_ipv6_cidr_blocks),
            Tier::PrivateApp => ("private_app_subnet_ipv6_cidr_blocks", &self.ipv6.private_app_subnet_ipv6_cidr_blocks),
            Tier::PrivatePersistence => {
                ("private_persistence_subnet_ipv6_cidr_blocks", &self.ipv6.private_persistence_subnet_ipv6_cidr_blocks)
            }
            Tier::Transit => ("transit_subnet_ipv6_cidr_blocks", &self.ipv6.transit_subnet_ipv6_cidr_blocks),
        }
    }
}
