//! Maps of entries with free names, each of which is an object in the slot with its name.

use std::collections::BTreeMap;

use super::mirrored::Found;
use crate::model::keys::{is_in_name, is_name, name_in};
use crate::model::{Entry, Input, Inventory, Spec};
use crate::plugin::{AttributePath, DROPS_NAMES, Problem, Step, Value};

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
        name_in(slot, self.slots)
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

    /// One warning in place of equal ones about several entries.
    pub(super) fn merged(&self, warnings: Vec<Problem>) -> Vec<Problem> {
        let mut merged: Vec<(Problem, Vec<String>)> = Vec::new();
        for warning in warnings {
            let entry = warning.path.0.get(1).and_then(|step| match step {
                Step::Key(name) => Some(format!("{name:?}")),
                _ => None,
            });
            let is_equal =
                |(it, _): &&mut (Problem, Vec<String>)| (&it.message, &it.hint) == (&warning.message, &warning.hint);
            match merged.iter_mut().find(is_equal) {
                Some((_, entries)) => entries.extend(entry),
                None => merged.push((warning, entry.into_iter().collect())),
            }
        }
        let named = |(warning, entries): (Problem, Vec<String>)| match entries.len() {
            0 | 1 => warning,
            _ => {
                let message = format!("{} This applies to: {}.", warning.message, entries.join(", "));
                Problem::new(AttributePath::new(self.input), message, warning.hint)
            }
        };
        merged.into_iter().map(named).collect()
    }

    /// The warning about new entries without an argument that another entry sets, because Terraform drops a misspelled
    /// name. `entries` has the names of entries, and whether they set the argument, if that is known. `effect` is a
    /// sentence about an entry without it.
    pub(super) fn lacking<'a>(
        &self,
        argument: &str,
        entries: impl Iterator<Item = (&'a String, Option<bool>)>,
        existing: &Inventory,
        effect: &str,
    ) -> Option<Problem> {
        let entries: Vec<(&String, Option<bool>)> = entries.collect();
        let sets_it = entries.iter().any(|(_, is_set)| *is_set == Some(true));
        let is_new = |name: &str| existing.at(&self.slot(name)).is_none();
        let lacks_it = entries.iter().filter(|(name, is_set)| *is_set == Some(false) && is_new(name));
        let lacking: Vec<String> = lacks_it.map(|(name, _)| format!("{name:?}")).collect();
        (sets_it && !lacking.is_empty()).then(|| {
            let message = format!(
                "These new entries do not set {argument}, and others do: {}. {effect} {DROPS_NAMES}",
                lacking.join(", ")
            );
            Problem::new(AttributePath::new(self.input), message, "If that is intended, apply.")
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRIES: Entries = Entries { input: "doors", slots: "door.", what: "a door" };

    #[test]
    fn equal_warnings_about_entries_become_one() {
        let of = |name: &str, message: &str| Problem::new(ENTRIES.path(name), message, "Wait.");
        let merged = ENTRIES.merged(vec![of("a", "It moves."), of("b", "It stays."), of("c", "It moves.")]);
        let texts: Vec<(String, &str)> = merged.iter().map(|it| (it.path.to_string(), it.message.as_str())).collect();
        let expected = [
            ("doors".to_string(), "It moves. This applies to: \"a\", \"c\"."),
            (ENTRIES.path("b").to_string(), "It stays."),
        ];
        assert_eq!(texts, expected);
    }
}
