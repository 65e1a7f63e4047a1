//! Diagnostics of the adoption of foreign objects.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Inventory, printable};
use crate::plugin::{AttributePath, Diagnostics};
use crate::topology::Topology;

/// What a plan would do to an object besides adding tags.
pub(in crate::composite) struct Difference {
    pub(in crate::composite) slot: String,
    /// A clause such as "would be created".
    pub(in crate::composite) what: String,
    /// Whether it stays if `ignore_drift` contains the slot.
    pub(in crate::composite) can_be_ignored: bool,
}

/// An entry of `adopt` that cannot be followed.
pub(in crate::composite) struct InvalidEntry {
    pub(in crate::composite) slot: String,
    /// A clause such as "subnet-1 is subnet.public.0".
    pub(in crate::composite) reason: String,
    /// The ID of the object that can be adopted under this key.
    pub(in crate::composite) instead: Option<String>,
}

fn adopt() -> AttributePath {
    AttributePath::new("adopt")
}

/// An import of a foreign root.
pub(in crate::composite) fn not_adopted_yet<P: Topology>(
    root_id: &str,
    inventory: &Inventory,
    unmanaged: &BTreeMap<String, String>,
    diagnostics: &mut Diagnostics,
) {
    let mut detail = format!(
        "Something else created it. The attribute adopt contains the {} objects that this resource can take over. Until an \
         apply has adopted them, plans change nothing, and a destroy deletes nothing.",
        inventory.present().filter(|entry| entry.spec().tags().is_some()).count()
    );
    if inventory.present().any(|entry| P::may_stay_unmanaged(entry.spec())) {
        detail += " Objects without tags, such as routes, are taken over with them if the configuration lists them.";
    }
    if !unmanaged.is_empty() {
        let lines: Vec<String> =
            unmanaged.iter().map(|(id, reason)| printable(&format!("{id}: {reason}")).into_owned()).collect();
        detail += &format!("\n\nThese objects stay unmanaged:\n  {}", lines.join("\n  "));
    }
    diagnostics.warning(format!("Importing {} {root_id}: not adopted yet", P::TYPE_NAME), detail);
}

/// `adopt` without an import.
pub(in crate::composite) fn adopt_before_import<P: Topology>(diagnostics: &mut Diagnostics) {
    diagnostics.attribute_error(
        adopt(),
        "Only an imported resource can adopt objects".to_string(),
        format!(
            "This plan would create a new {}, and a create adopts nothing. If the plan has the option `-replace`, omit it. \
             If the state does not contain the resource, import the existing one first, with an import block, or remove \
             adopt. If the resource is tainted, run this command with its address, then apply: the apply keeps it, and \
             adopts the objects.\n\n  terraform untaint ADDRESS",
            P::KIND.root_kind()
        ),
    );
}

/// `adopt` contains values that are known only after an apply.
pub(in crate::composite) fn adopt_is_unknown(diagnostics: &mut Diagnostics) {
    diagnostics.attribute_error(
        adopt(),
        "The objects to adopt are unknown".to_string(),
        "The plan must show which objects the resource takes over, so every ID in adopt must be known. Write the IDs as \
         text."
            .to_string(),
    );
}

/// An entry for a key that another object has already.
pub(in crate::composite) fn adopted_already(slot: &str, given: &str, id: &str, diagnostics: &mut Diagnostics) {
    diagnostics.attribute_error(
        adopt().key(slot),
        "The resource manages another object under this key".to_string(),
        format!("{slot} is {id}, so {} cannot be adopted. Remove the entry.", printable(given)),
    );
}

/// Entries of `adopt` whose objects are managed or deleted. `others` is whether there are other entries.
pub(in crate::composite) fn adopt_has_no_effect(inert: &BTreeSet<String>, others: bool, diagnostics: &mut Diagnostics) {
    if !others {
        diagnostics.attribute_warning(
            adopt(),
            "adopt has no effect any more".to_string(),
            "This resource has adopted its objects. Remove adopt from the configuration; this changes nothing."
                .to_string(),
        );
        return;
    }
    let slots: Vec<&str> = inert.iter().map(String::as_str).collect();
    diagnostics.attribute_warning(
        adopt(),
        "Entries of adopt have no effect any more".to_string(),
        format!(
            "This resource has adopted these objects already, or they are deleted: {}. Remove the entries; this changes \
             nothing.",
            slots.join(", ")
        ),
    );
}

/// Objects that the configuration requires, that could be adopted, and that `adopt` does not name. `is_whole` is
/// whether the root is to be adopted.
pub(in crate::composite) fn not_named_in_adopt<P: Topology>(
    is_whole: bool,
    missing: &BTreeMap<String, String>,
    diagnostics: &mut Diagnostics,
) {
    let reason = match is_whole {
        true => format!(
            "These objects exist, and this resource can take them over. As long as the {} is not adopted, a plan creates, \
             changes and deletes nothing.",
            P::KIND.root_kind()
        ),
        false => P::ADOPTED_ONLY_BY_NAME.to_string(),
    };
    let entries: Vec<String> = missing.iter().map(|(slot, id)| format!("{slot:?} = {id:?}")).collect();
    let detail = format!("{reason}\n\nAdd these entries to adopt:\n  {}", entries.join("\n  "));
    diagnostics.attribute_error(adopt(), "Objects are not named in adopt".to_string(), detail);
}

/// A plan that adopts, while the set of objects is unknown.
pub(in crate::composite) fn adopt_is_undecided(diagnostics: &mut Diagnostics) {
    diagnostics.attribute_error(
        adopt(),
        "The objects to adopt cannot be compared with the configuration".to_string(),
        "The set of objects depends on an input that is known only after an apply. Apply the resources that it depends on \
         first, or remove the entries until then."
            .to_string(),
    );
}

