//! The objects that a change of tags affects: `default_tags` affects all, each tag map only its own.

use std::collections::BTreeSet;

use serde_json::json;

use super::{TestEnv, text};

/// A network with every kind of object that has tags.
const ATTRIBUTES: &str = "  num_availability_zones = 2\n  num_nat_gateways = 1\n  create_transit_subnets = true\n  \
                          one_route_table_public_subnets = false";

/// Every tag map of one kind of object, with the keys of the existing objects of that kind.
const MAPS: [(&str, &[&str]); 11] = [
    ("vpc_custom_tags", &["vpc"]),
    ("nat_gateway_custom_tags", &["eip.0", "nat_gateway.0"]),
    ("public_subnet_custom_tags", &["subnet.public.0", "subnet.public.1"]),
    ("private_app_subnet_custom_tags", &["subnet.private_app.0", "subnet.private_app.1"]),
    ("private_persistence_subnet_custom_tags", &["subnet.private_persistence.0", "subnet.private_persistence.1"]),
    ("transit_subnet_custom_tags", &["subnet.transit.0", "subnet.transit.1"]),
    ("public_route_table_custom_tags", &["route_table.public.0", "route_table.public.1"]),
    ("private_app_route_table_custom_tags", &["route_table.private_app.0", "route_table.private_app.1"]),
    (
        "private_persistence_route_table_custom_tags",
        &["route_table.private_persistence.0", "route_table.private_persistence.1"],
    ),
    ("transit_route_table_custom_tags", &["route_table.transit.0", "route_table.transit.1"]),
    ("security_group_tags", &["default_security_group"]),
];

/// The objects with tags but without a map of their own.
const OTHERS: [&str; 3] = ["internet_gateway", "vpc_endpoint.keyvalue", "vpc_endpoint.objectstore"];

fn all_keys() -> BTreeSet<String> {
    let mapped = MAPS.iter().flat_map(|(_, keys)| keys.iter());
    mapped.chain(&OTHERS).map(|key| (*key).to_owned()).collect()
}

/// The keys of the objects whose tags these calls changed. Asserts that each object was changed once.
fn touched(env: &TestEnv, action: &str) -> BTreeSet<String> {
    let objects = env.attribute("aws_objects");
    let mut touched = BTreeSet::new();
    for record in env.proxy.mutations().iter().filter(|record| record.call.action == action) {
        for id in record.call.list("ResourceId") {
            let key = objects.as_object().expect("a map").iter().find(|(_, it)| *it == id).expect("it is in state").0;
            assert!(touched.insert(key.clone()), "{key} is changed twice");
        }
    }
    touched
}

/// The keys of the tags in these calls.
fn tag_keys(env: &TestEnv, action: &str) -> BTreeSet<String> {
    let calls = env.proxy.mutations();
    let calls = calls.iter().filter(|record| record.call.action == action);
    let keys = calls.flat_map(|record| {
        let params = record.call.params.iter().filter(|(name, _)| name.starts_with("Tag.") && name.ends_with(".Key"));
        params.map(|(_, key)| key.clone()).collect::<Vec<_>>()
    });
    keys.collect()
}

#[test]
fn default_tags_are_set_on_and_removed_from_every_object() {
    let block = |tags: &str| format!("  default_tags {{\n    tags = {tags}\n  }}");
    let env = TestEnv::with_provider(&block("{ team = \"net\", level = \"default\" }"));
    let with_level = format!("{ATTRIBUTES}\n  transit_subnet_custom_tags = {{ level = \"transit\" }}");
    env.change(&with_level);
    let provider = std::fs::read_to_string(env.workspace.path().join("provider.tf")).expect("the provider block");
    let with_defaults = |tags: &str| {
        let old = block("{ team = \"net\", level = \"default\" }");
        assert!(provider.contains(&old), "{provider}");
        let new = if tags.is_empty() { String::new() } else { block(tags) };
        env.workspace.write("provider.tf", &provider.replace(&old, &new));
    };
    // Asserts that an apply makes exactly these calls and replaces no object.
    let apply = |calls: &str| {
        let objects = env.attribute("aws_objects");
        let change = env.apply();
        assert_eq!(change.calls, calls);
        assert_eq!(env.attribute("aws_objects"), objects);
    };

    with_defaults("{ team = \"platform\", level = \"default\" }");
    apply("CreateTags 23");
    assert_eq!(touched(&env, "CreateTags"), all_keys());
    assert_eq!(tag_keys(&env, "CreateTags"), ["team".to_owned()].into());
    assert_eq!(env.attribute("tags_all"), json!({"team": "platform", "level": "default"}));

    // A map overrides the default value of a tag.
    with_defaults("{ team = \"platform\", level = \"other\" }");
    apply("CreateTags 21");
    let transit = ["subnet.transit.0", "subnet.transit.1"].map(str::to_owned);
    assert_eq!(touched(&env, "CreateTags"), &all_keys() - &transit.clone().into());

    with_defaults("");
    apply("DeleteTags 23");
    assert_eq!(touched(&env, "DeleteTags"), all_keys());
    assert_eq!(env.attribute("tags_all"), json!({}));
    let listing = env.proxy.account().list();
    let subnets = listing["subnets"].as_array().expect("a list");
    for subnet in subnets {
        let level = subnet["tags"]["level"].as_str();
        let name = text(&subnet["tags"]["Name"]);
        assert_eq!(level, name.starts_with("main-transit-").then_some("transit"), "{name}");
        assert!(subnet["tags"]["team"].is_null(), "{name}");
    }

    // Without the map, the tag has the default value again.
    with_defaults("{ level = \"default\" }");
    apply("CreateTags 21");
    env.config(ATTRIBUTES);
    apply("CreateTags 2");
    assert_eq!(touched(&env, "CreateTags"), transit.into());
    env.destroy();
}

#[test]
fn each_tag_map_changes_only_its_own_objects() {
    let env = TestEnv::new();
    // Every map has a tag from the start. The maps in `changed` have another value.
    let lines = |changed: &[&str], common: &str| {
        let map = |(map, _): &(&str, &[&str])| {
            let value = if changed.contains(map) { "new" } else { "old" };
            format!("  {map} = {{ own = \"{value}\" }}")
        };
        let maps: Vec<String> = MAPS.iter().map(map).collect();
        format!("{ATTRIBUTES}\n  custom_tags = {{ all = \"{common}\" }}\n{}", maps.join("\n"))
    };
    env.change(&lines(&[], "1"));
    // Each step changes every third map, so that maps of the same kind or tier do not change together.
    let mut changed: Vec<&str> = Vec::new();
    for remainder in 0..3 {
        let these: Vec<_> = MAPS.iter().enumerate().filter(|(place, _)| place % 3 == remainder).collect();
        changed.extend(these.iter().map(|(_, (map, _))| *map));
        let keys: BTreeSet<String> =
            these.iter().flat_map(|(_, (_, keys))| keys.iter().map(|key| (*key).to_owned())).collect();
        let change = env.change(&lines(&changed, "1"));
        assert_eq!(change.calls, format!("CreateTags {}", keys.len()));
        assert_eq!(touched(&env, "CreateTags"), keys, "{these:?}");
        assert_eq!(tag_keys(&env, "CreateTags"), ["own".to_owned()].into());
    }
    env.change(&lines(&changed, "2"));
    assert_eq!(touched(&env, "CreateTags"), all_keys());
    assert_eq!(tag_keys(&env, "CreateTags"), ["all".to_owned()].into());
    env.destroy();
}
