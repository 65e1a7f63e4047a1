//! The groups of the arguments on a page that has many of them.

/// The number of arguments above which a page has groups.
pub(super) const LONG: usize = 60;

pub(super) const TITLES: [&str; 11] = [
    "Zones",
    "Tiers",
    "Addresses",
    "NAT",
    "Route tables",
    "Endpoints",
    "IPv6",
    "Default ACL and group",
    "Flow logs",
    "Tags and names",
    "Behavior",
];

/// Parts of names, most specific first, and the groups of the arguments that contain them. Each argument needs a rule.
const RULES: [(&str, &str); 31] = [
    ("_timeout", "Behavior"),
    ("tags", "Tags and names"),
    ("flow_logs", "Flow logs"),
    ("vpc_endpoint", "Endpoints"),
    ("endpoint_policy", "Endpoints"),
    ("ipv6", "IPv6"),
    ("availability_zone", "Zones"),
    ("nacl", "Default ACL and group"),
    ("security_group", "Default ACL and group"),
    ("route_table", "Route tables"),
    ("propagating_vgws", "Route tables"),
    ("nat_", "NAT"),
    ("_nat", "NAT"),
    ("cidr_block", "Addresses"),
    ("subnet_bits", "Addresses"),
    ("spacing", "Addresses"),
    ("ipam", "Addresses"),
    ("netmask", "Addresses"),
    ("create_", "Tiers"),
    ("internet_access", "Tiers"),
    ("map_public_ip", "Tiers"),
    ("region", "Behavior"),
    ("tenancy", "Behavior"),
    ("enable_dns_", "Behavior"),
    ("network_address_usage_metrics", "Behavior"),
    ("delete_guardduty_resources", "Behavior"),
    ("allow_duplicate_name", "Behavior"),
    ("adopt", "Behavior"),
    ("ignore_drift", "Behavior"),
    ("protected_objects", "Behavior"),
    ("timeouts", "Behavior"),
];

/// The position in `TITLES` of the group of an argument. Panics if no rule has one.
pub(super) fn position(name: &str) -> usize {
    let title = title(name).unwrap_or_else(|| panic!("no rule of {} has a group for the argument {name}", file!()));
    TITLES.iter().position(|it| *it == title).expect("each rule names a group")
}

fn title(name: &str) -> Option<&'static str> {
    RULES.iter().find(|(part, _)| name.contains(part)).map(|(_, title)| *title)
}

#[test]
fn an_argument_without_a_rule_has_no_group() {
    assert_eq!(title("tenancy"), Some("Behavior"));
    assert_eq!(title("enable_firewall"), None);
}
