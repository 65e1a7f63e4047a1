//! The rules of the default network ACL and of the default security group.

use super::super::config::{NaclRule, SecurityGroupRule};
use super::*;

impl Problems {
    pub(super) fn access_rules(&mut self, config: &Config) {
        for (name, rules) in [
            ("default_security_group_ingress_rules", &config.default_security_group_ingress_rules),
            ("default_security_group_egress_rules", &config.default_security_group_egress_rules),
        ] {
            for (key, rule) in rules.known().into_iter().flatten() {
                if let Input::Known(rule) = rule {
                    self.security_group_rule(&AttributePath::new(name).key(key), rule);
                }
            }
        }
        for (name, rules) in [
            ("default_nacl_ingress_rules", &config.default_nacl_ingress_rules),
            ("default_nacl_egress_rules", &config.default_nacl_egress_rules),
        ] {
            let Input::Known(rules) = rules else { continue };
            let mut numbers: BTreeMap<i64, &str> = BTreeMap::new();
            for (key, rule) in rules {
                let Input::Known(rule) = rule else { continue };
                let path = AttributePath::new(name).key(key);
                self.nacl_rule(&path, rule);
                let Input::Known(number) = rule.rule_no else { continue };
                if let Some(other) = numbers.insert(number, key) {
                    let message = format!("Rule {other:?} has the number {number} too.");
                    self.add(path.attribute("rule_no"), message, "Give each rule of a direction its own number.");
                }
            }
        }
    }

    fn nacl_rule(&mut self, path: &AttributePath, rule: &NaclRule) {
        if let Input::Known(action) = &rule.action
            && !["allow", "deny"].iter().any(|it| action.eq_ignore_ascii_case(it))
        {
            self.add(path.attribute("action"), format!("{action:?} is no action."), "Use allow or deny.");
        }
        let is_ipv6 = self.nacl_range(path, rule);
        let Input::Known(text) = &rule.protocol else { return };
        let Some(protocol) = network_acl::protocol(text) else {
            let message = format!("{text:?} is no protocol that is known here.");
            self.add(path.attribute("protocol"), message, "Use tcp, udp, icmp, icmpv6, -1 for all, or a number.");
            return;
        };
        if let (Input::Known(from), Input::Known(to)) = (&rule.from_port, &rule.to_port) {
            let has_ports = matches!(protocol.as_str(), "6" | "17");
            if has_ports && from > to {
                let message = format!("{from} to {to} is no range of ports.");
                self.add(path.attribute("from_port"), message, "Give the lower port first.");
            }
            if !has_ports && (*from, *to) != (0, 0) {
                let message = format!("A rule for protocol {text} has no ports, and these are {from} to {to}.");
                self.add(path.attribute("from_port"), message, "Set from_port and to_port to 0.");
            }
        }
        let (Input::Known(icmp_type), Input::Known(icmp_code)) = (&rule.icmp_type, &rule.icmp_code) else { return };
        if is_ipv6.is_some_and(|is_ipv6| network_acl::has_icmp(&protocol, is_ipv6)) {
            self.icmp(path, text, *icmp_type, *icmp_code);
        } else if matches!(protocol.as_str(), "6" | "17" | "-1") && (icmp_type.is_some() || icmp_code.is_some()) {
            let message = format!("A rule for protocol {text} has no ICMP type and code.");
            self.add(path.attribute("icmp_type"), message, "Leave out icmp_type and icmp_code.");
        }
    }

    /// Checks the range, and tells whether it is an IPv6 one if that is known.
    fn nacl_range(&mut self, path: &AttributePath, rule: &NaclRule) -> Option<bool> {
        let (ipv4, ipv6) = (rule.cidr_block.known(), rule.ipv6_cidr_block.known());
        match (ipv4, ipv6) {
            (Some(Some(ipv4)), Some(Some(ipv6))) => {
                let message = format!("A rule is for one range, and these are {ipv4} and {ipv6}.");
                self.add(path.clone(), message, "Make two rules of it.");
            }
            (Some(None), Some(None)) => {
                let message = "The rule names no range that it is for.";
                self.add(path.clone(), message, "Give cidr_block or ipv6_cidr_block.");
            }
            _ => {}
        }
        for (name, range, is_right, example) in [
            ("cidr_block", ipv4, is_ipv4_range as Test, "an IPv4 range without host bits, such as 10.0.0.0/16"),
            ("ipv6_cidr_block", ipv6, is_ipv6_range as Test, "an IPv6 range without host bits, such as ::/0"),
        ] {
            if let Some(Some(text)) = range
                && !is_right(text)
            {
                self.add(path.attribute(name), format!("{text:?} is not {example}."), format!("Use {example}."));
            }
        }
        match (ipv4, ipv6) {
            (Some(Some(_)), _) => Some(false),
            (_, Some(Some(_))) => Some(true),
            _ => None,
        }
    }

    fn icmp(&mut self, path: &AttributePath, protocol: &str, kind: Option<i64>, code: Option<i64>) {
        let (Some(kind), Some(code)) = (kind, code) else {
            let message = format!("A rule for {protocol} needs an ICMP type and code.");
            self.add(path.attribute("icmp_type"), message, "Give icmp_type and icmp_code; -1 means all.");
            return;
        };
        if !(-1..=255).contains(&kind) || !(-1..=255).contains(&code) {
            let message = format!("{kind} and {code} are no ICMP type and code.");
            self.add(path.attribute("icmp_type"), message, "Use -1 to 255, where -1 means all.");
        } else if kind == -1 && code != -1 {
            let message = format!("The type is -1, all of them, and the code is {code}.");
            self.add(path.attribute("icmp_code"), message, "Set the code to -1 too.");
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
}
