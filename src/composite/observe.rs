//! What a look at AWS changes in the inventory, and what of it is drift. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;

use super::private_state::Private;
use crate::cloud::Observed;
use crate::model::IgnoreTags;
use crate::model::{Entry, Inventory, Key, Object, Spec};
use crate::plugin::Input;
use crate::topology::IgnoredDrift;

/// Brings an inventory in line with what AWS shows.
///
/// With `known`, an object that state lacks was left by a run that was cut off: it is taken in and named in
/// `pending`. Without, everything found is as applied: the inventory is rebuilt.
pub(super) fn observe(
    known: Option<Private>,
    seen: Vec<Observed>,
    ignore: &IgnoreTags,
    ignored: &IgnoredDrift,
) -> Private {
    let rebuilding = known.is_none();
    let mut private = known.unwrap_or_else(|| Private::of(Inventory::default()));
    leave_to_others(&mut private.inventory, ignore);
    let mut unseen: Vec<Observed> = seen;
    for entry in &mut private.inventory.entries {
        entry.ignored = ignored.covers(&entry.key.slot);
        let position = unseen
            .iter()
            .position(|object| (discriminant(&object.spec), object.id.as_str()) == entry.kind_and_id())
            .or_else(|| unseen.iter().position(|object| object.key == entry.key && object.spec.tags().is_none()));
        let Some(position) = position else {
            entry.gone = true;
            entry.observed = None;
            continue;
        };
        let object = unseen.swap_remove(position);
        entry.gone = false;
        entry.id = object.id;
        entry.key = object.key;
        entry.learned.extend(object.learned);
        let spec = with_owned_tags(object.spec, &entry.applied);
        entry.observed = (spec != entry.applied).then_some(spec);
    }
    count_what_went_with_the_root(&mut private.inventory);
    unseen.sort_by(|a, b| (&a.key, &a.id).cmp(&(&b.key, &b.id)));
    for object in unseen {
        let taken: BTreeSet<&str> = private.inventory.present().map(|entry| entry.key.slot.as_str()).collect();
        let stray = taken.contains(object.key.slot.as_str()).then(|| format!("stray.{}", object.id));
        if !rebuilding {
            let slot = stray.clone().unwrap_or_else(|| object.key.slot.clone());
            private.pending.insert(slot, left_behind(&object.id));
        }
        let key = match stray.filter(|_| !object.spec.is_identified_by_key()) {
            Some(slot) => Key::new(slot),
            None => object.key,
        };
        private.inventory.entries.retain(|entry| !(entry.gone && entry.key == key));
        let spec = without_ignored_tags(object.spec, ignore);
        let mut entry = Entry::new(key, object.id, spec);
        entry.learned = object.learned;
        entry.adopted = true;
        private.inventory.entries.push(entry);
    }
    private
}

/// Of an object that exists and that state does not know.
pub(super) fn left_behind(id: &str) -> String {
    format!("{id} exists in AWS and was not in state: left by a run that was cut off")
}

/// What differs from what was applied, by key, in words.
pub(super) fn drift(private: &Private) -> BTreeMap<String, String> {
    let mut drift = private.pending.clone();
    for entry in private.inventory.entries.iter().filter(|entry| !entry.pending_deletion) {
        let what = match (entry.drifted(), !entry.is_present()) {
            (_, true) => format!("{} is gone", entry.id),
            (Some(observed), false) => entry.applied.differences(observed).join("; "),
            (None, false) => continue,
        };
        drift.insert(entry.key.slot.clone(), what);
    }
    if let (Some(state), false) = (private.root_state, private.marking_refused)
        && let Some(root) = private.inventory.present().find(|entry| entry.spec().is_root())
    {
        let note = format!("its creation is not marked as finished: tag fgw:state is {}", state.as_str());
        let all = drift.entry(root.key.slot.clone()).or_default();
        *all = if all.is_empty() { note } else { format!("{all}; {note}") };
    }
    drift
}

