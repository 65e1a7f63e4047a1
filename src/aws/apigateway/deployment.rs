//! Deployments of the stage, which AWS starts by itself after a change has been answered.
//!
//! Until a deployment has ended, the stage serves the state before it. Deletions therefore wait: a permission that is
//! removed too early makes requests fail. AWS does not document how long a deployment takes, how many changes one
//! covers, or how it belongs to a change, so the times are the only evidence that a deployment contains a change.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::{client, is_absent, stage};
use crate::aws::Session;
use crate::aws::calls::deployed_changes::{Awaited, Change};
use crate::aws::calls::wait::{self, Backoff, Poll};
use crate::aws::calls::{AwsError, Operation};
use crate::cloud::{Cause, Deadlines, Failure};

/// How long a deletion waits for a deployment.
const BEFORE_DELETION: Duration = Duration::from_secs(5 * 60);

/// How long the end of an apply waits for a deployment.
const AT_THE_END: Duration = Duration::from_secs(60);

/// How long the last deployment must stay the last one before a deletion. A later one may contain later changes, and a
/// failure may be that of an earlier change.
const QUIET: Duration = Duration::from_secs(5);

/// The same at the end of an apply, if the deployment may precede the change.
const UNCERTAIN: Duration = Duration::from_secs(2);

/// How long a failure must stay that the stage showed from the start. It may be that of an earlier apply.
const OLD_FAILURE: Duration = Duration::from_secs(30);

/// How many seconds before the answer to a change AWS may have created the deployment that contains it.
const CALL: i64 = 2;

/// The last deployment of the stage.
#[derive(Clone, Debug, PartialEq)]
struct LastDeployment {
    /// Its ID; `None` if nothing has been deployed.
    id: Option<String>,
    /// The status message; `None` before the first deployment has ended.
    message: Option<String>,
    /// The time at which AWS created it, in seconds since the Unix epoch.
    created: Option<i64>,
}

/// The last deployment, as seen by a wait.
#[derive(Clone, Debug)]
struct Seen {
    last: LastDeployment,
    /// The time at which this wait saw it first.
    since: Instant,
    /// Whether this wait has seen another one before.
    has_changed: bool,
}

/// The result of one look at the stage.
#[derive(Debug, PartialEq)]
enum Verdict {
    /// The stage serves the change.
    Deployed,
    /// AWS could not deploy the change.
    Failed(String),
    /// Neither is certain yet. Describes the last deployment.
    Pending(String),
}

/// Waits until the stage serves all creates and updates, or all changes, that this process has made to an API. The
/// deletions of one apply share the wait and its failure.
pub(crate) async fn before_deletion(operation: &Operation<'_>, api_id: &str, awaited: Awaited) -> Result<(), Failure> {
    let result = wait_for(operation.session, api_id, awaited, &operation.deadlines(BEFORE_DELETION), QUIET).await;
    result.map_err(|failure| match failure.cause {
        Cause::Stopped => failure,
        _ => Failure { cause: Cause::NotDeployed, ..failure },
    })
}

/// Waits until the stage serves all changes, to report a failure in the apply that caused it. The failure of a
/// deployment has the cause `NotDeployed`, a deployment that takes too long `TimedOut`.
pub(crate) async fn at_the_end(session: &Session, api_id: &str, deadlines: &Deadlines) -> Result<(), Failure> {
    wait_for(session, api_id, Awaited::All, &deadlines.at_most(AT_THE_END), Duration::ZERO).await
}

async fn wait_for(
    session: &Session,
    api_id: &str,
    awaited: Awaited,
    deadlines: &Deadlines,
    quiet: Duration,
) -> Result<(), Failure> {
    let (changes, region) = (&session.process.deployed_changes, session.scope.region.as_str());
    if changes.undeployed(region, api_id, awaited).is_none() {
        return Ok(());
    }
    let _lock = session.process.locks.lock(format!("deployment {region} {api_id}")).await;
    let Some(change) = changes.undeployed(region, api_id, awaited) else { return Ok(()) };
    if let Some(failure) = changes.failure(region, api_id, change) {
        return Err(failure);
    }
    let result = until_deployed(session, api_id, change, deadlines, quiet).await;
    let result = result.map_err(|failure| not_deployed(api_id, failure));
    changes.conclude(region, api_id, change, &result);
    result
}

