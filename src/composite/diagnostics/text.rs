//! What several messages have in common.

use crate::cloud::{Cause, Dependent, Dependents, Failure};
use crate::model::Entry;
use crate::plugin::Diagnostics;

/// What AWS said, and what that means.
pub(in crate::composite) fn detail(failure: &Failure) -> String {
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

/// What keeps AWS from deleting an object, as a paragraph of its own after what AWS said.
pub(super) fn dependents(found: Option<&Dependents>) -> String {
    let Some(found) = found else { return String::new() };
    let mut text = match found.objects.is_empty() {
        true if found.unseen.is_empty() => "\n\nNothing of others is found in its way any more.".to_string(),
        true => String::new(),
        false => format!("\n\nIn its way:\n{}", listed(&found.objects, "  ")),
    };
    for failure in &found.unseen {
        text.push_str(&format!("\n\nWhat is in its way could not be looked up in full: {}", detail(failure)));
    }
    text
}

/// What AWS deletes along with something of ours, and what keeps it.
pub(super) fn deleted_with(what: &str, dependents: &[Dependent]) -> String {
    let (going, keeping): (Vec<Dependent>, Vec<Dependent>) =
        dependents.iter().cloned().partition(|dependent| dependent.holds.is_empty());
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

/// What goes with an object and cannot be had again.
pub(super) fn lost(entry: &Entry) -> String {
    entry.spec().lost_when_deleted(&entry.learned).map(|what| format!(", {what}")).unwrap_or_default()
}

/// One line for each.
pub(super) fn listed(dependents: &[Dependent], indent: &str) -> String {
    const SHOWN: usize = 20;
    let mut lines: Vec<String> =
        dependents.iter().take(SHOWN).map(|dependent| format!("{indent}{}", described(dependent))).collect();
    if dependents.len() > SHOWN {
        lines.push(format!("{indent}and {} more", dependents.len() - SHOWN));
    }
    lines.join("\n")
}

/// `network interface eni-1 "AWS Lambda VPC ENI-shop" (type lambda, account 123456789012)`
pub(super) fn described(dependent: &Dependent) -> String {
    let mut text = format!("{} {}", dependent.kind, dependent.id);
    if !dependent.description.is_empty() {
        text.push_str(&format!(" {:?}", dependent.description));
    }
    let account = dependent.owner.as_ref().map(|owner| format!("account {owner}"));
    let further = Some(dependent.further.clone()).filter(|further| !further.is_empty());
    let further: Vec<String> = further.into_iter().chain(account).collect();
    if !further.is_empty() {
        text.push_str(&format!(" ({})", further.join(", ")));
    }
    text
}

pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

pub(super) fn shortened(keys: &[String]) -> String {
    const SHOWN: usize = 12;
    match keys.len() {
        0..=SHOWN => keys.join(", "),
        more => format!("{} and {} more", keys[..SHOWN].join(", "), more - SHOWN),
    }
}

/// An operation that failed as a whole: `Planning fgw_four_tier_vpc`.
pub(in crate::composite) fn failed(doing: &str, failure: &Failure, diagnostics: &mut Diagnostics) {
    diagnostics.error(format!("{doing} failed"), detail(failure));
}
