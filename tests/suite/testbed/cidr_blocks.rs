//! Corrections of moto for secondary IPv4 ranges.

use super::*;

const PODS: &str = "100.64.0.0/16";

impl Network {
    fn associate(&self, range: &str) -> String {
        let created = self.ec2("associate_vpc_cidr_block", json!({ "VpcId": self.vpc, "CidrBlock": range }));
        assert_eq!(created["CidrBlockAssociation"]["CidrBlockState"]["State"], "associating");
        text(&created["CidrBlockAssociation"]["AssociationId"])
    }

    fn rejected_range(&self, range: &str) -> String {
        self.rejected("associate_vpc_cidr_block", json!({ "VpcId": self.vpc, "CidrBlock": range }))
    }

    /// The states of the secondary ranges.
    fn states(&self) -> Vec<Value> {
        let found = self.ec2("describe_vpcs", json!({ "VpcIds": [self.vpc] }));
        let blocks = found["Vpcs"][0]["CidrBlockAssociationSet"].as_array().expect("a list").clone();
        blocks.into_iter().skip(1).map(|mut block| block["CidrBlockState"].take()).collect()
    }

    fn in_block(&self, block: &str) -> Value {
        json!({ "VpcId": self.vpc, "CidrBlock": block, "AvailabilityZone": "us-east-1a" })
    }

    /// The destinations of the local routes of each route table.
    fn local_routes(&self) -> Vec<Vec<String>> {
        let filters = json!([{ "Name": "vpc-id", "Values": [self.vpc] }]);
        let tables = self.ec2("describe_route_tables", json!({ "Filters": filters }));
        let routes = |table: &Value| {
            let all = table["Routes"].as_array().expect("a list").iter();
            let local = all.filter(|route| route["GatewayId"] == "local");
            local.filter_map(|route| route["DestinationCidrBlock"].as_str().map(str::to_owned)).collect()
        };
        tables["RouteTables"].as_array().expect("a list").iter().map(routes).collect()
    }
}

#[test]
fn a_range_passes_the_states_of_aws() {
    let network = Network::new();
    let state = |state: &str| json!({ "State": state });
    let association = network.associate(PODS);
    assert_eq!(network.rejected("create_subnet", network.in_block("100.64.1.0/24")), "InvalidSubnet.Range");
    assert_eq!(network.states(), [state("associating")]);
    assert_eq!(network.states(), [state("associated")]);
    let subnet = network.ec2("create_subnet", network.in_block("100.64.1.0/24"));
    let disassociate = json!({ "AssociationId": association });
    assert_eq!(network.rejected("disassociate_vpc_cidr_block", disassociate.clone()), "InvalidCidrBlock.InUse");
    network.ec2("delete_subnet", json!({ "SubnetId": subnet["Subnet"]["SubnetId"] }));
    network.ec2("disassociate_vpc_cidr_block", disassociate.clone());
    assert_eq!(network.rejected_range(PODS), "CidrConflict");
    assert_eq!(network.states(), [state("disassociating")]);
    assert_eq!(network.states(), [state("disassociated")]);
    assert_eq!(network.rejected("create_subnet", network.in_block("100.64.1.0/24")), "InvalidSubnet.Range");
    let missing = "InvalidVpcCidrBlockAssociationID.NotFound";
    assert_eq!(network.rejected("disassociate_vpc_cidr_block", disassociate), missing);

    network.proxy.fail_next_range("no address is left");
    network.associate(PODS);
    assert_eq!(network.states(), [state("associating")]);
    assert_eq!(network.states(), [json!({ "State": "failed", "StatusMessage": "no address is left" })]);
    network.associate(PODS);
}

#[test]
fn ranges_that_aws_excludes_are_rejected() {
    let network = Network::new();
    for restricted in ["172.16.0.0/16", "192.168.0.0/24", "198.19.0.0/24", "169.254.0.0/24", "100.64.0.0/29"] {
        assert_eq!(network.rejected_range(restricted), "InvalidVpc.Range", "{restricted}");
    }
    assert_eq!(network.rejected_range("10.0.128.0/17"), "CidrConflict");
    let primary = network.ec2("describe_vpcs", json!({ "VpcIds": [network.vpc] }));
    let primary = &primary["Vpcs"][0]["CidrBlockAssociationSet"][0]["AssociationId"];
    let code = network.rejected("disassociate_vpc_cidr_block", json!({ "AssociationId": primary }));
    assert_eq!(code, "OperationNotPermitted");
    for number in 64..68 {
        network.associate(&format!("100.{number}.0.0/16"));
    }
    assert_eq!(network.rejected_range("100.68.0.0/16"), "CidrLimitExceeded");
    // A VPC with public addresses takes no private range.
    let other = network.ec2("create_vpc", json!({ "CidrBlock": "8.8.0.0/16" }));
    let private = json!({ "VpcId": other["Vpc"]["VpcId"], "CidrBlock": "10.0.0.0/16" });
    assert_eq!(network.rejected("associate_vpc_cidr_block", private), "InvalidVpc.Range");
}

#[test]
fn each_table_has_a_local_route_for_each_range() {
    let network = Network::new();
    let table = network.ec2("create_route_table", json!({ "VpcId": network.vpc }));
    let route = json!({
        "RouteTableId": table["RouteTable"]["RouteTableId"], "GatewayId": network.gateway,
        "DestinationCidrBlock": "100.65.7.0/24",
    });
    network.ec2("create_route", route);
    network.associate(PODS);
    network.states();
    assert_eq!(network.local_routes(), [["10.0.0.0/16", PODS]; 2]);
    assert_eq!(network.rejected_range("100.65.0.0/16"), "InvalidParameterValue");
    assert_eq!(network.rejected_range("100.65.7.0/24"), "InvalidParameterValue");
    network.associate("100.65.7.0/25");
}
