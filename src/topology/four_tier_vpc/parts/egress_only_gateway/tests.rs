//! Tests of IPv6 in single tiers.

use serde_json::{Value as Json, json};

use super::*;
use crate::model::{Drift, Entry, FoundObject, Ref, Route, Subnet};
use crate::topology::four_tier_vpc::classify::classify;
use crate::topology::four_tier_vpc::classify::tests::{landscape, reason, slot};
use crate::topology::four_tier_vpc::config::tests::{config, decode};
use crate::topology::four_tier_vpc::fixtures::{applied, blueprint, imported, next_objects, objects, warned};
use crate::topology::four_tier_vpc::{reflect, validate};
use crate::topology::rules::{UNKNOWN, assert_reported, value, with};

const RANGE: &str = "2001:db8:12:3400::/56";
const ALL: [&str; 4] = ["public", "private_app", "private_persistence", "transit"];

/// A network with an Amazon-provided range and these inputs.
fn inputs(more: Json) -> Vec<(&'static str, Value)> {
    let all = with(json!({ "enable_ipv6": true, "assign_generated_ipv6_cidr_block": true }), more);
    let Json::Object(all) = all else { panic!("an object") };
    all.into_iter().map(|(name, json)| (&*Box::leak(name.into_boxed_str()), value(json))).collect()
}

fn with_ipv6(more: Json) -> Config {
    config(&inputs(more))
}

/// The inventory after an apply of the whole configuration, with the range that Amazon provided.
fn fully_applied(config: &Config, letters: &str) -> Inventory {
    let with_range = |objects: &[Object]| {
        let mut existing = applied(objects);
        for entry in existing.entries.iter_mut().filter(|entry| entry.key.slot == keys::IPV6_CIDR_BLOCK) {
            entry.learned.insert("ipv6_cidr_block".into(), RANGE.into());
        }
        existing
    };
    let first = with_range(&objects(config, letters));
    with_range(&next_objects(config, Some(config), &first, letters))
}

/// The numbers of the blocks of the subnets, by slot.
fn numbers(objects: &[Object]) -> Vec<(String, u128)> {
    let number = |object: &Object| {
        let block = Subnet::of(&object.spec)?.ipv6_cidr_block.known()?.clone()?;
        let block: ipnet::Ipv6Net = block.parse().expect("a block");
        let range: ipnet::Ipv6Net = RANGE.parse().expect("a range");
        let distance = u128::from(block.network()) - u128::from(range.network());
        Some((object.key.slot.clone(), distance >> (128 - block.prefix_len())))
    };
    objects.iter().filter_map(number).collect()
}

/// The slots of the IPv6 default routes to the gateway.
fn routes(objects: &[Object]) -> Vec<&str> {
    let leads_there = |object: &&Object| {
        let target = Route::of(&object.spec).map(|route| &route.target);
        target == Some(&Ref::Key(keys::egress_only_internet_gateway()))
    };
    objects.iter().filter(leads_there).map(|object| object.key.slot.as_str()).collect()
}

fn has_gateway(objects: &[Object]) -> bool {
    objects.iter().any(|object| object.key == keys::egress_only_internet_gateway())
}

