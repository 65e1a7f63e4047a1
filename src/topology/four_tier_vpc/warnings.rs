//! What is legal and yet probably not meant, or worth knowing before it happens.

use std::collections::BTreeMap;

use super::config::{Config, Strings};
use super::zones::ZoneSlot;
use crate::model::Tier;
use crate::model::keys::network as keys;
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::Context;

/// AWS's quota of private addresses per NAT gateway is 8, one of them the first.
const MOST_SECONDARY: i64 = 7;

/// AWS's quota of rules per direction of a network ACL.
const MOST_RULES: usize = 20;

/// What is legal and yet probably not meant.
pub(super) fn warnings(context: &Context<'_, Config>) -> Vec<Problem> {
    let config = context.config;
    let mut warnings = Vec::new();
    if config.tenancy.known().is_some_and(|tenancy| tenancy == "host") {
        warnings.push(Problem::new(
            AttributePath::new("tenancy"),
            "AWS refuses \"host\" for a VPC: \"The host tenancy option cannot be used with a VPC\".",
            "Use \"default\" and give instances the tenancy \"host\", or use \"dedicated\".",
        ));
    }
    let given = |list: &Strings| list.known().is_some_and(|list| !list.is_empty());
    if config.use_custom_nat_eips == Input::Known(false) && given(&config.custom_nat_eips) {
        warnings.push(Problem::new(
            AttributePath::new("custom_nat_eips"),
            "It has no effect while use_custom_nat_eips is false.",
            "Set use_custom_nat_eips to true, or remove the list.",
        ));
    }
    if config.enable_private_nat == Input::Known(true) && config.use_custom_nat_eips == Input::Known(true) {
        warnings.push(Problem::new(
            AttributePath::new("use_custom_nat_eips"),
            "It has no effect while enable_private_nat is true: private NAT gateways have no addresses of the internet.",
            "Set it to false, or enable_private_nat.",
        ));
    }
    if let Some(count) = config.nat_secondary_private_ip_address_count.known().filter(|count| **count > MOST_SECONDARY)
    {
        warnings.push(Problem::new(
            AttributePath::new("nat_secondary_private_ip_address_count"),
            format!("With {count} a NAT gateway has {} private addresses. AWS allows 8 by default.", count + 1),
            format!("Use at most {MOST_SECONDARY}, unless AWS has raised the quota of this account."),
        ));
    }
    warnings.extend(renamed(context));
    warnings.extend(access_rules(context));
    warnings
}

/// That users of the subnets find them under other keys.
fn renamed(context: &Context<'_, Config>) -> Option<Problem> {
    let prior = context.prior.filter(|prior| prior.vpc_name != context.config.vpc_name)?;
    let name = |config: &Config| config.vpc_name.known().map_or("(known after apply)".into(), |it| format!("{it:?}"));
    Some(Problem::new(
        AttributePath::new("vpc_name"),
        format!(
            "The name changes from {} to {}, and with it the keys of public_subnets, private_app_subnets, \
             private_persistence_subnets and transit_subnets. What is made by for_each over these maps is replaced.",
            name(prior),
            name(context.config)
        ),
        "Use the lists <tier>_subnet_ids, or keep the name and set the tag Name in custom_tags.",
    ))
}

/// What becomes of the default network ACL's rules, and where AWS may refuse them.
fn access_rules(context: &Context<'_, Config>) -> Vec<Problem> {
    let config = context.config;
    let mut warnings = Vec::new();
    match config.apply_default_nacl_rules {
        Input::Known(false) if context.existing.at(&keys::default_network_acl().slot).is_some() => {
            warnings.push(Problem::new(
                AttributePath::new("apply_default_nacl_rules"),
                "AWS's original rules come back to the default network ACL, and they allow everything.",
                "Leave it at true to keep the rules.",
            ));
        }
        Input::Known(true) => {
            let directions = [
                ("default_nacl_ingress_rules", &config.default_nacl_ingress_rules),
                ("default_nacl_egress_rules", &config.default_nacl_egress_rules),
            ];
            for (name, rules) in directions {
                let count = rules.known().map_or(0, BTreeMap::len);
                if count > MOST_RULES {
                    warnings.push(Problem::new(
                        AttributePath::new(name),
                        format!("It has {count} rules. AWS allows {MOST_RULES} in a direction by default."),
                        "Use fewer, unless AWS has raised the quota of this account.",
                    ));
                }
            }
        }
        _ => {}
    }
    warnings
}

