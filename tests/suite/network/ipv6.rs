//! IPv6: the VPC's range, the blocks of the public subnets, and their default route. Snapshots show a block by its
//! number in the range, because AWS chooses the range.

use serde_json::{Value, json};

use super::drift_matrix::fixes;
use super::refusals::rejected;
use super::{TestEnv, assert_unchanged, text};

/// Two public subnets and nothing else.
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
fn block(env: &TestEnv, number: u128, length: u8) -> String {
    let range: ipnet::Ipv6Net = text(&env.attribute("ipv6_cidr_block")).parse().expect("a range");
    let address = u128::from(range.network()) + (number << (128 - length));
    ipnet::Ipv6Net::new(address.into(), length).expect("a length").to_string()
}

/// The block of a public subnet in state.
fn block_of(env: &TestEnv, index: usize) -> Value {
    env.attribute("public_subnets")[format!("main-public-{index}")]["ipv6_cidr_block"].clone()
}

/// The id of the association of a subnet with its block.
fn association(env: &TestEnv, subnet: &str) -> String {
    let subnets = env.ec2("describe_subnets", json!({"SubnetIds": [subnet]}));
    let blocks = subnets["Subnets"][0]["Ipv6CidrBlockAssociationSet"].as_array().expect("a list").clone();
    text(&blocks.last().unwrap_or_else(|| panic!("{subnet} has no block"))["AssociationId"])
}

/// The actions of the changing calls, in the order of their start.
fn order(env: &TestEnv) -> Vec<String> {
    env.proxy.mutations().into_iter().map(|record| record.call.action).collect()
}

/// Asserts that the last call of one action precedes the first call of another.
fn assert_before(env: &TestEnv, first: &str, then: &str) {
    let order = order(env);
    let (last, next) = (order.iter().rposition(|it| it == first), order.iter().position(|it| it == then));
    assert!(last.is_some() && last < next, "{first} comes before {then}: {order:?}");
}

#[test]
fn a_network_gets_its_ipv6_range_before_its_public_subnets() {
    let env = TestEnv::new();
    let attributes = format!(
        "  num_availability_zones = 2\n  num_nat_gateways = 1\n  create_vpc_endpoints = false\n{GENERATED}\n  \
         assign_ipv6_address_on_creation = true"
    );
    env.config(&attributes);
    let plan = env.workspace.plan_json(&[]);
    let unknown = &plan["resource_changes"][0]["change"]["after_unknown"];
    assert_eq!(unknown["ipv6_cidr_block"], true, "{unknown:#}");
    let created = env.apply();
    for line in [
        "vpc main 10.0.0.0/16 #0/56 default support=true hostnames=true metrics=false",
        "subnet main-public-0 us-east-1a use1-az6 10.0.0.0/21 #0/64 public_ip=false assigns_ipv6",
        "subnet main-public-1 us-east-1b use1-az1 10.0.8.0/21 #1/64 public_ip=false assigns_ipv6",
        "subnet main-private-app-0 us-east-1a use1-az6 10.0.80.0/21 public_ip=false",
        "table main-public [main-public-0 main-public-1] 0.0.0.0/0>main 10.0.0.0/16>local ::/0>main",
        "table main-private-app-0 [main-private-app-0] 0.0.0.0/0>main-nat-gateway-0 10.0.0.0/16>local",
    ] {
        assert!(created.new.iter().any(|it| it == line), "no {line} in {created:#?}");
    }
    for call in ["AssociateVpcCidrBlock 1", "CreateSubnet 6"] {
        assert!(created.calls.contains(call), "{created:#?}");
    }
    // Only public subnets depend on the range.
    let calls = env.proxy.mutations();
    let range = calls.iter().position(|record| record.call.action == "AssociateVpcCidrBlock");
    let first =
        calls.iter().position(|record| record.call.params.get("CidrBlock").is_some_and(|it| it == "10.0.0.0/21"));
    assert!(range.is_some() && range < first, "the range is associated before its subnets are created: {calls:#?}");

    assert!(text(&env.attribute("ipv6_cidr_block")).ends_with("/56"));
    for index in [0, 1] {
        assert_eq!(block_of(&env, index), json!(block(&env, index as u128, 64)));
        let subnet = &env.attribute("public_subnets")[format!("main-public-{index}")];
        assert_eq!(subnet["assign_ipv6_address_on_creation"], true);
    }
    let app = &env.attribute("private_app_subnets")["main-private-app-0"];
    assert_eq!((&app["ipv6_cidr_block"], &app["assign_ipv6_address_on_creation"]), (&Value::Null, &json!(false)));
    env.assert_state_matches_aws();
    env.destroy();
}

