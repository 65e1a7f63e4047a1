//! What an entry leaves open and other inputs decide, and what the plan says when it changes.

use super::InterfaceEndpoint;
use crate::model::{
    self, ENDPOINT_ADDRESSES, Entry, Input, Inventory, Key, OccupiedAddresses, Ref, Spec, Subnet, VpcIpv6Block,
};
use crate::plugin::{AttributePath, Problem};
use crate::topology::Context;
use crate::topology::four_tier_vpc::blueprint::Draft;
use crate::topology::four_tier_vpc::config::Config;
use crate::topology::four_tier_vpc::ipv6::tiers;

const IPV4: &str = "ipv4";

/// The input that is off, and without which AWS accepts no private DNS names.
fn missing_for_names(config: &Config) -> Option<&'static str> {
    let inputs =
        [("enable_dns_support", &config.enable_dns_support), ("enable_dns_hostnames", &config.enable_dns_hostnames)];
    inputs.into_iter().find(|(_, value)| **value == Input::Known(false)).map(|(name, _)| name)
}

/// Whether AWS accepts private DNS names.
pub(super) fn may_have_names(config: &Config) -> Input<bool> {
    let is_known = config.enable_dns_support.is_known() && config.enable_dns_hostnames.is_known();
    match missing_for_names(config) {
        Some(_) => Input::Known(false),
        None if is_known => Input::Known(true),
        None => Input::Unknown,
    }
}

/// The existing endpoint with this key, and its last applied spec.
fn existing<'a>(inventory: &'a Inventory, key: &Key) -> Option<(&'a Entry, &'a model::InterfaceEndpoint)> {
    let entry = inventory.at(&key.slot).filter(|entry| entry.key == *key)?;
    Some((entry, model::InterfaceEndpoint::of(&entry.applied)?))
}

fn is_with_ipv6(kind: &str) -> bool {
    kind != IPV4
}

/// Whether the existing endpoint has IPv6 addresses, which may be unmanaged by now.
fn has_ipv6_now(inventory: &Inventory, key: &Key) -> bool {
    existing(inventory, key).is_some_and(|(entry, applied)| {
        let applied = || applied.settings.ip_address_type.known()?.as_ref();
        entry.learned.get(ENDPOINT_ADDRESSES).or_else(applied).is_some_and(|kind| is_with_ipv6(kind))
    })
}

/// The addresses that an endpoint gets; `None` if they are not managed. In a tier without IPv6, an endpoint cannot keep
/// IPv6 addresses, although no input names others.
pub(super) fn address_type(
    context: &Context<'_, Config>,
    entry: &InterfaceEndpoint,
    key: &Key,
) -> Input<Option<String>> {
    let wanted = &entry.settings.ip_address_type;
    let may_have_ipv6 = entry.tier().is_none_or(|tier| tiers::may_have_blocks(context.config, tier));
    let was_managed =
        || existing(context.existing, key).is_some_and(|(_, it)| it.settings.ip_address_type != Input::Known(None));
    match wanted {
        Input::Known(None) if !may_have_ipv6 && (has_ipv6_now(context.existing, key) || was_managed()) => {
            Input::Known(Some(IPV4.to_string()))
        }
        wanted => wanted.clone(),
    }
}

/// Whether an endpoint with this spec has IPv6 addresses, which its group has to allow.
pub(super) fn has_ipv6(inventory: &Inventory, key: &Key, spec: &model::InterfaceEndpoint) -> Input<bool> {
    spec.settings.ip_address_type.clone().map(|kind| match kind {
        Some(kind) => is_with_ipv6(&kind),
        None => has_ipv6_now(inventory, key),
    })
}

/// The problem that a subnet gets another IPv6 block while the endpoint has an address in its old one, which AWS does
/// not take then.
pub(super) fn moved_block(path: &AttributePath, key: &Key, draft: &Draft<'_>) -> Option<Problem> {
    let inventory = draft.context.existing;
    let (_, applied) = existing(inventory, key).filter(|_| has_ipv6_now(inventory, key))?;
    let block = |spec: &Spec| Subnet::of(spec).map(|subnet| subnet.ipv6_cidr_block.clone());
    let is_moved = |subnet: &Key| {
        let before = inventory.current().find(|entry| entry.key == *subnet).and_then(|entry| block(entry.spec()));
        let after = draft.objects.iter().find(|object| object.key == *subnet).and_then(|object| block(&object.spec));
        let Some(Input::Known(Some(before))) = before else { return false };
        match after {
            Some(Input::Known(Some(after))) => after != before,
            // Another range. Without any, the run that has added the one of the block was interrupted.
            Some(Input::Unknown) => inventory.current().any(|entry| VpcIpv6Block::of(entry.spec()).is_some()),
            Some(Input::Known(None)) | None => false,
        }
    };
    let keys = applied.subnets.iter().filter_map(|subnet| match subnet {
        Ref::Key(key) => Some(key),
        Ref::Id(_) => None,
    });
    let moved: Vec<&str> = keys.filter(|key| is_moved(key)).map(|key| key.slot.as_str()).collect();
    (!moved.is_empty()).then(|| {
        let message = format!(
            "AWS takes no IPv6 block from a subnet in which an endpoint has an address of it, so {} cannot get another one.",
            moved.join(", ")
        );
        let hint = "First set ip_address_type to \"ipv4\" and apply. Then change the blocks, and set ip_address_type again.";
        Problem::new(path.attribute("ip_address_type"), message, hint)
    })
}

