//! The kinds of objects of an HTTP gateway, in the order of creation.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::{DeleteAfter, NoAction, Restrict};
use crate::model::{Caller, Claim, Key, Need, Ref, RouteKey, Tags};
use crate::plugin::Input;

/// An HTTP API, the root of a gateway. Key `api`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Api {
    /// Its name, also kept in the ownership tag.
    pub name: Input<String>,
    /// Description; AWS's empty string is `None`.
    pub description: Input<Option<String>>,
    /// Version identifier; AWS's empty string is `None`.
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
    /// Seconds for which a browser keeps a preflight answer.
    pub max_age: Option<i64>,
}

/// A REQUEST authorizer. Key `authorizer.<name>`, fixed by what it calls and how.
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
    /// Where the identity stands in a request, such as `$request.header.Authorization`.
    pub identity_sources: Input<Vec<String>>,
    /// Seconds for which an answer is kept; 0 is not at all.
    pub result_ttl_in_seconds: Input<i64>,
    /// Whether the function answers with a boolean instead of a policy. Payload 2.0 only.
    pub enable_simple_responses: Input<bool>,
    /// A role to call the function with, in place of a permission.
    pub credentials_arn: Input<Option<String>>,
}

/// A statement in a function's policy that lets an AWS service call it. Key `permission.<function>.<hash>`,
/// `authorizer_permission.<name>` or `subscription_permission`, fixed by function, qualifier and caller; the id is the
/// statement id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LambdaPermission {
    /// The API for which it is made.
    pub api: Key,
    /// Unqualified ARN of the function.
    pub function_arn: Input<String>,
    /// Alias or version, where the ARN named one.
    pub qualifier: Input<Option<String>>,
    /// Who may call.
    pub caller: Caller,
}

/// A Lambda proxy integration. Key `integration.<function>.<hash>`; every input is part of the slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Integration {
    /// Its API.
    pub api: Key,
    /// The function's ARN as configured.
    pub function_arn: Input<String>,
    /// `1.0` or `2.0`.
    pub payload_format_version: Input<String>,
    /// Milliseconds after which API Gateway gives up, 50 to 30000.
    pub timeout_in_millis: Input<i64>,
    /// Description; AWS's empty string is `None`.
    pub description: Input<Option<String>>,
    /// The permission that must stand before the integration is used and after; `None` for a function of another
    /// account.
    pub permission: Option<Key>,
}

/// A route of an API. Key `route.<route key>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApiRoute {
    /// Its API.
    pub api: Key,
    /// `<METHOD> <path>` or `$default`.
    pub route_key: String,
    /// What answers; `None` where a route is found without a target.
    pub integration: Option<Ref>,
    /// What protects it.
    pub authorizer: Option<Ref>,
}

/// The log group of access logs. Key `log_group`, fixed by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogGroup {
    /// The API, which a log group does not need, but which must exist first (see [`super::Eip::vpc`]).
    pub api: Key,
    /// Name of the group.
    pub name: Input<String>,
    /// Days; `None` keeps events for ever.
    pub retention_in_days: Input<Option<i64>>,
    /// ARN of the key that encrypts its events; `None` for AWS's own. CloudWatch Logs takes no ids and aliases.
    pub kms_key_arn: Input<Option<String>>,
    /// Tags.
    pub tags: Tags,
}

/// The subscription filter of the log group. Key `log_subscription`, fixed by the group's name; its id is
/// `<group>|<filter>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogSubscription {
    /// The log group whose events are forwarded.
    pub log_group: Key,
    /// ARN of the function or stream that receives them.
    pub destination_arn: Input<String>,
    /// Which events are forwarded; the empty pattern is all.
    pub filter_pattern: Input<String>,
    /// Role by which CloudWatch Logs writes to a stream.
    pub role_arn: Input<Option<String>>,
    /// `Random` or `ByLogStream` for a Kinesis stream. What AWS shows for other destinations is left out.
    pub distribution: Input<Option<String>>,
    /// The permission to call the function; `None` for a stream and for a function of another account.
    pub permission: Option<Key>,
}

