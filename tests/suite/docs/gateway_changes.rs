//! Examples that change every input of `fgw_http_gateway`.

use serde_json::{Value as Json, json};

use super::changes::{Example, Exceptions, assert_effects, assert_way_back, with};
use super::examples::{Values, examples};
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
        "jwt_authorizers": people(),
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

const ROLE: &str = "arn:aws:iam::123456789012:role/caller";

fn endpoint(more: Json) -> Json {
    with(&json!({ "integration_uri": "https://a.example.com", "authorizer_name": "staff" }), &more)
}

fn private(more: Json) -> Json {
    let listener = "arn:aws:elasticloadbalancing:eu-central-1:123456789012:listener/app/a/1/2";
    endpoint(with(&json!({ "integration_uri": listener, "vpc_link_id": "a1b2c3" }), &more))
}

fn linked(name: &str) -> Json {
    private(json!({ "vpc_link": name, "vpc_link_id": null }))
}

fn link() -> Json {
    json!({ "subnet_ids": ["subnet-1"], "security_group_ids": ["sg-1"] })
}

fn queue() -> Json {
    let parameters = json!({ "QueueUrl": "a", "MessageBody": "$request.body" });
    json!({ "integration_subtype": "SQS-SendMessage", "credentials_arn": ROLE, "request_parameters": parameters })
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

fn people() -> Json {
    let sources = json!(["$request.header.Authorization"]);
    json!({ "people": { "issuer": "https://id.example.com", "audience": ["shop"], "identity_sources": sources } })
}

/// Configurations with the inputs that have an effect only together.
fn bases() -> Vec<Json> {
    // Two routes share an integration, and one of them changes.
    let both = json!({ "GET /orders": route(json!({})), "PUT /orders": route(json!({})) });
    let limits = json!({
        "throttling_rate_limit": 10, "throttling_burst_limit": 5, "detailed_metrics_enabled": false,
    });
    let shared = |more: Json| with(&both, &json!({ "GET /orders": route(more) }));
    let of = |more: Json| json!({ "route_config": { "GET /orders": route(more) } });
    // The same for other targets.
    let two = |one: Json, other: Json| json!({ "route_config": { "GET /orders": one, "PUT /orders": other } });
    let tls = || json!({ "tls_config": { "server_name_to_verify": "a.example.com" } });
    vec![
        json!({ "route_config": shared(json!({ "description": "Orders." })) }),
        json!({ "route_config": shared(json!({ "payload_format_version": "2.0" })) }),
        json!({ "route_config": shared(json!({ "timeout_milliseconds": 1000 })) }),
        json!({ "route_config": shared(json!({ "request_parameters": {}, "response_parameters": {} })) }),
        two(endpoint(json!({})), endpoint(json!({}))),
        two(endpoint(json!({ "integration_method": "PUT" })), endpoint(json!({}))),
        two(private(json!({})), private(json!({}))),
        two(private(tls()), private(tls())),
        two(queue(), queue()),
        with(&two(linked("main"), linked("main")), &json!({ "vpc_links": { "main": link(), "other": link() } })),
        json!({ "route_config": { "GET /orders": route(limits.clone()) } }),
        json!({ "default_route_settings": limits }),
        json!({ "faas_authorizers": { "staff": authorizer(json!({})) } }),
        of(json!({ "authorizer_name": null, "authorization_type": null })),
        of(json!({ "authorizer_name": "people", "authorization_scopes": null })),
        with(&of(json!({ "authorizer_name": null })), &json!({ "default_authorizer_name": "staff" })),
        with(
            &of(json!({ "authorizer_name": null })),
            &json!({ "default_authorizer_name": "people", "default_authorization_scopes": ["read"] }),
        ),
        json!({ "cors_configuration": { "allow_origins": ["https://a.example"] } }),
        json!({ "mutual_tls_authentication": { "truststore_uri": "s3://trust/ca.pem" } }),
        json!({ "access_log_format_type": "JSON" }),
        json!({ "access_log_format_type": "CUSTOM", "custom_access_log_format": "$context.requestId" }),
        json!({ "access_log_logservice_group_subscription_destination_arn": format!("{FUNCTION}:forward") }),
        json!({
            "access_log_logservice_group_subscription_destination_arn":
                "arn:aws:kinesis:eu-central-1:123456789012:stream/logs",
            "access_log_logservice_group_subscription_role_arn": "arn:aws:iam::123456789012:role/logs",
            "access_log_logservice_group_subscription_distribution": null,
        }),
        json!({
            "access_log_logservice_group_name": null,
            "access_log_logservice_group_subscription_destination_arn": null,
            "access_log_destination_arn": log_group("theirs"),
        }),
    ]
}

fn log_group(name: &str) -> Json {
    json!(format!("arn:aws:logs:eu-central-1:123456789012:log-group:{name}"))
}

fn values() -> Values {
    let none = Json::Null;
    let function = |name: &str| json!(format!("{FUNCTION}:{name}"));
    let uri = format!("arn:aws:apigateway:eu-central-1:lambda:path/2015-03-31/functions/{FUNCTION}:other/invocations");
    let certificate = "arn:aws:acm:eu-central-1:123456789012:certificate/0a1b2c3d-12ab-34cd-56ef-1234567890ab";
    let destination = "access_log_logservice_group_subscription_destination_arn";
    let [get, post] = ["GET /orders", "POST /orders"].map(|key| json!({ key: route(json!({})) }));
    let (staff, customer) = (json!({ "staff": authorizer(json!({})) }), json!({ "customer": authorizer(json!({})) }));
    vec![
        ("cors_configuration", json!({}), json!({ "allow_origins": ["https://a.example"] })),
        ("cors_configuration", none.clone(), json!({ "allow_origins": ["https://a.example"] })),
        ("default_route_settings", none.clone(), json!({ "detailed_metrics_enabled": true })),
        ("*.throttling_rate_limit", json!(10), json!(0.5)),
        ("*.throttling_burst_limit", json!(5), json!(6)),
        ("*.detailed_metrics_enabled", json!(false), json!(true)),
        ("ip_address_type", json!("ipv4"), json!("dualstack")),
        ("domain_ip_address_type", none.clone(), json!("dualstack")),
        ("mutual_tls_authentication", none.clone(), json!({ "truststore_uri": "s3://trust/ca.pem" })),
        ("*.truststore_uri", json!("s3://trust/ca.pem"), json!("s3://trust/other.pem")),
        ("*.truststore_version", json!("1"), json!("2")),
        ("stage_name", json!("$default"), json!("prod")),
        ("stage_description", none.clone(), json!("Live.")),
        ("stage_variables", json!({}), json!({ "backend": "blue" })),
        ("stage_variables", json!({ "backend": "blue" }), json!({ "backend": "green", "level": "live" })),
        ("*.allow_headers", none.clone(), json!(["x-key"])),
        ("*.allow_methods", none.clone(), json!(["GET"])),
        ("*.allow_origins", json!(["https://a.example"]), json!(["https://b.example"])),
        ("*.expose_headers", none.clone(), json!(["x-key"])),
        ("*.max_age", none.clone(), json!(60)),
        ("access_log_logservice_group_retention_in_days", none.clone(), json!(30)),
        ("access_log_format_type", json!("JSON"), json!("CLF")),
        ("custom_access_log_format", json!("$context.requestId"), json!("$context.requestId $context.status")),
        ("access_log_logservice_group_kms_key_id", none.clone(), json!("alias/logs")),
        ("access_log_destination_arn", log_group("theirs"), log_group("others")),
        (destination, function("forward"), function("other")),
        (destination, none.clone(), function("other")),
        ("access_log_logservice_group_subscription_filter_pattern", json!(""), json!("{ $.status = 5* }")),
        ("domain_name", json!("api.example.com"), json!("www.example.com")),
        ("certificate_arn", none.clone(), json!(certificate)),
        ("certificate_domain", none.clone(), json!("*.example.com")),
        ("hosted_zone_id", json!("Z0123456789ABCDEFGHIJ"), json!("Z0123456789ABCDEFGHIK")),
        ("adopt", none.clone(), json!({ "api": "a1b2c3d4e5" })),
        ("ignore_drift", none.clone(), json!(["route.*"])),
        ("protected_objects", none.clone(), json!(["route.*"])),
        ("route_config", get, post),
        ("route_config.faas_function_arn", function("orders"), function("users")),
        ("route_config.integration_uri", json!("https://a.example.com"), json!("https://b.example.com")),
        ("route_config.integration_method", none.clone(), json!("PUT")),
        ("route_config.vpc_link_id", json!("a1b2c3"), json!("d4e5f6")),
        ("route_config.vpc_link", json!("main"), json!("other")),
        ("vpc_links", json!({ "main": link() }), json!({ "main": link(), "other": link() })),
        ("*.subnet_ids", json!(["subnet-1"]), json!(["subnet-1", "subnet-2"])),
        ("*.security_group_ids", json!(["sg-1"]), json!(["sg-2"])),
        ("*.tls_config", none.clone(), json!({ "server_name_to_verify": "a.example.com" })),
        ("*.server_name_to_verify", json!("a.example.com"), json!("b.example.com")),
        ("route_config.integration_subtype", json!("SQS-SendMessage"), json!("SQS-SendMessage-1.0")),
        ("route_config.credentials_arn", json!(ROLE), json!(format!("{ROLE}-2"))),
        ("route_config.request_parameters", none.clone(), json!({ "append:header.a": "x" })),
        ("route_config.response_parameters", none.clone(), json!({ "500": { "overwrite:statuscode": "502" } })),
        ("route_config.description", none.clone(), json!("Orders.")),
        ("route_config.timeout_milliseconds", none.clone(), json!(1000)),
        ("route_config.authorizer_name", json!("staff"), json!("customer")),
        ("route_config.authorizer_name", json!("staff"), none.clone()),
        ("route_config.authorization_type", none.clone(), json!("AWS_IAM")),
        ("route_config.authorization_scopes", none.clone(), json!(["read"])),
        ("route_config.authorization_scopes", json!(["read"]), json!(["read", "write"])),
        ("default_authorizer_name", json!("staff"), json!("customer")),
        ("default_authorizer_name", json!("staff"), none.clone()),
        ("default_authorization_scopes", json!(["read"]), json!(["write"])),
        ("jwt_authorizers", people(), with(&people(), &json!({ "partners": people()["people"] }))),
        ("*.audience", json!(["shop"]), json!(["desk", "shop"])),
        ("faas_authorizers", staff.clone(), with(&staff, &customer)),
        ("*.authorizer_uri", none.clone(), json!(uri)),
        ("*.identity_sources", json!(["$request.header.Authorization"]), json!(["$request.header.x-key"])),
        ("*.result_ttl_in_seconds", none.clone(), json!(60)),
        ("*.authorizer_credentials_arn", none, json!("arn:aws:iam::123456789012:role/caller")),
    ]
}

fn all() -> Vec<Example> {
    examples::<HttpGateway>(&basis(), &bases(), &values(), &[])
}

#[test]
fn changes_of_gateway_inputs_have_the_documented_effect() {
    assert_effects::<HttpGateway>(&basis(), facts, all());
}

const NOT_IMPORTED: Exceptions = &[
    ("an import states the authorizer of each route", &["default_authorizer_name", "default_authorization_scopes"]),
    ("the lookup finds the certificate of an own domain", &["certificate_arn"]),
    ("AWS does not record the domain of the lookup", &["certificate_domain"]),
];

const NOT_REFLECTED: Exceptions = &[
    ("drift appears in each route", &["default_authorizer_name", "default_authorization_scopes"]),
    ("as an output, it has the certificate in AWS", &["certificate_arn"]),
    ("AWS does not record the domain of the lookup", &["certificate_domain"]),
];

#[test]
fn gateway_inputs_are_read_back_from_objects() {
    assert_way_back::<HttpGateway>(&basis(), facts, &all(), [NOT_IMPORTED, NOT_REFLECTED]);
}
