//! Ranges and blocks during the life of a network.

use super::super::config::tests::config;
use super::super::fixtures::{applied, blueprint, next_objects, objects};
use super::*;
use crate::model::UnmanagedSubnet;
use crate::plugin::Value;

const RANGE: &str = "2001:db8:12:3400::/56";

fn generated(attributes: &[(&str, Value)]) -> Config {
    let mut all = vec![("enable_ipv6", Value::from(true)), ("assign_generated_ipv6_cidr_block", true.into())];
    all.extend(attributes.iter().cloned());
    config(&all)
}

/// The inventory after an apply, with the range that Amazon provided.
fn with_range(objects: &[Object]) -> Inventory {
    let mut existing = applied(objects);
    for entry in existing.entries.iter_mut().filter(|entry| entry.key.slot == keys::IPV6_CIDR_BLOCK) {
        entry.learned.insert("ipv6_cidr_block".into(), RANGE.into());
    }
    existing
}

/// The inventory after a network with this configuration was applied completely.
fn fully_applied(config: &Config, letters: &str) -> Inventory {
    let first = with_range(&objects(config, letters));
    with_range(&next_objects(config, Some(config), &first, letters))
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
fn the_remembered_range_equals_the_created_one() {
    let network = generated(&[]);
    let created = objects(&network, "abc").into_iter().find(|object| object.key.slot == keys::IPV6_CIDR_BLOCK);
    assert!(created.is_some());
    assert_eq!(remembered(&network), created);
    assert_eq!(remembered(&config(&[])), None);
}

#[test]
fn public_subnets_get_the_block_of_their_index() {
    let config = generated(&[("assign_ipv6_address_on_creation", true.into())]);
    let first = objects(&config, "abc");
    assert_eq!(texts(&blocks_of(&first)), ["unknown"; 3]);
    let then = next_objects(&config, None, &with_range(&first), "abc");
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
fn a_range_requested_from_a_pool_is_known_at_plan() {
    let config = config(&[
        ("enable_ipv6", true.into()),
        ("ipv6_ipam_pool_id", "ipam-pool-6".into()),
        ("ipv6_cidr_block", "2001:DB8:0:100::/56".into()),
    ]);
    assert_eq!(texts(&blocks_of(&objects(&config, "ab"))), ["2001:db8:0:100::/64", "2001:db8:0:101::/64"]);
}

#[test]
fn every_public_table_routes_ipv6_to_the_internet_gateway() {
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
fn without_ipv6_there_are_no_ranges_blocks_or_routes() {
    let config = config(&[("assign_generated_ipv6_cidr_block", true.into())]);
    let objects = objects(&config, "ab");
    assert!(objects.iter().all(|it| !it.key.slot.contains("ipv6")));
    assert_eq!(texts(&blocks_of(&objects)), ["unknown"; 2]);
}

#[test]
fn a_block_is_frozen_until_its_own_inputs_change() {
    let with = generated(&[entries(&[("AZ-1", "2001:db8:12:34ff::/64")])]);
    let existing = fully_applied(&with, "abc");
    let after = |config: &Config| blocks_of(&next_objects(config, Some(&with), &existing, "abc"));
    let before = ["2001:db8:12:3400::/64", "2001:db8:12:34ff::/64", "2001:db8:12:3402::/64"];
    assert_eq!(texts(&after(&with)), before);
    assert_eq!(texts(&after(&generated(&[]))), before, "removing an entry moves no subnet");
    let other = generated(&[entries(&[("AZ-1", "2001:db8:12:3480::/64")])]);
    assert_eq!(texts(&after(&other)), [before[0], "2001:db8:12:3480::/64", before[2]]);
}

#[test]
fn a_new_subnet_takes_the_next_free_number() {
    let with = generated(&[entries(&[("AZ-0", "2001:db8:12:3402::/64"), ("AZ-1", "2001:db8:12:3403::/64")])]);
    let existing = fully_applied(&with, "ab");
    let after = blocks_of(&next_objects(&generated(&[]), Some(&with), &existing, "abc"));
    assert_eq!(texts(&after)[2], "2001:db8:12:3404::/64");
}

#[test]
fn no_subnet_gets_the_block_of_an_unmanaged_one() {
    let config = generated(&[]);
    let mut existing = fully_applied(&config, "ab");
    let theirs = UnmanagedSubnet {
        id: "subnet-theirs".into(),
        block: "10.0.255.0/24".parse().unwrap(),
        ipv6_block: Some("2001:db8:12:3402::/64".parse().unwrap()),
    };
    let vpc = existing.entries.iter_mut().find(|entry| entry.key.slot == keys::VPC).unwrap();
    vpc.learned.insert(UnmanagedSubnet::LEARNED.into(), UnmanagedSubnet::join(vec![theirs]));
    let after = blocks_of(&next_objects(&config, Some(&config), &existing, "abc"));
    assert_eq!(texts(&after)[2], "2001:db8:12:3403::/64");

    let explicit = generated(&[entries(&[("AZ-1", "2001:db8:12:3402::/64")])]);
    let problems = blueprint(&explicit, Some(&config), &existing, "ab").unwrap_err();
    let [problem] = problems.as_slice() else { panic!("{problems:?}") };
    assert_eq!(problem.path.to_string(), "public_subnet_ipv6_cidr_blocks[\"AZ-1\"]");
    assert!(problem.message.contains("2001:db8:12:3402::/64, the block of the unmanaged subnet subnet-theirs"));
}

#[test]
fn larger_blocks_avoid_those_that_subnets_still_have() {
    let existing = fully_applied(&generated(&[]), "abc");
    let larger = generated(&[("ipv6_subnet_bits", 4_i64.into())]);
    let objects = next_objects(&larger, Some(&generated(&[])), &existing, "abc");
    // Block 0 contains the old blocks of all three subnets.
    let expected = ["2001:db8:12:3430::/60", "2001:db8:12:3410::/60", "2001:db8:12:3420::/60"];
    assert_eq!(texts(&blocks_of(&objects)), expected);
    let again = next_objects(&larger, Some(&larger), &with_range(&objects), "abc");
    assert_eq!(texts(&blocks_of(&again)), expected);
}

#[test]
fn a_replaced_subnet_does_not_get_the_block_of_the_old_one() {
    let existing = fully_applied(&generated(&[]), "ab");
    let moved = generated(&[("public_subnet_cidr_blocks", Value::map([("AZ-0", "10.0.240.0/24".into())]))]);
    let objects = next_objects(&moved, Some(&generated(&[])), &existing, "ab");
    assert_eq!(texts(&blocks_of(&objects)), ["2001:db8:12:3402::/64", "2001:db8:12:3401::/64"]);
}

#[test]
fn entries_that_overlap_or_are_outside_or_in_use_are_rejected() {
    let config = generated(&[]);
    let existing = fully_applied(&config, "ab");
    let problem = |pairs: &[(&str, &str)]| {
        let problems = blueprint(&generated(&[entries(pairs)]), Some(&config), &existing, "ab").unwrap_err();
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        problem.message.clone()
    };
    let outside = problem(&[("AZ-0", "2001:db8:99::/64")]);
    assert!(outside.contains("2001:db8:99::/64 is outside") && outside.contains(RANGE), "{outside}");
    let taken = problem(&[("AZ-0", "2001:db8:12:3401::/64")]);
    assert!(taken.contains("the block of public subnet 1"), "{taken}");
    let held = problem(&[("AZ-0", "2001:db8:12:3401::/64"), ("AZ-1", "2001:db8:12:3405::/64")]);
    assert!(held.contains("subnet.public.1 has until"), "{held}");
    let twice = problem(&[("AZ-0", "2001:db8:12:3407::/64"), ("AZ-1", "2001:db8:12:3407::/64")]);
    assert!(twice.contains("overlaps 2001:db8:12:3407::/64"), "{twice}");
}

#[test]
fn an_unknown_entry_makes_only_new_blocks_unknown() {
    let existing = fully_applied(&generated(&[]), "ab");
    let unknown = Value::map([("AZ-1", Value::Unknown)]);
    let config = generated(&[("public_subnet_ipv6_cidr_blocks", unknown)]);
    let after = blocks_of(&next_objects(&config, Some(&generated(&[])), &existing, "abc"));
    assert_eq!(texts(&after), ["2001:db8:12:3400::/64", "unknown", "unknown"]);
}

#[test]
fn a_range_stays_while_it_satisfies_the_configuration() {
    let pool = |attributes: &[(&str, Value)]| {
        let mut all = vec![("enable_ipv6", Value::from(true)), ("ipv6_ipam_pool_id", "ipam-pool-6".into())];
        all.extend(attributes.iter().cloned());
        config(&all)
    };
    let first = pool(&[("ipv6_netmask_length", 56_i64.into())]);
    let existing = fully_applied(&first, "a");
    let key = |config: &Config, existing: &Inventory| {
        let objects = next_objects(config, Some(&first), existing, "a");
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
    assert_eq!(key(&first, &imported), found);
}

#[test]
fn the_border_group_of_the_region_is_the_default() {
    let with = |group: &str| generated(&[("ipv6_cidr_block_network_border_group", group.into())]);
    let existing = fully_applied(&generated(&[]), "a");
    let key = |config: &Config| {
        let objects = next_objects(config, Some(&generated(&[])), &existing, "a");
        objects.into_iter().find(|it| it.key.slot == keys::IPV6_CIDR_BLOCK).unwrap().key
    };
    assert_eq!(key(&with("eu-central-1")), key(&generated(&[])));
    assert_ne!(key(&with("eu-central-1-ham-1")), key(&generated(&[])));
}

#[test]
fn an_amazon_range_can_be_repeated_but_not_chosen() {
    let existing = fully_applied(&generated(&[]), "a");
    let problems_for = |range: &str, existing: &Inventory| {
        let config = generated(&[("ipv6_cidr_block", range.into())]);
        let problems = blueprint(&config, None, existing, "a").err().unwrap_or_default();
        problems.into_iter().map(|problem| (problem.path.to_string(), problem.message)).collect::<Vec<_>>()
    };
    assert_eq!(problems_for(RANGE, &existing), []);
    for (range, existing) in [("2001:db8:ff::/56", &existing), (RANGE, &Inventory::default())] {
        let problems = problems_for(range, existing);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].0 == "ipv6_cidr_block" && problems[0].1.contains(range), "{problems:?}");
    }
}

#[test]
fn a_block_that_no_input_expresses_is_in_the_way() {
    let config = generated(&[]);
    let mut existing = fully_applied(&super::super::config::tests::config(&[]), "ab");
    let subnet = existing.entries.iter_mut().find(|entry| entry.key.slot == "subnet.public.1").unwrap();
    subnet.learned.unexpressed.insert(Subnet::UNEXPRESSED_IPV6_BLOCK.into(), "2600:1f18:0:ab01::/64".into());
    let problems = blueprint(&config, None, &existing, "ab").unwrap_err();
    let [problem] = problems.as_slice() else { panic!("{problems:?}") };
    assert_eq!(problem.path, AttributePath::new("ipv6_subnet_tiers"));
    assert!(problem.message.contains("2600:1f18:0:ab01::/64"), "{}", problem.message);
    assert!(problem.message.contains("id-of-subnet.public.1"), "{}", problem.message);
}
