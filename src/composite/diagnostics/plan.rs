//! What people should know of a plan before they apply it.

use std::collections::BTreeSet;

use super::text::{counted, deleted_with, detail, listed, lost};
use crate::cloud::{Dependent, Dependents};
use crate::model::{Entry, Inventory, Object};
use crate::plugin::{AttributePath, Diagnostics, Problem, Value};
use crate::reconcile::{Action, Outage, Plan, Unorderable};
use crate::topology::{IgnoredDrift, Topology};

/// What an apply will look for again, and be refused without.
pub(in crate::composite) fn warn_of_missing<P: Topology>(
    name: &str,
    missing: &[Problem],
    diagnostics: &mut Diagnostics,
) {
    for problem in missing {
        diagnostics.attribute_warning(
            problem.path.clone(),
            // Terraform shows one of several warnings with the same summary.
            format!("{} {name:?} waits for what {} names and is not there", P::TYPE_NAME, problem.path),
            format!("{} The apply looks again, and changes nothing without it. {}", problem.message, problem.hint),
        );
    }
}

/// Patterns of `ignore_drift` that stand for no object: a slip of the pen would leave drift to be mended.
pub(in crate::composite) fn warn_of_unmatched_patterns<P: Topology>(
    name: &str,
    ignored: &IgnoredDrift,
    objects: &[Object],
    diagnostics: &mut Diagnostics,
) {
    let slots: Vec<&str> = objects.iter().map(|object| object.key.slot.as_str()).collect();
    for (index, pattern) in ignored.idle(&slots) {
        diagnostics.attribute_warning(
            AttributePath::new("ignore_drift").index(index),
            format!("{} {name:?} has no object {pattern:?}", P::TYPE_NAME),
            "The pattern stands for no key in aws_objects, so it ignores nothing. Keys look like route_table.public; * \
             stands for any text.",
        );
    }
}

/// What a plan that deletes should not keep to itself, with what others have in the subnets that it deletes.
pub(in crate::composite) fn warn_of_deletions<P: Topology>(
    name: &str,
    plan: &Plan,
    dependents: &Dependents,
    diagnostics: &mut Diagnostics,
) {
    let deleted: Vec<&Entry> = plan.deleted().collect();
    if deleted.is_empty() {
        return;
    }
    let arriving: BTreeSet<&str> = plan
        .ops
        .iter()
        .filter_map(|op| match &op.action {
            Action::Create(object) => Some(object.key.slot.as_str()),
            _ => None,
        })
        .collect();
    let lines: Vec<String> = deleted
        .iter()
        .map(|entry| {
            let what = match arriving.contains(entry.key.slot.as_str()) {
                _ if entry.applied.is_adopted() => "let go",
                true => "replaced",
                false => "deleted",
            };
            let line = format!("  {what}: {} ({}){}", entry.key, entry.id, lost(entry));
            let inside = dependents.holding(&entry.id);
            match inside.len() {
                0 => line,
                count => format!(
                    "{line}, with {} in it:\n{}",
                    counted(count, "network interface"),
                    listed(&inside, "      ")
                ),
            }
        })
        .collect();
    let mut text = lines.join("\n");
    if !dependents.objects.is_empty() {
        text.push_str(
            "\n\nAWS keeps a subnet while a network interface is in it, and Terraform changes what the interfaces belong to \
             only after this update. So the update waits up to two minutes for them. A subnet that still holds one is then \
             listed in the attribute pending_deletion, and the next apply deletes it.",
        );
    }
    for failure in &dependents.unseen {
        text.push_str(&format!(
            "\n\nWhether network interfaces of others are in these subnets could not be looked up: {}",
            detail(failure)
        ));
    }
    let count = |adopted: bool| deleted.iter().filter(|entry| entry.applied.is_adopted() == adopted).count();
    let does = match count(false) {
        0 => format!("lets go of {}", counted(count(true), "AWS object")),
        gone => format!("deletes {}", counted(gone, "AWS object")),
    };
    diagnostics.warning(format!("The update of {} {name:?} {does}", P::TYPE_NAME), text);
}

/// A subnet that can be made only after one that others still use has gone.
pub(in crate::composite) fn overlap<P: Topology>(
    name: &str,
    (new, new_block): (&Object, &str),
    (old, old_block): (&Entry, &str),
    inside: &[Dependent],
    diagnostics: &mut Diagnostics,
) {
    diagnostics.error(
        format!("{} {name:?}: {} would have to wait for {} of {}", P::TYPE_NAME, new.key, old.key, old.id),
        format!(
            "Its block {new_block} overlaps {old_block}, the block of subnet {}, which this plan deletes. AWS makes the \
             new subnet only when the old one has gone, and keeps that while others have network interfaces in it:\n{}\n\n\
             Either choose a block that overlaps no subnet in use: then the new subnet is made first, what stands in the \
             old one can move, and the next apply deletes that. Or empty the old subnet first, and then apply.",
            old.id,
            listed(inside, "  "),
        ),
    );
}

