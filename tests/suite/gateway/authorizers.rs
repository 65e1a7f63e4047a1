//! Changes of authorizers: a route is never without the authorizer that it is configured with.

use serde_json::{Value, json};

use super::change::sorted;
use super::snapshot::snapshot;
use super::{SECRET, SLOW, TestEnv, with};
use crate::support::proxy::fault::Fault;

#[test]
fn authorizers_change_while_routes_stay_protected() {
    let env = TestEnv::new();
    env.proxy.latency(SLOW);
    let authorizer = |function: &str, more: Value| {
        let basis = json!({
            "authorizer_name": function,
            "authorizer_payload_format_version": "2.0",
            "enable_simple_responses": true,
            "identity_sources": ["$request.header.x-key"],
        });
        json!({ "customers": with(&basis, &more) })
    };
    let config = |a: Value, b: Value, authorizers: Value| {
        json!({
            "route_config": { "GET /a": a, "GET /b": b, "GET /still": env.to("users") },
            "faas_authorizers": authorizers,
        })
    };
    let open = || env.to("orders");
    let guarded = || env.guarded("orders", "customers");
    let status = |path: &str, key: Option<&str>| env.send("GET", path, key).status;
    env.apply(&config(open(), guarded(), authorizer("guard", json!({}))));
    assert_eq!((status("/a", None), status("/b", None)), (200, 401));
    let client = env.load_client(("GET /still", "users /still"), &["GET /a", "GET /b"]);

    let change = env.planned_change(&config(guarded(), open(), authorizer("guard", json!({}))));
    assert_eq!(sorted(change.calls), ["UpdateRoute route.GET /a", "UpdateRoute route.GET /b"]);
    assert_eq!(
        (change.attributes, change.objects),
        (vec!["route_authorizations".to_owned(), "route_config".to_owned()], vec![])
    );
    assert_eq!((status("/a", None), status("/a", Some(SECRET)), status("/b", None)), (401, 200, 200));

    let change = env.planned_change(&config(guarded(), open(), authorizer("keeper", json!({}))));
    assert_eq!(
        change.calls,
        [
            "AddPermission authorizer_permission.customers",
            "UpdateAuthorizer authorizer.customers",
            "RemovePermission authorizer_permission.customers",
        ]
    );
    assert_eq!(change.objects, ["~authorizer_permission.customers"]);
    assert_eq!(change.attributes, ["faas_authorizers"]);
    assert_eq!((status("/a", None), status("/a", Some("wrong")), status("/a", Some(SECRET))), (401, 403, 200));

    let kept_longer = config(guarded(), open(), authorizer("keeper", json!({ "result_ttl_in_seconds": 60 })));
    let change = env.planned_change(&kept_longer);
    assert_eq!(change.calls, ["UpdateAuthorizer authorizer.customers"]);
    assert_eq!(change.objects, Vec::<String>::new());
    let shown = env.proxy.account().list_of("apis")[0]["authorizers"].clone();
    assert_eq!((shown.as_array().map(Vec::len), &shown[0]["AuthorizerResultTtlInSeconds"]), (Some(1), &json!(60)));

    let change = env.planned_change(&config(open(), open(), json!({})));
    assert_eq!(
        change.calls,
        [
            "UpdateRoute route.GET /a",
            "DeleteAuthorizer authorizer.customers",
            "RemovePermission authorizer_permission.customers",
        ]
    );
    assert_eq!(status("/a", None), 200);
    client.saw_no_error();
    env.destroy();
}

