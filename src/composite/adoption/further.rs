//! The adoption of further objects by a resource whose root is managed. Pure.
//!
//! An entry of `adopt` whose object is not in the inventory is the consent to take over this object where the
//! configuration requires it. All other entries have no effect.

use std::collections::{BTreeMap, BTreeSet};

use super::{changes, differing, not_required, refuse_unknown, texts, warn_of_stacks, without_room};
use crate::cloud::Unmanaged;
use crate::composite::decision::{Basis, Decision};
use crate::composite::diagnostics::{self, Difference, WrongEntry};
use crate::composite::private_state::Private;
use crate::model::{Entry, Inventory, Key, Spec};
use crate::plugin::{Diagnostics, Input, Value};
use crate::reconcile::Action;
use crate::topology::Topology;

/// The entries of `adopt` whose objects are not in the inventory.
#[derive(Default)]
pub(in crate::composite) struct Further {
    /// Their slots by ID.
    slots: BTreeMap<String, String>,
    /// Those of them that the last apply had too, or whose entry is missing. Their objects may be deleted, or no longer
    /// required.
    applied: BTreeSet<String>,
    /// The slots of all other entries, which have no effect.
    inert: BTreeSet<String>,
    /// The objects that only `adopt` names, because no import proposes them: their IDs by slot.
    only_by_name: BTreeMap<String, String>,
}

impl Further {
    /// Reads `adopt`. Returns `None` if it contains an entry that cannot be followed.
    pub(in crate::composite) fn of<P: Topology>(
        config: &P::Config,
        prior: &Value,
        inventory: &Inventory,
        diagnostics: &mut Diagnostics,
    ) -> Option<Further> {
        let only_by_name = P::adopted_only_by_name(inventory);
        let mut further = Further { only_by_name, ..Further::default() };
        let adopt = match P::adopt(config) {
            Input::Known(adopt) if adopt.is_empty() => return Some(further),
            Input::Known(adopt) => adopt,
            Input::Unknown => return (!prior.is_null() || refuse_unknown(diagnostics)).then_some(further),
        };
        if prior.is_null() {
            diagnostics::adopt_before_import::<P>(diagnostics);
            return None;
        }
        let mut wrong = Vec::new();
        for (slot, id) in &adopt {
            let holder = inventory.present().find(|entry| entry.key.slot == *slot);
            let Some(id) = id.known() else {
                if holder.is_none() {
                    diagnostics::adopt_is_unknown(diagnostics);
                    return None;
                }
                further.inert.insert(slot.clone());
                continue;
            };
            // An entry of the last apply may name an object that was replaced later.
            let is_applied = prior.get("adopt").get(slot).as_str() == Some(id);
            let has_id = |entry: &&Entry| entry.id == *id && !is_another_of_its_name(entry, slot);
            let entry = inventory.entries.iter().find(has_id);
            match (entry, holder) {
                // AWS may have an object of this name again, which something else created.
                (Some(entry), None)
                    if entry.is_missing() && entry.is_identified_by_name() && entry.key.slot == *slot =>
                {
                    further.applied.insert(id.clone());
                    further.slots.insert(id.clone(), slot.clone());
                }
                (Some(entry), _) if entry.key.slot == *slot || is_applied => drop(further.inert.insert(slot.clone())),
                (_, Some(_)) if is_applied => drop(further.inert.insert(slot.clone())),
                (_, Some(holder)) => {
                    diagnostics::adopted_already(slot, id, &holder.id, diagnostics);
                    return None;
                }
                (Some(entry), None) => wrong.push(wrong_entry(slot, format!("{id} is {}", entry.key.slot))),
                (None, None) => {
                    further.applied.extend(is_applied.then(|| id.clone()));
                    if let Some(other) = further.slots.insert(id.clone(), slot.clone()) {
                        wrong.push(wrong_entry(slot, format!("{id} is also named under the key {other}")));
                    }
                }
            }
        }
        diagnostics::wrong_entries(&wrong, diagnostics);
        wrong.is_empty().then_some(further)
    }

