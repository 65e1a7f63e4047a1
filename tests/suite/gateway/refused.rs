//! What is refused before anything is made or asked, and where it says so.

use serde_json::{Value, json};

use super::TestEnv;

/// The errors of a configuration, summary and detail of each.
fn errors(bed: &TestEnv) -> Vec<(String, String)> {
    let shown = bed.workspace.run(&["validate", "-json"]);
    let report: Value = serde_json::from_str(&shown.stdout).unwrap_or_else(|error| panic!("{error}: {shown}"));
    let told = report["diagnostics"].as_array().expect("a list").iter().filter(|it| it["severity"] == "error");
    told.map(|it| (super::text(&it["summary"]), super::text(&it["detail"]))).collect()
}

#[test]
fn wrong_inputs_are_refused_all_at_once_with_path_value_and_way_out() {
    let bed = TestEnv::with_terraform();
    let route = |more: Value| super::with(&bed.to("orders"), &more);
    let wrong = json!({
        "name": "",
        "description": "x".repeat(1025),
        "route_config": {
            "get /x": route(json!({})),
            "GET /{rest+}/x": route(json!({})),
            "GET /v/{a}/{a}": route(json!({})),
            "GET /y/{a}": route(json!({ "timeout_milliseconds": 49 })),
            "PUT /y/{b}": route(json!({ "payload_format_version": "3.0" })),
            "POST /y": route(json!({ "timeout_milliseconds": 30001 })),
            "GET /z": { "faas_function_arn": "orders" },
            "GET /w": route(json!({ "authorizer_name": "nobody" })),
        },
        "faas_authorizers": {
            "a": { "authorizer_name": "guard", "result_ttl_in_seconds": 4000 },
            "b": { "authorizer_name": "guard", "result_ttl_in_seconds": 60, "authorizer_uri": bed.arn("guard") },
            "c": {
                "authorizer_name": "guard", "enable_simple_responses": true, "identity_sources": ["Authorization"],
                "authorizer_credentials_arn": "arn:aws:iam::123456789012:user/x",
            },
        },
        "cors_configuration": {
            "allow_credentials": true, "allow_origins": ["*", "example.com"], "allow_methods": ["GET", "get"],
            "allow_headers": ["x-id", "X-Id"],
        },
        "api_tags": { "fgw:mine": "x" },
        "stage_tags": { "a": "x".repeat(257) },
        "access_log_logservice_group_name": "a b",
        "access_log_logservice_group_retention_in_days": 2,
        "access_log_logservice_group_kms_key_id": "alias/aws/logs",
        "access_log_logservice_group_subscription_destination_arn": bed.arn("users"),
        "access_log_logservice_group_subscription_role_arn": "arn:aws:iam::123456789012:role/logs",
        "access_log_logservice_group_subscription_distribution": "Random",
        "access_log_logservice_group_subscription_filter_pattern": "x".repeat(1025),
        "access_log_format_type": "CUSTOM",
        "custom_access_log_format": "$context.status",
        "domain_name": "API.example.com",
        "certificate_domain": "https://example.com",
        "hosted_zone_id": "/hostedzone/Z1",
        "timeouts": { "create": "soon" },
    });
    bed.config(&wrong);
    // Each with something of the value, and of the way out.
    let expected = [
        ("access_log_logservice_group_kms_key_id", "alias/aws/logs", "a key of your own"),
        ("access_log_logservice_group_name", "a b", "Use letters, digits"),
        ("access_log_logservice_group_retention_in_days", "2 is not", "Set it to one of 1, 3, 5"),
        ("access_log_logservice_group_subscription_distribution", "Random", "Remove access_log_"),
        ("access_log_logservice_group_subscription_filter_pattern", "1025", "Shorten it"),
        ("access_log_logservice_group_subscription_role_arn", "role/logs", "Remove access_log_"),
        (r#"api_tags["fgw:mine"]"#, "fgw:", "Choose another key"),
        ("certificate_domain", "https://example.com", r#"Write the domain alone: "example.com""#),
        ("cors_configuration.allow_headers[1]", "X-Id", "Remove one"),
        ("cors_configuration.allow_methods[1]", "get", "Use one of GET"),
        ("cors_configuration.allow_origins[0]", "allow_credentials is true", "Name the origins"),
        ("cors_configuration.allow_origins[1]", "example.com", "Write a scheme"),
        ("custom_access_log_format", "$context.status", "Add $context.requestId"),
        ("description", "1025", "Shorten it"),
        ("domain_name", "API.example.com", r#"Write "api.example.com""#),
        (r#"faas_authorizers["a"].result_ttl_in_seconds"#, "4000", "from 0 to 3600"),
        (r#"faas_authorizers["b"].authorizer_uri"#, "function:guard", "authorizer_name"),
        (r#"faas_authorizers["b"].result_ttl_in_seconds"#, "60 seconds", "Set identity_sources"),
        (r#"faas_authorizers["c"].authorizer_credentials_arn"#, "user/x", "Give an ARN such as"),
        (r#"faas_authorizers["c"].enable_simple_responses"#, r#""1.0""#, r#"to "2.0""#),
        (r#"faas_authorizers["c"].identity_sources[0]"#, "Authorization", "$request.header."),
        ("hosted_zone_id", "/hostedzone/Z1", r#"Write "Z1""#),
        ("name", "0 characters", "Give it a value"),
        (r#"route_config["GET /v/{a}/{a}"]"#, r#""a""#, "its own name"),
        (r#"route_config["GET /w"].authorizer_name"#, "nobody", r#""a", "b", "c""#),
        (r#"route_config["GET /y/{a}"].timeout_milliseconds"#, "49", "from 50 to 30000"),
        (r#"route_config["GET /z"].faas_function_arn"#, "orders", "Give an ARN such as"),
        (r#"route_config["GET /{rest+}/x"]"#, "greedy", "last part"),
        (r#"route_config["POST /y"].timeout_milliseconds"#, "30001", "from 50 to 30000"),
        (r#"route_config["PUT /y/{b}"]"#, "GET /y/{a}", "Call the variable the same"),
        (r#"route_config["PUT /y/{b}"].payload_format_version"#, "3.0", "one of 1.0, 2.0"),
        (r#"route_config["get /x"]"#, "get", "in capitals"),
        (r#"stage_tags["a"]"#, "257", "Shorten it"),
        ("timeouts.create", "soon", "Set it to"),
    ];
    let mut found = errors(&bed);
    found.sort();
    let places: Vec<&str> = found.iter().map(|(summary, _)| summary.as_str()).collect();
    assert_eq!(places, expected.map(|(place, ..)| format!("Invalid value for {place}")));
    for ((place, value, way_out), (_, detail)) in expected.into_iter().zip(&found) {
        assert!(detail.contains(value) && detail.contains(way_out), "{place}: {detail}");
    }
    assert_eq!(bed.proxy.calls().len(), 0);
}

#[test]
fn an_input_that_would_have_no_effect_is_refused_and_not_ignored() {
    let bed = TestEnv::with_terraform();
    let routes = json!({ "route_config": { "GET /a": bed.to("orders") } });
    let logs = json!({
        "access_log_logservice_group_kms_key_id": "alias/logs",
        "access_log_logservice_group_subscription_destination_arn": bed.arn("users"),
        "access_log_logservice_group_subscription_distribution": "Random",
        "access_log_logservice_group_subscription_filter_pattern": "500",
        "access_log_logservice_group_subscription_role_arn": "arn:aws:iam::123456789012:role/logs",
        "access_log_logservice_group_retention_in_days": 7,
        "access_log_logservice_group_tags": { "a": "b" },
        "access_log_format_type": "CLF",
    });
    let of_a_domain = json!({ "certificate_domain": "*.example.com", "create_dns_entry": true });
    bed.config(&super::with(&super::with(&routes, &logs), &of_a_domain));
    let found = errors(&bed);
    for name in logs.as_object().expect("a map").keys() {
        let refusal = format!("{name} is set, but access logs are off");
        assert!(found.iter().any(|(_, detail)| detail.contains(&refusal)), "{name} is not refused: {found:#?}");
    }
    for (name, missing) in [("certificate_domain", "domain_name"), ("create_dns_entry", "hosted_zone_id")] {
        let names = |summary: &str, detail: &str| summary.ends_with(name) && detail.contains(missing);
        assert!(found.iter().any(|(summary, detail)| names(summary, detail)), "{name} is not refused: {found:#?}");
    }
    bed.config(&routes);
    bed.workspace.validate().succeeded();
}

#[test]
fn what_only_another_resource_will_tell_is_no_problem() {
    let bed = TestEnv::with_terraform();
    let later = "${terraform_data.later.output}";
    let attributes = json!({
        "name": later,
        "route_config": {
            "GET /a": { "faas_function_arn": later, "authorizer_name": later, "description": later },
            "GET /b": bed.guarded("orders", "a"),
        },
        "faas_authorizers": { "a": {
            "authorizer_name": later, "authorizer_uri": later, "identity_sources": [later],
            "authorizer_credentials_arn": later, "result_ttl_in_seconds": 60,
        } },
        "cors_configuration": { "allow_credentials": true, "allow_origins": [later], "allow_headers": [later, later] },
        "api_tags": { "a": later },
        "access_log_logservice_group_name": later,
        "access_log_logservice_group_kms_key_id": later,
        "access_log_logservice_group_subscription_destination_arn": later,
        "access_log_logservice_group_subscription_role_arn": "arn:aws:iam::123456789012:role/logs",
        "access_log_logservice_group_subscription_distribution": "Random",
        "access_log_format_type": "CUSTOM",
        "custom_access_log_format": later,
        "domain_name": later,
        "certificate_domain": "*.example.com",
        "create_dns_entry": true,
        "hosted_zone_id": later,
    });
    bed.configs(&[("this", &attributes)], &json!({ "terraform_data": { "later": { "input": "x" } } }));
    bed.workspace.validate().succeeded();
}
