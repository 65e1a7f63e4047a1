//! State that all provider configurations of one process share. AWS limits the calls of an account, and two
//! configurations may change the same function, so this state does not belong to a single session.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::SystemTime;

use super::deployed_changes::DeployedChanges;
use super::locks::Locks;
use super::rate_limit::RateLimiter;
use super::recent::Recent;

/// The time at which a process first configured the provider.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Started(pub(crate) SystemTime);

impl Default for Started {
    fn default() -> Started {
        Started(SystemTime::now())
    }
}

/// Locks, rate limits and recent changes.
///
/// A session has a reference to it instead of using a static, so that each unit test has its own: unit tests run
/// concurrently in one process, and the instants of their paused clocks are not comparable.
#[derive(Debug, Default)]
pub(crate) struct ProcessState {
    pub(crate) started: Started,
    /// Allow one change at a time of an API, a domain, a function, a log group, or a hosted zone.
    pub(crate) locks: Locks,
    pub(crate) rate_limiter: RateLimiter,
    /// The objects that this process has created.
    pub(crate) created: Recent,
    /// The APIs, as `<Region> <ID>`, whose mappings this process has deleted.
    pub(crate) unmapped: Recent,
    /// The IDs of the changes by which this process has deleted records of type AAAA, by name.
    pub(crate) withdrawn: Mutex<HashMap<String, String>>,
    /// The keys of the routes of which the last look at a stage found settings, by Region and API ID.
    pub(crate) route_settings: Mutex<HashMap<(String, String), BTreeSet<String>>>,
    /// The changes that this process has made to APIs, which AWS deploys.
    pub(crate) deployed_changes: Arc<DeployedChanges>,
}

impl ProcessState {
    /// The state of this process.
    pub(crate) fn shared() -> Arc<ProcessState> {
        static SHARED: LazyLock<Arc<ProcessState>> = LazyLock::new(Arc::default);
        SHARED.clone()
    }
}
