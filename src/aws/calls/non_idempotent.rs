//! Calls without an idempotency token: those of API Gateway, Lambda policies, CloudWatch Logs and Route 53, and some of
//! EC2, such as `CreateVpc` and `AllocateAddress`.
//!
//! If the response to such a call is lost, AWS may have carried out the call, and a retry would create a second object
//! that is not in state. So the object is searched for first: by its natural key or its tag `fgw:request`, or, if
//! it has neither, by comparison with the objects that existed before.
//!
//! Some of these services also reject a change while another one is in progress, or while a new dependency is not
//! visible yet.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use futures::future::BoxFuture;
use tokio::time::Instant;

use super::wait::{Again, Backoff, confirmed, repeat, retry_while};
use super::{AwsError, Operation};
use crate::aws::Session;
use crate::cloud::retries::Retry;
use crate::cloud::{Cause, Deadlines, Failure};

/// How often a create call is sent if every response is lost.
const SENDS: u32 = 3;

/// After how many busy answers the parent is read, and after how many more it is read again.
const BUSY_ANSWERS: usize = 3;

/// How long a list may contain an object that AWS has deleted.
const LATE_READ: Duration = Duration::from_secs(30);

/// The timing of the search for an object after the response to its creation was lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    first: Duration,
    total: Duration,
}

impl Search {
    /// EC2's lists may lag by some seconds.
    const EC2: Search = Search { first: Duration::from_millis(20), total: Duration::from_secs(10) };
    /// Other lists lag less, and their calls have low rate limits: one poll at once, and one a second later.
    pub(crate) const TWO_POLLS: Search = Search { first: Duration::from_secs(1), total: Duration::from_secs(1) };
}

/// The result of reading a parent: the failure that reports it as missing, or `None` if it exists.
pub(crate) type MissingParent = Result<Option<Failure>, Failure>;

/// The parent of an object whose absence AWS may report as a busy parent.
#[derive(Clone, Copy)]
pub(crate) struct Parent<'a> {
    pub(crate) session: &'a Session,
    pub(crate) id: &'a str,
    /// Reads the parent.
    pub(crate) missing: for<'b> fn(&'b Session, &'b str) -> BoxFuture<'b, MissingParent>,
}

/// One call that changes an object.
pub(crate) struct Mutation<'a> {
    /// The AWS action, such as `CreateRoute`.
    pub(crate) action: &'a str,
    /// The deadlines of the call with its retries.
    pub(crate) deadlines: &'a Deadlines,
    /// Whether a failure only means that another change is in progress.
    pub(crate) is_busy: fn(&Failure) -> bool,
    /// The time until which `NotFound` may mean that a new object of this process is not visible yet, see
    /// [`Operation::unknown_until`](super::Operation::unknown_until).
    pub(crate) unknown_until: Option<Instant>,
    /// The search for the object after a lost response.
    pub(crate) search: Search,
    /// The parent to read while the call is busy.
    pub(crate) parent: Option<Parent<'a>>,
}

