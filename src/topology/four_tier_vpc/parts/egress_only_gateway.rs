//! The egress-only internet gateway, its routes, and the tiers that assign IPv6 addresses.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::*;
use crate::model::keys::network::{Family, tier_of};
use crate::model::{EgressOnlyInternetGateway, FoundRouteTable, Key, Object, Tier};
use crate::topology::four_tier_vpc::found::subnets_of;
use crate::topology::four_tier_vpc::ipv6::tiers;
use crate::topology::mirrored::changed;

/// The switch of the gateway.
const SWITCH: &str = "create_egress_only_igw";

/// The inputs of the flag of subnets: of the public tier alone, and of all.
const OF_PUBLIC: &str = "assign_ipv6_address_on_creation";
const OF_TIERS: &str = "assign_ipv6_address_on_creation_tiers";

/// The gateway, if the configuration requires it.
pub(in super::super) fn egress_only_gateway(draft: &Draft<'_>, range: Option<&Key>) -> Option<Object> {
    tiers::egress(draft.context.config).filter(|egress| egress.is_wanted)?;
    let key = keys::egress_only_internet_gateway();
    let (vpc, tags) = (draft.vpc.clone(), draft.tags(&key, &[]));
    let spec = EgressOnlyInternetGateway { vpc, ipv6_block: range.cloned(), tags };
    Some(Object::new(key, spec.into()))
}

/// The egress-only internet gateway.
pub(in super::super) struct EgressOnlyGateway;

impl Part for EgressOnlyGateway {
    fn is_wanted(&self, config: &Config) -> Input<bool> {
        tiers::egress(config).map_or(Input::Unknown, |egress| Input::Known(egress.is_wanted))
    }

    fn warnings(&self, context: &Context<'_, Config>) -> Vec<Problem> {
        let config = context.config;
        let mut warnings = Vec::new();
        if config.enable_ipv6 != Input::Known(true) {
            return warnings;
        }
        let listed = tiers::listed(&config.ipv6.ipv6_subnet_tiers);
        let is_default = listed == Some(BTreeSet::from([Tier::Public]));
        for tier in listed.into_iter().flatten().filter(|_| !is_default) {
            if *config.creates(tier) == Input::Known(false) {
                let message = format!("ipv6_subnet_tiers contains {}, which has no subnets.", tier.slot());
                let hint = format!("Set create_{}_subnets to true, or remove the tier.", tier.slot());
                warnings.push(Problem::new(AttributePath::new("ipv6_subnet_tiers"), message, hint));
            }
        }
        for tier in Tier::ALL.into_iter().filter(|tier| !tiers::may_have_blocks(config, *tier)) {
            let (name, blocks) = config.ipv6_cidr_blocks(tier);
            if blocks.known().is_some_and(|blocks| !blocks.is_empty()) {
                let message =
                    format!("{name} has no effect, because ipv6_subnet_tiers does not contain {}.", tier.slot());
                let hint = format!("Add {} to ipv6_subnet_tiers, or remove {name}.", tier.slot());
                warnings.push(Problem::new(AttributePath::new(name), message, hint));
            }
        }
        if tiers::egress(config).is_some_and(|egress| egress.is_wanted && egress.tiers.is_empty()) {
            let message = "No route leads to the egress-only internet gateway, because ipv6_subnet_tiers contains no \
                           private tier with internet access.";
            let hint = "Add such a tier, or remove create_egress_only_igw.";
            warnings.push(Problem::new(AttributePath::new(SWITCH), message, hint));
        }
        warnings
    }

    /// The gateway follows the subnets with blocks, so that a change that turns IPv6 on ends with what carries traffic.
    fn draft(&self, draft: &mut Draft<'_>, built: &Built<'_>) {
        let (Some(egress), Some(range)) = (tiers::egress(draft.context.config), built.ipv6_range) else { return };
        let Some(gateway) = egress_only_gateway(draft, Some(range)) else { return };
        let key = gateway.key.clone();
        let has_route = |tier: &Tier| egress.tiers.contains(tier);
        let after = built.subnets.iter().filter(|((tier, _), _)| has_route(tier)).map(|(_, key)| key.clone()).collect();
        draft.objects.push(Object { after, ..gateway });
        let tables = built.tables.iter().filter(|((tier, _), _)| has_route(tier)).map(|(_, table)| table);
        // One table may serve several subnets.
        for table in tables.collect::<BTreeSet<&Key>>() {
            draft.ipv6_default_route(table, &key, range);
        }
    }

    /// No tier with IPv6 and all of them, without the gateway and with it.
    fn alternatives(&self, config: &Config) -> Vec<Change<Config>> {
        let are_tiers_known = tiers::listed(&config.ipv6.ipv6_subnet_tiers).is_some();
        let is_switch_known = config.ipv6.create_egress_only_igw.is_known();
        if are_tiers_known && is_switch_known {
            return Vec::new();
        }
        let all = || Tier::ALL.map(|tier| Input::Known(tier.slot().to_string())).into();
        let decided = |(has_tiers, has_gateway): (bool, bool)| -> Change<Config> {
            Box::new(move |config| {
                if !are_tiers_known {
                    let tiers = if has_tiers { all() } else { BTreeSet::new() };
                    config.ipv6.ipv6_subnet_tiers = Input::Known(tiers);
                }
                if !is_switch_known {
                    config.ipv6.create_egress_only_igw = Input::Known(Some(has_gateway));
                }
            })
        };
        [(false, false), (false, true), (true, false), (true, true)].map(decided).into()
    }

