//! Diagnostics of an apply: failed operations, and how to continue.

use std::collections::BTreeMap;

use super::text::{case, dependents, detail, detail_with, listed, message, of_guardduty, shortened};
use crate::cloud::{Case, Cause, Dependent, Dependents, DependentsByOp, Failure, Namesake};
use crate::model::{Entry, GuardDutyObjects, Inventory, Key, printable};
use crate::plugin::Diagnostics;
use crate::reconcile::{Outcome, Plan};
use crate::topology::Topology;

/// One error for each operation that failed, except for those of [`rejected_credentials`]. `arguments` are the inputs
/// to correct, by the positions of operations that did not find an object of the user.
pub(in crate::composite) fn failures(
    plan: &Plan,
    outcome: &Outcome,
    (found, arguments): (&DependentsByOp, &BTreeMap<usize, String>),
    guardduty: GuardDutyObjects,
    diagnostics: &mut Diagnostics,
) {
    for (position, failure) in outcome.failed.iter().filter(|(_, failure)| failure.cause != Cause::Credentials) {
        let action = &plan.ops[*position].action;
        let summary = format!("Could not {} {} \"{}\"", action.verb(), action.spec().kind(), action.key());
        let detail = match arguments.get(position) {
            Some(argument) => detail_with(failure, argument),
            None => detail(failure),
        };
        let found = found.get(position);
        let guide = case(failure, found).map(Case::see).unwrap_or_default();
        diagnostics.error(summary, format!("{detail}{}{guide}", dependents(found, guardduty)));
    }
}

/// One error for all operations that failed because AWS rejected the credentials.
pub(in crate::composite) fn rejected_credentials<P: Topology>(
    name: &str,
    plan: &Plan,
    outcome: &Outcome,
    diagnostics: &mut Diagnostics,
) {
    let rejected = || outcome.failed.iter().filter(|(_, failure)| failure.cause == Cause::Credentials);
    let Some((_, first)) = rejected().next() else { return };
    let keys: Vec<String> = rejected().map(|(position, _)| plan.ops[*position].action.key().to_string()).collect();
    diagnostics.error(
        format!("Could not apply {} {name:?}: AWS rejected the credentials", P::TYPE_NAME),
        format!("{}\n\nOperations that failed for this reason: {}.", detail(first), shortened(&keys)),
    );
}

/// The operation on a topology that an apply executes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::composite) enum Operation {
    Create,
    Update,
    Destroy,
}

/// An apply that did not finish: how far it came, and how to continue.
pub(in crate::composite) fn incomplete<P: Topology>(
    name: &str,
    root_id: Option<&str>,
    operation: Operation,
    plan: &Plan,
    outcome: &Outcome,
    diagnostics: &mut Diagnostics,
) {
    let all = plan.ops.len();
    let done = all - outcome.failed.len() - outcome.not_started.len();
    let why = if outcome.stopped { "Terraform requested a stop" } else { "an operation failed" };
    let waiting: Vec<String> =
        outcome.not_started.iter().map(|position| plan.ops[*position].action.key().to_string()).collect();
    let mut text = format!("{done} of {all} operations were completed before {why}. ");
    if !waiting.is_empty() {
        text.push_str(&format!("Not started: {}. ", shortened(&waiting)));
    }
    match (operation, root_id) {
        (Operation::Create, None) => text.push_str("Nothing was created."),
        (Operation::Create, Some(id)) => text.push_str(&format!(
            "The created objects, which belong to {id}, are in state, and Terraform has marked the resource as tainted.\n\n\
             Fix the cause, then do one of the following. To destroy the existing objects and create all objects again, \
             apply again. To keep the existing objects and create only the missing ones, run these commands with the \
             address of this resource:\n\n  terraform untaint ADDRESS\n  terraform apply"
        )),
        (Operation::Update, _) => text.push_str(
            "State contains the objects that exist now, and the attribute drift lists the remaining changes. Fix the \
             cause and apply again: the provider performs only these.",
        ),
        (Operation::Destroy, _) => text.push_str(
            "State contains the objects that remain. Fix the cause and run the same command again: the provider deletes \
             only these. While the configuration contains the resource, an apply creates the deleted objects again.",
        ),
    }
    text.push_str(&match operation {
        Operation::Create if root_id.is_none() => String::new(),
        Operation::Create => Case::CreateFails.see(),
        Operation::Update => Case::UpdateFails.see(),
        Operation::Destroy => Case::DestroyFails.see(),
    });
    match operation {
        Operation::Create => diagnostics.error(format!("Could not create {} {name:?}: incomplete", P::TYPE_NAME), text),
        Operation::Update => diagnostics.error(format!("Could not update {} {name:?}: incomplete", P::TYPE_NAME), text),
        Operation::Destroy => {
            diagnostics.error(format!("Could not destroy {} {name:?}: incomplete", P::TYPE_NAME), text);
        }
    }
}

