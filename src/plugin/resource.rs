//! The traits that a provider implements.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::{
    AttributePath, DataSource, Diagnostics, Function, IdentityAttribute, ImportTarget, ListResource, Schema, Value,
};

/// A provider: its provider block, resources, data sources and functions.
#[async_trait]
pub trait Provider: Send + Sync + 'static {
    /// The schema of the provider block. Called once; the server keeps the schema.
    fn schema(&self) -> Schema;

    /// The resources, in the order of the documentation. Called once; the server keeps the list.
    fn resources(&self) -> Vec<Arc<dyn Resource>>;

    /// The data sources, in the order of the documentation. Called once; the server keeps the list.
    fn data_sources(&self) -> Vec<Arc<dyn DataSource>> {
        Vec::new()
    }

    /// The list resources, in the order of the documentation. Called once; the server keeps the list.
    fn list_resources(&self) -> Vec<Arc<dyn ListResource>> {
        Vec::new()
    }

    /// The functions, in the order of the documentation. Called once; the server keeps the list.
    fn functions(&self) -> Vec<Arc<dyn Function>> {
        Vec::new()
    }

    /// Checks a provider block, any part of which may be unknown.
    fn validate(&self, config: &Value) -> Diagnostics;

    /// Removes secrets from a text. The server calls it for each message to the user, for each text of the log, and for
    /// the messages of panics, which can contain any value.
    fn redact(text: &str) -> String
    where
        Self: Sized,
    {
        text.to_string()
    }

    /// Configures the provider. Terraform calls it before it reads, plans, applies or imports a resource or data
    /// source. Dropped at any point when Terraform requests a stop or has disconnected.
    async fn configure(&self, config: Value, terraform_version: &str) -> Diagnostics;
}

/// A resource type.
///
/// Values are complete objects of the schema: every attribute is present, and null if it is not set. The server runs
/// each handler in its own task. An apply always runs to its end, so that nothing drops it between two calls. If it
/// panics, the server returns the [`PartialState`] with an error. The other handlers change nothing, and are dropped at
/// any point when Terraform requests a stop or has disconnected.
#[async_trait]
pub trait Resource: Send + Sync + 'static {
    /// The type in a configuration, such as `acme_door`.
    fn type_name(&self) -> &'static str;

    /// The schema of the resource block. Called once; the server keeps the schema.
    fn schema(&self) -> Schema;

    /// Checks a configuration, any part of which may be unknown. Works without [`Provider::configure`].
    fn validate(&self, config: &Value) -> Diagnostics;

    /// Upgrades a stored state to the current schema version. `state` is the JSON of the state file. The server calls
    /// it only for versions below the current one. It accepts a state of the current version without an upgrade.
    /// Attributes that a state does not have get their defaults in both cases.
    fn upgrade(&self, version: i64, state: serde_json::Value) -> Result<serde_json::Value, String> {
        let _ = state;
        Err(format!("The provider does not support upgrades from schema version {version}."))
    }

    /// Receives each stored state that Terraform sends for an upgrade, after the upgrade. In a plan, these are the
    /// states of all objects of this type; in an apply, only those of the objects that it changes.
    fn note_state(&self, state: &Value) {
        let _ = state;
    }

    /// Returns the configuration that results in this state, as short as possible, for generated configurations. The
    /// server removes computed attributes. Works without [`Provider::configure`]. By default, all attributes are in it.
    fn configuration(&self, state: &Value) -> Value {
        state.clone()
    }

    /// Reads the current state of the object.
    async fn read(&self, request: ReadRequest) -> ReadResponse;

    /// Plans an apply. Must be deterministic, and must not change anything.
    async fn plan(&self, request: PlanRequest) -> PlanResponse;

    /// Applies a plan. Creates if `prior` is null, and destroys if `planned` is null.
    async fn apply(&self, request: ApplyRequest) -> ApplyResponse;

    /// Finds an existing object. Terraform reads the object immediately afterwards.
    async fn import(&self, target: ImportTarget) -> ImportResponse;

    /// The attributes of the identity of an object, by which it can be imported. None if the resource has no identity.
    fn identity_schema(&self) -> Vec<IdentityAttribute> {
        Vec::new()
    }

    /// The identity of the object in a state, which must not change while the object exists. `None` if the state
    /// contains no object.
    fn identity(&self, state: &Value) -> Option<Value> {
        let _ = state;
        None
    }

    /// Whether a state of another resource can be moved to this one. It must then be a state of this resource: the
    /// server upgrades it as a stored state. The error is a text for the user.
    fn check_move(&self, source: &MoveSource) -> Result<(), String> {
        Err(format!("The state of {} cannot be moved to {}.", source.type_name, self.type_name()))
    }
}

