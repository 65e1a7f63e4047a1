//! The only place that makes messages about AWS objects for people.

mod lookups;

pub(super) use lookups::{no_such_id, no_topology, none_found, several_found, warn_of_unfinished};

use crate::cloud::{Cause, Failure, InTheWay, Obstacle, UnfinishedRoot};
use crate::model::{Entry, Inventory, Object};
use crate::plugin::{AttributePath, Diagnostics, Problem, Value};
use crate::reconcile::{Action, Gap, Outcome, Plan};
use crate::topology::{IgnoredDrift, Product};

use super::obstacles::Culprits;

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
        Cause::Panicked => "This is a bug in the provider: please report it with this message.",
        Cause::Exists | Cause::TimedOut | Cause::Lost | Cause::Other => "",
    };
    if !hint.is_empty() {
        text.push_str("\n\n");
        text.push_str(hint);
    }
    text
}

/// One error for each operation that failed.
pub(super) fn failures(plan: &Plan, outcome: &Outcome, found: &Culprits, diagnostics: &mut Diagnostics) {
    for (position, failure) in &outcome.failed {
        let action = &plan.ops[*position].action;
        let summary = format!("{} {} {} failed", action.doing(), action.spec().kind(), action.key());
        diagnostics.error(summary, format!("{}{}", detail(failure), culprits(found.get(position))));
    }
}

