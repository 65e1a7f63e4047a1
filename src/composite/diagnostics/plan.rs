//! Warnings and errors of a plan.

use std::collections::{BTreeMap, BTreeSet};

use ipnet::IpNet;

use super::text::{counted, deleted_with, detail, first, listed, lost, of_guardduty};
use crate::cloud::{Dependent, Dependents};
use crate::model::{Entry, GuardDutyObjects, Inventory, Key, Object, Ref, printable};
use crate::plugin::{AttributePath, Diagnostics, Problem, Value};
use crate::reconcile::{Action, Op, Outage, Phase, Plan, Unorderable};
use crate::topology::{IgnoredDrift, Topology};

/// Inputs that refer to objects which do not exist yet. The apply reads them again, and fails if they are still
/// missing.
pub(in crate::composite) fn warn_of_missing<P: Topology>(
    name: &str,
    missing: &[Problem],
    diagnostics: &mut Diagnostics,
) {
    for problem in missing {
        diagnostics.attribute_warning(
            problem.path.clone(),
            // Terraform shows only one of several warnings with the same summary.
            format!("{} of {} {name:?} refers to a missing object", problem.path, P::TYPE_NAME),
            format!(
                "{} The apply reads it again, and fails without a change if it is still missing. {}",
                problem.message, problem.hint
            ),
        );
    }
}

/// Inputs that name objects outside the topology with which an apply may fail.
pub(in crate::composite) fn warn_of_outside<P: Topology>(
    name: &str,
    problems: impl IntoIterator<Item = Problem>,
    diagnostics: &mut Diagnostics,
) {
    for problem in problems {
        diagnostics.attribute_warning(
            problem.path.clone(),
            format!("{} of {} {name:?} may make the apply fail", problem.path, P::TYPE_NAME),
            format!("{} {}", problem.message, problem.hint),
        );
    }
}

/// An existing object that the apply uses, or that it finds instead of creating a new one.
pub(in crate::composite) fn warn_of_existing<P: Topology>(name: &str, notice: Problem, diagnostics: &mut Diagnostics) {
    diagnostics.attribute_warning(
        notice.path.clone(),
        format!("{} of {} {name:?} names an existing object", notice.path, P::TYPE_NAME),
        format!("{} {}", notice.message, notice.hint),
    );
}

/// An unmanaged object because of which AWS may reject a create.
pub(in crate::composite) fn warn_of_obstacle<P: Topology>(name: &str, problem: Problem, diagnostics: &mut Diagnostics) {
    let summary = format!("{} {name:?}: AWS may reject {}", P::TYPE_NAME, problem.path);
    diagnostics.attribute_warning(problem.path, summary, format!("{} {}", problem.message, problem.hint));
}

/// Log groups that an update does not delete, because other roots use them. `users` has one for each.
pub(in crate::composite) fn warn_of_kept_for_users<P: Topology>(
    name: &str,
    users: &BTreeMap<String, String>,
    diagnostics: &mut Diagnostics,
) {
    let lines: Vec<String> = users.iter().map(|(id, user)| format!("  {} (used by {user})", printable(id))).collect();
    diagnostics.warning(
        format!("{} {name:?} leaves log groups that other resources use", P::TYPE_NAME),
        format!(
            "This resource does not need them any more. They stay with their log events and are no longer managed:\n{}",
            lines.join("\n")
        ),
    );
}

/// Patterns of `ignore_drift` that match no object, probably misspelled: drift that they should ignore would be
/// reverted.
pub(in crate::composite) fn warn_of_unmatched_patterns<P: Topology>(
    name: &str,
    ignored: &IgnoredDrift,
    objects: &[Object],
    diagnostics: &mut Diagnostics,
) {
    let slots: Vec<&str> = objects.iter().map(|object| object.key.slot.as_str()).collect();
    for (index, pattern) in ignored.unmatched(&slots) {
        diagnostics.attribute_warning(
            AttributePath::new("ignore_drift").index(index),
            format!("ignore_drift of {} {name:?}: {pattern:?} matches no object", P::TYPE_NAME),
            "The pattern matches no key in aws_objects, so it has no effect. Correct or remove it. Keys look like \
             route_table.public; * matches any text.",
        );
    }
}

/// Objects of an interrupted run that the apply takes over instead of creating them.
pub(in crate::composite) fn warn_of_takeover<P: Topology>(
    name: &str,
    taken: &BTreeMap<Key, String>,
    diagnostics: &mut Diagnostics,
) {
    if taken.is_empty() {
        return;
    }
    let lines: Vec<String> = taken.iter().map(|(key, id)| format!("{key}: {id}")).collect();
    diagnostics.warning(
        format!("{} {name:?} takes over objects that are not in state", P::TYPE_NAME),
        format!(
            "The configuration requires these objects, which exist and are not in state. They have the tags of this \
             resource or belong to objects that have them. An interrupted run probably created them. The apply adds them \
             to state, and changes what differs. Check the list, because others can set tags too:\n\n  {}",
            lines.join("\n  ")
        ),
    );
}

