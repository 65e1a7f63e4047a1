//! Overrides for calls that make something and carry no idempotency token.

use aws_smithy_types::retry::RetryConfig;

use super::Session;

impl Session {
    /// The override for API Gateway, where no call has a token.
    pub(crate) fn once_apigateway(&self) -> aws_sdk_apigatewayv2::config::Builder {
        aws_sdk_apigatewayv2::Config::builder().retry_config(RetryConfig::disabled())
    }

    /// The override for CloudWatch Logs.
    pub(crate) fn once_logs(&self) -> aws_sdk_cloudwatchlogs::config::Builder {
        aws_sdk_cloudwatchlogs::Config::builder().retry_config(RetryConfig::disabled())
    }

    /// The override for Lambda.
    pub(crate) fn once_lambda(&self) -> aws_sdk_lambda::config::Builder {
        aws_sdk_lambda::Config::builder().retry_config(RetryConfig::disabled())
    }
}
