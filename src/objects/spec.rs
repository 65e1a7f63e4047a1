//! The kinds of AWS objects, one struct each, in the order of creation.
//!
//! A spec says all that we set on an object, in AWS's terms, and refers to other objects by key. To add a kind:
//! add its struct and variant here, and follow the compiler.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Claim, Key, Need, OnDelete, Ref, RouteKey, Tags};
use crate::plugin::Input;

/// What an AWS object looks like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "each variant is named after the struct that it holds")]
pub enum Spec {
    Vpc(Vpc),
    InternetGateway(InternetGateway),
    Subnet(Subnet),
    RouteTable(RouteTable),
    RouteTableAssociation(RouteTableAssociation),
    Eip(Eip),
    NatGateway(NatGateway),
    Route(Route),
    VpcEndpoint(VpcEndpoint),
    DefaultSecurityGroup(DefaultSecurityGroup),
    Api(Api),
    Authorizer(Authorizer),
    LambdaPermission(LambdaPermission),
    Integration(Integration),
    ApiRoute(ApiRoute),
    LogGroup(LogGroup),
    Stage(Stage),
}

/// A VPC, the root of a network. Key `vpc`, fixed by primary CIDR and tenancy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vpc {
    /// `vpc_name`, kept in the ownership tag.
    pub name: Input<String>,
    /// Primary IPv4 range in CIDR notation.
    pub cidr_block: Input<String>,
    /// `default` or `dedicated`.
    pub instance_tenancy: Input<String>,
    /// Whether the Amazon DNS server answers.
    pub enable_dns_support: Input<bool>,
    /// Whether instances get public DNS names. AWS wants `enable_dns_support` for it.
    pub enable_dns_hostnames: Input<bool>,
    /// Whether network address usage metrics are computed.
    pub enable_network_address_usage_metrics: Input<bool>,
    /// Tags.
    pub tags: Tags,
}

/// An internet gateway, attached to its VPC. Key `internet_gateway`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InternetGateway {
    /// The VPC it is attached to; `None` where it is found unattached.
    pub vpc: Option<Key>,
    /// Tags.
    pub tags: Tags,
}

/// The tier of a subnet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the specification names them")]
pub enum Tier {
    Public,
    PrivateApp,
    PrivatePersistence,
    Transit,
}

/// A subnet. Key `subnet.<tier>.<index>`, fixed by AZ id and CIDR.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subnet {
    /// Its VPC.
    pub vpc: Key,
    /// Its tier.
    pub tier: Tier,
    /// The index of its AZ in the network.
    pub index: u32,
    /// AZ name, such as `us-east-1a`.
    pub availability_zone: String,
    /// AZ id, such as `use1-az4`.
    pub availability_zone_id: String,
    /// IPv4 range in CIDR notation.
    pub cidr_block: Input<String>,
    /// Whether instances get a public address.
    pub map_public_ip_on_launch: Input<bool>,
    /// Tags.
    pub tags: Tags,
}

/// A route table. Key `route_table.<tier>.<index>`, or `route_table.public` where one serves all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteTable {
    /// Its VPC.
    pub vpc: Key,
    /// Tags.
    pub tags: Tags,
}

/// A subnet's explicit route table. Key `route_table_association.<tier>.<index>`, fixed like its subnet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteTableAssociation {
    /// The subnet.
    pub subnet: Key,
    /// The table.
    pub route_table: Ref,
}

/// An Elastic IP address. Key `eip.<index>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Eip {
    /// The VPC, which an address does not need, but which must exist first: a killed run leaves nothing that
    /// is not reachable from the VPC's id.
    pub vpc: Key,
    /// Tags.
    pub tags: Tags,
}

