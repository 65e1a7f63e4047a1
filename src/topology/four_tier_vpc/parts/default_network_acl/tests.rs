use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;
use crate::model::{Classification, Drift, NetworkLandscape};
use crate::plugin::Encode;
use crate::topology::four_tier_vpc::classify::{
    classify,
    tests::{landscape, reason, slot},
};
use crate::topology::four_tier_vpc::config::tests::config;
use crate::topology::four_tier_vpc::fixtures::{applied, assert_reproduced, imported, objects, warned};
use crate::topology::four_tier_vpc::validate::rules::problems;
use crate::topology::rules::{Rule, assert_reported, with};

fn rules() -> Vec<Rule> {
    let acl = |more: Json| {
        let rule = json!({
            "action": "allow", "protocol": "-1", "rule_no": 100, "from_port": 0, "to_port": 0,
            "cidr_block": "0.0.0.0/0",
        });
        json!({"default_nacl_ingress_rules": {"r": with(rule, more)}})
    };
    let two = |number: i64| {
        let rule = |number: i64| acl(json!({"rule_no": number}))["default_nacl_ingress_rules"]["r"].clone();
        json!({"default_nacl_egress_rules": {"a": rule(100), "b": rule(number)}})
    };
    vec![
        (
            "an ACL's rule allows or denies",
            acl(json!({"action": "drop"})),
            &["default_nacl_ingress_rules[\"r\"].action"],
            &["drop", "allow or deny"],
            acl(json!({"action": "Deny"})),
        ),
        (
            "an ACL's rule has a known protocol",
            acl(json!({"protocol": "http"})),
            &["default_nacl_ingress_rules[\"r\"].protocol"],
            &["http", "tcp"],
            acl(json!({"protocol": "50"})),
        ),
        (
            "an ACL's rule for all protocols has no ports",
            acl(json!({"from_port": 80, "to_port": 80})),
            &["default_nacl_ingress_rules[\"r\"].from_port"],
            &["80 to 80", "to 0"],
            acl(json!({"protocol": "tcp", "from_port": 80, "to_port": 80})),
        ),
        (
            "an ACL's ports are a range",
            acl(json!({"protocol": "udp", "from_port": 81, "to_port": 80})),
            &["default_nacl_ingress_rules[\"r\"].from_port"],
            &["81 to 80"],
            acl(json!({"protocol": "17", "from_port": 80, "to_port": 81})),
        ),
        (
            "an ACL's ports are at most 65535",
            acl(json!({"protocol": "tcp", "from_port": 80, "to_port": 65536})),
            &["default_nacl_ingress_rules[\"r\"].to_port"],
            &["65536"],
            acl(json!({"protocol": "tcp", "from_port": 80, "to_port": 65535})),
        ),
        (
            "an ACL's rule has only one range",
            acl(json!({"ipv6_cidr_block": "::/0"})),
            &["default_nacl_ingress_rules[\"r\"]"],
            &["0.0.0.0/0", "::/0"],
            acl(json!({"cidr_block": null, "ipv6_cidr_block": "::/0"})),
        ),
        (
            "an ACL's rule has a range",
            acl(json!({"cidr_block": null})),
            &["default_nacl_ingress_rules[\"r\"]"],
            &["cidr_block or ipv6_cidr_block"],
            acl(json!({"cidr_block": "10.0.0.0/8"})),
        ),
        (
            "an ACL's range has no host bits",
            acl(json!({"cidr_block": "10.0.0.1/8"})),
            &["default_nacl_ingress_rules[\"r\"].cidr_block"],
            &["10.0.0.1/8 has host bits", "Use 10.0.0.0/8."],
            acl(json!({"cidr_block": "10.0.0.1/32"})),
        ),
        (
            "an ACL's IPv6 range has no host bits",
            acl(json!({"cidr_block": null, "ipv6_cidr_block": "2001:db8::1/32"})),
            &["default_nacl_ingress_rules[\"r\"].ipv6_cidr_block"],
            &["2001:db8::1/32 has host bits", "Use 2001:db8::/32."],
            acl(json!({"cidr_block": null, "ipv6_cidr_block": "2001:db8::1/128"})),
        ),
        (
            "an ACL's IPv6 range is IPv6",
            acl(json!({"cidr_block": null, "ipv6_cidr_block": "0.0.0.0/0"})),
            &["default_nacl_ingress_rules[\"r\"].ipv6_cidr_block"],
            &["0.0.0.0/0", "::/0"],
            acl(json!({"cidr_block": null, "ipv6_cidr_block": "2001:db8::/32"})),
        ),
        (
            "an ACL's rules have unique numbers",
            two(100),
            &["default_nacl_egress_rules[\"b\"].rule_no"],
            &["\"a\"", "100"],
            two(101),
        ),
        (
            "an ACL's numbers are below those of AWS",
            acl(json!({"rule_no": 32767})),
            &["default_nacl_ingress_rules[\"r\"].rule_no"],
            &["32767", "32766"],
            acl(json!({"rule_no": 32766})),
        ),
        (
            "an ACL's rule for ICMP has a type and code",
            acl(json!({"protocol": "icmp"})),
            &["default_nacl_ingress_rules[\"r\"].icmp_type"],
            &["icmp_code"],
            acl(json!({"protocol": "icmp", "icmp_type": -1, "icmp_code": -1})),
        ),
        (
            "an ICMP type is at most 255",
            acl(json!({"protocol": "1", "icmp_type": 256, "icmp_code": 0})),
            &["default_nacl_ingress_rules[\"r\"].icmp_type"],
            &["256", "-1 to 255"],
            acl(json!({"protocol": "1", "icmp_type": 8, "icmp_code": 0})),
        ),
        (
            "all ICMP types require all codes",
            acl(json!({"protocol": "icmp", "icmp_type": -1, "icmp_code": 3})),
            &["default_nacl_ingress_rules[\"r\"].icmp_code"],
            &["3", "-1"],
            acl(json!({"protocol": "icmp", "icmp_type": 3, "icmp_code": -1})),
        ),
        (
            "AWS ignores the ICMPv6 type of an IPv4 range",
            acl(json!({"protocol": "icmpv6", "icmp_type": 128, "icmp_code": 0})),
            &["default_nacl_ingress_rules[\"r\"].icmp_type"],
            &["icmpv6", "ipv6_cidr_block"],
            acl(json!({"protocol": "58", "icmp_type": -1, "icmp_code": -1})),
        ),
        (
            "a rule for TCP has no ICMP type",
            acl(json!({"protocol": "tcp", "icmp_type": 8})),
            &["default_nacl_ingress_rules[\"r\"].icmp_type"],
            &["tcp"],
            acl(json!({"protocol": "icmpv6"})),
        ),
    ]
}

