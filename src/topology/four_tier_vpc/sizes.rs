//! Subnets that do not fit into the range of their VPC: one problem for all of them, and values that fit.

use std::collections::{BTreeMap, BTreeSet};

use ipnet::Ipv4Net;

use super::config::Config;
use super::zones::SubnetSlot;
use crate::model::Tier;
use crate::plugin::{AttributePath, Problem};

/// AWS allows no smaller subnet than /28.
pub(super) const SMALLEST: u8 = 28;

/// Why a subnet does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// Its size is smaller than AWS allows.
    TooSmall,
    /// The block with this number would be outside the range, which has fewer blocks of this size.
    NoSuchBlock(i64),
    /// All blocks of its size are in use.
    NoneFree,
}

/// A subnet without a block.
pub(super) type Unfit = (SubnetSlot, Reason);

/// What is known of a range.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) net: Ipv4Net,
    /// Whether only the length is known: a pool allocates the range.
    pub(super) is_of_pool: bool,
}

/// Those for which the advice has to make room.
pub(super) struct Wanted<'a> {
    /// The subnets whose blocks are computed.
    pub(super) new: &'a [SubnetSlot],
    /// The blocks that others have.
    pub(super) taken: &'a [Ipv4Net],
    /// The free ranges, for the message; empty if they are unknown.
    pub(super) free: String,
}

/// The problem of all subnets that do not fit. `fits` tells whether all of them fit with other bits.
pub(super) fn problem(
    config: &Config,
    range: Range,
    unfit: &[Unfit],
    wanted: &Wanted<'_>,
    fits: impl Fn(&Config) -> bool,
) -> Problem {
    let tiers: BTreeSet<Tier> = unfit.iter().map(|((tier, _), _)| *tier).collect();
    let first = unfit.first().map_or(Tier::Public, |((tier, _), _)| *tier);
    let lines: Vec<String> = tiers.iter().map(|tier| line(config, range, *tier, unfit)).collect();
    let at = match range.is_of_pool {
        true => format!("a range of /{}", range.net.prefix_len()),
        false => range.net.to_string(),
    };
    let mut message = format!("Not all subnets fit into {at}:\n{}", lines.join("\n"));
    if !wanted.free.is_empty() {
        message.push_str(&format!("\nFree ranges: {}.", wanted.free));
    }
    let advice = [
        with_bits(config, range.net.prefix_len(), &tiers, fits),
        (!range.is_of_pool).then(|| with_blocks(config, range.net, &tiers, wanted)).flatten(),
    ];
    let advice: Vec<String> = advice.into_iter().flatten().collect();
    let hint = match advice.as_slice() {
        [] => "Use a larger range, or fewer AZs or tiers.".to_string(),
        _ => format!("\n\n{}\n\nA larger range, or fewer AZs or tiers, make room too.", advice.join("\n\n")),
    };
    Problem::new(AttributePath::new(config.bits(first).0), message, hint)
}

/// Why the subnets of a tier do not fit.
fn line(config: &Config, range: Range, tier: Tier, unfit: &[Unfit]) -> String {
    let (name, bits) = config.bits(tier);
    let bits = bits.known().copied().unwrap_or_default();
    let length = i64::from(range.net.prefix_len()) + bits;
    let reasons: BTreeSet<Reason> = unfit.iter().filter(|((it, _), _)| *it == tier).map(|(_, it)| *it).collect();
    let numbers: Vec<i64> = reasons
        .iter()
        .filter_map(|reason| match reason {
            Reason::NoSuchBlock(number) => Some(*number),
            Reason::TooSmall | Reason::NoneFree => None,
        })
        .collect();
    let tier = tier.slot();
    if reasons.contains(&Reason::TooSmall) {
        return format!("  {tier}: {name} = {bits} makes subnets of /{length}, and AWS allows none smaller than /28.");
    }
    let mut clauses =
        vec![format!("{name} = {bits} makes {} of /{length}, 0 to {}", 1_i64 << bits, (1_i64 << bits) - 1)];
    if let (Some(first), Some(last)) = (numbers.first(), numbers.last()) {
        let blocks = if first == last { format!("block {first}") } else { format!("blocks {first} to {last}") };
        clauses.push(format!("its spacing requires {blocks}"));
    }
    if reasons.contains(&Reason::NoneFree) {
        clauses.push("not enough of them are free".to_string());
    }
    format!("  {tier}: {}.", clauses.join(", and "))
}

