//! The addresses of NAT gateways: those of a pending gateway, and the secondary addresses of private ones, which moto
//! does not support.

use std::collections::HashMap;

use crate::support::proxy::lasts::{Begun, Lasts};
use crate::support::proxy::xml::Element;

/// How long a secondary address is assigning or unassigning.
const CHANGING: Lasts = Lasts::Answers(1);

/// The secondary addresses of private gateways.
#[derive(Debug, Default)]
pub(super) struct Secondary {
    /// By the ID of the gateway.
    addresses: HashMap<String, Vec<Address>>,
    assigned: usize,
}

#[derive(Debug)]
struct Address {
    ip: String,
    assigned: Begun,
    unassigned: Option<Begun>,
}

impl Address {
    fn status(&self) -> &'static str {
        match &self.unassigned {
            Some(_) => "unassigning",
            None if self.assigned.goes_on(CHANGING) => "assigning",
            None => "succeeded",
        }
    }
}

impl Secondary {
    /// An empty count is zero. The addresses are arbitrary, because nothing depends on them.
    pub(super) fn assign(&mut self, id: &str, count: &str) {
        for _ in 0..count.parse().unwrap_or(0) {
            self.assigned += 1;
            let ip = format!("10.0.255.{}", self.assigned);
            let address = Address { ip, assigned: Begun::now(), unassigned: None };
            self.addresses.entry(id.to_owned()).or_default().push(address);
        }
    }

    pub(super) fn unassign(&mut self, id: &str, ips: &[&str]) {
        let addresses = self.addresses.get_mut(id).into_iter().flatten();
        for address in addresses.filter(|address| ips.contains(&address.ip.as_str())) {
            address.unassigned = Some(Begun::now());
        }
    }

    /// Whether an address of the gateway is changing, so that AWS rejects another change.
    pub(super) fn is_changing(&self, id: &str) -> bool {
        self.addresses.get(id).into_iter().flatten().any(|address| address.status() != "succeeded")
    }

    /// The addresses as AWS returns them. A new one has no IP before it is assigned.
    pub(super) fn shown(&self, id: &str) -> Vec<Element> {
        let shown = |address: &Address| {
            let mut item = Element::leaf("item", "");
            if address.status() != "assigning" {
                item.set("privateIp", &address.ip);
            }
            item.set("isPrimary", "false");
            item.set("status", address.status());
            item
        };
        self.addresses.get(id).into_iter().flatten().map(shown).collect()
    }

    /// Counts an answer with these addresses. An unassigned one is not returned any more after its last answer.
    pub(super) fn count_answer(&mut self, id: &str) {
        let Some(addresses) = self.addresses.get_mut(id) else { return };
        for address in addresses.iter_mut() {
            address.unassigned.as_mut().unwrap_or(&mut address.assigned).shown();
        }
        addresses.retain(|address| address.unassigned.as_ref().is_none_or(|unassigned| unassigned.goes_on(CHANGING)));
    }
}

/// The primary address as AWS returns it: without IPs and network interface while the gateway is pending. That of a
/// private gateway is empty then.
pub(super) fn rewrite_primary(nat: &mut Element) {
    let is_pending = nat.text_of("state") == "pending";
    let is_private = nat.text_of("connectivityType") == "private";
    for address in nat.items_mut("natGatewayAddressSet") {
        if is_pending && is_private {
            address.children.clear();
            continue;
        }
        if is_pending {
            address.children.retain(|child| child.name == "allocationId");
        }
        address.set("isPrimary", "true");
        address.set("status", if is_pending { "associating" } else { "succeeded" });
    }
}
