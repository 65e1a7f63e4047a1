//! Changes of routes: they are repointed after new objects are created and before old ones are deleted.

use serde_json::{Value, json};

use super::change::sorted;
use super::{SLOW, TestEnv, with};

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
    assert_eq!(change.attributes, ["integration_ids", "route_config", "route_ids"]);
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
fn renaming_a_path_variable_deletes_routes_first_and_warns() {
    let env = TestEnv::new();
    env.proxy.latency(SLOW);
    let routes = |name: &str| {
        let (one, below) = (format!("GET /orders/{{{name}}}"), format!("POST /orders/{{{name}}}/items"));
        json!({ "route_config": { one: env.to("orders"), below: env.to("orders"), "GET /still": env.to("users") } })
    };
    env.apply(&routes("id"));
    let client = env.load_client(("GET /still", "users /still"), &["GET /orders/7", "POST /orders/7/items"]);
    let change = env.planned_change(&routes("order"));
    assert!(
        change.plan.says("Updating fgw_http_gateway \"shop\" interrupts")
            && change.plan.says("is deleted before route.GET /orders/{order} is created"),
        "{}",
        change.plan
    );
    let mut calls = change.calls;
    calls[..2].sort();
    calls[2..].sort();
    assert_eq!(
        calls,
        [
            "DeleteRoute route.GET /orders/{id}",
            "DeleteRoute route.POST /orders/{id}/items",
            "CreateRoute GET /orders/{order}",
            "CreateRoute POST /orders/{order}/items",
        ]
    );
    assert_eq!(env.send("GET", "/orders/7", None).body, "orders /orders/7");
    client.saw_no_error();
    env.destroy();
}
