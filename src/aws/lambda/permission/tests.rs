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
async fn create_adds_a_statement_and_waits_until_it_is_visible() {
    let spec = spec("orders", None);
    let (post, get) = calls("orders");
    let aws = Recorded::default()
        .on(&post, Answer::Json(201, json!({ "Statement": "{}" })))
        .on(&get, Answer::Error(404, "ResourceNotFoundException", "no policy"))
        .on(&get, policy_with(&sid(&spec), SOURCE));
    let session = aws.session("permission");
    let (answer, reported) = run(&session, &Key::new("p"), &ids(), async |it| create(it, &spec).await).await;
    answer.unwrap();
    assert_eq!(reported.ids, [sid(&spec)]);
    assert_eq!(aws.calls(), [post.clone(), get.clone(), get]);
    assert_eq!(
        aws.body(&post),
        json!({ "StatementId": sid(&spec), "Action": "lambda:InvokeFunction",
            "Principal": "apigateway.amazonaws.com", "SourceArn": SOURCE })
    );
}

#[tokio::test(start_paused = true)]
async fn equal_statement_is_adopted_and_a_different_one_is_an_error() {
    let conflict = Answer::Error(409, "ResourceConflictException", "The statement id provided already exists.");
    let spec = spec("taken", None);
    let (post, get) = calls("taken");
    let aws = Recorded::default().on(&post, conflict.clone()).on(&get, policy_with(&sid(&spec), SOURCE));
    let (answer, reported) =
        run(&aws.session("permission"), &Key::new("p"), &ids(), async |it| create(it, &spec).await).await;
    answer.unwrap();
    assert_eq!(reported.ids, [sid(&spec)]);

    let other = "arn:aws:execute-api:permission:123456789012:api1/prod/*";
    let aws = Recorded::default().on(&post, conflict).on(&get, policy_with(&sid(&spec), other));
    let (answer, reported) =
        run(&aws.session("permission"), &Key::new("p"), &ids(), async |it| create(it, &spec).await).await;
    let failure = answer.unwrap_err();
    assert_eq!(failure.cause, Cause::Exists);
    assert!(failure.message.contains(other) && failure.text().contains("remove-permission"), "{failure}");
    assert!(reported.ids.is_empty());
    assert_eq!(aws.calls().len(), 2, "a permanent conflict is not retried");
}

