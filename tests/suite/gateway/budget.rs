//! How many calls a gateway costs from nothing to nothing, and a plan whatever its size.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{TestEnv, with};
use crate::support::proxy::Proxy;

#[test]
fn a_gateway_costs_a_call_for_each_object_and_few_beside() {
    let bed = TestEnv::with_terraform();
    bed.config(&protected(&bed, 10));
    bed.workspace.apply(&[]).succeeded();
    let objects = bed.attribute("aws_objects").as_object().map_or(0, serde_json::Map::len);
    // API, stage, log group, authorizer and its statement, two integrations and statements, ten routes.
    assert_eq!(objects, 19);
    // The tag that says that all is made comes last.
    assert_calls(&bed.proxy, objects + 1, 3, "a create");

    let [few, many] = [10, 40].map(|routes| {
        bed.config(&protected(&bed, routes));
        bed.workspace.apply(&[]).succeeded();
        bed.proxy.clear_calls();
        bed.workspace.assert_nothing_to_do();
        assert_calls(&bed.proxy, 0, 12, "a refresh and plan");
        bed.proxy.by_action()
    });
    assert_eq!(few, many, "routes of one page and of the same functions cost a plan nothing");

    bed.proxy.clear_calls();
    bed.destroy();
    // With the API goes what is in it; statements and the log group outlive it.
    assert_calls(&bed.proxy, 5, 17, "a destroy");
}

/// A gateway with so many routes to two functions, one of them behind an authorizer, and access logs.
fn protected(bed: &TestEnv, routes: usize) -> Value {
    let functions = ["orders", "users"];
    let mut all: BTreeMap<String, Value> =
        (0..routes).map(|number| (format!("GET /{number}"), bed.to(functions[number % 2]))).collect();
    all.insert("GET /0".into(), bed.guarded("orders", "customers"));
    let guard = json!({ "customers": {
        "authorizer_name": "guard", "authorizer_payload_format_version": "2.0", "enable_simple_responses": true,
    } });
    with(
        &json!({ "access_log_logservice_group_name": "/shop/access" }),
        &json!({ "faas_authorizers": guard, "route_config": all }),
    )
}

/// Asserts how many calls change something, and how many read before the first of these. Reads after it are waits.
fn assert_calls(proxy: &Proxy, changing: usize, looks: usize, what: &str) {
    let calls = proxy.calls();
    let changed = calls.iter().filter(|record| record.call.is_mutation()).count();
    let looked = calls.iter().take_while(|record| !record.call.is_mutation()).count();
    assert!(
        changed <= changing && looked <= looks,
        "{what} takes {changed} changing calls and {looked} looks, at most {changing} and {looks} are allowed: {:#?}",
        proxy.by_action()
    );
}
