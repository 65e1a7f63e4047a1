//! The number of calls of a create, a plan and a destroy. That of a plan does not depend on the number of routes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{TestEnv, with};
use crate::support::proxy::Proxy;

#[test]
fn an_apply_takes_one_changing_call_per_object_and_few_reads() {
    let env = TestEnv::with_terraform();
    env.config(&protected(&env, 10));
    env.workspace.apply(&[]).succeeded();
    let objects = env.attribute("aws_objects").as_object().map_or(0, serde_json::Map::len);
    // API, stage, log group, authorizer and its statement, two integrations and statements, ten routes.
    assert_eq!(objects, 19);
    // The last call sets the tag `fgw:state` to `ready`. Both plans and the create list the APIs, both processes read
    // the account, and both plans look up the three functions and the log group, which the create looks up once more.
    assert_calls(&env.proxy, objects + 1, 14, "a create");

    let [few, many] = [10, 40].map(|routes| {
        env.config(&protected(&env, routes));
        env.workspace.apply(&[]).succeeded();
        env.proxy.clear_calls();
        env.workspace.assert_nothing_to_do();
        assert_calls(&env.proxy, 0, 12, "a refresh and plan");
        env.proxy.by_action()
    });
    assert_eq!(few, many, "more routes on one page to the same functions need no further calls in a plan");

    env.proxy.clear_calls();
    env.destroy();
    // AWS deletes the objects in the API with it, but neither the permission statements nor the log group.
    // The group is read with its tags. The domains are listed by each of the three processes: the refresh looks for a
    // domain with the tags of the gateway, the plan names the mappings that would block the destroy, and the apply,
    // which may run much later, makes sure before its first deletion that there are none. The plan lists the
    // subscription filters that are deleted with the group.
    assert_calls(&env.proxy, 5, 20, "a destroy");
}

/// A gateway with this many routes to two functions, one of them protected by an authorizer, and access logs.
fn protected(env: &TestEnv, routes: usize) -> Value {
    let functions = ["orders", "users"];
    let mut all: BTreeMap<String, Value> =
        (0..routes).map(|number| (format!("GET /{number}"), env.to(functions[number % 2]))).collect();
    all.insert("GET /0".into(), env.guarded("orders", "customers"));
    let guard = json!({ "customers": {
        "authorizer_name": "guard", "authorizer_payload_format_version": "2.0", "enable_simple_responses": true,
    } });
    with(
        &json!({ "access_log_logservice_group_name": "/shop/access" }),
        &json!({ "faas_authorizers": guard, "route_config": all }),
    )
}

/// Asserts limits on the changing calls and on the reads before the first of them. Later reads are polls.
fn assert_calls(proxy: &Proxy, changing: usize, reads: usize, what: &str) {
    let calls = proxy.calls();
    let changed = calls.iter().filter(|record| record.call.is_mutation()).count();
    let read = calls.iter().take_while(|record| !record.call.is_mutation()).count();
    assert!(
        changed <= changing && read <= reads,
        "{what} takes {changed} changing calls and {read} reads, at most {changing} and {reads} are allowed: {:#?}",
        proxy.by_action()
    );
}
