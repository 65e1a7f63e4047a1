//! Throttling and metrics of routes.

use serde_json::{Value as Json, json};

use crate::model::keys::gateway as keys;
use crate::model::{Entry, FoundSettings, Inventory, Object, Origin, RouteSettings, Spec, Stage};
use crate::plugin::Problem;
use crate::reconcile::{Action, Op, plan};
use crate::topology::Topology;
use crate::topology::http_gateway::{GatewayConfig, HttpGateway};

use super::{ORDERS, config, context, decided, domains, objects, scope};

fn limits(rate: f64, burst: i64) -> RouteSettings {
    RouteSettings {
        throttling_rate_limit: Some(rate).into(),
        throttling_burst_limit: Some(burst).into(),
        ..RouteSettings::default()
    }
}

/// A configuration with the default settings and those of `GET /a`.
fn with(default: Json, route: Json) -> Json {
    let mut route = route;
    route["faas_function_arn"] = ORDERS.into();
    json!({ "default_route_settings": default, "route_config": { "GET /a": route } })
}

/// The problems that depend on the existing objects.
fn refused(config: &GatewayConfig, existing: &Inventory) -> Vec<Problem> {
    HttpGateway::blueprint(&context(config, existing, &scope(), &domains::facts())).err().unwrap_or_default()
}

fn stage(objects: &[Object]) -> &Stage {
    objects.iter().find_map(|object| Stage::of(&object.spec)).expect("there is a stage")
}

fn entries(objects: Vec<Object>) -> Inventory {
    let entry = |object: Object| Entry::new(object.key.clone(), format!("id-{}", object.key), object.spec);
    Inventory { entries: objects.into_iter().map(entry).collect() }
}

fn stage_of(existing: &mut Inventory) -> &mut Entry {
    existing.entries.iter_mut().find(|entry| entry.key == keys::stage("$default")).expect("there is a stage")
}

#[test]
fn a_route_with_one_setting_gets_the_default_ones_too() {
    let default = json!({ "throttling_rate_limit": 500, "throttling_burst_limit": 200 });
    let all = objects(&config(with(default, json!({ "detailed_metrics_enabled": true }))));
    let expected = RouteSettings { detailed_metrics_enabled: Some(true).into(), ..limits(500.0, 200) };
    assert_eq!(stage(&all).route_settings, [("GET /a".to_string(), expected)].into());
    assert_eq!(stage(&all).default_settings, limits(500.0, 200));
    let all = objects(&config(with(json!(null), json!({}))));
    assert_eq!((&stage(&all).default_settings, stage(&all).route_settings.len()), (&RouteSettings::default(), 0));
}

#[test]
fn default_limits_of_an_apply_cannot_be_removed() {
    let default = json!({ "throttling_rate_limit": 500.5, "throttling_burst_limit": 200 });
    let mut existing = entries(objects(&config(with(default, json!({})))));
    for after in [json!(null), json!({ "detailed_metrics_enabled": true })] {
        let problems = refused(&config(with(after, json!({}))), &existing);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].path.to_string(), "default_route_settings");
        assert!(
            problems[0].hint.contains("throttling_rate_limit = 500.5 and throttling_burst_limit = 200"),
            "{problems:?}"
        );
    }
    let metrics = |is_on: bool| with(json!({ "detailed_metrics_enabled": is_on }), json!({}));
    assert_eq!(refused(&config(metrics(true)), &entries(objects(&config(metrics(false))))), []);
    // Limits that were found were not set by this resource, and a missing stage has none.
    stage_of(&mut existing).origin = Origin::Found;
    assert_eq!(refused(&config(with(json!(null), json!({}))), &existing), []);
    stage_of(&mut existing).origin = Origin::Applied;
    stage_of(&mut existing).drift = crate::model::Drift::Missing;
    assert_eq!(refused(&config(with(json!(null), json!({}))), &existing), []);
}

