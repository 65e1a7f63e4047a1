//! The VPC's default network ACL: its rules change one by one, and at no moment is everything denied.

use std::collections::BTreeMap;

use ipnet::IpNet;
use serde_json::{Value, json};

use super::drift_matrix::mends;
use super::{TestEnv, text};

/// Two public subnets and no more.
const PUBLIC: &str = "  num_availability_zones = 2\n  num_nat_gateways = 0\n  create_private_app_subnets = false\n  \
                      create_private_persistence_subnets = false\n  create_vpc_endpoints = false";

const INSIDE: &str = "Inside = { rule_no = 90, action = \"allow\", protocol = \"-1\", from_port = 0, to_port = 0, cidr_block = \"10.0.0.0/16\" }";
const HTTPS: &str = "Https = { rule_no = 100, action = \"allow\", protocol = \"tcp\", from_port = 443, to_port = 443, cidr_block = \"0.0.0.0/0\" }";
const HTTPS_IPV6: &str = "HttpsIpv6 = { rule_no = 101, action = \"allow\", protocol = \"tcp\", from_port = 443, to_port = 443, ipv6_cidr_block = \"::/0\" }";
const PING: &str = "Ping = { rule_no = 120, action = \"allow\", protocol = \"icmp\", from_port = 0, to_port = 0, icmp_type = 8, \
                    icmp_code = -1, cidr_block = \"10.0.0.0/8\" }";

/// The network with these inbound rules of its default ACL.
fn ruled(rules: &[&str], further: &str) -> String {
    format!(
        "{PUBLIC}\n  apply_default_nacl_rules = true\n  default_nacl_ingress_rules = {{\n    {}\n  }}\n{further}",
        rules.join("\n    ")
    )
}

/// The line of the default ACL of these two subnets, with AWS's last rules.
fn line(name: &str, inbound: &str) -> String {
    let ipv4 = "out 100 allow 0.0.0.0/0, out 101 allow ::/0, out 32767 deny 0.0.0.0/0";
    format!("acl default{name} ({inbound}, in 32767 deny 0.0.0.0/0, {ipv4}) 2 subnets")
}

/// A rule, as far as it matters to a packet.
#[derive(Clone, Debug)]
struct Rule {
    allow: bool,
    protocol: String,
    cidr: IpNet,
    ports: Option<(i64, i64)>,
}

impl Rule {
    /// Whether it is about HTTPS from this address.
    fn is_about_https(&self, from: std::net::IpAddr) -> bool {
        let is_protocol = ["-1", "6"].contains(&self.protocol.as_str());
        is_protocol && self.cidr.contains(&from) && self.ports.is_none_or(|(first, last)| first <= 443 && 443 <= last)
    }
}

/// The rules of both directions by number, as they follow from one another call by call.
type Rules = BTreeMap<(bool, i64), Rule>;

fn rules(bed: &TestEnv) -> Rules {
    let acls = bed.proxy.account().list_of("network_acls");
    let acl = acls.iter().find(|acl| acl["IsDefault"] == true).expect("a VPC has a default ACL");
    let entries = acl["Entries"].as_array().expect("a list").iter();
    let rules = entries.map(|entry| {
        let cidr = entry["CidrBlock"].as_str().or(entry["Ipv6CidrBlock"].as_str()).expect("a range");
        let protocol = text(&entry["Protocol"]);
        let range = &entry["PortRange"];
        let ports = range["From"].as_i64().zip(range["To"].as_i64()).filter(|_| protocol == "6");
        let rule =
            Rule { allow: entry["RuleAction"] == "allow", protocol, cidr: cidr.parse().expect("a range"), ports };
        ((entry["Egress"] == true, entry["RuleNumber"].as_i64().expect("a number")), rule)
    });
    rules.collect()
}

/// Follows the calls from these rules on, and asserts that HTTPS from inside the network is allowed at each moment, in
/// both directions.
fn assert_never_all_denied(bed: &TestEnv, mut rules: Rules) {
    let from = "10.0.7.7".parse().expect("an address");
    for record in bed.proxy.mutations() {
        let call = &record.call;
        let number = || (call.param("Egress") == "true", call.param("RuleNumber").parse().expect("a number"));
        match call.action.as_str() {
            "CreateNetworkAclEntry" | "ReplaceNetworkAclEntry" => {
                let cidr = [call.param("CidrBlock"), call.param("Ipv6CidrBlock")].concat();
                let port = |name: &str| call.param(name).parse().ok();
                let rule = Rule {
                    allow: call.param("RuleAction") == "allow",
                    protocol: call.param("Protocol").to_owned(),
                    cidr: cidr.parse().expect("a range"),
                    ports: port("PortRange.From").zip(port("PortRange.To")),
                };
                rules.insert(number(), rule);
            }
            "DeleteNetworkAclEntry" => {
                rules.remove(&number());
            }
            _ => continue,
        }
        for egress in [false, true] {
            let of_direction = rules.iter().filter(|((direction, _), _)| *direction == egress);
            let first = of_direction.map(|(_, rule)| rule).find(|rule| rule.is_about_https(from));
            assert!(first.is_some_and(|rule| rule.allow), "after {call:?} HTTPS is denied: {rules:#?}");
        }
    }
}

