//! The implementation of [`plugin::Resource`](crate::plugin::Resource) and
//! [`plugin::DataSource`](crate::plugin::DataSource), generic over the topology.
//!
//! It translates Terraform's operations into the three steps of a topology: blueprint, plan, execute. User-visible
//! state and private state are created only here.

mod account;
mod apply;
mod data_source;
mod decision;
mod dependents;
mod diagnostics;
mod duplicates;
mod facts;
mod generate;
mod guardduty;
mod import;
mod location;
mod managed_roots;
mod observe;
mod plan;
mod private_state;
mod protected;
mod refresh;
mod state;
mod takeover;

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::cloud::{Connected, Connection};
use crate::plugin::{
    ApplyRequest, ApplyResponse, Diagnostics, ImportResponse, Nested, PlanRequest, PlanResponse, ReadRequest,
    ReadResponse, Resource, Schema, Value,
};
pub use crate::reconcile::Progress;
use crate::topology::Topology;
use account::account;
use apply::Shared;
pub use data_source::Existing;
use plan::Roots;
use private_state::Private;
use refresh::ReadRoots;

/// A topology as a Terraform resource.
pub struct Composite<P> {
    connection: Connection,
    shared: Shared,
    read_roots: ReadRoots,
    topology: PhantomData<P>,
}

impl<P: Topology> Composite<P> {
    /// Creates the resource on the connection of the provider. It writes its progress only to the log.
    pub fn new(connection: Connection) -> Composite<P> {
        Composite::with_progress(connection, Arc::default())
    }

    /// The same with a progress file, which all resources of the provider share.
    pub fn with_progress(connection: Connection, progress: Arc<Progress>) -> Composite<P> {
        Composite { connection, shared: Shared::new(progress), read_roots: ReadRoots::default(), topology: PhantomData }
    }
}

#[async_trait]
impl<P: Topology> Resource for Composite<P> {
    fn type_name(&self) -> &'static str {
        P::TYPE_NAME
    }

    fn schema(&self) -> Schema {
        let mut attributes = P::Config::attributes();
        attributes.extend(state::common_attributes());
        attributes.extend(P::outputs_schema());
        Schema { version: 0, description: P::description().to_string(), attributes }
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
        if let Some(root_id) = state.get("id").as_str() {
            self.shared.managed_roots.add(root_id);
        }
    }

    fn configuration(&self, state: &Value) -> Value {
        generate::configuration_of::<P>(state)
    }

    async fn read(&self, request: ReadRequest) -> ReadResponse {
        self.note_state(&request.state);
        self.shared.retry_limits(None, &request.stop).scope(self.read_now(request)).await
    }

    async fn plan(&self, request: PlanRequest) -> PlanResponse {
        self.note_state(&request.prior);
        let limits = self.shared.retry_limits(None, &request.stop);
        let roots = Roots { read: &self.read_roots, managed: &self.shared.managed_roots };
        limits.scope(plan::plan::<P>(&self.connection, roots, request)).await
    }

    async fn apply(&self, request: ApplyRequest) -> ApplyResponse {
        self.note_state(&request.prior);
        // After a stop, an apply still records what it has done.
        let limits = self.shared.retry_limits(None, &CancellationToken::new());
        limits.scope(self.apply_now(request)).await
    }

    async fn import(&self, id: &str) -> ImportResponse {
        let mut diagnostics = Diagnostics::default();
        let Some(cloud) = account(&self.connection, &mut diagnostics) else {
            return ImportResponse { state: None, private: Vec::new(), diagnostics };
        };
        let limits = self.shared.retry_limits(None, &CancellationToken::new());
        limits.scope(import::import::<P>(cloud.as_ref(), id)).await
    }
}

impl<P: Topology> Composite<P> {
    async fn read_now(&self, request: ReadRequest) -> ReadResponse {
        let mut diagnostics = Diagnostics::default();
        let unchanged =
            |diagnostics| ReadResponse { state: request.state.clone(), private: request.private.clone(), diagnostics };
        // Terraform refreshes even if the provider block contains unknown values. AWS cannot be read then.
        if matches!(self.connection.get(), Connected::Unknown) {
            return unchanged(diagnostics);
        }
        let Some(cloud) = account(&self.connection, &mut diagnostics) else { return unchanged(diagnostics) };
        if !location::is_reachable::<P>(&request.state, cloud.scope(), &mut diagnostics) {
            return unchanged(diagnostics);
        }
        let Some(root_id) = request.state.get("id").as_str() else {
            return ReadResponse { state: Value::Null, private: Vec::new(), diagnostics };
        };
        let (cloud, known) = (cloud.as_ref(), Private::decode(&request.private));
        match refresh::with_facts::<P>(cloud, &request.state, root_id, known).await {
            Ok(Some((private, state))) => {
                self.read_roots.add(root_id);
                ReadResponse { state, private: private.encode(), diagnostics }
            }
            Ok(None) => ReadResponse { state: Value::Null, private: Vec::new(), diagnostics },
            Err(failure) => {
                diagnostics::failed(format!("Error reading {} {root_id}", P::TYPE_NAME), &failure, &mut diagnostics);
                unchanged(diagnostics)
            }
        }
    }

    async fn apply_now(&self, request: ApplyRequest) -> ApplyResponse {
        let mut diagnostics = Diagnostics::default();
        let cloud = account(&self.connection, &mut diagnostics)
            .filter(|cloud| location::is_reachable::<P>(&request.prior, cloud.scope(), &mut diagnostics));
        let Some(cloud) = cloud else {
            return ApplyResponse { state: request.prior, private: request.planned_private, diagnostics };
        };
        apply::apply::<P>(&self.shared, cloud, request).await
    }
}
