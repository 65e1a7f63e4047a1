//! Plans: operations and their dependencies.

use std::collections::BTreeSet;
use std::mem::discriminant;

use crate::model::{Entry, Key, Object, Spec};

/// Operations in a stable order, each with its dependencies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The operations: first reroutes, then creates and updates in the order of the blueprint, then detached updates,
    /// then late updates, then deletes in reverse order of creation.
    pub ops: Vec<Op>,
    /// The routes that temporarily have no target.
    pub outages: Vec<Outage>,
    /// The ignored drift that the updates overwrite.
    pub overwritten: Vec<Overwritten>,
    /// The operations that cannot start, by position: deletions of objects that unmanaged objects use, as the last read
    /// found, and everything that waits for them.
    pub held: BTreeSet<usize>,
}

/// Ignored drift of one object that does not stay: the configuration changes the same values, or the plan deletes an
/// object that they refer to.
#[derive(Clone, Debug, PartialEq)]
pub struct Overwritten {
    /// The object.
    pub key: Key,
    /// One phrase for each unit, such as `target eni-1 becomes nat_gateway.0`.
    pub units: Vec<String>,
}

/// An existing route without a target until the new one is created or the route is deleted, because no fallback target
/// is available.
#[derive(Clone, Debug, PartialEq)]
pub struct Outage {
    /// The route.
    pub entry: Entry,
    /// The new target; `None` if there is none until the route is deleted.
    pub target: Option<Key>,
    /// The current target, which the plan deletes first; `None` if the target is missing already.
    pub until: Option<Entry>,
}

/// One operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Op {
    /// The action.
    pub action: Action,
    /// The operations, by position in [`Plan::ops`], that must have succeeded before it starts.
    pub depends_on: BTreeSet<usize>,
    /// Its place among the others.
    pub phase: Phase,
}

/// The place of an operation among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Creates and updates, then deletions.
    Main,
    /// An update that no operation waits for.
    Detached,
    /// An update among the deletions.
    Late,
}

/// The action of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Creates an object.
    Create(Object),
    /// Changes an object in place.
    Update {
        /// The id of the object; empty if this plan creates it.
        id: String,
        /// Its spec as it was last read or, if it has not been read since, as the last apply has left it.
        before: Spec,
        /// Whether all earlier operations on it have been completed. Otherwise the update waits for their effects.
        certain: bool,
        /// The required object.
        to: Object,
    },
    /// Deletes an object.
    Delete {
        /// The object.
        entry: Entry,
        /// The parent, if this object is deleted with it, so that no call is needed.
        cascades_from: Option<Key>,
        /// Whether the object stays in AWS and is only no longer managed, because the configuration refers to it by its
        /// ID.
        is_kept: bool,
    },
}

/// A plan with a dependency cycle. Contains the keys of the operations in it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the operations on {} depend on each other", .0.join(", "))]
pub struct Unorderable(pub Vec<String>);

impl Plan {
    /// Whether the plan contains no operations.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// The existing objects that the plan deletes or no longer manages.
    pub fn deleted(&self) -> impl Iterator<Item = &Entry> {
        self.ops.iter().filter_map(|op| match &op.action {
            Action::Delete { entry, .. } => Some(entry),
            _ => None,
        })
    }

    /// The objects that the plan changes so that the network interfaces in them lose all traffic.
    pub fn cut_off(&self) -> impl Iterator<Item = &Object> {
        self.ops.iter().filter_map(|op| match &op.action {
            Action::Create(object) => Some(object).filter(|it| it.spec.cuts_off_interfaces(None)),
            Action::Update { before, to, .. } => {
                Some(to).filter(|it| it.spec.cuts_off_interfaces(Some(before.as_kind())))
            }
            Action::Delete { .. } => None,
        })
    }
}

impl Plan {
    /// The operations that cannot start because an input becomes known only during this apply: those with an unknown
    /// input, their transitive dependents, and deletions that only these wait for. If such a deletion started, the next
    /// decision would not know the object whose place its successor takes.
    pub fn deferred(&self) -> BTreeSet<usize> {
        let is_unknown = |op: &Op| match &op.action {
            Action::Create(object) | Action::Update { to: object, .. } => {
                !object.key.fixed.is_known() || !object.spec.is_known()
            }
            Action::Delete { .. } => false,
        };
        let mut deferred =
            self.transitive_dependents((0..self.ops.len()).filter(|at| is_unknown(&self.ops[*at])).collect());
        loop {
            let is_early = |at: &usize| {
                let mut dependents = (0..self.ops.len()).filter(|it| self.ops[*it].depends_on.contains(at)).peekable();
                let is_deletion = matches!(self.ops[*at].action, Action::Delete { .. });
                is_deletion && dependents.peek().is_some() && dependents.all(|it| deferred.contains(&it))
            };
            let early: Vec<usize> = (0..self.ops.len()).filter(|at| !deferred.contains(at)).filter(is_early).collect();
            if early.is_empty() {
                return deferred;
            }
            deferred.extend(early);
        }
    }

