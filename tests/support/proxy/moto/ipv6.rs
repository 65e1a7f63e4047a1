//! IPv6 ranges: the operations that AWS rejects, and moto accepts, and the states of ranges.

use super::{Answer, Done, Element, Instead, Repair, Request, async_trait};

#[derive(Debug, Default)]
pub(crate) struct Ipv6;

#[async_trait]
impl Repair for Ipv6 {
    async fn instead(&self, call: &Request<'_>) -> Instead {
        match call.name {
            "AssociateSubnetCidrBlock" => second_range(call).await,
            "DisassociateSubnetCidrBlock" => match of_addressing(call).await? {
                None => of_interfaces(call).await,
                rejected => Ok(rejected),
            },
            "DisassociateVpcCidrBlock" => of_subnets(call).await,
            "ModifySubnetAttribute" => addressing_without_range(call).await,
            _ => Ok(None),
        }
    }

    /// AWS returns `associated` as the state of a subnet's association; moto returns a Python dictionary as text.
    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        if ["CreateSubnet", "DescribeSubnets"].contains(&call.name) {
            let text = answer.reply.text().replace("{'State': 'associated'}", "associated");
            let text = text.replace("{&#39;State&#39;: &#39;associated&#39;}", "associated");
            answer.reply = answer.reply.clone().with_body(text);
        }
        Ok(())
    }
}

/// AWS does not disassociate a range of a VPC while a subnet has a range inside it.
async fn of_subnets(call: &Request<'_>) -> Instead {
    let id = call.param("AssociationId");
    let vpcs = call.describe("DescribeVpcs", &[]).await?;
    let of_vpc = |vpc: &Element| {
        let blocks = vpc.items("ipv6CidrBlockAssociationSet").to_vec();
        let block = blocks.into_iter().find(|block| block.text_of("associationId") == id)?;
        Some((vpc.text_of("vpcId").to_owned(), block.text_of("ipv6CidrBlock").to_owned()))
    };
    let Some((vpc, range)) = vpcs.items("vpcSet").iter().find_map(of_vpc) else { return Ok(None) };
    let subnets = call.describe("DescribeSubnets", &[("vpc-id", &vpc)]).await?;
    let whole: ipnet::Ipv6Net = range.parse().map_err(|error| format!("{range}: {error}"))?;
    let in_use = subnets.items("subnetSet").iter().flat_map(ranges).any(|part| whole.contains(&part));
    let text = format!("The vpc {vpc} currently has a subnet within CIDR block {range}");
    call.reject_if(in_use, "InvalidCidrBlock.InUse", &text)
}

/// AWS does not disassociate the range of a subnet that assigns IPv6 addresses to new network interfaces. Its answer is
/// quoted in hashicorp/terraform-provider-aws#3562.
async fn of_addressing(call: &Request<'_>) -> Instead {
    let id = call.param("AssociationId");
    let subnets = call.describe("DescribeSubnets", &[]).await?;
    let in_use = subnets.items("subnetSet").iter().any(|subnet| {
        subnet.text_of("assignIpv6AddressOnCreation") == "true"
            && subnet.items("ipv6CidrBlockAssociationSet").iter().any(|block| block.text_of("associationId") == id)
    });
    let text = format!(
        "The subnet IPv6 CIDR block with association ID {id} may not be disassociated, because its subnet has \
         assign-ipv6-address-on-creation set to true."
    );
    call.reject_if(in_use, "InvalidCidrBlock.InUse", &text)
}

/// AWS does not disassociate the range of a subnet while a network interface has an address of it. Its text is unknown.
async fn of_interfaces(call: &Request<'_>) -> Instead {
    let id = call.param("AssociationId");
    let subnets = call.describe("DescribeSubnets", &[]).await?;
    let of_association = |subnet: &Element| {
        let blocks = subnet.items("ipv6CidrBlockAssociationSet").iter();
        let mut blocks = blocks.filter(|block| block.text_of("associationId") == id);
        let block = blocks.next()?.text_of("ipv6CidrBlock").parse::<ipnet::Ipv6Net>().ok()?;
        Some((subnet.text_of("subnetId").to_owned(), block))
    };
    let Some((subnet, block)) = subnets.items("subnetSet").iter().find_map(of_association) else { return Ok(None) };
    let found = call.describe("DescribeNetworkInterfaces", &[("subnet-id", &subnet)]).await?;
    let addresses = found.items("networkInterfaceSet").iter().flat_map(|it| it.items("ipv6AddressesSet"));
    let held = addresses.filter_map(|it| it.text_of("ipv6Address").parse::<std::net::Ipv6Addr>().ok());
    let endpoints = call.repairs.endpoint_interfaces.present(call).await?;
    let mut of_endpoints = endpoints.iter().filter(|it| it.subnet == subnet);
    let in_use = held.into_iter().any(|address| block.contains(&address))
        || of_endpoints.any(|it| call.repairs.interface_endpoints.has_ipv6(&it.endpoint));
    let text = format!("The subnet IPv6 CIDR block with association ID {id} has addresses in use");
    call.reject_if(in_use, "InvalidCidrBlock.InUse", &text)
}

/// AWS allows one range per subnet. Its error for a second one is unknown; this is its error for VPCs.
async fn second_range(call: &Request<'_>) -> Instead {
    let subnet = call.param("SubnetId");
    let taken = !of_subnet(call, subnet).await?.is_empty();
    let text = format!("This subnet '{subnet}' has met its maximum number of allowed CIDRs: 1");
    call.reject_if(taken, "CidrLimitExceeded", &text)
}

/// AWS cannot assign IPv6 addresses in a subnet without a range. Its error code is unknown.
async fn addressing_without_range(call: &Request<'_>) -> Instead {
    if call.param("AssignIpv6AddressOnCreation.Value") != "true" {
        return Ok(None);
    }
    let subnet = call.param("SubnetId");
    let none = of_subnet(call, subnet).await?.is_empty();
    let text = format!("The subnet '{subnet}' has no IPv6 CIDR block");
    call.reject_if(none, "InvalidParameterValue", &text)
}

/// The IPv6 ranges of a subnet.
pub(super) async fn of_subnet(call: &Request<'_>, id: &str) -> Result<Vec<ipnet::Ipv6Net>, String> {
    let found = call.describe("DescribeSubnets", &[("subnet-id", id)]).await?;
    Ok(found.items("subnetSet").iter().flat_map(ranges).collect())
}

/// The associated ranges of a subnet. moto returns no others.
fn ranges(subnet: &Element) -> Vec<ipnet::Ipv6Net> {
    let blocks = subnet.items("ipv6CidrBlockAssociationSet").iter();
    blocks.filter_map(|block| block.text_of("ipv6CidrBlock").parse().ok()).collect()
}
