//! Every validation rule, with an example that breaks it and one that satisfies it.

mod authorizers;
mod integrations;
mod logs;
mod routes;
mod settings;
mod stages;

use serde_json::{Value as Json, json};

use super::super::tests::{FOREIGN, ORDERS, problems};
use super::*;
use crate::plugin::Nested;
use crate::topology::rules::{Rule, UNKNOWN, assert_reported, with};

/// The ARN of a certificate.
const CERTIFICATE: &str = "arn:aws:acm:eu-central-1:123456789012:certificate/0a1b2c3d-12ab-34cd-56ef-1234567890ab";

/// The ARN of an IAM role.
const ROLE: &str = "arn:aws:iam::123456789012:role/logs";

fn api() -> Vec<Rule> {
    vec![
        ("a gateway has a name", json!({"name": ""}), &["name"], &["0 characters"], json!({"name": "x"})),
        (
            "a name has at most 128 characters",
            json!({"name": "x".repeat(129)}),
            &["name"],
            &["129", "128"],
            json!({"name": "x".repeat(128)}),
        ),
        (
            "a name can be stored in a tag",
            json!({"name": "shop & co"}),
            &["name"],
            &["shop & co", "a tag, where the name is stored"],
            json!({"name": "shop + co"}),
        ),
        (
            "a description has at most 1024 characters",
            json!({"description": "x".repeat(1025)}),
            &["description"],
            &["1025", "1024"],
            json!({"description": "x".repeat(1024)}),
        ),
        (
            "a version has at most 64 characters",
            json!({"api_version": "1".repeat(65)}),
            &["api_version"],
            &["65", "64"],
            json!({"api_version": "1".repeat(64)}),
        ),
        (
            "a timeout of an operation is a duration",
            json!({"timeouts": {"create": "10"}}),
            &["timeouts.create"],
            &["\"10\""],
            json!({"timeouts": {"create": "10m"}}),
        ),
        (
            "a pattern of protected objects matches a possible key",
            json!({"protected_objects": ["routes.*"]}),
            &["protected_objects"],
            &["routes.*", "api_mapping"],
            json!({"protected_objects": ["route.ANY /orders/*", "domain", UNKNOWN]}),
        ),
    ]
}

fn tags() -> Vec<Rule> {
    let tag = |key: &str, value: &str| json!({"api_tags": {key: value}});
    let many = |count: usize| -> Json { (0..count).map(|it| (format!("k{it}"), Json::from("v"))).collect() };
    let group = |tags: Json| json!({"access_log_logservice_group_name": "g", "access_log_logservice_group_tags": tags});
    vec![
        ("AWS allows 50 tags on an API", json!({"api_tags": many(48)}), &["api_tags"], &["48", "50"], {
            json!({"api_tags": many(47)})
        }),
        ("AWS allows 50 tags on a stage", json!({"stage_tags": many(49)}), &["stage_tags"], &["49", "Remove 2"], {
            json!({"stage_tags": many(47)})
        }),
        (
            "AWS allows 50 tags on a log group",
            group(many(48)),
            &["access_log_logservice_group_tags"],
            &["48", "50"],
            group(many(47)),
        ),
        ("the tag prefix aws: is reserved", tag("AWS:x", "y"), &["api_tags[\"AWS:x\"]"], &["AWS"], tag("x:aws", "y")),
        (
            "the tag prefix fgw: is reserved",
            json!({"stage_tags": {"fgw:x": "y"}}),
            &["stage_tags[\"fgw:x\"]"],
            &["fgw:x", "this provider"],
            json!({"stage_tags": {"fgw": "y"}}),
        ),
        ("a tag has a key", tag("", "y"), &["api_tags[\"\"]"], &["0 characters"], tag("x", "")),
        (
            "a tag's key has at most 128 characters",
            json!({"api_tags": {"x".repeat(128): "y", "z".repeat(129): "y"}}),
            &[concat!(
                "api_tags[\"",
                "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz",
                "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\"]"
            )],
            &["129", "128"],
            json!({"api_tags": {"x".repeat(128): "y"}}),
        ),
        (
            "a tag's key has only allowed characters",
            tag("a&b", "y"),
            &["api_tags[\"a&b\"]"],
            &["a&b", "letters, digits"],
            tag("a b_.:/=+-@ä", "y"),
        ),
        (
            "a tag's value has at most 256 characters",
            group(json!({"k": "v".repeat(257)})),
            &["access_log_logservice_group_tags[\"k\"]"],
            &["257", "256"],
            group(json!({"k": "v".repeat(256)})),
        ),
        (
            "a tag's value has only allowed characters",
            tag("k", "50%"),
            &["api_tags[\"k\"]"],
            &["50%", "letters, digits"],
            tag("k", "50"),
        ),
    ]
}

