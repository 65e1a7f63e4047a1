//! The default network ACL of a VPC. AWS creates it with the VPC, so its rules may be older than their management.
//! `found` is the ACL as it was before: its rules are not those of this resource.

use serde::{Deserialize, Serialize};

use super::vpc_ipv6_block::VpcIpv6Block;
use crate::model::OnDelete::{NoAction, Restrict};
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, of, tagged};
use crate::model::{Key, Learned, LeftBehind, Need, Tags};
use crate::plugin::Input;

/// The VPC's default network ACL, adopted. Key `default_network_acl`, ID of the ACL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DefaultNetworkAcl {
    /// Its VPC.
    pub vpc: Key,
    /// Inbound rules by number, without the default rule of AWS that denies the rest.
    pub ingress: Input<Vec<NetworkAclRule>>,
    /// Outbound rules by number, without the default rule of AWS that denies the rest.
    pub egress: Input<Vec<NetworkAclRule>>,
    /// Subnets that have another ACL and are associated with this one when they are added to this list, sorted. All
    /// other subnets keep their ACLs. AWS associates this one with new subnets.
    pub taken: Vec<TakenSubnet>,
    /// Tags.
    pub tags: Tags,
}

/// A subnet that the default network ACL takes from another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TakenSubnet {
    /// The subnet.
    pub subnet: Key,
    /// The ID of the ACL that it had in the plan. It is not taken from any other ACL.
    pub from: String,
}

/// One rule of a network ACL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NetworkAclRule {
    /// Position in the order of evaluation, 1 to 32766; unique within a direction.
    pub rule_no: i64,
    /// Whether it allows; otherwise it denies.
    pub allow: bool,
    /// Number of the protocol; `-1` for all.
    pub protocol: String,
    /// IPv4 or IPv6 range, canonical.
    pub cidr_block: String,
    /// First and last port; `None` if the protocol has no ports.
    pub ports: Option<(i64, i64)>,
    /// ICMP type and code, where -1 means all; `None` for other protocols.
    pub icmp: Option<(i64, i64)>,
}

impl Kind for DefaultNetworkAcl {
    fn kind(&self) -> &'static str {
        "default network ACL"
    }

    fn identity(&self) -> Identity {
        Identity::Key("a VPC has one; the keys of its rules are in no object")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "The packet filter of the subnets. AWS creates it with the VPC; the provider manages its \
                          rules.",
            resource: "aws_default_network_acl",
            import_id: "ACL_ID",
            attributes: &[
                ("vpc", &["default_network_acl_id"]),
                ("ingress", &["ingress"]),
                ("egress", &["egress"]),
                ("taken", &["subnet_ids"]),
                ("tags", &["tags"]),
            ],
        }
    }

    /// Inputs express all rules of the default network ACL. A VPC without them has the rules of AWS, and the plan of
    /// its replacement shows the inputs.
    fn left_behind(&self, _learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        Vec::new()
    }

    /// The list only records associations, so the subnets are deleted in any order.
    fn when_in_use(&self) -> WhenInUse {
        WhenInUse::Deleted
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.vpc, Restrict)];
        needs.extend(self.taken.iter().map(|taken| Need::new(&taken.subnet, NoAction)));
        needs
    }

    fn parent(&self) -> Option<&Key> {
        Some(&self.vpc)
    }

    tagged!();

    fn is_adopted(&self) -> bool {
        true
    }

    /// The associations with subnets come last.
    fn begin_create(&mut self) {
        self.taken.clear();
    }

    /// With an IPv6 range, AWS adds rule 101, which allows all IPv6 traffic, to each direction that has only the
    /// original rule 100.
    fn follow_creation_of(&mut self, created: &dyn Kind) {
        if of::<VpcIpv6Block>(created).is_none() {
            return;
        }
        for rules in [&mut self.ingress, &mut self.egress] {
            let Input::Known(rules) = rules else { continue };
            if let [NetworkAclRule { rule_no: 100, allow: true, protocol, cidr_block, .. }] = rules.as_slice()
                && protocol == "-1"
                && cidr_block == "0.0.0.0/0"
            {
                rules.push(NetworkAclRule { rule_no: 101, cidr_block: "::/0".to_string(), ..rules[0].clone() });
            }
        }
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

    fn rule(rule_no: i64, cidr: &str) -> NetworkAclRule {
        NetworkAclRule { rule_no, cidr_block: cidr.into(), ..NetworkAclRule::test() }
    }

    fn acl(ingress: &[NetworkAclRule]) -> DefaultNetworkAcl {
        DefaultNetworkAcl {
            ingress: Input::Known(ingress.to_vec()),
            egress: Input::Known(vec![rule(100, "0.0.0.0/0")]),
            ..DefaultNetworkAcl::test()
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
