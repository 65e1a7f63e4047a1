//! The trait that a provider implements for each list resource.

use async_trait::async_trait;
use tokio::sync::mpsc;

use super::{Diagnostics, Schema, Value};

/// A list resource, which finds existing objects of a resource type for `terraform query`. The resource type must have
/// an identity.
///
/// As with a resource, values are complete objects of the schema. The server runs each handler in its own task, and
/// reports a panic as an error. It drops the handler when Terraform requests a stop or has enough results.
#[async_trait]
pub trait ListResource: Send + Sync + 'static {
    /// The type of the resources that it lists, such as `acme_door`.
    fn type_name(&self) -> &'static str;

    /// The schema of the `config` block. Called once; the server keeps the schema.
    fn schema(&self) -> Schema;

    /// Checks a configuration, any part of which may be unknown. Works without [`Provider::configure`].
    ///
    /// [`Provider::configure`]: super::Provider::configure
    fn validate(&self, config: &Value) -> Diagnostics;

    /// Finds objects and sends each as soon as it is found. Returns errors and warnings about the whole list.
    async fn list(&self, request: ListRequest) -> Diagnostics;
}

/// The input of a list.
pub struct ListRequest {
    /// The configuration, wholly known.
    pub config: Value,
    /// Whether the results must contain states. They may take more calls.
    pub with_state: bool,
    /// The greatest number of results that Terraform accepts.
    pub limit: usize,
    /// Receives the results. If sending fails, Terraform expects no more.
    pub found: mpsc::Sender<Listed>,
}

/// A result of a list.
pub struct Listed {
    /// The identity of the object; `None` if there is none because the object could not be read. The diagnostics then
    /// say why.
    pub identity: Option<Value>,
    /// How the object is shown to users.
    pub display_name: String,
    /// The state that an import would give; `None` unless the request asks for it.
    pub state: Option<Value>,
    /// Errors and warnings about this object. An error ends the list.
    pub diagnostics: Diagnostics,
}
