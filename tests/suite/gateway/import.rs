//! Imports of gateways by their ids: nothing changes in AWS, and the plan that follows is empty.

use serde_json::{Value, json};

use super::snapshot::snapshot;
use super::{SECRET, THIS, TestEnv, examples, text, with};
use crate::support::proxy::log::Record;

/// Removes a gateway from state, imports it by its id, and asserts that no call changed anything.
fn reimport(env: &TestEnv, address: &str) {
    env.proxy.clear_calls();
    env.workspace.reimport(address);
    assert_nothing_changed(env);
}

fn assert_nothing_changed(env: &TestEnv) {
    let changes: Vec<String> = env.proxy.mutations().into_iter().map(|Record { call, .. }| call.action).collect();
    assert!(changes.is_empty(), "an import and its plan change something in AWS: {changes:?}");
}

/// Deletes a file of the workspace, so that it is not part of the following configurations.
fn remove(env: &TestEnv, file: &str) {
    std::fs::remove_file(env.workspace.path().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
}

/// The inputs that the first apply after an import records: an import keeps a log group, until an apply says otherwise.
fn recorded(attributes: &Value) -> &'static [&'static str] {
    let has_group = !attributes["access_log_logservice_group_name"].is_null();
    if has_group { &["access_log_logservice_group_skip_destroy"] } else { &[] }
}

/// Imports a gateway with these attributes again, generates its configuration, and destroys it.
fn assert_survives_import(env: &TestEnv, attributes: &Value) {
    let before = snapshot(env.proxy.account());
    let objects = env.attribute("aws_objects");
    reimport(env, THIS);
    assert_eq!(env.attribute("aws_objects"), objects);
    env.workspace.assert_records_only(recorded(attributes));
    env.workspace.plan(&["-refresh=false"]).succeeded();
    assert_generates(env);
    env.config(attributes);
    env.workspace.assert_records_only(recorded(attributes));
    assert_nothing_changed(env);
    assert_eq!(snapshot(env.proxy.account()), before);
    env.destroy();
}

/// Generates the configuration of the gateway, which is part of an import, and asserts that nothing changes in AWS.
fn assert_generates(env: &TestEnv) {
    let id = text(&env.attribute("id"));
    remove(env, "main.tf.json");
    env.proxy.clear_calls();
    env.workspace.generate(THIS, &id);
    assert_nothing_changed(env);
    remove(env, "main.tf");
}

/// A gateway with all settings of routes, authorizers, CORS and access logs.
pub(super) fn whole(env: &TestEnv) -> Value {
    json!({
        "description": "Orders and users.", "api_version": "7",
        "api_tags": { "team": "web" }, "stage_tags": { "level": "live" },
        "route_config": {
            "GET /orders": env.to("orders"),
            "POST /orders/{id}": with(&env.guarded("orders", "customers"), &json!({ "timeout_milliseconds": 9000 })),
            "ANY /users/{proxy+}": with(&env.guarded("users", "staff"),
                &json!({ "payload_format_version": "2.0", "description": "people" })),
        },
        "faas_authorizers": {
            "customers": {
                "authorizer_name": "guard", "authorizer_payload_format_version": "2.0",
                "enable_simple_responses": true,
                "identity_sources": ["$request.header.x-key", "$context.path"], "result_ttl_in_seconds": 0,
            },
            "staff": { "authorizer_name": env.arn("keeper"), "authorizer_payload_format_version": "2.0",
                "enable_simple_responses": true },
            "spare": { "authorizer_name": "keeper" },
        },
        "cors_configuration": {
            "allow_origins": ["https://shop.example", "https://admin.example"], "allow_methods": ["GET", "POST"],
            "allow_headers": ["x-key", "content-type"], "max_age": 60,
        },
        "access_log_logservice_group_name": "/shop/access",
        "access_log_logservice_group_retention_in_days": 30,
        "access_log_logservice_group_tags": { "kept": "short" },
        "access_log_format_type": "CUSTOM",
        "custom_access_log_format": "$context.requestId $context.status",
    })
}