/// A NAT gateway. Key `nat_gateway.<index>` or `private_nat_gateway.<index>`, fixed by subnet and address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NatGateway {
    /// The subnet that it stands in.
    pub subnet: Key,
    /// The address of a public NAT gateway; `None` for a private one.
    pub allocation: Option<Input<Ref>>,
    /// The internet gateway that a public NAT gateway needs attached.
    pub internet_gateway: Option<Key>,
    /// Tags.
    pub tags: Tags,
}

/// A route of our own. Key `route.<table>.<ipv4|ipv6>`, id `<route table id>_<destination>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Route {
    /// The table.
    pub route_table: Key,
    /// Destination in canonical CIDR notation.
    pub destination: String,
    /// An internet or NAT gateway; the id's prefix says which.
    pub target: Ref,
}

/// A gateway endpoint. Key `vpc_endpoint.<objectstore|keyvalue>`, fixed by service name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VpcEndpoint {
    /// Its VPC.
    pub vpc: Key,
    /// The service's name as AWS lists it in this Region.
    pub service_name: Input<String>,
    /// The tables that it writes its prefix-list routes into, sorted.
    pub route_tables: Vec<Ref>,
    /// IAM policy as JSON; `None` is AWS's full access.
    pub policy: Input<Option<String>>,
    /// Tags.
    pub tags: Tags,
}

/// The VPC's default security group, adopted. Key `default_security_group`, id of the group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DefaultSecurityGroup {
    /// Its VPC.
    pub vpc: Key,
    /// Inbound rules, sorted, one per source; `None` leaves what is there.
    pub ingress: Input<Option<Vec<SecurityGroupRule>>>,
    /// Outbound rules, sorted, one per destination; `None` leaves what is there.
    pub egress: Input<Option<Vec<SecurityGroupRule>>>,
    /// Tags.
    pub tags: Tags,
}

/// One rule of a security group: AWS's rule, with one source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SecurityGroupRule {
    /// `-1` for all, `tcp`, `udp`, `icmp`, `icmpv6`, or a number.
    pub protocol: String,
    /// First port or ICMP type; `None` where the protocol has none.
    pub from_port: Option<i64>,
    /// Last port or ICMP code; `None` where the protocol has none.
    pub to_port: Option<i64>,
    /// Where traffic comes from or goes to.
    pub source: RuleSource,
    /// Free text.
    pub description: Option<String>,
}

/// The other end of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleSource {
    /// An IPv4 range, canonical.
    CidrIpv4(String),
    /// An IPv6 range, canonical.
    CidrIpv6(String),
    /// The group itself.
    ItSelf,
    /// A prefix list id.
    PrefixList(String),
    /// Another group's id.
    SecurityGroup(String),
}

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

/// A statement in a function's policy that lets API Gateway call it. Key `permission.<function>.<hash>` or
/// `authorizer_permission.<name>`, fixed by function, qualifier and source; the id is the statement id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LambdaPermission {
    /// The API that may call.
    pub api: Key,
    /// Unqualified ARN of the function.
    pub function_arn: Input<String>,
    /// Alias or version, where the ARN named one.
    pub qualifier: Input<Option<String>>,
    /// The authorizer that may call; `None` for every route of the API.
    pub authorizer: Option<Key>,
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
    /// The permission that must stand before the integration is used and after; `None` for a function of another account.
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
    /// The API, which a log group does not need, but which must exist first (see [`Eip::vpc`]).
    pub api: Key,
    /// Name of the group.
    pub name: Input<String>,
    /// Days; `None` keeps events for ever.
    pub retention_in_days: Input<Option<i64>>,
    /// Tags.
    pub tags: Tags,
}

/// The stage `$default`, deployed automatically. Key `stage`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Its API.
    pub api: Key,
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

impl Tier {
    /// All tiers, in the order of the specification.
    pub const ALL: [Tier; 4] = [Tier::Public, Tier::PrivateApp, Tier::PrivatePersistence, Tier::Transit];

