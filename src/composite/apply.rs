//! Applying: creates, updates and destroys.

mod create_update;
mod destroy;
mod existing;
mod inventory;
mod new_inputs;
mod pending_deletion;
mod run;
mod since_plan;
mod unknown_outcomes;
mod users;

use crate::cloud::SharedCloud;
use crate::plugin::{ApplyRequest, ApplyResponse};
use crate::topology::Topology;
pub(super) use run::Shared;

/// Destroys if the planned state is null, otherwise creates or updates.
pub(super) async fn apply<P: Topology>(shared: &Shared, cloud: SharedCloud, request: ApplyRequest) -> ApplyResponse {
    match request.planned.is_null() {
        true => destroy::apply::<P>(shared, cloud.as_ref(), request).await,
        false => create_update::apply::<P>(shared, cloud.as_ref(), request).await,
    }
}
