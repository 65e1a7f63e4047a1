//! The objects outside the network that its inputs name.

use super::PARTS;
use super::Strings;
use super::config::Config;
use crate::model::{Outside, Reference, Scope, Tier};
use crate::plugin::{AttributePath, Input};

/// The references of all inputs that have an effect and are known.
pub(super) fn references(config: &Config, scope: &Scope) -> Vec<Reference> {
    let mut all = Vec::new();
    if config.use_custom_nat_eips == Input::Known(true) && config.enable_private_nat != Input::Known(true) {
        each(&mut all, &AttributePath::new("custom_nat_eips"), &config.custom_nat_eips, Outside::Address);
    }
    for tier in Tier::ALL.into_iter().filter(|tier| *config.creates(*tier) != Input::Known(false)) {
        let (name, gateways) = config.propagating_gateways(tier);
        each(&mut all, &AttributePath::new(name), gateways, Outside::VpnGateway);
    }
    for part in PARTS.iter().filter(|part| part.is_wanted(config) != Input::Known(false)) {
        all.extend(part.references(config, scope));
    }
    let has_ipv6 = config.enable_ipv6 != Input::Known(false);
    let pools = [
        ("ipv4_ipam_pool_id", Some(&config.ipv4_ipam_pool_id)),
        ("ipv6_ipam_pool_id", has_ipv6.then_some(&config.ipv6_ipam_pool_id)),
    ];
    for (name, pool) in pools {
        if let Some(Input::Known(Some(id))) = pool {
            all.push(Reference::new(Outside::IpamPool(id.clone()), AttributePath::new(name)));
        }
    }
    all
}

/// Adds the objects with these IDs.
pub(super) fn each(all: &mut Vec<Reference>, path: &AttributePath, ids: &Strings, to: impl Fn(String) -> Outside) {
    for (index, id) in ids.known().into_iter().flatten().enumerate() {
        if let Input::Known(id) = id {
            all.push(Reference::new(to(id.clone()), path.index(index)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::tests::config;
    use super::*;
    use crate::plugin::Value;

    fn found(attributes: &[(&str, Value)]) -> Vec<(String, String)> {
        let scope = Scope { account: Some("123456789012".into()), ..Scope::default() };
        let all = references(&config(attributes), &scope);
        all.into_iter().map(|it| (it.path.to_string(), it.to.to_string())).collect()
    }

    fn pair(path: &str, to: &str) -> (String, String) {
        (path.to_string(), to.to_string())
    }

    #[test]
    fn inputs_without_effect_refer_to_nothing() {
        let ids = Value::List(vec!["eipalloc-1".into(), Value::Unknown]);
        assert_eq!(found(&[("custom_nat_eips", ids.clone())]), []);
        let both = [("custom_nat_eips", ids), ("use_custom_nat_eips", true.into())];
        assert_eq!(found(&both), [pair("custom_nat_eips[0]", "Elastic IP address eipalloc-1")]);
        let gateways = || ("transit_propagating_vgws", vec!["vgw-1"].into());
        assert_eq!(found(&[gateways()]), []);
        assert_eq!(
            found(&[gateways(), ("create_transit_subnets", true.into())]),
            [pair("transit_propagating_vgws[0]", "virtual private gateway vgw-1")]
        );
    }

    #[test]
    fn rules_refer_to_prefix_lists_and_to_groups_of_this_account() {
        let groups = vec!["sg-1", "123456789012/sg-2", "999999999999/sg-3"];
        let rule = Value::map([
            ("protocol", "-1".into()),
            ("from_port", 0_i64.into()),
            ("to_port", 0_i64.into()),
            ("prefix_list_ids", vec!["pl-1"].into()),
            ("security_groups", groups.into()),
        ]);
        let place = "default_security_group_egress_rules[\"A\"]";
        let rules = ("default_security_group_egress_rules", Value::map([("A", rule)]));
        assert_eq!(
            found(std::slice::from_ref(&rules)),
            [
                pair(&format!("{place}.prefix_list_ids[0]"), "prefix list pl-1"),
                pair(&format!("{place}.security_groups[0]"), "security group sg-1"),
                pair(&format!("{place}.security_groups[1]"), "security group sg-2"),
            ]
        );
        assert_eq!(found(&[rules, ("enable_default_security_group", false.into())]), []);
    }
}
