//! The stage, and its change to another name.

use serde_json::{Value as Json, json};

use super::*;
use crate::model::{Inventory, Object};
use crate::topology::http_gateway::tests::{ORDERS, config, decided, objects, scope, with};
use crate::topology::http_gateway::warnings::warnings;

fn named(name: &str, more: Json) -> GatewayConfig {
    config(with(json!({ "stage_name": name }), more))
}

fn inventory(config: &GatewayConfig) -> Inventory {
    let entry = |object: Object| {
        let id = Stage::of(&object.spec).map_or_else(|| format!("id-{}", object.key), |stage| stage.name.clone());
        Entry::new(object.key.clone(), id, object.spec)
    };
    Inventory { entries: objects(config).into_iter().map(entry).collect() }
}

/// The warnings of the change to another name, in a gateway whose endpoint is known.
fn renaming(to: &GatewayConfig, mut existing: Inventory) -> Vec<String> {
    let api = existing.entries.iter_mut().find(|entry| entry.key == keys::api()).expect("there is an API");
    api.learned.insert("api_endpoint".to_string(), "https://a1".to_string());
    decided(to, &existing, &scope()).1.into_iter().map(|it| format!("{}: {}", it.path, it.message)).collect()
}

/// The operations of a plan in their order.
fn operations(from: &GatewayConfig, to: &GatewayConfig) -> Vec<String> {
    let plan = crate::reconcile::plan(&inventory(from), &objects(to)).expect("it can be ordered");
    plan.ops.iter().map(|op| format!("{} {}", op.action.doing(), op.action.key().slot)).collect()
}

#[test]
fn a_new_stage_gets_the_mapping_before_the_old_one_is_deleted() {
    let domain = || json!({ "domain_name": "api.example.com" });
    let (from, to) = (named("$default", domain()), named("prod", domain()));
    let existing = inventory(&from);
    let plan = crate::reconcile::plan(&existing, &objects(&to)).unwrap();
    let slots: Vec<&str> = plan.ops.iter().map(|op| op.action.key().slot.as_str()).collect();
    assert_eq!(slots, ["stage", "api_mapping", "stage"]);
    assert_eq!((&plan.ops[1].depends_on, &plan.ops[2].depends_on), (&[0].into(), &[0, 1].into()));
    assert_eq!(operations(&named("a", json!({})), &named("b", json!({}))), ["creating stage", "deleting stage"]);
    assert_eq!(operations(&from, &named("$default", domain())), [""; 0]);
}

#[test]
fn an_old_stage_serves_no_part_of_routes_that_are_deployed_at_once() {
    let of = |name: &str, variable: &str| {
        let (one, other) = (format!("GET /a/{{{variable}}}"), "GET /b");
        let route = json!({ "faas_function_arn": ORDERS });
        named(name, json!({ "route_config": { one: route, other: route } }))
    };
    let (from, to) = (of("$default", "x"), of("prod", "y"));
    let plan = crate::reconcile::plan(&inventory(&from), &objects(&to)).unwrap();
    let lines: Vec<String> =
        plan.ops.iter().map(|op| format!("{} {} {:?}", op.action.doing(), op.action.key(), op.depends_on)).collect();
    assert_eq!(
        lines,
        [
            "updating stage {}",
            "creating integration.GET /a/{y} {}",
            "creating route.GET /a/{y} {1, 6}",
            "updating route.GET /b {1}",
            "creating stage {2, 3, 6}",
            "deleting stage {1, 2, 3, 4}",
            "deleting route.GET /a/{x} {0, 1}",
            "deleting integration.GET /a/{x} {1, 2, 3, 4, 5, 6}",
        ]
    );
}

#[test]
fn the_plan_says_that_the_url_changes() {
    let plain = json!({});
    let text = renaming(&named("prod", plain.clone()), inventory(&named("$default", plain.clone())));
    assert_eq!(
        text,
        ["stage_name: The URL of the API changes from https://a1 to https://a1/prod. Requests to the old one are \
          rejected after the apply."]
    );
    let with_domain = json!({ "domain_name": "api.example.com" });
    let text = renaming(&named("$default", with_domain.clone()), inventory(&named("prod", with_domain)));
    assert!(text[0].contains("from https://a1/prod to https://a1."), "{text:?}");
    assert!(text[0].contains("The custom domain moves to the new stage without an interruption."), "{text:?}");

    assert_eq!(renaming(&named("prod", plain.clone()), inventory(&named("prod", plain))), [""; 0]);
}

#[test]
fn limits_of_the_old_stage_may_be_removed() {
    let limits = json!({ "throttling_rate_limit": 5, "throttling_burst_limit": 5 });
    let before = inventory(&named("$default", json!({ "default_route_settings": limits })));
    assert_eq!(renaming(&named("prod", json!({})), before).len(), 1, "the new stage never had them");
}

#[test]
fn private_integrations_receive_the_name_of_the_stage() {
    let listener = "arn:aws:elasticloadbalancing:eu-central-1:123456789012:listener/app/a/1/2";
    let route = |more: Json| with(json!({ "integration_uri": listener, "vpc_link_id": "a1b2c3" }), more);
    let overwritten = route(json!({ "request_parameters": { "overwrite:path": "$request.path" } }));
    let routes = json!({ "route_config": {
        "GET /a": route(json!({})), "GET /b": overwritten, "GET /c": { "faas_function_arn": ORDERS },
    } });
    let found = |name: &str| -> Vec<String> {
        let all = warnings(&named(name, routes.clone()));
        all.into_iter().map(|it| format!("{}: {}", it.path, it.message)).collect()
    };
    let text = "route_config[\"GET /a\"]: The private integration receives /prod before the path of each request.";
    assert_eq!(found("prod"), [text]);
    assert_eq!(found("$default"), [""; 0]);
}
