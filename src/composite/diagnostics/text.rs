//! Parts of the text of several diagnostics.

use std::collections::BTreeSet;

use crate::cloud::{Case, Cause, Dependent, Dependents, Failure};
use crate::model::{Entry, GuardDutyObjects, printable};
use crate::plugin::Diagnostics;

/// What AWS returned, what it means, and what to do, where the error code determines that.
pub(in crate::composite) fn detail(failure: &Failure) -> String {
    if let Some(advice) = &failure.advice {
        let commands = advice.commands.iter().map(|command| format!("\n  {}", printable(command)));
        let commands = commands.collect::<String>();
        let separator = if commands.is_empty() { "" } else { "\n" };
        return detail_with(failure, &format!("{}{separator}{commands}", printable(&advice.text)));
    }
    let hint = match failure.cause {
        Cause::Denied => {
            "The credentials do not allow this call, or a policy of the organization denies it. Grant the permission, then \
             run Terraform again."
        }
        // One cause covers both, because both are retried.
        Cause::Throttled if failure.message.contains("in progress") => {
            "Another change was in progress for longer than the provider retries. Run Terraform again later."
        }
        Cause::Throttled => "AWS throttled the call for longer than the provider retries. Run Terraform again later.",
        // A create cannot miss its own object.
        Cause::NotFound if failure.missing.is_none() && creates(&failure.action) => {
            "Either the object that is to contain the new one was deleted outside Terraform: run plan again to see the \
             change. Or the endpoint does not know this call, as some emulators of AWS do not."
        }
        Cause::NotFound => {
            "The object does not exist. If it was deleted outside Terraform, run plan again to see the change."
        }
        Cause::NoSuchReference => {
            "This resource does not manage that object: the configuration refers to it, and it does not exist in this \
             account and Region. Correct the configuration, or create the object, then run Terraform again."
        }
        Cause::NotDeleted => {
            "The answer is about another object. The object to delete still exists, and stays in state. Run Terraform \
             again to delete it."
        }
        Cause::Credentials => {
            "The credentials have expired or are invalid, or the clock of this machine is wrong. Renew the credentials or \
             set the clock, then run Terraform again."
        }
        Cause::InUse => "Another object depends on this one. Remove the dependency, then run Terraform again.",
        Cause::Stopped => "Terraform requested a stop. The object is in state, and the next apply continues with it.",
        Cause::Panicked => "This is a bug in the provider. Report it with this message.",
        Cause::NotDeployed => {
            "The stage still serves the previous deployment. Fix the cause, then run Terraform again."
        }
        Cause::AwaitsDeployment => "Deploy the API, then run Terraform again.",
        Cause::TimedOut => "Run Terraform again to continue, with a longer timeout if AWS needs more time.",
        Cause::Lost => "Fix the cause, then run Terraform again: it reads what exists, and continues from there.",
        Cause::Other if failure.code.is_some() => "AWS rejected the call. Fix the cause, then run Terraform again.",
        // The message or the advice contains what to do.
        Cause::Exists | Cause::QuotaExceeded | Cause::NotAttached | Cause::Other => "",
    };
    detail_with(failure, hint)
}

/// Whether a call creates an object.
fn creates(action: &str) -> bool {
    ["Create", "Allocate"].iter().any(|verb| action.starts_with(verb))
}

/// What AWS returned, and what to do.
pub(super) fn detail_with(failure: &Failure, hint: &str) -> String {
    let mut text = match &failure.code {
        Some(code) => format!("{} returned {}: {}", printable(&failure.action), printable(code), message(failure)),
        None => format!("{}: {}", printable(&failure.action), message(failure)),
    };
    if let Some(request_id) = &failure.request_id {
        text.push_str(&format!(" (request ID {})", printable(request_id)));
    }
    text.push('.');
    if !hint.is_empty() {
        text.push_str("\n\n");
        text.push_str(hint);
    }
    text
}

/// The case of the guide that describes the failure of an operation with these dependents.
pub(super) fn case(failure: &Failure, found: Option<&Dependents>) -> Option<Case> {
    let objects = found.map_or(&[][..], |found| &found.objects);
    match failure.cause {
        _ if failure.case.is_some() => failure.case,
        Cause::Denied => Some(Case::PermissionMissing),
        // An address that refuses connections has received no call, and has advice of its own.
        Cause::Lost if failure.advice.is_none() => Some(Case::ConnectionLost),
        _ if objects.iter().any(|it| !it.guardduty.is_empty()) => Some(Case::GuardDuty),
        _ if objects.iter().any(Dependent::is_of_lambda) => Some(Case::LambdaInterfaces),
        _ => None,
    }
}

/// The message of a failure, in one line without a period at its end.
pub(super) fn message(failure: &Failure) -> String {
    printable(failure.message.trim_end_matches('.')).into_owned()
}

/// The dependents because of which AWS rejects a deletion, as a paragraph of its own.
pub(super) fn dependents(found: Option<&Dependents>, guardduty: GuardDutyObjects) -> String {
    let Some(found) = found else { return String::new() };
    let mut text = match found.objects.is_empty() {
        true if found.unseen.is_empty() => "\n\nNo remaining dependents were found.".to_string(),
        true => String::new(),
        false => format!("\n\nThese objects depend on it:\n{}", listed(&found.objects, "  ")),
    };
    for failure in &found.unseen {
        text.push_str(&format!("\n\nThe list of dependents is incomplete. {}", detail(failure)));
    }
    if guardduty == GuardDutyObjects::Keep {
        text.push_str(&of_guardduty(&found.objects, guardduty));
    }
    text
}