    /// If exactly the private route tables that the inputs name have a route to it.
    fn classify(&self, classifier: &mut Classifier<'_>) {
        let landscape = classifier.landscape;
        let expected = expected_tables(classifier);
        let found = landscape.others.iter().filter(|(_, spec)| EgressOnlyInternetGateway::of(spec).is_some());
        for (gateway, _) in found {
            let has_route = |table: &&FoundRouteTable| leads_to(table, Family::Ipv6, |target| target == gateway.id);
            let routed = landscape.route_tables.iter().filter(has_route).map(|table| table.id.as_str());
            let routed: BTreeSet<&str> = routed.collect();
            let other = routed.symmetric_difference(&expected).next();
            let reason = other.map(|table| match routed.contains(table) {
                true => format!("{table} routes to it, which is not the table of a tier with IPv6 and internet access"),
                false => format!("{table} has no IPv6 default route to it, although its tier has internet access"),
            });
            classifier.place_or_reject(&gateway.id, keys::EGRESS_ONLY_INTERNET_GATEWAY.to_string(), reason);
        }
    }

    fn mirrored(&self) -> &'static [Mirrored] {
        const {
            &[Mirrored::new(SWITCH, |it| it.all(EgressOnlyInternetGateway::of).map(|_| Value::Bool(true)).collect())
                .imported_as(|_, _| None)
                .if_deleted(&Value::Bool(false))]
        }
    }

    fn import(&self, found: Found<'_>, _: &Scope, attributes: &mut Value) {
        if *attributes.get("enable_ipv6") != Value::Bool(true) {
            return;
        }
        attributes.set(SWITCH, found.all(EgressOnlyInternetGateway::of).next().is_some().into());
        let is_on = |tier: &Tier| flags(found, *tier).contains(&Value::Bool(true));
        attributes.set(OF_PUBLIC, is_on(&Tier::Public).into());
        attributes.set(OF_TIERS, Tier::ALL.into_iter().filter(is_on).map(Tier::slot).collect::<Vec<_>>().into());
    }

    /// Adds and removes the tiers whose subnets have another flag.
    fn reflect(&self, inventory: &Inventory, state: &mut Value) {
        for tier in Tier::ALL {
            let Some(flag) = changed(inventory, |found| flags(found, tier)) else { continue };
            let listed = state.get(OF_TIERS).clone();
            match listed {
                Value::List(mut tiers) => {
                    tiers.retain(|it| it.as_str() != Some(tier.slot()));
                    tiers.extend((flag == Value::Bool(true)).then(|| tier.slot().into()));
                    state.set(OF_TIERS, Value::List(tiers));
                }
                _ if tier == Tier::Public => state.set(OF_PUBLIC, flag),
                _ => {}
            }
        }
    }

    fn outputs(&self) -> &'static [Output] {
        const {
            &[Output::text(
                "egress_only_internet_gateway_id",
                "ID of the egress-only internet gateway, or null if there is none.",
                |it| it.id_at(keys::EGRESS_ONLY_INTERNET_GATEWAY),
            )]
        }
    }

    fn name(&self, slot: &str) -> Option<String> {
        (slot == keys::EGRESS_ONLY_INTERNET_GATEWAY).then(|| "-egress-only".to_string())
    }
}

/// Whether the subnets of a tier assign IPv6 addresses.
fn flags(found: Found<'_>, tier: Tier) -> Vec<Value> {
    subnets_of(found, tier).into_iter().map(|it| it.assign_ipv6_address_on_creation.clone().into()).collect()
}

/// Whether a table has a default route to such a target.
fn leads_to(table: &FoundRouteTable, family: Family, is_target: impl Fn(&str) -> bool) -> bool {
    table.routes.iter().any(|(destination, target)| destination == family.destination() && is_target(target))
}

/// The route tables of the private tiers with IPv6 and internet access. The tiers that have such access only if they
/// are allowed to have it if they route IPv4 to a NAT gateway or, without NAT gateways, IPv6 to this gateway.
fn expected_tables<'a>(classifier: &Classifier<'a>) -> BTreeSet<&'a str> {
    let landscape = classifier.landscape;
    let mut expected = BTreeSet::new();
    for tier in Tier::ALL.into_iter().filter(|tier| *tier != Tier::Public) {
        let slot_of = |id: &String| classifier.result.slots.get(id);
        let is_of_tier = |id: &String| slot_of(id).is_some_and(|slot| tier_of("subnet.", slot) == Some(tier));
        let subnets: Vec<_> = landscape.subnets.iter().filter(|subnet| is_of_tier(&subnet.id)).collect();
        if !subnets.iter().any(|subnet| subnet.has_ipv6) {
            continue;
        }
        let tables: Vec<&FoundRouteTable> = subnets.iter().filter_map(|subnet| classifier.table_of(subnet)).collect();
        let has_route = |family: Family, prefix: &str| {
            tables.iter().any(|table| leads_to(table, family, |target| target.starts_with(prefix)))
        };
        let is_allowed = match landscape.nat_gateways.is_empty() {
            true => has_route(Family::Ipv6, "eigw-"),
            false => has_route(Family::Ipv4, "nat-"),
        };
        if tier == Tier::PrivateApp || is_allowed {
            expected.extend(tables.into_iter().map(|table| table.id.as_str()));
        }
    }
    expected
}
