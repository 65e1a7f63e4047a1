//! Limits of the SDK's retries: their number by the kind of the failure, the deadline, and a stop request.

use std::time::Duration;

use aws_smithy_runtime::client::retries::classifiers::run_classifiers_on_ctx;
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::context::{
    BeforeTransmitInterceptorContextRef, FinalizerInterceptorContextRef, InterceptorContext,
};
use aws_smithy_runtime_api::client::interceptors::{Intercept, dyn_dispatch_hint};
use aws_smithy_runtime_api::client::orchestrator::Metadata;
use aws_smithy_runtime_api::client::retries::RequestAttempts;
use aws_smithy_runtime_api::client::retries::classifiers::{RetryAction, RetryReason};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::{ConfigBag, Storable, StoreReplace};
use aws_smithy_types::error::ErrorMetadata;
use aws_smithy_types::retry::{ErrorKind, RetryConfig};
use tokio::time::Instant;

use crate::aws::calls::errors::not_from_aws;
use crate::aws::calls::retry::never_connected;
use crate::aws::config::chain::chain;
use crate::aws::config::redact::redact;
use crate::cloud::retries::{Retry, RetryLimits};

/// The default maximum number of attempts that fail, but are not throttled: internal errors of AWS, and broken or
/// refused connections. The pauses between 8 attempts add up to 71 s at most, and to half of that on average.
const FAILED: u32 = 8;

/// The same for responses that are not from AWS. Emulators return them for calls that they do not support, which
/// retries do not change.
const FOREIGN: u32 = 3;

/// Ends retries that are useless, too late or no longer wanted, and reports the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LimitRetries {
    /// Whether the user has set the number of attempts. Then it applies to every kind of failure.
    pub(crate) is_number_set: bool,
}

/// The attempts of one call so far.
#[derive(Clone, Debug)]
struct Attempts {
    /// The maximum number of all attempts.
    configured: u32,
    /// Those that failed without being throttled.
    failed: u32,
    /// Those of them whose response was not from AWS.
    foreign: u32,
    /// The retry that follows, if the SDK has no reason against it.
    next: Option<Retry>,
}

impl Storable for Attempts {
    type Storer = StoreReplace<Attempts>;
}

#[dyn_dispatch_hint]
impl Intercept for LimitRetries {
    fn name(&self) -> &'static str {
        "LimitRetries"
    }

    fn read_before_attempt(
        &self,
        _: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        bag: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Some(retry) = bag.load::<Attempts>().and_then(|attempts| attempts.next.as_ref()) {
            retry.report();
        }
        Ok(())
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
        let (Some(config), Some(number)) = (bag.load::<RetryConfig>(), bag.load::<RequestAttempts>()) else {
            return Ok(());
        };
        let (config, number) = (config.clone(), number.attempts());
        let mut attempts = bag.load::<Attempts>().cloned().unwrap_or(Attempts {
            configured: config.max_attempts(),
            failed: 0,
            foreign: 0,
            next: None,
        });
        let (made, most) = self.count(&mut attempts, kind, context, number);
        let is_retried = made < most && number < attempts.configured && is_in_time(&config, number);
        attempts.next = is_retried.then(|| {
            let action = bag.load::<Metadata>().map_or("a call", Metadata::name).to_string();
            Retry { is_wait: false, action, number: Some((made, most - 1)), reason: reason(context) }
        });
        let most = if is_retried { attempts.configured } else { number };
        bag.interceptor_state().store_put(attempts).store_put(config.with_max_attempts(most));
        Ok(())
    }
}

impl LimitRetries {
    /// Counts an attempt. Returns how many attempts have failed for the same reason, and how many may.
    fn count(self, attempts: &mut Attempts, kind: ErrorKind, context: &InterceptorContext, number: u32) -> (u32, u32) {
        if self.is_number_set || kind == ErrorKind::ThrottlingError {
            return (number, attempts.configured);
        }
        attempts.failed += 1;
        let unreachable = never_connected(context).and_then(|it| it.attempts(RetryLimits::is_in_apply()));
        if let Some(most) = unreachable {
            return (attempts.failed, most.min(attempts.configured));
        }
        if is_foreign(context) {
            attempts.foreign += 1;
            return (attempts.foreign, FOREIGN.min(attempts.configured));
        }
        (attempts.failed, FAILED.min(attempts.configured))
    }
}

