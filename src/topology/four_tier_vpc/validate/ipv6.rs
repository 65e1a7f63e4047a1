//! IPv6: the source of the VPC's range, and the explicit blocks of subnets.

use std::collections::BTreeSet;

use super::super::config::Ipv6Tiers;
use super::super::ipv6::{self, tiers};
use super::*;

impl Problems {
    pub(super) fn ipv6(&mut self, config: &Config) {
        let path = AttributePath::new;
        match config.enable_ipv6 {
            Input::Known(true) => self.0.extend(ipv6::source(config).err()),
            Input::Known(false) => self.ipv6_inputs_without_ipv6(config),
            Input::Unknown => {}
        }
        self.ipv6_assignment(config);
        self.pool_id("ipv6_ipam_pool_id", &config.ipv6_ipam_pool_id);
        let is_generated = config.assign_generated_ipv6_cidr_block == Input::Known(Some(true));
        let is_not_generated = config.assign_generated_ipv6_cidr_block.is_known() && !is_generated;
        if let Input::Known(Some(pool)) = &config.ipv6_ipam_pool_id
            && is_generated
        {
            let message = format!("The range comes from either Amazon or a pool, but ipv6_ipam_pool_id is {pool}.");
            let hint = "Set assign_generated_ipv6_cidr_block to false, or remove ipv6_ipam_pool_id.";
            self.add(path("assign_generated_ipv6_cidr_block"), message, hint);
        }
        if let Input::Known(Some(group)) = &config.ipv6_cidr_block_network_border_group
            && is_not_generated
        {
            let message = format!("The network border group {group} requires an Amazon-provided range.");
            let hint = "Set assign_generated_ipv6_cidr_block to true, or remove ipv6_cidr_block_network_border_group.";
            self.add(path("ipv6_cidr_block_network_border_group"), message, hint);
        }
        self.ipv6_range(config);
        self.ipv6_blocks(config);
    }

    /// Checks the inputs that require IPv6.
    fn ipv6_inputs_without_ipv6(&mut self, config: &Config) {
        let path = AttributePath::new;
        if config.assign_ipv6_address_on_creation == Input::Known(true) {
            self.add(
                path("assign_ipv6_address_on_creation"),
                "Subnets can assign IPv6 addresses only if enable_ipv6 is true, but it is false.",
                "Set enable_ipv6 to true, or assign_ipv6_address_on_creation to false.",
            );
        }
        let Ipv6Tiers { ipv6_subnet_tiers, create_egress_only_igw, assign_ipv6_address_on_creation_tiers, .. } =
            &config.ipv6;
        let is_given = tiers::listed(ipv6_subnet_tiers).is_some_and(|tiers| tiers != BTreeSet::from([Tier::Public]));
        let assigns = assign_ipv6_address_on_creation_tiers.known().and_then(Option::as_ref);
        for (name, is_given) in [
            ("ipv6_subnet_tiers", is_given),
            ("create_egress_only_igw", *create_egress_only_igw == Input::Known(Some(true))),
            ("assign_ipv6_address_on_creation_tiers", assigns.is_some_and(|tiers| !tiers.is_empty())),
        ] {
            if is_given {
                let message =
                    format!("Tiers have IPv6 only with enable_ipv6 = true, but it is false, and {name} is set.");
                self.add(path(name), message, format!("Set enable_ipv6 to true, or remove {name}."));
            }
        }
    }

    /// Checks the tiers that assign addresses.
    fn ipv6_assignment(&mut self, config: &Config) {
        let path = AttributePath::new("assign_ipv6_address_on_creation_tiers");
        if config.assign_ipv6_address_on_creation == Input::Known(true)
            && config.enable_ipv6 == Input::Known(true)
            && !tiers::may_have_blocks(config, Tier::Public)
        {
            let message = "public has no IPv6 block, because ipv6_subnet_tiers does not contain it.";
            let hint = "Add public to ipv6_subnet_tiers, or set assign_ipv6_address_on_creation to false.";
            self.add(AttributePath::new("assign_ipv6_address_on_creation"), message, hint);
        }
        let assigning = config.ipv6.assign_ipv6_address_on_creation_tiers.known().cloned().flatten();
        let Some(assigning) = assigning.and_then(|tiers| tiers::listed(&Input::Known(tiers))) else { return };
        if config.assign_ipv6_address_on_creation == Input::Known(true) && !assigning.contains(&Tier::Public) {
            let message = "assign_ipv6_address_on_creation is true, but the set does not contain public.";
            self.add(path.clone(), message, "Add public, or remove assign_ipv6_address_on_creation.");
        }
        if config.enable_ipv6 != Input::Known(true) {
            return;
        }
        for tier in assigning.into_iter().filter(|tier| !tiers::may_have_blocks(config, *tier)) {
            let message = format!("{} has no IPv6 block, because ipv6_subnet_tiers does not contain it.", tier.slot());
            self.add(path.clone(), message, format!("Add {} to ipv6_subnet_tiers, or remove it here.", tier.slot()));
        }
    }

