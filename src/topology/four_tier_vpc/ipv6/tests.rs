//! Ranges and blocks through the life of a network.

use super::super::config::tests::config;
use super::super::fixtures::{applied, blueprint, next_objects, objects};
use super::*;
use crate::plugin::Value;

const RANGE: &str = "2001:db8:12:3400::/56";

fn generated(attributes: &[(&str, Value)]) -> Config {
    let mut all = vec![("enable_ipv6", Value::from(true)), ("assign_generated_ipv6_cidr_block", true.into())];
    all.extend(attributes.iter().cloned());
    config(&all)
}

/// What exists after an apply, with the range that Amazon gave.
fn made(objects: &[Object]) -> Inventory {
    let mut existing = applied(objects);
    for entry in existing.entries.iter_mut().filter(|entry| entry.key.slot == keys::IPV6_CIDR_BLOCK) {
        entry.learned.insert("ipv6_cidr_block".into(), RANGE.into());
    }
    existing
}

/// What exists after a network of this configuration was applied in full.
fn settled(config: &Config, letters: &str) -> Inventory {
    let first = made(&objects(config, letters));
    made(&next_objects(config, Some(config), &first, letters))
}

fn blocks_of(objects: &[Object]) -> Vec<Option<String>> {
    let public = objects.iter().filter_map(|object| match &object.spec {
        Spec::Subnet(subnet) if subnet.tier == crate::model::Tier::Public => Some(&subnet.ipv6_cidr_block),
        _ => None,
    });
    public.map(|block| block.known().cloned().flatten()).collect()
}

fn texts(blocks: &[Option<String>]) -> Vec<&str> {
    blocks.iter().map(|block| block.as_deref().unwrap_or("unknown")).collect()
}

fn entries(pairs: &[(&str, &str)]) -> (&'static str, Value) {
    let pairs = pairs.iter().map(|(key, block)| (*key, Value::from(*block)));
    ("public_subnet_ipv6_cidr_blocks", Value::map(pairs))
}

#[test]
fn the_range_that_a_state_remembers_is_the_one_that_was_made_from_it() {
    let network = generated(&[]);
    let made = objects(&network, "abc").into_iter().find(|object| object.key.slot == keys::IPV6_CIDR_BLOCK);
    assert!(made.is_some());
    assert_eq!(remembered(&network), made);
    assert_eq!(remembered(&config(&[])), None);
}

#[test]
fn public_subnets_get_the_block_of_their_number_once_the_range_is_there() {
    let config = generated(&[("assign_ipv6_address_on_creation", true.into())]);
    let first = objects(&config, "abc");
    assert_eq!(texts(&blocks_of(&first)), ["unknown"; 3]);
    let then = next_objects(&config, None, &made(&first), "abc");
    let expected = ["2001:db8:12:3400::/64", "2001:db8:12:3401::/64", "2001:db8:12:3402::/64"];
    assert_eq!(texts(&blocks_of(&then)), expected);
    for object in &then {
        let Spec::Subnet(subnet) = &object.spec else { continue };
        let is_public = subnet.tier == crate::model::Tier::Public;
        assert_eq!(subnet.assign_ipv6_address_on_creation, Input::Known(is_public), "{}", object.key);
        assert_eq!(subnet.ipv6_block.is_some(), is_public);
    }
}

#[test]
fn the_range_of_a_pool_that_was_asked_for_is_known_at_plan() {
    let config = config(&[
        ("enable_ipv6", true.into()),
        ("ipv6_ipam_pool_id", "ipam-pool-6".into()),
        ("ipv6_cidr_block", "2001:DB8:0:100::/56".into()),
    ]);
    assert_eq!(texts(&blocks_of(&objects(&config, "ab"))), ["2001:db8:0:100::/64", "2001:db8:0:101::/64"]);
}

