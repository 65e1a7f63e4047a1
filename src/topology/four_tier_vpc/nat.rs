//! The public NAT gateways: their number, the subnet of each, and the gateway of each route table.

use std::collections::BTreeMap;

use super::config::Config;
use super::nat_slots::NatSlots;
use super::zones::ZoneSlot;
use crate::model::keys::network as keys;
use crate::model::{Entry, Inventory, Key, NatGateway, Ref, Spec};
use crate::plugin::{AttributePath, Input, Problem};

/// A public NAT gateway.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Nat {
    /// The number in its key.
    pub(super) slot: u32,
    /// The index of the AZ whose public subnet contains it.
    pub(super) index: u32,
    /// Its Elastic IP address: one that this resource creates, or one that the user provides.
    pub(super) allocation: Input<Ref>,
    /// The address in its key.
    pub(super) keyed_by: Input<String>,
}

/// The public NAT gateways in the order of their slots; `None` while an input that decides them is unknown. `places`
/// are the AZs that have a public subnet.
///
/// A gateway stays in its subnet as long as the network has that subnet, even if its number would place it in another
/// one.
pub(super) fn nats(config: &Config, existing: &Inventory, places: &[ZoneSlot]) -> Option<Vec<Nat>> {
    let (count, custom) = (*config.num_nat_gateways.known()?, *config.use_custom_nat_eips.known()?);
    if !*config.create_igw.known()? || places.is_empty() {
        return Some(Vec::new());
    }
    let slots = NatSlots::public(existing, places);
    let addresses: Vec<(u32, Input<Ref>)> = if custom {
        custom_addresses(config.custom_nat_eips.known()?, existing, &slots)?
    } else {
        let chosen = slots.chosen(usize::try_from(count).unwrap_or(0));
        chosen.into_iter().map(|slot| (slot, Input::Known(Ref::Key(keys::eip(slot))))).collect()
    };
    let indices = slots.indices(&addresses.iter().map(|(slot, _)| *slot).collect::<Vec<_>>());
    let nat = |((slot, allocation), index): ((u32, Input<Ref>), u32)| {
        let keyed_by = allocation.as_ref().map(|it| keyed_by(it, slots.gateway(slot), existing));
        Nat { slot, index, allocation, keyed_by }
    };
    Some(addresses.into_iter().zip(indices).map(nat).collect())
}

/// The gateway that the route tables of an AZ use: the one in the same AZ, else one chosen by the index of the AZ.
pub(super) fn gateway_for(index: u32, gateways: &[(u32, Key)]) -> Option<&Key> {
    let here = gateways.iter().find(|(at, _)| *at == index);
    let by_number = || gateways.get(index as usize % gateways.len().max(1));
    here.or_else(by_number).map(|(_, key)| key)
}

/// The problem that a replacement of the network would release addresses of the network that the list names. `existing`
/// is what the replacement deletes.
pub(super) fn released_by_replacement(config: &Config, existing: &Inventory) -> Option<Problem> {
    let is_custom = config.use_custom_nat_eips == Input::Known(true) && config.enable_private_nat != Input::Known(true);
    let given = config.custom_nat_eips.known().filter(|_| is_custom)?;
    let eips = existing.present().filter(|entry| matches!(entry.applied, Spec::Eip(_)));
    let own = eips.into_iter().find(|entry| given.iter().any(|id| id.known() == Some(&entry.id)))?;
    let hint = match existing.at(keys::VPC) {
        Some(_) => {
            "Undo the change that replaces the network and apply use_custom_nat_eips and custom_nat_eips first. The \
             network then no longer manages the addresses, and its replacement keeps them."
        }
        None => {
            "The VPC was deleted, so this resource can only be replaced. To keep the addresses, remove it from state with \
             terraform state rm, then apply."
        }
    };
    let message = format!(
        "This plan replaces the network, which releases {}, an address that the network created ({}).",
        own.id, own.key
    );
    Some(Problem::new(AttributePath::new("custom_nat_eips"), message, hint))
}

