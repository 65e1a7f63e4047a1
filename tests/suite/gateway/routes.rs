//! Changes of routes: they are repointed after new objects are created and before old ones are deleted.

use serde_json::{Value, json};

use super::change::sorted;
use super::{SLOW, TestEnv, with};
use crate::support::proxy::fault::Fault;

#[test]
fn routes_are_added_changed_swapped_and_removed_without_a_gap() {
    let env = TestEnv::new();
    env.proxy.latency(SLOW);
    let routes = |more: Value| json!({ "route_config": with(&json!({ "GET /still": env.to("users") }), &more) });
    env.apply(&routes(json!({
        "GET /a": env.to("orders"), "GET /b": env.to("users"), "GET /c": env.to("orders"),
    })));
    let touched = ["GET /a", "GET /b", "GET /c", "POST /d"];
    let client = env.load_client(("GET /still", "users /still"), &touched);
    let body = |method: &str, path: &str| env.send(method, path, None).body;

    let more = json!({
        "GET /a": env.to("orders"), "GET /b": env.to("users"), "GET /c": env.to("orders"), "POST /d": env.to("orders"),
    });
    let change = env.planned_change(&routes(more));
    assert_eq!(change.calls, ["CreateRoute POST /d"], "its function already has an integration and a permission");
    assert_eq!(change.attributes, ["integration_ids", "route_authorizations", "route_config", "route_ids"]);
    assert_eq!(body("POST", "/d"), "orders /d");

    let fewer = json!({ "GET /a": env.to("orders"), "GET /b": env.to("users"), "GET /c": env.to("orders") });
    let change = env.planned_change(&routes(fewer));
    assert_eq!(change.calls, ["DeleteRoute route.POST /d"]);
    assert!(change.plan.says("deletes 1 AWS object"), "{}", change.plan);
    assert_eq!(env.send("POST", "/d", None).status, 404);

    env.proxy
        .account()
        .create_function("third", "def handler(event, context):\n    return {'statusCode': 200, 'body': 'third'}\n");
    let change = env.planned_change(&routes(json!({ "GET /a": env.to("third"), "GET /b": env.to("users") })));
    assert_eq!(
        change.calls,
        [
            "AddPermission permission.third",
            "CreateIntegration third",
            "UpdateRoute route.GET /a",
            "DeleteRoute route.GET /c",
            "DeleteIntegration integration.GET /a",
            "RemovePermission permission.orders",
        ]
    );
    assert_eq!(
        change.objects,
        ["+integration.GET /a#2", "+permission.third", "-integration.GET /a", "-permission.orders", "-route.GET /c"]
    );
    assert_eq!((body("GET", "/a").as_str(), env.send("GET", "/c", None).status), ("third", 404));

    let change = env.planned_change(&routes(json!({ "GET /a": env.to("users"), "GET /b": env.to("third") })));
    let expected = ["CreateIntegration third", "UpdateIntegration integration.GET /a#2", "UpdateRoute route.GET /b"];
    assert_eq!(sorted(change.calls), expected, "GET /still keeps the integration of GET /b");
    assert_eq!(change.attributes, ["integration_ids", "route_config"]);
    assert_eq!(change.objects, ["+integration.GET /b#2"]);
    assert_eq!((body("GET", "/a").as_str(), body("GET", "/b").as_str()), ("users /a", "third"));
    client.saw_no_error();
    env.destroy();
}

