//! Operations on IPv6 ranges that AWS rejects, and moto accepts.

use crate::support::proxy::call::Call;
use crate::support::proxy::message::{Message, Reply};
use crate::support::proxy::upstream::Upstream;
use crate::support::proxy::xml::Element;

/// AWS does not disassociate a range of a VPC while a subnet has a range inside it.
pub(super) async fn of_subnets(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    let id = call.param("AssociationId");
    let vpcs = emulator.describe(message, "DescribeVpcs", &[]).await?;
    let of_vpc = |vpc: &Element| {
        let blocks = vpc.items("ipv6CidrBlockAssociationSet").to_vec();
        let block = blocks.into_iter().find(|block| block.text_of("associationId") == id)?;
        Some((vpc.text_of("vpcId").to_owned(), block.text_of("ipv6CidrBlock").to_owned()))
    };
    let Some((vpc, range)) = vpcs.items("vpcSet").iter().find_map(of_vpc) else { return Ok(None) };
    let filter = [("Filter.1.Name", "vpc-id"), ("Filter.1.Value.1", vpc.as_str())];
    let subnets = emulator.describe(message, "DescribeSubnets", &filter).await?;
    let whole: ipnet::Ipv6Net = range.parse().map_err(|error| format!("{range}: {error}"))?;
    let in_use = subnets.items("subnetSet").iter().flat_map(ranges).any(|part| whole.contains(&part));
    let text = format!("The vpc {vpc} currently has a subnet within CIDR block {range}");
    Ok(in_use.then(|| Reply::error(call, 400, "InvalidCidrBlock.InUse", &text)))
}

/// AWS does not disassociate the range of a subnet that assigns IPv6 addresses to new network interfaces. Its answer is
/// quoted in hashicorp/terraform-provider-aws#3562.
pub(super) async fn of_addressing(
    emulator: &Upstream,
    call: &Call,
    message: &Message,
) -> Result<Option<Reply>, String> {
    let id = call.param("AssociationId");
    let subnets = emulator.describe(message, "DescribeSubnets", &[]).await?;
    let in_use = subnets.items("subnetSet").iter().any(|subnet| {
        subnet.text_of("assignIpv6AddressOnCreation") == "true"
            && subnet.items("ipv6CidrBlockAssociationSet").iter().any(|block| block.text_of("associationId") == id)
    });
    let text = format!(
        "The subnet IPv6 CIDR block with association ID {id} may not be disassociated, because its subnet has \
         assign-ipv6-address-on-creation set to true."
    );
    Ok(in_use.then(|| Reply::error(call, 400, "InvalidCidrBlock.InUse", &text)))
}

/// AWS allows one range per subnet. Its error for a second one is unknown; this is its error for VPCs.
pub(super) async fn second_range(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    let subnet = call.param("SubnetId");
    let taken = !of_subnet(emulator, message, subnet).await?.is_empty();
    let text = format!("This subnet '{subnet}' has met its maximum number of allowed CIDRs: 1");
    Ok(taken.then(|| Reply::error(call, 400, "CidrLimitExceeded", &text)))
}

/// AWS cannot assign IPv6 addresses in a subnet without a range. Its error code is unknown.
pub(super) async fn addressing_without_range(
    emulator: &Upstream,
    call: &Call,
    message: &Message,
) -> Result<Option<Reply>, String> {
    if call.param("AssignIpv6AddressOnCreation.Value") != "true" {
        return Ok(None);
    }
    let subnet = call.param("SubnetId");
    let none = of_subnet(emulator, message, subnet).await?.is_empty();
    let text = format!("The subnet '{subnet}' has no IPv6 CIDR block");
    Ok(none.then(|| Reply::error(call, 400, "InvalidParameterValue", &text)))
}

async fn of_subnet(emulator: &Upstream, message: &Message, id: &str) -> Result<Vec<ipnet::Ipv6Net>, String> {
    let filter = [("Filter.1.Name", "subnet-id"), ("Filter.1.Value.1", id)];
    let found = emulator.describe(message, "DescribeSubnets", &filter).await?;
    Ok(found.items("subnetSet").iter().flat_map(ranges).collect())
}

/// The associated ranges of a subnet. moto returns no others.
fn ranges(subnet: &Element) -> Vec<ipnet::Ipv6Net> {
    let blocks = subnet.items("ipv6CidrBlockAssociationSet").iter();
    blocks.filter_map(|block| block.text_of("ipv6CidrBlock").parse().ok()).collect()
}
