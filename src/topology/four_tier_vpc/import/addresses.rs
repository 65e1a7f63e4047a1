//! From the blocks of subnets to bits, spacings and explicit entries.

use std::collections::BTreeMap;

use ipnet::{Ipv4Net, Ipv6Net};

use super::subnets;
use crate::model::{Inventory, Subnet, Tier};
use crate::plugin::Value;
use crate::topology::four_tier_vpc::ipv6;

/// The inputs that place the subnets of a tier: bits, spacing and explicit blocks.
fn names(tier: Tier) -> (&'static str, Option<&'static str>, &'static str) {
    match tier {
        Tier::Public => ("public_subnet_bits", None, "public_subnet_cidr_blocks"),
        Tier::PrivateApp => ("private_subnet_bits", Some("private_subnet_spacing"), "private_app_subnet_cidr_blocks"),
        Tier::PrivatePersistence => {
            ("persistence_subnet_bits", Some("persistence_subnet_spacing"), "private_persistence_subnet_cidr_blocks")
        }
        Tier::Transit => ("transit_subnet_bits", Some("transit_subnet_spacing"), "transit_subnet_cidr_blocks"),
    }
}

/// Sets the bits and the spacing of each tier to those of most of its subnets, and an explicit entry for each other
/// subnet.
pub(super) fn blocks(inventory: &Inventory, attributes: &mut Value) {
    let Some(vpc) = range(attributes) else { return };
    for tier in Tier::ALL {
        let blocks = blocks_of(inventory, tier);
        if blocks.is_empty() {
            continue;
        }
        let (bits_name, spacing_name, entries_name) = names(tier);
        // Only explicit entries place subnets in a secondary range.
        let primary = || blocks.iter().filter(|(_, block)| vpc.contains(block));
        let length = most_common(primary().map(|(_, block)| block.prefix_len())).unwrap_or_default();
        let bits = i64::from(length) - i64::from(vpc.prefix_len());
        let has_bits = (0..=12).contains(&bits);
        if has_bits {
            attributes.set(bits_name, bits.into());
        }
        let offset = |(index, block): &(u32, Ipv4Net)| {
            (has_bits && vpc.contains(block) && block.prefix_len() == length)
                .then(|| number(vpc, *block) - i64::from(*index))
        };
        let spacing = match spacing_name {
            Some(_) => most_common(primary().filter_map(offset).filter(|it| (0..=4095).contains(it))),
            None => Some(0),
        };
        if let (Some(name), Some(spacing)) = (spacing_name, spacing) {
            attributes.set(name, spacing.into());
        }
        let elsewhere = blocks.iter().filter(|it| spacing.is_none() || offset(it) != spacing);
        let entries = elsewhere.map(|(index, block)| (format!("AZ-{index}"), block.to_string().into()));
        attributes.set(entries_name, Value::map(entries));
    }
}

/// Sets the bits of the IPv6 blocks of subnets, and an explicit entry for each block that is not at its computed place.
pub(super) fn ipv6_blocks(vpc: Option<&str>, subnets: &[&Subnet], attributes: &mut Value) {
    let Some(vpc) = vpc.and_then(|text| text.parse::<Ipv6Net>().ok()) else { return };
    let block = |it: &&Subnet| Some((it.tier, it.index, it.ipv6_cidr_block.known()?.as_deref()?.parse().ok()?));
    let blocks: Vec<(Tier, u32, Ipv6Net)> = subnets.iter().filter_map(block).collect();
    let Some(length) = most_common(blocks.iter().map(|(_, _, block)| block.prefix_len())) else { return };
    let bits = i64::from(length) - i64::from(vpc.prefix_len());
    if !(0..=8).contains(&bits) {
        return;
    }
    attributes.set("ipv6_subnet_bits", bits.into());
    let is_in_place = |(tier, index, block): &&(Tier, u32, Ipv6Net)| {
        let number = (u128::from(block.network()) - u128::from(vpc.network())) >> (128 - u32::from(length));
        block.prefix_len() == length && number == ipv6::first_of(*tier, 1 << bits) + u128::from(*index)
    };
    for tier in Tier::ALL {
        let elsewhere = blocks.iter().filter(|it| it.0 == tier && !is_in_place(it));
        let entries = elsewhere.map(|(_, index, block)| (format!("AZ-{index}"), block.to_string().into()));
        attributes.set(&format!("{}_subnet_ipv6_cidr_blocks", tier.slot()), Value::map(entries));
    }
}

/// Takes the bits and the spacing of each tier from the configuration where they cannot contradict the subnets. AWS
/// does not return the inputs that placed a subnet, so another spacing moves no subnet. Bits that match any subnet of
/// the tier are those of the tier, because the others may have explicit entries.
pub(super) fn take_as_applied(attributes: &mut Value, configuration: &Value, inventory: &Inventory) {
    let Some(vpc) = range(attributes).or_else(|| learned_range(inventory)) else { return };
    for tier in Tier::ALL {
        let (bits_name, spacing_name, _) = names(tier);
        if let Some(name) = spacing_name {
            attributes.set(name, configuration.get(name).clone());
        }
        let bits = configuration.get(bits_name);
        let length = match bits {
            Value::Number(bits) => bits.as_i64().map(|bits| bits + i64::from(vpc.prefix_len())),
            _ => None,
        };
        let mut blocks = blocks_of(inventory, tier);
        blocks.retain(|(_, block)| vpc.contains(block));
        if blocks.is_empty() || blocks.iter().any(|(_, block)| Some(i64::from(block.prefix_len())) == length) {
            attributes.set(bits_name, bits.clone());
        }
    }
}

fn range(attributes: &Value) -> Option<Ipv4Net> {
    attributes.get("cidr_block").as_str()?.parse().ok()
}

fn learned_range(inventory: &Inventory) -> Option<Ipv4Net> {
    inventory.at(crate::model::keys::network::VPC)?.learned.get("cidr_block")?.parse().ok()
}

fn blocks_of(inventory: &Inventory, tier: Tier) -> Vec<(u32, Ipv4Net)> {
    let block = |subnet: &&Subnet| Some((subnet.index, subnet.cidr_block.known()?.parse().ok()?));
    subnets(inventory, tier).iter().filter_map(block).collect()
}

/// The number of a block among the blocks of its size in the VPC.
fn number(vpc: Ipv4Net, block: Ipv4Net) -> i64 {
    let distance = i64::from(u32::from(block.network())) - i64::from(u32::from(vpc.network()));
    distance >> (32 - block.prefix_len())
}

/// The most frequent item, and the first of those that are equally frequent.
pub(super) fn most_common<T: Ord + Copy>(items: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: BTreeMap<T, (usize, std::cmp::Reverse<usize>)> = BTreeMap::new();
    for (position, item) in items.enumerate() {
        counts.entry(item).or_insert((0, std::cmp::Reverse(position))).0 += 1;
    }
    counts.into_iter().max_by_key(|(_, rank)| *rank).map(|(item, _)| item)
}
