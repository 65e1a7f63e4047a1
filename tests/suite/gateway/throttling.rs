//! Throttling and metrics of routes.

use serde_json::{Value, json};

use super::{TestEnv, text, with};

/// The rate with which a bucket gets one token in 17 minutes, a fraction that a double represents exactly.
const SLOWEST: f64 = 1.0 / 1024.0;

/// Limits that only a burst can meet.
fn strict(burst: u32) -> Value {
    json!({ "throttling_rate_limit": SLOWEST, "throttling_burst_limit": burst })
}

/// Limits above the number of requests of any test.
fn generous() -> Value {
    json!({ "throttling_rate_limit": 900, "throttling_burst_limit": 800 })
}

impl TestEnv {
    fn throttled(&self, limits: &Value) -> Value {
        with(&self.to("orders"), limits)
    }

    /// Someone else's call about the stage.
    fn stage_call(&self, method: &str, mut arguments: Value) {
        arguments["ApiId"] = self.attribute("api_id");
        arguments["StageName"] = "$default".into();
        self.proxy.boto("apigatewayv2", method, arguments);
    }

    fn update_stage(&self, arguments: Value) {
        self.stage_call("update_stage", arguments);
    }

    /// The statuses of this many requests.
    fn answers_of(&self, path: &str, count: usize) -> Vec<u16> {
        (0..count).map(|_| self.send("GET", path, None).status).collect()
    }

