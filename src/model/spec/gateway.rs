//! The kinds of objects of an HTTP gateway, in the order of creation.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::{DeleteAfter, NoAction, Restrict};
use crate::model::{Caller, Claim, Key, Need, Ref, RouteKey, Tags, is_same_format};
use crate::plugin::Input;

/// An HTTP API, the root of a gateway. Key `api`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Api {
    /// Its name, also stored in the ownership tag.
    pub name: Input<String>,
    /// Description; an empty string in AWS is `None`.
    pub description: Input<Option<String>>,
    /// Version identifier; an empty string in AWS is `None`.
    pub version: Input<Option<String>>,
    /// CORS configuration.
    pub cors: Input<Option<Cors>>,
    /// Tags.
    pub tags: Tags,
}

/// A CORS configuration. Absent lists are empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cors {
    /// Whether browsers may send credentials.
    pub allow_credentials: bool,
    /// Allowed request headers.
    pub allow_headers: Vec<String>,
    /// Allowed methods.
    pub allow_methods: Vec<String>,
    /// Allowed origins.
    pub allow_origins: Vec<String>,
    /// Headers that scripts may read.
    pub expose_headers: Vec<String>,
    /// Time in seconds for which a browser may cache a preflight response.
    pub max_age: Option<i64>,
}

/// A REQUEST authorizer. Key `authorizer.<name>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Authorizer {
    /// Its API.
    pub api: Key,
    /// Its name, the key in `faas_authorizers`.
    pub name: String,
    /// Invoke URI of the function.
    pub authorizer_uri: Input<String>,
    /// `1.0` or `2.0`.
    pub payload_format_version: Input<String>,
    /// The identity sources, such as `$request.header.Authorization`.
    pub identity_sources: Input<Vec<String>>,
    /// Time in seconds for which a result is cached; 0 turns caching off.
    pub result_ttl_in_seconds: Input<i64>,
    /// Whether the function returns a boolean instead of an IAM policy. Requires payload format version 2.0.
    pub enable_simple_responses: Input<bool>,
    /// ARN of a role that API Gateway assumes to call the function, instead of a permission.
    pub credentials_arn: Input<Option<String>>,
}

/// A statement in a function's policy that allows an AWS service to call it. Key `permission.<function>.<hash>`,
/// `authorizer_permission.<name>` or `subscription_permission`, fixed by function and qualifier, and the last one also
/// by the log group. The ID is the statement ID.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LambdaPermission {
    /// The API for which it is created.
    pub api: Key,
    /// Unqualified ARN of the function.
    pub function_arn: Input<String>,
    /// Alias or version, if the ARN contains one.
    pub qualifier: Input<Option<String>>,
    /// The service and object that may call.
    pub caller: Caller,
}

/// A Lambda proxy integration. Key `integration.<name>`, where the name is the key of its first route when it was
/// created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Integration {
    /// Its API.
    pub api: Key,
    /// The function's ARN as configured.
    pub function_arn: Input<String>,
    /// `1.0` or `2.0`.
    pub payload_format_version: Input<String>,
    /// Time in milliseconds after which API Gateway stops waiting, 50 to 30000.
    pub timeout_in_millis: Input<i64>,
    /// Description; an empty string in AWS is `None`.
    pub description: Input<Option<String>>,
    /// The permission that must exist as long as the integration is used; `None` for a function in another account.
    pub permission: Option<Key>,
}

/// A route of an API. Key `route.<route key>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApiRoute {
    /// Its API.
    pub api: Key,
    /// `<METHOD> <path>` or `$default`.
    pub route_key: String,
    /// The integration; `None` for a route that was found without a target.
    pub integration: Option<Ref>,
    /// The authorizer, if any.
    pub authorizer: Option<Ref>,
}

/// The log group of access logs. Key `log_group`, fixed by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogGroup {
    /// The API, which a log group does not need, but which must exist first (see [`super::Eip::vpc`]).
    pub api: Key,
    /// Name of the group.
    pub name: Input<String>,
    /// Retention period in days; `None` if log events never expire.
    pub retention_in_days: Input<Option<i64>>,
    /// ARN of the KMS key that encrypts its events; `None` for the encryption of CloudWatch Logs itself. CloudWatch
    /// Logs does not accept key IDs and aliases.
    pub kms_key_arn: Input<Option<String>>,
    /// Tags.
    pub tags: Tags,
}