#[test]
fn each_broken_rule_of_tiers_with_ipv6_is_reported() {
    let on = |more: Json| with(json!({ "enable_ipv6": true, "assign_generated_ipv6_cidr_block": true }), more);
    let tiers = |tiers: &[&str]| json!({ "ipv6_subnet_tiers": tiers });
    let assign = |tiers: &[&str]| json!({ "assign_ipv6_address_on_creation_tiers": tiers });
    let app = || tiers(&["public", "private_app"]);
    let private = json!({ "num_nat_gateways": 0, "create_egress_only_igw": true, "route_table_layout": {
        "private_persistence": "private_app",
    }});
    let shared = |tiers: Json| on(with(private.clone(), tiers));
    let problems = |attributes: Json| {
        let Json::Object(attributes) = attributes else { panic!("an object") };
        let attributes: Vec<(&str, Value)> =
            attributes.iter().map(|(name, json)| (name.as_str(), value(json.clone()))).collect();
        decode(&attributes).map_or_else(|problems| problems, |config| validate::validate(&config))
    };
    let entry = |block: &str| with(app(), json!({ "private_app_subnet_ipv6_cidr_blocks": { "AZ-0": block } }));
    let rules = vec![
        ("a tier exists", on(tiers(&["dmz"])), &["ipv6_subnet_tiers"][..], &["\"dmz\"", "transit"][..], on(app())),
        ("tiers require IPv6", app(), &["ipv6_subnet_tiers"], &["enable_ipv6"], tiers(&["public"])),
        ("a set without public requires IPv6", tiers(&[]), &["ipv6_subnet_tiers"], &["enable_ipv6"], on(tiers(&[]))),
        (
            "the gateway requires IPv6",
            json!({ "create_egress_only_igw": true }),
            &["create_egress_only_igw"],
            &["enable_ipv6"],
            json!({ "create_egress_only_igw": false }),
        ),
        (
            "assignment requires IPv6",
            assign(&["public"]),
            &["assign_ipv6_address_on_creation_tiers"],
            &["enable_ipv6"],
            on(assign(&["public"])),
        ),
        (
            "a tier that assigns addresses has a block",
            on(assign(&["transit"])),
            &["assign_ipv6_address_on_creation_tiers"],
            &["transit has no IPv6 block", "ipv6_subnet_tiers"],
            on(with(assign(&["transit"]), tiers(&["transit"]))),
        ),
        (
            "a public tier that assigns addresses has a block",
            on(with(json!({ "assign_ipv6_address_on_creation": true }), tiers(&["private_app"]))),
            &["assign_ipv6_address_on_creation"],
            &["public has no IPv6 block"],
            on(json!({ "assign_ipv6_address_on_creation": true })),
        ),
        (
            "both inputs of the public tier agree",
            on(with(with(json!({ "assign_ipv6_address_on_creation": true }), app()), assign(&["private_app"]))),
            &["assign_ipv6_address_on_creation_tiers"],
            &["does not contain public"],
            on(with(with(json!({ "assign_ipv6_address_on_creation": true }), app()), assign(&["public"]))),
        ),
        (
            "tiers that share tables agree on IPv6",
            shared(tiers(&["private_app", "private_persistence"])),
            &["route_table_layout[\"private_persistence\"]"],
            &["in private_app and not in private_persistence"],
            shared(tiers(&["private_app"])),
        ),
        (
            "a block of a private tier is a block",
            on(entry("2001:db8::/61")),
            &["private_app_subnet_ipv6_cidr_blocks[\"AZ-0\"]"],
            &["/61", "/64"],
            on(entry("2001:db8::/64")),
        ),
        (
            "blocks of two tiers do not overlap",
            on(with(entry("2001:db8::/64"), json!({ "public_subnet_ipv6_cidr_blocks": { "AZ-0": "2001:db8::/60" } }))),
            &["private_app_subnet_ipv6_cidr_blocks[\"AZ-0\"]"],
            &["2001:db8::/60", "public_subnet_ipv6_cidr_blocks"],
            on(with(
                entry("2001:db8::/64"),
                json!({ "public_subnet_ipv6_cidr_blocks": { "AZ-0": "2001:db8:1::/60" } }),
            )),
        ),
    ];
    assert_reported(rules, problems);
}

