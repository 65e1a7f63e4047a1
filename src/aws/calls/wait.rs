//! Polls and retries: one loop with growing pauses for everything that is repeated. It honors the deadline, a stop
//! request and AWS's `Retry-After`.

use std::ops::ControlFlow;
use std::sync::{Once, OnceLock};
use std::time::Duration;

use tokio::time::Instant;

use crate::cloud::retries::Retry;
use crate::cloud::{Cause, Deadlines, Failure};

/// How long AWS may return `NotFound` for a new object.
pub(crate) const PROPAGATION: Duration = Duration::from_secs(5 * 60);

/// The first pause.
const FIRST: Duration = Duration::from_millis(20);

/// The longest pause in a wait that takes seconds.
pub(crate) const SECONDS: Duration = Duration::from_secs(3);

/// The longest pause in a wait that takes minutes.
pub(crate) const MINUTES: Duration = Duration::from_secs(10);

/// The result of one poll.
pub(crate) enum Poll<T> {
    /// The condition does not hold yet. Describes the current state, for the message of a timeout.
    Pending(String),
    /// The condition holds.
    Done(T),
}

/// The result of an attempt that is repeated.
pub(crate) struct Again<S> {
    /// The state that the attempt observed.
    pub(crate) seen: S,
    /// The pause that AWS requests.
    pub(crate) after: Option<Duration>,
}

/// Repeats an attempt until it breaks the loop. If there is no time for another attempt, returns the reason and the
/// state that the last one observed.
pub(crate) async fn repeat<T, S, F>(
    deadlines: &Deadlines,
    backoff: &mut Backoff,
    mut attempt: impl FnMut() -> F,
) -> Result<T, (WaitEnded, S)>
where
    F: Future<Output = ControlFlow<T, Again<S>>>,
{
    loop {
        let again = match attempt().await {
            ControlFlow::Break(value) => return Ok(value),
            ControlFlow::Continue(again) => again,
        };
        if let Err(ended) = backoff.pause(deadlines, again.after).await {
            return Err((ended, again.seen));
        }
    }
}

/// Polls until the condition holds. The failure at the deadline has the state that was observed last.
pub(crate) async fn until<T, F>(
    what: &str,
    deadlines: &Deadlines,
    longest: Duration,
    poll: impl FnMut() -> F,
) -> Result<T, Failure>
where
    F: Future<Output = Result<Poll<T>, Failure>>,
{
    until_with(what, deadlines, Backoff::new(longest), poll).await
}

/// The same, with other pauses.
pub(crate) async fn until_with<T, F>(
    what: &str,
    deadlines: &Deadlines,
    mut backoff: Backoff,
    mut poll: impl FnMut() -> F,
) -> Result<T, Failure>
where
    F: Future<Output = Result<Poll<T>, Failure>>,
{
    let announced = Announced::default();
    let polled = repeat(deadlines, &mut backoff, || {
        let poll = poll();
        async {
            match poll.await {
                Ok(Poll::Done(value)) => ControlFlow::Break(Ok(value)),
                Ok(Poll::Pending(seen)) => {
                    announced.waiting(what, &seen);
                    ControlFlow::Continue(Again { seen, after: None })
                }
                Err(failure) => ControlFlow::Break(Err(failure)),
            }
        }
    });
    match polled.await {
        Ok(result) => result,
        Err((ended, seen)) => Err(ended.failure(what, &backoff, &seen)),
    }
}

