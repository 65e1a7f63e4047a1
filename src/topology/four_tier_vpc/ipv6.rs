//! IPv6: the range of the VPC, and the blocks of subnets.
//!
//! The subnet in AZ i first gets block number i of those of its tier, which begin at a quarter of the range for each
//! tier before it. From then on its block is frozen, as IPv4 blocks are. AWS changes a block in place, but never
//! assigns the same addresses to two subnets, not even for a moment, so a subnet avoids the blocks that other subnets
//! still have.

pub(super) mod tiers;

use std::collections::BTreeMap;

use ipnet::Ipv6Net;

use super::canonical;
use super::config::Config;
use super::unmanaged_subnets::UnmanagedSubnets;
use super::vpc::new_key;
use super::zones::SubnetSlot;
use crate::model::keys::network as keys;
use crate::model::{Entry, Inventory, Ipv6Source, Key, Object, Spec, Subnet, Tier, VpcIpv6Block};
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::Context;

/// The prefix lengths that AWS allows for subnets, within the specified range from /56 to /64.
pub(super) const SUBNET_LENGTHS: [i64; 3] = [56, 60, 64];

/// The range that the configuration requires, or the problem if it is invalid.
pub(super) fn range(context: &Context<'_, Config>, vpc: &Key) -> Result<Object, Problem> {
    let wanted = source(context.config)?;
    let region = &context.scope.region;
    let existing = ranges(context.existing).find(|(entry, it)| is_compatible(entry, &it.source, &wanted, region));
    let (key, source) = match existing {
        Some((entry, it)) => (entry.key.clone(), kept_source(&it.source, &wanted)),
        None => (keys::ipv6_cidr_block(&wanted), wanted),
    };
    if let (Ipv6Source::Amazon { .. }, Input::Known(Some(requested))) = (&source, &context.config.ipv6_cidr_block) {
        let current = existing.and_then(|(entry, _)| actual(entry));
        if current.is_none_or(|current| requested.parse() != Ok(current)) {
            let has = current.map_or("has no range yet".to_string(), |current| format!("has {current}"));
            return Err(Problem::new(
                AttributePath::new("ipv6_cidr_block"),
                format!("{requested} cannot be requested, because Amazon chooses the range, and the network {has}."),
                "Remove ipv6_cidr_block, or request the range from a pool with ipv6_ipam_pool_id.",
            ));
        }
    }
    Ok(Object::new(key, Spec::VpcIpv6Block(VpcIpv6Block { vpc: vpc.clone(), source })))
}

/// The range that this configuration requires, if any. A range carries no tags: once no subnet has a block of it, it
/// can be found only by its ID.
pub(super) fn remembered(config: &Config) -> Option<Object> {
    let source = source(config).ok().filter(|_| config.enable_ipv6 == Input::Known(true))?;
    let block = VpcIpv6Block { vpc: new_key(config), source };
    Some(Object::new(keys::ipv6_cidr_block(&block.source), Spec::VpcIpv6Block(block)))
}

/// The source of the range, or the problem if the configuration has none.
pub(super) fn source(config: &Config) -> Result<Ipv6Source, Problem> {
    let (generated, pool_id) = (&config.assign_generated_ipv6_cidr_block, &config.ipv6_ipam_pool_id);
    let is_amazon = match generated {
        Input::Known(generated) => *generated == Some(true),
        Input::Unknown => *pool_id == Input::Known(None),
    };
    if is_amazon {
        let network_border_group = config.ipv6_cidr_block_network_border_group.clone();
        return Ok(Ipv6Source::Amazon { network_border_group });
    }
    if *pool_id == Input::Known(None) {
        return Err(Problem::new(
            AttributePath::new("enable_ipv6"),
            "enable_ipv6 is true, but the IPv6 range has no source.",
            "Set assign_generated_ipv6_cidr_block to true for an Amazon-provided range, or set ipv6_ipam_pool_id.",
        ));
    }
    Ok(Ipv6Source::Pool {
        pool_id: pool_id.clone(),
        cidr_block: config.ipv6_cidr_block.clone().map(|cidr| cidr.map(|cidr| canonical(&cidr))),
        netmask_length: config.ipv6_netmask_length.clone(),
    })
}

/// The keys of subnets.
type Subnets = BTreeMap<SubnetSlot, Key>;

/// The blocks of subnets.
type Blocks = BTreeMap<SubnetSlot, Input<Ipv6Net>>;

