//! The traits that a provider implements.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::{AttributePath, DataSource, Diagnostics, Function, Schema, Value};

/// A provider: its own block, its resources, data sources and functions.
#[async_trait]
pub trait Provider: Send + Sync + 'static {
    /// The provider block. Asked for once and kept.
    fn schema(&self) -> Schema;

    /// The resources, in the order of the documentation. Asked for once and kept.
    fn resources(&self) -> Vec<Arc<dyn Resource>>;

    /// The data sources, in the order of the documentation. Asked for once and kept.
    fn data_sources(&self) -> Vec<Arc<dyn DataSource>> {
        Vec::new()
    }

    /// The functions, in the order of the documentation. Asked for once and kept.
    fn functions(&self) -> Vec<Arc<dyn Function>> {
        Vec::new()
    }

    /// Checks a provider block, any part of which may be unknown.
    fn validate(&self, config: &Value) -> Diagnostics;

    /// Takes the provider block into use. Called before any resource or data source is read, planned, applied or
    /// imported.
    async fn configure(&self, config: Value, terraform_version: &str) -> Diagnostics;
}

/// One resource type.
///
/// Values are whole objects of the schema: every attribute present, null where unset. The server answers for
/// a handler that panics, with [`PartialState`] as the state, and runs handlers in tasks of their own, so that a lost
/// connection never stops one between two calls.
#[async_trait]
pub trait Resource: Send + Sync + 'static {
    /// The type in a configuration, such as `acme_door`.
    fn type_name(&self) -> &'static str;

    /// The resource block. Asked for once and kept.
    fn schema(&self) -> Schema;

    /// Checks a configuration, any part of which may be unknown. Works without [`Provider::configure`].
    fn validate(&self, config: &Value) -> Diagnostics;

    /// Brings a stored state to the current schema version. `state` is the JSON of the state file. The server
    /// calls it only for versions below the current one; equal versions are passed through, attributes that
    /// the state lacks becoming null.
    fn upgrade(&self, version: i64, state: serde_json::Value) -> Result<serde_json::Value, String> {
        let _ = state;
        Err(format!("No upgrade from schema version {version} is known."))
    }

    /// Looks at the real thing.
    async fn read(&self, request: ReadRequest) -> ReadResponse;

    /// Says what an apply would lead to. Must be deterministic, and change nothing.
    async fn plan(&self, request: PlanRequest) -> PlanResponse;

    /// Carries out a plan. Creates where `prior` is null, destroys where `planned` is null.
    async fn apply(&self, request: ApplyRequest) -> ApplyResponse;

    /// Finds an existing thing by the id that a person gave. Terraform reads it right afterwards.
    async fn import(&self, id: &str) -> ImportResponse;
}

/// What a read starts from.
pub struct ReadRequest {
    /// The state of the last apply, read or import.
    pub state: Value,
    /// The private data stored with it; empty if there is none.
    pub private: Vec<u8>,
    /// Cancelled when Terraform asks the provider to stop.
    pub stop: CancellationToken,
}

/// What a read found.
pub struct ReadResponse {
    /// The state as it is; null when the thing is gone.
    pub state: Value,
    /// Private data to store with it.
    pub private: Vec<u8>,
    /// Messages.
    pub diagnostics: Diagnostics,
}

/// What a plan starts from.
pub struct PlanRequest {
    /// The state before; null for a create.
    pub prior: Value,
    /// What Terraform would merge from prior and configuration; null for a destroy.
    pub proposed: Value,
    /// The configuration as written; null for a destroy.
    pub config: Value,
    /// The private data stored with the prior state; empty if there is none.
    pub prior_private: Vec<u8>,
    /// Cancelled when Terraform asks the provider to stop.
    pub stop: CancellationToken,
}

/// What a plan decided.
pub struct PlanResponse {
    /// The state after apply, unknown where only apply can tell; null for a destroy.
    pub planned: Value,
    /// Attributes whose change needs a new thing. Terraform then destroys and creates.
    pub requires_replace: Vec<AttributePath>,
    /// Private data handed to apply.
    pub private: Vec<u8>,
    /// Messages.
    pub diagnostics: Diagnostics,
}

/// What an apply starts from.
pub struct ApplyRequest {
    /// The state before; null for a create.
    pub prior: Value,
    /// The planned state; null for a destroy.
    pub planned: Value,
    /// The configuration, wholly known; null for a destroy.
    pub config: Value,
    /// The private data that the plan handed over.
    pub planned_private: Vec<u8>,
    /// Cancelled when Terraform asks the provider to stop: start nothing new, return what there is.
    pub stop: CancellationToken,
    /// Cancelled, before `stop` is, when the answer reaches nobody any more: Terraform has hung up or ends the
    /// provider. No state will know what this apply makes, so it must stay such that the next one finds it.
    pub client_gone: CancellationToken,
    /// Where the apply leaves what it has reached, for the server to answer with if the handler panics.
    pub partial_state: PartialState,
}

/// What an apply led to. The state is always given: an error does not undo what exists.
pub struct ApplyResponse {
    /// The state as it is now; null when nothing exists.
    pub state: Value,
    /// Private data to store with it.
    pub private: Vec<u8>,
    /// Messages.
    pub diagnostics: Diagnostics,
}

/// What an import found.
pub struct ImportResponse {
    /// A state that a read can start from; `None` with an error diagnostic where there is nothing.
    pub state: Option<Value>,
    /// Private data to store with it.
    pub private: Vec<u8>,
    /// Messages.
    pub diagnostics: Diagnostics,
}

type Snapshot = dyn Fn() -> (Value, Vec<u8>) + Send + Sync;

/// The state that a running apply has reached, readable by the server at any time.
#[derive(Clone, Default)]
pub struct PartialState(Arc<Mutex<Option<Arc<Snapshot>>>>);

impl PartialState {
    /// Says how to tell the state reached. The function may be called from another thread at any time, also
    /// after a panic, and must not wait for the apply.
    pub fn set_snapshot(&self, snapshot: impl Fn() -> (Value, Vec<u8>) + Send + Sync + 'static) {
        let mut snapshot_of = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *snapshot_of = Some(Arc::new(snapshot));
    }

    /// The state and private data reached, if the apply has said how to tell them.
    pub fn get(&self) -> Option<(Value, Vec<u8>)> {
        let snapshot_of = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
        snapshot_of.map(|snapshot| snapshot())
    }
}
