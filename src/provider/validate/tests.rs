use super::*;
use crate::plugin::{Nested, Severity};

fn messages(arguments: &[(&str, Value)]) -> Vec<(String, Severity, String)> {
    let Diagnostics(all) = validate(&Value::map(arguments.iter().cloned()));
    all.into_iter()
        .map(|it| (it.path.map(|path| path.to_string()).unwrap_or_default(), it.severity, it.detail))
        .collect()
}

fn paths(arguments: &[(&str, Value)]) -> Vec<String> {
    messages(arguments).into_iter().map(|(path, _, _)| path).collect()
}

fn list(items: &[Value]) -> Value {
    Value::List(items.to_vec())
}

#[test]
fn an_empty_block_is_valid() {
    assert_eq!(paths(&[]), [""; 0]);
}

#[test]
fn all_problems_are_reported_at_once() {
    let role = Value::map([("role_arn", "deploy".into()), ("duration", "5m".into()), ("policy", "{".into())]);
    let found = paths(&[
        ("region", "Frankfurt".into()),
        ("access_key", "AKID".into()),
        ("allowed_account_ids", list(&["123".into()])),
        ("forbidden_account_ids", list(&["123456789012".into()])),
        ("allow_protected_deletion", list(&["arn:aws:ec2:eu-central-1:123456789012:vpc/vpc-1".into(), "vpc-1".into()])),
        ("assume_role", list(&[role])),
        ("endpoints", list(&[Value::map([("ec2", "localhost:4566".into())])])),
        ("https_proxy", "proxy".into()),
    ]);
    let expected = [
        "region",
        "access_key",
        "allowed_account_ids[0]",
        "forbidden_account_ids",
        "allow_protected_deletion",
        "assume_role[0].role_arn",
        "assume_role[0].duration",
        "assume_role[0].policy",
        "endpoints[0].ec2",
        "https_proxy",
    ];
    assert_eq!(found, expected);
}

#[test]
fn unknown_values_are_valid() {
    let role = Value::map([("role_arn", Value::Unknown), ("duration", Value::Unknown)]);
    let unknown = [
        ("region", Value::Unknown),
        ("access_key", "AKID".into()),
        ("secret_key", Value::Unknown),
        ("allowed_account_ids", list(&[Value::Unknown])),
        ("assume_role", list(&[role])),
        ("assume_role_with_web_identity", list(&[Value::map([("role_arn", Value::Unknown)])])),
        ("default_tags", list(&[Value::map([("tags", Value::map([("run", Value::Unknown)]))])])),
        ("endpoints", list(&[Value::map([("sts", Value::Unknown)])])),
    ];
    assert_eq!(paths(&unknown), [""; 0]);
    let all: Vec<(String, Value)> =
        ProviderBlock::attributes().into_iter().map(|attribute| (attribute.name, Value::Unknown)).collect();
    assert_eq!(validate(&Value::map(all)), Diagnostics::default());
}

#[test]
fn regions_of_every_partition_are_valid() {
    for region in ["eu-central-1", "us-gov-west-1", "us-isob-east-1", "cn-north-1", "eusc-de-east-1", "mx-central-1"] {
        assert!(is_region(region), "{region}");
    }
    for region in ["eu-central", "eu-central-1a", "EU-central-1", "", "1-2-3", "eu--1"] {
        assert!(!is_region(region), "{region}");
    }
    for skip in [Value::from(true), Value::Unknown] {
        assert_eq!(paths(&[("region", "local".into()), ("skip_region_validation", skip)]), [""; 0]);
    }
}

#[test]
fn empty_strings_are_valid() {
    let names =
        ["region", "sts_region", "profile", "access_key", "secret_key", "token", "http_proxy", "custom_ca_bundle"];
    assert_eq!(paths(&names.map(|name| (name, Value::from("")))), [""; 0]);
}

#[test]
fn default_tag_matched_by_ignore_tags_is_accepted() {
    let tags = Value::map([("kubernetes.io/role", "elb".into()), ("team", "net".into()), ("fgw:object", "x".into())]);
    let found = messages(&[
        ("default_tags", list(&[Value::map([("tags", tags)])])),
        ("ignore_tags", list(&[Value::map([("key_prefixes", list(&["kubernetes.io/".into()]))])])),
    ]);
    let paths: Vec<&str> = found.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(paths, ["default_tags[0].tags[\"fgw:object\"]"], "hashicorp/aws accepts and ignores the other one");
}

#[test]
fn role_arns_of_both_blocks_are_checked() {
    for (arn, is_right) in [
        ("arn:aws-cn:iam::123456789012:role/ci/deploy", true),
        ("arn:aws:iam::12345678901x:role/deploy", false),
        ("arn:aws:iam::123456789012:role/", false),
        ("arn:aws:iam::123456789012:role/de ploy", false),
    ] {
        for block in ["assume_role", "assume_role_with_web_identity"] {
            let role = Value::map([("role_arn", arn.into()), ("web_identity_token", "t".into())]);
            let expected = if is_right { vec![] } else { vec![format!("{block}[0].role_arn")] };
            assert_eq!(paths(&[(block, list(&[role]))]), expected, "{arn}");
        }
    }
}

#[test]
fn account_lists_that_cannot_be_checked_are_rejected() {
    let found = paths(&[
        ("allowed_account_ids", list(&["123456789012".into()])),
        ("skip_credentials_validation", true.into()),
        ("skip_requesting_account_id", true.into()),
    ]);
    assert_eq!(found, ["allowed_account_ids"]);
}

#[test]
fn arguments_without_effect_get_one_warning() {
    let found = messages(&[
        ("s3_use_path_style", true.into()),
        ("endpoints", list(&[Value::map([("s3", "http://localhost:1".into()), ("ec2", "http://localhost:1".into())])])),
    ]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].1, Severity::Warning);
    assert!(found[0].2.ends_with("arguments: endpoints.s3, s3_use_path_style."), "{}", found[0].2);
}

#[test]
fn aliases_of_a_service_cannot_have_two_endpoints() {
    let two = [("logs", "http://localhost:1".into()), ("cloudwatchlogs", "http://localhost:2".into())];
    assert_eq!(paths(&[("endpoints", list(&[Value::map(two)]))]), ["endpoints[0].logs"]);
}

#[test]
fn proxy_password_is_not_printed() {
    let found = messages(&[("https_proxy", "ada:open-sesame@proxy".into())]);
    assert_eq!(found.len(), 1);
    assert!(!found[0].2.contains("open-sesame"), "{}", found[0].2);
}

#[test]
fn secrets_are_sensitive_and_endpoint_names_unique() {
    let attributes = ProviderBlock::attributes();
    let sensitive: Vec<&str> = attributes.iter().filter(|it| it.sensitive).map(|it| it.name.as_str()).collect();
    assert_eq!(sensitive, ["secret_key", "token"]);
    let mut names: Vec<String> =
        crate::provider::endpoints::Endpoints::attributes().into_iter().map(|it| it.name).collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
    let all = ProviderBlock::attributes();
    assert!(all.iter().all(|it| !it.description.is_empty()));
}
