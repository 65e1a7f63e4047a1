//! Diagnostics of an import.

use super::lookup::place;
use crate::model::{Entry, Inventory, Scope, printable};
use crate::plugin::{Diagnostics, MoveSource, Value};
use crate::topology::Topology;

/// There is no root with the given id.
pub(in crate::composite) fn no_such_root<P: Topology>(id: &str, scope: &Scope, diagnostics: &mut Diagnostics) {
    diagnostics.error(
        format!("Could not import {} {id}: not found", P::TYPE_NAME),
        format!(
            "There is no {} with this ID in {}. Check the ID and the account of the provider block. If it is in \
             another Region, import {id}@REGION.",
            P::KIND.root_kind(),
            place(scope)
        ),
    );
}

/// The objects that an import adds to state because of their tags. The next plan names those that the configuration
/// does not contain.
pub(in crate::composite) fn found_by_tags<P: Topology>(
    root_id: &str,
    inventory: &Inventory,
    diagnostics: &mut Diagnostics,
) {
    let tagged = inventory.present().filter(|entry| entry.spec().tags().is_some() && entry.id != root_id).count();
    if tagged > 0 {
        diagnostics.warning(
            format!("Importing {} {root_id}: objects found by their tags", P::TYPE_NAME),
            format!("Found: {tagged}, which aws_objects names. Others can set these tags too: review the next plan."),
        );
    }
}

/// The inputs that an import does not find in AWS, and that an apply adds to state.
pub(in crate::composite) fn only_recorded<P: Topology>(inputs: &[String], diagnostics: &mut Diagnostics) {
    if inputs.is_empty() {
        return;
    }
    diagnostics.warning(
        format!("Applying {} after its import changes nothing in AWS", P::TYPE_NAME),
        format!(
            "AWS does not return these inputs, or the import has expressed the same objects by other inputs. The apply \
             only writes them to state: {}.",
            inputs.join(", ")
        ),
    );
}

/// The detail of the error for a state that cannot be moved to a resource of this provider.
pub(in crate::composite) fn move_refused<P: Topology>(source: &MoveSource) -> String {
    format!(
        "The state is that of {} of provider {}. A moved block accepts only states of {} itself, also from another source \
         address of this provider, such as that of a fork. To manage existing objects with {}, import their {} by its ID.",
        source.type_name,
        source.provider_address,
        P::TYPE_NAME,
        P::TYPE_NAME,
        P::KIND.root_kind()
    )
}

/// A root that something else manages, or that no inputs reproduce. `reason` is a clause.
pub(in crate::composite) fn cannot_be_adopted<P: Topology>(id: &str, reason: &str, diagnostics: &mut Diagnostics) {
    let product = P::KIND.name();
    diagnostics.error(
        format!("Could not import {} {id}: it cannot be adopted", P::TYPE_NAME),
        format!(
            "{id} has no tag fgw:resource = \"{product}/<name>\", so this provider did not create it, and it cannot take it \
             over: {}. Import another {}.",
            printable(reason),
            P::KIND.root_kind()
        ),
    );
}

/// An import ID that names a part which the root does not have, or which its topology does not manage.
pub(in crate::composite) fn has_other_part<P: Topology>(
    id: &str,
    wanted: &str,
    found: &Value,
    diagnostics: &mut Diagnostics,
) {
    let name = P::PART.unwrap_or_default();
    diagnostics.error(
        format!("Could not import {} {id}: no such {name}", P::TYPE_NAME),
        format!(
            "The import ID names \"{}\" after the slash, but the only {name} to import is {found}. Use the ID {id} without \
             a slash, or correct the name.",
            printable(wanted)
        ),
    );
}

/// An object that an import found and the configuration does not contain.
pub(in crate::composite) fn left_to_others(entry: &Entry, diagnostics: &mut Diagnostics) {
    diagnostics.warning(
        format!("{} is not in the configuration", entry.key),
        format!(
            "The import found {}, which the configuration does not contain. It is removed from state and not deleted.",
            printable(&entry.id)
        ),
    );
}
