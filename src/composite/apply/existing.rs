//! The existing objects that an apply would find under the names of new ones, looked up before its first call.
//!
//! The plan looked them up too. Since then, another resource of the same run may have deleted or released one, or will
//! do so, and another run may have created one.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::Instant;

use super::run::Shared;
use crate::cloud::retries::Retry;
use crate::cloud::{Cloud, Deadlines, Failure};
use crate::composite::decision::Decision;
use crate::composite::names::{self, Claim, Claimant};
use crate::composite::used;
use crate::model::{Existing, Finding, Inventory, Key, Lookup, Object, Outside, Reference};
use crate::plugin::{AttributePath, Problem, Value};
use crate::reconcile::Action;
use crate::topology::Topology;
use crate::topology::outside::{self, Conflict, Holder, Use, UseContext, use_in_apply};

/// How long an apply waits for another resource of the same run to release a name, and the pause between two lookups.
const LONGEST_WAIT: Duration = Duration::from_secs(2 * 60);
const PAUSE: Duration = Duration::from_secs(5);

/// What the lookup found.
pub(super) struct Settled<'a> {
    /// Claims the names that the apply creates, until it ends.
    pub(super) claim: Claim<'a>,
    /// The objects that the plan wanted to use, and that do not exist any more. The apply creates them.
    pub(super) missing: Vec<Key>,
}

/// An object that the apply creates or begins to use.
struct Named<'a> {
    object: &'a Object,
    reference: &'a Reference,
    is_used: bool,
}

/// The apply that looks objects up.
pub(super) struct Settling<'s, 'a, P: Topology> {
    pub(super) shared: &'s Shared,
    pub(super) cloud: &'a dyn Cloud,
    pub(super) claimant: Claimant,
    /// The names that other roots had when the plan was made.
    pub(super) taken: &'a BTreeSet<String>,
    /// The IDs of the roots with the name of a new one.
    pub(super) namesakes: &'a BTreeSet<String>,
    pub(super) config: &'a P::Config,
    /// The configuration last applied in full.
    pub(super) last_applied: Option<&'a P::Config>,
    pub(super) prior: &'a Value,
    pub(super) deadlines: &'a Deadlines,
}

/// What an apply finds under a name.
enum Found {
    /// The apply can begin.
    Free,
    /// The name belongs to another resource, which may release it.
    Held(Problem),
    Refused(Problem),
}

