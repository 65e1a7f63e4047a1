use proptest::prelude::*;

use super::super::classify;
use super::super::tests::{landscape, reason, slot};
use super::*;
use crate::model::{Classification, Input, NetworkLandscape, RuleSource, Spec};
use crate::plugin::{AttributePath, Nested};
use crate::topology::Topology;
use crate::topology::four_tier_vpc::FourTierVpc;
use crate::topology::four_tier_vpc::config::{Config, tests::config};
use crate::topology::four_tier_vpc::fixtures::{applied, next_objects, objects, scope};

fn allow_all(rule_no: i64, cidr: &str) -> NetworkAclRule {
    NetworkAclRule { rule_no, cidr_block: cidr.into(), ..NetworkAclRule::test() }
}

fn group_rule(protocol: &str, ports: Option<(i64, i64)>, source: RuleSource) -> SecurityGroupRule {
    let (from_port, to_port) = ports.unzip();
    SecurityGroupRule { protocol: protocol.into(), from_port, to_port, source, ..SecurityGroupRule::test() }
}

fn range(cidr: &str) -> RuleSource {
    RuleSource::CidrIpv4(cidr.into())
}

/// The default network ACL with AWS's original rules.
fn original_acl() -> FoundNetworkAcl {
    FoundNetworkAcl {
        id: "acl-1".into(),
        ingress: vec![allow_all(100, "0.0.0.0/0")],
        egress: vec![allow_all(100, "0.0.0.0/0")],
        ..FoundNetworkAcl::default()
    }
}

/// The default security group with AWS's original rules.
fn original_group() -> FoundSecurityGroup {
    FoundSecurityGroup {
        id: "sg-1".into(),
        ingress: vec![group_rule("-1", None, RuleSource::ItSelf)],
        egress: vec![group_rule("-1", None, range("0.0.0.0/0"))],
        ..FoundSecurityGroup::default()
    }
}

fn classified(acl: FoundNetworkAcl, group: FoundSecurityGroup) -> Classification {
    classify(&NetworkLandscape { default_network_acl: Some(acl), default_security_group: Some(group), ..landscape() })
}

/// Panics unless both are proposed, and the inputs that an import sets require exactly what exists.
fn assert_reproduced(acl: FoundNetworkAcl, group: FoundSecurityGroup) {
    let result = classified(acl.clone(), group.clone());
    assert_eq!((slot(&result, "acl-1"), slot(&result, "sg-1")), ("default_network_acl", "default_security_group"));
    let mut inventory = applied(&objects(&config(&[("apply_default_nacl_rules", true.into())]), "ab"));
    for entry in &mut inventory.entries {
        match &mut entry.applied {
            Spec::DefaultNetworkAcl(spec) => {
                (spec.ingress, spec.egress) = (Input::Known(acl.ingress.clone()), Input::Known(acl.egress.clone()));
            }
            Spec::DefaultSecurityGroup(spec) => {
                spec.ingress = Input::Known(Some(group.ingress.clone()));
                spec.egress = Input::Known(Some(group.egress.clone()));
            }
            _ => {}
        }
    }
    let attributes = FourTierVpc::imported(&inventory, &scope()).expect("the VPC has a name");
    let mut problems = Vec::new();
    let config = Config::decode(&attributes, &AttributePath::root(), &mut problems).expect("the inputs are complete");
    problems.extend(FourTierVpc::validate(&config));
    // The IDs of the AZs are not those of AWS.
    problems.retain(|problem| problem.path.to_string().contains("rules"));
    assert_eq!(problems, []);
    let is_default = |spec: &Spec| spec.is_adopted();
    let wanted = next_objects(&config, Some(&config), &inventory, "ab").into_iter().map(|object| object.spec);
    let wanted: Vec<Spec> = wanted.filter(is_default).collect();
    let existing: Vec<Spec> = inventory.entries.into_iter().map(|entry| entry.applied).filter(is_default).collect();
    assert_eq!(wanted, existing);
}

#[test]
fn original_rules_are_reproduced() {
    assert_reproduced(original_acl(), original_group());
    // With an IPv6 range, AWS adds rules.
    let (mut acl, mut group) = (original_acl(), original_group());
    acl.ingress.push(allow_all(101, "::/0"));
    acl.egress.push(allow_all(101, "::/0"));
    group.egress.push(group_rule("-1", None, RuleSource::CidrIpv6("::/0".into())));
    assert_reproduced(acl, group);
}

#[test]
fn an_acl_without_rules_is_reproduced() {
    let acl = FoundNetworkAcl { ingress: vec![], ..original_acl() };
    assert_reproduced(acl, original_group());
}