/// The subscription filter of the log group. Key `log_subscription`, fixed by the group's name. Its ID is
/// `<group>|<filter>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogSubscription {
    /// The log group whose events are forwarded.
    pub log_group: Key,
    /// ARN of the function or stream that receives them.
    pub destination_arn: Input<String>,
    /// The filter pattern; the empty pattern matches all events.
    pub filter_pattern: Input<String>,
    /// ARN of the role that CloudWatch Logs assumes to write to a stream.
    pub role_arn: Input<Option<String>>,
    /// `Random` or `ByLogStream` for a Kinesis stream; the value that AWS returns for other destinations is ignored.
    pub distribution: Input<Option<String>>,
    /// The permission to call the function; `None` for a stream and for a function in another account.
    pub permission: Option<Key>,
}

/// The stage `$default`, deployed automatically. Key `stage`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Its API.
    pub api: Key,
    /// Whether AWS deploys each change automatically. A blueprint always requires it, because changes are not served
    /// otherwise.
    pub auto_deploy: bool,
    /// The message of AWS about the last deployment if it failed. AWS then serves the deployment before it. Always
    /// `None` in a blueprint.
    #[serde(default)]
    pub deployment_failure: Option<String>,
    /// The access logs; `None` if they are off.
    pub access_log: Option<AccessLog>,
    /// Tags.
    pub tags: Tags,
}

/// Access logs of a stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccessLog {
    /// The log group; an unmanaged one is referred to by its ARN.
    pub log_group: Ref,
    /// The format, one line with `$context` variables.
    pub format: Input<String>,
}

/// A custom domain, regional and with TLS 1.2. Key `domain`, fixed by its name, which is its ID.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DomainName {
    /// The API, which a domain does not need, but which must exist first (see [`super::Eip::vpc`]).
    pub api: Key,
    /// The name, in lowercase.
    pub domain_name: Input<String>,
    /// ARN of its certificate in ACM.
    pub certificate_arn: Input<String>,
    /// [`DomainName::REGIONAL`], unless it was changed outside Terraform.
    pub endpoint_type: String,
    /// [`DomainName::TLS_1_2`], unless it was changed outside Terraform.
    pub security_policy: String,
    /// Tags.
    pub tags: Tags,
}

impl DomainName {
    /// The only endpoint type that HTTP APIs support.
    pub const REGIONAL: &'static str = "REGIONAL";
    /// The only security policy that domains of HTTP APIs support. It accepts TLS 1.2 and 1.3. API Gateway does not map
    /// HTTP APIs to domains with one of its newer policies, whose names begin with `SecurityPolicy_`.
    pub const TLS_1_2: &'static str = "TLS_1_2";
}

/// The mapping of the root path of a custom domain to a stage. Key `api_mapping`, fixed by the domain's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApiMapping {
    /// Its API.
    pub api: Key,
    /// Its stage; an unmanaged stage is referred to as `<API ID>/<stage>`.
    pub stage: Ref,
    /// The domain that it is part of.
    pub domain: Key,
    /// The path below the domain; empty for the root.
    pub mapping_key: String,
}

/// An alias record of type A in Route 53. Key `dns_record`, fixed by zone and name. Its ID is `<zone>_<name>_A`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DnsRecord {
    /// ID of the hosted zone.
    pub zone_id: Input<String>,
    /// Fully qualified name, in lowercase, without the trailing dot.
    pub name: Input<String>,
    /// The custom domain that it routes to, or the name of an unmanaged target.
    pub target: Ref,
    /// Whether Route 53 evaluates the health of the target; always false in a blueprint.
    pub evaluate_target_health: bool,
}

impl Api {
    /// AWS may return an equivalent CORS configuration in another form.
    pub(super) fn mask_unowned(&mut self, wanted: &Api) {
        if let (Input::Known(found), Input::Known(cors)) = (&self.cors, &wanted.cors)
            && is_equivalent(found, cors)
        {
            self.cors = wanted.cors.clone();
        }
    }
}

impl Authorizer {
    pub(super) fn needs(&self) -> Vec<Need> {
        vec![Need::new(&self.api, Restrict)]
    }

    /// AWS may return identity sources in another order.
    pub(super) fn mask_unowned(&mut self, wanted: &Authorizer) {
        if let (Input::Known(found), Input::Known(sources)) = (&self.identity_sources, &wanted.identity_sources)
            && in_order(found, str::to_string) == in_order(sources, str::to_string)
        {
            self.identity_sources = wanted.identity_sources.clone();
        }
    }
}

impl Stage {
    pub(super) fn take_forms(&mut self, applied: &Stage) {
        if let (Some(AccessLog { format, .. }), Some(AccessLog { format: applied, .. })) =
            (&mut self.access_log, &applied.access_log)
            && let (Input::Known(found), Input::Known(text)) = (&format, applied)
            && is_same_format(found, text)
        {
            format.clone_from(applied);
        }
    }
}

