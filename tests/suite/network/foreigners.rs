//! What others put into a network: it is neither shown nor touched, and named where it keeps AWS from deleting.

use serde_json::{Value, json};

use super::pending_deletion::interface;
use super::{TestEnv, text};
use crate::support::terraform::Run;

const ONE_AZ: &str = "  num_availability_zones = 1\n  num_nat_gateways = 1\n  create_vpc_endpoints = false\n  timeouts {\n    \
                      delete = \"2s\"\n  }\n";

fn one_az(further: &str) -> String {
    format!("{ONE_AZ}{further}")
}

/// What others have put into the network.
struct Foreigners {
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

impl Foreigners {
    /// Moves in: routes in our tables, a subnet in one of them, an ACL on one of our subnets, tags on our objects.
    fn of(bed: &TestEnv) -> Self {
        let vpc = bed.id("vpc");
        let ec2 = |method: &str, arguments: Value| bed.ec2(method, arguments);
        let other_vpc = text(&ec2("create_vpc", json!({"CidrBlock": "172.16.0.0/16"}))["Vpc"]["VpcId"]);
        let asked = ec2("create_vpc_peering_connection", json!({"VpcId": vpc, "PeerVpcId": other_vpc}));
        let peering = text(&asked["VpcPeeringConnection"]["VpcPeeringConnectionId"]);
        ec2("accept_vpc_peering_connection", json!({"VpcPeeringConnectionId": peering}));
        let made = ec2(
            "create_managed_prefix_list",
            json!({"PrefixListName": "theirs", "MaxEntries": 1, "AddressFamily": "IPv4",
                   "Entries": [{"Cidr": "192.168.0.0/16"}]}),
        );
        let prefix_list = text(&made["PrefixList"]["PrefixListId"]);
        let transit_gateway = text(&ec2("create_transit_gateway", json!({}))["TransitGateway"]["TransitGatewayId"]);
        let app = bed.id("route_table.private_app.0");
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
        let made =
            ec2("create_subnet", json!({"VpcId": vpc, "CidrBlock": "10.0.200.0/24", "AvailabilityZone": "us-east-1b"}));
        let subnet = text(&made["Subnet"]["SubnetId"]);
        ec2("associate_route_table", json!({"RouteTableId": app, "SubnetId": subnet}));
        let table = text(&ec2("create_route_table", json!({"VpcId": vpc}))["RouteTable"]["RouteTableId"]);
        let group = json!({"VpcId": vpc, "GroupName": "shop", "Description": "of the shop"});
        let group = text(&ec2("create_security_group", group)["GroupId"]);
        let acl = text(&ec2("create_network_acl", json!({"VpcId": vpc}))["NetworkAcl"]["NetworkAclId"]);
        let ours = bed.id("subnet.private_app.0");
        let filters = json!([{"Name": "association.subnet-id", "Values": [ours]}]);
        let acls = ec2("describe_network_acls", json!({"Filters": filters}));
        let associations = acls["NetworkAcls"][0]["Associations"].as_array().expect("associations").clone();
        let association = associations.iter().find(|it| it["SubnetId"] == ours.as_str()).expect("ours has an ACL");
        let replace = json!({"AssociationId": association["NetworkAclAssociationId"], "NetworkAclId": acl});
        ec2("replace_network_acl_association", replace);
        let vpn_gateway = text(&ec2("create_vpn_gateway", json!({"Type": "ipsec.1"}))["VpnGateway"]["VpnGatewayId"]);
        ec2("attach_vpn_gateway", json!({"VpnGatewayId": vpn_gateway, "VpcId": vpc}));
        let tagged =
            json!([vpc, ours, bed.id("subnet.public.0"), app, bed.id("internet_gateway"), bed.id("nat_gateway.0")]);
        ec2(
            "create_tags",
            json!({"Resources": tagged, "Tags": [{"Key": "kubernetes.io/cluster/x", "Value": "shared"}]}),
        );
        Self { other_vpc, peering, prefix_list, transit_gateway, subnet, table, group, acl, vpn_gateway }
    }

