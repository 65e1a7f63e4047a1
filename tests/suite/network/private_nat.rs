//! Private NAT gateways: in transit subnets, without public addresses, and exchanged for public ones on a live network.

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

/// The changing calls in the order of their beginning.
fn actions(bed: &TestEnv) -> Vec<String> {
    bed.proxy.mutations().into_iter().map(|record| record.call.action).collect()
}

/// Asserts that each route of this many was led elsewhere in one step before the first gateway went, and the first
/// address after that.
fn assert_no_gap(bed: &TestEnv, routes: usize) {
    let calls = bed.proxy.mutations();
    let of = |action: &str| calls.iter().filter(|it| it.call.action == action).collect::<Vec<&Record>>();
    let (moves, ends) = (of("ReplaceRoute"), of("DeleteNatGateway"));
    assert_eq!((moves.len(), of("DeleteRoute").len(), of("CreateRoute").len()), (routes, 0, 0), "{calls:#?}");
    let first_end = ends.iter().map(|it| it.started).min().expect("a gateway goes");
    assert!(moves.iter().all(|it| it.ended.is_some_and(|ended| ended <= first_end)), "{calls:#?}");
    let released = of("ReleaseAddress").iter().map(|it| it.started).min();
    assert!(released.is_none_or(|it| ends.iter().all(|end| end.ended.is_some_and(|end| end <= it))), "{calls:#?}");
}

#[test]
fn a_network_with_private_nat_leads_its_app_tables_there_and_has_no_address() {
    let bed = TestEnv::new();
    let made = bed.change(&private(1, "  allow_private_persistence_internet_access = true"));
    for line in [
        "nat main-private-nat-gateway-0 private available in main-transit-0 with null",
        "table main-private-app-0 [main-private-app-0] 0.0.0.0/0>main-private-nat-gateway-0 10.0.0.0/16>local",
        "table main-private-app-1 [main-private-app-1] 0.0.0.0/0>main-private-nat-gateway-0 10.0.0.0/16>local",
        "table main-private-persistence-1 [main-private-persistence-1] 0.0.0.0/0>main-private-nat-gateway-0 \
         10.0.0.0/16>local",
        "table main-transit-0 [main-transit-0] 10.0.0.0/16>local",
        "table main-public [main-public-0 main-public-1] 0.0.0.0/0>main 10.0.0.0/16>local",
    ] {
        assert!(made.new.iter().any(|it| it == line), "no {line} in {made:#?}");
    }
    assert!(!made.calls.contains("Address"), "{made:#?}");
    let first = bed.id("private_nat_gateway.0");
    assert_eq!(bed.attribute("private_nat_gateway_ids"), json!([first]));
    assert_eq!(bed.attribute("nat_gateway_ids"), json!([]));
    assert_eq!(bed.attribute("nat_gateway_public_ips"), json!([]));

    let forbidden = bed.change(&private(1, ""));
    assert_eq!(forbidden.calls, "DeleteRoute 2");
    let two = bed.change(&private(2, ""));
    assert_eq!(two.calls, "CreateNatGateway 1, ReplaceRoute 1");
    assert_eq!(bed.attribute("private_nat_gateway_ids"), json!([first, bed.id("private_nat_gateway.1")]));
    let one = bed.change(&private(1, ""));
    assert_eq!(actions(&bed), ["ReplaceRoute", "DeleteNatGateway"]);
    assert_eq!(one.gone, two.new);
    assert_eq!(bed.id("private_nat_gateway.0"), first);
    bed.destroy();
}

#[test]
fn private_nat_needs_no_public_tier() {
    let bed = TestEnv::new();
    let made = bed.change(&private(2, "  create_public_subnets = false"));
    for line in [
        "nat main-private-nat-gateway-1 private available in main-transit-1 with null",
        "table main-private-app-1 [main-private-app-1] 0.0.0.0/0>main-private-nat-gateway-1 10.0.0.0/16>local",
    ] {
        assert!(made.new.iter().any(|it| it == line), "no {line} in {made:#?}");
    }
    assert!(!made.calls.contains("InternetGateway") && !made.calls.contains("Address"), "{made:#?}");
    bed.destroy();
}

