//! The ownership tags, which identify the topology of an object. The call that creates an object sets them, so that the
//! objects of a killed run can be identified. Outputs and drift exclude them.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hasher, RandomState};

use crate::aws::calls::Operation;
use crate::cloud::{Cause, Failure, Root, RootState};
use crate::model::Input;
pub(crate) use crate::model::RESOURCE;
use crate::model::Tags;
use crate::model::TopologyKind;

/// The key of an object in `aws_objects`. Not on roots.
pub(crate) const OBJECT: &str = "fgw:object";
/// The progress of the creation of a root. Only on roots.
pub(crate) const STATE: &str = "fgw:state";

/// The call that created an object, for kinds whose create call takes no idempotency token. Nothing reads it later.
pub(crate) const REQUEST: &str = "fgw:request";

/// A new value of [`REQUEST`]: 128 bits from the keys of new hash maps, which the standard library chooses at random.
fn request() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

/// Why the ownership tags of an object forbid that a resource manages it under a slot. `resource` is the value of
/// [`RESOURCE`] for this resource, and `tag` returns the values of the object's tags.
pub(crate) fn reason_against<'a>(resource: &str, slot: &str, tag: impl Fn(&str) -> Option<&'a str>) -> Option<String> {
    if let Some(owner) = tag(RESOURCE).filter(|owner| *owner != resource) {
        return Some(format!("its tag fgw:resource is {owner:?}, so another resource manages it"));
    }
    tag(OBJECT).filter(|object| *object != slot).map(|object| format!("its tag fgw:object is {object:?}"))
}

/// Adds the tag [`REQUEST`], which only this call has, and returns its value. After a lost answer, the other tags do
/// not distinguish the object that this call has created from older ones, or from those that someone else has tagged.
pub(crate) fn add_request(tags: &mut BTreeMap<String, String>) -> String {
    let value = request();
    tags.insert(REQUEST.to_string(), value.clone());
    value
}

/// Whether an object with these tags was created by the call with this value of [`REQUEST`].
pub(crate) fn is_of_request(tags: Option<&HashMap<String, String>>, request: &str) -> bool {
    tags.and_then(|tags| tags.get(REQUEST)).is_some_and(|value| value == request)
}

/// Whether a tag can be one that a user configured: neither an ownership tag nor one that AWS itself sets, such as
/// `aws:cloudformation:stack-name`, whose prefix AWS reserves.
pub(crate) fn is_configurable(key: &str) -> bool {
    !is_ownership(key) && !key.starts_with("aws:")
}

/// Whether this is the key of an ownership tag.
pub(crate) fn is_ownership(key: &str) -> bool {
    key.starts_with("fgw:")
}

/// The value of [`RESOURCE`] for a root of this name, or for the objects below a root of this ID.
pub(crate) fn resource(owner: TopologyKind, name_or_root_id: &str) -> String {
    format!("{}/{name_or_root_id}", owner.name())
}

/// The kind and the ID of the root to which an object with these tags belongs. The kind is `None` if this version does
/// not know it.
pub(crate) fn owning_root(tags: &HashMap<String, String>) -> Option<(Option<TopologyKind>, String)> {
    let resource = tags.get(RESOURCE)?;
    let (kind, root_id) = resource.split_once('/').unwrap_or(("", resource));
    let kinds = [TopologyKind::FourTierVpc, TopologyKind::HttpGateway];
    Some((kinds.into_iter().find(|it| it.name() == kind), root_id.to_string()))
}

/// The root with these tags. `None` if it is not a root of this kind that this provider created.
pub(crate) fn root(owner: TopologyKind, id: &str, mut tags: BTreeMap<String, String>) -> Option<Root> {
    let name = tags.get(RESOURCE)?.strip_prefix(&resource(owner, ""))?.to_string();
    let state = tags.get(STATE).and_then(|state| state_in(state));
    tags.retain(|key, _| !is_ownership(key));
    Some(Root { id: id.to_string(), name, tags, state })
}

/// Sorts roots by ID, because the order of AWS's lists is not defined.
pub(crate) fn by_id(roots: impl Iterator<Item = Root>) -> Vec<Root> {
    let mut roots: Vec<Root> = roots.collect();
    roots.sort_by(|a, b| a.id.cmp(&b.id));
    roots
}

