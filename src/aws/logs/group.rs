//! CloudWatch log groups.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_sdk_cloudwatchlogs::primitives::{DateTime, DateTimeFormat as Format};
use aws_sdk_cloudwatchlogs::types::{DataProtectionStatus, LogGroup as Shown, LogGroupClass};
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

use crate::aws::Session;
use crate::aws::calls::codes::missing::is_log_group_missing;
use crate::aws::calls::codes::{is_deletion_protected, is_group_busy, is_key_rejected};
use crate::aws::calls::non_idempotent::{Mutation, Search};
use crate::aws::calls::ownership;
use crate::aws::calls::tag_changes;
use crate::aws::calls::tag_changes::TagChanges;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{AwsError, Operation, OrFailure};
use crate::cloud::{Case, Cause, Deadlines, Failure, Observed};
use crate::model::Input;
use crate::model::Scope;
use crate::model::{Entry, Key, Learned, LogGroup, Spec};

/// How long AWS may reject a key because the key or its policy is new. According to the KMS documentation, changes
/// usually propagate within seconds, but may take some minutes. CloudWatch Logs rejects a key that it is not allowed to
/// use with the same message, so a misconfigured key is reported only after this time.
const KEY_POLICY: Duration = Duration::from_secs(2 * 60);

/// The name of the learned value with the creation time of a group, in milliseconds since the Unix epoch.
const CREATION_TIME: &str = "creation_time";

/// A log group and its tags, which AWS returns in separate calls.
#[derive(Clone, Debug)]
pub(crate) struct FoundGroup {
    /// The group without its tags.
    pub(crate) shown: Shown,
    /// All tags of the group, including ownership tags.
    pub(crate) tags: std::collections::HashMap<String, String>,
}

/// Reads a log group by its exact name. `None` if it does not exist.
pub(crate) async fn find(session: &Session, name: &str) -> Result<Option<FoundGroup>, Failure> {
    let Some(shown) = show(session, name).await? else { return Ok(None) };
    let Some(arn) = arn_of(&shown) else { return Ok(None) };
    match session.logs.list_tags_for_resource().resource_arn(arn).send().await {
        Ok(answer) => Ok(Some(FoundGroup { shown, tags: answer.tags.unwrap_or_default() })),
        Err(error) => match error.failure("ListTagsForResource") {
            failure if is_absent(&failure) => Ok(None),
            failure => Err(failure),
        },
    }
}

/// Reads a log group by its exact name, without its tags. `None` if it does not exist.
async fn show(session: &Session, name: &str) -> Result<Option<Shown>, Failure> {
    let mut token = None;
    loop {
        let request = session.logs.describe_log_groups().log_group_name_prefix(name).set_next_token(token);
        let page = request.send().await.or_failure("DescribeLogGroups")?;
        let mut groups = page.log_groups.unwrap_or_default().into_iter();
        if let Some(group) = groups.find(|group| group.log_group_name.as_deref() == Some(name)) {
            return Ok(Some(group));
        }
        match page.next_token.filter(|token| !token.is_empty()) {
            Some(next) => token = Some(next),
            None => return Ok(None),
        }
    }
}

/// Converts a log group that AWS returned to an observation.
///
/// AWS does not store whether the group is kept, and a group that is kept loses nothing.
pub(crate) fn read(found: &FoundGroup, root: Key, key: Key) -> Option<Observed> {
    let name = found.shown.log_group_name.clone()?;
    let spec = LogGroup {
        root,
        name: Input::Known(name.clone()),
        retention_in_days: Input::Known(found.shown.retention_in_days.filter(|days| *days != 0).map(i64::from)),
        kms_key_arn: Input::Known(found.shown.kms_key_id.clone()),
        skip_destroy: Input::Known(true),
        tags: tag_changes::shown(&found.tags),
    };
    let created = found.shown.creation_time;
    let learned = arn_of(&found.shown).map(|arn| learned(arn.to_string(), created)).unwrap_or_default();
    let learned = Learned { unexpressed: unexpressed(&found.shown), ..learned };
    Some(Observed { id: name, key, spec: Spec::LogGroup(spec), learned })
}

