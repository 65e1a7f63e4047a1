//! The log group of access logs: its key, and the subscription that forwards its events.

use serde_json::{Value, json};

use super::change::sorted;
use super::load_client::Visitor;
use super::{SLOW, THIS, TestEnv, text, with};
use crate::support::proxy::fault::Fault;
use crate::support::wait::until;

const GROUP: &str = "/shop/access";
const OURS: &str = "fgw-access-logs";
const ROLE: &str = "arn:aws:iam::123456789012:role/logs";

/// A gateway with two routes and access logs.
fn logging(bed: &TestEnv, more: Value) -> Value {
    let basis = json!({
        "route_config": routes(bed),
        "access_log_logservice_group_name": GROUP,
    });
    with(&basis, &more)
}

fn routes(bed: &TestEnv) -> Value {
    json!({ "GET /a": bed.to("orders"), "GET /still": bed.to("orders") })
}

/// A client of both routes. No change of logs may be felt by either.
fn visit(bed: &TestEnv) -> Visitor {
    bed.visit(("GET /still", "orders /still"), &["GET /a"])
}

/// The same, forwarded to the function `users`.
fn forwarding(bed: &TestEnv, more: Value) -> Value {
    let destination = json!({ "access_log_logservice_group_subscription_destination_arn": bed.arn("users") });
    logging(bed, with(&destination, &more))
}

fn stream(bed: &TestEnv) -> String {
    format!("arn:aws:kinesis:us-east-1:{}:stream/sink", bed.proxy.account().id)
}

/// A key of the account under this alias, by its ARN.
fn key(bed: &TestEnv, alias: &str) -> String {
    let made = bed.proxy.account().boto("kms", "create_key", json!({}));
    let id = made["KeyMetadata"]["KeyId"].clone();
    bed.proxy.account().boto("kms", "create_alias", json!({ "AliasName": alias, "TargetKeyId": id }));
    text(&made["KeyMetadata"]["Arn"])
}

fn group(bed: &TestEnv, name: &str) -> Option<Value> {
    bed.proxy.account().list_of("log_groups").into_iter().find(|group| group["logGroupName"] == name)
}

/// The filters of a group: name, pattern, destination, role and distribution.
fn filters(bed: &TestEnv, name: &str) -> Vec<[String; 5]> {
    let group = group(bed, name).unwrap_or_else(|| panic!("there is no {name}"));
    let members = ["filterName", "filterPattern", "destinationArn", "roleArn", "distribution"];
    let filters = group["subscriptionFilters"].as_array().expect("a list").iter();
    filters.map(|filter| members.map(|member| filter[member].as_str().unwrap_or_default().to_owned())).collect()
}

/// The sources from which the log service may call a function.
fn log_sources(bed: &TestEnv, function: &str) -> Vec<String> {
    let functions = bed.proxy.account().list_of("functions");
    let function = functions.iter().find(|it| it["FunctionName"] == function).expect("it exists");
    let statements = function["statements"].as_array().expect("a list").iter();
    statements
        .filter(|it| it["Principal"]["Service"] == "logs.amazonaws.com")
        .map(|it| text(&it["Condition"]["ArnLike"]["AWS:SourceArn"]))
        .collect()
}

fn source(bed: &TestEnv, group: &str) -> String {
    format!("arn:aws:logs:us-east-1:{}:log-group:{group}:*", bed.proxy.account().id)
}

/// Where these calls stand among those that were told.
fn places(told: &[String], calls: &[&str]) -> Vec<usize> {
    let place = |call: &&str| told.iter().position(|it| it == call).unwrap_or_else(|| panic!("no {call} in {told:#?}"));
    calls.iter().map(place).collect()
}

