//! When waits end.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The deadlines of waits.
#[derive(Clone)]
pub struct Deadlines {
    /// The time at which waits end.
    pub deadline: Instant,
    /// The time at which a deletion stops waiting for an object that is in use. Earlier than `deadline` in an update,
    /// because Terraform updates the dependents only afterwards.
    pub in_use_until: Instant,
    /// Canceled when Terraform requests a stop. Calls in flight finish, and waits end.
    pub stop: CancellationToken,
}

impl Deadlines {
    /// Creates deadlines that all end at the same time.
    pub fn until(deadline: Instant, stop: CancellationToken) -> Deadlines {
        Deadlines { deadline, in_use_until: deadline, stop }
    }

    /// Returns the same deadlines, but at most `longest` from now.
    #[must_use]
    pub fn at_most(&self, longest: Duration) -> Deadlines {
        let end = Instant::now() + longest;
        let (deadline, in_use_until) = (self.deadline.min(end), self.in_use_until.min(end));
        Deadlines { deadline, in_use_until, stop: self.stop.clone() }
    }
}
