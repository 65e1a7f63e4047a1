//! The configuration of a network: every input with its type, default and description.

mod checks;
mod effects;
mod empty;
mod ipv6_tiers;
mod tag_maps;

use std::collections::{BTreeMap, BTreeSet};

use super::Strings;
use super::parts::{FlowLog, InterfaceEndpoint, NaclRule, SecurityGroupRule};
use crate::model::timeouts::duration;
use crate::model::{OperationTimeouts, policy_document};
use crate::model::{Tags, Tier};
use crate::plugin::{Check, Input, PlanEffect};
use crate::topology::NOT_YET_RUN;
use checks::tenancy;
use effects::{
    ENDPOINTS, FLOW_LOGS, NAT_GATEWAYS, OTHER_BLOCKS, OTHER_LENGTH, OTHER_RANGE, REPLACED_ENTRY, REPLACED_TIER,
    REPLACED_TIER_WITH_NAT, SECONDARY_RANGES,
};
use empty::{empty_list, empty_map};
pub(super) use ipv6_tiers::Ipv6Tiers;

/// CIDR blocks by `AZ-<index>`.
pub(super) type CidrBlocks = Input<BTreeMap<String, Input<String>>>;

crate::attributes! {
    /// The configuration of one `fgw_four_tier_vpc`.
    pub struct Config {
        /// IPv4 CIDR block of the VPC, from /16 to /27, such as `10.0.0.0/16`. A /16 is recommended. Required unless
        /// `ipv4_ipam_pool_id` is set. With a pool, it is the block to request from the pool.
        cidr_block: Input<Option<String>> = optional().change(PlanEffect::RequiresReplace(
            "unless the change sets the block that the IPAM pool allocated, or removes `cidr_block` and keeps the pool"
        )),
        /// Number of NAT gateways, which are public, or private if `enable_private_nat` is true. One per AZ is
        /// recommended for production; one for the whole network is enough elsewhere. A second gateway in an AZ carries
        /// no traffic. Without a public tier, no public NAT gateways are created.
        num_nat_gateways: Input<i64> = required().check(Check::between(0, 200)).change(PlanEffect::PartialReplace(NAT_GATEWAYS)),
        /// Name of the network, such as `production`. It is the prefix of the Name tags of all objects, and of the keys
        /// in the outputs `<tier>_subnets`, such as `public_subnets`.
        vpc_name: Input<String> = required().change(PlanEffect::Disruptive(
            "the keys in `<tier>_subnets` change too, so resources that use `for_each` over these maps are replaced"
        )),

        /// Number of AZs to use. By default, or if it exceeds the number of AZs, all AZs are used; the plan warns about
        /// the latter.
        num_availability_zones: Input<Option<i64>> = optional_computed().check(Check::between(1, 100)).change(
            PlanEffect::PartialReplace(
                "to a smaller number removes the AZs with the highest indices and deletes the network's objects in them"
            )
        ),
        /// IDs of the AZs to use, such as `use1-az1`. By default, all AZs can be used. Conflicts with
        /// `availability_zone_names`.
        availability_zone_ids: Input<Option<Vec<Input<String>>>> = optional_computed()
            .change(PlanEffect::PartialReplace("that leaves out an AZ deletes the network's objects in it")),
        /// Names of the AZs to use, such as `us-east-1a`, instead of their IDs. A name means different AZs in different
        /// accounts. An import does not set this argument, so the next plan adds it to state, and changes nothing in
        /// AWS.
        availability_zone_names: Input<Option<Vec<Input<String>>>> = optional()
            .change(PlanEffect::PartialReplace("that leaves out an AZ deletes the network's objects in it")),
        /// IDs of AZs not to use, such as `use1-az3`.
        availability_zone_exclude_ids: Strings = default(empty_list())
            .change(PlanEffect::PartialReplace("that excludes an AZ deletes the network's objects in it")),
        /// Names of AZs not to use, such as `us-east-1e`.
        availability_zone_exclude_names: Strings = default(empty_list())
            .change(PlanEffect::PartialReplace("that excludes an AZ deletes the network's objects in it")),
        /// State that an AZ must be in to get its first subnets. By default, any state is accepted. An AZ that already
        /// has subnets stays in use, regardless of its state.
        availability_zone_state: Input<Option<String>> = optional()
            .check(Check::one_of(&["available", "information", "impaired", "unavailable"]))
            .change(PlanEffect::PartialReplace(
                "can add AZs that are in the new state, with their subnets, and removes none"
            )),
        /// IDs of the AZs in which a tier has subnets, by tier: `public`, `private_app`, `private_persistence` or
        /// `transit`. Each ID must be that of an AZ of the network. By default, a tier has subnets in all of them. The
        /// indices of AZs and the CIDR blocks of subnets do not depend on it. NAT gateways are created only in AZs of
        /// the public tier, or of the transit tier with `enable_private_nat`.
        tier_availability_zone_ids: Input<BTreeMap<String, Strings>> = default(empty_map()).change(
            PlanEffect::PartialReplace("creates or deletes the tier's subnets and route tables in these AZs, and moves or \
             deletes NAT gateways; all other subnets stay")
        ),
        /// AWS Region. `region` applies instead.
        cloud_region: Input<String> = default("")
            .deprecated("It has no effect. Set region instead.")
            .changes_nothing(),

        /// Whether to create the public tier, which the internet gateway and public NAT gateways require.
        create_public_subnets: Input<bool> = default(true).change(PlanEffect::PartialReplace(
            "creates or deletes the tier's subnets and route tables, the internet gateway, and the public NAT gateways \
             with their addresses"
        )),
        /// Whether to create the private app tier.
        create_private_app_subnets: Input<bool> = default(true)
            .change(PlanEffect::PartialReplace("creates or deletes the tier's subnets and route tables")),
        /// Whether to create the private persistence tier.
        create_private_persistence_subnets: Input<bool> = default(true)
            .change(PlanEffect::PartialReplace("creates or deletes the tier's subnets and route tables")),
        /// Whether to create the transit tier.
        create_transit_subnets: Input<bool> = default(false).change(PlanEffect::PartialReplace(
            "creates or deletes the tier's subnets and route tables, and the private NAT gateways in it; other subnets \
             keep their CIDR blocks"
        )),
        /// Whether to create an internet gateway, which public NAT gateways require. No effect without a public tier.
        create_igw: Input<bool> = default(true)
            .change(PlanEffect::PartialReplace("creates or deletes the internet gateway and the routes to it")),
        /// Whether to create gateway endpoints for S3 and DynamoDB, and to associate them with all route tables of this
        /// resource. In a Region that offers only one of them, only that one is created.
        create_vpc_endpoints: Input<bool> = default(true).change(PlanEffect::PartialReplace(
            "creates or deletes the endpoints, which interrupts open connections to S3 and DynamoDB"
        )),
        /// Whether to give private persistence subnets a default route to the public or private NAT gateways.
        allow_private_persistence_internet_access: Input<bool> = default(false)
            .change(PlanEffect::PartialReplace("creates or deletes the default routes of the tier's route tables")),
        /// Whether to give transit subnets a default route to the public NAT gateways.
        allow_transit_internet_access: Input<bool> = default(false)
            .change(PlanEffect::PartialReplace("creates or deletes the default routes of the tier's route tables")),
        /// Whether to create private NAT gateways in the transit tier instead of public ones. They have no public
        /// addresses. Requires `create_transit_subnets` and conflicts with `allow_transit_internet_access`.
        enable_private_nat: Input<bool> = default(false).change(PlanEffect::PartialReplace(
            "replaces the NAT gateways: routes switch to the new ones before the old ones are deleted, and connections \
             through the old ones break"
        )),
        /// Whether to use the Elastic IP addresses in `custom_nat_eips` for the NAT gateways instead of creating
        /// addresses. No effect with `enable_private_nat`.
        use_custom_nat_eips: Input<bool> = default(false).change(PlanEffect::PartialReplace(
            "replaces the NAT gateways, and connections through the old ones break. A gateway whose address \
             `custom_nat_eips` lists stays, and the resource no longer manages this address"
        )).remark("If it is not set and `custom_nat_eips` lists addresses, it is `true`."),
        /// Allocation IDs of the Elastic IP addresses for the NAT gateways, such as `eipalloc-0123456789abcdef0`:
        /// exactly `num_nat_gateways` of them, in any order. Not used if `use_custom_nat_eips` is `false`.
        custom_nat_eips: Strings = default(empty_list()).change(PlanEffect::PartialReplace(
            "replaces the NAT gateways whose addresses are removed from the list, and keeps the others"
        )),
        /// Number of secondary private IPv4 addresses of each private NAT gateway. Each address allows 55,000 more
        /// simultaneous connections to one destination. AWS allows 7 by default; more require a higher quota. A number
        /// above 0 requires `enable_private_nat`.
        nat_secondary_private_ip_address_count: Input<i64>
            = default(0_i64).check(Check::between(0, 31)).in_place().remark(NOT_YET_RUN),
        /// Whether to create one route table for all public subnets instead of one per subnet.
        one_route_table_public_subnets: Input<bool> = default(true).change(PlanEffect::PartialReplace(
            "replaces the public route tables. The new tables have their routes before subnets are associated with them"
        )),
        /// The route tables of the tiers `private_app`, `private_persistence` and `transit`: `per_subnet`, the default,
        /// `per_tier` for a single table, or the name of another of these tiers to use its tables. A single table uses
        /// the first NAT gateway. Tiers that share tables must agree on their default route and on propagation.
        route_table_layout: Input<BTreeMap<String, Input<String>>> = default(empty_map()).change(
            PlanEffect::PartialReplace(
                "replaces the tier's route tables. The new tables have their routes before subnets are associated with them"
            )
        ),
        /// Whether to assign a public IPv4 address to instances launched into public subnets.
        map_public_ip_on_launch: Input<bool> = default(false).in_place(),
        /// Tenancy of instances launched into the VPC. `host` is an error, because AWS rejects it for every VPC: set it
        /// on the instances instead.
        tenancy: Input<String> = default("default")
            .check(tenancy())
            .change(PlanEffect::RequiresReplace("except a change from `dedicated` to `default`, which is in place")),
        /// Whether to assign public DNS names to instances with public addresses. No effect without
        /// `enable_dns_support`.
        enable_dns_hostnames: Input<bool> = default(true).in_place(),
        /// Whether to enable DNS resolution by the Amazon DNS server in the VPC.
        enable_dns_support: Input<bool> = default(true).in_place(),
        /// Whether to enable network address usage metrics for the VPC.
        enable_network_address_usage_metrics: Input<bool> = default(false).in_place(),

        /// Number of bits added to the VPC's prefix length for public subnets: with 5, a /16 VPC has /21 subnets.
        public_subnet_bits: Input<i64>
            = default(5_i64).check(Check::between(0, 12)).change(PlanEffect::PartialReplace(REPLACED_TIER_WITH_NAT)),
        /// Number of bits added to the VPC's prefix length for private app subnets: with 5, a /16 VPC has /21 subnets.
        private_subnet_bits: Input<i64>
            = default(5_i64).check(Check::between(0, 12)).change(PlanEffect::PartialReplace(REPLACED_TIER)),
        /// Number of bits added to the VPC's prefix length for private persistence subnets: with 5, a /16 VPC has /21
        /// subnets.
        persistence_subnet_bits: Input<i64>
            = default(5_i64).check(Check::between(0, 12)).change(PlanEffect::PartialReplace(REPLACED_TIER)),
        /// Number of bits added to the VPC's prefix length for transit subnets: with 5, a /16 VPC has /21 subnets.
        transit_subnet_bits: Input<i64>
            = default(5_i64).check(Check::between(0, 12)).change(PlanEffect::PartialReplace(REPLACED_TIER_WITH_NAT)),
        /// Number of blocks from the first block of one tier to the first block of the next, in a network without a
        /// transit tier. It applies only to new subnets.
        subnet_spacing: Input<i64> = default(10_i64).check(Check::between(0, 4095)).changes_nothing(),
        /// Number of blocks from the first block of one tier to the first block of the next, in a network with a
        /// transit tier. It applies only to new subnets.
        global_subnet_spacing: Input<i64> = default(6_i64).check(Check::between(0, 4095)).changes_nothing(),
        /// Number of the first block of the private app tier. By default, it is `subnet_spacing`, or
        /// `global_subnet_spacing` with a transit tier.
        private_subnet_spacing: Input<Option<i64>>
            = optional_computed().check(Check::between(0, 4095)).change(PlanEffect::PartialReplace(REPLACED_TIER)),
        /// Number of the first block of the private persistence tier. By default, it is twice `subnet_spacing`, or
        /// twice `global_subnet_spacing` with a transit tier.
        persistence_subnet_spacing: Input<Option<i64>>
            = optional_computed().check(Check::between(0, 4095)).change(PlanEffect::PartialReplace(REPLACED_TIER)),
        /// Number of the first block of the transit tier. By default, it is three times `global_subnet_spacing`.
        transit_subnet_spacing: Input<Option<i64>> = optional_computed()
            .check(Check::between(0, 4095))
            .change(PlanEffect::PartialReplace(REPLACED_TIER_WITH_NAT)),
        /// CIDR blocks of public subnets by `AZ-<index>`, from /16 to /28, such as `AZ-0 = "10.0.0.0/20"`. The provider
        /// computes all others.
        public_subnet_cidr_blocks: CidrBlocks = default(empty_map()).change(PlanEffect::PartialReplace(REPLACED_ENTRY)),
        /// CIDR blocks of private app subnets by `AZ-<index>`, from /16 to /28. The provider computes all others.
        private_app_subnet_cidr_blocks: CidrBlocks
            = default(empty_map()).change(PlanEffect::PartialReplace(REPLACED_ENTRY)),
        /// CIDR blocks of private persistence subnets by `AZ-<index>`, from /16 to /28. The provider computes all
        /// others.
        private_persistence_subnet_cidr_blocks: CidrBlocks
            = default(empty_map()).change(PlanEffect::PartialReplace(REPLACED_ENTRY)),
        /// CIDR blocks of transit subnets by `AZ-<index>`, from /16 to /28. The provider computes all others.
        transit_subnet_cidr_blocks: CidrBlocks
            = default(empty_map()).change(PlanEffect::PartialReplace(REPLACED_ENTRY)),

        /// Further IPv4 CIDR blocks of the VPC, from /16 to /28, such as `100.64.0.0/16` for pods. Subnets get parts of
        /// them only by `*_subnet_cidr_blocks`. AWS excludes some combinations of blocks and allows 5 for a VPC by
        /// default, with `cidr_block`. A block that the VPC has already is taken over, and the plan warns. If the block
        /// is removed, so are the subnets in it first. Other subnets in it are an error.
        secondary_cidr_blocks: Input<BTreeSet<Input<String>>>
            = default(empty_list()).change(PlanEffect::PartialReplace(SECONDARY_RANGES)),
        /// ID of the IPAM pool that allocates the IPv4 CIDR block of the VPC: `cidr_block` if it is set, otherwise a
        /// block of the length `ipv4_netmask_length`, otherwise a block of the pool's default length. The output
        /// `vpc_cidr_block` contains the allocated block.
        ipv4_ipam_pool_id: Input<Option<String>> = optional()
            .change(PlanEffect::RequiresReplace("unless the change removes it and `cidr_block` is that of the VPC"))
            .remark(NOT_YET_RUN),
        /// Prefix length of the CIDR block to request from the IPAM pool, from 16 to 27. Requires `ipv4_ipam_pool_id`
        /// and conflicts with `cidr_block`.
        ipv4_netmask_length: Input<Option<i64>> = optional()
            .check(Check::between(16, 27))
            .change(PlanEffect::RequiresReplace("unless the change removes it or sets the length that the VPC has"))
            .remark(NOT_YET_RUN),
        /// Whether to enable IPv6: the VPC gets an IPv6 range, subnets of `ipv6_subnet_tiers` get blocks, and their
        /// route tables IPv6 default routes. Requires `assign_generated_ipv6_cidr_block` or `ipv6_ipam_pool_id`.
        enable_ipv6: Input<bool> = default(false).change(PlanEffect::PartialReplace(
            "creates or deletes the range, the egress-only internet gateway and the routes; the subnets are kept, and gain \
             or lose IPv6 blocks"
        )),
        /// Whether to use an Amazon-provided /56 as the IPv6 range. Conflicts with `ipv6_ipam_pool_id`. Used only with
        /// `enable_ipv6`.
        assign_generated_ipv6_cidr_block: Input<Option<bool>>
            = optional().change(PlanEffect::PartialReplace(OTHER_RANGE)),
        /// Whether to assign an IPv6 address to new network interfaces in public subnets. Requires `enable_ipv6`.
        assign_ipv6_address_on_creation: Input<bool> = default(false).in_place(),
        /// IPv6 CIDR block to request from the IPAM pool: a /44, /48, /52, /56 or /60. Requires `ipv6_ipam_pool_id` and
        /// conflicts with `ipv6_netmask_length`. If it is not set, AWS chooses the block, and this attribute contains
        /// the IPv6 CIDR block of the VPC, or null if there is none.
        ipv6_cidr_block: Input<Option<String>>
            = optional_computed().change(PlanEffect::PartialReplace(OTHER_RANGE)).remark(NOT_YET_RUN),
        /// Network border group to which AWS limits the advertisement of the IPv6 range, such as that of a Local Zone.
        /// Defaults to that of the Region. Requires `assign_generated_ipv6_cidr_block`.
        ipv6_cidr_block_network_border_group: Input<Option<String>>
            = optional().change(PlanEffect::PartialReplace(OTHER_RANGE)),
        /// ID of the IPv6 IPAM pool that allocates the IPv6 range. Conflicts with `assign_generated_ipv6_cidr_block`.
        /// Used only with `enable_ipv6`.
        ipv6_ipam_pool_id: Input<Option<String>>
            = optional().change(PlanEffect::PartialReplace(OTHER_RANGE)).remark(NOT_YET_RUN),
        /// Prefix length of the IPv6 range to request from the IPAM pool. The only allowed value is 56. Not required if
        /// the pool has a default length. Requires `ipv6_ipam_pool_id` and conflicts with `ipv6_cidr_block`.
        ipv6_netmask_length: Input<Option<i64>>
            = optional().change(PlanEffect::PartialReplace(OTHER_LENGTH)).remark(NOT_YET_RUN),
        /// Number of bits added to the prefix length of the IPv6 range for subnets: with 8, a /56 range has /64
        /// subnets. The subnets must be /56, /60 or /64.
        ipv6_subnet_bits: Input<i64>
            = default(8_i64).check(Check::between(0, 8)).change(PlanEffect::Disruptive(OTHER_BLOCKS)),

        /// Whether to set the rules of the default network ACL to `default_nacl_ingress_rules` and
        /// `default_nacl_egress_rules`. Allow rules are added first and removed last, so traffic that both the old and
        /// the new rules allow is never blocked, but traffic that both deny may pass briefly. Turning this off
        /// restores AWS's original rules, which allow all traffic or, after an import, the rules that were found.
        apply_default_nacl_rules: Input<bool> = default(false).in_place(),
        /// Whether to associate public, private app and private persistence subnets that have another network ACL with
        /// the default one. Used only with `apply_default_nacl_rules`. Setting this to `true` associates them once; the
        /// plan names each subnet and both ACLs. A subnet that gets another network ACL later keeps it. With
        /// `false`, subnets keep their network ACLs. AWS itself associates each new subnet with the default one.
        associate_default_nacl_to_subnets: Input<bool> = default(false).in_place(),
        /// Whether to manage the rules of the VPC's default security group. Turning this off revokes the rules that
        /// this resource set. After an import, these are the rules that it has added since.
        enable_default_security_group: Input<bool> = default(true).in_place(),
        /// Whether the default security group has no rules and allows no traffic. AWS puts everything into it that is
        /// created without one. The maps of its rules then have no effect. Requires `enable_default_security_group`.
        restrict_default_security_group: Input<bool>
            = default(false).change(PlanEffect::Disruptive("network interfaces in the group lose all traffic")),
        /// Inbound rules of the default network ACL, by a name of your choice. Used only with
        /// `apply_default_nacl_rules`. An empty map denies all inbound traffic.
        default_nacl_ingress_rules: Input<BTreeMap<String, Input<NaclRule>>>
            = default(NaclRule::defaults()).in_place(),
        /// Outbound rules of the default network ACL, by a name of your choice. Used only with
        /// `apply_default_nacl_rules`. An empty map denies all outbound traffic.
        default_nacl_egress_rules: Input<BTreeMap<String, Input<NaclRule>>>
            = default(NaclRule::defaults()).in_place(),
        /// Inbound rules of the default security group, by a name of your choice; each requires a source. Used only
        /// with `enable_default_security_group`. An empty map leaves the existing rules unchanged, as the plan warns;
        /// null requires AWS's own rule and revokes all others. A rule cannot refer
        /// to a security group in this VPC that the same configuration creates, because the group needs the VPC first,
        /// which is a cycle. For such rules, set `enable_default_security_group` to `false` and manage the group with
        /// `aws_default_security_group`. AWS allows 60 rules by default, where each range and group counts, and a
        /// prefix list counts as its maximum number of entries.
        default_security_group_ingress_rules: Input<BTreeMap<String, Input<SecurityGroupRule>>>
            = default(SecurityGroupRule::default_ingress()).in_place(),
        /// Outbound rules of the default security group, by a name of your choice; each requires a destination. Used
        /// only with `enable_default_security_group`. An empty map leaves the existing rules unchanged, and null
        /// requires AWS's own rules, as for inbound rules. They cannot
        /// refer to a security group in this VPC that the same configuration creates, as inbound rules cannot.
        default_security_group_egress_rules: Input<BTreeMap<String, Input<SecurityGroupRule>>>
            = default(SecurityGroupRule::default_egress()).in_place(),

        /// IAM policy of the S3 endpoint, in JSON. Null allows all access. The provider replaces the text
        /// `$${fgw:vpc_id}` by the ID of this VPC. Another form of the same policy, such as another order, changes
        /// nothing.
        objectstore_endpoint_policy: Input<Option<String>> = optional().check(policy_document()).in_place(),
        /// IAM policy of the DynamoDB endpoint, in JSON. Null allows all access. The provider replaces the text
        /// `$${fgw:vpc_id}` by the ID of this VPC. Another form of the same policy, such as another order, changes
        /// nothing.
        keyvalue_endpoint_policy: Input<Option<String>> = optional().check(policy_document()).in_place(),
        /// IDs of the virtual private gateways, such as `vgw-0123456789abcdef0`, whose VPN routes propagate to the
        /// public route tables. In all tiers, propagation that was enabled outside Terraform stays enabled. The
        /// gateway must be attached to the VPC. If the attachment refers to this VPC, two applies are needed: the first
        /// one creates the VPC and attaches the gateway, the second one enables propagation.
        public_propagating_vgws: Strings = default(empty_list()).in_place(),
        /// IDs of the virtual private gateways whose VPN routes propagate to the private app route tables.
        private_propagating_vgws: Strings = default(empty_list()).in_place(),
        /// IDs of the virtual private gateways whose VPN routes propagate to the private persistence route tables.
        persistence_propagating_vgws: Strings = default(empty_list()).in_place(),
        /// IDs of the virtual private gateways whose VPN routes propagate to the transit route tables.
        transit_propagating_vgws: Strings = default(empty_list()).in_place(),

        /// Flow logs of the VPC, by a name of your choice of lowercase letters, digits, `_` and `-`. A flow log writes
        /// to a log group, which it can create, to a bucket, or to a delivery stream. Under another name, the same log
        /// stays, and so does its log group.
        flow_logs: Input<BTreeMap<String, Input<FlowLog>>>
            = default(empty_map()).change(PlanEffect::PartialReplace(FLOW_LOGS)),
        /// Interface endpoints, by a name of your choice of lowercase letters, digits, `.`, `_` and `-`. An endpoint
        /// makes an AWS service, or a service of a third party, reachable at private addresses. Without
        /// `security_group_ids`, it uses a security group that this resource creates. Creating 20 takes a minute. Under
        /// another name, the endpoint for the same service stays.
        interface_endpoints: Input<BTreeMap<String, Input<InterfaceEndpoint>>>
            = default(empty_map()).change(PlanEffect::PartialReplace(ENDPOINTS)),
        /// Tags for all objects. They override the provider's `default_tags` and the computed Name tag. More specific
        /// maps, such as `vpc_custom_tags`, override them. Like all maps of tags, it leaves tags that were set outside
        /// Terraform unchanged.
        custom_tags: Tags = default(empty_map()).in_place(),
        /// Name tags of single objects, by the keys of the objects in `aws_objects`, such as
        /// `{ "subnet.public.0" = "dmz-a" }`. They override the computed Name tag and a `Name` in any map of tags. The
        /// keys in outputs such as `public_subnets` do not depend on them.
        name_tags: Tags = default(empty_map()).in_place(),
        /// Tags for the VPC only.
        vpc_custom_tags: Tags = default(empty_map()).in_place(),
        /// Tags for NAT gateways, and for the Elastic IP addresses that this resource creates for them.
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
        /// Maximum time to wait for the creation of one route table, such as `5m`.
        route_table_creation_timeout: Input<String> = default("5m").check(duration()).handling(),
        /// Maximum time to wait for the deletion of one route table, such as `5m`.
        route_table_deletion_timeout: Input<String> = default("5m").check(duration()).handling(),
        /// Maximum time to wait for the update of one route table, such as `2m`.
        route_table_update_timeout: Input<String> = default("2m").check(duration()).handling(),

        /// Whether to remove the objects that GuardDuty Runtime Monitoring created in the VPC by itself, if they block
        /// a deletion. An update then removes the subnets that it deletes from the interface endpoint of GuardDuty, and
        /// a destroy deletes this endpoint and its security group. By default, they are kept. The plan then warns
        /// about them, and AWS rejects the deletion of subnets that contain an interface of the endpoint. A destroy
        /// uses the value of the last apply.
        delete_guardduty_resources: Input<bool> = default(false).handling().remark(NOT_YET_RUN),
        /// Whether to create the network although this account and Region contain another one that this provider
        /// created with the same `vpc_name` and the same `cidr_block`, or with the same `vpc_name` if an IPAM pool
        /// chooses the block. By default, the plan and the create stop then, because a run that was killed before its
        /// state was saved may have left that network. Set it for networks that several resources, workspaces or
        /// states create alike, and for a replacement with `create_before_destroy`.
        allow_duplicate_name: Input<bool> = default(false).handling(),
        /// Objects created outside this provider that the resource takes over: their IDs by the keys that they get in
        /// `aws_objects`, such as `"subnet.public.0" = "subnet-0123456789abcdef0"`. An import proposes them. Later, an
        /// entry takes over an additional object of the VPC if the configuration requires it. After the apply, the
        /// entries have no effect and can be removed.
        adopt: Input<Option<BTreeMap<String, Input<String>>>> = optional_computed().handling(),
        /// Patterns of keys in `aws_objects`, such as `subnet.public.*`, where `*` matches any text. Drift of these
        /// objects is neither reported nor corrected, until the configuration changes the same value; the plan warns.
        ignore_drift: Input<Option<Vec<Input<String>>>> = optional().handling(),
        /// Patterns of keys in `aws_objects`, such as `["eip.*", "nat_gateway.*"]`, where `*` matches any text. A plan
        /// that would delete or replace a matching object is an error, even if it destroys or replaces the whole
        /// resource. By default, nothing is protected, and neither is a resource whose creation has not completed. An
        /// update uses the new value, a destroy the value of the last apply, and a replacement of the resource both. To
        /// delete a protected object, first apply a configuration without the pattern, or set
        /// `allow_protected_deletion` in the provider block. An update may remove a pattern and its objects in the same
        /// apply.
        protected_objects: Input<Option<BTreeSet<Input<String>>>> = optional().handling(),
        /// Timeouts for creating, reading, updating and deleting the resource. After an update has removed a subnet
        /// from the endpoint of GuardDuty, it retries the deletion of the subnet for 10 minutes. Network interfaces of
        /// Lambda functions can block a destroy for up to 45 minutes, and an IPAM pool releases the range of a deleted
        /// VPC within 35 minutes. The default of `delete` has time for both.
        timeouts: Input<Option<OperationTimeouts>> = block().handling(),
        ..ipv6: Ipv6Tiers
    }
}

