//! The permissions for gateways and for the provider block.

use super::Condition::{
    InRegion, None as Always, OurApi, PassToApiGateway, PassToLogs, Principals, RecordOfDomain, ServiceLinkedRole,
    WithApiMark,
};
use super::Policy::{GatewayChange, GatewayOptions, GatewayRead, Provider};
use super::{By, Calls, Feature, Implied, Needed, Purpose, Unrestricted};

/// The purposes of statements.
const PURPOSES: &[Purpose] = &[
    (
        Provider,
        "AssumeRole",
        "Assumes the roles of `assume_role` blocks and of the profile",
        Needed::Unless(&[], "neither the provider block nor the profile has a role to assume"),
    ),
    (GatewayRead, "Gateway", "The API and its child objects", Needed::Always),
    (GatewayRead, "CustomDomain", "The custom domain and its API mapping", Needed::Always),
    (
        GatewayRead,
        "VpcLinks",
        "The VPC links, and the lookup of each new `vpc_link_id`",
        Needed::If(&["vpc_links", "vpc_link_id"], ". An import needs it too, and a plan skips the lookup without it"),
    ),
    (
        GatewayRead,
        "VpcLinkSubnets",
        "Looks up the subnets that are new in the configuration",
        Needed::If(&["vpc_links"], ", or you need no check of the subnets in the plan"),
    ),
    (GatewayRead, "Permissions", "Reads the permissions to invoke the functions", Needed::Always),
    (
        GatewayRead,
        "Functions",
        "Looks up the functions that are new in the configuration",
        Needed::Unless(&[], "you do not need a warning about missing functions in the plan"),
    ),
    (
        GatewayRead,
        "AccessLogs",
        "The log group and its subscription",
        Needed::If(&["access_log_logservice_group_name"], ""),
    ),
    (
        GatewayRead,
        "LogKey",
        "Looks up the KMS key of the log group",
        Needed::If(
            &["access_log_logservice_group_kms_key_id"],
            ". If it is the ARN of a key, the plan then does not report a missing key",
        ),
    ),
    (
        GatewayRead,
        "Certificate",
        "Looks up the certificate",
        Needed::If(
            &["domain_name"],
            ". If `certificate_arn` is set, the plan then does not report a missing certificate",
        ),
    ),
    (GatewayRead, "DnsRecord", "The DNS record", Needed::If(&["create_dns_entry = true"], "")),
    (
        GatewayRead,
        "DnsImport",
        "Finds the DNS record during an import",
        Needed::Unless(&[], "you import no gateway with a DNS record"),
    ),
    (GatewayChange, "Gateway", "The API, its routes, integrations, authorizers and stage", Needed::Always),
    (GatewayChange, "Tags", "The ownership tags (`fgw:*`) and your tags", Needed::Always),
    (GatewayChange, "Permissions", "Allows API Gateway and CloudWatch Logs to invoke the functions", Needed::Always),
    (
        GatewayOptions,
        "AuthorizerRole",
        "Passes the roles of authorizers and integrations to API Gateway",
        Needed::If(&["authorizer_credentials_arn", "credentials_arn"], ""),
    ),
    (GatewayOptions, "AccessLogs", "The log group", Needed::If(&["access_log_logservice_group_name"], "")),
    (
        GatewayOptions,
        "LogDelivery",
        "Allows API Gateway to write to the log group",
        Needed::If(&["access_log_logservice_group_name"], ""),
    ),
    (
        GatewayOptions,
        "LogKey",
        "Sets the KMS key of the log group",
        Needed::If(&["access_log_logservice_group_kms_key_id"], ""),
    ),
    (
        GatewayOptions,
        "Subscription",
        "Forwards log events",
        Needed::If(&["access_log_logservice_group_subscription_destination_arn"], ""),
    ),
    (
        GatewayOptions,
        "SubscriptionRole",
        "Passes the role of the subscription to CloudWatch Logs",
        Needed::If(&["access_log_logservice_group_subscription_role_arn"], ""),
    ),
    (GatewayOptions, "VpcLinks", "The VPC links", Needed::If(&["vpc_links"], "")),
    (GatewayOptions, "CustomDomain", "The custom domain and its API mapping", Needed::If(&["domain_name"], "")),
    (
        GatewayOptions,
        "TrustStore",
        "Reads the trust store of mutual TLS. AWS does it with the permissions of the caller: conditions on source addresses \
         have to except `aws:ViaAWSService`",
        Needed::If(&["mutual_tls_authentication"], ""),
    ),
    (
        GatewayOptions,
        "ServiceLinkedRole",
        "Creates the service-linked role that API Gateway needs once per account for custom domains, VPC links and access \
         logs to Firehose",
        Needed::If(
            &["domain_name", "vpc_links", "access_log_destination_arn"],
            ", or the account already has the role",
        ),
    ),
    (GatewayOptions, "DnsRecord", "The DNS record", Needed::If(&["create_dns_entry = true"], "")),
];

