//! The roots that this process has created.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};

use crate::cloud::UnfinishedRoot;

/// The ids of the roots. An unfinished root that is not in this set was created by another process.
#[derive(Default)]
pub(super) struct CreatedHere(Mutex<BTreeSet<String>>);

impl CreatedHere {
    /// Adds a root.
    pub(super) fn add(&self, root_id: &str) {
        self.lock().insert(root_id.to_string());
    }

    /// Returns the roots that other processes have created.
    pub(super) fn others(&self, mut roots: Vec<UnfinishedRoot>) -> Vec<UnfinishedRoot> {
        let here = self.lock();
        roots.retain(|root| !here.contains(&root.id));
        roots
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