    /// The slots of the objects to read, by ID.
    pub(in crate::composite) fn slots(&self) -> &BTreeMap<String, String> {
        &self.slots
    }

    /// Ignores all entries: the plan replaces the root.
    pub(in crate::composite) fn clear(&mut self) {
        *self = Further::default();
    }

    /// Reports the entries whose objects a read has not found, or that cannot be adopted. Returns whether there are
    /// none.
    pub(in crate::composite) fn check_read<P: Topology>(
        &self,
        private: &Private,
        diagnostics: &mut Diagnostics,
    ) -> bool {
        let reason = |id: &String| match private.unmanaged.iter().find(|it| it.id == *id) {
            _ if self.applied.contains(id) => None,
            Some(rejected) => Some(rejection(rejected)),
            None if is_candidate(private, id) => None,
            None => Some(format!("there is no object {id} that this {} could adopt", root_kind::<P>())),
        };
        let wrong: Vec<WrongEntry> =
            self.slots.iter().filter_map(|(id, slot)| Some(wrong_entry(slot, reason(id)?))).collect();
        diagnostics::wrong_entries(&wrong, diagnostics);
        wrong.is_empty()
    }

    /// Checks a decision that takes the objects over: reports those that the configuration does not require, and a plan
    /// that would do more to them than add tags. `filled` is the configuration with defaults.
    pub(in crate::composite) fn check<P: Topology>(
        &self,
        basis: &Basis<'_, P>,
        filled: &Value,
        private: &mut Private,
        decision: Option<&Decision>,
        diagnostics: &mut Diagnostics,
    ) -> bool {
        let is_taken = |(id, slot): &(&String, &String)| {
            private.inventory.present().any(|entry| entry.id == **id && entry.key.slot == **slot)
        };
        let left: Vec<(&String, &String)> = self.slots.iter().filter(|it| !is_taken(it)).collect();
        if decision.is_none() && left.iter().any(|(id, _)| is_candidate(private, id)) {
            diagnostics::adopt_is_undecided(diagnostics);
            return false;
        }
        let (old, new): (Vec<_>, Vec<_>) = left.into_iter().partition(|(id, _)| self.applied.contains(*id));
        let (mut wrong, mut inert) = (Vec::new(), self.inert.clone());
        for (id, slot) in old {
            let is_required = decision.is_some_and(|decision| decision.requires(slot));
            match private.unmanaged.iter().find(|it| it.id == *id).filter(|_| is_required) {
                Some(rejected) => wrong.push(wrong_entry(slot, rejection(rejected))),
                None => drop(inert.insert(slot.clone())),
            }
        }
        if !inert.is_empty() {
            let others = self.slots.values().any(|slot| !inert.contains(slot));
            diagnostics::adopt_has_no_effect(&inert, others, diagnostics);
        }
        let not_required = |id: &str, slot: &str| not_required::<P>(id, slot, self.only_by_name.contains_key(slot));
        wrong.extend(new.into_iter().map(|(id, slot)| not_required(id, slot)));
        private.candidates.retain(|it| !it.consented && !it.entry.is_foreign());
        let (inventory, Some(decision)) = (&private.inventory, decision) else { return true };
        wrong.extend(without_room(inventory, &decision.plan));
        if !wrong.is_empty() {
            diagnostics::wrong_entries(&wrong, diagnostics);
            return false;
        }
        let missing = self.missing(decision);
        if !missing.is_empty() {
            diagnostics::further_missing(&missing, P::ADOPTED_ONLY_BY_NAME, diagnostics);
            return false;
        }
        let found = refused(inventory, decision);
        if !found.is_empty() {
            let count = found.len();
            let causes = |before: &Value| differing::<P>(basis, filled, before, (inventory, count), refused).causes;
            let inputs = reproductions::<P>(inventory, filled, basis).iter().map(causes).find(|it| !it.is_empty());
            diagnostics::further_would_change(&found, &texts(&inputs.unwrap_or_default()), diagnostics);
            return false;
        }
        warn_of_stacks(private, diagnostics);
        true
    }
}

