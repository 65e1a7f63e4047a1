//! Drift: changes made outside Terraform are shown and fixed, and unmanaged objects are left alone.

use serde_json::{Value, json};

use super::{THIS, TestEnv, text};

const TWO_AZS: &str = "  num_availability_zones = 2\n  num_nat_gateways = 1";

/// The attribute `drift` in the prior state of a plan.
pub(super) fn drift(plan: &Value) -> Value {
    let changes = plan["resource_changes"].as_array().expect("changes");
    let change = changes.iter().find(|change| change["address"] == THIS).expect("the network");
    change["change"]["before"]["drift"].clone()
}

#[test]
fn deleted_routes_and_changed_tags_are_shown_and_fixed() {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    let good = env.snapshot();
    env.ec2(
        "delete_route",
        json!({"RouteTableId": env.id("route_table.private_app.1"), "DestinationCidrBlock": "0.0.0.0/0"}),
    );
    let tags = json!([{"Key": "Name", "Value": "renamed"}]);
    env.ec2("create_tags", json!({"Resources": [env.id("subnet.private_app.0")], "Tags": tags}));
    env.ec2(
        "modify_subnet_attribute",
        json!({"SubnetId": env.id("subnet.public.1"), "MapPublicIpOnLaunch": {"Value": true}}),
    );
    env.ec2("modify_vpc_attribute", json!({"VpcId": env.id("vpc"), "EnableDnsHostnames": {"Value": false}}));
    let endpoint = json!({"VpcEndpointId": env.id("vpc_endpoint.keyvalue"),
                          "RemoveRouteTableIds": [env.id("route_table.public")]});
    env.ec2("modify_vpc_endpoint", endpoint);

    let plan = env.workspace.plan_json(&[]);
    let drift = drift(&plan);
    let keys: Vec<&String> = drift.as_object().expect("a map").keys().collect();
    assert_eq!(
        keys,
        ["route.private_app.1.ipv4", "subnet.private_app.0", "subnet.public.1", "vpc", "vpc_endpoint.keyvalue"],
        "{drift}"
    );
    assert!(text(&drift["route.private_app.1.ipv4"]).ends_with("is missing"), "{drift}");
    assert_eq!(drift["subnet.private_app.0"], "tag Name has another value");

    let fixed = env.apply();
    assert_eq!(
        fixed.calls,
        "CreateRoute 1, CreateTags 1, ModifySubnetAttribute 1, ModifyVpcAttribute 1, ModifyVpcEndpoint 1"
    );
    assert_eq!(env.snapshot().lines(), good.lines());
    env.destroy();
}

#[test]
fn a_deleted_subnet_and_nat_gateway_are_created_again() {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    let good = env.snapshot();
    let address = env.attribute("nat_gateway_public_ips");
    // Through the proxy, which disassociates the address as AWS does.
    env.proxy.boto("ec2", "delete_nat_gateway", json!({"NatGatewayId": env.id("nat_gateway.0")}));
    env.proxy.boto("ec2", "delete_subnet", json!({"SubnetId": env.id("subnet.private_persistence.0")}));
    let group = json!({"GroupId": env.id("default_security_group"),
                       "IpPermissions": [{"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22,
                                          "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]});
    env.ec2("authorize_security_group_ingress", group);
    let drift = drift(&env.workspace.plan_json(&[]));
    for key in ["nat_gateway.0", "subnet.private_persistence.0", "default_security_group"] {
        assert!(drift[key].is_string(), "no {key} in {drift}");
    }
    let fixed = env.apply();
    assert!(fixed.calls.contains("RevokeSecurityGroupIngress 1"), "{fixed:#?}");
    assert!(fixed.calls.contains("CreateNatGateway 1") && !fixed.calls.contains("AllocateAddress"), "{fixed:#?}");
    assert_eq!(env.snapshot().lines(), good.lines());
    assert_eq!(env.attribute("nat_gateway_public_ips"), address, "the address outlives its NAT gateway");
    env.end();
}

#[test]
fn unmanaged_routes_subnets_and_tags_are_left_alone() {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    let table = env.id("route_table.private_app.0");
    let gateway = env.id("internet_gateway");
    env.ec2(
        "create_route",
        json!({"RouteTableId": table, "DestinationCidrBlock": "192.168.0.0/16", "GatewayId": gateway}),
    );
    let created = env.ec2(
        "create_subnet",
        json!({"VpcId": env.id("vpc"), "CidrBlock": "10.0.250.0/24", "AvailabilityZone": "us-east-1c"}),
    );
    let unmanaged = created["Subnet"]["SubnetId"].clone();
    let tags = json!([{"Key": "karpenter.sh/discovery", "Value": "blue"}]);
    env.ec2("create_tags", json!({"Resources": [env.id("subnet.private_app.0"), unmanaged], "Tags": tags}));
    env.workspace.assert_nothing_to_do();

    let changed = env.change(&format!("{TWO_AZS}\n  custom_tags = {{ a = \"b\" }}"));
    assert_eq!(changed.calls, "CreateTags 18");
    let snapshot = env.snapshot();
    let has = |text: &str| snapshot.lines().iter().any(|line| line.contains(text));
    assert!(has("192.168.0.0/16>main") && has("10.0.250.0/24 public_ip=false {karpenter.sh/discovery=blue}"));
    assert!(has(
        "subnet main-private-app-0 us-east-1a use1-az6 10.0.80.0/21 public_ip=false {a=b, karpenter.sh/discovery=blue}"
    ));

    // The unmanaged subnet blocks the deletion of the VPC.
    env.ec2("delete_subnet", json!({"SubnetId": unmanaged}));
    env.end();
}

#[test]
fn a_deleted_network_is_created_again() {
    let env = TestEnv::new();
    let alone = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_public_subnets = false\n  \
                 create_private_app_subnets = false\n  create_private_persistence_subnets = false\n  \
                 create_vpc_endpoints = false";
    env.change(alone);
    env.ec2("delete_vpc", json!({"VpcId": env.id("vpc")}));
    let plan = env.workspace.plan_json(&[]);
    assert_eq!(plan["resource_changes"][0]["change"]["actions"], json!(["create"]));
    env.apply();
    env.end();
}
