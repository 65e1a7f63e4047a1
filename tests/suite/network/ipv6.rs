//! IPv6: the VPC's range, the blocks of the public subnets, and their way out. Names of blocks are their numbers in the
//! range, because AWS chooses that.

use serde_json::{Value, json};

use super::drift_matrix::mends;
use super::refusals::refused;
use super::{TestEnv, assert_others_stay, text};

/// Two public subnets and no more.
const PUBLIC: &str = "  num_availability_zones = 2\n  num_nat_gateways = 0\n  create_private_app_subnets = false\n  \
                      create_private_persistence_subnets = false\n  create_vpc_endpoints = false";

const GENERATED: &str = "  enable_ipv6 = true\n  assign_generated_ipv6_cidr_block = true";

fn public(further: &str) -> String {
    format!("{PUBLIC}\n{further}")
}

fn dual(further: &str) -> String {
    format!("{PUBLIC}\n{GENERATED}\n{further}")
}

/// A block of the network's range by its number.
fn block(bed: &TestEnv, number: u128, length: u8) -> String {
    let range: ipnet::Ipv6Net = text(&bed.attribute("ipv6_cidr_block")).parse().expect("a range");
    let address = u128::from(range.network()) + (number << (128 - length));
    ipnet::Ipv6Net::new(address.into(), length).expect("a length").to_string()
}

/// The block of a public subnet, as state has it.
fn block_of(bed: &TestEnv, index: usize) -> Value {
    bed.attribute("public_subnets")[format!("main-public-{index}")]["ipv6_cidr_block"].clone()
}

/// The id of the association of a subnet with the block that it has.
fn association(bed: &TestEnv, subnet: &str) -> String {
    let subnets = bed.ec2("describe_subnets", json!({"SubnetIds": [subnet]}));
    let blocks = subnets["Subnets"][0]["Ipv6CidrBlockAssociationSet"].as_array().expect("a list").clone();
    text(&blocks.last().unwrap_or_else(|| panic!("{subnet} has no block"))["AssociationId"])
}

/// The actions of the changing calls, in their order.
fn order(bed: &TestEnv) -> Vec<String> {
    bed.proxy.mutations().into_iter().map(|record| record.call.action).collect()
}

/// Asserts that the last call of one action was made before the first one of another.
fn assert_before(bed: &TestEnv, first: &str, then: &str) {
    let order = order(bed);
    let (last, next) = (order.iter().rposition(|it| it == first), order.iter().position(|it| it == then));
    assert!(last.is_some() && last < next, "{first} comes before {then}: {order:?}");
}

#[test]
fn a_network_gets_its_range_first_and_then_subnets_with_blocks_of_it() {
    let bed = TestEnv::new();
    let attributes = format!(
        "  num_availability_zones = 2\n  num_nat_gateways = 1\n  create_vpc_endpoints = false\n{GENERATED}\n  \
         assign_ipv6_address_on_creation = true"
    );
    bed.config(&attributes);
    let plan = bed.workspace.plan_json(&[]);
    let unknown = &plan["resource_changes"][0]["change"]["after_unknown"];
    assert_eq!(unknown["ipv6_cidr_block"], true, "{unknown:#}");
    let made = bed.apply();
    for line in [
        "vpc main 10.0.0.0/16 #0/56 default support=true hostnames=true metrics=false",
        "subnet main-public-0 us-east-1a use1-az6 10.0.0.0/21 #0/64 public_ip=false assigns_ipv6",
        "subnet main-public-1 us-east-1b use1-az1 10.0.8.0/21 #1/64 public_ip=false assigns_ipv6",
        "subnet main-private-app-0 us-east-1a use1-az6 10.0.80.0/21 public_ip=false",
        "table main-public [main-public-0 main-public-1] 0.0.0.0/0>main 10.0.0.0/16>local ::/0>main",
        "table main-private-app-0 [main-private-app-0] 0.0.0.0/0>main-nat-gateway-0 10.0.0.0/16>local",
    ] {
        assert!(made.new.iter().any(|it| it == line), "no {line} in {made:#?}");
    }
    assert!(made.calls.contains("AssociateVpcCidrBlock 1") && made.calls.contains("CreateSubnet 6"), "{made:#?}");
    // Public subnets wait for the range; those of other tiers need none of it.
    let calls = bed.proxy.mutations();
    let range = calls.iter().position(|record| record.call.action == "AssociateVpcCidrBlock");
    let first =
        calls.iter().position(|record| record.call.params.get("CidrBlock").is_some_and(|it| it == "10.0.0.0/21"));
    assert!(range.is_some() && range < first, "the range comes before the subnets in it: {calls:#?}");

    assert!(text(&bed.attribute("ipv6_cidr_block")).ends_with("/56"));
    for index in [0, 1] {
        assert_eq!(block_of(&bed, index), json!(block(&bed, index as u128, 64)));
        let subnet = &bed.attribute("public_subnets")[format!("main-public-{index}")];
        assert_eq!(subnet["assign_ipv6_address_on_creation"], true);
    }
    let app = &bed.attribute("private_app_subnets")["main-private-app-0"];
    assert_eq!((&app["ipv6_cidr_block"], &app["assign_ipv6_address_on_creation"]), (&Value::Null, &json!(false)));
    bed.assert_state_holds_what_exists();
    bed.destroy();
}

