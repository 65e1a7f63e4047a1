//! The rules of the default security group, converted from the form of the configuration, with many sources per rule,
//! to that of AWS, with one.

use std::collections::{BTreeMap, BTreeSet};

use super::config::{SecurityGroupRule as Rule, Strings};
use crate::model::{RuleSource, SecurityGroupRule};
use crate::plugin::Input;

/// The rules of one direction, sorted; `None` for an empty map, which leaves the rules of AWS unchanged.
pub(super) fn rules(rules: &Input<BTreeMap<String, Input<Rule>>>) -> Input<Option<Vec<SecurityGroupRule>>> {
    let Input::Known(rules) = rules else { return Input::Unknown };
    if rules.is_empty() {
        return Input::Known(None);
    }
    let mut all = BTreeSet::new();
    for rule in rules.values() {
        let Some(rules) = rule.known().and_then(expand) else { return Input::Unknown };
        all.extend(rules);
    }
    Input::Known(Some(all.into_iter().collect()))
}

/// The protocol in the form that AWS returns.
pub(super) fn protocol(text: &str) -> String {
    match text.to_ascii_lowercase().as_str() {
        "all" | "-1" => "-1".into(),
        "6" => "tcp".into(),
        "17" => "udp".into(),
        "1" => "icmp".into(),
        "58" => "icmpv6".into(),
        other => other.into(),
    }
}

/// One rule per source; `None` while any part is unknown.
pub(super) fn expand(rule: &Rule) -> Option<Vec<SecurityGroupRule>> {
    let protocol = protocol(rule.protocol.known()?);
    let (from, to) = (*rule.from_port.known()?, *rule.to_port.known()?);
    // AWS stores ports for these protocols only.
    let has_ports = matches!(protocol.as_str(), "tcp" | "udp" | "icmp" | "icmpv6");
    let description = rule.description.known()?.clone().filter(|text| !text.is_empty());

    let mut sources = Vec::new();
    let canonical = |cidr: String| match cidr.parse::<ipnet::IpNet>() {
        Ok(net) => net.trunc().to_string(),
        Err(_) => cidr,
    };
    sources.extend(texts(&rule.cidr_blocks)?.into_iter().map(canonical).map(RuleSource::CidrIpv4));
    sources.extend(texts(&rule.ipv6_cidr_blocks)?.into_iter().map(canonical).map(RuleSource::CidrIpv6));
    sources.extend(texts(&rule.prefix_list_ids)?.into_iter().map(RuleSource::PrefixList));
    sources.extend(texts(&rule.security_groups)?.into_iter().map(RuleSource::SecurityGroup));
    if *rule.self_.known()? {
        sources.push(RuleSource::ItSelf);
    }
    let rule = |source| SecurityGroupRule {
        protocol: protocol.clone(),
        from_port: has_ports.then_some(from),
        to_port: has_ports.then_some(to),
        source,
        description: description.clone(),
    };
    Some(sources.into_iter().map(rule).collect())
}

fn texts(list: &Strings) -> Option<Vec<String>> {
    list.known()?.iter().map(|item| item.known().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::config::tests::config;
    use super::*;
    use crate::plugin::Value;

    fn ingress(rule: Value) -> Input<Option<Vec<SecurityGroupRule>>> {
        let config = config(&[("default_security_group_ingress_rules", Value::map([("x", rule)]))]);
        rules(&config.default_security_group_ingress_rules)
    }

    fn web(cidrs: Value) -> Value {
        Value::map([
            ("protocol", "6".into()),
            ("from_port", 80_i64.into()),
            ("to_port", 81_i64.into()),
            ("cidr_blocks", cidrs),
        ])
    }

    #[test]
    fn each_source_becomes_a_rule() {
        let Input::Known(Some(rules)) = ingress(web(vec!["10.1.0.0/16", "10.0.0.0/16"].into())) else { panic!() };
        let shown: Vec<_> = rules.iter().map(|it| (it.protocol.as_str(), it.from_port, it.source.clone())).collect();
        let cidr = |text: &str| RuleSource::CidrIpv4(text.into());
        assert_eq!(shown, [("tcp", Some(80), cidr("10.0.0.0/16")), ("tcp", Some(80), cidr("10.1.0.0/16"))]);
    }

    #[test]
    fn the_default_rules_equal_those_of_aws() {
        let config = config(&[]);
        let Input::Known(Some(ingress)) = rules(&config.default_security_group_ingress_rules) else { panic!() };
        assert_eq!((ingress.len(), &ingress[0].source, ingress[0].from_port), (1, &RuleSource::ItSelf, None));
        let Input::Known(Some(egress)) = rules(&config.default_security_group_egress_rules) else { panic!() };
        let sources: Vec<_> = egress.iter().map(|it| &it.source).collect();
        assert_eq!(sources, [&RuleSource::CidrIpv4("0.0.0.0/0".into()), &RuleSource::CidrIpv6("::/0".into())]);
    }

    #[test]
    fn an_empty_map_leaves_the_rules_as_they_are() {
        let config = config(&[("default_security_group_ingress_rules", Value::Map(BTreeMap::new()))]);
        assert_eq!(rules(&config.default_security_group_ingress_rules), Input::Known(None));
    }

    #[test]
    fn an_unknown_source_makes_the_rules_unknown() {
        assert_eq!(ingress(web(Value::List(vec![Value::Unknown]))), Input::Unknown);
    }
}
