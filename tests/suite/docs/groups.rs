//! The groups of the arguments on a page that has many of them.

/// The number of arguments above which a page has groups.
pub(super) const LONG: usize = 60;

pub(super) const TITLES: [&str; 10] = [
    "Zones",
    "Tiers",
    "Addresses",
    "NAT",
    "Route tables",
    "Endpoints",
    "IPv6",
    "Default ACL and group",
    "Tags and names",
    "Behavior",
];

/// Parts of names, most specific first, and the groups of the arguments that contain them.
const RULES: [(&str, &str); 21] = [
    ("_timeout", "Behavior"),
    ("tags", "Tags and names"),
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
    ("", "Behavior"),
];

/// The position in `TITLES` of the group of an argument.
pub(super) fn position(name: &str) -> usize {
    let (_, title) = RULES.iter().find(|(part, _)| name.contains(part)).expect("the last rule holds for all");
    TITLES.iter().position(|it| it == title).expect("each rule names a group")
}
