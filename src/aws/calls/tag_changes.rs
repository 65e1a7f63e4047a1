//! The tag changes of an update.

use std::collections::BTreeMap;

use super::ownership;
use crate::aws::calls::Operation;
use crate::cloud::Failure;
use crate::model::Input;
use crate::model::Tags;

/// The tags to set and the keys to remove. Keys that the provider never set are in neither.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct TagChanges {
    /// New keys, and keys with another value.
    pub(crate) set: BTreeMap<String, String>,
    /// Keys that are no longer configured.
    pub(crate) remove: Vec<String>,
}

impl TagChanges {
    /// The changes from the current tags, without unmanaged ones, to the configured ones.
    pub(crate) fn between(operation: &Operation<'_>, from: &Tags, to: &Tags) -> Result<TagChanges, Failure> {
        let (before, wanted) = (operation.own_tags(from)?, operation.own_tags(to)?);
        let remove = before.keys().filter(|key| !wanted.contains_key(*key)).cloned().collect();
        let set = wanted.into_iter().filter(|(key, value)| before.get(key) != Some(value)).collect();
        Ok(TagChanges { set, remove })
    }
}

/// The tags that AWS returns for an object, without the ownership tags and those that AWS sets.
pub(crate) fn shown<'a>(tags: impl IntoIterator<Item = (&'a String, &'a String)>) -> Tags {
    let own = tags.into_iter().filter(|(key, _)| ownership::is_configurable(key));
    Input::Known(own.map(|(key, value)| (key.clone(), Input::Known(value.clone()))).collect())
}
