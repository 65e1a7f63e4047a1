//! The network interfaces of the VPC links of API Gateway. On AWS, a link has one in each of its subnets, which blocks
//! the deletion of the subnet and of its security groups until the link is deleted. ministack has the links and moto
//! the subnets, and neither has these interfaces.

use std::sync::OnceLock;

use super::{Answer, Done, Element, Instead, Repair, Request, async_trait};
use crate::support::deployments;
use crate::support::emulator::Account;

/// What the description of such a network interface has before the ID of the link.
const DESCRIPTION: &str = "VPC link ";

#[derive(Debug, Default)]
pub(crate) struct LinkInterfaces {
    /// The account of ministack with the links. Most tests have none.
    gateways: OnceLock<Account>,
    /// Held while interfaces are created or deleted.
    changing: tokio::sync::Mutex<()>,
}

#[async_trait]
impl Repair for LinkInterfaces {
    async fn instead(&self, call: &Request<'_>) -> Instead {
        if !["DescribeNetworkInterfaces", "DeleteSubnet", "DeleteSecurityGroup"].contains(&call.name) {
            return Ok(None);
        }
        let Some(gateways) = self.gateways.get() else { return Ok(None) };
        let left = self.update(call, gateways.clone()).await?;
        let group = call.param("GroupId");
        let is_used = |interface: &Element| interface.items("groupSet").iter().any(|it| it.text_of("groupId") == group);
        let is_rejected = call.name == "DeleteSecurityGroup" && left.iter().any(is_used);
        call.reject_if(is_rejected, "DependencyViolation", &format!("resource {group} has a dependent object"))
    }

    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        if call.name != "DescribeNetworkInterfaces" || self.gateways.get().is_none() {
            return Ok(());
        }
        for shown in answer.root()?.items_mut("networkInterfaceSet") {
            if link_of(shown).is_some() {
                shown.set("interfaceType", "api_gateway_managed");
                shown.set("requesterManaged", "true");
            }
        }
        Ok(())
    }
}

impl LinkInterfaces {
    pub(in crate::support::proxy) fn set(&self, gateways: Account) {
        self.gateways.set(gateways).expect("a test sets it once");
    }

    /// Creates the interfaces of new links, deletes those of deleted links, and returns the others.
    async fn update(&self, call: &Request<'_>, gateways: Account) -> Result<Vec<Element>, String> {
        let _changing = self.changing.lock().await;
        let links = tokio::task::spawn_blocking(move || deployments::connected_links(&gateways));
        let links = links.await.map_err(|error| error.to_string())?;
        let mut left = Vec::new();
        for interface in all(call).await? {
            let id = link_of(&interface).unwrap_or_default();
            if links.iter().any(|link| link["vpcLinkId"] == id) {
                left.push(interface);
            } else {
                let id = interface.text_of("networkInterfaceId");
                call.describe("DeleteNetworkInterface", &[("NetworkInterfaceId", id)]).await?;
            }
        }
        let texts = |list: &serde_json::Value| -> Vec<String> {
            list.as_array().into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned)).collect()
        };
        for link in links {
            let id = link["vpcLinkId"].as_str().unwrap_or_default().to_owned();
            if left.iter().any(|interface| link_of(interface) == Some(&id)) {
                continue;
            }
            let groups: Vec<(String, String)> =
                (1..).map(|number| format!("SecurityGroupId.{number}")).zip(texts(&link["securityGroupIds"])).collect();
            for subnet in texts(&link["subnetIds"]) {
                let description = format!("{DESCRIPTION}{id}");
                let mut params = vec![("SubnetId", subnet.as_str()), ("Description", description.as_str())];
                params.extend(groups.iter().map(|(name, group)| (name.as_str(), group.as_str())));
                call.describe("CreateNetworkInterface", &params).await?;
            }
        }
        all(call).await
    }
}

/// The interfaces of links that exist in moto.
async fn all(call: &Request<'_>) -> Result<Vec<Element>, String> {
    let found = call.describe("DescribeNetworkInterfaces", &[]).await?;
    Ok(found.items("networkInterfaceSet").iter().filter(|it| link_of(it).is_some()).cloned().collect())
}

/// The ID of the link of an interface.
fn link_of(interface: &Element) -> Option<&str> {
    interface.text_of("description").strip_prefix(DESCRIPTION)
}
