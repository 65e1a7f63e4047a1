use proptest::prelude::*;

use super::*;
use crate::model::{FoundNatGateway, FoundObject, FoundTags};

fn tags(pairs: &[(&str, &str)]) -> FoundTags {
    pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

fn subnet(id: &str, name: &str, zone: &str, number: u8) -> FoundSubnet {
    let cidr_block = format!("10.0.{number}.0/24");
    FoundSubnet { id: id.into(), tags: tags(&[("Name", name)]), zone: zone.into(), cidr_block, has_ipv6: false }
}

fn table(id: &str, target: Option<&str>, subnets: &[&str]) -> FoundRouteTable {
    let local = ("10.0.0.0/16".to_string(), "local".to_string());
    let default = target.map(|target| ("0.0.0.0/0".to_string(), target.to_string()));
    FoundRouteTable {
        id: id.into(),
        associated: subnets.iter().map(|id| id.to_string()).collect(),
        routes: [local].into_iter().chain(default).collect(),
        ..FoundRouteTable::default()
    }
}

/// Two AZs with public, private and database subnets, one NAT gateway, and one table for all private subnets.
pub(in super::super) fn landscape() -> NetworkLandscape {
    NetworkLandscape {
        vpc_id: "vpc-1".into(),
        vpc_tags: tags(&[("Name", "shop")]),
        vpc_cidr_block: "10.0.0.0/16".into(),
        subnets: vec![
            subnet("subnet-pa", "shop-public-a", "eu-central-1a", 1),
            subnet("subnet-pb", "shop-public-b", "eu-central-1b", 2),
            subnet("subnet-aa", "shop-private-a", "eu-central-1a", 11),
            subnet("subnet-ab", "shop-private-b", "eu-central-1b", 12),
            subnet("subnet-da", "shop-db-a", "eu-central-1a", 21),
            subnet("subnet-db", "shop-db-b", "eu-central-1b", 22),
        ],
        route_tables: vec![
            FoundRouteTable { is_main: true, ..table("rtb-main", None, &[]) },
            table("rtb-public", Some("igw-1"), &["subnet-pa", "subnet-pb"]),
            table("rtb-private", Some("nat-1"), &["subnet-aa", "subnet-ab"]),
            table("rtb-db", None, &["subnet-da", "subnet-db"]),
        ],
        internet_gateways: vec![FoundObject { id: "igw-1".into(), ..FoundObject::default() }],
        nat_gateways: vec![FoundNatGateway {
            id: "nat-1".into(),
            subnet: "subnet-pa".into(),
            ..FoundNatGateway::default()
        }],
        ..NetworkLandscape::default()
    }
}

pub(in super::super) fn slot<'a>(result: &'a Classification, id: &str) -> &'a str {
    result.slots.get(id).map_or_else(|| panic!("{id} has no place: {result:#?}"), String::as_str)
}

pub(in super::super) fn reason<'a>(result: &'a Classification, id: &str) -> &'a str {
    result.unmanaged.get(id).map_or_else(|| panic!("{id} is not rejected: {result:#?}"), String::as_str)
}

#[test]
fn names_and_routes_give_every_object_its_place() {
    let result = classify(&landscape());
    let places = [
        ("vpc-1", "vpc"),
        ("igw-1", "internet_gateway"),
        ("subnet-pa", "subnet.public.0"),
        ("subnet-ab", "subnet.private_app.1"),
        ("subnet-db", "subnet.private_persistence.1"),
        ("rtb-public", "route_table.public"),
        ("rtb-private", "route_table.private_app"),
        ("rtb-db", "route_table.private_persistence"),
        ("nat-1", "nat_gateway.0"),
    ];
    for (id, place) in places {
        assert_eq!(slot(&result, id), place, "{id}");
    }
    assert_eq!(result.slots.len(), 12);
    assert_eq!(result.unmanaged, BTreeMap::new());
}