fn cors() -> Vec<Rule> {
    let cors = |it: Json| json!({"cors_configuration": it});
    let origins = |list: &[&str]| cors(json!({"allow_origins": list}));
    vec![
        (
            "CORS sets something",
            cors(json!({})),
            &["cors_configuration"],
            &["sets nothing"],
            cors(json!({"max_age": 0})),
        ),
        (
            "an empty list sets nothing",
            cors(json!({"allow_origins": [], "allow_methods": []})),
            &["cors_configuration"],
            &["sets nothing"],
            cors(json!({"allow_credentials": false, "allow_origins": []})),
        ),
        (
            "CORS supports seven methods and *",
            cors(json!({"allow_methods": ["GET", "get", "ANY"]})),
            &["cors_configuration.allow_methods[1]", "cors_configuration.allow_methods[2]"],
            &["\"get\"", "\"ANY\"", "OPTIONS, *"],
            cors(json!({"allow_methods": ["GET", "*"]})),
        ),
        (
            "a CORS method is listed once",
            cors(json!({"allow_methods": ["GET", "PUT", "GET"]})),
            &["cors_configuration.allow_methods[2]"],
            &["\"GET\"", "twice"],
            cors(json!({"allow_methods": ["GET", "PUT"]})),
        ),
        (
            "an origin has a scheme",
            origins(&["https://example.com", "example.com"]),
            &["cors_configuration.allow_origins[1]"],
            &["example.com", "no scheme"],
            origins(&["https://example.com", "http://localhost:3000"]),
        ),
        (
            "an origin has the scheme http or https",
            origins(&["https://example.com", "capacitor://localhost", "chrome-extension://*"]),
            &["cors_configuration.allow_origins[1]", "cors_configuration.allow_origins[2]"],
            &["capacitor://localhost", "http and https"],
            origins(&["http://example.com", "https://localhost"]),
        ),
        (
            "an origin has a host",
            origins(&["https://"]),
            &["cors_configuration.allow_origins[0]"],
            &["\"https://\"", "no host"],
            origins(&["https://*"]),
        ),
        (
            "an origin has no path",
            origins(&["https://example.com/"]),
            &["cors_configuration.allow_origins[0]"],
            &["https://example.com/", "path"],
            origins(&["https://example.com:8443"]),
        ),
        (
            "an origin has a valid host",
            origins(&["https://example.com, https://example.org"]),
            &["cors_configuration.allow_origins[0]"],
            &["example.org"],
            origins(&["https://example.com", "https://example.org"]),
        ),
        (
            "an origin has no wildcard in its host",
            origins(&["https://*.example.com"]),
            &["cors_configuration.allow_origins[0]"],
            &["https://*.example.com", "wildcard"],
            origins(&["https://*", "http://*"]),
        ),
        (
            "an origin is listed once",
            origins(&["*", "*"]),
            &["cors_configuration.allow_origins[1]"],
            &["\"*\"", "twice"],
            origins(&["*"]),
        ),
        (
            "credentials require named origins",
            cors(json!({"allow_origins": ["*"], "allow_credentials": true})),
            &["cors_configuration.allow_origins[0]"],
            &["allow_credentials", "\"*\""],
            cors(json!({"allow_origins": ["https://*"], "allow_credentials": true})),
        ),
        (
            "an allowed header has a valid name",
            cors(json!({"allow_headers": ["a, b"]})),
            &["cors_configuration.allow_headers[0]"],
            &["a, b", "one name"],
            cors(json!({"allow_headers": ["a", "b", "*"]})),
        ),
        (
            "an exposed header has a valid name",
            cors(json!({"expose_headers": ["x-id", ""]})),
            &["cors_configuration.expose_headers[1]"],
            &["\"\"", "header"],
            cors(json!({"expose_headers": ["x-id", "*"]})),
        ),
        (
            "a header is listed once, in any case",
            cors(json!({"allow_headers": ["Authorization", "x", "authorization"], "expose_headers": ["x"]})),
            &["cors_configuration.allow_headers[2]"],
            &["\"authorization\"", "\"Authorization\""],
            cors(json!({"allow_headers": ["Authorization", "x"], "expose_headers": ["x"]})),
        ),
        (
            "preflight responses are cached for at most a day",
            cors(json!({"max_age": 86401})),
            &["cors_configuration.max_age"],
            &["86401", "86400"],
            cors(json!({"max_age": 86400})),
        ),
        (
            "the cache time of preflight responses is at least -1",
            cors(json!({"max_age": -2})),
            &["cors_configuration.max_age"],
            &["-2", "-1"],
            cors(json!({"max_age": -1})),
        ),
    ]
}