#[test]
fn every_example_survives_import() {
    for example in examples::all() {
        let env = TestEnv::with_terraform();
        let body = examples::prepared(&env, &example);
        env.workspace.config(&body);
        env.workspace.apply(&[]).succeeded();
        let addresses: Vec<String> = body
            .split("resource \"fgw_http_gateway\" \"")
            .skip(1)
            .filter_map(|rest| Some(format!("fgw_http_gateway.{}", rest.split_once('"')?.0)))
            .collect();
        assert!(!addresses.is_empty(), "{} has gateways", example.display());
        for address in &addresses {
            reimport(&env, address);
        }
        // An import states the authorizer of each route, and not a default one, and keeps a log group.
        let plan = env.workspace.plan(&[]);
        let is_recorded =
            ["default_authorizer_name", "access_log_logservice_group_name"].iter().any(|it| body.contains(it));
        assert_eq!(plan.code != 0, is_recorded, "{plan}");
        assert!(plan.code == 0 || plan.says("after its import changes nothing in AWS"), "{plan}");
        let [address] = &addresses[..] else { panic!("an example has one gateway: {addresses:?}") };
        env.workspace.generate(address, &text(env.workspace.state().attribute(address, "id")));
        env.workspace.config(&body);
        env.workspace.apply(&[]).succeeded();
        env.workspace.assert_nothing_to_do();
        assert_nothing_changed(&env);
        env.workspace.destroy().succeeded();
        env.proxy.account().assert_nothing_of_ours_is_left();
    }
}

#[test]
fn a_gateway_with_all_settings_survives_import() {
    let env = TestEnv::with_terraform();
    env.apply(&whole(&env));
    assert_survives_import(&env, &whole(&env));
}

#[test]
fn a_gateway_without_settings_survives_import() {
    let env = TestEnv::with_terraform();
    let attributes = json!({ "route_config": { "$default": env.to("orders") } });
    env.apply(&attributes);
    assert_survives_import(&env, &attributes);
}

#[test]
fn a_domain_its_record_and_a_log_stream_survive_import() {
    let env = TestEnv::with_terraform();
    let account = env.proxy.account();
    account.boto("acm", "request_certificate", json!({ "DomainName": "*.example.com" }));
    let key = account.boto("kms", "create_key", json!({}))["KeyMetadata"]["Arn"].clone();
    let attributes = json!({
        "route_config": { "GET /a": env.to("orders") },
        "domain_name": "api.example.com", "hosted_zone_id": zone(&env), "create_dns_entry": true,
        "access_log_logservice_group_name": "/shop/access",
        "access_log_logservice_group_kms_key_id": key,
        "access_log_format_type": "CLF",
        "access_log_logservice_group_subscription_destination_arn":
            format!("arn:aws:kinesis:us-east-1:{}:stream/sink", account.id),
        "access_log_logservice_group_subscription_role_arn": "arn:aws:iam::123456789012:role/logs",
        "access_log_logservice_group_subscription_distribution": "Random",
        "access_log_logservice_group_subscription_filter_pattern": "[ip, user, rest]",
    });
    env.apply(&attributes);
    assert_survives_import(&env, &attributes);
}

#[test]
fn a_given_certificate_survives_import() {
    let env = TestEnv::with_terraform();
    let account = env.proxy.account();
    let request = || account.boto("acm", "request_certificate", json!({ "DomainName": "api.example.com" }));
    let arns = [request(), request()].map(|it| it["CertificateArn"].clone());
    // Without it, the plan after the import would choose the other certificate.
    let attributes = json!({
        "route_config": { "GET /a": env.to("orders") }, "domain_name": "api.example.com",
        "certificate_arn": arns.iter().min_by_key(|arn| text(arn)),
    });
    env.apply(&attributes);
    assert_survives_import(&env, &attributes);
}

