//! The name of the stage, its variables and its description.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::adoption::adopt;
use super::integrations::LISTENER;
use super::{THIS, TestEnv, text, with};
use crate::support::foreign::api::ForeignApi;
use crate::support::{deployments, target};

const DOMAIN: &str = "api.example.com";

impl TestEnv {
    fn named(&self, name: &str) -> Value {
        with(&self.with_domain(DOMAIN), &json!({ "stage_name": name }))
    }

    /// The names of the stages of the API.
    fn stages(&self) -> Vec<String> {
        let all = self.api_call("get_stages", json!({}))["Items"].clone();
        let mut names: Vec<String> =
            all.as_array().expect("a list").iter().map(|stage| text(&stage["StageName"])).collect();
        names.sort();
        names
    }

    /// Applies a change while a client sends requests to the domain, each of which must be answered.
    fn change_while_reached(&self, attributes: &Value) -> Vec<String> {
        let ended = AtomicBool::new(false);
        let requests = || {
            let mut wrong = Vec::new();
            while !ended.load(Ordering::Relaxed) {
                let answer = self.reach(DOMAIN);
                wrong.extend((answer.body != "orders /a").then(|| format!("{answer:?}")));
                std::thread::sleep(Duration::from_millis(50));
            }
            wrong
        };
        let (calls, wrong) = std::thread::scope(|scope| {
            let client = scope.spawn(requests);
            // The client ends even if the apply panics.
            let applied = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.change(attributes)));
            ended.store(true, Ordering::Relaxed);
            let wrong = client.join().expect("the client does not panic");
            (applied.unwrap_or_else(|panic| std::panic::resume_unwind(panic)), wrong)
        });
        assert!(wrong.is_empty(), "{} wrong answers: {wrong:#?}", wrong.len());
        assert_eq!(deployments::early_deletions(self.proxy.account()), [""; 0]);
        calls
    }
}

#[test]
fn a_domain_moves_to_another_stage_while_it_serves() {
    let env = TestEnv::new();
    env.certificate(DOMAIN);
    env.apply(&env.named("$default"));
    deployments::wait(env.proxy.account());
    env.deploys_late();
    env.config(&env.named("prod"));
    let plan = env.workspace.plan(&[]).to_string();
    let endpoint = text(&env.attribute("api_endpoint"));
    let plan = plan.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plan.contains(&format!("The URL of the API changes from {endpoint} to {endpoint}/prod.")), "{plan}");

    let calls = env.change_while_reached(&env.named("prod"));
    assert_eq!(calls, ["CreateStage prod", "UpdateApiMapping api.example.com", "DeleteStage $default"]);
    let status = |path: &str| env.send("GET", path, None).status;
    assert_eq!((status("/a"), status("/prod/a")), (404, 200));
    assert_eq!(env.attribute("default_stage_id"), json!("prod"));
    assert_eq!(env.attribute("invoke_url"), json!("https://api.example.com"));
    let calls = env.change_while_reached(&env.named("$default"));
    assert_eq!(calls, ["CreateStage $default", "UpdateApiMapping api.example.com", "DeleteStage prod"]);
    assert_eq!((status("/a"), status("/prod/a")), (200, 404));
    env.destroy();
}

#[test]
fn routes_and_variables_change_with_the_name_of_the_stage() {
    let env = TestEnv::new();
    let of = |stage: &str, variable: &str, function: &str| {
        let key = format!("GET /items/{{{variable}}}");
        json!({ "route_config": { key: env.to(function), "GET /a": env.to(function) }, "stage_name": stage })
    };
    env.apply(&of("v1", "id", "orders"));
    assert_eq!(env.send("GET", "/v1/items/7", None).body, "orders /items/7");
    assert_eq!(env.attribute("invoke_url"), json!(format!("{}/v1", text(&env.attribute("api_endpoint")))));
    env.deploys_late();
    env.change(&of("v2", "item", "users"));
    assert_eq!(deployments::early_deletions(env.proxy.account()), [""; 0]);
    assert_eq!(env.stages(), ["v2"]);
    assert_eq!(env.send("GET", "/v2/items/7", None).body, "users /items/7");
    env.end();
}

