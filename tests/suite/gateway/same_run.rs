//! What a gateway needs is made in the same run, by resources that it refers to or depends on.

use serde_json::{Value, json};

use super::change::sorted;
use super::{SLOW, TestEnv, text, with};
use crate::support::venv;

impl TestEnv {
    /// A command for a provisioner that asks the account for something, as Terraform reads it.
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
}

#[test]
fn functions_are_made_exchanged_and_deleted_in_the_same_run_as_the_gateway() {
    let bed = TestEnv::with_terraform();
    bed.proxy.latency(SLOW);
    // Terraform's own resource stands in for a function's: it is made, with its function, in the middle of the apply.
    let function = |name: &str, generation: &str| {
        let source =
            format!("def handler(event, context):\n    return {{\"statusCode\": 200, \"body\": \"{generation}\"}}\n");
        let make = bed.as_command(json!({ "operation": "create_function", "name": name, "source": source }));
        let delete = bed.as_command(json!({
            "operation": "boto", "service": "lambda", "method": "delete_function", "arguments": { "FunctionName": name },
        }));
        json!({
            "input": bed.arn(name),
            "triggers_replace": generation,
            "provisioner": [
                { "local-exec": { "command": make } },
                { "local-exec": { "when": "destroy", "command": delete } },
            ],
        })
    };
    let gateway = |routes: &[(&str, Value)]| {
        let mut all = json!({ "GET /still": bed.to("users") });
        for (route, target) in routes {
            all[route] = target.clone();
        }
        json!({ "route_config": all })
    };
    let made_here = |name: &str| json!({ "faas_function_arn": format!("${{terraform_data.{name}.output}}") });

    let one = gateway(&[("GET /new", made_here("first"))]);
    bed.configs(&[("this", &one)], &json!({ "terraform_data": { "first": function("first", "one") } }));
    bed.apply_config();
    assert_eq!(bed.call("GET", "/new", None).body, "one");
    let visitor = bed.visit(("GET /still", "users /still"), &["GET /new"]);

    // Another function is made, the route goes to it, and the first one is deleted: after the route has left it.
    let two = gateway(&[("GET /new", made_here("second"))]);
    bed.configs(&[("this", &two)], &json!({ "terraform_data": { "second": function("second", "two") } }));
    let before = bed.slots();
    bed.apply_config();
    assert_eq!(bed.call("GET", "/new", None).body, "two");
    let told = sorted(bed.told(&before));
    assert!(told.contains(&"UpdateRoute route.GET /new".to_owned()), "{told:?}");
    assert_eq!(told.len(), 5, "permission, integration, route, and away with the old two: {told:?}");
    visitor.saw_no_error();

    // A function that is not there answers nobody, so only the other route is called from here on.
    let visitor = bed.visit(("GET /still", "users /still"), &[]);

    // Terraform deletes the second function and makes it anew, and its policy goes with it. When Terraform comes to the
    // gateway, its configuration is what it was and no one has looked at AWS since: the next run does, and mends that.
    bed.configs(&[("this", &two)], &json!({ "terraform_data": { "second": function("second", "three") } }));
    bed.workspace.apply(&[]).succeeded();
    let before = bed.slots();
    bed.proxy.clear_calls();
    bed.workspace.apply(&[]).succeeded();
    assert_eq!(bed.told(&before), ["AddPermission permission.second"]);
    bed.workspace.assert_nothing_to_do();
    assert_eq!(bed.call("GET", "/new", None).body, "three");
    visitor.saw_no_error();
    bed.destroy();
}

#[test]
fn a_certificate_and_a_key_that_the_gateway_depends_on_are_made_before_it_in_one_apply() {
    let bed = TestEnv::with_terraform();
    let account = bed.proxy.account();
    let ask = |service: &str, method: &str, arguments: Value| {
        let request = json!({ "operation": "boto", "service": service, "method": method, "arguments": arguments });
        json!({ "local-exec": { "command": bed.as_command(request) } })
    };
    let key = text(&account.boto("kms", "create_key", json!({}))["KeyMetadata"]["KeyId"]);
    let made_first = json!({ "provisioner": [
        ask("acm", "request_certificate", json!({ "DomainName": "shop.example.com" })),
        ask("kms", "create_alias", json!({ "AliasName": "alias/shop", "TargetKeyId": key })),
    ] });
    let gateway = json!({
        "route_config": { "GET /a": bed.to("orders") },
        "domain_name": "shop.example.com",
        "access_log_logservice_group_name": "/shop/access",
        "access_log_logservice_group_kms_key_id": "alias/shop",
    });
    let depends = with(&gateway, &json!({ "depends_on": ["terraform_data.first"] }));
    bed.configs(&[("this", &depends)], &json!({ "terraform_data": { "first": made_first } }));
    let plan = bed.workspace.plan(&[]);
    assert!(plan.says("ACM has no certificate for \"shop.example.com\""), "{plan}");
    assert!(plan.says("There is no KMS key \"alias/shop\""), "{plan}");
    bed.workspace.apply_plan().succeeded();
    bed.workspace.assert_nothing_to_do();
    assert!(text(&bed.attribute("certificate_arn")).starts_with("arn:aws:acm:"));
    let groups = account.boto("logs", "describe_log_groups", json!({}));
    assert!(text(&groups["logGroups"][0]["kmsKeyId"]).ends_with(&key), "{groups}");
    bed.destroy();
}

/// A text in which Terraform sees no template.
fn escaped(text: &str) -> String {
    text.replace("${", "$${").replace("%{", "%%{")
}
