//! The differences between two specs in words, for messages.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Authorization, NetworkAclRule, RuleSource, SecurityGroupRule};
use crate::model::printable;

impl SecurityGroupRule {
    /// The traffic that the rule allows, such as `tcp 443 from 10.0.0.0/8`.
    pub fn traffic(&self, is_egress: bool) -> String {
        let source = match &self.source {
            RuleSource::CidrIpv4(text)
            | RuleSource::CidrIpv6(text)
            | RuleSource::PrefixList(text)
            | RuleSource::SecurityGroup(text) => text,
            RuleSource::ItSelf => "itself",
        };
        let protocol = protocol(&self.protocol);
        let numbers = match (self.protocol.as_str(), self.from_port, self.to_port) {
            ("tcp" | "udp", Some(from), Some(to)) => ports(from, to),
            ("icmp" | "icmpv6", Some(kind), Some(code)) => icmp(kind, code),
            _ => String::new(),
        };
        format!("{protocol}{numbers} {} {}", preposition(is_egress), printable(source))
    }
}

impl NetworkAclRule {
    /// The number, the action and the traffic of the rule, such as `100 allow tcp 443 from 10.0.0.0/8`.
    pub fn phrase(&self, is_egress: bool) -> String {
        let action = if self.allow { "allow" } else { "deny" };
        let (ports, icmp) =
            (self.ports.map(|(from, to)| ports(from, to)), self.icmp.map(|(kind, code)| icmp(kind, code)));
        let numbers = ports.or(icmp).unwrap_or_default();
        let (protocol, range) = (protocol(&self.protocol), printable(&self.cidr_block));
        format!("{} {action} {protocol}{numbers} {} {range}", self.rule_no, preposition(is_egress))
    }
}

/// The differences of another value of a field from this one.
pub(super) fn differences(field: &str, mine: &Value, other: &Value) -> Vec<String> {
    if let Some(what) = confidential(field) {
        return of_confidential(what, mine, other);
    }
    match (field, mine, other) {
        ("default_settings" | "route_settings", ..) => of_members(field, mine, other),
        (_, Value::Array(mine), Value::Array(others)) if of_elements(field, mine, others).is_some() => {
            Vec::from_iter(of_elements(field, mine, others))
        }
        _ => vec![format!("{field} is {} instead of {}", phrase(field, other), phrase(field, mine))],
    }
}

/// The elements that only one of two lists has; `None` if only their order differs.
fn of_elements(field: &str, mine: &[Value], others: &[Value]) -> Option<String> {
    let only = |sign: &str, of: &[Value], without: &[Value]| {
        let elements = of.iter().filter(|it| !without.contains(it)).map(|it| format!("{sign} {}", phrase(field, it)));
        elements.collect::<Vec<_>>()
    };
    let elements = [only("+", others, mine), only("-", mine, others)].concat();
    (!elements.is_empty()).then(|| format!("{field}: {}", elements.join(", ")))
}

/// The members that differ, in maps of any depth.
fn of_members(path: &str, mine: &Value, other: &Value) -> Vec<String> {
    let names: BTreeSet<&String> = [mine, other].into_iter().filter_map(Value::as_object).flat_map(Map::keys).collect();
    if names.is_empty() {
        return vec![format!("{path} is {} instead of {}", phrase(path, other), phrase(path, mine))];
    }
    let differing = names.into_iter().filter(|name| mine.get(*name) != other.get(*name));
    let member = |value: &Value, name: &str| value.get(name).cloned().unwrap_or_default();
    let of = |name: &String| {
        let (mine, other) = (member(mine, name), member(other, name));
        if mine == other { Vec::new() } else { of_members(&format!("{path} {}", printable(name)), &mine, &other) }
    };
    differing.flat_map(of).collect()
}

