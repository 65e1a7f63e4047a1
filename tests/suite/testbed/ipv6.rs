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
