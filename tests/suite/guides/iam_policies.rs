//! Checks the policies of the permissions guide without the rest of the suite: they allow the requests that a run of
//! the suite has recorded, and refuse the same requests on foreign objects. Every part of every statement is necessary
//! for one of the two.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Guide;
use crate::support::permissions::document;
use crate::support::permissions::evaluation::{Check, Engine, is_allowed};
use crate::support::permissions::{Needed, arn, recorded, reference, rows};

/// Names and IDs that users fill in: the example of the guide, and another.
const NAMES: &[(&str, &str)] = &[
    ("my-function", "other-function"),
    ("my-log-group", "other-log-group"),
    ("my-assumed-role", "other-role"),
    ("my-authorizer-role", "other-role"),
    ("my-subscription-role", "other-role"),
    ("api.example.com", "www.example.com"),
    ("Z0123456789ABCDEFGHIJ", "Z999"),
    ("01234567-89ab-cdef-0123-456789abcdef", "99999999"),
    ("ipam-pool-0123456789abcdef0", "ipam-pool-9"),
    ("eipalloc-0123456789abcdef0", "eipalloc-9"),
    ("vgw-0123456789abcdef0", "vgw-9"),
    ("sg-0123456789abcdef0", "sg-9"),
    ("my-delivery-stream", "other-stream"),
    ("my-service", "other-service"),
    ("my-truststore", "other-truststore"),
];

/// Condition keys with values for other purposes than ours.
const VALUES: &[(&str, &[&str])] = &[
    ("aws:RequestTag/fgw:resource", &["other"]),
    ("ec2:CreateAction", &["RunInstances"]),
    ("ec2:Region", &["us-east-1"]),
    ("ec2:VpceServiceName", &["com.amazonaws.eu-central-1.ec2"]),
    ("iam:AWSServiceName", &["ec2.amazonaws.com"]),
    ("iam:PassedToService", &["ec2.amazonaws.com"]),
    ("lambda:Principal", &["s3.amazonaws.com"]),
    ("route53:ChangeResourceRecordSetsNormalizedRecordNames", &["www.example.com"]),
    ("route53:ChangeResourceRecordSetsRecordTypes", &["A", "CNAME"]),
];

/// Paths of API Gateway that are not ours.
const PATHS: &[&str] = &[
    "/apis/1/deployments",
    "/apis/1/models/1",
    "/domainnames",
    "/domainnames/www.example.com",
    "/restapis",
    "/restapis/1",
    "/tags/arn%3Aaws%3Aapigateway%3Aeu-central-1%3A%3A%2Frestapis%2F1",
    "/tags/arn%3Aaws%3Aapigateway%3Aeu-central-1%3A%3A%2Fdomainnames%2Fwww.example.com",
    "/vpclinks/1",
];

const TAGS_OF_DOMAIN: &str = "/tags/arn%3Aaws%3Aapigateway%3Aeu-central-1%3A%3A%2Fdomainnames%2Fapi.example.com";

/// Requests that the suite does not make: unit tests with recorded answers of AWS cover these calls, and the emulators
/// have no deliveries to Firehose.
fn not_recorded() -> Vec<Check> {
    let ec2 = |action: &str, kind: &str| {
        let resource = format!("arn:aws:ec2:eu-central-1:123456789012:{kind}/{kind}-1");
        Check::new(&format!("ec2:{action}"), &resource).with("ec2:Region", &["eu-central-1"])
    };
    let ours = |check: Check| check.with("aws:ResourceTag/fgw:resource", &["four_tier_vpc/name"]);
    let vpc = "arn:aws:ec2:eu-central-1:123456789012:vpc/vpc-1";
    vec![
        ours(ec2("DisassociateAddress", "elastic-ip")),
        ec2("DisassociateAddress", "network-interface"),
        ours(ec2("DisassociateRouteTable", "route-table")),
        ours(ec2("DisassociateRouteTable", "subnet")),
        ec2("UpdateSecurityGroupRuleDescriptionsEgress", "security-group").with("ec2:Vpc", &[vpc]),
        Check::new("firehose:TagDeliveryStream", &arn("delivery-stream")),
        Check::new("iam:CreateServiceLinkedRole", &arn("delivery-role"))
            .with("iam:AWSServiceName", &["delivery.logs.amazonaws.com"]),
        Check::new("iam:PassRole", &arn("flow-log-role")).with("iam:PassedToService", &["delivery.logs.amazonaws.com"]),
        Check::new("logs:GetLogDelivery", "*"),
        Check::new("logs:ListLogDeliveries", "*"),
        Check::new("apigateway:DELETE", &arn(TAGS_OF_DOMAIN)),
        Check::new("apigateway:UntagResource", &arn(TAGS_OF_DOMAIN)),
    ]
}

