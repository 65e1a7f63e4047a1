//! State that all provider configurations of one process share. AWS counts the calls of an account, and two
//! configurations may change the same function, so none of it belongs to a single session.

use std::sync::{Arc, LazyLock};

use super::locks::Locks;
use crate::aws::apigateway::{Limiter, RecentlyUnmapped};
use crate::aws::calls::rate_limit::Pace;

/// Locks, rate limiters, and deletions that AWS may not show yet.
///
/// A session refers to it instead of naming a static, so that each unit test has its own: unit tests run side by side
/// in one process, and the instants of their paused clocks cannot be compared.
#[derive(Debug)]
pub(crate) struct ProcessState {
    /// One change at a time of an API, a domain, a function, a log group, or a hosted zone.
    pub(crate) locks: Locks,
    /// The calls to API Gateway.
    pub(crate) apigateway: Limiter,
    /// The APIs whose mappings this process has deleted.
    pub(crate) unmapped: RecentlyUnmapped,
    /// Lambda takes 15 calls a second that change something, of one account in one Region, all kinds of calls together.
    pub(crate) lambda_changes: Pace,
    /// Route 53 takes five requests a second from one account: all kinds of calls together, reads included.
    pub(crate) route53: Pace,
}

impl ProcessState {
    /// The state of this process.
    pub(crate) fn shared() -> Arc<ProcessState> {
        static SHARED: LazyLock<Arc<ProcessState>> = LazyLock::new(Arc::default);
        SHARED.clone()
    }
}

impl Default for ProcessState {
    fn default() -> ProcessState {
        ProcessState {
            locks: Locks::default(),
            apigateway: Limiter::default(),
            unmapped: RecentlyUnmapped::default(),
            lambda_changes: Pace::new(15),
            route53: Pace::new(5),
        }
    }
}