const CALLS: &[(&str, &[Calls])] = &[
    (
        "sts",
        &[
            (Provider, "", &["GetCallerIdentity", "AssumeRoleWithWebIdentity"], &[], Always),
            (Provider, "AssumeRole", &["AssumeRole"], &["assumed-role"], Always),
        ],
    ),
    ("apigateway", API),
    ("ec2", &[(GatewayRead, "VpcLinkSubnets", &["DescribeSubnets"], &["*"], InRegion)]),
    (
        "lambda",
        &[
            (GatewayRead, "Permissions", &["GetPolicy"], FUNCTION, Always),
            (GatewayRead, "Functions", &["GetFunctionConfiguration"], FUNCTION, Always),
            (GatewayChange, "Permissions", &["AddPermission", "RemovePermission"], FUNCTION, Principals),
        ],
    ),
    ("logs", LOGS),
    ("kms", &[(GatewayRead, "LogKey", &["DescribeKey"], &["key"], Always)]),
    (
        "acm",
        &[
            (GatewayRead, "Certificate", &["ListCertificates"], &["*"], Always),
            (GatewayRead, "Certificate", &["DescribeCertificate"], &["certificate"], Always),
        ],
    ),
    (
        "route53",
        &[
            (GatewayRead, "DnsRecord", &["GetHostedZone", "ListResourceRecordSets"], &["hostedzone"], Always),
            (GatewayRead, "DnsImport", &["ListHostedZonesByName"], &["*"], Always),
            (GatewayOptions, "DnsRecord", &["ChangeResourceRecordSets"], &["hostedzone"], RecordOfDomain),
            (GatewayOptions, "DnsRecord", &["GetChange"], &["change"], Always),
        ],
    ),
];

