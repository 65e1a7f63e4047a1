//! Create, update and destroy.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;

use super::observe::drift;
use super::obstacles::{self, Culprits};
use super::planning::{Decision, decide, name};
use super::private::Private;
use super::stages::carry_out;
use super::{Composite, import, lost_answers, messages, refresh, state};
use crate::cloud::{Cause, Cloud, Failure, RootState, SharedCloud};
use crate::model::Facts;
use crate::model::{Inventory, Object};
use crate::plugin::{ApplyRequest, ApplyResponse, Diagnostics, Value};
use crate::reconcile::{self, Action, Execution, Outcome, Plan};
use crate::topology::Product;

/// How long an update waits for users of what it deletes. Terraform changes dependents only after our update.
const UPDATE_DELETE_TIMEOUT: Duration = Duration::from_secs(2 * 60);

impl<P: Product> Composite<P> {
    /// Creates, where there is no prior state, or updates.
    pub(super) async fn change(&self, cloud: SharedCloud, request: ApplyRequest) -> ApplyResponse {
        let mut diagnostics = Diagnostics::default();
        let creating = request.prior.is_null();
        let unchanged = |diagnostics, request: &ApplyRequest| ApplyResponse {
            state: request.prior.clone(),
            private: if creating { Vec::new() } else { request.planned_private.clone() },
            diagnostics,
        };
        // Terraform applies `ignore_changes` to what a plan is asked for, and not to the configuration of an apply.
        let planned = state::configured::<P>(&request.planned).with_unknowns_from(&request.config);
        let (filled, config) = match state::decode::<P>(&planned) {
            Ok(decoded) => decoded,
            Err(problems) => {
                diagnostics.problems(problems);
                return unchanged(diagnostics, &request);
            }
        };
        let Some(mut private) = Private::decode_plan(&request.planned_private) else {
            diagnostics.error(
                format!("The plan of {} cannot be read", P::TYPE_NAME),
                "It was made by another version of the provider. Plan again.",
            );
            return unchanged(diagnostics, &request);
        };
        private.of_create = false;
        // Such a plan was made without AWS: any other one replaces the resource.
        if !creating && private.inventory.at(P::OWNER.root()).is_none() {
            diagnostics.error(
                format!("The {} of this {} is gone", P::OWNER.root(), P::TYPE_NAME),
                "The plan was made while the provider configuration was unknown, and could not show it. Plan again.",
            );
            return unchanged(diagnostics, &request);
        }
        // The plan has told of what it has forgotten.
        import::forget::<P>(&mut private, &filled, &mut Diagnostics::default());
        let settled = import::settled::<P>(&request.prior, Some(&private), &filled);
        let prior = state::decode::<P>(&settled).ok().map(|(_, config)| config);
        // What was found at plan stays, so that apply does what was shown.
        let mut facts = private.facts.take().unwrap_or_default();
        let unanswered = facts.unanswered(P::lookups(&config));
        let misses = |facts: &Facts, inventory: &mut Inventory| {
            let diagnostics = &mut Diagnostics::default();
            let decided = decide::<P>(&config, prior.as_ref(), inventory, cloud.scope(), facts, diagnostics);
            matches!(decided, Ok(Some(decision)) if !decision.missing.is_empty())
        };
        let looked = async {
            if !unanswered.is_empty() {
                facts = facts.with(cloud.facts(&unanswered).await?);
            }
            let incomplete = Facts::incomplete(P::lookups(&config), &unanswered);
            if !incomplete.is_empty() && misses(&facts, &mut private.inventory) {
                facts = facts.with(cloud.facts(&incomplete).await?);
            }
            Ok::<_, Failure>(facts)
        };
        let facts = match looked.await {
            Ok(facts) => facts,
            Err(failure) => {
                diagnostics.error(format!("Applying {} failed", P::TYPE_NAME), messages::detail(&failure));
                return unchanged(diagnostics, &request);
            }
        };
        let decide_from = |inventory: &mut Inventory, diagnostics: &mut Diagnostics| {
            decide::<P>(&config, prior.as_ref(), inventory, cloud.scope(), &facts, diagnostics)
        };
        let Ok(Some(decision)) = decide_from(&mut private.inventory, &mut Diagnostics::default()) else {
            diagnostics.error(
                format!("{} {} can no longer be applied as planned", P::TYPE_NAME, name::<P>(&config)),
                "What it would do was known at plan and is not now. Plan again; if that does not help, this is a bug in \
                 the provider.",
            );
            return unchanged(diagnostics, &request);
        };
        if !decision.missing.is_empty() {
            diagnostics.problems(decision.missing);
            return unchanged(diagnostics, &request);
        }
        if creating && self.finds_leftovers(cloud.as_ref(), &config, &mut diagnostics).await {
            return unchanged(diagnostics, &request);
        }

        private.imported = import::is_as_imported(&private, &decision);
        let timeouts = P::timeouts(&config);
        let seconds = if creating { timeouts.of_create() } else { timeouts.of_update() };
        let deadline = Instant::now() + Duration::from_secs(seconds);
        reclaim(&mut private.inventory, &decision.objects);
        let inventory = Arc::new(Mutex::new(std::mem::take(&mut private.inventory)));
        let scope = cloud.scope().clone();
        // What an update leaves to do if it is cut short: all that the prior configuration does not say already.
        let settled = (!creating).then_some(settled);
        private.settled = None;
        let snapshot = {
            let (inventory, filled, config) = (Arc::clone(&inventory), filled.clone(), config.clone());
            let mut private = private.clone();
            private.settled = settled.clone();
            private.root_state = if creating { Some(RootState::Creating) } else { private.root_state };
            private.pending.insert(P::OWNER.root().into(), "the last apply was cut short by a fault".into());
            move || {
                let mut private = private.clone();
                private.inventory = lock(&inventory).clone();
                let Some(root_id) = root_id::<P>(&private.inventory) else { return (Value::Null, Vec::new()) };
                let (inventory, notes) = (&private.inventory, drift(&private));
                let state = state::of_inventory::<P>(&filled, Some(&config), &root_id, inventory, notes, &scope);
                (state, private.encode())
            }
        };
        request.so_far.told_by(snapshot);

        let execution = Execution {
            cloud: cloud.as_ref(),
            owner: P::OWNER,
            inventory: Arc::clone(&inventory),
            timeouts: &timeouts,
            deadline,
            in_use: (!creating).then_some(UPDATE_DELETE_TIMEOUT),
            stop: request.stop.clone(),
            progress: &self.progress,
            root_id: request.prior.get("id").as_str().map(str::to_string),
            done: Default::default(),
        };
        let (Decision { objects, plan, .. }, mut outcome) =
            carry_out::<P>(&name::<P>(&config), decision, &execution, decide_from, &mut diagnostics).await;
        private.inventory = lock(&inventory).clone();
        if let Some(root_id) = root_id::<P>(&private.inventory) {
            let name = name::<P>(&config);
            let named = (name.as_str(), root_id.as_str());
            let inventory = &mut private.inventory;
            lost_answers::look_for::<P>(cloud.as_ref(), named, &plan, &outcome, inventory, &mut diagnostics).await;
        }
        let culprits = obstacles::of_failures::<P>(cloud.as_ref(), &private.inventory, &plan, &outcome).await;
        // What was imported keeps counting as found: the plan has left it in other words than the configuration.
        if !private.imported {
            arrange(&mut private.inventory, &objects);
        }
        if !creating {
            let_leave(&plan, &mut outcome, &culprits, &mut private.inventory, &mut diagnostics);
        }
        let root_id = root_id::<P>(&private.inventory);
        if creating {
            self.begun().extend(root_id.clone());
        }
        if let Some(root_id) = &root_id
            && !plan.is_empty()
            && let Err(failure) = cloud.settle(P::OWNER, root_id).await
        {
            diagnostics
                .error(format!("{} {} does not work as applied", P::TYPE_NAME, root_id), messages::detail(&failure));
        }
        messages::failures(&plan, &outcome, &culprits, &mut diagnostics);
        let complete = outcome.failed.is_empty() && outcome.not_started.is_empty();
        if !complete {
            let name = name::<P>(&config);
            messages::unfinished::<P>(&name, root_id.as_deref(), creating, &plan, &outcome, &mut diagnostics);
        }
        private.pending = pending(&plan, &outcome, &private.inventory);
        private.settled = if complete { None } else { settled };
        // What no state will know keeps the mark by which the next create finds it.
        if !(creating && request.unheard.is_cancelled()) {
            self.mark(cloud.as_ref(), root_id.as_deref(), creating, &mut private, &mut diagnostics).await;
        }
        let Some(root_id) = root_id else { return unchanged(diagnostics, &request) };
        let drift = drift(&private);
        let state =
            state::of_inventory::<P>(&filled, Some(&config), &root_id, &private.inventory, drift, cloud.scope());
        ApplyResponse { state, private: private.encode(), diagnostics }
    }

