use serde_json::{Value, json};

use super::*;
use crate::aws::recorded::{Answer, Recorded, run};
use crate::model::{Key, Spec, Stage};

const STAGE: &str = "GET /v2/apis/api1/stages/%24default";
const PATCH: &str = "PATCH /v2/apis/api1/stages/%24default";
const REGION: &str = "us-east-1";
const SUCCESS: &str = "Successfully deployed stage with deployment ID 'd2'";
const FAILURE: &str = "Deployment attempt failed: Unable to deploy API because no valid routes exist in this API";

const WAIT: Wait = Wait { quiet: QUIET, is_deferred: false };

/// The time of the last change, in seconds since the Unix epoch.
const CHANGED: i64 = 1_700_000_000;

fn stage(id: Option<&str>, message: Option<&str>) -> Answer {
    let mut body = json!({ "stageName": "$default", "autoDeploy": true, "routeSettings": {}, "tags": {} });
    if let Some(id) = id {
        body["deploymentId"] = id.into();
    }
    if let Some(message) = message {
        body["lastDeploymentStatusMessage"] = message.into();
    }
    Answer::Json(200, body)
}

fn deployment(id: &str, created: Value) -> Answer {
    let body = json!({ "deploymentId": id, "autoDeployed": true, "createdDate": created,
        "deploymentStatus": "DEPLOYED" });
    Answer::Json(200, body)
}

/// A stage without automatic deployment, with this deployment of this time.
fn deployed_by_hand(id: &str, created: &str) -> Recorded {
    let body = json!({ "stageName": "$default", "autoDeploy": false, "deploymentId": id });
    Recorded::default()
        .on(STAGE, Answer::Json(200, body))
        .on(&format!("GET /v2/apis/api1/deployments/{id}"), deployment(id, created.into()))
}

/// An object whose deletion has waited since this time in an earlier process.
fn entry(since: Option<i64>) -> Entry {
    let stage = Stage { auto_deploy: false, ..Stage::test() };
    let mut entry = Entry::new(Key::new("permission.orders"), "fgw-1", Spec::Stage(stage));
    entry.defer_until_deployed(since);
    entry
}

/// Waits before the deletion of an object. Returns the result and the time in seconds.
async fn delete(session: &Session, awaited: Awaited, since: Option<i64>) -> (Result<(), Failure>, u64) {
    let start = Instant::now();
    let wait = async |it: &Operation<'_>| before_deletion(it, "api1", awaited, &entry(since)).await;
    let result = run(session, &Key::new("permission.orders"), &[], wait).await.0;
    (result, start.elapsed().as_secs())
}

fn stages() -> BTreeSet<String> {
    [Stage::DEFAULT.to_string()].into()
}

fn deadlines() -> Deadlines {
    Deadlines::until(Instant::now() + Duration::from_secs(3600), Default::default())
}

