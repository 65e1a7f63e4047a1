//! Diagnostics about the account and Region of a root.

use super::lookup::wrong_id;
use crate::cloud::Case;
use crate::model::{Location, Scope, printable};
use crate::plugin::{AttributePath, Diagnostics, Problem, Value};
use crate::topology::Topology;

/// A root that the connection cannot reach.
pub(in crate::composite) fn elsewhere<P: Topology>(
    id: &str,
    stored: &Location,
    connected: &Location,
    diagnostics: &mut Diagnostics,
) {
    diagnostics.error(
        format!("Could not access {} {id}: another account", P::TYPE_NAME),
        format!(
            "According to state, {id} is in {stored}, but the provider is connected to {connected}. Nothing was read or \
             changed.\n\nCorrect the credentials of the provider. To create the resource there instead, first remove it \
             here: destroy it with the former provider configuration, or run this command, which keeps its \
             objects:\n\n  terraform state rm ADDRESS{}",
            Case::AnotherAccount.see()
        ),
    );
}

/// A Region that the credentials cannot be used in.
pub(in crate::composite) fn other_partition(region: &str, scope: &Scope, diagnostics: &mut Diagnostics) {
    diagnostics.attribute_error(
        AttributePath::new("region"),
        "Region in another partition",
        format!(
            "{region} is not in partition {}, to which the credentials of the provider and its Region {} belong. Set a \
             Region of this partition, or configure another provider with credentials for {region}.",
            scope.partition, scope.region
        ),
    );
}

/// An import of something that cannot be the ID of a root.
pub(in crate::composite) fn invalid_import_id<P: Topology>(id: &str, diagnostics: &mut Diagnostics) {
    let (shown, example) = (printable(id), P::KIND.example_id());
    let Problem { message, hint, .. } = wrong_id::<P>(id);
    diagnostics.error(
        format!("Could not import {} {shown}: invalid ID", P::TYPE_NAME),
        format!(
            "{message} {hint} To import from another Region than that of the provider block, add @ and the Region: \
             {example}@eu-central-1."
        ),
    );
}

/// An import of a root in a Region that cannot exist. `problem` is a sentence.
pub(in crate::composite) fn invalid_import_region<P: Topology>(id: &str, problem: &str, diagnostics: &mut Diagnostics) {
    diagnostics.error(
        format!("Could not import {} {id}: invalid Region", P::TYPE_NAME),
        format!("{problem} The import ID is the ID, or the ID, @ and a Region: {id}@eu-central-1."),
    );
}

/// An import by the identity of a root of another account.
pub(in crate::composite) fn import_from_another_account<P: Topology>(
    id: &str,
    expected: &str,
    connected: &str,
    diagnostics: &mut Diagnostics,
) {
    diagnostics.error(
        format!("Could not import {} {id}: another account", P::TYPE_NAME),
        format!(
            "The account_id of the identity is {expected}, but the provider is connected to account {connected}. Correct \
             the credentials of the provider, or the account_id."
        ),
    );
}

/// An existing root whose configured Region is unknown.
pub(in crate::composite) fn unknown_region(diagnostics: &mut Diagnostics) {
    diagnostics.attribute_error(
        AttributePath::new("region"),
        "The Region of an existing resource is not known yet",
        "The value depends on something that is known only after apply, so the plan cannot tell whether the resource is \
         replaced. Set region to a known value, or remove it: the resource then stays in its Region.",
    );
}

/// An existing root in another Region, `here`, than that of the provider block, `there`.
pub(in crate::composite) fn warn_of_another_region<P: Topology>(
    state: &Value,
    here: &str,
    there: &str,
    is_replaced: bool,
    diagnostics: &mut Diagnostics,
) {
    let (id, path) = (state.get("id").as_str().unwrap_or_default(), AttributePath::new("region"));
    match is_replaced {
        true => diagnostics.attribute_warning(
            path,
            format!("{} {id} moves to Region {there}", P::TYPE_NAME),
            format!(
                "The resource is in Region {here}, and its replacement is created in the Region of the provider block, \
                 because region is not set. To stay in {here}, set region = \"{here}\"."
            ),
        ),
        false => diagnostics.attribute_warning(
            path,
            format!("{} {id} stays in Region {here}", P::TYPE_NAME),
            format!(
                "The Region of the provider block is {there}. An existing resource without region stays in its Region, \
                 but a replacement, such as one by -replace, is created in {there}. Set region = \"{here}\" to keep it \
                 in {here}, or region = \"{there}\" to replace it now."
            ),
        ),
    }
}

/// An import whose ID is absent or blank.
pub(in crate::composite) fn empty_import_id<P: Topology>(diagnostics: &mut Diagnostics) {
    diagnostics.error(
        format!("Could not import {}: no ID", P::TYPE_NAME),
        format!("The id of the import or of its identity is empty. Set it to the ID of the {}.", P::KIND.root_kind()),
    );
}
