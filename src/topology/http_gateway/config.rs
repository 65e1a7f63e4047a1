//! The attributes of `fgw_http_gateway`. The doc comments in `attributes!` are the schema descriptions that users read.

use std::collections::{BTreeMap, BTreeSet};

use super::integrations::{IntegrationConfig, PAYLOAD_FORMATS};
use super::jwt_authorizers::JwtConfig;
use super::vpc_links::LinkConfig;
use crate::model::{
    Api, Destination, KmsKey, LogGroup, MutualTls, OperationTimeouts, RouteSettings, Stage, Tags, role,
};
use crate::plugin::{Check, Input, PlanEffect, Value};
use crate::topology::NOT_YET_RUN;

/// The types of authorization.
const AUTHORIZATION_TYPES: &[&str] = &["NONE", "AWS_IAM", "JWT", "CUSTOM"];

/// AWS's Common Log Format for HTTP APIs.
pub(super) const CLF: &str = "$context.identity.sourceIp - - [$context.requestTime] \"$context.httpMethod $context.routeKey \
                   $context.protocol\" $context.status $context.responseLength $context.requestId";

/// AWS's JSON format for HTTP APIs.
pub(super) const JSON: &str = "{ \"requestId\":\"$context.requestId\", \"ip\": \"$context.identity.sourceIp\", \
                    \"requestTime\":\"$context.requestTime\", \"httpMethod\":\"$context.httpMethod\",\
                    \"routeKey\":\"$context.routeKey\", \"status\":\"$context.status\",\
                    \"protocol\":\"$context.protocol\", \"responseLength\":\"$context.responseLength\" }";

/// The effect of a change of the function of an authorizer.
const OTHER_FUNCTION: &str = "updates the authorizer in place, after the permission that it needs is added. A permission \
                              that it no longer needs is removed";

