//! `route_table_layout`: which route tables the subnets of each tier use, and changes of it on a live network.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::{TestEnv, assert_unchanged, text};

const THREE_TIERS: &str = "  num_availability_zones = 2\n  num_nat_gateways = 2\n  \
                           allow_private_persistence_internet_access = true";

fn layout(entries: &str) -> String {
    format!("{THREE_TIERS}\n  route_table_layout = {{ {entries} }}")
}

/// The number of route tables that the subnets of each tier use, as boto3 lists the associations, and the NAT gateways
/// that their default routes lead to.
fn tables(env: &TestEnv) -> BTreeMap<&'static str, (BTreeSet<String>, BTreeSet<String>)> {
    let described = env.ec2("describe_route_tables", json!({}));
    let objects = env.attribute("aws_objects");
    let mut found: BTreeMap<&'static str, (BTreeSet<String>, BTreeSet<String>)> = BTreeMap::new();
    for table in described["RouteTables"].as_array().expect("a list") {
        for association in table["Associations"].as_array().expect("a list") {
            let subnet = association["SubnetId"].clone();
            for tier in ["private_app", "private_persistence"] {
                if (0..2).any(|index| objects[format!("subnet.{tier}.{index}")] == subnet) {
                    let (tables, targets) = found.entry(tier).or_default();
                    tables.insert(text(&table["RouteTableId"]));
                    let routes = table["Routes"].as_array().expect("a list").iter();
                    targets.extend(routes.filter_map(|route| route["NatGatewayId"].as_str()).map(str::to_owned));
                }
            }
        }
    }
    found
}

#[test]
fn route_tables_are_shared_and_separated_on_a_live_network() {
    let env = TestEnv::new();
    env.change(THREE_TIERS);
    let before = env.attribute("aws_objects");
    let gateways = [env.id("nat_gateway.0"), env.id("nat_gateway.1")];
    let subnets = |objects: &serde_json::Value| {
        let mut subnets = objects.as_object().expect("a map").clone();
        subnets.retain(|key, _| ["subnet.", "nat_gateway.", "eip."].iter().any(|kind| key.starts_with(kind)));
        serde_json::Value::Object(subnets)
    };
    assert!(tables(&env).values().all(|(tables, targets)| (tables.len(), targets.len()) == (2, 2)));

    // One table for each tier: both use the first NAT gateway.
    env.change(&layout("private_app = \"per_tier\", private_persistence = \"per_tier\""));
    let found = tables(&env);
    assert!(found["private_app"].0.is_disjoint(&found["private_persistence"].0), "{found:?}");
    for (tables, targets) in found.values() {
        assert_eq!((tables.len(), targets.clone()), (1, [gateways[0].clone()].into()));
    }
    assert_eq!(env.attribute("private_app_route_table_ids"), json!([env.id("route_table.private_app")]));

    // One table for both tiers.
    env.change(&layout("private_app = \"per_tier\", private_persistence = \"private_app\""));
    let found = tables(&env);
    assert_eq!(found["private_app"], found["private_persistence"]);
    assert_eq!(env.attribute("private_persistence_route_table_ids"), json!([env.id("route_table.private_app")]));

    // A table in each AZ for both tiers.
    env.change(&layout("private_persistence = \"private_app\""));
    let found = tables(&env);
    assert_eq!(found["private_app"], found["private_persistence"]);
    assert_eq!(found["private_app"].1, gateways.into());

    env.change(THREE_TIERS);
    assert!(tables(&env).values().all(|(tables, targets)| (tables.len(), targets.len()) == (2, 2)));
    assert_unchanged(&subnets(&before), &subnets(&env.attribute("aws_objects")));
    env.destroy();
}

#[test]
fn a_layout_of_route_tables_survives_import() {
    let env = TestEnv::with_terraform();
    let attributes = layout("private_app = \"per_tier\", private_persistence = \"private_app\"");
    env.change(&attributes);
    let id = text(&env.attribute("id"));
    env.proxy.clear_calls();
    env.workspace.generate(super::THIS, &id);
    assert_eq!(env.calls(), "");
    let expected = json!({"private_app": "per_tier", "private_persistence": "private_app"});
    assert_eq!(env.attribute("route_table_layout"), expected);
    env.config(&attributes);
    env.end();
}
