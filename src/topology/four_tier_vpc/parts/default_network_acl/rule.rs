//! A rule of the default network ACL in the form of the configuration, its checks, and its conversion to the form of
//! AWS and back.

use std::collections::BTreeMap;

use crate::model::NetworkAclRule;
use crate::plugin::{AttributePath, Check, Input, Problem, Value};
use crate::topology::NOT_YET_RUN;
use crate::topology::four_tier_vpc::canonical;
use crate::topology::four_tier_vpc::parts::rule_maps::RuleEntry;
use crate::topology::four_tier_vpc::problems::Problems;

/// Names of protocols, with the numbers that AWS uses. ICMPv6 has two names.
const PROTOCOLS: [(&str, &str); 16] = [
    ("all", "-1"),
    ("icmp", "1"),
    ("igmp", "2"),
    ("ipencap", "4"),
    ("tcp", "6"),
    ("egp", "8"),
    ("udp", "17"),
    ("ipv6", "41"),
    ("gre", "47"),
    ("esp", "50"),
    ("ah", "51"),
    ("icmpv6", "58"),
    ("ipv6-icmp", "58"),
    ("ospf", "89"),
    ("vrrp", "112"),
    ("sctp", "132"),
];

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

impl NaclRule {
    /// AWS's own rules: all traffic is allowed.
    pub(in crate::topology::four_tier_vpc) fn defaults() -> Value {
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

    /// The entry for a rule.
    fn of(rule: &NetworkAclRule) -> NaclRule {
        let is_ipv6 = rule.cidr_block.contains(':');
        let range = |wanted: bool| Some(rule.cidr_block.clone()).filter(|_| is_ipv6 == wanted).into();
        let (from, to) = rule.ports.unwrap_or_default();
        NaclRule {
            action: if rule.allow { "allow" } else { "deny" }.to_string().into(),
            cidr_block: range(false),
            from_port: from.into(),
            icmp_code: rule.icmp.map(|(_, code)| code).into(),
            icmp_type: rule.icmp.map(|(kind, _)| kind).into(),
            ipv6_cidr_block: range(true),
            protocol: rule.protocol.clone().into(),
            rule_no: rule.rule_no.into(),
            to_port: to.into(),
        }
    }

    /// Whether an entry can express this rule.
    pub(super) fn expresses(rule: &NetworkAclRule) -> bool {
        let (entry, mut problems) = (NaclRule::of(rule), Problems::default());
        problems.nacl_rule(&AttributePath::root(), &entry);
        problems.0.is_empty() && entry.rule().as_ref() == Some(rule)
    }

    /// The rule in the form of AWS; `None` while any part is unknown. The validation has reported invalid parts.
    fn rule(&self) -> Option<NetworkAclRule> {
        let protocol = protocol(self.protocol.known()?).unwrap_or_else(|| "-1".to_string());
        let (ipv4, ipv6) = (self.cidr_block.known()?, self.ipv6_cidr_block.known()?);
        let (icmp_type, icmp_code) = (*self.icmp_type.known()?, *self.icmp_code.known()?);
        let (from, to) = (*self.from_port.known()?, *self.to_port.known()?);
        // AWS stores ports for these two only.
        let has_ports = matches!(protocol.as_str(), "6" | "17");
        let has_icmp = has_icmp(&protocol, ipv4.is_none());
        Some(NetworkAclRule {
            rule_no: *self.rule_no.known()?,
            allow: self.action.known()?.eq_ignore_ascii_case("allow"),
            cidr_block: canonical(ipv4.as_deref().or(ipv6.as_deref()).unwrap_or_default()),
            ports: has_ports.then_some((from, to)),
            icmp: has_icmp.then_some((icmp_type.unwrap_or(-1), icmp_code.unwrap_or(-1))),
            protocol,
        })
    }
}

impl RuleEntry for NaclRule {
    type Rule = NetworkAclRule;

    fn rules(&self) -> Option<Vec<NetworkAclRule>> {
        Some(vec![self.rule()?])
    }

