//! The configuration of a network: every input, its type, its default and what users read about it.

mod rules;

use std::collections::BTreeMap;

use crate::model::OperationTimeouts;
use crate::model::timeouts::duration;
use crate::model::{Tags, Tier};
use crate::plugin::{Check, Input, PlanEffect, Value};

pub use rules::{NaclRule, SecurityGroupRule};

/// A list whose elements may be unknown.
pub(super) type Strings = Input<Vec<Input<String>>>;

/// CIDR blocks by `AZ-<index>`.
pub(super) type CidrBlocks = Input<BTreeMap<String, Input<String>>>;

crate::attributes! {
    /// The configuration of one `fgw_four_tier_vpc`.
    pub struct Config {
        /// IPv4 range of the VPC in CIDR notation, from /16 to /27, such as `10.0.0.0/16`; a /16 is recommended.
        /// Required unless `ipv4_ipam_pool_id` is given; with a pool, the range asked of it.
        cidr_block: Input<Option<String>> = optional().change(PlanEffect::RequiresReplace(
            "but the range that a pool chose may be written down later, or one that was written down left to the pool"
        )),
        /// Number of NAT gateways, public ones unless `enable_private_nat` is true. One per AZ is recommended for
        /// production, one in all is enough elsewhere. Without a public tier no public one is made.
        num_nat_gateways: Input<i64> = required().check(Check::between(0, 200)).change(PlanEffect::PartialReplace(
            "makes new NAT gateways, which take over the routes, before others go with their addresses; connections \
             through those break"
        )),
        /// Name of the network, such as `production`. It begins the Name tag of every object and the keys of
        /// `<tier>_subnets`.
        vpc_name: Input<String> = required().change(PlanEffect::Disruptive(
            "the keys of `<tier>_subnets` change with it, so what others make with `for_each` over them is replaced"
        )),

        /// How many AZs to use; null means all. A number above that of the AZs there are means all.
        num_availability_zones: Input<Option<i64>> = optional_computed().check(Check::between(1, 100)).change(
            PlanEffect::PartialReplace("to a smaller number removes the AZs of the highest index with all that stands in them")
        ),
        /// The ids of the AZs to use, such as `use1-az1`; null means all.
        availability_zone_ids: Input<Option<Vec<Input<String>>>> = optional_computed()
            .change(PlanEffect::PartialReplace("removes an AZ that is left out, with all that stands in it")),
        /// Ids of AZs not to use, such as `use1-az3`.
        availability_zone_exclude_ids: Strings = default(empty_list())
            .change(PlanEffect::PartialReplace("removes an AZ that is named, with all that stands in it")),
        /// Names of AZs not to use, such as `us-east-1e`.
        availability_zone_exclude_names: Strings = default(empty_list())
            .change(PlanEffect::PartialReplace("removes an AZ that is named, with all that stands in it")),
        /// Use only AZs in this state for new subnets; null means any. An AZ that already has subnets stays whatever
        /// its state.
        availability_zone_state: Input<Option<String>> = optional()
            .check(Check::one_of(&["available", "information", "impaired", "unavailable"]))
            .change(PlanEffect::PartialReplace("may add AZs that it lets in, with subnets, and removes none")),
        /// Has no effect: the Region is that of the provider.
        cloud_region: Input<String>
            = default("").deprecated("The Region is that of the provider.").changes_nothing(),

        /// Whether there is a public tier. Without it there is no internet gateway and no public NAT gateway.
        create_public_subnets: Input<bool> = default(true).change(PlanEffect::PartialReplace(
            "makes or deletes the tier's subnets and route tables, the internet gateway, and the public NAT gateways \
             with their addresses"
        )),
        /// Whether there is a private app tier.
        create_private_app_subnets: Input<bool> = default(true)
            .change(PlanEffect::PartialReplace("makes or deletes the tier's subnets and route tables")),
        /// Whether there is a private persistence tier.
        create_private_persistence_subnets: Input<bool> = default(true)
            .change(PlanEffect::PartialReplace("makes or deletes the tier's subnets and route tables")),
        /// Whether there is a transit tier.
        create_transit_subnets: Input<bool> = default(false).change(PlanEffect::PartialReplace(
            "makes or deletes the tier's subnets and route tables, and the private NAT gateways in it; it moves no \
             other subnet"
        )),
        /// Whether there is an internet gateway. It needs a public tier, and public NAT gateways need it.
        create_igw: Input<bool> = default(true)
            .change(PlanEffect::PartialReplace("makes or deletes the internet gateway and the routes to it")),
        /// Whether there are gateway endpoints for S3 and DynamoDB, on every route table of the network.
        create_vpc_endpoints: Input<bool> = default(true).change(PlanEffect::PartialReplace(
            "makes or deletes the endpoints; connections to S3 and DynamoDB that are open are then interrupted"
        )),
        /// Whether private persistence subnets reach the internet through the NAT gateways, be they public or private.
        allow_private_persistence_internet_access: Input<bool> = default(false)
            .change(PlanEffect::PartialReplace("makes or deletes the default routes of the tier's tables")),
        /// Whether transit subnets reach the internet through the public NAT gateways.
        allow_transit_internet_access: Input<bool> = default(false)
            .change(PlanEffect::PartialReplace("makes or deletes the default routes of the tier's tables")),
        /// Whether the NAT gateways are private ones in the transit tier, without addresses of the internet, instead of
        /// public ones. It needs `create_transit_subnets`, and cannot go with `allow_transit_internet_access`.
        enable_private_nat: Input<bool> = default(false).change(PlanEffect::PartialReplace(
            "exchanges the NAT gateways: the new ones take over the routes before the others go, and connections \
             through those break"
        )),
        /// Whether NAT gateways use the addresses in `custom_nat_eips`.
        use_custom_nat_eips: Input<bool> = default(false).change(PlanEffect::PartialReplace(
            "exchanges the NAT gateways, whose addresses change; connections through the old ones break"
        )),
        /// Allocation ids of Elastic IP addresses for the NAT gateways, such as `eipalloc-0123456789abcdef0`, exactly
        /// `num_nat_gateways` of them. Used only with `use_custom_nat_eips`. Their order has no meaning.
        custom_nat_eips: Strings = default(empty_list()).change(PlanEffect::PartialReplace(
            "exchanges the NAT gateways whose address leaves the list; one whose address stays, stays"
        )),
        /// Number of private addresses that each private NAT gateway has beside its first, each for 55,000 more
        /// connections to one destination; AWS allows 7 unless it has raised the quota. Only with
        /// `enable_private_nat`.
        nat_secondary_private_ip_address_count: Input<i64>
            = default(0_i64).check(Check::between(0, 31)).in_place(),
        /// Whether all public subnets share one route table; otherwise each has its own.
        one_route_table_public_subnets: Input<bool> = default(true).change(PlanEffect::PartialReplace(
            "exchanges the tables: the new ones stand with their routes before the subnets move to them"
        )),
        /// Whether instances launched into public subnets get a public address.
        map_public_ip_on_launch: Input<bool> = default(false).in_place(),
        /// Tenancy of instances: `default`, `dedicated` or `host`; AWS refuses `host` for a VPC.
        tenancy: Input<String> = default("default")
            .check(Check::one_of(&["default", "dedicated", "host"]))
            .change(PlanEffect::RequiresReplace("but one from `dedicated` to `default` is made in place")),
        /// Whether instances get public DNS names; needs `enable_dns_support`.
        enable_dns_hostnames: Input<bool> = default(true).in_place(),
        /// Whether the Amazon DNS server answers in the VPC.
        enable_dns_support: Input<bool> = default(true).in_place(),
        /// Whether AWS computes network address usage metrics.
        enable_network_address_usage_metrics: Input<bool> = default(false).in_place(),

        /// Bits added to the VPC's prefix length for public subnets: 5 makes /21 of /16.
        public_subnet_bits: Input<i64>
            = default(5_i64).check(Check::between(0, 12)).change(PlanEffect::PartialReplace(EXCHANGED_WITH_NAT)),
        /// Bits added to the VPC's prefix length for private app subnets: 5 makes /21 of /16.
        private_subnet_bits: Input<i64> = default(5_i64).check(Check::between(0, 12)).change(PlanEffect::PartialReplace(EXCHANGED)),
        /// Bits added to the VPC's prefix length for private persistence subnets: 5 makes /21 of /16.
        persistence_subnet_bits: Input<i64>
            = default(5_i64).check(Check::between(0, 12)).change(PlanEffect::PartialReplace(EXCHANGED)),
        /// Bits added to the VPC's prefix length for transit subnets: 5 makes /21 of /16.
        transit_subnet_bits: Input<i64>
            = default(5_i64).check(Check::between(0, 12)).change(PlanEffect::PartialReplace(EXCHANGED_WITH_NAT)),
        /// Number of blocks from one tier to the next, without a transit tier. It places new subnets and moves none.
        subnet_spacing: Input<i64> = default(10_i64).check(Check::between(0, 4095)).changes_nothing(),
        /// Number of blocks from one tier to the next, with a transit tier. It places new subnets and moves none.
        global_subnet_spacing: Input<i64> = default(6_i64).check(Check::between(0, 4095)).changes_nothing(),
        /// Number of the first private app block; null means the spacing between tiers.
        private_subnet_spacing: Input<Option<i64>>
            = optional_computed().check(Check::between(0, 4095)).change(PlanEffect::PartialReplace(EXCHANGED)),
        /// Number of the first private persistence block; null means twice the spacing between tiers.
        persistence_subnet_spacing: Input<Option<i64>>
            = optional_computed().check(Check::between(0, 4095)).change(PlanEffect::PartialReplace(EXCHANGED)),
        /// Number of the first transit block; null means three times the spacing between tiers.
        transit_subnet_spacing: Input<Option<i64>>
            = optional_computed().check(Check::between(0, 4095)).change(PlanEffect::PartialReplace(EXCHANGED_WITH_NAT)),
        /// CIDR blocks of public subnets, from /16 to /28, by `AZ-0`, `AZ-1`, ...: `AZ-0 = "10.0.0.0/20"`. A missing
        /// one is computed.
        public_subnet_cidr_blocks: CidrBlocks = default(empty_map()).change(PlanEffect::PartialReplace(ENTRY)),
        /// CIDR blocks of private app subnets, as for the public ones.
        private_app_subnet_cidr_blocks: CidrBlocks = default(empty_map()).change(PlanEffect::PartialReplace(ENTRY)),
        /// CIDR blocks of private persistence subnets, as for the public ones.
        private_persistence_subnet_cidr_blocks: CidrBlocks = default(empty_map()).change(PlanEffect::PartialReplace(ENTRY)),
        /// CIDR blocks of transit subnets, as for the public ones.
        transit_subnet_cidr_blocks: CidrBlocks = default(empty_map()).change(PlanEffect::PartialReplace(ENTRY)),

        /// Id of the IPv4 IPAM pool that the VPC's range comes from: the range `cidr_block`, one of
        /// `ipv4_netmask_length`, or one of the pool's default length. Its choice is the output `vpc_cidr_block`.
        ipv4_ipam_pool_id: Input<Option<String>> = optional()
            .change(PlanEffect::RequiresReplace("but the pool may be left out later where `cidr_block` says the range")),
        /// Prefix length of the range from the IPAM pool, from 16 to 27. It needs `ipv4_ipam_pool_id`, and cannot go
        /// with `cidr_block`.
        ipv4_netmask_length: Input<Option<i64>> = optional()
            .check(Check::between(16, 27))
            .change(PlanEffect::RequiresReplace("unless the range has that length already")),
        /// Whether the network has an IPv6 range, its public subnets blocks of it, and their tables a route to the
        /// internet gateway. It needs a source: `assign_generated_ipv6_cidr_block` or `ipv6_ipam_pool_id`.
        enable_ipv6: Input<bool> = default(false).change(PlanEffect::PartialReplace(
            "makes or deletes the range and the routes; the public subnets stay, and gain or lose their blocks"
        )),
        /// Whether the IPv6 range is a /56 that Amazon chooses. It cannot go with `ipv6_ipam_pool_id`. Used only with
        /// `enable_ipv6`.
        assign_generated_ipv6_cidr_block: Input<Option<bool>> = optional().change(PlanEffect::PartialReplace(OTHER_RANGE)),
        /// Whether network interfaces in public subnets get an IPv6 address. It needs `enable_ipv6`.
        assign_ipv6_address_on_creation: Input<bool> = default(false).in_place(),
        /// IPv6 range to ask of the IPAM pool, from /44 to /60; null leaves it to the pool. It needs
        /// `ipv6_ipam_pool_id`, and cannot go with `ipv6_netmask_length`. Where it is not set, it tells the range that
        /// the VPC has been given, if any.
        ipv6_cidr_block: Input<Option<String>> = optional_computed().change(PlanEffect::PartialReplace(OTHER_RANGE)),
        /// Network border group, such as that of a local zone, to which the advertisement of the range is restricted;
        /// null means the Region. It needs `assign_generated_ipv6_cidr_block`.
        ipv6_cidr_block_network_border_group: Input<Option<String>>
            = optional().change(PlanEffect::PartialReplace(OTHER_RANGE)),
        /// Id of the IPv6 IPAM pool that the IPv6 range comes from. It cannot go with
        /// `assign_generated_ipv6_cidr_block`. Used only with `enable_ipv6`.
        ipv6_ipam_pool_id: Input<Option<String>> = optional().change(PlanEffect::PartialReplace(OTHER_RANGE)),
        /// Prefix length of the range from the IPAM pool: 56, or null where the pool has a default. It needs
        /// `ipv6_ipam_pool_id`.
        ipv6_netmask_length: Input<Option<i64>> = optional().change(PlanEffect::PartialReplace(OTHER_LENGTH)),
        /// Bits added to the prefix length of the IPv6 range for subnets: 8 makes /64 of /56. Allowed are those that
        /// make /56, /60 or /64.
        ipv6_subnet_bits: Input<i64>
            = default(8_i64).check(Check::between(0, 8)).change(PlanEffect::Disruptive(OTHER_BLOCKS)),
        /// IPv6 blocks of public subnets, by `AZ-0`, `AZ-1`, ... A missing one is computed: block number i of the range
        /// for AZ i. Removing an entry moves nothing.
        public_subnet_ipv6_cidr_blocks: CidrBlocks = default(empty_map()).change(PlanEffect::Disruptive(OTHER_BLOCKS)),

        /// Whether the rules below become those of the default network ACL. Turning it off brings AWS's original rules
        /// back, which allow everything. Changed rule by rule, without a moment in which all is denied.
        apply_default_nacl_rules: Input<bool> = default(false).in_place(),
        /// Whether the public, private app and persistence subnets are given the default network ACL. Used only with
        /// `apply_default_nacl_rules`. A subnet that others give another ACL afterwards keeps that, and so does a
        /// subnet that has it when this is turned off.
        associate_default_nacl_to_subnets: Input<bool> = default(true).in_place(),
        /// Whether the rules of the VPC's default security group are managed. Turning it off revokes the rules that
        /// were set.
        enable_default_security_group: Input<bool> = default(true).in_place(),
        /// Inbound rules of the default network ACL, by any name. Used only with `apply_default_nacl_rules`. An empty
        /// map denies everything.
        default_nacl_ingress_rules: Input<BTreeMap<String, Input<NaclRule>>>
            = default(rules::default_nacl_rules()).in_place(),
        /// Outbound rules of the default network ACL, by any name. Used only with `apply_default_nacl_rules`. An empty
        /// map denies everything.
        default_nacl_egress_rules: Input<BTreeMap<String, Input<NaclRule>>>
            = default(rules::default_nacl_rules()).in_place(),
        /// Inbound rules of the default security group, by any name. An empty map leaves the rules as they are.
        default_security_group_ingress_rules: Input<BTreeMap<String, Input<SecurityGroupRule>>>
            = default(rules::default_ingress_rules()).in_place(),
        /// Outbound rules of the default security group, by any name. An empty map leaves the rules as they are.
        default_security_group_egress_rules: Input<BTreeMap<String, Input<SecurityGroupRule>>>
            = default(rules::default_egress_rules()).in_place(),

        /// IAM policy (JSON) of the S3 endpoint; null allows everything.
        objectstore_endpoint_policy: Input<Option<String>> = optional().in_place(),
        /// IAM policy (JSON) of the DynamoDB endpoint; null allows everything.
        keyvalue_endpoint_policy: Input<Option<String>> = optional().in_place(),
        /// Ids of virtual private gateways, such as `vgw-0123456789abcdef0`, whose VPN routes propagate to public
        /// tables. Gateways that others added stay.
        public_propagating_vgws: Strings = default(empty_list()).in_place(),
        /// Ids of virtual private gateways whose VPN routes propagate to private app tables.
        private_propagating_vgws: Strings = default(empty_list()).in_place(),
        /// Ids of virtual private gateways whose VPN routes propagate to private persistence tables.
        persistence_propagating_vgws: Strings = default(empty_list()).in_place(),
        /// Ids of virtual private gateways whose VPN routes propagate to transit tables.
        transit_propagating_vgws: Strings = default(empty_list()).in_place(),

        /// Tags for every object. They override the provider's `default_tags` and the Name tag, and are overridden by
        /// the maps below. Tags that others set on the objects stay, here as with all maps of tags.
        custom_tags: Tags = default(empty_map()).in_place(),
        /// Tags for the VPC only.
        vpc_custom_tags: Tags = default(empty_map()).in_place(),
        /// Tags for NAT gateways and their Elastic IP addresses.
        nat_gateway_custom_tags: Tags = default(empty_map()).in_place(),
        /// Tags for public subnets.
        public_subnet_custom_tags: Tags = default(empty_map()).in_place(),
        /// Tags for private app subnets.
        private_app_subnet_custom_tags: Tags = default(empty_map()).in_place(),
        /// Tags for private persistence subnets.
        private_persistence_subnet_custom_tags: Tags = default(empty_map()).in_place(),
        /// Tags for transit subnets.
        transit_subnet_custom_tags: Tags = default(empty_map()).in_place(),
        /// Tags for public route tables.
        public_route_table_custom_tags: Tags = default(empty_map()).in_place(),
        /// Tags for private app route tables.
        private_app_route_table_custom_tags: Tags = default(empty_map()).in_place(),
        /// Tags for private persistence route tables.
        private_persistence_route_table_custom_tags: Tags = default(empty_map()).in_place(),
        /// Tags for transit route tables.
        transit_route_table_custom_tags: Tags = default(empty_map()).in_place(),
        /// Tags for the default security group.
        security_group_tags: Tags = default(empty_map()).in_place(),
        /// How long to wait for one route table's creation, such as `5m`.
        route_table_creation_timeout: Input<String> = default("5m").check(duration()).changes_nothing(),
        /// How long to wait for one route table's deletion, such as `5m`.
        route_table_deletion_timeout: Input<String> = default("5m").check(duration()).changes_nothing(),
        /// How long to wait for one route table's update, such as `2m`.
        route_table_update_timeout: Input<String> = default("2m").check(duration()).changes_nothing(),

        /// Patterns of keys in `aws_objects`, such as `subnet.public.*`, where `*` stands for any text: the drift of
        /// these objects is neither reported nor mended, as long as the configuration wants nothing else of them.
        ignore_drift: Input<Option<Vec<Input<String>>>> = optional().changes_nothing(),
        /// How long whole operations may take.
        timeouts: Input<Option<OperationTimeouts>> = block().changes_nothing(),
    }
}

