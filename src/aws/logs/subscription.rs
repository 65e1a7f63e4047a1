//! Subscription filters of log groups, which forward log events to a function or a stream.

use std::time::Duration;

use aws_sdk_cloudwatchlogs::types::{Distribution, SubscriptionFilter as Shown};

use crate::aws::Session;
use crate::aws::calls::codes;
use crate::aws::calls::non_idempotent::{Mutation, Search};
use crate::aws::calls::{AwsError, Operation, OrFailure};
use crate::aws::logs::group;
use crate::cloud::{Cause, Failure, Observed};
use crate::model::Destination;
use crate::model::Input;
use crate::model::{Entry, Key, Learned, LogSubscription, Spec};

/// The name of the filter that this provider creates, of which a log group has at most one. The constant name
/// identifies the filter in an import and after a lost answer. PutSubscriptionFilter replaces the whole filter with
/// this name, so that a change of the destination neither duplicates nor loses events.
pub(crate) const NAME: &str = "fgw-access-logs";

/// How long AWS may reject a filter as undeliverable. PutSubscriptionFilter sends a test message, which may fail while
/// a permission, role or stream is new. A misconfiguration is rejected with the same message, so it is reported only
/// after this time.
const DELIVERABLE: Duration = Duration::from_secs(5 * 60);

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

/// Finds the filter of a foreign log group: that of this provider or, without one, the only filter.
pub(crate) async fn find_any(session: &Session, group: &str) -> Result<Option<Shown>, Failure> {
    if let Some(ours) = find(session, group, NAME).await? {
        return Ok(Some(ours));
    }
    let mut filters = all(session, group).await?;
    Ok(filters.pop().filter(|_| filters.is_empty()))
}

/// The filters of a log group. AWS allows fewer than the 50 of a page, so there is no further one.
async fn all(session: &Session, group: &str) -> Result<Vec<Shown>, Failure> {
    let answer = session.logs.describe_subscription_filters().log_group_name(group).send().await;
    let found = answer.or_failure("DescribeSubscriptionFilters")?;
    Ok(found.subscription_filters.unwrap_or_default())
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
    let id = id(spec.log_group.fixed.known()?, shown.filter_name.as_deref().unwrap_or(NAME));
    Some(Observed { id, key, spec: Spec::LogSubscription(spec), learned: Learned::new() })
}

/// Creates the filter, or adopts an equal one that is not in state: an interrupted run may have created it. An adopted
/// group may have it under another name, and with a second one, each event would be delivered twice. Another filter
/// with the name of this provider is an error, because PutSubscriptionFilter would replace it.
pub(crate) async fn create(operation: &Operation<'_>, spec: &LogSubscription) -> Result<(), Failure> {
    let group = operation.id(&spec.log_group)?;
    // A group that this process created contains no filter of an interrupted run.
    let existing = match operation.session.process.created.contains(group) {
        true => Vec::new(),
        false => all(operation.session, group).await?,
    };
    let has_name = |it: &&Shown| it.filter_name.as_deref() == Some(NAME);
    let name = match (existing.iter().find(|it| equals(operation, it, spec)), existing.iter().find(has_name)) {
        // In an unmanaged group, the filter may be unmanaged too.
        (Some(equal), _) if !group::is_of_root(operation, group).await? => return Err(unmanaged(group, equal)),
        (Some(equal), _) => equal.filter_name.as_deref().unwrap_or(NAME),
        (None, Some(other)) => return Err(unmanaged(group, other)),
        (None, None) => {
            put(operation, (group, NAME), spec, None).await?;
            NAME
        }
    };
    operation.record_id(&id(group, name));
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
    let (group, name) = (operation.id(&to.log_group)?, name_in(id));
    let found = find(operation.session, group, name).await?;
    put(operation, (group, name), to, found.as_ref()).await
}

/// Deletes the filter. Unmanaged filters remain.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let Some((group, name)) = entry.id.split_once('|') else {
        let message = format!("{} is not the ID of a subscription filter; this is a bug in the provider", entry.id);
        return Err(Failure::new(Cause::Other, "DeleteSubscriptionFilter", message));
    };
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

/// The ID of a filter: `<log group>|<filter>`. The name of a log group cannot contain a vertical bar.
fn id(group: &str, name: &str) -> String {
    format!("{group}|{name}")
}

/// The name of the filter in an ID: `fgw-access-logs`, unless something else created it.
pub(crate) fn name_in(id: &str) -> &str {
    id.split_once('|').map_or(NAME, |(_, name)| name)
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
        || async { Ok(find(session, group, name).await?.filter(|it| equals(operation, it, spec)).map(|_| ())) };
    change.create(put, Ok, find_equal).await.map_err(|failure| match codes::is_quota(&failure) {
        true => too_many(failure, group),
        false => failure,
    })
}

/// Whether a filter has these inputs.
fn equals(operation: &Operation<'_>, shown: &Shown, spec: &LogSubscription) -> bool {
    let found = read(shown, spec.log_group.clone(), operation.key.clone(), spec.permission.clone());
    found.is_some_and(|it| it.spec == Spec::LogSubscription(spec.clone()))
}

fn unmanaged(group: &str, existing: &Shown) -> Failure {
    let destination = existing.destination_arn.as_deref().unwrap_or("an unknown destination");
    let name = existing.filter_name.as_deref().unwrap_or(NAME);
    Failure::new(
        Cause::Exists,
        "PutSubscriptionFilter",
        format!(
            "log group {group} already has a subscription filter {name} to {destination}, which is not managed by this \
             resource, so it was not changed. A killed run or someone else may have created it"
        ),
    )
    .with_advice(
        "If nothing else needs it, delete it with this command, then apply again.",
        [format!("aws logs delete-subscription-filter --log-group-name {group} --filter-name {name}")],
    )
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
        [
            format!("aws logs describe-subscription-filters --log-group-name {group}"),
            format!("aws logs delete-subscription-filter --log-group-name {group} --filter-name NAME"),
        ],
    )
}

#[cfg(test)]
mod tests;