/// The age of a group and its content, for messages.
pub(crate) fn content(shown: &Shown) -> String {
    let date = |millis: i64| DateTime::from_millis(millis).fmt(Format::DateTime).ok();
    let created = match shown.creation_time.and_then(date) {
        Some(date) => format!("created on {}", date.split('T').next().unwrap_or(&date)),
        None => "created at an unknown time".to_string(),
    };
    match shown.stored_bytes {
        Some(bytes) => format!("{created}, {bytes} bytes stored"),
        None => created,
    }
}

/// The settings of a log group that no input sets and a new one does not have.
fn unexpressed(shown: &Shown) -> BTreeMap<String, String> {
    let settings = [
        (
            LogGroup::DATA_PROTECTION,
            shown
                .data_protection_status()
                .filter(|it| **it == DataProtectionStatus::Activated)
                .map(ToString::to_string),
        ),
        (
            "log_group_class",
            shown.log_group_class().filter(|it| **it != LogGroupClass::Standard).map(ToString::to_string),
        ),
        (LogGroup::METRIC_FILTERS, shown.metric_filter_count().filter(|it| *it > 0).map(|it| it.to_string())),
        (LogGroup::DELETION_PROTECTION, shown.deletion_protection_enabled().filter(|it| *it).map(|it| it.to_string())),
    ];
    settings.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))).collect()
}

/// Whether the tags of a log group name this root and key as its owner.
pub(crate) fn is_ours(found: &FoundGroup, resource: &str, slot: &str) -> bool {
    let tag = |key: &str| found.tags.get(key).map(String::as_str);
    tag(ownership::RESOURCE) == Some(resource) && tag(ownership::OBJECT) == Some(slot)
}

/// Whether a log group may be the one for which these values were learned. A group that was created again outside
/// Terraform under the same name has another creation time. Tags make no difference, because anyone may copy them.
pub(crate) fn is_the_same(shown: &Shown, learned: &Learned) -> bool {
    match (learned.get(CREATION_TIME), shown.creation_time) {
        (Some(learned), Some(shown)) => *learned == shown.to_string(),
        _ => true,
    }
}

/// Creates a log group. An existing one is an error, unless this very call has created it and its answer was lost.
pub(crate) async fn create(operation: &Operation<'_>, spec: &LogGroup) -> Result<(), Failure> {
    let session = operation.session;
    let name = operation.known(&spec.name)?;
    let kms_key_arn = operation.known(&spec.kms_key_arn)?;
    let mut tags = ownership::tags_on_create(operation, &spec.tags)?;
    let request = ownership::add_request(&mut tags);
    let find_created = || async {
        match find(session, name).await? {
            Some(found) if ownership::is_of_request(Some(&found.tags), &request) => Ok(Some(())),
            Some(_) => Err(unmanaged(&operation.key.slot, name)),
            None => Ok(None),
        }
    };
    let answer = {
        let _lock = lock(operation.session, name).await;
        let deadlines = key_deadlines(operation, kms_key_arn.is_some());
        Mutation {
            action: "CreateLogGroup",
            deadlines: &deadlines,
            is_busy: is_busy_or_key_is_new,
            unknown_until: None,
            search: Search::TWO_POLLS,
            parent: None,
        }
        .create(
            || async {
                session
                    .logs
                    .create_log_group()
                    .log_group_name(name)
                    .set_kms_key_id(kms_key_arn.clone())
                    .set_tags(Some(tags.clone().into_iter().collect()))
                    .customize()
                    .config_override(session.once_logs())
                    .send()
                    .await
                    .map(|_| ())
            },
            Ok,
            find_created,
        )
        .await
    };
    match answer {
        Err(failure) if failure.cause == Cause::Exists => find_created().await?.ok_or(failure)?,
        answer => answer.map_err(|failure| of_key(failure, kms_key_arn.as_deref()))?,
    }
    // A new group has its key and no retention period, so nothing needs to be cleared.
    let from = LogGroup { retention_in_days: Input::Known(None), ..spec.clone() };
    operation.record_id(name);
    // CreateLogGroup returns no attributes.
    let deadlines = operation.deadlines(wait::PROPAGATION);
    let shown = wait::until("Waiting for the new log group", &deadlines, wait::SECONDS, || async {
        let shown = show(session, name).await?;
        Ok(shown.map_or_else(|| Poll::Pending("the log group was not found".to_string()), Poll::Done))
    });
    let created = shown.await?.creation_time;
    operation.record_learned(learned(arn(operation, name).await?, created));
    update(operation, name, &from, spec).await
}

