//! Warnings about configurations that are valid but probably not intended, and about effects of a change.

pub(super) mod unused;
pub(super) mod zones;

use std::collections::{BTreeMap, BTreeSet};

use super::config::Config;
use super::tier_zones::{self, TierZones};
use super::zones::ZoneSlot;
use super::{PARTS, Strings, ipv6};
use crate::model::keys::network as keys;
use crate::model::{Inventory, Key, Object, Ref, Route, Spec, Tier};
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::Context;

/// AWS's default quota is 8 private addresses per NAT gateway, including the primary one.
const MOST_SECONDARY: i64 = 7;

/// AWS's default quota of Elastic IP addresses in a Region.
const MOST_ADDRESSES: usize = 5;

/// All warnings except those of [`unused_entries`] and [`nat_gateways`].
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
            "Set use_custom_nat_eips to false, or set enable_private_nat to false.",
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
    warnings.extend(PARTS.iter().flat_map(|part| part.warnings(context)));
    warnings.extend(without_dns_support(config));
    warnings.extend(unused::inputs(config));
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
        "Use the lists <tier>_subnet_ids instead, or keep the name and set the Name tags in name_tags.",
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

/// The warning about NAT gateways that no route table uses, and about more new addresses than AWS allows by default. It
/// is a single one, because Terraform shows only the first of several warnings with the same summary.
pub(super) fn nat_gateways(gateways: &[(u32, Key)], objects: &[Object], existing: &Inventory) -> Option<Problem> {
    let (mut messages, mut hints) = (Vec::new(), Vec::new());
    let used: Vec<&Key> = objects.iter().filter_map(|object| target_of(&object.spec)).collect();
    // Without a private tier, the routes to the gateways are those of someone else.
    let is_idle =
        |key: &&Key| used.iter().any(|used| gateways.iter().any(|(_, it)| it == *used)) && !used.contains(key);
    let idle = gateways.iter().map(|(_, key)| key).filter(is_idle);
    let idle: Vec<&str> = idle.map(|key| key.slot.as_str()).collect();
    if !idle.is_empty() {
        let count = gateways.iter().map(|(index, _)| index).collect::<BTreeSet<_>>().len();
        messages.push(format!(
            "The network has {} NAT gateways in {} AZ{}. Each route table uses one: the one in its AZ, or else another one. \
             No route table uses these, but AWS charges for them: {}.",
            gateways.len(),
            count,
            if count == 1 { "" } else { "s" },
            idle.join(", ")
        ));
        hints.push("Reduce num_nat_gateways.");
    }
    let addresses = objects.iter().filter(|object| matches!(object.spec, Spec::Eip(_)));
    let (count, new) = addresses.fold((0, 0), |(count, new), object| {
        (count + 1, new + usize::from(existing.present().all(|entry| entry.key != object.key)))
    });
    if count > MOST_ADDRESSES && new > 0 {
        messages.push(format!(
            "The NAT gateways need {count} Elastic IP addresses, but AWS allows {MOST_ADDRESSES} in a Region by default."
        ));
        hints.push("Request a higher quota first, or use fewer NAT gateways.");
    }
    let path = AttributePath::new("num_nat_gateways");
    (!messages.is_empty()).then(|| Problem::new(path, messages.join(" "), hints.join(" ")))
}

/// The gateway that a route leads to.
fn target_of(spec: &Spec) -> Option<&Key> {
    match spec {
        Spec::Route(Route { target: Ref::Key(key), .. }) => Some(key),
        _ => None,
    }
}

