//! Route tables, their default routes, and their associations with subnets.

use std::collections::{BTreeMap, BTreeSet};

use super::{Draft, Structure};
use crate::model::keys::network as keys;
use crate::model::keys::network::Family;
use crate::model::{Entry, Inventory, Key, Object, Ref, Route, RouteTable, RouteTableAssociation, Spec, Tier};
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::four_tier_vpc::Strings;
use crate::topology::four_tier_vpc::nat;
use crate::topology::four_tier_vpc::route_table_layout::{self, Layout};
use crate::topology::four_tier_vpc::tier_zones::TierZones;
use crate::topology::four_tier_vpc::zones::SubnetSlot;

/// No input names the target of a route.
const TARGET: &[&str] = &["target"];

impl Draft<'_> {
    /// Adds the route tables. Returns the table of each subnet.
    pub(super) fn route_tables(&mut self, structure: &Structure, zones: &TierZones) -> BTreeMap<SubnetSlot, Key> {
        let mut tables = BTreeMap::new();
        for (tier, layout) in &structure.layouts {
            let own = [self.context.config.route_table_tags(*tier)];
            let gateways = propagating_gateways(self.context.config.propagating_gateways(*tier).1);
            for (position, place) in zones.of_tier(*tier).iter().enumerate() {
                let key = match layout {
                    Layout::PerSubnet => keys::route_table(*tier, Some(place.index)),
                    Layout::PerTier => keys::route_table(*tier, None),
                    Layout::Of(_) => continue,
                };
                if *layout == Layout::PerSubnet || position == 0 {
                    let spec = RouteTable {
                        vpc: self.vpc.clone(),
                        propagating_gateways: gateways.clone(),
                        tags: self.tags(&key, &own),
                    };
                    self.add(&key, Spec::RouteTable(spec));
                }
                tables.insert((*tier, place.index), key);
            }
        }
        for (tier, layout) in &structure.layouts {
            let Layout::Of(owner) = layout else { continue };
            let single = keys::route_table(*owner, None);
            let is_single = tables.values().any(|key| *key == single);
            for place in zones.of_tier(*tier) {
                match tables.get(&(*owner, place.index)).or(is_single.then_some(&single)).cloned() {
                    Some(key) => drop(tables.insert((*tier, place.index), key)),
                    None => self.problems.push(route_table_layout::missing(*tier, *owner, &place.id)),
                }
            }
        }
        tables
    }

    pub(super) fn associations(&mut self, subnets: &BTreeMap<SubnetSlot, Key>, tables: &BTreeMap<SubnetSlot, Key>) {
        for (site, subnet) in subnets {
            let Some(table) = tables.get(site) else { continue };
            let spec = RouteTableAssociation { subnet: subnet.clone(), route_table: Ref::Key(table.clone()) };
            let mut association = Object::new(keys::route_table_association(subnet), Spec::RouteTableAssociation(spec));
            // A table must have its default routes before a subnet is associated with it, or the subnet loses its
            // connectivity.
            let routes = [Family::Ipv4, Family::Ipv6].map(|family| keys::default_route(table, family));
            let keys = self.objects.iter().map(|it| &it.key);
            association.after.extend(keys.filter(|key| routes.contains(key)).cloned());
            // A subnet that gets another table must not lose its gateway endpoints.
            let endpoints = self.objects.iter().filter(|it| matches!(it.spec, Spec::VpcEndpoint(_)));
            association.updated_after.extend(endpoints.map(|it| it.key.clone()));
            self.objects.push(association);
        }
    }

    pub(super) fn public_routes(
        &mut self,
        tables: &BTreeMap<SubnetSlot, Key>,
        internet_gateway: &Key,
        ipv6_range: Option<&Object>,
    ) {
        let mut tables: Vec<&Key> =
            tables.iter().filter(|((tier, _), _)| *tier == Tier::Public).map(|(_, it)| it).collect();
        // One table may serve several subnets.
        tables.dedup();
        for table in tables {
            self.default_route(table, internet_gateway, &[]);
            if let Some(range) = ipv6_range {
                self.ipv6_default_route(table, internet_gateway, &range.key);
            }
        }
    }

    /// Adds a default route for IPv6, unless the table keeps an unmanaged one. It has no use before the VPC has its
    /// range.
    pub(in super::super) fn ipv6_default_route(&mut self, table: &Key, target: &Key, range: &Key) {
        if self.is_left_to_unmanaged_route(table, Family::Ipv6, target) {
            return;
        }
        let (destination, target) = (Family::Ipv6.destination().to_string(), Ref::Key(target.clone()));
        let spec = Route { route_table: table.clone(), destination, target };
        let mut route = Object::new(keys::default_route(table, Family::Ipv6), Spec::Route(spec));
        route.after.push(range.clone());
        route.follows = TARGET;
        self.objects.push(route);
    }

    /// Adds the default routes to the NAT gateways. A single table of several subnets uses that of the first
    /// one.
    pub(super) fn nat_routes(
        &mut self,
        structure: &Structure,
        tables: &BTreeMap<SubnetSlot, Key>,
        gateways: &[(u32, Key)],
    ) {
        let mut done = BTreeSet::new();
        for ((tier, index), table) in tables {
            let is_owner = !matches!(structure.layouts[tier], Layout::Of(_));
            if !is_owner || !structure.nat_tiers.contains(tier) || !done.insert(table) {
                continue;
            }
            if let Some(gateway) = nat::gateway_for(*index, gateways) {
                self.default_route(table, gateway, gateways);
            }
        }
    }

    /// `others` are NAT gateways that can carry the traffic of the table until the target exists.
    fn default_route(&mut self, table: &Key, target: &Key, others: &[(u32, Key)]) {
        if self.is_left_to_unmanaged_route(table, Family::Ipv4, target) {
            return;
        }
        let to = |target: &Key| {
            let (destination, target) = ("0.0.0.0/0".to_string(), Ref::Key(target.clone()));
            Spec::Route(Route { route_table: table.clone(), destination, target })
        };
        let mut route = Object::new(keys::default_route(table, Family::Ipv4), to(target));
        route.follows = TARGET;
        route.fallback_targets =
            others.iter().map(|(_, other)| other).filter(|other| *other != target).map(to).collect();
        self.objects.push(route);
    }
}