/// Updates a log group to match its spec. The key is set first, so that no event without it is kept longer than before.
/// Separate calls remove the key and the retention period.
pub(crate) async fn update(
    operation: &Operation<'_>,
    name: &str,
    from: &LogGroup,
    to: &LogGroup,
) -> Result<(), Failure> {
    let logs = &operation.session.logs;
    let tags = TagChanges::between(operation, &from.tags, &to.tags)?;
    let _lock = lock(operation.session, name).await;
    let (deadlines, unknown_until) = (&operation.work.deadlines, operation.unknown_until(name));
    let change = Mutation {
        action: "PutRetentionPolicy",
        deadlines,
        is_busy: is_group_busy,
        unknown_until,
        search: Search::TWO_POLLS,
        parent: None,
    };
    let wanted = operation.known(&to.kms_key_arn)?;
    if from.kms_key_arn != to.kms_key_arn {
        set_key(operation, name, wanted.as_deref()).await?;
    }
    if from.retention_in_days != to.retention_in_days {
        match operation.known(&to.retention_in_days)? {
            Some(days) => {
                let days = i32::try_from(*days).unwrap_or(i32::MAX);
                change.send(|| logs.put_retention_policy().log_group_name(name).retention_in_days(days).send()).await?;
            }
            None => {
                let change = Mutation { action: "DeleteRetentionPolicy", ..change };
                change.send(|| logs.delete_retention_policy().log_group_name(name).send()).await?;
            }
        }
    }
    if tags == TagChanges::default() {
        return Ok(());
    }
    let arn = arn(operation, name).await?;
    if !tags.set.is_empty() {
        set_tags(operation, &arn, tags.set, &Mutation { action: "TagResource", ..change }).await?;
    }
    if !tags.remove.is_empty() {
        let change = Mutation { action: "UntagResource", ..change };
        change.send(|| logs.untag_resource().resource_arn(&arn).set_tag_keys(Some(tags.remove.clone())).send()).await?;
    }
    Ok(())
}

/// Adds tags to a log group.
pub(crate) async fn add_tags(
    operation: &Operation<'_>,
    name: &str,
    tags: BTreeMap<String, String>,
) -> Result<(), Failure> {
    let _lock = lock(operation.session, name).await;
    if let Some(found) = find(operation.session, name).await? {
        ownership::check_adoption(operation, name, &found.tags)?;
    }
    let change = Mutation {
        action: "TagResource",
        deadlines: &operation.work.deadlines,
        is_busy: is_group_busy,
        unknown_until: operation.unknown_until(name),
        search: Search::TWO_POLLS,
        parent: None,
    };
    set_tags(operation, &arn(operation, name).await?, tags, &change).await
}

async fn set_tags(
    operation: &Operation<'_>,
    arn: &str,
    tags: BTreeMap<String, String>,
    change: &Mutation<'_>,
) -> Result<(), Failure> {
    let tags: std::collections::HashMap<String, String> = tags.into_iter().collect();
    let logs = &operation.session.logs;
    change.send(|| logs.tag_resource().resource_arn(arn).set_tags(Some(tags.clone())).send()).await.map(|_| ())
}

