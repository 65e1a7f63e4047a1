//! Unmanaged objects in a gateway: they are neither shown as drift nor changed, and a plan names those that AWS deletes
//! with the API.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::{TestEnv, text, with};
use crate::support::wait::until;

/// The ids of unmanaged objects in the API.
struct Unmanaged {
    api: String,
    integration: String,
    route: String,
    authorizer: String,
}

impl Unmanaged {
    /// Creates them, and also an unmanaged stage, tags, and statements in the policy of a function.
    fn of(env: &TestEnv) -> Self {
        let account = env.proxy.account();
        let created = |method: &str, arguments: Value, id: &str| text(&env.api_call(method, arguments)[id]);
        let integration = json!({
            "IntegrationType": "HTTP_PROXY", "IntegrationMethod": "GET", "PayloadFormatVersion": "1.0",
            "IntegrationUri": "https://theirs.example/",
        });
        let integration = created("create_integration", integration, "IntegrationId");
        let jwt = json!({
            "Name": "theirs", "AuthorizerType": "JWT", "IdentitySource": ["$request.header.Authorization"],
            "JwtConfiguration": { "Audience": ["them"], "Issuer": "https://issuer.example" },
        });
        let authorizer = created("create_authorizer", jwt, "AuthorizerId");
        let route = json!({ "RouteKey": "GET /theirs", "Target": format!("integrations/{integration}"),
                            "AuthorizationType": "JWT", "AuthorizerId": authorizer });
        let route = created("create_route", route, "RouteId");
        env.api_call("create_stage", json!({ "StageName": "beta", "Description": "of the web team" }));
        let api = text(&env.attribute("id"));
        for arn in [
            format!("arn:aws:apigateway:us-east-1::/apis/{api}"),
            format!("arn:aws:apigateway:us-east-1::/apis/{api}/stages/$default"),
        ] {
            account.boto("apigatewayv2", "tag_resource", json!({ "ResourceArn": arn, "Tags": { "theirs": "stays" } }));
        }
        let group = format!("arn:aws:logs:us-east-1:{}:log-group:/shop/access", account.id);
        account.boto("logs", "tag_resource", json!({ "resourceArn": group, "tags": { "theirs": "stays" } }));
        for (statement, principal) in [("events", "events.amazonaws.com"), ("other-api", "apigateway.amazonaws.com")] {
            let arguments = json!({ "FunctionName": "orders", "StatementId": statement,
                                    "Action": "lambda:InvokeFunction", "Principal": principal });
            account.boto("lambda", "add_permission", arguments);
        }
        Self { api, integration, route, authorizer }
    }

    /// All unmanaged objects, tags and statements, as boto3 shows them.
    fn snapshot(&self, env: &TestEnv) -> Value {
        let all = env.proxy.account().list();
        let of = |list: &Value, member: &str, id: &str| {
            let items = list.as_array().expect("a list");
            items.iter().find(|item| item[member] == id).unwrap_or_else(|| panic!("{id} is deleted: {list:#}")).clone()
        };
        let api = of(&all["apis"], "ApiId", &self.api);
        let stage = of(&api["stages"], "StageName", "$default");
        let group = of(&all["log_groups"], "logGroupName", "/shop/access");
        json!({
            "integration": of(&api["integrations"], "IntegrationId", &self.integration),
            "route": of(&api["routes"], "RouteId", &self.route),
            "authorizer": of(&api["authorizers"], "AuthorizerId", &self.authorizer),
            "stage": of(&api["stages"], "StageName", "beta"),
            "tags": [api["tags"]["theirs"], stage["tags"]["theirs"], group["tags"]["theirs"]],
            "statements": statements(env, "orders"),
        })
    }
}

