//! The rules for the inputs: all rules of the specification and of AWS that can be checked without AWS. Unknown values
//! are never a problem, and all problems are reported at once.

mod addresses;
mod gateways;
mod ipv6;
#[cfg(test)]
pub(super) mod rules;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use super::config::Config;
use super::parts::{Part, SecondaryRanges};
use super::problems::{Problems, Test};
use super::{PARTS, Strings, name_tags, route_table_layout, tier_zones};
use crate::model::keys::network;
use crate::model::{TaggingService, Tier, check_tags};
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::protected;

/// All problems of a configuration.
pub(super) fn validate(config: &Config) -> Vec<Problem> {
    let mut problems = Problems::default();
    problems.name(config);
    problems.zones(config);
    problems.tier_zones(config, is_zone_id, "an AZ ID", "Use an AZ ID such as use1-az1 instead of a name.");
    problems.addresses(config);
    problems.ipv6(config);
    problems.gateways(config);
    for (name, map) in config.tag_maps() {
        let tags = map.known().map(|map| check_tags(TaggingService::Ec2, map, &AttributePath::new(name)));
        problems.0.extend(tags.unwrap_or_default());
    }
    problems.0.extend(name_tags::problems(config));
    problems.0.extend(route_table_layout::problems(config));
    problems.0.extend(PARTS.iter().flat_map(|part| part.problems(config)));
    problems.0.extend(protected::problems(&config.protected_objects, &network::slots()));
    problems.0
}

/// Only the problems of the IPv4 addresses, for a network whose AZs have the IDs `AZ-0`, `AZ-1` and so on.
pub(super) fn addresses(config: &Config) -> Vec<Problem> {
    let mut problems = Problems::default();
    problems.tier_zones(config, is_az_key, "of the form AZ-<index>", "Use AZ-0, AZ-1 and so on.");
    problems.addresses(config);
    problems.0.extend(SecondaryRanges.problems(config));
    problems.0
}

impl Problems {
    fn name(&mut self, config: &Config) {
        let Input::Known(name) = &config.vpc_name else { return };
        let path = AttributePath::new("vpc_name");
        if name.trim().is_empty() || name.trim() != name || name.chars().any(char::is_control) {
            let message = format!("{name:?} is empty, starts or ends with a space, or contains control characters.");
            self.add(path.clone(), message, "Use a name such as \"production\".");
        }
        // The value of a tag has at most 256 characters. The longest suffix is `-private-persistence-` and a number.
        let length = name.chars().count();
        if length > 230 {
            let message = format!("The name has {length} characters, so Name tags with a suffix would exceed 256.");
            self.add(path, message, "Use at most 230 characters.");
        }
    }

    fn zones(&mut self, config: &Config) {
        let (ids, names) = (&config.availability_zone_ids, &config.availability_zone_names);
        let excluded = (&config.availability_zone_exclude_ids, &config.availability_zone_exclude_names);
        if let Some(ids) = ids.known().and_then(Option::as_ref) {
            let path = AttributePath::new("availability_zone_ids");
            self.chosen_zones(&path, ids, "availability_zone_exclude_ids", excluded.0);
            let hint = "Use an AZ ID such as use1-az1, or set availability_zone_names instead.";
            self.each(&path, &Input::Known(ids.clone()), is_zone_id, "an AZ ID", hint);
        }
        if let Some(names) = names.known().and_then(Option::as_ref) {
            let path = AttributePath::new("availability_zone_names");
            self.chosen_zones(&path, names, "availability_zone_exclude_names", excluded.1);
            let hint = "Use an AZ name such as us-east-1a, or set availability_zone_ids instead.";
            self.each(&path, &Input::Known(names.clone()), |name| !is_zone_id(name), "an AZ name", hint);
            if let Some(ids) = ids.known().and_then(Option::as_ref) {
                let (names, ids) = (listed(names), listed(ids));
                let message = format!("{names} conflicts with availability_zone_ids, which is {ids}.");
                self.add(path, message, "Remove one of the two.");
            }
        }
        let path = AttributePath::new("availability_zone_exclude_ids");
        let hint = "Use an AZ ID such as use1-az1, or move the name to availability_zone_exclude_names.";
        self.each(&path, &config.availability_zone_exclude_ids, is_zone_id, "an AZ ID", hint);
        let path = AttributePath::new("availability_zone_exclude_names");
        let hint = "Use an AZ name such as us-east-1a, or move the ID to availability_zone_exclude_ids.";
        let names = &config.availability_zone_exclude_names;
        self.each(&path, names, |name| !is_zone_id(name), "an AZ name", hint);
    }

    /// Checks a list of AZs to use.
    fn chosen_zones(&mut self, path: &AttributePath, zones: &[Input<String>], other: &str, excluded: &Strings) {
        if zones.is_empty() {
            let message = "The list is empty, so no AZ can be used.";
            self.add(path.clone(), message, "Remove the list to use all AZs.");
        }
        for (index, zone) in zones.iter().enumerate() {
            let Some(text) = zone.known() else { continue };
            if excluded.known().is_some_and(|excluded| excluded.contains(zone)) {
                let message = format!("{text} is also in {other}.");
                self.add(path.index(index), message, "Remove it from one of the two lists.");
            }
            if zones[..index].contains(zone) {
                self.add(path.index(index), format!("{text} is listed twice."), "List each AZ once.");
            }
        }
    }

    /// Checks the AZs of each tier. `what` completes the sentence "... is not ...".
    fn tier_zones(&mut self, config: &Config, is_id: Test, what: &str, hint: &str) {
        for (name, ids) in config.tier_availability_zone_ids.known().into_iter().flatten() {
            let path = tier_zones::path(name);
            if Tier::ALL.into_iter().all(|tier| tier.slot() != name) {
                let message = format!("{name:?} is not a tier.");
                self.add(path, message, "Use public, private_app, private_persistence or transit.");
                continue;
            }
            let list = ids.known().map(Vec::as_slice).unwrap_or_default();
            if ids.is_known() && list.is_empty() {
                let message = "The list is empty, so the tier would have no subnets.";
                let hint =
                    format!("Remove the entry to use all AZs of the network, or set create_{name}_subnets to false.");
                self.add(path.clone(), message, hint);
            }
            for (index, id) in list.iter().enumerate() {
                if let Some(id) = id.known().filter(|_| list[..index].contains(id)) {
                    self.add(path.index(index), format!("{id} is listed twice."), "List each AZ once.");
                }
            }
            self.each(&path, ids, is_id, what, hint);
        }
    }
}

/// Whether this is `AZ-` and a number without leading zeros.
fn is_az_key(key: &str) -> bool {
    let index = key.strip_prefix("AZ-").and_then(|digits| digits.parse::<u32>().ok());
    index.is_some_and(|index| key == format!("AZ-{index}"))
}

/// Whether this is an AZ ID and not a name: IDs, which are the same in all accounts, end in `-az` and a number.
fn is_zone_id(text: &str) -> bool {
    text.rsplit_once("-az").is_some_and(|(_, number)| number.parse::<u32>().is_ok())
}

/// A list in the notation of Terraform, without values that are not known yet.
fn listed(items: &[Input<String>]) -> String {
    let items: Vec<String> = items.iter().filter_map(Input::known).map(|item| format!("{item:?}")).collect();
    format!("[{}]", items.join(", "))
}