/// Deletes a log group with its events. One that is to stay loses the ownership tags instead. A group that was deleted
/// and created again outside Terraform, or whose tag does not name this root, stays as it is.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let _lock = lock(operation.session, &entry.id).await;
    match find(operation.session, &entry.id).await? {
        Some(found) if !is_owned(operation, entry, &found)? => return Ok(()),
        Some(found) if entry.applied.stays_when_deleted() => return release(operation, found).await,
        Some(_) => {}
        // One that this process has created may not be visible yet.
        None if !is_new(operation, &entry.id) || entry.applied.stays_when_deleted() => return Ok(()),
        None => {}
    }
    let deadlines = &operation.work.deadlines;
    let change = Mutation {
        action: "DeleteLogGroup",
        deadlines,
        is_busy: is_group_busy,
        unknown_until: None,
        search: Search::TWO_POLLS,
        parent: None,
    };
    let delete = || operation.session.logs.delete_log_group().log_group_name(&entry.id).send();
    let exists = || async { Ok(show(operation.session, &entry.id).await?.is_some()) };
    match change.delete(delete, is_log_group_missing, exists).await {
        Err(failure) if is_deletion_protected(&failure) => Err(protected(failure, &entry.id)),
        deleted => deleted,
    }
}

/// Stops managing a group that the configuration names by its ARN.
pub(crate) async fn disown(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let _lock = lock(operation.session, &entry.id).await;
    match find(operation.session, &entry.id).await? {
        Some(found) if is_owned(operation, entry, &found)? => release(operation, found).await,
        _ => Ok(()),
    }
}

/// Whether the tag of a group names the root. Another resource may own the group by now, or a person may have taken it
/// over: a tag takes the right to delete a group, although it never gives one.
fn is_owned(operation: &Operation<'_>, entry: &Entry, found: &FoundGroup) -> Result<bool, Failure> {
    let resource = ownership::resource(operation.work.owner, operation.root_id()?);
    let is_tagged = found.tags.get(ownership::RESOURCE) == Some(&resource);
    let is_owned = is_tagged && is_the_same(&found.shown, &entry.learned);
    if !is_owned {
        tracing::warn!("Log group {} does not belong to {resource}, so it stays as it is", entry.id);
    }
    Ok(is_owned)
}

/// Whether the tag of the group with this name names the root.
pub(crate) async fn is_of_root(operation: &Operation<'_>, name: &str) -> Result<bool, Failure> {
    let resource = ownership::resource(operation.work.owner, operation.root_id()?);
    let found = find(operation.session, name).await?;
    Ok(found.is_some_and(|found| found.tags.get(ownership::RESOURCE) == Some(&resource)))
}

/// Whether this process has created a group so recently that AWS may not return it yet.
fn is_new(operation: &Operation<'_>, name: &str) -> bool {
    operation.session.process.created.invisible_until(name).is_some_and(|until| until > Instant::now())
}

/// Removes the ownership tags of a group that stays.
async fn release(operation: &Operation<'_>, found: FoundGroup) -> Result<(), Failure> {
    let keys: Vec<String> = found.tags.into_keys().filter(|key| ownership::is_ownership(key)).collect();
    let (Some(arn), false) = (arn_of(&found.shown), keys.is_empty()) else { return Ok(()) };
    let logs = &operation.session.logs;
    let removed = logs.untag_resource().resource_arn(arn).set_tag_keys(Some(keys)).send().await;
    match removed.or_failure("UntagResource") {
        Err(failure) if is_absent(&failure) => Ok(()),
        removed => removed.map(|_| ()),
    }
}

/// Adds the command that disables the deletion protection.
fn protected(mut failure: Failure, name: &str) -> Failure {
    failure.case = Some(Case::LogGroupProtected);
    failure.with_advice(
        "To delete the log group with its events, run this command, then apply again.",
        [LogGroup::unprotecting(name)],
    )
}

/// Locks a group and its subscription filters, because AWS rejects overlapping calls for one group.
pub(crate) async fn lock(session: &Session, name: &str) -> OwnedMutexGuard<()> {
    session.process.locks.lock(format!("log group {} {name}", session.scope.region)).await
}