impl Config {
    /// Whether to create the subnets of this tier.
    pub fn creates(&self, tier: Tier) -> &Input<bool> {
        match tier {
            Tier::Public => &self.create_public_subnets,
            Tier::PrivateApp => &self.create_private_app_subnets,
            Tier::PrivatePersistence => &self.create_private_persistence_subnets,
            Tier::Transit => &self.create_transit_subnets,
        }
    }

    /// The name and the value of the `*_subnet_bits` of this tier.
    pub fn bits(&self, tier: Tier) -> (&'static str, &Input<i64>) {
        match tier {
            Tier::Public => ("public_subnet_bits", &self.public_subnet_bits),
            Tier::PrivateApp => ("private_subnet_bits", &self.private_subnet_bits),
            Tier::PrivatePersistence => ("persistence_subnet_bits", &self.persistence_subnet_bits),
            Tier::Transit => ("transit_subnet_bits", &self.transit_subnet_bits),
        }
    }

    /// Sets the `*_subnet_bits` of this tier.
    pub(super) fn set_bits(&mut self, tier: Tier, bits: i64) {
        let own = match tier {
            Tier::Public => &mut self.public_subnet_bits,
            Tier::PrivateApp => &mut self.private_subnet_bits,
            Tier::PrivatePersistence => &mut self.persistence_subnet_bits,
            Tier::Transit => &mut self.transit_subnet_bits,
        };
        *own = Input::Known(bits);
    }

