//! The objects that GuardDuty Runtime Monitoring creates in a VPC by itself: an interface endpoint with network
//! interfaces in subnets, and the security group of the endpoint. GuardDuty does not delete them when the VPC is to be
//! deleted, and they block the deletion of the subnets and of the VPC.
//!
//! AWS documents the tag `GuardDutyManaged` and that users delete the endpoint themselves. The endpoint is therefore
//! not a requester-managed one, which AWS does not let users delete (gruntwork-io/cloud-nuke#1037). The names of the
//! service and of the group are those in hashicorp/terraform-provider-aws#46747.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use aws_sdk_ec2::types::{SecurityGroup, Tag, VpcEndpoint, VpcEndpointType};
use tokio::time::Instant;

use super::{default_security_group, filter, tags, vpc_endpoint};
use crate::aws::Session;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{Operation, OrFailure, list_all};
use crate::cloud::{Cause, Deadlines, Failure};
use crate::model::GuardDutyObjects;

/// The ends of the names of the service. An endpoint in a Region with FIPS may use the second one.
const SERVICES: [&str; 2] = [".guardduty-data", ".guardduty-data-fips"];

/// The pause between two searches. GuardDuty may create its endpoint again while it still monitors a workload.
const AGAIN: Duration = Duration::from_secs(60);

/// How long AWS may take to delete the network interfaces of an endpoint.
const INTERFACES: Duration = Duration::from_secs(10 * 60);

/// An interface endpoint of GuardDuty.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Endpoint {
    pub(super) id: String,
    /// The state in lower case.
    state: String,
    pub(super) interfaces: Vec<String>,
    pub(super) groups: Vec<String>,
    subnets: Vec<String>,
}

impl Endpoint {
    /// The endpoint if GuardDuty created it. One that a user created for the agent of GuardDuty has no such tag.
    pub(super) fn of(found: &VpcEndpoint) -> Option<Endpoint> {
        let service = found.service_name()?;
        let is_of_guardduty = found.vpc_endpoint_type() == Some(&VpcEndpointType::Interface)
            && SERVICES.iter().any(|end| service.ends_with(end))
            && has_tag(found.tags());
        is_of_guardduty.then_some(())?;
        Some(Endpoint {
            id: found.vpc_endpoint_id()?.to_string(),
            state: vpc_endpoint::state(found),
            interfaces: found.network_interface_ids().to_vec(),
            groups: found.groups().iter().filter_map(|group| group.group_id()).map(str::to_string).collect(),
            subnets: found.subnet_ids().to_vec(),
        })
    }

    /// The ids of the endpoint and of its security group.
    pub(super) fn ids(&self) -> Vec<String> {
        [&self.id].into_iter().chain(&self.groups).cloned().collect()
    }
}

/// Whether GuardDuty created the security group for its endpoint in this VPC.
pub(super) fn is_group(group: &SecurityGroup, vpc_id: &str) -> bool {
    group.group_name().is_some_and(|name| name == group_name(vpc_id)) && has_tag(group.tags())
}

fn group_name(vpc_id: &str) -> String {
    format!("GuardDutyManagedSecurityGroup-{vpc_id}")
}

fn has_tag(found: &[Tag]) -> bool {
    tags::value(found, "GuardDutyManaged") == Some("true")
}

/// The endpoints of GuardDuty in a VPC, except deleted ones.
pub(super) async fn endpoints(session: &Session, vpc_id: &str) -> Result<Vec<Endpoint>, Failure> {
    let found = vpc_endpoint::in_vpc(session, vpc_id).await?;
    Ok(found.iter().filter(|it| vpc_endpoint::exists(it)).filter_map(Endpoint::of).collect())
}

/// Where objects of GuardDuty may block a deletion.
#[derive(Clone, Copy)]
pub(super) enum Within<'a> {
    Subnet(&'a str),
    Vpc,
}

/// A subnet or a VPC to delete.
pub(super) struct Object<'a, M, E> {
    pub(super) vpc_id: &'a str,
    pub(super) within: Within<'a>,
    /// Whether a failure reports the object as missing.
    pub(super) is_missing: M,
    /// Reads whether the object exists.
    pub(super) exists: E,
}

/// Deletes a subnet or a VPC. If AWS rejects that because the object is in use, removes the objects of GuardDuty in it,
/// if the configuration allows it, and retries.
pub(super) async fn delete_without<F, L>(
    operation: &Operation<'_>,
    object: Object<'_, impl Fn(&Failure) -> bool, impl Fn() -> L>,
    send: impl Fn() -> F,
) -> Result<(), Failure>
where
    F: Future<Output = Result<(), Failure>>,
    L: Future<Output = Result<bool, Failure>>,
{
    let Object { vpc_id, within, is_missing, exists } = object;
    let deadlines = &operation.work.deadlines;
    if operation.work.guardduty == GuardDutyObjects::Keep {
        return wait::delete(deadlines, is_missing, exists, send).await;
    }
    let delete = || async { wait::confirmed(send().await, &is_missing, &exists).await };
    match delete().await {
        Err(failure) if failure.cause == Cause::InUse => {}
        Err(failure) if failure.cause == Cause::NotDeleted => return wait::retry_while_in_use(deadlines, delete).await,
        done => return done,
    }
    let has_removed = remove(operation, vpc_id, within).await?;
    let deadlines = if has_removed { longer(deadlines) } else { deadlines.clone() };
    let (start, searches) = (Instant::now(), AtomicU32::new(1));
    wait::retry_while_in_use(&deadlines, || async {
        let deleted = delete().await;
        let is_in_use = deleted.as_ref().is_err_and(|failure| failure.cause == Cause::InUse);
        if is_in_use && start.elapsed() >= AGAIN * searches.load(Ordering::Relaxed) {
            searches.fetch_add(1, Ordering::Relaxed);
            remove(operation, vpc_id, within).await?;
        }
        deleted
    })
    .await
}