/// Gateways whose routes do not propagate yet, by the key of the route table.
pub(in crate::composite) fn not_attached(waiting: &BTreeMap<String, String>, diagnostics: &mut Diagnostics) {
    if waiting.is_empty() {
        return;
    }
    let lines: Vec<String> =
        waiting.iter().map(|(table, why)| format!("  {}: {}", printable(table), printable(why))).collect();
    diagnostics.warning(
        "Route propagation is not enabled yet",
        format!(
            "{}\n\nAWS enables it only while the virtual private gateway is attached to the VPC. An attachment that refers to \
             the vpc_id of this resource is created after it. The next apply tries again.",
            lines.join("\n")
        ),
    );
}

/// Calls with an unknown outcome whose objects could not be read either.
pub(in crate::composite) fn unknown_outcomes<P: Topology>(name: &str, why: &str, diagnostics: &mut Diagnostics) {
    diagnostics.warning(
        format!("The outcome of some AWS calls for {} {name:?} is unknown", P::TYPE_NAME),
        format!(
            "{}\n\nThe responses to these calls were lost, and reading the affected objects failed too. AWS may have \
             carried the calls out. Run plan again: it reads all objects.",
            printable(why)
        ),
    );
}

/// Objects whose inputs were still unknown after all other objects were created.
pub(in crate::composite) fn still_unknown<P: Topology>(name: &str, keys: Vec<String>, diagnostics: &mut Diagnostics) {
    diagnostics.error(
        format!("Could not apply {} {name:?}: inputs are unknown", P::TYPE_NAME),
        format!(
            "Inputs of these objects are still unknown after all other objects were created: {}. This is a bug in the \
             provider. Report it with this message.",
            shortened(&keys)
        ),
    );
}

/// A create that finds the objects of a killed create. It continues if that is a warning: in a plan, because the other
/// create may end before the apply, and if the configuration allows a second root of this name.
pub(in crate::composite) fn leftovers<P: Topology>(
    name: &str,
    left: &[Namesake],
    is_warning: bool,
    diagnostics: &mut Diagnostics,
) {
    for root in left {
        let id = printable(&root.id);
        let text = format!(
            "{id}{} has the tag fgw:state = creating: the run that created it was killed or is still in progress, its role \
             may not change tags, or another user has set this tag.\n\nIf another run is in progress, wait for it. If \
             another resource manages it, choose another name, or set allow_duplicate_name = true to create a second one. \
             If no state contains it, make sure that the provider created it, for example with the event of its creation \
             in CloudTrail. Then import the existing objects and create the missing ones:{}",
            created(root),
            import::<P>(&root.id),
        );
        match is_warning {
            true => diagnostics.warning(format!("Unfinished {id} has the name of {} {name:?}", P::TYPE_NAME), text),
            false => {
                diagnostics.error(format!("Could not create {} {name:?}: unfinished {id} exists", P::TYPE_NAME), text);
            }
        }
    }
}

