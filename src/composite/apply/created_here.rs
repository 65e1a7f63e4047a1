//! Roots that this process has created.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};

use crate::cloud::UnfinishedRoot;

/// Their ids. What a create of another process has left is recognized by its absence here.
#[derive(Default)]
pub(super) struct CreatedHere(Mutex<BTreeSet<String>>);

impl CreatedHere {
    /// Remembers one.
    pub(super) fn add(&self, root_id: &str) {
        self.lock().insert(root_id.to_string());
    }

    /// Those that other processes have created.
    pub(super) fn others(&self, mut roots: Vec<UnfinishedRoot>) -> Vec<UnfinishedRoot> {
        let here = self.lock();
        roots.retain(|root| !here.contains(&root.id));
        roots
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
