//! State that all provider configurations of one process share. AWS counts the calls of an account, and two
//! configurations may change the same function, so none of it belongs to a single session.

use std::sync::{Arc, LazyLock};

use super::locks::Locks;
use super::rate_limit::RateLimiter;
use super::recent::Recent;

/// Locks, rate limits, and what AWS may not show yet.
///
/// A session refers to it instead of naming a static, so that each unit test has its own: unit tests run side by side
/// in one process, and the instants of their paused clocks cannot be compared.
#[derive(Debug, Default)]
pub(crate) struct ProcessState {
    /// One change at a time of an API, a domain, a function, a log group, or a hosted zone.
    pub(crate) locks: Locks,
    pub(crate) rate_limiter: RateLimiter,
    /// The objects that this process has created.
    pub(crate) created: Recent,
    /// The APIs, as `<Region> <id>`, of which this process has deleted mappings.
    pub(crate) unmapped: Recent,
}

impl ProcessState {
    /// The state of this process.
    pub(crate) fn shared() -> Arc<ProcessState> {
        static SHARED: LazyLock<Arc<ProcessState>> = LazyLock::new(Arc::default);
        SHARED.clone()
    }
}
