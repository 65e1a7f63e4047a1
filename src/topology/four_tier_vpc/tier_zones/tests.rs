use std::collections::BTreeSet;

use super::super::config::tests::config;
use super::super::fixtures::{applied, blueprint, facts, next_objects, objects, scope};
use super::super::tests::ids_of;
use super::super::{FourTierVpc, zones};
use super::*;
use crate::model::{Facts, Inventory, Key, NatGateway, Object, Ref, Spec};
use crate::plugin::Value;
use crate::topology::{Blueprint, Context, Topology};

/// The input with these AZs for each tier, such as `("public", "ac")`.
fn in_zones(tiers: &[(&str, &str)]) -> (&'static str, Value) {
    let ids = |letters: &str| letters.chars().map(|letter| format!("az-{letter}")).collect::<Vec<_>>();
    (NAME, Value::map(tiers.iter().map(|(tier, letters)| (*tier, Value::from(ids(letters))))))
}

fn with(tiers: &[(&str, &str)], further: &[(&str, Value)]) -> Config {
    let mut attributes = vec![in_zones(tiers)];
    attributes.extend(further.iter().cloned());
    config(&attributes)
}

fn slots<'a>(objects: &'a [Object], prefix: &str) -> Vec<&'a str> {
    objects.iter().map(|object| object.key.slot.as_str()).filter(|slot| slot.starts_with(prefix)).collect()
}

fn keys(objects: &[Object]) -> BTreeSet<&Key> {
    objects.iter().map(|object| &object.key).collect()
}

/// The slots of the subnets that contain NAT gateways, by gateway.
fn nat_subnets(objects: &[Object]) -> Vec<(&str, &str)> {
    objects
        .iter()
        .filter_map(|object| {
            NatGateway::of(&object.spec).map(|nat| (object.key.slot.as_str(), nat.subnet.slot.as_str()))
        })
        .collect()
}

/// The NAT gateway of the default route in each table of a tier.
fn gateways_of<'a>(objects: &'a [Object], tier: &str) -> Vec<(&'a str, &'a str)> {
    let route = |object: &'a Object| match &object.spec {
        Spec::Route(route) => match &route.target {
            Ref::Key(target) => Some((object.key.slot.as_str(), target.slot.as_str())),
            Ref::Id(_) => None,
        },
        _ => None,
    };
    objects.iter().filter_map(route).filter(|(slot, _)| slot.starts_with(&format!("route.{tier}."))).collect()
}

