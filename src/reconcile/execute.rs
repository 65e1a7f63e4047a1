//! Carries out a plan.
//!
//! 1. An operation starts when everything that it waits for has succeeded and all its inputs are known. Nothing else
//!    starts operations. To one that makes or changes something it is enough that what it needs can be used, though
//!    something is still being set on it.
//! 2. After a failure nothing that depends on it starts, and independent work goes on. After a stop nothing starts.
//!    What is in flight always finishes, and takes along what goes with it.
//! 3. An id is recorded the moment AWS answers, before waiting for readiness.
//! 4. Nothing is undone: the state tells the truth, and the next plan goes on from there.
//! 5. A panic in the code of an object is a failure of its operation. Left to unwind it would take along the others in
//!    flight, and with them the ids of what they are creating.
//! 6. The executor knows no AWS, no Terraform and no kinds.

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Action, Plan, Progress};
use crate::cloud::{Cause, Cloud, Deadlines, Failure, OpContext, Recorder};
use crate::model::Timeouts;
use crate::model::TopologyKind;
use crate::model::{Entry, Ids, Inventory, Key, Learned, Object, ResolvedObject, Spec};

/// How many operations are in flight at most. AWS lets some fifty changing EC2 calls through at once.
const IN_FLIGHT: usize = 24;

/// What an execution works with.
pub struct Execution<'a> {
    /// The account.
    pub cloud: &'a dyn Cloud,
    /// Whose objects they are.
    pub owner: TopologyKind,
    /// What exists; kept true all the time, so that it can be read after a panic.
    pub inventory: Arc<Mutex<Inventory>>,
    /// How long things may take.
    pub timeouts: &'a Timeouts,
    /// When the whole execution gives up waiting.
    pub deadline: Instant,
    /// How long a deletion waits for those who still use its object; `None` is until `deadline`. Short in an update,
    /// since Terraform changes dependents only after the update has returned.
    pub in_use: Option<Duration>,
    /// Cancelled when nothing new may start.
    pub stop: CancellationToken,
    /// Where finished operations are told.
    pub progress: &'a Progress,
    /// The root's id by the state before: what was part of it is known by that, though it has gone.
    pub root_id: Option<String>,
    /// How many operations of this and earlier plans have been done with it.
    pub done: AtomicUsize,
}

/// What came of an execution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Operations that failed, by position in the plan.
    pub failed: Vec<(usize, Failure)>,
    /// Operations that were never started.
    pub not_started: Vec<usize>,
    /// Whether that is because of a stop.
    pub stopped: bool,
}

impl Outcome {
    /// Whether every operation succeeded.
    pub fn is_complete(&self) -> bool {
        self.undone().next().is_none()
    }

    /// The operations that did not succeed, by position in the plan.
    pub fn undone(&self) -> impl Iterator<Item = usize> {
        self.failed.iter().map(|(position, _)| *position).chain(self.not_started.iter().copied())
    }
}

/// How far the operations of a plan are.
struct Course<'a> {
    plan: &'a Plan,
    started: BTreeSet<usize>,
    succeeded: BTreeSet<usize>,
    /// Those that have succeeded, and those in flight whose objects can be used already.
    usable: BTreeSet<usize>,
    /// Those that do not start: they or what they wait for have failed, or have an unknown input.
    held: BTreeSet<usize>,
    failed: Vec<(usize, Failure)>,
}

