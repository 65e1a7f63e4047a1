//! What unknown inputs can change: configurations whose blueprints together differ in every output that depends on
//! these inputs.
//!
//! A value is representative, not likely: with one AZ and with all of them, every list of subnets has another length,
//! unless the Region has a single AZ. A configuration that no plan accepts does no harm.

use super::config::Config;
use super::{PARTS, Strings};
use crate::model::{Subnet, Tier};
use crate::plugin::Input;
use crate::topology::Context;
use crate::topology::alternatives::{Change, Switch, combined, each};

/// The switches that decide which objects exist, without those of parts.
const SWITCHES: &[Switch<Config>] = &[
    |config| &mut config.create_public_subnets,
    |config| &mut config.create_private_app_subnets,
    |config| &mut config.create_private_persistence_subnets,
    |config| &mut config.create_transit_subnets,
    |config| &mut config.create_igw,
    |config| &mut config.allow_private_persistence_internet_access,
    |config| &mut config.allow_transit_internet_access,
    |config| &mut config.enable_private_nat,
    |config| &mut config.use_custom_nat_eips,
    |config| &mut config.one_route_table_public_subnets,
    |config| &mut config.enable_ipv6,
];

/// Numbers of NAT gateways. More change nothing else.
const NAT_GATEWAYS: [i64; 4] = [0, 1, 2, 3];

/// The configurations with known values for the inputs that decide which objects exist. Empty if there are too many of
/// them, or if the AZs are unknown.
pub(super) fn alternatives(context: &Context<'_, Config>) -> Vec<Config> {
    let Some(zones) = zones(context) else { return Vec::new() };
    let config = context.config;
    let mut probe = config.clone();
    let switches = SWITCHES.iter().chain(PARTS.iter().flat_map(|part| part.switches()));
    let unknown = switches.filter(|switch| !switch(&mut probe).is_known());
    let mut choices: Vec<Vec<Change<Config>>> =
        unknown.map(|switch| each(*switch, [false, true].map(Input::Known))).collect();
    choices.extend(PARTS.iter().map(|part| part.alternatives(config)).filter(|changes| !changes.is_empty()));
    if !config.num_nat_gateways.is_known() {
        choices.push(each(|config| &mut config.num_nat_gateways, NAT_GATEWAYS.map(Input::Known)));
    }
    choices.extend(selections(config, &zones));
    choices.extend(tier_zones(config, &zones));
    choices.extend(layouts(config));
    choices.extend(addresses(config, context.prior));
    combined(config, &choices)
}

/// The IDs and names of the AZs of the Region and of the network.
fn zones(context: &Context<'_, Config>) -> Option<Vec<(String, String)>> {
    let available = context.facts.availability_zones.as_ref()?.iter().map(|zone| (zone.id.clone(), zone.name.clone()));
    let subnets = context.existing.entries.iter().filter_map(|entry| {
        Subnet::of(&entry.applied).map(|subnet| (subnet.availability_zone_id.clone(), subnet.availability_zone.clone()))
    });
    let mut zones: Vec<(String, String)> = available.chain(subnets).collect();
    zones.sort();
    zones.dedup();
    Some(zones)
}

/// All AZs, and each of them alone.
fn selections(config: &Config, zones: &[(String, String)]) -> Vec<Vec<Change<Config>>> {
    let mut choices = Vec::new();
    if !config.num_availability_zones.is_known() {
        choices.push(each(|config: &mut Config| &mut config.num_availability_zones, [None, Some(1)].map(Input::Known)));
    }
    if !config.availability_zone_ids.known().is_some_and(|ids| ids.as_ref().is_none_or(|ids| are_known(ids))) {
        let single = zones.iter().map(|(id, _)| Some(vec![Input::Known(id.clone())]));
        let values = std::iter::once(None).chain(single).map(Input::Known);
        choices.push(each(|config| &mut config.availability_zone_ids, values));
    }
    if !config.availability_zone_names.known().is_some_and(|names| names.as_ref().is_none_or(|it| are_known(it))) {
        let single = zones.iter().map(|(_, name)| Some(vec![Input::Known(name.clone())]));
        let values = std::iter::once(None).chain(single).map(Input::Known);
        choices.push(each(|config| &mut config.availability_zone_names, values));
    }
    let ids: Vec<&str> = zones.iter().map(|(id, _)| id.as_str()).collect();
    let names: Vec<&str> = zones.iter().map(|(_, name)| name.as_str()).collect();
    if !is_wholly_known(&config.availability_zone_exclude_ids) {
        choices.push(each(|config| &mut config.availability_zone_exclude_ids, none_and_all_but_one(&ids)));
    }
    if !is_wholly_known(&config.availability_zone_exclude_names) {
        choices.push(each(|config| &mut config.availability_zone_exclude_names, none_and_all_but_one(&names)));
    }
    if !config.availability_zone_state.is_known() {
        let states = [None, Some("available"), Some("information"), Some("impaired"), Some("unavailable")];
        let states = states.map(|state| Input::Known(state.map(str::to_string)));
        choices.push(each(|config| &mut config.availability_zone_state, states));
    }
    choices
}

