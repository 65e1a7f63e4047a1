//! Access logs in the blueprint: the key of their group and the subscription.

use super::*;
use crate::model::{Found, Lookup};

const KEY: &str = "arn:aws:kms:eu-central-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab";
const STREAM: &str = "arn:aws:kinesis:eu-central-1:123456789012:stream/sink";
const ROLE: &str = "arn:aws:iam::123456789012:role/logs";

/// Access logs of a gateway with one route.
pub(super) fn logging(more: serde_json::Value) -> serde_json::Value {
    with(json!({ "access_log_logservice_group_name": "/http/shop" }), more)
}

/// Keys and subscriptions that keep every rule, as attributes beside the group's name.
pub(super) fn some_logs() -> impl Strategy<Value = serde_json::Value> {
    let key = prop::option::of(prop::sample::select(vec![KEY, "alias/logs", "1234abcd-12ab-34cd-56ef-1234567890ab"]));
    let delivery = "arn:aws:firehose:eu-central-1:123456789012:deliverystream/sink";
    let destination = prop::option::of(prop::sample::select(vec![ORDERS, USERS, STREAM, delivery]));
    let distribution = prop::option::of(prop::sample::select(vec!["Random", "ByLogStream"]));
    (key, destination, distribution, "[5]{0,2}").prop_map(|(key, destination, distribution, pattern)| {
        let mut logs = json!({ "access_log_logservice_group_kms_key_id": key });
        if let Some(destination) = destination {
            let is_function = destination.contains(":lambda:");
            let of_subscription = json!({
                "access_log_logservice_group_subscription_destination_arn": destination,
                "access_log_logservice_group_subscription_filter_pattern": pattern,
                "access_log_logservice_group_subscription_role_arn": (!is_function).then_some(ROLE),
                "access_log_logservice_group_subscription_distribution":
                    distribution.filter(|_| destination == STREAM),
            });
            logs = with(logs, of_subscription);
        }
        logs
    })
}

fn decide(config: &GatewayConfig, facts: &Facts) -> (Vec<Object>, Vec<Problem>) {
    match HttpGateway::blueprint(&context(config, &Inventory::default(), &scope(), facts)) {
        Ok(Blueprint::Decided { objects, missing, .. }) => (objects, missing),
        other => panic!("{other:?}"),
    }
}

fn key_arn(objects: &[Object]) -> Input<Option<String>> {
    let group = objects.iter().find_map(|it| if let Spec::LogGroup(group) = &it.spec { Some(group) } else { None });
    group.expect("there is a log group").kms_key_arn.clone()
}

fn subscription(objects: &[Object]) -> crate::model::LogSubscription {
    let found = objects.iter().find_map(|it| match &it.spec {
        Spec::LogSubscription(subscription) => Some(subscription.clone()),
        _ => None,
    });
    found.expect("there is a subscription")
}

fn subscribed(destination: &str, more: serde_json::Value) -> GatewayConfig {
    let destination = json!({ "access_log_logservice_group_subscription_destination_arn": destination });
    config(logging(with(destination, more)))
}

#[test]
fn the_arn_of_a_key_needs_no_look_up_and_an_alias_is_what_kms_says() {
    let with_key = |key: &str| config(logging(json!({ "access_log_logservice_group_kms_key_id": key })));
    let by_arn = with_key(KEY);
    assert_eq!(HttpGateway::lookups(&by_arn), []);
    assert_eq!(key_arn(&decide(&by_arn, &Facts::default()).0), Input::Known(Some(KEY.to_string())));

    let by_alias = with_key("alias/logs");
    assert_eq!(HttpGateway::lookups(&by_alias), [Lookup::KmsKey("alias/logs".to_string())]);
    let facts = |found: Option<Found<String>>| Facts { kms_key: found, ..Facts::default() };
    let (objects, missing) = decide(&by_alias, &facts(Some(Found::There(KEY.to_string()))));
    assert_eq!((key_arn(&objects), missing), (Input::Known(Some(KEY.to_string())), vec![]));

    let (objects, missing) = decide(&by_alias, &facts(Some(Found::Missing)));
    assert_eq!(key_arn(&objects), Input::Unknown, "this same run may make it");
    assert_eq!(missing[0].path.to_string(), "access_log_logservice_group_kms_key_id");
    let (objects, missing) = decide(&by_alias, &facts(None));
    assert_eq!((key_arn(&objects), missing), (Input::Unknown, vec![]), "nobody could look");
    assert_eq!(key_arn(&decide(&config(logging(json!({}))), &Facts::default()).0), Input::Known(None));
}

