//! Unmanaged objects in a network: they are neither drift nor changed, and messages name those that block a deletion.

use serde_json::{Value, json};

use super::pending_deletion::interface;
use super::{SHORT_TIMEOUTS, TestEnv, text};
use crate::support::terraform::Run;

const ONE_AZ: &str = "  num_availability_zones = 1\n  num_nat_gateways = 1\n  create_vpc_endpoints = false\n";

fn one_az(further: &str) -> String {
    format!("{ONE_AZ}{further}{SHORT_TIMEOUTS}")
}

/// The ids of unmanaged objects in the network.
struct Unmanaged {
    other_vpc: String,
    peering: String,
    prefix_list: String,
    transit_gateway: String,
    subnet: String,
    table: String,
    group: String,
    acl: String,
    vpn_gateway: String,
}

impl Unmanaged {
    /// Creates them: among others, routes in managed tables, a subnet associated with one of these, an ACL for a
    /// managed subnet, and tags on managed objects.
    fn of(env: &TestEnv) -> Self {
        let vpc = env.id("vpc");
        let ec2 = |method: &str, arguments: Value| env.ec2(method, arguments);
        let other_vpc = text(&ec2("create_vpc", json!({"CidrBlock": "172.16.0.0/16"}))["Vpc"]["VpcId"]);
        let requested = ec2("create_vpc_peering_connection", json!({"VpcId": vpc, "PeerVpcId": other_vpc}));
        let peering = text(&requested["VpcPeeringConnection"]["VpcPeeringConnectionId"]);
        ec2("accept_vpc_peering_connection", json!({"VpcPeeringConnectionId": peering}));
        let created = ec2(
            "create_managed_prefix_list",
            json!({"PrefixListName": "theirs", "MaxEntries": 1, "AddressFamily": "IPv4",
                   "Entries": [{"Cidr": "192.168.0.0/16"}]}),
        );
        let prefix_list = text(&created["PrefixList"]["PrefixListId"]);
        let transit_gateway = text(&ec2("create_transit_gateway", json!({}))["TransitGateway"]["TransitGatewayId"]);
        let app = env.id("route_table.private_app.0");
        for (destination, target) in [
            (json!({"DestinationCidrBlock": "172.16.0.0/16"}), json!({"VpcPeeringConnectionId": peering})),
            (json!({"DestinationPrefixListId": prefix_list}), json!({"VpcPeeringConnectionId": peering})),
            (json!({"DestinationCidrBlock": "172.31.0.0/16"}), json!({"TransitGatewayId": transit_gateway})),
        ] {
            let mut route = json!({"RouteTableId": app});
            for part in [destination, target] {
                route.as_object_mut().expect("a map").extend(part.as_object().expect("a map").clone());
            }
            ec2("create_route", route);
        }
        let created =
            ec2("create_subnet", json!({"VpcId": vpc, "CidrBlock": "10.0.200.0/24", "AvailabilityZone": "us-east-1b"}));
        let subnet = text(&created["Subnet"]["SubnetId"]);
        ec2("associate_route_table", json!({"RouteTableId": app, "SubnetId": subnet}));
        let table = text(&ec2("create_route_table", json!({"VpcId": vpc}))["RouteTable"]["RouteTableId"]);
        let group = json!({"VpcId": vpc, "GroupName": "shop", "Description": "of the shop"});
        let group = text(&ec2("create_security_group", group)["GroupId"]);
        let acl = text(&ec2("create_network_acl", json!({"VpcId": vpc}))["NetworkAcl"]["NetworkAclId"]);
        let ours = env.id("subnet.private_app.0");
        let filters = json!([{"Name": "association.subnet-id", "Values": [ours]}]);
        let acls = ec2("describe_network_acls", json!({"Filters": filters}));
        let associations = acls["NetworkAcls"][0]["Associations"].as_array().expect("associations").clone();
        let association = associations.iter().find(|it| it["SubnetId"] == ours.as_str()).expect("it has an ACL");
        let replace = json!({"AssociationId": association["NetworkAclAssociationId"], "NetworkAclId": acl});
        ec2("replace_network_acl_association", replace);
        let vpn_gateway = text(&ec2("create_vpn_gateway", json!({"Type": "ipsec.1"}))["VpnGateway"]["VpnGatewayId"]);
        ec2("attach_vpn_gateway", json!({"VpnGatewayId": vpn_gateway, "VpcId": vpc}));
        let tagged =
            json!([vpc, ours, env.id("subnet.public.0"), app, env.id("internet_gateway"), env.id("nat_gateway.0")]);
        ec2(
            "create_tags",
            json!({"Resources": tagged, "Tags": [{"Key": "kubernetes.io/cluster/x", "Value": "shared"}]}),
        );
        Self { other_vpc, peering, prefix_list, transit_gateway, subnet, table, group, acl, vpn_gateway }
    }

