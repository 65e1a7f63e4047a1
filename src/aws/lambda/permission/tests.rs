use serde_json::json;

use super::*;
use crate::aws::recorded::{Answer, Recorded, run};

fn arn(name: &str) -> String {
    format!("arn:aws:lambda:eu-west-1:123456789012:function:{name}")
}

fn spec(name: &str, qualifier: Option<&str>) -> LambdaPermission {
    let place = FunctionPolicy { function_arn: arn(name), qualifier: qualifier.map(str::to_string) };
    place.permission(Key::new("api"), Caller::Routes)
}

fn calls(name: &str) -> (String, String) {
    let path = format!("/2015-03-31/functions/{}/policy", arn(name).replace(':', "%3A"));
    (format!("POST {path}"), format!("GET {path}"))
}

fn ids() -> [(Key, &'static str); 2] {
    [(Key::new("api"), "api1"), (Key::new("authorizer.token"), "auth1")]
}

fn sid(spec: &LambdaPermission) -> String {
    statement_id("api1", &FunctionPolicy::known(spec).unwrap(), CallerId::Routes)
}

fn policy_with(sid: &str, source: &str) -> Answer {
    let policy = json!({ "Version": "2012-10-17", "Statement": [{
        "Sid": sid, "Effect": "Allow", "Principal": { "Service": "apigateway.amazonaws.com" },
        "Action": "lambda:InvokeFunction", "Resource": "arn",
        "Condition": { "ArnLike": { "AWS:SourceArn": source } } }] });
    Answer::Json(200, json!({ "Policy": policy.to_string() }))
}

const SOURCE: &str = "arn:aws:execute-api:permission:123456789012:api1/*/*";

#[tokio::test(start_paused = true)]
async fn a_statement_lets_in_the_api_and_is_done_when_it_shows() {
    let spec = spec("orders", None);
    let (post, get) = calls("orders");
    let aws = Recorded::default()
        .on(&post, Answer::Json(201, json!({ "Statement": "{}" })))
        .on(&get, Answer::Error(404, "ResourceNotFoundException", "no policy"))
        .on(&get, policy_with(&sid(&spec), SOURCE));
    let session = aws.session("permission");
    let (answer, told) = run(&session, &Key::new("p"), &ids(), async |it| create(it, &spec).await).await;
    answer.unwrap();
    assert_eq!(told.ids, [sid(&spec)]);
    assert_eq!(aws.calls(), [post.clone(), get.clone(), get]);
    assert_eq!(
        aws.body(&post),
        json!({ "StatementId": sid(&spec), "Action": "lambda:InvokeFunction",
            "Principal": "apigateway.amazonaws.com", "SourceArn": SOURCE })
    );
}

#[tokio::test(start_paused = true)]
async fn a_statement_that_is_there_is_taken_if_equal_and_named_if_not() {
    let conflict = Answer::Error(409, "ResourceConflictException", "The statement id provided already exists.");
    let spec = spec("taken", None);
    let (post, get) = calls("taken");
    let aws = Recorded::default().on(&post, conflict.clone()).on(&get, policy_with(&sid(&spec), SOURCE));
    let (answer, told) =
        run(&aws.session("permission"), &Key::new("p"), &ids(), async |it| create(it, &spec).await).await;
    answer.unwrap();
    assert_eq!(told.ids, [sid(&spec)]);

    let other = "arn:aws:execute-api:permission:123456789012:api1/prod/*";
    let aws = Recorded::default().on(&post, conflict).on(&get, policy_with(&sid(&spec), other));
    let (answer, told) =
        run(&aws.session("permission"), &Key::new("p"), &ids(), async |it| create(it, &spec).await).await;
    let failure = answer.unwrap_err();
    assert_eq!(failure.cause, Cause::Exists);
    assert!(failure.message.contains(other) && failure.message.contains("remove-permission"), "{failure}");
    assert!(told.ids.is_empty());
    assert_eq!(aws.calls().len(), 2, "a conflict that does not pass is not waited for");
}

#[tokio::test(start_paused = true)]
async fn a_conflict_with_another_change_of_the_function_is_waited_for() {
    let spec = spec("updating", None);
    let (post, get) = calls("updating");
    let aws = Recorded::default()
        .on(&post, Answer::Error(409, "ResourceConflictException", "An update is in progress for resource"))
        .on(&post, Answer::Json(201, json!({})))
        .on(&get, Answer::Json(200, json!({ "Policy": "{\"Statement\":[]}" })))
        .on(&get, policy_with(&sid(&spec), SOURCE));
    let (answer, _) = run(&aws.session("permission"), &Key::new("p"), &ids(), async |it| create(it, &spec).await).await;
    answer.unwrap();
    assert_eq!(aws.calls(), [post.clone(), get.clone(), post, get]);
}

#[tokio::test(start_paused = true)]
async fn a_new_function_is_waited_for_and_a_missing_one_is_an_error() {
    let absent = || Answer::Error(404, "ResourceNotFoundException", "Function not found");
    let spec = spec("new", None);
    let (post, get) = calls("new");
    let aws = Recorded::default()
        .on(&post, absent())
        .on(&post, absent())
        .on(&post, Answer::Json(201, json!({})))
        .on(&get, policy_with(&sid(&spec), SOURCE));
    let (answer, _) = run(&aws.session("permission"), &Key::new("p"), &ids(), async |it| create(it, &spec).await).await;
    answer.unwrap();
    assert_eq!(aws.calls(), [post.clone(), post.clone(), post.clone(), get]);

    let (aws, start) = (Recorded::default().on(&post, absent()), Instant::now());
    let (answer, told) =
        run(&aws.session("permission"), &Key::new("p"), &ids(), async |it| create(it, &spec).await).await;
    assert_eq!(answer.unwrap_err().code.as_deref(), Some("ResourceNotFoundException"));
    assert!(told.ids.is_empty());
    let longest = NEW_FUNCTION + Duration::from_secs(6);
    assert!((NEW_FUNCTION..longest).contains(&start.elapsed()), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_statement_whose_answer_was_lost_is_found_by_its_id() {
    let spec = spec("lost", None);
    let (post, get) = calls("lost");
    let aws = Recorded::default().on(&post, Answer::Lost).on(&get, policy_with(&sid(&spec), SOURCE));
    let (answer, told) =
        run(&aws.session("permission"), &Key::new("p"), &ids(), async |it| create(it, &spec).await).await;
    answer.unwrap();
    assert_eq!(told.ids, [sid(&spec)]);
    assert_eq!(aws.calls().iter().filter(|call| **call == post).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn calls_on_one_function_never_overlap_whatever_the_qualifier() {
    let (plain, live) = (spec("shared", None), spec("shared", Some("live")));
    let (post, get) = calls("shared");
    let (post_live, get_live) = (format!("{post}?Qualifier=live"), format!("{get}?Qualifier=live"));
    let slow = Answer::After(Duration::from_millis(60), Box::new(Answer::Json(201, json!({}))));
    let other = spec("other", None);
    let (post_other, get_other) = calls("other");
    let aws = Recorded::default()
        .on(&post, slow.clone())
        .on(&get, policy_with(&sid(&plain), SOURCE))
        .on(&post_live, slow.clone())
        .on(&get_live, policy_with(&sid(&live), SOURCE))
        .on(&post_other, slow)
        .on(&get_other, policy_with(&sid(&other), SOURCE));
    let session = aws.session("permission");
    let one = async |spec: &LambdaPermission| {
        run(&session, &Key::new("p"), &ids(), async |it| create(it, spec).await).await.0.unwrap();
    };
    tokio::join!(one(&plain), one(&live), one(&other));
    let asked = aws.asked();
    let times = |call: &str| {
        let times = asked.iter().find(|it| it.call == call).expect("it was called").times;
        (times.0, times.1.expect("it was answered"))
    };
    let (plain, live, other) = (times(&post), times(&post_live), times(&post_other));
    assert!(plain.1 <= live.0 || live.1 <= plain.0, "two changes of one function overlap");
    assert!(other.0 < plain.1 || other.0 < live.1, "another function waited");
}

#[tokio::test(start_paused = true)]
async fn a_missing_function_has_taken_its_statement_along() {
    let spec = spec("gone", Some("live"));
    let entry = Entry::new(Key::new("p"), "fgw-api1-routes-1", Spec::LambdaPermission(spec));
    let call = format!("DELETE {}/fgw-api1-routes-1?Qualifier=live", &calls("gone").0["POST ".len()..]);
    let aws = Recorded::default().on(&call, Answer::Error(404, "ResourceNotFoundException", "no function"));
    let session = aws.session("permission");
    run(&session, &entry.key, &ids(), async |it| delete(it, &entry).await).await.0.unwrap();
    assert_eq!(aws.calls(), [call]);
}

#[test]
fn statement_ids_fit_and_tell_apart_what_may_call() {
    let place = |name: &str, qualifier: Option<&str>| FunctionPolicy {
        function_arn: arn(name),
        qualifier: qualifier.map(str::to_string),
    };
    let longest = "n".repeat(64);
    let ids = [
        statement_id("a1b2c3d4e5", &place(&longest, None), CallerId::Routes),
        statement_id("a1b2c3d4e5", &place(&longest, Some("live")), CallerId::Routes),
        statement_id("a1b2c3d4e5", &place("orders", None), CallerId::Routes),
        statement_id("a1b2c3d4e5", &place("orders", None), CallerId::Authorizer("auth1")),
        statement_id("a1b2c3d4e5", &place("orders", None), CallerId::Authorizer("auth2")),
    ];
    for (index, id) in ids.iter().enumerate() {
        assert!(id.len() <= 100 && id.starts_with("fgw-a1b2c3d4e5-"), "{id}");
        assert!(id.chars().all(|it| it.is_ascii_alphanumeric() || it == '-' || it == '_'), "{id}");
        assert!(!ids[index + 1..].contains(id), "{id} twice");
    }
}

#[test]
fn a_statement_that_is_limited_by_more_or_lets_in_more_is_different() {
    let base = json!({ "Sid": "s", "Effect": "Allow", "Principal": { "Service": "apigateway.amazonaws.com" },
        "Action": "lambda:InvokeFunction", "Condition": { "ArnLike": { "AWS:SourceArn": "a" } } });
    assert!(Statement(base.clone()).lets_in("apigateway.amazonaws.com", "a"));
    assert!(!Statement(base.clone()).lets_in("apigateway.amazonaws.com", "b"));
    for (field, value) in [
        ("Effect", json!("Deny")),
        ("Principal", json!("*")),
        ("Action", json!("lambda:*")),
        ("Condition", json!({})),
        ("Condition", json!({ "ArnLike": { "AWS:SourceArn": ["a", "b"] } })),
        ("Condition", json!({ "ArnLike": { "AWS:SourceArn": "a" }, "StringEquals": { "AWS:SourceAccount": "1" } })),
    ] {
        let mut statement = base.clone();
        statement[field] = value;
        assert!(!Statement(statement.clone()).lets_in("apigateway.amazonaws.com", "a"), "{statement}");
    }
}
