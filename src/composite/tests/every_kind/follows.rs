//! Rule 12: a value that follows from another input returns with it. What was forced is not remembered as wished.

use std::collections::{BTreeMap, BTreeSet};

use super::super::*;
use super::{assert_complete, name};
use crate::model::Key;

/// Of each kind, the properties that follow from an input of another object, and that the changes below therefore
/// change. An object that such an input deletes is the same when it is created again.
const FOLLOWING: [(&str, &[&str]); 30] = [
    ("VPC", &["enable_dns_hostnames", "enable_dns_support"]),
    ("secondary CIDR block", &[]),
    ("IPv6 CIDR block", &[]),
    ("internet gateway", &[]),
    ("egress-only internet gateway", &[]),
    ("subnet", &["assign_ipv6_address_on_creation", "ipv6_block", "ipv6_cidr_block"]),
    ("route table", &[]),
    ("route table association", &["route_table"]),
    ("Elastic IP address", &[]),
    ("NAT gateway", &[]),
    ("route", &["target"]),
    ("VPC endpoint", &["route_tables"]),
    ("flow log", &[]),
    ("security group", &["ingress"]),
    (
        "interface endpoint",
        &["gateway_endpoint", "private_dns_enabled", "private_dns_only_for_inbound_resolver_endpoint", "subnets"],
    ),
    ("default network ACL", &[]),
    ("default security group", &["egress", "ingress"]),
    ("HTTP API", &["disable_endpoint", "ip_address_type"]),
    ("authorizer", &["identity_sources", "result_ttl_in_seconds"]),
    ("JWT authorizer", &[]),
    ("API route", &["authorization"]),
    ("Lambda permission", &[]),
    ("VPC link", &[]),
    ("integration", &[]),
    ("log group", &[]),
    ("subscription filter", &[]),
    ("stage", &["access_log", "default_settings", "name", "route_settings"]),
    ("custom domain", &["ip_address_type"]),
    ("API mapping", &["stage"]),
    ("DNS record", &[]),
];

