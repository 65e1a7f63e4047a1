//! Subscription filters of log groups, which forward log events to a function or a stream.

use std::time::Duration;

use aws_sdk_cloudwatchlogs::types::{Distribution, SubscriptionFilter as Shown};
use futures::future::join_all;

use crate::aws::Session;
use crate::aws::calls::codes;
use crate::aws::calls::non_idempotent::{Mutation, Search};
use crate::aws::calls::{AwsError, Operation, OrFailure};
use crate::aws::logs::group;
use crate::cloud::{Begun, Cause, Dependent, Failure, Observed, Obstacle};
use crate::model::Destination;
use crate::model::Input;
use crate::model::{Entry, Key, Learned, LogSubscription, Spec};

/// How long AWS may reject a filter as undeliverable. PutSubscriptionFilter sends a test message, which may fail while
/// a permission, role or stream is new. A misconfiguration is rejected with the same message, so it is reported only
/// after this time.
const DELIVERABLE: Duration = Duration::from_secs(5 * 60);

/// The number of filters that AWS documents as allowed in a group. It was one until 2020, and AWS's linter for
/// CloudFormation allows five since 2026, so no plan is refused because of it.
const FEWEST_ALLOWED: usize = 2;

/// Finds a filter of a log group by its exact name. `None` if the filter or the group does not exist.
pub(crate) async fn find(session: &Session, group: &str, name: &str) -> Result<Option<Shown>, Failure> {
    let mut token = None;
    loop {
        let request = session.logs.describe_subscription_filters().log_group_name(group).filter_name_prefix(name);
        let page = match request.set_next_token(token).send().await {
            Ok(page) => page,
            Err(error) => match error.failure("DescribeSubscriptionFilters") {
                failure if failure.cause == Cause::NotFound => return Ok(None),
                failure => return Err(failure),
            },
        };
        let mut filters = page.subscription_filters.unwrap_or_default().into_iter();
        if let Some(filter) = filters.find(|filter| filter.filter_name.as_deref() == Some(name)) {
            return Ok(Some(filter));
        }
        match page.next_token.filter(|token| !token.is_empty()) {
            Some(next) => token = Some(next),
            None => return Ok(None),
        }
    }
}

/// Finds the filter of a foreign log group: that of this API or, without one, the only filter of something else. The
/// filters of other APIs do not count.
pub(crate) async fn find_any(session: &Session, group: &str, api_id: &str) -> Result<Option<Shown>, Failure> {
    let mut filters = all(session, group).await?;
    if let Some(ours) = filters.iter().find(|it| it.filter_name.as_deref() == Some(&LogSubscription::name_for(api_id)))
    {
        return Ok(Some(ours.clone()));
    }
    filters.retain(|it| !is_of_another(it, api_id));
    Ok(filters.pop().filter(|_| filters.is_empty()))
}

fn is_of_another(shown: &Shown, api_id: &str) -> bool {
    shown.filter_name.as_deref().is_some_and(|name| LogSubscription::is_of_another(name, api_id))
}

/// The filters of a log group, none if it does not exist. AWS allows fewer than the 50 of a page, so there is no
/// further one.
async fn all(session: &Session, group: &str) -> Result<Vec<Shown>, Failure> {
    let answer = session.logs.describe_subscription_filters().log_group_name(group).send().await;
    match answer.or_failure("DescribeSubscriptionFilters") {
        Err(failure) if failure.cause == Cause::NotFound => Ok(Vec::new()),
        found => Ok(found?.subscription_filters.unwrap_or_default()),
    }
}

/// Lists the filters of these log groups that are not in state. AWS deletes them with their groups.
pub(crate) async fn unmanaged_in(
    session: &Session,
    groups: impl Iterator<Item = &str>,
    known: &[Entry],
) -> Vec<Result<Vec<Dependent>, Failure>> {
    let list = async |group: &str| {
        let dependent = |shown: Shown| {
            let name = shown.filter_name?;
            let is_known = known.iter().any(|entry| entry.id == LogSubscription::id(group, &name));
            (!is_known).then(|| Dependent {
                kind: "subscription filter",
                id: name,
                description: String::new(),
                further: format!("of {group}, to {}", shown.destination_arn.unwrap_or_default()),
                owner: None,
                holds: Vec::new(),
                guardduty: Vec::new(),
            })
        };
        Ok(all(session, group).await?.into_iter().filter_map(dependent).collect())
    };
    join_all(groups.map(list)).await
}

