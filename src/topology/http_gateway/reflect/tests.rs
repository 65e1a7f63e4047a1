use proptest::prelude::*;
use serde_json::json;

use super::super::HttpGateway;
use super::super::import::tests::{decoded, found, settings};
use super::super::tests::{ORDERS, USERS, complete, config, objects, value};
use super::*;
use crate::model::{Authorization, Drift, Object, Ref};
use crate::topology::Topology;

/// The state and the inventory after an apply of this gateway.
fn applied(gateway: &serde_json::Value) -> (Value, Inventory) {
    (complete(gateway.clone()), found(&objects(&config(gateway.clone()))))
}

/// Sets `inventory` to the result of a refresh that finds the objects `in_aws`: entries with the same key get their
/// spec, entries without an object are deleted, and new objects are added.
fn observe(inventory: &mut Inventory, in_aws: &[Object]) {
    for entry in &mut inventory.entries {
        match in_aws.iter().find(|object| object.key == entry.key) {
            None => entry.drift = Drift::Missing,
            Some(object) => entry.observe(object.spec.clone()),
        }
    }
    let known: Vec<_> = inventory.entries.iter().map(|entry| entry.key.clone()).collect();
    inventory.entries.extend(found(in_aws).entries.into_iter().filter(|entry| !known.contains(&entry.key)));
}

fn modify(inventory: &mut Inventory, slot: &str, modify: impl Fn(&mut Spec)) {
    let entry = inventory.entries.iter_mut().find(|entry| entry.key.slot.starts_with(slot)).expect("the object exists");
    let mut spec = entry.applied.clone();
    modify(&mut spec);
    entry.drift = Drift::Changed(Box::new(spec));
}

fn delete(inventory: &mut Inventory, slot: &str) {
    inventory.entries.iter_mut().find(|entry| entry.key.slot == slot).expect("the object exists").drift =
        Drift::Missing;
}

proptest! {
    #[test]
    fn attributes_without_drift_stay_unchanged(gateway in settings()) {
        let (mut state, inventory) = applied(&gateway);
        let before = state.clone();
        HttpGateway::write_drift(&mut state, &inventory);
        prop_assert_eq!(state, before);
    }

    /// Routes are deleted or have another integration or authorizer; authorizers and settings differ.
    #[test]
    fn drifted_attributes_reproduce_the_objects_in_aws(before in settings(), after in settings()) {
        let mut after = after;
        // Objects added outside Terraform are unmanaged, also another stage, and another log destination can only be
        // expressed by another group.
        let keys: Vec<String> = before["route_config"].as_object().unwrap().keys().cloned().collect();
        after["route_config"].as_object_mut().unwrap().retain(|key, _| keys.contains(key));
        for map in ["api_tags", "stage_tags", "access_log_logservice_group_tags"] {
            after[map] = before[map].clone();
        }
        let is_excluded = |name: &str| ["access_log", "domain", "certificate", "dns", "zone", "stage_name"].iter().any(|part| name.contains(part));
        after.as_object_mut().unwrap().retain(|name, _| !is_excluded(name));
        for (name, value) in before.as_object().unwrap().iter().filter(|(name, _)| is_excluded(name)) {
            after[name] = value.clone();
        }
        let in_aws = objects(&config(after.clone()));
        let (mut state, mut inventory) = applied(&before);
        observe(&mut inventory, &in_aws);
        HttpGateway::write_drift(&mut state, &inventory);
        prop_assert_eq!(objects(&decoded(&state)), in_aws);
        let once = state.clone();
        HttpGateway::write_drift(&mut state, &inventory);
        prop_assert_eq!(state, once, "a second refresh writes the same");
    }
}

#[test]
fn drifted_and_deleted_routes_change_only_their_entries() {
    let gateway = json!({ "route_config": {
        "GET /a": { "faas_function_arn": ORDERS, "description": "" }, "GET /b": { "faas_function_arn": USERS },
        "GET /c": { "faas_function_arn": ORDERS, "description": "" },
    } });
    let (mut state, mut inventory) = applied(&gateway);
    delete(&mut inventory, "route.GET /a");
    let orders = inventory.entries.iter().find(|it| it.key.slot.starts_with("integration.GET /a")).unwrap().key.clone();
    modify(&mut inventory, "route.GET /b", |spec| {
        let Spec::ApiRoute(route) = spec else { unreachable!() };
        route.integration = Some(Ref::Key(orders.clone()));
    });
    let mut expected = state.clone();
    write_drift(&mut state, &inventory);
    let mut routes = expected.get("route_config").as_map().unwrap().clone();
    routes.remove("GET /a");
    routes.get_mut("GET /b").unwrap().set("faas_function_arn", ORDERS.into());
    expected.set("route_config", Value::Map(routes));
    assert_eq!(state, expected);
}

#[test]
fn inexpressible_drift_changes_no_attribute() {
    let gateway = json!({ "route_config": { "GET /a": { "faas_function_arn": ORDERS } },
        "access_log_logservice_group_name": "g" });
    let (mut state, mut inventory) = applied(&gateway);
    let before = state.clone();
    modify(&mut inventory, "route.", |spec| {
        let Spec::ApiRoute(route) = spec else { unreachable!() };
        route.integration = Some(Ref::Id("theirs".into()));
        route.authorization = Authorization::custom(Ref::Id("theirs".into()));
    });
    modify(&mut inventory, "stage", |spec| {
        let Spec::Stage(stage) = spec else { unreachable!() };
        stage.access_log = None;
    });
    write_drift(&mut state, &inventory);
    assert_eq!(state, before);
}

