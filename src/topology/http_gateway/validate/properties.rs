//! What holds for every gateway: a valid configuration stays valid, whatever of it is not known yet.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value as Json, json};

use super::super::tests::{FOREIGN, ORDERS, UNKNOWN, problems, with};

const ROLE: &str = "arn:aws:iam::123456789012:role/r";

fn routes() -> impl Strategy<Value = Json> {
    let key = select(vec!["$default", "GET /", "ANY /x", "PUT /x/{id}", "GET /x/{id}/y", "GET /z/{p+}"]);
    let entry = (select(vec![ORDERS, FOREIGN]), 50..30_001_i64, select(vec!["1.0", "2.0"]), any::<bool>()).prop_map(
        |(arn, timeout, payload, guarded)| {
            json!({
                "faas_function_arn": arn,
                "timeout_milliseconds": timeout,
                "payload_format_version": payload,
                "description": "a route",
                "authorizer_name": guarded.then_some("a"),
            })
        },
    );
    prop::collection::btree_map(key, entry, 1..6).prop_map(|it| json!({"route_config": it}))
}

fn authorizers() -> impl Strategy<Value = Json> {
    let uri = format!("arn:aws:apigateway:eu-central-1:lambda:path/2015-03-31/functions/{ORDERS}/invocations");
    let function = select(vec![
        json!({"authorizer_name": "auth:live"}),
        json!({"authorizer_name": ORDERS}),
        json!({"authorizer_name": "for people", "authorizer_uri": uri}),
    ]);
    let settings = select(vec![
        json!({"result_ttl_in_seconds": 0}),
        json!({"identity_sources": ["$request.header.Authorization", "$context.path"], "result_ttl_in_seconds": 60}),
        json!({"enable_simple_responses": true, "authorizer_payload_format_version": "2.0"}),
        json!({"authorizer_credentials_arn": ROLE}),
    ]);
    (function, settings).prop_map(|(function, settings)| json!({"faas_authorizers": {"a": with(function, settings)}}))
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
        to("arn:aws:kinesis:eu-central-1:123456789012:stream/logs", Some(ROLE), Some("Random")),
        to("arn:aws:firehose:eu-central-1:123456789012:deliverystream/logs", Some(ROLE), None),
    ]);
    let logs = (format, key, subscription).prop_map(|(format, key, subscription)| {
        let group = json!({"access_log_logservice_group_name": "/http/shop"});
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
        json!({"domain_name": "api.example.com", "create_dns_entry": true, "hosted_zone_id": "Z1"}),
    ]);
    (routes(), authorizers(), logs(), cors, domain).prop_map(|(routes, authorizers, logs, cors, domain)| {
        let tags = json!({"api_tags": {"a": "b", "c": "d"}, "stage_tags": {"e": "f"}, "api_version": "1"});
        [authorizers, logs, cors, domain, tags].into_iter().fold(routes, with)
    })
}

/// The way to every value within another one.
fn places(value: &Json, place: &str) -> Vec<String> {
    let within: Vec<(String, &Json)> = match value {
        Json::Object(entries) => {
            let pointer = |key: &str| format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"));
            entries.iter().map(|(key, it)| (pointer(key), it)).collect()
        }
        Json::Array(items) => items.iter().enumerate().map(|(index, it)| (format!("{place}/{index}"), it)).collect(),
        _ => Vec::new(),
    };
    within.into_iter().flat_map(|(place, it)| [vec![place.clone()], places(it, &place)].concat()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_valid_configuration_has_no_problems_whatever_of_it_is_unknown(
        config in gateways(), chosen in prop::collection::vec(any::<Index>(), 1..8)
    ) {
        prop_assert_eq!(problems(config.clone()), vec![]);
        let places = places(&config, "");
        let mut partly = config;
        for place in chosen {
            // A value within another one that is unknown already is gone.
            if let Some(value) = partly.pointer_mut(place.get::<String>(&places)) {
                *value = Json::from(UNKNOWN);
            }
        }
        prop_assert_eq!(problems(partly.clone()), vec![], "{}", partly);
    }
}
