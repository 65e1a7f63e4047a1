//! Tests of the topology as a whole: its waves, its worked examples, and invariants of every network.

mod pending_addresses;

use std::collections::BTreeMap;

use super::config::tests::config;
use super::fixtures::{applied, blueprint, next_objects, objects, scope};
use super::*;
use crate::model::{Drift, Entry, Key, Learned, Ref, ResolvedObject, Spec, waves};
use crate::plugin::{Type, schema};

/// Three AZs, transit, three NAT gateways.
fn full() -> Config {
    config(&[("create_transit_subnets", true.into()), ("num_nat_gateways", 3_i64.into())])
}

/// Compares with a golden file; `UPDATE_EXPECT=1` writes it.
fn check(name: &str, actual: &str) {
    let path = format!("{}/tests/golden/four_tier_vpc/{name}", env!("CARGO_MANIFEST_DIR"));
    expect_test::expect_file![path].assert_eq(actual);
}

fn blocks(objects: &[Object]) -> BTreeMap<String, String> {
    objects
        .iter()
        .filter_map(|object| match &object.spec {
            Spec::Subnet(subnet) => Some((object.key.slot.clone(), subnet.cidr_block.known().cloned()?)),
            _ => None,
        })
        .collect()
}

fn set_pending_deletion(existing: &mut Inventory, prefix: &str) {
    existing.entries.iter_mut().filter(|it| it.key.slot.starts_with(prefix)).for_each(|it| it.pending_deletion = true);
}

fn targets(objects: &[Object]) -> BTreeMap<String, String> {
    objects
        .iter()
        .filter_map(|object| match &object.spec {
            Spec::Route(route) => match &route.target {
                Ref::Key(target) => Some((object.key.slot.clone(), target.slot.clone())),
                Ref::Id(_) => None,
            },
            _ => None,
        })
        .collect()
}

fn slots<'a>(objects: &'a [Object], prefix: &str) -> Vec<&'a str> {
    objects.iter().map(|object| object.key.slot.as_str()).filter(|slot| slot.starts_with(prefix)).collect()
}

pub(super) fn ids_of(objects: &[Object]) -> Ids {
    let mut ids = Ids::default();
    for object in objects {
        let learned = Learned::from([
            ("owner_id".to_string(), "210987654321".to_string()),
            ("public_ip".to_string(), "198.51.100.1".to_string()),
        ]);
        ids.insert(object.key.clone(), ResolvedObject { id: format!("id-of-{}", object.key.slot), learned });
    }
    ids
}

/// Whether a value has the shape of a type, except for unknown and null parts.
fn conforms(value: &Value, kind: &Type) -> bool {
    match (value, kind) {
        (Value::Unknown | Value::Null, _) => true,
        (Value::Bool(_), Type::Bool) | (Value::Number(_), Type::Number) | (Value::String(_), Type::String) => true,
        (Value::List(items), Type::List(of)) => items.iter().all(|item| conforms(item, of)),
        (Value::Map(entries), Type::Map(of)) => entries.values().all(|item| conforms(item, of)),
        (Value::Map(entries), Type::Object(fields)) => {
            entries.len() == fields.len()
                && fields.iter().all(|(name, of)| entries.get(name).is_some_and(|value| conforms(value, of)))
        }
        _ => false,
    }
}

pub(super) fn assert_outputs_conform(config: &Config, objects: Option<&[Object]>, ids: &Ids) {
    let outputs = FourTierVpc::outputs(config, objects, ids, Some(&scope()));
    let Type::Object(types) = schema::object_type(&FourTierVpc::outputs_schema()) else { unreachable!() };
    let mut types = types;
    types.insert(super::outputs::IPV6_CIDR_BLOCK.into(), Type::String);
    assert_eq!(outputs.keys().collect::<Vec<_>>(), types.keys().collect::<Vec<_>>());
    for (name, value) in &outputs {
        assert!(conforms(value, &types[name]), "{name} = {value}");
    }
}

#[test]
fn the_waves_of_a_full_network() {
    let objects = objects(&full(), "abc");
    assert_eq!(objects.len(), 49);
    check("full.txt", &waves::waves(&objects));
}

