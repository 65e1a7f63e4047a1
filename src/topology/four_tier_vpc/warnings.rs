//! Warnings about configurations that are valid but probably not intended, and about effects of a change.

mod released;
mod unused;
pub(super) mod zones;

use std::collections::{BTreeMap, BTreeSet};

use super::config::{Config, SecurityGroupRule, Strings};
use super::security_group;
use super::tier_zones::{self, TierZones};
use super::zones::ZoneSlot;
use crate::model::keys::network as keys;
use crate::model::{Facts, Finding, Inventory, Key, Object, Outside, Ref, Route, RuleSource, Spec, Tier};
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::Context;

/// AWS's default quota is 8 private addresses per NAT gateway, including the primary one.
const MOST_SECONDARY: i64 = 7;

/// AWS's default quota of rules per direction of a network ACL, including the rules that deny the rest: one for IPv4,
/// and one for IPv6 if the VPC has an IPv6 range.
const MOST_RULES: usize = 20;

/// AWS's default quota of rules per direction of a security group, for each of IPv4 and IPv6.
const MOST_GROUP_RULES: usize = 60;

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
    warnings.extend(released::security_group(context));
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

/// Warnings about the rules of the default network ACL: their replacement by earlier ones, and their number.
fn access_rules(context: &Context<'_, Config>) -> Vec<Problem> {
    let config = context.config;
    let mut warnings = Vec::new();
    match config.apply_default_nacl_rules {
        Input::Known(false) => warnings.extend(released::network_acl(context.existing)),
        Input::Known(true) => {
            let directions = [
                ("default_nacl_ingress_rules", &config.default_nacl_ingress_rules),
                ("default_nacl_egress_rules", &config.default_nacl_egress_rules),
            ];
            let denying = if config.enable_ipv6 == Input::Known(true) { 2 } else { 1 };
            for (name, rules) in directions {
                let count = rules.known().map_or(0, BTreeMap::len);
                if count + denying > MOST_RULES {
                    warnings.push(Problem::new(
                        AttributePath::new(name),
                        format!(
                            "The map has {count} rules, and AWS adds {denying} that deny the rest, which makes {}. By \
                             default, AWS allows {MOST_RULES} per direction.",
                            count + denying
                        ),
                        "Use fewer rules, unless AWS has raised the quota of this account.",
                    ));
                }
            }
        }
        _ => {}
    }
    let has_rules = config.restrict_default_security_group == Input::Known(false);
    if config.enable_default_security_group == Input::Known(true) && has_rules {
        let directions = [
            ("default_security_group_ingress_rules", &config.default_security_group_ingress_rules),
            ("default_security_group_egress_rules", &config.default_security_group_egress_rules),
        ];
        warnings.extend(directions.into_iter().filter_map(|(name, rules)| group_rules(name, rules, context.facts)));
    }
    warnings
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

/// The warning that a direction of the default security group has more rules than AWS allows by default. AWS counts
/// each range as a rule of its family, and a group as one of each. A prefix list counts as its maximum number of
/// entries. Only the plan that adds the list looks this up, so other lists count once.
fn group_rules(
    name: &str,
    rules: &Input<BTreeMap<String, Input<SecurityGroupRule>>>,
    facts: &Facts,
) -> Option<Problem> {
    let Input::Known(Some(rules)) = security_group::rules(rules) else { return None };
    let weight = |list: &String| match facts.outside.get(&Outside::PrefixList(list.clone())) {
        Some(Finding::Exists { detail, .. }) => {
            let (weight, family) = detail.split_once(' ')?;
            Some((weight.parse::<usize>().ok()?, family))
        }
        Some(Finding::Missing(_)) | None => None,
    };
    let count = |family: &str| -> usize {
        let count = |source: &RuleSource| match source {
            RuleSource::CidrIpv4(_) => usize::from(family == "IPv4"),
            RuleSource::CidrIpv6(_) => usize::from(family == "IPv6"),
            RuleSource::PrefixList(list) => {
                weight(list).map_or(1, |(weight, of)| if of == family { weight } else { 0 })
            }
            RuleSource::SecurityGroup(_) | RuleSource::ItSelf => 1,
        };
        rules.iter().map(|rule| count(&rule.source)).sum()
    };
    let (ipv4, ipv6) = (count("IPv4"), count("IPv6"));
    let (count, family) = if ipv4 >= ipv6 { (ipv4, "IPv4") } else { (ipv6, "IPv6") };
    let is_unknown = |source: &RuleSource| matches!(source, RuleSource::PrefixList(list) if weight(list).is_none());
    let least = if rules.iter().any(|rule| is_unknown(&rule.source)) { "at least " } else { "" };
    (count > MOST_GROUP_RULES).then(|| {
        let message = format!(
            "AWS counts each CIDR block, security group and entry of a prefix list as a rule. These are {least}{count} \
             rules for {family}, but AWS allows {MOST_GROUP_RULES} per direction by default."
        );
        Problem::new(AttributePath::new(name), message, "Use fewer, unless AWS has raised the quota of this account.")
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
    let ipv6 = (Tier::Public, ("public_subnet_ipv6_cidr_blocks", &config.public_subnet_ipv6_cidr_blocks));
    let has_ipv6 = config.enable_ipv6 == Input::Known(true) && zones.tiers().any(|tier| tier == Tier::Public);
    for (tier, (name, entries)) in ipv4.chain(has_ipv6.then_some(ipv6)) {
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
        let with = |count: i64, ipv6: bool| {
            let mut attributes = vec![
                ("apply_default_nacl_rules", Value::from(true)),
                ("default_nacl_egress_rules", Value::map((1..=count).map(rule))),
            ];
            if ipv6 {
                attributes.extend([("enable_ipv6", true.into()), ("assign_generated_ipv6_cidr_block", true.into())]);
            }
            warnings_of(&config(&attributes), None, &Inventory::default())
        };
        // AWS's rules that deny the rest count too.
        assert_eq!((with(19, false), with(18, true)), (vec![], vec![]));
        for (count, ipv6, says) in [(20, false, "20 rules, and AWS adds 1"), (19, true, "19 rules, and AWS adds 2")] {
            let warnings = with(count, ipv6);
            assert_eq!(warnings[0].0, "default_nacl_egress_rules");
            assert!(warnings[0].1.contains(says), "{warnings:?}");
        }
    }

    #[test]
    fn rules_of_the_security_group_count_per_source_and_family() {
        let with = |ipv4: u8, ipv6: u8, lists: Vec<&str>| {
            let rule = Value::map([
                ("protocol", Value::from("tcp")),
                ("from_port", 443_i64.into()),
                ("to_port", 443_i64.into()),
                ("cidr_blocks", (0..ipv4).map(|number| format!("10.0.{number}.0/24")).collect::<Vec<_>>().into()),
                (
                    "ipv6_cidr_blocks",
                    (0..ipv6).map(|number| format!("2001:db8:{number}::/48")).collect::<Vec<_>>().into(),
                ),
                ("prefix_list_ids", lists.into()),
            ]);
            let config = config(&[("default_security_group_ingress_rules", Value::map([("https", rule)]))]);
            warnings_of(&config, None, &Inventory::default())
        };
        assert_eq!((with(60, 60, vec![]), with(59, 0, vec!["pl-1"])), (vec![], vec![]));
        for (warnings, says) in [
            (with(61, 3, vec![]), "These are 61 rules for IPv4"),
            (with(3, 61, vec![]), "These are 61 rules for IPv6"),
            (with(60, 0, vec!["pl-1"]), "These are at least 61 rules for IPv4"),
        ] {
            assert_eq!((warnings.len(), warnings[0].0.as_str()), (1, "default_security_group_ingress_rules"));
            assert!(warnings[0].1.contains(says), "no {says} in {warnings:?}");
        }
    }

    #[test]
    fn a_new_prefix_list_counts_as_its_maximum_number_of_entries() {
        let rule = |lists: Vec<&str>, blocks: u8| {
            let blocks: Vec<String> = (0..blocks).map(|number| format!("10.0.{number}.0/24")).collect();
            let rule = Value::map([
                ("protocol", Value::from("tcp")),
                ("from_port", 443_i64.into()),
                ("to_port", 443_i64.into()),
                ("cidr_blocks", blocks.into()),
                ("prefix_list_ids", lists.into()),
            ]);
            let config = config(&[("default_security_group_ingress_rules", Value::map([("https", rule)]))]);
            config.default_security_group_ingress_rules
        };
        let exists = |id: &str, detail: &str| {
            (Outside::PrefixList(id.into()), Finding::Exists { owner: None, detail: detail.into() })
        };
        let outside = [exists("pl-4", "55 IPv4"), exists("pl-6", "60 IPv6"), exists("pl-0", "")].into();
        let facts = Facts { outside, ..Facts::default() };
        let warned = |lists: Vec<&str>, blocks: u8| {
            group_rules("default_security_group_ingress_rules", &rule(lists, blocks), &facts).map(|it| it.message)
        };
        assert_eq!((warned(vec!["pl-4"], 5), warned(vec!["pl-4", "pl-6"], 5)), (None, None));
        let says =
            |message: Option<String>, words: &str| assert!(message.as_ref().unwrap().contains(words), "{message:?}");
        says(warned(vec!["pl-4"], 6), "These are 61 rules for IPv4");
        says(warned(vec!["pl-4", "pl-0"], 5), "These are at least 61 rules for IPv4");
    }

    #[test]
    fn nat_gateways_that_no_route_table_uses_cause_a_warning() {
        for further in
            [vec![], vec![("enable_private_nat", Value::from(true)), ("create_transit_subnets", true.into())]]
        {
            let with = |count: i64| {
                let mut attributes = further.clone();
                attributes.push(("num_nat_gateways", count.into()));
                warnings_of(&config(&attributes), None, &Inventory::default())
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