/// A network with nodes in the primary range and pods in a secondary one, which sorts before it. Both use one table.
fn with_pods() -> NetworkLandscape {
    let mut found = landscape();
    found.vpc_cidr_block = "192.168.0.0/16".into();
    found.subnets.retain(|subnet| !subnet.id.starts_with("subnet-d"));
    for subnet in &mut found.subnets {
        subnet.cidr_block = subnet.cidr_block.replace("10.0.", "192.168.");
    }
    found.route_tables.retain(|table| table.id != "rtb-db");
    for (id, zone, block) in [("a", "eu-central-1a", "100.64.0.0/17"), ("b", "eu-central-1b", "100.64.128.0/17")] {
        let pods = subnet(&format!("subnet-pods-{id}"), &format!("shop-private-pods-{id}"), zone, 0);
        found.subnets.push(FoundSubnet { cidr_block: block.into(), ..pods });
    }
    let private = found.route_tables.iter_mut().find(|table| table.id == "rtb-private").unwrap();
    private.associated.extend(["subnet-pods-a", "subnet-pods-b"].map(String::from));
    let cidr_block = "100.64.0.0/16".to_string();
    let range = crate::model::VpcCidrBlock { vpc: crate::model::Key::new("vpc"), cidr_block };
    let object = FoundObject { id: "vpc-cidr-assoc-1".into(), ..FoundObject::default() };
    found.others.push((object, crate::model::Spec::VpcCidrBlock(range)));
    found
}

#[test]
fn pods_in_a_secondary_range_get_a_tier_of_their_own() {
    let result = classify(&with_pods());
    for (id, place) in [
        ("subnet-aa", "subnet.private_app.0"),
        ("subnet-ab", "subnet.private_app.1"),
        ("subnet-pods-a", "subnet.private_persistence.0"),
        ("subnet-pods-b", "subnet.private_persistence.1"),
        ("rtb-private", "route_table.private_app"),
        ("vpc-cidr-assoc-1", "cidr_block.100.64.0.0/16"),
    ] {
        assert_eq!(slot(&result, id), place, "{id}");
    }
    assert_eq!(result.unmanaged, BTreeMap::new());
}

#[test]
fn pods_stay_unmanaged_if_no_tier_is_free_for_them() {
    let mut found = with_pods();
    for name in ["db", "transit"] {
        let id = format!("subnet-{name}");
        let other = subnet(&id, &format!("shop-{name}-a"), "eu-central-1a", 0);
        let cidr_block = format!("192.168.{}.0/24", 100 + name.len());
        found.subnets.push(FoundSubnet { cidr_block, ..other });
        found.route_tables.push(table(&format!("rtb-{name}"), None, &[&id]));
    }
    let private = found.route_tables.iter_mut().find(|table| table.id == "rtb-private").unwrap();
    private.associated.retain(|id| !id.contains("pods"));
    found.route_tables.push(table("rtb-pods", Some("nat-1"), &["subnet-pods-a", "subnet-pods-b"]));
    let result = classify(&found);
    assert_eq!(slot(&result, "subnet-aa"), "subnet.private_app.0", "the primary range comes first");
    let pods = reason(&result, "subnet-pods-a");
    assert_eq!(pods, "subnet-aa is the subnet of the tier private_app in eu-central-1a already");
}

#[test]
fn a_subnet_without_ipv4_takes_no_place() {
    let mut found = landscape();
    let v6 = subnet("subnet-v6", "shop-private-a", "eu-central-1a", 0);
    found.subnets.push(FoundSubnet { cidr_block: String::new(), ..v6 });
    let result = classify(&found);
    let v6 = reason(&result, "subnet-v6");
    assert!(v6.contains("no input expresses an IPv6-only subnet"), "{v6}");
}

