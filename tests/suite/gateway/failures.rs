//! Failed applies: state matches AWS, the message names the next steps, and these steps work.

use serde_json::{Value, json};

use super::{THIS, TestEnv, text};
use crate::support::deployments::Deployments;
use crate::support::interruption::interrupt;
use crate::support::proxy::fault::Fault;
use crate::support::wait::until;

/// Three routes over two functions, with access logs.
fn shop(env: &TestEnv) -> Value {
    json!({
        "route_config": { "GET /a": env.to("orders"), "GET /b": env.to("users"), "GET /c": env.to("orders") },
        "access_log_logservice_group_name": "/shop/access",
    })
}

#[test]
fn a_failed_create_is_finished_after_untaint() {
    let env = TestEnv::with_terraform();
    let fault = Fault::on("CreateRoute").when(|call| call.param("routeKey") == "GET /b");
    env.proxy.fault(fault.answer(403, "AccessDeniedException", "a policy forbids it"));
    env.config(&shop(&env));
    let run = env.workspace.apply(&[]);
    run.failed_with("CreateRoute returned AccessDeniedException: a policy forbids it");
    run.failed_with("Could not create route \"route.GET /b\"");
    run.failed_with("terraform untaint");
    run.failed_with("Not started: stage");
    assert!(env.workspace.state().is_tainted(THIS));
    env.assert_state_matches_aws();
    let api = text(&env.attribute("id"));
    assert_eq!(env.proxy.account().list_of("apis")[0]["tags"]["fgw:state"], "incomplete");

    env.proxy.clear_faults();
    env.workspace.untaint(THIS);
    let slots = env.slots();
    env.apply_config();
    assert_eq!(env.calls(&slots), ["CreateRoute GET /b", "CreateStage $default", "TagResource api"]);
    assert_eq!(text(&env.attribute("id")), api);
    assert_eq!(env.proxy.account().list_of("apis")[0]["tags"]["fgw:state"], "ready");
    env.destroy();
}

#[test]
fn a_tainted_gateway_without_a_stage_is_replaced_completely() {
    let env = TestEnv::with_terraform();
    env.proxy.fault(Fault::on("CreateStage").answer(403, "AccessDeniedException", "a policy forbids it"));
    env.config(&shop(&env));
    env.workspace.apply(&[]).failed_with("CreateStage returned AccessDeniedException: a policy forbids it");
    assert!(env.workspace.state().is_tainted(THIS));
    env.assert_state_matches_aws();
    let first = text(&env.attribute("id"));
    assert_eq!(env.attribute("aws_objects")["log_group"], "/shop/access", "it is created before the stage");

    // No stage refers to the log group, and the new gateway's log group has the same name.
    env.proxy.clear_faults();
    let plan = env.workspace.plan_json(&[]);
    assert_eq!(plan["resource_changes"][0]["change"]["actions"], json!(["delete", "create"]));
    env.workspace.apply_plan().succeeded();
    env.workspace.assert_nothing_to_do();
    assert_ne!(text(&env.attribute("id")), first);
    env.assert_state_matches_aws();
    let account = env.proxy.account();
    assert_eq!(
        (account.list_of("apis").len(), account.list_of("apis")[0]["tags"]["fgw:state"].clone()),
        (1, json!("ready"))
    );
    assert!(account.ours().iter().all(|it| !it.contains(&first)), "{:?}", account.ours());
    assert_eq!(env.send("GET", "/a", None).body, "orders /a");
    env.end();
}

#[test]
fn a_tainted_gateway_without_a_stage_is_destroyed_completely() {
    let env = TestEnv::with_terraform();
    env.proxy.fault(Fault::on("CreateStage").answer(403, "AccessDeniedException", "a policy forbids it"));
    env.config(&shop(&env));
    env.workspace.apply(&[]).failed_with("CreateStage returned AccessDeniedException");
    env.proxy.clear_faults();
    env.destroy();
    assert_eq!(env.proxy.account().list_of("log_groups").len(), 0);
}

#[test]
fn a_failed_update_is_finished_by_the_next_apply() {
    let env = TestEnv::new();
    env.apply(&shop(&env));
    env.proxy.fault(Fault::on("UpdateRoute").answer(403, "AccessDeniedException", "a policy forbids it"));
    let mut changed = shop(&env);
    changed["route_config"]["GET /a"] = env.to("keeper");
    changed["route_config"]["GET /d"] = env.to("users");
    env.config(&changed);
    env.workspace.apply(&[]).failed_with("Could not update route \"route.GET /a\"");
    assert!(!env.workspace.state().is_tainted(THIS));
    assert_eq!(env.send("GET", "/a", None).body, "orders /a", "the old integration still serves");
    assert_eq!(env.send("GET", "/d", None).body, "users /d", "independent changes are applied");
    let left = env.attribute("drift");
    assert!(text(&left["route.GET /a"]).starts_with("not yet applied"), "{left}");
    env.assert_state_matches_aws();
    assert_eq!(env.workspace.plan(&["-refresh=false"]).code, 2, "a plan without a refresh continues, too");

    env.proxy.clear_faults();
    let slots = env.slots();
    env.apply_config();
    assert_eq!(env.calls(&slots), ["UpdateRoute route.GET /a"]);
    env.end();
}