#[test]
fn the_waves_of_a_minimal_network() {
    let config = config(&[
        ("num_availability_zones", 1_i64.into()),
        ("num_nat_gateways", 0_i64.into()),
        ("create_private_persistence_subnets", false.into()),
        ("create_vpc_endpoints", false.into()),
        ("enable_default_security_group", false.into()),
    ]);
    check("minimal.txt", &waves::waves(&objects(&config, "abc")));
}

#[test]
fn the_waves_of_a_network_with_ipv6_private_nat_and_acl() {
    let config = config(&[
        ("num_availability_zones", 2_i64.into()),
        ("create_transit_subnets", true.into()),
        ("create_private_persistence_subnets", false.into()),
        ("create_vpc_endpoints", false.into()),
        ("enable_ipv6", true.into()),
        ("assign_generated_ipv6_cidr_block", true.into()),
        ("enable_private_nat", true.into()),
        ("apply_default_nacl_rules", true.into()),
    ]);
    check("ipv6_private_nat_acl.txt", &waves::waves(&objects(&config, "abc")));
}

#[test]
fn addresses_follow_the_formula() {
    let third = |objects: &[Object], tier: &str| -> Vec<String> {
        let blocks = blocks(objects);
        (0..3).map(|index| blocks[&format!("subnet.{tier}.{index}")].clone()).collect()
    };
    let without = objects(&config(&[]), "abc");
    assert_eq!(third(&without, "public"), ["10.0.0.0/21", "10.0.8.0/21", "10.0.16.0/21"]);
    assert_eq!(third(&without, "private_app"), ["10.0.80.0/21", "10.0.88.0/21", "10.0.96.0/21"]);
    assert_eq!(third(&without, "private_persistence"), ["10.0.160.0/21", "10.0.168.0/21", "10.0.176.0/21"]);
    let with = objects(&full(), "abc");
    assert_eq!(third(&with, "private_app"), ["10.0.48.0/21", "10.0.56.0/21", "10.0.64.0/21"]);
    assert_eq!(third(&with, "private_persistence"), ["10.0.96.0/21", "10.0.104.0/21", "10.0.112.0/21"]);
    assert_eq!(third(&with, "transit"), ["10.0.144.0/21", "10.0.152.0/21", "10.0.160.0/21"]);
}

#[test]
fn enabling_transit_moves_no_subnet_and_uses_free_blocks() {
    let before = objects(&config(&[]), "abc");
    let with_transit = config(&[("create_transit_subnets", true.into())]);
    let after = blocks(&next_objects(&with_transit, Some(&config(&[])), &applied(&before), "abc"));
    for (slot, block) in blocks(&before) {
        assert_eq!(after[&slot], block);
    }
    // The formula's blocks are .144, .152 and .160. The persistence tier has the last one.
    assert_eq!(after["subnet.transit.0"], "10.0.144.0/21");
    assert_eq!(after["subnet.transit.1"], "10.0.152.0/21");
    assert_eq!(after["subnet.transit.2"], "10.0.192.0/21");
}

#[test]
fn only_its_own_inputs_move_a_subnet() {
    let before = objects(&config(&[]), "abc");
    let existing = applied(&before);
    let after = |attributes: &[(&str, Value)]| {
        let after = blocks(&next_objects(&config(attributes), Some(&config(&[])), &existing, "abc"));
        let moved = |(slot, block): &(String, String)| after.get(slot) != Some(block);
        blocks(&before).into_iter().filter(moved).map(|(slot, _)| slot).collect::<Vec<_>>()
    };
    assert_eq!(after(&[("subnet_spacing", 8_i64.into())]), [""; 0]);
    let entry = Value::map([("AZ-1", "10.0.240.0/24".into())]);
    assert_eq!(after(&[("public_subnet_cidr_blocks", entry)]), ["subnet.public.1"]);
    let app = ["subnet.private_app.0", "subnet.private_app.1", "subnet.private_app.2"];
    assert_eq!(after(&[("private_subnet_bits", 6_i64.into())]), app);
    assert_eq!(after(&[("private_subnet_spacing", 5_i64.into())]), app);
}

