//! The rules of the default network ACL and of the default security group.

use ipnet::IpNet;

use super::super::config::{NaclRule, SecurityGroupRule};
use super::*;
use crate::model::{self, is_account_id};

/// The characters that AWS allows in the description of a rule besides letters and digits (API reference of IpRange).
const DESCRIPTION: &str = " ._-:/()#,@[]+=&;{}!$*";

/// Only the problems of one rule of the default network ACL.
pub(in super::super) fn network_acl_rule(rule: &NaclRule) -> Vec<Problem> {
    let mut problems = Problems::default();
    problems.nacl_rule(&AttributePath::root(), rule);
    problems.0
}

/// Only the problems of one rule of the default security group.
pub(in super::super) fn security_group_rule(rule: &SecurityGroupRule) -> Vec<Problem> {
    let mut problems = Problems::default();
    problems.security_group_rule(&AttributePath::root(), rule);
    problems.0
}

/// Only the problems of rules of the default security group that differ only in their descriptions. Values may be known
/// only during an apply, before which validation has not seen them.
pub(in super::super) fn descriptions(config: &Config) -> Vec<Problem> {
    let mut problems = Problems::default();
    problems.descriptions(config);
    problems.0
}

impl Problems {
    pub(super) fn access_rules(&mut self, config: &Config) {
        for (name, rules) in group_rules(config) {
            for (key, rule) in rules.known().into_iter().flatten() {
                if let Input::Known(rule) = rule {
                    self.security_group_rule(&AttributePath::new(name).key(key), rule);
                }
            }
        }
        self.descriptions(config);
        if config.restrict_default_security_group == Input::Known(true)
            && config.enable_default_security_group == Input::Known(false)
        {
            self.add(
                AttributePath::new("restrict_default_security_group"),
                "restrict_default_security_group is true, but enable_default_security_group is false, so the default \
                 security group is not managed.",
                "Set enable_default_security_group to true, or remove restrict_default_security_group.",
            );
        }
        for (name, rules) in [
            ("default_nacl_ingress_rules", &config.default_nacl_ingress_rules),
            ("default_nacl_egress_rules", &config.default_nacl_egress_rules),
        ] {
            let Input::Known(rules) = rules else { continue };
            let mut numbers: BTreeMap<i64, &str> = BTreeMap::new();
            for (key, rule) in rules {
                let Input::Known(rule) = rule else { continue };
                let path = AttributePath::new(name).key(key);
                self.nacl_rule(&path, rule);
                let Input::Known(number) = rule.rule_no else { continue };
                if let Some(other) = numbers.insert(number, key) {
                    let message = format!("Rule {other:?} also has the number {number}.");
                    self.add(path.attribute("rule_no"), message, "Use a unique number for each rule of a direction.");
                }
            }
        }
    }

    /// Reports rules that differ only in their descriptions: AWS stores one description for each permission, and
    /// rejects a request that contains a permission twice.
    fn descriptions(&mut self, config: &Config) {
        for (name, rules) in group_rules(config) {
            self.descriptions_of(name, rules.known().into_iter().flatten());
        }
    }

