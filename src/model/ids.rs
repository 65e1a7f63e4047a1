//! The AWS IDs of objects, and what else their dependents need of them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Key, Learned, Ref};
use crate::plugin::{Input, Value};

/// The ID of an object and further values that AWS returned, for objects that refer to it.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedObject {
    /// Its AWS ID.
    pub id: String,
    /// Further values that AWS returned for it.
    pub learned: Learned,
}

/// IDs by key. A plan starts with the IDs of the objects that are kept; an apply adds those of the objects that it
/// creates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ids {
    objects: BTreeMap<Key, ResolvedObject>,
    /// The objects of which AWS may return further values during the apply.
    incomplete: BTreeSet<Key>,
}

impl FromIterator<(Key, ResolvedObject)> for Ids {
    fn from_iter<T: IntoIterator<Item = (Key, ResolvedObject)>>(objects: T) -> Ids {
        Ids { objects: objects.into_iter().collect(), incomplete: BTreeSet::new() }
    }
}

impl Ids {
    /// The ID of an object and further values.
    pub fn get(&self, key: &Key) -> Option<&ResolvedObject> {
        self.objects.get(key)
    }

    /// Adds or replaces an object.
    pub fn insert(&mut self, key: Key, resolved: ResolvedObject) {
        self.objects.insert(key, resolved);
    }

    /// Removes an object.
    pub fn remove(&mut self, key: &Key) {
        self.objects.remove(key);
    }

    /// Forgets what AWS has created for an object, because a change lets AWS create it again.
    pub fn forget_created_with(&mut self, key: &Key) {
        if let Some(object) = self.objects.get_mut(key) {
            object.learned.endpoint = None;
        }
    }

    /// Every object, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &ResolvedObject)> {
        self.objects.iter()
    }

    /// The AWS ID of a reference; `None` if its object does not exist yet.
    pub fn resolve<'a>(&'a self, reference: &'a Ref) -> Option<&'a str> {
        match reference {
            Ref::Key(key) => self.get(key).map(|resolved| resolved.id.as_str()),
            Ref::Id(id) => Some(id),
        }
    }

    /// The ID of an object as an output value: unknown until the object exists.
    pub fn id(&self, key: &Key) -> Value {
        self.get(key).map_or(Value::Unknown, |resolved| resolved.id.as_str().into())
    }

    /// Marks an object whose creation has not finished: a value that AWS has not returned yet may become known.
    pub fn mark_incomplete(&mut self, key: &Key) {
        self.incomplete.insert(key.clone());
    }

    /// A further value of an object as an output value: unknown until the object is complete, null if AWS did not
    /// return the value.
    pub fn learned(&self, key: &Key, name: &str) -> Value {
        let value = self.get(key).map(|resolved| resolved.learned.get(name).cloned());
        match value {
            Some(None) if self.incomplete.contains(key) => Value::Unknown,
            Some(value) => value.into(),
            None => Value::Unknown,
        }
    }

    /// The ID of an object, for a text that contains it, such as an ARN.
    pub fn input(&self, key: &Key) -> Input<String> {
        self.get(key).map_or(Input::Unknown, |resolved| Input::Known(resolved.id.clone()))
    }
}
