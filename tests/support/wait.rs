//! Waiting for an event. No test measures how fast the machine is: it waits until something has happened, and fails
//! only when that does not happen at all.

use std::time::{Duration, Instant};

/// The longest wait for anything. It is reached only by a hang, so it is generous: a machine that compiles beside the
/// tests takes many times as long as an idle one.
pub(crate) const AT_MOST: Duration = Duration::from_secs(180);

/// How often a condition is checked.
const INTERVAL: Duration = Duration::from_millis(5);

/// Waits until a condition holds. Panics with `what` if it never does.
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + AT_MOST;
    while !condition() {
        assert!(Instant::now() < deadline, "waited {AT_MOST:?} in vain until {what}");
        std::thread::sleep(INTERVAL);
    }
}

/// The output of a future. Panics with `what` if there is never one.
pub(crate) async fn output<F: Future>(what: &str, future: F) -> F::Output {
    match tokio::time::timeout(AT_MOST, future).await {
        Ok(output) => output,
        Err(_) => panic!("waited {AT_MOST:?} in vain until {what}"),
    }
}
