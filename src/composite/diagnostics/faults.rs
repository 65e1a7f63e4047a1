//! Objects that exist and do not work.

use crate::model::{Inventory, printable};
use crate::plugin::Diagnostics;
use crate::reconcile::{Action, Op, Plan};
use crate::topology::Topology;

/// Reports the faults that AWS returned in a refresh.
pub(in crate::composite) fn warn_of_faults<P: Topology>(
    root_id: &str,
    inventory: &Inventory,
    diagnostics: &mut Diagnostics,
) {
    let faults = inventory.current().filter_map(|entry| {
        let fault = entry.spec().fault(&entry.learned)?;
        Some(format!("{} ({}) {fault}", entry.key.slot, entry.id))
    });
    let lines: Vec<String> = faults.collect();
    if !lines.is_empty() {
        diagnostics.warning(format!("AWS reports faults of objects of {} {root_id}", P::TYPE_NAME), lines.join("\n"));
    }
}

/// Reports what AWS has remarked on settings that an apply has changed, although it accepted them.
pub(in crate::composite) fn warn_of_remarks<P: Topology>(
    name: &str,
    plan: &Plan,
    inventory: &Inventory,
    diagnostics: &mut Diagnostics,
) {
    let is_changed = |op: &Op, slot: &str| !matches!(op.action, Action::Delete { .. }) && op.action.key().slot == slot;
    let changed = inventory.current().filter(|entry| plan.ops.iter().any(|op| is_changed(op, &entry.key.slot)));
    let remarks = changed.flat_map(|entry| {
        let line = |remark: &String| format!("  {} ({}): {}", entry.key.slot, printable(&entry.id), printable(remark));
        entry.learned.remarks.iter().map(line)
    });
    let lines: Vec<String> = remarks.collect();
    if !lines.is_empty() {
        diagnostics.warning(
            format!("AWS warns of settings of {} {name:?}", P::TYPE_NAME),
            format!("AWS has accepted these settings, and warns:\n{}", lines.join("\n")),
        );
    }
}
