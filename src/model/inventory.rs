//! What exists: the objects of one topology with their AWS ids, as state keeps them.

use std::collections::BTreeMap;
use std::mem::Discriminant;

use serde::{Deserialize, Serialize};

use super::{Key, Learned, Ref, Spec};
use crate::plugin::{Input, Value};

/// One existing object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its identity.
    pub key: Key,
    /// Its id in AWS.
    pub id: String,
    /// What we last set on it. Tags hold the keys that we set, no others.
    pub applied: Spec,
    /// What it looks like, where that is not as applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Spec>,
    /// Gone behind our back. Kept so that the drift stays visible until it is mended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
    /// Whether what the two fields above say is ignored, because the user leaves it to others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignored: bool,
    /// Made, but not finished: its create failed after AWS had answered with an id.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// Should have been deleted, but was still in use.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pending_deletion: bool,
    /// Found in AWS without any record of what we set on it, so that its tags may be anybody's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopted: bool,
    /// What else AWS told about it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub learned: Learned,
}

/// All existing objects of one topology.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inventory {
    /// The objects, in the order of their creation.
    pub entries: Vec<Entry>,
}

/// An object's id and what else AWS told, for those that refer to it.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedObject {
    /// Its id in AWS.
    pub id: String,
    /// What else AWS told about it.
    pub learned: Learned,
}

/// Ids by key. At plan it holds those of objects that stay; at apply it grows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ids(BTreeMap<Key, ResolvedObject>);

impl Entry {
    /// A newly made object.
    pub fn new(key: Key, id: impl Into<String>, applied: Spec) -> Entry {
        Entry {
            key,
            id: id.into(),
            applied,
            observed: None,
            gone: false,
            ignored: false,
            unfinished: false,
            pending_deletion: false,
            adopted: false,
            learned: Learned::new(),
        }
    }

    /// What it looks like now, as far as we know and may mind.
    pub fn spec(&self) -> &Spec {
        self.drifted().unwrap_or(&self.applied)
    }

    /// What it looks like, where that is not as applied and not ignored.
    pub fn drifted(&self) -> Option<&Spec> {
        self.observed.as_ref().filter(|_| !self.ignored)
    }

    /// Whether it is there, or counts as there because its absence is ignored.
    pub fn is_present(&self) -> bool {
        !self.gone || self.ignored
    }

    /// What tells it from all else in AWS: its kind and its id. Kinds that AWS knows by names alone may share these.
    pub fn kind_and_id(&self) -> (Discriminant<Spec>, &str) {
        (std::mem::discriminant(&self.applied), &self.id)
    }

    /// What it looks like now, as far as it is ours to compare with what is wanted. Of an object that was found without
    /// a record of what we set, only what is wanted counts as ours: of its tags and its propagating gateways.
    pub fn normalized_against(&self, wanted: &Spec) -> Spec {
        let mut spec = self.spec().clone();
        if self.adopted {
            if let (Some(Input::Known(wanted)), Some(Input::Known(tags))) = (wanted.tags(), spec.tags_mut()) {
                tags.retain(|key, _| wanted.contains_key(key));
            }
            spec.mask_unowned(wanted);
        }
        spec
    }
}

impl Inventory {
    /// The objects that exist, those that are leaving included.
    pub fn present(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.is_present())
    }

    /// The ids of the objects that exist and stay.
    pub fn ids(&self) -> Ids {
        Ids(self
            .present()
            .filter(|entry| !entry.pending_deletion)
            .map(|entry| (entry.key.clone(), ResolvedObject { id: entry.id.clone(), learned: entry.learned.clone() }))
            .collect())
    }

    /// The object that fills a slot, if it exists and stays.
    pub fn at(&self, slot: &str) -> Option<&Entry> {
        self.present().find(|entry| entry.key.slot == slot && !entry.pending_deletion)
    }
}

impl Ids {
    /// The object's id and what else is known of it.
    pub fn get(&self, key: &Key) -> Option<&ResolvedObject> {
        self.0.get(key)
    }

    /// Records an object.
    pub fn insert(&mut self, key: Key, made: ResolvedObject) {
        self.0.insert(key, made);
    }

    /// Forgets an object.
    pub fn remove(&mut self, key: &Key) {
        self.0.remove(key);
    }

    /// Every object, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &ResolvedObject)> {
        self.0.iter()
    }

    /// The id that a reference stands for.
    pub fn resolve<'a>(&'a self, reference: &'a Ref) -> Option<&'a str> {
        match reference {
            Ref::Key(key) => self.get(key).map(|made| made.id.as_str()),
            Ref::Id(id) => Some(id),
        }
    }

    /// The object's id as an output: unknown until it is made.
    pub fn id(&self, key: &Key) -> Value {
        self.get(key).map_or(Value::Unknown, |made| made.id.as_str().into())
    }

    /// Something that AWS told about an object, as an output: unknown until it is made, null where AWS did not
    /// tell it.
    pub fn learned(&self, key: &Key, name: &str) -> Value {
        self.get(key).map_or(Value::Unknown, |made| made.learned.get(name).cloned().into())
    }

    /// The object's id for text that contains it, such as an ARN.
    pub fn input(&self, key: &Key) -> Input<String> {
        self.get(key).map_or(Input::Unknown, |made| Input::Known(made.id.clone()))
    }
}
