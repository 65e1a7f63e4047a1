//! Log groups that a gateway keeps, and those that it uses without owning them.

use serde_json::{Value, json};

use super::{THIS, TestEnv, text, with};
use crate::support::adoption::generate;
use crate::support::foreign::api::ForeignApi;
use crate::support::log_events;
use crate::support::terraform::Workspace;

const GROUP: &str = "/shop/access";

/// A gateway with access logs to a group that is kept or not.
fn logging(env: &TestEnv, keeps: bool, more: Value) -> Value {
    let basis = json!({
        "route_config": { "GET /a": env.to("orders") },
        "access_log_logservice_group_name": GROUP,
        "access_log_logservice_group_retention_in_days": 30,
        "access_log_logservice_group_skip_destroy": keeps,
    });
    with(&basis, &more)
}

fn events(env: &TestEnv) -> Vec<String> {
    log_events::read(env.proxy.account(), GROUP)
}

fn tags(env: &TestEnv) -> Value {
    let groups = env.proxy.account().list_of("log_groups");
    groups.iter().find(|it| it["logGroupName"] == GROUP).map_or(Value::Null, |it| it["tags"].clone())
}

/// The changing calls about log groups. `UntagResource` is not one of them.
fn changes(env: &TestEnv) -> Vec<String> {
    let logs = env.proxy.mutations().into_iter().filter(|record| record.call.service == "logs");
    logs.map(|record| record.call.action).collect()
}

/// Runs `replace` twice, and asserts that a group that is kept keeps its events.
fn replaced(env: &TestEnv, keeps: bool, replace: impl Fn()) {
    env.apply(&logging(env, keeps, json!({})));
    log_events::write(env.proxy.account(), GROUP, "first");
    for round in 0..2 {
        replace();
        let expected: &[&str] = if keeps { &["first"] } else { &[] };
        assert_eq!(events(env), expected, "round {round}");
        env.workspace.assert_nothing_to_do();
    }
    env.destroy();
    assert_eq!(!events(env).is_empty(), keeps);
}

#[test]
fn a_kept_group_survives_a_requested_replacement() {
    for keeps in [true, false] {
        let env = TestEnv::with_terraform();
        replaced(&env, keeps, || {
            env.workspace.apply(&["-replace", THIS]).succeeded();
        });
    }
}

#[test]
fn a_kept_group_survives_a_tainted_gateway() {
    let env = TestEnv::with_terraform();
    replaced(&env, true, || {
        env.workspace.run(&["taint", "-no-color", THIS]).succeeded();
        env.workspace.apply(&[]).succeeded();
    });
}

#[test]
fn a_kept_group_survives_an_api_that_was_deleted_by_hand() {
    for keeps in [true, false] {
        let env = TestEnv::new();
        replaced(&env, keeps, || {
            let api = json!({ "ApiId": env.attribute("api_id") });
            env.proxy.account().boto("apigatewayv2", "delete_api", api);
            env.workspace.apply(&[]).succeeded();
        });
    }
}

#[test]
fn a_kept_group_survives_create_before_destroy() {
    let env = TestEnv::with_terraform();
    let more = json!({
        "allow_duplicate_name": true,
        "lifecycle": { "create_before_destroy": true },
        "access_log_logservice_group_subscription_destination_arn": env.arn("users"),
    });
    replaced(&env, true, || {
        env.config(&logging(&env, true, more.clone()));
        env.workspace.apply(&["-replace", THIS]).succeeded();
        let groups = env.proxy.account().list_of("log_groups");
        let group = groups.iter().find(|it| it["logGroupName"] == GROUP).expect("it exists");
        let filters = group["subscriptionFilters"].as_array().expect("a list");
        let name = format!("fgw-access-logs-{}", text(&env.attribute("id")));
        assert_eq!(filters.iter().map(|it| text(&it["filterName"])).collect::<Vec<_>>(), [name]);
    });
}

#[test]
fn a_protected_group_stops_a_destroy_before_its_first_call() {
    let env = TestEnv::new();
    env.apply(&logging(&env, false, json!({})));
    let protect = |is_on: bool| {
        let protection = json!({ "logGroupIdentifier": GROUP, "deletionProtectionEnabled": is_on });
        env.proxy.boto("logs", "put_log_group_deletion_protection", protection);
    };
    protect(true);
    let deletions = || env.proxy.mutations().into_iter().filter(|it| it.call.action.starts_with("Delete")).count();
    env.workspace.destroy().failed_with("log groups with deletion protection").failed_with("skip_destroy");
    env.config(&json!({ "route_config": { "GET /a": env.to("orders") } }));
    env.workspace.plan(&[]).failed_with("put-log-group-deletion-protection");
    assert_eq!(deletions(), 0);
    protect(false);
    env.destroy();
}

#[test]
fn a_kept_group_survives_a_destroy_in_every_state() {
    for (has_private_state, options) in
        [(true, &[][..]), (false, &[][..]), (true, &["-refresh=false"][..]), (false, &["-refresh=false"][..])]
    {
        for keeps in [true, false] {
            let env = TestEnv::new();
            replaced(&env, keeps, || {
                if !has_private_state {
                    env.workspace.lose_private_state(THIS);
                }
                env.workspace.apply(&[&["-destroy"], options].concat()).succeeded();
                env.workspace.apply(&[]).succeeded();
            });
        }
    }
}

