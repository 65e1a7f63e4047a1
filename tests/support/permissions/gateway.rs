//! The permissions for gateways and for the provider block: the calls of all services but EC2.

use super::Condition::{
    self, None as Always, OurApi, PassToApiGateway, PassToLogs, Principals, RecordOfDomain, ServiceLinkedRole,
    WithApiMark,
};
use super::Policy::{self, GatewayChange, GatewayOptions, GatewayRead, Provider};
use super::{Purpose, Row};

/// The purposes of statements.
pub(super) const PURPOSES: &[Purpose] = &[
    (
        Provider,
        "AssumeRole",
        "Assumes the roles of `assume_role` blocks and of the profile",
        "neither the provider block nor the profile has a role to assume",
    ),
    (GatewayRead, "Gateway", "The API and its child objects", ""),
    (GatewayRead, "CustomDomain", "The custom domain and its API mapping", ""),
    (GatewayRead, "Permissions", "Reads the permissions to invoke the functions", ""),
    (
        GatewayRead,
        "Functions",
        "Looks up the functions that are new in the configuration",
        "you do not need a warning about missing functions in the plan",
    ),
    (GatewayRead, "AccessLogs", "The log group and its subscription", "no `access_log_logservice_group_name`"),
    (
        GatewayRead,
        "LogKey",
        "Looks up the KMS key of the log group",
        "no `access_log_logservice_group_kms_key_id`. If it is the ARN of a key, the plan then does not report a missing key",
    ),
    (
        GatewayRead,
        "Certificate",
        "Looks up the certificate",
        "no `domain_name`. If `certificate_arn` is set, the plan then does not report a missing certificate",
    ),
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

/// A group of calls of one service that need one action on the same resources.
pub(super) type Calls =
    (&'static str, &'static [&'static str], (Policy, &'static str), &'static str, &'static [&'static str], Condition);

pub(super) const CALLS: &[Calls] = &[
    ("sts", &["GetCallerIdentity", "AssumeRoleWithWebIdentity"], (Provider, ""), "", &[], Always),
    ("sts", &["AssumeRole"], (Provider, "AssumeRole"), "sts:AssumeRole", &["assumed-role"], Always),
    ("apigateway", &["GetApis"], (GatewayRead, "Gateway"), "apigateway:GET", &["/apis"], Always),
    (
        "apigateway",
        &["GetApi", "GetAuthorizers", "GetDeployment", "GetIntegrations", "GetRoutes", "GetStage", "GetStages"],
        (GatewayRead, "Gateway"),
        "apigateway:GET",
        &["/apis/*"],
        Always,
    ),
    ("apigateway", &["GetTags"], (GatewayRead, "Gateway"), "apigateway:GET", TAGS_OF_APIS, Always),
    ("apigateway", &["GetDomainNames"], (GatewayRead, "CustomDomain"), "apigateway:GET", &["/domainnames"], Always),
    (
        "apigateway",
        &["GetApiMappings", "GetDomainName"],
        (GatewayRead, "CustomDomain"),
        "apigateway:GET",
        &["/domainnames/api.example.com", "/domainnames/api.example.com/apimappings"],
        Always,
    ),
    ("lambda", &["GetPolicy"], (GatewayRead, "Permissions"), "lambda:GetPolicy", FUNCTION, Always),
    (
        "lambda",
        &["GetFunctionConfiguration"],
        (GatewayRead, "Functions"),
        "lambda:GetFunctionConfiguration",
        FUNCTION,
        Always,
    ),
    ("logs", &["DescribeLogGroups"], (GatewayRead, "AccessLogs"), "logs:DescribeLogGroups", &["*"], Always),
    ("logs", &["ListTagsForResource"], (GatewayRead, "AccessLogs"), "logs:ListTagsForResource", &["log-group"], Always),
    (
        "logs",
        &["DescribeSubscriptionFilters"],
        (GatewayRead, "AccessLogs"),
        "logs:DescribeSubscriptionFilters",
        &["log-group-parts"],
        Always,
    ),
    ("kms", &["DescribeKey"], (GatewayRead, "LogKey"), "kms:DescribeKey", &["key"], Always),
    ("acm", &["ListCertificates"], (GatewayRead, "Certificate"), "acm:ListCertificates", &["*"], Always),
    (
        "acm",
        &["DescribeCertificate"],
        (GatewayRead, "Certificate"),
        "acm:DescribeCertificate",
        &["certificate"],
        Always,
    ),
    ("route53", &["GetHostedZone"], (GatewayRead, "DnsRecord"), "route53:GetHostedZone", &["hostedzone"], Always),
    (
        "route53",
        &["ListResourceRecordSets"],
        (GatewayRead, "DnsRecord"),
        "route53:ListResourceRecordSets",
        &["hostedzone"],
        Always,
    ),
    (
        "route53",
        &["ListHostedZonesByName"],
        (GatewayRead, "DnsImport"),
        "route53:ListHostedZonesByName",
        &["*"],
        Always,
    ),
    ("apigateway", &["CreateApi"], (GatewayChange, "Gateway"), "apigateway:POST", &["/apis"], WithApiMark),
    ("apigateway", &["CreateStage"], (GatewayChange, "Gateway"), "apigateway:POST", &["/apis/*/stages"], WithApiMark),
    ("apigateway", &["UpdateApi", "UpdateStage"], (GatewayChange, "Gateway"), "apigateway:PATCH", &["/apis/*"], OurApi),
    (
        "apigateway",
        &["DeleteApi", "DeleteStage"],
        (GatewayChange, "Gateway"),
        "apigateway:DELETE",
        &["/apis/*"],
        OurApi,
    ),
    (
        "apigateway",
        &["CreateAuthorizer", "CreateIntegration", "CreateRoute"],
        (GatewayChange, "Gateway"),
        "apigateway:POST",
        &["/apis/*/authorizers", "/apis/*/integrations", "/apis/*/routes"],
        Always,
    ),
    (
        "apigateway",
        &["UpdateAuthorizer", "UpdateIntegration", "UpdateRoute"],
        (GatewayChange, "Gateway"),
        "apigateway:PATCH",
        CHILDREN,
        Always,
    ),
    (
        "apigateway",
        &["DeleteAuthorizer", "DeleteIntegration", "DeleteRoute"],
        (GatewayChange, "Gateway"),
        "apigateway:DELETE",
        CHILDREN,
        Always,
    ),
    (
        "apigateway",
        &["DeleteAccessLogSettings", "DeleteCorsConfiguration"],
        (GatewayChange, "Gateway"),
        "apigateway:DELETE",
        &["/apis/*/cors", "/apis/*/stages/*/accesslogsettings"],
        Always,
    ),
    ("apigateway", &["TagResource"], (GatewayChange, "Tags"), "apigateway:POST", TAGS_OF_APIS, Always),
    ("apigateway", &["UntagResource"], (GatewayChange, "Tags"), "apigateway:DELETE", TAGS_OF_APIS, Always),
    ("lambda", &["AddPermission"], (GatewayChange, "Permissions"), "lambda:AddPermission", FUNCTION, Principals),
    ("lambda", &["RemovePermission"], (GatewayChange, "Permissions"), "lambda:RemovePermission", FUNCTION, Principals),
    (
        "logs",
        &["CreateLogGroup"],
        (GatewayOptions, "AccessLogs"),
        "logs:CreateLogGroup",
        &["log-group-parts"],
        WithApiMark,
    ),
    ("logs", &["DeleteLogGroup"], (GatewayOptions, "AccessLogs"), "logs:DeleteLogGroup", &["log-group-parts"], OurApi),
    (
        "logs",
        &["DeleteRetentionPolicy"],
        (GatewayOptions, "AccessLogs"),
        "logs:DeleteRetentionPolicy",
        &["log-group-parts"],
        OurApi,
    ),
    (
        "logs",
        &["PutRetentionPolicy"],
        (GatewayOptions, "AccessLogs"),
        "logs:PutRetentionPolicy",
        &["log-group-parts"],
        OurApi,
    ),
    ("logs", &["TagResource"], (GatewayOptions, "AccessLogs"), "logs:TagResource", &["log-group"], OurApi),
    ("logs", &["UntagResource"], (GatewayOptions, "AccessLogs"), "logs:UntagResource", &["log-group"], OurApi),
    ("logs", &["AssociateKmsKey"], (GatewayOptions, "LogKey"), "logs:AssociateKmsKey", &["log-group-parts"], OurApi),
    (
        "logs",
        &["DisassociateKmsKey"],
        (GatewayOptions, "LogKey"),
        "logs:DisassociateKmsKey",
        &["log-group-parts"],
        OurApi,
    ),
    (
        "logs",
        &["DeleteSubscriptionFilter"],
        (GatewayOptions, "Subscription"),
        "logs:DeleteSubscriptionFilter",
        &["log-group-parts"],
        OurApi,
    ),
    (
        "logs",
        &["PutSubscriptionFilter"],
        (GatewayOptions, "Subscription"),
        "logs:PutSubscriptionFilter",
        &["log-group-parts"],
        OurApi,
    ),
    (
        "apigateway",
        &["CreateDomainName"],
        (GatewayOptions, "CustomDomain"),
        "apigateway:POST",
        &["/domainnames"],
        WithApiMark,
    ),
    (
        "apigateway",
        &["CreateApiMapping"],
        (GatewayOptions, "CustomDomain"),
        "apigateway:POST",
        &["/domainnames/api.example.com/apimappings"],
        Always,
    ),
    (
        "apigateway",
        &["UpdateApiMapping"],
        (GatewayOptions, "CustomDomain"),
        "apigateway:PATCH",
        &["/domainnames/api.example.com/apimappings/*"],
        Always,
    ),
    (
        "apigateway",
        &["DeleteApiMapping"],
        (GatewayOptions, "CustomDomain"),
        "apigateway:DELETE",
        &["/domainnames/api.example.com/apimappings/*"],
        Always,
    ),
    (
        "apigateway",
        &["UpdateDomainName"],
        (GatewayOptions, "CustomDomain"),
        "apigateway:PATCH",
        &["/domainnames/api.example.com"],
        OurApi,
    ),
    (
        "apigateway",
        &["DeleteDomainName"],
        (GatewayOptions, "CustomDomain"),
        "apigateway:DELETE",
        &["/domainnames/api.example.com"],
        OurApi,
    ),
    (
        "route53",
        &["ChangeResourceRecordSets"],
        (GatewayOptions, "DnsRecord"),
        "route53:ChangeResourceRecordSets",
        &["hostedzone"],
        RecordOfDomain,
    ),
    ("route53", &["GetChange"], (GatewayOptions, "DnsRecord"), "route53:GetChange", &["change"], Always),
];

const FUNCTION: &[&str] = &["function", "function-version"];

const CHILDREN: &[&str] = &["/apis/*/authorizers/*", "/apis/*/integrations/*", "/apis/*/routes/*"];

/// The paths of the tags of APIs and stages. The last part of such a path is the ARN of the object, percent-encoded,
/// as in the `${UrlEncodedResourceARN}` of AWS's list.
const TAGS_OF_APIS: &[&str] = &["/tags/arn%3Aaws%3Aapigateway%3Aeu-central-1%3A%3A%2Fapis%2F*"];

/// The same for custom domains.
const TAGS_OF_DOMAINS: &[&str] = &["/tags/arn%3Aaws%3Aapigateway%3Aeu-central-1%3A%3A%2Fdomainnames%2Fapi.example.com"];

/// A permission that AWS requires in addition to those that have the names of our calls.
pub(super) const fn implied(
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

const PUT: &str =
    "The call for tags is a POST, but AWS's list of actions has PUT. Which of the two AWS requires is not tested";

const TAGS_OF_DOMAIN: &str = "The calls for the tags of a custom domain are those for the tags of an API";

pub(super) const IMPLIED: &[Row] = &[
    implied("apigateway", (GatewayChange, "Tags"), "apigateway:TagResource", &["/apis/*/stages"], Always, TAGGED),
    implied("apigateway", (GatewayChange, "Tags"), "apigateway:TagResource", TAGS_OF_APIS, Always, TAGGED),
    implied("apigateway", (GatewayChange, "Tags"), "apigateway:UntagResource", TAGS_OF_APIS, Always, UNTAGGED),
    implied("apigateway", (GatewayChange, "Tags"), "apigateway:PUT", TAGS_OF_APIS, Always, PUT),
    implied(
        "apigateway",
        (GatewayOptions, "CustomDomain"),
        "apigateway:TagResource",
        &["/domainnames"],
        Always,
        TAGGED,
    ),
    implied("apigateway", (GatewayOptions, "CustomDomain"), "apigateway:TagResource", TAGS_OF_DOMAINS, Always, TAGGED),
    implied(
        "apigateway",
        (GatewayOptions, "CustomDomain"),
        "apigateway:UntagResource",
        TAGS_OF_DOMAINS,
        Always,
        UNTAGGED,
    ),
    implied("apigateway", (GatewayOptions, "CustomDomain"), "apigateway:PUT", TAGS_OF_DOMAINS, Always, PUT),
    implied("apigateway", (GatewayOptions, "CustomDomain"), "apigateway:POST", TAGS_OF_DOMAINS, Always, TAGS_OF_DOMAIN),
    implied(
        "apigateway",
        (GatewayOptions, "CustomDomain"),
        "apigateway:DELETE",
        TAGS_OF_DOMAINS,
        Always,
        TAGS_OF_DOMAIN,
    ),
    implied(
        "logs",
        (GatewayOptions, "AccessLogs"),
        "logs:TagResource",
        &["log-group"],
        WithApiMark,
        "`CreateLogGroup` with tags also needs the permission to tag the group",
    ),
    implied("logs", (GatewayOptions, "LogDelivery"), "logs:CreateLogDelivery", &["*"], Always, VENDED),
    implied("logs", (GatewayOptions, "LogDelivery"), "logs:DeleteLogDelivery", &["*"], Always, VENDED),
    implied("logs", (GatewayOptions, "LogDelivery"), "logs:DescribeResourcePolicies", &["*"], Always, VENDED),
    implied("logs", (GatewayOptions, "LogDelivery"), "logs:GetLogDelivery", &["*"], Always, VENDED),
    implied("logs", (GatewayOptions, "LogDelivery"), "logs:ListLogDeliveries", &["*"], Always, VENDED),
    implied("logs", (GatewayOptions, "LogDelivery"), "logs:PutResourcePolicy", &["*"], Always, VENDED),
    implied("logs", (GatewayOptions, "LogDelivery"), "logs:UpdateLogDelivery", &["*"], Always, VENDED),
    implied(
        "iam",
        (GatewayOptions, "SubscriptionRole"),
        "iam:PassRole",
        &["subscription-role"],
        PassToLogs,
        "`PutSubscriptionFilter` for a stream passes the role that writes to the stream",
    ),
    implied(
        "iam",
        (GatewayOptions, "AuthorizerRole"),
        "iam:PassRole",
        &["authorizer-role"],
        PassToApiGateway,
        "`CreateAuthorizer` with `authorizer_credentials_arn` passes that role",
    ),
    implied(
        "iam",
        (GatewayOptions, "ServiceLinkedRole"),
        "iam:CreateServiceLinkedRole",
        &["service-linked-role"],
        ServiceLinkedRole,
        "For the first custom domain of an account, API Gateway creates the role with the permissions of the caller",
    ),
];

/// Why no condition restricts a statement, and what to fill in instead.
pub(super) const UNRESTRICTED: &[(Policy, &str, &str, &str)] = &[
    (Provider, "AssumeRole", "sts:AssumeRole", "The role is yours: fill in its name"),
    (
        GatewayRead,
        "Gateway",
        "apigateway:GET",
        "It changes nothing, and a refresh must report an API that has lost its tags. AWS assigns the ID of an API, so \
         fill it in as soon as the API exists",
    ),
    (GatewayRead, "CustomDomain", "apigateway:GET", "It changes nothing: fill in your domain name"),
    (GatewayRead, "Permissions", "lambda:GetPolicy", "The functions are yours: fill in their names"),
    (GatewayRead, "Functions", "lambda:GetFunctionConfiguration", "The functions are yours: fill in their names"),
    (
        GatewayRead,
        "AccessLogs",
        "logs:DescribeLogGroups",
        "AWS supports no resources and no conditions for this action",
    ),
    (
        GatewayRead,
        "AccessLogs",
        "logs:ListTagsForResource",
        "It changes nothing, and shows whether the group has the tags: fill in the name of the log group",
    ),
    (
        GatewayRead,
        "AccessLogs",
        "logs:DescribeSubscriptionFilters",
        "It changes nothing: fill in the name of the log group",
    ),
    (GatewayRead, "LogKey", "kms:DescribeKey", "The key is yours: fill in its ID"),
    (GatewayRead, "Certificate", "acm:ListCertificates", "AWS supports no resources and no conditions for this action"),
    (
        GatewayRead,
        "Certificate",
        "acm:DescribeCertificate",
        "The certificates are yours. The provider looks for one that fits the domain name, so fill in its ID only if it \
         never changes",
    ),
    (GatewayRead, "DnsRecord", "route53:GetHostedZone", "The hosted zone is yours: fill in its ID"),
    (
        GatewayRead,
        "DnsImport",
        "route53:ListHostedZonesByName",
        "AWS supports no resources and no conditions for this action",
    ),
    (GatewayChange, "Gateway", "apigateway:DELETE", CHILD),
    (GatewayChange, "Gateway", "apigateway:PATCH", CHILD),
    (GatewayChange, "Gateway", "apigateway:POST", CHILD),
    (GatewayChange, "Tags", "apigateway:DELETE", TAGS),
    (GatewayChange, "Tags", "apigateway:TagResource", "AWS does not document this action, and so no conditions for it"),
    (
        GatewayOptions,
        "LogDelivery",
        "logs:CreateLogDelivery",
        "AWS supports no resources and no conditions for these actions",
    ),
    (GatewayOptions, "CustomDomain", "apigateway:DELETE", DOMAIN),
    (GatewayOptions, "CustomDomain", "apigateway:PATCH", DOMAIN),
    (GatewayOptions, "CustomDomain", "apigateway:POST", DOMAIN),
    (GatewayOptions, "CustomDomain", "apigateway:PUT", DOMAIN),
    (
        GatewayOptions,
        "CustomDomain",
        "apigateway:TagResource",
        "AWS does not document this action, and so no conditions for it: fill in your domain name",
    ),
    (GatewayOptions, "DnsRecord", "route53:GetChange", "It changes nothing, and AWS assigns the ID of a change"),
];

/// AWS's developer guide, "API Gateway resources that can be tagged": only in the V1 API, which has no HTTP APIs, child
/// objects inherit the tags of their API.
const CHILD: &str = "Routes, integrations, authorizers and settings of an HTTP API have no tags and do not inherit those of \
                     the API. Fill in the ID of the API as soon as it exists";

const TAGS: &str = "AWS lists no conditions for the path `/tags`. Fill in the ID of the API as soon as it exists";

const DOMAIN: &str = "API mappings have no tags of their own, and AWS lists no conditions for the path `/tags`: fill in your \
                      domain name";