fn requests() -> Vec<Check> {
    recorded::all().into_iter().chain(not_recorded()).collect()
}

/// Objects on which a change needs no tag of ours. The table states the reason for each.
fn needs_no_tag(check: &Check) -> bool {
    let is = |part: &str| check.resource.contains(part);
    let is_tag = ["ec2:CreateTags", "ec2:DeleteTags"].contains(&check.action.as_str());
    let has_tag = is_tag || check.action == "ec2:DeleteSecurityGroup" || check.action.ends_with("VpcEndpoint");
    let adopted = (is(":security-group/") || is(":network-acl/")) && !has_tag;
    let of_user = is(":role/")
        || is(":ipam-pool/")
        || is(":vpn-gateway/")
        || is(":function:")
        || is(":deliverystream/")
        || check.resource == arn("custom-elastic-ip")
        || check.resource == arn("custom-security-group");
    let is_child = ["/authorizers", "/integrations", "/routes", "/cors", "/accesslogsettings", "/apimappings"];
    // The group may be one that is used and not owned.
    let is_subscription = check.action.ends_with("SubscriptionFilter");
    adopted
        || of_user
        || is_subscription
        || is(":network-interface/")
        || is_child.iter().any(|part| check.resource.contains(part))
}

fn is_read(check: &Check) -> bool {
    let name = check.action.split_once(':').map_or("", |(_, name)| name);
    ["Describe", "Get", "GET", "List"].iter().any(|verb| name.starts_with(verb))
}

fn without(check: &Check, key: &str) -> Check {
    let mut check = check.clone();
    check.context.retain(|it, _| !it.starts_with(key));
    check
}

/// The same request in another account, Region or partition, or on an object with another name.
fn elsewhere(check: &Check) -> Vec<Check> {
    let at = |resource: String| Check { resource, ..check.clone() };
    let mut all = vec![at(check.resource.replace("arn:aws:", "arn:aws-cn:"))];
    if !check.resource.contains(":ipam-pool/") {
        all.push(at(check.resource.replace(":123456789012:", ":210987654321:")));
    }
    all.push(at(check.resource.replace(":eu-central-1:", ":us-east-1:")));
    for (name, other) in NAMES {
        all.push(at(check.resource.replace(name, other)));
        // The name is not a prefix.
        all.push(at(check.resource.replace(name, &format!("{name}2"))));
    }
    if check.action.starts_with("apigateway:") && !is_read(check) {
        let untagged = without(check, "aws:ResourceTag");
        all.extend(PATHS.iter().map(|path| Check { resource: arn(path), ..untagged.clone() }));
    }
    // AWS's list has no such actions, so only a wildcard would allow them.
    let service = check.action.split_once(':').map_or("", |(service, _)| service);
    all.push(Check { action: format!("{service}:Unrelated"), ..check.clone() });
    all
}