#[test]
fn a_resized_tier_moves_to_free_space() {
    let public = |objects: &[Object]| -> Vec<String> {
        let blocks = blocks(objects);
        (0..2).map(|index| blocks[&format!("subnet.public.{index}")].clone()).collect()
    };
    let with = |bits: i64| config(&[("public_subnet_bits", bits.into())]);
    let before = objects(&with(8), "ab");
    assert_eq!(public(&before), ["10.0.0.0/24", "10.0.1.0/24"]);
    let existing = applied(&before);
    let after = next_objects(&with(6), Some(&with(8)), &existing, "ab");
    // The first block of the formula contains both old blocks.
    assert_eq!(public(&after), ["10.0.24.0/22", "10.0.4.0/22"]);
    let plan = crate::reconcile::plan(&existing, &after).unwrap();
    let is_deletion = |position: &usize| matches!(plan.ops[*position].action, crate::reconcile::Action::Delete { .. });
    let is_subnet = |op: &&crate::reconcile::Op| matches!(op.action.spec(), Spec::Subnet(_));
    for op in plan.ops.iter().filter(is_subnet).filter(|op| matches!(op.action, crate::reconcile::Action::Create(_))) {
        assert!(!op.depends_on.iter().any(is_deletion), "{} waits for a deletion", op.action.key());
    }
    // After an apply that created only one of the new subnets, the next plan is the same.
    let mut halfway = existing;
    let created = after.iter().find(|it| it.key.slot == "subnet.public.0").unwrap();
    halfway.entries.push(Entry::new(created.key.clone(), "new", created.spec.clone()));
    assert_eq!(next_objects(&with(6), Some(&with(8)), &halfway, "ab"), after);
    // A new spacing is a place that the user chose.
    let spaced = |bits: i64, spacing: i64| {
        config(&[("private_subnet_bits", bits.into()), ("private_subnet_spacing", spacing.into())])
    };
    let existing = applied(&objects(&spaced(6, 40), "a"));
    let block = |objects: Vec<Object>| blocks(&objects)["subnet.private_app.0"].clone();
    assert_eq!(block(next_objects(&spaced(5, 20), Some(&spaced(6, 40)), &existing, "a")), "10.0.160.0/21");
}

#[test]
fn a_resized_tier_uses_its_old_place_if_no_other_is_free() {
    let with = |bits: i64| {
        config(&[
            ("cidr_block", "10.0.0.0/24".into()),
            ("public_subnet_bits", bits.into()),
            ("subnet_spacing", 2.into()),
        ])
    };
    let only_public = |bits: i64| {
        let mut config = with(bits);
        config.create_private_app_subnets = Input::Known(false);
        config.create_private_persistence_subnets = Input::Known(false);
        config
    };
    let existing = applied(&objects(&only_public(1), "ab"));
    let after = next_objects(&only_public(2), Some(&only_public(1)), &existing, "ab");
    assert_eq!(blocks(&after)["subnet.public.0"], "10.0.0.0/26");
    let plan = crate::reconcile::plan(&existing, &after).unwrap();
    let waits = |op: &crate::reconcile::Op| op.action.key().slot == "subnet.public.0" && !op.depends_on.is_empty();
    assert!(plan.ops.iter().any(waits), "{plan:#?}");
}

#[test]
fn removing_an_entry_moves_nothing() {
    let entry = Value::map([("AZ-1", "10.0.240.0/24".into())]);
    let prior = config(&[("public_subnet_cidr_blocks", entry)]);
    let before = objects(&prior, "abc");
    let after = next_objects(&config(&[]), Some(&prior), &applied(&before), "abc");
    assert_eq!(blocks(&after), blocks(&before));
}

#[test]
fn a_subnet_keeps_its_block_when_an_az_is_added() {
    let before = objects(&config(&[]), "bc");
    let after = next_objects(&config(&[]), Some(&config(&[])), &applied(&before), "abc");
    let kept: Vec<&Key> =
        before.iter().map(|it| &it.key).filter(|key| after.iter().all(|it| it.key != **key)).collect();
    assert_eq!(kept, Vec::<&Key>::new());
    assert_eq!(blocks(&after)["subnet.public.2"], "10.0.16.0/21");
}

