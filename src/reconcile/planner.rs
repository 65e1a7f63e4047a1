//! The plan from the inventory and the blueprint.
//!
//! There is no replace action. Inputs that AWS cannot change in place are part of an object's key, so a change of them
//! deletes one object and creates another. Creates and updates depend only on
//! creates and updates, and deletes can depend on any operation: new objects are created first, old ones are deleted
//! last. The exception is claims, resources that only one object can hold: the create of the new holder waits for the
//! deletion of the old one, which waits for everything else that the new holder needs. A route to such an old object is
//! first updated to a fallback target. If there is none, the plan reports an outage.
//!
//! Some operations are split (see `split`): an early update leaves deleted objects before new ones take their place,
//! nothing waits for a detached update, and a late update runs among the deletions. AWS may reject the deletion of a
//! subnet that is in use. Until it is deleted, the subnet keeps its routes and their targets (see `ordering`), and its
//! gateway endpoints.

use std::collections::BTreeSet;

use super::diff::{Differences, diff};
use super::ordering::Ordering;
use super::plan::{Op, Phase, Plan, Unorderable};
use super::reroute::reroute;
use super::split::{Split, split};
use super::suspend;
use crate::model::{Inventory, Object};

/// Plans the operations. `wanted` contains each object once, in the order of creation.
pub fn plan(existing: &Inventory, wanted: &[Object]) -> Result<Plan, Unorderable> {
    let Differences { actions, overwritten } = diff(existing, wanted);
    let split = split(suspend::with_update(actions, existing, wanted));
    let ordered = Ordering::of(&split, existing).ordered();
    let Split { actions, detached, late, .. } = split;
    let phase = |position: usize| match () {
        () if detached.contains(&position) => Phase::Detached,
        () if late.contains(&position) => Phase::Late,
        () => Phase::Main,
    };
    let with_order = actions.into_iter().zip(ordered.depends_on).enumerate();
    let ops = with_order.map(|(position, (action, depends_on))| Op { action, depends_on, phase: phase(position) });
    let ops: Vec<Op> = ops.collect();
    let mut plan = Plan { ops, outages: Vec::new(), overwritten, held: BTreeSet::new() };
    let deferred = plan.deferred();
    plan.outages = reroute(&mut plan.ops, &ordered.claimed, &deferred, existing, wanted);
    plan.check_order()?;
    // A destroy has waited for the users.
    if !wanted.is_empty() {
        plan.hold();
    }
    Ok(plan)
}