crate::attributes! {
    /// The configuration of one gateway.
    pub struct GatewayConfig {
        /// Name of the gateway: 1 to 128 letters, digits, spaces, and the characters `_ . : / = + - @`.
        name: Input<String> = required().check(Check::length(1, 128)).in_place(),
        /// Routes by route key. A key is `<METHOD> <path>`, such as `GET /orders/{id}`, or `$default` for all requests
        /// that match no other route. The methods are GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS, and ANY, which
        /// matches every method without a route of its own. A path starts with `/` and does not end with one. Its parts
        /// consist of letters, digits, and `. _ - :`, or are variables (`{id}`). The last part may be a greedy variable
        /// (`{proxy+}`), which matches the rest of the path; there is no wildcard `*`. AWS allows 300
        /// routes per API by default. The routes can have at most 300 different integrations.
        route_config: Input<BTreeMap<String, Input<RouteConfig>>> = required().change(PlanEffect::PartialReplace(
            "updates objects in place or creates new ones, points the routes of changed entries to them, and then \
             deletes unused objects. Requests are served throughout, and at no time with a weaker authorization than \
             before and afterwards. API Gateway does not accept two names of one path variable: while routes with \
             another name replace those with the old one, automatic deployment of the stage is off, so that it serves \
             the old ones. Other stages of the API do not wait"
        )),
        /// Description of the API.
        description: Input<Option<String>> = optional().check(Check::length(0, 1024)).in_place(),
        /// Version identifier of the API. It has no effect on requests.
        api_version: Input<Option<String>> = optional().check(Check::length(0, 64)).in_place(),
        /// Tags of the API. They override `default_tags`. At most 47 tags, including `default_tags`: AWS allows 50, and
        /// the provider sets 3.
        api_tags: Tags = default(Value::Map(BTreeMap::new())).in_place(),
        /// Name of the stage: `$default`, which API Gateway serves at `api_endpoint`, or 1 to 128 letters, digits, `_`
        /// and `-`, which it serves at `<api_endpoint>/<stage_name>`. The custom domain serves the stage at its root
        /// path, whatever its name is. A private integration of a named stage receives `/<stage_name>` before the path,
        /// unless its `request_parameters` set `overwrite:path`. Clients of the API's own endpoint, and IAM policies
        /// for routes with `AWS_IAM`, need the new name.
        stage_name: Input<String> = default(Stage::DEFAULT).check(Stage::name_check()).change(PlanEffect::PartialReplace(
            "creates the new stage, moves the custom domain to it when it serves the API, and then deletes the old one, \
             whose URL no longer works"
        )),
        /// Description of the stage. By default, it is not managed: API Gateway has no call that removes a description,
        /// so one that you remove here stays.
        stage_description: Input<Option<String>> = optional().check(Check::length(1, 1024)).in_place(),
        /// Stage variables by name, for `${stageVariables.<name>}` in integrations and `$stageVariables.<name>` in
        /// parameters and identity sources. Names have at most 64 letters, digits and `_`; values have 1 to 512 of the
        /// characters `A-Z a-z 0-9 - . _ ~ : / ? # & = ,`. At most 100 variables. They take effect without a
        /// deployment. Variables that are not listed are deleted.
        stage_variables: Tags = default(Value::Map(BTreeMap::new())).in_place(),
        /// Tags of the stage. They override `default_tags`. At most 47 tags, including `default_tags`: AWS allows 50,
        /// and the provider sets 3.
        stage_tags: Tags = default(Value::Map(BTreeMap::new())).in_place(),
        /// Cross-origin resource sharing (CORS). If set, API Gateway answers preflight requests itself and adds the
        /// CORS headers to every response. At least one attribute must be set. By default, CORS is off.
        cors_configuration: Input<Option<CorsConfig>> = optional().in_place(),
        /// Request authorizers (Lambda functions) by name. A route selects one with its `authorizer_name`. AWS allows
        /// 10 authorizers per API by default, including those in `jwt_authorizers`. Under another name, the authorizer
        /// with the same function stays, with its name in AWS.
        faas_authorizers: Input<BTreeMap<String, Input<FaasAuthorizer>>>
            = default(Value::Map(BTreeMap::new())).change(PlanEffect::PartialReplace(
                "creates new authorizers, updates changed ones in place, points the routes to them, and then deletes \
                 unused ones"
            )),
        /// JWT authorizers by name, which accept requests with a token of an issuer. A route selects one with its
        /// `authorizer_name`. No authorizer of `faas_authorizers` has the same name. A name that moves from one map to
        /// the other gets a new authorizer, whose name in AWS ends with a number, and the routes change to it before
        /// the old one is deleted. Under another name in this map, the authorizer with the same issuer and audience
        /// stays, with its name in AWS.
        jwt_authorizers: Input<BTreeMap<String, Input<JwtConfig>>>
            = default(Value::Map(BTreeMap::new())).change(PlanEffect::PartialReplace(
                "creates new authorizers, updates changed ones in place, points the routes to them, and then deletes \
                 unused ones"
            )),
        /// Authorizer of the routes that set neither `authorizer_name` nor an `authorization_type` without an
        /// authorizer, also of routes that are added later: a key of `faas_authorizers` or `jwt_authorizers`. By
        /// default, these routes are public.
        default_authorizer_name: Input<Option<String>> = optional().in_place(),
        /// Scopes of the routes with the default authorizer that do not set `authorization_scopes`. By default, they
        /// need no scope.
        default_authorization_scopes: Input<Option<BTreeSet<Input<String>>>>
            = optional().only_if_set("default_authorizer_name").in_place(),
        /// VPC links by name, through which API Gateway reaches private endpoints. A route selects one with its
        /// `vpc_link`. AWS allows 10 links per account and Region by default. A destroy waits until the network
        /// interfaces of the links are deleted, so that their subnets and security groups can be deleted after it.
        /// Under another name, the link with the same subnets and security groups stays.
        vpc_links: Input<BTreeMap<String, Input<LinkConfig>>>
            = default(Value::Map(BTreeMap::new())).change(PlanEffect::PartialReplace(
                "creates new links, points the integrations to them, and then deletes unused ones"
            )),
        /// Throttling and metrics of the routes that set none of them. By default, they are not managed: the provider
        /// leaves those of an existing stage as they are, and a new one has the limits of the account. API Gateway has
        /// no call that removes limits from a stage, so a plan that would do so is an error.
        default_route_settings: Input<Option<RouteSettings>> = optional().in_place(),
        /// Whether to disable the API's own endpoint (`api_endpoint`), so that clients reach the API through its custom
        /// domain only. The domain, its mapping and its record are complete before the endpoint is disabled. AWS does
        /// that with a deployment, some seconds after the apply. Without a custom domain, `invoke_url` is null.
        disable_execute_api_endpoint: Input<bool> = default(false).in_place(),
        /// IP addresses of the API's endpoint and, by default, of the custom domain: `ipv4`, or `dualstack` for IPv4
        /// and IPv6. Policies and functions that compare source addresses (`aws:SourceIp`) then see IPv6 addresses.
        ip_address_type: Input<String>
            = default(Api::IPV4).check(Check::one_of(&[Api::IPV4, Api::DUALSTACK])).change(PlanEffect::PartialReplace(
                "updates the API and the custom domain in place, and creates or deletes the record of type AAAA"
            )),
        /// Name of the log group that the provider creates for access logs. By default, access logs are off. Names that
        /// begin with `/aws/vendedlogs/` avoid the size limit of the policy by which AWS allows log delivery.
        access_log_logservice_group_name: Input<Option<String>>
            = optional().check(LogGroup::new_name()).change(PlanEffect::PartialReplace(
                "creates a new log group and deletes the old one, including its log events unless \
                 `access_log_logservice_group_skip_destroy` is `true`"
            )),
        /// Whether the log group stays, with its log events and its retention, when the resource is destroyed or the
        /// name changes. Only its subscription filter and the tags of the provider are deleted. Apply it before the
        /// change that no longer needs the group. If it is `true` and the group exists already, the gateway uses it,
        /// provided that retention and key are equal. It then never changes or deletes it, and does not set its tags,
        /// until `adopt` names it. Has no effect without `access_log_logservice_group_name`.
        access_log_logservice_group_skip_destroy: Input<bool> = default(false).handling(),
        /// ARN of an existing log group that receives the access logs, or of a Firehose delivery stream whose name
        /// begins with `amazon-apigateway-`. It must be in the Region and account of the gateway. The provider does not
        /// change it. If it is the group that the gateway has created, the gateway stops managing it. By default,
        /// access logs are off unless `access_log_logservice_group_name` is set.
        access_log_destination_arn: Input<Option<String>>
            = optional().check(Destination::of_access_logs()).conflicts_with("access_log_logservice_group_name")
            .in_place(),
        /// Number of days for which log events are kept. By default, and with 0, they never expire. Has no effect
        /// without `access_log_logservice_group_name`.
        access_log_logservice_group_retention_in_days: Input<Option<i64>>
            = optional().check(LogGroup::retention()).in_place(),
        /// Tags of the log group. They override `default_tags`. At most 47 tags, including `default_tags`: AWS allows
        /// 50, and the provider sets 3. Has no effect without `access_log_logservice_group_name`.
        access_log_logservice_group_tags: Input<Option<BTreeMap<String, Input<String>>>> = optional().in_place(),
        /// Format of the access logs: `CLF` (Common Log Format) and `JSON` are AWS's formats for HTTP APIs, and
        /// `CUSTOM` is the format in `custom_access_log_format`. Has no effect if access logs are off.
        access_log_format_type: Input<String>
            = default("JSON").check(Check::one_of(&["CLF", "JSON", "CUSTOM"])).in_place(),
        /// Custom log format with `$context` variables: one line of at most 3072 bytes that contains
        /// `$context.requestId` or `$context.extendedRequestId`, and may end with a newline. Required if
        /// `access_log_format_type` is `CUSTOM`. Another form of the same JSON changes nothing. Has no effect with
        /// another format, or if access logs are off.
        custom_access_log_format: Input<Option<String>> = optional().in_place(),
        /// Customer-managed KMS key that encrypts log events: its ID, its ARN, an alias (`alias/<name>`) or the ARN of
        /// an alias. The key policy must allow `logs.<region>.amazonaws.com` to use the key. By default, CloudWatch
        /// Logs uses its own encryption. A change applies only to new events. Older events can be read only as long as
        /// the key that encrypted them exists. Has no effect without `access_log_logservice_group_name`.
        access_log_logservice_group_kms_key_id: Input<Option<String>>
            = optional().check(KmsKey::check()).in_place().remark(NOT_YET_RUN),
        /// ARN of the Lambda function, Kinesis stream or Firehose delivery stream that receives the log events that
        /// match `access_log_logservice_group_subscription_filter_pattern`. It must be in the Region and account of the
        /// gateway. For a function, the provider creates the permission that CloudWatch Logs needs; a stream requires
        /// `access_log_logservice_group_subscription_role_arn`. The name of the subscription filter is
        /// `fgw-access-logs-` and the ID of the API. AWS allows two filters for each log group, so two gateways can
        /// forward the events of one. By default, log events are not forwarded. Has no effect without
        /// `access_log_logservice_group_name`.
        access_log_logservice_group_subscription_destination_arn: Input<Option<String>>
            = optional().change(PlanEffect::PartialReplace(
                "creates, updates or deletes the subscription filter and, for a function, its permission"
            )),
        /// Distribution of log events over the shards of a Kinesis stream: `ByLogStream` keeps the events of a log
        /// stream together, and `Random` spreads them evenly. Defaults to `ByLogStream`. Has no effect if the
        /// destination is not a Kinesis stream.
        access_log_logservice_group_subscription_distribution: Input<Option<String>> =
            optional().check(Check::one_of(&["Random", "ByLogStream"])).in_place(),
        /// Filter pattern of the log events to forward. The empty pattern matches all events. Any other pattern has no
        /// effect without `access_log_logservice_group_subscription_destination_arn`.
        access_log_logservice_group_subscription_filter_pattern: Input<String>
            = default("").check(Check::length(0, 1024)).in_place(),
        /// ARN of the IAM role, of the account of the gateway, that CloudWatch Logs assumes to write to a stream.
        /// Required if the destination is a Kinesis stream or a Firehose delivery stream. Has no effect with another
        /// destination.
        access_log_logservice_group_subscription_role_arn: Input<Option<String>>
            = optional().check(role()).in_place(),
        /// Custom domain name of the gateway: at most 253 lowercase letters, digits, hyphens and dots, without a
        /// trailing dot. The first label may be `*`. The domain has a regional endpoint with TLS 1.2. The API's own
        /// endpoint keeps working. By default, there is no custom domain. API Gateway accepts at most one create, one
        /// update and one delete of a custom domain every 30 seconds; the provider waits accordingly.
        domain_name: Input<Option<String>> = optional().change(PlanEffect::PartialReplace(
            "creates the new domain with its API mapping and DNS record, and then deletes the old one"
        )),
        /// IP addresses of the custom domain, if they differ from those of the API's endpoint: `ipv4` or `dualstack`.
        /// With `dualstack` and `create_dns_entry`, the domain also has a record of type AAAA. A change to `ipv4`
        /// deletes the record, and changes the domain a minute later, when resolvers have forgotten the record.
        /// Defaults to `ip_address_type`.
        domain_ip_address_type: Input<Option<String>>
            = optional().check(Check::one_of(&[Api::IPV4, Api::DUALSTACK])).only_if_set("domain_name")
            .change(PlanEffect::PartialReplace(
                "updates the custom domain in place, and creates or deletes the record of type AAAA"
            )),
        /// Mutual TLS of the custom domain: API Gateway rejects clients that present no certificate of a trusted
        /// issuer. By default, it is not managed: the provider leaves that of an existing domain as it is, and a new
        /// domain has none. `{ truststore_uri = "" }` turns it off. The API's own endpoint asks for no certificate; set
        /// `disable_execute_api_endpoint = true`, so that clients cannot bypass the domain. AWS takes some minutes for
        /// a change, during which the domain serves with the previous setting. AWS reads the object with the
        /// permissions of the provider. A domain whose certificate is imported or issued by a private CA needs another
        /// certificate that verifies its ownership, which no input expresses.
        mutual_tls_authentication: Input<Option<MutualTlsConfig>> = optional().only_if_set("domain_name").in_place(),
        /// ARN of the custom domain's certificate in ACM, in the account and Region of the gateway. It must cover
        /// `domain_name`. To use a certificate that the same run creates, set it to the `certificate_arn` of an
        /// `aws_acm_certificate_validation`. Defaults to the best certificate that the provider finds in ACM (see
        /// `certificate_domain`); the plan shows it here. If you set it, the provider looks up no certificate, and
        /// `certificate_domain` must not be another domain than `domain_name`. API Gateway may take up to an hour to
        /// change the certificate. Null without a custom domain. Has no effect without `domain_name`.
        certificate_arn: Input<Option<String>> = optional_computed().in_place(),
        /// Domain for which the provider looks up a certificate in ACM, such as `*.example.com`. Defaults to
        /// `domain_name`, which the certificate must always cover. Of the certificates in its Region that are issued,
        /// have not expired, and cover the domain by name, alternative name or wildcard, each plan chooses the best
        /// one: certificates issued by Amazon come before imported ones, imported ones before those of a private CA,
        /// and among these, the one whose validity started last, which a renewal changes. If another certificate
        /// becomes the best one, the plan shows it in `certificate_arn`, and the apply changes the domain in place
        /// while it serves requests. After that, you can delete the old certificate. A certificate that was set outside
        /// Terraform has no precedence. To keep a certificate, set `certificate_arn`. If the same run creates the
        /// certificate, set `certificate_arn` instead, or make the gateway depend on the validation. Has no effect
        /// without `domain_name`.
        certificate_domain: Input<Option<String>> = optional_computed().in_place(),
        /// Whether to create a DNS record for `domain_name`: an alias record of type A in `hosted_zone_id` that routes
        /// to the custom domain, and one of type AAAA if the domain is `dualstack`. The provider never
        /// overwrites an existing record with this name: if it routes elsewhere, the apply fails. Requires
        /// `domain_name`.
        create_dns_entry: Input<bool> = default(false).change(PlanEffect::PartialReplace("creates or deletes the record")),
        /// ID of the Route 53 hosted zone for the DNS record, such as `Z0123456789ABCDEFGHIJ`. Required if
        /// `create_dns_entry` is `true`; otherwise, it has no effect.
        hosted_zone_id: Input<Option<String>> = optional().change(PlanEffect::PartialReplace(
            "creates the record in the new zone and deletes it from the old one"
        )),
        /// Whether to create the gateway although this account and Region contain another one that this provider
        /// created with the same `name` and the same keys in `route_config`. By default, the plan and the create stop
        /// then, because a run that was killed before its state was saved may have left that gateway. Set it for
        /// gateways that several resources, workspaces or states create alike, and for a replacement with
        /// `create_before_destroy`.
        allow_duplicate_name: Input<bool> = default(false).handling(),
        /// Objects created outside this provider that the resource takes over: their IDs by the keys that they get in
        /// `aws_objects`, such as `"api" = "a1b2c3d4e5"`. An import proposes them. Routes, integrations, authorizers
        /// and API mappings have no entries: those that the configuration lists are taken over with the API. Later,
        /// the entries `log_group`, `domain` and `vpc_link.<key>` take over objects that the configuration requires.
        /// After the apply, the entries have no effect and can be removed.
        adopt: Input<Option<BTreeMap<String, Input<String>>>> = optional_computed().handling(),
        /// Patterns of keys in `aws_objects`, such as `route.*`, where `*` matches any text. Drift of these objects is
        /// neither reported nor corrected, until the configuration changes the same value; the plan warns. A plan that
        /// chooses another certificate changes the one of `domain`; set `certificate_arn` to prevent this.
        ignore_drift: Input<Option<Vec<Input<String>>>> = optional().handling(),
        /// Patterns of keys in `aws_objects`, such as `["domain", "route.*"]`, where `*` matches any text. A plan that
        /// would delete or replace a matching object is an error, even if it destroys or replaces the whole resource.
        /// By default, nothing is protected, and neither is a resource whose creation has not completed. An update uses
        /// the new value, a destroy the value of the last apply, and a replacement of the resource both. To delete a
        /// protected object, first apply a configuration without the pattern, or set `allow_protected_deletion` in the
        /// provider block. An update may remove a pattern and its objects in the same apply.
        protected_objects: Input<Option<BTreeSet<Input<String>>>> = optional().handling(),
        /// Timeouts for creating, reading, updating and deleting the resource. API Gateway may take up to an hour to
        /// change the certificate of a custom domain, for which the default of `update` has time.
        timeouts: Input<Option<OperationTimeouts>> = optional().block().handling(),
    }
}

