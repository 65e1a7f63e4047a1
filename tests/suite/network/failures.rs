//! Calls that AWS refuses: the message says what and why, state holds what exists, and the next run goes on.

use serde_json::json;

use super::{THIS, TestEnv};
use crate::support::proxy::call::Call;
use crate::support::proxy::fault::Fault;
use crate::support::proxy::lasts::Lasts;

const TWO_AZS: &str = "  num_availability_zones = 2\n  num_nat_gateways = 2\n  create_vpc_endpoints = false";

#[test]
fn a_create_that_aws_refuses_half_way_is_finished_after_untaint() {
    let bed = TestEnv::with_terraform();
    bed.config(TWO_AZS);
    let refusal = Fault::on("CreateNatGateway").when(|call| call.params.values().any(|value| value == "nat_gateway.1"));
    bed.proxy.fault(refusal.answer(400, "NatGatewayLimitExceeded", "You have reached the limit of NAT gateways"));
    let failed = bed.workspace.apply(&[]);
    for text in [
        "Creating NAT gateway nat_gateway.1 failed",
        "CreateNatGateway answered NatGatewayLimitExceeded: You have reached the limit of NAT gateways",
        "request id 00000000-0000-4000-8000-00000000fa17",
        "Not started: route.private_app.1.ipv4",
        "terraform untaint ADDRESS",
        &bed.id("vpc"),
    ] {
        failed.failed_with(text);
    }
    assert!(bed.workspace.state().is_tainted(THIS));
    bed.assert_state_holds_what_exists();
    let objects = bed.attribute("aws_objects");
    assert!(objects["nat_gateway.0"].is_string() && objects["nat_gateway.1"].is_null(), "{objects}");
    assert_eq!(bed.proxy.account().list_of("vpcs")[0]["tags"]["fgw:state"], "incomplete");

    bed.proxy.clear_faults();
    bed.workspace.untaint(THIS);
    let finished = bed.apply();
    assert_eq!(finished.calls, "CreateNatGateway 1, CreateRoute 1, CreateTags 1", "only what is missing is made");
    assert_eq!(bed.proxy.account().list_of("vpcs")[0]["tags"]["fgw:state"], "ready");
    bed.destroy();
}

#[test]
fn a_nat_gateway_that_fails_after_its_creation_is_reported_and_a_tainted_network_is_rebuilt() {
    let bed = TestEnv::with_terraform();
    bed.config("  num_availability_zones = 1\n  num_nat_gateways = 1\n  create_vpc_endpoints = false");
    bed.proxy.nat_fails(1, "InsufficientFreeAddressesInSubnet", "The subnet has no free addresses");
    let failed = bed.workspace.apply(&[]);
    failed.failed_with("Creating NAT gateway nat_gateway.0 failed");
    failed.failed_with("InsufficientFreeAddressesInSubnet");
    assert!(bed.workspace.state().is_tainted(THIS));
    let first = bed.id("vpc");
    bed.apply();
    assert_ne!(bed.id("vpc"), first);
    assert_eq!(bed.proxy.account().list_of("vpcs").len(), 1, "the tainted network is gone");
    bed.destroy();
}

#[test]
fn a_failed_update_goes_on_where_it_stopped_even_without_a_refresh() {
    let bed = TestEnv::new();
    bed.change(TWO_AZS);
    let full = format!("{TWO_AZS}\n  create_transit_subnets = true\n  custom_tags = {{ a = \"b\" }}");
    bed.config(&full);
    let refusal =
        Fault::on("CreateRouteTable").when(|call| call.params.values().any(|value| value == "route_table.transit.1"));
    bed.proxy.fault(refusal.answer(
        400,
        "RouteTableLimitExceeded",
        "The maximum number of route tables has been reached",
    ));
    let failed = bed.workspace.apply(&[]);
    failed.failed_with("Creating route table route_table.transit.1 failed");
    failed.failed_with("RouteTableLimitExceeded");
    assert!(!bed.workspace.state().is_tainted(THIS));
    bed.assert_state_holds_what_exists();
    let drift = bed.attribute("drift");
    let left: Vec<&String> = drift.as_object().expect("a map").keys().collect();
    assert_eq!(left, ["route_table.transit.1", "route_table_association.transit.1"], "{drift}");
    assert_eq!(bed.attribute("custom_tags"), json!({"a": "b"}), "the planned values of a failed update are in state");

    bed.proxy.clear_faults();
    let plan = bed.workspace.plan(&["-refresh=false"]);
    assert_eq!(plan.code, 2, "{plan}");
    let finished = bed.apply_with(&["-refresh=false"]);
    assert_eq!(finished.calls, "AssociateRouteTable 1, CreateRouteTable 1");
    bed.destroy();
}