fn domains() -> Vec<Rule> {
    let domain = |name: &str| json!({"domain_name": name});
    let record = |more: Json| with(json!({"domain_name": "a.example.com", "create_dns_entry": true}), more);
    let long = |last: usize| {
        let labels = ["a".repeat(63), "b".repeat(63), "c".repeat(63), "d".repeat(last)];
        json!({"domain_name": labels.join(".")})
    };
    vec![
        ("a domain is not empty", domain(""), &["domain_name"], &["0 characters"], json!({"domain_name": null})),
        (
            "a domain is not a URL",
            domain("https://api.example.com/v1"),
            &["domain_name"],
            &["https://api.example.com/v1", "\"api.example.com\""],
            domain("api.example.com"),
        ),
        (
            "a domain has no trailing dot",
            domain("api.example.com."),
            &["domain_name"],
            &["\"api.example.com.\"", "\"api.example.com\""],
            domain("example.com"),
        ),
        (
            "a domain is in lowercase",
            domain("API.example.com"),
            &["domain_name"],
            &["API.example.com", "\"api.example.com\""],
            domain("a-1.example.com"),
        ),
        (
            "a domain has only allowed characters",
            domain("bücher.example.com"),
            &["domain_name"],
            &["bücher", "xn--"],
            domain("xn--bcher-kva.example.com"),
        ),
        ("a domain has at most 253 characters", long(62), &["domain_name"], &["254", "253"], long(61)),
        (
            "a label has at most 63 characters",
            domain(&format!("{}.example.com", "a".repeat(64))),
            &["domain_name"],
            &["64", "63"],
            domain(&format!("{}.example.com", "a".repeat(63))),
        ),
        (
            "a label is not empty",
            domain("api..example.com"),
            &["domain_name"],
            &["api..example.com", "0 characters"],
            domain("api.v1.example.com"),
        ),
        (
            "a label does not start or end with a hyphen",
            domain("-api.example.com"),
            &["domain_name"],
            &["\"-api\""],
            domain("a-pi.example.com"),
        ),
        ("a domain has at least two labels", domain("localhost"), &["domain_name"], &["localhost", "one label"], {
            domain("localhost.localdomain")
        }),
        ("a domain is not an IP address", domain("10.0.0.1"), &["domain_name"], &["10.0.0.1", "address"], {
            domain("10.0.0.1.example.com")
        }),
        (
            "a wildcard is a whole first label",
            domain("api-*.example.com"),
            &["domain_name"],
            &["api-*.example.com", "*.example.com"],
            domain("*.example.com"),
        ),
        (
            "the domain of a certificate is a valid domain",
            with(domain("api.example.com"), json!({"certificate_domain": "*.com"})),
            &["certificate_domain"],
            &["*.com", "one label"],
            with(domain("api.example.com"), json!({"certificate_domain": "*.example.com"})),
        ),
        (
            "a certificate is given by the ARN of a certificate",
            with(domain("api.example.com"), json!({"certificate_arn": ROLE})),
            &["certificate_arn"],
            &[ROLE, "not the ARN of an ACM certificate"],
            with(domain("api.example.com"), json!({"certificate_arn": CERTIFICATE})),
        ),
        (
            "the ARN of a certificate has a Region",
            with(domain("api.example.com"), json!({"certificate_arn": CERTIFICATE.replace("eu-central-1", "")})),
            &["certificate_arn"],
            &["the invalid Region"],
            with(domain("api.example.com"), json!({"certificate_arn": CERTIFICATE.replace("aws", "aws-cn")})),
        ),
        (
            "the ARN of a certificate ends with its ID",
            with(domain("api.example.com"), json!({"certificate_arn": format!("{CERTIFICATE}/x")})),
            &["certificate_arn"],
            &["the invalid certificate ID"],
            with(domain("api.example.com"), json!({"certificate_arn": UNKNOWN})),
        ),
        (
            "a certificate is either given or looked up",
            with(
                domain("api.example.com"),
                json!({"certificate_arn": CERTIFICATE, "certificate_domain": "*.example.com"}),
            ),
            &["certificate_arn"],
            &[CERTIFICATE, "*.example.com", "Remove certificate_domain", "remove certificate_arn"],
            with(
                domain("api.example.com"),
                json!({"certificate_arn": CERTIFICATE, "certificate_domain": "api.example.com"}),
            ),
        ),
        (
            "a record requires a zone",
            record(json!({})),
            &["create_dns_entry"],
            &["hosted_zone_id"],
            record(json!({"hosted_zone_id": "Z0123456789ABC"})),
        ),
        (
            "a record requires a domain",
            record(json!({"domain_name": null, "hosted_zone_id": "Z1"})),
            &["create_dns_entry"],
            &["domain_name"],
            record(json!({"create_dns_entry": false, "hosted_zone_id": "Z1"})),
        ),
        (
            "a zone ID has no prefix",
            record(json!({"hosted_zone_id": "/hostedzone/Z1"})),
            &["hosted_zone_id"],
            &["/hostedzone/Z1", "\"Z1\""],
            record(json!({"hosted_zone_id": "Z1"})),
        ),
        (
            "a zone is identified by its ID",
            record(json!({"hosted_zone_id": "example.com"})),
            &["hosted_zone_id"],
            &["example.com", "zone_id"],
            record(json!({"hosted_zone_id": format!("Z{}", "A".repeat(31))})),
        ),
    ]
}

