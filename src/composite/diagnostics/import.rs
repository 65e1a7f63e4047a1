//! What an import did not find, or does not take over.

use crate::model::{Entry, Scope};
use crate::plugin::Diagnostics;
use crate::topology::Topology;

/// No root with the id that was given.
pub(in crate::composite) fn no_such_root<P: Topology>(id: &str, scope: &Scope, diagnostics: &mut Diagnostics) {
    diagnostics.error(
        format!("{} {id} does not exist", P::TYPE_NAME),
        format!(
            "AWS knows no such id in Region {}. Check the id, and the region and account of the provider block.",
            scope.region
        ),
    );
}

/// A root that does not say that this provider has created it.
pub(in crate::composite) fn not_created_here<P: Topology>(id: &str, diagnostics: &mut Diagnostics) {
    let (product, root) = (P::KIND.name(), P::KIND.root());
    diagnostics.error(
        format!("{id} was not made by {}", P::TYPE_NAME),
        format!(
            "It has no tag fgw:resource = \"{product}/<name>\", by which this provider knows what it has made. If that tag \
             was lost, set it again and import once more. To hand over what something else has made, give its {root} this \
             tag, and give each object that the resource is to manage the tags fgw:resource = \"{product}/{id}\" and \
             fgw:object = \"<key in aws_objects>\", such as {}",
            P::KIND.tags_to_hand_over()
        ),
    );
}

/// An object that an import has found and that the configuration does not ask for.
pub(in crate::composite) fn left_to_others(entry: &Entry, diagnostics: &mut Diagnostics) {
    diagnostics.warning(
        format!("{} is left to others", entry.key.slot),
        format!(
            "The import has found {}, which the configuration does not ask for. It leaves the state and is not deleted.",
            entry.id
        ),
    );
}