/// What an apply will look for again, and be refused without.
pub(super) fn warn_of_missing<P: Product>(name: &str, missing: &[Problem], diagnostics: &mut Diagnostics) {
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

/// What keeps AWS from deleting an object, as a paragraph of its own after what AWS said.
pub(super) fn culprits(found: Option<&InTheWay>) -> String {
    let Some(found) = found else { return String::new() };
    let mut text = match found.obstacles.is_empty() {
        true if found.unseen.is_empty() => "\n\nNothing of others is found in its way any more.".to_string(),
        true => String::new(),
        false => format!("\n\nIn its way:\n{}", listed(&found.obstacles, "  ")),
    };
    for failure in &found.unseen {
        text.push_str(&format!("\n\nWhat is in its way could not be looked up in full: {}", detail(failure)));
    }
    text
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

/// A look for what calls without an answer have done, which failed too.
pub(super) fn unseen_work<P: Product>(name: &str, why: &str, diagnostics: &mut Diagnostics) {
    diagnostics.warning(
        format!("What AWS has done of {} {name:?} without an answer is not known", P::TYPE_NAME),
        format!(
            "AWS may have carried out calls whose answer was lost, and a look for what they have done failed. The next plan \
             looks again.\n\n{why}"
        ),
    );
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

/// What a plan that deletes should not keep to itself, with what others have in the subnets that it deletes.
pub(super) fn warn_of_deletions<P: Product>(
    name: &str,
    plan: &Plan,
    in_the_way: &InTheWay,
    diagnostics: &mut Diagnostics,
) {
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
            let what = match arriving.contains(entry.key.slot.as_str()) {
                _ if entry.applied.is_adopted() => "let go",
                true => "replaced",
                false => "deleted",
            };
            let line = format!("  {what}: {} ({}){}", entry.key, entry.id, lost(entry));
            let inside = in_the_way.holding(&entry.id);
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
    if !in_the_way.obstacles.is_empty() {
        text.push_str(
            "\n\nAWS keeps a subnet while a network interface is in it, and Terraform changes what the interfaces belong to \
             only after this update. So the update waits up to two minutes for them. A subnet that still holds one is then \
             listed in the attribute leaving, and the next apply deletes it.",
        );
    }
    for failure in &in_the_way.unseen {
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
pub(super) fn overlap<P: Product>(
    name: &str,
    (new, new_block): (&Object, &str),
    (old, old_block): (&Entry, &str),
    inside: &[Obstacle],
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

/// Routes of an API that must go before the ones that take their place are made.
pub(super) fn warn_of_refused_requests<P: Product>(name: &str, plan: &Plan, diagnostics: &mut Diagnostics) {
    let lines: Vec<String> = plan
        .ops
        .iter()
        .filter(|op| matches!(&op.action, Action::Create(object) if object.spec.answers_requests()))
        .flat_map(|op| op.waits.iter().map(move |before| (op, &plan.ops[*before].action)))
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
pub(super) fn root_is_gone<P: Product>(
    prior: &Value,
    name: &str,
    inventory: &Inventory,
    diagnostics: &mut Diagnostics,
) {
    let (root, id) = (P::OWNER.root(), prior.get("id").as_str().unwrap_or_default());
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

/// What is about to end, for [`warn_of_end`].
#[derive(Clone, Copy)]
pub(super) enum End {
    /// The user destroys it.
    Destroy,
    /// A change of the configuration makes another one in its place.
    Replacement,
}

/// What goes with a root: each object by key and id, first what cannot be had again.
///
/// `in_the_way` is `None` where nobody could look, as the provider block still holds unknowns.
pub(super) fn warn_of_end<P: Product>(
    end: End,
    (name, id): (&str, &str),
    inventory: &Inventory,
    in_the_way: Option<&InTheWay>,
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
    if in_the_way.is_none() {
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
    if let Some(in_the_way) = in_the_way {
        warn_of_foreigners::<P>((name, id), in_the_way, diagnostics);
    }
}

fn lines(entries: &[&Entry], line: impl Fn(&&Entry) -> String) -> String {
    entries.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What others keep in a root that is to be destroyed.
fn warn_of_foreigners<P: Product>((name, id): (&str, &str), found: &InTheWay, diagnostics: &mut Diagnostics) {
    let unseen: Vec<String> = found.unseen.iter().map(detail).collect();
    if !found.obstacles.is_empty() {
        let mut text = match P::OWNER.takes_foreign_objects_along() {
            true => along_with(id, &found.obstacles),
            false => format!(
                "AWS refuses to delete {id} while these are there:\n{}\n\nWhat Terraform destroys before this \
                 resource goes in time. Remove what is left of the others: a destroy that finds them waits for as long as \
                 timeouts.delete says, and then fails.",
                listed(&found.obstacles, "  ")
            ),
        };
        if !unseen.is_empty() {
            text.push_str(&format!("\n\nThere may be more, as not all could be looked up: {}", unseen.join("\n")));
        }
        let count = counted(found.obstacles.len(), "object");
        diagnostics
            .warning(format!("Others keep {count} in {} {name:?}, which is to be destroyed", P::TYPE_NAME), text);
    } else if !unseen.is_empty() {
        diagnostics.warning(
            format!("What others keep in {} {name:?} could not be looked up", P::TYPE_NAME),
            match P::OWNER.takes_foreign_objects_along() {
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

/// The paths that others have mapped in custom domains that an update deletes.
pub(super) fn warn_of_paths<P: Product>(name: &str, found: &InTheWay, diagnostics: &mut Diagnostics) {
    let mut parts: Vec<String> = found.unseen.iter().map(detail).collect();
    if !found.obstacles.is_empty() {
        parts.insert(0, along_with("the domain", &found.obstacles));
    }
    if !parts.is_empty() {
        diagnostics.warning(
            format!("Others may use a custom domain that the update of {} {name:?} deletes", P::TYPE_NAME),
            parts.join("\n\n"),
        );
    }
}

/// What AWS deletes along with something of ours, and what keeps it.
fn along_with(what: &str, obstacles: &[Obstacle]) -> String {
    let (going, keeping): (Vec<Obstacle>, Vec<Obstacle>) =
        obstacles.iter().cloned().partition(|obstacle| obstacle.holds.is_empty());
    let mut parts = Vec::new();
    if !going.is_empty() {
        parts.push(format!(
            "AWS deletes these along with {what}, though they are not managed here:\n{}\n\nWhoever made them may still \
             need them.",
            listed(&going, "  ")
        ));
    }
    if !keeping.is_empty() {
        parts.push(format!(
            "By these a custom domain leads to APIs of others. It is not deleted while it does, and the apply fails: \
             remove them before.\n{}",
            listed(&keeping, "  ")
        ));
    }
    parts.join("\n\n")
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
                 finish it:\n\n  terraform import ADDRESS {id}\n  terraform apply\n\nwith the address of this resource. If \
                 state holds another one at that address, which was about to be replaced, move it aside first; the apply \
                 then destroys it:\n\n  terraform state mv ADDRESS {kind}.replaced",
                id = root.id,
                kind = P::TYPE_NAME,
            ),
        );
    }
}

/// What goes with an object and cannot be had again.
fn lost(entry: &Entry) -> String {
    entry.spec().lost_when_deleted(&entry.learned).map(|what| format!(", {what}")).unwrap_or_default()
}

/// One line for each.
fn listed(obstacles: &[Obstacle], indent: &str) -> String {
    const SHOWN: usize = 20;
    let mut lines: Vec<String> =
        obstacles.iter().take(SHOWN).map(|obstacle| format!("{indent}{}", described(obstacle))).collect();
    if obstacles.len() > SHOWN {
        lines.push(format!("{indent}and {} more", obstacles.len() - SHOWN));
    }
    lines.join("\n")
}

/// `network interface eni-1 "AWS Lambda VPC ENI-shop" (type lambda, account 123456789012)`
fn described(obstacle: &Obstacle) -> String {
    let mut text = format!("{} {}", obstacle.kind, obstacle.id);
    if !obstacle.description.is_empty() {
        text.push_str(&format!(" {:?}", obstacle.description));
    }
    let account = obstacle.owner.as_ref().map(|owner| format!("account {owner}"));
    let further = Some(obstacle.further.clone()).filter(|further| !further.is_empty());
    let further: Vec<String> = further.into_iter().chain(account).collect();
    if !further.is_empty() {
        text.push_str(&format!(" ({})", further.join(", ")));
    }
    text
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn shortened(keys: &[String]) -> String {
    const SHOWN: usize = 12;
    match keys.len() {
        0..=SHOWN => keys.join(", "),
        more => format!("{} and {} more", keys[..SHOWN].join(", "), more - SHOWN),
    }
}
