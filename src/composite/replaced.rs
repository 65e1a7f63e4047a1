//! The settings that the objects in the place of deleted ones do not get, because no input expresses them. Pure. Plan
//! and apply use the same functions.

use super::diagnostics::{self, Left, Unusable};
use super::managed_roots::ManagedRoots;
use super::private_state::Private;
use super::renamed;
use crate::model::{Entry, Inventory, Key, LogGroup, Object, Spec};
use crate::plugin::{Diagnostics, PlanRequest};
use crate::reconcile::{Action, Plan};
use crate::topology::{IgnoredDrift, Topology};

/// The settings that an update loses. `deleted` are the objects that it deletes. `ignored` is its own: the plan has
/// ended ignoring the drift of what it deletes.
pub(super) fn in_update<'a>(
    plan: &Plan,
    deleted: impl Iterator<Item = &'a Entry>,
    ignored: &IgnoredDrift,
) -> Vec<Left> {
    let left = |entry: &Entry| Some(left(entry, successor(plan, entry)?, ignored.covers(&entry.key.slot)));
    deleted.filter_map(left).flatten().collect()
}

/// Whether an update replaces an object that settings can protect.
pub(super) fn replaces_protected(plan: &Plan) -> bool {
    plan.deleted().any(|entry| entry.spec().is_protected_by_settings() && successor(plan, entry).is_some())
}

/// The new object in the place of one that a plan deletes.
fn successor<'a>(plan: &'a Plan, deleted: &Entry) -> Option<&'a Spec> {
    plan.ops.iter().find_map(|op| match &op.action {
        Action::Create(object) if object.key.slot == deleted.key.slot => Some(&object.spec),
        _ => None,
    })
}

/// Adds an error if new objects of an update serve at once with less protection than the deleted ones. Returns whether
/// they do.
pub(super) fn refuse_update<'a, P: Topology>(
    name: &str,
    plan: &Plan,
    deleted: impl Iterator<Item = &'a Entry>,
    ignored: &IgnoredDrift,
    diagnostics: &mut Diagnostics,
) -> bool {
    diagnostics::refuse_weaker_objects::<P>(name, &in_update(plan, deleted, ignored), diagnostics)
}

/// The private state of the root that a plan replaces. `private` contains the existing objects, and `replacing` is
/// whether the plan replaces them. For `-replace`, Terraform plans an update, and then a create with the private state
/// of the former.
pub(super) fn old_root(request: &PlanRequest, private: &Private, replacing: bool) -> Option<Inventory> {
    let forced = Private::decode(&request.prior_private).filter(|_| request.prior.is_null());
    let old = forced.or_else(|| replacing.then(|| private.clone()))?;
    (!old.in_creation).then_some(old.inventory)
}

/// Adds a warning of the settings that a replacement of the root loses, and an error if its new objects serve at once
/// with less protection. Returns whether they do.
pub(super) fn check_replacement<P: Topology>(
    name: &str,
    old: &Inventory,
    new: &[Object],
    diagnostics: &mut Diagnostics,
) -> bool {
    let left = match in_root(old, new) {
        Ok(left) => left,
        Err(error) => {
            diagnostics::not_renamed::<P>(name, &error, diagnostics);
            return true;
        }
    };
    diagnostics::warn_of_left_settings::<P>(name, &left, diagnostics);
    diagnostics::refuse_weaker_objects::<P>(name, &left, diagnostics)
}

/// The new objects of an undecided plan: equal to the old ones as they were applied, or without their protection if the
/// configuration may not express it.
pub(super) fn as_applied(old: &Inventory, may_lose_protection: bool) -> Vec<Object> {
    let new = |entry: &Entry| match may_lose_protection {
        true => entry.applied.without_protection(),
        false => entry.applied.clone(),
    };
    old.current().map(|entry| Object::new(entry.key.clone(), new(entry))).collect()
}

/// What the destroy in a replacement has to know of the new root: the objects that settings can protect, and those that
/// a create may find.
pub(super) fn successors(objects: &[Object]) -> Vec<(Key, Spec)> {
    let is_relevant = |spec: &Spec| spec.is_protected_by_settings() || spec.uses_existing().is_some();
    let relevant = objects.iter().filter(|object| is_relevant(&object.spec));
    relevant.map(|object| (object.key.clone(), object.spec.clone())).collect()
}

