//! The execution of a plan, shared by creates, updates and destroys.

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::new_inputs;
use super::pending_deletion::cancel_pending_deletion;
use super::unknown_outcomes;
use crate::cloud::retries::{Retry, RetryLimits};
use crate::cloud::{Cause, Cloud, Deadlines, DependentsByOp, Failure};
use crate::composite::decision::Decision;
use crate::composite::diagnostics::Operation;
use crate::composite::managed_roots::ManagedRoots;
use crate::composite::names::Names;
use crate::composite::siblings::Siblings;
use crate::composite::stated::StatedRoots;
use crate::composite::{dependents, diagnostics};
use crate::model::{GuardDutyObjects, Inventory, Spec, Timeouts};
use crate::plugin::{ApplyRequest, Diagnostics};
use crate::reconcile::{self, Execution, Op, Outcome, Plan, Progress};
use crate::topology::Topology;

/// How long the calls at the end of an apply are retried at least.
const CONCLUSION: Duration = Duration::from_secs(60);

/// The state that all plans and applies of a process share.
pub(in crate::composite) struct Shared {
    progress: Arc<Progress>,
    pub(in crate::composite) managed_roots: Arc<ManagedRoots>,
    pub(in crate::composite) names: Arc<Names>,
    pub(in crate::composite) stated: Arc<StatedRoots>,
}

impl Shared {
    /// With what the resources of the process know of each other.
    pub(in crate::composite) fn new(progress: Arc<Progress>, siblings: Siblings) -> Shared {
        let Siblings { managed_roots, names, stated } = siblings;
        Shared { progress, managed_roots, names, stated }
    }

    /// Remembers that a root does not exist any more.
    pub(super) fn note_destroyed(&self, root_id: &str) {
        self.managed_roots.note_destroyed(root_id);
        self.names.forget_root(root_id);
        self.stated.forget(root_id);
    }

    /// Returns limits of retries that report to the progress file. They limit nothing else: reads are dropped by a stop
    /// and at their timeout, and after a stop, an apply still records what it has done.
    pub(in crate::composite) fn retry_limits(&self) -> RetryLimits {
        let progress = Arc::clone(&self.progress);
        let report = Arc::new(move |retry: &Retry| progress.retrying(None, retry));
        let is_apply = RetryLimits::is_in_apply();
        RetryLimits { deadline: None, is_apply, stop: CancellationToken::new(), report }
    }

    /// Returns the limits of an apply.
    pub(in crate::composite) fn limits_of_apply(&self) -> RetryLimits {
        RetryLimits { is_apply: true, ..self.retry_limits() }
    }

    /// Adds a warning if the progress of this process cannot be written. Only once.
    pub(in crate::composite) fn warn_of_progress(&self, diagnostics: &mut Diagnostics) {
        if let Some(problem) = self.progress.take_problem() {
            diagnostics::progress_not_written(&problem, diagnostics);
        }
    }

    /// Returns the limits of the calls that find out and mark what an apply has left. Neither a stop nor a deadline in
    /// the past prevents their retries, because the state depends on them.
    pub(super) fn limits_after(&self, deadline: Instant) -> RetryLimits {
        RetryLimits { deadline: Some(deadline.max(Instant::now() + CONCLUSION)), ..self.retry_limits() }
    }
}

/// The inputs of a run.
pub(super) struct Setup<'a> {
    pub(super) shared: &'a Shared,
    pub(super) cloud: &'a dyn Cloud,
    pub(super) request: &'a ApplyRequest,
    /// The name that the user gave, for messages.
    pub(super) name: String,
    /// The existing objects.
    pub(super) inventory: Inventory,
    pub(super) timeouts: &'a Timeouts,
    /// The time at which the whole run ends.
    pub(super) deadline: Instant,
    /// The timeout for a deletion of an object that is in use; `None` for the timeout of the run.
    pub(super) in_use: Option<Duration>,
    /// What a deletion does with the objects of GuardDuty that block it.
    pub(super) guardduty: GuardDutyObjects,
    /// Called with the id of a new root, as soon as it is recorded.
    pub(super) on_new_root: &'a (dyn Fn(&str) + Send + Sync),
}

/// One execution. Its inventory is always up to date, so that a snapshot can be taken at any moment.
pub(super) struct Run<'a, P> {
    execution: Execution<'a>,
    name: String,
    operation: Operation,
    topology: PhantomData<P>,
}

/// The inventory of a run, which outlives it in a snapshot.
#[derive(Clone)]
pub(super) struct SharedInventory(Arc<Mutex<Inventory>>);