#[test]
fn an_az_that_reuses_an_index_gets_other_blocks() {
    let before = blocks(&objects(&config(&[]), "abc"));
    let without_a = config(&[("availability_zone_exclude_names", vec!["a"].into())]);
    let existing = applied(&objects(&config(&[]), "abc"));
    let after = blocks(&next_objects(&without_a, Some(&config(&[])), &existing, "abcd"));
    // The subnets of AZ a have .0, .80 and .160 until those of AZ d exist.
    let expected =
        [("public", "10.0.48.0/21"), ("private_app", "10.0.128.0/21"), ("private_persistence", "10.0.208.0/21")];
    for (tier, block) in expected {
        assert_eq!(after[&format!("subnet.{tier}.0")], block);
        for index in 1..3 {
            let slot = format!("subnet.{tier}.{index}");
            assert_eq!(after[&slot], before[&slot]);
        }
    }
}

#[test]
fn an_az_that_reuses_an_index_may_wait_for_the_only_block() {
    let crowded = |excluded: &[&str]| {
        config(&[
            ("public_subnet_bits", 2_i64.into()),
            ("create_private_app_subnets", false.into()),
            ("create_private_persistence_subnets", false.into()),
            ("availability_zone_exclude_names", excluded.to_vec().into()),
        ])
    };
    let mut existing = applied(&objects(&crowded(&[]), "abcd"));
    let block = |existing: &Inventory| {
        let after = next_objects(&crowded(&["b"]), Some(&crowded(&[])), existing, "abcde");
        blocks(&after)["subnet.public.1"].clone()
    };
    assert_eq!(block(&existing), "10.0.64.0/18");
    // The old subnet is still in use. The next plan must not fail because of it.
    set_pending_deletion(&mut existing, "subnet.public.1");
    assert_eq!(block(&existing), "10.0.64.0/18");
}

#[test]
fn a_tier_enabled_again_keeps_subnets_pending_deletion() {
    let without = config(&[("create_private_persistence_subnets", false.into())]);
    let before = objects(&config(&[]), "abc");
    let mut existing = applied(&before);
    set_pending_deletion(&mut existing, "subnet.private_persistence");
    let after = next_objects(&config(&[]), Some(&without), &existing, "abc");
    assert_eq!(blocks(&after), blocks(&before));
    let smaller = config(&[("persistence_subnet_bits", 6_i64.into())]);
    let moved = blocks(&next_objects(&smaller, Some(&without), &existing, "abc"));
    // The formula's block is .80, which a subnet of the private app tier has.
    assert!(moved["subnet.private_persistence.0"].ends_with("/22"), "{moved:?}");
}

#[test]
fn another_az_does_not_keep_subnets_pending_deletion() {
    let before = objects(&config(&[]), "abc");
    let mut existing = applied(&before);
    set_pending_deletion(&mut existing, "subnet.public.0");
    set_pending_deletion(&mut existing, "subnet.private_app.0");
    set_pending_deletion(&mut existing, "subnet.private_persistence.0");
    let without_a = config(&[("availability_zone_exclude_names", vec!["a"].into())]);
    let after = blocks(&next_objects(&without_a, Some(&without_a), &existing, "abcd"));
    assert_eq!(after["subnet.public.0"], "10.0.48.0/21");
    let back = blocks(&next_objects(&config(&[]), Some(&without_a), &existing, "abc"));
    assert_eq!(back, blocks(&before));
}

#[test]
fn overlapping_entries_are_rejected_with_both_blocks() {
    let entry = Value::map([("AZ-0", "10.0.80.0/22".into()), ("AZ-1", "10.1.0.0/24".into())]);
    let config = config(&[
        ("public_subnet_cidr_blocks", entry),
        ("private_app_subnet_cidr_blocks", Value::map([("AZ-0", "10.0.80.0/21".into())])),
    ]);
    let problems = blueprint(&config, None, &Inventory::default(), "abc").unwrap_err();
    let messages: Vec<&str> = problems.iter().map(|it| it.message.as_str()).collect();
    assert!(messages.iter().any(|it| it.contains("10.0.80.0/22") && it.contains("10.0.80.0/21")), "{messages:?}");
    assert!(messages.iter().any(|it| it.contains("10.1.0.0/24") && it.contains("10.0.0.0/16")), "{messages:?}");
}

