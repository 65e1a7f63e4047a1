//! Warnings about a topology that is destroyed or replaced.

use super::text::{counted, deleted_with, detail, listed, lost, of_guardduty};
use crate::cloud::{Dependent, Dependents};
use crate::model::{Entry, GuardDutyObjects, Inventory, printable};
use crate::plugin::Diagnostics;
use crate::topology::Topology;

/// Why a topology is deleted, for [`warn_of_end`].
#[derive(Clone, Copy)]
pub(in crate::composite) enum End {
    /// The user destroys it.
    Destroy,
    /// A change of the configuration or the option `-replace` replaces it.
    Replacement,
    /// A create replaces it if it is tainted.
    Taint,
}

/// Lists the objects that are deleted with a root by key and id, irrecoverable ones first, and those that stay.
///
/// `dependents` is `None` if AWS could not be read because the provider configuration is unknown.
pub(in crate::composite) fn warn_of_end<P: Topology>(
    end: End,
    (name, id): (&str, &str),
    inventory: &Inventory,
    dependents: Option<&Dependents>,
    guardduty: GuardDutyObjects,
    diagnostics: &mut Diagnostics,
) {
    let id = &*printable(id);
    // AWS deletes the defaults of a VPC with it.
    let stays = |entry: &&Entry| entry.stays_when_deleted() && !entry.applied.is_adopted();
    let (kept, deleted): (Vec<&Entry>, Vec<&Entry>) = inventory.present().partition(stays);
    let (for_good, others): (Vec<&Entry>, Vec<&Entry>) =
        deleted.into_iter().partition(|entry| entry.spec().is_irrecoverable());
    let line = |entry: &&Entry| format!("  {} ({}){}", entry.key, printable(&entry.id), lost(entry));
    let mut parts = Vec::new();
    if matches!(end, End::Taint) {
        parts.push(format!(
            "This plan creates a resource with the name of {id}, which is in this state, and no plan of {id} has preceded \
             it. Terraform tells a provider nothing else if a resource is tainted. If it replaces {id}, these are deleted. \
             To keep them, run terraform untaint."
        ));
    }
    if !for_good.is_empty() {
        parts.push(format!("These cannot be recovered:\n{}", lines(&for_good, line)));
    }
    if !others.is_empty() {
        parts.push(format!("These are deleted with {id}:\n{}", lines(&others, line)));
    }
    if !kept.is_empty() {
        let line = |entry: &&Entry| {
            let why = if entry.is_used() { "used, and not owned" } else { "kept by its setting" };
            format!("  {} ({}), {why}", entry.key, printable(&entry.id))
        };
        parts.push(format!("These stay in AWS, and are no longer managed:\n{}", lines(&kept, line)));
    }
    if dependents.is_none() {
        parts.push(format!(
            "Unmanaged objects in {id} could not be listed, because the provider configuration is not known yet."
        ));
    }
    let count = counted(for_good.len() + others.len(), "AWS object");
    let doing = match end {
        End::Destroy => "Destroying",
        End::Replacement | End::Taint => "Replacing",
    };
    if !(for_good.is_empty() && others.is_empty()) {
        diagnostics.warning(format!("{doing} {} {name:?} deletes {count}", P::TYPE_NAME), parts.join("\n\n"));
    }
    if let Some(dependents) = dependents {
        warn_of_unmanaged::<P>((name, id), dependents, guardduty, diagnostics);
    }
}

/// Says that the objects of a root that is replaced if it is tainted are unknown.
pub(in crate::composite) fn warn_of_unread_root<P: Topology>(name: &str, id: &str, diagnostics: &mut Diagnostics) {
    let id = printable(id);
    diagnostics.warning(
        format!("Could not list what a replacement of {} {name:?} deletes", P::TYPE_NAME),
        format!(
            "This plan creates a resource with the name of {id}, which is in this state, and no plan of {id} has preceded \
             it. Terraform tells a provider nothing else if a resource is tainted. This process has not read {id}. If the \
             plan replaces it, all its objects are deleted. To see them, plan with a refresh. To keep them, run terraform \
             untaint."
        ),
    );
}

/// The objects because of which AWS rejects the deletion of a root, and those of GuardDuty that the destroy removes.
fn blocking(id: &str, objects: &[Dependent], guardduty: GuardDutyObjects) -> String {
    let is_removed = |it: &&Dependent| guardduty == GuardDutyObjects::Delete && !it.guardduty.is_empty();
    let others: Vec<Dependent> = objects.iter().filter(|it| !is_removed(it)).cloned().collect();
    let text = match others.is_empty() {
        true => format!("AWS rejects the deletion of {id} while objects of GuardDuty exist."),
        false => format!(
            "AWS rejects the deletion of {id} while these exist:\n{}\n\nObjects that Terraform destroys before this resource \
             are no obstacle. Remove the others: otherwise the destroy waits until timeouts.delete expires, and then fails.",
            listed(&others, "  "),
        ),
    };
    text + &of_guardduty(objects, guardduty)
}

fn lines(entries: &[&Entry], line: impl Fn(&&Entry) -> String) -> String {
    entries.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Unmanaged objects in a root that is to be destroyed.
fn warn_of_unmanaged<P: Topology>(
    (name, id): (&str, &str),
    found: &Dependents,
    guardduty: GuardDutyObjects,
    diagnostics: &mut Diagnostics,
) {
    let unseen: Vec<String> = found.unseen.iter().map(detail).collect();
    if !found.objects.is_empty() {
        let mut text = match P::KIND.takes_foreign_objects_along() {
            true => deleted_with(id, &found.objects),
            false => blocking(id, &found.objects, guardduty),
        };
        if !unseen.is_empty() {
            text.push_str(&format!("\n\nThe list may be incomplete. {}", unseen.join("\n")));
        }
        let count = counted(found.objects.len(), "unmanaged object");
        diagnostics.warning(format!("{} {name:?} to be destroyed contains {count}", P::TYPE_NAME), text);
    } else if !unseen.is_empty() {
        diagnostics.warning(
            format!("Could not list unmanaged objects in {} {name:?}", P::TYPE_NAME),
            match P::KIND.takes_foreign_objects_along() {
                true => {
                    format!(
                        "{}\n\nAWS deletes any unmanaged objects together with {id}. It rejects the deletion of objects that \
                         other APIs use, and the destroy then fails after it has deleted others.",
                        unseen.join("\n")
                    )
                }
                false => format!(
                    "{}\n\nIf {id} contains unmanaged objects, AWS rejects its deletion, and the destroy fails.",
                    unseen.join("\n")
                ),
            },
        );
    }
}
