//! Deployments of stages, which AWS starts by itself after a change has been answered.
//!
//! Until a deployment has ended, the stage serves the state before it. Deletions therefore wait: a permission that is
//! removed too early makes requests fail. AWS does not document how long a deployment takes, how many changes one
//! covers, or how it belongs to a change, so the times are the only evidence that a deployment contains a change.
//!
//! A person may have turned automatic deployment off. Nothing waits then: the stage serves its deployment until a
//! person creates another one.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::future::join_all;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::stage::shown::{self as stage, Place};
use super::{client, is_absent};
use crate::aws::Session;
use crate::aws::calls::deployed_changes::{Awaited, Change};
use crate::aws::calls::wait::{self, Backoff, Poll};
use crate::aws::calls::{Operation, OrFailure};
use crate::cloud::{Cause, Deadlines, Failure};
use crate::model::Entry;

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

/// After this time without a deployment that contains the change, the stage is set again, which lets AWS deploy. After
/// the failure of an earlier apply, it is set again at once.
const SET_AGAIN: Duration = Duration::from_secs(60);

/// How many seconds before the answer to a change AWS may have created the deployment that contains it.
const CALL: i64 = 2;

/// The last deployment of the stage.
#[derive(Clone, Debug, PartialEq)]
struct LastDeployment {
    /// Whether AWS deploys by itself.
    is_automatic: bool,
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

impl Seen {
    /// Whether the deployment has failed before this wait.
    fn is_old_failure(&self) -> bool {
        !self.has_changed && self.last.message.as_deref().is_some_and(stage::is_failure)
    }
}

/// How a wait decides.
#[derive(Clone, Copy, Debug)]
struct Wait {
    /// How long the deployment must have been the last one.
    quiet: Duration,
    /// Whether an earlier apply has waited for it in vain.
    is_deferred: bool,
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
    /// A person has to deploy the change. Describes the last deployment.
    Manual(String),
}

/// Waits until the stages serve all creates and updates, or all changes, that this process has made to an API, and
/// those for which an earlier apply has deferred the deletion of `entry`. The deletions of one apply share the wait and
/// its failure.
///
/// Without automatic deployment, only the deletion of a permission fails, with `AwaitsDeployment`: the stage keeps a
/// snapshot of everything else.
pub(crate) async fn before_deletion(
    operation: &Operation<'_>,
    api_id: &str,
    awaited: Awaited,
    entry: &Entry,
) -> Result<(), Failure> {
    let session = operation.session;
    let since = entry.undeployed_since();
    if let Some(since) = since {
        session.process.deployed_changes.add_earlier(&session.scope.region, api_id, since);
    }
    let wait = Wait { quiet: QUIET, is_deferred: since.is_some() };
    match wait_for(session, (api_id, &operation.work.deployed), awaited, &operation.deadlines(BEFORE_DELETION), wait)
        .await
    {
        Err(failure) if failure.cause == Cause::AwaitsDeployment && awaited == Awaited::CreatesAndUpdates => Ok(()),
        Err(failure) if !matches!(failure.cause, Cause::Stopped | Cause::AwaitsDeployment) => {
            Err(Failure { cause: Cause::NotDeployed, ..failure })
        }
        result => result,
    }
}

/// Waits until the stages serve all changes, before automatic deployment is turned off: a deployment in progress might
/// otherwise contain later changes.
pub(crate) async fn before_suspension(operation: &Operation<'_>, api_id: &str) -> Result<(), Failure> {
    let wait = Wait { quiet: QUIET, is_deferred: false };
    let place = (api_id, &operation.work.deployed);
    wait_for(operation.session, place, Awaited::All, &operation.deadlines(BEFORE_DELETION), wait).await
}

/// Waits until a stage serves all creates and updates, before it takes over the requests of another one. It may be from
/// an earlier run, so its deployment counts even if this process has changed nothing.
pub(crate) async fn before_move(operation: &Operation<'_>, api_id: &str, stage: &str) -> Result<(), Failure> {
    let (session, deadlines) = (operation.session, operation.deadlines(BEFORE_DELETION));
    let changes = &session.process.deployed_changes;
    let change = changes.undeployed(&session.scope.region, api_id, Awaited::CreatesAndUpdates).unwrap_or_default();
    let wait = Wait { quiet: Duration::ZERO, is_deferred: false };
    match until_deployed(session, (api_id, stage), change, &deadlines, wait).await {
        // A person decides what it serves.
        Err(failure) if failure.cause == Cause::AwaitsDeployment => Ok(()),
        result => result.map_err(|failure| not_deployed((api_id, stage), change, failure)),
    }
}

/// Waits until all other stages serve all creates and updates, before a stage is deleted.
pub(crate) async fn before_replacement(operation: &Operation<'_>, api_id: &str, entry: &Entry) -> Result<(), Failure> {
    for stage in operation.work.deployed.iter().filter(|stage| **stage != entry.id) {
        match before_move(operation, api_id, stage).await {
            Err(failure) if failure.cause != Cause::Stopped => {
                return Err(Failure { cause: Cause::NotDeployed, ..failure });
            }
            result => result?,
        }
    }
    Ok(())
}

/// Waits until the stages serve all changes, to report a failure in the apply that caused it. The failure of a
/// deployment has the cause `NotDeployed`, a deployment that takes too long `TimedOut`, and one that a person has to
/// create `AwaitsDeployment`.
pub(crate) async fn at_the_end(
    session: &Session,
    api_id: &str,
    stages: &BTreeSet<String>,
    deadlines: &Deadlines,
) -> Result<(), Failure> {
    let wait = Wait { quiet: Duration::ZERO, is_deferred: false };
    wait_for(session, (api_id, stages), Awaited::All, &deadlines.at_most(AT_THE_END), wait).await
}

async fn wait_for(
    session: &Session,
    (api_id, stages): (&str, &BTreeSet<String>),
    awaited: Awaited,
    deadlines: &Deadlines,
    wait: Wait,
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
    let results = join_all(stages.iter().map(|stage| async move {
        let result = until_deployed(session, (api_id, stage), change, deadlines, wait).await;
        result.map_err(|failure| not_deployed((api_id, stage), change, failure))
    }));
    // That a person has to deploy one stage is less than the failure of another one.
    let failures = results.await.into_iter().filter_map(Result::err);
    let result = failures.min_by_key(|failure| failure.cause == Cause::AwaitsDeployment).map_or(Ok(()), Err);
    changes.conclude(region, api_id, change, &result);
    result
}

fn not_deployed((api_id, stage): Place<'_>, change: Change, failure: Failure) -> Failure {
    let message = format!("the stage {stage} of API {api_id} does not serve the last change yet: {}", failure.message);
    // Without the time of AWS, a deployment must be later than this wait.
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs().try_into().ok();
    Failure { message, undeployed_since: change.at.or_else(now), ..failure }
}

async fn until_deployed(
    session: &Session,
    place: Place<'_>,
    change: Change,
    deadlines: &Deadlines,
    wait: Wait,
) -> Result<(), Failure> {
    let (api_id, name) = place;
    let is_new = stage::is_created_here(session, api_id, name);
    let (seen, start): (Mutex<Option<Seen>>, _) = (Mutex::default(), Instant::now());
    let set_again = OnceCell::new();
    let backoff = Backoff::starting_at(Duration::from_millis(200), Duration::from_secs(1));
    wait::until_with("GetStage", deadlines, backoff, || async {
        let known = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(last) = look(session, place, known.as_ref().map(|seen| &seen.last)).await? else {
            // A stage that this process created may not be visible yet. Another one was deleted and serves nothing.
            return Ok(if is_new { Poll::Pending("the stage is not visible".into()) } else { Poll::Done(()) });
        };
        let now = match known {
            Some(seen) if seen.last == last => seen,
            before => Seen { last, since: Instant::now(), has_changed: before.is_some() },
        };
        let verdict = judge(&now, change.at, wait.quiet, is_new);
        let is_due = start.elapsed() >= SET_AGAIN || (wait.is_deferred && now.is_old_failure());
        *seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        match verdict {
            Verdict::Deployed => Ok(Poll::Done(())),
            Verdict::Failed(message) => Err(Failure::new(Cause::NotDeployed, "GetStage", message)),
            Verdict::Manual(message) => Err(Failure::new(Cause::AwaitsDeployment, "GetStage", message)),
            Verdict::Pending(seen) if !is_due => Ok(Poll::Pending(seen)),
            Verdict::Pending(seen) => match set_again.get_or_init(|| stage::set_again(session, api_id, name)).await {
                Ok(()) => Ok(Poll::Pending(seen)),
                Err(failure) => Ok(Poll::Pending(format!("{seen}; {failure}"))),
            },
        }
    })
    .await
}

/// Reads the last deployment. `None` if the API or the stage does not exist.
async fn look(
    session: &Session,
    (api_id, name): Place<'_>,
    known: Option<&LastDeployment>,
) -> Result<Option<LastDeployment>, Failure> {
    let Some(stage) = stage::get(session, api_id, name).await? else { return Ok(None) };
    let id = stage.deployment_id.filter(|id| !id.is_empty());
    let created = match (&id, known) {
        (None, _) => None,
        (Some(id), Some(known)) if known.id.as_ref() == Some(id) && known.created.is_some() => known.created,
        (Some(id), _) => created(session, api_id, id).await?,
    };
    let is_automatic = stage.auto_deploy == Some(true);
    Ok(Some(LastDeployment { is_automatic, id, message: stage.last_deployment_status_message, created }))
}

async fn created(session: &Session, api_id: &str, id: &str) -> Result<Option<i64>, Failure> {
    let answer = client(session).await.get_deployment().api_id(api_id).deployment_id(id).send().await;
    match answer.or_failure("GetDeployment") {
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
    let age = seen.last.created.map(|created| changed.map_or(1, |changed| created - changed));
    if !seen.last.is_automatic {
        // A deployment of the same second may precede the change, and no later one follows by itself.
        return match changed.is_some() && age.is_some_and(|age| age > 0) {
            true => Verdict::Deployed,
            false => Verdict::Manual(format!(
                "automatic deployment is off, and deployment {id} does not contain the last change"
            )),
        };
    }
    if stage::is_failure(message) {
        let needed = if seen.has_changed || is_new { QUIET } else { OLD_FAILURE };
        return match unchanged >= needed {
            true => Verdict::Failed(message.to_string()),
            false => Verdict::Pending(message.to_string()),
        };
    }
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
mod tests;
