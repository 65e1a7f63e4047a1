//! The references of an object to others, which are replaced when it becomes known whether those are managed.

use std::collections::BTreeMap;

use super::Spec;
use crate::model::{Key, Ref};
use crate::plugin::Input;

impl Spec {
    /// Refers to these unmanaged objects by their IDs instead of their keys. A list of references then leaves them out,
    /// because unmanaged objects in it are not drift. Returns the keys of those.
    pub fn refer_by_id(&mut self, unmanaged: &BTreeMap<Key, String>) -> Vec<Key> {
        for reference in self.references_mut() {
            if let Ref::Key(key) = reference
                && let Some(id) = unmanaged.get(key)
            {
                *reference = Ref::Id(id.clone());
            }
        }
        let Spec::VpcEndpoint(endpoint) = self else { return Vec::new() };
        let is_left_out = |it: &mut Ref| matches!(it, Ref::Key(key) if unmanaged.contains_key(key));
        let keys = endpoint.route_tables.extract_if(.., is_left_out).filter_map(|it| match it {
            Ref::Key(key) => Some(key),
            Ref::Id(_) => None,
        });
        keys.collect()
    }

    /// Whether it connects a managed object with an unmanaged one, so that it is unmanaged itself.
    pub fn leads_to_unmanaged(&self) -> bool {
        let mut targets = match self {
            Spec::RouteTableAssociation(it) => vec![&it.route_table],
            Spec::Route(it) => vec![&it.target],
            Spec::ApiRoute(it) => it.integration.iter().chain(&it.authorizer).collect(),
            Spec::ApiMapping(it) => vec![&it.stage],
            Spec::DnsRecord(it) => vec![&it.target],
            _ => return false,
        }
        .into_iter();
        targets.any(|target| matches!(target, Ref::Id(_)))
    }

    /// Whether neither tags nor its place show who created it, so that it is taken over only if it equals the required
    /// one.
    pub fn is_recognized_by_content(&self) -> bool {
        matches!(self, Spec::Authorizer(_) | Spec::Integration(_) | Spec::ApiRoute(_))
    }

    /// Adds a managed object to a list of references.
    pub fn add_reference(&mut self, key: &Key) {
        if let Spec::VpcEndpoint(endpoint) = self {
            endpoint.route_tables.push(Ref::Key(key.clone()));
            endpoint.route_tables.sort();
        }
    }

    /// Refers to these managed objects by their keys instead of their IDs.
    pub fn refer_by_key(&mut self, managed: &BTreeMap<String, Key>) {
        for reference in self.references_mut() {
            if let Ref::Id(id) = reference
                && let Some(key) = managed.get(id)
            {
                *reference = Ref::Key(key.clone());
            }
        }
    }

    /// Its references that may be unmanaged. Others, such as that of a subnet to its VPC, are keys.
    fn references_mut(&mut self) -> Vec<&mut Ref> {
        match self {
            Spec::RouteTableAssociation(it) => vec![&mut it.route_table],
            Spec::NatGateway(it) => match &mut it.allocation {
                Some(Input::Known(address)) => vec![address],
                _ => vec![],
            },
            Spec::Route(it) => vec![&mut it.target],
            Spec::ApiRoute(it) => it.integration.iter_mut().chain(&mut it.authorizer).collect(),
            Spec::Stage(it) => it.access_log.iter_mut().map(|log| &mut log.log_group).collect(),
            Spec::ApiMapping(it) => vec![&mut it.stage],
            Spec::DnsRecord(it) => vec![&mut it.target],
            _ => vec![],
        }
    }
}
