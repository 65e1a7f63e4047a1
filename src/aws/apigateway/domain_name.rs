//! Custom domains. AWS sets them up after it has answered, takes one change of each kind in thirty seconds (see
//! `throttle_domain_call`), and knows no idempotency tokens for them: a domain is recognized by its name and its tags.

use std::collections::HashMap;
use std::time::Duration;

use aws_sdk_apigatewayv2::types::{
    DomainName as Shown, DomainNameConfiguration, DomainNameStatus, EndpointType, SecurityPolicy,
};
use tokio::sync::OwnedMutexGuard;

use super::{
    PAGE, api_mapping, client, deleted, domain_lock, is_absent, is_busy, is_conflict, note_unmapped, pages, tag,
    throttle_domain_call, untag,
};
use crate::aws::Session;
use crate::aws::calls::non_idempotent::{Mutation, Search};
use crate::aws::calls::ownership;
use crate::aws::calls::tag_changes;
use crate::aws::calls::tag_changes::TagChanges;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{AwsError, Operation};
use crate::cloud::{Cause, Failure, Observed};
use crate::model::Input;
use crate::model::Scope;
use crate::model::{DomainName, Entry, Key, Learned, Spec};

/// How long AWS may take to set up a new domain.
const SET_UP: Duration = Duration::from_secs(10 * 60);

/// How long AWS may take to change a domain, such as to another certificate.
const CHANGED: Duration = Duration::from_secs(60 * 60);

