//! Property test: a valid configuration stays valid, whichever of its values are unknown.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value as Json, json};

use super::super::tests::{ORDERS, UNKNOWN, problems, targets, with};

const ROLE: &str = "arn:aws:iam::123456789012:role/r";

fn routes() -> impl Strategy<Value = Json> {
    let key = select(vec!["$default", "GET /", "ANY /x", "PUT /x/{id}", "GET /x/{id}/y", "GET /z/{p+}"]);
    let entry = (targets(), 50..30_001_i64, 0..4_usize).prop_map(|(target, timeout, authorization)| {
        with(
            target,
            json!({
                "timeout_milliseconds": timeout,
                "description": "a route",
                "authorizer_name": ([None, Some("a"), Some("j"), None][authorization]),
                "authorization_type": ([None, Some("CUSTOM"), None, Some("AWS_IAM")][authorization]),
                "authorization_scopes": (authorization == 2).then_some(["read"]),
            }),
        )
    });
    prop::collection::btree_map(key, entry, 1..6).prop_map(|it| json!({"route_config": it}))
}

fn authorizers() -> impl Strategy<Value = Json> {
    let uri = format!("arn:aws:apigateway:eu-central-1:lambda:path/2015-03-31/functions/{ORDERS}/invocations");
    let function = select(vec![
        json!({"authorizer_name": "auth:live"}),
        json!({"authorizer_name": ORDERS}),
        json!({"authorizer_name": "display name", "authorizer_uri": uri}),
    ]);
    let settings = select(vec![
        json!({"result_ttl_in_seconds": 0}),
        json!({"identity_sources": ["$request.header.Authorization", "$context.path"], "result_ttl_in_seconds": 60}),
        json!({"enable_simple_responses": true, "authorizer_payload_format_version": "2.0"}),
        json!({"authorizer_credentials_arn": ROLE}),
    ]);
    (function, settings).prop_map(|(function, settings)| json!({"faas_authorizers": {"a": with(function, settings)}, "jwt_authorizers": {"j": issuer()}}))
}

fn issuer() -> Json {
    json!({"issuer": "https://id.example.com", "audience": ["shop"], "identity_sources": ["$request.querystring.t"]})
}

fn logs() -> impl Strategy<Value = Json> {
    let format = select(vec![
        json!({}),
        json!({"access_log_format_type": "CLF"}),
        json!({"access_log_format_type": "CUSTOM", "custom_access_log_format": "$context.requestId"}),
    ]);
    let key = select(vec![
        json!({}),
        json!({"access_log_logservice_group_kms_key_id": "alias/logs"}),
        json!({"access_log_logservice_group_retention_in_days": 7, "access_log_logservice_group_tags": {"a": "b"}}),
        json!({"access_log_logservice_group_retention_in_days": 0}),
    ]);
    let to = |arn: &str, role: Option<&str>, distribution: Option<&str>| {
        json!({
            "access_log_logservice_group_subscription_destination_arn": arn,
            "access_log_logservice_group_subscription_role_arn": role,
            "access_log_logservice_group_subscription_distribution": distribution,
            "access_log_logservice_group_subscription_filter_pattern": "500",
        })
    };
    let subscription = select(vec![
        json!({}),
        to(ORDERS, None, None),
        to(ORDERS, Some(ROLE), Some("Random")),
        to("arn:aws:kinesis:eu-central-1:123456789012:stream/logs", Some(ROLE), Some("Random")),
        to("arn:aws:firehose:eu-central-1:123456789012:deliverystream/logs", Some(ROLE), None),
    ]);
    let group = prop::option::of(Just("/http/shop"));
    let logs = (group, format, key, subscription).prop_map(|(group, format, key, subscription)| {
        let group = json!({"access_log_logservice_group_name": group});
        with(with(with(group, format), key), subscription)
    });
    prop_oneof![Just(json!({})), logs]
}

fn gateways() -> impl Strategy<Value = Json> {
    let cors = select(vec![
        json!({}),
        json!({"cors_configuration": {"allow_origins": ["*"]}}),
        json!({"cors_configuration": {
            "allow_credentials": true, "allow_headers": ["a", "b"], "allow_methods": ["GET", "*"],
            "allow_origins": ["https://example.com", "http://*"], "expose_headers": ["*"], "max_age": 60,
        }}),
    ]);
    let domain = select(vec![
        json!({}),
        json!({"domain_name": "api.example.com", "certificate_domain": "*.example.com"}),
        json!({"certificate_domain": "*.example.com"}),
        json!({"domain_name": "api.example.com",
            "certificate_arn": "arn:aws:acm:eu-central-1:123456789012:certificate/0a1b2c3d"}),
        json!({"domain_name": "api.example.com", "create_dns_entry": true, "hosted_zone_id": "Z1"}),
    ]);
    (routes(), authorizers(), logs(), cors, domain).prop_map(|(routes, authorizers, logs, cors, domain)| {
        let tags = json!({"api_tags": {"a": "b", "c": "d"}, "stage_tags": {"e": "f"}, "api_version": "1",
            "stage_name": "v1", "stage_variables": {"a": "1"}, "stage_description": "Live."});
        [authorizers, logs, cors, domain, tags].into_iter().fold(routes, with)
    })
}

/// The JSON pointers of all values within another one.
fn pointers(value: &Json, base: &str) -> Vec<String> {
    let within: Vec<(String, &Json)> = match value {
        Json::Object(entries) => {
            let pointer = |key: &str| format!("{base}/{}", key.replace('~', "~0").replace('/', "~1"));
            entries.iter().map(|(key, it)| (pointer(key), it)).collect()
        }
        Json::Array(items) => items.iter().enumerate().map(|(index, it)| (format!("{base}/{index}"), it)).collect(),
        _ => Vec::new(),
    };
    within.into_iter().flat_map(|(path, it)| [vec![path.clone()], pointers(it, &path)].concat()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn unknown_values_keep_a_valid_configuration_valid(
        config in gateways(), chosen in prop::collection::vec(any::<Index>(), 1..8)
    ) {
        prop_assert_eq!(problems(config.clone()), vec![]);
        let pointers = pointers(&config, "");
        let mut partly = config;
        for index in chosen {
            // A pointer into a value that is already unknown does not exist any more.
            if let Some(value) = partly.pointer_mut(index.get::<String>(&pointers)) {
                *value = Json::from(UNKNOWN);
            }
        }
        prop_assert_eq!(problems(partly.clone()), vec![], "{}", partly);
    }
}
