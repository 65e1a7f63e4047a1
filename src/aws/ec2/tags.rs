//! Tags of EC2 objects. The provider changes and removes only the keys that it set. Others, such as those that
//! Kubernetes sets on subnets, stay unchanged.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_ec2::types::{Filter, ResourceType, Tag, TagSpecification};

use super::{filter, filter_any};
use crate::aws::calls::codes::missing::MissingCodes;
use crate::aws::calls::ownership;
use crate::aws::calls::tag_changes::TagChanges;
use crate::aws::calls::wait;
use crate::aws::calls::{Operation, OrFailure};
use crate::cloud::{Cause, Failure};
use crate::model::{Entry, FoundTags, Input, Spec, Tags, TopologyKind};

/// All tags of an object except the ownership tags and those that AWS sets.
pub(super) fn own(tags: &[Tag]) -> Tags {
    let own = tags.iter().filter_map(|tag| Some((tag.key()?, tag.value().unwrap_or_default())));
    Input::Known(
        own.filter(|(key, _)| ownership::is_configurable(key))
            .map(|(key, value)| (key.to_string(), Input::Known(value.to_string())))
            .collect(),
    )
}

/// All tags, with the ownership tags.
pub(super) fn all(tags: &[Tag]) -> FoundTags {
    tags.iter().filter_map(|tag| Some((tag.key()?.to_string(), tag.value().unwrap_or_default().to_string()))).collect()
}

/// Tags of another service in the form of EC2.
pub(super) fn from_map(tags: HashMap<String, String>) -> Vec<Tag> {
    tags.into_iter().map(|(key, value)| Tag::builder().key(key).value(value).build()).collect()
}

pub(super) fn value<'a>(tags: &'a [Tag], key: &str) -> Option<&'a str> {
    tags.iter().find(|tag| tag.key() == Some(key)).and_then(Tag::value)
}

/// The filter for all objects below a root.
pub(super) fn below(owner: TopologyKind, root_id: &str) -> Filter {
    below_any(vec![ownership::resource(owner, root_id)])
}

/// The filter for the objects with one of these values of the ownership tag.
pub(super) fn below_any(resources: Vec<String>) -> Filter {
    filter_any(format!("tag:{}", ownership::RESOURCE), resources)
}

/// The value of the ownership tag of an object below a root.
pub(super) fn resource(tags: &[Tag]) -> Option<&str> {
    value(tags, ownership::RESOURCE)
}

/// The filters for the object that this operation creates.
pub(super) fn of_this_object(operation: &Operation<'_>) -> Result<Vec<Filter>, Failure> {
    Ok(vec![
        below(operation.work.owner, operation.root_id()?),
        filter(format!("tag:{}", ownership::OBJECT), &operation.key.slot),
    ])
}

/// Adds a tag that only this call has, and returns the filter for the object that it creates.
pub(super) fn add_request(tags: &mut BTreeMap<String, String>) -> Filter {
    filter(format!("tag:{}", ownership::REQUEST), ownership::add_request(tags))
}

/// The tags as a parameter of a call that creates an object.
pub(super) fn on_create(kind: ResourceType, tags: &BTreeMap<String, String>) -> TagSpecification {
    TagSpecification::builder().resource_type(kind).set_tags(Some(list(tags))).build()
}

/// Updates an object's tags with at most one call that sets and one that removes tags.
pub(super) async fn update(operation: &Operation<'_>, id: &str, from: &Tags, to: &Tags) -> Result<(), Failure> {
    update_with(operation, id, from, to, BTreeMap::new()).await
}

/// The ownership tags that an object lacks, because its create has been interrupted before it set them.
pub(super) fn missing_ownership<'a>(
    operation: &Operation<'_>,
    found: impl IntoIterator<Item = &'a Tag>,
) -> Result<BTreeMap<String, String>, Failure> {
    let mut ownership = ownership::tags_on_create(operation, &Input::Known(BTreeMap::new()))?;
    for key in found.into_iter().filter_map(Tag::key) {
        ownership.remove(key);
    }
    Ok(ownership)
}

/// Like [`update`], with additional tags to set.
pub(super) async fn update_with(
    operation: &Operation<'_>,
    id: &str,
    from: &Tags,
    to: &Tags,
    additional: BTreeMap<String, String>,
) -> Result<(), Failure> {
    let changes = TagChanges::between(operation, from, to)?;
    let mut changed = additional;
    changed.extend(changes.set);
    set(operation, id, &changed).await?;
    remove(operation, id, changes.remove).await
}

/// Sets tags in one call.
pub(crate) async fn set(operation: &Operation<'_>, id: &str, tags: &BTreeMap<String, String>) -> Result<(), Failure> {
    if tags.is_empty() {
        return Ok(());
    }
    operation
        .retry_until_visible(&[id], || async {
            let call = operation.session.ec2.create_tags().resources(id).set_tags(Some(list(tags)));
            call.send().await.map(|_| ()).or_failure("CreateTags")
        })
        .await
}

/// Removes tags, regardless of their values, in one call.
pub(super) async fn remove(operation: &Operation<'_>, id: &str, keys: Vec<String>) -> Result<(), Failure> {
    if keys.is_empty() {
        return Ok(());
    }
    let tags = keys.into_iter().map(|key| Tag::builder().key(key).build()).collect();
    let call = operation.session.ec2.delete_tags().resources(id).set_tags(Some(tags));
    call.send().await.map(|_| ()).or_failure("DeleteTags")
}