/// Deletes the log group and creates one of the same name outside Terraform. Only their creation times differ.
fn recreate_outside_terraform(env: &TestEnv, mut group: Value) {
    const NAME: &str = "/shop/access";
    let account = env.proxy.account();
    let created = || {
        let groups = account.list_of("log_groups");
        let group = groups.into_iter().find(|group| group["logGroupName"] == NAME).expect("it exists");
        group["creationTime"].as_u64().expect("milliseconds")
    };
    let ours = created();
    account.boto("logs", "delete_log_group", json!({ "logGroupName": NAME }));
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_millis();
    until("the next millisecond has begun", || now() > u128::from(ours));
    group["logGroupName"] = NAME.into();
    account.boto("logs", "create_log_group", group);
    assert!(created() > ours);
}

/// The ids of the unmanaged statements.
fn statements(env: &TestEnv, function: &str) -> Vec<String> {
    let functions = env.proxy.account().list_of("functions");
    let function = functions.iter().find(|it| it["FunctionName"] == function).expect("functions are not deleted");
    let all = function["statements"].as_array().into_iter().flatten().map(|it| text(&it["Sid"]));
    all.filter(|id| !id.starts_with("fgw-")).collect()
}

fn shop(env: &TestEnv) -> Value {
    json!({
        "route_config": { "GET /a": env.to("orders"), "GET /b": env.guarded("users", "customers") },
        "faas_authorizers": { "customers": {
            "authorizer_name": "guard", "authorizer_payload_format_version": "2.0", "enable_simple_responses": true,
        } },
        "api_tags": { "team": "web" }, "stage_tags": { "level": "live" },
        "access_log_logservice_group_name": "/shop/access",
        "access_log_logservice_group_tags": { "kept": "short" },
    })
}

#[test]
fn unmanaged_objects_stay_and_are_named_before_a_destroy() {
    let env = TestEnv::new();
    env.apply(&shop(&env));
    let unmanaged = Unmanaged::of(&env);
    let theirs = unmanaged.snapshot(&env);
    env.workspace.assert_nothing_to_do();
    assert_eq!(env.attribute("drift"), json!({}));

    // Change all parts that contain unmanaged objects.
    let mut changed = shop(&env);
    changed["route_config"] = json!({ "GET /a": env.to("users"), "GET /c": env.to("orders") });
    changed["faas_authorizers"] = json!({});
    for tags in ["api_tags", "stage_tags", "access_log_logservice_group_tags"] {
        changed[tags] = json!({ "new": "tag" });
    }
    env.apply(&changed);
    assert_eq!(unmanaged.snapshot(&env), theirs);

    // For a removed function, only the managed statement is deleted.
    changed["route_config"] = json!({ "GET /a": env.to("users") });
    env.apply(&changed);
    assert_eq!(unmanaged.snapshot(&env), theirs);

    let plan = env.workspace.plan(&["-destroy"]);
    assert!(plan.says("fgw_http_gateway \"shop\" to be destroyed contains 3 unmanaged objects"), "{plan}");
    let authorizer = format!("authorizer {} \"theirs\"", unmanaged.authorizer);
    let route = format!("route {} \"GET /theirs\"", unmanaged.route);
    for line in
        ["AWS deletes these unmanaged objects together with", &route, "stage beta \"of the web team\"", &authorizer]
    {
        assert!(plan.says(line), "no {line:?} in {plan}");
    }
    env.workspace.destroy().succeeded();
    assert_eq!(env.proxy.account().ours(), ["statement other-api of orders"], "no managed object is left");
    assert_eq!(statements(&env, "orders"), ["events", "other-api"]);
    assert_eq!(env.proxy.account().list_of("apis").len(), 0);
}

#[test]
fn a_destroy_without_unmanaged_objects_warns_of_none() {
    let env = TestEnv::new();
    env.apply(&json!({ "route_config": { "GET /a": env.to("orders") } }));
    env.proxy.clear_calls();
    let plan = env.workspace.plan(&["-destroy"]);
    assert!(!plan.says("to be destroyed contains") && !plan.says("Could not list"), "{plan}");
    let calls = env.proxy.by_action();
    // The refresh lists the stages too.
    assert_eq!((calls.get("GetStages"), calls.get("GetIntegrations")), (Some(&2), Some(&1)), "{calls:?}");
    env.destroy();
}