/// Waits before a deletion after a change at `CHANGED`. Returns the result and the time in seconds.
async fn wait(aws: &Recorded) -> (Result<(), Failure>, u64) {
    let (session, start) = (aws.session(REGION), Instant::now());
    session.process.deployed_changes.add(REGION, "api1", false, Some(CHANGED));
    let deadlines = deadlines().at_most(BEFORE_DELETION);
    let result = wait_for(&session, ("api1", &stages()), Awaited::All, &deadlines, WAIT).await;
    (result, start.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn deletions_wait_for_a_later_deployment_that_stays_the_last() {
    let aws = Recorded::default()
        .on(STAGE, stage(Some("d1"), Some(SUCCESS)))
        .on(STAGE, stage(Some("d1"), Some(SUCCESS)))
        .on(STAGE, stage(Some("d2"), Some(SUCCESS)))
        .on(STAGE, stage(Some("d3"), Some(SUCCESS)))
        .on("GET /v2/apis/api1/deployments/d1", deployment("d1", "2023-11-14T22:13:10Z".into()))
        .on("GET /v2/apis/api1/deployments/d2", deployment("d2", "2023-11-14T22:13:20Z".into()))
        .on("GET /v2/apis/api1/deployments/d3", deployment("d3", "2023-11-14T22:13:22Z".into()));
    let (result, seconds) = wait(&aws).await;
    assert_eq!(result, Ok(()));
    assert!((5..9).contains(&seconds), "5 s after the last deployment, not {seconds} s after the start");
    let reads = aws.calls().iter().filter(|call| call.contains("/deployments/")).count();
    assert_eq!(reads, 3, "each deployment is read once");
    let session = aws.session(REGION);
    let calls = aws.calls().len();
    assert_eq!(wait_for(&session, ("api1", &stages()), Awaited::All, &deadlines(), WAIT).await, Ok(()));
    assert_eq!(aws.calls().len(), calls, "the change is known to be deployed");
}

#[tokio::test(start_paused = true)]
async fn a_failed_deployment_fails_all_deletions_with_one_wait() {
    let aws = Recorded::default()
        .on(STAGE, stage(Some("d1"), Some(FAILURE)))
        .on("GET /v2/apis/api1/deployments/d1", deployment("d1", "2023-11-14T22:13:10Z".into()));
    let (result, seconds) = wait(&aws).await;
    let failure = result.unwrap_err();
    assert_eq!(failure.cause, Cause::NotDeployed);
    assert!(failure.message.contains(FAILURE) && failure.message.contains("api1"), "{failure}");
    assert!((30..33).contains(&seconds), "the failure may be an old one: {seconds}");
    let calls = aws.calls().len();
    let again = wait_for(&aws.session(REGION), ("api1", &stages()), Awaited::All, &deadlines(), WAIT).await;
    assert_eq!((again, aws.calls().len()), (Err(failure), calls));
}

#[tokio::test(start_paused = true)]
async fn an_earlier_failure_is_ignored_if_a_later_deployment_succeeds() {
    let aws = Recorded::default()
        .on(STAGE, stage(Some("d1"), Some(FAILURE)))
        .on(STAGE, stage(Some("d1"), Some(FAILURE)))
        .on(STAGE, stage(Some("d2"), Some(SUCCESS)))
        .on("GET /v2/apis/api1/deployments/d1", deployment("d1", "2023-11-14T22:13:10Z".into()))
        .on("GET /v2/apis/api1/deployments/d2", deployment("d2", "2023-11-14T22:13:25Z".into()));
    assert_eq!(wait(&aws).await.0, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_missing_deployment_is_an_error_after_five_minutes() {
    let aws = Recorded::default()
        .on(STAGE, stage(Some("d1"), Some(SUCCESS)))
        .on(PATCH, Answer::Error(400, "BadRequestException", "not now"))
        .on("GET /v2/apis/api1/deployments/d1", deployment("d1", "2023-11-14T22:13:10Z".into()));
    let (result, seconds) = wait(&aws).await;
    let failure = result.unwrap_err();
    assert_eq!((failure.cause, seconds), (Cause::TimedOut, 300));
    let parts = ["deployment d1 precedes the last change", "UpdateStage: not now"];
    assert!(parts.iter().all(|part| failure.message.contains(part)), "{failure}");
}

#[tokio::test(start_paused = true)]
async fn a_new_failure_is_an_error_after_five_seconds() {
    let aws = Recorded::default()
        .on(STAGE, stage(Some("d1"), Some(SUCCESS)))
        .on(STAGE, stage(Some("d1"), Some(FAILURE)))
        .on("GET /v2/apis/api1/deployments/d1", deployment("d1", "2023-11-14T22:13:10Z".into()));
    let (result, seconds) = wait(&aws).await;
    assert_eq!(result.unwrap_err().cause, Cause::NotDeployed);
    assert!((5..8).contains(&seconds), "{seconds}");
}

#[tokio::test(start_paused = true)]
async fn a_deployment_created_before_the_answer_counts() {
    let aws = Recorded::default()
        .on(STAGE, stage(Some("d2"), Some(SUCCESS)))
        .on("GET /v2/apis/api1/deployments/d2", Answer::Error(404, "NotFoundException", "not visible yet"))
        .on("GET /v2/apis/api1/deployments/d2", deployment("d2", "2023-11-14T22:13:19Z".into()));
    let (result, seconds) = wait(&aws).await;
    assert_eq!(result, Ok(()));
    assert!((5..8).contains(&seconds), "{seconds}");
}

#[tokio::test(start_paused = true)]
async fn a_deletion_that_waits_in_vain_is_not_deployed() {
    let aws = Recorded::default()
        .on(STAGE, stage(Some("d1"), Some(SUCCESS)))
        .on(PATCH, Answer::Json(200, json!({})))
        .on("GET /v2/apis/api1/deployments/d1", deployment("d1", "2023-11-14T22:13:10Z".into()));
    let session = aws.session(REGION);
    session.process.deployed_changes.add(REGION, "api1", false, Some(CHANGED));
    let wait = async |it: &Operation<'_>| before_deletion(it, "api1", Awaited::All, &entry(None)).await;
    let failure = run(&session, &Key::new("route.GET /a"), &[], wait).await.0.unwrap_err();
    assert_eq!(failure.cause, Cause::NotDeployed);
}

#[tokio::test(start_paused = true)]
async fn a_new_stage_is_deployed_late_and_an_emulator_never_deploys() {
    let aws = Recorded::default()
        .on(STAGE, stage(None, None))
        .on(STAGE, stage(None, None))
        .on(STAGE, stage(Some("d1"), Some(SUCCESS)))
        .on("GET /v2/apis/api1/deployments/d1", deployment("d1", "2023-11-14T22:13:21Z".into()));
    let session = aws.session(REGION);
    session.process.created.add("api1/$default");
    session.process.deployed_changes.add(REGION, "api1", false, Some(CHANGED));
    assert_eq!(at_the_end(&session, "api1", &stages(), &deadlines()).await, Ok(()));
    assert_eq!(aws.calls().len(), 4);

    let aws = Recorded::default().on(STAGE, stage(None, None));
    assert_eq!(wait(&aws).await, (Ok(()), 0), "only a new stage has no deployment on AWS");
    let aws = Recorded::default().on(STAGE, stage(None, None));
    let session = aws.session(REGION);
    session.process.created.add("api1/$default");
    session.process.deployed_changes.add(REGION, "api1", false, Some(CHANGED));
    assert_eq!(at_the_end(&session, "api1", &stages(), &deadlines()).await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn without_automatic_deployment_only_permissions_stay() {
    let aws = deployed_by_hand("d1", "2023-11-14T22:13:10Z");
    let session = aws.session(REGION);
    session.process.deployed_changes.add(REGION, "api1", false, Some(CHANGED));
    for _ in ["route", "integration"] {
        assert_eq!(delete(&session, Awaited::CreatesAndUpdates, None).await, (Ok(()), 0));
    }
    assert_eq!(aws.calls().len(), 2, "the deletions share one look: {:?}", aws.calls());
    session.process.deployed_changes.add(REGION, "api1", true, Some(CHANGED + 1));
    let (result, seconds) = delete(&session, Awaited::All, None).await;
    let failure = result.unwrap_err();
    assert_eq!((failure.cause, failure.undeployed_since, seconds), (Cause::AwaitsDeployment, Some(CHANGED + 1), 0));
    assert!(failure.message.contains("automatic deployment is off, and deployment d1 does not contain"), "{failure}");
    let end = at_the_end(&session, "api1", &stages(), &deadlines()).await.unwrap_err();
    assert_eq!((end.cause, end.undeployed_since), (Cause::AwaitsDeployment, Some(CHANGED + 1)));
}

#[tokio::test(start_paused = true)]
async fn only_a_later_deployment_of_a_person_contains_a_change() {
    for (created, is_deployed) in [("22:13:18", false), ("22:13:20", false), ("22:13:21", true)] {
        let created = format!("2023-11-14T{created}Z");
        let session = deployed_by_hand("d2", &created).session(REGION);
        let (result, seconds) = delete(&session, Awaited::All, Some(CHANGED)).await;
        assert_eq!((result.is_ok(), seconds), (is_deployed, 0), "{created}");
    }
    // An object whose deletion was deferred later needs a later deployment.
    let session = deployed_by_hand("d2", "2023-11-14T22:13:25Z").session(REGION);
    assert_eq!(delete(&session, Awaited::All, Some(CHANGED)).await.0, Ok(()));
    let failure = delete(&session, Awaited::All, Some(CHANGED + 7)).await.0.unwrap_err();
    assert_eq!(failure.undeployed_since, Some(CHANGED + 7));
}

#[tokio::test(start_paused = true)]
async fn a_deletion_of_an_earlier_process_waits_for_its_deployment() {
    let aws = Recorded::default()
        .on(STAGE, stage(Some("d1"), Some(SUCCESS)))
        .on("GET /v2/apis/api1/deployments/d1", deployment("d1", "2023-11-14T22:13:22Z".into()));
    let (result, seconds) = delete(&aws.session(REGION), Awaited::All, Some(CHANGED)).await;
    assert_eq!(result, Ok(()), "automatic deployment is on again");
    assert!((5..8).contains(&seconds), "{seconds}");
    assert_eq!(delete(&Recorded::default().session(REGION), Awaited::All, None).await, (Ok(()), 0));
}

#[tokio::test(start_paused = true)]
async fn the_stage_is_set_again_after_the_failure_of_an_earlier_apply() {
    for message in [SUCCESS, FAILURE] {
        let again = json!({ "stageName": "$default", "autoDeploy": true, "deploymentId": "d2",
            "lastDeploymentStatusMessage": message });
        let aws = Recorded::default()
            .on(STAGE, stage(Some("d1"), Some(FAILURE)))
            .on(STAGE, Answer::Json(200, again))
            .on(PATCH, Answer::Json(200, json!({})))
            .on("GET /v2/apis/api1/deployments/d1", deployment("d1", "2023-11-14T22:13:20Z".into()))
            .on("GET /v2/apis/api1/deployments/d2", deployment("d2", "2023-11-14T22:15:20Z".into()));
        let (result, seconds) = delete(&aws.session(REGION), Awaited::All, Some(CHANGED)).await;
        assert_eq!(result.is_ok(), message == SUCCESS, "{result:?}");
        assert!((5..8).contains(&seconds), "{seconds}");
        assert_eq!(aws.body(PATCH), json!({ "autoDeploy": true }), "it is set once");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stage_without_a_new_deployment_is_set_again_once() {
    let answer = Answer::To(|requests| {
        let again = requests.iter().any(|request| request.call == PATCH);
        let id = if again { "d2" } else { "d1" };
        Answer::Json(200, json!({ "stageName": "$default", "autoDeploy": true, "deploymentId": id }))
    });
    let aws = Recorded::default()
        .on(STAGE, answer)
        .on(PATCH, Answer::Json(200, json!({})))
        .on("GET /v2/apis/api1/deployments/d1", deployment("d1", "2023-11-14T22:13:10Z".into()))
        .on("GET /v2/apis/api1/deployments/d2", deployment("d2", "2023-11-14T22:14:22Z".into()));
    let (result, seconds) = wait(&aws).await;
    assert_eq!(result, Ok(()));
    assert!((65..69).contains(&seconds), "{seconds}");
    assert_eq!(aws.body(PATCH), json!({ "autoDeploy": true }), "it is set once");
}

#[tokio::test(start_paused = true)]
async fn a_change_is_recorded_with_its_answer() {
    let path = "/v2/apis/api1/routes";
    let aws = Recorded::default()
        .on(&format!("POST {path}"), Answer::Json(201, json!({ "routeId": "r1" })))
        .on(&format!("DELETE {path}/r1"), Answer::Error(409, "ConflictException", "in use"));
    let session = aws.session(REGION);
    let undeployed = || session.process.deployed_changes.undeployed(REGION, "api1", Awaited::All);
    let deleted = session.apigateway.delete_route().api_id("api1").route_id("r1").send().await;
    assert!(deleted.is_err() && undeployed().is_none(), "a rejected call changes nothing");
    session.apigateway.create_route().api_id("api1").route_key("GET /a").send().await.unwrap();
    assert!(undeployed().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_change_whose_answer_is_lost_is_recorded() {
    let lost = [Answer::Lost, Answer::Error(500, "InternalServerError", "try again")];
    for answer in lost {
        let call = "DELETE /v2/apis/api1/routes/r1";
        let aws = Recorded::default()
            .on(call, answer)
            .on(call, Answer::Error(404, "NotFoundException", "Invalid Route identifier specified"));
        let session = aws.session(REGION);
        let undeployed = || session.process.deployed_changes.undeployed(REGION, "api1", Awaited::All);
        for _ in ["lost", "repeated"] {
            let answer = session.apigateway.delete_route().api_id("api1").route_id("r1").send().await;
            assert!(answer.is_err() && undeployed().is_some());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_change_or_a_stage_nothing_is_awaited() {
    let aws = Recorded::default().on(STAGE, Answer::Error(404, "NotFoundException", "Invalid stage identifier"));
    let session = aws.session(REGION);
    assert_eq!(at_the_end(&session, "api1", &stages(), &deadlines()).await, Ok(()));
    assert_eq!(aws.calls(), Vec::<String>::new());
    assert_eq!(wait(&aws).await, (Ok(()), 0));
}

#[tokio::test(start_paused = true)]
async fn deletions_wait_for_all_stages() {
    let other = "GET /v2/apis/api1/stages/prod";
    let shown = |id: &str, is_automatic: bool| {
        let body = json!({ "stageName": "prod", "autoDeploy": is_automatic, "deploymentId": id,
            "lastDeploymentStatusMessage": SUCCESS });
        Answer::Json(200, body)
    };
    let both: BTreeSet<String> = ["$default".to_string(), "prod".to_string()].into();
    let aws = |id: &str, is_automatic: bool| {
        Recorded::default()
            .on(STAGE, stage(Some("d2"), Some(SUCCESS)))
            .on(PATCH, Answer::Json(200, json!({})))
            .on(other, shown(id, is_automatic))
            .on("PATCH /v2/apis/api1/stages/prod", Answer::Json(200, json!({})))
            .on("GET /v2/apis/api1/deployments/d1", deployment("d1", "2023-11-14T22:13:10Z".into()))
            .on("GET /v2/apis/api1/deployments/d2", deployment("d2", "2023-11-14T22:13:25Z".into()))
    };
    for (id, is_automatic, expected) in
        [("d2", true, None), ("d1", true, Some(Cause::TimedOut)), ("d1", false, Some(Cause::AwaitsDeployment))]
    {
        let session = aws(id, is_automatic).session(REGION);
        session.process.deployed_changes.add(REGION, "api1", false, Some(CHANGED));
        let deadlines = deadlines().at_most(BEFORE_DELETION);
        let result = wait_for(&session, ("api1", &both), Awaited::All, &deadlines, WAIT).await;
        assert_eq!(result.as_ref().err().map(|failure| failure.cause), expected, "{result:?}");
        assert!(result.err().is_none_or(|failure| failure.message.contains("the stage prod of API api1")));
    }
}
