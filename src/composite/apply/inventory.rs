//! The inventory after an apply. Pure.

use std::collections::BTreeMap;

use crate::model::{Entry, Inventory, Key, Object, Origin, Spec};
use crate::reconcile::{Action, Outcome, Plan};

/// Sorts the inventory in the order of the blueprint and removes missing objects that are no longer required. If an
/// object needs no update, its required spec becomes the applied one: drift that the configuration adopts is no longer
/// drift. Objects that are `as_imported` remain as found, because the plan shows them so.
pub(super) fn normalize_inventory(inventory: &mut Inventory, objects: &[Object], as_imported: bool) {
    for entry in inventory.entries.iter_mut().filter(|entry| !entry.has_old_tag()) {
        entry.renamed_from = None;
    }
    let is_deleted = |key: &Key| !objects.iter().any(|object| object.key == *key);
    for entry in inventory.entries.iter_mut().filter(|entry| entry.is_present() && entry.unfinished.is_none()) {
        let Some(object) = objects.iter().find(|object| object.key == entry.key) else { continue };
        if entry.is_used() {
            entry.take_required(&object.spec);
            continue;
        }
        let (merged, current) = entry.merged_with(object, &is_deleted);
        if merged.spec != current {
            continue;
        }
        if as_imported {
            entry.applied.take_unstored(object.spec.as_kind());
            continue;
        }
        entry.applied = object.spec.clone();
        entry.observe(current);
        if !entry.is_foreign() {
            entry.origin = Origin::Applied;
        }
    }
    let position = |entry: &Entry| objects.iter().position(|object| object.key == entry.key);
    inventory.entries.retain(|entry| entry.is_present() || position(entry).is_some());
    inventory.entries.sort_by_key(|entry| position(entry).unwrap_or(usize::MAX));
}

/// The objects that a setting keeps when they are deleted: before an apply, or with the objects that it requires.
pub(super) fn kept(inventory: &Inventory, objects: &[Object]) -> Vec<Object> {
    let is_kept = |spec: &Spec| spec.uses_existing() == Some(true);
    let before = inventory.present().map(|entry| (&entry.key, &entry.applied));
    let all = before.chain(objects.iter().map(|object| (&object.key, &object.spec)));
    all.filter(|(_, spec)| is_kept(spec)).map(|(key, spec)| Object::new(key.clone(), spec.clone())).collect()
}

/// Lets the settings of these objects count. Until an apply has succeeded, neither the old nor the new value of a
/// setting may lose anything.
pub(super) fn keep(inventory: &mut Inventory, kept: &[Object]) {
    for entry in inventory.entries.iter_mut().filter(|entry| !entry.stays_when_deleted()) {
        let Some(object) = kept.iter().find(|object| object.key == entry.key) else { continue };
        let observed = entry.take_observed();
        entry.applied.take_unstored(object.spec.as_kind());
        if let Some(observed) = observed {
            entry.observe(observed);
        }
    }
}

/// Describes the operations that are still to be done, by key.
pub(super) fn pending(plan: &Plan, outcome: &Outcome, inventory: &Inventory) -> BTreeMap<String, String> {
    // A deletion with an unknown outcome may have succeeded.
    let is_left = |position: &usize| match &plan.ops[*position].action {
        Action::Delete { entry, .. } => inventory.entries.iter().any(|it| it.key == entry.key && it.id == entry.id),
        Action::Create(_) | Action::Update { .. } => true,
    };
    let line = |position: usize| {
        let action = &plan.ops[position].action;
        (action.key().slot.clone(), format!("not yet applied: {} {}", action.doing(), action.spec().kind()))
    };
    outcome.undone().filter(is_left).map(line).collect()
}
