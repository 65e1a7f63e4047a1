//! Adoptions of a log group and a custom domain by a gateway that is managed already: they add nothing but tags to
//! these objects.

use serde_json::{Value, json};

use super::adoption::changes;
use super::{THIS, TestEnv, text, with};
use crate::support::foreign::api::ForeignApi;
use crate::support::proxy::fault::Fault;

const GROUP: &str = "/legacy/access";
const DOMAIN: &str = "api.example.com";

/// The inputs of a gateway without access logs and without a domain.
fn plain(env: &TestEnv) -> Value {
    json!({ "route_config": { "GET /a": env.to("orders") } })
}

/// The inputs that reproduce [`ForeignApi::log_group`].
fn logging(env: &TestEnv) -> Value {
    json!({
        "access_log_logservice_group_name": GROUP,
        "access_log_logservice_group_retention_in_days": 14,
        "access_log_logservice_group_subscription_destination_arn": env.arn("keeper"),
    })
}

/// A log group of the account.
fn log_group(env: &TestEnv) -> Value {
    let groups = env.proxy.account().list_of("log_groups");
    groups.into_iter().find(|group| group["logGroupName"] == GROUP).expect("it exists")
}

/// Asserts that nothing changes without `adopt`, and that a destroy leaves only the permissions of another tool.
fn assert_adopted(env: &TestEnv, api: &ForeignApi, inputs: &Value) {
    env.config(inputs);
    env.workspace.assert_nothing_to_do();
    env.workspace.destroy().succeeded();
    api.remove_permissions();
    env.proxy.account().assert_nothing_of_ours_is_left();
}

#[test]
fn a_log_group_and_a_domain_that_exist_are_adopted() {
    let env = TestEnv::with_terraform();
    env.apply(&plain(&env));
    let api = ForeignApi::within(&env.proxy, text(&env.attribute("api_id")));
    api.log_group(GROUP, "keeper");
    let zone = api.domain();
    env.proxy.clear_calls();

    let domain = json!({ "domain_name": DOMAIN, "create_dns_entry": true, "hosted_zone_id": zone });
    let all = with(&plain(&env), &with(&logging(&env), &domain));
    env.config(&with(&all, &json!({ "adopt": { "log_group": GROUP, "domain": DOMAIN } })));
    let plan = env.workspace.plan_json(&[]);
    let planned = &plan["resource_changes"][0]["change"]["after"]["aws_objects"];
    for (key, id) in [("log_group", GROUP), ("domain", DOMAIN)] {
        assert_eq!(planned[key], json!(id), "{planned}");
    }
    for key in ["log_subscription", "api_mapping", "dns_record"] {
        assert!(planned[key].is_string(), "the plan takes over {key}: {planned}");
    }
    env.workspace.apply_plan().succeeded();
    // The stage writes its access logs to the group. The permission is that of the subscription.
    assert_eq!(changes(&env), ["AddPermission 1", "TagResource 2", "UpdateStage 1"]);
    assert_eq!(env.attribute("unmanaged_objects"), json!({}));
    env.workspace.assert_nothing_to_do();
    assert_adopted(&env, &api, &all);
}

#[test]
fn a_tainted_gateway_adopts_after_untaint_as_the_message_says() {
    let env = TestEnv::with_terraform();
    env.apply(&plain(&env));
    let id = text(&env.attribute("api_id"));
    let api = ForeignApi::within(&env.proxy, id.clone());
    api.log_group(GROUP, "keeper");
    env.workspace.run(&["taint", "-no-color", THIS]).succeeded();
    let all = with(&plain(&env), &logging(&env));
    env.config(&with(&all, &json!({ "adopt": { "log_group": GROUP } })));
    let refused = env.workspace.plan(&[]);
    assert!(refused.says("If the resource is tainted, run this command with its address"), "{refused}");

    env.workspace.run(&["untaint", "-no-color", THIS]).succeeded();
    env.workspace.apply(&[]).succeeded();
    assert_eq!((text(&env.attribute("api_id")), &env.attribute("aws_objects")["log_group"]), (id, &json!(GROUP)));
    assert_adopted(&env, &api, &all);
}

