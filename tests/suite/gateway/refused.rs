//! What is refused before anything is made or asked, and where it says so.

use serde_json::{Value, json};

use super::Bed;

/// The errors of a configuration, summary and detail of each.
fn errors(bed: &Bed) -> Vec<(String, String)> {
    let shown = bed.workspace.run(&["validate", "-json"]);
    let report: Value = serde_json::from_str(&shown.stdout).unwrap_or_else(|error| panic!("{error}: {shown}"));
    let told = report["diagnostics"].as_array().expect("a list").iter().filter(|it| it["severity"] == "error");
    told.map(|it| (super::text(&it["summary"]), super::text(&it["detail"]))).collect()
}

#[test]
fn wrong_inputs_are_refused_all_at_once_with_the_path_of_each() {
    let bed = Bed::new();
    let route = |more: Value| super::with(&bed.to("orders"), &more);
    bed.config(&json!({
        "name": "",
        "route_config": {
            "get /x": route(json!({})),
            "GET /{rest+}/x": route(json!({})),
            "GET /y/{a}": route(json!({ "timeout_milliseconds": 10 })),
            "PUT /y/{b}": route(json!({ "payload_format_version": "3.0" })),
            "GET /z": { "faas_function_arn": "orders" },
            "GET /w": route(json!({ "authorizer_name": "nobody" })),
        },
        "faas_authorizers": { "a": { "authorizer_name": "guard", "result_ttl_in_seconds": 4000 } },
        "cors_configuration": {},
        "api_tags": { "fgw:mine": "x" },
        "access_log_logservice_group_retention_in_days": 2,
        "access_log_format_type": "XML",
        "timeouts": { "create": "soon" },
    }));
    let mut places: Vec<String> = errors(&bed).into_iter().map(|(summary, _)| summary).collect();
    places.sort();
    let expected = [
        "access_log_format_type",
        "access_log_logservice_group_retention_in_days",
        r#"api_tags["fgw:mine"]"#,
        "cors_configuration",
        r#"faas_authorizers["a"].result_ttl_in_seconds"#,
        "name",
        r#"route_config["GET /w"].authorizer_name"#,
        r#"route_config["GET /y/{a}"].timeout_milliseconds"#,
        r#"route_config["GET /z"].faas_function_arn"#,
        r#"route_config["GET /{rest+}/x"]"#,
        r#"route_config["PUT /y/{b}"]"#,
        r#"route_config["PUT /y/{b}"].payload_format_version"#,
        r#"route_config["get /x"]"#,
        "timeouts.create",
    ];
    assert_eq!(places, expected.map(|place| format!("Invalid value for {place}")));
    assert_eq!(bed.proxy.calls().len(), 0);
}

#[test]
fn inputs_that_this_version_does_not_carry_out_are_refused_and_not_ignored() {
    let bed = Bed::new();
    let inputs = json!({
        "access_log_logservice_group_kms_key_id": "alias/logs",
        "access_log_logservice_group_subscription_destination_arn": bed.arn("users"),
        "access_log_logservice_group_subscription_distribution": "Random",
        "access_log_logservice_group_subscription_filter_pattern": "500",
        "access_log_logservice_group_subscription_role_arn": "arn:aws:iam::123456789012:role/logs",
        "certificate_domain": "*.example.com",
        "create_dns_entry": true,
        "domain_name": "api.example.com",
        "hosted_zone_id": "Z1",
    });
    let basis = json!({
        "access_log_logservice_group_name": "/shop/access", "route_config": { "GET /a": bed.to("orders") },
    });
    bed.config(&super::with(&basis, &inputs));
    let found = errors(&bed);
    for name in inputs.as_object().expect("a map").keys() {
        let refusal = format!("{name} is not supported yet in this version.");
        assert!(found.iter().any(|(_, detail)| detail.contains(&refusal)), "{name} is not refused: {found:#?}");
    }
    assert_eq!(found.len(), 9, "{found:#?}");
    bed.config(&basis);
    bed.workspace.validate().succeeded();
}
