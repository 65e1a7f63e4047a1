//! Unmanaged objects in a topology. They are listed when a plan deletes objects, and when AWS rejects a deletion.

use std::collections::BTreeMap;

use ipnet::IpNet;

use crate::cloud::{Cause, Cloud, DependentScope, Dependents, DependentsByOp, Extent, Failure};
use crate::model::{Claim, Entry, GuardDutyObjects, Inventory, Key, Spec, WhenInUse};
use crate::reconcile::{Action, Outcome, Plan};
use crate::topology::Topology;

/// Lists the unmanaged objects in the whole topology, and those that block its destroy.
pub(super) async fn within_root<P: Topology>(cloud: &dyn Cloud, root_id: &str, inventory: &Inventory) -> Dependents {
    if inventory.at(P::KIND.root()).is_none() {
        return Dependents::default();
    }
    let mut found = cloud.dependents(P::KIND, root_id, DependentScope::Root, &inventory.entries).await;
    if P::KIND.takes_foreign_objects_along() {
        found.extend(of_destroy::<P>(cloud, inventory, GuardDutyObjects::Keep).await);
    }
    found
}

/// Lists the unmanaged objects in the subnets that a plan deletes. Without such a subnet, it calls nothing.
pub(super) async fn in_deleted_subnets<P: Topology>(
    cloud: &dyn Cloud,
    inventory: &Inventory,
    plan: &Plan,
) -> Dependents {
    let ids = deleted_ids(plan, |spec| spec.holds_network_interfaces());
    in_root_if::<P>(!ids.is_empty(), cloud, inventory, DependentScope::Subnets(&ids)).await
}

/// Lists the unmanaged network interfaces if the plan deletes an internet gateway. Those with a public address hold the
/// gateway. Otherwise, it calls nothing.
pub(super) async fn of_deleted_internet_gateway<P: Topology>(
    cloud: &dyn Cloud,
    inventory: &Inventory,
    plan: &Plan,
) -> Dependents {
    let deletes_gateway = plan.deleted().any(|entry| entry.spec().maps_public_addresses());
    in_root_if::<P>(deletes_gateway, cloud, inventory, DependentScope::NetworkInterfaces).await
}

/// Lists the network interfaces with addresses in the ranges that a plan takes from subnets. AWS does not remove a
/// range while an interface has an address of it. Without such a subnet, it calls nothing.
pub(super) async fn with_lost_addresses<P: Topology>(
    cloud: &dyn Cloud,
    inventory: &Inventory,
    plan: &Plan,
) -> Dependents {
    let (mut ids, mut ranges) = (Vec::new(), Vec::new());
    for (id, _, lost) in lost_ranges(plan) {
        ids.push(id);
        ranges.extend(lost);
    }
    in_root_if::<P>(!ids.is_empty(), cloud, inventory, DependentScope::Addresses(&ids, &ranges)).await
}

/// The subnets that lose address ranges by a plan, by id and key, with these ranges.
pub(super) fn lost_ranges(plan: &Plan) -> impl Iterator<Item = (&str, &Key, Vec<IpNet>)> {
    plan.ops.iter().filter_map(|op| {
        let Action::Update { id, before, to, .. } = &op.action else { return None };
        let kept = to.spec.claims();
        let lost = before.claims().into_iter().filter(|claim| !kept.contains(claim));
        let ranges = lost.filter_map(|claim| if let Claim::Addresses(range) = claim { Some(range) } else { None });
        let ranges: Vec<IpNet> = ranges.collect();
        (!ranges.is_empty()).then_some((id.as_str(), &to.key, ranges))
    })
}

/// Lists the network interfaces that lose all traffic by a plan. Without such a change, it calls nothing.
pub(super) async fn cut_off<P: Topology>(cloud: &dyn Cloud, inventory: &Inventory, plan: &Plan) -> Dependents {
    in_root_if::<P>(plan.cut_off().next().is_some(), cloud, inventory, DependentScope::DefaultSecurityGroup).await
}

/// Lists the unmanaged API mappings of the custom domains that a plan deletes. Without such a domain, it calls nothing.
/// The root may be deleted already.
pub(super) async fn in_deleted_domains<P: Topology>(
    cloud: &dyn Cloud,
    root_id: &str,
    inventory: &Inventory,
    plan: &Plan,
) -> Dependents {
    let names = deleted_ids(plan, |spec| spec.holds_api_mappings());
    if names.is_empty() {
        return Dependents::default();
    }
    cloud.dependents(P::KIND, root_id, DependentScope::Domains(&names), &inventory.entries).await
}