/// The objects that an update deletes, with the network interfaces that are still in its subnets.
pub(in crate::composite) fn warn_of_deletions<P: Topology>(
    name: &str,
    plan: &Plan,
    dependents: &Dependents,
    guardduty: GuardDutyObjects,
    diagnostics: &mut Diagnostics,
) {
    let kept: BTreeSet<&Key> = plan
        .ops
        .iter()
        .filter_map(|op| match &op.action {
            Action::Delete { entry, is_kept: true, .. } => Some(&entry.key),
            _ => None,
        })
        .collect();
    let deleted: Vec<(&Entry, bool)> = plan
        .ops
        .iter()
        .filter_map(|op| match &op.action {
            Action::Delete { entry, is_kept, cascades_from } => {
                let parent_stays = cascades_from.as_ref().is_some_and(|parent| kept.contains(parent));
                Some((entry, *is_kept || parent_stays || entry.stays_when_deleted()))
            }
            _ => None,
        })
        .collect();
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
        .map(|(entry, stays)| {
            let what = match arriving.contains(entry.key.slot.as_str()) {
                _ if *stays => "no longer managed",
                true => "replaced",
                false => "deleted",
            };
            let lost = if *stays { String::new() } else { lost(entry) };
            let line = format!("  {what}: {} ({}){lost}", entry.key, printable(&entry.id));
            let inside = dependents.holding(&entry.id);
            let relation = if entry.spec().holds_network_interfaces() { "contains" } else { "is used by" };
            let count = counted(inside.len(), "network interface");
            match inside.is_empty() {
                true => line,
                false => format!("{line}, {relation} {count}:\n{}", listed(&inside, "      ")),
            }
        })
        .collect();
    let mut text = lines.join("\n");
    if !dependents.objects.is_empty() {
        text.push_str(
            "\n\nAWS rejects the deletion of a subnet that contains a network interface, and Terraform changes the owners of \
             the interfaces only after this update. The update therefore waits up to two minutes for the interfaces to be \
             deleted. A subnet that still contains one is then listed in the attribute pending_deletion, and the next apply \
             deletes it.",
        );
    }
    text.push_str(&kept_until_deleted(plan, dependents));
    text.push_str(&of_guardduty(&dependents.objects, guardduty));
    text.push_str(&incomplete_list(dependents));
    let count = |staying: bool| deleted.iter().filter(|(_, stays)| *stays == staying).count();
    let does = match count(false) {
        0 => format!("stops managing {}", counted(count(true), "AWS object")),
        deleted => format!("deletes {}", counted(deleted, "AWS object")),
    };
    diagnostics.warning(format!("Updating {} {name:?} {does}", P::TYPE_NAME), text);
}

/// The calls that failed, because of which a list of network interfaces may be incomplete.
fn incomplete_list(found: &Dependents) -> String {
    let of_call = |failure| format!("\n\nThe list of network interfaces may be incomplete. {}", detail(failure));
    found.unseen.iter().map(of_call).collect()
}

/// What subnets that are still in use keep until AWS deletes them.
fn kept_until_deleted(plan: &Plan, dependents: &Dependents) -> String {
    let is_in_use = |op: &Op| match &op.action {
        Action::Delete { entry, .. } => {
            entry.spec().holds_network_interfaces() && !dependents.holding(&entry.id).is_empty()
        }
        _ => false,
    };
    let in_use: BTreeSet<usize> = (0..plan.ops.len()).filter(|position| is_in_use(&plan.ops[*position])).collect();
    let waiting = plan.transitive_dependents(in_use.clone()).into_iter().filter(|position| !in_use.contains(position));
    let lines: Vec<String> = waiting
        .filter_map(|position| match &plan.ops[position].action {
            Action::Delete { cascades_from: Some(_), .. } => None,
            Action::Delete { entry, .. } => Some(format!("  {} ({})", entry.key, printable(&entry.id))),
            Action::Update { to, .. } if to.spec.holds_network_interfaces() => None,
            Action::Update { to, id, .. } if plan.ops[position].phase == Phase::Late => {
                Some(format!("  the routes to {} ({}) in the route tables of these subnets", to.key, printable(id)))
            }
            Action::Create(_) | Action::Update { .. } => None,
        })
        .collect();
    let mut text = match lines.is_empty() {
        true => String::new(),
        false => format!("\n\nThese objects stay until the subnets that need them are deleted:\n{}", lines.join("\n")),
    };
    let rerouted = plan.deleted().filter_map(|entry| {
        let target = plan.ops.iter().find_map(|op| match &op.action {
            Action::Update { to, .. } if to.key == entry.key => to.spec.target(),
            _ => None,
        });
        match target {
            Some(Ref::Key(target)) => Some(format!("  {} to {target}", entry.key)),
            _ => None,
        }
    });
    let rerouted: Vec<String> = rerouted.collect();
    if !rerouted.is_empty() {
        text.push_str(&format!(
            "\n\nThese routes get another target until their tables are deleted:\n{}",
            rerouted.join("\n")
        ));
    }
    text
}

