//! Warnings about configurations that are valid but probably not intended, and about effects of a change.

use std::collections::BTreeMap;

use super::config::{Config, Strings};
use super::zones::ZoneSlot;
use crate::model::Tier;
use crate::model::keys::network as keys;
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::Context;

/// AWS's default quota is 8 private addresses per NAT gateway, including the primary one.
const MOST_SECONDARY: i64 = 7;

/// AWS's default quota of rules per direction of a network ACL.
const MOST_RULES: usize = 20;

/// All warnings except those of [`unused_entries`].
pub(super) fn warnings(context: &Context<'_, Config>) -> Vec<Problem> {
    let config = context.config;
    let mut warnings = Vec::new();
    let given = |list: &Strings| list.known().is_some_and(|list| !list.is_empty());
    if config.use_custom_nat_eips == Input::Known(false) && given(&config.custom_nat_eips) {
        warnings.push(Problem::new(
            AttributePath::new("custom_nat_eips"),
            "custom_nat_eips has no effect while use_custom_nat_eips is false.",
            "Set use_custom_nat_eips to true, or remove the list.",
        ));
    }
    if config.enable_private_nat == Input::Known(true) && config.use_custom_nat_eips == Input::Known(true) {
        warnings.push(Problem::new(
            AttributePath::new("use_custom_nat_eips"),
            "use_custom_nat_eips has no effect while enable_private_nat is true, because private NAT gateways have no \
             Elastic IP addresses.",
            "Set use_custom_nat_eips or enable_private_nat to false.",
        ));
    }
    if let Some(count) = config.nat_secondary_private_ip_address_count.known().filter(|count| **count > MOST_SECONDARY)
    {
        warnings.push(Problem::new(
            AttributePath::new("nat_secondary_private_ip_address_count"),
            format!(
                "With {count} secondary addresses, a NAT gateway has {} private ones, but AWS allows 8 by default.",
                count + 1
            ),
            format!("Use at most {MOST_SECONDARY}, unless AWS has raised the quota of this account."),
        ));
    }
    warnings.extend(propagation(context));
    warnings.extend(renamed(context));
    warnings.extend(access_rules(context));
    warnings.extend(revoked_rules(context));
    warnings.extend(without_dns_support(config));
    warnings
}

/// The warning that gateways propagate their routes only after a second apply.
fn propagation(context: &Context<'_, Config>) -> Vec<Problem> {
    if context.existing.at(keys::VPC).is_some() {
        return Vec::new();
    }
    let tiers = Tier::ALL.map(|tier| context.config.propagating_gateways(tier));
    let used = tiers.into_iter().filter(|(_, gateways)| gateways.known().is_none_or(|gateways| !gateways.is_empty()));
    used.map(|(name, _)| {
        Problem::new(
            AttributePath::new(name),
            "A virtual private gateway can be attached only once the VPC exists. Its routes propagate only after that.",
            "Attach the gateway after this apply, then apply again.",
        )
    })
    .collect()
}

/// The warning that the keys of the subnets change with the name of the network.
fn renamed(context: &Context<'_, Config>) -> Option<Problem> {
    let prior = context.prior.filter(|prior| prior.vpc_name != context.config.vpc_name)?;
    let name = |config: &Config| config.vpc_name.known().map_or("(known after apply)".into(), |it| format!("{it:?}"));
    Some(Problem::new(
        AttributePath::new("vpc_name"),
        format!(
            "The name changes from {} to {}, which changes the keys of public_subnets, private_app_subnets, \
             private_persistence_subnets and transit_subnets. Resources with for_each over these maps are replaced.",
            name(prior),
            name(context.config)
        ),
        "Use the lists <tier>_subnet_ids instead, or keep the name and set the Name tag in custom_tags.",
    ))
}

