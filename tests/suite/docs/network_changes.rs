//! Examples that change every input of `fgw_four_tier_vpc`.

use serde_json::{Value as Json, json};

use super::changes::{Example, Exceptions, assert_effects, assert_way_back, from_nothing, timeouts, with};
use fgw::model::{AvailabilityZone, Facts};
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
        ..Facts::default()
    }
}

fn basis() -> Json {
    json!({
        "vpc_name": "main", "cidr_block": "10.0.0.0/16", "num_nat_gateways": 2, "create_transit_subnets": true,
        "availability_zone_state": "available",
    })
}

fn switches() -> Vec<Example> {
    let no_nat = |more: Json| with(&json!({ "num_nat_gateways": 0 }), &more);
    let plain = |name: &'static str, before: Json, after: Json| (name, json!({ name: before }), json!({ name: after }));
    let eips = |list: Json| json!({ "use_custom_nat_eips": true, "custom_nat_eips": list });
    // Without DNS support, there are no DNS host names either.
    let dns = |support: bool| json!({ "enable_dns_support": support, "enable_dns_hostnames": false });
    let own = json!(["eipalloc-0", "eipalloc-1"]);
    let private = |count: i64| json!({ "enable_private_nat": true, "nat_secondary_private_ip_address_count": count });
    vec![
        plain("cidr_block", json!("10.0.0.0/16"), json!("10.1.0.0/16")),
        plain("num_nat_gateways", json!(1), json!(2)),
        plain("num_nat_gateways", json!(3), json!(1)),
        plain("vpc_name", json!("main"), json!("other")),
        plain("num_availability_zones", json!(2), json!(3)),
        plain("num_availability_zones", json!(3), json!(2)),
        plain("availability_zone_ids", json!(null), json!(["euc1-az-a"])),
        plain("availability_zone_names", json!(null), json!(["eu-central-1a"])),
        plain("availability_zone_exclude_ids", json!([]), json!(["euc1-az-a"])),
        plain("availability_zone_exclude_names", json!([]), json!(["eu-central-1b"])),
        plain("availability_zone_state", json!("available"), json!(null)),
        plain("availability_zone_state", json!(null), json!("available")),
        plain("tier_availability_zone_ids", json!({}), json!({ "private_app": ["euc1-az-a", "euc1-az-c"] })),
        plain("tier_availability_zone_ids", json!({ "public": ["euc1-az-b"] }), json!({})),
        plain("cloud_region", json!(""), json!("eu-west-1")),
        plain("create_public_subnets", json!(true), json!(false)),
        plain("create_private_app_subnets", json!(true), json!(false)),
        plain("create_private_persistence_subnets", json!(false), json!(true)),
        plain("create_transit_subnets", json!(false), json!(true)),
        ("create_igw", no_nat(json!({ "create_igw": true })), no_nat(json!({ "create_igw": false }))),
        plain("create_vpc_endpoints", json!(true), json!(false)),
        plain("allow_private_persistence_internet_access", json!(false), json!(true)),
        plain("allow_transit_internet_access", json!(true), json!(false)),
        plain("enable_private_nat", json!(false), json!(true)),
        ("use_custom_nat_eips", with(&eips(own.clone()), &json!({ "use_custom_nat_eips": false })), eips(own.clone())),
        ("custom_nat_eips", eips(own), eips(json!(["eipalloc-0", "eipalloc-2"]))),
        ("nat_secondary_private_ip_address_count", private(0), private(2)),
        plain("one_route_table_public_subnets", json!(true), json!(false)),
        plain("route_table_layout", json!({}), json!({ "private_app": "per_tier" })),
        plain("route_table_layout", json!({ "private_app": "per_tier" }), json!({})),
        plain("map_public_ip_on_launch", json!(false), json!(true)),
        plain("tenancy", json!("default"), json!("dedicated")),
        plain("tenancy", json!("dedicated"), json!("default")),
        plain("enable_dns_hostnames", json!(true), json!(false)),
        ("enable_dns_support", dns(true), dns(false)),
        plain("enable_network_address_usage_metrics", json!(false), json!(true)),
        plain("allow_duplicate_name", json!(false), json!(true)),
        plain("delete_guardduty_resources", json!(false), json!(true)),
    ]
}