#[test]
fn a_subscription_is_made_after_its_permission_moves_to_a_stream_and_back_and_goes() {
    let bed = TestEnv::new();
    bed.proxy.latency(SLOW);
    let arn = key(&bed, "alias/shop");
    let encrypted = json!({
        "access_log_logservice_group_kms_key_id": "alias/shop",
        "access_log_logservice_group_retention_in_days": 30,
    });
    let function = forwarding(&bed, encrypted.clone());
    let told = bed.first(&function);
    let order = places(
        &told,
        &["CreateLogGroup /shop/access", "AddPermission subscription_permission", "PutSubscriptionFilter /shop/access"],
    );
    assert!(order.is_sorted(), "AWS calls the function when the filter is made: {told:#?}");
    assert!(told.contains(&"PutRetentionPolicy /shop/access".to_owned()), "{told:#?}");
    let made = group(&bed, GROUP).expect("it was made");
    assert_eq!((&made["kmsKeyId"], &made["retentionInDays"]), (&json!(arn), &json!(30)));
    let to_function = |pattern: &str| {
        [OURS.to_owned(), pattern.to_owned(), bed.arn("users"), String::new(), "ByLogStream".to_owned()]
    };
    assert_eq!(filters(&bed, GROUP), [to_function("")]);
    assert_eq!(log_sources(&bed, "users"), [source(&bed, GROUP)]);
    assert_eq!(bed.attribute("aws_objects")["log_subscription"], format!("{GROUP}|{OURS}"));
    let visitor = visit(&bed);

    let to_stream = |pattern: &str, more: Value| {
        let basis = with(
            &encrypted,
            &json!({
                "access_log_logservice_group_subscription_destination_arn": stream(&bed),
                "access_log_logservice_group_subscription_role_arn": ROLE,
                "access_log_logservice_group_subscription_filter_pattern": pattern,
            }),
        );
        logging(&bed, with(&basis, &more))
    };
    let random = json!({ "access_log_logservice_group_subscription_distribution": "Random" });
    assert_eq!(
        bed.change(&to_stream("500", random)),
        ["PutSubscriptionFilter /shop/access", "RemovePermission subscription_permission"],
    );
    let shown = |pattern: &str, distribution: &str| {
        [OURS.to_owned(), pattern.to_owned(), stream(&bed), ROLE.to_owned(), distribution.to_owned()]
    };
    assert_eq!(filters(&bed, GROUP), [shown("500", "Random")]);
    assert_eq!(log_sources(&bed, "users"), Vec::<String>::new());

    assert_eq!(bed.change(&to_stream("404", json!({}))), ["PutSubscriptionFilter /shop/access"]);
    assert_eq!(filters(&bed, GROUP), [shown("404", "ByLogStream")]);

    assert_eq!(bed.change(&function), ["AddPermission subscription_permission", "PutSubscriptionFilter /shop/access"],);
    assert_eq!(filters(&bed, GROUP), [to_function("")], "the role went with the stream");

    let other = json!({ "access_log_logservice_group_subscription_destination_arn": bed.arn("orders") });
    assert_eq!(
        bed.change(&with(&function, &other)),
        [
            "AddPermission subscription_permission",
            "PutSubscriptionFilter /shop/access",
            "RemovePermission subscription_permission",
        ],
    );
    assert_eq!((log_sources(&bed, "orders"), log_sources(&bed, "users")), (vec![source(&bed, GROUP)], vec![]));

    assert_eq!(
        bed.change(&logging(&bed, encrypted)),
        ["DeleteSubscriptionFilter /shop/access", "RemovePermission subscription_permission"],
    );
    assert_eq!(filters(&bed, GROUP), Vec::<[String; 5]>::new());
    visitor.saw_no_error();
    bed.destroy();
}

