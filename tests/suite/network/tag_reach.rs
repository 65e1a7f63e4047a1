//! Which objects a change of tags reaches: `default_tags` all of them, each map its own and no other.

use std::collections::BTreeSet;

use serde_json::json;

use super::{TestEnv, text};

/// Every kind of object that has tags.
const ATTRIBUTES: &str = "  num_availability_zones = 2\n  num_nat_gateways = 1\n  create_transit_subnets = true\n  \
                          one_route_table_public_subnets = false";

/// Every map of one kind of objects, with the keys of those that exist.
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

/// What has tags and no map of its own.
const OTHERS: [&str; 3] = ["internet_gateway", "vpc_endpoint.keyvalue", "vpc_endpoint.objectstore"];

fn all_keys() -> BTreeSet<String> {
    let mapped = MAPS.iter().flat_map(|(_, keys)| keys.iter());
    mapped.chain(&OTHERS).map(|key| (*key).to_owned()).collect()
}

/// The keys of the objects whose tags these calls changed; each must be called once.
fn touched(bed: &TestEnv, action: &str) -> BTreeSet<String> {
    let objects = bed.attribute("aws_objects");
    let mut touched = BTreeSet::new();
    for record in bed.proxy.mutations().iter().filter(|record| record.call.action == action) {
        for id in record.call.list("ResourceId") {
            let key = objects.as_object().expect("a map").iter().find(|(_, it)| *it == id).expect("it is ours").0;
            assert!(touched.insert(key.clone()), "{key} is changed twice");
        }
    }
    touched
}

/// The keys of the tags in these calls.
fn tag_keys(bed: &TestEnv, action: &str) -> BTreeSet<String> {
    let calls = bed.proxy.mutations();
    let calls = calls.iter().filter(|record| record.call.action == action);
    let keys = calls.flat_map(|record| {
        let params = record.call.params.iter().filter(|(name, _)| name.starts_with("Tag.") && name.ends_with(".Key"));
        params.map(|(_, key)| key.clone()).collect::<Vec<_>>()
    });
    keys.collect()
}

#[test]
fn default_tags_reach_every_object_and_their_removal_too() {
    let block = |tags: &str| format!("  default_tags {{\n    tags = {tags}\n  }}");
    let bed = TestEnv::with_provider(&block("{ team = \"net\", level = \"default\" }"));
    let with_level = format!("{ATTRIBUTES}\n  transit_subnet_custom_tags = {{ level = \"transit\" }}");
    bed.change(&with_level);
    let provider = std::fs::read_to_string(bed.workspace.path().join("provider.tf")).expect("the provider block");
    let with_defaults = |tags: &str| {
        let old = block("{ team = \"net\", level = \"default\" }");
        assert!(provider.contains(&old), "{provider}");
        let new = if tags.is_empty() { String::new() } else { block(tags) };
        bed.workspace.write("provider.tf", &provider.replace(&old, &new));
    };
    // The apply that follows changes tags only, and only these.
    let apply = |calls: &str| {
        let objects = bed.attribute("aws_objects");
        let change = bed.apply();
        assert_eq!(change.calls, calls);
        assert_eq!(bed.attribute("aws_objects"), objects);
    };

    with_defaults("{ team = \"platform\", level = \"default\" }");
    apply("CreateTags 23");
    assert_eq!(touched(&bed, "CreateTags"), all_keys());
    assert_eq!(tag_keys(&bed, "CreateTags"), ["team".to_owned()].into());
    assert_eq!(bed.attribute("tags_all"), json!({"team": "platform", "level": "default"}));

    // A tag that a map overrides stays what the map says.
    with_defaults("{ team = \"platform\", level = \"other\" }");
    apply("CreateTags 21");
    let transit = ["subnet.transit.0", "subnet.transit.1"].map(str::to_owned);
    assert_eq!(touched(&bed, "CreateTags"), &all_keys() - &transit.clone().into());

    with_defaults("");
    apply("DeleteTags 23");
    assert_eq!(touched(&bed, "DeleteTags"), all_keys());
    assert_eq!(bed.attribute("tags_all"), json!({}));
    let listing = bed.proxy.account().list();
    let subnets = listing["subnets"].as_array().expect("a list");
    for subnet in subnets {
        let level = subnet["tags"]["level"].as_str();
        let name = text(&subnet["tags"]["Name"]);
        assert_eq!(level, name.starts_with("main-transit-").then_some("transit"), "{name}");
        assert!(subnet["tags"]["team"].is_null(), "{name}");
    }

    // Given back by the map, a tag is again what the provider says.
    with_defaults("{ level = \"default\" }");
    apply("CreateTags 21");
    bed.config(ATTRIBUTES);
    apply("CreateTags 2");
    assert_eq!(touched(&bed, "CreateTags"), transit.into());
    bed.destroy();
}

#[test]
fn each_tag_map_changed_alone_reaches_its_own_objects() {
    let bed = TestEnv::new();
    // Every map has a tag from the start; those named have another value.
    let lines = |changed: &[&str], common: &str| {
        let map = |(map, _): &(&str, &[&str])| {
            let value = if changed.contains(map) { "new" } else { "old" };
            format!("  {map} = {{ own = \"{value}\" }}")
        };
        let maps: Vec<String> = MAPS.iter().map(map).collect();
        format!("{ATTRIBUTES}\n  custom_tags = {{ all = \"{common}\" }}\n{}", maps.join("\n"))
    };
    bed.change(&lines(&[], "1"));
    // Neighbours of one kind or one tier are never changed together.
    let mut changed: Vec<&str> = Vec::new();
    for remainder in 0..3 {
        let these: Vec<_> = MAPS.iter().enumerate().filter(|(place, _)| place % 3 == remainder).collect();
        changed.extend(these.iter().map(|(_, (map, _))| *map));
        let keys: BTreeSet<String> =
            these.iter().flat_map(|(_, (_, keys))| keys.iter().map(|key| (*key).to_owned())).collect();
        let change = bed.change(&lines(&changed, "1"));
        assert_eq!(change.calls, format!("CreateTags {}", keys.len()));
        assert_eq!(touched(&bed, "CreateTags"), keys, "{these:?}");
        assert_eq!(tag_keys(&bed, "CreateTags"), ["own".to_owned()].into());
    }
    bed.change(&lines(&changed, "2"));
    assert_eq!(touched(&bed, "CreateTags"), all_keys());
    assert_eq!(tag_keys(&bed, "CreateTags"), ["all".to_owned()].into());
    bed.destroy();
}
