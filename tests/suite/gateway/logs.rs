//! The log group of access logs: its KMS key, and the subscription that forwards its events.

use serde_json::{Value, json};

use super::change::sorted;
use super::load_client::LoadClient;
use super::{SLOW, THIS, TestEnv, text, with};
use crate::support::log_events;
use crate::support::proxy::fault::Fault;
use crate::support::wait::until;

const GROUP: &str = "/shop/access";
const ROLE: &str = "arn:aws:iam::123456789012:role/logs";

/// A gateway with two routes and access logs.
fn logging(env: &TestEnv, more: Value) -> Value {
    let basis = json!({
        "route_config": routes(env),
        "access_log_logservice_group_name": GROUP,
    });
    with(&basis, &more)
}

fn routes(env: &TestEnv) -> Value {
    json!({ "GET /a": env.to("orders"), "GET /still": env.to("orders") })
}

/// A load client of both routes, which no change of logs may disturb.
fn load_client(env: &TestEnv) -> LoadClient {
    env.load_client(("GET /still", "orders /still"), &["GET /a"])
}

/// The gateway of [`logging`], with a subscription that forwards the logs to the function `users`.
fn forwarding(env: &TestEnv, more: Value) -> Value {
    let destination = json!({ "access_log_logservice_group_subscription_destination_arn": env.arn("users") });
    logging(env, with(&destination, &more))
}

/// The name of the filter of the gateway.
fn ours(env: &TestEnv) -> String {
    format!("fgw-access-logs-{}", text(&env.attribute("id")))
}

fn stream(env: &TestEnv) -> String {
    format!("arn:aws:kinesis:us-east-1:{}:stream/sink", env.proxy.account().id)
}

/// Creates a KMS key with this alias and returns its ARN.
fn key(env: &TestEnv, alias: &str) -> String {
    let created = env.proxy.account().boto("kms", "create_key", json!({}));
    let id = created["KeyMetadata"]["KeyId"].clone();
    env.proxy.account().boto("kms", "create_alias", json!({ "AliasName": alias, "TargetKeyId": id }));
    text(&created["KeyMetadata"]["Arn"])
}

fn group(env: &TestEnv, name: &str) -> Option<Value> {
    env.proxy.account().list_of("log_groups").into_iter().find(|group| group["logGroupName"] == name)
}

/// The filters of a group: name, pattern, destination, role and distribution.
fn filters(env: &TestEnv, name: &str) -> Vec<[String; 5]> {
    let group = group(env, name).unwrap_or_else(|| panic!("{name} does not exist"));
    let members = ["filterName", "filterPattern", "destinationArn", "roleArn", "distribution"];
    let filters = group["subscriptionFilters"].as_array().expect("a list").iter();
    filters.map(|filter| members.map(|member| filter[member].as_str().unwrap_or_default().to_owned())).collect()
}

/// The source ARNs for which CloudWatch Logs may invoke a function.
fn log_sources(env: &TestEnv, function: &str) -> Vec<String> {
    let functions = env.proxy.account().list_of("functions");
    let function = functions.iter().find(|it| it["FunctionName"] == function).expect("it exists");
    let statements = function["statements"].as_array().expect("a list").iter();
    statements
        .filter(|it| it["Principal"]["Service"] == "logs.amazonaws.com")
        .map(|it| text(&it["Condition"]["ArnLike"]["AWS:SourceArn"]))
        .collect()
}

fn source(env: &TestEnv, group: &str) -> String {
    format!("arn:aws:logs:us-east-1:{}:log-group:{group}:*", env.proxy.account().id)
}

/// The positions of some calls among all calls of a change.
fn positions(all: &[String], calls: &[&str]) -> Vec<usize> {
    let of = |call: &&str| all.iter().position(|it| it == call).unwrap_or_else(|| panic!("no {call} in {all:#?}"));
    calls.iter().map(of).collect()
}

