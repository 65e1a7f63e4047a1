//! Create and update in four steps: prepare, decide, run, conclude.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::Instant;

use super::existing::{Settled, Settling};
use super::inventory::{keep, kept, normalize_inventory, pending};
use super::pending_deletion::{Found, cancel_pending_deletion, defer_deletes, defer_unstarted, take_not_attached};
use super::run::{Run, Setup, Shared, SharedInventory};
use super::since_plan;
use crate::cloud::retries::RetryLimits;
use crate::cloud::{Cause, Cloud, Deadlines, Failure, RootState};
use crate::composite::decision::{Basis, Decision};
use crate::composite::duplicates::Comparison;
use crate::composite::managed_roots::{BegunCreate, Found as FoundRoots, new_root};
use crate::composite::names::{self, Claim, Claimant};
use crate::composite::observe::unmanaged_objects;
use crate::composite::private_state::Private;
use crate::composite::protected::Protection;
use crate::composite::{adoption, diagnostics, facts, import, outside, state, takeover, used};
use crate::model::{Drift, Entry, Facts, GuardDutyObjects, Inventory, Key, Object, Scope};
use crate::plugin::{ApplyRequest, ApplyResponse, Diagnostics, Severity, Value};
use crate::reconcile::{Outcome, Plan};
use crate::topology::Topology;

/// The time that an update waits for the dependents of an object that it deletes. It is short because Terraform updates
/// the dependents only after this resource.
const UPDATE_DELETE_TIMEOUT: Duration = Duration::from_secs(2 * 60);

/// Creates if the prior state is null, otherwise updates. If no root exists afterwards, or no operation was started,
/// the response contains the prior state.
pub(super) async fn apply<P: Topology>(shared: &Shared, cloud: &dyn Cloud, request: ApplyRequest) -> ApplyResponse {
    let mut diagnostics = Diagnostics::default();
    match change::<P>(shared, cloud, &request, &mut diagnostics).await {
        Some((state, private)) => ApplyResponse { state, private, diagnostics },
        None => {
            // Nothing else of the run needs the names of a create that has failed.
            if request.prior.is_null()
                && let Some(name) = request.config.get(P::NAME).as_str()
            {
                shared.names.forget_create(&Claimant::of::<P>(None, name, &cloud.scope().region));
            }
            let private = used::before_use(&request.prior, request.planned_private);
            ApplyResponse { state: request.prior, private, diagnostics }
        }
    }
}

/// Returns the new state and private state.
async fn change<P: Topology>(
    shared: &Shared,
    cloud: &dyn Cloud,
    request: &ApplyRequest,
    diagnostics: &mut Diagnostics,
) -> Option<(Value, Vec<u8>)> {
    let mut change = PreparedApply::<P>::prepare(shared, cloud, request, diagnostics)?;
    let timeouts = P::timeouts(&change.config);
    let seconds = if change.creating() { timeouts.of_create() } else { timeouts.of_update() };
    let deadline = Instant::now() + Duration::from_secs(seconds);
    let limits = || RetryLimits { deadline: Some(deadline), stop: request.stop.clone(), ..shared.retry_limits() };
    let facts = limits().scope(change.look_up(diagnostics)).await?;
    limits().scope(change.find_lost_parts(&facts, diagnostics)).await?;
    let decision = change.decide(&facts, diagnostics)?;
    let plan = (&change.private.inventory, &decision.plan);
    limits().scope(since_plan::refuse_changes::<P>(cloud, &change.name, &change.config, plan, diagnostics)).await?;
    // The existing objects may belong to a root that a killed create has left. The way out is to import that one.
    let begun = match change.creating() {
        true => Some(limits().scope(change.begin_create(diagnostics)).await?),
        false => None,
    };
    let deadlines = Deadlines::until(deadline, request.stop.clone());
    let settle = change.settle_existing(&facts, decision, &deadlines, diagnostics);
    let (decision, _claim) = limits().scope(settle).await?;
    let on_new_root = |id: &str| begun.iter().for_each(|begun| begun.has_id(id));
    let run = Run::<P>::new(Setup {
        shared,
        cloud,
        request,
        name: change.name.clone(),
        inventory: change.take_inventory(&decision),
        timeouts: &timeouts,
        deadline,
        in_use: (!change.creating()).then_some(UPDATE_DELETE_TIMEOUT),
        guardduty: if change.creating() { GuardDutyObjects::Keep } else { P::guardduty_in_update(&change.config) },
        on_new_root: &on_new_root,
    });
    request.partial_state.set_snapshot(change.snapshot(run.shared_inventory()));
    let basis = change.basis(&facts);
    let decide_again = |inventory: &mut Inventory, diagnostics: &mut Diagnostics| basis.decide(inventory, diagnostics);
    let (decision, outcome) = run.execute_in_stages(decision, decide_again, diagnostics).await;
    // They are those of the configuration that the state now has, for a plan that cannot look them up.
    change.private.facts = Some(facts.of(&P::lookups(&change.config)));
    let conclude = change.conclude(&run, &decision, outcome, diagnostics);
    shared.limits_after(deadline).scope(conclude).await
}

