//! IPv6 CIDR blocks of VPCs.

use super::super::Operation;
use crate::cloud::{Cause, Failure};
use crate::objects::{Entry, VpcIpv6Block};

/// Makes it.
pub(crate) async fn create(operation: &Operation<'_>, _spec: &VpcIpv6Block) -> Result<(), Failure> {
    Err(Failure::new(Cause::Other, operation.key.slot.clone(), "not built"))
}

/// Changes it.
pub(crate) async fn update(
    operation: &Operation<'_>,
    _id: &str,
    _from: Option<&VpcIpv6Block>,
    _to: &VpcIpv6Block,
) -> Result<(), Failure> {
    Err(Failure::new(Cause::Other, operation.key.slot.clone(), "not built"))
}

/// Deletes it.
pub(crate) async fn delete(operation: &Operation<'_>, _entry: &Entry) -> Result<(), Failure> {
    Err(Failure::new(Cause::Other, operation.key.slot.clone(), "not built"))
}
