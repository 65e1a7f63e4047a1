//! Reading `adopt`, and checking a plan that follows it. Pure.
//!
//! Of a foreign root, the entries choose the objects of an import that the plan keeps. Of a managed root, an entry
//! whose object is not in the inventory lets the plan take this object over where the configuration requires it; all
//! other entries have no effect.

use std::collections::{BTreeMap, BTreeSet};

use super::differing::inputs_to_change;
use super::{check_changes, warn_of_stacks, without_room};
use crate::cloud::Unmanaged;
use crate::composite::decision::{Basis, Decision};
use crate::composite::diagnostics::{self, Difference, InvalidEntry};
use crate::composite::observe::{is_named, named};
use crate::composite::private_state::Private;
use crate::composite::state::by_slot;
use crate::model::{Entry, Inventory, Key};
use crate::plugin::{Diagnostics, Input, Value};
use crate::topology::Topology;

/// The entries of `adopt`.
#[derive(Default)]
pub(in crate::composite) struct Consent {
    /// The entries that have to be required by the configuration: their slots by ID. No import proposes their objects,
    /// so the plan reads these by their IDs.
    named: BTreeMap<String, String>,
    /// Those of them that the last apply had too, or whose entry is missing. Their objects may be deleted, or no longer
    /// required.
    applied: BTreeSet<String>,
    /// The slots of the entries that have no effect.
    inert: BTreeSet<String>,
    /// The objects that could be adopted and that `adopt` does not name: their IDs by slot.
    left: BTreeMap<String, String>,
    /// The slots of the objects that no import proposes, below a managed and a foreign root.
    only_by_name: BTreeSet<String>,
}

/// The slots, by ID, of the objects that `adopt` names although no import proposes them.
pub(in crate::composite) fn only_by_name<P: Topology>(
    config: &P::Config,
    inventory: &Inventory,
) -> BTreeMap<String, String> {
    let Input::Known(adopt) = P::adopt(config) else { return BTreeMap::new() };
    let is_named = |(slot, id): &(String, String)| adopt.get(slot).and_then(Input::known) == Some(id);
    let known = P::adopted_only_by_name(inventory).into_iter().filter(is_named);
    known.map(|(slot, id)| (id, slot)).collect()
}

