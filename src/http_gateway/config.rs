//! What a user writes in an `fgw_http_gateway` block. The doc comments here are the documentation that users read.

use std::collections::BTreeMap;

use super::access_log;
use crate::objects::Tags;
use crate::plugin::{Check, Input, Value};
use crate::product::OperationTimeouts;

/// The payload formats in which API Gateway calls a function.
const PAYLOAD_FORMATS: &[&str] = &["1.0", "2.0"];

crate::attributes! {
    /// The configuration of one gateway.
    pub struct GatewayConfig {
        /// Name of the gateway: 1 to 128 letters, digits, spaces, and `_ . : / = + - @`. A change is made in place.
        name: Input<String> = required(),
        /// Routes by route key. A key is `<METHOD> <path>`, such as `GET /orders/{id}`, or `$default` for all
        /// requests that no other route takes. The methods are GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS and
        /// ANY. A path starts with `/` and may hold variables (`{id}`); its last part may be a greedy one
        /// (`{proxy+}`). At most 300 routes. A changed entry is made in place and requests are served all the
        /// time; a changed key is a new route beside the old one, which then goes. Where only the name of a variable
        /// changes, API Gateway cannot hold both, so the old route goes first and its requests fail for a moment.
        route_config: Input<BTreeMap<String, Input<RouteConfig>>> = required(),
        /// Description of the API, at most 1024 characters. A change is made in place.
        description: Input<Option<String>> = optional(),
        /// Version identifier of the API, at most 64 characters. It has no effect on requests. A change is made in
        /// place.
        api_version: Input<Option<String>> = optional(),
        /// Tags of the API, at most 48. They win over `default_tags`. A change is made in place.
        api_tags: Tags = default(Value::Map(BTreeMap::new())),
        /// Tags of the stage, at most 48. They win over `default_tags`. A change is made in place.
        stage_tags: Tags = default(Value::Map(BTreeMap::new())),
        /// Cross-origin resource sharing: API Gateway then answers preflight requests itself and adds the headers
        /// to every response. Null turns it off. A change is made in place.
        cors_configuration: Input<Option<CorsConfig>> = optional(),
        /// Request authorizers by name, at most 10. A route uses one by its `authorizer_name`.
        faas_authorizers: Input<BTreeMap<String, Input<FaasAuthorizer>>> = default(Value::Map(BTreeMap::new())),
        /// Log group that is made for access logs. Null turns access logs off. A change makes a new group and
        /// deletes the old one with its events.
        access_log_logservice_group_name: Input<Option<String>> = optional(),
        /// Days for which log events are kept. Null keeps them for ever. Only with
        /// `access_log_logservice_group_name`. A change is made in place.
        access_log_logservice_group_retention_in_days: Input<Option<i64>> = optional().check(access_log::retention()),
        /// Tags of the log group, at most 48. Only with `access_log_logservice_group_name`. A change is made in
        /// place.
        access_log_logservice_group_tags: Input<Option<BTreeMap<String, Input<String>>>> = optional(),
        /// Format of the access logs: `CLF` and `JSON` are AWS's formats for HTTP APIs, `CUSTOM` is what
        /// `custom_access_log_format` says. Only with `access_log_logservice_group_name`. A change is made in
        /// place.
        access_log_format_type: Input<String> = default("JSON").check(Check::one_of(&["CLF", "JSON", "CUSTOM"])),
        /// Log format of `$context` variables: one line of at most 3072 bytes that contains `$context.requestId`
        /// or `$context.extendedRequestId`. Needed with, and only with, `access_log_format_type = "CUSTOM"`. A
        /// change is made in place.
        custom_access_log_format: Input<Option<String>> = optional(),
        /// Customer-managed KMS key that encrypts log events: its id, its ARN, an alias (`alias/<name>`) or the ARN of
        /// an alias. Its key policy must let `logs.<region>.amazonaws.com` use it. Null is CloudWatch Logs' own
        /// encryption. Only with `access_log_logservice_group_name`. A change is made in place and holds for events
        /// from then on; the key of older events must stay, or they cannot be read any more.
        access_log_logservice_group_kms_key_id: Input<Option<String>> = optional(),
        /// ARN of the Lambda function, Kinesis stream or Firehose delivery stream that receives matching log events. It
        /// stands in the gateway's Region. A function of the provider's account gets the permission that CloudWatch
        /// Logs needs; a stream needs `access_log_logservice_group_subscription_role_arn`. Null forwards nothing. Only
        /// with `access_log_logservice_group_name`. A change is made in place.
        access_log_logservice_group_subscription_destination_arn: Input<Option<String>> = optional(),
        /// How log events are spread over the shards of a Kinesis stream: `ByLogStream` keeps the events of a log
        /// stream together, `Random` spreads them evenly. Null is `ByLogStream`. Only with a Kinesis stream as
        /// destination. A change is made in place.
        access_log_logservice_group_subscription_distribution: Input<Option<String>> =
            optional().check(Check::one_of(&["Random", "ByLogStream"])),
        /// Filter pattern of the log events that are forwarded, at most 1024 characters; the empty one is all. Only
        /// with a destination. A change is made in place.
        access_log_logservice_group_subscription_filter_pattern: Input<String> = default(""),
        /// ARN of the role by which CloudWatch Logs writes to a stream. Needed with, and only with, a Kinesis stream or
        /// Firehose delivery stream as destination. A change is made in place.
        access_log_logservice_group_subscription_role_arn: Input<Option<String>> = optional(),
        /// Custom domain of the gateway, regional and with TLS 1.2: at most 253 lower case letters, digits, hyphens and
        /// dots, without a dot at the end; `*` may stand for the first label. The API's own endpoint keeps working.
        /// Null is no custom domain. A change makes the new domain first and then deletes the old one. API Gateway
        /// allows one change of a domain in 30 seconds.
        domain_name: Input<Option<String>> = optional(),
        /// Domain by which the certificate is looked up in ACM, such as `*.example.com`. Null is `domain_name`. The
        /// certificate is the latest of the provider's Region that is issued, has not expired, and has the domain as
        /// its name, as an alternative name, or under a wildcard. Once chosen it stays as long as that holds, whatever
        /// newer ones there are. Only with `domain_name`. A change is made in place.
        certificate_domain: Input<Option<String>> = optional_computed(),
        /// Whether to write a DNS record for `domain_name`: an alias record of type A in `hosted_zone_id`, which leads
        /// to the custom domain. A record of that name that is there already is never overwritten. A change makes or
        /// deletes the record.
        create_dns_entry: Input<bool> = default(false),
        /// Id of the Route 53 hosted zone of the DNS record, such as `Z0123456789ABCDEFGHIJ`. Needed with
        /// `create_dns_entry`, and of no effect without it. A change writes the record into the new zone and deletes it
        /// from the old one.
        hosted_zone_id: Input<Option<String>> = optional(),
        /// Patterns of keys in `aws_objects`, where `*` stands for any text: the drift of these objects is neither
        /// reported nor mended, as long as the configuration wants nothing else of them.
        ignore_drift: Input<Option<Vec<Input<String>>>> = optional(),
        /// How long operations may take.
        timeouts: Input<Option<OperationTimeouts>> = optional().block(),
    }
}