/// A create that finds complete roots with its name and its features, or with its name if that is sufficient.
pub(in crate::composite) fn duplicates<P: Topology>(
    name: &str,
    is_of_name_alone: bool,
    found: &[Namesake],
    diagnostics: &mut Diagnostics,
) {
    let (root_kind, features) = (P::KIND.root_kind(), P::FEATURES);
    let features = if is_of_name_alone { String::new() } else { format!(" and the same {features}") };
    for root in found {
        let id = printable(&root.id);
        diagnostics.error(
            format!("Could not create {} {name:?}: {id} exists already", P::TYPE_NAME),
            format!(
                "The {root_kind} {id}{created} has the tags of this provider and the same name{features}. Nothing was \
                 created.\n\nCheck whether another resource of this configuration, another workspace or another state \
                 manages it, or whether this plan replaces it with create_before_destroy. If so, choose another name, or \
                 set allow_duplicate_name = true to create a second one.\n\nIf no state contains it, the run that \
                 created it was probably killed before its state was saved. Others can set these tags too, so check the \
                 event of its creation in CloudTrail. Then import it:{import}",
                created = created(root),
                import = import::<P>(&root.id),
            ),
        );
    }
}

fn created(root: &Namesake) -> String {
    root.created.as_ref().map(|time| format!(", created {},", printable(time))).unwrap_or_default()
}

/// The commands that import an existing root instead of creating another one.
fn import<P: Topology>(root_id: &str) -> String {
    format!(
        "\n\n  terraform import ADDRESS {id}\n  terraform apply\n\nReplace ADDRESS with the address of this resource. \
         If state contains another resource at this address, which was about to be replaced, move it first; the apply \
         then destroys it:\n\n  terraform state mv ADDRESS {kind}.replaced",
        kind = P::TYPE_NAME,
        id = printable(root_id),
    ) + &Case::CreateIsKilled.see()
}

/// A plan whose private data has the format of another version.
pub(in crate::composite) fn unreadable_plan<P: Topology>(diagnostics: &mut Diagnostics) {
    diagnostics.error(
        format!("Could not apply {}: unreadable plan", P::TYPE_NAME),
        "The plan was created by another version of the provider. Run plan again.",
    );
}

/// A planned update of a topology whose root does not exist. Such a plan was created without access to AWS; every other
/// plan replaces the resource.
pub(in crate::composite) fn root_not_in_plan<P: Topology>(diagnostics: &mut Diagnostics) {
    diagnostics.error(
        format!("Could not update {}: {} does not exist", P::TYPE_NAME, P::KIND.root_kind()),
        "It was deleted outside Terraform. The plan was created while the provider configuration was unknown, so it could \
         not show this. Run plan again: the new plan creates it again.",
    );
}

/// A decision that was possible at plan and is not possible at apply.
pub(in crate::composite) fn not_as_planned<P: Topology>(name: &str, diagnostics: &mut Diagnostics) {
    diagnostics.error(
        format!("Could not apply {} {name:?}: not as planned", P::TYPE_NAME),
        "The operations were known at plan and cannot be determined now. Run plan again. If the error persists, it is a \
         bug in the provider; report it with this message.",
    );
}

/// A deployment that AWS started after a change, and that failed. `deferred` is whether deletions waited for it.
pub(in crate::composite) fn not_deployed<P: Topology>(
    root_id: &str,
    failure: &Failure,
    deferred: bool,
    diagnostics: &mut Diagnostics,
) {
    let mut text = detail(failure);
    if deferred {
        text.push_str(
            " Nothing that it uses was deleted. That apply also completes the deletions, which the attribute \
             pending_deletion lists.",
        );
    }
    diagnostics.error(format!("Could not deploy {} {root_id}", P::TYPE_NAME), text);
}

/// A deployment that AWS has started after a change, and that has not ended yet.
pub(in crate::composite) fn still_deploying<P: Topology>(
    root_id: &str,
    failure: &Failure,
    diagnostics: &mut Diagnostics,
) {
    diagnostics.warning(
        format!("{} {root_id} is not deployed yet", P::TYPE_NAME),
        format!("All changes were made. {}: {}.", printable(&failure.action), message(failure)),
    );
}

