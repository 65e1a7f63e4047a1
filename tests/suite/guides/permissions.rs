//! Generates the guide on permissions from the table in `support/permissions.rs`, and compares the table with the code
//! and with AWS's own list of actions.

#[path = "../../tidy/tree.rs"]
mod tree;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::Guide;
use crate::support::permissions::document::{self, document};
use crate::support::permissions::{Condition, POLICIES, Policy, arn, purposes, reference, rows, unrestricted};
use crate::support::proxy::Proxy;
use crate::support::{http, venv};

/// The maximum length of a managed policy, in characters other than white space.
const MOST: usize = 6144;

/// The service that the files below a path call, the most specific path first.
const SERVICES: &[(&str, &str)] = &[
    ("src/aws/apigateway/read/dns", "route53"),
    ("src/aws/apigateway", "apigateway"),
    ("src/aws/ec2", "ec2"),
    ("src/aws/lookups/facts", "ec2"),
    ("src/aws/lookups/endpoint_services", "ec2"),
    ("src/aws/lookups/outside/ec2", "ec2"),
    ("src/aws/lambda", "lambda"),
    ("src/aws/logs/group", "logs"),
    ("src/aws/logs/subscription", "logs"),
    ("src/aws/route53/record", "route53"),
    ("src/aws/lookups/acm", "acm"),
    ("src/aws/lookups/kms", "kms"),
    ("src/aws/config/identity", "sts"),
    ("src/aws/config/roles", "sts"),
];

/// The verbs that AWS's operations begin with.
const VERBS: &[&str] = &[
    "accept",
    "add",
    "allocate",
    "assign",
    "associate",
    "assume",
    "attach",
    "authorize",
    "cancel",
    "change",
    "copy",
    "create",
    "delete",
    "deprovision",
    "describe",
    "detach",
    "disable",
    "disassociate",
    "enable",
    "export",
    "get",
    "import",
    "invoke",
    "list",
    "modify",
    "move",
    "provision",
    "publish",
    "purchase",
    "put",
    "reject",
    "release",
    "remove",
    "replace",
    "reset",
    "restore",
    "revoke",
    "run",
    "search",
    "send",
    "set",
    "start",
    "stop",
    "tag",
    "terminate",
    "test",
    "unassign",
    "untag",
    "update",
];

/// Attributes of responses whose names look like operations.
const NO_OPERATIONS: &[&str] = &[
    "assign_ipv6_address_on_creation",
    "enable_dns_hostnames",
    "enable_dns_support",
    "enable_network_address_usage_metrics",
];

/// The calls in a line: methods of a client that are named after operations, such as `client.describe_vpcs()`.
fn operations(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in line.split('.').skip(1) {
        let name: String =
            part.chars().take_while(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || *it == '_').collect();
        let is_call = part[name.len()..].starts_with("()");
        let is_operation = name.split_once('_').is_some_and(|(verb, _)| VERBS.contains(&verb));
        if is_call && is_operation && !NO_OPERATIONS.contains(&name.as_str()) {
            found.push(name);
        }
    }
    found
}

/// AWS's name of an operation: `DescribeVpcs` for `describe_vpcs`.
fn aws_name(name: &str) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('_').map(word).collect()
}

/// Service and operation of each call in the code, with one place that makes it.
fn calls_in_the_code() -> BTreeMap<(String, String), String> {
    let mut calls = BTreeMap::new();
    for file in tree::product().iter().filter(|file| file.is_of("src/aws")) {
        for (number, line) in file.code() {
            for name in operations(line) {
                let place = format!("{}:{number}", file.path);
                let service =
                    SERVICES.iter().find(|(path, _)| file.path.starts_with(path)).map(|(_, service)| *service);
                let service =
                    service.unwrap_or_else(|| panic!("{place} calls {name}, but SERVICES has no service for the file"));
                calls.insert((service.to_owned(), aws_name(&name)), place);
            }
        }
    }
    calls
}

#[test]
fn calls_are_distinguished_from_other_code() {
    assert_eq!(operations("let call = session.ec2.create_vpc().cidr_block(it).send().await;"), ["create_vpc"]);
    assert_eq!(operations("    .describe_subnets()"), ["describe_subnets"]);
    assert_eq!(operations("shown.enable_dns_support(); answer.request_id(); x.set_tags(None); spec.list()"), [""; 0]);
    assert_eq!(aws_name("disassociate_vpc_cidr_block"), "DisassociateVpcCidrBlock");
}

