//! The objects outside a topology that its inputs name. A plan looks up those that are new.

use std::collections::{BTreeMap, BTreeSet};

use super::diagnostics;
use super::names::{Claimant, Names};
use super::private_state::Private;
use crate::cloud::{Cause, Failure};
use crate::model::{Entry, Facts, Finding, Lookup, Outside, Reference, Scope};
use crate::plugin::{Diagnostics, Severity};
use crate::reconcile::{Outcome, Plan};
use crate::topology::Topology;
use crate::topology::outside::{Circumstances, Holder, problems, to_correct};

/// The references that a plan looks up.
#[derive(Default)]
pub(super) struct Unchecked {
    references: Vec<Reference>,
    /// The objects that the last apply referred to. The inputs of a state do not contain those of a missing object.
    known: BTreeSet<Outside>,
}

impl Unchecked {
    /// Leaves out all but the names of objects that a create may use. A plan that is repeated at apply looks these up
    /// again, because a destroy in the same run may have deleted or released them.
    pub(super) fn retain_usable(&mut self) {
        self.references.retain(|it| it.to.may_be_used());
    }
}

/// Returns the references that the last apply did not have, and those of objects that are missing in AWS or that a
/// create may use. A managed object is not outside, and neither is a missing one that the configuration ignores. What
/// is part of an object that is not managed is not looked up, and neither is what `adopt` names, which the adoption
/// checks.
pub(super) fn unchecked<P: Topology>(
    config: &P::Config,
    prior: Option<&P::Config>,
    private: &Private,
    scope: &Scope,
) -> Unchecked {
    let known = prior.map(|prior| P::references(prior, scope)).unwrap_or_default();
    let mut known: BTreeSet<Outside> = known.into_iter().map(|it| it.to).collect();
    let adopted = P::adopt(config).known().cloned().unwrap_or_default();
    let ignored = P::ignored_drift(config);
    let (present, missing): (Vec<&Entry>, Vec<&Entry>) =
        private.inventory.entries.iter().partition(|it| !it.is_missing() || ignored.covers(&it.key.slot));
    let is_present = |to: &Outside| present.iter().any(|entry| to.is(entry));
    let is_inside = |to: &Outside| is_present(to) || private.candidates.iter().any(|it| to.is(&it.entry));
    let has_parent = |to: &Outside| to.parent().is_none_or(|parent| is_present(&parent));
    let is_adopted =
        |to: &Outside| adopted.iter().any(|(slot, id)| id.known().is_some_and(|id| to.is_adopted_by(slot, id)));
    let is_of_missing = |to: &Outside| missing.iter().any(|entry| to.is_named_by(&entry.applied));
    let mut references = P::references(config, scope);
    references.retain(|it| {
        // A create finds one that the last apply has left, too.
        let is_wanted = it.to.may_be_used() || !known.contains(&it.to) || is_of_missing(&it.to);
        is_wanted && it.to.can_be_looked_up() && !is_inside(&it.to) && has_parent(&it.to) && !is_adopted(&it.to)
    });
    known.extend(references.iter().map(|it| it.to.clone()).filter(is_of_missing));
    Unchecked { references, known }
}

/// Returns the lookups of these references, each once.
pub(super) fn lookups(unchecked: &Unchecked) -> impl Iterator<Item = Lookup> + use<> {
    let all: BTreeSet<Outside> = unchecked.references.iter().map(|it| it.to.clone()).collect();
    all.into_iter().map(Lookup::Outside)
}

/// Reports the problems of the references. Returns whether one of them is an error.
pub(super) fn refuse<P: Topology>(
    (name, unchecked): (&str, &Unchecked),
    is_create: bool,
    (facts, private): (&Facts, &Private),
    (names, claimant): (&Names, &Claimant),
    scope: &Scope,
    diagnostics: &mut Diagnostics,
) -> bool {
    let has_target =
        |target: &str| private.inventory.present().any(|it| it.learned.attributes.values().any(|it| it == target));
    let holder = |to: &Outside, owner: Option<&str>| names.holder(claimant, to, owner);
    let is_new = |to: &Outside| !unchecked.known.contains(to);
    let root_id = private.inventory.at(P::KIND.root()).map(|root| root.id.as_str());
    let circumstances =
        Circumstances { is_create, is_new: &is_new, holder: &holder, root_id, has_target: &has_target, scope };
    let (errors, warnings): (Vec<_>, Vec<_>) = problems(&unchecked.references, &facts.outside, &circumstances)
        .into_iter()
        .partition(|(severity, _)| *severity == Severity::Error);
    diagnostics::warn_of_outside::<P>(name, warnings.into_iter().map(|(_, problem)| problem), diagnostics);
    let is_refused = !errors.is_empty();
    diagnostics.problems(errors.into_iter().map(|(_, problem)| problem));
    is_refused
}

/// Returns the names of new objects that other roots have, for which the apply may wait.
pub(super) fn taken<P: Topology>(
    config: &P::Config,
    facts: &Facts,
    (names, claimant): (&Names, &Claimant),
    scope: &Scope,
) -> BTreeSet<String> {
    let has_owner = |to: &Outside| {
        let Some(Finding::Exists { owner, .. }) = facts.outside.get(to) else { return false };
        owner.is_some() || matches!(names.holder(claimant, to, None), Holder::Other { .. })
    };
    let references = P::references(config, scope).into_iter().map(|it| it.to);
    references.filter(|to| to.must_be_free() && has_owner(to)).map(|to| to.to_string()).collect()
}

/// Returns, by the positions of operations that failed because an object does not exist, the input to correct.
pub(super) fn arguments<P: Topology>(
    config: &P::Config,
    scope: &Scope,
    plan: &Plan,
    outcome: &Outcome,
) -> BTreeMap<usize, String> {
    let references = P::references(config, scope);
    let is_missing = |cause: Cause| matches!(cause, Cause::NotFound | Cause::NoSuchReference);
    let missing = outcome.failed.iter().filter(|(_, failure)| is_missing(failure.cause));
    let argument = |(position, failure): &(usize, Failure)| {
        let spec = plan.ops[*position].action.spec();
        Some((*position, to_correct(&references, spec, &failure.message, scope)?))
    };
    missing.filter_map(argument).collect()
}