#[test]
fn an_integration_of_an_unmanaged_route_stays() {
    let env = TestEnv::new();
    let both = json!({ "route_config": { "GET /a": env.to("orders"), "GET /b": env.to("users") } });
    let one = json!({ "route_config": { "GET /a": env.to("orders") } });
    env.apply(&both);
    let slots = env.slots();
    let integration = slots.iter().find(|(_, slot)| *slot == "integration.GET /b").expect("it is created").0;
    let theirs = json!({ "RouteKey": "GET /theirs", "Target": format!("integrations/{integration}") });
    let theirs = text(&env.api_call("create_route", theirs)["RouteId"]);
    env.apply(&one);
    assert_eq!(env.calls(&slots), ["DeleteRoute route.GET /b"]);
    let left = text(&env.attribute("unmanaged_objects")[integration]);
    assert!(left.starts_with("integration.GET /b before: not deleted") && left.contains(&theirs), "{left}");
    assert_eq!(env.send("GET", "/theirs", None).body, "users /theirs", "the unmanaged route still serves");
    assert_eq!(env.send("GET", "/b", None).status, 404);

    // The permission is deleted when nothing needs it any more.
    env.api_call("delete_route", json!({ "RouteId": theirs }));
    env.apply(&one);
    assert_eq!(env.calls(&slots), ["RemovePermission permission.users"]);
    assert_eq!(env.attribute("unmanaged_objects"), json!({}));
    env.end();
}

#[test]
fn a_log_group_recreated_outside_terraform_is_never_touched() {
    let env = TestEnv::new();
    let account = env.proxy.account();
    let forwarded = json!({
        "access_log_logservice_group_retention_in_days": 30,
        "access_log_logservice_group_subscription_destination_arn": env.arn("users"),
    });
    let forwarding = with(&shop(&env), &forwarded);
    env.apply(&forwarding);
    recreate_outside_terraform(&env, json!({ "tags": { "whose": "theirs" } }));
    let theirs = |what: &str| {
        let groups = account.list_of("log_groups");
        let theirs = groups.into_iter().find(|group| group["logGroupName"] == "/shop/access");
        theirs.unwrap_or_else(|| panic!("{what} deletes it"))
    };
    let before = theirs("the setup");

    let drift = env.drift();
    assert_eq!(drift["log_group"], "/shop/access is missing", "{drift}");
    let filter = format!("/shop/access|fgw-access-logs-{}", text(&env.attribute("id")));
    assert_eq!(drift["log_subscription"], format!("{filter} is missing"), "{drift}");
    assert_eq!(drift.as_object().map(serde_json::Map::len), Some(2), "{drift}");
    let run = env.workspace.apply(&[]);
    run.failed_with("log group /shop/access already exists and is not managed by this resource");
    run.failed_with("Choose another name");
    assert_eq!(theirs("the failed apply"), before);
    assert_eq!(env.send("GET", "/a", None).body, "orders /a");

    // Another name, as the hint suggests, and then no access logs.
    env.apply(&with(&forwarding, &json!({ "access_log_logservice_group_name": "/shop/other" })));
    assert_eq!(theirs("the rename"), before);
    env.apply(&json!({ "route_config": { "GET /a": env.to("orders") } }));
    assert_eq!(theirs("the end of access logs"), before);

    // A destroy does not delete it either, with or without a refresh.
    for (what, options) in [("a destroy", &["-destroy"][..]), ("no refresh", &["-destroy", "-refresh=false"])] {
        account.boto("logs", "delete_log_group", json!({ "logGroupName": "/shop/access" }));
        env.apply(&shop(&env));
        recreate_outside_terraform(&env, json!({}));
        env.workspace.apply(options).succeeded();
        theirs(what);
        account.assert_nothing_of_ours_is_left();
    }
}

