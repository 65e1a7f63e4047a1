//! The configuration of a network: every input, its type, its default and what users read about it.

use std::collections::BTreeMap;

use crate::objects::{Tags, Tier};
use crate::plugin::{Check, Input, Value};
use crate::product::OperationTimeouts;
use crate::product::timeouts::duration;

/// A list whose elements may be unknown.
pub(super) type Strings = Input<Vec<Input<String>>>;

/// CIDR blocks by `AZ-<index>`.
pub(super) type CidrBlocks = Input<BTreeMap<String, Input<String>>>;

crate::attributes! {
    /// The configuration of one `fgw_four_tier_vpc`.
    pub struct Config {
        /// IPv4 range of the VPC in CIDR notation, from /16 to /27; a /16 is recommended. Required unless
        /// `ipv4_ipam_pool_id` is given; with a pool, the range asked of it. A change replaces the network, but the
        /// range that a pool chose may be written down later, or one that was written down left to the pool.
        cidr_block: Input<Option<String>> = optional(),
        /// Number of NAT gateways, public ones unless `enable_private_nat` is true. One per AZ is recommended for
        /// production, one in all is enough elsewhere. Without a public tier no public one is made. Changed in place:
        /// new gateways take over the routes before others go.
        num_nat_gateways: Input<i64> = required().check(Check::between(0, 200)),
        /// Name of the network. It begins the Name tag of every object and the keys of `<tier>_subnets`. Changed in
        /// place.
        vpc_name: Input<String> = required(),

        /// How many AZs to use; null means all. A number above that of the AZs there are means all. A smaller number
        /// removes the AZs of the highest index, with their subnets.
        num_availability_zones: Input<Option<i64>> = optional_computed().check(Check::between(1, 100)),
        /// The ids of the AZs to use, such as `use1-az1`; null means all. An AZ left out is removed, with its subnets.
        availability_zone_ids: Input<Option<Vec<Input<String>>>> = optional_computed(),
        /// Ids of AZs not to use. An AZ named here is removed, with its subnets.
        availability_zone_exclude_ids: Strings = default(empty_list()),
        /// Names of AZs not to use, such as `us-east-1e`. An AZ named here is removed, with its subnets.
        availability_zone_exclude_names: Strings = default(empty_list()),
        /// Use only AZs in this state for new subnets; null means any. An AZ that already has subnets stays whatever
        /// its state.
        availability_zone_state: Input<Option<String>>
            = optional().check(Check::one_of(&["available", "information", "impaired", "unavailable"])),
        /// Has no effect: the Region is that of the provider.
        cloud_region: Input<String> = default("").deprecated("The Region is that of the provider."),

        /// Whether there is a public tier. Without it there is no internet gateway and no public NAT gateway. Turning
        /// it off deletes them and the tier's subnets.
        create_public_subnets: Input<bool> = default(true),
        /// Whether there is a private app tier. Turning it off deletes its subnets.
        create_private_app_subnets: Input<bool> = default(true),
        /// Whether there is a private persistence tier. Turning it off deletes its subnets.
        create_private_persistence_subnets: Input<bool> = default(true),
        /// Whether there is a transit tier. Turning it on moves no existing subnet; turning it off deletes its subnets.
        create_transit_subnets: Input<bool> = default(false),
        /// Whether there is an internet gateway. It needs a public tier, and public NAT gateways need it.
        create_igw: Input<bool> = default(true),
        /// Whether there are gateway endpoints for S3 and DynamoDB, on every route table of the network.
        create_vpc_endpoints: Input<bool> = default(true),
        /// Whether private persistence subnets reach the internet through the NAT gateways, be they public or private.
        /// Changed in place.
        allow_private_persistence_internet_access: Input<bool> = default(false),
        /// Whether transit subnets reach the internet through the public NAT gateways. Changed in place.
        allow_transit_internet_access: Input<bool> = default(false),
        /// Whether the NAT gateways are private ones in the transit tier, without addresses of the internet, instead of
        /// public ones. It needs `create_transit_subnets`, and cannot go with `allow_transit_internet_access`. A change
        /// exchanges the NAT gateways: the new ones take over the routes before the others go.
        enable_private_nat: Input<bool> = default(false),
        /// Whether NAT gateways use the addresses in `custom_nat_eips`. A change exchanges the NAT gateways.
        use_custom_nat_eips: Input<bool> = default(false),
        /// Allocation ids of Elastic IP addresses for the NAT gateways, exactly `num_nat_gateways` of them. Used only
        /// with `use_custom_nat_eips`. Their order has no meaning: a NAT gateway whose address stays in the list stays.
        custom_nat_eips: Strings = default(empty_list()),
        /// Number of private addresses that each private NAT gateway has beside its first, each for 55,000 more
        /// connections to one destination; AWS allows 7 unless it has raised the quota. Only with
        /// `enable_private_nat`. Changed in place.
        nat_secondary_private_ip_address_count: Input<i64> = default(0_i64).check(Check::between(0, 31)),
        /// Whether all public subnets share one route table; otherwise each has its own. Changed in place: the new
        /// tables stand with their routes before the subnets move to them.
        one_route_table_public_subnets: Input<bool> = default(true),
        /// Whether instances launched into public subnets get a public address. Changed in place.
        map_public_ip_on_launch: Input<bool> = default(false),
        /// Tenancy of instances: `default`, `dedicated` or `host`; AWS refuses `host` for a VPC. A change from
        /// `default` replaces the network, one from `dedicated` to `default` is in place.
        tenancy: Input<String> = default("default").check(Check::one_of(&["default", "dedicated", "host"])),
        /// Whether instances get public DNS names; needs `enable_dns_support`. Changed in place.
        enable_dns_hostnames: Input<bool> = default(true),
        /// Whether the Amazon DNS server answers in the VPC. Changed in place.
        enable_dns_support: Input<bool> = default(true),
        /// Whether AWS computes network address usage metrics. Changed in place.
        enable_network_address_usage_metrics: Input<bool> = default(false),

        /// Bits added to the VPC's prefix length for public subnets: 5 makes /21 of /16. A change moves the tier's
        /// subnets, which exchanges them.
        public_subnet_bits: Input<i64> = default(5_i64).check(Check::between(0, 12)),
        /// Bits added to the VPC's prefix length for private app subnets. A change exchanges the tier's subnets.
        private_subnet_bits: Input<i64> = default(5_i64).check(Check::between(0, 12)),
        /// Bits added to the VPC's prefix length for private persistence subnets. A change exchanges the tier's
        /// subnets.
        persistence_subnet_bits: Input<i64> = default(5_i64).check(Check::between(0, 12)),
        /// Bits added to the VPC's prefix length for transit subnets. A change exchanges the tier's subnets.
        transit_subnet_bits: Input<i64> = default(5_i64).check(Check::between(0, 12)),
        /// Number of blocks from one tier to the next, without a transit tier. It places new subnets and moves none.
        subnet_spacing: Input<i64> = default(10_i64).check(Check::between(0, 4095)),
        /// Number of blocks from one tier to the next, with a transit tier. It places new subnets and moves none.
        global_subnet_spacing: Input<i64> = default(6_i64).check(Check::between(0, 4095)),
        /// Number of the first private app block; null means the spacing between tiers. A change exchanges the tier's
        /// subnets.
        private_subnet_spacing: Input<Option<i64>> = optional_computed().check(Check::between(0, 4095)),
        /// Number of the first private persistence block; null means twice the spacing between tiers. A change
        /// exchanges the tier's subnets.
        persistence_subnet_spacing: Input<Option<i64>> = optional_computed().check(Check::between(0, 4095)),
        /// Number of the first transit block; null means three times the spacing between tiers. A change exchanges
        /// the tier's subnets.
        transit_subnet_spacing: Input<Option<i64>> = optional_computed().check(Check::between(0, 4095)),
        /// CIDR blocks of public subnets, from /16 to /28, by `AZ-0`, `AZ-1`, ... A missing one is computed. Setting
        /// one to another block exchanges that subnet; removing one moves nothing.
        public_subnet_cidr_blocks: CidrBlocks = default(empty_map()),
        /// CIDR blocks of private app subnets, as for the public ones.
        private_app_subnet_cidr_blocks: CidrBlocks = default(empty_map()),
        /// CIDR blocks of private persistence subnets, as for the public ones.
        private_persistence_subnet_cidr_blocks: CidrBlocks = default(empty_map()),
        /// CIDR blocks of transit subnets, as for the public ones.
        transit_subnet_cidr_blocks: CidrBlocks = default(empty_map()),

        /// Id of the IPv4 IPAM pool that the VPC's range comes from: the range `cidr_block`, one of
        /// `ipv4_netmask_length`, or one of the pool's default length. Its choice is the output `vpc_cidr_block`.
        /// Setting another one replaces the network; leaving it out later changes nothing.
        ipv4_ipam_pool_id: Input<Option<String>> = optional(),
        /// Prefix length of the range from the IPAM pool, from 16 to 27. It needs `ipv4_ipam_pool_id`, and cannot go with
        /// `cidr_block`. A change to another length than the range has replaces the network.
        ipv4_netmask_length: Input<Option<i64>> = optional().check(Check::between(16, 27)),
        /// Whether the network has an IPv6 range, its public subnets blocks of it, and their tables a route to the
        /// internet gateway. It needs a source: `assign_generated_ipv6_cidr_block` or `ipv6_ipam_pool_id`. Changed in
        /// place, both ways.
        enable_ipv6: Input<bool> = default(false),
        /// Whether the IPv6 range is a /56 that Amazon chooses. It cannot go with `ipv6_ipam_pool_id`. Used only with
        /// `enable_ipv6`. Another source means another range: subnets move to blocks of it before the old one goes.
        assign_generated_ipv6_cidr_block: Input<Option<bool>> = optional(),
        /// Whether network interfaces in public subnets get an IPv6 address. It needs `enable_ipv6`. Changed in place.
        assign_ipv6_address_on_creation: Input<bool> = default(false),
        /// IPv6 range to ask of the IPAM pool, from /44 to /60; null leaves it to the pool. It needs `ipv6_ipam_pool_id`,
        /// and cannot go with `ipv6_netmask_length`. Another one is taken beside the old one, which goes when the
        /// subnets have moved. Where it is not set, it tells the range that the VPC has been given, if any.
        ipv6_cidr_block: Input<Option<String>> = optional_computed(),
        /// Network border group, such as that of a local zone, to which the advertisement of the range is restricted;
        /// null means the Region. It needs `assign_generated_ipv6_cidr_block`. A change exchanges the range.
        ipv6_cidr_block_network_border_group: Input<Option<String>> = optional(),
        /// Id of the IPv6 IPAM pool that the IPv6 range comes from. It cannot go with
        /// `assign_generated_ipv6_cidr_block`. Used only with `enable_ipv6`. A change exchanges the range.
        ipv6_ipam_pool_id: Input<Option<String>> = optional(),
        /// Prefix length of the range from the IPAM pool: 56, or null where the pool has a default. It needs
        /// `ipv6_ipam_pool_id`. A change to another length than the range has exchanges the range.
        ipv6_netmask_length: Input<Option<i64>> = optional(),
        /// Bits added to the prefix length of the IPv6 range for subnets: 8 makes /64 of /56. Allowed are those that
        /// make /56, /60 or /64. A change gives the public subnets other blocks, in place.
        ipv6_subnet_bits: Input<i64> = default(8_i64).check(Check::between(0, 8)),
        /// IPv6 blocks of public subnets, by `AZ-0`, `AZ-1`, ... A missing one is computed: block number i of the range
        /// for AZ i. Setting one to another block changes that subnet in place; removing one moves nothing.
        public_subnet_ipv6_cidr_blocks: CidrBlocks = default(empty_map()),

        /// Whether the rules below become those of the default network ACL. Turning it off brings AWS's original rules
        /// back, which allow everything. Changed in place, rule by rule, without a moment in which all is denied.
        apply_default_nacl_rules: Input<bool> = default(false),
        /// Whether the public, private app and persistence subnets are given the default network ACL. Used only with
        /// `apply_default_nacl_rules`. A subnet that others give another ACL afterwards keeps that, and so does a
        /// subnet that has it when this is turned off.
        associate_default_nacl_to_subnets: Input<bool> = default(true),
        /// Whether the rules of the VPC's default security group are managed. Turning it off revokes the rules that
        /// were set.
        enable_default_security_group: Input<bool> = default(true),
        /// Inbound rules of the default network ACL, by any name. Used only with `apply_default_nacl_rules`. An empty map
        /// denies everything.
        default_nacl_ingress_rules: Input<BTreeMap<String, Input<NaclRule>>> = default(default_nacl_rules()),
        /// Outbound rules of the default network ACL, by any name. Used only with `apply_default_nacl_rules`. An empty
        /// map denies everything.
        default_nacl_egress_rules: Input<BTreeMap<String, Input<NaclRule>>> = default(default_nacl_rules()),
        /// Inbound rules of the default security group, by any name. An empty map leaves the rules as they are.
        /// Changed in place.
        default_security_group_ingress_rules: Input<BTreeMap<String, Input<SecurityGroupRule>>>
            = default(default_ingress_rules()),
        /// Outbound rules of the default security group, by any name. An empty map leaves the rules as they are.
        /// Changed in place.
        default_security_group_egress_rules: Input<BTreeMap<String, Input<SecurityGroupRule>>>
            = default(default_egress_rules()),

        /// IAM policy (JSON) of the S3 endpoint; null allows everything. Changed in place.
        objectstore_endpoint_policy: Input<Option<String>> = optional(),
        /// IAM policy (JSON) of the DynamoDB endpoint; null allows everything. Changed in place.
        keyvalue_endpoint_policy: Input<Option<String>> = optional(),
        /// Ids of virtual private gateways whose VPN routes propagate to public tables. Changed in place; those that
        /// others added stay.
        public_propagating_vgws: Strings = default(empty_list()),
        /// Ids of virtual private gateways whose VPN routes propagate to private app tables. Changed in place.
        private_propagating_vgws: Strings = default(empty_list()),
        /// Ids of virtual private gateways whose VPN routes propagate to private persistence tables. Changed in place.
        persistence_propagating_vgws: Strings = default(empty_list()),
        /// Ids of virtual private gateways whose VPN routes propagate to transit tables. Changed in place.
        transit_propagating_vgws: Strings = default(empty_list()),

        /// Tags for every object. They override the provider's `default_tags` and the Name tag, and are overridden by
        /// the maps below. Changed in place, as all tags are; tags that others set stay.
        custom_tags: Tags = default(empty_map()),
        /// Tags for the VPC only.
        vpc_custom_tags: Tags = default(empty_map()),
        /// Tags for NAT gateways and their Elastic IP addresses.
        nat_gateway_custom_tags: Tags = default(empty_map()),
        /// Tags for public subnets.
        public_subnet_custom_tags: Tags = default(empty_map()),
        /// Tags for private app subnets.
        private_app_subnet_custom_tags: Tags = default(empty_map()),
        /// Tags for private persistence subnets.
        private_persistence_subnet_custom_tags: Tags = default(empty_map()),
        /// Tags for transit subnets.
        transit_subnet_custom_tags: Tags = default(empty_map()),
        /// Tags for public route tables.
        public_route_table_custom_tags: Tags = default(empty_map()),
        /// Tags for private app route tables.
        private_app_route_table_custom_tags: Tags = default(empty_map()),
        /// Tags for private persistence route tables.
        private_persistence_route_table_custom_tags: Tags = default(empty_map()),
        /// Tags for transit route tables.
        transit_route_table_custom_tags: Tags = default(empty_map()),
        /// Tags for the default security group.
        security_group_tags: Tags = default(empty_map()),
        /// How long to wait for one route table's creation, such as `5m`.
        route_table_creation_timeout: Input<String> = default("5m").check(duration()),
        /// How long to wait for one route table's deletion, such as `5m`.
        route_table_deletion_timeout: Input<String> = default("5m").check(duration()),
        /// How long to wait for one route table's update, such as `2m`.
        route_table_update_timeout: Input<String> = default("2m").check(duration()),

        /// Patterns of keys in `aws_objects`, where `*` stands for any text: the drift of these objects is neither
        /// reported nor mended, as long as the configuration wants nothing else of them.
        ignore_drift: Input<Option<Vec<Input<String>>>> = optional(),
        /// How long whole operations may take.
        timeouts: Input<Option<OperationTimeouts>> = block(),
    }
}