/// A subnet that can be created only after a subnet that is still in use has been deleted.
pub(in crate::composite) fn overlap<P: Topology>(
    name: &str,
    (new, new_block): (&Object, &str),
    (old, old_block): (&Entry, &str),
    inside: &[Dependent],
    diagnostics: &mut Diagnostics,
) {
    diagnostics.error(
        format!("Could not plan {} {name:?}: {} overlaps a subnet in use", P::TYPE_NAME, new.key),
        format!(
            "Its CIDR block {new_block} overlaps {old_block} of {} ({}), which this plan deletes. AWS creates the new subnet \
             only after the old one is deleted, and rejects that deletion while the old one contains network \
             interfaces:\n{}\n\nChoose a block that overlaps no subnet in use. The provider then creates the new subnet \
             first, so that the interfaces can be moved, and the next apply deletes the old one. Or delete the interfaces, \
             then apply.",
            old.key,
            printable(&old.id),
            listed(inside, "  "),
        ),
    );
}

/// A new object that needs the name or the place of an object that stays, because others use it. Returns whether there
/// is one.
pub(in crate::composite) fn refuse_contested<P: Topology>(
    name: &str,
    plan: &Plan,
    diagnostics: &mut Diagnostics,
) -> bool {
    let Some((new, old)) = plan.contested() else { return false };
    diagnostics.error(
        format!("Could not plan {} {name:?}: {} cannot be created yet", P::TYPE_NAME, new.key),
        format!(
            "It needs the name or the place of {} ({}), which AWS does not delete while these use it:\n{}\n\nRemove them, \
             then apply. Or take the new object out of the configuration until the attribute pending_deletion no longer \
             lists the old one.",
            old.key,
            printable(&old.id),
            first(&old.users, |user| format!("  {}", printable(user))).join("\n"),
        ),
    );
    true
}

/// An internet gateway that AWS does not detach, because public addresses are mapped through it.
pub(in crate::composite) fn public_addresses<P: Topology>(
    name: &str,
    gateway: &Entry,
    inside: &[Dependent],
    diagnostics: &mut Diagnostics,
) {
    diagnostics.error(
        format!("Could not plan {} {name:?}: {} is in use", P::TYPE_NAME, gateway.key),
        format!(
            "This plan deletes {} ({}). AWS rejects its detachment while network interfaces in subnets that stay have a \
             public address:\n{}\n\nRemove these addresses first, or keep the gateway.",
            gateway.key,
            printable(&gateway.id),
            listed(inside, "  "),
        ),
    );
}

/// A subnet whose address ranges AWS does not remove, because network interfaces have addresses of them.
pub(in crate::composite) fn addresses_in_use<P: Topology>(
    name: &str,
    (key, id, ranges): (&Key, &str, &[IpNet]),
    inside: &[Dependent],
    diagnostics: &mut Diagnostics,
) {
    let ranges: Vec<String> = ranges.iter().map(ToString::to_string).collect();
    diagnostics.error(
        format!("Could not plan {} {name:?}: addresses of {key} are in use", P::TYPE_NAME),
        format!(
            "This plan takes {} from {key} ({}). AWS rejects this while network interfaces have addresses of it:\n{}\n\n\
             Remove these addresses or interfaces first, then apply, or keep the block.",
            ranges.join(", "),
            printable(id),
            listed(inside, "  "),
        ),
    );
}

/// Route tables without a default route during the update, because AWS allows no other order.
pub(in crate::composite) fn warn_of_outages<P: Topology>(name: &str, plan: &Plan, diagnostics: &mut Diagnostics) {
    if plan.outages.is_empty() {
        return;
    }
    let line = |outage: &Outage| {
        let since = match &outage.until {
            Some(old) => format!("from the deletion of {} ({})", old.key, printable(&old.id)),
            None => "already, because its target was deleted, and".to_string(),
        };
        let until = match &outage.target {
            Some(target) => format!("until the new {target} is available"),
            None => "until the route is deleted with its table".to_string(),
        };
        format!("  {} ({}): {since} {until}", outage.entry.key, printable(&outage.entry.id))
    };
    let lines: Vec<String> = plan.outages.iter().map(line).collect();
    diagnostics.warning(
        format!("Updating {} {name:?} interrupts {}", P::TYPE_NAME, counted(lines.len(), "route")),
        format!(
            "Their target was deleted, or must be deleted before its replacement can be created, and the network contains no \
             other target to use in between. Traffic on these routes is dropped:\n{}",
            lines.join("\n")
        ),
    );
}

