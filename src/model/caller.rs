//! The callers of Lambda functions on behalf of a gateway.

use serde::{Deserialize, Serialize};

use super::Key;

/// A caller that may invoke a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caller {
    /// API Gateway, for every route of the API.
    Routes,
    /// API Gateway, for this authorizer.
    Authorizer(Key),
    /// CloudWatch Logs, for this log group.
    LogGroup(Key),
}
