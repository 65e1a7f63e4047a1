//! The adoption of foreign objects, which something else built. Pure.
//!
//! An import is not ownership. Until an apply has adopted the root, which it does last, every plan either adopts what
//! exists as it is, or is an error, and a destroy deletes nothing. A resource whose root is managed can adopt single
//! objects. In both cases `adopt` in the configuration is the consent to the adoption of each object.

mod consent;
mod differing;

use std::collections::BTreeMap;

pub(super) use self::consent::{Consent, only_by_name};
use super::decision::{Basis, Decision};
use super::diagnostics::{self, Difference, InvalidEntry};
use super::observe::named;
use super::private_state::Private;
use crate::model::{Entry, Inventory, Spec};
use crate::plugin::{Diagnostics, Input, Value};
use crate::reconcile::{Action, Plan};
use crate::topology::Topology;

/// The number of tags that AWS allows on an object, without those that AWS itself sets.
const MOST_TAGS: usize = 50;
/// The number of ownership tags on an adopted object.
const OWNERSHIP_TAGS: usize = 2;

/// The changes of a plan that an adoption may not make: of a foreign root, all but new tags; below a managed root, all
/// but new tags of the foreign objects, and of what is part of them.
fn forbidden(inventory: &Inventory, decision: &Decision) -> Vec<Difference> {
    let is_whole = inventory.has_foreign_root();
    let of_op = |action: &Action| {
        let what = match action {
            Action::Create(object) if inventory.allows_in_adoption(&object.spec) => return None,
            Action::Create(_) if is_whole => "would be created".to_string(),
            Action::Create(object) => {
                let parent = object.spec.parent().and_then(|parent| inventory.foreign(parent))?;
                format!("would be created for {}", parent.id)
            }
            Action::Delete { entry, .. } if is_whole || entry.is_foreign() => {
                let instead = decision.objects.iter().find(|object| object.key.slot == entry.key.slot);
                match instead.filter(|_| !is_whole) {
                    Some(object) => replacement(entry, &object.spec),
                    None => format!("{} would be deleted", entry.id),
                }
            }
            Action::Delete { .. } => return None,
            Action::Update { before, to, id, .. } => {
                let changes = changes(before, &to.spec);
                let is_allowed = match inventory.foreign(&to.key) {
                    Some(_) => changes.is_empty(),
                    None => !is_whole,
                };
                if is_allowed {
                    return None;
                }
                format!("{id} would be changed: {}", changes.join("; "))
            }
        };
        let can_be_ignored = is_whole && matches!(action, Action::Update { .. });
        Some(Difference { slot: action.key().slot.clone(), what, can_be_ignored })
    };
    decision.plan.ops.iter().filter_map(|op| of_op(&op.action)).collect()
}

fn replacement(entry: &Entry, wanted: &Spec) -> String {
    let differences = changes(&entry.normalized_against(wanted), wanted);
    format!("{} would be replaced: {}", entry.id, differences.join("; "))
}

/// The entries of `adopt` whose objects have no room for the tags that a plan adds.
fn without_room(inventory: &Inventory, plan: &Plan) -> Vec<InvalidEntry> {
    let known = |spec: &Spec| spec.tags().and_then(Input::known).cloned().unwrap_or_default();
    let of_op = |action: &Action| {
        let Action::Update { to, id, .. } = action else { return None };
        let entry = inventory.present().find(|entry| entry.key == to.key && entry.is_foreign())?;
        let (existing, mut added) = (known(entry.spec()), known(&to.spec));
        added.retain(|key, _| !existing.contains_key(key));
        let (count, new) = (existing.len(), added.len() + OWNERSHIP_TAGS);
        let is_full = to.spec.tags().is_some() && count + new > MOST_TAGS;
        let reason = format!("{id} has {count} tags. AWS allows {MOST_TAGS} on an object, and the adoption adds {new}");
        is_full.then(|| InvalidEntry { slot: to.key.slot.clone(), reason, instead: None })
    };
    plan.ops.iter().filter_map(|op| of_op(&op.action)).collect()
}

/// The differences that an adoption may not make: all but new tags.
fn changes(before: &Spec, to: &Spec) -> Vec<String> {
    let mut extended = before.clone();
    if let (Some(Input::Known(tags)), Some(Input::Known(wanted))) = (extended.tags_mut(), to.tags()) {
        for (key, value) in wanted {
            tags.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    extended.differences(to)
}

/// Warns of the objects to adopt that belong to a CloudFormation stack.
fn warn_of_stacks(private: &Private, diagnostics: &mut Diagnostics) {
    let stacks = &private.stacks;
    let in_stack = |entry: &Entry| Some((format!("{} {}", entry.key.slot, entry.id), stacks.get(&entry.id)?.as_str()));
    let of_stacks: BTreeMap<String, &str> = named(&private.inventory).filter_map(in_stack).collect();
    if !of_stacks.is_empty() {
        diagnostics::objects_of_stacks(&of_stacks, diagnostics);
    }
}

/// Removes the objects from an imported inventory that stay unmanaged because the configuration does not list them.
pub(super) fn leave_unlisted<P: Topology>(basis: &Basis<'_, P>, inventory: &mut Inventory) {
    let decision = basis.decide(&mut inventory.clone(), &mut Diagnostics::default()).ok().flatten();
    let ops = decision.map(|decision| decision.plan.ops).unwrap_or_default();
    let is_unlisted = |entry: &Entry| {
        let deletes = |action: &Action| matches!(action, Action::Delete { entry: it, .. } if it.kind_and_id() == entry.kind_and_id());
        entry.is_foreign() && P::may_stay_unmanaged(&entry.applied) && ops.iter().any(|op| deletes(&op.action))
    };
    inventory.entries.retain(|entry| !is_unlisted(entry));
}

/// Reports a decision that would do more to the objects that it adopts than add tags. `inputs` returns the inputs that
/// avoid these changes. Returns whether there is nothing to report.
pub(super) fn check_changes<P: Topology>(
    inventory: &Inventory,
    decision: &Decision,
    inputs: impl FnOnce(&[Difference]) -> Vec<String>,
    diagnostics: &mut Diagnostics,
) -> bool {
    let found = forbidden(inventory, decision);
    if !found.is_empty() {
        diagnostics::adoption_would_change::<P>(inventory.has_foreign_root(), &found, &inputs(&found), diagnostics);
    }
    found.is_empty()
}

/// The objects that an interrupted apply has adopted, according to a state.
pub(super) fn adopted(state: &Value) -> BTreeMap<String, String> {
    let objects = state.get("aws_objects").as_map().into_iter().flatten();
    objects.filter_map(|(slot, id)| Some((slot.clone(), id.as_str()?.to_string()))).collect()
}
