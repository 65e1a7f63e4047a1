//! Classification of AWS's error codes. Only this file and `missing` compare codes, so that a new or renamed code
//! requires a change only here.
//!
//! A code with the same meaning in all services maps to a [`Cause`]. The functions below are for codes with a meaning
//! in one place only.
//!
//! Comments name the evidence for codes and texts: "recorded" and an action for a recorded answer of AWS, or a public
//! issue that quotes one.

pub(crate) mod missing;

use crate::cloud::{Cause, Failure};

/// The cause of a failure with this code and message, which determines what the caller does next.
pub(crate) fn cause(code: Option<&str>, message: &str) -> Cause {
    let Some(code) = code else { return Cause::Other };
    if is_throttle(Some(code)) {
        return Cause::Throttled;
    }
    match code {
        // Without a dot, unlike every other code of EC2: gruntwork-io/cloud-nuke#325
        "NatGatewayNotFound" => Cause::NotFound,
        // API Gateway and KMS. Recorded: GetApi, GetStage, DescribeKey.
        "NotFoundException" => Cause::NotFound,
        // Lambda and CloudWatch Logs. Recorded: GetPolicy, AddPermission, RemovePermission,
        // DescribeSubscriptionFilters. ACM: ansible-collections/amazon.aws#622
        "ResourceNotFoundException" => Cause::NotFound,
        // ReplaceRoute returns it for a missing route, see getmoto/moto#6425, which was compared with AWS.
        "InvalidParameterValue" if message.contains("There is no route defined for") => Cause::NotFound,
        // Recorded: DeleteSubnet, DeleteInternetGateway.
        "DependencyViolation" => Cause::InUse,
        // DeleteVpcEndpoints, for the gateway endpoint of S3: cloudposse/terraform-aws-vpc#153
        "InvalidParameter" if is_private_dns_dependency(message) => Cause::InUse,
        // ACM. Recorded: DeleteCertificate.
        "ResourceInUseException" => Cause::InUse,
        // The list of error codes in EC2's API reference.
        "InvalidGroup.Duplicate" => Cause::Exists,
        // ansible/ansible#59863
        "RouteAlreadyExists" => Cause::Exists,
        // ansible-collections/amazon.aws#2592
        "NetworkAclEntryAlreadyExists" => Cause::Exists,
        // Addresses of NAT gateways: hashicorp/terraform#13836
        "Resource.AlreadyAssociated" => Cause::Exists,
        // hashicorp/terraform#33470
        "InvalidSubnet.Conflict" => Cause::Exists,
        // CloudWatch Logs. Recorded: CreateLogGroup.
        "ResourceAlreadyExistsException" => Cause::Exists,
        // API Gateway and Lambda use one code for several errors, which only the message distinguishes.
        "ConflictException" | "ResourceConflictException" => conflict(message),
        // CloudWatch Logs returns it while another change of the same log group is in progress: aws/aws-cdk#17546
        "OperationAbortedException" => Cause::Throttled,
        // EC2: hashicorp/terraform-provider-aws#34234
        "UnauthorizedOperation" => Cause::Denied,
        // Route 53: pcorliss/ruby_route_53#16
        "AccessDenied" => Cause::Denied,
        // API Gateway, KMS and CloudWatch Logs. Recorded: GetAccount, DescribeKey, PutSubscriptionFilter.
        "AccessDeniedException" => Cause::Denied,
        _ if is_credential_code(code, message) => Cause::Credentials,
        // Recorded for subnets, internet gateways, addresses, security groups and network interfaces.
        _ if code.ends_with(".NotFound") => Cause::NotFound,
        // IPv6 ranges: hashicorp/terraform-provider-aws#29077 (VPC), hashicorp/terraform-provider-aws#3562 (subnet).
        _ if code.ends_with(".InUse") => Cause::InUse,
        // API reference of CreateFlowLogs.
        "FlowLogAlreadyExists" => Cause::Exists,
        // The list of error codes in EC2's API reference. A flow log has no users, so an old one may go first; the
        // quotas of endpoints, NAT gateways and addresses stay errors, because there this would interrupt traffic.
        "FlowLogsLimitExceeded" => Cause::QuotaExceeded,
        "LogDestinationNotFoundException" => Cause::NotFound,
        // Recorded: AuthorizeSecurityGroupIngress.
        _ if code.ends_with(".Duplicate") => Cause::Exists,
        _ => Cause::Other,
    }
}

