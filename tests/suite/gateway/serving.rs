//! The answers to clients: each from the right function, in the right payload format, behind the right authorizer, with
//! the configured CORS headers.

use serde_json::{Value, json};

use super::change::sorted;
use super::snapshot::snapshot;
use super::{SECRET, TestEnv, text, with};
use crate::support::http::{self, Answer};

/// The source of a function that answers with its name and the route and path parameters of the event.
fn echo(name: &str) -> String {
    format!(
        "import json\n\ndef handler(event, context):\n    \
         body = {{'by': '{name}', 'route': event['routeKey'], 'parameters': event.get('pathParameters') or {{}}}}\n    \
         return {{'statusCode': 200, 'body': json.dumps(body)}}\n"
    )
}

#[test]
fn each_request_reaches_the_function_of_its_route() {
    let env = TestEnv::new();
    for name in ["first", "second", "rest"] {
        env.proxy.account().create_function(name, &echo(name));
    }
    let v2 = |function: &str| with(&env.to(function), &json!({ "payload_format_version": "2.0" }));
    let routes = json!({
        "GET /orders": env.to("first"),
        "POST /orders": v2("second"),
        "GET /orders/{id}": v2("second"),
        "GET /orders/latest": env.to("first"),
        "ANY /": env.to("second"),
        "ANY /any": env.to("first"),
        "GET /any": env.to("second"),
        "ANY /files/{proxy+}": v2("first"),
        "GET /files/top/{name}": env.to("second"),
    });
    env.apply(&json!({ "route_config": routes }));
    let shown: Vec<String> = snapshot(env.proxy.account()).into_iter().filter(|it| it.starts_with("route ")).collect();
    let line = |route: &str, to: &str| format!("route {route}: AWS_PROXY {to} after 30000 ms, -; NONE");
    assert_eq!(
        shown,
        sorted(vec![
            line("ANY /", "second payload 1.0"),
            line("ANY /any", "first payload 1.0"),
            line("ANY /files/{proxy+}", "first payload 2.0"),
            line("GET /any", "second payload 1.0"),
            line("GET /files/top/{name}", "second payload 1.0"),
            line("GET /orders", "first payload 1.0"),
            line("GET /orders/latest", "first payload 1.0"),
            line("GET /orders/{id}", "second payload 2.0"),
            line("POST /orders", "second payload 2.0"),
        ])
    );
    let reaches = |method: &str, path: &str, by: &str, route: &str, parameters: Value| {
        let answer = env.send(method, path, None);
        assert_eq!(answer.status, 200, "{method} {path}: {answer:?}");
        let expected = json!({ "by": by, "route": route, "parameters": parameters });
        assert_eq!(answer.json(), expected, "{method} {path}");
    };
    let all_reach_their_own = || {
        reaches("GET", "/orders", "first", "GET /orders", json!({}));
        reaches("POST", "/orders", "second", "POST /orders", json!({}));
        reaches("GET", "/orders/7", "second", "GET /orders/{id}", json!({ "id": "7" }));
        reaches("GET", "/orders/latest", "first", "GET /orders/latest", json!({}));
        reaches("GET", "/", "second", "ANY /", json!({}));
        reaches("DELETE", "/", "second", "ANY /", json!({}));
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
            reaches(method, "/any", "first", "ANY /any", json!({}));
        }
        reaches("GET", "/any", "second", "GET /any", json!({}));
        reaches("GET", "/files/a", "first", "ANY /files/{proxy+}", json!({ "proxy": "a" }));
        reaches("DELETE", "/files/a/b/c", "first", "ANY /files/{proxy+}", json!({ "proxy": "a/b/c" }));
        reaches("GET", "/files/top/x", "second", "GET /files/top/{name}", json!({ "name": "x" }));
    };
    all_reach_their_own();
    let elsewhere = [("PUT", "/orders"), ("GET", "/elsewhere"), ("GET", "/orders/7/items"), ("POST", "/files")];
    for (method, path) in elsewhere {
        assert_eq!(env.send(method, path, None).status, 404, "{method} {path}");
    }

    let calls = env.change(&json!({ "route_config": with(&routes, &json!({ "$default": env.to("rest") })) }));
    assert_eq!(calls, ["AddPermission permission.rest", "CreateIntegration rest", "CreateRoute $default"]);
    all_reach_their_own();
    for (method, path) in elsewhere {
        reaches(method, path, "rest", "$default", json!({}));
    }
    env.destroy();
}