    /// Holds the deletions of objects that unmanaged objects use, with everything that waits for them. A plan that has
    /// nothing else to do, because all of that is pending already, becomes empty.
    pub(super) fn hold(&mut self) {
        let is_held = |op: &Op| matches!(&op.action, Action::Delete { entry, .. } if entry.is_held());
        let found = (0..self.ops.len()).filter(|position| is_held(&self.ops[*position])).collect();
        let held = self.transitive_dependents(found);
        let is_pending = |op: &Op| match &op.action {
            Action::Delete { entry, .. } => entry.pending_deletion,
            Action::Update { .. } => op.phase == Phase::Late,
            Action::Create(_) => false,
        };
        match held.len() == self.ops.len() && self.ops.iter().all(is_pending) {
            true => *self = Plan::default(),
            false => self.held = held,
        }
    }

    /// The first new object that needs the name or the place of an object that stays because others use it, with that
    /// object.
    pub fn contested(&self) -> Option<(&Object, &Entry)> {
        let created = self.held.iter().find_map(|position| match &self.ops[*position].action {
            Action::Create(object) => Some((*position, object)),
            Action::Update { .. } | Action::Delete { .. } => None,
        });
        let (position, object) = created?;
        let holds = |at: &usize| self.transitive_dependents(BTreeSet::from([*at])).contains(&position);
        let mut deletions = self.held.iter().filter(|at| holds(at)).filter_map(|at| match &self.ops[*at].action {
            Action::Delete { entry, .. } => Some(entry).filter(|entry| entry.is_held()),
            Action::Create(_) | Action::Update { .. } => None,
        });
        deletions.next().map(|entry| (object, entry))
    }

    /// The positions of the operations, those with the longest chain of dependents first. If not all ready operations
    /// can be in flight at once, the longest chain determines the end of the apply.
    pub(super) fn critical_path_first(&self) -> Vec<usize> {
        let mut length = vec![0_usize; self.ops.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (position, op) in self.ops.iter().enumerate() {
                for &before in &op.depends_on {
                    if length[before] <= length[position] {
                        length[before] = length[position] + 1;
                        changed = true;
                    }
                }
            }
        }
        let mut order: Vec<usize> = (0..self.ops.len()).collect();
        order.sort_by_key(|&position| std::cmp::Reverse(length[position]));
        order
    }

    /// These operations and their transitive dependents.
    pub fn transitive_dependents(&self, found: BTreeSet<usize>) -> BTreeSet<usize> {
        transitive_dependents(&self.ops, found)
    }
}

/// These of the operations and their transitive dependents.
pub(super) fn transitive_dependents(ops: &[Op], mut found: BTreeSet<usize>) -> BTreeSet<usize> {
    loop {
        let depends = |at: &usize| !found.contains(at) && !ops[*at].depends_on.is_disjoint(&found);
        let more: Vec<usize> = (0..ops.len()).filter(depends).collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

impl Action {
    /// Whether it deletes an object that can make room for one of these at a quota.
    pub fn makes_room_for(&self, failed: &[&Spec]) -> bool {
        let Action::Delete { entry, .. } = self else { return false };
        let deleted = &entry.applied;
        let has_room_for =
            |spec: &&Spec| discriminant(deleted) == discriminant(*spec) && deleted.shares_quota_with(spec.as_kind());
        failed.iter().any(has_room_for)
    }

    /// The key of the object.
    pub fn key(&self) -> &Key {
        match self {
            Action::Create(object) | Action::Update { to: object, .. } => &object.key,
            Action::Delete { entry, .. } => &entry.key,
        }
    }

    /// The required spec of the object, or the current one for a deletion.
    pub fn spec(&self) -> &Spec {
        match self {
            Action::Create(object) | Action::Update { to: object, .. } => &object.spec,
            Action::Delete { entry, .. } => entry.spec(),
        }
    }
}

impl Plan {
    /// Returns an error if the dependencies have a cycle.
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

impl Action {
    /// The verb of a running operation, as in `creating nat_gateway.0`.
    pub fn doing(&self) -> &'static str {
        match self {
            Action::Create(_) => "creating",
            Action::Update { .. } => "updating",
            Action::Delete { is_kept: true, .. } => "disowning",
            Action::Delete { .. } => "deleting",
        }
    }

    /// The verb of a failed operation, as in `Could not create NAT gateway "nat_gateway.0"`.
    pub fn verb(&self) -> &'static str {
        match self {
            Action::Create(_) => "create",
            Action::Update { .. } => "update",
            Action::Delete { is_kept: true, .. } => "disown",
            Action::Delete { .. } => "delete",
        }
    }

    /// The verb of a finished operation, as in `created nat_gateway.0`.
    pub(super) fn done(&self) -> &'static str {
        match self {
            Action::Create(_) => "created",
            Action::Update { .. } => "updated",
            Action::Delete { is_kept: true, .. } => "disowned",
            Action::Delete { .. } => "deleted",
        }
    }
}
