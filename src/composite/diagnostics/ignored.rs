//! Warnings of a plan about ignored drift that does not stay.

use crate::model::{Entry, printable};
use crate::plugin::Diagnostics;
use crate::reconcile::Plan;
use crate::topology::{IgnoredDrift, Topology};

/// Values that the configuration sets although they were changed outside Terraform and `ignore_drift` covers them, and
/// the drift of objects that an update deletes or replaces.
pub(in crate::composite) fn warn_of_overwritten_drift<P: Topology>(
    name: &str,
    plan: &Plan,
    ignored: &IgnoredDrift,
    diagnostics: &mut Diagnostics,
) {
    let lines = plan.overwritten.iter().flat_map(|it| it.units.iter().map(move |unit| format!("  {}: {unit}", it.key)));
    let lines: Vec<String> = lines.collect();
    if !lines.is_empty() {
        diagnostics.warning(
            format!("Updating {} {name:?} overwrites ignored drift", P::TYPE_NAME),
            format!(
                "ignore_drift covers these objects, but the configuration changes the same values, or the plan deletes \
                 an object that they refer to:\n{}\n\nTo keep a value as it is, take back the change of its input.",
                lines.join("\n")
            ),
        );
    }
    warn_of_lost_drift::<P>(name, plan.deleted(), ignored, diagnostics);
}

/// Ignored drift of objects that are deleted or replaced.
pub(in crate::composite) fn warn_of_lost_drift<'a, P: Topology>(
    name: &str,
    deleted: impl Iterator<Item = &'a Entry>,
    ignored: &IgnoredDrift,
    diagnostics: &mut Diagnostics,
) {
    let lines = deleted.filter(|entry| ignored.covers(&entry.key.slot)).filter_map(|entry| {
        let differences = entry.applied.differences(entry.observed()?).join("; ");
        Some(format!("  {} ({}): {differences}", entry.key, printable(&entry.id)))
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return;
    }
    diagnostics.warning(
        format!("{} {name:?} loses ignored drift", P::TYPE_NAME),
        format!(
            "These objects are deleted or replaced. New objects do not have their differences:\n{}",
            lines.join("\n")
        ),
    );
}
