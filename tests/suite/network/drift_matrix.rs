//! Every kind of object, damaged behind our back: the refresh says so by key, the plan shows it, an apply mends exactly
//! that, and then all is quiet.

use serde_json::{Value, json};

use super::drift::drift;
use super::snapshot::Picture;
use super::{THIS, TestEnv};

/// What a refresh finds: a key, and what must be said of it.
pub(super) type Found<'a> = (&'a str, &'a str);

const TWO_AZS: &str = "  num_availability_zones = 2\n  num_nat_gateways = 2\n  create_transit_subnets = true\n  \
                       custom_tags = { team = \"net\" }\n  objectstore_endpoint_policy = \
                       \"{\\\"Statement\\\":[{\\\"Effect\\\":\\\"Allow\\\",\\\"Principal\\\":\\\"*\\\",\\\"Action\\\":\
                       \\\"s3:GetObject\\\",\\\"Resource\\\":\\\"*\\\"}]}\"";

/// Asserts that exactly this is found and planned to be changed, and that an apply mends it with these calls.
pub(super) fn mends(bed: &TestEnv, good: &Picture, found: &[Found<'_>], calls: &str) {
    let plan = bed.workspace.plan_json(&[]);
    let drift = drift(&plan);
    let keys: Vec<&str> = drift.as_object().expect("a map").keys().map(String::as_str).collect();
    let mut expected: Vec<&str> = found.iter().map(|(key, _)| *key).collect();
    expected.sort_unstable();
    expected.dedup();
    assert_eq!(keys, expected, "{drift:#}");
    for (key, phrase) in found {
        assert!(drift[*key].as_str().is_some_and(|said| said.contains(phrase)), "no {phrase:?} in {key} of {drift:#}");
    }
    let reported = &plan["resource_drift"][0];
    assert_eq!((&reported["address"], &reported["change"]["after"]["drift"]), (&json!(THIS), &drift));
    let change = &plan["resource_changes"][0]["change"];
    assert_eq!(change["actions"], json!(["update"]));
    assert!(change["after"]["drift"] == json!({}) || change["after_unknown"]["drift"] == true, "{change:#}");

    let mended = bed.apply();
    assert_eq!(mended.calls, calls);
    assert_eq!(bed.snapshot().lines(), good.lines(), "everything is as it was");
}

fn set_tag(bed: &TestEnv, slot: &str, key: &str, value: &str) {
    let tags = json!([{"Key": key, "Value": value}]);
    bed.ec2("create_tags", json!({"Resources": [bed.id(slot)], "Tags": tags}));
}

fn remove_tag(bed: &TestEnv, slot: &str, key: &str) {
    bed.ec2("delete_tags", json!({"Resources": [bed.id(slot)], "Tags": [{"Key": key}]}));
}

/// The association of one of our subnets with its table.
fn association(bed: &TestEnv, place: &str) -> Value {
    bed.id(&format!("route_table_association.{place}")).into()
}

#[test]
fn tags_of_every_kind_that_are_changed_or_taken_away_come_back() {
    let bed = TestEnv::new();
    bed.change(TWO_AZS);
    let good = bed.snapshot();
    for slot in ["vpc", "subnet.transit.0", "nat_gateway.1", "default_security_group"] {
        set_tag(&bed, slot, "Name", "renamed");
        remove_tag(&bed, slot, "team");
    }
    for slot in ["internet_gateway", "route_table.private_persistence.1", "eip.0", "vpc_endpoint.keyvalue"] {
        set_tag(&bed, slot, "team", "other");
        set_tag(&bed, slot, "foreign", "stays");
    }
    // The owner's mark is ours as well: without it the object is still known by its id.
    remove_tag(&bed, "subnet.public.0", "fgw:object");
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
    // Foreign tags stay where they are, so they are taken off before the look at the end.
    let foreign = ["internet_gateway", "route_table.private_persistence.1", "eip.0", "vpc_endpoint.keyvalue"];
    let plan = bed.workspace.plan_json(&["-refresh-only"]);
    let shown = plan["resource_drift"][0]["change"]["after"]["drift"].to_string();
    assert!(!shown.contains("foreign") && !shown.contains("stays"), "{shown}");
    for slot in foreign {
        remove_tag(&bed, slot, "foreign");
    }
    mends(&bed, &good, &found, "CreateTags 8");
    bed.destroy();
}

#[test]
fn attributes_rules_targets_and_associations_that_are_changed_are_set_again() {
    let bed = TestEnv::new();
    bed.change(TWO_AZS);
    let good = bed.snapshot();
    let vpc = bed.id("vpc");
    for attribute in ["EnableNetworkAddressUsageMetrics", "EnableDnsSupport"] {
        let value = json!({"Value": attribute != "EnableDnsSupport"});
        bed.ec2("modify_vpc_attribute", json!({"VpcId": vpc, attribute: value}));
    }
    let public_ip = json!({"SubnetId": bed.id("subnet.private_app.0"), "MapPublicIpOnLaunch": {"Value": true}});
    bed.ec2("modify_subnet_attribute", public_ip);
    // One policy where there is none, and full access where there is one.
    for (service, action) in [("keyvalue", "dynamodb:GetItem"), ("objectstore", "*")] {
        let statement = json!({"Effect": "Allow", "Principal": "*", "Action": action, "Resource": "*"});
        let policy = json!({"Version": "2012-10-17", "Statement": [statement]}).to_string();
        let id = bed.id(&format!("vpc_endpoint.{service}"));
        bed.ec2("modify_vpc_endpoint", json!({"VpcEndpointId": id, "PolicyDocument": policy}));
    }
    let off = [bed.id("route_table.private_app.1"), bed.id("route_table.transit.0")];
    let objectstore = bed.id("vpc_endpoint.objectstore");
    bed.ec2("modify_vpc_endpoint", json!({"VpcEndpointId": objectstore, "RemoveRouteTableIds": off}));
    let elsewhere = |table: &str, target: &str| {
        let target = match target.strip_prefix("nat") {
            Some(_) => ("NatGatewayId", bed.id(target)),
            None => ("GatewayId", bed.id(target)),
        };
        let destination = "0.0.0.0/0";
        bed.ec2(
            "replace_route",
            json!({"RouteTableId": bed.id(table), "DestinationCidrBlock": destination, target.0: target.1}),
        );
    };
    elsewhere("route_table.private_app.0", "nat_gateway.1");
    elsewhere("route_table.private_app.1", "internet_gateway");
    let moved = json!({"AssociationId": association(&bed, "private_persistence.0"),
                       "RouteTableId": bed.id("route_table.transit.1")});
    bed.ec2("replace_route_table_association", moved);
    let group = bed.id("default_security_group");
    let https = json!([{"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443,
                        "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]);
    bed.ec2("authorize_security_group_ingress", json!({"GroupId": group, "IpPermissions": https}));
    let everything = json!([{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]);
    bed.ec2("revoke_security_group_egress", json!({"GroupId": group, "IpPermissions": everything}));

    let found = [
        ("vpc", "enable_network_address_usage_metrics is true instead of false"),
        ("vpc", "enable_dns_support is false instead of true"),
        ("subnet.private_app.0", "map_public_ip_on_launch is true instead of false"),
        ("vpc_endpoint.keyvalue", "policy is "),
        ("vpc_endpoint.objectstore", "policy is "),
        ("vpc_endpoint.objectstore", "route_tables is "),
        ("route.private_app.0.ipv4", "target is nat_gateway.1 instead of nat_gateway.0"),
        ("route.private_app.1.ipv4", "target is internet_gateway instead of nat_gateway.1"),
        (
            "route_table_association.private_persistence.0",
            "route_table is route_table.transit.1 instead of route_table.private_persistence.0",
        ),
        ("default_security_group", "ingress is "),
        ("default_security_group", "egress is "),
    ];
    mends(
        &bed,
        &good,
        &found,
        "AuthorizeSecurityGroupEgress 1, ModifySubnetAttribute 1, ModifyVpcAttribute 2, ModifyVpcEndpoint 2, \
         ReplaceRoute 2, ReplaceRouteTableAssociation 1, RevokeSecurityGroupIngress 1",
    );
    bed.destroy();
}

#[test]
fn subnets_tables_associations_routes_and_endpoints_that_are_gone_are_made_again_and_nothing_else() {
    let bed = TestEnv::new();
    bed.change(TWO_AZS);
    let good = bed.snapshot();
    let before = bed.attribute("aws_objects");
    // Through the proxy, which takes the associations of a subnet and the routes of an endpoint along, as AWS does.
    bed.proxy.boto("ec2", "delete_subnet", json!({"SubnetId": bed.id("subnet.private_app.0")}));
    bed.proxy.boto("ec2", "delete_vpc_endpoints", json!({"VpcEndpointIds": [bed.id("vpc_endpoint.keyvalue")]}));
    bed.ec2("disassociate_route_table", json!({"AssociationId": association(&bed, "private_persistence.0")}));
    bed.ec2("delete_route", json!({"RouteTableId": bed.id("route_table.public"), "DestinationCidrBlock": "0.0.0.0/0"}));
    // A table cannot go before its association, and takes itself off the endpoints.
    let table = bed.id("route_table.private_app.1");
    bed.ec2("disassociate_route_table", json!({"AssociationId": association(&bed, "private_app.1")}));
    let objectstore = bed.id("vpc_endpoint.objectstore");
    bed.ec2("modify_vpc_endpoint", json!({"VpcEndpointId": objectstore, "RemoveRouteTableIds": [table]}));
    bed.ec2("delete_route_table", json!({"RouteTableId": table}));

    let found = [
        ("subnet.private_app.0", "is gone"),
        ("route_table_association.private_app.0", "is gone"),
        ("vpc_endpoint.keyvalue", "is gone"),
        ("route_table_association.private_persistence.0", "is gone"),
        ("route.public.ipv4", "is gone"),
        ("route_table.private_app.1", "is gone"),
        ("route_table_association.private_app.1", "is gone"),
        ("route.private_app.1.ipv4", "is gone"),
        ("vpc_endpoint.objectstore", "route_tables is "),
    ];
    mends(
        &bed,
        &good,
        &found,
        "AssociateRouteTable 3, CreateRoute 2, CreateRouteTable 1, CreateSubnet 1, CreateVpcEndpoint 1, \
         ModifyVpcEndpoint 1",
    );
    let after = bed.attribute("aws_objects");
    let exchanged = before.as_object().expect("a map").iter().filter(|(key, id)| after[*key] != **id);
    let exchanged: Vec<&str> = exchanged.map(|(key, _)| key.as_str()).collect();
    assert_eq!(
        exchanged,
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
    bed.destroy();
}

#[test]
fn gateways_and_addresses_that_are_gone_or_detached_come_back_and_blackholes_lead_out_again() {
    let bed = TestEnv::new();
    let nat = "  num_availability_zones = 2\n  num_nat_gateways = 1\n  create_vpc_endpoints = false\n  \
               allow_private_persistence_internet_access = true";
    bed.change(nat);
    let good = bed.snapshot();
    let delete_nat = || bed.proxy.boto("ec2", "delete_nat_gateway", json!({"NatGatewayId": bed.id("nat_gateway.0")}));

    // The gateway and its address.
    delete_nat();
    bed.ec2("release_address", json!({"AllocationId": bed.id("eip.0")}));
    let blackhole = format!("target is blackhole {} instead of nat_gateway.0", bed.id("nat_gateway.0"));
    let found = [
        ("nat_gateway.0", "is gone"),
        ("eip.0", "is gone"),
        ("route.private_app.0.ipv4", blackhole.as_str()),
        ("route.private_app.1.ipv4", &blackhole),
        ("route.private_persistence.0.ipv4", &blackhole),
        ("route.private_persistence.1.ipv4", &blackhole),
    ];
    mends(&bed, &good, &found, "AllocateAddress 1, CreateNatGateway 1, ReplaceRoute 4");

    // Without public addresses in the VPC, AWS lets its gateway be detached and deleted.
    let without = "  num_availability_zones = 2\n  num_nat_gateways = 0\n  create_vpc_endpoints = false";
    bed.change(without);
    let good = bed.snapshot();
    let gateway = bed.id("internet_gateway");
    let detach = || {
        let both = json!({"InternetGatewayId": bed.id("internet_gateway"), "VpcId": bed.id("vpc")});
        bed.proxy.boto("ec2", "detach_internet_gateway", both)
    };
    let blackhole = |bed: &TestEnv| format!("target is blackhole {} instead of", bed.id("internet_gateway"));
    detach();
    let found = [("internet_gateway", "vpc is absent instead of vpc"), ("route.public.ipv4", &blackhole(&bed))];
    mends(&bed, &good, &found, "AttachInternetGateway 1, ReplaceRoute 1");
    assert_eq!(bed.id("internet_gateway"), gateway);

    let lost = blackhole(&bed);
    detach();
    bed.ec2("delete_internet_gateway", json!({"InternetGatewayId": gateway}));
    let found = [("internet_gateway", "is gone"), ("route.public.ipv4", lost.as_str())];
    mends(&bed, &good, &found, "AttachInternetGateway 1, CreateInternetGateway 1, ReplaceRoute 1");
    assert_ne!(bed.id("internet_gateway"), gateway);
    bed.destroy();
}