    /// One entry for each rule, by its number.
    fn of_all(rules: &[NetworkAclRule]) -> BTreeMap<String, NaclRule> {
        rules.iter().map(|rule| (rule.rule_no.to_string(), NaclRule::of(rule))).collect()
    }
}

/// The number of the protocol, -1 for all; `None` if there is no such protocol.
fn protocol(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    if let Some((_, number)) = PROTOCOLS.iter().find(|(name, _)| *name == lower) {
        return Some((*number).to_string());
    }
    let number: i64 = text.parse().ok()?;
    (-1..=255).contains(&number).then(|| number.to_string())
}

/// Whether a rule for this protocol has an ICMP type and code. For ICMPv6, AWS requires them with an IPv6 range; a rule
/// with an IPv4 range applies to all types.
fn has_icmp(protocol: &str, is_ipv6: bool) -> bool {
    protocol == "1" || protocol == "58" && is_ipv6
}

impl Problems {
    pub(super) fn nacl_rule(&mut self, path: &AttributePath, rule: &NaclRule) {
        if let Input::Known(action) = &rule.action
            && !["allow", "deny"].iter().any(|it| action.eq_ignore_ascii_case(it))
        {
            self.add(path.attribute("action"), format!("{action:?} is not an action."), "Use allow or deny.");
        }
        let is_ipv6 = self.nacl_range(path, rule);
        let Input::Known(text) = &rule.protocol else { return };
        let Some(protocol) = protocol(text) else {
            let message = format!("{text:?} is not a known protocol.");
            self.add(path.attribute("protocol"), message, "Use tcp, udp, icmp, icmpv6, -1 for all, or a number.");
            return;
        };
        if let (Input::Known(from), Input::Known(to)) = (&rule.from_port, &rule.to_port) {
            let has_ports = matches!(protocol.as_str(), "6" | "17");
            if has_ports && from > to {
                let message = format!("{from} to {to} is not a range of ports.");
                self.add(path.attribute("from_port"), message, "Set from_port to the lower port.");
            }
            if !has_ports && (*from, *to) != (0, 0) {
                let message = format!("A rule for protocol {text} has no ports, but this one has {from} to {to}.");
                self.add(path.attribute("from_port"), message, "Set from_port and to_port to 0.");
            }
        }
        let (Input::Known(icmp_type), Input::Known(icmp_code)) = (&rule.icmp_type, &rule.icmp_code) else { return };
        if is_ipv6.is_some_and(|is_ipv6| has_icmp(&protocol, is_ipv6)) {
            self.icmp(path, text, *icmp_type, *icmp_code);
        } else if protocol == "58"
            && is_ipv6 == Some(false)
            && [icmp_type, icmp_code].into_iter().flatten().any(|number| *number != -1)
        {
            let message = format!("AWS ignores the ICMP type and code of a rule for {text} with an IPv4 range.");
            self.add(path.attribute("icmp_type"), message, "Use ipv6_cidr_block, or remove icmp_type and icmp_code.");
        } else if matches!(protocol.as_str(), "6" | "17" | "-1") && (icmp_type.is_some() || icmp_code.is_some()) {
            let message = format!("A rule for protocol {text} has no ICMP type and code.");
            self.add(path.attribute("icmp_type"), message, "Remove icmp_type and icmp_code.");
        }
    }

    /// Checks the range. Returns whether it is an IPv6 range; `None` if that is unknown.
    fn nacl_range(&mut self, path: &AttributePath, rule: &NaclRule) -> Option<bool> {
        let (ipv4, ipv6) = (rule.cidr_block.known(), rule.ipv6_cidr_block.known());
        match (ipv4, ipv6) {
            (Some(Some(ipv4)), Some(Some(ipv6))) => {
                let message = format!("A rule applies to one range, but this one has {ipv4} and {ipv6}.");
                self.add(path.clone(), message, "Split it into two rules.");
            }
            (Some(None), Some(None)) => {
                let message = "The rule has no range.";
                let hint = "Set cidr_block or ipv6_cidr_block.";
                self.0.push(Problem::new(path.clone(), message, hint).of_absence());
            }
            _ => {}
        }
        for (name, range, example) in [("cidr_block", ipv4, "10.0.0.0/16"), ("ipv6_cidr_block", ipv6, "::/0")] {
            if let Some(Some(text)) = range {
                self.cidr_block(path.attribute(name), text, example);
            }
        }
        match (ipv4, ipv6) {
            (Some(Some(_)), _) => Some(false),
            (_, Some(Some(_))) => Some(true),
            _ => None,
        }
    }