/// What happens to the objects of GuardDuty among these dependents, as a paragraph of its own. Empty if there are none.
pub(super) fn of_guardduty(dependents: &[Dependent], guardduty: GuardDutyObjects) -> String {
    let ids: BTreeSet<&str> = dependents.iter().flat_map(|it| &it.guardduty).map(String::as_str).collect();
    if ids.is_empty() {
        return String::new();
    }
    let ids = printable(&ids.into_iter().collect::<Vec<_>>().join(", ")).into_owned();
    let text = match guardduty {
        GuardDutyObjects::Keep => {
            "and does not delete them, so they block the deletion. Delete them, or set delete_guardduty_resources to true \
             and apply that first: an update then removes the subnets that it deletes from the endpoint, and a later \
             destroy or replacement deletes the endpoint and its security group."
        }
        GuardDutyObjects::LeaveSubnets => {
            "and delete_guardduty_resources is true. If AWS rejects the deletion of a subnet, the update removes it from the \
             endpoint, and waits up to ten minutes for the network interface in it to be deleted."
        }
        GuardDutyObjects::Delete => {
            "and delete_guardduty_resources is true. The destroy deletes the endpoint and its security group, if AWS rejects \
             the deletion of a subnet or of the VPC."
        }
    };
    format!("\n\nGuardDuty Runtime Monitoring created an endpoint and its security group ({ids}), {text}")
}

/// The unmanaged objects that AWS deletes together with `what`, and those that block its deletion.
pub(super) fn deleted_with(what: &str, dependents: &[Dependent]) -> String {
    let (going, keeping): (Vec<Dependent>, Vec<Dependent>) =
        dependents.iter().cloned().partition(|dependent| dependent.holds.is_empty());
    let mut parts = Vec::new();
    if !going.is_empty() {
        parts.push(format!(
            "AWS deletes these unmanaged objects together with {what}:\n{}\n\nCheck that nothing else needs them.",
            listed(&going, "  ")
        ));
    }
    if !keeping.is_empty() {
        parts.push(format!(
            "{}\n\nBefore its first deletion, the apply waits until they are removed, up to timeouts.delete. Remove those that \
             this run does not destroy.",
            by_domain(what, &keeping)
        ));
    }
    parts.join("\n\n")
}

/// The data that is lost when an object is deleted, such as a public address. Empty if there is none.
pub(super) fn lost(entry: &Entry) -> String {
    entry.spec().lost_when_deleted(&entry.learned).map(|what| format!(", {}", printable(&what))).unwrap_or_default()
}

/// One line for each dependent, 20 at most.
pub(super) fn listed(dependents: &[Dependent], indent: &str) -> String {
    first(dependents, described).iter().map(|line| format!("{indent}{line}")).collect::<Vec<_>>().join("\n")
}

/// The descriptions of the first 20 of several objects, and the number of the others.
pub(super) fn first<T>(objects: &[T], described: impl Fn(&T) -> String) -> Vec<String> {
    const SHOWN: usize = 20;
    let mut shown: Vec<String> = objects.iter().take(SHOWN).map(described).collect();
    if objects.len() > SHOWN {
        shown.push(format!("and {} more", objects.len() - SHOWN));
    }
    shown
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
    printable(&text).into_owned()
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

/// An action that failed as a whole. The summary is as in `Could not plan fgw_four_tier_vpc`.
pub(in crate::composite) fn failed(summary: String, failure: &Failure, diagnostics: &mut Diagnostics) {
    let guide = (failure.cause == Cause::Denied).then(|| Case::PermissionMissing.see());
    diagnostics.error(summary, detail(failure) + &guide.unwrap_or_default());
}

/// What blocks a deletion, with the reason: mappings that hold a custom domain of `what`, those on other domains, which
/// hold a stage, and users of other objects.
pub(super) fn by_domain(what: &str, blocking: &[Dependent]) -> String {
    let (mappings, users): (Vec<Dependent>, Vec<Dependent>) = blocking.iter().cloned().partition(Dependent::is_mapping);
    let (ours, theirs): (Vec<Dependent>, Vec<Dependent>) =
        mappings.into_iter().partition(|it| it.holds.iter().any(|held| held == domain(it)));
    [
        (ours, format!("These API mappings point a custom domain of {what} at other APIs, which would become unreachable:")),
        (
            theirs,
            format!(
                "These API mappings point unmanaged custom domains at {what}. AWS does not delete its stages while they exist:"
            ),
        ),
        (users, format!("These use objects of {what}. AWS does not delete what they use while they exist:")),
    ]
    .into_iter()
    .filter(|(blocking, _)| !blocking.is_empty())
    .map(|(blocking, reason)| format!("{reason}\n{}", listed(&blocking, "  ")))
    .collect::<Vec<_>>()
    .join("\n\n")
}

/// The domain of a mapping. The description is the domain and the path.
pub(super) fn domain(mapping: &Dependent) -> &str {
    mapping.description.split('/').next().unwrap_or_default()
}
