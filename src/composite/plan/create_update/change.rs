//! The plan of a create, of an update of a managed root, or of its replacement.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::effects::check_effects;
use super::{OrReport, Planned, PreparedPlan};
use crate::cloud::Cloud;
use crate::composite::adoption::Consent;
use crate::composite::decision::{Basis, Decision};
use crate::composite::duplicates::Comparison;
use crate::composite::plan::Roots;
use crate::composite::private_state::Private;
use crate::composite::protected::{self, Protection};
use crate::composite::{diagnostics, import, location, refresh, released, replaced, undeletable, used};
use crate::model::{Facts, Finding, Inventory, Reference, Scope};
use crate::plugin::{Diagnostics, Input, Value};
use crate::topology::Topology;

impl<P: Topology> PreparedPlan<'_, P> {
    /// Plans a create, an update or a replacement. `private` contains the existing objects.
    pub(super) async fn change(
        &self,
        clouds: &location::Planned,
        roots: Roots<'_>,
        mut private: Private,
        diagnostics: &mut Diagnostics,
    ) -> Option<Planned> {
        let PreparedPlan { request, attributes, config, .. } = self;
        let (current, cloud) = (clouds.current.as_ref(), clouds.target.as_ref());
        used::leave_named::<P>(config, &mut private);
        let mut consent = Consent::to_objects::<P>(config, &request.prior, &private.inventory, diagnostics)?;
        let has_removed = import::remove_unclaimed::<P>(&mut private, attributes, diagnostics);
        if request.prior.is_null() {
            self.check_create(cloud, roots, &mut private, diagnostics).await?;
        }
        let facts = self.looked_up(clouds, roots, &mut private, diagnostics).await?;
        let requires_replace = self.replacement(current, clouds.replaced_by(), &private.inventory, diagnostics).await;
        let (replacing, scope) = (!requires_replace.is_empty(), cloud.scope());
        if let Some(problem) = P::reject_replacement(config, &private.inventory).filter(|_| replacing) {
            diagnostics.problems(vec![problem]);
            return None;
        }
        let old = replaced::old_root(request, &private, replacing);
        if protected::refuse_replacement::<P>(request, &private, replacing, scope, diagnostics)
            || undeletable::refuse_replacement::<P>(&self.name(), old.as_ref(), diagnostics)
        {
            return None;
        }
        self.warn_of_requested_replacement(current, roots, old.as_ref(), diagnostics).await;
        let protection = Protection::of_update(attributes, &request.prior, &private, scope);
        let is_root_missing = !request.prior.is_null() && private.inventory.at(P::KIND.root()).is_none();
        // Terraform plans a replacement again as a create, so this plan starts from an empty inventory too.
        let prior = self.prior.as_ref().filter(|_| !replacing);
        if replacing {
            private = Private::of(Inventory::default());
            consent = Consent::default();
        }
        let basis = Basis::<P> { config, prior, scope, facts: &facts, protection, may_rename: true };
        P::forget_managed(&mut private.inventory);
        let (decision, taken) = self.decide(cloud, roots, &basis, &mut private, &consent, diagnostics).await?;
        self.tell_of_renamed(decision.as_ref(), diagnostics);
        private.takes_over = !taken.is_empty();
        let decision = match decision {
            Some(it) => {
                let it = self.keep_used(roots, &basis, (&mut private, replacing), it, diagnostics)?;
                Some(self.use_existing(roots, &basis, (&mut private, replacing), it, diagnostics)?)
            }
            None => None,
        };
        let inputs = (attributes, &request.prior);
        if !consent.check::<P>(&basis, inputs, &mut private, decision.as_ref(), diagnostics) {
            return None;
        }
        let decision = self.without_lost(cloud, roots, &basis, &mut private, decision, diagnostics).await?;
        self.check_names(roots, &basis, (&private, replacing), decision.as_ref(), diagnostics)?;
        let new = (roots, request.prior.is_null() || replacing);
        self.check_new_root((cloud, &facts, old.as_ref()), new, &mut private, decision.as_ref(), diagnostics).await?;
        if let Some(decision) = &decision {
            diagnostics::warn_of_missing::<P>(&self.name(), &decision.missing, diagnostics);
            if !request.prior.is_null() && !replacing {
                let handling = (P::guardduty_in_update(config), &P::ignored_drift(config));
                check_effects::<P>(cloud, &self.name(), &private.inventory, decision, handling, diagnostics).await;
            }
        }
        let is_as_imported =
            !has_removed && decision.as_ref().is_some_and(|it| private.is_as_imported(&it.plan, &it.objects));
        let inputs = (&request.prior, &request.config, attributes);
        let kept = is_as_imported.then(|| import::kept(&basis, inputs, &private.inventory)).flatten();
        let mut state = match (&decision, kept) {
            (_, Some(kept)) => kept,
            (None, None) => self.undecided_state(&basis, &private, &consent, replacing),
            (Some(decision), None) => {
                let released = released::record(&mut private, &decision.plan);
                self.announcement(Some(scope)).decided(&private, decision, private.takes_over, &released)
            }
        };
        if is_as_imported {
            diagnostics::only_recorded::<P>(&import::recorded::<P>(&request.prior, &state), diagnostics);
        }
        if is_root_missing {
            // Terraform replaces a resource only for an attribute whose planned value differs.
            state.set("id", Value::Unknown);
        }
        Some(self.planned_with(state, requires_replace, private, facts, (roots, scope)))
    }

    /// Returns the planned state while unknown inputs leave the set of objects open.
    fn undecided_state(&self, basis: &Basis<'_, P>, private: &Private, consent: &Consent, replacing: bool) -> Value {
        let announcement = self.announcement(Some(basis.scope));
        let mut state = match consent.names_objects() {
            true => announcement.of_root(&private.inventory),
            false => announcement.undecided(basis, private),
        };
        if !replacing {
            announcement.keep_root(&mut state);
        }
        state
    }

    /// Returns the decision, made again if AWS has deleted objects since the refresh together with an unmanaged one.
    async fn without_lost(
        &self,
        cloud: &dyn Cloud,
        roots: Roots<'_>,
        basis: &Basis<'_, P>,
        private: &mut Private,
        decision: Option<Decision>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Option<Decision>> {
        let prior = &self.request.prior;
        let root_id = prior.get("id").as_str().filter(|root_id| !roots.read.contains(root_id));
        let Some(root_id) = root_id.filter(|_| decision.as_ref().is_some_and(|it| it.plan.is_empty())) else {
            return Some(decision);
        };
        let has_lost = refresh::find_lost::<P>(cloud, prior, root_id, private).await.or_report::<P>(diagnostics)?;
        match has_lost {
            // The first decision has reported the warnings.
            true => basis.decide(&mut private.inventory, &mut Diagnostics::default()).ok(),
            false => Some(decision),
        }
    }

    /// Rejects a create of a root that exists, and remembers the other roots with its name.
    async fn check_create(
        &self,
        cloud: &dyn Cloud,
        roots: Roots<'_>,
        private: &mut Private,
        diagnostics: &mut Diagnostics,
    ) -> Option<()> {
        if self.is_of_pending_adoption(roots, diagnostics) {
            return None;
        }
        let of_shown = self.shown.iter().flat_map(|shown| &shown.managed_roots);
        of_shown.for_each(|root_id| roots.managed.add(root_id));
        private.managed_roots = self.managed_namesakes(cloud, roots, diagnostics).await?;
        Some(())
    }

    /// Whether this create would build a topology again that was imported and is not adopted.
    fn is_of_pending_adoption(&self, roots: Roots<'_>, diagnostics: &mut Diagnostics) -> bool {
        let (name, allowed) = (self.name(), P::allows_duplicate_name(&self.config));
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
        let found = roots.managed.look_up::<P>(cloud, &identity.name, &comparison).await;
        let found = found.or_report::<P>(diagnostics)?;
        // The create of an unfinished root may end before the apply, which stops otherwise.
        let unfinished = [found.unfinished, found.other_unfinished].concat();
        diagnostics::leftovers::<P>(&identity.name, &unfinished, true, diagnostics);
        let is_of_name_alone = comparison.is_of_name_alone();
        diagnostics::duplicates::<P>(&identity.name, is_of_name_alone, &found.complete, diagnostics);
        found.complete.is_empty().then_some(found.managed)
    }

    /// Records what the destroy of an old root has to know of the new one, and of the roots that use its objects.
    fn record_new_root(
        &self,
        roots: Roots<'_>,
        facts: &Facts,
        scope: &Scope,
        private: &mut Private,
        decision: Option<&Decision>,
    ) {
        private.successors = decision.map(|decision| replaced::successors(&decision.objects));
        private.may_lose_protection = decision.is_none() && !P::expresses_protection(&self.config);
        if decision.is_none() {
            private.log_groups = P::log_groups(&self.config, facts);
        }
        for Reference { to, .. } in P::references(&self.config, scope) {
            let Some(Finding::Usable(existing)) = facts.outside.get(&to) else { continue };
            let user = existing.owner.as_ref().and_then(|owner| roots.managed.user_of(&owner.id, &to.id()));
            private.users.extend(user.map(|user| (to.id(), user)));
        }
    }

    /// Records the objects that the new root may not use, and checks the replacement of an old one.
    async fn check_new_root(
        &self,
        (cloud, facts, old): (&dyn Cloud, &Facts, Option<&Inventory>),
        (roots, is_new): (Roots<'_>, bool),
        private: &mut Private,
        decision: Option<&Decision>,
        diagnostics: &mut Diagnostics,
    ) -> Option<()> {
        if is_new {
            self.record_new_root(roots, facts, cloud.scope(), private, decision);
            self.check_withheld((cloud, facts), old, private, decision, diagnostics).await?;
        }
        let Some(old) = old else { return Some(()) };
        let new = match decision {
            Some(decision) => Cow::Borrowed(&decision.objects),
            None => Cow::Owned(replaced::as_applied(old, private.may_lose_protection)),
        };
        let is_refused = replaced::check_replacement::<P>(&self.name(), old, &new, diagnostics)
            || replaced::refuse_unusable::<P>(&self.name(), old, &private.log_groups, diagnostics);
        (!is_refused).then_some(())
    }
}