#[test]
fn an_existing_log_group_is_adopted_only_with_ownership_tags() {
    let env = TestEnv::new();
    let group = json!({ "logGroupName": "/shop/access", "tags": { "whose": "theirs" } });
    env.proxy.account().boto("logs", "create_log_group", group);
    env.config(&shop(&env));
    let run = env.workspace.plan(&[]);
    run.failed_with("The log group \"/shop/access\" exists already and is not managed by this resource");
    for way in ["use another name", "access_log_logservice_group_skip_destroy to true"] {
        run.failed_with(way);
    }

    let mut renamed = shop(&env);
    renamed["access_log_logservice_group_name"] = "/shop/other".into();
    env.apply(&renamed);
    let api = text(&env.attribute("id"));
    let groups = env.proxy.account().list_of("log_groups");
    let theirs = groups.iter().find(|group| group["logGroupName"] == "/shop/access").expect("it is left alone");
    assert_eq!(theirs["tags"], json!({ "whose": "theirs" }));

    // A group with the tags of this gateway is taken for one of an interrupted run, and adopted with its events.
    let arn = format!("arn:aws:logs:us-east-1:{}:log-group:/shop/access", env.proxy.account().id);
    let ours = json!({ "fgw:resource": format!("http_gateway/{api}"), "fgw:object": "log_group" });
    env.proxy.account().boto("logs", "tag_resource", json!({ "resourceArn": arn, "tags": ours }));
    env.config(&shop(&env));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("takes over objects that are not in state") && plan.says("log_group: /shop/access"), "{plan}");
    env.apply_config();
    assert_eq!(env.proxy.succeeded("CreateLogGroup"), 0, "the existing group is used");
    assert_eq!(text(&env.attribute("id")), api);
    env.end();
}

/// A killed update leaves a state without private state. Routes have no tags, so only state identifies managed ones.
#[test]
fn an_unmanaged_route_stays_when_private_state_is_lost() {
    let env = TestEnv::with_terraform();
    env.apply(&shop(&env));
    let integration = json!({
        "IntegrationType": "AWS_PROXY", "IntegrationUri": env.to("orders")["faas_function_arn"],
        "IntegrationMethod": "POST", "PayloadFormatVersion": "2.0",
    });
    let integration = text(&env.api_call("create_integration", integration)["IntegrationId"]);
    let route = json!({ "RouteKey": "GET /theirs", "Target": format!("integrations/{integration}") });
    let route = text(&env.api_call("create_route", route)["RouteId"]);
    let target = format!("integrations/{}", text(&env.attribute("integration_ids")["GET /a"]));
    env.api_call("create_route", json!({ "RouteKey": "DELETE /theirs", "Target": target }));
    let objects = env.attribute("aws_objects");
    let mut state = env.workspace.state().0;
    let instance = state["resources"][0]["instances"][0].as_object_mut().expect("the gateway is in state");
    instance.remove("private").expect("there is private state");
    env.workspace.write("terraform.tfstate", &state.to_string());

    env.workspace.assert_nothing_to_do();
    env.apply(&with(&shop(&env), &json!({ "description": "known again" })));
    assert_eq!(env.attribute("aws_objects"), objects, "the integrations keep their names");
    let mut changed = shop(&env);
    changed["route_config"] = json!({ "GET /a": env.to("users") });
    env.apply(&changed);
    assert!(!env.attribute("aws_objects").to_string().contains(&route), "it is adopted");
    let apis = env.proxy.account().list_of("apis");
    let routes = apis[0]["routes"].to_string();
    assert!(routes.contains(&route) && apis[0]["integrations"].to_string().contains(&integration), "{routes}");
}

