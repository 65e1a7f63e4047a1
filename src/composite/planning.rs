//! From state and configuration to a decision, which plan and apply make in the same way, and what Terraform is told
//! of it.

use std::collections::BTreeMap;

use super::observe::{ignore_drift, is_looks_alone, leave_to_others};
use super::private::Private;
use super::{import, messages, obstacles, refresh, state};
use crate::cloud::{Cloud, Connected, Connection, Failure};
use crate::model::{Facts, Scope};
use crate::model::{Ids, Inventory, Object};
use crate::plugin::{AttributePath, Diagnostics, Input, PlanRequest, PlanResponse, Problem, Value};
use crate::reconcile::{self, Action, Plan};
use crate::topology::{Blueprint, Context, Product};

/// Everything that is decided before an apply.
pub(super) struct Decision {
    /// What should exist.
    pub(super) objects: Vec<Object>,
    /// The way there.
    pub(super) plan: Plan,
    /// What must exist before an apply and does not, or not yet.
    pub(super) missing: Vec<Problem>,
}

/// The one way from what there is and what is wanted to operations, for plan and apply alike. `None` while an
/// unknown input decides which objects there are. In the inventory it notes whose drift is ignored.
pub(super) fn decide<P: Product>(
    config: &P::Config,
    prior: Option<&P::Config>,
    inventory: &mut Inventory,
    scope: &Scope,
    facts: &Facts,
    diagnostics: &mut Diagnostics,
) -> Result<Option<Decision>, ()> {
    let context = Context { config, prior, existing: inventory, scope, facts };
    let (objects, missing) = match P::blueprint(&context) {
        Ok(Blueprint::Decided { objects, warnings, missing }) => {
            for warning in warnings {
                let summary = format!("{} {}: {}", P::TYPE_NAME, name::<P>(config), warning.path);
                diagnostics.attribute_warning(warning.path, summary, format!("{} {}", warning.message, warning.hint));
            }
            (objects, missing)
        }
        Ok(Blueprint::Undecided) => return Ok(None),
        Err(problems) => {
            diagnostics.problems(problems);
            return Err(());
        }
    };
    let ignored = P::ignored_drift(config);
    messages::warn_of_idle_patterns::<P>(&name::<P>(config), &ignored, &objects, diagnostics);
    ignore_drift(inventory, &ignored, &objects);
    match reconcile::plan(inventory, &objects) {
        Ok(plan) => Ok(Some(Decision { objects, plan, missing })),
        Err(circle) => {
            diagnostics.error(
                format!("{} {} cannot be changed in one step", P::TYPE_NAME, name::<P>(config)),
                format!("{circle}. Make the change in two applies, each with a part of it."),
            );
            Err(())
        }
    }
}

