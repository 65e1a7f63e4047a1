//! Gateways in a configuration with other gateways and resources.

use serde_json::json;

use super::snapshot::snapshot;
use super::{SECRET, SLOW, TestEnv, assert_no_overlap};

#[test]
fn two_gateways_that_call_one_function_lose_no_statement() {
    let env = TestEnv::new();
    env.proxy.latency(SLOW);
    let gateway = |name: &str, routes: serde_json::Value| json!({ "name": name, "route_config": routes });
    let one = gateway("one", json!({ "GET /a": env.to("orders"), "GET /b": env.to("users") }));
    let two = gateway("two", json!({ "GET /a": env.to("users"), "GET /b": env.to("orders") }));
    env.configs(&[("this", &one), ("other", &two)], &json!({}));
    env.apply_config();
    let statements = |account| -> Vec<String> {
        snapshot(account).into_iter().filter(|line| line.starts_with("statement")).collect()
    };
    let statement = |function: &str, gateway: &str| {
        format!(
            "statement of {function}: Allow apigateway.amazonaws.com lambda:InvokeFunction from \
             arn:aws:execute-api:us-east-1:<account>:<{gateway}>/*/*"
        )
    };
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    assert_eq!(
        sorted(statements(env.proxy.account())),
        [statement("orders", "one"), statement("orders", "two"), statement("users", "one"), statement("users", "two"),]
    );

    env.configs(&[("this", &one)], &json!({}));
    env.apply_config();
    assert_eq!(sorted(statements(env.proxy.account())), [statement("orders", "one"), statement("users", "one")]);
    env.destroy();
}

#[test]
fn a_function_and_authorizer_of_the_same_run_are_accepted() {
    let env = TestEnv::with_terraform();
    let others = json!({ "terraform_data": {
        "function": { "input": env.arn("orders") },
        "guard": { "input": "guard" },
        "name": { "input": "customers" },
    } });
    let gateway = json!({
        "route_config": {
            "GET /a": { "faas_function_arn": "${terraform_data.function.output}" },
            "GET /b": { "faas_function_arn": env.arn("users"), "authorizer_name": "${terraform_data.name.output}" },
        },
        "faas_authorizers": { "customers": {
            "authorizer_name": "${terraform_data.guard.output}",
            "authorizer_payload_format_version": "2.0",
            "enable_simple_responses": true,
        } },
    });
    env.configs(&[("this", &gateway)], &others);
    let plan = env.workspace.plan_json(&[]);
    let changes = plan["resource_changes"].as_array().expect("a list");
    let change = &changes.iter().find(|it| it["type"] == "fgw_http_gateway").expect("it is created")["change"];
    assert_eq!(change["after_unknown"]["aws_objects"], true, "object keys are unknown");
    assert_eq!(change["after_unknown"]["route_ids"], json!({ "GET /a": true, "GET /b": true }), "route keys are known");
    assert_eq!(change["after_unknown"]["authorizer_ids"], json!({ "customers": true }));
    env.workspace.apply_plan().succeeded();
    assert_no_overlap(&env.proxy);
    env.workspace.assert_nothing_to_do();
    let call = |path: &str, key: Option<&str>| env.send("GET", path, key).status;
    assert_eq!((call("/a", None), call("/b", None), call("/b", Some(SECRET))), (200, 403, 200));
    env.end();
}
