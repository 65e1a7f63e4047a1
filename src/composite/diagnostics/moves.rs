//! Warnings of a plan about changes in place that interrupt connections and have no attribute of their own.

use crate::model::{Key, Ref, Spec};
use crate::plugin::Diagnostics;
use crate::reconcile::{Action, Plan};
use crate::topology::Topology;

/// Subnets that move to another route table, and existing route tables whose gateway endpoints change.
pub(in crate::composite) fn warn_of_moves<P: Topology>(name: &str, plan: &Plan, diagnostics: &mut Diagnostics) {
    let is_new = |key: &Key| plan.ops.iter().any(|op| matches!(&op.action, Action::Create(it) if it.key == *key));
    let is_deleted = |key: &Key| plan.deleted().any(|entry| entry.key == *key);
    let stays = |key: &Key| !is_new(key) && !is_deleted(key);
    let lines: Vec<String> = plan
        .ops
        .iter()
        .filter_map(|op| match &op.action {
            Action::Update { before, to, certain: true, .. } => Some((&to.key, moves(before, &to.spec, &stays))),
            _ => None,
        })
        .flat_map(|(key, moves)| moves.into_iter().map(move |it| format!("  {key}: {it}")))
        .collect();
    if !lines.is_empty() {
        diagnostics.warning(
            format!("Updating {} {name:?} interrupts connections", P::TYPE_NAME),
            format!(
                "Connections that are open on these paths may break when the path changes:\n{}\n\nTo change them at \
                 another time, apply in a maintenance window.",
                lines.join("\n")
            ),
        );
    }
}

fn moves(before: &Spec, to: &Spec, stays: &dyn Fn(&Key) -> bool) -> Vec<String> {
    match (before, to) {
        (Spec::RouteTableAssociation(before), Spec::RouteTableAssociation(to))
            if before.route_table != to.route_table =>
        {
            vec![format!("{} moves from {} to {}", to.subnet, named(&before.route_table), named(&to.route_table))]
        }
        (Spec::VpcEndpoint(before), Spec::VpcEndpoint(to)) => {
            let existing = |it: &&Ref| matches!(it, Ref::Key(key) if stays(key));
            let added = to.route_tables.iter().filter(|it| !before.route_tables.contains(it)).filter(existing);
            let removed = before.route_tables.iter().filter(|it| !to.route_tables.contains(it)).filter(existing);
            let added = added.map(|it| format!("{} gets its route", named(it)));
            added.chain(removed.map(|it| format!("{} loses its route", named(it)))).collect()
        }
        _ => Vec::new(),
    }
}

fn named(reference: &Ref) -> String {
    match reference {
        Ref::Key(key) => key.to_string(),
        Ref::Id(id) => crate::model::printable(id).into_owned(),
    }
}