impl<'a> Mutation<'a> {
    /// A call to EC2, which accepts concurrent changes.
    pub(crate) fn of_ec2(operation: &'a Operation<'_>, action: &'a str) -> Mutation<'a> {
        let deadlines = &operation.work.deadlines;
        Mutation { action, deadlines, is_busy: |_| false, unknown_until: None, search: Search::EC2, parent: None }
    }

    /// Sends a call that can be repeated safely.
    pub(crate) async fn send<T, E, F>(&self, call: impl Fn() -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
        SdkError<E, HttpResponse>: AwsError,
    {
        self.retry_while_transient(&call).await.map_err(|error| error.failure)
    }

    /// Creates exactly one object: repeats a call only if its response was lost and `find` does not find the object.
    /// The SDK must not retry `call` by itself. `read` extracts the result from the response.
    pub(crate) async fn create<O, T, E, F, L>(
        &self,
        call: impl Fn() -> F,
        read: impl Fn(O) -> Result<T, Failure>,
        find: impl Fn() -> L,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<O, SdkError<E, HttpResponse>>>,
        L: Future<Output = Result<Option<T>, Failure>>,
        SdkError<E, HttpResponse>: AwsError,
    {
        let mut sent = 0;
        loop {
            let error = match self.retry_while_transient(&call).await {
                Ok(response) => return read(response),
                Err(error) => error,
            };
            if !error.is_response_lost {
                return Err(error.failure);
            }
            sent += 1;
            match self.search(&find).await {
                Ok(Some(found)) => return Ok(found),
                Ok(None) if sent < SENDS && !self.is_over() => {
                    let (action, reason) = (self.action.to_string(), error.failure.message);
                    Retry { is_wait: false, action, number: Some((sent, SENDS - 1)), reason }.report();
                }
                Ok(None) => return Err(error.failure),
                // The outcome is unknown, so a retry could create a second object.
                Err(search) => return Err(error.with_unknown_outcome(&search)),
            }
        }
    }

    /// Sends a delete call. If the response is lost, reads the object with `exists`: an object that does not exist was
    /// deleted, and can be removed from state. The same applies if AWS reports a missing object, unless `is_missing`
    /// recognizes this one: these services have one code for all kinds. If the object still exists, sends the call
    /// again, because a read may be late.
    pub(crate) async fn delete<T, E, F, L>(
        &self,
        call: impl Fn() -> F,
        is_missing: impl Fn(&Failure) -> bool,
        exists: impl Fn() -> L,
    ) -> Result<(), Failure>
    where
        F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
        L: Future<Output = Result<bool, Failure>>,
        SdkError<E, HttpResponse>: AwsError,
    {
        let send = || async {
            let Err(error) = self.retry_while_transient(&call).await else { return Ok(()) };
            if !error.is_response_lost {
                return confirmed(Err(error.failure), &is_missing, &exists).await;
            }
            match exists().await {
                Ok(false) => Ok(()),
                Ok(true) => Err(error.failure),
                Err(read) => Err(error.with_unknown_outcome(&read)),
            }
        };
        let mut backoff = Backoff::starting_at(Duration::from_secs(1), Duration::from_secs(10));
        let is_kept = |failure: &Failure| failure.cause == Cause::NotDeleted;
        Box::pin(retry_while(&self.deadlines.at_most(LATE_READ), &mut backoff, is_kept, send)).await
    }

    /// Retries a call while another change is in progress, or while a new object that it uses is not visible yet.
    async fn retry_while_transient<T, E, F>(&self, call: &impl Fn() -> F) -> Result<T, SendError>
    where
        F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
        SdkError<E, HttpResponse>: AwsError,
    {
        let mut backoff = Backoff::starting_at(Duration::from_millis(100), Duration::from_secs(5));
        let busy_answers = AtomicUsize::new(0);
        let sent = repeat(self.deadlines, &mut backoff, || async {
            let error = match call().await {
                Ok(response) => return ControlFlow::Break(Ok(response)),
                Err(error) => error,
            };
            let error = SendError { is_response_lost: error.is_lost(), failure: error.failure(self.action) };
            if (self.is_busy)(&error.failure)
                && (busy_answers.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(BUSY_ANSWERS)
                && let Some(failure) = self.missing_parent().await
            {
                return ControlFlow::Break(Err(SendError { is_response_lost: false, failure }));
            }
            match self.is_transient(&error.failure) {
                true => {
                    let after = error.failure.retry_after;
                    ControlFlow::Continue(Again { seen: error, after })
                }
                false => ControlFlow::Break(Err(error)),
            }
        });
        match sent.await {
            Ok(result) => result,
            Err((_, error)) => Err(error),
        }
    }

    /// The failure of the call if its parent is missing.
    async fn missing_parent(&self) -> Option<Failure> {
        let Parent { session, id, missing } = self.parent?;
        match missing(session, id).await {
            Ok(Some(failure)) => {
                let message = format!("{}; {} was rejected as busy until then", failure.message, self.action);
                Some(Failure { message, ..failure })
            }
            Ok(None) => None,
            Err(failure) => {
                tracing::warn!("{} is busy, and whether {id} exists could not be read: {failure}", self.action);
                None
            }
        }
    }

    fn is_transient(&self, failure: &Failure) -> bool {
        let is_new = || self.unknown_until.is_some_and(|until| Instant::now() < until);
        (self.is_busy)(failure) || (failure.cause == Cause::NotFound && is_new())
    }

    /// Searches for an object that AWS may have created.
    async fn search<T, L>(&self, find: &impl Fn() -> L) -> Result<Option<T>, Failure>
    where
        L: Future<Output = Result<Option<T>, Failure>>,
    {
        let deadlines = self.deadlines.at_most(self.search.total);
        let mut backoff = Backoff::starting_at(self.search.first, Duration::from_secs(2));
        let found = repeat(&deadlines, &mut backoff, || async {
            match find().await {
                Ok(None) => ControlFlow::Continue(Again { seen: (), after: None }),
                found => ControlFlow::Break(found),
            }
        });
        found.await.unwrap_or(Ok(None))
    }

    fn is_over(&self) -> bool {
        self.deadlines.stop.is_cancelled() || Instant::now() >= self.deadlines.deadline
    }
}

struct SendError {
    failure: Failure,
    is_response_lost: bool,
}

impl SendError {
    /// The failure of a call whose response was lost, and whose outcome could not be read because of `read`.
    fn with_unknown_outcome(self, read: &Failure) -> Failure {
        let message = format!("{}; the outcome of the call is unknown: {read}", self.failure.message);
        Failure { message, ..self.failure }
    }
}

#[cfg(test)]
mod tests;