#[test]
fn every_public_table_leads_ipv6_to_the_internet_gateway() {
    let config = generated(&[("one_route_table_public_subnets", false.into())]);
    let objects = objects(&config, "ab");
    let slots: Vec<&str> =
        objects.iter().map(|it| it.key.slot.as_str()).filter(|slot| slot.ends_with("ipv6")).collect();
    assert_eq!(slots, ["route.public.0.ipv6", "route.public.1.ipv6"]);
    let route = objects.iter().find(|it| it.key.slot == "route.public.1.ipv6").unwrap();
    let Spec::Route(spec) = &route.spec else { unreachable!() };
    assert_eq!((spec.destination.as_str(), &spec.target), ("::/0", &keys::internet_gateway().into()));
    let association = objects.iter().find(|it| it.key.slot == "route_table_association.public.1").unwrap();
    assert!(association.after.contains(&route.key));
}

#[test]
fn without_ipv6_there_is_neither_range_nor_block_nor_route() {
    let config = config(&[("assign_generated_ipv6_cidr_block", true.into())]);
    let objects = objects(&config, "ab");
    assert!(objects.iter().all(|it| !it.key.slot.contains("ipv6")));
    assert_eq!(texts(&blocks_of(&objects)), ["unknown"; 2]);
}

#[test]
fn a_block_is_frozen_until_its_own_inputs_change() {
    let with = generated(&[entries(&[("AZ-1", "2001:db8:12:34ff::/64")])]);
    let existing = settled(&with, "abc");
    let after = |config: &Config| blocks_of(&next_objects(config, Some(&with), &existing, "abc"));
    let before = ["2001:db8:12:3400::/64", "2001:db8:12:34ff::/64", "2001:db8:12:3402::/64"];
    assert_eq!(texts(&after(&with)), before);
    assert_eq!(texts(&after(&generated(&[]))), before, "removing an entry moves nobody");
    let other = generated(&[entries(&[("AZ-1", "2001:db8:12:3480::/64")])]);
    assert_eq!(texts(&after(&other)), [before[0], "2001:db8:12:3480::/64", before[2]]);
}

#[test]
fn a_new_subnet_takes_the_next_free_number() {
    let with = generated(&[entries(&[("AZ-0", "2001:db8:12:3402::/64"), ("AZ-1", "2001:db8:12:3403::/64")])]);
    let existing = settled(&with, "ab");
    let after = blocks_of(&next_objects(&generated(&[]), Some(&with), &existing, "abc"));
    assert_eq!(texts(&after)[2], "2001:db8:12:3404::/64");
}

#[test]
fn larger_blocks_keep_away_from_what_others_still_have() {
    let existing = settled(&generated(&[]), "abc");
    let larger = generated(&[("ipv6_subnet_bits", 4_i64.into())]);
    let objects = next_objects(&larger, Some(&generated(&[])), &existing, "abc");
    // Block 0 has the old blocks of all three in it.
    let expected = ["2001:db8:12:3430::/60", "2001:db8:12:3410::/60", "2001:db8:12:3420::/60"];
    assert_eq!(texts(&blocks_of(&objects)), expected);
    let again = next_objects(&larger, Some(&larger), &made(&objects), "abc");
    assert_eq!(texts(&blocks_of(&again)), expected);
}

#[test]
fn a_subnet_that_is_exchanged_gets_another_block_than_the_one_that_goes() {
    let existing = settled(&generated(&[]), "ab");
    let moved = generated(&[("public_subnet_cidr_blocks", Value::map([("AZ-0", "10.0.240.0/24".into())]))]);
    let objects = next_objects(&moved, Some(&generated(&[])), &existing, "ab");
    assert_eq!(texts(&blocks_of(&objects)), ["2001:db8:12:3402::/64", "2001:db8:12:3401::/64"]);
}

#[test]
fn entries_that_overlap_lie_outside_or_are_still_held_are_refused() {
    let config = generated(&[]);
    let existing = settled(&config, "ab");
    let problem = |pairs: &[(&str, &str)]| {
        let problems = blueprint(&generated(&[entries(pairs)]), Some(&config), &existing, "ab").unwrap_err();
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        problem.message.clone()
    };
    let outside = problem(&[("AZ-0", "2001:db8:99::/64")]);
    assert!(outside.contains("2001:db8:99::/64 lies outside") && outside.contains(RANGE), "{outside}");
    let taken = problem(&[("AZ-0", "2001:db8:12:3401::/64")]);
    assert!(taken.contains("the block of public subnet 1"), "{taken}");
    let held = problem(&[("AZ-0", "2001:db8:12:3401::/64"), ("AZ-1", "2001:db8:12:3405::/64")]);
    assert!(held.contains("subnet.public.1 has until"), "{held}");
    let twice = problem(&[("AZ-0", "2001:db8:12:3407::/64"), ("AZ-1", "2001:db8:12:3407::/64")]);
    assert!(twice.contains("overlaps 2001:db8:12:3407::/64"), "{twice}");
}

