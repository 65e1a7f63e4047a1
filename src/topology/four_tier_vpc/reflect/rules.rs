//! Writes the rules of the default security group and the default network ACL into the maps of rules that they come
//! from. Entries whose rules all exist stay as they are, and rules that were added outside Terraform get entries of
//! their own.

use std::collections::BTreeMap;

use crate::model::{DefaultNetworkAcl, DefaultSecurityGroup, Inventory, NetworkAclRule, SecurityGroupRule};
use crate::plugin::schema::{with_defaults, without_empty};
use crate::plugin::{AttributePath, Encode, Input, Value};
use crate::topology::four_tier_vpc::config::{NaclRule, SecurityGroupRule as ConfiguredRule};
use crate::topology::four_tier_vpc::{network_acl, security_group};

/// The input of a group without rules. Its maps of rules have no effect then, and stay as they are.
const RESTRICTED: &str = "restrict_default_security_group";

/// Writes the rules of each direction that differ from the last apply.
pub(super) fn rules(state: &mut Value, inventory: &Inventory) {
    for entry in inventory.current() {
        let Some(observed) = entry.drifted() else { continue };
        if let (Some(applied), Some(observed)) =
            (DefaultSecurityGroup::of(&entry.applied), DefaultSecurityGroup::of(observed))
        {
            let was_restricted = applied.has_no_rules();
            if observed.has_no_rules() {
                state.set(RESTRICTED, true.into());
                continue;
            }
            if was_restricted {
                state.set(RESTRICTED, false.into());
            }
            for ((name, applied), (_, observed)) in
                ConfiguredRule::maps(applied).into_iter().zip(ConfiguredRule::maps(observed))
            {
                // Without configured rules, AWS's rules are not managed.
                if let (Input::Known(Some(before)), Input::Known(Some(now))) = (applied, observed)
                    && (before != now || was_restricted)
                {
                    security_group_rules(state, name, now);
                }
            }
        }
        if let (Some(applied), Some(observed)) =
            (DefaultNetworkAcl::of(&entry.applied), DefaultNetworkAcl::of(observed))
        {
            for ((name, applied), (_, observed)) in NaclRule::maps(applied).into_iter().zip(NaclRule::maps(observed)) {
                if let (Input::Known(before), Input::Known(now)) = (applied, observed)
                    && before != now
                {
                    network_acl_rules(state, name, now);
                }
            }
        }
    }
}

fn security_group_rules(state: &mut Value, name: &str, now: &[SecurityGroupRule]) {
    let generated = |rest: &[SecurityGroupRule]| match now {
        // An empty map would mean that the rules are not managed.
        [] => BTreeMap::from([("none".to_string(), ConfiguredRule::of(&[]))]),
        _ => ConfiguredRule::of_all(rest),
    };
    write(state, name, now, security_group::expand, generated);
}

fn network_acl_rules(state: &mut Value, name: &str, now: &[NetworkAclRule]) {
    write(state, name, now, |rule: &NaclRule| Some(vec![network_acl::from_config(rule)?]), NaclRule::of_all);
}

