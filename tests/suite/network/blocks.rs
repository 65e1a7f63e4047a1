//! Blocks that inputs move on a live network: only those subnets are exchanged, in an order that AWS accepts.

use serde_json::Value;

use super::{TestEnv, assert_others_stay, without_acl};

const TWO_AZS: &str = "  num_availability_zones = 2\n  num_nat_gateways = 0\n  create_vpc_endpoints = false\n  \
                       create_transit_subnets = true";

fn two_azs(further: &str) -> String {
    format!("{TWO_AZS}\n{further}")
}

/// Name and block of each subnet in these lines.
fn blocks(lines: &[String]) -> Vec<String> {
    let subnets = lines.iter().filter_map(|line| line.strip_prefix("subnet "));
    subnets.map(|line| line.split(' ').step_by(3).take(2).collect::<Vec<_>>().join(" ")).collect()
}

/// The changing calls in the order of their beginning.
fn actions(bed: &TestEnv) -> Vec<String> {
    bed.proxy.mutations().into_iter().map(|record| record.call.action).collect()
}

/// Asserts that every new subnet has its table before the first old one goes.
fn assert_new_first(bed: &TestEnv) {
    let actions = actions(bed);
    let last_new = actions.iter().rposition(|action| action == "AssociateRouteTable");
    let first_gone = actions.iter().position(|action| action == "DeleteSubnet");
    assert!(last_new < first_gone, "{actions:?}");
}

/// The objects but subnets and associations of some tiers.
fn without(objects: &Value, tiers: &[&str]) -> Value {
    let objects = objects.as_object().expect("a map").iter().filter(|(key, _)| {
        let subnet = |tier: &&str| key.starts_with(&format!("subnet.{tier}."));
        let association = |tier: &&str| key.starts_with(&format!("route_table_association.{tier}."));
        !tiers.iter().any(|tier| subnet(tier) || association(tier))
    });
    Value::Object(objects.map(|(key, id)| (key.clone(), id.clone())).collect())
}

#[test]
fn bits_and_spacings_of_a_tier_move_its_own_subnets_and_spacings_between_tiers_move_none() {
    let bed = TestEnv::new();
    let made = bed.change(TWO_AZS);
    assert_eq!(
        blocks(&made.new),
        [
            "main-private-app-0 10.0.48.0/21",
            "main-private-app-1 10.0.56.0/21",
            "main-private-persistence-0 10.0.96.0/21",
            "main-private-persistence-1 10.0.104.0/21",
            "main-public-0 10.0.0.0/21",
            "main-public-1 10.0.8.0/21",
            "main-transit-0 10.0.144.0/21",
            "main-transit-1 10.0.152.0/21",
        ]
    );
    let before = bed.attribute("aws_objects");
    let respaced = bed.change(&two_azs("  global_subnet_spacing = 9\n  subnet_spacing = 12"));
    assert_eq!((respaced.calls.as_str(), respaced.new.len()), ("", 0));

    // Numbers 7 and 8 of the blocks of /20, 20 and 21 of those of /22.
    let bits = "  private_subnet_bits = 4\n  private_subnet_spacing = 7\n  persistence_subnet_bits = 6\n  \
                persistence_subnet_spacing = 20";
    let moved = bed.change(&two_azs(bits));
    assert_eq!(moved.calls, "AssociateRouteTable 4, CreateSubnet 4, DeleteSubnet 4");
    assert_eq!(
        blocks(&moved.new),
        [
            "main-private-app-0 10.0.112.0/20",
            "main-private-app-1 10.0.128.0/20",
            "main-private-persistence-0 10.0.80.0/22",
            "main-private-persistence-1 10.0.84.0/22",
        ]
    );
    let tiers = ["private_app", "private_persistence"];
    assert_eq!(without(&bed.attribute("aws_objects"), &tiers), without(&before, &tiers));
    assert_new_first(&bed);

    let before = bed.attribute("aws_objects");
    let transit = bed.change(&two_azs(&format!("{bits}\n  transit_subnet_bits = 8\n  transit_subnet_spacing = 250")));
    assert_eq!(transit.calls, "AssociateRouteTable 2, CreateSubnet 2, DeleteSubnet 2");
    assert_eq!(blocks(&transit.new), ["main-transit-0 10.0.250.0/24", "main-transit-1 10.0.251.0/24"]);
    assert_eq!(without(&bed.attribute("aws_objects"), &["transit"]), without(&before, &["transit"]));
    assert_new_first(&bed);
    bed.destroy();
}

#[test]
fn a_tier_that_moves_onto_its_own_old_blocks_leaves_each_before_it_is_taken() {
    let bed = TestEnv::new();
    bed.change(TWO_AZS);
    // Number 7 is the block of the second app subnet, and both old public blocks lie in the first new one.
    let moved = bed.change(&two_azs("  private_subnet_spacing = 7\n  public_subnet_bits = 4"));
    assert_eq!(moved.calls, "AssociateRouteTable 4, CreateSubnet 4, DeleteSubnet 4");
    assert_eq!(
        blocks(&moved.new),
        [
            "main-private-app-0 10.0.56.0/21",
            "main-private-app-1 10.0.64.0/21",
            "main-public-0 10.0.0.0/20",
            "main-public-1 10.0.16.0/20",
        ]
    );
    assert_none_refused(&bed);
    bed.destroy();
}

