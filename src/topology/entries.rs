//! Maps of entries with free names, each of which is an object in the slot with its name.

use std::collections::BTreeMap;

use super::mirrored::Found;
use crate::model::{Entry, Input, Inventory, Spec, only};
use crate::plugin::{AttributePath, Problem, Value};

/// A map of entries.
pub(super) struct Entries {
    /// The name of the input.
    pub(super) input: &'static str,
    /// The start of the slots.
    pub(super) slots: &'static str,
    /// An entry with its article, for messages.
    pub(super) what: &'static str,
}

impl Entries {
    /// The path of an entry.
    pub(super) fn path(&self, name: &str) -> AttributePath {
        AttributePath::new(self.input).key(name)
    }

    /// The slot of an entry.
    pub(super) fn slot(&self, name: &str) -> String {
        format!("{}{name}", self.slots)
    }

    /// The name of the entry whose object is in a slot.
    pub(super) fn name<'a>(&self, slot: &'a str) -> Option<&'a str> {
        slot.strip_prefix(self.slots).filter(|name| is_name(name))
    }

    /// The names that cannot be parts of slots.
    pub(super) fn problems<T>(&self, entries: &Input<BTreeMap<String, T>>) -> Vec<Problem> {
        let names = entries.known().into_iter().flat_map(BTreeMap::keys).filter(|name| !is_name(name));
        let problem = |name: &String| {
            let message = format!("{name:?} is not a name of {}.", self.what);
            Problem::new(self.path(name), message, "Use only lowercase letters, digits, ., _ and -.")
        };
        names.map(problem).collect()
    }

    /// The first free slot for a foreign object with this name or ARN. Of an ARN, only the last part counts.
    pub(super) fn slot_of(&self, text: &str, is_used: impl Fn(&str) -> bool) -> String {
        let last = text.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default().to_lowercase();
        let name: String = last.chars().map(|it| if is_in_name(it) { it } else { '-' }).collect();
        let slot = self.slot(Some(name.trim_matches('-')).filter(|name| !name.is_empty()).unwrap_or("unnamed"));
        let numbered = (2..).map(|number| format!("{slot}-{number}"));
        std::iter::once(slot.clone()).chain(numbered).find(|slot| !is_used(slot)).unwrap_or(slot)
    }

    /// Sets the map for an import. `entry` encodes the entry of an object.
    pub(super) fn import(&self, found: Found<'_>, attributes: &mut Value, entry: impl Fn(&Spec) -> Option<Value>) {
        let entry = |slot: &str, spec: &Spec| Some((self.name(slot)?.to_string(), entry(spec)?));
        let entries = found.specs().filter_map(|(key, spec)| entry(&key.slot, spec));
        attributes.set(self.input, Value::Map(entries.collect()));
    }

    /// Removes the entries of objects that were deleted outside Terraform. `update` changes those of the others.
    pub(super) fn reflect(&self, inventory: &Inventory, state: &mut Value, update: impl Fn(&str, &mut Value)) {
        let Some(mut entries) = state.get(self.input).as_map().cloned() else { return };
        entries.retain(|name, _| entry_at(inventory, &self.slot(name)).is_none_or(Entry::is_present));
        for (name, entry) in &mut entries {
            update(name, entry);
        }
        state.set(self.input, Value::Map(entries));
    }
}

/// The spec of the object in a slot, if it was changed outside Terraform.
pub(super) fn drifted<'a>(inventory: &'a Inventory, slot: &str) -> Option<&'a Spec> {
    entry_at(inventory, slot).and_then(Entry::drifted)
}

fn entry_at<'a>(inventory: &'a Inventory, slot: &str) -> Option<&'a Entry> {
    inventory.entries.iter().find(|entry| entry.key.slot == slot)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_in_name)
}

fn is_in_name(character: char) -> bool {
    !character.is_ascii_uppercase() && only(character.encode_utf8(&mut [0; 4]), "._-")
}