const API: &[Calls] = &[
    (GatewayRead, "Gateway", &["GetApis"], &["/apis"], Always),
    (
        GatewayRead,
        "Gateway",
        &["GetApi", "GetAuthorizers", "GetDeployment", "GetIntegrations", "GetRoutes", "GetStage", "GetStages"],
        &["/apis/*"],
        Always,
    ),
    (GatewayRead, "Gateway", &["GetTags"], TAGS_OF_APIS, Always),
    (GatewayRead, "CustomDomain", &["GetDomainNames"], &["/domainnames"], Always),
    (
        GatewayRead,
        "CustomDomain",
        &["GetApiMappings", "GetDomainName"],
        &["/domainnames/api.example.com", "/domainnames/api.example.com/apimappings"],
        Always,
    ),
    (GatewayChange, "Gateway", &["CreateApi"], &["/apis"], WithApiMark),
    (GatewayChange, "Gateway", &["CreateStage"], &["/apis/*/stages"], WithApiMark),
    (GatewayChange, "Gateway", &["DeleteApi", "DeleteStage", "UpdateApi", "UpdateStage"], &["/apis/*"], OurApi),
    (
        GatewayChange,
        "Gateway",
        &["CreateAuthorizer", "CreateIntegration", "CreateRoute"],
        &["/apis/*/authorizers", "/apis/*/integrations", "/apis/*/routes"],
        Always,
    ),
    (
        GatewayChange,
        "Gateway",
        &[
            "DeleteAuthorizer",
            "DeleteIntegration",
            "DeleteRoute",
            "UpdateAuthorizer",
            "UpdateIntegration",
            "UpdateRoute",
        ],
        &["/apis/*/authorizers/*", "/apis/*/integrations/*", "/apis/*/routes/*"],
        Always,
    ),
    (
        GatewayChange,
        "Gateway",
        &["DeleteAccessLogSettings", "DeleteCorsConfiguration", "DeleteRouteSettings"],
        &["/apis/*/cors", "/apis/*/stages/*/accesslogsettings", "/apis/*/stages/*/routesettings/*"],
        Always,
    ),
    (GatewayChange, "Tags", &["TagResource", "UntagResource"], TAGS_OF_APIS, Always),
    (GatewayRead, "VpcLinks", &["GetVpcLink", "GetVpcLinks"], &["/vpclinks", "/vpclinks/*"], Always),
    (GatewayOptions, "VpcLinks", &["CreateVpcLink"], &["/vpclinks"], WithApiMark),
    (GatewayOptions, "VpcLinks", &["DeleteVpcLink", "UpdateVpcLink"], &["/vpclinks/*"], OurApi),
    (GatewayOptions, "CustomDomain", &["CreateDomainName"], &["/domainnames"], WithApiMark),
    (GatewayOptions, "CustomDomain", &["CreateApiMapping"], &["/domainnames/api.example.com/apimappings"], Always),
    (
        GatewayOptions,
        "CustomDomain",
        &["DeleteApiMapping", "UpdateApiMapping"],
        &["/domainnames/api.example.com/apimappings/*"],
        Always,
    ),
    (
        GatewayOptions,
        "CustomDomain",
        &["DeleteDomainName", "UpdateDomainName"],
        &["/domainnames/api.example.com"],
        OurApi,
    ),
];

const LOGS: &[Calls] = &[
    (GatewayRead, "AccessLogs", &["DescribeLogGroups"], &["*"], Always),
    (GatewayRead, "AccessLogs", &["ListTagsForResource"], &["log-group"], Always),
    (GatewayRead, "AccessLogs", &["DescribeSubscriptionFilters"], &["log-group-parts"], Always),
    (GatewayOptions, "AccessLogs", &["CreateLogGroup"], &["log-group-parts"], WithApiMark),
    (
        GatewayOptions,
        "AccessLogs",
        &["DeleteLogGroup", "DeleteRetentionPolicy", "PutRetentionPolicy"],
        &["log-group-parts"],
        OurApi,
    ),
    (GatewayOptions, "AccessLogs", &["TagResource", "UntagResource"], &["log-group"], OurApi),
    (GatewayOptions, "LogKey", &["AssociateKmsKey", "DisassociateKmsKey"], &["log-group-parts"], OurApi),
    (
        GatewayOptions,
        "Subscription",
        &["DeleteSubscriptionFilter", "PutSubscriptionFilter"],
        &["log-group-parts"],
        Always,
    ),
];

const FUNCTION: &[&str] = &["function", "function-version"];

/// The paths of the tags of APIs and stages. The last part of such a path is the ARN of the object, percent-encoded,
/// as in the `${UrlEncodedResourceARN}` of AWS's list.
const TAGS_OF_APIS: &[&str] = &["/tags/arn%3Aaws%3Aapigateway%3Aeu-central-1%3A%3A%2Fapis%2F*"];

/// The same for VPC links.
const TAGS_OF_LINKS: &[&str] = &["/tags/arn%3Aaws%3Aapigateway%3Aeu-central-1%3A%3A%2Fvpclinks%2F*"];

/// The same for custom domains.
const TAGS_OF_DOMAINS: &[&str] = &["/tags/arn%3Aaws%3Aapigateway%3Aeu-central-1%3A%3A%2Fdomainnames%2Fapi.example.com"];

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

