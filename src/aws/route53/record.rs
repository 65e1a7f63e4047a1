//! Alias records of Route 53.
//!
//! - CREATE rejects a name that already has a record of the same type, so it never overwrites a record. UPSERT
//!   overwrites, and DELETE must contain the record exactly as it is listed.
//! - A zone accepts one change at a time.
//! - Names are returned in lower case, with a trailing dot, and with `\052` instead of `*`.
//! - The records of type A and AAAA of a name are two objects, and so two changes, although Route 53 accepts both in
//!   one: a change of the IP addresses of a domain creates or deletes the second one alone. If one of two creates
//!   fails, the name resolves to the other record until the next apply.
//! - Set identifiers distinguish records with the same name and type. A record without one excludes such records.

mod service;

use std::collections::BTreeMap;
use std::time::Duration;

use aws_sdk_route53::types::{
    AliasTarget, Change as ZoneChange, ChangeAction, ChangeBatch, ChangeInfo, ResourceRecordSet, RrType,
};
use aws_smithy_types::error::operation::BuildError;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

use crate::aws::Session;
use crate::aws::apigateway::deployment::before_deletion;
use crate::aws::calls::codes;
use crate::aws::calls::deployed_changes::Awaited;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::non_idempotent::{Mutation, Search};
use crate::aws::calls::operation::NEW_INPUT;
use crate::aws::calls::wait::{Poll, until};
use crate::aws::calls::{Operation, OrFailure};
use crate::cloud::{Cause, Failure, Observed};
use crate::model::Input;
use crate::model::{DnsRecord, Entry, Key, Learned, Ref, Spec, Unfinished};

use service::wait_until_in_sync;
pub(crate) use service::{client, until_forgotten};

/// The target of an alias to a custom domain, as API Gateway returns it for the domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DomainTarget {
    /// The DNS name of the API Gateway endpoint for the domain.
    pub(crate) name: String,
    /// The ID of the hosted zone that contains this name, which AWS owns.
    pub(crate) zone_id: String,
}

