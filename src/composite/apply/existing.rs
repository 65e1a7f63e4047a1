//! The existing objects that an apply would find under the names of new ones, looked up before its first call.
//!
//! The plan looked them up too. Since then, a destroy in the same run may have deleted or released one, and another run
//! may have created one.

use super::names::Claim;
use super::run::Shared;
use crate::cloud::{Cloud, Failure};
use crate::composite::decision::Decision;
use crate::composite::used;
use crate::model::{Existing, Finding, Inventory, Key, Lookup, Object, Reference};
use crate::plugin::{Problem, Value};
use crate::reconcile::Action;
use crate::topology::Topology;
use crate::topology::outside::{Use, UseContext, use_in_apply};

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

/// Looks up the objects that a decision creates or begins to use under names that may be in use. The error are the
/// problems, before the first call.
pub(super) async fn settle<'a, P: Topology>(
    shared: &'a Shared,
    cloud: &dyn Cloud,
    (config, last_applied): (&P::Config, Option<&P::Config>),
    prior: &Value,
    (inventory, decision): (&Inventory, &Decision),
) -> Result<Result<Settled<'a>, Vec<Problem>>, Failure> {
    let (scope, references) = (cloud.scope(), P::references(config, cloud.scope()));
    let known = last_applied.map(|last_applied| P::references(last_applied, scope)).unwrap_or_default();
    let mut named = named(&references, prior, inventory, decision);
    // The problem of an unchanged input must not block other changes.
    let is_known = |reference: &Reference| {
        known.iter().any(|known| known.to == reference.to) || used::is_of_missing(inventory, &reference.to)
    };
    named.retain(|it| it.is_used || !is_known(it.reference));
    let created = named.iter().filter(|it| !it.is_used);
    let claim = match shared.names.claim(&scope.region, created.map(|it| it.reference.to.id())) {
        Ok(claim) => claim,
        Err(name) => return Ok(Err(vec![created_twice(&named, &name)])),
    };
    let mut settled = Settled { claim, missing: Vec::new() };
    if named.is_empty() {
        return Ok(Ok(settled));
    }
    let lookups: Vec<Lookup> = named.iter().map(|it| Lookup::Outside(it.reference.to.clone())).collect();
    let found = cloud.facts(&lookups).await?.outside;
    let context = used::context::<P>(config, prior.get("id").as_str());
    let mut problems = Vec::new();
    for it in &named {
        match (found.get(&it.reference.to), it.is_used) {
            (Some(Finding::Usable(existing)), is_used) => match of_existing(it, existing, context) {
                Some(problem) => problems.push(problem),
                None if is_used => {}
                None => problems.push(created_since(it.reference, existing)),
            },
            (Some(Finding::Missing(_)), true) => settled.missing.push(it.object.key.clone()),
            _ => {}
        }
    }
    Ok(if problems.is_empty() { Ok(settled) } else { Err(problems) })
}

fn named<'a>(
    references: &'a [Reference],
    prior: &Value,
    inventory: &Inventory,
    decision: &'a Decision,
) -> Vec<Named<'a>> {
    let used = |object: &Object| inventory.current().any(|it| it.key == object.key && used::is_new(prior, it));
    let is_created = |object: &Object| {
        let creates = |action: &Action| matches!(action, Action::Create(it) if it.key == object.key);
        decision.plan.ops.iter().any(|op| creates(&op.action))
    };
    let named = |object: &'a Object| {
        let reference = used::of_slot(references, &object.key.slot)?;
        let is_used = used(object);
        (is_used || is_created(object)).then_some(Named { object, reference, is_used })
    };
    decision.objects.iter().filter_map(named).collect()
}

/// Why an apply may not use an existing object.
fn of_existing(it: &Named<'_>, existing: &Existing, context: UseContext<'_>) -> Option<Problem> {
    match use_in_apply(it.reference, existing, &it.object.spec, context) {
        Use::Refused(problem) => Some(problem),
        Use::Used(_) | Use::Created(_) => None,
    }
}

/// The problem of an object that could be used, but not without a plan that says so.
fn created_since(reference: &Reference, existing: &Existing) -> Problem {
    let message = format!("The {} exists since the plan ({}).", reference.to, existing.content);
    Problem::new(reference.path.clone(), message, "Run Terraform again: the plan then shows whether it can be used.")
}

fn created_twice(named: &[Named<'_>], name: &str) -> Problem {
    let it = named.iter().find(|it| it.reference.to.id() == name).expect("a claimed name is one of these");
    let message = format!("Another resource creates the {} in the same run.", it.reference.to);
    Problem::new(it.reference.path.clone(), message, "Give each resource another name, so that each has its own.")
}