#[test]
fn an_interrupted_create_is_finished_by_the_next_apply() {
    let env = TestEnv::with_terraform();
    env.config(&shop(&env));
    env.proxy.pause_when(1, |record| record.call.action == "CreateIntegration" && record.worked.is_some());
    let running = env.workspace.start(&["apply", "-no-color", "-input=false", "-auto-approve"]);
    let interrupted = interrupt(&env.workspace, running, &env.proxy, || {});
    interrupted.run.failed_with("before Terraform requested a stop");
    assert_eq!(env.proxy.count("CreateStage"), 0, "no further call starts");
    assert!(env.workspace.state().is_tainted(THIS));
    env.assert_state_matches_aws();
    env.workspace.untaint(THIS);
    env.apply_config();
    env.assert_state_matches_aws();
    assert_eq!(env.send("GET", "/c", None).body, "orders /c");
    env.end();
}

#[test]
fn an_unfinished_gateway_blocks_a_create_until_imported() {
    let env = TestEnv::new();
    let tags = json!({ "fgw:resource": "http_gateway/shop", "fgw:state": "creating" });
    let left = json!({ "Name": "shop", "ProtocolType": "HTTP", "Tags": tags });
    let left = text(&env.proxy.account().boto("apigatewayv2", "create_api", left)["ApiId"]);
    env.config(&shop(&env));
    let run = env.workspace.apply(&[]);
    run.failed_with(&format!("Could not create fgw_http_gateway \"shop\": unfinished {left} exists"));
    run.failed_with(&format!("terraform import ADDRESS {left}"));
    assert_eq!(env.proxy.mutations().len(), 0);
    assert!(env.workspace.state().resource(THIS).is_none());

    env.workspace.import(THIS, &left).succeeded();
    env.apply_config();
    assert_eq!(text(&env.attribute("id")), left);
    assert_eq!(env.proxy.account().list_of("apis").len(), 1);
    env.assert_state_matches_aws();
    env.end();
}

#[test]
fn a_complete_gateway_that_no_state_contains_is_not_built_twice() {
    let env = TestEnv::new();
    let routes = |keys: &[&str]| -> Value { keys.iter().map(|key| ((*key).to_owned(), env.to("orders"))).collect() };
    let gateway = |keys: &[&str]| json!({ "route_config": routes(keys) });
    env.apply(&gateway(&["GET /a", "$default"]));
    let id = text(&env.attribute("id"));
    // The state of a killed run is lost.
    env.workspace.forget(THIS);
    env.proxy.clear_calls();
    let error = format!("Could not create fgw_http_gateway \"shop\": {id} exists already");
    for run in [env.workspace.plan(&[]), env.workspace.apply(&[])] {
        run.failed_with(&error).failed_with("the same route keys");
    }
    assert_eq!(env.proxy.mutations().len(), 0);
    // With other route keys it is another gateway.
    env.apply(&gateway(&["GET /a"]));
    assert_eq!(env.proxy.account().list_of("apis").len(), 2);
    env.workspace.destroy().succeeded();
    env.workspace.import(THIS, &id).succeeded();
    env.apply(&gateway(&["GET /a", "$default"]));
    assert_eq!(text(&env.attribute("id")), id);
    env.end();
}

#[test]
fn a_failed_deployment_is_an_error_with_the_message_of_aws() {
    let env = TestEnv::new();
    env.apply(&json!({ "route_config": { "GET /a": env.to("orders") } }));
    // A deployment of about the same time as a change may contain it.
    let second = || std::time::UNIX_EPOCH.elapsed().expect("it is after 1970").as_secs();
    let deployed = second();
    until("the deployment precedes later changes", || second() > deployed + 3);
    let failure = Some("Unable to deploy API because of an invalid route");
    let words = "Deployment attempt failed: Unable to deploy API because of an invalid route";
    env.proxy.deployments(Deployments { failure, ..Deployments::default() });
    env.config(&json!({ "route_config": { "GET /a": env.to("orders"), "GET /b": env.to("orders") } }));
    let run = env.workspace.apply(&[]);
    run.failed_with("Could not deploy fgw_http_gateway");
    run.failed_with(words);
    assert!(!env.workspace.state().is_tainted(THIS), "the gateway is not replaced");

    // Until AWS has deployed the stage, each plan reports the failure, and each apply updates the stage again.
    let reason = format!("deployment_failure is {words} instead of absent");
    assert_eq!(env.drift(), json!({ "stage": reason }));
    env.proxy.clear_calls();
    env.workspace.apply(&[]).failed_with(words);
    assert_eq!(env.calls(&env.slots()), ["UpdateStage $default"]);
    assert_eq!(env.drift(), json!({ "stage": reason }));
    env.proxy.deployments(Deployments::default());
    env.apply_config();
    assert_eq!(env.drift(), json!({}));
    assert_eq!(env.send("GET", "/b", None).body, "orders /b");
    env.end();
}
