//! Integrations, authorizers and permissions that unmanaged routes use too: the requests to these routes are served as
//! before through every change of the gateway.

use serde_json::{Value, json};

use super::load_client::LoadClient;
use super::{TestEnv, text, with};

impl TestEnv {
    /// Adds an unmanaged route. Returns its ID.
    fn add_route(&self, route_key: &str, integration: &Value, authorizer: Option<&Value>) -> String {
        let target = format!("integrations/{}", text(integration));
        let mut route = json!({ "RouteKey": route_key, "Target": target });
        if let Some(id) = authorizer {
            route["AuthorizationType"] = "CUSTOM".into();
            route["AuthorizerId"] = id.clone();
        }
        text(&self.api_call("create_route", route)["RouteId"])
    }

    /// The statements that allow API Gateway to call a function.
    fn statements_of(&self, function: &str) -> Vec<String> {
        let functions = self.proxy.account().list_of("functions");
        let function = functions.iter().find(|it| it["FunctionName"] == function).expect("it exists");
        function["statements"].as_array().into_iter().flatten().map(|it| text(&it["Sid"])).collect()
    }
}

/// A gateway whose integrations and authorizer unmanaged routes use.
fn shop(env: &TestEnv) -> Value {
    json!({
        "route_config": {
            "GET /public": env.to("orders"),
            "GET /guarded": env.guarded("users", "customers"),
            "GET /x/{id}": env.to("orders"),
            "POST /x/{id}/y": env.guarded("users", "customers"),
        },
        "faas_authorizers": { "customers": {
            "authorizer_name": "guard", "authorizer_payload_format_version": "2.0", "enable_simple_responses": true,
        } },
    })
}

/// Clients that call the unmanaged routes after each change.
fn clients(env: &TestEnv) -> [LoadClient; 3] {
    let routes = ["/theirs orders", "/theirs-guarded users", "/own users"];
    routes.map(|route| {
        let (path, function) = route.split_once(' ').expect("a path and a function");
        env.load_client((&format!("GET {path}"), &format!("{function} {path}")), &[])
    })
}

#[test]
fn unmanaged_routes_answer_alike_through_every_change() {
    let env = TestEnv::new();
    env.apply(&shop(&env));
    let (integrations, authorizers) = (env.attribute("integration_ids"), env.attribute("authorizer_ids"));
    env.add_route("GET /theirs", &integrations["GET /public"], None);
    env.add_route("GET /theirs-guarded", &integrations["GET /guarded"], Some(&authorizers["customers"]));
    let own = json!({
        "IntegrationType": "AWS_PROXY", "IntegrationUri": env.arn("users"), "IntegrationMethod": "POST",
        "PayloadFormatVersion": "1.0", "Description": "theirs",
    });
    env.add_route("GET /own", &env.api_call("create_integration", own)["IntegrationId"], None);
    let change = |config: &Value| {
        let clients = clients(&env);
        env.apply(config);
        clients.into_iter().for_each(LoadClient::saw_no_error);
    };

    // Another function.
    let mut config = shop(&env);
    config["route_config"]["GET /public"] = env.to("users");
    config["route_config"]["GET /x/{id}"] = env.to("users");
    change(&config);
    assert_eq!(env.send("GET", "/public", None).body, "users /public");
    let left = env.attribute("unmanaged_objects");
    let line = text(&left[text(&integrations["GET /public"])]);
    assert!(
        line.starts_with("integration.GET /public before: not deleted") && line.contains("\"GET /theirs\""),
        "{left}"
    );

    // Another function of the authorizer.
    config["faas_authorizers"]["customers"]["authorizer_name"] = "keeper".into();
    change(&config);
    assert_ne!(env.attribute("authorizer_ids")["customers"], authorizers["customers"]);
    assert!(env.attribute("unmanaged_objects").get(text(&authorizers["customers"])).is_some());

    // Another name of a path variable.
    let routes = config["route_config"].as_object_mut().expect("routes");
    for (old, new) in [("GET /x/{id}", "GET /x/{key}"), ("POST /x/{id}/y", "POST /x/{key}/y")] {
        let route = routes.remove(old).expect("it is configured");
        routes.insert(new.into(), route);
    }
    change(&config);

    // Fewer routes, no authorizer, and no route to a function that an unmanaged integration calls.
    let one = json!({ "route_config": { "GET /x/{key}": env.to("orders") }, "protected_objects": ["api"] });
    change(&one);
    assert_eq!(env.send("GET", "/guarded", None).status, 404);
    let allows = |function: &str| env.statements_of(function).iter().filter(|it| it.starts_with("fgw-")).count();
    assert_eq!(["orders", "users", "guard", "keeper"].map(allows), [1, 1, 1, 0], "permissions that are needed stay");

    // A destroy that is refused.
    let client = env.load_client(("GET /own", "users /own"), &[]);
    env.workspace.destroy().failed_with("protected");
    env.apply(&json!({ "route_config": { "GET /x/{key}": env.to("orders") } }));
    env.apply(&json!({ "route_config": { "GET /x/{key}": env.to("orders") }, "description": "not protected" }));
    client.saw_no_error();

    // One that is not: the plan names the routes.
    let plan = env.workspace.plan(&["-destroy"]);
    for route in ["GET /theirs", "GET /theirs-guarded", "GET /own"] {
        assert!(plan.says(&format!("\"{route}\"")), "no {route} in {plan}");
    }
    env.destroy();
}