/// The same request on an object without our tags or in a VPC of another account, or for another purpose.
fn foreign(check: &Check) -> Vec<Check> {
    let mut all = Vec::new();
    let tag = "aws:ResourceTag/fgw:resource";
    let takes_tag = check.resource != "*" && reference::has_key(&check.action, &check.resource, tag);
    if takes_tag && !is_read(check) && !needs_no_tag(check) && !check.context.contains_key("ec2:CreateAction") {
        let other = without(&without(check, "aws:ResourceTag"), "aws:RequestTag");
        all.push(other.clone().with(tag, &["other"]));
        // Both topologies have log groups.
        if !check.action.starts_with("logs:") {
            let of_gateway = if check.action.starts_with("ec2:") { "http_gateway/name" } else { "four_tier_vpc/name" };
            all.push(other.clone().with(tag, &[of_gateway]));
        }
        all.push(other.clone().with("aws:ResourceTag/GuardDutyManaged", &["false"]));
        all.push(other);
    }
    // An adoption tags objects without a tag of ours. One with another value belongs to another resource.
    let is_default = check.resource.contains(":security-group/") || check.resource.contains(":network-acl/");
    let adopts = !check.context.contains_key(tag) && !check.context.contains_key("ec2:CreateAction") && !is_default;
    if check.action == "ec2:CreateTags" && adopts {
        all.push(check.clone().with(tag, &["other"]));
    }
    // The default group and ACL exist, so their tags are not part of a creation.
    let is_tagged_first = check.action == "ec2:CreateTags" && !check.context.contains_key(tag);
    if is_default && is_tagged_first && !check.context.contains_key("ec2:CreateAction") {
        all.push(check.clone().with("ec2:CreateAction", &["RunInstances"]));
    }
    let is_created = check.context.contains_key("ec2:CreateAction") || check.action == "ec2:CreateSecurityGroup";
    if is_default && !is_created && check.resource != arn("custom-security-group") {
        let vpc = "arn:aws:ec2:eu-central-1:210987654321:vpc/vpc-1";
        all.push(without(check, "aws:ResourceTag").with("ec2:Vpc", &[vpc]));
    }
    for (key, values) in VALUES {
        // An object with our tags may get any tags, AWS has no conditions for the path of tags, and an ARN has a
        // Region.
        let is_free = match *key {
            "aws:RequestTag/fgw:resource" => check.context.contains_key(tag) || check.resource.contains(":/tags/"),
            "ec2:Region" => check.resource != "*",
            _ => false,
        };
        if check.context.contains_key(*key) && !is_free {
            all.push(check.clone().with(key, values));
            all.extend(values.iter().filter(|it| **it != "A").map(|it| check.clone().with(key, &[it])));
            if !key.starts_with("route53:") {
                all.push(without(check, key));
            }
        }
    }
    all
}

/// The requests that the policies must refuse, each derived from a recorded one.
fn to_refuse(recorded: &[Check]) -> Vec<Check> {
    let known: BTreeSet<&Check> = recorded.iter().collect();
    let all: BTreeSet<Check> =
        recorded.iter().flat_map(|check| elsewhere(check).into_iter().chain(foreign(check))).collect();
    all.into_iter().filter(|check| !known.contains(check)).collect()
}

#[test]
fn policies_allow_the_requests_of_the_suite() {
    let refused: Vec<String> = requests().iter().filter(|it| !is_allowed(it)).map(ToString::to_string).collect();
    assert!(refused.is_empty(), "no policy allows these: {refused:#?}");
}

#[test]
fn policies_refuse_the_same_requests_on_foreign_objects() {
    let all = to_refuse(&requests());
    let allowed: Vec<String> = all.iter().filter(|it| is_allowed(it)).map(ToString::to_string).collect();
    assert!(allowed.is_empty(), "a policy allows {} of {}: {allowed:#?}", allowed.len(), all.len());
}

#[test]
fn recorded_requests_cover_every_permission() {
    let recorded: BTreeSet<String> = requests().into_iter().map(|check| check.action).collect();
    let missing: Vec<&str> =
        rows().map(|row| row.action).filter(|action| !action.is_empty() && !recorded.contains(*action)).collect();
    assert!(missing.is_empty(), "`make requests` has recorded no request for {missing:?}");
    for action in rows().map(|row| row.action).filter(|action| action.starts_with("ec2:")) {
        for kind in reference::required_types(action) {
            let is_of = |check: &Check| check.action == action && check.resource.contains(&format!(":{kind}/"));
            assert!(requests().iter().any(is_of), "{action} needs a permission on {kind}, but none is recorded");
        }
    }
    for (call, kinds) in OPTIONAL_TYPES {
        for kind in *kinds {
            let is_of = |check: &Check| check.action == format!("ec2:{call}") && check.resource.contains(kind);
            assert!(requests().iter().any(is_of), "{call} needs a permission on {kind}, but none is recorded");
        }
    }
}

