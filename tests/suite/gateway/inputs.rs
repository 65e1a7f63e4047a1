//! Inputs of routes that make another integration, changed while the gateway serves.

use serde_json::{Value, json};

use super::change::sorted;
use super::snapshot::snapshot;
use super::{SLOW, TestEnv, with};

#[test]
fn payload_version_timeout_and_description_change_and_integrations_are_shared_and_parted() {
    let bed = TestEnv::new();
    bed.proxy.latency(SLOW);
    let config = |more: [Value; 3]| {
        let [a, b, c] = more.map(|more| with(&bed.to("orders"), &more));
        json!({ "route_config": { "GET /a": a, "GET /b": b, "GET /c": c, "GET /still": bed.to("users") } })
    };
    let same = || config([json!({}), json!({}), json!({})]);
    bed.apply(&same());
    let shown = || -> Vec<String> {
        let lines = snapshot(bed.proxy.account()).into_iter();
        lines.filter(|it| it.starts_with("route ") || it.contains("integration")).collect()
    };
    let still = "route GET /still: AWS_PROXY users payload 1.0 after 30000 ms, -; NONE";
    let of_orders = |route: &str, rest: &str| format!("route GET {route}: AWS_PROXY orders payload {rest}; NONE");
    let plain = "1.0 after 30000 ms, -";
    let shared = [
        "2 integrations".to_owned(),
        of_orders("/a", plain),
        of_orders("/b", plain),
        of_orders("/c", plain),
        still.into(),
    ];
    assert_eq!(shown(), shared);
    let visitor = bed.visit(("GET /still", "users /still"), &["GET /a", "GET /b", "GET /c"]);

    let change = bed.planned_change(&config([
        json!({ "payload_format_version": "2.0" }),
        json!({ "timeout_milliseconds": 50 }),
        json!({ "description": "The third." }),
    ]));
    assert_eq!(
        sorted(change.told.clone()),
        [
            "CreateIntegration orders",
            "CreateIntegration orders",
            "CreateIntegration orders",
            "DeleteIntegration integration.orders",
            "UpdateRoute route.GET /a",
            "UpdateRoute route.GET /b",
            "UpdateRoute route.GET /c",
        ]
    );
    assert_eq!(change.told.last().map(String::as_str), Some("DeleteIntegration integration.orders"));
    assert_eq!(change.attributes, ["integration_ids", "route_config"]);
    let three = "+integration.orders";
    assert_eq!(change.objects, [three, three, three, "-integration.orders"]);
    assert_eq!(
        shown(),
        [
            "4 integrations".to_owned(),
            of_orders("/a", "2.0 after 30000 ms, -"),
            of_orders("/b", "1.0 after 50 ms, -"),
            of_orders("/c", "1.0 after 30000 ms, The third."),
            still.into()
        ]
    );

    let change = bed.planned_change(&same());
    assert_eq!(
        sorted(change.told),
        [
            "CreateIntegration orders",
            "DeleteIntegration integration.orders",
            "DeleteIntegration integration.orders",
            "DeleteIntegration integration.orders",
            "UpdateRoute route.GET /a",
            "UpdateRoute route.GET /b",
            "UpdateRoute route.GET /c",
        ]
    );
    assert_eq!(shown(), shared, "what does the same is shared again");
    for path in ["/a", "/b", "/c"] {
        assert_eq!(bed.call("GET", path, None).body, format!("orders {path}"));
    }
    visitor.saw_no_error();
    bed.destroy();
}
