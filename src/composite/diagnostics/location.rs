//! The error about a root of another account or Region.

use crate::model::Location;
use crate::plugin::Diagnostics;
use crate::topology::Topology;

/// A root that the connection cannot reach.
pub(in crate::composite) fn elsewhere<P: Topology>(
    id: &str,
    stored: &Location,
    connected: &Location,
    diagnostics: &mut Diagnostics,
) {
    diagnostics.error(
        format!("Error accessing {} {id}: another account or Region", P::TYPE_NAME),
        format!(
            "According to state, {id} is in {stored}, but the provider is connected to {connected}. Nothing was read or \
             changed.\n\nCorrect the credentials or the Region of the provider. To create the resource there instead, first \
             remove it here: destroy it with the former provider configuration, or run `terraform state rm ADDRESS`, which \
             keeps its objects.",
        ),
    );
}
