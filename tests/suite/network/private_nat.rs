//! Private NAT gateways: in transit subnets, without public addresses. Networks can switch between private and public.

use serde_json::json;

use super::drift::drift;
use super::{TestEnv, text};
use crate::support::proxy::log::Record;

fn azs(count: usize, further: &str) -> String {
    format!(
        "  num_availability_zones = {count}\n  create_transit_subnets = true\n  create_vpc_endpoints = false\n{further}"
    )
}

fn private(count: usize, further: &str) -> String {
    azs(2, &format!("  enable_private_nat = true\n  num_nat_gateways = {count}\n{further}"))
}

fn public(count: usize) -> String {
    azs(2, &format!("  num_nat_gateways = {count}"))
}

/// The actions of the changing calls, in the order of their start.
fn actions(env: &TestEnv) -> Vec<String> {
    env.proxy.mutations().into_iter().map(|record| record.call.action).collect()
}

/// Asserts that this many routes were repointed, each by one call, before the first gateway was deleted, and that no
/// address was released before its gateway was deleted.
fn assert_no_gap(env: &TestEnv, routes: usize) {
    let calls = env.proxy.mutations();
    let of = |action: &str| calls.iter().filter(|it| it.call.action == action).collect::<Vec<&Record>>();
    let (moves, ends) = (of("ReplaceRoute"), of("DeleteNatGateway"));
    assert_eq!((moves.len(), of("DeleteRoute").len(), of("CreateRoute").len()), (routes, 0, 0), "{calls:#?}");
    let first_end = ends.iter().map(|it| it.started).min().expect("a gateway is deleted");
    assert!(moves.iter().all(|it| it.ended.is_some_and(|ended| ended <= first_end)), "{calls:#?}");
    // Each address is released after the deletion of its own gateway; another deletion may still be in progress.
    let mut deleted: Vec<_> = ends.iter().filter_map(|it| it.ended).collect();
    let mut released: Vec<_> = of("ReleaseAddress").iter().map(|it| it.started).collect();
    deleted.sort();
    released.sort();
    assert!(released.len() <= deleted.len() && released.iter().zip(&deleted).all(|(it, end)| end <= it), "{calls:#?}");
}

#[test]
fn private_nat_serves_the_app_tables_without_addresses() {
    let env = TestEnv::new();
    let created = env.change(&private(1, "  allow_private_persistence_internet_access = true"));
    for line in [
        "nat main-private-nat-gateway-0 private available in main-transit-0 with null",
        "table main-private-app-0 [main-private-app-0] 0.0.0.0/0>main-private-nat-gateway-0 10.0.0.0/16>local",
        "table main-private-app-1 [main-private-app-1] 0.0.0.0/0>main-private-nat-gateway-0 10.0.0.0/16>local",
        "table main-private-persistence-1 [main-private-persistence-1] 0.0.0.0/0>main-private-nat-gateway-0 \
         10.0.0.0/16>local",
        "table main-transit-0 [main-transit-0] 10.0.0.0/16>local",
        "table main-public [main-public-0 main-public-1] 0.0.0.0/0>main 10.0.0.0/16>local",
    ] {
        assert!(created.new.iter().any(|it| it == line), "no {line} in {created:#?}");
    }
    assert!(!created.calls.contains("Address"), "{created:#?}");
    let first = env.id("private_nat_gateway.0");
    assert_eq!(env.attribute("private_nat_gateway_ids"), json!([first]));
    assert_eq!(env.attribute("nat_gateway_ids"), json!([]));
    assert_eq!(env.attribute("nat_gateway_public_ips"), json!([]));

    let forbidden = env.change(&private(1, ""));
    assert_eq!(forbidden.calls, "DeleteRoute 2");
    let two = env.change(&private(2, ""));
    assert_eq!(two.calls, "CreateNatGateway 1, ReplaceRoute 1");
    assert_eq!(env.attribute("private_nat_gateway_ids"), json!([first, env.id("private_nat_gateway.1")]));
    let one = env.change(&private(1, ""));
    assert_eq!(actions(&env), ["ReplaceRoute", "DeleteNatGateway"]);
    assert_eq!(one.old, two.new);
    assert_eq!(env.id("private_nat_gateway.0"), first);
    env.destroy();
}