#[test]
fn a_group_of_others_is_never_changed() {
    let env = TestEnv::new();
    log_events::create_group(env.proxy.account(), GROUP, Some(30), json!({ "whose": "theirs" }));
    log_events::write(env.proxy.account(), GROUP, "theirs");
    env.config(&logging(&env, false, json!({})));
    env.workspace.plan(&[]).failed_with("The log group \"/shop/access\" exists already");
    env.config(&logging(&env, true, json!({ "access_log_logservice_group_retention_in_days": 14 })));
    let refused = env.workspace.plan(&[]);
    assert!(refused.code == 1 && refused.says("14") && refused.says("30"), "{refused}");
    env.config(&logging(&env, true, json!({})));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("names an existing object") && plan.says("bytes stored"), "{plan}");
    env.apply(&logging(&env, true, json!({})));
    assert_eq!(changes(&env), Vec::<String>::new());
    env.workspace.lose_private_state(THIS);
    env.workspace.assert_nothing_to_do();
    for keeps in [false, true, false] {
        env.apply(&logging(&env, keeps, json!({})));
        assert_eq!(changes(&env), Vec::<String>::new());
    }
    env.workspace.lose_private_state(THIS);
    env.destroy();
    assert_eq!(changes(&env), Vec::<String>::new());
    assert_eq!((events(&env), tags(&env)), (vec!["theirs".to_owned()], json!({ "whose": "theirs" })));
}

#[test]
fn a_destroy_leaves_a_group_that_another_resource_owns_by_now() {
    let env = TestEnv::new();
    env.apply(&logging(&env, false, json!({})));
    log_events::write(env.proxy.account(), GROUP, "first");
    let account = env.proxy.account();
    let arn = format!("arn:aws:logs:us-east-1:{}:log-group:{GROUP}", account.id);
    let taken = json!({ "resourceArn": arn, "tags": { "fgw:resource": "http_gateway/another1" } });
    account.boto("logs", "tag_resource", taken);
    env.workspace.destroy().succeeded();
    assert_eq!(events(&env), ["first"]);
}

/// Two APIs that were built by hand log to one group, and two states adopt them one after the other.
#[test]
fn two_adopted_apis_never_own_one_group() {
    for is_second_destroyed_first in [true, false] {
        let env = TestEnv::with_terraform();
        let apis = [ForeignApi::new(&env.proxy, "HTTP"), ForeignApi::new(&env.proxy, "HTTP")];
        let group = apis[0].log_group(GROUP, "keeper");
        for api in &apis {
            api.route("GET /a", "orders", &json!({}));
            let logs = json!({ "DestinationArn": group, "Format": "$context.requestId" });
            let stage = json!({ "StageName": "$default", "AutoDeploy": true, "AccessLogSettings": logs });
            api.create("stage", stage);
        }
        log_events::write(env.proxy.account(), GROUP, "first");
        let other = Workspace::new(&env.proxy);
        let generated = generate(&env.workspace, THIS, &apis[0].id, "");
        assert!(generated.contains("access_log_logservice_group_name"), "{generated}");
        // The import of the second one, before the first one is adopted, proposes the group too.
        let early = generate(&other, THIS, &apis[1].id, "");
        assert!(early.contains("access_log_logservice_group_name"), "{early}");
        env.workspace.apply(&[]).succeeded();
        let owned = tags(&env);
        let refused = other.apply(&[]);
        assert_eq!((refused.code, tags(&env)), (1, owned.clone()), "{refused}");
        std::fs::remove_file(other.path().join("generated.tf")).expect("it was generated");
        let late = generate(&other, THIS, &apis[1].id, "");
        assert!(late.contains("access_log_destination_arn") && !late.contains("\"log_group\""), "{late}");
        other.apply(&[]).succeeded();
        assert_eq!(tags(&env), owned);
        let mut both = [&other, &env.workspace];
        if !is_second_destroyed_first {
            both.reverse();
        }
        for workspace in both {
            workspace.destroy().succeeded();
            assert_eq!(events(&env), ["first"]);
        }
    }
}

#[test]
fn a_log_group_moves_between_two_gateways_in_one_apply() {
    for keeps in [true, false] {
        let env = TestEnv::with_terraform();
        let with_group = |name: &str| logging(&env, keeps, json!({ "name": name }));
        let without = |name: &str| json!({ "name": name, "route_config": { "GET /a": env.to("orders") } });
        env.configs(&[("one", &with_group("one")), ("two", &without("two"))], &json!({}));
        env.apply_config();
        log_events::write(env.proxy.account(), GROUP, "first");
        env.configs(&[("one", &without("one")), ("two", &with_group("two"))], &json!({}));
        env.apply_config();
        let expected: &[&str] = if keeps { &["first"] } else { &[] };
        assert_eq!(events(&env), expected, "kept: {keeps}");
        assert!(env.proxy.account().list_of("log_groups").iter().any(|it| it["logGroupName"] == GROUP));
        env.destroy();
    }
}