#[test]
fn the_gateway_exists_where_a_tier_has_a_way_out_over_ipv4() {
    let cases = [
        (json!({}), None, vec![]),
        (json!({ "ipv6_subnet_tiers": ["private_app"] }), None, vec!["private_app.0", "private_app.1"]),
        (json!({ "ipv6_subnet_tiers": ["private_app"], "create_egress_only_igw": false }), None, vec![]),
        // Without internet access over IPv4, only on request.
        (json!({ "ipv6_subnet_tiers": ["private_app"], "num_nat_gateways": 0 }), None, vec![]),
        (
            json!({ "ipv6_subnet_tiers": ["private_app"], "num_nat_gateways": 0, "create_egress_only_igw": true }),
            None,
            vec!["private_app.0", "private_app.1"],
        ),
        (json!({ "ipv6_subnet_tiers": ALL, "create_transit_subnets": true, "enable_private_nat": true }), None, vec![]),
        // A tier without internet access gets blocks, and no route.
        (json!({ "ipv6_subnet_tiers": ["private_persistence"] }), None, vec![]),
        (
            json!({ "ipv6_subnet_tiers": ["private_persistence"], "allow_private_persistence_internet_access": true }),
            None,
            vec!["private_persistence.0", "private_persistence.1"],
        ),
        // A gateway that nothing uses.
        (json!({ "create_egress_only_igw": true }), Some(SWITCH), vec![]),
        (
            json!({ "ipv6_subnet_tiers": ["private_app"], "route_table_layout": { "private_app": "per_tier" } }),
            None,
            vec!["private_app"],
        ),
    ];
    for (more, warning, expected) in cases {
        let config = with_ipv6(more.clone());
        let objects = objects(&config, "ab");
        let expected: Vec<String> = expected.into_iter().map(|table| format!("route.{table}.ipv6")).collect();
        assert_eq!(routes(&objects), expected, "{more}");
        let is_wanted = !expected.is_empty() || *more.get(SWITCH).unwrap_or(&json!(false)) == json!(true);
        assert_eq!(has_gateway(&objects), is_wanted, "{more}");
        let warnings = warned(&config, None, &Inventory::default());
        assert_eq!(warnings.first().map(|it| it.0.as_str()), warning, "{more}: {warnings:?}");
    }
}

#[test]
fn tiers_begin_at_quarters_of_the_blocks() {
    let all = with_ipv6(json!({ "ipv6_subnet_tiers": ALL, "create_transit_subnets": true }));
    let existing = fully_applied(&all, "ab");
    let expected = [0, 1, 64, 65, 128, 129, 192, 193];
    let found = |config: &Config, prior: &Config, existing: &Inventory| -> Vec<u128> {
        numbers(&next_objects(config, Some(prior), existing, "ab")).into_iter().map(|(_, number)| number).collect()
    };
    assert_eq!(found(&all, &all, &existing), expected);
    // The public tier had these blocks before.
    let public = with_ipv6(json!({ "create_transit_subnets": true }));
    let before = fully_applied(&public, "ab");
    assert_eq!(found(&public, &public, &before), expected[..2]);
    assert_eq!(found(&all, &public, &before), expected, "it keeps them");
    // Four blocks: the others of a tier get the next free ones.
    let few = with_ipv6(json!({ "ipv6_subnet_tiers": ["public", "private_app"], "ipv6_subnet_bits": 4 }));
    assert_eq!(found(&few, &few, &fully_applied(&few, "ab")), [0, 1, 4, 5]);
    let one = |tiers: &[&str]| with_ipv6(json!({ "ipv6_subnet_tiers": tiers, "ipv6_subnet_bits": 0 }));
    let single = one(&["private_app"]);
    assert_eq!(numbers(&next_objects(&single, Some(&single), &fully_applied(&single, "a"), "a")).len(), 1);
    let both = one(&["public", "private_app"]);
    let problems =
        blueprint(&both, Some(&single), &fully_applied(&single, "a"), "a").expect_err("one block is too few");
    assert!(problems[0].message.contains("room for 1, and 2 subnets need one"), "{problems:?}");
}

#[test]
fn a_subnet_that_loses_its_block_keeps_it_from_others() {
    let before = with_ipv6(json!({ "ipv6_subnet_tiers": ["private_app"] }));
    let existing = fully_applied(&before, "a");
    let block = "2001:db8:12:3440::/64";
    let taking = with_ipv6(json!({ "public_subnet_ipv6_cidr_blocks": { "AZ-0": block } }));
    let problems = blueprint(&taking, Some(&before), &existing, "a").expect_err("the block is held");
    assert!(problems[0].message.contains("subnet.private_app.0 has until"), "{problems:?}");
    let fewer = with_ipv6(json!({}));
    let objects = next_objects(&fewer, Some(&before), &existing, "a");
    assert_eq!(numbers(&objects), [("subnet.public.0".to_string(), 0)]);
    // A subnet in another AZ has no block of it either, although it is created after others were deleted.
    let grown = next_objects(&taking_none(), Some(&before), &existing, "ab");
    assert_eq!(numbers(&grown).len(), 2);
}

