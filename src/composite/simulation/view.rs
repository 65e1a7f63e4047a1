//! What tests see of the account.

use std::collections::BTreeSet;

use super::Simulation;
use crate::model::Object;

impl Simulation {
    /// The slots of all existing objects, sorted.
    pub(crate) fn slots(&self) -> Vec<String> {
        let groups = self.groups.lock().unwrap();
        let objects = self.objects();
        let managed = objects.iter().filter(|object| !groups.has(&object.key));
        let mut slots: Vec<String> = managed.map(|object| object.key.slot.clone()).collect();
        slots.sort();
        slots
    }

    pub(crate) fn take_calls(&self) -> Vec<String> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }

    /// The ids of the existing objects whose slots start with `prefix`.
    pub(crate) fn ids_of(&self, prefix: &str) -> BTreeSet<String> {
        let ids = self.ids.lock().unwrap();
        let keys = |object: &Object| object.key.slot.starts_with(prefix).then(|| ids[&object.key].clone());
        self.objects().iter().filter_map(keys).collect()
    }
}
