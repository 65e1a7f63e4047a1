//! The rules of the default network ACL, converted from the form of the configuration to that of AWS.

use std::collections::BTreeMap;

use super::canonical;
use super::config::NaclRule;
use crate::model::NetworkAclRule;
use crate::plugin::Input;

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

/// The rules of one direction, sorted by number; unknown while any part of a rule is unknown.
pub(super) fn rules(rules: &Input<BTreeMap<String, Input<NaclRule>>>) -> Input<Vec<NetworkAclRule>> {
    let Input::Known(rules) = rules else { return Input::Unknown };
    let rules: Option<Vec<NetworkAclRule>> = rules.values().map(|rule| rule.known().and_then(from_config)).collect();
    rules.map_or(Input::Unknown, |mut rules| {
        rules.sort_by_key(|rule| rule.rule_no);
        Input::Known(rules)
    })
}

/// The number of the protocol, -1 for all; `None` if there is no such protocol.
pub(super) fn protocol(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    if let Some((_, number)) = PROTOCOLS.iter().find(|(name, _)| *name == lower) {
        return Some((*number).to_string());
    }
    let number: i64 = text.parse().ok()?;
    (-1..=255).contains(&number).then(|| number.to_string())
}

/// Whether a rule for this protocol has an ICMP type and code. For ICMPv6, AWS requires them with an IPv6 range; a rule
/// with an IPv4 range applies to all types.
pub(super) fn has_icmp(protocol: &str, is_ipv6: bool) -> bool {
    protocol == "1" || protocol == "58" && is_ipv6
}

/// The rule in the form of AWS; `None` while any part is unknown. The validation has reported invalid parts.
pub(super) fn from_config(rule: &NaclRule) -> Option<NetworkAclRule> {
    let protocol = protocol(rule.protocol.known()?).unwrap_or_else(|| "-1".to_string());
    let (ipv4, ipv6) = (rule.cidr_block.known()?, rule.ipv6_cidr_block.known()?);
    let (icmp_type, icmp_code) = (*rule.icmp_type.known()?, *rule.icmp_code.known()?);
    let (from, to) = (*rule.from_port.known()?, *rule.to_port.known()?);
    // AWS stores ports for these two only.
    let has_ports = matches!(protocol.as_str(), "6" | "17");
    let has_icmp = has_icmp(&protocol, ipv4.is_none());
    Some(NetworkAclRule {
        rule_no: *rule.rule_no.known()?,
        allow: rule.action.known()?.eq_ignore_ascii_case("allow"),
        cidr_block: canonical(ipv4.as_deref().or(ipv6.as_deref()).unwrap_or_default()),
        ports: has_ports.then_some((from, to)),
        icmp: has_icmp.then_some((icmp_type.unwrap_or(-1), icmp_code.unwrap_or(-1))),
        protocol,
    })
}

#[cfg(test)]
mod tests {
    use super::super::config::tests::config;
    use super::super::fixtures::{applied, blueprint, objects};
    use super::*;
    use crate::plugin::Value;
    use crate::topology::Blueprint;

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

    fn ingress(rules_given: &[Value]) -> Input<Vec<NetworkAclRule>> {
        let map = rules_given.iter().enumerate().map(|(number, rule)| (format!("r{number}"), rule.clone()));
        rules(&config(&[("default_nacl_ingress_rules", Value::map(map))]).default_nacl_ingress_rules)
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
        let Input::Known(rules) = ingress(&[echo, web]) else { panic!() };
        let web = NetworkAclRule {
            rule_no: 90,
            allow: false,
            protocol: "6".into(),
            cidr_block: "10.0.0.0/8".into(),
            ports: Some((80, 81)),
            ..NetworkAclRule::test()
        };
        let echo = NetworkAclRule {
            protocol: "58".into(),
            cidr_block: "::/0".into(),
            icmp: Some((128, -1)),
            ..NetworkAclRule::test()
        };
        assert_eq!(rules, [web, echo]);
    }

    #[test]
    fn the_default_rules_allow_all_ipv4_and_ipv6_traffic() {
        let Input::Known(rules) = rules(&config(&[]).default_nacl_egress_rules) else { panic!() };
        let shown: Vec<_> = rules.iter().map(|it| (it.rule_no, it.allow, it.cidr_block.as_str())).collect();
        assert_eq!(shown, [(100, true, "0.0.0.0/0"), (101, true, "::/0")]);
        assert!(rules.iter().all(|rule| rule.protocol == "-1" && rule.ports.is_none() && rule.icmp.is_none()));
    }

    #[test]
    fn an_unknown_part_makes_the_rules_unknown() {
        assert_eq!(ingress(&[rule(&[("cidr_block", Value::Unknown)])]), Input::Unknown);
    }

    #[test]
    fn protocols_have_numbers() {
        let numbers = ["all", "-1", "Tcp", "17", "ICMPv6", "ospf", "255"].map(|text| protocol(text).unwrap());
        assert_eq!(numbers, ["-1", "-1", "6", "17", "58", "89", "255"]);
        assert_eq!(["http", "256", "-2", ""].map(protocol), [None, None, None, None]);
    }

    #[test]
    fn turning_it_off_warns_about_the_original_rules() {
        let on = config(&[("apply_default_nacl_rules", true.into())]);
        let existing = applied(&objects(&on, "a"));
        let warnings = |config| match blueprint(&config, Some(&on), &existing, "a") {
            Ok(Blueprint::Decided { warnings, .. }) => warnings,
            other => panic!("{other:?}"),
        };
        assert_eq!(warnings(on.clone()), []);
        let off = warnings(config(&[]));
        assert_eq!(off[0].path.to_string(), "apply_default_nacl_rules");
        assert!(off[0].message.contains("original rules"), "{off:?}");
    }
}
