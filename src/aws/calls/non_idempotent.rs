//! Sending a change to a service whose calls carry no idempotency token and are refused while another change is
//! at work, or while AWS does not know yet what it has just made: API Gateway, Lambda policies, CloudWatch Logs.
use std::time::Duration;

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use tokio::time::Instant;

use crate::aws::calls::AwsError;
use crate::cloud::{Cause, Failure, Patience};

/// How often a create is sent when each answer is lost.
const SENDS: usize = 3;

/// The pause before a look for what a lost answer may have made shows nothing for sure.
const SETTLE: Duration = Duration::from_secs(1);

/// One change of one object.
pub(crate) struct Change<'a> {
    /// The AWS action, such as `CreateRoute`.
    pub(crate) action: &'a str,
    /// How long it is tried.
    pub(crate) patience: &'a Patience,
    /// Whether a refusal only means that another change is at work.
    pub(crate) is_busy: fn(&Failure) -> bool,
    /// Until when an absence only means that AWS does not know yet what this process has made, see
    /// [`Operation::unknown_until`](crate::aws::Operation::unknown_until).
    pub(crate) unknown_until: Option<Instant>,
}

impl Change<'_> {
    /// Sends a call that may be repeated safely.
    pub(crate) async fn send<T, E, F>(&self, call: impl Fn() -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
        SdkError<E, HttpResponse>: AwsError,
    {
        self.when_free(&call).await.map_err(|refusal| refusal.failure)
    }

    /// Sends a call that makes something. After a lost answer it looks for the thing with `find` before sending
    /// again, so that nothing is made twice. `call` must be one that the SDK does not repeat by itself.
    pub(crate) async fn create<T, E, F, L>(&self, call: impl Fn() -> F, find: impl Fn() -> L) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
        L: Future<Output = Result<Option<T>, Failure>>,
        SdkError<E, HttpResponse>: AwsError,
    {
        let mut sent = 0;
        loop {
            let refusal = match self.when_free(&call).await {
                Ok(made) => return Ok(made),
                Err(refusal) => refusal,
            };
            if !refusal.answer_lost {
                return Err(refusal.failure);
            }
            sent += 1;
            // Lists lag a little behind creates.
            for pause in [Duration::ZERO, SETTLE] {
                tokio::time::sleep(pause).await;
                match find().await {
                    Ok(Some(made)) => return Ok(made),
                    Ok(None) => {}
                    // Whether it exists is not known, so sending again could make a second one.
                    Err(unseen) => return Err(refusal.unseen(&unseen)),
                }
            }
            if sent == SENDS || self.is_over() {
                return Err(refusal.failure);
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
        let mut pause = Duration::from_millis(100);
        loop {
            let error = match call().await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let failure = error.failure(self.action);
            let is_unknown =
                failure.cause == Cause::NotFound && self.unknown_until.is_some_and(|it| Instant::now() < it);
            if !((self.is_busy)(&failure) || is_unknown) || self.is_over() {
                return Err(Refusal { answer_lost: error.is_lost(), failure });
            }
            let rest = self.patience.deadline.saturating_duration_since(Instant::now());
            tokio::select! {
                () = tokio::time::sleep(pause.min(rest)) => {}
                () = self.patience.stop.cancelled() => {}
            }
            pause = (pause * 3 / 2).min(Duration::from_secs(5));
        }
    }

    fn is_over(&self) -> bool {
        self.patience.stop.is_cancelled() || Instant::now() >= self.patience.deadline
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