#[test]
fn an_unmanaged_record_survives_import_and_destroy() {
    let env = TestEnv::with_terraform();
    let account = env.proxy.account();
    account.boto("acm", "request_certificate", json!({ "DomainName": "api.example.com" }));
    let zone = zone(&env);
    let attributes = json!({ "route_config": { "GET /a": env.to("orders") }, "domain_name": "api.example.com" });
    env.apply(&attributes);
    let target = env.attribute("domain_target");
    let alias = json!({ "Name": "api.example.com", "Type": "A", "AliasTarget": {
        "DNSName": target["domain_name"], "HostedZoneId": target["hosted_zone_id"], "EvaluateTargetHealth": false,
    } });
    let batch = json!({ "Changes": [{ "Action": "CREATE", "ResourceRecordSet": alias }] });
    let change = json!({ "HostedZoneId": zone, "ChangeBatch": batch });
    account.boto("route53", "change_resource_record_sets", change);
    let records = || {
        let listed = account.boto("route53", "list_resource_record_sets", json!({ "HostedZoneId": zone }));
        listed["ResourceRecordSets"].clone()
    };
    let theirs = records();
    env.workspace.assert_nothing_to_do();

    // An import cannot determine whether the record is managed. The configuration decides that.
    reimport(&env, THIS);
    env.proxy.clear_calls();
    env.workspace.apply(&[]).succeeded();
    env.workspace.assert_nothing_to_do();
    assert_nothing_changed(&env);
    assert_eq!(env.attribute("aws_objects")["dns_record"], json!(null));
    assert_eq!(records(), theirs);
    env.destroy();
    assert_eq!(records(), theirs);
}

/// Creates the hosted zone `example.com` and returns its id.
fn zone(env: &TestEnv) -> String {
    let zone = json!({ "Name": "example.com", "CallerReference": "zone" });
    let id = text(&env.proxy.account().boto("route53", "create_hosted_zone", zone)["HostedZone"]["Id"]);
    id.trim_start_matches("/hostedzone/").to_owned()
}

#[test]
fn equivalent_values_are_no_change_after_an_import() {
    let env = TestEnv::with_terraform();
    env.apply(&whole(&env));
    let mut other = whole(&env);
    other["faas_authorizers"]["customers"]["authorizer_name"] = json!(env.arn("guard"));
    other["faas_authorizers"]["customers"]["identity_sources"] = json!(["$context.path", "$request.header.x-key"]);
    let uri =
        format!("arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/{}/invocations", env.arn("keeper"));
    other["faas_authorizers"]["staff"]["authorizer_name"] = json!("any");
    other["faas_authorizers"]["staff"]["authorizer_uri"] = json!(uri);
    other["faas_authorizers"]["spare"]["result_ttl_in_seconds"] = json!(0);
    other["route_config"]["GET /orders"]["description"] = json!("");
    other["cors_configuration"]["allow_origins"] = json!(["https://admin.example", "https://shop.example"]);
    other["cors_configuration"]["allow_headers"] = json!(["Content-Type", "X-Key"]);
    env.config(&other);
    reimport(&env, THIS);
    env.workspace.assert_records_only(recorded(&other));
    assert_nothing_changed(&env);

    // Only real differences are applied.
    let slots = env.slots();
    other["route_config"]["GET /orders"]["description"] = json!("all of them");
    other["access_log_logservice_group_retention_in_days"] = json!(60);
    env.config(&other);
    env.apply_config();
    let calls = env.calls(&slots);
    for call in ["UpdateIntegration integration.GET /orders", "PutRetentionPolicy /shop/access"] {
        assert!(calls.iter().any(|it| it == call), "{call} is not among {calls:?}");
    }
    assert!(!calls.iter().any(|call| call.starts_with("DeleteAuthorizer")), "{calls:?}");
    assert_eq!(env.send("POST", "/orders/1", Some(SECRET)).body, "orders /orders/1");
    env.end();
}

