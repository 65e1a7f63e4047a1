//! Values of every input of a gateway, for generators of configurations.

use crate::plugin::Value;
use crate::topology::settings::{Setting, entry, tags, together, values};

/// The inputs that no setting below sets, each with the reason.
pub(crate) const EXCEPT: [(&str, &str); 3] = [
    ("adopt", "the adoption tests draw it, with the objects that it names"),
    ("ignore_drift", "the tests of ignored drift draw it"),
    ("protected_objects", "what they protect can neither be changed nor destroyed"),
];

fn texts<const N: usize>(name: &'static str, texts: [&str; N]) -> Setting {
    values(name, texts.map(Value::from))
}

pub(crate) fn settings(region: &str) -> Vec<Setting> {
    [api(), routes(region), authorizers(region), logs(region), domains(region), handling()]
        .into_iter()
        .flatten()
        .collect()
}

fn api() -> Vec<Setting> {
    let list = |items: &[&str]| Value::from(items.to_vec());
    let cors = |pairs: &[(&'static str, Value)]| {
        let origin = ("allow_origins", list(&["https://shop.example.com"]));
        Value::map([origin].into_iter().chain(pairs.iter().cloned()))
    };
    let limits = |rate: f64, burst: i64| {
        Value::map([("throttling_rate_limit", rate.into()), ("throttling_burst_limit", burst.into())])
    };
    vec![
        texts("name", ["front", "renamed"]),
        texts("description", ["Orders.", ""]),
        texts("api_version", ["1", "2"]),
        values("api_tags", tags()),
        values("stage_tags", tags()),
        texts("stage_name", ["prod", "next"]),
        texts("stage_description", ["Live.", "Next."]),
        values("stage_variables", [entry("a", "1"), entry("b", "2")]),
        values(
            "cors_configuration",
            [
                cors(&[("allow_headers", list(&["a", "b"])), ("allow_methods", list(&["GET"]))]),
                cors(&[("expose_headers", list(&["c"])), ("max_age", 60_i64.into())]),
                cors(&[("allow_credentials", true.into())]),
            ],
        ),
        values("default_route_settings", [limits(10.0, 5), limits(0.5, 1), entry("detailed_metrics_enabled", true)]),
        values("disable_execute_api_endpoint", [true.into()]),
        texts("ip_address_type", ["dualstack"]),
        texts("vpc_links.*.name", ["link", "other"]),
        values("vpc_links.*.subnet_ids", [list(&["subnet-1"]), list(&["subnet-2", "subnet-1"])]),
        values("vpc_links.*.security_group_ids", [list(&["sg-1"]), list(&["sg-2"])]),
        values("vpc_links.*.tags", tags()),
    ]
}

fn routes(region: &str) -> Vec<Setting> {
    let role = Value::from("arn:aws:iam::123456789012:role/other");
    let listener = format!("arn:aws:elasticloadbalancing:{region}:123456789012:listener/app/a/1/2");
    let http = |pairs: &[(&'static str, Value)]| {
        let target = ("integration_uri", Value::from("https://b.example.com"));
        let path = ("request_parameters", entry("overwrite:path", "/x"));
        entry("PUT /http", Value::map([target, path].into_iter().chain(pairs.iter().cloned())))
    };
    let private = |pairs: &[(&'static str, Value)]| {
        let target = [("integration_uri", Value::from(listener.clone())), ("vpc_link_id", "a1b2c3".into())];
        entry("PUT /private", Value::map(target.into_iter().chain(pairs.iter().cloned())))
    };
    let tls = |name: &str| ("tls_config", entry("server_name_to_verify", name));
    let scopes = |scope: &str| Value::from(vec![scope]);
    let code = |header: &str| entry("500", entry(header, "x"));
    vec![
        values(
            "route_config",
            [
                http(&[]),
                http(&[("integration_method", "GET".into()), ("response_parameters", code("append:header.a"))]),
                private(&[]),
                private(&[tls("a")]),
                private(&[tls("b"), ("integration_method", "POST".into())]),
            ],
        ),
        texts("route_config.*.description", ["a", "b"]),
        values("route_config.*.timeout_milliseconds", [1000_i64.into(), 2000_i64.into()]),
        texts("route_config.*.payload_format_version", ["2.0"]),
        values("route_config.*.credentials_arn", [role]),
        texts("route_config.*.authorization_type", ["NONE", "AWS_IAM"]),
        values("route_config.*.authorization_scopes", [scopes("read"), scopes("write")]),
        values("route_config.*.response_parameters", [code("append:header.a"), code("append:header.b")]),
        values("route_config.*.throttling_rate_limit", [10.0.into(), Value::Null]),
        values("route_config.*.throttling_burst_limit", [5_i64.into(), Value::Null]),
        values("route_config.*.detailed_metrics_enabled", [true.into(), false.into()]),
    ]
}

fn authorizers(region: &str) -> Vec<Setting> {
    let uri = |function: &str| {
        let function = format!("arn:aws:lambda:{region}:123456789012:function:{function}");
        let uri = format!("arn:aws:apigateway:{region}:lambda:path/2015-03-31/functions/{function}/invocations");
        Value::from(uri)
    };
    let source = |name: &str| Value::from(vec![format!("$request.header.{name}")]);
    let role = Value::from("arn:aws:iam::123456789012:role/authorize");
    vec![
        texts("faas_authorizers.*.authorizer_name", ["guard", "another"]),
        values("faas_authorizers.*.authorizer_uri", ["guard", "another"].map(uri)),
        texts("faas_authorizers.*.authorizer_payload_format_version", ["2.0"]),
        together([
            ("faas_authorizers.*.authorizer_payload_format_version", "2.0".into()),
            ("faas_authorizers.*.enable_simple_responses", true.into()),
        ]),
        values("faas_authorizers.*.identity_sources", ["Authorization", "X-Key"].map(source)),
        values("faas_authorizers.*.result_ttl_in_seconds", [60_i64.into(), 0_i64.into()]),
        values("faas_authorizers.*.authorizer_credentials_arn", [role]),
        texts("jwt_authorizers.*.issuer", ["https://one.example.com", "https://two.example.com"]),
        values("jwt_authorizers.*.audience", [vec!["shop"].into(), vec!["a", "b"].into()]),
        values("jwt_authorizers.*.identity_sources", ["X-Token", "X-Other"].map(source)),
    ]
}

fn logs(region: &str) -> Vec<Setting> {
    let name = |name: &str| ("access_log_logservice_group_name", Value::from(name));
    let stream = |name: &str| Value::from(format!("arn:aws:kinesis:{region}:123456789012:stream/{name}"));
    let role = |name: &str| Value::from(format!("arn:aws:iam::123456789012:role/{name}"));
    let custom = |format: &str| {
        let kind = ("access_log_format_type", Value::from("CUSTOM"));
        together([kind, ("custom_access_log_format", format.into())])
    };
    let forwarded = |to: &str, distribution: &str| {
        together([
            ("access_log_destination_arn", Value::Null),
            name("front-logs"),
            ("access_log_logservice_group_subscription_destination_arn", stream(to)),
            ("access_log_logservice_group_subscription_role_arn", role(to)),
            ("access_log_logservice_group_subscription_distribution", distribution.into()),
        ])
    };
    vec![
        together([("access_log_destination_arn", Value::Null), name("front-logs")]),
        texts("access_log_logservice_group_name", ["other-logs", "front-logs"]),
        values("access_log_logservice_group_skip_destroy", [true.into(), false.into()]),
        values("access_log_logservice_group_retention_in_days", [7_i64.into(), 0_i64.into()]),
        values("access_log_logservice_group_tags", tags()),
        texts("access_log_format_type", ["CLF", "JSON"]),
        custom("$context.requestId"),
        custom("$context.requestId $context.status"),
        forwarded("one", "Random"),
        forwarded("two", "ByLogStream"),
        texts("access_log_logservice_group_subscription_filter_pattern", ["500", ""]),
        texts("access_log_logservice_group_kms_key_id", ["alias/logs", "1234abcd-12ab-34cd-56ef-1234567890ab"]),
        together([
            ("access_log_logservice_group_name", Value::Null),
            ("access_log_destination_arn", format!("arn:aws:logs:{region}:123456789012:log-group:shared").into()),
        ]),
    ]
}

fn domains(region: &str) -> Vec<Setting> {
    let certificate = |id: &str| Value::from(format!("arn:aws:acm:{region}:123456789012:certificate/{id}"));
    let domain = |addresses: &str| {
        together([("domain_name", "a.example.com".into()), ("domain_ip_address_type", addresses.into())])
    };
    let with_store = |pairs: &[(&'static str, Value)]| {
        let store = [("truststore_uri", Value::from("s3://stores/a.pem"))].into_iter().chain(pairs.iter().cloned());
        together([("domain_name", "a.example.com".into()), ("mutual_tls_authentication", Value::map(store))])
    };
    vec![
        texts("domain_name", ["a.example.com", "b.example.com"]),
        domain("ipv4"),
        domain("dualstack"),
        with_store(&[]),
        with_store(&[("truststore_version", "v1".into())]),
        with_store(&[("truststore_version", "v2".into()), ("truststore_uri", "s3://stores/b.pem".into())]),
        values("mutual_tls_authentication", [entry("truststore_uri", "")]),
        values("certificate_arn", ["1", "2"].map(certificate)),
        texts("certificate_domain", ["*.example.com"]),
        together([("create_dns_entry", true.into()), ("hosted_zone_id", "Z0123456789A".into())]),
        texts("hosted_zone_id", ["Z0123456789B"]),
    ]
}

fn handling() -> Vec<Setting> {
    let times = |time: &str| Value::map(["create", "read", "update", "delete"].map(|name| (name, Value::from(time))));
    vec![values("allow_duplicate_name", [true.into()]), values("timeouts", [times("45m"), times("2h")])]
}