impl Consent {
    /// Reads `adopt` for a foreign root, and removes the objects from its inventory that `adopt` does not name. Returns
    /// `None` if it contains an invalid entry. `named_only` are the objects of [`only_by_name`], which have been read.
    pub(in crate::composite) fn to_root<P: Topology>(
        config: &P::Config,
        private: &mut Private,
        named_only: BTreeMap<String, String>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Consent> {
        let Some(adopt) = P::adopt(config).known().filter(|adopt| adopt.values().all(Input::is_known)).cloned() else {
            diagnostics::adopt_is_unknown(diagnostics);
            return None;
        };
        let named_under = |entry: &Entry| {
            let has_id =
                |(slot, id): &(&String, &Input<String>)| id.known() == Some(&entry.id) && entry.can_be_in(slot);
            adopt.iter().any(|it| has_id(&it))
        };
        let others = P::adopted_only_by_name(&private.inventory);
        let invalid = |(slot, id): (&String, &Input<String>)| {
            let invalid = invalid_in_import(&private.inventory, &private.unmanaged, slot, id.known()?)?;
            let instead = invalid.instead.or_else(|| others.get(slot).filter(|it| Some(*it) != id.known()).cloned());
            Some(InvalidEntry { instead, ..invalid })
        };
        if !report(&adopt.iter().filter_map(invalid).collect::<Vec<_>>(), diagnostics) {
            return None;
        }
        let inventory = &mut private.inventory;
        let is_left = |entry: &&Entry| !named_under(entry);
        let mut left = by_slot(named(inventory).filter(is_left));
        if left.contains_key(P::KIND.root()) {
            diagnostics::not_named_in_adopt::<P>(true, &left, diagnostics);
            return None;
        }
        remove_left(inventory, &left);
        if !named_only.is_empty() {
            left.extend(others);
        }
        let only_by_name = named_only.values().cloned().collect();
        Some(Consent { named: named_only, left, only_by_name, ..Consent::default() })
    }

    /// Reads `adopt` for a managed root, or for a create. Returns `None` if it contains an invalid entry.
    pub(in crate::composite) fn to_objects<P: Topology>(
        config: &P::Config,
        prior: &Value,
        inventory: &Inventory,
        diagnostics: &mut Diagnostics,
    ) -> Option<Consent> {
        let mut others = P::adopted_only_by_name(inventory);
        let only_by_name = others.keys().cloned().collect();
        let mut consent = Consent { only_by_name, ..Consent::default() };
        let adopt = match P::adopt(config) {
            Input::Known(adopt) if adopt.is_empty() => return Some(consent),
            Input::Unknown if !prior.is_null() => return Some(consent),
            Input::Known(adopt) => adopt,
            Input::Unknown => {
                diagnostics::adopt_is_unknown(diagnostics);
                return None;
            }
        };
        if prior.is_null() {
            diagnostics::adopt_before_import::<P>(diagnostics);
            return None;
        }
        let mut invalid = Vec::new();
        for (slot, id) in &adopt {
            let holder = inventory.present().find(|entry| entry.key.slot == *slot);
            let Some(id) = id.known() else {
                if holder.is_none() {
                    diagnostics::adopt_is_unknown(diagnostics);
                    return None;
                }
                consent.inert.insert(slot.clone());
                continue;
            };
            // An entry of the last apply may name an object that was replaced later.
            let is_applied = prior.get("adopt").get(slot).as_str() == Some(id);
            let has_id = |entry: &&Entry| entry.id == *id && !is_another_of_its_name(entry, slot);
            let entry = inventory.entries.iter().find(has_id);
            match (entry, holder) {
                // The key of its entry may be another one from now on.
                (Some(entry), _) if entry.is_present() && entry.key.slot != *slot && entry.can_be_in(slot) => {
                    consent.inert.insert(slot.clone());
                }
                // AWS may have an object of this name again, which something else created.
                (Some(entry), None)
                    if entry.is_missing() && entry.is_identified_by_name() && entry.key.slot == *slot =>
                {
                    consent.applied.insert(id.clone());
                    consent.named.insert(id.clone(), slot.clone());
                }
                (Some(entry), _) if entry.key.slot == *slot || is_applied => drop(consent.inert.insert(slot.clone())),
                (_, Some(_)) if is_applied => drop(consent.inert.insert(slot.clone())),
                // One that is identified by its name may be replaced by another one that exists.
                (_, Some(holder)) if !holder.is_identified_by_name() => {
                    diagnostics::adopted_already(slot, id, &holder.id, diagnostics);
                    return None;
                }
                (Some(entry), _) => invalid.push(invalid_entry(slot, format!("{id} is {}", entry.key.slot))),
                (None, _) => {
                    consent.applied.extend(is_applied.then(|| id.clone()));
                    if let Some(other) = consent.named.insert(id.clone(), slot.clone()) {
                        invalid.push(invalid_entry(slot, format!("{id} is also named under the key {other}")));
                    }
                }
            }
        }
        if others.keys().any(|slot| consent.names(slot)) {
            others.retain(|slot, _| !consent.names(slot));
            consent.left = others;
        }
        report(&invalid, diagnostics).then_some(consent)
    }

    fn names(&self, slot: &str) -> bool {
        self.named.values().any(|it| it == slot)
    }

    /// Whether there are objects that a plan reads because of this consent.
    pub(in crate::composite) fn names_objects(&self) -> bool {
        !self.named.is_empty()
    }

    /// The slots of the objects to read, by ID.
    pub(in crate::composite) fn unread(&self, inventory: &Inventory) -> BTreeMap<String, String> {
        let unread = self.named.iter().filter(|it| !is_taken(inventory, it));
        unread.map(|(id, slot)| (id.clone(), slot.clone())).collect()
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
            Some(unmanaged) => Some(cannot_be_adopted(unmanaged)),
            None if is_candidate(private, id) => None,
            None => Some(format!("there is no object {id} that this {} could adopt", P::KIND.root_kind())),
        };
        let invalid = self.named.iter().filter_map(|(id, slot)| Some(invalid_entry(slot, reason(id)?)));
        report(&invalid.collect::<Vec<_>>(), diagnostics)
    }

