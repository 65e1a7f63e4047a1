//! Updating the inventory from a read of AWS, and reporting drift. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;

use super::private_state::{Candidate, Private};
use super::{released, used};
use crate::cloud::Observed;
use crate::model::{Drift, Entry, IgnoreTags, Inventory, Key, Object, Origin, Spec, Unfinished, printable};
use crate::plugin::Input;
use crate::reconcile::{Action, Plan};
use crate::topology::IgnoredDrift;

/// Updates an inventory with the observed objects.
///
/// With `known`, an observed object that is not in state becomes a candidate: an interrupted run or someone else
/// created it. Without `known`, in an import, all observed objects are added, and their specs count as applied.
pub(super) fn observe(
    known: Option<Private>,
    seen: Vec<Observed>,
    ignore: &IgnoreTags,
    ignored: &IgnoredDrift,
) -> Private {
    let is_import = known.is_none();
    let mut private = known.unwrap_or_else(|| Private::of(Inventory::default()));
    remove_ignored_tags(&mut private.inventory, ignore);
    let Matched { found, mut others } = matched(&mut private.inventory, seen, ignored);
    others.sort_by(|a, b| (&a.key, &a.id).cmp(&(&b.key, &b.id)));
    if is_import {
        private.inventory.entries.extend(others.into_iter().map(|object| found_entry(object, ignore)));
        return private;
    }
    let unmanaged = unmanaged_keys(&private.inventory, &others);
    let mut referrers: BTreeMap<Key, Vec<Key>> = BTreeMap::new();
    for (position, mut spec) in found {
        let entry = &mut private.inventory.entries[position];
        for key in spec.refer_by_id(&unmanaged) {
            referrers.entry(key).or_default().push(entry.key.clone());
        }
        entry.observe(with_owned_tags(spec, &entry.applied, ignore));
    }
    never_ignore_missing_root(&mut private.inventory);
    let candidate = |object: Observed| {
        let mut entry = found_entry(object, ignore);
        entry.applied.refer_by_id(&unmanaged);
        let referrers = referrers.get(&entry.key).cloned().unwrap_or_default();
        Candidate { referrers, ..Candidate::of(entry) }
    };
    private.candidates = others.into_iter().map(candidate).collect();
    private
}

/// The observed objects, compared with an inventory.
struct Matched {
    /// The positions of the existing entries, with their observed specs.
    found: Vec<(usize, Spec)>,
    /// The objects without an entry.
    others: Vec<Observed>,
}

/// Updates the entries with everything that AWS returned but their specs.
fn matched(inventory: &mut Inventory, mut unseen: Vec<Observed>, ignored: &IgnoredDrift) -> Matched {
    // While a statement moves to the policy of another function, two entries have its ID and different keys.
    let known: BTreeSet<(Key, String)> =
        inventory.entries.iter().map(|entry| (entry.key.clone(), entry.id.clone())).collect();
    let mut found = Vec::new();
    for (number, entry) in inventory.entries.iter_mut().enumerate() {
        entry.ignored = ignored.covers(&entry.key.slot);
        let is_of_another_entry =
            |object: &Observed| object.key != entry.key && known.contains(&(object.key.clone(), object.id.clone()));
        let position = unseen
            .iter()
            .position(|object| {
                (discriminant(&object.spec), object.id.as_str()) == entry.kind_and_id() && !is_of_another_entry(object)
            })
            .or_else(|| unseen.iter().position(|object| object.key == entry.key && object.spec.tags().is_none()));
        let Some(position) = position else {
            entry.drift = Drift::Missing;
            continue;
        };
        let object = unseen.swap_remove(position);
        (entry.drift, entry.is_unread) = (Drift::None, false);
        entry.id = object.id;
        entry.key = object.key;
        entry.learned.update(object.learned);
        found.push((number, object.spec));
    }
    Matched { found, others: unseen }
}

/// The ids of observed objects without an entry by their keys, except keys that an existing entry has.
fn unmanaged_keys(inventory: &Inventory, others: &[Observed]) -> BTreeMap<Key, String> {
    let is_held = |key: &Key| inventory.entries.iter().any(|entry| !entry.is_missing() && entry.key == *key);
    let free = others.iter().filter(|object| !is_held(&object.key));
    free.map(|object| (object.key.clone(), object.id.clone())).collect()
}

