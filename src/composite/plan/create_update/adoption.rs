//! The plan of an adoption: of a root that was imported and that no apply has adopted. It adds tags, or is refused.

use std::collections::BTreeMap;

use super::{OrReport, Planned, PreparedPlan};
use crate::composite::adoption::Consent;
use crate::composite::decision::Basis;
use crate::composite::plan::Roots;
use crate::composite::private_state::Private;
use crate::composite::protected::Protection;
use crate::composite::{adoption, diagnostics, import, location};
use crate::plugin::Diagnostics;
use crate::topology::Topology;

impl<P: Topology> PreparedPlan<'_, P> {
    /// Plans the adoption of the objects that `adopt` names. `private` contains all that could be adopted.
    pub(super) async fn adoption(
        &self,
        clouds: &location::Planned,
        roots: Roots<'_>,
        mut private: Private,
        diagnostics: &mut Diagnostics,
    ) -> Option<Planned> {
        let PreparedPlan { request, attributes, config, .. } = self;
        let (current, cloud) = (clouds.current.as_ref(), clouds.target.as_ref());
        let named = self.read_named(current, &mut private).await.or_report::<P>(diagnostics)?;
        let consent = Consent::to_root::<P>(config, &mut private, named, diagnostics)?;
        import::remove_unclaimed::<P>(&mut private, attributes, diagnostics);
        let facts = self.looked_up(clouds, roots, &mut private, diagnostics).await?;
        let requires_replace = self.replacement(current, clouds.replaced_by(), &private.inventory, diagnostics).await;
        if !requires_replace.is_empty() {
            diagnostics::not_replaced::<P>(&requires_replace, diagnostics);
            return None;
        }
        let (scope, prior) = (cloud.scope(), self.prior.as_ref());
        let protection = Protection::of_update(attributes, &request.prior, &private, scope);
        let basis = Basis::<P> { config, prior, scope, facts: &facts, protection, may_rename: true };
        adoption::leave_unlisted::<P>(&basis, &mut private.inventory);
        P::forget_managed(&mut private.inventory);
        let (decision, _) = self.decide(cloud, roots, &basis, &mut private, &consent, diagnostics).await?;
        self.tell_of_renamed(decision.as_ref(), diagnostics);
        let inputs = (attributes, &request.prior);
        if !consent.check::<P>(&basis, inputs, &mut private, decision.as_ref(), diagnostics) {
            return None;
        }
        private.takes_over = true;
        let announcement = self.announcement(Some(scope));
        let state = match decision {
            None => {
                let mut state = announcement.of_root(&private.inventory);
                announcement.keep_root(&mut state);
                state
            }
            Some(decision) => {
                diagnostics::warn_of_missing::<P>(&self.name(), &decision.missing, diagnostics);
                announcement.decided(&private, &decision, true, &BTreeMap::new())
            }
        };
        Some(self.planned_with(state, requires_replace, private, facts, (roots, scope)))
    }
}
