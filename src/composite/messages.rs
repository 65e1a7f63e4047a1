//! The only place that makes messages about AWS objects for people.

use crate::cloud::{Cause, Failure, UnfinishedRoot};
use crate::objects::{Entry, Inventory, Object, Spec};
use crate::plugin::{AttributePath, Diagnostics, PlanRequest, Value};
use crate::product::{IgnoredDrift, Product};
use crate::reconcile::{Action, Gap, Outcome, Plan};

use super::private::Private;

/// What AWS said, and what that means.
pub(super) fn detail(failure: &Failure) -> String {
    let mut text = match &failure.code {
        Some(code) => format!("{} answered {code}: {}", failure.action, failure.message),
        None => format!("{}: {}", failure.action, failure.message),
    };
    if let Some(request_id) = &failure.request_id {
        text.push_str(&format!(" (request id {request_id})"));
    }
    let hint = match failure.cause {
        Cause::Denied => "The credentials lack a permission for this call, or a policy of the organization forbids it.",
        Cause::Throttled => "AWS throttled the call for longer than the provider retries. Apply again later.",
        Cause::NotFound => "An object was gone at apply. Plan again: the new plan shows it.",
        Cause::InUse => "Something else still uses the object.",
        Cause::Stopped => "Terraform was asked to stop. The object is in state, and the next apply goes on with it.",
        Cause::Exists | Cause::TimedOut | Cause::Other => "",
    };
    if !hint.is_empty() {
        text.push_str("\n\n");
        text.push_str(hint);
    }
    text
}

/// One error for each operation that failed.
pub(super) fn failures(plan: &Plan, outcome: &Outcome, diagnostics: &mut Diagnostics) {
    for (position, failure) in &outcome.failed {
        let action = &plan.ops[*position].action;
        let summary = format!("{} {} {} failed", action.doing(), action.spec().kind(), action.key());
        diagnostics.error(summary, detail(failure));
    }
}

/// Patterns of `ignore_drift` that stand for no object: a slip of the pen would leave drift to be mended.
pub(super) fn warn_of_idle_patterns<P: Product>(
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

/// What stands, what does not, and the ways on, after an apply that did not finish.
pub(super) fn unfinished<P: Product>(
    name: &str,
    root_id: Option<&str>,
    creating: bool,
    plan: &Plan,
    outcome: &Outcome,
    diagnostics: &mut Diagnostics,
) {
    let all = plan.ops.len();
    let done = all - outcome.failed.len() - outcome.not_started.len();
    let why = if outcome.stopped { "Terraform was asked to stop" } else { "an operation failed" };
    let waiting: Vec<String> =
        outcome.not_started.iter().map(|position| plan.ops[*position].action.key().to_string()).collect();
    let mut text = format!("{done} of {all} operations were done before {why}. ");
    if !waiting.is_empty() {
        text.push_str(&format!("Not started: {}. ", shortened(&waiting)));
    }
    match (creating, root_id) {
        (true, None) => text.push_str("Nothing was created."),
        (true, Some(id)) => text.push_str(&format!(
            "What was created is in state, below {id}, and Terraform has marked the resource as tainted. There are two \
             ways on. Fix the cause and apply: Terraform destroys what there is and builds it anew. Or keep what there \
             is: run `terraform untaint ADDRESS` with the address of this resource, then apply: only what is missing is \
             made."
        )),
        (false, _) => text.push_str(
            "State holds what exists now. Fix the cause and apply again: only what is left is done. It is listed in the \
             attribute drift.",
        ),
    }
    diagnostics.error(format!("{} {name:?} is incomplete", P::TYPE_NAME), text);
}

/// What could not be made because something that it is made from never became known.
pub(super) fn still_unknown<P: Product>(name: &str, keys: Vec<String>, diagnostics: &mut Diagnostics) {
    diagnostics.error(
        format!("{} {name:?} cannot be finished", P::TYPE_NAME),
        format!(
            "What these are made from is still unknown after all else was made: {}. This is a bug in the provider.",
            shortened(&keys)
        ),
    );
}

/// What a plan that deletes should not keep to itself.
pub(super) fn warn_of_deletions<P: Product>(name: &str, plan: &Plan, diagnostics: &mut Diagnostics) {
    let deleted: Vec<&Entry> = plan.deleted().collect();
    if deleted.is_empty() {
        return;
    }
    let arriving: std::collections::BTreeSet<&str> = plan
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
            let what = if arriving.contains(entry.key.slot.as_str()) { "replaced" } else { "deleted" };
            format!("  {what}: {} ({}){}", entry.key, entry.id, address(entry))
        })
        .collect();
    diagnostics.warning(
        format!("The update of {} {name:?} deletes {} AWS objects", P::TYPE_NAME, deleted.len()),
        lines.join("\n"),
    );
}

