//! IPv4: the VPC's range, and what is written down of subnets.

use super::*;

impl Problems {
    pub(super) fn addresses(&mut self, config: &Config) {
        self.pool(config);
        let vpc = match &config.cidr_block {
            Input::Known(Some(text)) => self.ipv4_range(AttributePath::new("cidr_block"), text, 16, 27),
            Input::Known(None) if config.ipv4_ipam_pool_id == Input::Known(None) => {
                let message = "A network needs an IPv4 range.";
                let hint = "Set it, for example to \"10.0.0.0/16\", or give an ipv4_ipam_pool_id.";
                self.add(AttributePath::new("cidr_block"), message, hint);
                None
            }
            _ => None,
        };
        let asked = config.ipv4_netmask_length.known().copied().flatten();
        let length = vpc.map(|vpc| i64::from(vpc.prefix_len())).or(asked);
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
            self.bits(config, tier, length);
        }
        for (position, (path, block)) in blocks.iter().enumerate() {
            if let Some(vpc) = vpc.filter(|vpc| !vpc.contains(block)) {
                let message = format!("{block} lies outside the VPC's range {vpc}.");
                self.add(path.clone(), message, "Choose a block inside it.");
            }
            for (other_path, other) in &blocks[..position] {
                if block.contains(other) || other.contains(block) {
                    let message = format!("{block} overlaps {other} of {other_path}.");
                    self.add(path.clone(), message, "Choose a block that is free.");
                }
            }
        }
    }

    /// Checks the size of the subnets that bits make of a VPC's range of this length.
    fn bits(&mut self, config: &Config, tier: Tier, vpc: Option<i64>) {
        let (name, bits) = config.bits(tier);
        let (Some(vpc), Some(bits), Input::Known(true)) = (vpc, bits.known(), config.creates(tier)) else { return };
        let explicit_only = config.cidr_blocks(tier).1.known().is_some_and(|entries| !entries.is_empty());
        if vpc + bits > 28 && !explicit_only {
            let message = format!(
                "{bits} bits after a range of /{vpc} make subnets of /{}, and AWS allows none smaller than /28.",
                vpc + bits
            );
            self.add(AttributePath::new(name), message, format!("Use at most {} bits.", 28 - vpc));
        }
    }

    pub(super) fn az_key(&mut self, path: &AttributePath, key: &str) {
        if !is_az_key(key) {
            let message = format!("{key:?} is no key of the form AZ-<index>.");
            self.add(path.clone(), message, "Use AZ-0, AZ-1 and so on.");
        }
    }

    /// Checks what is asked of an IPAM pool.
    fn pool(&mut self, config: &Config) {
        self.pool_id("ipv4_ipam_pool_id", &config.ipv4_ipam_pool_id);
        let Input::Known(Some(length)) = config.ipv4_netmask_length else { return };
        let path = AttributePath::new("ipv4_netmask_length");
        if config.ipv4_ipam_pool_id == Input::Known(None) {
            let message = format!("A range of /{length} is asked of a pool, and ipv4_ipam_pool_id names none.");
            self.add(path.clone(), message, "Set ipv4_ipam_pool_id, or give a cidr_block instead.");
        }
        if let Input::Known(Some(cidr)) = &config.cidr_block {
            let message = format!("It is {length}, and cidr_block already says {cidr}.");
            self.add(path, message, "Leave out one of the two.");
        }
    }

    pub(super) fn pool_id(&mut self, name: &str, pool: &Input<Option<String>>) {
        if let Input::Known(Some(id)) = pool
            && !id.starts_with("ipam-pool-")
        {
            let message = format!("{id:?} is no id of an IPAM pool.");
            self.add(AttributePath::new(name), message, "Use an id like ipam-pool-0123456789abcdef0.");
        }
    }

    /// Reads a range whose prefix length is between these two, and which has no host bits. What depends on a range of
    /// another length is not judged.
    fn ipv4_range(&mut self, path: AttributePath, text: &str, shortest: u8, longest: u8) -> Option<Ipv4Net> {
        let Ok(net) = text.parse::<Ipv4Net>() else {
            self.add(path, format!("{text:?} is no IPv4 range in CIDR notation."), "Write it like 10.0.0.0/16.");
            return None;
        };
        if net.trunc() != net {
            let message = format!("{text} has host bits set; AWS would make {} of it.", net.trunc());
            self.add(path.clone(), message, format!("Write {}.", net.trunc()));
        }
        if !(shortest..=longest).contains(&net.prefix_len()) {
            let message = format!("{text} is a /{}; allowed are /{shortest} to /{longest}.", net.prefix_len());
            self.add(path, message, "Choose another prefix length.");
            return None;
        }
        Some(net.trunc())
    }
}