#[test]
fn a_renamed_group_takes_its_subscription_along_and_the_old_one_goes_last() {
    let bed = TestEnv::new();
    bed.proxy.latency(SLOW);
    bed.apply(&forwarding(&bed, json!({})));
    let visitor = visit(&bed);
    let renamed = forwarding(&bed, json!({ "access_log_logservice_group_name": "/shop/requests" }));
    let told = bed.change(&renamed);
    let calls = [
        "AddPermission subscription_permission",
        "CreateLogGroup /shop/requests",
        "DeleteLogGroup /shop/access",
        "PutSubscriptionFilter /shop/requests",
        "RemovePermission subscription_permission",
        "UpdateStage $default",
    ];
    assert_eq!(sorted(told.clone()), calls);
    let order = ["PutSubscriptionFilter /shop/requests", "DeleteLogGroup /shop/access"];
    assert!(places(&told, &order).is_sorted(), "{told:#?}");
    let order = ["UpdateStage $default", "DeleteLogGroup /shop/access", "RemovePermission subscription_permission"];
    assert!(
        places(&told, &order).is_sorted(),
        "the old filter goes with its group, and then its permission: {told:#?}"
    );
    assert_eq!(filters(&bed, "/shop/requests").len(), 1);
    assert_eq!((group(&bed, GROUP), log_sources(&bed, "users")), (None, vec![source(&bed, "/shop/requests")]));

    let told = bed.change(&json!({ "route_config": routes(&bed) }));
    assert_eq!(
        sorted(told),
        [
            "DeleteAccessLogSettings $default",
            "DeleteLogGroup /shop/requests",
            "RemovePermission subscription_permission",
        ]
    );
    visitor.saw_no_error();
    bed.destroy();
}

#[test]
fn retention_and_key_are_set_exchanged_and_taken_away_in_place() {
    let bed = TestEnv::new();
    bed.proxy.latency(SLOW);
    let (first, second) = (key(&bed, "alias/shop"), key(&bed, "alias/desk"));
    let id = second.rsplit_once('/').expect("an ARN ends with the id").1;
    let by_alias_arn = format!("arn:aws:kms:us-east-1:{}:alias/desk", bed.proxy.account().id);
    bed.apply(&logging(&bed, json!({})));
    let visitor = visit(&bed);
    for (key, days, calls, shown) in [
        (json!("alias/shop"), json!(30), &["AssociateKmsKey", "PutRetentionPolicy"][..], (json!(first), json!(30))),
        (json!(second), json!(7), &["AssociateKmsKey", "PutRetentionPolicy"], (json!(second), json!(7))),
        (json!(id), json!(7), &[], (json!(second), json!(7))),
        (json!("alias/desk"), json!(null), &["DeleteRetentionPolicy"], (json!(second), json!(null))),
        (json!(by_alias_arn), json!(null), &[], (json!(second), json!(null))),
        (json!(null), json!(null), &["DisassociateKmsKey"], (json!(null), json!(null))),
    ] {
        let change = bed.planned_change(&logging(
            &bed,
            json!({
                "access_log_logservice_group_kms_key_id": key,
                "access_log_logservice_group_retention_in_days": days,
            }),
        ));
        let calls: Vec<String> = calls.iter().map(|call| format!("{call} {GROUP}")).collect();
        assert_eq!((change.told, change.objects), (calls, vec![]), "{key} {days}");
        let groups = bed.proxy.boto("logs", "describe_log_groups", json!({ "logGroupNamePrefix": GROUP }));
        let group = &groups["logGroups"][0];
        assert_eq!((group["kmsKeyId"].clone(), group["retentionInDays"].clone()), shown, "{key} {days}");
    }
    visitor.saw_no_error();
    bed.destroy();
}

#[test]
fn events_that_match_the_pattern_reach_the_function() {
    let bed = TestEnv::new();
    let account = bed.proxy.account();
    account.create_function("sink", "def handler(event, context):\n    print('seen', event['awslogs']['data'])\n");
    let to_sink = json!({
        "access_log_logservice_group_subscription_destination_arn": bed.arn("sink"),
        "access_log_logservice_group_subscription_filter_pattern": "ERROR",
    });
    bed.apply(&logging(&bed, to_sink));
    let logs = |method: &str, arguments: Value| account.boto("logs", method, arguments);
    logs("create_log_stream", json!({ "logGroupName": GROUP, "logStreamName": "s" }));
    let events = json!([{ "timestamp": 1_700_000_000_000_i64, "message": "ERROR it broke" }]);
    logs("put_log_events", json!({ "logGroupName": GROUP, "logStreamName": "s", "logEvents": events }));
    let seen = || -> bool {
        let found = account.try_boto("logs", "filter_log_events", json!({ "logGroupName": "/aws/lambda/sink" }));
        found.is_ok_and(|found| found["events"].to_string().contains("seen"))
    };
    until("the function is called", seen);
    bed.destroy();
}

