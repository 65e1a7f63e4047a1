//! The planned state while unknown inputs leave the set of objects open. Pure.

use std::collections::BTreeMap;

use super::planned_state::Announcement;
use crate::composite::decision::Basis;
use crate::composite::private_state::Private;
use crate::composite::protected::Protection;
use crate::composite::takeover;
use crate::model::Inventory;
use crate::plugin::{Diagnostics, Value};
use crate::topology::{Context, Topology};

/// The attributes that describe an apply. Its plan, for which all inputs are known, may leave them unknown.
const OPEN: [&str; 3] = ["drift", "pending_deletion", "unmanaged_objects"];

impl<P: Topology> Announcement<'_, P> {
    /// Returns what the plans for all values of the unknown inputs have in common.
    pub(super) fn undecided(&self, basis: &Basis<'_, P>, private: &Private) -> Value {
        match self.in_common(basis, private) {
            Some(mut planned) => {
                // Other values may leave other objects in AWS.
                planned.set("unmanaged_objects", Value::Unknown);
                let &Basis { config, prior, scope, facts, .. } = basis;
                if P::may_release(&Context { config, prior, existing: &private.inventory, scope, facts }) {
                    planned.set("pending_deletion", Value::Unknown);
                }
                planned
            }
            None => self.of_root(&private.inventory),
        }
    }

    /// Returns what the plans for representative values have in common. `None` if there is no such plan, or if one of
    /// them takes over objects, which requires calls to AWS.
    fn in_common(&self, basis: &Basis<'_, P>, private: &Private) -> Option<Value> {
        let &Basis { config, prior, scope, facts, .. } = basis;
        let mut common: Option<Value> = None;
        for config in P::alternatives(&Context { config, prior, existing: &private.inventory, scope, facts }) {
            let basis =
                Basis::<P> { config: &config, prior, scope, facts, protection: Protection::none(), may_rename: true };
            let mut private = private.clone();
            let planned = match takeover::decide(&basis, &mut private, &mut Diagnostics::default()) {
                Ok((Some(decision), taken)) if taken.is_empty() => {
                    self.decided(&private, &decision, false, &BTreeMap::new())
                }
                // The plan for this value fails.
                Err(()) => continue,
                Ok(_) => return None,
            };
            common = Some(match common {
                Some(common) => common.in_common_with(&planned),
                None => planned,
            });
        }
        common
    }

    /// Returns the planned state with only those outputs that stay the same as long as the root exists.
    pub(super) fn of_root(&self, existing: &Inventory) -> Value {
        let mut certain = existing.clone();
        certain.entries.retain(|entry| !entry.is_missing());
        let mut planned = open(self.base(None, &certain.ids()));
        planned.set("aws_objects", Value::Unknown);
        self.leave_open(&mut planned);
        planned
    }

    /// Sets the outputs of a root that no plan changes to their prior values.
    pub(super) fn keep_root(&self, planned: &mut Value) {
        for name in P::ROOT_OUTPUTS {
            let prior = self.prior.get(name);
            if planned.get(name).is_unknown() && !prior.is_null() {
                planned.set(name, prior.clone());
            }
        }
    }
}

/// Returns a planned state that allows any result of an apply.
pub(super) fn open(mut planned: Value) -> Value {
    for name in OPEN {
        planned.set(name, Value::Unknown);
    }
    planned
}
