//! The rules of the default network ACL and the default security group, and what they are where nobody says.

use super::{Strings, empty_list};
use crate::plugin::{Check, Input, Value};

crate::attributes! {
    /// A rule of the default network ACL.
    pub struct NaclRule {
        /// `allow` or `deny`, in letters of any case.
        action: Input<String> = required().in_place(),
        /// IPv4 range; a rule has this or `ipv6_cidr_block`.
        cidr_block: Input<Option<String>> = optional().in_place(),
        /// First port; 0 with protocols other than tcp and udp.
        from_port: Input<i64> = required().check(Check::between(0, 65535)).in_place(),
        /// ICMP code; -1 means all. Required with icmp, and with icmpv6 for an IPv6 range.
        icmp_code: Input<Option<i64>> = optional().in_place(),
        /// ICMP type; -1 means all. Required with icmp, and with icmpv6 for an IPv6 range.
        icmp_type: Input<Option<i64>> = optional().in_place(),
        /// IPv6 range; a rule has this or `cidr_block`.
        ipv6_cidr_block: Input<Option<String>> = optional().in_place(),
        /// Name or number of the protocol, such as `tcp` or 6; -1 means all.
        protocol: Input<String> = required().in_place(),
        /// Place in the order of evaluation, from 1 to 32766.
        rule_no: Input<i64> = required().check(Check::between(1, 32766)).in_place(),
        /// Last port; 0 with protocols other than tcp and udp.
        to_port: Input<i64> = required().check(Check::between(0, 65535)).in_place(),
    }
}

crate::attributes! {
    /// A rule of the default security group.
    pub struct SecurityGroupRule {
        /// IPv4 ranges.
        cidr_blocks: Strings = default(empty_list()).in_place(),
        /// Free text of at most 255 characters.
        description: Input<Option<String>> = optional().in_place(),
        /// First port, or the ICMP type; 0 with protocol -1.
        from_port: Input<i64> = required().check(Check::between(-1, 65535)).in_place(),
        /// IPv6 ranges.
        ipv6_cidr_blocks: Strings = default(empty_list()).in_place(),
        /// Ids of prefix lists.
        prefix_list_ids: Strings = default(empty_list()).in_place(),
        /// `tcp`, `udp`, `icmp`, `icmpv6`, `all` or the protocol's number; -1 means all.
        protocol: Input<String> = required().in_place(),
        /// Ids of other security groups.
        security_groups: Strings = default(empty_list()).in_place(),
        /// Whether the group itself is a source or destination.
        self_: Input<bool> = default(false).in_place(),
        /// Last port, or the ICMP code; 0 with protocol -1.
        to_port: Input<i64> = required().check(Check::between(-1, 65535)).in_place(),
    }
}

/// Everything is allowed, as by the rules that AWS sets.
pub(super) fn default_nacl_rules() -> Value {
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

/// What has the group lets each other in.
pub(super) fn default_ingress_rules() -> Value {
    let rule =
        [("self", true.into()), ("from_port", 0_i64.into()), ("protocol", "-1".into()), ("to_port", 0_i64.into())];
    Value::map([("AllowAllFromSelf", Value::map(rule))])
}

/// Everything may go out.
pub(super) fn default_egress_rules() -> Value {
    let rule = [
        ("cidr_blocks", vec!["0.0.0.0/0"].into()),
        ("ipv6_cidr_blocks", vec!["::/0"].into()),
        ("from_port", 0_i64.into()),
        ("protocol", "-1".into()),
        ("to_port", 0_i64.into()),
    ];
    Value::map([("AllowAllOutbound", Value::map(rule))])
}
