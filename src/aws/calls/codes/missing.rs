//! The codes and texts by which AWS reports that an object of a kind does not exist.
//!
//! AWS may answer a deletion with such a code of another object: `ReleaseAddress` returns
//! `InvalidNetworkInterfaceID.NotFound` for an address whose NAT gateway was deleted just now
//! (hashicorp/terraform-provider-aws#49299, scylladb/scylla-cluster-tests#15732). The address still exists then. So an
//! answer counts as "deleted" only if it is about the object itself. After any other one, the object is read.

use super::has_code;
use crate::cloud::{Cause, Failure};

/// A kind of EC2 object, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Vpc,
    VpcCidrBlock,
    Subnet,
    SubnetCidrBlock,
    InternetGateway,
    RouteTable,
    RouteTableAssociation,
    Route,
    Address,
    NatGateway,
    VpcEndpoint,
    FlowLog,
    NetworkAcl,
    SecurityGroup,
    VpnGateway,
}

/// The codes of each kind.
///
/// - Recorded: subnets, internet gateways, addresses by their allocation ID, security groups.
/// - AWS's list of EC2 error codes: the others, except `NatGatewayNotFound` (gruntwork-io/cloud-nuke#325) and the two
///   of address ranges, which hashicorp/terraform-provider-aws handles (`internal/service/ec2/errors.go`).
/// - Endpoints: `InvalidVpcEndpoint.NotFound` for a deletion, `InvalidVpcEndpointId.NotFound` for a read.
const CODES: &[(Kind, &[&str])] = &[
    (Kind::Vpc, &["InvalidVpcID.NotFound"]),
    (Kind::VpcCidrBlock, &["InvalidVpcCidrBlockAssociationID.NotFound"]),
    // Both spellings exist.
    (Kind::Subnet, &["InvalidSubnetID.NotFound", "InvalidSubnetId.NotFound"]),
    (Kind::SubnetCidrBlock, &["InvalidSubnetCidrBlockAssociationID.NotFound"]),
    (Kind::InternetGateway, &["InvalidInternetGatewayID.NotFound"]),
    (Kind::RouteTable, &["InvalidRouteTableID.NotFound"]),
    (Kind::RouteTableAssociation, &["InvalidAssociationID.NotFound"]),
    (Kind::Route, &["InvalidRoute.NotFound"]),
    (Kind::Address, &["InvalidAllocationID.NotFound", "InvalidAddress.NotFound", "InvalidAddressID.NotFound"]),
    (Kind::NatGateway, &["NatGatewayNotFound", "InvalidNatGatewayID.NotFound"]),
    (Kind::VpcEndpoint, &["InvalidVpcEndpoint.NotFound", "InvalidVpcEndpointId.NotFound"]),
    (Kind::FlowLog, &["InvalidFlowLogId.NotFound"]),
    (Kind::NetworkAcl, &["InvalidNetworkAclID.NotFound"]),
    (Kind::SecurityGroup, &["InvalidGroup.NotFound"]),
    (Kind::VpnGateway, &["InvalidVpnGatewayID.NotFound"]),
];

/// The prefixes of the IDs of EC2 that may be in the message of such a code.
const PREFIXES: &[&str] = &[
    "vpc-",
    "subnet-",
    "igw-",
    "eigw-",
    "rtb-",
    "rtbassoc-",
    "eipalloc-",
    "eipassoc-",
    "nat-",
    "vpce-",
    "fl-",
    "acl-",
    "aclassoc-",
    "sg-",
    "sgr-",
    "vgw-",
    "eni-",
    "pl-",
    "tgw-",
    "pcx-",
    "i-",
    "ipam-pool-",
];

impl Kind {
    /// Whether AWS reports that this object does not exist: the code is one of its kind, and the message contains its
    /// ID or none. `id` of a route is that of its table.
    pub(crate) fn is_missing(self, failure: &Failure, id: &str) -> bool {
        let codes = CODES.iter().find(|(kind, _)| *kind == self).map_or(&[][..], |(_, codes)| codes);
        let mut named = ids(&failure.message).peekable();
        has_code(failure, codes) && (named.peek().is_none() || named.any(|it| it == id))
    }
}

/// The ID or ARN of the object that AWS reports as missing, if the message contains one.
pub(crate) fn missing_id(cause: Cause, message: &str) -> Option<String> {
    let named = ids(message).chain(words(message).filter(|word| word.starts_with("arn:"))).next();
    named.filter(|_| cause == Cause::NotFound).map(str::to_string)
}

/// The IDs of EC2 objects in a message.
fn ids(message: &str) -> impl Iterator<Item = &str> {
    let is_id = |word: &&str| {
        let number = word.rsplit('-').next().unwrap_or_default();
        PREFIXES.iter().any(|prefix| word.starts_with(prefix))
            && number.contains(|it: char| it.is_ascii_digit())
            && number.chars().all(|it| it.is_ascii_hexdigit())
    };
    words(message).filter(is_id)
}

