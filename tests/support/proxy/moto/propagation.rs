//! Route propagation from virtual private gateways. moto supports the gateways, but not propagation.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use super::{Answer, Done, Element, Instead, Repair, Reply, Request, async_trait, lock};

/// The propagating gateways, by route table.
#[derive(Debug, Default)]
pub(crate) struct Propagation(Mutex<HashMap<String, BTreeSet<String>>>);

#[async_trait]
impl Repair for Propagation {
    async fn instead(&self, call: &Request<'_>) -> Instead {
        match call.name {
            "EnableVgwRoutePropagation" => self.enable(call).await,
            "DisableVgwRoutePropagation" => Ok(Some(self.disable(call))),
            _ => Ok(None),
        }
    }

    /// AWS returns the propagating gateways of each table, also if there are none.
    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        if call.name != "DescribeRouteTables" {
            return Ok(());
        }
        for table in answer.root()?.items_mut("routeTableSet") {
            let gateways = lock(&self.0).get(table.text_of("routeTableId")).cloned().unwrap_or_default();
            let item = |gateway: &String| {
                let mut item = Element::leaf("item", "");
                item.set("gatewayId", gateway);
                item
            };
            table.set("propagatingVgwSet", "");
            if let Some(set) = table.child_mut("propagatingVgwSet") {
                set.children = gateways.iter().map(item).collect();
            }
        }
        Ok(())
    }
}

impl Propagation {
    /// AWS requires that the gateway is attached to the VPC of the table. Propagation may be enabled twice.
    async fn enable(&self, call: &Request<'_>) -> Instead {
        let (table, gateway) = (call.param("RouteTableId"), call.param("GatewayId"));
        let tables = call.ec2("DescribeRouteTables", &[("RouteTableId.1", table)]).await?;
        let tables = match tables {
            Ok(tables) => tables,
            Err(code) => return Ok(Some(call.rejected(&code, &format!("{table} does not exist")))),
        };
        let gateways = call.describe("DescribeVpnGateways", &[("VpnGatewayId.1", gateway)]).await?;
        if gateways.items("vpnGatewaySet").is_empty() {
            let text = format!("The vpnGateway ID '{gateway}' does not exist");
            return Ok(Some(call.rejected("InvalidVpnGatewayID.NotFound", &text)));
        }
        let vpc = tables.items("routeTableSet").first().map_or("", |table| table.text_of("vpcId"));
        let attachments = gateways.items("vpnGatewaySet").iter().flat_map(|gateway| gateway.items("attachments"));
        if !attachments.into_iter().any(|it| it.text_of("vpcId") == vpc && it.text_of("state") == "attached") {
            let text = format!("resource {gateway} is not attached to network {vpc}");
            return Ok(Some(call.rejected("Gateway.NotAttached", &text)));
        }
        lock(&self.0).entry(table.to_owned()).or_default().insert(gateway.to_owned());
        Ok(Some(call.done()))
    }

    fn disable(&self, call: &Request<'_>) -> Reply {
        if let Some(gateways) = lock(&self.0).get_mut(call.param("RouteTableId")) {
            gateways.remove(call.param("GatewayId"));
        }
        call.done()
    }
}
