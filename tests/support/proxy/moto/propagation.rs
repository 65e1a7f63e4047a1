//! Route propagation from virtual private gateways. moto supports the gateways, but not propagation.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use super::done;
use crate::support::proxy::call::Call;
use crate::support::proxy::lock;
use crate::support::proxy::message::{Message, Reply};
use crate::support::proxy::upstream::Upstream;
use crate::support::proxy::xml::Element;

/// The propagating gateways, by route table.
#[derive(Debug, Default)]
pub(super) struct Propagation(Mutex<HashMap<String, BTreeSet<String>>>);

impl Propagation {
    /// AWS requires that the gateway is attached to the VPC of the table. Propagation may be enabled twice.
    pub(super) async fn enable(&self, emulator: &Upstream, call: &Call, message: &Message) -> Result<Reply, String> {
        let (table, gateway) = (call.param("RouteTableId"), call.param("GatewayId"));
        let tables = emulator.ec2(message, "DescribeRouteTables", &[("RouteTableId.1", table)]).await?;
        let tables = match tables {
            Ok(tables) => tables,
            Err(code) => return Ok(Reply::error(call, 400, &code, &format!("{table} does not exist"))),
        };
        let gateways = emulator.describe(message, "DescribeVpnGateways", &[("VpnGatewayId.1", gateway)]).await?;
        if gateways.items("vpnGatewaySet").is_empty() {
            let text = format!("The vpnGateway ID '{gateway}' does not exist");
            return Ok(Reply::error(call, 400, "InvalidVpnGatewayID.NotFound", &text));
        }
        let vpc = tables.items("routeTableSet").first().map_or("", |table| table.text_of("vpcId"));
        let attachments = gateways.items("vpnGatewaySet").iter().flat_map(|gateway| gateway.items("attachments"));
        if !attachments.into_iter().any(|it| it.text_of("vpcId") == vpc && it.text_of("state") == "attached") {
            let text = format!("resource {gateway} is not attached to network {vpc}");
            return Ok(Reply::error(call, 400, "Gateway.NotAttached", &text));
        }
        lock(&self.0).entry(table.to_owned()).or_default().insert(gateway.to_owned());
        Ok(done(call))
    }

    pub(super) fn disable(&self, call: &Call) -> Reply {
        if let Some(gateways) = lock(&self.0).get_mut(call.param("RouteTableId")) {
            gateways.remove(call.param("GatewayId"));
        }
        done(call)
    }

    /// AWS returns the propagating gateways of each table, also if there are none.
    pub(super) fn described(&self, reply: Reply) -> Result<Reply, String> {
        let known = lock(&self.0);
        let mut root = Element::parse(&reply.text())?;
        for table in root.items_mut("routeTableSet") {
            let gateways = known.get(table.text_of("routeTableId")).into_iter().flatten();
            let item = |gateway: &String| {
                let mut item = Element::leaf("item", "");
                item.set("gatewayId", gateway);
                item
            };
            table.set("propagatingVgwSet", "");
            if let Some(set) = table.child_mut("propagatingVgwSet") {
                set.children = gateways.map(item).collect();
            }
        }
        Ok(reply.with_body(root.to_string()))
    }
}
