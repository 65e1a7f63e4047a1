//! Subscription filters of log groups, which forward events to a function or stream.

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

/// The name of our filter. A group has at most one of ours, so the name need not tell it from another one of ours, only
/// from those of others. As it is the same on every group, our filter is found by it on a group that is imported, and
/// written again under it after a lost answer or by a destination that changes: AWS replaces a filter of that name as a
/// whole, so that nothing is forwarded twice and no event is missed.
const NAME: &str = "fgw-access-logs";

/// How long AWS may say that nothing can be delivered yet: it sends a test message when a filter is written, and a
/// permission, role or stream that is new takes its time. A mistake is refused with the same words, so it costs this
/// too.
const DELIVERABLE: Duration = Duration::from_secs(5 * 60);

/// Looks for our filter of a log group. `None` where it does not exist, or the group does not.
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

/// What AWS shows of a filter. The permission that it needs is not among it.
pub(crate) fn read(shown: &Shown, log_group: Key, key: Key, permission: Option<Key>) -> Option<Observed> {
    let destination = shown.destination_arn.clone()?;
    // AWS shows a distribution for every destination, and only a Kinesis stream has shards to distribute to.
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

/// Makes the filter. One of its name on our own group was left by a run that was cut off, and is replaced.
pub(crate) async fn create(operation: &Operation<'_>, spec: &LogSubscription) -> Result<(), Failure> {
    let group = operation.id(&spec.log_group)?;
    put(operation, group, spec).await?;
    operation.record_id(&id(group));
    Ok(())
}

/// Replaces the filter in place, also its destination: what is not sent is no longer set, such as the role of a stream
/// that a function takes the place of.
pub(crate) async fn update(
    operation: &Operation<'_>,
    _: &str,
    _: Option<&LogSubscription>,
    to: &LogSubscription,
) -> Result<(), Failure> {
    put(operation, operation.id(&to.log_group)?, to).await
}

/// Deletes the filter. Those of others stay.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let Some((group, name)) = entry.id.rsplit_once('|') else {
        let message = format!("{} is no id of a subscription filter; this is a bug in the provider", entry.id);
        return Err(Failure::new(Cause::Other, "DeleteSubscriptionFilter", message));
    };
    let session = operation.session;
    let _turn = group::lock(session, group).await;
    let change = Mutation {
        action: "DeleteSubscriptionFilter",
        deadlines: &operation.work.deadlines,
        is_busy: codes::is_group_busy,
        unknown_until: None,
        search: Search::TWO_LOOKS,
    };
    let delete = || session.logs.delete_subscription_filter().log_group_name(group).filter_name(name).send();
    let is_there = || async { Ok(find(session, group).await?.is_some()) };
    match change.delete(delete, is_there).await {
        Err(failure) if failure.cause != Cause::NotFound => Err(failure),
        _ => Ok(()),
    }
}

/// The id of our filter: `<log group>|fgw-access-logs`, since its name alone is the same on every group. No group has a
/// bar in its name.
fn id(group: &str) -> String {
    format!("{group}|{NAME}")
}

async fn put(operation: &Operation<'_>, group: &str, spec: &LogSubscription) -> Result<(), Failure> {
    let session = operation.session;
    let (destination, pattern) = (operation.known(&spec.destination_arn)?, operation.known(&spec.filter_pattern)?);
    let role = operation.known(&spec.role_arn)?;
    let distribution = operation.known(&spec.distribution)?.as_deref().map(Distribution::from);
    let _turn = group::lock(session, group).await;
    let deadlines = operation.deadlines(DELIVERABLE);
    let unknown_until = operation.unknown_until(group);
    let change = Mutation {
        action: "PutSubscriptionFilter",
        deadlines: &deadlines,
        is_busy: is_not_ready,
        unknown_until,
        search: Search::TWO_LOOKS,
    };
    let put = || async {
        let request = session.logs.put_subscription_filter().log_group_name(group).filter_name(NAME);
        let request = request.filter_pattern(pattern).destination_arn(destination).set_role_arn(role.clone());
        let request = request.set_distribution(distribution.clone()).customize();
        request.config_override(session.within_quota_logs()).send().await.map(|_| ())
    };
    let find_equal = || async {
        let there = find(session, group).await?;
        let there =
            there.and_then(|it| read(&it, spec.log_group.clone(), operation.key.clone(), spec.permission.clone()));
        Ok(there.filter(|it| it.spec == Spec::LogSubscription(spec.clone())).map(|_| ()))
    };
    change.create(put, Ok, find_equal).await.map_err(|failure| match codes::is_quota(&failure) {
        true => too_many(failure, group),
        false => failure,
    })
}

/// Whether what the filter needs may only be new, or another change of the group is at work.
fn is_not_ready(failure: &Failure) -> bool {
    let is_new = codes::is_undeliverable(failure);
    if is_new {
        // Minutes may pass, and Terraform shows nothing of them.
        tracing::info!("{failure}; trying again for up to {} minutes", DELIVERABLE.as_secs() / 60);
    }
    is_new || codes::is_group_busy(failure)
}

