//! Executes a plan.
//!
//! 1. An operation starts only when all its dependencies have succeeded and all its inputs are known. For a create or
//!    an update, it is enough that the objects of its dependencies are usable, even while attributes of them are still
//!    set. For a create that needs only IDs, it is enough that these are recorded.
//! 2. After a failure, no operation that depends on the failed one starts, and independent operations continue. After a
//!    stop, no operation starts. Operations in flight always finish, including the deletions that cascade from them.
//! 3. An id is recorded as soon as AWS returns it, before waiting for readiness.
//! 4. Nothing is rolled back: the state contains the actual objects, and the next plan continues from there.
//! 5. A panic in the code of an object is a failure of its operation. Otherwise it would cancel the other operations in
//!    flight, and the ids of the objects that they create would be lost.
//! 6. The executor does not depend on AWS, Terraform or kinds of objects.

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

use super::progress::Took;
use super::{Action, Phase, Plan, Progress};
use crate::cloud::retries::{Retry, RetryLimits};
use crate::cloud::{Cause, Cloud, Deadlines, Failure, OpContext, Recorder};
use crate::model::{
    Entry, GuardDutyObjects, Ids, Inventory, Key, Learned, Object, Origin, ResolvedObject, Spec, Timeouts,
    TopologyKind, Unfinished,
};

/// The maximum number of operations in flight. AWS accepts a burst of about 50 mutating EC2 calls.
const IN_FLIGHT: usize = 24;

/// The inputs and the shared state of an execution.
pub struct Execution<'a> {
    /// The account.
    pub cloud: &'a dyn Cloud,
    /// The kind of the topology.
    pub owner: TopologyKind,
    /// The existing objects. Always up to date, so that a snapshot is correct even after a panic.
    pub inventory: Arc<Mutex<Inventory>>,
    /// The IDs and other texts in the configuration that became known only after the plan.
    pub new_inputs: BTreeSet<String>,
    /// Whether it creates the root.
    pub in_create: bool,
    /// The configured timeouts.
    pub timeouts: &'a Timeouts,
    /// The deadline of the whole execution.
    pub deadline: Instant,
    /// The timeout for a deletion of an object that is in use; `None` to wait until `deadline`. It is short in an
    /// update, because Terraform updates the dependents only after this resource.
    pub in_use: Option<Duration>,
    /// What a deletion does with the objects of GuardDuty that block it.
    pub guardduty: GuardDutyObjects,
    /// Canceled when no further operation may start.
    pub stop: CancellationToken,
    /// The output for finished operations and retries.
    pub progress: Arc<Progress>,
    /// The id of the root in the prior state, by which its objects are identified even after its deletion.
    pub root_id: Option<String>,
    /// Called with the id of a new root, as soon as it is recorded.
    pub on_new_root: &'a (dyn Fn(&str) + Send + Sync),
    /// The number of operations that have succeeded in all plans of this execution.
    pub done: AtomicUsize,
}

/// The outcome of an execution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Operations that failed, by position in the plan.
    pub failed: Vec<(usize, Failure)>,
    /// Operations that were never started.
    pub not_started: Vec<usize>,
    /// Whether the execution was stopped.
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

/// What an operation in flight has reached.
#[derive(Clone, Copy, Debug)]
enum Reached {
    /// The ID of the object is recorded.
    Id,
    /// The object is usable.
    Usable,
}

/// The progress of the operations of a plan.
struct Tracker<'a> {
    plan: &'a Plan,
    started: BTreeSet<usize>,
    /// The number of operations in flight, without detached ones, which may wait for minutes.
    in_flight: usize,
    succeeded: BTreeSet<usize>,
    /// The operations that have succeeded, and those in flight whose objects are usable.
    usable: BTreeSet<usize>,
    /// The same, and those in flight whose new objects have IDs.
    with_id: BTreeSet<usize>,
    /// The operations that do not start, because they or a dependency failed, are held or have an unknown input.
    blocked: BTreeSet<usize>,
    failed: Vec<(usize, Failure)>,
}

