//! Tests of secondary ranges.

use serde_json::{Value as Json, json};

use super::*;
use crate::model::{Drift, Object, RuleSource, SecurityGroup, Subnet, UnmanagedSubnet};
use crate::topology::Blueprint;
use crate::topology::four_tier_vpc::config::tests::{config, decode};
use crate::topology::four_tier_vpc::fixtures::{applied, blueprint, imported, next_objects, objects, warned};
use crate::topology::four_tier_vpc::{reflect, validate};
use crate::topology::rules::{UNKNOWN, value, with};

const PODS: &str = "100.64.0.0/16";

fn inputs(inputs: Json) -> Vec<(String, Value)> {
    let Json::Object(inputs) = inputs else { panic!("{inputs}") };
    inputs.into_iter().map(|(name, input)| (name, value(input))).collect()
}

fn of(json: Json) -> Config {
    let inputs = inputs(json);
    config(&inputs.iter().map(|(name, input)| (name.as_str(), input.clone())).collect::<Vec<_>>())
}

/// A network with the range and the first private app subnet in it, and these other inputs.
fn with_pods(more: Json) -> Config {
    let pods = json!({ NAME: [PODS], "private_app_subnet_cidr_blocks": { "AZ-0": "100.64.0.0/18" } });
    of(with(pods, more))
}

fn problems(json: Json) -> Vec<Problem> {
    let inputs = inputs(json);
    let inputs: Vec<(&str, Value)> = inputs.iter().map(|(name, input)| (name.as_str(), input.clone())).collect();
    decode(&inputs).map_or_else(|problems| problems, |config| validate::validate(&config))
}

/// The network with what a read has found in its VPC.
fn around_it(mut existing: Inventory, occupied: &OccupiedAddresses, subnets: &[(&str, &str)]) -> Inventory {
    let vpc = existing.entries.iter_mut().find(|entry| entry.key.slot == keys::VPC).unwrap();
    vpc.learned.insert(OccupiedAddresses::LEARNED.into(), occupied.text().unwrap_or_default());
    let subnet = |(id, block): &(&str, &str)| UnmanagedSubnet {
        id: (*id).into(),
        block: block.parse().unwrap(),
        ipv6_block: None,
    };
    let subnets = UnmanagedSubnet::join(subnets.iter().map(subnet).collect());
    vpc.learned.insert(UnmanagedSubnet::LEARNED.into(), subnets);
    existing
}

fn occupied(ranges: &[(&str, &str)], routes: &[(&str, &str)]) -> OccupiedAddresses {
    let map = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(range, id)| (range.parse().unwrap(), id.to_string())).collect::<BTreeMap<_, _>>()
    };
    OccupiedAddresses { ranges: map(ranges), routes: map(routes) }
}

fn rejected(config: &Config, prior: &Config, existing: &Inventory) -> Vec<String> {
    match blueprint(config, Some(prior), existing, "ab") {
        Err(problems) => problems.into_iter().map(|it| format!("{}: {} {}", it.path, it.message, it.hint)).collect(),
        Ok(_) => Vec::new(),
    }
}

fn subnet(objects: &[Object], slot: &str) -> Subnet {
    let object = objects.iter().find(|object| object.key.slot == slot).unwrap_or_else(|| panic!("no {slot}"));
    Subnet::of(&object.spec).unwrap().clone()
}

