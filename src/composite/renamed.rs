//! Objects whose entries have another key in the configuration than in state. Pure.
//!
//! A key is free text and identifies nothing, so existing and required objects are matched by their identity in AWS
//! first. An object that is required under another key moves to its slot, and the objects that belong to the same entry
//! follow. Blueprints and the planner then see an inventory with the new slots, so nothing else knows of this.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::model::{Entry, Identity, Inventory, Key, Object, Spec, printable};

/// An entry that continues another one, for the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Renamed {
    /// The name of the map.
    pub(super) input: &'static str,
    /// The key in state.
    pub(super) from: String,
    /// The key in the configuration.
    pub(super) to: String,
    /// The AWS IDs of the objects that stay.
    pub(super) ids: Vec<String>,
}

/// One sentence for each, such as "flow_logs: y continues x (fl-123)".
pub(super) fn sentences(renamed: &[Renamed]) -> Vec<String> {
    let sentence = |Renamed { input, from, to, ids }: &Renamed| {
        printable(&format!("{input}: {to} continues {from} ({})", ids.join(", "))).into_owned()
    };
    renamed.iter().map(sentence).collect()
}

/// A move of an object to the slot of another key.
#[derive(Debug)]
struct Move {
    from: Key,
    to: Key,
    kind: &'static str,
    /// The start of both slots.
    slots: &'static str,
    /// The name of the map, unless the object only makes room or follows another one.
    input: Option<&'static str>,
}

/// An existing or a required object whose key is free text.
#[derive(Clone, Copy)]
struct Place<'a> {
    key: &'a Key,
    spec: &'a Spec,
    is_pending: bool,
}

/// Moves the objects to the slots of the entries that require them, if `may_move` allows it. Returns the entries that
/// continue others.
pub(super) fn rename(
    inventory: &mut Inventory,
    wanted: &[Object],
    may_move: impl FnOnce(&[Renamed]) -> bool,
) -> Result<Vec<Renamed>, serde_json::Error> {
    let mut moves = matched(inventory, wanted);
    make_room(inventory, &mut moves);
    let renamed = described(inventory, &moves);
    if renamed.is_empty() || !may_move(&renamed) {
        return Ok(renamed);
    }
    apply(inventory, &moves)?;
    let mut following = following(inventory, wanted, &moves);
    make_room(inventory, &mut following);
    apply(inventory, &following)?;
    Ok(renamed)
}

/// The moves of the objects that have an identity of their own.
fn matched(inventory: &Inventory, wanted: &[Object]) -> Vec<Move> {
    let mut existing: BTreeMap<(&str, String), Vec<Place<'_>>> = BTreeMap::new();
    for Entry { key, applied, pending_deletion, .. } in inventory.present().filter(|entry| !entry.has_failed()) {
        let place = Place { key, spec: applied, is_pending: *pending_deletion };
        if let Some(identity) = identity(place) {
            existing.entry((applied.kind(), identity)).or_default().push(place);
        }
    }
    let mut required: BTreeMap<(&str, String), Vec<Place<'_>>> = BTreeMap::new();
    for Object { key, spec, .. } in wanted {
        let place = Place { key, spec, is_pending: false };
        if let Some(identity) = identity(place) {
            required.entry((spec.kind(), identity)).or_default().push(place);
        }
    }
    let pairs = required.into_iter().filter_map(|(of, wanted)| Some(pairs(existing.remove(&of)?, wanted)));
    pairs.flatten().filter_map(|(old, new)| Move::of(old, &new.key.slot, true)).collect()
}

/// The text by which an object is recognized among those of its kind. `None` if its key is not free, and while an input
/// is unknown.
fn identity(Place { key, spec, .. }: Place<'_>) -> Option<String> {
    let identity = spec.identity();
    identity.name_in(&key.slot)?;
    match identity {
        Identity::Fixed { .. } => key.fixed.known().cloned(),
        Identity::Inputs { inputs, .. } => inputs.known().cloned(),
        Identity::Key(_) | Identity::Entry { .. } => None,
    }
}

/// Pairs existing and required objects of one identity: first those in the same slot, then those with the fewest
/// differences, in the order of their keys. An object in pending deletion comes last.
fn pairs<'a>(mut existing: Vec<Place<'a>>, mut wanted: Vec<Place<'a>>) -> Vec<(Place<'a>, Place<'a>)> {
    existing.sort_by_key(|old| old.is_pending);
    wanted.retain(|new| {
        let same = existing.iter().position(|old| old.key.slot == new.key.slot);
        let held = same.map(|at| existing.remove(at).key.clone());
        // Several entries may have one key while one of them is pending deletion. They move together.
        existing.retain(|old| held.as_ref() != Some(old.key));
        held.is_none()
    });
    let mut ranked = Vec::new();
    for old in &existing {
        let others = wanted.iter().map(|new| {
            let differences = old.spec.differences(new.spec).len();
            ((old.is_pending, differences, &old.key.slot, &new.key.slot), (*old, *new))
        });
        ranked.extend(others);
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    let mut pairs: Vec<(Place<'a>, Place<'a>)> = Vec::new();
    for (_, (old, new)) in ranked {
        if pairs.iter().all(|(used, taken)| used.key != old.key && taken.key != new.key) {
            pairs.push((old, new));
        }
    }
    pairs
}

