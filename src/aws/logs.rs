//! CloudWatch Logs: groups and their subscriptions.

pub(crate) mod group;
pub(crate) mod subscription;