/// The entry of an object without a record of its last apply.
pub(super) fn found_entry(object: Observed, ignore: &IgnoreTags) -> Entry {
    let mut entry = Entry::new(object.key, object.id, without_ignored_tags(object.spec, ignore));
    entry.learned = object.learned;
    entry.origin = Origin::Found;
    entry.found = entry.applied.is_adopted().then(|| Box::new(entry.applied.clone()));
    entry
}

/// What users do with an object that has the ownership tags of a topology and is not managed.
const ADVICE: &str = "If it belongs to something else, remove its tags that begin with fgw:. If nothing uses it and AWS \
                      allows it, delete it.";

/// What users do with an object that was not taken over, if they want it to be managed.
fn advice_to_adopt(slot: &str, id: &str) -> String {
    format!(" If the configuration requires it, {:?} = {:?} in adopt takes it over.", printable(slot), printable(id))
}

/// Describes the objects with the ownership tags of a topology that it does not manage, by id.
pub(super) fn unmanaged_objects(private: &Private) -> BTreeMap<String, String> {
    let is_managed = |id: &str| private.inventory.present().any(|entry| entry.id == id);
    let is_free = |slot: &str| private.inventory.present().all(|entry| entry.key.slot != slot);
    let is_candidate = |key: &Key| private.candidates.iter().any(|it| it.entry.key == *key);
    let has_own_line = |it: &&Candidate| !it.entry.applied.parent().is_some_and(is_candidate);
    let candidates = private.candidates.iter().filter(has_own_line).map(|it| {
        let (slot, id) = (&it.entry.key.slot, &it.entry.id);
        let (reason, adopt) = match &it.reason {
            Some(reason) => {
                let may_be_named = is_named(&it.entry.applied) && is_free(slot);
                (format!(": {}.", printable(reason)), may_be_named.then(|| advice_to_adopt(slot, id)))
            }
            None => {
                let applying =
                    "If an interrupted run created it, apply the configuration of that run, which takes it over.";
                (format!(". {applying}"), None)
            }
        };
        (id.clone(), format!("{slot}, not in state{reason} {ADVICE}{}", adopt.unwrap_or_default()))
    });
    let others = private.unmanaged.iter().map(|it| {
        let adopt = it.slot.as_ref().filter(|slot| is_free(slot)).map(|slot| advice_to_adopt(slot, &it.id));
        let slot = it.slot.as_ref().map(|slot| format!("{slot}, not in state: ")).unwrap_or_default();
        let advice = match it.is_tagged {
            true => format!(". {ADVICE}{}", adopt.unwrap_or_default()),
            false => String::new(),
        };
        (it.id.clone(), format!("{slot}{}{advice}", it.reason))
    });
    let others = others.chain(candidates).chain(released::described(private)).filter(|(id, _)| !is_managed(id));
    others.chain(used::described(private)).collect()
}

/// The note on an object that is in state but missing.
pub(super) fn missing(id: &str) -> String {
    format!("{} is missing", printable(id))
}

/// The objects that `adopt` names: those of kinds with an ID of their own. All others follow the object that they are
/// part of.
pub(super) fn named(inventory: &Inventory) -> impl Iterator<Item = &Entry> {
    inventory.current().filter(|entry| entry.is_foreign() && is_named(&entry.applied))
}

/// Whether `adopt` names objects of this kind.
pub(super) fn is_named(spec: &Spec) -> bool {
    spec.tags().is_some()
}