crate::attributes! {
    /// One route: who may send requests, what answers them, and how many are accepted.
    pub struct RouteConfig: Encode {
        /// Authorizer that checks each request before API Gateway calls the function: a key of `faas_authorizers` or
        /// `jwt_authorizers`, not the name of a function. Defaults to `default_authorizer_name`.
        authorizer_name: Input<Option<String>> = optional().in_place(),
        /// Type of the authorization: `NONE` for a public route, `AWS_IAM` for callers whose IAM policies allow
        /// `execute-api:Invoke`, `JWT` for a JWT authorizer, or `CUSTOM` for a request authorizer. HTTP APIs have no
        /// resource policies, so callers of other accounts assume a role in this one. Defaults to the type of the
        /// authorizer, and to `NONE` without one. `NONE` and `AWS_IAM` exclude `default_authorizer_name`.
        authorization_type: Input<Option<String>>
            = optional().check(Check::one_of(AUTHORIZATION_TYPES)).in_place(),
        /// Scopes of which a token must contain one, in its claim `scope` or `scp`: at most 10. Requires a JWT
        /// authorizer. Without scopes, the authorizer accepts every valid token, including ID tokens. Defaults to
        /// `default_authorization_scopes` if the route has the default authorizer by default, and to none otherwise.
        authorization_scopes: Input<Option<BTreeSet<Input<String>>>> = optional().in_place(),
        ..integration: IntegrationConfig,
        ..settings: RouteSettings
    }
}