/// A change during which HTTPS is never denied: its calls, and the ACL's line afterwards if that is another one.
fn exchange(bed: &TestEnv, attributes: &str) -> (String, Option<String>) {
    let before = rules(bed);
    let mut change = bed.change(attributes);
    // `change` plans again at its end, and that makes no calls that change anything.
    assert_never_all_denied(bed, before);
    assert!(change.new.len() <= 1, "the ACL and nothing else: {change:#?}");
    (change.calls, change.new.pop())
}

#[test]
fn rules_are_exchanged_one_by_one_and_at_no_moment_is_everything_denied() {
    let bed = TestEnv::new();
    let plain = bed.change(PUBLIC);
    let original = "acl default (in 100 allow 0.0.0.0/0, in 32767 deny 0.0.0.0/0, out 100 allow 0.0.0.0/0, out 32767 deny \
                    0.0.0.0/0) 2 subnets";
    assert_eq!(plain.new[0], original);

    let (calls, acl) = exchange(&bed, &ruled(&[INSIDE, HTTPS], ""));
    assert_eq!(calls, "CreateNetworkAclEntry 2, CreateTags 1, ReplaceNetworkAclEntry 1");
    assert_eq!(acl, Some(line(" main", "in 90 allow 10.0.0.0/16, in 100 allow 6:443-443 0.0.0.0/0")));

    // Another number is another rule: the new one stands before the old one goes.
    let (calls, acl) = exchange(&bed, &ruled(&[INSIDE, &HTTPS.replace("100", "95")], ""));
    assert_eq!(calls, "CreateNetworkAclEntry 1, DeleteNetworkAclEntry 1");
    assert_eq!(acl, Some(line(" main", "in 90 allow 10.0.0.0/16, in 95 allow 6:443-443 0.0.0.0/0")));

    // The same numbers the other way round.
    let swapped = [&*INSIDE.replace("90", "95"), &*HTTPS.replace("100", "90")];
    let (calls, acl) = exchange(&bed, &ruled(&swapped, ""));
    assert_eq!(calls, "ReplaceNetworkAclEntry 2");
    assert_eq!(acl, Some(line(" main", "in 90 allow 6:443-443 0.0.0.0/0, in 95 allow 10.0.0.0/16")));

    let (calls, acl) = exchange(&bed, &ruled(&[&swapped[..], &[HTTPS_IPV6, PING]].concat(), ""));
    assert_eq!(calls, "CreateNetworkAclEntry 2");
    let four = "in 90 allow 6:443-443 0.0.0.0/0, in 95 allow 10.0.0.0/16, in 101 allow 6:443-443 ::/0, in 120 allow 1 10.0.0.0/8";
    assert_eq!(acl, Some(line(" main", four)));
    let calls = bed.proxy.mutations();
    let ping =
        calls.iter().map(|record| &record.call).find(|call| call.param("RuleNumber") == "120").expect("its call");
    assert_eq!([ping.param("Icmp.Type"), ping.param("Icmp.Code")], ["8", "-1"]);

    // A denial comes after what allows, and its name means nothing.
    let deny = "Guests = { rule_no = 80, action = \"deny\", protocol = \"-1\", from_port = 0, to_port = 0, cidr_block = \
                \"10.0.99.0/24\" }";
    let rest = [&*INSIDE.replace("Inside", "Within"), deny];
    let (calls, acl) = exchange(&bed, &ruled(&rest, ""));
    assert_eq!(calls, "CreateNetworkAclEntry 1, DeleteNetworkAclEntry 3, ReplaceNetworkAclEntry 1");
    assert_eq!(acl, Some(line(" main", "in 80 deny 10.0.99.0/24, in 90 allow 10.0.0.0/16")));

    bed.config(PUBLIC);
    let plan = bed.workspace.plan(&[]);
    assert!(plan.says("AWS's original rules come back to the default network ACL"), "{plan}");
    assert!(plan.says("lets go of 1 AWS object") && plan.says("let go: default_network_acl (acl-"), "{plan}");
    assert!(!plan.says("deletes 1 AWS object"), "AWS keeps the ACL: {plan}");
    let (calls, acl) = exchange(&bed, PUBLIC);
    assert_eq!(calls, "CreateNetworkAclEntry 1, DeleteNetworkAclEntry 3, DeleteTags 1");
    assert_eq!(acl.as_deref(), Some(original), "neither its rules nor its tags are ours any more");
    bed.destroy();
}