/// Describes the differences from the last apply, by key. `root` is the slot of the root.
pub(super) fn drift(private: &Private, root: &str) -> BTreeMap<String, String> {
    let mut drift = private.pending.clone();
    for entry in private.inventory.entries.iter().filter(|entry| !entry.pending_deletion) {
        let what = match (entry.drifted(), !entry.is_present()) {
            _ if entry.is_foreign() => continue,
            (_, true) => missing(&entry.id),
            (Some(observed), false) => entry.applied.differences(observed).join("; "),
            (None, false) => continue,
        };
        drift.insert(entry.key.slot.clone(), what);
    }
    if let (Some(state), false, false) = (private.root_state, private.marking_refused, private.in_creation)
        && private.inventory.present().any(|entry| entry.spec().is_root())
    {
        let note = format!("its creation is not marked as complete: tag fgw:state is {}", state.as_str());
        let all = drift.entry(root.to_string()).or_default();
        *all = if all.is_empty() { note } else { format!("{all}; {note}") };
    }
    drift
}

/// Ignores the drift of these required objects. The required spec of an object that is not adopted counts as applied,
/// so that the adoption keeps what differs.
pub(super) fn ignore_drift(inventory: &mut Inventory, ignored: &IgnoredDrift, wanted: &[Object]) {
    for entry in &mut inventory.entries {
        let object = wanted.iter().find(|it| it.key == entry.key).filter(|_| ignored.covers(&entry.key.slot));
        // A create that failed half-way has left differences that are no drift.
        entry.ignored = object.is_some() && entry.unfinished != Some(Unfinished::Create);
        if let (true, Some(object)) = (entry.is_foreign(), object) {
            let found = entry.take_observed().unwrap_or_else(|| entry.applied.clone());
            entry.applied = with_tags_of(object.spec.clone(), &found);
            entry.observe(found);
        }
    }
    never_ignore_missing_root(inventory);
}

/// Ends ignoring that objects are missing if an operation of the plan needs them, or if they are part of an object that
/// it creates. Returns whether there are such objects.
pub(super) fn require_missing(inventory: &mut Inventory, plan: &Plan) -> bool {
    let keys = |spec: &Spec| spec.needs().into_iter().map(|need| need.key).collect::<BTreeSet<Key>>();
    let (mut needed, mut created) = (BTreeSet::new(), BTreeSet::new());
    for op in &plan.ops {
        match &op.action {
            Action::Create(object) => {
                needed.extend(keys(&object.spec));
                created.insert(object.key.clone());
            }
            Action::Update { before, to, .. } => needed.extend(keys(&to.spec).difference(&keys(before)).cloned()),
            Action::Delete { .. } => {}
        }
    }
    let is_part = |entry: &Entry| entry.applied.parent().is_some_and(|parent| created.contains(parent));
    let is_required =
        |entry: &&mut Entry| entry.is_missing() && entry.ignored && (needed.contains(&entry.key) || is_part(entry));
    let required: Vec<&mut Entry> = inventory.entries.iter_mut().filter(is_required).collect();
    let has_some = !required.is_empty();
    for entry in required {
        entry.ignored = false;
    }
    has_some
}

fn with_tags_of(mut spec: Spec, other: &Spec) -> Spec {
    if let (Some(tags), Some(found)) = (spec.tags_mut(), other.tags()) {
        tags.clone_from(found);
    }
    spec
}

/// A missing root and the objects that were deleted with it are never ignored, because only a replacement of the whole
/// topology can create them again.
fn never_ignore_missing_root(inventory: &mut Inventory) {
    let is_missing_root = |entry: &Entry| entry.is_missing() && entry.applied.is_root();
    if inventory.entries.iter().any(is_missing_root) {
        inventory.entries.iter_mut().for_each(|entry| entry.ignored &= !entry.is_missing());
    }
}

/// Removes ignored tags from the inventory, as if this provider had never set them. An apply does not remove them from
/// the AWS objects.
pub(super) fn remove_ignored_tags(inventory: &mut Inventory, ignore: &IgnoreTags) {
    for entry in &mut inventory.entries {
        let observed = entry.take_observed().map(|observed| without_ignored_tags(observed, ignore));
        entry.applied = without_ignored_tags(entry.applied.clone(), ignore);
        if let Some(observed) = observed {
            entry.observe(observed);
        }
    }
}