    /// The output of a plan that fails.
    pub(super) fn refusal(&self, attributes: &Value) -> String {
        self.config(attributes);
        let calls = self.proxy.mutations().len();
        let plan = self.workspace.plan(&[]);
        assert_eq!(plan.code, 1, "{plan}");
        assert_eq!(self.proxy.mutations().len(), calls, "a plan changes nothing");
        plan.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The refreshed output that names what is not managed.
    fn unmanaged(&self) -> Value {
        self.workspace.apply(&["-refresh-only"]).succeeded();
        self.attribute("unmanaged_objects")
    }
}

#[test]
fn routes_accept_as_many_requests_as_their_limits() {
    let env = TestEnv::new();
    let routes = |burst| json!({ "GET /a": env.throttled(&strict(burst)), "GET /b": env.to("orders") });
    env.apply(&json!({ "route_config": routes(2), "default_route_settings": strict(3) }));
    assert_eq!(env.answers_of("/a", 3), [200, 200, 429]);
    assert_eq!(env.answers_of("/b", 4), [200, 200, 200, 429]);

    let calls = env.change(&json!({ "route_config": routes(1), "default_route_settings": strict(4) }));
    assert_eq!(calls, ["UpdateStage $default"]);
    assert_eq!(env.answers_of("/a", 2), [200, 429]);
    assert_eq!(env.answers_of("/b", 5), [200, 200, 200, 200, 429]);

    let routes = json!({ "GET /a": env.to("orders"), "GET /b": env.to("orders") });
    let calls = env.change(&json!({ "route_config": routes, "default_route_settings": strict(2) }));
    assert_eq!(calls, ["DeleteRouteSettings GET /a", "UpdateStage $default"]);
    assert_eq!(env.answers_of("/a", 3), [200, 200, 429], "the default limits apply");
    env.destroy();
}

#[test]
fn metrics_alone_set_no_limit() {
    let env = TestEnv::new();
    let metrics = json!({ "detailed_metrics_enabled": true });
    env.apply(&json!({ "route_config": { "GET /a": env.throttled(&metrics) }, "default_route_settings": metrics }));
    let on = json!({ "DetailedMetricsEnabled": true });
    assert_eq!(env.stage()["DefaultRouteSettings"], on);
    assert_eq!(env.stage()["RouteSettings"], json!({ "GET /a": on }));
    assert_eq!(env.answers_of("/a", 20), [200; 20]);
    let calls = env.change(&json!({ "route_config": { "GET /a": env.to("orders") } }));
    assert_eq!(calls, ["DeleteRouteSettings GET /a", "UpdateStage $default"]);
    assert_eq!(env.stage()["DefaultRouteSettings"], json!({ "DetailedMetricsEnabled": false }));
    env.end();
}

#[test]
fn limits_change_while_requests_are_served() {
    let env = TestEnv::new();
    let routes = |other: &str, limits: &Value| {
        json!({
            "route_config": {
                "GET /still": env.throttled(&generous()),
                "GET /default": env.to("orders"),
                other: env.throttled(limits),
            },
            "default_route_settings": generous(),
        })
    };
    env.apply(&routes("GET /items/{id}", &generous()));
    let more = json!({ "throttling_rate_limit": 950, "throttling_burst_limit": 850 });
    let client = env.load_client(("GET /still", "orders /still"), &[]);
    let on_default = env.load_client(("GET /default", "orders /default"), &[]);
    let on_item = env.load_client(("GET /items/1", "orders /items/1"), &[]);

    env.change(&routes("GET /items/{id}", &more));
    let renamed = env.change(&routes("GET /items/{item}", &more));
    let renaming = [
        "UpdateStage $default",
        "DeleteRouteSettings GET /items/{id}",
        "DeleteRoute route.GET /items/{id}",
        "CreateRoute GET /items/{item}",
        "UpdateStage $default",
    ];
    assert_eq!(renamed, renaming);
    assert_eq!(env.stage()["RouteSettings"]["GET /items/{item}"]["ThrottlingBurstLimit"], 850);
    on_item.saw_no_error();

    // Another route takes the place of the throttled one, with another limit, and a third one changes.
    let mut next = routes("GET /others", &more);
    next["route_config"]["GET /still"] = env.throttled(&more);
    let calls = env.change(&next);
    let position =
        |call: &str| calls.iter().position(|it| it == call).unwrap_or_else(|| panic!("no {call} in {calls:?}"));
    assert!(
        position("DeleteRouteSettings GET /items/{item}") < position("DeleteRoute route.GET /items/{item}"),
        "{calls:?}"
    );
    let stage = env.stage();
    let keys: Vec<&String> = stage["RouteSettings"].as_object().expect("a map").keys().collect();
    assert_eq!(keys, ["GET /others", "GET /still"]);
    client.saw_no_error();
    on_default.saw_no_error();
    env.end();
}

#[test]
fn settings_of_someone_else_go_with_their_route() {
    let env = TestEnv::new();
    let both = json!({ "route_config": { "GET /a": env.throttled(&generous()), "GET /b": env.to("orders") } });
    env.apply(&both);
    env.update_stage(json!({ "RouteSettings": { "GET /b": { "ThrottlingRateLimit": 5 } } }));
    env.workspace.assert_nothing_to_do();
    let calls = env.change(&json!({ "route_config": { "GET /a": env.throttled(&strict(9)) } }));
    let order = ["UpdateStage $default", "DeleteRouteSettings GET /b", "DeleteRoute route.GET /b"];
    assert_eq!(calls[..3], order);
    assert_eq!(env.stage()["RouteSettings"].as_object().expect("a map").len(), 1);
    env.change(&json!({ "route_config": { "GET /a": env.throttled(&generous()) } }));
    env.end();
}

#[test]
fn stale_settings_of_someone_else_are_reported_before_they_block() {
    let env = TestEnv::new();
    env.apply(&json!({ "route_config": { "GET /a": env.throttled(&generous()) } }));
    let route = env.api_call("create_route", json!({ "RouteKey": "GET /theirs" }));
    env.update_stage(json!({ "RouteSettings": { "GET /theirs": { "ThrottlingRateLimit": 5 } } }));
    env.api_call("delete_route", json!({ "RouteId": route["RouteId"] }));
    assert!(text(&env.unmanaged()["$default/GET /theirs"]).contains("delete-route-settings"));
    // A change of another object is not blocked.
    let described =
        |limits: &Value| json!({ "description": "new", "route_config": { "GET /a": env.throttled(limits) } });
    assert_eq!(env.change(&described(&generous())), ["UpdateApi"]);
    let refusal = env.refusal(&described(&strict(5)));
    assert!(refusal.contains("delete-route-settings") && refusal.contains("--route-key 'GET /theirs'"), "{refusal}");
    env.stage_call("delete_route_settings", json!({ "RouteKey": "GET /theirs" }));
    assert_eq!(env.change(&described(&strict(5))), ["UpdateStage $default"]);
    env.end();
}

#[test]
fn found_settings_are_named_and_never_drift() {
    let env = TestEnv::new();
    let config = json!({ "route_config": { "GET /a": env.to("orders"), "GET /b": env.throttled(&generous()) } });
    env.apply(&config);
    let limits = json!({ "ThrottlingRateLimit": 7, "ThrottlingBurstLimit": 3 });
    env.update_stage(json!({ "DefaultRouteSettings": limits, "RouteSettings": { "GET /a": limits } }));
    env.workspace.assert_nothing_to_do();
    let named = env.unmanaged();
    for (id, what) in
        [("$default/default_route_settings", "default settings"), ("$default/GET /a", "settings of a route")]
    {
        let line = text(&named[id]);
        assert!(line.contains(what) && line.contains("throttling_rate_limit = 7"), "{named}");
    }
    assert_eq!(env.drift(), json!({}));

    env.update_stage(json!({ "DefaultRouteSettings": { "ThrottlingRateLimit": 0 } }));
    let plan = env.workspace.plan(&[]);
    assert_eq!(plan.code, 0, "{plan}");
    assert!(plan.to_string().contains("429"), "a limit of 0 is warned of: {plan}");
    env.end();
}

#[test]
fn drift_of_limits_is_corrected() {
    let env = TestEnv::new();
    env.apply(&json!({
        "route_config": { "GET /a": env.throttled(&strict(5)), "GET /b": env.throttled(&strict(6)) },
        "default_route_settings": strict(7),
    }));
    let changed = json!({ "ThrottlingBurstLimit": 50 });
    env.update_stage(json!({ "DefaultRouteSettings": changed, "RouteSettings": { "GET /a": changed } }));
    env.stage_call("delete_route_settings", json!({ "RouteKey": "GET /b" }));
    let drift = text(&env.drift()["stage"]);
    for part in [
        "default_settings throttling_burst_limit is 50 instead of 7",
        "route_settings GET /a throttling_burst_limit is 50 instead of 5",
        "route_settings GET /b throttling_burst_limit is absent instead of 6",
    ] {
        assert!(drift.contains(part), "{drift}");
    }
    env.apply_config();
    let stage = env.stage();
    assert_eq!(stage["DefaultRouteSettings"]["ThrottlingBurstLimit"], 7);
    assert_eq!(stage["RouteSettings"]["GET /a"]["ThrottlingBurstLimit"], 5);
    assert_eq!(stage["RouteSettings"]["GET /b"]["ThrottlingBurstLimit"], 6);
    env.end();
}

#[test]
fn default_limits_cannot_be_removed_from_a_live_stage() {
    let env = TestEnv::new();
    let route = json!({ "route_config": { "GET /a": env.to("orders") } });
    env.apply(&with(&route, &json!({ "default_route_settings": generous() })));
    let refusal = env.refusal(&route);
    for part in ["default_route_settings", "no call", "throttling_rate_limit = 900 and throttling_burst_limit = 800"] {
        assert!(refusal.contains(part), "{refusal}");
    }
    // The way out that the message names.
    let account = json!({ "throttling_rate_limit": 10000, "throttling_burst_limit": 5000 });
    let calls = env.change(&with(&route, &json!({ "default_route_settings": account })));
    assert_eq!(calls, ["UpdateStage $default"]);
    // A new stage has no limits.
    env.api_call("delete_stage", json!({ "StageName": "$default" }));
    env.apply(&route);
    assert!(env.stage()["DefaultRouteSettings"]["ThrottlingRateLimit"].is_null());
    env.end();
}

#[test]
fn an_import_proposes_the_found_limits_and_changes_none() {
    let env = TestEnv::new();
    let routes = json!({
        "GET /own": env.throttled(&strict(5)),
        "GET /metrics": env.throttled(&json!({ "detailed_metrics_enabled": true })),
        "GET /default": env.to("orders"),
    });
    let config = json!({ "route_config": routes, "default_route_settings": generous() });
    env.apply(&config);
    let shown = env.stage();
    env.workspace.reimport(super::THIS);
    assert_eq!(env.attribute("default_route_settings")["throttling_burst_limit"], 800);
    let routes = env.attribute("route_config");
    assert_eq!(routes["GET /own"]["throttling_rate_limit"], SLOWEST);
    assert_eq!(routes["GET /own"]["detailed_metrics_enabled"], Value::Null);
    let metrics = &routes["GET /metrics"];
    assert_eq!((&metrics["detailed_metrics_enabled"], &metrics["throttling_rate_limit"]), (&json!(true), &Value::Null));
    env.workspace.assert_nothing_to_do();
    assert_eq!(env.stage(), shown);

    // Limits that no apply has set need not be taken over.
    let to_orders = |key: &str| (key.to_owned(), env.to("orders"));
    let routes: serde_json::Map<String, Value> =
        ["GET /own", "GET /metrics", "GET /default"].map(to_orders).into_iter().collect();
    env.workspace.reimport(super::THIS);
    env.apply(&json!({ "route_config": routes, "description": "new" }));
    assert_eq!(env.proxy.mutations().len(), 1, "the limits stay");
    assert_eq!(env.stage()["DefaultRouteSettings"], shown["DefaultRouteSettings"]);
    assert_eq!(env.stage()["RouteSettings"], shown["RouteSettings"]);
    assert_eq!(env.unmanaged().as_object().expect("a map").len(), 3);
    env.end();
}
