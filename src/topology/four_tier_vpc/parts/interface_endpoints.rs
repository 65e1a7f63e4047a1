//! Interface endpoints, with the security groups that the network creates for them.

mod draft;
mod entry;
mod groups;
#[cfg(test)]
mod tests;
mod way_back;

use super::Part;
use crate::model::keys::network as keys;
use crate::model::{
    self, Found as Answer, Input, Inventory, Lookup, Outside, Reference, Scope, TaggingService, Tier, check_tags,
};
use crate::plugin::{Nested, Problem, Type, Value};
use crate::topology::alternatives::Change;
use crate::topology::entries::Entries;
use crate::topology::four_tier_vpc::blueprint::{Built, Draft};
use crate::topology::four_tier_vpc::classify::Classifier;
use crate::topology::four_tier_vpc::config::Config;
use crate::topology::four_tier_vpc::outputs::{Network, Output};
use crate::topology::mirrored::Found;

pub(in super::super) use entry::InterfaceEndpoint;

const ENTRIES: Entries =
    Entries { input: "interface_endpoints", slots: keys::INTERFACE_ENDPOINT, what: "an interface endpoint" };

/// The groups of single endpoints.
const GROUPS: Entries = Entries { slots: keys::ENDPOINT_GROUP, ..ENTRIES };

/// Interface endpoints of the VPC.
pub(in super::super) struct InterfaceEndpoints;

impl Part for InterfaceEndpoints {
    /// Unknown if its objects may or may not exist.
    fn is_wanted(&self, config: &Config) -> Input<bool> {
        let is_decided = |it: &Input<InterfaceEndpoint>| it.known().is_some_and(InterfaceEndpoint::is_decided);
        match &config.interface_endpoints {
            Input::Known(all) if all.values().all(is_decided) => Input::Known(!all.is_empty()),
            _ => Input::Unknown,
        }
    }

    fn problems(&self, config: &Config) -> Vec<Problem> {
        let mut problems = ENTRIES.problems(&config.interface_endpoints);
        for (name, entry) in entries(config) {
            let path = ENTRIES.path(name);
            let tags = entry.settings.tags.known().into_iter();
            problems.extend(tags.flat_map(|it| check_tags(TaggingService::Ec2, it, &path.attribute("tags"))));
            problems.extend(draft::problems(config, entry, &path));
        }
        problems
    }

    fn references(&self, config: &Config, _: &Scope) -> Vec<Reference> {
        let mut all = Vec::new();
        for (name, entry) in entries(config) {
            for (index, group) in entry.security_group_ids.known().into_iter().flatten().flatten().enumerate() {
                let path = ENTRIES.path(name).attribute("security_group_ids").index(index);
                all.extend(group.known().map(|id| Reference::new(Outside::SecurityGroup(id.clone()), path)));
            }
        }
        all
    }

    /// The services of new and of changed entries, and of those that an import has found.
    fn lookups(&self, config: &Config, prior: Option<&Config>, existing: &Inventory) -> Vec<Lookup> {
        let before = prior.and_then(|prior| prior.interface_endpoints.known());
        let is_settled = |name: &String, entry: &InterfaceEndpoint| {
            let is_same = before.and_then(|before| before.get(name)?.known()).is_some_and(|it| it == entry);
            let found = existing.at(&ENTRIES.slot(name)).and_then(|it| model::InterfaceEndpoint::of(&it.applied));
            is_same && found.is_some_and(|it| it.offered_in.is_some())
        };
        let changed = entries(config).filter(|(name, entry)| !is_settled(name, entry));
        // The services of another Region are listed there.
        let here = changed.filter(|(_, entry)| entry.settings.service_region == Input::Known(None));
        here.filter_map(|(name, entry)| Some(Lookup::EndpointService(entry.service_of(name).known()?.clone())))
            .collect()
    }

    fn draft(&self, draft: &mut Draft<'_>, _: &Built<'_>) {
        groups::draft(draft);
        draft::draft(draft);
    }

    /// Without an endpoint in place of what is unknown, and with one that has a group of its own or shares one.
    fn alternatives(&self, config: &Config) -> Vec<Change<Config>> {
        if self.is_wanted(config).is_known() {
            return Vec::new();
        }
        let has_subnets = |tier: &Tier| *config.creates(*tier) != Input::Known(false);
        let tier = Tier::ALL.into_iter().find(has_subnets).map_or("", Tier::slot);
        let decided = |exists: bool, shares_group: bool| -> Change<Config> {
            Box::new(move |config| {
                let unknown = || exists.then(|| ("unknown".to_string(), Input::Unknown)).into_iter().collect();
                let mut all = config.interface_endpoints.known().cloned().unwrap_or_else(unknown);
                all.retain(|_, entry| exists || entry.is_known());
                for entry in all.values_mut() {
                    let Some(mut it) = entry.known().cloned().or_else(InterfaceEndpoint::unknown) else { continue };
                    if it.tier().is_none() {
                        it.subnet_tier = Input::Known(tier.to_string());
                    }
                    if it.chosen_zones().is_none() {
                        it.availability_zones = Input::Known(None);
                    }
                    if !it.security_group_ids.is_known() {
                        it.security_group_ids = Input::Known((!exists).then(Vec::new));
                    }
                    if shares_group {
                        it.assume_shared_group();
                    }
                    *entry = Input::Known(it);
                }
                config.interface_endpoints = Input::Known(all);
            })
        };
        vec![decided(false, false), decided(true, false), decided(true, true)]
    }

