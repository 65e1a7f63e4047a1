//! The partition, Region and account of a root, which are part of its identity. Pure.
//!
//! AWS returns nothing for an ID of another account or Region. A read must not take that for a deletion, and a plan or
//! an apply must not act on other objects.

use super::diagnostics;
use crate::model::{Arn, Inventory, Location, Scope};
use crate::plugin::{Diagnostics, Value};
use crate::topology::Topology;

/// Whether the root in a state is in the account and Region of the connection. Otherwise adds an error.
pub(super) fn is_reachable<P: Topology>(state: &Value, scope: &Scope, diagnostics: &mut Diagnostics) -> bool {
    let (stored, connected) = (of_state::<P>(state), Location::of(scope));
    let is_reachable = stored.may_equal(&connected);
    if !is_reachable {
        let id = state.get("id").as_str().unwrap_or_default();
        diagnostics::elsewhere::<P>(id, &stored, &connected, diagnostics);
    }
    is_reachable
}

/// Keeps the ARNs of a root that no longer exists in the state of the objects that have outlived it. They are in the
/// same account and Region.
pub(super) fn keep<P: Topology>(before: &Value, inventory: &Inventory, state: &mut Value) {
    if inventory.at(P::KIND.root()).is_none() {
        for name in P::ROOT_ARNS {
            state.set(name, before.get(name).clone());
        }
    }
}

/// The location of the root in a state. Parts that the state does not contain are `None`.
fn of_state<P: Topology>(state: &Value) -> Location {
    let mut location = Location::default();
    for arn in P::ROOT_ARNS.iter().filter_map(|name| Arn::split(state.get(name).as_str()?).ok()) {
        let part = |text: &str| Some(text.to_string()).filter(|text| !text.is_empty());
        location.partition = location.partition.or(part(arn.partition));
        location.region = location.region.or(part(arn.region));
        location.account = location.account.or(part(arn.account));
    }
    location
}
