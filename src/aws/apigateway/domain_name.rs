//! Custom domains. AWS sets them up asynchronously and accepts one call of each action every 30 seconds, see
//! `throttle_domain_call`. The calls take no idempotency token, so after a lost answer a domain is recognized by the
//! tag of the request.

mod taken;

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use aws_sdk_apigatewayv2::types::{
    DomainName as Shown, DomainNameConfiguration, DomainNameStatus, EndpointType, IpAddressType,
    MutualTlsAuthenticationInput, RoutingMode, SecurityPolicy,
};
use tokio::sync::OwnedMutexGuard;

use super::{
    PAGE, api, api_mapping, client, deleted, domain_lock, is_absent, is_busy, note_unmapped, pages, tag, text,
    throttle_domain_call, untag,
};
use crate::aws::Session;
use crate::aws::calls::codes::is_domain_name_taken;
use crate::aws::calls::codes::missing::is_domain_missing;
use crate::aws::calls::non_idempotent::{Mutation, Search};
use crate::aws::calls::ownership;
use crate::aws::calls::tag_changes;
use crate::aws::calls::tag_changes::TagChanges;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{Operation, OrFailure};
use crate::aws::route53::record;
use crate::cloud::{Cause, Failure, Observed};
use crate::model::Input;
use crate::model::Scope;
use crate::model::{Api, DomainName, Entry, Key, Learned, MutualTls, Spec, Unfinished};

/// How long AWS may take to set up a new domain.
const SET_UP: Duration = Duration::from_secs(10 * 60);

/// How long AWS may take to change a domain, such as to another certificate.
const CHANGED: Duration = Duration::from_secs(60 * 60);

/// A domain as each of three calls returns it, in another type.
macro_rules! shown {
    ($name:expr, $answer:expr) => {
        Shown::builder()
            .domain_name($name)
            .set_domain_name_configurations($answer.domain_name_configurations)
            .set_mutual_tls_authentication($answer.mutual_tls_authentication)
            .set_routing_mode($answer.routing_mode)
            .set_tags($answer.tags)
            .build()
    };
}

