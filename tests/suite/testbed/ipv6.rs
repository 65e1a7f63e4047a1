//! Corrections of moto for IPv6.

use super::*;

/// A network whose first subnet has an IPv6 range. Also returns the association IDs of the VPC's and of the subnet's
/// range, and the subnet's range.
fn dual() -> (Network, String, String, String) {
    let network = Network::new();
    let block = network.ipv6_block();
    let range = text(&block["Ipv6CidrBlock"]).replace("/56", "/64");
    let subnet = json!({"SubnetId": network.subnets[0], "Ipv6CidrBlock": range});
    let created = network.ec2("associate_subnet_cidr_block", subnet);
    let part = text(&created["Ipv6CidrBlockAssociation"]["AssociationId"]);
    (network, text(&block["AssociationId"]), part, range)
}

#[test]
fn vpc_range_stays_while_a_subnet_uses_it() {
    let (network, whole, part, _) = dual();
    let disassociate = json!({"AssociationId": whole});
    assert_eq!(network.rejected("disassociate_vpc_cidr_block", disassociate.clone()), "InvalidCidrBlock.InUse");
    network.ec2("disassociate_subnet_cidr_block", json!({"AssociationId": part}));
    network.ec2("disassociate_vpc_cidr_block", disassociate);
}

#[test]
fn subnet_range_stays_while_addresses_are_assigned_from_it() {
    let (network, _, part, range) = dual();
    let assign = |value: bool| json!({"SubnetId": network.subnets[0], "AssignIpv6AddressOnCreation": {"Value": value}});
    network.ec2("modify_subnet_attribute", assign(true));
    let disassociate = json!({"AssociationId": part});
    assert_eq!(network.rejected("disassociate_subnet_cidr_block", disassociate.clone()), "InvalidCidrBlock.InUse");
    network.ec2("modify_subnet_attribute", assign(false));
    let second = json!({"SubnetId": network.subnets[0], "Ipv6CidrBlock": range.replace("::/64", "1::/64")});
    assert_eq!(network.rejected("associate_subnet_cidr_block", second), "CidrLimitExceeded");
    network.ec2("disassociate_subnet_cidr_block", disassociate);
    assert_eq!(network.rejected("modify_subnet_attribute", assign(true)), "InvalidParameterValue");
}

#[test]
fn subnet_range_stays_while_an_interface_has_an_address() {
    let (network, _, part, _) = dual();
    let arguments = json!({"SubnetId": network.subnets[0], "Ipv6AddressCount": 1});
    let interface = network.ec2("create_network_interface", arguments)["NetworkInterface"].clone();
    let disassociate = json!({"AssociationId": part});
    assert_eq!(network.rejected("disassociate_subnet_cidr_block", disassociate.clone()), "InvalidCidrBlock.InUse");
    network.ec2("delete_network_interface", json!({"NetworkInterfaceId": interface["NetworkInterfaceId"]}));
    network.ec2("disassociate_subnet_cidr_block", disassociate);
}

#[test]
fn a_vpc_has_one_egress_only_gateway_which_tags_find() {
    let network = Network::new();
    let tags = json!([{"ResourceType": "egress-only-internet-gateway", "Tags": [{"Key": "team", "Value": "a"}]}]);
    let create = |vpc: &str| json!({"VpcId": vpc, "TagSpecifications": tags});
    let created = network.ec2("create_egress_only_internet_gateway", create(&network.vpc));
    let id = text(&created["EgressOnlyInternetGateway"]["EgressOnlyInternetGatewayId"]);
    let second = network.rejected("create_egress_only_internet_gateway", create(&network.vpc));
    assert_eq!(second, "EgressOnlyInternetGatewayLimitExceeded");
    let found = |value: &str| {
        let filters = json!([{"Name": "tag:team", "Values": [value]}]);
        let found = network.ec2("describe_egress_only_internet_gateways", json!({"Filters": filters}));
        found["EgressOnlyInternetGateways"].as_array().map(Vec::len)
    };
    assert_eq!((found("a"), found("b")), (Some(1), Some(0)));
    let one = |id: &str| json!({"EgressOnlyInternetGatewayIds": [id]});
    network.ec2("describe_egress_only_internet_gateways", one(&id));
    let missing = network.rejected("describe_egress_only_internet_gateways", one("eigw-00000000000000000"));
    assert_eq!(missing, "InvalidGatewayID.NotFound");
}
