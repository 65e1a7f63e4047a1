//! Properties of every network, whatever its inputs.

use std::collections::BTreeMap;

use ipnet::Ipv4Net;
use proptest::prelude::*;

use super::config::tests::config;
use super::fixtures::{applied, blueprint};
use super::settings::{Place, settings};
use super::{Config, FourTierVpc, tests};
use crate::model::keys::network;
use crate::model::{Ids, Inventory, Object, Spec, Tier};
use crate::plugin::Value;
use crate::topology::settings::{Picks, some_picks, with_picks};
use crate::topology::{Blueprint, protected};

const PLACE: Place = Place { region: "eu-central-1", zone_ids: ["az-a", "az-b", "az-c"], zone_names: ["a", "b", "c"] };

/// Inputs that users change during the life of a network.
#[derive(Clone, Debug)]
struct Case {
    zones: usize,
    tiers: [bool; 4],
    /// The AZs of each tier by index, if it has an entry.
    tier_zones: [Option<[bool; 6]>; 4],
    nats: i64,
    igw: bool,
    one_table: bool,
    layout: usize,
    allow: bool,
    spacing: i64,
    bits: [i64; 4],
    entry: Option<(u32, u8)>,
    /// Whether to enable IPv6, private NAT and the rules of the default network ACL, and to add a secondary range.
    extras: [bool; 4],
    /// The position of a set in [`TIERS_WITH_IPV6`], and whether there is an egress-only internet gateway.
    ipv6: (usize, Option<bool>),
    unknown: Option<usize>,
}

/// Layouts of route tables that every other input allows: the tiers that share tables agree if `allow` is set.
const LAYOUTS: [&[(&str, &str)]; 4] = [
    &[],
    &[("private_app", "per_tier"), ("private_persistence", "per_tier")],
    &[("private_app", "per_tier"), ("transit", "private_app")],
    &[("private_persistence", "transit"), ("private_app", "per_subnet")],
];

const TIERS_WITH_IPV6: [&[&str]; 4] =
    [&["public"], &["private_app"], &["private_app", "public"], &["private_persistence", "public", "transit"]];

const SECONDARY: &str = "100.64.0.0/16";

const UNKNOWABLE: [&str; 16] = [
    "tier_availability_zone_ids",
    "secondary_cidr_blocks",
    "cidr_block",
    "vpc_name",
    "subnet_spacing",
    "public_subnet_bits",
    "transit_subnet_spacing",
    "custom_tags",
    "name_tags",
    "route_table_layout",
    "ipv6_subnet_bits",
    "public_subnet_ipv6_cidr_blocks",
    "private_propagating_vgws",
    "ipv6_subnet_tiers",
    "create_egress_only_igw",
    "assign_ipv6_address_on_creation_tiers",
];

impl Case {
    fn config(&self) -> Config {
        config(&self.attributes())
    }

    /// The configuration with some settings.
    fn config_with(&self, picks: &Picks) -> Config {
        let settings = settings(&PLACE);
        let basis = [("cidr_block", "10.0.0.0/16".into()), ("vpc_name", "main".into())];
        let basis = Value::map(basis.into_iter().chain(self.attributes()));
        let with_settings = with_picks::<FourTierVpc>(basis, &settings, picks).into_map();
        let attributes: Vec<_> = with_settings.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        config(&attributes)
    }

    fn attributes(&self) -> Vec<(&'static str, Value)> {
        let mut attributes: Vec<(&'static str, Value)> = vec![
            ("create_public_subnets", self.tiers[0].into()),
            ("create_private_app_subnets", self.tiers[1].into()),
            ("create_private_persistence_subnets", self.tiers[2].into()),
            ("create_transit_subnets", self.tiers[3].into()),
            ("create_igw", self.igw.into()),
            ("num_nat_gateways", self.nats.into()),
            ("one_route_table_public_subnets", self.one_table.into()),
            (
                "route_table_layout",
                Value::map(LAYOUTS[self.layout].iter().map(|(tier, layout)| (*tier, (*layout).into()))),
            ),
            ("allow_private_persistence_internet_access", self.allow.into()),
            ("allow_transit_internet_access", self.allow.into()),
            ("subnet_spacing", self.spacing.into()),
            ("public_subnet_bits", self.bits[0].into()),
            ("private_subnet_bits", self.bits[1].into()),
            ("persistence_subnet_bits", self.bits[2].into()),
            ("transit_subnet_bits", self.bits[3].into()),
            ("enable_ipv6", self.extras[0].into()),
            ("assign_generated_ipv6_cidr_block", true.into()),
            ("ipv6_subnet_tiers", TIERS_WITH_IPV6[self.ipv6.0].to_vec().into()),
            ("create_egress_only_igw", self.ipv6.1.into()),
            ("enable_private_nat", self.extras[1].into()),
            ("apply_default_nacl_rules", self.extras[2].into()),
        ];
        if self.extras[3] {
            attributes.push(("secondary_cidr_blocks", vec![SECONDARY].into()));
        }
        if let Some((index, number)) = self.entry {
            let range = if self.extras[3] && number > 99 { "100.64" } else { "10.0" };
            let entry = Value::map([(format!("AZ-{index}"), format!("{range}.{number}.0/24").into())]);
            attributes.push(("private_app_subnet_cidr_blocks", entry));
        }
        let listed = Tier::ALL.into_iter().zip(self.tier_zones).filter_map(|(tier, given)| Some((tier.slot(), given?)));
        let ids = |given: [bool; 6]| -> Vec<String> {
            let letters = self.letters().chars().zip(given).filter(|(_, is_listed)| *is_listed);
            letters.map(|(letter, _)| format!("az-{letter}")).collect()
        };
        let entries = listed.map(|(tier, given)| (tier, ids(given))).filter(|(_, ids)| !ids.is_empty());
        attributes.push(("tier_availability_zone_ids", Value::map(entries.map(|(tier, ids)| (tier, ids.into())))));
        if let Some(unknown) = self.unknown {
            attributes.push((UNKNOWABLE[unknown], Value::Unknown));
        }
        attributes
    }