#[test]
fn each_attribute_of_an_authorizer_changes_on_a_live_gateway() {
    let env = TestEnv::new();
    let account = env.proxy.account().id.clone();
    env.proxy.latency(SLOW);
    // The functions answer in both formats at once, because API Gateway may use either one during the change.
    let both_ways = format!(
        "def handler(event, context):\n    \
         allowed = event['headers'].get('x-key') == '{SECRET}'\n    \
         effect = 'Allow' if allowed else 'Deny'\n    \
         statement = {{'Action': 'execute-api:Invoke', 'Effect': effect, 'Resource': '*'}}\n    \
         policy = {{'Version': '2012-10-17', 'Statement': [statement]}}\n    \
         return {{'isAuthorized': allowed, 'principalId': 'user', 'policyDocument': policy}}\n"
    );
    for name in ["either", "other"] {
        env.proxy.account().create_function(name, &both_ways);
    }
    let role = |name: &str| format!("arn:aws:iam::{account}:role/{name}");
    let uri = |function: &str| {
        format!("arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/{}/invocations", env.arn(function))
    };
    let names = ["identity", "uri", "credentials", "format", "answers", "permission"];
    let config = |entries: [Value; 6]| {
        let simple = |more: &Value| {
            let basis = json!({
                "authorizer_name": "either", "authorizer_payload_format_version": "2.0", "enable_simple_responses": true,
            });
            with(&basis, more)
        };
        let authorizers: serde_json::Map<String, Value> =
            names.iter().zip(&entries).map(|(name, entry)| ((*name).to_owned(), simple(entry))).collect();
        // With four more, the gateway has as many authorizers as AWS allows by default.
        let unused = (0..4).map(|number| (format!("unused{number}"), simple(&json!({}))));
        let authorizers: serde_json::Map<String, Value> = authorizers.into_iter().chain(unused).collect();
        let mut routes = json!({ "GET /still": env.to("users") });
        for name in names {
            routes[format!("GET /{name}")] = env.guarded("orders", name);
        }
        json!({ "route_config": routes, "faas_authorizers": authorizers })
    };
    env.apply(&config([
        json!({ "identity_sources": ["$request.header.x-key"] }),
        json!({}),
        json!({ "authorizer_credentials_arn": role("before") }),
        json!({}),
        json!({}),
        json!({}),
    ]));
    let touched = names.map(|name| format!("GET /{name}"));
    let client = env.load_client(("GET /still", "users /still"), &touched.each_ref().map(String::as_str));
    let change = env.planned_change(&config([
        json!({ "identity_sources": ["$request.header.x-key", "$request.querystring.shop"] }),
        json!({ "authorizer_uri": uri("other") }),
        json!({ "authorizer_credentials_arn": role("after") }),
        json!({ "authorizer_payload_format_version": "1.0", "enable_simple_responses": false }),
        json!({ "enable_simple_responses": false }),
        json!({ "authorizer_credentials_arn": role("after") }),
    ]));
    let at = |call: &str| change.calls.iter().position(|it| it == call).unwrap_or_else(|| panic!("no {call}"));
    let added = at("AddPermission authorizer_permission.uri");
    let updated = at("UpdateAuthorizer authorizer.uri");
    let removed = at("RemovePermission authorizer_permission.uri");
    assert!(added < updated && updated < removed, "{:?}", change.calls);
    let mut expected = names.map(|name| format!("UpdateAuthorizer authorizer.{name}")).to_vec();
    expected.push("AddPermission authorizer_permission.uri".to_owned());
    expected.extend(["uri", "permission"].map(|name| format!("RemovePermission authorizer_permission.{name}")));
    assert_eq!(sorted(change.calls), sorted(expected));
    assert_eq!(change.objects, ["-authorizer_permission.permission", "~authorizer_permission.uri"]);
    assert_eq!(change.attributes, ["faas_authorizers"]);

    let shown = snapshot(env.proxy.account());
    let line = |name: &str| {
        let begin = format!("authorizer {name}: REQUEST calls ");
        shown
            .iter()
            .find_map(|it| it.strip_prefix(&begin))
            .unwrap_or_else(|| panic!("no {name} in {shown:#?}"))
            .to_owned()
    };
    let both = r#"["$request.header.x-key","$request.querystring.shop"]"#;
    assert_eq!(line("identity"), format!("either, payload 2.0, simple true, sources {both}, ttl 300"));
    assert_eq!(line("uri"), "other, payload 2.0, simple true, sources [], ttl 0");
    let as_role = "either, payload 2.0, simple true, sources [], ttl 0, as arn:aws:iam::<account>:role/after";
    assert_eq!((line("credentials").as_str(), line("permission").as_str()), (as_role, as_role));
    assert!(line("format").starts_with("either, payload 1.0, simple "), "{}", line("format"));
    assert_eq!(line("answers"), "either, payload 2.0, simple false, sources [], ttl 0");
    let status = |path: &str| env.send("GET", path, Some(SECRET)).status;
    assert_eq!((status("/identity"), status("/identity?shop=1"), status("/uri")), (401, 200, 200));

    let change = env.planned_change(&config([
        json!({ "result_ttl_in_seconds": 0 }),
        json!({}),
        json!({ "result_ttl_in_seconds": 0 }),
        json!({}),
        json!({}),
        json!({}),
    ]));
    let moved =
        ["+authorizer_permission.credentials", "+authorizer_permission.permission", "~authorizer_permission.uri"];
    assert_eq!(change.objects, moved, "authorizers that had a role get a permission");
    for name in names {
        assert_eq!(env.send("GET", &format!("/{name}"), Some(SECRET)).status, 200, "{name}");
        assert_eq!(env.send("GET", &format!("/{name}"), None).status, 403, "{name}");
    }
    client.saw_no_error();
    env.end();
}

