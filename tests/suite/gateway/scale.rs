//! As many routes as AWS allows, and gateways side by side, within what AWS takes from one account.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{SECRET, SLOW, TestEnv, assert_turns_are_taken, with};
use crate::support::proxy::Proxy;

/// What AWS allows an API.
const ROUTES: usize = 300;
const FUNCTIONS: usize = 20;
/// Items of a page, as the provider asks for them.
const PAGE: usize = 100;

/// API Gateway takes this many calls a second from an account, and this many at once after a quiet time.
const CALLS_A_SECOND: f64 = 10.0;
const CALLS_AT_ONCE: f64 = 40.0;

#[test]
fn three_hundred_routes_are_made_changed_and_read_within_awss_limits() {
    let small = TestEnv::new();
    small.apply(&protected(
        &small,
        &json!({ "GET /a": small.to("orders"), "GET /b": small.to("users"),
                 "GET /c": small.guarded("orders", "customers") }),
    ));
    let few = reads(&small);
    small.destroy();

    let bed = TestEnv::new();
    bed.proxy.latency(SLOW);
    let function = |number: usize| format!("f{number}");
    for number in 0..FUNCTIONS {
        let name = function(number);
        let source = format!("def handler(event, context):\n    return {{'statusCode': 200, 'body': '{name}'}}\n");
        bed.proxy.account().create_function(&name, &source);
    }
    let path = |number: usize| format!("GET /resources/{number}");
    let mut routes: BTreeMap<String, Value> =
        (0..ROUTES).map(|number| (path(number), bed.to(&function(number % FUNCTIONS)))).collect();
    routes.insert(path(7), bed.guarded("f7", "customers"));
    bed.apply(&protected(&bed, &json!(routes)));
    assert_within_awss_limit(&bed.proxy);
    let made = changes(&bed);
    let of = |action: &str| made.get(action).copied().unwrap_or_default();
    assert_eq!((of("CreateRoute"), of("CreateIntegration")), (ROUTES, FUNCTIONS), "{made:?}");
    assert_eq!(of("AddPermission"), FUNCTIONS + 1, "one for each function and one for the authorizer: {made:?}");
    assert_eq!(statements(&bed), (0..FUNCTIONS).map(|number| (function(number), 1)).collect());
    assert_eq!(
        (bed.call("GET", "/resources/299", None).body, bed.call("GET", "/resources/7", None).status),
        ("f19".into(), 403)
    );
    assert_eq!(bed.call("GET", "/resources/7", Some(SECRET)).body, "f7");

    // A refresh takes the same calls as that of three routes, but for pages and for what has a policy of its own.
    let mut many = reads(&bed);
    let (mut pages, policies) = (many["GetRoutes"], many["GetPolicy"]);
    assert_eq!((pages, policies), (ROUTES / PAGE, FUNCTIONS + 1));
    for shared in ["GetRoutes", "GetPolicy"] {
        many.insert(shared.into(), few[shared]);
    }
    pages -= few["GetRoutes"];
    assert_eq!(many, few);
    let all: usize = many.values().sum::<usize>() - few["GetPolicy"];
    assert!(all <= 9, "{all} calls beside policies and {pages} further pages: {many:?}");

    // All routes of one function go to another one, and all of a third one go altogether.
    routes.retain(|_, route| *route != bed.to("f19"));
    for route in routes.values_mut().filter(|route| **route == bed.to("f0")) {
        *route = bed.to("orders");
    }
    let each = ROUTES / FUNCTIONS;
    bed.apply(&protected(&bed, &json!(routes)));
    assert_within_awss_limit(&bed.proxy);
    let changed = [
        ("AddPermission", 1),
        ("CreateIntegration", 1),
        ("UpdateRoute", each),
        ("DeleteRoute", each),
        ("DeleteIntegration", 2),
        ("RemovePermission", 2),
    ];
    assert_eq!(changes(&bed), changed.map(|(action, count)| (action.to_string(), count)).into());
    let called = |number: usize| bed.call("GET", &format!("/resources/{number}"), None);
    assert_eq!((called(20).body, called(1).body, called(19).status), ("orders /resources/20".into(), "f1".into(), 404));

    bed.destroy();
    assert_within_awss_limit(&bed.proxy);
    let gone = changes(&bed);
    assert_eq!((gone["DeleteApi"], gone.get("DeleteRoute")), (1, None), "what is in the API goes with it: {gone:?}");
}

#[test]
fn a_refresh_of_a_gateway_with_everything_takes_eleven_calls_and_one_for_each_policy() {
    let bed = TestEnv::new();
    let account = bed.proxy.account();
    account.boto("acm", "request_certificate", json!({ "DomainName": "api.example.com" }));
    let zone = json!({ "Name": "example.com", "CallerReference": "zone" });
    let zone = account.boto("route53", "create_hosted_zone", zone)["HostedZone"]["Id"].clone();
    let zone = zone.as_str().expect("an id").trim_start_matches("/hostedzone/");
    let routes = json!({ "GET /a": bed.to("orders"), "GET /c": bed.guarded("orders", "customers") });
    bed.apply(&with(
        &protected(&bed, &routes),
        &json!({
            "access_log_logservice_group_name": "/shop/access",
            "access_log_logservice_group_subscription_destination_arn": bed.arn("users"),
            "domain_name": "api.example.com", "hosted_zone_id": zone, "create_dns_entry": true,
        }),
    ));
    let mut calls = reads(&bed);
    assert_eq!(calls.remove("GetPolicy"), Some(3));
    calls.remove("GetCallerIdentity");
    for of_the_plan in ["ListCertificates", "DescribeCertificate"] {
        assert_eq!(calls.remove(of_the_plan), Some(1), "Terraform plans, too");
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
        "GetStage",
        "ListResourceRecordSets",
        "ListTagsForResource",
    ];
    assert_eq!(calls, each.map(|action| (action.to_owned(), 1)).into());
    bed.destroy();
}

