//! The examples that users copy.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{TestEnv, text};
use crate::both;
use crate::support::authority::Authority;
use crate::support::http;
use crate::support::proxy::TrustStore;

#[test]
fn the_examples_apply_and_destroy() {
    for example in all() {
        let env = TestEnv::with_terraform();
        env.workspace.write("main.tf", &prepared(&env, &example));
        env.apply_config();
        let url = env.workspace.state().output("url").clone();
        assert!(url.as_str().is_some_and(|url| url.starts_with("http")), "{url} in {}", example.display());
        env.destroy();
    }
}

#[test]
fn the_first_example_is_restored_by_the_import_examples() {
    let env = TestEnv::with_terraform();
    env.workspace.write("main.tf", &prepared(&env, &directory().join("resource.tf")));
    env.apply_config();
    env.workspace.import_as_shown(&directory());
    env.destroy();
}

#[test]
fn the_authorizer_example_allows_and_denies_as_described() {
    let env = TestEnv::with_terraform();
    env.workspace.write("main.tf", &prepared(&env, &directory().join("authorizers.tf")));
    let account = env.proxy.account();
    let customer = "event['headers'].get('x-customer') == 'known'";
    let simple = format!("def handler(event, context):\n    return {{'isAuthorized': {customer}}}\n");
    account.update_function("authorize-customer", &simple);
    let policy = "{'Version': '2012-10-17', 'Statement': [{'Action': 'execute-api:Invoke', 'Effect': \
                  'Allow' if event['headers'].get('authorization', '').endswith('chief') else 'Deny', \
                  'Resource': event['methodArn']}]}";
    let iam =
        format!("def handler(event, context):\n    return {{'principalId': 'staff', 'policyDocument': {policy}}}\n");
    account.update_function("authorize-staff", &iam);

    env.apply_config();
    let api = text(env.workspace.state().attribute("fgw_http_gateway.shop", "api_id"));
    // ministack reads the account from this header, which one of the authorizers reads, too.
    let credential = |signature: &str| {
        let scope = format!("Credential={}/20260101/us-east-1/execute-api/aws4_request", account.id);
        format!("AWS4-HMAC-SHA256 {scope}, Signature={signature}")
    };
    let status = |method: &str, path: &str, customer: Option<&str>, signature: &str| {
        let host = format!("{api}.execute-api.localhost:{}", account.emulator.port);
        let request = http::Request::new(account.emulator.port, method, path)
            .header("host", &host)
            .header("authorization", &credential(signature));
        let request = match customer {
            Some(customer) => request.header("x-customer", customer),
            None => request,
        };
        request.send().expect("the gateway answers").status
    };
    assert_eq!(status("GET", "/catalogue", None, "0"), 200);
    assert_eq!(status("GET", "/orders/7", None, "0"), 403);
    assert_eq!(status("GET", "/orders/7", Some("known"), "0"), 200);
    assert_eq!(status("DELETE", "/orders/7", None, "chief"), 401, "an identity source is missing");
    assert_eq!(status("DELETE", "/orders/7?branch=1", None, "clerk"), 403);
    assert_eq!(status("DELETE", "/orders/7?branch=1", None, "chief"), 200);

    // API Gateway caches an answer by the header and the parameter.
    account.update_function("authorize-staff", &iam.replace("'chief'", "'intern'"));
    assert_eq!(status("DELETE", "/orders/7?branch=1", None, "chief"), 200, "the cached answer is used");
    assert_eq!(status("DELETE", "/orders/7?branch=2", None, "chief"), 403);
    env.end();
}

fn directory() -> PathBuf {
    both::examples("fgw_http_gateway")
}

/// All complete examples.
pub(super) fn all() -> Vec<PathBuf> {
    both::complete_examples("fgw_http_gateway")
}

/// An example, adapted to the account of a test. Creates the objects that it refers to.
pub(super) fn prepared(env: &TestEnv, example: &Path) -> String {
    let example = std::fs::read_to_string(example).expect("an example can be read");
    let example = both::without_terraform_block(&example)
        .replace(":123456789012:", &format!(":{}:", env.proxy.account().id))
        .replace(":eu-central-1:", ":us-east-1:");
    create_functions(env, &example);
    let account = env.proxy.account();
    for place in between(&example, "\"s3://") {
        let pem = Authority::new().certificate.pem();
        env.proxy.truststore(&format!("s3://{place}"), "", TrustStore { pem, warnings: Vec::new() });
    }
    for alias in between(&example, "\"alias/") {
        let key = account.boto("kms", "create_key", json!({}))["KeyMetadata"]["KeyId"].clone();
        account.boto("kms", "create_alias", json!({ "AliasName": format!("alias/{alias}"), "TargetKeyId": key }));
    }
    let mut variables = format!("orders_function_arn = \"{}\"\n", env.arn("orders"));
    if example.contains("domain_name ") {
        account.boto("acm", "request_certificate", json!({ "DomainName": "*.example.com" }));
        let zone = json!({ "Name": "example.com", "CallerReference": account.id });
        let zone = text(&account.boto("route53", "create_hosted_zone", zone)["HostedZone"]["Id"]);
        variables += &format!("hosted_zone_id = \"{}\"\n", zone.trim_start_matches("/hostedzone/"));
    }
    env.workspace.write("terraform.tfvars", &variables);
    example
}

/// Creates the functions that an example names by ARN or as an authorizer, with their aliases.
fn create_functions(env: &TestEnv, example: &str) {
    let is_name = |line: &&str| line.split_whitespace().next() == Some("authorizer_name");
    let in_authorizers = example.split_once("faas_authorizers = {").map_or("", |(_, rest)| rest);
    let by_name = in_authorizers.lines().filter(is_name).filter_map(|line| line.split('"').nth(1));
    let named: BTreeSet<&str> = between(example, ":function:").chain(by_name).collect();
    let mut created = BTreeSet::from(["orders", "users", "guard", "keeper"]);
    for function in named {
        let (name, alias) = function.split_once(':').map_or((function, None), |(name, alias)| (name, Some(alias)));
        if created.insert(name) {
            let source = "def handler(event, context):\n    return {'statusCode': 200, 'body': 'here'}\n";
            env.proxy.account().create_function(name, source);
        }
        if let Some(alias) = alias {
            let alias = json!({ "FunctionName": name, "Name": alias, "FunctionVersion": "$LATEST" });
            env.proxy.account().boto("lambda", "create_alias", alias);
        }
    }
}

/// The texts between each occurrence of `begins` and the next quote.
fn between<'a>(text: &'a str, begins: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(begins).skip(1).filter_map(|rest| Some(rest.split_once('"')?.0))
}
