//! Which custom domain an adoption takes over.

use aws_sdk_apigatewayv2::types::SecurityPolicy;
use futures::future::join_all;

use super::{FoundDomain, Place, needs_consent, root_mapping, with_mappings};
use crate::aws::Session;
use crate::aws::apigateway::domain_name;
use crate::aws::calls::ownership::Owner;
use crate::cloud::{Cause, Failure, Unmanaged};

/// Finds the domain of a foreign API, for an adoption: the first one whose root path is mapped to
/// the API. All others with a mapping to the API are unmanaged.
pub(in crate::aws::apigateway::read) async fn adoptable(
    session: &Session,
    place: Place<'_>,
    owner: Owner<'_>,
) -> Result<(Vec<FoundDomain>, Vec<Unmanaged>), Failure> {
    let all = domain_name::list(session).await?;
    let mut mapped = Vec::new();
    for found in join_all(all.into_iter().map(|shown| with_mappings(session, shown, owner.resource))).await {
        match found {
            // A role may have access to its own domain only.
            Err(failure) if failure.cause == Cause::Denied => {
                tracing::warn!("Skipping a custom domain whose mappings cannot be read: {failure}");
            }
            found => mapped.push(found?),
        }
    }
    mapped.retain(|found| found.mappings.iter().any(|mapping| mapping.api_id.as_deref() == Some(place.0)));
    mapped.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(chosen(mapped, place, owner))
}

/// Reads a domain that the user names, whatever its tags are. `resource` is the value of the tag `fgw:resource` for the
/// gateway. `None` if the domain does not exist.
pub(in crate::aws::apigateway::read) async fn named(
    session: &Session,
    name: &str,
    resource: &str,
) -> Result<Option<FoundDomain>, Failure> {
    match domain_name::get(session, name).await? {
        Some(shown) => with_mappings(session, shown, resource).await.map(Some),
        None => Ok(None),
    }
}

/// The first domain that can be adopted, and why the others cannot.
fn chosen(mapped: Vec<FoundDomain>, place: Place<'_>, owner: Owner<'_>) -> (Vec<FoundDomain>, Vec<Unmanaged>) {
    let (mut adoptable, mut unmanaged): (Vec<FoundDomain>, _) = (Vec::new(), Vec::new());
    for found in mapped {
        let taken = adoptable.first().map(|first| format!("{} is the domain of this gateway already", first.name));
        match reason_against_adoption(&found, place, owner).or(taken) {
            Some(reason) => unmanaged.push(Unmanaged { id: found.name, slot: None, is_tagged: false, reason }),
            None => adoptable.push(found),
        }
    }
    (adoptable, unmanaged)
}

/// Why a domain with a mapping to an API cannot be adopted with it, if there is a reason.
fn reason_against_adoption(found: &FoundDomain, place: Place<'_>, owner: Owner<'_>) -> Option<String> {
    if !owner.accepts(found.tags(), None) {
        return Some("another resource has tagged it".to_string());
    }
    if root_mapping(found, place.0).is_none() {
        return Some("the API is mapped to a path below it, not to its root path".to_string());
    }
    reason_against_settings(found, place)
}

/// Why a domain that the user names cannot be adopted, if there is a reason. An adoption creates no mapping, but an
/// interrupted run may have left a domain without one.
pub(in crate::aws::apigateway::read) fn reason_against_named(found: &FoundDomain, place: Place<'_>) -> Option<String> {
    let root_id = place.0;
    let unmapped = || match root_mapping(found, root_id).is_none() && !found.is_tagged {
        true => Some(format!("its root path is not mapped to the API {root_id}; create this mapping first")),
        false => None,
    };
    reason_against_settings(found, place).or_else(unmapped)
}

/// What the inputs cannot express.
fn reason_against_settings(found: &FoundDomain, (root_id, stages): Place<'_>) -> Option<String> {
    let stage = root_mapping(found, root_id).and_then(|mapping| mapping.stage.as_deref());
    if let Some(stage) = stage.filter(|stage| !stages.contains(stage)) {
        return Some(format!("its mapping leads to the stage {stage}"));
    }
    let shown = found.shown.as_ref()?;
    let policies = shown.domain_name_configurations.iter().flatten().filter_map(|it| it.security_policy.as_ref());
    let other_policy = policies.map(SecurityPolicy::as_str).find(|it| *it != crate::model::DomainName::TLS_1_2);
    needs_consent(found, root_id).or(other_policy.map(|policy| format!("its security policy is {policy}")))
}