#[test]
fn each_broken_rule_of_secondary_ranges_is_reported() {
    let many: Vec<String> = (0..50).map(|number| format!("100.{}.0.0/16", 64 + number)).collect();
    let rules: [(Json, &[&str], Json); 9] = [
        (json!(["fd00::/64"]), &["fd00::/64", "IPv4"], json!([PODS])),
        (json!(["100.64.0.1/16"]), &["host bits", "100.64.0.0/16"], json!(["100.64.0.0/16"])),
        (json!(["100.64.0.0/15"]), &["/15", "/16 to /28"], json!(["100.64.0.0/16"])),
        (json!(["100.64.0.0/29"]), &["/29", "/16 to /28"], json!(["100.64.0.0/28"])),
        (json!(["169.254.8.0/24"]), &["169.254.0.0/16", "link-local"], json!(["169.253.8.0/24"])),
        (json!(["224.0.0.0/16"]), &["multicast"], json!(["223.255.0.0/16"])),
        (json!(["10.0.128.0/17"]), &["10.0.128.0/17 overlaps 10.0.0.0/16 of cidr_block"], json!(["10.1.128.0/17"])),
        (json!([PODS, "100.64.9.0/24"]), &["100.64.9.0/24 overlaps 100.64.0.0/16"], json!([PODS, "100.65.9.0/24"])),
        (json!(many), &["51 ranges", "at most 50"], json!(many[1..])),
    ];
    for (broken, says, good) in rules {
        let found = problems(json!({ NAME: broken }));
        let [problem] = found.as_slice() else { panic!("{broken}: {found:#?}") };
        assert_eq!(problem.path, path());
        let text = format!("{} {}", problem.message, problem.hint);
        assert!(says.iter().all(|it| text.contains(it)), "{says:?} in {text}");
        assert!(problem.message.ends_with('.') && problem.hint.ends_with('.'), "{text}");
        assert_eq!(problems(json!({ NAME: good })), []);
    }
    assert_eq!(problems(json!({ NAME: [UNKNOWN, PODS] })), []);
}

#[test]
fn an_explicit_block_is_in_any_of_the_ranges() {
    let entry = |block: &str| json!({ "private_app_subnet_cidr_blocks": { "AZ-0": block } });
    assert_eq!(problems(with(json!({ NAME: [PODS] }), entry("100.64.0.0/18"))), []);
    let outside = problems(with(json!({ NAME: [PODS] }), entry("100.65.0.0/18")));
    let [problem] = outside.as_slice() else { panic!("{outside:?}") };
    assert_eq!(problem.path.to_string(), "private_app_subnet_cidr_blocks[\"AZ-0\"]");
    assert_eq!(problem.message, "100.65.0.0/18 is in none of the VPC's ranges, 10.0.0.0/16, 100.64.0.0/16.");
    // An unknown range may contain the block, and so may the unknown range of a pool.
    assert_eq!(problems(with(json!({ NAME: [UNKNOWN] }), entry("100.65.0.0/18"))), []);
    let pool = json!({ "cidr_block": null, "ipv4_ipam_pool_id": "ipam-pool-1", NAME: [PODS] });
    assert_eq!(problems(with(pool, entry("100.65.0.0/18"))), []);
}

#[test]
fn a_subnet_needs_the_range_of_its_explicit_block() {
    let all = objects(&with_pods(json!({})), "ab");
    let range = keys::cidr_block(PODS);
    assert_eq!(subnet(&all, "subnet.private_app.0").secondary_range.as_ref(), Some(&range));
    for slot in ["subnet.private_app.1", "subnet.public.0"] {
        let subnet = subnet(&all, slot);
        assert!(subnet.secondary_range.is_none() && subnet.cidr_block.known().unwrap().starts_with("10.0."), "{slot}");
    }
}

#[test]
fn groups_of_endpoints_allow_all_ranges() {
    let inputs = json!({ "interface_endpoints": { "kms": { "allowed_ports": [444] } } });
    let all = objects(&with_pods(inputs), "abc");
    let group = all.iter().find_map(|object| SecurityGroup::of(&object.spec)).unwrap();
    let sources: Vec<&RuleSource> = group.ingress.known().unwrap().iter().map(|rule| &rule.source).collect();
    assert_eq!(sources, ["10.0.0.0/16", PODS].map(|it| RuleSource::CidrIpv4(it.into())).iter().collect::<Vec<_>>());
    let entries = imported(&applied(&all)).0;
    let entry = entries.get("interface_endpoints").get("kms");
    assert_eq!(*entry.get("allowed_cidr_blocks"), Value::List(vec![]), "its rules are those of the VPC's ranges");
}

