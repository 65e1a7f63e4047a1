use serde_json::{Value, json};
use tokio::time::Instant;

use super::*;
use crate::aws::recorded::{Answer, Recorded, run};

const NAME: &str = "/http/shop";
const KEY: &str = "arn:aws:kms:r:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab";
const OTHER_KEY: &str = "arn:aws:kms:r:123456789012:key/4321abcd-12ab-34cd-56ef-1234567890ab";
const NOT_FOUND: &str = "The specified KMS Key Id could not be found.";
const NOT_ALLOWED: &str = "The specified KMS key does not exist or is not allowed to be used with Arn 'arn:x'";

fn spec(days: Option<i64>) -> LogGroup {
    LogGroup {
        kms_key_arn: Input::Known(None),
        api: Key::new("api"),
        name: Input::Known(NAME.into()),
        retention_in_days: Input::Known(days),
        tags: Input::Known([("team".to_string(), Input::Known("web".to_string()))].into()),
    }
}

fn with_key(arn: Option<&str>, days: Option<i64>) -> LogGroup {
    LogGroup { kms_key_arn: Input::Known(arn.map(str::to_string)), ..spec(days) }
}

fn key() -> Key {
    Key::fixed("log_group", Input::Known(NAME.into()))
}

fn shown(name: &str) -> Value {
    json!({ "logGroupName": name, "arn": format!("arn:aws:logs:r:123456789012:log-group:{name}:*") })
}

fn groups(groups: &[Value], next: Option<&str>) -> Answer {
    Answer::Json(200, json!({ "logGroups": groups, "nextToken": next }))
}

fn exists() -> Answer {
    Answer::Error(400, "ResourceAlreadyExistsException", "The specified log group already exists")
}

#[tokio::test(start_paused = true)]
async fn a_group_is_made_with_its_tags_and_then_gets_its_retention() {
    let mut group = shown(NAME);
    group["creationTime"] = json!(1_700_000_000_123_i64);
    let aws = Recorded::default()
        .on("CreateLogGroup", Answer::Json(200, json!({})))
        .on("DescribeLogGroups", groups(&[group], None))
        .on("PutRetentionPolicy", Answer::Json(200, json!({})));
    let session = aws.session("r");
    let (answer, told) = run(&session, &key(), &[], async |it| create(it, &spec(Some(30))).await).await;
    answer.unwrap();
    assert_eq!(
        aws.body("CreateLogGroup"),
        json!({ "logGroupName": NAME, "tags": {
            "team": "web", "fgw:resource": "http_gateway/api1", "fgw:object": "log_group"
        } })
    );
    assert_eq!(aws.body("PutRetentionPolicy"), json!({ "logGroupName": NAME, "retentionInDays": 30 }));
    assert_eq!(told.ids, [NAME]);
    assert_eq!(told.learned["arn"], "arn:aws:logs:r:123456789012:log-group:/http/shop");
    assert_eq!(told.learned["creation_time"], "1700000000123");
}

#[tokio::test(start_paused = true)]
async fn a_group_of_someone_else_is_never_taken() {
    let aws = Recorded::default()
        .on("CreateLogGroup", exists())
        .on("DescribeLogGroups", groups(&[shown("/http/shop-2")], Some("p2")))
        .on("DescribeLogGroups", groups(&[shown(NAME)], None))
        .on("ListTagsForResource", Answer::Json(200, json!({ "tags": { "fgw:resource": "http_gateway/api2" } })));
    let (answer, told) = run(&aws.session("r"), &key(), &[], async |it| create(it, &spec(None)).await).await;
    let failure = answer.unwrap_err();
    assert_eq!(failure.cause, Cause::Exists);
    assert!(failure.message.contains("delete-log-group"), "{failure}");
    assert!(told.ids.is_empty());
    assert_eq!(
        aws.body("ListTagsForResource"),
        json!({ "resourceArn": "arn:aws:logs:r:123456789012:log-group:/http/shop" })
    );
}