    /// As in keys and outputs: `private_app`.
    pub fn slot(self) -> &'static str {
        match self {
            Tier::Public => "public",
            Tier::PrivateApp => "private_app",
            Tier::PrivatePersistence => "private_persistence",
            Tier::Transit => "transit",
        }
    }

    /// As in names: `private-app`.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Public => "public",
            Tier::PrivateApp => "private-app",
            Tier::PrivatePersistence => "private-persistence",
            Tier::Transit => "transit",
        }
    }
}

impl Spec {
    /// The kind, in a person's words: `NAT gateway`.
    pub fn kind(&self) -> &'static str {
        match self {
            Spec::Vpc(_) => "VPC",
            Spec::InternetGateway(_) => "internet gateway",
            Spec::Subnet(_) => "subnet",
            Spec::RouteTable(_) => "route table",
            Spec::RouteTableAssociation(_) => "route table association",
            Spec::Eip(_) => "Elastic IP address",
            Spec::NatGateway(_) => "NAT gateway",
            Spec::Route(_) | Spec::ApiRoute(_) => "route",
            Spec::VpcEndpoint(_) => "VPC endpoint",
            Spec::DefaultSecurityGroup(_) => "default security group",
            Spec::Api(_) => "HTTP API",
            Spec::Authorizer(_) => "authorizer",
            Spec::LambdaPermission(_) => "Lambda permission",
            Spec::Integration(_) => "integration",
            Spec::LogGroup(_) => "log group",
            Spec::Stage(_) => "stage",
        }
    }

    /// The objects that must exist before this one, and how their deletions are ordered.
    pub fn needs(&self) -> Vec<Need> {
        use OnDelete::{Free, Holds, Outlives};
        match self {
            Spec::Vpc(_) | Spec::Api(_) => vec![],
            Spec::InternetGateway(it) => it.vpc.iter().map(|vpc| Need::new(vpc, Holds)).collect(),
            Spec::Subnet(it) => vec![Need::new(&it.vpc, Holds)],
            Spec::RouteTable(it) => vec![Need::new(&it.vpc, Holds)],
            Spec::RouteTableAssociation(it) => {
                let mut needs = vec![Need::new(&it.subnet, Holds)];
                needs.extend(Need::of(&it.route_table, Holds));
                needs
            }
            Spec::Eip(it) => vec![Need::new(&it.vpc, Holds)],
            Spec::NatGateway(it) => {
                let mut needs = vec![Need::new(&it.subnet, Holds)];
                needs.extend(it.internet_gateway.iter().map(|gateway| Need::new(gateway, Holds)));
                if let Some(Input::Known(address)) = &it.allocation {
                    needs.extend(Need::of(address, Holds));
                }
                needs
            }
            // AWS lets a target go first and leaves the route as a blackhole.
            Spec::Route(it) => {
                let mut needs = vec![Need::new(&it.route_table, Holds)];
                needs.extend(Need::of(&it.target, Free));
                needs
            }
            Spec::VpcEndpoint(it) => {
                let mut needs = vec![Need::new(&it.vpc, Holds)];
                needs.extend(it.route_tables.iter().flat_map(|table| Need::of(table, Holds)));
                needs
            }
            Spec::DefaultSecurityGroup(it) => vec![Need::new(&it.vpc, Holds)],
            Spec::Authorizer(it) => vec![Need::new(&it.api, Holds)],
            Spec::LambdaPermission(it) => {
                let mut needs = vec![Need::new(&it.api, Free)];
                needs.extend(it.authorizer.iter().map(|authorizer| Need::new(authorizer, Outlives)));
                needs
            }
            Spec::Integration(it) => {
                let mut needs = vec![Need::new(&it.api, Holds)];
                needs.extend(it.permission.iter().map(|permission| Need::new(permission, Holds)));
                needs
            }
            Spec::ApiRoute(it) => {
                let mut needs = vec![Need::new(&it.api, Holds)];
                needs.extend(it.integration.iter().flat_map(|target| Need::of(target, Holds)));
                needs.extend(it.authorizer.iter().flat_map(|target| Need::of(target, Holds)));
                needs
            }
            Spec::LogGroup(it) => vec![Need::new(&it.api, Free)],
            Spec::Stage(it) => {
                let mut needs = vec![Need::new(&it.api, Holds)];
                needs.extend(it.access_log.iter().flat_map(|log| Need::of(&log.log_group, Holds)));
                needs
            }
        }
    }

    /// The object whose deletion takes this one with it, so that it needs no call of its own.
    pub fn parent(&self) -> Option<&Key> {
        match self {
            Spec::RouteTableAssociation(it) => Some(&it.subnet),
            Spec::Route(it) => Some(&it.route_table),
            Spec::DefaultSecurityGroup(it) => Some(&it.vpc),
            Spec::Authorizer(it) => Some(&it.api),
            Spec::Integration(it) => Some(&it.api),
            Spec::ApiRoute(it) => Some(&it.api),
            Spec::Stage(it) => Some(&it.api),
            _ => None,
        }
    }

    /// What only this object may have while it exists.
    pub fn claims(&self) -> Vec<Claim> {
        match self {
            Spec::InternetGateway(_) => vec![Claim::Exact("internet gateway".into())],
            Spec::Subnet(it) => {
                it.cidr_block.known().and_then(|cidr| cidr.parse().ok()).map(Claim::Addresses).into_iter().collect()
            }
            Spec::RouteTableAssociation(it) => vec![Claim::Exact(format!("table of {:?}", it.subnet))],
            Spec::NatGateway(it) => match &it.allocation {
                Some(Input::Known(address)) => vec![Claim::Exact(format!("address {address:?}"))],
                _ => vec![],
            },
            Spec::Route(it) => vec![Claim::Exact(format!("{:?} to {}", it.route_table, it.destination))],
            Spec::VpcEndpoint(it) => vec![Claim::Exact(format!("endpoint {:?}", it.service_name))],
            Spec::LambdaPermission(it) => {
                vec![Claim::Exact(format!("statement {:?} {:?} {:?}", it.function_arn, it.qualifier, it.authorizer))]
            }
            Spec::ApiRoute(it) => {
                let variables = RouteKey::parse(&it.route_key).map(|key| key.variables()).unwrap_or_default();
                let variable = |(place, name): (String, &str)| Claim::PathVariable { place, name: name.to_string() };
                let mut claims = vec![Claim::Exact(format!("route {}", it.route_key))];
                claims.extend(variables.into_iter().map(variable));
                claims
            }
            Spec::LogGroup(it) => vec![Claim::Exact(format!("log group {:?}", it.name))],
            Spec::Stage(_) => vec![Claim::Exact("stage $default".into())],
            _ => vec![],
        }
    }

    /// The object's tags, where its kind has any.
    pub fn tags(&self) -> Option<&Tags> {
        match self {
            Spec::Vpc(Vpc { tags, .. })
            | Spec::InternetGateway(InternetGateway { tags, .. })
            | Spec::Subnet(Subnet { tags, .. })
            | Spec::RouteTable(RouteTable { tags, .. })
            | Spec::Eip(Eip { tags, .. })
            | Spec::NatGateway(NatGateway { tags, .. })
            | Spec::VpcEndpoint(VpcEndpoint { tags, .. })
            | Spec::DefaultSecurityGroup(DefaultSecurityGroup { tags, .. })
            | Spec::Api(Api { tags, .. })
            | Spec::LogGroup(LogGroup { tags, .. })
            | Spec::Stage(Stage { tags, .. }) => Some(tags),
            Spec::RouteTableAssociation(_)
            | Spec::Route(_)
            | Spec::Authorizer(_)
            | Spec::LambdaPermission(_)
            | Spec::Integration(_)
            | Spec::ApiRoute(_) => None,
        }
    }

    /// The same, for changing them.
    pub fn tags_mut(&mut self) -> Option<&mut Tags> {
        match self {
            Spec::Vpc(Vpc { tags, .. })
            | Spec::InternetGateway(InternetGateway { tags, .. })
            | Spec::Subnet(Subnet { tags, .. })
            | Spec::RouteTable(RouteTable { tags, .. })
            | Spec::Eip(Eip { tags, .. })
            | Spec::NatGateway(NatGateway { tags, .. })
            | Spec::VpcEndpoint(VpcEndpoint { tags, .. })
            | Spec::DefaultSecurityGroup(DefaultSecurityGroup { tags, .. })
            | Spec::Api(Api { tags, .. })
            | Spec::LogGroup(LogGroup { tags, .. })
            | Spec::Stage(Stage { tags, .. }) => Some(tags),
            Spec::RouteTableAssociation(_)
            | Spec::Route(_)
            | Spec::Authorizer(_)
            | Spec::LambdaPermission(_)
            | Spec::Integration(_)
            | Spec::ApiRoute(_) => None,
        }
    }

    /// Whether AWS gives the object another id when it is changed.
    pub fn gets_new_id_when_updated(&self) -> bool {
        matches!(self, Spec::RouteTableAssociation(_))
    }

    /// Whether every input is known.
    pub fn is_known(&self) -> bool {
        !contains_unknown(&self.fields())
    }

    /// How this differs from another spec of the same kind, one phrase per field, for people: values of fields,
    /// but only the keys of tags, whose values are none of a log's business.
    pub fn differences(&self, other: &Spec) -> Vec<String> {
        let (mine, others) = (self.fields(), other.fields());
        let mut phrases = Vec::new();
        for (field, value) in &mine {
            let other = others.get(field).unwrap_or(&serde_json::Value::Null);
            if value == other {
                continue;
            }
            if field == "tags" {
                phrases.extend(tag_differences(value, other));
            } else {
                phrases.push(format!("{field} is {} instead of {}", phrase(other), phrase(value)));
            }
        }
        phrases
    }

    fn fields(&self) -> serde_json::Map<String, serde_json::Value> {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::Object(fields)) => fields,
            _ => serde_json::Map::new(),
        }
    }
}

