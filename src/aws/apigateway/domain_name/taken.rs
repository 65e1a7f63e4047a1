//! The failures of a create whose name is in use.

use std::collections::HashMap;

use crate::aws::Session;
use crate::aws::apigateway::api;
use crate::aws::calls::ownership;
use crate::cloud::{Cause, Failure};
use crate::model::Scope;

/// The name may be in use in another account or Region, which this account cannot query.
pub(super) fn elsewhere(failure: Failure, scope: &Scope) -> Failure {
    let message = format!(
        "{}. This account has no such custom domain in {}, so the name is in use in another account or Region or by a \
         CloudFront distribution. Delete it there or use another domain_name.",
        failure.message.trim_end_matches('.'),
        scope.region
    );
    Failure { message, ..failure }
}

/// The name is that of an existing domain of this account. An owner that cannot be read may exist. `api_id` is that of
/// the gateway, whose tags do not make the domain its own.
pub(super) async fn here(
    session: &Session,
    name: &str,
    tags: Option<&HashMap<String, String>>,
    api_id: &str,
) -> Failure {
    let owner = tags.and_then(ownership::owning_root).map(|(_, owner)| owner);
    match owner.filter(|owner| owner != api_id) {
        Some(owner) if api::exists(session, &owner).await.unwrap_or(true) => belongs(name, &owner),
        _ => unmanaged(name),
    }
}

const TAINTED: &str = "If Terraform has marked the resource as tainted, run terraform untaint first.";

fn belongs(name: &str, owner: &str) -> Failure {
    let message = format!("custom domain {name} belongs to {owner} (tag fgw:resource), so it was not changed");
    let advice =
        format!("If the same run deletes the domain there, apply again. Otherwise use another domain_name. {TAINTED}");
    Failure::new(Cause::Exists, "CreateDomainName", message).with_advice(advice, [])
}

fn unmanaged(name: &str) -> Failure {
    Failure::new(
        Cause::Exists,
        "CreateDomainName",
        format!(
            "custom domain {name} already exists and is not managed by this resource, so it was not changed. A killed \
             run or someone else may have created it"
        ),
    )
    .with_advice(
        format!(
            "Use another domain_name, or delete the domain with this command if nothing uses it, then apply again. An \
             existing API without another domain takes it over with \"domain\" = {name:?} in adopt, if the root path of \
             the domain is mapped to it. {TAINTED}"
        ),
        [format!("aws apigatewayv2 delete-domain-name --domain-name {name}")],
    )
}
