//! What a destroy keeps of each kind, and what a create does with an object that it finds in its place.

use super::{assert_complete, name};
use crate::model::{LogGroup, Spec};

/// What a destroy does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Destroy {
    /// It deletes the object, or AWS deletes it with the root.
    Deletes,
    /// AWS deletes it with the VPC. If the VPC stays, only its management ends.
    WithVpc,
    /// A setting decides.
    BySetting,
}

use Destroy::{BySetting, Deletes, WithVpc};

/// What a create does with an existing object.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Create {
    /// AWS creates another one, or there cannot be one before the root.
    Another,
    /// AWS created it with the VPC, and the create changes it.
    Sets,
    /// It uses it without owning it, if the setting keeps it.
    Uses,
    /// It is an error. Only `adopt` takes the object over.
    Refuses,
    /// It takes over an equal one, which an interrupted run may have created; another one is an error.
    TakesEqual,
}

use Create::{Another, Refuses, Sets, TakesEqual, Uses};

const TABLE: &[(&str, Destroy, Create)] = &[
    ("VPC", Deletes, Another),
    ("secondary CIDR block", Deletes, TakesEqual),
    ("IPv6 CIDR block", Deletes, TakesEqual),
    ("internet gateway", Deletes, Another),
    ("egress-only internet gateway", Deletes, Another),
    ("subnet", Deletes, Another),
    ("route table", Deletes, Another),
    ("route table association", Deletes, TakesEqual),
    ("Elastic IP address", Deletes, Another),
    ("NAT gateway", Deletes, Another),
    ("route", Deletes, TakesEqual),
    ("API route", Deletes, TakesEqual),
    ("VPC endpoint", Deletes, Refuses),
    ("flow log", Deletes, Refuses),
    ("security group", Deletes, Refuses),
    ("interface endpoint", Deletes, Refuses),
    ("default network ACL", WithVpc, Sets),
    ("default security group", WithVpc, Sets),
    ("HTTP API", Deletes, Another),
    ("authorizer", Deletes, TakesEqual),
    ("JWT authorizer", Deletes, TakesEqual),
    ("Lambda permission", Deletes, TakesEqual),
    ("VPC link", Deletes, Another),
    ("integration", Deletes, TakesEqual),
    ("log group", BySetting, Uses),
    ("subscription filter", Deletes, TakesEqual),
    ("stage", Deletes, Refuses),
    ("custom domain", Deletes, Refuses),
    ("API mapping", Deletes, TakesEqual),
    // The plan says so: it cannot know who created the record.
    ("DNS record", Deletes, TakesEqual),
];

/// The spec with each value of the setting that keeps an object.
fn settings(spec: &Spec) -> Vec<Spec> {
    match spec {
        Spec::LogGroup(group) => {
            [true, false].map(|keeps| LogGroup { skip_destroy: keeps.into(), ..group.clone() }.into()).to_vec()
        }
        other => vec![other.clone()],
    }
}

#[test]
fn only_what_a_destroy_keeps_can_be_used() {
    assert_complete(TABLE.iter().map(|(kind, ..)| *kind));
    for spec in Spec::of_each_kind() {
        let (kind, destroy, create) = TABLE.iter().find(|(kind, ..)| *kind == name(&spec)).expect("it is complete");
        for spec in settings(&spec) {
            let keeps = spec.stays_when_deleted() && !spec.is_adopted();
            match destroy {
                Deletes => assert!(!spec.stays_when_deleted(), "{kind}"),
                WithVpc => assert!(spec.is_adopted() && spec.parent().is_some(), "{kind}"),
                BySetting => assert_eq!(spec.uses_existing(), Some(keeps), "{kind}"),
            }
            assert_eq!(spec.uses_existing().is_some(), *create == Uses, "{kind}");
            assert_eq!(spec.is_adopted(), *create == Sets, "{kind}");
            assert_eq!(spec.lost_when_deleted(&Default::default()).is_some(), *create == Uses && !keeps, "{kind}");
        }
    }
}
