//! Inputs of the specification that this version does not carry out yet. Accepting one and doing nothing would be
//! worse than refusing it.

use super::config::Config;
use crate::plugin::{AttributePath, Input, Problem};

/// A problem for each such input that has another value than its default.
pub(super) fn unsupported(config: &Config) -> Vec<Problem> {
    let differs = [
        ("enable_private_nat", is_on(&config.enable_private_nat)),
        ("nat_secondary_private_ip_address_count", is_not(&config.nat_secondary_private_ip_address_count, 0)),
        ("ipv4_ipam_pool_id", is_set(&config.ipv4_ipam_pool_id)),
        ("ipv4_netmask_length", is_set(&config.ipv4_netmask_length)),
        ("enable_ipv6", is_on(&config.enable_ipv6)),
        (
            "assign_generated_ipv6_cidr_block",
            config.assign_generated_ipv6_cidr_block.known().is_some_and(|it| *it == Some(true)),
        ),
        ("assign_ipv6_address_on_creation", is_on(&config.assign_ipv6_address_on_creation)),
        ("ipv6_cidr_block", is_set(&config.ipv6_cidr_block)),
        ("ipv6_cidr_block_network_border_group", is_set(&config.ipv6_cidr_block_network_border_group)),
        ("ipv6_ipam_pool_id", is_set(&config.ipv6_ipam_pool_id)),
        ("ipv6_netmask_length", is_set(&config.ipv6_netmask_length)),
        ("ipv6_subnet_bits", is_not(&config.ipv6_subnet_bits, 8)),
        (
            "public_subnet_ipv6_cidr_blocks",
            config.public_subnet_ipv6_cidr_blocks.known().is_some_and(|entries| !entries.is_empty()),
        ),
        ("apply_default_nacl_rules", is_on(&config.apply_default_nacl_rules)),
        ("public_propagating_vgws", is_filled(&config.public_propagating_vgws)),
        ("private_propagating_vgws", is_filled(&config.private_propagating_vgws)),
        ("persistence_propagating_vgws", is_filled(&config.persistence_propagating_vgws)),
        ("transit_propagating_vgws", is_filled(&config.transit_propagating_vgws)),
    ];
    let problem = |name: &str| {
        let message = format!("{name} is not supported yet in this version.");
        Problem::new(AttributePath::new(name), message, "Leave it out.")
    };
    differs.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| problem(name)).collect()
}

fn is_on(switch: &Input<bool>) -> bool {
    *switch == Input::Known(true)
}

fn is_not(number: &Input<i64>, default: i64) -> bool {
    number.known().is_some_and(|number| *number != default)
}

fn is_set<T>(input: &Input<Option<T>>) -> bool {
    input.known().is_some_and(Option::is_some)
}

fn is_filled<T>(list: &Input<Vec<T>>) -> bool {
    list.known().is_some_and(|list| !list.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::config::tests::config;
    use super::*;
    use crate::plugin::Value;

    #[test]
    fn defaults_and_unknowns_are_no_problem() {
        assert_eq!(unsupported(&config(&[("enable_ipv6", Value::Unknown)])), []);
    }

    #[test]
    fn what_is_not_carried_out_is_refused() {
        let config = config(&[("enable_ipv6", true.into()), ("public_propagating_vgws", vec!["vgw-1"].into())]);
        let paths: Vec<String> = unsupported(&config).iter().map(|problem| problem.path.to_string()).collect();
        assert_eq!(paths, ["enable_ipv6", "public_propagating_vgws"]);
    }
}