#[test]
fn the_acl_that_is_let_go_of_an_ipv6_network_allows_that_again() {
    let bed = TestEnv::new();
    let ipv6 = "  enable_ipv6 = true\n  assign_generated_ipv6_cidr_block = true";
    let made = bed.change(&ruled(&[INSIDE, HTTPS, HTTPS_IPV6], ipv6));
    let acl = made.new.iter().find(|line| line.starts_with("acl")).expect("a line");
    assert!(
        acl.starts_with(
            "acl default main (in 90 allow 10.0.0.0/16, in 100 allow 6:443-443 0.0.0.0/0, in 101 allow 6:443-443 ::/0"
        ),
        "{acl}"
    );
    let (_, acl) = exchange(&bed, &format!("{PUBLIC}\n{ipv6}"));
    let both = |direction: &str| {
        let rule = |rule: &str| format!("{direction} {rule}");
        ["100 allow 0.0.0.0/0", "101 allow ::/0", "32767 deny 0.0.0.0/0", "32768 deny ::/0"].map(rule).join(", ")
    };
    assert_eq!(acl, Some(format!("acl default ({}, {}) 2 subnets", both("in"), both("out"))));
    bed.destroy();
}

#[test]
fn outbound_rules_and_icmp_types_change_one_by_one() {
    let bed = TestEnv::new();
    let outbound =
        |rules: &str| ruled(&[INSIDE, PING], &format!("  default_nacl_egress_rules = {{\n    {rules}\n  }}"));
    let all = "All = { rule_no = 100, action = \"allow\", protocol = \"-1\", from_port = 0, to_port = 0, cidr_block = \"0.0.0.0/0\" }";
    bed.change(&outbound(all));
    let before = rules(&bed);
    let dns = "Dns = { rule_no = 110, action = \"allow\", protocol = \"udp\", from_port = 53, to_port = 53, cidr_block = \"10.0.0.2/32\" }";
    let (calls, acl) = exchange(&bed, &outbound(&format!("{all}\n    {dns}")));
    assert_eq!(calls, "CreateNetworkAclEntry 1");
    assert!(acl.is_some_and(|line| line.contains("out 110 allow 17:53-53 10.0.0.2/32")));
    assert_eq!(rules(&bed).len(), before.len() + 1);
    let (calls, _) = exchange(&bed, &outbound(all));
    assert_eq!(calls, "DeleteNetworkAclEntry 1");

    let reply = PING.replace("icmp_type = 8", "icmp_type = 0");
    let attributes = outbound(all).replace(PING, &reply);
    bed.config(&attributes);
    bed.proxy.clear_calls();
    bed.workspace.apply(&[]).succeeded();
    let calls = bed.proxy.mutations();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!((calls[0].call.action.as_str(), calls[0].call.param("Icmp.Type")), ("ReplaceNetworkAclEntry", "0"));
    bed.workspace.assert_nothing_to_do();
    bed.destroy();
}

/// Gives subnets another ACL, as their owners may.
fn give_another_acl(bed: &TestEnv, subnets: &[&str]) -> String {
    let made = bed.ec2("create_network_acl", json!({"VpcId": bed.id("vpc")}));
    let acl = text(&made["NetworkAcl"]["NetworkAclId"]);
    for subnet in subnets {
        associate(bed, subnet, &acl);
    }
    acl
}

fn associate(bed: &TestEnv, subnet: &str, acl: &str) {
    let id = bed.id(subnet);
    let acls = bed.proxy.account().list_of("network_acls");
    let associations = acls.iter().flat_map(|acl| acl["Associations"].as_array().expect("a list"));
    let association = associations.into_iter().find(|it| it["SubnetId"] == *id).expect("a subnet has an ACL");
    let replaced = json!({"AssociationId": association["NetworkAclAssociationId"], "NetworkAclId": acl});
    bed.ec2("replace_network_acl_association", replaced);
}