/// Whether the longest pause after this attempt ends before the deadline, and no stop was requested. The SDK doubles
/// the longest pause after each attempt.
fn is_in_time(config: &RetryConfig, number: u32) -> bool {
    let Some(limits) = RetryLimits::current() else { return true };
    let doubled = 2_u32.saturating_pow(number.saturating_sub(1));
    let pause = config.initial_backoff().saturating_mul(doubled).min(config.max_backoff());
    let rest = limits.deadline.map_or(Duration::MAX, |it| it.saturating_duration_since(Instant::now()));
    !limits.stop.is_cancelled() && pause < rest
}

fn is_foreign(context: &InterceptorContext) -> bool {
    context.response().and_then(not_from_aws).is_some()
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
        Some(error) => code_and_message(error).unwrap_or_else(|| chain(error)),
        None => never_connected(context).map_or_else(
            || error.as_connector_error().map_or_else(|| "no answer".to_string(), |error| chain(error)),
            ToString::to_string,
        ),
    });
    let parts = [status, error].into_iter().flatten().collect::<Vec<_>>().join(": ");
    redact(&parts).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The code and the message of an error that the SDK has no type for.
fn code_and_message(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let found =
        std::iter::successors(Some(error), |error| error.source()).find_map(|it| it.downcast_ref::<ErrorMetadata>())?;
    Some([found.code(), found.message()].into_iter().flatten().collect::<Vec<_>>().join(": "))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tokio_util::sync::CancellationToken;

    use std::sync::atomic::{AtomicU32, Ordering};

    use aws_smithy_runtime_api::client::http::{
        HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn,
    };
    use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
    use aws_smithy_runtime_api::client::result::ConnectorError;

    use super::*;
    use crate::aws::calls::errors::AwsError;
    use crate::aws::config::unreachable::NeverConnected;
    use crate::aws::recorded::{Answer, Recorded};

    /// A client of which the SDK makes at most this many attempts.
    fn client(aws: &Recorded, attempts: u32, is_number_set: bool) -> aws_sdk_cloudwatchlogs::Client {
        let retries = RetryConfig::standard().with_max_attempts(attempts);
        let config = aws.session("us-east-1").logs.config().to_builder().retry_config(retries);
        aws_sdk_cloudwatchlogs::Client::from_conf(config.interceptor(LimitRetries { is_number_set }).build())
    }

    /// The number of calls until the error is returned, the retries that were reported, and the time that it took.
    async fn fail_with(answer: Answer, is_number_set: bool, seconds: u64) -> (usize, Vec<Retry>, Duration) {
        let aws = Recorded::default().on("DescribeLogGroups", answer);
        let logs = client(&aws, 25, is_number_set);
        let reported = Arc::new(Mutex::new(Vec::new()));
        let start = Instant::now();
        let limits = RetryLimits {
            deadline: Some(start + Duration::from_secs(seconds)),
            is_apply: true,
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
        assert_eq!(lines[0], "retrying DescribeLogGroups (1 of at most 7): HTTP status 500: InternalFailure: sorry");
    }

    #[tokio::test(start_paused = true)]
    async fn an_internal_error_without_a_code_is_retried_twice() {
        let page = "<!doctype html><title>500 Internal Server Error</title>";
        let (calls, reported, _) = fail_with(Answer::Xml(500, page.into()), false, HOUR).await;
        assert_eq!((calls, reported.len()), (3, 2));
    }

    /// An address at which every connection fails. Counts the attempts.
    #[derive(Clone, Debug)]
    struct Unreachable(std::io::ErrorKind, Arc<AtomicU32>);

    impl HttpConnector for Unreachable {
        fn call(&self, _: HttpRequest) -> HttpConnectorFuture {
            self.1.fetch_add(1, Ordering::Relaxed);
            let error = NeverConnected::by_io("http://127.0.0.1:4567", self.0.into());
            HttpConnectorFuture::ready(Err(ConnectorError::io(Box::new(error)).never_connected()))
        }
    }

    /// The number of attempts to connect, in a plan or in an apply, and their time.
    async fn attempts(kind: std::io::ErrorKind, is_apply: bool) -> (u32, Duration) {
        let made = Arc::new(AtomicU32::new(0));
        let connector = SharedHttpConnector::new(Unreachable(kind, made.clone()));
        let http = http_client_fn(move |_, _| connector.clone());
        let config = client(&Recorded::default(), 25, false).config().to_builder().http_client(http);
        let logs = aws_sdk_cloudwatchlogs::Client::from_conf(config.build());
        let call = logs.describe_log_groups().send();
        let limits = RetryLimits { deadline: None, is_apply, stop: CancellationToken::new(), report: Arc::new(|_| ()) };
        let start = Instant::now();
        let result = limits.scope(call).await;
        let failure = result.unwrap_err().failure("DescribeLogGroups");
        assert!(failure.advice.is_some(), "{failure:?}");
        (made.load(Ordering::Relaxed), start.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_plan_does_not_wait_for_a_port_that_refuses() {
        let (made, took) = attempts(std::io::ErrorKind::ConnectionRefused, false).await;
        assert!(made == 3 && took <= Duration::from_secs(3), "{made} attempts in {took:?}");
        let (made, took) = attempts(std::io::ErrorKind::ConnectionRefused, true).await;
        assert!(made == 5 && took <= Duration::from_secs(15), "{made} attempts in {took:?}");
        // The network may recover from all other failures.
        assert_eq!(attempts(std::io::ErrorKind::NetworkUnreachable, false).await.0, 8);
    }

    #[tokio::test(start_paused = true)]
    async fn a_throttled_call_has_all_attempts() {
        let throttled = || Answer::Error(400, "ThrottlingException", "Rate exceeded");
        // The SDK's own budget, which all clients of a process share, is exhausted by the fifth call.
        for _ in 0..5 {
            assert_eq!(fail_with(throttled(), false, HOUR).await.0, 25);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn kinds_of_failures_are_counted_separately() {
        let throttled = || Answer::Error(400, "ThrottlingException", "Rate exceeded");
        let internal = || Answer::Error(500, "InternalFailure", "sorry");
        let groups = || Answer::Json(200, serde_json::json!({ "logGroups": [] }));
        let mut answers: Vec<Answer> = std::iter::repeat_with(throttled).take(10).collect();
        answers.extend([internal(), throttled(), internal(), groups()]);
        let aws = answers.into_iter().fold(Recorded::default(), |aws, it| aws.on("DescribeLogGroups", it));
        let logs = client(&aws, 25, false);
        assert!(logs.describe_log_groups().send().await.is_ok());
        assert_eq!(aws.calls().len(), 14);
    }

    #[tokio::test(start_paused = true)]
    async fn a_number_that_the_user_has_set_applies_to_all_failures() {
        assert_eq!(fail_with(Answer::Error(500, "InternalFailure", "sorry"), true, HOUR).await.0, 25);
    }

    #[tokio::test(start_paused = true)]
    async fn retries_end_at_the_deadline() {
        let throttled = Answer::Error(400, "ThrottlingException", "Rate exceeded");
        let (calls, _, took) = fail_with(throttled, false, 10).await;
        // The longest pause after the fifth attempt is 16 s.
        assert!(calls <= 5 && took <= Duration::from_secs(10), "{calls} calls in {took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_retried_after_a_stop() {
        let aws = Recorded::default().on("DescribeLogGroups", Answer::Error(500, "InternalFailure", "sorry"));
        let logs = client(&aws, 3, true);
        let stop = CancellationToken::new();
        stop.cancel();
        let limits = RetryLimits { deadline: None, is_apply: true, stop, report: Arc::new(|_| ()) };
        assert!(limits.scope(logs.describe_log_groups().send()).await.is_err());
        assert_eq!(aws.calls().len(), 1);
    }
}