fn none_and_all_but_one(all: &[&str]) -> Vec<Strings> {
    let others = |one: &&str| all.iter().filter(|other| *other != one).map(|it| Input::Known(it.to_string())).collect();
    let all_but_one = all.iter().map(others);
    std::iter::once(Vec::new()).chain(all_but_one).map(Input::Known).collect()
}

/// All AZs and each of them alone, for the tiers whose AZs are unknown: for all these tiers, and for each of them,
/// because another input may exclude the former.
fn tier_zones(config: &Config, zones: &[(String, String)]) -> Option<Vec<Change<Config>>> {
    let open: Vec<String> = match &config.tier_availability_zone_ids {
        Input::Unknown => Tier::ALL.map(|tier| tier.slot().to_string()).into(),
        Input::Known(tiers) => {
            let open = tiers.iter().filter(|(_, ids)| !is_wholly_known(ids));
            open.map(|(tier, _)| tier.clone()).collect()
        }
    };
    if open.is_empty() {
        return None;
    }
    let groups: Vec<Vec<String>> = match open.len() {
        1 => vec![open.clone()],
        _ => std::iter::once(open.clone()).chain(open.iter().map(|tier| vec![tier.clone()])).collect(),
    };
    let single =
        groups.into_iter().flat_map(|tiers| zones.iter().map(move |(id, _)| (tiers.clone(), Some(id.clone()))));
    let change = |(single, zone): (Vec<String>, Option<String>)| -> Change<Config> {
        let open = open.clone();
        Box::new(move |config| {
            let tiers = std::mem::take(&mut config.tier_availability_zone_ids);
            let mut tiers = tiers.known().cloned().unwrap_or_default();
            tiers.retain(|tier, _| !open.contains(tier));
            for (tier, zone) in single.iter().zip(zone.iter().cycle()) {
                tiers.insert(tier.clone(), Input::Known(vec![Input::Known(zone.clone())]));
            }
            config.tier_availability_zone_ids = Input::Known(tiers);
        })
    };
    Some(std::iter::once((Vec::new(), None)).chain(single).map(change).collect())
}

/// A table for each subnet and one for all, for the tiers whose layout is unknown.
fn layouts(config: &Config) -> Option<Vec<Change<Config>>> {
    let open: Vec<String> = match &config.route_table_layout {
        Input::Unknown => Tier::ALL[1..].iter().map(|tier| tier.slot().to_string()).collect(),
        Input::Known(tiers) => {
            let open = tiers.iter().filter(|(_, layout)| !layout.is_known());
            open.map(|(tier, _)| tier.clone()).collect()
        }
    };
    let change = |layout: &'static str| -> Change<Config> {
        let open = open.clone();
        Box::new(move |config| {
            let mut tiers = config.route_table_layout.known().cloned().unwrap_or_default();
            tiers.extend(open.iter().map(|tier| (tier.clone(), Input::Known(layout.to_string()))));
            config.route_table_layout = Input::Known(tiers);
        })
    };
    (!open.is_empty()).then(|| ["per_subnet", "per_tier"].map(change).into())
}

/// The addresses of the last apply, and others.
fn addresses(config: &Config, prior: Option<&Config>) -> Option<Vec<Change<Config>>> {
    if is_wholly_known(&config.custom_nat_eips) {
        return None;
    }
    let count = config.num_nat_gateways.known().map_or(1, |count| usize::try_from(*count).unwrap_or(0));
    let given = config.custom_nat_eips.known().cloned().unwrap_or_else(|| vec![Input::Unknown; count]);
    let numbered = given.into_iter().enumerate();
    let other = |(number, id): (usize, Input<String>)| match id {
        Input::Unknown => Input::Known(format!("eipalloc-unknown-{number}")),
        known => known,
    };
    let others = Input::Known(numbered.map(other).collect());
    let before = prior.map(|prior| prior.custom_nat_eips.clone()).filter(is_wholly_known);
    Some(each(|config| &mut config.custom_nat_eips, before.into_iter().chain([others])))
}

fn is_wholly_known(strings: &Strings) -> bool {
    strings.known().is_some_and(|strings| are_known(strings))
}

fn are_known(strings: &[Input<String>]) -> bool {
    strings.iter().all(Input::is_known)
}
