use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::*;
use crate::aws::recorded::{Answer, Recorded, run};
use crate::cloud::{Case, Cause};

const POST: &str = "POST /v2/apis/api1/integrations";
const LIST: &str = "GET /v2/apis/api1/integrations";
const ROUTES: &str = "GET /v2/apis/api1/routes";
const FUNCTION: &str = "arn:aws:lambda:eu-central-1:123456789012:function:orders";

fn spec() -> Integration {
    Integration {
        target: Target::function(FUNCTION),
        payload_format_version: Input::Known("1.0".into()),
        ..Integration::test()
    }
}

fn shown(id: &str, timeout: i32) -> Value {
    json!({ "integrationId": id, "integrationType": "AWS_PROXY", "payloadFormatVersion": "1.0",
        "timeoutInMillis": timeout, "integrationUri":
        format!("arn:aws:apigateway:eu-central-1:lambda:path/2015-03-31/functions/{FUNCTION}/invocations") })
}

fn ids() -> [(Key, &'static str); 1] {
    [(Key::new("api"), "api1")]
}

/// The calls of a create with these equal integrations and one route in AWS, and the recorded ID.
async fn create_next_to(equal: &[&str], route: Value, known: &[&str]) -> (Vec<String>, Vec<String>) {
    let equal = equal.iter().map(|id| shown(id, 30_000));
    let items: Vec<Value> = equal.chain([shown("other", 29_000)]).collect();
    let aws = Recorded::default()
        .on(LIST, Answer::Json(200, json!({ "items": items })))
        .on(ROUTES, Answer::Json(200, json!({ "items": [route] })))
        .on(POST, Answer::Json(201, json!({ "integrationId": "new" })));
    let session = aws.session("integration-left");
    for id in known {
        session.process.created.add(*id);
    }
    let routes = ["GET /wanted".to_string()];
    let (answer, reported) =
        run(&session, &Key::new("i"), &ids(), async |it| create(&Operation { routes: &routes, ..*it }, &spec()).await)
            .await;
    answer.unwrap();
    (aws.calls(), reported.ids)
}

fn route_to(id: &str, key: &str) -> Value {
    json!({ "routeId": "r1", "routeKey": key, "target": format!("integrations/{id}"), "authorizationType": "NONE" })
}

#[tokio::test(start_paused = true)]
async fn equal_integration_of_an_interrupted_run_is_adopted() {
    let adopted = |id: &str| (vec![LIST.to_string(), ROUTES.to_string()], vec![id.to_string()]);
    assert_eq!(create_next_to(&["i1"], route_to("other", "GET /theirs"), &[]).await, adopted("i1"));
    assert_eq!(create_next_to(&["i1"], route_to("i1", "GET /wanted"), &[]).await, adopted("i1"));
    assert_eq!(create_next_to(&["i1"], route_to("i1", "GET /ours"), &["r1"]).await, adopted("i1"));
    assert_eq!(create_next_to(&["i1", "i2"], route_to("i1", "GET /theirs"), &[]).await, adopted("i2"));
}

#[tokio::test(start_paused = true)]
async fn equal_integration_of_others_or_in_state_is_not_adopted() {
    let created = |calls: &[&str]| (calls.iter().map(|it| it.to_string()).collect(), vec!["new".to_string()]);
    let theirs = create_next_to(&["i1"], route_to("i1", "GET /theirs"), &[]).await;
    assert_eq!(theirs, created(&[LIST, ROUTES, POST]));
    let ours = create_next_to(&["i1"], route_to("i1", "GET /ours"), &["i1", "r1"]).await;
    assert_eq!(ours, created(&[LIST, POST]));
}

#[tokio::test(start_paused = true)]
async fn integration_is_created_if_none_is_equal() {
    let aws = Recorded::default()
        .on(LIST, Answer::Json(200, json!({ "items": [shown("i1", 29_000)] })))
        .on(POST, Answer::Json(201, json!({ "integrationId": "i2" })));
    let (answer, reported) =
        run(&aws.session("integration-new"), &Key::new("i"), &ids(), async |it| create(it, &spec()).await).await;
    answer.unwrap();
    assert_eq!(reported.ids, ["i2"]);
    assert_eq!(
        aws.body(POST),
        json!({ "integrationType": "AWS_PROXY", "integrationMethod": "POST", "integrationUri": FUNCTION,
            "payloadFormatVersion": "1.0", "timeoutInMillis": 30_000 })
    );
}

#[tokio::test(start_paused = true)]
async fn update_clears_the_description_and_sends_only_the_type() {
    let patch = "PATCH /v2/apis/api1/integrations/i1";
    let aws = Recorded::default().on(patch, Answer::Json(200, json!({})));
    let from = Integration { description: Input::Known(Some("text".into())), ..spec() };
    let session = aws.session("integration-clear");
    run(&session, &Key::new("i"), &ids(), async |it| update(it, "i1", &from, &spec()).await).await.0.unwrap();
    assert_eq!(aws.body(patch), json!({ "integrationType": "AWS_PROXY", "description": "" }));
    let other_permission = Integration { permission: Some(Key::new("permission.orders")), ..spec() };
    run(&session, &Key::new("i"), &ids(), async |it| update(it, "i1", &other_permission, &spec()).await)
        .await
        .0
        .unwrap();
    assert_eq!(aws.calls().len(), 1, "a change of the permission sends no call");
}

#[tokio::test(start_paused = true)]
async fn delete_of_an_integration_in_use_is_retried_for_30_s() {
    let message = "Cannot delete Integration because it is referenced by the following Routes";
    let delete_call = "DELETE /v2/apis/api1/integrations/i1";
    let used = || Answer::Error(409, "ConflictException", message);
    let entry = Entry::new(Key::new("i"), "i1", Spec::Integration(spec()));
    let deleted = Answer::Json(204, Value::Null);
    let aws = Recorded::default().on(delete_call, used()).on(delete_call, used()).on(delete_call, deleted);
    run(&aws.session("integration-lag"), &entry.key, &ids(), async |it| delete(it, &entry).await).await.0.unwrap();
    assert_eq!(aws.calls(), [delete_call; 3]);

    let (aws, start) = (Recorded::default().on(delete_call, used()), Instant::now());
    let session = aws.session("integration-used");
    let failure = run(&session, &entry.key, &ids(), async |it| delete(it, &entry).await).await.0.unwrap_err();
    assert_eq!(failure.cause, Cause::InUse);
    assert!(failure.message.starts_with(message), "{failure}");
    assert_eq!(start.elapsed(), Duration::from_secs(30));
}

#[tokio::test(start_paused = true)]
async fn a_retried_delete_does_not_block_other_changes_of_the_api() {
    let used = Answer::Error(409, "ConflictException", "It is referenced by the following Routes: r1");
    let patch = "PATCH /v2/apis/api1/integrations/i2";
    let delete_call = "DELETE /v2/apis/api1/integrations/i1";
    let aws = Recorded::default().on(delete_call, used).on(patch, Answer::Json(200, json!({})));
    let session = aws.session("integration-lock");
    let entry = Entry::new(Key::new("i"), "i1", Spec::Integration(spec()));
    let described = Integration { description: Input::Known(Some("text".into())), ..spec() };
    let (ids, start) = (ids(), Instant::now());
    let (deleted, updated) = tokio::join!(
        run(&session, &entry.key, &ids, async |it| delete(it, &entry).await),
        run(&session, &entry.key, &ids, async |it| {
            update(it, "i2", &spec(), &described).await?;
            assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
            Ok(())
        })
    );
    updated.0.unwrap();
    assert_eq!(deleted.0.unwrap_err().cause, Cause::InUse);
}

#[tokio::test(start_paused = true)]
async fn an_exceeded_quota_is_an_error_with_advice_and_is_not_retried() {
    let message = "Maximum number of Integrations for this API has been reached. Please contact AWS if you need \
                   additional Integrations.";
    let aws = Recorded::default()
        .on(LIST, Answer::Json(200, json!({ "items": [] })))
        .on(POST, Answer::Error(429, "ConflictException", message));
    let session = aws.session("integration-quota");
    let failure = run(&session, &Key::new("i"), &ids(), async |it| create(it, &spec()).await).await.0.unwrap_err();
    assert!(failure.message.starts_with(message), "{failure}");
    assert!(failure.message.contains("without the objects to be deleted first"), "{failure}");
    assert_eq!(failure.case, Some(Case::QuotaExceeded));
    assert_eq!(aws.calls(), [LIST, POST]);
}

#[test]
fn invoke_uri_is_read_as_the_configured_function() {
    let uri = format!("arn:aws:apigateway:eu-central-1:lambda:path/2015-03-31/functions/{FUNCTION}/invocations");
    let shown = Shown::builder()
        .integration_id("i1")
        .integration_type(IntegrationType::AwsProxy)
        .integration_uri(uri)
        .payload_format_version("1.0")
        .timeout_in_millis(30_000)
        .description("")
        .build();
    let observed = read(&shown, Key::new("api"), Key::new("i"), Some(&spec())).unwrap();
    assert_eq!(observed.spec, Spec::Integration(spec()));
    let proxy = Shown::builder().integration_type(IntegrationType::HttpProxy).integration_uri("https://a").build();
    assert_eq!(read(&proxy, Key::new("api"), Key::new("i"), None), None);
}

/// The bodies of an update, and the reads before it.
async fn updated(from: &Integration, to: &Integration, shown: Value) -> (Value, usize) {
    let patch = "PATCH /v2/apis/api1/integrations/i1";
    let aws = Recorded::default()
        .on(LIST, Answer::Json(200, json!({ "items": [shown] })))
        .on(patch, Answer::Json(200, json!({})));
    let session = aws.session("integration-update");
    run(&session, &Key::new("i"), &ids(), async |it| update(it, "i1", from, to).await).await.0.unwrap();
    (aws.body(patch), aws.calls().len() - 1)
}

fn http(uri: &str) -> Integration {
    Integration {
        target: Target::Http {
            integration_uri: Input::Known(uri.into()),
            integration_method: Input::Known("ANY".into()),
            vpc_link: None,
            server_name_to_verify: Input::Known(None),
        },
        ..spec()
    }
}

fn parameters(names: &[&str]) -> Parameters {
    names.iter().map(|name| (name.to_string(), "x".to_string())).collect()
}

#[tokio::test(start_paused = true)]
async fn a_private_endpoint_is_sent_with_its_link_and_its_name() {
    let sent = json!({ "integrationType": "HTTP_PROXY", "integrationUri": "https://a.example.com" });
    let (from, to) = (http("http://b.example.com"), http("https://a.example.com"));
    assert_eq!(updated(&from, &to, json!({})).await, (sent.clone(), 0));
    let mut private = to.clone();
    private.target = Target::Http {
        integration_uri: Input::Known("arn".into()),
        integration_method: Input::Known("GET".into()),
        vpc_link: Some(Ref::Id("link1".into())),
        server_name_to_verify: Input::Known(Some("a.example.com".into())),
    };
    let mut expected = sent;
    for (name, value) in [
        ("integrationUri", json!("arn")),
        ("integrationMethod", json!("GET")),
        ("connectionType", json!("VPC_LINK")),
        ("connectionId", json!("link1")),
        ("tlsConfig", json!({ "serverNameToVerify": "a.example.com" })),
    ] {
        expected[name] = value;
    }
    assert_eq!(updated(&to, &private, json!({})).await.0, expected);
}

fn private(listener: &str) -> Integration {
    let mut private = http("");
    private.target = Target::Http {
        integration_uri: Input::Known(listener.into()),
        integration_method: Input::Known("ANY".into()),
        vpc_link: Some(Ref::Id("link1".into())),
        server_name_to_verify: Input::Known(None),
    };
    private
}

/// hashicorp/terraform-provider-aws#22590
#[tokio::test(start_paused = true)]
async fn the_listener_of_a_new_load_balancer_is_awaited_for_two_minutes() {
    let text = "Unable to retrieve listener port and load balancer DNS name from ELB listener";
    let unreadable = || Answer::Error(400, "BadRequestException", text);
    let aws = Recorded::default()
        .on(POST, unreadable())
        .on(POST, unreadable())
        .on(POST, Answer::Json(201, json!({ "integrationId": "i1" })));
    let session = aws.session("integration-listener");
    session.process.created.add("api1");
    let created = run(&session, &Key::new("i"), &ids(), async |it| create(it, &private("arn:listener")).await).await;
    created.0.unwrap();
    assert_eq!((created.1.ids, aws.calls()), (vec!["i1".to_string()], vec![POST.to_string(); 3]));

    // Other changes of the API are not blocked meanwhile.
    let (patch, other) = ("PATCH /v2/apis/api1/integrations/i1", "PATCH /v2/apis/api1/integrations/i2");
    let aws = Recorded::default().on(patch, unreadable()).on(other, Answer::Json(200, json!({})));
    let (session, start) = (aws.session("integration-listener-missing"), Instant::now());
    let key = Key::new("i");
    let ids = ids();
    let (refused, updated) = tokio::join!(
        run(&session, &key, &ids, async |it| { update(it, "i1", &private("arn:old"), &private("arn:new")).await }),
        run(&session, &key, &ids, async |it| {
            update(it, "i2", &http("http://a"), &http("http://b")).await?;
            assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
            Ok(())
        })
    );
    updated.0.unwrap();
    let failure = refused.0.unwrap_err();
    assert_eq!(start.elapsed(), Duration::from_secs(120));
    assert!(failure.message.starts_with(text), "{failure}");
    assert!(failure.text().ends_with("\naws elbv2 describe-listeners --listener-arns arn:new"), "{failure:?}");
}

#[tokio::test(start_paused = true)]
async fn removed_parameters_are_cleared_by_the_update() {
    let from = Integration {
        request_parameters: Input::Known(parameters(&["append:header.a", "append:header.b"])),
        response_parameters: Input::Known(
            [("200".to_string(), parameters(&["append:header.a"])), ("404".to_string(), parameters(&["x"]))].into(),
        ),
        ..http("https://a.example.com")
    };
    let to = Integration {
        request_parameters: Input::Known(parameters(&["append:header.b"])),
        response_parameters: Input::Known([("200".to_string(), parameters(&["append:header.a"]))].into()),
        ..from.clone()
    };
    let cleared = json!({ "append:header.a": "", "append:header.b": "x" });
    let codes = json!({ "200": { "append:header.a": "x" }, "404": {} });
    let (body, reads) = updated(&from, &to, json!({})).await;
    assert_eq!((&body["requestParameters"], &body["responseParameters"], reads), (&cleared, &codes, 0));
    let described = Integration { description: Input::Known(Some("text".into())), ..to.clone() };
    let (body, _) = updated(&to, &described, json!({})).await;
    assert_eq!(body, json!({ "integrationType": "HTTP_PROXY", "description": "text" }));
}

#[tokio::test(start_paused = true)]
async fn an_action_is_created_without_a_method_and_a_uri() {
    let service = Integration {
        target: Target::Service {
            integration_subtype: Input::Known("SQS-SendMessage".into()),
            credentials_arn: Input::Known(Some("role".into())),
        },
        request_parameters: Input::Known(parameters(&["QueueUrl"])),
        ..spec()
    };
    let aws = Recorded::default()
        .on(LIST, Answer::Json(200, json!({ "items": [shown("i1", 30_000)] })))
        .on(POST, Answer::Json(201, json!({ "integrationId": "i2" })));
    let session = aws.session("integration-action");
    run(&session, &Key::new("i"), &ids(), async |it| create(it, &service).await).await.0.unwrap();
    assert_eq!(
        aws.body(POST),
        json!({ "integrationType": "AWS_PROXY", "integrationSubtype": "SQS-SendMessage", "credentialsArn": "role",
            "payloadFormatVersion": "1.0", "timeoutInMillis": 30_000, "requestParameters": { "QueueUrl": "x" } })
    );
}

#[test]
fn an_integration_that_became_another_one_is_missing() {
    let builder = || {
        let shown = Shown::builder().integration_id("i1").integration_method("GET").payload_format_version("1.0");
        shown.integration_uri("https://a.example.com").request_parameters("append:header.a", "")
    };
    let read = |shown: Shown, applied: &Integration| read(&shown, Key::new("api"), Key::new("i"), Some(applied));
    let found = builder().integration_type(IntegrationType::HttpProxy).build();
    let observed = read(found.clone(), &http("https://b.example.com")).unwrap().spec;
    let Spec::Integration(observed) = observed else { unreachable!() };
    assert_eq!(observed.request_parameters, Input::default(), "an empty value is that of a removed parameter");
    assert!(read(found, &spec()).is_none());
    assert!(read(builder().integration_type(IntegrationType::Mock).build(), &spec()).is_none());
}
