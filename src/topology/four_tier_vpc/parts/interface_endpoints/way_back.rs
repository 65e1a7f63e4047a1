//! From interface endpoints in AWS to the entries that require them.

use std::collections::{BTreeMap, BTreeSet};

use super::{ENTRIES, GROUPS, InterfaceEndpoint};
use crate::model::keys::network as keys;
use crate::model::{self, Input, Inventory, Key, Ref, RuleSource, Scope, SecurityGroup, Subnet, Tier, service_label};
use crate::plugin::{Encode, Value};
use crate::topology::entries::drifted;
use crate::topology::four_tier_vpc::classify::Classifier;
use crate::topology::four_tier_vpc::tags;
use crate::topology::mirrored::Found;

/// Places each interface endpoint whose subnets are those of one tier. Its security groups stay what they are.
pub(super) fn classify(classifier: &mut Classifier<'_>) {
    for (found, spec) in &classifier.landscape.others {
        let Some(spec) = model::InterfaceEndpoint::of(spec) else { continue };
        let slots: Option<BTreeSet<Tier>> = spec
            .subnets
            .iter()
            .map(|subnet| {
                let Ref::Id(id) = subnet else { return None };
                keys::tier_of("subnet.", classifier.result.slots.get(id)?)
            })
            .collect();
        if slots.is_none_or(|tiers| tiers.len() != 1) {
            classifier.reject(&found.id, "its subnets are not those of one tier of this network");
        }
        if classifier.is_free(&found.id) {
            let service = spec.service_name.known().map_or("", String::as_str);
            let label = label(service).unwrap_or(service);
            let slot = ENTRIES.slot_of(label, |slot| classifier.result.slots.values().any(|it| it == slot));
            classifier.place(&found.id, slot);
        }
    }
}

/// The label of a service of AWS in any Region, for a name.
pub(super) fn label(service: &str) -> Option<&str> {
    let rest = service.strip_prefix("cn.").unwrap_or(service).strip_prefix("com.amazonaws.")?;
    let label = rest.split_once('.').map_or(rest, |(_, label)| label);
    model::InterfaceEndpoint::is_of_aws(service).then_some(label)
}

/// Sets the entries of all endpoints.
pub(super) fn import(found: Found<'_>, scope: &Scope, attributes: &mut Value) {
    let general = attributes.get("custom_tags").clone();
    let subnets = subnets(found);
    let groups: BTreeMap<&Key, &SecurityGroup> =
        found.specs().filter_map(|(key, spec)| Some((key, SecurityGroup::of(spec)?))).collect();
    let primary = found.all(model::Vpc::of).next().and_then(|vpc| vpc.cidr_block.known()?.as_deref());
    let secondary = found.all(model::VpcCidrBlock::of).map(|range| range.cidr_block.as_str());
    let ranges: Vec<&str> = primary.into_iter().chain(secondary).collect();
    let mut entries = BTreeMap::new();
    for (key, spec) in found.specs() {
        let (Some(name), Some(endpoint)) = (ENTRIES.name(&key.slot), model::InterfaceEndpoint::of(spec)) else {
            continue;
        };
        let mut entry = of(name, endpoint, &subnets, scope);
        if let Input::Known(groups_of) = &endpoint.security_groups
            && let [Ref::Key(group)] = groups_of.as_slice()
        {
            entry.security_group_ids = Input::Known(None);
            if let Some(group) = groups.get(group).filter(|_| group.slot == GROUPS.slot(name)) {
                allow(&mut entry, group, &ranges);
            }
        }
        entry.settings.tags = tags::of_entry(&endpoint.settings.tags, &general, scope);
        entries.insert(name.to_string(), entry.encode());
    }
    attributes.set(ENTRIES.input, Value::Map(entries));
}

/// The tier and the AZ of each subnet.
type Subnets<'a> = BTreeMap<&'a Key, &'a Subnet>;

