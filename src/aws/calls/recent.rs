//! What this process has created or deleted a short while ago. AWS is eventually consistent: it may not show a new
//! object yet, or still show a deleted one.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::wait::PROPAGATION;

/// Ids, and when each was created or deleted.
#[derive(Debug, Default)]
pub(crate) struct Recent(Mutex<HashMap<String, Instant>>);

impl Recent {
    /// It happened now.
    pub(crate) fn add(&self, id: impl Into<String>) {
        self.lock().insert(id.into(), Instant::now());
    }

    /// Whether it happened in this process, however long ago.
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.lock().contains_key(id)
    }

    /// How long ago it happened; `None` if it did not.
    pub(crate) fn age(&self, id: &str) -> Option<Duration> {
        self.lock().get(id).map(Instant::elapsed)
    }

    /// Until when a `NotFound` for a created object says nothing; `None` for one that is not new: then the object is
    /// deleted.
    pub(crate) fn invisible_until(&self, id: &str) -> Option<Instant> {
        let until = *self.lock().get(id)? + PROPAGATION;
        (until > Instant::now()).then_some(until)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
