//! The limits of retries, which the caller of a call to AWS sets, and the reports of retries, which it receives.
//!
//! They are not arguments, because the SDK retries calls far below the code that knows the timeout.

use std::sync::Arc;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

tokio::task_local! {
    static LIMITS: RetryLimits;
}

/// The limits of the retries of all calls in a scope, and the receiver of their reports.
#[derive(Clone)]
pub struct RetryLimits {
    /// The time after which nothing is retried; `None` if the caller cancels the call itself, or waits for it.
    pub deadline: Option<Instant>,
    /// Whether the calls belong to an apply, where a failure costs more than waiting.
    pub is_apply: bool,
    /// Canceled when Terraform requests a stop.
    pub stop: CancellationToken,
    /// Called before each retry.
    pub report: Arc<dyn Fn(&Retry) + Send + Sync>,
}

/// A retry that follows, or a wait that takes longer than a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Whether the call succeeds, and only its effect is not visible yet.
    pub is_wait: bool,
    /// The AWS action, such as `CreateNatGateway`.
    pub action: String,
    /// The number of the retry, from 1, and the largest number; `None` if only the deadline limits the retries.
    pub number: Option<(u32, u32)>,
    /// The reason, such as the error of AWS.
    pub reason: String,
}

impl RetryLimits {
    /// Runs work whose calls to AWS obey these limits.
    pub async fn scope<F: Future>(self, work: F) -> F::Output {
        LIMITS.scope(self, work).await
    }

    /// Runs work that others wait for, too. The deadline of the current work does not end its retries.
    pub async fn without_deadline<F: Future>(work: F) -> F::Output {
        match RetryLimits::current() {
            Some(limits) => RetryLimits { deadline: None, ..limits }.scope(work).await,
            None => work.await,
        }
    }

    /// Whether the current work is an apply.
    pub fn is_in_apply() -> bool {
        RetryLimits::current().is_some_and(|limits| limits.is_apply)
    }

    /// The limits of the current work; `None` outside every scope.
    pub fn current() -> Option<RetryLimits> {
        LIMITS.try_with(Clone::clone).ok()
    }
}

impl Retry {
    /// Reports this retry to the current work, or to the log if there is none.
    pub fn report(&self) {
        match RetryLimits::current() {
            Some(limits) => (limits.report)(self),
            None => tracing::warn!("{self}"),
        }
    }
}

impl std::fmt::Display for Retry {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_wait {
            return write!(formatter, "waiting after {}: {}", self.action, self.reason);
        }
        write!(formatter, "retrying {}", self.action)?;
        if let Some((number, of)) = self.number {
            write!(formatter, " ({number} of at most {of})")?;
        }
        write!(formatter, ": {}", self.reason)
    }
}
