//! Changes of routes: new first, repoint, delete the old, and nothing else is touched.

use serde_json::{Value, json};

use super::change::sorted;
use super::{SLOW, TestEnv, with};

#[test]
fn routes_come_go_change_and_swap_their_functions_without_a_gap_and_without_touching_others() {
    let bed = TestEnv::new();
    bed.proxy.latency(SLOW);
    let routes = |more: Value| json!({ "route_config": with(&json!({ "GET /still": bed.to("users") }), &more) });
    bed.apply(&routes(json!({
        "GET /a": bed.to("orders"), "GET /b": bed.to("users"), "GET /c": bed.to("orders"),
    })));
    let touched = ["GET /a", "GET /b", "GET /c", "POST /d"];
    let visitor = bed.visit(("GET /still", "users /still"), &touched);
    let body = |method: &str, path: &str| bed.call(method, path, None).body;

    let more = json!({
        "GET /a": bed.to("orders"), "GET /b": bed.to("users"), "GET /c": bed.to("orders"), "POST /d": bed.to("orders"),
    });
    let change = bed.planned_change(&routes(more));
    assert_eq!(change.told, ["CreateRoute POST /d"], "its function is called already");
    assert_eq!(change.attributes, ["integration_ids", "route_config", "route_ids"]);
    assert_eq!(body("POST", "/d"), "orders /d");

    let fewer = json!({ "GET /a": bed.to("orders"), "GET /b": bed.to("users"), "GET /c": bed.to("orders") });
    let change = bed.planned_change(&routes(fewer));
    assert_eq!(change.told, ["DeleteRoute route.POST /d"]);
    assert!(change.plan.says("deletes 1 AWS object"), "{}", change.plan);
    assert_eq!(bed.call("POST", "/d", None).status, 404);

    bed.proxy
        .account()
        .create_function("third", "def handler(event, context):\n    return {'statusCode': 200, 'body': 'third'}\n");
    let change = bed.planned_change(&routes(json!({ "GET /a": bed.to("third"), "GET /b": bed.to("users") })));
    assert_eq!(
        change.told,
        [
            "AddPermission permission.third",
            "CreateIntegration third",
            "UpdateRoute route.GET /a",
            "DeleteRoute route.GET /c",
            "DeleteIntegration integration.orders",
            "RemovePermission permission.orders",
        ]
    );
    assert_eq!(
        change.objects,
        ["+integration.third", "+permission.third", "-integration.orders", "-permission.orders", "-route.GET /c",]
    );
    assert_eq!((body("GET", "/a").as_str(), bed.call("GET", "/c", None).status), ("third", 404));

    let change = bed.planned_change(&routes(json!({ "GET /a": bed.to("users"), "GET /b": bed.to("third") })));
    assert_eq!(sorted(change.told), ["UpdateRoute route.GET /a", "UpdateRoute route.GET /b"]);
    assert_eq!(change.attributes, ["integration_ids", "route_config"]);
    assert_eq!(change.objects, Vec::<String>::new());
    assert_eq!((body("GET", "/a").as_str(), body("GET", "/b").as_str()), ("users /a", "third"));
    visitor.saw_no_error();
    bed.destroy();
}

#[test]
fn a_path_variable_is_renamed_by_deleting_the_old_routes_first_of_which_the_plan_warns() {
    let bed = TestEnv::new();
    bed.proxy.latency(SLOW);
    let routes = |name: &str| {
        let (one, below) = (format!("GET /orders/{{{name}}}"), format!("POST /orders/{{{name}}}/items"));
        json!({ "route_config": { one: bed.to("orders"), below: bed.to("orders"), "GET /still": bed.to("users") } })
    };
    bed.apply(&routes("id"));
    let visitor = bed.visit(("GET /still", "users /still"), &["GET /orders/7", "POST /orders/7/items"]);
    let change = bed.planned_change(&routes("order"));
    assert!(
        change.plan.says("leaves requests without their route for a moment")
            && change.plan.says("goes before route.GET /orders/{order} is made"),
        "{}",
        change.plan
    );
    let mut told = change.told;
    told[..2].sort();
    told[2..].sort();
    assert_eq!(
        told,
        [
            "DeleteRoute route.GET /orders/{id}",
            "DeleteRoute route.POST /orders/{id}/items",
            "CreateRoute GET /orders/{order}",
            "CreateRoute POST /orders/{order}/items",
        ]
    );
    assert_eq!(bed.call("GET", "/orders/7", None).body, "orders /orders/7");
    visitor.saw_no_error();
    bed.destroy();
}