#[test]
fn routes_decide_about_subnets_without_telling_names() {
    let mut found = landscape();
    for (number, subnet) in found.subnets.iter_mut().enumerate() {
        subnet.tags = tags(&[("Name", &format!("n{number}"))]);
    }
    let result = classify(&found);
    assert_eq!(slot(&result, "subnet-pa"), "subnet.public.0");
    assert_eq!(slot(&result, "subnet-aa"), "subnet.private_app.0");
    assert_eq!(slot(&result, "subnet-da"), "subnet.private_persistence.0");
}

#[test]
fn tags_of_other_tools_decide_before_routes() {
    let mut found = landscape();
    let further = [
        // AWS CDK and eksctl begin names with those of the stack, which tell nothing about the tier.
        ("data/Vpc/PublicSubnet1", "aws-cdk:subnet-type", "Public"),
        ("eksctl-data-cluster/SubnetPublicB", "kubernetes.io/role/elb", "1"),
        ("public/Vpc/PrivateSubnet1", "aws-cdk:subnet-type", "Private"),
        ("eksctl-data-cluster/SubnetPrivateB", "kubernetes.io/role/internal-elb", "1"),
        ("data/Vpc/IsolatedSubnet1", "aws-cdk:subnet-type", "Isolated"),
        ("data/Vpc/IsolatedSubnet2", "aws-cdk:subnet-type", "Isolated"),
    ];
    for (subnet, (name, tag, value)) in found.subnets.iter_mut().zip(further) {
        subnet.tags = tags(&[("Name", name), (tag, value)]);
    }
    for table in &mut found.route_tables[1..] {
        // A route to a transit gateway tells nothing.
        table.routes[1..].iter_mut().for_each(|(_, target)| *target = "tgw-1".into());
    }
    let result = classify(&found);
    for (id, place) in [
        ("subnet-pa", "subnet.public.0"),
        ("subnet-pb", "subnet.public.1"),
        ("subnet-aa", "subnet.private_app.0"),
        ("subnet-ab", "subnet.private_app.1"),
        ("subnet-da", "subnet.private_persistence.0"),
        ("subnet-db", "subnet.private_persistence.1"),
    ] {
        assert_eq!(slot(&result, id), place, "{id}");
    }
}

#[test]
fn tiers_share_tables_only_if_they_use_the_same_one_in_each_az() {
    let mut found = landscape();
    found.route_tables[2] = table("rtb-a", None, &["subnet-aa", "subnet-db"]);
    found.route_tables[3] = table("rtb-b", None, &["subnet-ab", "subnet-da"]);
    found.nat_gateways.clear();
    let result = classify(&found);
    assert_eq!(slot(&result, "rtb-b"), "route_table.private_app.1");
    assert!(reason(&result, "subnet-da").contains("not the same one in each AZ"));
    found.route_tables[2].associated = vec!["subnet-aa".into(), "subnet-da".into()];
    found.route_tables[3].associated = vec!["subnet-ab".into(), "subnet-db".into()];
    assert_eq!(classify(&found).unmanaged, BTreeMap::new());

    // One table serves a single subnet of one tier and two of another.
    found.subnets.retain(|subnet| subnet.id != "subnet-ab");
    found.route_tables[2] = table("rtb-a", None, &["subnet-aa", "subnet-da", "subnet-db"]);
    found.route_tables.pop();
    let result = classify(&found);
    assert_eq!(slot(&result, "rtb-a"), "route_table.private_app");
    assert_eq!(result.unmanaged, BTreeMap::new());
}

#[test]
fn evidence_that_disagrees_is_reported() {
    let mut found = landscape();
    found.subnets[0].tags = tags(&[("Name", "shop-private-x")]);
    let result = classify(&found);
    let reason = reason(&result, "subnet-pa");
    assert!(reason.contains("shop-private-x") && reason.contains("internet gateway"), "{reason}");
}

