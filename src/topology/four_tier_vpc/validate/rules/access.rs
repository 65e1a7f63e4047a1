//! The rules for the rules of the default network ACL and the default security group.

use serde_json::json;

use super::{Json, Rule, UNKNOWN, with};

pub(super) fn network_acl_rules() -> Vec<Rule> {
    let acl = |more: Json| {
        let rule = json!({
            "action": "allow", "protocol": "-1", "rule_no": 100, "from_port": 0, "to_port": 0,
            "cidr_block": "0.0.0.0/0",
        });
        json!({"default_nacl_ingress_rules": {"r": with(rule, more)}})
    };
    let two = |number: i64| {
        let rule = |number: i64| acl(json!({"rule_no": number}))["default_nacl_ingress_rules"]["r"].clone();
        json!({"default_nacl_egress_rules": {"a": rule(100), "b": rule(number)}})
    };
    vec![
        (
            "an ACL's rule allows or denies",
            acl(json!({"action": "drop"})),
            &["default_nacl_ingress_rules[\"r\"].action"],
            &["drop", "allow or deny"],
            acl(json!({"action": "Deny"})),
        ),
        (
            "an ACL's rule has a known protocol",
            acl(json!({"protocol": "http"})),
            &["default_nacl_ingress_rules[\"r\"].protocol"],
            &["http", "tcp"],
            acl(json!({"protocol": "50"})),
        ),
        (
            "an ACL's rule for all protocols has no ports",
            acl(json!({"from_port": 80, "to_port": 80})),
            &["default_nacl_ingress_rules[\"r\"].from_port"],
            &["80 to 80", "to 0"],
            acl(json!({"protocol": "tcp", "from_port": 80, "to_port": 80})),
        ),
        (
            "an ACL's ports are a range",
            acl(json!({"protocol": "udp", "from_port": 81, "to_port": 80})),
            &["default_nacl_ingress_rules[\"r\"].from_port"],
            &["81 to 80"],
            acl(json!({"protocol": "17", "from_port": 80, "to_port": 81})),
        ),
        (
            "an ACL's ports are at most 65535",
            acl(json!({"protocol": "tcp", "from_port": 80, "to_port": 65536})),
            &["default_nacl_ingress_rules[\"r\"].to_port"],
            &["65536"],
            acl(json!({"protocol": "tcp", "from_port": 80, "to_port": 65535})),
        ),
        (
            "an ACL's rule has only one range",
            acl(json!({"ipv6_cidr_block": "::/0"})),
            &["default_nacl_ingress_rules[\"r\"]"],
            &["0.0.0.0/0", "::/0"],
            acl(json!({"cidr_block": null, "ipv6_cidr_block": "::/0"})),
        ),
        (
            "an ACL's rule has a range",
            acl(json!({"cidr_block": null})),
            &["default_nacl_ingress_rules[\"r\"]"],
            &["cidr_block or ipv6_cidr_block"],
            acl(json!({"cidr_block": "10.0.0.0/8"})),
        ),
        (
            "an ACL's range has no host bits",
            acl(json!({"cidr_block": "10.0.0.1/8"})),
            &["default_nacl_ingress_rules[\"r\"].cidr_block"],
            &["10.0.0.1/8 has host bits", "Use 10.0.0.0/8."],
            acl(json!({"cidr_block": "10.0.0.1/32"})),
        ),
        (
            "an ACL's IPv6 range has no host bits",
            acl(json!({"cidr_block": null, "ipv6_cidr_block": "2001:db8::1/32"})),
            &["default_nacl_ingress_rules[\"r\"].ipv6_cidr_block"],
            &["2001:db8::1/32 has host bits", "Use 2001:db8::/32."],
            acl(json!({"cidr_block": null, "ipv6_cidr_block": "2001:db8::1/128"})),
        ),
        (
            "an ACL's IPv6 range is IPv6",
            acl(json!({"cidr_block": null, "ipv6_cidr_block": "0.0.0.0/0"})),
            &["default_nacl_ingress_rules[\"r\"].ipv6_cidr_block"],
            &["0.0.0.0/0", "::/0"],
            acl(json!({"cidr_block": null, "ipv6_cidr_block": "2001:db8::/32"})),
        ),
        (
            "an ACL's rules have unique numbers",
            two(100),
            &["default_nacl_egress_rules[\"b\"].rule_no"],
            &["\"a\"", "100"],
            two(101),
        ),
        (
            "an ACL's numbers are below those of AWS",
            acl(json!({"rule_no": 32767})),
            &["default_nacl_ingress_rules[\"r\"].rule_no"],
            &["32767", "32766"],
            acl(json!({"rule_no": 32766})),
        ),
        (
            "an ACL's rule for ICMP has a type and code",
            acl(json!({"protocol": "icmp"})),
            &["default_nacl_ingress_rules[\"r\"].icmp_type"],
            &["icmp_code"],
            acl(json!({"protocol": "icmp", "icmp_type": -1, "icmp_code": -1})),
        ),
        (
            "an ICMP type is at most 255",
            acl(json!({"protocol": "1", "icmp_type": 256, "icmp_code": 0})),
            &["default_nacl_ingress_rules[\"r\"].icmp_type"],
            &["256", "-1 to 255"],
            acl(json!({"protocol": "1", "icmp_type": 8, "icmp_code": 0})),
        ),
        (
            "all ICMP types require all codes",
            acl(json!({"protocol": "icmp", "icmp_type": -1, "icmp_code": 3})),
            &["default_nacl_ingress_rules[\"r\"].icmp_code"],
            &["3", "-1"],
            acl(json!({"protocol": "icmp", "icmp_type": 3, "icmp_code": -1})),
        ),
        (
            "AWS ignores the ICMPv6 type of an IPv4 range",
            acl(json!({"protocol": "icmpv6", "icmp_type": 128, "icmp_code": 0})),
            &["default_nacl_ingress_rules[\"r\"].icmp_type"],
            &["icmpv6", "ipv6_cidr_block"],
            acl(json!({"protocol": "58", "icmp_type": -1, "icmp_code": -1})),
        ),
        (
            "a rule for TCP has no ICMP type",
            acl(json!({"protocol": "tcp", "icmp_type": 8})),
            &["default_nacl_ingress_rules[\"r\"].icmp_type"],
            &["tcp"],
            acl(json!({"protocol": "icmpv6"})),
        ),
    ]
}

