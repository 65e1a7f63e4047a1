//! What others put into a gateway: it is neither shown nor touched, and named where it goes with the API.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::{THIS, TestEnv, text, with};
use crate::support::wait::until;

/// What others have put into the API and the policy of a function.
struct Foreigners {
    api: String,
    integration: String,
    route: String,
    authorizer: String,
}

impl Foreigners {
    fn of(bed: &TestEnv) -> Self {
        let account = bed.proxy.account();
        let made = |method: &str, arguments: Value, id: &str| text(&bed.by_hand(method, arguments)[id]);
        let integration = json!({
            "IntegrationType": "HTTP_PROXY", "IntegrationMethod": "GET", "PayloadFormatVersion": "1.0",
            "IntegrationUri": "https://theirs.example/",
        });
        let integration = made("create_integration", integration, "IntegrationId");
        let jwt = json!({
            "Name": "theirs", "AuthorizerType": "JWT", "IdentitySource": ["$request.header.Authorization"],
            "JwtConfiguration": { "Audience": ["them"], "Issuer": "https://issuer.example" },
        });
        let authorizer = made("create_authorizer", jwt, "AuthorizerId");
        let route = json!({ "RouteKey": "GET /theirs", "Target": format!("integrations/{integration}"),
                            "AuthorizationType": "JWT", "AuthorizerId": authorizer });
        let route = made("create_route", route, "RouteId");
        bed.by_hand("create_stage", json!({ "StageName": "beta", "Description": "of the web team" }));
        let api = text(&bed.attribute("id"));
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

    /// All that is theirs, as boto3 shows it.
    fn snapshot(&self, bed: &TestEnv) -> Value {
        let all = bed.proxy.account().list();
        let of = |list: &Value, member: &str, id: &str| {
            let items = list.as_array().expect("a list");
            items.iter().find(|item| item[member] == id).unwrap_or_else(|| panic!("{id} is gone: {list:#}")).clone()
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
            "statements": statements(bed, "orders"),
        })
    }
}

/// Deletes the access logs' group and makes one of the same name, which can be told from it by its creation time alone.
fn made_by_others(bed: &TestEnv, mut group: Value) {
    const NAME: &str = "/shop/access";
    let account = bed.proxy.account();
    let created = || {
        let groups = account.list_of("log_groups");
        let group = groups.into_iter().find(|group| group["logGroupName"] == NAME).expect("it exists");
        group["creationTime"].as_u64().expect("milliseconds")
    };
    let ours = created();
    account.boto("logs", "delete_log_group", json!({ "logGroupName": NAME }));
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_millis();
    until("another millisecond has begun", || now() > u128::from(ours));
    group["logGroupName"] = NAME.into();
    account.boto("logs", "create_log_group", group);
    assert!(created() > ours);
}

/// The ids of the statements that are not ours.
fn statements(bed: &TestEnv, function: &str) -> Vec<String> {
    let functions = bed.proxy.account().list_of("functions");
    let function = functions.iter().find(|it| it["FunctionName"] == function).expect("functions are not ours");
    let all = function["statements"].as_array().into_iter().flatten().map(|it| text(&it["Sid"]));
    all.filter(|id| !id.starts_with("fgw-")).collect()
}

fn shop(bed: &TestEnv) -> Value {
    json!({
        "route_config": { "GET /a": bed.to("orders"), "GET /b": bed.guarded("users", "customers") },
        "faas_authorizers": { "customers": {
            "authorizer_name": "guard", "authorizer_payload_format_version": "2.0", "enable_simple_responses": true,
        } },
        "api_tags": { "team": "web" }, "stage_tags": { "level": "live" },
        "access_log_logservice_group_name": "/shop/access",
        "access_log_logservice_group_tags": { "kept": "short" },
    })
}