/// Retries a call as long as its failure is transient. At the deadline returns AWS's last failure, so that its cause
/// still determines what to do.
pub(crate) async fn retry_while<T, F>(
    deadlines: &Deadlines,
    backoff: &mut Backoff,
    is_transient: impl Fn(&Failure) -> bool,
    mut call: impl FnMut() -> F,
) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let announced = Announced::default();
    let sent = repeat(deadlines, backoff, || {
        let call = call();
        async {
            match call.await {
                Err(failure) if is_transient(&failure) => {
                    // The caller reports the retries of a deletion.
                    if failure.cause == Cause::NotFound {
                        announced.waiting(&failure.action, &failure.message);
                    }
                    let after = failure.retry_after;
                    ControlFlow::Continue(Again { seen: failure, after })
                }
                result => ControlFlow::Break(result),
            }
        }
    });
    match sent.await {
        Ok(result) => result,
        Err((WaitEnded::Deadline, failure)) => Err(failure),
        Err((ended, failure)) => Err(ended.failure(&failure.action, backoff, &failure.message)),
    }
}

/// Deletes an object: repeats the call as long as the object is in use, or as long as AWS answers it with another
/// missing object. `is_missing` is whether a failure reports this object as missing, and `exists` reads the object.
pub(crate) async fn delete<F, L>(
    deadlines: &Deadlines,
    is_missing: impl Fn(&Failure) -> bool,
    exists: impl Fn() -> L,
    mut call: impl FnMut() -> F,
) -> Result<(), Failure>
where
    F: Future<Output = Result<(), Failure>>,
    L: Future<Output = Result<bool, Failure>>,
{
    let (is_missing, exists) = (&is_missing, &exists);
    // On the heap, because the futures of calls are large, and those of all kinds are parts of one future.
    let deleted = retry_while_in_use(deadlines, || {
        let sent = call();
        Box::pin(async move { confirmed(sent.await, is_missing, exists).await })
    });
    Box::pin(deleted).await
}

/// The outcome of a delete call. A missing object is a success, but only the object itself: after an answer about
/// another one, which may be a part or the parent of this object, the object is read.
pub(crate) async fn confirmed<L>(
    sent: Result<(), Failure>,
    is_missing: impl Fn(&Failure) -> bool,
    exists: impl Fn() -> L,
) -> Result<(), Failure>
where
    L: Future<Output = Result<bool, Failure>>,
{
    match sent {
        Err(failure) if failure.cause != Cause::NotFound => Err(failure),
        Err(failure) if !is_missing(&failure) && exists().await? => Err(not_deleted(failure)),
        _ => Ok(()),
    }
}

/// The failure of a deletion that AWS answered with another missing object.
pub(crate) fn not_deleted(failure: Failure) -> Failure {
    Failure { cause: Cause::NotDeleted, ..failure }
}

/// Retries a delete call as long as the object is in use, or is not deleted although AWS reports another object as
/// missing. At the deadline returns AWS's last failure, whose cause is still the same, with the time spent. Only the
/// first retry is reported.
pub(crate) async fn retry_while_in_use<F>(deadlines: &Deadlines, mut call: impl FnMut() -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<(), Failure>>,
{
    let deadlines = &Deadlines { deadline: deadlines.in_use_until, ..deadlines.clone() };
    let mut backoff = Backoff::new(MINUTES);
    let first = OnceLock::new();
    let mut calls = 0;
    let call = || {
        calls += 1;
        if let (2, Some(Failure { action, message, .. })) = (calls, first.get()) {
            Retry { is_wait: false, action: action.clone(), number: None, reason: message.clone() }.report();
        }
        call()
    };
    let is_kept = |failure: &Failure| matches!(failure.cause, Cause::InUse | Cause::NotDeleted);
    let is_retried = |failure: &Failure| {
        first.get_or_init(|| failure.clone());
        is_kept(failure)
    };
    match retry_while(deadlines, &mut backoff, is_retried, call).await {
        Err(failure) if is_kept(&failure) => Err(backoff.given_up(failure)),
        result => result,
    }
}

/// Reports a wait once, when it has taken longer than a moment, so that the user sees why nothing happens.
pub(super) struct Announced {
    started: Instant,
    once: Once,
}

impl Default for Announced {
    fn default() -> Announced {
        Announced { started: Instant::now(), once: Once::new() }
    }
}

impl Announced {
    /// To be called after each attempt. `what` is the AWS action, and `seen` what it returned.
    pub(super) fn waiting(&self, what: &str, seen: &str) {
        if self.started.elapsed() >= Duration::from_secs(1) {
            let wait = || Retry { is_wait: true, action: what.into(), number: None, reason: seen.into() };
            self.once.call_once(|| wait().report());
        }
    }
}

/// Growing pauses.
pub(crate) struct Backoff {
    started: Instant,
    next: Duration,
    longest: Duration,
}

/// The reason why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum WaitEnded {
    /// The deadline has passed.
    Deadline,
    /// Terraform requested a stop.
    Stopped,
}

