//! Warnings of a plan about changes in place that interrupt connections and have no attribute of their own.

use crate::model::Key;
use crate::plugin::Diagnostics;
use crate::reconcile::{Action, Plan};
use crate::topology::Topology;

/// Subnets that move to another route table, and existing route tables whose gateway endpoints change.
pub(in crate::composite) fn warn_of_moves<P: Topology>(name: &str, plan: &Plan, diagnostics: &mut Diagnostics) {
    let is_new = |key: &Key| plan.ops.iter().any(|op| matches!(&op.action, Action::Create(it) if it.key == *key));
    let stays = |key: &Key| !is_new(key) && !plan.deleted().any(|entry| entry.key == *key);
    let moves = plan.ops.iter().filter_map(|op| match &op.action {
        Action::Update { before, to, .. } => Some((&to.key, to.spec.moved_paths(before.as_kind(), &stays))),
        _ => None,
    });
    let lines = moves.flat_map(|(key, paths)| paths.into_iter().map(move |path| format!("  {key}: {path}")));
    let lines: Vec<String> = lines.collect();
    if !lines.is_empty() {
        diagnostics.warning(
            format!("Updating {} {name:?} interrupts connections", P::TYPE_NAME),
            format!(
                "Open connections on these paths may break when the path changes:\n{}\n\nApply at a time when that is \
                 acceptable.",
                lines.join("\n")
            ),
        );
    }
}