/// The resource types that AWS's list calls optional, although our calls name objects of them.
const OPTIONAL_TYPES: &[(&str, &[&str])] = &[
    ("AssociateRouteTable", &[":route-table/", ":subnet/"]),
    ("AssociateVpcCidrBlock", &[":vpc/", ":ipam-pool/"]),
    ("CreateNatGateway", &[":natgateway/", ":subnet/", ":elastic-ip/"]),
    ("CreateVpc", &[":vpc/", ":ipam-pool/"]),
    ("CreateVpcEndpoint", &[":vpc-endpoint/", ":vpc/", ":route-table/"]),
    ("DisassociateAddress", &[":elastic-ip/", ":network-interface/"]),
    ("DisassociateRouteTable", &[":route-table/", ":subnet/"]),
    ("ModifyVpcEndpoint", &[":vpc-endpoint/", ":route-table/", ":subnet/"]),
    ("ReplaceNetworkAclAssociation", &[":network-acl/", ":subnet/"]),
    ("ReplaceRouteTableAssociation", &[":route-table/", ":subnet/"]),
];

/// A statement with one change.
struct Mutant {
    what: String,
    /// `None` if the statement is removed.
    statement: Option<Value>,
}

/// Each statement widened, narrowed and removed, one part at a time.
fn mutants(statement: &Value) -> Vec<Mutant> {
    let mut all = vec![Mutant { what: "removed".into(), statement: None }];
    let mut add = |what: String, change: &dyn Fn(&mut Value)| {
        let mut changed = statement.clone();
        change(&mut changed);
        if changed != *statement {
            all.push(Mutant { what, statement: Some(changed) });
        }
    };
    let actions = list(&statement["Action"]);
    for action in &actions {
        let others: Vec<&String> = actions.iter().filter(|it| *it != action).collect();
        if !others.is_empty() {
            add(format!("without {action}"), &|it| it["Action"] = json!(others));
        }
    }
    let service = actions[0].split_once(':').map_or("", |(service, _)| service);
    add("all actions".into(), &|it| it["Action"] = json!(format!("{service}:*")));
    let resources = list(&statement["Resource"]);
    for (index, resource) in resources.iter().enumerate() {
        let others: Vec<&String> = resources.iter().filter(|it| *it != resource).collect();
        if !others.is_empty() {
            add(format!("without {resource}"), &|it| it["Resource"] = json!(others));
        }
        for other in changed_resources(resource) {
            let mut all = resources.clone();
            all[index].clone_from(&other);
            add(format!("{resource} is {other}"), &|it| it["Resource"] = json!(all));
        }
    }
    let conditions = statement["Condition"].as_object().into_iter().flatten();
    for (operator, key, values) in conditions.flat_map(|(operator, keys)| {
        keys.as_object().into_iter().flatten().map(move |(key, values)| (operator, key, list(values)))
    }) {
        add(format!("without {key}"), &|it| {
            let keys = it["Condition"][operator].as_object_mut().expect("an operator has keys");
            keys.remove(key);
            if keys.is_empty() {
                it["Condition"].as_object_mut().expect("a condition has operators").remove(operator);
            }
        });
        if operator == "Null" {
            add(format!("{key} is not null"), &|it| it["Condition"][operator][key] = json!("false"));
            continue;
        }
        for (index, value) in values.iter().enumerate() {
            let others: Vec<&String> = values.iter().filter(|it| *it != value).collect();
            if !others.is_empty() {
                add(format!("{key} without {value}"), &|it| it["Condition"][operator][key] = json!(others));
            }
            let mut narrow = values.clone();
            narrow[index] = format!("{}-narrow", value.trim_end_matches('*'));
            add(format!("{key} is {}", narrow[index]), &|it| it["Condition"][operator][key] = json!(narrow));
        }
        add(format!("{key} is *"), &|it| {
            it["Condition"][operator].as_object_mut().expect("an operator has keys").remove(key);
            if it["Condition"][operator] == json!({}) {
                it["Condition"].as_object_mut().expect("a condition has operators").remove(operator);
            }
            it["Condition"][operator.replace("Equals", "Like")][key] = json!("*");
        });
    }
    all
}

/// Wider and narrower patterns for a resource.
fn changed_resources(resource: &str) -> Vec<String> {
    if resource == "*" {
        return vec![];
    }
    let mut all = vec!["*".to_owned(), format!("{}none", resource.trim_end_matches('*'))];
    let part = |index: usize, wider: &str| {
        let mut parts: Vec<&str> = resource.splitn(6, ':').collect();
        if !parts[index].is_empty() {
            parts[index] = wider;
        }
        parts.join(":")
    };
    all.extend([part(1, "*"), part(3, "*"), part(4, "*")]);
    for (name, _) in NAMES {
        all.extend([resource.replace(name, "*"), resource.replace(name, &format!("{name}*"))]);
    }
    all.into_iter().filter(|it| it != resource).collect()
}