#[test]
fn variables_and_descriptions_change_in_place() {
    let env = TestEnv::new();
    let config = |variables: Value, description: Option<&str>| {
        let routes = json!({ "GET /a": env.to("orders") });
        json!({ "route_config": routes, "stage_variables": variables, "stage_description": description })
    };
    env.apply(&config(json!({ "a": "1", "b": "2" }), Some("Live.")));
    let shown = || (env.stage()["StageVariables"].clone(), env.stage()["Description"].clone());
    assert_eq!(shown(), (json!({ "a": "1", "b": "2" }), json!("Live.")));
    let calls = env.change(&config(json!({ "a": "9", "c": "x,y=&" }), Some("Next.")));
    assert_eq!(calls, ["UpdateStage $default"]);
    assert_eq!(shown(), (json!({ "a": "9", "c": "x,y=&" }), json!("Next.")));
    // Someone else adds a variable, changes one, and writes another description.
    let theirs = json!({ "StageName": "$default", "StageVariables": { "a": "3", "d": "4" }, "Description": "theirs" });
    env.proxy.boto("apigatewayv2", "update_stage", with(&theirs, &json!({ "ApiId": env.attribute("api_id") })));
    let drift = text(&env.drift()["stage"]);
    for part in ["stage variable a has another value", "stage variable d is added", "description is theirs"] {
        assert!(drift.contains(part), "{drift}");
    }
    env.apply_config();
    assert_eq!(shown(), (json!({ "a": "9", "c": "x,y=&" }), json!("Next.")));
    let calls = env.change(&config(json!({}), None));
    assert_eq!(calls, ["UpdateStage $default"]);
    assert_eq!(shown(), (json!({}), json!("Next.")), "AWS has no call that removes a description");
    let described = json!({ "ApiId": env.attribute("api_id"), "StageName": "$default", "Description": "theirs" });
    env.proxy.boto("apigatewayv2", "update_stage", described);
    env.workspace.assert_nothing_to_do();
    env.end();
}

#[test]
fn a_stage_that_someone_else_maps_stays_until_it_is_free() {
    let env = TestEnv::new();
    let certificate = env.certificate("*.example.com");
    env.apply(&json!({ "route_config": { "GET /a": env.to("orders") } }));
    let configuration = json!([{ "CertificateArn": certificate, "EndpointType": "REGIONAL" }]);
    let theirs = json!({ "DomainName": "their.example.com", "DomainNameConfigurations": configuration });
    env.proxy.account().boto("apigatewayv2", "create_domain_name", theirs);
    let mapping = json!({ "DomainName": "their.example.com", "Stage": "$default" });
    let mapping = env.api_call("create_api_mapping", mapping)["ApiMappingId"].clone();
    env.config(&json!({ "route_config": { "GET /a": env.to("users") }, "stage_name": "prod" }));
    let run = env.workspace.apply(&[]);
    run.succeeded();
    assert!(run.says("Please remove all base path mappings related to the stage in your domains"), "{run}");
    assert!(run.says("stage is still in use; the next apply deletes it"), "{run}");
    assert_eq!(env.attribute("pending_deletion"), json!({ "stage": "$default" }));
    assert_eq!(env.stages(), ["$default", "prod"]);
    // A plan does not try again while the mapping is there.
    env.workspace.assert_nothing_to_do();
    assert_eq!(env.send("GET", "/prod/a", None).body, "users /a");
    assert_eq!(env.reach("their.example.com").body, "users /a", "its requests follow the routes");

    let mapping = json!({ "DomainName": "their.example.com", "ApiMappingId": mapping });
    env.proxy.account().boto("apigatewayv2", "delete_api_mapping", mapping);
    env.workspace.apply(&[]).succeeded();
    assert_eq!((env.stages(), env.attribute("pending_deletion")), (vec!["prod".to_owned()], json!({})));
    env.workspace.assert_nothing_to_do();
    env.proxy.account().boto("apigatewayv2", "delete_domain_name", json!({ "DomainName": "their.example.com" }));
    env.end();
}

