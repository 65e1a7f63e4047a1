//! What the resources of a provider process know of each other.

use std::sync::Arc;

use super::managed_roots::ManagedRoots;
use super::names::Names;
use super::stated::StatedRoots;

/// The roots and names of all resources of a process, of both types. A provider block is one process.
#[derive(Clone, Default)]
pub struct Siblings {
    pub(super) managed_roots: Arc<ManagedRoots>,
    pub(super) names: Arc<Names>,
    pub(super) stated: Arc<StatedRoots>,
}

impl Siblings {
    /// Forgets the plans of an earlier command. Only a process that a debugger started serves several commands.
    pub fn begin_command(&self) {
        self.names.forget_plans();
        self.stated.clear();
    }
}
