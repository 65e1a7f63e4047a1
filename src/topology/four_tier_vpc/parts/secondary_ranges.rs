//! Secondary IPv4 ranges of the VPC. Subnets get addresses of them only by explicit blocks.

mod restrictions;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use ipnet::{IpNet, Ipv4Net};

use super::Part;
use crate::model::keys::network as keys;
use crate::model::{Input, Inventory, Key, OccupiedAddresses, Scope, Spec, Tier, VpcCidrBlock};
use crate::plugin::{AttributePath, Problem, Value};
use crate::topology::Context;
use crate::topology::alternatives::Change;
use crate::topology::four_tier_vpc::blueprint::{Built, Draft};
use crate::topology::four_tier_vpc::classify::Classifier;
use crate::topology::four_tier_vpc::config::Config;
use crate::topology::four_tier_vpc::problems::Problems;
use crate::topology::four_tier_vpc::ranges::{overlap, reserved, secondary};
use crate::topology::four_tier_vpc::unmanaged_subnets::UnmanagedSubnets;
use crate::topology::four_tier_vpc::vpc;
use crate::topology::mirrored::Found;

/// The input.
const NAME: &str = "secondary_cidr_blocks";

/// AWS's default quota of IPv4 ranges of a VPC, and the one to which it can be raised. The primary range counts.
const DEFAULT_QUOTA: usize = 5;
const HIGHEST_QUOTA: usize = 50;

/// Whether a map of blocks has one in a range, or may have one.
fn has_subnets(config: &Config, range: &Ipv4Net) -> bool {
    Tier::ALL.into_iter().any(|tier| {
        let blocks = config.cidr_blocks(tier).1.known().map(|blocks| blocks.values());
        let is_within = |text: &String| text.parse::<Ipv4Net>().is_ok_and(|block| range.contains(&block));
        blocks.is_none_or(|mut blocks| blocks.any(|block| block.known().is_none_or(is_within)))
    })
}

/// The secondary ranges of the VPC.
pub(in super::super) struct SecondaryRanges;

impl Part for SecondaryRanges {
    /// Unknown while one of the ranges is.
    fn is_wanted(&self, config: &Config) -> Input<bool> {
        secondary(config).map_or(Input::Unknown, |ranges| Input::Known(!ranges.is_empty()))
    }

    fn problems(&self, config: &Config) -> Vec<Problem> {
        let mut problems = Problems::default();
        let texts = config.secondary_cidr_blocks.known().into_iter().flatten();
        let mut ranges: Vec<Ipv4Net> = Vec::new();
        for text in texts.filter_map(Input::known) {
            let Some(IpNet::V4(range)) = problems.cidr_block(path(), text, "100.64.0.0/16") else { continue };
            if !(16..=28).contains(&range.prefix_len()) {
                let message = format!("{text} is a /{}, but only /16 to /28 are allowed.", range.prefix_len());
                problems.add(path(), message, "Use a prefix length from 16 to 28.");
            } else if let Some((whole, purpose)) = reserved(&range) {
                let message = format!("{range} is in {whole}, which is reserved for {purpose}.");
                problems.add(path(), message, "Use another range, such as 100.64.0.0/16.");
            } else {
                ranges.push(range);
            }
        }
        let primary = config.cidr_block.known().and_then(|text| text.as_deref()?.parse().ok());
        for (position, range) in ranges.iter().enumerate() {
            let others =
                ranges[..position].iter().map(|it| (it, "")).chain(primary.iter().map(|it| (it, " of cidr_block")));
            for (other, of) in others.filter(|(other, _)| overlap(range, other)) {
                problems.add(path(), format!("{range} overlaps {other}{of}."), "Use ranges that do not overlap.");
            }
        }
        if ranges.len() >= HIGHEST_QUOTA {
            let message = format!(
                "The VPC would have {} ranges with the primary one, but AWS allows at most {HIGHEST_QUOTA}.",
                ranges.len() + 1
            );
            problems.add(path(), message, "Use fewer, larger ranges.");
        }
        problems.0
    }

