//! The decision of a plan, with the objects that it takes over.

use std::collections::BTreeMap;
use std::mem::discriminant;

use super::{OrReport, PreparedPlan};
use crate::cloud::{Begun, Cloud, Failure, Observed, Obstacle};
use crate::composite::adoption::Consent;
use crate::composite::decision::{Basis, Decision};
use crate::composite::plan::Roots;
use crate::composite::private_state::Private;
use crate::composite::refresh::Foreign;
use crate::composite::{adoption, dependents, diagnostics, refresh, takeover};
use crate::model::{Entry, Inventory, Key, Object};
use crate::plugin::{Diagnostics, Problem};
use crate::reconcile::Action;
use crate::topology::Topology;

impl<P: Topology> PreparedPlan<'_, P> {
    /// Decides, and takes over the objects of an interrupted run that nothing unmanaged uses, and those that `adopt`
    /// names. Returns the keys and IDs of all of them too.
    pub(super) async fn decide(
        &self,
        cloud: &dyn Cloud,
        roots: Roots<'_>,
        basis: &Basis<'_, P>,
        private: &mut Private,
        consent: &Consent,
        diagnostics: &mut Diagnostics,
    ) -> Option<(Option<Decision>, BTreeMap<Key, String>)> {
        let (root_id, named) = (self.request.prior.get("id").as_str(), &consent.unread(&private.inventory));
        let mut is_current = root_id.is_none_or(|id| roots.read.contains(id));
        let (mut is_searched, mut is_searched_for_blueprint) = (false, false);
        let mut before = private.clone();
        if !named.is_empty() {
            // A refresh does not return them.
            self.read_candidates(cloud, &mut before, named).await.or_report::<P>(diagnostics)?;
            if !consent.check_read::<P>(&before, diagnostics) {
                return None;
            }
            is_current = true;
            private.clone_from(&before);
        }
        loop {
            let mut reported = Diagnostics::default();
            let decided = takeover::decide(basis, private, &mut reported);
            let taken = decided.as_ref().map(|(_, taken)| taken.clone()).unwrap_or_default();
            if !is_current && !taken.is_empty() {
                self.read_candidates(cloud, &mut before, named).await.or_report::<P>(diagnostics)?;
                (is_current, is_searched, is_searched_for_blueprint) = (true, false, false);
                private.clone_from(&before);
                continue;
            }
            let searched = match &decided {
                Ok((Some(decision), _)) if !std::mem::replace(&mut is_searched, true) => created(decision),
                // An interrupted run may have created what this configuration seems to collide with.
                Err(()) if !std::mem::replace(&mut is_searched_for_blueprint, true) => {
                    P::findable(&basis.context(&private.inventory))
                }
                _ => Vec::new(),
            };
            if !searched.is_empty() {
                let found = leftovers::<P>(cloud, &before, &searched).await.or_report::<P>(diagnostics)?;
                if !found.is_empty() {
                    takeover::add(&mut before, found, &basis.scope.ignore_tags);
                    private.clone_from(&before);
                    continue;
                }
            }
            let unnamed = without_named(&taken, named, &private.inventory);
            let used = dependents::of_taken_over::<P>(cloud, &private.inventory, &unnamed).await;
            let used = used.or_report::<P>(diagnostics)?;
            if used.is_empty() {
                diagnostics.0.extend(reported.0);
                let (decision, taken) = decided.ok()?;
                if let Some(decision) = &decision
                    && self.is_obstructed(cloud, roots, &private.inventory, decision, diagnostics).await?
                {
                    return None;
                }
                diagnostics::warn_of_takeover::<P>(&self.name(), &unnamed, diagnostics);
                return Some((decision, taken));
            }
            // Other subnets may be required then. Each round refuses further ones, so this ends.
            takeover::refuse(&mut before, &used);
            private.clone_from(&before);
        }
    }

    /// Reports the unmanaged objects because of which AWS would reject this decision, unless `adopt` names them. Tells
    /// whether there are any. A plan that repeats the shown one does not look for them again.
    async fn is_obstructed(
        &self,
        cloud: &dyn Cloud,
        roots: Roots<'_>,
        inventory: &Inventory,
        decision: &Decision,
        diagnostics: &mut Diagnostics,
    ) -> Option<bool> {
        let root = inventory.at(P::KIND.root());
        // An adoption creates nothing: it asks for further entries in `adopt` instead.
        if self.shown.is_some() || root.is_some_and(Entry::is_foreign) {
            return Some(false);
        }
        let begun = decision.plan.ops.iter().filter_map(|op| match &op.action {
            Action::Create(object) => Some(Begun { key: &object.key, before: None, spec: &object.spec }),
            Action::Update { before, to, .. } => Some(Begun { key: &to.key, before: Some(before), spec: &to.spec }),
            Action::Delete { .. } => None,
        });
        let begun: Vec<Begun<'_>> = begun.collect();
        let found = cloud.obstacles(P::KIND, root.map(|it| it.id.as_str()), &begun, &inventory.entries).await;
        let mut found = found.or_report::<P>(diagnostics)?;
        let adopted = P::adopt(&self.config).known().cloned().unwrap_or_default();
        let is_named = |it: &Obstacle| adopted.values().any(|id| id.known() == Some(&it.id));
        // The same run may delete what a root of this state has: the one that this plan replaces, for example.
        let is_managed = |it: &Obstacle| it.owner.as_deref().is_some_and(|root| roots.managed.contains(root));
        found.retain(|it| !is_named(it) && !is_managed(it));
        let problem = |it: &Obstacle| Problem::new(P::input_of(&it.key), it.message.clone(), it.hint.clone());
        diagnostics.problems(found.iter().map(problem));
        Some(!found.is_empty())
    }

    /// Reads a root that is not adopted again, with the objects that `adopt` names although no import proposes them. If
    /// there are none, it calls nothing. Returns their slots by ID.
    pub(super) async fn read_named(
        &self,
        cloud: &dyn Cloud,
        private: &mut Private,
    ) -> Result<BTreeMap<String, String>, Failure> {
        let named = adoption::only_by_name::<P>(&self.config, &private.inventory);
        let prior = &self.request.prior;
        let Some(root_id) = prior.get("id").as_str().filter(|_| !named.is_empty()) else { return Ok(named) };
        if let Foreign::Adoptable(read) = refresh::read_foreign::<P>(cloud, root_id, prior, Some(&named)).await? {
            let facts = private.facts.take();
            *private = *read;
            private.facts = facts;
        }
        Ok(named)
    }

    /// Reads the candidates again. Without a refresh, they are those of an earlier run, and others may use them since.
    async fn read_candidates(
        &self,
        cloud: &dyn Cloud,
        private: &mut Private,
        named: &BTreeMap<String, String>,
    ) -> Result<(), Failure> {
        let prior = &self.request.prior;
        let Some(root_id) = prior.get("id").as_str() else { return Ok(()) };
        let current = refresh::with_consent::<P>(cloud, prior, root_id, private.clone(), named).await?;
        let Private { candidates, unmanaged, stacks, inventory, .. } = current.unwrap_or_default();
        (private.candidates, private.unmanaged, private.stacks) = (candidates, unmanaged, stacks);
        if !named.is_empty() {
            // A managed object learns from a read which unmanaged objects it has to avoid.
            for entry in &mut private.inventory.entries {
                let now = inventory.entries.iter().find(|it| it.key == entry.key && it.id == entry.id);
                entry.learned = now.map_or_else(|| entry.learned.clone(), |now| now.learned.clone());
            }
        }
        Ok(())
    }
}