#[test]
fn calls_and_permissions_match() {
    let calls = calls_in_the_code();
    assert!(calls.len() > 90, "calls are not found: {calls:?}");
    let known: BTreeSet<(String, String)> = rows()
        .filter(|row| !row.operation.is_empty())
        .map(|row| (row.service.to_owned(), row.operation.to_owned()))
        .collect();
    let unknown: Vec<_> = calls.iter().filter(|(call, _)| !known.contains(call)).collect();
    assert!(unknown.is_empty(), "calls without a row in tests/support/permissions.rs: {unknown:#?}");
    let unused: Vec<_> = known.iter().filter(|call| !calls.contains_key(call)).collect();
    assert!(unused.is_empty(), "permissions that no call needs: {unused:#?}");
}

#[test]
fn implied_permissions_have_a_reason() {
    for row in rows() {
        assert_eq!(row.operation.is_empty(), !row.because.is_empty(), "{row:?}");
        let purpose = purposes().any(|(policy, purpose, ..)| (*policy, *purpose) == (row.policy, row.purpose));
        assert_eq!(purpose, !row.action.is_empty(), "{row:?}");
        assert_eq!(row.action.is_empty(), row.resources.is_empty(), "{row:?}");
    }
    for (policy, purpose, ..) in purposes() {
        assert!(rows().any(|row| (row.policy, row.purpose) == (*policy, *purpose)), "no row has the purpose {purpose}");
    }
}

/// AWS's list of actions, with the resource types of each. It is part of cfn-lint.
fn list_of_aws() -> Value {
    let text = std::fs::read_to_string(venv::package("cfnlint/data/AdditionalSpecs/Policies.json"));
    serde_json::from_str(&text.expect("the list can be read")).expect("the list is JSON")
}

#[test]
fn actions_exist_in_aws_and_apply_to_their_resources() {
    let all = list_of_aws();
    for row in rows().filter(|row| !row.action.is_empty()) {
        let (service, action) = row.action.split_once(':').expect("an action has the prefix of its service");
        let known = &all[service]["Actions"][action.to_lowercase()];
        if reference::UNLISTED.contains(&row.action) {
            assert!(known.is_null(), "AWS's list now has {}: remove it from UNLISTED", row.action);
            continue;
        }
        assert!(known.is_object(), "AWS has no action {}", row.action);
        let types: Vec<String> = texts(&known["Resources"]).map(str::to_lowercase).collect();
        if types.is_empty() {
            assert_eq!(row.resources, ["*"], "{} cannot be limited to resources", row.action);
            continue;
        }
        for resource in row.resources {
            // The list has no tags for POST and DELETE; the table states the reason for PUT.
            if resource.starts_with("/tags/") {
                continue;
            }
            let acted_on = types.iter().map(|it| &all[service]["Resources"][it]).find(|it| is_of(it, &arn(resource)));
            assert!(acted_on.is_some(), "{} does not apply to {resource}, only to {types:?}", row.action);
        }
    }
}