crate::attributes! {
    /// A Lambda function that decides which requests are allowed.
    pub struct FaasAuthorizer: Encode {
        /// Lambda function of the authorizer: its name (`name` or `name:alias`) if it is in the account and Region of
        /// the provider, or its ARN. Routes select the authorizer by its key in the map, not by this name. If
        /// `authorizer_uri` is set, this value is not used to call the function.
        authorizer_name: Input<String> = required().change(PlanEffect::PartialReplace(OTHER_FUNCTION)),
        /// Invoke URI of the function, `arn:<partition>:apigateway:<region>:lambda:path/2015-03-31/functions/<function
        /// ARN>/invocations`. Defaults to the invoke URI of the function in `authorizer_name`.
        authorizer_uri: Input<Option<String>> = optional().change(PlanEffect::PartialReplace(OTHER_FUNCTION)),
        /// Format version of the event that the function receives and of the response that it returns.
        authorizer_payload_format_version: Input<String>
            = default("1.0").check(Check::one_of(PAYLOAD_FORMATS)).in_place(),
        /// Values that identify the caller of a request: `$request.header.<name>`, `$request.querystring.<name>`,
        /// `$context.<name>` or `$stageVariables.<name>`. If a request lacks one of them, API Gateway rejects it
        /// without calling the function.
        identity_sources: Input<Option<Vec<Input<String>>>> = optional().in_place(),
        /// Time in seconds for which API Gateway caches the result for the same values of `identity_sources`; 0 turns
        /// caching off. Defaults to 300 if `identity_sources` is set, and to 0 otherwise. A value above 0 requires
        /// `identity_sources`. If the function changes, results of the earlier one stay cached for this time.
        result_ttl_in_seconds: Input<Option<i64>> = optional().check(Check::between(0, 3600)).in_place(),
        /// Whether the function returns a boolean (`isAuthorized`) instead of an IAM policy. Requires
        /// `authorizer_payload_format_version = "2.0"`.
        enable_simple_responses: Input<bool> = default(false).in_place(),
        /// ARN of the IAM role, of the account of the gateway, that API Gateway assumes to call the function. By
        /// default, the provider adds a permission to the policy of the function instead.
        authorizer_credentials_arn: Input<Option<String>>
            = optional().check(role()).change(PlanEffect::PartialReplace(OTHER_FUNCTION)),
    }
}

