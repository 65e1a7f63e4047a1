//! Which IAM permission each call of the provider needs: one table, from which the guide `docs/guides/permissions.md`
//! is made and by which every test run is checked.
//!
//! The proxy fails a test in which the provider makes a call that has no row here. `suite/guides/permissions.rs`
//! compares the table with the calls in `src/aws`, and with AWS's own list of actions and resource types.

/// One document in the guide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Policy {
    /// For the provider block, whatever the resources.
    Provider,
    /// What a plan, a refresh and an import of a network read.
    NetworkRead,
    /// What an apply or a destroy of a network changes.
    NetworkChange,
    /// What it changes beside that for what is off unless a configuration turns it on.
    NetworkOptions,
    GatewayRead,
    GatewayChange,
    GatewayOptions,
}

/// On what a permission depends beside the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Condition {
    None,
    /// Only what carries the ownership tag of a network.
    Ours,
    /// Only in the call that makes the object.
    OnCreate,
    /// Only to make the service-linked role of API Gateway.
    ServiceLinkedRole,
    /// Only to hand a role to CloudWatch Logs.
    PassToLogs,
    /// Only to hand a role to API Gateway.
    PassToApiGateway,
}

/// One permission that one call needs. A call that needs several has several rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// As in the credential scope of a request.
    pub(crate) service: &'static str,
    /// The operation, as AWS names it. Empty where it is no call of ours that needs this; then `because` says what
    /// does.
    pub(crate) operation: &'static str,
    pub(crate) policy: Policy,
    /// What it is for, which is the statement's `Sid`: a row of [`PURPOSES`].
    pub(crate) purpose: &'static str,
    /// The IAM action; empty where AWS asks for no permission.
    pub(crate) action: &'static str,
    /// Names of [`arn`].
    pub(crate) resources: &'static [&'static str],
    pub(crate) condition: Condition,
    pub(crate) because: &'static str,
}

