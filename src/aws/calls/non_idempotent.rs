//! Calls that carry no idempotency token: those of API Gateway, Lambda policies, CloudWatch Logs and Route 53, and some
//! of EC2, such as `CreateVpc` and `AllocateAddress`.
//!
//! When the answer to such a call is lost, AWS may have carried it out, and sending it again would create a second
//! object that nobody knows of. So the object is looked for first, by its ownership tags or its natural key, or, where
//! it has neither, by what was not there before.
//!
//! Some of these services also refuse a change while another one is at work, or do not know yet what was just created.

use std::ops::ControlFlow;
use std::time::Duration;

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use tokio::time::Instant;

use super::wait::{Again, Backoff, repeat};
use super::{AwsError, Operation};
use crate::cloud::{Cause, Deadlines, Failure};

/// How often a create is sent when each answer is lost.
const SENDS: usize = 3;

/// When and for how long to search for an object after the answer to its creation was lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    first: Duration,
    total: Duration,
}

impl Search {
    /// EC2's lists may lag behind for seconds.
    const EC2: Search = Search { first: Duration::from_millis(20), total: Duration::from_secs(10) };
    /// Other lists lag little: one look at once, and one a second later. Each is a call of few.
    pub(crate) const TWO_LOOKS: Search = Search { first: Duration::from_secs(1), total: Duration::from_secs(1) };
}

/// One call that changes an object.
pub(crate) struct Mutation<'a> {
    /// The AWS action, such as `CreateRoute`.
    pub(crate) action: &'a str,
    /// How long it is tried.
    pub(crate) deadlines: &'a Deadlines,
    /// Whether a refusal only means that another change is at work.
    pub(crate) is_busy: fn(&Failure) -> bool,
    /// Until when an absence only means that AWS does not know yet what this process has created, see
    /// [`Operation::unknown_until`](super::Operation::unknown_until).
    pub(crate) unknown_until: Option<Instant>,
    /// How an object is looked for after a lost answer.
    pub(crate) search: Search,
}

impl<'a> Mutation<'a> {
    /// A call to EC2, which takes changes side by side.
    pub(crate) fn of_ec2(operation: &'a Operation<'_>, action: &'a str) -> Mutation<'a> {
        let deadlines = &operation.work.deadlines;
        Mutation { action, deadlines, is_busy: |_| false, unknown_until: None, search: Search::EC2 }
    }

    /// Sends a call that may be repeated safely.
    pub(crate) async fn send<T, E, F>(&self, call: impl Fn() -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
        SdkError<E, HttpResponse>: AwsError,
    {
        self.when_free(&call).await.map_err(|refusal| refusal.failure)
    }

    /// Creates exactly once: sends a call again only when its answer was lost and `find` does not find the object.
    /// `call` must be one that the SDK does not repeat by itself; `read` takes what is needed from the answer.
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
            let refusal = match self.when_free(&call).await {
                Ok(answer) => return read(answer),
                Err(refusal) => refusal,
            };
            if !refusal.answer_lost {
                return Err(refusal.failure);
            }
            sent += 1;
            match self.search(&find).await {
                Ok(Some(found)) => return Ok(found),
                Ok(None) if sent < SENDS && !self.is_over() => {}
                Ok(None) => return Err(refusal.failure),
                // Whether it exists is not known, so sending again could create a second one.
                Err(unseen) => return Err(refusal.unseen(&unseen)),
            }
        }
    }

    /// Sends a call that deletes something. Where no answer comes for good it looks with `is_there`: what is not there
    /// has been deleted, and is to leave the state.
    pub(crate) async fn delete<T, E, F, L>(&self, call: impl Fn() -> F, is_there: impl Fn() -> L) -> Result<(), Failure>
    where
        F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
        L: Future<Output = Result<bool, Failure>>,
        SdkError<E, HttpResponse>: AwsError,
    {
        let Err(refusal) = self.when_free(&call).await else { return Ok(()) };
        if !refusal.answer_lost {
            return Err(refusal.failure);
        }
        match is_there().await {
            Ok(false) => Ok(()),
            Ok(true) => Err(refusal.failure),
            Err(unseen) => Err(refusal.unseen(&unseen)),
        }
    }

    /// Repeats a call while another change is at work, or AWS does not know yet what the call uses.
    async fn when_free<T, E, F>(&self, call: &impl Fn() -> F) -> Result<T, Refusal>
    where
        F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
        SdkError<E, HttpResponse>: AwsError,
    {
        let mut backoff = Backoff::starting_at(Duration::from_millis(100), Duration::from_secs(5));
        let sent = repeat(self.deadlines, &mut backoff, || async {
            let error = match call().await {
                Ok(answer) => return ControlFlow::Break(Ok(answer)),
                Err(error) => error,
            };
            let refusal = Refusal { answer_lost: error.is_lost(), failure: error.failure(self.action) };
            match self.passes(&refusal.failure) {
                true => {
                    let after = refusal.failure.retry_after;
                    ControlFlow::Continue(Again { seen: refusal, after })
                }
                false => ControlFlow::Break(Err(refusal)),
            }
        });
        match sent.await {
            Ok(result) => result,
            Err((_, refusal)) => Err(refusal),
        }
    }

    /// Whether a refusal passes by itself.
    fn passes(&self, failure: &Failure) -> bool {
        let is_new = || self.unknown_until.is_some_and(|until| Instant::now() < until);
        (self.is_busy)(failure) || (failure.cause == Cause::NotFound && is_new())
    }

    /// Looks for an object that AWS may have created.
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

struct Refusal {
    failure: Failure,
    answer_lost: bool,
}

impl Refusal {
    /// The failure of a call whose answer was lost and whose effect could not be seen either.
    fn unseen(self, unseen: &Failure) -> Failure {
        let message = format!("{}; whether it was carried out is not known: {unseen}", self.failure.message);
        Failure { message, ..self.failure }
    }
}

#[cfg(test)]
mod tests;
