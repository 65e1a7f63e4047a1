//! What goes with a topology that is destroyed or replaced.

use super::text::{counted, deleted_with, detail, listed, lost};
use crate::cloud::Dependents;
use crate::model::{Entry, Inventory};
use crate::plugin::Diagnostics;
use crate::topology::Topology;

/// What is about to end, for [`warn_of_end`].
#[derive(Clone, Copy)]
pub(in crate::composite) enum End {
    /// The user destroys it.
    Destroy,
    /// A change of the configuration makes another one in its place.
    Replacement,
}

/// What goes with a root: each object by key and id, first what cannot be had again.
///
/// `dependents` is `None` where nobody could look, as the provider block still holds unknowns.
pub(in crate::composite) fn warn_of_end<P: Topology>(
    end: End,
    (name, id): (&str, &str),
    inventory: &Inventory,
    dependents: Option<&Dependents>,
    diagnostics: &mut Diagnostics,
) {
    let (for_good, others): (Vec<&Entry>, Vec<&Entry>) =
        inventory.present().partition(|entry| entry.spec().is_irrecoverable());
    let line = |entry: &&Entry| format!("  {} ({}){}", entry.key, entry.id, lost(entry));
    let mut parts = Vec::new();
    if !for_good.is_empty() {
        parts.push(format!("These cannot be had again:\n{}", lines(&for_good, line)));
    }
    if !others.is_empty() {
        parts.push(format!("These go with {id}:\n{}", lines(&others, line)));
    }
    if dependents.is_none() {
        parts.push(format!(
            "What others keep in {id} could not be looked up, as the provider configuration is not known yet."
        ));
    }
    let count = counted(for_good.len() + others.len(), "AWS object");
    let summary = match end {
        End::Destroy => format!("Destroying {} {name:?} deletes {count}", P::TYPE_NAME),
        End::Replacement => format!("Replacing {} {name:?} deletes {count}", P::TYPE_NAME),
    };
    if !(for_good.is_empty() && others.is_empty()) {
        diagnostics.warning(summary, parts.join("\n\n"));
    }
    if let Some(dependents) = dependents {
        warn_of_unmanaged::<P>((name, id), dependents, diagnostics);
    }
}

fn lines(entries: &[&Entry], line: impl Fn(&&Entry) -> String) -> String {
    entries.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What others keep in a root that is to be destroyed.
fn warn_of_unmanaged<P: Topology>((name, id): (&str, &str), found: &Dependents, diagnostics: &mut Diagnostics) {
    let unseen: Vec<String> = found.unseen.iter().map(detail).collect();
    if !found.objects.is_empty() {
        let mut text = match P::KIND.takes_foreign_objects_along() {
            true => deleted_with(id, &found.objects),
            false => format!(
                "AWS refuses to delete {id} while these are there:\n{}\n\nWhat Terraform destroys before this \
                 resource goes in time. Remove what is left of the others: a destroy that finds them waits for as long as \
                 timeouts.delete says, and then fails.",
                listed(&found.objects, "  ")
            ),
        };
        if !unseen.is_empty() {
            text.push_str(&format!("\n\nThere may be more, as not all could be looked up: {}", unseen.join("\n")));
        }
        let count = counted(found.objects.len(), "object");
        diagnostics
            .warning(format!("Others keep {count} in {} {name:?}, which is to be destroyed", P::TYPE_NAME), text);
    } else if !unseen.is_empty() {
        diagnostics.warning(
            format!("What others keep in {} {name:?} could not be looked up", P::TYPE_NAME),
            match P::KIND.takes_foreign_objects_along() {
                true => {
                    format!("If they keep anything in {id}, AWS deletes it along with it.\n\n{}", unseen.join("\n"))
                }
                false => format!(
                    "If they keep anything in {id}, AWS refuses to delete it, and the destroy fails.\n\n{}",
                    unseen.join("\n")
                ),
            },
        );
    }
}
