//! A client sends 20 requests a second while a gateway changes. AWS deploys each change 4 s after its answer, one after
//! the other, and enforces the policies of functions. No request may fail or reach a wrong function.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{SECRET, TestEnv, text, with};
use crate::support::deployments::{self, Deployments};
use crate::support::http;

/// The interval between two requests.
const INTERVAL: Duration = Duration::from_millis(50);

/// A route as `GET /a`, and the bodies that it may answer.
type Expected<'a> = (&'a str, &'a [&'a str]);

impl TestEnv {
    /// Applies a change while a client sends requests, in turn to each of these routes.
    fn change_while_serving(&self, attributes: &Value, expected: &[Expected<'_>]) {
        let account = self.proxy.account();
        deployments::wait(account);
        let api = text(&self.attribute("api_id"));
        let ended = AtomicBool::new(false);
        let requests = || {
            let mut wrong = Vec::new();
            for (route, bodies) in expected.iter().cycle() {
                let (method, path) = route.split_once(' ').expect("a method and a path");
                let request = http::gateway_now(account, &api, method, path).header("x-key", SECRET);
                let answer = request.send().expect("the gateway answers");
                if answer.status != 200 || !bodies.contains(&answer.body.as_str()) {
                    wrong.push(format!("{route}: {} {}", answer.status, answer.body));
                }
                if ended.load(Ordering::Relaxed) {
                    return wrong;
                }
                std::thread::sleep(INTERVAL);
            }
            wrong
        };
        let wrong = std::thread::scope(|scope| {
            let client = scope.spawn(requests);
            // The client ends even if the apply panics.
            let applied = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                self.apply(attributes);
                deployments::wait(account);
            }));
            ended.store(true, Ordering::Relaxed);
            let wrong = client.join().expect("the client does not panic");
            applied.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            wrong
        });
        assert!(wrong.is_empty(), "{} wrong answers: {wrong:#?}", wrong.len());
        let early = deployments::early_deletions(account);
        assert!(early.is_empty(), "deleted before the last change was deployed: {early:?}");
    }

    /// Deploys each change 4 s after its answer.
    pub(super) fn deploys_late(&self) {
        self.proxy.deployments(Deployments { seconds: Some(4.0), ..Deployments::default() });
    }
}

#[test]
fn functions_and_payload_versions_change_while_serving() {
    let env = TestEnv::new();
    let routes = |route: Value| json!({ "route_config": { "GET /a": route, "GET /still": env.to("users") } });
    let still: Expected<'_> = ("GET /still", &["users /still"]);
    env.apply(&routes(env.to("orders")));
    env.deploys_late();
    env.change_while_serving(&routes(env.to("users")), &[("GET /a", &["orders /a", "users /a"]), still]);
    env.change_while_serving(&routes(env.to("orders")), &[("GET /a", &["orders /a", "users /a"]), still]);
    let second = with(&env.to("orders"), &json!({ "payload_format_version": "2.0" }));
    env.change_while_serving(&routes(second), &[("GET /a", &["orders /a"]), still]);
    env.change_while_serving(&routes(env.to("orders")), &[("GET /a", &["orders /a"]), still]);
    env.destroy();
}