/// Reads a domain by its name. `None` if it does not exist.
pub(super) async fn get(session: &Session, name: &str) -> Result<Option<Shown>, Failure> {
    let answer = client(session).await.get_domain_name().domain_name(name).send().await;
    match answer.or_failure("GetDomainName") {
        Ok(it) => Ok(Some(shown!(name, it))),
        Err(failure) if is_absent(&failure) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// A domain whose name a create would need.
pub(crate) struct Occupied {
    /// Its tags.
    pub(crate) tags: HashMap<String, String>,
    /// The DNS name of its target; empty if AWS did not return it.
    pub(crate) target: String,
}

/// Finds the domain of this account and Region that a create with this name would meet.
pub(crate) async fn occupied(session: &Session, name: &str) -> Result<Option<Occupied>, Failure> {
    let Some(found) = get(session, name).await? else { return Ok(None) };
    let target = learned(&found).attributes.remove("target_domain_name").unwrap_or_default();
    Ok(Some(Occupied { target, tags: found.tags.unwrap_or_default() }))
}

/// Lists all domains of the account in the Region.
pub(super) async fn list(session: &Session) -> Result<Vec<Shown>, Failure> {
    let (shared, own) = (&session.shared, session.clone());
    shared.domain_names.all(&shared.gateways, async move || list_all(&own).await).await
}

async fn list_all(session: &Session) -> Result<Vec<Shown>, Failure> {
    pages(|token| async move {
        let answer = client(session).await.get_domain_names().max_results(PAGE).set_next_token(token).send().await;
        let answer = answer.or_failure("GetDomainNames")?;
        Ok((answer.items.unwrap_or_default(), answer.next_token))
    })
    .await
}

/// Converts a domain that AWS returned to an observation. An omitted endpoint type or security policy counts as the one
/// that this provider sets. `applied` is the spec of the last apply, if there was one.
pub(super) fn read(shown: &Shown, api: Key, key: Key, applied: Option<&DomainName>) -> Option<Observed> {
    let name = shown.domain_name.clone()?;
    let configuration = configuration(shown);
    let or = |text: Option<&str>, default: &str| text.unwrap_or(default).to_string();
    let mut spec = DomainName {
        api,
        domain_name: Input::Known(name.clone()),
        certificate_arn: Input::Known(configuration.and_then(|it| it.certificate_arn.clone()).unwrap_or_default()),
        endpoint_type: endpoint_type(shown).to_string(),
        security_policy: or(
            configuration.and_then(|it| it.security_policy.as_ref()).map(SecurityPolicy::as_str),
            DomainName::TLS_1_2,
        ),
        ip_address_type: api::read_ip_address_type(configuration.and_then(|it| it.ip_address_type.as_ref())),
        mutual_tls: Input::Known(Some(mutual_tls(shown))),
        tags: tag_changes::shown(shown.tags.iter().flatten()),
    };
    if let Some(applied) = applied {
        spec.keep_managed_of(applied);
    }
    Some(Observed { id: name, key, spec: Spec::DomainName(spec), learned: learned(shown) })
}

/// The endpoint type of a domain.
pub(super) fn endpoint_type(shown: &Shown) -> &str {
    configuration(shown).and_then(|it| it.endpoint_type.as_ref()).map_or(DomainName::REGIONAL, EndpointType::as_str)
}

/// The target of a DNS record for the domain, `target_domain_name` and `target_hosted_zone_id`, and the settings that a
/// new domain does not have.
pub(super) fn learned(shown: &Shown) -> Learned {
    let Some(configuration) = configuration(shown) else { return Learned::new() };
    let target = [
        ("target_domain_name", &configuration.api_gateway_domain_name),
        ("target_hosted_zone_id", &configuration.hosted_zone_id),
    ];
    let target: Learned =
        target.into_iter().filter_map(|(name, value)| Some((name.to_string(), value.clone()?))).collect();
    let settings = [
        (DomainName::MUTUAL_TLS, Some(mutual_tls(shown)).filter(MutualTls::is_on).map(|it| it.to_string())),
        (
            "routing_mode",
            shown.routing_mode().filter(|it| **it != RoutingMode::ApiMappingOnly).map(|it| it.to_string()),
        ),
        ("ownership_verification_certificate_arn", configuration.ownership_verification_certificate_arn.clone()),
    ];
    let unexpressed = settings.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))).collect();
    let remarks = shown.mutual_tls_authentication().map(|it| it.truststore_warnings().to_vec()).unwrap_or_default();
    Learned { unexpressed, remarks, ..target }
}

/// Mutual TLS of a domain. AWS may return an empty URI for a domain without it.
fn mutual_tls(shown: &Shown) -> MutualTls {
    let found = shown.mutual_tls_authentication();
    match found.and_then(|it| it.truststore_uri()).filter(|uri| !uri.is_empty()) {
        Some(uri) => MutualTls {
            truststore_uri: uri.to_string(),
            truststore_version: found.and_then(|it| text(it.truststore_version())),
        },
        None => MutualTls::off(),
    }
}

/// Whether the tags of a domain name this root and key as its owner.
pub(super) fn is_tagged(shown: &Shown, resource: &str, slot: &str) -> bool {
    let tag = |key: &str| shown.tags.as_ref().and_then(|tags| tags.get(key)).map(String::as_str);
    tag(ownership::RESOURCE) == Some(resource) && tag(ownership::OBJECT) == Some(slot)
}

/// Whether a domain is the one for which these values were learned. One that was created again has another target.
/// Where a value is unknown, the name alone identifies it. Tags make no difference, because anyone may copy them.
pub(super) fn is_the_same(shown: &Shown, known: &Learned) -> bool {
    learned(shown).attributes.iter().all(|(name, value)| known.get(name).is_none_or(|known| known == value))
}