crate::attributes! {
    /// Mutual TLS of a custom domain.
    pub struct MutualTlsConfig: Encode {
        /// URI of the trust store, `s3://<bucket>/<key>`: an object in S3 with the certificates of the trusted issuers
        /// in PEM format, at most 2048 characters. Empty to turn mutual TLS off.
        truststore_uri: Input<String> = required().check(truststore_uri()).in_place(),
        /// Version of the object, if its bucket has versioning. Without it, AWS takes the version that is current when
        /// the URI is set, and does not follow later ones; no plan shows that the object has changed. A version cannot
        /// be removed while mutual TLS is on.
        truststore_version: Input<Option<String>> = optional().check(Check::length(1, 64)).in_place(),
    }
}

/// The check of the URI of a trust store (API reference of CreateDomainName).
fn truststore_uri() -> Check {
    Check::text("empty, or s3://BUCKET/KEY of a PEM file", |uri| {
        let place = uri.strip_prefix("s3://").and_then(|place| place.split_once('/'));
        match (uri.chars().count(), place) {
            (0, _) => Ok(()),
            (length, _) if length > 2048 => Err(format!("The URI has {length} characters; at most 2048 are allowed.")),
            (_, Some((bucket, key))) if !bucket.is_empty() && !key.is_empty() => Ok(()),
            _ => Err(format!("{uri:?} is not the URI of an object in S3.")),
        }
    })
}

