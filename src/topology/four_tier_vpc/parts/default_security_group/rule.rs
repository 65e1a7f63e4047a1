//! A rule of the default security group in the form of the configuration, with many sources, its checks, and its
//! conversion to the form of AWS, with one source, and back.

use std::collections::BTreeMap;

use crate::model::{self, RuleSource, is_account_id};
use crate::plugin::{AttributePath, Check, Input, Problem, Value};
use crate::topology::four_tier_vpc::parts::rule_maps::{RuleEntry, RuleMap, required};
use crate::topology::four_tier_vpc::problems::Problems;
use crate::topology::four_tier_vpc::{Strings, canonical};

/// The characters that AWS allows in the description of a rule besides letters and digits (API reference of IpRange).
const DESCRIPTION: &str = " ._-:/()#,@[]+=&;{}!$*";

crate::attributes! {
    /// A rule of the default security group.
    pub struct SecurityGroupRule: Encode {
        /// IPv4 CIDR blocks.
        cidr_blocks: Strings = default(Value::List(Vec::new())).in_place(),
        /// Description of the rule: at most 255 letters, digits, spaces, and the characters
        /// `. _ - : / ( ) # , @ [ ] + = & ; { } ! $ *`. Rules that allow the same traffic need the same description.
        description: Input<Option<String>> = optional().in_place(),
        /// First port. For icmp and icmpv6, the ICMP type, where -1 means all. Must be 0 for protocols other than tcp,
        /// udp, icmp and icmpv6.
        from_port: Input<i64> = required().check(Check::between(-1, 65535)).in_place(),
        /// IPv6 CIDR blocks.
        ipv6_cidr_blocks: Strings = default(Value::List(Vec::new())).in_place(),
        /// IDs of prefix lists.
        prefix_list_ids: Strings = default(Value::List(Vec::new())).in_place(),
        /// Protocol: `tcp`, `udp`, `icmp`, `icmpv6`, or a protocol number. `-1` and `all` mean all protocols.
        protocol: Input<String> = required().in_place(),
        /// IDs of other security groups. For a group in a peered VPC of another account: `<account ID>/<group ID>`.
        security_groups: Strings = default(Value::List(Vec::new())).in_place(),
        /// Whether to allow the security group itself as a source or destination.
        self_: Input<bool> = default(false).in_place(),
        /// Last port. For icmp and icmpv6, the ICMP code, where -1 means all. Must be 0 for protocols other than tcp,
        /// udp, icmp and icmpv6.
        to_port: Input<i64> = required().check(Check::between(-1, 65535)).in_place(),
    }
}

impl SecurityGroupRule {
    /// AWS's own rule: members of the group can reach each other.
    pub(in crate::topology::four_tier_vpc) fn default_ingress() -> Value {
        let rule =
            [("self", true.into()), ("from_port", 0_i64.into()), ("protocol", "-1".into()), ("to_port", 0_i64.into())];
        Value::map([("AllowAllFromSelf", Value::map(rule))])
    }

    /// AWS's own rules for IPv4 and IPv6: all outbound traffic is allowed.
    pub(in crate::topology::four_tier_vpc) fn default_egress() -> Value {
        let rule = [
            ("cidr_blocks", vec!["0.0.0.0/0"].into()),
            ("ipv6_cidr_blocks", vec!["::/0"].into()),
            ("from_port", 0_i64.into()),
            ("protocol", "-1".into()),
            ("to_port", 0_i64.into()),
        ];
        Value::map([("AllowAllOutbound", Value::map(rule))])
    }

