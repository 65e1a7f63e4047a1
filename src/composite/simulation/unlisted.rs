//! Objects that a read looks for only if state contains one of their kind, and those that interrupted runs have left.

use std::collections::{BTreeMap, BTreeSet};

use super::Simulation;
use super::outside::entry_of;
use crate::cloud::{Observed, OpContext};
use crate::model::keys::network as keys;
use crate::model::{Entry, Key, Object, Ref, Spec};

/// The destination and the target of a route, and its table.
type RouteOfTable = (Key, (String, String));

/// Whether a create finds such an object by its key alone, although it has no tags.
fn is_found_by_create(spec: &Spec) -> bool {
    matches!(spec, Spec::VpcIpv6Block(_) | Spec::Route(_))
}

impl Simulation {
    /// Removes from what a read of a network returns what it does not look for: the egress-only internet gateway and
    /// the flow logs if none is in state, their log groups, and IPv6 ranges. Returns the routes to the gateway, which
    /// are unmanaged then. `named` are the slots of objects by id.
    pub(super) fn hide_unlisted(
        &self,
        objects: &mut Vec<Object>,
        known: &[Entry],
        named: [Option<&BTreeMap<String, String>>; 2],
    ) -> Vec<RouteOfTable> {
        let (ids, targets) = (self.ids.lock().unwrap(), self.targets.lock().unwrap());
        let trusts_tags = known.is_empty() && named[0].is_none();
        let named = || named.into_iter().flatten().flatten();
        let slots: BTreeSet<&str> =
            known.iter().map(|it| it.key.slot.as_str()).chain(named().map(|(_, slot)| slot.as_str())).collect();
        let has = |prefix: &str| slots.iter().any(|slot| slot.starts_with(prefix));
        let is_known = |object: &Object| {
            let id = &ids[&object.key];
            entry_of(object, id, known).is_some() || named().any(|(it, _)| it == id)
        };
        let is_hidden = |object: &Object| match &object.spec {
            // A first read finds the range through its subnets.
            Spec::VpcIpv6Block(_) => !known.is_empty() && !is_known(object),
            _ if trusts_tags => false,
            Spec::EgressOnlyInternetGateway(_) => !has(keys::EGRESS_ONLY_INTERNET_GATEWAY),
            Spec::FlowLog(_) => !has(keys::FLOW_LOG),
            Spec::LogGroup(_) => !is_known(object),
            _ => false,
        };
        let hidden: BTreeSet<Key> = objects.extract_if(.., |it| is_hidden(it)).map(|it| it.key).collect();
        let is_at = |id: &String| hidden.iter().any(|key| ids[key] == *id);
        let mut unmanaged = Vec::new();
        objects.retain_mut(|object| {
            let is_in_state = is_known(object);
            let target = targets.get(&object.key).filter(|target| is_at(target));
            match (&mut object.spec, target) {
                (Spec::Route(route), Some(target)) if is_in_state => route.target = Ref::Id(target.clone()),
                (Spec::Route(route), Some(target)) => {
                    unmanaged.push((route.route_table.clone(), (route.destination.clone(), target.clone())));
                    return false;
                }
                (Spec::Subnet(subnet), _) => {
                    subnet.ipv6_block = subnet.ipv6_block.take().filter(|range| !hidden.contains(range));
                }
                _ => {}
            }
            true
        });
        unmanaged
    }

    /// The objects among `wanted` that no read finds, with the tags of this root.
    pub(super) fn left_by_interrupted_runs(&self, root_id: &str, wanted: &[&Object]) -> Vec<Observed> {
        let existing = self.objects().clone();
        let (ids, created_for) = (self.ids.lock().unwrap(), self.created_for.lock().unwrap());
        let further = self.further.lock().unwrap();
        // The entry of a flow log may have another key since.
        let is_found_for = |wanted: &Object, it: &Object| match (&it.spec, &wanted.spec) {
            (Spec::FlowLog(_), Spec::FlowLog(_)) => true,
            (Spec::LogGroup(it), Spec::LogGroup(wanted)) => it.name == wanted.name,
            _ => wanted.key == it.key,
        };
        let is_left = |it: &&Object| {
            let is_looked_for =
                matches!(it.spec, Spec::LogGroup(_) | Spec::FlowLog(_) | Spec::EgressOnlyInternetGateway(_));
            let is_of_another = !matches!(it.spec, Spec::LogGroup(_)) && further.contains(&it.key.slot);
            is_looked_for
                && !is_of_another
                && wanted.iter().any(|object| is_found_for(object, it))
                && created_for.get(&it.key).is_some_and(|root| root == root_id)
        };
        let found = existing.iter().filter(is_left).map(|object| {
            let mut spec = object.spec.clone();
            if let Spec::EgressOnlyInternetGateway(gateway) = &mut spec {
                gateway.ipv6_block = None;
            }
            let learned = self.shown(&spec, &ids[&object.key], &ids);
            Observed { id: ids[&object.key].clone(), key: object.key.clone(), spec, learned }
        });
        found.collect()
    }

    /// Removes the object that an interrupted run has created and that a create of this one finds. Returns its ID.
    pub(super) fn take_unlisted(&self, work: &OpContext<'_>, wanted: &Spec) -> Option<String> {
        let (mut objects, ids, targets) = (self.objects(), self.ids.lock().unwrap(), self.targets.lock().unwrap());
        let target = wanted.target().and_then(|target| work.ids.resolve(target));
        let is_equal = |it: &Object| match (&it.spec, wanted) {
            (Spec::Route(it_is), Spec::Route(wanted)) => {
                let has_place = it_is.route_table == wanted.route_table && it_is.destination == wanted.destination;
                has_place && targets.get(&it.key).map(String::as_str) == target
            }
            (spec, wanted) => spec == wanted,
        };
        let is_it = |it: &Object| is_found_by_create(&it.spec) && is_equal(it) && !work.known.contains(&ids[&it.key]);
        let position = objects.iter().position(is_it)?;
        Some(ids[&objects.remove(position).key].clone())
    }
}