#[test]
fn a_function_is_permitted_before_the_filter_and_a_stream_needs_no_permission() {
    let objects = decide(&subscribed(USERS, json!({})), &Facts::default()).0;
    let permission = key_at(&objects, "subscription_permission").expect("a permission is made");
    assert_eq!(subscription(&objects).permission, Some(permission));
    let objects = decide(&subscribed(STREAM, json!({})), &Facts::default()).0;
    assert_eq!((key_at(&objects, "subscription_permission"), subscription(&objects).permission), (None, None));
}

#[test]
fn a_stream_without_a_distribution_gets_the_one_that_aws_takes_and_shows() {
    let distribution = |destination: &str, given: Option<&str>| {
        let given = json!({ "access_log_logservice_group_subscription_distribution": given });
        subscription(&decide(&subscribed(destination, given), &Facts::default()).0).distribution
    };
    assert_eq!(distribution(STREAM, None), Input::Known(Some("ByLogStream".to_string())));
    assert_eq!(distribution(STREAM, Some("Random")), Input::Known(Some("Random".to_string())));
    assert_eq!(distribution(USERS, None), Input::Known(None));
    assert_eq!(
        distribution(&STREAM.replace("kinesis", "firehose").replace("stream/", "deliverystream/"), None),
        Input::Known(None)
    );
}

#[test]
fn a_subscription_moves_in_place_and_the_old_permission_goes_last() {
    let order = |from: &str, to: &str| -> Vec<(String, Vec<String>)> {
        let entry = |object: Object| Entry::new(object.key.clone(), format!("id-{}", object.key), object.spec);
        let before = decide(&subscribed(from, json!({})), &Facts::default()).0;
        let existing = Inventory { entries: before.into_iter().map(entry).collect() };
        let plan = crate::reconcile::plan(&existing, &decide(&subscribed(to, json!({})), &Facts::default()).0).unwrap();
        let told = |position: usize| {
            let action = &plan.ops[position].action;
            format!("{} {}", action.doing(), action.key().slot)
        };
        let waits = |position: usize| plan.ops[position].depends_on.iter().map(|it| told(*it)).collect();
        (0..plan.ops.len()).map(|position| (told(position), waits(position))).collect()
    };
    let (create, update, delete) =
        ("Creating subscription_permission", "Updating log_subscription", "Deleting subscription_permission");
    let owned = |op: &str, waits: &[&str]| (op.to_string(), waits.iter().map(|it| it.to_string()).collect::<Vec<_>>());
    assert_eq!(order(USERS, STREAM), [owned(update, &[]), owned(delete, &[update])]);
    let exchanged = order(USERS, ORDERS);
    assert!(exchanged.contains(&owned(create, &[])), "{exchanged:?}");
    assert!(exchanged.contains(&owned(update, &[create])), "{exchanged:?}");
    let (_, waits) = exchanged.iter().find(|(op, _)| op == delete).expect("the old one goes");
    assert!(waits.contains(&update.to_string()), "{exchanged:?}");
}

#[test]
fn a_destination_of_another_region_account_or_partition_is_refused() {
    for destination in [
        "arn:aws:lambda:us-east-1:123456789012:function:far",
        "arn:aws-cn:kinesis:eu-central-1:123456789012:stream/far",
        "arn:aws:lambda:eu-central-1:210987654321:function:theirs",
    ] {
        let config = subscribed(destination, json!({}));
        let facts = Facts::default();
        let problems = HttpGateway::blueprint(&context(&config, &Inventory::default(), &scope(), &facts)).unwrap_err();
        let place = "access_log_logservice_group_subscription_destination_arn";
        assert!(problems.iter().any(|it| it.path.to_string() == place), "{problems:?}");
    }
}

#[test]
fn an_unknown_destination_leaves_the_objects_undecided() {
    let config = subscribed(UNKNOWN, json!({}));
    let blueprint = HttpGateway::blueprint(&context(&config, &Inventory::default(), &scope(), &Facts::default()));
    assert_eq!(blueprint, Ok(Blueprint::Undecided));
}
