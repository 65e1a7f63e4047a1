//! The IPv4 CIDR block of each subnet.
//!
//! The block of a new subnet is `cidrsubnet(vpc, bits, offset of the tier + index of the AZ)`. From then on it is
//! frozen: only inputs of its own tier change it. A new subnet avoids the blocks of subnets that are to be deleted, so
//! that it can be created before they are deleted, and those of unmanaged subnets.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use ipnet::{Ipv4Net, Ipv4Subnets};

use super::config::Config;
use super::ranges::{self, contain, outside, overlap};
use super::sizes::{self, Range, Reason, Unfit, Wanted};
use super::tier_zones::TierZones;
use super::unmanaged_subnets::UnmanagedSubnets;
use super::zones::SubnetSlot;
use super::zones::ZoneSlot;
use crate::model::keys::network as keys;
use crate::model::{Inventory, Spec, Subnet, Tier};
use crate::plugin::{AttributePath, Input, Problem};

/// The block of each subnet, or the problems. A block that depends on an unknown input is unknown.
///
/// `prior` is the configuration of the last apply, `vpc` the range of the VPC, which is unknown until a pool has
/// allocated it. Warnings are added to `warnings`.
pub(super) fn blocks(
    config: &Config,
    prior: Option<&Config>,
    existing: &Inventory,
    vpc: Option<Ipv4Net>,
    zones: &TierZones,
    warnings: &mut Vec<Problem>,
) -> Result<BTreeMap<SubnetSlot, Input<String>>, Vec<Problem>> {
    let (sites, places) = (zones.sites(), zones.network());
    let mut blocks: BTreeMap<SubnetSlot, Input<Ipv4Net>> = BTreeMap::new();
    for site in &sites {
        if let Some(entry) = explicit(config, *site) {
            blocks.insert(*site, entry);
        }
    }

    let Some(vpc) = vpc else {
        // All blocks that are computed from the unknown range are unknown.
        check_numbers(config, sites.iter().filter(|site| !blocks.contains_key(site)))?;
        for site in &sites {
            blocks.entry(*site).or_insert(Input::Unknown);
        }
        return Ok(as_text(blocks));
    };

    let unmanaged = UnmanagedSubnets::of(existing);
    let resized: Vec<Tier> = match prior {
        Some(prior) => zones.tiers().filter(|tier| is_resized(prior, config, *tier)).collect(),
        None => Vec::new(),
    };
    let ranges: Vec<Ipv4Net> = [vpc].into_iter().chain(ranges::secondary(config).unwrap_or_default()).collect();
    let frozen = frozen(config, &ranges, existing, places, &resized);
    for site in &sites {
        if blocks.contains_key(site) {
            continue;
        }
        let moves = match prior.filter(|_| !resized.contains(&site.0)) {
            Some(prior) => is_moved(prior, config, site.0),
            None => Input::Known(false),
        };
        match (moves, frozen.get(site)) {
            (_, None) | (Input::Known(true), _) => {}
            (Input::Known(false), Some(block)) => {
                blocks.insert(*site, Input::Known(*block));
            }
            (Input::Unknown, Some(_)) => {
                blocks.insert(*site, Input::Unknown);
            }
        }
    }
    overlaps(config, &ranges, &blocks)?;
    unmanaged.check(config, existing, &blocks)?;

    let new: Vec<SubnetSlot> = sites.iter().filter(|site| !blocks.contains_key(site)).copied().collect();
    if blocks.values().any(|block| !block.is_known()) {
        // An unknown block may overlap any computed one, so new blocks stay unknown.
        blocks.extend(new.into_iter().map(|site| (site, Input::Unknown)));
        return Ok(as_text(blocks));
    }
    let outgoing = outgoing(existing, &sites, places, &resized);
    let placement = Placement { vpc, new: &new, outgoing: &outgoing, unmanaged: &unmanaged };
    warnings.extend(place(config, &placement, &mut blocks)?);
    Ok(as_text(blocks))
}

/// The subnets that get blocks, and the blocks that they cannot or should not have.
struct Placement<'a> {
    vpc: Ipv4Net,
    new: &'a [SubnetSlot],
    /// The blocks of subnets that the plan deletes.
    outgoing: &'a [Ipv4Net],
    unmanaged: &'a UnmanagedSubnets,
}