    fn letters(&self) -> &'static str {
        &"abcdef"[..self.zones]
    }
}

fn case() -> impl Strategy<Value = Case> {
    let tier_zones = prop::array::uniform4(prop::option::weighted(0.3, any::<[bool; 6]>()));
    (
        (
            1..=6_usize,
            any::<[bool; 4]>(),
            tier_zones,
            0..5_i64,
            any::<bool>(),
            (any::<bool>(), 0..LAYOUTS.len()),
            any::<bool>(),
        ),
        (6..11_i64, [4..7_i64, 4..7, 4..7, 4..7], prop::option::weighted(0.3, (0..6_u32, any::<u8>()))),
        (any::<[bool; 4]>(), (0..TIERS_WITH_IPV6.len(), prop::option::of(any::<bool>()))),
        prop::option::weighted(0.3, 0..UNKNOWABLE.len()),
    )
        .prop_map(
            |(
                (zones, tiers, tier_zones, nats, igw, (one_table, layout), allow),
                (spacing, bits, entry),
                (extras, ipv6),
                unknown,
            )| Case {
                zones,
                tiers,
                tier_zones,
                nats,
                igw,
                one_table,
                layout,
                allow,
                spacing,
                bits,
                entry,
                extras,
                ipv6,
                unknown,
            },
        )
}

fn known_case() -> impl Strategy<Value = Case> {
    case().prop_map(|case| Case { unknown: None, ..case })
}

fn decided(config: &Config, prior: Option<&Config>, existing: &Inventory, letters: &str) -> Option<Vec<Object>> {
    match blueprint(config, prior, existing, letters) {
        Ok(Blueprint::Decided { objects, .. }) => Some(objects),
        _ => None,
    }
}

fn blocks(objects: &[Object]) -> BTreeMap<(Tier, u32, String), Ipv4Net> {
    objects
        .iter()
        .filter_map(|object| match &object.spec {
            Spec::Subnet(it) => {
                let site = (it.tier, it.index, it.availability_zone_id.clone());
                Some((site, it.cidr_block.known()?.parse().unwrap()))
            }
            _ => None,
        })
        .collect()
}

fn assert_apart_and_inside(blocks: &BTreeMap<(Tier, u32, String), Ipv4Net>) -> Result<(), TestCaseError> {
    let ranges: [Ipv4Net; 2] = ["10.0.0.0/16", SECONDARY].map(|range| range.parse().unwrap());
    for (site, block) in blocks {
        prop_assert!(ranges.iter().any(|range| range.contains(block)), "{site:?} {block}");
        for (other_site, other) in blocks.iter().filter(|(other, _)| *other != site) {
            prop_assert!(!block.contains(other), "{site:?} {block} {other_site:?} {other}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn dependencies_come_first_and_slots_are_unique(case in case(), picks in some_picks()) {
        let Some(objects) = decided(&case.config_with(&picks), None, &Inventory::default(), case.letters()) else { return Ok(()) };
        for (position, object) in objects.iter().enumerate() {
            let before = &objects[..position];
            prop_assert!(before.iter().all(|it| it.key.slot != object.key.slot), "{} occurs twice", object.key);
            prop_assert!(protected::is_possible(&object.key.slot, &network::slots()), "{} has no slot", object.key);
            let needs = object.spec.needs().into_iter().map(|need| need.key);
            for need in needs.chain(object.after.iter().cloned()) {
                prop_assert!(before.iter().any(|it| it.key == need), "{} precedes its dependency {need}", object.key);
            }
        }
    }

    #[test]
    fn outputs_fit_their_types(case in case(), picks in some_picks()) {
        let config = case.config_with(&picks);
        let Some(objects) = decided(&config, None, &Inventory::default(), case.letters()) else { return Ok(()) };
        tests::assert_outputs_conform(&config, Some(&objects), &Ids::default());
        tests::assert_outputs_conform(&config, Some(&objects), &tests::ids_of(&objects));
    }

    #[test]
    fn addresses_stay_through_any_changes(sequence in prop::collection::vec(known_case(), 1..6)) {
        let (mut prior, mut existing): (Option<Config>, _) = (None, Inventory::default());
        let mut before: BTreeMap<(Tier, u32, String), Ipv4Net> = BTreeMap::new();
        for case in sequence {
            let config = case.config();
            let Some(objects) = decided(&config, prior.as_ref(), &existing, case.letters()) else { continue };
            let after = blocks(&objects);
            assert_apart_and_inside(&after)?;
            for (site, block) in &before {
                let own_entry = case.entry.is_some_and(|(index, _)| (Tier::PrivateApp, index) == (site.0, site.1));
                let bits_changed = prior.as_ref().is_some_and(|prior| prior.bits(site.0).1 != config.bits(site.0).1);
                let loses_range = !case.extras[3] && block.to_string().starts_with("100.");
                if let Some(now) = after.get(site).filter(|_| !own_entry && !bits_changed && !loses_range) {
                    prop_assert_eq!(now, block, "{:?}", site);
                }
            }
            existing = applied(&objects);
            let again = decided(&config, Some(&config), &existing, case.letters());
            prop_assert_eq!(again.as_ref(), Some(&objects), "a second plan has no changes");
            (before, prior) = (after, Some(config));
        }
    }
}