/// The filters because of which AWS may reject a new one, or its create fails. Lists those of one group.
pub(crate) async fn obstacles(
    session: &Session,
    api_id: Option<&str>,
    begun: &[Begun<'_>],
    existing: &[Entry],
) -> Result<Vec<Obstacle>, Failure> {
    let new = || begun.iter().filter(|it| it.before.is_none());
    let Some((key, spec)) = new().find_map(|it| Some((it.key, LogSubscription::of(it.spec)?))) else {
        return Ok(Vec::new());
    };
    let Some(group) = spec.log_group.fixed.known() else { return Ok(Vec::new()) };
    // A new group that is not kept does not exist before, or takes its filters along in a replacement.
    let is_new = |it: &Begun<'_>| *it.key == spec.log_group && it.spec.uses_existing() == Some(false);
    if new().any(is_new) {
        return Ok(Vec::new());
    }
    let is_managed = |it: &Entry| it.key == spec.log_group && !it.is_used() && !it.is_foreign();
    let is_ours = existing.iter().any(is_managed);
    let (ours, api_id) = (api_id.map(LogSubscription::name_for), api_id.unwrap_or_default());
    let is_known = |id: &str| existing.iter().any(|entry| entry.id == id);
    let mut others: Vec<(String, Shown)> = Vec::new();
    for shown in all(session, group).await? {
        let name = shown.filter_name.clone().unwrap_or_default();
        let is_equal = equals(key, &shown, spec) && !LogSubscription::is_of_another(&name, api_id);
        if Some(&name) == ours.as_ref() || (is_equal && is_ours) {
            // The create takes it over.
            return Ok(Vec::new());
        }
        if is_equal && !is_known(&LogSubscription::id(group, &name)) {
            let (message, hint) = unmanaged(group, &name, &shown);
            // The old root may have adopted it, and a replacement deletes it then.
            return Ok(vec![obstacle(key, LogSubscription::id(group, &name), !api_id.is_empty(), message, hint)]);
        }
        others.push((name, shown));
    }
    others.retain(|(name, _)| !is_known(&LogSubscription::id(group, name)));
    if others.len() < FEWEST_ALLOWED {
        return Ok(Vec::new());
    }
    let names: Vec<&str> = others.iter().map(|(name, _)| name.as_str()).collect();
    let message =
        format!("The log group {group} already has {} subscription filters: {}.", names.len(), names.join(", "));
    let hint = format!(
        "AWS limits their number, to {FEWEST_ALLOWED} or more. If it rejects another one, the apply fails after its other \
         changes. Delete one first, unless the same run does: {}",
        deleting(group, "NAME")
    );
    Ok(vec![obstacle(key, group.clone(), false, message, hint)])
}

fn obstacle(key: &Key, id: String, is_certain: bool, message: String, hint: String) -> Obstacle {
    Obstacle { key: key.clone(), id, owner: None, is_certain, message, hint }
}

/// Converts a filter that AWS returned to an observation. AWS does not return the permission of the filter.
pub(crate) fn read(shown: &Shown, log_group: Key, key: Key, permission: Option<Key>) -> Option<Observed> {
    let destination = shown.destination_arn.clone()?;
    // AWS returns a distribution for every destination, but it has an effect only on the shards of a Kinesis stream.
    let distribution = match Destination::parse(&destination) {
        Ok(Destination::KinesisStream) => {
            Some(shown.distribution.as_ref().map_or("ByLogStream", Distribution::as_str).to_string())
        }
        _ => None,
    };
    let spec = LogSubscription {
        destination_arn: Input::Known(destination),
        filter_pattern: Input::Known(shown.filter_pattern.clone().unwrap_or_default()),
        role_arn: Input::Known(shown.role_arn.clone().filter(|role| !role.is_empty())),
        distribution: Input::Known(distribution),
        permission,
        log_group,
    };
    let id = LogSubscription::id(spec.log_group.fixed.known()?, shown.filter_name.as_deref()?);
    Some(Observed { id, key, spec: Spec::LogSubscription(spec), learned: Learned::new() })
}

/// Creates the filter of the API. One with its name is that of an interrupted run, and gets these inputs. An adopted
/// group may have an equal one under another name: with a second one, each event would be delivered twice, so it
/// becomes that of the API. The filters of other APIs stay, equal or not.
pub(crate) async fn create(operation: &Operation<'_>, spec: &LogSubscription) -> Result<(), Failure> {
    let (group, api_id) = (operation.id(&spec.log_group)?, operation.root_id()?);
    let ours = LogSubscription::name_for(api_id);
    // A group that this process created contains no filter of an interrupted run.
    let existing = match operation.session.process.created.contains(group) {
        true => Vec::new(),
        false => all(operation.session, group).await?,
    };
    let interrupted = existing.iter().find(|it| it.filter_name.as_deref() == Some(&ours));
    let equal = existing.iter().find(|it| equals(operation.key, it, spec) && !is_of_another(it, api_id));
    let name = match (interrupted, equal) {
        (Some(interrupted), _) if equals(operation.key, interrupted, spec) => &ours,
        (None, Some(equal)) => {
            let name = equal.filter_name.as_deref().unwrap_or_default();
            // In an unmanaged group, the filter may be unmanaged too.
            if !group::is_of_root(operation, group).await? {
                return Err(of_unmanaged(group, name, equal));
            }
            name
        }
        (found, _) => {
            put(operation, (group, &ours), spec, found).await?;
            &ours
        }
    };
    operation.record_id(&LogSubscription::id(group, name));
    Ok(())
}

/// Replaces the filter in place, including its destination. AWS clears what a call omits, such as the role after a
/// change from a stream to a function, so the fields that no input expresses are sent as AWS returns them.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: &LogSubscription,
    to: &LogSubscription,
) -> Result<(), Failure> {
    // AWS does not know the permission. Each call sends a test message to the destination.
    if *to == (LogSubscription { permission: to.permission.clone(), ..from.clone() }) {
        return Ok(());
    }
    let (group, name) = names_in(id, "PutSubscriptionFilter")?;
    let found = find(operation.session, group, name).await?;
    put(operation, (group, name), to, found.as_ref()).await
}

