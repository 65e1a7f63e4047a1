//! Which route tables the subnets of each tier use.

use std::collections::{BTreeMap, BTreeSet};

use super::config::Config;
use super::ipv6::tiers;
use crate::model::Tier;
use crate::plugin::{AttributePath, Input, Problem};

/// The name of the input.
const NAME: &str = "route_table_layout";

/// The values of the input, besides the names of tiers.
const PER_SUBNET: &str = "per_subnet";
const PER_TIER: &str = "per_tier";

/// The tiers that the input can contain. The public tier has an input of its own.
const TIERS: [Tier; 3] = [Tier::PrivateApp, Tier::PrivatePersistence, Tier::Transit];

/// The route tables of one tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Each subnet has its own.
    PerSubnet,
    /// All subnets share one.
    PerTier,
    /// The subnets use the tables of another tier: the one in the same AZ, or the only one.
    Of(Tier),
}

impl Layout {
    /// The value of the input; `None` for the default.
    pub(super) fn value(self) -> Option<&'static str> {
        match self {
            Layout::PerSubnet => None,
            Layout::PerTier => Some(PER_TIER),
            Layout::Of(tier) => Some(tier.slot()),
        }
    }

    fn parse(text: &str) -> Option<Layout> {
        match text {
            PER_SUBNET => Some(Layout::PerSubnet),
            PER_TIER => Some(Layout::PerTier),
            other => TIERS.into_iter().find(|tier| tier.slot() == other).map(Layout::Of),
        }
    }
}

/// The layout of a tier; `None` if it is unknown. The validation has rejected invalid values.
pub(super) fn of(config: &Config, tier: Tier) -> Option<Layout> {
    if tier == Tier::Public {
        let is_one = *config.one_route_table_public_subnets.known()?;
        return Some(if is_one { Layout::PerTier } else { Layout::PerSubnet });
    }
    match config.route_table_layout.known()?.get(tier.slot()) {
        Some(text) => Some(Layout::parse(text.known()?).unwrap_or(Layout::PerSubnet)),
        None => Some(Layout::PerSubnet),
    }
}

/// All problems of the input that can be found without AWS.
pub(super) fn problems(config: &Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (key, value) in config.route_table_layout.known().into_iter().flatten() {
        let path = AttributePath::new(NAME).key(key);
        let Some(tier) = TIERS.into_iter().find(|tier| tier.slot() == key) else {
            let message = format!("{key:?} is not the name of a tier.");
            problems.push(Problem::new(path, message, "Use private_app, private_persistence or transit."));
            continue;
        };
        let Input::Known(value) = value else { continue };
        match Layout::parse(value) {
            None => {
                let message = format!("{value:?} is not a layout of route tables.");
                let hint = "Use per_subnet, per_tier, or the name of another of these tiers, to use its tables: \
                            private_app, private_persistence, transit.";
                problems.push(Problem::new(path, message, hint));
            }
            Some(Layout::Of(owner)) => problems.extend(shared(config, tier, owner, &path)),
            Some(Layout::PerSubnet | Layout::PerTier) => {}
        }
    }
    problems
}

/// The problems of a tier that uses the tables of another one.
fn shared(config: &Config, tier: Tier, owner: Tier, path: &AttributePath) -> Vec<Problem> {
    let (name, other) = (tier.slot(), owner.slot());
    let problem = |message: String, hint: &str| Problem::new(path.clone(), message, hint.to_string());
    if tier == owner {
        return vec![problem(format!("The tier {name} cannot use its own tables."), "Use per_subnet or per_tier.")];
    }
    if let Some(Layout::Of(third)) = of(config, owner) {
        let message = format!("The tier {other} has no tables of its own: it uses those of {}.", third.slot());
        return vec![problem(message, "Use the name of a tier that has tables of its own.")];
    }
    let mut problems = Vec::new();
    if *config.creates(owner) == Input::Known(false) && *config.creates(tier) == Input::Known(true) {
        let message = format!("The tier {other} is not created, so it has no tables.");
        problems.push(problem(message, &format!("Set create_{other}_subnets to true, or use another layout.")));
    }
    if let (Some(mine), Some(theirs)) = (has_internet_access(config, tier), has_internet_access(config, owner))
        && mine.1 != theirs.1
    {
        let of = |(input, has): (String, bool)| format!("{has} for {input}");
        let message = format!(
            "The tiers {name} and {other} share route tables, so both have a default route to the NAT gateways or neither \
             has one. It is {} and {}.",
            of(mine),
            of(theirs)
        );
        problems.push(problem(message, "Use the same value for both tiers, or another layout."));
    }
    let with_ipv6 = tiers::with_blocks(config).unwrap_or_default();
    if let Some(egress) = tiers::egress(config).filter(|_| with_ipv6.contains(&tier) && with_ipv6.contains(&owner))
        && egress.tiers.contains(&tier) != egress.tiers.contains(&owner)
    {
        let (has, lacks) = if egress.tiers.contains(&tier) { (name, other) } else { (other, name) };
        let message = format!(
            "The tiers {name} and {other} share route tables, so both have an IPv6 default route to the egress-only internet \
             gateway or neither has one. It has internet access in {has} and not in {lacks}."
        );
        let hint =
            "Give both tiers the same internet access, remove one from ipv6_subnet_tiers, or use another layout.";
        problems.push(problem(message, hint));
    }
    let gateways = |tier: Tier| {
        let (input, gateways) = config.propagating_gateways(tier);
        let known: Option<BTreeSet<&String>> = gateways.known()?.iter().map(Input::known).collect();
        Some((input, known?))
    };
    if let (Some((mine, ours)), Some((theirs, others))) = (gateways(tier), gateways(owner))
        && ours != others
    {
        let message = format!(
            "The tiers {name} and {other} share route tables, so {mine} and {theirs} must have the same values. They are \
             {ours:?} and {others:?}."
        );
        problems.push(problem(message, "Use the same list for both tiers, or another layout."));
    }
    problems
}

