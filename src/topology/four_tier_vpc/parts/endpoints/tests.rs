use serde_json::json;

use super::*;
use crate::model::{Drift, Facts, FoundEndpoint, Inventory};
use crate::topology::four_tier_vpc::FourTierVpc;
use crate::topology::four_tier_vpc::classify::{
    classify,
    tests::{landscape, reason, slot},
};
use crate::topology::four_tier_vpc::config::tests::config;
use crate::topology::four_tier_vpc::fixtures::{applied, facts, objects, scope};
use crate::topology::four_tier_vpc::validate::rules::problems;
use crate::topology::rules::{Rule, assert_reported};
use crate::topology::{Blueprint, Context, Topology};

fn rules() -> Vec<Rule> {
    vec![
        (
            "a policy is JSON",
            json!({"objectstore_endpoint_policy": "{"}),
            &["objectstore_endpoint_policy"],
            &["JSON", "jsonencode"],
            json!({"objectstore_endpoint_policy": "{\"Statement\": []}"}),
        ),
        (
            "a policy has statements",
            json!({"keyvalue_endpoint_policy": "{}"}),
            &["keyvalue_endpoint_policy"],
            &["Statement"],
            json!({"keyvalue_endpoint_policy": "{\"Statement\": []}"}),
        ),
    ]
}

#[test]
fn each_broken_rule_is_reported_at_its_path_only() {
    assert_reported(rules(), problems);
}

#[test]
fn only_the_offered_endpoint_services_get_endpoints() {
    let blueprint_with = |names: &[&str], pairs: &[(&str, Value)]| {
        let (scope, config, existing) = (scope(), config(pairs), Inventory::default());
        let names = names.iter().map(|name| format!("com.amazonaws.eu-central-1.{name}")).collect();
        let facts = Facts { gateway_endpoint_services: Some(names), ..facts("ab") };
        FourTierVpc::blueprint(&Context {
            config: &config,
            prior: None,
            existing: &existing,
            scope: &scope,
            facts: &facts,
        })
    };
    let Ok(Blueprint::Decided { objects, warnings, .. }) = blueprint_with(&["s3"], &[]) else { panic!() };
    let slots = objects.iter().map(|object| object.key.slot.as_str()).filter(|slot| slot.starts_with("vpc_endpoint"));
    assert_eq!(slots.collect::<Vec<_>>(), ["vpc_endpoint.objectstore"]);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].message.contains("no gateway endpoint for the service dynamodb"), "{warnings:?}");

    let policy = [("keyvalue_endpoint_policy", Value::from(r#"{"Version":"2012-10-17","Statement":[]}"#))];
    for (names, pairs, path) in
        [(&["s3"][..], &policy[..], "keyvalue_endpoint_policy"), (&["other"], &[], "create_vpc_endpoints")]
    {
        let problems = blueprint_with(names, pairs).unwrap_err();
        assert_eq!(problems.iter().map(|it| it.path.to_string()).collect::<Vec<_>>(), [path]);
    }
}

#[test]
fn endpoints_are_proposed_only_if_both_exist_in_all_tables() {
    let endpoint = |id: &str, service: &str, tables: &[&str]| FoundEndpoint {
        id: id.into(),
        service_name: format!("com.amazonaws.eu-central-1.{service}"),
        route_tables: tables.iter().map(|id| id.to_string()).collect(),
        ..FoundEndpoint::default()
    };
    let all = ["rtb-public", "rtb-private", "rtb-db"];
    let mut found = landscape();
    found.endpoints = vec![endpoint("vpce-s3", "s3", &all)];
    assert!(reason(&classify(&found), "vpce-s3").contains("both endpoints"));
    found.endpoints.push(endpoint("vpce-db", "dynamodb", &all));
    let result = classify(&found);
    assert_eq!(slot(&result, "vpce-s3"), "vpc_endpoint.objectstore");
    assert_eq!(slot(&result, "vpce-db"), "vpc_endpoint.keyvalue");
    found.endpoints[0].route_tables.pop();
    assert!(reason(&classify(&found), "vpce-s3").contains("route tables"));
}

#[test]
fn new_and_removed_policies_are_reflected() {
    let policy = r#"{"Statement":[]}"#;
    let mut inventory = applied(&objects(&config(&[("objectstore_endpoint_policy", policy.into())]), "ab"));
    for entry in &mut inventory.entries {
        let mut spec = entry.applied.clone();
        if let Spec::VpcEndpoint(endpoint) = &mut spec {
            let other = endpoint.policy == Input::Known(None);
            endpoint.policy = Input::Known(other.then(|| "{}".to_string()));
        }
        entry.drift = Drift::Changed(Box::new(spec));
    }
    let mut state = Value::map([("objectstore_endpoint_policy", Value::from(policy))]);
    FourTierVpc::write_drift(&mut state, &inventory);
    assert_eq!(state.get("objectstore_endpoint_policy"), &Value::Null);
    assert_eq!(state.get("keyvalue_endpoint_policy"), &"{}".into());
}
