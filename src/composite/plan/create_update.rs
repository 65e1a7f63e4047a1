//! The plan of a create or of an update.

mod decide;

use std::collections::BTreeSet;

use super::Roots;
use super::planned_state::Announcement;
use crate::cloud::{Cloud, Connected, Connection, Dependents, Failure, GuardDutyObjects};
use crate::composite::adoption::further::Further;
use crate::composite::decision::{Basis, Decision};
use crate::composite::diagnostics::End;
use crate::composite::duplicates::Comparison;
use crate::composite::observe::remove_ignored_tags;
use crate::composite::private_state::Private;
use crate::composite::protected::{self, Protection};
use crate::composite::status::is_not_adopted;
use crate::composite::{
    adoption, dependents, diagnostics, facts, guardduty, import, location, outside, refresh, released, state,
};
use crate::model::{Claim, Entry, Facts, Inventory, Key, Lookup, Object, Scope, TagSettings, kept_with_shared_domains};
use crate::plugin::{AttributePath, Diagnostics, Input, PlanRequest, PlanResponse, Value};
use crate::reconcile::{Action, Plan};
use crate::topology::{IgnoredDrift, ProtectedObjects, Topology};

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
        Some(PreparedPlan { request, attributes, config, prior })
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

    async fn planned(
        &self,
        clouds: &location::Planned,
        roots: Roots<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Planned> {
        let PreparedPlan { request, attributes, config, .. } = self;
        let (current, cloud) = (clouds.current.as_ref(), clouds.target.as_ref());
        let existing = existing::<P>(current, request).await;
        let mut private = existing.map_err(|failure| failed::<P>(&failure, diagnostics)).ok()?;
        let is_pending = is_not_adopted(&request.prior);
        let only_by_name = match is_pending {
            true => self.read_named(current, &mut private).await,
            false => Ok(Default::default()),
        };
        let only_by_name = only_by_name.map_err(|failure| failed::<P>(&failure, diagnostics)).ok()?;
        let (left, mut further) = match is_pending {
            true => {
                let left = adoption::consent::<P>(config, &mut private, &only_by_name, diagnostics)?;
                (Some(left), Further::default())
            }
            false => (None, Further::of::<P>(config, &request.prior, &private.inventory, diagnostics)?),
        };
        let has_removed = import::remove_unclaimed::<P>(&mut private, attributes, diagnostics);
        let shown = Private::decode_plan(&request.planned_private).unwrap_or_default();
        let mut lookups = P::lookups(config);
        let scope = cloud.scope();
        // A plan that repeats the shown one does not report its problems again.
        let unchecked = match shown.facts {
            Some(_) => outside::Unchecked::default(),
            None => outside::unchecked::<P>(config, self.prior.as_ref(), &private, scope),
        };
        lookups.extend(outside::lookups(&unchecked));
        if request.prior.is_null() {
            if self.is_of_pending_adoption(roots, diagnostics) {
                return None;
            }
            shown.managed_roots.iter().for_each(|root_id| roots.managed.add(root_id));
            private.managed_roots = self.managed_namesakes(cloud, roots, diagnostics).await?;
        }
        let of_refresh = private.facts.take().filter(|_| clouds.replaced_by().is_none());
        let of_refresh = of_refresh.map(|facts| facts::applicable::<P>(facts, &request.prior, &lookups));
        let facts = self.facts(cloud, lookups, shown.facts.or(of_refresh), &private.inventory).await;
        let facts = facts.map_err(|failure| failed::<P>(&failure, diagnostics)).ok()?;
        let (name, is_create) = (state::name::<P>(config), request.prior.is_null());
        let found = (&facts, &private);
        if outside::refuse::<P>((&name, &unchecked), is_create, found, roots.managed, scope, diagnostics) {
            return None;
        }

        let requires_replace = self.replacement(current, clouds.replaced_by(), &private.inventory, diagnostics).await;
        let replacing = !requires_replace.is_empty();
        if is_pending && replacing {
            diagnostics::not_replaced::<P>(&requires_replace, diagnostics);
            return None;
        }
        let rejection = P::reject_replacement(config, &private.inventory).filter(|_| replacing);
        if let Some(problem) = rejection {
            diagnostics.problems(vec![problem]);
            return None;
        }
        if protected::refuse_replacement::<P>(request, &private, replacing, scope, diagnostics) {
            return None;
        }
        let protection = Protection::of_update(attributes, &request.prior, &private, scope);
        let is_root_missing = !request.prior.is_null() && private.inventory.at(P::KIND.root()).is_none();
        // Terraform plans a replacement again as a create, so this plan starts from an empty inventory too.
        let prior = self.prior.as_ref().filter(|_| !replacing);
        if replacing {
            private = Private::of(Inventory::default());
            further.clear();
        }
        let basis = Basis::<P> { config, prior, scope, facts: &facts, protection };
        if is_pending {
            adoption::leave_unlisted::<P>(&basis, &mut private.inventory);
        }
        P::forget_managed(&mut private.inventory);
        let announcement = self.announcement(Some(scope));
        let (mut decision, taken) = self.decide(cloud, roots, &basis, &mut private, &further, diagnostics).await?;
        private.takes_over = !taken.is_empty() || is_pending;
        if let (Some(left), Some(decision)) = (&left, &decision) {
            let found = (&private.inventory, left);
            if !adoption::check_required::<P>(&only_by_name, decision, diagnostics)
                || !adoption::check::<P>(&basis, attributes, &request.prior, found, decision, diagnostics)
            {
                return None;
            }
        }
        if !further.check::<P>(&basis, attributes, &mut private, decision.as_ref(), diagnostics) {
            return None;
        }
        if let Some(root_id) = request.prior.get("id").as_str().filter(|root_id| !roots.read.contains(root_id))
            && decision.as_ref().is_some_and(|decision| decision.plan.is_empty())
            && refresh::find_lost::<P>(cloud, &request.prior, root_id, &mut private)
                .await
                .map_err(|failure| failed::<P>(&failure, diagnostics))
                .ok()?
        {
            // The first decision has reported the warnings.
            decision = basis.decide(&mut private.inventory, &mut Diagnostics::default()).ok()?;
        }
        let mut state = match decision {
            None => {
                let mut state = match is_pending || !further.slots().is_empty() {
                    true => announcement.of_root(&private.inventory),
                    false => announcement.undecided(&basis, &private),
                };
                if !replacing {
                    announcement.keep_root(&mut state);
                }
                state
            }
            Some(decision) => {
                diagnostics::warn_of_missing::<P>(&name, &decision.missing, diagnostics);
                if !request.prior.is_null() && !replacing {
                    let guardduty = guardduty::of_update::<P>(config);
                    let ignored = P::ignored_drift(config);
                    check_effects::<P>(cloud, &name, &private.inventory, &decision, (guardduty, &ignored), diagnostics)
                        .await;
                }
                match !has_removed && private.is_as_imported(&decision.plan, &decision.objects) {
                    true => import::kept::<P>(&request.prior, &request.config, attributes),
                    false => {
                        let released = released::record(&mut private, &decision.plan);
                        announcement.decided(&private, &decision, private.takes_over, &released)
                    }
                }
            }
        };
        if is_root_missing {
            // Terraform replaces a resource only for an attribute whose planned value differs.
            state.set("id", Value::Unknown);
        }
        private.unread_parts = self.unread_parts(roots, &private.inventory);
        private.unknown_owners = P::unknown_owners(config);
        private.facts = Some(facts);
        private.protected = ProtectedObjects::of(&request.prior);
        Some(Planned { state, requires_replace, private: private.encode() })
    }

    /// Returns the parts of unmanaged objects that the apply reads again: those of the objects that were unknown in the
    /// plan that was shown. If the host does not pass that plan, and this process has not read the topology, all.
    fn unread_parts(&self, roots: Roots<'_>, inventory: &Inventory) -> BTreeSet<Key> {
        let PreparedPlan { request, config, .. } = self;
        let Some(root_id) = request.prior.get("id").as_str() else { return BTreeSet::new() };
        let parts = || inventory.current().filter(|entry| entry.spec().is_part_of_unmanaged_object());
        match Private::decode_plan(&request.planned_private) {
            Some(shown) => P::parts_of(&shown.unknown_owners, config, inventory),
            None if roots.read.contains(root_id) => BTreeSet::new(),
            None => parts().map(|entry| entry.key.clone()).collect(),
        }
    }

    /// Whether this create would build a topology again that was imported and is not adopted.
    fn is_of_pending_adoption(&self, roots: Roots<'_>, diagnostics: &mut Diagnostics) -> bool {
        let (name, allowed) = (state::name::<P>(&self.config), P::allows_duplicate_name(&self.config));
        let is_pending = roots.not_adopted.contains(&name) && *allowed != Input::Known(true);
        if is_pending {
            diagnostics::not_created_again::<P>(&name, diagnostics);
        }
        is_pending
    }

    /// Rejects a create if a root exists that it would create again. Returns the ids of the other roots with its
    /// name.
    async fn managed_namesakes(
        &self,
        cloud: &dyn Cloud,
        roots: Roots<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Option<BTreeSet<String>> {
        let comparison = Comparison::of::<P>(&self.config);
        let Comparison::With(identity) = &comparison else { return Some(BTreeSet::new()) };
        match roots.managed.look_up::<P>(cloud, &identity.name, &comparison).await {
            Ok(found) => {
                // The create of an unfinished root may end before the apply, which stops otherwise.
                let unfinished = [found.unfinished, found.other_unfinished].concat();
                diagnostics::leftovers::<P>(&identity.name, &unfinished, true, diagnostics);
                let is_of_name_alone = comparison.is_of_name_alone();
                diagnostics::duplicates::<P>(&identity.name, is_of_name_alone, &found.complete, diagnostics);
                found.complete.is_empty().then_some(found.managed)
            }
            Err(failure) => {
                failed::<P>(&failure, diagnostics);
                None
            }
        }
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
            let basis = Basis::<P> { config: &self.config, prior: self.prior.as_ref(), scope, facts, protection };
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
        let (name, prior) = (state::name::<P>(&self.config), &self.request.prior);
        let mut requires_replace = self.replaced_by(inventory);
        requires_replace.extend(region);
        if !prior.is_null() && inventory.at(P::KIND.root()).is_none() {
            // The topology is created again with another id, which is a replacement in Terraform's terms.
            diagnostics::root_is_missing::<P>(prior, &name, inventory, diagnostics);
            requires_replace.push(AttributePath::new("id"));
        } else if !requires_replace.is_empty() {
            let id = prior.get("id").as_str().unwrap_or_default();
            // Terraform does not request a plan for the destroy within a replacement.
            let dependents = dependents::within_root::<P>(cloud, id, inventory).await;
            let (end, guardduty) = (End::Replacement, guardduty::of_destroy::<P>(prior));
            diagnostics::warn_of_end::<P>(end, (&name, id), inventory, Some(&dependents), guardduty, diagnostics);
            let ignored = P::ignored_drift(&self.config);
            diagnostics::warn_of_lost_drift::<P>(&name, inventory.entries.iter(), &ignored, diagnostics);
        }
        requires_replace
    }
}

fn failed<P: Topology>(failure: &Failure, diagnostics: &mut Diagnostics) {
    diagnostics::failed(format!("Could not plan {}", P::TYPE_NAME), failure, diagnostics);
}

/// Warns of the effects of an update, and rejects updates that cannot succeed.
async fn check_effects<P: Topology>(
    cloud: &dyn Cloud,
    name: &str,
    inventory: &Inventory,
    decision: &Decision,
    (guardduty, ignored): (GuardDutyObjects, &IgnoredDrift),
    diagnostics: &mut Diagnostics,
) {
    let plan = &decision.plan;
    let with_addresses = dependents::of_deleted_internet_gateway::<P>(cloud, inventory, plan).await;
    let mut in_subnets = dependents::in_deleted_subnets::<P>(cloud, inventory, plan).await;
    if in_subnets.unseen.is_empty() {
        in_subnets.unseen.clone_from(&with_addresses.unseen);
    }
    diagnostics::warn_of_deletions::<P>(name, plan, &in_subnets, guardduty, diagnostics);
    refuse_overlaps::<P>(name, plan, &in_subnets, guardduty, diagnostics);
    refuse_detachment::<P>(name, plan, &with_addresses, diagnostics);
    let root_id = inventory.at(P::KIND.root()).map_or("", |root| &root.id);
    let in_domains = dependents::in_deleted_domains::<P>(cloud, root_id, inventory, plan).await;
    // With `-refresh=false`, the decision does not know the current mappings.
    if !diagnostics::refuse_shared_domain_in_update::<P>(name, &in_domains, diagnostics) {
        diagnostics::warn_of_paths::<P>(name, &in_domains, diagnostics);
    }
    let kept = kept_with_shared_domains(inventory, &decision.objects);
    diagnostics::warn_of_shared_domains::<P>(name, &kept, diagnostics);
    diagnostics::warn_of_outages::<P>(name, plan, diagnostics);
    diagnostics::warn_of_moves::<P>(name, plan, diagnostics);
    diagnostics::warn_of_users::<P>(name, (inventory, plan), diagnostics);
    diagnostics::warn_of_overwritten_drift::<P>(name, plan, ignored, diagnostics);
    diagnostics::warn_of_refused_requests::<P>(name, plan, diagnostics);
    refuse_another_root::<P>(inventory, decision, diagnostics);
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
            refresh::Foreign::Missing | refresh::Foreign::Rejected(_) => Private::of(Inventory::default()),
        });
    }
    if let Some(mut private) = Private::decode(&request.prior_private) {
        remove_ignored_tags(&mut private.inventory, &cloud.scope().ignore_tags);
        return Ok(private);
    }
    let Some(root_id) = request.prior.get("id").as_str() else { return Ok(Private::of(Inventory::default())) };
    let found = refresh::rebuild::<P>(cloud, root_id, &request.prior).await?;
    Ok(found.unwrap_or_else(|| Private::of(Inventory::default())))
}

