//! Gateway endpoints and interface endpoints.

use std::collections::HashSet;
use std::sync::Mutex;

use super::with_params;
use crate::support::proxy::call::Call;
use crate::support::proxy::lock;
use crate::support::proxy::message::{Message, Reply};
use crate::support::proxy::upstream::Upstream;
use crate::support::proxy::xml::Element;

/// AWS's default policy of an endpoint.
const DEFAULT_POLICY: &str =
    r#"{"Version":"2008-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"}]}"#;

/// The name of an option of S3 interface endpoints in requests and, from a lower case letter on, in answers.
const INBOUND_ONLY: &str = "PrivateDnsOnlyForInboundResolverEndpoint";

/// The interface endpoints with the option [`INBOUND_ONLY`], which moto does not support.
#[derive(Debug, Default)]
pub(super) struct Endpoints(Mutex<HashSet<String>>);

impl Endpoints {
    pub(super) fn created(&self, call: &Call, reply: &Reply) -> Result<(), String> {
        let root = Element::parse(&reply.text())?;
        let id = root.child("vpcEndpoint").map_or("", |endpoint| endpoint.text_of("vpcEndpointId"));
        self.set(call, id);
        Ok(())
    }

    /// AWS deletes the network interfaces in the subnets that an endpoint leaves; moto does not.
    pub(super) async fn modified(&self, emulator: &Upstream, call: &Call, message: &Message) -> Result<(), String> {
        let id = call.param("VpcEndpointId");
        self.set(call, id);
        let left = call.list("RemoveSubnetId");
        if left.is_empty() {
            return Ok(());
        }
        let endpoint = emulator.describe(message, "DescribeVpcEndpoints", &[("VpcEndpointId.1", id)]).await?;
        let of_endpoint = interfaces_of(&endpoint);
        let interfaces = emulator.describe(message, "DescribeNetworkInterfaces", &[]).await?;
        for interface in interfaces.items("networkInterfaceSet") {
            let interface_id = interface.text_of("networkInterfaceId");
            if left.contains(&interface.text_of("subnetId")) && of_endpoint.iter().any(|(it, _)| it == interface_id) {
                let params = [("NetworkInterfaceId", interface_id)];
                emulator.describe(message, "DeleteNetworkInterface", &params).await?;
            }
        }
        Ok(())
    }

    fn set(&self, call: &Call, id: &str) {
        match call.param(&format!("DnsOptions.{INBOUND_ONLY}")) {
            "true" => lock(&self.0).insert(id.to_owned()),
            "false" => lock(&self.0).remove(id),
            _ => false,
        };
    }

    pub(super) fn described(&self, reply: Reply) -> Result<Reply, String> {
        let inbound_only = lock(&self.0).clone();
        if inbound_only.is_empty() {
            return Ok(reply);
        }
        let mut root = Element::parse(&reply.text())?;
        for endpoint in root.items_mut("vpcEndpointSet") {
            if inbound_only.contains(endpoint.text_of("vpcEndpointId")) {
                let mut options = Element::leaf("dnsOptions", "");
                options.set("privateDnsOnlyForInboundResolverEndpoint", "true");
                endpoint.children.push(options);
            }
        }
        Ok(reply.with_body(root.to_string()))
    }