/// Takes the drift of these objects for none, as long as they are wanted as they were applied. One that is wanted
/// otherwise is changed from what it looks like.
pub(super) fn ignore_drift(inventory: &mut Inventory, ignored: &IgnoredDrift, wanted: &[Object]) {
    for entry in &mut inventory.entries {
        let is_wanted_so = || wanted.iter().any(|it| it.key == entry.key && it.spec == entry.applied);
        entry.ignored = ignored.covers(&entry.key.slot) && is_wanted_so();
    }
    count_what_went_with_the_root(inventory);
}

/// The absence of the root is never ignored, nor what went with it: only a replacement of all can make it good.
fn count_what_went_with_the_root(inventory: &mut Inventory) {
    let is_lost_root = |entry: &Entry| entry.gone && entry.applied.is_root();
    if inventory.entries.iter().any(is_lost_root) {
        inventory.entries.iter_mut().for_each(|entry| entry.ignored &= !entry.gone);
    }
}

/// Gives up tags that we set and that others manage from now on. As if we had never set them, they are not removed.
pub(super) fn leave_to_others(inventory: &mut Inventory, ignore: &IgnoreTags) {
    for entry in &mut inventory.entries {
        let observed = entry.observed.take().map(|observed| without_ignored_tags(observed, ignore));
        entry.applied = without_ignored_tags(entry.applied.clone(), ignore);
        entry.observed = observed.filter(|observed| *observed != entry.applied);
    }
}

/// The look with those tags only that we set: foreign tags are neither shown nor touched.
fn with_owned_tags(mut observed: Spec, applied: &Spec) -> Spec {
    let owned: BTreeSet<String> =
        applied.tags().and_then(Input::known).map(|tags| tags.keys().cloned().collect()).unwrap_or_default();
    if let Some(Input::Known(tags)) = observed.tags_mut() {
        tags.retain(|key, _| owned.contains(key));
    }
    observed
}