#[test]
fn authorizers_change_and_are_removed_while_serving() {
    let env = TestEnv::new();
    let guarded = |function: &str| {
        json!({
            "route_config": { "GET /a": env.guarded("orders", "customers") },
            "faas_authorizers": { "customers": {
                "authorizer_name": function, "authorizer_payload_format_version": "2.0",
                "enable_simple_responses": true,
            } },
        })
    };
    let open = json!({ "route_config": { "GET /a": env.to("orders") } });
    let expected: &[Expected<'_>] = &[("GET /a", &["orders /a"])];
    env.apply(&guarded("guard"));
    env.deploys_late();
    env.change_while_serving(&guarded("keeper"), expected);
    env.change_while_serving(&guarded("guard"), expected);
    env.change_while_serving(&open, expected);
    env.change_while_serving(&guarded("guard"), expected);
    env.end();
}

#[test]
fn fifty_routes_get_a_new_version_while_serving() {
    let env = TestEnv::new();
    let account = env.proxy.account();
    account.boto("lambda", "publish_version", json!({ "FunctionName": "orders" }));
    let source = "def handler(event, context):\n    return {'statusCode': 200, 'body': 'new ' + event['rawPath']}\n";
    account.update_function("orders", source);
    account.boto("lambda", "publish_version", json!({ "FunctionName": "orders" }));
    let routes = |version: u8| {
        let route = |number: u8| {
            let arn = format!("{}:{version}", env.arn("orders"));
            let route = json!({ "faas_function_arn": arn, "description": number.to_string() });
            (format!("GET /r{number}"), route)
        };
        json!({ "route_config": (0..50).map(route).collect::<Map<_, _>>() })
    };
    env.apply(&routes(1));
    env.deploys_late();
    let expected: &[Expected<'_>] =
        &[("GET /r0", &["orders /r0", "new /r0"]), ("GET /r49", &["orders /r49", "new /r49"])];
    env.change_while_serving(&routes(2), expected);
    assert_eq!(env.send("GET", "/r7", None).body, "new /r7");
    env.change_while_serving(&routes(1), expected);
    env.end();
}

#[test]
fn a_path_variable_is_renamed_while_serving() {
    let env = TestEnv::new();
    let routes = |name: &str, function: &str| json!({ "route_config": { format!("GET /orders/{{{name}}}"): env.to(function), "GET /a": env.to("users") } });
    env.apply(&routes("id", "orders"));
    env.deploys_late();
    let expected: &[Expected<'_>] = &[("GET /orders/7", &["orders /orders/7", "users /orders/7"])];
    env.change_while_serving(&routes("order", "orders"), &[("GET /orders/7", &["orders /orders/7"])]);
    assert_eq!([env.proxy.count("UpdateRoute"), env.proxy.count("CreateRoute")], [0, 1]);
    env.change_while_serving(&routes("id", "users"), expected);
    // A deployment that is in progress when the stage is suspended would contain the deletion.
    env.proxy.deployments(Deployments { seconds: Some(4.0), coalesced: true, ..Deployments::default() });
    let mut more = routes("order", "users");
    more["route_config"]["GET /b"] = env.to("orders");
    env.change_while_serving(&more, &[("GET /orders/7", &["users /orders/7"])]);
    env.end();
}

#[test]
fn one_deployment_may_cover_several_changes() {
    let env = TestEnv::new();
    let routes = |function: &str| json!({ "route_config": { "GET /a": env.to(function), "GET /b": env.to("users") } });
    env.apply(&routes("orders"));
    env.proxy.deployments(Deployments { seconds: Some(4.0), coalesced: true, ..Deployments::default() });
    let expected: &[Expected<'_>] = &[("GET /a", &["orders /a", "users /a"]), ("GET /b", &["users /b"])];
    env.change_while_serving(&routes("users"), expected);
    env.change_while_serving(&routes("orders"), expected);
    env.end();
}

#[test]
fn a_failed_deployment_in_between_does_not_fail_the_apply() {
    let env = TestEnv::new();
    let routes = |function: &str| {
        let keys = ["GET /a", "GET /b", "GET /c"];
        json!({ "route_config": keys.map(|key| (key.to_owned(), env.to(function))).into_iter().collect::<Map<_, _>>() })
    };
    env.apply(&json!({ "route_config": { "GET /a": env.to("orders") } }));
    let failure = Some("Unable to deploy API because of an invalid route");
    env.proxy.deployments(Deployments { failure, succeeding: 1, failing: Some(1), ..Deployments::default() });
    let expected: &[Expected<'_>] = &[("GET /a", &["orders /a", "users /a"])];
    env.change_while_serving(&routes("users"), expected);
    assert_eq!(env.send("GET", "/c", None).body, "users /c");
    env.end();
}

#[test]
fn a_failed_deployment_leaves_deletions_pending() {
    // A stage whose drift is ignored is not updated, but it is deployed again.
    for ignore_drift in [json!([]), json!(["stage"])] {
        let env = TestEnv::new();
        let routes = |function: &str| {
            let routes = json!({ "GET /a": env.to(function), "GET /b": env.to("users") });
            json!({ "route_config": routes, "ignore_drift": ignore_drift })
        };
        env.apply(&routes("orders"));
        let failure = Some("Unable to deploy API because of an invalid route");
        env.proxy.deployments(Deployments { failure, ..Deployments::default() });
        env.config(&routes("users"));
        env.proxy.clear_calls();
        let run = env.workspace.apply(&[]);
        run.failed_with("Could not deploy fgw_http_gateway");
        run.failed_with("Nothing that it uses was deleted");
        assert!(!run.says("Could not delete"), "one error for all deletions: {run}");
        let deletions = ["DeleteIntegration", "RemovePermission"].map(|action| env.proxy.count(action));
        assert_eq!(deletions, [0, 0]);
        assert_eq!(env.send("GET", "/a", None).body, "orders /a", "the previous deployment still works");

        env.proxy.deployments(Deployments::default());
        env.apply_config();
        assert_eq!(env.send("GET", "/a", None).body, "users /a");
        assert_eq!(env.attribute("pending_deletion"), json!({}));
        env.destroy();
    }
}

impl TestEnv {
    /// A gateway with the routes `GET /a` and `GET /b` whose automatic deployment a person has turned off.
    fn deployed_by_hand(ignore_drift: &Value) -> (Self, Value) {
        let env = Self::new();
        let (one, two) = (env.to("orders"), env.to("users"));
        env.apply(&json!({ "route_config": { "GET /a": one, "GET /b": two }, "ignore_drift": ignore_drift }));
        deployments::wait(env.proxy.account());
        env.api_call("update_stage", json!({ "StageName": "$default", "AutoDeploy": false }));
        let without = json!({ "route_config": { "GET /b": two }, "ignore_drift": ignore_drift });
        (env, without)
    }

    pub(super) fn stage(&self) -> Value {
        self.api_call("get_stage", json!({ "StageName": "$default" }))
    }

    /// Creates a deployment and gives it to the stage, as a person does.
    fn deploy(&self) {
        let created = self.api_call("create_deployment", json!({}));
        let id = json!({ "StageName": "$default", "DeploymentId": created["DeploymentId"] });
        self.api_call("update_stage", id);
    }

    /// Applies the configuration, and returns the numbers of deletions of routes, integrations and statements.
    fn applied_deletions(&self, warning: Option<&str>) -> [usize; 3] {
        self.proxy.clear_calls();
        let run = self.workspace.apply(&[]);
        run.succeeded();
        assert!(warning.is_none_or(|warning| run.says(warning)), "{run}");
        assert_eq!(run.says("automatic deployment"), warning.is_some(), "{run}");
        assert_eq!(self.proxy.count("UpdateStage"), 0, "automatic deployment stays off");
        ["DeleteRoute", "DeleteIntegration", "RemovePermission"].map(|action| self.proxy.count(action))
    }
}

#[test]
fn permissions_stay_until_someone_deploys_the_api() {
    let (env, without) = TestEnv::deployed_by_hand(&json!(["stage"]));
    env.config(&without);
    // It contains nothing of the next apply, although it is only a moment older.
    env.deploy();
    let warning = Some("Deploy the API, then apply");
    assert_eq!(env.applied_deletions(warning), [1, 1, 0], "nothing waits for a deployment");
    assert_eq!(env.attribute("pending_deletion").as_object().expect("a map").len(), 1);
    assert_eq!(env.send("GET", "/a", None).body, "orders /a", "the deployed snapshot still works");
    assert_eq!(env.applied_deletions(warning), [0, 0, 0], "it is not deployed yet");
    assert_eq!(env.send("GET", "/a", None).body, "orders /a");

    deployments::wait_for_a_later_second(env.proxy.account());
    env.deploy();
    assert_eq!(env.applied_deletions(None), [0, 0, 1]);
    assert_eq!(env.attribute("pending_deletion"), json!({}));
    assert_eq!(env.stage()["AutoDeploy"], false);
    assert_eq!(env.send("GET", "/a", None).status, 404);
    env.workspace.assert_nothing_to_do();
    env.end();
}

#[test]
fn a_gateway_with_undeployed_changes_is_destroyed() {
    let (env, without) = TestEnv::deployed_by_hand(&json!(["stage"]));
    env.config(&without);
    assert_eq!(env.applied_deletions(Some("Deploy the API, then apply")), [1, 1, 0]);
    env.end();
}

#[test]
fn automatic_deployment_that_was_turned_off_is_drift() {
    let (env, without) = TestEnv::deployed_by_hand(&json!([]));
    env.config(&without);
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("Automatic deployment of the stage was turned off outside Terraform"), "{plan}");
    assert!(plan.says("\"stage\" to ignore_drift"), "{plan}");
    env.apply_config();
    assert_eq!(env.stage()["AutoDeploy"], true);
    assert_eq!(env.attribute("pending_deletion"), json!({}));
    assert_eq!(env.send("GET", "/a", None).status, 404);
    env.end();
}
