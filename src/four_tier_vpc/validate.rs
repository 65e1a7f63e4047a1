//! What may be written: every rule of the specification and of AWS that can be checked without AWS. What is unknown is
//! never a problem, and all problems are reported at once.

use std::collections::{BTreeMap, BTreeSet};

use ipnet::{Ipv4Net, Ipv6Net};

use super::config::{Config, SecurityGroupRule, Strings};
use super::security_group;
use crate::objects::{Tags, Tier};
use crate::plugin::{AttributePath, Input, Problem};
use crate::product::MOST_TAGS;

/// Every problem.
pub(super) fn validate(config: &Config) -> Vec<Problem> {
    let mut problems = Problems::default();
    problems.name(config);
    problems.addresses(config);
    problems.gateways(config);
    problems.dns(config);
    for (name, map) in config.tag_maps() {
        problems.tags(name, map);
    }
    for (name, rules) in [
        ("default_security_group_ingress_rules", &config.default_security_group_ingress_rules),
        ("default_security_group_egress_rules", &config.default_security_group_egress_rules),
    ] {
        for (key, rule) in rules.known().into_iter().flatten() {
            if let Input::Known(rule) = rule {
                problems.security_group_rule(&AttributePath::new(name).key(key), rule);
            }
        }
    }
    problems.policy("objectstore_endpoint_policy", &config.objectstore_endpoint_policy);
    problems.policy("keyvalue_endpoint_policy", &config.keyvalue_endpoint_policy);
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

    fn addresses(&mut self, config: &Config) {
        let vpc = match &config.cidr_block {
            Input::Known(Some(text)) => self.ipv4_range(AttributePath::new("cidr_block"), text, 16, 27),
            Input::Known(None) if config.ipv4_ipam_pool_id == Input::Known(None) => {
                let message = "A network needs an IPv4 range.";
                self.add(AttributePath::new("cidr_block"), message, "Set it, for example to \"10.0.0.0/16\".");
                None
            }
            _ => None,
        };
        let mut blocks: Vec<(AttributePath, Ipv4Net)> = Vec::new();
        for tier in Tier::ALL {
            let (name, entries) = config.cidr_blocks(tier);
            let path = AttributePath::new(name);
            for (key, text) in entries.known().into_iter().flatten() {
                let path = path.key(key);
                if !is_az_key(key) {
                    let message = format!("{key:?} is no key of the form AZ-<index>.");
                    self.add(path.clone(), message, "Use AZ-0, AZ-1 and so on.");
                }
                let Input::Known(text) = text else { continue };
                let Some(block) = self.ipv4_range(path.clone(), text, 16, 28) else { continue };
                if *config.creates(tier) == Input::Known(true) {
                    blocks.push((path, block));
                }
            }
            self.bits(config, tier, vpc);
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

    /// Checks the size of the subnets that bits make.
    fn bits(&mut self, config: &Config, tier: Tier, vpc: Option<Ipv4Net>) {
        let (name, bits) = config.bits(tier);
        let (Some(vpc), Some(bits), Input::Known(true)) = (vpc, bits.known(), config.creates(tier)) else { return };
        let length = i64::from(vpc.prefix_len()) + bits;
        let explicit_only = config.cidr_blocks(tier).1.known().is_some_and(|entries| !entries.is_empty());
        if length > 28 && !explicit_only {
            let message =
                format!("{bits} bits after {vpc} make subnets of /{length}, and AWS allows none smaller than /28.");
            self.add(AttributePath::new(name), message, format!("Use at most {} bits.", 28 - vpc.prefix_len()));
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

    fn gateways(&mut self, config: &Config) {
        let wants_nat = config.num_nat_gateways.known().is_some_and(|count| *count > 0);
        if wants_nat
            && config.create_public_subnets == Input::Known(true)
            && config.create_igw == Input::Known(false)
            && config.enable_private_nat == Input::Known(false)
        {
            self.add(
                AttributePath::new("create_igw"),
                "Public NAT gateways need an internet gateway of the network's own, and create_igw is false.",
                "Set create_igw to true, or num_nat_gateways to 0.",
            );
        }
        self.custom_addresses(config);
    }

    fn custom_addresses(&mut self, config: &Config) {
        let (Input::Known(true), Input::Known(ids)) = (&config.use_custom_nat_eips, &config.custom_nat_eips) else {
            return;
        };
        let path = AttributePath::new("custom_nat_eips");
        if let Input::Known(count) = config.num_nat_gateways
            && i64::try_from(ids.len()) != Ok(count)
        {
            let message = format!("It has {} addresses, and num_nat_gateways is {count}.", ids.len());
            self.add(path.clone(), message, "Give as many allocation ids as there are NAT gateways.");
        }
        let mut seen = BTreeSet::new();
        for (index, id) in ids.iter().enumerate() {
            let Input::Known(id) = id else { continue };
            if !id.starts_with("eipalloc-") {
                let message = format!("{id:?} is no allocation id.");
                self.add(path.index(index), message, "Use an id like eipalloc-0123456789abcdef0.");
            }
            if !seen.insert(id) {
                self.add(path.index(index), format!("{id} is given twice."), "An address serves one NAT gateway.");
            }
        }
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

    fn tags(&mut self, name: &str, map: &Tags) {
        let Input::Known(map) = map else { return };
        for (key, value) in map {
            let path = AttributePath::new(name).key(key);
            let lower = key.to_ascii_lowercase();
            if lower.starts_with("aws:") || key.starts_with("fgw:") {
                let whose = if key.starts_with("fgw:") { "this provider" } else { "AWS" };
                self.add(path.clone(), format!("{key:?} begins like a tag of {whose}."), "Use another key.");
            }
            let length = key.chars().count();
            if length == 0 || length > 128 {
                self.add(path.clone(), format!("The key has {length} characters."), "Use 1 to 128 characters.");
            }
            let length = value.known().map_or(0, |value| value.chars().count());
            if length > 256 {
                self.add(path, format!("The value has {length} characters."), "Use at most 256 characters.");
            }
        }
        if map.len() > MOST_TAGS {
            let message = format!("It has {} tags. AWS allows 50, of which the provider uses 2.", map.len());
            self.add(AttributePath::new(name), message, format!("Use at most {MOST_TAGS}."));
        }
    }

    fn security_group_rule(&mut self, path: &AttributePath, rule: &SecurityGroupRule) {
        self.sources(path, rule);
        if let Input::Known(Some(description)) = &rule.description
            && description.chars().count() > 255
        {
            let message = format!("It has {} characters.", description.chars().count());
            self.add(path.attribute("description"), message, "Use at most 255.");
        }
        let (Input::Known(protocol), Input::Known(from), Input::Known(to)) =
            (&rule.protocol, &rule.from_port, &rule.to_port)
        else {
            return;
        };
        let canonical = security_group::protocol(protocol);
        match canonical.as_str() {
            "-1" if (*from, *to) != (0, 0) => {
                let message =
                    format!("With protocol {protocol} a rule is for all ports, and these are {from} to {to}.");
                self.add(path.attribute("from_port"), message, "Set from_port and to_port to 0.");
            }
            "tcp" | "udp" if from > to || *from < 0 => {
                let message = format!("{from} to {to} is no range of ports.");
                self.add(path.attribute("from_port"), message, "Use ports from 0 to 65535, the lower one first.");
            }
            "icmp" | "icmpv6" if *from > 255 || *to > 255 => {
                let message = format!("{from} and {to} are no ICMP type and code.");
                self.add(path.attribute("from_port"), message, "Use -1 to 255, where -1 means all.");
            }
            "-1" | "tcp" | "udp" | "icmp" | "icmpv6" => {}
            other if other.parse::<u8>().is_ok() => {}
            _ => {
                let message = format!("{protocol:?} is no protocol that AWS knows.");
                self.add(path.attribute("protocol"), message, "Use tcp, udp, icmp, icmpv6, -1 or a number.");
            }
        }
    }

    fn sources(&mut self, path: &AttributePath, rule: &SecurityGroupRule) {
        let lists: [(&str, &Strings, Test, &str); 4] = [
            ("cidr_blocks", &rule.cidr_blocks, is_ipv4_range, "an IPv4 range without host bits, such as 10.0.0.0/16"),
            (
                "ipv6_cidr_blocks",
                &rule.ipv6_cidr_blocks,
                is_ipv6_range,
                "an IPv6 range without host bits, such as ::/0",
            ),
            ("prefix_list_ids", &rule.prefix_list_ids, |id| id.starts_with("pl-"), "a prefix list id, pl-..."),
            ("security_groups", &rule.security_groups, |id| id.starts_with("sg-"), "a security group id, sg-..."),
        ];
        for (name, list, is_right, what) in &lists {
            for (index, item) in list.known().into_iter().flatten().enumerate() {
                if let Some(text) = item.known().filter(|text| !is_right(text)) {
                    let path = path.attribute(name).index(index);
                    self.add(path, format!("{text:?} is not {what}."), format!("Use {what}."));
                }
            }
        }
        let has_none = lists.iter().all(|(_, list, ..)| list.known().is_some_and(Vec::is_empty));
        if has_none && rule.self_ == Input::Known(false) {
            self.add(
                path.clone(),
                "The rule names nobody that it is for.",
                "Give cidr_blocks, ipv6_cidr_blocks, prefix_list_ids, security_groups or self.",
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

fn is_ipv4_range(text: &str) -> bool {
    text.parse::<Ipv4Net>().is_ok_and(|net| net.trunc() == net)
}

fn is_ipv6_range(text: &str) -> bool {
    text.parse::<Ipv6Net>().is_ok_and(|net| net.trunc() == net)
}

#[cfg(test)]
mod tests {
    use super::super::config::tests::config;
    use super::*;
    use crate::plugin::{Nested, Value};

    /// The paths of the problems, and all their texts.
    fn problems(attributes: &[(&str, Value)]) -> (Vec<String>, String) {
        let problems = validate(&config(attributes));
        let texts: Vec<String> = problems.iter().map(|it| format!("{} {}", it.message, it.hint)).collect();
        (problems.iter().map(|it| it.path.to_string()).collect(), texts.join("\n"))
    }

    fn paths(attributes: &[(&str, Value)]) -> Vec<String> {
        problems(attributes).0
    }

    #[test]
    fn the_defaults_are_right_and_unknowns_are_no_problem() {
        assert_eq!(paths(&[]), [""; 0]);
        for attribute in Config::attributes() {
            assert_eq!(paths(&[(&attribute.name, Value::Unknown)]), [""; 0], "{}", attribute.name);
        }
    }

    #[test]
    fn a_range_must_be_one_that_aws_takes() {
        let (_, text) = problems(&[("cidr_block", "10.0.0.1/16".into())]);
        assert!(text.contains("Write 10.0.0.0/16"), "{text}");
        for wrong in ["10.0.0.0", "10.0.0.0/15", "10.0.0.0/28", "10.0.0.0/32", "10.0.0.0/33", "fd00::/16"] {
            assert_eq!(paths(&[("cidr_block", wrong.into())]), ["cidr_block"], "{wrong}");
        }
        assert_eq!(paths(&[("cidr_block", Value::Null)]), ["cidr_block"]);
    }

    #[test]
    fn explicit_blocks_fit_the_vpc_and_each_other() {
        let entries = |pairs: &[(&str, &str)]| Value::map(pairs.iter().map(|(key, block)| (*key, (*block).into())));
        let outside = entries(&[("AZ-0", "10.1.0.0/24")]);
        assert_eq!(paths(&[("public_subnet_cidr_blocks", outside)]), ["public_subnet_cidr_blocks[\"AZ-0\"]"]);
        let overlapping = entries(&[("AZ-0", "10.0.0.0/20"), ("AZ-1", "10.0.8.0/24")]);
        let (_, text) = problems(&[("public_subnet_cidr_blocks", overlapping)]);
        assert!(text.contains("10.0.8.0/24 overlaps 10.0.0.0/20"), "{text}");
        for key in ["AZ-01", "az-0", "AZ-", "0"] {
            let wrong = entries(&[(key, "10.0.0.0/24")]);
            assert_eq!(paths(&[("public_subnet_cidr_blocks", wrong)]).len(), 1, "{key}");
        }
    }

    #[test]
    fn public_nat_gateways_need_an_own_internet_gateway() {
        assert_eq!(paths(&[("create_igw", false.into())]), ["create_igw"]);
        assert_eq!(paths(&[("create_igw", false.into()), ("num_nat_gateways", 0_i64.into())]), [""; 0]);
        assert_eq!(paths(&[("create_igw", false.into()), ("create_public_subnets", false.into())]), [""; 0]);
    }

    #[test]
    fn custom_addresses_are_as_many_as_nat_gateways() {
        let custom = |ids: &[&str]| {
            paths(&[
                ("use_custom_nat_eips", true.into()),
                ("custom_nat_eips", ids.to_vec().into()),
                ("num_nat_gateways", 2_i64.into()),
            ])
        };
        assert_eq!(custom(&["eipalloc-1", "eipalloc-2"]), [""; 0]);
        assert_eq!(custom(&[]), ["custom_nat_eips"]);
        assert_eq!(custom(&["eipalloc-1", "eipalloc-1"]), ["custom_nat_eips[1]"]);
        assert_eq!(custom(&["eipalloc-1", "198.51.100.1"]), ["custom_nat_eips[1]"]);
    }

    #[test]
    fn tags_of_others_and_tags_too_long_are_refused() {
        for (key, value) in [("aws:x", "1".to_string()), ("fgw:object", "1".into()), ("a", "x".repeat(257))] {
            let tags = Value::map([(key, value.into())]);
            assert_eq!(paths(&[("custom_tags", tags)]).len(), 1, "{key}");
        }
        let many = Value::map((0..49).map(|number| (format!("k{number}"), Value::from("v"))));
        assert_eq!(paths(&[("vpc_custom_tags", many)]), ["vpc_custom_tags"]);
    }

    #[test]
    fn a_rule_has_a_source_ports_that_fit_and_a_protocol() {
        let rule = |protocol: &str, from: i64, to: i64, cidr: &[&str]| {
            let rule = Value::map([
                ("protocol", protocol.into()),
                ("from_port", from.into()),
                ("to_port", to.into()),
                ("cidr_blocks", cidr.to_vec().into()),
            ]);
            paths(&[("default_security_group_egress_rules", Value::map([("x", rule)]))]).len()
        };
        let everyone = ["0.0.0.0/0"];
        assert_eq!(rule("tcp", 80, 80, &everyone), 0);
        assert_eq!(rule("50", 0, 0, &everyone), 0);
        assert_eq!(rule("tcp", 80, 80, &[]), 1);
        assert_eq!(rule("tcp", 81, 80, &everyone), 1);
        assert_eq!(rule("-1", 1, 1, &everyone), 1);
        assert_eq!(rule("http", 80, 80, &everyone), 1);
        assert_eq!(rule("tcp", 80, 80, &["10.0.0.1/8"]), 1);
    }

    #[test]
    fn policies_are_json() {
        assert_eq!(paths(&[("objectstore_endpoint_policy", "{".into())]), ["objectstore_endpoint_policy"]);
        assert_eq!(paths(&[("keyvalue_endpoint_policy", "{\"Statement\":[]}".into())]), [""; 0]);
    }

    #[test]
    fn timeouts_are_durations() {
        let refused = |name: &str, value: Value| super::super::config::tests::decode(&[(name, value)]).unwrap_err();
        assert_eq!(refused("route_table_update_timeout", "5".into())[0].path.to_string(), "route_table_update_timeout");
        let timeouts = Value::map([("create", "soon".into())]);
        assert_eq!(refused("timeouts", timeouts)[0].path.to_string(), "timeouts.create");
    }

    #[test]
    fn all_problems_are_reported_at_once() {
        let wrong = [("vpc_name", " ".into()), ("cidr_block", "x".into()), ("enable_dns_support", false.into())];
        assert_eq!(paths(&wrong), ["vpc_name", "cidr_block", "enable_dns_hostnames"]);
    }
}