    /// All that is theirs in the account, as boto3 shows it.
    fn snapshot(&self, bed: &TestEnv) -> Value {
        let listing = bed.proxy.account().list();
        let found = |kind: &str, name: &str, id: &str| {
            let items = listing[kind].as_array().expect("a list");
            items.iter().find(|item| item[name] == id).unwrap_or_else(|| panic!("{id} is gone: {items:#?}")).clone()
        };
        let app = found("route_tables", "RouteTableId", &bed.id("route_table.private_app.0"));
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

    /// What keeps AWS from deleting the VPC, as messages tell it.
    fn told(&self) -> Vec<String> {
        vec![
            format!("security group {} \"shop\" (of the shop", self.group),
            format!("peering connection {} (with {}", self.peering, self.other_vpc),
            format!("VPN gateway {}", self.vpn_gateway),
            format!("subnet {} (10.0.200.0/24", self.subnet),
            format!("route table {}", self.table),
            format!("network ACL {}", self.acl),
        ]
    }

    /// Moves out, all but the subnet.
    fn leave(&self, bed: &TestEnv) {
        let vpc = bed.id("vpc");
        bed.ec2("delete_route_table", json!({"RouteTableId": self.table}));
        bed.ec2("delete_security_group", json!({"GroupId": self.group}));
        bed.ec2("delete_network_acl", json!({"NetworkAclId": self.acl}));
        bed.ec2("delete_vpc_peering_connection", json!({"VpcPeeringConnectionId": self.peering}));
        bed.ec2("detach_vpn_gateway", json!({"VpnGatewayId": self.vpn_gateway, "VpcId": vpc}));
    }
}

/// Applies a configuration, asserts that nothing is left to do, and gives the changing calls.
fn applied(bed: &TestEnv, attributes: &str) -> String {
    bed.config(attributes);
    bed.proxy.clear_calls();
    bed.workspace.apply(&[]).succeeded();
    let calls = bed.calls();
    bed.workspace.assert_nothing_to_do();
    calls
}

fn assert_tells(run: &Run, texts: &[String]) {
    for text in texts {
        assert!(run.says(text), "no {text:?} in\n{run}");
    }
}

#[test]
fn what_others_add_is_neither_shown_nor_touched_and_named_when_it_blocks_a_destroy() {
    let bed = TestEnv::new();
    bed.change(ONE_AZ);
    let foreigners = Foreigners::of(&bed);
    let before = foreigners.snapshot(&bed);
    assert_eq!(before["routes"].as_array().map(Vec::len), Some(3), "{before}");
    assert_eq!(
        before["tagged"],
        json!([["vpcs", 1], ["subnets", 2], ["route_tables", 1], ["internet_gateways", 1], ["nat_gateways", 1]])
    );

    bed.workspace.assert_nothing_to_do();
    assert_eq!(bed.attribute("drift"), json!({}));
    let changed = applied(&bed, &one_az("  create_transit_subnets = true\n  custom_tags = { team = \"net\" }"));
    assert!(changed.contains("CreateTags") && changed.contains("CreateSubnet 1"), "{changed:#?}");
    assert_eq!(foreigners.snapshot(&bed), before, "an apply touches nothing of theirs");
    let back = applied(&bed, ONE_AZ);
    assert!(back.contains("DeleteTags") && back.contains("DeleteSubnet 1"), "{back:#?}");
    assert_eq!(foreigners.snapshot(&bed), before, "an apply touches nothing of theirs");

    bed.proxy.clear_calls();
    let plan = bed.workspace.plan(&["-destroy"]);
    assert_eq!(plan.code, 2, "{plan}");
    assert_tells(&plan, &["Others keep 6 objects in fgw_four_tier_vpc \"main\", which is to be destroyed".to_owned()]);
    assert_tells(&plan, &foreigners.told());
    assert!(!plan.says("Interface for NAT Gateway"), "ours goes with its gateway:\n{plan}");
    assert_eq!(bed.proxy.mutations().len(), 0);

    // The table of the app tier stays for their subnet, and with it the VPC.
    let failed = bed.workspace.destroy();
    failed.failed_with("Deleting route table route_table.private_app.0 failed");
    failed.failed_with(&format!("In its way: subnet {} (10.0.200.0/24", foreigners.subnet));
    let objects = bed.attribute("aws_objects");
    let left: Vec<&String> = objects.as_object().expect("a map").keys().collect();
    // The route would go with its table, and what we set on the default group with the VPC.
    assert_eq!(left, ["default_security_group", "route.private_app.0.ipv4", "route_table.private_app.0", "vpc"]);

    // Their subnet goes, and then the VPC itself is what AWS keeps.
    bed.proxy.boto("ec2", "delete_subnet", json!({"SubnetId": foreigners.subnet}));
    let failed = bed.workspace.destroy();
    failed.failed_with("Deleting VPC vpc failed");
    failed.failed_with("DeleteVpc answered DependencyViolation");
    for text in foreigners.told().iter().filter(|text| !text.starts_with("subnet")) {
        failed.failed_with(text);
    }
    foreigners.leave(&bed);
    bed.destroy();
    let lists = bed.ec2("describe_managed_prefix_lists", json!({"PrefixListIds": [foreigners.prefix_list]}));
    assert_eq!(lists["PrefixLists"].as_array().map(Vec::len), Some(1), "it was never ours");
    let gateways = bed.ec2("describe_transit_gateways", json!({"TransitGatewayIds": [foreigners.transit_gateway]}));
    assert_eq!(gateways["TransitGateways"].as_array().map(Vec::len), Some(1), "it was never ours");
}

#[test]
fn interfaces_and_their_addresses_are_named_for_the_subnet_and_the_internet_gateway_that_they_keep() {
    let bed = TestEnv::new();
    bed.change(ONE_AZ);
    let (public, private) = (interface(&bed, "subnet.public.0"), interface(&bed, "subnet.private_app.0"));
    let address = text(&bed.ec2("allocate_address", json!({"Domain": "vpc"}))["AllocationId"]);
    let mapped = bed.ec2("associate_address", json!({"AllocationId": address, "NetworkInterfaceId": public}));
    bed.workspace.assert_nothing_to_do();
    let plan = bed.workspace.plan(&["-destroy"]);
    let account = bed.proxy.account().id.clone();
    let named = |id: &str| format!("network interface {id} \"AWS Lambda VPC ENI-shop\"");
    let of_account = format!("account {account})");
    assert_tells(&plan, &["Others keep 2 objects".to_owned(), named(&public), named(&private), of_account]);

    let failed = bed.workspace.destroy();
    for (summary, interface) in [
        ("Deleting subnet subnet.public.0 failed", &public),
        ("Deleting subnet subnet.private_app.0 failed", &private),
        ("Deleting internet gateway internet_gateway failed", &public),
    ] {
        failed.failed_with(summary);
        let message = failed.stderr.split("Error: ").find(|message| message.starts_with(summary)).expect("it is there");
        let other = if *interface == public { &private } else { &public };
        assert!(message.contains(interface.as_str()) && !message.contains(other.as_str()), "{message}");
    }
    bed.assert_state_holds_what_exists();
    bed.ec2("disassociate_address", json!({"AssociationId": mapped["AssociationId"]}));
    bed.ec2("release_address", json!({"AllocationId": address}));
    for interface in [public, private] {
        bed.ec2("delete_network_interface", json!({"NetworkInterfaceId": interface}));
    }
    bed.destroy();
}