/// Creates a domain. An existing one is an error, unless this very call has created it and its answer was lost.
pub(crate) async fn create(operation: &Operation<'_>, spec: &DomainName) -> Result<(), Failure> {
    let session = operation.session;
    let (name, api_id) = (operation.known(&spec.domain_name)?, operation.root_id()?);
    let mut tags = ownership::tags_on_create(operation, &spec.tags)?;
    let request = ownership::add_request(&mut tags);
    let wanted = wanted(operation, spec)?;
    let mutual_tls = operation.known(&spec.mutual_tls)?.as_ref().filter(|it| it.is_on()).map(sent);
    let find_created = || async {
        match get(session, name).await? {
            Some(found) if ownership::is_of_request(found.tags.as_ref(), &request) => Ok(Some(found)),
            Some(found) => Err(taken::here(session, name, found.tags.as_ref(), api_id).await),
            None => Ok(None),
        }
    };
    let answer = {
        let (_lock, change) = change(operation, name, "CreateDomainName").await?;
        change
            .create(
                || async {
                    let answer = client(session)
                        .await
                        .create_domain_name()
                        .domain_name(name)
                        .domain_name_configurations(wanted.clone())
                        .set_mutual_tls_authentication(mutual_tls.clone())
                        .set_tags(Some(tags.clone().into_iter().collect()))
                        .customize()
                        .config_override(session.once_apigateway())
                        .send()
                        .await?;
                    Ok(shown!(name, answer))
                },
                Ok,
                find_created,
            )
            .await
    };
    let domain = match answer {
        Err(failure) if is_domain_name_taken(&failure) => {
            find_created().await?.ok_or_else(|| taken::elsewhere(failure, &session.scope))?
        }
        answer => answer?,
    };
    operation.record_id(name);
    operation.record_learned(learned(&domain));
    wait_until_available(operation, name, Some(domain), SET_UP).await
}

/// Updates a domain to match its spec.
///
/// `UpdateDomainName` requires a whole configuration, and AWS does not document whether it resets omitted members. The
/// members that the spec does not contain are therefore sent back as AWS returns them. A request without mutual TLS and
/// the routing mode keeps them. With a URI, AWS takes the current version of the object, so only a change is sent.
pub(crate) async fn update(
    operation: &Operation<'_>,
    name: &str,
    from: &DomainName,
    to: &DomainName,
) -> Result<(), Failure> {
    let session = operation.session;
    if settings(from) != settings(to) {
        let found = wait_until_idle(operation, name).await?;
        let now = found.as_ref().and_then(|it| current(it, to));
        // An earlier call whose answer was lost may have set everything.
        let is_set = now.as_ref().is_some_and(|now| settings(now) == settings(to));
        let answer = match is_set {
            true => found,
            false => {
                send_settings(operation, name, found.as_ref(), (now.as_ref(), to)).await?;
                None
            }
        };
        wait_until_available(operation, name, answer, CHANGED).await?;
    } else if operation.work.unfinished == Some(Unfinished::Create) {
        wait_until_available(operation, name, None, SET_UP).await?;
    }
    let arn = arn(&session.scope, name);
    let tags = TagChanges::between(operation, &from.tags, &to.tags)?;
    let (_lock, change) = change_of_tags(operation, name).await;
    tag(session, &arn, tags.set, &change).await?;
    untag(session, &arn, tags.remove, &Mutation { action: "UntagResource", ..change }).await
}

/// The settings that `UpdateDomainName` changes.
fn settings(spec: &DomainName) -> impl PartialEq + use<> {
    let DomainName { certificate_arn, endpoint_type, security_policy, ip_address_type, mutual_tls, .. } = spec.clone();
    (certificate_arn, endpoint_type, security_policy, ip_address_type, mutual_tls)
}

/// A domain as it is, without what `wanted` does not manage.
fn current(shown: &Shown, wanted: &DomainName) -> Option<DomainName> {
    let observed = read(shown, wanted.api.clone(), Key::new(""), Some(wanted))?;
    DomainName::of(&observed.spec).cloned()
}

/// Sends the settings of a spec in one call, because AWS accepts the next one only when a change is complete.
async fn send_settings(
    operation: &Operation<'_>,
    name: &str,
    found: Option<&Shown>,
    (now, to): (Option<&DomainName>, &DomainName),
) -> Result<(), Failure> {
    if to.ip_address_type == Input::Known(Api::IPV4.to_string()) {
        record::until_forgotten(operation, name).await?;
    }
    let wanted = with_unmanaged(wanted(operation, to)?, found);
    let is_same = now.is_some_and(|now| now.mutual_tls == to.mutual_tls);
    let mutual_tls = operation.known(&to.mutual_tls)?.as_ref().filter(|_| !is_same).map(sent);
    let (_lock, change) = change(operation, name, "UpdateDomainName").await?;
    let call = || async {
        let client = client(operation.session).await;
        let request = client.update_domain_name().domain_name(name).domain_name_configurations(wanted.clone());
        request.set_mutual_tls_authentication(mutual_tls.clone()).send().await
    };
    change.send(call).await.map(|_| ())
}