/// Reads a domain by its name. `None` where it does not exist.
pub(super) async fn get(session: &Session, name: &str) -> Result<Option<Shown>, Failure> {
    let answer = client(session).await.get_domain_name().domain_name(name).send().await;
    match answer.map_err(|error| error.failure("GetDomainName")) {
        Ok(it) => Ok(Some(shown(name, it.domain_name_configurations, it.tags))),
        Err(failure) if is_absent(&failure) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Every domain of the account in the Region.
pub(super) async fn list(session: &Session) -> Result<Vec<Shown>, Failure> {
    pages(|token| async move {
        let answer = client(session).await.get_domain_names().max_results(PAGE).set_next_token(token).send().await;
        let answer = answer.map_err(|error| error.failure("GetDomainNames"))?;
        Ok((answer.items.unwrap_or_default(), answer.next_token))
    })
    .await
}

/// What AWS shows of a domain. Where it does not tell the kind or the policy, they are what we set.
pub(super) fn read(shown: &Shown, api: Key, key: Key) -> Option<Observed> {
    let name = shown.domain_name.clone()?;
    let configuration = configuration(shown);
    let told = |text: Option<&str>, ours: &str| text.unwrap_or(ours).to_string();
    let spec = DomainName {
        api,
        domain_name: Input::Known(name.clone()),
        certificate_arn: Input::Known(configuration.and_then(|it| it.certificate_arn.clone()).unwrap_or_default()),
        endpoint_type: told(
            configuration.and_then(|it| it.endpoint_type.as_ref()).map(EndpointType::as_str),
            DomainName::REGIONAL,
        ),
        security_policy: told(
            configuration.and_then(|it| it.security_policy.as_ref()).map(SecurityPolicy::as_str),
            DomainName::TLS_1_2,
        ),
        tags: tag_changes::shown(shown.tags.iter().flatten()),
    };
    Some(Observed { id: name, key, spec: Spec::DomainName(spec), learned: learned(shown) })
}

/// What a DNS record for the domain points to.
pub(super) fn learned(shown: &Shown) -> Learned {
    let Some(configuration) = configuration(shown) else { return Learned::new() };
    let target = [
        ("target_domain_name", &configuration.api_gateway_domain_name),
        ("target_hosted_zone_id", &configuration.hosted_zone_id),
    ];
    target.into_iter().filter_map(|(name, value)| Some((name.to_string(), value.clone()?))).collect()
}

/// Whether a domain is said to belong to a root.
pub(super) fn is_tagged(shown: &Shown, resource: &str, slot: &str) -> bool {
    let tag = |key: &str| shown.tags.as_ref().and_then(|tags| tags.get(key)).map(String::as_str);
    tag(ownership::RESOURCE) == Some(resource) && tag(ownership::OBJECT) == Some(slot)
}

/// Makes a domain. One that is there already is taken only if it carries our tags.
pub(crate) async fn create(operation: &Operation<'_>, spec: &DomainName) -> Result<(), Failure> {
    let session = operation.session;
    let name = operation.known(&spec.domain_name)?;
    let tags = ownership::tags_on_create(operation, &spec.tags)?;
    let wanted = wanted(operation, spec)?;
    let resource = ownership::resource(operation.work.owner, operation.root_id()?);
    let find_ours = || async {
        match get(session, name).await? {
            Some(found) if is_tagged(&found, &resource, &operation.key.slot) => Ok(Some(found)),
            Some(_) => Err(foreign(operation, name, &resource)),
            None => Ok(None),
        }
    };
    let answer = {
        let (_turn, change) = change(operation, name, "CreateDomainName").await?;
        change
            .create(
                || async {
                    let answer = client(session)
                        .await
                        .create_domain_name()
                        .domain_name(name)
                        .domain_name_configurations(wanted.clone())
                        .set_tags(Some(tags.clone().into_iter().collect()))
                        .customize()
                        .config_override(session.once_apigateway())
                        .send()
                        .await?;
                    Ok(shown(name, answer.domain_name_configurations, answer.tags))
                },
                Ok,
                find_ours,
            )
            .await
    };
    let (made, is_new) = match answer {
        Ok(made) => (made, true),
        Err(failure) if is_taken(&failure) => match find_ours().await? {
            Some(left) => (left, false),
            None => return Err(taken_elsewhere(failure, &session.scope)),
        },
        Err(failure) => return Err(failure),
    };
    operation.record_id(name);
    operation.record_learned(learned(&made));
    match is_new {
        true => available(operation, name, Some(made), SET_UP).await,
        false => update(operation, name, None, spec).await,
    }
}

/// Brings a domain to its spec.
pub(crate) async fn update(
    operation: &Operation<'_>,
    name: &str,
    from: Option<&DomainName>,
    to: &DomainName,
) -> Result<(), Failure> {
    let session = operation.session;
    let wanted = wanted(operation, to)?;
    let settings =
        |spec: &DomainName| (spec.certificate_arn.clone(), spec.endpoint_type.clone(), spec.security_policy.clone());
    if from.is_none_or(|from| settings(from) != settings(to)) {
        if from.is_none() {
            at_rest(operation, name).await?;
        }
        let (held, change) = change(operation, name, "UpdateDomainName").await?;
        change
            .send(|| async {
                client(session)
                    .await
                    .update_domain_name()
                    .domain_name(name)
                    .domain_name_configurations(wanted.clone())
                    .send()
                    .await
            })
            .await?;
        drop(held);
        available(operation, name, None, CHANGED).await?;
    }
    let arn = arn(&session.scope, name);
    let tags = TagChanges::between(operation, from.map(|from| &from.tags), &to.tags)?;
    let _turn = session.process.locks.lock(domain_lock(session, name)).await;
    let unknown_until = operation.unknown_until(name);
    let change = Mutation {
        action: "TagResource",
        deadlines: &operation.work.deadlines,
        is_busy,
        unknown_until,
        search: Search::TWO_LOOKS,
    };
    tag(session, &arn, tags.set, &change).await?;
    untag(session, &arn, tags.remove, &Mutation { action: "UntagResource", ..change }).await
}

/// Deletes a domain, unless others have mapped paths of it to their APIs: these would not be reached any more.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, name, api_id) = (operation.session, &entry.id, operation.work.root_id);
    let mappings = api_mapping::list(session, name).await?;
    // Those that lead to our API go with the domain, whoever made them: nothing else is behind them. AWS may also still
    // see one that has gone.
    let (of_ours, of_others): (Vec<_>, Vec<_>) =
        mappings.iter().partition(|mapping| api_id.is_some() && mapping.api_id.as_deref() == api_id);
    let of_others: Vec<String> = of_others
        .into_iter()
        .map(|mapping| format!("{} ({})", mapping.api_mapping_id().unwrap_or_default(), api_mapping::target(mapping)))
        .collect();
    if !of_others.is_empty() {
        let message = format!("custom domain {name} has API mappings that are not ours: {}", of_others.join(", "));
        return Err(Failure::new(Cause::InUse, "DeleteDomainName", message));
    }
    let (_turn, change) = change(operation, name, "DeleteDomainName").await?;
    let delete = || async { client(session).await.delete_domain_name().domain_name(name).send().await };
    let is_there = || async { Ok(get(session, name).await?.is_some()) };
    deleted(change.delete(delete, is_there).await)?;
    if !of_ours.is_empty() {
        note_unmapped(session, api_id.unwrap_or_default());
    }
    Ok(())
}

/// The ARN of a domain. It has no account in it.
fn arn(scope: &Scope, name: &str) -> String {
    format!("arn:{}:apigateway:{}::/domainnames/{name}", scope.partition, scope.region)
}

/// A change of a domain, once AWS takes it, and the turn that it needs. AWS counts the calls of other processes too, so
/// a 429 is waited out: that takes minutes where several of them change domains.
async fn change<'a>(
    operation: &'a Operation<'_>,
    name: &str,
    action: &'static str,
) -> Result<(OwnedMutexGuard<()>, Mutation<'a>), Failure> {
    throttle_domain_call(operation.session, action, &operation.work.deadlines).await?;
    let turn = operation.session.process.locks.lock(domain_lock(operation.session, name)).await;
    let is_busy = |failure: &Failure| is_busy(failure) || failure.cause == Cause::Throttled;
    let unknown_until = operation.unknown_until(name);
    Ok((
        turn,
        Mutation { action, deadlines: &operation.work.deadlines, is_busy, unknown_until, search: Search::TWO_LOOKS },
    ))
}