impl MutualTlsConfig {
    /// The setting of the domain. Unknown if one of the inputs is.
    pub(super) fn setting(&self) -> Input<MutualTls> {
        let MutualTlsConfig { truststore_uri, truststore_version } = self;
        match (truststore_uri.known().cloned(), truststore_version.known().cloned()) {
            (Some(truststore_uri), Some(truststore_version)) => {
                Input::Known(MutualTls { truststore_uri, truststore_version })
            }
            _ => Input::Unknown,
        }
    }

    /// The inputs of a setting.
    pub(crate) fn of(setting: &MutualTls) -> MutualTlsConfig {
        let MutualTls { truststore_uri, truststore_version } = setting.clone();
        MutualTlsConfig { truststore_uri: truststore_uri.into(), truststore_version: truststore_version.into() }
    }
}

crate::attributes! {
    /// Cross-origin resource sharing. At least one attribute must be set.
    pub struct CorsConfig: Encode {
        /// Whether to allow browsers to send credentials. Cannot be combined with `"*"` in `allow_origins`.
        allow_credentials: Input<Option<bool>> = optional().in_place(),
        /// Allowed request headers; `"*"` allows all.
        allow_headers: Input<Option<Vec<Input<String>>>> = optional().in_place(),
        /// Allowed methods: GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS, or `"*"` for all.
        allow_methods: Input<Option<Vec<Input<String>>>> = optional().in_place(),
        /// Allowed origins with the scheme `http` or `https`, such as `https://example.com`. `"https://*"` allows all
        /// origins with that scheme, and `"*"` allows all origins.
        allow_origins: Input<Option<Vec<Input<String>>>> = optional().in_place(),
        /// Response headers that scripts may read; `"*"` allows all.
        expose_headers: Input<Option<Vec<Input<String>>>> = optional().in_place(),
        /// Time in seconds for which a browser may cache a preflight response; -1 turns caching off.
        max_age: Input<Option<i64>> = optional().check(Check::between(-1, 86_400)).in_place(),
    }
}

impl GatewayConfig {
    /// The IP address type of the custom domain.
    pub(super) fn ip_address_type_of_domain(&self) -> Input<String> {
        match &self.domain_ip_address_type {
            Input::Known(None) => self.ip_address_type.clone(),
            own => own.clone().map(Option::unwrap_or_default),
        }
    }

    /// Mutual TLS of the custom domain; `None` if it is not managed.
    pub(super) fn mutual_tls(&self) -> Input<Option<MutualTls>> {
        match &self.mutual_tls_authentication {
            Input::Unknown => Input::Unknown,
            Input::Known(None) => Input::Known(None),
            Input::Known(Some(config)) => config.setting().map(Some),
        }
    }

    /// The access log format in API Gateway's terms. Unknown if an input that determines it is unknown.
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

/// The values of `access_log_format_type` and `custom_access_log_format` that produce a format.
pub(super) fn access_log_format_attributes(format: &str) -> (&'static str, Option<String>) {
    match format {
        CLF => ("CLF", None),
        JSON => ("JSON", None),
        custom => ("CUSTOM", Some(custom.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_format_is_valid_json() {
        assert!(serde_json::from_str::<serde_json::Value>(JSON).is_ok());
    }
}