#[test]
fn a_retention_of_0_days_keeps_events_forever() {
    let env = TestEnv::new();
    let retention = |days: Value| logging(&env, json!({ "access_log_logservice_group_retention_in_days": days }));
    let shown = || group(&env, GROUP).expect("it exists")["retentionInDays"].clone();
    env.apply(&retention(json!(0)));
    assert_eq!((env.proxy.count("PutRetentionPolicy"), shown()), (0, Value::Null));
    assert_eq!(env.change(&retention(json!(30))), ["PutRetentionPolicy /shop/access"]);
    assert_eq!(shown(), 30);
    assert_eq!(env.change(&retention(json!(0))), ["DeleteRetentionPolicy /shop/access"]);
    assert_eq!(shown(), Value::Null);
    // Both mean the same.
    assert_eq!(env.change(&retention(Value::Null)), Vec::<String>::new());
    env.destroy();
}

#[test]
fn a_subscription_moves_to_a_stream_and_back_in_safe_order() {
    let env = TestEnv::new();
    env.proxy.has_policies_of_configurations();
    env.proxy.latency(SLOW);
    let arn = key(&env, "alias/shop");
    let encrypted = json!({
        "access_log_logservice_group_kms_key_id": "alias/shop",
        "access_log_logservice_group_retention_in_days": 30,
    });
    let function = forwarding(&env, encrypted.clone());
    let calls = env.first(&function);
    let order = positions(
        &calls,
        &["CreateLogGroup /shop/access", "AddPermission subscription_permission", "PutSubscriptionFilter /shop/access"],
    );
    assert!(order.is_sorted(), "AWS invokes the function when the filter is created: {calls:#?}");
    assert!(calls.contains(&"PutRetentionPolicy /shop/access".to_owned()), "{calls:#?}");
    let created = group(&env, GROUP).expect("it exists");
    assert_eq!((&created["kmsKeyId"], &created["retentionInDays"]), (&json!(arn), &json!(30)));
    let to_function =
        |pattern: &str| [ours(&env), pattern.to_owned(), env.arn("users"), String::new(), "ByLogStream".to_owned()];
    assert_eq!(filters(&env, GROUP), [to_function("")]);
    assert_eq!(log_sources(&env, "users"), [source(&env, GROUP)]);
    assert_eq!(env.attribute("aws_objects")["log_subscription"], format!("{GROUP}|{}", ours(&env)));
    let client = load_client(&env);

    let to_stream = |pattern: &str, more: Value| {
        let basis = with(
            &encrypted,
            &json!({
                "access_log_logservice_group_subscription_destination_arn": stream(&env),
                "access_log_logservice_group_subscription_role_arn": ROLE,
                "access_log_logservice_group_subscription_filter_pattern": pattern,
            }),
        );
        logging(&env, with(&basis, &more))
    };
    let random = json!({ "access_log_logservice_group_subscription_distribution": "Random" });
    assert_eq!(
        env.change(&to_stream("500", random)),
        ["PutSubscriptionFilter /shop/access", "RemovePermission subscription_permission"],
    );
    let shown = |pattern: &str, distribution: &str| {
        let role = env.proxy.account().fill_in(ROLE);
        [ours(&env), pattern.to_owned(), stream(&env), role, distribution.to_owned()]
    };
    assert_eq!(filters(&env, GROUP), [shown("500", "Random")]);
    assert_eq!(log_sources(&env, "users"), Vec::<String>::new());

    assert_eq!(env.change(&to_stream("404", json!({}))), ["PutSubscriptionFilter /shop/access"]);
    assert_eq!(filters(&env, GROUP), [shown("404", "ByLogStream")]);

    assert_eq!(env.change(&function), ["AddPermission subscription_permission", "PutSubscriptionFilter /shop/access"],);
    assert_eq!(filters(&env, GROUP), [to_function("")], "the role is removed with the stream");

    let other = json!({ "access_log_logservice_group_subscription_destination_arn": env.arn("orders") });
    assert_eq!(
        env.change(&with(&function, &other)),
        [
            "AddPermission subscription_permission",
            "PutSubscriptionFilter /shop/access",
            "RemovePermission subscription_permission",
        ],
    );
    assert_eq!((log_sources(&env, "orders"), log_sources(&env, "users")), (vec![source(&env, GROUP)], vec![]));

    assert_eq!(
        env.change(&logging(&env, encrypted)),
        ["DeleteSubscriptionFilter /shop/access", "RemovePermission subscription_permission"],
    );
    assert_eq!(filters(&env, GROUP), Vec::<[String; 5]>::new());
    client.saw_no_error();
    env.destroy();
}

