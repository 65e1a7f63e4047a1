//! The codes and texts by which AWS reports that an object of a kind does not exist.
//!
//! AWS may answer a deletion with such a code of another object: `ReleaseAddress` returns
//! `InvalidNetworkInterfaceID.NotFound` for an address whose NAT gateway was deleted just now
//! (hashicorp/terraform-provider-aws#49299, scylladb/scylla-cluster-tests#15732). The address still exists then. So an
//! answer counts as "deleted" only if it is about the object itself. After any other one, the object is read.

use super::has_code;
use crate::cloud::{Cause, Failure};

/// The codes by which AWS reports that an object of one kind does not exist. The file of the kind states them. Without
/// another source, they are those of AWS's list of EC2 error codes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MissingCodes(pub(crate) &'static [&'static str]);

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

impl MissingCodes {
    /// Whether AWS reports that this object does not exist: the code is one of its kind, and the message contains its
    /// ID or none. `id` of a route is that of its table.
    pub(crate) fn match_failure(self, failure: &Failure, id: &str) -> bool {
        let mut named = ids(&failure.message).peekable();
        has_code(failure, self.0) && (named.peek().is_none() || named.any(|it| it == id))
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
    use std::path::Path;

    use super::super::cause;
    use super::*;

    fn failure(code: &str, message: &str) -> Failure {
        let cause = cause(Some(code), message);
        Failure { code: Some(code.to_string()), ..Failure::new(cause, "Delete", message) }
    }

    /// The codes in the files of a folder. They are read from the source, so that no kind can be forgotten.
    fn stated_in(folder: &Path) -> Vec<MissingCodes> {
        let mut stated = Vec::new();
        for path in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
            if path.is_dir() {
                stated.extend(stated_in(&path));
                continue;
            }
            let text: &'static str = std::fs::read_to_string(path).unwrap().leak();
            for rest in text.split("MissingCodes(&[").skip(1) {
                let list = rest.split(']').next().unwrap();
                let codes: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
                stated.push(MissingCodes(codes.leak()));
            }
        }
        stated
    }

    #[test]
    fn each_kind_has_codes_that_are_those_of_no_other_kind() {
        let kinds = stated_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/aws/ec2"));
        assert!(kinds.len() >= 15, "{kinds:?}");
        for kind in &kinds {
            assert!(!kind.0.is_empty());
            for code in kind.0 {
                let with_it: Vec<_> = kinds.iter().filter(|it| it.0.contains(code)).map(|it| it.0).collect();
                assert_eq!(with_it, [kind.0], "{code}");
                assert_eq!(failure(code, "").cause, Cause::NotFound, "{code}");
                assert!(kind.match_failure(&failure(code, "It does not exist."), "x-1"), "{code}");
            }
        }
    }

    #[test]
    fn only_the_own_id_in_a_message_means_the_object() {
        let codes = MissingCodes(&["InvalidSubnetID.NotFound"]);
        let subnet = |message| codes.match_failure(&failure("InvalidSubnetID.NotFound", message), "subnet-0a1");
        assert!(subnet("The subnet ID 'subnet-0a1' does not exist"));
        assert!(subnet("Subnet [subnet-0a1] was not found."));
        assert!(!subnet("The subnet ID 'subnet-0a12' does not exist"));
        assert!(!subnet("The vpc ID 'vpc-0a1' does not exist"));
        let association = failure("InvalidAssociationID.NotFound", "The association ID 'eipassoc-1' does not exist");
        assert!(!MissingCodes(&["InvalidAssociationID.NotFound"]).match_failure(&association, "rtbassoc-1"));
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
