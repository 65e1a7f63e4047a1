//! Pending deletions of what a deployed stage may still use.

use std::collections::BTreeSet;

use super::{Entry, Inventory, Spec};

/// The name under which `learned` stores the time.
const LEARNED: &str = "undeployed_since";

impl Inventory {
    /// The IDs of the existing objects that AWS deploys after a change.
    pub fn deployed(&self) -> BTreeSet<String> {
        let deployed = self.entries.iter().filter(|entry| !entry.is_missing() && entry.spec().is_deployed_by_aws());
        deployed.map(|entry| entry.id.clone()).collect()
    }

    /// Whether the stage is not deployed automatically, and stays so because its drift is ignored.
    pub fn is_deployed_by_hand(&self) -> bool {
        let is_manual = |entry: &Entry| matches!(entry.observed(), Some(Spec::Stage(stage)) if !stage.auto_deploy);
        self.current().any(|entry| entry.ignored && is_manual(entry))
    }
}

impl Entry {
    /// The time of the last change that AWS had not deployed when the deletion was deferred, in seconds since the Unix
    /// epoch.
    pub fn undeployed_since(&self) -> Option<i64> {
        self.learned.get(LEARNED)?.parse().ok()
    }

    /// Records that time. A later apply may have made later changes.
    pub fn defer_until_deployed(&mut self, since: Option<i64>) {
        if let Some(since) = since.max(self.undeployed_since()) {
            self.learned.insert(LEARNED.to_string(), since.to_string());
        }
    }

    /// Removes the time, because nothing that is deployed needs the object.
    pub fn forget_deployment(&mut self) {
        self.learned.attributes.remove(LEARNED);
    }
}