#[test]
fn a_renamed_log_group_is_created_before_the_old_is_deleted() {
    let env = TestEnv::new();
    env.proxy.latency(SLOW);
    env.apply(&forwarding(&env, json!({})));
    let client = load_client(&env);
    let renamed = forwarding(&env, json!({ "access_log_logservice_group_name": "/shop/requests" }));
    let calls = env.change(&renamed);
    let expected = [
        "AddPermission subscription_permission",
        "CreateLogGroup /shop/requests",
        "DeleteLogGroup /shop/access",
        "PutSubscriptionFilter /shop/requests",
        "RemovePermission subscription_permission",
        "UpdateStage $default",
    ];
    assert_eq!(sorted(calls.clone()), expected);
    let order = ["PutSubscriptionFilter /shop/requests", "DeleteLogGroup /shop/access"];
    assert!(positions(&calls, &order).is_sorted(), "{calls:#?}");
    let order = ["UpdateStage $default", "DeleteLogGroup /shop/access", "RemovePermission subscription_permission"];
    assert!(
        positions(&calls, &order).is_sorted(),
        "the old filter is deleted with its group, and then its permission: {calls:#?}"
    );
    assert_eq!(filters(&env, "/shop/requests").len(), 1);
    assert_eq!((group(&env, GROUP), log_sources(&env, "users")), (None, vec![source(&env, "/shop/requests")]));

    let calls = env.change(&json!({ "route_config": routes(&env) }));
    assert_eq!(
        sorted(calls),
        [
            "DeleteAccessLogSettings $default",
            "DeleteLogGroup /shop/requests",
            "RemovePermission subscription_permission",
        ]
    );
    client.saw_no_error();
    env.destroy();
}

#[test]
fn a_log_group_that_skips_its_deletion_stays_without_its_filter() {
    let env = TestEnv::new();
    let kept = json!({
        "access_log_logservice_group_skip_destroy": true, "access_log_logservice_group_retention_in_days": 30,
    });
    env.apply(&forwarding(&env, json!({ "access_log_logservice_group_retention_in_days": 30 })));
    assert_eq!(env.change(&forwarding(&env, kept.clone())), Vec::<String>::new(), "it is no property of the group");
    let renamed = with(&kept, &json!({ "access_log_logservice_group_name": "/shop/requests" }));
    let calls = env.change(&forwarding(&env, renamed));
    let order = [
        "UpdateStage $default",
        "DeleteSubscriptionFilter /shop/access",
        "RemovePermission subscription_permission",
        "UntagResource /shop/access",
    ];
    assert_eq!((positions(&calls, &order).len(), calls.len()), (4, 8), "{calls:#?}");
    assert!(positions(&calls, &order[..3]).is_sorted(), "{calls:#?}");
    let stays = |name: &str| {
        let found = group(&env, name).expect("it stays");
        assert_eq!((found["retentionInDays"].clone(), filters(&env, name).len()), (json!(30), 0), "{found}");
        let tags = found["tags"].as_object().into_iter().flatten().filter(|(key, _)| key.starts_with("fgw:")).count();
        assert_eq!(tags, 0, "{found}");
    };
    stays(GROUP);
    // A gateway that needs the name again uses the group, or takes it over.
    env.config(&forwarding(&env, kept.clone()));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("so the resource uses it") && plan.says("\"log_group\" = \"/shop/access\" in adopt"), "{plan}");
    let alone = json!({ "access_log_logservice_group_subscription_destination_arn": null });
    let adopting = with(&kept, &with(&alone, &json!({ "adopt": { "log_group": GROUP } })));
    env.apply(&forwarding(&env, adopting));
    assert_eq!(env.attribute("aws_objects")["log_group"], GROUP);
    stays("/shop/requests");
    env.destroy();
    stays(GROUP);
}