#[test]
fn an_explicit_block_of_each_tier_is_set_changed_and_removed() {
    let bed = TestEnv::new();
    bed.change(TWO_AZS);
    // The block that a subnet has is no change, nor is an entry for an AZ that there is not.
    let same = two_azs(
        "  private_app_subnet_cidr_blocks = { AZ-1 = \"10.0.56.0/21\" }\n  transit_subnet_cidr_blocks = { AZ-7 = \
         \"10.0.250.0/24\" }",
    );
    bed.config(&same);
    let plan = bed.workspace.plan(&[]);
    assert!(plan.says("The entry is not used: the network has AZ-0, AZ-1."), "{plan}");
    let kept = bed.change(&same);
    assert_eq!((kept.calls.as_str(), kept.new.len()), ("", 0));

    let entries = |third: u32| {
        two_azs(&format!(
            "  public_subnet_cidr_blocks = {{ AZ-1 = \"10.0.{third}.0/26\" }}\n  private_app_subnet_cidr_blocks = {{ \
             AZ-0 = \"10.0.{third}.64/26\" }}\n  private_persistence_subnet_cidr_blocks = {{ AZ-1 = \
             \"10.0.{third}.128/26\" }}\n  transit_subnet_cidr_blocks = {{ AZ-0 = \"10.0.{third}.192/26\" }}"
        ))
    };
    let names = ["main-private-app-0", "main-private-persistence-1", "main-public-1", "main-transit-0"];
    for third in [240, 241] {
        let before = bed.attribute("aws_objects");
        let set = bed.change(&entries(third));
        assert_eq!(set.calls, "AssociateRouteTable 4, CreateSubnet 4, DeleteSubnet 4");
        let expected: Vec<String> =
            names.iter().zip([64, 128, 0, 192]).map(|(name, last)| format!("{name} 10.0.{third}.{last}/26")).collect();
        assert_eq!(blocks(&set.new), expected);
        assert_new_first(&bed);
        let after = bed.attribute("aws_objects");
        let exchanged = before.as_object().expect("a map").iter().filter(|(key, id)| after[*key] != **id);
        let exchanged: Vec<&str> = exchanged.map(|(key, _)| key.as_str()).collect();
        assert_eq!(
            exchanged,
            [
                "route_table_association.private_app.0",
                "route_table_association.private_persistence.1",
                "route_table_association.public.1",
                "route_table_association.transit.0",
                "subnet.private_app.0",
                "subnet.private_persistence.1",
                "subnet.public.1",
                "subnet.transit.0",
            ]
        );
    }
    let removed = bed.change(TWO_AZS);
    assert_eq!((removed.calls.as_str(), removed.new.len()), ("", 0), "a removed entry moves nothing");
    bed.destroy();
}

#[test]
fn a_block_that_another_subnet_leaves_in_the_same_apply_is_taken_after_it_has_left() {
    let bed = TestEnv::new();
    let entries = |app: [&str; 2], transit: &str| {
        two_azs(&format!(
            "  private_app_subnet_cidr_blocks = {{ AZ-0 = \"{}\", AZ-1 = \"{}\" }}\n  transit_subnet_cidr_blocks = {{ \
             AZ-0 = \"{transit}\" }}",
            app[0], app[1]
        ))
    };
    bed.change(&entries(["10.0.200.0/24", "10.0.201.0/24"], "10.0.202.0/24"));

    // A chain: the transit subnet goes to a new block, the second app subnet into its old one, the first follows.
    let chained = bed.change(&entries(["10.0.201.0/25", "10.0.202.0/23"], "10.0.210.0/24"));
    assert_eq!(chained.calls, "AssociateRouteTable 3, CreateSubnet 3, DeleteSubnet 3");
    assert_eq!(
        blocks(&chained.new),
        ["main-private-app-0 10.0.201.0/25", "main-private-app-1 10.0.202.0/23", "main-transit-0 10.0.210.0/24"]
    );
    assert_none_refused(&bed);

    // Two that change places: neither can be first, so both old ones go.
    let before = bed.attribute("aws_objects");
    let swapped = bed.change(&entries(["10.0.202.0/23", "10.0.201.0/25"], "10.0.210.0/24"));
    assert_eq!(swapped.calls, "AssociateRouteTable 2, CreateSubnet 2, DeleteSubnet 2");
    assert_eq!(
        without_acl(&swapped.new),
        [
            "subnet main-private-app-0 us-east-1a use1-az6 10.0.202.0/23 public_ip=false",
            "subnet main-private-app-1 us-east-1b use1-az1 10.0.201.0/25 public_ip=false",
        ]
    );
    assert_none_refused(&bed);
    assert_others_stay(&without(&before, &["private_app"]), &bed.attribute("aws_objects"));
    bed.destroy();
}

/// Asserts that AWS refused no call: it refuses a block that overlaps one which has not left yet.
fn assert_none_refused(bed: &TestEnv) {
    let refused: Vec<_> = bed.proxy.mutations().into_iter().filter(|record| record.error.is_some()).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}