fn list(value: &Value) -> Vec<String> {
    match value {
        Value::Array(all) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        one => one.as_str().map(str::to_owned).into_iter().collect(),
    }
}

#[test]
fn every_part_of_every_statement_is_necessary() {
    let recorded = requests();
    let to_allow: Vec<_> = recorded.iter().map(Check::request).collect();
    let to_refuse: Vec<_> = to_refuse(&recorded).iter().map(Check::request).collect();
    let statements = document::all();
    let engines: Vec<Engine> = statements.iter().map(|it| Engine::new(&it.json())).collect();
    // The recorded requests that only this statement allows, of those that a role has with it.
    let alone = |index: usize| {
        // A role for networks does not have the policies of gateways, and it may have no other optional statements.
        let is_of_gateways = |index: usize| format!("{:?}", statements[index].policy).starts_with("Gateway");
        let is_together = |other: usize| {
            let (one, other) = (&statements[index], &statements[other]);
            matches!(other.needed(), Needed::Always) || (one.policy, one.purpose) == (other.policy, other.purpose)
        };
        let others = |request| {
            let has_role =
                |other: usize| other != index && is_of_gateways(other) == is_of_gateways(index) && is_together(other);
            engines.iter().enumerate().any(|(other, it)| has_role(other) && it.allows(request))
        };
        to_allow.iter().filter(|request| engines[index].allows(request) && !others(request)).collect::<Vec<_>>()
    };
    let (mut count, mut unnoticed) = (0, Vec::new());
    for (index, statement) in statements.iter().enumerate() {
        let alone = alone(index);
        for mutant in mutants(&statement.json()) {
            count += 1;
            let is_noticed = match mutant.statement.map(|it| Engine::new(&it)) {
                None => !alone.is_empty(),
                Some(changed) => {
                    alone.iter().any(|request| !changed.allows(request))
                        || to_refuse.iter().any(|request| changed.allows(request))
                }
            };
            if !is_noticed {
                unnoticed.push(format!("{:?} {}: {}", statement.policy, statement.sid, mutant.what));
            }
        }
    }
    let of = format!("{} statements, {} and {} requests", statements.len(), to_allow.len(), to_refuse.len());
    assert!(count > 500, "only {count} mutants of {of}");
    assert!(unnoticed.is_empty(), "{} of {count} mutants of {of} change no verdict: {unnoticed:#?}", unnoticed.len());
}

/// The policy that protects the ownership tags, which the guide shows.
#[test]
fn only_the_role_of_the_provider_may_set_ownership_tags() {
    let guide = Guide::open("permissions.md").text;
    let (_, section) = guide.split_once("\n## Protect the ownership tags\n").expect("the guide has the section");
    let (_, policy) = section.split_once("```json\n").expect("the section has a policy");
    let policy: Value = serde_json::from_str(policy.split("```").next().expect("it ends")).expect("it is JSON");
    let statement = &policy["Statement"][0];
    assert_eq!(statement["Effect"], "Deny");
    let actions = list(&statement["Action"]);
    let mut denial = statement.clone();
    denial["Effect"] = json!("Allow");
    for check in requests().into_iter().filter(|check| check.context.contains_key("aws:RequestTag/fgw:resource")) {
        assert!(
            actions.contains(&check.action)
                || actions.contains(&"ec2:CreateTags".to_owned()) && check.action.starts_with("ec2:"),
            "{check} sets the tag"
        );
    }
    for action in &actions {
        let resource = match action.split_once(':').map_or("", |(service, _)| service) {
            "ec2" => "arn:aws:ec2:eu-central-1:123456789012:subnet/subnet-1".to_owned(),
            "logs" => arn("log-group"),
            _ => arn("/apis"),
        };
        assert!(reference::has_key(action, &resource, "aws:TagKeys"), "AWS's list has no tag keys for {action}");
        let denied = |keys: &[&str], role: &str| {
            let role = format!("arn:aws:iam::123456789012:role/{role}");
            allows(&denial, &Check::new(action, &resource).with("aws:TagKeys", keys).with("aws:PrincipalArn", &[&role]))
        };
        assert!(denied(&["fgw:resource"], "other") && denied(&["team", "fgw:state"], "other"), "{action}");
        assert!(!denied(&["fgw:resource"], "fgw") && !denied(&["team"], "other"), "{action}");
    }
}

