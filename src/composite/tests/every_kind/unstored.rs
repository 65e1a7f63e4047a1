//! What AWS does not store comes from the earlier spec, in every path that has one.

use std::collections::BTreeSet;

use super::assert_complete;
use crate::model::{Input, Ipv6Source, LogGroup, Spec, Vpc, VpcIpv6Block};

/// The fields of a kind that AWS does not store.
const UNSTORED: &[(&str, &[&str])] = &[
    ("VPC", &["cidr_block", "ipv4_ipam_pool_id", "ipv4_netmask_length"]),
    ("IPv6 CIDR block", &["source"]),
    ("log group", &["root", "skip_destroy"]),
];

/// All other kinds: AWS stores each setting, or the read of an object in state returns it.
const STORED: &[&str] = &[
    "API mapping",
    "DNS record",
    "Elastic IP address",
    "HTTP API",
    "JWT authorizer",
    "Lambda permission",
    "NAT gateway",
    "VPC endpoint",
    "VPC link",
    "authorizer",
    "custom domain",
    "default network ACL",
    "default security group",
    "egress-only internet gateway",
    "flow log",
    "integration",
    "interface endpoint",
    "internet gateway",
    "route",
    "API route",
    "route table",
    "route table association",
    "secondary CIDR block",
    "security group",
    "stage",
    "subnet",
    "subscription filter",
];

/// A spec as a read without an earlier one returns it, and the earlier one.
fn read_and_earlier(kind: &str) -> (Spec, Spec) {
    let text = |text: &str| Input::Known(Some(text.to_string()));
    match kind {
        "VPC" => {
            let read = Vpc { cidr_block: text("10.0.0.0/16"), ..Vpc::test() };
            let pool = Vpc {
                cidr_block: Input::Known(None),
                ipv4_ipam_pool_id: text("ipam-pool-1"),
                ipv4_netmask_length: Input::Known(Some(16)),
                ..read.clone()
            };
            (read.into(), pool.into())
        }
        "IPv6 CIDR block" => {
            let source =
                |pool_id, netmask_length| Ipv6Source::Pool { pool_id, cidr_block: Input::Known(None), netmask_length };
            let read = VpcIpv6Block { source: source(Input::Known(None), Input::Known(None)), ..VpcIpv6Block::test() };
            let pool = VpcIpv6Block { source: source(text("ipam-pool-1"), Input::Known(Some(56))), ..read.clone() };
            (read.into(), pool.into())
        }
        _ => {
            let read = LogGroup { skip_destroy: true.into(), ..LogGroup::test() };
            let root = crate::model::Key::new("vpc");
            (read.into(), LogGroup { root, skip_destroy: false.into(), ..LogGroup::test() }.into())
        }
    }
}

fn differing(one: &Spec, other: &Spec) -> BTreeSet<String> {
    let fields = |spec: &Spec| serde_json::to_value(spec).unwrap().as_object().unwrap().clone();
    let (one, other) = (fields(one), fields(other));
    one.into_iter().filter(|(name, value)| other.get(name) != Some(value)).map(|(name, _)| name).collect()
}

#[test]
fn what_aws_does_not_store_is_taken_from_the_earlier_spec() {
    assert_complete(UNSTORED.iter().map(|(kind, _)| *kind).chain(STORED.iter().copied()));
    for (kind, fields) in UNSTORED {
        let (read, earlier) = read_and_earlier(kind);
        assert_eq!(read.kind(), *kind);
        let expected: BTreeSet<String> = fields.iter().map(ToString::to_string).collect();
        assert_eq!(differing(&read, &earlier), expected, "{kind}");
        let mut taken = read.clone();
        taken.take_unstored(earlier.as_kind());
        assert_eq!(taken, earlier, "{kind}");
    }
}

#[test]
fn nothing_else_is_taken_from_the_earlier_spec() {
    for spec in Spec::of_each_kind() {
        for other in Spec::of_each_kind().iter().filter(|other| other.kind() != spec.kind()) {
            let mut taken = spec.clone();
            taken.take_unstored(other.as_kind());
            assert_eq!(taken, spec);
        }
    }
}
