//! What others change behind our back is shown and mended; what is theirs is left alone.

use serde_json::{Value, json};

use super::{THIS, TestEnv, text};

const TWO_AZS: &str = "  num_availability_zones = 2\n  num_nat_gateways = 1";

/// The drift that a plan starts from.
pub(super) fn drift(plan: &Value) -> Value {
    let changes = plan["resource_changes"].as_array().expect("changes");
    let change = changes.iter().find(|change| change["address"] == THIS).expect("the network");
    change["change"]["before"]["drift"].clone()
}

#[test]
fn a_lost_route_a_changed_tag_and_a_changed_attribute_are_shown_and_mended() {
    let bed = TestEnv::new();
    bed.change(TWO_AZS);
    let good = bed.snapshot();
    bed.ec2(
        "delete_route",
        json!({"RouteTableId": bed.id("route_table.private_app.1"), "DestinationCidrBlock": "0.0.0.0/0"}),
    );
    let tags = json!([{"Key": "Name", "Value": "renamed"}]);
    bed.ec2("create_tags", json!({"Resources": [bed.id("subnet.private_app.0")], "Tags": tags}));
    bed.ec2(
        "modify_subnet_attribute",
        json!({"SubnetId": bed.id("subnet.public.1"), "MapPublicIpOnLaunch": {"Value": true}}),
    );
    bed.ec2("modify_vpc_attribute", json!({"VpcId": bed.id("vpc"), "EnableDnsHostnames": {"Value": false}}));
    let endpoint = json!({"VpcEndpointId": bed.id("vpc_endpoint.keyvalue"),
                          "RemoveRouteTableIds": [bed.id("route_table.public")]});
    bed.ec2("modify_vpc_endpoint", endpoint);

    let plan = bed.workspace.plan_json(&[]);
    let drift = drift(&plan);
    let keys: Vec<&String> = drift.as_object().expect("a map").keys().collect();
    assert_eq!(
        keys,
        ["route.private_app.1.ipv4", "subnet.private_app.0", "subnet.public.1", "vpc", "vpc_endpoint.keyvalue"],
        "{drift}"
    );
    assert!(text(&drift["route.private_app.1.ipv4"]).ends_with("is gone"), "{drift}");
    assert_eq!(drift["subnet.private_app.0"], "tag Name has another value");

    let mended = bed.apply();
    assert_eq!(
        mended.calls,
        "CreateRoute 1, CreateTags 1, ModifySubnetAttribute 1, ModifyVpcAttribute 1, ModifyVpcEndpoint 1"
    );
    assert_eq!(bed.snapshot().lines(), good.lines());
    bed.destroy();
}

#[test]
fn a_lost_subnet_a_lost_nat_gateway_and_a_lost_table_are_made_again() {
    let bed = TestEnv::new();
    bed.change(TWO_AZS);
    let good = bed.snapshot();
    let address = bed.attribute("nat_gateway_public_ips");
    // Through the proxy, which frees the address as AWS does.
    bed.proxy.boto("ec2", "delete_nat_gateway", json!({"NatGatewayId": bed.id("nat_gateway.0")}));
    bed.proxy.boto("ec2", "delete_subnet", json!({"SubnetId": bed.id("subnet.private_persistence.0")}));
    let group = json!({"GroupId": bed.id("default_security_group"),
                       "IpPermissions": [{"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22,
                                          "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]});
    bed.ec2("authorize_security_group_ingress", group);
    let drift = drift(&bed.workspace.plan_json(&[]));
    for key in ["nat_gateway.0", "subnet.private_persistence.0", "default_security_group"] {
        assert!(drift[key].is_string(), "no {key} in {drift}");
    }
    let mended = bed.apply();
    assert!(mended.calls.contains("RevokeSecurityGroupIngress 1"), "{mended:#?}");
    assert!(mended.calls.contains("CreateNatGateway 1") && !mended.calls.contains("AllocateAddress"), "{mended:#?}");
    assert_eq!(bed.snapshot().lines(), good.lines());
    assert_eq!(bed.attribute("nat_gateway_public_ips"), address, "the address outlives its NAT gateway");
    bed.destroy();
}

#[test]
fn foreign_routes_subnets_and_tags_are_neither_shown_nor_touched() {
    let bed = TestEnv::new();
    bed.change(TWO_AZS);
    let table = bed.id("route_table.private_app.0");
    let gateway = bed.id("internet_gateway");
    bed.ec2(
        "create_route",
        json!({"RouteTableId": table, "DestinationCidrBlock": "192.168.0.0/16", "GatewayId": gateway}),
    );
    let made = bed.ec2(
        "create_subnet",
        json!({"VpcId": bed.id("vpc"), "CidrBlock": "10.0.250.0/24", "AvailabilityZone": "us-east-1c"}),
    );
    let foreign = made["Subnet"]["SubnetId"].clone();
    let tags = json!([{"Key": "karpenter.sh/discovery", "Value": "blue"}]);
    bed.ec2("create_tags", json!({"Resources": [bed.id("subnet.private_app.0"), foreign], "Tags": tags}));
    bed.workspace.assert_nothing_to_do();

    let changed = bed.change(&format!("{TWO_AZS}\n  custom_tags = {{ a = \"b\" }}"));
    assert_eq!(changed.calls, "CreateTags 18");
    let snapshot = bed.snapshot();
    let has = |text: &str| snapshot.lines().iter().any(|line| line.contains(text));
    assert!(has("192.168.0.0/16>main") && has("10.0.250.0/24 public_ip=false {karpenter.sh/discovery=blue}"));
    assert!(has(
        "subnet main-private-app-0 us-east-1a use1-az6 10.0.80.0/21 public_ip=false {a=b, karpenter.sh/discovery=blue}"
    ));

    // The VPC cannot go before the foreign subnet; its owner deletes it.
    bed.ec2("delete_subnet", json!({"SubnetId": foreign}));
    bed.destroy();
}

#[test]
fn a_network_that_is_gone_is_planned_anew() {
    let bed = TestEnv::new();
    let alone = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_public_subnets = false\n  \
                 create_private_app_subnets = false\n  create_private_persistence_subnets = false\n  \
                 create_vpc_endpoints = false";
    bed.change(alone);
    bed.ec2("delete_vpc", json!({"VpcId": bed.id("vpc")}));
    let plan = bed.workspace.plan_json(&[]);
    assert_eq!(plan["resource_changes"][0]["change"]["actions"], json!(["create"]));
    bed.apply();
    bed.destroy();
}
