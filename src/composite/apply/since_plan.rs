//! What an apply would lose of changes outside Terraform that were made after its plan. A plan refuses the same.

use crate::cloud::Cloud;
use crate::composite::private_state::Private;
use crate::composite::{dependents, diagnostics, refresh, replaced};
use crate::model::{Entry, Inventory};
use crate::plugin::Diagnostics;
use crate::reconcile::Plan;
use crate::topology::Topology;

/// Stops an apply before its first change if others have mapped their APIs to a domain that it deletes, or if an object
/// that it replaces has got settings that protect what it serves and that the new one lacks. Reads the root again only
/// if the plan replaces an object that can have such settings.
pub(super) async fn refuse_changes<P: Topology>(
    cloud: &dyn Cloud,
    name: &str,
    config: &P::Config,
    (inventory, plan): (&Inventory, &Plan),
    diagnostics: &mut Diagnostics,
) -> Option<()> {
    let root_id = inventory.at(P::KIND.root()).map_or("", |root| &root.id);
    let found = dependents::in_deleted_domains::<P>(cloud, root_id, inventory, plan).await;
    if diagnostics::refuse_shared_domain_in_update::<P>(name, &found, diagnostics) {
        return None;
    }
    if !replaced::replaces_protected(plan) {
        return Some(());
    }
    let ignored = P::ignored_drift(config);
    match refresh::refresh::<P>(cloud, root_id, Some(Private::of(inventory.clone())), &ignored).await {
        Ok(seen) => {
            let seen = seen.unwrap_or_default().inventory;
            let is_deleted =
                |entry: &&Entry| plan.deleted().any(|deleted| deleted.kind_and_id() == entry.kind_and_id());
            let deleted = seen.current().filter(is_deleted);
            (!replaced::refuse_update::<P>(name, plan, deleted, &ignored, diagnostics)).then_some(())
        }
        Err(failure) => {
            diagnostics::failed(format!("Could not apply {}", P::TYPE_NAME), &failure, diagnostics);
            None
        }
    }
}