#[test]
fn an_integration_that_an_unmanaged_route_uses_is_not_adopted() {
    let env = TestEnv::new();
    let one = json!({ "GET /a": env.to("orders") });
    env.apply(&json!({ "route_config": one }));
    let equal = json!({
        "IntegrationType": "AWS_PROXY", "IntegrationMethod": "POST", "PayloadFormatVersion": "1.0",
        "TimeoutInMillis": 30_000, "IntegrationUri": env.arn("users"),
    });
    let theirs = text(&env.api_call("create_integration", equal.clone())["IntegrationId"]);
    let target = format!("integrations/{theirs}");
    env.api_call("create_route", json!({ "RouteKey": "GET /theirs", "Target": target }));
    let snapshot = || {
        let api = env.proxy.account().list_of("apis").remove(0);
        let of = |list: &str, member: &str, id: &str| {
            let items = api[list].as_array().expect("a list").iter();
            items.filter(|it| it[member] == id).cloned().collect::<Vec<_>>()
        };
        (of("integrations", "IntegrationId", &theirs), of("routes", "RouteKey", "GET /theirs"))
    };
    let before = snapshot();
    assert_eq!((before.0.len(), before.1.len()), (1, 1));

    let with_b =
        |more: Value| json!({ "route_config": with(&one, &json!({ "GET /b": with(&env.to("users"), &more) })) });
    let calls = env.change(&with_b(json!({})));
    assert_eq!(calls, ["AddPermission permission.users", "CreateIntegration users", "CreateRoute GET /b"]);
    assert!(!env.attribute("aws_objects").to_string().contains(&theirs));
    assert_eq!(env.change(&with_b(json!({ "timeout_milliseconds": 9000 }))), ["UpdateIntegration integration.GET /b"]);
    // The integration of the unmanaged route calls the same function.
    let removed = ["DeleteRoute route.GET /b", "DeleteIntegration integration.GET /b"];
    assert_eq!(env.change(&json!({ "route_config": one })), removed);
    assert_eq!(snapshot(), before);

    // One that no route uses can be from an interrupted run.
    let unused = text(&env.api_call("create_integration", equal)["IntegrationId"]);
    assert_eq!(env.change(&with_b(json!({}))), ["CreateRoute GET /b"]);
    assert_eq!(text(&env.attribute("integration_ids")["GET /b"]), unused);
    assert_eq!(snapshot(), before);

    // A route with the key of an unmanaged one is a conflict. The plan reports it if the route calls another function.
    env.config(&json!({ "route_config": with(&one, &json!({ "GET /theirs": env.to("orders") })) }));
    env.workspace.plan(&[]).failed_with("already has an unmanaged route \"GET /theirs\"");
    let taken = with(&one, &json!({ "GET /theirs": with(&env.to("users"), &json!({ "description": "ours" })) }));
    env.config(&json!({ "route_config": taken }));
    env.workspace.apply(&[]).failed_with("already has an unmanaged route \"GET /theirs\"");
    assert_eq!(snapshot(), before);
    env.apply(&json!({ "route_config": one }));
    assert_eq!(snapshot(), before);
    env.end();
}

#[test]
fn an_authorizer_that_an_unmanaged_route_uses_is_not_adopted() {
    let env = TestEnv::new();
    let open = json!({ "route_config": { "GET /a": env.to("orders") } });
    env.apply(&open);
    let uri = format!("arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/{}/invocations", env.arn("guard"));
    let equal = json!({
        "Name": "customers", "AuthorizerType": "REQUEST", "AuthorizerUri": uri,
        "AuthorizerPayloadFormatVersion": "1.0", "AuthorizerResultTtlInSeconds": 0, "IdentitySource": [],
    });
    let theirs = text(&env.api_call("create_authorizer", equal)["AuthorizerId"]);
    let route = json!({ "RouteKey": "GET /theirs", "AuthorizationType": "CUSTOM", "AuthorizerId": theirs,
                        "Target": format!("integrations/{}", text(&env.attribute("integration_ids")["GET /a"])) });
    env.api_call("create_route", route);
    let snapshot = || env.proxy.account().list_of("apis")[0]["authorizers"].clone();
    let before = snapshot();
    let named = |name: &str| with(&open, &json!({ "faas_authorizers": { name: { "authorizer_name": "guard" } } }));
    env.config(&named("customers"));
    let run = env.workspace.apply(&[]);
    run.failed_with(&format!("already has an unmanaged authorizer \"customers\" ({theirs})"));
    run.failed_with("Use another key in faas_authorizers");
    assert_eq!(snapshot(), before);
    env.apply(&named("clients"));
    env.apply(&open);
    assert_eq!(snapshot(), before, "only the other authorizer was created and deleted");
    env.end();
}
