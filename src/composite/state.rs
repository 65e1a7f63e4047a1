//! The state that users see: configured attributes, outputs, and the inventory.

use std::collections::BTreeMap;

use crate::model::Scope;
use crate::model::{Entry, Inventory, Object};
use crate::plugin::schema::with_defaults;
use crate::plugin::{Attribute, AttributePath, Input, Nested, Problem, Type, Value};
use crate::topology::Topology;

/// The computed attributes that every product has.
pub(super) fn common_attributes() -> Vec<Attribute> {
    let map = || Type::Map(Box::new(Type::String));
    vec![
        Attribute::computed("id", Type::String, "Id of the root object in AWS: the VPC id or the API id."),
        Attribute::computed(
            "aws_objects",
            map(),
            "The whole inventory: every AWS object of this resource by key, with its AWS id. The plan shows here which \
             objects come and go.",
        ),
        Attribute::computed(
            "drift",
            map(),
            "What differs in AWS from what was applied, by object key, in words. Empty when in sync. An apply mends \
             what is listed here.",
        ),
        Attribute::computed(
            "pending_deletion",
            map(),
            "Objects that an update could not delete yet because something still uses them, by key, with their AWS id. \
             The next apply tries again.",
        ),
        Attribute::computed(
            "tags_all",
            map(),
            "The tags of the root object: `default_tags` of the provider and its own.",
        ),
    ]
}

/// The name that the user gave, for messages.
pub(super) fn name<P: Topology>(config: &P::Config) -> String {
    match P::name(config) {
        Input::Known(name) => name.clone(),
        Input::Unknown => "(known after apply)".to_string(),
    }
}

/// Fills in defaults and decodes a configuration, or the configured part of a state.
pub(super) fn decode<P: Topology>(value: &Value) -> Result<(Value, P::Config), Vec<Problem>> {
    let filled = with_defaults(&P::Config::attributes(), value);
    let mut problems = Vec::new();
    match P::Config::decode(&filled, &AttributePath::root(), &mut problems) {
        Some(config) if problems.is_empty() => Ok((filled, config)),
        _ => Err(problems),
    }
}

/// A state in which every attribute is null.
pub(super) fn empty<P: Topology>() -> Value {
    let mut attributes = P::Config::attributes();
    attributes.extend(common_attributes());
    attributes.extend(P::outputs_schema());
    Value::Map(attributes.into_iter().map(|attribute| (attribute.name, Value::Null)).collect())
}

/// The configured attributes of a value, with every computed attribute left out.
pub(super) fn configured<P: Topology>(value: &Value) -> Value {
    Value::map(P::Config::attributes().into_iter().map(|attribute| {
        let given = value.get(&attribute.name).clone();
        (attribute.name, given)
    }))
}

/// The state that an inventory amounts to. `attributes` are the configured ones; nothing in the result is unknown.
pub(super) fn of_inventory<P: Topology>(
    attributes: &Value,
    config: Option<&P::Config>,
    root_id: &str,
    inventory: &Inventory,
    drift: BTreeMap<String, String>,
    scope: &Scope,
) -> Value {
    let mut state = empty::<P>();
    merge(&mut state, &configured::<P>(attributes));
    state.set("id", root_id.into());
    state.set("aws_objects", aws_objects(inventory).into());
    state.set("pending_deletion", pending_deletion(inventory).into());
    state.set("drift", drift.into());
    if let Some(config) = config {
        let objects: Vec<Object> = inventory
            .present()
            .filter(|entry| !entry.pending_deletion)
            .map(|entry| Object::new(entry.key.clone(), entry.spec().clone()))
            .collect();
        for (name, value) in P::outputs(config, Some(&objects), &inventory.ids(), Some(scope)) {
            state.set(&name, value);
        }
        state.set("tags_all", tags_all::<P>(config, Some(scope)));
    }
    state.without_unknowns()
}

/// `default_tags` with the resource's own tags, less those that others manage.
pub(super) fn tags_all<P: Topology>(config: &P::Config, scope: Option<&Scope>) -> Value {
    scope.map_or(Value::Unknown, |scope| scope.tags(&P::own_tags(config)).into())
}

fn aws_objects(inventory: &Inventory) -> BTreeMap<String, String> {
    by_slot(inventory.present().filter(|entry| !entry.pending_deletion))
}

fn pending_deletion(inventory: &Inventory) -> BTreeMap<String, String> {
    by_slot(inventory.present().filter(|entry| entry.pending_deletion))
}

fn by_slot<'a>(entries: impl Iterator<Item = &'a Entry>) -> BTreeMap<String, String> {
    let mut map = BTreeMap::new();
    for entry in entries {
        // Two objects may have one place, while one of them leaves it.
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