/// Mutual TLS in a request. An empty URI turns it off.
fn sent(wanted: &MutualTls) -> MutualTlsAuthenticationInput {
    MutualTlsAuthenticationInput::builder()
        .truststore_uri(&wanted.truststore_uri)
        .set_truststore_version(wanted.truststore_version.clone())
        .build()
}

/// Adds tags to a domain.
pub(crate) async fn add_tags(
    operation: &Operation<'_>,
    name: &str,
    tags: BTreeMap<String, String>,
) -> Result<(), Failure> {
    let session = operation.session;
    let (_lock, change) = change_of_tags(operation, name).await;
    if let Some(existing) = get(session, name).await?.and_then(|it| it.tags) {
        ownership::check_adoption(operation, name, &existing)?;
    }
    tag(session, &arn(&session.scope, name), tags, &change).await
}

/// Locks a domain and returns the lock with a mutation of its tags, for which there is no rate limit.
async fn change_of_tags<'a>(operation: &'a Operation<'_>, name: &str) -> (OwnedMutexGuard<()>, Mutation<'a>) {
    let lock = operation.session.process.locks.lock(domain_lock(operation.session, name)).await;
    let change = Mutation {
        action: "TagResource",
        deadlines: &operation.work.deadlines,
        is_busy,
        unknown_until: operation.unknown_until(name),
        search: Search::TWO_POLLS,
        parent: None,
    };
    (lock, change)
}

/// Deletes a domain, unless it has mappings to other APIs, which would become unreachable, or was deleted and created
/// again outside Terraform.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, name, api_id) = (operation.session, &entry.id, operation.work.root_id);
    let is_identifiable = !entry.learned.is_empty();
    if is_identifiable && get(session, name).await?.is_some_and(|shown| !is_the_same(&shown, &entry.learned)) {
        tracing::warn!("Custom domain {name} was not created by this resource, so it was not deleted");
        return Ok(());
    }
    let mappings = api_mapping::list(session, name).await?;
    // Mappings to the API of this resource are deleted with the domain, even unmanaged ones: they serve nothing else.
    // One of them may also be a deleted mapping that AWS still returns.
    let (own, others): (Vec<_>, Vec<_>) =
        mappings.iter().partition(|mapping| api_id.is_some() && mapping.api_id.as_deref() == api_id);
    let others: Vec<String> = others.into_iter().map(api_mapping::described).collect();
    if !others.is_empty() {
        let message = format!("custom domain {name} has API mappings to other APIs: {}", others.join(", "));
        return Err(Failure::new(Cause::InUse, "DeleteDomainName", message));
    }
    let (_lock, change) = change(operation, name, "DeleteDomainName").await?;
    let delete = || async { client(session).await.delete_domain_name().domain_name(name).send().await };
    let exists = || async { Ok(get(session, name).await?.is_some()) };
    deleted(change.delete(delete, is_domain_missing, exists).await)?;
    if !own.is_empty() {
        note_unmapped(session, api_id.unwrap_or_default());
    }
    Ok(())
}

/// The ARN of a domain, which contains no account ID.
fn arn(scope: &Scope, name: &str) -> String {
    format!("arn:{}:apigateway:{}::/domainnames/{name}", scope.partition, scope.region)
}

/// Waits for the rate limit, locks a domain and returns the lock with a mutation of the domain. Calls of other
/// processes count against the quota too, so a throttled call (HTTP 429) is retried, for minutes if several processes
/// change domains.
async fn change<'a>(
    operation: &'a Operation<'_>,
    name: &str,
    action: &'static str,
) -> Result<(OwnedMutexGuard<()>, Mutation<'a>), Failure> {
    throttle_domain_call(operation.session, action, &operation.work.deadlines).await?;
    let lock = operation.session.process.locks.lock(domain_lock(operation.session, name)).await;
    let is_busy = |failure: &Failure| is_busy(failure) || failure.cause == Cause::Throttled;
    let unknown_until = operation.unknown_until(name);
    Ok((
        lock,
        Mutation {
            action,
            deadlines: &operation.work.deadlines,
            is_busy,
            unknown_until,
            search: Search::TWO_POLLS,
            parent: None,
        },
    ))
}

