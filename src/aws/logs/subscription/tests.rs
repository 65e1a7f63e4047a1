use serde_json::{Value, json};
use tokio::time::Instant;

use super::*;
use crate::aws::recorded::{Answer, Recorded, run};
use crate::model::LogGroup;

const GROUP: &str = "/http/shop";
/// The name of the filter of the API `api1`.
const NAME: &str = "fgw-access-logs-api1";
const ID: &str = "/http/shop|fgw-access-logs-api1";
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
        permission: Some(Key::new("subscription_permission")),
        ..LogSubscription::test()
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
    assert_eq!((answer, ids), (Ok(()), vec![ID.to_string()]));
    assert_eq!(
        aws.body("PutSubscriptionFilter"),
        json!({ "logGroupName": GROUP, "filterName": NAME, "filterPattern": "",
            "destinationArn": FUNCTION })
    );
}

#[tokio::test(start_paused = true)]
async fn destination_changes_in_place_between_function_and_stream() {
    let aws = Recorded::default().on("PutSubscriptionFilter", ok()).on("DescribeSubscriptionFilters", ok());
    let session = aws.session("r");
    let ids = [(group_key(), GROUP)];
    for (from, to) in [(to_function(), to_stream()), (to_stream(), to_function())] {
        run(&session, &key(), &ids, async |it| update(it, ID, &from, &to).await).await.0.unwrap();
    }
    let puts = aws.requests().into_iter().filter(|it| it.call == "PutSubscriptionFilter");
    assert_eq!(
        puts.map(|it| it.body).collect::<Vec<Value>>(),
        [
            json!({ "logGroupName": GROUP, "filterName": NAME, "filterPattern": "{ $.status >= 500 }",
                "destinationArn": STREAM, "roleArn": ROLE, "distribution": "Random" }),
            json!({ "logGroupName": GROUP, "filterName": NAME, "filterPattern": "", "destinationArn": FUNCTION }),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn an_update_keeps_the_fields_that_no_input_expresses() {
    let shown = json!({ "filterName": NAME, "destinationArn": FUNCTION, "filterPattern": "",
        "applyOnTransformedLogs": true, "emitSystemFields": ["@aws.region"],
        "fieldSelectionCriteria": "@aws.account = 1" });
    let aws = Recorded::default()
        .on("DescribeSubscriptionFilters", Answer::Json(200, json!({ "subscriptionFilters": [shown] })))
        .on("PutSubscriptionFilter", ok());
    let (session, ids) = (aws.session("r"), [(group_key(), GROUP)]);
    let other_permission = LogSubscription { permission: None, ..to_function() };
    for from in [&to_function(), &other_permission] {
        run(&session, &key(), &ids, async |it| update(it, ID, from, &to_function()).await).await.0.unwrap();
    }
    assert_eq!(aws.calls(), [""; 0], "each call sends a test message to the destination");
    let to = LogSubscription { filter_pattern: Input::Known("ERROR".into()), ..to_function() };
    run(&session, &key(), &ids, async |it| update(it, ID, &to_function(), &to).await).await.0.unwrap();
    assert_eq!(
        aws.body("PutSubscriptionFilter"),
        json!({ "logGroupName": GROUP, "filterName": NAME, "filterPattern": "ERROR", "destinationArn": FUNCTION,
            "applyOnTransformedLogs": true, "emitSystemFields": ["@aws.region"],
            "fieldSelectionCriteria": "@aws.account = 1" })
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
    let aws =
        Recorded::default().on("PutSubscriptionFilter", refusal("LimitExceededException", "Resource limit exceeded."));
    let (answer, ids) = created(&aws.session_with_retries("r"), &to_function()).await;
    let failure = answer.unwrap_err();
    assert!(failure.text().contains("delete-subscription-filter --log-group-name /http/shop"), "{failure}");
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
async fn a_filter_belongs_to_the_api_in_its_name() {
    let other = "arn:aws:lambda:r:123456789012:function:other";
    let arn = "arn:aws:logs:r:123456789012:log-group:/http/shop";
    let group = json!({ "logGroups": [{ "logGroupName": GROUP, "arn": format!("{arn}:*") }] });
    let (ours, theirs) = ("http_gateway/api1", "http_gateway/api2");
    for (existing, owner, name, is_put) in [
        // Of a run that was killed, also in a group that the gateway only uses.
        (Some((NAME, FUNCTION)), ours, Some(NAME), false),
        (Some((NAME, FUNCTION)), theirs, Some(NAME), false),
        (Some((NAME, other)), theirs, Some(NAME), true),
        // Of an adopted group.
        (Some(("mine", FUNCTION)), ours, Some("mine"), false),
        (Some(("mine", FUNCTION)), theirs, None, false),
        (Some(("mine", other)), theirs, Some(NAME), true),
        // Of another gateway that forwards the group.
        (Some(("fgw-access-logs-api2", FUNCTION)), ours, Some(NAME), true),
        (Some(("fgw-access-logs-api2", FUNCTION)), theirs, Some(NAME), true),
        (None, theirs, Some(NAME), true),
    ] {
        let filters =
            existing.map(|(name, to)| json!({ "filterName": name, "destinationArn": to, "filterPattern": "" }));
        let filters = json!({ "subscriptionFilters": filters.into_iter().collect::<Vec<_>>() });
        let aws = Recorded::default()
            .on("DescribeSubscriptionFilters", Answer::Json(200, filters))
            .on("DescribeLogGroups", Answer::Json(200, group.clone()))
            .on("ListTagsForResource", Answer::Json(200, json!({ "tags": { "fgw:resource": owner } })))
            .on("PutSubscriptionFilter", ok());
        let (session, ids) = (aws.session("r"), [(group_key(), GROUP)]);
        let (answer, reported) = run(&session, &key(), &ids, async |it| create(it, &to_function()).await).await;
        let recorded: Vec<String> = name.iter().map(|name| format!("{GROUP}|{name}")).collect();
        assert_eq!((answer.is_ok(), reported.ids), (name.is_some(), recorded), "{existing:?} {owner}: {answer:?}");
        let puts = aws.requests().into_iter().filter(|it| it.call == "PutSubscriptionFilter");
        let puts: Vec<Value> = puts.map(|it| it.body["filterName"].clone()).collect();
        assert_eq!(puts, if is_put { vec![json!(NAME)] } else { vec![] }, "{existing:?} {owner}");
        if let Err(failure) = answer {
            assert_eq!(failure.cause, Cause::Exists);
            let command = "delete-subscription-filter --log-group-name /http/shop --filter-name mine";
            assert!(failure.message.contains(FUNCTION) && failure.text().contains(command), "{failure}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn filters_that_are_not_in_state_are_unmanaged() {
    let filter = |name: &str| json!({ "filterName": name, "destinationArn": STREAM });
    let filters = json!({ "subscriptionFilters": [filter(NAME), filter("theirs")] });
    let aws = Recorded::default().on("DescribeSubscriptionFilters", Answer::Json(200, filters));
    let known = [Entry::new(key(), ID, Spec::LogSubscription(to_function()))];
    let found = unmanaged_in(&aws.session("r"), [GROUP].into_iter(), &known).await;
    let found: Vec<Dependent> = found.into_iter().flat_map(Result::unwrap).collect();
    let [theirs] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((theirs.id.as_str(), theirs.further.contains(STREAM)), ("theirs", true), "{theirs:?}");
    let missing = refusal("ResourceNotFoundException", "The specified log group does not exist.");
    let aws = Recorded::default().on("DescribeSubscriptionFilters", missing);
    assert_eq!(unmanaged_in(&aws.session("r"), [GROUP].into_iter(), &known).await, [Ok(vec![])]);
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
    let filter = |name: &str| json!({ "filterName": name, "destinationArn": FUNCTION, "distribution": "ByLogStream" });
    let page = |filters: Value, next: Option<&str>| {
        Answer::Json(200, json!({ "subscriptionFilters": filters, "nextToken": next }))
    };
    let aws = Recorded::default()
        .on("DescribeSubscriptionFilters", page(json!([filter("fgw-access-logs-api10")]), Some("n")))
        .on("DescribeSubscriptionFilters", page(json!([filter(NAME)]), None));
    let shown = find(&aws.session("r"), GROUP, NAME).await.unwrap().expect("it is on the second page");
    let permission = Some(Key::new("subscription_permission"));
    let observed = read(&shown, group_key(), key(), permission).unwrap();
    assert_eq!((observed.id.as_str(), observed.spec), (ID, Spec::LogSubscription(to_function())));
    assert_eq!(aws.requests()[1].body["nextToken"], "n");

    let others =
        Recorded::default().on("DescribeSubscriptionFilters", page(json!([filter("fgw-access-logs-api10")]), None));
    assert_eq!(find(&others.session("r"), GROUP, NAME).await, Ok(None));
    let missing =
        Recorded::default().on("DescribeSubscriptionFilters", refusal("ResourceNotFoundException", "no group"));
    assert_eq!(find(&missing.session("r"), GROUP, NAME).await, Ok(None));
    let denied = Recorded::default().on("DescribeSubscriptionFilters", refusal("AccessDeniedException", "not you"));
    assert!(find(&denied.session("r"), GROUP, NAME).await.is_err());
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
        let shown = find(&aws.session("r"), GROUP, NAME).await.unwrap().expect("it exists");
        let observed = read(&shown, group_key(), key(), expected.permission.clone()).unwrap();
        assert_eq!(observed.spec, Spec::LogSubscription(expected));
    }
    let no_group = refusal("ResourceNotFoundException", "The specified log group does not exist.");
    for none in [Answer::Json(200, json!({ "subscriptionFilters": [] })), Answer::Json(200, json!({})), no_group] {
        let aws = Recorded::default().on("DescribeSubscriptionFilters", none);
        assert_eq!(find(&aws.session("r"), GROUP, NAME).await, Ok(None));
    }
    let aws = Recorded::default().on("PutSubscriptionFilter", Answer::Json(200, Value::Null));
    assert_eq!(created(&aws.session("r"), &to_function()).await.0, Ok(()));
}

#[test]
fn only_a_kinesis_stream_has_a_distribution() {
    let shown = |destination: &str, distribution: Option<Distribution>| {
        let shown = Shown::builder().filter_name(NAME).destination_arn(destination).role_arn(ROLE);
        let shown = shown.set_distribution(distribution);
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
    let entry = Entry::new(key(), ID, Spec::LogSubscription(to_function()));
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
    let group = crate::model::LogGroup { name: Input::Known(GROUP.into()), ..crate::model::LogGroup::test() };
    let entry = Entry::new(group_key(), GROUP, Spec::LogGroup(group));
    let (spec, key) = (to_function(), key());
    let (one, two) =
        tokio::join!(created(&session, &spec), run(&session, &key, &[], async |it| group::delete(it, &entry).await));
    assert_eq!((one.0, two.0), (Ok(()), Ok(())));
    let times: Vec<(Instant, Instant)> =
        aws.requests().into_iter().map(|asked| (asked.times.0, asked.times.1.expect("it was answered"))).collect();
    assert_eq!(times.len(), calls.len());
    assert!(times.windows(2).all(|pair| pair[0].1 <= pair[1].0), "two calls for one group overlap");
}

/// The obstacles to the filter to the function. The API exists if it has an ID.
async fn found(filters: &[Value], api_id: Option<&str>, existing: &[Entry]) -> Vec<Obstacle> {
    let filters = Answer::Json(200, json!({ "subscriptionFilters": filters }));
    let aws = Recorded::default().on("DescribeSubscriptionFilters", filters);
    let (key, spec) = (key(), Spec::LogSubscription(to_function()));
    let begun = [Begun { key: &key, before: None, spec: &spec }];
    obstacles(&aws.session("r"), api_id, &begun, existing).await.unwrap()
}

fn filter(name: &str, destination: &str) -> Value {
    json!({ "filterName": name, "destinationArn": destination, "filterPattern": "" })
}

#[tokio::test(start_paused = true)]
async fn an_equal_filter_in_a_group_of_others_is_an_obstacle() {
    let equal = [filter("theirs", FUNCTION)];
    for (api_id, is_certain) in [(Some("api1"), true), (None, false)] {
        let found = found(&equal, api_id, &[]).await;
        let [obstacle] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((obstacle.id.as_str(), obstacle.is_certain), ("/http/shop|theirs", is_certain));
        let text = format!("{} {}", obstacle.message, obstacle.hint);
        for part in ["theirs", FUNCTION, "delete-subscription-filter --log-group-name /http/shop --filter-name theirs"]
        {
            assert!(text.contains(part), "{text}");
        }
    }
    // The create takes it over, or the filter is that of another API.
    let ours = Entry::new(group_key(), GROUP, Spec::LogGroup(LogGroup::test()));
    assert_eq!(found(&equal, Some("api1"), &[ours]).await, []);
    assert_eq!(found(&[filter("fgw-access-logs-api2", FUNCTION)], Some("api1"), &[]).await, []);
}

#[tokio::test(start_paused = true)]
async fn a_group_that_may_be_full_is_named_with_its_filters() {
    let all = [filter("one", STREAM), filter("two", STREAM), filter(NAME, STREAM)];
    assert_eq!(found(&all[..1], Some("api1"), &[]).await, []);
    for api_id in [Some("api1"), None] {
        let found = found(&all[..2], api_id, &[]).await;
        let [obstacle] = found.as_slice() else { panic!("{found:?}") };
        assert!(!obstacle.is_certain && obstacle.message.contains("2 subscription filters: one, two"), "{obstacle:?}");
    }
    assert_eq!(found(&all, Some("api1"), &[]).await, [], "that of an interrupted run");
    let known = Entry::new(key(), "/http/shop|one", Spec::LogSubscription(to_stream()));
    assert_eq!(found(&all[..2], Some("api1"), &[known]).await, [], "the plan deletes it");
}

#[tokio::test(start_paused = true)]
async fn no_filters_are_listed_of_a_group_that_a_plan_creates() {
    let (aws, key, group) = (Recorded::default(), key(), group_key());
    let (filter, spec) = (Spec::LogSubscription(to_function()), Spec::LogGroup(LogGroup::test()));
    let begun = [(&group, &spec), (&key, &filter)].map(|(key, spec)| Begun { key, before: None, spec });
    assert_eq!(obstacles(&aws.session("r"), None, &begun, &[]).await.unwrap(), []);
    let updated = Begun { key: &key, before: Some(&filter), spec: &filter };
    assert_eq!(obstacles(&aws.session("r"), Some("api1"), &[updated], &[]).await.unwrap(), []);
    assert_eq!(aws.calls(), [""; 0]);
}