/// What a change does that moves the subnets of one tier.
const EXCHANGED: &str = "exchanges the tier's subnets; an old one in which something stands is listed in `pending_deletion`, \
     and goes when that has moved";

/// The same, of a tier that NAT gateways may stand in.
const EXCHANGED_WITH_NAT: &str = "exchanges the tier's subnets with the NAT gateways in them, and breaks the \
     connections through those; an old subnet in which something else stands is listed in `pending_deletion`, and goes when \
     that has moved";

/// What a change of explicit blocks does.
const ENTRY: &str = "of an entry to another block exchanges that subnet; removing an entry moves nothing";

/// What a change does that leads to another IPv6 range.
const OTHER_RANGE: &str = "exchanges the IPv6 range: the public subnets, which stay, get blocks of the new one \
     before the old one goes, and what has addresses of the old one loses them";

/// What a change does that leads to a range of another length.
const OTHER_LENGTH: &str = "to another length than the range has exchanges the IPv6 range, as another pool does";

/// What a change does that gives subnets other IPv6 blocks.
const OTHER_BLOCKS: &str = "the public subnets get other blocks, and addresses of the old ones must be given up first";

impl Config {
    /// Whether there are subnets of this tier.
    pub fn creates(&self, tier: Tier) -> &Input<bool> {
        match tier {
            Tier::Public => &self.create_public_subnets,
            Tier::PrivateApp => &self.create_private_app_subnets,
            Tier::PrivatePersistence => &self.create_private_persistence_subnets,
            Tier::Transit => &self.create_transit_subnets,
        }
    }