#[test]
fn damage_to_group_filter_and_permission_is_told_by_key_and_mended_with_the_calls_it_takes() {
    let bed = TestEnv::new();
    let wanted = forwarding(
        &bed,
        json!({
            "access_log_logservice_group_retention_in_days": 30,
            "access_log_logservice_group_subscription_filter_pattern": "500",
        }),
    );
    bed.apply(&wanted);
    let account = bed.proxy.account();
    let logs = |method: &str, arguments: Value| {
        account.boto("logs", method, with(&json!({ "logGroupName": GROUP }), &arguments))
    };
    let filter = |name: &str, pattern: &str| json!({ "filterName": name, "filterPattern": pattern, "destinationArn": bed.arn("users") });
    logs("put_subscription_filter", filter("fgw-access-logs-of-others", "404"));
    bed.workspace.assert_nothing_to_do();
    let good = filters(&bed, GROUP);
    assert_eq!(good.len(), 2);
    let statement = text(&bed.attribute("aws_objects")["subscription_permission"]);
    let damages: [Damage<'_>; 4] = [
        (
            "log_subscription",
            &|| drop(logs("delete_subscription_filter", json!({ "filterName": OURS }))),
            "/shop/access|fgw-access-logs is gone",
            &["PutSubscriptionFilter /shop/access"],
        ),
        (
            "log_subscription",
            &|| drop(logs("put_subscription_filter", filter(OURS, "5xx"))),
            "filter_pattern is 5xx instead of 500",
            &["PutSubscriptionFilter /shop/access"],
        ),
        (
            "subscription_permission",
            &|| {
                let statement = json!({ "FunctionName": "users", "StatementId": statement });
                account.boto("lambda", "remove_permission", statement);
            },
            "is gone",
            &["AddPermission subscription_permission"],
        ),
        (
            "log_group",
            &|| drop(logs("put_retention_policy", json!({ "retentionInDays": 1 }))),
            "retention_in_days is 1 instead of 30",
            &["PutRetentionPolicy /shop/access"],
        ),
    ];
    for (slot, damage, said, calls) in damages {
        damage();
        mends(&bed, &[(slot, said)], calls);
        assert_eq!(sorted_filters(&bed), sorted_filters_of(&good), "the one of others stays");
    }

    let stranger = with(&filter(OURS, "500"), &json!({ "destinationArn": stream(&bed), "roleArn": ROLE }));
    logs("put_subscription_filter", stranger);
    mends(&bed, &[("log_subscription", "destination_arn is")], &["PutSubscriptionFilter /shop/access"]);
    assert_eq!(sorted_filters(&bed), sorted_filters_of(&good));

    logs("delete_log_group", json!({}));
    mends(
        &bed,
        &[("log_group", "/shop/access is gone"), ("log_subscription", "is gone")],
        &["CreateLogGroup /shop/access", "PutRetentionPolicy /shop/access", "PutSubscriptionFilter /shop/access"],
    );
    assert_eq!(filters(&bed, GROUP).len(), 1);
    bed.destroy();
}

/// The object that is damaged, the damage, what is said of it, and the calls that mend it.
type Damage<'a> = (&'a str, &'a dyn Fn(), &'a str, &'a [&'a str]);

fn sorted_filters(bed: &TestEnv) -> Vec<[String; 5]> {
    sorted_filters_of(&filters(bed, GROUP))
}

fn sorted_filters_of(filters: &[[String; 5]]) -> Vec<[String; 5]> {
    let mut filters = filters.to_vec();
    filters.sort();
    filters
}

/// Asserts that exactly these objects are said to differ, and that an apply makes exactly these calls.
fn mends(bed: &TestEnv, found: &[(&str, &str)], calls: &[&str]) {
    let drift = bed.drift();
    let slots: Vec<&str> = drift.as_object().expect("a map").keys().map(String::as_str).collect();
    assert_eq!(slots, found.iter().map(|(slot, _)| *slot).collect::<Vec<_>>(), "{drift}");
    for (slot, said) in found {
        assert!(text(&drift[slot]).contains(said), "{drift}");
    }
    let before = bed.slots();
    bed.apply_config();
    assert_eq!(bed.told(&before), calls);
    assert_eq!(bed.attribute("drift"), json!({}));
}

