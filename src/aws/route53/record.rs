//! Alias records of Route 53. Facts that shape this file:
//!
//! - CREATE refuses a name that has a record of its type, so that nothing is ever overwritten. UPSERT overwrites, and
//!   DELETE names the record exactly as it is listed.
//! - A zone takes one change at a time.
//! - Names are shown in lower case, with a dot at the end, and with `\052` in place of `*`.
//! - Records that share name and type are told apart by set identifiers, and a record without one excludes them.
use std::time::Duration;

use aws_sdk_route53::Client;
use aws_sdk_route53::types::{
    AliasTarget, Change as ZoneChange, ChangeAction, ChangeBatch, ChangeInfo, ChangeStatus, ResourceRecordSet, RrType,
};
use aws_smithy_types::error::operation::BuildError;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

use crate::aws::Session;
use crate::aws::calls::codes;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::non_idempotent::{Mutation, Search};
use crate::aws::calls::rate_limit::{Limit, LimitKey};
use crate::aws::calls::wait::{MINUTES, Poll, until};
use crate::aws::calls::{AwsError, Operation};
use crate::cloud::{Cause, Failure, Observed};
use crate::model::Input;
use crate::model::{DnsRecord, Entry, Key, Learned, Ref, Spec};

/// Route 53 takes five requests a second from one account, all kinds of calls together. The period is somewhat longer
/// than a second, since calls do not travel equally fast.
const REQUESTS: Limit = Limit::Window { calls: 5, period: Duration::from_millis(1100) };

/// How long a new zone may answer that it does not exist.
const NEW_ZONE: Duration = Duration::from_secs(60);

/// How long a change may take to reach all name servers. A minute is usual.
const SPREAD: Duration = Duration::from_secs(30 * 60);

/// What an alias to a custom domain leads to, as AWS tells it of the domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DomainTarget {
    /// Name of API Gateway's endpoint for the domain.
    pub(crate) name: String,
    /// Id of the zone that this name is in, which is AWS's own.
    pub(crate) zone_id: String,
}

/// The client, once it may be used for one call. Every call to Route 53 begins with this.
pub(crate) async fn client(session: &Session) -> &Client {
    let key = LimitKey { account: session.scope.account.clone(), region: None, calls: "route53" };
    session.process.rate_limiter.acquire(key, REQUESTS).await;
    &session.route53
}