#[test]
fn an_unknown_entry_leaves_unknown_what_is_new_and_no_more() {
    let existing = settled(&generated(&[]), "ab");
    let unknown = Value::map([("AZ-1", Value::Unknown)]);
    let config = generated(&[("public_subnet_ipv6_cidr_blocks", unknown)]);
    let after = blocks_of(&next_objects(&config, Some(&generated(&[])), &existing, "abc"));
    assert_eq!(texts(&after), ["2001:db8:12:3400::/64", "unknown", "unknown"]);
}

#[test]
fn a_range_stays_as_long_as_it_is_what_is_wanted() {
    let pool = |attributes: &[(&str, Value)]| {
        let mut all = vec![("enable_ipv6", Value::from(true)), ("ipv6_ipam_pool_id", "ipam-pool-6".into())];
        all.extend(attributes.iter().cloned());
        config(&all)
    };
    let made_of = pool(&[("ipv6_netmask_length", 56_i64.into())]);
    let existing = settled(&made_of, "a");
    let key = |config: &Config, existing: &Inventory| {
        let objects = next_objects(config, Some(&made_of), existing, "a");
        objects.into_iter().find(|it| it.key.slot == keys::IPV6_CIDR_BLOCK).unwrap().key
    };
    let old = existing.at(keys::IPV6_CIDR_BLOCK).unwrap().key.clone();
    assert_eq!(key(&pool(&[]), &existing), old);
    assert_eq!(key(&pool(&[("ipv6_cidr_block", RANGE.into())]), &existing), old);
    assert_ne!(key(&pool(&[("ipv6_cidr_block", "2001:db8::/56".into())]), &existing), old);
    assert_ne!(key(&pool(&[("ipv6_ipam_pool_id", "ipam-pool-7".into())]), &existing), old);
    assert_ne!(key(&generated(&[]), &existing), old);

    let mut imported = existing;
    let entry = imported.entries.iter_mut().find(|it| it.key.slot == keys::IPV6_CIDR_BLOCK).unwrap();
    let Spec::VpcIpv6Block(block) = &mut entry.applied else { unreachable!() };
    let (cidr_block, netmask_length) = (Input::Known(None), Input::Known(None));
    block.source = Ipv6Source::Pool { pool_id: Input::Known(None), cidr_block, netmask_length };
    entry.key = keys::ipv6_cidr_block(&block.source);
    let found = entry.key.clone();
    assert_eq!(key(&made_of, &imported), found);
}

#[test]
fn the_border_group_of_the_region_is_that_of_no_other() {
    let with = |group: &str| generated(&[("ipv6_cidr_block_network_border_group", group.into())]);
    let existing = settled(&generated(&[]), "a");
    let key = |config: &Config| {
        let objects = next_objects(config, Some(&generated(&[])), &existing, "a");
        objects.into_iter().find(|it| it.key.slot == keys::IPV6_CIDR_BLOCK).unwrap().key
    };
    assert_eq!(key(&with("eu-central-1")), key(&generated(&[])));
    assert_ne!(key(&with("eu-central-1-ham-1")), key(&generated(&[])));
}

#[test]
fn a_range_of_amazons_may_be_said_again_and_not_be_chosen() {
    let existing = settled(&generated(&[]), "a");
    let said = |range: &str, existing: &Inventory| {
        let config = generated(&[("ipv6_cidr_block", range.into())]);
        let problems = blueprint(&config, None, existing, "a").err().unwrap_or_default();
        problems.into_iter().map(|problem| (problem.path.to_string(), problem.message)).collect::<Vec<_>>()
    };
    assert_eq!(said(RANGE, &existing), []);
    for (range, existing) in [("2001:db8:ff::/56", &existing), (RANGE, &Inventory::default())] {
        let problems = said(range, existing);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].0 == "ipv6_cidr_block" && problems[0].1.contains(range), "{problems:?}");
    }
}