#[test]
fn two_gateways_in_one_apply_share_the_limit_and_lose_no_statement_of_a_shared_function() {
    let bed = TestEnv::new();
    bed.proxy.latency(SLOW);
    let gateway = |name: &str, count: usize| {
        let functions = ["orders", "users"];
        let routes = (0..count).map(|number| (format!("GET /{number}"), bed.to(functions[number % 2])));
        json!({ "name": name, "route_config": routes.collect::<BTreeMap<_, _>>() })
    };
    bed.configs(&[("this", &gateway("one", 30)), ("other", &gateway("two", 30))], &json!({}));
    bed.apply_config();
    assert_within_awss_limit(&bed.proxy);
    let calls = bed.proxy.calls().into_iter().filter(|record| record.call.service == "apigateway").count();
    assert!(calls > 40, "{calls} calls would pass without a limit that is shared");
    let routes = bed.proxy.calls().into_iter().filter(|record| record.call.action == "CreateRoute");
    let apis: Vec<String> = routes.map(|record| record.call.param("apiId").to_owned()).collect();
    let alternations = apis.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(alternations > 1, "neither gateway waits until the other is made: {apis:?}");
    assert_eq!(statements(&bed), [("orders".to_owned(), 2), ("users".to_owned(), 2)].into());

    // Both change the policies of both functions at once.
    bed.configs(&[("this", &gateway("one", 1)), ("other", &gateway("two", 1))], &json!({}));
    bed.apply_config();
    assert_within_awss_limit(&bed.proxy);
    assert_eq!(statements(&bed), [("orders".to_owned(), 2), ("users".to_owned(), 0)].into());
    bed.destroy();
    assert_within_awss_limit(&bed.proxy);
}

#[test]
fn a_throttled_call_and_a_concurrent_change_of_the_api_are_sent_again() {
    use crate::support::proxy::fault::Fault;
    let bed = TestEnv::new();
    let throttled = |action: &str| {
        Fault::on(action).service("apigateway").first(2).answer(429, "TooManyRequestsException", "Too Many Requests")
    };
    for action in ["CreateApi", "CreateRoute", "GetRoutes", "CreateStage", "GetStage", "TagResource"] {
        bed.proxy.fault(throttled(action));
    }
    let words = "Unable to complete operation due to concurrent modification. Please try again later.";
    for action in ["CreateIntegration", "UpdateRoute", "DeleteIntegration", "UpdateApi"] {
        bed.proxy.fault(Fault::on(action).first(2).answer(409, "ConflictException", words));
    }
    bed.apply(&json!({ "route_config": { "GET /a": bed.to("orders"), "GET /b": bed.to("orders") } }));
    assert_eq!((bed.proxy.count("CreateRoute"), bed.proxy.succeeded("CreateRoute")), (4, 2));
    assert_eq!((bed.proxy.count("CreateIntegration"), bed.proxy.succeeded("CreateIntegration")), (3, 1));
    assert_eq!(bed.proxy.account().list_of("apis").len(), 1, "nothing is made twice");

    let routes = json!({ "GET /a": bed.to("users"), "GET /b": bed.to("users") });
    bed.apply(&json!({ "route_config": routes, "description": "changed" }));
    for action in ["UpdateRoute", "DeleteIntegration", "UpdateApi"] {
        assert_eq!(bed.proxy.count(action), bed.proxy.succeeded(action) + 2, "{action}");
    }
    assert_eq!(bed.call("GET", "/a", None).body, "users /a");
    bed.destroy();
}

/// A gateway with these routes, an authorizer and access logs.
fn protected(bed: &TestEnv, routes: &Value) -> Value {
    assert!(bed.proxy.account().list_of("functions").len() >= 4);
    let guard = json!({ "customers": {
        "authorizer_name": "guard", "authorizer_payload_format_version": "2.0", "enable_simple_responses": true,
    } });
    with(
        &json!({ "access_log_logservice_group_name": "/shop/access" }),
        &json!({ "faas_authorizers": guard, "route_config": routes }),
    )
}

/// The calls of one plan, which finds nothing to do.
fn reads(bed: &TestEnv) -> BTreeMap<String, usize> {
    bed.proxy.clear_calls();
    bed.workspace.assert_nothing_to_do();
    assert_within_awss_limit(&bed.proxy);
    let lists = ["GetRoutes", "GetIntegrations", "GetAuthorizers"];
    for record in bed.proxy.calls().iter().filter(|record| lists.contains(&record.call.action.as_str())) {
        assert_eq!(record.call.param("maxResults"), PAGE.to_string(), "{}", record.call.action);
    }
    bed.proxy.by_action()
}

/// The calls that change something, by action.
fn changes(bed: &TestEnv) -> BTreeMap<String, usize> {
    assert_turns_are_taken(&bed.proxy);
    let mut changes = BTreeMap::new();
    for record in bed.proxy.mutations() {
        *changes.entry(record.call.action).or_default() += 1;
    }
    changes
}

/// How many statements the policies of functions that routes may call have.
fn statements(bed: &TestEnv) -> BTreeMap<String, usize> {
    let functions = bed.proxy.account().list_of("functions");
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

/// Follows the calls to API Gateway through a token bucket like AWS's: none finds it empty.
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