/// Warnings about the rules of the default network ACL: their replacement by AWS's original rules, and their number.
fn access_rules(context: &Context<'_, Config>) -> Vec<Problem> {
    let config = context.config;
    let mut warnings = Vec::new();
    match config.apply_default_nacl_rules {
        Input::Known(false) if context.existing.at(&keys::default_network_acl().slot).is_some() => {
            warnings.push(Problem::new(
                AttributePath::new("apply_default_nacl_rules"),
                "The default network ACL gets AWS's original rules again, which allow all traffic.",
                "Set apply_default_nacl_rules to true to keep the current rules.",
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
                        format!("The map has {count} rules, but AWS allows {MOST_RULES} per direction by default."),
                        "Use fewer rules, unless AWS has raised the quota of this account.",
                    ));
                }
            }
        }
        _ => {}
    }
    warnings
}

/// The warning that the rules of the default security group are revoked. The group itself stays.
fn revoked_rules(context: &Context<'_, Config>) -> Option<Problem> {
    let is_off = context.config.enable_default_security_group == Input::Known(false);
    context.existing.at(&keys::default_security_group().slot).filter(|_| is_off)?;
    Some(Problem::new(
        AttributePath::new("enable_default_security_group"),
        "The rules of the default security group that this resource set are revoked. Instances and network interfaces \
         that have only this group lose the traffic that these rules allow.",
        "Set enable_default_security_group to true to keep the rules, or give these interfaces another group first.",
    ))
}

/// The warning that DNS host names have no effect. AWS accepts no change to `true` without DNS support, so the VPC gets
/// `false`.
fn without_dns_support(config: &Config) -> Option<Problem> {
    let has_no_effect =
        config.enable_dns_hostnames == Input::Known(true) && config.enable_dns_support == Input::Known(false);
    has_no_effect.then(|| {
        Problem::new(
            AttributePath::new("enable_dns_hostnames"),
            "enable_dns_hostnames has no effect while enable_dns_support is false, because AWS assigns DNS names only \
             with DNS support.",
            "Set enable_dns_support to true, or enable_dns_hostnames to false.",
        )
    })
}

/// Warnings about entries of the CIDR block maps for AZ indices that the network does not have.
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
                format!("The entry is not used, because the network has only {}.", indices.join(", ")),
                "Remove the entry, or use more AZs.",
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
    fn a_new_name_warns_about_the_keys_of_the_subnets() {
        let (before, after) = (config(&[]), config(&[("vpc_name", "other".into())]));
        let existing = applied(&objects(&before, "a"));
        assert_eq!(warnings_of(&before, Some(&before), &existing), []);
        assert_eq!(warnings_of(&after, None, &Inventory::default()), []);
        let warnings = warnings_of(&after, Some(&before), &existing);
        assert_eq!((warnings.len(), warnings[0].0.as_str()), (1, "vpc_name"));
        assert!(warnings[0].1.contains("from \"main\" to \"other\""), "{warnings:?}");
    }

    #[test]
    fn turning_off_the_default_group_warns_about_its_rules() {
        let (on, off) = (config(&[]), config(&[("enable_default_security_group", false.into())]));
        let existing = applied(&objects(&on, "a"));
        assert_eq!(warnings_of(&on, Some(&on), &existing), []);
        assert_eq!(warnings_of(&off, None, &Inventory::default()), [], "there is nothing to revoke");
        let warnings = warnings_of(&off, Some(&on), &existing);
        assert_eq!((warnings.len(), warnings[0].0.as_str()), (1, "enable_default_security_group"));
        assert!(warnings[0].1.contains("are revoked"), "{warnings:?}");
    }

    #[test]
    fn dns_host_names_without_dns_support_only_warn() {
        let without = [("enable_dns_support", Value::from(false))];
        let warnings = warnings_of(&config(&without), None, &Inventory::default());
        assert_eq!((warnings.len(), warnings[0].0.as_str()), (1, "enable_dns_hostnames"));
        let both = config(&[without[0].clone(), ("enable_dns_hostnames", false.into())]);
        assert_eq!(warnings_of(&both, None, &Inventory::default()), []);
        assert_eq!(objects(&config(&without), "a"), objects(&both, "a"), "both networks are the same");
    }

    #[test]
    fn an_entry_for_a_missing_az_is_reported_as_unused() {
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
    fn quotas_cause_warnings_and_no_errors() {
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
