//! AWS errors, classified by code and message.
//!
//! EC2 models no errors at all, and API Gateway returns errors that its delete operations do not model, so matching on
//! the SDK's error enums would miss them.

use std::time::Duration;

use aws_smithy_async::future::pagination_stream::PaginationStream;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use aws_types::request_id::RequestId;

use super::codes::missing::missing_id;
use super::codes::{cause, is_throttle};
use crate::aws::config::chain::{NO_REASON, chain, find};
use crate::aws::config::endpoint::Endpoint;
use crate::aws::config::loaded_credentials::NotObtained;
use crate::aws::config::origin::Origin;
use crate::aws::config::redact::redact;
use crate::aws::config::unreachable::{NeverConnected, NoResponse};
use crate::cloud::{Advice, Cause, Failure};

/// Turns an SDK error into a [`Failure`].
pub(crate) trait AwsError {
    /// The failure of this AWS action, such as `CreateNatGateway`.
    fn failure(&self, action: &str) -> Failure;

    /// Whether the outcome of the call is unknown, because the response was lost or reports a server error. AWS may
    /// have carried out such a call.
    fn is_lost(&self) -> bool;
}

/// The answer of a call.
pub(crate) trait OrFailure<T> {
    /// The answer or, for an error, the failure of this AWS action.
    fn or_failure(self, action: &str) -> Result<T, Failure>;
}

impl<T, E: AwsError> OrFailure<T> for Result<T, E> {
    fn or_failure(self, action: &str) -> Result<T, Failure> {
        self.map_err(|error| error.failure(action))
    }
}

/// All items of a paginated list or, for an error, the failure of this AWS action.
pub(crate) async fn list_all<T, E: AwsError>(
    action: &str,
    items: PaginationStream<Result<T, E>>,
) -> Result<Vec<T>, Failure> {
    items.collect::<Result<Vec<T>, E>>().await.or_failure(action)
}

impl<E> AwsError for SdkError<E, HttpResponse>
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
    SdkError<E, HttpResponse>: RequestId,
{
    fn failure(&self, action: &str) -> Failure {
        let of_call = OfCall {
            error: self,
            response: self.raw_response(),
            code: self.code(),
            message: self.message(),
            request_id: self.request_id(),
            is_lost: self.is_lost(),
        };
        of_call.failure(action)
    }

    fn is_lost(&self) -> bool {
        match self {
            SdkError::ConstructionFailure(_) => false,
            SdkError::ServiceError(error) => error.raw().status().is_server_error() && !is_throttle(self.code()),
            _ => true,
        }
    }
}

/// The error of a call without the type of its operation: each of the 140 operations would compile a copy of what
/// depends on the type.
struct OfCall<'a> {
    error: &'a (dyn std::error::Error + 'static),
    response: Option<&'a HttpResponse>,
    code: Option<&'a str>,
    message: Option<&'a str>,
    request_id: Option<&'a str>,
    is_lost: bool,
}

impl OfCall<'_> {
    fn failure(&self, action: &str) -> Failure {
        let rejected = self.response.and_then(rejected_batch);
        let (unreachable, lost_credentials) = (find::<NeverConnected>(self.error), find::<NotObtained>(self.error));
        let code = self.code.or(rejected.is_some().then_some("InvalidChangeBatch")).map(str::to_string);
        let message = match self.message {
            Some(message) => message.to_string(),
            None => rejected
                .or_else(|| unreachable.map(ToString::to_string))
                .or_else(|| lost_credentials.map(|error| chain(error)))
                .or_else(|| find::<NoResponse>(self.error).map(ToString::to_string))
                .or_else(|| not_from_aws(self.response?))
                .or_else(|| code.is_some().then(|| NO_REASON.to_string()))
                .unwrap_or_else(|| chain(self.error)),
        };
        let cause = match cause(code.as_deref(), &message) {
            Cause::Other if lost_credentials.is_some() => Cause::Credentials,
            Cause::Other if self.is_lost => Cause::Lost,
            cause => cause,
        };
        let message = redact(&message);
        let message = match (cause, missing_permission(&message)) {
            (Cause::Denied, Some(permission)) => format!("the permission {permission} is missing: {message}"),
            _ => message,
        };
        let missing = missing_id(cause, &message);
        let advice = match (unreachable, lost_credentials, &code) {
            (Some(unreachable), _, _) => Some(unreachable.advice().to_string()),
            (None, Some(lost), _) => lost.origin.as_ref().map(Origin::renewal),
            (None, None, Some(code)) if cause == Cause::Credentials => {
                self.response.and_then(|it| Some(it.extension::<Origin>()?.advice(code)))
            }
            _ => None,
        };
        Failure {
            cause,
            action: action.to_string(),
            code,
            message,
            missing,
            request_id: self.request_id.map(str::to_string),
            advice: advice.map(Advice::of),
            case: None,
            retry_after: self.response.and_then(retry_after),
            undeployed_since: None,
        }
    }
}

