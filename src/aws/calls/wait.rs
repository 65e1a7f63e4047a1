//! Waiting for AWS: one loop for everything that is repeated, with pauses that grow. It honors the deadline, a stop
//! request and AWS's `Retry-After`.

use std::ops::ControlFlow;
use std::time::Duration;

use tokio::time::Instant;

use crate::cloud::{Cause, Deadlines, Failure};

/// How long AWS may answer that something does not exist which it has just created.
pub(crate) const PROPAGATION: Duration = Duration::from_secs(5 * 60);

/// The first pause.
const FIRST: Duration = Duration::from_millis(20);

/// The longest pause in a wait for something that takes seconds.
pub(crate) const SECONDS: Duration = Duration::from_secs(3);

/// The longest pause in a wait for something that takes minutes.
pub(crate) const MINUTES: Duration = Duration::from_secs(10);

/// What one poll showed.
pub(crate) enum Poll<T> {
    /// Not there yet; in words, for the message of a timeout.
    Pending(String),
    /// There.
    Done(T),
}

/// Why an attempt is made again.
pub(crate) struct Again<S> {
    /// What the attempt showed.
    pub(crate) seen: S,
    /// How long AWS asks to wait.
    pub(crate) after: Option<Duration>,
}

/// Makes attempts until one breaks the loop. When there is no time for another one, returns why, and what the last one
/// showed.
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

/// Polls until it is done. At the deadline the failure says what was seen last.
pub(crate) async fn until<T, F>(
    what: &str,
    deadlines: &Deadlines,
    longest: Duration,
    mut poll: impl FnMut() -> F,
) -> Result<T, Failure>
where
    F: Future<Output = Result<Poll<T>, Failure>>,
{
    let mut backoff = Backoff::new(longest);
    let polled = repeat(deadlines, &mut backoff, || {
        let poll = poll();
        async {
            match poll.await {
                Ok(Poll::Done(value)) => ControlFlow::Break(Ok(value)),
                Ok(Poll::Pending(seen)) => ControlFlow::Continue(Again { seen, after: None }),
                Err(failure) => ControlFlow::Break(Err(failure)),
            }
        }
    });
    match polled.await {
        Ok(result) => result,
        Err((ended, seen)) => Err(ended.failure(what, &backoff, &seen)),
    }
}

/// Sends a call again as long as it fails for a reason that passes by itself. At the deadline the failure is AWS's last
/// one, so that its cause still tells what to do.
pub(crate) async fn retry_while<T, F>(
    deadlines: &Deadlines,
    backoff: &mut Backoff,
    passes: impl Fn(&Failure) -> bool,
    mut call: impl FnMut() -> F,
) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let sent = repeat(deadlines, backoff, || {
        let call = call();
        async {
            match call.await {
                Err(failure) if passes(&failure) => {
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

/// Sends a deleting call until nothing uses the object any more. Absence is success. At the deadline the failure
/// is AWS's last refusal, so that its cause still says that the object is in use, with how long it was tried.
pub(crate) async fn retry_while_in_use<F>(deadlines: &Deadlines, call: impl FnMut() -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<(), Failure>>,
{
    let deadlines = &Deadlines { deadline: deadlines.in_use_until, ..deadlines.clone() };
    let mut backoff = Backoff::new(MINUTES);
    match retry_while(deadlines, &mut backoff, |failure| failure.cause == Cause::InUse, call).await {
        Err(failure) if failure.cause == Cause::NotFound => Ok(()),
        Err(failure) if failure.cause == Cause::InUse => Err(backoff.given_up(failure)),
        result => result,
    }
}

/// Pauses that grow.
pub(crate) struct Backoff {
    started: Instant,
    next: Duration,
    longest: Duration,
}

/// Why there is no time for another pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum WaitEnded {
    /// The deadline has passed.
    Deadline,
    /// Terraform asked to stop.
    Stopped,
}

impl Backoff {
    /// The first pause is 20 ms, each further one half as long again, up to `longest`.
    pub(crate) fn new(longest: Duration) -> Backoff {
        Backoff::starting_at(FIRST, longest)
    }

    /// The same with another first pause.
    pub(crate) fn starting_at(first: Duration, longest: Duration) -> Backoff {
        Backoff { started: Instant::now(), next: first, longest }
    }

    /// The length of the next pause between polls that others share. It grows with time, because the polls that others
    /// cause say nothing about how long this wait has taken: what is seen late is seen an eighth of that time late, for
    /// some sixty polls in two minutes, whatever the number of objects.
    pub(crate) fn shared(&self) -> Duration {
        (self.started.elapsed() / 8).clamp(FIRST, self.longest)
    }

    /// A refusal that was met until the time was over.
    fn given_up(&self, mut refusal: Failure) -> Failure {
        let words = refusal.message.trim_end_matches('.');
        refusal.message = format!("{words}; gave up after {:.0} s", self.started.elapsed().as_secs_f64());
        refusal
    }

    /// Pauses, unless the time is over: at least as long as AWS asks, and at most until the deadline.
    pub(crate) async fn pause(&mut self, deadlines: &Deadlines, asked: Option<Duration>) -> Result<(), WaitEnded> {
        if deadlines.stop.is_cancelled() {
            return Err(WaitEnded::Stopped);
        }
        let rest = deadlines.deadline.saturating_duration_since(Instant::now());
        if rest.is_zero() {
            return Err(WaitEnded::Deadline);
        }
        let pause = self.next.max(asked.unwrap_or_default());
        self.next = (self.next * 3 / 2).min(self.longest);
        tokio::select! {
            () = tokio::time::sleep(pause.min(rest)) => {}
            () = deadlines.stop.cancelled() => {}
        }
        Ok(())
    }
}

impl WaitEnded {
    /// The failure of a wait that ended before it saw what it waited for.
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
    async fn a_timeout_tells_what_was_seen_last() {
        let failure = until("CreateNatGateway", &deadlines(50), SECONDS, || async {
            Ok::<Poll<()>, Failure>(Poll::Pending("state pending".into()))
        })
        .await
        .unwrap_err();
        assert_eq!(failure.cause, Cause::TimedOut);
        assert_eq!(failure.message, "gave up waiting after 50 s; last seen: state pending");
    }

    #[tokio::test(start_paused = true)]
    async fn a_deletion_goes_on_while_the_object_is_in_use() {
        let calls = AtomicU32::new(0);
        let result = retry_while_in_use(&deadlines(5), || async {
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
        let failure = retry_while_in_use(&deadlines(30), || async {
            Err(Failure::new(Cause::InUse, "DeleteSubnet", "has dependencies"))
        })
        .await
        .unwrap_err();
        assert_eq!((failure.cause, failure.message.as_str()), (Cause::InUse, "has dependencies; gave up after 30 s"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_is_repeated_only_after_the_time_that_aws_asks_for() {
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
    async fn a_stop_request_ends_a_pause_that_aws_asked_for() {
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
