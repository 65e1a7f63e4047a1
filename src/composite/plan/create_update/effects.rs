//! The effects of an update: warnings of those that people may notice, and errors for those that cannot succeed.

use crate::cloud::{Cloud, Dependents};
use crate::composite::decision::Decision;
use crate::composite::{dependents, diagnostics, replaced};
use crate::model::{Claim, Entry, GuardDutyObjects, Inventory, Object};
use crate::plugin::Diagnostics;
use crate::reconcile::{Action, Plan};
use crate::topology::{IgnoredDrift, Topology};

/// Warns of the effects of an update, and rejects updates that cannot succeed.
pub(super) async fn check_effects<P: Topology>(
    cloud: &dyn Cloud,
    name: &str,
    inventory: &Inventory,
    decision: &Decision,
    (guardduty, ignored): (GuardDutyObjects, &IgnoredDrift),
    diagnostics: &mut Diagnostics,
) {
    let plan = &decision.plan;
    let with_addresses = dependents::of_deleted_internet_gateway::<P>(cloud, inventory, plan).await;
    let mut in_subnets = dependents::in_deleted_subnets::<P>(cloud, inventory, plan).await;
    if in_subnets.unseen.is_empty() {
        in_subnets.unseen.clone_from(&with_addresses.unseen);
    }
    diagnostics::warn_of_deletions::<P>(name, plan, &in_subnets, guardduty, diagnostics);
    refuse_overlaps::<P>(name, plan, &in_subnets, guardduty, diagnostics);
    refuse_detachment::<P>(name, plan, &with_addresses, diagnostics);
    let with_lost_addresses = dependents::with_lost_addresses::<P>(cloud, inventory, plan).await;
    refuse_removal_of_addresses::<P>(name, plan, &with_lost_addresses, diagnostics);
    let cut_off = dependents::cut_off::<P>(cloud, inventory, plan).await;
    diagnostics::warn_of_cut_off_interfaces::<P>(name, plan, &cut_off, diagnostics);
    let root_id = inventory.at(P::KIND.root()).map_or("", |root| &root.id);
    let in_domains = dependents::in_deleted_domains::<P>(cloud, root_id, inventory, plan).await;
    // AWS deletes a domain with all its mappings.
    if !diagnostics::refuse_shared_domain_in_update::<P>(name, &in_domains, diagnostics) {
        diagnostics::warn_of_paths::<P>(name, &in_domains, diagnostics);
    }
    let of_stages = dependents::of_deleted_stages::<P>(cloud, root_id, inventory, plan).await;
    diagnostics::warn_of_mapped_stages::<P>(name, &of_stages, diagnostics);
    let of_groups = dependents::of_deleted_groups::<P>(cloud, inventory, plan).await;
    diagnostics::warn_of_deleted_filters::<P>(name, &of_groups, diagnostics);
    diagnostics::warn_of_left_settings::<P>(name, &replaced::in_update(plan, plan.deleted(), ignored), diagnostics);
    diagnostics::warn_of_outages::<P>(name, plan, diagnostics);
    diagnostics::warn_of_moves::<P>(name, plan, diagnostics);
    diagnostics::warn_of_users::<P>(name, (inventory, plan), diagnostics);
    diagnostics::warn_of_overwritten_drift::<P>(name, plan, ignored, diagnostics);
    refuse_another_root::<P>(inventory, decision, diagnostics);
}

/// Rejects an update that creates another root. Only a replacement, which Terraform shows in the plan, may do that.
fn refuse_another_root<P: Topology>(inventory: &Inventory, decision: &Decision, diagnostics: &mut Diagnostics) {
    let creates_root = decision.plan.ops.iter().any(|op| match &op.action {
        Action::Create(object) => object.key.slot == P::KIND.root(),
        _ => false,
    });
    if creates_root && inventory.at(P::KIND.root()).is_some() {
        diagnostics::would_lose_root::<P>(diagnostics);
    }
}

/// Rejects a plan that creates a subnet in the range of a subnet that it deletes and that is still in use. The apply
/// would wait in vain, because Terraform updates the dependents only afterwards. Objects of GuardDuty that the apply
/// removes are no obstacle.
fn refuse_overlaps<P: Topology>(
    name: &str,
    plan: &Plan,
    dependents: &Dependents,
    guardduty: GuardDutyObjects,
    diagnostics: &mut Diagnostics,
) {
    for old in plan.deleted() {
        let mut inside = dependents.holding(&old.id);
        inside.retain(|dependent| dependent.guardduty.is_empty() || guardduty == GuardDutyObjects::Keep);
        if inside.is_empty() {
            continue;
        }
        for new in plan.ops.iter().filter_map(|op| match &op.action {
            Action::Create(object) => Some(object),
            _ => None,
        }) {
            if let Some((new_block, old_block)) = overlap(new, old) {
                diagnostics::overlap::<P>(name, (new, &new_block), (old, &old_block), &inside, diagnostics);
            }
        }
    }
}

/// Rejects a plan that deletes an internet gateway while network interfaces in subnets that stay have a public address.
/// The apply would delete the routes and then wait in vain. In subnets that the plan deletes too, the gateway waits for
/// them.
fn refuse_detachment<P: Topology>(name: &str, plan: &Plan, dependents: &Dependents, diagnostics: &mut Diagnostics) {
    // One that is pending deletion stays pending, so that other changes are possible.
    let gateways = plan.deleted().filter(|entry| entry.spec().maps_public_addresses() && !entry.pending_deletion);
    for gateway in gateways {
        let is_deleted =
            |id: &String| plan.deleted().any(|entry| entry.spec().holds_network_interfaces() && entry.id == *id);
        let mut inside = dependents.holding(&gateway.id);
        inside.retain(|dependent| !dependent.holds.iter().any(is_deleted));
        if !inside.is_empty() {
            diagnostics::public_addresses::<P>(name, gateway, &inside, diagnostics);
        }
    }
}

/// Rejects a plan that takes an address range from a subnet while network interfaces have addresses of it. The apply
/// would delete the routes and then wait in vain.
fn refuse_removal_of_addresses<P: Topology>(
    name: &str,
    plan: &Plan,
    dependents: &Dependents,
    diagnostics: &mut Diagnostics,
) {
    for (id, key, ranges) in dependents::lost_ranges(plan) {
        let inside = dependents.holding(id);
        if !inside.is_empty() {
            diagnostics::addresses_in_use::<P>(name, (key, id, &ranges), &inside, diagnostics);
        }
    }
}

/// Returns the address ranges of two objects, the new one first, if they overlap.
fn overlap(new: &Object, old: &Entry) -> Option<(String, String)> {
    let held = old.spec().claims();
    new.spec.claims().iter().find_map(|wanted| {
        let Claim::Addresses(new_block) = wanted else { return None };
        held.iter().find_map(|held| match held {
            Claim::Addresses(old_block) if wanted.collides(held) => {
                Some((new_block.to_string(), old_block.to_string()))
            }
            _ => None,
        })
    })
}
