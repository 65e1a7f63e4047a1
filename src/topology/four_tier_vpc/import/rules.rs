//! From the rules of the default network ACL and the default security group to the maps of rules in the configuration.

use std::collections::BTreeMap;

use crate::model::{DefaultNetworkAcl, DefaultSecurityGroup, Inventory, NetworkAclRule, RuleSource, SecurityGroupRule};
use crate::plugin::{AttributePath, FromValue, Input, Value};
use crate::topology::four_tier_vpc::config::{NaclRule, SecurityGroupRule as ConfiguredRule};
use crate::topology::four_tier_vpc::{network_acl, security_group};
use crate::topology::mirrored::Found;

/// A map of rules in the configuration.
type Rules<T> = Input<BTreeMap<String, Input<T>>>;

/// Sets the inputs of both. Rules that equal those of a default map become that map.
pub(super) fn rules(inventory: &Inventory, attributes: &mut Value) {
    let found = Found::now(inventory);
    let acl = found.all(DefaultNetworkAcl::of).next();
    attributes.set("apply_default_nacl_rules", acl.is_some().into());
    for (name, rules) in acl.into_iter().flat_map(NaclRule::maps) {
        let Some(rules) = rules.known() else { continue };
        let mut sorted = rules.clone();
        sorted.sort_by_key(|rule| rule.rule_no);
        if decoded(attributes, name).map(|default| network_acl::rules(&default)) != Some(Input::Known(sorted)) {
            attributes.set(name, NaclRule::of_all(rules).into());
        }
    }
    let group = found.all(DefaultSecurityGroup::of).next();
    attributes.set("enable_default_security_group", group.is_some().into());
    if group.is_some_and(DefaultSecurityGroup::has_no_rules) {
        attributes.set("restrict_default_security_group", true.into());
        return;
    }
    for (name, rules) in group.into_iter().flat_map(ConfiguredRule::maps) {
        let rules = rules.known().cloned().flatten().unwrap_or_default();
        let default = decoded(attributes, name).map(|default| security_group::rules(&default));
        if default != Some(Input::Known(Some(rules.clone()))) {
            attributes.set(name, ConfiguredRule::of_all(&rules).into());
        }
    }
}

fn decoded<T: FromValue>(attributes: &Value, name: &str) -> Option<Rules<T>> {
    FromValue::from_value(attributes.get(name), &AttributePath::new(name), &mut Vec::new())
}

