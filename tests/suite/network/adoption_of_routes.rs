//! Adoptions of networks whose subnets use the main route table of the VPC, or whose default routes have other targets
//! than this resource would choose.

use serde_json::json;

use super::{THIS, TestEnv, text};
use crate::support::adoption::{generate, without_adopt};
use crate::support::foreign::network::{ForeignNetwork, one_nat_gateway_per_az};

/// The default VPC of an account: one public subnet in each AZ, and only the main route table.
fn default_vpc(env: &TestEnv) -> (String, String) {
    let foreign = ForeignNetwork::new(&env.proxy, "");
    let gateway = foreign.internet_gateway();
    for (index, zone) in ["us-east-1a", "us-east-1b", "us-east-1c"].iter().enumerate() {
        let subnet = foreign.subnet("", &format!("10.0.{}.0/20", 16 * index), zone);
        env.ec2("modify_subnet_attribute", json!({ "SubnetId": subnet, "MapPublicIpOnLaunch": { "Value": true } }));
    }
    let table = foreign.main_table(("GatewayId", &gateway));
    (foreign.vpc, table)
}

/// A configuration with another value of an attribute that it contains.
fn with_value(configuration: &str, name: &str, value: &str) -> String {
    let is_attribute = |line: &&str| line.split_whitespace().next() == Some(name);
    let line = configuration.lines().find(is_attribute).expect("the configuration has the attribute");
    configuration.replace(line, &format!("  {name} = {value}"))
}

#[test]
fn a_default_vpc_is_adopted_with_its_main_route_table() {
    let env = TestEnv::with_terraform();
    let (vpc, table) = default_vpc(&env);
    let generated = generate(&env.workspace, THIS, &vpc, "");
    let is_entry = |line: &str| line.contains("\"route_table.public\"") && line.contains(&table);
    assert!(generated.lines().any(is_entry), "{generated}");
    env.proxy.clear_calls();
    env.workspace.apply(&[]).succeeded();
    // VPC, internet gateway, main route table, default group, default ACL, and three subnets, which are associated with
    // the table that serves them.
    assert_eq!(env.calls(), "AssociateRouteTable 3, CreateTags 8");
    assert_eq!(env.id("route_table.public"), table);
    env.workspace.assert_nothing_to_do();
    env.workspace.config("");
    env.workspace.write("generated.tf", &without_adopt(&generated));
    env.workspace.assert_nothing_to_do();

    // AWS deletes the main route table only with the VPC.
    env.proxy.clear_calls();
    env.destroy();
    assert!(!env.calls().contains("DeleteRouteTable"), "{}", env.calls());
    let left = env.proxy.account().list();
    assert_eq!(left["vpcs"].as_array().map(Vec::len), Some(0), "{left}");
}

#[test]
fn unmanaged_subnets_of_the_main_route_table_keep_its_routes() {
    let env = TestEnv::with_terraform();
    let foreign = ForeignNetwork::new(&env.proxy, "shop");
    let gateway = foreign.internet_gateway();
    let public = foreign.subnet("shop-public-a", "10.0.0.0/24", "us-east-1a");
    let (nat, _) = foreign.nat_gateway(&public);
    foreign.table("shop-public", Some(("GatewayId", &gateway)), &[&public]);
    foreign.subnet("shop-private-a", "10.0.1.0/24", "us-east-1a");
    let other = foreign.subnet("shop-private-a-batch", "10.0.2.0/24", "us-east-1a");
    let table = foreign.main_table(("NatGatewayId", &nat));
    let generated = generate(&env.workspace, THIS, &foreign.vpc, "");
    env.workspace.apply(&[]).succeeded();
    env.workspace.assert_nothing_to_do();
    assert_eq!(env.id("route_table.private_app"), table);
    env.workspace.run(&["apply", "-refresh-only", "-auto-approve", "-no-color", "-input=false"]).succeeded();
    let unmanaged = env.attribute("unmanaged_objects");
    assert!(unmanaged[&other].as_str().is_some_and(|reason| reason.contains(&table)), "{unmanaged}");

    // The route to the NAT gateway is also that of the other subnet.
    let adopted = without_adopt(&generated);
    env.workspace.config("");
    let without_nat = with_value(&adopted, "num_nat_gateways", "0");
    let without_nat = with_value(&with_value(&without_nat, "use_custom_nat_eips", "false"), "custom_nat_eips", "[]");
    env.workspace.write("generated.tf", &without_nat);
    let plan = env.workspace.plan(&[]);
    plan.failed_with("the main route table of the VPC");
    plan.failed_with(&other);

    // With a table of its own, the private tier leaves the main route table as it is.
    let route = |env: &TestEnv| {
        let described = env.ec2("describe_route_tables", json!({ "RouteTableIds": [table] }));
        described["RouteTables"][0]["Routes"].clone()
    };
    let before = route(&env);
    env.workspace.write("generated.tf", &adopted.replace("\"per_tier\"", "\"per_subnet\""));
    env.proxy.clear_calls();
    let applied = env.workspace.apply(&[]);
    applied.succeeded();
    assert!(applied.says(&format!("no longer managed: route_table.private_app ({table})")), "{applied}");
    // The ownership tags of the main table are removed.
    assert_eq!(env.calls(), "CreateRoute 1, CreateRouteTable 1, DeleteTags 1, ReplaceRouteTableAssociation 1");
    assert_eq!(route(&env), before);
    env.workspace.assert_nothing_to_do();
}

