//! The objects whose deletion AWS rejects because of one of their settings. Pure. Plan and apply use the same
//! functions.

use super::diagnostics;
use crate::model::{Entry, Inventory};
use crate::plugin::Diagnostics;
use crate::reconcile::{Action, Plan};
use crate::topology::Topology;

/// Adds an error if an update deletes such objects. Returns whether it does.
pub(super) fn refuse_update<P: Topology>(name: &str, plan: &Plan, diagnostics: &mut Diagnostics) -> bool {
    let deleted = plan.ops.iter().filter_map(|op| match &op.action {
        Action::Delete { entry, is_kept: false, .. } => Some(entry),
        _ => None,
    });
    refuse(&format!("plan {} {name:?}", P::TYPE_NAME), deleted, diagnostics)
}

/// Adds an error if a replacement of the root deletes such objects. Returns whether it does. `old` are the objects that
/// a plan replaces, if it does.
pub(super) fn refuse_replacement<P: Topology>(
    name: &str,
    old: Option<&Inventory>,
    diagnostics: &mut Diagnostics,
) -> bool {
    let deleted = old.iter().flat_map(|old| &old.entries);
    refuse(&format!("replace {} {name:?}", P::TYPE_NAME), deleted, diagnostics)
}

/// Adds an error if a destroy deletes such objects. Returns whether it does.
pub(super) fn refuse_destroy<P: Topology>(root_id: &str, existing: &Inventory, diagnostics: &mut Diagnostics) -> bool {
    refuse(&format!("destroy {} {root_id}", P::TYPE_NAME), existing.entries.iter(), diagnostics)
}

fn refuse<'a>(action: &str, deleted: impl Iterator<Item = &'a Entry>, diagnostics: &mut Diagnostics) -> bool {
    let is_deleted = |entry: &&Entry| !(entry.is_missing() || entry.is_foreign() || entry.stays_when_deleted());
    let protected = |entry: &'a Entry| Some((entry, entry.spec().command_to_unprotect(&entry.learned)?));
    let protected: Vec<(&Entry, String)> = deleted.filter(is_deleted).filter_map(protected).collect();
    if !protected.is_empty() {
        diagnostics::protected_from_deletion(action, &protected, diagnostics);
    }
    !protected.is_empty()
}
