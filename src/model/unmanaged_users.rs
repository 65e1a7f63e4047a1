//! The unmanaged users of managed objects, in networks and gateways.

use std::collections::{BTreeMap, BTreeSet};

use super::unmanaged_in_api::{used_in_api, users_in_api};
use super::unmanaged_in_network::NetworkUsers;
use super::{Entry, Inventory, Key, Ref, Route, Spec, Tags};

/// The objects that stay in AWS if they are no longer required, because unmanaged objects use them: an integration or
/// an authorizer of unmanaged routes, the permission of such an authorizer, and a route table of unmanaged subnets. By
/// ID, with the ID of the object that is used. The main route table, which always stays, is left out.
pub fn used_by_unmanaged(inventory: &Inventory) -> BTreeMap<String, String> {
    let users = NetworkUsers::of(inventory);
    let main = inventory.main_route_table().map(|table| table.id.as_str());
    let is_table = |entry: &&Entry| matches!(entry.applied, Spec::RouteTable(_)) && main != Some(entry.id.as_str());
    let tables = inventory.present().filter(is_table).filter(|entry| !users.using(&entry.id).is_empty());
    let mut used = used_in_api(inventory);
    used.extend(tables.map(|entry| (entry.id.clone(), entry.id.clone())));
    used
}

/// Describes the unmanaged objects that use an object with this ID, such as `route "GET /theirs" (r9)`.
pub fn unmanaged_users(inventory: &Inventory, id: &str) -> Vec<String> {
    [users_in_api(inventory, id), NetworkUsers::of(inventory).using(id)].concat()
}

/// The unmanaged users of a network that a deletion affects: those of the object itself, and those of the table of a
/// route. A route in a table that the plan leaves (`kept`) stays, and loses its target if the plan really deletes that.
pub fn affected_by_deletion(
    (inventory, users): (&Inventory, &NetworkUsers),
    entry: &Entry,
    kept: &BTreeSet<&Key>,
    deleted: &BTreeSet<&Key>,
) -> Option<(&'static str, Vec<String>)> {
    let (what, users) = match entry.spec() {
        Spec::Route(Route { route_table, target, .. }) if kept.contains(route_table) => match target {
            Ref::Key(target) if deleted.contains(target) => {
                ("loses its target", users_of(inventory, users, route_table))
            }
            Ref::Key(_) | Ref::Id(_) => return None,
        },
        Spec::Route(Route { route_table, .. }) => ("is deleted", users_of(inventory, users, route_table)),
        Spec::RouteTable(_) => return None,
        Spec::DefaultNetworkAcl(_) => ("is no longer managed", users.using(&entry.id)),
        Spec::VpcEndpoint(endpoint) => {
            let of_tables = endpoint.route_tables.iter().flat_map(|table| users_of_table(inventory, users, table));
            ("is deleted", users.using(&entry.id).into_iter().chain(of_tables).collect())
        }
        _ => ("is deleted", users.using(&entry.id)),
    };
    (!users.is_empty()).then_some((what, users))
}

/// The unmanaged users of a network that an update affects, unless it changes only tags.
pub fn affected_by_update(
    (inventory, users): (&Inventory, &NetworkUsers),
    id: &str,
    before: &Spec,
    to: &Spec,
) -> Vec<String> {
    let without_tags = |spec: &Spec| {
        let mut spec = spec.clone();
        spec.tags_mut().into_iter().for_each(|tags| *tags = Tags::Unknown);
        spec
    };
    if without_tags(before) == without_tags(to) {
        return Vec::new();
    }
    match (before, to) {
        (Spec::Route(route), _) => users_of(inventory, users, &route.route_table),
        // A route table that the endpoint loses may stay, because unmanaged subnets use it.
        (Spec::VpcEndpoint(before), Spec::VpcEndpoint(to)) => {
            let lost = before.route_tables.iter().filter(|table| !to.route_tables.contains(table));
            let of_lost = lost.flat_map(|table| users_of_table(inventory, users, table));
            let own = if before.policy == to.policy { Vec::new() } else { users.using(id) };
            own.into_iter().chain(of_lost).collect()
        }
        (Spec::RouteTable(_) | Spec::DefaultNetworkAcl(_), _) => users.using(id),
        _ => Vec::new(),
    }
}

fn users_of_table(inventory: &Inventory, users: &NetworkUsers, table: &Ref) -> Vec<String> {
    match table {
        Ref::Key(key) => users_of(inventory, users, key),
        Ref::Id(id) => users.using(id),
    }
}

fn users_of(inventory: &Inventory, users: &NetworkUsers, table: &Key) -> Vec<String> {
    inventory.present().filter(|entry| entry.key == *table).flat_map(|entry| users.using(&entry.id)).collect()
}
