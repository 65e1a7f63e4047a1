//! Waiting for an event. No test depends on the speed of the machine: it waits until the event has happened, and fails
//! only if it never happens.

use std::time::{Duration, Instant};

/// The longest wait for any event. Only a hang reaches it, so it is generous: a machine that compiles during the tests
/// takes many times as long as an idle one.
pub(crate) const AT_MOST: Duration = Duration::from_secs(180);

/// The interval between two checks of a condition.
const INTERVAL: Duration = Duration::from_millis(5);

/// Waits until a condition holds. Panics with `what` if it never does.
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + AT_MOST;
    while !condition() {
        assert!(Instant::now() < deadline, "timed out after {AT_MOST:?} waiting until {what}");
        std::thread::sleep(INTERVAL);
    }
}

/// The output of a future. Panics with `what` if it never completes.
pub(crate) async fn output<F: Future>(what: &str, future: F) -> F::Output {
    match tokio::time::timeout(AT_MOST, future).await {
        Ok(output) => output,
        Err(_) => panic!("timed out after {AT_MOST:?} waiting until {what}"),
    }
}
