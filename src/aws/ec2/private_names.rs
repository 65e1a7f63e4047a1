//! The private DNS names of a service, which only one endpoint of a VPC can have.

use aws_sdk_ec2::types::VpcEndpoint;

use super::conflicts::{Text, explained_by, is_of_service, other_endpoints};
use super::guardduty;
use crate::aws::calls::Operation;
use crate::cloud::Failure;

/// Whether an endpoint has the private DNS names of a service.
pub(super) fn has_names(it: &VpcEndpoint, service_name: &str) -> bool {
    is_of_service(it, service_name) && it.private_dns_enabled() == Some(true)
}

/// An endpoint that has the private DNS names of a service already.
pub(super) fn taken(slot: &str, other: &VpcEndpoint, service_name: &str) -> Text {
    let id = other.vpc_endpoint_id().unwrap_or("Another endpoint");
    let message = format!("{id} has the private DNS names of {service_name} in this VPC.");
    let otherwise = "set private_dns_enabled to false, or delete that endpoint.";
    let is_of_user = other.requester_managed() != Some(true) && guardduty::Endpoint::of(other).is_none();
    let hint = match is_of_user {
        true => format!("To take it over, set {slot:?} = {id:?} in adopt. Otherwise {otherwise}"),
        false => format!("A service of AWS has created it. Remove the entry, {otherwise}"),
    };
    (message, hint)
}

/// The failure to create private DNS names that something else has, with the endpoint that has them, if it is in this
/// VPC, and what to do. `own` is the endpoint itself, if it exists, and the name of the service.
pub(super) async fn with_other_names(
    operation: &Operation<'_>,
    failure: Failure,
    vpc_id: &str,
    (own, service_name): (Option<&str>, &str),
) -> Failure {
    let found = other_endpoints(operation.session, vpc_id, own).await;
    let text = match found.iter().find(|it| has_names(it, service_name)) {
        Some(other) => taken(&operation.key.slot, other, service_name),
        None => {
            let message = "A private hosted zone that is associated with this VPC may have the same name.";
            (message.to_string(), "Delete it, or set private_dns_enabled to false.".to_string())
        }
    };
    explained_by(failure, text)
}
