//! Unmanaged subnets, routes and route tables that use objects of a network.

use serde_json::{Value, json};

use super::{TestEnv, text};

fn one_az(nats: u32, per_tier: bool) -> String {
    let layout = if per_tier { "  route_table_layout = { private_app = \"per_tier\" }\n" } else { "" };
    format!(
        "  num_availability_zones = 1\n  num_nat_gateways = {nats}\n  create_private_persistence_subnets = false\n{layout}"
    )
}

/// An unmanaged subnet in the network, and its association with this table.
fn subnet_with(env: &TestEnv, table: &str) -> (String, String) {
    let subnet = json!({"VpcId": env.id("vpc"), "CidrBlock": "10.0.200.0/24", "AvailabilityZone": "us-east-1b"});
    let subnet = text(&env.ec2("create_subnet", subnet)["Subnet"]["SubnetId"]);
    let associated = env.ec2("associate_route_table", json!({"RouteTableId": table, "SubnetId": subnet}));
    (subnet, text(&associated["AssociationId"]))
}

/// The targets of the routes of a table that AWS did not create.
fn targets(env: &TestEnv, table: &str) -> Vec<Value> {
    let found = env.ec2("describe_route_tables", json!({"RouteTableIds": [table]}));
    let routes = found["RouteTables"][0]["Routes"].as_array().expect("routes").iter();
    routes.map(|route| route["NatGatewayId"].clone()).filter(|target| !target.is_null()).collect()
}

#[test]
fn a_table_of_an_unmanaged_subnet_is_left_and_blocks_nothing() {
    let env = TestEnv::with_terraform();
    env.change(&one_az(1, false));
    let (table, nat) = (env.id("route_table.private_app.0"), env.id("nat_gateway.0"));
    let (subnet, association) = subnet_with(&env, &table);

    // The configuration needs another table. The plan names the one that stays, and the apply changes nothing in it.
    env.config(&one_az(1, true));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says(&format!("no longer managed: route_table.private_app.0 ({table})")), "{plan}");
    assert!(plan.says(&format!("not deleted, because unmanaged objects use it: subnet {subnet}")), "{plan}");
    env.change(&one_az(1, true));
    assert_eq!(targets(&env, &table), [json!(nat)]);
    let left = &env.attribute("unmanaged_objects")[&table];
    assert!(left.as_str().is_some_and(|it| it.starts_with("route_table.private_app.0 before")), "{left}");

    // A later plan names the route whose gateway it deletes, although the table is not managed any more.
    env.config(&one_az(0, true));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("affects unmanaged objects"), "{plan}");
    let line = format!("nat_gateway.0 ({nat}) is deleted, used by: route to 0.0.0.0/0 in {table}, subnet {subnet}");
    assert!(plan.says(&line), "{plan}");
    env.change(&one_az(0, true));

    // To the letter: delete the table with its user.
    env.ec2("disassociate_route_table", json!({"AssociationId": association}));
    env.ec2("delete_subnet", json!({"SubnetId": subnet}));
    env.ec2("delete_route_table", json!({"RouteTableId": table}));
    env.workspace.apply(&[]).succeeded();
    assert_eq!(env.attribute("unmanaged_objects"), json!({}));
    env.destroy();
}

#[test]
fn a_plan_names_unmanaged_users_of_gateways_and_endpoints() {
    let env = TestEnv::with_terraform();
    env.change(&one_az(1, false));
    let vpc = env.id("vpc");
    let theirs = text(&env.ec2("create_route_table", json!({"VpcId": vpc}))["RouteTable"]["RouteTableId"]);
    let route = json!({"RouteTableId": theirs, "DestinationCidrBlock": "0.0.0.0/0",
                       "NatGatewayId": env.id("nat_gateway.0")});
    env.ec2("create_route", route);
    let endpoint = env.id("vpc_endpoint.objectstore");
    env.ec2("modify_vpc_endpoint", json!({"VpcEndpointId": endpoint, "AddRouteTableIds": [theirs]}));
    env.workspace.assert_nothing_to_do();

    env.config(&format!("{}  create_vpc_endpoints = false\n", one_az(0, false)));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says(&format!("is deleted, used by: route to 0.0.0.0/0 in {theirs}")), "{plan}");
    assert!(plan.says(&format!("({endpoint}) is deleted, used by: route table {theirs}")), "{plan}");
    // A change that they do not notice names nothing.
    env.config(&format!("{}  custom_tags = {{ a = \"b\" }}\n", one_az(1, false)));
    let plan = env.workspace.plan(&[]);
    assert!(!plan.says("affects unmanaged objects"), "{plan}");
    env.ec2("delete_route_table", json!({"RouteTableId": theirs}));
    env.end();
}

/// The private data of the network in the state of Terraform.
fn private_data(env: &TestEnv) -> Value {
    let state = std::fs::read_to_string(env.workspace.path().join("terraform.tfstate")).expect("Terraform writes it");
    let state: Value = serde_json::from_str(&state).expect("the state is JSON");
    state["resources"][0]["instances"][0]["private"].clone()
}

#[test]
fn a_refresh_after_an_apply_stores_the_same_private_data() {
    let env = TestEnv::with_terraform();
    for nats in [1, 2] {
        env.config(&format!("  num_availability_zones = 2\n  num_nat_gateways = {nats}"));
        env.workspace.apply(&[]).succeeded();
        let before = private_data(&env);
        assert!(before.is_string(), "{before}");
        env.workspace.apply(&["-refresh-only"]).succeeded();
        assert_eq!(private_data(&env), before);
    }
    env.end();
}