    /// AWS does not delete a gateway endpoint while an interface endpoint of its service has the option; moto does not
    /// know the option. The answer is that of a real deletion.
    async fn needs(&self, emulator: &Upstream, message: &Message, gateway: &Element) -> Result<Option<String>, String> {
        let inbound_only = lock(&self.0).clone();
        if inbound_only.is_empty() {
            return Ok(None);
        }
        let filter = [("Filter.1.Name", "vpc-id"), ("Filter.1.Value.1", gateway.text_of("vpcId"))];
        let found = emulator.describe(message, "DescribeVpcEndpoints", &filter).await?;
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
pub(super) async fn interfaces(emulator: &Upstream, message: &Message, reply: Reply) -> Result<Reply, String> {
    let mut root = Element::parse(&reply.text())?;
    let of_endpoints = interfaces_of(&emulator.describe(message, "DescribeVpcEndpoints", &[]).await?);
    for interface in root.items_mut("networkInterfaceSet") {
        let id = interface.text_of("networkInterfaceId");
        let Some((_, endpoint)) = of_endpoints.iter().find(|(it, _)| it == id) else { continue };
        interface.set("interfaceType", "vpc_endpoint");
        interface.set("requesterManaged", "true");
        interface.set("description", &format!("VPC Endpoint Interface {endpoint}"));
    }
    Ok(reply.with_body(root.to_string()))
}

/// AWS does not delete a security group that an endpoint uses; moto does.
pub(super) async fn of_group(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    let group = call.param("GroupId");
    let found = emulator.describe(message, "DescribeVpcEndpoints", &[]).await?;
    let uses = |endpoint: &Element| {
        endpoint.text_of("state") != "deleted"
            && endpoint.items("groupSet").iter().any(|item| item.text_of("groupId") == group)
    };
    let in_use = found.items("vpcEndpointSet").iter().any(uses);
    let text = format!("resource {group} has a dependent object");
    Ok(in_use.then(|| Reply::error(call, 400, "DependencyViolation", &text)))
}

/// On AWS, `ResetPolicy` restores the default policy; moto ignores it.
pub(super) fn reset_policy(call: &Call, message: Message) -> Message {
    if call.param("ResetPolicy") != "true" {
        return message;
    }
    let mut params = call.params.clone();
    params.remove("ResetPolicy");
    params.insert("PolicyDocument".into(), DEFAULT_POLICY.into());
    with_params(message, &params)
}

/// On AWS, the routes to the service follow the tables of an endpoint. moto creates them only with the endpoint.
pub(super) async fn update_routes(emulator: &Upstream, call: &Call, message: &Message) -> Result<(), String> {
    let (id, added, removed) =
        (call.param("VpcEndpointId"), call.list("AddRouteTableId"), call.list("RemoveRouteTableId"));
    if added.is_empty() && removed.is_empty() {
        return Ok(());
    }
    let found = emulator.describe(message, "DescribeVpcEndpoints", &[("VpcEndpointId.1", id)]).await?;
    let service = found.items("vpcEndpointSet").first().map_or("", |it| it.text_of("serviceName")).to_owned();
    let lists = emulator.describe(message, "DescribePrefixLists", &[]).await?;
    let list = lists.items("prefixListSet").iter().find(|list| list.text_of("prefixListName") == service);
    let list = list.ok_or_else(|| format!("no prefix list for {service}"))?.text_of("prefixListId").to_owned();
    for table in added {
        let route = [("RouteTableId", table), ("DestinationPrefixListId", &list), ("GatewayId", id)];
        emulator.describe(message, "CreateRoute", &route).await?;
    }
    for table in removed {
        let route = [("RouteTableId", table), ("DestinationPrefixListId", &list)];
        emulator.describe(message, "DeleteRoute", &route).await?;
    }
    Ok(())
}

/// AWS deletes each existing endpoint with its routes, and lists the others as unsuccessful. moto fails the whole call
/// if the route tables of an endpoint have changed since its creation, and does not report missing endpoints.
pub(super) async fn delete(
    endpoints: &Endpoints,
    emulator: &Upstream,
    call: &Call,
    message: &Message,
) -> Result<Reply, String> {
    let mut unsuccessful = String::new();
    for id in call.list("VpcEndpointId") {
        let found = emulator.ec2(message, "DescribeVpcEndpoints", &[("VpcEndpointId.1", id)]).await?;
        let endpoint = found.ok().and_then(|found| found.items("vpcEndpointSet").first().cloned());
        let Some(endpoint) = endpoint.filter(|endpoint| endpoint.text_of("state") != "deleted") else {
            unsuccessful += &format!(
                "<item><resourceId>{id}</resourceId><error><code>InvalidVpcEndpoint.NotFound</code>\
                 <message>The Vpc Endpoint Id '{id}' does not exist</message></error></item>"
            );
            continue;
        };
        if let Some(text) = endpoints.needs(emulator, message, &endpoint).await? {
            unsuccessful += &format!(
                "<item><resourceId>{id}</resourceId><error><code>InvalidParameter</code><message>{text}</message></error>\
                 </item>"
            );
            continue;
        }
        detach(emulator, message, id, &endpoint).await?;
        emulator.describe(message, "DeleteVpcEndpoints", &[("VpcEndpointId.1", id)]).await?;
    }
    Ok(Reply::xml(
        200,
        &format!(
            "<DeleteVpcEndpointsResponse xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><requestId>proxy</requestId>\
             <unsuccessful>{unsuccessful}</unsuccessful></DeleteVpcEndpointsResponse>"
        ),
    ))
}

/// Removes the endpoint from its route tables, and its routes from them. moto can delete an endpoint without route
/// tables.
async fn detach(emulator: &Upstream, message: &Message, id: &str, endpoint: &Element) -> Result<(), String> {
    let tables: Vec<&str> = endpoint.items("routeTableIdSet").iter().map(table_id).collect();
    if tables.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = (1..=tables.len()).map(|number| format!("RemoveRouteTableId.{number}")).collect();
    let mut params = vec![("VpcEndpointId", id)];
    params.extend(names.iter().map(String::as_str).zip(tables.iter().copied()));
    emulator.describe(message, "ModifyVpcEndpoint", &params).await?;
    let filter = [("Filter.1.Name", "vpc-id"), ("Filter.1.Value.1", endpoint.text_of("vpcId"))];
    let found = emulator.describe(message, "DescribeRouteTables", &filter).await?;
    for table in found.items("routeTableSet") {
        for route in table.items("routeSet").iter().filter(|route| route.text_of("gatewayId") == id) {
            let list = route.text_of("destinationPrefixListId");
            let route = [("RouteTableId", table.text_of("routeTableId")), ("DestinationPrefixListId", list)];
            emulator.describe(message, "DeleteRoute", &route).await?;
        }
    }
    Ok(())
}

/// AWS writes `<item>rtb-1</item>`, moto may nest it.
fn table_id(item: &Element) -> &str {
    if item.children.is_empty() { &item.text } else { item.text_of("routeTableId") }
}
