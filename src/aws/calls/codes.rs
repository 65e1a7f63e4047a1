//! What AWS's error codes mean. No other file compares codes, so that what AWS adds or renames is changed here.
//!
//! A code that means the same in all services is a [`Cause`]; the functions below are for codes that mean something in
//! one place only.

use crate::cloud::{Cause, Failure};

/// What the caller of a call that failed with this code does next.
pub(crate) fn cause(code: Option<&str>, message: &str) -> Cause {
    let Some(code) = code else { return Cause::Other };
    if is_throttle(Some(code)) {
        return Cause::Throttled;
    }
    match code {
        // Without a dot, unlike every other code of EC2.
        "NatGatewayNotFound" | "NotFoundException" | "ResourceNotFoundException" => Cause::NotFound,
        // The answer of ReplaceRoute when there is nothing to replace.
        "InvalidParameterValue" if message.contains("There is no route defined for") => Cause::NotFound,
        "DependencyViolation" | "ResourceInUseException" => Cause::InUse,
        "RouteAlreadyExists"
        | "NetworkAclEntryAlreadyExists"
        | "Resource.AlreadyAssociated"
        | "InvalidSubnet.Conflict"
        | "ResourceAlreadyExistsException" => Cause::Exists,
        // API Gateway and Lambda use one code for several things, which only the text tells apart.
        "ConflictException" | "ResourceConflictException" => conflict(message),
        // CloudWatch Logs, while another change of the same log group is at work.
        "OperationAbortedException" => Cause::Throttled,
        "UnauthorizedOperation" | "AccessDenied" | "AccessDeniedException" => Cause::Denied,
        _ if code.ends_with(".NotFound") => Cause::NotFound,
        _ if code.ends_with(".InUse") => Cause::InUse,
        _ if code.ends_with(".Duplicate") => Cause::Exists,
        _ => Cause::Other,
    }
}

fn conflict(message: &str) -> Cause {
    let message = message.to_lowercase();
    if message.contains("concurrent modification") || message.contains("try again later") {
        Cause::Throttled
    } else if message.contains("already exists") {
        Cause::Exists
    } else if message.contains("referenced by") || message.contains("in use") || message.contains("cannot delete") {
        Cause::InUse
    } else if message.contains("in progress") {
        Cause::Throttled
    } else {
        Cause::Other
    }
}

/// Whether the code tells to slow down. `LimitExceededException` is not among them, though the SDK repeats it: it is
/// the quota error of CloudWatch Logs.
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

/// API Gateway: another change of the API is at work. Of the conflicts only this one passes by itself.
pub(crate) fn is_concurrent_change(failure: &Failure) -> bool {
    has_code(failure, &["ConflictException"]) && failure.message.to_lowercase().contains("concurrent modification")
}

/// API Gateway: a conflict that does not pass by itself.
pub(crate) fn is_conflict(failure: &Failure) -> bool {
    has_code(failure, &["ConflictException"]) && !is_concurrent_change(failure)
}

/// API Gateway: a domain's mapping holds an API or a stage, which AWS does not call a conflict.
pub(crate) fn is_mapped(failure: &Failure) -> bool {
    failure.message.to_lowercase().contains("remove all base path mappings")
}

/// Lambda: the statement exists, or another change of the function is at work.
pub(crate) fn is_policy_conflict(failure: &Failure) -> bool {
    has_code(failure, &["ResourceConflictException"])
}

/// CloudWatch Logs: another change of the log group is at work.
pub(crate) fn is_group_busy(failure: &Failure) -> bool {
    has_code(failure, &["OperationAbortedException"])
}

/// CloudWatch Logs: a quota is used up.
pub(crate) fn is_quota(failure: &Failure) -> bool {
    has_code(failure, &["LimitExceededException"])
}

/// CloudWatch Logs: the destination of a subscription cannot be reached. It may only be new.
pub(crate) fn is_undeliverable(failure: &Failure) -> bool {
    let says = |text: &str| failure.message.contains(text);
    let no_delivery =
        says("Could not deliver test message to specified") || says("Could not execute the lambda function");
    (has_code(failure, &["InvalidParameterException"]) && no_delivery)
        || (has_code(failure, &["ValidationException"]) && says("permission to assume the provided role"))
}

/// Route 53: there is no such hosted zone.
pub(crate) fn is_no_zone(failure: &Failure) -> bool {
    has_code(failure, &["NoSuchHostedZone"])
}

/// Route 53: it does not know the change, or does not know it yet.
pub(crate) fn is_no_change(failure: &Failure) -> bool {
    has_code(failure, &["NoSuchChange"])
}

/// Route 53: the change does not fit the records that exist.
pub(crate) fn is_refused_batch(failure: &Failure) -> bool {
    has_code(failure, &["InvalidChangeBatch"])
}

/// EC2: a gateway is not attached to a VPC. That is the wanted end of a detachment, and a reason to fail otherwise.
pub(crate) fn is_not_attached(failure: &Failure) -> bool {
    has_code(failure, &["Gateway.NotAttached"])
}

/// EC2: an address is released already and belongs to somebody else now, or a NAT gateway still holds it.
pub(crate) fn is_address_of_others(failure: &Failure) -> bool {
    has_code(failure, &["AuthFailure"])
}

/// EC2: IPAM does not know the account yet.
pub(crate) fn is_not_monitored(failure: &Failure) -> bool {
    has_code(failure, &["UnsupportedOperation"]) && failure.message.contains("is not monitored by IPAM")
}

/// EC2: a security group or network ACL has no room for another rule.
pub(crate) fn is_rule_limit(failure: &Failure) -> bool {
    has_code(failure, &["RulesPerSecurityGroupLimitExceeded", "NetworkAclEntryLimitExceeded"])
}

/// EC2: a rule of a security group exists already, or does not exist any more.
pub(crate) fn is_about_a_rule(failure: &Failure) -> bool {
    let codes = ["InvalidPermission.Duplicate", "InvalidPermission.NotFound", "InvalidSecurityGroupRuleId.NotFound"];
    has_code(failure, &codes)
}

/// EC2: a network ACL has no entry of this number.
pub(crate) fn is_no_acl_entry(failure: &Failure) -> bool {
    has_code(failure, &["InvalidNetworkAclEntry.NotFound"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_say_what_to_do_next() {
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
            ("ExpiredToken", Cause::Other),
            // Released already and owned by someone else now, or still held by a NAT gateway: the code alone
            // does not tell, so it must never count as absence.
            ("AuthFailure", Cause::Other),
            // Done when a gateway is detached, a reason to fail when a NAT gateway is made.
            ("Gateway.NotAttached", Cause::Other),
        ];
        for (code, expected) in table {
            assert_eq!(cause(Some(code), ""), expected, "{code}");
        }
        assert_eq!(cause(None, "connection reset"), Cause::Other);
    }

    #[test]
    fn a_conflict_means_what_its_message_says() {
        let table = [
            ("Unable to complete operation due to concurrent modification. Please try again later.", Cause::Throttled),
            ("Route with key GET /a already exists for this API", Cause::Exists),
            ("Cannot delete Integration because it is referenced by the following Routes: r1", Cause::InUse),
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
    fn replacing_a_route_that_is_gone_is_an_absence() {
        let message = "There is no route defined for '0.0.0.0/0' in the route table. Use CreateRoute instead.";
        assert_eq!(cause(Some("InvalidParameterValue"), message), Cause::NotFound);
        assert_eq!(cause(Some("InvalidParameterValue"), "Value (x) for parameter vpcId is invalid"), Cause::Other);
    }
}
