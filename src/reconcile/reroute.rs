//! Fallback targets of routes while their target is replaced.

use std::collections::BTreeSet;

use super::diff::holder;
use super::plan::{Action, Op, Outage, Phase, transitive_dependents};
use crate::model::{Entry, Inventory, Key, Object, Ref, Spec};

/// The state of a route's target until all new objects are created.
enum TargetState {
    Exists,
    /// Deleted before that by the operation at this position.
    Deleted(usize),
    Missing,
}

/// Adds an update to a fallback target for each object whose target is created in this plan, if the current target does
/// not exist until then, and to another target for the routes of deleted subnets. Returns the objects without a usable
/// fallback target. A deletion in `deferred` follows all operations that are not.
pub(super) fn reroute(
    ops: &mut Vec<Op>,
    claimed: &BTreeSet<usize>,
    deferred: &BTreeSet<usize>,
    existing: &Inventory,
    wanted: &[Object],
) -> Vec<Outage> {
    let (mut rerouted, mut outages) = (Vec::new(), Vec::new());
    for position in 0..ops.len() {
        let Action::Update { id, before, certain, to } = &ops[position].action else { continue };
        let (Some(Ref::Key(target)), Some(current)) = (to.spec.target(), before.target()) else { continue };
        if !is_awaited(target, ops) || !is_used(before, existing) {
            continue;
        }
        let deletion = match target_state(current, ops, claimed, existing) {
            TargetState::Exists => continue,
            TargetState::Deleted(deletion) if deferred.contains(&deletion) && !deferred.contains(&position) => continue,
            TargetState::Deleted(deletion) => Some(deletion),
            TargetState::Missing => None,
        };
        let Some(spec) = to.fallback_targets.iter().find(|spec| is_available(spec, ops, claimed, existing)).cloned()
        else {
            let until = deletion.and_then(|deletion| match &ops[deletion].action {
                Action::Delete { entry, .. } => Some(entry.clone()),
                _ => None,
            });
            outages.extend(holder(existing, &to.key).map(|entry| Outage {
                entry: entry.clone(),
                target: Some(target.clone()),
                until,
            }));
            continue;
        };
        let (id, before, certain) = (id.clone(), before.clone(), *certain);
        let rerouting = Action::Update { id, before, certain, to: Object::new(to.key.clone(), spec.clone()) };
        rerouted.push((rerouting, position, deletion));
        if let Action::Update { before, certain, .. } = &mut ops[position].action {
            (*before, *certain) = (spec, true);
        }
    }
    let mut prepended: Vec<Prepended> = rerouted
        .into_iter()
        .map(|(action, back, deletion)| {
            // A fallback target exists already.
            Prepended { action, after: None, before: [Some(back), deletion].into_iter().flatten().collect() }
        })
        .collect();
    for (route, deletion) in deleted_routes(ops, claimed, existing) {
        if let Some(moves) = moves_away(&route, deletion, ops, existing) {
            ops[deletion].depends_on.extend(moves);
            continue;
        }
        let (kept, outage) = kept_route(&route, deletion, ops, claimed, existing, wanted);
        prepended.extend(kept);
        outages.extend(outage);
    }
    prepend(ops, prepended);
    outages
}

/// An update that is added in front of the others.
struct Prepended {
    action: Action,
    /// The operation, by position, that it waits for.
    after: Option<usize>,
    /// The operations, by position, that wait for it.
    before: Vec<usize>,
}

fn prepend(ops: &mut Vec<Op>, prepended: Vec<Prepended>) {
    let shift = prepended.len();
    for op in ops.iter_mut() {
        op.depends_on = op.depends_on.iter().map(|position| position + shift).collect();
    }
    let mut first = Vec::new();
    for (number, Prepended { action, after, before }) in prepended.into_iter().enumerate() {
        for position in before {
            ops[position].depends_on.insert(number);
        }
        let depends_on = after.into_iter().map(|position| position + shift).collect();
        first.push(Op { action, depends_on, phase: Phase::Main });
    }
    ops.splice(0..0, first);
}

/// The routes of tables that the plan deletes, if it deletes the targets of the routes before that, each with the
/// deletion of its target. AWS may keep such a subnet for a while, because it is in use.
fn deleted_routes(ops: &[Op], claimed: &BTreeSet<usize>, existing: &Inventory) -> Vec<(Entry, usize)> {
    let deleted = ops.iter().filter_map(|op| match &op.action {
        Action::Delete { entry, cascades_from: Some(_), .. } => Some(entry),
        _ => None,
    });
    let with_target = deleted.filter(|entry| is_used(entry.spec(), existing)).filter_map(|entry| {
        match target_state(entry.spec().target()?, ops, claimed, existing) {
            TargetState::Deleted(deletion) => Some((entry.clone(), deletion)),
            TargetState::Exists | TargetState::Missing => None,
        }
    });
    with_target.collect()
}

/// Whether a subnet uses the table of a route: whether its association with the table exists.
fn is_used(route: &Spec, existing: &Inventory) -> bool {
    route.parent().is_none_or(|table| users(table, existing).next().is_some())
}

