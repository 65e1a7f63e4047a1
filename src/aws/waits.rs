//! Waiting for AWS: short steps at first, so that a fast AWS or an emulator costs no time, then longer ones.

use std::time::{Duration, Instant};

use crate::cloud::{Cause, Failure, Patience};

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
    let started = Instant::now();
    let mut pause = Duration::from_millis(20);
    loop {
        let seen = match look().await? {
            Look::Done(value) => return Ok(value),
            Look::Pending(seen) => seen,
        };
        if patience.stop.is_cancelled() {
            return Err(Failure::new(Cause::Stopped, what, format!("stopped waiting; last seen: {seen}")));
        }
        let now = Instant::now();
        if now >= patience.deadline {
            let waited = (now - started).as_secs();
            return Err(Failure::new(
                Cause::TimedOut,
                what,
                format!("gave up waiting after {waited} s; last seen: {seen}"),
            ));
        }
        let sleep = tokio::time::sleep(pause.min(patience.deadline - now));
        tokio::select! {
            () = sleep => {}
            () = patience.stop.cancelled() => {}
        }
        pause = (pause * 3 / 2).min(longest);
    }
}