/// Whether an S3 interface endpoint needs the gateway endpoint that is to be deleted. The message of AWS names it:
/// "Gateway endpoint cannot be deleted while Interface endpoint vpce-... for the service has
/// PrivateDnsOnlyForInboundResolverEndpoint set to true." (cloudposse/terraform-aws-vpc#153)
fn is_private_dns_dependency(message: &str) -> bool {
    message.contains("cannot be deleted") && message.contains("PrivateDnsOnlyForInboundResolverEndpoint")
}

fn conflict(message: &str) -> Cause {
    let message = message.to_lowercase();
    // API Gateway. Recorded: CreateAuthorizer of the REST API. HTTP API: hashicorp/terraform-provider-aws#40575
    if message.contains("concurrent modification") {
        Cause::Throttled
    // Lambda. Recorded: AddPermission. API Gateway: anomalyco/sst#5031 (route), aws/aws-cdk#22660 (mapping)
    } else if message.contains("already exists") {
        Cause::Exists
    // API Gateway: milliHQ/terraform-aws-next-js#247 (integration), anomalyco/sst#5586 (authorizer)
    } else if message.contains("referenced") {
        Cause::InUse
    // Lambda: hashicorp/terraform#29604
    } else if message.contains("in progress") {
        Cause::Throttled
    } else {
        Cause::Other
    }
}

/// Whether AWS rejects the credentials of a call, whatever the call is. The codes are those of expired temporary
/// credentials, of keys that do not exist, of an invalid signature, and of a clock that differs. Source: the lists of
/// common errors in the API references of EC2, STS and CloudWatch Logs.
fn is_credential_code(code: &str, message: &str) -> bool {
    let codes = [
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidClientTokenId",
        "UnrecognizedClientException",
        "InvalidAccessKeyId",
        "InvalidSignatureException",
        "SignatureDoesNotMatch",
        "RequestExpired",
    ];
    codes.contains(&code) || (code == "AuthFailure" && is_credential_text(message))
}

/// EC2 returns `AuthFailure` for credentials that it cannot validate (aws/aws-sdk-java-v2#2981), and for an object that
/// it does not let the caller use.
fn is_credential_text(message: &str) -> bool {
    message.contains("was not able to validate the provided access credentials")
}

/// Whether AWS throttled the call. `LimitExceededException` is not a throttling code, although the SDK retries it: it
/// is the quota error of CloudWatch Logs.
///
/// - `ThrottlingException` is recorded for DescribeLogGroups, without a message.
/// - `TooManyRequestsException` is recorded for GetAccount of API Gateway. UpdateDomainName: aws/chalice#2043
/// - Route 53: pcorliss/ruby_route_53#13 (`Throttling`), pcorliss/ruby_route_53#34 (`PriorRequestNotComplete`)
/// - The others are those of the retry classifier of the AWS SDK, as far as a service of this provider may return them.
pub(crate) fn is_throttle(code: Option<&str>) -> bool {
    matches!(
        code,
        Some(
            "RequestLimitExceeded"
                | "Throttling"
                | "ThrottlingException"
                | "ThrottledException"
                | "RequestThrottled"
                | "RequestThrottledException"
                | "TooManyRequestsException"
                | "EC2ThrottledException"
                | "PriorRequestNotComplete"
                | "SlowDown"
        )
    )
}

fn has_code(failure: &Failure, codes: &[&str]) -> bool {
    failure.code.as_deref().is_some_and(|code| codes.contains(&code))
}

/// All services: the parameters were rejected, among them unknown ones. API references of ACM and of AWS's common
/// errors.
pub(crate) fn is_rejected_parameter(failure: &Failure) -> bool {
    let codes = ["ValidationException", "InvalidArgsException", "InvalidParameterException", "SerializationException"];
    has_code(failure, &codes)
}

/// API Gateway: another change of the API is in progress. This is the only transient conflict. Recorded:
/// CreateAuthorizer of the REST API. HTTP API: hashicorp/terraform-provider-aws#40575
pub(crate) fn is_concurrent_change(failure: &Failure) -> bool {
    has_code(failure, &["ConflictException"]) && failure.message.to_lowercase().contains("concurrent modification")
}

/// API Gateway: a conflict that is not transient: anomalyco/sst#5031 (route), aws/aws-cdk#22660 (mapping). For domains
/// and stages the API reference lists the code.
pub(crate) fn is_conflict(failure: &Failure) -> bool {
    has_code(failure, &["ConflictException"]) && !is_concurrent_change(failure)
}