fn taking_none() -> Config {
    with_ipv6(json!({ "ipv6_subnet_tiers": ["public"] }))
}

#[test]
fn tiers_assign_addresses_only_if_they_are_listed() {
    let flags = |more: Json| -> Vec<bool> {
        let all = with(json!({ "ipv6_subnet_tiers": ["public", "private_app"] }), more);
        let objects = objects(&with_ipv6(all), "a");
        let subnets = objects.iter().filter_map(|object| Subnet::of(&object.spec));
        subnets.map(|it| *it.assign_ipv6_address_on_creation.known().expect("it is known")).collect()
    };
    assert_eq!(flags(json!({})), [false, false, false]);
    assert_eq!(flags(json!({ "assign_ipv6_address_on_creation": true })), [true, false, false]);
    assert_eq!(flags(json!({ "assign_ipv6_address_on_creation_tiers": ["private_app"] })), [false, true, false]);
    assert_eq!(
        flags(json!({ "assign_ipv6_address_on_creation_tiers": ["public", "private_app"] })),
        [true, true, false]
    );
    let unknown = with_ipv6(json!({ "assign_ipv6_address_on_creation_tiers": ["public", UNKNOWN] }));
    let objects = objects(&unknown, "a");
    let public = objects.iter().find_map(|object| Subnet::of(&object.spec)).expect("a public subnet");
    assert_eq!(public.assign_ipv6_address_on_creation, Input::Unknown);
}

#[test]
fn unused_tiers_and_blocks_cause_a_warning() {
    let entry = json!({ "AZ-0": "2001:db8::/64" });
    for (more, path) in [
        (json!({ "ipv6_subnet_tiers": ["public", "transit"] }), Some("ipv6_subnet_tiers")),
        (json!({ "create_public_subnets": false, "num_nat_gateways": 0 }), None),
        (json!({ "transit_subnet_ipv6_cidr_blocks": entry }), Some("transit_subnet_ipv6_cidr_blocks")),
    ] {
        let warnings = warned(&with_ipv6(more.clone()), None, &Inventory::default());
        assert_eq!(warnings.iter().map(|it| it.0.as_str()).collect::<Vec<_>>(), Vec::from_iter(path), "{more}");
    }
}

#[test]
fn an_import_reads_the_tiers_back() {
    for more in [
        json!({}),
        json!({ "ipv6_subnet_tiers": [] }),
        json!({ "ipv6_subnet_tiers": ["private_app", "public"] }),
        json!({ "ipv6_subnet_tiers": ["private_app"], "create_egress_only_igw": false }),
        json!({ "ipv6_subnet_tiers": ["private_app"], "num_nat_gateways": 0, "create_egress_only_igw": true }),
        json!({ "ipv6_subnet_tiers": ["private_app"], "private_app_subnet_ipv6_cidr_blocks": {
            "AZ-1": "2001:db8:12:3401::/64",
        }}),
        json!({ "ipv6_subnet_tiers": ["private_app"], "assign_ipv6_address_on_creation_tiers": ["private_app"] }),
        json!({ "assign_ipv6_address_on_creation": true }),
    ] {
        let config = with_ipv6(more.clone());
        let existing = fully_applied(&config, "ab");
        let (attributes, found) = imported(&existing);
        let is_there = existing.at(keys::EGRESS_ONLY_INTERNET_GATEWAY).is_some();
        assert_eq!(found.ipv6.create_egress_only_igw, Input::Known(Some(is_there)), "{more}");
        assert_eq!(found.ipv6.ipv6_subnet_tiers, config.ipv6.ipv6_subnet_tiers, "{more}");
        for tier in Tier::ALL {
            assert_eq!(found.ipv6_cidr_blocks(tier), config.ipv6_cidr_blocks(tier), "{more}");
            assert_eq!(tiers::assigns(&found, tier), tiers::assigns(&config, tier), "{more}");
        }
        assert_eq!(attributes.get("enable_ipv6"), &true.into());
        let expected = next_objects(&config, Some(&config), &existing, "ab");
        let slots = |objects: &[Object]| -> Vec<(String, Spec)> {
            objects.iter().map(|it| (it.key.slot.clone(), it.spec.clone())).collect()
        };
        let again = next_objects(&found, Some(&found), &existing, "ab");
        assert_eq!(numbers(&again), numbers(&expected), "{more}");
        assert_eq!(slots(&again).len(), slots(&expected).len(), "{more}");
    }
}