    fn descriptions_of<'a>(
        &mut self,
        name: &str,
        rules: impl Iterator<Item = (&'a String, &'a Input<SecurityGroupRule>)>,
    ) {
        let mut seen: Vec<(&str, model::SecurityGroupRule)> = Vec::new();
        for (key, rule) in rules {
            for rule in rule.known().and_then(security_group::of_known_sources).unwrap_or_default() {
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

    fn nacl_rule(&mut self, path: &AttributePath, rule: &NaclRule) {
        if let Input::Known(action) = &rule.action
            && !["allow", "deny"].iter().any(|it| action.eq_ignore_ascii_case(it))
        {
            self.add(path.attribute("action"), format!("{action:?} is not an action."), "Use allow or deny.");
        }
        let is_ipv6 = self.nacl_range(path, rule);
        let Input::Known(text) = &rule.protocol else { return };
        let Some(protocol) = network_acl::protocol(text) else {
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
        if is_ipv6.is_some_and(|is_ipv6| network_acl::has_icmp(&protocol, is_ipv6)) {
            self.icmp(path, text, *icmp_type, *icmp_code);
        } else if protocol == "58" && is_ipv6 == Some(false) && (is_limited(*icmp_type) || is_limited(*icmp_code)) {
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
                self.add(path.clone(), message, "Set cidr_block or ipv6_cidr_block.");
            }
            _ => {}
        }
        for (name, range, family) in [("cidr_block", ipv4, Family::Ipv4), ("ipv6_cidr_block", ipv6, Family::Ipv6)] {
            if let Some(Some(text)) = range {
                self.range(path.attribute(name), text, family);
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
            self.add(path.attribute("icmp_type"), message, "Set icmp_type and icmp_code; -1 means all.");
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

    fn security_group_rule(&mut self, path: &AttributePath, rule: &SecurityGroupRule) {
        self.sources(path, rule);
        if let Input::Known(Some(description)) = &rule.description {
            self.description(&path.attribute("description"), description);
        }
        let (Input::Known(protocol), Input::Known(from), Input::Known(to)) =
            (&rule.protocol, &rule.from_port, &rule.to_port)
        else {
            return;
        };
        let canonical = security_group::protocol(protocol);
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

    /// Reports text that is not a range, and a range with host bits.
    fn range(&mut self, path: AttributePath, text: &str, family: Family) {
        let (name, example) = match family {
            Family::Ipv4 => ("IPv4", "10.0.0.0/16"),
            Family::Ipv6 => ("IPv6", "::/0"),
        };
        match text.parse::<IpNet>() {
            Ok(net) if matches!(net, IpNet::V4(_)) == (family == Family::Ipv4) => {
                if net.trunc() != net {
                    let message = format!("{text} has host bits set; AWS would change it to {}.", net.trunc());
                    self.add(path, message, format!("Use {}.", net.trunc()));
                }
            }
            _ => {
                let message = format!("{text:?} is not an {name} CIDR block.");
                self.add(path, message, format!("Use a CIDR block such as {example}."));
            }
        }
    }

    fn sources(&mut self, path: &AttributePath, rule: &SecurityGroupRule) {
        for (name, list, family) in [
            ("cidr_blocks", &rule.cidr_blocks, Family::Ipv4),
            ("ipv6_cidr_blocks", &rule.ipv6_cidr_blocks, Family::Ipv6),
        ] {
            for (index, item) in list.known().into_iter().flatten().enumerate() {
                if let Input::Known(text) = item {
                    self.range(path.attribute(name).index(index), text, family);
                }
            }
        }
        let (prefix_list, group) = ("the ID of a prefix list", "the ID of a security group");
        let lists: [(&str, &Strings, Test, &str, &str); 2] = [
            ("prefix_list_ids", &rule.prefix_list_ids, |id| id.starts_with("pl-"), prefix_list, "pl-0123456789abcdef0"),
            (
                "security_groups",
                &rule.security_groups,
                is_group,
                group,
                "sg-0123456789abcdef0, or 123456789012/sg-0123456789abcdef0 for another account",
            ),
        ];
        for (name, list, is_valid, what, example) in lists {
            self.each(&path.attribute(name), list, is_valid, what, &format!("Use a value such as {example}."));
        }
        let lists = [&rule.cidr_blocks, &rule.ipv6_cidr_blocks, &rule.prefix_list_ids, &rule.security_groups];
        let has_none = lists.iter().all(|list| list.known().is_some_and(Vec::is_empty));
        if has_none && rule.self_ == Input::Known(false) {
            self.add(
                path.clone(),
                "The rule has no source or destination.",
                "Set cidr_blocks, ipv6_cidr_blocks, prefix_list_ids, security_groups or self.",
            );
        }
    }
}

/// Rules of one direction by name.
type GroupRules = Input<BTreeMap<String, Input<SecurityGroupRule>>>;

/// The rules of both directions of the default security group, with the names of the inputs.
fn group_rules(config: &Config) -> [(&'static str, &GroupRules); 2] {
    [
        ("default_security_group_ingress_rules", &config.default_security_group_ingress_rules),
        ("default_security_group_egress_rules", &config.default_security_group_egress_rules),
    ]
}

/// The family of a range.
#[derive(Clone, Copy, PartialEq)]
enum Family {
    Ipv4,
    Ipv6,
}

/// Whether a rule with this ICMP type or code applies to this one only.
fn is_limited(type_or_code: Option<i64>) -> bool {
    type_or_code.is_some_and(|number| number != -1)
}

/// Whether this is the ID of a security group, which may follow the ID of its account and a slash.
fn is_group(text: &str) -> bool {
    match text.split_once('/') {
        Some((account, id)) => is_account_id(account) && id.starts_with("sg-"),
        None => text.starts_with("sg-"),
    }
}
