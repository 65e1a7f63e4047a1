//! The IAM permissions that the provider's calls need, in one table. The guide `docs/guides/permissions.md` is
//! generated from it, and every test run is checked against it.
//!
//! The proxy fails a test if the provider makes a call without a row here. `suite/guides/permissions.rs` compares the
//! table with the calls in `src/aws`, and with AWS's own list of actions and resource types.

/// A policy document in the guide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Policy {
    /// For the provider block, with any resources.
    Provider,
    /// Reads of a plan, a refresh and an import of a network.
    NetworkRead,
    /// Changes of an apply and a destroy of a network.
    NetworkChange,
    /// Changes for features that are off by default.
    NetworkOptions,
    GatewayRead,
    GatewayChange,
    GatewayOptions,
}

/// The condition of a permission, in addition to its resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Condition {
    None,
    /// Only objects with the ownership tag of a network.
    Ours,
    /// Only objects with the tag of GuardDuty.
    OfGuardDuty,
    /// Only in the call that creates the object.
    OnCreate,
    /// Only to create the service-linked role of API Gateway.
    ServiceLinkedRole,
    /// Only to pass a role to CloudWatch Logs.
    PassToLogs,
    /// Only to pass a role to API Gateway.
    PassToApiGateway,
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
    /// The purpose, which is the `Sid` of the statement: a row of [`PURPOSES`].
    pub(crate) purpose: &'static str,
    /// The IAM action; empty if AWS requires no permission.
    pub(crate) action: &'static str,
    /// Arguments of [`arn`].
    pub(crate) resources: &'static [&'static str],
    pub(crate) condition: Condition,
    pub(crate) because: &'static str,
}

/// Whether the table has a row for this call.
pub(crate) fn covers(service: &str, operation: &str) -> bool {
    !operation.is_empty() && rows().any(|row| row.service == service && row.operation == operation)
}

/// Whether the table allows an action of API Gateway on a path, such as `/apis/a1b2/stages`.
pub(crate) fn allows(action: &str, path: &str) -> bool {
    let matches = |resource: &str| match resource.strip_suffix('*') {
        Some(prefix) => path.starts_with(prefix),
        None => path == resource,
    };
    rows().any(|row| row.action == action && row.resources.iter().any(|resource| matches(resource)))
}

pub(crate) fn rows() -> impl Iterator<Item = Row> {
    let ec2 = EC2.iter().map(|(policy, purpose, operations, resources, condition)| {
        operations.iter().map(|operation| (*policy, *purpose, *operation, *resources, *condition)).collect::<Vec<_>>()
    });
    let ec2 = ec2.flatten().map(|(policy, purpose, operation, resources, condition)| {
        let action = operation_of_ec2(operation);
        Row { service: "ec2", operation, policy, purpose, action, resources, condition, because: "" }
    });
    let others = OTHERS.iter().map(|(service, operation, policy, purpose, action, resources)| Row {
        service,
        operation,
        policy: *policy,
        purpose,
        action,
        resources,
        condition: Condition::None,
        because: "",
    });
    ec2.chain(others).chain(IMPLIED.iter().copied())
}

