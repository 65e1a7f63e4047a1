//! NAT gateways that come, go and are made anew, and what the tables that use them lead to meanwhile.

use serde_json::json;

use super::{TestEnv, text};
use crate::support::proxy::lasts::Lasts;
use crate::support::proxy::log::Record;
use crate::support::wait::until;

fn azs(count: usize, further: &str) -> String {
    format!("  num_availability_zones = {count}\n  create_vpc_endpoints = false\n{further}")
}

/// The changing calls in the order of their beginning, each with the parameters that matter here.
fn steps(bed: &TestEnv) -> Vec<String> {
    let step = |record: Record| {
        let names = ["RouteTableId", "NatGatewayId", "AllocationId", "CidrBlock"];
        let given = names.map(|name| record.call.param(name).to_owned());
        let given: Vec<String> = given.into_iter().filter(|value| !value.is_empty()).collect();
        format!("{} {}", record.call.action, given.join(" ")).trim_end().to_owned()
    };
    bed.proxy.mutations().into_iter().map(step).collect()
}

fn position(steps: &[String], step: &str) -> usize {
    steps.iter().position(|it| it == step).unwrap_or_else(|| panic!("no {step:?} in {steps:#?}"))
}

/// NAT gateways take their time, as on AWS, so that what does not wait for them is done before.
fn slow(bed: &TestEnv) {
    bed.proxy.nat_pending(Lasts::Looks(6));
    bed.proxy.nat_deleting(Lasts::Looks(6));
}

#[test]
fn a_nat_gateway_that_somebody_deleted_returns_with_its_address_and_another_serves_its_table_meanwhile() {
    let bed = TestEnv::new();
    bed.change(&azs(2, "  num_nat_gateways = 2"));
    let (table, address, other) = (bed.id("route_table.private_app.0"), bed.id("eip.0"), bed.id("nat_gateway.1"));
    let addresses = bed.attribute("nat_gateway_public_ips");
    let good = bed.snapshot();
    // Through the proxy, which frees the address as AWS does.
    bed.proxy.boto("ec2", "delete_nat_gateway", json!({"NatGatewayId": bed.id("nat_gateway.0")}));
    let plan = bed.workspace.plan(&[]);
    assert!(plan.code == 2 && !plan.says("without a way out"), "{plan}");
    bed.proxy.nat_pending(Lasts::UntilSet);
    std::thread::scope(|scope| {
        // The new one is pending until the table leads to the other, and is then looked at twice more.
        scope.spawn(|| {
            bed.proxy.wait_for("ReplaceRoute", 1);
            let looks = bed.proxy.succeeded("DescribeNatGateways");
            bed.proxy.wait_for("DescribeNatGateways", looks + 2);
            assert_eq!(bed.proxy.count("ReplaceRoute"), 1, "the table leads back to a pending gateway");
            bed.proxy.nat_pending(Lasts::NOT_AT_ALL);
        });
        bed.apply();
    });
    let steps = steps(&bed);
    let aside = position(&steps, &format!("ReplaceRoute {table} {other}"));
    let made = position(&steps, &format!("CreateNatGateway {address}"));
    let back = position(&steps, &format!("ReplaceRoute {table} {}", bed.id("nat_gateway.0")));
    assert!(aside < back && made < back && steps.len() == 3, "{steps:#?}");
    assert_eq!(bed.snapshot().lines(), good.lines());
    assert_eq!(bed.attribute("nat_gateway_public_ips"), addresses);
    assert_eq!(bed.id("nat_gateway.1"), other);
    bed.destroy();
}

