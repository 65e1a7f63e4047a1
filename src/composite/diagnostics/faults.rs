//! Objects that exist and do not work.

use crate::model::Inventory;
use crate::plugin::Diagnostics;
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
