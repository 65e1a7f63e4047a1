//! From state and configuration to a decision, which plan and apply make in the same way. Pure.

use super::observe::ignore_drift;
use super::{diagnostics, state};
use crate::model::{Facts, Inventory, Object, Scope};
use crate::plugin::{Diagnostics, Problem};
use crate::reconcile::{self, Plan};
use crate::topology::{Blueprint, Context, Topology};

/// Everything that is decided before an apply.
pub(super) struct Decision {
    /// What should exist.
    pub(super) objects: Vec<Object>,
    /// The way there.
    pub(super) plan: Plan,
    /// What must exist before an apply and does not, or not yet.
    pub(super) missing: Vec<Problem>,
}

/// What is decided from, besides what exists.
pub(super) struct Basis<'a, P: Topology> {
    /// The configuration, with defaults.
    pub(super) config: &'a P::Config,
    /// The configuration last applied in full, or what an import amounts to; `None` where nothing has been applied.
    pub(super) prior: Option<&'a P::Config>,
    /// Where the provider works.
    pub(super) scope: &'a Scope,
    /// What was looked up.
    pub(super) facts: &'a Facts,
}

/// What should exist.
struct Wanted {
    objects: Vec<Object>,
    /// What must exist before an apply and does not, or not yet.
    missing: Vec<Problem>,
}

impl<P: Topology> Basis<'_, P> {
    /// The one way from what exists and what is wanted to operations. `None` while an unknown input decides which
    /// objects there are. In the inventory it notes whose drift is ignored.
    pub(super) fn decide(
        &self,
        inventory: &mut Inventory,
        diagnostics: &mut Diagnostics,
    ) -> Result<Option<Decision>, ()> {
        let name = state::name::<P>(self.config);
        let Some(Wanted { objects, missing }) = self.wanted(&name, inventory, diagnostics)? else { return Ok(None) };
        let ignored = P::ignored_drift(self.config);
        diagnostics::warn_of_unmatched_patterns::<P>(&name, &ignored, &objects, diagnostics);
        ignore_drift(inventory, &ignored, &objects);
        match reconcile::plan(inventory, &objects) {
            Ok(plan) => Ok(Some(Decision { objects, plan, missing })),
            Err(circle) => {
                diagnostics::not_in_one_step::<P>(&name, &circle, diagnostics);
                Err(())
            }
        }
    }

    /// The blueprint, with its warnings and errors told.
    fn wanted(&self, name: &str, inventory: &Inventory, diagnostics: &mut Diagnostics) -> Result<Option<Wanted>, ()> {
        let &Basis { config, prior, scope, facts } = self;
        match P::blueprint(&Context { config, prior, existing: inventory, scope, facts }) {
            Ok(Blueprint::Decided { objects, warnings, missing }) => {
                for warning in warnings {
                    let summary = format!("{} {name}: {}", P::TYPE_NAME, warning.path);
                    let detail = format!("{} {}", warning.message, warning.hint);
                    diagnostics.attribute_warning(warning.path, summary, detail);
                }
                Ok(Some(Wanted { objects, missing }))
            }
            Ok(Blueprint::Undecided) => Ok(None),
            Err(problems) => {
                diagnostics.problems(problems);
                Err(())
            }
        }
    }
}
