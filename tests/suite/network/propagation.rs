//! Virtual private gateways that propagate their routes to the tables of a tier.

use serde_json::{Value, json};

use super::drift::drift;
use super::{TestEnv, network, text};

const ONE_AZ: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_transit_subnets = true\n  \
                      create_vpc_endpoints = false";

fn one_az(further: &str) -> String {
    format!("{ONE_AZ}\n{further}")
}

/// Creates a virtual private gateway outside Terraform and returns its id.
fn gateway(env: &TestEnv) -> String {
    text(&env.ec2("create_vpn_gateway", json!({"Type": "ipsec.1"}))["VpnGateway"]["VpnGatewayId"])
}

fn attach(env: &TestEnv, gateway: &str) {
    env.ec2("attach_vpn_gateway", json!({"VpnGatewayId": gateway, "VpcId": env.id("vpc")}));
}

/// Detaches the gateways and destroys the network. AWS rejects the deletion of a VPC with an attached gateway.
fn destroy_without(env: &TestEnv, gateways: &[&String]) {
    for gateway in gateways {
        env.ec2("detach_vpn_gateway", json!({"VpnGatewayId": gateway, "VpcId": env.id("vpc")}));
    }
    env.destroy();
}

/// The ids of the gateways that propagate to a table.
fn propagating(env: &TestEnv, table: &str) -> Value {
    let found = env.proxy.boto("ec2", "describe_route_tables", json!({"RouteTableIds": [env.id(table)]}));
    let gateways = found["RouteTables"][0]["PropagatingVgws"].as_array().expect("a list").clone();
    gateways.iter().map(|it| it["GatewayId"].clone()).collect()
}

fn switch(env: &TestEnv, verb: &str, table: &str, gateway: &str) {
    let both = json!({"RouteTableId": env.id(table), "GatewayId": gateway});
    env.proxy.boto("ec2", &format!("{verb}_vgw_route_propagation"), both);
}

#[test]
fn gateways_propagate_to_their_tier_and_change_in_place() {
    let env = TestEnv::new();
    env.change(ONE_AZ);
    let (first, second) = (gateway(&env), gateway(&env));
    attach(&env, &first);
    attach(&env, &second);
    let tables = env.attribute("aws_objects");
    let all = env.change(&one_az(&format!(
        "  public_propagating_vgws = [\"{first}\"]\n  private_propagating_vgws = [\"{second}\", \"{first}\"]\n  \
         persistence_propagating_vgws = [\"{second}\"]\n  transit_propagating_vgws = [\"{first}\"]"
    )));
    assert_eq!(all.calls, "EnableVgwRoutePropagation 5");
    assert_eq!(propagating(&env, "route_table.public"), json!([first]));
    let mut both = [first.clone(), second.clone()];
    both.sort();
    assert_eq!(propagating(&env, "route_table.private_app.0"), json!(both));
    assert_eq!(propagating(&env, "route_table.private_persistence.0"), json!([second]));
    assert_eq!(propagating(&env, "route_table.transit.0"), json!([first]));

    let fewer = env.change(&one_az(&format!(
        "  public_propagating_vgws = [\"{second}\"]\n  private_propagating_vgws = [\"{first}\"]\n  \
         transit_propagating_vgws = [\"{first}\"]"
    )));
    assert_eq!(fewer.calls, "DisableVgwRoutePropagation 3, EnableVgwRoutePropagation 1");
    let order: Vec<String> = env
        .proxy
        .mutations()
        .into_iter()
        .filter(|it| it.call.param("RouteTableId") == env.id("route_table.public"))
        .map(|it| it.call.action)
        .collect();
    assert_eq!(order, ["EnableVgwRoutePropagation", "DisableVgwRoutePropagation"]);
    assert_eq!(propagating(&env, "route_table.private_app.0"), json!([first]));
    assert_eq!(propagating(&env, "route_table.private_persistence.0"), json!([]));
    assert_eq!(env.change(ONE_AZ).calls, "DisableVgwRoutePropagation 3");
    assert_eq!(env.attribute("aws_objects"), tables, "everything was changed in place");
    destroy_without(&env, &[&first, &second]);
}

