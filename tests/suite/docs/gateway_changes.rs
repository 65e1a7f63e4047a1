//! Examples that change every input of `fgw_http_gateway`.

use serde_json::{Value as Json, json};

use super::changes::{Example, Exceptions, assert_effects, assert_way_back, from_nothing, timeouts, with};
use fgw::model::{Certificate, Facts, Found};
use fgw::topology::http_gateway::HttpGateway;

/// The prefix of the ARNs of functions in the account.
const FUNCTION: &str = "arn:aws:lambda:eu-central-1:123456789012:function";

/// The certificates for the configured domain, and a KMS key.
pub(super) fn facts(config: &Json) -> Facts {
    let certificate = |name: &str, names: &[&str], not_before: i64| Certificate {
        arn: format!("arn:aws:acm:eu-central-1:123456789012:certificate/{name}"),
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        not_before,
        ..Certificate::default()
    };
    let domain = config["certificate_domain"].as_str().or(config["domain_name"].as_str());
    let mut certificates = vec![certificate("all", &["*.example.com"], 1)];
    if domain == Some("api.example.com") {
        certificates.push(certificate("one", &["api.example.com"], 2));
    }
    Facts {
        certificates: Some(certificates),
        kms_key: Some(Found::There(
            "arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d-12ab-34cd-56ef-1234567890ab".into(),
        )),
        ..Facts::default()
    }
}

/// A gateway with every feature that has further inputs.
pub(super) fn basis() -> Json {
    json!({
        "name": "shop",
        "route_config": { "GET /orders": route(json!({})) },
        "faas_authorizers": { "staff": authorizer(json!({})), "customer": authorizer(json!({})) },
        "access_log_logservice_group_name": "/shop/access",
        "access_log_logservice_group_subscription_destination_arn": format!("{FUNCTION}:forward"),
        "domain_name": "api.example.com",
        "create_dns_entry": true,
        "hosted_zone_id": "Z0123456789ABCDEFGHIJ",
    })
}

fn route(more: Json) -> Json {
    with(&json!({ "faas_function_arn": format!("{FUNCTION}:orders"), "authorizer_name": "staff" }), &more)
}

fn authorizer(more: Json) -> Json {
    with(
        &json!({
            "authorizer_name": "check", "authorizer_payload_format_version": "2.0",
            "identity_sources": ["$request.header.Authorization"],
        }),
        &more,
    )
}

fn settings() -> Vec<Example> {
    let plain = |name: &'static str, before: Json, after: Json| (name, json!({ name: before }), json!({ name: after }));
    let stream = |more: Json| {
        let to = json!({
            "access_log_logservice_group_subscription_destination_arn":
                "arn:aws:kinesis:eu-central-1:123456789012:stream/logs",
            "access_log_logservice_group_subscription_role_arn": "arn:aws:iam::123456789012:role/logs",
        });
        with(&to, &more)
    };
    let custom = |format: &str| json!({ "access_log_format_type": "CUSTOM", "custom_access_log_format": format });
    let cors =
        |more: Json| json!({ "cors_configuration": with(&json!({ "allow_origins": ["https://a.example"] }), &more) });
    let tags = ["api_tags", "stage_tags", "access_log_logservice_group_tags"];
    let mut examples = from_nothing(&tags, &json!({ "Team": "web" }));
    examples.extend(tags.map(|map| plain(map, json!({ "Team": "shop" }), json!({ "Team": "web" }))));
    examples.extend([
        plain("name", json!("shop"), json!("market")),
        plain("description", json!(null), json!("Orders.")),
        plain("api_version", json!(null), json!("7")),
        ("cors_configuration", json!({}), cors(json!({}))),
        ("cors_configuration", cors(json!({})), json!({ "cors_configuration": null })),
        ("cors_configuration.allow_credentials", cors(json!({})), cors(json!({ "allow_credentials": true }))),
        ("cors_configuration.allow_headers", cors(json!({})), cors(json!({ "allow_headers": ["x-key"] }))),
        ("cors_configuration.allow_methods", cors(json!({})), cors(json!({ "allow_methods": ["GET"] }))),
        ("cors_configuration.allow_origins", cors(json!({})), cors(json!({ "allow_origins": ["https://b.example"] }))),
        ("cors_configuration.expose_headers", cors(json!({})), cors(json!({ "expose_headers": ["x-key"] }))),
        ("cors_configuration.max_age", cors(json!({})), cors(json!({ "max_age": 60 }))),
        plain("access_log_logservice_group_name", json!("/shop/access"), json!("/shop/other")),
        plain("access_log_logservice_group_retention_in_days", json!(null), json!(30)),
        plain("access_log_format_type", json!("JSON"), json!("CLF")),
        ("custom_access_log_format", custom("$context.requestId"), custom("$context.requestId $context.status")),
        plain("access_log_logservice_group_kms_key_id", json!(null), json!("alias/logs")),
        plain(
            "access_log_logservice_group_subscription_destination_arn",
            json!(format!("{FUNCTION}:forward")),
            json!(format!("{FUNCTION}:other")),
        ),
        plain(
            "access_log_logservice_group_subscription_destination_arn",
            json!(null),
            json!(format!("{FUNCTION}:other")),
        ),
        (
            "access_log_logservice_group_subscription_distribution",
            stream(json!({})),
            stream(json!({ "access_log_logservice_group_subscription_distribution": "Random" })),
        ),
        plain("access_log_logservice_group_subscription_filter_pattern", json!(""), json!("{ $.status = 5* }")),
        (
            "access_log_logservice_group_subscription_role_arn",
            stream(json!({})),
            stream(json!({
                "access_log_logservice_group_subscription_role_arn": "arn:aws:iam::123456789012:role/other",
            })),
        ),
        plain("domain_name", json!("api.example.com"), json!("www.example.com")),
        plain(
            "certificate_arn",
            json!(null),
            json!("arn:aws:acm:eu-central-1:123456789012:certificate/0a1b2c3d-12ab-34cd-56ef-1234567890ab"),
        ),
        plain("certificate_domain", json!(null), json!("*.example.com")),
        plain("create_dns_entry", json!(true), json!(false)),
        plain("hosted_zone_id", json!("Z0123456789ABCDEFGHIJ"), json!("Z0123456789ABCDEFGHIK")),
        plain("allow_duplicate_name", json!(false), json!(true)),
        plain("adopt", json!(null), json!({ "api": "a1b2c3d4e5" })),
        plain("ignore_drift", json!(null), json!(["route.*"])),
        plain("protected_objects", json!(null), json!(["route.*"])),
    ]);
    examples.extend(timeouts());
    examples
}