#[test]
fn a_subnet_keeps_its_block_until_its_range_is_removed() {
    let pods = with_pods(json!({}));
    let existing = applied(&objects(&pods, "ab"));
    let without_entry = of(json!({ NAME: [PODS] }));
    let kept = next_objects(&without_entry, Some(&pods), &existing, "ab");
    assert_eq!(kept, objects(&pods, "ab"));
    let without_range = of(json!({}));
    let moved = next_objects(&without_range, Some(&without_entry), &existing, "ab");
    let moved = subnet(&moved, "subnet.private_app.0");
    assert_eq!((moved.cidr_block, moved.secondary_range), (Input::Known("10.0.80.0/21".into()), None));
}

#[test]
fn a_range_with_unmanaged_subnets_is_not_removed() {
    let (pods, plain) = (of(json!({ NAME: [PODS] })), of(json!({})));
    let existing = applied(&objects(&pods, "ab"));
    let with = |subnets: &[(&str, &str)]| around_it(existing.clone(), &OccupiedAddresses::default(), subnets);
    assert_eq!(rejected(&plain, &pods, &with(&[("subnet-9", "10.0.240.0/24")])), [""; 0]);
    let found = rejected(&plain, &pods, &with(&[("subnet-8", "100.64.1.0/24"), ("subnet-9", "100.64.2.0/24")]));
    let [found] = found.as_slice() else { panic!("{found:?}") };
    for says in [NAME, "the subnets subnet-8 (100.64.1.0/24), subnet-9 (100.64.2.0/24) are in it", "keep 100.64.0.0/16"]
    {
        assert!(found.contains(says), "{says} in {found}");
    }
    assert_eq!(rejected(&pods, &pods, &with(&[("subnet-8", "100.64.1.0/24")])), [""; 0], "it stays");
}

#[test]
fn routes_and_unmanaged_ranges_in_the_way_are_named() {
    let (plain, pods) = (of(json!({})), of(json!({ NAME: [PODS] })));
    let with = |occupied: OccupiedAddresses| around_it(applied(&objects(&plain, "ab")), &occupied, &[]);
    let routes =
        with(occupied(&[], &[("100.64.7.0/24", "rtb-7"), ("100.65.0.0/16", "rtb-8"), ("100.0.0.0/8", "rtb-9")]));
    let [found] = &rejected(&pods, &plain, &routes)[..] else { panic!("one problem") };
    assert!(found.contains("routes: 100.64.7.0/24 in rtb-7.") && !found.contains("rtb-8"), "{found}");
    let same = with(occupied(&[], &[(PODS, "rtb-7")]));
    assert_eq!(rejected(&pods, &plain, &same).len(), 1);
    let overlapping = with(occupied(&[("100.64.0.0/20", "vpc-cidr-assoc-1")], &[]));
    let [found] = &rejected(&pods, &plain, &overlapping)[..] else { panic!("one problem") };
    assert!(found.contains("overlaps 100.64.0.0/20 (vpc-cidr-assoc-1)"), "{found}");
    // What exists is not checked again.
    let existing = applied(&objects(&pods, "ab"));
    let routes = around_it(existing, &occupied(&[], &[("100.64.7.0/24", "rtb-7")]), &[]);
    assert_eq!(rejected(&pods, &pods, &routes), [""; 0]);
}

