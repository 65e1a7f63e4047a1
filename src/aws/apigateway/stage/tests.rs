//! Creates, updates and deletions of stages.

use serde_json::json;

use super::*;
use crate::aws::recorded::{Answer, Recorded, request_of, run, without_request};
use crate::cloud::OpContext;

const STAGE: &str = "/v2/apis/api1/stages/%24default";

fn spec(log: bool) -> Stage {
    Stage {
        access_log: log.then(|| AccessLog {
            log_group: Ref::Key(Key::new("log_group")),
            format: Input::Known("$context.requestId".into()),
        }),
        ..Stage::test()
    }
}

fn ids() -> [(Key, &'static str); 2] {
    [(Key::new("api"), "api1"), (Key::new("log_group"), "/http/shop")]
}

#[tokio::test(start_paused = true)]
async fn create_sets_auto_deploy_and_the_log_group_arn_without_star() {
    let post = "POST /v2/apis/api1/stages";
    let aws = Recorded::default().on(post, Answer::Json(201, json!({})));
    let session = aws.session("stage-create");
    let (answer, reported) = run(&session, &Key::new("stage"), &ids(), async |it| create(it, &spec(true)).await).await;
    answer.unwrap();
    assert_eq!(reported.ids, [Stage::DEFAULT]);
    assert_eq!(
        without_request(aws.body(post)),
        json!({ "stageName": "$default", "autoDeploy": true,
            "accessLogSettings": { "format": "$context.requestId",
                "destinationArn": "arn:aws:logs:stage-create:123456789012:log-group:/http/shop" },
            "tags": { "fgw:resource": "http_gateway/api1", "fgw:object": "stage" } })
    );
}

#[tokio::test(start_paused = true)]
async fn access_logs_are_disabled_by_a_separate_call() {
    let off = format!("DELETE {STAGE}/accesslogsettings");
    let aws = Recorded::default().on(&off, Answer::Json(204, json!(null)));
    let session = aws.session("stage-off");
    let call = async |it: &Operation<'_>| update(it, Stage::DEFAULT, &spec(true), &spec(false)).await;
    run(&session, &Key::new("stage"), &ids(), call).await.0.unwrap();
    assert_eq!(aws.calls(), [off]);
}

#[tokio::test(start_paused = true)]
async fn access_logs_are_enabled_in_place() {
    let patch = format!("PATCH {STAGE}");
    let aws = Recorded::default().on(&patch, Answer::Json(200, json!({})));
    let session = aws.session("stage-on");
    let call = async |it: &Operation<'_>| update(it, Stage::DEFAULT, &spec(false), &spec(true)).await;
    run(&session, &Key::new("stage"), &ids(), call).await.0.unwrap();
    assert_eq!(aws.body(&patch)["accessLogSettings"]["format"], "$context.requestId");
    assert_eq!(aws.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_full_log_policy_is_an_error_with_both_ways_out() {
    let full =
        "Cannot enable logging. Policy document length breaking Cloudwatch Logs Constraints, either < 1 or > 5120";
    let post = "POST /v2/apis/api1/stages";
    let patch = format!("PATCH {STAGE}");
    for text in [full, "Insufficient permissions to enable logging"] {
        let rejected = || Answer::Error(400, "BadRequestException", text);
        let aws = Recorded::default().on(post, rejected()).on(&patch, rejected());
        let session = aws.session("stage-policy");
        let create = async |it: &Operation<'_>| create(it, &spec(true)).await;
        let created = run(&session, &Key::new("stage"), &ids(), create).await.0.unwrap_err();
        let update = async |it: &Operation<'_>| update(it, Stage::DEFAULT, &spec(false), &spec(true)).await;
        let updated = run(&session, &Key::new("stage"), &ids(), update).await.0.unwrap_err();
        for failure in [created, updated] {
            let parts = [text, "/aws/vendedlogs/", "AWSLogDeliveryWrite20150319", "put-resource-policy"];
            assert!(parts.iter().all(|part| failure.text().contains(part)), "{failure}");
            assert_eq!(failure.case, Some(Case::AccessLogs));
        }
        assert_eq!(aws.calls(), [post, &patch], "a retry cannot succeed");
    }
    let aws = Recorded::default().on(post, Answer::Error(400, "BadRequestException", "Invalid format"));
    let session = aws.session("stage-policy");
    let create = async |it: &Operation<'_>| create(it, &spec(true)).await;
    let failure = run(&session, &Key::new("stage"), &ids(), create).await.0.unwrap_err();
    assert_eq!(failure.message, "Invalid format");
}

#[tokio::test(start_paused = true)]
async fn existing_stage_is_adopted_only_after_a_lost_answer() {
    const POST: &str = "POST /v2/apis/api1/stages";
    let exists = || Answer::Error(409, "ConflictException", "Stage already exists");
    for tags in [json!({}), json!({ "fgw:resource": "http_gateway/api1", "fgw:object": "stage" })] {
        let shown = json!({ "stageName": "$default", "tags": tags });
        let aws = Recorded::default().on(POST, exists()).on(&format!("GET {STAGE}"), Answer::Json(200, shown));
        let session = aws.session("stage-foreign");
        let (answer, reported) =
            run(&session, &Key::new("stage"), &ids(), async |it| create(it, &spec(false)).await).await;
        let failure = answer.unwrap_err();
        assert_eq!(failure.cause, Cause::Exists);
        assert!(failure.text().contains("delete-stage --api-id api1"), "{failure}");
        assert!(reported.ids.is_empty());
    }
    let created = Answer::To(|requests| {
        let tags = json!({ "fgw:request": request_of(requests, POST) });
        Answer::Json(200, json!({ "stageName": "$default", "tags": tags }))
    });
    let aws = Recorded::default().on(POST, Answer::Lost).on(&format!("GET {STAGE}"), created);
    let session = aws.session("stage-lost");
    let (answer, reported) = run(&session, &Key::new("stage"), &ids(), async |it| create(it, &spec(false)).await).await;
    answer.unwrap();
    assert_eq!(reported.ids, [Stage::DEFAULT]);
}

#[tokio::test(start_paused = true)]
async fn failed_deployment_is_drift_and_update_deploys_again() {
    let message = "Deployment attempt failed: Unable to deploy API";
    let shown =
        Shown::builder().stage_name(Stage::DEFAULT).auto_deploy(true).last_deployment_status_message(message).build();
    let Spec::Stage(failed) =
        read(&shown, (Key::new("api"), Key::new("stage")), None, &BTreeSet::new(), |arn| Ref::Id(arn.into())).spec
    else {
        panic!("it is a stage")
    };
    let difference = Spec::Stage(spec(false)).differences(&Spec::Stage(failed.clone()));
    assert_eq!(difference, [format!("deployment_failure is {message} instead of absent")]);
    let patch = format!("PATCH {STAGE}");
    let aws = Recorded::default().on(&patch, Answer::Json(200, json!({})));
    let session = aws.session("stage-again");
    let call = async |it: &Operation<'_>| update(it, Stage::DEFAULT, &failed, &spec(false)).await;
    run(&session, &Key::new("stage"), &ids(), call).await.0.unwrap();
    assert_eq!(aws.body(&patch), json!({ "autoDeploy": true }));
}

/// Runs an operation while state contains these stages.
async fn with_stages(
    session: &Session,
    names: &[&str],
    call: impl AsyncFnOnce(&Operation<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let deployed: BTreeSet<String> = names.iter().map(|name| (*name).to_string()).collect();
    let call = async |it: &Operation<'_>| {
        let work = OpContext { deployed, ..it.work.clone() };
        call(&Operation { work: &work, ..*it }).await
    };
    run(session, &Key::new("stage"), &ids(), call).await.0
}

fn with_variables(variables: &[(&str, &str)], description: Option<&str>) -> Stage {
    let variables = variables.iter().map(|(name, value)| ((*name).to_string(), Input::Known((*value).to_string())));
    let description = Input::Known(description.map(str::to_string));
    Stage { variables: Input::Known(variables.collect()), description, ..Stage::test() }
}

#[tokio::test(start_paused = true)]
async fn variables_are_removed_by_empty_values_and_descriptions_never() {
    let patch = format!("PATCH {STAGE}");
    let from = with_variables(&[("a", "1"), ("b", "2"), ("c", "3")], Some("Live."));
    for (to, sent) in [
        (
            with_variables(&[("a", "1"), ("b", "9"), ("d", "4")], Some("Next.")),
            json!({ "description": "Next.", "stageVariables": { "b": "9", "c": "", "d": "4" } }),
        ),
        (with_variables(&[("a", "1"), ("b", "2"), ("c", "3")], None), json!(null)),
    ] {
        let aws = Recorded::default().on(&patch, Answer::Json(200, json!({})));
        let session = aws.session("stage-variables");
        let call = async |it: &Operation<'_>| update(it, Stage::DEFAULT, &from, &to).await;
        run(&session, &Key::new("stage"), &ids(), call).await.0.unwrap();
        match sent.is_null() {
            true => assert_eq!(aws.calls(), [""; 0]),
            false => assert_eq!(aws.body(&patch), sent),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_named_stage_is_created_with_its_variables() {
    let post = "POST /v2/apis/api1/stages";
    let aws = Recorded::default().on(post, Answer::Json(201, json!({})));
    let session = aws.session("stage-named");
    let spec = Stage { name: "prod".to_string(), ..with_variables(&[("a", "1")], Some("Live.")) };
    let (answer, reported) = run(&session, &Key::new("stage"), &ids(), async |it| create(it, &spec).await).await;
    answer.unwrap();
    assert_eq!(reported.ids, ["prod"]);
    let sent = without_request(aws.body(post));
    assert_eq!(
        (&sent["stageName"], &sent["stageVariables"], &sent["description"]),
        (&json!("prod"), &json!({ "a": "1" }), &json!("Live."))
    );
}

#[tokio::test(start_paused = true)]
async fn an_old_stage_is_deleted_when_the_new_one_serves_the_api() {
    const NEW: &str = "GET /v2/apis/api1/stages/prod";
    let delete_call = format!("DELETE {STAGE}");
    let shown = |message: Option<&str>| {
        let id = message.map(|_| "d1");
        Answer::Json(
            200,
            json!({ "stageName": "prod", "autoDeploy": true, "deploymentId": id,
            "lastDeploymentStatusMessage": message }),
        )
    };
    let entry = Entry::new(Key::new("stage"), Stage::DEFAULT, Spec::Stage(Stage::test()));
    for (message, is_deleted) in
        [("Successfully deployed stage", true), ("Deployment attempt failed: Unable to deploy API", false)]
    {
        let aws = Recorded::default()
            .on(NEW, shown(None))
            .on(NEW, shown(Some(message)))
            .on("GET /v2/apis/api1/deployments/d1", Answer::Json(200, json!({ "createdDate": "2023-11-14T22:13:20Z" })))
            .on(&delete_call, Answer::Json(204, json!(null)));
        let session = aws.session("stage-replaced");
        session.process.created.add("api1/prod");
        session.process.unmapped.add("stage-replaced api1".to_string());
        let start = tokio::time::Instant::now();
        let result = with_stages(&session, &["$default", "prod"], async |it| delete(it, &entry).await).await;
        assert_eq!(
            result.as_ref().map_err(|failure| failure.cause),
            if is_deleted { Ok(&()) } else { Err(Cause::NotDeployed) }
        );
        let calls = aws.calls();
        assert_eq!(calls.contains(&delete_call), is_deleted, "{calls:?}");
        assert!(!calls.contains(&format!("GET {STAGE}")), "the old stage may serve anything: {calls:?}");
        assert!(start.elapsed() >= LAST_REQUESTS, "a mapping has just left it");
    }
}
