//! Operations that are split in two, because a part of them needs another order than the rest.
//!
//! - An *early* update leaves subnets that are deleted and whose addresses new objects need. The rest of the update
//!   follows once these exist. That of a stage precedes the deletion of routes (see `suspend`).
//! - A *late* update removes references to deleted objects. The route table of a subnet that is deleted must stay
//!   associated with the gateway endpoints until then: AWS rejects the deletion while the subnet is in use, and its
//!   workloads would lose their access to S3 and DynamoDB. The late update runs among the deletions.
//!   A custom domain whose record of type AAAA is deleted likewise keeps its IPv6 addresses until then. So does a
//!   subnet whose IPv6 routes are deleted, and one that gets such routes assigns addresses only after that.
//! - A *detached* update sets what depends on unmanaged objects. AWS enables route propagation only once the virtual
//!   private gateway is attached, which may never happen. No operation waits for a detached update.

use std::collections::BTreeSet;

use super::plan::Action;
use super::suspend::is_suspended;
use crate::model::{Claim, Entry, Key, Object, Spec};

/// Actions, of which some updates are early, late or detached.
#[derive(Default)]
pub(super) struct Split {
    /// Early updates, then creates and updates, then detached updates, then late updates, then deletions.
    pub(super) actions: Vec<Action>,
    /// The early updates, by position.
    pub(super) early: BTreeSet<usize>,
    /// The detached updates, by position.
    pub(super) detached: BTreeSet<usize>,
    /// The late updates, by position.
    pub(super) late: BTreeSet<usize>,
}

/// The actions of the parts.
#[derive(Default)]
struct Parts {
    early: Vec<Action>,
    sets: Vec<Action>,
    detached: Vec<Action>,
    late: Vec<Action>,
    deletes: Vec<Action>,
}

/// Splits creates and updates.
pub(super) fn split(actions: Vec<Action>) -> Split {
    let entries = actions.iter().filter_map(|action| match action {
        Action::Delete { entry, .. } => Some(entry),
        _ => None,
    });
    let entries: Vec<&Entry> = entries.collect();
    let deleted: BTreeSet<Key> = entries.iter().map(|entry| entry.key.clone()).collect();
    let needed = needed_places(&actions, &entries);
    let is_suspended = is_suspended(&actions);
    let mut parts = Parts::default();
    for action in actions {
        match action {
            Action::Create(object) => parts.create(object),
            Action::Update { .. } if is_suspended && action.spec().is_deployed_by_aws() => parts.suspend(action),
            Action::Update { .. } => parts.update(action, &deleted, &needed),
            Action::Delete { .. } => parts.deletes.push(action),
        }
    }
    let Parts { early, sets, detached, late, deletes } = parts;
    let after_early = early.len();
    let after_sets = after_early + sets.len();
    let after_detached = after_sets + detached.len();
    let after_late = after_detached + late.len();
    Split {
        actions: early.into_iter().chain(sets).chain(detached).chain(late).chain(deletes).collect(),
        early: (0..after_early).collect(),
        detached: (after_sets..after_detached).collect(),
        late: (after_detached..after_late).collect(),
    }
}

/// The objects whose deletion must precede a creation: those with a colliding claim, and all that need one of these.
fn needed_places(actions: &[Action], deleted: &[&Entry]) -> BTreeSet<Key> {
    let created = actions.iter().filter_map(|action| match action {
        Action::Create(object) => Some(object.spec.claims()),
        _ => None,
    });
    let created: Vec<Claim> = created.flatten().collect();
    let collides = |entry: &&&Entry| Claim::any_collide(&entry.applied.claims(), &created);
    let mut unvisited: Vec<&Entry> = deleted.iter().filter(collides).copied().collect();
    let mut needed = BTreeSet::new();
    while let Some(entry) = unvisited.pop() {
        if needed.insert(entry.key.clone()) {
            let needs_it = |other: &&&Entry| other.applied.needs().iter().any(|need| need.key == entry.key);
            unvisited.extend(deleted.iter().filter(needs_it));
        }
    }
    needed
}

impl Parts {
    fn create(&mut self, object: Object) {
        let Some(interim) = object.spec.with_attached_parts_of(None) else {
            self.sets.push(Action::Create(object));
            return;
        };
        // The ID is known only after the creation.
        let id = String::new();
        self.sets.push(Action::Create(Object { spec: interim.clone(), ..object.clone() }));
        self.detached.push(Action::Update { id, before: interim, certain: true, to: object });
    }

    /// Lets the stage serve what is deployed until the rest of the update.
    fn suspend(&mut self, action: Action) {
        let Action::Update { id, before, certain, to } = action else { return };
        let interim = before.suspended();
        if certain && interim == before {
            return self.sets.push(Action::Update { id, before, certain, to });
        }
        let first = interim_object(&to, interim.clone(), |required| Some(required.suspended()));
        let first = Object { after: Vec::new(), ..first };
        // One that is deleted stays off.
        let is_all = (&first.spec, &first.required) == (&to.spec, &to.required);
        self.early.push(Action::Update { id: id.clone(), before, certain, to: first });
        if !is_all {
            self.sets.push(Action::Update { id, before: interim, certain: true, to });
        }
    }

    fn update(&mut self, action: Action, deleted: &BTreeSet<Key>, needed: &BTreeSet<Key>) {
        let Action::Update { id, before, certain, to } = action else { return };
        // An update that has failed may have enabled these parts or not.
        let repeated = || (!certain && to.spec.depends_on_attachment()).then(|| to.spec.clone());
        if let Some(interim) = to.spec.with_attached_parts_of(Some(&before)).or_else(repeated) {
            if interim != before {
                let first = interim_object(&to, interim.clone(), |spec| spec.with_attached_parts_of(Some(&before)));
                // The object can be used: only what depends on attachments has not been completed.
                self.sets.push(Action::Update { id: id.clone(), before, certain: true, to: first });
            }
            self.detached.push(Action::Update { id, before: interim, certain, to });
        } else if let Some(interim) = to.spec.keeping_references(&before, deleted) {
            if !certain || interim != before {
                let to = interim_object(&to, interim.clone(), |spec| spec.keeping_references(&before, deleted));
                self.sets.push(Action::Update { id: id.clone(), before, certain, to });
            }
            self.late.push(Action::Update { id, before: interim, certain: true, to });
        } else if let Some(interim) = before.leaving(needed, &to.spec) {
            let first = Object::new(to.key.clone(), interim.clone());
            self.early.push(Action::Update { id: id.clone(), before, certain, to: first });
            self.sets.push(Action::Update { id, before: interim, certain: true, to });
        } else {
            self.sets.push(Action::Update { id, before, certain, to });
        }
    }
}

/// The object of the first of two updates. `part` returns the spec before the second one.
fn interim_object(to: &Object, spec: Spec, part: impl Fn(&Spec) -> Option<Spec>) -> Object {
    let required = to.required.clone().map(|required| part(&required).map_or(required, Box::new));
    Object { spec, required, ..to.clone() }
}