/// A failure that AWS reports inside a successful response, as `DeleteVpcEndpoints` does for each endpoint.
pub(crate) fn item_failure(action: &str, code: Option<&str>, message: Option<&str>) -> Failure {
    let message = redact(message.unwrap_or(NO_REASON));
    let cause = cause(code, &message);
    Failure {
        cause,
        action: action.to_string(),
        code: code.map(str::to_string),
        missing: missing_id(cause, &message),
        message,
        request_id: None,
        advice: None,
        case: None,
        retry_after: None,
        undeployed_since: None,
    }
}

/// The failure of a call whose successful response lacks a value that the next step requires.
pub(crate) fn incomplete_answer(action: &str, what: &str) -> Failure {
    Failure::new(Cause::Other, action, format!("AWS returned a response without {what}"))
}

/// The pause that a `Retry-After` header requests. Its form with a date, which no AWS service sends, is not supported.
fn retry_after(response: &HttpResponse) -> Option<Duration> {
    response.headers().get("retry-after")?.trim().parse().ok().map(Duration::from_secs)
}

/// The description of a response that no AWS service has sent, such as the page of an emulator for a call that it does
/// not support. `None` if it may be from AWS: it contains an error of AWS, or comes from a host of AWS, whose load
/// balancers may return pages, too.
pub(crate) fn not_from_aws(response: &HttpResponse) -> Option<String> {
    let body = response.body().bytes().unwrap_or_default();
    let is_xml_error = ["<Code>", "<InvalidChangeBatch"].iter().any(|tag| contains(body, tag));
    let is_json = body.trim_ascii_start().starts_with(b"{");
    let has_error = is_xml_error || is_json || response.headers().get("x-amzn-errortype").is_some();
    let status = response.status().as_u16();
    let endpoint = response.extension::<Endpoint>();
    if !matches!(status, 404 | 405 | 500 | 501)
        || body.is_empty()
        || has_error
        || endpoint.is_some_and(Endpoint::is_aws)
    {
        return None;
    }
    let kind = response.headers().get("content-type").and_then(|kind| kind.split(';').next()).unwrap_or("unknown");
    let endpoint = endpoint.map(|Endpoint(url)| format!(" The endpoint is {url}.")).unwrap_or_default();
    Some(format!(
        "HTTP status {status} with a response of type {kind} instead of an AWS error.{endpoint} Emulators of AWS return \
         such responses to calls that they do not support"
    ))
}

fn contains(body: &[u8], text: &str) -> bool {
    body.windows(text.len()).any(|part| part == text.as_bytes())
}

/// The messages of a change that Route 53 rejects with `<InvalidChangeBatch>` instead of `<ErrorResponse>`. The SDK
/// finds neither code nor message in such a response. Since 2024 Route 53 returns the other form, see
/// aws/aws-sdk-kotlin#1435.
fn rejected_batch(response: &HttpResponse) -> Option<String> {
    let body = std::str::from_utf8(response.body().bytes()?).ok()?;
    let (_, inside) = body.split_once("<InvalidChangeBatch")?;
    let messages = inside.split("<Message>").skip(1).filter_map(|rest| Some(rest.split_once("</Message>")?.0));
    let text = messages.collect::<Vec<_>>().join("; ");
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'");
    Some(text.replace("&#39;", "'").replace("&amp;", "&"))
}

/// The action that the message denies to the caller, such as `ec2:CreateVpc`. Recorded: GetAccount of API Gateway,
/// DescribeKey.
fn missing_permission(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("not authorized to perform: ")?;
    let permission = rest.split_whitespace().next()?.trim_end_matches(['.', ',']);
    permission.contains(':').then_some(permission)
}

#[cfg(test)]
mod tests {
    use aws_smithy_types::body::SdkBody;

    use super::*;

    #[test]
    fn a_web_page_instead_of_an_error_is_described_with_its_endpoint() {
        let response_of = |url: &str, status: u16, body: &'static str| {
            let status = status.try_into().expect("a status is valid");
            let mut response = HttpResponse::new(status, SdkBody::from(body));
            response.headers_mut().insert("content-type", "text/html; charset=utf-8");
            response.add_extension(Endpoint(url.into()));
            not_from_aws(&response)
        };
        let response = |status, body| response_of("http://127.0.0.1:5000", status, body);
        assert_eq!(
            response(500, "<!doctype html><title>500 Internal Server Error</title>").unwrap(),
            "HTTP status 500 with a response of type text/html instead of an AWS error. The endpoint is \
             http://127.0.0.1:5000. Emulators of AWS return such responses to calls that they do not support"
        );
        let of_aws = "<Response><Errors><Error><Code>InternalError</Code></Error></Errors></Response>";
        for (status, body) in [(500, of_aws), (200, "<html>"), (503, "<html>"), (500, "")] {
            assert_eq!(response(status, body), None, "{status} {body}");
        }
        assert_eq!(response_of("https://apigateway.eu-west-1.amazonaws.com", 500, "<html>"), None);
    }

    #[test]
    fn a_missing_permission_is_named() {
        let message = "You are not authorized to perform this operation. User: arn:aws:iam::1:user/a is not \
                       authorized to perform: ec2:CreateVpc on resource: * because no identity-based policy allows it";
        assert_eq!(missing_permission(message), Some("ec2:CreateVpc"));
        assert_eq!(missing_permission("You are not authorized to perform this operation."), None);
    }
}