/// The associations of subnets with a table.
fn users<'a>(table: &'a Key, existing: &'a Inventory) -> impl Iterator<Item = &'a Entry> {
    existing.present().filter(move |entry| {
        let is_part_of_another = entry.spec().parent().is_some_and(|parent| parent != table);
        is_part_of_another && entry.spec().needs().iter().any(|need| need.key == *table)
    })
}

/// The updates with which all subnets of a table get other tables, if the deletion of the target can wait for them.
fn moves_away(route: &Entry, deletion: usize, ops: &[Op], existing: &Inventory) -> Option<Vec<usize>> {
    let table = route.spec().parent()?;
    let leaves = |op: &Op, user: &Entry| match &op.action {
        Action::Update { id, to, .. } => *id == user.id && to.spec.needs().iter().all(|need| need.key != *table),
        Action::Create(_) | Action::Delete { .. } => false,
    };
    let moves = users(table, existing).map(|user| ops.iter().position(|op| leaves(op, user)));
    let moves: Vec<usize> = moves.collect::<Option<_>>()?;
    let later = transitive_dependents(ops, BTreeSet::from([deletion]));
    moves.iter().all(|position| !later.contains(position)).then_some(moves)
}

/// Lets such a route refer to another target: one that exists, or the one that replaces the deleted one. Until that is
/// created, the route has no target.
fn kept_route(
    route: &Entry,
    deletion: usize,
    ops: &[Op],
    claimed: &BTreeSet<usize>,
    existing: &Inventory,
    wanted: &[Object],
) -> (Option<Prepended>, Option<Outage>) {
    let Action::Delete { entry: old, .. } = &ops[deletion].action else { return (None, None) };
    let targets = wanted.iter().filter(|object| old.spec().can_replace_target(object.spec.as_kind()));
    let specs: Vec<(Spec, Key)> = targets
        .filter_map(|object| {
            let target = object.key.clone();
            Some((route.spec().with_target(Ref::Key(target.clone()))?, target))
        })
        .collect();
    let parents = ops.iter().enumerate().filter_map(|(position, op)| match &op.action {
        Action::Delete { entry, .. } if route.spec().parent() == Some(&entry.key) => Some(position),
        _ => None,
    });
    let update = |spec: &Spec| Action::Update {
        id: route.id.clone(),
        before: route.spec().clone(),
        certain: route.unfinished.is_none(),
        to: Object::new(route.key.clone(), spec.clone()),
    };
    if let Some((spec, _)) = specs.iter().find(|(spec, _)| is_available(spec, ops, claimed, existing)) {
        let before = parents.chain([deletion]).collect();
        return (Some(Prepended { action: update(spec), after: None, before }), None);
    }
    let created = specs.iter().find_map(|(spec, target)| {
        let is_create = |op: &Op| match &op.action {
            Action::Create(object) => object.key == *target,
            Action::Update { to, certain, .. } => to.key == *target && !certain,
            Action::Delete { .. } => false,
        };
        Some((spec, target, ops.iter().position(is_create)?))
    });
    let outage =
        Outage { entry: route.clone(), target: created.map(|(_, target, _)| target.clone()), until: Some(old.clone()) };
    let kept = created.map(|(spec, _, creation)| Prepended {
        action: update(spec),
        after: Some(creation),
        before: parents.collect(),
    });
    (kept, Some(outage))
}

/// Whether an object cannot be used yet: the plan creates it or completes its creation.
fn is_awaited(key: &Key, ops: &[Op]) -> bool {
    ops.iter().filter(|op| op.phase == Phase::Main).any(|op| match &op.action {
        Action::Create(object) => object.key == *key,
        Action::Update { to, certain, .. } => to.key == *key && !certain,
        Action::Delete { .. } => false,
    })
}

fn target_state(target: &Ref, ops: &[Op], claimed: &BTreeSet<usize>, existing: &Inventory) -> TargetState {
    let entry = match target {
        Ref::Id(id) => {
            let is_missing = existing.entries.iter().any(|entry| entry.is_missing() && entry.id == *id);
            return if is_missing || target.is_blackhole() { TargetState::Missing } else { TargetState::Exists };
        }
        // A missing object whose drift is ignored is in the inventory, but cannot be a target.
        Ref::Key(key) => match holder(existing, key).filter(|entry| !entry.is_missing()) {
            Some(entry) => entry,
            None => return TargetState::Missing,
        },
    };
    let deletion = claimed.iter().find(|position| match &ops[**position].action {
        Action::Delete { entry: deleted, .. } => deleted.kind_and_id() == entry.kind_and_id(),
        _ => false,
    });
    deletion.map_or(TargetState::Exists, |position| TargetState::Deleted(*position))
}

/// Whether all dependencies of a spec exist until all new objects are created.
fn is_available(spec: &Spec, ops: &[Op], claimed: &BTreeSet<usize>, existing: &Inventory) -> bool {
    spec.needs().into_iter().all(|need| {
        let exists = matches!(target_state(&Ref::Key(need.key.clone()), ops, claimed, existing), TargetState::Exists);
        exists && !is_awaited(&need.key, ops)
    })
}
