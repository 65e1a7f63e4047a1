//! A gateway whose state was lost comes back by its id: nothing in AWS changes, and the plan has nothing to show.

use serde_json::{Value, json};

use super::snapshot::snapshot;
use super::{SECRET, THIS, TestEnv, examples, text, with};
use crate::support::proxy::log::Record;

/// Forgets a gateway and imports it by its id, and asserts that no call changed anything.
fn reimport(bed: &TestEnv, address: &str) {
    bed.proxy.clear_calls();
    bed.workspace.reimport(address);
    assert_nothing_changed(bed);
}

fn assert_nothing_changed(bed: &TestEnv) {
    let changes: Vec<String> = bed.proxy.mutations().into_iter().map(|Record { call, .. }| call.action).collect();
    assert!(changes.is_empty(), "an import and its plan change something in AWS: {changes:?}");
}

/// A file of the workspace that no configuration after this one is made of.
fn remove(bed: &TestEnv, file: &str) {
    std::fs::remove_file(bed.workspace.path().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
}

/// A gateway of these attributes is forgotten, imported, generated, and destroyed from what was imported.
fn comes_back(bed: &TestEnv, attributes: &Value) {
    let before = snapshot(bed.proxy.account());
    let objects = bed.attribute("aws_objects");
    reimport(bed, THIS);
    assert_eq!(bed.attribute("aws_objects"), objects);
    bed.workspace.assert_nothing_to_do();
    bed.workspace.plan(&["-refresh=false"]).succeeded();
    generates(bed);
    bed.config(attributes);
    bed.workspace.assert_nothing_to_do();
    assert_nothing_changed(bed);
    assert_eq!(snapshot(bed.proxy.account()), before);
    bed.destroy();
}

/// The configuration that Terraform writes for an import plans nothing either.
fn generates(bed: &TestEnv) {
    let id = text(&bed.attribute("id"));
    remove(bed, "main.tf.json");
    bed.proxy.clear_calls();
    bed.workspace.generate(THIS, &id);
    assert_nothing_changed(bed);
    remove(bed, "main.tf");
}

/// A gateway with everything that routes, authorizers, CORS and access logs can say.
pub(super) fn whole(bed: &TestEnv) -> Value {
    json!({
        "description": "Orders and users.", "api_version": "7",
        "api_tags": { "team": "web" }, "stage_tags": { "level": "live" },
        "route_config": {
            "GET /orders": bed.to("orders"),
            "POST /orders/{id}": with(&bed.guarded("orders", "customers"), &json!({ "timeout_milliseconds": 9000 })),
            "ANY /users/{proxy+}": with(&bed.guarded("users", "staff"),
                &json!({ "payload_format_version": "2.0", "description": "people" })),
        },
        "faas_authorizers": {
            "customers": {
                "authorizer_name": "guard", "authorizer_payload_format_version": "2.0",
                "enable_simple_responses": true,
                "identity_sources": ["$request.header.x-key", "$context.path"], "result_ttl_in_seconds": 0,
            },
            "staff": { "authorizer_name": bed.arn("keeper"), "authorizer_payload_format_version": "2.0",
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
fn every_example_comes_back_by_its_id() {
    for example in examples::all() {
        let bed = TestEnv::with_terraform();
        let body = examples::prepared(&bed, &example);
        bed.workspace.config(&body);
        bed.workspace.apply(&[]).succeeded();
        let addresses: Vec<String> = body
            .split("resource \"fgw_http_gateway\" \"")
            .skip(1)
            .filter_map(|rest| Some(format!("fgw_http_gateway.{}", rest.split_once('"')?.0)))
            .collect();
        assert!(!addresses.is_empty(), "{} has gateways", example.display());
        for address in &addresses {
            reimport(&bed, address);
        }
        bed.workspace.assert_nothing_to_do();
        let [address] = &addresses[..] else { panic!("each is generated alone: {addresses:?}") };
        bed.workspace.generate(address, &text(bed.workspace.state().attribute(address, "id")));
        bed.workspace.config(&body);
        bed.workspace.apply(&[]).succeeded();
        bed.workspace.assert_nothing_to_do();
        assert_nothing_changed(&bed);
        bed.workspace.destroy().succeeded();
        bed.proxy.account().assert_nothing_of_ours_is_left();
    }
}

#[test]
fn everything_that_a_gateway_says_comes_back() {
    let bed = TestEnv::with_terraform();
    bed.apply(&whole(&bed));
    comes_back(&bed, &whole(&bed));
}

#[test]
fn a_gateway_without_settings_comes_back() {
    let bed = TestEnv::with_terraform();
    let attributes = json!({ "route_config": { "$default": bed.to("orders") } });
    bed.apply(&attributes);
    comes_back(&bed, &attributes);
}

#[test]
fn a_domain_with_its_record_and_logs_that_go_to_a_stream_come_back() {
    let bed = TestEnv::with_terraform();
    let account = bed.proxy.account();
    account.boto("acm", "request_certificate", json!({ "DomainName": "*.example.com" }));
    let key = account.boto("kms", "create_key", json!({}))["KeyMetadata"]["Arn"].clone();
    let attributes = json!({
        "route_config": { "GET /a": bed.to("orders") },
        "domain_name": "api.example.com", "hosted_zone_id": zone(&bed), "create_dns_entry": true,
        "access_log_logservice_group_name": "/shop/access",
        "access_log_logservice_group_kms_key_id": key,
        "access_log_format_type": "CLF",
        "access_log_logservice_group_subscription_destination_arn":
            format!("arn:aws:kinesis:us-east-1:{}:stream/sink", account.id),
        "access_log_logservice_group_subscription_role_arn": "arn:aws:iam::123456789012:role/logs",
        "access_log_logservice_group_subscription_distribution": "Random",
        "access_log_logservice_group_subscription_filter_pattern": "[ip, user, rest]",
    });
    bed.apply(&attributes);
    comes_back(&bed, &attributes);
}

#[test]
fn a_record_of_others_for_the_domain_stays_theirs_through_an_import_and_a_destroy() {
    let bed = TestEnv::with_terraform();
    let account = bed.proxy.account();
    account.boto("acm", "request_certificate", json!({ "DomainName": "api.example.com" }));
    let zone = zone(&bed);
    let attributes = json!({ "route_config": { "GET /a": bed.to("orders") }, "domain_name": "api.example.com" });
    bed.apply(&attributes);
    let target = bed.attribute("domain_target");
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
    bed.workspace.assert_nothing_to_do();

    // An import cannot tell whose it is, and the configuration does.
    reimport(&bed, THIS);
    bed.proxy.clear_calls();
    bed.workspace.apply(&[]).succeeded();
    bed.workspace.assert_nothing_to_do();
    assert_nothing_changed(&bed);
    assert_eq!(bed.attribute("aws_objects")["dns_record"], json!(null));
    assert_eq!(records(), theirs);
    bed.destroy();
    assert_eq!(records(), theirs);
}

/// The zone `example.com`, by its id.
fn zone(bed: &TestEnv) -> String {
    let zone = json!({ "Name": "example.com", "CallerReference": "zone" });
    let id = text(&bed.proxy.account().boto("route53", "create_hosted_zone", zone)["HostedZone"]["Id"]);
    id.trim_start_matches("/hostedzone/").to_owned()
}

#[test]
fn what_a_configuration_says_in_other_words_is_nothing_to_do_after_an_import() {
    let bed = TestEnv::with_terraform();
    bed.apply(&whole(&bed));
    let mut other = whole(&bed);
    other["faas_authorizers"]["customers"]["authorizer_name"] = json!(bed.arn("guard"));
    other["faas_authorizers"]["customers"]["identity_sources"] = json!(["$context.path", "$request.header.x-key"]);
    let uri =
        format!("arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/{}/invocations", bed.arn("keeper"));
    other["faas_authorizers"]["staff"]["authorizer_name"] = json!("whoever");
    other["faas_authorizers"]["staff"]["authorizer_uri"] = json!(uri);
    other["faas_authorizers"]["spare"]["result_ttl_in_seconds"] = json!(0);
    other["route_config"]["GET /orders"]["description"] = json!("");
    other["cors_configuration"]["allow_origins"] = json!(["https://admin.example", "https://shop.example"]);
    other["cors_configuration"]["allow_headers"] = json!(["Content-Type", "X-Key"]);
    bed.config(&other);
    reimport(&bed, THIS);
    bed.workspace.assert_nothing_to_do();
    assert_nothing_changed(&bed);

    // What it says otherwise in earnest is all that is done.
    let slots = bed.slots();
    other["route_config"]["GET /orders"]["description"] = json!("all of them");
    other["access_log_logservice_group_retention_in_days"] = json!(60);
    bed.config(&other);
    bed.apply_config();
    let told = bed.told(&slots);
    for call in ["CreateIntegration orders", "UpdateRoute route.GET /orders", "PutRetentionPolicy /shop/access"] {
        assert!(told.iter().any(|it| it == call), "{call} is not among {told:?}");
    }
    assert!(!told.iter().any(|call| call.starts_with("DeleteAuthorizer")), "{told:?}");
    assert_eq!(bed.call("POST", "/orders/1", Some(SECRET)).body, "orders /orders/1");
    bed.destroy();
}

#[test]
fn default_tags_and_tags_of_others_are_no_input() {
    let bed = TestEnv::with_terraform();
    let provider = std::fs::read_to_string(bed.workspace.path().join("provider.tf")).expect("it is there");
    let (head, tail) = provider.split_once("  region = ").expect("a provider block");
    let tags = "  default_tags {\n    tags = { cost = \"net\" }\n  }\n";
    bed.workspace.write("provider.tf", &format!("{head}{tags}  region = {tail}"));
    let attributes = with(&whole(&bed), &json!({ "api_tags": { "team": "web" } }));
    bed.apply(&attributes);
    let arn = format!("arn:aws:apigateway:us-east-1::/apis/{}", text(&bed.attribute("id")));
    let theirs = json!({ "ResourceArn": arn, "Tags": { "theirs": "stays" } });
    bed.proxy.account().boto("apigatewayv2", "tag_resource", theirs);
    reimport(&bed, THIS);
    assert_eq!(bed.attribute("stage_tags"), json!({ "level": "live" }));
    assert_eq!(bed.attribute("access_log_logservice_group_tags"), json!({ "kept": "short" }));
    bed.workspace.assert_nothing_to_do();
    let told = bed.change(&with(&attributes, &json!({ "api_tags": { "team": "api" } })));
    assert_eq!(told, ["TagResource api"]);
    let shown = snapshot(bed.proxy.account());
    assert!(shown.iter().any(|line| line.contains(r#""theirs":"stays""#)), "{shown:#?}");
    bed.destroy();
}

#[test]
fn what_others_have_in_a_gateway_is_neither_imported_nor_touched() {
    let bed = TestEnv::with_terraform();
    let attributes = json!({ "route_config": { "GET /a": bed.to("orders") } });
    bed.apply(&attributes);
    let integration = json!({
        "IntegrationType": "HTTP_PROXY", "IntegrationMethod": "GET", "PayloadFormatVersion": "1.0",
        "IntegrationUri": "https://theirs.example",
    });
    let target = text(&bed.by_hand("create_integration", integration)["IntegrationId"]);
    bed.by_hand("create_route", json!({ "RouteKey": "GET /theirs", "Target": format!("integrations/{target}") }));
    let ours = text(&bed.attribute("integration_ids")["GET /a"]);
    let signed = json!({ "RouteKey": "GET /signed", "Target": format!("integrations/{ours}"),
        "AuthorizationType": "AWS_IAM" });
    bed.by_hand("create_route", signed);
    let uri = format!("arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/{}/invocations", bed.arn("guard"));
    let authorizer = json!({ "Name": "theirs", "AuthorizerType": "REQUEST", "AuthorizerUri": uri,
        "AuthorizerPayloadFormatVersion": "2.0", "IdentitySource": [], "AuthorizerResultTtlInSeconds": 0 });
    bed.by_hand("create_authorizer", authorizer);
    bed.by_hand("create_stage", json!({ "StageName": "theirs", "AutoDeploy": true }));
    let before = snapshot(bed.proxy.account());
    reimport(&bed, THIS);
    bed.workspace.assert_nothing_to_do();
    assert_eq!(bed.attribute("faas_authorizers"), json!({}));
    generates(&bed);
    bed.config(&with(&attributes, &json!({ "description": "more" })));
    bed.apply_config();
    let after = snapshot(bed.proxy.account()).join("\n");
    assert_eq!(after, before.join("\n").replace("description -, version -", "description more, version -"));
    bed.destroy();
}

#[test]
fn an_api_of_others_is_imported_only_once_it_is_handed_over() {
    let bed = TestEnv::with_terraform();
    let account = bed.proxy.account();
    let api = json!({ "Name": "shop", "ProtocolType": "HTTP", "Description": "theirs", "Tags": { "team": "web" } });
    let id = text(&account.boto("apigatewayv2", "create_api", api)["ApiId"]);
    let integration = json!({ "ApiId": id, "IntegrationType": "AWS_PROXY", "IntegrationUri": bed.arn("orders"),
        "PayloadFormatVersion": "2.0", "TimeoutInMillis": 5000 });
    let target = text(&account.boto("apigatewayv2", "create_integration", integration)["IntegrationId"]);
    let route = json!({ "ApiId": id, "RouteKey": "GET /a", "Target": format!("integrations/{target}") });
    account.boto("apigatewayv2", "create_route", route);
    account.boto("apigatewayv2", "create_stage", json!({ "ApiId": id, "StageName": "$default", "AutoDeploy": true }));
    let route = with(&bed.to("orders"), &json!({ "payload_format_version": "2.0", "timeout_milliseconds": 5000 }));
    let attributes = json!({ "description": "theirs", "route_config": { "GET /a": route } });
    bed.config(&attributes);
    let refused = bed.workspace.import(THIS, &id);
    refused.failed_with(&format!("{id} was not made by fgw_http_gateway"));
    refused.failed_with("fgw:resource = \"http_gateway/<name>\"");
    bed.workspace.import(THIS, "00000000").failed_with("does not exist");
    assert_nothing_changed(&bed);

    let arn = format!("arn:aws:apigateway:us-east-1::/apis/{id}");
    let tag = |arn: &str, tags: Value| {
        account.boto("apigatewayv2", "tag_resource", json!({ "ResourceArn": arn, "Tags": tags }));
    };
    tag(&arn, json!({ "fgw:resource": "http_gateway/shop" }));
    let of_stage = json!({ "fgw:resource": format!("http_gateway/{id}"), "fgw:object": "stage" });
    tag(&format!("{arn}/stages/$default"), of_stage);
    bed.workspace.import(THIS, &id).succeeded();
    assert_nothing_changed(&bed);
    let slots = bed.slots();
    bed.apply_config();
    assert_eq!(bed.told(&slots), ["AddPermission permission.orders"], "nothing else was missing");
    assert_eq!(bed.call("GET", "/a", None).body, "orders /a");
    bed.destroy();
}

#[test]
fn a_creation_that_was_killed_is_imported_by_a_block_and_finished_by_the_same_apply() {
    let bed = TestEnv::with_terraform();
    let attributes = whole(&bed);
    bed.config(&attributes);
    bed.proxy.stand_still_when(2, |record| record.call.action == "CreateRoute");
    let mut running = bed.workspace.start(&["apply", "-no-color", "-input=false", "-auto-approve"]);
    running.reach(|| bed.proxy.stands_still());
    running.kill();
    drop(running);
    bed.proxy.finish_calls();
    let api = text(&bed.proxy.account().list_of("apis")[0]["ApiId"]);
    bed.workspace.config(&format!("import {{\n  to = {THIS}\n  id = \"{api}\"\n}}\n"));
    bed.proxy.clear_calls();
    bed.workspace.plan(&[]);
    assert_nothing_changed(&bed);
    bed.apply_config();
    let changes: Vec<String> = bed.proxy.mutations().into_iter().map(|it| it.call.action).collect();
    assert!(!changes.iter().any(|it| it == "CreateApi" || it.starts_with("Delete")), "{changes:?}");
    assert_eq!(bed.proxy.account().list_of("apis")[0]["tags"]["fgw:state"], "ready");
    let shown = snapshot(bed.proxy.account());
    assert!(shown.contains(&"3 integrations".to_owned()), "nothing is made twice: {shown:#?}");
    assert_eq!(shown.iter().filter(|line| line.starts_with("authorizer ")).count(), 3, "{shown:#?}");
    assert_eq!(bed.call("GET", "/orders", None).body, "orders /orders");
    bed.destroy();
}

#[test]
fn what_others_change_shows_in_the_attributes_that_say_it_and_can_be_left_to_them() {
    let bed = TestEnv::with_terraform();
    let ignoring = json!([
        { "ignore_changes": ["route_config", "cors_configuration", "access_log_logservice_group_retention_in_days"] }
    ]);
    let attributes = with(&whole(&bed), &json!({ "lifecycle": ignoring }));
    bed.apply(&attributes);
    let routes = bed.attribute("route_ids");
    let integrations = bed.attribute("integration_ids");
    let open = json!({ "RouteId": routes["POST /orders/{id}"], "AuthorizationType": "NONE", "AuthorizerId": "",
        "Target": format!("integrations/{}", text(&integrations["GET /orders"])) });
    bed.by_hand("update_route", open);
    bed.by_hand("delete_cors_configuration", json!({}));
    let days = json!({ "logGroupName": "/shop/access", "retentionInDays": 7 });
    bed.proxy.account().boto("logs", "put_retention_policy", days);
    let plan = bed.workspace.plan_json(&["-refresh-only"]);
    let now = &plan["prior_state"]["values"]["root_module"]["resources"][0]["values"];
    let route = &now["route_config"]["POST /orders/{id}"];
    assert_eq!((&route["authorizer_name"], &route["timeout_milliseconds"]), (&json!(null), &json!(30_000)));
    assert_eq!(now["route_config"]["GET /orders"]["faas_function_arn"], bed.arn("orders"));
    assert_eq!(now["cors_configuration"], json!(null));
    assert_eq!(now["access_log_logservice_group_retention_in_days"], 7);

    // What they are left as makes one integration idle, which goes. All else stays.
    let slots = bed.slots();
    bed.apply_config();
    assert_eq!(bed.told(&slots), ["DeleteIntegration integration.orders"]);
    assert_eq!(bed.attribute("cors_configuration"), json!(null));

    // Left to nobody, they are mended.
    bed.apply(&whole(&bed));
    let mut told = bed.told(&slots);
    told.sort();
    let expected =
        ["CreateIntegration orders", "PutRetentionPolicy /shop/access", "UpdateApi", "UpdateRoute POST /orders/{id}"];
    assert_eq!(told.len(), expected.len(), "{told:?}");
    bed.destroy();
}
