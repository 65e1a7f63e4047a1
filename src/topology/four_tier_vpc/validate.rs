//! What may be written: every rule of the specification and of AWS that can be checked without AWS. What is unknown is
//! never a problem, and all problems are reported at once.

mod access_rules;
mod addresses;
mod gateways;
mod ipv6;
#[cfg(test)]
mod rules;

use std::collections::BTreeMap;

use ipnet::{Ipv4Net, Ipv6Net};

use super::config::{Config, Strings};
use super::{network_acl, security_group};
use crate::model::{TaggingService, Tier, check_tags};
use crate::plugin::{AttributePath, Input, Problem};

/// Every problem.
pub(super) fn validate(config: &Config) -> Vec<Problem> {
    let mut problems = Problems::default();
    problems.name(config);
    problems.zones(config);
    problems.addresses(config);
    problems.ipv6(config);
    problems.gateways(config);
    problems.dns(config);
    for (name, map) in config.tag_maps() {
        let tags = map.known().map(|map| check_tags(TaggingService::Ec2, map, &AttributePath::new(name)));
        problems.0.extend(tags.unwrap_or_default());
    }
    problems.access_rules(config);
    problems.policy("objectstore_endpoint_policy", &config.objectstore_endpoint_policy);
    problems.policy("keyvalue_endpoint_policy", &config.keyvalue_endpoint_policy);
    problems.0
}

/// The problems of IPv4 addresses alone.
pub(super) fn addresses(config: &Config) -> Vec<Problem> {
    let mut problems = Problems::default();
    problems.addresses(config);
    problems.0
}

/// Whether a text is right.
type Test = fn(&str) -> bool;

/// The problems found so far.
#[derive(Default)]
struct Problems(Vec<Problem>);

impl Problems {
    fn add(&mut self, path: AttributePath, message: impl Into<String>, hint: impl Into<String>) {
        self.0.push(Problem::new(path, message, hint));
    }

    /// Reports each element that is not right.
    fn each(&mut self, path: &AttributePath, list: &Strings, is_right: Test, what: &str) {
        for (index, item) in list.known().into_iter().flatten().enumerate() {
            if let Some(text) = item.known().filter(|text| !is_right(text)) {
                self.add(path.index(index), format!("{text:?} is not {what}."), format!("Use {what}."));
            }
        }
    }

    fn name(&mut self, config: &Config) {
        let Input::Known(name) = &config.vpc_name else { return };
        let path = AttributePath::new("vpc_name");
        if name.trim().is_empty() || name.trim() != name || name.chars().any(char::is_control) {
            let message = format!("{name:?} is empty, or begins or ends with a space, or has control characters.");
            self.add(path.clone(), message, "Use a plain name.");
        }
        // AWS allows 256 characters in a tag; the longest suffix is `-private-persistence-` and a number.
        let length = name.chars().count();
        if length > 230 {
            let message = format!("It has {length} characters, and with their suffixes Name tags would exceed 256.");
            self.add(path, message, "Use at most 230 characters.");
        }
    }

    fn zones(&mut self, config: &Config) {
        if let Input::Known(Some(ids)) = &config.availability_zone_ids {
            let path = AttributePath::new("availability_zone_ids");
            if ids.is_empty() {
                let message = "The list is empty, so that no AZ could be used.";
                self.add(path.clone(), message, "Leave it out to use all AZs.");
            }
            for (index, id) in ids.iter().enumerate() {
                let is_excluded = |id: &String| {
                    let excluded = config.availability_zone_exclude_ids.known();
                    excluded.is_some_and(|excluded| excluded.contains(&Input::Known(id.clone())))
                };
                if let Some(id) = id.known().filter(|id| is_excluded(id)) {
                    let message = format!("{id} is also in availability_zone_exclude_ids.");
                    self.add(path.index(index), message, "Remove it from one of the two.");
                }
                if let Some(id) = id.known().filter(|id| ids[..index].contains(&Input::Known((*id).clone()))) {
                    self.add(path.index(index), format!("{id} is given twice."), "Give each AZ once.");
                }
            }
            let ids = Input::Known(ids.clone());
            self.each(&path, &ids, is_zone_id, "the id of an AZ, such as use1-az1; the names of AZs end otherwise");
        }
        let path = AttributePath::new("availability_zone_exclude_ids");
        let what = "the id of an AZ, such as use1-az1; names go to availability_zone_exclude_names";
        self.each(&path, &config.availability_zone_exclude_ids, is_zone_id, what);
        let path = AttributePath::new("availability_zone_exclude_names");
        let what = "the name of an AZ, such as us-east-1a; ids go to availability_zone_exclude_ids";
        self.each(&path, &config.availability_zone_exclude_names, |name| !is_zone_id(name), what);
    }

    fn dns(&mut self, config: &Config) {
        if config.enable_dns_hostnames == Input::Known(true) && config.enable_dns_support == Input::Known(false) {
            self.add(
                AttributePath::new("enable_dns_hostnames"),
                "AWS gives DNS names only where enable_dns_support is true, and it is false.",
                "Set enable_dns_hostnames to false too.",
            );
        }
    }

    fn policy(&mut self, name: &str, policy: &Input<Option<String>>) {
        let Input::Known(Some(text)) = policy else { return };
        match serde_json::from_str::<BTreeMap<String, serde_json::Value>>(text) {
            Ok(fields) if !fields.contains_key("Statement") => {
                let message = "The policy has no Statement.";
                self.add(AttributePath::new(name), message, "Add one, or leave the policy out to allow everything.");
            }
            Ok(_) => {}
            Err(error) => {
                let message = format!("The policy is no JSON object: {error}.");
                self.add(AttributePath::new(name), message, "Write it with jsonencode() or as a policy document.");
            }
        }
    }
}

/// Whether this is `AZ-` and a number without leading zeros.
fn is_az_key(key: &str) -> bool {
    let index = key.strip_prefix("AZ-").and_then(|digits| digits.parse::<u32>().ok());
    index.is_some_and(|index| key == format!("AZ-{index}"))
}

/// Whether this is the id of an AZ, the same for all accounts, and no name: ids end in `-az` and a number.
fn is_zone_id(text: &str) -> bool {
    text.rsplit_once("-az").is_some_and(|(_, number)| number.parse::<u32>().is_ok())
}

fn is_ipv4_range(text: &str) -> bool {
    text.parse::<Ipv4Net>().is_ok_and(|net| net.trunc() == net)
}

fn is_ipv6_range(text: &str) -> bool {
    text.parse::<Ipv6Net>().is_ok_and(|net| net.trunc() == net)
}
