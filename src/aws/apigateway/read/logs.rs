//! Reads the objects of a gateway in CloudWatch Logs: the log group and its subscription filter. Both outlive the API.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_apigatewayv2::types::Stage;
use aws_sdk_cloudwatchlogs::types::SubscriptionFilter;
use futures::future::join_all;

use crate::aws::Session;
use crate::aws::apigateway::read::{CREATED_AGAIN, View, stage};
use crate::aws::calls::ownership::Owner;
use crate::aws::lambda::permission;
use crate::aws::lambda::permission::{CallerId, FunctionPolicy, statement_id};
use crate::aws::logs::group;
use crate::aws::logs::group::FoundGroup;
use crate::aws::logs::subscription;
use crate::cloud::{Failure, Observed, Unmanaged};
use crate::model::keys::gateway as keys;
use crate::model::{Caller, Entry, Key, LogGroup, LogSubscription, Object, Ref, Spec};
use crate::model::{Destination, FunctionArn, Input};

/// The log groups and filters that AWS returned.
#[derive(Default)]
pub(super) struct Logs {
    groups: Vec<FoundGroup>,
    /// The filters, each with the name of its group.
    filters: Vec<(String, SubscriptionFilter)>,
    /// The groups with the tags of this resource that replace the one in state.
    unmanaged: Vec<Unmanaged>,
}

impl Logs {
    /// Reads the groups and filters in state, with two calls for a group and one for a filter. `resource` is the value
    /// of the tag `fgw:resource` for the gateway.
    pub(super) async fn known(session: &Session, known: &[Entry], resource: &str) -> Result<Logs, Failure> {
        let entries: BTreeMap<&str, &Entry> = known
            .iter()
            .filter(|entry| matches!(entry.applied, Spec::LogGroup(_)))
            .map(|entry| (entry.id.as_str(), entry))
            .collect();
        let subscribed: BTreeSet<(&str, &str)> = known.iter().filter_map(names_of_filter).collect();
        let groups = join_all(entries.keys().map(|name| group::find(session, name)));
        let filters = join_all(subscribed.into_iter().map(|(group, name)| filter_of(session, group, name)));
        let (groups, filters) = tokio::join!(groups, filters);
        let groups: Vec<FoundGroup> = groups.into_iter().flat_map(Result::transpose).collect::<Result<_, _>>()?;
        let filters: Vec<_> = filters.into_iter().flat_map(Result::transpose).collect::<Result<_, _>>()?;
        // A group that was created again outside Terraform under the same name is unmanaged, and so are its filters.
        let is_ours = |found: &FoundGroup| {
            let entry = found.shown.log_group_name.as_deref().and_then(|name| entries.get(name));
            entry.is_some_and(|entry| group::is_the_same(&found.shown, &entry.learned))
        };
        let (ours, others): (Vec<FoundGroup>, Vec<FoundGroup>) = groups.into_iter().partition(is_ours);
        let is_unmanaged = |name: &str| others.iter().any(|found| found.shown.log_group_name.as_deref() == Some(name));
        let filters = filters.into_iter().filter(|(group, _)| !is_unmanaged(group)).collect();
        let tagged = others.iter().filter(|found| group::is_ours(found, resource, keys::LOG_GROUP));
        let unmanaged = tagged.filter_map(|found| {
            let (id, slot) = (found.shown.log_group_name.clone()?, Some(keys::LOG_GROUP.to_string()));
            Some(Unmanaged { id, slot, is_tagged: true, reason: CREATED_AGAIN.to_string() })
        });
        let unmanaged = unmanaged.collect();
        Ok(Logs { groups: ours, filters, unmanaged })
    }

    /// Reads the group that a stage of an API logs to, with its filter, if the group has the tags of its owner.
    pub(super) async fn of_stage(
        session: &Session,
        api_id: &str,
        stage: Option<&Stage>,
        owner: Owner<'_>,
    ) -> Result<Logs, Failure> {
        let Some(name) = stage.and_then(stage::destination).and_then(LogGroup::name_in) else {
            return Ok(Logs::default());
        };
        let is_own = |found: &FoundGroup| owner.accepts(Some(&found.tags), Some(keys::LOG_GROUP));
        let Some(group) = group::find(session, name).await?.filter(is_own) else { return Ok(Logs::default()) };
        let filter = match owner.or_none {
            true => subscription::find_any(session, name, api_id).await?,
            false => subscription::find(session, name, &LogSubscription::name_for(api_id)).await?,
        };
        Ok(Logs::of_group(name, group, filter))
    }

    /// Reads a group with the filter of an API, whatever its tags are. Empty if it does not exist.
    pub(super) async fn named(session: &Session, api_id: &str, name: &str) -> Result<Logs, Failure> {
        let Some(group) = group::find(session, name).await? else { return Ok(Logs::default()) };
        Ok(Logs::of_group(name, group, subscription::find_any(session, name, api_id).await?))
    }

    fn of_group(name: &str, group: FoundGroup, filter: Option<SubscriptionFilter>) -> Logs {
        let filters = filter.map(|filter| (name.to_string(), filter)).into_iter().collect();
        Logs { groups: vec![group], filters, unmanaged: Vec::new() }
    }