#[test]
fn a_block_number_out_of_range_is_rejected_with_both_numbers() {
    let config = config(&[("private_subnet_bits", 3_i64.into())]);
    let problems = blueprint(&config, None, &Inventory::default(), "a").unwrap_err();
    assert!(problems[0].message.contains("makes 8 of /19, 0 to 7, and its spacing requires block 10"));
}

#[test]
fn a_full_vpc_is_reported_with_its_free_ranges() {
    let crowded = [
        ("public_subnet_bits", 1_i64.into()),
        ("private_subnet_bits", 1_i64.into()),
        ("private_subnet_spacing", 0_i64.into()),
    ];
    let problems = blueprint(&config(&crowded), None, &Inventory::default(), "a").unwrap_err();
    let message = &problems[0].message;
    assert!(message.contains("makes 2 of /17, 0 to 1, and not enough of them are free"), "{message}");
    assert!(message.contains("10.0.128.0 to 10.0.159.255, 10.0.168.0 to 10.0.255.255"), "{message}");
}

#[test]
fn each_private_app_table_uses_the_nat_gateway_of_its_az() {
    let targets_of = |nats: i64| targets(&objects(&config(&[("num_nat_gateways", nats.into())]), "abc"));
    let three = targets_of(3);
    assert_eq!(three["route.private_app.2.ipv4"], "nat_gateway.2");
    let two = targets_of(2);
    assert_eq!(two["route.private_app.1.ipv4"], "nat_gateway.1");
    assert_eq!(two["route.private_app.2.ipv4"], "nat_gateway.0");
    assert_eq!(targets_of(0).keys().collect::<Vec<_>>(), ["route.public.ipv4"]);
}

#[test]
fn other_tiers_reach_the_internet_only_when_allowed() {
    assert!(!targets(&objects(&full(), "abc")).contains_key("route.transit.0.ipv4"));
    let allowed = config(&[
        ("create_transit_subnets", true.into()),
        ("allow_transit_internet_access", true.into()),
        ("allow_private_persistence_internet_access", true.into()),
    ]);
    let targets = targets(&objects(&allowed, "a"));
    assert_eq!(targets["route.transit.0.ipv4"], "nat_gateway.0");
    assert_eq!(targets["route.private_persistence.0.ipv4"], "nat_gateway.0");
}

#[test]
fn without_a_public_tier_there_are_no_gateways() {
    let config = config(&[("create_public_subnets", false.into())]);
    let objects = objects(&config, "abc");
    for prefix in ["internet_gateway", "nat_gateway", "eip", "route."] {
        assert_eq!(slots(&objects, prefix), [""; 0]);
    }
}

#[test]
fn a_nat_gateway_stays_in_its_subnet_when_azs_are_added() {
    let two = config(&[("num_nat_gateways", 3_i64.into())]);
    let before = objects(&two, "ab");
    let after = next_objects(&two, Some(&two), &applied(&before), "abc");
    let nats = |objects: &[Object]| -> Vec<Key> {
        objects.iter().map(|it| it.key.clone()).filter(|key| key.slot.starts_with("nat_gateway")).collect()
    };
    // A new NAT gateway 2 would now be in subnet 2, but the existing one is in subnet 0.
    assert_eq!(nats(&before), nats(&after));
}

#[test]
fn custom_nat_gateways_are_matched_by_address_not_position() {
    let with = |ids: &[&str]| {
        config(&[
            ("use_custom_nat_eips", true.into()),
            ("custom_nat_eips", ids.to_vec().into()),
            ("num_nat_gateways", (ids.len() as i64).into()),
        ])
    };
    let prior = with(&["eipalloc-a", "eipalloc-b", "eipalloc-c"]);
    let before = objects(&prior, "abc");
    assert_eq!(slots(&before, "eip"), [""; 0]);
    let after = next_objects(&with(&["eipalloc-c", "eipalloc-b"]), Some(&prior), &applied(&before), "abc");
    assert_eq!(slots(&after, "nat_gateway"), ["nat_gateway.1", "nat_gateway.2"]);
    for object in after.iter().filter(|it| it.key.slot.starts_with("nat_gateway")) {
        assert!(before.iter().any(|it| it.key == object.key), "{:?}", object.key);
    }
    assert_eq!(targets(&after)["route.private_app.0.ipv4"], "nat_gateway.1");
}

