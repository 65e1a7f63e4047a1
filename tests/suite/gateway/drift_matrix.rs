//! Drift of every kind of object: the refresh reports it by key, the plan shows it, an apply fixes exactly that, and
//! the next plan is empty.

use serde_json::{Value, json};

use super::snapshot::snapshot;
use super::{TestEnv, text, with, without_hash};

/// Expected drift: the key of an object without its hash, and a part of the text that is reported for it.
type Found<'a> = (&'a str, &'a str);

/// A gateway with at least one object of each kind.
fn shop(env: &TestEnv) -> Value {
    json!({
        "description": "Orders and users.",
        "api_version": "7",
        "api_tags": { "team": "web", "cost": "4711" },
        "stage_tags": { "level": "live" },
        "cors_configuration": { "allow_origins": ["https://shop.example"], "max_age": 60 },
        "route_config": {
            "GET /a": env.to("orders"),
            "GET /b": env.to("users"),
            "POST /c": env.guarded("orders", "customers"),
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

/// Asserts that a plan reports exactly this drift, and that an apply fixes it with these calls, in alphabetical order.
fn fixes(env: &TestEnv, good: &[String], found: &[Found<'_>], calls: &[&str]) {
    let before = env.slots();
    let plan = env.workspace.plan_json(&[]);
    let drift = &plan["resource_drift"][0]["change"]["after"]["drift"];
    let shown: Vec<(String, String)> =
        drift.as_object().expect("a map").iter().map(|(slot, reason)| (without_hash(slot), text(reason))).collect();
    env.subject().assert_reported(&plan, &shown, found);

    env.apply_config();
    let mut actual = env.calls(&before);
    actual.sort();
    assert_eq!(actual, calls);
    assert_eq!(env.attribute("drift"), json!({}));
    assert_eq!(snapshot(env.proxy.account()), good, "everything is as it was");
}

/// The id of an object, by its key without the hash.
fn id(env: &TestEnv, slot: &str) -> String {
    let slots = env.slots();
    let found = slots.iter().find(|(_, name)| *name == slot);
    found.unwrap_or_else(|| panic!("no {slot} in {slots:?}")).0.clone()
}

fn api_arn(env: &TestEnv) -> String {
    format!("arn:aws:apigateway:us-east-1::/apis/{}", text(&env.attribute("id")))
}

fn group_arn(env: &TestEnv) -> String {
    format!("arn:aws:logs:us-east-1:{}:log-group:/shop/access", env.proxy.account().id)
}

#[test]
fn changed_attributes_and_tags_are_set_again() {
    let env = TestEnv::new();
    env.apply(&shop(&env));
    let account = env.proxy.account();
    let good = snapshot(account);
    env.api_call(
        "update_api",
        json!({ "Description": "theirs", "Version": "8",
                "CorsConfiguration": { "AllowOrigins": ["*"], "MaxAge": 9 } }),
    );
    let (api, stage) = (api_arn(&env), format!("{}/stages/$default", api_arn(&env)));
    account.boto("apigatewayv2", "tag_resource", json!({ "ResourceArn": api, "Tags": { "team": "other" } }));
    account.boto("apigatewayv2", "untag_resource", json!({ "ResourceArn": api, "TagKeys": ["cost"] }));
    account.boto("apigatewayv2", "tag_resource", json!({ "ResourceArn": stage, "Tags": { "level": "test" } }));
    let logs = json!({ "DestinationArn": group_arn(&env), "Format": "$context.requestId" });
    env.api_call("update_stage", json!({ "StageName": "$default", "AccessLogSettings": logs, "AutoDeploy": false }));
    account.boto("logs", "put_retention_policy", json!({ "logGroupName": "/shop/access", "retentionInDays": 7 }));
    let group = json!({ "resourceArn": group_arn(&env), "tagKeys": ["kept"] });
    account.boto("logs", "untag_resource", group);
    let timeout = json!({ "IntegrationId": id(&env, "integration.GET /a"), "TimeoutInMillis": 5000, "IntegrationType": "AWS_PROXY" });
    env.api_call("update_integration", timeout);
    let ttl = json!({ "AuthorizerId": id(&env, "authorizer.customers"), "AuthorizerResultTtlInSeconds": 300,
                      "Name": "theirs", "IdentitySource": ["$request.header.x-other"] });
    env.api_call("update_authorizer", ttl);

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
        ("integration.GET /a", "timeout_in_millis is 5000 instead of 30000"),
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
        "UpdateIntegration integration.GET /a",
        "UpdateStage $default",
    ];
    fixes(&env, &good, &found, &calls);

    // The settings are deleted instead of changed.
    env.api_call("delete_cors_configuration", json!({}));
    env.api_call("update_api", json!({ "Description": "", "Version": "" }));
    env.proxy.boto(
        "apigatewayv2",
        "delete_access_log_settings",
        json!({ "ApiId": env.attribute("id"), "StageName": "$default" }),
    );
    account.boto("logs", "delete_retention_policy", json!({ "logGroupName": "/shop/access" }));
    let found = [
        ("api", "cors is absent"),
        ("api", "description is absent"),
        ("stage", "access_log is absent"),
        ("log_group", "retention_in_days is absent instead of 30"),
    ];
    fixes(&env, &good, &found, &["PutRetentionPolicy /shop/access", "UpdateApi", "UpdateStage $default"]);
    env.destroy();
}

#[test]
fn routes_with_changed_targets_or_authorizers_are_restored() {
    let env = TestEnv::new();
    env.apply(&shop(&env));
    let theirs = json!({
        "IntegrationType": "HTTP_PROXY", "IntegrationMethod": "GET", "PayloadFormatVersion": "1.0",
        "IntegrationUri": "https://theirs.example/",
    });
    let theirs = text(&env.api_call("create_integration", theirs)["IntegrationId"]);
    let good = snapshot(env.proxy.account());
    let repoint = |route: &str, integration: &str| {
        let target = format!("integrations/{integration}");
        env.api_call("update_route", json!({ "RouteId": id(&env, route), "Target": target }));
    };
    repoint("route.GET /a", &id(&env, "integration.GET /b"));
    repoint("route.GET /b", &theirs);
    let open = json!({ "RouteId": id(&env, "route.POST /c"), "AuthorizationType": "NONE", "AuthorizerId": "" });
    env.api_call("update_route", open);
    assert_eq!(env.send("POST", "/c", None).status, 200, "it is open");
    let to_theirs = format!("integration is {theirs} instead of integration.GET /b");
    let found = [
        ("route.GET /a", "integration is integration.GET /b instead of integration.GET /a"),
        ("route.GET /b", to_theirs.as_str()),
        ("route.POST /c", "authorization is NONE instead of CUSTOM by authorizer.customers"),
    ];
    let calls = ["UpdateRoute route.GET /a", "UpdateRoute route.GET /b", "UpdateRoute route.POST /c"];
    fixes(&env, &good, &found, &calls);
    assert_eq!((env.send("GET", "/a", None).body, env.send("POST", "/c", None).status), ("orders /a".into(), 401));

    // A route whose key was changed gets its key back.
    let renamed = json!({ "RouteId": id(&env, "route.GET /a"), "RouteKey": "GET /elsewhere" });
    env.api_call("update_route", renamed);
    let found = [("route.GET /a", "route_key is GET /elsewhere instead of GET /a")];
    fixes(&env, &good, &found, &["UpdateRoute route.GET /a"]);
    env.end();
}

#[test]
fn deleted_objects_are_created_again_and_nothing_else() {
    let env = TestEnv::new();
    env.apply(&shop(&env));
    let account = env.proxy.account();
    let good = snapshot(account);
    let before = env.slots();
    let delete = |kind: &str, member: &str, slot: &str| {
        let ids = json!({ "ApiId": env.attribute("id"), member: id(&env, slot) });
        env.proxy.boto("apigatewayv2", &format!("delete_{kind}"), ids);
    };
    delete("route", "RouteId", "route.GET /b");
    delete("integration", "IntegrationId", "integration.GET /b");
    delete("stage", "StageName", "stage");
    let remove = |function: &str, statement: &str| {
        account.boto("lambda", "remove_permission", json!({ "FunctionName": function, "StatementId": statement }));
    };
    remove("users", &id(&env, "permission.users"));
    remove("guard", &id(&env, "authorizer_permission.customers"));
    account.boto("logs", "delete_log_group", json!({ "logGroupName": "/shop/access" }));
    let found = [
        ("route.GET /b", "is missing"),
        ("integration.GET /b", "is missing"),
        ("stage", "is missing"),
        ("permission.users", "is missing"),
        ("authorizer_permission.customers", "is missing"),
        ("log_group", "is missing"),
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
    fixes(&env, &good, &found, &calls);
    let after = env.slots();
    let new: Vec<&str> =
        after.iter().filter(|(id, _)| !before.contains_key(*id)).map(|(_, slot)| slot.as_str()).collect();
    let mut new = new;
    new.sort_unstable();
    assert_eq!(new, ["integration.GET /b", "route.GET /b"], "the ids of the others are their names");
    assert_eq!(env.send("GET", "/b", None).body, "users /b");
    env.end();
}

#[test]
fn a_deleted_authorizer_and_its_permission_are_created_again() {
    let env = TestEnv::new();
    env.apply(&shop(&env));
    let account = env.proxy.account();
    let good = snapshot(account);
    // AWS rejects the deletion of an authorizer that a route uses.
    let open = json!({ "RouteId": id(&env, "route.POST /c"), "AuthorizationType": "NONE", "AuthorizerId": "" });
    env.api_call("update_route", open);
    let lost = id(&env, "authorizer.customers");
    env.proxy.boto("apigatewayv2", "delete_authorizer", json!({ "ApiId": env.attribute("id"), "AuthorizerId": lost }));
    let found = [("authorizer.customers", "is missing"), ("route.POST /c", "authorization is NONE")];
    let calls = [
        "AddPermission authorizer_permission.customers",
        "CreateAuthorizer guard",
        "RemovePermission authorizer_permission.customers",
        "UpdateRoute route.POST /c",
    ];
    fixes(&env, &good, &found, &calls);
    env.end();
}

#[test]
fn a_changed_permission_statement_is_replaced() {
    let env = TestEnv::new();
    env.apply(&shop(&env));
    let account = env.proxy.account();
    let good = snapshot(account);
    let statement = id(&env, "permission.orders");
    account.boto("lambda", "remove_permission", json!({ "FunctionName": "orders", "StatementId": statement }));
    let narrow = format!("arn:aws:execute-api:us-east-1:{}:{}/*/GET/a", account.id, text(&env.attribute("id")));
    let other = json!({
        "FunctionName": "orders", "StatementId": statement, "Action": "lambda:InvokeFunction",
        "Principal": "apigateway.amazonaws.com", "SourceArn": narrow,
    });
    account.boto("lambda", "add_permission", other);
    let calls = ["AddPermission permission.orders", "RemovePermission permission.orders"];
    fixes(&env, &good, &[("permission.orders", "is missing")], &calls);
    env.end();
}

#[test]
fn ignored_changes_and_ignored_drift_leave_the_plan_empty() {
    let env = TestEnv::with_terraform();
    let ignoring = with(
        &shop(&env),
        &json!({
            "lifecycle": { "ignore_changes": ["description", "api_version", "cors_configuration"] },
            "ignore_drift": ["route.*", "stage", "log_group", "permission.users.*", "authorizer.customers"],
        }),
    );
    env.apply(&ignoring);
    let account = env.proxy.account();
    env.api_call(
        "update_api",
        json!({ "Description": "theirs", "Version": "8", "CorsConfiguration": { "AllowOrigins": ["*"] } }),
    );
    env.api_call("delete_route", json!({ "RouteId": id(&env, "route.GET /b") }));
    let orders = format!("integrations/{}", id(&env, "integration.GET /b"));
    env.api_call("update_route", json!({ "RouteId": id(&env, "route.GET /a"), "Target": orders }));
    let logs = json!({ "DestinationArn": group_arn(&env), "Format": "$context.requestId" });
    env.api_call("update_stage", json!({ "StageName": "$default", "AccessLogSettings": logs }));
    account.boto("logs", "delete_retention_policy", json!({ "logGroupName": "/shop/access" }));
    let statement = json!({ "FunctionName": "users", "StatementId": id(&env, "permission.users") });
    account.boto("lambda", "remove_permission", statement);
    let ttl = json!({ "AuthorizerId": id(&env, "authorizer.customers"), "AuthorizerResultTtlInSeconds": 300 });
    env.api_call("update_authorizer", ttl);
    env.workspace.assert_nothing_to_do();
    assert_eq!(env.attribute("drift"), json!({}));
    let theirs = snapshot(account);

    // An apply for another reason does not change ignored objects, and other drift is not ignored.
    let tagged = with(&ignoring, &json!({ "api_tags": { "team": "web", "cost": "1" } }));
    assert_eq!(env.change(&tagged), ["TagResource api"]);
    let now = snapshot(account);
    let differing: Vec<(&String, &String)> =
        theirs.iter().zip(&now).filter(|(before, after)| before != after).collect();
    assert_eq!(differing.len(), 1, "{differing:?}");
    env.api_call(
        "update_integration",
        json!({ "IntegrationId": id(&env, "integration.GET /a"), "IntegrationType": "AWS_PROXY", "Description": "theirs" }),
    );
    assert_eq!(env.workspace.plan(&[]).code, 2);

    // The drift is fixed once it is no longer ignored.
    let mut calls = env.change(&shop(&env));
    calls.sort();
    assert_eq!(
        calls,
        [
            "AddPermission permission.users",
            "CreateRoute GET /b",
            "PutRetentionPolicy /shop/access",
            "TagResource api",
            "UpdateApi",
            "UpdateAuthorizer authorizer.customers",
            "UpdateIntegration integration.GET /a",
            "UpdateRoute route.GET /a",
            "UpdateStage $default",
        ]
    );
    env.end();
}
