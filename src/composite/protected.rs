//! The objects that `protected_objects` protects from deletion. Pure. Plan and apply use the same functions.

use super::diagnostics::{self, Protected};
use super::private_state::Private;
use crate::model::{Entry, Inventory, Object, Scope};
use crate::plugin::{Diagnostics, PlanRequest, Value};
use crate::reconcile::{Action, Plan};
use crate::topology::{ProtectedObjects, Topology};

/// The protection of the objects of one root.
pub(super) struct Protection {
    patterns: ProtectedObjects,
    /// The patterns of the state. They hold for an object whose entry got another key together with its pattern.
    before: ProtectedObjects,
    /// Whether nothing is protected, whatever the patterns are: the provider block allows it, or no apply has completed
    /// the creation of the root. Terraform replaces such a root, and its objects are of no use yet.
    is_lifted: bool,
}

impl Protection {
    /// The protection in an update to these attributes, which may contain unknown values. `prior` is the state.
    pub(super) fn of_update(attributes: &Value, prior: &Value, private: &Private, scope: &Scope) -> Protection {
        let root_id = prior.get("id").as_str().unwrap_or_default();
        Protection {
            patterns: ProtectedObjects::of(attributes),
            before: ProtectedObjects::of(prior),
            is_lifted: is_lifted(root_id, scope) || private.in_creation,
        }
    }

    /// No protection, for a decision that is not carried out.
    pub(super) fn none() -> Protection {
        Protection { patterns: ProtectedObjects::default(), before: ProtectedObjects::default(), is_lifted: true }
    }

    /// Adds an error if the plan of an update deletes protected objects. Returns whether it does.
    pub(super) fn refuse_update<P: Topology>(&self, name: &str, plan: &Plan, diagnostics: &mut Diagnostics) -> bool {
        let deleted = plan.ops.iter().filter_map(|op| match &op.action {
            // A plan that would delete an object which it has to adopt is refused for that reason.
            Action::Delete { entry, is_kept: false, .. } if !entry.stays_when_deleted() && !entry.is_foreign() => {
                Some(entry)
            }
            _ => None,
        });
        let found = self.protected(deleted, |entry| self.pattern_before(entry, plan));
        if !found.is_empty() {
            diagnostics::protected_in_update::<P>(name, &found, diagnostics);
        }
        !found.is_empty()
    }

    /// The pattern that protects an object in state, if the plan creates a protected one under another key in its
    /// place.
    fn pattern_before(&self, entry: &Entry, plan: &Plan) -> Option<&str> {
        let identity = entry.applied.identity();
        let is_successor = |object: &Object| {
            object.spec.kind() == entry.applied.kind()
                && identity.name_in(&object.key.slot).is_some()
                && self.patterns.pattern_for(&object.key.slot).is_some()
        };
        let mut created = plan.ops.iter().filter_map(|op| match &op.action {
            Action::Create(object) => Some(object),
            Action::Update { .. } | Action::Delete { .. } => None,
        });
        identity.name_in(&entry.key.slot)?;
        created.any(is_successor).then(|| entry.slots().find_map(|slot| self.before.pattern_for(slot)))?
    }

    fn protected<'a>(
        &'a self,
        deleted: impl Iterator<Item = &'a Entry>,
        before: impl Fn(&Entry) -> Option<&'a str>,
    ) -> Vec<Protected<'a>> {
        // A pending deletion has passed this check in the plan that removed the object from the configuration.
        let exists = |entry: &&Entry| !entry.is_missing() && !entry.pending_deletion && !entry.has_failed();
        let deleted = deleted.filter(|entry| !self.is_lifted && exists(entry));
        let pattern =
            |entry: &Entry| entry.slots().find_map(|slot| self.patterns.pattern_for(slot)).or_else(|| before(entry));
        deleted.filter_map(|entry| Some((entry, pattern(entry)?))).collect()
    }

    fn in_root<'a>(&'a self, inventory: &'a Inventory) -> Vec<Protected<'a>> {
        self.protected(inventory.entries.iter(), |_| None)
    }
}

/// Adds an error if a plan replaces a root with protected objects. Returns whether it does. `private` contains the
/// existing objects, and `replacing` is whether the plan replaces them.
pub(super) fn refuse_replacement<P: Topology>(
    request: &PlanRequest,
    private: &Private,
    replacing: bool,
    scope: &Scope,
    diagnostics: &mut Diagnostics,
) -> bool {
    // For `-replace`, Terraform plans an update, and then a create with the private state of the former.
    let forced = Private::decode(&request.prior_private).filter(|_| request.prior.is_null());
    let (old, patterns) = match &forced {
        Some(old) => (old, old.protected.clone()),
        None if replacing => (private, ProtectedObjects::of(&request.prior)),
        None => return false,
    };
    let root = old.inventory.at(P::KIND.root()).map(|root| root.id.as_str());
    let Some(root_id) = root.or(request.prior.get("id").as_str()) else { return false };
    let protection = Protection {
        patterns: patterns.and(&ProtectedObjects::of(&request.config)),
        before: ProtectedObjects::default(),
        is_lifted: is_lifted(root_id, scope) || old.in_creation,
    };
    let found = protection.in_root(&old.inventory);
    if !found.is_empty() {
        diagnostics::protected_in_replacement::<P>(root_id, &found, diagnostics);
    }
    !found.is_empty()
}

/// Adds an error if the objects of a state that is to be destroyed include protected ones. Returns whether they do.
pub(super) fn refuse_destroy<P: Topology>(
    state: &Value,
    private: &Private,
    scope: &Scope,
    diagnostics: &mut Diagnostics,
) -> bool {
    let root_id = state.get("id").as_str().unwrap_or_default();
    let protection = Protection {
        patterns: ProtectedObjects::of(state),
        before: ProtectedObjects::default(),
        is_lifted: is_lifted(root_id, scope) || private.in_creation,
    };
    let found = protection.in_root(&private.inventory);
    if !found.is_empty() {
        diagnostics::protected_in_destroy::<P>(root_id, &found, diagnostics);
    }
    !found.is_empty()
}

fn is_lifted(root_id: &str, scope: &Scope) -> bool {
    scope.allow_protected_deletion.contains(root_id)
}
