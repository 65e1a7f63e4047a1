//! What a user writes in an `fgw_http_gateway` block. The doc comments here are the documentation that users read.

use std::collections::BTreeMap;

use crate::model::{OperationTimeouts, Tags};
use crate::plugin::{Check, Input, Number, PlanEffect, Value};

/// The payload formats in which API Gateway calls a function.
const PAYLOAD_FORMATS: &[&str] = &["1.0", "2.0"];

/// AWS's Common Log Format for HTTP APIs.
pub(super) const CLF: &str = "$context.identity.sourceIp - - [$context.requestTime] \"$context.httpMethod $context.routeKey \
                   $context.protocol\" $context.status $context.responseLength $context.requestId";

/// AWS's JSON format for HTTP APIs.
pub(super) const JSON: &str = "{ \"requestId\":\"$context.requestId\", \"ip\": \"$context.identity.sourceIp\", \
                    \"requestTime\":\"$context.requestTime\", \"httpMethod\":\"$context.httpMethod\",\
                    \"routeKey\":\"$context.routeKey\", \"status\":\"$context.status\",\
                    \"protocol\":\"$context.protocol\", \"responseLength\":\"$context.responseLength\" }";

/// The days that CloudWatch Logs can keep events for.
const RETENTIONS: [i64; 22] =
    [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653];

/// What a change does that makes another integration.
const OTHER_INTEGRATION: &str =
    "makes another integration and points the route to it; the old one goes when no route uses it";

/// What a change does that makes another authorizer.
const OTHER_AUTHORIZER: &str = "makes another authorizer and points the routes to it, and then deletes the old one";

