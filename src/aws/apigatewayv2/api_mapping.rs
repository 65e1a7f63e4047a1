//! What custom domains lead to.

use crate::aws::Operation;
use crate::cloud::{Cause, Failure};
use crate::objects::{ApiMapping, Entry};

pub(crate) async fn create(_: &Operation<'_>, _: &ApiMapping) -> Result<(), Failure> {
    Err(Failure::new(Cause::Other, "CreateApiMapping", "not written yet"))
}

pub(crate) async fn update(_: &Operation<'_>, _: &str, _: Option<&ApiMapping>, _: &ApiMapping) -> Result<(), Failure> {
    Err(Failure::new(Cause::Other, "CreateApiMapping", "not written yet"))
}

pub(crate) async fn delete(_: &Operation<'_>, _: &Entry) -> Result<(), Failure> {
    Err(Failure::new(Cause::Other, "CreateApiMapping", "not written yet"))
}
