//! Deletions that AWS rejects because of a dependent, and moto accepts.

use super::nats::Nats;
use crate::support::proxy::call::Call;
use crate::support::proxy::message::{Message, Reply};
use crate::support::proxy::upstream::Upstream;
use crate::support::proxy::xml::Element;

/// AWS does not delete a subnet that contains a NAT gateway or another network interface.
pub(super) async fn of_subnet(
    nats: &Nats,
    emulator: &Upstream,
    call: &Call,
    message: &Message,
) -> Result<Option<Reply>, String> {
    let subnet = call.param("SubnetId");
    let filter = [("Filter.1.Name", "subnet-id"), ("Filter.1.Value.1", subnet)];
    let mut in_use = !nats.alive(emulator, message, &filter).await?.is_empty();
    if !in_use {
        // moto does not delete the interfaces of deleted NAT gateways. They do not count.
        let all = emulator.describe(message, "DescribeNatGateways", &filter).await?;
        let of_nats: Vec<&Element> =
            all.items("natGatewaySet").iter().flat_map(|nat| nat.items("natGatewayAddressSet")).collect();
        let found = emulator.describe(message, "DescribeNetworkInterfaces", &filter).await?;
        let is_other = |interface: &Element| {
            let id = interface.text_of("networkInterfaceId");
            !of_nats.iter().any(|address| address.text_of("networkInterfaceId") == id)
        };
        let others: Vec<&Element> = found.items("networkInterfaceSet").iter().filter(|it| is_other(it)).collect();
        // Neither does it delete the primary interface of a terminated instance.
        in_use = !others.is_empty() && {
            let terminated = terminated_instances(emulator, message).await?;
            let instance = |it: &Element| it.child("attachment").map(|it| it.text_of("instanceId").to_owned());
            others.iter().any(|it| instance(it).is_none_or(|id| !terminated.contains(&id)))
        };
    }
    let text = format!("The subnet '{subnet}' has dependencies and cannot be deleted.");
    Ok(in_use.then(|| Reply::error(call, 400, "DependencyViolation", &text)))
}

/// The IDs of the instances that moto still lists although they are terminated.
async fn terminated_instances(emulator: &Upstream, message: &Message) -> Result<Vec<String>, String> {
    let filter = [("Filter.1.Name", "instance-state-name"), ("Filter.1.Value.1", "terminated")];
    let reservations = emulator.describe(message, "DescribeInstances", &filter).await?;
    let instances = reservations.items("reservationSet").iter().flat_map(|it| it.items("instancesSet"));
    Ok(instances.map(|it| it.text_of("instanceId").to_owned()).collect())
}

/// AWS deletes the main route table only with its VPC.
pub(super) async fn of_main_table(
    emulator: &Upstream,
    call: &Call,
    message: &Message,
) -> Result<Option<Reply>, String> {
    let table = call.param("RouteTableId");
    let filter = [("Filter.1.Name", "association.main"), ("Filter.1.Value.1", "true")];
    let main = emulator.describe(message, "DescribeRouteTables", &filter).await?;
    let is_main = main.items("routeTableSet").iter().any(|found| found.text_of("routeTableId") == table);
    let text = format!("The routeTable '{table}' has dependencies and cannot be deleted.");
    Ok(is_main.then(|| Reply::error(call, 400, "DependencyViolation", &text)))
}

/// AWS does not detach an internet gateway while a public NAT gateway or a network interface in the VPC has a public
/// address.
pub(super) async fn of_attachment(
    nats: &Nats,
    emulator: &Upstream,
    call: &Call,
    message: &Message,
) -> Result<Option<Reply>, String> {
    let vpc = call.param("VpcId");
    let filter = [("Filter.1.Name", "vpc-id"), ("Filter.1.Value.1", vpc)];
    let alive = nats.alive(emulator, message, &filter).await?;
    let mut mapped = alive.iter().any(|nat| nat.text_of("connectivityType") != "private");
    if !mapped {
        // The addresses of deleted NAT gateways are already disassociated.
        let addresses = emulator.describe(message, "DescribeAddresses", &[]).await?;
        let interfaces = emulator.describe(message, "DescribeNetworkInterfaces", &filter).await?;
        let ids: Vec<&str> =
            interfaces.items("networkInterfaceSet").iter().map(|it| it.text_of("networkInterfaceId")).collect();
        let mut addresses = addresses.items("addressesSet").iter();
        mapped = addresses.any(|address| ids.contains(&address.text_of("networkInterfaceId")));
    }
    let text = format!(
        "Network {vpc} has some mapped public address(es). Please unmap those public address(es) before detaching the gateway."
    );
    Ok(mapped.then(|| Reply::error(call, 400, "DependencyViolation", &text)))
}

/// AWS does not release an address that a NAT gateway uses. The network interface belongs to AWS, hence the odd error
/// code.
pub(super) async fn of_address(
    nats: &Nats,
    emulator: &Upstream,
    call: &Call,
    message: &Message,
) -> Result<Option<Reply>, String> {
    let allocation = call.param("AllocationId");
    let alive = nats.alive(emulator, message, &[]).await?;
    let mut addresses = alive.iter().flat_map(|nat| nat.items("natGatewayAddressSet"));
    let in_use = addresses.any(|address| address.text_of("allocationId") == allocation);
    let text = "You do not have permission to access the specified resource.";
    Ok(in_use.then(|| Reply::error(call, 400, "AuthFailure", text)))
}

/// AWS does not delete a VPC that contains a gateway, an endpoint, a peering connection, or a security group or network
/// ACL other than the default ones. moto checks only for subnets, route tables and VPN gateways.
pub(super) async fn of_vpc(
    nats: &Nats,
    emulator: &Upstream,
    call: &Call,
    message: &Message,
) -> Result<Option<Reply>, String> {
    let vpc = call.param("VpcId");
    let inside = [("Filter.1.Name", "vpc-id"), ("Filter.1.Value.1", vpc)];
    let attached = [("Filter.1.Name", "attachment.vpc-id"), ("Filter.1.Value.1", vpc)];
    let gateways = emulator.describe(message, "DescribeInternetGateways", &attached).await?;
    let egress = emulator.describe(message, "DescribeEgressOnlyInternetGateways", &[]).await?;
    let endpoints = emulator.describe(message, "DescribeVpcEndpoints", &inside).await?;
    let groups = emulator.describe(message, "DescribeSecurityGroups", &inside).await?;
    let peerings = emulator.describe(message, "DescribeVpcPeeringConnections", &[]).await?;
    let others = [inside[0], inside[1], ("Filter.2.Name", "default"), ("Filter.2.Value.1", "false")];
    let acls = emulator.describe(message, "DescribeNetworkAcls", &others).await?;
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
        || !nats.alive(emulator, message, &inside).await?.is_empty();
    let text = format!("The vpc '{vpc}' has dependencies and cannot be deleted.");
    Ok(in_use.then(|| Reply::error(call, 400, "DependencyViolation", &text)))
}