crate::attributes! {
    /// The configuration of one gateway.
    pub struct GatewayConfig {
        /// Name of the gateway: 1 to 128 letters, digits, spaces, and `_ . : / = + - @`.
        name: Input<String> = required().in_place(),
        /// Routes by route key. A key is `<METHOD> <path>`, such as `GET /orders/{id}`, or `$default` for all requests
        /// that no other route takes. The methods are GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS and ANY. A path
        /// starts with `/` and may hold variables (`{id}`); its last part may be a greedy one (`{proxy+}`). At most 300
        /// routes.
        route_config: Input<BTreeMap<String, Input<RouteConfig>>> = required().change(PlanEffect::PartialReplace(
            "makes what is new, points the routes of changed entries to it, and then deletes what is left over; \
             requests are served all the time. Only where nothing but the name of a path variable changes, API \
             Gateway cannot hold both routes, so the old one goes first and its requests fail for a moment"
        )),
        /// Description of the API, at most 1024 characters.
        description: Input<Option<String>> = optional().in_place(),
        /// Version identifier of the API, at most 64 characters. It has no effect on requests.
        api_version: Input<Option<String>> = optional().in_place(),
        /// Tags of the API, at most 48. They win over `default_tags`.
        api_tags: Tags = default(Value::Map(BTreeMap::new())).in_place(),
        /// Tags of the stage, at most 48. They win over `default_tags`.
        stage_tags: Tags = default(Value::Map(BTreeMap::new())).in_place(),
        /// Cross-origin resource sharing: API Gateway then answers preflight requests itself and adds the headers to
        /// every response. Null turns it off.
        cors_configuration: Input<Option<CorsConfig>> = optional().in_place(),
        /// Request authorizers by name, at most 10. A route uses one by its `authorizer_name`.
        faas_authorizers: Input<BTreeMap<String, Input<FaasAuthorizer>>>
            = default(Value::Map(BTreeMap::new())).change(PlanEffect::PartialReplace(
                "makes new authorizers, points the routes to them, and then deletes those that are left over"
            )),
        /// Log group that is made for access logs. Null turns access logs off.
        access_log_logservice_group_name: Input<Option<String>> = optional().change(PlanEffect::PartialReplace(
            "makes a new group and deletes the old one with its events"
        )),
        /// Days for which log events are kept. Null keeps them for ever. Only with `access_log_logservice_group_name`.
        access_log_logservice_group_retention_in_days: Input<Option<i64>>
            = optional().check(retention()).in_place(),
        /// Tags of the log group, at most 48. Only with `access_log_logservice_group_name`.
        access_log_logservice_group_tags: Input<Option<BTreeMap<String, Input<String>>>> = optional().in_place(),
        /// Format of the access logs: `CLF` and `JSON` are AWS's formats for HTTP APIs, `CUSTOM` is what
        /// `custom_access_log_format` says. Only with `access_log_logservice_group_name`.
        access_log_format_type: Input<String>
            = default("JSON").check(Check::one_of(&["CLF", "JSON", "CUSTOM"])).in_place(),
        /// Log format of `$context` variables: one line of at most 3072 bytes that contains `$context.requestId` or
        /// `$context.extendedRequestId`. Needed with, and only with, `access_log_format_type = "CUSTOM"`.
        custom_access_log_format: Input<Option<String>> = optional().in_place(),
        /// Customer-managed KMS key that encrypts log events: its id, its ARN, an alias (`alias/<name>`) or the ARN of
        /// an alias. Its key policy must let `logs.<region>.amazonaws.com` use it. Null is CloudWatch Logs' own
        /// encryption. Only with `access_log_logservice_group_name`. It holds for events from then on; the key of older
        /// events must stay, or they cannot be read any more.
        access_log_logservice_group_kms_key_id: Input<Option<String>> = optional().in_place(),
        /// ARN of the Lambda function, Kinesis stream or Firehose delivery stream that receives matching log events. It
        /// stands in the gateway's Region. A function of the provider's account gets the permission that CloudWatch
        /// Logs needs; a stream needs `access_log_logservice_group_subscription_role_arn`. Null forwards nothing. Only
        /// with `access_log_logservice_group_name`.
        access_log_logservice_group_subscription_destination_arn: Input<Option<String>>
            = optional().change(PlanEffect::PartialReplace(
                "makes, repoints or deletes the subscription filter, with the permission of a function"
            )),
        /// How log events are spread over the shards of a Kinesis stream: `ByLogStream` keeps the events of a log
        /// stream together, `Random` spreads them evenly. Null is `ByLogStream`. Only with a Kinesis stream as
        /// destination.
        access_log_logservice_group_subscription_distribution: Input<Option<String>> =
            optional().check(Check::one_of(&["Random", "ByLogStream"])).in_place(),
        /// Filter pattern of the log events that are forwarded, at most 1024 characters; the empty one is all. Only
        /// with a destination.
        access_log_logservice_group_subscription_filter_pattern: Input<String> = default("").in_place(),
        /// ARN of the role by which CloudWatch Logs writes to a stream. Needed with, and only with, a Kinesis stream or
        /// Firehose delivery stream as destination.
        access_log_logservice_group_subscription_role_arn: Input<Option<String>> = optional().in_place(),
        /// Custom domain of the gateway, regional and with TLS 1.2: at most 253 lower case letters, digits, hyphens and
        /// dots, without a dot at the end; `*` may stand for the first label. The API's own endpoint keeps working.
        /// Null is no custom domain. API Gateway allows one change of a domain in 30 seconds.
        domain_name: Input<Option<String>> = optional().change(PlanEffect::PartialReplace(
            "makes the new domain with its mapping and record, and then deletes the old one"
        )),
        /// Domain by which the certificate is looked up in ACM, such as `*.example.com`. Null is `domain_name`. The
        /// certificate is the latest of the provider's Region that is issued, has not expired, and has the domain as
        /// its name, as an alternative name, or under a wildcard. Once chosen it stays as long as that holds, whatever
        /// newer ones there are. Only with `domain_name`.
        certificate_domain: Input<Option<String>> = optional_computed().in_place(),
        /// Whether to write a DNS record for `domain_name`: an alias record of type A in `hosted_zone_id`, which leads
        /// to the custom domain. A record of that name that is there already is never overwritten.
        create_dns_entry: Input<bool> = default(false).change(PlanEffect::PartialReplace("makes or deletes the record")),
        /// Id of the Route 53 hosted zone of the DNS record, such as `Z0123456789ABCDEFGHIJ`. Needed with
        /// `create_dns_entry`, and of no effect without it.
        hosted_zone_id: Input<Option<String>> = optional().change(PlanEffect::PartialReplace(
            "writes the record into the new zone and deletes it from the old one"
        )),
        /// Patterns of keys in `aws_objects`, such as `route.*`, where `*` stands for any text: the drift of these
        /// objects is neither reported nor mended, as long as the configuration wants nothing else of them.
        ignore_drift: Input<Option<Vec<Input<String>>>> = optional().changes_nothing(),
        /// How long operations may take.
        timeouts: Input<Option<OperationTimeouts>> = optional().block().changes_nothing(),
    }
}

crate::attributes! {
    /// What answers one route.
    pub struct RouteConfig {
        /// ARN of the function, with an alias or version if wanted. The function may stand in another Region or
        /// account. One that is deleted and made anew under its name comes back without the permission to call it;
        /// where that happens in the run itself, the next apply puts it back.
        faas_function_arn: Input<String> = required().change(PlanEffect::PartialReplace(OTHER_INTEGRATION)),
        /// Description of the integration, at most 1024 characters. Routes of equal function, payload version, timeout
        /// and description share one integration.
        description: Input<Option<String>> = optional().change(PlanEffect::PartialReplace(OTHER_INTEGRATION)),
        /// Format in which the function is called, of the event and of the answer.
        payload_format_version: Input<String>
            = default("1.0").check(Check::one_of(PAYLOAD_FORMATS)).change(PlanEffect::PartialReplace(OTHER_INTEGRATION)),
        /// Milliseconds after which API Gateway gives up on the function.
        timeout_milliseconds: Input<i64>
            = default(30_000).check(Check::between(50, 30_000)).change(PlanEffect::PartialReplace(OTHER_INTEGRATION)),
        /// The authorizer that checks requests first: a key of `faas_authorizers`. Null is none.
        authorizer_name: Input<Option<String>> = optional().in_place(),
    }
}