fn mutual_tls() -> Vec<Rule> {
    let with_store = |store: Json| json!({"domain_name": "a.example.com", "mutual_tls_authentication": store});
    let of = |uri: &str| json!({"truststore_uri": uri});
    let uri = "s3://trust/ca.pem";
    let not_s3 = [
        ("a trust store is in S3", "https://trust/ca.pem"),
        ("a trust store has a key", "s3://trust"),
        ("the key of a trust store is not empty", "s3://trust/"),
        ("a trust store has a bucket", "s3:///ca.pem"),
    ];
    let not_s3 = not_s3.map(|(name, wrong)| -> Rule {
        (
            name,
            with_store(of(wrong)),
            &["mutual_tls_authentication.truststore_uri"],
            &["not the URI"],
            with_store(of(uri)),
        )
    });
    let mut rules = not_s3.to_vec();
    rules.extend([
        (
            "mutual TLS needs a domain",
            json!({"mutual_tls_authentication": of(uri)}),
            &["mutual_tls_authentication"] as &[&str],
            &["domain_name"] as &[&str],
            with_store(of("")),
        ),
        (
            "the URI of a trust store has at most 2048 characters",
            with_store(of(&format!("s3://trust/{}", "x".repeat(2038)))),
            &["mutual_tls_authentication.truststore_uri"],
            &["2049", "2048"],
            with_store(of(&format!("s3://trust/{}", "x".repeat(2037)))),
        ),
        (
            "mutual TLS that is off has no version",
            with_store(json!({"truststore_uri": "", "truststore_version": "1"})),
            &["mutual_tls_authentication.truststore_version"],
            &["turns mutual TLS off"],
            with_store(json!({"truststore_uri": uri, "truststore_version": "1"})),
        ),
        (
            "a version is not empty",
            with_store(json!({"truststore_uri": uri, "truststore_version": ""})),
            &["mutual_tls_authentication.truststore_version"],
            &["0 characters"],
            with_store(json!({"truststore_uri": uri, "truststore_version": "x".repeat(64)})),
        ),
    ]);
    rules
}

