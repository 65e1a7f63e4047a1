//! The default security group of a VPC. AWS creates it with the VPC, so its rules may be older than their management.
//! `found` is the group as it was before: its rules are not those of this resource.

use serde::{Deserialize, Serialize};

use super::vpc_ipv6_block::VpcIpv6Block;
use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, of, tagged};
use crate::model::{Key, Learned, LeftBehind, Need, Tags};
use crate::plugin::Input;

/// The VPC's default security group, adopted. Key `default_security_group`, ID of the group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DefaultSecurityGroup {
    /// Its VPC.
    pub vpc: Key,
    /// Inbound rules, sorted, one per source; `None` leaves the existing rules unchanged.
    pub ingress: Input<Option<Vec<SecurityGroupRule>>>,
    /// Outbound rules, sorted, one per destination; `None` leaves the existing rules unchanged.
    pub egress: Input<Option<Vec<SecurityGroupRule>>>,
    /// The inbound rules that this resource had set before it left them unchanged. A release revokes them.
    #[serde(default)]
    pub left_ingress: Vec<SecurityGroupRule>,
    /// The same for outbound rules.
    #[serde(default)]
    pub left_egress: Vec<SecurityGroupRule>,
    /// Tags.
    pub tags: Tags,
}

/// One rule of a security group, with one source or destination.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SecurityGroupRule {
    /// `-1` for all, `tcp`, `udp`, `icmp`, `icmpv6`, or a number.
    pub protocol: String,
    /// First port or ICMP type; `None` if the protocol has none.
    pub from_port: Option<i64>,
    /// Last port or ICMP code; `None` if the protocol has none.
    pub to_port: Option<i64>,
    /// The source or destination of the traffic.
    pub source: RuleSource,
    /// Free text.
    pub description: Option<String>,
}

/// The source or destination of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleSource {
    /// An IPv4 range, canonical.
    CidrIpv4(String),
    /// An IPv6 range, canonical.
    CidrIpv6(String),
    /// The group itself.
    ItSelf,
    /// The ID of a prefix list.
    PrefixList(String),
    /// The ID of another group, after the ID of its account and a slash if that is another account.
    SecurityGroup(String),
}

impl Kind for DefaultSecurityGroup {
    fn kind(&self) -> &'static str {
        "default security group"
    }

    fn identity(&self) -> Identity {
        Identity::Key("a VPC has one; the keys of its rules are in no object")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "The security group of resources that have no other. AWS creates it with the VPC; the \
                          provider manages its rules.",
            resource: "aws_default_security_group",
            import_id: "GROUP_ID",
            attributes: &[
                ("vpc", &["vpc_id"]),
                ("ingress", &["ingress"]),
                ("egress", &["egress"]),
                ("left_ingress", &[]),
                ("left_egress", &[]),
                ("tags", &["tags"]),
            ],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        WhenInUse::Deleted
    }

    /// Inputs express all rules of the default security group. A VPC without them has the rules of AWS, and the plan of
    /// its replacement shows the inputs.
    fn left_behind(&self, _learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        Vec::new()
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::new(&self.vpc, Restrict)]
    }

    fn parent(&self) -> Option<&Key> {
        Some(&self.vpc)
    }

    tagged!();

    fn is_adopted(&self) -> bool {
        true
    }

    /// With an IPv6 range, AWS adds an egress rule that allows all IPv6 traffic to a group that has only the original
    /// egress rule.
    fn follow_creation_of(&mut self, created: &dyn Kind) {
        if of::<VpcIpv6Block>(created).is_some()
            && let Input::Known(Some(rules)) = &mut self.egress
            && let [SecurityGroupRule { protocol, source: RuleSource::CidrIpv4(range), .. }] = rules.as_slice()
            && protocol == "-1"
            && range == "0.0.0.0/0"
        {
            let source = RuleSource::CidrIpv6("::/0".to_string());
            rules.push(SecurityGroupRule { source, description: None, ..rules[0].clone() });
        }
    }

    fn cuts_off_interfaces(&self, before: Option<&dyn Kind>) -> bool {
        let before = before.and_then(|before| of::<DefaultSecurityGroup>(before));
        self.has_no_rules() && !before.is_some_and(DefaultSecurityGroup::has_no_rules)
    }

    /// An empty map of rules leaves the existing rules unchanged.
    fn mask_unowned(&mut self, wanted: &dyn Kind) {
        let Some(wanted) = of::<DefaultSecurityGroup>(wanted) else { return };
        if wanted.ingress == Input::Known(None) {
            self.ingress = Input::Known(None);
        }
        if wanted.egress == Input::Known(None) {
            self.egress = Input::Known(None);
        }
        self.left_ingress.clone_from(&wanted.left_ingress);
        self.left_egress.clone_from(&wanted.left_egress);
    }
}