/// API Gateway: a route of any API refers to a VPC link (hashicorp/terraform-provider-aws#12195).
pub(crate) fn is_link_referenced(failure: &Failure) -> bool {
    has_code(failure, &["BadRequestException"]) && failure.message.starts_with("Cannot delete vpc link.")
}

/// API Gateway: an API or a stage is in use by the mapping of a domain. AWS does not report this as a conflict.
/// DeleteApi returns "remove all API mappings" (gruntwork-io/cloud-nuke#370) or, as DeleteStage does, "remove all base
/// path mappings" (amplify-education/serverless-domain-manager#406, hashicorp/terraform-provider-aws#41651).
pub(crate) fn is_mapped(failure: &Failure) -> bool {
    let texts = ["remove all API mappings", "remove all base path mappings"];
    has_code(failure, &["BadRequestException"]) && texts.iter().any(|text| failure.message.contains(text))
}

/// API Gateway: another authorizer of the API has this name (aws/aws-cdk#20170).
pub(crate) fn is_authorizer_name_taken(failure: &Failure) -> bool {
    let is_rejected = has_code(failure, &["BadRequestException"]);
    (is_rejected && failure.message.contains("name must be unique")) || failure.cause == Cause::Exists
}

/// API Gateway: AWS could not read the discovery document of an issuer. aws/serverless-application-model#1727
pub(crate) fn is_issuer_unreachable(failure: &Failure) -> bool {
    has_code(failure, &["BadRequestException"]) && failure.message.contains("Caught exception when connecting to")
}

/// API Gateway: AWS cannot read the listener of a private integration. It returns this shortly after the creation of
/// the load balancer, and while the first use creates the service-linked role (hashicorp/terraform-provider-aws#22590).
pub(crate) fn is_listener_unreadable(failure: &Failure) -> bool {
    has_code(failure, &["BadRequestException"]) && failure.message.contains("Unable to retrieve listener port")
}

/// API Gateway: a domain with this name exists, possibly in another account. The text is quoted in
/// aws-cloudformation/cloudformation-coverage-roadmap#1151, and the REST API returns it as a BadRequestException.
pub(crate) fn is_domain_name_taken(failure: &Failure) -> bool {
    let is_rejected = has_code(failure, &["BadRequestException"]);
    is_conflict(failure) || (is_rejected && failure.message.contains("domain name you provided already exists"))
}

/// API Gateway: the key of a missing route whose settings the stage still has, so that AWS rejects those of all routes.
/// The text is that of hashicorp/terraform-provider-aws#16094.
pub(crate) fn is_stale_route_settings(failure: &Failure) -> Option<&str> {
    let text = failure.message.split_once("Unable to find Route by key ")?.1;
    let key = text.split_once(" within the provided RouteSettings")?.0;
    has_code(failure, &["NotFoundException"]).then_some(key)
}

/// API Gateway: an API has as many objects of a type as its quota allows. The status of this conflict is 429, as of a
/// throttled call, but it is permanent: "Maximum number of Authorizers for this API has been reached. Please contact
/// AWS if you need additional Authorizers." (anomalyco/sst#4522)
///
/// The code for VPC links is unknown.
pub(crate) fn is_object_quota(failure: &Failure) -> bool {
    let codes = ["ConflictException", "LimitExceededException", "TooManyRequestsException"];
    has_code(failure, &codes) && failure.message.contains("Maximum number of")
}

/// API Gateway: the access logs of a stage cannot be enabled, because CloudWatch Logs rejects the resource policy
/// `AWSLogDeliveryWrite20150319`, to which API Gateway adds each log group, or because the caller may not change it.
/// The texts are those of real answers: the first in aws-samples/amazon-cognito-passwordless-auth#91, the second in
/// anomalyco/sst#125, whose cause was a full policy too.
pub(crate) fn is_log_policy_rejected(failure: &Failure) -> bool {
    let texts =
        ["Policy document length breaking Cloudwatch Logs Constraints", "Insufficient permissions to enable logging"];
    has_code(failure, &["BadRequestException"]) && texts.iter().any(|text| failure.message.contains(text))
}

/// Lambda: the statement exists (recorded: AddPermission), or another change of the function is in progress
/// (hashicorp/terraform#29604).
pub(crate) fn is_policy_conflict(failure: &Failure) -> bool {
    has_code(failure, &["ResourceConflictException"])
}