pub(super) fn security_group_rules() -> Vec<Rule> {
    let group = |more: Json| {
        let rule = json!({"protocol": "tcp", "from_port": 80, "to_port": 80, "cidr_blocks": ["0.0.0.0/0"]});
        json!({"default_security_group_egress_rules": {"r": with(rule, more)}})
    };
    vec![
        (
            "a group's rule has a source",
            group(json!({"cidr_blocks": []})),
            &["default_security_group_egress_rules[\"r\"]"],
            &["self"],
            group(json!({"cidr_blocks": [], "self": true})),
        ),
        (
            "a group's ports are a range",
            group(json!({"from_port": 81})),
            &["default_security_group_egress_rules[\"r\"].from_port"],
            &["81 to 80"],
            group(json!({"from_port": 79})),
        ),
        (
            "a group's rule for a protocol without ports has none",
            group(json!({"protocol": "50"})),
            &["default_security_group_egress_rules[\"r\"].from_port"],
            &["50", "80 to 80"],
            group(json!({"protocol": "50", "from_port": 0, "to_port": 0})),
        ),
        (
            "a group's account has twelve digits",
            group(json!({"security_groups": ["1234/sg-0123456789abcdef0"]})),
            &["default_security_group_egress_rules[\"r\"].security_groups[0]"],
            &["1234/sg-0123456789abcdef0"],
            group(json!({"security_groups": ["123456789012/sg-0123456789abcdef0"]})),
        ),
        (
            "a group's rule for all protocols has no ports",
            group(json!({"protocol": "-1"})),
            &["default_security_group_egress_rules[\"r\"].from_port"],
            &["80 to 80"],
            group(json!({"protocol": "-1", "from_port": 0, "to_port": 0})),
        ),
        (
            "a group's rule has a known protocol",
            group(json!({"protocol": "http"})),
            &["default_security_group_egress_rules[\"r\"].protocol"],
            &["http", "tcp"],
            group(json!({"protocol": "50", "from_port": 0, "to_port": 0})),
        ),
        (
            "a group's ICMP type is at most 255",
            group(json!({"protocol": "icmp", "from_port": 300, "to_port": 0})),
            &["default_security_group_egress_rules[\"r\"].from_port"],
            &["300"],
            group(json!({"protocol": "icmp", "from_port": 8, "to_port": 0})),
        ),
        (
            "a group's range has no host bits",
            group(json!({"cidr_blocks": ["10.0.0.0/8", "10.0.0.1/8"]})),
            &["default_security_group_egress_rules[\"r\"].cidr_blocks[1]"],
            &["10.0.0.1/8 has host bits", "Use 10.0.0.0/8."],
            group(json!({"cidr_blocks": ["10.0.0.0/8"]})),
        ),
        (
            "a group's IPv6 range is IPv6",
            group(json!({"ipv6_cidr_blocks": ["0.0.0.0/0"]})),
            &["default_security_group_egress_rules[\"r\"].ipv6_cidr_blocks[0]"],
            &["0.0.0.0/0", "::/0"],
            group(json!({"ipv6_cidr_blocks": ["::/0"]})),
        ),
        (
            "a group's prefix list has the ID of a prefix list",
            group(json!({"prefix_list_ids": ["list"]})),
            &["default_security_group_egress_rules[\"r\"].prefix_list_ids[0]"],
            &["list", "pl-"],
            group(json!({"prefix_list_ids": ["pl-1"]})),
        ),
        (
            "a group's other group has the ID of a group",
            group(json!({"security_groups": ["web"]})),
            &["default_security_group_egress_rules[\"r\"].security_groups[0]"],
            &["web", "sg-"],
            group(json!({"security_groups": ["sg-1"]})),
        ),
        (
            "a group's description is short",
            group(json!({"description": "x".repeat(256)})),
            &["default_security_group_egress_rules[\"r\"].description"],
            &["256", "255"],
            group(json!({"description": "x".repeat(255)})),
        ),
        (
            "a group's description has only characters that AWS allows",
            group(json!({"description": "web -> db"})),
            &["default_security_group_egress_rules[\"r\"].description"],
            &["\"web -> db\"", "'>'"],
            group(json!({"description": "aZ9 ._-:/()#,@[]+=&;{}!$*"})),
        ),
        (
            "a group's description has no letters outside ASCII",
            group(json!({"description": "B\u{fc}ro"})),
            &["default_security_group_egress_rules[\"r\"].description"],
            &["'\u{fc}'"],
            group(json!({"description": null})),
        ),
    ]
}

