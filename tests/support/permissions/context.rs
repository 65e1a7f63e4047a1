//! The permissions that AWS checks for a request, with the context in which it checks them: resource, tags of the
//! object, tags in the request, and what else the policies of the guide have conditions on.
//!
//! Names, IDs, Region and account become those of the guide, as if a user had filled them in.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::evaluation::Check;
use super::{Kind, arn};
use crate::support::proxy::call::Call;

/// A check, and where its remaining context is found.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) check: Check,
    pub(crate) object: Object,
}

/// An object that exists already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    /// None, or one whose tags no policy has a condition on.
    None,
    /// An object of EC2, by its ID.
    Ec2(String),
    /// The object of EC2 that has the association of this ID: the call that lists such objects, the name of the list,
    /// and the name of the ID.
    Associated {
        list: (&'static str, &'static str, &'static str),
        association: String,
    },
    /// An API, a stage or a custom domain, by its path.
    Api(String),
    LogGroup(String),
    /// The principal of a permission of a function.
    Permission {
        function: String,
        statement: String,
    },
}

/// The permissions that AWS checks for a call. `path` is the method and the path of a REST call.
pub(crate) fn pending(call: &Call, method: &str, path: &str) -> Vec<Pending> {
    let mut all = match call.service.as_str() {
        "ec2" => ec2(call),
        "apigateway" => apigateway(call, method, path),
        "lambda" => lambda(call),
        "logs" => logs(call),
        "sts" if call.action == "AssumeRole" => vec![without_object("sts:AssumeRole", &arn("assumed-role"))],
        "sts" => vec![],
        "kms" => vec![without_object("kms:DescribeKey", &arn("key"))],
        "acm" if call.action == "ListCertificates" => vec![without_object("acm:ListCertificates", "*")],
        "route53" if call.action == "ListHostedZonesByName" => {
            vec![without_object("route53:ListHostedZonesByName", "*")]
        }
        "acm" | "route53" => others(call),
        service => panic!("the permissions of the service {service} are unknown"),
    };
    all.extend(implied(call));
    all.into_iter().map(|it| Pending { check: it.check.with_listed_keys(), object: it.object }).collect()
}

/// The values that the policies distinguish in a tag: its kind of topology, but not its name.
pub(crate) fn tag_value(value: &str) -> String {
    match value.split_once('/') {
        Some((kind @ ("four_tier_vpc" | "http_gateway"), _)) => format!("{kind}/name"),
        _ => "other".to_owned(),
    }
}

/// The keys of tags on which policies have conditions.
pub(crate) const TAGS: &[&str] = &["fgw:resource", "GuardDutyManaged"];

/// Adds tags to the context, below `aws:RequestTag` or `aws:ResourceTag`.
pub(crate) fn with_tags(mut check: Check, origin: &str, tags: &BTreeMap<String, String>) -> Check {
    for key in TAGS {
        if let Some(value) = tags.get(*key) {
            let value = if *key == "fgw:resource" { tag_value(value) } else { value.clone() };
            check = check.with(&format!("{origin}/{key}"), &[&value]);
        }
    }
    check
}

/// The permissions that a call needs in addition to that which has its name.
fn implied(call: &Call) -> Vec<Pending> {
    let is_given = |name: &str| !["", "null"].contains(&call.param(name));
    let mut all: BTreeSet<Check> = BTreeSet::new();
    for (_, _, actions, resources, condition, _, (calls, parameter)) in super::implied() {
        let applies = match (parameter.strip_prefix('!'), parameter.split_once('~')) {
            (Some(parameter), _) => !is_given(parameter),
            (None, Some((parameter, part))) => call.param(parameter).contains(part),
            (None, None) => parameter.is_empty() || is_given(parameter),
        };
        if !applies || !calls.contains(&call.action.as_str()) {
            continue;
        }
        for action in *actions {
            let check =
                condition.clauses().into_iter().fold(Check::new(action, &arn(resources[0])), |check, clause| {
                    match clause.1 {
                        key if key.starts_with("aws:RequestTag/") => with_tags(check, "aws:RequestTag", &tags(call)),
                        key => check.with(key, &[service_of(call)]),
                    }
                });
            all.insert(check);
        }
    }
    all.into_iter().map(|check| Pending { check, object: Object::None }).collect()
}

/// The service that gets a role by a call: to assume it, or as its service-linked role.
fn service_of(call: &Call) -> &'static str {
    match call.action.as_str() {
        "CreateFlowLogs" if call.param("LogDestinationType").contains("firehose") => "delivery.logs.amazonaws.com",
        "CreateFlowLogs" => "vpc-flow-logs.amazonaws.com",
        "PutSubscriptionFilter" => "logs.eu-central-1.amazonaws.com",
        "CreateAuthorizer" | "UpdateAuthorizer" | "CreateIntegration" | "UpdateIntegration" => {
            "apigateway.amazonaws.com"
        }
        "CreateDomainName" | "CreateVpcLink" | "CreateStage" | "UpdateStage" => "ops.apigateway.amazonaws.com",
        action => panic!("{action} gives no service a role"),
    }
}

