//! Operations that an apply leaves to the next one: deletions of objects that are in use or whose replacement AWS has
//! not deployed, and propagation from gateways that are not attached. Pure.

use std::collections::BTreeMap;

use crate::cloud::{Cause, DependentsByOp, Failure};
use crate::composite::diagnostics;
use crate::model::{Entry, GuardDutyObjects, Inventory, Object, WhenInUse};
use crate::plugin::Diagnostics;
use crate::reconcile::{Action, Outcome, Phase, Plan};

/// Keeps the objects in pending deletion that are required again.
pub(super) fn cancel_pending_deletion(inventory: &mut Inventory, objects: &[Object]) {
    for object in objects {
        let exists = inventory.current().any(|entry| entry.key == object.key);
        if let Some(entry) =
            inventory.entries.iter_mut().find(|entry| !exists && entry.is_present() && entry.key == object.key)
        {
            entry.pending_deletion = false;
            entry.users.clear();
        }
    }
}

/// The dependents of the objects in use, and what the update did with those of GuardDuty.
pub(super) struct Found<'a> {
    pub(super) dependents: &'a DependentsByOp,
    pub(super) guardduty: GuardDutyObjects,
}

/// Marks the objects that an update could not delete as `pending_deletion`.
///
/// A failure with [`Cause::InUse`] is no error for most kinds ([`WhenInUse`]), because Terraform updates the dependents
/// only after this resource. Deletions that failed because the changes are not deployed are one failure,
/// which is returned. If another operation failed, a deletion that did not start is marked only if a replacement of its
/// object exists. Otherwise the object keeps its slot.
pub(super) fn defer_deletes(
    plan: &Plan,
    outcome: &mut Outcome,
    found: Found<'_>,
    inventory: &mut Inventory,
    diagnostics: &mut Diagnostics,
) -> Option<Failure> {
    let in_use = take_in_use(plan, outcome, inventory);
    for (position, failure) in &in_use {
        let (key, dependents) = (plan.ops[*position].action.key(), found.dependents.get(position));
        diagnostics::still_in_use(key, failure, dependents, found.guardduty, diagnostics);
    }
    // Deletions that waited in vain for a deployment.
    let not_deployed = take_failed_deletes(plan, outcome, inventory, Cause::NotDeployed);
    let awaiting = take_failed_deletes(plan, outcome, inventory, Cause::AwaitsDeployment);
    let failed = !outcome.failed.is_empty() || outcome.stopped || !plan.deferred().is_empty();
    let mut deferred: Vec<usize> = outcome
        .undone()
        .filter(|position| deleted(plan, *position).is_some_and(|entry| is_slot_vacated(plan, inventory, entry)))
        // Without failures, operations that have not started depend only on deletions that have to wait.
        .filter(|position| !failed || is_replaced(plan, plan.ops[*position].action.key().slot.as_str()))
        .collect();
    let failure = not_deployed.first().or(awaiting.first()).map(|(_, failure)| failure.clone());
    let is_updated = !not_deployed.is_empty() && update_stage(inventory);
    let waiting = not_deployed.iter().filter(|_| !is_updated).chain(&awaiting);
    for (position, failure) in waiting {
        defer_until_deployed(plan, *position, failure, inventory);
    }
    deferred.extend(in_use.into_iter().chain(not_deployed).chain(awaiting).map(|(position, _)| position));
    let is_pending = |position: &usize| deleted(plan, *position).is_some_and(|entry| entry.pending_deletion);
    outcome.not_started.retain(|position| !(plan.held.contains(position) && is_pending(position)));
    if !failed {
        outcome.not_started.retain(|position| !deferred.contains(position));
        defer_late_updates(plan, outcome, inventory);
    }
    for entry in deferred.into_iter().filter_map(|position| deleted(plan, position)) {
        if let Some(entry) = inventory.entries.iter_mut().find(|it| it.id == entry.id && it.key == entry.key) {
            entry.pending_deletion = true;
        }
    }
    failure
}

/// Lets the next plan update the stage, so that AWS deploys again before the deletions. A stage whose drift is ignored
/// stays as it is. Returns whether there is one to update.
fn update_stage(inventory: &mut Inventory) -> bool {
    let mut has_stage = false;
    for entry in inventory.entries.iter_mut().filter(|entry| entry.spec().is_deployed_by_aws() && !entry.ignored) {
        entry.mark_undeployed();
        has_stage = true;
    }
    has_stage
}