#[test]
fn authorizers_of_both_formats_allow_and_deny() {
    let env = TestEnv::new();
    let by_policy = format!(
        "def handler(event, context):\n    \
         effect = 'Allow' if event['headers'].get('x-key') == '{SECRET}' else 'Deny'\n    \
         arn = event.get('methodArn') or event['routeArn']\n    \
         statement = {{'Action': 'execute-api:Invoke', 'Effect': effect, 'Resource': arn}}\n    \
         return {{'principalId': 'user', 'policyDocument': {{'Version': '2012-10-17', 'Statement': [statement]}}}}\n"
    );
    env.proxy.account().create_function("policeman", &by_policy);
    let sources = json!(["$request.header.x-key"]);
    env.apply(&json!({
        "route_config": {
            "GET /open": env.to("orders"),
            "GET /old": env.guarded("orders", "old"),
            "GET /new": env.guarded("orders", "new"),
            "GET /simple": env.guarded("orders", "simple"),
            "GET /known": env.guarded("users", "known"),
        },
        "faas_authorizers": {
            "old": { "authorizer_name": "policeman" },
            "new": { "authorizer_name": "policeman", "authorizer_payload_format_version": "2.0" },
            "simple": {
                "authorizer_name": "guard", "authorizer_payload_format_version": "2.0", "enable_simple_responses": true,
            },
            "known": { "authorizer_name": "policeman", "identity_sources": sources },
        },
    }));
    let shown: Vec<String> =
        snapshot(env.proxy.account()).into_iter().filter(|it| it.starts_with("authorizer ")).collect();
    let line = |name: &str, rest: &str| format!("authorizer {name}: REQUEST calls {rest}");
    let mut expected = [
        line("known", r#"policeman, payload 1.0, simple false, sources ["$request.header.x-key"], ttl 300"#),
        line("new", "policeman, payload 2.0, simple false, sources [], ttl 0"),
        line("old", "policeman, payload 1.0, simple false, sources [], ttl 0"),
        line("simple", "guard, payload 2.0, simple true, sources [], ttl 0"),
    ];
    expected.sort();
    assert_eq!(sorted(shown), expected);
    let statuses = |path: &str| [None, Some("wrong"), Some(SECRET)].map(|key| env.send("GET", path, key).status);
    assert_eq!(statuses("/open"), [200, 200, 200]);
    for path in ["/old", "/new", "/simple"] {
        assert_eq!(statuses(path), [403, 403, 200], "{path}");
    }
    assert_eq!(statuses("/known"), [401, 403, 200], "without its identity source, the authorizer is not called");
    assert_eq!(env.send("GET", "/known", Some(SECRET)).body, "users /known");
    env.end();
}

#[test]
fn preflights_are_answered_without_calling_an_authorizer() {
    let env = TestEnv::new();
    let config = |cors: Value| {
        json!({
            "route_config": {
                "GET /open": env.to("orders"),
                "GET /guarded": env.guarded("orders", "customers"),
                "GET /still": env.to("users"),
            },
            "faas_authorizers": { "customers": {
                "authorizer_name": "guard", "authorizer_payload_format_version": "2.0", "enable_simple_responses": true,
            } },
            "cors_configuration": cors,
        })
    };
    env.apply(&config(json!({
        "allow_credentials": true, "allow_headers": ["x-key", "content-type"], "allow_methods": ["GET", "POST"],
        "allow_origins": ["https://shop.example", "https://desk.example"], "expose_headers": ["x-total"], "max_age": 60,
    })));
    let send_from = |method: &str, path: &str, origin: &str| -> Answer {
        let request = http::gateway(env.proxy.account(), &text(&env.attribute("api_id")), method, path)
            .header("origin", origin)
            .header("access-control-request-method", "GET");
        request.send().expect("the gateway answers")
    };
    let header = |answer: &Answer, name: &str| answer.headers.get(&format!("access-control-{name}")).cloned();
    let list = |answer: &Answer, name: &str| -> Vec<String> {
        let value = header(answer, name).unwrap_or_default().to_lowercase();
        sorted(value.split(',').map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect())
    };
    for (path, origin) in [("/open", "https://shop.example"), ("/guarded", "https://desk.example")] {
        let preflight = send_from("OPTIONS", path, origin);
        assert_eq!(preflight.status, 204, "{preflight:?}");
        assert_eq!(header(&preflight, "allow-origin").as_deref(), Some(origin));
        assert_eq!(header(&preflight, "allow-credentials").as_deref(), Some("true"));
        assert_eq!(list(&preflight, "allow-headers"), ["content-type", "x-key"]);
        assert_eq!(list(&preflight, "allow-methods"), ["get", "post"]);
        assert_eq!(header(&preflight, "max-age").as_deref(), Some("60"));
    }
    let answer = send_from("GET", "/open", "https://shop.example");
    assert_eq!((answer.status, header(&answer, "allow-origin").as_deref()), (200, Some("https://shop.example")));
    assert_eq!(list(&answer, "expose-headers"), ["x-total"]);
    for method in ["OPTIONS", "GET"] {
        assert_eq!(header(&send_from(method, "/open", "https://else.example"), "allow-origin"), None, "{method}");
    }

    let client = env.load_client(("GET /still", "users /still"), &["GET /open", "GET /guarded"]);
    let change = env.planned_change(&config(json!({ "allow_methods": ["*"], "allow_origins": ["*"] })));
    assert_eq!(change.calls, ["UpdateApi"]);
    assert_eq!(change.attributes, ["cors_configuration"]);
    assert_eq!(change.objects, Vec::<String>::new());
    let preflight = send_from("OPTIONS", "/guarded", "https://else.example");
    assert_eq!((preflight.status, header(&preflight, "allow-origin").as_deref()), (204, Some("*")));
    for name in ["allow-credentials", "allow-headers"] {
        assert_eq!(header(&preflight, name), None, "{name} is removed");
    }
    assert_eq!(header(&preflight, "max-age").as_deref(), Some("0"), "a removed value is cleared by 0");
    assert_eq!(list(&send_from("GET", "/open", "https://else.example"), "expose-headers"), Vec::<String>::new());

    let change = env.planned_change(&config(json!(null)));
    assert_eq!(change.calls, ["DeleteCorsConfiguration"]);
    let answer = send_from("GET", "/open", "https://else.example");
    assert_eq!((answer.status, header(&answer, "allow-origin")), (200, None));
    client.saw_no_error();
    env.end();
}

#[test]
fn a_protected_route_that_matches_preflights_causes_a_warning() {
    let env = TestEnv::with_terraform();
    let config = |more: &str| {
        let function = format!("faas_function_arn = \"{}\"", env.arn("orders"));
        let guarded = format!("{{ {function}, authorizer_name = \"customers\" }}");
        let open = more
            .split_terminator('|')
            .map(|key| format!("    \"{key}\" = {{ {function}, authorization_type = \"NONE\" }}\n"));
        env.workspace.config(&format!(
            "resource \"fgw_http_gateway\" \"this\" {{\n  name = \"shop\"\n  \
             cors_configuration = {{ allow_origins = [\"https://shop.example\"] }}\n  \
             faas_authorizers = {{ customers = {{ authorizer_name = \"guard\" }} }}\n  \
             route_config = {{\n    \"GET /a\" = {guarded}\n    \"ANY /b\" = {guarded}\n    \
             \"$default\" = {guarded}\n{}  }}\n}}\n",
            open.collect::<String>()
        ));
    };
    // The summary and the detail of each warning of a plan. The summary has to name the attribute, because Terraform
    // shows only the resource for a path into a map.
    let warnings = || -> Vec<[String; 2]> {
        let plan = env.workspace.run(&["plan", "-json", "-input=false"]);
        let event = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let events = plan.succeeded().stdout.lines().map(event);
        let found = events.map(|event: Value| event["diagnostic"].clone()).filter(|it| it["severity"] == "warning");
        let own = found.filter(|it| text(&it["summary"]).starts_with("fgw_"));
        own.map(|it| [text(&it["summary"]), text(&it["detail"])]).collect()
    };
    let warning = |key: &str, open: &str| {
        [
            format!("fgw_http_gateway shop: route_config[\"{key}\"].authorizer_name"),
            format!(
                "\"{key}\" matches OPTIONS requests, so authorizer \"customers\" rejects CORS preflight requests \
                 despite cors_configuration, because browsers send them without credentials. Add a route \"{open}\" \
                 with authorization_type = \"NONE\", or use one route per method."
            ),
        ]
    };
    config("");
    assert_eq!(warnings(), [warning("$default", "OPTIONS /{proxy+}"), warning("ANY /b", "OPTIONS /b")]);
    config("OPTIONS /b");
    assert_eq!(warnings(), [warning("$default", "OPTIONS /{proxy+}")]);
    config("OPTIONS /b|OPTIONS /{proxy+}");
    assert_eq!(warnings(), Vec::<[String; 2]>::new(), "the suggested routes are sufficient");
}