/// The objects of an interrupted run that a plan takes over although `adopt` does not name them.
fn without_named(
    taken: &BTreeMap<Key, String>,
    named: &BTreeMap<String, String>,
    inventory: &Inventory,
) -> BTreeMap<Key, String> {
    let others = taken.iter().filter(|(key, id)| !named.contains_key(*id) && inventory.foreign(key).is_none());
    others.map(|(key, id)| (key.clone(), id.clone())).collect()
}

/// The objects that a plan creates.
fn created(decision: &Decision) -> Vec<Object> {
    let created = decision.plan.ops.iter().filter_map(|op| match &op.action {
        Action::Create(object) => Some(object.clone()),
        _ => None,
    });
    created.collect()
}

/// Returns those of `objects`, which a plan would create again, that an interrupted run has created and that no read
/// finds. An object that exists in place of a missing one of the inventory is not among them, because it may be that of
/// someone else.
async fn leftovers<P: Topology>(
    cloud: &dyn Cloud,
    private: &Private,
    objects: &[Object],
) -> Result<Vec<Observed>, Failure> {
    let Private { inventory, candidates, .. } = private;
    let Some(root) = inventory.at(P::KIND.root()) else { return Ok(Vec::new()) };
    let is_known = |key: &Key| inventory.entries.iter().any(|entry| entry.key == *key);
    let created: Vec<&Object> = objects.iter().filter(|object| !is_known(&object.key)).collect();
    let mut found = cloud.leftovers(P::KIND, &root.id, &created).await?;
    let known: Vec<&Entry> = inventory.entries.iter().chain(candidates.iter().map(|it| &it.entry)).collect();
    found.retain(|it| !known.iter().any(|entry| entry.kind_and_id() == (discriminant(&it.spec), it.id.as_str())));
    Ok(found)
}