#[test]
fn ipv6_is_turned_on_and_off_on_a_network_that_stands() {
    let bed = TestEnv::new();
    let plain = bed.change(PUBLIC);
    let before = bed.attribute("aws_objects");
    let on = bed.change(&dual(""));
    assert_eq!(on.calls, "AssociateSubnetCidrBlock 2, AssociateVpcCidrBlock 1, CreateRoute 1");
    let with_ipv6 = [
        "acl default (in 100 allow 0.0.0.0/0, in 101 allow ::/0, in 32767 deny 0.0.0.0/0, in 32768 deny ::/0, out 100 \
         allow 0.0.0.0/0, out 101 allow ::/0, out 32767 deny 0.0.0.0/0, out 32768 deny ::/0) 2 subnets",
        "subnet main-public-0 us-east-1a use1-az6 10.0.0.0/21 #0/64 public_ip=false",
        "subnet main-public-1 us-east-1b use1-az1 10.0.8.0/21 #1/64 public_ip=false",
        "table main-public [main-public-0 main-public-1] 0.0.0.0/0>main 10.0.0.0/16>local ::/0>main",
        "vpc main 10.0.0.0/16 #0/56 default support=true hostnames=true metrics=false",
    ];
    assert_eq!(on.new, with_ipv6);
    assert_others_stay(&before, &bed.attribute("aws_objects"));

    let assigning = bed.change(&dual("  assign_ipv6_address_on_creation = true"));
    assert_eq!(assigning.calls, "ModifySubnetAttribute 2");
    assert!(assigning.new.iter().all(|line| line.ends_with(" assigns_ipv6")), "{assigning:#?}");
    let not = bed.change(&dual(""));
    assert_eq!((not.calls.as_str(), &not.new), ("ModifySubnetAttribute 2", &assigning.gone));
    bed.change(&dual("  assign_ipv6_address_on_creation = true"));

    let blocks =
        ["subnet.public.0", "subnet.public.1"].map(|subnet| (bed.id(subnet), association(&bed, &bed.id(subnet))));

    // All at once. AWS takes no block from a subnet that assigns addresses of it, and no range that has blocks.
    let off = bed.change(PUBLIC);
    assert_eq!(
        off.calls,
        "DeleteRoute 1, DisassociateSubnetCidrBlock 2, DisassociateVpcCidrBlock 1, ModifySubnetAttribute 2"
    );
    assert_before(&bed, "DisassociateSubnetCidrBlock", "DisassociateVpcCidrBlock");
    let calls = bed.proxy.mutations();
    for (subnet, association) in blocks {
        let flag = calls.iter().position(|record| record.call.param("SubnetId") == subnet);
        let block = calls.iter().position(|record| record.call.param("AssociationId") == association);
        assert!(flag.is_some() && flag < block, "{subnet} assigns no addresses when it loses its block: {calls:#?}");
    }
    assert_eq!(bed.proxy.mutations().iter().filter(|it| it.status != 200).count(), 0, "AWS refuses none of it");
    let objects = bed.attribute("aws_objects");
    assert_eq!(objects, before, "the network is what it was");
    let old = |lines: &[String]| lines.iter().filter(|line| !line.starts_with("acl")).cloned().collect::<Vec<_>>();
    let snapshot = bed.snapshot();
    let now: Vec<String> = snapshot.lines().into_iter().map(str::to_owned).collect();
    // The rules that AWS has put into the default ACL stay there.
    assert_eq!(old(&now), old(&plain.new));
    assert_eq!(bed.attribute("ipv6_cidr_block"), Value::Null);
    bed.destroy();
}

