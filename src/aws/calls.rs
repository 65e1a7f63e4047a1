//! Code for all calls to AWS.

pub(crate) mod codes;
pub(crate) mod deployed_changes;
pub(crate) mod errors;
pub(crate) mod locks;
pub(crate) mod non_idempotent;
pub(crate) mod operation;
pub(crate) mod ownership;
pub(crate) mod poller;
pub(crate) mod process_state;
pub(crate) mod rate_limit;
pub(crate) mod recent;
pub(crate) mod retry;
pub(crate) mod retry_limits;
pub(crate) mod shared_lists;
pub(crate) mod tag_changes;
pub(crate) mod wait;

pub(crate) use errors::{AwsError, OrFailure, list_all};
pub(crate) use operation::Operation;