impl<'a> Tracker<'a> {
    fn of(plan: &'a Plan) -> Tracker<'a> {
        let (started, succeeded, usable, with_id) = Default::default();
        Tracker {
            plan,
            started,
            in_flight: 0,
            succeeded,
            usable,
            with_id,
            blocked: plan.deferred().union(&plan.held).copied().collect(),
            failed: Vec::new(),
        }
    }

    fn is_ready(&self, position: usize) -> bool {
        let op = &self.plan.ops[position];
        let sufficient = match &op.action {
            Action::Delete { .. } => &self.succeeded,
            Action::Create(object) if object.spec.needs_only_ids() => &self.with_id,
            Action::Create(object) if object.spec.needs_complete() => &self.succeeded,
            Action::Create(_) | Action::Update { .. } => &self.usable,
        };
        !self.started.contains(&position) && !self.blocked.contains(&position) && op.depends_on.is_subset(sufficient)
    }

    fn is_detached(&self, position: usize) -> bool {
        self.plan.ops[position].phase == Phase::Detached
    }

    fn start(&mut self, position: usize) {
        self.started.insert(position);
        self.in_flight += usize::from(!self.is_detached(position));
    }

    fn end(&mut self, position: usize) {
        self.in_flight -= usize::from(!self.is_detached(position));
    }

    fn succeed(&mut self, position: usize) {
        self.end(position);
        self.succeeded.insert(position);
        self.reach(position, Reached::Usable);
    }

    fn reach(&mut self, position: usize, reached: Reached) {
        self.with_id.insert(position);
        if matches!(reached, Reached::Usable) {
            self.usable.insert(position);
        }
    }

    fn fail(&mut self, position: usize, failure: Failure) {
        self.end(position);
        let action = &self.plan.ops[position].action;
        tracing::error!("{} {}: {failure}", action.doing(), action.key());
        self.blocked.extend(self.plan.transitive_dependents(BTreeSet::from([position])));
        self.failed.push((position, failure));
    }

    fn outcome(self, stopped: bool) -> Outcome {
        let not_started = (0..self.plan.ops.len()).filter(|position| !self.started.contains(position)).collect();
        Outcome { failed: self.failed, not_started, stopped }
    }
}

/// Executes a plan. Returns when no further operation can start and none is in flight.
pub async fn execute(plan: &Plan, execution: &Execution<'_>) -> Outcome {
    let mut tracker = Tracker::of(plan);
    let (report, mut reports) = tokio::sync::mpsc::unbounded_channel();
    let mut running = FuturesUnordered::new();
    let order = plan.critical_path_first();
    let all = execution.done.load(Ordering::Relaxed) + plan.ops.len();
    loop {
        let may_start = !execution.stop.is_cancelled();
        for &position in &order {
            let action = &plan.ops[position].action;
            // A cascaded deletion is done already and needs no call, so a stop and the limit do not apply to it.
            let is_cascaded = matches!(action, Action::Delete { cascades_from: Some(_), .. });
            let may_start = may_start && tracker.in_flight < IN_FLIGHT;
            if (is_cascaded || may_start) && tracker.is_ready(position) {
                tracker.start(position);
                if !is_cascaded {
                    tracing::debug!("{} {} started", action.doing(), action.key().slot);
                }
                running.push(execution.attempt(position, action, &report));
            }
        }
        let next = tokio::select! {
            biased;
            Some((position, reached)) = reports.recv() => {
                tracker.reach(position, reached);
                if matches!(reached, Reached::Id) {
                    continue;
                }
                let key = plan.ops[position].action.key();
                let id = execution.lock().current().find(|entry| entry.key == *key).map(|entry| entry.id.clone());
                execution.progress.usable(&key.slot, &id.unwrap_or_default(), all);
                continue;
            }
            next = running.next() => next,
        };
        let Some((position, started, result)) = next else { break };
        match result {
            Ok(id) => {
                tracker.succeed(position);
                let action = &plan.ops[position].action;
                let done = execution.done.fetch_add(1, Ordering::Relaxed) + 1;
                let took = match action {
                    Action::Delete { cascades_from: Some(parent), .. } => Took::NoCall { parent: &parent.slot },
                    _ => Took::Time(started.elapsed()),
                };
                execution.progress.finished(action.done(), &action.key().slot, &id, took, done, all);
            }
            Err(failure) => tracker.fail(position, failure),
        }
    }
    tracker.outcome(execution.stop.is_cancelled())
}

fn panicked(action: &Action, payload: &(dyn Any + Send)) -> Failure {
    let message = payload.downcast_ref::<&'static str>().copied();
    let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no message)");
    Failure::new(Cause::Panicked, action.key().slot.clone(), format!("the provider panicked: {message}"))
}