/// Waits until AWS has set a domain up. `answer` is the first look where there was one already.
async fn available(
    operation: &Operation<'_>,
    name: &str,
    answer: Option<Shown>,
    longest: Duration,
) -> Result<(), Failure> {
    let mut answer = answer;
    let made = wait::until(&what(name), &operation.deadlines(longest), wait::MINUTES, || {
        let seen = answer.take();
        async move {
            let seen = match seen {
                Some(seen) => Some(seen),
                None => get(operation.session, name).await?,
            };
            let Some(shown) = seen else { return Ok(Poll::Pending("no such domain".to_string())) };
            match status(&shown) {
                None | Some(DomainNameStatus::Available) => Ok(Poll::Done(shown)),
                Some(DomainNameStatus::PendingCertificateReimport | DomainNameStatus::PendingOwnershipVerification) => {
                    Err(Failure::new(
                        Cause::Other,
                        "GetDomainName",
                        format!(
                            "custom domain {name} needs something that AWS does not do by itself: {}",
                            in_words(&shown)
                        ),
                    ))
                }
                Some(_) => Ok(Poll::Pending(in_words(&shown))),
            }
        }
    })
    .await?;
    operation.record_learned(learned(&made));
    Ok(())
}

/// Waits until a change that is at work has ended, however it ends.
async fn at_rest(operation: &Operation<'_>, name: &str) -> Result<(), Failure> {
    wait::until(&what(name), &operation.deadlines(CHANGED), wait::MINUTES, || async {
        Ok(match get(operation.session, name).await? {
            Some(shown) if status(&shown) == Some(&DomainNameStatus::Updating) => Poll::Pending(in_words(&shown)),
            _ => Poll::Done(()),
        })
    })
    .await
}

fn what(name: &str) -> String {
    format!("Waiting for custom domain {name}")
}

fn status(shown: &Shown) -> Option<&DomainNameStatus> {
    configuration(shown)?.domain_name_status()
}

/// The status, and what AWS says about it.
fn in_words(shown: &Shown) -> String {
    let status = status(shown).map_or("unknown", DomainNameStatus::as_str);
    match configuration(shown).and_then(|it| it.domain_name_status_message()).filter(|it| !it.is_empty()) {
        Some(message) => format!("status {status}: {message}"),
        None => format!("status {status}"),
    }
}

/// A domain that is moved from one kind of endpoint to the other has two for a while.
fn configuration(shown: &Shown) -> Option<&DomainNameConfiguration> {
    let all = shown.domain_name_configurations();
    all.iter().find(|it| it.endpoint_type == Some(EndpointType::Regional)).or(all.first())
}

fn wanted(operation: &Operation<'_>, spec: &DomainName) -> Result<DomainNameConfiguration, Failure> {
    Ok(DomainNameConfiguration::builder()
        .certificate_arn(operation.known(&spec.certificate_arn)?)
        .endpoint_type(EndpointType::from(spec.endpoint_type.as_str()))
        .security_policy(SecurityPolicy::from(spec.security_policy.as_str()))
        .build())
}

fn shown(
    name: &str,
    configurations: Option<Vec<DomainNameConfiguration>>,
    tags: Option<HashMap<String, String>>,
) -> Shown {
    Shown::builder().domain_name(name).set_domain_name_configurations(configurations).set_tags(tags).build()
}

fn is_taken(failure: &Failure) -> bool {
    is_conflict(failure) || failure.message.to_lowercase().contains("already exists")
}

/// A name can be taken where we cannot look.
fn taken_elsewhere(failure: Failure, scope: &Scope) -> Failure {
    let message = format!(
        "{}. It is not among the custom domains of this account in {}: another account or Region has it, or a \
         CloudFront distribution. Delete it there, or use another domain_name",
        failure.message.trim_end_matches('.'),
        scope.region
    );
    Failure { message, ..failure }
}

fn foreign(operation: &Operation<'_>, name: &str, resource: &str) -> Failure {
    let (slot, arn) = (&operation.key.slot, arn(&operation.session.scope, name));
    Failure::new(
        Cause::Exists,
        "CreateDomainName",
        format!(
            "custom domain {name} exists already and is not managed here, so it is left alone. Use another domain_name, \
             or delete it (aws apigatewayv2 delete-domain-name --domain-name {name}), or hand it over (aws apigatewayv2 \
             tag-resource --resource-arn {arn} --tags {}={resource},{}={slot}), and apply again",
            ownership::RESOURCE,
            ownership::OBJECT,
        ),
    )
}

#[cfg(test)]
mod tests;