#[test]
fn a_default_route_to_something_else_decides_nothing() {
    let mut found = landscape();
    found.route_tables[2] = table("rtb-private", Some("tgw-1"), &["subnet-aa", "subnet-ab"]);
    assert_eq!(slot(&classify(&found), "subnet-aa"), "subnet.private_app.0");
    found.subnets[2].tags.clear();
    assert!(reason(&classify(&found), "subnet-aa").contains("neither its name and tags nor its routes"));
}

#[test]
fn objects_of_another_resource_are_never_proposed() {
    let mut found = landscape();
    found.subnets[4].tags.insert("fgw:resource".into(), "four_tier_vpc/vpc-2".into());
    found.nat_gateways[0].tags = tags(&[("fgw:resource", "http_gateway/x")]);
    let result = classify(&found);
    assert!(reason(&result, "subnet-da").contains("four_tier_vpc/vpc-2"));
    assert!(reason(&result, "nat-1").contains("another resource"));
    assert!(!result.slots.contains_key("subnet-da") && !result.slots.contains_key("nat-1"));
}

#[test]
fn a_vpc_of_another_kind_of_resource_is_rejected() {
    let mut found = landscape();
    found.vpc_tags.insert("fgw:resource".into(), "http_gateway/x".into());
    let result = classify(&found);
    assert!(reason(&result, "vpc-1").contains("http_gateway/x"));
    assert_eq!(result.slots, BTreeMap::new());
}

#[test]
fn tags_of_an_interrupted_adoption_decide_first() {
    let mut found = landscape();
    found.subnets[4].tags =
        tags(&[("fgw:resource", "four_tier_vpc/vpc-1"), ("fgw:object", "subnet.transit.0"), ("Name", "shop-db-a")]);
    found.subnets[5].tags =
        tags(&[("fgw:resource", "four_tier_vpc/vpc-1"), ("fgw:object", "subnet.transit.1"), ("Name", "shop-db-b")]);
    let result = classify(&found);
    assert_eq!((slot(&result, "subnet-da"), slot(&result, "rtb-db")), ("subnet.transit.0", "route_table.transit"));
}

#[test]
fn a_tier_has_one_subnet_in_each_az() {
    let mut found = landscape();
    found.subnets.push(subnet("subnet-aa2", "shop-private-a2", "eu-central-1a", 13));
    found.route_tables[2].associated.push("subnet-aa2".into());
    let result = classify(&found);
    assert!(reason(&result, "subnet-aa2").contains("subnet-aa is the subnet of the tier private_app in eu-central-1a"));
    assert!(reason(&result, "subnet-aa").contains("is also that of subnet-aa2"), "its table serves another subnet");
}

#[test]
fn the_main_route_table_can_be_that_of_a_whole_tier() {
    let mut found = landscape();
    found.route_tables[3].associated.clear();
    let result = classify(&found);
    assert_eq!(slot(&result, "rtb-main"), "route_table.private_persistence");
    assert_eq!(slot(&result, "subnet-da"), "subnet.private_persistence.0");
    assert!(reason(&result, "rtb-db").contains("no subnet"));

    // It also serves a subnet that stays unmanaged.
    found.subnets.push(subnet("subnet-da2", "shop-db-a2", "eu-central-1a", 23));
    assert_eq!(slot(&classify(&found), "rtb-main"), "route_table.private_persistence");

    // It is never the table of a single AZ.
    found.subnets.retain(|subnet| subnet.id == "subnet-da" || !subnet.id.starts_with("subnet-d"));
    assert_eq!(slot(&classify(&found), "rtb-main"), "route_table.private_persistence");
    found.subnets.push(subnet("subnet-db", "shop-db-b", "eu-central-1b", 22));
    found.route_tables[3].associated = vec!["subnet-db".into()];
    let result = classify(&found);
    assert!(reason(&result, "subnet-da").contains("use the main route table rtb-main, and others do not"));
    assert!(!result.slots.contains_key("rtb-main"), "{result:#?}");
}