fn addresses() -> Vec<Example> {
    let plain = |name: &'static str, before: Json, after: Json| (name, json!({ name: before }), json!({ name: after }));
    let pool = |id: &str, more: Json| with(&json!({ "cidr_block": null, "ipv4_ipam_pool_id": id }), &more);
    let length = |length: i64| pool("ipam-pool-1", json!({ "ipv4_netmask_length": length }));
    let three_tiers =
        |spacing: i64| json!({ "create_transit_subnets": false, "subnet_spacing": spacing, "num_nat_gateways": 1 });
    let mut examples = vec![
        plain("public_subnet_bits", json!(5), json!(6)),
        plain("private_subnet_bits", json!(5), json!(6)),
        plain("persistence_subnet_bits", json!(5), json!(6)),
        plain("transit_subnet_bits", json!(5), json!(6)),
        ("subnet_spacing", three_tiers(10), three_tiers(11)),
        plain("global_subnet_spacing", json!(6), json!(7)),
        plain("private_subnet_spacing", json!(null), json!(24)),
        plain("persistence_subnet_spacing", json!(null), json!(24)),
        plain("transit_subnet_spacing", json!(null), json!(24)),
        ("ipv4_ipam_pool_id", pool("ipam-pool-1", json!({})), pool("ipam-pool-2", json!({}))),
        ("ipv4_netmask_length", length(16), length(20)),
    ];
    for name in [
        "public_subnet_cidr_blocks",
        "private_app_subnet_cidr_blocks",
        "private_persistence_subnet_cidr_blocks",
        "transit_subnet_cidr_blocks",
    ] {
        examples.push(plain(name, json!({}), json!({ "AZ-0": "10.0.248.0/21" })));
        examples.push(plain(name, json!({ "AZ-0": "10.0.248.0/21" }), json!({})));
    }
    examples
}

fn ipv6() -> Vec<Example> {
    let generated = |more: Json| with(&json!({ "enable_ipv6": true, "assign_generated_ipv6_cidr_block": true }), &more);
    let pool = |id: &str, more: Json| with(&json!({ "enable_ipv6": true, "ipv6_ipam_pool_id": id }), &more);
    let on = |name: &'static str, before: Json, after: Json| {
        (name, generated(json!({ name: before })), generated(json!({ name: after })))
    };
    let of_pool = |name: &'static str, before: Json, after: Json| {
        (name, pool("ipam-pool-6", json!({ name: before })), pool("ipam-pool-6", json!({ name: after })))
    };
    vec![
        on("enable_ipv6", json!(false), json!(true)),
        on("enable_ipv6", json!(true), json!(false)),
        ("assign_generated_ipv6_cidr_block", pool("ipam-pool-6", json!({})), generated(json!({}))),
        on("assign_ipv6_address_on_creation", json!(false), json!(true)),
        of_pool("ipv6_cidr_block", json!("2001:db8::/52"), json!("2001:db8:1::/52")),
        on("ipv6_cidr_block_network_border_group", json!(null), json!("eu-central-1-ham-1")),
        ("ipv6_ipam_pool_id", pool("ipam-pool-6", json!({})), pool("ipam-pool-7", json!({}))),
        of_pool("ipv6_netmask_length", json!(null), json!(56)),
        on("ipv6_subnet_bits", json!(8), json!(4)),
        on("public_subnet_ipv6_cidr_blocks", json!({}), json!({ "AZ-0": "2001:db8:0:f00::/60" })),
    ]
}

