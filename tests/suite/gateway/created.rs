//! A new gateway: each of its objects, its outputs, and its answers to requests.

use serde_json::json;

use super::snapshot::snapshot;
use super::{SECRET, SLOW, THIS, TestEnv, text, with, without_hash};

#[test]
fn a_new_gateway_matches_its_configuration_and_serves() {
    let env = TestEnv::new();
    env.proxy.latency(SLOW);
    let format = "$context.requestId $context.status";
    env.apply(&json!({
        "description": "Orders and users.",
        "api_version": "7",
        "api_tags": { "team": "web" },
        "stage_tags": { "level": "live" },
        "route_config": {
            "GET /orders": env.to("orders"),
            "POST /orders/{id}": with(&env.guarded("orders", "customers"), &json!({ "description": "" })),
            "GET /users/{proxy+}": with(&env.to("users"),
                &json!({ "payload_format_version": "2.0", "timeout_milliseconds": 9000, "description": "people" })),
        },
        "faas_authorizers": { "customers": {
            "authorizer_name": "guard",
            "authorizer_payload_format_version": "2.0",
            "enable_simple_responses": true,
            "identity_sources": ["$request.header.x-key"],
        } },
        "cors_configuration": { "allow_origins": ["https://shop.example"], "allow_methods": ["GET"], "max_age": 60 },
        "access_log_logservice_group_name": "/shop/access",
        "access_log_logservice_group_retention_in_days": 30,
        "access_log_logservice_group_tags": { "kept": "short" },
        "access_log_format_type": "CUSTOM",
        "custom_access_log_format": format,
    }));
    assert_eq!(
        snapshot(env.proxy.account()),
        [
            "api shop: description Orders and users., version 7",
            r#"cors {"AllowCredentials":false,"AllowHeaders":[],"AllowMethods":["GET"],"AllowOrigins":["https://shop.example"],"ExposeHeaders":[],"MaxAge":60}"#,
            r#"tags of api {"fgw:resource":"http_gateway/shop","fgw:state":"ready","team":"web"}"#,
            r#"authorizer customers: REQUEST calls guard, payload 2.0, simple true, sources ["$request.header.x-key"], ttl 300"#,
            "2 integrations",
            "route GET /orders: AWS_PROXY orders payload 1.0 after 30000 ms, -; NONE",
            "route GET /users/{proxy+}: AWS_PROXY users payload 2.0 after 9000 ms, people; NONE",
            "route POST /orders/{id}: AWS_PROXY orders payload 1.0 after 30000 ms, -; guarded by customers",
            "stage $default: deployed by itself true",
            "logs to arn:aws:logs:us-east-1:<account>:log-group:/shop/access as $context.requestId $context.status",
            r#"tags of stage {"fgw:object":"stage","fgw:resource":"http_gateway/<shop>","level":"live"}"#,
            r#"log group /shop/access for 30 days, tags {"fgw:object":"log_group","fgw:resource":"http_gateway/<shop>","kept":"short"}"#,
            "statement of guard: Allow apigateway.amazonaws.com lambda:InvokeFunction from arn:aws:execute-api:us-east-1:<account>:<shop>/authorizers/<customers>",
            "statement of orders: Allow apigateway.amazonaws.com lambda:InvokeFunction from arn:aws:execute-api:us-east-1:<account>:<shop>/*/*",
            "statement of users: Allow apigateway.amazonaws.com lambda:InvokeFunction from arn:aws:execute-api:us-east-1:<account>:<shop>/*/*",
        ]
    );
    assert_outputs(&env);
    assert_serves(&env);
    env.destroy();
    assert!(env.workspace.state().resource(THIS).is_none());
}