impl Execution<'_> {
    /// Runs one operation. A panic counts as a failure. Returns the position of the operation and the time of its
    /// start.
    async fn attempt(
        &self,
        position: usize,
        action: &Action,
        report: &UnboundedSender<(usize, Reached)>,
    ) -> (usize, Instant, Result<String, Failure>) {
        let started = Instant::now();
        let report = |reached| {
            // This cannot fail: the receiver exists as long as the execution.
            let _ = report.send((position, reached));
        };
        // Unwind safety: a panic can interrupt only changes of the inventory, which is locked for single changes, and
        // whose entries are marked as unfinished.
        let work = self.retry_limits(action).scope(self.run(action, &report));
        let result = AssertUnwindSafe(work).catch_unwind().await;
        let result = result.unwrap_or_else(|payload| Err(panicked(action, &*payload)));
        (position, started, result.map_err(|failure| self.of_reference(failure)))
    }

    /// Separates missing objects that this resource has never had from its own ones: only the latter can have been
    /// deleted outside Terraform.
    fn of_reference(&self, failure: Failure) -> Failure {
        let Some(missing) = failure.missing.as_deref().filter(|_| failure.cause == Cause::NotFound) else {
            return failure;
        };
        let inventory = self.lock();
        let is_root = self.root_id.as_deref().is_some_and(|root_id| missing.ends_with(root_id));
        match is_root || inventory.entries.iter().any(|entry| entry.is_named(missing)) {
            true => failure,
            false => Failure { cause: Cause::NoSuchReference, ..failure },
        }
    }

    /// The limits of the retries of one operation. After a stop, calls in flight finish and are not retried: if the
    /// effect of a call remains unknown, a read finds it out afterwards.
    fn retry_limits(&self, action: &Action) -> RetryLimits {
        let (progress, slot) = (Arc::clone(&self.progress), action.key().slot.clone());
        let report = Arc::new(move |retry: &Retry| progress.retrying(Some(&slot), retry));
        let is_apply = RetryLimits::is_in_apply();
        RetryLimits { deadline: Some(self.deadline), is_apply, stop: self.stop.clone(), report }
    }

    /// Runs one operation and returns the id of its object.
    async fn run(&self, action: &Action, report: &(dyn Fn(Reached) + Send + Sync)) -> Result<String, Failure> {
        match action {
            Action::Create(object) => self.create(object, report).await,
            Action::Update { id, before, to, .. } => self.update(id, before, to).await,
            Action::Delete { entry, is_kept: true, .. } => self.disown(entry).await,
            Action::Delete { entry, cascades_from, .. } => self.delete(entry, cascades_from.is_some()).await,
        }
    }

    async fn create(&self, object: &Object, report: &(dyn Fn(Reached) + Send + Sync)) -> Result<String, Failure> {
        let needed = self.needed(object.spec.needs().into_iter().map(|need| need.key));
        let root_id = self.root_id();
        let work = self.work(&needed, root_id.as_deref());
        let id = |id: &str| {
            self.record_id(object, id);
            report(Reached::Id);
        };
        let learned = |learned: Learned| self.record_learned(&object.key, learned);
        let usable = || report(Reached::Usable);
        self.cloud.create(&work, object, &Recorder { id: &id, learned: &learned, usable: &usable }).await?;
        self.finish(object)
    }

    async fn update(&self, planned_id: &str, before: &Spec, to: &Object) -> Result<String, Failure> {
        // An object that this plan has created gets its id during the execution.
        let created = || self.lock().current().find(|entry| entry.key == to.key).map(|entry| entry.id.clone());
        let old_id = Some(planned_id.to_string()).filter(|id| !id.is_empty()).or_else(created).unwrap_or_default();
        let old_id = old_id.as_str();
        // Detaching the object from former dependencies requires their ids too.
        let needs = to.spec.needs().into_iter().chain(before.needs());
        let needed = self.needed(needs.map(|need| need.key));
        let root_id = self.root_id();
        let unfinished = self.change(&to.key, |entry| entry.unfinished.clone()).flatten();
        let work = OpContext { unfinished, ..self.work(&needed, root_id.as_deref()) };
        let has_old_tag = self.lock().current().any(|entry| entry.key == to.key && entry.has_old_tag());
        if self.lock().foreign(&to.key).is_some() {
            self.cloud.adopt(&work, old_id, before, to).await?;
            return self.finish(to);
        }
        // If the update fails half-way, the spec of the object is uncertain. Of values that are owned one by one, such
        // as tags, both the old and the new ones stay managed.
        self.change(&to.key, |entry| entry.begin_update(to.required()));
        let id = |id: &str| {
            self.change(&to.key, |entry| entry.id = id.to_string());
        };
        let learned = |learned: Learned| self.record_learned(&to.key, learned);
        if has_old_tag {
            self.cloud.rename(&work, old_id, to).await?;
            self.change(&to.key, |entry| entry.renamed_from = None);
        }
        // Dependents wait until an update has finished, because they may depend on the new values.
        self.cloud.update(&work, old_id, before, to, &Recorder { id: &id, learned: &learned, usable: &|| () }).await?;
        self.finish(to)
    }

    async fn delete(&self, entry: &Entry, cascaded: bool) -> Result<String, Failure> {
        if !cascaded {
            let needed = self.needed(entry.spec().needs().into_iter().map(|need| need.key));
            let root_id = self.root_id();
            let mut work = self.work(&needed, root_id.as_deref());
            let in_use_until = self.in_use.map_or(self.deadline, |in_use| Instant::now() + in_use);
            work.deadlines.in_use_until = in_use_until.min(self.deadline);
            self.await_successor(entry)?;
            self.cloud.delete(&work, entry).await?;
        }
        Ok(self.forget(entry))
    }

    /// Keeps an object whose successor cannot take over yet. Nothing succeeds the objects of a destroy.
    fn await_successor(&self, entry: &Entry) -> Result<(), Failure> {
        let message = |successor: &Entry| format!("{}, which replaces it, has not been accepted yet", successor.id);
        match self.lock().unready_successor(entry).filter(|_| self.in_use.is_some()).map(message) {
            Some(message) => Err(Failure::new(Cause::InUse, entry.key.slot.clone(), message)),
            None => Ok(()),
        }
    }

    /// Stops managing an object. One that was only used has nothing to remove.
    async fn disown(&self, entry: &Entry) -> Result<String, Failure> {
        if entry.is_used() {
            return Ok(self.forget(entry));
        }
        let root_id = self.root_id();
        let ids = Ids::default();
        let work = self.work(&ids, root_id.as_deref());
        self.cloud.disown(&work, entry).await?;
        Ok(self.forget(entry))
    }

    /// Removes the entry of an object, and returns its id.
    fn forget(&self, entry: &Entry) -> String {
        self.lock().entries.retain(|other| other.id != entry.id || other.key != entry.key);
        entry.id.clone()
    }

    fn work<'b>(&'b self, ids: &'b Ids, root_id: Option<&'b str>) -> OpContext<'b> {
        let deadlines = Deadlines::until(self.deadline, self.stop.clone());
        let (known, deployed) = {
            let inventory = self.lock();
            (inventory.entries.iter().map(|entry| entry.id.clone()).collect(), inventory.deployed())
        };
        let (owner, in_create, timeouts, guardduty) = (self.owner, self.in_create, self.timeouts, self.guardduty);
        let new_inputs = &self.new_inputs;
        OpContext {
            owner,
            root_id,
            ids,
            unfinished: None,
            known,
            deployed,
            new_inputs,
            in_create,
            timeouts,
            deadlines,
            guardduty,
        }
    }

    /// Returns the ids of these objects only. An operation that uses an object without declaring the dependency
    /// receives no id for it, so that any test of the operation fails.
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

    /// Returns the id of the root, even if the root has been deleted.
    pub fn root_id(&self) -> Option<String> {
        let inventory = self.lock();
        let present = inventory.present().find(|entry| entry.key.slot == self.owner.root());
        present.map(|entry| entry.id.clone()).or_else(|| self.root_id.clone())
    }

    fn record_id(&self, object: &Object, id: &str) {
        if object.key.slot == self.owner.root() {
            (self.on_new_root)(id);
        }
        let mut inventory = self.lock();
        // The new entry replaces that of a missing object.
        inventory.entries.retain(|entry| !(entry.is_missing() && entry.key == object.key));
        if let Some(entry) =
            inventory.entries.iter_mut().find(|entry| entry.key == object.key && !entry.pending_deletion)
        {
            entry.id = id.to_string();
            return;
        }
        for other in inventory.entries.iter_mut().filter(|entry| entry.is_present() && !entry.ignored) {
            other.observe(other.spec().clone().after_creation_of(&object.spec));
        }
        let mut entry = Entry::new(object.key.clone(), id, object.spec.of_begun_create());
        (entry.unfinished, entry.is_unread) = (Some(Unfinished::Create), true);
        inventory.entries.push(entry);
    }

    fn record_learned(&self, key: &Key, learned: Learned) {
        self.change(key, |entry| entry.learned = learned.clone());
    }

    fn finish(&self, object: &Object) -> Result<String, Failure> {
        let mut id = None;
        self.change(&object.key, |entry| {
            entry.applied = object.required().clone();
            entry.complete(object.spec.clone());
            entry.renamed_from = None;
            entry.origin = Origin::Applied;
            id = Some(entry.id.clone());
        });
        id.ok_or_else(|| {
            let message = "no id was recorded; this is a bug in the provider";
            Failure::new(Cause::Other, object.key.slot.clone(), message)
        })
    }

    fn change<T>(&self, key: &Key, mut change: impl FnMut(&mut Entry) -> T) -> Option<T> {
        let mut inventory = self.lock();
        let mut holders: Vec<&mut Entry> =
            inventory.entries.iter_mut().filter(|entry| entry.key == *key && entry.is_present()).collect();
        holders.sort_by_key(|entry| entry.pending_deletion);
        holders.into_iter().next().map(&mut change)
    }

    fn lock(&self) -> MutexGuard<'_, Inventory> {
        self.inventory.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
