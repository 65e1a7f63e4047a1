//! Alias records of Route 53.

use super::Operation;
use crate::cloud::{Cause, Failure};
use crate::objects::{DnsRecord, Entry};

pub(crate) async fn create(_: &Operation<'_>, _: &DnsRecord) -> Result<(), Failure> {
    Err(Failure::new(Cause::Other, "ChangeResourceRecordSets", "not written yet"))
}

pub(crate) async fn update(_: &Operation<'_>, _: &str, _: Option<&DnsRecord>, _: &DnsRecord) -> Result<(), Failure> {
    Err(Failure::new(Cause::Other, "ChangeResourceRecordSets", "not written yet"))
}

pub(crate) async fn delete(_: &Operation<'_>, _: &Entry) -> Result<(), Failure> {
    Err(Failure::new(Cause::Other, "ChangeResourceRecordSets", "not written yet"))
}
