//! The IAM permissions that the provider's calls need, in one table. The guide `docs/guides/permissions.md` is
//! generated from it, and every test run is checked against it.
//!
//! The proxy fails a test if the provider makes a call without a row here, or one that the policies of the guide do not
//! allow. `suite/guides/permissions.rs` compares the table with the calls in `src/aws`, and with AWS's own list of
//! actions, resource types and condition keys.

pub(crate) mod configurations;
pub(crate) mod context;
pub(crate) mod document;
pub(crate) mod evaluation;
mod flow_logs;
mod gateway;
mod interface_endpoints;
pub(crate) mod needed;
mod network;
pub(crate) mod recorded;
pub(crate) mod reference;

use std::collections::BTreeSet;
use std::sync::OnceLock;

pub(crate) use needed::Needed;

/// A policy document in the guide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Policy {
    /// For the provider block, with any resources.
    Provider,
    /// Reads of a plan, a refresh and an import of a network.
    NetworkRead,
    /// Changes of an apply and a destroy of a network.
    NetworkChange,
    /// The second part of these changes, because AWS limits the size of a policy.
    NetworkChange2,
    /// Changes for features that are off by default.
    NetworkOptions,
    /// Flow logs and their log groups.
    FlowLogs,
    /// Interface endpoints and their security groups.
    InterfaceEndpoints,
    /// The adoption of a network that something else built.
    NetworkAdoption,
    GatewayRead,
    GatewayChange,
    GatewayOptions,
}

/// All policies, with their names in the guide.
pub(crate) const POLICIES: &[(Policy, &str)] = &[
    (Policy::Provider, "provider"),
    (Policy::NetworkRead, "network-read"),
    (Policy::NetworkChange, "network-change"),
    (Policy::NetworkChange2, "network-change-2"),
    (Policy::NetworkOptions, "network-options"),
    (Policy::FlowLogs, "network-flow-logs"),
    (Policy::InterfaceEndpoints, "network-interface-endpoints"),
    (Policy::NetworkAdoption, "network-adoption"),
    (Policy::GatewayRead, "gateway-read"),
    (Policy::GatewayChange, "gateway-change"),
    (Policy::GatewayOptions, "gateway-options"),
];

/// The condition of a permission, in addition to its resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Condition {
    None,
    /// Only in one Region.
    InRegion,
    /// Only objects with the ownership tag of a network.
    Ours,
    /// Only new objects that get this tag in the call.
    WithMark,
    /// Only existing objects without the ownership tag, which get that of a network in the call.
    Untagged,
    /// The same as `WithMark` for `CreateTags`, only as a part of the call that creates the object.
    MarkedOnCreate,
    /// Only objects in a VPC of the account, or in the one whose ARN the user fills in.
    InVpc,
    /// The same, and only calls that set the ownership tag of an existing object.
    WithMarkInVpc,
    /// Only new gateway endpoints that get the ownership tag in the call.
    GatewayEndpoint,
    /// Only new endpoints of the services that the user fills in, which get the ownership tag in the call.
    InterfaceEndpoint,
    /// Only objects with the tag of GuardDuty.
    OfGuardDuty,
    /// Only objects with the ownership tag of a gateway.
    OurApi,
    /// Only new objects that get this tag in the call.
    WithApiMark,
    /// Only permissions for API Gateway and CloudWatch Logs.
    Principals,
    /// Only A records of the domain name.
    RecordOfDomain,
    /// Only to create the service-linked role of API Gateway.
    ServiceLinkedRole,
    /// Only to pass a role to CloudWatch Logs.
    PassToLogs,
    /// Only to create the service-linked role that delivers logs to Firehose.
    ServiceLinkedRoleOfDelivery,
    /// Only to pass a role to the flow logs of EC2, or to their delivery to another account.
    PassToFlowLogs,
    /// Only to pass a role to API Gateway.
    PassToApiGateway,
}

