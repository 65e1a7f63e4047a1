//! The references of an object to others, which are replaced when it becomes known whether those are managed.

use std::collections::BTreeMap;

use super::Spec;
use crate::model::{Key, Ref};

impl Spec {
    /// Refers to these unmanaged objects by their IDs instead of their keys. A list of references then leaves them out,
    /// because unmanaged objects in it are not drift. Returns the keys of those.
    pub fn refer_by_id(&mut self, unmanaged: &BTreeMap<Key, String>) -> Vec<Key> {
        for reference in self.references_mut() {
            if let Ref::Key(key) = reference
                && let Some(id) = unmanaged.get(key)
            {
                *reference = Ref::Id(id.clone());
            }
        }
        let Some(list) = self.list_mut() else { return Vec::new() };
        let is_left_out = |it: &mut Ref| matches!(it, Ref::Key(key) if unmanaged.contains_key(key));
        let keys = list.extract_if(.., is_left_out).filter_map(|it| match it {
            Ref::Key(key) => Some(key),
            Ref::Id(_) => None,
        });
        keys.collect()
    }

    /// Whether it connects a managed object with an unmanaged one, so that it is unmanaged itself.
    pub fn leads_to_unmanaged(&self) -> bool {
        self.leads_to().into_iter().any(|target| matches!(target, Ref::Id(_)))
    }

    /// Adds a managed object to a list of references.
    pub fn add_reference(&mut self, key: &Key) {
        if let Some(list) = self.list_mut() {
            list.push(Ref::Key(key.clone()));
            list.sort();
        }
    }

    /// Refers to these managed objects by their keys instead of their IDs.
    pub fn refer_by_key(&mut self, managed: &BTreeMap<String, Key>) {
        for reference in self.references_mut() {
            if let Ref::Id(id) = reference
                && let Some(key) = managed.get(id)
            {
                *reference = Ref::Key(key.clone());
            }
        }
    }
}
