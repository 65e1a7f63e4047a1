//! IPv4: the VPC's range, and the explicit blocks of subnets.

use super::super::addresses;
use super::super::ranges::{self, contain, outside, reserved};
use super::super::sizes::Range;
use super::*;

impl Problems {
    pub(super) fn addresses(&mut self, config: &Config) {
        self.pool(config);
        let vpc = match &config.cidr_block {
            Input::Known(Some(text)) => {
                let range = self.ipv4_range(AttributePath::new("cidr_block"), text, 16, 27);
                range.filter(|range| !self.is_reserved(range))
            }
            Input::Known(None) if config.ipv4_ipam_pool_id == Input::Known(None) => {
                let message = "A network requires an IPv4 range.";
                let hint = "Set cidr_block, for example to \"10.0.0.0/16\", or set ipv4_ipam_pool_id.";
                self.add(AttributePath::new("cidr_block"), message, hint);
                None
            }
            _ => None,
        };
        let requested = config.ipv4_netmask_length.known().copied().flatten();
        let length = vpc.map(|vpc| i64::from(vpc.prefix_len())).or(requested);
        let mut blocks: Vec<(AttributePath, Ipv4Net)> = Vec::new();
        for tier in Tier::ALL {
            let (name, entries) = config.cidr_blocks(tier);
            let path = AttributePath::new(name);
            for (key, text) in entries.known().into_iter().flatten() {
                let path = path.key(key);
                self.az_key(&path, key);
                let Input::Known(text) = text else { continue };
                let Some(block) = self.ipv4_range(path.clone(), text, 16, 28) else { continue };
                if *config.creates(tier) == Input::Known(true) {
                    blocks.push((path, block));
                }
            }
        }
        if !self.too_small(config, length) {
            self.sizes(config, vpc, length);
        }
        // A range that is not known yet may contain any block.
        let secondary = ranges::secondary(config);
        let ranges: Option<Vec<Ipv4Net>> = vpc.zip(secondary).map(|(vpc, all)| [vpc].into_iter().chain(all).collect());
        for (position, (path, block)) in blocks.iter().enumerate() {
            if let Some(ranges) = ranges.as_ref().filter(|ranges| !contain(ranges, block)) {
                self.0.push(outside(path.clone(), block, ranges));
            }
            for (other_path, other) in &blocks[..position] {
                if block.contains(other) || other.contains(block) {
                    let message = format!("{block} overlaps {other} of {other_path}.");
                    self.add(path.clone(), message, "Use a free block.");
                }
            }
        }
    }

    /// Reports a range of a VPC whose addresses no host can have.
    fn is_reserved(&mut self, range: &Ipv4Net) -> bool {
        let reserved = reserved(range);
        if let Some((whole, purpose)) = reserved {
            let message = format!("{range} is in {whole}, which is reserved for {purpose}.");
            let hint = "Use a private range, such as 10.0.0.0/16.";
            self.add(AttributePath::new("cidr_block"), message, hint);
        }
        reserved.is_some()
    }

    /// Checks the sizes of the subnets in a VPC range, of which only the length may be known.
    fn sizes(&mut self, config: &Config, vpc: Option<Ipv4Net>, length: Option<i64>) {
        let of_pool = || Ipv4Net::new([0, 0, 0, 0].into(), u8::try_from(length?).ok()?).ok();
        let Some(net) = vpc.or_else(of_pool) else { return };
        // By default, a network has all AZs of the Region: mostly three.
        let zones = config.num_availability_zones.known().copied().flatten().and_then(|it| u32::try_from(it).ok());
        let range = Range { net, is_of_pool: vpc.is_none() };
        self.0.extend(addresses::too_small(config, range, zones.unwrap_or(3)));
    }

    /// Reports once that a VPC range has fewer blocks of the smallest size than the network has subnets, so that no
    /// number of bits is right.
    fn too_small(&mut self, config: &Config, vpc: Option<i64>) -> bool {
        let created = |tier: &Tier| *config.creates(*tier) == Input::Known(true);
        let explicit = |tier: &Tier| config.cidr_blocks(*tier).1.known().is_none_or(|entries| !entries.is_empty());
        if Tier::ALL.iter().any(|tier| created(tier) && explicit(tier)) {
            return false;
        }
        let tiers = Tier::ALL.iter().filter(|tier| created(tier)).count();
        // Without a number, the network has at least one AZ.
        let azs = config.num_availability_zones.known().copied().flatten().and_then(|azs| usize::try_from(azs).ok());
        let (subnets, Some(vpc @ 16..=27)) = (tiers * azs.unwrap_or(1), vpc) else { return false };
        let room = 1_usize << (28 - vpc);
        if subnets <= room {
            return false;
        }
        let input =
            if config.cidr_block.known().is_some_and(Option::is_some) { "cidr_block" } else { "ipv4_netmask_length" };
        let least = azs.map_or("at least ", |_| "");
        let message =
            format!("A range of /{vpc} has room for {room} subnets of /28, but this network has {least}{subnets}.");
        self.add(AttributePath::new(input), message, "Use a larger range, or fewer AZs or tiers.");
        true
    }

    pub(super) fn az_key(&mut self, path: &AttributePath, key: &str) {
        if !is_az_key(key) {
            let message = format!("{key:?} is not a key of the form AZ-<index>.");
            self.add(path.clone(), message, "Use AZ-0, AZ-1 and so on.");
        }
    }

    /// Checks the inputs for an IPAM pool.
    fn pool(&mut self, config: &Config) {
        self.pool_id("ipv4_ipam_pool_id", &config.ipv4_ipam_pool_id);
        let Input::Known(Some(length)) = config.ipv4_netmask_length else { return };
        let path = AttributePath::new("ipv4_netmask_length");
        if config.ipv4_ipam_pool_id == Input::Known(None) {
            let message = format!("A /{length} can only be requested from a pool, but ipv4_ipam_pool_id is not set.");
            self.add(path.clone(), message, "Set ipv4_ipam_pool_id, or use cidr_block instead.");
        }
        if let Input::Known(Some(cidr)) = &config.cidr_block {
            let message = format!("The length {length} conflicts with cidr_block, which is {cidr}.");
            self.add(path, message, "Remove ipv4_netmask_length or cidr_block.");
        }
    }

    pub(super) fn pool_id(&mut self, name: &str, pool: &Input<Option<String>>) {
        if let Input::Known(Some(id)) = pool
            && !id.starts_with("ipam-pool-")
        {
            let message = format!("{id:?} is not the ID of an IPAM pool.");
            self.add(AttributePath::new(name), message, "Use an ID such as ipam-pool-0123456789abcdef0.");
        }
    }

    /// Parses a range, and reports it if its prefix length is not between these two or if it has host bits. Returns
    /// `None` if it is not a range or has another length, because its use in further checks would cause misleading
    /// problems.
    fn ipv4_range(&mut self, path: AttributePath, text: &str, shortest: u8, longest: u8) -> Option<Ipv4Net> {
        let Some(IpNet::V4(net)) = self.cidr_block(path.clone(), text, "10.0.0.0/16") else { return None };
        if !(shortest..=longest).contains(&net.prefix_len()) {
            let message = format!("{text} is a /{}, but only /{shortest} to /{longest} are allowed.", net.prefix_len());
            self.add(path, message, format!("Use a prefix length from {shortest} to {longest}."));
            return None;
        }
        Some(net)
    }
}
