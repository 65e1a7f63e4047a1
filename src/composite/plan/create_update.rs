//! The plan of a create or of an update.

mod adoption;
mod change;
mod decide;
mod effects;
mod names;
mod used;

use std::collections::BTreeSet;

use super::Roots;
use super::planned_state::Announcement;
use crate::cloud::{Cloud, Connected, Connection, Failure};
use crate::composite::decision::{Basis, Decision};
use crate::composite::diagnostics::End;
use crate::composite::names::Claimant;
use crate::composite::observe::remove_ignored_tags;
use crate::composite::private_state::Private;
use crate::composite::protected::Protection;
use crate::composite::status::is_not_adopted;
use crate::composite::{dependents, diagnostics, facts, location, outside, refresh, renamed, state};
use crate::model::{Facts, GuardDutyObjects, Inventory, Key, Lookup, Scope, TagSettings};
use crate::plugin::{AttributePath, Diagnostics, PlanRequest, PlanResponse, Value};
use crate::topology::{ProtectedObjects, Topology};

/// Plans a create or an update. On errors, the response contains the proposed state unchanged.
pub(super) async fn plan<P: Topology>(connection: &Connection, roots: Roots<'_>, request: PlanRequest) -> PlanResponse {
    let mut diagnostics = Diagnostics::default();
    match planned::<P>(connection, roots, &request, &mut diagnostics).await {
        Some(Planned { state, requires_replace, private }) => {
            PlanResponse { planned: state, requires_replace, private, diagnostics }
        }
        None => PlanResponse {
            planned: request.proposed,
            requires_replace: Vec::new(),
            private: request.prior_private,
            diagnostics,
        },
    }
}

/// The content of a successful response.
pub(super) struct Planned {
    pub(super) state: Value,
    pub(super) requires_replace: Vec<AttributePath>,
    pub(super) private: Vec<u8>,
}

/// The inputs of a plan that do not depend on AWS.
pub(super) struct PreparedPlan<'a, P: Topology> {
    pub(super) request: &'a PlanRequest,
    /// The configuration, with defaults.
    attributes: Value,
    /// The same, decoded.
    pub(super) config: P::Config,
    /// The configuration last applied in full; `None` if there is none.
    pub(super) prior: Option<P::Config>,
    /// The private state of the plan that was shown, if this one repeats it and the host passes it.
    shown: Option<Private>,
}

async fn planned<P: Topology>(
    connection: &Connection,
    roots: Roots<'_>,
    request: &PlanRequest,
    diagnostics: &mut Diagnostics,
) -> Option<Planned> {
    let change = PreparedPlan::<P>::of(request, diagnostics)?;
    let region = request.config.get(location::REGION);
    if location::refuse_unknown(&request.prior, region, diagnostics) {
        return None;
    }
    match connection.get() {
        Connected::Ready(_) if region.is_unknown() => Some(change.without_account(&TagSettings::default())),
        Connected::Ready(regions) => {
            let clouds = location::planned::<P>(&regions, &request.prior, region, diagnostics)?;
            let planned = change.planned(&clouds, roots, diagnostics).await?;
            let is_replaced = !planned.requires_replace.is_empty();
            location::warn_of_default::<P>(&regions, &clouds, &request.prior, region, is_replaced, diagnostics);
            Some(planned)
        }
        Connected::Unknown(tags) => Some(change.without_account(&tags)),
        Connected::Missing => {
            diagnostics.error("The provider is not configured", "This is a bug in Terraform or in the provider.");
            None
        }
    }
}