#[test]
fn tables_that_inputs_cannot_express_are_rejected() {
    let mut found = landscape();
    found.subnets.push(subnet("subnet-ac", "shop-private-c", "eu-central-1c", 13));
    found.route_tables.push(table("rtb-c", Some("nat-1"), &["subnet-ac"]));
    let result = classify(&found);
    assert!(reason(&result, "subnet-ac").contains("some subnets of the tier private_app share a route table"));
    assert_eq!(slot(&result, "subnet-pa"), "subnet.public.0", "other tiers are not affected");
}

#[test]
fn tiers_may_share_the_table_of_one_of_them() {
    let mut found = landscape();
    found.route_tables.truncate(3);
    found.route_tables[2].associated.extend(["subnet-da".into(), "subnet-db".into()]);
    let result = classify(&found);
    assert_eq!(slot(&result, "rtb-private"), "route_table.private_app");
    assert_eq!(slot(&result, "subnet-da"), "subnet.private_persistence.0");
    assert_eq!(result.unmanaged, BTreeMap::new());
}

#[test]
fn numbers_in_names_are_indices_if_they_identify_the_azs() {
    let mut found = landscape();
    let zones = ["b", "a"];
    for subnet in &mut found.subnets {
        let letter = subnet.zone.chars().last().expect("a letter").to_string();
        let number = zones.iter().position(|zone| *zone == letter).expect("two AZs");
        let name = format!("{}-{number}", subnet.tags["Name"]);
        subnet.tags.insert("Name".into(), name);
    }
    assert_eq!(slot(&classify(&found), "subnet-pb"), "subnet.public.0");
    found.subnets[0].tags.insert("Name".into(), "shop-public-0".into());
    assert_eq!(slot(&classify(&found), "subnet-pa"), "subnet.public.0", "the numbers disagree, so zone names count");
}

#[test]
fn a_mixture_of_nat_gateways_is_not_proposed() {
    let mut found = landscape();
    let private = FoundNatGateway {
        id: "nat-2".into(),
        subnet: "subnet-aa".into(),
        is_private: true,
        ..FoundNatGateway::default()
    };
    found.nat_gateways.push(private);
    let result = classify(&found);
    assert!(reason(&result, "nat-2").contains("public or private"));
    assert_eq!(slot(&result, "nat-1"), "nat_gateway.0");
}

/// A network that no blueprint describes: any subnets with any names and tables, and any gateways.
fn some_landscape() -> impl Strategy<Value = NetworkLandscape> {
    let names = ["public", "private", "db", "x-intra", "tgw", "n", "app-private-0", "app-private-1", ""];
    let some_subnet = (prop::sample::select(names.to_vec()), 0..3_u8, prop::option::of(0..4_usize), 0..10_u8);
    let some_table = (prop::sample::select(vec!["", "igw-1", "nat-0", "nat-1", "tgw-1", "eni-1"]), any::<bool>());
    let some_gateway = (0..8_usize, any::<bool>(), 0..12_u8);
    (
        prop::collection::vec(some_subnet, 0..9),
        prop::collection::vec(some_table, 4),
        prop::collection::vec(some_gateway, 0..3),
        any::<bool>(),
    )
        .prop_map(|(subnets, tables, gateways, has_internet_gateway)| {
            let owner = |number: u8| match number {
                0 => tags(&[("fgw:resource", "four_tier_vpc/vpc-2")]),
                _ => FoundTags::new(),
            };
            let found = subnets.iter().enumerate().map(|(number, (name, zone, _, owned))| {
                let zone = format!("eu-central-1{}", char::from(b'a' + zone));
                let mut subnet = subnet(&format!("subnet-{number}"), name, &zone, number as u8);
                subnet.tags.extend(owner(*owned));
                subnet
            });
            let users = |table: usize| {
                let uses = subnets.iter().enumerate().filter(move |(_, subnet)| subnet.2 == Some(table));
                uses.map(|(number, _)| format!("subnet-{number}")).collect::<Vec<_>>()
            };
            let tables = tables.iter().enumerate().map(|(number, (target, _))| {
                let users = users(number);
                let users: Vec<&str> = users.iter().map(String::as_str).collect();
                let target = Some(*target).filter(|target| !target.is_empty());
                FoundRouteTable { is_main: number == 0, ..table(&format!("rtb-{number}"), target, &users) }
            });
            let gateways = gateways.iter().enumerate().map(|(number, (subnet, is_private, owned))| FoundNatGateway {
                id: format!("nat-{number}"),
                tags: owner(*owned),
                subnet: format!("subnet-{subnet}"),
                is_private: *is_private,
            });
            NetworkLandscape {
                vpc_id: "vpc-1".into(),
                subnets: found.collect(),
                route_tables: tables.collect(),
                nat_gateways: gateways.collect(),
                internet_gateways: match has_internet_gateway {
                    true => vec![FoundObject { id: "igw-1".into(), ..FoundObject::default() }],
                    false => Vec::new(),
                },
                ..NetworkLandscape::default()
            }
        })
}

