//! The warning of a plan about unmanaged objects that use what it changes.

use std::collections::BTreeSet;

use crate::model::{Inventory, Key, NetworkUsers, affected_by_deletion, affected_by_update, printable};
use crate::plugin::Diagnostics;
use crate::reconcile::{Action, Plan};
use crate::topology::Topology;

/// Unmanaged objects that lose something, or get something else, when managed objects change.
pub(in crate::composite) fn warn_of_users<P: Topology>(
    name: &str,
    (inventory, plan): (&Inventory, &Plan),
    diagnostics: &mut Diagnostics,
) {
    let users = NetworkUsers::of(inventory);
    let (mut kept, mut deleted) = (BTreeSet::new(), BTreeSet::new());
    for op in &plan.ops {
        if let Action::Delete { entry, is_kept, .. } = &op.action {
            if *is_kept { &mut kept } else { &mut deleted }.insert(&entry.key);
        }
    }
    let lines = plan.ops.iter().filter_map(|op| match &op.action {
        Action::Create(_) | Action::Delete { is_kept: true, .. } => None,
        Action::Update { id, before, to, .. } => {
            let users = affected_by_update((inventory, &users), id, before, &to.spec);
            (!users.is_empty()).then(|| line(&to.key, id, "changes", &users))
        }
        Action::Delete { entry, .. } => {
            let (what, users) = affected_by_deletion((inventory, &users), entry, &kept, &deleted)?;
            Some(line(&entry.key, &entry.id, what, &users))
        }
    });
    let lines: Vec<String> = lines.collect();
    if !lines.is_empty() {
        diagnostics.warning(
            format!("Updating {} {name:?} affects unmanaged objects", P::TYPE_NAME),
            format!(
                "Objects that this resource does not manage use objects that this plan changes:\n{}\n\nIf they need \
                 these objects as they are, give them others first, or keep the inputs.",
                lines.join("\n")
            ),
        );
    }
}

fn line(key: &Key, id: &str, what: &str, users: &[String]) -> String {
    format!("  {key} ({}) {what}, used by: {}", printable(id), printable(&users.join(", ")))
}
