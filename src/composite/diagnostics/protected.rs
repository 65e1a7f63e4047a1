//! Errors about objects that are protected from their deletion, by `protected_objects` or in AWS.

use super::text::first;
use crate::model::{Entry, printable};
use crate::plugin::{AttributePath, Diagnostics};
use crate::topology::{PROTECTED_OBJECTS, Topology};

/// A protected object with the pattern that protects it.
pub(in crate::composite) type Protected<'a> = (&'a Entry, &'a str);

/// An update that deletes protected objects.
pub(in crate::composite) fn protected_in_update<P: Topology>(
    name: &str,
    objects: &[Protected<'_>],
    diagnostics: &mut Diagnostics,
) {
    diagnostics.attribute_error(
        AttributePath::new(PROTECTED_OBJECTS),
        format!("Could not plan {} {name:?}: protected objects", P::TYPE_NAME),
        format!(
            "This plan deletes or replaces objects that protected_objects protects:\n{}\n\nTo keep them, undo the change. \
             To delete them, remove these patterns from protected_objects: an update uses the new value.",
            lines(objects)
        ),
    );
}

/// A replacement of a root with protected objects.
pub(in crate::composite) fn protected_in_replacement<P: Topology>(
    root_id: &str,
    objects: &[Protected<'_>],
    diagnostics: &mut Diagnostics,
) {
    diagnostics.attribute_error(
        AttributePath::new(PROTECTED_OBJECTS),
        format!("Could not replace {} {root_id}: protected objects", P::TYPE_NAME),
        format!(
            "This plan replaces {root_id}, and therefore deletes objects that protected_objects in the state or in the \
             configuration protects:\n{}\n\nTo keep them, undo the change, or omit `-replace`. To delete them, first apply \
             a configuration without these patterns that replaces nothing, then this one. If that is not possible, {}",
            lines(objects),
            lift(root_id)
        ),
    );
}

/// A destroy of a root with protected objects.
pub(in crate::composite) fn protected_in_destroy<P: Topology>(
    root_id: &str,
    objects: &[Protected<'_>],
    diagnostics: &mut Diagnostics,
) {
    diagnostics.attribute_error(
        AttributePath::new(PROTECTED_OBJECTS),
        format!("Could not destroy {} {root_id}: protected objects", P::TYPE_NAME),
        format!(
            "protected_objects in the state protects these objects:\n{}\n\nNothing has been deleted. To stop managing the \
             resource without deleting it, use a `removed` block with `destroy = false`. To delete it, first apply a \
             configuration without these patterns. If that is not possible, for example because the object is deposed, \
             {} If the resource is tainted, this command keeps it:\n\n  terraform untaint ADDRESS",
            lines(objects),
            lift(root_id)
        ),
    );
}

/// Objects with deletion protection in AWS that the action of the summary would delete, each with the command that
/// turns it off.
pub(in crate::composite) fn protected_from_deletion(
    action: &str,
    objects: &[(&Entry, String)],
    diagnostics: &mut Diagnostics,
) {
    let line = |(entry, _): &(&Entry, String)| format!("  {} ({})", entry.key, printable(&entry.id));
    let commands: Vec<String> = objects.iter().map(|(_, command)| format!("  {}", printable(command))).collect();
    diagnostics.error(
        format!("Could not {action}: log groups with deletion protection"),
        format!(
            "AWS rejects the deletion of these log groups while their deletion protection is on:\n{}\n\nNothing has been \
             deleted. To keep a group with its log events, set access_log_logservice_group_skip_destroy, or \
             log_group_skip_destroy of its flow log, to true, and apply that first. To delete it, turn its deletion \
             protection off, then run Terraform again:\n\n{}\n\nIf the resource is tainted, this command keeps it:\n\n  \
             terraform untaint ADDRESS",
            first(objects, line).join("\n"),
            commands.join("\n"),
        ),
    );
}

fn lines(objects: &[Protected<'_>]) -> String {
    let line = |(entry, pattern): &Protected<'_>| {
        format!("{} ({}), protected by {pattern:?}", entry.key, printable(&entry.id))
    };
    first(objects, line).iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

fn lift(root_id: &str) -> String {
    format!("set allow_protected_deletion = [{root_id:?}] in the provider block, and apply again.")
}
