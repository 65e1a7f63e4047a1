//! The slots of NAT gateways, and the AZ of each. Public and private NAT gateways follow the same rules.

use std::cmp::Reverse;

use super::zones::ZoneSlot;
use crate::model::keys::network as keys;
use crate::model::{Entry, Inventory, Key, Spec, Tier};

/// The NAT gateways of one kind.
pub(super) struct NatSlots<'a> {
    existing: &'a Inventory,
    /// Their slots without the number.
    prefix: &'static str,
    /// The tier whose subnets contain them.
    tier: Tier,
    /// The AZs that have a subnet of this tier; not empty.
    places: &'a [ZoneSlot],
}

impl<'a> NatSlots<'a> {
    /// The public NAT gateways.
    pub(super) fn public(existing: &'a Inventory, places: &'a [ZoneSlot]) -> NatSlots<'a> {
        NatSlots { existing, prefix: "nat_gateway.", tier: Tier::Public, places }
    }

    /// The private NAT gateways.
    pub(super) fn private(existing: &'a Inventory, places: &'a [ZoneSlot]) -> NatSlots<'a> {
        NatSlots { existing, prefix: "private_nat_gateway.", tier: Tier::Transit, places }
    }

    /// This many slots, sorted. Existing gateways come first, then addresses without a gateway, then the lowest free
    /// slots. If there are more gateways, those that work and whose subnets stay are kept, and of these the ones with
    /// the lowest numbers.
    pub(super) fn chosen(&self, count: usize) -> Vec<u32> {
        let mut candidates: Vec<(Reverse<u8>, u32)> = self.gateways().map(|(slot, it)| (self.rank(it), slot)).collect();
        if self.tier == Tier::Public {
            let addresses = self.existing.current().filter_map(|entry| number("eip.", entry));
            candidates.extend(addresses.map(|slot| (Reverse(0), slot)));
        }
        candidates.sort_unstable();
        let mut chosen: Vec<u32> = Vec::new();
        for slot in candidates.into_iter().map(|(_, slot)| slot).chain(0..) {
            if chosen.len() >= count {
                break;
            }
            if !chosen.contains(&slot) {
                chosen.push(slot);
            }
        }
        chosen.sort_unstable();
        chosen
    }

    fn rank(&self, gateway: &Entry) -> Reverse<u8> {
        let works = gateway.is_present() && !keys::is_failed_nat_gateway(&gateway.key);
        Reverse(match (self.subnet_stays(gateway), works) {
            (Some(_), true) => 3,
            (Some(_), false) => 2,
            (None, _) => 1,
        })
    }

    /// The index of the AZ of each of these slots. A gateway stays in its subnet as long as the network has that
    /// subnet. A new one is placed in the AZ of its number or, if that has a gateway already, in the next AZ without
    /// one.
    pub(super) fn indices(&self, slots: &[u32]) -> Vec<u32> {
        let current: Vec<Option<u32>> = slots.iter().map(|slot| self.subnet_stays(self.gateway(*slot)?)).collect();
        let mut served: Vec<u32> = current.iter().flatten().copied().collect();
        let index = |(slot, current): (&u32, Option<u32>)| {
            current.unwrap_or_else(|| {
                let first = *slot as usize % self.places.len();
                let mut places = self.places.iter().cycle().skip(first).take(self.places.len());
                let index = places.find(|place| !served.contains(&place.index)).unwrap_or(&self.places[first]).index;
                served.push(index);
                index
            })
        };
        slots.iter().zip(current).map(index).collect()
    }

    /// The gateway with this number.
    pub(super) fn gateway(&self, slot: u32) -> Option<&'a Entry> {
        self.gateways().find(|(it, _)| *it == slot).map(|(_, entry)| entry)
    }

    /// The gateways by number. One that was deleted outside Terraform is included, because it is created again in its
    /// subnet.
    pub(super) fn gateways(&self) -> impl Iterator<Item = (u32, &'a Entry)> {
        let staying = self.existing.entries.iter().filter(|entry| !entry.pending_deletion);
        staying.filter_map(|entry| Some((number(self.prefix, entry)?, entry)))
    }

    /// The index of the AZ of a gateway, if the network keeps its subnet, possibly with another block.
    fn subnet_stays(&self, gateway: &Entry) -> Option<u32> {
        let Spec::NatGateway(nat) = &gateway.applied else { return None };
        let zone = self.zone_of(&nat.subnet);
        let is_in = |place: &&ZoneSlot| {
            nat.subnet.slot == keys::subnet_slot(self.tier, place.index) && zone.is_none_or(|zone| zone == place.id)
        };
        self.places.iter().find(is_in).map(|place| place.index)
    }

    /// The ID of the AZ of a subnet. Another AZ may have taken its index.
    fn zone_of(&self, subnet: &Key) -> Option<&'a str> {
        self.existing.entries.iter().find_map(|entry| match &entry.applied {
            Spec::Subnet(it) if entry.key == *subnet => Some(it.availability_zone_id.as_str()),
            _ => None,
        })
    }
}

/// The number in a slot with this prefix.
fn number(prefix: &str, entry: &Entry) -> Option<u32> {
    entry.key.slot.strip_prefix(prefix)?.parse().ok()
}
