//! The plan of a destroy. It only warns: a failed lookup is not an error, so that it never prevents a destroy. The
//! exceptions are a root of another account and objects with deletion protection in AWS, which the destroy could not
//! delete, and protected objects.

use crate::cloud::{Cloud, Connected, Connection, Dependents};
use crate::composite::diagnostics::End;
use crate::composite::names::{Claimant, PlannedNames};
use crate::composite::plan::Roots;
use crate::composite::private_state::Private;
use crate::composite::status::is_not_adopted;
use crate::composite::{
    adoption, dependents, diagnostics, import, location, protected, refresh, released, state, undeletable,
};
use crate::plugin::{Diagnostics, PlanRequest, PlanResponse, Value};
use crate::topology::Topology;

pub(super) async fn plan<P: Topology>(connection: &Connection, roots: Roots<'_>, request: PlanRequest) -> PlanResponse {
    let mut diagnostics = Diagnostics::default();
    if is_not_adopted(&request.prior) {
        let id = request.prior.get("id").as_str().unwrap_or_default();
        diagnostics::nothing_is_deleted::<P>(id, &adoption::adopted(&request.prior), &mut diagnostics);
        let private = request.prior_private;
        return PlanResponse { planned: Value::Null, requires_replace: Vec::new(), private, diagnostics };
    }
    let mut private = Private::decode(&request.prior_private);
    private.iter_mut().for_each(import::keep_rules);
    private.iter_mut().for_each(released::reclaim);
    let id = request.prior.get("id").as_str().unwrap_or_default();
    let dependents = match connection.get() {
        Connected::Ready(regions) => {
            let Some(cloud) = location::of_state::<P>(&regions, &request.prior, &mut diagnostics) else {
                return refused(request, diagnostics);
            };
            let dependents = of_root::<P>(cloud.as_ref(), id, &request.prior, &mut private).await;
            if let Some(private) = &mut private {
                roots.managed.keep_used(&roots.managed.users(id, &private.inventory), &mut private.inventory);
            }
            let (prior, scope) = (&request.prior, cloud.scope());
            let refuses = |private: &Private| {
                protected::refuse_destroy::<P>(prior, private, scope, &mut diagnostics)
                    || undeletable::refuse_destroy::<P>(id, &private.inventory, &mut diagnostics)
            };
            if private.as_ref().is_some_and(refuses) {
                return refused(request, diagnostics);
            }
            let names = private.as_ref().map(|private| PlannedNames::of_destroy(&private.inventory));
            let name = request.prior.get(P::NAME).as_str().unwrap_or_default();
            roots.names.note_plan(&Claimant::of::<P>(Some(id), name, &cloud.scope().region), names);
            Some(dependents)
        }
        Connected::Unknown(_) | Connected::Missing => None,
    };
    let name = state::decode::<P>(&request.prior).map(|(_, config)| state::name::<P>(&config)).unwrap_or_default();
    let inventory = private.map(|private| private.inventory).unwrap_or_default();
    let (root, guardduty) = ((name.as_str(), id), state::guardduty_in_destroy::<P>(&request.prior));
    let dependents = dependents.as_ref();
    diagnostics::warn_of_end::<P>(End::Destroy, root, &inventory, dependents, guardduty, &mut diagnostics);
    // The apply runs in a process that has not read the roots that use objects of this one.
    let private = match Private::decode(&request.prior_private) {
        Some(mut private) => {
            private.users = roots.managed.users(id, &private.inventory);
            private.encode()
        }
        None => request.prior_private,
    };
    PlanResponse { planned: Value::Null, requires_replace: Vec::new(), private, diagnostics }
}

fn refused(request: PlanRequest, diagnostics: Diagnostics) -> PlanResponse {
    let PlanRequest { prior, prior_private, .. } = request;
    PlanResponse { planned: prior, requires_replace: Vec::new(), private: prior_private, diagnostics }
}

/// Lists the unmanaged objects in the root. Without a usable private state, it reads the inventory first.
async fn of_root<P: Topology>(
    cloud: &dyn Cloud,
    root_id: &str,
    state: &Value,
    private: &mut Option<Private>,
) -> Dependents {
    if private.is_none() {
        match refresh::rebuild::<P>(cloud, root_id, state).await {
            Ok(found) => *private = found,
            Err(failure) => return Dependents { objects: Vec::new(), unseen: vec![failure] },
        }
    }
    match private {
        Some(private) => dependents::within_root::<P>(cloud, root_id, &private.inventory).await,
        None => Dependents::default(),
    }
}
