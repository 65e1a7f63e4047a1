//! The differences between the inventory and the blueprint, not yet in the order of execution.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::plan::{Action, Overwritten};
use crate::model::{Entry, Inventory, Key, Merged, Object, Spec, used_by_unmanaged};

/// The differences.
#[derive(Default)]
pub(super) struct Differences {
    /// Creates and updates in the order of the blueprint, then deletions in reverse order of creation.
    pub(super) actions: Vec<Action>,
    /// The ignored drift that the updates overwrite.
    pub(super) overwritten: Vec<Overwritten>,
}

/// Compares the inventory with the blueprint. An object that AWS changes when another one is created is updated
/// afterwards.
pub(super) fn diff(existing: &Inventory, wanted: &[Object]) -> Differences {
    let mut taken = HashSet::new();
    let Differences { mut actions, mut overwritten } = Differences::default();
    let required: BTreeSet<&Key> = wanted.iter().map(|object| &object.key).collect();
    let is_deleted = |key: &Key| !required.contains(key);
    let created: Vec<&Spec> =
        wanted.iter().filter(|object| holder(existing, &object.key).is_none()).map(|object| &object.spec).collect();
    for object in wanted {
        let Some(entry) = holder(existing, &object.key) else {
            actions.push(Action::Create(object.clone()));
            continue;
        };
        taken.insert(entry.kind_and_id());
        if entry.is_missing() || entry.is_used() {
            continue;
        }
        let (Merged { spec, overwritten: units }, before) = entry.merged_with(object, &is_deleted);
        overwritten.extend((!units.is_empty()).then(|| Overwritten { key: object.key.clone(), units }));
        let to = keeping(spec, object);
        // What AWS changes in an object whose drift is ignored, is ignored too.
        let created = created.iter().filter(|_| !entry.ignored);
        let before = created.fold(before, |before, created| before.after_creation_of(created));
        let is_incomplete = entry.unfinished.is_some() || entry.is_foreign();
        if is_incomplete || entry.has_old_tag() || before != to.spec {
            let (id, certain) = (entry.id.clone(), entry.unfinished.is_none());
            actions.push(Action::Update { id, before, certain, to });
        }
    }
    let deleted: Vec<&Entry> = existing.present().filter(|entry| !taken.contains(&entry.kind_and_id())).collect();
    let deleted_keys: BTreeSet<&Key> = deleted.iter().map(|entry| &entry.key).collect();
    // The existing objects count too, for a destroy after an update that failed half-way.
    let specs = || wanted.iter().map(|object| &object.spec).chain(existing.present().map(|entry| &entry.applied));
    let is_given = |entry: &Entry| specs().any(|spec| spec.is_given(&entry.id));
    // AWS deletes nothing with an object that stays.
    let stays = |key: &Key| {
        let mut parents = deleted.iter().filter(|entry| entry.key == *key);
        parents.any(|entry| entry.stays_when_deleted() || is_given(entry))
    };
    let main_route_table = existing.main_route_table().map(|table| &table.key);
    // With the root, AWS deletes what uses them too.
    let deletes_root = deleted.iter().any(|entry| entry.spec().is_root());
    let used = if deletes_root { BTreeMap::new() } else { used_by_unmanaged(existing) };
    for entry in deleted.iter().rev() {
        let parent = entry.spec().parent().filter(|parent| deleted_keys.contains(parent) && !stays(parent));
        let cascades_from = parent.cloned();
        let is_kept =
            entry.is_used() || main_route_table == Some(&entry.key) || used.contains_key(&entry.id) || is_given(entry);
        actions.push(Action::Delete { entry: (*entry).clone(), cascades_from, is_kept });
    }
    Differences { actions, overwritten }
}

/// The object of an update that sets this spec, which may contain ignored drift.
pub(super) fn keeping(spec: Spec, object: &Object) -> Object {
    let required = (spec != object.spec).then(|| Box::new(object.spec.clone()));
    Object { spec, required, ..object.clone() }
}

/// Returns the existing object with a key. An object in pending deletion is returned only if there is no other, since
/// it may be required again.
pub(super) fn holder<'a>(existing: &'a Inventory, key: &Key) -> Option<&'a Entry> {
    let mut holders: Vec<&Entry> = existing.present().filter(|entry| entry.key == *key).collect();
    holders.sort_by_key(|entry| entry.pending_deletion);
    holders.into_iter().next()
}
