//! Whether a create uses an existing object that it finds under its name. Nothing of the object changes.

use super::argument;
use crate::model::{Existing, Outside, OwningRoot, Reference, Spec};
use crate::plugin::{AttributePath, Problem};

/// What follows from an existing object with the name of a new one.
#[derive(Debug, PartialEq)]
pub enum Use {
    /// The create uses it. With a notice for the plan.
    Used(Problem),
    /// The create fails unless it is deleted before, which a destroy in the same run may do. With a notice for the
    /// plan, unless the plan shows that destroy.
    Created(Option<Problem>),
    /// The create would fail.
    Refused(Problem),
}

/// The circumstances of a create that finds an existing object.
#[derive(Clone, Copy, Debug)]
pub struct UseContext<'a> {
    /// The root of the state, unless the plan replaces it.
    pub root_id: Option<&'a str>,
    /// Whether the configuration allows other roots with the same name, and so with the same objects.
    pub allows_duplicates: bool,
}

/// What a plan knows of the root that owns an existing object.
#[derive(Clone, Debug)]
pub struct OwnerInPlan {
    /// Whether this plan replaces the root.
    pub is_replaced: bool,
    /// Whether a destroy of the root keeps the object; `None` if its state is unknown.
    pub keeps: Option<bool>,
    /// Another root that uses the object. A destroy of the owner then keeps it, whatever its setting is.
    pub user: Option<String>,
}

/// What a plan does. It cannot tell whether a destroy in the same run removes the owner before, unless it replaces it.
pub fn use_in_plan(
    reference: &Reference,
    (existing, wanted): (&Existing, &Spec),
    context: UseContext<'_>,
    owner_in_plan: impl Fn(&str) -> OwnerInPlan,
) -> Use {
    let owner = existing.owner.as_ref().filter(|owner| context.root_id != Some(owner.id.as_str()));
    let owner = owner.map(|owner| (owner, owner_in_plan(&owner.id)));
    // A state may still contain the object, although its root was deleted outside Terraform.
    let owner = owner.filter(|(owner, in_plan)| owner.is_living || in_plan.keeps.is_some());
    let Some((owner, OwnerInPlan { is_replaced, keeps, user })) = owner else {
        return of_free(reference, existing, wanted);
    };
    let keeps = if user.is_some() { Some(true) } else { keeps };
    let is_kept = wanted.uses_existing() == Some(true);
    let notice = |is_allowed| (!is_replaced).then(|| of_living(reference, owner, keeps, is_allowed));
    let may_be_shared = is_kept && context.allows_duplicates && !is_replaced;
    match keeps {
        Some(true) if !is_kept => return Use::Refused(stays(reference, existing, owner, user.as_deref())),
        Some(false) if !may_be_shared => return Use::Created(notice(false)),
        None if !is_kept => return Use::Created(notice(false)),
        _ => {}
    }
    match of_free(reference, existing, wanted) {
        Use::Used(mut uses) => {
            if let Some(notice) = notice(context.allows_duplicates) {
                uses.message = format!("{} {}", uses.message, notice.message);
                uses.hint = format!("{} {}", notice.hint, uses.hint);
            }
            Use::Used(uses)
        }
        // The owner may delete it before, and the create then sets other values.
        Use::Refused(_) if keeps != Some(true) => Use::Created(notice(false)),
        other => other,
    }
}

/// What an apply does, before its first call.
pub fn use_in_apply(reference: &Reference, existing: &Existing, wanted: &Spec, context: UseContext<'_>) -> Use {
    match living(existing, context) {
        Some(owner) if !context.allows_duplicates => Use::Refused(not_shared(reference, owner)),
        _ => of_free(reference, existing, wanted),
    }
}

/// Why an apply may not use the object of a living owner, and the ID of the owner. `wanted` is `None` while the plan is
/// undecided.
pub fn withheld<'a>(
    reference: &Reference,
    (existing, wanted): (&'a Existing, Option<&Spec>),
    context: UseContext<'_>,
) -> Option<(&'a str, Problem)> {
    let owner = living(existing, context)?;
    let problem = match wanted.map(|wanted| use_in_apply(reference, existing, wanted, context)) {
        Some(Use::Refused(problem)) => problem,
        None if !context.allows_duplicates => not_shared(reference, owner),
        _ => return None,
    };
    Some((&owner.id, problem))
}

/// The problem of a change to an object that the resource uses and does not own.
pub fn cannot_change(reference: &Reference, differences: &[String]) -> Problem {
    let to = &reference.to;
    let message = format!(
        "The {to} was not created by this resource, which uses it and never changes it: {}.",
        differences.join("; ")
    );
    let hint = format!("Keep the values that it has, or {} first, which takes it over.", named_in_adopt(to));
    Problem::new(reference.path.clone(), message, hint)
}

