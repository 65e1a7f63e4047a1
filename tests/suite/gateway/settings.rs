//! Changes of the settings of an API, its stage and its logs. A setting that is removed from the configuration is
//! deleted in AWS.

use serde_json::{Value, json};

use super::change::sorted;
use super::snapshot::snapshot;
use super::{SLOW, TestEnv, text, with};

#[test]
fn settings_change_in_place_and_removed_ones_are_deleted() {
    let env = TestEnv::new();
    env.proxy.latency(SLOW);
    let routes = json!({ "route_config": { "GET /still": env.to("orders") } });
    env.apply(&with(
        &routes,
        &json!({
            "description": "first", "api_version": "1",
            "api_tags": { "team": "web", "old": "1" }, "stage_tags": { "level": "live" },
            "cors_configuration": { "allow_origins": ["*"], "allow_headers": ["x-key"] },
            "access_log_logservice_group_name": "/shop/access",
            "access_log_logservice_group_tags": { "kept": "short" },
        }),
    ));
    let arn = format!("arn:aws:apigateway:us-east-1::/apis/{}", text(&env.attribute("id")));
    let theirs = json!({ "ResourceArn": arn, "Tags": { "theirs": "stays" } });
    env.proxy.account().boto("apigatewayv2", "tag_resource", theirs);

    let client = env.load_client(("GET /still", "orders /still"), &["GET /elsewhere"]);
    let mut calls = env.change(&with(
        &routes,
        &json!({
            "description": "second", "api_version": "1",
            "api_tags": { "team": "api" }, "stage_tags": { "level": "live" },
            "cors_configuration": { "allow_origins": ["*"], "max_age": 5 },
            "access_log_logservice_group_name": "/shop/access",
            "access_log_logservice_group_retention_in_days": 30,
            "access_log_logservice_group_tags": { "kept": "long" },
            "access_log_format_type": "CLF",
        }),
    ));
    calls.sort();
    assert_eq!(
        calls,
        [
            "PutRetentionPolicy /shop/access",
            "TagResource /shop/access",
            "TagResource api",
            "UntagResource api",
            "UpdateApi",
            "UpdateStage $default",
        ]
    );
    let shown = snapshot(env.proxy.account());
    assert_eq!(
        shown[..3],
        [
            "api shop: description second, version 1",
            r#"cors {"AllowCredentials":false,"AllowHeaders":[],"AllowMethods":[],"AllowOrigins":["*"],"ExposeHeaders":[],"MaxAge":5}"#,
            r#"tags of api {"fgw:resource":"http_gateway/shop","fgw:state":"ready","team":"api","theirs":"stays"}"#,
        ]
    );
    assert!(shown.iter().any(|line| line.contains("as $context.identity.sourceIp - - [")), "{shown:#?}");
    assert!(shown.iter().any(|line| line.starts_with("log group /shop/access for 30 days")), "{shown:#?}");

    let change = env.planned_change(&with(
        &routes,
        &json!({
            "name": "stall", "description": "second", "api_version": "2",
            "api_tags": { "team": "api" }, "stage_tags": { "level": "test", "more": "1" },
            "cors_configuration": { "allow_origins": ["*"], "max_age": 5 },
            "access_log_logservice_group_name": "/shop/requests",
            "access_log_logservice_group_retention_in_days": 7,
            "access_log_logservice_group_tags": { "kept": "long" },
            "access_log_format_type": "CUSTOM",
            "custom_access_log_format": "$context.requestId $context.status",
        }),
    ));
    let calls = change.calls;
    assert_eq!(calls.last().map(String::as_str), Some("DeleteLogGroup /shop/access"), "the stage uses it until then");
    assert_eq!(
        sorted(calls),
        [
            "CreateLogGroup /shop/requests",
            "DeleteLogGroup /shop/access",
            "PutRetentionPolicy /shop/requests",
            "TagResource api",
            "TagResource stage",
            "UpdateApi",
            "UpdateStage $default",
        ]
    );
    assert_eq!(change.objects, ["~log_group"]);
    let warning = "replaced: log_group (/shop/access), its log events are lost";
    assert!(change.plan.says(warning), "{}", change.plan);
    let shown = snapshot(env.proxy.account());
    let says = |line: &str| assert!(shown.iter().any(|it| it == line), "no {line} in {shown:#?}");
    says("api stall: description second, version 2");
    says("logs to arn:aws:logs:us-east-1:<account>:log-group:/shop/requests as $context.requestId $context.status");
    says(r#"tags of stage {"fgw:object":"stage","fgw:resource":"http_gateway/<stall>","level":"test","more":"1"}"#);
    says(
        r#"log group /shop/requests for 7 days, tags {"fgw:object":"log_group","fgw:resource":"http_gateway/<stall>","kept":"long"}"#,
    );
    assert_eq!(shown.iter().filter(|it| it.starts_with("log group ")).count(), 1, "{shown:#?}");

    let calls = env.change(&with(
        &routes,
        &json!({
            "name": "stall", "description": "second", "api_version": "2",
            "api_tags": { "team": "api" }, "stage_tags": { "level": "test", "more": "1" },
            "cors_configuration": { "allow_origins": ["*"], "max_age": 5 },
            "access_log_logservice_group_name": "/shop/requests",
        }),
    ));
    assert_eq!(
        sorted(calls),
        ["DeleteRetentionPolicy /shop/requests", "UntagResource /shop/requests", "UpdateStage $default"]
    );
    let shown = snapshot(env.proxy.account());
    assert!(
        shown.iter().any(|line| line.contains(r#"/shop/requests as { "requestId":"$context.requestId""#)),
        "{shown:#?}"
    );
    assert!(shown.iter().any(|line| line.starts_with("log group /shop/requests for - days")), "{shown:#?}");

    let calls = env.change(&routes);
    assert_eq!(
        sorted(calls.clone()),
        [
            "DeleteAccessLogSettings $default",
            "DeleteCorsConfiguration",
            "DeleteLogGroup /shop/requests",
            "TagResource api",
            "UntagResource api",
            "UntagResource stage",
            "UpdateApi",
        ]
    );
    let last = calls.last().map(String::as_str);
    assert_eq!(last, Some("DeleteLogGroup /shop/requests"), "the stage uses it until then");
    assert_eq!(
        snapshot(env.proxy.account()),
        [
            "api shop: description -, version -",
            "cors -",
            r#"tags of api {"fgw:resource":"http_gateway/shop","fgw:state":"ready","theirs":"stays"}"#,
            "1 integrations",
            "route GET /still: AWS_PROXY orders payload 1.0 after 30000 ms, -; NONE",
            "stage $default: deployed by itself true",
            "logs to - as -",
            r#"tags of stage {"fgw:object":"stage","fgw:resource":"http_gateway/<shop>"}"#,
            "statement of orders: Allow apigateway.amazonaws.com lambda:InvokeFunction from arn:aws:execute-api:us-east-1:<account>:<shop>/*/*",
        ]
    );
    client.saw_no_error();
    env.destroy();
}

#[test]
fn a_removed_max_age_of_cors_is_cleared_in_aws() {
    let env = TestEnv::new();
    let with_cors = |cors: Value| json!({ "route_config": { "GET /a": env.to("orders") }, "cors_configuration": cors });
    let max_age = || env.api_call("get_api", json!({}))["CorsConfiguration"]["MaxAge"].clone();
    env.apply(&with_cors(json!({ "allow_origins": ["*"], "max_age": 300 })));
    assert_eq!(max_age(), 300);
    let calls = env.change(&with_cors(json!({ "allow_origins": ["*"] })));
    assert_eq!(calls, ["UpdateApi"]);
    assert_eq!(max_age(), 0);
    env.workspace.assert_nothing_to_do();
    assert_eq!(env.drift(), json!({}));
    env.end();
}

#[test]
fn timeouts_are_changed_without_a_change_in_aws() {
    let env = TestEnv::new();
    let routes = json!({ "route_config": { "GET /a": env.to("orders") } });
    env.apply(&routes);
    for timeouts in [
        json!({ "create": "20m", "read": "2m", "update": "25m", "delete": "30m" }),
        json!({ "update": "90s" }),
        json!(null),
    ] {
        let change = env.planned_change(&with(&routes, &json!({ "timeouts": timeouts })));
        assert_eq!((change.calls, change.objects), (vec![], vec![]));
        assert_eq!(change.attributes, ["timeouts"]);
        let set = env.attribute("timeouts");
        assert_eq!(set["update"], timeouts["update"], "{set}");
    }
    env.end();
}

#[test]
fn a_refresh_after_an_apply_stores_the_same_private_data() {
    let env = TestEnv::with_terraform();
    let private_data = || -> Value {
        let state = std::fs::read_to_string(env.workspace.path().join("terraform.tfstate")).expect("it exists");
        let state: Value = serde_json::from_str(&state).expect("the state is JSON");
        state["resources"][0]["instances"][0]["private"].clone()
    };
    for function in ["orders", "users"] {
        let settings = json!({
            "route_config": { "GET /still": env.to(function), "GET /guarded": env.guarded("orders", "guard") },
            "faas_authorizers": { "guard": { "authorizer_name": "guard" } },
            "access_log_logservice_group_name": "/shop/access",
        });
        env.configs(&[("this", &settings)], &json!({}));
        env.workspace.apply(&[]).succeeded();
        let before = private_data();
        assert!(before.is_string(), "{before}");
        env.workspace.apply(&["-refresh-only"]).succeeded();
        assert_eq!(private_data(), before);
    }
    env.workspace.destroy().succeeded();
}