/// What an entry of a map with values that may be confidential is called. Messages contain only the names of such
/// entries.
pub(super) fn confidential(field: &str) -> Option<&'static str> {
    match field {
        "tags" => Some("tag"),
        "request_parameters" => Some("request parameter"),
        "response_parameters" => Some("response parameter"),
        "variables" => Some("stage variable"),
        _ => None,
    }
}

fn of_confidential(what: &str, mine: &Value, other: &Value) -> Vec<String> {
    let empty = Map::new();
    let (mine, others) = (mine.as_object().unwrap_or(&empty), other.as_object().unwrap_or(&empty));
    let keys: BTreeSet<&String> = mine.keys().chain(others.keys()).collect();
    let differing = keys.into_iter().filter(|key| mine.get(*key) != others.get(*key));
    let of = |key: &String| {
        let entry = format!("{what} {}", printable(key));
        match (mine.get(key), others.get(key)) {
            (Some(Value::Object(_)), Some(other @ Value::Object(_))) => of_confidential(&entry, &mine[key], other),
            (Some(_), None) => vec![format!("{entry} is missing")],
            (None, Some(_)) => vec![format!("{entry} is added")],
            _ => vec![format!("{entry} has another value")],
        }
    };
    differing.flat_map(of).collect()
}

/// The value of a field. A reference appears as its slot or ID, and a rule in words.
pub(super) fn phrase(field: &str, value: &Value) -> String {
    match value {
        Value::Null => "absent".to_string(),
        Value::Object(_) if field == "authorization" => match serde_json::from_value::<Authorization>(value.clone()) {
            Ok(authorization) => printable(&authorization.to_string()).into_owned(),
            Err(_) => value.to_string(),
        },
        Value::String(text) => printable(text).into_owned(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(|item| phrase(field, item)).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => match (fields.get("key"), fields.get("id"), fields.get("slot")) {
            (Some(key), None, None) => phrase(field, key),
            (None, Some(id), None) => phrase(field, id),
            (None, None, Some(slot)) => phrase(field, slot),
            _ => rule(field, value).unwrap_or_else(|| printable(&value.to_string()).into_owned()),
        },
        other => other.to_string(),
    }
}

/// A rule of a security group or a network ACL; `None` if the value is something else.
fn rule(field: &str, value: &Value) -> Option<String> {
    let is_egress = field == "egress";
    if let Ok(rule) = serde_json::from_value::<SecurityGroupRule>(value.clone()) {
        let description = rule.description.as_deref().map(|text| format!(" ({})", printable(text)));
        return Some(rule.traffic(is_egress) + &description.unwrap_or_default());
    }
    let rule = serde_json::from_value::<NetworkAclRule>(value.clone());
    rule.ok().map(|rule| rule.phrase(is_egress))
}

fn preposition(is_egress: bool) -> &'static str {
    if is_egress { "to" } else { "from" }
}

fn protocol(text: &str) -> String {
    match text {
        "-1" => "all traffic".to_string(),
        "6" => "tcp".to_string(),
        "17" => "udp".to_string(),
        "1" => "icmp".to_string(),
        "58" => "icmpv6".to_string(),
        number if number.bytes().all(|it| it.is_ascii_digit()) => format!("protocol {number}"),
        name => printable(name).into_owned(),
    }
}

/// Ports after a protocol.
fn ports(from: i64, to: i64) -> String {
    if from == to { format!(" {from}") } else { format!(" {from}-{to}") }
}

