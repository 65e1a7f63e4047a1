//! Changes of requests and responses between clients and what answers them.

use serde_json::{Value, json};

use super::{TestEnv, text, with};
use crate::support::target;

/// The source of a function that answers with the header `x-tenant` of its request, and with the status in its query.
const TENANT: &str = "def handler(event, context):\n    \
                      tenant = event['headers'].get('x-tenant', 'none')\n    \
                      status = int((event.get('queryStringParameters') or {}).get('status', '200'))\n    \
                      return {'statusCode': status, 'body': tenant, 'headers': {'x-inner': 'one'}}\n";

impl TestEnv {
    /// The parameters of the only integration, as AWS shows them.
    fn mapped(&self) -> (Value, Value) {
        let integrations = self.integrations();
        assert_eq!(integrations.len(), 1, "{integrations:?}");
        (integrations[0]["RequestParameters"].clone(), integrations[0]["ResponseParameters"].clone())
    }
}

#[test]
fn parameters_change_requests_and_responses() {
    let env = TestEnv::new();
    let port = target::start("outside");
    env.proxy.account().create_function("tenant", TENANT);
    let requests = json!({ "request_parameters": {
        "overwrite:header.x-tenant": "$request.header.x-key", "append:querystring.from": "$${context.stage}-gateway",
        "remove:header.x-secret": "''",
    } });
    let responses = json!({ "response_parameters": {
        "200": { "append:header.x-inner": "two", "overwrite:header.x-seen": "$response.header.x-served-by" },
        "503": { "overwrite:statuscode": "502", "remove:header.x-inner": "''" },
    } });
    let both = with(&requests, &responses);
    let path = json!({ "request_parameters": { "overwrite:path": "/other/$${request.path.proxy}" } });
    env.apply(&json!({ "route_config": {
        "GET /function": with(&env.to("tenant"), &both),
        "GET /endpoint": with(&env.endpoint(port, "/a"), &both),
        "GET /path/{proxy+}": with(&env.endpoint(port, "/a"), &path),
    } }));
    let send = |path: &str| env.send("GET", path, Some("ada"));
    let answer = send("/function");
    assert_eq!((answer.body.as_str(), answer.headers["x-inner"].as_str()), ("ada", "one,two"));
    let answer = send("/function?status=503");
    assert_eq!((answer.status, answer.headers.get("x-inner")), (502, None));
    let answer = send("/endpoint");
    assert_eq!(answer.headers["x-seen"], "outside");
    let shown = answer.json();
    assert_eq!((&shown["headers"]["x-tenant"], &shown["path"]), (&json!("ada"), &json!("/a?from=%24default-gateway")));
    assert_eq!(send("/path/b/c").json()["path"], "/other/b/c");
    env.destroy();
}

#[test]
fn each_parameter_is_added_changed_and_removed_by_one_call() {
    let env = TestEnv::new();
    env.proxy.account().create_function("tenant", TENANT);
    let config = |requests: Value, responses: Value| {
        let parameters = json!({ "request_parameters": requests, "response_parameters": responses });
        json!({ "route_config": {
            "GET /a": with(&env.to("tenant"), &parameters),
            "GET /b": with(&env.to("tenant"), &parameters),
        } })
    };
    let update = ["UpdateIntegration integration.GET /a"];
    let one = json!({ "append:header.a": "1", "append:header.b": "1" });
    let codes = json!({ "200": { "append:header.a": "1" }, "404": { "append:header.a": "1" } });
    env.apply(&config(json!({}), json!({})));
    assert_eq!(env.change(&config(one.clone(), codes.clone())), update);
    assert_eq!(env.mapped(), (one, codes));

    // A changed value of a response reaches AWS with this very call.
    let other = json!({ "append:header.b": "2", "append:header.c": "1" });
    let codes = json!({ "200": { "append:header.a": "2", "append:header.b": "1" } });
    assert_eq!(env.change(&config(other.clone(), codes.clone())), update);
    assert_eq!(env.mapped(), (other.clone(), codes));
    // That AWS removes one of several parameters of a code is not documented.
    let fewer = json!({ "200": { "append:header.b": "1" } });
    let change = env.planned_change(&config(other.clone(), fewer.clone()));
    assert_eq!(change.objects, ["+integration.GET /a#2", "-integration.GET /a"]);
    assert_eq!(env.mapped(), (other, fewer));
    assert_eq!(env.change(&config(json!(null), json!({}))), ["UpdateIntegration integration.GET /a#2"]);
    assert_eq!(env.mapped(), (Value::Null, Value::Null));
    env.end();
}

#[test]
fn drift_of_parameters_is_named_without_values_and_corrected() {
    let env = TestEnv::new();
    let parameters = json!({
        "request_parameters": { "overwrite:header.x-origin": "secret" },
        "response_parameters": { "200": { "append:header.a": "1" } },
    });
    let config = json!({ "route_config": { "GET /a": with(&env.to("orders"), &parameters) } });
    env.apply(&config);
    let id = || text(&env.attribute("integration_ids")["GET /a"]);
    let drift = |members: Value| {
        env.api_call(
            "update_integration",
            with(&json!({ "IntegrationId": id(), "IntegrationType": "AWS_PROXY" }), &members),
        );
    };
    drift(json!({ "RequestParameters": { "overwrite:header.x-origin": "theirs", "append:header.b": "2" } }));
    assert_eq!(
        text(&env.drift()["integration.GET /a"]),
        "request parameter append:header.b is added; request parameter overwrite:header.x-origin has another value"
    );
    let first = id();
    env.apply_config();
    assert_eq!((id(), env.mapped().0), (first.clone(), parameters["request_parameters"].clone()));
    // One that no call removes.
    drift(json!({ "ResponseParameters": { "200": { "append:header.b": "2" } } }));
    assert_eq!(text(&env.drift()["integration.GET /a"]), "response parameter 200 append:header.b is added");
    env.apply_config();
    assert_ne!(id(), first);
    assert_eq!(env.mapped().1, parameters["response_parameters"]);

    // Parameters are ignored one by one.
    let ignoring = |origin: &str| {
        let mut config = with(&config, &json!({ "ignore_drift": ["integration.*"] }));
        config["route_config"]["GET /a"]["request_parameters"]["overwrite:header.x-origin"] = origin.into();
        config
    };
    env.apply(&ignoring("secret"));
    drift(json!({ "RequestParameters": { "append:header.b": "theirs" } }));
    env.workspace.assert_nothing_to_do();
    env.change(&ignoring("other"));
    let kept = json!({ "append:header.b": "theirs", "overwrite:header.x-origin": "other" });
    assert_eq!(env.mapped().0, kept);
    env.end();
}
