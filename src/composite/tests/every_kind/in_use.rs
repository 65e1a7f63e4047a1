//! What an update does if AWS rejects the deletion of an object because others use it.

use super::super::{FourTierVpc, HttpGateway, Terraform, authorizer, gateway, jwt_authorizer, network, route};
use super::{assert_complete, name};
use crate::model::{Spec, WhenInUse};
use crate::plugin::{Nested, Value};
use crate::topology::Topology;
use crate::topology::http_gateway::LinkConfig;

/// Two configurations of one topology, of which the second deletes the object with a slot.
enum Example {
    Network {
        before: Value,
        after: Value,
        slot: &'static str,
    },
    Gateway {
        before: Value,
        after: Value,
        slot: &'static str,
    },
    /// No update deletes it, or AWS never rejects the deletion.
    None,
}

fn of_network(before: &[(&str, Value)], after: &[(&str, Value)], slot: &'static str) -> Example {
    Example::Network { before: network(before), after: network(after), slot }
}

fn of_gateway(before: &[(&str, Value)], after: &[(&str, Value)], slot: &'static str) -> Example {
    let config = |pairs: &[(&str, Value)]| gateway(&[("GET /a", route("a", None))], &[], pairs);
    Example::Gateway { before: config(before), after: config(after), slot }
}

/// VPC links, of which `main` has this subnet.
pub(in crate::composite::tests) fn links(subnet: &str) -> Value {
    let mut link = Value::map(LinkConfig::attributes().into_iter().map(|it| (it.name, Value::Null)));
    link.set("subnet_ids", vec![subnet].into());
    Value::map([("main", link)])
}

fn endpoints() -> Value {
    Value::map([("kms", Value::map([("subnet_tier", Value::from("private_app"))]))])
}

fn with_ipv6(more: &[(&str, Value)]) -> Vec<(&'static str, Value)> {
    let own = [("enable_ipv6", Value::from(true)), ("assign_generated_ipv6_cidr_block", true.into())];
    let leaked = more.iter().map(|(name, value)| (&*name.to_string().leak(), value.clone()));
    own.into_iter().chain(leaked).collect()
}

fn with_authorizer(faas: &[(&str, Value)], pairs: &[(&str, Value)], guard: Option<&str>) -> Value {
    gateway(&[("GET /a", route("a", guard))], faas, pairs)
}