    fn icmp(&mut self, path: &AttributePath, protocol: &str, kind: Option<i64>, code: Option<i64>) {
        let (Some(kind), Some(code)) = (kind, code) else {
            let message = format!("A rule for {protocol} requires an ICMP type and code.");
            let hint = "Set icmp_type and icmp_code; -1 means all.";
            self.0.push(Problem::new(path.attribute("icmp_type"), message, hint).of_absence());
            return;
        };
        if !(-1..=255).contains(&kind) || !(-1..=255).contains(&code) {
            let message = format!("{kind} and {code} are not an ICMP type and code.");
            self.add(path.attribute("icmp_type"), message, "Use -1 to 255, where -1 means all.");
        } else if kind == -1 && code != -1 {
            let message = format!("The ICMP type is -1, which means all, but the code is {code}.");
            self.add(path.attribute("icmp_code"), message, "Set icmp_code to -1 as well.");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plugin::{Encode, Nested};
    use crate::topology::four_tier_vpc::config::tests::config;
    use crate::topology::four_tier_vpc::parts::rule_maps::required;

    fn rule(pairs: &[(&str, Value)]) -> Value {
        let mut rule = Value::map([
            ("action", "allow".into()),
            ("protocol", "-1".into()),
            ("rule_no", 100_i64.into()),
            ("from_port", 0_i64.into()),
            ("to_port", 0_i64.into()),
        ]);
        for (name, value) in pairs {
            rule.set(name, value.clone());
        }
        rule
    }

    fn ingress(rules: &[Value]) -> Option<Vec<NetworkAclRule>> {
        let map = rules.iter().enumerate().map(|(number, rule)| (format!("r{number}"), rule.clone()));
        required(&config(&[("default_nacl_ingress_rules", Value::map(map))]).default_nacl_ingress_rules)
    }

    #[test]
    fn rules_are_sorted_and_have_the_parts_of_their_protocol() {
        let web = rule(&[
            ("action", "Deny".into()),
            ("protocol", "TCP".into()),
            ("rule_no", 90_i64.into()),
            ("from_port", 80_i64.into()),
            ("to_port", 81_i64.into()),
            ("cidr_block", "10.0.0.0/8".into()),
        ]);
        let echo = rule(&[
            ("protocol", "icmpv6".into()),
            ("ipv6_cidr_block", "0:0::/0".into()),
            ("icmp_type", 128_i64.into()),
            ("icmp_code", (-1_i64).into()),
        ]);
        let rules = ingress(&[echo, web]).unwrap();
        let web = NetworkAclRule {
            rule_no: 90,
            allow: false,
            protocol: "6".into(),
            cidr_block: "10.0.0.0/8".into(),
            ports: Some((80, 81)),
            icmp: None,
        };
        let echo = NetworkAclRule {
            rule_no: 100,
            allow: true,
            protocol: "58".into(),
            cidr_block: "::/0".into(),
            ports: None,
            icmp: Some((128, -1)),
        };
        assert_eq!(rules, [web, echo]);
    }

    #[test]
    fn the_default_rules_allow_all_ipv4_and_ipv6_traffic() {
        let rules = required(&config(&[]).default_nacl_egress_rules).unwrap();
        let shown: Vec<_> = rules.iter().map(|it| (it.rule_no, it.allow, it.cidr_block.as_str())).collect();
        assert_eq!(shown, [(100, true, "0.0.0.0/0"), (101, true, "::/0")]);
        assert!(rules.iter().all(|rule| rule.protocol == "-1" && rule.ports.is_none() && rule.icmp.is_none()));
    }

    #[test]
    fn an_unknown_part_makes_the_rules_unknown() {
        assert_eq!(ingress(&[rule(&[("cidr_block", Value::Unknown)])]), None);
    }

    #[test]
    fn protocols_have_numbers() {
        let numbers = ["all", "-1", "Tcp", "17", "ICMPv6", "ospf", "255"].map(|text| protocol(text).unwrap());
        assert_eq!(numbers, ["-1", "-1", "6", "17", "58", "89", "255"]);
        assert_eq!(["http", "256", "-2", ""].map(protocol), [None, None, None, None]);
    }

    fn acl_rule() -> impl Strategy<Value = NetworkAclRule> {
        let range = prop::sample::select(vec!["10.0.0.0/8", "0.0.0.0/0", "::/0"]);
        let protocol = prop::sample::select(vec!["-1", "1", "6", "17", "47", "58"]);
        (1..32_767_i64, any::<bool>(), protocol, range, (0..9_i64, 0..9_i64)).prop_map(
            |(rule_no, allow, protocol, cidr_block, pair)| NetworkAclRule {
                rule_no,
                allow,
                protocol: protocol.into(),
                cidr_block: cidr_block.into(),
                ports: Some(pair).filter(|_| ["6", "17"].contains(&protocol)),
                icmp: Some(pair).filter(|_| has_icmp(protocol, cidr_block.contains(':'))),
            },
        )
    }

    proptest! {
        #[test]
        fn acl_rules_survive_the_way_to_an_entry_and_back(rule in acl_rule()) {
            let entry = NaclRule::of(&rule);
            prop_assert_eq!(entry.rule(), Some(rule));
            prop_assert_eq!(NaclRule::decode(&entry.encode(), &AttributePath::root(), &mut Vec::new()), Some(entry));
        }
    }
}
