//! The rules of the default network ACL and the default security group, and their default values.

use super::{Strings, empty_list};
use crate::plugin::{Check, Input, Value};
use crate::topology::NOT_YET_RUN;

crate::attributes! {
    /// A rule of the default network ACL.
    pub struct NaclRule: Encode {
        /// Action of the rule: `allow` or `deny`, in upper or lower case.
        action: Input<String> = required().in_place(),
        /// IPv4 CIDR block. Each rule requires either `cidr_block` or `ipv6_cidr_block`.
        cidr_block: Input<Option<String>> = optional().in_place(),
        /// First port. Must be 0 for protocols other than tcp and udp.
        from_port: Input<i64> = required().check(Check::between(0, 65535)).in_place(),
        /// ICMP code; -1 means all. Required for icmp, and for icmpv6 with `ipv6_cidr_block`.
        icmp_code: Input<Option<i64>> = optional().in_place().remark(NOT_YET_RUN),
        /// ICMP type; -1 means all. Required for icmp, and for icmpv6 with `ipv6_cidr_block`.
        icmp_type: Input<Option<i64>> = optional().in_place().remark(NOT_YET_RUN),
        /// IPv6 CIDR block. Each rule requires either `cidr_block` or `ipv6_cidr_block`.
        ipv6_cidr_block: Input<Option<String>> = optional().in_place(),
        /// Name or number of the protocol, such as `tcp` or `6`. `-1` means all protocols.
        protocol: Input<String> = required().in_place(),
        /// Number of the rule, from 1 to 32766. Rules are evaluated in ascending order.
        rule_no: Input<i64> = required().check(Check::between(1, 32766)).in_place(),
        /// Last port. Must be 0 for protocols other than tcp and udp.
        to_port: Input<i64> = required().check(Check::between(0, 65535)).in_place(),
    }
}

crate::attributes! {
    /// A rule of the default security group.
    pub struct SecurityGroupRule: Encode {
        /// IPv4 CIDR blocks.
        cidr_blocks: Strings = default(empty_list()).in_place(),
        /// Description of the rule: at most 255 letters, digits, spaces, and the characters
        /// `. _ - : / ( ) # , @ [ ] + = & ; { } ! $ *`. Rules that allow the same traffic need the same description.
        description: Input<Option<String>> = optional().in_place(),
        /// First port. For icmp and icmpv6, the ICMP type, where -1 means all. Must be 0 for protocols other than tcp,
        /// udp, icmp and icmpv6.
        from_port: Input<i64> = required().check(Check::between(-1, 65535)).in_place(),
        /// IPv6 CIDR blocks.
        ipv6_cidr_blocks: Strings = default(empty_list()).in_place(),
        /// IDs of prefix lists.
        prefix_list_ids: Strings = default(empty_list()).in_place(),
        /// Protocol: `tcp`, `udp`, `icmp`, `icmpv6`, or a protocol number. `-1` and `all` mean all protocols.
        protocol: Input<String> = required().in_place(),
        /// IDs of other security groups. For a group in a peered VPC of another account: `<account ID>/<group ID>`.
        security_groups: Strings = default(empty_list()).in_place(),
        /// Whether to allow the security group itself as a source or destination.
        self_: Input<bool> = default(false).in_place(),
        /// Last port. For icmp and icmpv6, the ICMP code, where -1 means all. Must be 0 for protocols other than tcp,
        /// udp, icmp and icmpv6.
        to_port: Input<i64> = required().check(Check::between(-1, 65535)).in_place(),
    }
}

/// AWS's own rules: all traffic is allowed.
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

/// AWS's own rule: members of the group can reach each other.
pub(super) fn default_ingress_rules() -> Value {
    let rule =
        [("self", true.into()), ("from_port", 0_i64.into()), ("protocol", "-1".into()), ("to_port", 0_i64.into())];
    Value::map([("AllowAllFromSelf", Value::map(rule))])
}

/// AWS's own rules for IPv4 and IPv6: all outbound traffic is allowed.
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

/// The check of the tenancy. AWS allows `host` for an instance, but not for a VPC (API reference of CreateVpc).
pub(super) fn tenancy() -> Check {
    let rule = "one of default, dedicated";
    Check::new(rule, move |value| match value.as_str() {
        Some("host") => {
            Err("AWS rejects \"host\" for a VPC: \"The host tenancy option cannot be used with a VPC\". Use \
                             \"default\" and set the tenancy of the instances to \"host\", or use \"dedicated\"."
                .to_string())
        }
        Some(text) if !["default", "dedicated"].contains(&text) => Err(format!("{value} is not a tenancy.")),
        _ => Ok(()),
    })
}