    /// The tier's bits, with the attribute's name.
    pub fn bits(&self, tier: Tier) -> (&'static str, &Input<i64>) {
        match tier {
            Tier::Public => ("public_subnet_bits", &self.public_subnet_bits),
            Tier::PrivateApp => ("private_subnet_bits", &self.private_subnet_bits),
            Tier::PrivatePersistence => ("persistence_subnet_bits", &self.persistence_subnet_bits),
            Tier::Transit => ("transit_subnet_bits", &self.transit_subnet_bits),
        }
    }

    /// The tier's own spacing; the public tier has none, it starts at block 0.
    pub fn own_spacing(&self, tier: Tier) -> &Input<Option<i64>> {
        match tier {
            Tier::Public => &Input::Known(Some(0)),
            Tier::PrivateApp => &self.private_subnet_spacing,
            Tier::PrivatePersistence => &self.persistence_subnet_spacing,
            Tier::Transit => &self.transit_subnet_spacing,
        }
    }

    /// The tier's explicit blocks, with the attribute's name.
    pub fn cidr_blocks(&self, tier: Tier) -> (&'static str, &CidrBlocks) {
        let blocks = match tier {
            Tier::Public => &self.public_subnet_cidr_blocks,
            Tier::PrivateApp => &self.private_app_subnet_cidr_blocks,
            Tier::PrivatePersistence => &self.private_persistence_subnet_cidr_blocks,
            Tier::Transit => &self.transit_subnet_cidr_blocks,
        };
        (Self::cidr_blocks_name(tier), blocks)
    }

