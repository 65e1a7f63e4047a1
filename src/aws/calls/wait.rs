//! Waiting for AWS: short steps at first, so that a fast AWS or an emulator costs no time, then longer ones.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::aws::calls::Operation;
use crate::cloud::{Cause, Failure, Patience};

/// How long AWS may answer that something does not exist which it has just made.
pub(crate) const PROPAGATION: Duration = Duration::from_secs(5 * 60);

/// The first pause between two looks.
const FIRST: Duration = Duration::from_millis(20);

/// The longest pause between two looks at something that takes seconds.
pub(crate) const SECONDS: Duration = Duration::from_secs(3);

/// The longest pause between two looks at something that takes minutes.
pub(crate) const MINUTES: Duration = Duration::from_secs(10);

/// What one look at a pending object showed.
pub(crate) enum Look<T> {
    /// Not there yet; in words, for the message of a timeout.
    Pending(String),
    /// There.
    Done(T),
}

/// Looks until it is done. The first pauses are a few milliseconds, then each is half as long again, up to
/// `longest`. Gives up at the deadline with what it saw last, and ends when Terraform asks to stop.
pub(crate) async fn until<T, F>(
    what: &str,
    patience: &Patience,
    longest: Duration,
    mut look: impl FnMut() -> F,
) -> Result<T, Failure>
where
    F: Future<Output = Result<Look<T>, Failure>>,
{
    let mut pauses = Pauses::new(longest);
    loop {
        let seen = match look().await? {
            Look::Done(value) => return Ok(value),
            Look::Pending(seen) => seen,
        };
        if let Err(over) = pauses.pause(patience).await {
            return Err(over.failure(what, &pauses, &seen));
        }
    }
}

/// Sends a call that uses objects, until AWS sees those of them that this process has only just made.
pub(crate) async fn visible<T, F>(
    operation: &Operation<'_>,
    used: &[&str],
    mut call: impl FnMut() -> F,
) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let until = used.iter().filter_map(|id| operation.session.newborns.until(id)).max();
    let patience = until.map(|until| operation.patience(until.saturating_duration_since(Instant::now())));
    let mut pauses = Pauses::new(SECONDS);
    loop {
        match (call().await, &patience) {
            (Err(failure), Some(patience)) if failure.cause == Cause::NotFound => {
                if pauses.pause(patience).await.is_err() {
                    return Err(failure);
                }
            }
            (result, _) => return result,
        }
    }
}

/// Sends a deleting call until nothing uses the object any more. Absence is success. At the deadline the failure
/// is AWS's last refusal, so that its cause still says that the object is in use, with how long it was tried.
pub(crate) async fn released<F>(patience: &Patience, mut call: impl FnMut() -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<(), Failure>>,
{
    let patience = &Patience { deadline: patience.in_use_until, ..patience.clone() };
    let mut pauses = Pauses::new(MINUTES);
    loop {
        match call().await {
            Err(failure) if failure.cause == Cause::NotFound => return Ok(()),
            Err(failure) if failure.cause == Cause::InUse => match pauses.pause(patience).await {
                Ok(()) => {}
                Err(Over::Deadline) => return Err(pauses.given_up(failure)),
                Err(over) => return Err(over.failure(&failure.action, &pauses, &failure.message)),
            },
            result => return result,
        }
    }
}

/// Pauses that grow.
pub(crate) struct Pauses {
    started: Instant,
    next: Duration,
    longest: Duration,
}

/// Why there is no time for another pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Over {
    /// The deadline has passed.
    Deadline,
    /// Terraform asked to stop.
    Stopped,
}

impl Pauses {
    /// The first pause is 20 ms, each further one half as long again, up to `longest`.
    pub(crate) fn new(longest: Duration) -> Pauses {
        Pauses { started: Instant::now(), next: FIRST, longest }
    }

    /// The length of the next pause between looks that others share. It grows with time, because the looks that others
    /// cause say nothing about how long this wait has taken: what is seen late is seen an eighth of that time late, for
    /// some sixty looks in two minutes, whatever the number of objects.
    pub(crate) fn shared(&self) -> Duration {
        (self.started.elapsed() / 8).clamp(FIRST, self.longest)
    }

