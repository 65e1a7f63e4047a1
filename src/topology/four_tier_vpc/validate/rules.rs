//! Every rule, with an example that breaks it and one that satisfies it.

mod chosen_zones;

use serde_json::{Value as Json, json};

use super::super::config::tests::{config, decode};
use super::*;
use crate::plugin::{Nested, Value};
use crate::topology::rules::{Rule, UNKNOWN, assert_reported, value, with};

fn addressing() -> Vec<Rule> {
    let pool = |more: Json| with(json!({"cidr_block": null, "ipv4_ipam_pool_id": "ipam-pool-1"}), more);
    vec![
        ("a CIDR block is IPv4", json!({"cidr_block": "fd00::/16"}), &["cidr_block"], &["fd00::/16"], json!({})),
        (
            "a CIDR block has no host bits",
            json!({"cidr_block": "10.0.0.1/16"}),
            &["cidr_block"],
            &["10.0.0.1/16", "Use 10.0.0.0/16"],
            json!({"cidr_block": "10.1.0.0/16"}),
        ),
        (
            "a CIDR block is no longer than /27",
            json!({"cidr_block": "10.0.0.0/28", "public_subnet_bits": 0}),
            &["cidr_block"],
            &["10.0.0.0/28", "/16 to /27"],
            json!({
                "cidr_block": "10.0.0.0/27", "public_subnet_bits": 1, "private_subnet_bits": 1,
                "create_private_persistence_subnets": false,
            }),
        ),
        (
            "a CIDR block is no shorter than /16",
            json!({"cidr_block": "10.0.0.0/15"}),
            &["cidr_block"],
            &["10.0.0.0/15"],
            json!({"cidr_block": "10.2.0.0/16"}),
        ),
        (
            "a CIDR block is not reserved for multicast",
            json!({"cidr_block": "239.1.0.0/16"}),
            &["cidr_block"],
            &["239.1.0.0/16", "224.0.0.0/4", "multicast"],
            json!({"cidr_block": "223.255.0.0/16"}),
        ),
        (
            "a CIDR block is not a link-local range",
            json!({"cidr_block": "169.254.0.0/16"}),
            &["cidr_block"],
            &["169.254.0.0/16", "link-local"],
            json!({"cidr_block": "169.253.0.0/16"}),
        ),
        (
            "a CIDR block is not the loopback range",
            json!({"cidr_block": "127.0.128.0/20"}),
            &["cidr_block"],
            &["127.0.128.0/20", "loopback"],
            json!({"cidr_block": "128.0.0.0/16"}),
        ),
        (
            "a CIDR block does not begin with 0",
            json!({"cidr_block": "0.10.0.0/16"}),
            &["cidr_block"],
            &["0.10.0.0/16", "0.0.0.0/8"],
            json!({"cidr_block": "1.10.0.0/16"}),
        ),
        (
            "a network has a CIDR block",
            json!({"cidr_block": null}),
            &["cidr_block"],
            &["ipv4_ipam_pool_id"],
            pool(json!({})),
        ),
        (
            "a pool has the ID of a pool",
            pool(json!({"ipv4_ipam_pool_id": "pool-1"})),
            &["ipv4_ipam_pool_id"],
            &["pool-1"],
            pool(json!({"cidr_block": "10.0.0.0/16"})),
        ),
        (
            "a length requires a pool",
            json!({"ipv4_netmask_length": 20, "cidr_block": null}),
            &["ipv4_netmask_length", "cidr_block"],
            &["/20", "ipv4_ipam_pool_id"],
            pool(json!({"ipv4_netmask_length": 20})),
        ),
        (
            "a length and a range exclude each other",
            pool(json!({"ipv4_netmask_length": 20, "cidr_block": "10.0.0.0/16"})),
            &["ipv4_netmask_length"],
            &["20", "10.0.0.0/16"],
            pool(json!({"ipv4_netmask_length": 16})),
        ),
        (
            "a length is from 16 to 27",
            pool(json!({"ipv4_netmask_length": 28})),
            &["ipv4_netmask_length"],
            &["28", "16 to 27"],
            pool(json!({"ipv4_netmask_length": 22})),
        ),
        (
            "a range has room for the subnets",
            json!({"cidr_block": "10.0.0.0/27", "num_availability_zones": 3}),
            &["cidr_block"],
            &["has room for 2 subnets of /28, but this network has 9"],
            json!({"cidr_block": "10.0.0.0/16", "num_availability_zones": 3}),
        ),
        (
            "subnets of a length are no smaller than /28",
            pool(json!({"ipv4_netmask_length": 24})),
            &["public_subnet_bits"],
            &[
                "public_subnet_bits = 5 makes subnets of /29",
                "a range of /24",
                "private_app: ",
                "private_persistence: ",
            ],
            pool(json!({"ipv4_netmask_length": 23})),
        ),
        (
            "subnets of a range are no smaller than /28",
            json!({"private_subnet_bits": 12, "cidr_block": "10.0.0.0/18"}),
            &["private_subnet_bits"],
            &["private_subnet_bits = 12 makes subnets of /30", "/18", "private_subnet_bits = 10"],
            json!({"private_subnet_bits": 10, "cidr_block": "10.0.0.0/18"}),
        ),
        (
            "bits are from 0 to 12",
            json!({"transit_subnet_bits": 13}),
            &["transit_subnet_bits"],
            &["13", "0 to 12"],
            json!({"transit_subnet_bits": 12}),
        ),
        (
            "a spacing is a valid number of blocks",
            json!({"subnet_spacing": -1}),
            &["subnet_spacing"],
            &["-1", "0 to 4095"],
            json!({"subnet_spacing": 0}),
        ),
        (
            "an entry is for an AZ by index",
            json!({"public_subnet_cidr_blocks": {"AZ-01": "10.0.0.0/24"}}),
            &["public_subnet_cidr_blocks[\"AZ-01\"]"],
            &["AZ-01", "AZ-0"],
            json!({"public_subnet_cidr_blocks": {"AZ-1": "10.0.0.0/24"}}),
        ),
        (
            "an entry is a CIDR block",
            json!({"private_app_subnet_cidr_blocks": {"AZ-0": "10.0.0.0"}}),
            &["private_app_subnet_cidr_blocks[\"AZ-0\"]"],
            &["\"10.0.0.0\""],
            json!({"private_app_subnet_cidr_blocks": {"AZ-0": "10.0.0.0/24"}}),
        ),
        (
            "an entry is from /16 to /28",
            json!({"private_persistence_subnet_cidr_blocks": {"AZ-0": "10.0.0.0/29"}}),
            &["private_persistence_subnet_cidr_blocks[\"AZ-0\"]"],
            &["10.0.0.0/29", "/28"],
            json!({"private_persistence_subnet_cidr_blocks": {"AZ-0": "10.0.0.0/28"}}),
        ),
        (
            "an entry is inside the VPC",
            json!({"public_subnet_cidr_blocks": {"AZ-0": "10.1.0.0/24"}}),
            &["public_subnet_cidr_blocks[\"AZ-0\"]"],
            &["10.1.0.0/24", "10.0.0.0/16"],
            json!({"public_subnet_cidr_blocks": {"AZ-0": "10.0.1.0/24"}}),
        ),
        (
            "entries do not overlap",
            json!({
                "public_subnet_cidr_blocks": {"AZ-0": "10.0.0.0/20"},
                "private_app_subnet_cidr_blocks": {"AZ-1": "10.0.8.0/24"},
            }),
            &["private_app_subnet_cidr_blocks[\"AZ-1\"]"],
            &["10.0.8.0/24 overlaps 10.0.0.0/20", "public_subnet_cidr_blocks"],
            json!({
                "public_subnet_cidr_blocks": {"AZ-0": "10.0.0.0/20"},
                "transit_subnet_cidr_blocks": {"AZ-1": "10.0.8.0/24"},
            }),
        ),
    ]
}

