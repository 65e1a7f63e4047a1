//! As many routes as AWS allows, and two gateways in one run, within the rate limit of one account.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{SECRET, SLOW, TestEnv, assert_no_overlap, with};
use crate::support::proxy::Proxy;

/// The routes that AWS allows for an API.
const ROUTES: usize = 300;
const FUNCTIONS: usize = 20;
/// The items of a page that the provider requests.
const PAGE: usize = 100;

/// API Gateway's limits for an account: calls per second, and calls in a burst.
const CALLS_A_SECOND: f64 = 10.0;
const CALLS_AT_ONCE: f64 = 40.0;

#[test]
fn three_hundred_routes_stay_within_the_limits_of_aws() {
    let small = TestEnv::new();
    small.apply(&protected(
        &small,
        &json!({ "GET /a": small.to("orders"), "GET /b": small.to("users"),
                 "GET /c": small.guarded("orders", "customers") }),
    ));
    let few = reads(&small);
    small.destroy();

    let env = TestEnv::new();
    env.proxy.latency(SLOW);
    let function = |number: usize| format!("f{number}");
    for number in 0..FUNCTIONS {
        let name = function(number);
        let source = format!("def handler(event, context):\n    return {{'statusCode': 200, 'body': '{name}'}}\n");
        env.proxy.account().create_function(&name, &source);
    }
    let path = |number: usize| format!("GET /resources/{number}");
    let mut routes: BTreeMap<String, Value> =
        (0..ROUTES).map(|number| (path(number), env.to(&function(number % FUNCTIONS)))).collect();
    routes.insert(path(7), env.guarded("f7", "customers"));
    env.apply(&protected(&env, &json!(routes)));
    assert_within_awss_limit(&env.proxy);
    let created = changes(&env);
    let of = |action: &str| created.get(action).copied().unwrap_or_default();
    assert_eq!((of("CreateRoute"), of("CreateIntegration")), (ROUTES, FUNCTIONS), "{created:?}");
    assert_eq!(of("AddPermission"), FUNCTIONS + 1, "one for each function and one for the authorizer: {created:?}");
    assert_eq!(statements(&env), (0..FUNCTIONS).map(|number| (function(number), 1)).collect());
    assert_eq!(
        (env.send("GET", "/resources/299", None).body, env.send("GET", "/resources/7", None).status),
        ("f19".into(), 403)
    );
    assert_eq!(env.send("GET", "/resources/7", Some(SECRET)).body, "f7");

    // A refresh takes the same calls as that of three routes, apart from pages and one GetPolicy call per function.
    let mut many = reads(&env);
    let (mut pages, policies) = (many["GetRoutes"], many["GetPolicy"]);
    assert_eq!((pages, policies), (ROUTES / PAGE, FUNCTIONS + 1));
    for shared in ["GetRoutes", "GetPolicy"] {
        many.insert(shared.into(), few[shared]);
    }
    pages -= few["GetRoutes"];
    assert_eq!(many, few);
    let all: usize = many.values().sum::<usize>() - few["GetPolicy"];
    assert!(all <= 9, "{all} calls, without policies and with {pages} further pages: {many:?}");

    // All routes of one function move to another one, and all routes of a third one are deleted.
    routes.retain(|_, route| *route != env.to("f19"));
    for route in routes.values_mut().filter(|route| **route == env.to("f0")) {
        *route = env.to("orders");
    }
    let each = ROUTES / FUNCTIONS;
    env.apply(&protected(&env, &json!(routes)));
    assert_within_awss_limit(&env.proxy);
    let changed = [
        ("AddPermission", 1),
        ("UpdateIntegration", 1),
        ("DeleteRoute", each),
        ("DeleteIntegration", 1),
        ("RemovePermission", 2),
    ];
    assert_eq!(changes(&env), changed.map(|(action, count)| (action.to_string(), count)).into());
    let called = |number: usize| env.send("GET", &format!("/resources/{number}"), None);
    assert_eq!((called(20).body, called(1).body, called(19).status), ("orders /resources/20".into(), "f1".into(), 404));

    env.destroy();
    assert_within_awss_limit(&env.proxy);
    let deleted = changes(&env);
    let found = (deleted["DeleteApi"], deleted.get("DeleteRoute"));
    assert_eq!(found, (1, None), "AWS deletes the objects in the API with it: {deleted:?}");
}