/// Lists the mappings on unmanaged domains to the stages that a plan deletes. AWS does not delete a stage that has one.
/// Without such a stage, it calls nothing.
pub(super) async fn of_deleted_stages<P: Topology>(
    cloud: &dyn Cloud,
    root_id: &str,
    inventory: &Inventory,
    plan: &Plan,
) -> Dependents {
    let stages: Vec<&Entry> = plan.deleted().filter(|entry| entry.spec().is_deployed_by_aws()).collect();
    if stages.is_empty() {
        return Dependents::default();
    }
    let within = DependentScope::Objects(&stages, Extent::Limited);
    cloud.dependents(P::KIND, root_id, within, &inventory.entries).await
}

/// Lists the unmanaged subscription filters of the log groups that a plan deletes. Without such a group, it calls
/// nothing.
pub(super) async fn of_deleted_groups<P: Topology>(
    cloud: &dyn Cloud,
    inventory: &Inventory,
    plan: &Plan,
) -> Dependents {
    let names = plan.deleted().filter(|entry| entry.takes_filters_along()).map(|entry| entry.id.as_str());
    let names: Vec<&str> = names.collect();
    in_root_if::<P>(!names.is_empty(), cloud, inventory, DependentScope::LogGroups(&names)).await
}

/// Lists the unmanaged API mappings that block a destroy: of other APIs on its domains, and of its API on unmanaged
/// domains.
pub(super) async fn mappings<P: Topology>(
    cloud: &dyn Cloud,
    root_id: &str,
    inventory: &Inventory,
    plan: &Plan,
) -> Dependents {
    let mut found = in_deleted_domains::<P>(cloud, root_id, inventory, plan).await;
    let of_stages = of_deleted_stages::<P>(cloud, root_id, inventory, plan).await;
    found.objects.retain(|mapping| !mapping.holds.is_empty());
    found.extend(of_stages);
    found
}

/// Returns, by id, why subnets of an interrupted run are not taken over: something unmanaged is in them. Without such a
/// subnet, it calls nothing.
pub(super) async fn of_taken_over<P: Topology>(
    cloud: &dyn Cloud,
    inventory: &Inventory,
    taken: &BTreeMap<Key, String>,
) -> Result<BTreeMap<String, String>, Failure> {
    let taken = inventory.present().filter(|entry| taken.get(&entry.key) == Some(&entry.id));
    let subnets: Vec<&str> =
        taken.filter(|entry| entry.spec().holds_network_interfaces()).map(|entry| entry.id.as_str()).collect();
    let found = in_root_if::<P>(!subnets.is_empty(), cloud, inventory, DependentScope::Subnets(&subnets)).await;
    // A role may lack the permission for ever, and a plan must be possible then.
    let (denied, failed): (Vec<_>, Vec<_>) = found.unseen.iter().partition(|it| it.cause == Cause::Denied);
    if let Some(failure) = failed.first() {
        return Err((*failure).clone());
    }
    let reason = |id: &str| {
        if let Some(failure) = denied.first() {
            return Some(format!("the role may not list what is in it ({})", failure.action));
        }
        let inside = found.holding(id);
        let inside = inside.iter().find(|dependent| dependent.guardduty.is_empty())?;
        Some(format!("{} {}, which is not managed, is in it", inside.kind, inside.id))
    };
    Ok(subnets.iter().filter_map(|id| Some((id.to_string(), reason(id)?))).collect())
}

fn deleted_ids(plan: &Plan, matches: impl Fn(&Spec) -> bool) -> Vec<&str> {
    plan.deleted().filter(|entry| matches(entry.spec())).map(|entry| entry.id.as_str()).collect()
}

/// Lists unmanaged objects in a part of an existing root, if that is necessary.
async fn in_root_if<P: Topology>(
    is_necessary: bool,
    cloud: &dyn Cloud,
    inventory: &Inventory,
    within: DependentScope<'_>,
) -> Dependents {
    match inventory.at(P::KIND.root()) {
        Some(root) if is_necessary => cloud.dependents(P::KIND, &root.id, within, &inventory.entries).await,
        _ => Dependents::default(),
    }
}

