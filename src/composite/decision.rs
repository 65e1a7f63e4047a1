//! The decision from state and configuration, which plan and apply make in the same way. Pure.

use super::observe::{ignore_drift, require_missing};
use super::protected::Protection;
use super::renamed::{self, Renamed};
use super::{diagnostics, replaced, state, undeletable, used};
use crate::model::{Facts, Inventory, Object, Scope};
use crate::plugin::{Diagnostics, Problem};
use crate::reconcile::{self, Plan};
use crate::topology::{Blueprint, Context, Topology};

/// The blueprint, and the plan that applies it.
pub(super) struct Decision {
    /// The objects that the configuration requires.
    pub(super) objects: Vec<Object>,
    /// The operations that create, update and delete them.
    pub(super) plan: Plan,
    /// References to objects that must exist before an apply and are missing.
    pub(super) missing: Vec<Problem>,
    /// The entries that continue others, whose objects this decision has moved.
    pub(super) renamed: Vec<Renamed>,
}

impl Decision {
    /// Whether the configuration requires an object with a slot.
    pub(super) fn requires(&self, slot: &str) -> bool {
        self.objects.iter().any(|object| object.key.slot == slot)
    }
}

/// The inputs of a decision besides the inventory.
pub(super) struct Basis<'a, P: Topology> {
    /// The configuration, with defaults.
    pub(super) config: &'a P::Config,
    /// The configuration last applied in full, or the one that an import produced; `None` before the first apply.
    pub(super) prior: Option<&'a P::Config>,
    /// The partition, region and account of the provider, and its tag settings.
    pub(super) scope: &'a Scope,
    /// The results of the lookups.
    pub(super) facts: &'a Facts,
    /// The objects that an update must not delete.
    pub(super) protection: Protection,
    /// Whether entries may continue others. An apply does nothing that its plan has not shown.
    pub(super) may_rename: bool,
}

/// The objects that the configuration requires.
struct Wanted {
    objects: Vec<Object>,
    /// References to objects that must exist before an apply and are missing.
    missing: Vec<Problem>,
}

impl<P: Topology> Basis<'_, P> {
    /// The input of the blueprint.
    pub(super) fn context<'a>(&'a self, existing: &'a Inventory) -> Context<'a, P::Config> {
        let &Basis { config, prior, scope, facts, .. } = self;
        Context { config, prior, existing, scope, facts }
    }

    /// Compares the blueprint with the inventory. Returns `None` while the set of objects depends on an unknown input.
    /// Moves the objects of the inventory whose entries have other keys in the configuration. Marks the entries whose
    /// drift is ignored, and replans while an operation needs one that is missing.
    pub(super) fn decide(
        &self,
        inventory: &mut Inventory,
        diagnostics: &mut Diagnostics,
    ) -> Result<Option<Decision>, ()> {
        let name = state::name::<P>(self.config);
        let Some((Wanted { objects, missing }, renamed)) = self.renamed(&name, inventory, diagnostics)? else {
            return Ok(None);
        };
        let ignored = P::ignored_drift(self.config);
        diagnostics::warn_of_unmatched_patterns::<P>(&name, &ignored, &objects, diagnostics);
        ignore_drift(inventory, &ignored, &objects);
        let mut plan = reconcile::plan(inventory, &objects);
        while plan.as_ref().is_ok_and(|plan| require_missing(inventory, plan)) {
            plan = reconcile::plan(inventory, &objects);
        }
        match plan {
            Ok(plan) if diagnostics::refuse_contested::<P>(&name, &plan, diagnostics) => Err(()),
            Ok(plan) if self.protection.refuse_update::<P>(&name, &plan, diagnostics) => Err(()),
            Ok(_) if self.refuse_changes_of_used(inventory, &objects, diagnostics) => Err(()),
            Ok(plan) if undeletable::refuse_update::<P>(&name, &plan, diagnostics) => Err(()),
            Ok(plan) if replaced::refuse_update::<P>(&name, &plan, plan.deleted(), &ignored, diagnostics) => Err(()),
            Ok(plan) => Ok(Some(Decision { objects, plan, missing, renamed })),
            Err(cycle) => {
                diagnostics::not_in_one_step::<P>(&name, &cycle, diagnostics);
                Err(())
            }
        }
    }

    /// Returns the blueprint for an inventory whose objects have the slots of the entries that require them.
    fn renamed(
        &self,
        name: &str,
        inventory: &mut Inventory,
        diagnostics: &mut Diagnostics,
    ) -> Result<Option<(Wanted, Vec<Renamed>)>, ()> {
        let mut reported = Diagnostics::default();
        let wanted = self.wanted(name, inventory, &mut reported);
        if let Ok(Some(Wanted { objects, .. })) = &wanted {
            let found = renamed::rename(inventory, objects, |_| self.may_rename);
            let found = found.map_err(|error| diagnostics::not_renamed::<P>(name, &error, diagnostics))?;
            if !found.is_empty() && !self.may_rename {
                diagnostics::found_renamed::<P>(name, &renamed::sentences(&found), diagnostics);
                return Err(());
            }
            if !found.is_empty() {
                // The blueprint keeps what exists in a slot, such as the name of an authorizer.
                let wanted = self.wanted(name, inventory, diagnostics)?;
                return Ok(wanted.map(|wanted| (wanted, found)));
            }
        }
        diagnostics.0.extend(reported.0);
        Ok(wanted?.map(|wanted| (wanted, Vec::new())))
    }

    /// Reports the changes of objects that the topology uses and does not own.
    fn refuse_changes_of_used(&self, inventory: &Inventory, objects: &[Object], diagnostics: &mut Diagnostics) -> bool {
        let problems = used::changed::<P>(self.config, self.scope, inventory, objects);
        let is_refused = !problems.is_empty();
        diagnostics.problems(problems);
        is_refused
    }

    /// Returns the blueprint, and reports its warnings and errors.
    fn wanted(&self, name: &str, inventory: &Inventory, diagnostics: &mut Diagnostics) -> Result<Option<Wanted>, ()> {
        match P::blueprint(&self.context(inventory)) {
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