#[test]
fn a_variable_that_an_unmanaged_route_renames_is_refused() {
    let env = TestEnv::new();
    let routes = |name: &str| {
        let [one, two] = [format!("GET /x/{{{name}}}"), format!("POST /x/{{{name}}}/y")];
        json!({ "route_config": { one: env.to("orders"), two: env.to("users") } })
    };
    env.apply(&routes("id"));
    let theirs = env.add_route("DELETE /x/{id}", &env.attribute("integration_ids")["GET /x/{id}"], None);
    env.config(&routes("key"));
    env.proxy.clear_calls();
    let run = env.workspace.apply(&[]);
    run.failed_with("where the unmanaged route \"DELETE /x/{id}\"").failed_with("Name it \"id\"");
    assert_eq!(env.proxy.mutations().len(), 0, "nothing is deleted");
    assert_eq!(env.send("POST", "/x/7/y", None).body, "users /x/7/y");
    // The first way out, then the second one.
    env.apply(&routes("id"));
    env.api_call("delete_route", json!({ "RouteId": theirs }));
    env.apply(&routes("key"));
    assert_eq!(env.send("POST", "/x/7/y", None).body, "users /x/7/y");
    env.end();
}

#[test]
fn an_unmanaged_route_is_taken_over_as_the_plan_describes_it() {
    let env = TestEnv::new();
    let one = json!({ "GET /a": env.to("orders") });
    env.apply(&json!({ "route_config": one }));
    let own = json!({
        "IntegrationType": "AWS_PROXY", "IntegrationUri": env.arn("users"), "IntegrationMethod": "POST",
        "PayloadFormatVersion": "2.0", "TimeoutInMillis": 9000,
    });
    let integration = env.api_call("create_integration", own)["IntegrationId"].clone();
    let theirs = env.add_route("GET /theirs", &integration, None);
    let both = |route: Value| json!({ "route_config": with(&one, &json!({ "GET /theirs": route })) });
    env.config(&both(env.to("users")));
    env.proxy.clear_calls();
    let run = env.workspace.apply(&[]);
    run.failed_with("already has an unmanaged route \"GET /theirs\"").failed_with("To take it over as it is, set");
    run.failed_with("payload_format_version = \"2.0\"").failed_with("timeout_milliseconds = 9000");
    assert_eq!(env.proxy.mutations().len(), 0);
    let as_it_is = json!({ "payload_format_version": "2.0", "timeout_milliseconds": 9000 });
    env.apply(&both(with(&env.to("users"), &as_it_is)));
    assert_eq!(text(&env.attribute("route_ids")["GET /theirs"]), theirs);
    assert_eq!(env.attribute("integration_ids")["GET /theirs"], integration);
    env.end();
}