    /// The groups with the tags of this resource that replace the one in state.
    pub(super) fn unmanaged(&self) -> &[Unmanaged] {
        &self.unmanaged
    }

    /// The current observation of a group or filter in state.
    pub(super) fn read(&self, entry: &Entry, api_key: &Key) -> Option<Observed> {
        match &entry.applied {
            Spec::LogGroup(_) => {
                let is_it = |it: &&FoundGroup| it.shown.log_group_name.as_deref() == Some(entry.id.as_str());
                group::read(self.groups.iter().find(is_it)?, api_key.clone(), entry.key.clone())
            }
            Spec::LogSubscription(applied) => {
                let names = names_of_filter(entry)?;
                let is_it = |(group, filter): &&(String, SubscriptionFilter)| {
                    names.0 == group && filter.filter_name.as_deref() == Some(names.1)
                };
                let (_, filter) = self.filters.iter().find(is_it)?;
                let (log_group, permission) = (applied.log_group.clone(), applied.permission.clone());
                subscription::read(filter, log_group, entry.key.clone(), permission)
            }
            _ => None,
        }
    }

    /// The names of the groups with their tags.
    pub(super) fn tags(&self) -> impl Iterator<Item = (&str, &HashMap<String, String>)> {
        self.groups.iter().filter_map(|found| Some((found.shown.log_group_name.as_deref()?, &found.tags)))
    }

    /// The key of the group that the stage logs to.
    pub(super) fn group_key(&self) -> Option<Key> {
        let name = self.groups.first()?.shown.log_group_name.clone()?;
        Some(keys::log_group(&name.into()))
    }

    /// The functions to which filters forward events.
    pub(super) fn functions(&self) -> impl Iterator<Item = FunctionArn> {
        self.filters.iter().filter_map(|(_, filter)| function(filter))
    }
}

impl View<'_> {
    /// The group that the stage logs to, its filter, and the statement that allows the filter to call a function.
    pub(super) fn access_logs(&self, api_key: &Key) -> Vec<Observed> {
        let (Some(found), Some(group)) = (self.logs.groups.first(), self.logs.group_key()) else { return Vec::new() };
        let mut seen: Vec<Observed> = group::read(found, api_key.clone(), group.clone()).into_iter().collect();
        let Some((name, filter)) = self.logs.filters.first() else { return seen };
        let function = function(filter).filter(|function| self.is_own(function));
        let permission = function.map(|function| {
            let key = keys::subscription_permission(&function, &group);
            let place = FunctionPolicy::of_function(&function);
            let id = statement_id(self.root_id, &place, CallerId::LogGroup(name));
            let spec = place.permission(api_key.clone(), Caller::LogGroup(group.clone()));
            let policy = self.policies.get(&place).map(Vec::as_slice).unwrap_or_default();
            seen.extend(permission::read(self.scope, policy, self.root_id, &id, key.clone(), &spec));
            key
        });
        let key = keys::log_subscription(&group);
        seen.extend(subscription::read(filter, group, key, permission));
        seen
    }
}

/// The log groups among `objects` that exist with the tags of this resource. Their names are not part of the API, so a
/// read cannot find them.
pub(super) async fn leftovers(
    session: &Session,
    resource: &str,
    objects: &[&Object],
) -> Result<Vec<Observed>, Failure> {
    let mut found = Vec::new();
    for object in objects {
        let Spec::LogGroup(LogGroup { root, name: Input::Known(name), .. }) = &object.spec else { continue };
        let group = group::find(session, name).await?.filter(|it| group::is_ours(it, resource, &object.key.slot));
        found.extend(group.and_then(|it| group::read(&it, root.clone(), object.key.clone())));
    }
    Ok(found)
}

/// A reference to the log group with this ARN: by key if it is in state, otherwise by ARN.
pub(super) fn reference_to_group(known: &[Entry], arn: &str) -> Ref {
    let is_it = |entry: &&Entry| {
        matches!(entry.applied, Spec::LogGroup(_))
            && match entry.learned.get("arn") {
                Some(learned) => learned == arn,
                None => LogGroup::name_in(arn) == Some(&entry.id),
            }
    };
    known.iter().find(is_it).map_or_else(|| Ref::Id(arn.to_string()), |entry| Ref::Key(entry.key.clone()))
}

/// The names of the group and of the filter of an entry, if it is that of a filter.
fn names_of_filter(entry: &Entry) -> Option<(&str, &str)> {
    LogSubscription::of(&entry.applied)?;
    LogSubscription::names_in(&entry.id)
}

async fn filter_of(
    session: &Session,
    group: &str,
    name: &str,
) -> Result<Option<(String, SubscriptionFilter)>, Failure> {
    Ok(subscription::find(session, group, name).await?.map(|filter| (group.to_string(), filter)))
}

/// The function to which a filter forwards events.
fn function(filter: &SubscriptionFilter) -> Option<FunctionArn> {
    match Destination::parse(filter.destination_arn.as_deref()?) {
        Ok(Destination::Function(function)) => Some(function),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