impl<'a> Course<'a> {
    fn of(plan: &'a Plan) -> Course<'a> {
        let (started, succeeded, usable) = Default::default();
        Course { plan, started, succeeded, usable, held: plan.deferred(), failed: Vec::new() }
    }

    fn is_ready(&self, position: usize) -> bool {
        let op = &self.plan.ops[position];
        let enough = if matches!(op.action, Action::Delete { .. }) { &self.succeeded } else { &self.usable };
        !self.started.contains(&position) && !self.held.contains(&position) && op.depends_on.is_subset(enough)
    }

    fn succeed(&mut self, position: usize) {
        self.succeeded.insert(position);
        self.usable.insert(position);
    }

    fn fail(&mut self, position: usize, failure: Failure) {
        let action = &self.plan.ops[position].action;
        tracing::error!("{} {}: {failure}", action.doing(), action.key());
        self.held.extend(self.plan.transitive_dependents(BTreeSet::from([position])));
        self.failed.push((position, failure));
    }

    fn outcome(self, stopped: bool) -> Outcome {
        let not_started = (0..self.plan.ops.len()).filter(|position| !self.started.contains(position)).collect();
        Outcome { failed: self.failed, not_started, stopped }
    }
}

/// Runs every operation of a plan that can run.
pub async fn execute(plan: &Plan, execution: &Execution<'_>) -> Outcome {
    let mut course = Course::of(plan);
    let (report_usable, mut reported_usable) = tokio::sync::mpsc::unbounded_channel();
    let mut running = FuturesUnordered::new();
    let order = plan.critical_path_first();
    let all = execution.done.load(Ordering::Relaxed) + plan.ops.len();
    loop {
        let may_start = !execution.stop.is_cancelled();
        for &position in &order {
            let action = &plan.ops[position].action;
            // What is deleted with another object is deleted already: that is no start.
            let is_over = matches!(action, Action::Delete { cascades_from: Some(_), .. });
            if (is_over || (may_start && running.len() < IN_FLIGHT)) && course.is_ready(position) {
                course.started.insert(position);
                if !is_over {
                    tracing::debug!("{} {} started", action.doing(), action.key().slot);
                }
                running.push(execution.attempt(position, action, &report_usable));
            }
        }
        let next = tokio::select! {
            biased;
            Some(position) = reported_usable.recv() => {
                course.usable.insert(position);
                continue;
            }
            next = running.next() => next,
        };
        let Some((position, begun, result)) = next else { break };
        match result {
            Ok(id) => {
                course.succeed(position);
                let action = &plan.ops[position].action;
                let done = execution.done.fetch_add(1, Ordering::Relaxed) + 1;
                execution.progress.finished(action.done(), &action.key().slot, &id, begun.elapsed(), done, all);
            }
            Err(failure) => course.fail(position, failure),
        }
    }
    course.outcome(execution.stop.is_cancelled())
}

fn panicked(action: &Action, payload: &(dyn Any + Send)) -> Failure {
    let said = payload.downcast_ref::<&'static str>().copied();
    let said = said.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no message)");
    Failure::new(Cause::Panicked, action.key().slot.clone(), format!("the provider's own code failed: {said}"))
}

impl Action {
    /// As in `Creating NAT gateway`.
    pub fn doing(&self) -> &'static str {
        match self {
            Action::Create(_) => "Creating",
            Action::Update { .. } => "Updating",
            Action::Delete { .. } => "Deleting",
        }
    }

    /// As in `created nat_gateway.0`.
    fn done(&self) -> &'static str {
        match self {
            Action::Create(_) => "created",
            Action::Update { .. } => "updated",
            Action::Delete { .. } => "deleted",
        }
    }
}

