//! Subscription filters of log groups, which forward log events to a function or a stream.

use std::time::Duration;

use aws_sdk_cloudwatchlogs::types::{Distribution, SubscriptionFilter as Shown};

use crate::aws::Session;
use crate::aws::calls::codes;
use crate::aws::calls::non_idempotent::{Mutation, Search};
use crate::aws::calls::{AwsError, Operation};
use crate::aws::logs::group;
use crate::cloud::{Cause, Failure, Observed};
use crate::model::Destination;
use crate::model::Input;
use crate::model::{Entry, Key, Learned, LogSubscription, Spec};

/// The name of the filter that this provider creates, of which a log group has at most one. The constant name
/// identifies the filter in an import and after a lost answer. PutSubscriptionFilter replaces the whole filter with
/// this name, so that a change of the destination neither duplicates nor loses events.
const NAME: &str = "fgw-access-logs";

/// How long AWS may reject a filter as undeliverable. PutSubscriptionFilter sends a test message, which may fail while
/// a permission, role or stream is new. A misconfiguration is rejected with the same message, so it is reported only
/// after this time.
const DELIVERABLE: Duration = Duration::from_secs(5 * 60);

/// Finds the filter of this provider in a log group. `None` if the filter or the group does not exist.
pub(crate) async fn find(session: &Session, group: &str) -> Result<Option<Shown>, Failure> {
    let mut token = None;
    loop {
        let request = session.logs.describe_subscription_filters().log_group_name(group).filter_name_prefix(NAME);
        let page = match request.set_next_token(token).send().await {
            Ok(page) => page,
            Err(error) => match error.failure("DescribeSubscriptionFilters") {
                failure if failure.cause == Cause::NotFound => return Ok(None),
                failure => return Err(failure),
            },
        };
        let mut filters = page.subscription_filters.unwrap_or_default().into_iter();
        if let Some(filter) = filters.find(|filter| filter.filter_name.as_deref() == Some(NAME)) {
            return Ok(Some(filter));
        }
        match page.next_token.filter(|token| !token.is_empty()) {
            Some(next) => token = Some(next),
            None => return Ok(None),
        }
    }
}

/// Converts a filter that AWS returned to an observation. AWS does not return the permission of the filter.
pub(crate) fn read(shown: &Shown, log_group: Key, key: Key, permission: Option<Key>) -> Option<Observed> {
    let destination = shown.destination_arn.clone()?;
    // AWS returns a distribution for every destination, but it has an effect only on the shards of a Kinesis stream.
    let distribution = match Destination::parse(&destination) {
        Ok(Destination::KinesisStream) => {
            Some(shown.distribution.as_ref().map_or("ByLogStream", Distribution::as_str).to_string())
        }
        _ => None,
    };
    let spec = LogSubscription {
        destination_arn: Input::Known(destination),
        filter_pattern: Input::Known(shown.filter_pattern.clone().unwrap_or_default()),
        role_arn: Input::Known(shown.role_arn.clone().filter(|role| !role.is_empty())),
        distribution: Input::Known(distribution),
        permission,
        log_group,
    };
    let id = id(spec.log_group.fixed.known()?);
    Some(Observed { id, key, spec: Spec::LogSubscription(spec), learned: Learned::new() })
}

/// Creates the filter, or adopts an equal one that is not in state: an interrupted run may have created it. Another
/// filter with its name is an error, because PutSubscriptionFilter would replace it.
pub(crate) async fn create(operation: &Operation<'_>, spec: &LogSubscription) -> Result<(), Failure> {
    let group = operation.id(&spec.log_group)?;
    // A group that this process created contains no filter of an interrupted run.
    let existing = match operation.session.process.created.contains(group) {
        true => None,
        false => find(operation.session, group).await?,
    };
    match existing {
        Some(existing) if equals(operation, &existing, spec) => {}
        Some(existing) => return Err(unmanaged(group, &existing)),
        None => put(operation, group, spec).await?,
    }
    operation.record_id(&id(group));
    Ok(())
}