fn without_object(action: &str, resource: &str) -> Pending {
    Pending { check: Check::new(action, resource), object: Object::None }
}

/// The ARN of an object of EC2. Of the kinds that the user owns, it is the one that the guide names.
fn ec2_arn(kind: &str) -> String {
    match kind {
        "ipam-pool" | "vpn-gateway" => arn(kind).replace('*', "123456789012"),
        _ => arn(kind).replace('*', &format!("{kind}-1")),
    }
}

fn ec2(call: &Call) -> Vec<Pending> {
    let action = format!("ec2:{}", call.action);
    let check = |action: &str, kind: &str| {
        let vpc = "arn:aws:ec2:eu-central-1:123456789012:vpc/vpc-1";
        let resource = if kind == "*" { "*".to_owned() } else { ec2_arn(kind) };
        let check = Check::new(action, &resource).with("ec2:Region", &["eu-central-1"]).with("ec2:Vpc", &[vpc]);
        match call.param("ServiceName").rsplit('.').next() {
            None | Some("") => check,
            Some(name) => {
                let name = if call.param("VpcEndpointType") == "Interface" { "my-service" } else { name };
                check.with("ec2:VpceServiceName", &[&format!("com.amazonaws.eu-central-1.{name}")])
            }
        }
    };
    if ["CreateTags", "DeleteTags"].contains(&call.action.as_str()) {
        let tags = pairs(call, "Tag");
        let ids = call.list("ResourceId").into_iter();
        let kind = |id: &str| {
            let known = kinds().find(|(_, prefix, _)| id.starts_with(prefix));
            known.unwrap_or_else(|| panic!("the resource type of {id} is unknown")).0
        };
        let check = |id: &str| with_tags(check(&action, kind(id)), "aws:RequestTag", &tags);
        return ids.map(|id| Pending { check: check(id), object: Object::Ec2(id.to_owned()) }).collect();
    }
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    // The guide names the addresses and groups that the provider does not manage apart.
    let of_call = super::rows().filter(|row| row.action == action);
    let of_call = of_call.flat_map(|row| row.resources.iter().map(move |kind| (*kind, row.creates())));
    for (kind, is_new) in of_call.filter(|(kind, _)| !kind.starts_with("custom-") && seen.insert(*kind)) {
        let pending = |object| Pending { check: check(&action, kind), object };
        let parameters = kinds().find(|(name, ..)| *name == kind).map(|(.., parameters)| parameters);
        match parameters {
            _ if is_new => {
                let tags = tags_of_new(call, kind);
                let check_tags = |check| with_tags(check, "aws:RequestTag", &tags);
                let creation = check_tags(check(&action, kind));
                let tagging = check_tags(check("ec2:CreateTags", kind).with("ec2:CreateAction", &[&call.action]));
                let checks = [Some(creation), (!tags.is_empty()).then_some(tagging)].into_iter().flatten();
                all.extend(checks.map(|check| Pending { check, object: Object::None }));
            }
            Some(names) => {
                let ids = names.iter().flat_map(|name| ids(call, name)).map(Object::Ec2);
                let associated = super::FEATURES.into_iter().flat_map(|it| it.associated);
                let associated = associated.filter(|(name, of, _)| (*name, *of) == (call.action.as_str(), kind));
                let association = call.param("AssociationId");
                let associated =
                    associated.map(|it| Object::Associated { list: it.2, association: association.to_owned() });
                all.extend(ids.chain(associated).map(pending));
            }
            // AWS creates the object, and the request does not name it. Or the call has no resource types.
            None => all.push(pending(Object::None)),
        }
    }
    all
}

fn kinds() -> impl Iterator<Item = &'static Kind> {
    super::FEATURES.into_iter().flat_map(|it| it.kinds)
}

/// The IDs in a parameter, which has one or a list of them.
fn ids(call: &Call, name: &str) -> Vec<String> {
    let one = Some(call.param(name)).filter(|id| !id.is_empty());
    call.list(name).into_iter().chain(one).map(str::to_owned).collect()
}

/// The tags that the call sets on the object of this resource type that it creates.
fn tags_of_new(call: &Call, kind: &str) -> BTreeMap<String, String> {
    let is_of = |number: &usize| call.param(&format!("TagSpecification.{number}.ResourceType")) == kind;
    let number =
        (1..).take_while(|number| call.params.contains_key(&format!("TagSpecification.{number}.ResourceType")));
    number.filter(is_of).flat_map(|number| pairs(call, &format!("TagSpecification.{number}.Tag"))).collect()
}

/// The list of keys and values with this name.
fn pairs(call: &Call, name: &str) -> BTreeMap<String, String> {
    let numbers = (1..).take_while(|number| call.params.contains_key(&format!("{name}.{number}.Key")));
    let part = |number: usize, part: &str| call.param(&format!("{name}.{number}.{part}")).to_owned();
    numbers.map(|number| (part(number, "Key"), part(number, "Value"))).collect()
}

/// The tags in a JSON body.
fn tags(call: &Call) -> BTreeMap<String, String> {
    serde_json::from_str(call.param("tags")).unwrap_or_default()
}

