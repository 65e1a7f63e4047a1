//! The names that a plan takes and releases, compared with the plans of the other resources of the process.

use super::PreparedPlan;
use crate::composite::decision::{Basis, Decision};
use crate::composite::names::PlannedNames;
use crate::composite::plan::Roots;
use crate::composite::private_state::Private;
use crate::composite::used;
use crate::model::{Finding, Outside};
use crate::plugin::Diagnostics;
use crate::topology::Topology;
use crate::topology::outside::conflicts;

impl<P: Topology> PreparedPlan<'_, P> {
    /// Remembers the names of the plan. Refuses it if another resource of the configuration requires one of them, too.
    pub(super) fn check_names(
        &self,
        roots: Roots<'_>,
        basis: &Basis<'_, P>,
        (private, is_replaced): (&Private, bool),
        decision: Option<&Decision>,
        diagnostics: &mut Diagnostics,
    ) -> Option<()> {
        let claimant = self.claimant(basis.scope);
        let names = decision.map(|decision| {
            let mut names = PlannedNames::of(&private.inventory, &decision.plan);
            names.wants.extend(self.awaited(basis, private, is_replaced));
            names
        });
        roots.names.note_plan(&claimant, names);
        let references = P::references(basis.config, basis.scope);
        let problems = conflicts(&references, roots.names.conflicts(&claimant));
        let is_refused = !problems.is_empty();
        diagnostics.problems(problems);
        (!is_refused).then_some(())
    }

    /// The names of the objects that the plan uses, and that it may use only without their owner.
    fn awaited(&self, basis: &Basis<'_, P>, private: &Private, is_replaced: bool) -> Vec<Outside> {
        let prior = &self.request.prior;
        let context = used::context::<P>(basis.config, prior.get("id").as_str().filter(|_| !is_replaced));
        if context.allows_duplicates {
            return Vec::new();
        }
        let references = P::references(basis.config, basis.scope);
        let used = private.inventory.current().filter(|entry| used::is_new(prior, entry));
        let awaited = used.filter_map(|entry| {
            let reference = used::of_slot(&references, &entry.key.slot)?;
            let Finding::Usable(existing) = basis.facts.outside.get(&reference.to)? else { return None };
            let owner = existing.owner.as_ref().filter(|owner| owner.is_living)?;
            (context.root_id != Some(owner.id.as_str())).then(|| reference.to.as_name())
        });
        awaited.collect()
    }
}
