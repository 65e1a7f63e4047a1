//! Changes of authorizers: a route is never without the protection that it should have.

use serde_json::{Value, json};

use super::{Bed, SECRET, SLOW, with};

#[test]
fn routes_get_and_lose_authorizers_and_an_authorizer_in_use_is_exchanged_without_a_gap() {
    let bed = Bed::new();
    bed.proxy.latency(SLOW);
    let authorizer = |function: &str, more: Value| {
        let basis = json!({
            "authorizer_name": function,
            "authorizer_payload_format_version": "2.0",
            "enable_simple_responses": true,
            "identity_sources": ["$request.header.x-key"],
        });
        json!({ "customers": with(&basis, &more) })
    };
    let config = |a: Value, b: Value, authorizers: Value| json!({ "route_config": { "GET /a": a, "GET /b": b }, "faas_authorizers": authorizers });
    let open = || bed.to("orders");
    let guarded = || bed.guarded("orders", "customers");
    let status = |path: &str, key: Option<&str>| bed.call("GET", path, key).status;
    bed.apply(&config(open(), guarded(), authorizer("guard", json!({}))));
    assert_eq!((status("/a", None), status("/b", None)), (200, 401));

    let both = config(guarded(), guarded(), authorizer("guard", json!({})));
    assert_eq!(bed.change(&both), ["UpdateRoute route.GET /a"]);
    assert_eq!((status("/a", None), status("/a", Some(SECRET))), (401, 200));

    let one = config(guarded(), open(), authorizer("guard", json!({})));
    assert_eq!(bed.change(&one), ["UpdateRoute route.GET /b"]);
    assert_eq!(status("/b", None), 200);

    let exchanged = config(guarded(), open(), authorizer("keeper", json!({})));
    assert_eq!(
        bed.change(&exchanged),
        [
            "CreateAuthorizer keeper",
            "AddPermission authorizer_permission.customers",
            "UpdateRoute route.GET /a",
            "DeleteAuthorizer authorizer.customers",
            "RemovePermission authorizer_permission.customers",
        ]
    );
    assert_eq!((status("/a", None), status("/a", Some("wrong")), status("/a", Some(SECRET))), (401, 403, 200));

    let kept_longer = config(guarded(), open(), authorizer("keeper", json!({ "result_ttl_in_seconds": 60 })));
    assert_eq!(bed.change(&kept_longer), ["UpdateAuthorizer authorizer.customers"]);
    let shown = bed.proxy.account().list_of("apis")[0]["authorizers"].clone();
    assert_eq!((shown.as_array().map(Vec::len), &shown[0]["AuthorizerResultTtlInSeconds"]), (Some(1), &json!(60)));

    assert_eq!(
        bed.change(&config(open(), open(), json!({}))),
        [
            "UpdateRoute route.GET /a",
            "DeleteAuthorizer authorizer.customers",
            "RemovePermission authorizer_permission.customers",
        ]
    );
    assert_eq!(status("/a", None), 200);
    bed.destroy();
}