impl Condition {
    /// Operator, key and values of each clause.
    pub(crate) fn clauses(self) -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
        let resource_tag = "aws:ResourceTag/fgw:resource";
        let request_tag = "aws:RequestTag/fgw:resource";
        let in_vpc = ("ArnLike", "ec2:Vpc", vec!["arn:aws:ec2:eu-central-1:123456789012:vpc/*"]);
        let with_mark = ("StringLike", request_tag, vec!["four_tier_vpc/*"]);
        match self {
            Self::None => vec![],
            Self::InRegion => vec![("StringEquals", "ec2:Region", vec!["eu-central-1"])],
            Self::Ours => vec![("StringLike", resource_tag, vec!["four_tier_vpc/*"])],
            Self::WithMark => vec![with_mark],
            Self::Untagged => {
                vec![("Null", resource_tag, vec!["true"]), ("Null", "ec2:CreateAction", vec!["true"]), with_mark]
            }
            Self::MarkedOnCreate => {
                let creates: BTreeSet<_> = rows().filter(Row::creates).map(|row| row.operation).collect();
                vec![("StringEquals", "ec2:CreateAction", creates.into_iter().collect()), with_mark]
            }
            Self::InVpc => vec![in_vpc],
            Self::WithMarkInVpc => vec![in_vpc, ("Null", "ec2:CreateAction", vec!["true"]), with_mark],
            Self::GatewayEndpoint => {
                vec![with_mark, ("StringLike", "ec2:VpceServiceName", vec!["*.dynamodb", "*.s3"])]
            }
            Self::InterfaceEndpoint => {
                vec![with_mark, ("StringLike", "ec2:VpceServiceName", vec!["com.amazonaws.eu-central-1.my-service"])]
            }
            Self::OfGuardDuty => vec![("StringEquals", "aws:ResourceTag/GuardDutyManaged", vec!["true"])],
            Self::OurApi => vec![("StringLike", resource_tag, vec!["http_gateway/*"])],
            Self::WithApiMark => vec![("StringLike", request_tag, vec!["http_gateway/*"])],
            Self::Principals => {
                vec![("StringLike", "lambda:Principal", vec!["apigateway.amazonaws.com", "logs.*amazonaws.com"])]
            }
            Self::RecordOfDomain => vec![
                (
                    "ForAllValues:StringLike",
                    "route53:ChangeResourceRecordSetsNormalizedRecordNames",
                    vec!["api.example.com"],
                ),
                ("ForAllValues:StringEquals", "route53:ChangeResourceRecordSetsRecordTypes", vec!["A", "AAAA"]),
            ],
            Self::ServiceLinkedRole => {
                vec![("StringEquals", "iam:AWSServiceName", vec!["ops.apigateway.amazonaws.com"])]
            }
            Self::ServiceLinkedRoleOfDelivery => {
                vec![("StringEquals", "iam:AWSServiceName", vec!["delivery.logs.amazonaws.com"])]
            }
            Self::PassToLogs => vec![("StringLike", "iam:PassedToService", vec!["logs.*amazonaws.com"])],
            Self::PassToFlowLogs => {
                let services = vec!["delivery.logs.amazonaws.com", "vpc-flow-logs.amazonaws.com"];
                vec![("StringEquals", "iam:PassedToService", services)]
            }
            Self::PassToApiGateway => {
                vec![("StringEquals", "iam:PassedToService", vec!["apigateway.amazonaws.com"])]
            }
        }
    }
}

/// One permission that one call needs. A call that needs several has several rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// As in the credential scope of a request.
    pub(crate) service: &'static str,
    /// The operation, as AWS names it. Empty if the provider does not make the call itself; then `because` states the
    /// reason.
    pub(crate) operation: &'static str,
    pub(crate) policy: Policy,
    /// The purpose, which is the `Sid` of the statement: one of [`purposes`].
    pub(crate) purpose: &'static str,
    /// The IAM action; empty if AWS requires no permission.
    pub(crate) action: &'static str,
    /// Arguments of [`arn`].
    pub(crate) resources: &'static [&'static str],
    pub(crate) condition: Condition,
    pub(crate) because: &'static str,
}