impl LambdaPermission {
    pub(super) fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.api, NoAction)];
        needs.extend(match &self.caller {
            Caller::Routes => None,
            // The statement contains the ID of the authorizer. An update of the authorizer may require the statement.
            Caller::Authorizer(authorizer) => Some(Need::of_id(authorizer, DeleteAfter)),
            Caller::LogGroup(group) => Some(Need::new(group, NoAction)),
        });
        needs
    }

    pub(super) fn claims(&self) -> Vec<Claim> {
        vec![Claim::Statement {
            function_arn: self.function_arn.clone(),
            qualifier: self.qualifier.clone(),
            caller: self.caller.clone(),
        }]
    }
}

impl Integration {
    pub(super) fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.api, Restrict)];
        needs.extend(self.permission.iter().map(|permission| Need::new(permission, Restrict)));
        needs
    }
}

impl ApiRoute {
    /// Whether both match the same requests, and only names of path variables differ.
    pub(super) fn can_be_renamed_to(&self, wanted: &ApiRoute) -> bool {
        match (RouteKey::parse(&self.route_key), RouteKey::parse(&wanted.route_key)) {
            (Ok(key), Ok(wanted_key)) => self.route_key != wanted.route_key && key.shape() == wanted_key.shape(),
            _ => false,
        }
    }

    pub(super) fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.api, Restrict)];
        needs.extend(self.integration.iter().flat_map(|target| Need::of(target, Restrict)));
        needs.extend(self.authorizer.iter().flat_map(|target| Need::of(target, Restrict)));
        needs
    }

    pub(super) fn claims(&self) -> Vec<Claim> {
        let variables = RouteKey::parse(&self.route_key).map(|key| key.variables()).unwrap_or_default();
        let variable = |(place, name): (String, &str)| Claim::PathVariable { place, name: name.to_string() };
        let mut claims = vec![Claim::ApiRoute { route_key: self.route_key.clone() }];
        claims.extend(variables.into_iter().map(variable));
        claims
    }
}

impl LogGroup {
    pub(super) fn needs(&self) -> Vec<Need> {
        vec![Need::new(&self.api, NoAction)]
    }
}

impl LogSubscription {
    pub(super) fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.log_group, Restrict)];
        needs.extend(self.permission.iter().map(|permission| Need::new(permission, Restrict)));
        needs
    }

    /// AWS returns the default distribution only for some destinations.
    pub(super) fn mask_unowned(&mut self, wanted: &LogSubscription) {
        let is_default = |it: &Input<Option<String>>| it.known().is_some_and(|it| it.as_deref() != Some("Random"));
        if is_default(&self.distribution) && is_default(&wanted.distribution) {
            self.distribution = wanted.distribution.clone();
        }
    }
}

impl Stage {
    pub(super) fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.api, Restrict)];
        needs.extend(self.access_log.iter().flat_map(|log| Need::of(&log.log_group, Restrict)));
        needs
    }
}

impl DomainName {
    /// AWS rejects the deletion of an API to which a path of a domain is mapped, and there may be unmanaged mappings.
    pub(super) fn needs(&self) -> Vec<Need> {
        vec![Need::new(&self.api, Restrict)]
    }
}

impl ApiMapping {
    pub(super) fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.api, Restrict), Need::new(&self.domain, Restrict)];
        needs.extend(Need::of(&self.stage, Restrict));
        needs
    }
}

impl DnsRecord {
    pub(super) fn needs(&self) -> Vec<Need> {
        Need::of(&self.target, Restrict).into_iter().collect()
    }
}

/// Whether two CORS configurations are equal except for the order of lists and the case of headers and origins, which
/// AWS may change, and for an empty configuration and a cache time of 0, which AWS does not return.
fn is_equivalent(one: &Option<Cors>, other: &Option<Cors>) -> bool {
    let plain = |cors: &Option<Cors>| {
        let cors = cors.clone().unwrap_or_default();
        Cors {
            allow_credentials: cors.allow_credentials,
            allow_headers: in_order(&cors.allow_headers, str::to_lowercase),
            allow_methods: in_order(&cors.allow_methods, str::to_string),
            allow_origins: in_order(&cors.allow_origins, str::to_lowercase),
            expose_headers: in_order(&cors.expose_headers, str::to_lowercase),
            max_age: cors.max_age.filter(|seconds| *seconds != 0),
        }
    };
    plain(one) == plain(other)
}

fn in_order(items: &[String], text: fn(&str) -> String) -> Vec<String> {
    let mut items: Vec<String> = items.iter().map(|item| text(item)).collect();
    items.sort();
    items.dedup();
    items
}
