//! AWS errors, classified by code and message.
//!
//! EC2 models no errors at all, and API Gateway returns errors that its delete operations do not model, so
//! matching on the SDK's error enums would miss them.

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::display::DisplayErrorContext;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use aws_types::request_id::RequestId;

use crate::cloud::{Cause, Failure};

/// Turns an SDK error into a [`Failure`].
pub(crate) trait AwsError {
    /// The failure of this AWS action, such as `CreateNatGateway`.
    fn failure(&self, action: &str) -> Failure;
}

impl<E> AwsError for SdkError<E, HttpResponse>
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
    SdkError<E, HttpResponse>: RequestId,
{
    fn failure(&self, action: &str) -> Failure {
        let code = self.code().map(str::to_string);
        let message = match self.message() {
            Some(message) => message.to_string(),
            None => DisplayErrorContext(self).to_string(),
        };
        Failure {
            cause: cause(code.as_deref(), &message),
            action: action.to_string(),
            code,
            message,
            request_id: self.request_id().map(str::to_string),
        }
    }
}

fn cause(code: Option<&str>, _message: &str) -> Cause {
    match code {
        Some(code) if code.ends_with(".NotFound") => Cause::NotFound,
        _ => Cause::Other,
    }
}