#[test]
fn a_failed_deletion_in_an_update_goes_on_even_without_a_refresh() {
    let bed = TestEnv::new();
    bed.change(TWO_AZS);
    bed.config(&TWO_AZS.replace("num_nat_gateways = 2", "num_nat_gateways = 1"));
    bed.proxy.fault(Fault::on("ReleaseAddress").answer(403, "UnauthorizedOperation", "You are not authorized"));
    let failed = bed.workspace.apply(&[]);
    failed.failed_with("Deleting Elastic IP address eip.1 failed");
    failed.failed_with("The credentials lack a permission");
    assert!(bed.attribute("drift")["eip.1"].is_string(), "{}", bed.attribute("drift"));
    assert!(bed.attribute("aws_objects")["eip.1"].is_string());
    bed.proxy.clear_faults();
    let finished = bed.apply_with(&["-refresh=false"]);
    assert_eq!(finished.calls, "ReleaseAddress 1");
    bed.destroy();
}

#[test]
fn a_destroy_that_fails_leaves_the_remainder_in_state_and_the_next_one_takes_it() {
    let bed = TestEnv::new();
    bed.change(TWO_AZS);
    let refusal = Fault::on("DeleteSubnet").nth(3);
    bed.proxy.fault(refusal.answer(403, "UnauthorizedOperation", "You are not authorized to perform this operation"));
    let failed = bed.workspace.destroy();
    failed.failed_with("DeleteSubnet answered UnauthorizedOperation");
    failed.failed_with("The credentials lack a permission");
    let objects = bed.attribute("aws_objects");
    let keys = objects.as_object().expect("a map").keys();
    assert_eq!(keys.filter(|key| key.starts_with("subnet.")).count(), 1, "{objects}");
    assert!(objects["vpc"].is_string(), "{objects}");
    bed.assert_state_holds_what_exists();
    bed.proxy.clear_faults();
    bed.destroy();
}

#[test]
fn throttling_and_lost_answers_make_no_second_object() {
    let bed = TestEnv::new();
    bed.config("  num_availability_zones = 2\n  num_nat_gateways = 1");
    for action in ["CreateVpc", "CreateSubnet", "CreateInternetGateway", "AllocateAddress", "CreateNatGateway"] {
        bed.proxy.fault(Fault::on(action).nth(1).after_work().reset());
    }
    for action in ["CreateRouteTable", "AssociateRouteTable", "CreateRoute"] {
        bed.proxy.fault(Fault::on(action).first(2).answer(503, "RequestLimitExceeded", "Request limit exceeded."));
    }
    bed.apply();
    bed.assert_state_holds_what_exists();
    let listing = bed.proxy.account().list();
    let count = |kind: &str| listing[kind].as_array().map_or(0, Vec::len);
    assert_eq!(
        ["vpcs", "subnets", "internet_gateways", "addresses", "nat_gateways", "route_tables"].map(count),
        [1, 6, 1, 1, 1, 6]
    );
    bed.destroy();
}

#[test]
fn slow_gateways_are_waited_for_in_create_and_destroy() {
    let bed = TestEnv::new();
    bed.proxy.nat_pending(Lasts::Looks(6));
    bed.proxy.nat_deleting(Lasts::Looks(6));
    // How many descriptions of NAT gateways lie between their creation or deletion and a call that needs it.
    let looks_between = |since: &str, needs: &dyn Fn(&Call) -> bool| {
        let calls = bed.proxy.calls();
        let begun = calls.iter().position(|record| record.call.action == since).expect("it is called");
        let end = calls.iter().position(|record| needs(&record.call)).expect("it is called");
        calls[begun..end].iter().filter(|record| record.call.action == "DescribeNatGateways").count()
    };
    bed.change("  num_availability_zones = 1\n  num_nat_gateways = 1\n  create_vpc_endpoints = false");
    let route = |call: &Call| call.action == "CreateRoute" && !call.param("NatGatewayId").is_empty();
    assert!(looks_between("CreateNatGateway", &route) > 6, "no route leads to a pending gateway");
    let snapshot = bed.snapshot();
    assert!(snapshot.lines().iter().any(|line| line.starts_with("nat ") && line.contains(" available ")));
    bed.proxy.clear_calls();
    bed.destroy();
    let release = |call: &Call| call.action == "ReleaseAddress";
    assert!(looks_between("DeleteNatGateway", &release) > 6, "the address of a leaving gateway is kept");
}