    /// Checks the range to request from a pool, and the size of the subnets in it.
    fn ipv6_range(&mut self, config: &Config) {
        let path = AttributePath::new;
        let has_no_pool = config.ipv6_ipam_pool_id == Input::Known(None);
        let (requested, length) = (config.ipv6_cidr_block.known(), config.ipv6_netmask_length.known());
        let (requested, length) = (requested.and_then(Option::as_ref), length.copied().flatten());
        let hint = "Set ipv6_ipam_pool_id, or remove this input.";
        // With an Amazon-provided range, the input may repeat that range, as a generated configuration does.
        let is_not_generated = matches!(config.assign_generated_ipv6_cidr_block, Input::Known(None | Some(false)));
        if let Some(requested) = requested.filter(|_| has_no_pool && is_not_generated) {
            let message = format!("{requested} can only be requested from a pool, but ipv6_ipam_pool_id is not set.");
            self.add(path("ipv6_cidr_block"), message, hint);
        }
        if let Some(length) = length.filter(|_| has_no_pool) {
            let message = format!("A /{length} can only be requested from a pool, but ipv6_ipam_pool_id is not set.");
            self.add(path("ipv6_netmask_length"), message, hint);
        }
        if let (Some(requested), Some(length)) = (requested, length) {
            let message = format!("The length {length} conflicts with ipv6_cidr_block, which is {requested}.");
            self.add(path("ipv6_netmask_length"), message, "Remove ipv6_netmask_length or ipv6_cidr_block.");
        }
        if let Some(length) = length.filter(|length| *length != 56) {
            let message = format!("{length} is not 56, the only length that can be requested for a VPC.");
            self.add(path("ipv6_netmask_length"), message, "Use 56.");
        }
        let requested = requested.and_then(|text| self.ipv6_cidr(path("ipv6_cidr_block"), text, &[44, 48, 52, 56, 60]));
        let is_generated = config.assign_generated_ipv6_cidr_block == Input::Known(Some(true));
        let length = requested.map(|range| i64::from(range.prefix_len())).or(length).or(is_generated.then_some(56));
        if let (Some(length), Input::Known(bits), Input::Known(true)) =
            (length, &config.ipv6_subnet_bits, &config.enable_ipv6)
            && let Err(message) = ipv6::size(length, *bits)
        {
            self.add(path("ipv6_subnet_bits"), message, ipv6::SIZE_HINT);
        }
    }

    /// Checks the explicit blocks of subnets.
    fn ipv6_blocks(&mut self, config: &Config) {
        let range = config.ipv6_cidr_block.known().and_then(Option::as_ref).and_then(|text| text.parse().ok());
        let mut blocks: Vec<(AttributePath, Ipv6Net)> = Vec::new();
        let maps = Tier::ALL.map(|tier| config.ipv6_cidr_blocks(tier));
        let entries = maps.iter().flat_map(|(name, map)| map.known().into_iter().flatten().map(move |it| (*name, it)));
        for (name, (key, text)) in entries {
            let path = AttributePath::new(name).key(key);
            self.az_key(&path, key);
            let Input::Known(text) = text else { continue };
            let Some(block) = self.ipv6_cidr(path.clone(), text, &ipv6::SUBNET_LENGTHS) else { continue };
            if let Some(range) = range.filter(|range: &Ipv6Net| !range.contains(&block)) {
                let message = format!("{block} is outside the VPC's IPv6 range {range}.");
                self.add(path.clone(), message, format!("Use a block inside {range}."));
            }
            for (other_path, other) in &blocks {
                if block.contains(other) || other.contains(&block) {
                    let message = format!("{block} overlaps {other} of {other_path}.");
                    self.add(path.clone(), message, "Use a free block.");
                }
            }
            blocks.push((path, block));
        }
    }

    fn ipv6_cidr(&mut self, path: AttributePath, text: &str, lengths: &[i64]) -> Option<Ipv6Net> {
        let Some(IpNet::V6(net)) = self.cidr_block(path.clone(), text, "2001:db8::/56") else { return None };
        if !lengths.contains(&net.prefix_len().into()) {
            let allowed: Vec<String> = lengths.iter().map(|length| format!("/{length}")).collect();
            let message = format!("{text} is a /{}, but only {} are allowed.", net.prefix_len(), allowed.join(", "));
            self.add(path, message, "Use one of the allowed prefix lengths.");
            return None;
        }
        Some(net)
    }
}