    /// All unmanaged objects, routes, associations and tags, as boto3 shows them.
    fn snapshot(&self, env: &TestEnv) -> Value {
        let listing = env.proxy.account().list();
        let found = |kind: &str, name: &str, id: &str| {
            let items = listing[kind].as_array().expect("a list");
            items.iter().find(|item| item[name] == id).unwrap_or_else(|| panic!("{id} is deleted: {items:#?}")).clone()
        };
        let app = found("route_tables", "RouteTableId", &env.id("route_table.private_app.0"));
        let is_theirs = |route: &&Value| route["NatGatewayId"].is_null() && route["GatewayId"].is_null();
        let routes: Vec<&Value> = app["Routes"].as_array().expect("routes").iter().filter(is_theirs).collect();
        let associated = app["Associations"].as_array().expect("associations").iter();
        let associated: Vec<&Value> = associated.filter(|it| it["SubnetId"] == self.subnet.as_str()).collect();
        let tagged = |kind: &str| {
            let items = listing[kind].as_array().expect("a list").iter();
            items.filter(|item| item["tags"]["kubernetes.io/cluster/x"] == "shared").count()
        };
        let tagged = ["vpcs", "subnets", "route_tables", "internet_gateways", "nat_gateways"]
            .map(|kind| json!([kind, tagged(kind)]));
        json!({
            "routes": routes,
            "associated": associated,
            "tagged": tagged,
            "subnet": found("subnets", "SubnetId", &self.subnet),
            "table": found("route_tables", "RouteTableId", &self.table),
            "group": found("security_groups", "GroupId", &self.group),
            "acl": found("network_acls", "NetworkAclId", &self.acl),
            "vpn_gateway": found("vpn_gateways", "VpnGatewayId", &self.vpn_gateway),
        })
    }

    /// The objects that block the deletion of the VPC, as messages describe them.
    fn dependents(&self) -> Vec<String> {
        vec![
            format!("security group {} \"shop\" (of the shop", self.group),
            format!("peering connection {} (with {}", self.peering, self.other_vpc),
            format!("VPN gateway {}", self.vpn_gateway),
            format!("subnet {} (10.0.200.0/24", self.subnet),
            format!("route table {}", self.table),
            format!("network ACL {}", self.acl),
        ]
    }

    /// Deletes the objects that block the deletion of the VPC, except the subnet.
    fn delete(&self, env: &TestEnv) {
        let vpc = env.id("vpc");
        env.ec2("delete_route_table", json!({"RouteTableId": self.table}));
        env.ec2("delete_security_group", json!({"GroupId": self.group}));
        // Its managed subnet still exists, so it needs its default ACL first.
        let acls = env.ec2("describe_network_acls", json!({"Filters": [{"Name": "vpc-id", "Values": [vpc]}]}));
        let acls: Vec<&Value> = acls["NetworkAcls"].as_array().expect("a list").iter().collect();
        let default = acls.iter().find(|acl| acl["IsDefault"] == true).expect("the default ACL");
        let theirs = acls.iter().find(|acl| acl["NetworkAclId"] == self.acl.as_str()).expect("it exists");
        for it in theirs["Associations"].as_array().expect("associations") {
            let association = &it["NetworkAclAssociationId"];
            let replace = json!({"AssociationId": association, "NetworkAclId": default["NetworkAclId"]});
            env.ec2("replace_network_acl_association", replace);
        }
        env.ec2("delete_network_acl", json!({"NetworkAclId": self.acl}));
        env.ec2("delete_vpc_peering_connection", json!({"VpcPeeringConnectionId": self.peering}));
        env.ec2("detach_vpn_gateway", json!({"VpnGatewayId": self.vpn_gateway, "VpcId": vpc}));
    }
}

/// Applies a configuration, asserts that another plan is empty, and returns the changing calls.
fn applied(env: &TestEnv, attributes: &str) -> String {
    env.config(attributes);
    env.proxy.clear_calls();
    env.workspace.apply(&[]).succeeded();
    let calls = env.calls();
    env.workspace.assert_nothing_to_do();
    calls
}

fn assert_says(run: &Run, texts: &[String]) {
    for text in texts {
        assert!(run.says(text), "no {text:?} in\n{run}");
    }
}

