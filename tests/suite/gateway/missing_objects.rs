//! Objects that a configuration names and that do not exist, and names that are not free: the plan reports them, so
//! that no create ends tainted.

use serde_json::{Value, json};

use super::{THIS, TestEnv, text, with};

const GROUP: &str = "/shop/access";

fn routes(env: &TestEnv, function: &str) -> Value {
    json!({ "route_config": { "GET /a": env.to(function), "GET /b": env.to(function) } })
}

fn logging(env: &TestEnv) -> Value {
    with(&routes(env, "orders"), &json!({ "access_log_logservice_group_name": GROUP }))
}

#[test]
fn a_misspelled_function_is_a_warning_that_names_the_argument() {
    let env = TestEnv::with_terraform();
    env.config(&routes(&env, "ordres"));
    let plan = env.workspace.plan(&[]);
    assert_eq!(plan.code, 2, "{plan}");
    assert!(plan.says("Warning: route_config[\"GET /a\"].faas_function_arn of fgw_http_gateway"), "{plan}");
    assert!(plan.says("There is no function \"ordres\" in us-east-1. 1 more inputs name it."), "{plan}");
    assert!(plan.says("correct faas_function_arn of \"GET /a\""), "{plan}");

    // Another resource of the same run creates it.
    env.proxy.account().create_function("ordres", "def handler(event, context):\n    return 'ordres'\n");
    env.workspace.apply_plan().succeeded();
    env.workspace.assert_nothing_to_do();
    env.destroy();
}

#[test]
fn a_plan_looks_up_only_new_functions() {
    let env = TestEnv::new();
    env.config(&routes(&env, "orders"));
    env.workspace.apply(&[]).succeeded();
    let lookups = |config: &Value| {
        env.config(config);
        env.proxy.clear_calls();
        let plan = env.workspace.plan(&[]);
        assert!(!plan.says("There is no function"), "{plan}");
        let calls = env.proxy.calls().into_iter().filter(|it| it.call.action == "GetFunctionConfiguration");
        calls
            .map(|it| it.call.param("FunctionName").rsplit(':').next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(lookups(&routes(&env, "orders")), [""; 0]);
    assert_eq!(lookups(&with(&routes(&env, "orders"), &json!({ "description": "x" }))), [""; 0]);
    let more = json!({ "GET /a": env.to("orders"), "GET /b": env.to("users"), "GET /c": env.to("users") });
    assert_eq!(lookups(&json!({ "route_config": more })), ["users"]);
    env.end();
}

#[test]
fn a_plan_after_the_deletion_of_a_function_names_it() {
    let env = TestEnv::new();
    env.config(&routes(&env, "orders"));
    env.workspace.apply(&[]).succeeded();
    env.proxy.account().boto("lambda", "delete_function", json!({ "FunctionName": "orders" }));
    let plan = env.workspace.plan(&[]);
    assert_eq!(plan.code, 2, "{plan}");
    assert!(plan.says("There is no function \"orders\" in us-east-1."), "{plan}");
    env.destroy();
}

#[test]
fn an_existing_log_group_is_refused_before_the_create() {
    let env = TestEnv::with_terraform();
    env.proxy.account().boto("logs", "create_log_group", json!({ "logGroupName": GROUP }));
    env.config(&logging(&env));
    let apply = env.workspace.apply(&[]);
    apply.failed_with("Invalid value for access_log_logservice_group_name");
    apply.failed_with("The log group \"/shop/access\" exists already and is not managed by this resource");
    apply.failed_with("set \"log_group\" = \"/shop/access\" in adopt, once the resource exists");
    assert!(env.proxy.mutations().is_empty(), "{:?}", env.proxy.mutations());

    // As the message says.
    env.config(&routes(&env, "orders"));
    env.workspace.apply(&[]).succeeded();
    env.config(&with(&logging(&env), &json!({ "adopt": { "log_group": GROUP } })));
    env.workspace.apply(&[]).succeeded();
    env.config(&logging(&env));
    env.workspace.assert_nothing_to_do();

    // A replacement deletes and creates the group again.
    env.workspace.apply(&["-replace", THIS]).succeeded();
    env.workspace.assert_nothing_to_do();
    env.end();
}

#[test]
fn an_existing_record_or_a_wrong_zone_is_refused_before_the_create() {
    let env = TestEnv::with_terraform();
    let account = env.proxy.account();
    account.boto("acm", "request_certificate", json!({ "DomainName": "*.example.com" }));
    let zone = |name: &str| {
        let created = account.boto("route53", "create_hosted_zone", json!({ "Name": name, "CallerReference": name }));
        text(&created["HostedZone"]["Id"]).trim_start_matches("/hostedzone/").to_owned()
    };
    let (ours, other) = (zone("example.com"), zone("example.org"));
    let change = |action: &str, kind: &str, value: &str| {
        let records = json!([{ "Value": value }]);
        let record = json!({ "Name": "api.example.com", "Type": kind, "TTL": 60, "ResourceRecords": records });
        let batch = json!({ "Changes": [{ "Action": action, "ResourceRecordSet": record }] });
        account.boto("route53", "change_resource_record_sets", json!({ "HostedZoneId": ours, "ChangeBatch": batch }));
    };
    let config = |zone: &str| {
        let domain = json!({ "domain_name": "api.example.com", "create_dns_entry": true, "hosted_zone_id": zone });
        env.config(&with(&routes(&env, "orders"), &domain));
    };
    let refused = |says: &[&str]| {
        let plan = env.workspace.plan(&[]);
        for text in says {
            plan.failed_with(text);
        }
    };
    for (kind, value) in [("A", "192.0.2.1"), ("CNAME", "www.example.net")] {
        change("CREATE", kind, value);
        config(&ours);
        refused(&[
            "Invalid value for domain_name",
            &format!("{kind} record in hosted zone {ours}, which points to {value}"),
        ]);
        change("DELETE", kind, value);
    }
    config(&other);
    refused(&[
        "Invalid value for hosted_zone_id",
        "is that of \"example.org\", which does not contain \"api.example.com\"",
    ]);
    config("Z00000000000000000000");
    refused(&["The hosted zone Z00000000000000000000 of hosted_zone_id does not exist in this account."]);
    assert!(env.proxy.mutations().is_empty(), "{:?}", env.proxy.mutations());

    config(&ours);
    env.workspace.apply(&[]).succeeded();
    // The domain and the record belong to the gateway that the plan replaces.
    env.workspace.apply(&["-replace", THIS]).succeeded();
    env.workspace.assert_nothing_to_do();
    env.end();
}