fn ipv6() -> Vec<Rule> {
    let generated = |more: Json| with(json!({"enable_ipv6": true, "assign_generated_ipv6_cidr_block": true}), more);
    let pool = |more: Json| with(json!({"enable_ipv6": true, "ipv6_ipam_pool_id": "ipam-pool-6"}), more);
    let entry = |key: &str, block: &str| generated(json!({"public_subnet_ipv6_cidr_blocks": {key: block}}));
    vec![
        (
            "IPv6 has a source",
            json!({"enable_ipv6": true, "assign_generated_ipv6_cidr_block": false}),
            &["enable_ipv6"],
            &["assign_generated_ipv6_cidr_block", "ipv6_ipam_pool_id"],
            generated(json!({})),
        ),
        (
            "IPv6 has one source",
            generated(json!({"ipv6_ipam_pool_id": "ipam-pool-6"})),
            &["assign_generated_ipv6_cidr_block"],
            &["ipam-pool-6"],
            pool(json!({"assign_generated_ipv6_cidr_block": false})),
        ),
        (
            "an IPv6 pool has the ID of a pool",
            pool(json!({"ipv6_ipam_pool_id": "pool"})),
            &["ipv6_ipam_pool_id"],
            &["\"pool\""],
            pool(json!({})),
        ),
        (
            "an IPv6 range requires a pool",
            json!({"ipv6_cidr_block": "2001:db8::/56"}),
            &["ipv6_cidr_block"],
            &["2001:db8::/56", "ipv6_ipam_pool_id"],
            pool(json!({"ipv6_cidr_block": "2001:db8::/56"})),
        ),
        (
            "an IPv6 length requires a pool",
            generated(json!({"ipv6_netmask_length": 56})),
            &["ipv6_netmask_length"],
            &["/56", "ipv6_ipam_pool_id"],
            pool(json!({"ipv6_netmask_length": 56})),
        ),
        (
            "an IPv6 length and range exclude each other",
            pool(json!({"ipv6_netmask_length": 56, "ipv6_cidr_block": "2001:db8::/56"})),
            &["ipv6_netmask_length"],
            &["56", "2001:db8::/56"],
            pool(json!({"ipv6_cidr_block": "2001:db8:0:100::/56"})),
        ),
        (
            "an IPv6 length is 56",
            pool(json!({"ipv6_netmask_length": 52, "ipv6_subnet_bits": 8})),
            &["ipv6_netmask_length"],
            &["52", "56"],
            pool(json!({"ipv6_netmask_length": 56, "ipv6_subnet_bits": 4})),
        ),
        (
            "an IPv6 range is IPv6",
            pool(json!({"ipv6_cidr_block": "10.0.0.0/16"})),
            &["ipv6_cidr_block"],
            &["10.0.0.0/16", "2001:db8::/56"],
            pool(json!({"ipv6_cidr_block": "2001:db8::/60", "ipv6_subnet_bits": 4})),
        ),
        (
            "an IPv6 range has no host bits",
            pool(json!({"ipv6_cidr_block": "2001:db8::1/56"})),
            &["ipv6_cidr_block"],
            &["2001:db8::1/56", "Use 2001:db8::/56"],
            pool(json!({"ipv6_cidr_block": "2001:DB8::/56"})),
        ),
        (
            "an IPv6 range has a length that AWS allows",
            pool(json!({"ipv6_cidr_block": "2001:db8::/57"})),
            &["ipv6_cidr_block"],
            &["/57", "/60"],
            pool(json!({"ipv6_cidr_block": "2001:db8::/52", "ipv6_subnet_bits": 8})),
        ),
        (
            "a border group requires an Amazon-provided range",
            pool(json!({"ipv6_cidr_block_network_border_group": "us-east-1"})),
            &["ipv6_cidr_block_network_border_group"],
            &["us-east-1", "assign_generated_ipv6_cidr_block"],
            generated(json!({"ipv6_cidr_block_network_border_group": "us-east-1"})),
        ),
        (
            "IPv6 subnets have a length that AWS allows",
            generated(json!({"ipv6_subnet_bits": 7})),
            &["ipv6_subnet_bits"],
            &["7 bits", "/63", "/64"],
            generated(json!({"ipv6_subnet_bits": 4})),
        ),
        (
            "IPv6 bits are from 0 to 8",
            generated(json!({"ipv6_subnet_bits": 9})),
            &["ipv6_subnet_bits"],
            &["9", "0 to 8"],
            generated(json!({"ipv6_subnet_bits": 0})),
        ),
        (
            "IPv6 addresses require IPv6",
            json!({"assign_ipv6_address_on_creation": true}),
            &["assign_ipv6_address_on_creation"],
            &["enable_ipv6"],
            generated(json!({"assign_ipv6_address_on_creation": true})),
        ),
        (
            "an IPv6 entry is for an AZ by index",
            entry("0", "2001:db8::/64"),
            &["public_subnet_ipv6_cidr_blocks[\"0\"]"],
            &["\"0\"", "AZ-0"],
            entry("AZ-0", "2001:db8::/64"),
        ),
        (
            "an IPv6 entry is a CIDR block",
            entry("AZ-0", "2001:db8::"),
            &["public_subnet_ipv6_cidr_blocks[\"AZ-0\"]"],
            &["\"2001:db8::\""],
            entry("AZ-7", "2001:db8::/64"),
        ),
        (
            "an IPv6 entry has a length that AWS allows",
            entry("AZ-0", "2001:db8::/62"),
            &["public_subnet_ipv6_cidr_blocks[\"AZ-0\"]"],
            &["/62", "/64"],
            entry("AZ-0", "2001:db8::/60"),
        ),
        (
            "IPv6 entries do not overlap",
            generated(json!({"public_subnet_ipv6_cidr_blocks": {"AZ-0": "2001:db8::/64", "AZ-1": "2001:db8::/60"}})),
            &["public_subnet_ipv6_cidr_blocks[\"AZ-1\"]"],
            &["2001:db8::/60 overlaps 2001:db8::/64"],
            generated(
                json!({"public_subnet_ipv6_cidr_blocks": {"AZ-0": "2001:db8::/64", "AZ-1": "2001:db8:0:1::/64"}}),
            ),
        ),
        (
            "an IPv6 entry is inside the range",
            pool(json!({
                "ipv6_cidr_block": "2001:db8::/56", "public_subnet_ipv6_cidr_blocks": {"AZ-0": "2001:db9::/64"},
            })),
            &["public_subnet_ipv6_cidr_blocks[\"AZ-0\"]"],
            &["2001:db9::/64", "2001:db8::/56"],
            pool(json!({
                "ipv6_cidr_block": "2001:db8::/56", "public_subnet_ipv6_cidr_blocks": {"AZ-0": "2001:db8::/64"},
            })),
        ),
    ]
}