#[test]
fn logs_go_to_a_group_of_someone_else_and_back() {
    let env = TestEnv::new();
    env.proxy.account().boto("logs", "create_log_group", json!({ "logGroupName": "/theirs" }));
    let arn = |name: &str| format!("arn:aws:logs:us-east-1:{}:log-group:{name}", env.proxy.account().id);
    let to = |arn: &str| {
        let format = json!({ "access_log_format_type": "CLF", "access_log_destination_arn": arn });
        with(&json!({ "route_config": routes(&env) }), &format)
    };
    let shown = || env.proxy.account().list_of("apis")[0]["stages"][0]["AccessLogSettings"].clone();
    let calls = env.first(&to(&format!("{}:*", arn("/theirs"))));
    assert!(!calls.iter().any(|call| call.contains("LogGroup")), "{calls:#?}");
    assert_eq!(shown()["DestinationArn"], arn("/theirs"));

    // A change outside Terraform is corrected.
    let stage = json!({ "ApiId": env.attribute("api_id"), "StageName": "$default" });
    let drift = json!({ "AccessLogSettings": { "DestinationArn": arn("/other"), "Format": shown()["Format"] } });
    env.proxy.boto("apigatewayv2", "update_stage", with(&stage, &drift));
    env.workspace.apply(&["-refresh-only"]).succeeded();
    assert_eq!(env.attribute("access_log_destination_arn"), arn("/other"));
    env.apply(&to(&arn("/theirs")));
    assert_eq!(shown()["DestinationArn"], arn("/theirs"));

    let stream = format!("arn:aws:firehose:us-east-1:{}:deliverystream/amazon-apigateway-shop", env.proxy.account().id);
    assert_eq!(env.change(&to(&stream)), ["UpdateStage $default"]);
    assert_eq!(shown()["DestinationArn"], stream);

    let calls = env.change(&forwarding(&env, json!({})));
    assert!(calls.contains(&"CreateLogGroup /shop/access".to_owned()), "{calls:#?}");
    // The group that the gateway has created stays if the configuration names it.
    let calls = env.change(&to(&arn(GROUP)));
    assert!(calls.contains(&format!("DeleteSubscriptionFilter {GROUP}")), "{calls:#?}");
    assert!(!calls.iter().any(|call| call.starts_with("DeleteLogGroup")), "{calls:#?}");
    assert!(group(&env, GROUP).is_some() && shown()["DestinationArn"] == arn(GROUP));
    let both = with(&to(&arn(GROUP)), &json!({ "access_log_logservice_group_name": GROUP }));
    env.config(&both);
    env.workspace.plan(&[]).failed_with("Both access_log_destination_arn");
    env.apply(&json!({ "route_config": routes(&env) }));
    assert_eq!(shown(), Value::Null);
    env.destroy();
    assert!(group(&env, "/theirs").is_some() && group(&env, GROUP).is_some());
}

