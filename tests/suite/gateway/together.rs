//! Gateways in one configuration with other resources.

use serde_json::json;

use super::snapshot::snapshot;
use super::{SECRET, SLOW, TestEnv, assert_turns_are_taken};

#[test]
fn two_gateways_that_call_one_function_lose_no_statement() {
    let bed = TestEnv::new();
    bed.proxy.latency(SLOW);
    let gateway = |name: &str, routes: serde_json::Value| json!({ "name": name, "route_config": routes });
    let one = gateway("one", json!({ "GET /a": bed.to("orders"), "GET /b": bed.to("users") }));
    let two = gateway("two", json!({ "GET /a": bed.to("users"), "GET /b": bed.to("orders") }));
    bed.configs(&[("this", &one), ("other", &two)], &json!({}));
    bed.apply_config();
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
        sorted(statements(bed.proxy.account())),
        [statement("orders", "one"), statement("orders", "two"), statement("users", "one"), statement("users", "two"),]
    );

    bed.configs(&[("this", &one)], &json!({}));
    bed.apply_config();
    assert_eq!(sorted(statements(bed.proxy.account())), [statement("orders", "one"), statement("users", "one")]);
    bed.destroy();
}

#[test]
fn a_function_and_an_authorizer_that_are_made_in_the_same_run_are_unknown_at_plan_and_no_problem() {
    let bed = TestEnv::with_terraform();
    let others = json!({ "terraform_data": {
        "function": { "input": bed.arn("orders") },
        "guard": { "input": "guard" },
        "name": { "input": "customers" },
    } });
    let gateway = json!({
        "route_config": {
            "GET /a": { "faas_function_arn": "${terraform_data.function.output}" },
            "GET /b": { "faas_function_arn": bed.arn("users"), "authorizer_name": "${terraform_data.name.output}" },
        },
        "faas_authorizers": { "customers": {
            "authorizer_name": "${terraform_data.guard.output}",
            "authorizer_payload_format_version": "2.0",
            "enable_simple_responses": true,
        } },
    });
    bed.configs(&[("this", &gateway)], &others);
    let plan = bed.workspace.plan_json(&[]);
    let changes = plan["resource_changes"].as_array().expect("a list");
    let change = &changes.iter().find(|it| it["type"] == "fgw_http_gateway").expect("it is made")["change"];
    assert_eq!(change["after_unknown"]["aws_objects"], true, "which objects there will be is not known");
    assert_eq!(change["after_unknown"]["route_ids"], json!({ "GET /a": true, "GET /b": true }), "but their keys are");
    assert_eq!(change["after_unknown"]["authorizer_ids"], json!({ "customers": true }));
    bed.workspace.apply_plan().succeeded();
    assert_turns_are_taken(&bed.proxy);
    bed.workspace.assert_nothing_to_do();
    let call = |path: &str, key: Option<&str>| bed.call("GET", path, key).status;
    assert_eq!((call("/a", None), call("/b", None), call("/b", Some(SECRET))), (200, 403, 200));
    bed.destroy();
}
