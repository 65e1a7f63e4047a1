//! IPv6: where the VPC's range comes from, and what is written down of subnets.

use super::super::ipv6;
use super::*;

impl Problems {
    pub(super) fn ipv6(&mut self, config: &Config) {
        let path = AttributePath::new;
        match config.enable_ipv6 {
            Input::Known(true) => self.0.extend(ipv6::source(config).err()),
            Input::Known(false) if config.assign_ipv6_address_on_creation == Input::Known(true) => self.add(
                path("assign_ipv6_address_on_creation"),
                "Subnets give IPv6 addresses only where they have some, and enable_ipv6 is false.",
                "Set enable_ipv6 to true, or this to false.",
            ),
            _ => {}
        }
        self.pool_id("ipv6_ipam_pool_id", &config.ipv6_ipam_pool_id);
        let is_generated = config.assign_generated_ipv6_cidr_block == Input::Known(Some(true));
        let is_not_generated = config.assign_generated_ipv6_cidr_block.is_known() && !is_generated;
        if let Input::Known(Some(pool)) = &config.ipv6_ipam_pool_id
            && is_generated
        {
            let message = format!("The range comes from Amazon or from a pool, and ipv6_ipam_pool_id names {pool}.");
            self.add(path("assign_generated_ipv6_cidr_block"), message, "Leave out one of the two.");
        }
        if let Input::Known(Some(group)) = &config.ipv6_cidr_block_network_border_group
            && is_not_generated
        {
            let message = format!("{group} can be asked for only with a range of Amazon's.");
            let hint = "Set assign_generated_ipv6_cidr_block to true, or leave this out.";
            self.add(path("ipv6_cidr_block_network_border_group"), message, hint);
        }
        self.ipv6_range(config);
        self.ipv6_blocks(config);
    }

    /// What is asked of a pool, and the size of the subnets in it.
    fn ipv6_range(&mut self, config: &Config) {
        let path = AttributePath::new;
        let has_no_pool = config.ipv6_ipam_pool_id == Input::Known(None);
        let (asked, length) = (config.ipv6_cidr_block.known(), config.ipv6_netmask_length.known());
        let (asked, length) = (asked.and_then(Option::as_ref), length.copied().flatten());
        let hint = "Set ipv6_ipam_pool_id, or leave this out.";
        // With a range of Amazon's it may say again what that is, as a generated configuration does.
        let is_not_generated = matches!(config.assign_generated_ipv6_cidr_block, Input::Known(None | Some(false)));
        if let Some(asked) = asked.filter(|_| has_no_pool && is_not_generated) {
            let message = format!("{asked} is asked of a pool, and ipv6_ipam_pool_id names none.");
            self.add(path("ipv6_cidr_block"), message, hint);
        }
        if let Some(length) = length.filter(|_| has_no_pool) {
            let message = format!("A range of /{length} is asked of a pool, and ipv6_ipam_pool_id names none.");
            self.add(path("ipv6_netmask_length"), message, hint);
        }
        if let (Some(asked), Some(length)) = (asked, length) {
            let message = format!("It is {length}, and ipv6_cidr_block already says {asked}.");
            self.add(path("ipv6_netmask_length"), message, "Leave out one of the two.");
        }
        if let Some(length) = length.filter(|length| *length != 56) {
            let message = format!("{length} is not 56, the only length that a VPC may ask for.");
            self.add(path("ipv6_netmask_length"), message, "Use 56.");
        }
        let asked = asked.and_then(|text| self.ipv6_cidr(path("ipv6_cidr_block"), text, &[44, 48, 52, 56, 60]));
        let is_generated = config.assign_generated_ipv6_cidr_block == Input::Known(Some(true));
        let length = asked.map(|range| i64::from(range.prefix_len())).or(length).or(is_generated.then_some(56));
        if let (Some(length), Input::Known(bits), Input::Known(true)) =
            (length, &config.ipv6_subnet_bits, &config.enable_ipv6)
            && let Err(message) = ipv6::size(length, *bits)
        {
            self.add(path("ipv6_subnet_bits"), message, ipv6::SIZE_HINT);
        }
    }

    /// The explicit blocks of subnets.
    fn ipv6_blocks(&mut self, config: &Config) {
        let path = AttributePath::new("public_subnet_ipv6_cidr_blocks");
        let range = config.ipv6_cidr_block.known().and_then(Option::as_ref).and_then(|text| text.parse().ok());
        let mut blocks: Vec<(AttributePath, Ipv6Net)> = Vec::new();
        for (key, text) in config.public_subnet_ipv6_cidr_blocks.known().into_iter().flatten() {
            let path = path.key(key);
            self.az_key(&path, key);
            let Input::Known(text) = text else { continue };
            let Some(block) = self.ipv6_cidr(path.clone(), text, &ipv6::SUBNET_LENGTHS) else { continue };
            if let Some(range) = range.filter(|range: &Ipv6Net| !range.contains(&block)) {
                let message = format!("{block} lies outside the VPC's IPv6 range {range}.");
                self.add(path.clone(), message, "Choose a block inside it.");
            }
            for (other_path, other) in &blocks {
                if block.contains(other) || other.contains(&block) {
                    let message = format!("{block} overlaps {other} of {other_path}.");
                    self.add(path.clone(), message, "Choose a block that is free.");
                }
            }
            blocks.push((path, block));
        }
    }

    fn ipv6_cidr(&mut self, path: AttributePath, text: &str, lengths: &[i64]) -> Option<Ipv6Net> {
        let Ok(net) = text.parse::<Ipv6Net>() else {
            self.add(path, format!("{text:?} is no IPv6 range in CIDR notation."), "Write it like 2001:db8::/56.");
            return None;
        };
        if net.trunc() != net {
            let message = format!("{text} has host bits set; AWS would make {} of it.", net.trunc());
            self.add(path.clone(), message, format!("Write {}.", net.trunc()));
        }
        if !lengths.contains(&net.prefix_len().into()) {
            let allowed: Vec<String> = lengths.iter().map(|length| format!("/{length}")).collect();
            let message = format!("{text} is a /{}; allowed are {}.", net.prefix_len(), allowed.join(", "));
            self.add(path, message, "Choose another prefix length.");
            return None;
        }
        Some(net.trunc())
    }
}
