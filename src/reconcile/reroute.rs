//! Fallback targets of routes while their target is replaced.

use std::collections::BTreeSet;

use super::diff::holder;
use super::plan::{Action, Op, Outage};
use crate::model::{Inventory, Key, Object, Ref, Spec};

/// The state of a route's target until all new objects are created.
enum TargetState {
    Exists,
    /// Deleted before that by the operation at this position.
    Deleted(usize),
    Missing,
}

/// Adds an update to a fallback target for each object whose target is created in this plan, if the current target does
/// not exist until then. Returns the objects without a usable fallback target. A deletion in `deferred` follows all
/// operations that are not.
pub(super) fn reroute(
    ops: &mut Vec<Op>,
    claimed: &BTreeSet<usize>,
    deferred: &BTreeSet<usize>,
    existing: &Inventory,
) -> Vec<Outage> {
    let (mut rerouted, mut outages) = (Vec::new(), Vec::new());
    for position in 0..ops.len() {
        let Action::Update { id, before, certain, to } = &ops[position].action else { continue };
        let (Some(Ref::Key(target)), Some(current)) = (to.spec.target(), before.target()) else { continue };
        if !is_awaited(target, ops) {
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
                target: target.clone(),
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
    let shift = rerouted.len();
    for op in ops.iter_mut() {
        op.depends_on = op.depends_on.iter().map(|position| position + shift).collect();
    }
    for (number, (_, back, deletion)) in rerouted.iter().enumerate() {
        for position in [Some(*back), *deletion].into_iter().flatten() {
            ops[position].depends_on.insert(number);
        }
    }
    // Fallback targets exist already, so these updates have no dependencies.
    ops.splice(0..0, rerouted.into_iter().map(|(action, ..)| Op { action, depends_on: BTreeSet::new() }));
    outages
}

/// Whether an object cannot be used yet: the plan creates it or completes its creation.
fn is_awaited(key: &Key, ops: &[Op]) -> bool {
    ops.iter().any(|op| match &op.action {
        Action::Create(object) => object.key == *key,
        Action::Update { to, certain, .. } => to.key == *key && !certain,
        Action::Delete { .. } => false,
    })
}

fn target_state(target: &Ref, ops: &[Op], claimed: &BTreeSet<usize>, existing: &Inventory) -> TargetState {
    let entry = match target {
        Ref::Id(id) => {
            let is_missing = existing.entries.iter().any(|entry| entry.missing && entry.id == *id);
            return if is_missing || target.is_blackhole() { TargetState::Missing } else { TargetState::Exists };
        }
        // A missing object whose drift is ignored is in the inventory, but cannot be a target.
        Ref::Key(key) => match holder(existing, key).filter(|entry| !entry.missing) {
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