/// The block of each subnet in the tiers with IPv6. `all` are the subnets of the network.
///
/// A block is unknown if it depends on an unknown input or on a range that does not exist yet.
pub(super) fn blocks(context: &Context<'_, Config>, range: &Object, all: &Subnets) -> Result<Blocks, Vec<Problem>> {
    let config = context.config;
    let with_blocks = tiers::with_blocks(config).unwrap_or_default();
    let subnets = all.iter().filter(|((tier, _), _)| with_blocks.contains(tier));
    let subnets: &Subnets = &subnets.map(|(site, key)| (*site, key.clone())).collect();
    let pool = match (known_range(range, context.existing), &config.ipv6_subnet_bits) {
        (Some(range), Input::Known(bits)) => Some(Ipv6BlockPool::new(range, *bits).map_err(|problem| vec![problem])?),
        _ => None,
    };
    let mut blocks = Blocks::new();
    for (site, key) in subnets {
        let block = match (explicit(config, *site), &pool) {
            (Some(explicit), _) => explicit,
            (None, None) => Input::Unknown,
            // It is unknown whether the subnet is the existing one.
            (None, Some(_)) if !key.fixed.is_known() => Input::Unknown,
            (None, Some(pool)) => match frozen(context, key, pool) {
                Some(block) => Input::Known(block),
                None => continue,
            },
        };
        blocks.insert(*site, block);
    }
    let problems: Vec<Problem> =
        subnets.iter().filter_map(|(site, key)| unexpressed_block(context.existing, *site, key)).collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    let held = held(context.existing);
    let unmanaged = UnmanagedSubnets::of(context.existing);
    let mut problems = conflicts(config, (subnets, all), &blocks, known_range(range, context.existing), &held);
    problems.extend(taken_by_others(config, &blocks, &held, &unmanaged));
    if !problems.is_empty() {
        return Err(problems);
    }
    let new: Vec<(SubnetSlot, &Key)> =
        subnets.iter().filter(|(site, _)| !blocks.contains_key(site)).map(|(site, key)| (*site, key)).collect();
    match pool.filter(|_| blocks.values().all(Input::is_known)) {
        Some(pool) => {
            let deleted = context.existing.entries.iter().filter(|entry| entry.is_missing());
            let deleted = deleted
                .filter(|entry| all.values().all(|key| *key != entry.key))
                .filter_map(|entry| Subnet::of(&entry.applied)?.ipv6_network());
            // The plan after a killed run assigns the same blocks as the plan of that run.
            let theirs: Vec<Ipv6Net> = unmanaged.ipv6_blocks().map(|(_, block)| block).chain(deleted).collect();
            place(&pool, all, &new, (&held, &theirs), &mut blocks)?;
        }
        // An unknown block may overlap any computed one, so new blocks stay unknown.
        None => blocks.extend(new.into_iter().map(|(site, _)| (site, Input::Unknown))),
    }
    Ok(blocks)
}

