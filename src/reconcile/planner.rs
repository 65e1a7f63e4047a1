//! From what exists and what should exist to a plan.
//!
//! There is no replace. What AWS cannot change in place is part of an object's key, so such a change is one
//! object that is deleted and another that is created. Creates and updates wait only for creates and updates, deletes
//! for anything: new first, deletions last. The exception are claims, things that only one object can have: their new
//! holder waits for the old one to be deleted. What routes to such an old one is rerouted first, so that it never leads
//! nowhere, or the plan says that it will.

use super::diff::diff;
use super::ordering::Ordering;
use super::plan::{Op, Plan, Unorderable};
use super::reroute::reroute;
use crate::model::{Inventory, Object};

/// Compares and orders. `wanted` is in creation order, and names each object once.
pub fn plan(existing: &Inventory, wanted: &[Object]) -> Result<Plan, Unorderable> {
    let actions = diff(existing, wanted);
    let ordered = Ordering::of(&actions, existing).ordered();
    let with_order = actions.into_iter().zip(ordered.depends_on);
    let mut ops: Vec<Op> = with_order.map(|(action, depends_on)| Op { action, depends_on }).collect();
    let outages = reroute(&mut ops, &ordered.claimed, existing);
    let plan = Plan { ops, outages };
    plan.check_order()?;
    Ok(plan)
}
