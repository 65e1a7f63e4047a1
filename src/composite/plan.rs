//! Planning: the handler of `PlanResourceChange`.

mod create_update;
mod destroy;
mod planned_state;

use super::refresh::ReadRoots;
use crate::cloud::Connection;
use crate::plugin::{PlanRequest, PlanResponse};
use crate::topology::Topology;

/// Plans a destroy if the proposed state is null, otherwise a create or an update.
pub(super) async fn plan<P: Topology>(
    connection: &Connection,
    read_roots: &ReadRoots,
    request: PlanRequest,
) -> PlanResponse {
    match request.proposed.is_null() {
        true => destroy::plan::<P>(connection, request).await,
        false => create_update::plan::<P>(connection, read_roots, request).await,
    }
}