/// Adds an error if a destroy is that of a replacement whose create may not use an object of another root or could not
/// use one that stays, or whose new objects serve at once with less protection. Returns whether it is. `planned` is the
/// private data that Terraform passes to the destroy: in a replacement, that of the plan of the create. For a tainted
/// resource, that plan did not know the old root. If unknown inputs left it undecided, the new objects count as equal
/// to the old ones, as they were applied.
pub(super) fn refuse_destroy<P: Topology>(
    root_id: &str,
    managed: &ManagedRoots,
    planned: &[u8],
    private: &Private,
    diagnostics: &mut Diagnostics,
) -> bool {
    let Some(create) = Private::decode_plan(planned).filter(|plan| plan.of_create && !private.in_creation) else {
        return false;
    };
    // An owner that the same run has destroyed stops nothing any more.
    let is_living = |owner: &str| owner != root_id && !managed.is_destroyed(owner);
    let withheld = create.withheld.iter().filter(|it| is_living(&it.owner)).map(|it| it.problem.as_str());
    if diagnostics::refuse_withheld::<P>(root_id, withheld, diagnostics) {
        return true;
    }
    let old = &private.inventory;
    let (new, groups) = match create.successors {
        Some(new) => {
            let groups = new.iter().filter_map(|(_, spec)| LogGroup::of(spec)).cloned().collect();
            (new.into_iter().map(|(key, spec)| Object::new(key, spec)).collect(), groups)
        }
        None => (as_applied(old, create.may_lose_protection), create.log_groups),
    };
    if diagnostics::refuse_unusable_replacement::<P>(root_id, &unusable(old, &groups), diagnostics) {
        return true;
    }
    match in_root(old, &new) {
        Ok(left) => diagnostics::refuse_weaker_replacement::<P>(root_id, &left, diagnostics),
        Err(error) => {
            diagnostics::not_renamed::<P>(root_id, &error, diagnostics);
            true
        }
    }
}

/// Adds an error if the new root of an undecided plan may not be able to use what the old one keeps. Returns whether it
/// may not. `new` are the log groups that it may require.
pub(super) fn refuse_unusable<P: Topology>(
    name: &str,
    old: &Inventory,
    new: &[LogGroup],
    diagnostics: &mut Diagnostics,
) -> bool {
    diagnostics::refuse_unusable::<P>(name, &unusable(old, new), diagnostics)
}

/// The log groups that stay when the old root is destroyed, and that the new one could not use, although it needs their
/// names or may need them.
fn unusable(old: &Inventory, new: &[LogGroup]) -> Vec<Unusable> {
    let stays = |entry: &&Entry| entry.stays_when_deleted() && !entry.is_missing() && !entry.is_foreign();
    let groups = old.entries.iter().filter(stays).filter_map(|entry| Some((entry, LogGroup::of(&entry.applied)?)));
    let of_entry = |(entry, old): (&Entry, &LogGroup)| {
        let has_name = |new: &&LogGroup| !new.name.is_known() || new.name == old.name;
        new.iter().filter(has_name).find_map(|new| {
            let named = LogGroup { name: old.name.clone(), ..new.clone() };
            let spec = Spec::from(named);
            let differences = spec.differences_in_use(entry.observed().unwrap_or(&entry.applied));
            let is_kept = spec.uses_existing() == Some(true);
            (!is_kept || !differences.is_empty()).then(|| Unusable {
                slot: entry.key.slot.clone(),
                id: entry.id.clone(),
                has_name: new.name.is_known(),
                is_kept: new.skip_destroy.known().copied(),
                differences,
            })
        })
    };
    groups.filter_map(of_entry).collect()
}

/// The settings that a replacement of the root loses. An entry with another key in the configuration is the same one.
fn in_root(old: &Inventory, new: &[Object]) -> Result<Vec<Left>, serde_json::Error> {
    let mut old = old.clone();
    renamed::rename(&mut old, new, |_| true)?;
    let left = |entry: &Entry| {
        let object = new.iter().find(|object| object.key.slot == entry.key.slot)?;
        Some(left(entry, &object.spec, entry.ignored))
    };
    Ok(old.entries.iter().filter_map(left).flatten().collect())
}

/// The settings of an existing object that a new one lacks. `is_ignored` is whether its drift is. A pending deletion
/// has passed this check in the plan that removed the object from the configuration. One that stays, and that the new
/// root uses, keeps all its settings.
fn left(entry: &Entry, new: &Spec, is_ignored: bool) -> Vec<Left> {
    let is_used_again = entry.stays_when_deleted() && entry.applied.claims() == new.claims();
    if entry.is_missing() || entry.pending_deletion || entry.is_foreign() || is_used_again {
        return Vec::new();
    }
    let settings = entry.spec().left_behind(&entry.learned, new.as_kind());
    let ignored = entry.observed().filter(|_| is_ignored);
    let weaker = ignored.and_then(|found| found.weakened_by(new.as_kind()));
    let of = |what| Left { slot: entry.key.slot.clone(), id: entry.id.clone(), what };
    settings.into_iter().chain(weaker).map(of).collect()
}
