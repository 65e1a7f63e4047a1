//! The VPC's default network ACL: its rules change one by one, and there is no moment at which it denies all traffic.

use std::collections::BTreeMap;

use ipnet::IpNet;
use serde_json::{Value, json};

use super::drift_matrix::fixes;
use super::{TestEnv, text};
use crate::support::proxy::fault::Fault;

/// Two public subnets and nothing else.
const PUBLIC: &str = "  num_availability_zones = 2\n  num_nat_gateways = 0\n  create_private_app_subnets = false\n  \
                      create_private_persistence_subnets = false\n  create_vpc_endpoints = false";

const INSIDE: &str = "Inside = { rule_no = 90, action = \"allow\", protocol = \"-1\", from_port = 0, to_port = 0, cidr_block = \"10.0.0.0/16\" }";
const HTTPS: &str = "Https = { rule_no = 100, action = \"allow\", protocol = \"tcp\", from_port = 443, to_port = 443, cidr_block = \"0.0.0.0/0\" }";
const HTTPS_IPV6: &str = "HttpsIpv6 = { rule_no = 101, action = \"allow\", protocol = \"tcp\", from_port = 443, to_port = 443, ipv6_cidr_block = \"::/0\" }";
const PING: &str = "Ping = { rule_no = 120, action = \"allow\", protocol = \"icmp\", from_port = 0, to_port = 0, icmp_type = 8, \
                    icmp_code = -1, cidr_block = \"10.0.0.0/8\" }";

/// A network whose default ACL has these inbound rules.
fn ruled(rules: &[&str], further: &str) -> String {
    format!(
        "{PUBLIC}\n  apply_default_nacl_rules = true\n  default_nacl_ingress_rules = {{\n    {}\n  }}\n{further}",
        rules.join("\n    ")
    )
}

/// The snapshot's line for the default ACL of both subnets, with the final deny rules that AWS adds.
fn line(name: &str, inbound: &str) -> String {
    let ipv4 = "out 100 allow 0.0.0.0/0, out 101 allow ::/0, out 32767 deny 0.0.0.0/0";
    format!("acl default{name} ({inbound}, in 32767 deny 0.0.0.0/0, {ipv4}) 2 subnets")
}

/// The parts of a rule that decide about a packet.
#[derive(Clone, Debug)]
struct Rule {
    allow: bool,
    protocol: String,
    cidr: IpNet,
    ports: Option<(i64, i64)>,
}

impl Rule {
    /// Whether the rule matches HTTPS from this address.
    fn is_about_https(&self, from: std::net::IpAddr) -> bool {
        let is_protocol = ["-1", "6"].contains(&self.protocol.as_str());
        is_protocol && self.cidr.contains(&from) && self.ports.is_none_or(|(first, last)| first <= 443 && 443 <= last)
    }
}

/// The rules of both directions by egress flag and rule number.
type Rules = BTreeMap<(bool, i64), Rule>;