fn gateways() -> Vec<Rule> {
    let private = |more: Json| with(json!({"enable_private_nat": true, "create_transit_subnets": true}), more);
    let custom = |ids: &[&str]| json!({"use_custom_nat_eips": true, "custom_nat_eips": ids, "num_nat_gateways": 2});
    vec![
        (
            "public NAT gateways require an internet gateway",
            json!({"create_igw": false}),
            &["create_igw"],
            &["num_nat_gateways"],
            json!({"create_igw": false, "num_nat_gateways": 0}),
        ),
        (
            "the number of NAT gateways is not negative",
            json!({"num_nat_gateways": -1}),
            &["num_nat_gateways"],
            &["-1"],
            json!({"num_nat_gateways": 0}),
        ),
        (
            "private NAT gateways require transit subnets",
            private(json!({"create_transit_subnets": false})),
            &["enable_private_nat"],
            &["create_transit_subnets"],
            private(json!({})),
        ),
        (
            "private NAT gateways do not serve their own subnets",
            private(json!({"allow_transit_internet_access": true})),
            &["enable_private_nat"],
            &["allow_transit_internet_access", "loop"],
            private(json!({"allow_private_persistence_internet_access": true})),
        ),
        (
            "secondary addresses require private NAT gateways",
            json!({"nat_secondary_private_ip_address_count": 2}),
            &["nat_secondary_private_ip_address_count"],
            &["2", "enable_private_nat"],
            private(json!({"nat_secondary_private_ip_address_count": 2})),
        ),
        (
            "secondary addresses are at most 31",
            private(json!({"nat_secondary_private_ip_address_count": 32})),
            &["nat_secondary_private_ip_address_count"],
            &["32", "0 to 31"],
            private(json!({"nat_secondary_private_ip_address_count": 7})),
        ),
        (
            "there is one custom address for each NAT gateway",
            custom(&["eipalloc-1"]),
            &["custom_nat_eips"],
            &["1 addresses", "num_nat_gateways is 2"],
            custom(&["eipalloc-1", "eipalloc-2"]),
        ),
        (
            "custom addresses are allocation ids",
            custom(&["eipalloc-1", "198.51.100.1"]),
            &["custom_nat_eips[1]"],
            &["198.51.100.1"],
            with(custom(&["198.51.100.1"]), json!({"use_custom_nat_eips": false})),
        ),
        (
            "a custom address serves one NAT gateway",
            custom(&["eipalloc-1", "eipalloc-1"]),
            &["custom_nat_eips[1]"],
            &["eipalloc-1"],
            with(custom(&["eipalloc-1"]), private(json!({}))),
        ),
        (
            "propagating gateways are virtual private gateways",
            json!({"transit_propagating_vgws": ["vgw-1", "tgw-1"]}),
            &["transit_propagating_vgws[1]"],
            &["tgw-1"],
            json!({"transit_propagating_vgws": ["vgw-1"]}),
        ),
    ]
}