/// The network interfaces that lose all traffic, because the update takes all rules from the object that they are in.
pub(in crate::composite) fn warn_of_cut_off_interfaces<P: Topology>(
    name: &str,
    plan: &Plan,
    interfaces: &Dependents,
    diagnostics: &mut Diagnostics,
) {
    let Some(object) = plan.cut_off().next().filter(|_| *interfaces != Dependents::default()) else { return };
    let mut text = format!(
        "These network interfaces use {}, which then has no rules. They lose all traffic: new connections at once, open \
         ones when they have been idle. Give the interfaces another security group first:\n{}",
        object.key,
        listed(&interfaces.objects, "  ")
    );
    text.push_str(&incomplete_list(interfaces));
    let count = counted(interfaces.objects.len(), "network interface");
    diagnostics.warning(format!("Updating {} {name:?} cuts off {count}", P::TYPE_NAME), text);
}

/// A root that was deleted outside Terraform or by a destroy that failed later, and the objects that still exist.
pub(in crate::composite) fn root_is_missing<P: Topology>(
    prior: &Value,
    name: &str,
    inventory: &Inventory,
    diagnostics: &mut Diagnostics,
) {
    let (root, id) = (P::KIND.root_kind(), printable(prior.get("id").as_str().unwrap_or_default()));
    let left: Vec<String> =
        inventory.present().map(|entry| format!("  {} ({}){}", entry.key, printable(&entry.id), lost(entry))).collect();
    let left = match left.is_empty() {
        true => String::new(),
        false => format!(" These objects still exist and are deleted:\n{}\n", left.join("\n")),
    };
    diagnostics.warning(
        format!("{} {name:?} is replaced: {root} {id} was deleted", P::TYPE_NAME),
        format!(
            "It was deleted outside Terraform, or by a destroy that failed afterwards, so this plan replaces the \
             resource.{left}\nTo delete the remaining objects and create none, run this command with the address of this \
             resource:\n\n  terraform destroy -target=ADDRESS",
        ),
    );
}

/// Unmanaged API mappings of custom domains that an update deletes.
pub(in crate::composite) fn warn_of_paths<P: Topology>(name: &str, found: &Dependents, diagnostics: &mut Diagnostics) {
    warn_of_deleted_with::<P>(name, ("custom domain", "the domain"), found, diagnostics);
}

/// Unmanaged subscription filters of log groups that an update deletes.
pub(in crate::composite) fn warn_of_deleted_filters<P: Topology>(
    name: &str,
    found: &Dependents,
    diagnostics: &mut Diagnostics,
) {
    warn_of_deleted_with::<P>(name, ("log group", "the log group"), found, diagnostics);
}

fn warn_of_deleted_with<P: Topology>(
    name: &str,
    (deleted, with): (&str, &str),
    found: &Dependents,
    diagnostics: &mut Diagnostics,
) {
    let mut parts: Vec<String> = found.unseen.iter().map(detail).collect();
    if !found.objects.is_empty() {
        parts.insert(0, deleted_with(with, &found.objects));
    }
    if !parts.is_empty() {
        let summary = format!("Updating {} {name:?} deletes a {deleted} that may be in use", P::TYPE_NAME);
        diagnostics.warning(summary, parts.join("\n\n"));
    }
}

/// Operations that depend on each other in a cycle.
pub(in crate::composite) fn not_in_one_step<P: Topology>(
    name: &str,
    cycle: &Unorderable,
    diagnostics: &mut Diagnostics,
) {
    diagnostics.error(
        format!("Could not plan {} {name:?}: cyclic dependency", P::TYPE_NAME),
        format!("{cycle}. Split the change into two applies."),
    );
}

/// An update that would replace the root. The message does not suggest `-replace`: with it, Terraform requests this
/// plan first, and stops at this error.
pub(in crate::composite) fn would_lose_root<P: Topology>(diagnostics: &mut Diagnostics) {
    diagnostics.error(
        format!("Could not plan {}: {} must be replaced", P::TYPE_NAME, P::KIND.root_kind()),
        "The change is not possible in place. To replace all objects, run these commands with the address of this \
         resource:\n\n  terraform taint ADDRESS\n  terraform apply",
    );
}