/// The addresses of the user that NAT gateways have, by the slots under which the network could manage them.
pub(super) fn given_addresses(existing: &Inventory) -> BTreeMap<String, String> {
    let given = |entry: &Entry| match entry.spec() {
        Spec::NatGateway(NatGateway { allocation: Some(Input::Known(Ref::Id(id))), .. }) => {
            let number = entry.key.slot.strip_prefix("nat_gateway.")?.parse().ok()?;
            Some((keys::eip(number).slot, id.clone()))
        }
        _ => None,
    };
    existing.current().filter_map(given).collect()
}

/// The slot of each address that the user provides. An address that a gateway uses keeps that gateway's slot, so the
/// order of the list has no meaning. A new address gets the lowest free slot.
///
/// The address may be one that the network created. Its gateway then stays, and only the address is no longer managed.
fn custom_addresses(
    given: &[Input<String>],
    existing: &Inventory,
    slots: &NatSlots<'_>,
) -> Option<Vec<(u32, Input<Ref>)>> {
    let in_use: Vec<(u32, &Ref, &str)> = slots
        .gateways()
        .filter_map(|(slot, entry)| {
            let address = address_of(entry)?;
            Some((slot, address, id_of(address, existing)?))
        })
        .collect();
    let is_given = |id: &str| given.iter().any(|it| it.known().is_some_and(|it| it == id));
    // An unknown address is not one that the network created: the user would have to look up its ID, which is known.
    let may_be_in_use = in_use.iter().any(|(_, address, id)| matches!(address, Ref::Id(_)) && !is_given(id));
    if may_be_in_use && given.iter().any(|id| !id.is_known()) {
        // The unknown address may be one that a gateway uses, and then it keeps that gateway's slot.
        return None;
    }
    let slot_of =
        |id: &Input<String>| in_use.iter().find(|(.., it)| id.known().is_some_and(|id| id == it)).map(|it| it.0);
    let mut taken: Vec<u32> = given.iter().filter_map(slot_of).collect();
    let mut addresses = Vec::new();
    for id in given {
        let slot = slot_of(id).unwrap_or_else(|| {
            let free = (0..).find(|slot| !taken.contains(slot)).unwrap_or(u32::MAX);
            taken.push(free);
            free
        });
        addresses.push((slot, id.clone().map(Ref::Id)));
    }
    addresses.sort_by_key(|(slot, _)| *slot);
    Some(addresses)
}

/// The address in the key of a gateway. A gateway whose address does not change keeps the one in its key, although the
/// address may be managed now and not before, or the other way around.
fn keyed_by(allocation: &Ref, current: Option<&Entry>, existing: &Inventory) -> String {
    let text = keys::nat_gateway_address(allocation);
    let Some((current, current_text)) = current.and_then(|it| Some((it, keys::address_in(&it.key)?))) else {
        return text;
    };
    let is_same = address_of(current).is_some_and(|it| {
        it == allocation || id_of(it, existing).is_some_and(|id| id_of(allocation, existing) == Some(id))
    });
    let has_failed = current.has_failed();
    match is_same && !has_failed {
        true => current_text.to_string(),
        // The gateway has kept the key from an earlier address.
        false if current_text == text && !has_failed => format!("{text} again"),
        false => text,
    }
}

fn address_of(gateway: &Entry) -> Option<&Ref> {
    match &gateway.applied {
        Spec::NatGateway(nat) => nat.allocation.as_ref()?.known(),
        _ => None,
    }
}

/// The allocation ID of an address; `None` if it does not exist.
fn id_of<'a>(address: &'a Ref, existing: &'a Inventory) -> Option<&'a str> {
    match address {
        Ref::Id(id) => Some(id),
        Ref::Key(key) => existing.current().find(|entry| entry.key == *key).map(|entry| entry.id.as_str()),
    }
}