/// `context` determines the requests for tags, because their resources follow from the path of the call.
const BY_PATH: By = (&[], "");

const IMPLIED: &[Implied] = &[
    (GatewayChange, "Tags", &["apigateway:TagResource"], &["/apis/*/stages"], Always, TAGGED, BY_PATH),
    (GatewayChange, "Tags", &["apigateway:TagResource"], TAGS_OF_APIS, Always, TAGGED, BY_PATH),
    (GatewayChange, "Tags", &["apigateway:UntagResource"], TAGS_OF_APIS, Always, UNTAGGED, BY_PATH),
    (GatewayChange, "Tags", &["apigateway:PUT"], TAGS_OF_APIS, Always, PUT, BY_PATH),
    (GatewayOptions, "VpcLinks", &["apigateway:TagResource"], &["/vpclinks"], Always, TAGGED, BY_PATH),
    (GatewayOptions, "VpcLinks", &["apigateway:TagResource"], TAGS_OF_LINKS, Always, TAGGED, BY_PATH),
    (GatewayOptions, "VpcLinks", &["apigateway:UntagResource"], TAGS_OF_LINKS, Always, UNTAGGED, BY_PATH),
    (GatewayOptions, "VpcLinks", &["apigateway:PUT"], TAGS_OF_LINKS, Always, PUT, BY_PATH),
    (
        GatewayOptions,
        "VpcLinks",
        &["apigateway:POST", "apigateway:DELETE"],
        TAGS_OF_LINKS,
        Always,
        "The calls for the tags of a VPC link are those for the tags of an API",
        BY_PATH,
    ),
    (GatewayOptions, "CustomDomain", &["apigateway:TagResource"], &["/domainnames"], Always, TAGGED, BY_PATH),
    (GatewayOptions, "CustomDomain", &["apigateway:TagResource"], TAGS_OF_DOMAINS, Always, TAGGED, BY_PATH),
    (GatewayOptions, "CustomDomain", &["apigateway:UntagResource"], TAGS_OF_DOMAINS, Always, UNTAGGED, BY_PATH),
    (GatewayOptions, "CustomDomain", &["apigateway:PUT"], TAGS_OF_DOMAINS, Always, PUT, BY_PATH),
    (
        GatewayOptions,
        "CustomDomain",
        &["apigateway:POST", "apigateway:DELETE"],
        TAGS_OF_DOMAINS,
        Always,
        TAGS_OF_DOMAIN,
        BY_PATH,
    ),
    (
        GatewayOptions,
        "AccessLogs",
        &["logs:TagResource"],
        &["log-group"],
        WithApiMark,
        "`CreateLogGroup` with tags also needs the permission to tag the group",
        (&["CreateLogGroup"], "tags"),
    ),
    (
        GatewayOptions,
        "LogDelivery",
        &[
            "logs:CreateLogDelivery",
            "logs:DeleteLogDelivery",
            "logs:DescribeResourcePolicies",
            "logs:GetLogDelivery",
            "logs:ListLogDeliveries",
            "logs:PutResourcePolicy",
            "logs:UpdateLogDelivery",
        ],
        &["*"],
        Always,
        "With access logs, `CreateStage` and `UpdateStage` set up the log delivery with the permissions of the caller",
        (&["CreateStage", "UpdateStage"], "accessLogSettings~:logs:"),
    ),
    (
        GatewayOptions,
        "SubscriptionRole",
        &["iam:PassRole"],
        &["subscription-role"],
        PassToLogs,
        "`PutSubscriptionFilter` for a stream passes the role that writes to the stream",
        (&["PutSubscriptionFilter"], "roleArn"),
    ),
    (
        GatewayOptions,
        "AuthorizerRole",
        &["iam:PassRole"],
        &["authorizer-role"],
        PassToApiGateway,
        "`CreateAuthorizer` with `authorizer_credentials_arn` passes that role",
        (&["CreateAuthorizer", "UpdateAuthorizer"], "authorizerCredentialsArn"),
    ),
    (
        GatewayOptions,
        "AuthorizerRole",
        &["iam:PassRole"],
        &["authorizer-role"],
        PassToApiGateway,
        "`CreateIntegration` with `credentials_arn` passes that role",
        (&["CreateIntegration", "UpdateIntegration"], "credentialsArn"),
    ),
    (
        GatewayOptions,
        "TrustStore",
        &["s3:GetObject"],
        &["truststore"],
        Always,
        "`CreateDomainName` and `UpdateDomainName` with mutual TLS read the trust store",
        (&["CreateDomainName", "UpdateDomainName"], "mutualTlsAuthentication~s3://"),
    ),
    (
        GatewayOptions,
        "TrustStore",
        &["s3:GetObjectVersion"],
        &["truststore"],
        Always,
        "The same with `truststore_version`",
        (&["CreateDomainName", "UpdateDomainName"], "mutualTlsAuthentication~truststoreVersion"),
    ),
    (
        GatewayOptions,
        "ServiceLinkedRole",
        &["iam:CreateServiceLinkedRole"],
        &["service-linked-role"],
        ServiceLinkedRole,
        "For the first custom domain or VPC link of an account, API Gateway creates the role with the permissions of the \
         caller",
        (&["CreateDomainName", "CreateVpcLink"], ""),
    ),
    (
        GatewayOptions,
        "ServiceLinkedRole",
        &["iam:CreateServiceLinkedRole"],
        &["service-linked-role"],
        ServiceLinkedRole,
        "API Gateway writes access logs to Firehose with this role, and creates it like that",
        (&["CreateStage", "UpdateStage"], "accessLogSettings~:firehose:"),
    ),
];

