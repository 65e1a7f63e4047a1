//! Blocks of unmanaged subnets in the VPC, which subnets of the network cannot get.

use std::collections::BTreeMap;

use ipnet::{Ipv4Net, Ipv6Net};

use super::config::Config;
use crate::model::keys::network as keys;
use crate::model::{Entry, Inventory, Spec, Subnet, Tier, UnmanagedSubnet};
use crate::plugin::{AttributePath, Input, Problem};

/// The unmanaged subnets that the last read found.
pub(super) struct UnmanagedSubnets(Vec<UnmanagedSubnet>);

impl UnmanagedSubnets {
    pub(super) fn of(existing: &Inventory) -> UnmanagedSubnets {
        let learned = existing.at(keys::VPC).and_then(|vpc| vpc.learned.get(UnmanagedSubnet::LEARNED));
        UnmanagedSubnets(learned.map(|text| UnmanagedSubnet::split(text)).unwrap_or_default())
    }

    /// Adds further subnets to those that the last read found.
    pub(super) fn add(existing: &mut Inventory, unmanaged: &[&Entry]) {
        let mut all = UnmanagedSubnets::of(existing).0;
        for entry in unmanaged {
            if let Some(subnet) = Subnet::of(&entry.applied)
                && let Some(block) = subnet.cidr_block.known().and_then(|block| block.parse().ok())
                && !all.iter().any(|other| other.id == entry.id)
            {
                all.push(UnmanagedSubnet { id: entry.id.clone(), block, ipv6_block: subnet.ipv6_network() });
            }
        }
        let root = existing.entries.iter_mut().find(|entry| entry.is_present() && entry.key.slot == keys::VPC);
        if let Some(root) = root.filter(|_| !all.is_empty()) {
            root.learned.insert(UnmanagedSubnet::LEARNED.to_string(), UnmanagedSubnet::join(all));
        }
    }

    pub(super) fn blocks(&self) -> impl Iterator<Item = Ipv4Net> {
        self.0.iter().map(|subnet| subnet.block)
    }

    /// The IDs and IPv6 blocks of those that have one.
    pub(super) fn ipv6_blocks(&self) -> impl Iterator<Item = (&str, Ipv6Net)> {
        self.0.iter().filter_map(|subnet| Some((subnet.id.as_str(), subnet.ipv6_block?)))
    }

    /// The IDs and blocks of those in a range.
    pub(super) fn inside(&self, range: &Ipv4Net) -> Vec<String> {
        let inside = self.0.iter().filter(|subnet| range.contains(&subnet.block));
        inside.map(|subnet| format!("{} ({})", subnet.id, subnet.block)).collect()
    }

    fn overlapping(&self, block: &Ipv4Net) -> Option<&UnmanagedSubnet> {
        self.0.iter().find(|subnet| subnet.block.contains(block) || block.contains(&subnet.block))
    }

