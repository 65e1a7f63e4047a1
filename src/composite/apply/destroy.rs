//! Destroy: deletes all objects. If a deletion fails, the remaining objects stay in state.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::run::{Run, Setup, Shared, SharedInventory};
use super::users::{self, InUse};
use crate::cloud::retries::RetryLimits;
use crate::cloud::{Cloud, Deadlines, Failure};
use crate::composite::private_state::Private;
use crate::composite::status::is_not_adopted;
use crate::composite::{diagnostics, import, location, protected, refresh, released, replaced, state, undeletable};
use crate::model::{Entry, Scope};
use crate::plugin::{ApplyRequest, ApplyResponse, Diagnostics, Value};
use crate::reconcile::{self, Plan};
use crate::topology::Topology;

/// Deletes all objects. If a deletion fails, the response contains the state of the remaining objects.
pub(super) async fn apply<P: Topology>(shared: &Shared, cloud: &dyn Cloud, request: ApplyRequest) -> ApplyResponse {
    let mut diagnostics = Diagnostics::default();
    let nothing = |diagnostics| ApplyResponse { state: Value::Null, private: Vec::new(), diagnostics };
    let Some(root_id) = request.prior.get("id").as_str() else { return nothing(diagnostics) };
    if is_not_adopted(&request.prior) {
        // The plan has said so.
        return nothing(diagnostics);
    }
    let summary = format!("Could not destroy {} {root_id}", P::TYPE_NAME);
    // Nothing has changed yet, so a stop ends the read.
    let limits = || RetryLimits { stop: request.stop.clone(), ..shared.retry_limits() };
    let private = match limits().scope(existing::<P>(cloud, root_id, &request)).await {
        Ok(Some(mut private)) => {
            private.inventory.entries.retain(|entry| !entry.is_foreign());
            import::keep_rules(&mut private);
            private.inventory.entries.iter_mut().for_each(Entry::forget_deployment);
            released::reclaim(&mut private);
            let mut users = std::mem::take(&mut private.users);
            users.extend(shared.managed_roots.users(root_id, &private.inventory));
            shared.managed_roots.keep_used(&users, &mut private.inventory);
            private
        }
        Ok(None) => {
            shared.note_destroyed(root_id);
            return nothing(diagnostics);
        }
        Err(failure) => {
            diagnostics::failed(summary, &failure, &mut diagnostics);
            return ApplyResponse { state: request.prior, private: Vec::new(), diagnostics };
        }
    };
    if protected::refuse_destroy::<P>(&request.prior, &private, cloud.scope(), &mut diagnostics)
        || undeletable::refuse_destroy::<P>(root_id, &private.inventory, &mut diagnostics)
    {
        return ApplyResponse { state: request.prior, private: private.encode(), diagnostics };
    }
    if replaced::refuse_destroy::<P>(
        root_id,
        &shared.managed_roots,
        &request.planned_private,
        &private,
        &mut diagnostics,
    ) {
        return ApplyResponse { state: request.prior, private: private.encode(), diagnostics };
    }
    let plan = match reconcile::plan(&private.inventory, &[]) {
        Ok(plan) => plan,
        Err(cycle) => {
            diagnostics.error(summary, format!("{cycle}. This is a bug in the provider."));
            return ApplyResponse { state: request.prior, private: private.encode(), diagnostics };
        }
    };
    let config = state::decode::<P>(&request.prior).ok().map(|(_, config)| config);
    let timeouts = config.as_ref().map(P::timeouts).unwrap_or_default();
    let deadline = Instant::now() + Duration::from_secs(timeouts.of_delete());
    let deadlines = Deadlines::until(deadline, request.stop.clone());
    let unmapped = users::until_unmapped::<P>(cloud, root_id, (&private.inventory, &plan), &deadlines);
    if let Err(InUse { found, .. }) = limits().scope(unmapped).await {
        diagnostics::destroy_is_mapped::<P>(root_id, &found, &mut diagnostics);
        return ApplyResponse { state: request.prior, private: private.encode(), diagnostics };
    }
    let guardduty = state::guardduty_in_destroy::<P>(&request.prior);
    let unused = users::until_unused::<P>(cloud, &private.inventory, guardduty, &deadlines);
    if let Err(InUse { found, has_stopped }) = limits().scope(unused).await {
        diagnostics::destroy_in_use::<P>(root_id, &found, guardduty, has_stopped, &mut diagnostics);
        return ApplyResponse { state: request.prior, private: private.encode(), diagnostics };
    }
    match destroy::<P>(shared, cloud, &request, private, (&plan, deadline), &mut diagnostics).await {
        Some((state, private)) => ApplyResponse { state, private, diagnostics },
        None => {
            shared.note_destroyed(root_id);
            nothing(diagnostics)
        }
    }
}