fn flow_logs() -> Vec<Example> {
    let role = "arn:aws:iam::123456789012:role/flow";
    let change = |path: &'static str, basis: &Json, before: Json, after: Json| {
        let input = path.rsplit('.').next().unwrap_or_default();
        let log = |value: Json| json!({ "flow_logs": { "x": with(basis, &json!({ input: value })) } });
        (path, log(before), log(after))
    };
    let group = json!({ "log_group_name": "/net", "iam_role_arn": role });
    let bucket = json!({ "log_destination_type": "s3", "log_destination": "arn:aws:s3:::logs" });
    let stream = json!({
        "log_destination_type": "kinesis-data-firehose",
        "log_destination": "arn:aws:firehose:eu-central-1:123456789012:deliverystream/logs", "iam_role_arn": role,
    });
    let options = |path: &'static str, before: Json, after: Json| {
        let input = path.rsplit('.').next().unwrap_or_default();
        let log = |value: Json| with(&bucket, &json!({ "destination_options": { input: value } }));
        (path, json!({ "flow_logs": { "x": log(before) } }), json!({ "flow_logs": { "x": log(after) } }))
    };
    vec![
        ("flow_logs", json!({ "flow_logs": {} }), json!({ "flow_logs": { "x": bucket } })),
        change("flow_logs.log_destination_type", &bucket, json!("s3"), json!("kinesis-data-firehose")),
        change("flow_logs.log_destination", &bucket, json!("arn:aws:s3:::a"), json!("arn:aws:s3:::b")),
        change("flow_logs.log_group_name", &group, json!("/a"), json!("/b")),
        change("flow_logs.retention_in_days", &group, json!(7), json!(30)),
        change("flow_logs.kms_key_id", &group, json!(null), json!("arn:aws:kms:eu-central-1:123456789012:key/a")),
        change("flow_logs.log_group_skip_destroy", &group, json!(true), json!(false)),
        change("flow_logs.iam_role_arn", &group, json!(role), json!("arn:aws:iam::123456789012:role/other")),
        change("flow_logs.traffic_type", &bucket, json!("ALL"), json!("REJECT")),
        change("flow_logs.max_aggregation_interval", &bucket, json!(600), json!(60)),
        change("flow_logs.log_format", &bucket, json!(null), json!("${srcaddr} ${dstaddr}")),
        change("flow_logs.destination_options", &bucket, json!(null), json!({ "file_format": "parquet" })),
        options("flow_logs.destination_options.file_format", json!("plain-text"), json!("parquet")),
        options("flow_logs.destination_options.hive_compatible_partitions", json!(false), json!(true)),
        options("flow_logs.destination_options.per_hour_partition", json!(false), json!(true)),
        change("flow_logs.deliver_cross_account_role", &stream, json!(null), json!(role)),
        change("flow_logs.tags", &group, json!({ "team": "app" }), json!({ "team": "net" })),
    ]
}

fn access() -> Vec<Example> {
    let acl = |more: Json| with(&json!({ "apply_default_nacl_rules": true }), &more);
    let rule = json!({
        "rule_no": 100, "action": "allow", "protocol": "tcp", "from_port": 443, "to_port": 443,
        "cidr_block": "0.0.0.0/0",
    });
    let icmp =
        with(&rule, &json!({ "protocol": "icmp", "from_port": 0, "to_port": 0, "icmp_type": 8, "icmp_code": -1 }));
    let mut examples = vec![
        ("apply_default_nacl_rules", json!({ "apply_default_nacl_rules": false }), acl(json!({}))),
        (
            "associate_default_nacl_to_subnets",
            acl(json!({ "associate_default_nacl_to_subnets": false })),
            acl(json!({ "associate_default_nacl_to_subnets": true })),
        ),
        (
            "enable_default_security_group",
            json!({ "enable_default_security_group": true }),
            json!({ "enable_default_security_group": false }),
        ),
        (
            "restrict_default_security_group",
            json!({ "restrict_default_security_group": false }),
            json!({ "restrict_default_security_group": true }),
        ),
    ];
    let changed = [
        ("action", &rule, json!({ "action": "deny" })),
        ("cidr_block", &rule, json!({ "cidr_block": "10.0.0.0/8" })),
        ("from_port", &rule, json!({ "from_port": 80 })),
        ("icmp_code", &icmp, json!({ "icmp_code": 0 })),
        ("icmp_type", &icmp, json!({ "icmp_type": 0 })),
        ("ipv6_cidr_block", &rule, json!({ "cidr_block": null, "ipv6_cidr_block": "::/0" })),
        ("protocol", &rule, json!({ "protocol": "udp" })),
        ("rule_no", &rule, json!({ "rule_no": 90 })),
        ("to_port", &rule, json!({ "to_port": 444 })),
    ];
    for rules in ["default_nacl_ingress_rules", "default_nacl_egress_rules"] {
        let one = |rule: &Json| acl(json!({ rules: { "Https": rule } }));
        examples.push((path_of(rules, ""), acl(json!({ rules: {} })), one(&rule)));
        for (member, from, more) in &changed {
            examples.push((path_of(rules, member), one(from), one(&with(from, more))));
        }
    }
    let rule = json!({ "protocol": "tcp", "from_port": 443, "to_port": 443, "cidr_blocks": ["10.0.0.0/8"] });
    let changed = [
        ("cidr_blocks", json!({ "cidr_blocks": ["10.0.0.0/9"] })),
        ("description", json!({ "description": "shell" })),
        ("from_port", json!({ "from_port": 80 })),
        ("ipv6_cidr_blocks", json!({ "ipv6_cidr_blocks": ["::/0"] })),
        ("prefix_list_ids", json!({ "prefix_list_ids": ["pl-0123456789abcdef0"] })),
        ("protocol", json!({ "protocol": "udp" })),
        ("security_groups", json!({ "security_groups": ["sg-0123456789abcdef0"] })),
        ("self", json!({ "self": true })),
        ("to_port", json!({ "to_port": 444 })),
    ];
    for rules in ["default_security_group_ingress_rules", "default_security_group_egress_rules"] {
        let one = |rule: &Json| json!({ rules: { "Https": rule } });
        examples.push((path_of(rules, ""), json!({}), one(&rule)));
        for (member, more) in &changed {
            examples.push((path_of(rules, member), one(&rule), one(&with(&rule, more))));
        }
    }
    examples
}

