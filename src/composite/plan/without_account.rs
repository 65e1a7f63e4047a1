//! The plan of a create or of an update without AWS, while the provider block contains unknown values. Pure.

use std::collections::BTreeMap;

use super::create_update::{Planned, PreparedPlan};
use super::planned_state::Announcement;
use super::undecided::open;
use crate::composite::decision::Basis;
use crate::composite::private_state::Private;
use crate::composite::protected::Protection;
use crate::composite::status::is_not_adopted;
use crate::composite::{facts, location, takeover};
use crate::model::{Inventory, Scope, TagSettings};
use crate::plugin::{AttributePath, Diagnostics, Input, Value};
use crate::topology::Topology;

impl<P: Topology> PreparedPlan<'_, P> {
    /// Plans from the private state alone. The account is that of the state: the plan of the apply rejects any other.
    pub(super) fn without_account(&self, tags: &TagSettings) -> Planned {
        let (prior, region) = (&self.request.prior, self.request.config.get(location::REGION));
        let private = Private::decode(&self.request.prior_private);
        let existing = private.as_ref().map(|private| private.inventory.clone()).unwrap_or_default();
        let mut requires_replace = self.replaced_by(&existing);
        requires_replace.extend(location::replaced_without_account::<P>(prior, region));
        let is_root_missing = private.is_some() && existing.at(P::KIND.root()).is_none();
        requires_replace.extend(is_root_missing.then(|| AttributePath::new("id")));
        let keeps_root = !prior.is_null() && requires_replace.is_empty();
        let scope = location::scope_without_account::<P>(prior, tags).filter(|_| keeps_root);
        let mut state = match (&scope, private.filter(|_| keeps_root)) {
            (Some(scope), Some(private)) => self.decided_by_state(scope, private),
            _ => self.announcement(None).of_root(&Inventory::default()),
        };
        if keeps_root {
            self.announcement(None).keep_root(&mut state);
        }
        state.set(location::REGION, location::without_account::<P>(prior, region));
        if is_root_missing {
            // Terraform replaces a resource only for an attribute whose planned value differs.
            state.set("id", Value::Unknown);
        }
        Planned { state, requires_replace, private: self.request.prior_private.clone() }
    }

    /// Decides from the facts of the last apply or refresh, which the plan of the apply uses too.
    fn decided_by_state(&self, scope: &Scope, mut private: Private) -> Value {
        let announcement: Announcement<'_, P> = self.announcement(Some(scope));
        let (prior, inventory) = (&self.request.prior, &private.inventory);
        let adopts_more = match P::adopt(&self.config) {
            Input::Known(adopt) => adopt.keys().any(|slot| inventory.at(slot).is_none()),
            Input::Unknown => true,
        };
        if private.imported || adopts_more || is_not_adopted(prior) {
            return self.announcement(None).of_root(inventory);
        }
        let facts = private.facts.take().unwrap_or_default();
        let facts = facts::applicable::<P>(facts, prior, &P::lookups(&self.config));
        let protection = Protection::none();
        let basis = Basis::<P> {
            config: &self.config,
            prior: self.prior.as_ref(),
            scope,
            facts: &facts,
            protection,
            may_rename: true,
        };
        // The plan of the apply reports errors and warnings.
        match takeover::decide(&basis, &mut private, &mut Diagnostics::default()) {
            Ok((Some(decision), taken)) if taken.is_empty() => {
                let state = announcement.decided(&private, &decision, false, &BTreeMap::new());
                if state == *prior { state } else { open(state) }
            }
            Ok((None, _)) => announcement.undecided(&basis, &private),
            _ => announcement.of_root(&private.inventory),
        }
    }
}