#[test]
fn an_unknown_address_makes_only_its_nat_gateway_unknown() {
    let config =
        config(&[("use_custom_nat_eips", true.into()), ("custom_nat_eips", Value::List(vec![Value::Unknown]))]);
    let objects = objects(&config, "a");
    let unknown: Vec<&str> =
        objects.iter().filter(|it| !it.key.fixed.is_known()).map(|it| it.key.slot.as_str()).collect();
    assert_eq!(unknown, ["nat_gateway.0"]);
}

#[test]
fn inputs_that_decide_the_structure_must_be_known() {
    for name in ["num_nat_gateways", "create_igw", "create_transit_subnets", "availability_zone_ids"] {
        let config = config(&[(name, Value::Unknown)]);
        assert_eq!(blueprint(&config, None, &Inventory::default(), "abc"), Ok(Blueprint::Undecided), "{name}");
    }
}

#[test]
fn the_slots_are_known_while_the_range_is_unknown() {
    let unknown = objects(&config(&[("cidr_block", Value::Unknown)]), "abc");
    let known = objects(&config(&[]), "abc");
    assert_eq!(slots(&unknown, ""), slots(&known, ""));
    let subnet = unknown.iter().find(|it| it.key.slot == "route_table_association.public.0").unwrap();
    assert_eq!(subnet.key.fixed, Input::Unknown);
}

#[test]
fn outputs_describe_the_subnets() {
    let objects = objects(&full(), "abc");
    let outputs = FourTierVpc::outputs(&full(), Some(&objects), &ids_of(&objects), Some(&scope()));
    let subnet = outputs["private_app_subnets"].get("main-private-app-1");
    assert_eq!(subnet.get("availability_zone"), &"b".into());
    assert_eq!(subnet.get("cidr_block"), &"10.0.56.0/21".into());
    assert_eq!(subnet.get("route_table_id"), &"id-of-route_table.private_app.1".into());
    let arn = "arn:aws:ec2:eu-central-1:123456789012:subnet/id-of-subnet.private_app.1";
    assert_eq!(subnet.get("arn"), &arn.into());
    assert_eq!(outputs["public_route_table_ids"], vec!["id-of-route_table.public"].into());
    assert_eq!(outputs["nat_gateway_public_ips"], vec!["198.51.100.1"; 3].into());
}

#[test]
fn without_an_account_ec2_names_the_owner() {
    let objects = objects(&full(), "abc");
    let owner_of = |ids: &Ids, account: Option<&str>| {
        let scope = Scope { account: account.map(str::to_string), ..scope() };
        let outputs = FourTierVpc::outputs(&full(), Some(&objects), ids, Some(&scope));
        (outputs["public_subnets"].get("main-public-0").get("owner_id").clone(), outputs["vpc_arn"].clone())
    };
    let (ids, arn) = (ids_of(&objects), |account: &str| format!("arn:aws:ec2:eu-central-1:{account}:vpc/id-of-vpc"));
    let (credentials, ec2) = ("123456789012", "210987654321");
    assert_eq!(owner_of(&ids, None), (ec2.into(), arn(ec2).into()));
    // A plan knows only the account of the credentials, so the apply must return this one.
    assert_eq!(owner_of(&Ids::default(), Some(credentials)).0, credentials.into());
    assert_eq!(owner_of(&ids, Some(credentials)), (credentials.into(), arn(credentials).into()));
}

