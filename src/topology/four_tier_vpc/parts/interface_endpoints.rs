//! Interface endpoints, with the security groups that the network creates for them.

mod draft;
mod entry;
mod follows;
mod groups;
#[cfg(test)]
mod tests;
mod way_back;

use std::collections::BTreeMap;

use super::Part;
use crate::model::keys::network as keys;
use crate::model::{
    self, Found as Answer, Input, Inventory, Lookup, Outside, Reference, Scope, TaggingService, Tier, check_tags,
};
use crate::plugin::{Nested, Problem, Type, Value};
use crate::topology::Context;
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

/// Endpoints by the names of their entries.
type Specs = BTreeMap<String, model::InterfaceEndpoint>;

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

    fn warnings(&self, context: &Context<'_, Config>) -> Vec<Problem> {
        let all = || entries(context.config);
        let groups = all().map(|(name, it)| (name, it.security_group_ids.known().map(Option::is_some)));
        let policies = all().map(|(name, it)| (name, it.settings.policy.known().map(Option::is_some)));
        let of_groups = "Without it, an endpoint admits all addresses of the VPC.";
        let of_policies = "Without it, an endpoint allows all access.";
        let groups = ENTRIES.lacking("security_group_ids", groups, context.existing, of_groups);
        groups.into_iter().chain(ENTRIES.lacking("policy", policies, context.existing, of_policies)).collect()
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

    /// The services of new and of changed entries, and of those that an import has found; all if the AZs of tiers may
    /// change, because AWS may offer a service in further AZs since.
    fn lookups(&self, config: &Config, prior: Option<&Config>, existing: &Inventory) -> Vec<Lookup> {
        let before = prior.and_then(|prior| prior.interface_endpoints.known());
        let has_same_places = prior.is_some_and(|prior| places(prior) == places(config));
        let is_settled = |name: &String, entry: &InterfaceEndpoint| {
            let is_same = before.and_then(|before| before.get(name)?.known()).is_some_and(|it| it == entry);
            let found = existing.at(&ENTRIES.slot(name)).and_then(|it| model::InterfaceEndpoint::of(&it.applied));
            // The endpoint of another service may have this slot after a failed apply that has swapped two names.
            let wanted = entry.service_of(name);
            let is_of_service = |it: &model::InterfaceEndpoint| {
                let full = it.service_name.known().map(String::as_str);
                let label = full.and_then(way_back::label);
                wanted.known().is_some_and(|wanted| [full, label].contains(&Some(wanted)))
            };
            is_same && has_same_places && found.is_some_and(|it| it.offer.is_some() && is_of_service(it))
        };
        let changed = entries(config).filter(|(name, entry)| !is_settled(name, entry));
        // The services of another Region are listed there.
        let here = changed.filter(|(_, entry)| entry.settings.service_region == Input::Known(None));
        here.filter_map(|(name, entry)| Some(Lookup::EndpointService(entry.service_of(name).known()?.clone())))
            .collect()
    }

    fn draft(&self, draft: &mut Draft<'_>, _: &Built<'_>) {
        let specs = draft::specs(draft);
        groups::draft(draft, &specs);
        draft::draft(draft, specs);
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
                    match shares_group {
                        true => it.assume_shared_group(),
                        false => it.assume_own_group(),
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
                    "IDs of the interface endpoints by their names in `interface_endpoints`.",
                    |network| network.each(keys::INTERFACE_ENDPOINT, |key| network.ids.id(key)),
                ),
                Output {
                    name: "interface_endpoint_dns_entries",
                    kind: || Type::Map(Box::new(Type::List(Box::new(dns_entry())))),
                    description: "DNS names of each interface endpoint, by its name in `interface_endpoints`.",
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
                                  `interface_endpoints`.",
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

/// The inputs that decide in which AZs tiers have subnets.
fn places(config: &Config) -> impl PartialEq + use<> {
    let zones = (config.availability_zone_ids.clone(), config.availability_zone_names.clone());
    let excluded = (config.availability_zone_exclude_ids.clone(), config.availability_zone_exclude_names.clone());
    let others = (config.availability_zone_state.clone(), config.tier_availability_zone_ids.clone());
    let tiers = Tier::ALL.map(|tier| config.creates(tier).clone());
    (config.num_availability_zones.clone(), zones, excluded, others, tiers)
}

const DNS_ENTRY: &[(&str, &str)] =
    &[("dns_name", "The name."), ("hosted_zone_id", "ID of the hosted zone of the name, for an alias record.")];

fn dns_entry() -> Type {
    Type::Object(DNS_ENTRY.iter().map(|(name, _)| (name.to_string(), Type::String)).collect())
}

/// Lists of what AWS has created for each endpoint; an unknown list for one that is new or whose subnets or names
/// change.
fn addresses(network: &Network<'_>, of: impl Fn(&model::EndpointAddresses) -> Vec<Value>) -> Value {
    network.each(keys::INTERFACE_ENDPOINT, |key| {
        let found = network.ids.get(key).and_then(|it| it.learned.endpoint.as_ref());
        found.map_or(Value::Unknown, |found| Value::List(of(found)))
    })
}
