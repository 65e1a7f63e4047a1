//! The rules of the default security group, converted from the form of the configuration, with many sources per rule,
//! to that of AWS, with one.

use std::collections::{BTreeMap, BTreeSet};

use super::config::{Config, SecurityGroupRule as Rule, Strings};
use crate::model::{RuleSource, SecurityGroupRule};
use crate::plugin::Input;

/// The inbound and the outbound rules that a configuration requires.
pub(super) fn wanted(config: &Config) -> [Input<Option<Vec<SecurityGroupRule>>>; 2] {
    let maps = [&config.default_security_group_ingress_rules, &config.default_security_group_egress_rules];
    match config.restrict_default_security_group {
        Input::Known(false) => maps.map(rules),
        Input::Known(true) => [Input::Known(Some(Vec::new())), Input::Known(Some(Vec::new()))],
        Input::Unknown => [Input::Unknown, Input::Unknown],
    }
}

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
    let mut distinct: Vec<SecurityGroupRule> = Vec::new();
    for rule in all {
        // AWS rejects a request that contains a permission twice. Different descriptions are a problem.
        if !distinct.iter().any(|it| it.allows_the_same(&rule) && it.description == rule.description) {
            distinct.push(rule);
        }
    }
    Input::Known(Some(distinct))
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
    let lists = [&rule.cidr_blocks, &rule.ipv6_cidr_blocks, &rule.prefix_list_ids, &rule.security_groups];
    let are_known = |list: &&Strings| list.known().is_some_and(|list| list.iter().all(Input::is_known));
    if rule.self_.is_known() && lists.iter().all(are_known) { of_known_sources(rule) } else { None }
}

/// One rule per known source; `None` while any other part is unknown.
pub(super) fn of_known_sources(rule: &Rule) -> Option<Vec<SecurityGroupRule>> {
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
    sources.extend(known(&rule.cidr_blocks).map(canonical).map(RuleSource::CidrIpv4));
    sources.extend(known(&rule.ipv6_cidr_blocks).map(canonical).map(RuleSource::CidrIpv6));
    sources.extend(known(&rule.prefix_list_ids).map(RuleSource::PrefixList));
    sources.extend(known(&rule.security_groups).map(RuleSource::SecurityGroup));
    if rule.self_ == Input::Known(true) {
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

fn known(list: &Strings) -> impl Iterator<Item = String> {
    list.known().into_iter().flatten().filter_map(|item| item.known().cloned())
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
    fn equal_permissions_become_one_rule() {
        let with = |protocol: &str, groups: Value| {
            let fields = [("protocol", protocol.into()), ("from_port", 80_i64.into()), ("to_port", 81_i64.into())];
            let mut rule = Value::map(fields);
            rule.set("security_groups", groups);
            rule
        };
        let map = Value::map([
            ("a", with("6", vec!["sg-1", "123456789012/sg-2"].into())),
            ("b", with("tcp", vec!["123456789012/sg-1", "sg-2", "sg-2"].into())),
        ]);
        let config = config(&[("default_security_group_ingress_rules", map)]);
        let Input::Known(Some(rules)) = rules(&config.default_security_group_ingress_rules) else { panic!() };
        assert_eq!(rules.len(), 2, "AWS rejects a request with the same permission twice: {rules:?}");
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
