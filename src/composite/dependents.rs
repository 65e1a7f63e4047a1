//! What others keep in a topology: looked for where a plan deletes, and where AWS has refused to.

use crate::cloud::{Cause, Cloud, DependentScope, Dependents, DependentsByOp};
use crate::model::{Entry, Inventory, Spec};
use crate::reconcile::{Action, Outcome, Plan};
use crate::topology::Topology;

/// What others keep in all that is below a root.
pub(super) async fn within_root<P: Topology>(cloud: &dyn Cloud, root_id: &str, inventory: &Inventory) -> Dependents {
    match inventory.at(P::KIND.root()) {
        Some(_) => cloud.dependents(P::KIND, root_id, DependentScope::Root, &inventory.entries).await,
        None => Dependents::default(),
    }
}

/// What others have in the subnets that a plan deletes. Without such a subnet, nobody is asked.
pub(super) async fn in_deleted_subnets<P: Topology>(
    cloud: &dyn Cloud,
    inventory: &Inventory,
    plan: &Plan,
) -> Dependents {
    let ids = deleted(plan, Spec::holds_network_interfaces);
    in_deleted::<P>(cloud, inventory, &ids, DependentScope::Subnets(&ids)).await
}

/// The paths that others have mapped in the custom domains that a plan deletes. Without such a domain, nobody is asked.
pub(super) async fn in_deleted_domains<P: Topology>(
    cloud: &dyn Cloud,
    inventory: &Inventory,
    plan: &Plan,
) -> Dependents {
    let names = deleted(plan, Spec::holds_api_mappings);
    in_deleted::<P>(cloud, inventory, &names, DependentScope::Domains(&names)).await
}

fn deleted(plan: &Plan, is_meant: impl Fn(&Spec) -> bool) -> Vec<&str> {
    plan.deleted().filter(|entry| is_meant(entry.spec())).map(|entry| entry.id.as_str()).collect()
}

async fn in_deleted<P: Topology>(
    cloud: &dyn Cloud,
    inventory: &Inventory,
    ids: &[&str],
    within: DependentScope<'_>,
) -> Dependents {
    match inventory.at(P::KIND.root()) {
        Some(root) if !ids.is_empty() => cloud.dependents(P::KIND, &root.id, within, &inventory.entries).await,
        _ => Dependents::default(),
    }
}

/// What keeps the objects that AWS would not delete because something uses them. After a stop nobody is asked.
pub(super) async fn of_failures<P: Topology>(
    cloud: &dyn Cloud,
    inventory: &Inventory,
    plan: &Plan,
    outcome: &Outcome,
) -> DependentsByOp {
    let in_use = outcome.failed.iter().filter(|(_, failure)| failure.cause == Cause::InUse);
    let kept: Vec<(usize, &Entry)> = in_use
        .filter_map(|(position, _)| match &plan.ops[*position].action {
            Action::Delete { entry, .. } => Some((*position, entry)),
            // A range of addresses stays as long as interfaces have some of it.
            Action::Update { id, to, .. } if to.spec.holds_network_interfaces() => {
                inventory.present().find(|entry| entry.id == *id).map(|entry| (*position, entry))
            }
            _ => None,
        })
        .collect();
    let root = inventory.at(P::KIND.root());
    let Some(root) = root.filter(|_| !kept.is_empty() && !outcome.stopped && !P::KIND.takes_foreign_objects_along())
    else {
        return DependentsByOp::new();
    };
    let ids: Vec<&str> = kept.iter().map(|(_, entry)| entry.id.as_str()).collect();
    let only_subnets = kept.iter().all(|(_, entry)| entry.spec().holds_network_interfaces());
    let within = if only_subnets { DependentScope::Subnets(&ids) } else { DependentScope::Root };
    let found = cloud.dependents(P::KIND, &root.id, within, &inventory.entries).await;
    let of_object = |entry: &Entry| match entry.id == root.id {
        true => found.clone(),
        false => Dependents { objects: found.holding(&entry.id), unseen: found.unseen.clone() },
    };
    kept.into_iter().map(|(position, entry)| (position, of_object(entry))).collect()
}