/// Waits until AWS has set up a domain. `answer`, if any, replaces the first poll.
async fn wait_until_available(
    operation: &Operation<'_>,
    name: &str,
    answer: Option<Shown>,
    longest: Duration,
) -> Result<(), Failure> {
    let mut answer = answer;
    let domain = wait::until(&waiting_for(name), &operation.deadlines(longest), wait::MINUTES, || {
        let seen = answer.take();
        async move {
            let seen = match seen {
                Some(seen) => Some(seen),
                None => get(operation.session, name).await?,
            };
            let Some(shown) = seen else { return Ok(Poll::Pending("the domain was not found".to_string())) };
            match status(&shown) {
                None | Some(DomainNameStatus::Available) => Ok(Poll::Done(shown)),
                Some(DomainNameStatus::PendingCertificateReimport | DomainNameStatus::PendingOwnershipVerification) => {
                    Err(Failure::new(
                        Cause::Other,
                        "GetDomainName",
                        format!("custom domain {name} requires a manual step: {}", status_text(&shown)),
                    ))
                }
                Some(_) => Ok(Poll::Pending(status_text(&shown))),
            }
        }
    })
    .await?;
    operation.record_learned(learned(&domain));
    Ok(())
}

/// Waits until no change of a domain is in progress, whatever its result, and returns the domain.
async fn wait_until_idle(operation: &Operation<'_>, name: &str) -> Result<Option<Shown>, Failure> {
    wait::until(&waiting_for(name), &operation.deadlines(CHANGED), wait::MINUTES, || async {
        Ok(match get(operation.session, name).await? {
            Some(shown) if status(&shown) == Some(&DomainNameStatus::Updating) => Poll::Pending(status_text(&shown)),
            domain => Poll::Done(domain),
        })
    })
    .await
}

fn waiting_for(name: &str) -> String {
    format!("Waiting for custom domain {name}")
}

fn status(shown: &Shown) -> Option<&DomainNameStatus> {
    configuration(shown)?.domain_name_status()
}

/// The status and the status message of a domain.
fn status_text(shown: &Shown) -> String {
    let status = status(shown).map_or("unknown", DomainNameStatus::as_str);
    match configuration(shown).and_then(|it| it.domain_name_status_message()).filter(|it| !it.is_empty()) {
        Some(message) => format!("status {status}: {message}"),
        None => format!("status {status}"),
    }
}

/// The configuration of a domain. A domain that is moved from one endpoint type to the other temporarily has two, of
/// which the regional one counts.
fn configuration(shown: &Shown) -> Option<&DomainNameConfiguration> {
    let all = shown.domain_name_configurations();
    all.iter().find(|it| it.endpoint_type == Some(EndpointType::Regional)).or(all.first())
}

fn wanted(operation: &Operation<'_>, spec: &DomainName) -> Result<DomainNameConfiguration, Failure> {
    Ok(DomainNameConfiguration::builder()
        .certificate_arn(operation.known(&spec.certificate_arn)?)
        .ip_address_type(IpAddressType::from(operation.known(&spec.ip_address_type)?.as_str()))
        .endpoint_type(EndpointType::from(spec.endpoint_type.as_str()))
        .security_policy(SecurityPolicy::from(spec.security_policy.as_str()))
        .build())
}

/// The configuration with the settings of the regional endpoint that this provider does not manage.
fn with_unmanaged(mut wanted: DomainNameConfiguration, found: Option<&Shown>) -> DomainNameConfiguration {
    let found = found.and_then(configuration).filter(|it| it.endpoint_type != Some(EndpointType::Edge));
    wanted.ownership_verification_certificate_arn =
        found.and_then(|it| it.ownership_verification_certificate_arn.clone());
    wanted
}

#[cfg(test)]
mod tests;