fn contains_unknown(fields: &serde_json::Map<String, serde_json::Value>) -> bool {
    fn unknown(value: &serde_json::Value) -> bool {
        match value {
            serde_json::Value::Array(items) => items.iter().any(unknown),
            serde_json::Value::Object(fields) => {
                fields.contains_key(crate::plugin::decode::UNKNOWN) || fields.values().any(unknown)
            }
            _ => false,
        }
    }
    fields.values().any(unknown)
}

fn tag_differences(applied: &serde_json::Value, found: &serde_json::Value) -> Vec<String> {
    let empty = serde_json::Map::new();
    let applied = applied.as_object().unwrap_or(&empty);
    let found = found.as_object().unwrap_or(&empty);
    let keys: BTreeMap<&String, ()> = applied.keys().chain(found.keys()).map(|key| (key, ())).collect();
    keys.into_keys()
        .filter(|key| applied.get(*key) != found.get(*key))
        .map(|key| match (applied.contains_key(key), found.contains_key(key)) {
            (true, false) => format!("tag {key} is missing"),
            (false, true) => format!("tag {key} is added"),
            _ => format!("tag {key} has another value"),
        })
        .collect()
}

/// A field's value for people. References show as the slot or id that they name.
fn phrase(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => "absent".to_string(),
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(items) => format!("[{}]", items.iter().map(phrase).collect::<Vec<_>>().join(", ")),
        serde_json::Value::Object(fields) => match (fields.get("key"), fields.get("id"), fields.get("slot")) {
            (Some(key), None, None) => phrase(key),
            (None, Some(id), None) => phrase(id),
            (None, None, Some(slot)) => phrase(slot),
            _ => value.to_string(),
        },
        other => other.to_string(),
    }
}