/// Returns the observed spec without unmanaged tags, which are neither shown nor modified. While ignored keys are
/// unknown, no tag has drifted.
fn with_owned_tags(mut observed: Spec, applied: &Spec, ignore: &IgnoreTags) -> Spec {
    if ignore.may_have_more {
        return with_tags_of(observed, applied);
    }
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
    use crate::model::{Ref, Route, RouteTable, Tags};

    fn tags(pairs: &[(&str, &str)]) -> Tags {
        Input::Known(pairs.iter().map(|(key, value)| (key.to_string(), Input::Known(value.to_string()))).collect())
    }

    fn table(pairs: &[(&str, &str)]) -> Spec {
        Spec::RouteTable(RouteTable { tags: tags(pairs), ..RouteTable::test() })
    }

    fn seen(id: &str, slot: &str, spec: Spec) -> Observed {
        Observed { id: id.into(), key: Key::new(slot), spec, learned: Default::default() }
    }

    fn known() -> Private {
        let entry = Entry::new(Key::new("route_table.public"), "rtb-1", table(&[("Name", "a"), ("team", "x")]));
        Private::of(Inventory { entries: vec![entry] })
    }

    fn drift(private: &Private) -> BTreeMap<String, String> {
        super::drift(private, "vpc")
    }

    fn observed(known: Option<Private>, seen: Vec<Observed>, ignore: &IgnoreTags) -> Private {
        observe(known, seen, ignore, &IgnoredDrift::default())
    }

    #[test]
    fn an_unmanaged_tag_is_not_drift() {
        let tagged = table(&[("Name", "a"), ("team", "x"), ("kubernetes.io/role/elb", "1")]);
        let read = vec![seen("rtb-1", "route_table.public", tagged)];
        let private = observed(Some(known()), read, &IgnoreTags::default());
        assert_eq!(drift(&private), BTreeMap::new());
        assert_eq!(private, known());
    }

    #[test]
    fn drift_of_tags_names_their_keys_but_not_their_values() {
        let retagged = table(&[("Name", "secret")]);
        let read = vec![seen("rtb-1", "route_table.public", retagged)];
        let private = observed(Some(known()), read, &IgnoreTags::default());
        assert_eq!(drift(&private)["route_table.public"], "tag Name has another value; tag team is missing");
    }

    #[test]
    fn a_second_read_reports_the_same_drift() {
        let read = || vec![seen("rtb-1", "route_table.public", table(&[("Name", "b"), ("team", "x")]))];
        let once = observed(Some(known()), read(), &IgnoreTags::default());
        let twice = observed(Some(once.clone()), read(), &IgnoreTags::default());
        assert_eq!(once, twice);
        assert_eq!(drift(&twice).len(), 1);
    }

    #[test]
    fn a_missing_object_is_drift() {
        let private = observed(Some(known()), vec![], &IgnoreTags::default());
        assert_eq!(drift(&private)["route_table.public"], "rtb-1 is missing");
        assert_eq!(private.inventory.present().count(), 0);
    }

    #[test]
    fn entries_with_one_id_are_told_apart_by_their_keys() {
        let entry = |slot: &str| Entry::new(Key::new(slot), "rtb-1", table(&[]));
        let both = Private::of(Inventory { entries: vec![entry("route_table.old"), entry("route_table.new")] });
        let read = vec![seen("rtb-1", "route_table.new", table(&[]))];
        let private = observed(Some(both), read, &IgnoreTags::default());
        let present: Vec<&str> = private.inventory.present().map(|entry| entry.key.slot.as_str()).collect();
        assert_eq!((present, private.inventory.entries.len()), (vec!["route_table.new"], 2));
    }

    #[test]
    fn an_object_that_is_not_in_state_is_a_candidate() {
        let left = seen("rtb-2", "route_table.public", table(&[]));
        let both = vec![seen("rtb-1", "route_table.public", table(&[("Name", "a"), ("team", "x")])), left];
        let private = observed(Some(known()), both, &IgnoreTags::default());
        let keys: Vec<&str> = private.inventory.present().map(|entry| entry.key.slot.as_str()).collect();
        assert_eq!(keys, ["route_table.public"]);
        assert_eq!(private.candidates[0].entry.id, "rtb-2");
        assert!(unmanaged_objects(&private)["rtb-2"].contains("route_table.public"));
        assert_eq!(drift(&private), BTreeMap::new());
    }

    #[test]
    fn a_tag_that_becomes_ignored_is_no_longer_managed() {
        let ignore = IgnoreTags { keys: vec!["team".into()], ..IgnoreTags::default() };
        let retagged = table(&[("Name", "a"), ("team", "y")]);
        let read = vec![seen("rtb-1", "route_table.public", retagged)];
        let changed = observed(Some(known()), read, &IgnoreTags::default());
        assert_eq!(drift(&changed).len(), 1);
        let mut inventory = changed.inventory;
        remove_ignored_tags(&mut inventory, &ignore);
        assert_eq!(drift(&Private::of(inventory.clone())), BTreeMap::new());
        assert_eq!(inventory.entries[0].applied, table(&[("Name", "a")]));
        let removed = vec![seen("rtb-1", "route_table.public", table(&[("Name", "a")]))];
        assert_eq!(observed(Some(known()), removed, &ignore).inventory, inventory);
    }

    #[test]
    fn an_ignored_missing_object_is_created_only_if_needed() {
        let ignored = IgnoredDrift::of(&Input::Known(Some(vec![Input::Known("route_table.*".to_string())])));
        let private = observe(Some(known()), vec![], &IgnoreTags::default(), &ignored);
        assert_eq!(drift(&private), BTreeMap::new());
        assert_eq!(private.inventory.present().count(), 1);
        let mut inventory = private.inventory;
        let wanted = |spec| [Object::new(Key::new("route_table.public"), spec)];
        for spec in [known().inventory.entries[0].applied.clone(), table(&[("Name", "b")])] {
            let wanted = wanted(spec);
            ignore_drift(&mut inventory, &ignored, &wanted);
            let plan = crate::reconcile::plan(&inventory, &wanted).unwrap();
            assert!(plan.is_empty() && !require_missing(&mut inventory, &plan), "it stays missing");
        }
        let route = Spec::Route(Route { target: Ref::Id("igw-1".into()), ..Route::test() });
        let mut wanted = wanted(known().inventory.entries[0].applied.clone()).to_vec();
        wanted.push(Object::new(Key::new("route.public.ipv4"), route));
        let plan = crate::reconcile::plan(&inventory, &wanted).unwrap();
        assert!(require_missing(&mut inventory, &plan), "a new route needs it");
        assert_eq!(inventory.present().count(), 0);
    }

    #[test]
    fn an_adoption_keeps_a_difference_that_is_ignored() {
        let route = |target: &str| {
            let target = Ref::Id(target.to_string());
            Spec::Route(Route { target, ..Route::test() })
        };
        let mut entry = Entry::new(Key::new("route.public.ipv4"), "rtb-1_0.0.0.0/0", route("nat-0"));
        entry.origin = Origin::Foreign;
        let mut inventory = Inventory { entries: vec![entry, known().inventory.entries[0].clone()] };
        inventory.entries[1].origin = Origin::Foreign;
        let patterns = vec![Input::Known("route*".to_string())];
        let ignored = IgnoredDrift::of(&Input::Known(Some(patterns)));
        let named = table(&[("Name", "new"), ("added", "y")]);
        let wanted = [
            Object::new(Key::new("route.public.ipv4"), route("nat-1")),
            Object::new(Key::new("route_table.public"), named),
        ];
        for _ in 0..2 {
            ignore_drift(&mut inventory, &ignored, &wanted);
            assert_eq!(inventory.entries[0].spec(), &route("nat-1"));
            assert_eq!(inventory.entries[0].observed(), Some(&route("nat-0")));
            assert_eq!(inventory.entries[1].spec(), &table(&[("Name", "a"), ("team", "x")]), "tags are only added");
        }
    }

    #[test]
    fn a_rebuilt_inventory_has_no_drift() {
        let ignore = IgnoreTags { keys: vec!["theirs".into()], ..IgnoreTags::default() };
        let tagged = table(&[("Name", "a"), ("theirs", "1")]);
        let private = observed(None, vec![seen("rtb-1", "route_table.public", tagged)], &ignore);
        assert_eq!(drift(&private), BTreeMap::new());
        assert_eq!(private.inventory.entries[0].applied, table(&[("Name", "a")]));
    }
}