#[test]
fn a_key_alias_that_does_not_exist_is_warned_of_at_plan_and_refused_at_apply_unless_it_is_made_meanwhile() {
    let bed = TestEnv::new();
    bed.config(&logging(&bed, json!({ "access_log_logservice_group_kms_key_id": "alias/later" })));
    let plan = bed.workspace.plan(&[]);
    assert_eq!(plan.code, 2, "{plan}");
    assert!(plan.says("There is no KMS key \"alias/later\" in us-east-1."), "{plan}");
    bed.workspace.apply_plan().failed_with("There is no KMS key \"alias/later\" in us-east-1.");
    assert_eq!(bed.proxy.mutations().len(), 0, "nothing is changed");
    assert!(bed.workspace.state().resource(THIS).is_none());

    bed.workspace.plan(&[]);
    let arn = key(&bed, "alias/later");
    bed.workspace.apply_plan().succeeded();
    bed.workspace.assert_nothing_to_do();
    assert_eq!(group(&bed, GROUP).expect("it was made")["kmsKeyId"], arn);
    bed.destroy();
}

#[test]
fn a_third_filter_is_refused_at_once_with_what_to_do_and_the_next_apply_goes_on() {
    let bed = TestEnv::new();
    bed.apply(&logging(&bed, json!({})));
    let quota = Fault::on("PutSubscriptionFilter").answer(400, "LimitExceededException", "Resource limit exceeded.");
    bed.proxy.fault(quota);
    bed.config(&forwarding(&bed, json!({})));
    bed.proxy.clear_calls();
    let run = bed.workspace.apply(&[]);
    run.failed_with("has as many subscription filters as AWS allows");
    run.failed_with("delete-subscription-filter --log-group-name /shop/access");
    assert_eq!(bed.proxy.count("PutSubscriptionFilter"), 1, "no patience mends a quota");
    assert!(text(&bed.attribute("drift")["log_subscription"]).starts_with("not yet applied"));

    bed.proxy.clear_faults();
    let before = bed.slots();
    bed.apply_config();
    assert_eq!(bed.told(&before), ["PutSubscriptionFilter /shop/access"]);
    bed.destroy();
}

#[test]
fn a_function_that_the_log_service_may_not_call_yet_and_a_lost_answer_end_in_one_filter() {
    let bed = TestEnv::new();
    let text =
        "Could not execute the lambda function. Make sure you have given CloudWatch Logs permission to execute it.";
    bed.proxy.fault(Fault::on("PutSubscriptionFilter").first(2).answer(400, "InvalidParameterException", text));
    bed.proxy.fault(Fault::on("PutSubscriptionFilter").nth(3).after_work().reset());
    bed.apply(&forwarding(&bed, json!({})));
    assert_eq!(bed.proxy.count("PutSubscriptionFilter"), 4);
    assert_eq!(filters(&bed, GROUP).len(), 1);
    bed.destroy();
}

#[test]
fn a_refresh_of_a_gateway_with_logs_key_and_subscription_takes_nine_calls_and_one_for_each_policy() {
    let bed = TestEnv::new();
    key(&bed, "alias/shop");
    bed.apply(&forwarding(&bed, json!({ "access_log_logservice_group_kms_key_id": "alias/shop" })));
    bed.proxy.clear_calls();
    bed.workspace.apply(&["-refresh-only"]).succeeded();
    let mut calls = bed.proxy.by_action();
    calls.remove("GetCallerIdentity");
    assert_eq!(calls.remove("GetPolicy"), Some(2));
    assert_eq!(calls.values().sum::<usize>(), 9, "{calls:?}");
    bed.destroy();
}

impl TestEnv {
    /// Applies a first configuration and says what was changed in AWS, see [`TestEnv::told`].
    fn first(&self, attributes: &Value) -> Vec<String> {
        self.apply(attributes);
        self.told(&Default::default())
    }
}