/// Returns the existing objects. In a replacement, Terraform passes the private state from the plan of the create,
/// which does not contain the objects of the old root. They are then read from AWS.
async fn existing<P: Topology>(
    cloud: &dyn Cloud,
    root_id: &str,
    request: &ApplyRequest,
) -> Result<Option<Private>, Failure> {
    match Private::decode(&request.planned_private) {
        Some(private) => Ok(Some(private)),
        None => refresh::rebuild::<P>(cloud, root_id, &request.prior).await,
    }
}

/// Returns the state and private state of the remaining objects, or `None` if there are none.
async fn destroy<P: Topology>(
    shared: &Shared,
    cloud: &dyn Cloud,
    request: &ApplyRequest,
    private: Private,
    (plan, deadline): (&Plan, Instant),
    diagnostics: &mut Diagnostics,
) -> Option<(Value, Vec<u8>)> {
    let config = state::decode::<P>(&request.prior).ok().map(|(_, config)| config);
    let timeouts = config.as_ref().map(P::timeouts).unwrap_or_default();
    let run = Run::<P>::new(Setup {
        shared,
        cloud,
        request,
        name: config.as_ref().map(state::name::<P>).unwrap_or_default(),
        inventory: private.inventory,
        timeouts: &timeouts,
        deadline,
        in_use: None,
        guardduty: state::guardduty_in_destroy::<P>(&request.prior),
        on_new_root: &|_| (),
    });
    let in_creation = private.in_creation;
    let remains = remains::<P>(request.prior.clone(), in_creation, run.shared_inventory(), cloud.scope().clone());
    request.partial_state.set_snapshot(remains.clone());
    let outcome = run.execute(plan).await;
    let limits = || shared.limits_after(deadline);
    limits().scope(run.resolve_unknown_outcomes(plan, &outcome, diagnostics)).await;
    run.inventory().present().next()?;
    let dependents = limits().scope(run.dependents_of_failures(plan, &outcome)).await;
    // A destroy uses no object of the user.
    run.report(plan, &outcome, (&dependents, &BTreeMap::new()), diagnostics);
    Some(remains())
}

/// Returns a function that builds the state and private state of the objects that remain when it is called.
/// `in_creation` is whether the creation of their root has not completed.
fn remains<P: Topology>(
    prior: Value,
    in_creation: bool,
    inventory: SharedInventory,
    scope: Scope,
) -> impl Fn() -> (Value, Vec<u8>) + Clone + Send + Sync + use<P> {
    move || {
        let mut private = Private::of(inventory.now());
        private.in_creation = in_creation;
        let root_id = prior.get("id").as_str().unwrap_or_default();
        let config = state::decode::<P>(&prior).ok().map(|(_, config)| config);
        let mut state = state::of_private::<P>(&prior, config.as_ref(), root_id, &private, &scope);
        state.set("unmanaged_objects", prior.get("unmanaged_objects").clone());
        location::keep::<P>(&prior, &private.inventory, &mut state);
        (state, private.encode())
    }
}