/// Finds the record with this type and name, or the first of several with set identifiers. `None` if the record or the
/// zone does not exist.
pub(crate) async fn find(
    session: &Session,
    zone_id: &str,
    name: &str,
    record_type: &str,
) -> Result<Option<ResourceRecordSet>, Failure> {
    let record_type = RrType::from(record_type);
    let answer = client(session)
        .await
        .list_resource_record_sets()
        .hosted_zone_id(zone_id)
        .start_record_name(name)
        .start_record_type(record_type.clone())
        .max_items(1)
        .send()
        .await;
    let listed = match answer.or_failure("ListResourceRecordSets") {
        Ok(answer) => answer.resource_record_sets,
        Err(failure) if codes::is_no_zone(&failure) => return Ok(None),
        Err(failure) => return Err(failure),
    };
    // If this record is missing, the list starts with the next one.
    Ok(listed.into_iter().find(|it| it.r#type == record_type && plain(&it.name) == plain(name)))
}

/// The name of a hosted zone, without the trailing dot. `None` if the zone does not exist.
pub(crate) async fn zone_name(session: &Session, zone_id: &str) -> Result<Option<String>, Failure> {
    let answer = client(session).await.get_hosted_zone().id(zone_id).send().await;
    match answer.or_failure("GetHostedZone") {
        Ok(answer) => Ok(answer.hosted_zone.map(|zone| plain(&zone.name))),
        Err(failure) if codes::is_no_zone(&failure) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Finds the record with this name that excludes a new one of a type, and describes it. `None` if there is none, or no
/// zone.
pub(crate) async fn occupied(
    session: &Session,
    zone_id: &str,
    name: &str,
    record_type: &str,
) -> Result<Option<String>, Failure> {
    // Without a type, the list starts with the first record of the name, and these are among the first types.
    let call = client(session).await.list_resource_record_sets().hosted_zone_id(zone_id).start_record_name(name);
    let listed = match call.max_items(10).send().await.or_failure("ListResourceRecordSets") {
        Ok(answer) => answer.resource_record_sets,
        Err(failure) if codes::is_no_zone(&failure) => return Ok(None),
        Err(failure) => return Err(failure),
    };
    let excludes = |it: &&ResourceRecordSet| {
        let is_of_type = it.r#type == RrType::from(record_type) || it.r#type == RrType::Cname;
        is_of_type && plain(&it.name) == plain(name)
    };
    Ok(listed.iter().find(excludes).map(|it| format!("{} {}", it.r#type.as_str(), routed_text(it))))
}

/// Converts the record with this zone and name to an observation. `domains` are the custom domains of the gateway.
/// `None` for a record with a set identifier, which belongs to an unmanaged routing policy.
pub(crate) fn read(
    shown: &ResourceRecordSet,
    key: Key,
    zone_id: &str,
    name: &str,
    domains: &[(Key, DomainTarget)],
) -> Option<Observed> {
    if is_routed(shown) {
        return None;
    }
    let domain = domains.iter().find(|(_, target)| target.is_target_of(shown));
    let spec = DnsRecord {
        zone_id: Input::Known(zone_id.to_string()),
        name: Input::Known(name.to_string()),
        record_type: shown.r#type.as_str().to_string(),
        target: domain.map_or_else(|| Ref::Id(target_text(shown)), |(key, _)| Ref::Key(key.clone())),
    };
    let learned = domain.map(|(_, target)| target.learned()).unwrap_or_default();
    let learned = Learned { unexpressed: unexpressed(evaluates(shown)), ..learned };
    Some(Observed { id: id(zone_id, name, shown.r#type.as_str()), key, spec: Spec::DnsRecord(spec), learned })
}

/// Creates a record. An existing one is adopted only if it is the required alias, because only this resource has a
/// reason to point a record to its custom domain.
pub(crate) async fn create(operation: &Operation<'_>, spec: &DnsRecord) -> Result<(), Failure> {
    let session = operation.session;
    let place = RecordId::of(operation, spec)?;
    let target = target(operation, spec)?;
    let batch = batch(ChangeAction::Create, alias(&place, &target, false)?)?;
    let find_ours = || async {
        match find(session, place.zone_id, place.name, place.record_type).await? {
            Some(existing) if is_alias_to(&existing, &target) => Ok(Some(None)),
            Some(existing) => Err(taken(&place, &existing, &target)),
            None => Ok(None),
        }
    };
    let new_until = Instant::now() + NEW_INPUT;
    let created = until("Waiting for the hosted zone", &operation.work.deadlines, Duration::from_secs(5), || async {
        let (_lock, change) = change(operation, &place).await;
        let call = || async {
            let request = client(session).await.change_resource_record_sets().hosted_zone_id(place.zone_id);
            let request = request.change_batch(batch.clone()).customize().config_override(session.once_route53());
            Ok(request.send().await?.change_info)
        };
        match change.create(call, Ok, find_ours).await {
            Ok(sent) => Ok(Poll::Done(sent)),
            Err(failure) if codes::is_rejected_batch(&failure) => match find_ours().await? {
                Some(existing) => Ok(Poll::Done(existing)),
                None => Err(rejected(failure, &place)),
            },
            Err(failure) if codes::is_no_zone(&failure) && Instant::now() < new_until => {
                Ok(Poll::Pending(failure.to_string()))
            }
            Err(failure) if codes::is_no_zone(&failure) => Err(no_zone(failure)),
            Err(failure) => Err(failure),
        }
    })
    .await?;
    operation.record_id(&id(place.zone_id, place.name, place.record_type));
    operation.record_learned(target.learned());
    match created {
        Some(sent) => wait_until_in_sync(operation, &sent).await,
        // Only the answer to a change contains the ID by which to wait for it.
        None => {
            let existing = find(session, place.zone_id, place.name, place.record_type).await?;
            put(operation, &place, &target, existing.as_ref().is_some_and(evaluates)).await
        }
    }
}

/// Points a record to its target in one step, so that the name always resolves. Whether Route 53 evaluates the health
/// of the target stays as it is. A record that was changed after it was read has another purpose now, and stays.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: &DnsRecord,
    to: &DnsRecord,
) -> Result<(), Failure> {
    let place = RecordId::of(operation, to)?;
    let target = target(operation, to)?;
    // Only the answer to a change contains the ID by which an interrupted create can wait for it.
    let is_created = operation.work.unfinished == Some(Unfinished::Create);
    if from == to && !is_created {
        return Ok(());
    }
    let existing = find(operation.session, place.zone_id, place.name, place.record_type).await?;
    let is_done = existing.as_ref().is_some_and(|it| is_alias_to(it, &target));
    if !is_done && !existing.as_ref().is_some_and(|it| is_as_read(it, &target, from)) {
        return Err(changed_since(id, existing.as_ref()));
    }
    let evaluates = existing.as_ref().is_some_and(evaluates);
    operation.record_learned(Learned { unexpressed: unexpressed(evaluates), ..target.learned() });
    match is_done && !is_created {
        true => Ok(()),
        false => put(operation, &place, &target, evaluates).await,
    }
}

/// Whether a record is the one that was read. `target` is that of its custom domain.
fn is_as_read(shown: &ResourceRecordSet, target: &DomainTarget, from: &DnsRecord) -> bool {
    let points_to_it = match &from.target {
        Ref::Key(_) => target.is_target_of(shown),
        Ref::Id(text) => target_text(shown) == *text,
    };
    !is_routed(shown) && points_to_it
}

fn changed_since(id: &str, existing: Option<&ResourceRecordSet>) -> Failure {
    let now = existing.map_or("It is missing".to_string(), |it| format!("It points to {}, and stays", routed_text(it)));
    let message = format!("DNS record {id} was changed after it was read. {now}. Run plan again: it shows the change");
    Failure::new(Cause::Other, ACTION, message)
}

/// Creates or replaces a record, and waits until all name servers have it.
async fn put(
    operation: &Operation<'_>,
    place: &RecordId<'_>,
    target: &DomainTarget,
    evaluates: bool,
) -> Result<(), Failure> {
    let wanted = alias(place, target, evaluates)?;
    let sent = match send(operation, place, ChangeAction::Upsert, wanted).await {
        Err(failure) if codes::is_rejected_batch(&failure) => return Err(rejected(failure, place)),
        Err(failure) if codes::is_no_zone(&failure) => return Err(no_zone(failure)),
        sent => sent?,
    };
    wait_until_in_sync(operation, &sent).await
}

/// Deletes a record. A record that was changed outside Terraform to point elsewhere remains, because its name has
/// another purpose now. This does not wait for the name servers: API Gateway rejects clients that use the old answer.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    // The same apply may have enabled the endpoint of the API instead.
    before_deletion(operation, operation.work.root_id.unwrap_or_default(), Awaited::CreatesAndUpdates, entry).await?;
    let spec = operation.of_its_kind(DnsRecord::of(&entry.applied))?;
    let session = operation.session;
    let place = RecordId::of(operation, spec)?;
    let Some(mut listed) = find(session, place.zone_id, place.name, place.record_type).await? else { return Ok(()) };
    if is_routed(&listed) || DomainTarget::of(&entry.learned).is_some_and(|target| !target.is_target_of(&listed)) {
        tracing::warn!("DNS record {} now points to {}, so it was not deleted", entry.id, target_text(&listed));
        return Ok(());
    }
    // Route 53 returns an empty list for some aliases, but rejects it in a change.
    listed.resource_records = listed.resource_records.filter(|records| !records.is_empty());
    let failure = match send(operation, &place, ChangeAction::Delete, listed).await {
        Ok(sent) => {
            if place.record_type == DnsRecord::AAAA {
                service::withdrawn(&session.process.withdrawn).insert(place.name.to_string(), sent.id);
            }
            return Ok(());
        }
        Err(failure) => failure,
    };
    // The record may have been deleted or changed in the meantime, also by a call whose answer was lost.
    // A zone that does not exist has no records, but the answer may be about another one.
    let is_deleted = matches!(find(session, place.zone_id, place.name, place.record_type).await, Ok(None));
    if is_deleted { Ok(()) } else { Err(failure) }
}

/// The normalized name of a record: in lower case, without the trailing dot, and with `*` unescaped.
pub(crate) fn plain(name: &str) -> String {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    match name.strip_prefix("\\052") {
        Some(rest) => format!("*{rest}"),
        None => name,
    }
}

/// The ID of the record with this zone, name and type: `<zone ID>_<name>_<type>`.
pub(crate) fn id(zone_id: &str, name: &str, record_type: &str) -> String {
    format!("{zone_id}_{name}_{record_type}")
}

impl DomainTarget {
    /// The target of a custom domain, or the last target of a record. `None` if it was not recorded.
    pub(crate) fn of(domain: &Learned) -> Option<DomainTarget> {
        let learned = |name: &str| domain.get(name).cloned();
        Some(DomainTarget { name: learned("target_domain_name")?, zone_id: learned("target_hosted_zone_id")? })
    }

    /// The target as learned values, which are the same for a domain and its record.
    fn learned(&self) -> Learned {
        let values = [("target_domain_name", &self.name), ("target_hosted_zone_id", &self.zone_id)];
        values.map(|(name, value)| (name.to_string(), value.clone())).into()
    }

    /// Whether a record is an alias to this target.
    pub(crate) fn is_target_of(&self, shown: &ResourceRecordSet) -> bool {
        shown
            .alias_target
            .as_ref()
            .is_some_and(|it| plain(&it.dns_name) == plain(&self.name) && it.hosted_zone_id == self.zone_id)
    }
}

/// Whether a record is one of several that share its name and type.
pub(crate) fn is_routed(shown: &ResourceRecordSet) -> bool {
    shown.set_identifier.is_some() || shown.traffic_policy_instance_id.is_some()
}

const ACTION: &str = "ChangeResourceRecordSets";

/// The zone, the name and the type of a record.
struct RecordId<'a> {
    zone_id: &'a str,
    name: &'a str,
    record_type: &'a str,
}

impl<'a> RecordId<'a> {
    fn of(operation: &'a Operation<'_>, spec: &'a DnsRecord) -> Result<RecordId<'a>, Failure> {
        let (zone_id, name) = (operation.known(&spec.zone_id)?, operation.known(&spec.name)?);
        Ok(RecordId { zone_id, name, record_type: &spec.record_type })
    }
}

fn target(operation: &Operation<'_>, spec: &DnsRecord) -> Result<DomainTarget, Failure> {
    let domain = match &spec.target {
        Ref::Key(domain) => operation.resolved(domain)?,
        // Only a record that was read from AWS has another target than a custom domain.
        Ref::Id(name) => {
            let message = format!("{name} is not a custom domain; this is a bug in the provider");
            return Err(Failure::new(Cause::Other, ACTION, message));
        }
    };
    DomainTarget::of(&domain.learned)
        .ok_or_else(|| incomplete_answer("GetDomainName", "the target of the custom domain"))
}

fn alias(
    place: &RecordId<'_>,
    target: &DomainTarget,
    evaluate_target_health: bool,
) -> Result<ResourceRecordSet, Failure> {
    let target = AliasTarget::builder()
        .hosted_zone_id(&target.zone_id)
        .dns_name(&target.name)
        .evaluate_target_health(evaluate_target_health)
        .build()
        .map_err(unbuilt)?;
    let record_type = RrType::from(place.record_type);
    ResourceRecordSet::builder().name(place.name).r#type(record_type).alias_target(target).build().map_err(unbuilt)
}

fn is_alias_to(shown: &ResourceRecordSet, target: &DomainTarget) -> bool {
    !is_routed(shown) && target.is_target_of(shown)
}

/// The setting of an alias that no input sets.
fn unexpressed(evaluates: bool) -> BTreeMap<String, String> {
    evaluates.then(|| ("evaluate_target_health".to_string(), "true".to_string())).into_iter().collect()
}

/// Whether Route 53 evaluates the health of the target of an alias.
fn evaluates(shown: &ResourceRecordSet) -> bool {
    shown.alias_target.as_ref().is_some_and(|it| it.evaluate_target_health)
}

/// Locks a zone and returns the lock with a mutation of the zone.
async fn change<'a>(operation: &'a Operation<'_>, place: &RecordId<'_>) -> (OwnedMutexGuard<()>, Mutation<'a>) {
    let lock = operation.session.process.locks.lock(format!("zone {}", place.zone_id)).await;
    // This cause also covers PriorRequestNotComplete: another change of the zone is in progress.
    let is_busy = |failure: &Failure| failure.cause == Cause::Throttled;
    (
        lock,
        Mutation {
            action: ACTION,
            deadlines: &operation.work.deadlines,
            is_busy,
            unknown_until: None,
            search: Search::TWO_POLLS,
            parent: None,
        },
    )
}

fn batch(action: ChangeAction, set: ResourceRecordSet) -> Result<ChangeBatch, Failure> {
    let change = ZoneChange::builder().action(action).resource_record_set(set).build().map_err(unbuilt)?;
    ChangeBatch::builder().changes(change).build().map_err(unbuilt)
}

/// Sends an idempotent change.
async fn send(
    operation: &Operation<'_>,
    place: &RecordId<'_>,
    action: ChangeAction,
    set: ResourceRecordSet,
) -> Result<ChangeInfo, Failure> {
    let batch = batch(action, set)?;
    let (_lock, change) = change(operation, place).await;
    let call = || async {
        let request = client(operation.session).await.change_resource_record_sets().hosted_zone_id(place.zone_id);
        request.change_batch(batch.clone()).send().await
    };
    let answer = change.send(call).await?;
    answer.change_info.ok_or_else(|| incomplete_answer(ACTION, "the change"))
}

/// The alias target or the values of a record, for messages.
fn target_text(shown: &ResourceRecordSet) -> String {
    match &shown.alias_target {
        Some(target) => plain(&target.dns_name),
        None => shown.resource_records().iter().map(|it| it.value.as_str()).collect::<Vec<_>>().join(", "),
    }
}

/// The target of a record, and the routing policy that it is part of.
fn routed_text(shown: &ResourceRecordSet) -> String {
    match (&shown.set_identifier, &shown.traffic_policy_instance_id) {
        (Some(identifier), _) => format!("{}, with the set identifier {identifier}", target_text(shown)),
        (None, Some(policy)) => format!("the traffic policy instance {policy}"),
        (None, None) => target_text(shown),
    }
}

fn taken(place: &RecordId<'_>, existing: &ResourceRecordSet, target: &DomainTarget) -> Failure {
    let RecordId { zone_id, name, record_type } = place;
    let points_to = routed_text(existing);
    Failure::new(
        Cause::Exists,
        ACTION,
        format!(
            "{name} already has an unmanaged {record_type} record in hosted zone {zone_id}, which was not changed. It points to \
             {points_to}. To keep it, set create_dns_entry = false. If the same run deletes it, apply again. Otherwise \
             delete it, or replace it with an alias to {} in zone {}, which this resource adopts, then apply again.",
            target.name, target.zone_id
        ),
    )
}

/// Adds the requirements to the rejection of a name that is not in the zone or has a conflicting record.
fn rejected(failure: Failure, RecordId { zone_id, name, .. }: &RecordId<'_>) -> Failure {
    let message = format!(
        "{}. hosted_zone_id ({zone_id}) must be the zone of {name} or of a parent domain, and {name} must not have a \
         CNAME record there.",
        failure.message.trim_end_matches('.')
    );
    Failure { message, ..failure }
}

fn no_zone(failure: Failure) -> Failure {
    let message = format!(
        "{}. hosted_zone_id must be the ID of a hosted zone in this account",
        failure.message.trim_end_matches('.')
    );
    let commands = ["aws route53 list-hosted-zones".to_string()];
    Failure { message, ..failure }
        .with_advice("List the zones with this command, and correct hosted_zone_id.", commands)
}

fn unbuilt(error: BuildError) -> Failure {
    Failure::new(Cause::Other, ACTION, format!("{error}; this is a bug in the provider"))
}

#[cfg(test)]
mod tests;