/// What changes although the entry says nothing of it.
pub(super) fn warnings(
    path: &AttributePath,
    key: &Key,
    (entry, spec): (&InterfaceEndpoint, &model::InterfaceEndpoint),
    context: &Context<'_, Config>,
) -> Vec<Problem> {
    let all = [
        lost_names(path, key, (entry, spec), context),
        excluded_ranges(path, key, (entry, spec), context.existing),
        addresses(path, key, (entry, spec), context.existing),
    ];
    all.into_iter().flatten().collect()
}

fn named(spec: &model::InterfaceEndpoint) -> &str {
    spec.service_name.known().map_or("the service", String::as_str)
}

/// The warning that an endpoint loses its private DNS names, because another input is off.
fn lost_names(
    path: &AttributePath,
    key: &Key,
    (entry, spec): (&InterfaceEndpoint, &model::InterfaceEndpoint),
    context: &Context<'_, Config>,
) -> Option<Problem> {
    let input = missing_for_names(context.config)?;
    let (before, _) = existing(context.existing, key)?;
    let had_names = model::InterfaceEndpoint::of(before.spec())?.private_dns_enabled == Input::Known(true);
    let loses_them = had_names && spec.private_dns_enabled == Input::Known(false);
    (loses_them && entry.private_dns_enabled == Input::Known(None)).then(|| {
        let message = format!(
            "{input} is false, so the endpoint loses its private DNS names. The names of {} then resolve to public \
             addresses, which may not be reachable. The endpoint gets its names again when {input} is true.",
            named(spec)
        );
        Problem::new(
            path.clone(),
            message,
            format!("Keep {input}, or set private_dns_enabled to false to confirm this."),
        )
    })
}

/// The warning that clients in unmanaged ranges of the VPC lose access to a service, because its names now lead to the
/// endpoint, whose group does not allow them. The group does not follow these ranges: its rules would change without a
/// change of an input whenever someone associates another range.
fn excluded_ranges(
    path: &AttributePath,
    key: &Key,
    (entry, spec): (&InterfaceEndpoint, &model::InterfaceEndpoint),
    inventory: &Inventory,
) -> Option<Problem> {
    let groups = |it: &model::InterfaceEndpoint| it.security_groups.known().cloned().unwrap_or_default();
    let leads_there = |it: &model::InterfaceEndpoint| it.private_dns_enabled != Input::Known(false);
    let is_ours = groups(spec).iter().any(|group| matches!(group, Ref::Key(_)));
    let is_same = |before: &model::InterfaceEndpoint| leads_there(before) && groups(before) == groups(spec);
    let is_settled = existing(inventory, key)
        .is_some_and(|(entry, _)| model::InterfaceEndpoint::of(entry.spec()).is_some_and(is_same));
    if !is_ours || !leads_there(spec) || is_settled {
        return None;
    }
    let allowed: Vec<ipnet::Ipv4Net> = entry
        .allowed_cidr_blocks
        .known()
        .into_iter()
        .flatten()
        .filter_map(|block| block.known()?.parse().ok())
        .collect();
    let all = OccupiedAddresses::of(inventory).ranges;
    let excluded = all.keys().filter(|range| !allowed.iter().any(|allowed| allowed.contains(*range)));
    let excluded: Vec<String> = excluded.map(ToString::to_string).collect();
    (!excluded.is_empty()).then(|| {
        let ranges = excluded.join(", ");
        let message = format!(
            "The VPC also has {ranges}, which this resource does not manage, and the security group of the endpoint does \
             not allow them. Clients with such addresses lose access to {} when its names resolve to the endpoint.",
            named(spec)
        );
        let hint = format!("Add {ranges} to allowed_cidr_blocks or to secondary_cidr_blocks.");
        Problem::new(path.clone(), message, hint)
    })
}

/// The warning that an endpoint keeps its IPv6 addresses, or loses them, although the entry names none.
fn addresses(
    path: &AttributePath,
    key: &Key,
    (entry, spec): (&InterfaceEndpoint, &model::InterfaceEndpoint),
    inventory: &Inventory,
) -> Option<Problem> {
    let (_, applied) = existing(inventory, key)?;
    if entry.settings.ip_address_type != Input::Known(None) || !has_ipv6_now(inventory, key) {
        return None;
    }
    let path = path.attribute("ip_address_type");
    match &spec.settings.ip_address_type {
        Input::Known(Some(_)) => Some(Problem::new(
            path,
            "The tier has no IPv6 addresses any more, so the endpoint loses its own.",
            "Set ip_address_type to \"ipv4\" to confirm this.",
        )),
        _ if applied.settings.ip_address_type == Input::Known(None) => None,
        _ => Some(Problem::new(
            path,
            "The endpoint keeps its IPv6 addresses, which are no longer managed. Its security group still allows the \
             IPv6 range of the VPC.",
            "Set ip_address_type to \"ipv4\" to remove them.",
        )),
    }
}

#[cfg(test)]
mod tests;