fn subnets(found: Found<'_>) -> Subnets<'_> {
    found.specs().filter_map(|(key, spec)| Some((key, Subnet::of(spec)?))).collect()
}

/// The entry of an endpoint, with the groups that it has and without tags.
fn of(name: &str, endpoint: &model::InterfaceEndpoint, subnets: &Subnets<'_>, scope: &Scope) -> InterfaceEndpoint {
    let full = endpoint.service_name.known().cloned().unwrap_or_default();
    let label = service_label(&full, &scope.region)
        .filter(|label| full.ends_with(&format!("com.amazonaws.{}.{label}", scope.region)));
    let tier = tier(endpoint, subnets);
    let default_names = model::InterfaceEndpoint::is_of_aws(&full);
    let ids = |groups: Vec<Ref>| {
        let id = |group: Ref| match group {
            Ref::Id(id) => Input::Known(id),
            Ref::Key(_) => Input::Unknown,
        };
        Some(groups.into_iter().map(id).collect())
    };
    InterfaceEndpoint {
        service: Input::Known(label.filter(|label| *label != name).map(str::to_string)),
        service_name: Input::Known(label.is_none().then_some(full)),
        subnet_tier: Input::Known(tier.slot().to_string()),
        availability_zones: Input::Known(zones(endpoint, tier, subnets)),
        private_dns_enabled: endpoint.private_dns_enabled.clone().map(|it| Some(it).filter(|it| *it != default_names)),
        private_dns_only_for_inbound_resolver_endpoint: endpoint
            .private_dns_only_for_inbound_resolver_endpoint
            .clone()
            .map(|it| it.filter(|only| !only)),
        security_group_ids: endpoint.security_groups.clone().map(ids),
        allowed_ports: Input::Known(vec![Input::Known(443)]),
        allowed_cidr_blocks: Input::Known(Vec::new()),
        settings: endpoint.settings.clone(),
    }
}

fn tier(endpoint: &model::InterfaceEndpoint, subnets: &Subnets<'_>) -> Tier {
    let of = |subnet: &Ref| match subnet {
        Ref::Key(key) => subnets.get(key).map(|subnet| subnet.tier),
        Ref::Id(_) => None,
    };
    endpoint.subnets.iter().find_map(of).unwrap_or(Tier::PrivateApp)
}

/// The AZs of an endpoint; `None` if it has a subnet in each AZ of the tier.
fn zones(endpoint: &model::InterfaceEndpoint, tier: Tier, subnets: &Subnets<'_>) -> Option<Vec<Input<String>>> {
    let of_tier = subnets.iter().filter(|(_, subnet)| subnet.tier == tier);
    let is_used = |key: &Key| endpoint.subnets.iter().any(|it| matches!(it, Ref::Key(used) if used == key));
    let (used, unused): (Vec<_>, Vec<_>) = of_tier.partition(|(key, _)| is_used(key));
    let zones = used.into_iter().map(|(_, subnet)| Input::Known(subnet.availability_zone.clone()));
    (!unused.is_empty()).then(|| zones.collect())
}

/// Sets the ports and blocks that the rules of its own group allow, without the ranges of the VPC.
fn allow(entry: &mut InterfaceEndpoint, group: &SecurityGroup, ranges: &[&str]) {
    let rules = || group.ingress.known().into_iter().flatten();
    let ports: BTreeSet<i64> = rules().filter_map(|rule| rule.from_port).collect();
    let blocks = rules().filter_map(|rule| match &rule.source {
        RuleSource::CidrIpv4(block) | RuleSource::CidrIpv6(block) => Some(block.as_str()),
        _ => None,
    });
    let blocks: BTreeSet<&str> = blocks.filter(|block| !ranges.contains(block)).collect();
    entry.allowed_ports = Input::Known(ports.into_iter().map(Input::Known).collect());
    entry.allowed_cidr_blocks = Input::Known(blocks.into_iter().map(|it| Input::Known(it.to_string())).collect());
}

/// Writes changes outside Terraform into the entries.
pub(super) fn reflect(inventory: &Inventory, state: &mut Value) {
    let subnets = subnets(Found::now(inventory));
    ENTRIES.reflect(inventory, state, |name, entry| {
        let slot = ENTRIES.slot(name);
        let applied = inventory.at(&slot).and_then(|it| model::InterfaceEndpoint::of(&it.applied));
        let now = drifted(inventory, &slot).and_then(model::InterfaceEndpoint::of);
        let (Some(applied), Some(now)) = (applied, now) else { return };
        if now.subnets != applied.subnets {
            let tier = tier(now, &subnets);
            entry.set("subnet_tier", tier.slot().into());
            entry.set("availability_zones", zones(now, tier, &subnets).into());
        }
        if now.security_groups != applied.security_groups {
            let ids = inventory.ids();
            let groups = now.security_groups.known().into_iter().flatten();
            let groups = groups.filter_map(|group| Some(Value::from(ids.resolve(group)?)));
            entry.set("security_group_ids", Value::List(groups.collect()));
        }
        if now.private_dns_enabled != applied.private_dns_enabled {
            entry.set("private_dns_enabled", now.private_dns_enabled.clone().into());
        }
        let (inbound, before) = (
            &now.private_dns_only_for_inbound_resolver_endpoint,
            &applied.private_dns_only_for_inbound_resolver_endpoint,
        );
        if inbound != before {
            entry.set("private_dns_only_for_inbound_resolver_endpoint", inbound.clone().into());
        }
        for (field, now, applied) in [
            ("policy", &now.settings.policy, &applied.settings.policy),
            ("ip_address_type", &now.settings.ip_address_type, &applied.settings.ip_address_type),
            ("dns_record_ip_type", &now.settings.dns_record_ip_type, &applied.settings.dns_record_ip_type),
        ] {
            if now != applied {
                entry.set(field, now.clone().into());
            }
        }
        if let Some(spec) = drifted(inventory, &slot) {
            tags::reflect_entry(spec, entry);
        }
    });
}
