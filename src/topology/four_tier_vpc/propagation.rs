//! The virtual private gateways whose routes propagate to a tier's tables.

use super::config::Strings;
use crate::plugin::Input;

/// The gateways, each once: sorted, those that are still unknown last.
pub(super) fn gateways(given: &Strings) -> Input<Vec<Input<String>>> {
    given.clone().map(|gateways| {
        let mut known: Vec<&String> = gateways.iter().filter_map(Input::known).collect();
        known.sort();
        known.dedup();
        let unknown = gateways.iter().filter(|gateway| !gateway.is_known());
        known.into_iter().cloned().map(Input::Known).chain(unknown.cloned()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::super::config::tests::config;
    use super::super::fixtures::objects;
    use super::*;
    use crate::model::Spec;
    use crate::plugin::Value;

    #[test]
    fn each_tier_has_gateways_of_its_own_in_one_order_and_once() {
        let objects = objects(
            &config(&[
                ("public_propagating_vgws", vec!["vgw-b", "vgw-a", "vgw-b"].into()),
                ("private_propagating_vgws", Value::List(vec![Value::Unknown, "vgw-c".into()])),
            ]),
            "a",
        );
        let of = |slot: &str| match &objects.iter().find(|it| it.key.slot == slot).unwrap().spec {
            Spec::RouteTable(table) => table.propagating_gateways.clone(),
            _ => unreachable!(),
        };
        let known = |id: &str| Input::Known(id.to_string());
        assert_eq!(of("route_table.public"), Input::Known(vec![known("vgw-a"), known("vgw-b")]));
        assert_eq!(of("route_table.private_app.0"), Input::Known(vec![known("vgw-c"), Input::Unknown]));
        assert_eq!(of("route_table.private_persistence.0"), Input::Known(vec![]));
    }
}
