//! Requests that moto does not support, that corrupt it, or that have another effect there than on AWS. The provider
//! must not send the rejected ones in a test against moto.

use super::{Answer, Done, Element, Instead, Repair, Reply, Request, async_trait};

#[derive(Debug, Default)]
pub(crate) struct Unsupported;

#[async_trait]
impl Repair for Unsupported {
    async fn instead(&self, call: &Request<'_>) -> Instead {
        let pool = !call.param("Ipv6Pool").is_empty() || !call.param("Ipv4IpamPoolId").is_empty();
        let host_bits = |text: &str| text.parse::<ipnet::IpNet>().is_ok_and(|net| net.trunc() != net);
        match call.name {
            // No gateway of a test on moto has an authorizer.
            "apigateway GetAuthorizers" => Ok(Some(Reply::json(200, &serde_json::json!({ "items": [] })))),
            "apigateway CreateAuthorizer" => Err("the proxy of moto does not list authorizers".into()),
            "AssociateVpcCidrBlock" if pool => Err("with a pool it corrupts moto; use recorded HTTP".into()),
            "CreateVpcEndpoint" if call.param("VpcEndpointType").is_empty() => {
                Err("without VpcEndpointType moto cannot delete the endpoint; always send the type".into())
            }
            "CreateRoute" if host_bits(call.param("DestinationCidrBlock")) => {
                Err("a destination with host bits breaks the table in moto; send the canonical form".into())
            }
            _ if call.service == "ec2" && call.param("DryRun") == "true" => Err("moto executes a dry run".into()),
            _ => Ok(None),
        }
    }

    /// AWS filters peering connections by the VPC on either side; moto supports no filters for them.
    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        if call.name != "DescribeVpcPeeringConnections" {
            return Ok(());
        }
        let Some(set) = answer.root()?.child_mut("vpcPeeringConnectionSet") else { return Ok(()) };
        for (name, values) in call.filters() {
            let side = match name {
                "requester-vpc-info.vpc-id" => "requesterVpcInfo",
                "accepter-vpc-info.vpc-id" => "accepterVpcInfo",
                other => return Err(format!("the proxy does not support the filter {other} of peering connections")),
            };
            let vpc = |peering: &Element| peering.child(side).map_or("", |side| side.text_of("vpcId")).to_owned();
            set.children.retain(|peering| values.contains(&vpc(peering).as_str()));
        }
        Ok(())
    }
}