/// Assigns the formula's block to each new subnet if it is free, else another free one, preferably a higher one. A
/// block in `outgoing` is used only if no other is left: the new subnet then waits until the old one has been deleted.
/// Returns a warning for each subnet that gets another block because of an unmanaged one.
fn place(
    config: &Config,
    placement: &Placement<'_>,
    blocks: &mut BTreeMap<SubnetSlot, Input<Ipv4Net>>,
) -> Result<Vec<Problem>, Vec<Problem>> {
    let (before, &Placement { vpc, new, outgoing, unmanaged }) = (blocks.clone(), placement);
    placed(config, placement, blocks).map_err(|unfit| {
        let fits = |config: &Config| placed(config, placement, &mut before.clone()).is_ok();
        let free = free_ranges(vpc, &taken(vpc, blocks, unmanaged));
        let mut taken = taken(vpc, &before, unmanaged);
        taken.extend(outgoing);
        let wanted = Wanted { new, taken: &taken, free };
        vec![sizes::problem(config, Range { net: vpc, is_of_pool: false }, &unfit, &wanted, fits)]
    })
}

/// The blocks in the range of the VPC that no new subnet can have. Subnets in a further range do not matter.
fn taken(vpc: Ipv4Net, blocks: &BTreeMap<SubnetSlot, Input<Ipv4Net>>, unmanaged: &UnmanagedSubnets) -> Vec<Ipv4Net> {
    let unmanaged = unmanaged.blocks().filter(|block| vpc.contains(block));
    blocks.values().filter_map(Input::known).copied().chain(unmanaged).collect()
}

/// The same without the advice. The error contains the subnets that do not fit.
fn placed(
    config: &Config,
    &Placement { vpc, new, outgoing, unmanaged }: &Placement<'_>,
    blocks: &mut BTreeMap<SubnetSlot, Input<Ipv4Net>>,
) -> Result<Vec<Problem>, Vec<Unfit>> {
    let (mut unfit, mut warnings) = (Vec::new(), Vec::new());
    let mut taken = taken(vpc, blocks, unmanaged);
    let mut displaced = Vec::new();
    for site in new {
        match formula(config, vpc, *site) {
            Input::Unknown => {
                blocks.insert(*site, Input::Unknown);
            }
            Input::Known(Err(reason)) => unfit.push((*site, reason)),
            Input::Known(Ok(block)) if is_free(&block, &taken) && is_free(&block, outgoing) => {
                taken.push(block);
                blocks.insert(*site, Input::Known(block));
            }
            Input::Known(Ok(block)) => displaced.push((*site, block)),
        }
    }
    // Displaced subnets come last, so that none of them takes the formula's block of another subnet.
    let any_unknown = blocks.values().any(|block| !block.is_known());
    let reserved: Vec<Ipv4Net> = Tier::ALL
        .into_iter()
        .flat_map(|tier| (0..6).map(move |index| (tier, index)))
        .filter_map(|site| formula(config, vpc, site).known()?.as_ref().ok().copied())
        .collect();
    for (site, wanted) in displaced {
        if any_unknown {
            blocks.insert(site, Input::Unknown);
            continue;
        }
        let all = || vpc.subnets(wanted.prefix_len()).into_iter().flatten().filter(|block| is_free(block, &taken));
        let untouched = || all().filter(|block| is_free(block, outgoing));
        let found = untouched()
            .find(|block| *block > wanted && is_free(block, &reserved))
            .or_else(|| untouched().next())
            .or_else(|| all().find(|block| *block == wanted))
            .or_else(|| all().next());
        match found {
            Some(block) => {
                warnings.extend(unmanaged.displaced(config, site, &wanted, &block));
                taken.push(block);
                blocks.insert(site, Input::Known(block));
            }
            None => unfit.push((site, Reason::NoneFree)),
        }
    }
    if unfit.is_empty() { Ok(warnings) } else { Err(unfit) }
}