    /// Checks a decision that adopts the objects: reports those that the configuration does not require, and a plan
    /// that would do more to them than add tags. `filled` is the configuration with defaults, `before` is the state.
    pub(in crate::composite) fn check<P: Topology>(
        &self,
        basis: &Basis<'_, P>,
        (filled, before): (&Value, &Value),
        private: &mut Private,
        decision: Option<&Decision>,
        diagnostics: &mut Diagnostics,
    ) -> bool {
        let requires = |slot: &str| decision.is_some_and(|decision| decision.requires(slot));
        let is_left =
            |it: &(&String, &String)| !is_taken(&private.inventory, it) || (decision.is_some() && !requires(it.1));
        let left: Vec<(&String, &String)> = self.named.iter().filter(is_left).collect();
        if decision.is_none() && left.iter().any(|(id, _)| is_candidate(private, id)) {
            diagnostics::adopt_is_undecided(diagnostics);
            return false;
        }
        let (mut invalid, mut inert) = (Vec::new(), self.inert.clone());
        for (id, slot) in left {
            let unmanaged = private.unmanaged.iter().find(|it| it.id == *id).filter(|_| requires(slot));
            match (self.applied.contains(id), unmanaged) {
                (false, _) => invalid.push(self.not_required::<P>(id, slot)),
                (true, Some(unmanaged)) => invalid.push(invalid_entry(slot, cannot_be_adopted(unmanaged))),
                (true, None) => drop(inert.insert(slot.clone())),
            }
        }
        if !inert.is_empty() {
            let others = self.named.values().any(|slot| !inert.contains(slot));
            diagnostics::adopt_has_no_effect(&inert, others, diagnostics);
        }
        private.candidates.retain(|it| !it.consented && !it.entry.is_foreign());
        warn_of_stacks(private, diagnostics);
        let (inventory, Some(decision)) = (&private.inventory, decision) else { return true };
        invalid.extend(without_room(inventory, &decision.plan));
        if !report(&invalid, diagnostics) {
            return false;
        }
        let missing: BTreeMap<String, String> =
            self.left.iter().filter(|(slot, _)| requires(slot)).map(|(slot, id)| (slot.clone(), id.clone())).collect();
        if !missing.is_empty() {
            diagnostics::not_named_in_adopt::<P>(inventory.has_foreign_root(), &missing, diagnostics);
            return false;
        }
        let inputs = |found: &[Difference]| inputs_to_change(basis, filled, before, (inventory, found.len()));
        check_changes::<P>(inventory, decision, inputs, diagnostics)
    }

    /// An entry for a slot that the configuration does not require.
    fn not_required<P: Topology>(&self, id: &str, slot: &str) -> InvalidEntry {
        let hint = match self.only_by_name.contains(slot) {
            true => format!(". {}", P::ADOPTED_ONLY_BY_NAME.trim_end_matches('.')),
            false => String::new(),
        };
        invalid_entry(slot, format!("this configuration does not require {slot}, so {id} is not adopted{hint}"))
    }
}

/// Removes objects from an imported inventory, with what is part of them or leads to them.
fn remove_left(inventory: &mut Inventory, left: &BTreeMap<String, String>) {
    let mut removed: Vec<Key> = Vec::new();
    let mut is_removed = |entry: &mut Entry| {
        let needs_removed = || entry.applied.needs().iter().any(|need| removed.contains(&need.key));
        let is_left = match is_named(&entry.applied) {
            true => left.get(&entry.key.slot) == Some(&entry.id),
            false => entry.is_foreign() && needs_removed(),
        };
        removed.extend(is_left.then(|| entry.key.clone()));
        is_left
    };
    while inventory.entries.extract_if(.., &mut is_removed).count() > 0 {}
}

/// The reason against an entry of `adopt` for an imported root.
fn invalid_in_import(inventory: &Inventory, unmanaged: &[Unmanaged], slot: &str, id: &str) -> Option<InvalidEntry> {
    let at_slot = inventory.current().find(|entry| entry.key.slot == slot && is_named(&entry.applied));
    if at_slot.is_some_and(|entry| entry.id == id) {
        return None;
    }
    let found = inventory.current().find(|entry| entry.id == id && is_named(&entry.applied));
    // The configuration chooses the keys of its entries.
    if found.is_some_and(|entry| entry.can_be_in(slot)) {
        return None;
    }
    let reason = match (found, unmanaged.iter().find(|it| it.id == id)) {
        (Some(entry), _) => format!("{id} is {}", entry.key.slot),
        (None, Some(unmanaged)) => cannot_be_adopted(unmanaged),
        (None, None) => format!("there is no object {id} in this VPC or API that could be adopted"),
    };
    Some(InvalidEntry { instead: at_slot.map(|entry| entry.id.clone()), ..invalid_entry(slot, reason) })
}

/// Whether an inventory contains the object of an entry: its ID and its slot.
fn is_taken(inventory: &Inventory, (id, slot): &(&String, &String)) -> bool {
    inventory.present().any(|entry| entry.id == **id && entry.key.slot == **slot)
}

/// Whether an object only has the name that an entry of `adopt` gives as an ID, but is of another kind.
fn is_another_of_its_name(entry: &Entry, slot: &str) -> bool {
    entry.is_identified_by_name() && entry.key.slot != slot
}

/// Whether a read has found an object that the decision may take over.
fn is_candidate(private: &Private, id: &str) -> bool {
    private.candidates.iter().any(|it| it.entry.id == id)
}

fn cannot_be_adopted(unmanaged: &Unmanaged) -> String {
    format!("{} cannot be adopted: {}", unmanaged.id, unmanaged.reason)
}

fn invalid_entry(slot: &str, reason: String) -> InvalidEntry {
    InvalidEntry { slot: slot.to_string(), reason, instead: None }
}

/// Reports entries. Returns whether there are none.
fn report(invalid: &[InvalidEntry], diagnostics: &mut Diagnostics) -> bool {
    diagnostics::invalid_entries(invalid, diagnostics);
    invalid.is_empty()
}