#[test]
fn each_broken_rule_is_reported_at_its_path_only() {
    assert_reported(rules(), problems);
}

fn allow_all(rule_no: i64, cidr: &str) -> NetworkAclRule {
    let (protocol, cidr_block) = ("-1".to_string(), cidr.to_string());
    NetworkAclRule { rule_no, allow: true, protocol, cidr_block, ports: None, icmp: None }
}

/// The default network ACL with AWS's original rules.
fn original() -> FoundNetworkAcl {
    FoundNetworkAcl {
        id: "acl-1".into(),
        ingress: vec![allow_all(100, "0.0.0.0/0")],
        egress: vec![allow_all(100, "0.0.0.0/0")],
        ..FoundNetworkAcl::default()
    }
}

fn classified(acl: FoundNetworkAcl) -> Classification {
    classify(&NetworkLandscape { default_network_acl: Some(acl), ..landscape() })
}

/// Panics unless the ACL is proposed, and the inputs that an import sets require exactly what exists.
fn assert_proposed(acl: FoundNetworkAcl) {
    assert_eq!(slot(&classified(acl.clone()), "acl-1"), "default_network_acl");
    assert_reproduced(&[(SWITCH, true.into())], |spec| {
        if let Spec::DefaultNetworkAcl(spec) = spec {
            (spec.ingress, spec.egress) = (Input::Known(acl.ingress.clone()), Input::Known(acl.egress.clone()));
        }
    });
}

#[test]
fn original_rules_are_reproduced() {
    assert_proposed(original());
    // With an IPv6 range, AWS adds rules.
    let mut acl = original();
    acl.ingress.push(allow_all(101, "::/0"));
    acl.egress.push(allow_all(101, "::/0"));
    assert_proposed(acl);
}

