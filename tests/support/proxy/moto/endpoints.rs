//! Gateway endpoints and interface endpoints.

use std::collections::HashSet;
use std::sync::Mutex;

use super::{Answer, Done, Element, Instead, Params, Repair, Request, async_trait, lock, remove_filters, unsuccessful};

/// AWS's default policy of an endpoint.
const DEFAULT_POLICY: &str =
    r#"{"Version":"2008-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"}]}"#;

/// The name of an option of S3 interface endpoints in requests and, from a lower case letter on, in answers.
const INBOUND_ONLY: &str = "PrivateDnsOnlyForInboundResolverEndpoint";

/// The interface endpoints with the option [`INBOUND_ONLY`], which moto does not support.
#[derive(Debug, Default)]
pub(crate) struct Endpoints(Mutex<HashSet<String>>);

#[async_trait]
impl Repair for Endpoints {
    async fn instead(&self, call: &Request<'_>) -> Instead {
        match call.name {
            "DeleteSecurityGroup" => of_group(call).await,
            "DeleteVpcEndpoints" => self.delete(call).await,
            _ => Ok(None),
        }
    }

    fn change(&self, call: &Request<'_>, params: &mut Params) -> Done {
        match call.name {
            // On AWS, `ResetPolicy` restores the default policy; moto ignores it.
            "ModifyVpcEndpoint" if params.get("ResetPolicy").is_some_and(|it| it == "true") => {
                params.remove("ResetPolicy");
                params.insert("PolicyDocument".into(), DEFAULT_POLICY.into());
            }
            // moto fails on this filter, which `make acceptance` uses. The answer may contain other endpoints.
            "DescribeVpcEndpoints" => remove_filters(call, params, |filter| filter == "vpc-endpoint-id"),
            _ => {}
        }
        Ok(())
    }

    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        match call.name {
            "CreateVpcEndpoint" => {
                let endpoint = answer.root()?.child("vpcEndpoint");
                self.set(call, endpoint.map_or("", |it| it.text_of("vpcEndpointId")));
                Ok(())
            }
            "ModifyVpcEndpoint" => {
                self.modified(call).await?;
                update_routes(call).await
            }
            "DescribeVpcEndpoints" => self.described(answer),
            "DescribeNetworkInterfaces" => interfaces(call, answer).await,
            _ => Ok(()),
        }
    }
}

impl Endpoints {
    /// AWS deletes the network interfaces in the subnets that an endpoint leaves; moto does not.
    async fn modified(&self, call: &Request<'_>) -> Done {
        let id = call.param("VpcEndpointId");
        self.set(call, id);
        let left = call.list("RemoveSubnetId");
        if left.is_empty() {
            return Ok(());
        }
        let endpoint = call.describe("DescribeVpcEndpoints", &[("VpcEndpointId.1", id)]).await?;
        let of_endpoint = interfaces_of(&endpoint);
        let interfaces = call.describe("DescribeNetworkInterfaces", &[]).await?;
        for interface in interfaces.items("networkInterfaceSet") {
            let interface_id = interface.text_of("networkInterfaceId");
            if left.contains(&interface.text_of("subnetId")) && of_endpoint.iter().any(|(it, _)| it == interface_id) {
                let params = [("NetworkInterfaceId", interface_id)];
                call.describe("DeleteNetworkInterface", &params).await?;
            }
        }
        Ok(())
    }

    fn set(&self, call: &Request<'_>, id: &str) {
        match call.param(&format!("DnsOptions.{INBOUND_ONLY}")) {
            "true" => lock(&self.0).insert(id.to_owned()),
            "false" => lock(&self.0).remove(id),
            _ => false,
        };
    }

    fn described(&self, answer: &mut Answer) -> Done {
        let inbound_only = lock(&self.0).clone();
        if inbound_only.is_empty() {
            return Ok(());
        }
        let root = answer.root()?;
        for endpoint in root.items_mut("vpcEndpointSet") {
            if inbound_only.contains(endpoint.text_of("vpcEndpointId")) {
                let mut options = Element::leaf("dnsOptions", "");
                options.set("privateDnsOnlyForInboundResolverEndpoint", "true");
                endpoint.children.push(options);
            }
        }
        Ok(())
    }

    /// AWS does not delete a gateway endpoint while an interface endpoint of its service has the option; moto does not
    /// know the option. The answer is that of a real deletion.
    async fn needs(&self, call: &Request<'_>, gateway: &Element) -> Result<Option<String>, String> {
        let inbound_only = lock(&self.0).clone();
        if inbound_only.is_empty() {
            return Ok(None);
        }
        let found = call.describe("DescribeVpcEndpoints", &[("vpc-id", gateway.text_of("vpcId"))]).await?;
        let needs_it = |it: &&Element| {
            inbound_only.contains(it.text_of("vpcEndpointId"))
                && it.text_of("vpcEndpointId") != gateway.text_of("vpcEndpointId")
                && it.text_of("serviceName") == gateway.text_of("serviceName")
                && it.text_of("state") != "deleted"
        };
        let other = found.items("vpcEndpointSet").iter().find(needs_it).map(|it| it.text_of("vpcEndpointId"));
        Ok(other.map(|other| {
            format!(
                "Gateway endpoint cannot be deleted while Interface endpoint {other} for the service has {INBOUND_ONLY} set \
                 to true."
            )
        }))
    }