/// Entries that cannot be followed.
pub(in crate::composite) fn invalid_entries(invalid: &[InvalidEntry], diagnostics: &mut Diagnostics) {
    for InvalidEntry { slot, reason, instead } in invalid {
        let hint = match instead {
            Some(id) => format!("Use {slot:?} = {id:?}."),
            None => "Remove the entry.".to_string(),
        };
        let detail = format!("{}. {hint}", printable(reason));
        diagnostics.attribute_error(adopt().key(slot), "This object cannot be adopted".to_string(), detail);
    }
}

/// A plan that would do more than add tags. `is_whole` is whether the root is to be adopted.
pub(in crate::composite) fn adoption_would_change<P: Topology>(
    is_whole: bool,
    forbidden: &[Difference],
    inputs: &[String],
    diagnostics: &mut Diagnostics,
) {
    let summary = "An adoption changes nothing but tags".to_string();
    if !is_whole {
        let rule = "A plan may only add tags to the objects that it adopts.";
        return diagnostics.attribute_error(adopt(), summary, differences(rule, forbidden, inputs));
    }
    let rule = format!("As long as the {} is not adopted, a plan may only add tags.", P::KIND.root_kind());
    let mut detail = differences(&rule, forbidden, inputs);
    let slots: Vec<String> =
        forbidden.iter().filter(|it| it.can_be_ignored).map(|it| format!("{:?}", printable(&it.slot))).collect();
    detail += &match inputs.is_empty() && !slots.is_empty() {
        true => format!(
            " No input expresses the changed properties. To keep them, set ignore_drift = [{}], and leave it there after \
             the adoption.",
            slots.join(", ")
        ),
        false => {
            " A difference that no input can express stays if ignore_drift contains the key of the object.".to_string()
        }
    };
    diagnostics.error(summary, detail);
}

/// The differences that an adoption may not make, after the rule that forbids them, and the inputs that avoid them.
fn differences(rule: &str, forbidden: &[Difference], inputs: &[String]) -> String {
    let lines = |all: Vec<String>| all.join("\n  ");
    let differences = forbidden.iter().map(|it| printable(&format!("{} {}", it.slot, it.what)).into_owned()).collect();
    let mut detail = format!("{rule} With this configuration:\n  {}", lines(differences));
    if !inputs.is_empty() {
        let inputs = inputs.iter().map(|input| printable(input).into_owned()).collect();
        detail += &format!("\n\nThese inputs reproduce what exists:\n  {}", lines(inputs));
    }
    detail + "\n\nAdopt the objects as they are, and change them in a later apply."
}

/// Objects that CloudFormation would still change or delete after their adoption: their IDs and keys with the names of
/// the stacks.
pub(in crate::composite) fn objects_of_stacks(objects: &BTreeMap<String, &str>, diagnostics: &mut Diagnostics) {
    let lines: Vec<String> =
        objects.iter().map(|(object, stack)| printable(&format!("{object}: stack {stack}")).into_owned()).collect();
    diagnostics.attribute_warning(
        adopt(),
        "Objects belong to CloudFormation stacks".to_string(),
        format!(
            "Until these objects are removed from their stacks, an update or a deletion of a stack also changes or deletes \
             them:\n  {}\n\nIn the template, set DeletionPolicy: Retain for them, and update the stack. Then remove them from \
             the template, and update the stack again. Do this also for objects of the stacks that cannot have tags, \
             which this list does not contain. This warning may remain until the adoption, because AWS does not remove \
             the tag with the name of the stack.",
            lines.join("\n  ")
        ),
    );
}

/// A replacement of a root that is not adopted.
pub(in crate::composite) fn not_replaced<P: Topology>(attributes: &[AttributePath], diagnostics: &mut Diagnostics) {
    let names: Vec<String> = attributes.iter().map(ToString::to_string).collect();
    diagnostics.error(
        "A resource that is not adopted is not replaced".to_string(),
        format!(
            "Something else built this {}, so this resource does not delete it. These inputs differ from what exists: {}. \
             Use the values that the import has set.",
            P::KIND.root_kind(),
            names.join(", ")
        ),
    );
}

/// A create of a root while an imported one with its name is not adopted.
pub(in crate::composite) fn not_created_again<P: Topology>(name: &str, diagnostics: &mut Diagnostics) {
    diagnostics.error(
        format!("Could not create {} {name:?}: it is not adopted yet", P::TYPE_NAME),
        format!(
            "A resource with this name was imported and is not adopted. A replacement would leave its {} unmanaged and build \
             another one. If the plan has the option `-replace`, omit it. If this is a different resource, set \
             allow_duplicate_name to true. If the resource is tainted, run this command with its address:\n\n  terraform \
             untaint ADDRESS",
            P::KIND.root_kind()
        ),
    );
}

/// A destroy of a root that is not adopted.
pub(in crate::composite) fn nothing_is_deleted<P: Topology>(
    root_id: &str,
    tagged: &BTreeMap<String, String>,
    diagnostics: &mut Diagnostics,
) {
    let mut detail =
        "Something else created it, and no apply has adopted it. Terraform removes it from the state, and \
                      nothing is deleted in AWS."
            .to_string();
    if !tagged.is_empty() {
        let lines: Vec<String> = tagged.iter().map(|(slot, id)| format!("{slot}: {id}")).collect();
        detail += &format!(
            "\n\nThese objects have the tags fgw:resource and fgw:object from an adoption that did not complete:\n  {}",
            lines.join("\n  ")
        );
    }
    diagnostics.warning(format!("Destroying {} {root_id}: nothing is deleted", P::TYPE_NAME), detail);
}
