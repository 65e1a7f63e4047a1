//! The tiers with IPv6: which have blocks, which a way to the internet, and which assign addresses.

use std::collections::BTreeSet;

use crate::model::Tier;
use crate::plugin::Input;
use crate::topology::four_tier_vpc::config::Config;

/// The egress-only internet gateway.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in super::super) struct Egress {
    /// Whether it exists.
    pub(in super::super) is_wanted: bool,
    /// The tiers that have routes to it.
    pub(in super::super) tiers: BTreeSet<Tier>,
}

/// The tiers that the configuration creates with IPv6 blocks; `None` if it is unknown.
pub(in super::super) fn with_blocks(config: &Config) -> Option<BTreeSet<Tier>> {
    if !*config.enable_ipv6.known()? {
        return Some(BTreeSet::new());
    }
    let listed = listed(&config.ipv6.ipv6_subnet_tiers)?;
    let mut tiers = BTreeSet::new();
    for tier in listed {
        if *config.creates(tier).known()? {
            tiers.insert(tier);
        }
    }
    Some(tiers)
}

/// Whether a tier may have IPv6 blocks.
pub(in super::super) fn may_have_blocks(config: &Config, tier: Tier) -> bool {
    let is_listed = listed(&config.ipv6.ipv6_subnet_tiers).is_none_or(|tiers| tiers.contains(&tier));
    is_listed && config.enable_ipv6 != Input::Known(false)
}

/// The known names of tiers; `None` if one is unknown.
pub(in super::super) fn listed(tiers: &Input<BTreeSet<Input<String>>>) -> Option<BTreeSet<Tier>> {
    let names = tiers.known()?.iter().map(Input::known).collect::<Option<Vec<&String>>>()?;
    Some(Tier::ALL.into_iter().filter(|tier| names.iter().any(|name| *name == tier.slot())).collect())
}

/// Whether new network interfaces in a tier get an IPv6 address.
pub(in super::super) fn assigns(config: &Config, tier: Tier) -> Input<bool> {
    match &config.ipv6.assign_ipv6_address_on_creation_tiers {
        Input::Known(None) if tier == Tier::Public => config.assign_ipv6_address_on_creation.clone(),
        Input::Known(None) => Input::Known(false),
        Input::Unknown => Input::Unknown,
        Input::Known(Some(tiers)) => {
            listed(&Input::Known(tiers.clone())).map_or(Input::Unknown, |tiers| Input::Known(tiers.contains(&tier)))
        }
    }
}

/// Whether a private tier may reach the internet, and whether it does so over IPv4.
fn internet_access(config: &Config, tier: Tier) -> Option<(bool, bool)> {
    let is_allowed = match tier {
        Tier::Public => false,
        Tier::PrivateApp => true,
        Tier::PrivatePersistence => *config.allow_private_persistence_internet_access.known()?,
        Tier::Transit => *config.allow_transit_internet_access.known()?,
    };
    let has_nat = *config.num_nat_gateways.known()? > 0 && !*config.enable_private_nat.known()?;
    let is_reachable = *config.create_public_subnets.known()? && *config.create_igw.known()?;
    Some((is_allowed, is_allowed && has_nat && is_reachable))
}

/// The egress-only internet gateway that the configuration requires; `None` if it is unknown.
pub(in super::super) fn egress(config: &Config) -> Option<Egress> {
    let wanted = *config.ipv6.create_egress_only_igw.known()?;
    let private = with_blocks(config)?.into_iter().filter(|tier| *tier != Tier::Public);
    if wanted == Some(false) || !*config.enable_ipv6.known()? {
        return Some(Egress::default());
    }
    let mut tiers = BTreeSet::new();
    for tier in private {
        let (is_allowed, has_ipv4) = internet_access(config, tier)?;
        if if wanted == Some(true) { is_allowed } else { has_ipv4 } {
            tiers.insert(tier);
        }
    }
    Some(Egress { is_wanted: wanted == Some(true) || !tiers.is_empty(), tiers })
}