#[test]
fn the_keys_of_subnets_are_known_before_their_ids() {
    let objects = objects(&full(), "abc");
    let outputs = FourTierVpc::outputs(&full(), Some(&objects), &Ids::default(), Some(&scope()));
    let subnets = outputs["public_subnets"].as_map().unwrap();
    assert_eq!(subnets.keys().collect::<Vec<_>>(), ["main-public-0", "main-public-1", "main-public-2"]);
    assert_eq!(subnets["main-public-0"].get("id"), &Value::Unknown);
    assert_eq!(outputs["availability_zone_ids_used"], vec!["az-a", "az-b", "az-c"].into());
}

#[test]
fn outputs_fit_their_types_in_every_state() {
    let none = config(&[("create_public_subnets", false.into()), ("create_vpc_endpoints", false.into())]);
    for config in [full(), none, config(&[("vpc_name", Value::Unknown), ("custom_tags", Value::Unknown)])] {
        let objects = objects(&config, "ab");
        assert_outputs_conform(&config, Some(&objects), &Ids::default());
        assert_outputs_conform(&config, Some(&objects), &ids_of(&objects));
        assert_outputs_conform(&config, None, &Ids::default());
    }
}

/// The attributes that require the replacement of a network of that configuration, with and without its inventory.
fn replaced(prior: &Config, config: &Config) -> Vec<AttributePath> {
    let by_prior = FourTierVpc::replaced_by(prior, config, &Inventory::default());
    assert_eq!(FourTierVpc::replaced_by(prior, config, &applied(&objects(prior, "a"))), by_prior);
    by_prior
}

#[test]
fn only_dedicated_tenancy_changes_in_place() {
    let dedicated = config(&[("tenancy", "dedicated".into())]);
    let default = config(&[]);
    assert_eq!(replaced(&dedicated, &default), []);
    assert_eq!(replaced(&default, &dedicated), [AttributePath::new("tenancy")]);
    let before = objects(&dedicated, "a");
    let after = next_objects(&default, Some(&dedicated), &applied(&before), "a");
    assert_eq!(after[0].key, before[0].key);
    let Spec::Vpc(vpc) = &after[0].spec else { panic!() };
    assert_eq!(vpc.instance_tenancy, Input::Known("default".into()));
}

#[test]
fn another_range_replaces_the_network_and_moves_every_subnet() {
    let other = config(&[("cidr_block", "10.1.0.0/16".into())]);
    assert_eq!(replaced(&config(&[]), &other), [AttributePath::new("cidr_block")]);
    let existing = applied(&objects(&config(&[]), "a"));
    let after = blocks(&next_objects(&other, Some(&config(&[])), &existing, "a"));
    assert_eq!(after["subnet.public.0"], "10.1.0.0/21");
}

#[test]
fn drift_is_reflected_if_one_attribute_can_express_it() {
    let mut inventory = applied(&objects(&config(&[]), "ab"));
    let mut state = Value::map([("map_public_ip_on_launch", false.into()), ("enable_dns_hostnames", true.into())]);
    let change = |inventory: &mut Inventory, slot: &str| {
        let entry = inventory.entries.iter_mut().find(|entry| entry.key.slot == slot).unwrap();
        let mut observed = entry.applied.clone();
        match &mut observed {
            Spec::Vpc(vpc) => vpc.enable_dns_hostnames = Input::Known(false),
            Spec::Subnet(subnet) => subnet.map_public_ip_on_launch = Input::Known(true),
            _ => unreachable!(),
        }
        entry.drift = Drift::Changed(Box::new(observed));
    };
    change(&mut inventory, "vpc");
    change(&mut inventory, "subnet.public.0");
    FourTierVpc::write_drift(&mut state, &inventory);
    assert_eq!(state.get("enable_dns_hostnames"), &false.into());
    assert_eq!(state.get("map_public_ip_on_launch"), &false.into());
    change(&mut inventory, "subnet.public.1");
    FourTierVpc::write_drift(&mut state, &inventory);
    assert_eq!(state.get("map_public_ip_on_launch"), &true.into());
}

#[test]
fn timeouts_are_read_in_seconds() {
    let timeouts = FourTierVpc::timeouts(&config(&[("timeouts", Value::map([("create", "1h".into())]))]));
    assert_eq!((timeouts.create, timeouts.update), (Some(3600), None));
    assert_eq!((timeouts.route_table_create, timeouts.route_table_update), (Some(300), Some(120)));
}
