//! Gateway endpoints.

use super::with_params;
use crate::support::proxy::call::Call;
use crate::support::proxy::message::{Message, Reply};
use crate::support::proxy::upstream::Upstream;
use crate::support::proxy::xml::Element;

/// AWS's default policy of an endpoint.
const DEFAULT_POLICY: &str =
    r#"{"Version":"2008-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"}]}"#;

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
    let id = call.param("VpcEndpointId");
    let found = emulator.describe(message, "DescribeVpcEndpoints", &[("VpcEndpointId.1", id)]).await?;
    let service = found.items("vpcEndpointSet").first().map_or("", |it| it.text_of("serviceName")).to_owned();
    let lists = emulator.describe(message, "DescribePrefixLists", &[]).await?;
    let list = lists.items("prefixListSet").iter().find(|list| list.text_of("prefixListName") == service);
    let list = list.ok_or_else(|| format!("no prefix list for {service}"))?.text_of("prefixListId").to_owned();
    for table in call.list("AddRouteTableId") {
        let route = [("RouteTableId", table), ("DestinationPrefixListId", &list), ("GatewayId", id)];
        emulator.describe(message, "CreateRoute", &route).await?;
    }
    for table in call.list("RemoveRouteTableId") {
        let route = [("RouteTableId", table), ("DestinationPrefixListId", &list)];
        emulator.describe(message, "DeleteRoute", &route).await?;
    }
    Ok(())
}

/// AWS deletes each existing endpoint with its routes, and lists the others as unsuccessful. moto fails the whole call
/// if the route tables of an endpoint have changed since its creation, and does not report missing endpoints.
pub(super) async fn delete(emulator: &Upstream, call: &Call, message: &Message) -> Result<Reply, String> {
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