fn rules(env: &TestEnv) -> Rules {
    let acls = env.proxy.account().list_of("network_acls");
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

/// Applies the logged calls to these rules one by one, and asserts that after each of them both directions allow HTTPS
/// from an address of the network.
fn assert_never_all_denied(env: &TestEnv, mut rules: Rules) {
    let from = "10.0.7.7".parse().expect("an address");
    for record in env.proxy.mutations() {
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

/// Applies a change and asserts that HTTPS is never denied. Returns the calls and, if it changed, the ACL's new line.
fn safe_change(env: &TestEnv, attributes: &str) -> (String, Option<String>) {
    let before = rules(env);
    let mut change = env.change(attributes);
    // The final plan of `change` makes no changing calls.
    assert_never_all_denied(env, before);
    assert!(change.new.len() <= 1, "the ACL and nothing else: {change:#?}");
    (change.calls, change.new.pop())
}

#[test]
fn rules_change_one_by_one_and_never_deny_everything() {
    let env = TestEnv::new();
    let plain = env.change(PUBLIC);
    let original = "acl default (in 100 allow 0.0.0.0/0, in 32767 deny 0.0.0.0/0, out 100 allow 0.0.0.0/0, out 32767 deny \
                    0.0.0.0/0) 2 subnets";
    assert_eq!(plain.new[0], original);

    let (calls, acl) = safe_change(&env, &ruled(&[INSIDE, HTTPS], ""));
    assert_eq!(calls, "CreateNetworkAclEntry 2, CreateTags 1, ReplaceNetworkAclEntry 1");
    assert_eq!(acl, Some(line(" main", "in 90 allow 10.0.0.0/16, in 100 allow 6:443-443 0.0.0.0/0")));

    // A rule is identified by its number: the new rule is created before the old one is deleted.
    let (calls, acl) = safe_change(&env, &ruled(&[INSIDE, &HTTPS.replace("100", "95")], ""));
    assert_eq!(calls, "CreateNetworkAclEntry 1, DeleteNetworkAclEntry 1");
    assert_eq!(acl, Some(line(" main", "in 90 allow 10.0.0.0/16, in 95 allow 6:443-443 0.0.0.0/0")));

    // The rules swap their numbers.
    let swapped = [&*INSIDE.replace("90", "95"), &*HTTPS.replace("100", "90")];
    let (calls, acl) = safe_change(&env, &ruled(&swapped, ""));
    assert_eq!(calls, "ReplaceNetworkAclEntry 2");
    assert_eq!(acl, Some(line(" main", "in 90 allow 6:443-443 0.0.0.0/0, in 95 allow 10.0.0.0/16")));

    let (calls, acl) = safe_change(&env, &ruled(&[&swapped[..], &[HTTPS_IPV6, PING]].concat(), ""));
    assert_eq!(calls, "CreateNetworkAclEntry 2");
    let four = "in 90 allow 6:443-443 0.0.0.0/0, in 95 allow 10.0.0.0/16, in 101 allow 6:443-443 ::/0, in 120 allow 1 10.0.0.0/8";
    assert_eq!(acl, Some(line(" main", four)));
    let calls = env.proxy.mutations();
    let ping =
        calls.iter().map(|record| &record.call).find(|call| call.param("RuleNumber") == "120").expect("its call");
    assert_eq!([ping.param("Icmp.Type"), ping.param("Icmp.Code")], ["8", "-1"]);

    // A new deny rule is set after the allow rules. A rule's name has no meaning in AWS, so another name is no change.
    let deny = "Guests = { rule_no = 80, action = \"deny\", protocol = \"-1\", from_port = 0, to_port = 0, cidr_block = \
                \"10.0.99.0/24\" }";
    let rest = [&*INSIDE.replace("Inside", "Within"), deny];
    let (calls, acl) = safe_change(&env, &ruled(&rest, ""));
    assert_eq!(calls, "CreateNetworkAclEntry 1, DeleteNetworkAclEntry 3, ReplaceNetworkAclEntry 1");
    assert_eq!(acl, Some(line(" main", "in 80 deny 10.0.99.0/24, in 90 allow 10.0.0.0/16")));

    env.config(PUBLIC);
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("The default network ACL gets AWS's original rules again"), "{plan}");
    assert!(
        plan.says("stops managing 1 AWS object") && plan.says("no longer managed: default_network_acl (acl-"),
        "{plan}"
    );
    assert!(!plan.says("deletes 1 AWS object"), "AWS keeps the ACL: {plan}");
    let (calls, acl) = safe_change(&env, PUBLIC);
    assert_eq!(calls, "CreateNetworkAclEntry 1, DeleteNetworkAclEntry 3, DeleteTags 1");
    assert_eq!(acl.as_deref(), Some(original), "its rules and tags are the original ones");
    env.destroy();
}

#[test]
fn a_released_acl_of_an_ipv6_network_allows_ipv6_again() {
    let env = TestEnv::new();
    let ipv6 = "  enable_ipv6 = true\n  assign_generated_ipv6_cidr_block = true";
    let created = env.change(&ruled(&[INSIDE, HTTPS, HTTPS_IPV6], ipv6));
    let acl = created.new.iter().find(|line| line.starts_with("acl")).expect("a line");
    assert!(
        acl.starts_with(
            "acl default main (in 90 allow 10.0.0.0/16, in 100 allow 6:443-443 0.0.0.0/0, in 101 allow 6:443-443 ::/0"
        ),
        "{acl}"
    );
    let (_, acl) = safe_change(&env, &format!("{PUBLIC}\n{ipv6}"));
    let both = |direction: &str| {
        let rule = |rule: &str| format!("{direction} {rule}");
        ["100 allow 0.0.0.0/0", "101 allow ::/0", "32767 deny 0.0.0.0/0", "32768 deny ::/0"].map(rule).join(", ")
    };
    assert_eq!(acl, Some(format!("acl default ({}, {}) 2 subnets", both("in"), both("out"))));
    env.end();
}

#[test]
fn outbound_rules_and_icmp_types_change_one_by_one() {
    let env = TestEnv::new();
    let outbound =
        |rules: &str| ruled(&[INSIDE, PING], &format!("  default_nacl_egress_rules = {{\n    {rules}\n  }}"));
    let all = "All = { rule_no = 100, action = \"allow\", protocol = \"-1\", from_port = 0, to_port = 0, cidr_block = \"0.0.0.0/0\" }";
    env.change(&outbound(all));
    let before = rules(&env);
    let dns = "Dns = { rule_no = 110, action = \"allow\", protocol = \"udp\", from_port = 53, to_port = 53, cidr_block = \"10.0.0.2/32\" }";
    let (calls, acl) = safe_change(&env, &outbound(&format!("{all}\n    {dns}")));
    assert_eq!(calls, "CreateNetworkAclEntry 1");
    assert!(acl.is_some_and(|line| line.contains("out 110 allow 17:53-53 10.0.0.2/32")));
    assert_eq!(rules(&env).len(), before.len() + 1);
    let (calls, _) = safe_change(&env, &outbound(all));
    assert_eq!(calls, "DeleteNetworkAclEntry 1");

    let reply = PING.replace("icmp_type = 8", "icmp_type = 0");
    let attributes = outbound(all).replace(PING, &reply);
    env.config(&attributes);
    env.proxy.clear_calls();
    env.workspace.apply(&[]).succeeded();
    let calls = env.proxy.mutations();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!((calls[0].call.action.as_str(), calls[0].call.param("Icmp.Type")), ("ReplaceNetworkAclEntry", "0"));
    env.workspace.assert_nothing_to_do();
    env.end();
}

/// Creates an ACL outside Terraform and associates it with these subnets.
fn associate_another_acl(env: &TestEnv, subnets: &[&str]) -> String {
    let created = env.ec2("create_network_acl", json!({"VpcId": env.id("vpc")}));
    let acl = text(&created["NetworkAcl"]["NetworkAclId"]);
    for subnet in subnets {
        associate(env, subnet, &acl);
    }
    acl
}

fn associate(env: &TestEnv, subnet: &str, acl: &str) {
    let id = env.id(subnet);
    let acls = env.proxy.account().list_of("network_acls");
    let associations = acls.iter().flat_map(|acl| acl["Associations"].as_array().expect("a list"));
    let association = associations.into_iter().find(|it| it["SubnetId"] == *id).expect("a subnet has an ACL");
    let replaced = json!({"AssociationId": association["NetworkAclAssociationId"], "NetworkAclId": acl});
    env.ec2("replace_network_acl_association", replaced);
}

const TAKING: &str = "  associate_default_nacl_to_subnets = true";

/// The subnets that hold databases, with an ACL of their own, in a network that does not manage its default ACL.
fn with_strict_acl(env: &TestEnv) -> ([&'static str; 2], String) {
    env.change(&with_databases(PUBLIC));
    let strict = ["subnet.private_persistence.0", "subnet.private_persistence.1"];
    (strict, associate_another_acl(env, &strict))
}

fn with_databases(rules: &str) -> String {
    rules.replace("  create_private_persistence_subnets = false\n", "")
}

#[test]
fn subnets_keep_their_acl_when_the_default_rules_are_turned_on() {
    let env = TestEnv::with_terraform();
    let (strict, acl) = with_strict_acl(&env);
    let on = with_databases(&ruled(&[INSIDE, HTTPS], ""));
    env.config(&on);
    let plan = env.workspace.plan(&[]);
    let kept = format!("subnet.private_persistence.0 ({}) keeps {acl}", env.id(strict[0]));
    assert!(plan.says(&kept) && plan.says("associate_default_nacl_to_subnets to true"), "{plan}");
    assert!(!plan.says("subnet.public.0 ("), "it has the default ACL: {plan}");
    let applied = env.change(&on);
    assert_eq!(applied.calls, "CreateNetworkAclEntry 2, CreateTags 1, ReplaceNetworkAclEntry 1");
    assert_eq!(acls_of(&env, &strict), [&*acl, &*acl]);

    let taking = format!("{on}\n{TAKING}");
    env.config(&taking);
    let plan = env.workspace.plan(&[]);
    let default = env.id("default_network_acl");
    let taken = format!("subnet.private_persistence.1 ({}) moves from {acl} to {default}", env.id(strict[1]));
    assert!(plan.says(&taken), "{plan}");
    assert_eq!(env.change(&taking).calls, "ReplaceNetworkAclAssociation 2");
    assert_eq!(acls_of(&env, &strict), [&*default, &*default]);
    env.ec2("delete_network_acl", json!({"NetworkAclId": acl}));
    env.end();
}

#[test]
fn rules_and_association_are_turned_on_together() {
    let env = TestEnv::new();
    let (strict, acl) = with_strict_acl(&env);
    let taking = with_databases(&ruled(&[INSIDE, HTTPS], TAKING));
    env.config(&taking);
    let plan = env.workspace.plan(&[]);
    assert!(plan.says(&format!("({}) moves from {acl} to acl-", env.id(strict[0]))), "{plan}");
    let calls = env.change(&taking).calls;
    assert!(calls.contains("ReplaceNetworkAclAssociation 2"), "{calls}");
    let default = env.id("default_network_acl");
    assert_eq!(acls_of(&env, &strict), [&*default, &*default]);
    env.ec2("delete_network_acl", json!({"NetworkAclId": acl}));
    env.end();
}

#[test]
fn a_subnet_that_moves_after_the_plan_is_not_taken() {
    let env = TestEnv::new();
    let (strict, acl) = with_strict_acl(&env);
    env.config(&with_databases(&ruled(&[INSIDE, HTTPS], TAKING)));
    env.workspace.plan(&[]);
    let other = associate_another_acl(&env, &[strict[0], "subnet.public.0"]);
    let run = env.workspace.apply_plan();
    run.failed_with(&format!("{} now has the network ACL {other}, and the plan showed {acl}", env.id(strict[0])));
    run.failed_with("Run plan again");
    let all = [strict[0], "subnet.public.0"];
    assert_eq!(acls_of(&env, &all), [&*other, &*other]);

    let calls = env.apply().calls;
    assert!(calls.contains("ReplaceNetworkAclAssociation"), "{calls}");
    let default = env.id("default_network_acl");
    assert_eq!(acls_of(&env, &all), [&*default, &*default], "the second plan has shown both");
    for acl in [acl, other] {
        env.ec2("delete_network_acl", json!({"NetworkAclId": acl}));
    }
    env.end();
}

#[test]
fn a_subnet_with_another_acl_gets_the_default_one_only_once() {
    let env = TestEnv::new();
    let off = ruled(&[INSIDE, HTTPS], "  associate_default_nacl_to_subnets = false");
    env.change(&off);
    let other = associate_another_acl(&env, &["subnet.public.0", "subnet.public.1"]);
    env.workspace.assert_nothing_to_do();

    let on = env.change(&ruled(&[INSIDE, HTTPS], TAKING));
    assert_eq!(on.calls, "ReplaceNetworkAclAssociation 2");
    assert!(on.new.iter().any(|line| line.starts_with("acl default main") && line.ends_with("2 subnets")), "{on:#?}");

    // An association that is changed back outside Terraform stays through all later changes.
    associate(&env, "subnet.public.1", &other);
    env.workspace.assert_nothing_to_do();
    let changed = env.change(&ruled(&[INSIDE], TAKING));
    assert_eq!(changed.calls, "DeleteNetworkAclEntry 1");
    let third = ruled(&[INSIDE], "").replace("num_availability_zones = 2", "num_availability_zones = 3");
    let added = env.change(&third);
    assert!(
        !added.calls.contains("ReplaceNetworkAclAssociation"),
        "a new subnet has the default ACL from the start: {added:#?}"
    );
    assert!(
        added.new.iter().any(|line| line.starts_with("acl default main") && line.ends_with("2 subnets")),
        "{added:#?}"
    );
    let off = env.change(&format!("{third}\n  associate_default_nacl_to_subnets = false"));
    assert_eq!((off.calls.as_str(), off.new), ("", vec![]), "associations with the default ACL stay");

    associate(&env, "subnet.public.1", &env.id("default_network_acl"));
    env.ec2("delete_network_acl", json!({"NetworkAclId": other}));
    env.end();
}

/// The ACLs of these subnets.
fn acls_of(env: &TestEnv, subnets: &[&str]) -> Vec<String> {
    let acls = env.proxy.account().list_of("network_acls");
    let associations: Vec<&Value> =
        acls.iter().flat_map(|acl| acl["Associations"].as_array().expect("a list")).collect();
    let acl = |subnet: &&str| {
        let id = env.id(subnet);
        let association = associations.iter().find(|it| it["SubnetId"] == *id).expect("a subnet has an ACL");
        text(&association["NetworkAclId"])
    };
    subnets.iter().map(acl).collect()
}

/// Applies a change of which AWS rejects the first call of this action, and applies it again. Returns the calls of the
/// second apply.
fn applied_after_refusal(env: &TestEnv, attributes: &str, action: &str) -> String {
    env.config(attributes);
    env.proxy.fault(Fault::on(action).nth(1).answer(403, "UnauthorizedOperation", "You are not authorized"));
    let refused = env.workspace.apply(&[]);
    refused.failed_with("default network ACL \"default_network_acl\"");
    refused.failed_with("UnauthorizedOperation");
    env.proxy.clear_faults();
    env.apply().calls
}

#[test]
fn a_retried_rule_change_keeps_the_acls_of_subnets() {
    let env = TestEnv::new();
    let with_tier = |rules: &[&str]| ruled(rules, "").replace("  create_private_persistence_subnets = false\n", "");
    env.change(&with_tier(&[INSIDE, HTTPS]));
    let strict = ["subnet.private_persistence.0", "subnet.private_persistence.1"];
    let other = associate_another_acl(&env, &strict);

    let calls =
        applied_after_refusal(&env, &with_tier(&[INSIDE, &HTTPS.replace("443", "8443")]), "ReplaceNetworkAclEntry");
    assert!(calls.contains("ReplaceNetworkAclEntry 1") && !calls.contains("Association"), "{calls}");
    assert_eq!(acls_of(&env, &strict), [&*other, &*other]);

    for subnet in strict {
        associate(&env, subnet, &env.id("default_network_acl"));
    }
    env.ec2("delete_network_acl", json!({"NetworkAclId": other}));
    env.end();
}

#[test]
fn a_retried_adoption_still_associates_the_subnets() {
    let env = TestEnv::new();
    env.change(PUBLIC);
    let subnets = ["subnet.public.0", "subnet.public.1"];
    let other = associate_another_acl(&env, &subnets);
    let calls = applied_after_refusal(&env, &ruled(&[INSIDE, HTTPS], TAKING), "CreateNetworkAclEntry");
    assert!(calls.contains("ReplaceNetworkAclAssociation 2"), "{calls}");
    let default = env.id("default_network_acl");
    assert_eq!(acls_of(&env, &subnets), [&*default, &*default]);
    env.ec2("delete_network_acl", json!({"NetworkAclId": other}));
    env.end();
}

#[test]
fn drift_of_rules_and_tags_is_fixed_one_by_one() {
    let env = TestEnv::new();
    env.change(&ruled(&[INSIDE, HTTPS, HTTPS_IPV6], "  custom_tags = { team = \"net\" }"));
    let good = env.snapshot();
    let acl = env.id("default_network_acl");
    let entry = |number: i64, egress: bool, further: Value| {
        let mut entry = json!({"NetworkAclId": acl, "RuleNumber": number, "Egress": egress});
        entry.as_object_mut().expect("a map").extend(further.as_object().expect("a map").clone());
        entry
    };
    let allow_all = json!({"Protocol": "-1", "RuleAction": "allow", "CidrBlock": "0.0.0.0/0"});
    let inbound = ("default_network_acl", "ingress: ");
    let outbound = ("default_network_acl", "egress: ");

    let before = rules(&env);
    env.ec2("create_network_acl_entry", entry(10, false, allow_all.clone()));
    fixes(&env, &good, &[inbound], "DeleteNetworkAclEntry 1");
    assert_never_all_denied(&env, before);

    env.ec2("delete_network_acl_entry", entry(100, true, json!({})));
    fixes(&env, &good, &[outbound], "CreateNetworkAclEntry 1");

    env.ec2("replace_network_acl_entry", entry(90, false, allow_all.clone()));
    fixes(&env, &good, &[inbound], "ReplaceNetworkAclEntry 1");

    // All rules at once, and the tags.
    env.ec2("create_network_acl_entry", entry(200, true, allow_all));
    env.ec2("delete_network_acl_entry", entry(101, false, json!({})));
    let deny = json!({"Protocol": "-1", "RuleAction": "deny", "CidrBlock": "10.0.0.0/16"});
    env.ec2("replace_network_acl_entry", entry(90, false, deny));
    env.ec2("create_tags", json!({"Resources": [acl], "Tags": [{"Key": "team", "Value": "other"}]}));
    env.ec2("delete_tags", json!({"Resources": [acl], "Tags": [{"Key": "Name"}]}));
    let found = [
        inbound,
        outbound,
        ("default_network_acl", "tag team has another value"),
        ("default_network_acl", "tag Name is missing"),
    ];
    let calls = "CreateNetworkAclEntry 1, CreateTags 1, DeleteNetworkAclEntry 1, ReplaceNetworkAclEntry 1";
    fixes(&env, &good, &found, calls);
    env.end();
}

#[test]
fn the_acl_has_the_tags_of_the_network_and_unmanaged_ones() {
    let env = TestEnv::new();
    env.change(&ruled(&[INSIDE], "  custom_tags = { team = \"blue\", cost = \"1\" }"));
    let acl = env.id("default_network_acl");
    env.ec2("create_tags", json!({"Resources": [acl], "Tags": [{"Key": "theirs", "Value": "stays"}]}));
    env.workspace.assert_nothing_to_do();
    let changed = env.change(&ruled(&[INSIDE], "  custom_tags = { team = \"red\" }"));
    let line = changed.new.iter().find(|line| line.starts_with("acl")).expect("its tags change");
    assert!(line.ends_with("{team=red, theirs=stays}"), "{line}");
    let off = env.change(PUBLIC);
    let line = off.new.iter().find(|line| line.starts_with("acl")).expect("its tags change");
    assert!(line.starts_with("acl default (") && line.ends_with("{theirs=stays}"), "{line}");
    env.end();
}