/// Replaces the filter in place, including its destination. Omitted fields are cleared, such as the role after a change
/// from a stream to a function.
pub(crate) async fn update(
    operation: &Operation<'_>,
    _: &str,
    _: Option<&LogSubscription>,
    to: &LogSubscription,
) -> Result<(), Failure> {
    put(operation, operation.id(&to.log_group)?, to).await
}

/// Deletes the filter. Unmanaged filters remain.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let Some((group, name)) = entry.id.rsplit_once('|') else {
        let message = format!("{} is not the ID of a subscription filter; this is a bug in the provider", entry.id);
        return Err(Failure::new(Cause::Other, "DeleteSubscriptionFilter", message));
    };
    let session = operation.session;
    let _lock = group::lock(session, group).await;
    let change = Mutation {
        action: "DeleteSubscriptionFilter",
        deadlines: &operation.work.deadlines,
        is_busy: codes::is_group_busy,
        unknown_until: None,
        search: Search::TWO_POLLS,
        parent: None,
    };
    let delete = || session.logs.delete_subscription_filter().log_group_name(group).filter_name(name).send();
    let exists = || async { Ok(find(session, group).await?.is_some()) };
    match change.delete(delete, exists).await {
        Err(failure) if failure.cause != Cause::NotFound => Err(failure),
        _ => Ok(()),
    }
}

/// The ID of the filter: `<log group>|fgw-access-logs`. The name of a log group cannot contain a vertical bar.
fn id(group: &str) -> String {
    format!("{group}|{NAME}")
}

async fn put(operation: &Operation<'_>, group: &str, spec: &LogSubscription) -> Result<(), Failure> {
    let session = operation.session;
    let (destination, pattern) = (operation.known(&spec.destination_arn)?, operation.known(&spec.filter_pattern)?);
    let role = operation.known(&spec.role_arn)?;
    let distribution = operation.known(&spec.distribution)?.as_deref().map(Distribution::from);
    let _lock = group::lock(session, group).await;
    let deadlines = operation.deadlines(DELIVERABLE);
    let unknown_until = operation.unknown_until(group);
    let change = Mutation {
        action: "PutSubscriptionFilter",
        deadlines: &deadlines,
        is_busy: is_not_ready,
        unknown_until,
        search: Search::TWO_POLLS,
        parent: None,
    };
    let put = || async {
        let request = session.logs.put_subscription_filter().log_group_name(group).filter_name(NAME);
        let request = request.filter_pattern(pattern).destination_arn(destination).set_role_arn(role.clone());
        let request = request.set_distribution(distribution.clone()).customize();
        request.config_override(session.within_quota_logs()).send().await.map(|_| ())
    };
    let find_equal = || async { Ok(find(session, group).await?.filter(|it| equals(operation, it, spec)).map(|_| ())) };
    change.create(put, Ok, find_equal).await.map_err(|failure| match codes::is_quota(&failure) {
        true => too_many(failure, group),
        false => failure,
    })
}

/// Whether a filter has these inputs.
fn equals(operation: &Operation<'_>, shown: &Shown, spec: &LogSubscription) -> bool {
    let found = read(shown, spec.log_group.clone(), operation.key.clone(), spec.permission.clone());
    found.is_some_and(|it| it.spec == Spec::LogSubscription(spec.clone()))
}

fn unmanaged(group: &str, existing: &Shown) -> Failure {
    let destination = existing.destination_arn.as_deref().unwrap_or("an unknown destination");
    Failure::new(
        Cause::Exists,
        "PutSubscriptionFilter",
        format!(
            "log group {group} already has a subscription filter {NAME} to {destination}, which is not managed by this \
             resource, so it was not changed. A killed run or someone else may have created it. Delete it (aws logs \
             delete-subscription-filter --log-group-name {group} --filter-name {NAME}), then apply again."
        ),
    )
}

/// Whether the destination or its permission may be too new, or another change of the group is in progress.
fn is_not_ready(failure: &Failure) -> bool {
    let is_new = codes::is_undeliverable(failure);
    if is_new {
        // This may take minutes, during which Terraform shows no other message.
        tracing::info!("{failure}; retrying for up to {} minutes", DELIVERABLE.as_secs() / 60);
    }
    is_new || codes::is_group_busy(failure)
}

