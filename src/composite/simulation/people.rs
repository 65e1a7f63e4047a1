//! Unmanaged subnets and routes in a network, and what they use.

use std::collections::{BTreeMap, BTreeSet};

use super::Simulation;
use crate::cloud::{Cause, Failure};
use crate::model::{Entry, Key, NetworkUsers, Ref, Spec};

/// What people have added to a network, with the IDs of the managed objects.
#[derive(Default)]
pub(crate) struct People {
    /// Unmanaged subnets, with the tables that they are associated with.
    associations: BTreeMap<String, String>,
    /// Unmanaged routes: table, destination and target.
    routes: BTreeMap<(String, String), String>,
    /// The unmanaged tables of endpoints.
    endpoint_tables: BTreeSet<(String, String)>,
}

impl Simulation {
    /// Associates an unmanaged subnet with the table at this slot, if there is one.
    pub(crate) fn associate_unmanaged_subnet(&self, subnet: &str, table: &str) {
        for id in self.ids_at(table) {
            self.people.lock().unwrap().associations.insert(subnet.into(), id);
        }
    }

    /// Adds a route to the object at this slot, if there is one, in an unmanaged table or in the table at a slot.
    pub(crate) fn add_route_of_people(&self, table: &str, destination: &str, target: &str) {
        let table = self.ids_at(table).pop().unwrap_or_else(|| "rtb-theirs".into());
        for id in self.ids_at(target) {
            self.people.lock().unwrap().routes.insert((table.clone(), destination.into()), id);
        }
    }

    /// Adds an unmanaged table to the endpoint at this slot, if there is one.
    pub(crate) fn add_table_to_endpoint(&self, endpoint: &str) {
        for id in self.ids_at(endpoint) {
            self.people.lock().unwrap().endpoint_tables.insert((id, "rtb-theirs".into()));
        }
    }

    /// Removes everything that people have added, with all tables that applies have left.
    pub(crate) fn remove_people(&self) {
        *self.people.lock().unwrap() = People::default();
    }

    fn ids_at(&self, slot: &str) -> Vec<String> {
        let ids = self.ids.lock().unwrap();
        self.objects().iter().filter(|it| it.key.slot == slot).map(|it| ids[&it.key].clone()).collect()
    }

    /// The users that a read learns.
    pub(super) fn network_users(&self) -> NetworkUsers {
        let people = self.people.lock().unwrap();
        let mut users = NetworkUsers::default();
        for (subnet, table) in &people.associations {
            users.add(table, format!("subnet {subnet}"));
        }
        for ((table, destination), target) in &people.routes {
            users.add(target, format!("route to {destination} in {table}"));
            for (subnet, _) in people.associations.iter().filter(|(_, it)| *it == table) {
                users.add(target, format!("subnet {subnet}"));
            }
        }
        for (endpoint, table) in &people.endpoint_tables {
            users.add(endpoint, format!("route table {table}"));
        }
        users
    }

    /// What each unmanaged user has, by its description: the destinations that it reaches, each with the ID of its
    /// target if that exists.
    pub(crate) fn reach_of_people(&self) -> BTreeMap<String, BTreeSet<String>> {
        let ids = self.ids.lock().unwrap().clone();
        let objects = self.objects();
        let people = self.people.lock().unwrap();
        let targets = self.targets.lock().unwrap();
        let id_of = |key: &Key| ids.get(key).cloned().unwrap_or_default();
        let exists = |id: &String| objects.iter().any(|object| ids.get(&object.key) == Some(id));
        let to = |destination: &str, target: &String| match exists(target) {
            true => format!("{destination} to {target}"),
            false => format!("{destination} to nothing"),
        };
        let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (subnet, table) in &people.associations {
            let ours = objects.iter().filter_map(|object| match &object.spec {
                Spec::Route(route) if id_of(&route.route_table) == *table => {
                    let target = targets.get(&object.key).cloned().unwrap_or_default();
                    Some(to(&route.destination, &target))
                }
                Spec::VpcEndpoint(it)
                    if it.route_tables.iter().any(|it| matches!(it, Ref::Key(key) if id_of(key) == *table)) =>
                {
                    Some(object.key.slot.clone())
                }
                _ => None,
            });
            let theirs = people.routes.iter().filter(|((it, _), _)| it == table);
            let theirs = theirs.map(|((_, destination), target)| to(destination, target));
            all.insert(format!("subnet {subnet}"), ours.chain(theirs).collect());
        }
        for ((table, destination), target) in &people.routes {
            all.insert(format!("route to {destination} in {table}"), [to(destination, target)].into());
        }
        for (endpoint, table) in &people.endpoint_tables {
            all.entry(format!("route table {table}")).or_default().insert(to("endpoint", endpoint));
        }
        all
    }

    /// The answer of AWS to the deletion of a table with an unmanaged subnet.
    pub(super) fn refuse_while_associated(&self, entry: &Entry) -> Result<(), Failure> {
        match self.people.lock().unwrap().associations.iter().find(|(_, table)| **table == entry.id) {
            Some((subnet, _)) => Err(Failure::new(Cause::InUse, "Simulate", format!("{subnet} uses {}", entry.id))),
            None => Ok(()),
        }
    }

    /// Keeps the routes of a table that is no longer managed.
    pub(super) fn leave_routes(&self, table: &Entry) {
        if !matches!(table.applied, Spec::RouteTable(_)) {
            return;
        }
        let targets = self.targets.lock().unwrap();
        let mut people = self.people.lock().unwrap();
        self.objects().retain(|object| match &object.spec {
            Spec::Route(route) if route.route_table == table.key => {
                let target = targets.get(&object.key).cloned().unwrap_or_default();
                people.routes.insert((table.id.clone(), route.destination.clone()), target);
                false
            }
            _ => true,
        });
    }
}