#[test]
fn public_nat_becomes_private_and_public_again_and_no_route_is_ever_without_a_target() {
    let bed = TestEnv::new();
    bed.change(&public(2));
    let addresses = bed.attribute("nat_gateway_public_ips");
    let lost: Vec<String> = addresses.as_array().expect("a list").iter().map(text).collect();
    bed.config(&private(2, ""));
    let plan = bed.workspace.plan(&[]);
    for address in &lost {
        assert!(plan.says(&format!("the public address {address} is lost")), "no {address} in {plan}");
    }
    assert!(!plan.says("without a way out"), "{plan}");
    let turned = bed.apply();
    assert_eq!(turned.calls, "CreateNatGateway 2, DeleteNatGateway 2, ReleaseAddress 2, ReplaceRoute 2");
    assert_no_gap(&bed, 2);
    assert_eq!(bed.attribute("nat_gateway_public_ips"), json!([]));

    bed.config(&public(2));
    let plan = bed.workspace.plan(&[]);
    assert!(plan.code == 2 && !plan.says("without a way out") && !plan.says("is lost"), "{plan}");
    let back = bed.apply();
    assert_eq!(back.calls, "AllocateAddress 2, CreateNatGateway 2, DeleteNatGateway 2, ReplaceRoute 2");
    assert_no_gap(&bed, 2);
    bed.destroy();
}

#[test]
fn a_private_nat_gateway_that_somebody_deleted_or_retagged_is_mended() {
    let bed = TestEnv::new();
    bed.change(&private(2, "  custom_tags = { team = \"net\" }"));
    let good = bed.snapshot();
    let (gone, other) = (bed.id("private_nat_gateway.0"), bed.id("private_nat_gateway.1"));
    bed.proxy.boto("ec2", "delete_nat_gateway", json!({"NatGatewayId": gone}));
    bed.ec2("create_tags", json!({"Resources": [other], "Tags": [{"Key": "team", "Value": "other"}]}));
    let plan = bed.workspace.plan_json(&[]);
    let drift = drift(&plan);
    let said: Vec<(&str, &str)> = drift
        .as_object()
        .expect("a map")
        .iter()
        .map(|(key, said)| (key.as_str(), said.as_str().unwrap_or("")))
        .collect();
    let blackhole = format!("target is blackhole {gone} instead of private_nat_gateway.0");
    assert_eq!(
        said,
        [
            ("private_nat_gateway.0", format!("{gone} is gone").as_str()),
            ("private_nat_gateway.1", "tag team has another value"),
            ("route.private_app.0.ipv4", blackhole.as_str()),
        ]
    );
    let mended = bed.apply();
    assert_eq!(mended.calls, "CreateNatGateway 1, CreateTags 1, ReplaceRoute 2");
    assert_eq!(bed.snapshot().lines(), good.lines());
    assert_eq!(bed.id("private_nat_gateway.1"), other);
    bed.destroy();
}

#[test]
fn secondary_addresses_come_and_go_in_place() {
    let bed = TestEnv::new();
    let with = |count: u32| private(1, &format!("  nat_secondary_private_ip_address_count = {count}"));
    bed.change(&private(1, ""));
    let gateway = bed.id("private_nat_gateway.0");
    let secondary = || {
        let found = bed.proxy.boto("ec2", "describe_nat_gateways", json!({"NatGatewayIds": [gateway]}));
        let addresses = found["NatGateways"][0]["NatGatewayAddresses"].as_array().expect("a list").clone();
        addresses.iter().filter(|it| it["IsPrimary"] == false).count()
    };
    assert_eq!(secondary(), 0);
    assert_eq!(bed.change(&with(2)).calls, "AssignPrivateNatGatewayAddress 1");
    assert_eq!(secondary(), 2);
    assert_eq!(bed.change(&with(1)).calls, "UnassignPrivateNatGatewayAddress 1");
    assert_eq!((secondary(), bed.id("private_nat_gateway.0")), (1, gateway.clone()));
    // A second gateway has them from the beginning.
    let two = bed.change(&private(2, "  nat_secondary_private_ip_address_count = 1"));
    assert_eq!(two.calls, "CreateNatGateway 1, ReplaceRoute 1");
    bed.destroy();
}
