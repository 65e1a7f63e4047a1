//! Planning: the handler of `PlanResourceChange`.

mod create_update;
mod destroy;
mod planned_state;
mod undecided;
mod without_account;

use super::managed_roots::ManagedRoots;
use super::names::Names;
use super::refresh::ReadRoots;
use super::stated::StatedRoots;
use crate::cloud::Connection;
use crate::plugin::{PlanRequest, PlanResponse};
use crate::topology::Topology;

/// The roots of this process.
#[derive(Clone, Copy)]
pub(super) struct Roots<'a> {
    /// Those that it has read for Terraform.
    pub(super) read: &'a ReadRoots,
    /// Those that a state contains.
    pub(super) managed: &'a ManagedRoots,
    /// The names that they have and want.
    pub(super) names: &'a Names,
    /// Those that a create may replace.
    pub(super) stated: &'a StatedRoots,
    /// The names of those in a state that are not adopted.
    pub(super) not_adopted: &'a ReadRoots,
}

/// Plans a destroy if the proposed state is null, otherwise a create or an update.
pub(super) async fn plan<P: Topology>(connection: &Connection, roots: Roots<'_>, request: PlanRequest) -> PlanResponse {
    match request.proposed.is_null() {
        true => destroy::plan::<P>(connection, roots, request).await,
        false => create_update::plan::<P>(connection, roots, request).await,
    }
}
