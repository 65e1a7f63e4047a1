use super::super::config::tests::config;
use super::super::fixtures::objects;
use super::*;
use crate::model::Spec;

fn call(cidr_block: &str, az_count: i64, options: &[(&str, Value)]) -> Result<Value, FunctionError> {
    let options = Value::map(options.iter().map(|(name, value)| (*name, value.clone())));
    SubnetLayout.call(&[cidr_block.into(), az_count.into(), options])
}

#[test]
fn options_are_optional() {
    let (cidr_block, az_count) = (Value::from("10.0.0.0/16"), Value::from(3_i64));
    let without = SubnetLayout.call(&[cidr_block.clone(), az_count.clone()]).unwrap();
    assert_eq!(without, call("10.0.0.0/16", 3, &[]).unwrap());
    let options = Value::map::<String>([]);
    assert!(SubnetLayout.call(&[cidr_block, az_count, options.clone(), options]).is_err());
}

fn entries(entries: &[(&str, &str)]) -> Value {
    Value::map(entries.iter().map(|(key, block)| (*key, Value::from(*block))))
}

fn blocks(texts: &[&str]) -> Value {
    Value::map(texts.iter().enumerate().map(|(index, text)| (format!("AZ-{index}"), Value::from(*text))))
}

/// The blocks of a new network with these inputs, in the form of a layout.
fn created(cidr_block: &str, az_count: usize, options: &[(&str, Value)]) -> BTreeMap<String, BTreeMap<String, Value>> {
    let mut attributes = vec![("cidr_block", cidr_block.into())];
    attributes.extend(options.iter().map(|(name, value)| (*name, value.clone())));
    let mut created: BTreeMap<_, BTreeMap<_, _>> =
        Tier::ALL.into_iter().map(|tier| (Config::cidr_blocks_name(tier).to_string(), BTreeMap::new())).collect();
    for object in objects(&config(&attributes), &"abcdefgh"[..az_count]) {
        if let Spec::Subnet(subnet) = object.spec {
            let tier = created.get_mut(Config::cidr_blocks_name(subnet.tier)).unwrap();
            tier.insert(format!("AZ-{}", subnet.index), subnet.cidr_block.into());
        }
    }
    created
}