    /// A single warning, because Terraform shows only the first of several ones about one attribute.
    fn warnings(&self, context: &Context<'_, Config>) -> Vec<Problem> {
        let occupied = OccupiedAddresses::of(context.existing);
        let (config, new) = (context.config, new(context));
        let wanted = secondary(config).unwrap_or_default();
        let primary = vpc::range(config, context.existing);
        let (mut messages, mut hints) = (Vec::new(), BTreeSet::new());
        for range in &new {
            if !has_subnets(config, range) {
                messages.push(format!("No subnet of this resource has addresses of {range}."));
                hints.insert(
                    "List blocks of the range in a map such as private_app_subnet_cidr_blocks, or leave it to subnets that \
                     something else creates.",
                );
            }
            if let Some(id) = occupied.ranges.get(range) {
                messages.push(format!(
                    "The VPC has {range} already ({id}). This resource takes the association over, and removes it when \
                     the range leaves {NAME}."
                ));
                hints.insert("Remove the range from the configuration that manages it until now, without deleting it.");
                continue;
            }
            let others = wanted.iter().filter(|it| *it != range).chain(occupied.ranges.keys());
            let all = primary.iter().map(|it| (it, true)).chain(others.map(|it| (it, false)));
            let mut rules =
                all.filter_map(|(it, is_primary)| Some((it, restrictions::between(range, it, is_primary)?)));
            if let Some((other, rule)) = rules.next() {
                messages.push(format!("AWS may reject {range}, because the VPC has {other}: {rule}."));
                hints.insert("Use a range of 100.64.0.0/10, or one of the same private block as the others.");
            }
        }
        let all: BTreeSet<&Ipv4Net> = primary.iter().chain(&wanted).chain(occupied.ranges.keys()).collect();
        if all.len() > DEFAULT_QUOTA && !new.is_empty() {
            messages
                .push(format!("The VPC would have {} ranges, but AWS allows {DEFAULT_QUOTA} by default.", all.len()));
            hints.insert("Request a higher quota first, or use fewer, larger ranges.");
        }
        let hint = hints.into_iter().collect::<Vec<_>>().join(" ");
        (!messages.is_empty()).then(|| Problem::new(path(), messages.join(" "), hint)).into_iter().collect()
    }

    /// Adds the ranges, and the problems that only AWS would find otherwise.
    fn draft_before_subnets(&self, draft: &mut Draft<'_>) {
        let context = draft.context;
        for range in secondary(context.config).unwrap_or_default() {
            let cidr_block = range.to_string();
            let spec = VpcCidrBlock { vpc: draft.vpc.clone(), cidr_block };
            draft.add(&keys::cidr_block(&spec.cidr_block), Spec::VpcCidrBlock(spec));
        }
        draft.problems.extend(removed_in_use(context));
        draft.problems.extend(new(context).iter().flat_map(|range| excluded(range, context)));
    }

    /// The ranges precede the subnets.
    fn draft(&self, _: &mut Draft<'_>, _: &Built<'_>) {}

    /// The known ranges, with and without ranges around all explicit blocks that are in none of them, and with and
    /// without another one. The primary range of a pool, which is not known here, may be one around a block.
    fn alternatives(&self, config: &Config) -> Vec<Change<Config>> {
        if secondary(config).is_some() {
            return Vec::new();
        }
        let decided = |(is_around, has_another): (bool, bool)| -> Change<Config> {
            Box::new(move |config| {
                let given = config.secondary_cidr_blocks.known().cloned().unwrap_or_default();
                let mut all: BTreeSet<Input<String>> = given.into_iter().filter(Input::is_known).collect();
                let around = around_explicit_blocks(config).into_iter().filter(|_| is_around);
                let another = has_another.then(|| "100.127.0.0/16".to_string());
                all.extend(around.chain(another).map(Input::Known));
                config.secondary_cidr_blocks = Input::Known(all);
            })
        };
        [(false, false), (false, true), (true, false), (true, true)].map(decided).into()
    }

    fn classify(&self, classifier: &mut Classifier<'_>) {
        for (found, spec) in &classifier.landscape.others {
            if let Some(range) = VpcCidrBlock::of(spec) {
                classifier.place(&found.id, keys::cidr_block(&range.cidr_block).slot);
            }
        }
    }

    fn import(&self, found: Found<'_>, _: &Scope, attributes: &mut Value) {
        let ranges: BTreeSet<&str> = found.all(VpcCidrBlock::of).map(|range| range.cidr_block.as_str()).collect();
        attributes.set(NAME, ranges.into_iter().collect::<Vec<_>>().into());
    }

    /// Removes the ranges that were disassociated outside Terraform.
    fn reflect(&self, inventory: &Inventory, state: &mut Value) {
        let Value::List(mut ranges) = state.get(NAME).clone() else { return };
        let is_missing = |range: &Value| {
            let slot = range.as_str().map(|range| keys::cidr_block(range).slot);
            inventory.entries.iter().any(|entry| Some(&entry.key.slot) == slot.as_ref() && !entry.is_present())
        };
        ranges.retain(|range| !is_missing(range));
        state.set(NAME, Value::List(ranges));
    }

    fn name(&self, _: &str) -> Option<String> {
        None
    }
}