/// Whether the guide knows this call.
pub(crate) fn knows(service: &str, operation: &str) -> bool {
    !operation.is_empty() && rows().any(|row| row.service == service && row.operation == operation)
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

/// EC2's actions have the names of its operations, which lie in one table with the prefix.
fn operation_of_ec2(operation: &'static str) -> &'static str {
    static ACTIONS: std::sync::OnceLock<std::collections::BTreeMap<&'static str, String>> = std::sync::OnceLock::new();
    let all = || EC2.iter().flat_map(|row| row.2.iter().map(|name| (*name, format!("ec2:{name}")))).collect();
    &ACTIONS.get_or_init(all)[operation]
}

/// The ARN pattern of a resource, in the Region and the account that stand for the reader's.
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

use Condition::{None as Always, OnCreate, Ours};
use Policy::{GatewayChange, GatewayOptions, GatewayRead, NetworkChange, NetworkOptions, NetworkRead, Provider};

/// What statements are for, and what a configuration has that does without. A statement that has to say more than one
/// thing carries a number behind its purpose.
pub(crate) const PURPOSES: &[(Policy, &str, &str, &str)] = &[
    (
        Provider,
        "AssumeRole",
        "Roles of `assume_role`",
        "no `assume_role` in the provider block, nor a role in the profile",
    ),
    (NetworkRead, "Network", "All that a network consists of", ""),
    (NetworkRead, "Obstacles", "Names what others keep in what is to be deleted", "you can do without these names"),
    (
        NetworkRead,
        "IpamPool",
        "Sees that a pool has its range back before a VPC with that range is made",
        "no IPAM pool",
    ),
    (NetworkChange, "Network", "VPC, subnets, route tables and routes", ""),
    (NetworkChange, "TagOnCreate", "The ownership tags and yours, from the creating call on", ""),
    (NetworkChange, "TagLater", "Changed tags, and `fgw:state`", "the role may tag only what it makes (see below)"),
    (NetworkChange, "InternetGateway", "The internet gateway", "`create_igw = false`, or no public tier"),
    (NetworkChange, "NatGateway", "NAT gateways, public and private", "`num_nat_gateways = 0`"),
    (
        NetworkChange,
        "ElasticIp",
        "The addresses of NAT gateways",
        "`num_nat_gateways = 0`, `use_custom_nat_eips` or `enable_private_nat`",
    ),
    (
        NetworkOptions,
        "NatAddresses",
        "Further private addresses of NAT gateways",
        "`nat_secondary_private_ip_address_count` stays 0",
    ),
    (NetworkChange, "Endpoints", "The gateway endpoints", "`create_vpc_endpoints = false`"),
    (
        NetworkChange,
        "SecurityGroup",
        "Rules and tags of the default security group",
        "`enable_default_security_group = false`",
    ),
    (NetworkOptions, "NetworkAcl", "Rules and tags of the default network ACL", "`apply_default_nacl_rules = false`"),
    (NetworkOptions, "Propagation", "Routes of virtual private gateways", "no `*_propagating_vgws`"),
    (NetworkOptions, "Ipv6", "IPv6 ranges and blocks", "`enable_ipv6 = false`"),
    (NetworkOptions, "IpamPool", "Ranges from IPAM pools", "no `ipv4_ipam_pool_id` and no `ipv6_ipam_pool_id`"),
    (GatewayRead, "Gateway", "The API and all that belongs to it, custom domains included", ""),
    (GatewayRead, "Permissions", "Who may call the functions", ""),
    (GatewayRead, "AccessLogs", "The log group and its subscription", "no `access_log_logservice_group_name`"),
    (GatewayRead, "LogKey", "Looks up the key of the log group", "the key is given by its ARN, or there is none"),
    (GatewayRead, "Certificate", "Looks up the certificate", "no `domain_name`"),
    (GatewayRead, "DnsRecord", "The DNS record", "`create_dns_entry = false`"),
    (GatewayRead, "DnsImport", "Finds the DNS record in an import", "no import, or no `create_dns_entry`"),
    (GatewayChange, "Gateway", "The API, its routes, integrations, authorizers and stage", ""),
    (GatewayChange, "Tags", "The ownership tags and yours", ""),
    (GatewayChange, "Permissions", "Lets API Gateway and the log service call the functions", ""),
    (GatewayOptions, "AuthorizerRole", "Hands API Gateway a role", "no `authorizer_credentials_arn`"),
    (GatewayOptions, "AccessLogs", "The log group", "no `access_log_logservice_group_name`"),
    (GatewayOptions, "LogDelivery", "Lets API Gateway write to it", "no `access_log_logservice_group_name`"),
    (GatewayOptions, "LogKey", "Changes the key of the log group", "no `access_log_logservice_group_kms_key_id`"),
    (
        GatewayOptions,
        "Subscription",
        "Forwards log events",
        "no `access_log_logservice_group_subscription_destination_arn`",
    ),
    (
        GatewayOptions,
        "SubscriptionRole",
        "Hands the log service a role",
        "no `access_log_logservice_group_subscription_role_arn`",
    ),
    (GatewayOptions, "CustomDomain", "The custom domain and its mapping", "no `domain_name`"),
    (
        GatewayOptions,
        "ServiceLinkedRole",
        "Makes a role that API Gateway needs once in an account",
        "the account has it",
    ),
    (GatewayOptions, "DnsRecord", "The DNS record", "`create_dns_entry = false`"),
];

type Ec2 = (Policy, &'static str, &'static [&'static str], &'static [&'static str], Condition);

/// The calls of EC2, in groups of equal resources.
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

/// A permission that AWS asks for beside those that bear the names of our calls.
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

const VENDED: &str = "`CreateStage` and `UpdateStage` with a log destination set up the delivery in the caller's name";

const IMPLIED: &[Row] = &[
    implied(
        "apigateway",
        (GatewayChange, "Tags"),
        "apigateway:PUT",
        &["/tags/*"],
        Always,
        "AWS's list of actions has PUT for tags, the call is a POST: which of the two is asked for could not be tried",
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
        "`PutSubscriptionFilter` to a stream hands a role over",
    ),
    implied(
        "iam",
        (GatewayOptions, "AuthorizerRole"),
        "iam:PassRole",
        &["role"],
        Condition::PassToApiGateway,
        "`CreateAuthorizer` with a credentials role hands it over",
    ),
    implied(
        "iam",
        (GatewayOptions, "ServiceLinkedRole"),
        "iam:CreateServiceLinkedRole",
        &["service-linked-role"],
        Condition::ServiceLinkedRole,
        "API Gateway makes it in the caller's name with the first custom domain of an account",
    ),
];
