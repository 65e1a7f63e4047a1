//! Rules of a security group. They are compared individually, because AWS merges rules with the same protocol and ports
//! into one permission.

use std::str::FromStr;

use aws_sdk_ec2::types::{IpPermission, IpRange, Ipv6Range, PrefixListId, UserIdGroupPair};
use ipnet::IpNet;

use crate::model::{RuleSource, SecurityGroupRule};

/// An existing rule with its id in AWS.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Existing {
    pub(super) id: String,
    pub(super) rule: SecurityGroupRule,
}

/// The changes from the existing rules to the wanted ones.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Difference {
    /// Rules to add.
    pub(super) authorize: Vec<SecurityGroupRule>,
    /// Rules to revoke.
    pub(super) revoke: Vec<Existing>,
    /// Ids of rules whose description changes, with the wanted rules.
    pub(super) describe: Vec<(String, SecurityGroupRule)>,
}

impl Difference {
    /// Compares rules without their descriptions, which can change in place.
    pub(super) fn between(existing: &[Existing], wanted: &[SecurityGroupRule]) -> Difference {
        let mut difference = Difference::default();
        for it in existing {
            match wanted.iter().find(|rule| same(rule, &it.rule)) {
                None => difference.revoke.push(it.clone()),
                Some(rule) if text(&rule.description) != text(&it.rule.description) => {
                    difference.describe.push((it.id.clone(), rule.clone()));
                }
                Some(_) => {}
            }
        }
        let new = wanted.iter().filter(|rule| !existing.iter().any(|it| same(rule, &it.rule)));
        difference.authorize = new.cloned().collect();
        difference
    }

    /// Leaves out what differs only because someone has changed the rules after they were read as these.
    pub(super) fn keep_changes_since(&mut self, read: &[SecurityGroupRule]) {
        let find = |rule: &SecurityGroupRule| read.iter().find(|it| same(it, rule));
        self.authorize.retain(|rule| find(rule).is_none());
        self.revoke.retain(|it| find(&it.rule).is_some());
        self.describe.retain(|(_, rule)| find(rule).is_none_or(|it| text(&it.description) != text(&rule.description)));
    }

    /// Whether no change is necessary.
    pub(super) fn is_empty(&self) -> bool {
        self.authorize.is_empty() && self.revoke.is_empty() && self.describe.is_empty()
    }
}

/// Whether two rules are equal except for their descriptions.
pub(super) fn same(one: &SecurityGroupRule, other: &SecurityGroupRule) -> bool {
    canonical(one.clone()).allows_the_same(&canonical(other.clone()))
}

/// A rule as `DescribeSecurityGroupRules` returns it.
pub(super) fn existing(rule: &aws_sdk_ec2::types::SecurityGroupRule) -> Option<Existing> {
    let source = match (rule.cidr_ipv4(), rule.cidr_ipv6(), rule.prefix_list_id(), rule.referenced_group_info()) {
        (Some(cidr), ..) => RuleSource::CidrIpv4(cidr.to_string()),
        (_, Some(cidr), ..) => RuleSource::CidrIpv6(cidr.to_string()),
        (_, _, Some(id), _) => RuleSource::PrefixList(id.to_string()),
        (_, _, _, Some(group)) => {
            group_source(group.group_id()?, group.user_id(), rule.group_id()?, rule.group_owner_id())
        }
        _ => return None,
    };
    Some(Existing {
        id: rule.security_group_rule_id()?.to_string(),
        rule: canonical(SecurityGroupRule {
            protocol: rule.ip_protocol()?.to_string(),
            from_port: rule.from_port().map(i64::from),
            to_port: rule.to_port().map(i64::from),
            source,
            description: rule.description().map(str::to_string),
        }),
    })
}

/// The rules of the permissions of a group that `DescribeSecurityGroups` returns, sorted. `applied` are the rules of
/// the last apply: a group of the same account may be written with or without it, so their form is kept.
pub(super) fn of_permissions(
    permissions: &[IpPermission],
    group_id: &str,
    owner: Option<&str>,
    applied: &[SecurityGroupRule],
) -> Vec<SecurityGroupRule> {
    let mut rules = Vec::new();
    for permission in permissions {
        let mut add = |source: RuleSource, description: Option<&str>| {
            rules.push(canonical(SecurityGroupRule {
                protocol: permission.ip_protocol().unwrap_or("-1").to_string(),
                from_port: permission.from_port().map(i64::from),
                to_port: permission.to_port().map(i64::from),
                source,
                description: description.map(str::to_string),
            }));
        };
        for range in permission.ip_ranges() {
            add(RuleSource::CidrIpv4(range.cidr_ip().unwrap_or_default().to_string()), range.description());
        }
        for range in permission.ipv6_ranges() {
            add(RuleSource::CidrIpv6(range.cidr_ipv6().unwrap_or_default().to_string()), range.description());
        }
        for list in permission.prefix_list_ids() {
            let id = list.prefix_list_id().unwrap_or_default();
            add(RuleSource::PrefixList(id.to_string()), list.description());
        }
        for pair in permission.user_id_group_pairs() {
            let id = pair.group_id().unwrap_or_default();
            add(as_applied(group_source(id, pair.user_id(), group_id, owner), applied), pair.description());
        }
    }
    rules.sort();
    rules
}