#[test]
fn private_nat_needs_no_public_tier() {
    let env = TestEnv::new();
    let created = env.change(&private(2, "  create_public_subnets = false"));
    for line in [
        "nat main-private-nat-gateway-1 private available in main-transit-1 with null",
        "table main-private-app-1 [main-private-app-1] 0.0.0.0/0>main-private-nat-gateway-1 10.0.0.0/16>local",
    ] {
        assert!(created.new.iter().any(|it| it == line), "no {line} in {created:#?}");
    }
    assert!(!created.calls.contains("InternetGateway") && !created.calls.contains("Address"), "{created:#?}");
    env.end();
}

#[test]
fn switching_between_public_and_private_nat_leaves_no_gap() {
    let env = TestEnv::new();
    env.change(&public(2));
    let addresses = env.attribute("nat_gateway_public_ips");
    let lost: Vec<String> = addresses.as_array().expect("a list").iter().map(text).collect();
    env.config(&private(2, ""));
    let plan = env.workspace.plan(&[]);
    for address in &lost {
        assert!(plan.says(&format!("the public address {address} is lost")), "no {address} in {plan}");
    }
    assert!(!plan.says("interrupts"), "{plan}");
    let turned = env.apply();
    assert_eq!(turned.calls, "CreateNatGateway 2, DeleteNatGateway 2, ReleaseAddress 2, ReplaceRoute 2");
    assert_no_gap(&env, 2);
    assert_eq!(env.attribute("nat_gateway_public_ips"), json!([]));

    env.config(&public(2));
    let plan = env.workspace.plan(&[]);
    assert!(plan.code == 2 && !plan.says("interrupts") && !plan.says("is lost"), "{plan}");
    let back = env.apply();
    assert_eq!(back.calls, "AllocateAddress 2, CreateNatGateway 2, DeleteNatGateway 2, ReplaceRoute 2");
    assert_no_gap(&env, 2);
    env.end();
}

#[test]
fn drift_of_private_nat_gateways_is_fixed() {
    let env = TestEnv::new();
    env.change(&private(2, "  custom_tags = { team = \"net\" }"));
    let good = env.snapshot();
    let (deleted, other) = (env.id("private_nat_gateway.0"), env.id("private_nat_gateway.1"));
    env.proxy.boto("ec2", "delete_nat_gateway", json!({"NatGatewayId": deleted}));
    env.ec2("create_tags", json!({"Resources": [other], "Tags": [{"Key": "team", "Value": "other"}]}));
    let plan = env.workspace.plan_json(&[]);
    let drift = drift(&plan);
    let reported: Vec<(&str, &str)> = drift
        .as_object()
        .expect("a map")
        .iter()
        .map(|(key, reported)| (key.as_str(), reported.as_str().unwrap_or("")))
        .collect();
    let blackhole = format!("target is blackhole {deleted} instead of private_nat_gateway.0");
    assert_eq!(
        reported,
        [
            ("private_nat_gateway.0", format!("{deleted} is missing").as_str()),
            ("private_nat_gateway.1", "tag team has another value"),
            ("route.private_app.0.ipv4", blackhole.as_str()),
        ]
    );
    let fixed = env.apply();
    assert_eq!(fixed.calls, "CreateNatGateway 1, CreateTags 1, ReplaceRoute 2");
    assert_eq!(env.snapshot().lines(), good.lines());
    assert_eq!(env.id("private_nat_gateway.1"), other);
    env.end();
}

#[test]
fn secondary_addresses_change_in_place() {
    let env = TestEnv::new();
    let with = |count: u32| private(1, &format!("  nat_secondary_private_ip_address_count = {count}"));
    env.change(&private(1, ""));
    let gateway = env.id("private_nat_gateway.0");
    let secondary = || {
        let found = env.proxy.boto("ec2", "describe_nat_gateways", json!({"NatGatewayIds": [gateway]}));
        let addresses = found["NatGateways"][0]["NatGatewayAddresses"].as_array().expect("a list").clone();
        addresses.iter().filter(|it| it["IsPrimary"] == false).count()
    };
    assert_eq!(secondary(), 0);
    assert_eq!(env.change(&with(2)).calls, "AssignPrivateNatGatewayAddress 1");
    assert_eq!(secondary(), 2);
    assert_eq!(env.change(&with(1)).calls, "UnassignPrivateNatGatewayAddress 1");
    assert_eq!((secondary(), env.id("private_nat_gateway.0")), (1, gateway.clone()));
    // A second gateway is created with them.
    let two = env.change(&private(2, "  nat_secondary_private_ip_address_count = 1"));
    assert_eq!(two.calls, "CreateNatGateway 1, ReplaceRoute 1");
    env.end();
}