#[test]
fn an_unmanaged_propagation_is_left_alone_and_drift_is_fixed() {
    let env = TestEnv::new();
    env.change(ONE_AZ);
    let (ours, unmanaged) = (gateway(&env), gateway(&env));
    attach(&env, &ours);
    attach(&env, &unmanaged);
    let config = one_az(&format!("  private_propagating_vgws = [\"{ours}\"]"));
    env.change(&config);
    let table = "route_table.private_app.0";
    switch(&env, "enable", table, &unmanaged);
    switch(&env, "enable", "route_table.public", &unmanaged);
    env.workspace.assert_nothing_to_do();
    assert_eq!(env.attribute("drift"), json!({}));

    switch(&env, "disable", table, &ours);
    let plan = env.workspace.plan_json(&[]);
    let found = drift(&plan);
    let reported = found[table].as_str().unwrap_or_default();
    let expected = format!("propagating_gateways: - {ours}");
    assert_eq!((reported, found.as_object().map(|it| it.len())), (expected.as_str(), Some(1)), "{found:#}");
    assert_eq!(plan["resource_drift"][0]["change"]["after"]["private_propagating_vgws"], json!([]));
    assert_eq!(env.apply().calls, "EnableVgwRoutePropagation 1");

    assert_eq!(env.change(ONE_AZ).calls, "DisableVgwRoutePropagation 1");
    assert_eq!(propagating(&env, table), json!([unmanaged]));
    destroy_without(&env, &[&ours, &unmanaged]);
}

#[test]
fn a_gateway_that_is_not_attached_is_left_to_the_next_apply() {
    let env = TestEnv::new();
    env.change(ONE_AZ);
    let (first, late) = (gateway(&env), gateway(&env));
    attach(&env, &first);
    let with_short_timeout = |gateways: &[&String]| {
        one_az(&format!("  route_table_update_timeout = \"1s\"\n  private_propagating_vgws = {}", json!(gateways)))
    };
    env.config(&with_short_timeout(&[&first, &late]));
    let waiting = env.workspace.apply(&[]);
    waiting.succeeded();
    let reason = format!("{late} is not attached to {}", env.id("vpc"));
    assert!(waiting.says("Route propagation is not enabled yet") && waiting.says(&reason), "{waiting}");
    let table = "route_table.private_app.0";
    assert!(env.attribute("drift")[table].as_str().is_some_and(|drift| drift.contains(&reason)));
    assert_eq!(propagating(&env, table), json!([first]), "the other gateway propagates");

    // The propagation that the apply enabled is managed: without it in the configuration, it is disabled.
    let removed = env.change(&with_short_timeout(&[]));
    assert!(removed.calls.contains("DisableVgwRoutePropagation"), "{removed:#?}");
    assert_eq!(propagating(&env, table), json!([]));
    attach(&env, &late);
    assert_eq!(env.change(&with_short_timeout(&[&late])).calls, "EnableVgwRoutePropagation 1");
    destroy_without(&env, &[&first, &late]);
}

/// The attachment needs the id of the VPC, which Terraform passes on only once the network is complete.
#[test]
fn a_gateway_is_attached_by_the_apply_that_creates_the_network() {
    let env = TestEnv::with_terraform();
    let late = gateway(&env);
    env.config(&one_az(&format!("  private_propagating_vgws = [\"{late}\"]")));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("private_propagating_vgws") && plan.says("apply again"), "{plan}");
    let created = env.workspace.apply_plan();
    created.succeeded();
    assert!(created.says("Route propagation is not enabled yet"), "{created}");
    assert_eq!(env.proxy.count("EnableVgwRoutePropagation"), 1, "a create does not wait");
    attach(&env, &late);
    // The second apply sends only what differs from what it reads: the tags of the table are set.
    assert_eq!(env.apply().calls, "EnableVgwRoutePropagation 1");
    assert_eq!(propagating(&env, "route_table.private_app.0"), json!([late]));
    destroy_without(&env, &[&late]);
}

#[test]
fn a_gateway_known_only_at_apply_propagates() {
    let env = TestEnv::with_terraform();
    env.change(ONE_AZ);
    let (first, second) = (gateway(&env), gateway(&env));
    attach(&env, &first);
    attach(&env, &second);
    let config = |id: &str| {
        let late = format!("resource \"terraform_data\" \"gateway\" {{\n  input = \"{id}\"\n}}\n");
        network(&one_az("  private_propagating_vgws = [terraform_data.gateway.output]")) + &late
    };
    env.workspace.config(&config(&first));
    assert_eq!(env.apply().calls, "EnableVgwRoutePropagation 1");
    env.workspace.config(&config(&second));
    assert_eq!(env.apply().calls, "DisableVgwRoutePropagation 1, EnableVgwRoutePropagation 1");
    assert_eq!(propagating(&env, "route_table.private_app.0"), json!([second]));
    destroy_without(&env, &[&first, &second]);
}