/// A kind by its name, with the decision and an example.
fn table() -> Vec<(&'static str, WhenInUse, Example)> {
    use WhenInUse::{Deferred, Deleted, Error};
    let none = || Example::None;
    let jwt = [("jwt_authorizers", Value::map([("second", jwt_authorizer("https://one.example.com"))]))];
    let gateway_routes = |routes: &[(&str, Value)]| gateway(routes, &[], &[]);
    let a = ("GET /a", route("a", None));
    vec![
        ("VPC", Error, none()),
        (
            "secondary CIDR block",
            Deferred,
            of_network(&[("secondary_cidr_blocks", vec!["100.64.0.0/16"].into())], &[], "cidr_block.100.64.0.0/16"),
        ),
        ("IPv6 CIDR block", Deferred, of_network(&with_ipv6(&[]), &[], "ipv6_cidr_block")),
        (
            "internet gateway",
            Error,
            of_network(
                &[("num_nat_gateways", 0.into())],
                &[("num_nat_gateways", 0.into()), ("create_igw", false.into())],
                "internet_gateway",
            ),
        ),
        (
            "egress-only internet gateway",
            Deferred,
            of_network(
                &with_ipv6(&[("ipv6_subnet_tiers", vec!["private_app"].into())]),
                &with_ipv6(&[("ipv6_subnet_tiers", vec!["public"].into())]),
                "egress_only_internet_gateway",
            ),
        ),
        (
            "subnet",
            Deferred,
            of_network(&[], &[("create_private_persistence_subnets", false.into())], "subnet.private_persistence.0"),
        ),
        (
            "route table",
            Deferred,
            of_network(
                &[],
                &[("create_private_persistence_subnets", false.into())],
                "route_table.private_persistence.0",
            ),
        ),
        ("route", Deleted, none()),
        ("API route", Deleted, none()),
        ("route table association", Deleted, none()),
        ("Elastic IP address", Error, of_network(&[], &[("num_nat_gateways", 0.into())], "eip.0")),
        ("NAT gateway", Error, of_network(&[], &[("num_nat_gateways", 0.into())], "nat_gateway.0")),
        (
            "VPC endpoint",
            Deferred,
            of_network(&[], &[("create_vpc_endpoints", false.into())], "vpc_endpoint.objectstore"),
        ),
        (
            "security group",
            Deferred,
            of_network(&[("interface_endpoints", endpoints())], &[], "security_group.interface_endpoints"),
        ),
        (
            "interface endpoint",
            Deferred,
            of_network(&[("interface_endpoints", endpoints())], &[], "interface_endpoint.kms"),
        ),
        ("flow log", Deleted, none()),
        ("default security group", Deleted, none()),
        ("default network ACL", Deleted, none()),
        ("HTTP API", Error, none()),
        ("log group", Deleted, none()),
        ("subscription filter", Deleted, none()),
        ("Lambda permission", Deleted, none()),
        (
            "authorizer",
            Error,
            Example::Gateway {
                before: with_authorizer(&[("first", authorizer("guard"))], &[], Some("first")),
                after: with_authorizer(&[], &[], None),
                slot: "authorizer.first",
            },
        ),
        (
            "JWT authorizer",
            Error,
            Example::Gateway {
                before: with_authorizer(&[], &jwt, Some("second")),
                after: with_authorizer(&[], &[], None),
                slot: "authorizer.second",
            },
        ),
        (
            "integration",
            Error,
            Example::Gateway {
                before: gateway_routes(&[a.clone(), ("GET /b", route("b", None))]),
                after: gateway_routes(&[a]),
                slot: "integration.GET /b",
            },
        ),
        (
            "VPC link",
            Deferred,
            of_gateway(&[("vpc_links", links("subnet-1"))], &[("vpc_links", links("subnet-2"))], "vpc_link.main"),
        ),
        ("stage", Deferred, of_gateway(&[], &[("stage_name", "live".into())], "stage")),
        ("custom domain", Error, of_gateway(&[("domain_name", "a.example.com".into())], &[], "domain")),
        ("API mapping", Deleted, none()),
        ("DNS record", Deleted, none()),
    ]
}

#[test]
fn each_kind_states_what_happens_when_it_is_in_use() {
    let table = table();
    assert_complete(table.iter().map(|(kind, ..)| *kind));
    for spec in Spec::of_each_kind() {
        let row = table.iter().find(|(kind, ..)| *kind == name(&spec)).expect("the table is complete");
        assert_eq!(spec.when_in_use(), row.1, "{}", spec.kind());
        // What is deleted with the root needs no example.
        let needs_example = spec.when_in_use() != WhenInUse::Deleted && !spec.is_root();
        assert_eq!(needs_example, !matches!(row.2, Example::None), "{}", spec.kind());
    }
}

#[tokio::test(start_paused = true)]
async fn an_update_defers_the_deletion_or_fails() {
    for (kind, decision, example) in table() {
        match example {
            Example::Network { before, after, slot } => {
                check::<FourTierVpc>((kind, decision), &before, &after, slot).await;
            }
            Example::Gateway { before, after, slot } => {
                check::<HttpGateway>((kind, decision), &before, &after, slot).await;
            }
            Example::None => {}
        }
    }
}

