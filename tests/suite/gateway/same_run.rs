//! Dependencies of a gateway that other resources create in the same run.

use serde_json::{Value, json};

use super::change::sorted;
use super::{SLOW, TestEnv, text, with};
use crate::support::venv;

impl TestEnv {
    /// The command of a provisioner that sends a request to the account's emulator, escaped for Terraform's templates.
    fn as_command(&self, mut request: Value) -> String {
        let account = self.proxy.account();
        request["kind"] = "ministack".into();
        request["endpoint"] = account.emulator.endpoint().into();
        request["account"] = account.id.as_str().into();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/listing.py");
        let python = venv::program("python").display().to_string();
        escaped(&format!(
            "printf '%s\\n' '{}' | '{python}' '{script}' | tee /dev/stderr | grep -q '\"ok\"'",
            request.to_string().replace('\'', "'\\''")
        ))
    }

    /// A `terraform_data` that takes the place of a resource for a function: its provisioners create and delete the
    /// function, which answers with its generation.
    fn function(&self, name: &str, generation: &str) -> Value {
        let source =
            format!("def handler(event, context):\n    return {{\"statusCode\": 200, \"body\": \"{generation}\"}}\n");
        let create = self.as_command(json!({ "operation": "create_function", "name": name, "source": source }));
        let delete = self.as_command(json!({
            "operation": "boto", "service": "lambda", "method": "delete_function", "arguments": { "FunctionName": name },
        }));
        json!({
            "input": self.arn(name),
            "triggers_replace": generation,
            "provisioner": [
                { "local-exec": { "command": create } },
                { "local-exec": { "when": "destroy", "command": delete } },
            ],
        })
    }
}

#[test]
fn functions_are_created_replaced_and_deleted_in_the_same_run() {
    let env = TestEnv::with_terraform();
    env.proxy.latency(SLOW);
    let function = |name: &str, generation: &str| env.function(name, generation);
    let gateway = |routes: &[(&str, Value)]| {
        let mut all = json!({ "GET /still": env.to("users") });
        for (route, target) in routes {
            all[route] = target.clone();
        }
        json!({ "route_config": all })
    };
    let route_to = |name: &str| json!({ "faas_function_arn": format!("${{terraform_data.{name}.output}}") });

    let one = gateway(&[("GET /new", route_to("first"))]);
    env.configs(&[("this", &one)], &json!({ "terraform_data": { "first": function("first", "one") } }));
    env.apply_config();
    assert_eq!(env.send("GET", "/new", None).body, "one");
    let client = env.load_client(("GET /still", "users /still"), &["GET /new"]);

    // The route moves to a second function. The first one is deleted after that.
    let two = gateway(&[("GET /new", route_to("second"))]);
    env.configs(&[("this", &two)], &json!({ "terraform_data": { "second": function("second", "two") } }));
    let before = env.slots();
    env.apply_config();
    assert_eq!(env.send("GET", "/new", None).body, "two");
    let calls = sorted(env.calls(&before));
    let expected = [
        "AddPermission permission.second",
        "RemovePermission permission.first",
        "UpdateIntegration integration.GET /new",
    ];
    assert_eq!(calls, expected);
    client.saw_no_error();

    // While the function does not exist, its route fails, so only the other route is called from here on.
    let client = env.load_client(("GET /still", "users /still"), &[]);

    // Terraform deletes the second function with its policy and creates it again, after the refresh of the gateway. The
    // input of the gateway is the same afterwards, but the same run restores the permission.
    env.configs(&[("this", &two)], &json!({ "terraform_data": { "second": function("second", "three") } }));
    let before = env.slots();
    env.proxy.clear_calls();
    env.workspace.apply(&[]).succeeded();
    assert_eq!(env.calls(&before), ["AddPermission permission.second"]);
    env.workspace.assert_nothing_to_do();
    assert_eq!(env.send("GET", "/new", None).body, "three");
    client.saw_no_error();
    env.destroy();
}