#[test]
fn an_unlisted_subscription_and_record_stay_unmanaged() {
    let env = TestEnv::new();
    env.apply(&plain(&env));
    let api = ForeignApi::within(&env.proxy, text(&env.attribute("api_id")));
    api.log_group(GROUP, "keeper");
    let zone = json!({ "HostedZoneId": api.domain() });
    let records = || env.proxy.account().boto("route53", "list_resource_record_sets", zone.clone());
    let before = records();
    env.proxy.clear_calls();

    let further = json!({ "access_log_logservice_group_name": GROUP,
        "access_log_logservice_group_retention_in_days": 14, "domain_name": DOMAIN });
    let all = with(&plain(&env), &further);
    env.config(&with(&all, &json!({ "adopt": { "log_group": GROUP, "domain": DOMAIN } })));
    env.workspace.apply(&[]).succeeded();
    assert_eq!(changes(&env), ["TagResource 2", "UpdateStage 1"]);
    let objects = env.attribute("aws_objects");
    assert!(objects["log_subscription"].is_null() && objects["dns_record"].is_null(), "{objects}");
    env.workspace.assert_nothing_to_do();
    env.config(&all);
    env.workspace.assert_nothing_to_do();
    assert_eq!(log_group(&env)["subscriptionFilters"].as_array().map(Vec::len), Some(1));
    env.workspace.destroy().succeeded();
    assert_eq!(records(), before);
    api.remove_permissions();
    env.proxy.account().assert_nothing_of_ours_is_left();
}

#[test]
fn further_objects_that_differ_are_refused() {
    let env = TestEnv::new();
    env.apply(&plain(&env));
    let account = env.proxy.account();
    let api = ForeignApi::within(&env.proxy, text(&env.attribute("api_id")));
    let group = api.log_group(GROUP, "keeper");
    let other = ForeignApi::new(&env.proxy, "HTTP");
    other.create("stage", json!({ "StageName": "$default", "AutoDeploy": true }));
    other.domain();
    let before = account.list_of("log_groups");
    env.proxy.clear_calls();
    let refused = |adopt: Value, more: &Value, texts: &[&str]| {
        let inputs = with(&with(&plain(&env), &logging(&env)), more);
        env.config(&with(&inputs, &json!({ "adopt": adopt })));
        let plan = env.workspace.plan(&[]);
        for expected in texts {
            plan.failed_with(expected);
        }
    };
    let cannot = "This object cannot be adopted";
    let changes_nothing = "An adoption changes nothing but tags";
    let named = || json!({ "log_group": GROUP });

    refused(json!({ "log_group": "/legacy/absent" }), &json!({}), &[cannot, "there is no object /legacy/absent that"]);
    refused(json!({ "route.GET /a": "abc" }), &json!({}), &["The resource manages another object under this key"]);
    refused(
        json!({ "log_subscription": GROUP }),
        &json!({}),
        &[cannot, "adopt can name only \"log_group\", \"domain\" and VPC links"],
    );
    let days = json!({ "access_log_logservice_group_retention_in_days": 30 });
    refused(
        named(),
        &days,
        &[
            changes_nothing,
            "retention_in_days is 30 instead of 14",
            "access_log_logservice_group_retention_in_days = 14",
        ],
    );
    let renamed = json!({ "access_log_logservice_group_name": "/other" });
    refused(named(), &renamed, &[changes_nothing, "name is /other instead of /legacy/access"]);
    let off = json!({ "access_log_logservice_group_name": null, "access_log_logservice_group_retention_in_days": null,
        "access_log_logservice_group_subscription_destination_arn": null });
    refused(named(), &off, &[cannot, "this configuration does not require log_group"]);
    let at_domain = json!({ "domain_name": DOMAIN, "create_dns_entry": false });
    let reason = format!("it has a mapping to the API {}", other.id);
    refused(json!({ "log_group": GROUP, "domain": DOMAIN }), &at_domain, &[cannot, &reason]);

    let owner = json!({ "fgw:resource": "http_gateway/another" });
    account.boto("logs", "tag_resource", json!({ "resourceArn": group, "tags": owner }));
    refused(named(), &json!({}), &[cannot, "fgw:resource is \"http_gateway/another\", so another resource manages it"]);
    account.boto("logs", "untag_resource", json!({ "resourceArn": group, "tagKeys": ["fgw:resource"] }));
    assert_eq!(changes(&env), [""; 0]);
    assert_eq!(account.list_of("log_groups"), before);

    env.config(&plain(&env));
    env.workspace.destroy().succeeded();
    api.remove_permissions();
    account.assert_nothing_of_ours_is_left();
    assert_eq!(log_group(&env)["retentionInDays"], 14, "it was never managed");
}