/// An update waits for objects in use only briefly, because Terraform deletes them later. Network interfaces that AWS
/// is deleting need no other change.
fn longer(deadlines: &Deadlines) -> Deadlines {
    let until = (Instant::now() + INTERFACES).min(deadlines.deadline);
    Deadlines { in_use_until: deadlines.in_use_until.max(until), ..deadlines.clone() }
}

/// Removes the objects of GuardDuty that block the deletion. Returns whether there was an endpoint to remove.
async fn remove(operation: &Operation<'_>, vpc_id: &str, within: Within<'_>) -> Result<bool, Failure> {
    // The subnets of a VPC are deleted concurrently.
    let _lock = operation.session.process.locks.lock(format!("guardduty {vpc_id}")).await;
    let mut blocking = endpoints(operation.session, vpc_id).await?;
    if let Within::Subnet(subnet) = within {
        blocking.retain(|endpoint| endpoint.subnets.iter().any(|it| it == subnet));
    }
    match (operation.work.guardduty, within) {
        (GuardDutyObjects::LeaveSubnets, Within::Subnet(subnet)) => {
            for endpoint in &blocking {
                leave(operation, endpoint, subnet).await?;
            }
        }
        (GuardDutyObjects::Delete, _) => {
            for endpoint in &blocking {
                tracing::info!("deleting {} of GuardDuty in {vpc_id}", endpoint.id);
                let delete = || vpc_endpoint::send_delete(operation.session, &endpoint.id);
                let deleted = vpc_endpoint::while_busy(operation, delete).await;
                deleted.or_else(|failure| ignore_missing(failure, &endpoint.id))?;
            }
            if let Within::Vpc = within {
                for endpoint in &blocking {
                    vpc_endpoint::until_deleted(operation, &endpoint.id).await?;
                }
                delete_groups(operation, vpc_id).await?;
            }
        }
        (GuardDutyObjects::LeaveSubnets, Within::Vpc) | (GuardDutyObjects::Keep, _) => return Ok(false),
    }
    Ok(!blocking.is_empty())
}

/// Removes a subnet from an endpoint, and with it the network interface in the subnet. AWS changes an endpoint only
/// while it is available.
async fn leave(operation: &Operation<'_>, endpoint: &Endpoint, subnet: &str) -> Result<(), Failure> {
    let (session, id) = (operation.session, endpoint.id.as_str());
    if endpoint.state != "available" {
        let deadlines = operation.deadlines(INTERFACES);
        let check = |endpoint: Option<&VpcEndpoint>| {
            Ok(match endpoint.map(vpc_endpoint::state) {
                Some(state) if state == "pending" => Poll::Pending("the endpoint of GuardDuty is pending".to_string()),
                _ => Poll::Done(()),
            })
        };
        session.pollers.vpc_endpoints.until(&session.ec2, "DescribeVpcEndpoints", id, &deadlines, check).await?;
    }
    tracing::info!("removing {subnet} from {id} of GuardDuty");
    let send = || async {
        let call = session.ec2.modify_vpc_endpoint().vpc_endpoint_id(id).remove_subnet_ids(subnet).send().await;
        call.map(|_| ()).or_failure("ModifyVpcEndpoint")
    };
    vpc_endpoint::while_busy(operation, send).await.or_else(|failure| ignore_missing(failure, id))
}

/// Deletes the security group of the endpoint, after the endpoint. A group that is still in use is left to the next
/// search, because GuardDuty may have created its endpoint again.
async fn delete_groups(operation: &Operation<'_>, vpc_id: &str) -> Result<(), Failure> {
    let ec2 = &operation.session.ec2;
    let call = ec2.describe_security_groups();
    let call = call.filters(filter("vpc-id", vpc_id)).filters(filter("group-name", group_name(vpc_id)));
    let found = list_all("DescribeSecurityGroups", call.into_paginator().items().send()).await?;
    for id in found.iter().filter(|group| is_group(group, vpc_id)).filter_map(|group| group.group_id()) {
        tracing::info!("deleting {id} of GuardDuty in {vpc_id}");
        let deadlines = &operation.work.deadlines;
        let in_use_until = deadlines.in_use_until.min(Instant::now() + AGAIN);
        let deadlines = Deadlines { in_use_until, ..deadlines.clone() };
        let exists = || async {
            let found = ec2.describe_security_groups().filters(filter("group-id", id)).send().await;
            Ok(!found.or_failure("DescribeSecurityGroups")?.security_groups().is_empty())
        };
        let is_missing = |failure: &Failure| default_security_group::MISSING.match_failure(failure, id);
        let deleted = wait::delete(&deadlines, is_missing, exists, || async {
            let call = ec2.delete_security_group().group_id(id).send().await;
            call.map(|_| ()).or_failure("DeleteSecurityGroup")
        });
        let is_left = |failure: &Failure| matches!(failure.cause, Cause::InUse | Cause::NotDeleted);
        deleted.await.or_else(|failure| if is_left(&failure) { Ok(()) } else { Err(failure) })?;
    }
    Ok(())
}

/// An endpoint that was deleted in the meantime is no obstacle.
fn ignore_missing(failure: Failure, id: &str) -> Result<(), Failure> {
    if vpc_endpoint::MISSING.match_failure(&failure, id) { Ok(()) } else { Err(failure) }
}

#[cfg(test)]
mod tests;
