//! Two roots in one account. Each has its own simulation, and they share the log groups with their filters.

use std::sync::atomic::Ordering;

use super::Simulation;
use crate::model::{LogGroup, Object};

impl Simulation {
    /// The place of another root in the same account.
    pub(crate) fn for_another_root(&self) -> Simulation {
        let other = Simulation { zones: self.zones.lock().unwrap().clone().into(), ..Simulation::new(0) };
        // IDs are unique in an account.
        other.counter.store(self.counter.load(Ordering::Relaxed) + 1000, Ordering::Relaxed);
        self.share_groups_with(&other);
        other
    }

    /// Lets another root see the log groups that exist after the changes of this one. Only one root changes at a time.
    pub(crate) fn share_groups_with(&self, other: &Simulation) {
        let groups: Vec<Object> =
            self.objects().iter().filter(|it| LogGroup::of(&it.spec).is_some()).cloned().collect();
        other.keep_groups(&self.groups());
        for object in groups {
            let owner = self.owner_of(&object, &self.objects());
            other.see_group(object, owner);
        }
        other.see_filters(self.filters());
    }
}
