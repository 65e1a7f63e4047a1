//! The plan of a create or of an update.

use super::planned_state::Announcement;
use crate::cloud::{Cloud, Connected, Connection, Dependents, Failure};
use crate::composite::decision::{Basis, Decision};
use crate::composite::diagnostics::End;
use crate::composite::observe::leave_to_others;
use crate::composite::private_state::Private;
use crate::composite::{dependents, diagnostics, import, refresh, state};
use crate::model::{Claim, Entry, Ids, Inventory, Object, Scope};
use crate::plugin::{AttributePath, Diagnostics, PlanRequest, PlanResponse, Value};
use crate::reconcile::{Action, Plan};
use crate::topology::Topology;

/// The plan, or what was proposed with the errors that say why it cannot be planned.
pub(super) async fn plan<P: Topology>(connection: &Connection, request: PlanRequest) -> PlanResponse {
    let mut diagnostics = Diagnostics::default();
    match planned::<P>(connection, &request, &mut diagnostics).await {
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

/// What a plan hands to Terraform.
struct Planned {
    state: Value,
    requires_replace: Vec<AttributePath>,
    private: Vec<u8>,
}

/// What is to change: what the configuration says, and what it is compared with.
struct PreparedPlan<'a, P: Topology> {
    request: &'a PlanRequest,
    /// The configuration, with defaults.
    attributes: Value,
    /// The same, decoded.
    config: P::Config,
    /// The configuration last applied in full; `None` where there is none.
    prior: Option<P::Config>,
}

async fn planned<P: Topology>(
    connection: &Connection,
    request: &PlanRequest,
    diagnostics: &mut Diagnostics,
) -> Option<Planned> {
    let change = PreparedPlan::<P>::of(request, diagnostics)?;
    match connection.get() {
        Connected::Ready(cloud) => change.planned(cloud.as_ref(), diagnostics).await,
        Connected::Unknown => Some(change.without_account()),
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
        let last_applied = Private::last_applied::<P>(private.as_ref(), &request.prior, &attributes);
        let prior = state::decode::<P>(&last_applied).ok().map(|(_, config)| config);
        Some(PreparedPlan { request, attributes, config, prior })
    }

    /// The attributes whose change makes Terraform replace the topology.
    fn replaced_by(&self, existing: &Inventory) -> Vec<AttributePath> {
        let prior = self.prior.as_ref();
        prior.map(|prior| P::replaced_by(prior, &self.config, existing)).unwrap_or_default()
    }

    /// The plan while the provider block holds unknowns, so that nothing can be looked up.
    fn without_account(&self) -> Planned {
        Planned {
            state: self.announcement(None).undecided(&Ids::default()),
            requires_replace: self.replaced_by(&Inventory::default()),
            private: self.request.prior_private.clone(),
        }
    }

    fn announcement<'b>(&'b self, scope: Option<&'b Scope>) -> Announcement<'b, P> {
        let PreparedPlan { request, attributes, config, .. } = self;
        Announcement { prior: &request.prior, attributes, config, scope }
    }

    async fn planned(&self, cloud: &dyn Cloud, diagnostics: &mut Diagnostics) -> Option<Planned> {
        let PreparedPlan { request, attributes, config, .. } = self;
        let failed = |failure: Failure, diagnostics: &mut Diagnostics| {
            diagnostics::failed(&format!("Planning {}", P::TYPE_NAME), &failure, diagnostics);
        };
        let existing = existing::<P>(cloud, request).await;
        let mut private = existing.map_err(|failure| failed(failure, diagnostics)).ok()?;
        let has_forgotten = import::forget::<P>(&mut private, attributes, diagnostics);
        let facts = cloud.facts(&P::lookups(config)).await;
        let facts = facts.map_err(|failure| failed(failure, diagnostics)).ok()?;

        let requires_replace = self.replacement(cloud, &private.inventory, diagnostics).await;
        let replacing = !requires_replace.is_empty();
        let has_lost_root = !request.prior.is_null() && private.inventory.at(P::KIND.root()).is_none();
        // What replaces the topology is planned as if there were none, as Terraform will ask again.
        let prior = self.prior.as_ref().filter(|_| !replacing);
        if replacing {
            private = Private::of(Inventory::default());
        }
        let basis = Basis::<P> { config, prior, scope: cloud.scope(), facts: &facts };
        let announcement = self.announcement(Some(cloud.scope()));
        let mut state = match basis.decide(&mut private.inventory, diagnostics).ok()? {
            None => announcement.undecided(&private.inventory.ids()),
            Some(decision) => {
                let name = state::name::<P>(config);
                diagnostics::warn_of_missing::<P>(&name, &decision.missing, diagnostics);
                if !request.prior.is_null() && !replacing {
                    warn_of_effects::<P>(cloud, &name, &private.inventory, &decision, diagnostics).await;
                }
                match !has_forgotten && private.is_as_imported(&decision.plan, &decision.objects) {
                    true => import::kept::<P>(&request.prior, &request.config, attributes),
                    false => announcement.decided(&private, &decision),
                }
            }
        };
        if has_lost_root {
            // Terraform replaces only for an attribute whose planned value differs.
            state.set("id", Value::Unknown);
        }
        private.facts = Some(facts);
        Some(Planned { state, requires_replace, private: private.encode() })
    }

    /// The attributes for which Terraform replaces the topology, with warnings of what that takes away.
    async fn replacement(
        &self,
        cloud: &dyn Cloud,
        inventory: &Inventory,
        diagnostics: &mut Diagnostics,
    ) -> Vec<AttributePath> {
        let (name, prior) = (state::name::<P>(&self.config), &self.request.prior);
        let mut requires_replace = self.replaced_by(inventory);
        if !prior.is_null() && inventory.at(P::KIND.root()).is_none() {
            // Everything has to be made anew under another id, which is what Terraform calls a replacement.
            diagnostics::root_is_missing::<P>(prior, &name, inventory, diagnostics);
            requires_replace.push(AttributePath::new("id"));
        } else if !requires_replace.is_empty() {
            let id = prior.get("id").as_str().unwrap_or_default();
            // Terraform asks for no plan of the destroy that is a part of it.
            let dependents = dependents::within_root::<P>(cloud, id, inventory).await;
            diagnostics::warn_of_end::<P>(End::Replacement, (&name, id), inventory, Some(&dependents), diagnostics);
        }
        requires_replace
    }
}

/// What people should know of an update before they apply it.
async fn warn_of_effects<P: Topology>(
    cloud: &dyn Cloud,
    name: &str,
    inventory: &Inventory,
    decision: &Decision,
    diagnostics: &mut Diagnostics,
) {
    let plan = &decision.plan;
    let in_subnets = dependents::in_deleted_subnets::<P>(cloud, inventory, plan).await;
    diagnostics::warn_of_deletions::<P>(name, plan, &in_subnets, diagnostics);
    refuse_overlaps::<P>(name, plan, &in_subnets, diagnostics);
    let in_domains = dependents::in_deleted_domains::<P>(cloud, inventory, plan).await;
    diagnostics::warn_of_paths::<P>(name, &in_domains, diagnostics);
    diagnostics::warn_of_outages::<P>(name, plan, diagnostics);
    diagnostics::warn_of_refused_requests::<P>(name, plan, diagnostics);
    refuse_another_root::<P>(inventory, decision, diagnostics);
}

/// What exists according to private state; without a usable one, according to AWS.
async fn existing<P: Topology>(cloud: &dyn Cloud, request: &PlanRequest) -> Result<Private, Failure> {
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
fn refuse_another_root<P: Topology>(inventory: &Inventory, decision: &Decision, diagnostics: &mut Diagnostics) {
    let makes_root = decision.plan.ops.iter().any(|op| match &op.action {
        Action::Create(object) => object.key.slot == P::KIND.root(),
        _ => false,
    });
    if makes_root && inventory.at(P::KIND.root()).is_some() {
        diagnostics::would_lose_root::<P>(diagnostics);
    }
}

/// Refuses a plan that makes a subnet where one has to go first which others use: the apply would wait for them in
/// vain, as Terraform changes them only afterwards.
fn refuse_overlaps<P: Topology>(name: &str, plan: &Plan, dependents: &Dependents, diagnostics: &mut Diagnostics) {
    for old in plan.deleted() {
        let inside = dependents.holding(&old.id);
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

/// The two ranges, the new one first, where both cannot exist at once.
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