/// Rejects an update that creates another root. Only a replacement, which Terraform shows in the plan, may do that.
fn refuse_another_root<P: Topology>(inventory: &Inventory, decision: &Decision, diagnostics: &mut Diagnostics) {
    let creates_root = decision.plan.ops.iter().any(|op| match &op.action {
        Action::Create(object) => object.key.slot == P::KIND.root(),
        _ => false,
    });
    if creates_root && inventory.at(P::KIND.root()).is_some() {
        diagnostics::would_lose_root::<P>(diagnostics);
    }
}

/// Rejects a plan that creates a subnet in the range of a subnet that it deletes and that is still in use. The apply
/// would wait in vain, because Terraform updates the dependents only afterwards. Objects of GuardDuty that the apply
/// removes are no obstacle.
fn refuse_overlaps<P: Topology>(
    name: &str,
    plan: &Plan,
    dependents: &Dependents,
    guardduty: GuardDutyObjects,
    diagnostics: &mut Diagnostics,
) {
    for old in plan.deleted() {
        let mut inside = dependents.holding(&old.id);
        inside.retain(|dependent| dependent.guardduty.is_empty() || guardduty == GuardDutyObjects::Keep);
        if inside.is_empty() {
            continue;
        }
        for new in plan.ops.iter().filter_map(|op| match &op.action {
            Action::Create(object) => Some(object),
            _ => None,
        }) {
            if let Some((new_block, old_block)) = overlap(new, old) {
                diagnostics::overlap::<P>(name, (new, &new_block), (old, &old_block), &inside, diagnostics);
            }
        }
    }
}