/// Deletes the filter. Unmanaged filters remain.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (group, name) = names_in(&entry.id, "DeleteSubscriptionFilter")?;
    let session = operation.session;
    let _lock = group::lock(session, group).await;
    let change = Mutation {
        action: "DeleteSubscriptionFilter",
        deadlines: &operation.work.deadlines,
        is_busy: codes::is_group_busy,
        unknown_until: None,
        search: Search::TWO_POLLS,
        parent: None,
    };
    let delete = || session.logs.delete_subscription_filter().log_group_name(group).filter_name(name).send();
    let exists = || async { Ok(find(session, group, name).await?.is_some()) };
    change.delete(delete, codes::missing::is_filter_missing, exists).await
}

fn names_in<'a>(id: &'a str, action: &str) -> Result<(&'a str, &'a str), Failure> {
    LogSubscription::names_in(id).ok_or_else(|| {
        let message = format!("{id} is not the ID of a subscription filter; this is a bug in the provider");
        Failure::new(Cause::Other, action, message)
    })
}

/// Sends a filter with these inputs and, of one that exists, with its fields that no input expresses.
async fn put(
    operation: &Operation<'_>,
    (group, name): (&str, &str),
    spec: &LogSubscription,
    found: Option<&Shown>,
) -> Result<(), Failure> {
    let session = operation.session;
    let (destination, pattern) = (operation.known(&spec.destination_arn)?, operation.known(&spec.filter_pattern)?);
    let role = operation.known(&spec.role_arn)?;
    let distribution = operation.known(&spec.distribution)?.as_deref().map(Distribution::from);
    let _lock = group::lock(session, group).await;
    let deadlines = operation.deadlines(DELIVERABLE);
    let unknown_until = operation.unknown_until(group);
    let change = Mutation {
        action: "PutSubscriptionFilter",
        deadlines: &deadlines,
        is_busy: is_not_ready,
        unknown_until,
        search: Search::TWO_POLLS,
        parent: None,
    };
    let put = || async {
        let request = session.logs.put_subscription_filter().log_group_name(group).filter_name(name);
        let request = request.filter_pattern(pattern).destination_arn(destination).set_role_arn(role.clone());
        let request = request.set_distribution(distribution.clone());
        let request =
            request.set_apply_on_transformed_logs(found.map(|it| it.apply_on_transformed_logs).filter(|it| *it));
        let request = request.set_field_selection_criteria(found.and_then(|it| it.field_selection_criteria.clone()));
        let request = request.set_emit_system_fields(found.and_then(|it| it.emit_system_fields.clone())).customize();
        request.config_override(session.within_quota_logs()).send().await.map(|_| ())
    };
    let find_equal =
        || async { Ok(find(session, group, name).await?.filter(|it| equals(operation.key, it, spec)).map(|_| ())) };
    change.create(put, Ok, find_equal).await.map_err(|failure| match codes::is_quota(&failure) {
        true => too_many(failure, group),
        false => failure,
    })
}