/// Warnings about entries for tiers that are not created, and about entries of the CIDR block maps for AZ indices that
/// the network or the tier does not have.
pub(super) fn unused_entries(config: &Config, zones: &TierZones) -> Vec<Problem> {
    let mut warnings = tier_zones::unused_entries(config);
    let ipv4 = zones.tiers().map(|tier| (tier, config.cidr_blocks(tier)));
    let with_ipv6 = ipv6::tiers::with_blocks(config).unwrap_or_default();
    let ipv6 = with_ipv6.into_iter().map(|tier| (tier, config.ipv6_cidr_blocks(tier)));
    for (tier, (name, entries)) in ipv4.chain(ipv6) {
        let list = |places: &[ZoneSlot]| places.iter().map(az_key).collect::<Vec<_>>().join(", ");
        for key in entries.known().into_iter().flat_map(BTreeMap::keys) {
            if zones.of_tier(tier).iter().any(|place| *key == az_key(place)) {
                continue;
            }
            let (reason, hint) = match zones.network().iter().find(|place| *key == az_key(place)) {
                Some(place) => (
                    format!("the {} tier has subnets only in {}", tier.name(), list(zones.of_tier(tier))),
                    format!("Remove the entry, or add {} to {}.", place.id, tier_zones::path(tier.slot())),
                ),
                None => (
                    format!("the network has only {}", list(zones.network())),
                    "Remove the entry, or use more AZs.".to_string(),
                ),
            };
            let message = format!("The entry is not used, because {reason}.");
            warnings.push(Problem::new(AttributePath::new(name).key(key), message, hint));
        }
    }
    warnings
}

fn az_key(place: &ZoneSlot) -> String {
    format!("AZ-{}", place.index)
}

#[cfg(test)]
mod tests {
    use super::super::config::tests::config;
    use super::super::fixtures::{applied, blueprint, objects, warned};
    use crate::model::Inventory;
    use crate::plugin::Value;
    use crate::topology::Blueprint;

    #[test]
    fn a_new_name_warns_about_the_keys_of_the_subnets() {
        let (before, after) = (config(&[]), config(&[("vpc_name", "other".into())]));
        let existing = applied(&objects(&before, "a"));
        assert_eq!(warned(&before, Some(&before), &existing), []);
        assert_eq!(warned(&after, None, &Inventory::default()), []);
        let warnings = warned(&after, Some(&before), &existing);
        assert_eq!((warnings.len(), warnings[0].0.as_str()), (1, "vpc_name"));
        assert!(warnings[0].1.contains("from \"main\" to \"other\""), "{warnings:?}");
    }

    #[test]
    fn dns_host_names_without_dns_support_only_warn() {
        let without = [("enable_dns_support", Value::from(false))];
        let warnings = warned(&config(&without), None, &Inventory::default());
        assert_eq!((warnings.len(), warnings[0].0.as_str()), (1, "enable_dns_hostnames"));
        let both = config(&[without[0].clone(), ("enable_dns_hostnames", false.into())]);
        assert_eq!(warned(&both, None, &Inventory::default()), []);
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
        let paths: Vec<String> = warned(&config, None, &Inventory::default()).into_iter().map(|it| it.0).collect();
        assert_eq!(paths, ["public_subnet_cidr_blocks[\"AZ-3\"]", "public_subnet_ipv6_cidr_blocks[\"AZ-3\"]"]);
    }

    #[test]
    fn nat_gateways_that_no_route_table_uses_cause_a_warning() {
        for further in
            [vec![], vec![("enable_private_nat", Value::from(true)), ("create_transit_subnets", true.into())]]
        {
            let with = |count: i64| {
                let mut attributes = further.clone();
                attributes.push(("num_nat_gateways", count.into()));
                warned(&config(&attributes), None, &Inventory::default())
            };
            assert_eq!(with(1), []);
            let warnings = with(3);
            assert_eq!((warnings.len(), warnings[0].0.as_str()), (1, "num_nat_gateways"));
            let message = &warnings[0].1;
            assert!(message.contains("3 NAT gateways in 1 AZ.") && message.contains("nat_gateway.1, "), "{message}");
        }
    }

    #[test]
    fn more_new_addresses_than_the_quota_cause_a_warning() {
        let with = |count: i64, existing: &Inventory| {
            let config = config(&[("num_nat_gateways", count.into())]);
            match blueprint(&config, None, existing, "abcdef") {
                Ok(Blueprint::Decided { warnings, .. }) => warnings,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(with(5, &Inventory::default()), []);
        let warnings = with(6, &Inventory::default());
        assert!(warnings[0].message.contains("need 6 Elastic IP addresses"), "{warnings:?}");
        let existing = applied(&objects(&config(&[("num_nat_gateways", 6_i64.into())]), "abcdef"));
        assert_eq!(with(6, &existing), []);
    }
}