/// The largest subnets of these tiers that fit without another spacing.
fn with_bits(config: &Config, length: u8, tiers: &BTreeSet<Tier>, fits: impl Fn(&Config) -> bool) -> Option<String> {
    let most = i64::from(SMALLEST.saturating_sub(length));
    let mut candidate = config.clone();
    for tier in tiers {
        let bits = candidate.bits(*tier).1.known().copied()?.min(most);
        candidate.set_bits(*tier, bits);
    }
    while !fits(&candidate) {
        // The largest subnets become smaller first.
        let bits = |tier: &&Tier| candidate.bits(**tier).1.known().copied().unwrap_or(most);
        let largest = *tiers.iter().filter(|tier| bits(tier) < most).min_by_key(bits)?;
        let more = bits(&&largest) + 1;
        candidate.set_bits(largest, more);
    }
    let value = |tier: &Tier| {
        let (name, bits) = candidate.bits(*tier);
        Some(format!("  {name} = {}", bits.known()?))
    };
    let values: Vec<String> = tiers.iter().filter_map(value).collect();
    Some(format!(
        "set these values, which make the largest subnets that fit with these spacings:\n{}",
        values.join("\n")
    ))
}

/// Blocks to paste: of the chosen sizes if these fit, otherwise of the largest that do.
fn with_blocks(
    config: &Config,
    range: Ipv4Net,
    tiers: &BTreeSet<Tier>,
    &Wanted { new, taken, .. }: &Wanted<'_>,
) -> Option<String> {
    let length = |tier: Tier| {
        let bits = config.bits(tier).1.known().and_then(|bits| u8::try_from(*bits).ok())?;
        Some((tier, range.prefix_len().saturating_add(bits).clamp(16, SMALLEST)))
    };
    let wanted: BTreeMap<Tier, u8> =
        new.iter().map(|(tier, _)| *tier).collect::<BTreeSet<_>>().into_iter().map(length).collect::<Option<_>>()?;
    let mut lengths = wanted.clone();
    let blocks = loop {
        match arranged(range, &lengths, new, taken) {
            Some(blocks) => break blocks,
            // The largest subnets become smaller first.
            None => *lengths.values_mut().filter(|length| **length < SMALLEST).min()? += 1,
        }
    };
    let is_chosen = tiers.iter().all(|tier| lengths[tier] == wanted[tier] && !is_too_small(config, range, *tier));
    let what = if is_chosen && lengths == wanted { "subnets of these sizes" } else { "the largest subnets that fit" };
    let of_tier = |tier: &Tier| {
        let own = blocks.iter().filter(|((it, _), _)| it == tier);
        let lines: Vec<String> = own.map(|((_, index), block)| format!("    \"AZ-{index}\" = \"{block}\"")).collect();
        format!("  {} = {{\n{}\n  }}", Config::cidr_blocks_name(*tier), lines.join("\n"))
    };
    let maps: Vec<String> = lengths.keys().map(of_tier).collect();
    Some(format!("Place {what} with these blocks:\n{}", maps.join("\n")))
}

fn is_too_small(config: &Config, range: Ipv4Net, tier: Tier) -> bool {
    let bits = config.bits(tier).1.known().copied().unwrap_or_default();
    i64::from(range.prefix_len()) + bits > i64::from(SMALLEST)
}

/// A block for each subnet, those of the largest first, which leaves no gaps between them.
fn arranged(
    range: Ipv4Net,
    lengths: &BTreeMap<Tier, u8>,
    new: &[SubnetSlot],
    taken: &[Ipv4Net],
) -> Option<BTreeMap<SubnetSlot, Ipv4Net>> {
    let mut sites: Vec<(u8, SubnetSlot)> = new.iter().map(|site| (lengths[&site.0], *site)).collect();
    sites.sort_unstable();
    let (mut blocks, mut taken) = (BTreeMap::new(), taken.to_vec());
    for (length, site) in sites {
        let is_free = |block: &Ipv4Net| taken.iter().all(|it| !it.contains(block) && !block.contains(it));
        let block = range.subnets(length).ok()?.find(is_free)?;
        taken.push(block);
        blocks.insert(site, block);
    }
    Some(blocks)
}