fn names_and_zones() -> Vec<Rule> {
    let tags = |key: &str, value: &str| json!({"custom_tags": {key: value}});
    let many = |count: usize| -> Json {
        let tags: serde_json::Map<String, Json> = (0..count).map(|it| (format!("k{it}"), "v".into())).collect();
        json!({ "vpc_custom_tags": tags })
    };
    vec![
        ("a name is not empty", json!({"vpc_name": ""}), &["vpc_name"], &["empty"], json!({"vpc_name": "a"})),
        (
            "a name has no leading or trailing space",
            json!({"vpc_name": " a"}),
            &["vpc_name"],
            &["\" a\""],
            json!({"vpc_name": "a b"}),
        ),
        (
            "a name is short enough for its suffixes",
            json!({"vpc_name": "x".repeat(231)}),
            &["vpc_name"],
            &["231", "230"],
            json!({"vpc_name": "x".repeat(230)}),
        ),
        (
            "there is at least one AZ",
            json!({"num_availability_zones": 0}),
            &["num_availability_zones"],
            &["0"],
            json!({"num_availability_zones": 1}),
        ),
        (
            "AZs are excluded by id",
            json!({"availability_zone_exclude_ids": ["us-east-1a"]}),
            &["availability_zone_exclude_ids[0]"],
            &["us-east-1a", "availability_zone_exclude_names"],
            json!({"availability_zone_exclude_ids": ["use1-az1"]}),
        ),
        (
            "AZs are excluded by name",
            json!({"availability_zone_exclude_names": ["use1-az1"]}),
            &["availability_zone_exclude_names[0]"],
            &["use1-az1", "availability_zone_exclude_ids"],
            json!({"availability_zone_exclude_names": ["us-east-1a"]}),
        ),
        (
            "AZs are listed by tier",
            json!({"tier_availability_zone_ids": {"private": ["use1-az1"]}}),
            &["tier_availability_zone_ids[\"private\"]"],
            &["\"private\"", "private_app, private_persistence"],
            json!({"tier_availability_zone_ids": {"private_app": ["use1-az1"]}}),
        ),
        (
            "a tier is in at least one AZ",
            json!({"tier_availability_zone_ids": {"public": []}}),
            &["tier_availability_zone_ids[\"public\"]"],
            &["empty", "create_public_subnets"],
            json!({"tier_availability_zone_ids": {"public": [UNKNOWN]}}),
        ),
        (
            "the AZs of a tier are listed by id",
            json!({"tier_availability_zone_ids": {"transit": ["use1-az1", "us-east-1b"]}}),
            &["tier_availability_zone_ids[\"transit\"][1]"],
            &["us-east-1b", "use1-az1"],
            json!({"tier_availability_zone_ids": {"transit": ["use1-az1", "use1-az2"]}}),
        ),
        (
            "an AZ of a tier is listed once",
            json!({"tier_availability_zone_ids": {"public": ["use1-az1", "use1-az2", "use1-az1"]}}),
            &["tier_availability_zone_ids[\"public\"][2]"],
            &["use1-az1 is listed twice"],
            json!({"tier_availability_zone_ids": {"public": ["use1-az1"], "private_app": ["use1-az1"]}}),
        ),
        (
            "an AZ's state is one of four",
            json!({"availability_zone_state": "broken"}),
            &["availability_zone_state"],
            &["broken", "impaired"],
            json!({"availability_zone_state": "impaired"}),
        ),
        (
            "a tenancy is one of two",
            json!({"tenancy": "shared"}),
            &["tenancy"],
            &["shared", "dedicated"],
            json!({"tenancy": "dedicated"}),
        ),
        (
            "a VPC has no host tenancy",
            json!({"tenancy": "host"}),
            &["tenancy"],
            &["AWS rejects", "host", "instances"],
            json!({"tenancy": "default"}),
        ),
        (
            "the tag prefix of AWS is reserved",
            tags("aws:x", "1"),
            &["custom_tags[\"aws:x\"]"],
            &["aws:x", "AWS"],
            tags("aws", "1"),
        ),
        (
            "the provider's tag prefix is reserved in any case",
            tags("FGW:object", "1"),
            &["custom_tags[\"FGW:object\"]"],
            &["FGW:object", "this provider"],
            tags("fgw", "1"),
        ),
        ("a tag has a key", tags("", "1"), &["custom_tags[\"\"]"], &["0 characters"], tags("a", "")),
        (
            "a tag's value has at most 256 characters of any kind",
            tags("a", &"x".repeat(257)),
            &["custom_tags[\"a\"]"],
            &["257"],
            tags("a", &"#".repeat(256)),
        ),
        (
            "route_table_layout names tiers that are not public",
            json!({"route_table_layout": {"public": "per_tier"}}),
            &["route_table_layout[\"public\"]"],
            &["\"public\"", "private_app, private_persistence or transit"],
            json!({"route_table_layout": {"transit": "per_tier"}}),
        ),
        (
            "a layout of route tables is per_subnet, per_tier or a tier",
            json!({"route_table_layout": {"private_app": "shared"}}),
            &["route_table_layout[\"private_app\"]"],
            &["\"shared\"", "per_tier"],
            json!({"route_table_layout": {"private_app": "per_subnet"}}),
        ),
        (
            "a tier does not use its own tables",
            json!({"route_table_layout": {"private_app": "private_app"}}),
            &["route_table_layout[\"private_app\"]"],
            &["private_app", "its own tables"],
            json!({"route_table_layout": {"private_app": "per_tier"}}),
        ),
        (
            "a tier uses the tables of a tier that has some",
            json!({"num_nat_gateways": 0, "create_transit_subnets": true,
                   "route_table_layout": {"transit": "private_persistence", "private_persistence": "private_app"}}),
            &["route_table_layout[\"transit\"]"],
            &["private_persistence", "private_app"],
            json!({"num_nat_gateways": 0, "create_transit_subnets": true,
                   "route_table_layout": {"transit": "private_app", "private_persistence": "private_app"}}),
        ),
        (
            "a tier uses the tables of a tier that is created",
            json!({"num_nat_gateways": 0, "create_private_app_subnets": false,
                   "route_table_layout": {"private_persistence": "private_app"}}),
            &["route_table_layout[\"private_persistence\"]"],
            &["private_app", "create_private_app_subnets"],
            json!({"num_nat_gateways": 0, "route_table_layout": {"private_persistence": "private_app"}}),
        ),
        (
            "tiers that share tables agree on internet access",
            json!({"route_table_layout": {"private_persistence": "private_app"}}),
            &["route_table_layout[\"private_persistence\"]"],
            &["false for allow_private_persistence_internet_access", "true for private_app"],
            json!({"allow_private_persistence_internet_access": true,
                   "route_table_layout": {"private_persistence": "private_app"}}),
        ),
        (
            "tiers that share tables agree on propagation",
            json!({"num_nat_gateways": 0, "private_propagating_vgws": ["vgw-0123456789abcdef0"],
                   "route_table_layout": {"private_persistence": "private_app"}}),
            &["route_table_layout[\"private_persistence\"]"],
            &["persistence_propagating_vgws and private_propagating_vgws", "vgw-0123456789abcdef0"],
            json!({"num_nat_gateways": 0, "private_propagating_vgws": ["vgw-0123456789abcdef0"],
                   "persistence_propagating_vgws": ["vgw-0123456789abcdef0"],
                   "route_table_layout": {"private_persistence": "private_app"}}),
        ),
        (
            "an entry of name_tags belongs to an object that has a Name tag",
            json!({"name_tags": {"route.public.ipv4": "out"}}),
            &["name_tags[\"route.public.ipv4\"]"],
            &["\"route.public.ipv4\"", "subnet.private_app.*"],
            json!({"name_tags": {"route_table.public": "out"}}),
        ),
        (
            "a name has at most 256 characters",
            json!({"name_tags": {"vpc": "x".repeat(257)}}),
            &["name_tags[\"vpc\"]"],
            &["257", "256"],
            json!({"name_tags": {"vpc": "x".repeat(256)}}),
        ),
        ("AWS allows 50 tags", many(48), &["vpc_custom_tags"], &["48", "50"], many(47)),
        (
            "a timeout is a duration",
            json!({"route_table_update_timeout": "5"}),
            &["route_table_update_timeout"],
            &["\"5\""],
            json!({"route_table_update_timeout": "5m"}),
        ),
        (
            "a timeout of an operation is a duration",
            json!({"timeouts": {"create": "soon"}}),
            &["timeouts.create"],
            &["soon"],
            json!({"timeouts": {"create": "1h"}}),
        ),
        (
            "a pattern of protected objects matches a possible key",
            json!({"protected_objects": ["eip.*", "nat_gatway.*", "subnet.app.*"]}),
            &["protected_objects", "protected_objects"],
            &["nat_gatway.*", "subnet.app.*", "subnet.private_app.*"],
            json!({"protected_objects": ["*", "nat_gateway.7", "subnet.private_app.*", "stray.*", "route.*.ipv6", UNKNOWN]}),
        ),
    ]
}

