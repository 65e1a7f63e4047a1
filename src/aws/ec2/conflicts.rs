//! The unmanaged objects because of which AWS rejects a create, and what to do. They are read only after the rejection.

use aws_sdk_ec2::types::VpcEndpoint;

use super::filter;
use crate::aws::Session;
use crate::aws::calls::{AwsError, Operation};
use crate::cloud::Failure;

/// The failure to route to a service to which another endpoint routes already, with the ID of that endpoint and what to
/// do. `own` is the endpoint itself, if it exists, and the name of the service.
pub(super) async fn with_other_endpoint(
    session: &Session,
    failure: Failure,
    vpc_id: &str,
    (own, service_name): (Option<&str>, &str),
    tables: &[String],
) -> Failure {
    let call = session.ec2.describe_vpc_endpoints().filters(filter("vpc-id", vpc_id));
    let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
    let found = found.unwrap_or_else(|error| {
        let failure = error.failure("DescribeVpcEndpoints");
        tracing::warn!("The other endpoint for {service_name} in {vpc_id} is unknown: {failure}");
        Vec::new()
    });
    let is_deleted = |it: &VpcEndpoint| {
        let state = it.state().map(|state| state.as_str().to_ascii_lowercase());
        matches!(state.as_deref(), Some("deleted" | "deleting"))
    };
    // Only gateway endpoints have route tables.
    let blocks = |it: &&VpcEndpoint| {
        !is_deleted(it)
            && it.service_name() == Some(service_name)
            && it.vpc_endpoint_id() != own
            && it.route_table_ids().iter().any(|table| tables.contains(table))
    };
    let Some(other) = found.iter().find(blocks) else { return failure };
    let shared: Vec<&str> =
        other.route_table_ids().iter().filter(|it| tables.contains(it)).map(String::as_str).collect();
    let message = format!(
        "{}. {}, which this resource does not manage, routes to {service_name} in {}. To keep it, set \
         create_vpc_endpoints to false. Otherwise delete it, or remove these route tables from it. Then run Terraform \
         again",
        failure.message.trim_end_matches('.'),
        other.vpc_endpoint_id().unwrap_or("Another endpoint"),
        shared.join(", ")
    );
    Failure { message, ..failure }
}

/// The failure of a NAT gateway whose address something else uses, with the user of the address and what to do.
pub(super) async fn with_user(operation: &Operation<'_>, failure: Failure, address: &str) -> Failure {
    let session = operation.session;
    let found = session.pollers.addresses.now(&session.ec2, address).await.unwrap_or_else(|failure| {
        tracing::warn!("The user of {address} is unknown: {failure}");
        None
    });
    let user = found.as_ref().and_then(|it| it.instance_id().filter(|id| !id.is_empty()).or(it.network_interface_id()));
    let Some(user) = user else { return failure };
    let association = found.as_ref().and_then(|it| it.association_id()).unwrap_or("ID");
    let message = format!("{}. {address} is associated with {user}", failure.message.trim_end_matches('.'));
    Failure { message, ..failure }.with_advice(
        "If that is the network interface of a NAT gateway, delete the NAT gateway. Otherwise disassociate the address \
         with this command, or replace it in custom_nat_eips. Then run Terraform again.",
        [format!("aws ec2 disassociate-address --association-id {association}")],
    )
}
