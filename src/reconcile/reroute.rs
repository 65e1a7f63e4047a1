//! Where routes lead while their target is replaced.

use std::collections::BTreeSet;

use super::diff::holder;
use super::plan::{Action, Op, Outage};
use crate::model::{Inventory, Key, Object, Ref, Spec};

/// What becomes of something that an object routes to, until all new objects are created.
enum TargetState {
    Stays,
    /// Is deleted before, by this operation.
    Deleted(usize),
    Missing,
}

/// Leads each object whose target is made in this plan to another target first, where the present one does not last
/// until then. Returns the objects for which there is no other.
pub(super) fn reroute(ops: &mut Vec<Op>, claimed: &BTreeSet<usize>, existing: &Inventory) -> Vec<Outage> {
    let (mut rerouted, mut outages) = (Vec::new(), Vec::new());
    for position in 0..ops.len() {
        let Action::Update { id, before, certain, to } = &ops[position].action else { continue };
        let (Some(Ref::Key(target)), Some(present)) = (to.spec.target(), before.target()) else { continue };
        if !is_awaited(target, ops) {
            continue;
        }
        let leaving = match target_state(present, ops, claimed, existing) {
            TargetState::Stays => continue,
            TargetState::Deleted(deletion) => Some(deletion),
            TargetState::Missing => None,
        };
        let Some(spec) = to.fallback_targets.iter().find(|spec| is_available(spec, ops, claimed, existing)).cloned()
        else {
            let until = leaving.and_then(|deletion| match &ops[deletion].action {
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
        rerouted.push((rerouting, position, leaving));
        if let Action::Update { before, certain, .. } = &mut ops[position].action {
            (*before, *certain) = (spec, true);
        }
    }
    let shift = rerouted.len();
    for op in ops.iter_mut() {
        op.depends_on = op.depends_on.iter().map(|position| position + shift).collect();
    }
    for (number, (_, back, leaving)) in rerouted.iter().enumerate() {
        for position in [Some(*back), *leaving].into_iter().flatten() {
            ops[position].depends_on.insert(number);
        }
    }
    // All that a route is rerouted to exists already.
    ops.splice(0..0, rerouted.into_iter().map(|(action, ..)| Op { action, depends_on: BTreeSet::new() }));
    outages
}

/// Whether an object cannot be used yet: it is made, or its creation was cut short.
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
            let is_gone = existing.entries.iter().any(|entry| entry.gone && entry.id == *id);
            return if is_gone || target.is_blackhole() { TargetState::Missing } else { TargetState::Stays };
        }
        // One whose absence is ignored holds its place, and carries nothing.
        Ref::Key(key) => match holder(existing, key).filter(|entry| !entry.gone) {
            Some(entry) => entry,
            None => return TargetState::Missing,
        },
    };
    let deletion = claimed.iter().find(|position| match &ops[**position].action {
        Action::Delete { entry: deleted, .. } => deleted.kind_and_id() == entry.kind_and_id(),
        _ => false,
    });
    deletion.map_or(TargetState::Stays, |position| TargetState::Deleted(*position))
}

/// Whether all that a look needs is there, and stays until all new objects are made.
fn is_available(spec: &Spec, ops: &[Op], claimed: &BTreeSet<usize>, existing: &Inventory) -> bool {
    spec.needs().into_iter().all(|need| {
        let stays = matches!(target_state(&Ref::Key(need.key.clone()), ops, claimed, existing), TargetState::Stays);
        stays && !is_awaited(&need.key, ops)
    })
}