/// Lambda: the policy of a function, alias or version would exceed 20,480 characters: "The final policy size (20749) is
/// bigger than the limit (20480)." (adobe/helix-deploy#24)
pub(crate) fn is_policy_full(failure: &Failure) -> bool {
    has_code(failure, &["PolicyLengthExceededException"])
}

/// CloudWatch Logs: another change of the log group is in progress (aws/aws-cdk#17546).
pub(crate) fn is_group_busy(failure: &Failure) -> bool {
    has_code(failure, &["OperationAbortedException"])
}

/// CloudWatch Logs: the deletion protection of a log group is enabled. AWS documents the message: "Cannot delete log
/// group with deletion protection enabled. Disable deletion protection first."
pub(crate) fn is_deletion_protected(failure: &Failure) -> bool {
    has_code(failure, &["ValidationException"]) && failure.message.contains("deletion protection enabled")
}

/// CreateFlowLogs: EC2 does not know a new role yet, or may not use it (hashicorp/terraform-provider-aws#29323).
pub(crate) fn is_role_unusable(failure: &Failure) -> bool {
    has_code(failure, &["InvalidParameter"]) && failure.message.contains("Unable to assume given IAM role")
}

/// CreateFlowLogs: a bucket, stream or log group does not exist, or its policy does not allow the delivery.
pub(crate) fn is_log_destination_unusable(failure: &Failure) -> bool {
    let texts = ["Access Denied for LogDestination", "undeliverable"];
    has_code(failure, &["LogDestinationNotFoundException", "LogDestinationPermissionIssueException"])
        || texts.iter().any(|text| failure.message.contains(text))
}

/// CloudWatch Logs cannot use a KMS key. It does not distinguish a missing key, a disabled key and a key policy that
/// does not allow the service: hashicorp/terraform-provider-aws#29282 (AccessDeniedException),
/// hashicorp/terraform#24194 (InvalidParameterException).
pub(crate) fn is_key_rejected(failure: &Failure) -> bool {
    let texts = ["KMS key does not exist or is not allowed to be used", "KMS Key Id could not be found"];
    has_code(failure, &["AccessDeniedException", "InvalidParameterException"])
        && texts.iter().any(|text| failure.message.contains(text))
}

/// CloudWatch Logs: a quota is exceeded. Recorded: PutSubscriptionFilter.
pub(crate) fn is_quota(failure: &Failure) -> bool {
    has_code(failure, &["LimitExceededException"])
}

/// CloudWatch Logs: the destination of a subscription is not reachable, possibly because it is new:
/// hashicorp/terraform#5996 (function), alertlogic/cloudwatch-logs-s3-export#9 (stream), aws/aws-cli#8823 (Firehose),
/// hashicorp/terraform-provider-aws#48088 (role).
pub(crate) fn is_undeliverable(failure: &Failure) -> bool {
    let contains = |text: &str| failure.message.contains(text);
    let no_delivery =
        contains("Could not deliver test message to specified") || contains("Could not execute the lambda function");
    (has_code(failure, &["InvalidParameterException"]) && no_delivery)
        || (has_code(failure, &["ValidationException"]) && contains("permission to assume the provided role"))
}

/// Route 53: the hosted zone does not exist. Recorded: DeleteHostedZone.
pub(crate) fn is_no_zone(failure: &Failure) -> bool {
    has_code(failure, &["NoSuchHostedZone"])
}

/// Route 53: the change does not exist, or is not visible yet (boto/botocore#543).
pub(crate) fn is_no_change(failure: &Failure) -> bool {
    has_code(failure, &["NoSuchChange"])
}

/// Route 53: the change conflicts with the existing records (aws/aws-sdk-kotlin#1435).
pub(crate) fn is_rejected_batch(failure: &Failure) -> bool {
    has_code(failure, &["InvalidChangeBatch"])
}

/// EC2: a gateway is not attached to a VPC. This means success for a detach call, and failure for any other call, see
/// aws-samples/cfn101-workshop#165.
pub(crate) fn is_not_attached(failure: &Failure) -> bool {
    has_code(failure, &["Gateway.NotAttached"])
}

/// EC2: the VPC has another internet gateway (binlab/terraform-aws-vault-ha-raft#54).
pub(crate) fn is_other_gateway_attached(failure: &Failure) -> bool {
    has_code(failure, &["InvalidParameterValue"])
        && failure.message.contains("already has an internet gateway attached")
}

