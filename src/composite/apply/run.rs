//! One execution of a plan with all that belongs to it, for creates, updates and destroys alike.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::time::Instant;

use super::created_here::CreatedHere;
use super::pending_deletion::cancel_pending_deletion;
use super::unknown_outcomes;
use crate::cloud::{Cloud, DependentsByOp};
use crate::composite::decision::Decision;
use crate::composite::{dependents, diagnostics};
use crate::model::{Inventory, Timeouts};
use crate::plugin::{ApplyRequest, Diagnostics};
use crate::reconcile::{self, Execution, Outcome, Plan, Progress};
use crate::topology::Topology;

/// What all applies of a process have in common.
pub(in crate::composite) struct Shared {
    pub(super) progress: Progress,
    pub(super) created_here: CreatedHere,
}

impl Shared {
    /// Nothing created yet.
    pub(in crate::composite) fn new() -> Shared {
        Shared { progress: Progress::from_environment(), created_here: CreatedHere::default() }
    }
}

/// What a run works with.
pub(super) struct Setup<'a> {
    pub(super) shared: &'a Shared,
    pub(super) cloud: &'a dyn Cloud,
    pub(super) request: &'a ApplyRequest,
    /// The name that the user gave, for messages.
    pub(super) name: String,
    /// What exists.
    pub(super) inventory: Inventory,
    pub(super) timeouts: &'a Timeouts,
    /// After how many seconds the whole run gives up waiting.
    pub(super) seconds: u64,
    /// How long a deletion waits for those who still use its object; `None` is as long as the run may take.
    pub(super) in_use: Option<Duration>,
}

/// One execution. What exists is kept in it all the time, so that a snapshot can tell it at any moment.
pub(super) struct Run<'a, P> {
    execution: Execution<'a>,
    name: String,
    creating: bool,
    product: PhantomData<P>,
}

/// What exists, for a snapshot that outlives the run.
#[derive(Clone)]
pub(super) struct SharedInventory(Arc<Mutex<Inventory>>);

impl SharedInventory {
    /// What exists at this moment.
    pub(super) fn now(&self) -> Inventory {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Inventory> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl<'a, P: Topology> Run<'a, P> {
    /// A run that has not started anything yet. Its time begins.
    pub(super) fn new(setup: Setup<'a>) -> Run<'a, P> {
        let Setup { shared, cloud, request, name, inventory, timeouts, seconds, in_use } = setup;
        let execution = Execution {
            cloud,
            owner: P::KIND,
            inventory: Arc::new(Mutex::new(inventory)),
            timeouts,
            deadline: Instant::now() + Duration::from_secs(seconds),
            in_use,
            stop: request.stop.clone(),
            progress: &shared.progress,
            root_id: request.prior.get("id").as_str().map(str::to_string),
            done: Default::default(),
        };
        Run { execution, name, creating: request.prior.is_null(), product: PhantomData }
    }

    /// What exists, at any later moment too.
    pub(super) fn shared_inventory(&self) -> SharedInventory {
        SharedInventory(Arc::clone(&self.execution.inventory))
    }

    /// What exists at this moment.
    pub(super) fn inventory(&self) -> Inventory {
        self.shared_inventory().now()
    }

    fn replace_inventory(&self, inventory: Inventory) {
        *self.shared_inventory().lock() = inventory;
    }

    /// Carries out a plan of which everything is known.
    pub(super) async fn execute(&self, plan: &Plan) -> Outcome {
        reconcile::execute(plan, &self.execution).await
    }

    /// Carries out a decision of which a part may not be known before another part has been created, and returns the
    /// last one made and what came of it.
    ///
    /// The range that a pool gives is known when it is given, and only then the blocks of subnets in it. Operations
    /// that need such a thing are deferred. Once the others are done, the same function that decided at plan decides
    /// again from what exists now, and the rest is carried out.
    pub(super) async fn execute_in_stages(
        &self,
        first: Decision,
        decide_again: impl Fn(&mut Inventory, &mut Diagnostics) -> Result<Option<Decision>, ()>,
        diagnostics: &mut Diagnostics,
    ) -> (Decision, Outcome) {
        let mut decision = first;
        loop {
            let outcome = self.execute(&decision.plan).await;
            let deferred = decision.plan.deferred();
            if deferred.is_empty() || !outcome.failed.is_empty() || outcome.stopped {
                return (decision, outcome);
            }
            let mut inventory = self.inventory();
            let next = match deferred.len() == decision.plan.ops.len() {
                // Nothing was carried out from which more could be known.
                true => None,
                false => match decide_again(&mut inventory, diagnostics) {
                    Ok(next) => next,
                    // What is wrong with it could not be seen before, and has been reported.
                    Err(()) => return (decision, outcome),
                },
            };
            let Some(next) = next else {
                let key = |position: &usize| decision.plan.ops[*position].action.key().to_string();
                diagnostics::still_unknown::<P>(&self.name, deferred.iter().map(key).collect(), diagnostics);
                return (decision, outcome);
            };
            cancel_pending_deletion(&mut inventory, &next.objects);
            self.replace_inventory(inventory);
            decision = next;
        }
    }

    /// Finds out what calls have done whose answer was lost for good, and takes it into the inventory.
    pub(super) async fn resolve_unknown_outcomes(&self, plan: &Plan, outcome: &Outcome, diagnostics: &mut Diagnostics) {
        let unknown = unknown_outcomes::of(plan, outcome);
        let Some(root_id) = self.execution.root_id().filter(|_| !unknown.is_empty()) else { return };
        let mut inventory = self.inventory();
        let cloud = self.execution.cloud;
        match unknown_outcomes::resolve::<P>(cloud, &root_id, plan, &unknown, &mut inventory).await {
            Ok(()) => self.replace_inventory(inventory),
            Err(failure) => {
                diagnostics::unknown_outcomes::<P>(&self.name, &diagnostics::detail(&failure), diagnostics);
            }
        }
    }

    /// What others keep in the objects of operations that failed for it.
    pub(super) async fn dependents_of_failures(&self, plan: &Plan, outcome: &Outcome) -> DependentsByOp {
        dependents::of_failures::<P>(self.execution.cloud, &self.inventory(), plan, outcome).await
    }

    /// Reports what failed and what was not done, with the ways on.
    pub(super) fn report(
        &self,
        plan: &Plan,
        outcome: &Outcome,
        dependents: &DependentsByOp,
        diagnostics: &mut Diagnostics,
    ) {
        diagnostics::failures(plan, outcome, dependents, diagnostics);
        if !outcome.is_complete() {
            let inventory = self.inventory();
            let root_id = inventory.at(P::KIND.root()).map(|root| root.id.as_str());
            diagnostics::incomplete::<P>(&self.name, root_id, self.creating, plan, outcome, diagnostics);
        }
    }
}