fn too_many(failure: Failure, group: &str) -> Failure {
    let message = format!(
        "log group {group} already has two subscription filters, the maximum that AWS allows, and neither is managed \
         by this resource. List them (aws logs describe-subscription-filters --log-group-name {group}), delete one \
         (aws logs delete-subscription-filter --log-group-name {group} --filter-name NAME), then apply again: {}",
        failure.message
    );
    Failure { message, ..failure }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::time::Instant;

    use super::*;
    use crate::aws::recorded::{Answer, Recorded, run};

    const GROUP: &str = "/http/shop";
    const FUNCTION: &str = "arn:aws:lambda:r:123456789012:function:sink";
    const STREAM: &str = "arn:aws:kinesis:r:123456789012:stream/sink";
    const ROLE: &str = "arn:aws:iam::123456789012:role/logs";

    fn group_key() -> Key {
        Key::fixed("log_group", Input::Known(GROUP.into()))
    }

    fn key() -> Key {
        Key::fixed("log_subscription", Input::Known(GROUP.into()))
    }

    fn to_function() -> LogSubscription {
        LogSubscription {
            log_group: group_key(),
            destination_arn: Input::Known(FUNCTION.into()),
            filter_pattern: Input::Known(String::new()),
            role_arn: Input::Known(None),
            distribution: Input::Known(None),
            permission: Some(Key::new("subscription_permission")),
        }
    }

    fn to_stream() -> LogSubscription {
        LogSubscription {
            destination_arn: Input::Known(STREAM.into()),
            filter_pattern: Input::Known("{ $.status >= 500 }".into()),
            role_arn: Input::Known(Some(ROLE.into())),
            distribution: Input::Known(Some("Random".into())),
            permission: None,
            ..to_function()
        }
    }

    fn ok() -> Answer {
        Answer::Json(200, json!({}))
    }

    fn refusal(code: &'static str, message: &'static str) -> Answer {
        Answer::Error(400, code, message)
    }

    /// Creates a filter in a group that this process has created.
    async fn created(session: &Session, spec: &LogSubscription) -> (Result<(), Failure>, Vec<String>) {
        session.process.created.add(GROUP);
        let ids = [(group_key(), GROUP)];
        let (answer, reported) = run(session, &key(), &ids, async |it| create(it, spec).await).await;
        (answer, reported.ids)
    }

    #[tokio::test(start_paused = true)]
    async fn filter_to_a_function_has_no_role_and_no_distribution() {
        let aws = Recorded::default().on("PutSubscriptionFilter", ok());
        let (answer, ids) = created(&aws.session("r"), &to_function()).await;
        assert_eq!((answer, ids), (Ok(()), vec!["/http/shop|fgw-access-logs".to_string()]));
        assert_eq!(
            aws.body("PutSubscriptionFilter"),
            json!({ "logGroupName": GROUP, "filterName": "fgw-access-logs", "filterPattern": "",
                "destinationArn": FUNCTION })
        );
    }

    #[tokio::test(start_paused = true)]
    async fn destination_changes_in_place_between_function_and_stream() {
        let aws = Recorded::default().on("PutSubscriptionFilter", ok());
        let session = aws.session("r");
        let ids = [(group_key(), GROUP)];
        for (from, to) in [(to_function(), to_stream()), (to_stream(), to_function())] {
            run(&session, &key(), &ids, async |it| update(it, "", Some(&from), &to).await).await.0.unwrap();
        }
        let bodies: Vec<Value> = aws.requests().into_iter().map(|it| it.body).collect();
        assert_eq!(
            bodies,
            [
                json!({ "logGroupName": GROUP, "filterName": NAME, "filterPattern": "{ $.status >= 500 }",
                    "destinationArn": STREAM, "roleArn": ROLE, "distribution": "Random" }),
                json!({ "logGroupName": GROUP, "filterName": NAME, "filterPattern": "", "destinationArn": FUNCTION }),
            ]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn undeliverable_destination_is_retried_until_a_time_limit() {
        for answer in [
            refusal("InvalidParameterException", "Could not execute the lambda function. Make sure you have given"),
            refusal("InvalidParameterException", "Could not deliver test message to specified Kinesis stream."),
            refusal("OperationAbortedException", "A conflicting operation is in progress. Please try again."),
            refusal(
                "ValidationException",
                "Make sure you have given CloudWatch Logs permission to assume the provided role",
            ),
        ] {
            let aws = Recorded::default().on("PutSubscriptionFilter", answer.clone()).on("PutSubscriptionFilter", ok());
            let (result, ids) = created(&aws.session("r"), &to_stream()).await;
            assert_eq!((result, ids.len(), aws.calls().len()), (Ok(()), 1, 2));
            let (aws, start) = (Recorded::default().on("PutSubscriptionFilter", answer.clone()), Instant::now());
            let (result, ids) = created(&aws.session("r"), &to_stream()).await;
            let Answer::Error(_, code, message) = answer else { panic!("{answer:?}") };
            let failure = result.unwrap_err();
            assert_eq!((failure.code.as_deref(), failure.message.as_str()), (Some(code), message));
            assert!(ids.is_empty() && aws.calls().len() > 2, "{:?}", aws.calls());
            assert_eq!(start.elapsed(), DELIVERABLE);
        }
        let aws = Recorded::default().on("PutSubscriptionFilter", refusal("InvalidParameterException", "Bad pattern"));
        assert!(created(&aws.session("r"), &to_stream()).await.0.is_err());
        assert_eq!(aws.calls().len(), 1, "a permanent error is not retried");
    }

    #[tokio::test(start_paused = true)]
    async fn third_filter_fails_at_once_and_a_throttled_call_is_retried() {
        let aws = Recorded::default()
            .on("PutSubscriptionFilter", refusal("LimitExceededException", "Resource limit exceeded."));
        let (answer, ids) = created(&aws.session_with_retries("r"), &to_function()).await;
        let failure = answer.unwrap_err();
        assert!(failure.message.contains("delete-subscription-filter --log-group-name /http/shop"), "{failure}");
        assert!(failure.message.ends_with("Resource limit exceeded."), "{failure}");
        assert_eq!((ids.len(), aws.calls().len()), (0, 1));

        let aws = Recorded::default()
            .on("PutSubscriptionFilter", refusal("ThrottlingException", "Rate exceeded"))
            .on("PutSubscriptionFilter", ok());
        created(&aws.session_with_retries("r"), &to_function()).await.0.unwrap();
        assert_eq!(aws.calls().len(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn lost_put_is_resolved_by_an_equal_filter() {
        let found = |destination: &str| {
            let filter = json!({ "filterName": NAME, "destinationArn": destination, "filterPattern": "" });
            Answer::Json(200, json!({ "subscriptionFilters": [filter] }))
        };
        for (existing, is_created) in [(FUNCTION, true), ("arn:aws:lambda:r:123456789012:function:other", false)] {
            let aws = Recorded::default()
                .on("PutSubscriptionFilter", Answer::Lost)
                .on("DescribeSubscriptionFilters", found(existing));
            let (answer, ids) = created(&aws.session("r"), &to_function()).await;
            assert_eq!((answer.is_ok(), ids.len()), (is_created, usize::from(is_created)), "{answer:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_existing_filter_is_adopted_only_if_it_is_equal() {
        let filters = |destinations: &[&str]| {
            let filter = |it: &&str| json!({ "filterName": NAME, "destinationArn": it, "filterPattern": "" });
            Answer::Json(200, json!({ "subscriptionFilters": destinations.iter().map(filter).collect::<Vec<_>>() }))
        };
        let other = "arn:aws:lambda:r:123456789012:function:other";
        for (existing, is_created, is_put) in
            [(&[FUNCTION][..], true, false), (&[other][..], false, false), (&[][..], true, true)]
        {
            let aws = Recorded::default()
                .on("DescribeSubscriptionFilters", filters(existing))
                .on("PutSubscriptionFilter", ok());
            let (session, ids) = (aws.session("r"), [(group_key(), GROUP)]);
            let (answer, reported) = run(&session, &key(), &ids, async |it| create(it, &to_function()).await).await;
            assert_eq!((answer.is_ok(), reported.ids.len()), (is_created, usize::from(is_created)), "{answer:?}");
            assert_eq!(aws.calls().contains(&"PutSubscriptionFilter".to_string()), is_put, "{existing:?}");
            if let Err(failure) = answer {
                assert_eq!(failure.cause, Cause::Exists);
                let command = "delete-subscription-filter --log-group-name /http/shop --filter-name fgw-access-logs";
                assert!(failure.message.contains(other) && failure.message.contains(command), "{failure}");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn put_is_sent_again_after_a_lost_answer() {
        let aws = Recorded::default().on("PutSubscriptionFilter", Answer::Lost).on("PutSubscriptionFilter", ok());
        let (answer, ids) = created(&aws.session_with_retries("r"), &to_function()).await;
        assert_eq!((answer, ids.len()), (Ok(()), 1));
        let requests = aws.requests();
        assert_eq!(requests[0].body, requests[1].body);
    }

    #[tokio::test(start_paused = true)]
    async fn filter_is_found_by_its_exact_name_across_pages() {
        let filter =
            |name: &str| json!({ "filterName": name, "destinationArn": FUNCTION, "distribution": "ByLogStream" });
        let page = |filters: Value, next: Option<&str>| {
            Answer::Json(200, json!({ "subscriptionFilters": filters, "nextToken": next }))
        };
        let aws = Recorded::default()
            .on("DescribeSubscriptionFilters", page(json!([filter("fgw-access-logs-2")]), Some("n")))
            .on("DescribeSubscriptionFilters", page(json!([filter(NAME)]), None));
        let shown = find(&aws.session("r"), GROUP).await.unwrap().expect("it is on the second page");
        let permission = Some(Key::new("subscription_permission"));
        let observed = read(&shown, group_key(), key(), permission).unwrap();
        assert_eq!(
            (observed.id.as_str(), observed.spec),
            ("/http/shop|fgw-access-logs", Spec::LogSubscription(to_function()))
        );
        assert_eq!(aws.requests()[1].body["nextToken"], "n");

        let others =
            Recorded::default().on("DescribeSubscriptionFilters", page(json!([filter("fgw-access-logs-2")]), None));
        assert_eq!(find(&others.session("r"), GROUP).await, Ok(None));
        let missing =
            Recorded::default().on("DescribeSubscriptionFilters", refusal("ResourceNotFoundException", "no group"));
        assert_eq!(find(&missing.session("r"), GROUP).await, Ok(None));
        let denied = Recorded::default().on("DescribeSubscriptionFilters", refusal("AccessDeniedException", "not you"));
        assert!(find(&denied.session("r"), GROUP).await.is_err());
    }

    /// Recorded: DescribeSubscriptionFilters. A filter of 2016 has neither a distribution nor
    /// `applyOnTransformedLogs`, and that of a function has no role. PutSubscriptionFilter has no body.
    #[tokio::test(start_paused = true)]
    async fn filters_are_read_with_and_without_optional_fields() {
        let filter = |destination: &str| {
            json!({ "creationTime": 1_770_407_566_000_i64, "destinationArn": destination, "filterName": NAME,
                "filterPattern": "", "logGroupName": GROUP })
        };
        let mut recent = filter(FUNCTION);
        recent["applyOnTransformedLogs"] = false.into();
        recent["distribution"] = "ByLogStream".into();
        let mut stream = filter(STREAM);
        stream["distribution"] = "Random".into();
        stream["filterPattern"] = "{ $.status >= 500 }".into();
        stream["roleArn"] = ROLE.into();
        for (shown, expected) in [(filter(FUNCTION), to_function()), (recent, to_function()), (stream, to_stream())] {
            let answer = Answer::Json(200, json!({ "subscriptionFilters": [shown] }));
            let aws = Recorded::default().on("DescribeSubscriptionFilters", answer);
            let shown = find(&aws.session("r"), GROUP).await.unwrap().expect("it exists");
            let observed = read(&shown, group_key(), key(), expected.permission.clone()).unwrap();
            assert_eq!(observed.spec, Spec::LogSubscription(expected));
        }
        let no_group = refusal("ResourceNotFoundException", "The specified log group does not exist.");
        for none in [Answer::Json(200, json!({ "subscriptionFilters": [] })), Answer::Json(200, json!({})), no_group] {
            let aws = Recorded::default().on("DescribeSubscriptionFilters", none);
            assert_eq!(find(&aws.session("r"), GROUP).await, Ok(None));
        }
        let aws = Recorded::default().on("PutSubscriptionFilter", Answer::Json(200, Value::Null));
        assert_eq!(created(&aws.session("r"), &to_function()).await.0, Ok(()));
    }

    #[test]
    fn only_a_kinesis_stream_has_a_distribution() {
        let shown = |destination: &str, distribution: Option<Distribution>| {
            let shown = Shown::builder().destination_arn(destination).role_arn(ROLE).set_distribution(distribution);
            let observed = read(&shown.build(), group_key(), key(), None).unwrap();
            let Spec::LogSubscription(spec) = observed.spec else { panic!("{observed:?}") };
            assert_eq!(spec.role_arn, Input::Known(Some(ROLE.to_string())));
            spec.distribution.known().cloned().flatten()
        };
        let delivery = "arn:aws:firehose:r:123456789012:deliverystream/sink";
        assert_eq!(shown(STREAM, Some(Distribution::Random)).as_deref(), Some("Random"));
        assert_eq!(shown(STREAM, None).as_deref(), Some("ByLogStream"));
        assert_eq!(shown(delivery, Some(Distribution::ByLogStream)), None);
    }

    #[tokio::test(start_paused = true)]
    async fn filter_is_deleted_by_name_and_missing_counts_as_deleted() {
        let entry = Entry::new(key(), id(GROUP), Spec::LogSubscription(to_function()));
        let missing = refusal("ResourceNotFoundException", "The specified subscription filter does not exist.");
        for answer in [ok(), missing] {
            let aws = Recorded::default().on("DeleteSubscriptionFilter", answer);
            run(&aws.session("r"), &key(), &[], async |it| delete(it, &entry).await).await.0.unwrap();
            assert_eq!(aws.body("DeleteSubscriptionFilter"), json!({ "logGroupName": GROUP, "filterName": NAME }));
        }
        let aws = Recorded::default().on("DeleteSubscriptionFilter", refusal("AccessDeniedException", "not you"));
        assert!(run(&aws.session("r"), &key(), &[], async |it| delete(it, &entry).await).await.0.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn calls_for_one_group_never_overlap() {
        let slow = Answer::After(Duration::from_millis(60), Box::new(ok()));
        let calls = ["PutSubscriptionFilter", "DescribeLogGroups", "DeleteLogGroup"];
        let aws = calls.iter().fold(Recorded::default(), |aws, call| aws.on(call, slow.clone()));
        let session = aws.session("overlap");
        let group = crate::model::LogGroup {
            api: Key::new("api"),
            name: Input::Known(GROUP.into()),
            retention_in_days: Input::Known(None),
            kms_key_arn: Input::Known(None),
            tags: Input::Known(Default::default()),
        };
        let entry = Entry::new(group_key(), GROUP, Spec::LogGroup(group));
        let (spec, key) = (to_function(), key());
        let (one, two) = tokio::join!(
            created(&session, &spec),
            run(&session, &key, &[], async |it| group::delete(it, &entry).await)
        );
        assert_eq!((one.0, two.0), (Ok(()), Ok(())));
        let times: Vec<(Instant, Instant)> =
            aws.requests().into_iter().map(|asked| (asked.times.0, asked.times.1.expect("it was answered"))).collect();
        assert_eq!(times.len(), calls.len());
        assert!(times.windows(2).all(|pair| pair[0].1 <= pair[1].0), "two calls for one group overlap");
    }
}
