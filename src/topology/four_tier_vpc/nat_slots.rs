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
    /// slots. If there are more gateways, those that work and whose subnets stay are kept first, one per AZ, and of
    /// several the one with the lowest number.
    pub(super) fn chosen(&self, count: usize) -> Vec<u32> {
        let mut gateways: Vec<(u32, &Entry)> = self.gateways().collect();
        gateways.sort_by_key(|(slot, _)| *slot);
        let mut served = Vec::new();
        let mut candidates: Vec<(Reverse<u8>, u32)> = Vec::new();
        for (slot, gateway) in gateways {
            let works = gateway.is_present() && !gateway.has_failed();
            let rank = match self.subnet_stays(gateway) {
                Some(index) if works && !served.contains(&index) => {
                    served.push(index);
                    4
                }
                Some(_) if works => 3,
                Some(_) => 2,
                None => 1,
            };
            candidates.push((Reverse(rank), slot));
        }
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

#[cfg(test)]
mod tests {
    use super::super::config::tests::config;
    use super::super::fixtures::{applied, objects};
    use super::*;
    use crate::model::Drift;

    /// Three gateways in the AZs a, b and c, or as many AZs as there are letters.
    fn three(letters: &str) -> Inventory {
        applied(&objects(&config(&[("num_nat_gateways", 3_i64.into())]), letters))
    }

    fn places(letters: &[(u32, &str)]) -> Vec<ZoneSlot> {
        let place =
            |(index, name): &(u32, &str)| ZoneSlot { index: *index, name: name.to_string(), id: format!("az-{name}") };
        letters.iter().map(place).collect()
    }

    fn chosen(existing: &Inventory, places: &[ZoneSlot], count: usize) -> Vec<(u32, u32)> {
        let slots = NatSlots::public(existing, places);
        let chosen = slots.chosen(count);
        let indices = slots.indices(&chosen);
        chosen.into_iter().zip(indices).collect()
    }

    fn change(existing: &mut Inventory, slot: &str, change: impl Fn(&mut Entry)) {
        existing.entries.iter_mut().filter(|entry| entry.key.slot == slot).for_each(change);
    }

    #[test]
    fn gateways_whose_subnets_stay_are_kept() {
        let without_b = places(&[(0, "a"), (2, "c")]);
        assert_eq!(chosen(&three("abc"), &without_b, 2), [(0, 0), (2, 2)]);
        assert_eq!(chosen(&three("abc"), &without_b, 1), [(0, 0)]);
        // Another AZ has taken the index of a removed one.
        let replaced = places(&[(0, "d"), (1, "b"), (2, "c")]);
        assert_eq!(chosen(&three("abc"), &replaced, 2), [(1, 1), (2, 2)]);
        // If the number does not fall, the gateway moves to an AZ without one, or else to that of its number.
        assert_eq!(chosen(&three("abc"), &replaced, 3), [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(chosen(&three("abc"), &without_b, 3), [(0, 0), (1, 2), (2, 2)]);
    }

    #[test]
    fn a_gateway_that_works_is_kept_before_one_that_does_not() {
        let all = places(&[(0, "a"), (1, "b"), (2, "c")]);
        let mut missing = three("abc");
        change(&mut missing, "nat_gateway.0", |entry| entry.drift = Drift::Missing);
        assert_eq!(chosen(&missing, &all, 2), [(1, 1), (2, 2)]);
        assert_eq!(chosen(&missing, &all, 3), [(0, 0), (1, 1), (2, 2)]);
        let mut failed = three("abc");
        change(&mut failed, "nat_gateway.1", |entry| entry.key.has_failed = true);
        assert_eq!(chosen(&failed, &all, 2), [(0, 0), (2, 2)]);
    }

    #[test]
    fn the_only_gateway_of_an_az_is_kept_before_a_second_one() {
        // The gateways 0 and 2 are in AZ a. Without gateway 0, it is the only one there.
        let two = places(&[(0, "a"), (1, "b")]);
        assert_eq!(chosen(&three("ab"), &two, 2), [(0, 0), (1, 1)]);
        let mut missing = three("ab");
        change(&mut missing, "nat_gateway.0", |entry| entry.drift = Drift::Missing);
        assert_eq!(chosen(&missing, &two, 2), [(1, 1), (2, 0)]);
        let mut moved = three("abc");
        let first = moved.at("nat_gateway.0").unwrap().applied.clone();
        change(&mut moved, "nat_gateway.1", |entry| entry.applied = first.clone());
        let all = places(&[(0, "a"), (1, "b"), (2, "c")]);
        assert_eq!(chosen(&moved, &all, 2), [(0, 0), (2, 2)]);
        assert_eq!(chosen(&moved, &all, 4), [(0, 0), (1, 0), (2, 2), (3, 1)], "a new one serves the AZ without one");
    }

    #[test]
    fn a_new_gateway_uses_an_address_without_a_gateway() {
        let mut existing = three("abc");
        existing
            .entries
            .retain(|entry| !["nat_gateway.1", "eip.1", "nat_gateway.2"].contains(&entry.key.slot.as_str()));
        let all = places(&[(0, "a"), (1, "b"), (2, "c")]);
        assert_eq!(chosen(&existing, &all, 2), [(0, 0), (2, 2)]);
        assert_eq!(chosen(&existing, &all, 3), [(0, 0), (1, 1), (2, 2)]);
    }
}