#[test]
fn a_full_refresh_takes_eleven_calls_and_one_per_policy() {
    let env = TestEnv::new();
    let account = env.proxy.account();
    account.boto("acm", "request_certificate", json!({ "DomainName": "api.example.com" }));
    let zone = json!({ "Name": "example.com", "CallerReference": "zone" });
    let zone = account.boto("route53", "create_hosted_zone", zone)["HostedZone"]["Id"].clone();
    let zone = zone.as_str().expect("an id").trim_start_matches("/hostedzone/");
    let routes = json!({ "GET /a": env.to("orders"), "GET /c": env.guarded("orders", "customers") });
    env.apply(&with(
        &protected(&env, &routes),
        &json!({
            "access_log_logservice_group_name": "/shop/access",
            "access_log_logservice_group_subscription_destination_arn": env.arn("users"),
            "domain_name": "api.example.com", "hosted_zone_id": zone, "create_dns_entry": true,
        }),
    ));
    let mut calls = reads(&env);
    assert_eq!(calls.remove("GetPolicy"), Some(3));
    calls.remove("GetCallerIdentity");
    for of_the_plan in ["ListCertificates", "DescribeCertificate"] {
        assert_eq!(calls.remove(of_the_plan), Some(1), "the plan looks up the certificate");
    }
    let each = [
        "DescribeLogGroups",
        "DescribeSubscriptionFilters",
        "GetApi",
        "GetApiMappings",
        "GetAuthorizers",
        "GetDomainNames",
        "GetIntegrations",
        "GetRoutes",
        "GetStages",
        "ListResourceRecordSets",
        "ListTagsForResource",
    ];
    assert_eq!(calls, each.map(|action| (action.to_owned(), 1)).into());
    env.destroy();
}

#[test]
fn two_gateways_share_the_rate_limit_and_lose_no_statement() {
    let env = TestEnv::new();
    env.proxy.latency(SLOW);
    let gateway = |name: &str, count: usize| {
        let functions = ["orders", "users"];
        let routes = (0..count).map(|number| (format!("GET /{number}"), env.to(functions[number % 2])));
        json!({ "name": name, "route_config": routes.collect::<BTreeMap<_, _>>() })
    };
    env.configs(&[("this", &gateway("one", 30)), ("other", &gateway("two", 30))], &json!({}));
    env.apply_config();
    assert_within_awss_limit(&env.proxy);
    let calls = env.proxy.calls().into_iter().filter(|record| record.call.service == "apigateway").count();
    assert!(calls > 40, "{calls} calls fit into a burst");
    let routes = env.proxy.calls().into_iter().filter(|record| record.call.action == "CreateRoute");
    let apis: Vec<String> = routes.map(|record| record.call.param("apiId").to_owned()).collect();
    let alternations = apis.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(alternations > 1, "the gateways are created at the same time: {apis:?}");
    assert_eq!(statements(&env), [("orders".to_owned(), 2), ("users".to_owned(), 2)].into());

    // Both change the policies of both functions at once.
    env.configs(&[("this", &gateway("one", 1)), ("other", &gateway("two", 1))], &json!({}));
    env.apply_config();
    assert_within_awss_limit(&env.proxy);
    assert_eq!(statements(&env), [("orders".to_owned(), 2), ("users".to_owned(), 0)].into());
    env.destroy();
    assert_within_awss_limit(&env.proxy);
}

/// The calls that change objects when the routes of a function move to its next version.
#[test]
fn publishing_a_version_updates_each_integration_once() {
    const EACH: usize = 50;
    let env = TestEnv::new();
    let account = env.proxy.account();
    let publish = |body: &str| {
        let source = format!("def handler(event, context):\n    return {{'statusCode': 200, 'body': '{body}'}}\n");
        account.update_function("orders", &source);
        let published = account.boto("lambda", "publish_version", json!({ "FunctionName": "orders" }));
        format!("{}:{}", env.arn("orders"), published["Version"].as_str().expect("a version"))
    };
    let config = |version: &str, described: bool| {
        let route = |number: usize| match described {
            true => json!({ "faas_function_arn": version, "description": format!("Resource {number}.") }),
            false => json!({ "faas_function_arn": version }),
        };
        let routes = (0..EACH).map(|number| (format!("GET /resources/{number}"), route(number)));
        json!({ "route_config": routes.collect::<BTreeMap<_, _>>() })
    };
    let policies = [("AddPermission", 1), ("RemovePermission", 1)];
    let expected = |integrations: usize| {
        let updates = policies.into_iter().chain([("UpdateIntegration", integrations)]);
        updates.map(|(action, count)| (action.to_owned(), count)).collect::<BTreeMap<_, _>>()
    };
    let body = |number: usize| env.send("GET", &format!("/resources/{number}"), None).body;

    env.apply(&config(&publish("first"), true));
    assert_eq!((changes(&env)["CreateIntegration"], body(0)), (EACH, "first".into()));
    let ids = env.attribute("integration_ids");
    let second = publish("second");
    env.apply(&config(&second, true));
    assert_eq!(changes(&env), expected(EACH));
    assert_eq!((env.attribute("integration_ids"), body(EACH - 1)), (ids, "second".into()));
    env.destroy();

    env.apply(&config(&second, false));
    assert_eq!(changes(&env)["CreateIntegration"], 1);
    env.apply(&config(&publish("third"), false));
    assert_eq!((changes(&env), body(0)), (expected(1), "third".into()));
    env.end();
}

