//! NAT gateways, the internet gateway, and virtual private gateways.

use std::collections::BTreeSet;

use super::*;

impl Problems {
    pub(super) fn gateways(&mut self, config: &Config) {
        let wants_nat = config.num_nat_gateways.known().is_some_and(|count| *count > 0);
        if wants_nat
            && config.create_public_subnets == Input::Known(true)
            && config.create_igw == Input::Known(false)
            && config.enable_private_nat == Input::Known(false)
        {
            self.add(
                AttributePath::new("create_igw"),
                "Public NAT gateways require the internet gateway of the network, but create_igw is false.",
                "Set create_igw to true, or set num_nat_gateways to 0.",
            );
        }
        if config.enable_private_nat != Input::Known(true) {
            self.custom_addresses(config);
        }
        self.private_nat(config);
        for tier in Tier::ALL {
            let (name, gateways) = config.propagating_gateways(tier);
            let (what, hint) = ("the ID of a virtual private gateway", "Use an ID such as vgw-0123456789abcdef0.");
            self.each(&AttributePath::new(name), gateways, |id| id.starts_with("vgw-"), what, hint);
        }
    }

    fn private_nat(&mut self, config: &Config) {
        let secondary = config.nat_secondary_private_ip_address_count.known().filter(|count| **count > 0);
        if let Some(count) = secondary.filter(|_| config.enable_private_nat == Input::Known(false)) {
            let message = format!("The value is {count}, but only private NAT gateways have secondary addresses.");
            let hint = "Set enable_private_nat to true, or set nat_secondary_private_ip_address_count to 0.";
            self.add(AttributePath::new("nat_secondary_private_ip_address_count"), message, hint);
        }
        if config.enable_private_nat != Input::Known(true) {
            return;
        }
        let path = AttributePath::new("enable_private_nat");
        if config.create_transit_subnets == Input::Known(false) {
            let message = "Private NAT gateways require transit subnets, but create_transit_subnets is false.";
            self.add(path.clone(), message, "Set create_transit_subnets to true.");
        }
        if config.allow_transit_internet_access == Input::Known(true) {
            let message = "With allow_transit_internet_access, transit subnets would route to the private NAT gateways \
                           in the same subnets, which is a loop.";
            self.add(path, message, "Set allow_transit_internet_access to false.");
        }
    }

    fn custom_addresses(&mut self, config: &Config) {
        let (Input::Known(true), Input::Known(ids)) = (&config.use_custom_nat_eips, &config.custom_nat_eips) else {
            return;
        };
        let path = AttributePath::new("custom_nat_eips");
        if let Input::Known(count) = config.num_nat_gateways
            && i64::try_from(ids.len()) != Ok(count)
        {
            let message = format!("The list has {} addresses, but num_nat_gateways is {count}.", ids.len());
            self.add(path.clone(), message, "List one allocation ID for each NAT gateway.");
        }
        let mut seen = BTreeSet::new();
        for (index, id) in ids.iter().enumerate() {
            let Input::Known(id) = id else { continue };
            if !id.starts_with("eipalloc-") {
                let message = format!("{id:?} is not an allocation ID.");
                self.add(path.index(index), message, "Use an ID such as eipalloc-0123456789abcdef0.");
            }
            if !seen.insert(id) {
                self.add(path.index(index), format!("{id} is listed twice."), "Use each address for one NAT gateway.");
            }
        }
    }
}
