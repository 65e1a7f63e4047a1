//! After a failed update, the next apply sends only what differs from what is read.

use serde_json::{Value, json};

use super::{TestEnv, with};
use crate::support::proxy::fault::Fault;

/// Applies a configuration while the first call of an action fails. Afterwards, no call fails.
fn failed_at(env: &TestEnv, action: &str, config: &Value) {
    env.proxy.fault(Fault::on(action).first(1).answer(403, "AccessDeniedException", "a policy forbids it"));
    env.config(config);
    env.workspace.apply(&[]).failed_with("a policy forbids it");
    env.proxy.clear_faults();
}

/// The names of the parameters of all calls of an action since the last apply.
fn sent(env: &TestEnv, action: &str) -> Vec<String> {
    let calls = env.proxy.mutations().into_iter().filter(|it| it.call.action == action);
    calls.flat_map(|it| it.call.params.into_keys()).collect()
}

#[test]
fn a_stage_with_access_logs_sends_them_only_if_they_change() {
    let env = TestEnv::new();
    let shop = json!({
        "route_config": { "GET /a": env.to("orders") },
        "access_log_logservice_group_name": "/shop/access",
    });
    env.apply(&shop);
    let limited = with(&shop, &json!({ "stage_variables": { "color": "blue" } }));
    failed_at(&env, "UpdateStage", &limited);
    env.apply(&shop);
    assert_eq!(sent(&env, "UpdateStage"), [""; 0], "nothing differs");

    failed_at(&env, "UpdateStage", &limited);
    env.apply(&limited);
    let sent = sent(&env, "UpdateStage");
    let has = |name: &str| sent.iter().any(|it| it.eq_ignore_ascii_case(name));
    assert!(has("stageVariables") && !has("accessLogSettings") && !has("autoDeploy"), "{sent:?}");
    env.destroy();
}

#[test]
fn a_maximum_age_that_was_never_set_is_not_cleared() {
    let env = TestEnv::new();
    let shop = json!({
        "route_config": { "GET /a": env.to("orders") },
        "cors_configuration": { "allow_origins": ["https://shop.example"] },
    });
    env.apply(&shop);
    let changed = with(&shop, &json!({ "description": "Live.", "cors_configuration": { "allow_origins": ["*"] } }));
    failed_at(&env, "UpdateApi", &changed);
    env.apply(&changed);
    let cors = env.api_call("get_api", json!({}))["CorsConfiguration"].clone();
    assert_eq!((&cors["AllowOrigins"], cors.get("MaxAge")), (&json!(["*"]), None));
    env.end();
}

#[test]
fn an_authorizer_sends_no_member_that_its_format_lacks() {
    let env = TestEnv::new();
    let config = |ttl: u32| {
        let settings = json!({
            "authorizer_name": "guard", "authorizer_payload_format_version": "1.0", "result_ttl_in_seconds": ttl,
            "identity_sources": ["$request.header.Authorization"],
        });
        json!({
            "route_config": { "GET /a": env.guarded("orders", "customers") },
            "faas_authorizers": { "customers": settings },
        })
    };
    env.apply(&config(30));
    failed_at(&env, "UpdateAuthorizer", &config(60));
    env.apply(&config(30));
    assert_eq!(sent(&env, "UpdateAuthorizer"), [""; 0], "nothing differs");
    failed_at(&env, "UpdateAuthorizer", &config(60));
    env.apply(&config(60));
    let members: Vec<String> = sent(&env, "UpdateAuthorizer").into_iter().filter(|it| !it.ends_with("Id")).collect();
    assert_eq!(members, ["authorizerResultTtlInSeconds"]);
    env.end();
}