impl Backoff {
    /// The first pause is 20 ms. Each further pause is 1.5 times as long, up to `longest`.
    pub(crate) fn new(longest: Duration) -> Backoff {
        Backoff::starting_at(FIRST, longest)
    }

    /// The same, with another first pause.
    pub(crate) fn starting_at(first: Duration, longest: Duration) -> Backoff {
        Backoff { started: Instant::now(), next: first, longest }
    }

    /// The next pause between polls that several waits share. It is an eighth of the time since the start, and not a
    /// function of the number of polls, because other waits cause polls too. A change is thus observed at most an
    /// eighth of the waiting time late, with some sixty polls in two minutes for any number of objects.
    pub(crate) fn shared(&self) -> Duration {
        (self.started.elapsed() / 8).clamp(FIRST, self.longest)
    }

    /// Adds the time spent to a failure that persisted until the deadline.
    fn given_up(&self, mut failure: Failure) -> Failure {
        let words = failure.message.trim_end_matches('.');
        failure.message = format!("{words}; gave up after {:.0} s", self.started.elapsed().as_secs_f64());
        failure
    }

    /// Pauses for at least the time that AWS requests, but at most until the deadline. An error means that the wait has
    /// ended.
    pub(crate) async fn pause(&mut self, deadlines: &Deadlines, requested: Option<Duration>) -> Result<(), WaitEnded> {
        if deadlines.stop.is_cancelled() {
            return Err(WaitEnded::Stopped);
        }
        let rest = deadlines.deadline.saturating_duration_since(Instant::now());
        if rest.is_zero() {
            return Err(WaitEnded::Deadline);
        }
        let pause = self.next.max(requested.unwrap_or_default());
        self.next = (self.next * 3 / 2).min(self.longest);
        tokio::select! {
            () = tokio::time::sleep(pause.min(rest)) => {}
            () = deadlines.stop.cancelled() => {}
        }
        Ok(())
    }
}