#[test]
fn default_tags_and_unmanaged_tags_are_not_imported_as_inputs() {
    let env = TestEnv::with_terraform();
    let provider = std::fs::read_to_string(env.workspace.path().join("provider.tf")).expect("the provider block");
    let (head, tail) = provider.split_once("  region = ").expect("a provider block");
    let tags = "  default_tags {\n    tags = { cost = \"net\" }\n  }\n";
    env.workspace.write("provider.tf", &format!("{head}{tags}  region = {tail}"));
    let attributes = with(&whole(&env), &json!({ "api_tags": { "team": "web" } }));
    env.apply(&attributes);
    let arn = format!("arn:aws:apigateway:us-east-1::/apis/{}", text(&env.attribute("id")));
    let theirs = json!({ "ResourceArn": arn, "Tags": { "theirs": "stays" } });
    env.proxy.account().boto("apigatewayv2", "tag_resource", theirs);
    reimport(&env, THIS);
    assert_eq!(env.attribute("stage_tags"), json!({ "level": "live" }));
    assert_eq!(env.attribute("access_log_logservice_group_tags"), json!({ "kept": "short" }));
    env.workspace.assert_records_only(recorded(&attributes));
    let calls = env.change(&with(&attributes, &json!({ "api_tags": { "team": "api" } })));
    assert_eq!(calls, ["TagResource api"]);
    let shown = snapshot(env.proxy.account());
    assert!(shown.iter().any(|line| line.contains(r#""theirs":"stays""#)), "{shown:#?}");
    env.end();
}

#[test]
fn unmanaged_objects_are_neither_imported_nor_changed() {
    let env = TestEnv::with_terraform();
    let attributes = json!({ "route_config": { "GET /a": env.to("orders") } });
    env.apply(&attributes);
    let integration = json!({
        "IntegrationType": "AWS_PROXY", "IntegrationMethod": "POST", "PayloadFormatVersion": "1.0",
        "IntegrationUri": env.arn("orders"), "CredentialsArn": "arn:aws:iam::*:user/*",
    });
    let target = text(&env.api_call("create_integration", integration)["IntegrationId"]);
    env.api_call("create_route", json!({ "RouteKey": "GET /theirs", "Target": format!("integrations/{target}") }));
    let ours = text(&env.attribute("integration_ids")["GET /a"]);
    let signed = json!({ "RouteKey": "GET /signed", "Target": format!("integrations/{ours}"),
        "AuthorizationType": "COGNITO_USER_POOLS" });
    env.api_call("create_route", signed);
    let uri = format!("arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/{}/invocations", env.arn("guard"));
    let authorizer = json!({ "Name": "theirs", "AuthorizerType": "REQUEST", "AuthorizerUri": uri,
        "AuthorizerPayloadFormatVersion": "2.0", "IdentitySource": [], "AuthorizerResultTtlInSeconds": 0 });
    env.api_call("create_authorizer", authorizer);
    env.api_call("create_stage", json!({ "StageName": "theirs", "AutoDeploy": true }));
    let before = snapshot(env.proxy.account());
    reimport(&env, THIS);
    env.workspace.assert_nothing_to_do();
    assert_eq!(env.attribute("faas_authorizers"), json!({}));
    assert_generates(&env);
    env.config(&with(&attributes, &json!({ "description": "more" })));
    env.apply_config();
    let after = snapshot(env.proxy.account()).join("\n");
    assert_eq!(after, before.join("\n").replace("description -, version -", "description more, version -"));
    env.end();
}

#[test]
fn an_api_with_ownership_tags_of_a_user_is_imported() {
    let env = TestEnv::with_terraform();
    let account = env.proxy.account();
    let api = json!({ "Name": "shop", "ProtocolType": "HTTP", "Description": "theirs", "Tags": { "team": "web" } });
    let id = text(&account.boto("apigatewayv2", "create_api", api)["ApiId"]);
    let integration = json!({ "ApiId": id, "IntegrationType": "AWS_PROXY", "IntegrationUri": env.arn("orders"),
        "PayloadFormatVersion": "2.0", "TimeoutInMillis": 5000 });
    let target = text(&account.boto("apigatewayv2", "create_integration", integration)["IntegrationId"]);
    let route = json!({ "ApiId": id, "RouteKey": "GET /a", "Target": format!("integrations/{target}") });
    account.boto("apigatewayv2", "create_route", route);
    account.boto("apigatewayv2", "create_stage", json!({ "ApiId": id, "StageName": "$default", "AutoDeploy": true }));
    let route = with(&env.to("orders"), &json!({ "payload_format_version": "2.0", "timeout_milliseconds": 5000 }));
    let attributes = json!({ "description": "theirs", "route_config": { "GET /a": route } });
    env.config(&attributes);
    env.workspace.import(THIS, "00000000").failed_with("Could not import fgw_http_gateway 00000000: not found");
    assert_nothing_changed(&env);

    let arn = format!("arn:aws:apigateway:us-east-1::/apis/{id}");
    let tag = |arn: &str, tags: Value| {
        account.boto("apigatewayv2", "tag_resource", json!({ "ResourceArn": arn, "Tags": tags }));
    };
    tag(&arn, json!({ "fgw:resource": "http_gateway/shop" }));
    let of_stage = json!({ "fgw:resource": format!("http_gateway/{id}"), "fgw:object": "stage" });
    tag(&format!("{arn}/stages/$default"), of_stage);
    env.workspace.import(THIS, &id).succeeded();
    assert_nothing_changed(&env);
    let slots = env.slots();
    env.apply_config();
    assert_eq!(env.calls(&slots), ["AddPermission permission.orders"], "nothing else is missing");
    assert_eq!(env.send("GET", "/a", None).body, "orders /a");
    env.end();
}

#[test]
fn a_killed_create_is_imported_and_finished_by_one_apply() {
    let env = TestEnv::with_terraform();
    let attributes = whole(&env);
    env.config(&attributes);
    env.proxy.pause_when(2, |record| record.call.action == "CreateRoute");
    let mut running = env.workspace.start(&["apply", "-no-color", "-input=false", "-auto-approve"]);
    running.reach(|| env.proxy.is_paused());
    running.kill();
    drop(running);
    env.proxy.finish_calls();
    let api = text(&env.proxy.account().list_of("apis")[0]["ApiId"]);
    env.workspace.config(&format!("import {{\n  to = {THIS}\n  id = \"{api}\"\n}}\n"));
    env.proxy.clear_calls();
    env.workspace.plan(&[]);
    assert_nothing_changed(&env);
    env.apply_config();
    let changes: Vec<String> = env.proxy.mutations().into_iter().map(|it| it.call.action).collect();
    assert!(!changes.iter().any(|it| it == "CreateApi" || it.starts_with("Delete")), "{changes:?}");
    assert_eq!(env.proxy.account().list_of("apis")[0]["tags"]["fgw:state"], "ready");
    let shown = snapshot(env.proxy.account());
    assert!(shown.contains(&"3 integrations".to_owned()), "nothing is created twice: {shown:#?}");
    assert_eq!(shown.iter().filter(|line| line.starts_with("authorizer ")).count(), 3, "{shown:#?}");
    assert_eq!(env.send("GET", "/orders", None).body, "orders /orders");
    env.end();
}

#[test]
fn drift_appears_in_attributes_and_can_be_ignored() {
    let env = TestEnv::with_terraform();
    let ignoring = json!([
        { "ignore_changes": ["route_config", "cors_configuration", "access_log_logservice_group_retention_in_days"] }
    ]);
    let attributes = with(&whole(&env), &json!({ "lifecycle": ignoring }));
    env.apply(&attributes);
    let routes = env.attribute("route_ids");
    let integrations = env.attribute("integration_ids");
    let open = json!({ "RouteId": routes["POST /orders/{id}"], "AuthorizationType": "NONE", "AuthorizerId": "",
        "Target": format!("integrations/{}", text(&integrations["GET /orders"])) });
    env.api_call("update_route", open);
    env.api_call("delete_cors_configuration", json!({}));
    let days = json!({ "logGroupName": "/shop/access", "retentionInDays": 7 });
    env.proxy.account().boto("logs", "put_retention_policy", days);
    let plan = env.workspace.plan_json(&["-refresh-only"]);
    let now = &plan["prior_state"]["values"]["root_module"]["resources"][0]["values"];
    let route = &now["route_config"]["POST /orders/{id}"];
    assert_eq!((&route["authorizer_name"], &route["timeout_milliseconds"]), (&json!(null), &json!(30_000)));
    assert_eq!(now["route_config"]["GET /orders"]["faas_function_arn"], env.arn("orders"));
    assert_eq!(now["cors_configuration"], json!(null));
    assert_eq!(now["access_log_logservice_group_retention_in_days"], 7);

    // With the ignored drift, one integration is unused and is deleted. Everything else stays.
    let slots = env.slots();
    env.apply_config();
    assert_eq!(env.calls(&slots), ["DeleteIntegration integration.POST /orders/{id}"]);
    assert_eq!(env.attribute("cors_configuration"), json!(null));

    // The drift is fixed once it is no longer ignored.
    env.apply(&whole(&env));
    let mut calls = env.calls(&slots);
    calls.sort();
    let expected =
        ["CreateIntegration orders", "PutRetentionPolicy /shop/access", "UpdateApi", "UpdateRoute POST /orders/{id}"];
    assert_eq!(calls.len(), expected.len(), "{calls:?}");
    env.end();
}