impl Execution<'_> {
    /// Runs one operation, and takes a panic in it for its failure.
    async fn attempt(
        &self,
        position: usize,
        action: &Action,
        report_usable: &UnboundedSender<usize>,
    ) -> (usize, Instant, Result<String, Failure>) {
        let begun = Instant::now();
        let usable = || {
            // The receiver lives as long as the execution.
            let _ = report_usable.send(position);
        };
        // What the panic may have left half done is the inventory's alone, which is locked for single changes only and
        // told to be unfinished.
        let result = AssertUnwindSafe(self.run(action, &usable)).catch_unwind().await;
        (position, begun, result.unwrap_or_else(|payload| Err(panicked(action, &*payload))))
    }

    /// Runs one operation and returns the id of its object.
    async fn run(&self, action: &Action, usable: &(dyn Fn() + Send + Sync)) -> Result<String, Failure> {
        match action {
            Action::Create(object) => self.create(object, usable).await,
            Action::Update { id, before, certain, to } => self.update(id, before, *certain, to).await,
            Action::Delete { entry, cascades_from } => self.delete(entry, cascades_from.is_some()).await,
        }
    }

    async fn create(&self, object: &Object, usable: &(dyn Fn() + Send + Sync)) -> Result<String, Failure> {
        let needed = self.needed(object.spec.needs().into_iter().map(|need| need.key));
        let root_id = self.root_id();
        let work = self.work(&needed, root_id.as_deref(), None);
        let id = |id: &str| self.record_id(object, id);
        let learned = |learned: Learned| self.record_learned(&object.key, learned);
        self.cloud.create(&work, object, &Recorder { id: &id, learned: &learned, usable }).await?;
        self.finish(object)
    }

    async fn update(&self, old_id: &str, before: &Spec, certain: bool, to: &Object) -> Result<String, Failure> {
        // What it no longer needs has to be let go of, by its id.
        let needs = to.spec.needs().into_iter().chain(before.needs());
        let needed = self.needed(needs.map(|need| need.key));
        let root_id = self.root_id();
        let work = self.work(&needed, root_id.as_deref(), Some(before));
        // An update that stops half-way leaves a look that is not known for sure, and of what is ours one by one, such
        // as tags, that of before and after.
        self.change(&to.key, |entry| {
            entry.unfinished = true;
            entry.applied.merge_owned(&to.spec);
        });
        let id = |id: &str| self.change(&to.key, |entry| entry.id = id.to_string());
        let learned = |learned: Learned| self.record_learned(&to.key, learned);
        let from = certain.then_some(before);
        // Who waits for an update waits for its end: it may be what they need of it.
        self.cloud.update(&work, old_id, from, to, &Recorder { id: &id, learned: &learned, usable: &|| () }).await?;
        self.finish(to)
    }

    async fn delete(&self, entry: &Entry, along: bool) -> Result<String, Failure> {
        if !along {
            let needed = self.needed(entry.spec().needs().into_iter().map(|need| need.key));
            let root_id = self.root_id();
            let mut work = self.work(&needed, root_id.as_deref(), Some(entry.spec()));
            let in_use_until = self.in_use.map_or(self.deadline, |in_use| Instant::now() + in_use);
            work.deadlines.in_use_until = in_use_until.min(self.deadline);
            self.cloud.delete(&work, entry).await?;
        }
        self.lock().entries.retain(|other| other.id != entry.id || other.key != entry.key);
        Ok(entry.id.clone())
    }

    fn work<'b>(&'b self, ids: &'b Ids, root_id: Option<&'b str>, before: Option<&'b Spec>) -> OpContext<'b> {
        let deadlines = Deadlines::until(self.deadline, self.stop.clone());
        let known = self.lock().entries.iter().map(|entry| entry.id.clone()).collect();
        OpContext { owner: self.owner, root_id, ids, before, known, timeouts: self.timeouts, deadlines }
    }

    /// The ids of these objects only: a kind that uses an object which it does not declare as needed finds no id,
    /// and any test finds that.
    fn needed(&self, keys: impl Iterator<Item = Key>) -> Ids {
        let inventory = self.lock();
        let mut needed = Ids::default();
        for key in keys {
            let mut holders = inventory.present().filter(|entry| entry.key == key).collect::<Vec<_>>();
            holders.sort_by_key(|entry| entry.pending_deletion);
            if let Some(entry) = holders.first() {
                needed.insert(key, ResolvedObject { id: entry.id.clone(), learned: entry.learned.clone() });
            }
        }
        needed
    }

    /// The id of the root, also of one that has been deleted before.
    pub fn root_id(&self) -> Option<String> {
        let inventory = self.lock();
        let present = inventory.present().find(|entry| entry.key.slot == self.owner.root());
        present.map(|entry| entry.id.clone()).or_else(|| self.root_id.clone())
    }

    fn record_id(&self, object: &Object, id: &str) {
        let mut inventory = self.lock();
        // An object that was gone and is made again takes the place of its old entry.
        inventory.entries.retain(|entry| !(entry.gone && entry.key == object.key));
        if let Some(entry) =
            inventory.entries.iter_mut().find(|entry| entry.key == object.key && !entry.pending_deletion)
        {
            entry.id = id.to_string();
            return;
        }
        let mut entry = Entry::new(object.key.clone(), id, object.spec.clone());
        entry.unfinished = true;
        inventory.entries.push(entry);
    }

    fn record_learned(&self, key: &Key, learned: Learned) {
        self.change(key, |entry| entry.learned = learned.clone());
    }

    fn finish(&self, object: &Object) -> Result<String, Failure> {
        let mut id = None;
        self.change(&object.key, |entry| {
            entry.applied = object.spec.clone();
            entry.observed = None;
            entry.unfinished = false;
            entry.adopted = false;
            id = Some(entry.id.clone());
        });
        id.ok_or_else(|| {
            let message = "no id was recorded for it; this is a bug in the provider";
            Failure::new(Cause::Other, object.key.slot.clone(), message)
        })
    }

    fn change(&self, key: &Key, mut change: impl FnMut(&mut Entry)) {
        let mut inventory = self.lock();
        let mut holders: Vec<&mut Entry> =
            inventory.entries.iter_mut().filter(|entry| entry.key == *key && entry.is_present()).collect();
        holders.sort_by_key(|entry| entry.pending_deletion);
        if let Some(entry) = holders.into_iter().next() {
            change(entry);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inventory> {
        self.inventory.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
