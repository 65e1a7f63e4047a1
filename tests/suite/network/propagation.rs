//! Virtual private gateways whose routes propagate to a tier's tables.

use serde_json::{Value, json};

use super::drift::drift;
use super::{TestEnv, network, text};

const ONE_AZ: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_transit_subnets = true\n  \
                      create_vpc_endpoints = false";

fn one_az(further: &str) -> String {
    format!("{ONE_AZ}\n{further}")
}

/// A virtual private gateway of the user's.
fn gateway(bed: &TestEnv) -> String {
    text(&bed.ec2("create_vpn_gateway", json!({"Type": "ipsec.1"}))["VpnGateway"]["VpnGatewayId"])
}

fn attach(bed: &TestEnv, gateway: &str) {
    bed.ec2("attach_vpn_gateway", json!({"VpnGatewayId": gateway, "VpcId": bed.id("vpc")}));
}

/// AWS keeps a VPC that a gateway is attached to.
fn destroy_without(bed: &TestEnv, gateways: &[&String]) {
    for gateway in gateways {
        bed.ec2("detach_vpn_gateway", json!({"VpnGatewayId": gateway, "VpcId": bed.id("vpc")}));
    }
    bed.destroy();
}

/// The gateways that propagate to one of our tables.
fn propagating(bed: &TestEnv, table: &str) -> Value {
    let found = bed.proxy.boto("ec2", "describe_route_tables", json!({"RouteTableIds": [bed.id(table)]}));
    let gateways = found["RouteTables"][0]["PropagatingVgws"].as_array().expect("a list").clone();
    gateways.iter().map(|it| it["GatewayId"].clone()).collect()
}

fn switch(bed: &TestEnv, verb: &str, table: &str, gateway: &str) {
    let both = json!({"RouteTableId": bed.id(table), "GatewayId": gateway});
    bed.proxy.boto("ec2", &format!("{verb}_vgw_route_propagation"), both);
}

#[test]
fn gateways_propagate_to_the_tables_of_their_tier_and_change_in_place() {
    let bed = TestEnv::new();
    bed.change(ONE_AZ);
    let (first, second) = (gateway(&bed), gateway(&bed));
    attach(&bed, &first);
    attach(&bed, &second);
    let tables = bed.attribute("aws_objects");
    let all = bed.change(&one_az(&format!(
        "  public_propagating_vgws = [\"{first}\"]\n  private_propagating_vgws = [\"{second}\", \"{first}\"]\n  \
         persistence_propagating_vgws = [\"{second}\"]\n  transit_propagating_vgws = [\"{first}\"]"
    )));
    assert_eq!(all.calls, "EnableVgwRoutePropagation 5");
    assert_eq!(propagating(&bed, "route_table.public"), json!([first]));
    let mut both = [first.clone(), second.clone()];
    both.sort();
    assert_eq!(propagating(&bed, "route_table.private_app.0"), json!(both));
    assert_eq!(propagating(&bed, "route_table.private_persistence.0"), json!([second]));
    assert_eq!(propagating(&bed, "route_table.transit.0"), json!([first]));

    let fewer = bed.change(&one_az(&format!(
        "  public_propagating_vgws = [\"{second}\"]\n  private_propagating_vgws = [\"{first}\"]\n  \
         transit_propagating_vgws = [\"{first}\"]"
    )));
    assert_eq!(fewer.calls, "DisableVgwRoutePropagation 3, EnableVgwRoutePropagation 1");
    let order: Vec<String> = bed
        .proxy
        .mutations()
        .into_iter()
        .filter(|it| it.call.param("RouteTableId") == bed.id("route_table.public"))
        .map(|it| it.call.action)
        .collect();
    assert_eq!(order, ["EnableVgwRoutePropagation", "DisableVgwRoutePropagation"]);
    assert_eq!(propagating(&bed, "route_table.private_app.0"), json!([first]));
    assert_eq!(propagating(&bed, "route_table.private_persistence.0"), json!([]));
    assert_eq!(bed.change(ONE_AZ).calls, "DisableVgwRoutePropagation 3");
    assert_eq!(bed.attribute("aws_objects"), tables, "everything was changed in place");
    destroy_without(&bed, &[&first, &second]);
}

