//! The tier of a subnet, from its tags, its name and its routes.

use super::OBJECT;
use crate::model::keys::network::tier_of as tier_of_slot;
use crate::model::{FoundRouteTable, FoundSubnet, NetworkLandscape, Tier};

/// The tags with which builders of networks mark the kind of a subnet.
const KIND_TAGS: [&str; 3] = ["aws-cdk:subnet-type", "SubnetType", "cpco.io/subnet/type"];

/// Words in names and tags, in the order in which they decide. `private` alone is also part of the names of other
/// tiers.
const WORDS: [(&str, Tier); 12] = [
    ("public", Tier::Public),
    ("dmz", Tier::Public),
    ("persistence", Tier::PrivatePersistence),
    ("database", Tier::PrivatePersistence),
    ("db", Tier::PrivatePersistence),
    ("data", Tier::PrivatePersistence),
    ("rds", Tier::PrivatePersistence),
    ("isolated", Tier::PrivatePersistence),
    ("transit", Tier::Transit),
    ("tgw", Tier::Transit),
    ("intra", Tier::Transit),
    ("private", Tier::PrivateApp),
];

/// Where the default route of a table leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    InternetGateway,
    NatGateway,
    /// There is no default route.
    Nowhere,
    /// A transit gateway, a firewall or an instance, which tells nothing about the tier.
    Elsewhere,
}

/// The tier of a subnet, or why it has none.
pub(super) fn tier_of(
    subnet: &FoundSubnet,
    table: Option<&FoundRouteTable>,
    landscape: &NetworkLandscape,
) -> Result<Tier, String> {
    if let Some(tier) = subnet.tags.get(OBJECT).and_then(|slot| tier_of_slot("subnet.", slot)) {
        return Ok(tier);
    }
    let way = table.map_or(Way::Nowhere, way_of);
    let by_routes = match way {
        Way::InternetGateway => Some(Tier::Public),
        Way::NatGateway => Some(Tier::PrivateApp),
        Way::Nowhere => Some(Tier::PrivatePersistence),
        Way::Elsewhere => None,
    };
    match (by_tags(subnet), by_routes) {
        (Some((tier, because)), _) => match is_possible(tier, way, landscape) {
            true => Ok(tier),
            false => Err(format!("its {because} indicates the tier {}, but {}", tier.slot(), described(way))),
        },
        (None, Some(tier)) => Ok(tier),
        (None, None) => Err("neither its name and tags nor its routes indicate a tier".to_string()),
    }
}

/// The number at the end of the name of a subnet, or in its tag of an earlier adoption.
pub(super) fn number_of(subnet: &FoundSubnet) -> Option<u32> {
    let text = subnet.tags.get(OBJECT).or_else(|| subnet.tags.get("Name"))?;
    text.rsplit(['-', '.', '_']).next()?.parse().ok()
}

/// The tier that tags indicate, and which of them.
fn by_tags(subnet: &FoundSubnet) -> Option<(Tier, String)> {
    let of_words = |text: &str| {
        // The path before it consists of the names of stacks and clusters, in names such as `Data/Vpc/PublicSubnet1`.
        let text = text.rsplit('/').next().unwrap_or_default().to_lowercase();
        let words: Vec<&str> = text.split(|it: char| !it.is_alphanumeric()).collect();
        WORDS.into_iter().find(|(word, _)| words.contains(word)).map(|(_, tier)| tier)
    };
    let of_tag = |key: &str| {
        let value = subnet.tags.get(key)?;
        Some((of_words(value)?, format!("tag {key} = {value:?}")))
    };
    let kinds = KIND_TAGS.iter().find_map(|key| of_tag(key));
    let role = |key: &str, tier: Tier| subnet.tags.contains_key(key).then(|| (tier, format!("tag {key}")));
    kinds
        .or_else(|| of_tag("Name"))
        .or_else(|| role("kubernetes.io/role/elb", Tier::Public))
        .or_else(|| role("kubernetes.io/role/internal-elb", Tier::PrivateApp))
}

/// Whether a subnet of a tier can have this default route.
fn is_possible(tier: Tier, way: Way, landscape: &NetworkLandscape) -> bool {
    match (tier, way) {
        (_, Way::Elsewhere) => true,
        (Tier::Public, way) => way == Way::InternetGateway || landscape.internet_gateways.is_empty(),
        (_, Way::InternetGateway) => false,
        (Tier::PrivateApp, Way::Nowhere) => landscape.nat_gateways.is_empty(),
        _ => true,
    }
}

fn way_of(table: &FoundRouteTable) -> Way {
    let default = table.routes.iter().find(|(destination, _)| destination == "0.0.0.0/0");
    match default.map(|(_, target)| target.split('-').next().unwrap_or_default()) {
        Some("igw") => Way::InternetGateway,
        Some("nat") => Way::NatGateway,
        Some(_) => Way::Elsewhere,
        None => Way::Nowhere,
    }
}

fn described(way: Way) -> &'static str {
    match way {
        Way::InternetGateway => "its default route leads to an internet gateway",
        Way::NatGateway => "its default route leads to a NAT gateway",
        Way::Nowhere => "it has no default route",
        Way::Elsewhere => "its default route leads to neither an internet gateway nor a NAT gateway",
    }
}
