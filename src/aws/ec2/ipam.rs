//! IPAM pools, which give ranges to VPCs and take them back late.

use std::time::Duration;

use super::filter;
use crate::aws::calls::codes;
use crate::aws::calls::wait;
use crate::aws::calls::wait::{Backoff, Poll};
use crate::aws::calls::{AwsError, Operation};
use crate::cloud::{Cause, Failure};

/// How long IPAM may take to learn of an account that is new to it.
const MONITORED: Duration = Duration::from_secs(5 * 60);

/// How long a pool may keep the range of a VPC that is gone; up to half an hour is usual.
const RELEASED: Duration = Duration::from_secs(35 * 60);

/// A prefix length as the calls take it.
pub(super) fn netmask_length(action: &str, length: Option<i64>) -> Result<Option<i32>, Failure> {
    let length = length.map(i32::try_from).transpose();
    length.map_err(|_| Failure::new(Cause::Other, action, "the prefix length is no prefix length"))
}

/// Sends a call that may take a range from a pool, until IPAM knows the account.
pub(super) async fn monitored<T, F>(operation: &Operation<'_>, call: impl FnMut() -> F) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let mut backoff = Backoff::new(wait::MINUTES);
    wait::retry_while(&operation.deadlines(MONITORED), &mut backoff, codes::is_not_monitored, call).await
}

/// Waits until a pool has the range of a deleted VPC back. Who may use a pool need not be allowed to look into it: then
/// nothing is waited for.
pub(super) async fn released(operation: &Operation<'_>, pool_id: &str, vpc_id: &str) -> Result<(), Failure> {
    wait::until("GetIpamPoolAllocations", &operation.deadlines(RELEASED), wait::MINUTES, || async {
        let call = operation.session.ec2.get_ipam_pool_allocations().ipam_pool_id(pool_id);
        let call = call.filters(filter("resource-type", "vpc")).filters(filter("resource-id", vpc_id));
        let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
        match found.map_err(|error| error.failure("GetIpamPoolAllocations")) {
            Ok(found) => Ok(match found.iter().find(|allocation| allocation.resource_id() == Some(vpc_id)) {
                None => Poll::Done(()),
                Some(allocation) => {
                    let cidr = allocation.cidr().unwrap_or("its range");
                    Poll::Pending(format!("{pool_id} still holds {cidr} for {vpc_id}, which is deleted"))
                }
            }),
            Err(failure) if failure.cause == Cause::NotFound => Ok(Poll::Done(())),
            Err(failure) if failure.cause == Cause::Denied => {
                tracing::warn!(
                    "{vpc_id} is deleted; whether {pool_id} has its range back cannot be seen, which may take half \
                     an hour: {failure}"
                );
                Ok(Poll::Done(()))
            }
            Err(failure) => Err(failure),
        }
    })
    .await
}