    /// Reports blocks that AWS would reject: explicit ones, and those of subnets that were deleted outside Terraform.
    pub(super) fn check(
        &self,
        config: &Config,
        existing: &Inventory,
        blocks: &BTreeMap<(Tier, u32), Input<Ipv4Net>>,
    ) -> Result<(), Vec<Problem>> {
        let mut problems = Vec::new();
        for (site, block) in blocks {
            let Input::Known(block) = block else { continue };
            let Some(other) = self.overlapping(block).filter(|_| !has(existing, *site, block)) else { continue };
            let ((tier, index), (name, entries)) = (*site, config.cidr_blocks(site.0));
            let entry = format!("AZ-{index}");
            let is_explicit = entries.known().is_some_and(|entries| entries.contains_key(&entry));
            let theirs = format!("{}, the block of the unmanaged subnet {}", other.block, other.id);
            let (message, hint) = match is_explicit {
                true => (
                    format!("{block} overlaps {theirs}."),
                    "Use a free block, or delete that subnet and then run plan again.".to_string(),
                ),
                false => (
                    format!(
                        "Subnet {index} of the {} tier was deleted outside Terraform, and its block {block} overlaps \
                         {theirs}.",
                        tier.name()
                    ),
                    format!("Set {name}[{entry:?}] to a free block, or delete that subnet and then run plan again."),
                ),
            };
            problems.push(Problem::new(AttributePath::new(name).key(&entry), message, hint));
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// The warning that a new subnet gets another block than the one from the formula.
    pub(super) fn displaced(
        &self,
        config: &Config,
        (tier, index): (Tier, u32),
        formula: &Ipv4Net,
        block: &Ipv4Net,
    ) -> Option<Problem> {
        let (other, name) = (self.overlapping(formula)?, config.cidr_blocks(tier).0);
        let entry = format!("AZ-{index}");
        Some(Problem::new(
            AttributePath::new(name).key(&entry),
            format!(
                "Subnet {index} of the {} tier gets {block}, because {formula}, the block from the formula, overlaps {}, \
                 the block of the unmanaged subnet {}.",
                tier.name(),
                other.block,
                other.id
            ),
            format!("To choose another block, set {name}[{entry:?}]."),
        ))
    }
}

/// Whether the network has a subnet with this block at this position. AWS allows no overlap, so an unmanaged subnet
/// with this block no longer exists.
fn has(existing: &Inventory, (tier, index): (Tier, u32), block: &Ipv4Net) -> bool {
    existing.present().any(|entry| match &entry.applied {
        Spec::Subnet(subnet) => {
            (subnet.tier, subnet.index) == (tier, index)
                && subnet.cidr_block.known().is_some_and(|it| *it == block.to_string())
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::super::config::tests::config;
    use super::super::fixtures::{applied, blueprint, objects};
    use super::*;
    use crate::model::Drift;
    use crate::plugin::Value;
    use crate::topology::Blueprint;

    /// The default network in the AZs a and b, with an unmanaged subnet.
    fn existing(block: &str) -> Inventory {
        let mut existing = applied(&objects(&config(&[]), "ab"));
        let subnet = UnmanagedSubnet { id: "subnet-theirs".into(), block: block.parse().unwrap(), ipv6_block: None };
        let vpc = existing.entries.iter_mut().find(|entry| entry.key.slot == keys::VPC).unwrap();
        vpc.learned.insert(UnmanagedSubnet::LEARNED.into(), UnmanagedSubnet::join(vec![subnet]));
        existing
    }

    fn after(existing: &Inventory, attributes: &[(&str, Value)]) -> Result<Blueprint, Vec<Problem>> {
        blueprint(&config(attributes), Some(&config(&[])), existing, "abc")
    }

    fn placed(existing: &Inventory, attributes: &[(&str, Value)]) -> (BTreeMap<String, String>, Vec<Problem>) {
        let Ok(Blueprint::Decided { objects, warnings, .. }) = after(existing, attributes) else { panic!() };
        let block = |spec: &Spec| match spec {
            Spec::Subnet(subnet) => subnet.cidr_block.known().cloned(),
            _ => None,
        };
        (objects.iter().filter_map(|it| Some((it.key.slot.clone(), block(&it.spec)?))).collect(), warnings)
    }

    #[test]
    fn a_new_subnet_avoids_them_with_a_warning() {
        // The formula's blocks in the third AZ are .16, .96 and .176.
        let (blocks, warnings) = placed(&existing("10.0.100.0/24"), &[]);
        assert_eq!(blocks["subnet.public.2"], "10.0.16.0/21");
        assert_eq!(blocks["subnet.private_app.2"], "10.0.128.0/21");
        let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
        assert_eq!(warning.path.to_string(), "private_app_subnet_cidr_blocks[\"AZ-2\"]");
        for part in ["10.0.128.0/21", "10.0.96.0/21", "10.0.100.0/24", "subnet-theirs"] {
            assert!(warning.message.contains(part), "no {part} in {}", warning.message);
        }
        let without = placed(&existing("10.0.240.0/24"), &[]);
        assert_eq!((without.0["subnet.private_app.2"].as_str(), without.1), ("10.0.96.0/21", vec![]));
    }

    #[test]
    fn an_explicit_block_of_theirs_is_rejected() {
        let entry = |index: u32| {
            ("public_subnet_cidr_blocks", Value::map([(format!("AZ-{index}"), Value::from("10.0.240.0/24"))]))
        };
        for index in [0, 2] {
            let problems = after(&existing("10.0.240.128/25"), &[entry(index)]).unwrap_err();
            let [problem] = problems.as_slice() else { panic!("{problems:?}") };
            assert_eq!(problem.path.to_string(), format!("public_subnet_cidr_blocks[\"AZ-{index}\"]"));
            let expected = "10.0.240.0/24 overlaps 10.0.240.128/25, the block of the unmanaged subnet subnet-theirs.";
            assert_eq!(problem.message, expected);
            assert!(after(&existing("10.0.241.0/25"), &[entry(index)]).is_ok());
        }
    }

    #[test]
    fn the_block_of_a_missing_subnet_may_be_theirs() {
        let mut existing = existing("10.0.8.0/22");
        assert!(after(&existing, &[]).is_ok(), "the subnet exists, so the unmanaged one no longer does");
        let public = existing.entries.iter_mut().find(|entry| entry.key.slot == "subnet.public.1").unwrap();
        public.drift = Drift::Missing;
        let problems = after(&existing, &[]).unwrap_err();
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        assert!(problem.message.contains("its block 10.0.8.0/21 overlaps 10.0.8.0/22"), "{}", problem.message);
        assert!(problem.hint.contains("public_subnet_cidr_blocks[\"AZ-1\"]"), "{}", problem.hint);
    }

    #[test]
    fn a_full_vpc_is_reported_without_their_blocks() {
        let theirs = existing("10.0.192.0/18");
        let problems = after(&theirs, &[("private_subnet_bits", 1_i64.into()), ("subnet_spacing", 0_i64.into())]);
        let problems = problems.unwrap_err();
        assert!(problems.iter().any(|it| it.message.contains("not enough of them are free")), "{problems:?}");
        assert!(problems.iter().all(|it| !it.message.contains("10.0.255.255")), "{problems:?}");
        // A subnet in a further range of the VPC does not matter.
        let problems = after(&existing("100.64.0.0/18"), &[("private_subnet_bits", 1_i64.into())]).unwrap_err();
        assert!(problems.iter().all(|it| !it.message.contains("100.6")), "{problems:?}");
    }
}