#[test]
fn an_acl_without_rules_is_reproduced() {
    let acl = FoundNetworkAcl { ingress: vec![], ..original() };
    assert_proposed(acl);
}

#[test]
fn an_acl_rule_that_the_inputs_reject_keeps_it_unmanaged() {
    let mut acl = original();
    let icmp = Some((-1, 3));
    acl.egress.push(NetworkAclRule { protocol: "1".into(), icmp, ..allow_all(120, "10.0.0.0/8") });
    let result = classified(acl);
    assert_eq!(reason(&result, "acl-1"), "the inputs cannot express its outbound rule 120");
    // AWS requires ports for TCP.
    let mut acl = original();
    acl.ingress.push(NetworkAclRule { protocol: "6".into(), ..allow_all(90, "10.0.0.0/8") });
    assert!(reason(&classified(acl), "acl-1").ends_with("inbound rule 90"));
}

#[test]
fn the_acl_of_another_resource_stays_unmanaged() {
    let tags = [("fgw:resource".to_string(), "four_tier_vpc/vpc-9".to_string())].into();
    let result = classified(FoundNetworkAcl { tags, ..original() });
    assert!(reason(&result, "acl-1").contains("another resource manages it"), "{result:?}");
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
            icmp: (protocol == "1" || protocol == "58" && is_ipv6).then_some((a % 40, b % 10)),
            ..allow_all(0, cidr)
        }
    });
    prop::collection::btree_map(1..32766_i64, rule, 0..5)
        .prop_map(|rules| rules.into_iter().map(|(rule_no, rule)| NetworkAclRule { rule_no, ..rule }).collect())
}

proptest! {
    #[test]
    fn whatever_is_proposed_is_reproduced_exactly(ingress in acl_rules(), egress in acl_rules()) {
        assert_proposed(FoundNetworkAcl { ingress, egress, ..original() });
    }
}

#[test]
fn acl_rules_keep_their_numbers_and_default_rules_their_names() {
    let mut inventory = applied(&objects(&config(&[(SWITCH, true.into())]), "abc"));
    let ping = NetworkAclRule { protocol: "1".into(), icmp: Some((8, -1)), ..allow_all(90, "10.0.0.0/8") };
    for entry in &mut inventory.entries {
        if let Spec::DefaultNetworkAcl(acl) = &mut entry.applied {
            acl.ingress = Input::Known(vec![ping.clone(), allow_all(101, "::/0")]);
            acl.egress = Input::Known(vec![allow_all(100, "0.0.0.0/0"), allow_all(101, "::/0")]);
        }
    }
    let (found, _) = imported(&inventory);
    assert_eq!(found.get("apply_default_nacl_rules"), &true.into());
    assert_eq!(found.get("associate_default_nacl_to_subnets"), &false.into());
    let ping = found.get("default_nacl_ingress_rules").get("90");
    assert_eq!((ping.get("icmp_type"), ping.get("icmp_code")), (&8.into(), &(-1).into()));
    assert_eq!(found.get("default_nacl_ingress_rules").get("101").get("ipv6_cidr_block"), &"::/0".into());
    assert_eq!(found.get("default_nacl_egress_rules").get("AllowAllIPv4").get("rule_no"), &100.into());
}

#[test]
fn added_acl_rules_are_named_by_their_numbers() {
    let on = config(&[("apply_default_nacl_rules", true.into())]);
    let mut inventory = applied(&objects(&on, "a"));
    let deny = NetworkAclRule {
        rule_no: 90,
        allow: false,
        protocol: "6".into(),
        cidr_block: "10.9.0.0/16".into(),
        ports: Some((22, 22)),
        icmp: None,
    };
    for entry in &mut inventory.entries {
        let mut spec = entry.applied.clone();
        if let Spec::DefaultNetworkAcl(acl) = &mut spec
            && let Input::Known(rules) = &mut acl.egress
        {
            // One rule is added, and the rule for IPv6 is removed.
            rules.retain(|rule| rule.cidr_block != "::/0");
            rules.insert(0, deny.clone());
            entry.drift = Drift::Changed(Box::new(spec));
        }
    }
    let name = "default_nacl_egress_rules";
    let acl = model::DefaultNetworkAcl::of(&inventory.at("default_network_acl").unwrap().applied).unwrap();
    let of_default = NaclRule::of_all(acl.egress.known().unwrap());
    let map = Value::map([("ipv4", of_default["100"].encode()), ("ipv6", of_default["101"].encode())]);
    let mut state = Value::map([(name, map)]);
    DefaultNetworkAcl.reflect(&inventory, &mut state);
    let shown = state.get(name).as_map().unwrap();
    assert_eq!(shown.keys().collect::<Vec<_>>(), ["90", "ipv4"]);
    assert_eq!(shown["ipv4"], of_default["100"].encode());
    let again = config(&[(name, state.get(name).clone())]);
    let rules = rule_maps::required(&again.default_nacl_egress_rules).unwrap();
    assert_eq!(rules.iter().map(|rule| rule.rule_no).collect::<Vec<_>>(), [90, 100]);
    assert_eq!(rules[0], deny);
}