#[test]
fn retention_and_key_change_in_place() {
    let env = TestEnv::new();
    env.proxy.latency(SLOW);
    let (first, second) = (key(&env, "alias/shop"), key(&env, "alias/desk"));
    let id = second.rsplit_once('/').expect("an ARN ends with the id").1;
    let by_alias_arn = format!("arn:aws:kms:us-east-1:{}:alias/desk", env.proxy.account().id);
    env.apply(&logging(&env, json!({})));
    let client = load_client(&env);
    for (key, days, calls, shown) in [
        (json!("alias/shop"), json!(30), &["AssociateKmsKey", "PutRetentionPolicy"][..], (json!(first), json!(30))),
        (json!(second), json!(7), &["AssociateKmsKey", "PutRetentionPolicy"], (json!(second), json!(7))),
        (json!(id), json!(7), &[], (json!(second), json!(7))),
        (json!("alias/desk"), json!(null), &["DeleteRetentionPolicy"], (json!(second), json!(null))),
        (json!(by_alias_arn), json!(null), &[], (json!(second), json!(null))),
        (json!(null), json!(null), &["DisassociateKmsKey"], (json!(null), json!(null))),
    ] {
        let change = env.planned_change(&logging(
            &env,
            json!({
                "access_log_logservice_group_kms_key_id": key,
                "access_log_logservice_group_retention_in_days": days,
            }),
        ));
        let calls: Vec<String> = calls.iter().map(|call| format!("{call} {GROUP}")).collect();
        assert_eq!((change.calls, change.objects), (calls, vec![]), "{key} {days}");
        let groups = env.proxy.boto("logs", "describe_log_groups", json!({ "logGroupNamePrefix": GROUP }));
        let group = &groups["logGroups"][0];
        assert_eq!((group["kmsKeyId"].clone(), group["retentionInDays"].clone()), shown, "{key} {days}");
    }
    client.saw_no_error();
    env.destroy();
}

#[test]
fn events_that_match_the_pattern_reach_the_function() {
    let env = TestEnv::new();
    let account = env.proxy.account();
    create_sink(&env, "sink");
    let to_sink = json!({
        "access_log_logservice_group_subscription_destination_arn": env.arn("sink"),
        "access_log_logservice_group_subscription_filter_pattern": "ERROR",
    });
    env.apply(&logging(&env, to_sink));
    log_events::write(account, GROUP, "ERROR it broke");
    until("the function is invoked", || is_invoked(&env, "sink"));
    env.destroy();
}

/// Creates a function that logs what it receives.
fn create_sink(env: &TestEnv, name: &str) {
    let code = "def handler(event, context):\n    print('seen', event['awslogs']['data'])\n";
    env.proxy.account().create_function(name, code);
}

fn is_invoked(env: &TestEnv, function: &str) -> bool {
    let group = json!({ "logGroupName": format!("/aws/lambda/{function}") });
    let found = env.proxy.account().try_boto("logs", "filter_log_events", group);
    found.is_ok_and(|found| found["events"].to_string().contains("seen"))
}

#[test]
fn two_gateways_forward_the_events_of_one_group() {
    for keeps_first in [true, false] {
        let env = TestEnv::with_terraform();
        let gateway = |name: &str| {
            create_sink(&env, name);
            let own = json!({
                "name": name,
                "allow_duplicate_name": true,
                "access_log_logservice_group_skip_destroy": true,
                "access_log_logservice_group_subscription_destination_arn": env.arn(name),
            });
            logging(&env, own)
        };
        let (first, second) = (gateway("first"), gateway("second"));
        for both in [&[("first", &first)][..], &[("first", &first), ("second", &second)]] {
            env.configs(both, &json!({}));
            env.apply_config();
        }
        let filter_of = |name: &str| {
            let state = env.workspace.state();
            let gateway = state.resource(&format!("fgw_http_gateway.{name}")).expect("it is in state");
            format!("fgw-access-logs-{}", text(&gateway["id"]))
        };
        let names = || sorted(filters(&env, GROUP).into_iter().map(|[name, ..]| name).collect());
        assert_eq!(names(), sorted(vec![filter_of("first"), filter_of("second")]));
        log_events::write(env.proxy.account(), GROUP, "it works");
        until("both functions are invoked", || ["first", "second"].iter().all(|it| is_invoked(&env, it)));

        let kept = if keeps_first { ("first", &first) } else { ("second", &second) };
        env.configs(&[kept], &json!({}));
        env.apply_config();
        assert_eq!(names(), [filter_of(kept.0)]);
        env.workspace.assert_nothing_to_do();
        env.workspace.destroy().succeeded();
        assert_eq!((names(), log_events::read(env.proxy.account(), GROUP)), (vec![], vec!["it works".to_owned()]));
    }
}