/// The IAM action of an EC2 operation, which has the same name: `ec2:DescribeVpcs`. The texts are built only once,
/// because a row needs `&'static str`.
fn operation_of_ec2(operation: &'static str) -> &'static str {
    static ACTIONS: std::sync::OnceLock<std::collections::BTreeMap<&'static str, String>> = std::sync::OnceLock::new();
    let all = || EC2.iter().flat_map(|row| row.2.iter().map(|name| (*name, format!("ec2:{name}")))).collect();
    &ACTIONS.get_or_init(all)[operation]
}

/// The ARN pattern of a resource, with an example Region and account that readers replace with their own.
pub(crate) fn arn(resource: &str) -> String {
    match resource {
        "*" => "*".into(),
        "ipam-pool" => "arn:aws:ec2::*:ipam-pool/*".into(),
        "log-group" => "arn:aws:logs:eu-central-1:123456789012:log-group:*".into(),
        "function" => "arn:aws:lambda:*:123456789012:function:*".into(),
        "certificate" => "arn:aws:acm:eu-central-1:123456789012:certificate/*".into(),
        "key" => "arn:aws:kms:eu-central-1:123456789012:key/*".into(),
        "hostedzone" => "arn:aws:route53:::hostedzone/*".into(),
        "change" => "arn:aws:route53:::change/*".into(),
        "role" => "arn:aws:iam::123456789012:role/*".into(),
        "service-linked-role" => "arn:aws:iam::123456789012:role/aws-service-role/ops.apigateway.amazonaws.com/\
                                  AWSServiceRoleForAPIGateway"
            .into(),
        path if path.starts_with('/') => format!("arn:aws:apigateway:eu-central-1::{path}"),
        kind => format!("arn:aws:ec2:eu-central-1:123456789012:{kind}/*"),
    }
}

use Condition::{None as Always, OfGuardDuty, OnCreate, Ours};
use Policy::{GatewayChange, GatewayOptions, GatewayRead, NetworkChange, NetworkOptions, NetworkRead, Provider};

/// For each policy: the name of a purpose, its description, and the configuration that does not need it; empty if every
/// configuration does. If a purpose needs several statements, they are numbered.
pub(crate) const PURPOSES: &[(Policy, &str, &str, &str)] = &[
    (
        Provider,
        "AssumeRole",
        "Assumes the roles of `assume_role` blocks and of the profile",
        "neither the provider block nor the profile has a role to assume",
    ),
    (NetworkRead, "Network", "Reads all objects of a network", ""),
    (
        NetworkRead,
        "Obstacles",
        "Finds unmanaged objects that block a deletion",
        "you do not need these objects in messages",
    ),
    (
        NetworkRead,
        "IpamPool",
        "Checks that an IPAM pool has released a range before the provider creates a VPC with that range",
        "no `ipv4_ipam_pool_id` and no `ipv6_ipam_pool_id`",
    ),
    (NetworkChange, "Network", "VPC, subnets, route tables and routes", ""),
    (
        NetworkChange,
        "TagOnCreate",
        "The ownership tags (`fgw:*`) and your tags, in the call that creates an object",
        "",
    ),
    (
        NetworkChange,
        "TagLater",
        "Changes of tags after an object has been created, including `fgw:state`",
        "the role may tag only objects that it creates (see below)",
    ),
    (NetworkChange, "InternetGateway", "The internet gateway", "`create_igw = false`, or no public tier"),
    (NetworkChange, "NatGateway", "NAT gateways, public and private", "`num_nat_gateways = 0`"),
    (
        NetworkChange,
        "ElasticIp",
        "The Elastic IP addresses of NAT gateways",
        "`num_nat_gateways = 0`, `use_custom_nat_eips = true` or `enable_private_nat = true`",
    ),
    (
        NetworkOptions,
        "NatAddresses",
        "Secondary private addresses of NAT gateways",
        "`nat_secondary_private_ip_address_count = 0`",
    ),
    (NetworkChange, "Endpoints", "The gateway endpoints", "`create_vpc_endpoints = false`"),
    (
        NetworkChange,
        "SecurityGroup",
        "Rules and tags of the default security group",
        "`enable_default_security_group = false`",
    ),
    (NetworkOptions, "NetworkAcl", "Rules and tags of the default network ACL", "`apply_default_nacl_rules = false`"),
    (NetworkOptions, "Propagation", "Route propagation from virtual private gateways", "no `<tier>_propagating_vgws`"),
    (NetworkOptions, "Ipv6", "IPv6 ranges and blocks", "`enable_ipv6 = false`"),
    (
        NetworkOptions,
        "GuardDuty",
        "Removes deleted subnets from the endpoint of GuardDuty, or deletes the endpoint and its security group",
        "`delete_guardduty_resources = false`",
    ),
    (NetworkOptions, "IpamPool", "Ranges from IPAM pools", "no `ipv4_ipam_pool_id` and no `ipv6_ipam_pool_id`"),
    (GatewayRead, "Gateway", "The API and its child objects, including custom domains", ""),
    (GatewayRead, "Permissions", "Reads the permissions to invoke the functions", ""),
    (GatewayRead, "AccessLogs", "The log group and its subscription", "no `access_log_logservice_group_name`"),
    (
        GatewayRead,
        "LogKey",
        "Looks up the KMS key of the log group",
        "the key is set by the ARN of the key, or not set",
    ),
    (GatewayRead, "Certificate", "Looks up the certificate", "no `domain_name`, or `certificate_arn` is set"),
    (GatewayRead, "DnsRecord", "The DNS record", "`create_dns_entry = false`"),
    (GatewayRead, "DnsImport", "Finds the DNS record during an import", "you import no gateway with a DNS record"),
    (GatewayChange, "Gateway", "The API, its routes, integrations, authorizers and stage", ""),
    (GatewayChange, "Tags", "The ownership tags (`fgw:*`) and your tags", ""),
    (GatewayChange, "Permissions", "Allows API Gateway and CloudWatch Logs to invoke the functions", ""),
    (
        GatewayOptions,
        "AuthorizerRole",
        "Passes the role of an authorizer to API Gateway",
        "no `authorizer_credentials_arn`",
    ),
    (GatewayOptions, "AccessLogs", "The log group", "no `access_log_logservice_group_name`"),
    (
        GatewayOptions,
        "LogDelivery",
        "Allows API Gateway to write to the log group",
        "no `access_log_logservice_group_name`",
    ),
    (GatewayOptions, "LogKey", "Sets the KMS key of the log group", "no `access_log_logservice_group_kms_key_id`"),
    (
        GatewayOptions,
        "Subscription",
        "Forwards log events",
        "no `access_log_logservice_group_subscription_destination_arn`",
    ),
    (
        GatewayOptions,
        "SubscriptionRole",
        "Passes the role of the subscription to CloudWatch Logs",
        "no `access_log_logservice_group_subscription_role_arn`",
    ),
    (GatewayOptions, "CustomDomain", "The custom domain and its API mapping", "no `domain_name`"),
    (
        GatewayOptions,
        "ServiceLinkedRole",
        "Creates the service-linked role that API Gateway needs once per account for custom domains",
        "no `domain_name`, or the account already has the role",
    ),
    (GatewayOptions, "DnsRecord", "The DNS record", "`create_dns_entry = false`"),
];

type Ec2 = (Policy, &'static str, &'static [&'static str], &'static [&'static str], Condition);

/// The calls of EC2, grouped by their resources.
const EC2: &[Ec2] = &[
    (
        NetworkRead,
        "Network",
        &[
            "DescribeAddresses",
            "DescribeAvailabilityZones",
            "DescribeInternetGateways",
            "DescribeNatGateways",
            "DescribeNetworkAcls",
            "DescribeRouteTables",
            "DescribeSecurityGroupRules",
            "DescribeSecurityGroups",
            "DescribeSubnets",
            "DescribeVpcEndpointServices",
            "DescribeVpcEndpoints",
            "DescribeVpcs",
        ],
        &["*"],
        Always,
    ),
    (NetworkRead, "Network", &["DescribeVpcAttribute"], &["vpc"], Always),
    (
        NetworkRead,
        "Obstacles",
        &[
            "DescribeEgressOnlyInternetGateways",
            "DescribeNetworkInterfaces",
            "DescribeVpcPeeringConnections",
            "DescribeVpnGateways",
        ],
        &["*"],
        Always,
    ),
    (NetworkRead, "IpamPool", &["GetIpamPoolAllocations"], &["ipam-pool"], Always),
    (NetworkChange, "Network", &["CreateVpc", "ModifyVpcAttribute", "ModifyVpcTenancy"], &["vpc"], Always),
    (NetworkChange, "Network", &["CreateSubnet"], &["subnet", "vpc"], Always),
    (NetworkChange, "Network", &["CreateRouteTable"], &["route-table", "vpc"], Always),
    (NetworkChange, "Network", &["ModifySubnetAttribute"], &["subnet"], Always),
    (NetworkChange, "Network", &["CreateRoute", "ReplaceRoute"], &["route-table"], Always),
    (
        NetworkChange,
        "Network",
        &["AssociateRouteTable", "DisassociateRouteTable", "ReplaceRouteTableAssociation"],
        &["route-table", "subnet"],
        Always,
    ),
    (NetworkChange, "Network", &["DeleteVpc"], &["vpc"], Ours),
    (NetworkChange, "Network", &["DeleteSubnet"], &["subnet"], Ours),
    (NetworkChange, "Network", &["DeleteRoute", "DeleteRouteTable"], &["route-table"], Ours),
    (
        NetworkChange,
        "TagOnCreate",
        &["CreateTags"],
        &["elastic-ip", "internet-gateway", "natgateway", "route-table", "subnet", "vpc", "vpc-endpoint"],
        OnCreate,
    ),
    (
        NetworkChange,
        "TagLater",
        &["CreateTags", "DeleteTags"],
        &["elastic-ip", "internet-gateway", "natgateway", "route-table", "subnet", "vpc", "vpc-endpoint"],
        Ours,
    ),
    (NetworkChange, "InternetGateway", &["CreateInternetGateway"], &["internet-gateway"], Always),
    (NetworkChange, "InternetGateway", &["AttachInternetGateway"], &["internet-gateway", "vpc"], Always),
    (NetworkChange, "InternetGateway", &["DetachInternetGateway"], &["internet-gateway", "vpc"], Ours),
    (NetworkChange, "InternetGateway", &["DeleteInternetGateway"], &["internet-gateway"], Ours),
    (NetworkChange, "NatGateway", &["CreateNatGateway"], &["elastic-ip", "natgateway", "subnet"], Always),
    (NetworkChange, "NatGateway", &["DeleteNatGateway"], &["natgateway"], Ours),
    (NetworkChange, "ElasticIp", &["AllocateAddress"], &["elastic-ip"], Always),
    (NetworkChange, "ElasticIp", &["DisassociateAddress"], &["elastic-ip", "network-interface"], Always),
    (NetworkChange, "ElasticIp", &["ReleaseAddress"], &["elastic-ip"], Ours),
    (
        NetworkOptions,
        "NatAddresses",
        &["AssignPrivateNatGatewayAddress", "UnassignPrivateNatGatewayAddress"],
        &["natgateway"],
        Always,
    ),
    (NetworkChange, "Endpoints", &["CreateVpcEndpoint"], &["route-table", "vpc", "vpc-endpoint"], Always),
    (NetworkChange, "Endpoints", &["ModifyVpcEndpoint"], &["route-table", "vpc-endpoint"], Always),
    (NetworkChange, "Endpoints", &["DeleteVpcEndpoints"], &["vpc-endpoint"], Ours),
    (
        NetworkChange,
        "SecurityGroup",
        &["AuthorizeSecurityGroupEgress", "AuthorizeSecurityGroupIngress"],
        &["security-group", "security-group-rule"],
        Always,
    ),
    (
        NetworkChange,
        "SecurityGroup",
        &[
            "CreateTags",
            "DeleteTags",
            "RevokeSecurityGroupEgress",
            "RevokeSecurityGroupIngress",
            "UpdateSecurityGroupRuleDescriptionsEgress",
            "UpdateSecurityGroupRuleDescriptionsIngress",
        ],
        &["security-group"],
        Always,
    ),
    (
        NetworkOptions,
        "NetworkAcl",
        &["CreateNetworkAclEntry", "CreateTags", "DeleteNetworkAclEntry", "DeleteTags", "ReplaceNetworkAclEntry"],
        &["network-acl"],
        Always,
    ),
    (NetworkOptions, "NetworkAcl", &["ReplaceNetworkAclAssociation"], &["network-acl", "subnet"], Always),
    (
        NetworkOptions,
        "Propagation",
        &["DisableVgwRoutePropagation", "EnableVgwRoutePropagation"],
        &["route-table", "vpn-gateway"],
        Always,
    ),
    (NetworkOptions, "GuardDuty", &["DeleteVpcEndpoints", "ModifyVpcEndpoint"], &["vpc-endpoint"], OfGuardDuty),
    (NetworkOptions, "GuardDuty", &["DeleteSecurityGroup"], &["security-group"], OfGuardDuty),
    // The subnet that leaves the endpoint.
    (NetworkOptions, "GuardDuty", &["ModifyVpcEndpoint"], &["subnet"], Ours),
    (NetworkOptions, "Ipv6", &["AssociateVpcCidrBlock", "DisassociateVpcCidrBlock"], &["vpc"], Always),
    (NetworkOptions, "Ipv6", &["AssociateSubnetCidrBlock", "DisassociateSubnetCidrBlock"], &["subnet"], Always),
    (NetworkOptions, "IpamPool", &["AssociateVpcCidrBlock", "CreateVpc"], &["ipam-pool"], Always),
];

type Other = (&'static str, &'static str, Policy, &'static str, &'static str, &'static [&'static str]);

/// The calls of all other services.
const OTHERS: &[Other] = &[
    ("sts", "GetCallerIdentity", Provider, "", "", &[]),
    ("sts", "AssumeRoleWithWebIdentity", Provider, "", "", &[]),
    ("sts", "AssumeRole", Provider, "AssumeRole", "sts:AssumeRole", &["role"]),
    ("apigateway", "GetApis", GatewayRead, "Gateway", "apigateway:GET", &["/apis"]),
    ("apigateway", "GetApi", GatewayRead, "Gateway", "apigateway:GET", &["/apis/*"]),
    ("apigateway", "GetAuthorizers", GatewayRead, "Gateway", "apigateway:GET", &["/apis/*"]),
    ("apigateway", "GetIntegrations", GatewayRead, "Gateway", "apigateway:GET", &["/apis/*"]),
    ("apigateway", "GetRoutes", GatewayRead, "Gateway", "apigateway:GET", &["/apis/*"]),
    ("apigateway", "GetDeployment", GatewayRead, "Gateway", "apigateway:GET", &["/apis/*"]),
    ("apigateway", "GetStage", GatewayRead, "Gateway", "apigateway:GET", &["/apis/*"]),
    ("apigateway", "GetStages", GatewayRead, "Gateway", "apigateway:GET", &["/apis/*"]),
    ("apigateway", "GetTags", GatewayRead, "Gateway", "apigateway:GET", &["/tags/*"]),
    ("apigateway", "GetDomainNames", GatewayRead, "Gateway", "apigateway:GET", &["/domainnames"]),
    ("apigateway", "GetDomainName", GatewayRead, "Gateway", "apigateway:GET", &["/domainnames/*"]),
    ("apigateway", "GetApiMappings", GatewayRead, "Gateway", "apigateway:GET", &["/domainnames/*"]),
    ("lambda", "GetPolicy", GatewayRead, "Permissions", "lambda:GetPolicy", &["function"]),
    ("logs", "DescribeLogGroups", GatewayRead, "AccessLogs", "logs:DescribeLogGroups", &["*"]),
    ("logs", "ListTagsForResource", GatewayRead, "AccessLogs", "logs:ListTagsForResource", &["log-group"]),
    (
        "logs",
        "DescribeSubscriptionFilters",
        GatewayRead,
        "AccessLogs",
        "logs:DescribeSubscriptionFilters",
        &["log-group"],
    ),
    ("kms", "DescribeKey", GatewayRead, "LogKey", "kms:DescribeKey", &["key"]),
    ("acm", "ListCertificates", GatewayRead, "Certificate", "acm:ListCertificates", &["*"]),
    ("acm", "DescribeCertificate", GatewayRead, "Certificate", "acm:DescribeCertificate", &["certificate"]),
    ("route53", "ListResourceRecordSets", GatewayRead, "DnsRecord", "route53:ListResourceRecordSets", &["hostedzone"]),
    ("route53", "ListHostedZonesByName", GatewayRead, "DnsImport", "route53:ListHostedZonesByName", &["*"]),
    ("apigateway", "CreateApi", GatewayChange, "Gateway", "apigateway:POST", &["/apis"]),
    ("apigateway", "CreateAuthorizer", GatewayChange, "Gateway", "apigateway:POST", &["/apis/*"]),
    ("apigateway", "CreateIntegration", GatewayChange, "Gateway", "apigateway:POST", &["/apis/*"]),
    ("apigateway", "CreateRoute", GatewayChange, "Gateway", "apigateway:POST", &["/apis/*"]),
    ("apigateway", "CreateStage", GatewayChange, "Gateway", "apigateway:POST", &["/apis/*"]),
    ("apigateway", "UpdateApi", GatewayChange, "Gateway", "apigateway:PATCH", &["/apis/*"]),
    ("apigateway", "UpdateAuthorizer", GatewayChange, "Gateway", "apigateway:PATCH", &["/apis/*"]),
    ("apigateway", "UpdateIntegration", GatewayChange, "Gateway", "apigateway:PATCH", &["/apis/*"]),
    ("apigateway", "UpdateRoute", GatewayChange, "Gateway", "apigateway:PATCH", &["/apis/*"]),
    ("apigateway", "UpdateStage", GatewayChange, "Gateway", "apigateway:PATCH", &["/apis/*"]),
    ("apigateway", "DeleteAccessLogSettings", GatewayChange, "Gateway", "apigateway:DELETE", &["/apis/*"]),
    ("apigateway", "DeleteApi", GatewayChange, "Gateway", "apigateway:DELETE", &["/apis/*"]),
    ("apigateway", "DeleteAuthorizer", GatewayChange, "Gateway", "apigateway:DELETE", &["/apis/*"]),
    ("apigateway", "DeleteCorsConfiguration", GatewayChange, "Gateway", "apigateway:DELETE", &["/apis/*"]),
    ("apigateway", "DeleteIntegration", GatewayChange, "Gateway", "apigateway:DELETE", &["/apis/*"]),
    ("apigateway", "DeleteRoute", GatewayChange, "Gateway", "apigateway:DELETE", &["/apis/*"]),
    ("apigateway", "DeleteStage", GatewayChange, "Gateway", "apigateway:DELETE", &["/apis/*"]),
    ("apigateway", "TagResource", GatewayChange, "Tags", "apigateway:POST", &["/tags/*"]),
    ("apigateway", "UntagResource", GatewayChange, "Tags", "apigateway:DELETE", &["/tags/*"]),
    ("lambda", "AddPermission", GatewayChange, "Permissions", "lambda:AddPermission", &["function"]),
    ("lambda", "RemovePermission", GatewayChange, "Permissions", "lambda:RemovePermission", &["function"]),
    ("logs", "CreateLogGroup", GatewayOptions, "AccessLogs", "logs:CreateLogGroup", &["log-group"]),
    ("logs", "DeleteLogGroup", GatewayOptions, "AccessLogs", "logs:DeleteLogGroup", &["log-group"]),
    ("logs", "DeleteRetentionPolicy", GatewayOptions, "AccessLogs", "logs:DeleteRetentionPolicy", &["log-group"]),
    ("logs", "PutRetentionPolicy", GatewayOptions, "AccessLogs", "logs:PutRetentionPolicy", &["log-group"]),
    ("logs", "TagResource", GatewayOptions, "AccessLogs", "logs:TagResource", &["log-group"]),
    ("logs", "UntagResource", GatewayOptions, "AccessLogs", "logs:UntagResource", &["log-group"]),
    ("logs", "AssociateKmsKey", GatewayOptions, "LogKey", "logs:AssociateKmsKey", &["log-group"]),
    ("logs", "DisassociateKmsKey", GatewayOptions, "LogKey", "logs:DisassociateKmsKey", &["log-group"]),
    (
        "logs",
        "DeleteSubscriptionFilter",
        GatewayOptions,
        "Subscription",
        "logs:DeleteSubscriptionFilter",
        &["log-group"],
    ),
    ("logs", "PutSubscriptionFilter", GatewayOptions, "Subscription", "logs:PutSubscriptionFilter", &["log-group"]),
    ("apigateway", "CreateDomainName", GatewayOptions, "CustomDomain", "apigateway:POST", &["/domainnames"]),
    ("apigateway", "CreateApiMapping", GatewayOptions, "CustomDomain", "apigateway:POST", &["/domainnames/*"]),
    ("apigateway", "UpdateApiMapping", GatewayOptions, "CustomDomain", "apigateway:PATCH", &["/domainnames/*"]),
    ("apigateway", "UpdateDomainName", GatewayOptions, "CustomDomain", "apigateway:PATCH", &["/domainnames/*"]),
    ("apigateway", "DeleteApiMapping", GatewayOptions, "CustomDomain", "apigateway:DELETE", &["/domainnames/*"]),
    ("apigateway", "DeleteDomainName", GatewayOptions, "CustomDomain", "apigateway:DELETE", &["/domainnames/*"]),
    (
        "route53",
        "ChangeResourceRecordSets",
        GatewayOptions,
        "DnsRecord",
        "route53:ChangeResourceRecordSets",
        &["hostedzone"],
    ),
    ("route53", "GetChange", GatewayOptions, "DnsRecord", "route53:GetChange", &["change"]),
];

/// A permission that AWS requires in addition to those that have the names of our calls.
const fn implied(
    service: &'static str,
    (policy, purpose): (Policy, &'static str),
    action: &'static str,
    resources: &'static [&'static str],
    condition: Condition,
    because: &'static str,
) -> Row {
    Row { service, operation: "", policy, purpose, action, resources, condition, because }
}

const VENDED: &str =
    "With access logs, `CreateStage` and `UpdateStage` set up the log delivery with the permissions of the caller";

/// Reports of users with the error of AWS: hashicorp/terraform-provider-aws#20634 and aws-amplify/amplify-cli#12316 for
/// `CreateStage` (on `/apis/<ID>/stages`), cloudtools/awacs#254 for `CreateDomainName`. A grant of POST on `/tags/*` is
/// not sufficient.
const TAGGED: &str = "AWS requires this action, by this name, to create a stage or a custom domain with tags. AWS's list of \
                      actions does not contain it, but IAM accepts it";

const UNTAGGED: &str = "AWS's list of actions has neither this action nor `apigateway:TagResource`, which AWS requires to \
                        create objects with tags. Whether AWS requires it to remove tags is not tested";

const IMPLIED: &[Row] = &[
    implied("apigateway", (GatewayChange, "Tags"), "apigateway:TagResource", &["/apis/*", "/tags/*"], Always, TAGGED),
    implied(
        "apigateway",
        (GatewayChange, "Tags"),
        "apigateway:UntagResource",
        &["/apis/*", "/tags/*"],
        Always,
        UNTAGGED,
    ),
    implied(
        "apigateway",
        (GatewayOptions, "CustomDomain"),
        "apigateway:TagResource",
        &["/domainnames", "/domainnames/*"],
        Always,
        TAGGED,
    ),
    implied(
        "apigateway",
        (GatewayOptions, "CustomDomain"),
        "apigateway:UntagResource",
        &["/domainnames", "/domainnames/*"],
        Always,
        UNTAGGED,
    ),
    implied(
        "apigateway",
        (GatewayChange, "Tags"),
        "apigateway:PUT",
        &["/tags/*"],
        Always,
        "The call for tags is a POST, but AWS's list of actions has PUT. Which of the two AWS requires is not tested",
    ),
    implied("logs", (GatewayOptions, "LogDelivery"), "logs:CreateLogDelivery", &["*"], Always, VENDED),
    implied("logs", (GatewayOptions, "LogDelivery"), "logs:DeleteLogDelivery", &["*"], Always, VENDED),
    implied("logs", (GatewayOptions, "LogDelivery"), "logs:DescribeLogGroups", &["*"], Always, VENDED),
    implied("logs", (GatewayOptions, "LogDelivery"), "logs:DescribeResourcePolicies", &["*"], Always, VENDED),
    implied("logs", (GatewayOptions, "LogDelivery"), "logs:GetLogDelivery", &["*"], Always, VENDED),
    implied("logs", (GatewayOptions, "LogDelivery"), "logs:ListLogDeliveries", &["*"], Always, VENDED),
    implied("logs", (GatewayOptions, "LogDelivery"), "logs:PutResourcePolicy", &["*"], Always, VENDED),
    implied("logs", (GatewayOptions, "LogDelivery"), "logs:UpdateLogDelivery", &["*"], Always, VENDED),
    implied(
        "iam",
        (GatewayOptions, "SubscriptionRole"),
        "iam:PassRole",
        &["role"],
        Condition::PassToLogs,
        "`PutSubscriptionFilter` for a stream passes the role that writes to the stream",
    ),
    implied(
        "iam",
        (GatewayOptions, "AuthorizerRole"),
        "iam:PassRole",
        &["role"],
        Condition::PassToApiGateway,
        "`CreateAuthorizer` with `authorizer_credentials_arn` passes that role",
    ),
    implied(
        "iam",
        (GatewayOptions, "ServiceLinkedRole"),
        "iam:CreateServiceLinkedRole",
        &["service-linked-role"],
        Condition::ServiceLinkedRole,
        "For the first custom domain of an account, API Gateway creates the role with the permissions of the caller",
    ),
];