fn words(message: &str) -> impl Iterator<Item = &str> {
    let is_separator = |it: char| it.is_whitespace() || "'\"`,;()[]".contains(it);
    message.split(is_separator).map(|word| word.trim_end_matches(['.', ':'])).filter(|word| !word.is_empty())
}

/// API Gateway has one code for all kinds, and these texts. Recorded: GetApi. The account ID precedes that of the API.
pub(crate) fn is_api_missing(failure: &Failure, api_id: &str) -> bool {
    let named = failure.message.strip_prefix("Invalid API identifier specified ");
    is_not_found(failure) && named.is_some_and(|named| named.rsplit(':').next() == Some(api_id))
}

/// API Gateway: a stage does not exist. Recorded: GetStage.
pub(crate) fn is_stage_missing(failure: &Failure) -> bool {
    is_not_found(failure) && failure.message.starts_with("Invalid stage identifier specified")
}

/// API Gateway: a custom domain does not exist (aws/aws-cdk#36708).
pub(crate) fn is_domain_missing(failure: &Failure) -> bool {
    is_not_found(failure) && failure.message.starts_with("Invalid domain name identifier specified")
}

fn is_not_found(failure: &Failure) -> bool {
    has_code(failure, &["NotFoundException"])
}

/// Lambda: the policy that would contain a statement does not exist (recorded: RemovePermission), or it has no such
/// statement. A missing function or alias has other texts.
pub(crate) fn is_statement_missing(failure: &Failure, statement_id: &str) -> bool {
    let texts = [
        "No policy is associated with the given resource".to_string(),
        format!("Statement {statement_id} is not found in resource policy"),
    ];
    has_code(failure, &["ResourceNotFoundException"]) && texts.iter().any(|text| failure.message.starts_with(text))
}

/// CloudWatch Logs: a log group does not exist. Recorded: DeleteSubscriptionFilter.
pub(crate) fn is_log_group_missing(failure: &Failure) -> bool {
    has_code(failure, &["ResourceNotFoundException"]) && failure.message.contains("log group does not exist")
}

/// CloudWatch Logs: a log group has no such filter. Recorded: DeleteSubscriptionFilter.
pub(crate) fn is_filter_missing(failure: &Failure) -> bool {
    has_code(failure, &["ResourceNotFoundException"]) && failure.message.contains("subscription filter does not exist")
}

#[cfg(test)]
mod tests {
    use super::super::cause;
    use super::*;

    fn failure(code: &str, message: &str) -> Failure {
        let cause = cause(Some(code), message);
        Failure { code: Some(code.to_string()), ..Failure::new(cause, "Delete", message) }
    }

    #[test]
    fn each_kind_has_codes_that_are_those_of_no_other_kind() {
        for (kind, codes) in CODES {
            for code in *codes {
                let kinds: Vec<Kind> = CODES.iter().filter(|(_, all)| all.contains(code)).map(|(it, _)| *it).collect();
                assert_eq!(kinds, [*kind], "{code}");
                assert_eq!(failure(code, "").cause, Cause::NotFound, "{code}");
                assert!(kind.is_missing(&failure(code, "It does not exist."), "x-1"), "{code}");
            }
        }
    }

    #[test]
    fn only_the_own_id_in_a_message_means_the_object() {
        let subnet = |message| Kind::Subnet.is_missing(&failure("InvalidSubnetID.NotFound", message), "subnet-0a1");
        assert!(subnet("The subnet ID 'subnet-0a1' does not exist"));
        assert!(subnet("Subnet [subnet-0a1] was not found."));
        assert!(!subnet("The subnet ID 'subnet-0a12' does not exist"));
        assert!(!subnet("The vpc ID 'vpc-0a1' does not exist"));
        let association = failure("InvalidAssociationID.NotFound", "The association ID 'eipassoc-1' does not exist");
        assert!(!Kind::RouteTableAssociation.is_missing(&association, "rtbassoc-1"));
    }

    #[test]
    fn the_missing_object_is_named_by_its_id_or_arn() {
        let named = |message| missing_id(Cause::NotFound, message);
        let table = [
            ("The allocation ID 'eipalloc-0123456789abcdef0' does not exist", Some("eipalloc-0123456789abcdef0")),
            ("The networkInterface ID 'eni-1' does not exist", Some("eni-1")),
            ("The pool ipam-pool-0a1 does not exist.", Some("ipam-pool-0a1")),
            (
                "Function not found: arn:aws:lambda:eu-west-1:1:function:a",
                Some("arn:aws:lambda:eu-west-1:1:function:a"),
            ),
            ("The sg-rule of us-east-1 is non-existent", None),
        ];
        for (message, id) in table {
            assert_eq!(named(message).as_deref(), id, "{message}");
        }
        assert_eq!(missing_id(Cause::InUse, "The subnet 'subnet-1' has dependencies"), None);
    }
}
