//! The network interfaces of interface endpoints. On AWS, each has the groups of its endpoint, and exists for some time
//! after the endpoint has left the subnet or was deleted. moto creates them only with the endpoint, in the default
//! group, and never changes them.

use std::collections::HashMap;
use std::sync::Mutex;

use super::{Answer, Done, Element, Instead, Repair, Request, async_trait, ipv6, lock};
use crate::support::proxy::lasts::{Begun, Lasts};

/// What the description of such a network interface has before the ID of the endpoint.
const DESCRIPTION: &str = "VPC Endpoint Interface ";

/// The network interfaces that AWS is about to delete.
#[derive(Debug)]
pub(crate) struct EndpointInterfaces(Mutex<State>);

#[derive(Debug)]
struct State {
    lasts: Lasts,
    /// Whether this proxy has created or changed an interface endpoint. Most tests have none.
    is_used: bool,
    /// By the ID of the interface. Answers that list it and deletions that it blocks count.
    left: HashMap<String, Begun>,
}

impl Default for EndpointInterfaces {
    fn default() -> Self {
        // AWS never deletes one at once.
        Self(Mutex::new(State { lasts: Lasts::Answers(1), is_used: false, left: HashMap::new() }))
    }
}

/// A network interface of an endpoint, also while AWS is about to delete it.
#[derive(Clone, Debug)]
pub(super) struct Interface {
    pub(super) id: String,
    pub(super) endpoint: String,
    pub(super) subnet: String,
    pub(super) zone: String,
    groups: Vec<String>,
    /// Whether the endpoint is deleted, or has left the subnet.
    has_left: bool,
}

#[async_trait]
impl Repair for EndpointInterfaces {
    async fn instead(&self, call: &Request<'_>) -> Instead {
        if !["DescribeNetworkInterfaces", "DeleteSubnet", "DeleteSecurityGroup"].contains(&call.name) {
            return Ok(None);
        }
        let is_used = lock(&self.0).is_used;
        if is_used {
            self.update(call).await?;
            self.delete_expired(call).await?;
        }
        match call.name {
            "DeleteSubnet" if is_used => {
                let subnet = call.param("SubnetId");
                let blocking = all(call).await?.into_iter().filter(|it| it.subnet == subnet);
                self.count(blocking.map(|it| it.id));
                Ok(None)
            }
            "DeleteSecurityGroup" => self.of_group(call).await,
            _ => Ok(None),
        }
    }

    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        if call.name != "DescribeNetworkInterfaces" {
            return Ok(());
        }
        let of_endpoints = all(call).await?;
        for shown in answer.root()?.items_mut("networkInterfaceSet") {
            let id = shown.text_of("networkInterfaceId").to_owned();
            if let Some(interface) = of_endpoints.iter().find(|it| it.id == id) {
                complete(shown, interface);
                if call.repairs.interface_endpoints.has_ipv6(&interface.endpoint)
                    && let Some(block) = ipv6::of_subnet(call, &interface.subnet).await?.first()
                {
                    // AWS keeps the first four addresses of a block.
                    let address = std::net::Ipv6Addr::from_bits(block.network().to_bits() + 4);
                    set_ipv6(shown, &address.to_string());
                }
                self.count([id]);
            }
        }
        Ok(())
    }
}

impl EndpointInterfaces {
    /// How long a network interface exists after its endpoint has left the subnet.
    pub(in crate::support::proxy) fn set_lasts(&self, lasts: Lasts) {
        lock(&self.0).lasts = lasts;
    }

    /// Begins the deletion of the network interfaces in subnets that their endpoint has left. It may have done so in a
    /// call of a test to moto itself.
    pub(super) async fn update(&self, call: &Request<'_>) -> Done {
        let all = all(call).await?;
        let mut state = lock(&self.0);
        state.is_used = true;
        for interface in all.into_iter().filter(|it| it.has_left) {
            state.left.entry(interface.id).or_insert_with(Begun::now);
        }
        Ok(())
    }

    /// The network interfaces that belong to endpoints, without those that AWS is about to delete.
    pub(super) async fn present(&self, call: &Request<'_>) -> Result<Vec<Interface>, String> {
        let all = all(call).await?;
        let state = lock(&self.0);
        Ok(all.into_iter().filter(|it| !state.left.contains_key(&it.id)).collect())
    }

    /// Creates the network interfaces of an endpoint in these subnets.
    pub(super) async fn create(&self, call: &Request<'_>, endpoint: &str, subnets: &[&str], groups: &[&str]) -> Done {
        lock(&self.0).is_used = true;
        let description = format!("{DESCRIPTION}{endpoint}");
        for subnet in subnets {
            let names = names(groups);
            let mut params = vec![("SubnetId", *subnet), ("Description", &description)];
            params.extend(names.iter().map(String::as_str).zip(groups.iter().copied()));
            call.describe("CreateNetworkInterface", &params).await?;
        }
        Ok(())
    }