fn not_deployed(api_id: &str, failure: Failure) -> Failure {
    let message = format!("the stage of API {api_id} does not serve the last change yet: {}", failure.message);
    Failure { message, ..failure }
}

async fn until_deployed(
    session: &Session,
    api_id: &str,
    change: Change,
    deadlines: &Deadlines,
    quiet: Duration,
) -> Result<(), Failure> {
    let is_new = stage::is_created_here(session, api_id);
    let seen: Mutex<Option<Seen>> = Mutex::default();
    let backoff = Backoff::starting_at(Duration::from_millis(200), Duration::from_secs(1));
    wait::until_with("GetStage", deadlines, backoff, || async {
        let known = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(last) = look(session, api_id, known.as_ref().map(|seen| &seen.last)).await? else {
            // A stage that this process created may not be visible yet. Another one was deleted and serves nothing.
            return Ok(if is_new { Poll::Pending("the stage is not visible".into()) } else { Poll::Done(()) });
        };
        let now = match known {
            Some(seen) if seen.last == last => seen,
            before => Seen { last, since: Instant::now(), has_changed: before.is_some() },
        };
        let verdict = judge(&now, change.at, quiet, is_new);
        *seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        match verdict {
            Verdict::Deployed => Ok(Poll::Done(())),
            Verdict::Failed(message) => Err(Failure::new(Cause::NotDeployed, "GetStage", message)),
            Verdict::Pending(seen) => Ok(Poll::Pending(seen)),
        }
    })
    .await
}

/// Reads the last deployment. `None` if the API or the stage does not exist.
async fn look(
    session: &Session,
    api_id: &str,
    known: Option<&LastDeployment>,
) -> Result<Option<LastDeployment>, Failure> {
    let Some(stage) = stage::get(session, api_id).await? else { return Ok(None) };
    let id = stage.deployment_id.filter(|id| !id.is_empty());
    let created = match (&id, known) {
        (None, _) => None,
        (Some(id), Some(known)) if known.id.as_ref() == Some(id) && known.created.is_some() => known.created,
        (Some(id), _) => created(session, api_id, id).await?,
    };
    Ok(Some(LastDeployment { id, message: stage.last_deployment_status_message, created }))
}