/// Replaces the key that encrypts new events. `None` restores the default encryption of CloudWatch Logs.
async fn set_key(operation: &Operation<'_>, name: &str, kms_key_arn: Option<&str>) -> Result<(), Failure> {
    let logs = &operation.session.logs;
    let deadlines = key_deadlines(operation, kms_key_arn.is_some());
    let (is_busy, unknown_until) = (is_busy_or_key_is_new, operation.unknown_until(name));
    let change = Mutation {
        action: "AssociateKmsKey",
        deadlines: &deadlines,
        is_busy,
        unknown_until,
        search: Search::TWO_POLLS,
        parent: None,
    };
    match kms_key_arn {
        Some(arn) => {
            let answer = change.send(|| logs.associate_kms_key().log_group_name(name).kms_key_id(arn).send()).await;
            answer.map(|_| ()).map_err(|failure| of_key(failure, kms_key_arn))
        }
        None => {
            let change = Mutation { action: "DisassociateKmsKey", ..change };
            change.send(|| logs.disassociate_kms_key().log_group_name(name).send()).await.map(|_| ())
        }
    }
}

fn key_deadlines(operation: &Operation<'_>, has_key: bool) -> Deadlines {
    if has_key { operation.deadlines(KEY_POLICY) } else { operation.work.deadlines.clone() }
}

fn is_busy_or_key_is_new(failure: &Failure) -> bool {
    is_group_busy(failure) || is_key_rejected(failure)
}

/// Adds the requirements to the failure of a rejected key. The caller lacks no permission, so the cause is reset.
fn of_key(mut failure: Failure, kms_key_arn: Option<&str>) -> Failure {
    if let (Some(arn), true) = (kms_key_arn, is_key_rejected(&failure)) {
        failure.cause = Cause::Other;
        failure.message = format!(
            "{}. The KMS key {arn} must be symmetric, enabled and in the Region of the log group, and its key policy \
             must allow the CloudWatch Logs service of the Region to use it.",
            failure.message.trim_end_matches('.')
        );
    }
    failure
}

fn is_absent(failure: &Failure) -> bool {
    failure.cause == Cause::NotFound
}

/// The ARN without the suffix `:*`, which neither tag calls nor access log settings accept.
fn arn_of(shown: &Shown) -> Option<&str> {
    shown.log_group_arn.as_deref().or(shown.arn.as_deref()).map(|arn| arn.strip_suffix(":*").unwrap_or(arn))
}

/// The ARN of a new log group, which CreateLogGroup does not return: built if the account is known, otherwise read.
async fn arn(operation: &Operation<'_>, name: &str) -> Result<String, Failure> {
    let Scope { partition, region, account, .. } = &operation.session.scope;
    if let Some(account) = account {
        return Ok(format!("arn:{partition}:logs:{region}:{account}:log-group:{name}"));
    }
    let deadlines = &operation.work.deadlines;
    wait::until("Waiting for the new log group", deadlines, Duration::from_secs(2), || async {
        let found = find(operation.session, name).await?;
        Ok(match found.as_ref().and_then(|found| arn_of(&found.shown)) {
            Some(arn) => Poll::Done(arn.to_string()),
            None => Poll::Pending("the log group was not found".to_string()),
        })
    })
    .await
}

fn learned(arn: String, creation_time: Option<i64>) -> Learned {
    let created = creation_time.map(|time| (CREATION_TIME.to_string(), time.to_string()));
    [("arn".to_string(), arn)].into_iter().chain(created).collect()
}

fn unmanaged(slot: &str, name: &str) -> Failure {
    Failure::new(
        Cause::Exists,
        "CreateLogGroup",
        format!(
            "log group {name} already exists and is not managed by this resource, so it was not changed. A killed run or \
             someone else may have created it"
        ),
    )
    .with_advice(
        format!(
            "Choose another name. The resource uses the log group as it is if its setting \
             access_log_logservice_group_skip_destroy or log_group_skip_destroy is true, and a resource that exists takes \
             it over with {slot:?} = {name:?} in adopt. If Terraform has marked the resource as tainted, run terraform \
             untaint first."
        ),
        [],
    )
}

#[cfg(test)]
mod tests;