impl Draft<'_> {
    /// Whether a table keeps an unmanaged default route instead of getting one to this target: a table that was adopted
    /// with its route. The configuration of the last apply, or of the import, requires the route already, and it does
    /// not exist. A new requirement is an error instead (see [`occupied`]).
    fn is_left_to_unmanaged_route(&mut self, table: &Key, family: Family, target: &Key) -> bool {
        let existing = self.context.existing;
        let route = keys::default_route(table, family);
        let tier = keys::tier_of("route_table.", &table.slot);
        let was_required =
            self.before.as_ref().is_some_and(|before| tier.is_some_and(|tier| before.has_default_routes(tier, family)));
        if !was_required || existing.entries.iter().any(|entry| entry.key == route) {
            return false;
        }
        let Some(entry) = existing.present().find(|entry| entry.key == *table) else { return false };
        let Some(current) = unmanaged_target(entry, family.destination()) else { return false };
        if leads_to(current, target, existing) {
            return false;
        }
        if entry.is_foreign() {
            let message = format!(
                "{table} ({}) keeps its route for {} to {current}, which this resource does not manage, and gets none to \
                 {target}.",
                entry.id,
                family.destination()
            );
            let hint = "To change that later, delete the route, and apply.";
            self.warnings.push(Problem::new(AttributePath::new("adopt"), message, hint));
        }
        true
    }
}

/// The target of the unmanaged route for a destination in a table.
fn unmanaged_target<'a>(table: &'a Entry, destination: &str) -> Option<&'a String> {
    table.learned.unmanaged_routes.iter().find(|(to, _)| to == destination).map(|(_, target)| target)
}

/// Whether the target of a route is the managed object with this key: an interrupted run has created both, and a create
/// of the route finds it.
fn leads_to(current: &str, target: &Key, existing: &Inventory) -> bool {
    existing.present().any(|entry| entry.key == *target && entry.id == current)
}

/// The virtual private gateways whose routes propagate to the tables of a tier, sorted and without duplicates. Unknown
/// IDs come last.
fn propagating_gateways(given: &Strings) -> Input<Vec<Input<String>>> {
    given.clone().map(|gateways| {
        let mut known: Vec<&String> = gateways.iter().filter_map(Input::known).collect();
        known.sort();
        known.dedup();
        let unknown = gateways.iter().filter(|gateway| !gateway.is_known());
        known.into_iter().cloned().map(Input::Known).chain(unknown.cloned()).collect()
    })
}

/// A problem for each required default route whose table already has an unmanaged route to the same destination. A
/// table has only one route per destination, and the provider does not delete unmanaged routes.
pub(super) fn occupied(objects: &[Object], existing: &Inventory) -> Vec<Problem> {
    objects.iter().filter_map(|object| occupant(object, existing)).collect()
}

