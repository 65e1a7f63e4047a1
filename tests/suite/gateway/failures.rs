//! What fails leaves a state that is true, a message that says the ways on, and a way on that works.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{THIS, TestEnv, text};
use crate::support::interruption::interrupt;
use crate::support::proxy::fault::Fault;

/// Three routes over two functions, with access logs.
fn shop(bed: &TestEnv) -> Value {
    json!({
        "route_config": { "GET /a": bed.to("orders"), "GET /b": bed.to("users"), "GET /c": bed.to("orders") },
        "access_log_logservice_group_name": "/shop/access",
    })
}

/// The ids of what the account holds are those that state names: routes, integrations, statements, group, stage.
fn assert_state_is_true(bed: &TestEnv) {
    let all = bed.proxy.account().list();
    let ids = |list: &Value, member: &str| -> Vec<String> {
        list.as_array().into_iter().flatten().map(|it| text(&it[member])).collect()
    };
    let api = &all["apis"][0];
    let mut exists: BTreeSet<String> = BTreeSet::from([text(&api["ApiId"])]);
    exists.extend(ids(&api["routes"], "RouteId"));
    exists.extend(ids(&api["integrations"], "IntegrationId"));
    exists.extend(ids(&api["stages"], "StageName"));
    exists.extend(ids(&all["log_groups"], "logGroupName").into_iter().filter(|name| name == "/shop/access"));
    for function in all["functions"].as_array().expect("a list") {
        exists.extend(ids(&function["statements"], "Sid"));
    }
    let objects = bed.attribute("aws_objects");
    let known: BTreeSet<String> = objects.as_object().expect("a map").values().map(text).collect();
    assert_eq!(known, exists);
}

#[test]
fn a_refused_route_leaves_the_rest_in_state_and_the_tainted_gateway_can_be_kept_and_finished() {
    let bed = TestEnv::with_terraform();
    let refused = Fault::on("CreateRoute").when(|call| call.param("routeKey") == "GET /b");
    bed.proxy.fault(refused.answer(403, "AccessDeniedException", "a policy forbids it"));
    bed.config(&shop(&bed));
    let run = bed.workspace.apply(&[]);
    run.failed_with("CreateRoute answered AccessDeniedException: a policy forbids it");
    run.failed_with("Creating route route.GET /b failed");
    run.failed_with("terraform untaint");
    run.failed_with("Not started: stage");
    assert!(bed.workspace.state().is_tainted(THIS));
    assert_state_is_true(&bed);
    let api = text(&bed.attribute("id"));
    assert_eq!(bed.proxy.account().list_of("apis")[0]["tags"]["fgw:state"], "incomplete");

    bed.proxy.clear_faults();
    bed.workspace.untaint(THIS);
    let slots = bed.slots();
    bed.apply_config();
    assert_eq!(bed.told(&slots), ["CreateRoute GET /b", "CreateStage $default", "TagResource api"]);
    assert_eq!(text(&bed.attribute("id")), api);
    assert_eq!(bed.proxy.account().list_of("apis")[0]["tags"]["fgw:state"], "ready");
    bed.destroy();
}

#[test]
fn a_tainted_gateway_without_a_stage_is_rebuilt_and_nothing_of_it_stays_behind() {
    let bed = TestEnv::with_terraform();
    bed.proxy.fault(Fault::on("CreateStage").answer(403, "AccessDeniedException", "a policy forbids it"));
    bed.config(&shop(&bed));
    bed.workspace.apply(&[]).failed_with("CreateStage answered AccessDeniedException: a policy forbids it");
    assert!(bed.workspace.state().is_tainted(THIS));
    assert_state_is_true(&bed);
    let first = text(&bed.attribute("id"));
    assert_eq!(bed.attribute("aws_objects")["log_group"], "/shop/access", "it was made before the stage");

    // No stage leads to the log group, which has the name that the new one gets.
    bed.proxy.clear_faults();
    let plan = bed.workspace.plan_json(&[]);
    assert_eq!(plan["resource_changes"][0]["change"]["actions"], json!(["delete", "create"]));
    bed.workspace.apply_plan().succeeded();
    bed.workspace.assert_nothing_to_do();
    assert_ne!(text(&bed.attribute("id")), first);
    assert_state_is_true(&bed);
    let account = bed.proxy.account();
    assert_eq!(
        (account.list_of("apis").len(), account.list_of("apis")[0]["tags"]["fgw:state"].clone()),
        (1, json!("ready"))
    );
    assert!(account.ours().iter().all(|it| !it.contains(&first)), "{:?}", account.ours());
    assert_eq!(bed.call("GET", "/a", None).body, "orders /a");
    bed.destroy();
}

#[test]
fn a_tainted_gateway_without_a_stage_is_destroyed_whole() {
    let bed = TestEnv::with_terraform();
    bed.proxy.fault(Fault::on("CreateStage").answer(403, "AccessDeniedException", "a policy forbids it"));
    bed.config(&shop(&bed));
    bed.workspace.apply(&[]).failed_with("CreateStage answered AccessDeniedException");
    bed.proxy.clear_faults();
    bed.destroy();
    assert_eq!(bed.proxy.account().list_of("log_groups").len(), 0);
}