/// Whether the tables of a tier have a default route to the NAT gateways, and the input that decides it. `None` if it
/// is unknown, or if there are no NAT gateways.
fn has_internet_access(config: &Config, tier: Tier) -> Option<(String, bool)> {
    if *config.num_nat_gateways.known()? == 0 {
        return None;
    }
    match tier {
        Tier::Public | Tier::PrivateApp => Some(("private_app, which always has one".to_string(), true)),
        Tier::PrivatePersistence => {
            let allowed = *config.allow_private_persistence_internet_access.known()?;
            Some(("allow_private_persistence_internet_access".to_string(), allowed))
        }
        Tier::Transit => {
            Some(("allow_transit_internet_access".to_string(), *config.allow_transit_internet_access.known()?))
        }
    }
}

/// The problem of a tier that uses the tables of a tier without a subnet in this AZ.
pub(super) fn missing(tier: Tier, owner: Tier, zone_id: &str) -> Problem {
    let (name, other) = (tier.slot(), owner.slot());
    Problem::new(
        AttributePath::new(NAME).key(name),
        format!("The tier {other} has no subnet in {zone_id}, so the subnet of {name} there has no route table."),
        format!("Add {zone_id} to the AZs of {other} in tier_availability_zone_ids, or use another layout."),
    )
}

/// The layout of each of these tiers; `None` if one is unknown.
pub(super) fn all(config: &Config, tiers: &[Tier]) -> Option<BTreeMap<Tier, Layout>> {
    tiers.iter().map(|tier| Some((*tier, of(config, *tier)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::config::tests::config;
    use super::super::fixtures::{blueprint, objects};
    use super::*;
    use crate::model::{Inventory, Ref, Spec};
    use crate::plugin::Value;

    fn layout(pairs: &[(&str, &str)]) -> (&'static str, Value) {
        (NAME, Value::map(pairs.iter().map(|(tier, layout)| (*tier, Value::from(*layout)))))
    }

    /// The route table of each subnet of the private tiers, by slot.
    fn tables(inputs: &[(&str, Value)]) -> Vec<(String, String)> {
        let objects = objects(&config(inputs), "ab");
        let of_association = |spec: &Spec| match spec {
            Spec::RouteTableAssociation(it) if !it.subnet.slot.contains("public") => match &it.route_table {
                Ref::Key(table) => {
                    Some((it.subnet.slot.replace("subnet.", ""), table.slot.replace("route_table.", "")))
                }
                Ref::Id(id) => panic!("{id}"),
            },
            _ => None,
        };
        objects.iter().filter_map(|object| of_association(&object.spec)).collect()
    }

    fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
        of.iter().map(|(subnet, table)| (subnet.to_string(), table.to_string())).collect()
    }

    #[test]
    fn subnets_share_the_tables_that_the_layout_names() {
        let open = ("allow_private_persistence_internet_access", true.into());
        let single = layout(&[("private_app", "per_tier"), ("private_persistence", "private_app")]);
        let expected = ["private_app.0", "private_app.1", "private_persistence.0", "private_persistence.1"];
        assert_eq!(tables(&[open.clone(), single]), pairs(&expected.map(|subnet| (subnet, "private_app"))));
        let per_az = layout(&[("private_persistence", "private_app")]);
        assert_eq!(
            tables(&[open, per_az]),
            pairs(&[
                ("private_app.0", "private_app.0"),
                ("private_app.1", "private_app.1"),
                ("private_persistence.0", "private_app.0"),
                ("private_persistence.1", "private_app.1"),
            ])
        );
    }

    #[test]
    fn a_subnet_without_a_table_in_its_az_is_an_error() {
        let zones = |tier: &str, ids: Vec<&str>| ("tier_availability_zone_ids", Value::map([(tier, Value::from(ids))]));
        let open = ("allow_private_persistence_internet_access", true.into());
        let per_az = layout(&[("private_persistence", "private_app")]);
        let inputs = [open.clone(), per_az, zones("private_app", vec!["az-a"])];
        let problems = blueprint(&config(&inputs), None, &Inventory::default(), "ab").expect_err("a table is missing");
        assert_eq!(problems[0].path, AttributePath::new(NAME).key("private_persistence"));
        assert!(problems[0].message.contains("az-b"), "{problems:?}");
        let single = layout(&[("private_app", "per_tier"), ("private_persistence", "private_app")]);
        let inputs = [open, single, zones("private_app", vec!["az-a"])];
        assert_eq!(tables(&inputs).len(), 3, "the single table serves every AZ");
    }
}
