//! The one implementation of [`plugin::Resource`](crate::plugin::Resource), for every product, and beside it that of
//! [`plugin::DataSource`](crate::plugin::DataSource).
//!
//! It translates between Terraform's operations and the three steps of a product: blueprint, plan, execute. All
//! state that a user sees and all private state is made here.

mod planning;
mod changes;
mod data_source;
mod import;
mod lost_answers;
mod messages;
mod observe;
mod obstacles;
mod private;
mod refresh;
mod stages;
mod state;

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::sync::Mutex;

use async_trait::async_trait;

use crate::cloud::{Connected, Connection, SharedCloud};
use crate::plugin::{
    ApplyRequest, ApplyResponse, Diagnostics, ImportResponse, Nested, PlanRequest, PlanResponse, ReadRequest,
    ReadResponse, Resource, Schema, Value,
};
use crate::reconcile::Progress;
use crate::topology::Product;
pub use data_source::Existing;
use private::Private;

/// One product as a Terraform resource.
pub struct Composite<P> {
    connection: Connection,
    progress: Progress,
    /// Roots whose creation this process began: what a create of another process has left is recognized by its
    /// absence here.
    begun: Mutex<BTreeSet<String>>,
    product: PhantomData<P>,
}

impl<P: Product> Composite<P> {
    /// The resource, on the provider's connection.
    pub fn new(connection: Connection) -> Composite<P> {
        Composite {
            connection,
            progress: Progress::from_environment(),
            begun: Mutex::new(BTreeSet::new()),
            product: PhantomData,
        }
    }

    fn begun(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.begun.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The account, or a diagnostic that says why there is none.
    fn cloud(&self, diagnostics: &mut Diagnostics) -> Option<SharedCloud> {
        account(&self.connection, diagnostics)
    }
}

/// The account, or a diagnostic that says why there is none.
fn account(connection: &Connection, diagnostics: &mut Diagnostics) -> Option<SharedCloud> {
    match connection.get() {
        Connected::Ready(cloud) => Some(cloud),
        Connected::Unknown => {
            diagnostics.error(
                "The provider configuration is not known yet",
                "An argument of the provider block depends on something that is only known after apply. Apply that first, \
                 with -target, or give the argument a known value.",
            );
            None
        }
        Connected::Missing => {
            diagnostics.error(
                "The provider is not configured",
                "Terraform has not sent a provider configuration. This is a bug in Terraform or in the provider.",
            );
            None
        }
    }
}

#[async_trait]
impl<P: Product> Resource for Composite<P> {
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

    async fn read(&self, request: ReadRequest) -> ReadResponse {
        let mut diagnostics = Diagnostics::default();
        let unchanged =
            |diagnostics| ReadResponse { state: request.state.clone(), private: request.private.clone(), diagnostics };
        // With a provider block that holds unknowns Terraform refreshes all the same, and nothing can be seen.
        if matches!(self.connection.get(), Connected::Unknown) {
            return unchanged(diagnostics);
        }
        let Some(cloud) = self.cloud(&mut diagnostics) else { return unchanged(diagnostics) };
        let Some(root_id) = request.state.get("id").as_str() else {
            return ReadResponse { state: Value::Null, private: Vec::new(), diagnostics };
        };
        match refresh::within::<P>(cloud.as_ref(), &request.state, root_id, Private::decode(&request.private)).await {
            Ok(Some(private)) => {
                let state = refresh::state::<P>(&request.state, root_id, &private, cloud.scope());
                ReadResponse { state, private: private.encode(), diagnostics }
            }
            Ok(None) => ReadResponse { state: Value::Null, private: Vec::new(), diagnostics },
            Err(failure) => {
                let what = format!("Reading {} {root_id} failed", P::TYPE_NAME);
                diagnostics.error(what, messages::detail(&failure));
                unchanged(diagnostics)
            }
        }
    }

    async fn plan(&self, request: PlanRequest) -> PlanResponse {
        if request.proposed.is_null() {
            return obstacles::plan_of_destroy::<P>(&self.connection, request).await;
        }
        planning::plan::<P>(&self.connection, request).await
    }

    async fn apply(&self, request: ApplyRequest) -> ApplyResponse {
        let mut diagnostics = Diagnostics::default();
        let Some(cloud) = self.cloud(&mut diagnostics) else {
            return ApplyResponse { state: request.prior, private: request.planned_private, diagnostics };
        };
        if request.planned.is_null() { self.destroy(cloud, request).await } else { self.change(cloud, request).await }
    }

    async fn import(&self, id: &str) -> ImportResponse {
        let mut diagnostics = Diagnostics::default();
        let Some(cloud) = self.cloud(&mut diagnostics) else {
            return ImportResponse { state: None, private: Vec::new(), diagnostics };
        };
        import::import::<P>(cloud.as_ref(), id).await
    }
}