#[test]
fn a_block_moves_only_when_its_own_entry_says_so() {
    let bed = TestEnv::new();
    bed.change(&dual("  assign_ipv6_address_on_creation = true"));
    let before = bed.attribute("aws_objects");
    let assign = "  assign_ipv6_address_on_creation = true";
    let entry = format!("{assign}\n  public_subnet_ipv6_cidr_blocks = {{ AZ-1 = \"{}\" }}", block(&bed, 0x11, 64));
    let explicit = bed.change(&dual(&entry));
    assert_eq!(explicit.calls, "AssociateSubnetCidrBlock 1, DisassociateSubnetCidrBlock 1, ModifySubnetAttribute 2");
    assert_eq!(
        order(&bed),
        ["ModifySubnetAttribute", "DisassociateSubnetCidrBlock", "AssociateSubnetCidrBlock", "ModifySubnetAttribute"]
    );
    let moved = "subnet main-public-1 us-east-1b use1-az1 10.0.8.0/21 #17/64 public_ip=false assigns_ipv6";
    assert_eq!(explicit.new, [moved]);
    assert_eq!(bed.attribute("aws_objects"), before, "in place");
    let removed = bed.change(&dual(assign));
    assert_eq!((removed.calls.as_str(), removed.new), ("", vec![]), "a block stays where it is");

    let third = bed.change(&dual(assign).replace("num_availability_zones = 2", "num_availability_zones = 3"));
    assert_eq!(third.calls, "AssociateRouteTable 1, CreateSubnet 1, ModifySubnetAttribute 1");
    assert_eq!(
        third.new.iter().filter(|line| line.starts_with("subnet")).collect::<Vec<_>>(),
        ["subnet main-public-2 us-east-1c use1-az2 10.0.16.0/21 #2/64 public_ip=false assigns_ipv6"]
    );
    assert_others_stay(&before, &bed.attribute("aws_objects"));
    bed.destroy();
}

#[test]
fn other_bits_exchange_the_blocks_in_place() {
    let bed = TestEnv::new();
    bed.change(&dual(""));
    let before = bed.attribute("aws_objects");
    let larger = bed.change(&dual("  ipv6_subnet_bits = 4"));
    assert_eq!(larger.calls, "AssociateSubnetCidrBlock 2, DisassociateSubnetCidrBlock 2");
    assert_eq!(bed.attribute("aws_objects"), before);
    let blocks: Vec<ipnet::Ipv6Net> =
        (0..2).map(|index| text(&block_of(&bed, index)).parse().expect("a block")).collect();
    assert!(blocks.iter().all(|block| block.prefix_len() == 60) && blocks[0] != blocks[1], "{blocks:?}");
    bed.destroy();
}