#[test]
fn throttled_and_conflicting_calls_are_retried() {
    use crate::support::proxy::fault::Fault;
    let env = TestEnv::new();
    let throttled = |action: &str| {
        Fault::on(action).service("apigateway").first(2).answer(429, "TooManyRequestsException", "Too Many Requests")
    };
    for action in ["CreateApi", "CreateRoute", "GetRoutes", "CreateStage", "GetStage", "TagResource"] {
        env.proxy.fault(throttled(action));
    }
    let words = "Unable to complete operation due to concurrent modification. Please try again later.";
    for action in ["CreateIntegration", "UpdateIntegration", "UpdateRoute", "DeleteIntegration", "UpdateApi"] {
        env.proxy.fault(Fault::on(action).first(2).answer(409, "ConflictException", words));
    }
    env.apply(&json!({ "route_config": { "GET /a": env.to("orders"), "GET /b": env.to("orders") } }));
    assert_eq!((env.proxy.count("CreateRoute"), env.proxy.succeeded("CreateRoute")), (4, 2));
    assert_eq!((env.proxy.count("CreateIntegration"), env.proxy.succeeded("CreateIntegration")), (3, 1));
    assert_eq!(env.proxy.account().list_of("apis").len(), 1, "nothing is created twice");

    let assert_retried = |actions: &[&str]| {
        for action in actions {
            assert_eq!(env.proxy.count(action), env.proxy.succeeded(action) + 2, "{action}");
        }
    };
    let both = |function: &str| json!({ "GET /a": env.to(function), "GET /b": env.to(function) });
    env.apply(&json!({ "route_config": both("users") }));
    assert_retried(&["UpdateIntegration"]);
    let parted = with(&both("users"), &json!({ "GET /a": env.to("orders"), "GET /b": env.to("keeper") }));
    env.apply(&json!({ "route_config": parted, "description": "changed" }));
    assert_retried(&["UpdateRoute", "DeleteIntegration", "UpdateApi"]);
    assert_eq!(env.send("GET", "/a", None).body, "orders /a");
    env.end();
}

/// A gateway with these routes, an authorizer and access logs.
fn protected(env: &TestEnv, routes: &Value) -> Value {
    assert!(env.proxy.account().list_of("functions").len() >= 4);
    let guard = json!({ "customers": {
        "authorizer_name": "guard", "authorizer_payload_format_version": "2.0", "enable_simple_responses": true,
    } });
    with(
        &json!({ "access_log_logservice_group_name": "/shop/access" }),
        &json!({ "faas_authorizers": guard, "route_config": routes }),
    )
}

/// The number of calls of an empty plan, by action.
fn reads(env: &TestEnv) -> BTreeMap<String, usize> {
    env.proxy.clear_calls();
    env.workspace.assert_nothing_to_do();
    assert_within_awss_limit(&env.proxy);
    let lists = ["GetRoutes", "GetIntegrations", "GetAuthorizers"];
    for record in env.proxy.calls().iter().filter(|record| lists.contains(&record.call.action.as_str())) {
        assert_eq!(record.call.param("maxResults"), PAGE.to_string(), "{}", record.call.action);
    }
    env.proxy.by_action()
}

/// The number of changing calls, by action.
fn changes(env: &TestEnv) -> BTreeMap<String, usize> {
    assert_no_overlap(&env.proxy);
    let mut changes = BTreeMap::new();
    for record in env.proxy.mutations() {
        *changes.entry(record.call.action).or_default() += 1;
    }
    changes
}

/// The number of statements in the policy of each function that has routes.
fn statements(env: &TestEnv) -> BTreeMap<String, usize> {
    let functions = env.proxy.account().list_of("functions");
    let is_of_scale = functions.len() > 10;
    let named = functions.into_iter().filter_map(|function| {
        let name = function["FunctionName"].as_str()?.to_owned();
        let counts = match is_of_scale {
            true => name.starts_with('f'),
            false => ["orders", "users"].contains(&name.as_str()),
        };
        counts.then(|| (name, function["statements"].as_array().map_or(0, Vec::len)))
    });
    named.collect()
}

/// Asserts that the calls to API Gateway do not exceed its token bucket.
fn assert_within_awss_limit(proxy: &Proxy) {
    let calls = proxy.calls().into_iter().filter(|record| record.call.service == "apigateway");
    let (mut tokens, mut last) = (CALLS_AT_ONCE, None);
    for (number, record) in calls.enumerate() {
        let since = last.map_or(0.0, |last| record.started.duration_since(last).as_secs_f64());
        tokens = (tokens + since * CALLS_A_SECOND).min(CALLS_AT_ONCE) - 1.0;
        last = Some(record.started);
        assert!(tokens >= 0.0, "AWS would throttle call {number}, {}", record.call.action);
    }
}