async fn created(session: &Session, api_id: &str, id: &str) -> Result<Option<i64>, Failure> {
    let answer = client(session).await.get_deployment().api_id(api_id).deployment_id(id).send().await;
    match answer.map_err(|error| error.failure("GetDeployment")) {
        Ok(deployment) => Ok(deployment.created_date.map(|created| created.secs())),
        // It is not visible yet, or no longer the last one. The next look reads it again.
        Err(failure) if is_absent(&failure) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Decides whether the last deployment contains a change. `changed` is the time of the answer to the change in seconds
/// since the Unix epoch, and `quiet` the time for which the deployment must have been the last one.
///
/// The times have a resolution of one second, and AWS may create a deployment before it answers. A deployment of about
/// the same time may therefore contain the change or precede it. The first deployment of a new stage contains
/// everything, because the stage is created last.
fn judge(seen: &Seen, changed: Option<i64>, quiet: Duration, is_new: bool) -> Verdict {
    let unchanged = seen.since.elapsed();
    let (id, message) = match (&seen.last.id, &seen.last.message) {
        (None, None) if is_new && unchanged < QUIET => return Verdict::Pending("nothing is deployed yet".into()),
        // Emulators have no deployments. On AWS, only a new stage has none.
        (None, None) => return Verdict::Deployed,
        (id, message) => (id.as_deref().unwrap_or("none"), message.as_deref().unwrap_or_default()),
    };
    if stage::is_failure(message) {
        let needed = if seen.has_changed || is_new { QUIET } else { OLD_FAILURE };
        return match unchanged >= needed {
            true => Verdict::Failed(message.to_string()),
            false => Verdict::Pending(message.to_string()),
        };
    }
    let age = seen.last.created.map(|created| changed.map_or(1, |changed| created - changed));
    let may_contain_change = age.is_some_and(|age| age >= -CALL);
    let is_certain = is_new || age.is_some_and(|age| age > 0);
    let quiet = if is_certain { quiet } else { quiet.max(UNCERTAIN) };
    match may_contain_change && unchanged >= quiet {
        true => Verdict::Deployed,
        false if may_contain_change => Verdict::Pending(format!("deployment {id}; a later one may follow")),
        false => Verdict::Pending(format!("deployment {id} precedes the last change")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::aws::recorded::{Answer, Recorded, run};
    use crate::model::Key;

    const STAGE: &str = "GET /v2/apis/api1/stages/%24default";
    const REGION: &str = "us-east-1";
    const SUCCESS: &str = "Successfully deployed stage with deployment ID 'd2'";
    const FAILURE: &str = "Deployment attempt failed: Unable to deploy API because no valid routes exist in this API";

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

    fn deadlines() -> Deadlines {
        Deadlines::until(Instant::now() + Duration::from_secs(3600), Default::default())
    }

    /// Waits before a deletion after a change at `CHANGED`. Returns the result and the time in seconds.
    async fn wait(aws: &Recorded) -> (Result<(), Failure>, u64) {
        let (session, start) = (aws.session(REGION), Instant::now());
        session.process.deployed_changes.add(REGION, "api1", false, Some(CHANGED));
        let deadlines = deadlines().at_most(BEFORE_DELETION);
        let result = wait_for(&session, "api1", Awaited::All, &deadlines, QUIET).await;
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
        assert_eq!(wait_for(&session, "api1", Awaited::All, &deadlines(), QUIET).await, Ok(()));
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
        let again = wait_for(&aws.session(REGION), "api1", Awaited::All, &deadlines(), QUIET).await;
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
            .on("GET /v2/apis/api1/deployments/d1", deployment("d1", "2023-11-14T22:13:10Z".into()));
        let (result, seconds) = wait(&aws).await;
        let failure = result.unwrap_err();
        assert_eq!((failure.cause, seconds), (Cause::TimedOut, 300));
        assert!(failure.message.contains("deployment d1 precedes the last change"), "{failure}");
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
            .on("GET /v2/apis/api1/deployments/d1", deployment("d1", "2023-11-14T22:13:10Z".into()));
        let session = aws.session(REGION);
        session.process.deployed_changes.add(REGION, "api1", false, Some(CHANGED));
        let wait = async |it: &Operation<'_>| before_deletion(it, "api1", Awaited::All).await;
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
        assert_eq!(at_the_end(&session, "api1", &deadlines()).await, Ok(()));
        assert_eq!(aws.calls().len(), 4);

        let aws = Recorded::default().on(STAGE, stage(None, None));
        assert_eq!(wait(&aws).await, (Ok(()), 0), "only a new stage has no deployment on AWS");
        let aws = Recorded::default().on(STAGE, stage(None, None));
        let session = aws.session(REGION);
        session.process.created.add("api1/$default");
        session.process.deployed_changes.add(REGION, "api1", false, Some(CHANGED));
        assert_eq!(at_the_end(&session, "api1", &deadlines()).await, Ok(()));
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
    async fn without_a_change_or_a_stage_nothing_is_awaited() {
        let aws = Recorded::default().on(STAGE, Answer::Error(404, "NotFoundException", "Invalid stage identifier"));
        let session = aws.session(REGION);
        assert_eq!(at_the_end(&session, "api1", &deadlines()).await, Ok(()));
        assert_eq!(aws.calls(), Vec::<String>::new());
        assert_eq!(wait(&aws).await, (Ok(()), 0));
    }
}