/// The required ranges that the network does not have. One in pending deletion is used again.
fn new(context: &Context<'_, Config>) -> Vec<Ipv4Net> {
    let mut ranges = secondary(context.config).unwrap_or_default();
    let exists = |key: Key| context.existing.present().any(|entry| entry.key == key);
    ranges.retain(|range| !exists(keys::cidr_block(&range.to_string())));
    ranges
}

/// The ranges to remove that contain unmanaged subnets.
fn removed_in_use(context: &Context<'_, Config>) -> Vec<Problem> {
    let (wanted, unmanaged) = (secondary(context.config).unwrap_or_default(), UnmanagedSubnets::of(context.existing));
    let existing = context.existing.current().filter_map(|entry| VpcCidrBlock::of(&entry.applied));
    let removed = existing.filter_map(|it| it.cidr_block.parse::<Ipv4Net>().ok()).filter(|it| !wanted.contains(it));
    let problem = |range: Ipv4Net| {
        let inside = unmanaged.inside(&range);
        let message = format!(
            "{range} is removed, but {} in it, which this resource does not manage. AWS does not disassociate a range \
             with subnets.",
            match inside.as_slice() {
                [one] => format!("the subnet {one} is"),
                all => format!("the subnets {} are", all.join(", ")),
            }
        );
        let hint = format!("Delete them or move them first, or keep {range} in {NAME}.");
        (!inside.is_empty()).then(|| Problem::new(path(), message, hint))
    };
    removed.filter_map(problem).collect()
}

/// Why AWS would reject a new range: it overlaps another one, or contains the destination of a route. A range that the
/// VPC has already is taken over. The validation does not know the primary range of a pool.
fn excluded(range: &Ipv4Net, context: &Context<'_, Config>) -> Vec<Problem> {
    let occupied = OccupiedAddresses::of(context.existing);
    if occupied.ranges.contains_key(range) {
        return Vec::new();
    }
    let mut problems = Vec::new();
    if let Some(primary) = vpc::range(context.config, context.existing).filter(|primary| overlap(range, primary)) {
        let message = format!("{range} overlaps {primary}, the primary range of the VPC.");
        problems.push(Problem::new(path(), message, "Use another range."));
    }
    // New objects come first, and subnets may be in the old range until the end.
    let existing = context.existing.present().filter_map(|entry| Some((entry, VpcCidrBlock::of(&entry.applied)?)));
    for (entry, other) in existing.filter(|(_, it)| it.cidr_block.parse().is_ok_and(|other| overlap(range, &other))) {
        let other = &other.cidr_block;
        let id = &entry.id;
        let (until, hint) = match entry.pending_deletion {
            true => ("until its pending deletion ends", format!("Apply without {range} until {other} is deleted.")),
            false => (
                "until the end of this apply",
                format!("Remove {other} in one apply, and add {range} in the next one."),
            ),
        };
        let message = format!("{range} overlaps {other} ({id}), which the VPC has {until}.");
        problems.push(Problem::new(path(), message, hint));
    }
    for (other, id) in occupied.ranges.iter().filter(|(other, _)| overlap(range, other)) {
        let message =
            format!("{range} overlaps {other} ({id}), a range of the VPC that this resource does not manage.");
        problems.push(Problem::new(path(), message, "Use another range, or disassociate that one first."));
    }
    let routes: Vec<String> = (occupied.routes.iter())
        .filter(|(destination, _)| range.contains(*destination))
        .map(|(destination, table)| format!("{destination} in {table}"))
        .collect();
    if !routes.is_empty() {
        let message = format!(
            "{range} contains the destinations of routes: {}. AWS does not associate a range that is the same as the \
             destination of a route in any table of the VPC, or larger.",
            routes.join(", ")
        );
        problems.push(Problem::new(path(), message, "Delete these routes first, or use smaller ranges next to them."));
    }
    problems
}

/// A /16 around each explicit block that is in no known range.
fn around_explicit_blocks(config: &Config) -> BTreeSet<String> {
    let primary = config.cidr_block.known().and_then(|text| text.as_deref()?.parse::<Ipv4Net>().ok());
    let entries: Vec<&BTreeMap<String, Input<String>>> =
        Tier::ALL.into_iter().filter_map(|tier| config.cidr_blocks(tier).1.known()).collect();
    let blocks = entries.into_iter().flat_map(BTreeMap::values).filter_map(|it| it.known()?.parse::<Ipv4Net>().ok());
    let outside = blocks.filter(|block| !primary.is_some_and(|primary| primary.contains(block)));
    outside.filter_map(|block| Some(Ipv4Net::new(block.network(), 16).ok()?.trunc().to_string())).collect()
}

fn path() -> AttributePath {
    AttributePath::new(NAME)
}