/// An ICMP type and code after a protocol; -1 means all.
fn icmp(kind: i64, code: i64) -> String {
    match (kind, code) {
        (-1, _) => String::new(),
        (kind, -1) => format!(" type {kind}"),
        (kind, code) => format!(" type {kind} code {code}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{DefaultNetworkAcl, DefaultSecurityGroup, Input, Spec};

    #[test]
    fn lists_of_rules_differ_in_single_rules() {
        let rule = |port: i64, description: Option<&str>| SecurityGroupRule {
            from_port: Some(port),
            to_port: Some(port),
            source: RuleSource::CidrIpv4("0.0.0.0/0".to_string()),
            description: description.map(str::to_string),
            ..SecurityGroupRule::test()
        };
        let group = |ingress: Option<Vec<SecurityGroupRule>>| {
            Spec::DefaultSecurityGroup(DefaultSecurityGroup {
                ingress: Input::Known(ingress),
                ..DefaultSecurityGroup::test()
            })
        };
        let applied = group(Some(vec![rule(80, None), rule(443, None)]));
        for (found, expected) in [
            (Some(vec![rule(22, None), rule(80, None), rule(443, None)]), "ingress: + tcp 22 from 0.0.0.0/0"),
            (
                Some(vec![rule(80, Some("web"))]),
                "ingress: + tcp 80 from 0.0.0.0/0 (web), - tcp 80 from 0.0.0.0/0, - tcp 443 from 0.0.0.0/0",
            ),
            (None, "ingress is absent instead of [tcp 80 from 0.0.0.0/0, tcp 443 from 0.0.0.0/0]"),
        ] {
            assert_eq!(applied.differences(&group(found)), [expected]);
        }
        let acl = |egress: Vec<NetworkAclRule>| {
            Spec::DefaultNetworkAcl(DefaultNetworkAcl { egress: Input::Known(egress), ..DefaultNetworkAcl::test() })
        };
        let rule = |allow| NetworkAclRule { allow, ..NetworkAclRule::test() };
        assert_eq!(
            acl(vec![rule(true)]).differences(&acl(vec![rule(false)])),
            ["egress: + 100 deny all traffic to 0.0.0.0/0, - 100 allow all traffic to 0.0.0.0/0"]
        );
    }

    #[test]
    fn a_list_in_another_order_is_shown_in_full() {
        let list = |items: &[&str]| Value::from(items.to_vec());
        assert_eq!(differences("x", &list(&["a", "b"]), &list(&["b", "a"])), ["x is [b, a] instead of [a, b]"]);
        assert_eq!(differences("x", &list(&["a", "b"]), &list(&["b", "c"])), ["x: + c, - a"]);
    }

    #[test]
    fn rules_of_groups_and_acls_are_shown_in_words() {
        let group = |protocol: &str, ports: Option<(i64, i64)>, source: RuleSource| SecurityGroupRule {
            protocol: protocol.to_string(),
            from_port: ports.map(|it| it.0),
            to_port: ports.map(|it| it.1),
            source,
            ..SecurityGroupRule::test()
        };
        let cidr = || RuleSource::CidrIpv4("10.0.0.0/8".to_string());
        for (rule, is_egress, expected) in [
            (group("tcp", Some((22, 22)), cidr()), false, "tcp 22 from 10.0.0.0/8"),
            (group("udp", Some((80, 81)), RuleSource::PrefixList("pl-1".into())), true, "udp 80-81 to pl-1"),
            (group("icmp", Some((8, -1)), cidr()), false, "icmp type 8 from 10.0.0.0/8"),
            (group("icmpv6", Some((-1, -1)), cidr()), false, "icmpv6 from 10.0.0.0/8"),
            (group("-1", None, RuleSource::ItSelf), false, "all traffic from itself"),
            (group("50", None, cidr()), true, "protocol 50 to 10.0.0.0/8"),
        ] {
            assert_eq!(rule.traffic(is_egress), expected);
        }
        let acl = |protocol: &str, allow, ports, icmp| NetworkAclRule {
            allow,
            protocol: protocol.to_string(),
            cidr_block: "::/0".to_string(),
            ports,
            icmp,
            ..NetworkAclRule::test()
        };
        for (rule, expected) in [
            (acl("6", true, Some((443, 443)), None), "100 allow tcp 443 from ::/0"),
            (acl("-1", false, None, None), "100 deny all traffic from ::/0"),
            (acl("58", true, None, Some((128, 0))), "100 allow icmpv6 type 128 code 0 from ::/0"),
        ] {
            assert_eq!(rule.phrase(false), expected);
        }
    }
}