/// The block that the tier's bits and spacing determine, or the reason why there is none.
fn formula(config: &Config, vpc: Ipv4Net, (tier, index): SubnetSlot) -> Input<Result<Ipv4Net, Reason>> {
    let (Input::Known(bits), Input::Known(offset)) = (config.bits(tier).1, offset(config, tier)) else {
        return Input::Unknown;
    };
    let (bits, number) = (u32::try_from(*bits).unwrap_or(0), offset + i64::from(index));
    let length = u32::from(vpc.prefix_len()) + bits;
    if length > u32::from(sizes::SMALLEST) {
        return Input::Known(Err(Reason::TooSmall));
    }
    if number < 0 || number >= 1_i64 << bits {
        return Input::Known(Err(Reason::NoSuchBlock(number)));
    }
    let first = u64::from(u32::from(vpc.network())) + ((number as u64) << (32 - length));
    let address = u32::try_from(first).expect("a block number below the count is inside the VPC's range");
    let block = Ipv4Net::new(address.into(), length as u8).expect("28 is a valid prefix length");
    Input::Known(Ok(block))
}

/// Checks the block numbers for a range of which only the length is known.
fn check_numbers<'a>(config: &Config, sites: impl Iterator<Item = &'a SubnetSlot>) -> Result<(), Vec<Problem>> {
    let length = config.ipv4_netmask_length.known().copied().flatten().and_then(|length| u8::try_from(length).ok());
    let Some(net) = length.and_then(|length| Ipv4Net::new([0, 0, 0, 0].into(), length).ok()) else { return Ok(()) };
    let sites: Vec<SubnetSlot> = sites.copied().collect();
    let unfit = |config: &Config| -> Vec<Unfit> {
        let reason = |site: &SubnetSlot| formula(config, net, *site).known()?.as_ref().err().copied();
        sites.iter().filter_map(|site| Some((*site, reason(site)?))).collect()
    };
    match unfit(config).as_slice() {
        [] => Ok(()),
        found => {
            let (range, fits) = (Range { net, is_of_pool: true }, |config: &Config| unfit(config).is_empty());
            let wanted = Wanted { new: &sites, taken: &[], free: String::new() };
            Err(vec![sizes::problem(config, range, found, &wanted, fits)])
        }
    }
}

/// The problem of a new network whose subnets would be smaller than AWS allows. `zones` is the number of its AZs.
pub(super) fn too_small(config: &Config, range: Range, zones: u32) -> Option<Problem> {
    let is_computed = |tier: &Tier| config.cidr_blocks(*tier).1.known().is_some_and(BTreeMap::is_empty);
    let tiers = Tier::ALL.into_iter().filter(|tier| *config.creates(*tier) == Input::Known(true));
    let sites = tiers.filter(is_computed).flat_map(|tier| (0..zones).map(move |index| (tier, index)));
    let sites: Vec<SubnetSlot> = sites.collect();
    let reason = |site: &SubnetSlot| formula(config, range.net, *site).known()?.as_ref().err().copied();
    if !sites.iter().any(|site| reason(site) == Some(Reason::TooSmall)) {
        return None;
    }
    let problems = match range.is_of_pool {
        true => check_numbers(config, sites.iter()).err(),
        false => {
            let unmanaged = UnmanagedSubnets::of(&Inventory::default());
            let placement = Placement { vpc: range.net, new: &sites, outgoing: &[], unmanaged: &unmanaged };
            place(config, &placement, &mut BTreeMap::new()).err()
        }
    };
    problems.into_iter().flatten().next()
}

/// The number of a tier's first block.
fn offset(config: &Config, tier: Tier) -> Input<i64> {
    match config.own_spacing(tier) {
        Input::Unknown => Input::Unknown,
        Input::Known(Some(own)) => Input::Known(*own),
        Input::Known(None) => default_offset(config, tier),
    }
}

/// The number of a tier's first block if the tier has no spacing of its own.
pub(super) fn default_offset(config: &Config, tier: Tier) -> Input<i64> {
    let between = match config.create_transit_subnets {
        Input::Unknown => return Input::Unknown,
        Input::Known(true) => &config.global_subnet_spacing,
        Input::Known(false) => &config.subnet_spacing,
    };
    let tiers_before = match tier {
        Tier::Public => 0,
        Tier::PrivateApp => 1,
        Tier::PrivatePersistence => 2,
        Tier::Transit => 3,
    };
    between.clone().map(|between| between * tiers_before)
}

