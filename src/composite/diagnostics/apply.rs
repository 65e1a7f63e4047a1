//! What went wrong in an apply, and the ways on.

use super::text::{dependents, detail, shortened};
use crate::cloud::{Dependents, DependentsByOp, Failure, UnfinishedRoot};
use crate::model::Key;
use crate::plugin::Diagnostics;
use crate::reconcile::{Outcome, Plan};
use crate::topology::Topology;

/// One error for each operation that failed.
pub(in crate::composite) fn failures(
    plan: &Plan,
    outcome: &Outcome,
    found: &DependentsByOp,
    diagnostics: &mut Diagnostics,
) {
    for (position, failure) in &outcome.failed {
        let action = &plan.ops[*position].action;
        let summary = format!("{} {} {} failed", action.doing(), action.spec().kind(), action.key());
        diagnostics.error(summary, format!("{}{}", detail(failure), dependents(found.get(position))));
    }
}

/// What stands, what does not, and the ways on, after an apply that did not finish.
pub(in crate::composite) fn incomplete<P: Topology>(
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
pub(in crate::composite) fn unknown_outcomes<P: Topology>(name: &str, why: &str, diagnostics: &mut Diagnostics) {
    diagnostics.warning(
        format!("What AWS has done of {} {name:?} without an answer is not known", P::TYPE_NAME),
        format!(
            "AWS may have carried out calls whose answer was lost, and a look for what they have done failed. The next plan \
             looks again.\n\n{why}"
        ),
    );
}

/// What could not be made because something that it is made from never became known.
pub(in crate::composite) fn still_unknown<P: Topology>(name: &str, keys: Vec<String>, diagnostics: &mut Diagnostics) {
    diagnostics.error(
        format!("{} {name:?} cannot be finished", P::TYPE_NAME),
        format!(
            "What these are made from is still unknown after all else was made: {}. This is a bug in the provider.",
            shortened(&keys)
        ),
    );
}

/// A create that finds what a killed create has left.
pub(in crate::composite) fn leftovers<P: Topology>(name: &str, left: &[UnfinishedRoot], diagnostics: &mut Diagnostics) {
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

/// A plan whose private data is of another version.
pub(in crate::composite) fn unreadable_plan<P: Topology>(diagnostics: &mut Diagnostics) {
    diagnostics.error(
        format!("The plan of {} cannot be read", P::TYPE_NAME),
        "It was made by another version of the provider. Plan again.",
    );
}

/// A plan of an update that knows no root. It was made without AWS: any other one replaces the resource.
pub(in crate::composite) fn root_not_in_plan<P: Topology>(diagnostics: &mut Diagnostics) {
    diagnostics.error(
        format!("The {} of this {} is gone", P::KIND.root(), P::TYPE_NAME),
        "The plan was made while the provider configuration was unknown, and could not show it. Plan again.",
    );
}

/// A decision that could be made at plan, and not any more.
pub(in crate::composite) fn not_as_planned<P: Topology>(name: &str, diagnostics: &mut Diagnostics) {
    diagnostics.error(
        format!("{} {name} can no longer be applied as planned", P::TYPE_NAME),
        "What it would do was known at plan and is not now. Plan again; if that does not help, this is a bug in \
         the provider.",
    );
}

/// A deployment that AWS starts by itself after a change, and that has failed.
pub(in crate::composite) fn not_deployed<P: Topology>(root_id: &str, failure: &Failure, diagnostics: &mut Diagnostics) {
    diagnostics.error(format!("{} {root_id} does not work as applied", P::TYPE_NAME), detail(failure));
}

/// An object that an update could not delete, and that the next apply deletes.
pub(in crate::composite) fn still_in_use(
    key: &Key,
    failure: &Failure,
    found: Option<&Dependents>,
    diagnostics: &mut Diagnostics,
) {
    diagnostics.warning(
        format!("{key} is still in use and is deleted by the next apply"),
        format!(
            "{}{}\n\nIt is listed in the attribute pending_deletion until then.",
            detail(failure),
            dependents(found)
        ),
    );
}

/// A root whose tag says something else than its state.
pub(in crate::composite) fn tag_not_changed(root_id: &str, failure: &Failure, diagnostics: &mut Diagnostics) {
    diagnostics.warning(
        format!("The tag fgw:state of {root_id} could not be changed"),
        format!("{} The next apply tries again.", detail(failure)),
    );
}