#[test]
fn integration_drift_appears_in_each_of_its_routes() {
    let slow = json!({ "faas_function_arn": ORDERS, "timeout_milliseconds": 9000 });
    let (mut state, mut inventory) = applied(&json!({ "route_config": { "GET /a": slow, "PUT /a": slow } }));
    modify(&mut inventory, "integration.", |spec| {
        let Spec::Integration(integration) = spec else { unreachable!() };
        integration.timeout_in_millis = Input::Known(50);
    });
    write_drift(&mut state, &inventory);
    for (key, entry) in state.get("route_config").as_map().unwrap() {
        assert_eq!(
            (entry.get("timeout_milliseconds"), entry.get("faas_function_arn")),
            (&50.into(), &ORDERS.into()),
            "{key}"
        );
    }
}

#[test]
fn drift_of_logs_and_tags_appears_except_default_tags() {
    let tags = json!({ "team": "web", "level": "live" });
    let gateway = json!({ "stage_tags": tags, "access_log_logservice_group_tags": tags,
        "access_log_logservice_group_name": "g", "access_log_logservice_group_retention_in_days": 30 });
    let (mut state, mut inventory) = applied(&gateway);
    modify(&mut inventory, "stage", |spec| {
        let Spec::Stage(stage) = spec else { unreachable!() };
        stage.access_log.as_mut().unwrap().format = Input::Known("$context.requestId".into());
        let Input::Known(tags) = &mut stage.tags else { unreachable!() };
        tags.insert("team".into(), Input::Known("api".into()));
    });
    modify(&mut inventory, "log_group", |spec| {
        let Spec::LogGroup(group) = spec else { unreachable!() };
        group.retention_in_days = Input::Known(None);
        let Input::Known(tags) = &mut group.tags else { unreachable!() };
        tags.remove("level");
        tags.insert("cost".into(), Input::Known("net".into()));
    });
    write_drift(&mut state, &inventory);
    for (name, expected) in [
        ("stage_tags", json!({ "team": "api", "level": "live" })),
        ("access_log_logservice_group_tags", json!({ "team": "web" })),
        ("access_log_logservice_group_retention_in_days", json!(null)),
        ("access_log_format_type", json!("CUSTOM")),
        ("custom_access_log_format", json!("$context.requestId")),
    ] {
        assert_eq!(*state.get(name), value(expected), "{name}");
    }
}

#[test]
fn deleted_log_group_clears_its_name() {
    let (mut state, mut inventory) = applied(&json!({ "access_log_logservice_group_name": "g" }));
    delete(&mut inventory, "log_group");
    write_drift(&mut state, &inventory);
    assert!(state.get("access_log_logservice_group_name").is_null());
}

#[test]
fn deleted_gateway_leaves_attributes_unchanged() {
    let (mut state, mut inventory) = applied(&json!({ "access_log_logservice_group_name": "g" }));
    let before = state.clone();
    for entry in &mut inventory.entries {
        entry.drift = Drift::Missing;
    }
    write_drift(&mut state, &inventory);
    assert_eq!(state, before);
}

#[test]
fn ignored_drift_changes_no_attribute() {
    let (mut state, mut inventory) = applied(&json!({ "access_log_logservice_group_name": "g" }));
    let before = state.clone();
    delete(&mut inventory, "route.GET /");
    modify(&mut inventory, "log_group", |spec| {
        let Spec::LogGroup(group) = spec else { unreachable!() };
        group.retention_in_days = Input::Known(Some(1));
    });
    for entry in &mut inventory.entries {
        entry.ignored = true;
    }
    write_drift(&mut state, &inventory);
    assert_eq!(state, before);
}

#[test]
fn drift_of_kms_key_and_subscription_appears() {
    let stream = "arn:aws:kinesis:eu-central-1:123456789012:stream/logs";
    let gateway = json!({ "access_log_logservice_group_name": "g",
        "access_log_logservice_group_subscription_destination_arn": stream,
        "access_log_logservice_group_subscription_role_arn": "arn:aws:iam::123456789012:role/r" });
    let (mut state, mut inventory) = applied(&gateway);
    let key = "arn:aws:kms:eu-central-1:123456789012:key/12345678-1234-1234-1234-123456789012";
    modify(&mut inventory, "log_group", |spec| {
        let Spec::LogGroup(group) = spec else { unreachable!() };
        group.kms_key_arn = Input::Known(Some(key.into()));
    });
    modify(&mut inventory, "log_subscription", |spec| {
        let Spec::LogSubscription(subscription) = spec else { unreachable!() };
        subscription.filter_pattern = Input::Known("500".into());
        subscription.distribution = Input::Known(Some("ByLogStream".into()));
    });
    let before = state.clone();
    write_drift(&mut state, &inventory);
    let mut expected = before;
    expected.set("access_log_logservice_group_kms_key_id", key.into());
    expected.set("access_log_logservice_group_subscription_filter_pattern", "500".into());
    assert_eq!(state, expected, "the distribution has no drift: null means ByLogStream");
    delete(&mut inventory, "log_subscription");
    write_drift(&mut state, &inventory);
    assert!(state.get("access_log_logservice_group_subscription_destination_arn").is_null());
}

#[test]
fn deleted_domain_and_record_clear_their_attributes() {
    let gateway = json!({ "domain_name": "shop.example.com", "create_dns_entry": true,
        "hosted_zone_id": "Z0123456789ABCDEFGHIJ" });
    let (mut state, mut inventory) = applied(&gateway);
    delete(&mut inventory, "dns_record");
    write_drift(&mut state, &inventory);
    assert_eq!((state.get("create_dns_entry"), state.get("domain_name")), (&false.into(), &"shop.example.com".into()));
    delete(&mut inventory, "domain");
    write_drift(&mut state, &inventory);
    assert!(state.get("domain_name").is_null());
}