fn apigateway(call: &Call, method: &str, path: &str) -> Vec<Pending> {
    let (path, object) = path_of_api(path);
    let resource = arn(&path);
    let is_read = method == "GET";
    let check = with_tags(Check::new(&format!("apigateway:{method}"), &resource), "aws:RequestTag", &tags(call));
    let mut all = vec![Pending { check, object: if is_read { Object::None } else { object } }];
    let mut also = |action: &str, resource: &str| all.push(without_object(action, resource));
    match call.action.as_str() {
        "CreateStage" | "CreateDomainName" | "CreateVpcLink" if !call.param("tags").is_empty() => {
            also("apigateway:TagResource", &resource);
        }
        "TagResource" => {
            also("apigateway:TagResource", &resource);
            also("apigateway:PUT", &resource);
        }
        "UntagResource" => also("apigateway:UntagResource", &resource),
        _ => {}
    }
    all
}

/// The path of an object of API Gateway with the names of the guide, and the object if it has tags of its own.
fn path_of_api(path: &str) -> (String, Object) {
    let parts: Vec<&str> = path.trim_start_matches("/v2").trim_matches('/').split('/').collect();
    if let ["tags", object] = parts[..] {
        let object = object.replace("%3A", ":").replace("%3a", ":").replace("%2F", "/").replace("%2f", "/");
        let (path, _) = path_of_api(object.split_once("::").map_or("", |(_, path)| path));
        let encoded = format!("arn:aws:apigateway:eu-central-1::{path}").replace(':', "%3A").replace('/', "%2F");
        return (format!("/tags/{encoded}"), Object::None);
    }
    let named: Vec<&str> = parts
        .iter()
        .enumerate()
        .map(|(index, part)| match (parts[0], index) {
            ("domainnames", 1) => "api.example.com",
            (_, 1 | 3 | 5) => "1",
            _ => part,
        })
        .collect();
    let has_tags = matches!(parts[..], ["apis" | "domainnames" | "vpclinks", _] | ["apis", _, "stages", _]);
    let object = if has_tags { Object::Api(format!("/v2/{}", parts.join("/"))) } else { Object::None };
    (format!("/{}", named.join("/")), object)
}

fn lambda(call: &Call) -> Vec<Pending> {
    let function = call.param("FunctionName");
    // arn:aws:lambda:eu-central-1:123456789012:function:NAME:ALIAS, or NAME:ALIAS
    let name = function.split_once(":function:").map_or(function, |(_, name)| name);
    let has_version = name.contains(':') || !call.param("Qualifier").is_empty();
    let resource = if has_version { arn("function-version").replace('*', "live") } else { arn("function") };
    let check = Check::new(&format!("lambda:{}", call.action), &resource);
    let object = match call.action.as_str() {
        "RemovePermission" => {
            Object::Permission { function: function.to_owned(), statement: call.param("StatementId").to_owned() }
        }
        _ => Object::None,
    };
    let check = match call.param("Principal") {
        "" => check,
        principal => check.with("lambda:Principal", &[principal]),
    };
    vec![Pending { check, object }]
}

fn logs(call: &Call) -> Vec<Pending> {
    let action = format!("logs:{}", call.action);
    if call.action == "DescribeLogGroups" {
        return vec![without_object(&action, "*")];
    }
    let group = arn("log-group");
    let is_for_tags = ["ListTagsForResource", "TagResource", "UntagResource"].contains(&call.action.as_str());
    // The form in AWS's errors for calls on a group.
    let resource = if is_for_tags { group } else { format!("{group}:log-stream:") };
    let check = with_tags(Check::new(&action, &resource), "aws:RequestTag", &tags(call));
    let mut name = call.param("logGroupName").to_owned();
    if let Some((_, named)) = call.param("resourceArn").split_once(":log-group:") {
        name = named.trim_end_matches(":*").to_owned();
    }
    let is_read = ["Describe", "List"].iter().any(|verb| call.action.starts_with(verb));
    let is_new = call.action == "CreateLogGroup";
    let object = if is_read || is_new { Object::None } else { Object::LogGroup(name) };
    vec![Pending { check, object }]
}

/// The calls of ACM and Route 53 on one object.
fn others(call: &Call) -> Vec<Pending> {
    let kind = match call.action.as_str() {
        "DescribeCertificate" => "certificate",
        "GetChange" => "change",
        _ => "hostedzone",
    };
    let check = Check::new(&format!("{}:{}", call.service, call.action), &arn(kind).replace('*', "1"));
    let records = "route53:ChangeResourceRecordSets";
    let check = check.with(&format!("{records}NormalizedRecordNames"), &["api.example.com"]);
    vec![Pending { check: check.with(&format!("{records}RecordTypes"), &[call.param("Type")]), object: Object::None }]
}

/// The tags in a JSON answer, below any of these names.
pub(crate) fn tags_in(answer: &Value) -> BTreeMap<String, String> {
    serde_json::from_value(answer["tags"].clone()).unwrap_or_default()
}