#[test]
fn drift_of_log_objects_is_shown_by_key_and_fixed() {
    let env = TestEnv::new();
    let wanted = forwarding(
        &env,
        json!({
            "access_log_logservice_group_retention_in_days": 30,
            "access_log_logservice_group_subscription_filter_pattern": "500",
        }),
    );
    env.apply(&wanted);
    let account = env.proxy.account();
    let logs = |method: &str, arguments: Value| {
        account.boto("logs", method, with(&json!({ "logGroupName": GROUP }), &arguments))
    };
    let filter = |name: &str, pattern: &str| json!({ "filterName": name, "filterPattern": pattern, "destinationArn": env.arn("users") });
    let (ours, missing) = (ours(&env), format!("{GROUP}|{} is missing", ours(&env)));
    logs("put_subscription_filter", filter("fgw-access-logs-unmanaged", "404"));
    env.workspace.assert_nothing_to_do();
    let good = filters(&env, GROUP);
    assert_eq!(good.len(), 2);
    let statement = text(&env.attribute("aws_objects")["subscription_permission"]);
    let damages: [Damage<'_>; 4] = [
        (
            "log_subscription",
            &|| drop(logs("delete_subscription_filter", json!({ "filterName": ours }))),
            &missing,
            &["PutSubscriptionFilter /shop/access"],
        ),
        (
            "log_subscription",
            &|| drop(logs("put_subscription_filter", filter(&ours, "5xx"))),
            "filter_pattern is 5xx instead of 500",
            &["PutSubscriptionFilter /shop/access"],
        ),
        (
            "subscription_permission",
            &|| {
                let statement = json!({ "FunctionName": "users", "StatementId": statement });
                account.boto("lambda", "remove_permission", statement);
            },
            "is missing",
            &["AddPermission subscription_permission"],
        ),
        (
            "log_group",
            &|| drop(logs("put_retention_policy", json!({ "retentionInDays": 1 }))),
            "retention_in_days is 1 instead of 30",
            &["PutRetentionPolicy /shop/access"],
        ),
    ];
    for (slot, damage, reason, calls) in damages {
        damage();
        fixes(&env, &[(slot, reason)], calls);
        assert_eq!(sorted_filters(&env), sorted_filters_of(&good), "the unmanaged filter stays");
    }

    let redirected = with(&filter(&ours, "500"), &json!({ "destinationArn": stream(&env), "roleArn": ROLE }));
    logs("put_subscription_filter", redirected);
    fixes(&env, &[("log_subscription", "destination_arn is")], &["PutSubscriptionFilter /shop/access"]);
    assert_eq!(sorted_filters(&env), sorted_filters_of(&good));

    logs("delete_log_group", json!({}));
    fixes(
        &env,
        &[("log_group", "/shop/access is missing"), ("log_subscription", "is missing")],
        &["CreateLogGroup /shop/access", "PutRetentionPolicy /shop/access", "PutSubscriptionFilter /shop/access"],
    );
    assert_eq!(filters(&env, GROUP).len(), 1);
    env.destroy();
}

/// The key of an object, a change of it outside Terraform, a part of the reported drift, and the calls that fix it.
type Damage<'a> = (&'a str, &'a dyn Fn(), &'a str, &'a [&'a str]);

fn sorted_filters(env: &TestEnv) -> Vec<[String; 5]> {
    sorted_filters_of(&filters(env, GROUP))
}

fn sorted_filters_of(filters: &[[String; 5]]) -> Vec<[String; 5]> {
    let mut filters = filters.to_vec();
    filters.sort();
    filters
}

/// Asserts that exactly this drift is reported, and that an apply fixes it with exactly these calls.
fn fixes(env: &TestEnv, found: &[(&str, &str)], calls: &[&str]) {
    let drift = env.drift();
    let slots: Vec<&str> = drift.as_object().expect("a map").keys().map(String::as_str).collect();
    assert_eq!(slots, found.iter().map(|(slot, _)| *slot).collect::<Vec<_>>(), "{drift}");
    for (slot, reason) in found {
        assert!(text(&drift[slot]).contains(reason), "{drift}");
    }
    let before = env.slots();
    env.apply_config();
    assert_eq!(env.calls(&before), calls);
    assert_eq!(env.attribute("drift"), json!({}));
}