type Change = Vec<(&'static str, Value)>;

/// Changes of inputs of a network that decide what others are.
fn of_networks() -> Vec<Change> {
    let off = |name: &'static str| vec![(name, Value::from(false))];
    let mut all: Vec<Change> = [
        "enable_dns_support",
        "enable_dns_hostnames",
        "create_public_subnets",
        "create_private_persistence_subnets",
        "create_igw",
        "one_route_table_public_subnets",
        "allow_private_persistence_internet_access",
        "apply_default_nacl_rules",
        "enable_default_security_group",
    ]
    .map(off)
    .into();
    let no_ipv6 = ["assign_generated_ipv6_cidr_block", "ipv6_subnet_tiers", "assign_ipv6_address_on_creation_tiers"];
    let no_ipv6 = no_ipv6.into_iter().chain(["create_egress_only_igw"]).map(|name| (name, Value::Null));
    all.push([("enable_ipv6", false.into())].into_iter().chain(no_ipv6).collect());
    all.push(vec![
        ("ipv6_subnet_tiers", vec!["public"].into()),
        ("assign_ipv6_address_on_creation_tiers", vec!["public"].into()),
    ]);
    all.push(vec![("num_nat_gateways", 0_i64.into())]);
    all.push(vec![("num_availability_zones", 1_i64.into())]);
    all.push(vec![("secondary_cidr_blocks", Value::Null)]);
    all.push(vec![("restrict_default_security_group", true.into())]);
    all.push(vec![("create_transit_subnets", true.into()), ("enable_private_nat", true.into())]);
    all.push(vec![("route_table_layout", Value::map([("private_app", Value::from("per_tier"))]))]);
    all
}

fn a_network() -> Value {
    let tiers = || Value::from(vec!["private_app", "public"]);
    let endpoints = ["kms", "s3"].map(|name| (name, Value::map::<&str>([])));
    let log = [("log_destination_type", Value::from("s3")), ("log_destination", "arn:aws:s3:::flow-logs".into())];
    network(&[
        ("num_availability_zones", 2_i64.into()),
        // A second one would stay in the AZ that it has been moved to: that breaks no connections.
        ("num_nat_gateways", 1_i64.into()),
        ("allow_private_persistence_internet_access", true.into()),
        ("enable_ipv6", true.into()),
        ("assign_generated_ipv6_cidr_block", true.into()),
        ("ipv6_subnet_tiers", tiers()),
        ("assign_ipv6_address_on_creation_tiers", tiers()),
        ("create_egress_only_igw", true.into()),
        ("apply_default_nacl_rules", true.into()),
        ("secondary_cidr_blocks", vec!["100.64.0.0/16"].into()),
        ("interface_endpoints", Value::map(endpoints)),
        ("flow_logs", Value::map([("all", Value::map(log))])),
    ])
}

/// The same for a gateway.
fn of_gateways() -> Vec<Change> {
    let mut open = authorizer("guard");
    open.set("identity_sources", Value::List(Vec::new()));
    vec![
        vec![("ip_address_type", "dualstack".into())],
        vec![("disable_execute_api_endpoint", true.into())],
        vec![("default_authorizer_name", "users".into())],
        vec![("faas_authorizers", Value::map([("guard", open)]))],
        vec![("default_route_settings", limit(50))],
        vec![("access_log_logservice_group_name", Value::Null)],
        vec![("stage_name", "live".into())],
    ]
}

/// API Gateway has no call that removes a limit of the stage, so there are always some. A route with one limit of its
/// own has the other one of the stage.
fn limit(requests: i64) -> Value {
    Value::map(["throttling_burst_limit", "throttling_rate_limit"].map(|name| (name, Value::from(requests))))
}

fn a_gateway() -> Value {
    let mut guarded = route("orders", Some("guard"));
    guarded.set("throttling_burst_limit", 7_i64.into());
    let mut guard = authorizer("guard");
    guard.set("identity_sources", vec!["$request.header.Authorization"].into());
    gateway(
        &[("GET /orders", guarded), ("GET /open", route("open", None))],
        &[("guard", guard)],
        &[
            ("jwt_authorizers", Value::map([("users", jwt_authorizer("https://id.example.com"))])),
            ("domain_name", "a.example.com".into()),
            ("create_dns_entry", true.into()),
            ("hosted_zone_id", "Z0123456789A".into()),
            ("access_log_logservice_group_name", "/http/front".into()),
            ("default_route_settings", limit(100)),
        ],
    )
}

type Specs = BTreeMap<String, Spec>;

/// The specs of all objects of a topology, as the account has them, by slot.
fn specs<P: Topology>(terraform: &Terraform<P>) -> Specs {
    let inventory = inventory(&terraform.private);
    let of = |key: &Key| terraform.account.spec_of(key).expect("the account has each object of the state");
    inventory.current().map(|entry| (entry.key.slot.clone(), of(&entry.key))).collect()
}

/// The kinds and names of the properties in which objects differ that exist before and after a change.
fn changed(before: &Specs, after: &Specs) -> BTreeSet<(String, String)> {
    let fields = |spec: &Spec| match serde_json::to_value(spec).expect("a spec serializes") {
        serde_json::Value::Object(fields) => fields,
        other => panic!("{other}"),
    };
    let mut changed = BTreeSet::new();
    for (slot, before) in before {
        let Some(after) = after.get(slot) else { continue };
        let (kind, before, after) = (name(before).to_string(), fields(before), fields(after));
        let differing = before.iter().filter(|(name, value)| after.get(*name) != Some(*value));
        changed.extend(differing.map(|(name, _)| (kind.clone(), name.clone())));
    }
    changed
}

fn differences(before: &Specs, after: &Specs) -> String {
    let slots: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differing = slots.into_iter().filter(|slot| before.get(*slot) != after.get(*slot));
    let line = |slot: &String| format!("{slot}: {:?} became {:?}", before.get(slot), after.get(slot));
    differing.map(line).collect::<Vec<_>>().join("\n")
}

/// What happens between a change and its way back.
#[derive(Clone, Copy, Debug)]
enum Between {
    Nothing,
    /// The way back fails once at each object.
    Failures,
    /// The private state is lost.
    LostState,
}

/// Changes a topology, and changes it back. Returns the properties that the change has changed.
async fn there_and_back<P: Topology>(config: &Value, change: &Change, between: Between) -> BTreeSet<(String, String)> {
    let mut terraform = Terraform::<P>::new(2);
    terraform.assert_applies(config).await;
    let first = specs(&terraform);
    let mut other = config.clone();
    for (name, value) in change {
        other.set(name, value.clone());
    }
    terraform.assert_applies(&other).await;
    let changed = changed(&first, &specs(&terraform));
    match between {
        Between::Nothing => {}
        Between::LostState => terraform.private = Vec::new(),
        Between::Failures => {
            for slot in first.keys() {
                terraform.account.failing.lock().unwrap().push(slot.clone());
                terraform.refresh().await;
                terraform.apply(config).await;
                terraform.account.failing.lock().unwrap().clear();
            }
        }
    }
    terraform.refresh().await;
    terraform.assert_applies(config).await;
    assert_eq!(differences(&first, &specs(&terraform)), "", "after {change:?} and {between:?}");
    terraform.end().await;
    changed
}

async fn all_changes(between: Between) -> BTreeSet<(String, String)> {
    let mut changed = BTreeSet::new();
    for change in of_networks() {
        changed.extend(there_and_back::<FourTierVpc>(&a_network(), &change, between).await);
    }
    for change in of_gateways() {
        changed.extend(there_and_back::<HttpGateway>(&a_gateway(), &change, between).await);
    }
    changed
}

#[tokio::test(start_paused = true)]
async fn what_follows_from_another_input_returns_with_it() {
    assert_complete(FOLLOWING.iter().map(|(kind, _)| *kind));
    let listed = FOLLOWING.iter().flat_map(|(kind, names)| names.iter().map(move |name| (*kind, *name)));
    let listed: BTreeSet<(String, String)> = listed.map(|(kind, name)| (kind.into(), name.into())).collect();
    assert_eq!(all_changes(Between::Nothing).await, listed);
}

#[tokio::test(start_paused = true)]
async fn it_returns_although_each_operation_has_failed_once() {
    all_changes(Between::Failures).await;
}

#[tokio::test(start_paused = true)]
async fn it_returns_although_the_private_state_was_lost() {
    all_changes(Between::LostState).await;
}