crate::attributes! {
    /// What answers one route.
    pub struct RouteConfig {
        /// ARN of the function, with an alias or version if wanted. The function may stand in another Region or
        /// account. One that is deleted and made anew under its name comes back without the permission to call it; where
        /// that happens in the run itself, the next apply puts it back. A change makes a new integration, points the route to it, and deletes the old one.
        faas_function_arn: Input<String> = required(),
        /// Description of the integration, at most 1024 characters. Routes of equal function, payload version,
        /// timeout and description share one integration, so a change makes another one.
        description: Input<Option<String>> = optional(),
        /// Format in which the function is called. A change makes another integration.
        payload_format_version: Input<String> = default("1.0").check(Check::one_of(PAYLOAD_FORMATS)),
        /// Milliseconds after which API Gateway gives up on the function. A change makes another integration.
        timeout_milliseconds: Input<i64> = default(30_000).check(Check::between(50, 30_000)),
        /// The authorizer that checks requests first: a key of `faas_authorizers`. Null is none. A change is made
        /// in place.
        authorizer_name: Input<Option<String>> = optional(),
    }
}

crate::attributes! {
    /// A function that decides which requests pass.
    pub struct FaasAuthorizer {
        /// Name of the authorizer function (`name` or `name:alias`, in the provider's account and Region), or its
        /// ARN. A change makes a new authorizer, points the routes to it, and deletes the old one.
        authorizer_name: Input<String> = required(),
        /// Invoke URI of the function, `arn:<partition>:apigateway:<region>:lambda:path/2015-03-31/functions/<function
        /// ARN>/invocations`. Null is the invoke URI of function `authorizer_name`. A change makes a new authorizer.
        authorizer_uri: Input<Option<String>> = optional(),
        /// Format in which the function is called. A change makes a new authorizer.
        authorizer_payload_format_version: Input<String> = default("1.0").check(Check::one_of(PAYLOAD_FORMATS)),
        /// What in a request identifies the caller: `$request.header.<name>`, `$request.querystring.<name>`,
        /// `$context.<name>` or `$stageVariables.<name>`. Requests that lack one are refused without a call. A change
        /// makes a new authorizer.
        identity_sources: Input<Option<Vec<Input<String>>>> = optional(),
        /// Seconds for which an answer is kept per identity; 0 is not at all. Null is 300 with identity sources and
        /// 0 without. A change is made in place.
        result_ttl_in_seconds: Input<Option<i64>> = optional().check(Check::between(0, 3600)),
        /// Whether the function answers with a boolean instead of an IAM policy. Only with payload version 2.0. A
        /// change makes a new authorizer.
        enable_simple_responses: Input<bool> = default(false),
        /// Role that API Gateway takes to call the function. Null puts a permission into the function's policy
        /// instead. A change makes a new authorizer.
        authorizer_credentials_arn: Input<Option<String>> = optional(),
    }
}

crate::attributes! {
    /// Cross-origin resource sharing. At least one attribute must be set.
    pub struct CorsConfig {
        /// Whether browsers may send credentials. Not with `"*"` in `allow_origins`.
        allow_credentials: Input<Option<bool>> = optional(),
        /// Request headers that are allowed; `"*"` is all.
        allow_headers: Input<Option<Vec<Input<String>>>> = optional(),
        /// Methods that are allowed: GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS, or `"*"` for all.
        allow_methods: Input<Option<Vec<Input<String>>>> = optional(),
        /// Origins that are allowed, such as `https://example.com`; `"https://*"` is all of that scheme, `"*"` is all.
        allow_origins: Input<Option<Vec<Input<String>>>> = optional(),
        /// Response headers that scripts may read; `"*"` is all.
        expose_headers: Input<Option<Vec<Input<String>>>> = optional(),
        /// Seconds for which a browser keeps a preflight answer; -1 is not at all.
        max_age: Input<Option<i64>> = optional().check(Check::between(-1, 86_400)),
    }
}