impl SharedInventory {
    /// Returns a copy of the current inventory.
    pub(super) fn now(&self) -> Inventory {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Inventory> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl<'a, P: Topology> Run<'a, P> {
    /// Creates a run.
    pub(super) fn new(setup: Setup<'a>) -> Run<'a, P> {
        let Setup { shared, cloud, request, name, inventory, timeouts, deadline, in_use, guardduty, .. } = setup;
        let execution = Execution {
            cloud,
            owner: P::KIND,
            new_inputs: new_inputs::of(&request.planned, &request.config),
            in_create: request.prior.is_null(),
            inventory: Arc::new(Mutex::new(inventory)),
            timeouts,
            deadline,
            in_use,
            guardduty,
            stop: request.stop.clone(),
            progress: Arc::clone(&shared.progress),
            on_new_root: setup.on_new_root,
            root_id: request.prior.get("id").as_str().map(str::to_string),
            done: Default::default(),
        };
        let operation = match () {
            () if request.prior.is_null() => Operation::Create,
            () if request.planned.is_null() => Operation::Destroy,
            () => Operation::Update,
        };
        Run { execution, name, operation, topology: PhantomData }
    }

    /// Returns a handle on the inventory.
    pub(super) fn shared_inventory(&self) -> SharedInventory {
        SharedInventory(Arc::clone(&self.execution.inventory))
    }

    /// Returns what a deletion does with the objects of GuardDuty.
    pub(super) fn guardduty(&self) -> GuardDutyObjects {
        self.execution.guardduty
    }

    /// Returns a copy of the current inventory.
    pub(super) fn inventory(&self) -> Inventory {
        self.shared_inventory().now()
    }

    fn replace_inventory(&self, inventory: Inventory) {
        *self.shared_inventory().lock() = inventory;
    }

    /// Returns the deadlines of waits after the operations.
    pub(super) fn deadlines(&self) -> Deadlines {
        Deadlines::until(self.execution.deadline, self.execution.stop.clone())
    }

    /// Executes a plan without unknown inputs.
    pub(super) async fn execute(&self, plan: &Plan) -> Outcome {
        reconcile::execute(plan, &self.execution).await
    }

    /// Executes a decision whose plan may contain unknown inputs. Returns the last decision and its outcome.
    ///
    /// The range that an IPAM pool allocates, for example, is known only after the allocation, and so are the CIDR
    /// blocks of the subnets in it. Operations with unknown inputs are deferred. After the other operations have
    /// finished, `decide_again`, the same function as at plan, decides from the current inventory, and the rest is
    /// executed.
    pub(super) async fn execute_in_stages(
        &self,
        first: Decision,
        decide_again: impl Fn(&mut Inventory, &mut Diagnostics) -> Result<Option<Decision>, ()>,
        diagnostics: &mut Diagnostics,
    ) -> (Decision, Outcome) {
        let mut decision = first;
        let mut has_freed = false;
        loop {
            let outcome = self.execute(&decision.plan).await;
            if !has_freed && self.free_quota(&decision, &outcome).await {
                has_freed = true;
                // The required objects are the same, so that the apply does what the plan showed.
                if let Ok(plan) = reconcile::plan(&self.inventory(), &decision.objects) {
                    decision.plan = plan;
                    continue;
                }
            }
            let deferred = decision.plan.deferred();
            let has_failed = outcome.failed.iter().any(|(_, failure)| failure.cause != Cause::NotAttached);
            if deferred.is_empty() || has_failed || outcome.stopped {
                return (decision, outcome);
            }
            let mut inventory = self.inventory();
            let next = match outcome.undone().count() == decision.plan.ops.len() {
                // No operation succeeded, so no further input can become known.
                true => None,
                false => match decide_again(&mut inventory, diagnostics) {
                    Ok(next) => next,
                    // The problems depend on values that were unknown before. They have been reported.
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

    /// After an execution that failed only because of quotas, deletes the objects that these count and that nothing
    /// uses. Returns whether one of them was deleted, so that the rest may be tried again.
    async fn free_quota(&self, decision: &Decision, outcome: &Outcome) -> bool {
        let errors = || outcome.failed.iter().filter(|(_, failure)| failure.cause != Cause::NotAttached);
        let is_quota = |(_, failure): &(usize, Failure)| failure.cause == Cause::QuotaExceeded;
        if errors().next().is_none() || outcome.stopped || !errors().all(is_quota) {
            return false;
        }
        let failed: Vec<&Spec> = errors().map(|(position, _)| decision.plan.ops[*position].action.spec()).collect();
        let inventory = self.inventory();
        let Ok(rest) = reconcile::plan(&inventory, &decision.objects) else { return false };
        let freeing = rest.freeing(&failed, &inventory);
        // The execution itself may have deleted some after it had failed to create others.
        let undone: BTreeSet<usize> = outcome.undone().collect();
        let is_freed = |(position, op): (usize, &Op)| op.action.makes_room_for(&failed) && !undone.contains(&position);
        let has_room = decision.plan.ops.iter().enumerate().any(is_freed);
        // A deletion that failed is repeated after the second attempt, and reported then.
        self.execute(&freeing).await.undone().count() < freeing.ops.len() || has_room
    }

    /// Reads the objects of operations with unknown outcomes, and updates the inventory.
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

    /// Lists the dependents of the objects whose operations failed because they were in use.
    pub(super) async fn dependents_of_failures(&self, plan: &Plan, outcome: &Outcome) -> DependentsByOp {
        dependents::of_failures::<P>(self.execution.cloud, &self.inventory(), plan, outcome).await
    }

    /// Reports the operations that failed or were not started, and how to continue.
    pub(super) fn report(
        &self,
        plan: &Plan,
        outcome: &Outcome,
        found: (&DependentsByOp, &BTreeMap<usize, String>),
        diagnostics: &mut Diagnostics,
    ) {
        diagnostics::failures(plan, outcome, found, self.execution.guardduty, diagnostics);
        diagnostics::rejected_credentials::<P>(&self.name, plan, outcome, diagnostics);
        if !outcome.is_complete() {
            let inventory = self.inventory();
            let root_id = inventory.at(P::KIND.root()).map(|root| root.id.as_str());
            diagnostics::incomplete::<P>(&self.name, root_id, self.operation, plan, outcome, diagnostics);
        }
    }
}