    /// Deletes everything, or returns what remains.
    pub(super) async fn destroy(&self, cloud: SharedCloud, request: ApplyRequest) -> ApplyResponse {
        let mut diagnostics = Diagnostics::default();
        let nothing = |diagnostics| ApplyResponse { state: Value::Null, private: Vec::new(), diagnostics };
        let Some(root_id) = request.prior.get("id").as_str().map(str::to_string) else { return nothing(diagnostics) };
        // Where a create replaces this root, Terraform hands over the private state of that create's plan, which tells
        // nothing of the root.
        let private = match Private::decode(&request.planned_private) {
            Some(private) => Some(private),
            None => match refresh::rebuild::<P>(cloud.as_ref(), &root_id, &request.prior).await {
                Ok(private) => private,
                Err(failure) => {
                    diagnostics
                        .error(format!("Destroying {} {root_id} failed", P::TYPE_NAME), messages::detail(&failure));
                    return ApplyResponse { state: request.prior, private: Vec::new(), diagnostics };
                }
            },
        };
        let Some(mut private) = private else { return nothing(diagnostics) };
        let plan = match reconcile::plan(&private.inventory, &[]) {
            Ok(plan) => plan,
            Err(circle) => {
                diagnostics.error(format!("Destroying {} {root_id} failed", P::TYPE_NAME), circle.to_string());
                return ApplyResponse { state: request.prior, private: private.encode(), diagnostics };
            }
        };
        let config = state::decode::<P>(&request.prior).ok().map(|(_, config)| config);
        let timeouts = config.as_ref().map(P::timeouts).unwrap_or_default();
        let deadline = Instant::now() + Duration::from_secs(timeouts.of_delete());
        let inventory = Arc::new(Mutex::new(std::mem::take(&mut private.inventory)));
        let what_remains = {
            let (inventory, prior, scope) = (Arc::clone(&inventory), request.prior.clone(), cloud.scope().clone());
            let root_id = root_id.clone();
            move || {
                let inventory = lock(&inventory).clone();
                let drift = drift(&Private::of(inventory.clone()));
                let config = state::decode::<P>(&prior).ok().map(|(_, config)| config);
                let state = state::of_inventory::<P>(&prior, config.as_ref(), &root_id, &inventory, drift, &scope);
                (state, Private::of(inventory).encode())
            }
        };
        request.so_far.told_by(what_remains.clone());
        let execution = Execution {
            cloud: cloud.as_ref(),
            owner: P::OWNER,
            inventory: Arc::clone(&inventory),
            timeouts: &timeouts,
            deadline,
            in_use: None,
            stop: request.stop.clone(),
            progress: &self.progress,
            root_id: request.prior.get("id").as_str().map(str::to_string),
            done: Default::default(),
        };
        let outcome = reconcile::execute(&plan, &execution).await;
        let name = config.as_ref().map(|config| name::<P>(config)).unwrap_or_default();
        let mut remaining = lock(&inventory).clone();
        let named = (name.as_str(), root_id.as_str());
        lost_answers::look_for::<P>(cloud.as_ref(), named, &plan, &outcome, &mut remaining, &mut diagnostics).await;
        lock(&inventory).clone_from(&remaining);
        if remaining.present().next().is_none() {
            return nothing(diagnostics);
        }
        let culprits = obstacles::of_failures::<P>(cloud.as_ref(), &remaining, &plan, &outcome).await;
        messages::failures(&plan, &outcome, &culprits, &mut diagnostics);
        messages::unfinished::<P>(&name, None, false, &plan, &outcome, &mut diagnostics);
        let (state, private) = what_remains();
        ApplyResponse { state, private, diagnostics }
    }

