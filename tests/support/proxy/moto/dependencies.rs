//! Deletions that AWS rejects because of a dependent, and moto accepts.

use super::{Element, Instead, Repair, Request, async_trait};

#[derive(Debug, Default)]
pub(crate) struct Dependencies;

#[async_trait]
impl Repair for Dependencies {
    async fn instead(&self, call: &Request<'_>) -> Instead {
        match call.name {
            "DeleteSubnet" => of_subnet(call).await,
            "DeleteRouteTable" => of_main_table(call).await,
            "DetachInternetGateway" => of_attachment(call).await,
            "DeleteSecurityGroup" => of_group(call).await,
            "ReleaseAddress" => of_address(call).await,
            "DeleteVpc" => of_vpc(call).await,
            _ => Ok(None),
        }
    }
}

/// AWS does not delete a subnet that contains a NAT gateway or another network interface.
async fn of_subnet(call: &Request<'_>) -> Instead {
    let subnet = call.param("SubnetId");
    let filter = [("subnet-id", subnet)];
    let mut in_use = !call.repairs.nats.alive(call, &filter).await?.is_empty();
    if !in_use {
        // moto does not delete the interfaces of deleted NAT gateways. They do not count.
        let all = call.describe("DescribeNatGateways", &filter).await?;
        let of_nats: Vec<&Element> =
            all.items("natGatewaySet").iter().flat_map(|nat| nat.items("natGatewayAddressSet")).collect();
        let found = call.describe("DescribeNetworkInterfaces", &filter).await?;
        let is_other = |interface: &Element| {
            let id = interface.text_of("networkInterfaceId");
            !of_nats.iter().any(|address| address.text_of("networkInterfaceId") == id)
        };
        let others: Vec<&Element> = found.items("networkInterfaceSet").iter().filter(|it| is_other(it)).collect();
        // Neither does it delete the primary interface of a terminated instance.
        in_use = !others.is_empty() && {
            let terminated = terminated_instances(call).await?;
            let instance = |it: &Element| it.child("attachment").map(|it| it.text_of("instanceId").to_owned());
            others.iter().any(|it| instance(it).is_none_or(|id| !terminated.contains(&id)))
        };
    }
    let text = format!("The subnet '{subnet}' has dependencies and cannot be deleted.");
    call.reject_if(in_use, "DependencyViolation", &text)
}

/// The IDs of the instances that moto still lists although they are terminated.
async fn terminated_instances(call: &Request<'_>) -> Result<Vec<String>, String> {
    let reservations = call.describe("DescribeInstances", &[("instance-state-name", "terminated")]).await?;
    let instances = reservations.items("reservationSet").iter().flat_map(|it| it.items("instancesSet"));
    Ok(instances.map(|it| it.text_of("instanceId").to_owned()).collect())
}

/// AWS does not delete a security group that a network interface is in, or to which a rule of another group refers.
/// `endpoint_interfaces` counts the interfaces of endpoints.
async fn of_group(call: &Request<'_>) -> Instead {
    let group = call.param("GroupId");
    let found = call.describe("DescribeNetworkInterfaces", &[]).await?;
    let is_in = |interface: &Element| {
        let is_of_endpoint = interface.text_of("description").starts_with("VPC Endpoint Interface");
        !is_of_endpoint && interface.items("groupSet").iter().any(|it| it.text_of("groupId") == group)
    };
    let groups = call.describe("DescribeSecurityGroups", &[]).await?;
    let refers = |other: &Element| {
        let rules = ["ipPermissions", "ipPermissionsEgress"].into_iter().flat_map(|name| other.items(name));
        let named = rules.flat_map(|rule| rule.items("groups")).any(|pair| pair.text_of("groupId") == group);
        other.text_of("groupId") != group && named
    };
    let in_use =
        found.items("networkInterfaceSet").iter().any(is_in) || groups.items("securityGroupInfo").iter().any(refers);
    let text = format!("resource {group} has a dependent object");
    call.reject_if(in_use, "DependencyViolation", &text)
}

