//! The default network ACL and the default security group, if the inputs reproduce them exactly.

use super::Classifier;
use crate::model::keys::network as keys;
use crate::model::{FoundNetworkAcl, FoundSecurityGroup, NetworkAclRule, SecurityGroupRule};
use crate::topology::four_tier_vpc::config::{NaclRule, SecurityGroupRule as ConfiguredRule};
use crate::topology::four_tier_vpc::{network_acl, security_group, validate};

impl<'a> Classifier<'a> {
    /// Places the default network ACL.
    pub(super) fn network_acl(&mut self) {
        let Some(acl) = &self.landscape.default_network_acl else { return };
        match fault_of_acl(acl) {
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
fn fault_of_acl(acl: &FoundNetworkAcl) -> Option<String> {
    for (direction, rules) in [("inbound", &acl.ingress), ("outbound", &acl.egress)] {
        if let Some(rule) = rules.iter().find(|rule| !is_reproduced_acl_rule(rule)) {
            return Some(format!("the inputs cannot express its {direction} rule {}", rule.rule_no));
        }
    }
    None
}

/// Why the inputs cannot express a group.
fn fault_of_group(group: &FoundSecurityGroup) -> Option<String> {
    if group.ingress.is_empty() && group.egress.is_empty() {
        // This is `restrict_default_security_group`.
        return None;
    }
    for (direction, rules) in [("inbound", &group.ingress), ("outbound", &group.egress)] {
        if rules.is_empty() {
            return Some(format!("it has no {direction} rules, which no map of rules requires"));
        }
        if let Some(rule) = rules.iter().find(|rule| !is_reproduced_group_rule(rule)) {
            let traffic = rule.traffic(direction == "outbound");
            return Some(format!("the inputs cannot express its {direction} rule for {traffic}"));
        }
    }
    None
}

fn is_reproduced_acl_rule(rule: &NetworkAclRule) -> bool {
    let configured = NaclRule::of(rule);
    validate::network_acl_rule(&configured).is_empty() && network_acl::from_config(&configured).as_ref() == Some(rule)
}

fn is_reproduced_group_rule(rule: &SecurityGroupRule) -> bool {
    let configured = ConfiguredRule::of(&[rule]);
    validate::security_group_rule(&configured).is_empty()
        && security_group::expand(&configured).as_deref() == Some(std::slice::from_ref(rule))
}

#[cfg(test)]
mod tests;