/// Whether inputs that determine the computed blocks of a tier have changed.
fn is_moved(prior: &Config, config: &Config, tier: Tier) -> Input<bool> {
    let (bits, spacing) = (config.bits(tier).1, config.own_spacing(tier));
    if bits.is_known() && bits != prior.bits(tier).1 || spacing.is_known() && !is_same_spacing(prior, config, tier) {
        return Input::Known(true);
    }
    if bits.is_known() && spacing.is_known() { Input::Known(false) } else { Input::Unknown }
}

/// Whether a tier moves only because its blocks get another size. Its subnets then move to free space, if there is any,
/// so that they can be created before the old ones are deleted. A new spacing is a new place, which is used even if the
/// old subnets are in it.
fn is_resized(prior: &Config, config: &Config, tier: Tier) -> bool {
    let (bits, spacing) = (config.bits(tier).1, config.own_spacing(tier));
    let has_other_bits = bits.is_known() && bits != prior.bits(tier).1;
    has_other_bits && spacing.is_known() && is_same_spacing(prior, config, tier)
}

/// Whether the spacing of a tier has not changed. A number that was the default counts as none, because a plan that
/// changes nothing else keeps it in state after its removal from the configuration.
fn is_same_spacing(prior: &Config, config: &Config, tier: Tier) -> bool {
    let (was, is) = (prior.own_spacing(tier), config.own_spacing(tier));
    was == is || *is == Input::Known(None) && *was == default_offset(prior, tier).map(Some)
}

/// The block of the subnet's own `AZ-<index>` entry. While the map is unknown, every block of the tier is unknown.
fn explicit(config: &Config, (tier, index): SubnetSlot) -> Option<Input<Ipv4Net>> {
    match config.cidr_blocks(tier).1 {
        Input::Unknown => Some(Input::Unknown),
        Input::Known(entries) => match entries.get(&format!("AZ-{index}"))? {
            Input::Unknown => Some(Input::Unknown),
            // The validation reports an entry that is not a CIDR block.
            Input::Known(text) => text.parse::<Ipv4Net>().ok().map(|block| Input::Known(block.trunc())),
        },
    }
}

/// The current blocks of the subnets in these AZs. Blocks outside the ranges are ignored: a VPC with another primary
/// range is replaced, and a secondary range is removed after its subnets. If the only subnet at a position is pending
/// deletion, it is kept, because its tier or AZ is required again, unless the size of the tier's blocks has changed
/// since. In a tier in `resized`, only blocks of the new size are kept, such as those that an interrupted apply has
/// already created.
fn frozen(
    config: &Config,
    ranges: &[Ipv4Net],
    existing: &Inventory,
    places: &[ZoneSlot],
    resized: &[Tier],
) -> BTreeMap<SubnetSlot, Ipv4Net> {
    let staying = existing.entries.iter().filter(|entry| !entry.pending_deletion);
    let pending = existing.present().filter(|entry| entry.pending_deletion);
    let mut frozen = BTreeMap::new();
    for entry in staying.chain(pending).filter(|entry| entry.key.slot.starts_with("subnet.")) {
        let Spec::Subnet(subnet) = &entry.applied else { continue };
        // An AZ that gets the index of a removed AZ does not get its blocks.
        let block = block(subnet).filter(|block| contain(ranges, block) && is_in(subnet, places));
        let has_any_size = !entry.pending_deletion && !resized.contains(&subnet.tier);
        let block = block.filter(|block| has_any_size || has_size(config, ranges[0], subnet.tier, block));
        if let Some(block) = block {
            frozen.entry((subnet.tier, subnet.index)).or_insert(block);
        }
    }
    frozen
}

/// Whether the block has the size that the tier's bits determine. `true` if the bits are unknown.
fn has_size(config: &Config, vpc: Ipv4Net, tier: Tier, block: &Ipv4Net) -> bool {
    config.bits(tier).1.known().is_none_or(|bits| i64::from(vpc.prefix_len()) + bits == i64::from(block.prefix_len()))
}

