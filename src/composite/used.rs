//! The objects that a topology uses without owning them. Pure.
//!
//! A create that finds an object under its name uses it if its setting would keep the object. The entry in the
//! inventory has the origin `Used`: no operation changes or deletes the object. `aws_objects` contains it too, so that
//! it is found without private state, and `unmanaged_objects` says that it is not owned. The tags of the object play no
//! part in this, because anyone may set them.

use std::collections::BTreeSet;

use super::private_state::Private;
use crate::model::{Entry, Existing, Inventory, Object, Origin, Outside, Reference, Scope};
use crate::plugin::{Input, Problem, Value};
use crate::topology::Topology;
use crate::topology::outside::{UseContext, cannot_change};

/// The circumstances of a create that finds existing objects. `root_id` is the root of the state, if it stays.
pub(super) fn context<'a, P: Topology>(config: &P::Config, root_id: Option<&'a str>) -> UseContext<'a> {
    UseContext { root_id, allows_duplicates: *P::allows_duplicate_name(config) == Input::Known(true) }
}

/// The entry of an existing object that a create uses.
pub(super) fn entry(object: &Object, id: &str, existing: &Existing) -> Entry {
    let mut entry = Entry::new(object.key.clone(), id, existing.spec.clone());
    entry.learned = existing.learned.clone();
    entry.origin = Origin::Used;
    entry.take_required(&object.spec);
    entry
}

/// Whether a state says that its topology uses an object without owning it.
pub(super) fn is_in_state(state: &Value, entry: &Entry) -> bool {
    let is_unmanaged = !state.get("unmanaged_objects").get(&entry.id).is_null();
    is_unmanaged && entry.applied.uses_existing().is_some()
}

/// The IDs of the used objects in a state.
pub(super) fn ids_in_state(state: &Value) -> BTreeSet<String> {
    let ids = state.get("aws_objects").as_map().into_iter().flat_map(|objects| objects.values());
    let ids = ids.filter_map(|id| id.as_str()).filter(|id| !state.get("unmanaged_objects").get(id).is_null());
    ids.map(str::to_string).collect()
}

/// The IDs of the used objects in an inventory that the configuration requires.
pub(super) fn ids_in(inventory: &Inventory, required: &[Object]) -> BTreeSet<String> {
    let is_required = |entry: &&Entry| required.iter().any(|object| object.key == entry.key);
    inventory.current().filter(|entry| entry.is_used()).filter(is_required).map(|entry| entry.id.clone()).collect()
}

/// Whether an object outside is that of one in state which was deleted outside Terraform. The inputs of the state do
/// not contain it then.
pub(super) fn is_of_missing(inventory: &Inventory, to: &Outside) -> bool {
    inventory.entries.iter().any(|entry| !entry.is_present() && to.is_named_by(&entry.applied))
}

/// The private state of an apply that has started nothing: that of the plan, without what the plan began to use.
pub(super) fn before_use(prior: &Value, planned: Vec<u8>) -> Vec<u8> {
    if prior.is_null() {
        return Vec::new();
    }
    let Some(mut private) = Private::decode(&planned) else { return planned };
    private.inventory.entries.retain(|entry| !is_new(prior, entry));
    private.encode()
}

/// Whether a plan begins to use an object that the state before it does not contain. Its slot there may be another one.
pub(super) fn is_new(prior: &Value, entry: &Entry) -> bool {
    let mut objects = prior.get("aws_objects").as_map().into_iter().flatten();
    let is_it = |(slot, id): (&String, &Value)| id.as_str() == Some(&entry.id) && entry.can_be_in(slot);
    entry.is_used() && !objects.any(is_it)
}

/// Describes the used objects, by ID, for `unmanaged_objects`.
pub(super) fn described(private: &Private) -> impl Iterator<Item = (String, String)> {
    private.inventory.current().filter(|entry| entry.is_used()).map(|entry| {
        let slot = &entry.key.slot;
        let text = format!(
            "{slot}, used and not owned: it existed before this resource, which never changes or deletes it. {slot:?} = \
             {:?} in adopt takes it over.",
            entry.id
        );
        (entry.id.clone(), text)
    })
}

/// Stops using the objects that `adopt` names, so that the plan adopts them.
pub(super) fn leave_named<P: Topology>(config: &P::Config, private: &mut Private) {
    let Input::Known(adopt) = P::adopt(config) else { return };
    let is_named = |entry: &Entry| adopt.get(&entry.key.slot).and_then(|id| id.known()) == Some(&entry.id);
    let left = private.inventory.entries.extract_if(.., |entry| entry.is_used() && is_named(entry));
    private.used_before = left.collect();
}

/// The problems of a configuration that requires changes of used objects. If the owner has changed one, that is none.
pub(super) fn changed<P: Topology>(
    config: &P::Config,
    scope: &Scope,
    inventory: &Inventory,
    required: &[Object],
) -> Vec<Problem> {
    if !inventory.current().any(Entry::is_used) {
        return Vec::new();
    }
    let references = P::references(config, scope);
    let problem = |object: &Object| {
        let entry = inventory.current().find(|entry| entry.key == object.key && entry.is_used())?;
        let differences = object.spec.differences_in_use(entry.observed().unwrap_or(&entry.applied));
        let is_new = !object.spec.differences_in_use(&entry.applied).is_empty();
        let reference = of_slot(&references, &object.key.slot)?;
        (is_new && !differences.is_empty()).then(|| cannot_change(reference, &differences))
    };
    required.iter().filter_map(problem).collect()
}

/// The reference to the existing object that a create at this slot would find.
pub(super) fn of_slot<'a>(references: &'a [Reference], slot: &str) -> Option<&'a Reference> {
    references.iter().find(|it| it.to.may_be_used() && it.to.slot() == Some(slot))
}