/// Whether a statement allows a request with this context.
fn allows(statement: &Value, check: &Check) -> bool {
    Engine::new(statement).allows(&check.request())
}

/// A statement for all actions of EC2 on all resources, with this condition.
fn if_(condition: Value) -> Value {
    json!({ "Effect": "Allow", "Action": "ec2:*", "Resource": "*", "Condition": condition })
}

/// The rules in the IAM user guide, chapters "IAM JSON policy elements" for actions, resources and condition operators.
#[test]
fn engine_follows_the_documented_rules() {
    let subnet = "arn:aws:ec2:eu-central-1:123456789012:subnet/subnet-1";
    let check = Check::new("ec2:DeleteSubnet", subnet);
    let statement = |action: &str, resource: &str| json!({ "Effect": "Allow", "Action": action, "Resource": resource });
    // Actions ignore case. Resources do not, and `*` matches slashes too.
    assert!(allows(&statement("EC2:deletesubnet", "*"), &check) && allows(&statement("ec2:Delete*", subnet), &check));
    assert!(
        !allows(&statement("ec2:DeleteVpc", "*"), &check)
            && !allows(&statement("ec2:DeleteSubnet", "arn:aws:ec2:*:*:Subnet/*"), &check)
    );
    assert!(allows(&statement("ec2:*", "arn:aws:ec2:*:*:*"), &check));
    assert!(!allows(&statement("ec2:*", "arn:aws:ec2:us-east-1:123456789012:subnet/*"), &check));
    // A missing key: false, except for negated operators, `IfExists`, `Null` and `ForAllValues`.
    let key = "aws:ResourceTag/fgw:resource";
    for (operator, value, expected) in [
        ("StringEquals", "a", false),
        ("StringLike", "*", false),
        ("ArnLike", "*", false),
        ("ForAnyValue:StringEquals", "a", false),
        ("Null", "false", false),
        ("StringNotEquals", "a", true),
        ("StringEqualsIfExists", "a", true),
        ("ForAllValues:StringEquals", "a", true),
        ("Null", "true", true),
    ] {
        assert_eq!(allows(&if_(json!({ operator: { key: value } })), &check), expected, "{operator} without the key");
    }
    // Values are alternatives; keys and operators must all match. Values have a letter case, keys have none.
    let tagged = check.clone().with(key, &["four_tier_vpc/vpc-1"]).with("ec2:Region", &["eu-central-1"]);
    for (condition, expected) in [
        (json!({ "StringLike": { key: ["http_gateway/*", "four_tier_vpc/*"] } }), true),
        (json!({ "StringLike": { key.to_uppercase(): "four_tier_vpc/*" } }), true),
        (json!({ "StringLike": { key: "FOUR_TIER_VPC/*" } }), false),
        (json!({ "StringEquals": { key: "four_tier_vpc/*" } }), false),
        (json!({ "StringLike": { key: "four_tier_vpc/*", "ec2:Region": "us-*" } }), false),
        (json!({ "StringLike": { key: "four_tier_vpc/*" }, "StringEquals": { "ec2:Region": "us-east-1" } }), false),
        (json!({ "StringLike": { key: "four_tier_vpc/*" }, "StringEquals": { "ec2:Region": "eu-central-1" } }), true),
    ] {
        assert_eq!(allows(&if_(condition.clone()), &tagged), expected, "{condition}");
    }
    // An ARN is compared part by part.
    let vpc = |value: &str| check.clone().with("ec2:Vpc", &[value]);
    let in_vpc = if_(json!({ "ArnLike": { "ec2:Vpc": "arn:aws:ec2:eu-central-1:123456789012:vpc/*" } }));
    assert!(allows(&in_vpc, &vpc("arn:aws:ec2:eu-central-1:123456789012:vpc/vpc-1")));
    assert!(!allows(&in_vpc, &vpc("arn:aws:ec2:eu-central-1:210987654321:vpc/vpc-1")));
    // All values of a set must match.
    let types = "route53:ChangeResourceRecordSetsRecordTypes";
    let only_a = if_(json!({ "ForAllValues:StringEquals": { types: "A" } }));
    assert!(allows(&only_a, &check.clone().with(types, &["A"])));
    assert!(!allows(&only_a, &check.clone().with(types, &["A", "CNAME"])));
}
