//! The private NAT gateways: their number, and the transit subnet of each.

use super::config::Config;
use super::nat_slots::NatSlots;
use super::zones::ZoneSlot;
use crate::model::Inventory;

/// A private NAT gateway.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PrivateNat {
    /// The number in its key.
    pub(super) slot: u32,
    /// The index of the AZ whose transit subnet contains it.
    pub(super) index: u32,
}

/// The private NAT gateways in the order of their slots; `None` while an input that decides them is unknown. `places`
/// are the AZs that have a transit subnet.
///
/// Like a public one, a gateway stays in its subnet as long as the network has that subnet.
pub(super) fn private_nats(config: &Config, existing: &Inventory, places: &[ZoneSlot]) -> Option<Vec<PrivateNat>> {
    let (count, is_private) = (*config.num_nat_gateways.known()?, *config.enable_private_nat.known()?);
    if !is_private || places.is_empty() {
        return Some(Vec::new());
    }
    let slots = NatSlots::private(existing, places);
    let chosen = slots.chosen(usize::try_from(count).unwrap_or(0));
    let indices = slots.indices(&chosen);
    Some(chosen.into_iter().zip(indices).map(|(slot, index)| PrivateNat { slot, index }).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::config::tests::config;
    use super::super::fixtures::{applied, blueprint, next_objects, objects};
    use super::*;
    use crate::model::{Object, Ref, Route, Spec};
    use crate::plugin::{Input, Value};
    use crate::topology::Blueprint;

    fn private(count: i64, attributes: &[(&str, Value)]) -> Config {
        let mut all = vec![
            ("enable_private_nat", Value::from(true)),
            ("create_transit_subnets", true.into()),
            ("num_nat_gateways", count.into()),
        ];
        all.extend(attributes.iter().cloned());
        config(&all)
    }

    fn slots<'a>(objects: &'a [Object], part: &str) -> Vec<&'a str> {
        objects.iter().map(|it| it.key.slot.as_str()).filter(|slot| slot.contains(part)).collect()
    }

    fn targets<'a>(objects: &'a [Object]) -> BTreeMap<&'a str, &'a str> {
        let pair = |object: &'a Object| match &object.spec {
            Spec::Route(Route { target: Ref::Key(target), .. }) => {
                Some((object.key.slot.as_str(), target.slot.as_str()))
            }
            _ => None,
        };
        objects.iter().filter_map(pair).collect()
    }

    #[test]
    fn gateways_are_in_transit_subnets_without_public_addresses() {
        let config = private(2, &[("nat_secondary_private_ip_address_count", 3_i64.into())]);
        let objects = objects(&config, "abc");
        assert_eq!(slots(&objects, "nat_gateway"), ["private_nat_gateway.0", "private_nat_gateway.1"]);
        assert_eq!(slots(&objects, "eip."), [""; 0]);
        let nat = objects.iter().find(|it| it.key.slot == "private_nat_gateway.1").unwrap();
        let Spec::NatGateway(nat) = &nat.spec else { unreachable!() };
        assert_eq!((nat.subnet.slot.as_str(), &nat.allocation), ("subnet.transit.1", &None));
        assert_eq!((&nat.internet_gateway, &nat.secondary_private_ip_address_count), (&None, &Input::Known(3)));
    }

    #[test]
    fn app_tables_and_allowed_persistence_tables_route_to_them() {
        let two = objects(&private(2, &[]), "abc");
        let targets_of_two = targets(&two);
        assert_eq!(targets_of_two["route.private_app.1.ipv4"], "private_nat_gateway.1");
        assert_eq!(targets_of_two["route.private_app.2.ipv4"], "private_nat_gateway.0");
        assert_eq!(targets_of_two["route.public.ipv4"], "internet_gateway");
        assert!(targets_of_two.keys().all(|route| !route.contains("persistence") && !route.contains("transit")));
        let allowed = private(1, &[("allow_private_persistence_internet_access", true.into())]);
        let allowed = objects(&allowed, "a");
        assert_eq!(targets(&allowed)["route.private_persistence.0.ipv4"], "private_nat_gateway.0");
    }

    #[test]
    fn they_require_no_public_tier() {
        let objects = objects(&private(1, &[("create_public_subnets", false.into())]), "ab");
        assert_eq!(targets(&objects)["route.private_app.1.ipv4"], "private_nat_gateway.0");
        assert_eq!(slots(&objects, "internet_gateway"), [""; 0]);
    }

    #[test]
    fn a_gateway_stays_in_its_subnet_when_azs_are_added() {
        let config = private(3, &[]);
        let before = objects(&config, "ab");
        let after = next_objects(&config, Some(&config), &applied(&before), "abc");
        for slot in ["private_nat_gateway.0", "private_nat_gateway.1", "private_nat_gateway.2"] {
            let key = |objects: &[Object]| objects.iter().find(|it| it.key.slot == slot).unwrap().key.clone();
            // A new NAT gateway 2 would now be in subnet 2, but the existing one is in subnet 0.
            assert_eq!(key(&before), key(&after));
        }
    }

    #[test]
    fn inputs_without_effect_cause_a_warning() {
        let config = private(
            1,
            &[
                ("use_custom_nat_eips", true.into()),
                ("custom_nat_eips", vec!["eipalloc-1"].into()),
                ("nat_secondary_private_ip_address_count", 8_i64.into()),
            ],
        );
        let Ok(Blueprint::Decided { warnings, .. }) = blueprint(&config, None, &Inventory::default(), "a") else {
            panic!()
        };
        let paths: Vec<String> = warnings.iter().map(|it| it.path.to_string()).collect();
        assert_eq!(paths, ["use_custom_nat_eips", "nat_secondary_private_ip_address_count"]);
    }
}