crate::attributes! {
    /// A rule of the default network ACL.
    pub struct NaclRule {
        /// `allow` or `deny`, in letters of any case.
        action: Input<String> = required(),
        /// IPv4 range; a rule has this or `ipv6_cidr_block`.
        cidr_block: Input<Option<String>> = optional(),
        /// First port; 0 with protocols other than tcp and udp.
        from_port: Input<i64> = required().check(Check::between(0, 65535)),
        /// ICMP code; -1 means all. Required with icmp, and with icmpv6 for an IPv6 range.
        icmp_code: Input<Option<i64>> = optional(),
        /// ICMP type; -1 means all. Required with icmp, and with icmpv6 for an IPv6 range.
        icmp_type: Input<Option<i64>> = optional(),
        /// IPv6 range; a rule has this or `cidr_block`.
        ipv6_cidr_block: Input<Option<String>> = optional(),
        /// Name or number of the protocol, such as `tcp` or 6; -1 means all.
        protocol: Input<String> = required(),
        /// Place in the order of evaluation, from 1 to 32766.
        rule_no: Input<i64> = required().check(Check::between(1, 32766)),
        /// Last port; 0 with protocols other than tcp and udp.
        to_port: Input<i64> = required().check(Check::between(0, 65535)),
    }
}

crate::attributes! {
    /// A rule of the default security group.
    pub struct SecurityGroupRule {
        /// IPv4 ranges.
        cidr_blocks: Strings = default(empty_list()),
        /// Free text of at most 255 characters.
        description: Input<Option<String>> = optional(),
        /// First port, or the ICMP type; 0 with protocol -1.
        from_port: Input<i64> = required().check(Check::between(-1, 65535)),
        /// IPv6 ranges.
        ipv6_cidr_blocks: Strings = default(empty_list()),
        /// Ids of prefix lists.
        prefix_list_ids: Strings = default(empty_list()),
        /// `tcp`, `udp`, `icmp`, `icmpv6`, `all` or the protocol's number; -1 means all.
        protocol: Input<String> = required(),
        /// Ids of other security groups.
        security_groups: Strings = default(empty_list()),
        /// Whether the group itself is a source or destination.
        self_: Input<bool> = default(false),
        /// Last port, or the ICMP code; 0 with protocol -1.
        to_port: Input<i64> = required().check(Check::between(-1, 65535)),
    }
}

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
        match tier {
            Tier::Public => ("public_subnet_cidr_blocks", &self.public_subnet_cidr_blocks),
            Tier::PrivateApp => ("private_app_subnet_cidr_blocks", &self.private_app_subnet_cidr_blocks),
            Tier::PrivatePersistence => {
                ("private_persistence_subnet_cidr_blocks", &self.private_persistence_subnet_cidr_blocks)
            }
            Tier::Transit => ("transit_subnet_cidr_blocks", &self.transit_subnet_cidr_blocks),
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

fn default_nacl_rules() -> Value {
    let allow_all = |number: i64, range: &str, cidr: &str| {
        Value::map([
            ("action", "allow".into()),
            (range, cidr.into()),
            ("from_port", 0_i64.into()),
            ("protocol", "-1".into()),
            ("rule_no", number.into()),
            ("to_port", 0_i64.into()),
        ])
    };
    Value::map([
        ("AllowAllIPv4", allow_all(100, "cidr_block", "0.0.0.0/0")),
        ("AllowAllIPv6", allow_all(101, "ipv6_cidr_block", "::/0")),
    ])
}

fn default_ingress_rules() -> Value {
    let rule =
        [("self", true.into()), ("from_port", 0_i64.into()), ("protocol", "-1".into()), ("to_port", 0_i64.into())];
    Value::map([("AllowAllFromSelf", Value::map(rule))])
}

fn default_egress_rules() -> Value {
    let rule = [
        ("cidr_blocks", vec!["0.0.0.0/0"].into()),
        ("ipv6_cidr_blocks", vec!["::/0"].into()),
        ("from_port", 0_i64.into()),
        ("protocol", "-1".into()),
        ("to_port", 0_i64.into()),
    ];
    Value::map([("AllowAllOutbound", Value::map(rule))])
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
