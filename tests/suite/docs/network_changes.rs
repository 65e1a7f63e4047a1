//! Examples that change every input of `fgw_four_tier_vpc`.

use serde_json::{Value as Json, json};

use super::changes::{Example, Exceptions, assert_effects, assert_way_back, with};
use super::examples::{Values, examples};
use fgw::model::{AvailabilityZone, EndpointOffer, Facts, Found};
use fgw::topology::four_tier_vpc::FourTierVpc;

/// Three available AZs, and an impaired one.
pub(super) fn facts(_: &Json) -> Facts {
    let zone = |letter: &str, state: &str| AvailabilityZone {
        name: format!("eu-central-1{letter}"),
        id: format!("euc1-az-{letter}"),
        state: state.into(),
    };
    let available = ["a", "b", "c"].map(|letter| zone(letter, "available"));
    Facts {
        availability_zones: Some(available.into_iter().chain([zone("d", "impaired")]).collect()),
        gateway_endpoint_services: Some(["s3", "dynamodb"].map(|it| format!("com.amazonaws.eu-central-1.{it}")).into()),
        endpoint_services: SERVICES.map(|it| (it.to_string(), Found::There(offer(it)))).into(),
        ..Facts::default()
    }
}

const SERVICES: [&str; 4] = ["kms", "logs", "s3", "com.amazonaws.eu-central-1.logs"];

fn offer(service: &str) -> EndpointOffer {
    let label = service.rsplit('.').next().unwrap_or(service);
    EndpointOffer {
        name: format!("com.amazonaws.eu-central-1.{label}"),
        availability_zones: ["a", "b", "c", "d"].map(|letter| format!("eu-central-1{letter}")).into(),
        address_types: vec!["ipv4".into()],
        has_private_dns: true,
        accepts_policy: true,
        has_gateway: label == "s3",
    }
}

fn basis() -> Json {
    json!({
        "vpc_name": "main", "cidr_block": "10.0.0.0/16", "num_nat_gateways": 2, "create_transit_subnets": true,
        "availability_zone_state": "available",
    })
}

/// Configurations with the inputs that have an effect only together.
fn bases() -> Vec<Json> {
    let role = "arn:aws:iam::123456789012:role/flow";
    let acl = |rule: Json| {
        let rules = json!({ "Https": rule });
        json!({
            "apply_default_nacl_rules": true, "default_nacl_ingress_rules": rules, "default_nacl_egress_rules": rules,
        })
    };
    let group = json!({ "Https": {
        "protocol": "tcp", "from_port": 440, "to_port": 443, "cidr_blocks": ["10.0.0.0/8"], "self": false,
    }});
    let log = |log: Json| json!({ "flow_logs": { "x": log } });
    let endpoint = |name: &str, endpoint: Json| json!({ "interface_endpoints": { name: endpoint } });
    vec![
        json!({ "cidr_block": "10.0.0.0/16" }),
        json!({ "create_transit_subnets": true }),
        json!({ "num_nat_gateways": 0, "create_igw": true }),
        json!({ "use_custom_nat_eips": true, "custom_nat_eips": ["eipalloc-0", "eipalloc-1"] }),
        json!({ "enable_private_nat": true, "nat_secondary_private_ip_address_count": 0 }),
        // Without DNS support, there are no DNS host names either.
        json!({ "enable_dns_hostnames": true }),
        json!({ "enable_dns_support": true, "enable_dns_hostnames": false }),
        json!({ "cidr_block": null, "ipv4_ipam_pool_id": "ipam-pool-1", "ipv4_netmask_length": 16 }),
        json!({ "create_transit_subnets": false, "subnet_spacing": 10, "num_nat_gateways": 1 }),
        json!({
            "enable_ipv6": true, "assign_generated_ipv6_cidr_block": true, "assign_ipv6_address_on_creation": false,
            "ipv6_subnet_bits": 8, "ipv6_cidr_block_network_border_group": null, "public_subnet_ipv6_cidr_blocks": {},
        }),
        json!({ "enable_ipv6": true, "ipv6_ipam_pool_id": "ipam-pool-6" }),
        json!({
            "enable_ipv6": true, "assign_generated_ipv6_cidr_block": true,
            "ipv6_subnet_tiers": ["public", "private_app", "private_persistence", "transit"],
            "assign_ipv6_address_on_creation_tiers": ["private_app"], "create_egress_only_igw": null,
            "private_app_subnet_ipv6_cidr_blocks": {}, "private_persistence_subnet_ipv6_cidr_blocks": {},
            "transit_subnet_ipv6_cidr_blocks": {},
        }),
        json!({ "apply_default_nacl_rules": true, "associate_default_nacl_to_subnets": false }),
        acl(json!({
            "rule_no": 100, "action": "allow", "protocol": "tcp", "from_port": 440, "to_port": 443,
            "cidr_block": "0.0.0.0/0",
        })),
        acl(json!({
            "rule_no": 100, "action": "allow", "protocol": "icmp", "from_port": 0, "to_port": 0, "icmp_type": 8,
            "icmp_code": -1, "cidr_block": "0.0.0.0/0",
        })),
        json!({ "default_security_group_ingress_rules": group, "default_security_group_egress_rules": group }),
        log(json!({
            "log_destination_type": "s3", "log_destination": "arn:aws:s3:::logs",
            "destination_options": { "file_format": "parquet" },
        })),
        log(json!({
            "log_group_name": "/net", "iam_role_arn": role, "retention_in_days": 7, "kms_key_id": null,
            "log_group_skip_destroy": true, "tags": { "team": "app" },
        })),
        log(json!({
            "log_destination_type": "kinesis-data-firehose", "iam_role_arn": role, "deliver_cross_account_role": role,
            "log_destination": "arn:aws:firehose:eu-central-1:123456789012:deliverystream/logs",
        })),
        endpoint("kms", json!({ "subnet_tier": "private_app", "tags": { "team": "app" } })),
        endpoint("kms", json!({ "allowed_ports": [587], "allowed_cidr_blocks": ["10.9.0.0/16"] })),
        endpoint("s3", json!({ "private_dns_only_for_inbound_resolver_endpoint": true })),
        endpoint(
            "partner",
            json!({
                "service_name": "com.amazonaws.vpce.us-east-1.vpce-svc-0123456789abcdef0", "service_region": null,
            }),
        ),
    ]
}