#[test]
fn an_address_is_taken_again_when_the_nat_gateway_that_somebody_is_deleting_has_left_it() {
    let bed = TestEnv::new();
    bed.change(&azs(1, "  num_nat_gateways = 1"));
    let addresses = bed.attribute("nat_gateway_public_ips");
    let good = bed.snapshot();
    bed.proxy.nat_deleting(Lasts::UntilSet);
    bed.proxy.boto("ec2", "delete_nat_gateway", json!({"NatGatewayId": bed.id("nat_gateway.0")}));
    bed.proxy.clear_calls();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Who waits for the address asks for the gateways that are being deleted.
            let asks = |record: &Record| {
                let filters = record.call.filters();
                record.status == 200 && filters.iter().any(|(name, values)| *name == "state" && values == &["deleting"])
            };
            until("the address is waited for", || bed.proxy.count_like(asks) >= 5);
            assert_eq!(bed.proxy.count("CreateNatGateway"), 0, "the address is still held");
            bed.proxy.nat_deleting(Lasts::NOT_AT_ALL);
        });
        bed.workspace.apply(&[]).succeeded();
    });
    let made: Vec<u16> = bed
        .proxy
        .mutations()
        .into_iter()
        .filter(|record| record.call.action == "CreateNatGateway")
        .map(|record| record.status)
        .collect();
    assert_eq!(made, [200], "it is not tried before the address is free: {:#?}", steps(&bed));
    bed.workspace.assert_nothing_to_do();
    assert_eq!(bed.snapshot().lines(), good.lines());
    assert_eq!(bed.attribute("nat_gateway_public_ips"), addresses);
    bed.destroy();
}

#[test]
fn a_nat_gateway_whose_subnet_is_exchanged_keeps_its_address_and_its_table_a_way_out() {
    let bed = TestEnv::new();
    let with = |further: &str| azs(2, &format!("  num_nat_gateways = 2\n{further}"));
    bed.change(&with(""));
    let (table, address) = (bed.id("route_table.private_app.0"), bed.id("eip.0"));
    let (old, other) = (bed.id("nat_gateway.0"), bed.id("nat_gateway.1"));
    let addresses = bed.attribute("nat_gateway_public_ips");
    slow(&bed);
    let entry = with("  public_subnet_cidr_blocks = { AZ-0 = \"10.0.240.0/24\" }");
    bed.config(&entry);
    let plan = bed.workspace.plan(&[]);
    assert!(plan.says("nat_gateway.0") && !plan.says("without a way out"), "{plan}");
    bed.change(&entry);
    let steps = steps(&bed);
    let expected = [
        format!("ReplaceRoute {table} {other}"),
        format!("DeleteNatGateway {old}"),
        format!("CreateNatGateway {address}"),
        format!("ReplaceRoute {table} {}", bed.id("nat_gateway.0")),
    ];
    let order: Vec<usize> = expected.iter().map(|step| position(&steps, step)).collect();
    assert!(order.is_sorted(), "{steps:#?}");
    assert_eq!(steps.iter().filter(|step| step.contains("Address") || step.contains(&other)).count(), 1, "{steps:#?}");
    let made = position(&steps, "CreateSubnet 10.0.240.0/24");
    assert!(made < order[2] && steps.last().is_some_and(|it| it.starts_with("DeleteSubnet")), "{steps:#?}");
    assert_eq!(bed.attribute("nat_gateway_public_ips"), addresses);
    assert_eq!(bed.id("nat_gateway.1"), other);
    bed.destroy();
}

#[test]
fn a_plan_that_leaves_tables_without_a_way_out_for_a_time_says_so() {
    let bed = TestEnv::new();
    let with = |further: &str| azs(2, &format!("  num_nat_gateways = 1\n{further}"));
    bed.change(&with(""));
    let (old, addresses) = (bed.id("nat_gateway.0"), bed.attribute("nat_gateway_public_ips"));
    let entry = with("  public_subnet_cidr_blocks = { AZ-0 = \"10.0.240.0/24\" }");
    bed.config(&entry);
    let plan = bed.workspace.plan(&[]);
    assert!(plan.says("The update of fgw_four_tier_vpc \"main\" leaves 2 route tables without a way out"), "{plan}");
    for index in 0..2 {
        let table = bed.id(&format!("route_table.private_app.{index}"));
        let line = format!(
            "route.private_app.{index}.ipv4 ({table}_0.0.0.0/0): from the deletion of nat_gateway.0 ({old}) until the new \
             nat_gateway.0 works"
        );
        assert!(plan.says(&line), "no {line:?} in {plan}");
    }
    let exchanged = bed.change(&entry);
    let calls = "AssociateRouteTable 1, CreateNatGateway 1, CreateSubnet 1, DeleteNatGateway 1, DeleteSubnet 1, \
                 ReplaceRoute 2";
    assert_eq!(exchanged.calls, calls);
    assert_eq!(bed.attribute("nat_gateway_public_ips"), addresses);
    bed.proxy.boto("ec2", "delete_nat_gateway", json!({"NatGatewayId": bed.id("nat_gateway.0")}));
    let plan = bed.workspace.plan(&[]);
    assert!(plan.says("already, as what it led to is gone, and until the new nat_gateway.0 works"), "{plan}");
    let mended = bed.apply();
    assert_eq!(mended.calls, "CreateNatGateway 1, ReplaceRoute 2");
    bed.destroy();
}