pub(super) fn restricted_group() -> Vec<Rule> {
    let with_switch = |on: Json| json!({"restrict_default_security_group": true, "enable_default_security_group": on});
    vec![(
        "only a managed default group is restricted",
        with_switch(json!(false)),
        &["restrict_default_security_group"],
        &["is true", "enable_default_security_group is false"],
        with_switch(json!(true)),
    )]
}

pub(super) fn repeated_permissions() -> Vec<Rule> {
    let rule = |more: Json| {
        let rule = json!({"protocol": "tcp", "from_port": 443, "to_port": 443, "cidr_blocks": ["10.0.0.0/8"]});
        with(rule, more)
    };
    let two = |first: Json, second: Json| json!({"default_security_group_ingress_rules": {"a": first, "b": second}});
    let described = |text: &str| json!({"description": text});
    vec![
        (
            "one permission has one description",
            two(rule(described("office")), rule(described("vpn"))),
            &["default_security_group_ingress_rules[\"b\"]"],
            &["\"a\" and \"b\"", "tcp 443 from 10.0.0.0/8", "\"office\" and \"vpn\""],
            two(rule(described("office")), rule(described("office"))),
        ),
        (
            "a permission is one with its protocol as a number and another form of its range",
            two(
                rule(with(described("office"), json!({"cidr_blocks": [], "ipv6_cidr_blocks": ["2001:db8:0::/48"]}))),
                rule(json!({"protocol": "6", "cidr_blocks": [], "ipv6_cidr_blocks": ["2001:DB8::/48"]})),
            ),
            &["default_security_group_ingress_rules[\"b\"]"],
            &["tcp 443 from 2001:db8::/48", "\"office\" and none"],
            two(rule(json!({"description": ""})), rule(json!({"protocol": "6"}))),
        ),
        (
            "one range of several lists has one description",
            two(
                rule(with(described("office"), json!({"cidr_blocks": ["10.0.0.0/8", "192.0.2.0/24"]}))),
                rule(with(described("vpn"), json!({"cidr_blocks": ["198.51.100.0/24", "192.0.2.0/24"]}))),
            ),
            &["default_security_group_ingress_rules[\"b\"]"],
            &["192.0.2.0/24"],
            two(
                rule(with(described("office"), json!({"cidr_blocks": ["10.0.0.0/8", "10.0.0.0/8"]}))),
                rule(with(described("vpn"), json!({"cidr_blocks": ["198.51.100.0/24"], "to_port": 444}))),
            ),
        ),
        (
            "a group is one with and without its account",
            two(
                rule(with(described("x"), json!({"cidr_blocks": [], "security_groups": ["123456789012/sg-1"]}))),
                rule(with(described("y"), json!({"cidr_blocks": [], "security_groups": ["sg-1"]}))),
            ),
            &["default_security_group_ingress_rules[\"b\"]"],
            &["sg-1"],
            two(
                rule(json!({"cidr_blocks": [], "security_groups": ["123456789012/sg-1"]})),
                rule(json!({"cidr_blocks": [], "security_groups": ["sg-1"]})),
            ),
        ),
        (
            "two rules for the group itself have one description",
            two(
                rule(with(described("x"), json!({"cidr_blocks": [], "self": true}))),
                rule(with(described("y"), json!({"cidr_blocks": [UNKNOWN], "self": true}))),
            ),
            &["default_security_group_ingress_rules[\"b\"]"],
            &["itself"],
            two(rule(described("x")), rule(with(described("y"), json!({"cidr_blocks": [UNKNOWN]})))),
        ),
        (
            "an unknown description is no other description",
            two(rule(described("office")), rule(with(described("vpn"), json!({"protocol": "all", "from_port": 1})))),
            &["default_security_group_ingress_rules[\"b\"].from_port"],
            &["all ports"],
            two(rule(described("office")), rule(described(UNKNOWN))),
        ),
    ]
}
