//! Changes of CIDR blocks in an existing network: only the affected subnets are replaced, in an order that AWS accepts.

use serde_json::{Value, json};

use super::pending_deletion::interface;
use super::{SHORT_TIMEOUTS, TestEnv, assert_unchanged, text, without_acl};

const TWO_AZS: &str = "  num_availability_zones = 2\n  num_nat_gateways = 0\n  create_vpc_endpoints = false\n  \
                       create_transit_subnets = true";

fn two_azs(further: &str) -> String {
    format!("{TWO_AZS}\n{further}")
}

/// The name and the block of each subnet in these lines.
fn blocks(lines: &[String]) -> Vec<String> {
    let subnets = lines.iter().filter_map(|line| line.strip_prefix("subnet "));
    subnets.map(|line| line.split(' ').step_by(3).take(2).collect::<Vec<_>>().join(" ")).collect()
}

/// The actions of the changing calls, in the order of their start.
fn actions(env: &TestEnv) -> Vec<String> {
    env.proxy.mutations().into_iter().map(|record| record.call.action).collect()
}

/// Asserts that every new subnet is associated with its table before the first old one is deleted.
fn assert_new_first(env: &TestEnv) {
    let actions = actions(env);
    let last_new = actions.iter().rposition(|action| action == "AssociateRouteTable");
    let first_deleted = actions.iter().position(|action| action == "DeleteSubnet");
    assert!(last_new < first_deleted, "{actions:?}");
}

/// The objects without the subnets and associations of some tiers.
fn without(objects: &Value, tiers: &[&str]) -> Value {
    let objects = objects.as_object().expect("a map").iter().filter(|(key, _)| {
        let subnet = |tier: &&str| key.starts_with(&format!("subnet.{tier}."));
        let association = |tier: &&str| key.starts_with(&format!("route_table_association.{tier}."));
        !tiers.iter().any(|tier| subnet(tier) || association(tier))
    });
    Value::Object(objects.map(|(key, id)| (key.clone(), id.clone())).collect())
}

