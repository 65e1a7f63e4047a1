//! Changes of routes: new first, repoint, delete the old, and nothing else is touched.

use serde_json::json;

use super::{Bed, SLOW};

#[test]
fn routes_come_go_and_change_their_function_without_a_gap_and_without_touching_others() {
    let bed = Bed::new();
    bed.proxy.latency(SLOW);
    bed.apply(&json!({ "route_config": { "GET /a": bed.to("orders"), "GET /b": bed.to("users") } }));

    let more = json!({ "route_config": { "GET /a": bed.to("orders"), "GET /b": bed.to("users"), "POST /c": bed.to("orders") } });
    assert_eq!(bed.change(&more), ["CreateRoute POST /c"], "its function is called already");
    assert_eq!(bed.call("POST", "/c", None).body, "orders /c");

    let fewer = json!({ "route_config": { "GET /a": bed.to("orders"), "GET /b": bed.to("users") } });
    assert_eq!(bed.change(&fewer), ["DeleteRoute route.POST /c"]);
    assert_eq!(bed.call("POST", "/c", None).status, 404);

    let other = json!({ "route_config": { "GET /a": bed.to("third"), "GET /b": bed.to("users") } });
    bed.proxy
        .account()
        .create_function("third", "def handler(event, context):\n    return {'statusCode': 200, 'body': 'third'}\n");
    assert_eq!(
        bed.change(&other),
        [
            "AddPermission permission.third",
            "CreateIntegration third",
            "UpdateRoute route.GET /a",
            "DeleteIntegration integration.orders",
            "RemovePermission permission.orders",
        ]
    );
    assert_eq!(bed.call("GET", "/a", None).body, "third");

    let swapped = json!({ "route_config": { "GET /a": bed.to("users"), "GET /b": bed.to("third") } });
    let mut told = bed.change(&swapped);
    told.sort();
    assert_eq!(told, ["UpdateRoute route.GET /a", "UpdateRoute route.GET /b"]);
    assert_eq!(
        (bed.call("GET", "/a", None).body.as_str(), bed.call("GET", "/b", None).body.as_str()),
        ("users /a", "third")
    );
    bed.destroy();
}

#[test]
fn a_path_variable_is_renamed_by_deleting_the_old_routes_first() {
    let bed = Bed::new();
    let routes = |name: &str| {
        let (one, below) = (format!("GET /orders/{{{name}}}"), format!("POST /orders/{{{name}}}/items"));
        json!({ "route_config": { one: bed.to("orders"), below: bed.to("orders"), "GET /orders": bed.to("orders") } })
    };
    bed.apply(&routes("id"));
    let mut told = bed.change(&routes("order"));
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
    bed.destroy();
}
