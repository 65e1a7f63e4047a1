//! Objects that an update could not delete yet, because something still uses them. Pure.

use crate::cloud::{Cause, DependentsByOp, Failure};
use crate::composite::diagnostics;
use crate::model::{Entry, Inventory, Object};
use crate::plugin::Diagnostics;
use crate::reconcile::{Action, Outcome, Plan};

/// An object whose deletion is pending and that is wanted again stays.
pub(super) fn cancel_pending_deletion(inventory: &mut Inventory, objects: &[Object]) {
    for object in objects {
        let stays = inventory.present().any(|entry| entry.key == object.key && !entry.pending_deletion);
        if let Some(entry) =
            inventory.entries.iter_mut().find(|entry| !stays && entry.is_present() && entry.key == object.key)
        {
            entry.pending_deletion = false;
        }
    }
}

/// Marks what an update could not delete yet as `pending_deletion`.
///
/// In an update that deletes subnets it is no error that others still use what is deleted: Terraform changes those
/// others only after our update. Of deletions that an error has kept from starting, those are marked whose place a new
/// object has taken; the others keep their place, as what they are replaced by does not exist.
pub(super) fn defer_in_use_deletes(
    plan: &Plan,
    outcome: &mut Outcome,
    dependents: &DependentsByOp,
    inventory: &mut Inventory,
    diagnostics: &mut Diagnostics,
) {
    let in_use = take_in_use(plan, outcome, inventory);
    for (position, failure) in &in_use {
        diagnostics::still_in_use(plan.ops[*position].action.key(), failure, dependents.get(position), diagnostics);
    }
    let failed = !outcome.failed.is_empty() || outcome.stopped || !plan.deferred().is_empty();
    let mut leaving: Vec<usize> = outcome
        .undone()
        .filter(|position| deleted(plan, *position).is_some_and(|entry| has_left_its_place(plan, inventory, entry)))
        // Where nothing failed, what has not started only waits for what is in use.
        .filter(|position| !failed || is_replaced(plan, plan.ops[*position].action.key().slot.as_str()))
        .collect();
    leaving.extend(in_use.into_iter().map(|(position, _)| position));
    if !failed {
        outcome.not_started.retain(|position| !leaving.contains(position));
    }
    for entry in leaving.into_iter().filter_map(|position| deleted(plan, position)) {
        if let Some(entry) = inventory.entries.iter_mut().find(|it| it.id == entry.id && it.key == entry.key) {
            entry.pending_deletion = true;
        }
    }
}

/// Takes those failures out of an outcome that are no errors, as Terraform changes the users of the object only later.
fn take_in_use(plan: &Plan, outcome: &mut Outcome, inventory: &Inventory) -> Vec<(usize, Failure)> {
    let deletes_subnets = plan.deleted().any(|entry| entry.spec().holds_network_interfaces());
    if !deletes_subnets || outcome.stopped {
        return Vec::new();
    }
    let is_meant = |position: usize, failure: &Failure| {
        let entry = deleted(plan, position).filter(|_| failure.cause == Cause::InUse);
        entry.is_some_and(|entry| has_left_its_place(plan, inventory, entry))
    };
    outcome.failed.extract_if(.., |(position, failure)| is_meant(*position, failure)).collect()
}

/// The object that an operation deletes.
fn deleted(plan: &Plan, position: usize) -> Option<&Entry> {
    match &plan.ops[position].action {
        Action::Delete { entry, .. } => Some(entry),
        Action::Create(_) | Action::Update { .. } => None,
    }
}

/// Whether the place of a deleted object is to stay empty, or its replacement has taken it.
fn has_left_its_place(plan: &Plan, inventory: &Inventory, entry: &Entry) -> bool {
    let slot = entry.key.slot.as_str();
    !is_replaced(plan, slot)
        || inventory.present().any(|it| it.key.slot == slot && it.id != entry.id && !it.pending_deletion)
}

fn is_replaced(plan: &Plan, slot: &str) -> bool {
    plan.ops.iter().any(|op| matches!(&op.action, Action::Create(object) if object.key.slot == slot))
}