impl<'a, P: Topology> PreparedPlan<'a, P> {
    fn of(request: &'a PlanRequest, diagnostics: &mut Diagnostics) -> Option<PreparedPlan<'a, P>> {
        let (attributes, config) =
            state::decode::<P>(&request.config).map_err(|problems| diagnostics.problems(problems)).ok()?;
        let private = Private::decode(&request.prior_private);
        let last_applied = state::last_applied::<P>(private.as_ref(), &request.prior, &attributes);
        let prior = state::decode::<P>(&last_applied).ok().map(|(_, config)| config);
        let shown = Private::decode_plan(&request.planned_private);
        Some(PreparedPlan { request, attributes, config, prior, shown })
    }

    /// Returns the attributes whose change requires a replacement of the topology.
    pub(super) fn replaced_by(&self, existing: &Inventory) -> Vec<AttributePath> {
        let prior = self.prior.as_ref();
        prior.map(|prior| P::replaced_by(prior, &self.config, existing)).unwrap_or_default()
    }

    pub(super) fn announcement<'b>(&'b self, scope: Option<&'b Scope>) -> Announcement<'b, P> {
        let PreparedPlan { request, attributes, config, .. } = self;
        Announcement { prior: &request.prior, attributes, written: &request.config, config, scope }
    }

    /// Plans the adoption of a foreign root, or a change of one that is managed or new.
    async fn planned(
        &self,
        clouds: &location::Planned,
        roots: Roots<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Planned> {
        let private = existing::<P>(clouds.current.as_ref(), self.request).await.or_report::<P>(diagnostics)?;
        if let Some(root_id) = self.request.prior.get("id").as_str() {
            roots.managed.note_usable(root_id, &private.inventory);
        }
        match is_not_adopted(&self.request.prior) {
            true => self.adoption(clouds, roots, private, diagnostics).await,
            false => self.change(clouds, roots, private, diagnostics).await,
        }
    }

    /// The name that the user gave, for messages.
    fn name(&self) -> String {
        state::name::<P>(&self.config)
    }

    /// The resource, for what others of the process know of it.
    fn claimant(&self, scope: &Scope) -> Claimant {
        Claimant::of::<P>(self.request.prior.get("id").as_str(), &self.name(), &scope.region)
    }

    fn tell_of_renamed(&self, decision: Option<&Decision>, diagnostics: &mut Diagnostics) {
        let renamed = decision.map(|decision| renamed::sentences(&decision.renamed)).unwrap_or_default();
        diagnostics::warn_of_renamed::<P>(&self.name(), &renamed, diagnostics);
    }

    /// Looks up the facts for the decision and the objects outside the topology. Returns `None` if one of these is a
    /// reason to reject the plan.
    async fn looked_up(
        &self,
        clouds: &location::Planned,
        roots: Roots<'_>,
        private: &mut Private,
        diagnostics: &mut Diagnostics,
    ) -> Option<Facts> {
        let PreparedPlan { request, config, .. } = self;
        let (cloud, prior) = (clouds.target.as_ref(), self.prior.as_ref());
        let mut lookups = facts::lookups::<P>(config, prior, &private.inventory);
        let scope = cloud.scope();
        let of_shown = self.shown.as_ref().and_then(|shown| shown.facts.clone());
        // A plan that repeats the shown one does not report its problems again.
        let mut unchecked = outside::unchecked::<P>(config, prior, private, scope);
        if of_shown.is_some() {
            unchecked.retain_usable();
        }
        lookups.extend(outside::lookups(&unchecked));
        let of_refresh = private.facts.take().filter(|_| clouds.replaced_by().is_none());
        let of_refresh = of_refresh.map(|facts| facts::applicable::<P>(facts, &request.prior, &lookups));
        let facts = self.facts(cloud, lookups, of_shown.or(of_refresh), &private.inventory).await;
        let facts = facts.or_report::<P>(diagnostics)?;
        let (name, is_create, found) = (self.name(), request.prior.is_null(), (&facts, &*private));
        let names = (roots.names, &self.claimant(scope));
        let is_refused = outside::refuse::<P>((&name, &unchecked), is_create, found, names, scope, diagnostics);
        (!is_refused).then_some(facts)
    }

    /// Returns the facts for the decision. `earlier` are those of the plan that was shown, if this one repeats it and
    /// the host passes them, otherwise those of the last refresh.
    async fn facts(
        &self,
        cloud: &dyn Cloud,
        lookups: Vec<Lookup>,
        earlier: Option<Facts>,
        existing: &Inventory,
    ) -> Result<Facts, Failure> {
        let Some(earlier) = earlier else { return cloud.facts(&lookups).await };
        let misses_something = |facts: &Facts| {
            let scope = cloud.scope();
            let protection = Protection::none();
            let basis = Basis::<P> {
                config: &self.config,
                prior: self.prior.as_ref(),
                scope,
                facts,
                protection,
                may_rename: true,
            };
            let decision = basis.decide(&mut existing.clone(), &mut Diagnostics::default());
            decision.ok().flatten().is_some_and(|decision| !decision.missing.is_empty())
        };
        facts::completed(cloud, lookups, earlier, misses_something).await
    }

    /// Returns the attributes that require a replacement of the topology, and warns of the objects that it deletes.
    async fn replacement(
        &self,
        cloud: &dyn Cloud,
        region: Option<AttributePath>,
        inventory: &Inventory,
        diagnostics: &mut Diagnostics,
    ) -> Vec<AttributePath> {
        let (name, prior) = (self.name(), &self.request.prior);
        let mut requires_replace = self.replaced_by(inventory);
        requires_replace.extend(region);
        if !prior.is_null() && inventory.at(P::KIND.root()).is_none() {
            // The topology is created again with another id, which is a replacement in Terraform's terms.
            diagnostics::root_is_missing::<P>(prior, &name, inventory, diagnostics);
            requires_replace.push(AttributePath::new("id"));
        } else if !requires_replace.is_empty() {
            let guardduty = state::guardduty_in_destroy::<P>(prior);
            self.warn_of_lost(cloud, End::Replacement, (inventory, guardduty), diagnostics).await;
        }
        requires_replace
    }

    /// Warns of what the create after `-replace` or of a tainted resource deletes. `old` is what Terraform passes of
    /// the old root: the private state of the update that it planned before, or nothing if the resource is tainted.
    async fn warn_of_requested_replacement(
        &self,
        cloud: &dyn Cloud,
        roots: Roots<'_>,
        old: Option<&Inventory>,
        diagnostics: &mut Diagnostics,
    ) {
        if !self.request.prior.is_null() || self.shown.is_some() {
            return;
        }
        if let Some(old) = old {
            let guardduty = P::guardduty_in_destroy(&self.config);
            return self.warn_of_lost(cloud, End::Replacement, (old, guardduty), diagnostics).await;
        }
        for root in roots.stated.replaceable::<P>(&self.name(), &cloud.scope().region) {
            match &root.read {
                Some((old, guardduty)) => self.warn_of_lost(cloud, End::Taint, (old, *guardduty), diagnostics).await,
                None => diagnostics::warn_of_unread_root::<P>(&self.name(), &root.id, diagnostics),
            }
        }
    }

    /// Warns of what a replacement deletes. Terraform does not request a plan for the destroy within one.
    async fn warn_of_lost(
        &self,
        cloud: &dyn Cloud,
        end: End,
        (old, guardduty): (&Inventory, GuardDutyObjects),
        diagnostics: &mut Diagnostics,
    ) {
        let (name, id) = (self.name(), old.at(P::KIND.root()).map_or("", |root| &root.id));
        let dependents = dependents::within_root::<P>(cloud, id, old).await;
        let root = (name.as_str(), id);
        diagnostics::warn_of_end::<P>(end, root, old, Some(&dependents), guardduty, diagnostics);
        let ignored = P::ignored_drift(&self.config);
        diagnostics::warn_of_lost_drift::<P>(&name, old.entries.iter(), &ignored, diagnostics);
    }

    /// Completes the private state of a plan.
    fn planned_with(
        &self,
        state: Value,
        requires_replace: Vec<AttributePath>,
        mut private: Private,
        facts: Facts,
        (roots, scope): (Roots<'_>, &Scope),
    ) -> Planned {
        private.taken = match &self.shown {
            Some(shown) => shown.taken.clone(),
            None => outside::taken::<P>(&self.config, &facts, (roots.names, &self.claimant(scope)), scope),
        };
        private.unread_parts = self.unread_parts(roots, &private.inventory);
        private.unknown_owners = P::unknown_owners(&self.config);
        private.facts = Some(facts);
        private.protected = ProtectedObjects::of(&self.request.prior);
        Planned { state, requires_replace, private: private.encode() }
    }

    /// Returns the parts of unmanaged objects that the apply reads again: those of the objects that were unknown in the
    /// plan that was shown. If the host does not pass that plan, and this process has not read the topology, all.
    fn unread_parts(&self, roots: Roots<'_>, inventory: &Inventory) -> BTreeSet<Key> {
        let PreparedPlan { request, config, .. } = self;
        let Some(root_id) = request.prior.get("id").as_str() else { return BTreeSet::new() };
        let parts = || inventory.current().filter(|entry| entry.spec().is_part_of_unmanaged_object());
        match &self.shown {
            Some(shown) => P::parts_of(&shown.unknown_owners, config, inventory),
            None if roots.read.contains(root_id) => BTreeSet::new(),
            None => parts().map(|entry| entry.key.clone()).collect(),
        }
    }
}

/// Reports a failed call as an error of the plan.
trait OrReport<T> {
    fn or_report<P: Topology>(self, diagnostics: &mut Diagnostics) -> Option<T>;
}

impl<T> OrReport<T> for Result<T, Failure> {
    fn or_report<P: Topology>(self, diagnostics: &mut Diagnostics) -> Option<T> {
        let report = |failure: Failure| {
            diagnostics::failed(format!("Could not plan {}", P::TYPE_NAME), &failure, diagnostics);
        };
        self.map_err(report).ok()
    }
}

/// Returns the existing objects from private state or, if it is not usable, from AWS.
async fn existing<P: Topology>(cloud: &dyn Cloud, request: &PlanRequest) -> Result<Private, Failure> {
    if request.prior.is_null() {
        return Ok(Private::of_create());
    }
    if is_not_adopted(&request.prior)
        && let Some(root_id) = request.prior.get("id").as_str()
        && Private::decode(&request.prior_private).is_none()
    {
        let found = refresh::read_foreign::<P>(cloud, root_id, &request.prior, None).await?;
        return Ok(match found {
            refresh::Foreign::Adoptable(private) => *private,
            refresh::Foreign::Missing | refresh::Foreign::NotAdoptable(_) => Private::of(Inventory::default()),
        });
    }
    if let Some(mut private) = Private::decode(&request.prior_private) {
        remove_ignored_tags(&mut private.inventory, &cloud.scope().ignore_tags);
        refresh::read_unread::<P>(cloud, &request.prior, &mut private).await?;
        return Ok(private);
    }
    let Some(root_id) = request.prior.get("id").as_str() else { return Ok(Private::of(Inventory::default())) };
    let found = refresh::rebuild::<P>(cloud, root_id, &request.prior).await?;
    Ok(found.unwrap_or_else(|| Private::of(Inventory::default())))
}