/// EC2: the partition may not support tags in the call that creates an object. hashicorp/terraform-provider-aws creates
/// endpoints without tags in isolated partitions if AWS rejects the call with one of these codes, among others.
pub(crate) fn is_tagging_unsupported(failure: &Failure, partition: &str) -> bool {
    let codes = ["UnsupportedOperation", "UnknownParameter", "InvalidParameterValue", "InvalidRequest"];
    partition.starts_with("aws-iso") && has_code(failure, &codes)
}

/// EC2: an address was released and now belongs to another account, or a NAT gateway still uses it
/// (kubernetes/kops#938).
pub(crate) fn is_auth_failure(failure: &Failure) -> bool {
    has_code(failure, &["AuthFailure"]) && failure.cause != Cause::Credentials
}

/// EC2: the address of a NAT gateway is associated with something else. AWS may detect it only after CreateNatGateway
/// has succeeded, and the NAT gateway then fails with this code (hashicorp/terraform#13836).
pub(crate) fn is_address_taken(failure: &Failure) -> bool {
    has_code(failure, &["Resource.AlreadyAssociated"])
}

/// EC2: an S3 interface endpoint needs the gateway endpoint that is to be deleted.
pub(crate) fn is_needed_by_interface_endpoint(failure: &Failure) -> bool {
    has_code(failure, &["InvalidParameter"]) && is_private_dns_dependency(&failure.message)
}

/// EC2: a route or a route table does not exist. As an answer of DeleteVpcEndpoints, it is known only of moto 5.2.5,
/// which does not delete the endpoint then.
pub(crate) fn is_route_missing(failure: &Failure) -> bool {
    has_code(failure, &["InvalidRoute.NotFound", "InvalidRouteTableID.NotFound"])
}

/// EC2: AWS still makes an earlier change of the interface endpoint (hashicorp/terraform-provider-aws#42875).
pub(crate) fn is_endpoint_busy(failure: &Failure) -> bool {
    has_code(failure, &["OperationInProgress"])
}

/// EC2: another endpoint or a private hosted zone of the VPC has the private DNS names of the service
/// (hashicorp/terraform-provider-aws#17269).
pub(crate) fn is_private_dns_conflict(failure: &Failure) -> bool {
    has_code(failure, &["InvalidParameter"]) && failure.message.contains("conflicting DNS domain")
}

/// EC2: NAT gateways are not available in the AZ of a subnet. The troubleshooting page for NAT gateways in AWS's VPC
/// guide lists the code; sysdiglabs/terraform-aws-secure-for-cloud#52 quotes an answer of CreateNatGateway.
pub(crate) fn is_zone_without_nat_gateways(failure: &Failure) -> bool {
    has_code(failure, &["NotAvailableInZone"])
}

/// EC2: IPAM does not monitor the account yet. Public files quote the answer: "The operation AllocateIpamPoolCidr is
/// not supported. Account ... is not monitored by IPAM ipam-...".
pub(crate) fn is_not_monitored(failure: &Failure) -> bool {
    has_code(failure, &["UnsupportedOperation"]) && failure.message.contains("is not monitored by IPAM")
}

/// EC2: a security group or network ACL has reached its limit of rules: dan-v/awslambdaproxy#25 (group),
/// cisagov/cool-assessment-terraform#288 (ACL).
pub(crate) fn is_rule_limit(failure: &Failure) -> bool {
    has_code(failure, &["RulesPerSecurityGroupLimitExceeded", "NetworkAclEntryLimitExceeded"])
}

/// EC2: a rule of a security group to add already exists (recorded), or one to remove no longer exists
/// (cloud-custodian/cloud-custodian#6099). moto's tests of rule IDs are verified against AWS.
pub(crate) fn is_outdated_rule(failure: &Failure) -> bool {
    let codes = ["InvalidPermission.Duplicate", "InvalidPermission.NotFound", "InvalidSecurityGroupRuleId.NotFound"];
    has_code(failure, &codes)
}