#[test]
fn a_missing_key_alias_warns_at_plan_and_fails_at_apply() {
    let env = TestEnv::new();
    env.config(&logging(&env, json!({ "access_log_logservice_group_kms_key_id": "alias/later" })));
    let plan = env.workspace.plan(&[]);
    assert_eq!(plan.code, 2, "{plan}");
    assert!(plan.says("There is no KMS key \"alias/later\" in us-east-1."), "{plan}");
    env.workspace.apply_plan().failed_with("There is no KMS key \"alias/later\" in us-east-1.");
    assert_eq!(env.proxy.mutations().len(), 0, "nothing is changed");
    assert!(env.workspace.state().resource(THIS).is_none());

    env.workspace.plan(&[]);
    let arn = key(&env, "alias/later");
    env.workspace.apply_plan().succeeded();
    env.workspace.assert_nothing_to_do();
    assert_eq!(group(&env, GROUP).expect("it exists")["kmsKeyId"], arn);
    env.destroy();
}

#[test]
fn a_third_filter_is_rejected_with_a_hint_and_without_retry() {
    let env = TestEnv::new();
    env.apply(&logging(&env, json!({})));
    let quota = Fault::on("PutSubscriptionFilter").answer(400, "LimitExceededException", "Resource limit exceeded.");
    env.proxy.fault(quota);
    env.config(&forwarding(&env, json!({})));
    env.proxy.clear_calls();
    let run = env.workspace.apply(&[]);
    run.failed_with("has as many subscription filters as AWS allows");
    run.failed_with("delete-subscription-filter --log-group-name /shop/access");
    assert_eq!(env.proxy.count("PutSubscriptionFilter"), 1, "an exceeded quota is not retried");
    assert!(text(&env.attribute("drift")["log_subscription"]).starts_with("not yet applied"));

    env.proxy.clear_faults();
    let before = env.slots();
    env.apply_config();
    assert_eq!(env.calls(&before), ["PutSubscriptionFilter /shop/access"]);
    env.destroy();
}

#[test]
fn a_permission_delay_and_a_lost_answer_create_one_filter() {
    let env = TestEnv::new();
    let text =
        "Could not execute the lambda function. Make sure you have given CloudWatch Logs permission to execute it.";
    env.proxy.fault(Fault::on("PutSubscriptionFilter").first(2).answer(400, "InvalidParameterException", text));
    env.proxy.fault(Fault::on("PutSubscriptionFilter").nth(3).after_work().reset());
    env.apply(&forwarding(&env, json!({})));
    assert_eq!(env.proxy.count("PutSubscriptionFilter"), 4);
    assert_eq!(filters(&env, GROUP).len(), 1);
    env.destroy();
}

#[test]
fn a_refresh_with_logs_takes_nine_calls_and_one_per_policy() {
    let env = TestEnv::new();
    key(&env, "alias/shop");
    env.apply(&forwarding(&env, json!({ "access_log_logservice_group_kms_key_id": "alias/shop" })));
    env.proxy.clear_calls();
    env.workspace.apply(&["-refresh-only"]).succeeded();
    let mut calls = env.proxy.by_action();
    calls.remove("GetCallerIdentity");
    assert_eq!(calls.remove("GetPolicy"), Some(2));
    assert_eq!(calls.remove("DescribeKey"), Some(1), "the next plan needs the ARN of the key");
    assert_eq!(calls.values().sum::<usize>(), 9, "{calls:?}");
    env.destroy();
}

impl TestEnv {
    /// Applies the first configuration and returns the changing calls, see [`TestEnv::calls`].
    fn first(&self, attributes: &Value) -> Vec<String> {
        self.apply(attributes);
        self.calls(&Default::default())
    }
}