/// Rejects a plan that deletes an internet gateway while network interfaces in subnets that stay have a public address.
/// The apply would delete the routes and then wait in vain. In subnets that the plan deletes too, the gateway waits for
/// them.
fn refuse_detachment<P: Topology>(name: &str, plan: &Plan, dependents: &Dependents, diagnostics: &mut Diagnostics) {
    // One that is pending deletion stays pending, so that other changes are possible.
    let gateways = plan.deleted().filter(|entry| entry.spec().maps_public_addresses() && !entry.pending_deletion);
    for gateway in gateways {
        let is_deleted =
            |id: &String| plan.deleted().any(|entry| entry.spec().holds_network_interfaces() && entry.id == *id);
        let mut inside = dependents.holding(&gateway.id);
        inside.retain(|dependent| !dependent.holds.iter().any(is_deleted));
        if !inside.is_empty() {
            diagnostics::public_addresses::<P>(name, gateway, &inside, diagnostics);
        }
    }
}

/// Returns the address ranges of two objects, the new one first, if they overlap.
fn overlap(new: &Object, old: &Entry) -> Option<(String, String)> {
    let held = old.spec().claims();
    new.spec.claims().iter().find_map(|wanted| {
        let Claim::Addresses(new_block) = wanted else { return None };
        held.iter().find_map(|held| match held {
            Claim::Addresses(old_block) if wanted.collides(held) => {
                Some((new_block.to_string(), old_block.to_string()))
            }
            _ => None,
        })
    })
}
