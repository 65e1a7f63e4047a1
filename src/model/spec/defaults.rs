//! The rules of the default network ACL and of the default security group: those that stay when they are released.
//!
//! AWS creates both with the VPC, so their rules may be older than their management. `found` is such an object as it
//! was before: its rules are not those of this resource.

use super::{DefaultNetworkAcl, DefaultSecurityGroup, NetworkAclRule, RuleSource, SecurityGroupRule, Spec};
use crate::plugin::Input;

impl DefaultSecurityGroup {
    /// The rules of each direction, inbound first, that a release revokes. `self` is the group as last applied.
    pub fn revoked_rules(&self, found: Option<&Spec>) -> [Vec<SecurityGroupRule>; 2] {
        let found = match found {
            Some(Spec::DefaultSecurityGroup(found)) => Some(found),
            _ => None,
        };
        let rules =
            |rules: &Input<Option<Vec<SecurityGroupRule>>>| rules.known().cloned().flatten().unwrap_or_default();
        let revoked = |applied: &Input<Option<Vec<SecurityGroupRule>>>, found: Option<Vec<SecurityGroupRule>>| {
            let was_there = |rule: &SecurityGroupRule| found.iter().flatten().any(|it| it.allows_the_same(rule));
            rules(applied).into_iter().filter(|rule| !was_there(rule)).collect()
        };
        let [ingress, egress] = [found.map(|it| rules(&it.ingress)), found.map(|it| rules(&it.egress))];
        [revoked(&self.ingress, ingress), revoked(&self.egress, egress)]
    }
}

impl SecurityGroupRule {
    /// Whether both rules allow the same traffic: they are equal except for their descriptions and for the account of a
    /// group, which need not be written.
    pub fn allows_the_same(&self, other: &SecurityGroupRule) -> bool {
        let is_same_source = match (&self.source, &other.source) {
            (RuleSource::SecurityGroup(one), RuleSource::SecurityGroup(other)) => {
                RuleSource::group_id(one) == RuleSource::group_id(other)
            }
            (one, other) => one == other,
        };
        is_same_source
            && self.protocol == other.protocol
            && (self.from_port, self.to_port) == (other.from_port, other.to_port)
    }
}

impl RuleSource {
    /// The ID of a group without its account. IDs are unique in a partition.
    pub fn group_id(group: &str) -> &str {
        group.rsplit('/').next().unwrap_or(group)
    }
}

impl DefaultNetworkAcl {
    /// The rules of each direction, inbound first, after a release. `self` is the ACL as last applied, `now` as it is.
    /// Rules that this resource has set are removed, and rules that it has replaced or deleted are restored.
    pub fn released_rules(&self, now: [&[NetworkAclRule]; 2], found: &DefaultNetworkAcl) -> [Vec<NetworkAclRule>; 2] {
        let rules = |rules: &Input<Vec<NetworkAclRule>>| rules.known().cloned().unwrap_or_default();
        let released = |now: &[NetworkAclRule], applied: Vec<NetworkAclRule>, found: Vec<NetworkAclRule>| {
            let stays = |rule: &&NetworkAclRule| !applied.contains(rule) || found.contains(rule);
            let mut released: Vec<NetworkAclRule> = now.iter().filter(stays).cloned().collect();
            let is_free = |rule: &NetworkAclRule| !released.iter().any(|it| it.rule_no == rule.rule_no);
            // One that was applied and is missing was deleted outside Terraform.
            let back = found.iter().filter(|rule| !applied.contains(rule) && is_free(rule));
            let back: Vec<NetworkAclRule> = back.cloned().collect();
            released.extend(back);
            released.sort();
            released
        };
        let [ingress, egress] = now;
        [
            released(ingress, rules(&self.ingress), rules(&found.ingress)),
            released(egress, rules(&self.egress), rules(&found.egress)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Key;

    fn allow(protocol: &str, source: RuleSource) -> SecurityGroupRule {
        let (protocol, description) = (protocol.to_string(), None);
        SecurityGroupRule { protocol, from_port: None, to_port: None, source, description }
    }

    fn group(ingress: Option<Vec<SecurityGroupRule>>) -> DefaultSecurityGroup {
        let (vpc, tags) = (Key::new("vpc"), Input::Known(Default::default()));
        DefaultSecurityGroup { vpc, ingress: Input::Known(ingress), egress: Input::Known(None), tags }
    }

    #[test]
    fn a_group_loses_only_the_rules_that_were_not_found_in_it() {
        let group_of = |id: &str| allow("-1", RuleSource::SecurityGroup(id.into()));
        let range = |cidr: &str| allow("-1", RuleSource::CidrIpv4(cidr.into()));
        let described = SecurityGroupRule { description: Some("inside".into()), ..range("10.0.0.0/8") };
        let applied = group(Some(vec![described, range("10.1.0.0/16"), group_of("123456789012/sg-2")]));
        let found = Spec::DefaultSecurityGroup(group(Some(vec![range("10.0.0.0/8"), group_of("sg-2")])));
        assert_eq!(applied.revoked_rules(Some(&found)), [vec![range("10.1.0.0/16")], vec![]]);
        assert_eq!(applied.revoked_rules(None)[0].len(), 3, "this resource has set all of them");
    }

    fn rule(rule_no: i64, cidr: &str) -> NetworkAclRule {
        let (protocol, cidr_block) = ("-1".to_string(), cidr.to_string());
        NetworkAclRule { rule_no, allow: true, protocol, cidr_block, ports: None, icmp: None }
    }

    fn acl(ingress: &[NetworkAclRule]) -> DefaultNetworkAcl {
        DefaultNetworkAcl {
            vpc: Key::new("vpc"),
            ingress: Input::Known(ingress.to_vec()),
            egress: Input::Known(vec![rule(100, "0.0.0.0/0")]),
            taken: vec![],
            tags: Input::Known(Default::default()),
        }
    }

    #[test]
    fn an_acl_gets_the_rules_back_that_were_found_in_it() {
        let kept = rule(50, "10.0.0.0/8");
        let found = acl(&[kept.clone(), rule(60, "10.6.0.0/16"), rule(100, "0.0.0.0/0"), rule(110, "10.7.0.0/16")]);
        // The resource has kept 50 and 60, replaced 100, deleted 110 and added 120. Since then, 60 was deleted and 70
        // was created outside Terraform.
        let added = rule(120, "10.2.0.0/16");
        let applied = acl(&[kept.clone(), rule(60, "10.6.0.0/16"), rule(100, "10.1.0.0/16"), added.clone()]);
        let now = [kept.clone(), rule(70, "10.3.0.0/16"), rule(100, "10.1.0.0/16"), added];
        let [ingress, egress] = applied.released_rules([&now, &[rule(100, "0.0.0.0/0")]], &found);
        let expected = [kept, rule(70, "10.3.0.0/16"), rule(100, "0.0.0.0/0"), rule(110, "10.7.0.0/16")];
        assert_eq!((ingress.as_slice(), egress.as_slice()), (&expected[..], &[rule(100, "0.0.0.0/0")][..]));
    }
}