/// Looks for the record of type A of this name; of several with set identifiers, the first. `None` where there is none,
/// or no such zone.
pub(crate) async fn find(session: &Session, zone_id: &str, name: &str) -> Result<Option<ResourceRecordSet>, Failure> {
    let answer = client(session)
        .await
        .list_resource_record_sets()
        .hosted_zone_id(zone_id)
        .start_record_name(name)
        .start_record_type(RrType::A)
        .max_items(1)
        .send()
        .await;
    let listed = match answer.map_err(|error| error.failure("ListResourceRecordSets")) {
        Ok(answer) => answer.resource_record_sets,
        Err(failure) if codes::is_no_zone(&failure) => return Ok(None),
        Err(failure) => return Err(failure),
    };
    // The list begins with the next record where this one is missing.
    Ok(listed.into_iter().find(|it| it.r#type == RrType::A && plain(&it.name) == plain(name)))
}

/// What AWS shows of the record of this zone and name. `domains` are our custom domains. `None` for a record with a
/// set identifier: those belong to a routing policy that somebody else put in place of ours.
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
    let domain = domains.iter().find(|(_, target)| target.is_behind(shown));
    let spec = DnsRecord {
        zone_id: Input::Known(zone_id.to_string()),
        name: Input::Known(name.to_string()),
        target: domain.map_or_else(|| Ref::Id(words(shown)), |(key, _)| Ref::Key(key.clone())),
        evaluate_target_health: shown.alias_target.as_ref().is_some_and(|it| it.evaluate_target_health),
    };
    let learned = domain.map(|(_, target)| target.learned()).unwrap_or_default();
    Some(Observed { id: id(zone_id, name), key, spec: Spec::DnsRecord(spec), learned })
}

/// Makes a record. One that is there already is taken only if it is the alias that is wanted: nobody but us has a
/// reason to point one to our custom domain.
pub(crate) async fn create(operation: &Operation<'_>, spec: &DnsRecord) -> Result<(), Failure> {
    let session = operation.session;
    let place = RecordId::of(operation, spec)?;
    let target = target(operation, spec)?;
    let batch = batch(ChangeAction::Create, alias(&place, &target, spec.evaluate_target_health)?)?;
    let find_ours = || async {
        match find(session, place.zone_id, place.name).await? {
            Some(there) if is_alias_to(&there, &target, spec) => Ok(Some(None)),
            Some(there) => Err(taken(&place, &there, &target)),
            None => Ok(None),
        }
    };
    let new_until = Instant::now() + NEW_ZONE;
    let made = until("the hosted zone to show", &operation.work.deadlines, Duration::from_secs(5), || async {
        let (_turn, change) = change(operation, &place).await;
        let call = || async {
            let request = client(session).await.change_resource_record_sets().hosted_zone_id(place.zone_id);
            let request = request.change_batch(batch.clone()).customize().config_override(session.once_route53());
            Ok(request.send().await?.change_info)
        };
        match change.create(call, Ok, find_ours).await {
            Ok(sent) => Ok(Poll::Done(sent)),
            Err(failure) if codes::is_refused_batch(&failure) => match find_ours().await? {
                Some(made) => Ok(Poll::Done(made)),
                None => Err(refused(failure, &place)),
            },
            Err(failure) if codes::is_no_zone(&failure) && Instant::now() < new_until => {
                Ok(Poll::Pending(failure.to_string()))
            }
            Err(failure) if codes::is_no_zone(&failure) => Err(no_zone(failure)),
            Err(failure) => Err(failure),
        }
    })
    .await?;
    operation.record_id(&id(place.zone_id, place.name));
    operation.record_learned(target.learned());
    match made {
        Some(sent) => in_sync(operation, sent).await,
        // Only the answer to a change says what to wait for.
        None => update(operation, "", None, spec).await,
    }
}

/// Leads a record of ours elsewhere, without a moment in which there is none.
pub(crate) async fn update(
    operation: &Operation<'_>,
    _id: &str,
    _from: Option<&DnsRecord>,
    to: &DnsRecord,
) -> Result<(), Failure> {
    let place = RecordId::of(operation, to)?;
    let target = target(operation, to)?;
    let wanted = alias(&place, &target, to.evaluate_target_health)?;
    let sent = match send(operation, &place, ChangeAction::Upsert, wanted).await {
        Err(failure) if codes::is_refused_batch(&failure) => return Err(refused(failure, &place)),
        Err(failure) if codes::is_no_zone(&failure) => return Err(no_zone(failure)),
        sent => sent?,
    };
    operation.record_learned(target.learned());
    in_sync(operation, sent).await
}

/// Deletes a record, as it is now. One that somebody has led elsewhere stays: the name has been handed over, and would
/// not be answered any more. Does not wait for the name servers: whoever still gets the old answer is refused by API
/// Gateway, which is what a deletion means.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let Spec::DnsRecord(spec) = &entry.applied else {
        return Err(Failure::new(Cause::Other, ACTION, "no DNS record; this is a bug in the provider"));
    };
    let session = operation.session;
    let place = RecordId::of(operation, spec)?;
    let Some(mut listed) = find(session, place.zone_id, place.name).await? else { return Ok(()) };
    if is_routed(&listed) || DomainTarget::of(&entry.learned).is_some_and(|target| !target.is_behind(&listed)) {
        tracing::warn!("DNS record {} is left alone: it leads to {} now", entry.id, words(&listed));
        return Ok(());
    }
    // An empty list is shown for some aliases, and refused in a change.
    listed.resource_records = listed.resource_records.filter(|records| !records.is_empty());
    let Err(failure) = send(operation, &place, ChangeAction::Delete, listed).await else { return Ok(()) };
    // Somebody was faster, or changed it meanwhile. An answer may also have been lost.
    let is_gone = codes::is_no_zone(&failure) || matches!(find(session, place.zone_id, place.name).await, Ok(None));
    if is_gone { Ok(()) } else { Err(failure) }
}

/// The name of a record without what only Route 53 writes.
pub(crate) fn plain(name: &str) -> String {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    match name.strip_prefix("\\052") {
        Some(rest) => format!("*{rest}"),
        None => name,
    }
}

/// The id of the record of type A of this zone and name.
pub(crate) fn id(zone_id: &str, name: &str) -> String {
    format!("{zone_id}_{name}_A")
}

impl DomainTarget {
    /// What a custom domain is reached by, or what a record was last led to. `None` where AWS has not told it.
    pub(crate) fn of(domain: &Learned) -> Option<DomainTarget> {
        let learned = |name: &str| domain.get(name).cloned();
        Some(DomainTarget { name: learned("target_domain_name")?, zone_id: learned("target_hosted_zone_id")? })
    }

    /// The same as what is kept of a domain, and of a record that leads to it.
    fn learned(&self) -> Learned {
        let told = [("target_domain_name", &self.name), ("target_hosted_zone_id", &self.zone_id)];
        told.map(|(name, value)| (name.to_string(), value.clone())).into()
    }

