//! What an update does to tags.

use std::collections::BTreeMap;

use super::ownership;
use crate::aws::calls::Operation;
use crate::cloud::Failure;
use crate::model::Input;
use crate::model::Tags;

/// The tags to set and the keys to remove. Keys that we never set are neither.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct TagChanges {
    /// New keys, and those with another value.
    pub(crate) set: BTreeMap<String, String>,
    /// Keys that are no longer wanted.
    pub(crate) remove: Vec<String>,
}

impl TagChanges {
    /// From what was set to what is wanted. Where it is not sure what was set, everything wanted is set, and all that
    /// may have been set and is not wanted is removed.
    pub(crate) fn between(operation: &Operation<'_>, from: Option<&Tags>, to: &Tags) -> Result<TagChanges, Failure> {
        let wanted = operation.own_tags(to)?;
        let before = match from {
            Some(tags) => operation.own_tags(tags)?,
            None => BTreeMap::new(),
        };
        let owned = match (from, operation.work.before.and_then(|before| before.tags())) {
            (None, Some(tags)) => operation.own_tags(tags)?,
            _ => before.clone(),
        };
        let remove = owned.keys().filter(|key| !wanted.contains_key(*key)).cloned().collect();
        let set = wanted.into_iter().filter(|(key, value)| before.get(key) != Some(value)).collect();
        Ok(TagChanges { set, remove })
    }
}

/// The tags of an object as AWS shows them, without those that say whose it is.
pub(crate) fn shown<'a>(tags: impl IntoIterator<Item = (&'a String, &'a String)>) -> Tags {
    let own = tags.into_iter().filter(|(key, _)| !ownership::is_ownership(key));
    Input::Known(own.map(|(key, value)| (key.clone(), Input::Known(value.clone()))).collect())
}