/// Keeps the entries of a map whose rules all exist, and adds entries for the other rules.
fn write<R: Encode, T: Clone + PartialEq>(
    state: &mut Value,
    name: &str,
    now: &[T],
    expand: impl Fn(&R) -> Option<Vec<T>>,
    generated: impl Fn(&[T]) -> BTreeMap<String, R>,
) {
    let Some(entries) = state.get(name).as_map() else { return };
    let mut kept: BTreeMap<String, Value> = BTreeMap::new();
    let mut covered: Vec<T> = Vec::new();
    for (key, entry) in entries {
        let decoded = R::decode(&with_defaults(&R::attributes(), entry), &AttributePath::root(), &mut Vec::new());
        let Some(rules) = decoded.and_then(|entry| expand(&entry)) else { continue };
        if !rules.is_empty() && rules.iter().all(|rule| now.contains(rule)) {
            kept.insert(key.clone(), entry.clone());
            covered.extend(rules);
        }
    }
    let rest: Vec<T> = now.iter().filter(|rule| !covered.contains(rule)).cloned().collect();
    for (key, entry) in generated(&rest) {
        let free = (2..).map(|number| format!("{key}.{number}"));
        let key = std::iter::once(key.clone()).chain(free).find(|key| !kept.contains_key(key));
        kept.extend(key.map(|key| (key, without_empty(&R::attributes(), &entry.encode()))));
    }
    state.set(name, Value::Map(kept));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Drift, RuleSource, Spec};
    use crate::plugin::Nested;
    use crate::topology::four_tier_vpc::config::Config;
    use crate::topology::four_tier_vpc::config::tests::config;
    use crate::topology::four_tier_vpc::fixtures::{applied, objects};

    const INGRESS: &str = "default_security_group_ingress_rules";

    fn web(cidrs: &[&str]) -> Value {
        let rule = Value::map([
            ("protocol", Value::from("tcp")),
            ("from_port", 80_i64.into()),
            ("to_port", 80_i64.into()),
            ("cidr_blocks", cidrs.to_vec().into()),
        ]);
        with_defaults(&ConfiguredRule::attributes(), &rule)
    }

    fn cidr(text: &str) -> SecurityGroupRule {
        let source = RuleSource::CidrIpv4(text.into());
        SecurityGroupRule { from_port: Some(80), to_port: Some(80), source, ..SecurityGroupRule::test() }
    }

    /// The map of rules after the rules of the group were changed to these outside Terraform.
    fn reflected(map: Value, now: &[SecurityGroupRule]) -> Value {
        let given = [(INGRESS, map)];
        let mut inventory = applied(&objects(&config(&given), "a"));
        for entry in &mut inventory.entries {
            if let Spec::DefaultSecurityGroup(group) = &entry.applied {
                let mut group = group.clone();
                if group.ingress != Input::Known(None) {
                    group.ingress = Input::Known(Some(now.to_vec()));
                }
                entry.drift = Drift::Changed(Box::new(Spec::DefaultSecurityGroup(group)));
            }
        }
        let mut state = Value::map(given);
        rules(&mut state, &inventory);
        state.get(INGRESS).clone()
    }

    /// The rules of the group that a map of rules requires.
    fn expanded(map: &Value) -> Input<Option<Vec<SecurityGroupRule>>> {
        let config: Config = config(&[(INGRESS, map.clone())]);
        security_group::rules(&config.default_security_group_ingress_rules)
    }

    #[test]
    fn an_added_rule_gets_its_own_entry_and_needs_no_change() {
        let map = Value::map([("tcp-80-80", web(&["10.1.0.0/16"]))]);
        let now = [cidr("10.1.0.0/16"), cidr("10.2.0.0/16")];
        let shown = reflected(map, &now);
        let entries = shown.as_map().unwrap();
        assert_eq!(entries.keys().collect::<Vec<_>>(), ["tcp-80-80", "tcp-80-80.2"]);
        assert_eq!(entries["tcp-80-80"], web(&["10.1.0.0/16"]), "unchanged");
        assert_eq!(expanded(&shown), Input::Known(Some(now.to_vec())));
    }

    #[test]
    fn an_entry_that_lost_a_rule_is_replaced_and_others_stay() {
        let map = Value::map([("both", web(&["10.1.0.0/16", "10.2.0.0/16"])), ("one", web(&["10.3.0.0/16"]))]);
        let now = [cidr("10.2.0.0/16"), cidr("10.3.0.0/16")];
        let shown = reflected(map, &now);
        assert_eq!(shown.as_map().unwrap().keys().collect::<Vec<_>>(), ["one", "tcp-80-80"]);
        assert_eq!(expanded(&shown), Input::Known(Some(now.to_vec())));
    }

    #[test]
    fn an_empty_map_stays_empty() {
        let empty = Value::map::<&str>([]);
        assert_eq!(reflected(empty.clone(), &[cidr("10.1.0.0/16")]), empty);
    }

    #[test]
    fn a_group_without_rules_has_an_entry_without_sources() {
        let shown = reflected(Value::map([("web", web(&["10.1.0.0/16"]))]), &[]);
        assert_eq!(expanded(&shown), Input::Known(Some(vec![])), "an empty map would mean unmanaged rules: {shown}");
    }

    #[test]
    fn added_acl_rules_are_named_by_their_numbers() {
        let on = config(&[("apply_default_nacl_rules", true.into())]);
        let mut inventory = applied(&objects(&on, "a"));
        let deny = NetworkAclRule {
            rule_no: 90,
            allow: false,
            protocol: "6".into(),
            cidr_block: "10.9.0.0/16".into(),
            ports: Some((22, 22)),
            ..NetworkAclRule::test()
        };
        for entry in &mut inventory.entries {
            let mut spec = entry.applied.clone();
            if let Spec::DefaultNetworkAcl(acl) = &mut spec
                && let Input::Known(rules) = &mut acl.egress
            {
                // One rule is added, and the rule for IPv6 is removed.
                rules.retain(|rule| rule.cidr_block != "::/0");
                rules.insert(0, deny.clone());
                entry.drift = Drift::Changed(Box::new(spec));
            }
        }
        let name = "default_nacl_egress_rules";
        let acl = DefaultNetworkAcl::of(&inventory.at("default_network_acl").unwrap().applied).unwrap();
        let of_default = NaclRule::of_all(acl.egress.known().unwrap());
        let map = Value::map([("ipv4", of_default["100"].encode()), ("ipv6", of_default["101"].encode())]);
        let mut state = Value::map([(name, map)]);
        rules(&mut state, &inventory);
        let shown = state.get(name).as_map().unwrap();
        assert_eq!(shown.keys().collect::<Vec<_>>(), ["90", "ipv4"]);
        assert_eq!(shown["ipv4"], of_default["100"].encode());
        let again = config(&[(name, state.get(name).clone())]);
        let Input::Known(rules) = network_acl::rules(&again.default_nacl_egress_rules) else { panic!() };
        assert_eq!(rules.iter().map(|rule| rule.rule_no).collect::<Vec<_>>(), [90, 100]);
        assert_eq!(rules[0], deny);
    }
}