#[test]
fn what_no_input_expresses_stays_unmanaged_with_the_reason() {
    let reason = "its range comes from the pool ipv6pool-ec2-1, which no input expresses";
    let unexpressed = [("assoc-1".to_string(), reason.to_string())].into();
    let Classification { slots, unmanaged } = classify(&NetworkLandscape { unexpressed, ..landscape() });
    assert_eq!(unmanaged["assoc-1"], reason);
    assert!(slots.values().any(|slot| slot == keys::VPC), "{slots:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn what_is_proposed_exists_and_has_a_place_of_its_own(found in some_landscape()) {
        let Classification { slots, unmanaged } = classify(&found);
        let places: BTreeSet<&String> = slots.values().collect();
        prop_assert_eq!(places.len(), slots.len(), "two objects have one place: {:?}", slots);
        for (id, slot) in &slots {
            prop_assert!(!unmanaged.contains_key(id), "{} is {} and unmanaged", id, slot);
            let tags = found.subnets.iter().map(|it| (&it.id, &it.tags));
            let tags = tags.chain(found.nat_gateways.iter().map(|it| (&it.id, &it.tags)));
            let foreign = tags.filter(|(it, tags)| *it == id && tags.contains_key(RESOURCE)).count();
            prop_assert_eq!(foreign, 0, "{} belongs to another resource", id);
        }
        let mut zones: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
        for subnet in &found.subnets {
            let Some(slot) = slots.get(&subnet.id) else {
                prop_assert!(unmanaged.contains_key(&subnet.id), "{} has neither a place nor a reason", subnet.id);
                continue;
            };
            let index = slot.rsplit('.').next().and_then(|index| index.parse().ok()).expect("a subnet has an index");
            zones.entry(index).or_default().insert(&subnet.zone);
            let mut tables = found.route_tables.iter();
            let table = tables.clone().find(|table| table.associated.contains(&subnet.id));
            let table = table.or_else(|| tables.find(|table| table.is_main)).expect("a VPC has a main route table");
            let table_slot = slots.get(&table.id);
            prop_assert!(table_slot.is_some(), "the table of {} has no place", subnet.id);
            let is_of_one_az = table_slot.is_some_and(|slot| slot.ends_with(|end: char| end.is_ascii_digit()));
            prop_assert!(!(table.is_main && is_of_one_az), "the main route table is {:?}", table_slot);
        }
        prop_assert!(zones.values().all(|zones| zones.len() == 1), "one index, several AZs: {:?}", zones);
        for gateway in found.nat_gateways.iter().filter(|gateway| slots.contains_key(&gateway.id)) {
            prop_assert!(slots.contains_key(&gateway.subnet), "the subnet of {} has no place", gateway.id);
        }
    }
}
