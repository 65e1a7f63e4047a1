//! What still uses an object that AWS refuses to delete. `DependencyViolation` names no culprit.

use super::super::{AwsError, Session};
use super::filter;
use crate::cloud::{Cause, Failure};

/// Adds the network interfaces that are left to a failure which says that something is in use. `within` is
/// `subnet-id` or `vpc-id`. That they cannot be listed is no failure of its own: it is told in their place.
pub(super) async fn name(session: &Session, mut failure: Failure, within: &str, id: &str) -> Failure {
    if failure.cause != Cause::InUse {
        return failure;
    }
    let call = session.ec2.describe_network_interfaces().filters(filter(within, id));
    let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
    let phrase = match found {
        Ok(interfaces) if interfaces.is_empty() => "no network interface is left in it".to_string(),
        Ok(interfaces) => {
            let phrases: Vec<String> = interfaces
                .iter()
                .map(|it| {
                    format!(
                        "{} ({:?}, type {}, owner {}, made by {})",
                        it.network_interface_id().unwrap_or("?"),
                        it.description().unwrap_or_default(),
                        it.interface_type().map_or("interface", |kind| kind.as_str()),
                        it.owner_id().unwrap_or("?"),
                        it.requester_id().unwrap_or("its owner"),
                    )
                })
                .collect();
            format!("network interfaces left in it: {}", phrases.join(", "))
        }
        Err(error) => {
            format!("its network interfaces could not be listed: {}", error.failure("DescribeNetworkInterfaces"))
        }
    };
    failure.message = format!("{}; {phrase}", failure.message);
    failure
}