#[tokio::test(start_paused = true)]
async fn a_group_that_a_killed_run_left_is_taken_and_brought_to_what_is_wanted() {
    let tags = json!({ "fgw:resource": "http_gateway/api1", "fgw:object": "log_group" });
    let aws = Recorded::default()
        .on("CreateLogGroup", exists())
        .on("DescribeLogGroups", groups(&[shown(NAME)], None))
        .on("ListTagsForResource", Answer::Json(200, json!({ "tags": tags })))
        .on("DeleteRetentionPolicy", Answer::Json(200, json!({})))
        .on("TagResource", Answer::Json(200, json!({})));
    let (answer, told) = run(&aws.session("r"), &key(), &[], async |it| create(it, &spec(None)).await).await;
    answer.unwrap();
    assert_eq!(told.ids, [NAME]);
    assert_eq!(aws.body("DeleteRetentionPolicy"), json!({ "logGroupName": NAME }));
    assert_eq!(aws.body("TagResource")["tags"], json!({ "team": "web" }));
}

#[tokio::test(start_paused = true)]
async fn events_kept_for_ever_are_a_call_of_their_own_and_dropped_tags_are_removed() {
    let aws = Recorded::default()
        .on("DeleteRetentionPolicy", Answer::Error(400, "OperationAbortedException", "Please try again"))
        .on("DeleteRetentionPolicy", Answer::Json(200, json!({})))
        .on("UntagResource", Answer::Json(200, json!({})));
    let from = LogGroup {
        tags: Input::Known(
            [("team", "web"), ("old", "1")].map(|(key, value)| (key.into(), Input::Known(value.into()))).into(),
        ),
        ..spec(Some(30))
    };
    let session = aws.session("r");
    run(&session, &key(), &[], async |it| update(it, NAME, Some(&from), &spec(None)).await).await.0.unwrap();
    assert_eq!(aws.calls(), ["DeleteRetentionPolicy", "DeleteRetentionPolicy", "UntagResource"]);
    assert_eq!(aws.body("UntagResource")["tagKeys"], json!(["old"]));
}