#[test]
fn a_subnet_with_another_acl_is_given_the_default_one_once_and_not_fought_over() {
    let bed = TestEnv::new();
    let off = ruled(&[INSIDE, HTTPS], "  associate_default_nacl_to_subnets = false");
    bed.change(&off);
    let other = give_another_acl(&bed, &["subnet.public.0", "subnet.public.1"]);
    bed.workspace.assert_nothing_to_do();

    let on = bed.change(&ruled(&[INSIDE, HTTPS], ""));
    assert_eq!(on.calls, "ReplaceNetworkAclAssociation 2");
    assert!(on.new.iter().any(|line| line.starts_with("acl default main") && line.ends_with("2 subnets")), "{on:#?}");

    // Somebody takes one of them back, and it stays his, whatever else changes.
    associate(&bed, "subnet.public.1", &other);
    bed.workspace.assert_nothing_to_do();
    let changed = bed.change(&ruled(&[INSIDE], ""));
    assert_eq!(changed.calls, "DeleteNetworkAclEntry 1");
    let third = ruled(&[INSIDE], "").replace("num_availability_zones = 2", "num_availability_zones = 3");
    let added = bed.change(&third);
    assert!(!added.calls.contains("ReplaceNetworkAclAssociation"), "a new subnet has it anyway: {added:#?}");
    assert!(
        added.new.iter().any(|line| line.starts_with("acl default main") && line.ends_with("2 subnets")),
        "{added:#?}"
    );
    let off = bed.change(&format!("{third}\n  associate_default_nacl_to_subnets = false"));
    assert_eq!((off.calls.as_str(), off.new), ("", vec![]), "who has it keeps it");

    associate(&bed, "subnet.public.1", &bed.id("default_network_acl"));
    bed.ec2("delete_network_acl", json!({"NetworkAclId": other}));
    bed.destroy();
}

#[test]
fn rules_and_tags_that_others_change_are_set_again_one_by_one() {
    let bed = TestEnv::new();
    bed.change(&ruled(&[INSIDE, HTTPS, HTTPS_IPV6], "  custom_tags = { team = \"net\" }"));
    let good = bed.snapshot();
    let acl = bed.id("default_network_acl");
    let entry = |number: i64, egress: bool, further: Value| {
        let mut entry = json!({"NetworkAclId": acl, "RuleNumber": number, "Egress": egress});
        entry.as_object_mut().expect("a map").extend(further.as_object().expect("a map").clone());
        entry
    };
    let allow_all = json!({"Protocol": "-1", "RuleAction": "allow", "CidrBlock": "0.0.0.0/0"});
    let said_inbound = ("default_network_acl", "ingress is ");
    let said_outbound = ("default_network_acl", "egress is ");

    let before = rules(&bed);
    bed.ec2("create_network_acl_entry", entry(10, false, allow_all.clone()));
    mends(&bed, &good, &[said_inbound], "DeleteNetworkAclEntry 1");
    assert_never_all_denied(&bed, before);

    bed.ec2("delete_network_acl_entry", entry(100, true, json!({})));
    mends(&bed, &good, &[said_outbound], "CreateNetworkAclEntry 1");

    bed.ec2("replace_network_acl_entry", entry(90, false, allow_all.clone()));
    mends(&bed, &good, &[said_inbound], "ReplaceNetworkAclEntry 1");

    // All of it, and the tags.
    bed.ec2("create_network_acl_entry", entry(200, true, allow_all));
    bed.ec2("delete_network_acl_entry", entry(101, false, json!({})));
    let deny = json!({"Protocol": "-1", "RuleAction": "deny", "CidrBlock": "10.0.0.0/16"});
    bed.ec2("replace_network_acl_entry", entry(90, false, deny));
    bed.ec2("create_tags", json!({"Resources": [acl], "Tags": [{"Key": "team", "Value": "other"}]}));
    bed.ec2("delete_tags", json!({"Resources": [acl], "Tags": [{"Key": "Name"}]}));
    let found = [
        said_inbound,
        said_outbound,
        ("default_network_acl", "tag team has another value"),
        ("default_network_acl", "tag Name is missing"),
    ];
    let calls = "CreateNetworkAclEntry 1, CreateTags 1, DeleteNetworkAclEntry 1, ReplaceNetworkAclEntry 1";
    mends(&bed, &good, &found, calls);
    bed.destroy();
}

#[test]
fn an_acl_takes_its_tags_from_the_network_and_keeps_those_of_others() {
    let bed = TestEnv::new();
    bed.change(&ruled(&[INSIDE], "  custom_tags = { team = \"blue\", cost = \"1\" }"));
    let acl = bed.id("default_network_acl");
    bed.ec2("create_tags", json!({"Resources": [acl], "Tags": [{"Key": "theirs", "Value": "stays"}]}));
    bed.workspace.assert_nothing_to_do();
    let changed = bed.change(&ruled(&[INSIDE], "  custom_tags = { team = \"red\" }"));
    let line = changed.new.iter().find(|line| line.starts_with("acl")).expect("it has other tags");
    assert!(line.ends_with("{team=red, theirs=stays}"), "{line}");
    let off = bed.change(PUBLIC);
    let line = off.new.iter().find(|line| line.starts_with("acl")).expect("it has no tags of ours");
    assert!(line.starts_with("acl default (") && line.ends_with("{theirs=stays}"), "{line}");
    bed.destroy();
}