/// AWS deletes the main route table only with its VPC.
async fn of_main_table(call: &Request<'_>) -> Instead {
    let table = call.param("RouteTableId");
    let main = call.describe("DescribeRouteTables", &[("association.main", "true")]).await?;
    let is_main = main.items("routeTableSet").iter().any(|found| found.text_of("routeTableId") == table);
    let text = format!("The routeTable '{table}' has dependencies and cannot be deleted.");
    call.reject_if(is_main, "DependencyViolation", &text)
}

/// AWS does not detach an internet gateway while a public NAT gateway or a network interface in the VPC has a public
/// address.
async fn of_attachment(call: &Request<'_>) -> Instead {
    let vpc = call.param("VpcId");
    let filter = [("vpc-id", vpc)];
    let alive = call.repairs.nats.alive(call, &filter).await?;
    let mut mapped = alive.iter().any(|nat| nat.text_of("connectivityType") != "private");
    if !mapped {
        // The addresses of deleted NAT gateways are already disassociated.
        let addresses = call.describe("DescribeAddresses", &[]).await?;
        let interfaces = call.describe("DescribeNetworkInterfaces", &filter).await?;
        let ids: Vec<&str> =
            interfaces.items("networkInterfaceSet").iter().map(|it| it.text_of("networkInterfaceId")).collect();
        let mut addresses = addresses.items("addressesSet").iter();
        mapped = addresses.any(|address| ids.contains(&address.text_of("networkInterfaceId")));
    }
    let text = format!(
        "Network {vpc} has some mapped public address(es). Please unmap those public address(es) before detaching the gateway."
    );
    call.reject_if(mapped, "DependencyViolation", &text)
}

/// AWS does not release an address that a NAT gateway uses. The network interface belongs to AWS, hence the odd error
/// code.
async fn of_address(call: &Request<'_>) -> Instead {
    let allocation = call.param("AllocationId");
    let alive = call.repairs.nats.alive(call, &[]).await?;
    let mut addresses = alive.iter().flat_map(|nat| nat.items("natGatewayAddressSet"));
    let in_use = addresses.any(|address| address.text_of("allocationId") == allocation);
    let text = "You do not have permission to access the specified resource.";
    call.reject_if(in_use, "AuthFailure", text)
}

/// AWS does not delete a VPC that contains a gateway, an endpoint, a peering connection, or a security group or network
/// ACL other than the default ones. moto checks only for subnets, route tables and VPN gateways.
async fn of_vpc(call: &Request<'_>) -> Instead {
    let vpc = call.param("VpcId");
    let inside = [("vpc-id", vpc)];
    let gateways = call.describe("DescribeInternetGateways", &[("attachment.vpc-id", vpc)]).await?;
    let egress = call.describe("DescribeEgressOnlyInternetGateways", &[]).await?;
    let endpoints = call.describe("DescribeVpcEndpoints", &inside).await?;
    let groups = call.describe("DescribeSecurityGroups", &inside).await?;
    let peerings = call.describe("DescribeVpcPeeringConnections", &[]).await?;
    let acls = call.describe("DescribeNetworkAcls", &[("vpc-id", vpc), ("default", "false")]).await?;
    let is_peered = |peering: &Element| {
        let sides = ["requesterVpcInfo", "accepterVpcInfo"].map(|side| peering.child(side));
        let has_ended = |status: &Element| ["deleted", "rejected"].contains(&status.text_of("code"));
        sides.into_iter().flatten().any(|side| side.text_of("vpcId") == vpc)
            && !peering.child("status").is_some_and(has_ended)
    };
    let in_vpc = |gateway: &Element| gateway.items("attachmentSet").iter().any(|at| at.text_of("vpcId") == vpc);
    let in_use = !gateways.items("internetGatewaySet").is_empty()
        || egress.items("egressOnlyInternetGatewaySet").iter().any(in_vpc)
        || endpoints.items("vpcEndpointSet").iter().any(|endpoint| endpoint.text_of("state") != "deleted")
        || groups.items("securityGroupInfo").iter().any(|group| group.text_of("groupName") != "default")
        || peerings.items("vpcPeeringConnectionSet").iter().any(is_peered)
        || !acls.items("networkAclSet").is_empty()
        || !call.repairs.nats.alive(call, &inside).await?.is_empty();
    let text = format!("The vpc '{vpc}' has dependencies and cannot be deleted.");
    call.reject_if(in_use, "DependencyViolation", &text)
}