fn without_ignored_tags(mut observed: Spec, ignore: &IgnoreTags) -> Spec {
    if let Some(Input::Known(tags)) = observed.tags_mut() {
        tags.retain(|key, _| !ignore.ignores(key));
    }
    observed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{RouteTable, Tags};

    fn tags(pairs: &[(&str, &str)]) -> Tags {
        Input::Known(pairs.iter().map(|(key, value)| (key.to_string(), Input::Known(value.to_string()))).collect())
    }

    fn table(pairs: &[(&str, &str)]) -> Spec {
        Spec::RouteTable(RouteTable {
            vpc: Key::new("vpc"),
            propagating_gateways: Input::Known(vec![]),
            tags: tags(pairs),
        })
    }

    fn seen(id: &str, slot: &str, spec: Spec) -> Observed {
        Observed { id: id.into(), key: Key::new(slot), spec, learned: Default::default() }
    }

    fn known() -> Private {
        let entry = Entry::new(Key::new("route_table.public"), "rtb-1", table(&[("Name", "a"), ("team", "x")]));
        Private::of(Inventory { entries: vec![entry] })
    }

    fn look_at(known: Option<Private>, seen: Vec<Observed>, ignore: &IgnoreTags) -> Private {
        observe(known, seen, ignore, &IgnoredDrift::default())
    }

    #[test]
    fn a_foreign_tag_is_no_drift() {
        let look = table(&[("Name", "a"), ("team", "x"), ("kubernetes.io/role/elb", "1")]);
        let private = look_at(Some(known()), vec![seen("rtb-1", "route_table.public", look)], &IgnoreTags::default());
        assert_eq!(drift(&private), BTreeMap::new());
        assert_eq!(private, known());
    }

    #[test]
    fn a_changed_tag_and_a_lost_tag_are_drift_that_names_keys_and_no_values() {
        let look = table(&[("Name", "secret")]);
        let private = look_at(Some(known()), vec![seen("rtb-1", "route_table.public", look)], &IgnoreTags::default());
        assert_eq!(drift(&private)["route_table.public"], "tag Name has another value; tag team is missing");
    }

    #[test]
    fn drift_stays_visible_when_it_is_looked_at_twice() {
        let look = || vec![seen("rtb-1", "route_table.public", table(&[("Name", "b"), ("team", "x")]))];
        let once = look_at(Some(known()), look(), &IgnoreTags::default());
        let twice = look_at(Some(once.clone()), look(), &IgnoreTags::default());
        assert_eq!(once, twice);
        assert_eq!(drift(&twice).len(), 1);
    }

    #[test]
    fn an_object_that_is_gone_is_drift_until_it_is_made_again() {
        let private = look_at(Some(known()), vec![], &IgnoreTags::default());
        assert_eq!(drift(&private)["route_table.public"], "rtb-1 is gone");
        assert_eq!(private.inventory.present().count(), 0);
    }

    #[test]
    fn what_a_killed_run_has_left_is_taken_in_and_named() {
        let left = seen("rtb-2", "route_table.public", table(&[]));
        let both = vec![seen("rtb-1", "route_table.public", table(&[("Name", "a"), ("team", "x")])), left];
        let private = look_at(Some(known()), both, &IgnoreTags::default());
        let keys: Vec<&str> = private.inventory.present().map(|entry| entry.key.slot.as_str()).collect();
        assert_eq!(keys, ["route_table.public", "stray.rtb-2"]);
        assert!(drift(&private)["stray.rtb-2"].contains("rtb-2"));
    }

    #[test]
    fn a_tag_of_ours_that_is_left_to_others_is_ours_no_more() {
        let ignore = IgnoreTags { keys: vec!["team".into()], key_prefixes: vec![] };
        let look = table(&[("Name", "a"), ("team", "y")]);
        let changed = look_at(Some(known()), vec![seen("rtb-1", "route_table.public", look)], &IgnoreTags::default());
        assert_eq!(drift(&changed).len(), 1);
        let mut inventory = changed.inventory;
        leave_to_others(&mut inventory, &ignore);
        assert_eq!(drift(&Private::of(inventory.clone())), BTreeMap::new());
        assert_eq!(inventory.entries[0].applied, table(&[("Name", "a")]));
        let removed = vec![seen("rtb-1", "route_table.public", table(&[("Name", "a")]))];
        assert_eq!(look_at(Some(known()), removed, &ignore).inventory, inventory);
    }

    #[test]
    fn drift_that_is_ignored_is_not_told_and_counts_again_once_the_object_is_wanted_otherwise() {
        let ignored = IgnoredDrift::of(&Input::Known(Some(vec![Input::Known("route_table.*".to_string())])));
        let gone = observe(Some(known()), vec![], &IgnoreTags::default(), &ignored);
        assert_eq!(drift(&gone), BTreeMap::new());
        assert_eq!(gone.inventory.present().count(), 1);
        let mut inventory = gone.inventory;
        let wanted = |spec| [Object::new(Key::new("route_table.public"), spec)];
        ignore_drift(&mut inventory, &ignored, &wanted(known().inventory.entries[0].applied.clone()));
        assert_eq!(inventory.present().count(), 1);
        ignore_drift(&mut inventory, &ignored, &wanted(table(&[("Name", "b")])));
        assert_eq!(inventory.present().count(), 0, "it has to be made as it is wanted now");
    }

    #[test]
    fn a_rebuilt_inventory_is_in_sync_with_what_was_found() {
        let ignore = IgnoreTags { keys: vec!["theirs".into()], key_prefixes: vec![] };
        let look = table(&[("Name", "a"), ("theirs", "1")]);
        let private = look_at(None, vec![seen("rtb-1", "route_table.public", look)], &ignore);
        assert_eq!(drift(&private), BTreeMap::new());
        assert_eq!(private.inventory.entries[0].applied, table(&[("Name", "a")]));
    }
}
