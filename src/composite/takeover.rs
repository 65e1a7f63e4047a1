//! Takes over objects that an interrupted run created. Pure.
//!
//! Tags alone give no right to an object. A candidate is taken over only if the configuration requires an object with
//! its key, which contains all properties that cannot change, and state has none.

use std::collections::{BTreeMap, BTreeSet};

use super::decision::{Basis, Decision};
use super::observe::{found_entry, is_named};
use super::private_state::{Candidate, Private};
use super::{diagnostics, renamed, state};
use crate::cloud::Observed;
use crate::model::{Entry, IgnoreTags, Inventory, Key, Object, Origin, Spec};
use crate::plugin::Diagnostics;
use crate::topology::Topology;

/// Decides, and moves the candidates that are taken over to the inventory. Returns their keys and ids too.
pub(super) fn decide<P: Topology>(
    basis: &Basis<'_, P>,
    private: &mut Private,
    diagnostics: &mut Diagnostics,
) -> Result<(Option<Decision>, BTreeMap<Key, String>), ()> {
    let before = private.inventory.clone();
    let is_free = |it: &&Candidate| {
        it.consented || (it.reason.is_none() && !before.present().any(|entry| entry.key == it.entry.key))
    };
    // The first blueprint may use the ranges of all candidates. Those that it does not require are then avoided, which
    // may change the blueprint, so that it requires fewer of the others. Those that the user names determine the
    // blueprint as existing objects do.
    let mut taken: Vec<&Candidate> = private.candidates.iter().filter(is_free).collect();
    retain_complete(&before, &mut taken);
    let mut is_inserted = !taken.iter().any(|it| !is_named_or_part(it));
    let mut refused_without = None;
    loop {
        let is_left = |it: &&Candidate| !taken.iter().any(|taken| taken.entry.id == it.entry.id);
        let left: Vec<&Candidate> = private.candidates.iter().filter(is_left).collect();
        let mut inventory = before.clone();
        let inserted = taken.iter().copied().filter(|it| is_inserted || is_named_or_part(it)).collect::<Vec<_>>();
        insert(&mut inventory, &inserted);
        P::avoid(&mut inventory, &left.iter().map(|it| &it.entry).collect::<Vec<_>>());
        let mut reported = Diagnostics::default();
        let decision = basis.decide(&mut inventory, &mut reported);
        if decision.is_err() && !is_inserted {
            // They may be what the configuration seems to collide with.
            (is_inserted, refused_without) = (true, Some(reported));
            continue;
        }
        let Ok(Some(decision)) = decision else {
            diagnostics.0.extend(refused_without.unwrap_or(reported).0);
            return decision.map(|_| (None, BTreeMap::new()));
        };
        let keys = keys_after(basis, &before, &taken, &decision, diagnostics)?;
        let key_of = |it: &Candidate| keys.get(&it.entry.id).cloned().unwrap_or_else(|| it.entry.key.clone());
        let ids: BTreeMap<String, Key> = taken.iter().map(|it| (it.entry.id.clone(), key_of(it))).collect();
        let is_required = |it: &Candidate| {
            let mut spec = it.entry.applied.clone();
            spec.refer_by_key(&ids);
            let is_equal = |wanted: &Spec| {
                let found = Entry { applied: spec.clone(), ..it.entry.clone() };
                found.normalized_against(wanted) == *wanted
            };
            let is_it = |object: &&Object| object.key == key_of(it);
            let wanted = decision.objects.iter().find(is_it).filter(|_| !spec.leads_to_unmanaged());
            wanted.is_some_and(|object| !spec.is_recognized_by_content() || is_equal(&object.spec))
        };
        let has_slot = |it: &Candidate| decision.requires(&key_of(it).slot);
        let foreign: BTreeSet<Key> = taken
            .iter()
            .filter(|it| it.consented && it.entry.is_foreign() && has_slot(it))
            .map(|it| key_of(it))
            .collect();
        // What is part of a foreign object stays as it is, or the plan is refused. Some kinds stay
        // unmanaged instead if the configuration does not contain them.
        let is_part = |it: &Candidate| {
            let is_in_foreign = it.entry.applied.parent().is_some_and(|parent| foreign.contains(parent));
            is_in_foreign && (has_slot(it) || !P::may_stay_unmanaged(&it.entry.applied))
        };
        let count = taken.len();
        taken.retain(|it| (it.consented && has_slot(it)) || is_part(it) || is_required(it));
        retain_complete(&before, &mut taken);
        if is_inserted && taken.len() == count {
            diagnostics.0.extend(reported.0);
            let taken: BTreeMap<Key, String> = ids.into_iter().map(|(id, key)| (key, id)).collect();
            let left = left.into_iter().cloned().collect();
            (private.inventory, private.candidates) = (inventory, left);
            return Ok((Some(decision), taken));
        }
        is_inserted = true;
    }
}

