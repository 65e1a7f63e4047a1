//! Invalid inputs, which validation reports with their paths before it calls AWS.

use serde_json::{Value, json};

use super::TestEnv;

/// The errors of a configuration, and the warnings that are errors of a plan, each as summary and detail.
fn errors(env: &TestEnv) -> Vec<(String, String)> {
    let shown = env.workspace.run(&["validate", "-json"]);
    let report: Value = serde_json::from_str(&shown.stdout).unwrap_or_else(|error| panic!("{error}: {shown}"));
    let is_rejected = |it: &&Value| {
        it["severity"] == "error" || it["detail"].as_str().is_some_and(|text| text.contains("A plan rejects this"))
    };
    let found = report["diagnostics"].as_array().expect("a list").iter().filter(is_rejected);
    found.map(|it| (super::text(&it["summary"]), super::text(&it["detail"]))).collect()
}

#[test]
fn invalid_inputs_are_reported_together_with_path_and_hint() {
    let env = TestEnv::with_terraform();
    let route = |more: Value| super::with(&env.to("orders"), &more);
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
            "GET /w": route(json!({ "authorizer_name": "absent" })),
        },
        "faas_authorizers": {
            "a": { "authorizer_name": "guard", "result_ttl_in_seconds": 4000 },
            "b": { "authorizer_name": "guard", "result_ttl_in_seconds": 60, "authorizer_uri": env.arn("guard") },
            "c": {
                "authorizer_name": "guard", "enable_simple_responses": true, "identity_sources": ["Authorization"],
                "authorizer_credentials_arn": "arn:aws:iam::123456789012:user/x",
            },
        },
        "cors_configuration": {
            "allow_credentials": true, "allow_origins": ["*", "example.com", "capacitor://localhost"], "allow_methods": ["GET", "get"],
            "allow_headers": ["x-id", "X-Id"],
        },
        "api_tags": { "fgw:mine": "x" },
        "stage_tags": { "a": "x".repeat(257) },
        "access_log_logservice_group_name": "a b",
        "access_log_logservice_group_retention_in_days": 2,
        "access_log_logservice_group_kms_key_id": "alias/aws/logs",
        "access_log_logservice_group_subscription_destination_arn": env.arn("users"),
        "access_log_logservice_group_subscription_filter_pattern": "x".repeat(1025),
        "access_log_format_type": "CUSTOM",
        "custom_access_log_format": "$context.status",
        "domain_name": "API.example.com",
        "certificate_arn": "arn:aws:iam::123456789012:server-certificate/x",
        "certificate_domain": "https://example.com",
        "hosted_zone_id": "/hostedzone/Z1",
        "timeouts": { "create": "soon" },
    });
    env.config(&wrong);
    // The path of each, a part of the message with the value, and a part of the hint.
    let expected = [
        ("access_log_logservice_group_kms_key_id", "alias/aws/logs", "a customer-managed key"),
        ("access_log_logservice_group_name", "a b", "a name of 1 to 512 letters, digits"),
        ("access_log_logservice_group_retention_in_days", "2 days are not", "Set it to one of 0, 1, 3"),
        ("access_log_logservice_group_subscription_filter_pattern", "1025", "a text of at most 1024 characters"),
        (r#"api_tags["fgw:mine"]"#, "fgw:", "Choose another key"),
        ("certificate_arn", "server-certificate/x", "Use an ARN such as"),
        ("certificate_arn", "server-certificate/x", "Remove certificate_domain"),
        ("certificate_domain", "https://example.com", r#"Write only the domain: "example.com""#),
        ("cors_configuration.allow_headers[1]", "X-Id", "Remove one"),
        ("cors_configuration.allow_methods[1]", "get", "Use one of GET"),
        ("cors_configuration.allow_origins[0]", "allow_credentials is true", "Name the origins"),
        ("cors_configuration.allow_origins[1]", "example.com", "Write http or https"),
        ("cors_configuration.allow_origins[2]", "capacitor://localhost", "Write http or https"),
        ("custom_access_log_format", "$context.status", "Add $context.requestId"),
        ("description", "1025", "a text of at most 1024 characters"),
        ("domain_name", "API.example.com", r#"Write "api.example.com""#),
        (r#"faas_authorizers["a"].result_ttl_in_seconds"#, "4000", "from 0 to 3600"),
        (r#"faas_authorizers["b"].authorizer_uri"#, "function:guard", "authorizer_name"),
        (r#"faas_authorizers["b"].result_ttl_in_seconds"#, "60 seconds", "Set identity_sources"),
        (r#"faas_authorizers["c"].authorizer_credentials_arn"#, "user/x", "Set it to an ARN such as"),
        (r#"faas_authorizers["c"].enable_simple_responses"#, r#""1.0""#, r#"to "2.0""#),
        (r#"faas_authorizers["c"].identity_sources[0]"#, "Authorization", "$request.header."),
        ("hosted_zone_id", "/hostedzone/Z1", r#"Write "Z1""#),
        ("name", "0 characters", "a text of 1 to 128 characters"),
        (r#"route_config["GET /v/{a}/{a}"]"#, r#""a""#, "its own name"),
        (r#"route_config["GET /w"].authorizer_name"#, "absent", r#""a", "b", "c""#),
        (r#"route_config["GET /y/{a}"].timeout_milliseconds"#, "49", "from 50 to 30000"),
        (r#"route_config["GET /z"].faas_function_arn"#, "orders", "Use an ARN such as"),
        (r#"route_config["GET /{rest+}/x"]"#, "greedy", "last part"),
        (r#"route_config["POST /y"].timeout_milliseconds"#, "30001", "from 50 to 30000"),
        (r#"route_config["PUT /y/{b}"]"#, "GET /y/{a}", "Use the same variable name"),
        (r#"route_config["PUT /y/{b}"].payload_format_version"#, "3.0", "one of 1.0, 2.0"),
        (r#"route_config["get /x"]"#, "get", "Use GET."),
        (r#"stage_tags["a"]"#, "257", "Shorten it"),
        ("timeouts.create", "soon", "Set it to"),
    ];
    let mut found = errors(&env);
    found.sort();
    let places: Vec<&str> = found.iter().map(|(summary, _)| summary.as_str()).collect();
    assert_eq!(places, expected.map(|(place, ..)| format!("Invalid value for {place}")));
    for ((place, value, hint), (_, detail)) in expected.into_iter().zip(&found) {
        assert!(detail.contains(value) && detail.contains(hint), "{place}: {detail}");
    }
    assert_eq!(env.proxy.calls().len(), 0);
}

#[test]
fn inputs_without_an_effect_cause_warnings() {
    let env = TestEnv::with_terraform();
    let routes = json!({ "route_config": { "GET /a": env.to("orders") } });
    let logs = json!({
        "access_log_logservice_group_kms_key_id": "alias/logs",
        "access_log_logservice_group_subscription_destination_arn": env.arn("users"),
        "access_log_logservice_group_subscription_distribution": "Random",
        "access_log_logservice_group_subscription_filter_pattern": "500",
        "access_log_logservice_group_subscription_role_arn": "arn:aws:iam::123456789012:role/logs",
        "access_log_logservice_group_retention_in_days": 7,
        "access_log_logservice_group_tags": { "a": "b" },
        "access_log_format_type": "CUSTOM",
        "custom_access_log_format": "$context.requestId",
    });
    let certificate = json!({
        "certificate_arn": "arn:aws:acm:us-east-1:123456789012:certificate/0", "certificate_domain": "*.example.com",
    });
    env.config(&super::with(&super::with(&routes, &logs), &certificate));
    env.workspace.validate().succeeded();
    let plan = env.workspace.plan(&[]);
    let of_domain = ["certificate_arn", "certificate_domain"];
    for name in logs.as_object().expect("a map").keys().map(String::as_str).chain(of_domain) {
        assert!(plan.says(&format!("Warning: fgw_http_gateway shop: {name}")), "{name}: {plan}");
        let reason = match name {
            _ if of_domain.contains(&name) => "domain_name is not set",
            _ => "access logs are off, because access_log_logservice_group_name is not set",
        };
        assert!(plan.says(&format!("{name} has no effect: {reason}")), "{name}: {plan}");
    }
    env.workspace.apply_plan().succeeded();
    assert_eq!(env.proxy.mutations().iter().filter(|it| it.call.service == "logs").count(), 0);
    assert_eq!(env.proxy.count("DescribeKey"), 0, "the key is not needed");
    env.assert_plan_changes_nothing();

    // With the group, all of them have an effect, except those of a stream.
    let group = json!({
        "access_log_logservice_group_name": "/shop/access", "access_log_logservice_group_kms_key_id": null,
    });
    env.config(&super::with(&super::with(&routes, &logs), &group));
    let plan = env.workspace.plan(&[]);
    for name in
        ["access_log_logservice_group_subscription_distribution", "access_log_logservice_group_subscription_role_arn"]
    {
        assert!(plan.says(&format!("{name} has no effect: the destination")), "{name}: {plan}");
    }
    assert_eq!(plan.stdout.matches("has no effect").count(), 2, "{plan}");
    env.workspace.apply_plan().succeeded();
    env.assert_plan_changes_nothing();
    env.destroy();
}

#[test]
fn a_record_without_a_domain_is_rejected() {
    let env = TestEnv::with_terraform();
    env.config(&json!({ "route_config": { "GET /a": env.to("orders") }, "create_dns_entry": true }));
    let found = errors(&env);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].0, "Invalid value for create_dns_entry");
    assert!(found[0].1.contains("domain_name and hosted_zone_id"), "{found:#?}");
}

#[test]
fn an_authorizer_above_the_default_quota_is_a_warning_at_plan() {
    let env = TestEnv::new();
    let authorizers = |count: usize| {
        let entry = |number: usize| (format!("a{number}"), json!({ "authorizer_name": "guard" }));
        let authorizers: serde_json::Map<String, Value> = (0..count).map(entry).collect();
        json!({ "route_config": { "GET /a": env.to("orders") }, "faas_authorizers": authorizers })
    };
    env.config(&authorizers(11));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("There are 11 authorizers, but AWS allows 10 per API by default"), "{plan}");
    let run = env.workspace.apply_plan();
    assert_ne!(run.code, 0, "AWS rejects the last one: {run}");
    assert!(run.says("Maximum number of authorizers for this API has been reached"), "{run}");
    assert_eq!(env.proxy.count("CreateAuthorizer"), 11, "the rejected call is not retried");
    env.config(&authorizers(10));
    let plan = env.workspace.plan(&[]);
    assert!(!plan.says("by default"), "{plan}");
    env.destroy();
}

#[test]
fn values_that_aws_rejects_are_rejected_at_plan() {
    let env = TestEnv::new();
    let routes = json!({ "route_config": { "GET /a": env.to("orders") } });
    let aws_error = |service: &str, method: &str, arguments: Value| {
        env.proxy.try_boto(service, method, arguments).expect_err("AWS rejects it").message
    };
    let cors = json!({ "AllowOrigins": ["https://example.com", "capacitor://localhost"] });
    let origin = aws_error(
        "apigatewayv2",
        "create_api",
        json!({ "Name": "a", "ProtocolType": "HTTP", "CorsConfiguration": cors }),
    );
    assert!(origin.contains("Invalid format for origin capacitor://localhost"), "{origin}");
    env.proxy.account().boto("logs", "create_log_group", json!({ "logGroupName": "/shop#1" }));
    let arn = format!("arn:aws:logs:us-east-1:{}:log-group:/shop#1", env.proxy.account().id);
    let tags = aws_error("logs", "list_tags_for_resource", json!({ "resourceArn": arn }));
    assert!(tags.contains("failed to satisfy constraint"), "{tags}");
    env.proxy.clear_calls();
    for (wrong, text) in [
        (
            json!({ "cors_configuration": { "allow_origins": ["capacitor://localhost"] } }),
            "only the schemes http and https",
        ),
        (json!({ "access_log_logservice_group_name": "/shop#1" }), "does not support tags on such a log group"),
    ] {
        env.config(&super::with(&routes, &wrong));
        let plan = env.workspace.plan(&[]);
        assert!(plan.code == 1 && plan.says(text), "{text}: {plan}");
    }
    assert_eq!(env.proxy.calls().len(), 0);
    env.proxy.account().boto("logs", "delete_log_group", json!({ "logGroupName": "/shop#1" }));
}

#[test]
fn values_of_parameters_are_checked_before_the_first_call() {
    let env = TestEnv::new();
    env.proxy.clear_calls();
    let route =
        |parameters: Value| json!({ "route_config": { "GET /a/{id}": super::with(&env.to("orders"), &parameters) } });
    for (parameters, text) in [
        (json!({ "request_parameters": { "append:header.a": "$request.headers.b" } }), "Write \"header\""),
        (json!({ "request_parameters": { "overwrite:path": "/$${request.path.name}" } }), "The path has id."),
        (json!({ "response_parameters": { "500": { "overwrite:statuscode": "bad" } } }), "200 to 599"),
    ] {
        env.config(&route(parameters));
        let plan = env.workspace.plan(&[]);
        assert!(plan.code == 1 && plan.says(text), "{text}: {plan}");
    }
    assert_eq!(env.proxy.calls().len(), 0);
}

#[test]
fn unknown_values_are_accepted_by_the_validation() {
    let env = TestEnv::with_terraform();
    let later = "${terraform_data.later.output}";
    let attributes = json!({
        "name": later,
        "route_config": {
            "GET /a": { "faas_function_arn": later, "authorizer_name": later, "description": later },
            "GET /b": env.guarded("orders", "a"),
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
        "certificate_arn": later,
        "certificate_domain": "*.example.com",
        "create_dns_entry": true,
        "hosted_zone_id": later,
    });
    env.configs(&[("this", &attributes)], &json!({ "terraform_data": { "later": { "input": "x" } } }));
    env.workspace.validate().succeeded();
}
