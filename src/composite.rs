//! The implementation of [`plugin::Resource`](crate::plugin::Resource) and
//! [`plugin::DataSource`](crate::plugin::DataSource), generic over the topology.
//!
//! It translates Terraform's operations into the three steps of a topology: blueprint, plan, execute. User-visible
//! state and private state are created only here.

mod account;
mod adoption;
mod apply;
mod data_source;
mod decision;
mod dependents;
mod diagnostics;
mod duplicates;
mod facts;
mod generate;
mod import;
mod list;
mod location;
mod managed_roots;
mod names;
mod observe;
mod outside;
mod plan;
mod private_state;
mod protected;
mod refresh;
mod released;
mod renamed;
mod replaced;
mod siblings;
mod state;
mod stated;
mod status;
mod takeover;
mod undeletable;
mod used;

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;

use crate::cloud::{Connected, Connection};
use crate::plugin::{
    ApplyRequest, ApplyResponse, Diagnostics, IdentityAttribute, ImportResponse, ImportTarget, MoveSource, PlanRequest,
    PlanResponse, ReadRequest, ReadResponse, Resource, Schema, Value,
};
pub use crate::reconcile::Progress;
use crate::topology::Topology;
use account::account;
use apply::Shared;
pub use data_source::Existing;
pub use list::Roots as RootList;
use names::Claimant;
use plan::Roots;
use private_state::Private;
use refresh::ReadRoots;
pub use siblings::Siblings;
use status::is_not_adopted;

/// A topology as a Terraform resource.
pub struct Composite<P> {
    connection: Connection,
    shared: Shared,
    read_roots: ReadRoots,
    /// The names of the roots in a state that are not adopted.
    not_adopted: ReadRoots,
    topology: PhantomData<P>,
}

impl<P: Topology> Composite<P> {
    /// Creates the resource on the connection of the provider. It writes its progress only to the log.
    pub fn new(connection: Connection) -> Composite<P> {
        Composite::with(connection, Arc::default(), Siblings::default())
    }

    /// The same with a progress file, and with the other resources of the provider.
    pub fn with(connection: Connection, progress: Arc<Progress>, siblings: Siblings) -> Composite<P> {
        Composite {
            connection,
            shared: Shared::new(progress, siblings),
            read_roots: ReadRoots::default(),
            not_adopted: ReadRoots::default(),
            topology: PhantomData,
        }
    }
}

#[async_trait]
impl<P: Topology> Resource for Composite<P> {
    fn type_name(&self) -> &'static str {
        P::TYPE_NAME
    }

    fn schema(&self) -> Schema {
        Schema { version: 0, description: P::description().to_string(), attributes: state::attributes::<P>() }
    }

    fn validate(&self, config: &Value) -> Diagnostics {
        let mut diagnostics = Diagnostics::default();
        match state::decode::<P>(config) {
            Ok((_, config)) => diagnostics.problems(P::validate(&config)),
            Err(problems) => diagnostics.problems(problems),
        }
        diagnostics
    }

    fn note_state(&self, state: &Value) {
        self.add_managed(state);
        if let (Some(root_id), Connected::Ready(regions)) = (state.get("id").as_str(), self.connection.get()) {
            location::cloud_of_state::<P>(&regions, state).announce(P::KIND, root_id);
        }
    }

    fn configuration(&self, state: &Value) -> Value {
        let default = match self.connection.get() {
            Connected::Ready(regions) => Some(regions.default().scope().region.clone()),
            Connected::Unknown(_) | Connected::Missing => None,
        };
        generate::configuration_of::<P>(state, default.as_deref())
    }

    async fn read(&self, request: ReadRequest) -> ReadResponse {
        self.add_managed(&request.state);
        self.shared.retry_limits().scope(self.read_now(request)).await
    }

    async fn plan(&self, request: PlanRequest) -> PlanResponse {
        self.add_managed(&request.prior);
        if let Some(root_id) = request.prior.get("id").as_str() {
            self.shared.stated.note_planned(root_id);
        }
        let roots = Roots {
            read: &self.read_roots,
            managed: &self.shared.managed_roots,
            names: &self.shared.names,
            stated: &self.shared.stated,
            not_adopted: &self.not_adopted,
        };
        self.shared.retry_limits().scope(plan::plan::<P>(&self.connection, roots, request)).await
    }

    async fn apply(&self, request: ApplyRequest) -> ApplyResponse {
        self.add_managed(&request.prior);
        let mut response = self.shared.limits_of_apply().scope(self.apply_now(request)).await;
        self.shared.warn_of_progress(&mut response.diagnostics);
        response
    }

    async fn import(&self, target: ImportTarget) -> ImportResponse {
        let mut diagnostics = Diagnostics::default();
        let target = account(&self.connection, &mut diagnostics)
            .and_then(|regions| location::imported::<P>(&regions, target, &mut diagnostics));
        let Some(location::Imported { id, part, cloud }) = target else {
            return ImportResponse { state: None, private: Vec::new(), diagnostics };
        };
        self.shared.retry_limits().scope(import::import::<P>(cloud.as_ref(), &id, part.as_deref())).await
    }

    fn identity_schema(&self) -> Vec<IdentityAttribute> {
        location::identity_schema()
    }

    fn identity(&self, state: &Value) -> Option<Value> {
        location::identity::<P>(state)
    }

    /// Accepts states of this type from any provider of this name, such as a fork or a mirror of this one.
    fn check_move(&self, source: &MoveSource) -> Result<(), String> {
        let provider = source.provider_address.rsplit('/').next().unwrap_or_default();
        let is_ours = provider == "fgw" && source.type_name == P::TYPE_NAME;
        if is_ours { Ok(()) } else { Err(diagnostics::move_refused::<P>(source)) }
    }
}