#[test]
fn one_three_and_one_nat_gateway_and_an_az_more_move_none_that_stays() {
    let bed = TestEnv::new();
    bed.change(&azs(2, "  num_nat_gateways = 1"));
    let first = bed.id("nat_gateway.0");
    slow(&bed);
    let three = bed.change(&azs(2, "  num_nat_gateways = 3"));
    assert_eq!(three.calls, "AllocateAddress 2, CreateNatGateway 2, ReplaceRoute 1");
    // The third stands in AZ 0, and stays there when there is an AZ 2.
    let third = bed.id("nat_gateway.2");
    let wider = bed.change(&azs(3, "  num_nat_gateways = 3"));
    assert!(!wider.calls.contains("Nat") && !wider.calls.contains("Address"), "{wider:#?}");
    assert_eq!((bed.id("nat_gateway.0"), bed.id("nat_gateway.2")), (first.clone(), third));
    bed.change(&azs(3, "  num_nat_gateways = 1"));
    let steps = steps(&bed);
    let last_move = steps.iter().rposition(|step| step.starts_with("ReplaceRoute"));
    let first_end = steps.iter().position(|step| step.starts_with("DeleteNatGateway"));
    assert!(last_move.is_some() && last_move < first_end, "{steps:#?}");
    assert_eq!(bed.id("nat_gateway.0"), first);
    bed.destroy();
}

#[test]
fn a_shorter_list_of_addresses_in_another_order_touches_only_the_nat_gateway_whose_address_goes() {
    let bed = TestEnv::new();
    let own: Vec<String> =
        (0..3).map(|_| text(&bed.ec2("allocate_address", json!({"Domain": "vpc"}))["AllocationId"])).collect();
    let custom = |ids: &[&String]| {
        let (count, ids) = (ids.len(), json!(ids));
        azs(3, &format!("  num_nat_gateways = {count}\n  use_custom_nat_eips = true\n  custom_nat_eips = {ids}"))
    };
    bed.change(&custom(&[&own[0], &own[1], &own[2]]));
    let [first, second, third] = [0, 1, 2].map(|slot| bed.id(&format!("nat_gateway.{slot}")));
    slow(&bed);
    bed.change(&custom(&[&own[2], &own[0]]));
    let steps = steps(&bed);
    let moved = position(&steps, &format!("ReplaceRoute {} {third}", bed.id("route_table.private_app.1")));
    let gone = position(&steps, &format!("DeleteNatGateway {second}"));
    assert!(moved < gone && steps.len() == 2, "{steps:#?}");
    assert_eq!((bed.id("nat_gateway.0"), bed.id("nat_gateway.2")), (first, third));
    bed.destroy();
}

#[test]
fn a_default_route_of_somebody_else_in_our_table_is_refused_with_its_target() {
    let bed = TestEnv::new();
    bed.change(&azs(1, "  num_nat_gateways = 0"));
    let gateway = text(&bed.ec2("create_transit_gateway", json!({}))["TransitGateway"]["TransitGatewayId"]);
    let table = bed.id("route_table.private_app.0");
    let route = json!({"RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0"});
    let mut led = route.clone();
    led["TransitGatewayId"] = json!(gateway);
    bed.ec2("create_route", led);
    bed.workspace.assert_nothing_to_do();

    bed.proxy.clear_calls();
    bed.config(&azs(1, "  num_nat_gateways = 1"));
    let refused = bed.workspace.plan(&[]);
    refused.failed_with("Invalid value for num_nat_gateways");
    refused.failed_with(&format!(
        "route.private_app.0.ipv4 would lead 0.0.0.0/0 of route_table.private_app.0 ({table}) to nat_gateway.0, but a \
         route there leads it to {gateway} already"
    ));
    assert_eq!(bed.proxy.mutations().len(), 0);
    bed.ec2("delete_route", route);
    bed.apply();
    bed.destroy();
}
