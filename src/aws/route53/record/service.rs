//! The client of Route 53, and waits for its name servers and for resolvers.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_sdk_route53::Client;
use aws_sdk_route53::types::{ChangeInfo, ChangeStatus};
use tokio::time::Instant;

use crate::aws::Session;
use crate::aws::calls::codes;
use crate::aws::calls::rate_limit::{Limit, LimitKey};
use crate::aws::calls::wait::{Backoff, MINUTES, Poll, WaitEnded, until};
use crate::aws::calls::{Operation, OrFailure};
use crate::cloud::Failure;

/// Route 53 accepts 5 requests per second per account, for all actions together. The period is longer than a second
/// because network latency varies.
const REQUESTS: Limit = Limit::Window { calls: 5, period: Duration::from_millis(1100) };

/// How long a change may take to reach all name servers. It usually takes a minute.
const SPREAD: Duration = Duration::from_secs(30 * 60);

/// Waits for the rate limiter and returns the client for one call. Every call to Route 53 uses this.
pub(crate) async fn client(session: &Session) -> &Client {
    let key = LimitKey { account: session.scope.account.clone(), region: None, calls: "route53" };
    session.process.rate_limiter.acquire(key, REQUESTS).await;
    &session.route53
}

/// Waits until a change has reached all name servers of Route 53.
pub(super) async fn wait_until_in_sync(operation: &Operation<'_>, sent: &ChangeInfo) -> Result<(), Failure> {
    match sent.status {
        ChangeStatus::Insync => Ok(()),
        _ => wait_until(operation, &sent.id).await,
    }
}

async fn wait_until(operation: &Operation<'_>, change: &str) -> Result<(), Failure> {
    until("Waiting for the Route 53 name servers", &operation.deadlines(SPREAD), MINUTES, || async {
        let answer = client(operation.session).await.get_change().id(change).send().await;
        let status = match answer.or_failure("GetChange") {
            Ok(answer) => answer.change_info.map(|change| change.status),
            Err(failure) if codes::is_no_change(&failure) => None,
            Err(failure) => return Err(failure),
        };
        Ok(match status {
            Some(ChangeStatus::Insync) => Poll::Done(()),
            Some(status) => Poll::Pending(format!("change {change} is {}", status.as_str())),
            None => Poll::Pending(format!("change {change} was not found")),
        })
    })
    .await
}

/// How long resolvers cache an alias to a custom domain.
pub(super) const ALIAS_TTL: Duration = Duration::from_secs(60);

/// Waits until clients no longer use the IPv6 addresses of a name whose record of type AAAA this process has deleted.
pub(crate) async fn until_forgotten(operation: &Operation<'_>, name: &str) -> Result<(), Failure> {
    let Some(change) = withdrawn(&operation.session.process.withdrawn).remove(name) else { return Ok(()) };
    wait_until(operation, &change).await?;
    let (mut pause, start) = (Backoff::starting_at(ALIAS_TTL, ALIAS_TTL), Instant::now());
    let ended =
        |ended: WaitEnded, pause: &Backoff| ended.failure("Waiting for resolvers", pause, "the alias is cached");
    while start.elapsed() < ALIAS_TTL {
        let waited = pause.pause(&operation.work.deadlines, None).await;
        waited.map_err(|it| ended(it, &pause))?;
    }
    Ok(())
}

/// The IDs of the changes that have deleted records of type AAAA, by name.
pub(super) fn withdrawn(all: &Mutex<HashMap<String, String>>) -> MutexGuard<'_, HashMap<String, String>> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}
