//! Where the route tables of subnets lead while objects change.

use std::collections::BTreeSet;

use super::Simulation;
use crate::model::{Key, Object, Ref, RouteTableAssociation, Spec};

impl Simulation {
    /// The slots whose target was missing at any time since the last call.
    pub(crate) fn take_blackholes(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.blackholes.lock().unwrap())
    }

    /// The subnets that lost a gateway endpoint since the last call, while both existed.
    pub(crate) fn take_endpoint_losses(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.endpoint_losses.lock().unwrap())
    }

    /// The subnets with the gateway endpoints whose routes are in their tables, by key.
    pub(super) fn endpoints_of_subnets(&self) -> BTreeSet<(Key, Key)> {
        let objects = self.objects();
        let tables = objects
            .iter()
            .filter_map(|object| RouteTableAssociation::of(&object.spec).map(|it| (&it.subnet, &it.route_table)));
        let with_endpoints = tables.flat_map(|(subnet, table)| {
            let endpoints = objects.iter().filter(move |object| match &object.spec {
                Spec::VpcEndpoint(endpoint) => endpoint.route_tables.contains(table),
                _ => false,
            });
            endpoints.map(move |endpoint| (subnet.clone(), endpoint.key.clone()))
        });
        with_endpoints.collect()
    }

    pub(super) fn record_endpoint_losses(&self, before: BTreeSet<(Key, Key)>) {
        let after = self.endpoints_of_subnets();
        let objects = self.objects();
        let exists = |key: &Key| objects.iter().any(|object| object.key == *key);
        let lost = before.difference(&after).filter(|(subnet, endpoint)| exists(subnet) && exists(endpoint));
        self.endpoint_losses.lock().unwrap().extend(lost.map(|(subnet, endpoint)| format!("{subnet} {endpoint}")));
    }

    /// The slots of the routes whose table a subnet uses.
    pub(crate) fn routes_in_use(&self) -> BTreeSet<String> {
        let objects = self.objects();
        let is_used = |table: &Key| {
            let mut specs = objects.iter().map(|object| &object.spec);
            specs.any(
                |spec| matches!(spec, Spec::RouteTableAssociation(it) if it.route_table == Ref::Key(table.clone())),
            )
        };
        let routes =
            objects.iter().filter(|object| matches!(&object.spec, Spec::Route(it) if is_used(&it.route_table)));
        routes.map(|object| object.key.slot.clone()).collect()
    }

    /// The slots of the routes in use whose target does not exist.
    pub(crate) fn current_blackholes(&self) -> BTreeSet<String> {
        let mut in_use = self.routes_in_use();
        let objects = self.objects();
        let is_blackhole = |object: &&Object| self.missing_target(object, &objects).is_some();
        let blackholes: BTreeSet<&String> =
            objects.iter().filter(is_blackhole).map(|object| &object.key.slot).collect();
        in_use.retain(|slot| blackholes.contains(slot));
        in_use
    }
}
