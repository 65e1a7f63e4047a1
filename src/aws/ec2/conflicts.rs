//! The unmanaged objects because of which AWS rejects a create, and what to do. A plan says the same as a rejection.

use aws_sdk_ec2::types::VpcEndpoint;

use super::filter;
use crate::aws::Session;
use crate::aws::calls::AwsError;
use crate::cloud::Failure;

/// What an unmanaged object has, and what to do: each one or more sentences.
pub(super) type Text = (String, String);

/// The failure of a call with the reason that was found.
pub(super) fn explained_by(failure: Failure, (message, hint): Text) -> Failure {
    let message = format!("{}. {message} {}", failure.message.trim_end_matches('.'), hint.trim_end_matches('.'));
    Failure { message, ..failure }
}

/// The other endpoints of a VPC, after a rejection.
pub(super) async fn other_endpoints(session: &Session, vpc_id: &str, own: Option<&str>) -> Vec<VpcEndpoint> {
    let call = session.ec2.describe_vpc_endpoints().filters(filter("vpc-id", vpc_id));
    let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
    let mut found = found.unwrap_or_else(|error| {
        let failure = error.failure("DescribeVpcEndpoints");
        tracing::warn!("The other endpoints in {vpc_id} are unknown: {failure}");
        Vec::new()
    });
    found.retain(|it| it.vpc_endpoint_id() != own);
    found
}

/// Whether an endpoint exists and is one for a service.
pub(super) fn is_of_service(it: &VpcEndpoint, service_name: &str) -> bool {
    let state = it.state().map(|state| state.as_str().to_ascii_lowercase());
    it.service_name() == Some(service_name) && !matches!(state.as_deref(), Some("deleted" | "deleting"))
}

/// Whether an endpoint routes to a service in one of these tables. Only gateway endpoints have route tables.
pub(super) fn has_routes(it: &VpcEndpoint, service_name: &str, tables: &[String]) -> bool {
    is_of_service(it, service_name) && it.route_table_ids().iter().any(|table| tables.contains(table))
}

/// An endpoint that routes to a service already.
pub(super) fn routes(other: &VpcEndpoint, service_name: &str, tables: &[String]) -> Text {
    let shared: Vec<&str> =
        other.route_table_ids().iter().filter(|it| tables.contains(it)).map(String::as_str).collect();
    let message = format!(
        "{}, which this resource does not manage, routes to {service_name} in {}.",
        other.vpc_endpoint_id().unwrap_or("Another endpoint"),
        shared.join(", ")
    );
    let hint = "To keep it, set create_vpc_endpoints to false. Otherwise delete it, or remove these route tables from it. \
                Then run Terraform again.";
    (message, hint.to_string())
}

/// The failure to route to a service to which another endpoint routes already, with the ID of that endpoint and what to
/// do. `own` is the endpoint itself, if it exists, and the name of the service.
pub(super) async fn with_other_endpoint(
    session: &Session,
    failure: Failure,
    vpc_id: &str,
    (own, service_name): (Option<&str>, &str),
    tables: &[String],
) -> Failure {
    let found = other_endpoints(session, vpc_id, own).await;
    match found.iter().find(|it| has_routes(it, service_name, tables)) {
        Some(other) => explained_by(failure, routes(other, service_name, tables)),
        None => failure,
    }
}
