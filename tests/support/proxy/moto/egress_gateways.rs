//! Egress-only internet gateways: filters, which moto ignores, and the limit of one for each VPC.

use super::{Answer, Done, Instead, Repair, Request, async_trait};

#[derive(Debug, Default)]
pub(crate) struct EgressGateways;

/// The list in an answer.
const SET: &str = "egressOnlyInternetGatewaySet";

#[async_trait]
impl Repair for EgressGateways {
    async fn instead(&self, call: &Request<'_>) -> Instead {
        match call.name {
            "CreateEgressOnlyInternetGateway" => second(call).await,
            "DescribeEgressOnlyInternetGateways" => missing(call).await,
            _ => Ok(None),
        }
    }

    /// AWS has filters by tag only.
    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        let filters = call.filters();
        if call.name != "DescribeEgressOnlyInternetGateways" || filters.is_empty() {
            return Ok(());
        }
        let mut wanted = Vec::new();
        for (name, values) in filters {
            let key = name.strip_prefix("tag:").ok_or_else(|| format!("{} has no filter {name}", call.name))?;
            wanted.push((key.to_owned(), values.into_iter().map(str::to_owned).collect::<Vec<_>>()));
        }
        let root = answer.root()?;
        let Some(set) = root.child_mut(SET) else { return Ok(()) };
        set.children.retain(|gateway| {
            wanted.iter().all(|(key, values)| {
                let mut tags = gateway.items("tagSet").iter();
                tags.any(|tag| tag.text_of("key") == key && values.iter().any(|value| tag.text_of("value") == value))
            })
        });
        Ok(())
    }
}

/// A VPC has at most one. The code of AWS is unknown; this is the one for the quota of a Region.
async fn second(call: &Request<'_>) -> Instead {
    let vpc = call.param("VpcId");
    let all = call.describe("DescribeEgressOnlyInternetGateways", &[]).await?;
    let mut attachments = all.items(SET).iter().flat_map(|gateway| gateway.items("attachmentSet"));
    let taken = attachments.any(|attachment| attachment.text_of("vpcId") == vpc);
    let text = "The maximum number of egress-only internet gateways has been reached.";
    call.reject_if(taken, "EgressOnlyInternetGatewayLimitExceeded", text)
}

/// AWS reports a missing ID in a list of IDs; moto leaves it out.
async fn missing(call: &Request<'_>) -> Instead {
    let id = call.param("EgressOnlyInternetGatewayId.1");
    if id.is_empty() {
        return Ok(None);
    }
    let all = call.describe("DescribeEgressOnlyInternetGateways", &[]).await?;
    let exists = all.items(SET).iter().any(|gateway| gateway.text_of("egressOnlyInternetGatewayId") == id);
    let text = format!("The gateway ID '{id}' does not exist");
    call.reject_if(!exists, "InvalidGatewayID.NotFound", &text)
}