/// Routes that lead nowhere for a time, because AWS leaves no other way.
pub(super) fn warn_of_gaps<P: Product>(name: &str, plan: &Plan, diagnostics: &mut Diagnostics) {
    if plan.gaps.is_empty() {
        return;
    }
    let line = |gap: &Gap| {
        let since = match &gap.until {
            Some(old) => format!("from the deletion of {} ({})", old.key, old.id),
            None => "already, as what it led to is gone, and".to_string(),
        };
        format!("  {} ({}): {since} until the new {} works", gap.entry.key, gap.entry.id, gap.target)
    };
    let lines: Vec<String> = plan.gaps.iter().map(line).collect();
    diagnostics.warning(
        format!("The update of {} {name:?} leaves {} route tables without a way out", P::TYPE_NAME, lines.len()),
        format!(
            "What was deleted, or must be deleted before it can be made anew, has no other of its kind in the network \
             that could stand in for it. These routes lead nowhere meanwhile:\n{}",
            lines.join("\n")
        ),
    );
}

/// A root that was deleted by someone else, or by a destroy that failed after it, and what has outlived it.
pub(super) fn root_is_gone<P: Product>(
    prior: &Value,
    name: &str,
    inventory: &Inventory,
    diagnostics: &mut Diagnostics,
) {
    let (root, id) = (P::OWNER.root(), prior.get("id").as_str().unwrap_or_default());
    let left: Vec<String> =
        inventory.present().map(|entry| format!("  {} ({}){}", entry.key, entry.id, address(entry))).collect();
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

/// What a destroy takes that cannot be had again.
pub(super) fn warn_of_destroy<P: Product>(request: &PlanRequest, diagnostics: &mut Diagnostics) {
    let Some(private) = Private::decode(&request.prior_private) else { return };
    let lines: Vec<String> = private
        .inventory
        .present()
        .filter(|entry| matches!(entry.spec(), Spec::Eip(_) | Spec::LogGroup(_)))
        .map(|entry| match entry.spec() {
            Spec::LogGroup(_) => format!("  log group {} with its events", entry.id),
            _ => format!("  {} ({}){}", entry.key, entry.id, address(entry)),
        })
        .collect();
    if lines.is_empty() {
        return;
    }
    let id = request.prior.get("id").as_str().unwrap_or_default();
    diagnostics.warning(
        format!("Destroying {} {id} gives up what cannot be had again", P::TYPE_NAME),
        format!("These go with it:\n{}", lines.join("\n")),
    );
}

/// A create that finds what a killed create has left.
pub(super) fn leftovers<P: Product>(name: &str, left: &[UnfinishedRoot], diagnostics: &mut Diagnostics) {
    for root in left {
        let created = root.created.as_ref().map(|time| format!(", created {time}")).unwrap_or_default();
        diagnostics.error(
            format!("An unfinished {} {name:?} exists already: {}", P::TYPE_NAME, root.id),
            format!(
                "{id}{created} carries the tag fgw:state = creating: a run that created it was killed, or is still at \
                 work elsewhere. If another run is at work, wait for it. If not, take over what it has left and \
                 finish it:\n\n  terraform import ADDRESS {id}\n  terraform apply\n\nwith the address of this resource.",
                id = root.id,
            ),
        );
    }
}

fn address(entry: &Entry) -> String {
    match (entry.spec(), entry.learned.get("public_ip")) {
        (Spec::Eip(_), Some(address)) => format!(", the public address {address} is lost"),
        _ => String::new(),
    }
}

fn shortened(keys: &[String]) -> String {
    const SHOWN: usize = 12;
    match keys.len() {
        0..=SHOWN => keys.join(", "),
        more => format!("{} and {} more", keys[..SHOWN].join(", "), more - SHOWN),
    }
}