/// Changes that a person has to deploy, and the deletions that wait for it. They are an error if the plan could not
/// show them.
pub(in crate::composite) fn awaits_deployment<P: Topology>(
    root_id: &str,
    failure: &Failure,
    (inventory, is_planned): (&Inventory, bool),
    diagnostics: &mut Diagnostics,
) {
    let waits = |entry: &&Entry| entry.pending_deletion && entry.undeployed_since().is_some();
    let waiting: Vec<String> = inventory.present().filter(waits).map(|entry| entry.key.to_string()).collect();
    let mut text = format!(
        "{}: {}.\n\nAWS deploys the changes only when automatic deployment is on, or when someone deploys the API. Until \
         then, the stage serves the previous deployment.",
        printable(&failure.action),
        message(failure)
    );
    text.push_str(&match waiting.is_empty() {
        true => " Deploy the API.".to_string(),
        false => format!(
            " That deployment may need these objects, so they were not deleted, and the attribute pending_deletion lists \
             them: {}.\n\nDeploy the API, then apply: the apply deletes them.",
            shortened(&waiting)
        ),
    });
    let summary = format!("{} {root_id} has no automatic deployment", P::TYPE_NAME);
    match waiting.is_empty() || is_planned {
        true => diagnostics.warning(summary, text),
        false => diagnostics.error(summary, text),
    }
}

/// A destroy that deletes nothing, because unmanaged objects still use what it deletes.
pub(in crate::composite) fn destroy_in_use<P: Topology>(
    root_id: &str,
    found: &Dependents,
    guardduty: GuardDutyObjects,
    has_stopped: bool,
    diagnostics: &mut Diagnostics,
) {
    if !found.unseen.is_empty() {
        let unseen: Vec<String> = found.unseen.iter().map(detail).collect();
        let users = match found.objects.is_empty() {
            true => String::new(),
            false => format!("\n\nThese were found:\n{}", listed(&found.objects, "  ")),
        };
        diagnostics.error(
            format!("Could not destroy {} {root_id}", P::TYPE_NAME),
            format!(
                "Nothing was deleted, because the unmanaged objects that use it could not be listed. {}{users}",
                unseen.join("\n")
            ),
        );
        return;
    }
    let why = match has_stopped {
        true => "Terraform requested a stop while the destroy waited for them",
        false => "They still existed when timeouts.delete expired",
    };
    let is_of_lambda = found.objects.iter().any(Dependent::is_of_lambda);
    diagnostics.error(
        format!("Could not destroy {} {root_id}: in use", P::TYPE_NAME),
        format!(
            "Nothing was deleted. This resource does not manage these objects, and AWS rejects the deletion of what they \
             use or are in:\n{}\n\n{why}. Delete them, then destroy again.{}{}",
            listed(&found.objects, "  "),
            of_guardduty(&found.objects, guardduty),
            if is_of_lambda { Case::LambdaInterfaces.see() } else { Case::DestroyFails.see() },
        ),
    );
}

/// An object that an update could not delete and the next apply deletes.
pub(in crate::composite) fn still_in_use(
    key: &Key,
    failure: &Failure,
    found: Option<&Dependents>,
    guardduty: GuardDutyObjects,
    diagnostics: &mut Diagnostics,
) {
    diagnostics.warning(
        format!("{key} is still in use; the next apply deletes it"),
        format!(
            "{}{}\n\nUntil then, the attribute pending_deletion lists it. While a refresh finds such objects, a plan does not try again.",
            detail(failure),
            dependents(found, guardduty)
        ),
    );
}

/// A root whose tag `fgw:state` could not be set to its actual state.
pub(in crate::composite) fn tag_not_changed(root_id: &str, failure: &Failure, diagnostics: &mut Diagnostics) {
    diagnostics.warning(
        format!("Could not change the tag fgw:state of {root_id}"),
        format!("{}\n\nThe next apply tries again.", detail(failure)),
    );
}

/// `FGW_PROGRESS` names something that cannot be written.
pub(in crate::composite) fn progress_not_written(problem: &str, diagnostics: &mut Diagnostics) {
    diagnostics.warning(
        "The progress of the apply is not written",
        format!(
            "{}. The apply is not affected. Set FGW_PROGRESS to a terminal, such as /dev/tty, or to a file in an existing \
             directory.",
            printable(problem)
        ),
    );
}