/// The stage `$default`, deployed automatically. Key `stage`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Its API.
    pub api: Key,
    /// Whether AWS deploys each change by itself. Always wanted: without it changes are not served.
    pub auto_deploy: bool,
    /// AWS's words about its last deployment, where that has failed: then AWS serves what was deployed before. Never
    /// wanted.
    #[serde(default)]
    pub deployment_failure: Option<String>,
    /// Where requests are logged; `None` for nowhere.
    pub access_log: Option<AccessLog>,
    /// Tags.
    pub tags: Tags,
}

/// Access logs of a stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccessLog {
    /// The log group: ours, or another one by ARN.
    pub log_group: Ref,
    /// One line of context variables.
    pub format: Input<String>,
}

/// A custom domain, regional and with TLS 1.2. Key `domain`, fixed by its name, which is its id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DomainName {
    /// The API, which a domain does not need, but which must exist first (see [`super::Eip::vpc`]).
    pub api: Key,
    /// The name, in lower case.
    pub domain_name: Input<String>,
    /// ARN of its certificate in ACM.
    pub certificate_arn: Input<String>,
    /// [`DomainName::REGIONAL`], unless somebody has changed it.
    pub endpoint_type: String,
    /// [`DomainName::TLS_1_2`], unless somebody has changed it.
    pub security_policy: String,
    /// Tags.
    pub tags: Tags,
}

impl DomainName {
    /// The only kind of endpoint that HTTP APIs can be reached by.
    pub const REGIONAL: &'static str = "REGIONAL";
    /// The only security policy for domains of HTTP APIs.
    pub const TLS_1_2: &'static str = "TLS_1_2";
}

/// What a custom domain leads to: the root of its paths to a stage. Key `api_mapping`, fixed by the domain's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApiMapping {
    /// Its API.
    pub api: Key,
    /// Its stage; what somebody has put in its place is `<API id>/<stage>`.
    pub stage: Ref,
    /// The domain that it is part of.
    pub domain: Key,
    /// The path below the domain; empty for the root.
    pub mapping_key: String,
}

/// An alias record of type A in Route 53. Key `dns_record`, fixed by zone and name; its id is `<zone>_<name>_A`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DnsRecord {
    /// Id of the hosted zone.
    pub zone_id: Input<String>,
    /// Fully qualified name, in lower case, without the last dot.
    pub name: Input<String>,
    /// The custom domain that it points to, or the name of something else.
    pub target: Ref,
    /// Whether Route 53 looks whether the target is healthy; never, when it is ours.
    pub evaluate_target_health: bool,
}

impl Api {
    /// AWS may show CORS in other words.
    pub(super) fn mask_unowned(&mut self, wanted: &Api) {
        if let (Input::Known(shown), Input::Known(cors)) = (&self.cors, &wanted.cors)
            && means_the_same(shown, cors)
        {
            self.cors = wanted.cors.clone();
        }
    }
}

impl Authorizer {
    pub(super) fn needs(&self) -> Vec<Need> {
        vec![Need::new(&self.api, Restrict)]
    }

    /// AWS may show identity sources in another order.
    pub(super) fn mask_unowned(&mut self, wanted: &Authorizer) {
        if let (Input::Known(shown), Input::Known(sources)) = (&self.identity_sources, &wanted.identity_sources)
            && in_order(shown, str::to_string) == in_order(sources, str::to_string)
        {
            self.identity_sources = wanted.identity_sources.clone();
        }
    }
}

impl LambdaPermission {
    pub(super) fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.api, NoAction)];
        needs.extend(match &self.caller {
            Caller::Routes => None,
            Caller::Authorizer(authorizer) => Some(Need::new(authorizer, DeleteAfter)),
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

    /// AWS's default distribution is shown for some destinations only.
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
    /// AWS keeps an API that a path of a domain leads to, and more paths than ours may.
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

/// Whether two CORS configurations differ in nothing but the order of lists and the case of headers, which AWS may
/// change, and in what it does not show: that there is an empty configuration, and that answers are kept for no time.
fn means_the_same(one: &Option<Cors>, other: &Option<Cors>) -> bool {
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