/// The path of a member, leaked so that it lives for the rest of the test.
fn path_of(attribute: &str, member: &str) -> &'static str {
    if member.is_empty() { attribute.to_owned().leak() } else { format!("{attribute}.{member}").leak() }
}

fn others() -> Vec<Example> {
    let plain = |name: &'static str, before: Json, after: Json| (name, json!({ name: before }), json!({ name: after }));
    let tags = [
        "custom_tags",
        "vpc_custom_tags",
        "nat_gateway_custom_tags",
        "public_subnet_custom_tags",
        "private_app_subnet_custom_tags",
        "private_persistence_subnet_custom_tags",
        "transit_subnet_custom_tags",
        "public_route_table_custom_tags",
        "private_app_route_table_custom_tags",
        "private_persistence_route_table_custom_tags",
        "transit_route_table_custom_tags",
        "security_group_tags",
    ];
    let mut examples = from_nothing(&tags, &json!({ "Team": "web" }));
    examples.extend(tags.map(|map| plain(map, json!({ "Team": "shop" }), json!({ "Team": "web" }))));
    examples.extend(from_nothing(&["name_tags"], &json!({ "subnet.public.0": "dmz" })));
    examples.push(plain("name_tags", json!({ "subnet.public.0": "front" }), json!({ "subnet.public.0": "dmz" })));
    examples.extend(from_nothing(&["objectstore_endpoint_policy", "keyvalue_endpoint_policy"], &json!("{}")));
    examples.extend(from_nothing(
        &[
            "public_propagating_vgws",
            "private_propagating_vgws",
            "persistence_propagating_vgws",
            "transit_propagating_vgws",
        ],
        &json!(["vgw-0123456789abcdef0"]),
    ));
    examples.extend([
        plain("route_table_creation_timeout", json!("5m"), json!("7m")),
        plain("route_table_deletion_timeout", json!("5m"), json!("7m")),
        plain("route_table_update_timeout", json!("2m"), json!("7m")),
        plain("adopt", json!(null), json!({ "vpc": "vpc-0123456789abcdef0" })),
        plain("ignore_drift", json!(null), json!(["subnet.*"])),
        plain("protected_objects", json!(null), json!(["subnet.*"])),
    ]);
    examples.extend(timeouts());
    examples
}

fn examples() -> Vec<Example> {
    [switches(), addresses(), ipv6(), access(), flow_logs(), others()].concat()
}

#[test]
fn changes_of_network_inputs_have_the_documented_effect() {
    assert_effects::<FourTierVpc>(&basis(), facts, examples());
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
    ("the block of one subnet is drift of the subnet", &["ipv6_subnet_bits", "public_subnet_ipv6_cidr_blocks"]),
    ("AWS does not delete these objects alone", &["apply_default_nacl_rules", "enable_default_security_group"]),
    ("AWS does not return it", &["flow_logs.log_group_skip_destroy"]),
    ("it acts once, when it is set", &["associate_default_nacl_to_subnets"]),
];

#[test]
fn network_inputs_are_read_back_from_objects() {
    assert_way_back::<FourTierVpc>(&basis(), facts, &examples(), [NOT_IMPORTED, NOT_REFLECTED]);
}