#[test]
fn a_range_does_not_become_an_overlapping_one_in_one_apply() {
    let pods = with_pods(json!({}));
    let mut existing = applied(&objects(&pods, "ab"));
    for range in ["100.64.0.0/17", "100.64.9.0/24"] {
        let other = with_pods(json!({ NAME: [range], "private_app_subnet_cidr_blocks": {} }));
        let [found] = &rejected(&other, &pods, &existing)[..] else { panic!("one problem of {range}") };
        let says = format!("{range} overlaps 100.64.0.0/16 (id-of-cidr_block.100.64.0.0/16)");
        assert!(found.contains(&says) && found.contains("Remove 100.64.0.0/16 in one apply"), "{found}");
    }
    // The configuration has removed it already.
    for entry in existing.entries.iter_mut().filter(|entry| VpcCidrBlock::of(&entry.applied).is_some()) {
        entry.pending_deletion = true;
    }
    let plain = of(json!({ NAME: ["100.64.0.0/17"] }));
    let [found] = &rejected(&plain, &of(json!({})), &existing)[..] else { panic!("one problem") };
    assert!(found.contains("Apply without 100.64.0.0/17 until 100.64.0.0/16 is deleted"), "{found}");
    existing.entries.retain(|entry| VpcCidrBlock::of(&entry.applied).is_none());
    assert_eq!(rejected(&plain, &of(json!({})), &existing), [""; 0]);
}

#[test]
fn the_range_that_a_pool_has_allocated_is_not_covered() {
    let pool = |more: Json| of(with(json!({ "cidr_block": null, "ipv4_ipam_pool_id": "ipam-pool-1" }), more));
    let before = pool(json!({}));
    let mut existing = applied(&objects(&before, "ab"));
    existing.entries[0].learned.insert("cidr_block".into(), "10.7.0.0/16".into());
    let [found] = &rejected(&pool(json!({ NAME: ["10.7.128.0/17"] })), &before, &existing)[..] else { panic!() };
    assert!(found.contains("10.7.128.0/17 overlaps 10.7.0.0/16, the primary range of the VPC."), "{found}");
    assert_eq!(rejected(&pool(json!({ NAME: ["10.8.0.0/16"] })), &before, &existing), [""; 0]);
}

#[test]
fn a_new_range_warns_of_restrictions_quota_and_takeover() {
    let plain = of(json!({}));
    let new = applied(&objects(&plain, "a"));
    let warnings = |ranges: Json, existing: &Inventory| -> Vec<String> {
        let found = warned(&of(json!({ NAME: ranges })), Some(&plain), existing);
        found.into_iter().filter(|(path, _)| path == NAME).map(|(_, message)| message).collect()
    };
    let used = json!({ NAME: [PODS], "private_app_subnet_cidr_blocks": { "AZ-0": "100.64.0.0/20" } });
    assert_eq!(warned(&of(used), Some(&plain), &new), []);
    let [unused] = &warnings(json!([PODS, "10.1.0.0/16", "8.8.0.0/16"]), &new)[..] else { panic!("one warning") };
    let of_each =
        ["10.1.0.0/16", PODS, "8.8.0.0/16"].map(|it| format!("No subnet of this resource has addresses of {it}."));
    assert_eq!(*unused, of_each.join(" "));
    for (range, says) in [
        ("172.16.0.0/16", "AWS may reject 172.16.0.0/16, because the VPC has 10.0.0.0/16: its user guide excludes"),
        ("198.19.0.0/24", "198.19.0.0/16 together with 10.0.0.0/8"),
    ] {
        let [found] = &warnings(json!([range]), &new)[..] else { panic!("one warning about {range}") };
        assert!(found.contains(says), "{found}");
    }
    let five = json!([PODS, "100.65.0.0/16", "100.66.0.0/16", "100.67.0.0/16", "100.68.0.0/16"]);
    let [found] = &warnings(five, &new)[..] else { panic!("one warning") };
    assert!(found.contains("6 ranges, but AWS allows 5"), "{found}");
    let unmanaged = around_it(new, &occupied(&[(PODS, "vpc-cidr-assoc-1")], &[]), &[]);
    let [found] = &warnings(json!([PODS]), &unmanaged)[..] else { panic!("one warning") };
    assert!(found.contains("The VPC has 100.64.0.0/16 already (vpc-cidr-assoc-1)"), "{found}");
    // AWS has accepted what exists.
    let unusual = of(json!({ NAME: ["172.16.0.0/16"] }));
    assert_eq!(warned(&unusual, Some(&unusual), &applied(&objects(&unusual, "a"))), []);
}

