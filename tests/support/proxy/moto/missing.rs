//! Errors for missing objects.

use super::Request;
use crate::support::proxy::message::Reply;

/// AWS names the missing object; moto fails with an HTML page, or names a route table.
pub(super) async fn object(call: &Request<'_>, reply: Reply) -> Result<Reply, String> {
    let page = reply.status == 500 && reply.error_code().is_none();
    let (code, text) = match call.name {
        "DeleteNatGateway" if page => {
            ("NatGatewayNotFound", format!("The Nat Gateway {} was not found", call.param("NatGatewayId")))
        }
        "ReplaceNetworkAclEntry" | "DeleteNetworkAclEntry" if page => {
            let acl = call.param("NetworkAclId");
            match call.ec2("DescribeNetworkAcls", &[("NetworkAclId.1", acl)]).await? {
                Ok(_) => ("InvalidNetworkAclEntry.NotFound", "The network acl entry does not exist".to_owned()),
                Err(_) => ("InvalidNetworkAclID.NotFound", format!("The networkAcl ID '{acl}' does not exist")),
            }
        }
        "ReplaceNetworkAclAssociation" if page => {
            let id = call.param("AssociationId");
            ("InvalidAssociationID.NotFound", format!("The association ID '{id}' does not exist"))
        }
        "DescribeNetworkAcls" if reply.error_code().as_deref() == Some("InvalidRouteTableID.NotFound") => {
            ("InvalidNetworkAclID.NotFound", "The networkAcl ID does not exist".to_owned())
        }
        _ => return Ok(reply),
    };
    Ok(call.rejected(code, &text))
}
