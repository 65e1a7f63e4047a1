//! Warnings about inputs without effect, because another input turns off what they set.

use super::super::config::Config;
use crate::model::Tier;
use crate::plugin::schema::with_defaults;
use crate::plugin::{AttributePath, Input, Nested, Problem, Value};

/// One warning for each such input that has another value than its default.
pub(super) fn inputs(config: &Config) -> Vec<Problem> {
    let Some(default) = default_config() else { return Vec::new() };
    let off = Input::Known(false);
    let mut unused: Vec<(&str, &str, bool)> = Vec::new();
    let mut check = |name: &'static str, is_given: bool, switch: &'static str, is_off: bool| {
        if is_given && is_off {
            unused.push((name, switch, false));
        }
    };
    let (no_acl, no_group) = (config.apply_default_nacl_rules == off, config.enable_default_security_group == off);
    let no_endpoints = config.create_vpc_endpoints == off;
    /// Whether an input is known and differs from its default.
    macro_rules! given {
        ($name:ident) => {
            config.$name.is_known() && config.$name != default.$name
        };
    }
    for (name, is_given) in [
        ("default_nacl_ingress_rules", given!(default_nacl_ingress_rules)),
        ("default_nacl_egress_rules", given!(default_nacl_egress_rules)),
    ] {
        check(name, is_given, "apply_default_nacl_rules", no_acl);
    }
    let group_rules = [
        ("default_security_group_ingress_rules", given!(default_security_group_ingress_rules)),
        ("default_security_group_egress_rules", given!(default_security_group_egress_rules)),
    ];
    for (name, is_given) in group_rules {
        check(name, is_given, "enable_default_security_group", no_group);
    }
    for (name, is_given) in [
        ("objectstore_endpoint_policy", given!(objectstore_endpoint_policy)),
        ("keyvalue_endpoint_policy", given!(keyvalue_endpoint_policy)),
    ] {
        check(name, is_given, "create_vpc_endpoints", no_endpoints);
    }
    let has_none = |tier: Tier| *config.creates(tier) == off;
    let no_public = has_none(Tier::Public);
    check("map_public_ip_on_launch", given!(map_public_ip_on_launch), "create_public_subnets", no_public);
    let public_nat =
        config.num_nat_gateways.known().is_some_and(|count| *count > 0) && config.enable_private_nat == off;
    check("num_nat_gateways", public_nat, "create_public_subnets", no_public);
    for (name, is_given, tier, switch) in [
        (
            "allow_private_persistence_internet_access",
            given!(allow_private_persistence_internet_access),
            Tier::PrivatePersistence,
            "create_private_persistence_subnets",
        ),
        (
            "allow_transit_internet_access",
            given!(allow_transit_internet_access),
            Tier::Transit,
            "create_transit_subnets",
        ),
        ("public_propagating_vgws", given!(public_propagating_vgws), Tier::Public, "create_public_subnets"),
        ("private_propagating_vgws", given!(private_propagating_vgws), Tier::PrivateApp, "create_private_app_subnets"),
        (
            "persistence_propagating_vgws",
            given!(persistence_propagating_vgws),
            Tier::PrivatePersistence,
            "create_private_persistence_subnets",
        ),
        ("transit_propagating_vgws", given!(transit_propagating_vgws), Tier::Transit, "create_transit_subnets"),
    ] {
        check(name, is_given, switch, has_none(tier));
    }
    if config.restrict_default_security_group == Input::Known(true) {
        let switch = "restrict_default_security_group";
        unused.extend(group_rules.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| (name, switch, true)));
    }
    let warning = |(name, switch, value): (&str, &str, bool)| {
        let message = format!("{name} has no effect, because {switch} is {value}.");
        Problem::new(AttributePath::new(name), message, format!("Set {switch} to {}, or remove {name}.", !value))
    };
    unused.into_iter().map(warning).collect()
}

/// A configuration in which every optional input has its default.
fn default_config() -> Option<Config> {
    let required = Value::map([("vpc_name", Value::from("network")), ("num_nat_gateways", 0_i64.into())]);
    let filled = with_defaults(&Config::attributes(), &required);
    Config::decode(&filled, &AttributePath::root(), &mut Vec::new())
}

#[cfg(test)]
mod tests {
    use super::super::super::config::tests::config;
    use super::*;

    fn warned(attributes: &[(&str, Value)]) -> Vec<String> {
        inputs(&config(attributes)).into_iter().map(|it| it.path.to_string()).collect()
    }

    #[test]
    fn each_input_without_its_switch_causes_a_warning() {
        let deny = Value::map([
            ("action", Value::from("deny")),
            ("protocol", "-1".into()),
            ("rule_no", 100_i64.into()),
            ("from_port", 0_i64.into()),
            ("to_port", 0_i64.into()),
            ("cidr_block", "0.0.0.0/0".into()),
        ]);
        let deny = Value::map([("deny", deny)]);
        let https = Value::map([
            ("protocol", Value::from("tcp")),
            ("from_port", 443_i64.into()),
            ("to_port", 443_i64.into()),
            ("cidr_blocks", vec!["10.0.0.0/8"].into()),
        ]);
        let https = Value::map([("https", https)]);
        let policy = Value::from("{\"Statement\":[]}");
        for (name, value, switch) in [
            ("default_nacl_ingress_rules", deny.clone(), "apply_default_nacl_rules"),
            ("default_nacl_egress_rules", deny, "apply_default_nacl_rules"),
            ("default_security_group_ingress_rules", https.clone(), "enable_default_security_group"),
            ("default_security_group_egress_rules", https.clone(), "enable_default_security_group"),
            ("objectstore_endpoint_policy", policy.clone(), "create_vpc_endpoints"),
            ("keyvalue_endpoint_policy", policy, "create_vpc_endpoints"),
            ("map_public_ip_on_launch", true.into(), "create_public_subnets"),
            ("num_nat_gateways", 1_i64.into(), "create_public_subnets"),
            ("allow_private_persistence_internet_access", true.into(), "create_private_persistence_subnets"),
            ("allow_transit_internet_access", true.into(), "create_transit_subnets"),
            ("public_propagating_vgws", vec!["vgw-1"].into(), "create_public_subnets"),
            ("private_propagating_vgws", vec!["vgw-1"].into(), "create_private_app_subnets"),
            ("persistence_propagating_vgws", vec!["vgw-1"].into(), "create_private_persistence_subnets"),
            ("transit_propagating_vgws", vec!["vgw-1"].into(), "create_transit_subnets"),
        ] {
            let none = ("num_nat_gateways", Value::from(0_i64));
            let off = (switch, Value::from(false));
            assert_eq!(warned(&[none.clone(), off.clone(), (name, value.clone())]), [name]);
            assert_eq!(warned(&[none.clone(), (switch, true.into()), (name, value)]), [""; 0], "{name}");
            assert_eq!(warned(&[none, off, (name, Value::Unknown)]), [""; 0], "{name}");
        }
        let restricted = ("restrict_default_security_group", Value::from(true));
        for name in ["default_security_group_ingress_rules", "default_security_group_egress_rules"] {
            assert_eq!(warned(&[restricted.clone(), (name, https.clone())]), [name]);
        }
        assert_eq!(warned(&[restricted]), [""; 0]);
        assert_eq!(warned(&[("create_public_subnets", false.into()), ("enable_private_nat", true.into())]), [""; 0]);
    }
}