/// With a second filter, each event would be delivered twice.
#[test]
fn a_completed_adoption_adds_no_second_filter() {
    let env = TestEnv::new();
    env.apply(&plain(&env));
    let api = ForeignApi::within(&env.proxy, text(&env.attribute("api_id")));
    api.log_group(GROUP, "keeper");
    let all = with(&plain(&env), &logging(&env));
    env.config(&with(&all, &json!({ "adopt": { "log_group": GROUP } })));
    env.proxy.fault(Fault::on("AddPermission").answer(403, "AccessDeniedException", "not you"));
    env.workspace.apply(&[]).failed_with("not you");
    env.proxy.clear_faults();
    env.workspace.apply(&[]).succeeded();
    let filters = log_group(&env)["subscriptionFilters"].clone();
    assert_eq!(filters.as_array().map(Vec::len), Some(1), "{filters}");
    assert_eq!(env.attribute("aws_objects")["log_subscription"], json!(format!("{GROUP}|to-keeper")));
    assert_adopted(&env, &api, &all);
}

#[test]
fn a_group_that_was_created_again_keeps_its_subscription() {
    let env = TestEnv::new();
    let all = with(&plain(&env), &logging(&env));
    env.apply(&all);
    let api = ForeignApi::within(&env.proxy, text(&env.attribute("api_id")));
    env.proxy.account().boto("logs", "delete_log_group", json!({ "logGroupName": GROUP }));
    api.log_group(GROUP, "keeper");
    env.proxy.clear_calls();
    env.config(&with(&all, &json!({ "adopt": { "log_group": GROUP } })));
    env.workspace.apply(&[]).succeeded();
    // The permission of the old group has the same ID.
    assert_eq!(changes(&env), ["TagResource 1"]);
    assert_eq!(env.attribute("aws_objects")["log_subscription"], json!(format!("{GROUP}|to-keeper")));
    assert_adopted(&env, &api, &all);
}

#[test]
fn a_domain_that_was_created_again_is_adopted_with_its_mapping() {
    let env = TestEnv::new();
    let account = env.proxy.account();
    let certificate = account.boto("acm", "request_certificate", json!({ "DomainName": DOMAIN }));
    let arn = |certificate: &Value| certificate["CertificateArn"].clone();
    let at = |certificate: &Value| {
        let domain = json!({ "domain_name": DOMAIN, "certificate_arn": certificate });
        with(&plain(&env), &domain)
    };
    env.apply(&at(&arn(&certificate)));
    let api = ForeignApi::within(&env.proxy, text(&env.attribute("api_id")));
    let mapping = json!({ "DomainName": DOMAIN, "ApiMappingId": env.attribute("aws_objects")["api_mapping"] });
    account.boto("apigatewayv2", "delete_api_mapping", mapping);
    account.boto("apigatewayv2", "delete_domain_name", json!({ "DomainName": DOMAIN }));
    api.domain();
    env.proxy.clear_calls();

    let adopt = json!({ "adopt": { "domain": DOMAIN } });
    env.config(&with(&at(&arn(&certificate)), &adopt));
    env.workspace.plan(&[]).failed_with("These inputs reproduce what exists:\n  certificate_arn = ");
    let listed = account.boto("apigatewayv2", "get_domain_name", json!({ "DomainName": DOMAIN }));
    let theirs = listed["DomainNameConfigurations"][0]["CertificateArn"].clone();
    env.config(&with(&at(&theirs), &adopt));
    env.workspace.apply(&[]).succeeded();
    assert_eq!(changes(&env), ["TagResource 1"]);
    env.config(&at(&theirs));
    env.workspace.assert_nothing_to_do();
    env.destroy();
}

#[test]
fn a_log_group_that_was_created_again_is_adopted() {
    let env = TestEnv::new();
    let all = with(&plain(&env), &json!({ "access_log_logservice_group_name": GROUP }));
    env.apply(&all);
    let account = env.proxy.account();
    account.boto("logs", "delete_log_group", json!({ "logGroupName": GROUP }));
    account.boto("logs", "create_log_group", json!({ "logGroupName": GROUP, "tags": { "Owner": "operations" } }));
    env.proxy.clear_calls();

    let apply = env.workspace.apply(&[]);
    apply.failed_with(&format!("log group {GROUP} already exists and is not managed by this resource"));
    apply.failed_with(&format!("\"log_group\" = \"{GROUP}\" in adopt"));
    env.proxy.clear_calls();
    env.config(&with(&all, &json!({ "adopt": { "log_group": GROUP } })));
    env.workspace.apply(&[]).succeeded();
    assert_eq!(changes(&env), ["TagResource 1"]);
    assert_eq!(log_group(&env)["tags"]["Owner"], "operations", "no tag changes");
    env.workspace.assert_nothing_to_do();
    env.config(&all);
    env.workspace.assert_nothing_to_do();
    env.end();
}