fn routes() -> Vec<Example> {
    let one = |more: Json| json!({ "route_config": { "GET /orders": route(more) } });
    let member = |path: &'static str, more: Json| (path, one(json!({})), one(more));
    // Two routes share an integration, and one of them changes.
    let two = |more: Json| json!({ "route_config": { "GET /orders": route(more), "PUT /orders": route(json!({})) } });
    let shared = |path: &'static str, more: Json| (path, two(json!({})), two(more));
    vec![
        ("route_config", one(json!({})), json!({ "route_config": { "POST /orders": route(json!({})) } })),
        member("route_config.faas_function_arn", json!({ "faas_function_arn": format!("{FUNCTION}:users") })),
        shared("route_config.description", json!({ "description": "Orders." })),
        shared("route_config.payload_format_version", json!({ "payload_format_version": "2.0" })),
        shared("route_config.timeout_milliseconds", json!({ "timeout_milliseconds": 1000 })),
        member("route_config.authorizer_name", json!({ "authorizer_name": "customer" })),
        member("route_config.authorizer_name", json!({ "authorizer_name": null })),
    ]
}

fn authorizers() -> Vec<Example> {
    let one =
        |more: Json| json!({ "faas_authorizers": { "staff": authorizer(more), "customer": authorizer(json!({})) } });
    let member = |path: &'static str, more: Json| (path, one(json!({})), one(more));
    let uri = format!("arn:aws:apigateway:eu-central-1:lambda:path/2015-03-31/functions/{FUNCTION}:other/invocations");
    vec![
        ("faas_authorizers", json!({ "faas_authorizers": { "staff": authorizer(json!({})) } }), one(json!({}))),
        member("faas_authorizers.authorizer_name", json!({ "authorizer_name": "other" })),
        member("faas_authorizers.authorizer_uri", json!({ "authorizer_uri": uri })),
        member(
            "faas_authorizers.authorizer_payload_format_version",
            json!({ "authorizer_payload_format_version": "1.0" }),
        ),
        member("faas_authorizers.identity_sources", json!({ "identity_sources": ["$request.header.x-key"] })),
        member("faas_authorizers.result_ttl_in_seconds", json!({ "result_ttl_in_seconds": 60 })),
        member("faas_authorizers.enable_simple_responses", json!({ "enable_simple_responses": true })),
        member(
            "faas_authorizers.authorizer_credentials_arn",
            json!({ "authorizer_credentials_arn": "arn:aws:iam::123456789012:role/caller" }),
        ),
    ]
}

fn examples() -> Vec<Example> {
    [settings(), routes(), authorizers()].concat()
}

#[test]
fn changes_of_gateway_inputs_have_the_documented_effect() {
    assert_effects::<HttpGateway>(&basis(), facts, examples());
}

const NOT_IMPORTED: Exceptions = &[
    ("the lookup finds the certificate of an own domain", &["certificate_arn"]),
    ("AWS does not record the domain of the lookup", &["certificate_domain"]),
];

const NOT_REFLECTED: Exceptions = &[
    ("as an output, it has the certificate in AWS", &["certificate_arn"]),
    ("AWS does not record the domain of the lookup", &["certificate_domain"]),
];

#[test]
fn gateway_inputs_are_read_back_from_objects() {
    assert_way_back::<HttpGateway>(&basis(), facts, &examples(), [NOT_IMPORTED, NOT_REFLECTED]);
}
