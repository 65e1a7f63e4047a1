//! Waiting for AWS: short steps at first, so that a fast AWS or an emulator costs no time, then longer ones.

use std::time::{Duration, Instant};

use crate::cloud::{Cause, Failure};

/// What one look at a pending object showed.
pub(crate) enum Look<T> {
    /// Not there yet; in words, for the message of a timeout.
    Pending(String),
    /// There.
    Done(T),
}

/// Looks until it is done. The first pauses are a few milliseconds, then each is half as long again, up to
/// `longest`. Gives up at the deadline with what it saw last.
pub(crate) async fn until<T, F>(
    what: &str,
    deadline: Instant,
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
        let now = Instant::now();
        if now >= deadline {
            let waited = (now - started).as_secs();
            return Err(Failure::new(
                Cause::TimedOut,
                what,
                format!("gave up waiting after {waited} s; last seen: {seen}"),
            ));
        }
        tokio::time::sleep(pause.min(deadline - now)).await;
        pause = (pause * 3 / 2).min(longest);
    }
}
