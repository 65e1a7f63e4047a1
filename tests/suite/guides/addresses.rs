//! Generates the tables and maps of the guide on addresses from the code that allocates subnets.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fgw::model::{AvailabilityZone, Facts, Scope};
use fgw::model::{Entry, Inventory, Object, Spec, Subnet};
use fgw::plugin::{AttributePath, Nested as _, Value, schema};
use fgw::topology::four_tier_vpc::{Config, FourTierVpc};
use fgw::topology::{Blueprint, Context, Topology as _};
use ipnet::Ipv4Net;

use super::Guide;

/// Inputs in addition to the name and the range of the network.
type Inputs = Vec<(&'static str, Value)>;

/// The names of the tiers in slots and in the guide.
const TIERS: [(&str, &str); 4] = [
    ("public", "public"),
    ("private_app", "private app"),
    ("private_persistence", "private persistence"),
    ("transit", "transit"),
];

fn config(range: &str, inputs: &Inputs) -> Config {
    let mut value =
        Value::map([("vpc_name", "main".into()), ("cidr_block", range.into()), ("num_nat_gateways", 0_i64.into())]);
    for (name, input) in inputs {
        value.set(name, input.clone());
    }
    let value = schema::with_defaults(&Config::attributes(), &value);
    let mut problems = Vec::new();
    let config = Config::decode(&value, &AttributePath::root(), &mut problems);
    config.filter(|_| problems.is_empty()).unwrap_or_else(|| panic!("{problems:?}"))
}

/// A network after a sequence of configurations, each applied with the AZs that the Region had at that time.
struct Network {
    range: Ipv4Net,
    objects: Vec<Object>,
}

impl Network {
    fn after(range: &str, steps: &[(Inputs, &str)]) -> Self {
        let mut prior: Option<Config> = None;
        let mut objects: Vec<Object> = Vec::new();
        for (inputs, letters) in steps {
            let config = config(range, inputs);
            let entry = |object: &Object| Entry::new(object.key.clone(), &*object.key.slot, object.spec.clone());
            let existing = Inventory { entries: objects.iter().map(entry).collect() };
            objects = blueprint(&config, prior.as_ref(), &existing, letters);
            prior = Some(config);
        }
        Self { range: range.parse().expect("a range"), objects }
    }

    /// A new network in three AZs.
    fn new(range: &str, inputs: Inputs) -> Self {
        Self::after(range, &[(inputs, "abc")])
    }

    fn subnets(&self) -> impl Iterator<Item = (&str, &Subnet)> {
        self.objects.iter().filter_map(|object| match &object.spec {
            Spec::Subnet(subnet) => Some((object.key.slot.as_str(), subnet)),
            _ => None,
        })
    }

    fn block(&self, tier: &str, index: u32) -> Option<Ipv4Net> {
        let slot = format!("subnet.{tier}.{index}");
        let (_, subnet) = self.subnets().find(|(it, _)| *it == slot)?;
        Some(subnet.cidr_block.known().expect("nothing is unknown").parse().expect("a block"))
    }

    fn zones(&self) -> BTreeMap<u32, &str> {
        self.subnets().map(|(_, subnet)| (subnet.index, subnet.availability_zone.as_str())).collect()
    }

    /// A table with a column for each AZ and a row for each tier.
    fn table(&self) -> String {
        let zones = self.zones();
        let mut table = "| Tier |".to_owned();
        for (index, zone) in &zones {
            write!(table, " AZ {index}: {zone} |").expect("text grows");
        }
        table += &format!("\n|---|{}\n", "---|".repeat(zones.len()));
        for (slot, name) in TIERS {
            let block = |index: &u32| self.block(slot, *index).map(|block| block.to_string());
            let blocks: Vec<Option<String>> = zones.keys().map(block).collect();
            if blocks.iter().any(Option::is_some) {
                table += &format!("| {name} |");
                for block in blocks {
                    table += &block.map_or(" |".to_owned(), |block| format!(" {block} |"));
                }
                table.push('\n');
            }
        }
        table
    }

    /// A map with one character for each block of the smallest size: the index of the AZ that uses it.
    fn snapshot(&self) -> String {
        let smallest = self.subnets().filter_map(|(_, it)| it.cidr_block.known()?.parse().ok());
        let smallest = smallest.map(|block: Ipv4Net| block.prefix_len()).max().expect("there are subnets");
        let all: Vec<Ipv4Net> = self.range.subnets(smallest).expect("the range is larger").collect();
        let mut text = format!("{}: {} blocks of /{smallest}\n\n", self.range, all.len());
        let label = |name: &str| format!("{name:<20}");
        let tens =
            |number: usize| if number.is_multiple_of(10) { char::from(b'0' + (number / 10 % 10) as u8) } else { ' ' };
        let units = |number: usize| char::from(b'0' + (number % 10) as u8);
        text += &format!("{}{}\n", label("block number"), (0..all.len()).map(tens).collect::<String>().trim_end());
        text += &format!("{}{}\n", label(""), (0..all.len()).map(units).collect::<String>());
        for (slot, name) in TIERS {
            let indices: Vec<u32> =
                self.zones().into_keys().filter(|index| self.block(slot, *index).is_some()).collect();
            let holder = |block: &Ipv4Net| {
                let index = indices.iter().find(|index| self.block(slot, **index).is_some_and(|it| it.contains(block)));
                index.and_then(|index| char::from_digit(*index, 10)).unwrap_or('.')
            };
            if !indices.is_empty() {
                text += &format!("{}{}\n", label(name), all.iter().map(holder).collect::<String>());
            }
        }
        format!("```text\n{text}```\n")
    }
}

fn blueprint(config: &Config, prior: Option<&Config>, existing: &Inventory, letters: &str) -> Vec<Object> {
    let zone = |letter: char| AvailabilityZone {
        name: format!("eu-central-1{letter}"),
        id: format!("euc1-{letter}"),
        state: "available".into(),
    };
    let facts = Facts {
        availability_zones: Some(letters.chars().map(zone).collect()),
        gateway_endpoint_services: Some(["s3", "dynamodb"].map(|it| format!("com.amazonaws.eu-central-1.{it}")).into()),
        ..Facts::default()
    };
    let scope = Scope { partition: "aws".into(), region: "eu-central-1".into(), ..Scope::default() };
    match FourTierVpc::blueprint(&Context { config, prior, existing, scope: &scope, facts: &facts }) {
        Ok(Blueprint::Decided { objects, .. }) => objects,
        other => panic!("{other:?}"),
    }
}

fn transit() -> Inputs {
    vec![("create_transit_subnets", true.into())]
}

#[test]
fn guide_on_addresses_matches_the_code() {
    let mut guide = Guide::open("addresses.md");
    let plain = Network::new("10.0.0.0/16", Vec::new());
    guide.put("default", &plain.table());
    guide.put("default-picture", &plain.snapshot());
    let with_transit = Network::new("10.0.0.0/16", transit());
    guide.put("transit", &with_transit.table());
    guide.put("transit-picture", &with_transit.snapshot());
    let later = Network::after("10.0.0.0/16", &[(Vec::new(), "abc"), (transit(), "abc")]);
    guide.put("transit-later", &later.table());
    guide.put("transit-later-picture", &later.snapshot());
    let fourth = Network::after("10.0.0.0/16", &[(Vec::new(), "bcd"), (Vec::new(), "abcd")]);
    guide.put("zone-later", &fourth.table());
    let excluded = vec![("availability_zone_exclude_names", vec!["eu-central-1a"].into())];
    let replaced = Network::after("10.0.0.0/16", &[(Vec::new(), "abc"), (excluded, "abcd")]);
    guide.put("zone-exchanged", &replaced.table());
    let lists = Value::map([("private_persistence", Value::from(vec!["euc1-a", "euc1-c"]))]);
    let partial = vec![("tier_availability_zone_ids", lists)];
    let absent = Network::after("10.0.0.0/16", &[(Vec::new(), "abc"), (partial.clone(), "abc")]);
    guide.put("partial", &absent.table());
    assert_eq!(Network::new("10.0.0.0/16", partial).table(), absent.table(), "the guide says that no block changes");
    let entries = Value::map([("AZ-1", "10.0.240.0/24".into())]);
    let written = vec![("public_subnet_cidr_blocks", entries)];
    let explicit = Network::after("10.0.0.0/16", &[(Vec::new(), "abc"), (written.clone(), "abc")]);
    guide.put("explicit", &explicit.table());
    let removed = Network::after("10.0.0.0/16", &[(Vec::new(), "abc"), (written, "abc"), (Vec::new(), "abc")]);
    assert_eq!(removed.table(), explicit.table(), "the guide says that removing an entry moves nothing");
    let sizes = vec![("public_subnet_bits", 8_i64.into()), ("private_subnet_bits", 3_i64.into())];
    let sizes: Inputs = sizes.into_iter().chain([("private_subnet_spacing", 2_i64.into())]).collect();
    let sized = Network::new("10.0.0.0/16", sizes);
    guide.put("sizes", &sized.table());
    let small = Network::new("10.20.0.0/20", Vec::new());
    guide.put("small", &small.table());
    guide.put("small-picture", &small.snapshot());
    guide.check();
}