#[test]
fn a_difference_that_no_input_expresses_is_kept_with_ignore_drift() {
    let env = TestEnv::with_terraform();
    let (vpc, objects) = one_nat_gateway_per_az(&env.proxy);
    // Both tables use the NAT gateway of the first AZ.
    let (table, nat) = (&objects["route_table.private_app.1"], &objects["nat_gateway.0"]);
    env.ec2(
        "replace_route",
        json!({ "RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": nat }),
    );
    env.workspace.config("resource \"fgw_four_tier_vpc\" \"this\" {}\n");
    env.workspace.import(THIS, &vpc).succeeded();
    let generated = env.workspace.generated_text();
    env.workspace.config(&generated);
    let plan = env.workspace.plan(&[]);
    plan.failed_with("An adoption changes nothing but tags");
    plan.failed_with("route.private_app.1.ipv4");
    plan.failed_with("ignore_drift contains the key");
    let ignoring = generated.replacen("{", "{\n  ignore_drift = [\"route.private_app.1.ipv4\"]", 1);
    env.workspace.config(&ignoring);
    env.proxy.clear_calls();
    env.workspace.apply(&[]).succeeded();
    assert_eq!(env.calls(), format!("CreateTags {}", objects.len()));
    env.workspace.assert_nothing_to_do();
    env.workspace.config(&without_adopt(&ignoring));
    env.workspace.assert_nothing_to_do();
    env.destroy();
}

#[test]
fn a_default_route_to_something_unmanaged_stays() {
    let env = TestEnv::with_terraform();
    let foreign = ForeignNetwork::new(&env.proxy, "shop");
    let gateway = foreign.internet_gateway();
    let zones = ["us-east-1a", "us-east-1b"];
    let public = foreign.subnet("shop-public-a", "10.0.0.0/24", zones[0]);
    let (nat, _) = foreign.nat_gateway(&public);
    foreign.table("shop-public", Some(("GatewayId", &gateway)), &[&public]);
    let instance = env.ec2("create_network_interface", json!({ "SubnetId": public }));
    let instance = text(&instance["NetworkInterface"]["NetworkInterfaceId"]);
    for (index, (zone, target)) in
        zones.iter().zip([("NatGatewayId", &nat), ("NetworkInterfaceId", &instance)]).enumerate()
    {
        let subnet = foreign.subnet(&format!("shop-private-{index}"), &format!("10.0.{}.0/24", 10 + index), zone);
        foreign.table(&format!("shop-private-{index}"), Some((target.0, target.1)), &[&subnet]);
    }
    let generated = generate(&env.workspace, THIS, &foreign.vpc, "");
    env.proxy.clear_calls();
    let applied = env.workspace.apply(&[]);
    applied.succeeded();
    assert!(applied.says(&format!("keeps its route for 0.0.0.0/0 to {instance}")), "{applied}");
    assert_eq!(env.calls(), "CreateTags 11");
    env.workspace.assert_nothing_to_do();
    env.workspace.config("");
    env.workspace.write("generated.tf", &without_adopt(&generated));
    env.workspace.assert_nothing_to_do();

    // When the route is deleted, the table gets the one that the configuration requires.
    let table = env.id("route_table.private_app.1");
    env.ec2("delete_route", json!({ "RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0" }));
    env.proxy.clear_calls();
    env.workspace.apply(&[]).succeeded();
    assert_eq!(env.calls(), "CreateRoute 1");
    env.ec2("delete_network_interface", json!({ "NetworkInterfaceId": instance }));
    env.end();
}

#[test]
fn the_main_route_table_of_a_further_tier_is_adopted_later() {
    const LATER: &str = "  create_private_app_subnets = true\n  route_table_layout = { private_app = \"per_tier\" }\n  \
                         private_app_subnet_cidr_blocks = { \"AZ-0\" = \"10.0.200.0/24\", \"AZ-1\" = \"10.0.201.0/24\" }\n  \
                         name_tags = { \"subnet.private_app.0\" = \"legacy\", \"subnet.private_app.1\" = \"legacy\" }\n";
    let env = TestEnv::with_terraform();
    let common = "  num_availability_zones = 2\n  num_nat_gateways = 0\n  create_vpc_endpoints = false\n  cidr_block = \
                  \"10.0.0.0/16\"\n  create_private_persistence_subnets = false\n";
    env.change(&format!("{common}  create_private_app_subnets = false"));
    let foreign = ForeignNetwork::within(&env.proxy, &env.id("vpc"));
    let subnets = ["us-east-1a", "us-east-1b"].iter().enumerate().map(|(index, zone)| {
        let subnet = foreign.subnet("legacy", &format!("10.0.20{index}.0/24"), zone);
        format!("    \"subnet.private_app.{index}\" = \"{subnet}\"\n")
    });
    let (subnets, main) = (subnets.collect::<String>(), text(&env.attribute("default_route_table_id")));
    let adopt = |table: &str| format!("  adopt = {{\n{subnets}    \"{table}\" = \"{main}\"\n  }}\n");
    env.proxy.clear_calls();

    env.config(&format!("{common}{LATER}{}", adopt("route_table.private_app.0")));
    env.workspace.plan(&[]).failed_with("which can only be adopted for a whole tier");
    env.config(&format!("{common}{LATER}{}", adopt("route_table.private_app")));
    env.workspace.apply(&[]).succeeded();
    assert_eq!(env.calls(), "AssociateRouteTable 2, CreateTags 3");
    assert_eq!(env.id("route_table.private_app"), main);
    env.workspace.assert_nothing_to_do();
    env.config(&format!("{common}{LATER}"));
    env.workspace.assert_nothing_to_do();
    // The test environment refuses to delete a main route table, as AWS does.
    env.end();
}