#[test]
fn what_others_take_of_ipv6_comes_back_as_it_was() {
    let bed = TestEnv::new();
    bed.change(&dual("  assign_ipv6_address_on_creation = true"));
    let good = bed.snapshot();
    let (first, second) = (bed.id("subnet.public.0"), bed.id("subnet.public.1"));
    let assign = |subnet: &str| {
        bed.ec2("modify_subnet_attribute", json!({"SubnetId": subnet, "AssignIpv6AddressOnCreation": {"Value": false}}))
    };
    let take =
        |subnet: &str| bed.ec2("disassociate_subnet_cidr_block", json!({"AssociationId": association(&bed, subnet)}));
    // A block of one subnet, the flag of the other one, and the way out.
    assign(&first);
    take(&first);
    assign(&second);
    let table = bed.id("route_table.public");
    bed.ec2("delete_route", json!({"RouteTableId": table, "DestinationIpv6CidrBlock": "::/0"}));
    let found = [
        ("subnet.public.0", "ipv6_cidr_block is absent instead of"),
        ("subnet.public.0", "assign_ipv6_address_on_creation is false instead of true"),
        ("subnet.public.1", "assign_ipv6_address_on_creation is false instead of true"),
        ("route.public.ipv6", "is gone"),
    ];
    mends(&bed, &good, &found, "AssociateSubnetCidrBlock 1, CreateRoute 1, ModifySubnetAttribute 2");

    // The whole range: another one comes, and with it other blocks.
    let range = bed.attribute("ipv6_cidr_block");
    for subnet in [&first, &second] {
        assign(subnet);
        take(subnet);
    }
    bed.ec2("disassociate_vpc_cidr_block", json!({"AssociationId": bed.id("ipv6_cidr_block")}));
    let found = [
        ("ipv6_cidr_block", "is gone"),
        ("subnet.public.0", "ipv6_cidr_block is absent instead of"),
        ("subnet.public.1", "ipv6_cidr_block is absent instead of"),
    ];
    mends(&bed, &good, &found, "AssociateSubnetCidrBlock 2, AssociateVpcCidrBlock 1, ModifySubnetAttribute 2");
    assert_ne!(bed.attribute("ipv6_cidr_block"), range);
    bed.destroy();
}

#[test]
fn a_flag_that_others_turned_on_is_turned_off_again() {
    let bed = TestEnv::new();
    bed.change(&dual(""));
    let good = bed.snapshot();
    for subnet in ["subnet.public.0", "subnet.public.1"] {
        let on = json!({"SubnetId": bed.id(subnet), "AssignIpv6AddressOnCreation": {"Value": true}});
        bed.ec2("modify_subnet_attribute", on);
    }
    let said = "assign_ipv6_address_on_creation is true instead of false";
    mends(&bed, &good, &[("subnet.public.0", said), ("subnet.public.1", said)], "ModifySubnetAttribute 2");
    bed.destroy();
}

#[test]
fn requests_for_ipv6_that_cannot_be_met_fail_at_plan() {
    refused(&public("  enable_ipv6 = true"), &["Invalid value for enable_ipv6", "nothing says where"]);
    refused(
        &public(
            "  assign_ipv6_address_on_creation = true\n  ipv6_cidr_block_network_border_group = \"us-east-1-bos-1\"\n  \
             assign_generated_ipv6_cidr_block = false\n  ipv6_netmask_length = 52",
        ),
        &[
            "Invalid value for assign_ipv6_address_on_creation",
            "us-east-1-bos-1 can be asked for only with a range of Amazon's.",
            "A range of /52 is asked of a pool, and ipv6_ipam_pool_id names none.",
        ],
    );
    refused(
        &dual(
            "  ipv6_ipam_pool_id = \"ipam-pool-1\"\n  ipv6_subnet_bits = 5\n  public_subnet_ipv6_cidr_blocks = { AZ-0 = \
             \"2001:db8::/65\", AZ-x = \"2001:db8::1/64\" }",
        ),
        &["Leave out one of the two.", "2001:db8::/65 is a /65", "AZ-x", "2001:db8::1/64 has host bits set"],
    );
    refused(&dual("  ipv6_cidr_block = \"2001:db8::/56\""), &["cannot be had: Amazon chooses the range"]);

    // Once there is a range, entries outside it are refused too, and so is what another subnet has.
    let bed = TestEnv::new();
    bed.change(&dual(""));
    for (entry, says) in [
        ("2001:db8::/64".to_owned(), "lies outside the VPC's IPv6 range"),
        (block(&bed, 1, 64), "the block of public subnet 1"),
    ] {
        bed.config(&dual(&format!("  public_subnet_ipv6_cidr_blocks = {{ AZ-0 = \"{entry}\" }}")));
        bed.workspace.plan(&[]).failed_with(says);
    }
    bed.config(&dual(""));
    bed.destroy();
}
