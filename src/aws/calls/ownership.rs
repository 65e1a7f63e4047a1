//! The tags that say whose an object is. They are set by the call that creates it, so that nothing a killed run
//! leaves is anonymous, and hidden from outputs and drift.

use std::collections::BTreeMap;

use crate::aws::calls::Operation;
use crate::cloud::{Failure, Root, RootState};
use crate::model::Tags;
use crate::model::TopologyKind;

/// Names the topology: `<product>/<name>` on a root, `<product>/<root id>` on every other object.
pub(crate) const RESOURCE: &str = "fgw:resource";
/// An object's key in `aws_objects`. Not on roots.
pub(crate) const OBJECT: &str = "fgw:object";
/// How far a root's creation got. On roots only.
pub(crate) const STATE: &str = "fgw:state";

/// Whether a tag is one of ours.
pub(crate) fn is_ownership(key: &str) -> bool {
    key.starts_with("fgw:")
}

/// The value of [`RESOURCE`] for a root of this name, or for the objects below a root of this id.
pub(crate) fn resource(owner: TopologyKind, name_or_root_id: &str) -> String {
    format!("{}/{name_or_root_id}", owner.name())
}

/// A root with these tags; `None` where it is not one that a provider of ours has made.
pub(crate) fn root(owner: TopologyKind, id: &str, mut tags: BTreeMap<String, String>) -> Option<Root> {
    let name = tags.get(RESOURCE)?.strip_prefix(&resource(owner, ""))?.to_string();
    let state = tags.get(STATE).and_then(|state| state_in(state));
    tags.retain(|key, _| !is_ownership(key));
    Some(Root { id: id.to_string(), name, tags, state })
}

/// Roots in an order that AWS does not decide.
pub(crate) fn by_id(roots: impl Iterator<Item = Root>) -> Vec<Root> {
    let mut roots: Vec<Root> = roots.collect();
    roots.sort_by(|a, b| a.id.cmp(&b.id));
    roots
}

/// The value of [`STATE`].
pub(crate) fn state(state: RootState) -> &'static str {
    state.as_str()
}

/// What a value of [`STATE`] says; `None` for a text that is none of ours.
pub(crate) fn state_in(value: &str) -> Option<RootState> {
    [RootState::Creating, RootState::Ready, RootState::Incomplete].into_iter().find(|it| state(*it) == value)
}

/// The tags that the creating call of an object below the root sets: its own, and whose it is.
pub(crate) fn tags_on_create(operation: &Operation<'_>, own: &Tags) -> Result<BTreeMap<String, String>, Failure> {
    let mut tags = operation.own_tags(own)?;
    tags.insert(RESOURCE.into(), resource(operation.work.owner, operation.root_id()?));
    tags.insert(OBJECT.into(), operation.key.slot.clone());
    Ok(tags)
}

/// The tags that the creating call of a root sets.
pub(crate) fn tags_on_create_root(
    operation: &Operation<'_>,
    own: &Tags,
    name: &str,
) -> Result<BTreeMap<String, String>, Failure> {
    let mut tags = operation.own_tags(own)?;
    tags.insert(RESOURCE.into(), resource(operation.work.owner, name));
    tags.insert(STATE.into(), state(RootState::Creating).into());
    Ok(tags)
}