fn values() -> Values {
    let none = Json::Null;
    vec![
        ("cidr_block", json!("10.0.0.0/16"), json!("10.1.0.0/16")),
        ("num_nat_gateways", json!(1), json!(2)),
        ("num_nat_gateways", json!(1), json!(3)),
        ("num_availability_zones", json!(2), json!(3)),
        ("availability_zone_ids", none.clone(), json!(["euc1-az-a"])),
        ("availability_zone_names", none.clone(), json!(["eu-central-1a"])),
        ("availability_zone_exclude_ids", json!([]), json!(["euc1-az-a"])),
        ("availability_zone_exclude_names", json!([]), json!(["eu-central-1b"])),
        ("availability_zone_state", json!("available"), none.clone()),
        ("tier_availability_zone_ids", json!({}), json!({ "private_app": ["euc1-az-a", "euc1-az-c"] })),
        ("tier_availability_zone_ids", json!({}), json!({ "public": ["euc1-az-b"] })),
        ("custom_nat_eips", json!(["eipalloc-0", "eipalloc-1"]), json!(["eipalloc-0", "eipalloc-2"])),
        ("nat_secondary_private_ip_address_count", json!(0), json!(2)),
        ("route_table_layout", json!({}), json!({ "private_app": "per_tier" })),
        ("tenancy", json!("default"), json!("dedicated")),
        ("private_subnet_spacing", none.clone(), json!(24)),
        ("persistence_subnet_spacing", none.clone(), json!(24)),
        ("transit_subnet_spacing", none.clone(), json!(24)),
        ("ipv4_netmask_length", json!(16), json!(20)),
        ("*_subnet_cidr_blocks", json!({}), json!({ "AZ-0": "10.0.248.0/21" })),
        ("secondary_cidr_blocks", json!([]), json!(["100.64.0.0/16"])),
        ("ipv6_cidr_block_network_border_group", none.clone(), json!("eu-central-1-ham-1")),
        ("ipv6_subnet_bits", json!(8), json!(4)),
        ("*_subnet_ipv6_cidr_blocks", json!({}), json!({ "AZ-0": "2001:db8:0:f00::/60" })),
        ("ipv6_subnet_tiers", json!(["public"]), json!(["public", "private_app"])),
        (
            "ipv6_subnet_tiers",
            json!(["public", "private_app", "private_persistence", "transit"]),
            json!(["private_app"]),
        ),
        ("create_egress_only_igw", none.clone(), json!(false)),
        ("assign_ipv6_address_on_creation_tiers", json!(["private_app"]), json!(["private_app", "transit"])),
        ("*.cidr_block", json!("0.0.0.0/0"), json!("10.0.0.0/8")),
        ("*.protocol", json!("tcp"), json!("udp")),
        ("*.action", json!("allow"), json!("deny")),
        ("*.icmp_code", json!(-1), json!(0)),
        ("*.icmp_type", json!(8), json!(0)),
        ("*.cidr_blocks", json!(["10.0.0.0/8"]), json!(["10.0.0.0/9"])),
        ("*.ipv6_cidr_blocks", none.clone(), json!(["::/0"])),
        ("*.prefix_list_ids", none.clone(), json!(["pl-0123456789abcdef0"])),
        ("*.security_groups", none.clone(), json!(["sg-0123456789abcdef0"])),
        ("flow_logs.log_destination_type", json!("s3"), json!("kinesis-data-firehose")),
        ("flow_logs.kms_key_id", none.clone(), json!("arn:aws:kms:eu-central-1:123456789012:key/a")),
        ("flow_logs.log_format", none.clone(), json!("${srcaddr} ${dstaddr}")),
        (
            "flow_logs.deliver_cross_account_role",
            json!("arn:aws:iam::123456789012:role/flow"),
            json!("arn:aws:iam::123456789012:role/other"),
        ),
        ("interface_endpoints.service", none.clone(), json!("logs")),
        ("interface_endpoints.service_name", none.clone(), json!("com.amazonaws.eu-central-1.logs")),
        ("interface_endpoints.service_region", none.clone(), json!("us-east-1")),
        ("interface_endpoints.availability_zones", none.clone(), json!(["eu-central-1a"])),
        ("interface_endpoints.private_dns_enabled", none.clone(), json!(false)),
        ("interface_endpoints.security_group_ids", none.clone(), json!(["sg-0123456789abcdef0"])),
        ("interface_endpoints.allowed_ports", json!([587]), json!([25])),
        ("interface_endpoints.allowed_cidr_blocks", json!(["10.9.0.0/16"]), json!(["10.8.0.0/16"])),
        ("*policy", none.clone(), json!("{\"Statement\":[]}")),
        ("name_tags", none.clone(), json!({ "subnet.public.0": "dmz" })),
        ("name_tags", json!({ "subnet.public.0": "front" }), json!({ "subnet.public.0": "dmz" })),
        ("*_propagating_vgws", none.clone(), json!(["vgw-0123456789abcdef0"])),
        ("*_timeout", json!("5m"), json!("7m")),
        ("adopt", none.clone(), json!({ "vpc": "vpc-0123456789abcdef0" })),
        ("ignore_drift", none.clone(), json!(["subnet.*"])),
        ("protected_objects", none, json!(["subnet.*"])),
    ]
}