/// Records by which unmanaged objects the pending deletions are used, as far as they can be listed. Without a pending
/// deletion that users can block, it calls nothing.
pub(super) async fn of_pending<P: Topology>(cloud: &dyn Cloud, inventory: &mut Inventory) {
    let is_blocked = |entry: &&Entry| {
        let may_wait = entry.spec().when_in_use() == WhenInUse::Deferred && entry.undeployed_since().is_none();
        entry.pending_deletion && may_wait
    };
    let pending: Vec<&Entry> = inventory.present().filter(is_blocked).collect();
    let within = DependentScope::Objects(&pending, Extent::Limited);
    let found = in_root_if::<P>(!pending.is_empty(), cloud, inventory, within).await;
    let users = |entry: &Entry| -> Vec<String> {
        let successor = inventory.unready_successor(entry);
        let successor = successor.map(|it| format!("{} {}, which has to be accepted", it.spec().kind(), it.id));
        // Those of GuardDuty may be deleted by the next update.
        let users = found.holding(&entry.id).into_iter().filter(|user| user.guardduty.is_empty());
        let users = users.map(|user| format!("{} {}", user.kind, user.id));
        users.chain(successor).filter(|_| entry.pending_deletion).collect()
    };
    let all: Vec<Vec<String>> = inventory.entries.iter().map(users).collect();
    for (entry, users) in inventory.entries.iter_mut().zip(all) {
        entry.users = users;
    }
}

/// Lists the unmanaged objects that block a destroy: AWS rejects the deletion of an object that they use or are in, and
/// the destroy deletes none of them. `guardduty` is what it does with those of GuardDuty. API mappings are not among
/// them, because a destroy lists them by itself ([`mappings`]).
pub(super) async fn of_destroy<P: Topology>(
    cloud: &dyn Cloud,
    inventory: &Inventory,
    guardduty: GuardDutyObjects,
) -> Dependents {
    let is_blocked =
        |entry: &&Entry| entry.spec().when_in_use() == WhenInUse::Deferred && !entry.spec().is_deployed_by_aws();
    let used: Vec<&Entry> = inventory.present().filter(is_blocked).collect();
    let mut found = match P::KIND.takes_foreign_objects_along() {
        true if used.is_empty() => Dependents::default(),
        // An object outside of the root can be in use after something else has deleted the root.
        true => {
            let root_id = inventory.at(P::KIND.root()).map(|root| root.id.as_str()).unwrap_or_default();
            let within = DependentScope::Objects(&used, Extent::Complete);
            cloud.dependents(P::KIND, root_id, within, &inventory.entries).await
        }
        false => in_root_if::<P>(true, cloud, inventory, DependentScope::Root).await,
    };
    found.objects.retain(|object| object.guardduty.is_empty() || guardduty != GuardDutyObjects::Delete);
    found
}

/// Lists the dependents of the objects that AWS did not delete because they were in use. After a stop, it calls
/// nothing.
pub(super) async fn of_failures<P: Topology>(
    cloud: &dyn Cloud,
    inventory: &Inventory,
    plan: &Plan,
    outcome: &Outcome,
) -> DependentsByOp {
    let in_use = outcome.failed.iter().filter(|(_, failure)| failure.cause == Cause::InUse);
    let entries: Vec<(usize, &Entry)> = in_use
        .filter_map(|(position, _)| match &plan.ops[*position].action {
            Action::Delete { entry, .. } => Some((*position, entry)),
            // AWS rejects the removal of an address range while network interfaces use addresses from it.
            Action::Update { id, to, .. } if to.spec.holds_network_interfaces() => {
                inventory.present().find(|entry| entry.id == *id).map(|entry| (*position, entry))
            }
            _ => None,
        })
        .collect();
    let root = inventory.at(P::KIND.root());
    let Some(root) = root.filter(|_| !entries.is_empty() && !outcome.stopped) else { return DependentsByOp::new() };
    let used: Vec<&Entry> = entries.iter().map(|(_, entry)| *entry).collect();
    let within = DependentScope::Objects(&used, Extent::Limited);
    let found = cloud.dependents(P::KIND, &root.id, within, &inventory.entries).await;
    let of_object = |entry: &Entry| match entry.id == root.id {
        true => found.clone(),
        false => Dependents { objects: found.holding(&entry.id), unseen: found.unseen.clone() },
    };
    // Of most objects of an API, the users are not searched for.
    let is_told = |found: &Dependents| {
        !P::KIND.takes_foreign_objects_along() || !found.objects.is_empty() || !found.unseen.is_empty()
    };
    let found = entries.into_iter().map(|(position, entry)| (position, of_object(entry)));
    found.filter(|(_, found)| is_told(found)).collect()
}
