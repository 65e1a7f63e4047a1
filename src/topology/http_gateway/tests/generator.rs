//! Random gateways.

use super::*;
use crate::topology::http_gateway::settings::settings;
use crate::topology::settings::{Picks, with_picks};

/// A configuration with some settings.
pub(super) fn config_with(config: serde_json::Value, picks: &Picks) -> GatewayConfig {
    let config = with_picks::<HttpGateway>(complete(config), &settings("eu-central-1"), picks);
    decoded(&with_defaults(&GatewayConfig::attributes(), &config))
}

/// The inputs of routes that say what the integration is.
pub(in crate::topology::http_gateway) fn targets() -> impl Strategy<Value = serde_json::Value> {
    let live = format!("{ORDERS}:live");
    let function = prop::sample::select(vec![ORDERS.to_string(), USERS.to_string(), live, FOREIGN.to_string()]);
    let role = "arn:aws:iam::123456789012:role/caller";
    let function = (function, any::<bool>(), prop::option::weighted(0.2, Just(role))).prop_map(|(arn, new, role)| {
        let version = if new { "2.0" } else { "1.0" };
        json!({ "faas_function_arn": arn, "payload_format_version": version, "credentials_arn": role })
    });
    let listener = "arn:aws:elasticloadbalancing:eu-central-1:123456789012:listener/app/a/1/2";
    let private = json!({ "integration_uri": listener, "vpc_link_id": "a1b2c3" });
    let others = prop::sample::select(vec![
        json!({ "integration_uri": "https://a.example.com/{proxy}" }),
        json!({ "integration_uri": "http://a.example.com", "integration_method": "GET",
            "request_parameters": { "overwrite:path": "$request.path" },
            "response_parameters": { "500": { "overwrite:statuscode": "502", "remove:header.server": "''" } } }),
        private.clone(),
        with(private, json!({ "tls_config": { "server_name_to_verify": "a.example.com" } })),
        json!({ "integration_subtype": "SQS-SendMessage", "credentials_arn": role, "request_parameters":
            { "QueueUrl": "https://sqs.eu-central-1.amazonaws.com/123456789012/a", "MessageBody": "$request.body" } }),
    ]);
    prop_oneof![3 => function, 1 => others]
}

/// The inputs of the stage.
fn some_stage() -> impl Strategy<Value = serde_json::Value> {
    let name = prop::sample::select(vec!["$default", "$default", "prod", "v1-a_b"]);
    let variables = prop::sample::select(vec![json!({}), json!({ "a": "1" }), json!({ "a": "2", "b": "x,y" })]);
    let description = prop::option::of(Just("Live."));
    (name, variables, description).prop_map(|(name, variables, description)| {
        json!({ "stage_name": name, "stage_variables": variables, "stage_description": description })
    })
}

/// Valid configurations.
pub(in crate::topology::http_gateway) fn gateways() -> impl Strategy<Value = serde_json::Value> {
    let entry = (targets(), 0..3_i64, prop::option::of("[ab]{0,1}"), 0..6_usize).prop_map(
        |(target, timeout, description, authorization)| {
            with(
                target,
                json!({
                    "timeout_milliseconds": 1000 + timeout,
                    "description": description,
                    "authorizer_name": ([None, Some("a0"), Some("a1"), Some("a2"), Some("a2"), None][authorization]),
                    "authorization_type": (authorization == 5).then_some("AWS_IAM"),
                    "authorization_scopes": (authorization == 4).then_some(["read"]),
                }),
            )
        },
    );
    let key = prop::sample::select(vec!["$default", "GET /", "ANY /x", "PUT /x/{id}", "GET /x/{id}/y", "GET /z/{p+}"]);
    let authorizer = (prop::sample::select(vec!["auth", "auth:live", FOREIGN, ORDERS]), any::<bool>(), any::<bool>())
        .prop_map(|(function, role, sources)| {
            json!({
                "authorizer_name": function,
                "authorizer_credentials_arn": role.then_some("arn:aws:iam::123456789012:role/r"),
                "identity_sources": sources.then(|| vec!["$request.header.Authorization"]),
            })
        });
    (
        prop::collection::btree_map(key, entry, 1..6),
        prop::collection::vec(authorizer, 2),
        prop::option::of(logs::some_logs()),
        any::<bool>(),
        domains::some_domain(),
        some_stage(),
    )
        .prop_map(|(routes, authorizers, logs, cors, domain, stage)| {
            let authorizers = authorizers.into_iter().enumerate().map(|(index, it)| (format!("a{index}"), it));
            let gateway = json!({
                "route_config": routes,
                "faas_authorizers": serde_json::Value::Object(authorizers.collect()),
                "jwt_authorizers": { "a2": { "issuer": "https://id.example.com/", "audience": ["shop"] } },
                "cors_configuration": cors.then(|| json!({ "allow_origins": ["*"], "max_age": 1 })),
            });
            let gateway = with(with(gateway, domain), stage);
            logs.map_or(gateway.clone(), |logs| with(gateway, logs::logging(logs)))
        })
}
