//! The user-visible state: configured attributes, outputs and the inventory.

use std::collections::BTreeMap;

use super::location;
use super::observe::drift;
use super::private_state::Private;
use super::status::{self, Status};
use crate::model::{Entry, GuardDutyObjects, Inventory, Object, Scope};
use crate::plugin::schema::{with_defaults, with_shown_defaults};
use crate::plugin::{Attribute, AttributePath, Input, Nested, Problem, Type, Value};
use crate::topology::Topology;

/// The computed attributes that every topology has.
pub(super) fn common_attributes(root_kind: &str) -> Vec<Attribute> {
    let map = || Type::Map(Box::new(Type::String));
    vec![
        Attribute::computed("id", Type::String, &format!("ID of the {root_kind}.")),
        Attribute::computed(
            "aws_objects",
            map(),
            "AWS IDs of all objects of this resource by key, except those in `pending_deletion`. A plan shows here \
             which objects it creates and deletes.",
        ),
        Attribute::computed(
            "drift",
            map(),
            "Differences between AWS and the last apply, by object key: objects that were changed or deleted outside \
             Terraform, and changes that a failed apply did not make. Empty if there are none. The next apply corrects \
             the listed differences.",
        ),
        Attribute::computed(
            "pending_deletion",
            map(),
            "AWS IDs, by key, of the objects that an update could not delete because they were still in use. The next \
             apply deletes them.",
        ),
        Attribute::computed(
            "unmanaged_objects",
            map(),
            "Objects that a read finds by the ownership tags of this resource and that are not in state, by AWS ID, each \
             with the reason and what to do. An interrupted run created them, or someone else tagged them. An apply \
             takes over those that the configuration requires and that nothing unmanaged uses, and the plan lists them \
             first. It never changes or deletes the others. After an import of something that was built without this \
             provider, also the objects that cannot be adopted; later, the subnets that use an adopted main route table \
             and are not managed. Also the objects that an apply has left in AWS because unmanaged objects use them, such \
             as an integration of an unmanaged route. And the log groups that this resource uses without owning them.",
        ),
        Attribute::computed(
            "tags_all",
            map(),
            &format!("Tags of the {root_kind} that this resource manages, with `default_tags` of the provider."),
        ),
    ]
}

/// The attributes of the resource.
pub(super) fn attributes<P: Topology>() -> Vec<Attribute> {
    let mut attributes = P::Config::attributes();
    attributes.push(location::attribute());
    attributes.extend(common_attributes(P::KIND.root_kind()));
    attributes.push(status::attribute(P::KIND.root_kind()));
    attributes.extend(P::outputs_schema());
    attributes
}

/// The name that the user gave, for messages.
pub(super) fn name<P: Topology>(config: &P::Config) -> String {
    match P::name(config) {
        Input::Known(name) => name.clone(),
        Input::Unknown => "(known after apply)".to_string(),
    }
}

/// Decodes a configuration, or the configured part of a state. Returns it with the defaults that Terraform shows, too.
pub(super) fn decode<P: Topology>(value: &Value) -> Result<(Value, P::Config), Vec<Problem>> {
    let (attributes, value) = (P::Config::attributes(), &P::with_derived(value));
    let mut problems = Vec::new();
    match P::Config::decode(&with_defaults(&attributes, value), &AttributePath::root(), &mut problems) {
        Some(config) if problems.is_empty() => Ok((with_shown_defaults(&attributes, value), config)),
        _ => Err(problems),
    }
}

/// What a destroy of the objects in this state does with those of GuardDuty. Terraform passes it no configuration.
pub(super) fn guardduty_in_destroy<P: Topology>(state: &Value) -> GuardDutyObjects {
    decode::<P>(state).map_or(GuardDutyObjects::Keep, |(_, config)| P::guardduty_in_destroy(&config))
}

/// Returns a state in which every attribute is null.
pub(super) fn empty<P: Topology>() -> Value {
    Value::Map(attributes::<P>().into_iter().map(|attribute| (attribute.name, Value::Null)).collect())
}

/// Returns the configured attributes of a value, without the computed ones.
pub(super) fn configured<P: Topology>(value: &Value) -> Value {
    Value::map(P::Config::attributes().into_iter().map(|attribute| {
        let given = value.get(&attribute.name).clone();
        (attribute.name, given)
    }))
}

/// Returns the attributes that a configuration is compared with: those last applied in full or, after an import, those
/// that reproduce the imported objects. `prior` is the state. `configuration` contains the defaults.
pub(super) fn last_applied<P: Topology>(private: Option<&Private>, prior: &Value, configuration: &Value) -> Value {
    if let Some(last_applied) = private.and_then(|private| private.last_applied.clone()) {
        return last_applied;
    }
    let mut attributes = configured::<P>(prior);
    if let Some(private) = private.filter(|private| private.imported) {
        P::take_as_applied(&mut attributes, configuration, &private.inventory);
    }
    attributes
}

/// Builds the state from a private state. `attributes` are the configured ones. The result contains no unknown values.
pub(super) fn of_private<P: Topology>(
    attributes: &Value,
    config: Option<&P::Config>,
    root_id: &str,
    private: &Private,
    scope: &Scope,
) -> Value {
    let inventory = &private.inventory;
    let mut state = empty::<P>();
    merge(&mut state, &configured::<P>(attributes));
    state.set("id", root_id.into());
    state.set("aws_objects", aws_objects(inventory).into());
    state.set("pending_deletion", pending_deletion(inventory).into());
    state.set("drift", drift(private, P::KIND.root()).into());
    Status::of(private).write(&mut state);
    location::write(Some(scope), &mut state);
    if let Some(config) = config {
        let shown = |entry: &Entry| Some(Object::new(entry.key.clone(), entry.shown()?.clone()));
        let objects: Vec<Object> = inventory.current().filter_map(shown).collect();
        for (name, value) in P::outputs(config, Some(&objects), &inventory.ids(), Some(scope)) {
            state.set(&name, value);
        }
        let tags = inventory.at(P::KIND.root()).and_then(|root| root.shown()?.tags().cloned());
        state.set("tags_all", tags.map(|tags| P::in_tags_all(config, tags)).into());
    }
    state.without_unknowns()
}

/// Returns the planned tags of the root: `default_tags` merged with those of the resource, without the ignored tags.
/// Unknown without a scope.
pub(super) fn tags_all<P: Topology>(config: &P::Config, scope: Option<&Scope>) -> Value {
    scope.map_or(Value::Unknown, |scope| P::root_tags(config, scope).into())
}

fn aws_objects(inventory: &Inventory) -> BTreeMap<String, String> {
    by_slot(inventory.current().filter(|entry| !entry.is_foreign()))
}

fn pending_deletion(inventory: &Inventory) -> BTreeMap<String, String> {
    by_slot(inventory.present().filter(|entry| entry.pending_deletion))
}

pub(super) fn by_slot<'a>(entries: impl Iterator<Item = &'a Entry>) -> BTreeMap<String, String> {
    let mut map = BTreeMap::new();
    for entry in entries {
        // Two objects have the same slot while the deletion of a replaced one is pending.
        let key = match map.contains_key(&entry.key.slot) {
            true => format!("stray.{}", entry.id),
            false => entry.key.slot.clone(),
        };
        map.insert(key, entry.id.clone());
    }
    map
}

fn merge(state: &mut Value, attributes: &Value) {
    for (name, value) in attributes.as_map().into_iter().flatten() {
        state.set(name, value.clone());
    }
}