impl Further {
    /// The objects that only `adopt` names, that the configuration requires, and that it does not name, although it
    /// names others of them: their IDs by slot.
    fn missing(&self, decision: &Decision) -> BTreeMap<String, String> {
        let names = |slot: &String| self.slots.values().any(|it| it == slot);
        let left = self.only_by_name.iter().filter(|(slot, _)| !names(slot) && decision.requires(slot));
        match self.only_by_name.keys().any(names) {
            true => left.map(|(slot, id)| (slot.clone(), id.clone())).collect(),
            false => BTreeMap::new(),
        }
    }
}

/// Whether an object only has the name that an entry of `adopt` gives as an ID, but is of another kind.
fn is_another_of_its_name(entry: &Entry, slot: &str) -> bool {
    entry.is_identified_by_name() && entry.key.slot != slot
}

fn rejection(rejected: &Unmanaged) -> String {
    format!("{} cannot be adopted: {}", rejected.id, rejected.reason)
}

/// Whether a read has found an object that the decision may take over.
fn is_candidate(private: &Private, id: &str) -> bool {
    private.candidates.iter().any(|it| it.entry.id == id)
}

/// Whether an apply may execute a decision that takes further objects over. The plan has made the same check.
pub(in crate::composite) fn check_at_apply(
    inventory: &Inventory,
    decision: &Decision,
    diagnostics: &mut Diagnostics,
) -> bool {
    let refused = refused(inventory, decision);
    if !refused.is_empty() {
        diagnostics::further_would_change(&refused, &[], diagnostics);
    }
    refused.is_empty()
}

fn root_kind<P: Topology>() -> &'static str {
    P::KIND.root_kind()
}

fn wrong_entry(slot: &str, reason: String) -> WrongEntry {
    WrongEntry { slot: slot.to_string(), reason, instead: None }
}

/// What a plan would do to the objects that it adopts besides adding tags. What is part of them counts too.
fn refused(inventory: &Inventory, decision: &Decision) -> Vec<Difference> {
    let not_adopted = |key: &Key| inventory.present().find(|entry| entry.key == *key && entry.is_foreign());
    let of_op = |action: &Action| {
        let (slot, what) = match action {
            Action::Create(object) if inventory.allows_in_adoption(&object.spec) => return None,
            Action::Create(object) => {
                let parent = object.spec.parent().and_then(not_adopted)?;
                (&object.key.slot, format!("would be created for {}", parent.id))
            }
            Action::Delete { entry, .. } if entry.is_foreign() => {
                let instead = decision.objects.iter().find(|object| object.key.slot == entry.key.slot);
                let what = match instead {
                    Some(object) => replacement(entry, &object.spec),
                    None => format!("{} would be deleted", entry.id),
                };
                (&entry.key.slot, what)
            }
            Action::Delete { .. } => return None,
            Action::Update { before, to, id, .. } => {
                not_adopted(&to.key)?;
                let changes = changes(before, &to.spec);
                if changes.is_empty() {
                    return None;
                }
                (&to.key.slot, format!("{id} would be changed: {}", changes.join("; ")))
            }
        };
        Some(Difference { slot: slot.clone(), what, can_be_ignored: false })
    };
    decision.plan.ops.iter().filter_map(|op| of_op(&op.action)).collect()
}

fn replacement(entry: &Entry, wanted: &Spec) -> String {
    let differences = changes(&entry.normalized_against(wanted), wanted);
    format!("{} would be replaced: {}", entry.id, differences.join("; "))
}

/// The inputs that reproduce an inventory: first with those that AWS does not return as configured, then as an import
/// returns them, in which an absent value, such as no retention period, is null.
fn reproductions<P: Topology>(inventory: &Inventory, filled: &Value, basis: &Basis<'_, P>) -> Vec<Value> {
    let Some(imported) = P::imported(inventory, basis.scope) else { return Vec::new() };
    let mut as_configured = imported.clone();
    P::take_as_applied(&mut as_configured, filled, inventory);
    vec![as_configured, imported]
}