fn too_many(failure: Failure, group: &str) -> Failure {
    let message = format!(
        "log group {group} has as many subscription filters as AWS allows, which is two, and none of them is ours. See \
         which ones (aws logs describe-subscription-filters --log-group-name {group}), remove one (aws logs \
         delete-subscription-filter --log-group-name {group} --filter-name NAME) and apply again: {}",
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

    async fn created(session: &Session, spec: &LogSubscription) -> (Result<(), Failure>, Vec<String>) {
        let ids = [(group_key(), GROUP)];
        let (answer, told) = run(session, &key(), &ids, async |it| create(it, spec).await).await;
        (answer, told.ids)
    }

    #[tokio::test(start_paused = true)]
    async fn a_function_gets_events_without_role_and_distribution() {
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
    async fn a_subscription_moves_between_function_and_stream_in_place_and_role_and_distribution_come_and_go() {
        let aws = Recorded::default().on("PutSubscriptionFilter", ok());
        let session = aws.session("r");
        let ids = [(group_key(), GROUP)];
        for (from, to) in [(to_function(), to_stream()), (to_stream(), to_function())] {
            run(&session, &key(), &ids, async |it| update(it, "", Some(&from), &to).await).await.0.unwrap();
        }
        let bodies: Vec<Value> = aws.asked().into_iter().map(|asked| asked.body).collect();
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
    async fn a_destination_that_is_not_ready_is_tried_again_and_a_mistake_is_told_in_awss_words() {
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
        assert_eq!(aws.calls().len(), 1, "what time does not mend is not waited for");
    }

    #[tokio::test(start_paused = true)]
    async fn a_third_filter_is_refused_at_once_and_a_throttle_is_not() {
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
    async fn a_filter_is_ours_although_no_answer_to_writing_it_ever_came() {
        let found = |destination: &str| {
            let filter = json!({ "filterName": NAME, "destinationArn": destination, "filterPattern": "" });
            Answer::Json(200, json!({ "subscriptionFilters": [filter] }))
        };
        for (there, is_made) in [(FUNCTION, true), ("arn:aws:lambda:r:123456789012:function:other", false)] {
            let aws = Recorded::default()
                .on("PutSubscriptionFilter", Answer::Lost)
                .on("DescribeSubscriptionFilters", found(there));
            let (answer, ids) = created(&aws.session("r"), &to_function()).await;
            assert_eq!((answer.is_ok(), ids.len()), (is_made, usize::from(is_made)), "{answer:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_lost_answer_is_asked_for_again_as_the_filter_has_one_name() {
        let aws = Recorded::default().on("PutSubscriptionFilter", Answer::Lost).on("PutSubscriptionFilter", ok());
        let (answer, ids) = created(&aws.session_with_retries("r"), &to_function()).await;
        assert_eq!((answer, ids.len()), (Ok(()), 1));
        let asked = aws.asked();
        assert_eq!(asked[0].body, asked[1].body);
    }

    #[tokio::test(start_paused = true)]
    async fn our_filter_is_found_by_its_exact_name_on_any_page_and_foreign_ones_are_not() {
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
        assert_eq!(aws.asked()[1].body["nextToken"], "n");

        let others =
            Recorded::default().on("DescribeSubscriptionFilters", page(json!([filter("fgw-access-logs-2")]), None));
        assert_eq!(find(&others.session("r"), GROUP).await, Ok(None));
        let gone =
            Recorded::default().on("DescribeSubscriptionFilters", refusal("ResourceNotFoundException", "no group"));
        assert_eq!(find(&gone.session("r"), GROUP).await, Ok(None));
        let denied = Recorded::default().on("DescribeSubscriptionFilters", refusal("AccessDeniedException", "not you"));
        assert!(find(&denied.session("r"), GROUP).await.is_err());
    }

    #[test]
    fn a_stream_shows_its_distribution_and_a_delivery_stream_has_none() {
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
    async fn a_filter_is_deleted_by_name_and_one_that_is_gone_counts_as_deleted() {
        let entry = Entry::new(key(), id(GROUP), Spec::LogSubscription(to_function()));
        let gone = refusal("ResourceNotFoundException", "The specified subscription filter does not exist.");
        for answer in [ok(), gone] {
            let aws = Recorded::default().on("DeleteSubscriptionFilter", answer);
            run(&aws.session("r"), &key(), &[], async |it| delete(it, &entry).await).await.0.unwrap();
            assert_eq!(aws.body("DeleteSubscriptionFilter"), json!({ "logGroupName": GROUP, "filterName": NAME }));
        }
        let aws = Recorded::default().on("DeleteSubscriptionFilter", refusal("AccessDeniedException", "not you"));
        assert!(run(&aws.session("r"), &key(), &[], async |it| delete(it, &entry).await).await.0.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn calls_on_one_group_never_overlap_whoever_makes_them() {
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
            aws.asked().into_iter().map(|asked| (asked.times.0, asked.times.1.expect("it was answered"))).collect();
        assert_eq!(times.len(), calls.len());
        assert!(times.windows(2).all(|pair| pair[0].1 <= pair[1].0), "two calls on one group overlap");
    }
}
