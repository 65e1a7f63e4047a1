//! Entries that got another key in the configuration.

use crate::plugin::Diagnostics;
use crate::topology::Topology;

/// Entries that continue others: one sentence each.
pub(in crate::composite) fn warn_of_renamed<P: Topology>(
    name: &str,
    renamed: &[String],
    diagnostics: &mut Diagnostics,
) {
    if renamed.is_empty() {
        return;
    }
    diagnostics.warning(
        format!("{} {name:?} keeps objects under other keys", P::TYPE_NAME),
        format!(
            "These entries have the identity in AWS of entries that the configuration no longer has under their keys. \
             Their objects stay. Only names and tags that contain the key change:\n\n  {}",
            renamed.join("\n  ")
        ),
    );
}

/// The same, found by an apply whose plan has shown a deletion instead.
pub(in crate::composite) fn found_renamed<P: Topology>(name: &str, renamed: &[String], diagnostics: &mut Diagnostics) {
    diagnostics.error(
        format!("Could not apply {} {name:?}: renamed keys", P::TYPE_NAME),
        format!(
            "The plan deletes objects and creates others in their place, because values were unknown that are known now. \
             They show that these entries only have other keys:\n\n  {}\n\nNothing was changed. Give the entries their \
             former keys and apply. Then rename the keys alone, in an apply of its own.",
            renamed.join("\n  ")
        ),
    );
}

/// A failure of the provider itself.
pub(in crate::composite) fn not_renamed<P: Topology>(
    name: &str,
    error: &serde_json::Error,
    diagnostics: &mut Diagnostics,
) {
    diagnostics.error(
        format!("Could not plan {} {name:?}: keys", P::TYPE_NAME),
        format!("The objects could not get other keys: {error}. This is a bug in the provider."),
    );
}