#[test]
fn a_gateway_that_others_let_propagate_is_left_alone_and_one_of_ours_is_switched_on_again() {
    let bed = TestEnv::new();
    bed.change(ONE_AZ);
    let (ours, foreign) = (gateway(&bed), gateway(&bed));
    attach(&bed, &ours);
    attach(&bed, &foreign);
    let config = one_az(&format!("  private_propagating_vgws = [\"{ours}\"]"));
    bed.change(&config);
    let table = "route_table.private_app.0";
    switch(&bed, "enable", table, &foreign);
    switch(&bed, "enable", "route_table.public", &foreign);
    bed.workspace.assert_nothing_to_do();
    assert_eq!(bed.attribute("drift"), json!({}));

    switch(&bed, "disable", table, &ours);
    let plan = bed.workspace.plan_json(&[]);
    let found = drift(&plan);
    let said = found[table].as_str().unwrap_or_default();
    let expected = format!("propagating_gateways is [] instead of [{ours}]");
    assert_eq!((said, found.as_object().map(|it| it.len())), (expected.as_str(), Some(1)), "{found:#}");
    assert_eq!(plan["resource_drift"][0]["change"]["after"]["private_propagating_vgws"], json!([]));
    assert_eq!(bed.apply().calls, "EnableVgwRoutePropagation 1");

    assert_eq!(bed.change(ONE_AZ).calls, "DisableVgwRoutePropagation 1");
    assert_eq!(propagating(&bed, table), json!([foreign]));
    destroy_without(&bed, &[&ours, &foreign]);
}

#[test]
fn a_gateway_that_is_not_attached_fails_in_time_with_the_way_out_and_works_once_it_is() {
    let bed = TestEnv::new();
    bed.change(ONE_AZ);
    let (first, late) = (gateway(&bed), gateway(&bed));
    attach(&bed, &first);
    let impatient = |gateways: &[&String]| {
        one_az(&format!("  route_table_update_timeout = \"1s\"\n  private_propagating_vgws = {}", json!(gateways)))
    };
    bed.config(&impatient(&[&first, &late]));
    let failed = bed.workspace.apply(&[]);
    failed.failed_with(&format!("{late} is not attached to this VPC, {}", bed.id("vpc")));
    failed.failed_with("name it again and apply once more");
    failed.failed_with("Gateway.NotAttached");
    let table = "route_table.private_app.0";
    assert_eq!(propagating(&bed, table), json!([first]), "what could be done is done");

    // The gateway that the failed apply has switched on is ours: it goes when it is not wanted.
    let given_up = bed.change(&impatient(&[]));
    assert!(given_up.calls.contains("DisableVgwRoutePropagation"), "{given_up:#?}");
    assert_eq!(propagating(&bed, table), json!([]));
    attach(&bed, &late);
    assert_eq!(bed.change(&impatient(&[&late])).calls, "EnableVgwRoutePropagation 1");
    destroy_without(&bed, &[&first, &late]);
}

#[test]
fn a_gateway_that_is_known_only_in_the_apply_propagates_then() {
    let bed = TestEnv::with_terraform();
    bed.change(ONE_AZ);
    let (first, second) = (gateway(&bed), gateway(&bed));
    attach(&bed, &first);
    attach(&bed, &second);
    let config = |id: &str| {
        let late = format!("resource \"terraform_data\" \"gateway\" {{\n  input = \"{id}\"\n}}\n");
        network(&one_az("  private_propagating_vgws = [terraform_data.gateway.output]")) + &late
    };
    bed.workspace.config(&config(&first));
    assert_eq!(bed.apply().calls, "EnableVgwRoutePropagation 1");
    bed.workspace.config(&config(&second));
    assert_eq!(bed.apply().calls, "DisableVgwRoutePropagation 1, EnableVgwRoutePropagation 1");
    assert_eq!(propagating(&bed, "route_table.private_app.0"), json!([second]));
    destroy_without(&bed, &[&first, &second]);
}