    /// The attribute that holds the tier's explicit blocks.
    pub fn cidr_blocks_name(tier: Tier) -> &'static str {
        match tier {
            Tier::Public => "public_subnet_cidr_blocks",
            Tier::PrivateApp => "private_app_subnet_cidr_blocks",
            Tier::PrivatePersistence => "private_persistence_subnet_cidr_blocks",
            Tier::Transit => "transit_subnet_cidr_blocks",
        }
    }

    /// The gateways that propagate routes to the tier's tables, with the attribute's name.
    pub fn propagating_gateways(&self, tier: Tier) -> (&'static str, &Strings) {
        match tier {
            Tier::Public => ("public_propagating_vgws", &self.public_propagating_vgws),
            Tier::PrivateApp => ("private_propagating_vgws", &self.private_propagating_vgws),
            Tier::PrivatePersistence => ("persistence_propagating_vgws", &self.persistence_propagating_vgws),
            Tier::Transit => ("transit_propagating_vgws", &self.transit_propagating_vgws),
        }
    }

    /// The tags of the tier's subnets.
    pub fn subnet_tags(&self, tier: Tier) -> &Tags {
        match tier {
            Tier::Public => &self.public_subnet_custom_tags,
            Tier::PrivateApp => &self.private_app_subnet_custom_tags,
            Tier::PrivatePersistence => &self.private_persistence_subnet_custom_tags,
            Tier::Transit => &self.transit_subnet_custom_tags,
        }
    }

    /// The tags of the tier's route tables.
    pub fn route_table_tags(&self, tier: Tier) -> &Tags {
        match tier {
            Tier::Public => &self.public_route_table_custom_tags,
            Tier::PrivateApp => &self.private_app_route_table_custom_tags,
            Tier::PrivatePersistence => &self.private_persistence_route_table_custom_tags,
            Tier::Transit => &self.transit_route_table_custom_tags,
        }
    }

    /// Every map of tags, with its attribute's name.
    pub fn tag_maps(&self) -> [(&'static str, &Tags); 12] {
        [
            ("custom_tags", &self.custom_tags),
            ("vpc_custom_tags", &self.vpc_custom_tags),
            ("nat_gateway_custom_tags", &self.nat_gateway_custom_tags),
            ("public_subnet_custom_tags", &self.public_subnet_custom_tags),
            ("private_app_subnet_custom_tags", &self.private_app_subnet_custom_tags),
            ("private_persistence_subnet_custom_tags", &self.private_persistence_subnet_custom_tags),
            ("transit_subnet_custom_tags", &self.transit_subnet_custom_tags),
            ("public_route_table_custom_tags", &self.public_route_table_custom_tags),
            ("private_app_route_table_custom_tags", &self.private_app_route_table_custom_tags),
            ("private_persistence_route_table_custom_tags", &self.private_persistence_route_table_custom_tags),
            ("transit_route_table_custom_tags", &self.transit_route_table_custom_tags),
            ("security_group_tags", &self.security_group_tags),
        ]
    }
}

