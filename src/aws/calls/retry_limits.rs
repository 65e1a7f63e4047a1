//! Limits of the SDK's retries: their number by the kind of the failure, the deadline, and a stop request.

use std::time::Duration;

use aws_smithy_runtime::client::retries::classifiers::run_classifiers_on_ctx;
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::context::{FinalizerInterceptorContextRef, InterceptorContext};
use aws_smithy_runtime_api::client::interceptors::{Intercept, dyn_dispatch_hint};
use aws_smithy_runtime_api::client::orchestrator::Metadata;
use aws_smithy_runtime_api::client::retries::RequestAttempts;
use aws_smithy_runtime_api::client::retries::classifiers::{RetryAction, RetryReason};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;
use aws_smithy_types::retry::{ErrorKind, RetryConfig};
use tokio::time::Instant;

use crate::aws::calls::errors::not_from_aws;
use crate::aws::config::http_client::chain;
use crate::aws::config::redact::redact;
use crate::cloud::retries::{Retry, RetryLimits};

/// The default maximum number of attempts of a call that fails, but is not throttled: internal errors of AWS, and
/// broken or refused connections. The pauses between 8 attempts add up to 71 s at most, and to half of that on average.
const FAILED: u32 = 8;

/// The same for HTTP status 500 without an AWS error. Every service of AWS returns an error code with this status.
/// Emulators return none for calls that they do not support, which retries do not change.
const FOREIGN: u32 = 3;

/// Ends retries that are useless, too late or no longer wanted, and reports the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LimitRetries {
    /// Whether the user has set the number of attempts. Then it applies to every kind of failure.
    pub(crate) is_number_set: bool,
}

#[dyn_dispatch_hint]
impl Intercept for LimitRetries {
    fn name(&self) -> &'static str {
        "LimitRetries"
    }

    /// Replaces the configuration by which the SDK decides on the next attempt.
    fn read_after_attempt(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        components: &RuntimeComponents,
        bag: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let context = context.inner();
        let action = run_classifiers_on_ctx(components.retry_classifiers(), context);
        let RetryAction::RetryIndicated(RetryReason::RetryableError { kind, .. }) = action else { return Ok(()) };
        let (Some(config), Some(attempt)) = (bag.load::<RetryConfig>(), bag.load::<RequestAttempts>()) else {
            return Ok(());
        };
        let (config, attempt) = (config.clone(), attempt.attempts());
        let limits = RetryLimits::current();
        let has_ended = limits.as_ref().is_some_and(RetryLimits::have_ended);
        let attempts =
            if has_ended { attempt } else { self.attempts(kind, is_foreign_error(context), config.max_attempts()) };
        if attempt < attempts {
            let action = bag.load::<Metadata>().map_or("a call", Metadata::name).to_string();
            Retry { action, number: Some((attempt, attempts - 1)), reason: reason(context) }.report();
        }
        let rest = limits.and_then(|limits| limits.deadline).map(|it| it.saturating_duration_since(Instant::now()));
        let pause = config.max_backoff().min(rest.unwrap_or(Duration::MAX));
        bag.interceptor_state().store_put(config.with_max_attempts(attempts).with_max_backoff(pause));
        Ok(())
    }
}

impl LimitRetries {
    /// The maximum number of attempts of a call that failed in this way.
    fn attempts(self, kind: ErrorKind, is_foreign: bool, configured: u32) -> u32 {
        match kind {
            _ if self.is_number_set => configured,
            ErrorKind::ThrottlingError => configured,
            _ if is_foreign => configured.min(FOREIGN),
            _ => configured.min(FAILED),
        }
    }
}

/// Whether the server has answered with an internal error that is not one of AWS. Load balancers of AWS return 502, 503
/// and 504 without a code.
fn is_foreign_error(context: &InterceptorContext) -> bool {
    context.response().is_some_and(|response| response.status().as_u16() == 500 && not_from_aws(response).is_some())
}

