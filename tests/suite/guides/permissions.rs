//! Generates the guide on permissions from the table in `support/permissions.rs`, and compares the table with the code
//! and with AWS's own list of actions.

#[path = "../../tidy/tree.rs"]
mod tree;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Guide;
use crate::support::permissions::{Condition, PURPOSES, Policy, Row, allows, arn, rows};
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
    ("src/aws/lambda/permission", "lambda"),
    ("src/aws/logs/group", "logs"),
    ("src/aws/logs/subscription", "logs"),
    ("src/aws/route53/record", "route53"),
    ("src/aws/lookups/acm", "acm"),
    ("src/aws/lookups/kms", "kms"),
    ("src/aws/config/identity", "sts"),
    ("src/aws/config/credentials", "sts"),
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
        let purpose = PURPOSES.iter().any(|(policy, purpose, ..)| (*policy, *purpose) == (row.policy, row.purpose));
        assert_eq!(purpose, !row.action.is_empty(), "{row:?}");
        assert_eq!(row.action.is_empty(), row.resources.is_empty(), "{row:?}");
    }
    for (policy, purpose, ..) in PURPOSES {
        assert!(rows().any(|row| (row.policy, row.purpose) == (*policy, *purpose)), "no row has the purpose {purpose}");
    }
}

/// AWS's list of actions, with the resource types and condition keys of each. It is part of cfn-lint.
fn list_of_aws() -> Value {
    let library = venv::venv().join("lib");
    let versions = std::fs::read_dir(&library).expect("a Python environment has a library");
    let file = versions
        .map(|entry| entry.expect("a directory can be read").path())
        .map(|version| version.join("site-packages/cfnlint/data/AdditionalSpecs/Policies.json"))
        .find(|file| file.exists())
        .expect("tests/requirements.txt installs cfn-lint, which contains AWS's list of actions");
    let text = std::fs::read_to_string(file).expect("the list can be read");
    serde_json::from_str(&text).expect("the list is JSON")
}

/// Actions that AWS requires although its list does not contain them.
const UNLISTED: &[&str] = &["apigateway:TagResource", "apigateway:UntagResource"];

#[test]
fn tagged_stages_and_domains_may_be_created() {
    let tag = |path: &str| allows("apigateway:TagResource", path);
    assert!(tag("/apis/a1b2c3/stages") && tag("/domainnames"));
    assert!(!tag("/restapis/a1b2c3"), "only objects of the provider");
}

