//! The trait that a provider implements for each of its data sources.

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::{Diagnostics, Schema, Value};

/// One data source: looks at what exists, and changes nothing.
///
/// As for a resource, values are whole objects of the schema, and the server runs handlers in tasks of their own and
/// answers for one that panics.
#[async_trait]
pub trait DataSource: Send + Sync + 'static {
    /// The type in a configuration, such as `acme_door`. A resource may have the same.
    fn type_name(&self) -> &'static str;

    /// The data block. Asked for once and kept.
    fn schema(&self) -> Schema;

    /// Checks a configuration, any part of which may be unknown. Works without [`Provider::configure`].
    ///
    /// [`Provider::configure`]: super::Provider::configure
    fn validate(&self, config: &Value) -> Diagnostics;

    /// Looks. Terraform waits with it until the configuration is known, and repeats what the user wrote there in the
    /// state.
    async fn read(&self, request: DataRequest) -> DataResponse;
}

/// What a look starts from.
pub struct DataRequest {
    /// The configuration, wholly known.
    pub config: Value,
    /// Cancelled when Terraform asks the provider to stop.
    pub stop: CancellationToken,
}

/// What a look found.
pub struct DataResponse {
    /// The configuration with all that was found, wholly known; `None` with an error diagnostic.
    pub state: Option<Value>,
    /// Messages.
    pub diagnostics: Diagnostics,
}
