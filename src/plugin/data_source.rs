//! The trait that a provider implements for each of its data sources.

use super::{Diagnostics, Schema, Value};
use async_trait::async_trait;

/// A data source, which reads existing objects and changes nothing.
///
/// As with a resource, values are complete objects of the schema. The server runs each handler in its own task, and
/// reports a panic as an error. It drops a read when Terraform requests a stop or has disconnected.
#[async_trait]
pub trait DataSource: Send + Sync + 'static {
    /// The type in a configuration, such as `acme_door`. A resource may have the same type.
    fn type_name(&self) -> &'static str;

    /// The schema of the data block. Called once; the server keeps the schema.
    fn schema(&self) -> Schema;

    /// Checks a configuration, any part of which may be unknown. Works without [`Provider::configure`].
    ///
    /// [`Provider::configure`]: super::Provider::configure
    fn validate(&self, config: &Value) -> Diagnostics;

    /// Reads the data. Terraform calls it when the configuration is known, and repeats the configured values in the
    /// state.
    async fn read(&self, request: DataRequest) -> DataResponse;
}

/// The input of a read.
pub struct DataRequest {
    /// The configuration, wholly known.
    pub config: Value,
}

/// The result of a read.
pub struct DataResponse {
    /// The configuration with the values read, wholly known; `None` with an error diagnostic.
    pub state: Option<Value>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}
