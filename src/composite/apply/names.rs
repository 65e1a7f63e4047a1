//! The names of the objects that the applies of this process create. Two resources of one configuration may require an
//! object with one name, and only the first of them may create it.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The names that applies in progress create, each with its Region.
#[derive(Debug, Default)]
pub(super) struct Names(Mutex<BTreeSet<(String, String)>>);

/// The names that one apply creates, until it ends.
pub(super) struct Claim<'a> {
    names: &'a Names,
    claimed: BTreeSet<(String, String)>,
}

impl Names {
    /// Claims names for the creates of an apply. The error is a name that another apply creates at the same time.
    pub(super) fn claim(&self, region: &str, names: impl IntoIterator<Item = String>) -> Result<Claim<'_>, String> {
        let claimed: BTreeSet<_> = names.into_iter().map(|name| (region.to_string(), name)).collect();
        let mut known = self.lock();
        if let Some((_, name)) = claimed.iter().find(|it| known.contains(*it)) {
            return Err(name.clone());
        }
        known.extend(claimed.iter().cloned());
        Ok(Claim { names: self, claimed })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<(String, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut known = self.names.lock();
        known.retain(|name| !self.claimed.contains(name));
    }
}