#[test]
fn renamed_path_variables_interrupt_no_request() {
    let env = TestEnv::new();
    env.proxy.latency(SLOW);
    let routes = |name: &str| {
        let (one, below) = (format!("GET /orders/{{{name}}}"), format!("POST /orders/{{{name}}}/items"));
        json!({ "route_config": { one: env.to("orders"), below: env.to("orders"), "GET /still": env.to("users") } })
    };
    env.apply(&routes("id"));
    let client = env.load_client(("GET /orders/7", "orders /orders/7"), &["POST /orders/7/items"]);
    let change = env.planned_change(&routes("order"));
    let calls = change.calls;
    assert_eq!(
        (calls[0].as_str(), calls[5].as_str(), calls.len()),
        ("UpdateStage $default", "UpdateStage $default", 6)
    );
    let deleted = ["DeleteRoute route.GET /orders/{id}", "DeleteRoute route.POST /orders/{id}/items"];
    let created = ["CreateRoute GET /orders/{order}", "CreateRoute POST /orders/{order}/items"];
    assert_eq!(sorted(calls[1..3].to_vec()), deleted);
    assert_eq!(sorted(calls[3..5].to_vec()), created, "the stage deploys the new routes at once");
    client.saw_no_error();

    // What the same apply changes before is deployed before that.
    let client = env.load_client(("GET /orders/7", "orders /orders/7"), &["POST /orders/7/items"]);
    let more = with(&routes("id")["route_config"], &json!({ "GET /more": env.to("users") }));
    let change = env.planned_change(&json!({ "route_config": more }));
    assert_eq!((change.calls[0].as_str(), change.calls.len()), ("CreateRoute GET /more", 7), "{:?}", change.calls);
    client.saw_no_error();
    env.end();
}

#[test]
fn an_interrupted_rename_is_continued() {
    let env = TestEnv::new();
    let routes = |name: &str| {
        let (one, below) = (format!("GET /orders/{{{name}}}"), format!("POST /orders/{{{name}}}/items"));
        json!({ "route_config": { one: env.to("orders"), below: env.to("orders"), "$default": env.to("users") } })
    };
    env.apply(&routes("id"));
    env.proxy.fault(Fault::on("CreateRoute").answer(403, "AccessDeniedException", "a policy forbids it"));
    env.config(&routes("order"));
    env.workspace.apply(&[]).failed_with("a policy forbids it");
    assert_eq!(env.send("GET", "/orders/7", None).body, "orders /orders/7", "the stage serves what it had");
    env.proxy.clear_faults();
    let calls = env.planned_change(&routes("order")).calls;
    let created = ["CreateRoute GET /orders/{order}", "CreateRoute POST /orders/{order}/items"];
    assert_eq!(sorted(calls[..2].to_vec()), created);
    assert_eq!(calls[2..], ["UpdateStage $default"]);
    assert_eq!(env.send("POST", "/orders/7/items", None).body, "orders /orders/7/items");
    env.end();
}

#[test]
fn routes_stay_if_the_needs_of_their_successors_cannot_be_created() {
    let env = TestEnv::new();
    let routes = |name: &str, function: &str| {
        let (one, below) = (format!("GET /orders/{{{name}}}"), format!("POST /orders/{{{name}}}/items"));
        json!({ "route_config": { one: env.to(function), below: env.to(function) } })
    };
    env.apply(&routes("id", "orders"));
    env.proxy.fault(Fault::on("AddPermission").answer(403, "AccessDeniedException", "a policy forbids it"));
    env.config(&routes("order", "users"));
    env.workspace.apply(&[]).failed_with("a policy forbids it");
    assert_eq!(env.send("GET", "/orders/7", None).body, "orders /orders/7");
    assert_eq!(env.send("POST", "/orders/7/items", None).body, "orders /orders/7/items");
    env.proxy.clear_faults();
    env.apply_config();
    assert_eq!(env.send("POST", "/orders/7/items", None).body, "users /orders/7/items");
    env.end();
}

#[test]
fn a_route_is_replaced_although_the_quota_of_routes_is_reached() {
    let env = TestEnv::new();
    env.proxy.route_quota(2);
    let routes = |key: &str| json!({ "route_config": { key: env.to("orders"), "GET /still": env.to("users") } });
    env.apply(&routes("GET /a"));
    let change = env.planned_change(&routes("GET /b"));
    let calls = ["CreateRoute GET /b", "UpdateStage $default", "DeleteRoute route.GET /a", "CreateRoute GET /b"];
    assert_eq!(change.calls[..4], calls);
    assert_eq!(change.calls[4..], ["UpdateStage $default"], "the stage serves the old route until the new one exists");
    assert_eq!(env.send("GET", "/b", None).body, "orders /b");

    // No route is unused, so the quota is an error. The next configuration is applied.
    let more = json!({ "route_config": {
        "GET /b": env.to("orders"), "GET /c": env.to("orders"), "GET /still": env.to("users"),
    } });
    env.config(&more);
    env.workspace.apply(&[]).failed_with("request a higher quota");
    env.apply(&routes("GET /b"));
    env.end();
}