impl DefaultSecurityGroup {
    /// Whether it allows no traffic at all.
    pub fn has_no_rules(&self) -> bool {
        [&self.ingress, &self.egress].into_iter().all(|rules| *rules == Input::Known(Some(Vec::new())))
    }

    /// The rules of each direction, inbound first, that a release revokes. `self` is the group as last applied.
    pub fn revoked_rules(&self, found: Option<&DefaultSecurityGroup>) -> [Vec<SecurityGroupRule>; 2] {
        let rules =
            |rules: &Input<Option<Vec<SecurityGroupRule>>>| rules.known().cloned().flatten().unwrap_or_default();
        let revoked = |set: Vec<SecurityGroupRule>, found: Option<Vec<SecurityGroupRule>>| {
            let was_there = |rule: &SecurityGroupRule| found.iter().flatten().any(|it| it.allows_the_same(rule));
            set.into_iter().filter(|rule| !was_there(rule)).collect()
        };
        let [ingress, egress] = [found.map(|it| rules(&it.ingress)), found.map(|it| rules(&it.egress))];
        let [set_ingress, set_egress] = self.set_rules();
        [revoked(set_ingress, ingress), revoked(set_egress, egress)]
    }

    /// The rules of each direction that this resource has set, inbound first, also if it has left them since.
    pub fn set_rules(&self) -> [Vec<SecurityGroupRule>; 2] {
        [left_with(&self.ingress, &self.left_ingress), left_with(&self.egress, &self.left_egress)]
    }
}

/// The rules of a direction, with those that were left before.
fn left_with(rules: &Input<Option<Vec<SecurityGroupRule>>>, left: &[SecurityGroupRule]) -> Vec<SecurityGroupRule> {
    let mut all: Vec<SecurityGroupRule> = rules.known().cloned().flatten().unwrap_or_default();
    all.extend(left.iter().filter(|rule| !all.contains(rule)).cloned().collect::<Vec<_>>());
    all.sort();
    all
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

#[cfg(test)]
mod tests {
    use super::*;

    fn allow(protocol: &str, source: RuleSource) -> SecurityGroupRule {
        let (protocol, description) = (protocol.to_string(), None);
        SecurityGroupRule { protocol, from_port: None, to_port: None, source, description }
    }

    fn group(ingress: Option<Vec<SecurityGroupRule>>) -> DefaultSecurityGroup {
        DefaultSecurityGroup { ingress: Input::Known(ingress), ..DefaultSecurityGroup::test() }
    }

    #[test]
    fn rules_that_were_left_are_revoked_with_the_others() {
        let range = |cidr: &str| allow("-1", RuleSource::CidrIpv4(cidr.into()));
        let left = DefaultSecurityGroup { left_ingress: vec![range("10.0.0.0/8")], ..group(None) };
        assert_eq!(left.revoked_rules(None), [vec![range("10.0.0.0/8")], vec![]]);
        assert_eq!(left.revoked_rules(Some(&group(Some(vec![range("10.0.0.0/8")])))), [vec![], vec![]]);
    }

    #[test]
    fn a_group_loses_only_the_rules_that_were_not_found_in_it() {
        let group_of = |id: &str| allow("-1", RuleSource::SecurityGroup(id.into()));
        let range = |cidr: &str| allow("-1", RuleSource::CidrIpv4(cidr.into()));
        let described = SecurityGroupRule { description: Some("inside".into()), ..range("10.0.0.0/8") };
        let applied = group(Some(vec![described, range("10.1.0.0/16"), group_of("123456789012/sg-2")]));
        let found = group(Some(vec![range("10.0.0.0/8"), group_of("sg-2")]));
        assert_eq!(applied.revoked_rules(Some(&found)), [vec![range("10.1.0.0/16")], vec![]]);
        assert_eq!(applied.revoked_rules(None)[0].len(), 3, "this resource has set all of them");
    }
}