pub(super) async fn plan<P: Product>(connection: &Connection, request: PlanRequest) -> PlanResponse {
    let mut diagnostics = Diagnostics::default();
    let failed = |diagnostics, request: &PlanRequest| PlanResponse {
        planned: request.proposed.clone(),
        requires_replace: Vec::new(),
        private: request.prior_private.clone(),
        diagnostics,
    };
    let (filled, config) = match state::decode::<P>(&request.config) {
        Ok(decoded) => decoded,
        Err(problems) => {
            diagnostics.problems(problems);
            return failed(diagnostics, &request);
        }
    };
    let updating = !request.prior.is_null();
    let settled = import::settled::<P>(&request.prior, Private::decode(&request.prior_private).as_ref(), &filled);
    let prior = state::decode::<P>(&settled).ok().map(|(_, config)| config);
    let replaced_by =
        |existing: &Inventory| prior.as_ref().map(|prior| P::replaced_by(prior, &config, existing)).unwrap_or_default();

    let cloud = match connection.get() {
        Connected::Ready(cloud) => cloud,
        Connected::Unknown => {
            let requires_replace = replaced_by(&Inventory::default());
            let planned = undecided::<P>(&request.prior, &filled, &config, None, &Ids::default());
            return PlanResponse { planned, requires_replace, private: request.prior_private, diagnostics };
        }
        Connected::Missing => {
            diagnostics.error("The provider is not configured", "This is a bug in Terraform or in the provider.");
            return failed(diagnostics, &request);
        }
    };

    let mut private = match existing::<P>(cloud.as_ref(), &request).await {
        Ok(private) => private,
        Err(failure) => {
            diagnostics.error(format!("Planning {} failed", P::TYPE_NAME), messages::detail(&failure));
            return failed(diagnostics, &request);
        }
    };
    let has_forgotten = import::forget::<P>(&mut private, &filled, &mut diagnostics);
    let facts = match cloud.facts(&P::lookups(&config)).await {
        Ok(facts) => facts,
        Err(failure) => {
            diagnostics.error(format!("Planning {} failed", P::TYPE_NAME), messages::detail(&failure));
            return failed(diagnostics, &request);
        }
    };
    let scope = cloud.scope();
    let mut requires_replace = replaced_by(&private.inventory);
    let has_lost_root = updating && private.inventory.at(P::OWNER.root()).is_none();
    if has_lost_root {
        // Everything has to be made anew under another id, which is what Terraform calls a replacement.
        messages::root_is_gone::<P>(&request.prior, &name::<P>(&config), &private.inventory, &mut diagnostics);
        requires_replace.push(AttributePath::new("id"));
    }
    // What replaces the topology is planned as if there were none, as Terraform will ask again.
    let replacing = !requires_replace.is_empty();
    if replacing && !has_lost_root {
        let replaced = (name::<P>(&config), request.prior.get("id").as_str().unwrap_or_default());
        let inventory = &private.inventory;
        obstacles::warn_of_replacement::<P>(cloud.as_ref(), (&replaced.0, replaced.1), inventory, &mut diagnostics)
            .await;
    }
    let (prior, mut private) = if replacing { (None, Private::of(Inventory::default())) } else { (prior, private) };
    let decided = decide::<P>(&config, prior.as_ref(), &mut private.inventory, scope, &facts, &mut diagnostics);
    let mut planned = match decided {
        Err(()) => return failed(diagnostics, &request),
        Ok(None) => undecided::<P>(&request.prior, &filled, &config, Some(scope), &private.inventory.ids()),
        Ok(Some(decision)) => {
            messages::warn_of_missing::<P>(&name::<P>(&config), &decision.missing, &mut diagnostics);
            if updating && !replacing {
                let (name, plan, inventory) = (name::<P>(&config), &decision.plan, &private.inventory);
                let in_the_way = obstacles::in_deleted_subnets::<P>(cloud.as_ref(), inventory, plan).await;
                messages::warn_of_deletions::<P>(&name, plan, &in_the_way, &mut diagnostics);
                obstacles::refuse_overlaps::<P>(&name, plan, &in_the_way, &mut diagnostics);
                let in_domains = obstacles::in_deleted_domains::<P>(cloud.as_ref(), inventory, plan).await;
                messages::warn_of_paths::<P>(&name, &in_domains, &mut diagnostics);
                messages::warn_of_gaps::<P>(&name, plan, &mut diagnostics);
                messages::warn_of_refused_requests::<P>(&name, plan, &mut diagnostics);
                refuse_another_root::<P>(&private.inventory, &decision, &mut diagnostics);
            }
            match !has_forgotten && import::is_as_imported(&private, &decision) {
                true => import::kept::<P>(&request.prior, &request.config, &filled),
                false => decided_state::<P>(&request.prior, &filled, &config, scope, &private, &decision),
            }
        }
    };
    if has_lost_root {
        // Terraform replaces only for an attribute whose planned value differs.
        planned.set("id", Value::Unknown);
    }
    private.facts = Some(facts);
    PlanResponse { planned, requires_replace, private: private.encode(), diagnostics }
}

/// What exists according to private state; without a usable one, according to AWS.
async fn existing<P: Product>(cloud: &dyn Cloud, request: &PlanRequest) -> Result<Private, Failure> {
    if request.prior.is_null() {
        return Ok(Private::of_create());
    }
    if let Some(mut private) = Private::decode(&request.prior_private) {
        leave_to_others(&mut private.inventory, &cloud.scope().ignore_tags);
        return Ok(private);
    }
    let Some(root_id) = request.prior.get("id").as_str() else { return Ok(Private::of(Inventory::default())) };
    let found = refresh::rebuild::<P>(cloud, root_id, &request.prior).await?;
    Ok(found.unwrap_or_else(|| Private::of(Inventory::default())))
}

