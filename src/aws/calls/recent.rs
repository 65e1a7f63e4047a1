//! Objects that this process has recently created or deleted. AWS is eventually consistent: it may not return a new
//! object yet, or still return a deleted one.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::wait::PROPAGATION;

/// IDs, with the time of their creation or deletion.
#[derive(Debug, Default)]
pub(crate) struct Recent(Mutex<HashMap<String, Instant>>);

impl Recent {
    /// Records a creation or deletion at the current time.
    pub(crate) fn add(&self, id: impl Into<String>) {
        self.lock().insert(id.into(), Instant::now());
    }

    /// Whether this process has recorded the ID at any time.
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.lock().contains_key(id)
    }

    /// The time since the creation or deletion. `None` if it was not recorded.
    pub(crate) fn age(&self, id: &str) -> Option<Duration> {
        self.lock().get(id).map(Instant::elapsed)
    }

    /// The time until which a `NotFound` for a created object is not trusted. `None` if the object is not new: then
    /// `NotFound` means that it is deleted.
    pub(crate) fn invisible_until(&self, id: &str) -> Option<Instant> {
        let until = *self.lock().get(id)? + PROPAGATION;
        (until > Instant::now()).then_some(until)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
