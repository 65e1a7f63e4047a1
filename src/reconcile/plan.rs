//! The difference between what exists and what should exist, as operations with an order.
//!
//! There is no replace. What AWS cannot change in place is part of an object's key, so such a change is one
//! object that leaves and another that arrives. Creates and updates wait only for creates and updates, deletes for
//! anything: new first, leaving last. The exception are claims, things that only one object can have: their new
//! holder waits for the old one to leave. What leads to such an old one is led elsewhere first, so that it never leads
//! nowhere, or the plan says that it will.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::mem::Discriminant;

use crate::model::{Entry, Inventory, Key, Object, OnDelete, Ref, Spec};

/// Operations in a stable order, each with those that it waits for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The operations. Detours stand first, then creates and updates in the order of the blueprint, then deletes in
    /// reverse order of creation.
    pub ops: Vec<Op>,
    /// The objects that lead nowhere for a time.
    pub gaps: Vec<Gap>,
}

/// An existing object that leads nowhere until its target is made, because nothing can stand in for that.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
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
    pub waits: BTreeSet<usize>,
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
        along_with: Option<Key>,
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
    pub fn held_back(&self) -> BTreeSet<usize> {
        let is_unknown = |op: &Op| match &op.action {
            Action::Create(object) | Action::Update { to: object, .. } => {
                !object.key.fixed.is_known() || !object.spec.is_known()
            }
            Action::Delete { .. } => false,
        };
        self.with_those_that_wait((0..self.ops.len()).filter(|at| is_unknown(&self.ops[*at])).collect())
    }

    /// The operations with the longest chain of those that wait for them first: where not all can be in flight at once,
    /// they decide when the last one can begin.
    pub(super) fn longest_first(&self) -> Vec<usize> {
        let mut length = vec![0_usize; self.ops.len()];
        let mut unsettled = true;
        while unsettled {
            unsettled = false;
            for (position, op) in self.ops.iter().enumerate() {
                for &before in &op.waits {
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
    pub(super) fn with_those_that_wait(&self, mut held: BTreeSet<usize>) -> BTreeSet<usize> {
        loop {
            let waits = |at: &usize| !held.contains(at) && !self.ops[*at].waits.is_disjoint(&held);
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

/// Compares and orders. `wanted` is in creation order, and names each object once.
pub fn plan(existing: &Inventory, wanted: &[Object]) -> Result<Plan, Unorderable> {
    let mut ops: Vec<Op> =
        actions(existing, wanted).into_iter().map(|action| Op { action, waits: BTreeSet::new() }).collect();
    let claimed = order(&mut ops, existing);
    let gaps = detour(&mut ops, &claimed, existing);
    let plan = Plan { ops, gaps };
    plan.check_order()?;
    Ok(plan)
}

fn actions(existing: &Inventory, wanted: &[Object]) -> Vec<Action> {
    let mut taken = HashSet::new();
    let mut actions = Vec::new();
    for object in wanted {
        let Some(entry) = holder(existing, &object.key) else {
            actions.push(Action::Create(object.clone()));
            continue;
        };
        taken.insert(entry.kind_and_id());
        let before = entry.spec_against(&object.spec);
        if entry.unfinished || before != object.spec {
            let (id, certain) = (entry.id.clone(), !entry.unfinished);
            actions.push(Action::Update { id, before, certain, to: object.clone() });
        }
    }
    let leaving: Vec<&Entry> = existing.present().filter(|entry| !taken.contains(&entry.kind_and_id())).collect();
    let leaving_keys: BTreeSet<&Key> = leaving.iter().map(|entry| &entry.key).collect();
    for entry in leaving.iter().rev() {
        let along_with = entry.spec().parent().filter(|parent| leaving_keys.contains(parent)).cloned();
        actions.push(Action::Delete { entry: (*entry).clone(), along_with });
    }
    actions
}

/// The existing object of that key. One that stays is preferred to one that is leaving, but a leaving one that is
/// wanted again may stay after all.
fn holder<'a>(existing: &'a Inventory, key: &Key) -> Option<&'a Entry> {
    let mut holders: Vec<&Entry> = existing.present().filter(|entry| entry.key == *key).collect();
    holders.sort_by_key(|entry| entry.leaving);
    holders.into_iter().next()
}

/// The positions of deletions, by kind and id of what they delete.
type Deletes<'a> = HashMap<(Discriminant<Spec>, &'a str), usize>;

/// Lets each operation wait for what it has to, and returns the deletions that come before anything new that claims
/// what they free.
fn order(ops: &mut [Op], existing: &Inventory) -> BTreeSet<usize> {
    let mut makes: BTreeMap<Key, usize> = BTreeMap::new();
    let mut deletes = Deletes::new();
    for (position, op) in ops.iter().enumerate() {
        match &op.action {
            Action::Create(object) | Action::Update { to: object, .. } => {
                makes.insert(object.key.clone(), position);
            }
            Action::Delete { entry, .. } => {
                deletes.insert(entry.kind_and_id(), position);
            }
        }
    }

    let mut waits = vec![BTreeSet::new(); ops.len()];
    for (position, op) in ops.iter().enumerate() {
        match &op.action {
            Action::Create(object) | Action::Update { to: object, .. } => {
                let needed = object.spec.needs().into_iter().map(|need| need.key).chain(object.after.iter().cloned());
                waits[position].extend(needed.filter_map(|key| makes.get(&key).copied()));
            }
            Action::Delete { entry, along_with } => {
                if let Some(parent) = along_with {
                    waits[position].extend(deletes_of(parent, existing, &deletes));
                }
                for user in existing.present() {
                    let Some(need) = user.spec().needs().into_iter().find(|need| need.key == entry.key) else {
                        continue;
                    };
                    order_leaving(position, entry, user, need.on_delete, ops, &makes, &deletes, &mut waits, existing);
                }
            }
        }
    }

    let claimed = claims(ops, &mut waits);
    let made: Vec<usize> = makes.into_values().collect();
    for (position, op) in ops.iter().enumerate() {
        if matches!(op.action, Action::Delete { .. }) && !claimed.contains(&position) {
            waits[position].extend(made.iter().copied());
        }
    }
    for (op, waits) in ops.iter_mut().zip(waits) {
        op.waits = waits;
    }
    claimed
}

/// Orders the deletion of an object against what becomes of an object that needs it.
#[expect(clippy::too_many_arguments, reason = "one step of `order`, which owns all of these")]
fn order_leaving(
    position: usize,
    entry: &Entry,
    user: &Entry,
    on_delete: OnDelete,
    ops: &[Op],
    makes: &BTreeMap<Key, usize>,
    deletes: &Deletes<'_>,
    waits: &mut [BTreeSet<usize>],
    existing: &Inventory,
) {
    let Some(users_delete) = deletes.get(&user.kind_and_id()).copied() else {
        // The user stays. If it is changed, the change is what turns it away from this object.
        if on_delete == OnDelete::Holds {
            waits[position].extend(makes.get(&user.key).copied());
        }
        return;
    };
    let users_parent = match &ops[users_delete].action {
        Action::Delete { along_with, .. } => along_with.as_ref(),
        _ => None,
    };
    match (on_delete, users_parent) {
        (OnDelete::Free, _) => {}
        (OnDelete::Outlives, _) => {
            waits[users_delete].insert(position);
        }
        // It goes with this very object.
        (OnDelete::Holds, Some(parent)) if *parent == entry.key => {}
        (OnDelete::Holds, Some(parent)) => waits[position].extend(deletes_of(parent, existing, deletes)),
        (OnDelete::Holds, None) => {
            waits[position].insert(users_delete);
        }
    }
}

fn deletes_of(key: &Key, existing: &Inventory, deletes: &Deletes<'_>) -> Vec<usize> {
    existing
        .present()
        .filter(|entry| entry.key == *key)
        .filter_map(|entry| deletes.get(&entry.kind_and_id()).copied())
        .collect()
}

/// Makes the new holder of a claim wait for the old one, and returns the deletions that therefore cannot wait for
/// everything new: those of the old holders, and what these wait for.
fn claims(ops: &[Op], waits: &mut [BTreeSet<usize>]) -> BTreeSet<usize> {
    let mut claimed = BTreeSet::new();
    for (arriving, op) in ops.iter().enumerate() {
        let Action::Create(object) = &op.action else { continue };
        let wanted = object.spec.claims();
        for (leaving, other) in ops.iter().enumerate() {
            let Action::Delete { entry, .. } = &other.action else { continue };
            let held = entry.spec().claims();
            if wanted.iter().any(|claim| held.iter().any(|other| claim.collides(other))) {
                waits[arriving].insert(leaving);
                claimed.insert(leaving);
            }
        }
    }
    let mut unvisited: Vec<usize> = claimed.iter().copied().collect();
    while let Some(position) = unvisited.pop() {
        for &before in &waits[position] {
            if matches!(ops[before].action, Action::Delete { .. }) && claimed.insert(before) {
                unvisited.push(before);
            }
        }
    }
    claimed
}

/// What becomes of something that an object leads to until all new objects are made.
enum Footing {
    Stays,
    /// It is deleted before, by this operation.
    Leaves(usize),
    Gone,
}

/// Leads each object whose target is made in this plan to another target first, where the present one does not last
/// until then. Returns the objects for which there is no other.
fn detour(ops: &mut Vec<Op>, claimed: &BTreeSet<usize>, existing: &Inventory) -> Vec<Gap> {
    let (mut detours, mut gaps) = (Vec::new(), Vec::new());
    for position in 0..ops.len() {
        let Action::Update { id, before, certain, to } = &ops[position].action else { continue };
        let (Some(Ref::Key(target)), Some(present)) = (to.spec.target(), before.target()) else { continue };
        if !is_awaited(target, ops) {
            continue;
        }
        let leaving = match footing(present, ops, claimed, existing) {
            Footing::Stays => continue,
            Footing::Leaves(deletion) => Some(deletion),
            Footing::Gone => None,
        };
        let Some(spec) = to.meanwhile.iter().find(|spec| stands(spec, ops, claimed, existing)).cloned() else {
            let until = leaving.and_then(|deletion| match &ops[deletion].action {
                Action::Delete { entry, .. } => Some(entry.clone()),
                _ => None,
            });
            gaps.extend(holder(existing, &to.key).map(|entry| Gap {
                entry: entry.clone(),
                target: target.clone(),
                until,
            }));
            continue;
        };
        let (id, before, certain) = (id.clone(), before.clone(), *certain);
        let aside = Action::Update { id, before, certain, to: Object::new(to.key.clone(), spec.clone()) };
        detours.push((aside, position, leaving));
        if let Action::Update { before, certain, .. } = &mut ops[position].action {
            (*before, *certain) = (spec, true);
        }
    }
    let shift = detours.len();
    for op in ops.iter_mut() {
        op.waits = op.waits.iter().map(|position| position + shift).collect();
    }
    for (number, (_, back, leaving)) in detours.iter().enumerate() {
        for position in [Some(*back), *leaving].into_iter().flatten() {
            ops[position].waits.insert(number);
        }
    }
    // All that a detour needs is there already.
    ops.splice(0..0, detours.into_iter().map(|(action, ..)| Op { action, waits: BTreeSet::new() }));
    gaps
}

/// Whether an object cannot be used yet: it is made, or its creation was cut short.
fn is_awaited(key: &Key, ops: &[Op]) -> bool {
    ops.iter().any(|op| match &op.action {
        Action::Create(object) => object.key == *key,
        Action::Update { to, certain, .. } => to.key == *key && !certain,
        Action::Delete { .. } => false,
    })
}

fn footing(target: &Ref, ops: &[Op], claimed: &BTreeSet<usize>, existing: &Inventory) -> Footing {
    let entry = match target {
        Ref::Id(id) => {
            let is_gone = existing.entries.iter().any(|entry| entry.gone && entry.id == *id);
            return if is_gone || target.is_blackhole() { Footing::Gone } else { Footing::Stays };
        }
        // One whose absence is ignored holds its place, and carries nothing.
        Ref::Key(key) => match holder(existing, key).filter(|entry| !entry.gone) {
            Some(entry) => entry,
            None => return Footing::Gone,
        },
    };
    let deletion = claimed.iter().find(|position| match &ops[**position].action {
        Action::Delete { entry: deleted, .. } => deleted.kind_and_id() == entry.kind_and_id(),
        _ => false,
    });
    deletion.map_or(Footing::Stays, |position| Footing::Leaves(*position))
}

/// Whether all that a look needs is there, and stays until all new objects are made.
fn stands(spec: &Spec, ops: &[Op], claimed: &BTreeSet<usize>, existing: &Inventory) -> bool {
    spec.needs().into_iter().all(|need| {
        let stays = matches!(footing(&Ref::Key(need.key.clone()), ops, claimed, existing), Footing::Stays);
        stays && !is_awaited(&need.key, ops)
    })
}

impl Plan {
    fn check_order(&self) -> Result<(), Unorderable> {
        let mut done: BTreeSet<usize> = BTreeSet::new();
        loop {
            let ready: Vec<usize> = (0..self.ops.len())
                .filter(|position| !done.contains(position) && self.ops[*position].waits.is_subset(&done))
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