impl WaitEnded {
    /// The failure of a wait that ended before its condition held. `seen` is the state that was observed last.
    pub(crate) fn failure(self, what: &str, backoff: &Backoff, seen: &str) -> Failure {
        let waited = backoff.started.elapsed().as_secs();
        match self {
            WaitEnded::Deadline => {
                let message = format!("gave up waiting after {waited} s; last seen: {seen}");
                Failure::new(Cause::TimedOut, what, message)
            }
            WaitEnded::Stopped => Failure::new(Cause::Stopped, what, format!("stopped waiting; last seen: {seen}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn deadlines(seconds: u64) -> Deadlines {
        Deadlines::until(Instant::now() + Duration::from_secs(seconds), Default::default())
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_request_ends_a_wait_at_once() {
        let (deadlines, start) = (deadlines(60), Instant::now());
        let stop = deadlines.stop.clone();
        let wait = until("CreateNatGateway", &deadlines, SECONDS, || async {
            stop.cancel();
            Ok::<Poll<()>, Failure>(Poll::Pending("state pending".into()))
        });
        let failure = wait.await.unwrap_err();
        assert_eq!((failure.cause, start.elapsed()), (Cause::Stopped, Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn a_timeout_reports_the_last_observed_state() {
        let failure = until("CreateNatGateway", &deadlines(50), SECONDS, || async {
            Ok::<Poll<()>, Failure>(Poll::Pending("state pending".into()))
        })
        .await
        .unwrap_err();
        assert_eq!(failure.cause, Cause::TimedOut);
        assert_eq!(failure.message, "gave up waiting after 50 s; last seen: state pending");
    }

    #[tokio::test(start_paused = true)]
    async fn a_delete_is_retried_while_the_object_is_in_use() {
        let calls = AtomicU32::new(0);
        let call = || async {
            match calls.fetch_add(1, Ordering::Relaxed) {
                0 | 1 => Err(Failure::new(Cause::InUse, "DeleteSubnet", "has dependencies")),
                _ => Err(Failure::new(Cause::NotFound, "DeleteSubnet", "does not exist")),
            }
        };
        let result = delete(&deadlines(5), |_| true, || async { panic!("no read is necessary") }, call).await;
        assert_eq!(result, Ok(()));
        assert_eq!(calls.load(Ordering::Relaxed), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn another_missing_object_is_no_success_while_the_object_exists() {
        let call = || async { Err(Failure::new(Cause::NotFound, "ReleaseAddress", "eni-1 does not exist")) };
        let failure = delete(&deadlines(30), |_| false, || async { Ok(true) }, call).await.unwrap_err();
        assert_eq!(failure.cause, Cause::NotDeleted);
        assert_eq!(failure.message, "eni-1 does not exist; gave up after 30 s");
        assert_eq!(delete(&deadlines(30), |_| false, || async { Ok(false) }, call).await, Ok(()));
        let denied = || async { Err(Failure::new(Cause::Denied, "DescribeAddresses", "not authorized")) };
        let failure = delete(&deadlines(30), |_| false, denied, call).await.unwrap_err();
        assert_eq!((failure.cause, failure.action.as_str()), (Cause::Denied, "DescribeAddresses"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_delete_that_times_out_still_has_the_cause_in_use() {
        let failure = retry_while_in_use(&deadlines(30), || async {
            Err(Failure::new(Cause::InUse, "DeleteSubnet", "has dependencies"))
        })
        .await
        .unwrap_err();
        assert_eq!((failure.cause, failure.message.as_str()), (Cause::InUse, "has dependencies; gave up after 30 s"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_retry_waits_for_the_time_that_aws_requests() {
        let (calls, start) = (AtomicU32::new(0), Instant::now());
        let throttled = || Failure {
            retry_after: Some(Duration::from_secs(7)),
            ..Failure::new(Cause::Throttled, "CreateApi", "slow down")
        };
        let (deadlines, mut backoff) = (deadlines(60), Backoff::new(SECONDS));
        let sent = retry_while(
            &deadlines,
            &mut backoff,
            |it| it.cause == Cause::Throttled,
            || async { if calls.fetch_add(1, Ordering::Relaxed) == 0 { Err(throttled()) } else { Ok(()) } },
        );
        assert_eq!(sent.await, Ok(()));
        assert_eq!(start.elapsed(), Duration::from_secs(7));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_request_ends_a_pause_that_aws_requested() {
        let (deadlines, start) = (deadlines(60), Instant::now());
        let failure = Failure {
            retry_after: Some(Duration::from_secs(30)),
            ..Failure::new(Cause::Throttled, "CreateApi", "slow down")
        };
        let stop = deadlines.stop.clone();
        let mut backoff = Backoff::new(SECONDS);
        let sent = retry_while(&deadlines, &mut backoff, |_| true, || async { Err::<(), _>(failure.clone()) });
        let stopping = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            stop.cancel();
        };
        let (sent, ()) = tokio::join!(sent, stopping);
        assert_eq!((sent.unwrap_err().cause, start.elapsed()), (Cause::Stopped, Duration::from_secs(1)));
    }
}
