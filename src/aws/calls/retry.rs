//! Retries by the SDK: their number, their budget, and the errors that are not retried.

use aws_sdk_cloudwatchlogs::operation::create_log_group::CreateLogGroupError;
use aws_sdk_cloudwatchlogs::operation::put_subscription_filter::PutSubscriptionFilterError;
use aws_smithy_runtime::client::retries::{RetryPartition, TokenBucket};
use aws_smithy_runtime_api::client::interceptors::context::InterceptorContext;
use aws_smithy_runtime_api::client::retries::classifiers::{
    ClassifyRetry, RetryAction, RetryClassifierPriority, RetryReason,
};
use aws_smithy_types::retry::ErrorKind;

use crate::aws::Session;
use crate::aws::config::chain::find;
use crate::aws::config::unreachable::NeverConnected;

/// The default maximum number of attempts of a call, including the first one. AWS throttles the many calls of a large
/// topology, and a failure in the middle of an apply costs more than waiting.
pub(crate) const DEFAULT_ATTEMPTS: u32 = 25;

/// The retry budget of one service.
///
/// The SDK's own budget is exhausted by about a hundred pending retries, after which errors surface although attempts
/// remain. A large topology reaches that, so the budget is unlimited unless the user sets one.
pub(crate) fn budget(service: &'static str, capacity: Option<usize>) -> RetryPartition {
    let bucket = capacity.map_or_else(TokenBucket::unlimited, TokenBucket::new);
    RetryPartition::custom(service).token_bucket(bucket).build()
}

/// Overrides for calls that create an object without an idempotency token, such as `CreateVpc`.
///
/// The SDK retries a call after a 5xx or a lost response, although AWS may have created the object: the retry would
/// create a second one that is not in state. With this override the SDK retries a call only if AWS cannot have carried
/// it out, because AWS throttled it or there was no connection. After any other failure the caller searches for the
/// object by its natural key or its tag `fgw:request`.
///
/// ```text
/// session.ec2.create_vpc().cidr_block("10.0.0.0/16").customize().config_override(session.once_ec2()).send().await
/// ```
impl Session {
    /// The override for EC2.
    pub(crate) fn once_ec2(&self) -> aws_sdk_ec2::config::Builder {
        aws_sdk_ec2::Config::builder().retry_classifier(Once)
    }

    /// The override for API Gateway, where no call has a token.
    pub(crate) fn once_apigateway(&self) -> aws_sdk_apigatewayv2::config::Builder {
        aws_sdk_apigatewayv2::Config::builder().retry_classifier(Once)
    }

    /// The override for CloudWatch Logs, where an exceeded quota is not throttling.
    pub(crate) fn once_logs(&self) -> aws_sdk_cloudwatchlogs::config::Builder {
        aws_sdk_cloudwatchlogs::Config::builder().retry_classifier(Once).retry_classifier(LogsQuota)
    }

    /// The override for calls of CloudWatch Logs that can be repeated safely, except after an exceeded quota.
    pub(crate) fn within_quota_logs(&self) -> aws_sdk_cloudwatchlogs::config::Builder {
        aws_sdk_cloudwatchlogs::Config::builder().retry_classifier(LogsQuota)
    }

    /// The override for Lambda.
    pub(crate) fn once_lambda(&self) -> aws_sdk_lambda::config::Builder {
        aws_sdk_lambda::Config::builder().retry_classifier(Once)
    }

    /// The override for Route 53.
    pub(crate) fn once_route53(&self) -> aws_sdk_route53::config::Builder {
        aws_sdk_route53::Config::builder().retry_classifier(Once)
    }
}

/// Forbids every retry that the SDK's own classifiers request, except after throttling or without a connection.
#[derive(Debug)]
struct Once;

impl ClassifyRetry for Once {
    fn classify_retry(&self, context: &InterceptorContext) -> RetryAction {
        if never_connected(context).is_some() { RetryAction::NoActionIndicated } else { RetryAction::RetryForbidden }
    }

    fn classify_retry_v2(&self, context: &InterceptorContext, previous: &RetryAction) -> RetryAction {
        match previous {
            RetryAction::RetryIndicated(RetryReason::RetryableError { kind: ErrorKind::ThrottlingError, .. }) => {
                RetryAction::NoActionIndicated
            }
            _ => self.classify_retry(context),
        }
    }

    fn name(&self) -> &'static str {
        "Calls without an idempotency token"
    }

    fn priority(&self) -> RetryClassifierPriority {
        // Runs after the last of the SDK's own classifiers, because it needs their result.
        RetryClassifierPriority::run_after(RetryClassifierPriority::transient_error_classifier())
    }
}

/// Forbids retries of `LimitExceededException`. The SDK treats this code as throttling, which it is in other services.
/// CloudWatch Logs returns it for an exceeded quota, which waiting does not change.
#[derive(Debug)]
struct LogsQuota;

impl ClassifyRetry for LogsQuota {
    fn classify_retry(&self, context: &InterceptorContext) -> RetryAction {
        let Some(Err(error)) = context.output_or_error() else { return RetryAction::NoActionIndicated };
        let is_quota = error.as_operation_error().is_some_and(|error| {
            error.downcast_ref().is_some_and(CreateLogGroupError::is_limit_exceeded_exception)
                || error.downcast_ref().is_some_and(PutSubscriptionFilterError::is_limit_exceeded_exception)
        });
        if is_quota { RetryAction::RetryForbidden } else { RetryAction::NoActionIndicated }
    }

    fn name(&self) -> &'static str {
        "Quotas of CloudWatch Logs"
    }
}

/// Why there was no connection, if there was none.
pub(super) fn never_connected(context: &InterceptorContext) -> Option<&NeverConnected> {
    let Some(Err(error)) = context.output_or_error() else { return None };
    find(error.as_connector_error()?)
}