/// Lets a deletion wait for a deployment in the next apply too.
fn defer_until_deployed(plan: &Plan, position: usize, failure: &Failure, inventory: &mut Inventory) {
    let Some(deleted) = deleted(plan, position) else { return };
    if let Some(entry) = inventory.entries.iter_mut().find(|it| it.id == deleted.id && it.key == deleted.key) {
        entry.defer_until_deployed(failure.undeployed_since);
    }
}

/// Lets the deletions that this apply has not begun wait for a deployment that a person has to create.
pub(super) fn defer_unstarted(plan: &Plan, outcome: &Outcome, failure: &Failure, inventory: &mut Inventory) {
    let is_affected = |position: &usize| plan.ops[*position].action.spec().is_part_of_unmanaged_object();
    for position in outcome.undone().filter(is_affected) {
        defer_until_deployed(plan, position, failure, inventory);
    }
}

/// Removes the late updates from an outcome. They remove references to objects that stay, so the spec before them is
/// the one that this apply has reached.
fn defer_late_updates(plan: &Plan, outcome: &mut Outcome, inventory: &mut Inventory) {
    for position in outcome.not_started.extract_if(.., |position| plan.ops[*position].phase == Phase::Late) {
        let Action::Update { before, to, .. } = &plan.ops[position].action else { continue };
        // The spec of an object whose drift is ignored is recorded with the update that precedes.
        if to.required.is_none()
            && let Some(entry) = inventory.entries.iter_mut().find(|entry| entry.is_present() && entry.key == to.key)
        {
            entry.applied = before.clone();
            entry.observe(before.clone());
        }
    }
}

/// Removes the failures from an outcome that are not errors, because Terraform updates the dependents only later.
fn take_in_use(plan: &Plan, outcome: &mut Outcome, inventory: &Inventory) -> Vec<(usize, Failure)> {
    if outcome.stopped {
        return Vec::new();
    }
    take_failed_deletes(plan, outcome, inventory, Cause::InUse)
}

/// Removes the failures with this cause of deletions that can be deferred.
fn take_failed_deletes(
    plan: &Plan,
    outcome: &mut Outcome,
    inventory: &Inventory,
    cause: Cause,
) -> Vec<(usize, Failure)> {
    let is_deferrable = |position: usize, failure: &Failure| {
        let entry = deleted(plan, position).filter(|_| failure.cause == cause);
        let may_wait = |entry: &Entry| cause != Cause::InUse || entry.spec().when_in_use() == WhenInUse::Deferred;
        entry.filter(|entry| may_wait(entry)).is_some_and(|entry| is_slot_vacated(plan, inventory, entry))
    };
    outcome.failed.extract_if(.., |(position, failure)| is_deferrable(*position, failure)).collect()
}

/// Removes the failures from an outcome that are not errors, because an unmanaged gateway is not attached to the root.
/// Terraform can attach it only after this apply. Returns descriptions by key, which are reported as drift.
pub(super) fn take_not_attached(
    plan: &Plan,
    outcome: &mut Outcome,
    diagnostics: &mut Diagnostics,
) -> BTreeMap<String, String> {
    let is_attachment = |failure: &Failure| failure.cause == Cause::NotAttached;
    let taken = outcome.failed.extract_if(.., |(_, failure)| is_attachment(failure));
    let taken: BTreeMap<String, String> =
        taken.map(|(position, failure)| (plan.ops[position].action.key().slot.clone(), failure.message)).collect();
    diagnostics::not_attached(&taken, diagnostics);
    taken
}

/// The object that an operation deletes.
fn deleted(plan: &Plan, position: usize) -> Option<&Entry> {
    match &plan.ops[position].action {
        Action::Delete { entry, .. } => Some(entry),
        Action::Create(_) | Action::Update { .. } => None,
    }
}

/// Whether the slot of a deleted object stays empty or is already taken by its replacement.
fn is_slot_vacated(plan: &Plan, inventory: &Inventory, entry: &Entry) -> bool {
    let slot = entry.key.slot.as_str();
    !is_replaced(plan, slot)
        || inventory.current().any(|it| it.key.slot == slot && (&it.key, &it.id) != (&entry.key, &entry.id))
}

fn is_replaced(plan: &Plan, slot: &str) -> bool {
    plan.ops.iter().any(|op| matches!(&op.action, Action::Create(object) if object.key.slot == slot))
}