async fn check<P: Topology>((kind, decision): (&str, WhenInUse), before: &Value, after: &Value, slot: &str) {
    let mut terraform = Terraform::<P>::new(3);
    terraform.assert_applies(before).await;
    let id = terraform
        .state
        .get("aws_objects")
        .get(slot)
        .as_str()
        .unwrap_or_else(|| panic!("{kind}: no {slot}"))
        .to_string();
    terraform.account.in_use.lock().unwrap().push(slot.to_string());
    terraform.refresh().await;
    match decision {
        WhenInUse::Deferred => {
            assert_deferred(&mut terraform, kind, after, (slot, &id)).await;
            assert_taken_back(&mut terraform, before, (slot, &id)).await;
            assert_deferred(&mut terraform, kind, after, (slot, &id)).await;
            assert_deferred_without_private_state(&mut terraform, after, (slot, &id)).await;
        }
        WhenInUse::Error => {
            let plan = terraform.plan(after).await;
            // A plan may know that already.
            let has_errors = plan.diagnostics.has_errors() || terraform.apply(after).await.has_errors();
            assert!(has_errors, "{kind}");
        }
        WhenInUse::Deleted => panic!("{kind} needs no example"),
    }
    terraform.account.in_use.lock().unwrap().clear();
    terraform.refresh().await;
    terraform.assert_applies(after).await;
    assert_eq!(*terraform.state.get("pending_deletion"), Value::map::<&str>([]), "{kind}");
    assert!(!terraform.account.ids_of("").contains(&id), "{kind}: {id} is deleted");
}

fn is_pending<P: Topology>(terraform: &Terraform<P>, id: &str) -> bool {
    let pending = terraform.state.get("pending_deletion").as_map().expect("a map");
    pending.iter().any(|(_, it)| it.as_str() == Some(id))
}

/// The apply succeeds, warns and names the users; the plan after it is empty.
async fn assert_deferred<P: Topology>(
    terraform: &mut Terraform<P>,
    kind: &str,
    after: &Value,
    (slot, id): (&str, &str),
) {
    let diagnostics = terraform.apply(after).await;
    assert!(!diagnostics.has_errors(), "{kind}: {diagnostics:?}");
    let warning = diagnostics.0.iter().find(|it| it.summary.contains(" is still in use; the next apply deletes it"));
    let warning = warning.unwrap_or_else(|| panic!("{kind}: {diagnostics:?}"));
    assert!(warning.detail.contains(&format!("-{slot}")), "{kind}: {}", warning.detail);
    assert!(is_pending(terraform, id), "{kind}: {}", terraform.state.get("pending_deletion"));
    assert_eq!(*terraform.state.get("drift"), Value::map::<&str>([]), "{kind}");
    let calls = terraform.account.take_calls();
    assert!(calls.iter().any(|call| call.starts_with("delete ")), "{kind}: {calls:?}");
    terraform.assert_quiet(after).await;
}

/// The object is used again, with the same ID.
async fn assert_taken_back<P: Topology>(terraform: &mut Terraform<P>, before: &Value, (slot, id): (&str, &str)) {
    // Otherwise, its successor would be in use too.
    terraform.account.in_use.lock().unwrap().clear();
    terraform.assert_applies(before).await;
    assert_eq!(terraform.state.get("aws_objects").get(slot).as_str(), Some(id));
    assert_eq!(*terraform.state.get("pending_deletion"), Value::map::<&str>([]), "{slot}");
    terraform.account.in_use.lock().unwrap().push(slot.to_string());
}

/// Without private state, it still is a pending deletion, and nothing takes its ID for that of its successor.
async fn assert_deferred_without_private_state<P: Topology>(
    terraform: &mut Terraform<P>,
    after: &Value,
    (slot, id): (&str, &str),
) {
    let objects = terraform.state.get("aws_objects").clone();
    terraform.private = Vec::new();
    terraform.refresh().await;
    assert!(is_pending(terraform, id), "{slot}: {}", terraform.state.get("pending_deletion"));
    assert_eq!(*terraform.state.get("aws_objects"), objects, "{slot}");
    assert!(!terraform.plan(after).await.diagnostics.has_errors(), "{slot}");
}