/// EC2: a network ACL has no entry with this number (hashicorp/terraform-provider-aws#12175).
pub(crate) fn is_no_acl_entry(failure: &Failure) -> bool {
    has_code(failure, &["InvalidNetworkAclEntry.NotFound"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_map_to_causes() {
        let table = [
            ("InvalidVpcID.NotFound", Cause::NotFound),
            ("InvalidSubnetId.NotFound", Cause::NotFound),
            ("InvalidVpcEndpoint.NotFound", Cause::NotFound),
            ("NatGatewayNotFound", Cause::NotFound),
            ("NotFoundException", Cause::NotFound),
            ("ResourceNotFoundException", Cause::NotFound),
            ("DependencyViolation", Cause::InUse),
            ("InvalidIPAddress.InUse", Cause::InUse),
            ("RouteAlreadyExists", Cause::Exists),
            ("Resource.AlreadyAssociated", Cause::Exists),
            ("InvalidPermission.Duplicate", Cause::Exists),
            ("ResourceAlreadyExistsException", Cause::Exists),
            ("RequestLimitExceeded", Cause::Throttled),
            ("ThrottlingException", Cause::Throttled),
            ("TooManyRequestsException", Cause::Throttled),
            ("OperationAbortedException", Cause::Throttled),
            ("UnauthorizedOperation", Cause::Denied),
            ("AccessDenied", Cause::Denied),
            ("AccessDeniedException", Cause::Denied),
            ("LimitExceededException", Cause::Other),
            ("VpcLimitExceeded", Cause::Other),
            ("ExpiredToken", Cause::Credentials),
            ("RequestExpired", Cause::Credentials),
            ("UnrecognizedClientException", Cause::Credentials),
            // The address belongs to another account, or a NAT gateway still uses it. The code does not distinguish the
            // two, so it must never count as NotFound.
            ("AuthFailure", Cause::Other),
            // Success when a gateway is detached, a failure when a NAT gateway is created.
            ("Gateway.NotAttached", Cause::Other),
        ];
        for (code, expected) in table {
            assert_eq!(cause(Some(code), ""), expected, "{code}");
        }
        assert_eq!(cause(None, "connection reset"), Cause::Other);
    }

    #[test]
    fn credentials_that_aws_cannot_validate_are_no_address_in_use() {
        let text = "AWS was not able to validate the provided access credentials";
        assert_eq!(cause(Some("AuthFailure"), text), Cause::Credentials);
    }

    #[test]
    fn a_gateway_endpoint_that_an_interface_endpoint_needs_is_in_use() {
        let message = "Gateway endpoint cannot be deleted while Interface endpoint vpce-1 for the service has \
                       PrivateDnsOnlyForInboundResolverEndpoint set to true.";
        assert_eq!(cause(Some("InvalidParameter"), message), Cause::InUse);
        let other = "To set PrivateDnsOnlyForInboundResolverEndpoint to true, the VPC vpc-1 must have a Gateway endpoint \
                     for the service.";
        assert_eq!(cause(Some("InvalidParameter"), other), Cause::Other);
    }

    #[test]
    fn conflicts_are_classified_by_their_message() {
        let table = [
            ("Unable to complete operation due to concurrent modification. Please try again later.", Cause::Throttled),
            ("Route with key GET /a already exists for this API", Cause::Exists),
            ("Cannot delete Integration because it is referenced by the following Routes: r1", Cause::InUse),
            ("Cannot delete authorizer 'a1b2c3', is referenced in route: r1", Cause::InUse),
            ("Authorizer a1b2c3 is referenced in route: r1", Cause::InUse),
            ("Maximum number of Authorizers for this API has been reached.", Cause::Other),
            // No answer of AWS is known that has these words alone.
            ("The object is in use", Cause::Other),
            ("Please try again later", Cause::Other),
            ("A sibling (/x/{a}) has a conflicting variable on the same hierarchical level", Cause::Other),
        ];
        for (message, expected) in table {
            assert_eq!(cause(Some("ConflictException"), message), expected, "{message}");
        }
        assert_eq!(
            cause(Some("ResourceConflictException"), "The statement id (x) provided already exists."),
            Cause::Exists
        );
        assert_eq!(
            cause(Some("ResourceConflictException"), "An update is in progress for resource: f"),
            Cause::Throttled
        );
    }

    #[test]
    fn replacing_a_missing_route_is_not_found() {
        let message = "There is no route defined for '0.0.0.0/0' in the route table. Use CreateRoute instead.";
        assert_eq!(cause(Some("InvalidParameterValue"), message), Cause::NotFound);
        assert_eq!(cause(Some("InvalidParameterValue"), "Value (x) for parameter vpcId is invalid"), Cause::Other);
    }
}