/// The problems that the schema and the validation report.
pub(in super::super) fn problems(attributes: Json) -> Vec<Problem> {
    let Value::Map(attributes) = value(attributes) else { panic!("attributes are an object") };
    let attributes: Vec<(&str, Value)> = attributes.iter().map(|(name, it)| (name.as_str(), it.clone())).collect();
    decode(&attributes).map_or_else(|problems| problems, |config| validate(&config))
}

fn all() -> Vec<Rule> {
    [addressing(), ipv6(), gateways(), names_and_zones(), chosen_zones::rules()].concat()
}

#[test]
fn each_broken_rule_is_reported_at_its_path_only() {
    let rules = all();
    assert!(rules.len() >= 45, "{}", rules.len());
    assert_reported(rules, problems);
}

#[test]
fn defaults_and_unknown_values_cause_no_problem() {
    assert_eq!(validate(&config(&[])), []);
    for attribute in Config::attributes() {
        assert_eq!(validate(&config(&[(&attribute.name, Value::Unknown)])), [], "{}", attribute.name);
    }
}

#[test]
fn all_problems_are_reported_at_once() {
    let wrong = json!({"vpc_name": " ", "cidr_block": "x", "enable_ipv6": true, "create_igw": false});
    let paths: Vec<String> = problems(wrong).iter().map(|it| it.path.to_string()).collect();
    assert_eq!(paths, ["vpc_name", "cidr_block", "enable_ipv6", "create_igw"]);
}