#[test]
fn the_domain_keeps_the_old_stage_at_the_quota_of_stages() {
    let env = TestEnv::new();
    env.certificate(DOMAIN);
    env.apply(&env.named("$default"));
    for number in 0..9 {
        env.api_call("create_stage", json!({ "StageName": format!("their-{number}") }));
    }
    env.config(&env.named("prod"));
    env.workspace.apply(&[]).failed_with("Maximum number of stages");
    assert_eq!(env.reach(DOMAIN).body, "orders /a");
    env.api_call("delete_stage", json!({ "StageName": "their-0" }));
    env.apply(&env.named("prod"));
    assert_eq!(env.reach(DOMAIN).body, "orders /a");
    assert_eq!(env.stages().len(), 9, "unmanaged ones stay");
    env.end();
}

#[test]
fn private_integrations_of_a_named_stage_receive_its_name() {
    let env = TestEnv::new();
    let listeners = json!({ LISTENER: { "port": target::start("inside") } });
    deployments::set_links(env.proxy.account(), &json!({ "listeners": listeners }));
    let link = json!({ "subnet_ids": ["subnet-1"], "security_group_ids": ["sg-1"] });
    let route = |parameters: Value| {
        let route = json!({ "integration_uri": LISTENER, "vpc_link": "main", "request_parameters": parameters });
        json!({ "route_config": { "GET /a": route }, "vpc_links": { "main": link }, "stage_name": "v1" })
    };
    env.apply(&route(json!({})));
    let path = || env.send("GET", "/v1/a", None).json()["path"].clone();
    assert_eq!(path(), "/v1/a");
    env.change(&route(json!({ "overwrite:path": "$request.path" })));
    assert_eq!(path(), "/a");
    env.end();
}

#[test]
fn an_api_with_one_named_stage_is_adopted_with_it() {
    let env = TestEnv::with_terraform();
    let api = ForeignApi::new(&env.proxy, "HTTP");
    api.route("GET /a", "orders", &json!({}));
    let further = json!({ "StageVariables": { "level": "live" }, "Description": "Live.", "AutoDeploy": true });
    api.create("stage", with(&further, &json!({ "StageName": "prod" })));
    api.domain_of("prod");
    adopt(&env, &api.id, &["AddPermission 1", "TagResource 3"]);
    assert_eq!(env.attribute("aws_objects")["stage"], json!("prod"));
    assert_eq!(env.attribute("stage_name"), json!("prod"));
    assert_eq!(env.attribute("stage_variables"), json!({ "level": "live" }));
    assert_eq!(env.attribute("stage_description"), json!("Live."));
    assert_eq!(env.reach(DOMAIN).body, "orders /a");
    env.workspace.destroy().succeeded();
    api.remove_permissions();
    env.proxy.account().assert_nothing_of_ours_is_left();
}

#[test]
fn further_stages_of_an_adopted_api_are_listed() {
    let env = TestEnv::with_terraform();
    let api = ForeignApi::new(&env.proxy, "HTTP");
    api.route("GET /a", "orders", &json!({}));
    let stage = |name: &str| {
        api.create("stage", json!({ "StageName": name, "AutoDeploy": true }));
    };
    stage("beta");
    stage("prod");
    env.workspace.config("resource \"fgw_http_gateway\" \"this\" {}\n");
    env.workspace.import(THIS, &api.id).failed_with("it has 2 stages, none of which is $default");
    stage("$default");
    adopt(&env, &api.id, &["AddPermission 1", "TagResource 2"]);
    assert_eq!(env.attribute("stage_name"), json!("$default"));
    let unmanaged = env.attribute("unmanaged_objects");
    assert!(text(&unmanaged["beta"]).contains("AWS deploys changes of the gateway to it too"), "{unmanaged}");
    env.workspace.destroy().succeeded();
    api.remove_permissions();
    env.proxy.account().assert_nothing_of_ours_is_left();
}