fn assert_outputs(env: &TestEnv) {
    let api = env.proxy.account().list_of("apis").remove(0);
    let (id, account) = (text(&api["ApiId"]), &env.proxy.account().id);
    let id_of = |kind: &str, name: &str, of: &str, member: &str| {
        let found = api[kind].as_array().expect("a list").iter().find(|it| it[name] == of).expect("it exists");
        text(&found[member])
    };
    let route = |key: &str| id_of("routes", "RouteKey", key, "RouteId");
    let target = |key: &str| id_of("routes", "RouteKey", key, "Target").replace("integrations/", "");
    let (orders, order, users) = ("GET /orders", "POST /orders/{id}", "GET /users/{proxy+}");
    let authorizer = id_of("authorizers", "Name", "customers", "AuthorizerId");
    let group = format!("arn:aws:logs:us-east-1:{account}:log-group:/shop/access");
    assert_eq!(target(orders), target(order), "routes with the same settings share an integration");
    for (output, expected) in [
        ("id", json!(id)),
        ("api_id", json!(id)),
        ("api_arn", json!(format!("arn:aws:apigateway:us-east-1::/apis/{id}"))),
        ("api_endpoint", api["ApiEndpoint"].clone()),
        ("execution_arn", json!(format!("arn:aws:execute-api:us-east-1:{account}:{id}"))),
        ("invoke_url", api["ApiEndpoint"].clone()),
        ("default_stage_id", json!("$default")),
        ("stage_arn", json!(format!("arn:aws:apigateway:us-east-1::/apis/{id}/stages/$default"))),
        ("integration_ids", json!({ orders: target(orders), order: target(order), users: target(users) })),
        ("route_ids", json!({ orders: route(orders), order: route(order), users: route(users) })),
        ("authorizer_ids", json!({ "customers": authorizer })),
        ("access_log_group_arn", json!(group)),
        ("certificate_arn", json!(null)),
        ("domain_target", json!(null)),
        ("dns_record_fqdn", json!(null)),
        ("tags_all", json!({ "team": "web" })),
        ("status", json!("ready")),
        ("drift", json!({})),
        ("pending_deletion", json!({})),
    ] {
        assert_eq!(env.attribute(output), expected, "{output}");
    }
    let statement = |function: &str| {
        let functions = env.proxy.account().list_of("functions");
        let found = functions.into_iter().find(|it| it["FunctionName"] == function).expect("it exists");
        text(&found["statements"][0]["Sid"])
    };
    let objects = env.attribute("aws_objects");
    let objects = objects.as_object().expect("a map");
    let mut found: Vec<(String, String)> = objects.iter().map(|(slot, id)| (without_hash(slot), text(id))).collect();
    found.sort();
    let expected = [
        ("api", id),
        ("authorizer.customers", authorizer),
        ("authorizer_permission.customers", statement("guard")),
        ("integration.GET /orders", target(orders)),
        ("integration.GET /users/{proxy+}", target(users)),
        ("log_group", "/shop/access".to_owned()),
        ("permission.orders", statement("orders")),
        ("permission.users", statement("users")),
        ("route.GET /orders", route(orders)),
        ("route.GET /users/{proxy+}", route(users)),
        ("route.POST /orders/{id}", route(order)),
        ("stage", "$default".to_owned()),
    ];
    assert_eq!(found, expected.map(|(slot, id)| (slot.to_owned(), id)));
}

fn assert_serves(env: &TestEnv) {
    let status = |method: &str, path: &str, key: Option<&str>| env.send(method, path, key).status;
    let open = env.send("GET", "/orders", None);
    assert_eq!((open.status, open.body.as_str()), (200, "orders /orders"));
    assert_eq!(env.send("GET", "/users/a/b", None).body, "users /users/a/b");
    assert_eq!(status("POST", "/orders/7", None), 401);
    assert_eq!(status("POST", "/orders/7", Some("wrong")), 403);
    let protected = env.send("POST", "/orders/7", Some(SECRET));
    assert_eq!((protected.status, protected.body.as_str()), (200, "orders /orders/7"));
    assert_eq!(status("DELETE", "/orders", None), 404);
    assert_eq!(status("GET", "/elsewhere", None), 404);
    let preflight =
        crate::support::http::gateway(env.proxy.account(), &text(&env.attribute("api_id")), "OPTIONS", "/orders")
            .header("origin", "https://shop.example")
            .header("access-control-request-method", "GET")
            .send()
            .expect("the gateway answers");
    assert_eq!(preflight.status, 204);
    assert_eq!(preflight.headers["access-control-allow-origin"], "https://shop.example");
    assert_eq!(preflight.headers["access-control-max-age"], "60");
}