#[test]
fn an_acl_rule_that_the_inputs_reject_keeps_it_unmanaged() {
    let mut acl = original_acl();
    let icmp = Some((-1, 3));
    acl.egress.push(NetworkAclRule { protocol: "1".into(), icmp, ..allow_all(120, "10.0.0.0/8") });
    let result = classified(acl, original_group());
    assert_eq!(reason(&result, "acl-1"), "the inputs cannot express its outbound rule 120");
    // AWS requires ports for TCP.
    let mut acl = original_acl();
    acl.ingress.push(NetworkAclRule { protocol: "6".into(), ..allow_all(90, "10.0.0.0/8") });
    assert!(reason(&classified(acl, original_group()), "acl-1").ends_with("inbound rule 90"));
}

#[test]
fn a_group_without_any_rules_is_reproduced() {
    assert_reproduced(original_acl(), FoundSecurityGroup { ingress: vec![], egress: vec![], ..original_group() });
}

#[test]
fn a_group_without_rules_in_a_direction_stays_unmanaged() {
    let group = FoundSecurityGroup { ingress: vec![], ..original_group() };
    let result = classified(original_acl(), group);
    assert!(reason(&result, "sg-1").starts_with("it has no inbound rules"), "{result:?}");
    assert_eq!(slot(&result, "acl-1"), "default_network_acl");
}

#[test]
fn a_group_rule_that_the_inputs_reject_keeps_it_unmanaged() {
    let mut group = original_group();
    group.egress.push(group_rule("tcp", Some((-1, -1)), range("10.0.0.0/8")));
    let result = classified(original_acl(), group);
    let expected = "the inputs cannot express its outbound rule for tcp -1 to 10.0.0.0/8";
    assert_eq!(reason(&result, "sg-1"), expected);
}

#[test]
fn defaults_of_another_resource_stay_unmanaged() {
    let tags = || [("fgw:resource".to_string(), "four_tier_vpc/vpc-9".to_string())].into();
    let acl = FoundNetworkAcl { tags: tags(), ..original_acl() };
    let group = FoundSecurityGroup { tags: tags(), ..original_group() };
    let result = classified(acl, group);
    for id in ["acl-1", "sg-1"] {
        assert!(reason(&result, id).contains("another resource manages it"), "{result:?}");
    }
}

fn acl_rules() -> impl Strategy<Value = Vec<NetworkAclRule>> {
    let cidr = prop::sample::select(vec!["0.0.0.0/0", "10.0.0.0/8", "::/0", "2001:db8::/32"]);
    let protocol = prop::sample::select(vec!["-1", "1", "6", "17", "47", "58"]);
    let rule = (any::<bool>(), cidr, protocol, 0..1000_i64, 0..1000_i64).prop_map(|(allow, cidr, protocol, a, b)| {
        let is_ipv6 = cidr.contains(':');
        NetworkAclRule {
            allow,
            protocol: protocol.into(),
            ports: matches!(protocol, "6" | "17").then_some((a.min(b), a.max(b))),
            icmp: network_acl::has_icmp(protocol, is_ipv6).then_some((a % 40, b % 10)),
            ..allow_all(0, cidr)
        }
    });
    prop::collection::btree_map(1..32766_i64, rule, 0..5)
        .prop_map(|rules| rules.into_iter().map(|(rule_no, rule)| NetworkAclRule { rule_no, ..rule }).collect())
}

fn group_rules() -> impl Strategy<Value = Vec<SecurityGroupRule>> {
    let source = prop_oneof![
        Just(RuleSource::ItSelf),
        Just(range("10.0.0.0/8")),
        Just(range("0.0.0.0/0")),
        Just(RuleSource::CidrIpv6("::/0".into())),
        Just(RuleSource::PrefixList("pl-1".into())),
        Just(RuleSource::SecurityGroup("sg-2".into())),
        Just(RuleSource::SecurityGroup("123456789012/sg-3".into())),
    ];
    let protocol = prop::sample::select(vec!["-1", "tcp", "udp", "icmp", "icmpv6", "50"]);
    let description = prop::option::of(prop::sample::select(vec!["a", "b"]));
    let rule = (protocol, source, 0..9_i64, 0..9_i64, description).prop_map(|(protocol, source, a, b, description)| {
        let ports = matches!(protocol, "tcp" | "udp" | "icmp" | "icmpv6").then_some((a.min(b), a.max(b)));
        (group_rule(protocol, ports, source), description.map(str::to_string))
    });
    // AWS has no two rules that differ only in their descriptions.
    prop::collection::btree_map(rule.clone().prop_map(|(rule, _)| rule), rule.prop_map(|(_, text)| text), 1..6)
        .prop_map(|rules| {
            let described = |(rule, description)| SecurityGroupRule { description, ..rule };
            let mut rules: Vec<SecurityGroupRule> = rules.into_iter().map(described).collect();
            rules.sort();
            rules
        })
}

proptest! {
    #[test]
    fn whatever_is_proposed_is_reproduced_exactly(
        acl in (acl_rules(), acl_rules()),
        group in (group_rules(), group_rules()),
    ) {
        let acl = FoundNetworkAcl { ingress: acl.0, egress: acl.1, ..original_acl() };
        let group = FoundSecurityGroup { ingress: group.0, egress: group.1, ..original_group() };
        assert_reproduced(acl, group);
    }
}