#[test]
fn drift_of_flags_and_of_the_gateway_is_written_into_the_inputs() {
    let listed = json!({
        "ipv6_subnet_tiers": ["public", "private_app"], "assign_ipv6_address_on_creation_tiers": ["private_app"],
    });
    let mut existing = fully_applied(&with_ipv6(listed.clone()), "ab");
    let mut state = Value::map(inputs(listed));
    let observe = |entry: &mut Entry, is_on: bool| {
        let mut spec = entry.applied.clone();
        if let Spec::Subnet(subnet) = &mut spec {
            subnet.assign_ipv6_address_on_creation = Input::Known(is_on);
        }
        entry.drift = Drift::Changed(Box::new(spec));
    };
    for entry in &mut existing.entries {
        match &entry.key.slot {
            slot if slot.starts_with("subnet.public.") => observe(entry, true),
            slot if slot.starts_with("subnet.private_app.") => observe(entry, false),
            slot if slot == keys::EGRESS_ONLY_INTERNET_GATEWAY => entry.drift = Drift::Missing,
            _ => {}
        }
    }
    reflect::write_drift(&mut state, &existing);
    assert_eq!(state.get(OF_TIERS), &vec!["public"].into());
    assert_eq!(state.get(SWITCH), &false.into());
}

/// The landscape of [`landscape`] with IPv6 blocks in the subnets whose IDs begin so, and with these IPv6 routes.
fn dual_stack(subnets: &[&str], tables: &[&str]) -> crate::model::NetworkLandscape {
    let mut found = landscape();
    for subnet in &mut found.subnets {
        subnet.has_ipv6 = subnets.iter().any(|start| subnet.id.starts_with(start));
    }
    for table in found.route_tables.iter_mut().filter(|table| tables.contains(&table.id.as_str())) {
        table.routes.push(("::/0".into(), "eigw-1".into()));
    }
    let spec = EgressOnlyInternetGateway { ipv6_block: None, ..EgressOnlyInternetGateway::test() };
    found.others.push((FoundObject { id: "eigw-1".into(), ..FoundObject::default() }, spec.into()));
    found
}

#[test]
fn a_gateway_is_adopted_if_the_inputs_reproduce_its_routes() {
    let all = dual_stack(&["subnet-p", "subnet-a"], &["rtb-private"]);
    assert_eq!(slot(&classify(&all), "eigw-1"), keys::EGRESS_ONLY_INTERNET_GATEWAY);
    assert_eq!(slot(&classify(&dual_stack(&[], &[])), "eigw-1"), keys::EGRESS_ONLY_INTERNET_GATEWAY);
    for (subnets, tables, part) in [
        (vec!["subnet-p"], vec!["rtb-private"], "rtb-private routes to it"),
        (vec!["subnet-a"], vec![], "rtb-private has no IPv6 default route to it"),
        (vec!["subnet-a", "subnet-d"], vec!["rtb-private", "rtb-db"], "rtb-db routes to it"),
    ] {
        let result = classify(&dual_stack(&subnets, &tables));
        let reason = reason(&result, "eigw-1");
        assert!(reason.contains(part), "{reason}");
    }
}
