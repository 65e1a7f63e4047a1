//! Values of every input of a network, for generators of configurations.

use crate::plugin::Value;
use crate::topology::settings::{Setting, entry, tags, together, values};

/// A Region with its AZs, of which the network has some.
pub(crate) struct Place {
    pub(crate) region: &'static str,
    /// The IDs and names of two of the AZs, and of one not to use.
    pub(crate) zone_ids: [&'static str; 3],
    pub(crate) zone_names: [&'static str; 3],
}

/// The inputs that no setting below sets, each with the reason.
pub(crate) const EXCEPT: [(&str, &str); 3] = [
    ("adopt", "the adoption tests draw it, with the objects that it names"),
    ("ignore_drift", "the tests of ignored drift draw it"),
    ("protected_objects", "what they protect can neither be changed nor destroyed"),
];

const POLICIES: [&str; 2] = [
    r#"{"Statement":[{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"}]}"#,
    r#"{"Statement":[{"Effect":"Deny","Principal":"*","Action":"s3:PutObject","Resource":"*"}]}"#,
];

fn nacl_rule(pairs: &[(&'static str, Value)]) -> Value {
    let basis = [
        ("action", Value::from("allow")),
        ("cidr_block", "10.0.0.0/8".into()),
        ("protocol", "tcp".into()),
        ("rule_no", 200_i64.into()),
        ("from_port", 443_i64.into()),
        ("to_port", 444_i64.into()),
    ];
    entry("one", Value::map(basis.into_iter().chain(pairs.iter().cloned())))
}

fn nacl_rules(path: &'static str) -> Setting {
    let icmp = |kind: i64| {
        let icmp = [("protocol", "icmp"), ("action", "DENY")].map(|(name, value)| (name, Value::from(value)));
        let numbers = [("from_port", 0), ("to_port", 0), ("icmp_type", kind), ("icmp_code", kind)];
        let numbers = numbers.map(|(name, value)| (name, Value::from(value)));
        nacl_rule(&[icmp.as_slice(), &numbers].concat())
    };
    let ipv6 = nacl_rule(&[("cidr_block", Value::Null), ("ipv6_cidr_block", "2001:db8::/32".into())]);
    values(path, [nacl_rule(&[]), icmp(-1), icmp(0), ipv6, Value::map::<&str>([])])
}

fn group_rules(path: &'static str) -> Setting {
    let rule = |pairs: &[(&'static str, Value)]| {
        let ports = [("protocol", Value::from("tcp")), ("from_port", 80_i64.into()), ("to_port", 81_i64.into())];
        entry("one", Value::map(ports.into_iter().chain(pairs.iter().cloned())))
    };
    let list = |item: &str| Value::from(vec![item]);
    let icmp = [("protocol", "icmp".into()), ("from_port", (-1_i64).into()), ("to_port", (-1_i64).into())];
    let from = ("cidr_blocks", list("10.0.0.0/8"));
    values(
        path,
        [
            rule(&[from.clone(), ("description", "from within".into())]),
            rule(&[("ipv6_cidr_blocks", list("2001:db8::/32"))]),
            rule(&[("prefix_list_ids", list("pl-1")), ("security_groups", list("sg-1"))]),
            rule(&[("self", true.into())]),
            rule(&[icmp.as_slice(), &[from]].concat()),
            Value::map::<&str>([]),
        ],
    )
}

pub(crate) fn settings(place: &Place) -> Vec<Setting> {
    [vpc(place), subnets(), ipv6(), rules_and_tags(), flow_logs(place), endpoints(place), handling()]
        .into_iter()
        .flatten()
        .collect()
}

fn vpc(place: &Place) -> Vec<Setting> {
    let [ids, names] = [place.zone_ids, place.zone_names];
    let gateways = |name| values(name, [vec!["vgw-1"].into(), vec!["vgw-2", "vgw-1"].into()]);
    vec![
        values("cidr_block", ["10.9.0.0/16".into()]),
        values("vpc_name", ["main".into(), "renamed".into()]),
        values("num_availability_zones", [Value::Null]),
        values("availability_zone_ids", [ids[..2].to_vec().into(), ids[..1].to_vec().into()]),
        values("availability_zone_names", [names[..2].to_vec().into(), names[..1].to_vec().into()]),
        values("availability_zone_exclude_ids", [ids[2..].to_vec().into()]),
        values("availability_zone_exclude_names", [names[2..].to_vec().into()]),
        values("availability_zone_state", ["available".into()]),
        values("cloud_region", ["elsewhere".into()]),
        values("allow_transit_internet_access", [true.into()]),
        together([
            ("use_custom_nat_eips", true.into()),
            ("num_nat_gateways", 1_i64.into()),
            ("custom_nat_eips", vec!["eipalloc-1"].into()),
        ]),
        values("tenancy", ["dedicated".into()]),
        values("enable_dns_support", [false.into()]),
        values("enable_network_address_usage_metrics", [true.into()]),
        together([
            ("cidr_block", Value::Null),
            ("ipv4_ipam_pool_id", "ipam-pool-1".into()),
            ("ipv4_netmask_length", 16_i64.into()),
        ]),
        gateways("public_propagating_vgws"),
        gateways("private_propagating_vgws"),
        gateways("persistence_propagating_vgws"),
        gateways("transit_propagating_vgws"),
    ]
}

fn subnets() -> Vec<Setting> {
    let number = |name, numbers: [i64; 2]| values(name, numbers.map(Value::from));
    let block = |name, block: &str| values(name, [entry("AZ-0", block)]);
    vec![
        number("public_subnet_bits", [4, 6]),
        number("persistence_subnet_bits", [4, 6]),
        number("transit_subnet_bits", [6, 8]),
        number("subnet_spacing", [9, 12]),
        number("global_subnet_spacing", [7, 8]),
        number("private_subnet_spacing", [8, 11]),
        number("persistence_subnet_spacing", [18, 20]),
        number("transit_subnet_spacing", [24, 26]),
        block("private_app_subnet_cidr_blocks", "10.0.251.0/24"),
        block("private_persistence_subnet_cidr_blocks", "10.0.252.0/24"),
        block("transit_subnet_cidr_blocks", "10.0.253.0/24"),
    ]
}

fn ipv6() -> Vec<Setting> {
    let block = |name, block: &str| values(name, [entry("AZ-0", block)]);
    let of_pool = |name, value| {
        together([
            ("enable_ipv6", true.into()),
            ("assign_generated_ipv6_cidr_block", Value::Null),
            ("ipv6_ipam_pool_id", "ipam-pool-6".into()),
            (name, value),
        ])
    };
    vec![
        of_pool("ipv6_cidr_block", "2001:db8:1234::/56".into()),
        of_pool("ipv6_netmask_length", 56_i64.into()),
        values("ipv6_cidr_block_network_border_group", ["border-1".into()]),
        block("public_subnet_ipv6_cidr_blocks", "2001:db8:1234:30::/64"),
        block("private_app_subnet_ipv6_cidr_blocks", "2001:db8:1234:70::/64"),
        block("private_persistence_subnet_ipv6_cidr_blocks", "2001:db8:1234:b0::/64"),
        block("transit_subnet_ipv6_cidr_blocks", "2001:db8:1234:f0::/64"),
    ]
}

fn rules_and_tags() -> Vec<Setting> {
    let maps = [
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
    let own = vec![
        values("restrict_default_security_group", [true.into()]),
        nacl_rules("default_nacl_ingress_rules"),
        nacl_rules("default_nacl_egress_rules"),
        group_rules("default_security_group_ingress_rules"),
        group_rules("default_security_group_egress_rules"),
        values("objectstore_endpoint_policy", POLICIES.map(Value::from)),
        values("keyvalue_endpoint_policy", POLICIES.map(Value::from)),
    ];
    maps.into_iter().map(|name| values(name, tags())).chain(own).collect()
}

fn flow_logs(place: &Place) -> Vec<Setting> {
    let role = |name: &str| Value::from(format!("arn:aws:iam::123456789012:role/{name}"));
    let key = |id: &str| Value::from(format!("arn:aws:kms:{}:123456789012:key/{id}", place.region));
    let to_group = |pairs: &[(&'static str, Value)]| {
        let log = [("log_group_name", Value::from("/net/a")), ("iam_role_arn", role("flow"))];
        entry("a", Value::map(log.into_iter().chain(pairs.iter().cloned())))
    };
    let stream = format!("arn:aws:firehose:{}:123456789012:deliverystream/sink", place.region);
    let to_stream = |pairs: &[(&'static str, Value)]| {
        let kind = ("log_destination_type", Value::from("kinesis-data-firehose"));
        let to = [kind, ("log_destination", stream.clone().into())];
        entry("stream", Value::map(to.into_iter().chain(pairs.iter().cloned())))
    };
    let across = [("iam_role_arn", role("deliver")), ("deliver_cross_account_role", role("receive"))];
    let options = |hive: bool, hour: bool| {
        let names = [("file_format", Value::from("parquet")), ("hive_compatible_partitions", hive.into())];
        Value::map(names.into_iter().chain([("per_hour_partition", hour.into())]))
    };
    vec![
        values(
            "flow_logs",
            [
                to_group(&[]),
                to_group(&[("retention_in_days", 7_i64.into()), ("log_group_skip_destroy", false.into())]),
                to_stream(&[]),
                to_stream(&across),
            ],
        ),
        values("flow_logs.*.log_group_skip_destroy", [true.into(), false.into(), Value::Null]),
        values("flow_logs.*.log_group_name", ["/net/a".into(), "/net/shared".into()]),
        values("flow_logs.*.retention_in_days", [7_i64.into(), 0_i64.into()]),
        values(
            "flow_logs.*.kms_key_id",
            ["1234abcd-12ab-34cd-56ef-1234567890ab", "9876abcd-12ab-34cd-56ef-1234567890ab"].map(key),
        ),
        values("flow_logs.*.iam_role_arn", ["flow", "other"].map(role)),
        values("flow_logs.*.traffic_type", ["ACCEPT".into(), "REJECT".into()]),
        values("flow_logs.*.max_aggregation_interval", [60_i64.into(), 600_i64.into()]),
        values("flow_logs.*.log_format", ["${srcaddr}".into(), "${srcaddr} ${dstaddr}".into()]),
        values("flow_logs.*.destination_options", [options(true, false), options(false, true)]),
        values("flow_logs.*.destination_options", [entry("file_format", "plain-text")]),
        values("flow_logs.*.tags", tags()),
    ]
}

fn endpoints(place: &Place) -> Vec<Setting> {
    let service = |id: &str| format!("com.amazonaws.vpce.{}.vpce-svc-{id}", place.region);
    let of_others = |pairs: &[(&'static str, Value)]| {
        let named = [("service_name", Value::from(service("1"))), ("private_dns_enabled", false.into())];
        entry("others", Value::map(named.into_iter().chain(pairs.iter().cloned())))
    };
    let of_aws = |pairs: &[(&'static str, Value)]| entry("kms", Value::map(pairs.iter().cloned()));
    let zones = place.zone_names;
    vec![
        values(
            "interface_endpoints",
            [
                of_aws(&[]),
                of_aws(&[("service", "kms".into()), ("ip_address_type", "dualstack".into())]),
                of_others(&[]),
                of_others(&[("service_region", "eu-west-1".into())]),
                entry("s3", Value::map([("private_dns_only_for_inbound_resolver_endpoint", false.into())])),
            ],
        ),
        values("interface_endpoints.*.service", ["kms".into(), "ecr.api".into()]),
        values("interface_endpoints.*.subnet_tier", ["private_app", "public", "transit"].map(Value::from)),
        values("interface_endpoints.*.availability_zones", [zones[..1].to_vec().into(), zones[..2].to_vec().into()]),
        values("interface_endpoints.*.private_dns_enabled", [true.into(), false.into(), Value::Null]),
        values("interface_endpoints.*.private_dns_only_for_inbound_resolver_endpoint", [false.into(), true.into()]),
        values("interface_endpoints.*.security_group_ids", [vec!["sg-1"].into(), vec!["sg-1", "sg-2"].into()]),
        values("interface_endpoints.*.allowed_ports", [Value::List(vec![80_i64.into(), 443_i64.into()])]),
        values("interface_endpoints.*.allowed_cidr_blocks", [vec!["192.168.0.0/16"].into()]),
        values("interface_endpoints.*.ip_address_type", ["ipv4", "dualstack"].map(Value::from)),
        values("interface_endpoints.*.dns_record_ip_type", ["ipv4", "dualstack", "ipv6"].map(Value::from)),
        values("interface_endpoints.*.policy", POLICIES.map(Value::from)),
        values("interface_endpoints.*.tags", tags()),
    ]
}

fn handling() -> Vec<Setting> {
    let texts = |name, texts: [&str; 2]| values(name, texts.map(Value::from));
    let times = |time: &str| Value::map(["create", "read", "update", "delete"].map(|name| (name, Value::from(time))));
    vec![
        texts("route_table_creation_timeout", ["6m", "1h"]),
        texts("route_table_deletion_timeout", ["6m", "1h"]),
        texts("route_table_update_timeout", ["6m", "1h"]),
        values("delete_guardduty_resources", [true.into()]),
        values("allow_duplicate_name", [true.into()]),
        values("timeouts", [times("45m"), times("2h")]),
    ]
}