#[test]
fn unmanaged_settings_of_missing_routes_are_an_error_if_they_block() {
    let mut existing = entries(objects(&config(with(json!(null), json!({})))));
    *stage_of(&mut existing).learned.route_settings = FoundSettings {
        routes: [("GET /missing".to_string(), limits(1.0, 1))].into(),
        stale: ["GET /missing".to_string()].into(),
        ..FoundSettings::default()
    };
    let throttled = json!({ "throttling_rate_limit": 1, "throttling_burst_limit": 1 });
    let problems = refused(&config(with(json!(null), throttled)), &existing);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].hint.contains("delete-route-settings --api-id id-api"), "{problems:?}");
    assert_eq!(refused(&config(with(json!(null), json!({}))), &existing), []);
}

#[test]
fn the_plan_warns_if_found_default_limits_no_longer_apply() {
    let mut existing = entries(objects(&config(with(json!(null), json!({})))));
    stage_of(&mut existing).learned.route_settings.default = limits(100.0, 50);
    let wanted = config(with(json!(null), json!({ "detailed_metrics_enabled": true })));
    let warned = |wanted: &GatewayConfig| {
        let warnings = decided(wanted, &existing, &scope()).1;
        warnings.into_iter().map(|it| it.message).filter(|it| !it.contains("charges")).collect::<Vec<_>>()
    };
    let warnings = warned(&wanted);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("throttling_rate_limit = 100 and throttling_burst_limit = 50"), "{warnings:?}");
    let managed = json!({ "throttling_rate_limit": 100, "throttling_burst_limit": 50 });
    assert_eq!(warned(&config(with(managed, json!({ "detailed_metrics_enabled": true })))), [""; 0]);
}

#[test]
fn settings_that_follow_from_default_ones_change_with_them() {
    let metrics = || json!({ "detailed_metrics_enabled": true });
    let of = |burst: i64| with(json!({ "throttling_rate_limit": 500, "throttling_burst_limit": burst }), metrics());
    let existing = entries(objects(&config(of(200))));
    let plan = plan(&existing, &decided(&config(of(100)), &existing, &scope()).0).expect("it has an order");
    let [Op { action: Action::Update { to, .. }, .. }] = &plan.ops[..] else { panic!("{plan:?}") };
    let Spec::Stage(updated) = &to.spec else { panic!("{to:?}") };
    assert_eq!(updated.default_settings, limits(500.0, 100));
    assert_eq!(updated.route_settings["GET /a"].throttling_burst_limit, Some(100).into());
}

#[test]
fn the_plan_that_turns_metrics_on_warns_of_the_price() {
    let on = || json!({ "detailed_metrics_enabled": true });
    let warned = |before: &Inventory, after: Json| decided(&config(after), before, &scope()).1;
    let none = entries(objects(&config(with(json!(null), json!({})))));
    for (existing, after) in [
        (&Inventory::default(), with(json!(null), on())),
        (&none, with(json!(null), on())),
        (&none, with(on(), json!({}))),
    ] {
        let warnings = warned(existing, after);
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert_eq!(warnings[0].message, "CloudWatch charges for the metrics of each of these routes: \"GET /a\".");
    }
    let existing = entries(objects(&config(with(on(), json!({})))));
    assert_eq!(warned(&existing, with(on(), on())), []);
    assert_eq!(warned(&existing, with(on(), json!({ "detailed_metrics_enabled": false }))), []);
}

#[test]
fn the_plan_warns_if_a_renamed_route_loses_its_settings() {
    let routes = |name: &str, settings: &Json| {
        let mut route = settings.clone();
        route["faas_function_arn"] = ORDERS.into();
        config(json!({ "route_config": { format!("GET /a/{{{name}}}"): route } }))
    };
    let throttled = json!({ "throttling_rate_limit": 10, "throttling_burst_limit": 5 });
    for (settings, expected) in [(&json!({}), "from then on"), (&throttled, "until the apply sets them again")] {
        let mut existing = entries(objects(&routes("old", settings)));
        stage_of(&mut existing).learned.route_settings.routes = [("GET /a/{old}".to_string(), limits(10.0, 5))].into();
        let warnings = decided(&routes("new", settings), &existing, &scope()).1;
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].message.ends_with(&format!("{expected}.")), "{warnings:?}");
        assert_eq!(decided(&routes("old", settings), &existing, &scope()).1, []);
    }
}