fn empty_list() -> Value {
    Value::List(Vec::new())
}

fn empty_map() -> Value {
    Value::Map(BTreeMap::new())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::plugin::{AttributePath, Nested, Type, schema};

    /// A configuration of `cidr_block = "10.0.0.0/16"`, one NAT gateway, the name `main`, and these attributes.
    pub(crate) fn config(attributes: &[(&str, Value)]) -> Config {
        decode(attributes).unwrap_or_else(|problems| panic!("{problems:?}"))
    }

    pub(crate) fn decode(attributes: &[(&str, Value)]) -> Result<Config, Vec<crate::plugin::Problem>> {
        let mut value = Value::map([
            ("cidr_block", "10.0.0.0/16".into()),
            ("num_nat_gateways", 1_i64.into()),
            ("vpc_name", "main".into()),
        ]);
        for (name, attribute) in attributes {
            value.set(name, attribute.clone());
        }
        let value = schema::with_defaults(&Config::attributes(), &value);
        let mut problems = schema::check(&Config::attributes(), &value, &AttributePath::root());
        match Config::decode(&value, &AttributePath::root(), &mut problems) {
            Some(config) if problems.is_empty() => Ok(config),
            _ => Err(problems),
        }
    }

    #[test]
    fn a_rule_may_name_its_own_group_with_self() {
        let config = config(&[]);
        let rules = config.default_security_group_ingress_rules.known().unwrap();
        let rule = rules["AllowAllFromSelf"].known().unwrap();
        assert_eq!(rule.self_, Input::Known(true));
        assert_eq!(rule.cidr_blocks, Input::Known(vec![]));
        let Type::Object(fields) = schema::object_type(&SecurityGroupRule::attributes()) else { panic!() };
        assert_eq!(fields.get("self"), Some(&Type::Bool));
    }

    #[test]
    fn every_attribute_is_documented() {
        for attribute in Config::attributes() {
            assert!(!attribute.description.is_empty(), "{}", attribute.name);
        }
    }

    #[test]
    fn an_unknown_value_fits_everywhere() {
        for attribute in Config::attributes() {
            if let Err(problems) = decode(&[(&attribute.name, Value::Unknown)]) {
                panic!("{}: {problems:?}", attribute.name);
            }
        }
    }
}