    /// Whether a record is an alias to this.
    pub(crate) fn is_behind(&self, shown: &ResourceRecordSet) -> bool {
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

/// Where a record is.
struct RecordId<'a> {
    zone_id: &'a str,
    name: &'a str,
}

impl<'a> RecordId<'a> {
    fn of(operation: &'a Operation<'_>, spec: &'a DnsRecord) -> Result<RecordId<'a>, Failure> {
        Ok(RecordId { zone_id: operation.known(&spec.zone_id)?, name: operation.known(&spec.name)? })
    }
}

fn target(operation: &Operation<'_>, spec: &DnsRecord) -> Result<DomainTarget, Failure> {
    let domain = match &spec.target {
        Ref::Key(domain) => operation.made(domain)?,
        // Only what is read leads to something else than a custom domain.
        Ref::Id(name) => {
            let message = format!("{name} is no custom domain; this is a bug in the provider");
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
    ResourceRecordSet::builder().name(place.name).r#type(RrType::A).alias_target(target).build().map_err(unbuilt)
}

fn is_alias_to(shown: &ResourceRecordSet, target: &DomainTarget, spec: &DnsRecord) -> bool {
    let evaluates = shown.alias_target.as_ref().is_some_and(|it| it.evaluate_target_health);
    !is_routed(shown) && target.is_behind(shown) && evaluates == spec.evaluate_target_health
}

/// A change of a zone, and the turn that it needs.
async fn change<'a>(operation: &'a Operation<'_>, place: &RecordId<'_>) -> (OwnedMutexGuard<()>, Mutation<'a>) {
    let turn = operation.session.process.locks.lock(format!("zone {}", place.zone_id)).await;
    // Both a throttle and a change of somebody else that is at work.
    let is_busy = |failure: &Failure| failure.cause == Cause::Throttled;
    (
        turn,
        Mutation {
            action: ACTION,
            deadlines: &operation.work.deadlines,
            is_busy,
            unknown_until: None,
            search: Search::TWO_LOOKS,
        },
    )
}

fn batch(action: ChangeAction, set: ResourceRecordSet) -> Result<ChangeBatch, Failure> {
    let change = ZoneChange::builder().action(action).resource_record_set(set).build().map_err(unbuilt)?;
    ChangeBatch::builder().changes(change).build().map_err(unbuilt)
}

/// Sends a change that may be repeated safely.
async fn send(
    operation: &Operation<'_>,
    place: &RecordId<'_>,
    action: ChangeAction,
    set: ResourceRecordSet,
) -> Result<ChangeInfo, Failure> {
    let batch = batch(action, set)?;
    let (_turn, change) = change(operation, place).await;
    let call = || async {
        let request = client(operation.session).await.change_resource_record_sets().hosted_zone_id(place.zone_id);
        request.change_batch(batch.clone()).send().await
    };
    let answer = change.send(call).await?;
    answer.change_info.ok_or_else(|| incomplete_answer(ACTION, "the change"))
}

/// Waits until all name servers of Route 53 answer with a change.
async fn in_sync(operation: &Operation<'_>, sent: ChangeInfo) -> Result<(), Failure> {
    if sent.status == ChangeStatus::Insync {
        return Ok(());
    }
    until("the change to reach all name servers of Route 53", &operation.deadlines(SPREAD), MINUTES, || async {
        let answer = client(operation.session).await.get_change().id(&sent.id).send().await;
        let status = match answer.map_err(|error| error.failure("GetChange")) {
            Ok(answer) => answer.change_info.map(|change| change.status),
            Err(failure) if codes::is_no_change(&failure) => None,
            Err(failure) => return Err(failure),
        };
        Ok(match status {
            Some(ChangeStatus::Insync) => Poll::Done(()),
            Some(status) => Poll::Pending(format!("change {} is {}", sent.id, status.as_str())),
            None => Poll::Pending(format!("change {} does not show", sent.id)),
        })
    })
    .await
}

/// What a record leads to, for people.
fn words(shown: &ResourceRecordSet) -> String {
    match &shown.alias_target {
        Some(target) => plain(&target.dns_name),
        None => shown.resource_records().iter().map(|it| it.value.as_str()).collect::<Vec<_>>().join(", "),
    }
}

fn taken(place: &RecordId<'_>, there: &ResourceRecordSet, target: &DomainTarget) -> Failure {
    let RecordId { zone_id, name } = place;
    let what = match (&there.set_identifier, &there.traffic_policy_instance_id) {
        (Some(identifier), _) => format!("{}, with the set identifier {identifier}", words(there)),
        (None, Some(policy)) => format!("the traffic policy instance {policy}"),
        (None, None) => words(there),
    };
    Failure::new(
        Cause::Exists,
        ACTION,
        format!(
            "{name} has an A record in hosted zone {zone_id} already, which is not managed here and so is left alone: it \
             leads to {what}. To keep it, set create_dns_entry = false. Else delete it, or make it an alias to {} in \
             zone {}, which is taken as it is, and apply again",
            target.name, target.zone_id
        ),
    )
}

/// Adds the way out to AWS's refusal of a name that is not part of the zone, or that has a record of another type.
fn refused(failure: Failure, RecordId { zone_id, name }: &RecordId<'_>) -> Failure {
    let message = format!(
        "{}. hosted_zone_id ({zone_id}) has to be the zone of {name} or of a domain above it, and {name} must have no \
         CNAME record there",
        failure.message.trim_end_matches('.')
    );
    Failure { message, ..failure }
}

fn no_zone(failure: Failure) -> Failure {
    let message = format!(
        "{}. hosted_zone_id has to be the id of a hosted zone of this account; aws route53 list-hosted-zones shows them",
        failure.message.trim_end_matches('.')
    );
    Failure { message, ..failure }
}

fn unbuilt(error: BuildError) -> Failure {
    Failure::new(Cause::Other, ACTION, format!("{error}; this is a bug in the provider"))
}

#[cfg(test)]
mod tests;