#[test]
fn actions_exist_in_aws_and_apply_to_their_resources() {
    let all = list_of_aws();
    for row in rows().filter(|row| !row.action.is_empty()) {
        let (service, action) = row.action.split_once(':').expect("an action has the prefix of its service");
        let known = &all[service]["Actions"][action.to_lowercase()];
        if UNLISTED.contains(&row.action) {
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
            // The list has no tags for POST; the table states the reason for PUT.
            if (row.action, *resource) == ("apigateway:POST", "/tags/*") || row.operation == "UntagResource" {
                continue;
            }
            let acted_on = types.iter().map(|it| &all[service]["Resources"][it]).find(|it| is_of(it, &arn(resource)));
            let acted_on =
                acted_on.unwrap_or_else(|| panic!("{} does not apply to {resource}, only to {types:?}", row.action));
            if [Condition::Ours, Condition::OfGuardDuty].contains(&row.condition) {
                let mut keys = texts(&acted_on["ConditionKeys"]);
                assert!(keys.any(|key| key == "aws:ResourceTag/${TagKey}"), "{resource} supports no tags: {acted_on}");
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

/// The key of a statement, which combines all rows with the same purpose, condition and resources.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// The index of its purpose in `PURPOSES`.
    purpose: usize,
    condition: Condition,
    resources: Vec<&'static str>,
}

fn statements(policy: Policy) -> BTreeMap<Place, BTreeSet<&'static str>> {
    let mut statements: BTreeMap<Place, BTreeSet<&'static str>> = BTreeMap::new();
    let purpose = |row: &Row| PURPOSES.iter().position(|(of, name, ..)| (*of, *name) == (row.policy, row.purpose));
    // An action on several kinds of resources, each with its own row, is one statement for all of them.
    let mut all: BTreeMap<(usize, Condition, &str), BTreeSet<&'static str>> = BTreeMap::new();
    for row in rows().filter(|row| row.policy == policy && !row.action.is_empty()) {
        let purpose = purpose(&row).expect("each row has a purpose");
        match row.action.starts_with("apigateway:") {
            true => all.entry((purpose, row.condition, row.action)).or_default().extend(row.resources),
            false => {
                let place = Place { purpose, condition: row.condition, resources: row.resources.to_vec() };
                statements.entry(place).or_default().insert(row.action);
            }
        }
    }
    for ((purpose, condition, action), resources) in all {
        let place = Place { purpose, condition, resources: resources.into_iter().collect() };
        statements.entry(place).or_default().insert(action);
    }
    statements
}

/// The policy document.
fn document(policy: Policy) -> String {
    let statements = statements(policy);
    let of = |purpose: usize| statements.keys().filter(|place| place.purpose == purpose).count();
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    let blocks: Vec<String> = statements
        .iter()
        .map(|(place, actions)| {
            let number = numbers.entry(place.purpose).or_default();
            *number += 1;
            let name = PURPOSES[place.purpose].1;
            let name = if of(place.purpose) == 1 { name.to_owned() } else { format!("{name}{number}") };
            let actions: Vec<String> = actions.iter().map(|it| (*it).to_owned()).collect();
            let resources: Vec<String> = place.resources.iter().map(|it| arn(it)).collect();
            format!(
                "    {{\n      \"Sid\": \"{name}\",\n      \"Effect\": \"Allow\",\n      \"Action\": {},\n      \"Resource\": {}{}\n    }}",
                listed(&actions),
                listed(&resources),
                condition(place.condition)
            )
        })
        .collect();
    format!("{{\n  \"Version\": \"2012-10-17\",\n  \"Statement\": [\n{}\n  ]\n}}", blocks.join(",\n"))
}

fn listed(values: &[String]) -> String {
    match values {
        [one] => format!("\"{one}\""),
        _ => {
            let lines: Vec<String> = values.iter().map(|value| format!("        \"{value}\"")).collect();
            format!("[\n{}\n      ]", lines.join(",\n"))
        }
    }
}

fn condition(condition: Condition) -> String {
    let creates = [
        "AllocateAddress",
        "CreateInternetGateway",
        "CreateNatGateway",
        "CreateRouteTable",
        "CreateSubnet",
        "CreateVpc",
        "CreateVpcEndpoint",
    ];
    let creates = creates.map(|name| format!("            \"{name}\"")).join(",\n");
    let (operator, key, value) = match condition {
        Condition::None => return String::new(),
        Condition::Ours => ("StringLike", "aws:ResourceTag/fgw:resource", "\"four_tier_vpc/*\"".to_owned()),
        Condition::OfGuardDuty => ("StringEquals", "aws:ResourceTag/GuardDutyManaged", "\"true\"".to_owned()),
        Condition::OnCreate => ("StringEquals", "ec2:CreateAction", format!("[\n{creates}\n          ]")),
        Condition::ServiceLinkedRole => {
            ("StringEquals", "iam:AWSServiceName", "\"ops.apigateway.amazonaws.com\"".to_owned())
        }
        Condition::PassToLogs => ("StringLike", "iam:PassedToService", "\"logs.*amazonaws.com\"".to_owned()),
        Condition::PassToApiGateway => {
            ("StringEquals", "iam:PassedToService", "\"apigateway.amazonaws.com\"".to_owned())
        }
    };
    format!(
        ",\n      \"Condition\": {{\n        \"{operator}\": {{\n          \"{key}\": {value}\n        }}\n      }}"
    )
}

fn purposes(policy: Policy) -> String {
    let mut table = "| Statement | Purpose | Omit it if |\n|---|---|---|\n".to_owned();
    for (_, name, what, without) in PURPOSES.iter().filter(|(of, ..)| *of == policy) {
        let without = if without.is_empty() { "(always required)" } else { without };
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

#[test]
fn guide_on_permissions_contains_the_generated_policies() {
    let mut guide = Guide::open("permissions.md");
    let policies = [
        ("provider", Policy::Provider),
        ("network-read", Policy::NetworkRead),
        ("network-change", Policy::NetworkChange),
        ("network-options", Policy::NetworkOptions),
        ("gateway-read", Policy::GatewayRead),
        ("gateway-change", Policy::GatewayChange),
        ("gateway-options", Policy::GatewayOptions),
    ];
    for (name, policy) in policies {
        let document = document(policy);
        serde_json::from_str::<Value>(&document).expect("a policy is JSON");
        let length = document.chars().filter(|it| !it.is_whitespace()).count();
        assert!(length <= MOST, "the policy {name} has {length} characters, but AWS allows only {MOST}");
        guide.put(name, &format!("```json\n{document}\n```\n"));
        guide.put(&format!("{name}-statements"), &purposes(policy));
    }
    guide.put("implied", &reasons());
    guide.check();
}

#[test]
fn uncovered_call_fails_the_test_that_makes_it() {
    let violations = |agent: &str, action: &str| {
        let proxy = Proxy::ministack();
        let port = proxy.endpoint().rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
        let credential = format!("{}/20260101/us-east-1/ec2/aws4_request", proxy.account().id);
        http::Request::new(port, "POST", "/")
            .header("user-agent", agent)
            .header("authorization", &format!("AWS4-HMAC-SHA256 Credential={credential}, Signature=0"))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(&format!("Action={action}&Version=2016-11-15"))
            .send()
            .expect("the proxy answers");
        proxy.take_violations()
    };
    let ours = "aws-sdk-rust/1.0 terraform-provider-fgw/0.1.0";
    assert_eq!(violations(ours, "DescribeVpcs"), [""; 0]);
    assert_eq!(violations("Boto3/1.0", "DescribeInstances"), [""; 0]);
    let found = violations(ours, "DescribeInstances");
    assert!(found.len() == 1 && found[0].starts_with("ec2: DescribeInstances has no row"), "{found:?}");
}

#[test]
fn network_deletes_require_the_ownership_tag() {
    for row in rows().filter(|row| row.service == "ec2") {
        let deletes = ["DeleteVpc", "DeleteSubnet", "DeleteRoute", "DeleteInternet", "DeleteNat", "ReleaseAddress"];
        if deletes.iter().any(|name| row.operation.starts_with(name)) {
            let expected = if row.purpose == "GuardDuty" { Condition::OfGuardDuty } else { Condition::Ours };
            assert_eq!(row.condition, expected, "{row:?}");
        }
    }
}
