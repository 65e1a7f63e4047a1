//! The inputs that a generated configuration omits.

use super::addresses::default_offset;
use super::config::Config;
use super::ipv6::tiers;
use crate::model::Tier;
use crate::model::keys::network as keys;
use crate::plugin::schema::with_defaults;
use crate::plugin::{AttributePath, Input, Nested, Value};

/// Sets inputs to null whose values follow from the other attributes of a state. An import sets several of them.
pub(super) fn omit_derived(attributes: &mut Value, state: &Value) {
    // The objects are adopted, so the attribute has no effect any more.
    if !state.get("aws_objects").get(keys::VPC).is_null() {
        attributes.set("adopt", Value::Null);
    }
    // The range exists, and stays whether or not the configuration requests it.
    if *attributes.get("enable_ipv6") == Value::Bool(true) {
        attributes.set("ipv6_cidr_block", Value::Null);
    }
    // Existing AZs stay in use as long as their number does not decrease.
    let used = state.get("availability_zone_ids_used");
    if let (Value::List(used), Value::Number(count)) = (used, attributes.get("num_availability_zones"))
        && count.as_i64().is_some_and(|count| usize::try_from(count) == Ok(used.len()))
    {
        attributes.set("availability_zone_ids", Value::Null);
    }
    // Addresses that are listed are used by default.
    if matches!(attributes.get("custom_nat_eips"), Value::List(given) if !given.is_empty()) {
        let is_used = *state.get("use_custom_nat_eips") == Value::Bool(true);
        attributes.set("use_custom_nat_eips", if is_used { Value::Null } else { false.into() });
    }
    omit_ipv6_defaults(attributes);
    let mut problems = Vec::new();
    let filled = with_defaults(&Config::attributes(), attributes);
    let Some(config) = Config::decode(&filled, &AttributePath::root(), &mut problems) else { return };
    // If each tier lists its AZs, no further AZ gets subnets.
    let mut created = Tier::ALL.into_iter().filter(|tier| *config.creates(*tier) == Input::Known(true)).peekable();
    let listed = config.tier_availability_zone_ids.known();
    if created.peek().is_some() && listed.is_some_and(|listed| created.all(|tier| listed.contains_key(tier.slot()))) {
        attributes.set("availability_zone_ids", Value::Null);
        attributes.set("num_availability_zones", Value::Null);
    }
    for (tier, name) in [
        (Tier::PrivateApp, "private_subnet_spacing"),
        (Tier::PrivatePersistence, "persistence_subnet_spacing"),
        (Tier::Transit, "transit_subnet_spacing"),
    ] {
        if let (Input::Known(Some(own)), Input::Known(default)) =
            (config.own_spacing(tier), default_offset(&config, tier))
            && *own == default
        {
            attributes.set(name, Value::Null);
        }
    }
}

/// Sets the inputs of IPv6 to null whose defaults have the same effect.
fn omit_ipv6_defaults(attributes: &mut Value) {
    for name in ["create_egress_only_igw", "assign_ipv6_address_on_creation_tiers"] {
        let mut without = attributes.clone();
        without.set(name, Value::Null);
        let decoded = |attributes: &Value| {
            let filled = with_defaults(&Config::attributes(), attributes);
            Config::decode(&filled, &AttributePath::root(), &mut Vec::new())
        };
        let effect = |config: Config| (tiers::egress(&config), Tier::ALL.map(|tier| tiers::assigns(&config, tier)));
        if let (Some(with), Some(by_default)) = (decoded(attributes), decoded(&without))
            && effect(with) == effect(by_default)
        {
            *attributes = without;
        }
    }
}