#[test]
fn bits_and_spacings_move_only_the_subnets_of_their_tier() {
    let env = TestEnv::new();
    let created = env.change(TWO_AZS);
    assert_eq!(
        blocks(&created.new),
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
    let before = env.attribute("aws_objects");
    let respaced = env.change(&two_azs("  global_subnet_spacing = 9\n  subnet_spacing = 12"));
    assert_eq!((respaced.calls.as_str(), respaced.new.len()), ("", 0));

    // Blocks 7 and 8 of the /20 blocks, 20 and 21 of the /22 blocks.
    let bits = "  private_subnet_bits = 4\n  private_subnet_spacing = 7\n  persistence_subnet_bits = 6\n  \
                persistence_subnet_spacing = 20";
    let moved = env.change(&two_azs(bits));
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
    assert_eq!(without(&env.attribute("aws_objects"), &tiers), without(&before, &tiers));
    assert_new_first(&env);

    let before = env.attribute("aws_objects");
    let transit = env.change(&two_azs(&format!("{bits}\n  transit_subnet_bits = 8\n  transit_subnet_spacing = 250")));
    assert_eq!(transit.calls, "AssociateRouteTable 2, CreateSubnet 2, DeleteSubnet 2");
    assert_eq!(blocks(&transit.new), ["main-transit-0 10.0.250.0/24", "main-transit-1 10.0.251.0/24"]);
    assert_eq!(without(&env.attribute("aws_objects"), &["transit"]), without(&before, &["transit"]));
    assert_new_first(&env);
    env.destroy();
}

#[test]
fn a_tier_can_move_onto_its_own_old_blocks() {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    // Block 7 is that of the second app subnet. The first block of the formula for the public tier contains both old
    // ones, and there is free space, so it is not used.
    let moved = env.change(&two_azs("  private_subnet_spacing = 7\n  public_subnet_bits = 4"));
    assert_eq!(moved.calls, "AssociateRouteTable 4, CreateSubnet 4, DeleteSubnet 4");
    assert_eq!(
        blocks(&moved.new),
        [
            "main-private-app-0 10.0.56.0/21",
            "main-private-app-1 10.0.64.0/21",
            "main-public-0 10.0.192.0/20",
            "main-public-1 10.0.16.0/20",
        ]
    );
    assert_none_rejected(&env);
    env.end();
}

#[test]
fn a_tier_grows_while_its_subnets_are_in_use() {
    let env = TestEnv::new();
    let with = |bits: u32| {
        format!(
            "  num_availability_zones = 2\n  num_nat_gateways = 0\n  create_vpc_endpoints = false\n  public_subnet_bits = \
             {bits}\n"
        )
    };
    env.change(&with(8));
    let (old, eni) = (env.id("subnet.public.0"), interface(&env, "subnet.public.0"));
    // The first block of the formula, 10.0.0.0/22, contains both old blocks.
    env.config(&format!("{}{SHORT_TIMEOUTS}", with(6)));
    env.proxy.clear_calls();
    env.workspace.apply(&[]).succeeded();
    let created: Vec<String> = env.proxy.mutations().iter().map(|it| it.call.param("CidrBlock").to_owned()).collect();
    for block in ["10.0.24.0/22", "10.0.4.0/22"] {
        assert!(created.iter().any(|it| it == block), "no {block} in {created:?}");
    }
    assert_new_first(&env);
    assert_eq!(env.attribute("pending_deletion")["subnet.public.0"], old.as_str());
    env.ec2("delete_network_interface", json!({"NetworkInterfaceId": eni}));
    assert_eq!(env.change(&with(6)).calls, "DeleteSubnet 1");
    env.end();
}

#[test]
fn new_subnets_avoid_the_blocks_of_unmanaged_ones() {
    let env = TestEnv::new();
    let azs = |count: u32, further: &str| {
        format!("  num_availability_zones = {count}\n  num_nat_gateways = 0\n  create_vpc_endpoints = false\n{further}")
    };
    env.change(&azs(2, ""));
    let create = json!({"VpcId": env.id("vpc"), "CidrBlock": "10.0.100.0/24"});
    let theirs = text(&env.ec2("create_subnet", create)["Subnet"]["SubnetId"]);
    env.workspace.assert_nothing_to_do();
    env.config(&azs(3, ""));
    let plan = env.workspace.plan(&[]);
    let warning = format!(
        "10.0.96.0/21, the block from the formula, overlaps 10.0.100.0/24, the block of the unmanaged \
                           subnet {theirs}."
    );
    assert!(plan.says(&warning), "no {warning:?} in\n{plan}");
    let added = env.change(&azs(3, ""));
    assert_eq!(
        blocks(&added.new),
        ["main-private-app-2 10.0.128.0/21", "main-private-persistence-2 10.0.176.0/21", "main-public-2 10.0.16.0/21"]
    );
    assert_none_rejected(&env);

    let entry = azs(3, "  public_subnet_cidr_blocks = { AZ-0 = \"10.0.100.0/25\" }");
    env.config(&entry);
    env.proxy.clear_calls();
    let rejected = env.workspace.plan(&[]);
    rejected.failed_with("Invalid value for public_subnet_cidr_blocks[\"AZ-0\"]");
    rejected.failed_with(&format!(
        "10.0.100.0/25 overlaps 10.0.100.0/24, the block of the unmanaged subnet {theirs}. Use a free block, or delete \
         that subnet and then run plan again."
    ));
    assert_eq!(env.proxy.mutations().len(), 0);
    env.ec2("delete_subnet", json!({"SubnetId": theirs}));
    assert_eq!(blocks(&env.change(&entry).new), ["main-public-0 10.0.100.0/25"]);
    env.end();
}

#[test]
fn an_explicit_block_of_each_tier_is_set_changed_and_removed() {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    // Neither an entry with the present block nor an entry for an AZ that does not exist is a change.
    let same = two_azs(
        "  private_app_subnet_cidr_blocks = { AZ-1 = \"10.0.56.0/21\" }\n  transit_subnet_cidr_blocks = { AZ-7 = \
         \"10.0.250.0/24\" }",
    );
    env.config(&same);
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("The entry is not used, because the network has only AZ-0, AZ-1."), "{plan}");
    let kept = env.change(&same);
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
        let before = env.attribute("aws_objects");
        let set = env.change(&entries(third));
        assert_eq!(set.calls, "AssociateRouteTable 4, CreateSubnet 4, DeleteSubnet 4");
        let expected: Vec<String> =
            names.iter().zip([64, 128, 0, 192]).map(|(name, last)| format!("{name} 10.0.{third}.{last}/26")).collect();
        assert_eq!(blocks(&set.new), expected);
        assert_new_first(&env);
        let after = env.attribute("aws_objects");
        let replaced = before.as_object().expect("a map").iter().filter(|(key, id)| after[*key] != **id);
        let replaced: Vec<&str> = replaced.map(|(key, _)| key.as_str()).collect();
        assert_eq!(
            replaced,
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
    let removed = env.change(TWO_AZS);
    assert_eq!((removed.calls.as_str(), removed.new.len()), ("", 0), "a removed entry moves nothing");
    env.end();
}

#[test]
fn a_block_freed_in_the_same_apply_is_used_after_the_deletion() {
    let env = TestEnv::new();
    let entries = |app: [&str; 2], transit: &str| {
        two_azs(&format!(
            "  private_app_subnet_cidr_blocks = {{ AZ-0 = \"{}\", AZ-1 = \"{}\" }}\n  transit_subnet_cidr_blocks = {{ \
             AZ-0 = \"{transit}\" }}",
            app[0], app[1]
        ))
    };
    env.change(&entries(["10.0.200.0/24", "10.0.201.0/24"], "10.0.202.0/24"));

    // A chain: the transit subnet moves to a new block, the second app subnet to the transit subnet's old block, and
    // the first app subnet to the second one's.
    let chained = env.change(&entries(["10.0.201.0/25", "10.0.202.0/23"], "10.0.210.0/24"));
    assert_eq!(chained.calls, "AssociateRouteTable 3, CreateSubnet 3, DeleteSubnet 3");
    assert_eq!(
        blocks(&chained.new),
        ["main-private-app-0 10.0.201.0/25", "main-private-app-1 10.0.202.0/23", "main-transit-0 10.0.210.0/24"]
    );
    assert_none_rejected(&env);

    // Two subnets swap their blocks: both old subnets are deleted before the new ones are created.
    let before = env.attribute("aws_objects");
    let swapped = env.change(&entries(["10.0.202.0/23", "10.0.201.0/25"], "10.0.210.0/24"));
    assert_eq!(swapped.calls, "AssociateRouteTable 2, CreateSubnet 2, DeleteSubnet 2");
    assert_eq!(
        without_acl(&swapped.new),
        [
            "subnet main-private-app-0 us-east-1a use1-az6 10.0.202.0/23 public_ip=false",
            "subnet main-private-app-1 us-east-1b use1-az1 10.0.201.0/25 public_ip=false",
        ]
    );
    assert_none_rejected(&env);
    assert_unchanged(&without(&before, &["private_app"]), &env.attribute("aws_objects"));
    env.end();
}

/// Asserts that AWS rejected no call. It rejects a block that overlaps an existing one.
fn assert_none_rejected(env: &TestEnv) {
    let rejected: Vec<_> = env.proxy.mutations().into_iter().filter(|record| record.error.is_some()).collect();
    assert!(rejected.is_empty(), "{rejected:#?}");
}