    /// Moves those of an endpoint into these groups.
    pub(super) async fn set_groups(&self, call: &Request<'_>, endpoint: &str, groups: &[&str]) -> Done {
        for interface in self.present(call).await?.iter().filter(|it| it.endpoint == endpoint) {
            let names = names(groups);
            let mut params = vec![("NetworkInterfaceId", interface.id.as_str())];
            params.extend(names.iter().map(String::as_str).zip(groups.iter().copied()));
            call.describe("ModifyNetworkInterfaceAttribute", &params).await?;
        }
        Ok(())
    }

    async fn delete_expired(&self, call: &Request<'_>) -> Done {
        let expired: Vec<String> = {
            let mut state = lock(&self.0);
            let lasts = state.lasts;
            state.left.extract_if(|_, begun| !begun.goes_on(lasts)).map(|(id, _)| id).collect()
        };
        for id in expired {
            // moto has deleted it if another call has deleted the endpoint in moto.
            let _is_deleted = call.ec2("DeleteNetworkInterface", &[("NetworkInterfaceId", &id)]).await?;
        }
        Ok(())
    }

    fn count(&self, ids: impl IntoIterator<Item = String>) {
        let mut state = lock(&self.0);
        for id in ids {
            state.left.entry(id).and_modify(Begun::shown);
        }
    }

    /// AWS does not delete a security group that an endpoint or a network interface of one uses; moto does.
    async fn of_group(&self, call: &Request<'_>) -> Instead {
        let group = call.param("GroupId");
        let interfaces = all(call).await?.into_iter().filter(|it| it.groups.iter().any(|it| it == group));
        let interfaces: Vec<String> = interfaces.map(|it| it.id).collect();
        let found = call.describe("DescribeVpcEndpoints", &[]).await?;
        let uses = |endpoint: &Element| {
            endpoint.text_of("state") != "deleted"
                && endpoint.items("groupSet").iter().any(|item| item.text_of("groupId") == group)
        };
        let in_use = !interfaces.is_empty() || found.items("vpcEndpointSet").iter().any(uses);
        self.count(interfaces);
        let text = format!("resource {group} has a dependent object");
        call.reject_if(in_use, "DependencyViolation", &text)
    }
}

/// The names of the parameters for these groups.
fn names(groups: &[&str]) -> Vec<String> {
    (1..=groups.len()).map(|number| format!("SecurityGroupId.{number}")).collect()
}

/// The network interfaces of endpoints that exist in moto. Those of an endpoint that a test has created in moto, not
/// through the proxy, have no description.
async fn all(call: &Request<'_>) -> Result<Vec<Interface>, String> {
    let endpoints = call.describe("DescribeVpcEndpoints", &[]).await?;
    let endpoints = endpoints.items("vpcEndpointSet");
    let found = call.describe("DescribeNetworkInterfaces", &[]).await?;
    let of_endpoint = |interface: &Element| {
        let (id, subnet) = (interface.text_of("networkInterfaceId"), interface.text_of("subnetId"));
        let described = interface.text_of("description").strip_prefix(DESCRIPTION);
        let owner = endpoints.iter().find(|it| match described {
            Some(endpoint) => it.text_of("vpcEndpointId") == endpoint,
            None => it.items("networkInterfaceIdSet").iter().any(|item| item.text == id),
        })?;
        let is_in_subnet = owner.items("subnetIdSet").iter().any(|it| it.text == subnet);
        Some(Interface {
            id: id.to_owned(),
            endpoint: owner.text_of("vpcEndpointId").to_owned(),
            subnet: subnet.to_owned(),
            zone: interface.text_of("availabilityZone").to_owned(),
            groups: interface.items("groupSet").iter().map(|it| it.text_of("groupId").to_owned()).collect(),
            has_left: owner.text_of("state") == "deleted" || !is_in_subnet,
        })
    };
    Ok(found.items("networkInterfaceSet").iter().filter_map(of_endpoint).collect())
}

/// Sets the only IPv6 address of a network interface.
fn set_ipv6(shown: &mut Element, address: &str) {
    let (mut all, mut item) = (Element::leaf("ipv6AddressesSet", ""), Element::leaf("item", ""));
    item.set("ipv6Address", address);
    all.children.push(item);
    shown.children.retain(|member| member.name != "ipv6AddressesSet");
    shown.children.push(all);
}

/// Sets the members that distinguish such a network interface on AWS.
fn complete(shown: &mut Element, interface: &Interface) {
    shown.set("interfaceType", "vpc_endpoint");
    shown.set("requesterManaged", "true");
    shown.set("status", "in-use");
    shown.set("description", &format!("{DESCRIPTION}{}", interface.endpoint));
    shown.children.retain(|member| member.name != "attachment");
    let mut attachment = Element::leaf("attachment", "");
    for (name, value) in [
        ("attachmentId", interface.id.replace("eni-", "ela-attach-").as_str()),
        ("instanceOwnerId", "amazon-aws"),
        ("deviceIndex", "1"),
        ("status", "attached"),
        ("deleteOnTermination", "false"),
    ] {
        attachment.set(name, value);
    }
    shown.children.push(attachment);
}