    /// Whether a create that was killed has left a root of this name.
    async fn finds_leftovers(&self, cloud: &dyn Cloud, config: &P::Config, diagnostics: &mut Diagnostics) -> bool {
        let name = name::<P>(config);
        match cloud.unfinished_roots(P::OWNER, &name).await {
            Ok(mut roots) => {
                roots.retain(|root| !self.begun().contains(&root.id));
                messages::leftovers::<P>(&name, &roots, diagnostics);
                !roots.is_empty()
            }
            Err(failure) => {
                diagnostics.error(format!("Creating {} {name:?} failed", P::TYPE_NAME), messages::detail(&failure));
                true
            }
        }
    }

    /// Marks the root as ready or incomplete, where it is not marked so. Some roles may tag only on creation, so a
    /// refusal is a warning, and the next apply tries again.
    async fn mark(
        &self,
        cloud: &dyn Cloud,
        root_id: Option<&str>,
        creating: bool,
        private: &mut Private,
        diagnostics: &mut Diagnostics,
    ) {
        let Some(root_id) = root_id else { return };
        let now = if creating { Some(RootState::Creating) } else { private.root_state };
        let complete = !diagnostics.has_errors();
        let wanted = if complete { RootState::Ready } else { RootState::Incomplete };
        let Some(now) = now.filter(|now| *now != wanted && (creating || complete)) else { return };
        match cloud.mark_root(P::OWNER, root_id, wanted).await {
            Ok(()) => {
                private.root_state = (wanted != RootState::Ready).then_some(wanted);
                private.marking_refused = false;
            }
            Err(failure) => {
                // A refusal lasts. After anything else the next look shows how the root is marked: as long as it is
                // creating, others of its name are stopped.
                private.marking_refused = failure.cause == Cause::Denied;
                private.root_state = private.marking_refused.then_some(now);
                diagnostics.warning(
                    format!("The tag fgw:state of {root_id} could not be changed"),
                    format!("{} The next apply tries again.", messages::detail(&failure)),
                );
            }
        }
    }
}