/// Assigns to each new subnet the block of its tier and index if that is free, else the next free block. `all` are the
/// subnets of the network, and `theirs` the blocks of unmanaged and deleted ones.
fn place(
    pool: &Ipv6BlockPool,
    all: &Subnets,
    new: &[(SubnetSlot, &Key)],
    (held, theirs): (&[(&Key, Ipv6Net)], &[Ipv6Net]),
    blocks: &mut Blocks,
) -> Result<(), Vec<Problem>> {
    let mut taken: Vec<Ipv6Net> = blocks.values().filter_map(Input::known).chain(theirs).copied().collect();
    // A subnet's own block may overlap its new one.
    let is_unheld = |block: &Ipv6Net, key: &Key| held.iter().all(|(at, theirs)| *at == key || !overlap(block, theirs));
    let mut displaced = Vec::new();
    for (site, key) in new {
        let own = pool.block(pool.first_of(*site));
        match own.filter(|block| is_free(block, &taken) && is_unheld(block, key)) {
            Some(block) => {
                taken.push(block);
                blocks.insert(*site, Input::Known(block));
            }
            None => displaced.push((*site, *key)),
        }
    }
    let mut problems = Vec::new();
    for (site, key) in displaced {
        let first = pool.first_of(site).min(pool.count());
        // A VPC has at most 200 subnets unless AWS has raised the quota, so 1024 candidates suffice.
        let candidates = || (first..pool.count()).chain(0..first).take(1024).filter_map(|number| pool.block(number));
        // A new subnet can wait for the deletion of an old one.
        let is_created = held.iter().all(|(holder, _)| *holder != key);
        let stays = |holder: &Key| all.values().any(|key| key == holder);
        let is_free_later =
            |block: &Ipv6Net| held.iter().all(|(holder, theirs)| !stays(holder) || !overlap(block, theirs));
        let found = candidates()
            .find(|block| is_free(block, &taken) && is_unheld(block, key))
            .or_else(|| candidates().find(|block| is_created && is_free(block, &taken) && is_free_later(block)));
        match found {
            Some(block) => {
                taken.push(block);
                blocks.insert(site, Input::Known(block));
            }
            None => problems.push(Problem::new(
                AttributePath::new("ipv6_subnet_bits"),
                format!(
                    "There is no free /{} in {} for {}: the range has room for {}, and {} subnets need one.",
                    pool.length,
                    pool.range,
                    name(site),
                    pool.count(),
                    taken.len() + 1
                ),
                "Increase ipv6_subnet_bits, use fewer AZs, or remove tiers from ipv6_subnet_tiers.",
            )),
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// The VPC's range, divided into blocks of one size.
struct Ipv6BlockPool {
    range: Ipv6Net,
    /// The prefix length of a block.
    length: u8,
}

impl Ipv6BlockPool {
    fn new(range: Ipv6Net, bits: i64) -> Result<Ipv6BlockPool, Problem> {
        match size(i64::from(range.prefix_len()), bits) {
            Ok(length) => Ok(Ipv6BlockPool { range, length }),
            Err(message) => Err(Problem::new(AttributePath::new("ipv6_subnet_bits"), message, SIZE_HINT)),
        }
    }

    fn count(&self) -> u128 {
        1 << (self.length - self.range.prefix_len())
    }

    /// The number of the block that a subnet gets if it is free.
    fn first_of(&self, (tier, index): SubnetSlot) -> u128 {
        first_of(tier, self.count()) + u128::from(index)
    }

    fn block(&self, number: u128) -> Option<Ipv6Net> {
        let address = u128::from(self.range.network()) + (number << (128 - self.length));
        Ipv6Net::new(address.into(), self.length).ok().filter(|_| number < self.count())
    }
}

/// The number of the first block of a tier in a range of this number of blocks.
pub(super) fn first_of(tier: Tier, count: u128) -> u128 {
    let before = Tier::ALL.into_iter().take_while(|it| *it != tier);
    before.map(|_| count / 4).sum()
}

/// A subnet in messages.
fn name((tier, index): SubnetSlot) -> String {
    format!("{} subnet {index}", tier.name())
}

pub(super) const SIZE_HINT: &str = "Use a number that results in /56, /60 or /64, such as 8 for a range of /56.";

/// The prefix length of the subnets of a range of this length with this number of bits, or the message of the problem.
pub(super) fn size(range: i64, bits: i64) -> Result<u8, String> {
    let length = range + bits;
    match u8::try_from(length) {
        Ok(short) if SUBNET_LENGTHS.contains(&length) => Ok(short),
        _ => Err(format!("{bits} bits divide an IPv6 range of /{range} into subnets of /{length}, which AWS rejects.")),
    }
}

/// The existing ranges of the VPC, those that are pending deletion last.
fn ranges(existing: &Inventory) -> impl Iterator<Item = (&Entry, &VpcIpv6Block)> {
    let mut entries: Vec<&Entry> = existing.present().filter(|entry| entry.key.slot == keys::IPV6_CIDR_BLOCK).collect();
    entries.sort_by_key(|entry| entry.pending_deletion);
    entries.into_iter().filter_map(|entry| VpcIpv6Block::of(&entry.applied).map(|block| (entry, block)))
}

/// Whether the existing range satisfies the configuration. AWS does not return the pool of an imported range.
fn is_compatible(entry: &Entry, source: &Ipv6Source, wanted: &Ipv6Source, region: &str) -> bool {
    match (source, wanted) {
        (
            Ipv6Source::Amazon { network_border_group: existing },
            Ipv6Source::Amazon { network_border_group: wanted },
        ) => {
            // The Region's own border group is the default.
            let explicit =
                |group: &Input<Option<String>>| group.clone().map(|group| group.filter(|group| group != region));
            wanted.is_known() && explicit(existing) == explicit(wanted)
        }
        (Ipv6Source::Pool { pool_id: existing, .. }, Ipv6Source::Pool { pool_id, cidr_block, netmask_length }) => {
            let range = actual(entry);
            let is_pool = pool_id.is_known() && (existing == pool_id || *existing == Input::Known(None));
            let is_range = match cidr_block {
                Input::Known(Some(text)) => range.is_none_or(|range| text.parse() == Ok(range)),
                Input::Known(None) => true,
                Input::Unknown => false,
            };
            let is_length = match netmask_length {
                Input::Known(Some(length)) => range.is_none_or(|range| i64::from(range.prefix_len()) == *length),
                Input::Known(None) => true,
                Input::Unknown => false,
            };
            is_pool && is_range && is_length
        }
        _ => false,
    }
}

/// The source of a range that is kept: the inputs of its creation, except for the pool, which the configuration
/// provides for an imported range.
fn kept_source(source: &Ipv6Source, wanted: &Ipv6Source) -> Ipv6Source {
    let mut source = source.clone();
    if let (Ipv6Source::Pool { pool_id, .. }, Ipv6Source::Pool { pool_id: wanted, .. }) = (&mut source, wanted) {
        *pool_id = wanted.clone();
    }
    source
}

/// The CIDR block of an existing range.
fn actual(entry: &Entry) -> Option<Ipv6Net> {
    let learned = entry.learned.get("ipv6_cidr_block").and_then(|text| text.parse().ok());
    learned.or_else(|| match &entry.applied {
        Spec::VpcIpv6Block(VpcIpv6Block { source: Ipv6Source::Pool { cidr_block, .. }, .. }) => {
            cidr_block.known()?.as_ref()?.parse().ok()
        }
        _ => None,
    })
}

/// The CIDR block of the required range, if it is known because the range exists or because the configuration requests
/// it.
fn known_range(range: &Object, existing: &Inventory) -> Option<Ipv6Net> {
    let current = ranges(existing).find(|(entry, _)| entry.key == range.key).and_then(|(entry, _)| actual(entry));
    current.or_else(|| match &range.spec {
        Spec::VpcIpv6Block(VpcIpv6Block { source: Ipv6Source::Pool { cidr_block, .. }, .. }) => {
            cidr_block.known()?.as_ref()?.parse().ok()
        }
        _ => None,
    })
}

/// The block of the subnet's own entry. While the map is unknown, every block is unknown.
fn explicit(config: &Config, (tier, index): SubnetSlot) -> Option<Input<Ipv6Net>> {
    match config.ipv6_cidr_blocks(tier).1 {
        Input::Unknown => Some(Input::Unknown),
        Input::Known(entries) => match entries.get(&format!("AZ-{index}"))? {
            Input::Unknown => Some(Input::Unknown),
            // The validation reports an entry that is not a CIDR block.
            Input::Known(text) => text.parse::<Ipv6Net>().ok().map(|block| Input::Known(block.trunc())),
        },
    }
}

/// The current block of the subnet, unless the size of blocks has changed since.
fn frozen(context: &Context<'_, Config>, key: &Key, pool: &Ipv6BlockPool) -> Option<Ipv6Net> {
    // A subnet that was deleted outside Terraform is created again with the same block.
    let entry = context.existing.entries.iter().find(|entry| entry.key == *key)?;
    let Spec::Subnet(subnet) = &entry.applied else { return None };
    let block: Ipv6Net = subnet.ipv6_cidr_block.known()?.as_ref()?.parse().ok()?;
    let is_same_size = context.prior.is_none_or(|prior| prior.ipv6_subnet_bits == context.config.ipv6_subnet_bits)
        || block.prefix_len() == pool.length;
    (pool.range.contains(&block) && is_same_size).then_some(block)
}

/// The blocks that subnets have now, by their last apply or in AWS.
fn held(existing: &Inventory) -> Vec<(&Key, Ipv6Net)> {
    let blocks = existing.present().flat_map(|entry| {
        let specs = [Some(&entry.applied), entry.observed()].into_iter().flatten();
        specs.filter_map(Subnet::of).filter_map(|subnet| Some((&entry.key, subnet.ipv6_network()?)))
    });
    blocks.collect()
}

/// Reports entries outside the range, blocks that overlap, and entries with a block that another subnet still has.
fn conflicts(
    config: &Config,
    (subnets, all): (&Subnets, &Subnets),
    blocks: &Blocks,
    range: Option<Ipv6Net>,
    held: &[(&Key, Ipv6Net)],
) -> Vec<Problem> {
    let path =
        |(tier, index): SubnetSlot| AttributePath::new(config.ipv6_cidr_blocks(tier).0).key(&format!("AZ-{index}"));
    let known: Vec<(SubnetSlot, Ipv6Net)> =
        blocks.iter().filter_map(|(site, block)| Some((*site, *block.known()?))).collect();
    let mut problems = Vec::new();
    for (site, block) in known.iter().filter(|(site, _)| explicit(config, *site).is_some()) {
        if let Some(range) = range.filter(|range| !range.contains(block)) {
            let message = format!("{block} is outside the VPC's IPv6 range {range}.");
            problems.push(Problem::new(path(*site), message, format!("Use a block inside {range}.")));
        }
        // Two entries that overlap are reported once, for the second one.
        let is_reported = |other: SubnetSlot| other < *site && explicit(config, other).is_some();
        let others = known.iter().filter(|(other, theirs)| other != site && overlap(block, theirs));
        for (other, theirs) in others.filter(|(other, _)| !is_reported(*other)) {
            let message = format!("{block} overlaps {theirs}, the block of {}.", name(*other));
            problems.push(Problem::new(path(*site), message, "Use a free block."));
        }
        let is_created = held.iter().all(|(holder, _)| Some(*holder) != subnets.get(site));
        let is_blocking = |holder: &Key| match subnets.iter().find(|(_, key)| *key == holder) {
            Some((at, _)) if at == site => false,
            // If that subnet keeps its block, the overlap was reported above.
            Some((at, _)) => {
                blocks.get(at).is_none_or(|block_then| block_then.known().is_some_and(|it| !overlap(it, block)))
            }
            // A new subnet waits for the deletion of the holder, but not for a change of it; a subnet that changes in
            // place waits for neither.
            None => !is_created || all.values().any(|key| key == holder),
        };
        if let Some((holder, theirs)) = held.iter().find(|(key, theirs)| overlap(block, theirs) && is_blocking(key)) {
            let message = format!("{block} overlaps {theirs}, which {holder} has until this change is applied.");
            let hint = "Make the change in two applies, or use a free block.";
            problems.push(Problem::new(path(*site), message, hint));
        }
    }
    problems
}

/// Reports a subnet that has a block of a range that no input expresses. AWS allows a subnet only one.
fn unexpressed_block(existing: &Inventory, site: SubnetSlot, key: &Key) -> Option<Problem> {
    let entry = existing.present().find(|entry| entry.key == *key)?;
    let block = entry.learned.unexpressed.get(Subnet::UNEXPRESSED_IPV6_BLOCK)?;
    let message = format!(
        "{} ({}) already has the IPv6 block {block}, from a range of the VPC that no input expresses. AWS allows a subnet \
         only one block.",
        name(site),
        entry.id
    );
    let hint = format!("Remove {} from ipv6_subnet_tiers, or disassociate that block from the subnet.", site.0.slot());
    Some(Problem::new(AttributePath::new("ipv6_subnet_tiers"), message, hint))
}

/// Reports entries with a block of an unmanaged subnet.
fn taken_by_others(
    config: &Config,
    blocks: &Blocks,
    held: &[(&Key, Ipv6Net)],
    unmanaged: &UnmanagedSubnets,
) -> Vec<Problem> {
    let problem = |(site, block): (&SubnetSlot, &Input<Ipv6Net>)| {
        let (block, _) = (block.known()?, explicit(config, *site)?);
        // AWS allows no overlap, so an unmanaged subnet with the block of a managed one no longer exists.
        let is_ours = held.iter().any(|(_, ours)| ours == block);
        let (id, theirs) = unmanaged.ipv6_blocks().find(|(_, theirs)| !is_ours && overlap(block, theirs))?;
        let path = AttributePath::new(config.ipv6_cidr_blocks(site.0).0).key(&format!("AZ-{}", site.1));
        let message = format!("{block} overlaps {theirs}, the block of the unmanaged subnet {id}.");
        Some(Problem::new(path, message, "Use a free block, or delete that subnet and then run plan again."))
    };
    blocks.iter().filter_map(problem).collect()
}

fn is_free(block: &Ipv6Net, taken: &[Ipv6Net]) -> bool {
    taken.iter().all(|other| !overlap(block, other))
}

fn overlap(a: &Ipv6Net, b: &Ipv6Net) -> bool {
    a.contains(b) || b.contains(a)
}

#[cfg(test)]
mod tests;