/// A permission with one source, from which AWS creates exactly one rule.
pub(super) fn permission(rule: &SecurityGroupRule, group_id: &str) -> IpPermission {
    let rule = canonical(rule.clone());
    let permission = IpPermission::builder()
        .ip_protocol(rule.protocol)
        .set_from_port(rule.from_port.and_then(|port| i32::try_from(port).ok()))
        .set_to_port(rule.to_port.and_then(|port| i32::try_from(port).ok()));
    let description = rule.description;
    let pair = |group: &str, description| {
        let account = group.split_once('/').map(|(account, _)| account.to_string());
        UserIdGroupPair::builder()
            .set_user_id(account)
            .group_id(RuleSource::group_id(group))
            .set_description(description)
            .build()
    };
    match rule.source {
        RuleSource::CidrIpv4(cidr) => {
            permission.ip_ranges(IpRange::builder().cidr_ip(cidr).set_description(description).build())
        }
        RuleSource::CidrIpv6(cidr) => {
            permission.ipv6_ranges(Ipv6Range::builder().cidr_ipv6(cidr).set_description(description).build())
        }
        RuleSource::PrefixList(id) => {
            permission.prefix_list_ids(PrefixListId::builder().prefix_list_id(id).set_description(description).build())
        }
        RuleSource::ItSelf => permission.user_id_group_pairs(pair(group_id, description)),
        RuleSource::SecurityGroup(id) => permission.user_id_group_pairs(pair(&id, description)),
    }
    .build()
}

/// A group as a source. AWS returns its account, also if that is the owner of the rule.
fn group_source(id: &str, account: Option<&str>, own_id: &str, owner: Option<&str>) -> RuleSource {
    match account.filter(|account| Some(*account) != owner && owner.is_some()) {
        _ if id == own_id => RuleSource::ItSelf,
        Some(account) => RuleSource::SecurityGroup(format!("{account}/{id}")),
        None => RuleSource::SecurityGroup(id.to_string()),
    }
}

/// The source in the form of an applied rule for the same group.
fn as_applied(source: RuleSource, applied: &[SecurityGroupRule]) -> RuleSource {
    let RuleSource::SecurityGroup(group) = &source else { return source };
    let same = |rule: &&SecurityGroupRule| matches!(&rule.source, RuleSource::SecurityGroup(other) if RuleSource::group_id(other) == RuleSource::group_id(group));
    applied.iter().find(same).map_or_else(|| source.clone(), |rule| rule.source.clone())
}

/// The rule in the form that AWS returns: protocols by name if they have one, and no ports if the protocol has none.
fn canonical(rule: SecurityGroupRule) -> SecurityGroupRule {
    let protocol = match rule.protocol.to_lowercase().as_str() {
        "6" => "tcp".to_string(),
        "17" => "udp".to_string(),
        "1" => "icmp".to_string(),
        "58" => "icmpv6".to_string(),
        "all" => "-1".to_string(),
        other => other.to_string(),
    };
    let has_ports = matches!(protocol.as_str(), "tcp" | "udp" | "icmp" | "icmpv6");
    let source = match rule.source {
        RuleSource::CidrIpv4(cidr) => RuleSource::CidrIpv4(canonical_cidr(cidr)),
        RuleSource::CidrIpv6(cidr) => RuleSource::CidrIpv6(canonical_cidr(cidr)),
        other => other,
    };
    SecurityGroupRule {
        protocol,
        from_port: rule.from_port.filter(|_| has_ports),
        to_port: rule.to_port.filter(|_| has_ports),
        source,
        description: text(&rule.description).map(str::to_string),
    }
}

fn canonical_cidr(cidr: String) -> String {
    IpNet::from_str(&cidr).map_or(cidr, |net| net.trunc().to_string())
}