/// The failure of the last attempt, in one line.
fn reason(context: &InterceptorContext) -> String {
    let response = context.response();
    if let Some(foreign) = response.and_then(not_from_aws) {
        return foreign;
    }
    let status = response.map(|response| format!("HTTP status {}", response.status().as_u16()));
    let error = context.output_or_error().and_then(|result| result.err());
    let error = error.map(|error| match error.as_operation_error() {
        Some(error) => chain(error),
        None => error.as_connector_error().map_or_else(|| "no answer".to_string(), |error| chain(error)),
    });
    let parts = [status, error].into_iter().flatten().collect::<Vec<_>>().join(": ");
    redact(&parts).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::aws::recorded::{Answer, Recorded};

    /// The number of calls until the error is returned, the retries that were reported, and the time that it took.
    async fn fail_with(answer: Answer, is_number_set: bool, seconds: u64) -> (usize, Vec<Retry>, Duration) {
        let aws = Recorded::default().on("DescribeLogGroups", answer);
        let retries = RetryConfig::standard().with_max_attempts(25);
        let config = aws.session("us-east-1").logs.config().to_builder().retry_config(retries);
        let logs =
            aws_sdk_cloudwatchlogs::Client::from_conf(config.interceptor(LimitRetries { is_number_set }).build());
        let reported = Arc::new(Mutex::new(Vec::new()));
        let start = Instant::now();
        let limits = RetryLimits {
            deadline: Some(start + Duration::from_secs(seconds)),
            stop: CancellationToken::new(),
            report: Arc::new({
                let reported = reported.clone();
                move |retry: &Retry| reported.lock().unwrap().push(retry.clone())
            }),
        };
        assert!(limits.scope(logs.describe_log_groups().send()).await.is_err());
        let reported = reported.lock().unwrap().clone();
        (aws.calls().len(), reported, start.elapsed())
    }

    const HOUR: u64 = 3600;

    #[tokio::test(start_paused = true)]
    async fn an_internal_error_is_retried_for_about_a_minute_at_most() {
        let (calls, reported, took) = fail_with(Answer::Error(500, "InternalFailure", "sorry"), false, HOUR).await;
        assert_eq!(calls, 8);
        assert!(took <= Duration::from_secs(71), "{took:?}");
        let lines: Vec<String> = reported.iter().map(Retry::to_string).collect();
        assert_eq!(lines.len(), 7);
        assert!(lines[0].starts_with("retrying DescribeLogGroups (1 of at most 7): HTTP status 500: "), "{lines:?}");
        assert!(lines[0].contains("InternalFailure") && lines[0].contains("sorry"), "{lines:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_internal_error_without_a_code_is_retried_twice() {
        let page = "<!doctype html><title>500 Internal Server Error</title>";
        let (calls, reported, _) = fail_with(Answer::Xml(500, page.into()), false, HOUR).await;
        assert_eq!((calls, reported.len()), (3, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_throttled_call_has_all_attempts() {
        let throttled = Answer::Error(400, "ThrottlingException", "Rate exceeded");
        assert_eq!(fail_with(throttled, false, HOUR).await.0, 25);
    }

    #[tokio::test(start_paused = true)]
    async fn a_number_that_the_user_has_set_applies_to_all_failures() {
        assert_eq!(fail_with(Answer::Error(500, "InternalFailure", "sorry"), true, HOUR).await.0, 25);
    }

    #[tokio::test(start_paused = true)]
    async fn retries_end_at_the_deadline() {
        let throttled = Answer::Error(400, "ThrottlingException", "Rate exceeded");
        let (calls, _, took) = fail_with(throttled, false, 10).await;
        assert!(calls < 25 && took <= Duration::from_secs(10), "{calls} calls in {took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_retried_after_a_stop() {
        let aws = Recorded::default().on("DescribeLogGroups", Answer::Error(500, "InternalFailure", "sorry"));
        let config = aws.session("us-east-1").logs.config().to_builder();
        let config = config.retry_config(RetryConfig::standard()).interceptor(LimitRetries { is_number_set: true });
        let logs = aws_sdk_cloudwatchlogs::Client::from_conf(config.build());
        let stop = CancellationToken::new();
        stop.cancel();
        let limits = RetryLimits { deadline: None, stop, report: Arc::new(|_| ()) };
        assert!(limits.scope(logs.describe_log_groups().send()).await.is_err());
        assert_eq!(aws.calls().len(), 1);
    }
}