    fn classify(&self, classifier: &mut Classifier<'_>) {
        way_back::classify(classifier);
    }

    fn import(&self, found: Found<'_>, scope: &Scope, attributes: &mut Value) {
        way_back::import(found, scope, attributes);
    }

    fn reflect(&self, inventory: &Inventory, state: &mut Value) {
        way_back::reflect(inventory, state);
    }

    fn outputs(&self) -> &'static [Output] {
        const {
            &[
                Output::texts(
                    "interface_endpoint_ids",
                    "IDs of the interface endpoints by their names in `interface_endpoints`, or null if there are none.",
                    |network| network.each(keys::INTERFACE_ENDPOINT, |key| network.ids.id(key)),
                ),
                Output {
                    name: "interface_endpoint_dns_entries",
                    kind: || Type::Map(Box::new(Type::List(Box::new(dns_entry())))),
                    description: "DNS names of each interface endpoint, by its name in `interface_endpoints`, or null if \
                                  there are none.",
                    fields: DNS_ENTRY,
                    of: |network| {
                        addresses(network, |it| {
                            let entries = it.dns_entries.iter();
                            let entry = |it: &model::DnsEntry| {
                                Value::map([
                                    ("dns_name", Value::from(it.name.as_str())),
                                    ("hosted_zone_id", it.hosted_zone_id.as_str().into()),
                                ])
                            };
                            entries.map(entry).collect()
                        })
                    },
                },
                Output {
                    name: "interface_endpoint_network_interface_ids",
                    kind: || Type::Map(Box::new(Type::List(Box::new(Type::String)))),
                    description: "IDs of the network interfaces of each interface endpoint, by its name in \
                                  `interface_endpoints`, or null if there are none.",
                    fields: &[],
                    of: |network| {
                        addresses(network, |it| it.network_interfaces.iter().map(|id| id.as_str().into()).collect())
                    },
                },
                Output::text(
                    "interface_endpoints_security_group_id",
                    "ID of the security group that interface endpoints share, or null if there is none.",
                    |network| network.id_at(keys::ENDPOINTS_GROUP),
                ),
            ]
        }
    }

    fn name(&self, slot: &str) -> Option<String> {
        if slot == keys::ENDPOINTS_GROUP {
            return Some("-interface-endpoints".to_string());
        }
        let name = ENTRIES.name(slot).or_else(|| GROUPS.name(slot))?;
        Some(format!("-endpoint-{name}"))
    }
}

/// The entries that are known.
fn entries(config: &Config) -> impl Iterator<Item = (&String, &InterfaceEndpoint)> {
    config.interface_endpoints.known().into_iter().flatten().filter_map(|(name, it)| Some((name, it.known()?)))
}

const DNS_ENTRY: &[(&str, &str)] =
    &[("dns_name", "The name."), ("hosted_zone_id", "ID of the hosted zone of the name, for an alias record.")];

fn dns_entry() -> Type {
    Type::Object(DNS_ENTRY.iter().map(|(name, _)| (name.to_string(), Type::String)).collect())
}

/// Lists of what AWS has created for each endpoint; an unknown list for one whose subnets or names change.
fn addresses(network: &Network<'_>, of: impl Fn(&model::EndpointAddresses) -> Vec<Value>) -> Value {
    network.each(keys::INTERFACE_ENDPOINT, |key| {
        let spec = network.objects.iter().find(|object| object.key == *key);
        let spec = spec.and_then(|object| model::InterfaceEndpoint::of(&object.spec));
        let found = network.ids.get(key).and_then(|it| it.learned.endpoint.as_ref());
        let (Some(spec), Some(found)) = (spec, found) else { return Value::Unknown };
        let state = network.ids.get(key).and_then(|it| it.learned.get(model::ENDPOINT_STATE));
        let mut subnets: Vec<&str> = spec.subnets.iter().filter_map(|it| network.ids.resolve(it)).collect();
        subnets.sort_unstable();
        let is_current = subnets == found.subnets
            && subnets.len() == spec.subnets.len()
            && (spec.private_dns_enabled == Input::Known(found.has_private_dns)
                || state.is_some_and(|state| model::is_unaccepted(state)));
        if is_current { Value::List(of(found)) } else { Value::Unknown }
    })
}
