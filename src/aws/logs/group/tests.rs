use serde_json::{Value, json};
use tokio::time::Instant;

use super::*;
use crate::aws::recorded::{Answer, Recorded, request_of, run, without_request};

const NAME: &str = "/http/shop";
const KEY: &str = "arn:aws:kms:r:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab";
const OTHER_KEY: &str = "arn:aws:kms:r:123456789012:key/4321abcd-12ab-34cd-56ef-1234567890ab";
const NOT_FOUND: &str = "The specified KMS Key Id could not be found.";
const NOT_ALLOWED: &str = "The specified KMS key does not exist or is not allowed to be used with Arn 'arn:x'";

fn spec(days: Option<i64>) -> LogGroup {
    LogGroup {
        name: Input::Known(NAME.into()),
        retention_in_days: Input::Known(days),
        tags: Input::Known([("team".to_string(), Input::Known("web".to_string()))].into()),
        ..LogGroup::test()
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
async fn create_sets_the_tags_and_then_the_retention_period() {
    let mut group = shown(NAME);
    group["creationTime"] = json!(1_700_000_000_123_i64);
    let aws = Recorded::default()
        .on("CreateLogGroup", Answer::Json(200, json!({})))
        .on("DescribeLogGroups", groups(&[group], None))
        .on("PutRetentionPolicy", Answer::Json(200, json!({})));
    let session = aws.session("r");
    let (answer, reported) = run(&session, &key(), &[], async |it| create(it, &spec(Some(30))).await).await;
    answer.unwrap();
    assert_eq!(
        without_request(aws.body("CreateLogGroup")),
        json!({ "logGroupName": NAME, "tags": {
            "team": "web", "fgw:resource": "http_gateway/api1", "fgw:object": "log_group"
        } })
    );
    assert_eq!(aws.body("PutRetentionPolicy"), json!({ "logGroupName": NAME, "retentionInDays": 30 }));
    assert_eq!(reported.ids, [NAME]);
    assert_eq!(reported.learned["arn"], "arn:aws:logs:r:123456789012:log-group:/http/shop");
    assert_eq!(reported.learned["creation_time"], "1700000000123");
}

/// The tags that the last create set.
fn of_this_request() -> Answer {
    Answer::To(|requests| {
        let request = request_of(requests, "CreateLogGroup");
        Answer::Json(200, json!({ "tags": { "fgw:request": request } }))
    })
}

/// Also with the tags of this gateway, which anyone may copy.
#[tokio::test(start_paused = true)]
async fn existing_group_is_not_adopted_whatever_its_tags_are() {
    for tags in [
        json!({ "fgw:resource": "http_gateway/api2" }),
        json!({ "fgw:resource": "http_gateway/api1", "fgw:object": "log_group", "fgw:request": "0123" }),
    ] {
        let aws = Recorded::default()
            .on("CreateLogGroup", exists())
            .on("DescribeLogGroups", groups(&[shown("/http/shop-2")], Some("p2")))
            .on("DescribeLogGroups", groups(&[shown(NAME)], None))
            .on("ListTagsForResource", Answer::Json(200, json!({ "tags": tags })));
        let (answer, reported) = run(&aws.session("r"), &key(), &[], async |it| create(it, &spec(None)).await).await;
        let failure = answer.unwrap_err();
        assert_eq!(failure.cause, Cause::Exists);
        for part in ["A killed run or someone else", "log_group_skip_destroy", "another name"] {
            assert!(failure.text().contains(part), "no {part} in {}", failure.text());
        }
        assert!(reported.ids.is_empty());
        let calls = ["CreateLogGroup", "DescribeLogGroups", "DescribeLogGroups", "ListTagsForResource"];
        assert_eq!(aws.calls(), calls, "nothing is changed");
    }
}

#[tokio::test(start_paused = true)]
async fn group_of_a_lost_answer_is_not_an_existing_one() {
    let aws = Recorded::default()
        .on("CreateLogGroup", Answer::Lost)
        .on("DescribeLogGroups", groups(&[], None))
        .on("DescribeLogGroups", groups(&[], None))
        .on("CreateLogGroup", exists())
        .on("DescribeLogGroups", groups(&[shown(NAME)], None))
        .on("ListTagsForResource", of_this_request());
    let (answer, reported) = run(&aws.session("r"), &key(), &[], async |it| create(it, &spec(None)).await).await;
    answer.unwrap();
    assert_eq!(reported.ids, [NAME]);
}

#[tokio::test(start_paused = true)]
async fn update_deletes_the_retention_policy_and_removes_tags() {
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
    run(&session, &key(), &[], async |it| update(it, NAME, &from, &spec(None)).await).await.0.unwrap();
    assert_eq!(aws.calls(), ["DeleteRetentionPolicy", "DeleteRetentionPolicy", "UntagResource"]);
    assert_eq!(aws.body("UntagResource")["tagKeys"], json!(["old"]));
}

#[tokio::test(start_paused = true)]
async fn missing_group_counts_as_deleted() {
    let aws = Recorded::default().on("DescribeLogGroups", groups(&[], None));
    let entry = Entry::new(key(), NAME, Spec::LogGroup(spec(None)));
    run(&aws.session("r"), &key(), &[], async |it| delete(it, &entry).await).await.0.unwrap();
    assert_eq!(aws.calls(), ["DescribeLogGroups"]);
}

#[tokio::test(start_paused = true)]
async fn delete_of_a_protected_group_names_the_command() {
    let words = "Cannot delete log group with deletion protection enabled. Disable deletion protection first.";
    let aws = Recorded::default()
        .on("DescribeLogGroups", groups(&[shown(NAME)], None))
        .on("ListTagsForResource", Answer::Json(200, json!({ "tags": { "fgw:resource": "http_gateway/api1" } })))
        .on("DeleteLogGroup", Answer::Error(400, "ValidationException", words));
    let entry = Entry::new(key(), NAME, Spec::LogGroup(spec(None)));
    let failure = run(&aws.session("r"), &key(), &[], async |it| delete(it, &entry).await).await.0.unwrap_err();
    let command = "aws logs put-log-group-deletion-protection --log-group-identifier /http/shop \
                   --no-deletion-protection-enabled";
    assert!(failure.message.starts_with(words) && failure.text().contains(command), "{failure}");
    assert_eq!(failure.case, Some(Case::LogGroupProtected));
    assert_eq!(aws.calls(), ["DescribeLogGroups", "ListTagsForResource", "DeleteLogGroup"]);
}

#[tokio::test(start_paused = true)]
async fn delete_spares_a_group_that_the_root_does_not_own() {
    let created_at = |time: Option<i64>| {
        let mut group = shown(NAME);
        group["creationTime"] = json!(time);
        groups(&[group], None)
    };
    let ours = json!({ "fgw:resource": "http_gateway/api1", "fgw:object": "log_group" });
    let (untagged, other) = (json!({ "team": "web" }), json!({ "fgw:resource": "http_gateway/api2" }));
    for (answer, tags, is_owned) in [
        (created_at(Some(1)), &ours, true),
        (created_at(None), &ours, true),
        (created_at(Some(2)), &ours, false),
        (created_at(Some(1)), &untagged, false),
        (created_at(Some(1)), &other, false),
    ] {
        for keeps in [false, true] {
            let case = format!("{answer:?} with {tags}, kept: {keeps}");
            let aws = Recorded::default()
                .on("DescribeLogGroups", answer.clone())
                .on("ListTagsForResource", Answer::Json(200, json!({ "tags": tags })))
                .on("UntagResource", Answer::Json(200, json!({})))
                .on("DeleteLogGroup", Answer::Json(200, json!({})));
            let group = LogGroup { skip_destroy: keeps.into(), ..spec(None) };
            let mut entry = Entry::new(key(), NAME, Spec::LogGroup(group));
            entry.learned = learned("arn:aws:logs:r:123456789012:log-group:/http/shop".into(), Some(1));
            run(&aws.session("r"), &key(), &[], async |it| delete(it, &entry).await).await.0.unwrap();
            let call = if keeps { "UntagResource" } else { "DeleteLogGroup" };
            let mut expected = vec!["DescribeLogGroups", "ListTagsForResource"];
            expected.extend(is_owned.then_some(call));
            assert_eq!(aws.calls(), expected, "{case}");
        }
    }
}

/// Runs an update and returns its result with the calls that it sent.
async fn updated(aws: Recorded, from: &LogGroup, to: &LogGroup) -> (Result<(), Failure>, Vec<String>) {
    let session = aws.session("keys");
    let answer = run(&session, &key(), &[], async |it| update(it, NAME, from, to).await).await.0;
    (answer, aws.calls())
}

#[tokio::test(start_paused = true)]
async fn create_sets_the_key_and_waits_for_a_new_key_policy() {
    let aws = Recorded::default()
        .on("CreateLogGroup", Answer::Error(400, "InvalidParameterException", NOT_FOUND))
        .on("CreateLogGroup", Answer::Error(400, "AccessDeniedException", NOT_ALLOWED))
        .on("CreateLogGroup", Answer::Json(200, json!({})))
        .on("DescribeLogGroups", groups(&[shown(NAME)], None));
    let wanted = with_key(Some(KEY), None);
    let (answer, reported) = run(&aws.session("r"), &key(), &[], async |it| create(it, &wanted).await).await;
    answer.unwrap();
    assert_eq!(aws.calls(), ["CreateLogGroup", "CreateLogGroup", "CreateLogGroup", "DescribeLogGroups"]);
    assert!(aws.requests()[..3].iter().all(|it| it.body["kmsKeyId"] == KEY));
    assert_eq!(reported.ids, [NAME]);
}

#[tokio::test(start_paused = true)]
async fn rejected_key_is_reported_as_key_policy_problem_not_as_denied() {
    let aws = Recorded::default().on("CreateLogGroup", Answer::Error(400, "AccessDeniedException", NOT_ALLOWED));
    let (wanted, start) = (with_key(Some(KEY), None), Instant::now());
    let (answer, reported) = run(&aws.session("r"), &key(), &[], async |it| create(it, &wanted).await).await;
    assert_eq!(start.elapsed(), KEY_POLICY);
    let failure = answer.unwrap_err();
    assert_eq!(failure.cause, Cause::Other);
    assert!(failure.message.contains(KEY) && failure.message.contains("key policy"), "{failure}");
    assert!(aws.calls().len() > 1 && reported.ids.is_empty());

    let denied = "User: arn:aws:iam::1:user/a is not authorized to perform: logs:CreateLogGroup on resource: x";
    let aws = Recorded::default().on("CreateLogGroup", Answer::Error(400, "AccessDeniedException", denied));
    let failure = run(&aws.session("r"), &key(), &[], async |it| create(it, &wanted).await).await.0.unwrap_err();
    assert_eq!((failure.cause, aws.calls().len()), (Cause::Denied, 1), "a denied call is not retried");
}

#[tokio::test(start_paused = true)]
async fn lost_create_with_key_is_resolved_by_its_request() {
    let mut group = shown(NAME);
    group["kmsKeyId"] = json!(KEY);
    let aws = Recorded::default()
        .on("CreateLogGroup", Answer::Lost)
        .on("DescribeLogGroups", groups(&[group], None))
        .on("ListTagsForResource", of_this_request());
    let wanted = with_key(Some(KEY), None);
    let (answer, reported) = run(&aws.session("r"), &key(), &[], async |it| create(it, &wanted).await).await;
    answer.unwrap();
    assert_eq!(reported.ids, [NAME]);
    assert_eq!(aws.calls(), ["CreateLogGroup", "DescribeLogGroups", "ListTagsForResource", "DescribeLogGroups"]);
}

#[tokio::test(start_paused = true)]
async fn key_is_set_replaced_and_removed_in_place_before_retention() {
    let none = || with_key(None, None);
    let aws = || {
        ["AssociateKmsKey", "DisassociateKmsKey", "PutRetentionPolicy"]
            .iter()
            .fold(Recorded::default(), |aws, call| aws.on(call, Answer::Json(200, json!({}))))
    };
    let associated = aws();
    let (answer, calls) = updated(associated.clone(), &none(), &with_key(Some(KEY), Some(30))).await;
    assert_eq!((answer, calls), (Ok(()), vec!["AssociateKmsKey".to_string(), "PutRetentionPolicy".to_string()]));
    assert_eq!(associated.body("AssociateKmsKey"), json!({ "logGroupName": NAME, "kmsKeyId": KEY }));

    let replaced = aws();
    let (answer, calls) = updated(replaced.clone(), &with_key(Some(KEY), None), &with_key(Some(OTHER_KEY), None)).await;
    assert_eq!((answer, calls), (Ok(()), vec!["AssociateKmsKey".to_string()]), "the key is replaced without a gap");
    assert_eq!(replaced.body("AssociateKmsKey")["kmsKeyId"], OTHER_KEY);

    let removed = aws();
    let (answer, calls) = updated(removed.clone(), &with_key(Some(KEY), None), &none()).await;
    assert_eq!((answer, calls), (Ok(()), vec!["DisassociateKmsKey".to_string()]));
    assert_eq!(removed.body("DisassociateKmsKey"), json!({ "logGroupName": NAME }));

    let equal = with_key(Some(KEY), Some(7));
    assert_eq!(updated(aws(), &equal, &equal).await, (Ok(()), vec![]));
}

#[tokio::test(start_paused = true)]
async fn update_waits_for_a_new_key_policy_until_a_time_limit() {
    let aws = Recorded::default()
        .on("AssociateKmsKey", Answer::Error(400, "AccessDeniedException", NOT_ALLOWED))
        .on("AssociateKmsKey", Answer::Error(400, "OperationAbortedException", "Please try again"))
        .on("AssociateKmsKey", Answer::Json(200, json!({})));
    let (answer, calls) = updated(aws, &with_key(None, None), &with_key(Some(KEY), None)).await;
    assert_eq!((answer, calls.len()), (Ok(()), 3));
    let start = Instant::now();
    let aws = Recorded::default()
        .on("AssociateKmsKey", Answer::Error(400, "InvalidParameterException", NOT_FOUND))
        .on("PutRetentionPolicy", Answer::Json(200, json!({})));
    let (answer, calls) = updated(aws, &with_key(None, None), &with_key(Some(KEY), Some(7))).await;
    assert!(answer.unwrap_err().message.contains("key policy"));
    assert_eq!(start.elapsed(), KEY_POLICY);
    assert!(!calls.contains(&"PutRetentionPolicy".to_string()), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn exceeded_quota_fails_at_once_although_the_sdk_retries_it() {
    let aws = Recorded::default()
        .on("CreateLogGroup", Answer::Error(400, "LimitExceededException", "Resource limit exceeded."));
    let session = aws.session_with_retries("r");
    let failure = run(&session, &key(), &[], async |it| create(it, &spec(None)).await).await.0.unwrap_err();
    assert_eq!(failure.code.as_deref(), Some("LimitExceededException"));
    assert_eq!(aws.calls(), ["CreateLogGroup"]);
}

#[test]
fn group_is_read_with_its_key() {
    let shown = Shown::builder().log_group_name(NAME).kms_key_id(KEY).retention_in_days(30).build();
    let observed = read(&FoundGroup { shown, tags: Default::default() }, Key::new("api"), key()).unwrap();
    let Spec::LogGroup(found) = observed.spec else { panic!("{observed:?}") };
    let tags = Input::Known(Default::default());
    // Nothing is lost if the group is kept, which AWS does not store.
    assert_eq!(found, LogGroup { tags, skip_destroy: true.into(), ..with_key(Some(KEY), Some(30)) });
}

/// Recorded: DescribeLogGroups of 2026. `further` are the fields that not every group has.
fn recorded(name: &str, further: &[(&str, Value)]) -> Value {
    let arn = format!("arn:aws:logs:r:123456789012:log-group:{name}");
    let mut group = json!({ "arn": format!("{arn}:*"), "creationTime": 1_770_152_256_123_i64,
        "deletionProtectionEnabled": false, "logGroupArn": arn, "logGroupClass": "STANDARD", "logGroupName": name,
        "metricFilterCount": 0, "storedBytes": 0 });
    for (field, value) in further {
        group[*field] = value.clone();
    }
    group
}

/// Recorded: DescribeLogGroups and ListTagsForResource. The key and the retention period are absent if they are not
/// set, and groups of 2018 had no `logGroupArn`.
#[tokio::test(start_paused = true)]
async fn groups_are_read_with_and_without_optional_fields() {
    let mut old = recorded(NAME, &[]);
    for field in ["deletionProtectionEnabled", "logGroupArn", "logGroupClass"] {
        old.as_object_mut().unwrap().remove(field);
    }
    let full = recorded(NAME, &[("kmsKeyId", KEY.into()), ("retentionInDays", 30.into())]);
    for (group, expected) in [
        (recorded(NAME, &[]), with_key(None, None)),
        (full, with_key(Some(KEY), Some(30))),
        (old, with_key(None, None)),
    ] {
        let aws = Recorded::default()
            .on("DescribeLogGroups", groups(&[recorded("/http/shop-2", &[])], Some("n")))
            .on("DescribeLogGroups", groups(&[group], None))
            .on(
                "ListTagsForResource",
                Answer::Json(200, json!({ "tags": { "team": "web", "fgw:object": "log_group" } })),
            );
        let found = find(&aws.session("r"), NAME).await.unwrap().expect("it is on the second page");
        let observed = read(&found, Key::new("api"), key()).unwrap();
        // A read without a state keeps the group.
        assert_eq!(observed.spec, Spec::LogGroup(LogGroup { skip_destroy: true.into(), ..expected }));
        let arn = "arn:aws:logs:r:123456789012:log-group:/http/shop";
        assert_eq!(aws.body("ListTagsForResource"), json!({ "resourceArn": arn }));
        assert_eq!(
            (observed.learned["arn"].as_str(), observed.learned[CREATION_TIME].as_str()),
            (arn, "1770152256123")
        );
    }
}

/// Recorded: DescribeLogGroups, whose list is empty if no group has the prefix, and which is throttled without a
/// message.
#[tokio::test(start_paused = true)]
async fn missing_groups_and_tags_are_absent() {
    for none in [json!({ "logGroups": [] }), json!({})] {
        let aws = Recorded::default().on("DescribeLogGroups", Answer::Json(200, none));
        assert!(find(&aws.session("r"), NAME).await.unwrap().is_none());
    }
    let aws = Recorded::default()
        .on("DescribeLogGroups", groups(&[recorded(NAME, &[])], None))
        .on("ListTagsForResource", Answer::Json(200, json!({ "tags": {} })));
    assert!(find(&aws.session("r"), NAME).await.unwrap().expect("it exists").tags.is_empty());
    let aws = Recorded::default().on("DescribeLogGroups", Answer::Error(400, "ThrottlingException", ""));
    assert_eq!(find(&aws.session("r"), NAME).await.unwrap_err().cause, Cause::Throttled);
}