#[test]
fn a_layout_equals_the_blocks_of_a_new_network() {
    type Case<'a> = (&'a str, usize, Vec<(&'a str, Value)>);
    let cases: [Case<'_>; 7] = [
        ("10.0.0.0/16", 3, vec![]),
        ("10.0.0.0/16", 3, vec![("create_transit_subnets", true.into())]),
        ("10.4.0.0/16", 1, vec![("create_public_subnets", false.into()), ("subnet_spacing", 3_i64.into())]),
        ("172.16.0.0/20", 2, vec![("public_subnet_bits", 8_i64.into()), ("private_subnet_spacing", 4_i64.into())]),
        (
            "10.0.0.0/16",
            2,
            vec![
                ("private_app_subnet_cidr_blocks", entries(&[("AZ-1", "10.0.0.0/24")])),
                ("private_persistence_subnet_cidr_blocks", entries(&[("AZ-0", "10.0.80.0/24")])),
            ],
        ),
        (
            "10.0.0.0/16",
            8,
            vec![
                ("create_transit_subnets", true.into()),
                ("global_subnet_spacing", 8_i64.into()),
                ("transit_subnet_spacing", 26_i64.into()),
                ("persistence_subnet_bits", 6_i64.into()),
                ("transit_subnet_bits", 6_i64.into()),
            ],
        ),
        (
            "10.0.0.0/24",
            2,
            vec![
                ("create_private_persistence_subnets", false.into()),
                ("subnet_spacing", 2_i64.into()),
                ("public_subnet_bits", 2_i64.into()),
                ("private_subnet_bits", 2_i64.into()),
            ],
        ),
    ];
    for (cidr_block, az_count, options) in cases {
        let layout = call(cidr_block, az_count as i64, &options).unwrap_or_else(|it| panic!("{options:?}: {it:?}"));
        for (name, tier) in created(cidr_block, az_count, &options) {
            assert_eq!(layout.get(&name), &Value::Map(tier), "{name} of {cidr_block} with {options:?}");
        }
    }
}

#[test]
fn the_worked_example_has_these_blocks() {
    let layout = call("10.0.0.0/16", 3, &[("create_transit_subnets", true.into())]).unwrap();
    let expected = Value::map([
        ("public_subnet_cidr_blocks", blocks(&["10.0.0.0/21", "10.0.8.0/21", "10.0.16.0/21"])),
        ("private_app_subnet_cidr_blocks", blocks(&["10.0.48.0/21", "10.0.56.0/21", "10.0.64.0/21"])),
        ("private_persistence_subnet_cidr_blocks", blocks(&["10.0.96.0/21", "10.0.104.0/21", "10.0.112.0/21"])),
        ("transit_subnet_cidr_blocks", blocks(&["10.0.144.0/21", "10.0.152.0/21", "10.0.160.0/21"])),
        (
            "free_cidr_blocks",
            [
                "10.0.24.0/21",
                "10.0.32.0/20",
                "10.0.72.0/21",
                "10.0.80.0/20",
                "10.0.120.0/21",
                "10.0.128.0/20",
                "10.0.168.0/21",
                "10.0.176.0/20",
                "10.0.192.0/18",
            ]
            .to_vec()
            .into(),
        ),
        ("warnings", Value::List(Vec::new())),
    ]);
    assert_eq!(layout, expected);
}

#[test]
fn options_may_be_null_and_their_values_may_be_strings() {
    let plain = call("10.0.0.0/16", 2, &[]).unwrap();
    assert_eq!(SubnetLayout.call(&["10.0.0.0/16".into(), 2_i64.into(), Value::Null]), Ok(plain.clone()));
    assert_eq!(call("10.0.0.0/16", 2, &[("public_subnet_bits", Value::Null)]), Ok(plain));
    let written = [("public_subnet_bits", Value::from("6")), ("create_transit_subnets", "true".into())];
    let meant = [("public_subnet_bits", Value::from(6_i64)), ("create_transit_subnets", true.into())];
    assert_eq!(call("10.0.0.0/16", 2, &written), call("10.0.0.0/16", 2, &meant));
}

#[test]
fn assigned_and_free_blocks_cover_the_whole_range() {
    let options =
        [("private_subnet_bits", 9_i64.into()), ("public_subnet_cidr_blocks", entries(&[("AZ-0", "10.0.255.0/28")]))];
    let layout = call("10.0.0.0/16", 3, &options).unwrap();
    let mut all: Vec<Ipv4Net> = Vec::new();
    let mut add = |block: &Value| all.push(block.as_str().unwrap().parse().unwrap());
    for tier in Tier::ALL {
        layout.get(Config::cidr_blocks_name(tier)).as_map().unwrap().values().for_each(&mut add);
    }
    let Value::List(free) = layout.get(FREE) else { panic!("a list") };
    free.iter().for_each(&mut add);
    assert_eq!(Ipv4Net::aggregate(&all), ["10.0.0.0/16".parse().unwrap()]);
    assert_eq!(all.iter().map(|block| 1_u64 << (32 - block.prefix_len())).sum::<u64>(), 1 << 16);
}

#[test]
fn a_full_range_has_no_free_blocks() {
    let one = [
        ("create_private_app_subnets", false.into()),
        ("create_private_persistence_subnets", false.into()),
        ("public_subnet_bits", 1_i64.into()),
    ];
    assert_eq!(call("10.0.0.0/24", 2, &one).unwrap().get(FREE), &Value::List(vec![]));
}

#[test]
fn warnings_of_a_plan_are_part_of_the_layout() {
    let layout =
        call("10.0.0.0/16", 2, &[("public_subnet_cidr_blocks", entries(&[("AZ-2", "10.0.240.0/24")]))]).unwrap();
    let Value::List(warnings) = layout.get(WARNINGS) else { panic!("a list") };
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(
        warning.as_str().unwrap().starts_with("public_subnet_cidr_blocks[\"AZ-2\"]: The entry is not used"),
        "{warning}"
    );
}

#[test]
fn a_tier_can_be_absent_in_some_azs() {
    let entry =
        |tier: &str, zones: &[&str]| ("tier_availability_zone_ids", Value::map([(tier, Value::from(zones.to_vec()))]));
    let layout = call("10.0.0.0/16", 3, &[entry("private_app", &["AZ-2", "AZ-0"])]).unwrap();
    let expected = entries(&[("AZ-0", "10.0.80.0/21"), ("AZ-2", "10.0.96.0/21")]);
    assert_eq!(layout.get("private_app_subnet_cidr_blocks"), &expected);
    let Value::List(free) = layout.get(FREE) else { panic!("a list") };
    assert!(free.contains(&"10.0.88.0/21".into()), "{free:?}");
    assert_eq!(layout.get(WARNINGS), &Value::List(vec![]));
    for (tier, zones, path, message) in [
        ("public", &["AZ-3"][..], "[\"public\"][0]", "AZ-3 is not one of the AZs AZ-0, AZ-1, AZ-2. "),
        ("public", &["use1-az1"], "[\"public\"][0]", "\"use1-az1\" is not of the form AZ-<index>. "),
        ("public", &[], "[\"public\"]", "The list is empty"),
        ("app", &["AZ-0"], "[\"app\"]", "\"app\" is not a tier. "),
    ] {
        let (argument, shown) = rejected("10.0.0.0/16", 3, &[entry(tier, zones)]);
        let expected = format!("tier_availability_zone_ids{path}: {message}");
        assert!(argument == 2 && shown.starts_with(&expected), "{shown}");
    }
}

fn rejected(cidr_block: &str, az_count: i64, options: &[(&str, Value)]) -> (usize, String) {
    let error = call(cidr_block, az_count, options).unwrap_err();
    (error.argument.unwrap(), error.message)
}

#[test]
fn problems_are_reported_for_their_argument() {
    let (argument, message) = rejected("10.0.0.1/16", 3, &[]);
    assert_eq!(
        (argument, &message[..]),
        (0, "10.0.0.1/16 has host bits set; AWS would change it to 10.0.0.0/16. Use 10.0.0.0/16.")
    );
    assert_eq!(rejected("10.0.0.0/8", 3, &[]).0, 0);
    let (argument, message) = rejected("10.0.0.0/16", 0, &[]);
    assert_eq!((argument, &message[..]), (1, "0 is not a valid value. Set it to a whole number from 1 to 100."));
    let (argument, message) = rejected("10.0.0.0/16", 12, &[]);
    assert_eq!(argument, 2);
    assert!(message.starts_with("private_subnet_bits: Not all subnets fit into 10.0.0.0/16:\n"), "{message}");
    let (argument, message) =
        rejected("10.0.0.0/16", 3, &[("public_subnet_bits", 13_i64.into()), ("subnet_spacing", "far".into())]);
    assert_eq!(argument, 2);
    assert_eq!(message.lines().count(), 2, "{message}");
    assert!(
        message.contains("public_subnet_bits: 13 ") && message.contains("subnet_spacing: \"far\" has the wrong type"),
        "{message}"
    );
    let (argument, message) =
        rejected("10.0.0.0/16", 3, &[("public_subnet_cidr_blocks", entries(&[("AZ-0", "10.1.0.0/24")]))]);
    assert!(
        argument == 2 && message.starts_with("public_subnet_cidr_blocks[\"AZ-0\"]: 10.1.0.0/24 is outside"),
        "{message}"
    );
    let (argument, message) = rejected("x", 0, &[("public_subnet_bits", 13_i64.into())]);
    assert_eq!(argument, 1, "the schema reports this problem first: {message}");
    assert!(message.contains("public_subnet_bits: 13"), "{message}");
}

#[test]
fn unknown_options_are_listed_with_the_valid_ones() {
    let (argument, message) =
        rejected("10.0.0.0/16", 3, &[("transit_bits", 4_i64.into()), ("custom_tags", entries(&[]))]);
    assert_eq!(argument, 2);
    assert!(
        message.starts_with("custom_tags, transit_bits are not options. The options are tier_availability_zone_ids, "),
        "{message}"
    );
    let error = SubnetLayout.call(&["10.0.0.0/16".into(), 3_i64.into(), vec!["transit"].into()]).unwrap_err();
    assert!(error.argument == Some(2) && error.message.contains("is not an object"), "{error:?}");
}

#[test]
fn options_and_result_match_the_address_inputs() {
    let attributes = Config::attributes();
    let decides = |name: &str| {
        let ends = ["_subnets", "_subnet_bits", "_subnet_spacing", "_subnet_cidr_blocks"];
        let is_other =
            ["map_", "associate_", "one_route"].iter().any(|it| name.starts_with(it)) || name.contains("ipv6");
        ["subnet_spacing", "tier_availability_zone_ids", "secondary_cidr_blocks"].contains(&name)
            || ends.iter().any(|end| name.ends_with(end)) && !is_other
    };
    let deciding: Vec<&str> = attributes.iter().map(|it| it.name.as_str()).filter(|name| decides(name)).collect();
    assert_eq!(deciding, OPTIONS);
    let Type::Object(result) = result_type() else { panic!("an object") };
    let blocks: Vec<&str> = deciding.into_iter().filter(|name| name.ends_with("_subnet_cidr_blocks")).collect();
    assert_eq!(blocks.len(), Tier::ALL.len());
    for name in blocks {
        assert!(result.contains_key(name), "{name} is not in {result:?}");
    }
}
