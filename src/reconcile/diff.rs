//! The differences between the inventory and the blueprint, not yet in the order of execution.

use std::collections::{BTreeSet, HashSet};

use super::plan::Action;
use crate::model::{Entry, Inventory, Key, Object, Spec};

/// Returns creates and updates in the order of the blueprint, then deletions in reverse order of creation. An object
/// that AWS changes when another one is created is updated afterwards.
pub(super) fn diff(existing: &Inventory, wanted: &[Object]) -> Vec<Action> {
    let mut taken = HashSet::new();
    let mut actions = Vec::new();
    let created: Vec<&Spec> =
        wanted.iter().filter(|object| holder(existing, &object.key).is_none()).map(|object| &object.spec).collect();
    for object in wanted {
        let Some(entry) = holder(existing, &object.key) else {
            actions.push(Action::Create(object.clone()));
            continue;
        };
        taken.insert(entry.kind_and_id());
        let before = entry.normalized_against(&object.spec);
        // What AWS changes in an object whose drift is ignored, is ignored too.
        let created = created.iter().filter(|_| !entry.ignored);
        let before = created.fold(before, |before, created| before.after_creation_of(created));
        if entry.unfinished || entry.not_adopted || before != object.spec {
            let (id, certain) = (entry.id.clone(), !entry.unfinished);
            actions.push(Action::Update { id, before, certain, to: object.clone() });
        }
    }
    let deleted: Vec<&Entry> = existing.present().filter(|entry| !taken.contains(&entry.kind_and_id())).collect();
    let deleted_keys: BTreeSet<&Key> = deleted.iter().map(|entry| &entry.key).collect();
    // The existing objects count too, for a destroy after an update that failed half-way.
    let specs = || wanted.iter().map(|object| &object.spec).chain(existing.present().map(|entry| &entry.applied));
    let main_route_table = existing.main_route_table().map(|table| &table.key);
    for entry in deleted.iter().rev() {
        let cascades_from = entry.spec().parent().filter(|parent| deleted_keys.contains(parent)).cloned();
        let is_kept = main_route_table == Some(&entry.key) || specs().any(|spec| spec.is_given(&entry.id));
        actions.push(Action::Delete { entry: (*entry).clone(), cascades_from, is_kept });
    }
    actions
}

/// Returns the existing object with a key. An object in pending deletion is returned only if there is no other, since
/// it may be required again.
pub(super) fn holder<'a>(existing: &'a Inventory, key: &Key) -> Option<&'a Entry> {
    let mut holders: Vec<&Entry> = existing.present().filter(|entry| entry.key == *key).collect();
    holders.sort_by_key(|entry| entry.pending_deletion);
    holders.into_iter().next()
}
