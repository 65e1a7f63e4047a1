//! A process that is killed.

use super::Simulation;
use super::shapes::simulated_failure;
use crate::cloud::Failure;

impl Simulation {
    /// Lets this many calls reach AWS. The process is killed before the next one.
    pub(crate) fn kill_after(&self, calls: usize) {
        *self.calls_left.lock().unwrap() = Some(calls);
    }

    /// Lets this many calls reach AWS. All others fail, and the process lives on.
    pub(crate) fn cut_off_after(&self, calls: usize) {
        *self.cut_off_after.lock().unwrap() = Some(calls);
    }

    /// Starts another process, which lives on.
    pub(crate) fn restart(&self) {
        *self.calls_left.lock().unwrap() = None;
        *self.cut_off_after.lock().unwrap() = None;
    }

    pub(super) fn count_call(&self) -> Result<(), Failure> {
        if let Some(left) = self.calls_left.lock().unwrap().as_mut() {
            *left = left.saturating_sub(1);
        }
        match self.cut_off_after.lock().unwrap().as_mut() {
            Some(0) => return Err(simulated_failure()),
            Some(left) => *left -= 1,
            None => {}
        }
        Ok(())
    }

    /// Nothing of a killed process goes on.
    pub(super) async fn live_on(&self) {
        if *self.calls_left.lock().unwrap() == Some(0) {
            std::future::pending::<()>().await;
        }
    }
}
