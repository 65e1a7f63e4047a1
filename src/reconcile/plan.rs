//! Operations, and what follows from their order.

use std::collections::BTreeSet;

use crate::model::{Entry, Key, Object, Spec};

/// Operations in a stable order, each with those that it waits for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The operations. Reroutes stand first, then creates and updates in the order of the blueprint, then deletes in
    /// reverse order of creation.
    pub ops: Vec<Op>,
    /// The objects that lead nowhere for a time.
    pub outages: Vec<Outage>,
}

/// An existing object that leads nowhere until its target is made, because nothing can stand in for that.
#[derive(Clone, Debug, PartialEq)]
pub struct Outage {
    /// The object.
    pub entry: Entry,
    /// What it will lead to.
    pub target: Key,
    /// What it leads to until that is deleted; `None` where it leads nowhere already.
    pub until: Option<Entry>,
}

/// One operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Op {
    /// What to do.
    pub action: Action,
    /// The operations, by position in [`Plan::ops`], that must have succeeded before it starts.
    pub depends_on: BTreeSet<usize>,
}

/// What an operation does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Makes an object.
    Create(Object),
    /// Changes an object in place.
    Update {
        /// Its id.
        id: String,
        /// What it looks like, or was last asked to.
        before: Spec,
        /// Whether it is sure that it looks like that. Otherwise everything is set.
        certain: bool,
        /// What it should look like.
        to: Object,
    },
    /// Deletes an object.
    Delete {
        /// The object.
        entry: Entry,
        /// The object whose deletion takes it along, so that no call is needed.
        cascades_from: Option<Key>,
    },
}

/// A plan whose operations wait for each other in a circle: the keys in it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the operations on {} wait for each other", .0.join(", "))]
pub struct Unorderable(pub Vec<String>);

impl Plan {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// The existing objects that it deletes.
    pub fn deleted(&self) -> impl Iterator<Item = &Entry> {
        self.ops.iter().filter_map(|op| match &op.action {
            Action::Delete { entry, .. } => Some(entry),
            _ => None,
        })
    }
}

impl Plan {
    /// The operations that cannot start before something else is known that only this plan brings about: those with an
    /// unknown input, and those that wait for them.
    pub fn deferred(&self) -> BTreeSet<usize> {
        let is_unknown = |op: &Op| match &op.action {
            Action::Create(object) | Action::Update { to: object, .. } => {
                !object.key.fixed.is_known() || !object.spec.is_known()
            }
            Action::Delete { .. } => false,
        };
        self.transitive_dependents((0..self.ops.len()).filter(|at| is_unknown(&self.ops[*at])).collect())
    }

    /// The operations with the longest chain of those that wait for them first: where not all can be in flight at once,
    /// they decide when the last one can begin.
    pub(super) fn critical_path_first(&self) -> Vec<usize> {
        let mut length = vec![0_usize; self.ops.len()];
        let mut unsettled = true;
        while unsettled {
            unsettled = false;
            for (position, op) in self.ops.iter().enumerate() {
                for &before in &op.depends_on {
                    if length[before] <= length[position] {
                        length[before] = length[position] + 1;
                        unsettled = true;
                    }
                }
            }
        }
        let mut order: Vec<usize> = (0..self.ops.len()).collect();
        order.sort_by_key(|&position| std::cmp::Reverse(length[position]));
        order
    }

    /// These operations, those that wait for them, those that wait for the latter, and so on.
    pub(super) fn transitive_dependents(&self, mut held: BTreeSet<usize>) -> BTreeSet<usize> {
        loop {
            let waits = |at: &usize| !held.contains(at) && !self.ops[*at].depends_on.is_disjoint(&held);
            let more: Vec<usize> = (0..self.ops.len()).filter(waits).collect();
            if more.is_empty() {
                return held;
            }
            held.extend(more);
        }
    }
}

impl Action {
    /// The object's identity.
    pub fn key(&self) -> &Key {
        match self {
            Action::Create(object) | Action::Update { to: object, .. } => &object.key,
            Action::Delete { entry, .. } => &entry.key,
        }
    }

    /// The object's look, the wanted one where there is one.
    pub fn spec(&self) -> &Spec {
        match self {
            Action::Create(object) | Action::Update { to: object, .. } => &object.spec,
            Action::Delete { entry, .. } => entry.spec(),
        }
    }
}

impl Plan {
    /// That no operations wait for each other.
    pub(super) fn check_order(&self) -> Result<(), Unorderable> {
        let mut done: BTreeSet<usize> = BTreeSet::new();
        loop {
            let ready: Vec<usize> = (0..self.ops.len())
                .filter(|position| !done.contains(position) && self.ops[*position].depends_on.is_subset(&done))
                .collect();
            if ready.is_empty() {
                break;
            }
            done.extend(ready);
        }
        if done.len() == self.ops.len() {
            return Ok(());
        }
        let stuck = (0..self.ops.len()).filter(|position| !done.contains(position));
        Err(Unorderable(stuck.map(|position| self.ops[position].action.key().slot.clone()).collect()))
    }
}
