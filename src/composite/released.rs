//! Objects that are no longer required and stay in AWS, because unmanaged objects use them. Pure.

use std::collections::BTreeMap;

use super::private_state::{Private, Released};
use crate::model::{Entry, unmanaged_users, used_by_unmanaged};
use crate::reconcile::Plan;

/// Records the objects that a plan leaves. Returns them, described by id.
pub(super) fn record(private: &mut Private, plan: &Plan) -> BTreeMap<String, String> {
    let used = used_by_unmanaged(&private.inventory);
    let left = plan.deleted().filter_map(|entry| {
        let (slot, used) = (entry.key.slot.clone(), used.get(&entry.id)?.clone());
        let part = entry.applied.is_part_of_unmanaged_object().then(|| Box::new(entry.clone()));
        Some((entry.id.clone(), Released { slot, used, part }))
    });
    let left: BTreeMap<String, Released> = left.collect();
    private.released.extend(left.clone());
    let mut described = described(private);
    described.retain(|id, _| left.contains_key(id));
    described
}

/// Describes the objects that earlier applies have left, by id.
pub(super) fn described(private: &Private) -> BTreeMap<String, String> {
    let line = |(id, Released { slot, used, .. }): (&String, &Released)| {
        let users = unmanaged_users(&private.inventory, used);
        let users = (!users.is_empty()).then(|| users.join(", "))?;
        let text =
            format!("{slot} before: not deleted, because unmanaged objects use it: {users}. Delete it with them.");
        Some((id.clone(), text))
    };
    private.released.iter().filter_map(line).collect()
}

/// Forgets the objects that nothing unmanaged uses any more, except those that a destroy deletes.
pub(super) fn forget_unused(private: &mut Private) {
    let described = described(private);
    private.released.retain(|id, it| described.contains_key(id) || it.part.is_some());
}

/// Lets a destroy delete the objects that outlive the root.
pub(super) fn reclaim(private: &mut Private) {
    let inventory = &private.inventory;
    let is_managed = |entry: &Entry| inventory.entries.iter().any(|it| it.kind_and_id() == entry.kind_and_id());
    let parts = private.released.values().filter_map(|it| it.part.as_deref()).filter(|entry| !is_managed(entry));
    let parts: Vec<Entry> = parts.cloned().collect();
    private.inventory.entries.extend(parts);
}
