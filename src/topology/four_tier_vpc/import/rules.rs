//! From the rules of the default network ACL and the default security group to the maps of rules in the configuration.

use std::collections::BTreeMap;

use crate::model::{DefaultNetworkAcl, DefaultSecurityGroup, Inventory, NetworkAclRule, RuleSource, SecurityGroupRule};
use crate::plugin::schema::with_defaults;
use crate::plugin::{AttributePath, Nested, Value};
use crate::topology::four_tier_vpc::config::{Config, SecurityGroupRule as ConfiguredRule};
use crate::topology::four_tier_vpc::security_group;

/// Sets the inputs of both. Rules that equal those of a default map become that map.
pub(super) fn rules(inventory: &Inventory, attributes: &mut Value) {
    let found = super::FoundNetwork(inventory);
    let acl = found.specs().find_map(|(_, it)| DefaultNetworkAcl::of(it));
    attributes.set("apply_default_nacl_rules", acl.is_some().into());
    if let Some(acl) = acl {
        network_acl(acl, attributes);
    }
    let group = found.specs().find_map(|(_, it)| DefaultSecurityGroup::of(it));
    attributes.set("enable_default_security_group", group.is_some().into());
    if let Some(group) = group {
        security_group(group, attributes);
    }
}

fn network_acl(acl: &DefaultNetworkAcl, attributes: &mut Value) {
    for (name, rules) in [("default_nacl_ingress_rules", &acl.ingress), ("default_nacl_egress_rules", &acl.egress)] {
        let Some(rules) = rules.known() else { continue };
        if !is_default(rules) {
            attributes.set(name, Value::Map(network_acl_rules(rules)));
        }
    }
}

/// Whether these are the rules of the default maps, which are those of AWS: all traffic is allowed.
fn is_default(rules: &[NetworkAclRule]) -> bool {
    let allows_all = |rule_no: i64, cidr_block: &str| NetworkAclRule {
        rule_no,
        allow: true,
        protocol: "-1".into(),
        cidr_block: cidr_block.into(),
        ports: None,
        icmp: None,
    };
    let defaults = [allows_all(100, "0.0.0.0/0"), allows_all(101, "::/0")];
    rules.len() == defaults.len() && defaults.iter().all(|rule| rules.contains(rule))
}

/// One entry for each rule, by its number.
pub(in crate::topology::four_tier_vpc) fn network_acl_rules(rules: &[NetworkAclRule]) -> BTreeMap<String, Value> {
    rules.iter().map(|rule| (rule.rule_no.to_string(), network_acl_rule(rule))).collect()
}

/// The entry for a rule.
pub(in crate::topology::four_tier_vpc) fn network_acl_rule(rule: &NetworkAclRule) -> Value {
    let is_ipv6 = rule.cidr_block.contains(':');
    let range = |wanted: bool| Some(rule.cidr_block.clone()).filter(|_| is_ipv6 == wanted).into();
    let (from, to) = rule.ports.unwrap_or_default();
    Value::map([
        ("action", if rule.allow { "allow" } else { "deny" }.into()),
        ("cidr_block", range(false)),
        ("from_port", from.into()),
        ("icmp_code", rule.icmp.map(|(_, code)| code).into()),
        ("icmp_type", rule.icmp.map(|(kind, _)| kind).into()),
        ("ipv6_cidr_block", range(true)),
        ("protocol", rule.protocol.clone().into()),
        ("rule_no", rule.rule_no.into()),
        ("to_port", to.into()),
    ])
}

fn security_group(group: &DefaultSecurityGroup, attributes: &mut Value) {
    for (name, rules) in [
        ("default_security_group_ingress_rules", &group.ingress),
        ("default_security_group_egress_rules", &group.egress),
    ] {
        let rules = rules.known().cloned().flatten().unwrap_or_default();
        if default_rules(name, attributes) != Some(rules.clone()) {
            attributes.set(name, Value::Map(security_group_rules(&rules)));
        }
    }
}

/// The rules of the default map with this name.
fn default_rules(name: &str, attributes: &Value) -> Option<Vec<SecurityGroupRule>> {
    let mut problems = Vec::new();
    let config = Config::decode(attributes, &AttributePath::root(), &mut problems)?;
    let map = match name {
        "default_security_group_ingress_rules" => &config.default_security_group_ingress_rules,
        _ => &config.default_security_group_egress_rules,
    };
    security_group::rules(map).known().cloned().flatten()
}

/// One entry for all rules that differ only in their source.
pub(in crate::topology::four_tier_vpc) fn security_group_rules(rules: &[SecurityGroupRule]) -> BTreeMap<String, Value> {
    let mut alike: BTreeMap<(String, Option<&str>), Vec<&SecurityGroupRule>> = BTreeMap::new();
    for rule in rules {
        let ports = [rule.from_port, rule.to_port].into_iter().flatten().map(|port| format!("-{port}"));
        let protocol = if rule.protocol == "-1" { "all" } else { rule.protocol.as_str() };
        let name: String = [protocol.to_string()].into_iter().chain(ports).collect();
        alike.entry((name, rule.description.as_deref())).or_default().push(rule);
    }
    let mut entries: BTreeMap<String, Value> = BTreeMap::new();
    for ((name, _), rules) in alike {
        let same_name = entries.keys().filter(|it| it.split_once('.').map_or(it.as_str(), |(it, _)| it) == name);
        let key = match same_name.count() {
            0 => name,
            before => format!("{name}.{}", before + 1),
        };
        entries.insert(key, security_group_rule(&rules));
    }
    entries
}

/// The entry for rules that differ only in their source; without rules, an entry that has no source.
pub(in crate::topology::four_tier_vpc) fn security_group_rule(rules: &[&SecurityGroupRule]) -> Value {
    let sources = |text: fn(&RuleSource) -> Option<&String>| {
        Value::from(rules.iter().filter_map(|rule| text(&rule.source).cloned()).collect::<Vec<_>>())
    };
    let of_itself = rules.iter().any(|rule| rule.source == RuleSource::ItSelf);
    let first = rules.first();
    let rule = Value::map([
        ("protocol", first.map_or("-1", |rule| rule.protocol.as_str()).into()),
        ("from_port", first.and_then(|rule| rule.from_port).unwrap_or(0).into()),
        ("to_port", first.and_then(|rule| rule.to_port).unwrap_or(0).into()),
        ("description", first.and_then(|rule| rule.description.clone()).into()),
        ("cidr_blocks", sources(|it| if let RuleSource::CidrIpv4(text) = it { Some(text) } else { None })),
        ("ipv6_cidr_blocks", sources(|it| if let RuleSource::CidrIpv6(text) = it { Some(text) } else { None })),
        ("prefix_list_ids", sources(|it| if let RuleSource::PrefixList(text) = it { Some(text) } else { None })),
        ("security_groups", sources(|it| if let RuleSource::SecurityGroup(text) = it { Some(text) } else { None })),
        ("self", of_itself.into()),
    ]);
    with_defaults(&ConfiguredRule::attributes(), &rule)
}