fn all() -> Vec<Rule> {
    [
        api(),
        tags(),
        routes::routes(),
        routes::route_keys(),
        integrations::integrations(),
        integrations::parameters(),
        authorizers::authorizers(),
        authorizers::authorization(),
        cors(),
        logs::access_logs(),
        logs::subscriptions(),
        domains(),
        mutual_tls(),
        settings::settings(),
        stages::stages(),
    ]
    .concat()
}

#[test]
fn each_broken_rule_is_reported_at_its_path_only() {
    let rules = all();
    assert!(rules.len() >= 95, "{}", rules.len());
    assert_reported(rules, problems);
}

#[test]
fn defaults_and_unknown_values_cause_no_problem() {
    assert_eq!(problems(json!({})), []);
    let names: Vec<String> = GatewayConfig::attributes().into_iter().map(|attribute| attribute.name).collect();
    for name in &names {
        assert_eq!(problems(json!({name: UNKNOWN})), [], "{name}");
    }
    let all: Json = names.into_iter().map(|name| (name, Json::from(UNKNOWN))).collect();
    assert_eq!(problems(all), []);
}

#[test]
fn all_problems_are_reported_at_once() {
    let found = problems(json!({
        "name": "",
        "route_config": {
            "get x": {"faas_function_arn": "no", "timeout_milliseconds": 1, "authorizer_name": "none"},
        },
        "cors_configuration": {},
        "api_tags": {"aws:x": "y"},
        "access_log_logservice_group_name": "",
        "access_log_logservice_group_kms_key_id": "no",
        "access_log_logservice_group_subscription_role_arn": "no",
        "certificate_domain": "no",
        "create_dns_entry": true,
        "hosted_zone_id": "no",
    }));
    let mut paths: Vec<String> = found.iter().map(|it| it.path.to_string()).collect();
    paths.sort();
    let expected = [
        "access_log_logservice_group_kms_key_id",
        "access_log_logservice_group_name",
        "access_log_logservice_group_subscription_role_arn",
        "api_tags[\"aws:x\"]",
        "certificate_domain",
        "cors_configuration",
        "create_dns_entry",
        "hosted_zone_id",
        "name",
        "route_config[\"get x\"]",
        "route_config[\"get x\"].authorizer_name",
        "route_config[\"get x\"].faas_function_arn",
        "route_config[\"get x\"].timeout_milliseconds",
    ];
    assert_eq!(paths, expected);
}