crate::attributes! {
    /// A function that decides which requests pass.
    pub struct FaasAuthorizer {
        /// Name of the authorizer function (`name` or `name:alias`, in the provider's account and Region), or its ARN.
        authorizer_name: Input<String> = required().change(PlanEffect::PartialReplace(OTHER_AUTHORIZER)),
        /// Invoke URI of the function, `arn:<partition>:apigateway:<region>:lambda:path/2015-03-31/functions/<function
        /// ARN>/invocations`. Null is the invoke URI of function `authorizer_name`.
        authorizer_uri: Input<Option<String>> = optional().change(PlanEffect::PartialReplace(OTHER_AUTHORIZER)),
        /// Format in which the function is called, of the event and of the answer.
        authorizer_payload_format_version: Input<String>
            = default("1.0").check(Check::one_of(PAYLOAD_FORMATS)).change(PlanEffect::PartialReplace(OTHER_AUTHORIZER)),
        /// What in a request identifies the caller: `$request.header.<name>`, `$request.querystring.<name>`,
        /// `$context.<name>` or `$stageVariables.<name>`. Requests that lack one are refused without a call.
        identity_sources: Input<Option<Vec<Input<String>>>> = optional().change(PlanEffect::PartialReplace(OTHER_AUTHORIZER)),
        /// Seconds for which an answer is kept per identity; 0 is not at all. Null is 300 with identity sources and 0
        /// without.
        result_ttl_in_seconds: Input<Option<i64>> = optional().check(Check::between(0, 3600)).in_place(),
        /// Whether the function answers with a boolean instead of an IAM policy. Only with payload version 2.0.
        enable_simple_responses: Input<bool> = default(false).change(PlanEffect::PartialReplace(OTHER_AUTHORIZER)),
        /// Role that API Gateway takes to call the function. Null puts a permission into the function's policy instead.
        authorizer_credentials_arn: Input<Option<String>> = optional().change(PlanEffect::PartialReplace(OTHER_AUTHORIZER)),
    }
}

crate::attributes! {
    /// Cross-origin resource sharing. At least one attribute must be set.
    pub struct CorsConfig {
        /// Whether browsers may send credentials. Not with `"*"` in `allow_origins`.
        allow_credentials: Input<Option<bool>> = optional().in_place(),
        /// Request headers that are allowed; `"*"` is all.
        allow_headers: Input<Option<Vec<Input<String>>>> = optional().in_place(),
        /// Methods that are allowed: GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS, or `"*"` for all.
        allow_methods: Input<Option<Vec<Input<String>>>> = optional().in_place(),
        /// Origins that are allowed, such as `https://example.com`; `"https://*"` is all of that scheme, `"*"` is all.
        allow_origins: Input<Option<Vec<Input<String>>>> = optional().in_place(),
        /// Response headers that scripts may read; `"*"` is all.
        expose_headers: Input<Option<Vec<Input<String>>>> = optional().in_place(),
        /// Seconds for which a browser keeps a preflight answer; -1 is not at all.
        max_age: Input<Option<i64>> = optional().check(Check::between(-1, 86_400)).in_place(),
    }
}

impl GatewayConfig {
    /// The line that API Gateway writes for each request. Unknown where an input that decides it is.
    pub(super) fn access_log_format(&self) -> Input<String> {
        match self.access_log_format_type.known().map(String::as_str) {
            None => Input::Unknown,
            Some("CLF") => Input::Known(CLF.to_string()),
            Some("CUSTOM") => match &self.custom_access_log_format {
                Input::Unknown => Input::Unknown,
                Input::Known(format) => Input::Known(format.clone().unwrap_or_default()),
            },
            Some(_) => Input::Known(JSON.to_string()),
        }
    }
}

/// `access_log_format_type` and `custom_access_log_format` that stand for a format.
pub(super) fn access_log_format_in_words(format: &str) -> (&'static str, Option<String>) {
    match format {
        CLF => ("CLF", None),
        JSON => ("JSON", None),
        custom => ("CUSTOM", Some(custom.to_string())),
    }
}

/// The rule for the retention of log events.
fn retention() -> Check {
    let rule = format!("one of {} days", RETENTIONS.map(|it| it.to_string()).join(", "));
    Check::new(rule.clone(), move |value| match value {
        Value::Number(Number::Int(days)) if RETENTIONS.contains(days) => Ok(()),
        Value::Number(_) => Err(format!("{value} is not {rule}.")),
        _ => Ok(()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_format_is_json() {
        assert!(serde_json::from_str::<serde_json::Value>(JSON).is_ok());
    }
}