#[test]
fn at_the_quota_a_key_is_renamed_and_an_unused_authorizer_makes_way() {
    let env = TestEnv::new();
    // Ten authorizers, of which the route uses one.
    let config = |changed: &[(usize, &str, &str)], used: &str| {
        let mut all: Vec<(String, &str)> = (0..10).map(|number| (format!("a{number}"), "guard")).collect();
        for (number, name, function) in changed {
            all[*number] = ((*name).to_owned(), *function);
        }
        let authorizer = |function: &str| {
            json!({ "authorizer_name": function, "authorizer_payload_format_version": "2.0",
                    "enable_simple_responses": true })
        };
        let authorizers: serde_json::Map<_, _> =
            all.into_iter().map(|(name, function)| (name, authorizer(function))).collect();
        json!({ "route_config": { "GET /a": env.guarded("orders", used) }, "faas_authorizers": authorizers })
    };
    env.apply(&config(&[], "a0"));
    // With another key, an authorizer of the same function is the same one, whether or not a route uses it.
    for (changed, used) in
        [(&[(5, "unused", "guard")][..], "a0"), (&[(5, "unused", "guard"), (0, "used", "guard")], "used")]
    {
        let change = env.planned_change(&config(changed, used));
        assert_eq!(change.calls, Vec::<String>::new(), "{changed:?}");
    }
    assert_eq!(env.send("GET", "/a", None).status, 403);

    // Another function is another authorizer, for which an unused one makes way.
    let renamed = [(5, "other", "keeper"), (0, "used", "guard")];
    env.planned_change(&config(&renamed, "used"));
    assert_eq!((env.proxy.succeeded("DeleteAuthorizer"), env.proxy.succeeded("CreateAuthorizer")), (1, 1));

    // The route needs the old authorizer until the new one exists, so the apply fails. Nothing is left half done.
    env.config(&config(&[(5, "other", "keeper"), (0, "next", "keeper")], "next"));
    env.workspace.apply(&[]).failed_with("request a higher quota");
    assert_eq!(env.send("GET", "/a", None).status, 403, "the route is still protected");
    env.apply(&config(&renamed, "used"));
    env.end();
}

#[test]
fn a_failed_change_of_the_function_is_completed_by_the_next_apply() {
    let env = TestEnv::new();
    let config = |function: &str| {
        json!({
            "route_config": { "GET /a": env.guarded("orders", "customers") },
            "faas_authorizers": { "customers": {
                "authorizer_name": function, "authorizer_payload_format_version": "2.0",
                "enable_simple_responses": true,
            } },
        })
    };
    env.apply(&config("guard"));
    env.proxy.fault(Fault::on("UpdateAuthorizer").answer(403, "AccessDeniedException", "a policy forbids it"));
    env.config(&config("keeper"));
    env.workspace.apply(&[]).failed_with("a policy forbids it");
    assert_eq!(env.send("GET", "/a", Some(SECRET)).status, 200, "the old function still has its permission");
    env.proxy.clear_faults();
    env.apply_config();
    let statements = env.proxy.account().ours().into_iter().filter(|it| it.contains(" of guard")).count();
    assert_eq!(statements, 0, "the permission of the old function is removed");
    env.end();
}
