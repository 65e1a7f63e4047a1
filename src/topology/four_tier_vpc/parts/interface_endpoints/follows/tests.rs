//! Tests of what follows from other inputs.

use serde_json::{Value as Json, json};

use super::*;
use crate::model::{Drift, Object, RuleSource, SecurityGroup, Spec};
use crate::plugin::Value;
use crate::topology::Blueprint;
use crate::topology::four_tier_vpc::config::tests::config;
use crate::topology::four_tier_vpc::fixtures::{applied, blueprint, next_objects, objects};
use crate::topology::rules::value;

fn with(endpoints: Json, further: &[(&'static str, Value)]) -> Config {
    let endpoints = ("interface_endpoints", value(endpoints));
    config(&[&[endpoints][..], further].concat())
}

fn off(name: &'static str) -> (&'static str, Value) {
    (name, false.into())
}

fn endpoint(objects: &[Object], slot: &str) -> model::InterfaceEndpoint {
    let found = objects.iter().find(|it| it.key.slot == slot).and_then(|it| model::InterfaceEndpoint::of(&it.spec));
    found.expect("the endpoint is required").clone()
}

/// The warnings of a plan for one AZ about entries.
fn warned(config: &Config, prior: &Config, existing: &Inventory) -> Vec<String> {
    match blueprint(config, Some(prior), existing, "a") {
        Ok(Blueprint::Decided { warnings, .. }) => {
            let of_entries = warnings.into_iter().filter(|it| it.path.to_string().starts_with("interface_endpoints"));
            of_entries.map(|it| format!("{}: {} {}", it.path, it.message, it.hint)).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn private_names_go_with_a_warning_and_return_without_a_lookup() {
    let all = || json!({ "kms": {}, "s3": {}, "ecr.api": { "private_dns_enabled": false } });
    let on = with(all(), &[]);
    let first = objects(&on, "a");
    for input in ["enable_dns_support", "enable_dns_hostnames"] {
        let without = with(all(), &[off(input)]);
        let existing = applied(&first);
        let forced = next_objects(&without, Some(&on), &existing, "a");
        for slot in ["interface_endpoint.kms", "interface_endpoint.s3"] {
            assert_eq!(endpoint(&forced, slot).private_dns_enabled, Input::Known(false), "{slot}");
        }
        let warnings = warned(&without, &on, &existing);
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(warnings[0].starts_with(&format!("interface_endpoints[\"kms\"]: {input} is false")), "{warnings:?}");
        assert!(warnings[0].contains("com.amazonaws.eu-central-1.kms"), "{warnings:?}");
        assert_eq!(warned(&without, &without, &applied(&forced)), [""; 0], "only the change warns");
        assert_eq!(next_objects(&on, Some(&without), &applied(&forced), "a"), first, "{input}");
    }
}

#[test]
fn names_follow_dns_inputs_that_are_unknown() {
    let unknown = Config { enable_dns_support: Input::Unknown, ..with(json!({ "kms": {} }), &[]) };
    assert_eq!(endpoint(&objects(&unknown, "a"), "interface_endpoint.kms").private_dns_enabled, Input::Unknown);
}

fn ipv6(tiers: &[&str]) -> [(&'static str, Value); 3] {
    [
        ("enable_ipv6", true.into()),
        ("assign_generated_ipv6_cidr_block", true.into()),
        ("ipv6_subnet_tiers", tiers.to_vec().into()),
    ]
}

/// The objects of a network, with the IPv6 range and the addresses of endpoints that AWS returned.
fn existing_with(objects: &[Object], kind: &str) -> Inventory {
    let mut existing = applied(objects);
    for entry in &mut existing.entries {
        match &entry.applied {
            Spec::VpcIpv6Block(_) => {
                entry.learned.insert("ipv6_cidr_block".into(), "2001:db8:1234::/56".into());
            }
            Spec::InterfaceEndpoint(_) => {
                entry.learned.insert(ENDPOINT_ADDRESSES.into(), kind.into());
            }
            _ => {}
        }
    }
    existing
}

/// Whether the group of all endpoints allows an IPv6 range.
fn allows_ipv6(objects: &[Object]) -> bool {
    let groups = objects.iter().filter_map(|it| SecurityGroup::of(&it.spec));
    let rules = groups.flat_map(|it| it.ingress.known().into_iter().flatten());
    rules.into_iter().any(|rule| matches!(rule.source, RuleSource::CidrIpv6(_)))
}

#[test]
fn addresses_that_are_no_longer_managed_stay_allowed() {
    let dual = with(json!({ "kms": { "ip_address_type": "dualstack" } }), &ipv6(&["private_app"]));
    let open = with(json!({ "kms": {} }), &ipv6(&["private_app"]));
    let existing = existing_with(&objects(&dual, "a"), "dualstack");
    let next = next_objects(&open, Some(&dual), &existing, "a");
    assert_eq!(endpoint(&next, "interface_endpoint.kms").settings.ip_address_type, Input::Known(None));
    assert!(allows_ipv6(&next));
    let [warning] = &warned(&open, &dual, &existing)[..] else { panic!("one warning") };
    assert!(warning.starts_with("interface_endpoints[\"kms\"].ip_address_type: The endpoint keeps"), "{warning}");
    // The next plan is silent, and the rule stays.
    let existing = existing_with(&next, "dualstack");
    assert_eq!(warned(&open, &open, &existing), [""; 0]);
    assert!(allows_ipv6(&next_objects(&open, Some(&open), &existing, "a")));
    // One that AWS created with IPv4 needs no rule, and with "ipv4" the rule goes.
    assert!(!allows_ipv6(&next_objects(&open, Some(&open), &existing_with(&next, "ipv4"), "a")));
    let single = with(json!({ "kms": { "ip_address_type": "ipv4" } }), &ipv6(&["private_app"]));
    assert!(!allows_ipv6(&next_objects(&single, Some(&open), &existing, "a")));
}

#[test]
fn an_endpoint_loses_its_ipv6_addresses_with_those_of_its_tier() {
    let kind = |it: &[Object]| endpoint(it, "interface_endpoint.kms").settings.ip_address_type;
    let ipv4 = Input::Known(Some("ipv4".to_string()));
    let dual = with(json!({ "kms": { "ip_address_type": "dualstack" } }), &ipv6(&["private_app"]));
    let open = |further: &[(&'static str, Value)]| with(json!({ "kms": {} }), further);
    for without in [open(&[]), open(&ipv6(&["public"]))] {
        let existing = existing_with(&objects(&dual, "a"), "dualstack");
        let next = next_objects(&without, Some(&dual), &existing, "a");
        assert_eq!(kind(&next), ipv4);
        assert!(!allows_ipv6(&next));
        let [warning] = &warned(&without, &dual, &existing)[..] else { panic!("one warning") };
        assert!(warning.contains("the endpoint loses its own"), "{warning}");
        let existing = existing_with(&next, "ipv4");
        assert_eq!(next_objects(&without, Some(&without), &existing, "a"), next, "the next plan is empty");
        assert_eq!(warned(&without, &without, &existing), [""; 0]);
        let back = open(&ipv6(&["private_app"]));
        assert_eq!(kind(&next_objects(&back, Some(&without), &existing, "a")), Input::Known(None));
    }
    // Also if it is not managed since an earlier apply.
    let unmanaged = open(&ipv6(&["private_app"]));
    let existing = existing_with(&objects(&unmanaged, "a"), "dualstack");
    assert_eq!(kind(&next_objects(&open(&[]), Some(&unmanaged), &existing, "a")), ipv4);
    let existing = existing_with(&objects(&unmanaged, "a"), "ipv4");
    assert_eq!(kind(&next_objects(&open(&[]), Some(&unmanaged), &existing, "a")), Input::Known(None));
}

#[test]
fn a_block_with_an_address_of_an_endpoint_does_not_move() {
    let network = |kind: &str, bits: i64| {
        let endpoints = json!({ "kms": { "ip_address_type": kind } });
        with(endpoints, &[&ipv6(&["private_app"])[..], &[("ipv6_subnet_bits", bits.into())]].concat())
    };
    let found = |kind: &str| {
        // The blocks are known only with the range of the VPC.
        let range = existing_with(&objects(&network(kind, 8), "a"), kind);
        existing_with(&next_objects(&network(kind, 8), None, &range, "a"), kind)
    };
    let problems = |before: &str, after: &Config| {
        let prior = network(before, 8);
        blueprint(after, Some(&prior), &found(before), "a").err().unwrap_or_default()
    };
    assert_eq!(problems("dualstack", &network("dualstack", 8)), []);
    assert_eq!(problems("ipv4", &network("dualstack", 4)), []);
    for kind in ["dualstack", "ipv4"] {
        let [problem] = &problems("dualstack", &network(kind, 4))[..] else { panic!("{kind}: one problem") };
        assert!(problem.message.contains("subnet.private_app.0"), "{problem:?}");
        assert!(problem.hint.contains("First set ip_address_type"), "{problem:?}");
    }
}

/// The same inventory with an unmanaged range.
fn with_range(mut existing: Inventory, range: &str) -> Inventory {
    let ranges = [(range.parse().unwrap(), "vpc-cidr-assoc-1".to_string())].into();
    let occupied = OccupiedAddresses { ranges, ..OccupiedAddresses::default() };
    let vpc = existing.entries.iter_mut().find(|entry| entry.applied.is_root()).unwrap();
    vpc.learned.insert(OccupiedAddresses::LEARNED.into(), occupied.text().unwrap());
    existing
}

#[test]
fn ranges_of_others_that_lose_access_are_named() {
    let config_of = |entry: Json| with(json!({ "kms": entry }), &[]);
    let existing = |config: &Config| with_range(applied(&objects(config, "a")), "100.64.0.0/16");
    let (none, plain) = (with(json!({}), &[]), json!({}));
    let without = json!({ "private_dns_enabled": false });
    let given = json!({ "security_group_ids": ["sg-1"] });
    let allowed = json!({ "allowed_cidr_blocks": ["100.64.0.0/10"] });
    for (before, after, is_named) in [
        (none.clone(), config_of(plain.clone()), true),
        (config_of(without.clone()), config_of(plain.clone()), true),
        (config_of(given.clone()), config_of(plain.clone()), true),
        (config_of(plain.clone()), config_of(plain.clone()), false),
        (config_of(plain), config_of(without), false),
        (none.clone(), config_of(given), false),
        (none, config_of(allowed), false),
    ] {
        let warnings = warned(&after, &before, &existing(&before));
        let said = warnings.iter().any(|it| it.contains("100.64.0.0/16") && it.contains("allowed_cidr_blocks"));
        assert_eq!(said, is_named, "{warnings:?}");
    }
}

#[test]
fn a_plan_looks_services_up_again_if_the_zones_of_tiers_may_change() {
    use crate::topology::Topology;
    use crate::topology::four_tier_vpc::FourTierVpc;
    let (before, after) =
        (with(json!({ "kms": {} }), &[]), with(json!({ "kms": {} }), &[("num_availability_zones", 2_i64.into())]));
    let existing = applied(&objects(&before, "a"));
    assert_eq!(FourTierVpc::lookups_of_change(&before, Some(&before), &existing), []);
    assert_eq!(FourTierVpc::lookups_of_change(&after, Some(&before), &existing).len(), 1);
}

#[test]
fn drift_of_names_that_are_on_is_no_choice() {
    let on = with(json!({ "kms": {} }), &[]);
    let mut existing = applied(&objects(&on, "a"));
    for entry in &mut existing.entries {
        if let Spec::InterfaceEndpoint(it) = &entry.applied {
            let off = model::InterfaceEndpoint { private_dns_enabled: Input::Known(false), ..it.clone() };
            entry.drift = Drift::Changed(Box::new(Spec::InterfaceEndpoint(off)));
        }
    }
    assert_eq!(next_objects(&on, Some(&on), &existing, "a"), objects(&on, "a"));
}