#[test]
fn ipv6_is_turned_on_and_off_in_an_existing_network() {
    let env = TestEnv::new();
    let plain = env.change(PUBLIC);
    let before = env.attribute("aws_objects");
    let on = env.change(&dual(""));
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
    assert_unchanged(&before, &env.attribute("aws_objects"));

    let assigning = env.change(&dual("  assign_ipv6_address_on_creation = true"));
    assert_eq!(assigning.calls, "ModifySubnetAttribute 2");
    assert!(assigning.new.iter().all(|line| line.ends_with(" assigns_ipv6")), "{assigning:#?}");
    let not = env.change(&dual(""));
    assert_eq!((not.calls.as_str(), &not.new), ("ModifySubnetAttribute 2", &assigning.old));
    env.change(&dual("  assign_ipv6_address_on_creation = true"));

    let blocks =
        ["subnet.public.0", "subnet.public.1"].map(|subnet| (env.id(subnet), association(&env, &env.id(subnet))));

    // All at once. AWS rejects the disassociation of a block while the subnet assigns its addresses, and that of a
    // range while subnets have blocks of it.
    let off = env.change(PUBLIC);
    assert_eq!(
        off.calls,
        "DeleteRoute 1, DisassociateSubnetCidrBlock 2, DisassociateVpcCidrBlock 1, ModifySubnetAttribute 2"
    );
    assert_before(&env, "DisassociateSubnetCidrBlock", "DisassociateVpcCidrBlock");
    let calls = env.proxy.mutations();
    for (subnet, association) in blocks {
        let flag = calls.iter().position(|record| record.call.param("SubnetId") == subnet);
        let block = calls.iter().position(|record| record.call.param("AssociationId") == association);
        assert!(flag.is_some() && flag < block, "{subnet} assigns no addresses when it loses its block: {calls:#?}");
    }
    assert_eq!(env.proxy.mutations().iter().filter(|it| it.status != 200).count(), 0, "AWS rejects no call");
    let objects = env.attribute("aws_objects");
    assert_eq!(objects, before, "all objects have the same ids as before");
    let old = |lines: &[String]| lines.iter().filter(|line| !line.starts_with("acl")).cloned().collect::<Vec<_>>();
    let snapshot = env.snapshot();
    let now: Vec<String> = snapshot.lines().into_iter().map(str::to_owned).collect();
    // The IPv6 rules that AWS added to the default ACL stay.
    assert_eq!(old(&now), old(&plain.new));
    assert_eq!(env.attribute("ipv6_cidr_block"), Value::Null);
    env.end();
}