/// Moves what an update could not delete yet to `leaving`.
///
/// In an update that deletes subnets it is no error that others still use what is deleted: Terraform changes those
/// others only after our update. Of deletions that an error has kept from starting, those are moved whose place a new
/// object has taken; the others keep their place, as what they are replaced by does not stand.
fn let_leave(
    plan: &Plan,
    outcome: &mut Outcome,
    culprits: &Culprits,
    inventory: &mut Inventory,
    diagnostics: &mut Diagnostics,
) {
    let is_deletion = |position: &usize| matches!(plan.ops[*position].action, Action::Delete { .. });
    let deletes_subnets = plan.deleted().any(|entry| entry.spec().holds_network_interfaces());
    let has_left_its_place = |position: &usize| {
        let Action::Delete { entry, .. } = &plan.ops[*position].action else { return false };
        let slot = &entry.key.slot;
        let awaited = plan.ops.iter().any(|op| matches!(&op.action, Action::Create(it) if it.key.slot == *slot));
        !awaited || inventory.present().any(|it| it.key.slot == *slot && it.id != entry.id && !it.leaving)
    };
    let (in_use, failed): (Vec<_>, Vec<_>) =
        std::mem::take(&mut outcome.failed).into_iter().partition(|(position, failure)| {
            let in_use = is_deletion(position) && failure.cause == Cause::InUse;
            in_use && deletes_subnets && !outcome.stopped && has_left_its_place(position)
        });
    outcome.failed = failed;
    for (position, failure) in &in_use {
        let key = plan.ops[*position].action.key();
        diagnostics.warning(
            format!("{key} is still in use and is deleted by the next apply"),
            format!(
                "{}{}\n\nIt is listed in the attribute leaving until then.",
                messages::detail(failure),
                messages::culprits(culprits.get(position))
            ),
        );
    }
    let undone = outcome.failed.iter().map(|(position, _)| *position).chain(outcome.not_started.iter().copied());
    let undone = undone.filter(|position| is_deletion(position) && has_left_its_place(position));
    let failed = !outcome.failed.is_empty() || outcome.stopped || !plan.held_back().is_empty();
    let awaited = |position: &usize| {
        let slot = &plan.ops[*position].action.key().slot;
        plan.ops.iter().any(|op| matches!(&op.action, Action::Create(object) if object.key.slot == *slot))
    };
    // Where nothing failed, what has not started only waits for what is in use.
    let mut leaving: Vec<usize> = undone.filter(|position| !failed || awaited(position)).collect();
    leaving.extend(in_use.into_iter().map(|(position, _)| position));
    if !failed {
        outcome.not_started.retain(|position| !leaving.contains(position));
    }
    for position in leaving {
        let Action::Delete { entry, .. } = &plan.ops[position].action else { continue };
        if let Some(entry) = inventory.entries.iter_mut().find(|it| it.id == entry.id && it.key == entry.key) {
            entry.leaving = true;
        }
    }
}

