//! The roots of the states that this process knows, for the plan of a tainted resource.
//!
//! Terraform plans the replacement of a tainted resource as a create, and passes nothing of the old root. It has mostly
//! just read it in the same process.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::private_state::Private;
use super::state;
use super::status::is_not_adopted;
use crate::model::{GuardDutyObjects, Inventory};
use crate::plugin::Value;
use crate::topology::Topology;

/// The roots in states, by their IDs.
#[derive(Debug, Default)]
pub(super) struct StatedRoots(Mutex<BTreeMap<String, StatedRoot>>);

#[derive(Debug)]
struct StatedRoot {
    type_name: &'static str,
    /// The name that the user gave.
    name: String,
    /// Whether Terraform has passed it to a plan, which it does not if it is tainted.
    is_planned: bool,
    /// What this process has read.
    read: Option<ReadRoot>,
}

#[derive(Debug)]
struct ReadRoot {
    region: String,
    guardduty: GuardDutyObjects,
    private: Vec<u8>,
}

/// A root that a create replaces if it is tainted.
pub(super) struct Replaceable {
    pub(super) id: String,
    /// Its objects, and what its destroy does with those of GuardDuty; `None` if this process has not read it.
    pub(super) read: Option<(Inventory, GuardDutyObjects)>,
}

impl StatedRoots {
    /// Remembers a root of a state.
    pub(super) fn note<P: Topology>(&self, state: &Value) {
        let (id, name) = (state.get("id").as_str(), state.get(P::NAME).as_str());
        if let Some((id, name)) = id.zip(name).filter(|_| !is_not_adopted(state)) {
            let new = || StatedRoot { type_name: P::TYPE_NAME, name: name.to_string(), is_planned: false, read: None };
            self.lock().entry(id.to_string()).or_insert_with(new);
        }
    }

    /// Remembers what a read of a root returned.
    pub(super) fn note_read<P: Topology>(&self, state: &Value, region: &str, private: &[u8]) {
        self.note::<P>(state);
        let (region, guardduty) = (region.to_string(), state::guardduty_in_destroy::<P>(state));
        let mut roots = self.lock();
        if let Some(root) = state.get("id").as_str().and_then(|id| roots.get_mut(id)) {
            root.read = Some(ReadRoot { region, guardduty, private: private.to_vec() });
        }
    }

    /// Remembers that Terraform plans a root with its state.
    pub(super) fn note_planned(&self, root_id: &str) {
        if let Some(root) = self.lock().get_mut(root_id) {
            root.is_planned = true;
        }
    }

    /// Forgets a root that does not exist any more.
    pub(super) fn forget(&self, root_id: &str) {
        self.lock().remove(root_id);
    }

    /// Forgets everything, when another command begins.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    /// The roots with the name of a new one that Terraform has not passed to a plan. A new resource can have the name
    /// of another one, whose plan follows, so they need not be tainted.
    pub(super) fn replaceable<P: Topology>(&self, name: &str, region: &str) -> Vec<Replaceable> {
        let roots = self.lock();
        let is_replaceable = |it: &StatedRoot| it.type_name == P::TYPE_NAME && it.name == name && !it.is_planned;
        let replaceable = roots.iter().filter(|(_, root)| is_replaceable(root)).map(|(id, root)| {
            let read = root.read.as_ref().filter(|read| read.region == region);
            let read = read.and_then(|it| Some((Private::decode(&it.private)?.inventory, it.guardduty)));
            Replaceable { id: id.clone(), read }
        });
        replaceable.collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, StatedRoot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
