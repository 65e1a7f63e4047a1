//! The public NAT gateways: their number, the subnet of each, and the gateway of each route table.

use super::config::Config;
use super::zones::ZoneSlot;
use crate::model::keys::network as keys;
use crate::model::{Entry, Inventory, Key, Ref, Spec, Tier};
use crate::plugin::Input;

/// A public NAT gateway.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Nat {
    /// The number in its key.
    pub(super) slot: u32,
    /// The index of the AZ whose public subnet contains it.
    pub(super) index: u32,
    /// Its Elastic IP address: one that this resource creates, or one that the user provides.
    pub(super) allocation: Input<Ref>,
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
    let addresses: Vec<(u32, Input<Ref>)> = if custom {
        custom_addresses(config.custom_nat_eips.known()?, existing)?
    } else {
        let slots = 0..u32::try_from(count).unwrap_or(0);
        slots.map(|slot| (slot, Input::Known(Ref::Key(keys::eip(slot))))).collect()
    };
    let nat = |(slot, allocation)| Nat { slot, index: index(slot, existing, places), allocation };
    Some(addresses.into_iter().map(nat).collect())
}

/// The gateway that the route tables of an AZ use: the one in the same AZ, else one chosen by the index of the AZ.
pub(super) fn gateway_for(index: u32, gateways: &[(u32, Key)]) -> Option<&Key> {
    let here = gateways.iter().find(|(at, _)| *at == index);
    let by_number = || gateways.get(index as usize % gateways.len().max(1));
    here.or_else(by_number).map(|(_, key)| key)
}

/// The slot of each address that the user provides. An address that a gateway uses keeps that gateway's slot, so the
/// order of the list has no meaning. A new address gets the lowest free slot.
fn custom_addresses(given: &[Input<String>], existing: &Inventory) -> Option<Vec<(u32, Input<Ref>)>> {
    let in_use: Vec<(u32, &str)> = gateways(existing)
        .filter_map(|(slot, entry)| match &entry.applied {
            Spec::NatGateway(nat) => match &nat.allocation {
                Some(Input::Known(Ref::Id(id))) => Some((slot, id.as_str())),
                _ => None,
            },
            _ => None,
        })
        .collect();
    let is_given = |id: &str| given.iter().any(|it| it.known().is_some_and(|it| it == id));
    let may_be_in_use = in_use.iter().any(|(_, id)| !is_given(id));
    if may_be_in_use && given.iter().any(|id| !id.is_known()) {
        // The unknown address may be one that a gateway uses, and then it keeps that gateway's slot.
        return None;
    }
    let slot_of =
        |id: &Input<String>| in_use.iter().find(|(_, it)| id.known().is_some_and(|id| id == it)).map(|it| it.0);
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

/// The index of the AZ of a gateway: that of its current subnet, else one chosen by its number.
fn index(slot: u32, existing: &Inventory, places: &[ZoneSlot]) -> u32 {
    let current = gateways(existing).find(|(it, _)| *it == slot).and_then(|(_, entry)| match &entry.applied {
        Spec::NatGateway(nat) => {
            places.iter().find(|place| nat.subnet.slot == keys::subnet_slot(Tier::Public, place.index))
        }
        _ => None,
    });
    current.unwrap_or(&places[slot as usize % places.len()]).index
}

/// The gateways by slot. One that was deleted outside Terraform is included, because it is created again in its subnet.
fn gateways(existing: &Inventory) -> impl Iterator<Item = (u32, &Entry)> {
    let staying = existing.entries.iter().filter(|entry| !entry.pending_deletion);
    staying.filter_map(|entry| Some((entry.key.slot.strip_prefix("nat_gateway.")?.parse().ok()?, entry)))
}