    /// A refusal that was met until the time was over.
    fn given_up(&self, mut refusal: Failure) -> Failure {
        let words = refusal.message.trim_end_matches('.');
        refusal.message = format!("{words}; gave up after {:.0} s", self.started.elapsed().as_secs_f64());
        refusal
    }

    fn next(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 3 / 2).min(self.longest);
        pause
    }

    /// Pauses, unless the time is over.
    pub(crate) async fn pause(&mut self, patience: &Patience) -> Result<(), Over> {
        if patience.stop.is_cancelled() {
            return Err(Over::Stopped);
        }
        let now = Instant::now();
        if now >= patience.deadline {
            return Err(Over::Deadline);
        }
        tokio::select! {
            () = tokio::time::sleep(self.next().min(patience.deadline - now)) => {}
            () = patience.stop.cancelled() => {}
        }
        Ok(())
    }
}

impl Over {
    /// The failure of a wait that ended before it saw what it waited for.
    pub(crate) fn failure(self, what: &str, pauses: &Pauses, seen: &str) -> Failure {
        let waited = pauses.started.elapsed().as_secs();
        match self {
            Over::Deadline => {
                let message = format!("gave up waiting after {waited} s; last seen: {seen}");
                Failure::new(Cause::TimedOut, what, message)
            }
            Over::Stopped => Failure::new(Cause::Stopped, what, format!("stopped waiting; last seen: {seen}")),
        }
    }
}

/// What this process has made, and when. AWS answers `NotFound` for a new object for a while, which means nothing,
/// and for an old one, which means that it is gone.
#[derive(Clone, Default)]
pub(crate) struct Newborns(Arc<Mutex<HashMap<String, Instant>>>);

impl Newborns {
    /// An object has been made.
    pub(crate) fn add(&self, id: &str) {
        self.lock().insert(id.to_string(), Instant::now());
    }

    /// Whether this process has made the object, however long ago.
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.lock().contains_key(id)
    }

    /// Until when a `NotFound` for the object means nothing; `None` for one that is not new.
    pub(crate) fn until(&self, id: &str) -> Option<Instant> {
        let until = *self.lock().get(id)? + PROPAGATION;
        (until > Instant::now()).then_some(until)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn patience(seconds: u64) -> Patience {
        Patience::until(Instant::now() + Duration::from_secs(seconds), Default::default())
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_request_ends_a_wait_at_once() {
        let (patience, start) = (patience(60), Instant::now());
        let stop = patience.stop.clone();
        let wait = until("CreateNatGateway", &patience, SECONDS, || async {
            stop.cancel();
            Ok::<Look<()>, Failure>(Look::Pending("state pending".into()))
        });
        let failure = wait.await.unwrap_err();
        assert_eq!((failure.cause, start.elapsed()), (Cause::Stopped, Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn a_timeout_tells_what_was_seen_last() {
        let failure = until("CreateNatGateway", &patience(50), SECONDS, || async {
            Ok::<Look<()>, Failure>(Look::Pending("state pending".into()))
        })
        .await
        .unwrap_err();
        assert_eq!(failure.cause, Cause::TimedOut);
        assert_eq!(failure.message, "gave up waiting after 50 s; last seen: state pending");
    }

    #[tokio::test(start_paused = true)]
    async fn a_deletion_goes_on_while_the_object_is_in_use() {
        let calls = AtomicU32::new(0);
        let result = released(&patience(5), || async {
            match calls.fetch_add(1, Ordering::Relaxed) {
                0 | 1 => Err(Failure::new(Cause::InUse, "DeleteSubnet", "has dependencies")),
                _ => Err(Failure::new(Cause::NotFound, "DeleteSubnet", "does not exist")),
            }
        })
        .await;
        assert_eq!(result, Ok(()));
        assert_eq!(calls.load(Ordering::Relaxed), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_deletion_that_runs_out_of_time_says_that_the_object_is_in_use() {
        let failure =
            released(&patience(30), || async { Err(Failure::new(Cause::InUse, "DeleteSubnet", "has dependencies")) })
                .await
                .unwrap_err();
        assert_eq!((failure.cause, failure.message.as_str()), (Cause::InUse, "has dependencies; gave up after 30 s"));
    }
}