/// The keys, by ID, of candidates whose entries have other keys in the configuration.
fn keys_after<P: Topology>(
    basis: &Basis<'_, P>,
    before: &Inventory,
    taken: &[&Candidate],
    decision: &Decision,
    diagnostics: &mut Diagnostics,
) -> Result<BTreeMap<String, Key>, ()> {
    let mut inventory = before.clone();
    insert(&mut inventory, taken);
    let renamed = renamed::rename(&mut inventory, &decision.objects, |_| basis.may_rename);
    renamed.map_err(|error| diagnostics::not_renamed::<P>(&state::name::<P>(basis.config), &error, diagnostics))?;
    let entry = |it: &&Candidate| inventory.present().find(|entry| entry.kind_and_id() == it.entry.kind_and_id());
    Ok(taken.iter().filter_map(|it| entry(it).map(|entry| (entry.id.clone(), entry.key.clone()))).collect())
}

/// Marks the candidates that `adopt` names, by ID with their slots, and those that are part of them or lead to them.
/// `untagged` are the IDs of the foreign ones.
pub(super) fn mark_named(private: &mut Private, consented: &BTreeMap<String, String>, untagged: &BTreeSet<String>) {
    let mut foreign: BTreeMap<String, Key> = BTreeMap::new();
    for candidate in &mut private.candidates {
        let entry = &mut candidate.entry;
        if consented.get(&entry.id) == Some(&entry.key.slot) {
            candidate.consented = true;
            entry.origin = if untagged.contains(&entry.id) { Origin::Foreign } else { Origin::Found };
            candidate.requires.clear();
            foreign.extend(entry.is_foreign().then(|| (entry.id.clone(), entry.key.clone())));
        }
    }
    for candidate in private.candidates.iter_mut().filter(|it| !is_named(&it.entry.applied)) {
        let mut spec = candidate.entry.applied.clone();
        spec.refer_by_key(&foreign);
        let needs_foreign = spec.needs().iter().any(|need| foreign.values().any(|key| *key == need.key));
        candidate.entry.origin = if needs_foreign { Origin::Foreign } else { Origin::Found };
    }
}

/// Whether `adopt` names an object, or another one that this is part of or leads to.
fn is_named_or_part(candidate: &Candidate) -> bool {
    candidate.consented || candidate.entry.is_foreign()
}

/// Decides at apply. Only a plan takes over candidates, after it has looked for what uses them, so those that it left
/// stay unmanaged here, even if the configuration requires them because a value has become known.
pub(super) fn decide_at_apply<P: Topology>(
    basis: &Basis<'_, P>,
    private: &mut Private,
    diagnostics: &mut Diagnostics,
) -> Result<Option<Decision>, ()> {
    let left: Vec<&Entry> = private.candidates.iter().map(|it| &it.entry).collect();
    P::avoid(&mut private.inventory, &left);
    basis.decide(&mut private.inventory, diagnostics)
}

/// Removes the candidates that depend on one which is not taken over: they are part of it, in it, or used by it.
fn retain_complete(inventory: &Inventory, taken: &mut Vec<&Candidate>) {
    loop {
        let ids: BTreeSet<&str> = taken.iter().map(|it| it.entry.id.as_str()).collect();
        let keys: BTreeSet<&Key> = taken.iter().map(|it| &it.entry.key).collect();
        let exists = |key: &Key| keys.contains(key) || inventory.present().any(|entry| entry.key == *key);
        let is_complete = |it: &Candidate| {
            it.requires.iter().all(|id| ids.contains(id.as_str())) && it.entry.applied.parent().is_none_or(exists)
        };
        let complete: Vec<&Candidate> = taken.iter().copied().filter(|it| is_complete(it)).collect();
        if complete.len() == taken.len() {
            return;
        }
        *taken = complete;
    }
}

/// Adds candidates that a read does not find.
pub(super) fn add(private: &mut Private, found: Vec<Observed>, ignore: &IgnoreTags) {
    private.candidates.extend(found.into_iter().map(|object| Candidate::of(found_entry(object, ignore))));
}

/// Keeps candidates from being taken over, for these reasons by id.
pub(super) fn refuse(private: &mut Private, reasons: &BTreeMap<String, String>) {
    for candidate in &mut private.candidates {
        if let Some(reason) = reasons.get(&candidate.entry.id) {
            candidate.reason = Some(reason.clone());
        }
    }
}

fn insert(inventory: &mut Inventory, taken: &[&Candidate]) {
    let keys: BTreeMap<String, Key> = taken.iter().map(|it| (it.entry.id.clone(), it.entry.key.clone())).collect();
    let is_taken: BTreeSet<&Key> = keys.values().collect();
    inventory.entries.retain(|entry| !(entry.is_missing() && is_taken.contains(&entry.key)));
    for entry in &mut inventory.entries {
        let mut spec = entry.observed().unwrap_or(&entry.applied).clone();
        spec.refer_by_key(&keys);
        for candidate in taken.iter().filter(|it| it.referrers.contains(&entry.key)) {
            spec.add_reference(&candidate.entry.key);
        }
        entry.observe(spec);
    }
    for candidate in taken {
        let mut entry = candidate.entry.clone();
        entry.applied.refer_by_key(&keys);
        inventory.entries.push(entry);
    }
}