/// Changes of several inputs, and those whose reverse keeps the range that AWS has assigned.
fn changes() -> Vec<Example> {
    let pool = |more: Json| with(&json!({ "enable_ipv6": true, "ipv6_ipam_pool_id": "ipam-pool-6" }), &more);
    let block = |block: &str| pool(json!({ "ipv6_cidr_block": block }));
    let generated = json!({ "enable_ipv6": true, "assign_generated_ipv6_cidr_block": true });
    // A rule has a block of one address family.
    let acl = |rules: &str, block: Json| {
        let rule = json!({ "rule_no": 100, "action": "allow", "protocol": "tcp", "from_port": 443, "to_port": 443 });
        json!({ "apply_default_nacl_rules": true, rules: { "Https": with(&rule, &block) } })
    };
    let blocks = |rules: &str| {
        (acl(rules, json!({ "cidr_block": "0.0.0.0/0" })), acl(rules, json!({ "ipv6_cidr_block": "::/0" })))
    };
    let (ingress, egress) = (blocks("default_nacl_ingress_rules"), blocks("default_nacl_egress_rules"));
    vec![
        ("assign_generated_ipv6_cidr_block", pool(json!({})), generated),
        ("ipv6_cidr_block", block("2001:db8::/52"), block("2001:db8:1::/52")),
        ("ipv6_netmask_length", pool(json!({})), pool(json!({ "ipv6_netmask_length": 56 }))),
        ("default_nacl_ingress_rules.ipv6_cidr_block", ingress.0, ingress.1),
        ("default_nacl_egress_rules.ipv6_cidr_block", egress.0, egress.1),
    ]
}

fn all() -> Vec<Example> {
    examples::<FourTierVpc>(&basis(), &bases(), &values(), &changes())
}

#[test]
fn changes_of_network_inputs_have_the_documented_effect() {
    assert_effects::<FourTierVpc>(&basis(), facts, all());
}

const NOT_IMPORTED: Exceptions = &[
    (
        "the AZs of the subnets are in availability_zone_ids",
        &[
            "availability_zone_names",
            "availability_zone_exclude_ids",
            "availability_zone_exclude_names",
            "availability_zone_state",
        ],
    ),
    ("it acts once, when it is set", &["associate_default_nacl_to_subnets"]),
];

const NOT_REFLECTED: Exceptions = &[
    ("the names of objects are reflected in the maps of tags", &["vpc_name"]),
    (
        "the block of one subnet is drift of the subnet",
        &[
            "ipv6_subnet_bits",
            "public_subnet_ipv6_cidr_blocks",
            "private_app_subnet_ipv6_cidr_blocks",
            "private_persistence_subnet_ipv6_cidr_blocks",
            "transit_subnet_ipv6_cidr_blocks",
        ],
    ),
    ("AWS does not delete these objects alone", &["apply_default_nacl_rules", "enable_default_security_group"]),
    (
        "a rule of a group is drift of the group",
        &["interface_endpoints.allowed_ports", "interface_endpoints.allowed_cidr_blocks"],
    ),
    ("it acts once, when it is set", &["associate_default_nacl_to_subnets"]),
];

#[test]
fn network_inputs_are_read_back_from_objects() {
    assert_way_back::<FourTierVpc>(&basis(), facts, &all(), [NOT_IMPORTED, NOT_REFLECTED]);
}