#[test]
fn condition_keys_exist_for_their_actions_and_resources() {
    for row in rows().filter(|row| row.condition != Condition::None) {
        for (_, key, _) in row.condition.clauses() {
            for resource in row.resources {
                let listed = reference::has_key(row.action, &arn(resource).replace('*', "1"), key);
                assert!(listed, "AWS's list has no {key} for {} on {resource}", row.action);
            }
        }
    }
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Whether an ARN pattern of the table belongs to a resource type.
fn is_of(kind: &Value, arn: &str) -> bool {
    let own = |arn: &str| arn.splitn(6, ':').nth(5).map(str::to_owned).unwrap_or_default();
    texts(&kind["ARNFormats"]).map(own).any(|format| match format.strip_suffix(".*") {
        Some(begins) => own(arn).starts_with(begins),
        None => own(arn) == format,
    })
}

fn purposes_of(policy: Policy) -> String {
    let mut table = "| Statement | Purpose | Omit it if |\n|---|---|---|\n".to_owned();
    for (_, name, what, needed) in purposes().filter(|(of, ..)| *of == policy) {
        let without = match needed.omitted_if() {
            always if always.is_empty() => "(always required)".to_owned(),
            without => without,
        };
        table += &format!("| `{name}` | {what} | {without} |\n");
    }
    table
}

fn reasons() -> String {
    let mut table = "| Action | Reason |\n|---|---|\n".to_owned();
    for row in rows().filter(|row| row.operation.is_empty()) {
        let line = format!("| `{}` | {} |\n", row.action, row.because);
        // An action may need several statements for one reason.
        if !table.contains(&line) {
            table += &line;
        }
    }
    table
}

/// The statements without a condition, with the reason.
fn without_condition() -> String {
    let mut table = "| Policy | Statement | Why it has no condition |\n|---|---|---|\n".to_owned();
    let mut used = BTreeSet::new();
    for (policy, name) in POLICIES {
        for statement in document::statements(*policy).iter().filter(|it| it.condition == Condition::None) {
            let key = (*policy, statement.purpose, statement.actions[0]);
            let reason = unrestricted().find(|(policy, purpose, action, _)| (*policy, *purpose, *action) == key);
            let (.., reason) = reason.unwrap_or_else(|| panic!("no reason why {key:?} has no condition"));
            used.insert(key);
            table += &format!("| `{name}` | `{}` | {reason} |\n", statement.sid);
        }
    }
    for (policy, purpose, action, _) in unrestricted() {
        assert!(used.contains(&(*policy, purpose, action)), "{purpose} has a condition or no {action}");
    }
    table
}

#[test]
fn guide_on_permissions_contains_the_generated_policies() {
    let mut guide = Guide::open("permissions.md");
    for (policy, name) in POLICIES {
        let document = document(*policy);
        serde_json::from_str::<Value>(&document).expect("a policy is JSON");
        let length = document.chars().filter(|it| !it.is_whitespace()).count();
        assert!(length <= MOST, "the policy {name} has {length} characters, but AWS allows only {MOST}");
        guide.put(name, &format!("```json\n{document}\n```\n"));
        guide.put(&format!("{name}-statements"), &purposes_of(*policy));
    }
    guide.put("implied", &reasons());
    guide.put("unrestricted", &without_condition());
    guide.check();
}

/// The violations of one call of EC2 by this client.
fn violations(proxy: &Proxy, agent: &str, call: &str) -> Vec<String> {
    let credential = format!("{}/20260101/us-east-1/ec2/aws4_request", proxy.account().id);
    http::Request::new(proxy.port(), "POST", "/")
        .header("user-agent", agent)
        .header("authorization", &format!("AWS4-HMAC-SHA256 Credential={credential}, Signature=0"))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(&format!("Action={call}&Version=2016-11-15"))
        .send()
        .expect("the proxy answers");
    proxy.take_violations()
}

const OURS: &str = "aws-sdk-rust/1.0 terraform-provider-fgw/0.1.0";

#[test]
fn uncovered_call_fails_the_test_that_makes_it() {
    let proxy = Proxy::moto();
    assert_eq!(violations(&proxy, OURS, "DescribeVpcs"), [""; 0]);
    assert_eq!(violations(&proxy, "Boto3/1.0", "DescribeInstances"), [""; 0]);
    let found = violations(&proxy, OURS, "DescribeInstances");
    assert!(found.len() == 1 && found[0].starts_with("ec2: DescribeInstances has no row"), "{found:?}");
}

#[test]
fn refused_call_fails_the_test_that_makes_it() {
    let proxy = Proxy::moto();
    let vpc = proxy.boto("ec2", "create_vpc", json!({ "CidrBlock": "10.0.0.0/16" }))["Vpc"]["VpcId"].clone();
    let subnet = json!({ "CidrBlock": "10.0.0.0/24", "VpcId": vpc });
    let subnet = proxy.boto("ec2", "create_subnet", subnet)["Subnet"]["SubnetId"].clone();
    let id = subnet.as_str().expect("an ID is text");
    assert_eq!(violations(&proxy, OURS, "DeleteSubnet&SubnetId=subnet-0123456789abcdef0"), [""; 0], "a missing object");
    let tag = |value: &str| {
        let tags = json!([{ "Key": "fgw:resource", "Value": value }]);
        proxy.boto("ec2", "create_tags", json!({ "Resources": [subnet], "Tags": tags }));
    };
    for value in ["http_gateway/a1b2c3", "four_tier_vpcs/vpc-1"] {
        tag(value);
        let call = format!("ModifySubnetAttribute&MapPublicIpOnLaunch.Value=true&SubnetId={id}");
        let found = violations(&proxy, OURS, &call);
        let expected = "ModifySubnetAttribute: no policy of the permissions guide allows ec2:ModifySubnetAttribute";
        assert!(found.len() == 1 && found[0].starts_with(expected), "{value}: {found:?}");
    }
    tag("four_tier_vpc/vpc-1");
    assert_eq!(violations(&proxy, OURS, &format!("DeleteSubnet&SubnetId={id}")), [""; 0]);
    let found = violations(&proxy, OURS, "CreateInternetGateway");
    assert!(found.len() == 1 && found[0].contains("ec2:CreateInternetGateway"), "without the ownership tag: {found:?}");
}

#[test]
fn interface_endpoints_use_our_groups_and_those_filled_in() {
    let proxy = Proxy::moto();
    let ours = json!([{ "Key": "fgw:resource", "Value": "four_tier_vpc/vpc-1" }]);
    let id = |answer: &Value, path: &str| answer.pointer(path).and_then(Value::as_str).expect("an ID").to_owned();
    let vpc = id(&proxy.boto("ec2", "create_vpc", json!({ "CidrBlock": "10.0.0.0/16" })), "/Vpc/VpcId");
    let subnet = json!({ "CidrBlock": "10.0.0.0/24", "VpcId": vpc });
    let subnet = id(&proxy.boto("ec2", "create_subnet", subnet), "/Subnet/SubnetId");
    let group = json!({ "GroupName": "mine", "Description": "mine", "VpcId": vpc });
    let group = id(&proxy.boto("ec2", "create_security_group", group), "/GroupId");
    let tag = |id: &str| proxy.boto("ec2", "create_tags", json!({ "Resources": [id], "Tags": ours }));
    tag(&vpc);
    let mark = "TagSpecification.1.ResourceType=vpc-endpoint&TagSpecification.1.Tag.1.Key=fgw:resource&\
                TagSpecification.1.Tag.1.Value=four_tier_vpc/vpc-1";
    let call = |service: &str| {
        format!(
            "CreateVpcEndpoint&VpcId={vpc}&VpcEndpointType=Interface&ServiceName=com.amazonaws.us-east-1.{service}&\
             SubnetId.1={subnet}&SecurityGroupId.1={group}&PrivateDnsEnabled=false&{mark}"
        )
    };
    let found = violations(&proxy, OURS, &call("kms"));
    assert!(found.len() == 1 && found[0].contains(":subnet/"), "the subnet is foreign: {found:?}");
    tag(&subnet);
    assert_eq!(violations(&proxy, OURS, &call("logs")), [""; 0], "the group is the user's");
    tag(&group);
    assert_eq!(violations(&proxy, OURS, &call("sqs")), [""; 0]);
    let found = violations(&proxy, OURS, &call("sns").replace(mark, ""));
    assert!(found.len() == 1 && found[0].contains(":vpc-endpoint/"), "without the ownership tag: {found:?}");
}

#[test]
fn a_statement_that_the_inputs_do_not_need_allows_nothing() {
    let proxy = Proxy::moto();
    let call = "DescribeManagedPrefixLists";
    assert_eq!(violations(&proxy, OURS, call), [""; 0], "a role with all statements");
    proxy.has_policies_of_configurations();
    proxy.uses("name = \"shop\"");
    let found = violations(&proxy, OURS, call);
    assert!(found.len() == 1 && found[0].ends_with("only PrefixLists would"), "{found:?}");
    assert_eq!(violations(&proxy, OURS, "DescribeVpcs"), [""; 0], "every configuration needs it");
    proxy.uses("rules = { a = { prefix_list_ids = [\"pl-1\"] } }");
    assert_eq!(violations(&proxy, OURS, call), [""; 0]);
    // An object may outlive the configuration that needed it.
    proxy.uses("name = \"shop\"");
    assert_eq!(violations(&proxy, OURS, call), [""; 0]);
}
