//! The examples that users copy.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Bed, text};
use crate::support::http;

#[test]
fn the_examples_apply_and_destroy() {
    let bed = Bed::new();
    what_examples_name_exists(&bed);
    for example in all() {
        bed.workspace.write("main.tf", &prepared(&bed, &example));
        bed.apply_config();
        let url = bed.workspace.state().output("url").clone();
        assert!(url.as_str().is_some_and(|url| url.starts_with("http")), "{url} in {}", example.display());
        bed.destroy();
    }
}

#[test]
fn the_example_with_authorizers_lets_in_whom_it_says() {
    let bed = Bed::new();
    what_examples_name_exists(&bed);
    let account = bed.proxy.account();
    let customer = "event['headers'].get('x-customer') == 'known'";
    let simple = format!("def handler(event, context):\n    return {{'isAuthorized': {customer}}}\n");
    account.update_function("authorize-customer", &simple);
    let policy = "{'Version': '2012-10-17', 'Statement': [{'Action': 'execute-api:Invoke', 'Effect': \
                  'Allow' if event['headers'].get('authorization', '').endswith('chief') else 'Deny', \
                  'Resource': event['methodArn']}]}";
    let iam =
        format!("def handler(event, context):\n    return {{'principalId': 'staff', 'policyDocument': {policy}}}\n");
    account.update_function("authorize-staff", &iam);

    bed.workspace.write("main.tf", &prepared(&bed, &directory().join("authorizers.tf")));
    bed.apply_config();
    let api = text(bed.workspace.state().attribute("fgw_http_gateway.shop", "api_id"));
    // ministack takes the account from this header, which one authorizer looks at too.
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

    // An answer is kept for the header and the parameter alone.
    account.update_function("authorize-staff", &iam.replace("'chief'", "'nobody'"));
    assert_eq!(status("DELETE", "/orders/7?branch=1", None, "chief"), 200, "it is not asked again");
    assert_eq!(status("DELETE", "/orders/7?branch=2", None, "chief"), 403);
    bed.destroy();
}

/// Functions and keys of the account that the examples name.
fn what_examples_name_exists(bed: &Bed) {
    let account = bed.proxy.account();
    for name in ["catalogue", "authorize-customer", "authorize-staff", "forward-errors"] {
        account.create_function(name, "def handler(event, context):\n    return {'body': 'it'}\n");
    }
    account.boto("lambda", "publish_version", json!({ "FunctionName": "catalogue" }));
    let alias = json!({ "FunctionName": "catalogue", "Name": "live", "FunctionVersion": "1" });
    account.boto("lambda", "create_alias", alias);
    let key: Value = account.boto("kms", "create_key", json!({}))["KeyMetadata"]["KeyId"].clone();
    account.boto("kms", "create_alias", json!({ "AliasName": "alias/shop-logs", "TargetKeyId": key }));
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/resources/fgw_http_gateway")
}

/// Every file of examples but the one that needs a zone and a certificate, which the tests of domains make.
fn all() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory())
        .expect("the examples are there")
        .map(|file| file.expect("a directory can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "tf"))
        .filter(|path| !path.ends_with("domain.tf"))
        .collect();
    files.sort();
    files
}

/// An example as it can be applied here: the workspace has the terraform block already, and the account and Region are
/// those of the test.
fn prepared(bed: &Bed, example: &Path) -> String {
    let example = std::fs::read_to_string(example).expect("an example can be read");
    let begins = example.find("\n}\n").expect("it begins with a terraform block") + 3;
    example[begins..].replace("eu-central-1:123456789012", &format!("us-east-1:{}", bed.proxy.account().id))
}