/// Removes tags of an object that may no longer exist.
pub(super) async fn remove_if_exists<L>(
    operation: &Operation<'_>,
    missing: MissingCodes,
    id: &str,
    keys: Vec<String>,
    exists: impl Fn() -> L,
) -> Result<(), Failure>
where
    L: Future<Output = Result<bool, Failure>>,
{
    let is_missing = |failure: &Failure| missing.match_failure(failure, id);
    wait::delete(&operation.work.deadlines, is_missing, exists, || remove(operation, id, keys.clone())).await
}

/// Removes the ownership tags of an object that stays, if it still exists. If the role may not, they stay.
pub(super) async fn remove_ownership<L>(
    operation: &Operation<'_>,
    missing: MissingCodes,
    id: &str,
    exists: impl Fn() -> L,
) -> Result<(), Failure>
where
    L: Future<Output = Result<bool, Failure>>,
{
    let keys = [ownership::RESOURCE, ownership::OBJECT, ownership::REQUEST].map(str::to_string);
    match remove_if_exists(operation, missing, id, keys.into(), exists).await {
        Err(failure) if failure.cause == Cause::Denied => {
            tracing::warn!("{id} keeps its ownership tags: {failure}");
            Ok(())
        }
        removed => removed,
    }
}

/// The keys of the tags that a release removes: the ownership tags and the applied ones, except those that the object
/// had when it was found.
pub(super) fn to_release(operation: &Operation<'_>, entry: &Entry) -> Result<Vec<String>, Failure> {
    let own = |spec: Option<&Spec>| match spec.and_then(|spec| spec.tags()) {
        Some(tags) => operation.own_tags(tags),
        None => Ok(BTreeMap::new()),
    };
    let found = own(entry.found.as_deref())?;
    let mut keys: Vec<String> = own(Some(&entry.applied))?.into_keys().filter(|key| !found.contains_key(key)).collect();
    keys.extend([ownership::RESOURCE.to_string(), ownership::OBJECT.to_string()]);
    Ok(keys)
}

fn list(tags: &BTreeMap<String, String>) -> Vec<Tag> {
    tags.iter().map(|(key, value)| Tag::builder().key(key).value(value).build()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::ec2::recorded::{Notes, Recorded};
    use crate::model::keys::network as keys;

    fn tags(pairs: &[(&str, &str)]) -> Tags {
        Input::Known(pairs.iter().map(|(key, value)| (key.to_string(), Input::Known(value.to_string()))).collect())
    }

    #[test]
    fn tags_that_aws_sets_are_not_those_of_the_user() {
        let tag = |key: &str| Tag::builder().key(key).value("x").build();
        let found = [tag("aws:cloudformation:stack-name"), tag("fgw:object"), tag("team")];
        assert_eq!(own(&found), tags(&[("team", "x")]));
    }

    #[tokio::test(start_paused = true)]
    async fn an_adoption_adds_tags_and_changes_none() {
        let aws = Recorded::default().on("CreateTags", "");
        let (from, to) = (tags(&[("Name", "theirs"), ("a", "1")]), tags(&[("Name", "theirs"), ("team", "x")]));
        Notes::default()
            .run(&aws.session(), &keys::eip(0), &[], async |operation| {
                set(operation, "eipalloc-1", &ownership::tags_on_adopt(operation, &from, &to)?).await
            })
            .await
            .unwrap();
        let set = &aws.calls("CreateTags")[0];
        let keys = [1, 2, 3].map(|number| set[&format!("Tag.{number}.Key")].as_str());
        assert_eq!((keys, set.contains_key("Tag.4.Key")), (["fgw:object", "fgw:resource", "team"], false));
        assert_eq!(aws.actions(), ["CreateTags"]);
    }

    #[tokio::test(start_paused = true)]
    async fn only_changed_tags_are_set_and_only_applied_ones_removed() {
        let aws = Recorded::default().on("CreateTags", "").on("DeleteTags", "");
        let (from, to) = (tags(&[("a", "1"), ("b", "2"), ("c", "3")]), tags(&[("a", "1"), ("b", "x"), ("d", "4")]));
        Notes::default()
            .run(&aws.session(), &keys::eip(0), &[], async |operation| {
                update(operation, "eipalloc-1", &from, &to).await
            })
            .await
            .unwrap();
        let set = &aws.calls("CreateTags")[0];
        assert_eq!((set["Tag.1.Key"].as_str(), set["Tag.1.Value"].as_str()), ("b", "x"));
        assert_eq!(set["Tag.2.Key"], "d");
        assert!(!set.contains_key("Tag.3.Key"), "{set:?}");
        let removed = &aws.calls("DeleteTags")[0];
        assert_eq!(removed["Tag.1.Key"], "c");
        assert!(!removed.contains_key("Tag.1.Value") && !removed.contains_key("Tag.2.Key"), "{removed:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn equal_tags_need_no_call() {
        let aws = Recorded::default();
        let same = tags(&[("a", "1")]);
        Notes::default()
            .run(&aws.session(), &keys::eip(0), &[], async |operation| {
                update(operation, "eipalloc-1", &same, &same).await
            })
            .await
            .unwrap();
        assert_eq!(aws.actions(), Vec::<String>::new());
    }
}