#[test]
fn what_others_have_in_a_gateway_is_left_alone_until_the_gateway_goes_and_named_before() {
    let bed = TestEnv::new();
    bed.apply(&shop(&bed));
    let foreigners = Foreigners::of(&bed);
    let theirs = foreigners.snapshot(&bed);
    bed.workspace.assert_nothing_to_do();
    assert_eq!(bed.attribute("drift"), json!({}));

    // A change of everything that theirs are beside.
    let mut changed = shop(&bed);
    changed["route_config"] = json!({ "GET /a": bed.to("users"), "GET /c": bed.to("orders") });
    changed["faas_authorizers"] = json!({});
    for tags in ["api_tags", "stage_tags", "access_log_logservice_group_tags"] {
        changed[tags] = json!({ "new": "tag" });
    }
    bed.apply(&changed);
    assert_eq!(foreigners.snapshot(&bed), theirs);

    // A function that leaves takes only our statement along.
    changed["route_config"] = json!({ "GET /a": bed.to("users") });
    bed.apply(&changed);
    assert_eq!(foreigners.snapshot(&bed), theirs);

    let plan = bed.workspace.plan(&["-destroy"]);
    assert!(plan.says("Others keep 3 objects in fgw_http_gateway \"shop\", which is to be destroyed"), "{plan}");
    let authorizer = format!("authorizer {} \"theirs\"", foreigners.authorizer);
    let route = format!("route {} \"GET /theirs\"", foreigners.route);
    for line in ["AWS deletes these along with", &route, "stage beta \"of the web team\"", &authorizer] {
        assert!(plan.says(line), "no {line:?} in {plan}");
    }
    bed.workspace.destroy().succeeded();
    assert_eq!(bed.proxy.account().ours(), ["statement other-api of orders"], "nothing of ours is left");
    assert_eq!(statements(&bed, "orders"), ["events", "other-api"]);
    assert_eq!(bed.proxy.account().list_of("apis").len(), 0);
}

#[test]
fn a_destroy_of_a_gateway_without_foreigners_warns_of_none() {
    let bed = TestEnv::new();
    bed.apply(&json!({ "route_config": { "GET /a": bed.to("orders") } }));
    bed.proxy.clear_calls();
    let plan = bed.workspace.plan(&["-destroy"]);
    assert!(!plan.says("Others keep") && !plan.says("could not be looked up"), "{plan}");
    let calls = bed.proxy.by_action();
    assert_eq!((calls.get("GetStages"), calls.get("GetIntegrations")), (Some(&1), Some(&1)), "{calls:?}");
    bed.destroy();
}

#[test]
fn a_route_of_others_keeps_the_integration_of_ours_that_it_leads_to() {
    let bed = TestEnv::new();
    let both = json!({ "route_config": { "GET /a": bed.to("orders"), "GET /b": bed.to("users") } });
    let one = json!({ "route_config": { "GET /a": bed.to("orders") } });
    bed.apply(&both);
    let slots = bed.slots();
    let integration = slots.iter().find(|(_, slot)| *slot == "integration.users").expect("it is made").0;
    let theirs = json!({ "RouteKey": "GET /theirs", "Target": format!("integrations/{integration}") });
    let theirs = text(&bed.by_hand("create_route", theirs)["RouteId"]);
    bed.config(&one);
    let run = bed.workspace.apply(&[]);
    run.failed_with("referenced by the following Routes: GET /theirs");
    assert_eq!(bed.call("GET", "/theirs", None).body, "users /theirs", "theirs goes on serving");
    assert_eq!(bed.call("GET", "/b", None).status, 404);

    bed.by_hand("delete_route", json!({ "RouteId": theirs }));
    bed.apply_config();
    assert_eq!(bed.told(&slots), ["DeleteIntegration integration.users", "RemovePermission permission.users"]);
    bed.destroy();
}

#[test]
fn a_log_group_that_others_made_in_the_place_of_ours_is_never_touched() {
    let bed = TestEnv::new();
    let account = bed.proxy.account();
    let forwarded = json!({
        "access_log_logservice_group_retention_in_days": 30,
        "access_log_logservice_group_subscription_destination_arn": bed.arn("users"),
    });
    let forwarding = with(&shop(&bed), &forwarded);
    bed.apply(&forwarding);
    made_by_others(&bed, json!({ "tags": { "whose": "theirs" } }));
    let theirs = |what: &str| {
        let groups = account.list_of("log_groups");
        let theirs = groups.into_iter().find(|group| group["logGroupName"] == "/shop/access");
        theirs.unwrap_or_else(|| panic!("it is deleted by {what}"))
    };
    let as_made = theirs("nobody");

    let drift = bed.drift();
    assert_eq!(drift["log_group"], "/shop/access is gone", "{drift}");
    assert_eq!(drift["log_subscription"], "/shop/access|fgw-access-logs is gone", "{drift}");
    assert_eq!(drift.as_object().map(serde_json::Map::len), Some(2), "{drift}");
    let run = bed.workspace.apply(&[]);
    run.failed_with("log group /shop/access exists already and is not managed here, so it is left alone");
    run.failed_with("Choose another name");
    run.failed_with(&format!("fgw:resource=http_gateway/{}", text(&bed.attribute("api_id"))));
    assert_eq!(theirs("the refused apply"), as_made);
    assert_eq!(bed.call("GET", "/a", None).body, "orders /a");

    // The way out that it names, and back to no access logs.
    bed.apply(&with(&forwarding, &json!({ "access_log_logservice_group_name": "/shop/other" })));
    assert_eq!(theirs("the rename"), as_made);
    bed.apply(&json!({ "route_config": { "GET /a": bed.to("orders") } }));
    assert_eq!(theirs("the end of access logs"), as_made);

    // Nor does a destroy touch it, whether anybody has looked since or not.
    for (refresh, options) in [("with a refresh", &["-destroy"][..]), ("without", &["-destroy", "-refresh=false"])] {
        account.boto("logs", "delete_log_group", json!({ "logGroupName": "/shop/access" }));
        bed.apply(&shop(&bed));
        made_by_others(&bed, json!({}));
        bed.workspace.apply(options).succeeded();
        theirs(refresh);
        account.assert_nothing_of_ours_is_left();
    }
}

