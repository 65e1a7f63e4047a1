//! Drift of every kind of object: the refresh reports it by key, the plan shows it, an apply fixes exactly that, and
//! the next plan is empty.

use serde_json::{Value, json};

use super::drift::drift;
use super::snapshot::Snapshot;
use super::{TestEnv, text};

/// Expected drift: the key of an object, and a part of the text that is reported for it.
pub(super) type Found<'a> = (&'a str, &'a str);

const TWO_AZS: &str = "  num_availability_zones = 2\n  num_nat_gateways = 2\n  create_transit_subnets = true\n  \
                       custom_tags = { team = \"net\" }\n  objectstore_endpoint_policy = \
                       \"{\\\"Statement\\\":[{\\\"Effect\\\":\\\"Allow\\\",\\\"Principal\\\":\\\"*\\\",\\\"Action\\\":\
                       \\\"s3:GetObject\\\",\\\"Resource\\\":\\\"*\\\"}]}\"";

/// Asserts that a plan reports exactly this drift, and that an apply fixes it with these calls.
pub(super) fn fixes(env: &TestEnv, good: &Snapshot, found: &[Found<'_>], calls: &str) {
    let plan = env.workspace.plan_json(&[]);
    let drift = drift(&plan);
    let shown: Vec<(String, String)> =
        drift.as_object().expect("a map").iter().map(|(key, reason)| (key.clone(), text(reason))).collect();
    env.subject().assert_reported(&plan, &shown, found);
    assert_eq!(plan["resource_drift"][0]["change"]["after"]["drift"], drift);

    let fixed = env.apply();
    assert_eq!(fixed.calls, calls);
    assert_eq!(env.snapshot().lines(), good.lines(), "everything is as it was");
}

fn set_tag(env: &TestEnv, slot: &str, key: &str, value: &str) {
    let tags = json!([{"Key": key, "Value": value}]);
    env.ec2("create_tags", json!({"Resources": [env.id(slot)], "Tags": tags}));
}

fn remove_tag(env: &TestEnv, slot: &str, key: &str) {
    env.ec2("delete_tags", json!({"Resources": [env.id(slot)], "Tags": [{"Key": key}]}));
}

/// The id of the association of a subnet with its table, such as `private_app.1`.
fn association(env: &TestEnv, place: &str) -> Value {
    env.id(&format!("route_table_association.{place}")).into()
}

#[test]
fn changed_and_removed_tags_of_every_kind_are_restored() {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    let good = env.snapshot();
    for slot in ["vpc", "subnet.transit.0", "nat_gateway.1", "default_security_group"] {
        set_tag(&env, slot, "Name", "renamed");
        remove_tag(&env, slot, "team");
    }
    for slot in ["internet_gateway", "route_table.private_persistence.1", "eip.0", "vpc_endpoint.keyvalue"] {
        set_tag(&env, slot, "team", "other");
        set_tag(&env, slot, "foreign", "stays");
    }
    // The ownership tag is set again as well: without it, the object is still found by its id.
    remove_tag(&env, "subnet.public.0", "fgw:object");
    let both = "tag Name has another value; tag team is missing";
    let found = [
        ("vpc", both),
        ("subnet.transit.0", both),
        ("nat_gateway.1", both),
        ("default_security_group", both),
        ("internet_gateway", "tag team has another value"),
        ("route_table.private_persistence.1", "tag team has another value"),
        ("eip.0", "tag team has another value"),
        ("vpc_endpoint.keyvalue", "tag team has another value"),
    ];
    // Unmanaged tags would stay, so they are removed before the final comparison.
    let unmanaged = ["internet_gateway", "route_table.private_persistence.1", "eip.0", "vpc_endpoint.keyvalue"];
    let plan = env.workspace.plan_json(&["-refresh-only"]);
    let shown = plan["resource_drift"][0]["change"]["after"]["drift"].to_string();
    assert!(!shown.contains("foreign") && !shown.contains("stays"), "{shown}");
    for slot in unmanaged {
        remove_tag(&env, slot, "foreign");
    }
    fixes(&env, &good, &found, "CreateTags 8");
    env.destroy();
}

#[test]
fn changed_attributes_rules_and_targets_are_restored() {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    let good = env.snapshot();
    let vpc = env.id("vpc");
    for attribute in ["EnableNetworkAddressUsageMetrics", "EnableDnsSupport"] {
        let value = json!({"Value": attribute != "EnableDnsSupport"});
        env.ec2("modify_vpc_attribute", json!({"VpcId": vpc, attribute: value}));
    }
    let public_ip = json!({"SubnetId": env.id("subnet.private_app.0"), "MapPublicIpOnLaunch": {"Value": true}});
    env.ec2("modify_subnet_attribute", public_ip);
    // A policy for the endpoint that has none, and full access for the one that has a policy.
    for (service, action) in [("keyvalue", "dynamodb:GetItem"), ("objectstore", "*")] {
        let statement = json!({"Effect": "Allow", "Principal": "*", "Action": action, "Resource": "*"});
        let policy = json!({"Version": "2012-10-17", "Statement": [statement]}).to_string();
        let id = env.id(&format!("vpc_endpoint.{service}"));
        env.ec2("modify_vpc_endpoint", json!({"VpcEndpointId": id, "PolicyDocument": policy}));
    }
    let off = [env.id("route_table.private_app.1"), env.id("route_table.transit.0")];
    let objectstore = env.id("vpc_endpoint.objectstore");
    env.ec2("modify_vpc_endpoint", json!({"VpcEndpointId": objectstore, "RemoveRouteTableIds": off}));
    let elsewhere = |table: &str, target: &str| {
        let target = match target.strip_prefix("nat") {
            Some(_) => ("NatGatewayId", env.id(target)),
            None => ("GatewayId", env.id(target)),
        };
        let destination = "0.0.0.0/0";
        env.ec2(
            "replace_route",
            json!({"RouteTableId": env.id(table), "DestinationCidrBlock": destination, target.0: target.1}),
        );
    };
    elsewhere("route_table.private_app.0", "nat_gateway.1");
    elsewhere("route_table.private_app.1", "internet_gateway");
    let moved = json!({"AssociationId": association(&env, "private_persistence.0"),
                       "RouteTableId": env.id("route_table.transit.1")});
    env.ec2("replace_route_table_association", moved);
    let group = env.id("default_security_group");
    let https = json!([{"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443,
                        "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]);
    env.ec2("authorize_security_group_ingress", json!({"GroupId": group, "IpPermissions": https}));
    let everything = json!([{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]);
    env.ec2("revoke_security_group_egress", json!({"GroupId": group, "IpPermissions": everything}));

    let found = [
        ("vpc", "enable_network_address_usage_metrics is true instead of false"),
        ("vpc", "enable_dns_support is false instead of true"),
        ("subnet.private_app.0", "map_public_ip_on_launch is true instead of false"),
        ("vpc_endpoint.keyvalue", "policy is "),
        ("vpc_endpoint.objectstore", "policy is "),
        ("vpc_endpoint.objectstore", "route_tables: "),
        ("route.private_app.0.ipv4", "target is nat_gateway.1 instead of nat_gateway.0"),
        ("route.private_app.1.ipv4", "target is internet_gateway instead of nat_gateway.1"),
        (
            "route_table_association.private_persistence.0",
            "route_table is route_table.transit.1 instead of route_table.private_persistence.0",
        ),
        ("default_security_group", "ingress: "),
        ("default_security_group", "egress: "),
    ];
    fixes(
        &env,
        &good,
        &found,
        "AuthorizeSecurityGroupEgress 1, ModifySubnetAttribute 1, ModifyVpcAttribute 2, ModifyVpcEndpoint 2, \
         ReplaceRoute 2, ReplaceRouteTableAssociation 1, RevokeSecurityGroupIngress 1",
    );
    env.end();
}

#[test]
fn deleted_objects_are_created_again_and_nothing_else() {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    let good = env.snapshot();
    let before = env.attribute("aws_objects");
    // Through the proxy, which deletes the associations of a subnet and the routes of an endpoint with it, as AWS does.
    env.proxy.boto("ec2", "delete_subnet", json!({"SubnetId": env.id("subnet.private_app.0")}));
    env.proxy.boto("ec2", "delete_vpc_endpoints", json!({"VpcEndpointIds": [env.id("vpc_endpoint.keyvalue")]}));
    env.ec2("disassociate_route_table", json!({"AssociationId": association(&env, "private_persistence.0")}));
    env.ec2("delete_route", json!({"RouteTableId": env.id("route_table.public"), "DestinationCidrBlock": "0.0.0.0/0"}));
    // AWS rejects the deletion of a table that has an association, and removes a deleted table from its endpoints.
    let table = env.id("route_table.private_app.1");
    env.ec2("disassociate_route_table", json!({"AssociationId": association(&env, "private_app.1")}));
    let objectstore = env.id("vpc_endpoint.objectstore");
    env.ec2("modify_vpc_endpoint", json!({"VpcEndpointId": objectstore, "RemoveRouteTableIds": [table]}));
    env.ec2("delete_route_table", json!({"RouteTableId": table}));

    let found = [
        ("subnet.private_app.0", "is missing"),
        ("route_table_association.private_app.0", "is missing"),
        ("vpc_endpoint.keyvalue", "is missing"),
        ("route_table_association.private_persistence.0", "is missing"),
        ("route.public.ipv4", "is missing"),
        ("route_table.private_app.1", "is missing"),
        ("route_table_association.private_app.1", "is missing"),
        ("route.private_app.1.ipv4", "is missing"),
        ("vpc_endpoint.objectstore", "route_tables: "),
    ];
    fixes(
        &env,
        &good,
        &found,
        "AssociateRouteTable 3, CreateRoute 2, CreateRouteTable 1, CreateSubnet 1, CreateVpcEndpoint 1, \
         ModifyVpcEndpoint 1",
    );
    let after = env.attribute("aws_objects");
    let replaced = before.as_object().expect("a map").iter().filter(|(key, id)| after[*key] != **id);
    let replaced: Vec<&str> = replaced.map(|(key, _)| key.as_str()).collect();
    assert_eq!(
        replaced,
        [
            "route.private_app.1.ipv4",
            "route_table.private_app.1",
            "route_table_association.private_app.0",
            "route_table_association.private_app.1",
            "route_table_association.private_persistence.0",
            "subnet.private_app.0",
            "vpc_endpoint.keyvalue",
        ]
    );
    env.end();
}

#[test]
fn deleted_gateways_are_created_again_and_routes_repaired() {
    let env = TestEnv::new();
    let nat = "  num_availability_zones = 2\n  num_nat_gateways = 1\n  create_vpc_endpoints = false\n  \
               allow_private_persistence_internet_access = true";
    env.change(nat);
    let good = env.snapshot();
    let delete_nat = || env.proxy.boto("ec2", "delete_nat_gateway", json!({"NatGatewayId": env.id("nat_gateway.0")}));

    // Delete the NAT gateway and its address.
    delete_nat();
    env.ec2("release_address", json!({"AllocationId": env.id("eip.0")}));
    let blackhole = format!("target is blackhole {} instead of nat_gateway.0", env.id("nat_gateway.0"));
    let found = [
        ("nat_gateway.0", "is missing"),
        ("eip.0", "is missing"),
        ("route.private_app.0.ipv4", blackhole.as_str()),
        ("route.private_app.1.ipv4", &blackhole),
        ("route.private_persistence.0.ipv4", &blackhole),
        ("route.private_persistence.1.ipv4", &blackhole),
    ];
    fixes(&env, &good, &found, "AllocateAddress 1, CreateNatGateway 1, ReplaceRoute 4");

    // AWS allows the internet gateway to be detached and deleted only if the VPC has no public addresses.
    let without = "  num_availability_zones = 2\n  num_nat_gateways = 0\n  create_vpc_endpoints = false";
    env.change(without);
    let good = env.snapshot();
    let gateway = env.id("internet_gateway");
    let detach = || {
        let both = json!({"InternetGatewayId": env.id("internet_gateway"), "VpcId": env.id("vpc")});
        env.proxy.boto("ec2", "detach_internet_gateway", both)
    };
    let blackhole = |env: &TestEnv| format!("target is blackhole {} instead of", env.id("internet_gateway"));
    detach();
    let found = [("internet_gateway", "vpc is absent instead of vpc"), ("route.public.ipv4", &blackhole(&env))];
    fixes(&env, &good, &found, "AttachInternetGateway 1, ReplaceRoute 1");
    assert_eq!(env.id("internet_gateway"), gateway);

    let lost = blackhole(&env);
    detach();
    env.ec2("delete_internet_gateway", json!({"InternetGatewayId": gateway}));
    let found = [("internet_gateway", "is missing"), ("route.public.ipv4", lost.as_str())];
    fixes(&env, &good, &found, "AttachInternetGateway 1, CreateInternetGateway 1, ReplaceRoute 1");
    assert_ne!(env.id("internet_gateway"), gateway);
    env.end();
}