/// A root is never exchanged by an update: only a replacement, which Terraform announces, may do that.
fn refuse_another_root<P: Product>(inventory: &Inventory, decision: &Decision, diagnostics: &mut Diagnostics) {
    let makes_root = decision.plan.ops.iter().any(|op| match &op.action {
        Action::Create(object) => object.key.slot == P::OWNER.root(),
        _ => false,
    });
    if makes_root && inventory.at(P::OWNER.root()).is_some() {
        diagnostics.error(
            format!("{} would lose its {}", P::TYPE_NAME, P::OWNER.root()),
            // With -replace, Terraform would ask for this plan first, and stop at this error.
            "The change cannot be made in place. Run `terraform taint ADDRESS` and apply if you mean to rebuild it.",
        );
    }
}

/// The planned state while the set of objects is unknown.
fn undecided<P: Product>(prior: &Value, filled: &Value, config: &P::Config, scope: Option<&Scope>, ids: &Ids) -> Value {
    let mut planned = state::empty::<P>();
    for (name, value) in state::configured::<P>(filled).as_map().into_iter().flatten() {
        planned.set(name, value.clone());
    }
    planned.set("id", known_id(prior));
    for name in ["aws_objects", "drift", "leaving"] {
        planned.set(name, Value::Unknown);
    }
    planned.set("tags_all", state::tags_all::<P>(config, scope));
    for (name, value) in P::outputs(config, None, ids, scope) {
        planned.set(&name, value);
    }
    planned
}

/// The planned state when the set of objects is known: every id that will not change is known too.
fn decided_state<P: Product>(
    prior: &Value,
    filled: &Value,
    config: &P::Config,
    scope: &Scope,
    private: &Private,
    decision: &Decision,
) -> Value {
    let ids = staying_ids(&private.inventory, decision);
    let mut planned = state::empty::<P>();
    for (name, value) in state::configured::<P>(filled).as_map().into_iter().flatten() {
        planned.set(name, value.clone());
    }
    planned.set("id", known_id(prior));
    let objects = decision.objects.iter();
    planned.set("aws_objects", Value::map(objects.map(|object| (object.key.slot.clone(), ids.id(&object.key)))));
    planned.set("tags_all", state::tags_all::<P>(config, Some(scope)));
    for (name, value) in P::outputs(config, Some(&decision.objects), &ids, Some(scope)) {
        planned.set(&name, value);
    }
    planned.set("drift", Value::Map(BTreeMap::new()));
    let may_leave = private.inventory.present().any(|entry| entry.leaving)
        || (!prior.is_null() && decision.plan.deleted().any(|entry| entry.spec().holds_network_interfaces()));
    planned.set("leaving", if may_leave { Value::Unknown } else { Value::Map(BTreeMap::new()) });
    if decision.plan.is_empty() && is_looks_alone(private, &decision.objects) {
        // What is drift compared with the last apply is as the configuration wants it, so there is nothing to do.
        let mut quiet = planned.clone();
        quiet.set("drift", prior.get("drift").clone());
        if quiet == *prior {
            return quiet;
        }
    }
    // Terraform drops a plan that changes nothing it can see, and never applies it.
    if !decision.plan.is_empty() && planned == *prior {
        planned.set("drift", Value::Unknown);
    }
    planned
}

/// The ids of the wanted objects that exist and keep their id.
fn staying_ids(inventory: &Inventory, decision: &Decision) -> Ids {
    let mut ids = Ids::default();
    let existing = inventory.ids();
    for object in &decision.objects {
        if let Some(made) = existing.get(&object.key) {
            ids.insert(object.key.clone(), made.clone());
        }
    }
    for op in &decision.plan.ops {
        match &op.action {
            Action::Create(object) => ids.remove(&object.key),
            Action::Update { to, .. } if to.spec.gets_new_id_when_updated() => ids.remove(&to.key),
            _ => {}
        }
    }
    ids
}

fn known_id(prior: &Value) -> Value {
    match prior.get("id") {
        Value::String(id) => id.as_str().into(),
        _ => Value::Unknown,
    }
}

/// The name that the user gave, for messages.
pub(super) fn name<P: Product>(config: &P::Config) -> String {
    match P::name(config) {
        Input::Known(name) => name.clone(),
        Input::Unknown => "(known after apply)".to_string(),
    }
}
