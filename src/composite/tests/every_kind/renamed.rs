//! How each kind of object is recognized when its entry got another key, or why no user chooses its key.

use super::{assert_complete, name};
use crate::model::{Identity, Key, Spec};

/// How a kind is recognized.
enum By {
    /// Its key is not free text.
    Key,
    /// The immutable inputs in its key, under this map.
    Fixed(&'static str),
    /// Inputs that can change in place, under this map.
    Inputs(&'static str),
    /// It follows the object of the same entry.
    Entry(&'static str),
}

const KINDS: &[(&str, By)] = &[
    ("VPC", By::Key),
    ("secondary CIDR block", By::Key),
    ("IPv6 CIDR block", By::Key),
    ("internet gateway", By::Key),
    ("egress-only internet gateway", By::Key),
    ("subnet", By::Key),
    ("route table", By::Key),
    ("route table association", By::Key),
    ("Elastic IP address", By::Key),
    ("NAT gateway", By::Key),
    ("route", By::Key),
    ("API route", By::Key),
    ("VPC endpoint", By::Key),
    ("flow log", By::Fixed("flow_logs")),
    ("security group", By::Entry("interface_endpoint.")),
    ("interface endpoint", By::Fixed("interface_endpoints")),
    ("default network ACL", By::Key),
    ("default security group", By::Key),
    ("HTTP API", By::Key),
    ("authorizer", By::Inputs("faas_authorizers")),
    ("JWT authorizer", By::Inputs("jwt_authorizers")),
    // Only that of an authorizer follows one; the test has one for routes.
    ("Lambda permission", By::Key),
    ("VPC link", By::Fixed("vpc_links")),
    ("integration", By::Key),
    ("log group", By::Fixed("flow_logs")),
    ("subscription filter", By::Key),
    ("stage", By::Key),
    ("custom domain", By::Key),
    ("API mapping", By::Key),
    ("DNS record", By::Key),
];

#[test]
fn each_kind_says_how_it_is_recognized_under_another_key() {
    assert_complete(KINDS.iter().map(|(kind, _)| *kind));
    for spec in Spec::of_each_kind() {
        let (_, by) = KINDS.iter().find(|(kind, _)| *kind == name(&spec)).unwrap();
        let identity = spec.identity();
        match (by, &identity) {
            (By::Key, Identity::Key(reason)) => assert!(!reason.is_empty() && !reason.ends_with('.'), "{reason}"),
            (By::Fixed(map), Identity::Fixed { input, .. }) => assert_eq!(map, input),
            (By::Inputs(map), Identity::Inputs { input, inputs, .. }) => {
                assert_eq!(map, input);
                assert!(inputs.is_known(), "{identity:?}");
            }
            (By::Entry(of), Identity::Entry { leader, .. }) => assert_eq!(of, leader),
            _ => panic!("{}: {identity:?}", spec.kind()),
        }
        // A moved object has the key that a blueprint gives it.
        let Some(slots) = identity.slots() else { continue };
        let moved = spec.key_in(&Key::new(format!("{slots}x")), format!("{slots}y"));
        assert_eq!(identity.name_in(&moved.slot), Some("y"));
    }
}