#[tokio::test(start_paused = true)]
async fn conflict_with_another_change_of_the_function_is_retried() {
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
async fn new_function_is_waited_for_and_a_missing_one_is_an_error() {
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
    let (answer, reported) =
        run(&aws.session("permission"), &Key::new("p"), &ids(), async |it| create(it, &spec).await).await;
    assert_eq!(answer.unwrap_err().code.as_deref(), Some("ResourceNotFoundException"));
    assert!(reported.ids.is_empty());
    let longest = NEW_INPUT + Duration::from_secs(6);
    assert!((NEW_INPUT..longest).contains(&start.elapsed()), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn lost_create_is_resolved_by_statement_id() {
    let spec = spec("lost", None);
    let (post, get) = calls("lost");
    let aws = Recorded::default().on(&post, Answer::Lost).on(&get, policy_with(&sid(&spec), SOURCE));
    let (answer, reported) =
        run(&aws.session("permission"), &Key::new("p"), &ids(), async |it| create(it, &spec).await).await;
    answer.unwrap();
    assert_eq!(reported.ids, [sid(&spec)]);
    assert_eq!(aws.calls().iter().filter(|call| **call == post).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn policies_are_read_within_the_quota() {
    let place = |number: usize| FunctionPolicy { function_arn: arn(&format!("f{number}")), qualifier: None };
    let mut aws = Recorded::default();
    for number in 0..40 {
        let get = calls(&format!("f{number}")).1;
        aws = aws.on(&get, Answer::Error(404, "ResourceNotFoundException", "no policy"));
    }
    let (session, start) = (aws.session("permission"), Instant::now());
    let places: Vec<FunctionPolicy> = (0..40).map(place).collect();
    for statements in futures::future::join_all(places.iter().map(|place| policy(&session, place))).await {
        assert_eq!(statements.unwrap(), []);
    }
    let mut sent: Vec<Duration> = aws.requests().iter().map(|request| request.times.0 - start).collect();
    sent.sort();
    assert_eq!(sent.len(), 40);
    assert_eq!(sent[14], Duration::ZERO, "the first 15 calls do not wait");
    for (place, first) in sent.iter().enumerate() {
        let calls = sent[place..].iter().filter(|at| **at < *first + Duration::from_secs(1)).count();
        assert!(calls <= 15, "{calls} calls in the second from {first:?}");
    }
    assert_eq!(start.elapsed(), Duration::from_millis(2200), "the last 10 calls wait for two periods");
}

#[tokio::test(start_paused = true)]
async fn polls_of_a_policy_pause_for_at_least_200_ms() {
    let spec = spec("late", None);
    let (post, get) = calls("late");
    let mut aws = Recorded::default().on(&post, Answer::Json(201, json!({})));
    for _ in 0..3 {
        aws = aws.on(&get, Answer::Error(404, "ResourceNotFoundException", "no policy"));
    }
    let aws = aws.on(&get, policy_with(&sid(&spec), SOURCE));
    let session = aws.session("permission");
    run(&session, &Key::new("p"), &ids(), async |it| create(it, &spec).await).await.0.unwrap();
    let polls: Vec<Instant> = aws.requests().iter().filter(|it| it.call == get).map(|it| it.times.0).collect();
    let pauses: Vec<u128> = polls.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect();
    assert_eq!(pauses, [200, 300, 450]);
}

#[tokio::test(start_paused = true)]
async fn calls_for_one_function_never_overlap() {
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
    let requests = aws.requests();
    let times = |call: &str| {
        let times = requests.iter().find(|it| it.call == call).expect("it was called").times;
        (times.0, times.1.expect("it was answered"))
    };
    let (plain, live, other) = (times(&post), times(&post_live), times(&post_other));
    assert!(plain.1 <= live.0 || live.1 <= plain.0, "two changes of one function overlap");
    assert!(other.0 < plain.1 || other.0 < live.1, "calls for another function waited");
}

#[tokio::test(start_paused = true)]
async fn statement_of_a_missing_function_counts_as_deleted() {
    let spec = spec("missing", Some("live"));
    let entry = Entry::new(Key::new("p"), "fgw-api1-routes-1", Spec::LambdaPermission(spec));
    let (post, get) = calls("missing");
    let (call, get) = (
        format!("DELETE {}/fgw-api1-routes-1?Qualifier=live", &post["POST ".len()..]),
        format!("{get}?Qualifier=live"),
    );
    let aws = Recorded::default().on(&call, Answer::Error(404, "ResourceNotFoundException", "no function"));
    let aws =
        aws.on(&get, Answer::Error(404, "ResourceNotFoundException", "The resource you requested does not exist."));
    let session = aws.session("permission");
    run(&session, &entry.key, &ids(), async |it| delete(it, &entry).await).await.0.unwrap();
    assert_eq!(aws.calls(), [call, get]);
}

#[test]
fn statement_ids_are_valid_and_differ_by_function_and_caller() {
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
fn statement_with_other_conditions_or_permissions_is_different() {
    let base = json!({ "Sid": "s", "Effect": "Allow", "Principal": { "Service": "apigateway.amazonaws.com" },
        "Action": "lambda:InvokeFunction", "Condition": { "ArnLike": { "AWS:SourceArn": "a" } } });
    assert!(Statement(base.clone()).allows("apigateway.amazonaws.com", "a"));
    assert!(!Statement(base.clone()).allows("apigateway.amazonaws.com", "b"));
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
        assert!(!Statement(statement.clone()).allows("apigateway.amazonaws.com", "a"), "{statement}");
    }
}

/// Recorded: PutSubscriptionFilter with `logs.<region>.amazonaws.com`. hashicorp/aws acceptance tests:
/// TestAccLogsSubscriptionFilter_basic with `logs.amazonaws.com`.
#[test]
fn both_principals_of_cloudwatch_logs_mean_the_same() {
    let source = "arn:aws:logs:eu-west-1:123456789012:log-group:/http/shop:*";
    let statement = |principal: &str, source: &str| {
        Statement(json!({ "Sid": "s", "Effect": "Allow", "Principal": { "Service": principal },
            "Action": "lambda:InvokeFunction", "Resource": "arn:aws:lambda:eu-west-1:123456789012:function:sink",
            "Condition": { "ArnLike": { "AWS:SourceArn": source } } }))
    };
    let logs = CallerId::LogGroup("/http/shop").service();
    assert_eq!(logs, "logs.amazonaws.com");
    for principal in ["logs.amazonaws.com", "logs.eu-west-1.amazonaws.com"] {
        assert!(statement(principal, source).allows(logs, source), "{principal}");
    }
    for principal in ["logs.us-east-1.amazonaws.com", "logs.eu-west-1.amazonaws.com.evil", "logs..amazonaws.com"] {
        assert!(!statement(principal, source).allows(logs, source), "{principal}");
    }
    // API Gateway has no regional principal.
    let source = "arn:aws:execute-api:eu-west-1:123456789012:api1/*/*";
    let regional = statement("apigateway.eu-west-1.amazonaws.com", source);
    assert!(!regional.allows(CallerId::Routes.service(), source));
    assert!(!statement("logs.eu-west-1.amazonaws.com", source).allows(CallerId::Routes.service(), source));
}

/// Recorded: GetPolicy of 2025, and AddPermission of 2016, in which the action is a list. Statements have the order of
/// their creation, and one without a source has no condition.
#[tokio::test(start_paused = true)]
async fn policies_are_read_in_their_recorded_shapes() {
    let (spec, get) = (spec("orders", None), calls("orders").1);
    let resource = arn("orders");
    let mut recent = json!({ "Sid": sid(&spec), "Effect": "Allow", "Principal": { "Service": "apigateway.amazonaws.com" },
        "Action": "lambda:InvokeFunction", "Resource": resource,
        "Condition": { "ArnLike": { "AWS:SourceArn": SOURCE } } });
    let other = json!({ "Sid": "s3", "Effect": "Allow", "Principal": { "Service": "s3.amazonaws.com" },
        "Action": "lambda:InvokeFunction", "Resource": resource });
    for action in [json!("lambda:InvokeFunction"), json!(["lambda:InvokeFunction"])] {
        recent["Action"] = action;
        let text = json!({ "Version": "2012-10-17", "Id": "default", "Statement": [other, recent] }).to_string();
        let body = json!({ "Policy": text, "RevisionId": "e4931240-3303-43be-a879-bc1b4e533200" });
        let aws = Recorded::default().on(&get, Answer::Json(200, body));
        let session = aws.session("permission");
        let statements = policy(&session, &FunctionPolicy::known(&spec).unwrap()).await.unwrap();
        assert_eq!(statements.len(), 2);
        let read = |id: &str| read(&session.scope, &statements, "api1", id, Key::new("p"), &spec);
        assert_eq!(read(&sid(&spec)).map(|it| it.spec), Some(Spec::LambdaPermission(spec.clone())));
        assert_eq!(read("s3"), None, "it allows another service");
        assert_eq!(read("missing"), None);
    }
    let empty = json!({ "Version": "2012-10-17", "Id": "default", "Statement": [] }).to_string();
    let none = [
        Answer::Json(200, json!({ "Policy": empty, "RevisionId": "r" })),
        Answer::Error(404, "ResourceNotFoundException", "The resource you requested does not exist."),
    ];
    for answer in none {
        let aws = Recorded::default().on(&get, answer);
        assert_eq!(policy(&aws.session("permission"), &FunctionPolicy::known(&spec).unwrap()).await, Ok(vec![]));
    }
}

/// Recorded: RemovePermission of a missing statement, of a function without a policy, and of a missing function.
#[tokio::test(start_paused = true)]
async fn missing_statements_count_as_deleted() {
    let spec = spec("orders", None);
    let entry = Entry::new(Key::new("p"), sid(&spec), Spec::LambdaPermission(spec.clone()));
    let (post, get) = calls("orders");
    let call = format!("DELETE {}/{}", &post["POST ".len()..], sid(&spec));
    let own: &'static str = format!("Statement {} is not found in resource policy.", sid(&spec)).leak();
    for (text, is_read) in [
        (own, false),
        ("No policy is associated with the given resource.", false),
        ("Statement fgw-api9-routes-9 is not found in resource policy.", true),
        ("No policy found for: arn:aws:lambda:eu-west-1:123456789012:function:orders", true),
    ] {
        let missing = |text| Answer::Error(404, "ResourceNotFoundException", text);
        let aws = Recorded::default()
            .on(&call, missing(text))
            .on(&get, missing("The resource you requested does not exist."));
        let session = aws.session("permission");
        assert_eq!(run(&session, &entry.key, &ids(), async |it| delete(it, &entry).await).await.0, Ok(()));
        assert_eq!(aws.calls().contains(&get), is_read, "{text}");
    }
}
