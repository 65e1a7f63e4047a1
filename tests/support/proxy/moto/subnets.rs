//! Subnets, and the attributes of subnets and VPCs.

use super::{Done, Instead, Repair, Request, async_trait};

#[derive(Debug, Default)]
pub(crate) struct Subnets;

#[async_trait]
impl Repair for Subnets {
    async fn instead(&self, call: &Request<'_>) -> Instead {
        match call.name {
            "ModifySubnetAttribute" => two_attributes(call, "SubnetId"),
            "ModifyVpcAttribute" => two_attributes(call, "VpcId"),
            "DeleteSubnet" => {
                disassociate_tables(call).await?;
                disassociate_acl(call).await?;
                Ok(None)
            }
            _ => Ok(None),
        }
    }
}

/// AWS accepts one attribute per call; moto accepts several.
fn two_attributes(call: &Request<'_>, identity: &str) -> Instead {
    let is_attribute = |name: &&String| ![identity, "Action", "Version"].contains(&name.as_str());
    let text = "Only one attribute can be modified at a time";
    call.reject_if(call.params.keys().filter(is_attribute).count() > 1, "InvalidParameterCombination", text)
}

/// On AWS, the association with a route table is deleted with the subnet. In moto it remains, and blocks the deletion
/// of the table.
async fn disassociate_tables(call: &Request<'_>) -> Done {
    let subnet = call.param("SubnetId");
    let filter = [("association.subnet-id", subnet)];
    let tables = call.describe("DescribeRouteTables", &filter).await?;
    for association in tables.items("routeTableSet").iter().flat_map(|table| table.items("associationSet")) {
        if association.text_of("subnetId") == subnet {
            let id = association.text_of("routeTableAssociationId");
            // An error is a race with the provider's own disassociation.
            let _lost_race = call.ec2("DisassociateRouteTable", &[("AssociationId", id)]).await?;
        }
    }
    Ok(())
}

/// On AWS, the association with a network ACL is deleted with the subnet. In moto it remains, and blocks the deletion
/// of the ACL.
async fn disassociate_acl(call: &Request<'_>) -> Done {
    let subnet = call.param("SubnetId");
    let of_subnet = [("association.subnet-id", subnet)];
    let acls = call.describe("DescribeNetworkAcls", &of_subnet).await?;
    for acl in acls.items("networkAclSet").iter().filter(|acl| acl.text_of("default") != "true") {
        let vpc = acl.text_of("vpcId");
        let default = [("vpc-id", vpc), ("default", "true")];
        let default = call.describe("DescribeNetworkAcls", &default).await?;
        let default = default.items("networkAclSet").first().map(|acl| acl.text_of("networkAclId").to_owned());
        for association in acl.items("associationSet").iter().filter(|it| it.text_of("subnetId") == subnet) {
            let id = association.text_of("networkAclAssociationId");
            let to_default =
                [("AssociationId", id), ("NetworkAclId", default.as_deref().ok_or("a VPC has a default ACL")?)];
            // An error is a race with another change of the association.
            let _lost_race = call.ec2("ReplaceNetworkAclAssociation", &to_default).await?;
        }
    }
    Ok(())
}
