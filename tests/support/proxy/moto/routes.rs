//! Routes, the associations of route tables, and the attachments of internet gateways.

use super::{Answer, Done, Element, Instead, Repair, Request, async_trait};

#[derive(Debug, Default)]
pub(crate) struct Routes;

#[async_trait]
impl Repair for Routes {
    async fn instead(&self, call: &Request<'_>) -> Instead {
        match call.name {
            "AssociateRouteTable" => associated_with_another_table(call).await,
            "AttachInternetGateway" => attached(call).await,
            "CreateRoute" => route_exists(call).await,
            _ => Ok(None),
        }
    }

    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        if call.name == "DescribeRouteTables" { blackholes(call, answer).await } else { Ok(()) }
    }
}

/// AWS rejects a second explicit route table for a subnet; moto reports success and keeps the first.
async fn associated_with_another_table(call: &Request<'_>) -> Instead {
    let (subnet, table) = (call.param("SubnetId"), call.param("RouteTableId"));
    if subnet.is_empty() {
        return Ok(None);
    }
    let tables = call.describe("DescribeRouteTables", &[("association.subnet-id", subnet)]).await?;
    let other = tables.items("routeTableSet").iter().any(|found| found.text_of("routeTableId") != table);
    let text = format!("the specified association for route table {table} conflicts with an existing association");
    call.reject_if(other, "Resource.AlreadyAssociated", &text)
}

/// AWS attaches one internet gateway to a VPC; moto attaches several, and the same one twice.
async fn attached(call: &Request<'_>) -> Instead {
    let (vpc, wanted) = (call.param("VpcId"), call.param("InternetGatewayId"));
    let attached = call.describe("DescribeInternetGateways", &[("attachment.vpc-id", vpc)]).await?;
    let attached = attached.items("internetGatewaySet");
    if attached.iter().any(|gateway| gateway.text_of("internetGatewayId") == wanted) {
        let text = format!("resource {wanted} is already attached to network {vpc}");
        return Ok(Some(call.rejected("Resource.AlreadyAssociated", &text)));
    }
    let text = format!("Network {vpc} already has an internet gateway attached");
    call.reject_if(!attached.is_empty(), "InvalidParameterValue", &text)
}

/// AWS rejects a second route to an IPv6 destination; moto overwrites the first. (For IPv4, moto rejects it too.) AWS
/// rejects a route to a missing NAT gateway; moto creates a route without a target.
async fn route_exists(call: &Request<'_>) -> Instead {
    let (table, wanted) = (call.param("RouteTableId"), call.param("DestinationIpv6CidrBlock"));
    if !wanted.is_empty() {
        let tables = call.ec2("DescribeRouteTables", &[("RouteTableId.1", table)]).await?;
        // moto itself reports a missing table.
        let taken = tables.is_ok_and(|tables| {
            let routes = tables.items("routeTableSet").iter().flat_map(|table| table.items("routeSet"));
            routes.into_iter().any(|route| route.text_of("destinationIpv6CidrBlock") == wanted)
        });
        if taken {
            let text = format!("The route identified by {wanted} already exists.");
            return Ok(Some(call.rejected("RouteAlreadyExists", &text)));
        }
    }
    let nat = call.param("NatGatewayId");
    if !nat.is_empty() {
        let found = call.describe("DescribeNatGateways", &[("NatGatewayId.1", nat)]).await?;
        if found.items("natGatewaySet").is_empty() {
            let text = format!("The natGateway ID '{nat}' does not exist");
            return Ok(Some(call.rejected("InvalidNatGatewayID.NotFound", &text)));
        }
    }
    Ok(None)
}

/// On AWS, a route to a deleted NAT gateway, egress-only internet gateway or internet gateway is a `blackhole`, as is a
/// route to a detached internet gateway. In moto it stays `active`.
async fn blackholes(call: &Request<'_>, answer: &mut Answer) -> Done {
    let text = answer.reply.text();
    let has_target = |target: &str| text.contains(target);
    let (nat, egress, internet) = ("<natGatewayId>nat-", "<egressOnlyInternetGatewayId>eigw-", "<gatewayId>igw-");
    if ![nat, egress, internet].into_iter().any(has_target) {
        return Ok(());
    }
    let alive = if has_target(nat) { call.repairs.nats.alive(call, &[]).await? } else { Vec::new() };
    let egress_gateways = match has_target(egress) {
        true => call.describe("DescribeEgressOnlyInternetGateways", &[]).await?,
        false => Element::default(),
    };
    let internet_gateways = match has_target(internet) {
        true => call.describe("DescribeInternetGateways", &[]).await?,
        false => Element::default(),
    };
    let mut existing: Vec<&str> = alive.iter().map(|nat| nat.text_of("natGatewayId")).collect();
    let egress_gateways = egress_gateways.items("egressOnlyInternetGatewaySet").iter();
    existing.extend(egress_gateways.map(|gateway| gateway.text_of("egressOnlyInternetGatewayId")));
    let internet_gateways = internet_gateways.items("internetGatewaySet").iter();
    let attached = internet_gateways.filter(|gateway| !gateway.items("attachmentSet").is_empty());
    existing.extend(attached.map(|gateway| gateway.text_of("internetGatewayId")));

    for table in answer.root()?.items_mut("routeTableSet") {
        for route in table.items_mut("routeSet") {
            let targets = ["natGatewayId", "egressOnlyInternetGatewayId", "gatewayId"].map(|it| route.text_of(it));
            let is_gateway = |id: &&&str| ["nat-", "eigw-", "igw-"].iter().any(|prefix| id.starts_with(prefix));
            if targets.iter().filter(is_gateway).any(|id| !existing.contains(id)) {
                route.set("state", "blackhole");
            }
        }
    }
    Ok(())
}