impl Row {
    /// Whether the permission is for a new object of EC2, which gets tags in the call.
    fn creates(&self) -> bool {
        let creating = [Condition::WithMark, Condition::GatewayEndpoint, Condition::InterfaceEndpoint];
        self.service == "ec2" && creating.contains(&self.condition)
    }
}

/// The permissions of a feature, and the requests that need them.
struct Feature {
    purposes: &'static [Purpose],
    /// By service.
    calls: &'static [(&'static str, &'static [Calls])],
    implied: &'static [Implied],
    unrestricted: &'static [Unrestricted],
    kinds: &'static [Kind],
    associated: &'static [Associated],
}

const FEATURES: [&Feature; 4] =
    [&network::FEATURE, &gateway::FEATURE, &flow_logs::FEATURE, &interface_endpoints::FEATURE];

/// For each policy: the name of a purpose, its description, and the configurations that need it. If a purpose needs
/// several statements, they are numbered.
pub(crate) type Purpose = (Policy, &'static str, &'static str, Needed);

/// A group of calls that have the same purpose and condition, and act on the same resources. Their actions follow from
/// their names. A call that acts on several kinds of objects has a row for each set of kinds with the same condition.
/// AWS allows the call only if it allows it on each of its objects.
type Calls = (Policy, &'static str, &'static [&'static str], &'static [&'static str], Condition);

/// The resources of a call for the tags of all objects that a call can create with tags. For existing objects, without
/// security groups.
const TAGGABLE: &[&str] = &["taggable"];

/// Actions that AWS requires in addition to those that have the names of our calls, and the reason.
type Implied = (Policy, &'static str, &'static [&'static str], &'static [&'static str], Condition, &'static str, By);

/// The calls that imply a permission, and the parameter with which they do; empty if they always do. With a leading
/// `!`, they do without the parameter; with a text after `~`, if the parameter contains that. No calls if `context`
/// determines the requests itself.
type By = (&'static [&'static str], &'static str);

/// Why a statement has no condition: its policy, its purpose, its first action, and the reason.
type Unrestricted = (Policy, &'static str, &'static str, &'static str);

/// A resource type of EC2, the prefix of its IDs, and the parameters that contain one ID or a list of them.
type Kind = (&'static str, &'static str, &'static [&'static str]);

/// A call whose parameter `AssociationId` identifies an object, the resource type of the object, and where it is found:
/// the call that lists such objects, the name of the list, and the name of the ID.
type Associated = (&'static str, &'static str, (&'static str, &'static str, &'static str));

pub(crate) fn purposes() -> impl Iterator<Item = &'static Purpose> {
    FEATURES.into_iter().flat_map(|it| it.purposes)
}

pub(crate) fn unrestricted() -> impl Iterator<Item = &'static Unrestricted> {
    FEATURES.into_iter().flat_map(|it| it.unrestricted)
}

fn implied() -> impl Iterator<Item = &'static Implied> {
    FEATURES.into_iter().flat_map(|it| it.implied)
}

/// Whether the table has a row for this call.
pub(crate) fn covers(service: &str, operation: &str) -> bool {
    !operation.is_empty() && rows().any(|row| row.service == service && row.operation == operation)
}

/// The table, which is built only once, because its texts live as long as the process.
pub(crate) fn rows() -> impl Iterator<Item = Row> {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(table).iter().copied()
}

fn table() -> Vec<Row> {
    let mut rows = Vec::new();
    for (service, calls) in FEATURES.into_iter().flat_map(|it| it.calls) {
        for (policy, purpose, operations, resources, condition) in *calls {
            let (policy, condition) = (*policy, *condition);
            rows.extend(operations.iter().map(|operation| {
                let action = if resources.is_empty() { "" } else { action(service, operation) };
                Row { service, operation, policy, purpose, action, resources, condition, because: "" }
            }));
        }
    }
    let taggable: BTreeSet<_> =
        rows.iter().filter(|row| row.creates()).flat_map(|row| row.resources).copied().collect();
    // Default security groups have no tags at first, so a purpose of its own has the tags of existing groups.
    let of_existing: &[&str] =
        taggable.iter().copied().filter(|kind| *kind != "security-group").collect::<Vec<_>>().leak();
    let of_new: &[&str] = Vec::from_iter(taggable).leak();
    for row in rows.iter_mut().filter(|row| row.resources == TAGGABLE) {
        row.resources = if row.condition == Condition::MarkedOnCreate { of_new } else { of_existing };
    }
    for (policy, purpose, actions, resources, condition, because, _) in implied() {
        let (policy, condition) = (*policy, *condition);
        rows.extend(actions.iter().map(|action| {
            let service = action.split(':').next().unwrap_or_default();
            Row { service, operation: "", policy, purpose, action, resources, condition, because }
        }));
    }
    rows
}

/// The IAM action of an operation, which has the same name: `ec2:DescribeVpcs`. Those of API Gateway are methods.
fn action(service: &str, operation: &str) -> &'static str {
    let method = [("Get", "GET"), ("Update", "PATCH"), ("Delete", "DELETE"), ("Untag", "DELETE")];
    let name = match method.into_iter().find(|(verb, _)| operation.starts_with(verb)) {
        _ if service != "apigateway" => operation,
        Some((_, method)) => method,
        None => "POST",
    };
    format!("{service}:{name}").leak()
}

/// The ARN pattern of a resource. Its Region, account, names and IDs are examples that readers replace with their own.
pub(crate) fn arn(resource: &str) -> String {
    let ec2 = |rest: &str| format!("arn:aws:ec2:eu-central-1:123456789012:{rest}");
    match resource {
        "*" => "*".into(),
        "ipam-pool" => "arn:aws:ec2::*:ipam-pool/ipam-pool-0123456789abcdef0".into(),
        "custom-elastic-ip" => ec2("elastic-ip/eipalloc-0123456789abcdef0"),
        "custom-security-group" => ec2("security-group/sg-0123456789abcdef0"),
        "vpn-gateway" => ec2("vpn-gateway/vgw-0123456789abcdef0"),
        // AWS's reference of `DescribeLogGroups`: without `:*` for the calls for tags, with it for all others.
        "log-group" => "arn:aws:logs:eu-central-1:123456789012:log-group:my-log-group".into(),
        "log-group-parts" => "arn:aws:logs:eu-central-1:123456789012:log-group:my-log-group:*".into(),
        "function" => "arn:aws:lambda:eu-central-1:123456789012:function:my-function".into(),
        "function-version" => "arn:aws:lambda:eu-central-1:123456789012:function:my-function:*".into(),
        "certificate" => "arn:aws:acm:eu-central-1:123456789012:certificate/*".into(),
        "key" => "arn:aws:kms:eu-central-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef".into(),
        "hostedzone" => "arn:aws:route53:::hostedzone/Z0123456789ABCDEFGHIJ".into(),
        "hostedzone-of-service" => "arn:aws:route53:::hostedzone/*".into(),
        "change" => "arn:aws:route53:::change/*".into(),
        "delivery-stream" => "arn:aws:firehose:eu-central-1:123456789012:deliverystream/my-delivery-stream".into(),
        "truststore" => "arn:aws:s3:::my-truststore/*".into(),
        "assumed-role" | "authorizer-role" | "flow-log-role" | "subscription-role" => {
            format!("arn:aws:iam::123456789012:role/my-{resource}")
        }
        "delivery-role" => "arn:aws:iam::123456789012:role/aws-service-role/delivery.logs.amazonaws.com/\
                            AWSServiceRoleForLogDelivery"
            .into(),
        "service-linked-role" => "arn:aws:iam::123456789012:role/aws-service-role/ops.apigateway.amazonaws.com/\
                                  AWSServiceRoleForAPIGateway"
            .into(),
        path if path.starts_with('/') => format!("arn:aws:apigateway:eu-central-1::{path}"),
        kind => ec2(&format!("{kind}/*")),
    }
}