/// Why no condition restricts a statement, and what to fill in instead.
const UNRESTRICTED: &[Unrestricted] = &[
    (Provider, "AssumeRole", "sts:AssumeRole", "The role is yours: fill in its name"),
    (
        GatewayRead,
        "Gateway",
        "apigateway:GET",
        "It changes nothing, and a refresh must report an API that has lost its tags. AWS assigns the ID of an API, so \
         fill it in as soon as the API exists",
    ),
    (GatewayRead, "CustomDomain", "apigateway:GET", "It changes nothing: fill in your domain name"),
    (GatewayRead, "VpcLinks", "apigateway:GET", "It changes nothing. AWS assigns the IDs of links"),
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
    (GatewayOptions, "VpcLinks", "apigateway:DELETE", LINK_TAGS),
    (
        GatewayOptions,
        "VpcLinks",
        "apigateway:TagResource",
        "AWS does not document this action, and so no conditions for it",
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
    (
        GatewayOptions,
        "Subscription",
        "logs:DeleteSubscriptionFilter",
        "A group that the gateway uses without owning it has no tag of it: fill in the name of the log group",
    ),
    (
        GatewayOptions,
        "TrustStore",
        "s3:GetObject",
        "It changes nothing, and the trust store is yours: fill in its bucket and key",
    ),
];

/// AWS's developer guide, "API Gateway resources that can be tagged": only in the V1 API, which has no HTTP APIs, child
/// objects inherit the tags of their API.
const CHILD: &str = "Routes, integrations, authorizers and settings of an HTTP API have no tags and do not inherit those of \
                     the API. Fill in the ID of the API as soon as it exists";

const TAGS: &str = "AWS lists no conditions for the path `/tags`. Fill in the ID of the API as soon as it exists";

const LINK_TAGS: &str = "AWS lists no conditions for the path `/tags`, and assigns the IDs of links";

const DOMAIN: &str = "API mappings have no tags of their own, and AWS lists no conditions for the path `/tags`: fill in your \
                      domain name";

pub(super) const FEATURE: Feature = Feature {
    purposes: PURPOSES,
    calls: CALLS,
    implied: IMPLIED,
    unrestricted: UNRESTRICTED,
    kinds: &[],
    associated: &[],
};