/// Lets existing objects that would have the key of a moved one take the slot at the other end of its chain of moves.
/// So two objects that change in place never have one slot.
fn make_room(inventory: &Inventory, moves: &mut Vec<Move>) {
    let mut displaced = Vec::new();
    for entry in inventory.present().filter(|entry| moves.iter().all(|it| it.from != entry.key)) {
        let changes_in_place = matches!(entry.applied.identity(), Identity::Inputs { .. });
        let is_in_way = |it: &&Move| {
            let has_place = it.to == entry.key || (changes_in_place && it.to.slot == entry.key.slot);
            has_place && it.kind == entry.applied.kind()
        };
        let Some(first) = moves.iter().find(is_in_way).and_then(|it| first_of_chain(moves, it)) else { continue };
        let place = Place { key: &entry.key, spec: &entry.applied, is_pending: entry.pending_deletion };
        let is_free = |it: &Move| inventory.present().all(|other| other.key != it.to || other.key == first.from);
        displaced.extend(Move::of(place, &first.from.slot, false).filter(is_free));
    }
    moves.extend(displaced);
}

/// The move that leaves a slot which no other one takes. `None` if the moves are a cycle.
fn first_of_chain<'a>(moves: &'a [Move], mut last: &'a Move) -> Option<&'a Move> {
    for _ in moves {
        match moves.iter().find(|it| it.to.slot == last.from.slot && it.kind == last.kind) {
            Some(before) => last = before,
            None => return Some(last),
        }
    }
    None
}

/// The moves of the objects that belong to the same entries as moved ones, if their new slots are required.
fn following(inventory: &Inventory, wanted: &[Object], moved: &[Move]) -> Vec<Move> {
    let followed = |entry: &Entry| {
        let Identity::Entry { slots, leader } = entry.applied.identity() else { return None };
        let name = entry.key.slot.strip_prefix(slots)?;
        let of_leader = |it: &&Move| it.slots == leader && it.from.slot.strip_prefix(leader) == Some(name);
        let to = moved.iter().find(of_leader)?.to.slot.strip_prefix(leader)?;
        let slot = format!("{slots}{to}");
        let is_required =
            wanted.iter().any(|object| object.key.slot == slot && object.spec.kind() == entry.applied.kind());
        let place = Place { key: &entry.key, spec: &entry.applied, is_pending: entry.pending_deletion };
        Move::of(place, &slot, false).filter(|_| is_required)
    };
    inventory.present().filter_map(followed).collect()
}

impl Move {
    /// `None` if the object has this slot already.
    fn of(Place { key, spec, .. }: Place<'_>, slot: &str, is_matched: bool) -> Option<Move> {
        let identity = spec.identity();
        let input = match identity {
            Identity::Fixed { input, .. } | Identity::Inputs { input, .. } => Some(input),
            Identity::Key(_) | Identity::Entry { .. } => None,
        };
        (key.slot != slot).then_some(())?;
        let (slots, to) = (identity.slots()?, spec.key_in(key, slot.to_string()));
        Some(Move { from: key.clone(), to, kind: spec.kind(), slots, input: input.filter(|_| is_matched) })
    }
}

/// The entries that continue others, in the order of their keys.
fn described(inventory: &Inventory, moves: &[Move]) -> Vec<Renamed> {
    let mut all: BTreeMap<(&'static str, &str, &str), Vec<String>> = BTreeMap::new();
    for it in moves {
        let names = it.to.slot.strip_prefix(it.slots).zip(it.from.slot.strip_prefix(it.slots));
        if let (Some(input), Some((to, from))) = (it.input, names) {
            let ids = inventory.present().filter(|entry| entry.key == it.from).map(|entry| entry.id.clone());
            all.entry((input, to, from)).or_default().extend(ids);
        }
    }
    let of = |((input, to, from), ids): ((&'static str, &str, &str), Vec<String>)| Renamed {
        input,
        from: from.to_string(),
        to: to.to_string(),
        ids,
    };
    all.into_iter().map(of).collect()
}

/// Gives the objects their new keys, in each spec that refers to them too.
fn apply(inventory: &mut Inventory, moves: &[Move]) -> Result<(), serde_json::Error> {
    if moves.is_empty() {
        return Ok(());
    }
    // The record of a missing object would be a second one.
    inventory.entries.retain(|entry| entry.is_present() || moves.iter().all(|it| it.to != entry.key));
    let before: Vec<String> = inventory.entries.iter().map(|entry| entry.key.slot.clone()).collect();
    let keys: Vec<(Key, Key)> = moves.iter().map(|it| (it.from.clone(), it.to.clone())).collect();
    *inventory = with_keys(inventory, &keys)?;
    for (entry, before) in inventory.entries.iter_mut().zip(before) {
        if entry.key.slot != before {
            entry.moved_from(before);
        }
    }
    Ok(())
}

/// Replaces keys wherever they are. Specs refer to objects in many places, of which none may be left out.
pub(super) fn with_keys<T: Serialize + DeserializeOwned>(
    value: &T,
    keys: &[(Key, Key)],
) -> Result<T, serde_json::Error> {
    let keys: Result<Vec<(Json, Json)>, serde_json::Error> =
        keys.iter().map(|(from, to)| Ok((serde_json::to_value(from)?, serde_json::to_value(to)?))).collect();
    let mut json = serde_json::to_value(value)?;
    replace(&mut json, &keys?);
    serde_json::from_value(json)
}

fn replace(json: &mut Json, keys: &[(Json, Json)]) {
    if let Some((_, to)) = keys.iter().find(|(from, _)| from == json) {
        json.clone_from(to);
        return;
    }
    match json {
        Json::Array(items) => items.iter_mut().for_each(|item| replace(item, keys)),
        Json::Object(fields) => fields.values_mut().for_each(|field| replace(field, keys)),
        _ => {}
    }
}
