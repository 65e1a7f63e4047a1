//! Warnings about inputs without effect, because another input turns off what they set.

use super::super::PARTS;
use super::super::config::Config;
use crate::model::Tier;
use crate::plugin::schema::with_defaults;
use crate::plugin::{AttributePath, Input, Mode, Nested, Problem, Value};

/// An input without effect.
pub(in super::super) struct Unused {
    input: &'static str,
    /// The input that turns it off, and its value.
    switch: String,
    value: bool,
}

/// Those of these inputs that are known and differ from their defaults, if the switch turns them off.
pub(in super::super) fn while_off<'a, T: PartialEq + 'a>(
    switch: &str,
    value: &Input<bool>,
    off: bool,
    inputs: impl IntoIterator<Item = (&'static str, &'a Input<T>)>,
    defaults: impl IntoIterator<Item = (&'static str, &'a Input<T>)>,
) -> Vec<Unused> {
    let inputs = inputs.into_iter().zip(defaults).filter(|_| *value == Input::Known(off));
    let given = inputs.filter(|((_, input), (_, default))| input.is_known() && input != default);
    given.map(|((input, _), _)| Unused { input, switch: switch.to_string(), value: off }).collect()
}

/// One warning for each such input that has another value than its default.
pub(super) fn inputs(config: &Config) -> Vec<Problem> {
    let Some(default) = default_config() else { return Vec::new() };
    let mut unused: Vec<Unused> = PARTS.iter().flat_map(|part| part.unused(config, &default)).collect();
    unused.extend(of_tiers(config, &default));
    let warning = |Unused { input, switch, value }: Unused| {
        let message = format!("{input} has no effect, because {switch} is {value}.");
        let other = match is_required(input) {
            true => format!("set {input} to 0"),
            false => format!("remove {input}"),
        };
        Problem::new(AttributePath::new(input), message, format!("Set {switch} to {}, or {other}.", !value))
    };
    unused.into_iter().map(warning).collect()
}

/// Whether an input cannot be removed. All such inputs that a switch turns off are numbers.
fn is_required(input: &str) -> bool {
    Config::attributes().iter().any(|it| it.name == input && it.mode == Mode::Required)
}

/// The inputs of tiers that are not created.
fn of_tiers(config: &Config, default: &Config) -> Vec<Unused> {
    let mut unused = Vec::new();
    for tier in Tier::ALL {
        let (switch, is_created) = (&format!("create_{}_subnets", tier.slot()), config.creates(tier));
        let gateways = ([config.propagating_gateways(tier)], [default.propagating_gateways(tier)]);
        unused.extend(while_off(switch, is_created, false, gateways.0, gateways.1));
        unused.extend(while_off(switch, is_created, false, of_tier(config, tier), of_tier(default, tier)));
    }
    let has_nat = config.num_nat_gateways.known().is_some_and(|count| *count > 0);
    if has_nat
        && config.enable_private_nat == Input::Known(false)
        && config.create_public_subnets == Input::Known(false)
    {
        unused.push(Unused { input: "num_nat_gateways", switch: "create_public_subnets".into(), value: false });
    }
    unused
}

/// The name and the value of the input that concerns only this tier.
fn of_tier(config: &Config, tier: Tier) -> Option<(&'static str, &Input<bool>)> {
    let persistence = &config.allow_private_persistence_internet_access;
    match tier {
        Tier::Public => Some(("map_public_ip_on_launch", &config.map_public_ip_on_launch)),
        Tier::PrivateApp => None,
        Tier::PrivatePersistence => Some(("allow_private_persistence_internet_access", persistence)),
        Tier::Transit => Some(("allow_transit_internet_access", &config.allow_transit_internet_access)),
    }
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