    /// The entry for rules that differ only in their source; without rules, an entry that has no source.
    pub(super) fn of(rules: &[&model::SecurityGroupRule]) -> SecurityGroupRule {
        let sources = |text: fn(&RuleSource) -> Option<&String>| {
            Input::Known(rules.iter().filter_map(|rule| Some(text(&rule.source)?.clone().into())).collect())
        };
        let first = rules.first();
        SecurityGroupRule {
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

    /// Whether an entry can express this rule.
    pub(super) fn expresses(rule: &model::SecurityGroupRule) -> bool {
        let (entry, mut problems) = (SecurityGroupRule::of(&[rule]), Problems::default());
        problems.security_group_rule(&AttributePath::root(), &entry);
        problems.0.is_empty() && entry.rules().as_deref() == Some(std::slice::from_ref(rule))
    }

    /// One rule per known source; `None` while any other part is unknown.
    fn of_known_sources(&self) -> Option<Vec<model::SecurityGroupRule>> {
        let protocol = protocol(self.protocol.known()?);
        let (from, to) = (*self.from_port.known()?, *self.to_port.known()?);
        // AWS stores ports for these protocols only.
        let has_ports = matches!(protocol.as_str(), "tcp" | "udp" | "icmp" | "icmpv6");
        let description = self.description.known()?.clone().filter(|text| !text.is_empty());

        let mut sources = Vec::new();
        sources.extend(known(&self.cidr_blocks).map(|it| canonical(&it)).map(RuleSource::CidrIpv4));
        sources.extend(known(&self.ipv6_cidr_blocks).map(|it| canonical(&it)).map(RuleSource::CidrIpv6));
        sources.extend(known(&self.prefix_list_ids).map(RuleSource::PrefixList));
        sources.extend(known(&self.security_groups).map(RuleSource::SecurityGroup));
        if self.self_ == Input::Known(true) {
            sources.push(RuleSource::ItSelf);
        }
        let rule = |source| model::SecurityGroupRule {
            protocol: protocol.clone(),
            from_port: has_ports.then_some(from),
            to_port: has_ports.then_some(to),
            source,
            description: description.clone(),
        };
        Some(sources.into_iter().map(rule).collect())
    }
}

impl RuleEntry for SecurityGroupRule {
    type Rule = model::SecurityGroupRule;

    /// One rule per source; `None` while any part is unknown.
    fn rules(&self) -> Option<Vec<model::SecurityGroupRule>> {
        let lists = [&self.cidr_blocks, &self.ipv6_cidr_blocks, &self.prefix_list_ids, &self.security_groups];
        let are_known = |list: &&Strings| list.known().is_some_and(|list| list.iter().all(Input::is_known));
        if self.self_.is_known() && lists.iter().all(are_known) { self.of_known_sources() } else { None }
    }

    /// One entry for all rules that differ only in their source.
    fn of_all(rules: &[model::SecurityGroupRule]) -> BTreeMap<String, SecurityGroupRule> {
        let mut alike: BTreeMap<(String, Option<&str>), Vec<&model::SecurityGroupRule>> = BTreeMap::new();
        for rule in rules {
            let ports = [rule.from_port, rule.to_port].into_iter().flatten().map(|port| format!("-{port}"));
            let protocol = if rule.protocol == "-1" { "all" } else { rule.protocol.as_str() };
            let name: String = [protocol.to_string()].into_iter().chain(ports).collect();
            alike.entry((name, rule.description.as_deref())).or_default().push(rule);
        }
        let mut entries: BTreeMap<String, SecurityGroupRule> = BTreeMap::new();
        for ((name, _), rules) in alike {
            let same_name = entries.keys().filter(|it| it.split_once('.').map_or(it.as_str(), |(it, _)| it) == name);
            let key = match same_name.count() {
                0 => name,
                before => format!("{name}.{}", before + 1),
            };
            entries.insert(key, SecurityGroupRule::of(&rules));
        }
        entries
    }
}

/// The rules of one direction, sorted; `None` for an empty map, which leaves the rules of AWS unchanged.
pub(super) fn rules(rules: &RuleMap<SecurityGroupRule>) -> Input<Option<Vec<model::SecurityGroupRule>>> {
    if rules.known().is_some_and(BTreeMap::is_empty) {
        return Input::Known(None);
    }
    let Some(all) = required(rules) else { return Input::Unknown };
    let mut distinct: Vec<model::SecurityGroupRule> = Vec::new();
    for rule in all {
        // AWS rejects a request that contains a permission twice. Different descriptions are a problem.
        if !distinct.iter().any(|it| it.allows_the_same(&rule) && it.description == rule.description) {
            distinct.push(rule);
        }
    }
    Input::Known(Some(distinct))
}

/// The protocol in the form that AWS returns.
fn protocol(text: &str) -> String {
    match text.to_ascii_lowercase().as_str() {
        "all" | "-1" => "-1".into(),
        "6" => "tcp".into(),
        "17" => "udp".into(),
        "1" => "icmp".into(),
        "58" => "icmpv6".into(),
        other => other.into(),
    }
}

fn known(list: &Strings) -> impl Iterator<Item = String> {
    list.known().into_iter().flatten().filter_map(|item| item.known().cloned())
}

impl Problems {
    /// Reports rules of a map that differ only in their descriptions: AWS stores one description for each permission,
    /// and rejects a request that contains a permission twice.
    pub(super) fn descriptions(&mut self, name: &str, rules: &RuleMap<SecurityGroupRule>) {
        let mut seen: Vec<(&str, model::SecurityGroupRule)> = Vec::new();
        for (key, rule) in rules.known().into_iter().flatten() {
            for rule in rule.known().and_then(SecurityGroupRule::of_known_sources).unwrap_or_default() {
                let Some((first, other)) = seen.iter().find(|(_, it)| it.allows_the_same(&rule)) else {
                    seen.push((key, rule));
                    continue;
                };
                if other.description == rule.description {
                    continue;
                }
                let text = |rule: &model::SecurityGroupRule| {
                    rule.description.as_ref().map_or("none".to_string(), |text| format!("{text:?}"))
                };
                let message = format!(
                    "The rules {first:?} and {key:?} both allow {}, with the descriptions {} and {}, but AWS stores one \
                     description for it.",
                    rule.traffic(name.contains("egress")),
                    text(other),
                    text(&rule)
                );
                let hint = "Use the same description in both rules, or remove the range or group from one of them.";
                self.add(AttributePath::new(name).key(key), message, hint);
            }
        }
    }

    pub(super) fn security_group_rule(&mut self, path: &AttributePath, rule: &SecurityGroupRule) {
        self.sources(path, rule);
        if let Input::Known(Some(description)) = &rule.description {
            self.description(&path.attribute("description"), description);
        }
        let (Input::Known(protocol), Input::Known(from), Input::Known(to)) =
            (&rule.protocol, &rule.from_port, &rule.to_port)
        else {
            return;
        };
        let canonical = self::protocol(protocol);
        match canonical.as_str() {
            "-1" if (*from, *to) != (0, 0) => {
                let message =
                    format!("A rule for protocol {protocol} applies to all ports, but this one has {from} to {to}.");
                self.add(path.attribute("from_port"), message, "Set from_port and to_port to 0.");
            }
            "tcp" | "udp" if from > to || *from < 0 => {
                let message = format!("{from} to {to} is not a range of ports.");
                self.add(path.attribute("from_port"), message, "Use ports from 0 to 65535, the lower one first.");
            }
            "icmp" | "icmpv6" if *from > 255 || *to > 255 => {
                let message = format!("{from} and {to} are not an ICMP type and code.");
                self.add(path.attribute("from_port"), message, "Use -1 to 255, where -1 means all.");
            }
            "-1" | "tcp" | "udp" | "icmp" | "icmpv6" => {}
            other if other.parse::<u8>().is_ok() && (*from, *to) != (0, 0) => {
                let message = format!("A rule for protocol {protocol} has no ports, but this one has {from} to {to}.");
                self.add(path.attribute("from_port"), message, "Set from_port and to_port to 0.");
            }
            other if other.parse::<u8>().is_ok() => {}
            _ => {
                let message = format!("{protocol:?} is not a known protocol.");
                self.add(path.attribute("protocol"), message, "Use tcp, udp, icmp, icmpv6, -1 or a number.");
            }
        }
    }

    fn description(&mut self, path: &AttributePath, text: &str) {
        let length = text.chars().count();
        if length > 255 {
            self.add(path.clone(), format!("The description has {length} characters."), "Use at most 255 characters.");
        }
        let is_allowed = |character: &char| character.is_ascii_alphanumeric() || DESCRIPTION.contains(*character);
        if let Some(character) = text.chars().find(|character| !is_allowed(character)) {
            let message = format!("{text:?} contains the character {character:?}, which AWS does not allow there.");
            self.add(
                path.clone(),
                message,
                "Use only letters without accents, digits, spaces, and . _ - : / ( ) # , @ [ ] + = & ; { } ! $ *.",
            );
        }
    }

    fn sources(&mut self, path: &AttributePath, rule: &SecurityGroupRule) {
        for (name, list, example) in
            [("cidr_blocks", &rule.cidr_blocks, "10.0.0.0/16"), ("ipv6_cidr_blocks", &rule.ipv6_cidr_blocks, "::/0")]
        {
            for (index, item) in list.known().into_iter().flatten().enumerate() {
                if let Input::Known(text) = item {
                    self.cidr_block(path.attribute(name).index(index), text, example);
                }
            }
        }
        let (what, hint) = ("the ID of a prefix list", "Use a value such as pl-0123456789abcdef0.");
        self.each(&path.attribute("prefix_list_ids"), &rule.prefix_list_ids, |id| id.starts_with("pl-"), what, hint);
        let (what, hint) = (
            "the ID of a security group",
            "Use a value such as sg-0123456789abcdef0, or 123456789012/sg-0123456789abcdef0 for another account.",
        );
        self.each(&path.attribute("security_groups"), &rule.security_groups, is_group, what, hint);
        let lists = [&rule.cidr_blocks, &rule.ipv6_cidr_blocks, &rule.prefix_list_ids, &rule.security_groups];
        let has_none = lists.iter().all(|list| list.known().is_some_and(Vec::is_empty));
        if has_none && rule.self_ == Input::Known(false) {
            let hint = "Set cidr_blocks, ipv6_cidr_blocks, prefix_list_ids, security_groups or self.";
            let message = "The rule has no source or destination.";
            self.0.push(Problem::new(path.clone(), message, hint).of_absence());
        }
    }
}

/// Whether this is the ID of a security group, which may follow the ID of its account and a slash.
fn is_group(text: &str) -> bool {
    match text.split_once('/') {
        Some((account, id)) => is_account_id(account) && id.starts_with("sg-"),
        None => text.starts_with("sg-"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plugin::{Encode, Nested};
    use crate::topology::four_tier_vpc::config::tests::config;

    fn ingress(rule: Value) -> Input<Option<Vec<model::SecurityGroupRule>>> {
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

    fn group_rule() -> impl Strategy<Value = model::SecurityGroupRule> {
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
            model::SecurityGroupRule {
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
        fn group_rules_survive_the_way_to_entries_and_back(rules in prop::collection::btree_set(group_rule(), 1..6)) {
            let rules = Vec::from_iter(rules);
            let entries = SecurityGroupRule::of_all(&rules);
            for entry in entries.values() {
                let again = SecurityGroupRule::decode(&entry.encode(), &AttributePath::root(), &mut Vec::new());
                prop_assert_eq!(again.as_ref(), Some(entry));
            }
            let entries = entries.into_iter().map(|(key, entry)| (key, Input::Known(entry))).collect();
            prop_assert_eq!(super::rules(&Input::Known(entries)), Input::Known(Some(rules)));
        }
    }
}