#[test]
fn unmanaged_objects_are_left_alone_and_named_if_they_block() {
    let env = TestEnv::new();
    env.change(&one_az(""));
    let unmanaged = Unmanaged::of(&env);
    let before = unmanaged.snapshot(&env);
    assert_eq!(before["routes"].as_array().map(Vec::len), Some(3), "{before}");
    assert_eq!(
        before["tagged"],
        json!([["vpcs", 1], ["subnets", 2], ["route_tables", 1], ["internet_gateways", 1], ["nat_gateways", 1]])
    );

    env.workspace.assert_nothing_to_do();
    assert_eq!(env.attribute("drift"), json!({}));
    let changed = applied(&env, &one_az("  create_transit_subnets = true\n  custom_tags = { team = \"net\" }\n"));
    assert!(changed.contains("CreateTags") && changed.contains("CreateSubnet 1"), "{changed:#?}");
    assert_eq!(unmanaged.snapshot(&env), before, "an apply changes no unmanaged object");
    let back = applied(&env, &one_az(""));
    assert!(back.contains("DeleteTags") && back.contains("DeleteSubnet 1"), "{back:#?}");
    assert_eq!(unmanaged.snapshot(&env), before, "an apply changes no unmanaged object");

    env.proxy.clear_calls();
    let plan = env.workspace.plan(&["-destroy"]);
    assert_eq!(plan.code, 2, "{plan}");
    assert_says(&plan, &["fgw_four_tier_vpc \"main\" to be destroyed contains 6 unmanaged objects".to_owned()]);
    assert_says(&plan, &unmanaged.dependents());
    assert!(!plan.says("Interface for NAT Gateway"), "AWS deletes it with its NAT gateway:\n{plan}");
    assert_eq!(env.proxy.mutations().len(), 0);

    let objects = env.attribute("aws_objects");
    let refused = env.workspace.destroy();
    refused.failed_with(": in use");
    for text in unmanaged.dependents() {
        refused.failed_with(&text);
    }
    assert_eq!((env.attribute("aws_objects"), env.proxy.mutations().len()), (objects.clone(), 0), "nothing is deleted");
    // Without the unmanaged subnet, the others block it.
    env.proxy.boto("ec2", "delete_subnet", json!({"SubnetId": unmanaged.subnet}));
    env.proxy.clear_calls();
    let refused = env.workspace.destroy();
    for text in unmanaged.dependents().iter().filter(|text| !text.starts_with("subnet")) {
        refused.failed_with(text);
    }
    assert!(!refused.says(&unmanaged.subnet), "{refused}");
    assert_eq!((env.attribute("aws_objects"), env.proxy.mutations().len()), (objects, 0), "nothing is deleted");
    unmanaged.delete(&env);
    env.destroy();
    let lists = env.ec2("describe_managed_prefix_lists", json!({"PrefixListIds": [unmanaged.prefix_list]}));
    assert_eq!(lists["PrefixLists"].as_array().map(Vec::len), Some(1), "it is unmanaged");
    let gateways = env.ec2("describe_transit_gateways", json!({"TransitGatewayIds": [unmanaged.transit_gateway]}));
    assert_eq!(gateways["TransitGateways"].as_array().map(Vec::len), Some(1), "it is unmanaged");
}

#[test]
fn interfaces_are_named_before_a_destroy_deletes_anything() {
    let env = TestEnv::new();
    env.change(&one_az(""));
    let (public, private) = (interface(&env, "subnet.public.0"), interface(&env, "subnet.private_app.0"));
    let address = text(&env.ec2("allocate_address", json!({"Domain": "vpc"}))["AllocationId"]);
    let mapped = env.ec2("associate_address", json!({"AllocationId": address, "NetworkInterfaceId": public}));
    env.workspace.assert_nothing_to_do();
    let plan = env.workspace.plan(&["-destroy"]);
    let account = env.proxy.account().id.clone();
    let named = |id: &str| format!("network interface {id} \"AWS Lambda VPC ENI-shop\"");
    let of_account = format!("account {account})");
    assert_says(&plan, &["contains 2 unmanaged objects".to_owned(), named(&public), named(&private), of_account]);

    let refused = env.workspace.destroy();
    for text in [": in use", "Nothing was deleted", &named(&public), &named(&private)] {
        refused.failed_with(text);
    }
    env.assert_state_matches_aws();
    env.ec2("disassociate_address", json!({"AssociationId": mapped["AssociationId"]}));
    env.ec2("release_address", json!({"AllocationId": address}));
    for interface in [public, private] {
        env.ec2("delete_network_interface", json!({"NetworkInterfaceId": interface}));
    }
    env.destroy();
}