/// The inputs of an apply that are known before it runs.
struct PreparedApply<'a, P: Topology> {
    shared: &'a Shared,
    cloud: &'a dyn Cloud,
    request: &'a ApplyRequest,
    /// The configuration, with defaults.
    attributes: Value,
    /// The same, decoded.
    config: P::Config,
    /// The name that the user gave, for messages.
    name: String,
    /// The configuration last applied in full.
    last_applied: Value,
    /// The same, decoded; `None` if there is none.
    prior: Option<P::Config>,
    /// The private state: first the planned one, in the end the new one.
    private: Private,
    /// The objects that a setting keeps, unless the apply succeeds.
    kept: Vec<Object>,
    /// The names of new objects that other roots had when the plan was made.
    taken: BTreeSet<String>,
    /// The IDs of the roots with the name of a new one.
    namesakes: BTreeSet<String>,
}

impl<'a, P: Topology> PreparedApply<'a, P> {
    /// Decodes the request.
    fn prepare(
        shared: &'a Shared,
        cloud: &'a dyn Cloud,
        request: &'a ApplyRequest,
        diagnostics: &mut Diagnostics,
    ) -> Option<PreparedApply<'a, P>> {
        // Terraform applies `ignore_changes` to the proposed state of a plan, but not to the configuration of an apply.
        let planned = state::configured::<P>(&request.planned).with_unknowns_from(&request.config);
        let (attributes, config) =
            state::decode::<P>(&planned).map_err(|problems| diagnostics.problems(problems)).ok()?;
        let Some(mut private) = Private::decode_plan(&request.planned_private) else {
            diagnostics::unreadable_plan::<P>(diagnostics);
            return None;
        };
        private.forget_replacement();
        let taken = std::mem::take(&mut private.taken);
        if !request.prior.is_null() && private.inventory.at(P::KIND.root()).is_none() {
            diagnostics::root_not_in_plan::<P>(diagnostics);
            return None;
        }
        // The plan has reported these objects.
        import::remove_unclaimed::<P>(&mut private, &attributes, &mut Diagnostics::default());
        let last_applied = state::last_applied::<P>(Some(&private), &request.prior, &attributes);
        let prior = state::decode::<P>(&last_applied).ok().map(|(_, config)| config);
        let name = state::name::<P>(&config);
        Some(PreparedApply {
            shared,
            cloud,
            request,
            attributes,
            config,
            name,
            last_applied,
            prior,
            private,
            kept: Vec::new(),
            taken,
            namesakes: BTreeSet::new(),
        })
    }

    fn creating(&self) -> bool {
        self.request.prior.is_null()
    }

    fn basis<'b>(&'b self, facts: &'b Facts) -> Basis<'b, P> {
        let scope = self.cloud.scope();
        let protection = Protection::of_update(&self.attributes, &self.request.prior, &self.private, scope);
        Basis { config: &self.config, prior: self.prior.as_ref(), scope, facts, protection, may_rename: false }
    }

    /// Returns the facts for the decision. Results from the plan are used again, so that the apply does what the plan
    /// showed.
    async fn look_up(&mut self, diagnostics: &mut Diagnostics) -> Option<Facts> {
        let (cloud, planned) = (self.cloud, self.private.facts.take().unwrap_or_default());
        let lookups = facts::lookups::<P>(&self.config, self.prior.as_ref(), &self.private.inventory);
        let facts = facts::completed(cloud, lookups, planned, |facts| self.misses_something(facts)).await;
        let failed = |failure| diagnostics::failed(format!("Could not apply {}", P::TYPE_NAME), &failure, diagnostics);
        facts.map_err(failed).ok()
    }

    /// Marks the parts of unmanaged objects as missing that AWS has deleted with these objects since the refresh. The
    /// plan lists the parts that have to be read again. Their ids follow from those of the unmanaged objects and of the
    /// root, so they are created again with the ids that the plan showed.
    async fn find_lost_parts(&mut self, facts: &Facts, diagnostics: &mut Diagnostics) -> Option<()> {
        self.private.unknown_owners.clear();
        let unread = std::mem::take(&mut self.private.unread_parts);
        let root_id = self.request.prior.get("id").as_str().filter(|_| !unread.is_empty());
        let Some(root_id) = root_id else { return Some(()) };
        let decision = self.decision(facts, &mut Diagnostics::default());
        let is_required = |key: &Key| decision.iter().flat_map(|it| &it.objects).any(|object| object.key == *key);
        let is_unread = |entry: &&Entry| unread.contains(&entry.key) && is_required(&entry.key);
        let parts: Vec<Entry> = self.private.inventory.current().filter(is_unread).cloned().collect();
        if parts.is_empty() {
            return Some(());
        }
        let failed = |failure| diagnostics::failed(format!("Could not apply {}", P::TYPE_NAME), &failure, diagnostics);
        let lost = self.cloud.lost_parts(P::KIND, root_id, &parts).await.map_err(failed).ok()?;
        for entry in self.private.inventory.entries.iter_mut().filter(|entry| lost.contains(&entry.key)) {
            entry.drift = Drift::Missing;
        }
        Some(())
    }

    fn misses_something(&mut self, facts: &Facts) -> bool {
        let decision = self.decision(facts, &mut Diagnostics::default());
        decision.is_some_and(|decision| !decision.missing.is_empty())
    }

    /// Decides from the inventory. Returns `None` if the decision fails. The plan has reported the warnings.
    fn decision(&mut self, facts: &Facts, diagnostics: &mut Diagnostics) -> Option<Decision> {
        let (mut private, mut reported) = (std::mem::take(&mut self.private), Diagnostics::default());
        let decided = takeover::decide_at_apply(&self.basis(facts), &mut private, &mut reported);
        self.private = private;
        diagnostics.0.extend(reported.0.into_iter().filter(|it| it.severity == Severity::Error));
        decided.ok().flatten()
    }

    /// Decides as the plan did, and reports an error if that is not possible. A value that was unknown in the plan may
    /// be the reason.
    fn decide(&mut self, facts: &Facts, diagnostics: &mut Diagnostics) -> Option<Decision> {
        let Some(decision) = self.decision(facts, diagnostics) else {
            if !diagnostics.has_errors() {
                diagnostics::not_as_planned::<P>(&self.name, diagnostics);
            }
            return None;
        };
        if !decision.missing.is_empty() {
            diagnostics.problems(decision.missing);
            return None;
        }
        let inventory = &self.private.inventory;
        // The plan has made the same check.
        adoption::check_changes::<P>(inventory, &decision, |_| Vec::new(), diagnostics).then_some(decision)
    }

    /// The resource, for what others of the process know of it.
    fn claimant(&self) -> Claimant {
        Claimant::of::<P>(self.request.prior.get("id").as_str(), &self.name, &self.cloud.scope().region)
    }

    /// Looks up the existing objects with the names of new ones, and waits for their owners. One that the plan wanted
    /// to use and that was deleted since is created. Stops the apply if it may not use one that exists.
    async fn settle_existing(
        &mut self,
        facts: &Facts,
        decision: Decision,
        deadlines: &Deadlines,
        diagnostics: &mut Diagnostics,
    ) -> Option<(Decision, Claim<'a>)> {
        let settling = Settling::<P> {
            shared: self.shared,
            cloud: self.cloud,
            claimant: self.claimant(),
            taken: &self.taken,
            namesakes: &self.namesakes,
            config: &self.config,
            last_applied: self.prior.as_ref(),
            prior: &self.request.prior,
            deadlines,
        };
        let settled = settling.settle((&self.private.inventory, &decision)).await;
        match settled {
            Err(failure) => {
                diagnostics::failed(format!("Could not apply {}", P::TYPE_NAME), &failure, diagnostics);
                None
            }
            Ok(Err(problems)) => {
                diagnostics.problems(problems);
                None
            }
            Ok(Ok(Settled { claim, missing })) => {
                self.private.inventory.entries.retain(|entry| !(entry.is_used() && missing.contains(&entry.key)));
                // From now on, no destroy of this process deletes what the apply uses.
                let root_id = self.request.prior.get("id").as_str().map(str::to_string);
                let user = root_id.unwrap_or_else(|| new_root::<P>(&self.name));
                self.shared.managed_roots.note_usable(&user, &self.private.inventory);
                let decision = if missing.is_empty() { decision } else { self.decide(facts, diagnostics)? };
                Some((decision, claim))
            }
        }
    }

    /// Begins a create, unless a root exists that it would create again. A failed lookup stops it too.
    async fn begin_create(&mut self, diagnostics: &mut Diagnostics) -> Option<BegunCreate<'a>> {
        let (name, roots) = (&self.name, &self.shared.managed_roots);
        let comparison = Comparison::of::<P>(&self.config);
        match roots.look_up::<P>(self.cloud, name, &comparison).await {
            Ok(FoundRoots { unfinished, complete, namesakes, .. }) => {
                self.namesakes = namesakes;
                let is_allowed = comparison.allows_others();
                diagnostics::leftovers::<P>(name, &unfinished, is_allowed, diagnostics);
                diagnostics::duplicates::<P>(name, comparison.is_of_name_alone(), &complete, diagnostics);
                ((unfinished.is_empty() || is_allowed) && complete.is_empty()).then(|| roots.begin::<P>(name))
            }
            Err(failure) => {
                diagnostics::failed(format!("Could not create {} {name:?}", P::TYPE_NAME), &failure, diagnostics);
                None
            }
        }
    }

    /// Hands the inventory over to the run. Pending deletions of objects that are required again are canceled.
    fn take_inventory(&mut self, decision: &Decision) -> Inventory {
        self.private.imported = self.private.is_as_imported(&decision.plan, &decision.objects);
        self.private.takes_over = false;
        self.private.last_applied = None;
        cancel_pending_deletion(&mut self.private.inventory, &decision.objects);
        self.kept = kept(&self.private.inventory, &decision.objects);
        keep(&mut self.private.inventory, &self.kept);
        std::mem::take(&mut self.private.inventory)
    }

    /// The configuration last applied in full, for the private state of an update that does not complete.
    fn last_applied(&self) -> Option<Value> {
        (!self.creating()).then(|| self.last_applied.clone())
    }

    /// Returns a function that builds the current state, in case this apply panics.
    fn snapshot(&self, inventory: SharedInventory) -> impl Fn() -> (Value, Vec<u8>) + Send + Sync + use<P> {
        let encoder = StateEncoder::<P> {
            attributes: self.attributes.clone(),
            config: self.config.clone(),
            scope: self.cloud.scope().clone(),
            unmanaged: self.request.planned.get("unmanaged_objects").clone(),
        };
        let mut private = self.private.clone();
        private.last_applied = self.last_applied();
        private.root_state = if self.creating() { Some(RootState::Creating) } else { private.root_state };
        private.in_creation |= self.creating();
        private.pending.insert(P::KIND.root().into(), "the last apply ended with a panic".into());
        let kept = self.kept.clone();
        move || {
            let mut private = private.clone();
            private.inventory = inventory.now();
            keep(&mut private.inventory, &kept);
            private.forget_foreign();
            encoder.encode(&private).unwrap_or((Value::Null, Vec::new()))
        }
    }

    /// Completes the state and reports the result. Returns `None` if no root exists.
    async fn conclude(
        mut self,
        run: &Run<'_, P>,
        decision: &Decision,
        mut outcome: Outcome,
        diagnostics: &mut Diagnostics,
    ) -> Option<(Value, Vec<u8>)> {
        let (plan, creating) = (&decision.plan, self.creating());
        run.resolve_unknown_outcomes(plan, &outcome, diagnostics).await;
        let dependents = run.dependents_of_failures(plan, &outcome).await;
        let mut inventory = run.inventory();
        normalize_inventory(&mut inventory, &decision.objects, self.private.imported);
        let not_attached = take_not_attached(plan, &mut outcome, diagnostics);
        let not_deployed = match creating {
            true => None,
            false => {
                let found = Found { dependents: &dependents, guardduty: run.guardduty() };
                defer_deletes(plan, &mut outcome, found, &mut inventory, diagnostics)
            }
        };
        let root_id = inventory.at(P::KIND.root()).map(|root| root.id.clone());
        self.report_deployment(run, (plan, &outcome), not_deployed, &mut inventory, diagnostics).await;
        let arguments = outside::arguments::<P>(&self.config, self.cloud.scope(), plan, &outcome);
        run.report(plan, &outcome, (&dependents, &arguments), diagnostics);
        diagnostics::warn_of_remarks::<P>(&self.name, plan, &inventory, diagnostics);
        self.private.pending = pending(plan, &outcome, &inventory);
        self.private.pending.extend(not_attached);
        self.private.last_applied = self.last_applied().filter(|_| !outcome.is_complete());
        if !outcome.is_complete() {
            keep(&mut inventory, &self.kept);
        }
        self.private.inventory = inventory;
        self.private.forget_foreign();
        self.private.in_creation = (creating || self.private.in_creation) && diagnostics.has_errors();
        // From now on, a new root has its ID. Without one, it uses nothing.
        self.shared.managed_roots.note_usable(&new_root::<P>(&self.name), &Inventory::default());
        if let Some(root_id) = &root_id {
            self.shared.managed_roots.note_usable(root_id, &self.private.inventory);
            let claimant = |root_id| Claimant::of::<P>(root_id, &self.name, &self.cloud.scope().region);
            if creating {
                self.shared.names.forget_create(&claimant(None));
            }
            self.shared.names.note_applied(&claimant(Some(root_id)), names::owned(&self.private.inventory));
        }
        // If no client receives the state, the root keeps the tag `fgw:state = creating`, by which the next create
        // finds it.
        if let Some(root_id) = &root_id
            && !(creating && self.request.client_gone.is_cancelled())
        {
            self.mark(root_id, diagnostics).await;
        }
        let PreparedApply { attributes, config, private, cloud, request, .. } = self;
        let unmanaged = request.planned.get("unmanaged_objects").clone();
        StateEncoder::<P> { attributes, config, scope: cloud.scope().clone(), unmanaged }.encode(&private)
    }

    /// Reports whether AWS has deployed the changes. `deferred` is the failure of the deletions that waited for it.
    async fn report_deployment(
        &self,
        run: &Run<'_, P>,
        (plan, outcome): (&Plan, &Outcome),
        deferred: Option<Failure>,
        inventory: &mut Inventory,
        diagnostics: &mut Diagnostics,
    ) {
        let Some(root_id) = inventory.at(P::KIND.root()).map(|root| root.id.clone()) else { return };
        let is_deferred = deferred.is_some();
        let failure = match deferred {
            Some(failure) => failure,
            None if plan.is_empty() || has_rejected_credentials(outcome) => return,
            None => match self.verify_deployment(&root_id, inventory, run).await {
                Ok(()) => return,
                Err(failure) => failure,
            },
        };
        match failure.cause {
            Cause::AwaitsDeployment => {
                defer_unstarted(plan, outcome, &failure, inventory);
                // Terraform rejects pending deletions that the plan excluded, unless the apply fails.
                let is_planned = self.request.planned.get("pending_deletion").is_unknown();
                diagnostics::awaits_deployment::<P>(&root_id, &failure, (inventory, is_planned), diagnostics);
            }
            // An error would make Terraform replace a new root.
            Cause::TimedOut | Cause::Stopped if !is_deferred => {
                diagnostics::still_deploying::<P>(&root_id, &failure, diagnostics);
            }
            _ => diagnostics::not_deployed::<P>(&root_id, &failure, is_deferred, diagnostics),
        }
    }

    async fn verify_deployment(&self, root_id: &str, inventory: &Inventory, run: &Run<'_, P>) -> Result<(), Failure> {
        self.cloud.verify_deployment(P::KIND, root_id, &inventory.deployed(), &run.deadlines()).await
    }

    /// Tags the root as ready or incomplete, unless it is tagged so already. Some roles may tag only on creation, so a
    /// failure is a warning, and the next apply tries again.
    async fn mark(&mut self, root_id: &str, diagnostics: &mut Diagnostics) {
        let (creating, private) = (self.creating(), &mut self.private);
        let now = if creating { Some(RootState::Creating) } else { private.root_state };
        let complete = !diagnostics.has_errors();
        let wanted = if complete { RootState::Ready } else { RootState::Incomplete };
        let Some(now) = now.filter(|now| *now != wanted && (creating || complete)) else { return };
        match self.cloud.mark_root(P::KIND, root_id, wanted).await {
            Ok(()) => {
                private.root_state = (wanted != RootState::Ready).then_some(wanted);
                private.marking_refused = false;
            }
            Err(failure) => {
                // A denial is permanent. After any other failure, the next read shows the tag: while it is `creating`,
                // other creates with this name are stopped.
                private.marking_refused = failure.cause == Cause::Denied;
                private.root_state = private.marking_refused.then_some(now);
                // If a call failed because of the credentials before, that error is sufficient.
                if failure.cause != Cause::Credentials || complete {
                    diagnostics::tag_not_changed(root_id, &failure, diagnostics);
                }
            }
        }
    }
}

fn has_rejected_credentials(outcome: &Outcome) -> bool {
    outcome.failed.iter().any(|(_, failure)| failure.cause == Cause::Credentials)
}

/// Builds the state from the private state.
struct StateEncoder<P: Topology> {
    attributes: Value,
    config: P::Config,
    scope: Scope,
    /// The planned value of `unmanaged_objects`.
    unmanaged: Value,
}

impl<P: Topology> StateEncoder<P> {
    /// Returns the state and the encoded private state, or `None` if no root exists.
    fn encode(&self, private: &Private) -> Option<(Value, Vec<u8>)> {
        let root_id = &private.inventory.at(P::KIND.root())?.id;
        let mut state = state::of_private::<P>(&self.attributes, Some(&self.config), root_id, private, &self.scope);
        // The plan did not know that the adoption of a used object would fail.
        let lacks_used = || used::described(private).any(|(id, _)| self.unmanaged.get(&id).is_null());
        let unmanaged = match self.unmanaged.is_unknown() || lacks_used() {
            true => unmanaged_objects(private).into(),
            false => self.unmanaged.clone(),
        };
        state.set("unmanaged_objects", unmanaged);
        Some((state, private.encode()))
    }
}