/// The description; AWS returns an empty text for a rule without one.
fn text(description: &Option<String>) -> Option<&str> {
    description.as_deref().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(protocol: &str, ports: Option<(i64, i64)>, source: RuleSource) -> SecurityGroupRule {
        SecurityGroupRule {
            protocol: protocol.into(),
            from_port: ports.map(|(from, _)| from),
            to_port: ports.map(|(_, to)| to),
            source,
            ..SecurityGroupRule::test()
        }
    }

    fn found(id: &str, rule: SecurityGroupRule) -> Existing {
        Existing { id: id.into(), rule }
    }

    #[test]
    fn rules_are_added_and_revoked_individually() {
        let web = rule("tcp", Some((443, 443)), RuleSource::CidrIpv4("10.0.0.0/8".into()));
        let all = rule("-1", None, RuleSource::ItSelf);
        let ssh = rule("tcp", Some((22, 22)), RuleSource::CidrIpv4("10.0.0.0/8".into()));
        let all = found("sgr-1", all);
        let difference = Difference::between(&[all.clone(), found("sgr-2", web.clone())], &[web, ssh.clone()]);
        assert_eq!(difference, Difference { authorize: vec![ssh], revoke: vec![all], describe: Vec::new() });
    }

    #[test]
    fn a_description_changes_in_place() {
        let plain = rule("tcp", Some((443, 443)), RuleSource::CidrIpv6("::/0".into()));
        let described = SecurityGroupRule { description: Some("web".into()), ..plain.clone() };
        let difference = Difference::between(&[found("sgr-1", plain)], std::slice::from_ref(&described));
        let describe = vec![("sgr-1".to_string(), described)];
        assert_eq!(difference, Difference { describe, ..Difference::default() });
    }

    #[test]
    fn rules_are_compared_in_canonical_form() {
        let written = rule("6", Some((80, 80)), RuleSource::CidrIpv6("2001:DB8::/32".into()));
        let shown = rule("tcp", Some((80, 80)), RuleSource::CidrIpv6("2001:db8::/32".into()));
        assert!(same(&written, &shown));
        let all = rule("-1", Some((0, 0)), RuleSource::ItSelf);
        assert!(same(&all, &rule("-1", None, RuleSource::ItSelf)));
        assert!(!same(&shown, &rule("udp", Some((80, 80)), RuleSource::CidrIpv6("2001:db8::/32".into()))));
    }

    #[test]
    fn a_merged_permission_yields_one_rule_per_source() {
        let permission = IpPermission::builder()
            .ip_protocol("tcp")
            .from_port(443)
            .to_port(443)
            .ip_ranges(IpRange::builder().cidr_ip("10.0.0.0/8").description("office").build())
            .ip_ranges(IpRange::builder().cidr_ip("192.168.0.0/16").build())
            .user_id_group_pairs(UserIdGroupPair::builder().group_id("sg-1").build())
            .user_id_group_pairs(UserIdGroupPair::builder().group_id("sg-2").build())
            .build();
        let rules = of_permissions(&[permission], "sg-1", None, &[]);
        let sources: Vec<_> = rules.iter().map(|rule| rule.source.clone()).collect();
        assert_eq!(
            sources,
            [
                RuleSource::CidrIpv4("10.0.0.0/8".into()),
                RuleSource::CidrIpv4("192.168.0.0/16".into()),
                RuleSource::ItSelf,
                RuleSource::SecurityGroup("sg-2".into()),
            ]
        );
        assert_eq!(rules[0].description.as_deref(), Some("office"));
    }

    #[test]
    fn a_group_of_another_account_keeps_the_account() {
        let pair = |account: &str, id: &str| UserIdGroupPair::builder().user_id(account).group_id(id).build();
        let permission = IpPermission::builder()
            .ip_protocol("-1")
            .user_id_group_pairs(pair("111111111111", "sg-1"))
            .user_id_group_pairs(pair("111111111111", "sg-2"))
            .user_id_group_pairs(pair("222222222222", "sg-3"))
            .build();
        let permissions = [permission];
        let sources = |applied: &[SecurityGroupRule]| {
            let rules = of_permissions(&permissions, "sg-1", Some("111111111111"), applied);
            rules.into_iter().map(|rule| rule.source).collect::<Vec<_>>()
        };
        let group = |text: &str| RuleSource::SecurityGroup(text.into());
        assert_eq!(sources(&[]), [RuleSource::ItSelf, group("222222222222/sg-3"), group("sg-2")]);
        let written = rule("-1", None, group("111111111111/sg-2"));
        assert_eq!(
            sources(std::slice::from_ref(&written)),
            [RuleSource::ItSelf, group("111111111111/sg-2"), group("222222222222/sg-3")],
            "the account of the group itself may be written"
        );
        assert!(same(&written, &rule("-1", None, group("sg-2"))));
        let sent = permission_of("222222222222/sg-3");
        assert_eq!((sent.user_id(), sent.group_id()), (Some("222222222222"), Some("sg-3")));
        assert_eq!(permission_of("sg-2").user_id(), None);
    }

    fn permission_of(group: &str) -> UserIdGroupPair {
        let sent = permission(&rule("-1", None, RuleSource::SecurityGroup(group.into())), "sg-1");
        sent.user_id_group_pairs()[0].clone()
    }
}