#[tokio::test(start_paused = true)]
async fn a_group_that_is_gone_counts_as_deleted() {
    let aws = Recorded::default()
        .on("DescribeLogGroups", groups(&[], None))
        .on("DeleteLogGroup", Answer::Error(400, "ResourceNotFoundException", "gone"));
    let entry = Entry::new(key(), NAME, Spec::LogGroup(spec(None)));
    run(&aws.session("r"), &key(), &[], async |it| delete(it, &entry).await).await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_group_is_deleted_only_while_it_may_be_the_one_that_was_made() {
    let made_at = |time: Option<i64>| {
        let mut group = shown(NAME);
        group["creationTime"] = json!(time);
        groups(&[group], None)
    };
    let ours = json!({ "fgw:resource": "http_gateway/api1", "fgw:object": "log_group" });
    let theirs = json!({ "whose": "theirs" });
    for (answer, tags, is_deleted) in [
        (made_at(Some(1)), &theirs, true),
        (made_at(Some(2)), &theirs, false),
        (made_at(Some(2)), &ours, true),
        (made_at(None), &theirs, true),
        // AWS may not show yet what it has made.
        (groups(&[], None), &theirs, true),
    ] {
        let shows = format!("{answer:?} with {tags}");
        let aws = Recorded::default()
            .on("DescribeLogGroups", answer)
            .on("ListTagsForResource", Answer::Json(200, json!({ "tags": tags })))
            .on("DeleteLogGroup", Answer::Json(200, json!({})));
        let mut entry = Entry::new(key(), NAME, Spec::LogGroup(spec(None)));
        entry.learned = learned("arn:aws:logs:r:123456789012:log-group:/http/shop".into(), Some(1));
        run(&aws.session("r"), &key(), &[], async |it| delete(it, &entry).await).await.0.unwrap();
        assert_eq!(aws.calls().contains(&"DeleteLogGroup".to_string()), is_deleted, "{shows}");
    }
}

/// An update in place, and the calls that it made.
async fn updated(aws: Recorded, from: Option<&LogGroup>, to: &LogGroup) -> (Result<(), Failure>, Vec<String>) {
    let session = aws.session("keys");
    let answer = run(&session, &key(), &[], async |it| update(it, NAME, from, to).await).await.0;
    (answer, aws.calls())
}

#[tokio::test(start_paused = true)]
async fn a_group_is_made_with_its_key_and_waits_for_a_key_policy_that_is_new() {
    let aws = Recorded::default()
        .on("CreateLogGroup", Answer::Error(400, "InvalidParameterException", NOT_FOUND))
        .on("CreateLogGroup", Answer::Error(400, "AccessDeniedException", NOT_ALLOWED))
        .on("CreateLogGroup", Answer::Json(200, json!({})))
        .on("DescribeLogGroups", groups(&[shown(NAME)], None));
    let wanted = with_key(Some(KEY), None);
    let (answer, told) = run(&aws.session("r"), &key(), &[], async |it| create(it, &wanted).await).await;
    answer.unwrap();
    assert_eq!(aws.calls(), ["CreateLogGroup", "CreateLogGroup", "CreateLogGroup", "DescribeLogGroups"]);
    assert!(aws.asked()[..3].iter().all(|asked| asked.body["kmsKeyId"] == KEY));
    assert_eq!(told.ids, [NAME]);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_stays_refused_is_told_with_what_its_policy_needs_and_no_permission_of_the_caller() {
    let aws = Recorded::default().on("CreateLogGroup", Answer::Error(400, "AccessDeniedException", NOT_ALLOWED));
    let (wanted, start) = (with_key(Some(KEY), None), Instant::now());
    let (answer, told) = run(&aws.session("r"), &key(), &[], async |it| create(it, &wanted).await).await;
    assert_eq!(start.elapsed(), KEY_POLICY);
    let failure = answer.unwrap_err();
    assert_eq!(failure.cause, Cause::Other);
    assert!(failure.message.contains(KEY) && failure.message.contains("key policy"), "{failure}");
    assert!(aws.calls().len() > 1 && told.ids.is_empty());

    let denied = "User: arn:aws:iam::1:user/a is not authorized to perform: logs:CreateLogGroup on resource: x";
    let aws = Recorded::default().on("CreateLogGroup", Answer::Error(400, "AccessDeniedException", denied));
    let failure = run(&aws.session("r"), &key(), &[], async |it| create(it, &wanted).await).await.0.unwrap_err();
    assert_eq!((failure.cause, aws.calls().len()), (Cause::Denied, 1), "this is not waited for");
}

#[tokio::test(start_paused = true)]
async fn a_group_whose_create_got_no_answer_is_found_with_its_key() {
    let tags = json!({ "fgw:resource": "http_gateway/api1", "fgw:object": "log_group" });
    let mut group = shown(NAME);
    group["kmsKeyId"] = json!(KEY);
    let aws = Recorded::default()
        .on("CreateLogGroup", Answer::Lost)
        .on("DescribeLogGroups", groups(&[group], None))
        .on("ListTagsForResource", Answer::Json(200, json!({ "tags": tags })));
    let wanted = with_key(Some(KEY), None);
    let (answer, told) = run(&aws.session("r"), &key(), &[], async |it| create(it, &wanted).await).await;
    answer.unwrap();
    assert_eq!(told.ids, [NAME]);
    assert_eq!(aws.calls(), ["CreateLogGroup", "DescribeLogGroups", "ListTagsForResource", "DescribeLogGroups"]);
}

#[tokio::test(start_paused = true)]
async fn a_key_is_associated_exchanged_and_taken_away_in_place_before_the_retention_changes() {
    let none = || with_key(None, None);
    let aws = || {
        ["AssociateKmsKey", "DisassociateKmsKey", "PutRetentionPolicy"]
            .iter()
            .fold(Recorded::default(), |aws, call| aws.on(call, Answer::Json(200, json!({}))))
    };
    let associated = aws();
    let (answer, calls) = updated(associated.clone(), Some(&none()), &with_key(Some(KEY), Some(30))).await;
    assert_eq!((answer, calls), (Ok(()), vec!["AssociateKmsKey".to_string(), "PutRetentionPolicy".to_string()]));
    assert_eq!(associated.body("AssociateKmsKey"), json!({ "logGroupName": NAME, "kmsKeyId": KEY }));

    let exchanged = aws();
    let (answer, calls) =
        updated(exchanged.clone(), Some(&with_key(Some(KEY), None)), &with_key(Some(OTHER_KEY), None)).await;
    assert_eq!((answer, calls), (Ok(()), vec!["AssociateKmsKey".to_string()]), "there is no moment without a key");
    assert_eq!(exchanged.body("AssociateKmsKey")["kmsKeyId"], OTHER_KEY);

    let taken = aws();
    let (answer, calls) = updated(taken.clone(), Some(&with_key(Some(KEY), None)), &none()).await;
    assert_eq!((answer, calls), (Ok(()), vec!["DisassociateKmsKey".to_string()]));
    assert_eq!(taken.body("DisassociateKmsKey"), json!({ "logGroupName": NAME }));

    let equal = with_key(Some(KEY), Some(7));
    assert_eq!(updated(aws(), Some(&equal), &equal).await, (Ok(()), vec![]));
}

#[tokio::test(start_paused = true)]
async fn an_association_waits_for_a_key_policy_and_gives_up_with_its_failure() {
    let aws = Recorded::default()
        .on("AssociateKmsKey", Answer::Error(400, "AccessDeniedException", NOT_ALLOWED))
        .on("AssociateKmsKey", Answer::Error(400, "OperationAbortedException", "Please try again"))
        .on("AssociateKmsKey", Answer::Json(200, json!({})));
    let (answer, calls) = updated(aws, Some(&with_key(None, None)), &with_key(Some(KEY), None)).await;
    assert_eq!((answer, calls.len()), (Ok(()), 3));
    let start = Instant::now();
    let aws = Recorded::default()
        .on("AssociateKmsKey", Answer::Error(400, "InvalidParameterException", NOT_FOUND))
        .on("PutRetentionPolicy", Answer::Json(200, json!({})));
    let (answer, calls) = updated(aws, Some(&with_key(None, None)), &with_key(Some(KEY), Some(7))).await;
    assert!(answer.unwrap_err().message.contains("key policy"));
    assert_eq!(start.elapsed(), KEY_POLICY);
    assert!(!calls.contains(&"PutRetentionPolicy".to_string()), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn where_it_is_not_known_whether_a_group_has_a_key_it_is_looked_at_first() {
    let aws = |key: Option<&str>| {
        let mut group = shown(NAME);
        group["kmsKeyId"] = json!(key);
        ["DisassociateKmsKey", "DeleteRetentionPolicy", "TagResource"]
            .iter()
            .fold(Recorded::default(), |aws, call| aws.on(call, Answer::Json(200, json!({}))))
            .on("DescribeLogGroups", groups(&[group], None))
            .on("ListTagsForResource", Answer::Json(200, json!({ "tags": {} })))
    };
    for (there, expected) in [(None, false), (Some(KEY), true)] {
        let (answer, calls) = updated(aws(there), None, &with_key(None, None)).await;
        assert_eq!((answer, calls.contains(&"DisassociateKmsKey".to_string())), (Ok(()), expected), "{calls:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_quota_of_groups_is_told_at_once_although_the_sdk_takes_it_for_a_throttle() {
    let aws = Recorded::default()
        .on("CreateLogGroup", Answer::Error(400, "LimitExceededException", "Resource limit exceeded."));
    let session = aws.session_with_retries("r");
    let failure = run(&session, &key(), &[], async |it| create(it, &spec(None)).await).await.0.unwrap_err();
    assert_eq!(failure.code.as_deref(), Some("LimitExceededException"));
    assert_eq!(aws.calls(), ["CreateLogGroup"]);
}

#[test]
fn a_group_is_read_with_its_key() {
    let shown = Shown::builder().log_group_name(NAME).kms_key_id(KEY).retention_in_days(30).build();
    let observed = read(&FoundGroup { shown, tags: Default::default() }, Key::new("api"), key()).unwrap();
    let Spec::LogGroup(found) = observed.spec else { panic!("{observed:?}") };
    assert_eq!(found, LogGroup { tags: Input::Known(Default::default()), ..with_key(Some(KEY), Some(30)) });
}

#[tokio::test(start_paused = true)]
async fn what_a_create_that_failed_half_way_did_not_learn_is_learned_by_the_update_that_finishes_it() {
    let mut group = shown(NAME);
    group["creationTime"] = json!(1_700_000_000_123_i64);
    let aws = Recorded::default()
        .on("DescribeLogGroups", groups(&[group], None))
        .on("DeleteRetentionPolicy", Answer::Json(200, json!({})))
        .on("TagResource", Answer::Json(200, json!({})));
    let (answer, told) =
        run(&aws.session("r"), &key(), &[], async |it| update(it, NAME, None, &spec(None)).await).await;
    answer.unwrap();
    assert_eq!(told.learned["arn"], "arn:aws:logs:r:123456789012:log-group:/http/shop");
    assert_eq!(told.learned[CREATION_TIME], "1700000000123");
}
