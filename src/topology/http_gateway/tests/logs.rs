//! Access logs in the blueprint: the KMS key of the log group and the subscription.

use super::*;
use crate::model::{Found, LogGroup, LogSubscription, Lookup};

const KEY: &str = "arn:aws:kms:eu-central-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab";
const STREAM: &str = "arn:aws:kinesis:eu-central-1:123456789012:stream/sink";
const ROLE: &str = "arn:aws:iam::123456789012:role/logs";

/// The attributes of a gateway with access logs.
pub(super) fn logging(more: serde_json::Value) -> serde_json::Value {
    with(json!({ "access_log_logservice_group_name": "/http/shop" }), more)
}

/// Valid KMS keys and subscriptions, as attributes in addition to the group's name.
pub(super) fn some_logs() -> impl Strategy<Value = serde_json::Value> {
    let key = prop::option::of(prop::sample::select(vec![KEY, "alias/logs", "1234abcd-12ab-34cd-56ef-1234567890ab"]));
    let delivery = "arn:aws:firehose:eu-central-1:123456789012:deliverystream/sink";
    let destination = prop::option::of(prop::sample::select(vec![ORDERS, USERS, STREAM, delivery]));
    let distribution = prop::option::of(prop::sample::select(vec!["Random", "ByLogStream"]));
    (key, destination, distribution, "[5]{0,2}").prop_map(|(key, destination, distribution, pattern)| {
        let mut logs = json!({ "access_log_logservice_group_kms_key_id": key });
        if let Some(destination) = destination {
            let of_subscription = json!({
                "access_log_logservice_group_subscription_destination_arn": destination,
                "access_log_logservice_group_subscription_filter_pattern": pattern,
                "access_log_logservice_group_subscription_role_arn": ROLE,
                // Without effect for the other destinations, as the role is for a function.
                "access_log_logservice_group_subscription_distribution": distribution,
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
    let group = objects.iter().find_map(|it| LogGroup::of(&it.spec));
    group.expect("there is a log group").kms_key_arn.clone()
}

fn subscription(objects: &[Object]) -> crate::model::LogSubscription {
    let found = objects.iter().find_map(|it| LogSubscription::of(&it.spec).cloned());
    found.expect("there is a subscription")
}

fn subscribed(destination: &str, more: serde_json::Value) -> GatewayConfig {
    let destination = json!({ "access_log_logservice_group_subscription_destination_arn": destination });
    config(logging(with(destination, more)))
}

#[test]
fn only_kms_key_ids_and_aliases_are_looked_up() {
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
    assert_eq!(key_arn(&objects), Input::Unknown, "the same run may create it");
    assert_eq!(missing[0].path.to_string(), "access_log_logservice_group_kms_key_id");
    let (objects, missing) = decide(&by_alias, &facts(None));
    assert_eq!((key_arn(&objects), missing), (Input::Unknown, vec![]), "the lookup was not possible");
    assert_eq!(key_arn(&decide(&config(logging(json!({}))), &Facts::default()).0), Input::Known(None));
}

#[test]
fn only_function_destinations_need_a_permission() {
    let objects = decide(&subscribed(USERS, json!({})), &Facts::default()).0;
    let permission = key_at(&objects, "subscription_permission").expect("a permission is created");
    assert_eq!(subscription(&objects).permission, Some(permission));
    let objects = decide(&subscribed(STREAM, json!({})), &Facts::default()).0;
    assert_eq!((key_at(&objects, "subscription_permission"), subscription(&objects).permission), (None, None));
}

#[test]
fn kinesis_distribution_defaults_to_by_log_stream() {
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
fn role_and_distribution_without_effect_are_not_sent() {
    let both = json!({
        "access_log_logservice_group_subscription_role_arn": ROLE,
        "access_log_logservice_group_subscription_distribution": "Random",
    });
    let sent = |destination: &str| {
        let sent = subscription(&decide(&subscribed(destination, both.clone()), &Facts::default()).0);
        (sent.role_arn, sent.distribution)
    };
    let given = |text: &str| Input::Known(Some(text.to_string()));
    assert_eq!(sent(USERS), (Input::Known(None), Input::Known(None)));
    assert_eq!(sent(STREAM), (given(ROLE), given("Random")));
    let delivery = STREAM.replace("kinesis", "firehose").replace("stream/", "deliverystream/");
    assert_eq!(sent(&delivery), (given(ROLE), Input::Known(None)));
}

#[test]
fn a_retention_of_0_days_means_that_events_never_expire() {
    let retention = |days: serde_json::Value| {
        let config = config(logging(json!({ "access_log_logservice_group_retention_in_days": days })));
        let groups = decide(&config, &Facts::default()).0.into_iter();
        let mut periods = groups.filter_map(|it| match it.spec {
            Spec::LogGroup(group) => Some(group.retention_in_days),
            _ => None,
        });
        periods.next().expect("there is a log group")
    };
    assert_eq!(retention(json!(0)), Input::Known(None));
    assert_eq!(retention(json!(0)), retention(json!(null)));
    assert_eq!(retention(json!(1)), Input::Known(Some(1)));
}

#[test]
fn a_key_is_not_looked_up_while_access_logs_are_off() {
    let key = json!({ "access_log_logservice_group_kms_key_id": "alias/logs" });
    assert_eq!(HttpGateway::lookups(&config(key.clone())), []);
    let unknown = with(json!({ "access_log_logservice_group_name": UNKNOWN }), key);
    assert_eq!(HttpGateway::lookups(&config(unknown)), [Lookup::KmsKey("alias/logs".to_string())]);
}

#[test]
fn old_permission_is_deleted_after_the_subscription_update() {
    let order = |from: &str, to: &str| -> Vec<(String, Vec<String>)> {
        let entry = |object: Object| Entry::new(object.key.clone(), format!("id-{}", object.key), object.spec);
        let before = decide(&subscribed(from, json!({})), &Facts::default()).0;
        let existing = Inventory { entries: before.into_iter().map(entry).collect() };
        let plan = crate::reconcile::plan(&existing, &decide(&subscribed(to, json!({})), &Facts::default()).0).unwrap();
        let text = |position: usize| {
            let action = &plan.ops[position].action;
            format!("{} {}", action.doing(), action.key().slot)
        };
        let dependencies = |position: usize| plan.ops[position].depends_on.iter().map(|it| text(*it)).collect();
        (0..plan.ops.len()).map(|position| (text(position), dependencies(position))).collect()
    };
    let (create, update, delete) =
        ("creating subscription_permission", "updating log_subscription", "deleting subscription_permission");
    let owned = |op: &str, after: &[&str]| (op.to_string(), after.iter().map(|it| it.to_string()).collect::<Vec<_>>());
    assert_eq!(order(USERS, STREAM), [owned(update, &[]), owned(delete, &[update])]);
    let replaced = order(USERS, ORDERS);
    assert!(replaced.contains(&owned(create, &[])), "{replaced:?}");
    assert!(replaced.contains(&owned(update, &[create])), "{replaced:?}");
    let (_, after) = replaced.iter().find(|(op, _)| op == delete).expect("the old permission is deleted");
    assert!(after.contains(&update.to_string()), "{replaced:?}");
}

#[test]
fn unknown_destination_leaves_objects_undecided() {
    let config = subscribed(UNKNOWN, json!({}));
    let blueprint = HttpGateway::blueprint(&context(&config, &Inventory::default(), &scope(), &Facts::default()));
    assert_eq!(blueprint, Ok(Blueprint::Undecided));
}
