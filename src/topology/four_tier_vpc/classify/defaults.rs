//! The default network ACL and the default security group, if the inputs reproduce them exactly.

use super::{Classifier, Placed};
use crate::model::keys::network as keys;
use crate::model::{FoundNetworkAcl, FoundSecurityGroup, NetworkAclRule, RuleSource, SecurityGroupRule, Tier};
use crate::plugin::{AttributePath, Nested, Problem, Value};
use crate::topology::four_tier_vpc::config::{NaclRule, SecurityGroupRule as ConfiguredRule};
use crate::topology::four_tier_vpc::import::rules as imported;
use crate::topology::four_tier_vpc::{network_acl, security_group, validate};

impl<'a> Classifier<'a> {
    /// Places the default network ACL.
    pub(super) fn network_acl(&mut self, subnets: &Placed<'a>) {
        let Some(acl) = &self.landscape.default_network_acl else { return };
        match fault_of_acl(acl, subnets) {
            Some(reason) => self.reject(&acl.id, reason),
            None if self.is_free(&acl.id) => self.place(&acl.id, keys::default_network_acl().slot),
            None => {}
        }
    }

    /// Places the default security group.
    pub(super) fn security_group(&mut self) {
        let Some(group) = &self.landscape.default_security_group else { return };
        match fault_of_group(group) {
            Some(reason) => self.reject(&group.id, reason),
            None if self.is_free(&group.id) => self.place(&group.id, keys::default_security_group().slot),
            None => {}
        }
    }
}

/// Why the inputs cannot express an ACL.
fn fault_of_acl(acl: &FoundNetworkAcl, subnets: &Placed<'_>) -> Option<String> {
    for (direction, rules) in [("inbound", &acl.ingress), ("outbound", &acl.egress)] {
        if let Some(rule) = rules.iter().find(|rule| !is_reproduced_acl_rule(rule)) {
            return Some(format!("the inputs cannot express its {direction} rule {}", rule.rule_no));
        }
    }
    // This resource associates all subnets but those of the transit tier, or none.
    let own: Vec<&String> =
        subnets.iter().filter(|((tier, _), _)| *tier != Tier::Transit).map(|(_, subnet)| &subnet.id).collect();
    let (mut with, mut without) = (own.iter(), own.iter());
    let with = with.find(|id| acl.associated.contains(id))?;
    let without = without.find(|id| !acl.associated.contains(id))?;
    Some(format!(
        "it is the network ACL of {with} and not of {without}, and associate_default_nacl_to_subnets covers both"
    ))
}

/// Why the inputs cannot express a group.
fn fault_of_group(group: &FoundSecurityGroup) -> Option<String> {
    for (direction, rules) in [("inbound", &group.ingress), ("outbound", &group.egress)] {
        if rules.is_empty() {
            return Some(format!("it has no {direction} rules, which no map of rules requires"));
        }
        if let Some(rule) = rules.iter().find(|rule| !is_reproduced_group_rule(rule)) {
            return Some(format!("the inputs cannot express its {direction} rule {}", described(rule)));
        }
    }
    None
}

fn is_reproduced_acl_rule(rule: &NetworkAclRule) -> bool {
    let entry = imported::network_acl_rule(rule);
    let configured: Option<NaclRule> = decoded(&entry, validate::network_acl_rule);
    configured.and_then(|it| network_acl::from_config(&it)).as_ref() == Some(rule)
}

fn is_reproduced_group_rule(rule: &SecurityGroupRule) -> bool {
    let entry = imported::security_group_rule(&[rule]);
    let configured: Option<ConfiguredRule> = decoded(&entry, validate::security_group_rule);
    configured.and_then(|it| security_group::expand(&it)).as_deref() == Some(std::slice::from_ref(rule))
}

/// The entry of a map of rules; `None` if it is not valid.
fn decoded<T: Nested>(entry: &Value, check: fn(&T) -> Vec<Problem>) -> Option<T> {
    let mut problems = Vec::new();
    let rule = T::decode(entry, &AttributePath::root(), &mut problems)?;
    problems.extend(check(&rule));
    problems.is_empty().then_some(rule)
}

fn described(rule: &SecurityGroupRule) -> String {
    let source = match &rule.source {
        RuleSource::CidrIpv4(text)
        | RuleSource::CidrIpv6(text)
        | RuleSource::PrefixList(text)
        | RuleSource::SecurityGroup(text) => text,
        RuleSource::ItSelf => "itself",
    };
    format!("for protocol {} and {source}", rule.protocol)
}

#[cfg(test)]
mod tests;