/// The rules of a VPC without IPv6, to which AWS adds rules for IPv6 when a range is associated.
const ONLY_IPV4: &str = "  apply_default_nacl_rules = true
  default_nacl_ingress_rules = {
    all = { rule_no = 100, action = \"allow\", protocol = \"-1\", from_port = 0, to_port = 0, cidr_block = \"0.0.0.0/0\" }
  }
  default_nacl_egress_rules = {
    all = { rule_no = 100, action = \"allow\", protocol = \"-1\", from_port = 0, to_port = 0, cidr_block = \"0.0.0.0/0\" }
  }
  default_security_group_egress_rules = {
    all = { protocol = \"-1\", from_port = 0, to_port = 0, cidr_blocks = [\"0.0.0.0/0\"] }
  }";

#[test]
fn rules_that_aws_adds_with_a_range_are_removed() {
    let group = "group default main in(-1 self) out(-1 0.0.0.0/0)";
    let acl = "acl default main (in 100 allow 0.0.0.0/0, in 32767 deny 0.0.0.0/0, in 32768 deny ::/0, out 100 allow \
               0.0.0.0/0, out 32767 deny 0.0.0.0/0, out 32768 deny ::/0) 2 subnets";
    let new = TestEnv::new();
    let created = new.change(&dual(ONLY_IPV4));
    for line in [group, acl] {
        assert!(created.new.iter().any(|it| it == line), "no {line} in {created:#?}");
    }
    new.destroy();

    let later = TestEnv::new();
    later.change(&public(ONLY_IPV4));
    let on = later.change(&dual(ONLY_IPV4));
    assert!(on.calls.contains("DeleteNetworkAclEntry 2"), "{on:#?}");
    assert!(on.calls.contains("RevokeSecurityGroupEgress 1"), "{on:#?}");
    assert_eq!(on.new.iter().filter(|line| line.starts_with("acl")).collect::<Vec<_>>(), [acl]);
    assert!(!on.new.iter().any(|line| line.starts_with("group")), "the group has its rules again: {on:#?}");
    later.destroy();
}

#[test]
fn a_block_moves_only_if_its_own_entry_changes() {
    let env = TestEnv::new();
    env.change(&dual("  assign_ipv6_address_on_creation = true"));
    let before = env.attribute("aws_objects");
    let assign = "  assign_ipv6_address_on_creation = true";
    let entry = format!("{assign}\n  public_subnet_ipv6_cidr_blocks = {{ AZ-1 = \"{}\" }}", block(&env, 0x11, 64));
    let explicit = env.change(&dual(&entry));
    assert_eq!(explicit.calls, "AssociateSubnetCidrBlock 1, DisassociateSubnetCidrBlock 1, ModifySubnetAttribute 2");
    assert_eq!(
        order(&env),
        ["ModifySubnetAttribute", "DisassociateSubnetCidrBlock", "AssociateSubnetCidrBlock", "ModifySubnetAttribute"]
    );
    let moved = "subnet main-public-1 us-east-1b use1-az1 10.0.8.0/21 #17/64 public_ip=false assigns_ipv6";
    assert_eq!(explicit.new, [moved]);
    assert_eq!(env.attribute("aws_objects"), before, "in place");
    let removed = env.change(&dual(assign));
    assert_eq!((removed.calls.as_str(), removed.new), ("", vec![]), "the block stays");

    let third = env.change(&dual(assign).replace("num_availability_zones = 2", "num_availability_zones = 3"));
    assert_eq!(third.calls, "AssociateRouteTable 1, CreateSubnet 1, ModifySubnetAttribute 1");
    assert_eq!(
        third.new.iter().filter(|line| line.starts_with("subnet")).collect::<Vec<_>>(),
        ["subnet main-public-2 us-east-1c use1-az2 10.0.16.0/21 #2/64 public_ip=false assigns_ipv6"]
    );
    assert_unchanged(&before, &env.attribute("aws_objects"));
    env.end();
}

#[test]
fn other_bits_replace_the_blocks_in_place() {
    let env = TestEnv::new();
    env.change(&dual(""));
    let before = env.attribute("aws_objects");
    let larger = env.change(&dual("  ipv6_subnet_bits = 4"));
    assert_eq!(larger.calls, "AssociateSubnetCidrBlock 2, DisassociateSubnetCidrBlock 2");
    assert_eq!(env.attribute("aws_objects"), before);
    let blocks: Vec<ipnet::Ipv6Net> =
        (0..2).map(|index| text(&block_of(&env, index)).parse().expect("a block")).collect();
    assert!(blocks.iter().all(|block| block.prefix_len() == 60) && blocks[0] != blocks[1], "{blocks:?}");
    env.end();
}

#[test]
fn deleted_ipv6_ranges_blocks_and_routes_are_created_again() {
    let env = TestEnv::new();
    env.change(&dual("  assign_ipv6_address_on_creation = true"));
    let good = env.snapshot();
    let (first, second) = (env.id("subnet.public.0"), env.id("subnet.public.1"));
    let assign = |subnet: &str| {
        env.ec2("modify_subnet_attribute", json!({"SubnetId": subnet, "AssignIpv6AddressOnCreation": {"Value": false}}))
    };
    let take =
        |subnet: &str| env.ec2("disassociate_subnet_cidr_block", json!({"AssociationId": association(&env, subnet)}));
    // The block of one subnet, the flag of the other one, and the default route.
    assign(&first);
    take(&first);
    assign(&second);
    let table = env.id("route_table.public");
    env.ec2("delete_route", json!({"RouteTableId": table, "DestinationIpv6CidrBlock": "::/0"}));
    let found = [
        ("subnet.public.0", "ipv6_cidr_block is absent instead of"),
        ("subnet.public.0", "assign_ipv6_address_on_creation is false instead of true"),
        ("subnet.public.1", "assign_ipv6_address_on_creation is false instead of true"),
        ("route.public.ipv6", "is missing"),
    ];
    fixes(&env, &good, &found, "AssociateSubnetCidrBlock 1, CreateRoute 1, ModifySubnetAttribute 2");

    // The whole range: the apply associates another range and other blocks.
    let range = env.attribute("ipv6_cidr_block");
    for subnet in [&first, &second] {
        assign(subnet);
        take(subnet);
    }
    env.ec2("disassociate_vpc_cidr_block", json!({"AssociationId": env.id("ipv6_cidr_block")}));
    let found = [
        ("ipv6_cidr_block", "is missing"),
        ("subnet.public.0", "ipv6_cidr_block is absent instead of"),
        ("subnet.public.1", "ipv6_cidr_block is absent instead of"),
    ];
    fixes(&env, &good, &found, "AssociateSubnetCidrBlock 2, AssociateVpcCidrBlock 1, ModifySubnetAttribute 2");
    assert_ne!(env.attribute("ipv6_cidr_block"), range);
    env.end();
}

#[test]
fn a_flag_turned_on_outside_terraform_is_turned_off_again() {
    let env = TestEnv::new();
    env.change(&dual(""));
    let good = env.snapshot();
    for subnet in ["subnet.public.0", "subnet.public.1"] {
        let on = json!({"SubnetId": env.id(subnet), "AssignIpv6AddressOnCreation": {"Value": true}});
        env.ec2("modify_subnet_attribute", on);
    }
    let drift = "assign_ipv6_address_on_creation is true instead of false";
    fixes(&env, &good, &[("subnet.public.0", drift), ("subnet.public.1", drift)], "ModifySubnetAttribute 2");
    env.end();
}

#[test]
fn invalid_ipv6_inputs_fail_at_plan() {
    rejected(&public("  enable_ipv6 = true"), &["Invalid value for enable_ipv6", "the IPv6 range has no source"]);
    rejected(
        &public(
            "  assign_ipv6_address_on_creation = true\n  ipv6_cidr_block_network_border_group = \"us-east-1-bos-1\"\n  \
             assign_generated_ipv6_cidr_block = false\n  ipv6_netmask_length = 52",
        ),
        &[
            "Invalid value for assign_ipv6_address_on_creation",
            "The network border group us-east-1-bos-1 requires an Amazon-provided range.",
            "A /52 can only be requested from a pool, but ipv6_ipam_pool_id is not set.",
        ],
    );
    rejected(
        &dual(
            "  ipv6_ipam_pool_id = \"ipam-pool-1\"\n  ipv6_subnet_bits = 5\n  public_subnet_ipv6_cidr_blocks = { AZ-0 = \
             \"2001:db8::/65\", AZ-x = \"2001:db8::1/64\" }",
        ),
        &["or remove ipv6_ipam_pool_id.", "2001:db8::/65 is a /65", "AZ-x", "2001:db8::1/64 has host bits set"],
    );
    rejected(&dual("  ipv6_cidr_block = \"2001:db8::/56\""), &["cannot be requested, because Amazon chooses"]);

    // Once the network has a range, entries outside it and the blocks of other subnets are rejected, too.
    let env = TestEnv::new();
    env.change(&dual(""));
    for (entry, says) in [
        ("2001:db8::/64".to_owned(), "is outside the VPC's IPv6 range"),
        (block(&env, 1, 64), "the block of public subnet 1"),
    ] {
        env.config(&dual(&format!("  public_subnet_ipv6_cidr_blocks = {{ AZ-0 = \"{entry}\" }}")));
        env.workspace.plan(&[]).failed_with(says);
    }
    env.config(&dual(""));
    env.end();
}