    /// The number of the first block of this tier, if set. The public tier has no such input and starts at block 0.
    pub fn own_spacing(&self, tier: Tier) -> &Input<Option<i64>> {
        match tier {
            Tier::Public => &Input::Known(Some(0)),
            Tier::PrivateApp => &self.private_subnet_spacing,
            Tier::PrivatePersistence => &self.persistence_subnet_spacing,
            Tier::Transit => &self.transit_subnet_spacing,
        }
    }

    /// The name and the value of the `*_subnet_cidr_blocks` of this tier.
    pub fn cidr_blocks(&self, tier: Tier) -> (&'static str, &CidrBlocks) {
        let blocks = match tier {
            Tier::Public => &self.public_subnet_cidr_blocks,
            Tier::PrivateApp => &self.private_app_subnet_cidr_blocks,
            Tier::PrivatePersistence => &self.private_persistence_subnet_cidr_blocks,
            Tier::Transit => &self.transit_subnet_cidr_blocks,
        };
        (Self::cidr_blocks_name(tier), blocks)
    }

    /// The name of the attribute with the explicit blocks of this tier.
    pub fn cidr_blocks_name(tier: Tier) -> &'static str {
        match tier {
            Tier::Public => "public_subnet_cidr_blocks",
            Tier::PrivateApp => "private_app_subnet_cidr_blocks",
            Tier::PrivatePersistence => "private_persistence_subnet_cidr_blocks",
            Tier::Transit => "transit_subnet_cidr_blocks",
        }
    }

    /// The name and the value of the `*_propagating_vgws` of this tier.
    pub fn propagating_gateways(&self, tier: Tier) -> (&'static str, &Strings) {
        match tier {
            Tier::Public => ("public_propagating_vgws", &self.public_propagating_vgws),
            Tier::PrivateApp => ("private_propagating_vgws", &self.private_propagating_vgws),
            Tier::PrivatePersistence => ("persistence_propagating_vgws", &self.persistence_propagating_vgws),
            Tier::Transit => ("transit_propagating_vgws", &self.transit_propagating_vgws),
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
