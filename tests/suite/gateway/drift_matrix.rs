//! Every kind of object, damaged behind our back: the refresh says so by key, the plan shows it, an apply mends exactly
//! that, and then all is quiet.

use serde_json::{Value, json};

use super::snapshot::snapshot;
use super::{THIS, TestEnv, text, with, without_hash};

/// What a refresh finds: a key without its hash, and what must be said of it.
type Found<'a> = (&'a str, &'a str);

/// A gateway with one object of each kind at least.
fn shop(bed: &TestEnv) -> Value {
    json!({
        "description": "Orders and users.",
        "api_version": "7",
        "api_tags": { "team": "web", "cost": "4711" },
        "stage_tags": { "level": "live" },
        "cors_configuration": { "allow_origins": ["https://shop.example"], "max_age": 60 },
        "route_config": {
            "GET /a": bed.to("orders"),
            "GET /b": bed.to("users"),
            "POST /c": bed.guarded("orders", "customers"),
        },
        "faas_authorizers": { "customers": {
            "authorizer_name": "guard", "authorizer_payload_format_version": "2.0",
            "enable_simple_responses": true, "identity_sources": ["$request.header.x-key"],
            "result_ttl_in_seconds": 30,
        } },
        "access_log_logservice_group_name": "/shop/access",
        "access_log_logservice_group_retention_in_days": 30,
        "access_log_logservice_group_tags": { "kept": "short" },
    })
}