#[test]
fn turning_it_off_warns_about_the_original_rules() {
    let (on, off) = (config(&[(SWITCH, true.into())]), config(&[]));
    let existing = applied(&objects(&on, "a"));
    assert_eq!(warned(&on, Some(&on), &existing), []);
    let warnings = warned(&off, Some(&on), &existing);
    assert_eq!(warnings[0].0, SWITCH);
    assert!(warnings[0].1.contains("original rules"), "{warnings:?}");
}

#[test]
fn a_release_warns_only_of_rules_that_were_not_found() {
    let (on, off) = (config(&[(SWITCH, true.into())]), config(&[]));
    let mut existing = applied(&objects(&on, "a"));
    for entry in existing.entries.iter_mut().filter(|entry| entry.applied.is_adopted()) {
        entry.found = Some(Box::new(entry.applied.clone()));
    }
    assert_eq!(warned(&off, Some(&on), &existing), []);
    for entry in &mut existing.entries {
        if let Some(Spec::DefaultNetworkAcl(acl)) = entry.found.as_deref_mut() {
            acl.ingress = Input::Known(vec![]);
        }
    }
    let [(_, warning)] = warned(&off, Some(&on), &existing).try_into().expect("one warning");
    assert!(warning.starts_with("The default network ACL loses the rules that this resource has added"), "{warning}");
}

#[test]
fn an_empty_map_of_acl_rules_denies_everything_and_says_so_once() {
    let applies =
        |more: &[(&'static str, Value)]| config(&[&[("apply_default_nacl_rules", true.into())][..], more].concat());
    for name in [INGRESS, EGRESS] {
        let (null, none) = (applies(&[]), applies(&[(name, Value::map::<&str>([]))]));
        let existing = applied(&objects(&null, "a"));
        let [(path, warning)] = warned(&none, Some(&null), &existing).try_into().expect("one warning");
        assert_eq!(path, name);
        assert!(warning.contains(if name == EGRESS { "all outbound" } else { "all inbound" }), "{warning}");
        let denying = applied(&objects(&none, "a"));
        assert_eq!(warned(&none, Some(&none), &denying), []);
        assert_eq!(warned(&null, Some(&none), &denying), []);
    }
}

#[test]
fn quotas_cause_warnings_and_no_errors() {
    let rule = |number: i64| {
        let fields = [
            ("action", Value::from("allow")),
            ("protocol", "-1".into()),
            ("rule_no", number.into()),
            ("from_port", 0_i64.into()),
            ("to_port", 0_i64.into()),
            ("cidr_block", "0.0.0.0/0".into()),
        ];
        (format!("r{number}"), Value::map(fields))
    };
    let with = |count: i64, ipv6: bool| {
        let mut attributes = vec![
            ("apply_default_nacl_rules", Value::from(true)),
            ("default_nacl_egress_rules", Value::map((1..=count).map(rule))),
        ];
        if ipv6 {
            attributes.extend([("enable_ipv6", true.into()), ("assign_generated_ipv6_cidr_block", true.into())]);
        }
        warned(&config(&attributes), None, &Inventory::default())
    };
    // AWS's rules that deny the rest count too.
    assert_eq!((with(19, false), with(18, true)), (vec![], vec![]));
    for (count, ipv6, says) in [(20, false, "20 rules, and AWS adds 1"), (19, true, "19 rules, and AWS adds 2")] {
        let warnings = with(count, ipv6);
        assert_eq!(warnings[0].0, "default_nacl_egress_rules");
        assert!(warnings[0].1.contains(says), "{warnings:?}");
    }
}
