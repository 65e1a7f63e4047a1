//! What is unmanaged in a VPC and prevents that AWS associates a range with it.

use std::collections::BTreeMap;

use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};

use super::Inventory;
use super::keys::network::VPC;

/// The unmanaged ranges and routes of a VPC, as the last read found them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OccupiedAddresses {
    /// The IDs of the associations of unmanaged secondary ranges, by range.
    pub ranges: BTreeMap<Ipv4Net, String>,
    /// The destinations of unmanaged routes, each with the ID of a route table.
    pub routes: BTreeMap<Ipv4Net, String>,
}

impl OccupiedAddresses {
    /// The name under which the entry of the VPC stores them in `learned`. An empty value means that there are none any
    /// more.
    pub const LEARNED: &'static str = "occupied_addresses";

    /// Those of the last read.
    pub fn of(inventory: &Inventory) -> OccupiedAddresses {
        let stored = inventory.at(VPC).and_then(|vpc| vpc.learned.get(OccupiedAddresses::LEARNED));
        stored.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// The value of [`OccupiedAddresses::LEARNED`]; `None` if there are none.
    pub fn text(&self) -> Option<String> {
        (*self != OccupiedAddresses::default()).then(|| serde_json::to_string(self).ok()).flatten()
    }
}
