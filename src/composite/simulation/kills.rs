//! A process that is killed.

use super::Simulation;

impl Simulation {
    /// Lets this many calls reach AWS. The process is killed before the next one.
    pub(crate) fn kill_after(&self, calls: usize) {
        *self.calls_left.lock().unwrap() = Some(calls);
    }

    /// Starts another process, which lives on.
    pub(crate) fn restart(&self) {
        *self.calls_left.lock().unwrap() = None;
    }

    pub(super) fn count_call(&self) {
        if let Some(left) = self.calls_left.lock().unwrap().as_mut() {
            *left = left.saturating_sub(1);
        }
    }

    /// Nothing of a killed process goes on.
    pub(super) async fn live_on(&self) {
        if *self.calls_left.lock().unwrap() == Some(0) {
            std::future::pending::<()>().await;
        }
    }
}