fn occupant(object: &Object, existing: &Inventory) -> Option<Problem> {
    let Spec::Route(Route { route_table, destination, target: Ref::Key(wanted) }) = &object.spec else { return None };
    if existing.present().any(|entry| entry.key == object.key) {
        return None;
    }
    let table = existing.present().find(|entry| entry.key == *route_table)?;
    let current = unmanaged_target(table, destination).filter(|current| !leads_to(current, wanted, existing))?;
    let (input, without) = match wanted.slot.split('.').next() {
        Some("nat_gateway") => ("num_nat_gateways", "num_nat_gateways = 0"),
        Some("private_nat_gateway") => ("enable_private_nat", "enable_private_nat = false"),
        Some(keys::EGRESS_ONLY_INTERNET_GATEWAY) => ("create_egress_only_igw", "create_egress_only_igw = false"),
        _ => ("create_igw", "create_igw = false"),
    };
    let message = format!(
        "{} would route {destination} in {route_table} ({}) to {wanted}, but a route that this resource did not create \
         already routes it to {current}.",
        object.key, table.id
    );
    let hint = format!("Delete that route, or set {without} to keep it.");
    Some(Problem::new(AttributePath::new(input), message, hint))
}

/// A problem for each route that the configuration no longer requires, and that unmanaged subnets use, because its
/// table is the main one. A main route table that the configuration no longer requires keeps its routes.
pub(super) fn needed_by_unmanaged_subnets(objects: &[Object], existing: &Inventory) -> Vec<Problem> {
    let is_wanted = |key: &Key| objects.iter().any(|object| object.key == *key);
    let problem = |entry: &Entry| {
        let Spec::Route(route) = entry.spec() else { return None };
        let stays = |it: &&Entry| it.key == route.route_table && is_wanted(&it.key);
        let table = existing.main_route_table().filter(stays)?;
        let subnets = Some(table.learned.implicit_subnets.join(", ")).filter(|subnets| !subnets.is_empty())?;
        let message = format!(
            "This configuration deletes the route to {} in {}, the main route table of the VPC. These subnets, which this \
             resource does not manage, have no route table of their own and use it: {subnets}.",
            route.destination, table.id
        );
        let hint = "Keep the inputs that require the route, or associate these subnets with another route table first.";
        let input = match (table.key.slot.starts_with("route_table.public"), route.destination.as_str()) {
            (true, "0.0.0.0/0") => "create_igw",
            (false, "0.0.0.0/0") => "num_nat_gateways",
            _ => "ipv6_subnet_tiers",
        };
        Some(Problem::new(AttributePath::new(input), message, hint.to_string()))
    };
    existing.present().filter(|entry| !is_wanted(&entry.key)).filter_map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::config::tests::config;
    use super::super::super::fixtures::{applied, blueprint, objects};
    use super::*;
    use crate::model::Origin;
    use crate::plugin::Value;
    use crate::topology::Blueprint;

    /// A network with one NAT gateway. The private app table in AZ 0 has an unmanaged default route to `target`, and
    /// the default route of this resource only if `has_ours`.
    fn existing(target: Option<&str>, has_ours: bool) -> Inventory {
        let mut existing = applied(&objects(&config(&[]), "ab"));
        existing.entries.retain(|entry| has_ours || entry.key.slot != "route.private_app.0.ipv4");
        let table = existing.entries.iter_mut().find(|entry| entry.key.slot == "route_table.private_app.0").unwrap();
        table.learned.unmanaged_routes =
            target.map(|it| ("0.0.0.0/0".to_string(), it.to_string())).into_iter().collect();
        existing
    }

    /// The last apply required no NAT gateway.
    fn problems_of(existing: &Inventory, attributes: &[(&str, Value)]) -> Vec<Problem> {
        let before = config(&[("num_nat_gateways", 0_i64.into())]);
        blueprint(&config(attributes), Some(&before), existing, "ab").err().unwrap_or_default()
    }

    #[test]
    fn an_adopted_table_keeps_its_default_route() {
        let mut existing = existing(Some("tgw-9"), false);
        let decided = |existing: &Inventory| match blueprint(&config(&[]), Some(&config(&[])), existing, "ab") {
            Ok(Blueprint::Decided { objects, warnings, .. }) => (objects, warnings),
            _ => panic!("the blueprint is decided"),
        };
        let has = |objects: &[Object], slot: &str| objects.iter().any(|object| object.key.slot == slot);
        let (objects, warnings) = decided(&existing);
        assert!(!has(&objects, "route.private_app.0.ipv4") && has(&objects, "route.private_app.1.ipv4"));
        assert!(!warnings.iter().any(|it| it.message.contains("tgw-9")), "{warnings:?}");

        // The plan of the adoption names it.
        for entry in &mut existing.entries {
            entry.origin = Origin::Foreign;
        }
        let (_, warnings) = decided(&existing);
        assert!(
            warnings.iter().any(|it| it.message.contains("keeps its route for 0.0.0.0/0 to tgw-9")),
            "{warnings:?}"
        );
    }

    #[test]
    fn routes_of_unmanaged_subnets_in_the_main_table_are_not_deleted() {
        let layout = || ("route_table_layout", Value::map([("private_app", "per_tier".into())]));
        let mut existing = applied(&objects(&config(&[layout()]), "ab"));
        let table = existing.entries.iter_mut().find(|entry| entry.key.slot == "route_table.private_app").unwrap();
        table.learned.implicit_subnets = ["subnet-7", "subnet-8"].map(str::to_string).into();
        let main = table.id.clone();
        let vpc = existing.entries.iter_mut().find(|entry| entry.key.slot == keys::VPC).unwrap();
        vpc.learned.insert(keys::DEFAULT_ROUTE_TABLE_ID.to_string(), main);
        let no_nat = || ("num_nat_gateways", 0_i64.into());
        let problems = problems_of(&existing, &[layout(), no_nat()]);
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        assert!(problem.message.contains("subnet-7, subnet-8"), "{}", problem.message);
        // A table that is no longer required keeps its routes.
        assert_eq!(problems_of(&existing, &[no_nat()]), []);
        assert_eq!(problems_of(&existing, &[layout()]), []);
    }

    #[test]
    fn an_unmanaged_default_route_is_rejected_with_its_target() {
        let problems = problems_of(&existing(Some("tgw-9"), false), &[]);
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        assert_eq!(problem.path, AttributePath::new("num_nat_gateways"));
        for part in ["route_table.private_app.0", "id-of-route_table.private_app.0", "tgw-9", "0.0.0.0/0"] {
            assert!(problem.message.contains(part), "no {part} in {}", problem.message);
        }
        assert!(problem.hint.contains("num_nat_gateways = 0"), "{}", problem.hint);
    }

    #[test]
    fn an_unmanaged_default_route_without_conflict_is_accepted() {
        assert_eq!(problems_of(&existing(Some("tgw-9"), false), &[("num_nat_gateways", 0_i64.into())]), []);
        assert_eq!(problems_of(&existing(Some("tgw-9"), true), &[]), []);
        assert_eq!(problems_of(&existing(None, false), &[]), [], "it was deleted");
    }

    /// An interrupted run has created the gateway and its route.
    #[test]
    fn a_route_to_our_own_gateway_is_not_foreign() {
        let config = config(&[
            ("enable_ipv6", true.into()),
            ("assign_generated_ipv6_cidr_block", true.into()),
            ("ipv6_subnet_tiers", vec!["private_app"].into()),
        ]);
        let slot = "route.private_app.0.ipv6";
        let mut existing = applied(&objects(&config, "ab"));
        existing.entries.retain(|entry| entry.key.slot != slot);
        let gateway = existing.at(keys::EGRESS_ONLY_INTERNET_GATEWAY).unwrap().id.clone();
        let plain = super::super::super::config::tests::config(&[]);
        for (target, is_ours) in [(gateway.as_str(), true), ("eigw-9", false)] {
            let table =
                existing.entries.iter_mut().find(|entry| entry.key.slot == "route_table.private_app.0").unwrap();
            table.learned.unmanaged_routes = vec![("::/0".to_string(), target.to_string())];
            let built = blueprint(&config, Some(&plain), &existing, "ab");
            assert_eq!(built.is_ok(), is_ours, "{target}: {built:?}");
            // The last apply required the route, and its state is lost.
            let Ok(Blueprint::Decided { objects, .. }) = blueprint(&config, Some(&config), &existing, "ab") else {
                panic!("the blueprint is decided")
            };
            assert_eq!(objects.iter().any(|object| object.key.slot == slot), is_ours, "{target}");
        }
    }

    #[test]
    fn propagating_gateways_are_sorted_and_unique_per_tier() {
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
