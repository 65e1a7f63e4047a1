//! The default network ACL of a VPC, adopted.

use super::super::Operation;
use crate::cloud::{Cause, Failure};
use crate::objects::{DefaultNetworkAcl, Entry};

/// Makes it.
pub(crate) async fn create(operation: &Operation<'_>, _spec: &DefaultNetworkAcl) -> Result<(), Failure> {
    Err(Failure::new(Cause::Other, operation.key.slot.clone(), "not built"))
}

/// Changes it.
pub(crate) async fn update(
    operation: &Operation<'_>,
    _id: &str,
    _from: Option<&DefaultNetworkAcl>,
    _to: &DefaultNetworkAcl,
) -> Result<(), Failure> {
    Err(Failure::new(Cause::Other, operation.key.slot.clone(), "not built"))
}

/// Deletes it.
pub(crate) async fn delete(operation: &Operation<'_>, _entry: &Entry) -> Result<(), Failure> {
    Err(Failure::new(Cause::Other, operation.key.slot.clone(), "not built"))
}
