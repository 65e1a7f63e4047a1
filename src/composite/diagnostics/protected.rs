//! Errors about protected objects.

use crate::plugin::{AttributePath, Diagnostics};
use crate::topology::{PROTECTED_OBJECTS, Topology};

/// An update that deletes protected objects.
pub(in crate::composite) fn protected_in_update<P: Topology>(
    name: &str,
    objects: &[String],
    diagnostics: &mut Diagnostics,
) {
    diagnostics.attribute_error(
        AttributePath::new(PROTECTED_OBJECTS),
        format!("Error planning {} {name:?}: protected objects", P::TYPE_NAME),
        format!(
            "This plan deletes or replaces objects that protected_objects protects:\n{}\n\nTo keep them, undo the change. \
             To delete them, remove these patterns from protected_objects: an update uses the new value.",
            objects.join("\n")
        ),
    );
}

/// A replacement of a root with protected objects.
pub(in crate::composite) fn protected_in_replacement<P: Topology>(
    root_id: &str,
    objects: &[String],
    diagnostics: &mut Diagnostics,
) {
    diagnostics.attribute_error(
        AttributePath::new(PROTECTED_OBJECTS),
        format!("Error replacing {} {root_id}: protected objects", P::TYPE_NAME),
        format!(
            "This plan replaces {root_id}, and therefore deletes objects that protected_objects in the state or in the \
             configuration protects:\n{}\n\nTo keep them, undo the change, or omit `-replace`. To delete them, first apply \
             a configuration without these patterns that replaces nothing, then this one. If that is not possible, {}",
            objects.join("\n"),
            lift(root_id)
        ),
    );
}

/// A destroy of a root with protected objects.
pub(in crate::composite) fn protected_in_destroy<P: Topology>(
    root_id: &str,
    objects: &[String],
    diagnostics: &mut Diagnostics,
) {
    diagnostics.attribute_error(
        AttributePath::new(PROTECTED_OBJECTS),
        format!("Error destroying {} {root_id}: protected objects", P::TYPE_NAME),
        format!(
            "protected_objects in the state protects these objects:\n{}\n\nNothing has been deleted. If the resource is \
             tainted, run `terraform untaint ADDRESS` to keep it. To stop managing it without deleting it, use a `removed` \
             block with `destroy = false`. To delete it, first apply a configuration without these patterns. If that is not \
             possible, for example because the object is deposed, {}",
            objects.join("\n"),
            lift(root_id)
        ),
    );
}

fn lift(root_id: &str) -> String {
    format!("set allow_protected_deletion = [{root_id:?}] in the provider block, and apply again.")
}
