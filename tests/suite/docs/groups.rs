//! The groups of the arguments on a page that has many of them.

/// The number of arguments above which a page has groups.
pub(super) const LONG: usize = 60;

/// The groups in the order of the page, with parts of the names of their arguments. Each argument needs one. If a name
/// contains parts of several groups, the last group has it.
const GROUPS: [(&str, &[&str]); 12] = [
    ("Zones", &["availability_zone"]),
    ("Tiers", &["create_", "internet_access", "map_public_ip"]),
    ("Addresses", &["cidr_block", "subnet_bits", "spacing", "ipam", "netmask"]),
    ("NAT", &["nat_", "_nat"]),
    ("Route tables", &["route_table", "propagating_vgws"]),
    ("Endpoints", &["vpc_endpoint", "endpoint_policy"]),
    ("IPv6", &["ipv6", "egress_only"]),
    ("Default ACL and group", &["nacl", "security_group"]),
    ("Interface endpoints", &["interface_endpoints"]),
    ("Flow logs", &["flow_logs"]),
    ("Tags and names", &["tags"]),
    (
        "Behavior",
        &[
            "_timeout",
            "region",
            "tenancy",
            "enable_dns_",
            "network_address_usage_metrics",
            "delete_guardduty_resources",
            "allow_duplicate_name",
            "adopt",
            "ignore_drift",
            "protected_objects",
            "timeouts",
        ],
    ),
];

/// The position and the title of the group of an argument. Panics if no group has it.
pub(super) fn of(name: &str) -> (usize, &'static str) {
    find(name).unwrap_or_else(|| panic!("no group of {} has the argument {name}", file!()))
}

fn find(name: &str) -> Option<(usize, &'static str)> {
    let position = GROUPS.iter().rposition(|(_, parts)| parts.iter().any(|part| name.contains(part)))?;
    Some((position, GROUPS[position].0))
}

#[test]
fn an_argument_without_a_rule_has_no_group() {
    assert_eq!(find("tenancy").map(|(_, title)| title), Some("Behavior"));
    assert_eq!(find("enable_firewall"), None);
}