impl<'s, P: Topology> Settling<'s, '_, P> {
    /// Looks up the objects that a decision creates or begins to use under names that may be in use, until other
    /// resources have released them. The error are the problems, before the first call.
    pub(super) async fn settle(
        &self,
        (inventory, decision): (&Inventory, &Decision),
    ) -> Result<Result<Settled<'s>, Vec<Problem>>, Failure> {
        let scope = self.cloud.scope();
        let references = P::references(self.config, scope);
        let created = names::created(&decision.plan);
        let of = |name: &Outside| references.iter().find(|it| it.to.as_name() == *name);
        let claim = match self.shared.names.claim(&self.claimant, created.clone()) {
            Ok(claim) => claim,
            Err(name) => return Ok(Err(vec![created_twice(&name, of(&name))])),
        };
        let named = self.named(&references, inventory, decision);
        let awaited: Vec<&Reference> = created.iter().filter_map(of).filter(|it| self.is_held(&it.to)).collect();
        let mut settled = Settled { claim, missing: Vec::new() };
        let lookups = named.iter().map(|it| it.reference).chain(awaited.iter().copied());
        let lookups: Vec<Lookup> = lookups.map(|it| Lookup::Outside(it.to.clone())).collect();
        if lookups.is_empty() {
            return Ok(Ok(settled));
        }
        let start = Instant::now();
        loop {
            let found = self.cloud.facts(&lookups).await?.outside;
            let of_named = named.iter().map(|it| self.of_named(it, found.get(&it.reference.to)));
            let of_awaited = awaited.iter().map(|it| self.of_awaited(it, found.get(&it.to)));
            let (mut held, mut refused) = (Vec::new(), Vec::new());
            for found in of_named.chain(of_awaited) {
                match found {
                    Found::Free => {}
                    Found::Held(problem) => held.push(problem),
                    Found::Refused(problem) => refused.push(problem),
                }
            }
            if !refused.is_empty() {
                return Ok(Err(refused));
            }
            if held.is_empty() {
                let is_missing = |it: &&Named<'_>| matches!(found.get(&it.reference.to), Some(Finding::Missing(_)));
                let missing = named.iter().filter(|it| it.is_used).filter(is_missing);
                settled.missing = missing.map(|it| it.object.key.clone()).collect();
                return Ok(Ok(settled));
            }
            let exchanged = self.exchanged(&references);
            if !exchanged.is_empty() {
                return Ok(Err(exchanged));
            }
            let rest = self.deadlines.deadline.min(start + LONGEST_WAIT).saturating_duration_since(Instant::now());
            if rest.is_zero() || self.deadlines.stop.is_cancelled() {
                let waited = start.elapsed();
                // A domain and its record.
                held.dedup_by(|one, other| one.path == other.path);
                return Ok(Err(held.into_iter().map(|it| outside::after_wait(it, waited)).collect()));
            }
            if let Some(first) = held.first().filter(|_| start.elapsed() < PAUSE) {
                let reason = first.message.clone();
                Retry { is_wait: true, action: "looking names up".into(), number: None, reason }.report();
            }
            tokio::select! {
                () = tokio::time::sleep(PAUSE.min(rest)) => {}
                () = self.deadlines.stop.cancelled() => {}
            }
        }
    }

    /// The objects that a create may use instead of failing.
    fn named<'b>(&self, references: &'b [Reference], inventory: &Inventory, decision: &'b Decision) -> Vec<Named<'b>> {
        let scope = self.cloud.scope();
        let known = self.last_applied.map(|last_applied| P::references(last_applied, scope)).unwrap_or_default();
        // The problem of an unchanged input must not block other changes.
        let is_known = |reference: &Reference| {
            known.iter().any(|known| known.to == reference.to) || used::is_of_missing(inventory, &reference.to)
        };
        let used = |object: &Object| inventory.current().any(|it| it.key == object.key && used::is_new(self.prior, it));
        let is_created = |object: &Object| {
            let creates = |action: &Action| matches!(action, Action::Create(it) if it.key == object.key);
            decision.plan.ops.iter().any(|op| creates(&op.action))
        };
        let named = |object: &'b Object| {
            let reference = used::of_slot(references, &object.key.slot)?;
            let is_used = used(object);
            let is_named = is_used || (is_created(object) && !is_known(reference));
            is_named.then_some(Named { object, reference, is_used })
        };
        decision.objects.iter().filter_map(named).collect()
    }

    /// Whether the plan found that another resource has the name of a new object, or an apply of this process has
    /// created it since.
    fn is_held(&self, to: &Outside) -> bool {
        let is_found = || self.taken.contains(&to.to_string());
        !to.may_be_used() && (is_found() || self.shared.names.was_created(&self.claimant, to))
    }

    fn is_create(&self) -> bool {
        self.prior.is_null()
    }

    fn holder(&self, to: &Outside, owner: Option<&str>) -> Holder {
        // With `create_before_destroy`, Terraform does not show the old root to the process of the apply.
        if owner.is_some_and(|owner| self.namesakes.contains(owner)) {
            return Holder::Same;
        }
        self.shared.names.holder(&self.claimant, to, owner)
    }

    /// What an apply does with an object that it may use.
    fn of_named(&self, it: &Named<'_>, found: Option<&Finding>) -> Found {
        let Some(Finding::Usable(existing)) = found else { return Found::Free };
        let context: UseContext<'_> = used::context::<P>(self.config, self.prior.get("id").as_str());
        match use_in_apply(it.reference, existing, &it.object.spec, context) {
            Use::Refused(problem) if self.may_be_released(&it.reference.to, existing) => Found::Held(problem),
            Use::Refused(problem) => Found::Refused(problem),
            Use::Used(_) | Use::Created(_) if it.is_used => Found::Free,
            Use::Used(_) | Use::Created(_) => Found::Refused(created_since(it.reference, existing)),
        }
    }

    /// Whether another resource may delete or release an object in the same run. A missing root may still be in state.
    fn may_be_released(&self, to: &Outside, existing: &Existing) -> bool {
        existing.owner.as_ref().is_some_and(|owner| match self.holder(to, Some(&owner.id)) {
            Holder::Same => false,
            Holder::Other { .. } => true,
            Holder::Unknown => owner.is_living,
        })
    }

    /// What an apply does with an object that must not exist.
    fn of_awaited(&self, reference: &Reference, found: Option<&Finding>) -> Found {
        let Some(Finding::Exists { owner, .. }) = found else { return Found::Free };
        let owner = owner.as_ref().map(|owner| owner.id.as_str());
        match (self.holder(&reference.to, owner), owner) {
            (Holder::Same, Some(owner)) if self.is_create() => {
                Found::Refused(outside::held_by_the_old_root(reference, owner))
            }
            (Holder::Other { described, .. }, _) => Found::Held(outside::held(reference, &described)),
            (Holder::Unknown, Some(owner)) => Found::Held(outside::held(reference, owner)),
            // The create reports what it finds.
            (Holder::Same | Holder::Unknown, _) => Found::Free,
        }
    }

    /// The names that this resource exchanges with others. Their plans may have been made since.
    fn exchanged(&self, references: &[Reference]) -> Vec<Problem> {
        let found = self.shared.names.conflicts(&self.claimant).into_iter();
        let found = found.filter(|(_, conflict)| matches!(conflict, Conflict::Exchange { .. }));
        outside::conflicts(references, found)
    }
}

/// The problem of an object that could be used, but not without a plan that says so.
fn created_since(reference: &Reference, existing: &Existing) -> Problem {
    let message = format!("The {} exists since the plan ({}).", reference.to, existing.content);
    Problem::new(reference.path.clone(), message, "Run Terraform again: the plan then shows whether it can be used.")
}

fn created_twice(name: &Outside, reference: Option<&Reference>) -> Problem {
    let path = reference.map_or_else(AttributePath::root, |reference| reference.path.clone());
    let message = format!("Another resource creates the {name} in the same run.");
    Problem::new(path, message, "Give each resource another name, so that each has its own.")
}
