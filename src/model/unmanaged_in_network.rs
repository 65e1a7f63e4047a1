//! What uses the objects of a network and is not managed: subnets that use its route tables, and routes and route
//! tables that use its gateways and endpoints.

use std::collections::{BTreeMap, BTreeSet};

use super::keys::network::VPC;
use super::{Inventory, Learned};

/// The unmanaged users of objects, as the last read found them, described by the ID of the object that they use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkUsers(BTreeMap<String, BTreeSet<String>>);

impl NetworkUsers {
    /// The name under which the entry of the VPC stores them in `learned`. An empty value means that there are none any
    /// more.
    pub const LEARNED: &'static str = "users";

    /// Those of the last read.
    pub fn of(inventory: &Inventory) -> NetworkUsers {
        let stored = inventory.at(VPC).and_then(|vpc| vpc.learned.get(NetworkUsers::LEARNED));
        NetworkUsers(stored.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default())
    }

    /// Adds a user, described as `subnet subnet-1`.
    pub fn add(&mut self, used: &str, user: String) {
        self.0.entry(used.to_string()).or_default().insert(user);
    }

    /// The value of [`NetworkUsers::LEARNED`]; `None` if there are none.
    pub fn text(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| serde_json::to_string(&self.0).ok()).flatten()
    }

    /// Records them in the values that a read learns of the VPC.
    pub fn learn(&self, learned: &mut Learned) {
        learned.insert(NetworkUsers::LEARNED.to_string(), self.text().unwrap_or_default());
    }

    /// The users of the object with this ID.
    pub fn using(&self, id: &str) -> Vec<String> {
        self.0.get(id).into_iter().flatten().cloned().collect()
    }
}