/// The value of [`STATE`].
pub(crate) fn state(state: RootState) -> &'static str {
    state.as_str()
}

/// The state that a value of [`STATE`] represents. `None` for any other text.
pub(crate) fn state_in(value: &str) -> Option<RootState> {
    [RootState::Creating, RootState::Ready, RootState::Incomplete].into_iter().find(|it| state(*it) == value)
}

/// The tags to create an object below the root with: its own tags and the ownership tags.
pub(crate) fn tags_on_create(operation: &Operation<'_>, own: &Tags) -> Result<BTreeMap<String, String>, Failure> {
    let mut tags = operation.own_tags(own)?;
    tags.insert(RESOURCE.into(), resource(operation.work.owner, operation.root_id()?));
    tags.insert(OBJECT.into(), operation.key.slot.clone());
    Ok(tags)
}

/// The tags to set on an object whose entry got another key.
pub(crate) fn tags_on_rename(operation: &Operation<'_>) -> BTreeMap<String, String> {
    [(OBJECT.to_string(), operation.key.slot.clone())].into()
}

/// Fails if an object that an adoption is about to tag belongs to another resource by now: both have read it without a
/// tag. Otherwise the destroy of one would delete what the other one owns.
pub(crate) fn check_adoption(
    operation: &Operation<'_>,
    id: &str,
    tags: &HashMap<String, String>,
) -> Result<(), Failure> {
    let resource = resource(operation.work.owner, operation.root_id()?);
    match tags.get(RESOURCE).filter(|owner| **owner != resource) {
        None => Ok(()),
        Some(owner) => {
            let message = format!("{id} belongs to {owner} by now (tag fgw:resource), so it was not adopted");
            let advice = "Remove it from adopt, and use it as an existing object, without owning it.";
            Err(Failure::new(Cause::Exists, operation.key.slot.clone(), message).with_advice(advice, []))
        }
    }
}

/// The tags that an adoption adds to an object below the root: the ownership tags, and the wanted tags whose keys the
/// object does not have. `from` are its tags. No existing tag changes.
pub(crate) fn tags_on_adopt(
    operation: &Operation<'_>,
    from: &Tags,
    to: &Tags,
) -> Result<BTreeMap<String, String>, Failure> {
    let mut tags = tags_on_create(operation, &Input::Known(BTreeMap::new()))?;
    tags.extend(missing(operation, from, to)?);
    Ok(tags)
}

/// The same for a root, which is complete when it gets its tags, after everything below it.
pub(crate) fn tags_on_adopt_root(
    operation: &Operation<'_>,
    name: &Input<String>,
    from: &Tags,
    to: &Tags,
) -> Result<BTreeMap<String, String>, Failure> {
    let name = resource(operation.work.owner, operation.known(name)?);
    let mut tags = missing(operation, from, to)?;
    tags.extend([(RESOURCE.to_string(), name), (STATE.to_string(), state(RootState::Ready).to_string())]);
    Ok(tags)
}

/// The tags in `to` whose keys are not in `from`.
fn missing(operation: &Operation<'_>, from: &Tags, to: &Tags) -> Result<BTreeMap<String, String>, Failure> {
    let (existing, mut wanted) = (operation.own_tags(from)?, operation.own_tags(to)?);
    wanted.retain(|key, _| !existing.contains_key(key));
    Ok(wanted)
}

/// Whose tags an object has if a read may count it as one of the root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'a> {
    /// The value of [`RESOURCE`].
    pub(crate) resource: &'a str,
    /// Whether objects without this tag count too, because they are foreign.
    pub(crate) or_none: bool,
}

impl Owner<'_> {
    /// Whether an object with these tags counts. `slot` is the value of [`OBJECT`]; `None` for any.
    pub(crate) fn accepts(self, tags: Option<&HashMap<String, String>>, slot: Option<&str>) -> bool {
        let tag = |key: &str| tags.and_then(|tags| tags.get(key)).map(String::as_str);
        match tag(RESOURCE) {
            None => self.or_none,
            Some(resource) => resource == self.resource && slot.is_none_or(|slot| tag(OBJECT) == Some(slot)),
        }
    }
}

/// The tags to create a root with: its own tags and the ownership tags.
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