impl NaclRule {
    /// The inputs that are the rules of an ACL.
    pub(in crate::topology::four_tier_vpc) fn maps(
        acl: &DefaultNetworkAcl,
    ) -> [(&'static str, &Input<Vec<NetworkAclRule>>); 2] {
        [("default_nacl_ingress_rules", &acl.ingress), ("default_nacl_egress_rules", &acl.egress)]
    }

    /// One entry for each rule, by its number.
    pub(in crate::topology::four_tier_vpc) fn of_all(rules: &[NetworkAclRule]) -> BTreeMap<String, NaclRule> {
        rules.iter().map(|rule| (rule.rule_no.to_string(), NaclRule::of(rule))).collect()
    }

    /// The entry for a rule.
    pub(in crate::topology::four_tier_vpc) fn of(rule: &NetworkAclRule) -> NaclRule {
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
}

impl ConfiguredRule {
    /// The inputs that are the rules of a group.
    pub(in crate::topology::four_tier_vpc) fn maps(
        group: &DefaultSecurityGroup,
    ) -> [(&'static str, &Input<Option<Vec<SecurityGroupRule>>>); 2] {
        [
            ("default_security_group_ingress_rules", &group.ingress),
            ("default_security_group_egress_rules", &group.egress),
        ]
    }

    /// One entry for all rules that differ only in their source.
    pub(in crate::topology::four_tier_vpc) fn of_all(rules: &[SecurityGroupRule]) -> BTreeMap<String, ConfiguredRule> {
        let mut alike: BTreeMap<(String, Option<&str>), Vec<&SecurityGroupRule>> = BTreeMap::new();
        for rule in rules {
            let ports = [rule.from_port, rule.to_port].into_iter().flatten().map(|port| format!("-{port}"));
            let protocol = if rule.protocol == "-1" { "all" } else { rule.protocol.as_str() };
            let name: String = [protocol.to_string()].into_iter().chain(ports).collect();
            alike.entry((name, rule.description.as_deref())).or_default().push(rule);
        }
        let mut entries: BTreeMap<String, ConfiguredRule> = BTreeMap::new();
        for ((name, _), rules) in alike {
            let same_name = entries.keys().filter(|it| it.split_once('.').map_or(it.as_str(), |(it, _)| it) == name);
            let key = match same_name.count() {
                0 => name,
                before => format!("{name}.{}", before + 1),
            };
            entries.insert(key, ConfiguredRule::of(&rules));
        }
        entries
    }

    /// The entry for rules that differ only in their source; without rules, an entry that has no source.
    pub(in crate::topology::four_tier_vpc) fn of(rules: &[&SecurityGroupRule]) -> ConfiguredRule {
        let sources = |text: fn(&RuleSource) -> Option<&String>| {
            Input::Known(rules.iter().filter_map(|rule| Some(text(&rule.source)?.clone().into())).collect())
        };
        let first = rules.first();
        ConfiguredRule {
            cidr_blocks: sources(|it| if let RuleSource::CidrIpv4(text) = it { Some(text) } else { None }),
            description: first.and_then(|rule| rule.description.clone()).into(),
            from_port: first.and_then(|rule| rule.from_port).unwrap_or(0).into(),
            ipv6_cidr_blocks: sources(|it| if let RuleSource::CidrIpv6(text) = it { Some(text) } else { None }),
            prefix_list_ids: sources(|it| if let RuleSource::PrefixList(text) = it { Some(text) } else { None }),
            protocol: first.map_or("-1", |rule| rule.protocol.as_str()).to_string().into(),
            security_groups: sources(|it| if let RuleSource::SecurityGroup(text) = it { Some(text) } else { None }),
            self_: rules.iter().any(|rule| rule.source == RuleSource::ItSelf).into(),
            to_port: first.and_then(|rule| rule.to_port).unwrap_or(0).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plugin::{Encode, Nested};

    fn decoded_entry<T: Nested>(value: &Value) -> T {
        T::decode(value, &AttributePath::root(), &mut Vec::new()).expect("it decodes")
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
                icmp: Some(pair).filter(|_| network_acl::has_icmp(protocol, cidr_block.contains(':'))),
            },
        )
    }

    fn group_rule() -> impl Strategy<Value = SecurityGroupRule> {
        let source = prop::sample::select(vec![
            RuleSource::CidrIpv4("10.0.0.0/8".into()),
            RuleSource::CidrIpv4("10.1.0.0/16".into()),
            RuleSource::CidrIpv6("::/0".into()),
            RuleSource::PrefixList("pl-1".into()),
            RuleSource::SecurityGroup("sg-1".into()),
            RuleSource::ItSelf,
        ]);
        let protocol = prop::sample::select(vec!["-1", "tcp", "udp", "icmp", "47"]);
        let description = prop::option::of(prop::sample::select(vec!["a", "b"]));
        (protocol, (0..3_i64, 0..3_i64), source, description).prop_map(|(protocol, (from, to), source, description)| {
            let has_ports = ["tcp", "udp", "icmp"].contains(&protocol);
            SecurityGroupRule {
                protocol: protocol.into(),
                from_port: Some(from).filter(|_| has_ports),
                to_port: Some(to).filter(|_| has_ports),
                source,
                description: description.map(str::to_string),
            }
        })
    }

    proptest! {
        #[test]
        fn acl_rules_survive_the_way_to_an_entry_and_back(rule in acl_rule()) {
            let entry = NaclRule::of(&rule);
            prop_assert_eq!(network_acl::from_config(&entry), Some(rule));
            prop_assert_eq!(decoded_entry::<NaclRule>(&entry.encode()), entry);
        }

        #[test]
        fn group_rules_survive_the_way_to_entries_and_back(rules in prop::collection::btree_set(group_rule(), 1..6)) {
            let rules = Vec::from_iter(rules);
            let entries = ConfiguredRule::of_all(&rules);
            for entry in entries.values() {
                prop_assert_eq!(&decoded_entry::<ConfiguredRule>(&entry.encode()), entry);
            }
            let entries = entries.into_iter().map(|(key, entry)| (key, Input::Known(entry))).collect();
            prop_assert_eq!(security_group::rules(&Input::Known(entries)), Input::Known(Some(rules)));
        }
    }
}