/// The resource whose state is moved to another one.
#[derive(Clone, Debug)]
pub struct MoveSource {
    /// The complete source address of its provider: host, namespace and type.
    pub provider_address: String,
    /// Its type.
    pub type_name: String,
    /// The schema version of its state.
    pub schema_version: i64,
}

/// The input of a read.
pub struct ReadRequest {
    /// The state of the last apply, read or import.
    pub state: Value,
    /// The private data stored with it; empty if there is none.
    pub private: Vec<u8>,
}

/// The result of a read.
pub struct ReadResponse {
    /// The current state; null if the object was deleted.
    pub state: Value,
    /// Private data to store with it.
    pub private: Vec<u8>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

/// The input of a plan.
pub struct PlanRequest {
    /// The prior state; null for a create.
    pub prior: Value,
    /// Terraform's merge of prior state and configuration; null for a destroy.
    pub proposed: Value,
    /// The configuration as written; null for a destroy.
    pub config: Value,
    /// The private data stored with the prior state; empty if there is none.
    pub prior_private: Vec<u8>,
    /// If this plan repeats one that was shown before, as in an apply: the private data of that plan. Empty otherwise,
    /// and with hosts that do not offer it: Terraform before 1.16, and OpenTofu.
    pub planned_private: Vec<u8>,
}

/// The result of a plan.
pub struct PlanResponse {
    /// The state after apply, with unknown parts that are known only after apply; null for a destroy.
    pub planned: Value,
    /// Attributes whose change requires a replacement. Terraform then plans a destroy and a create.
    pub requires_replace: Vec<AttributePath>,
    /// Private data for apply.
    pub private: Vec<u8>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

/// The input of an apply.
pub struct ApplyRequest {
    /// The prior state; null for a create.
    pub prior: Value,
    /// The planned state; null for a destroy.
    pub planned: Value,
    /// The configuration, wholly known; null for a destroy.
    pub config: Value,
    /// The private data of the plan.
    pub planned_private: Vec<u8>,
    /// Canceled when Terraform requests a stop. The apply then starts no new operation and returns the state reached.
    pub stop: CancellationToken,
    /// Canceled, before `stop`, when the response can no longer reach Terraform, because Terraform has disconnected or
    /// ends the provider. No state will contain the objects that this apply creates, so the next apply must be able to
    /// find them.
    pub client_gone: CancellationToken,
    /// The state reached so far, which the server returns if the handler panics.
    pub partial_state: PartialState,
}

/// The result of an apply. It always has a state, because an error does not undo completed operations.
pub struct ApplyResponse {
    /// The current state; null if no object exists.
    pub state: Value,
    /// Private data to store with it.
    pub private: Vec<u8>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

/// The result of an import.
pub struct ImportResponse {
    /// The input state for a read; `None` with an error diagnostic if the object was not found.
    pub state: Option<Value>,
    /// Private data to store with it.
    pub private: Vec<u8>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

type Snapshot = dyn Fn() -> (Value, Vec<u8>) + Send + Sync;

/// The state that a running apply has reached. The server can read it at any time.
#[derive(Clone, Default)]
pub struct PartialState(Arc<Mutex<Option<Arc<Snapshot>>>>);

impl PartialState {
    /// Sets the function that returns the state and private data reached. It may be called from another thread at any
    /// time, including after a panic, and must not wait for the apply.
    pub fn set_snapshot(&self, snapshot: impl Fn() -> (Value, Vec<u8>) + Send + Sync + 'static) {
        let mut snapshot_of = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *snapshot_of = Some(Arc::new(snapshot));
    }

    /// The state and private data reached. `None` if the apply has not set a function.
    pub fn get(&self) -> Option<(Value, Vec<u8>)> {
        let snapshot_of = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
        snapshot_of.map(|snapshot| snapshot())
    }
}