impl<P: Topology> Composite<P> {
    fn add_managed(&self, state: &Value) {
        if let Some(root_id) = state.get("id").as_str() {
            self.shared.managed_roots.add(root_id);
            self.shared.stated.note::<P>(state);
            let name = state.get(P::NAME).as_str().unwrap_or_default();
            let region = state.get("region").as_str().unwrap_or_default();
            self.shared.names.note_resource(Claimant::of::<P>(Some(root_id), name, region));
        }
    }

    async fn read_now(&self, request: ReadRequest) -> ReadResponse {
        let mut diagnostics = Diagnostics::default();
        let unchanged =
            |diagnostics| ReadResponse { state: request.state.clone(), private: request.private.clone(), diagnostics };
        // Terraform refreshes even if the provider block contains unknown values. AWS cannot be read then.
        if matches!(self.connection.get(), Connected::Unknown(_)) {
            return unchanged(diagnostics);
        }
        let cloud = account(&self.connection, &mut diagnostics)
            .and_then(|regions| location::of_state::<P>(&regions, &request.state, &mut diagnostics));
        let Some(cloud) = cloud else { return unchanged(diagnostics) };
        let Some(root_id) = request.state.get("id").as_str() else {
            return ReadResponse { state: Value::Null, private: Vec::new(), diagnostics };
        };
        let (cloud, known) = (cloud.as_ref(), Private::decode(&request.private));
        match refresh::with_facts::<P>(cloud, &request.state, root_id, known).await {
            Ok(Some((private, state))) => {
                self.read_roots.add(root_id);
                self.shared.managed_roots.note_usable(root_id, &private.inventory);
                diagnostics::warn_of_faults::<P>(root_id, &private.inventory, &mut diagnostics);
                if let Some(name) = state.get(P::NAME).as_str().filter(|_| is_not_adopted(&state)) {
                    self.not_adopted.add(name);
                }
                let private = private.encode();
                self.shared.stated.note_read::<P>(&state, &cloud.scope().region, &private);
                ReadResponse { state, private, diagnostics }
            }
            Ok(None) => {
                self.shared.stated.forget(root_id);
                ReadResponse { state: Value::Null, private: Vec::new(), diagnostics }
            }
            Err(failure) => {
                diagnostics::failed(format!("Could not read {} {root_id}", P::TYPE_NAME), &failure, &mut diagnostics);
                unchanged(diagnostics)
            }
        }
    }

    async fn apply_now(&self, request: ApplyRequest) -> ApplyResponse {
        let mut diagnostics = Diagnostics::default();
        let cloud = account(&self.connection, &mut diagnostics).and_then(|regions| match request.prior.is_null() {
            true => {
                // Unknown at plan, for example because the configuration of the provider was.
                let planned = Some(request.planned.get(location::REGION)).filter(|region| !region.is_unknown());
                let configured = planned.unwrap_or_else(|| request.config.get(location::REGION));
                location::of_config(&regions, configured, &mut diagnostics)
            }
            false => location::of_state::<P>(&regions, &request.prior, &mut diagnostics),
        });
        let Some(cloud) = cloud else {
            return ApplyResponse { state: request.prior, private: request.planned_private, diagnostics };
        };
        apply::apply::<P>(&self.shared, cloud, request).await
    }
}
