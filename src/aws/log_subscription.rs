//! Subscription filters of log groups.

use super::Operation;
use crate::cloud::{Cause, Failure};
use crate::objects::{Entry, LogSubscription};

pub(crate) async fn create(_: &Operation<'_>, _: &LogSubscription) -> Result<(), Failure> {
    Err(Failure::new(Cause::Other, "PutSubscriptionFilter", "not written yet"))
}

pub(crate) async fn update(
    _: &Operation<'_>,
    _: &str,
    _: Option<&LogSubscription>,
    _: &LogSubscription,
) -> Result<(), Failure> {
    Err(Failure::new(Cause::Other, "PutSubscriptionFilter", "not written yet"))
}

pub(crate) async fn delete(_: &Operation<'_>, _: &Entry) -> Result<(), Failure> {
    Err(Failure::new(Cause::Other, "PutSubscriptionFilter", "not written yet"))
}