#[test]
fn a_failed_update_says_what_is_left_and_the_next_apply_does_only_that() {
    let bed = TestEnv::new();
    bed.apply(&shop(&bed));
    bed.proxy.fault(Fault::on("UpdateRoute").answer(403, "AccessDeniedException", "a policy forbids it"));
    let mut changed = shop(&bed);
    changed["route_config"]["GET /a"] = bed.to("keeper");
    changed["route_config"]["GET /d"] = bed.to("users");
    bed.config(&changed);
    bed.workspace.apply(&[]).failed_with("Updating route route.GET /a failed");
    assert!(!bed.workspace.state().is_tainted(THIS));
    assert_eq!(bed.call("GET", "/a", None).body, "orders /a", "what served goes on serving");
    assert_eq!(bed.call("GET", "/d", None).body, "users /d", "independent work is done");
    let left = bed.attribute("drift");
    assert!(text(&left["route.GET /a"]).starts_with("not yet applied"), "{left}");
    assert_state_is_true(&bed);
    assert_eq!(bed.workspace.plan(&["-refresh=false"]).code, 2, "the plan goes on without a look at AWS too");

    bed.proxy.clear_faults();
    let slots = bed.slots();
    bed.apply_config();
    assert_eq!(bed.told(&slots), ["UpdateRoute route.GET /a"]);
    bed.destroy();
}

#[test]
fn ctrl_c_during_a_create_finishes_what_is_in_flight_and_the_next_apply_goes_on() {
    let bed = TestEnv::with_terraform();
    bed.config(&shop(&bed));
    bed.proxy.stand_still_when(1, |record| record.call.action == "CreateIntegration" && record.worked.is_some());
    let running = bed.workspace.start(&["apply", "-no-color", "-input=false", "-auto-approve"]);
    let interrupted = interrupt(&bed.workspace, running, &bed.proxy, || {});
    interrupted.run.failed_with("before Terraform was asked to stop");
    assert_eq!(bed.proxy.count("CreateStage"), 0, "nothing new was started");
    assert!(bed.workspace.state().is_tainted(THIS));
    assert_state_is_true(&bed);
    bed.workspace.untaint(THIS);
    bed.apply_config();
    assert_state_is_true(&bed);
    assert_eq!(bed.call("GET", "/c", None).body, "orders /c");
    bed.destroy();
}

#[test]
fn what_a_killed_create_has_left_stops_a_create_and_is_taken_over_by_import() {
    let bed = TestEnv::new();
    let tags = json!({ "fgw:resource": "http_gateway/shop", "fgw:state": "creating" });
    let left = json!({ "Name": "shop", "ProtocolType": "HTTP", "Tags": tags });
    let left = text(&bed.proxy.account().boto("apigatewayv2", "create_api", left)["ApiId"]);
    bed.config(&shop(&bed));
    let run = bed.workspace.apply(&[]);
    run.failed_with(&format!("An unfinished fgw_http_gateway \"shop\" exists already: {left}"));
    run.failed_with(&format!("terraform import ADDRESS {left}"));
    assert_eq!(bed.proxy.mutations().len(), 0);
    assert!(bed.workspace.state().resource(THIS).is_none());

    bed.workspace.import(THIS, &left).succeeded();
    bed.apply_config();
    assert_eq!(text(&bed.attribute("id")), left);
    assert_eq!(bed.proxy.account().list_of("apis").len(), 1);
    assert_state_is_true(&bed);
    bed.destroy();
}

#[test]
fn a_deployment_that_aws_could_not_make_is_an_error_in_awss_words() {
    let bed = TestEnv::new();
    bed.apply(&json!({ "route_config": { "GET /a": bed.to("orders") } }));
    let words = "Deployment attempt failed: Unable to deploy API because of an invalid route";
    bed.proxy.deployment(words);
    bed.config(&json!({ "route_config": { "GET /a": bed.to("orders"), "GET /b": bed.to("orders") } }));
    let run = bed.workspace.apply(&[]);
    run.failed_with("does not work as applied");
    run.failed_with(words);
    assert!(!bed.workspace.state().is_tainted(THIS), "what was made stays");

    // Until AWS has deployed it, each plan says so, and each apply sets the stage once more.
    let said = format!("deployment_failure is {words} instead of absent");
    assert_eq!(bed.drift(), json!({ "stage": said }));
    bed.proxy.clear_calls();
    bed.workspace.apply(&[]).failed_with(words);
    assert_eq!(bed.told(&bed.slots()), ["UpdateStage $default"]);
    assert_eq!(bed.drift(), json!({ "stage": said }));
    bed.proxy.deployment("Successfully deployed stage with deployment ID 'd2'");
    bed.workspace.assert_nothing_to_do();
    bed.destroy();
}