/// Routes that lead nowhere for a time, because AWS leaves no other way.
pub(in crate::composite) fn warn_of_outages<P: Topology>(name: &str, plan: &Plan, diagnostics: &mut Diagnostics) {
    if plan.outages.is_empty() {
        return;
    }
    let line = |outage: &Outage| {
        let since = match &outage.until {
            Some(old) => format!("from the deletion of {} ({})", old.key, old.id),
            None => "already, as what it led to is gone, and".to_string(),
        };
        format!("  {} ({}): {since} until the new {} works", outage.entry.key, outage.entry.id, outage.target)
    };
    let lines: Vec<String> = plan.outages.iter().map(line).collect();
    diagnostics.warning(
        format!("The update of {} {name:?} leaves {} route tables without a way out", P::TYPE_NAME, lines.len()),
        format!(
            "What was deleted, or must be deleted before it can be made anew, has no other of its kind in the network \
             that could stand in for it. These routes lead nowhere meanwhile:\n{}",
            lines.join("\n")
        ),
    );
}

/// Routes of an API that must go before the ones that take their place are made.
pub(in crate::composite) fn warn_of_refused_requests<P: Topology>(
    name: &str,
    plan: &Plan,
    diagnostics: &mut Diagnostics,
) {
    let lines: Vec<String> = plan
        .ops
        .iter()
        .filter(|op| matches!(&op.action, Action::Create(object) if object.spec.answers_requests()))
        .flat_map(|op| op.depends_on.iter().map(move |before| (op, &plan.ops[*before].action)))
        .filter_map(|(op, before)| match before {
            Action::Delete { entry, .. } => {
                Some(format!("  {} ({}) goes before {} is made", entry.key, entry.id, op.action.key()))
            }
            _ => None,
        })
        .collect();
    if lines.is_empty() {
        return;
    }
    diagnostics.warning(
        format!("The update of {} {name:?} leaves requests without their route for a moment", P::TYPE_NAME),
        format!(
            "API Gateway takes no two paths that differ in the name of a variable only. Requests in between go to a more \
             general route if there is one, and are answered 404 if not:\n{}",
            lines.join("\n")
        ),
    );
}

/// A root that was deleted by someone else, or by a destroy that failed after it, and what has outlived it.
pub(in crate::composite) fn root_is_missing<P: Topology>(
    prior: &Value,
    name: &str,
    inventory: &Inventory,
    diagnostics: &mut Diagnostics,
) {
    let (root, id) = (P::KIND.root(), prior.get("id").as_str().unwrap_or_default());
    let left: Vec<String> =
        inventory.present().map(|entry| format!("  {} ({}){}", entry.key, entry.id, lost(entry))).collect();
    let left = match left.is_empty() {
        true => String::new(),
        false => format!(" These objects are left of it and are deleted:\n{}\n", left.join("\n")),
    };
    diagnostics.warning(
        format!("The {root} of {} {name:?} is gone: {id}", P::TYPE_NAME),
        format!(
            "It was deleted outside of Terraform, or by a destroy that failed later on, so this plan replaces the \
             resource.{left}\nTo delete what is left and build nothing, run `terraform destroy -target=ADDRESS` with the \
             address of this resource.",
        ),
    );
}

/// The paths that others have mapped in custom domains that an update deletes.
pub(in crate::composite) fn warn_of_paths<P: Topology>(name: &str, found: &Dependents, diagnostics: &mut Diagnostics) {
    let mut parts: Vec<String> = found.unseen.iter().map(detail).collect();
    if !found.objects.is_empty() {
        parts.insert(0, deleted_with("the domain", &found.objects));
    }
    if !parts.is_empty() {
        diagnostics.warning(
            format!("Others may use a custom domain that the update of {} {name:?} deletes", P::TYPE_NAME),
            parts.join("\n\n"),
        );
    }
}

/// Operations that wait for each other in a circle.
pub(in crate::composite) fn not_in_one_step<P: Topology>(
    name: &str,
    circle: &Unorderable,
    diagnostics: &mut Diagnostics,
) {
    diagnostics.error(
        format!("{} {name} cannot be changed in one step", P::TYPE_NAME),
        format!("{circle}. Make the change in two applies, each with a part of it."),
    );
}

/// An update that would exchange the root. With -replace, Terraform would ask for this plan first, and stop at this
/// error.
pub(in crate::composite) fn would_lose_root<P: Topology>(diagnostics: &mut Diagnostics) {
    diagnostics.error(
        format!("{} would lose its {}", P::TYPE_NAME, P::KIND.root()),
        "The change cannot be made in place. Run `terraform taint ADDRESS` and apply if you mean to rebuild it.",
    );
}
