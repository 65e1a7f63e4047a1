//! Unmanaged objects that have what only one object can have: the plan names them, and each way out works as it is
//! printed.

use serde_json::{Value, json};

use super::{TestEnv, text};

const ALONE: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_vpc_endpoints = false";

fn created(env: &TestEnv, method: &str, arguments: Value, path: &str) -> String {
    text(env.ec2(method, arguments).pointer(path).expect("it is created"))
}

fn adopting(config: &str, entry: &str) -> String {
    format!("{config}\n  adopt = {{ {entry} }}")
}

/// A network in one AZ whose NAT gateway has this address.
fn with_address(id: &str) -> String {
    let nat = "num_nat_gateways = 1\n  use_custom_nat_eips = true\n  custom_nat_eips";
    ALONE.replace("num_nat_gateways = 0", &format!("{nat} = [\"{id}\"]"))
}

fn address(env: &TestEnv) -> String {
    created(env, "allocate_address", json!({ "Domain": "vpc" }), "/AllocationId")
}

/// Asserts that a plan names it and sends no call that changes something.
fn assert_named(env: &TestEnv, config: &str, texts: &[&str]) {
    env.config(config);
    env.proxy.clear_calls();
    let plan = env.workspace.plan(&[]);
    for text in texts {
        plan.failed_with(text);
    }
    assert_eq!(env.calls(), "");
}

#[test]
fn a_plan_names_what_has_the_private_names() {
    let env = TestEnv::new();
    env.change(ALONE);
    let vpc = env.id("vpc");
    let group = env.id("default_security_group");
    let theirs = json!({
        "VpcId": vpc, "VpcEndpointType": "Interface", "SubnetIds": [env.id("subnet.private_app.0")],
        "SecurityGroupIds": [group], "ServiceName": "com.amazonaws.us-east-1.kms", "PrivateDnsEnabled": true,
    });
    let theirs = created(&env, "create_vpc_endpoint", theirs, "/VpcEndpoint/VpcEndpointId");
    let config = format!("{ALONE}\n  interface_endpoints = {{ kms = {{ security_group_ids = [\"{group}\"] }} }}");
    let entry = format!("\"interface_endpoint.kms\" = \"{theirs}\"");
    let named = format!("{theirs} has the private DNS names of com.amazonaws.us-east-1.kms in this VPC");
    let texts = ["Invalid value for interface_endpoints[\"kms\"]", &named, &format!("set {entry} in adopt")];
    assert_named(&env, &config, &texts);
    // The entry of another object lifts nothing.
    let other = format!("\"subnet.public.0\" = \"{}\"", env.id("subnet.public.0"));
    assert_named(&env, &adopting(&config, &other), &texts);
    assert_eq!(env.change(&adopting(&config, &entry)).calls, "CreateTags 1");
    assert_eq!(env.id("interface_endpoint.kms"), theirs);
    env.destroy();
}

#[test]
fn a_plan_names_what_uses_an_address() {
    let env = TestEnv::new();
    let [used, free] = [(); 2].map(|()| address(&env));
    let vpc = created(&env, "create_vpc", json!({ "CidrBlock": "172.16.0.0/16" }), "/Vpc/VpcId");
    let subnet = json!({ "VpcId": vpc, "CidrBlock": "172.16.0.0/24" });
    let subnet = created(&env, "create_subnet", subnet, "/Subnet/SubnetId");
    let interface = json!({ "SubnetId": subnet });
    let interface = created(&env, "create_network_interface", interface, "/NetworkInterface/NetworkInterfaceId");
    let use_it = json!({ "AllocationId": used, "NetworkInterfaceId": interface });
    let association = created(&env, "associate_address", use_it, "/AssociationId");
    let named = format!("{used} is associated with {interface}");
    let command = format!("aws ec2 disassociate-address --association-id {association}");
    let texts = ["Invalid value for custom_nat_eips", &named, &command];
    assert_named(&env, &with_address(&used), &texts);
    env.change(&with_address(&free));
    assert_named(&env, &with_address(&used), &texts);
    env.ec2("disassociate_address", json!({ "AssociationId": association }));
    env.change(&with_address(&used));
    env.destroy();
}

#[test]
fn a_plan_names_the_nat_gateway_with_an_address() {
    let env = TestEnv::new();
    env.change(ALONE);
    let used = address(&env);
    let nat = json!({ "SubnetId": env.id("subnet.public.0"), "AllocationId": used });
    let nat = created(&env, "create_nat_gateway", nat, "/NatGateway/NatGatewayId");
    let entry = format!("\"nat_gateway.0\" = \"{nat}\"");
    let texts = [&*format!("{used} is the address of {nat}."), &format!("set {entry} in adopt")];
    assert_named(&env, &with_address(&used), &texts);
    assert_eq!(env.change(&adopting(&with_address(&used), &entry)).calls, "CreateRoute 1, CreateTags 1");
    assert_eq!(env.id("nat_gateway.0"), nat);
    env.destroy();
}

/// The old network has the address until the apply has deleted it.
#[test]
fn an_address_of_a_replaced_network_is_no_obstacle() {
    let env = TestEnv::new();
    let own = address(&env);
    env.change(&with_address(&own));
    let replaced = format!("{}\n  cidr_block = \"10.1.0.0/16\"", with_address(&own));
    env.change(&replaced);
    env.destroy();
}
