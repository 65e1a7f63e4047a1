//! Several stages of one API.

use serde_json::{Value, json};

use super::Gateway;
use crate::support::http;

#[test]
fn stages_merge_variables_and_serve_their_own_deployments() {
    let gateway = Gateway::new();
    let account = gateway.proxy.account();
    let named = |more: Value| crate::gateway::with(&json!({"StageName": "v1"}), &more);
    let variables = |sent: Value| json!({ "StageVariables": sent });
    for invalid in [
        json!({"StageName": "a.b"}),
        named(variables(json!({"a-b": "1"}))),
        named(variables(json!({"a": "b c"}))),
        named(variables(json!({"a": ""}))),
        named(json!({"Description": "x".repeat(1025)})),
    ] {
        assert_eq!(gateway.rejected("create_stage", invalid.clone()), "BadRequestException", "{invalid}");
    }
    let first = json!({"AutoDeploy": true, "StageVariables": {"a": "1", "b": "2"}, "Description": "first"});
    gateway.call("create_stage", named(first));
    let changes = json!({"StageVariables": {"b": "", "c": "3"}, "Description": ""});
    let shown = gateway.call("update_stage", named(changes));
    assert_eq!((&shown["StageVariables"], &shown["Description"]), (&json!({"a": "1", "c": "3"}), &json!("first")));

    let answers = || {
        ["/hello", "/v1/hello", "/hello2", "/v1/hello2"]
            .map(|path| http::gateway(account, &gateway.api, "GET", path).send().expect("a response").status)
    };
    assert_eq!(answers(), [200, 200, 404, 404]);
    gateway.call("update_stage", named(json!({"AutoDeploy": false})));
    gateway.call(
        "create_route",
        json!({"RouteKey": "GET /hello2", "Target": format!("integrations/{}", gateway.integration)}),
    );
    assert_eq!(answers(), [200, 200, 200, 404], "the other stage serves its own deployment");
    gateway.call("delete_stage", json!({"StageName": "$default"}));
    assert_eq!(answers(), [404, 200, 404, 404]);
    for number in 2..=10 {
        gateway.call("create_stage", json!({"StageName": format!("s{number}")}));
    }
    assert_eq!(gateway.rejected("create_stage", json!({"StageName": "s11"})), "ConflictException");
}