fn warnings(config: &Config, existing: &Inventory, letters: &str) -> Vec<Problem> {
    match blueprint(config, None, existing, letters) {
        Ok(Blueprint::Decided { warnings, .. }) => warnings,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_tier_has_subnets_only_in_its_azs_with_the_same_blocks() {
    let transit = [("create_transit_subnets", Value::from(true))];
    let all = objects(&config(&transit), "abc");
    let some = objects(&with(&[("private_persistence", "ca"), ("transit", "b")], &transit), "abc");
    let expected: BTreeSet<&Key> = keys(&all)
        .into_iter()
        .filter(|key| {
            let parts: Vec<&str> = key.slot.split('.').collect();
            !matches!(parts[..], [_, "private_persistence", "1"] | [_, "transit", "0" | "2"])
        })
        .collect();
    // The keys of subnets contain their blocks.
    assert_eq!(keys(&some), expected);
    assert_eq!(slots(&some, "subnet.transit"), ["subnet.transit.1"]);
}

#[test]
fn a_public_tier_without_the_first_az_keeps_its_shared_table() {
    let objects = objects(&with(&[("public", "bc")], &[]), "abc");
    assert_eq!(slots(&objects, "route_table.public"), ["route_table.public"]);
    let associations = ["route_table_association.public.1", "route_table_association.public.2"];
    assert_eq!(slots(&objects, "route_table_association.public"), associations);
    assert_eq!(slots(&objects, "route.public"), ["route.public.ipv4"]);
}

#[test]
fn nat_gateways_are_placed_where_the_public_tier_is() {
    let two = objects(&with(&[("public", "bc")], &[("num_nat_gateways", 2.into())]), "abc");
    assert_eq!(nat_subnets(&two), [("nat_gateway.0", "subnet.public.1"), ("nat_gateway.1", "subnet.public.2")]);
    // AZ 0 has none and uses another one.
    let routes = [
        ("route.private_app.0.ipv4", "nat_gateway.0"),
        ("route.private_app.1.ipv4", "nat_gateway.0"),
        ("route.private_app.2.ipv4", "nat_gateway.1"),
    ];
    assert_eq!(gateways_of(&two, "private_app"), routes);
}

#[test]
fn private_nat_gateways_are_placed_where_the_transit_tier_is() {
    let private = [("create_transit_subnets", Value::from(true)), ("enable_private_nat", true.into())];
    let objects = objects(&with(&[("transit", "c"), ("public", "a")], &private), "abc");
    assert_eq!(nat_subnets(&objects), [("private_nat_gateway.0", "subnet.transit.2")]);
    let targets: Vec<&str> = gateways_of(&objects, "private_app").into_iter().map(|(_, target)| target).collect();
    assert_eq!(targets, ["private_nat_gateway.0"; 3]);
}

#[test]
fn an_az_of_a_tier_is_removed_and_added_alone() {
    let (all, some) = (config(&[]), with(&[("private_persistence", "ac")], &[]));
    let before = objects(&all, "abc");
    let after = next_objects(&some, Some(&all), &applied(&before), "abc");
    let removed: Vec<&str> = keys(&before).difference(&keys(&after)).map(|key| key.slot.as_str()).collect();
    let expected = [
        "route_table.private_persistence.1",
        "route_table_association.private_persistence.1",
        "subnet.private_persistence.1",
    ];
    assert_eq!(removed, expected);
    assert!(keys(&after).is_subset(&keys(&before)));
    assert_eq!(next_objects(&all, Some(&some), &applied(&after), "abc"), before);
    // A subnet that could not be deleted yet is kept.
    let mut pending = applied(&before);
    let missing = |slot: &str| slot == "subnet.private_persistence.1";
    pending.entries.iter_mut().filter(|it| missing(&it.key.slot)).for_each(|it| it.pending_deletion = true);
    assert_eq!(next_objects(&all, Some(&some), &pending, "abc"), before);
}

#[test]
fn a_nat_gateway_leaves_with_the_public_subnet_of_its_az() {
    let with_nats = |tiers: &[(&str, &str)], nats: i64| with(tiers, &[("num_nat_gateways", nats.into())]);
    let before = objects(&with_nats(&[], 3), "abc");
    let existing = applied(&before);
    let fewer = next_objects(&with_nats(&[("public", "ac")], 2), Some(&with_nats(&[], 3)), &existing, "abc");
    assert_eq!(nat_subnets(&fewer), [("nat_gateway.0", "subnet.public.0"), ("nat_gateway.2", "subnet.public.2")]);
    assert_eq!(gateways_of(&fewer, "private_app")[1], ("route.private_app.1.ipv4", "nat_gateway.2"));
    let moved = next_objects(&with_nats(&[("public", "ac")], 3), Some(&with_nats(&[], 3)), &existing, "abc");
    assert_eq!(nat_subnets(&moved)[1], ("nat_gateway.1", "subnet.public.2"));
}

#[test]
fn nat_gateways_in_azs_without_tables_of_theirs_cause_a_warning() {
    let three = [("num_nat_gateways", Value::from(3))];
    let nothing = Inventory::default();
    assert_eq!(warnings(&with(&[("private_persistence", "a")], &three), &nothing, "abc"), []);
    let idle = warnings(&with(&[("private_app", "ab")], &three), &nothing, "abc");
    assert_eq!((idle.len(), idle[0].path.to_string().as_str()), (1, "num_nat_gateways"));
    let message = &idle[0].message;
    assert!(message.contains("3 NAT gateways in 3 AZs") && message.ends_with(": nat_gateway.2."), "{message}");
    let message = &warnings(&with(&[("public", "ab"), ("private_app", "ab")], &three), &nothing, "abc")[0].message;
    assert!(message.contains("3 NAT gateways in 2 AZs") && message.ends_with(": nat_gateway.2."), "{message}");
    // The allowed persistence tables use the gateway of the third AZ.
    let allowed = [three[0].clone(), ("allow_private_persistence_internet_access", true.into())];
    assert_eq!(warnings(&with(&[("private_app", "ab")], &allowed), &nothing, "abc"), []);
}

#[test]
fn an_az_outside_the_network_is_rejected_with_the_reason() {
    let existing = applied(&objects(&config(&[]), "abc"));
    let cases: [(&str, Value, &str, &str); 6] = [
        (
            "custom_tags",
            Value::map::<&str>([]),
            "This account has no AZ az-x in the Region.",
            "Use IDs from this list.",
        ),
        ("availability_zone_ids", vec!["az-a", "az-b"].into(), "because availability_zone_ids does not list it", "ids"),
        ("availability_zone_exclude_ids", vec!["az-x"].into(), "because availability_zone_exclude_ids lists it", "ids"),
        (
            "availability_zone_exclude_names",
            vec!["x"].into(),
            "because availability_zone_exclude_names lists its name, x.",
            "exclude_names",
        ),
        ("num_availability_zones", 2.into(), "because num_availability_zones is 2.", "num_availability_zones"),
        (
            "availability_zone_state",
            "impaired".into(),
            "because it is available, and availability_zone_state is impaired.",
            "availability_zone_state",
        ),
    ];
    for (input, value, message, hint) in cases {
        let letters = if input == "custom_tags" { "abc" } else { "abcx" };
        let config = with(&[("public", "ax")], &[(input, value)]);
        let problems = blueprint(&config, None, &existing, letters).expect_err(input);
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        assert_eq!(problem.path.to_string(), "tier_availability_zone_ids[\"public\"][1]");
        assert!(problem.message.contains(message) && problem.message.contains("az-x"), "{problem:?}");
        assert!(problem.message.contains(" The AZs of the network are az-a, az-b"), "{problem:?}");
        assert!(problem.hint.contains(hint), "{problem:?}");
    }
}

#[test]
fn an_entry_for_an_az_that_leaves_the_network_is_rejected() {
    let existing = applied(&objects(&with(&[("private_persistence", "ac")], &[]), "abc"));
    let two = |letters: &str| with(&[("private_persistence", letters)], &[("num_availability_zones", 2.into())]);
    let problems = blueprint(&two("ac"), None, &existing, "abc").expect_err("AZ c leaves");
    let expected = "az-c is not an AZ of the network, because num_availability_zones is 2. The AZs of the network are \
                    az-a, az-b.";
    assert_eq!(problems[0].message, expected);
    assert_eq!(problems[0].path.to_string(), "tier_availability_zone_ids[\"private_persistence\"][1]");
    assert!(problems[0].hint.contains("or change num_availability_zones"), "{problems:?}");
    assert!(blueprint(&two("a"), None, &existing, "abc").is_ok());
}

#[test]
fn unknown_entries_of_created_tiers_leave_the_network_undecided() {
    let decided = |value: Value| {
        let blueprint = blueprint(&config(&[(NAME, value)]), None, &Inventory::default(), "ab").unwrap();
        matches!(blueprint, Blueprint::Decided { .. })
    };
    let entry = |tier: &str, value: Value| Value::map([(tier, value)]);
    assert!(!decided(Value::Unknown));
    assert!(!decided(entry("public", Value::Unknown)));
    assert!(!decided(entry("public", Value::List(vec!["az-a".into(), Value::Unknown]))));
    assert!(decided(entry("transit", Value::Unknown)), "it is not created");
}

#[test]
fn unused_entries_cause_warnings() {
    let block = Value::map([("AZ-1", "10.0.240.0/24".into()), ("AZ-7", "10.0.241.0/24".into())]);
    let config =
        with(&[("private_persistence", "a"), ("transit", "b")], &[("private_persistence_subnet_cidr_blocks", block)]);
    let warnings = warnings(&config, &Inventory::default(), "ab");
    let shown: Vec<(String, &str)> = warnings.iter().map(|it| (it.path.to_string(), it.message.as_str())).collect();
    let expected = [
        ("tier_availability_zone_ids[\"transit\"]", "The entry is not used, because create_transit_subnets is false."),
        (
            "private_persistence_subnet_cidr_blocks[\"AZ-1\"]",
            "The entry is not used, because the private-persistence tier has subnets only in AZ-0.",
        ),
        (
            "private_persistence_subnet_cidr_blocks[\"AZ-7\"]",
            "The entry is not used, because the network has only AZ-0, AZ-1.",
        ),
    ];
    assert_eq!(shown, expected.map(|(path, message)| (path.to_string(), message)));
    let hint = "Remove the entry, or add az-b to tier_availability_zone_ids[\"private_persistence\"].";
    assert_eq!(warnings[1].hint, hint);
}

#[test]
fn an_az_without_subnets_is_not_in_use_and_keeps_its_index() {
    let tiers = |letters| [("public", letters), ("private_app", letters), ("private_persistence", letters)];
    let (all, some) = (config(&[]), with(&tiers("ac"), &[]));
    let before = objects(&all, "abc");
    let after = next_objects(&some, Some(&all), &applied(&before), "abc");
    assert_eq!(after, objects(&some, "abc"), "a new network has the same objects");
    let outputs = FourTierVpc::outputs(&some, Some(&after), &ids_of(&after), Some(&scope()));
    assert_eq!(outputs["availability_zones"], vec!["a", "c"].into());
    let ids = vec!["id-of-subnet.public.0", "id-of-subnet.public.2"];
    assert_eq!(outputs["public_subnet_ids"], ids.into());
    assert_eq!(next_objects(&all, Some(&some), &applied(&after), "abc"), before);
    // Its state does not matter, and neither does that of an AZ that AWS adds.
    let mut zones = super::super::fixtures::zones("abcd");
    zones[1].state = "impaired".into();
    let facts = Facts { availability_zones: Some(zones), ..facts("") };
    let context =
        Context { config: &some, prior: Some(&some), existing: &applied(&after), scope: &scope(), facts: &facts };
    let Ok(Blueprint::Decided { objects, warnings, .. }) = FourTierVpc::blueprint(&context) else { panic!() };
    assert_eq!((slots(&objects, "subnet."), warnings), (slots(&after, "subnet."), vec![]));
}

#[test]
fn ipv6_blocks_keep_the_number_of_the_az() {
    let ipv6 = [("enable_ipv6", Value::from(true)), ("assign_generated_ipv6_cidr_block", true.into())];
    let config = with(&[("public", "ac")], &ipv6);
    let mut existing = applied(&objects(&config, "abc"));
    let range = existing.entries.iter_mut().find(|entry| entry.key.slot == "ipv6_cidr_block").unwrap();
    range.learned.insert("ipv6_cidr_block".into(), "2600:1f00:0:ab00::/56".into());
    let blocks: Vec<String> = next_objects(&config, Some(&config), &existing, "abc")
        .iter()
        .filter_map(|object| match &object.spec {
            Spec::Subnet(subnet) => subnet.ipv6_cidr_block.known().cloned().flatten(),
            _ => None,
        })
        .collect();
    assert_eq!(blocks, ["2600:1f00:0:ab00::/64", "2600:1f00:0:ab02::/64"]);
}

#[test]
fn no_tier_needs_no_az() {
    let none = ["public", "private_app", "private_persistence"].map(|tier| (format!("create_{tier}_subnets"), false));
    let none: Vec<(&str, Value)> = none.iter().map(|(name, is_on)| (name.as_str(), (*is_on).into())).collect();
    let config = config(&none);
    let network = zones::places(&config, &Inventory::default(), &super::super::fixtures::zones("ab")).unwrap().unwrap();
    let zones = TierZones::of(&config, &[], network, |_, _| unreachable!()).unwrap().unwrap();
    assert_eq!((zones.sites(), zones.used().count(), zones.network().len()), (vec![], 0, 2));
}
