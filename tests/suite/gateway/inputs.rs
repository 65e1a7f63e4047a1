//! Inputs of routes that require another integration, changed while the gateway serves.

use serde_json::{Value, json};

use super::change::sorted;
use super::snapshot::snapshot;
use super::{SLOW, TestEnv, with};

#[test]
fn routes_with_the_same_settings_share_an_integration() {
    let env = TestEnv::new();
    env.proxy.latency(SLOW);
    let config = |more: [Value; 3]| {
        let [a, b, c] = more.map(|more| with(&env.to("orders"), &more));
        json!({ "route_config": { "GET /a": a, "GET /b": b, "GET /c": c, "GET /still": env.to("users") } })
    };
    let same = || config([json!({}), json!({}), json!({})]);
    env.apply(&same());
    let shown = || -> Vec<String> {
        let lines = snapshot(env.proxy.account()).into_iter();
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
    let client = env.load_client(("GET /still", "users /still"), &["GET /a", "GET /b", "GET /c"]);

    let change = env.planned_change(&config([
        json!({ "payload_format_version": "2.0" }),
        json!({ "timeout_milliseconds": 50 }),
        json!({ "description": "The third." }),
    ]));
    assert_eq!(
        sorted(change.calls.clone()),
        [
            "CreateIntegration orders",
            "CreateIntegration orders",
            "CreateIntegration orders",
            "DeleteIntegration integration.GET /a",
            "UpdateRoute route.GET /a",
            "UpdateRoute route.GET /b",
            "UpdateRoute route.GET /c",
        ]
    );
    assert_eq!(change.calls.last().map(String::as_str), Some("DeleteIntegration integration.GET /a"));
    assert_eq!(change.attributes, ["integration_ids", "route_config"]);
    let new = ["+integration.GET /a#2", "+integration.GET /b", "+integration.GET /c"];
    assert_eq!(change.objects, [&new[..], &["-integration.GET /a"]].concat());
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

    let change = env.planned_change(&same());
    assert_eq!(
        sorted(change.calls),
        [
            "UpdateIntegration integration.GET /a#2",
            "UpdateIntegration integration.GET /b",
            "UpdateIntegration integration.GET /c",
        ]
    );
    assert_eq!(shown()[1..], shared[1..]);
    assert_eq!(shown()[0], "4 integrations", "existing integrations are updated, although they become equal");

    let slower = || json!({ "timeout_milliseconds": 9000 });
    let three = env.change(&config([slower(), slower(), slower()]));
    assert_eq!(three.len(), 3, "{three:?}");
    client.saw_no_error();
    env.destroy();
    env.apply(&same());
    let one = env.change(&config([slower(), slower(), slower()]));
    assert_eq!(one, ["UpdateIntegration integration.GET /a"], "the routes share it and change alike");
    for path in ["/a", "/b", "/c"] {
        assert_eq!(env.send("GET", path, None).body, format!("orders {path}"));
    }
    env.destroy();
}