/// The blocks of subnets that are pending deletion, of subnets whose tier or AZ the plan removes, of those that get
/// another size, and of duplicate subnets that an interrupted run left at one position. The list may include a subnet
/// that is kept after all: its block is already assigned. It includes those that do not exist any more, so that the
/// plan after a killed run assigns the same blocks as the plan of that run.
fn outgoing(existing: &Inventory, sites: &[SubnetSlot], places: &[ZoneSlot], resized: &[Tier]) -> Vec<Ipv4Net> {
    let subnets = existing.entries.iter().filter_map(|entry| match &entry.applied {
        Spec::Subnet(subnet) => {
            let has_a_place = entry.key.slot == keys::subnet_slot(subnet.tier, subnet.index)
                && sites.contains(&(subnet.tier, subnet.index))
                && is_in(subnet, places);
            (entry.pending_deletion || !has_a_place || resized.contains(&subnet.tier)).then_some(subnet)
        }
        _ => None,
    });
    subnets.filter_map(block).collect()
}

fn is_in(subnet: &Subnet, places: &[ZoneSlot]) -> bool {
    places.iter().any(|place| place.index == subnet.index && place.id == subnet.availability_zone_id)
}

fn block(subnet: &Subnet) -> Option<Ipv4Net> {
    subnet.cidr_block.known()?.parse().ok()
}

/// Reports explicit blocks outside the VPC's ranges, and blocks that overlap.
fn overlaps(
    config: &Config,
    ranges: &[Ipv4Net],
    blocks: &BTreeMap<SubnetSlot, Input<Ipv4Net>>,
) -> Result<(), Vec<Problem>> {
    let known: Vec<(SubnetSlot, Ipv4Net)> =
        blocks.iter().filter_map(|(site, block)| Some((*site, *block.known()?))).collect();
    let path = |(tier, index): SubnetSlot| AttributePath::new(config.cidr_blocks(tier).0).key(&format!("AZ-{index}"));
    let mut problems = Vec::new();
    for (position, (site, block)) in known.iter().enumerate() {
        if !contain(ranges, block) {
            problems.push(outside(path(*site), block, ranges));
        }
        for (other_site, other) in &known[position + 1..] {
            if overlap(block, other) {
                // The problem is reported for the explicit block, which the user can change.
                let (at, its, its_site, with) = match explicit(config, *other_site) {
                    Some(_) => (*other_site, other, site, block),
                    None => (*site, block, other_site, other),
                };
                let message = format!(
                    "{its} overlaps {with}, the block of subnet {} of the {} tier.",
                    its_site.1,
                    its_site.0.name()
                );
                problems.push(Problem::new(path(at), message, "Use a free block."));
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn is_free(block: &Ipv4Net, taken: &[Ipv4Net]) -> bool {
    taken.iter().all(|other| !overlap(block, other))
}

/// The free blocks of a VPC's range, sorted and aggregated into the fewest blocks.
pub(super) fn free_blocks(vpc: Ipv4Net, taken: &[Ipv4Net]) -> Vec<Ipv4Net> {
    let blocks = |(first, last)| Ipv4Subnets::new(first, last, 0);
    gaps(vpc, taken).into_iter().flat_map(blocks).collect()
}

/// The first eight free ranges, for a message.
fn free_ranges(vpc: Ipv4Net, taken: &[Ipv4Net]) -> String {
    let gaps = gaps(vpc, taken);
    let free: Vec<String> = gaps.iter().take(8).map(|(first, last)| format!("{first} to {last}")).collect();
    if free.is_empty() { "none".to_string() } else { free.join(", ") }
}

/// The first and the last address of each free range.
fn gaps(vpc: Ipv4Net, taken: &[Ipv4Net]) -> Vec<(Ipv4Addr, Ipv4Addr)> {
    let mut taken: Vec<(u64, u64)> = taken.iter().filter(|block| vpc.contains(*block)).map(range).collect();
    taken.sort_unstable();
    let (mut next, end) = range(&vpc);
    let mut free = Vec::new();
    for (first, last) in taken.into_iter().chain([(end + 1, end + 1)]) {
        if first > next {
            let address = |number: u64| Ipv4Addr::from(u32::try_from(number).unwrap_or(u32::MAX));
            free.push((address(next), address(first - 1)));
        }
        next = next.max(last + 1);
    }
    free
}

fn range(block: &Ipv4Net) -> (u64, u64) {
    (u32::from(block.network()).into(), u32::from(block.broadcast()).into())
}

fn as_text(blocks: BTreeMap<SubnetSlot, Input<Ipv4Net>>) -> BTreeMap<SubnetSlot, Input<String>> {
    blocks.into_iter().map(|(site, block)| (site, block.map(|block| block.to_string()))).collect()
}