#[test]
fn a_permission_is_restored_although_the_same_run_changes_routes() {
    let env = TestEnv::with_terraform();
    let first = json!({ "terraform_data": { "first": env.function("first", "one") } });
    let route = json!({ "GET /a": { "faas_function_arn": "${terraform_data.first.output}" } });
    env.configs(&[("this", &json!({ "route_config": route }))], &first);
    env.apply_config();

    let both = with(&route, &json!({ "GET /b": env.to("orders") }));
    env.configs(&[("this", &json!({ "route_config": both }))], &first);
    let before = env.slots();
    env.proxy.clear_calls();
    env.workspace.apply(&["-replace=terraform_data.first"]).succeeded();
    let expected = [
        "AddPermission permission.first",
        "AddPermission permission.orders",
        "CreateIntegration orders",
        "CreateRoute GET /b",
    ];
    assert_eq!(sorted(env.calls(&before)), expected);
    let policy = env.proxy.account().boto("lambda", "get_policy", json!({ "FunctionName": "first" }));
    assert!(text(&policy["Policy"]).contains("apigateway.amazonaws.com"), "{policy}");
    env.workspace.assert_nothing_to_do();
    assert_eq!(env.send("GET", "/a", None).body, "one");
    env.end();
}

#[test]
fn a_certificate_and_a_key_are_created_in_the_same_apply() {
    let env = TestEnv::with_terraform();
    let account = env.proxy.account();
    let call = |service: &str, method: &str, arguments: Value| {
        let request = json!({ "operation": "boto", "service": service, "method": method, "arguments": arguments });
        json!({ "local-exec": { "command": env.as_command(request) } })
    };
    let key = text(&account.boto("kms", "create_key", json!({}))["KeyMetadata"]["KeyId"]);
    let first = json!({ "provisioner": [
        call("acm", "request_certificate", json!({ "DomainName": "shop.example.com" })),
        call("kms", "create_alias", json!({ "AliasName": "alias/shop", "TargetKeyId": key })),
    ] });
    let gateway = json!({
        "route_config": { "GET /a": env.to("orders") },
        "domain_name": "shop.example.com",
        "access_log_logservice_group_name": "/shop/access",
        "access_log_logservice_group_kms_key_id": "alias/shop",
    });
    let depends = with(&gateway, &json!({ "depends_on": ["terraform_data.first"] }));
    env.configs(&[("this", &depends)], &json!({ "terraform_data": { "first": first } }));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("ACM has no certificate for \"shop.example.com\""), "{plan}");
    assert!(plan.says("There is no KMS key \"alias/shop\""), "{plan}");
    env.workspace.apply_plan().succeeded();
    env.workspace.assert_nothing_to_do();
    assert!(text(&env.attribute("certificate_arn")).starts_with("arn:aws:acm:"));
    let groups = account.boto("logs", "describe_log_groups", json!({}));
    assert!(text(&groups["logGroups"][0]["kmsKeyId"]).ends_with(&key), "{groups}");
    env.end();
}

#[test]
fn a_certificate_that_is_unknown_at_plan_is_used_at_apply() {
    let env = TestEnv::with_terraform();
    let request =
        || env.proxy.account().boto("acm", "request_certificate", json!({ "DomainName": "shop.example.com" }));
    let [validated, other] = [request(), request()].map(|it| text(&it["CertificateArn"]));
    let gateway = |certificate: &str| {
        json!({
            "route_config": { "GET /a": env.to("orders") },
            "domain_name": "shop.example.com",
            "certificate_arn": certificate,
        })
    };
    let with_validation = |arn: &str| {
        let validation = json!({ "terraform_data": { "validation": { "input": arn, "triggers_replace": arn } } });
        env.configs(&[("this", &gateway("${terraform_data.validation.output}"))], &validation);
    };
    with_validation(&validated);
    let plan = env.workspace.plan_json(&[]);
    let changes = plan["resource_changes"].as_array().expect("a list").iter();
    let unknown = changes.filter(|it| it["type"] == "fgw_http_gateway").map(|it| &it["change"]["after_unknown"]);
    assert_eq!(unknown.map(|it| &it["certificate_arn"]).collect::<Vec<_>>(), [&json!(true)]);
    env.workspace.apply(&[]).succeeded();
    assert_eq!(env.attribute("certificate_arn"), validated);
    env.workspace.assert_nothing_to_do();

    // A rotation in one run: the new certificate is known only at apply.
    with_validation(&other);
    let before = env.slots();
    env.proxy.clear_calls();
    env.workspace.apply(&[]).succeeded();
    assert_eq!(env.calls(&before), ["UpdateDomainName shop.example.com"]);
    assert_eq!(env.attribute("certificate_arn"), other);
    assert_eq!(env.proxy.count("ListCertificates"), 0, "no lookup is needed");
    env.workspace.assert_nothing_to_do();
    env.end();
}

/// A text in which Terraform finds no template.
fn escaped(text: &str) -> String {
    text.replace("${", "$${").replace("%{", "%%{")
}
