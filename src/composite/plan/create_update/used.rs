//! The existing objects that a plan uses instead of creating new ones.

use super::{OrReport, PreparedPlan};
use crate::cloud::Cloud;
use crate::composite::decision::{Basis, Decision};
use crate::composite::plan::Roots;
use crate::composite::private_state::{Private, Withheld};
use crate::composite::{diagnostics, used};
use crate::model::{Existing, Facts, Finding, Inventory, Lookup, Object, Reference};
use crate::plugin::{Diagnostics, Problem};
use crate::reconcile::Action;
use crate::topology::Topology;
use crate::topology::outside::{OwnerInPlan, Use, use_in_plan, withheld};

impl<P: Topology> PreparedPlan<'_, P> {
    /// Lets the topology use existing objects that a create would find under their names, and decides again. Reports
    /// what it uses, and those because of which the create would fail.
    pub(super) fn use_existing(
        &self,
        roots: Roots<'_>,
        basis: &Basis<'_, P>,
        (private, is_replaced): (&mut Private, bool),
        decision: Decision,
        diagnostics: &mut Diagnostics,
    ) -> Option<Decision> {
        let references = P::references(&self.config, basis.scope);
        let created: Vec<(&Object, &Reference, &Existing)> =
            decision.plan.ops.iter().filter_map(|op| found(&op.action, &references, basis)).collect();
        let root_id = self.request.prior.get("id").as_str();
        let context = used::context::<P>(&self.config, root_id.filter(|_| !is_replaced));
        // A create has no unchanged inputs. That of a requested replacement has those of the old root.
        let is_new_root = is_replaced || self.request.prior.is_null();
        let known = self.prior.as_ref().filter(|_| !is_new_root).map(|prior| P::references(prior, basis.scope));
        let before = private.inventory.clone();
        let is_known = |reference: &Reference| {
            known.iter().flatten().any(|it| it.to == reference.to) || used::is_of_missing(&before, &reference.to)
        };
        let (mut entries, mut refused) = (Vec::new(), Vec::new());
        for (object, reference, existing) in created {
            let id = reference.to.id();
            let owner = |owner: &str| OwnerInPlan {
                is_replaced: is_replaced && root_id == Some(owner),
                keeps: roots.managed.keeps(owner, &id),
                user: roots.managed.user_of(owner, &id),
            };
            match use_in_plan(reference, (existing, &object.spec), context, owner) {
                Use::Used(notice) => {
                    self.report(notice, diagnostics);
                    entries.push(used::entry(object, &id, existing));
                }
                Use::Created(Some(notice)) => self.report(notice, diagnostics),
                Use::Created(None) => {}
                // The problem of an unchanged input must not block other changes.
                Use::Refused(problem) if is_known(reference) => self.report(problem, diagnostics),
                Use::Refused(problem) => refused.push(problem),
            }
        }
        if !refused.is_empty() {
            diagnostics.problems(refused);
            return None;
        }
        if entries.is_empty() {
            return Some(decision);
        }
        private.takes_over = true;
        let is_used = |slot: &str| entries.iter().any(|entry| entry.key.slot == slot);
        private.inventory.entries.retain(|entry| !(entry.is_missing() && is_used(&entry.key.slot)));
        private.inventory.entries.extend(entries);
        decide_again(basis, private)
    }

    /// Keeps the objects that an update would delete and that other roots use, and decides again.
    pub(super) fn keep_used(
        &self,
        roots: Roots<'_>,
        basis: &Basis<'_, P>,
        (private, is_replaced): (&mut Private, bool),
        decision: Decision,
        diagnostics: &mut Diagnostics,
    ) -> Option<Decision> {
        let root_id = self.request.prior.get("id").as_str();
        let Some(root_id) = root_id.filter(|_| !is_replaced) else { return Some(decision) };
        let mut users = roots.managed.users(root_id, &private.inventory);
        users.retain(|id, _| decision.plan.deleted().any(|entry| entry.id == *id));
        if users.is_empty() {
            return Some(decision);
        }
        if self.shown.is_none() {
            diagnostics::warn_of_kept_for_users::<P>(&self.name(), &users, diagnostics);
        }
        roots.managed.keep_used(&users, &mut private.inventory);
        decide_again(basis, private)
    }

    /// Refuses a replacement if its create may not use what the old root uses, because another root owns it and exists.
    /// Records the other objects that a create may not use, for the destroy of a root that this plan does not know.
    pub(super) async fn check_withheld(
        &self,
        (cloud, facts): (&dyn Cloud, &Facts),
        old: Option<&Inventory>,
        private: &mut Private,
        decision: Option<&Decision>,
        diagnostics: &mut Diagnostics,
    ) -> Option<()> {
        let mut references = P::references(&self.config, cloud.scope());
        references.retain(|it| it.to.may_be_used() && it.to.can_be_looked_up());
        let is_in_use = |it: &Reference| {
            old.is_some_and(|old| old.current().any(|entry| entry.is_used() && entry.id == it.to.id()))
        };
        // What is in the inventory has not been looked up.
        let unseen = references.iter().filter(|it| is_in_use(it) && !facts.outside.contains_key(&it.to));
        let unseen: Vec<Lookup> = unseen.map(|it| Lookup::Outside(it.to.clone())).collect();
        let mut outside = facts.outside.clone();
        if !unseen.is_empty() {
            outside.extend(cloud.facts(&unseen).await.or_report::<P>(diagnostics)?.outside);
        }
        let context = used::context::<P>(&self.config, self.request.prior.get("id").as_str());
        let mut refused = Vec::new();
        for reference in &references {
            let Some(Finding::Usable(existing)) = outside.get(&reference.to) else { continue };
            let mut objects = decision.iter().flat_map(|it| &it.objects);
            let wanted = objects.find(|it| reference.to.slot() == Some(&it.key.slot)).map(|it| &it.spec);
            if decision.is_some() && wanted.is_none() {
                continue;
            }
            match withheld(reference, (existing, wanted), context) {
                Some((_, problem)) if is_in_use(reference) => refused.push(problem),
                Some((owner, problem)) => {
                    let problem = format!("{} {}", problem.message, problem.hint);
                    private.withheld.push(Withheld { owner: owner.to_string(), problem });
                }
                None => {}
            }
        }
        let is_refused = !refused.is_empty();
        diagnostics.problems(refused);
        (!is_refused).then_some(())
    }

    /// A plan that repeats the shown one has nothing new to report.
    fn report(&self, notice: Problem, diagnostics: &mut Diagnostics) {
        if self.shown.is_none() {
            diagnostics::warn_of_existing::<P>(&self.name(), notice, diagnostics);
        }
    }
}

/// The decision with a changed inventory. The first one has reported the warnings.
fn decide_again<P: Topology>(basis: &Basis<'_, P>, private: &mut Private) -> Option<Decision> {
    basis.decide(&mut private.inventory, &mut Diagnostics::default()).ok().flatten()
}

/// The existing object that a create would find, if the plan has looked it up.
fn found<'a, P: Topology>(
    action: &'a Action,
    references: &'a [Reference],
    basis: &'a Basis<'_, P>,
) -> Option<(&'a Object, &'a Reference, &'a Existing)> {
    let Action::Create(object) = action else { return None };
    let reference = used::of_slot(references, &object.key.slot)?;
    match basis.facts.outside.get(&reference.to)? {
        Finding::Usable(existing) => Some((object, reference, existing)),
        Finding::Exists { .. } | Finding::Missing(_) => None,
    }
}