#[test]
fn the_user_guide_excludes_some_pairs_of_ranges() {
    let between = |range: &str, other: &str, is_primary: bool| {
        restrictions::between(&range.parse().unwrap(), &other.parse().unwrap(), is_primary)
    };
    let excludes = |range: &str, other: &str| between(range, other, true);
    for (range, other) in [
        ("10.0.7.0/24", "10.1.0.0/16"),
        ("172.31.0.0/16", "172.16.0.0/16"),
        ("10.2.0.0/16", "192.168.0.0/24"),
        ("192.168.0.0/24", "100.64.0.0/16"),
        ("10.9.0.0/16", "198.19.0.0/24"),
    ] {
        assert!(excludes(range, other).is_some(), "{range} and {other}");
    }
    for (range, other) in [
        ("10.2.0.0/16", "10.0.0.0/16"),
        ("10.1.0.0/16", "10.0.0.0/16"),
        ("172.20.0.0/16", "172.16.0.0/16"),
        (PODS, "192.168.0.0/16"),
        ("198.18.0.0/16", "10.0.0.0/16"),
        ("100.65.0.0/16", PODS),
    ] {
        assert_eq!(excludes(range, other), None, "{range} and {other}");
    }
    assert_eq!(between("10.1.0.0/16", PODS, false), None, "only the primary range excludes all private ones");
    assert!(between("10.1.0.0/16", "172.16.0.0/16", false).is_some());
}

#[test]
fn an_unknown_range_decides_nothing_until_it_is_known() {
    let unknown = of(json!({ NAME: [PODS, UNKNOWN], "private_app_subnet_cidr_blocks": { "AZ-0": "100.70.0.0/18" } }));
    assert_eq!(SecondaryRanges.is_wanted(&unknown), Input::Unknown);
    assert!(matches!(blueprint(&unknown, None, &Inventory::default(), "ab"), Ok(Blueprint::Undecided)));
    let ranges = SecondaryRanges.alternatives(&unknown).into_iter().map(|change| {
        let mut config = unknown.clone();
        change(&mut config);
        secondary(&config).unwrap().into_iter().map(|range| range.to_string()).collect::<Vec<_>>()
    });
    let ranges: Vec<Vec<String>> = ranges.collect();
    assert_eq!(
        ranges,
        [
            vec![PODS],
            vec!["100.127.0.0/16", PODS],
            vec![PODS, "100.70.0.0/16"],
            vec!["100.127.0.0/16", PODS, "100.70.0.0/16"],
        ]
    );
    assert!(SecondaryRanges.alternatives(&of(json!({ NAME: [PODS] }))).is_empty());
}

#[test]
fn ranges_and_blocks_in_them_are_imported_and_reflected() {
    let entry =
        json!({ "private_persistence_subnet_cidr_blocks": { "AZ-0": "10.0.240.0/24", "AZ-1": "100.64.64.0/18" } });
    let pods = with_pods(with(entry, json!({ NAME: ["100.65.0.0/20", PODS] })));
    let mut existing = applied(&objects(&pods, "ab"));
    let (mut attributes, config) = imported(&existing);
    assert_eq!(*attributes.get(NAME), value(json!([PODS, "100.65.0.0/20"])));
    assert_eq!(*attributes.get("private_app_subnet_cidr_blocks"), value(json!({ "AZ-0": "100.64.0.0/18" })));
    assert_eq!(next_objects(&config, Some(&config), &existing, "ab"), objects(&pods, "ab"));

    let before = attributes.clone();
    reflect::write_drift(&mut attributes, &existing);
    assert_eq!(attributes.get(NAME), before.get(NAME));
    let range = existing.entries.iter_mut().find(|entry| entry.key == keys::cidr_block("100.65.0.0/20")).unwrap();
    range.drift = Drift::Missing;
    reflect::write_drift(&mut attributes, &existing);
    assert_eq!(*attributes.get(NAME), value(json!([PODS])));
}
