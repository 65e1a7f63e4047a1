//! Lambda: what lets API Gateway invoke a function.

pub(crate) mod permission;
