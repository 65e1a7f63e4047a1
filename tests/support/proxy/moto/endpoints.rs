//! Gateway endpoints, and the calls for endpoints of both kinds.

use super::endpoint_checks::INBOUND_ONLY;
use super::{Answer, Done, Element, Instead, Params, Repair, Request, async_trait, remove_filters, unsuccessful};

/// AWS's default policy of an endpoint.
const DEFAULT_POLICY: &str =
    r#"{"Version":"2008-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"}]}"#;

/// The filters of DescribeVpcEndpoints that moto does not support, or for which it has other values.
const FILTERS: [&str; 2] = ["vpc-endpoint-id", "vpc-endpoint-state"];

#[derive(Debug, Default)]
pub(crate) struct Endpoints;

#[async_trait]
impl Repair for Endpoints {
    async fn instead(&self, call: &Request<'_>) -> Instead {
        match call.name {
            "CreateVpcEndpoint" => of_other_kind(call),
            "DeleteVpcEndpoints" => delete(call).await,
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
            "DescribeVpcEndpoints" => remove_filters(call, params, |filter| FILTERS.contains(&filter)),
            _ => {}
        }
        Ok(())
    }

    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        match call.name {
            "ModifyVpcEndpoint" => update_routes(call).await,
            "DescribeVpcEndpoints" => {
                let Some(set) = answer.root()?.child_mut("vpcEndpointSet") else { return Ok(()) };
                for (name, values) in call.filters().into_iter().filter(|(name, _)| FILTERS.contains(name)) {
                    let member = if name == "vpc-endpoint-id" { "vpcEndpointId" } else { "state" };
                    set.children.retain(|endpoint| values.contains(&endpoint.text_of(member)));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// AWS rejects parameters of the other kind of endpoint, with the texts in hashicorp/terraform-provider-aws#45846,
/// nanlabs/terraform-aws-starter#18 and ansible-collections/amazon.aws#576.
fn of_other_kind(call: &Request<'_>) -> Instead {
    let is_gateway = call.param("VpcEndpointType") == "Gateway";
    let has = |prefix: &str| call.params.keys().any(|name| name.starts_with(prefix));
    let text = match is_gateway {
        true if has(&format!("DnsOptions.{INBOUND_ONLY}")) => {
            format!("DnsOptions {INBOUND_ONLY} is applicable only to Interface VPC Endpoints.")
        }
        true if has("SubnetId.") => {
            "Subnet IDs are only supported for Interface and GatewayLoadBalancer type VPC Endpoints.".to_owned()
        }
        false if has("RouteTableId.") => "Route table IDs are only supported for Gateway type VPC Endpoint.".to_owned(),
        _ => return Ok(None),
    };
    Ok(Some(call.rejected("InvalidParameter", &text)))
}

/// AWS does not delete a gateway endpoint while an interface endpoint of its service has the option; moto does not know
/// the option. The answer is that of a real deletion.
async fn needs(call: &Request<'_>, gateway: &Element) -> Result<Option<String>, String> {
    if gateway.text_of("vpcEndpointType") != "Gateway" {
        return Ok(None);
    }
    let found = call.describe("DescribeVpcEndpoints", &[("vpc-id", gateway.text_of("vpcId"))]).await?;
    let needs_it = |it: &&Element| {
        call.repairs.interface_endpoints.is_inbound_only(it.text_of("vpcEndpointId"))
            && it.text_of("serviceName") == gateway.text_of("serviceName")
            && it.text_of("state") != "deleted"
    };
    let other = found.items("vpcEndpointSet").iter().find(needs_it).map(|it| it.text_of("vpcEndpointId"));
    Ok(other.map(|other| {
        format!(
            "Gateway endpoint cannot be deleted while Interface endpoint {other} for the service has {INBOUND_ONLY} set to \
             true."
        )
    }))
}

/// AWS deletes each existing endpoint with its routes, and lists the others as unsuccessful. moto fails the whole
/// call if the route tables of an endpoint have changed since its creation, and does not report missing endpoints.
async fn delete(call: &Request<'_>) -> Instead {
    let mut failed = String::new();
    for id in call.list("VpcEndpointId") {
        let found = call.ec2("DescribeVpcEndpoints", &[("VpcEndpointId.1", id)]).await?;
        let endpoint = found.ok().and_then(|found| found.items("vpcEndpointSet").first().cloned());
        let Some(endpoint) = endpoint.filter(|endpoint| endpoint.text_of("state") != "deleted") else {
            let text = format!("The Vpc Endpoint Id '{id}' does not exist");
            failed += &unsuccessful(id, "InvalidVpcEndpoint.NotFound", &text);
            continue;
        };
        if let Some(text) = needs(call, &endpoint).await? {
            failed += &unsuccessful(id, "InvalidParameter", &text);
            continue;
        }
        detach(call, id, &endpoint).await?;
        call.describe("DeleteVpcEndpoints", &[("VpcEndpointId.1", id)]).await?;
        call.repairs.interface_endpoints.deleted(call, id).await?;
    }
    Ok(Some(call.answer(&format!("<unsuccessful>{failed}</unsuccessful>"))))
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
