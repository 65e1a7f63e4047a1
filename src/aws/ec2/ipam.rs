//! IPAM pools, which allocate ranges to VPCs and release them some time after the deletion of the VPC.

use std::time::Duration;

use aws_sdk_ec2::types::{IpamPoolAllocation, IpamPoolAllocationResourceType};
use ipnet::IpNet;

use crate::aws::calls::codes;
use crate::aws::calls::wait;
use crate::aws::calls::wait::{Backoff, Poll};
use crate::aws::calls::{Operation, OrFailure};
use crate::cloud::{Cause, Failure};

/// How long IPAM may take to monitor a new account.
const MONITORED: Duration = Duration::from_secs(5 * 60);

/// How long a pool may take to release the range of a deleted VPC; up to 30 minutes are usual.
const RELEASED: Duration = Duration::from_secs(35 * 60);

/// A prefix length as a parameter of `action`.
pub(super) fn netmask_length(action: &str, length: Option<i64>) -> Result<Option<i32>, Failure> {
    let length = length.map(i32::try_from).transpose();
    length.map_err(|_| Failure::new(Cause::Other, action, "the prefix length is out of range"))
}

/// Sends a call that may allocate a range from a pool. Retries until IPAM monitors the account.
pub(super) async fn monitored<T, F>(operation: &Operation<'_>, call: impl FnMut() -> F) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let mut backoff = Backoff::new(wait::MINUTES);
    wait::retry_while(&operation.deadlines(MONITORED), &mut backoff, codes::is_not_monitored, call).await
}

/// Waits until a pool has released a range that the VPC no longer has; `None` means all ranges of a deleted VPC. Does
/// not wait without the permission to list the allocations of the pool, because using a pool does not require it.
pub(super) async fn released(
    operation: &Operation<'_>,
    pool_id: &str,
    vpc_id: &str,
    range: Option<IpNet>,
) -> Result<(), Failure> {
    wait::until("GetIpamPoolAllocations", &operation.deadlines(RELEASED), wait::MINUTES, || async {
        // AWS documents no filters of this call.
        let call = operation.session.ec2.get_ipam_pool_allocations().ipam_pool_id(pool_id);
        let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
        match found.or_failure("GetIpamPoolAllocations") {
            Ok(found) => Ok(match found.iter().find(|allocation| is_of(allocation, vpc_id, range)) {
                None => Poll::Done(()),
                Some(allocation) => {
                    let cidr = allocation.cidr().unwrap_or("its range");
                    Poll::Pending(format!("{pool_id} has not released {cidr} of {vpc_id} yet"))
                }
            }),
            Err(failure) if failure.cause == Cause::NotFound => Ok(Poll::Done(())),
            Err(failure) if failure.cause == Cause::Denied => {
                tracing::warn!(
                    "The range of {vpc_id} is deleted. Whether {pool_id} has released it is unknown; a release may \
                     take 30 minutes: {failure}"
                );
                Ok(Poll::Done(()))
            }
            Err(failure) => Err(failure),
        }
    })
    .await
}

/// Whether an allocation is that of a range of the VPC.
fn is_of(allocation: &IpamPoolAllocation, vpc_id: &str, range: Option<IpNet>) -> bool {
    let has_range = |range: IpNet| allocation.cidr().and_then(|cidr| cidr.parse().ok()) == Some(range);
    allocation.resource_type() == Some(&IpamPoolAllocationResourceType::Vpc)
        && allocation.resource_id() == Some(vpc_id)
        && range.is_none_or(has_range)
}
