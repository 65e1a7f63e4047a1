//! Inputs that are properties of objects. Each topology has one table of them, which an import and a refresh read.

use crate::model::{Entry, Inventory, Key, Spec};
use crate::plugin::Value;

/// Which specs of the objects to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// The specs as applied, including those of objects that no longer exist.
    Recorded,
    /// The specs as applied, of the objects that exist.
    Applied,
    /// The current specs.
    Current,
}

/// The objects of an inventory that are not pending deletion, in one view.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    pub(super) inventory: &'a Inventory,
    pub(super) view: View,
}

impl<'a> Found<'a> {
    /// The current specs.
    pub(super) fn now(inventory: &'a Inventory) -> Found<'a> {
        Found { inventory, view: View::Current }
    }

    pub(super) fn specs(self) -> impl Iterator<Item = (&'a Key, &'a Spec)> {
        let kept = self.inventory.entries.iter().filter(|entry| !entry.pending_deletion);
        let spec = move |entry: &'a Entry| match self.view {
            View::Recorded => Some(&entry.applied),
            View::Applied => entry.is_present().then_some(&entry.applied),
            View::Current => entry.is_present().then(|| entry.spec()),
        };
        kept.filter_map(move |entry| Some((&entry.key, spec(entry)?)))
    }

    /// All objects of one kind.
    pub(super) fn all<K: 'a>(self, kind: fn(&Spec) -> Option<&K>) -> impl Iterator<Item = &'a K> {
        self.specs().filter_map(move |(_, spec)| kind(spec))
    }

    /// A property of all objects of one kind.
    pub(super) fn each<K: 'a, T: Clone + Into<Value>>(
        self,
        kind: fn(&Spec) -> Option<&K>,
        property: fn(&K) -> &T,
    ) -> Vec<Value> {
        self.all(kind).map(|it| property(it).clone().into()).collect()
    }
}

/// One input that is a property of objects.
pub(super) struct Mirrored {
    input: &'static str,
    of: fn(Found<'_>) -> Vec<Value>,
    import: fn(Found<'_>, Vec<Value>) -> Option<Value>,
    deleted: Option<&'static Value>,
}

impl Mirrored {
    /// The input with this name, whose value each object with the property gives. An import takes that of the first
    /// one.
    pub(super) const fn new(input: &'static str, of: fn(Found<'_>) -> Vec<Value>) -> Mirrored {
        Mirrored { input, of, import: first, deleted: None }
    }

    /// An import computes its value from those of all objects, or leaves the default.
    pub(super) const fn imported_as(self, import: fn(Found<'_>, Vec<Value>) -> Option<Value>) -> Mirrored {
        Mirrored { import, ..self }
    }

    /// It gets this value if all of its objects were deleted outside Terraform.
    pub(super) const fn if_deleted(self, value: &'static Value) -> Mirrored {
        Mirrored { deleted: Some(value), ..self }
    }

    /// Sets the input for an import.
    pub(super) fn import(&self, inventory: &Inventory, attributes: &mut Value) {
        let found = Found::now(inventory);
        if let Some(value) = (self.import)(found, (self.of)(found)) {
            attributes.set(self.input, value);
        }
    }

    /// Changes the input to the value that its objects have now, if it differs from that of the last apply.
    pub(super) fn reflect(&self, inventory: &Inventory, state: &mut Value) {
        let has = |view| !(self.of)(Found { inventory, view }).is_empty();
        match self.deleted {
            Some(value) if has(View::Recorded) && !has(View::Current) => state.set(self.input, value.clone()),
            _ => {
                if let Some(value) = changed(inventory, self.of) {
                    state.set(self.input, value);
                }
            }
        }
    }
}

/// The new value of a property, if all objects that have it agreed on the old value and agree on another one now.
pub(super) fn changed(inventory: &Inventory, property: impl Fn(Found<'_>) -> Vec<Value>) -> Option<Value> {
    let agreed = |view| {
        let mut values = property(Found { inventory, view }).into_iter();
        let first = values.next()?;
        values.all(|value| value == first).then_some(first)
    };
    let (before, now) = (agreed(View::Applied)?, agreed(View::Current)?);
    (before != now).then_some(now)
}

fn first(_: Found<'_>, values: Vec<Value>) -> Option<Value> {
    values.into_iter().next()
}