/// The owner, if it exists and is not the root of the state itself.
fn living<'a>(existing: &'a Existing, context: UseContext<'_>) -> Option<&'a OwningRoot> {
    existing.owner.as_ref().filter(|owner| owner.is_living && context.root_id != Some(owner.id.as_str()))
}

/// The same for an object without an owner.
fn of_free(reference: &Reference, existing: &Existing, wanted: &Spec) -> Use {
    let Reference { to, path } = reference;
    let content = &existing.content;
    if wanted.uses_existing() != Some(true) {
        let message = format!("The {to} exists already and is not managed by this resource ({content}).");
        let hint = format!(
            "To use it as it is, without owning it, set {} to true. To manage it, {}, once the resource exists. Otherwise \
             use another name.",
            setting(path),
            named_in_adopt(to)
        );
        return Use::Refused(Problem::new(path.clone(), message, hint));
    }
    let differences = wanted.differences_in_use(&existing.spec);
    if !differences.is_empty() {
        let message = format!(
            "The {to} exists already ({content}). This resource did not create it, so it can only use it as it is, but the \
             configuration requires other values: {}.",
            differences.join("; ")
        );
        let hint = format!(
            "Set the values that it has, or use another name. To manage it, {}, once the resource exists.",
            named_in_adopt(to)
        );
        return Use::Refused(Problem::new(path.clone(), message, hint));
    }
    let message = format!(
        "The {to} exists already ({content}), and {} is true, so the resource uses it with its log events.",
        setting(path)
    );
    let hint = format!(
        "The resource does not own it: it never changes its tags, retention or key, and never deletes it. To manage it, \
         {}, once the resource exists.",
        named_in_adopt(to)
    );
    Use::Used(Problem::new(path.clone(), message, hint))
}

/// The problem of an object whose living owner does not share it.
fn not_shared(reference: &Reference, owner: &OwningRoot) -> Problem {
    let Reference { to, path } = reference;
    let message =
        format!("The {to} belongs to {}, which exists (tag fgw:resource), so this resource may not use it.", owner.id);
    Problem::new(path.clone(), message, other_name(path))
}

/// The notice that the owner of an object exists.
fn of_living(reference: &Reference, owner: &OwningRoot, keeps: Option<bool>, is_allowed: bool) -> Problem {
    let Reference { to, path } = reference;
    let end = match keeps {
        Some(false) => format!(" A destroy of {} deletes it: its log events are lost.", owner.id),
        Some(true) | None => String::new(),
    };
    let message = format!("The {to} belongs to {} (tag fgw:resource).{end}", owner.id);
    let hint = match is_allowed {
        true => format!(
            "allow_duplicate_name is true, so the apply uses it also if {} exists then, which may delete it with all \
             events.",
            owner.id
        ),
        false => format!(
            "If this plan replaces {}, or the same run deletes or releases the {to} there, for which the apply waits up \
             to 2 minutes, it continues. Otherwise it fails before its first change. {}",
            owner.id,
            other_name(path)
        ),
    };
    Problem::new(path.clone(), message, hint)
}

/// The problem of a replacement whose old root keeps an object that the new one may not use.
fn stays(reference: &Reference, existing: &Existing, owner: &OwningRoot, user: Option<&str>) -> Problem {
    let Reference { to, path } = reference;
    let (content, owner, setting) = (&existing.content, &owner.id, setting(path));
    let (reason, before) = match user {
        Some(user) => (format!("A destroy of {owner} keeps it, because {user} uses it."), String::new()),
        None => (
            format!("The state of {owner} keeps it in a destroy."),
            "apply false alone before the replacement, or ".to_string(),
        ),
    };
    let message = format!(
        "The {to} ({content}) belongs to {owner}. {reason} A new resource does not use it, because {setting} is false."
    );
    Problem::new(path.clone(), message, format!("Set {setting} to true, or {before}use another name."))
}

fn other_name(path: &AttributePath) -> String {
    format!(
        "Use another name. To use it together with its owner, set {} and allow_duplicate_name to true.",
        setting(path)
    )
}

/// How `adopt` names an object.
fn named_in_adopt(to: &Outside) -> String {
    format!("set {:?} = {:?} in adopt", to.slot().unwrap_or_default(), to.id())
}

/// The setting that keeps the object with this name.
fn setting(path: &AttributePath) -> String {
    let name = argument(path);
    match name.split_once("_name") {
        Some((prefix, entry)) => format!("{prefix}_skip_destroy{entry}"),
        None => name,
    }
}