/// What is left to do, by key.
fn pending(plan: &Plan, outcome: &Outcome, inventory: &Inventory) -> BTreeMap<String, String> {
    let undone = outcome.failed.iter().map(|(position, _)| position).chain(&outcome.not_started);
    // A deletion whose answer was lost may be done.
    let is_left = |position: &&usize| match &plan.ops[**position].action {
        Action::Delete { entry, .. } => inventory.entries.iter().any(|it| it.key == entry.key && it.id == entry.id),
        Action::Create(_) | Action::Update { .. } => true,
    };
    undone
        .filter(is_left)
        .map(|position| {
            let action = &plan.ops[*position].action;
            let what = action.doing().to_lowercase();
            (action.key().slot.clone(), format!("not yet applied: {what} {}", action.spec().kind()))
        })
        .collect()
}

/// An object that was leaving and is wanted again stays.
pub(super) fn reclaim(inventory: &mut Inventory, objects: &[Object]) {
    for object in objects {
        let stays = inventory.present().any(|entry| entry.key == object.key && !entry.leaving);
        if let Some(entry) =
            inventory.entries.iter_mut().find(|entry| !stays && entry.is_present() && entry.key == object.key)
        {
            entry.leaving = false;
        }
    }
}

/// Puts the inventory in the order of the blueprint, drops what is gone and not wanted any more, and settles what looks
/// as wanted without an operation: drift that the configuration has taken over is drift no longer.
fn arrange(inventory: &mut Inventory, objects: &[Object]) {
    for entry in inventory.entries.iter_mut().filter(|entry| entry.is_present() && !entry.ignored && !entry.unfinished)
    {
        let Some(object) = objects.iter().find(|object| object.key == entry.key) else { continue };
        if entry.spec_against(&object.spec) == object.spec {
            entry.applied = object.spec.clone();
            entry.observed = None;
            entry.adopted = false;
        }
    }
    let position = |entry: &crate::model::Entry| objects.iter().position(|object| object.key == entry.key);
    inventory.entries.retain(|entry| entry.is_present() || position(entry).is_some());
    inventory.entries.sort_by_key(|entry| position(entry).unwrap_or(usize::MAX));
}

fn root_id<P: Product>(inventory: &Inventory) -> Option<String> {
    inventory.at(P::OWNER.root()).map(|entry| entry.id.clone())
}

pub(super) fn lock(inventory: &Mutex<Inventory>) -> std::sync::MutexGuard<'_, Inventory> {
    inventory.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
