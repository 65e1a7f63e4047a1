//! Custom domains of APIs.

use crate::aws::Operation;
use crate::cloud::{Cause, Failure};
use crate::objects::{DomainName, Entry};

pub(crate) async fn create(_: &Operation<'_>, _: &DomainName) -> Result<(), Failure> {
    Err(Failure::new(Cause::Other, "CreateDomainName", "not written yet"))
}

pub(crate) async fn update(_: &Operation<'_>, _: &str, _: Option<&DomainName>, _: &DomainName) -> Result<(), Failure> {
    Err(Failure::new(Cause::Other, "CreateDomainName", "not written yet"))
}

pub(crate) async fn delete(_: &Operation<'_>, _: &Entry) -> Result<(), Failure> {
    Err(Failure::new(Cause::Other, "CreateDomainName", "not written yet"))
}
