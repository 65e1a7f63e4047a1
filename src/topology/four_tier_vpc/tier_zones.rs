//! The AZs in which each tier has subnets: those that its entry in `tier_availability_zone_ids` lists, else all AZs of
//! the network.

use std::collections::BTreeMap;

use super::config::Config;
use super::zones::SubnetSlot;
use super::zones::ZoneSlot;
use crate::model::Tier;
use crate::plugin::{AttributePath, Input, Problem};

/// The name of the input.
pub(super) const NAME: &str = "tier_availability_zone_ids";

/// The AZs of a network by tier.
pub(super) struct TierZones {
    network: Vec<ZoneSlot>,
    /// Only the tiers to create. The AZs of each are sorted by index.
    tiers: BTreeMap<Tier, Vec<ZoneSlot>>,
}

impl TierZones {
    /// Selects the AZs of the tiers to create among those of the network; `None` while an entry is unknown. `rejected`
    /// returns the message and the hint of the problem that an ID is not an AZ of the network.
    pub(super) fn of(
        config: &Config,
        tiers: &[Tier],
        network: Vec<ZoneSlot>,
        rejected: impl Fn(&[ZoneSlot], &str) -> (String, String),
    ) -> Result<Option<TierZones>, Vec<Problem>> {
        let Input::Known(entries) = &config.tier_availability_zone_ids else { return Ok(None) };
        let (mut problems, mut selected) = (Vec::new(), BTreeMap::new());
        for tier in tiers {
            let Some(entry) = entries.get(tier.slot()) else {
                selected.insert(*tier, network.clone());
                continue;
            };
            let Some(ids) = entry.known().and_then(|ids| ids.iter().map(Input::known).collect::<Option<Vec<_>>>())
            else {
                return Ok(None);
            };
            for (position, id) in ids.iter().enumerate() {
                if network.iter().all(|place| place.id != **id) {
                    let (message, hint) = rejected(&network, id);
                    problems.push(Problem::new(path(tier.slot()).index(position), message, hint));
                }
            }
            let of_tier = network.iter().filter(|place| ids.contains(&&place.id)).cloned();
            selected.insert(*tier, of_tier.collect());
        }
        if problems.is_empty() { Ok(Some(TierZones { network, tiers: selected })) } else { Err(problems) }
    }

    /// All AZs of the network, by index. An AZ may have no subnets.
    pub(super) fn network(&self) -> &[ZoneSlot] {
        &self.network
    }

    /// The tiers to create.
    pub(super) fn tiers(&self) -> impl Iterator<Item = Tier> {
        self.tiers.keys().copied()
    }

    /// The AZs in which a tier has subnets, by index. A tier that is not created has none.
    pub(super) fn of_tier(&self, tier: Tier) -> &[ZoneSlot] {
        self.tiers.get(&tier).map_or(&[], Vec::as_slice)
    }

    /// The AZs with subnets, by index.
    pub(super) fn used(&self) -> impl Iterator<Item = &ZoneSlot> {
        self.network.iter().filter(|place| self.tiers.values().any(|places| places.contains(place)))
    }

    /// The positions of all subnets.
    pub(super) fn sites(&self) -> Vec<SubnetSlot> {
        let of_tier = |(tier, places): (&Tier, &Vec<ZoneSlot>)| {
            let tier = *tier;
            places.iter().map(move |place| (tier, place.index)).collect::<Vec<_>>()
        };
        self.tiers.iter().flat_map(of_tier).collect()
    }
}

/// The path of the entry of a tier.
pub(super) fn path(tier: &str) -> AttributePath {
    AttributePath::new(NAME).key(tier)
}

/// Warnings about entries of tiers that are not created.
pub(super) fn unused_entries(config: &Config) -> Vec<Problem> {
    let entries = config.tier_availability_zone_ids.known().into_iter().flatten();
    let tiers = entries.filter_map(|(name, _)| Tier::ALL.into_iter().find(|tier| tier.slot() == name));
    let unused = tiers.filter(|tier| *config.creates(*tier) == Input::Known(false));
    let warning = |tier: Tier| {
        let switch = format!("create_{}_subnets", tier.slot());
        let message = format!("The entry is not used, because {switch} is false.");
        Problem::new(path(tier.slot()), message, format!("Remove the entry, or set {switch} to true."))
    };
    unused.map(warning).collect()
}

#[cfg(test)]
mod tests;