    /// AWS deletes each existing endpoint with its routes, and lists the others as unsuccessful. moto fails the whole
    /// call if the route tables of an endpoint have changed since its creation, and does not report missing endpoints.
    async fn delete(&self, call: &Request<'_>) -> Instead {
        let mut failed = String::new();
        for id in call.list("VpcEndpointId") {
            let found = call.ec2("DescribeVpcEndpoints", &[("VpcEndpointId.1", id)]).await?;
            let endpoint = found.ok().and_then(|found| found.items("vpcEndpointSet").first().cloned());
            let Some(endpoint) = endpoint.filter(|endpoint| endpoint.text_of("state") != "deleted") else {
                let text = format!("The Vpc Endpoint Id '{id}' does not exist");
                failed += &unsuccessful(id, "InvalidVpcEndpoint.NotFound", &text);
                continue;
            };
            if let Some(text) = self.needs(call, &endpoint).await? {
                failed += &unsuccessful(id, "InvalidParameter", &text);
                continue;
            }
            detach(call, id, &endpoint).await?;
            call.describe("DeleteVpcEndpoints", &[("VpcEndpointId.1", id)]).await?;
        }
        Ok(Some(call.answer(&format!("<unsuccessful>{failed}</unsuccessful>"))))
    }
}

/// The network interfaces of endpoints, each with the id of its endpoint.
fn interfaces_of(described: &Element) -> Vec<(String, String)> {
    let endpoints = described.items("vpcEndpointSet").iter();
    let pairs = endpoints.flat_map(|endpoint| {
        let id = endpoint.text_of("vpcEndpointId");
        endpoint.items("networkInterfaceIdSet").iter().map(|item| (item.text.clone(), id.to_owned()))
    });
    pairs.collect()
}

/// On AWS, the network interface of an endpoint has its own type and description. In moto it looks like any other
/// interface.
async fn interfaces(call: &Request<'_>, answer: &mut Answer) -> Done {
    let root = answer.root()?;
    let of_endpoints = interfaces_of(&call.describe("DescribeVpcEndpoints", &[]).await?);
    for interface in root.items_mut("networkInterfaceSet") {
        let id = interface.text_of("networkInterfaceId");
        let Some((_, endpoint)) = of_endpoints.iter().find(|(it, _)| it == id) else { continue };
        interface.set("interfaceType", "vpc_endpoint");
        interface.set("requesterManaged", "true");
        interface.set("description", &format!("VPC Endpoint Interface {endpoint}"));
    }
    Ok(())
}

/// AWS does not delete a security group that an endpoint uses; moto does.
async fn of_group(call: &Request<'_>) -> Instead {
    let group = call.param("GroupId");
    let found = call.describe("DescribeVpcEndpoints", &[]).await?;
    let uses = |endpoint: &Element| {
        endpoint.text_of("state") != "deleted"
            && endpoint.items("groupSet").iter().any(|item| item.text_of("groupId") == group)
    };
    let in_use = found.items("vpcEndpointSet").iter().any(uses);
    let text = format!("resource {group} has a dependent object");
    call.reject_if(in_use, "DependencyViolation", &text)
}

/// On AWS, the routes to the service follow the tables of an endpoint. moto creates them only with the endpoint.
async fn update_routes(call: &Request<'_>) -> Done {
    let (id, added, removed) =
        (call.param("VpcEndpointId"), call.list("AddRouteTableId"), call.list("RemoveRouteTableId"));
    if added.is_empty() && removed.is_empty() {
        return Ok(());
    }
    let found = call.describe("DescribeVpcEndpoints", &[("VpcEndpointId.1", id)]).await?;
    let service = found.items("vpcEndpointSet").first().map_or("", |it| it.text_of("serviceName")).to_owned();
    let lists = call.describe("DescribePrefixLists", &[]).await?;
    let list = lists.items("prefixListSet").iter().find(|list| list.text_of("prefixListName") == service);
    let list = list.ok_or_else(|| format!("no prefix list for {service}"))?.text_of("prefixListId").to_owned();
    for table in added {
        let route = [("RouteTableId", table), ("DestinationPrefixListId", &list), ("GatewayId", id)];
        call.describe("CreateRoute", &route).await?;
    }
    for table in removed {
        let route = [("RouteTableId", table), ("DestinationPrefixListId", &list)];
        call.describe("DeleteRoute", &route).await?;
    }
    Ok(())
}

/// Removes the endpoint from its route tables, and its routes from them. moto can delete an endpoint without route
/// tables.
async fn detach(call: &Request<'_>, id: &str, endpoint: &Element) -> Done {
    let tables: Vec<&str> = endpoint.items("routeTableIdSet").iter().map(table_id).collect();
    if tables.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = (1..=tables.len()).map(|number| format!("RemoveRouteTableId.{number}")).collect();
    let mut params = vec![("VpcEndpointId", id)];
    params.extend(names.iter().map(String::as_str).zip(tables.iter().copied()));
    call.describe("ModifyVpcEndpoint", &params).await?;
    let found = call.describe("DescribeRouteTables", &[("vpc-id", endpoint.text_of("vpcId"))]).await?;
    for table in found.items("routeTableSet") {
        for route in table.items("routeSet").iter().filter(|route| route.text_of("gatewayId") == id) {
            let list = route.text_of("destinationPrefixListId");
            let route = [("RouteTableId", table.text_of("routeTableId")), ("DestinationPrefixListId", list)];
            call.describe("DeleteRoute", &route).await?;
        }
    }
    Ok(())
}

/// AWS writes `<item>rtb-1</item>`, moto may nest it.
fn table_id(item: &Element) -> &str {
    if item.children.is_empty() { &item.text } else { item.text_of("routeTableId") }
}