/// Asserts that exactly this is found and planned to be changed, and that an apply mends it with these calls, sorted.
fn mends(bed: &TestEnv, good: &[String], found: &[Found<'_>], calls: &[&str]) {
    let before = bed.slots();
    let plan = bed.workspace.plan_json(&[]);
    let reported = &plan["resource_drift"][0];
    assert_eq!(reported["address"], THIS);
    let drift = &reported["change"]["after"]["drift"];
    let told: Vec<(String, String)> =
        drift.as_object().expect("a map").iter().map(|(slot, said)| (without_hash(slot), text(said))).collect();
    let mut expected: Vec<&str> = found.iter().map(|(key, _)| *key).collect();
    expected.sort_unstable();
    expected.dedup();
    let mut keys: Vec<&str> = told.iter().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    assert_eq!(keys, expected, "{drift:#}");
    for (key, phrase) in found {
        assert!(told.iter().any(|(of, said)| of == key && said.contains(phrase)), "no {phrase:?} in {key}: {drift:#}");
    }
    let change = &plan["resource_changes"][0]["change"];
    assert_eq!(change["actions"], json!(["update"]));
    assert!(change["after"]["drift"] == json!({}) || change["after_unknown"]["drift"] == true, "{change:#}");

    bed.apply_config();
    let mut told = bed.told(&before);
    told.sort();
    assert_eq!(told, calls);
    assert_eq!(bed.attribute("drift"), json!({}));
    assert_eq!(snapshot(bed.proxy.account()), good, "everything is as it was");
}

/// The id of an object, by its key without hash.
fn id(bed: &TestEnv, slot: &str) -> String {
    let slots = bed.slots();
    let found = slots.iter().find(|(_, name)| *name == slot);
    found.unwrap_or_else(|| panic!("no {slot} in {slots:?}")).0.clone()
}

fn api_arn(bed: &TestEnv) -> String {
    format!("arn:aws:apigateway:us-east-1::/apis/{}", text(&bed.attribute("id")))
}

fn group_arn(bed: &TestEnv) -> String {
    format!("arn:aws:logs:us-east-1:{}:log-group:/shop/access", bed.proxy.account().id)
}

#[test]
fn attributes_and_tags_that_are_changed_are_set_again() {
    let bed = TestEnv::new();
    bed.apply(&shop(&bed));
    let account = bed.proxy.account();
    let good = snapshot(account);
    bed.by_hand(
        "update_api",
        json!({ "Description": "theirs", "Version": "8",
                "CorsConfiguration": { "AllowOrigins": ["*"], "MaxAge": 9 } }),
    );
    let (api, stage) = (api_arn(&bed), format!("{}/stages/$default", api_arn(&bed)));
    account.boto("apigatewayv2", "tag_resource", json!({ "ResourceArn": api, "Tags": { "team": "other" } }));
    account.boto("apigatewayv2", "untag_resource", json!({ "ResourceArn": api, "TagKeys": ["cost"] }));
    account.boto("apigatewayv2", "tag_resource", json!({ "ResourceArn": stage, "Tags": { "level": "test" } }));
    let logs = json!({ "DestinationArn": group_arn(&bed), "Format": "$context.requestId" });
    bed.by_hand("update_stage", json!({ "StageName": "$default", "AccessLogSettings": logs, "AutoDeploy": false }));
    account.boto("logs", "put_retention_policy", json!({ "logGroupName": "/shop/access", "retentionInDays": 7 }));
    let group = json!({ "resourceArn": group_arn(&bed), "tagKeys": ["kept"] });
    account.boto("logs", "untag_resource", group);
    let timeout = json!({ "IntegrationId": id(&bed, "integration.orders"), "TimeoutInMillis": 5000 });
    bed.by_hand("update_integration", timeout);
    let ttl = json!({ "AuthorizerId": id(&bed, "authorizer.customers"), "AuthorizerResultTtlInSeconds": 300,
                      "Name": "theirs", "IdentitySource": ["$request.header.x-other"] });
    bed.by_hand("update_authorizer", ttl);

    let found = [
        ("api", "description is"),
        ("api", "version is"),
        ("api", "https://shop.example"),
        ("api", "tag team has another value"),
        ("api", "tag cost is missing"),
        ("stage", "tag level has another value"),
        ("stage", "$context.requestId"),
        ("stage", "auto_deploy is false instead of true"),
        ("log_group", "retention_in_days is 7 instead of 30"),
        ("log_group", "tag kept is missing"),
        ("integration.orders", "timeout_in_millis is 5000 instead of 30000"),
        ("authorizer.customers", "result_ttl_in_seconds is 300 instead of 30"),
        ("authorizer.customers", "$request.header.x-other"),
        ("authorizer.customers", "name is"),
    ];
    let calls = [
        "PutRetentionPolicy /shop/access",
        "TagResource /shop/access",
        "TagResource api",
        "TagResource stage",
        "UpdateApi",
        "UpdateAuthorizer authorizer.customers",
        "UpdateIntegration orders",
        "UpdateStage $default",
    ];
    mends(&bed, &good, &found, &calls);

    // What is configured was taken away altogether.
    bed.by_hand("delete_cors_configuration", json!({}));
    bed.by_hand("update_api", json!({ "Description": "", "Version": "" }));
    bed.proxy.boto(
        "apigatewayv2",
        "delete_access_log_settings",
        json!({ "ApiId": bed.attribute("id"), "StageName": "$default" }),
    );
    account.boto("logs", "delete_retention_policy", json!({ "logGroupName": "/shop/access" }));
    let found = [
        ("api", "cors is absent"),
        ("api", "description is absent"),
        ("stage", "access_log is absent"),
        ("log_group", "retention_in_days is absent instead of 30"),
    ];
    mends(&bed, &good, &found, &["PutRetentionPolicy /shop/access", "UpdateApi", "UpdateStage $default"]);
    bed.destroy();
}

#[test]
fn routes_that_lead_elsewhere_or_stand_open_are_led_back_and_protected_again() {
    let bed = TestEnv::new();
    bed.apply(&shop(&bed));
    let theirs = json!({
        "IntegrationType": "HTTP_PROXY", "IntegrationMethod": "GET", "PayloadFormatVersion": "1.0",
        "IntegrationUri": "https://theirs.example/",
    });
    let theirs = text(&bed.by_hand("create_integration", theirs)["IntegrationId"]);
    let good = snapshot(bed.proxy.account());
    let lead = |route: &str, integration: &str| {
        let target = format!("integrations/{integration}");
        bed.by_hand("update_route", json!({ "RouteId": id(&bed, route), "Target": target }));
    };
    lead("route.GET /a", &id(&bed, "integration.users"));
    lead("route.GET /b", &theirs);
    let open = json!({ "RouteId": id(&bed, "route.POST /c"), "AuthorizationType": "NONE", "AuthorizerId": "" });
    bed.by_hand("update_route", open);
    assert_eq!(bed.call("POST", "/c", None).status, 200, "it stands open");
    let to_theirs = format!("integration is {theirs} instead of integration.users");
    let found = [
        ("route.GET /a", "integration is integration.users"),
        ("route.GET /b", to_theirs.as_str()),
        ("route.POST /c", "authorizer is absent instead of authorizer.customers"),
    ];
    let calls = ["UpdateRoute route.GET /a", "UpdateRoute route.GET /b", "UpdateRoute route.POST /c"];
    mends(&bed, &good, &found, &calls);
    assert_eq!((bed.call("GET", "/a", None).body, bed.call("POST", "/c", None).status), ("orders /a".into(), 401));

    // Another key is another route: ours is not there, and what it has become is led back to its key.
    let renamed = json!({ "RouteId": id(&bed, "route.GET /a"), "RouteKey": "GET /elsewhere" });
    bed.by_hand("update_route", renamed);
    let found = [("route.GET /a", "route_key is GET /elsewhere instead of GET /a")];
    mends(&bed, &good, &found, &["UpdateRoute route.GET /a"]);
    bed.destroy();
}

#[test]
fn objects_that_are_gone_are_made_again_and_nothing_else() {
    let bed = TestEnv::new();
    bed.apply(&shop(&bed));
    let account = bed.proxy.account();
    let good = snapshot(account);
    let before = bed.slots();
    let gone = |kind: &str, member: &str, slot: &str| {
        let ids = json!({ "ApiId": bed.attribute("id"), member: id(&bed, slot) });
        bed.proxy.boto("apigatewayv2", &format!("delete_{kind}"), ids);
    };
    gone("route", "RouteId", "route.GET /b");
    gone("integration", "IntegrationId", "integration.users");
    gone("stage", "StageName", "stage");
    let remove = |function: &str, statement: &str| {
        account.boto("lambda", "remove_permission", json!({ "FunctionName": function, "StatementId": statement }));
    };
    remove("users", &id(&bed, "permission.users"));
    remove("guard", &id(&bed, "authorizer_permission.customers"));
    account.boto("logs", "delete_log_group", json!({ "logGroupName": "/shop/access" }));
    let found = [
        ("route.GET /b", "is gone"),
        ("integration.users", "is gone"),
        ("stage", "is gone"),
        ("permission.users", "is gone"),
        ("authorizer_permission.customers", "is gone"),
        ("log_group", "is gone"),
    ];
    let calls = [
        "AddPermission authorizer_permission.customers",
        "AddPermission permission.users",
        "CreateIntegration users",
        "CreateLogGroup /shop/access",
        "CreateRoute GET /b",
        "CreateStage $default",
        "PutRetentionPolicy /shop/access",
    ];
    mends(&bed, &good, &found, &calls);
    let after = bed.slots();
    let new: Vec<&str> =
        after.iter().filter(|(id, _)| !before.contains_key(*id)).map(|(_, slot)| slot.as_str()).collect();
    let mut new = new;
    new.sort_unstable();
    assert_eq!(new, ["integration.users", "route.GET /b"], "the others have their ids from their names");
    assert_eq!(bed.call("GET", "/b", None).body, "users /b");
    bed.destroy();
}

#[test]
fn a_lost_authorizer_is_made_again_and_may_call_its_function() {
    let bed = TestEnv::new();
    bed.apply(&shop(&bed));
    let account = bed.proxy.account();
    let good = snapshot(account);
    // AWS keeps an authorizer that a route uses.
    let open = json!({ "RouteId": id(&bed, "route.POST /c"), "AuthorizationType": "NONE", "AuthorizerId": "" });
    bed.by_hand("update_route", open);
    let lost = id(&bed, "authorizer.customers");
    bed.proxy.boto("apigatewayv2", "delete_authorizer", json!({ "ApiId": bed.attribute("id"), "AuthorizerId": lost }));
    let found = [("authorizer.customers", "is gone"), ("route.POST /c", "authorizer is absent")];
    let calls = [
        "AddPermission authorizer_permission.customers",
        "CreateAuthorizer guard",
        "RemovePermission authorizer_permission.customers",
        "UpdateRoute route.POST /c",
    ];
    mends(&bed, &good, &found, &calls);
    bed.destroy();
}

#[test]
fn a_statement_of_ours_that_lets_in_something_else_is_exchanged() {
    let bed = TestEnv::new();
    bed.apply(&shop(&bed));
    let account = bed.proxy.account();
    let good = snapshot(account);
    let statement = id(&bed, "permission.orders");
    account.boto("lambda", "remove_permission", json!({ "FunctionName": "orders", "StatementId": statement }));
    let narrow = format!("arn:aws:execute-api:us-east-1:{}:{}/*/GET/a", account.id, text(&bed.attribute("id")));
    let other = json!({
        "FunctionName": "orders", "StatementId": statement, "Action": "lambda:InvokeFunction",
        "Principal": "apigateway.amazonaws.com", "SourceArn": narrow,
    });
    account.boto("lambda", "add_permission", other);
    let calls = ["AddPermission permission.orders", "RemovePermission permission.orders"];
    mends(&bed, &good, &[("permission.orders", "is gone")], &calls);
    bed.destroy();
}

#[test]
fn ignored_changes_and_ignored_drift_leave_the_plan_empty() {
    let bed = TestEnv::with_terraform();
    let ignoring = with(
        &shop(&bed),
        &json!({
            "lifecycle": { "ignore_changes": ["description", "api_version", "cors_configuration"] },
            "ignore_drift": ["route.*", "stage", "log_group", "permission.users.*", "authorizer.customers"],
        }),
    );
    bed.apply(&ignoring);
    let account = bed.proxy.account();
    bed.by_hand(
        "update_api",
        json!({ "Description": "theirs", "Version": "8", "CorsConfiguration": { "AllowOrigins": ["*"] } }),
    );
    bed.by_hand("delete_route", json!({ "RouteId": id(&bed, "route.GET /b") }));
    let orders = format!("integrations/{}", id(&bed, "integration.users"));
    bed.by_hand("update_route", json!({ "RouteId": id(&bed, "route.GET /a"), "Target": orders }));
    let logs = json!({ "DestinationArn": group_arn(&bed), "Format": "$context.requestId" });
    bed.by_hand("update_stage", json!({ "StageName": "$default", "AccessLogSettings": logs }));
    account.boto("logs", "delete_retention_policy", json!({ "logGroupName": "/shop/access" }));
    let statement = json!({ "FunctionName": "users", "StatementId": id(&bed, "permission.users") });
    account.boto("lambda", "remove_permission", statement);
    let ttl = json!({ "AuthorizerId": id(&bed, "authorizer.customers"), "AuthorizerResultTtlInSeconds": 300 });
    bed.by_hand("update_authorizer", ttl);
    bed.workspace.assert_nothing_to_do();
    assert_eq!(bed.attribute("drift"), json!({}));
    let theirs = snapshot(account);

    // An apply for another reason leaves all of it as it is, and other drift is not ignored.
    let tagged = with(&ignoring, &json!({ "api_tags": { "team": "web", "cost": "1" } }));
    assert_eq!(bed.change(&tagged), ["TagResource api"]);
    let now = snapshot(account);
    let differing: Vec<(&String, &String)> =
        theirs.iter().zip(&now).filter(|(before, after)| before != after).collect();
    assert_eq!(differing.len(), 1, "{differing:?}");
    bed.by_hand(
        "update_integration",
        json!({ "IntegrationId": id(&bed, "integration.orders"), "Description": "theirs" }),
    );
    assert_eq!(bed.workspace.plan(&[]).code, 2);

    // It is mended once it is ignored no longer.
    let mut told = bed.change(&shop(&bed));
    told.sort();
    assert_eq!(
        told,
        [
            "AddPermission permission.users",
            "CreateRoute GET /b",
            "PutRetentionPolicy /shop/access",
            "TagResource api",
            "UpdateApi",
            "UpdateAuthorizer authorizer.customers",
            "UpdateIntegration orders",
            "UpdateRoute route.GET /a",
            "UpdateStage $default",
        ]
    );
    bed.destroy();
}