/// Whether a filter has these inputs.
fn equals(key: &Key, shown: &Shown, spec: &LogSubscription) -> bool {
    let found = read(shown, spec.log_group.clone(), key.clone(), spec.permission.clone());
    found.is_some_and(|it| it.spec == Spec::LogSubscription(spec.clone()))
}

/// An equal filter in a group that the resource does not own, and what to do.
fn unmanaged(group: &str, name: &str, existing: &Shown) -> (String, String) {
    let destination = existing.destination_arn.as_deref().unwrap_or("an unknown destination");
    let message = format!(
        "The log group {group} already has a subscription filter {name} to {destination}, which this resource does not \
         manage."
    );
    let hint = format!(
        "Another one would deliver each event twice. If nothing else needs this one, delete it, then run Terraform again: \
         {}",
        deleting(group, name)
    );
    (message, hint)
}

fn of_unmanaged(group: &str, name: &str, existing: &Shown) -> Failure {
    let destination = existing.destination_arn.as_deref().unwrap_or("an unknown destination");
    Failure::new(
        Cause::Exists,
        "PutSubscriptionFilter",
        format!(
            "log group {group} already has a subscription filter {name} to {destination}, which is not managed by this \
             resource, so it was not changed"
        ),
    )
    .with_advice(
        "Another one would deliver each event twice. If nothing else needs this one, delete it with this command, then \
         apply again.",
        [deleting(group, name)],
    )
}

/// The command that deletes a filter.
fn deleting(group: &str, name: &str) -> String {
    format!("aws logs delete-subscription-filter --log-group-name {group} --filter-name {name}")
}

/// Whether the destination or its permission may be too new, or another change of the group is in progress.
fn is_not_ready(failure: &Failure) -> bool {
    let is_new = codes::is_undeliverable(failure);
    if is_new {
        // This may take minutes, during which Terraform shows no other message.
        tracing::info!("{failure}; retrying for up to {} minutes", DELIVERABLE.as_secs() / 60);
    }
    is_new || codes::is_group_busy(failure)
}

fn too_many(failure: Failure, group: &str) -> Failure {
    let message = format!(
        "log group {group} has as many subscription filters as AWS allows, and this resource manages none of them: {}",
        failure.message
    );
    Failure { message, ..failure }.with_advice(
        "List them with the first command, delete one with the second one, then apply again.",
        [format!("aws logs describe-subscription-filters --log-group-name {group}"), deleting(group, "NAME")],
    )
}

#[cfg(test)]
mod tests;