/// Entries of CIDR maps that name an AZ index which the network does not have.
pub(super) fn unused_entries(config: &Config, tiers: &[Tier], places: &[ZoneSlot]) -> Vec<Problem> {
    let mut warnings = Vec::new();
    let ipv4 = tiers.iter().map(|tier| config.cidr_blocks(*tier));
    let ipv6 = ("public_subnet_ipv6_cidr_blocks", &config.public_subnet_ipv6_cidr_blocks);
    let has_ipv6 = config.enable_ipv6 == Input::Known(true) && tiers.contains(&Tier::Public);
    for (name, entries) in ipv4.chain(has_ipv6.then_some(ipv6)) {
        for key in entries.known().into_iter().flat_map(BTreeMap::keys) {
            if places.iter().any(|place| *key == format!("AZ-{}", place.index)) {
                continue;
            }
            let indices: Vec<String> = places.iter().map(|place| format!("AZ-{}", place.index)).collect();
            warnings.push(Problem::new(
                AttributePath::new(name).key(key),
                format!("The entry is not used: the network has {}.", indices.join(", ")),
                "Remove it, or use more AZs.",
            ));
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::super::config::tests::config;
    use super::super::fixtures::{applied, blueprint, objects};
    use super::*;
    use crate::model::Inventory;
    use crate::plugin::Value;
    use crate::topology::Blueprint;

    fn warnings_of(config: &Config, prior: Option<&Config>, existing: &Inventory) -> Vec<(String, String)> {
        match blueprint(config, prior, existing, "a") {
            Ok(Blueprint::Decided { warnings, .. }) => {
                warnings.into_iter().map(|it| (it.path.to_string(), it.message)).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn another_name_changes_the_keys_of_the_subnets() {
        let (before, after) = (config(&[]), config(&[("vpc_name", "other".into())]));
        let existing = applied(&objects(&before, "a"));
        assert_eq!(warnings_of(&before, Some(&before), &existing), []);
        assert_eq!(warnings_of(&after, None, &Inventory::default()), []);
        let warnings = warnings_of(&after, Some(&before), &existing);
        assert_eq!((warnings.len(), warnings[0].0.as_str()), (1, "vpc_name"));
        assert!(warnings[0].1.contains("from \"main\" to \"other\""), "{warnings:?}");
    }

    #[test]
    fn an_entry_for_an_az_that_is_not_there_is_said_to_be_unused() {
        let entry = |block: &str| Value::map([("AZ-3", block.into())]);
        let config = config(&[
            ("transit_subnet_cidr_blocks", entry("10.0.1.0/24")),
            ("public_subnet_cidr_blocks", entry("10.0.2.0/24")),
            ("enable_ipv6", true.into()),
            ("assign_generated_ipv6_cidr_block", true.into()),
            ("public_subnet_ipv6_cidr_blocks", entry("2001:db8::/64")),
        ]);
        let paths: Vec<String> = warnings_of(&config, None, &Inventory::default()).into_iter().map(|it| it.0).collect();
        assert_eq!(paths, ["public_subnet_cidr_blocks[\"AZ-3\"]", "public_subnet_ipv6_cidr_blocks[\"AZ-3\"]"]);
    }

    #[test]
    fn quotas_are_told_but_not_enforced() {
        let rule = |number: i64| {
            let fields = [
                ("action", Value::from("allow")),
                ("protocol", "-1".into()),
                ("rule_no", number.into()),
                ("from_port", 0_i64.into()),
                ("to_port", 0_i64.into()),
                ("cidr_block", "0.0.0.0/0".into()),
            ];
            (format!("r{number}"), Value::map(fields))
        };
        let rules = Value::map((1..22).map(rule));
        let on = config(&[("apply_default_nacl_rules", true.into()), ("default_nacl_egress_rules", rules)]);
        let warnings = warnings_of(&on, None, &Inventory::default());
        assert_eq!(warnings[0].0, "default_nacl_egress_rules");
        assert!(warnings[0].1.contains("21 rules"), "{warnings:?}");
    }
}