#[test]
fn a_log_group_that_is_there_is_taken_only_after_it_was_handed_over() {
    let bed = TestEnv::new();
    let group = json!({ "logGroupName": "/shop/access", "tags": { "whose": "theirs" } });
    bed.proxy.account().boto("logs", "create_log_group", group);
    bed.config(&shop(&bed));
    let run = bed.workspace.apply(&[]);
    run.failed_with("log group /shop/access exists already and is not managed here");
    let api = text(&bed.attribute("id"));
    for way in [
        "Choose another name",
        "delete-log-group --log-group-name /shop/access",
        &format!("fgw:resource=http_gateway/{api}"),
        "fgw:object=log_group",
    ] {
        run.failed_with(way);
    }

    // Another name, for the same API.
    bed.workspace.untaint(THIS);
    let mut renamed = shop(&bed);
    renamed["access_log_logservice_group_name"] = "/shop/other".into();
    bed.apply(&renamed);
    let groups = bed.proxy.account().list_of("log_groups");
    let theirs = groups.iter().find(|group| group["logGroupName"] == "/shop/access").expect("it is left alone");
    assert_eq!(theirs["tags"], json!({ "whose": "theirs" }));

    // Handed over, with the events that are in it.
    let arn = format!("arn:aws:logs:us-east-1:{}:log-group:/shop/access", bed.proxy.account().id);
    let ours = json!({ "fgw:resource": format!("http_gateway/{api}"), "fgw:object": "log_group" });
    bed.proxy.account().boto("logs", "tag_resource", json!({ "resourceArn": arn, "tags": ours }));
    bed.apply(&shop(&bed));
    assert_eq!(bed.proxy.succeeded("CreateLogGroup"), 0, "the one that is there is taken");
    assert_eq!(text(&bed.attribute("id")), api);
    bed.destroy();
}

/// A provider that is killed in an update leaves a state without what it kept privately. Routes have no tags, so state
/// alone says which of them are ours.
#[test]
fn a_route_of_others_as_we_would_make_it_stays_theirs_when_private_state_is_lost() {
    let bed = TestEnv::with_terraform();
    bed.apply(&shop(&bed));
    let integration = json!({
        "IntegrationType": "AWS_PROXY", "IntegrationUri": bed.to("orders")["faas_function_arn"],
        "IntegrationMethod": "POST", "PayloadFormatVersion": "2.0",
    });
    let integration = text(&bed.by_hand("create_integration", integration)["IntegrationId"]);
    let route = json!({ "RouteKey": "GET /theirs", "Target": format!("integrations/{integration}") });
    let route = text(&bed.by_hand("create_route", route)["RouteId"]);
    let mut state = bed.workspace.state().0;
    let instance = state["resources"][0]["instances"][0].as_object_mut().expect("the gateway is in state");
    instance.remove("private").expect("there is private state");
    bed.workspace.write("terraform.tfstate", &state.to_string());

    bed.workspace.assert_nothing_to_do();
    let mut changed = shop(&bed);
    changed["route_config"] = json!({ "GET /a": bed.to("users") });
    bed.apply(&changed);
    assert!(!bed.attribute("aws_objects").to_string().contains(&route), "it is ours now");
    let apis = bed.proxy.account().list_of("apis");
    let routes = apis[0]["routes"].to_string();
    assert!(routes.contains(&route) && apis[0]["integrations"].to_string().contains(&integration), "{routes}");
}
