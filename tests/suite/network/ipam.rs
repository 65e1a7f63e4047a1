//! Networks with a range from an IPAM pool, which the proxy emulates.

use serde_json::json;

use super::{TestEnv, assert_unchanged, text};
use crate::support::proxy::fault::Fault;
use crate::support::proxy::lasts::Lasts;

const OF_POOL: &str = "  cidr_block = null\n  ipv4_ipam_pool_id = \"ipam-pool-0123456789abcdef0\"\n  \
                       ipv4_netmask_length = 20\n  num_availability_zones = 2\n  num_nat_gateways = 1\n  \
                       create_vpc_endpoints = false";

#[test]
fn a_network_gets_its_range_from_a_pool_and_returns_it() {
    let env = TestEnv::new();
    env.proxy.ipam_releasing(Lasts::Answers(5));
    env.config(OF_POOL);
    let plan = env.workspace.plan_json(&[]);
    let change = &plan["resource_changes"][0]["change"];
    let unknown = &change["after_unknown"];
    assert_eq!(unknown["vpc_cidr_block"], true, "the pool chooses it: {unknown:#}");
    for (tier, name) in [("public_subnets", "main-public-0"), ("private_app_subnets", "main-private-app-1")] {
        assert_eq!(unknown[tier][name]["cidr_block"], true, "{name} has an unknown block: {unknown:#}");
    }
    let created = env.apply();
    for line in [
        "vpc main 10.64.0.0/20 default support=true hostnames=true metrics=false",
        "subnet main-public-0 us-east-1a use1-az6 10.64.0.0/25 public_ip=false",
        "subnet main-private-persistence-1 us-east-1b use1-az1 10.64.10.128/25 public_ip=false",
        "table main-private-app-0 [main-private-app-0] 0.0.0.0/0>main-nat-gateway-0 10.64.0.0/20>local",
    ] {
        assert!(created.new.iter().any(|it| it == line), "no {line} in {created:#?}");
    }
    assert!(created.calls.contains("CreateVpc 1") && created.calls.contains("CreateSubnet 6"), "{created:#?}");
    let calls = env.proxy.calls();
    let create = calls.iter().find(|record| record.call.action == "CreateVpc").expect("it is called");
    assert_eq!((create.call.param("Ipv4NetmaskLength"), create.call.param("CidrBlock")), ("20", ""));
    assert_eq!(env.attribute("vpc_cidr_block"), "10.64.0.0/20");
    assert_eq!(env.attribute("public_subnets")["main-public-0"]["cidr_block"], "10.64.0.0/25");
    env.assert_state_matches_aws();

    // Once the network has its range, blocks are known at plan, and no subnet moves.
    let before = env.attribute("aws_objects");
    let three = OF_POOL.replace("num_availability_zones = 2", "num_availability_zones = 3");
    env.config(&three);
    let plan = env.workspace.plan_json(&[]);
    assert_eq!(plan["resource_changes"][0]["change"]["actions"], json!(["update"]));
    let added = env.apply();
    assert!(added.calls.contains("CreateSubnet 3"), "{added:#?}");
    assert_unchanged(&before, &env.attribute("aws_objects"));

    // The range may be configured explicitly. Another pool replaces the network.
    let range = text(&env.attribute("vpc_cidr_block"));
    let written = three.replace("cidr_block = null", &format!("cidr_block = \"{range}\""));
    let written = written.replace("  ipv4_netmask_length = 20\n", "");
    let same = env.change(&written);
    assert_eq!((same.calls.as_str(), same.new), ("", vec![]));
    env.config(&three.replace("abcdef0", "abcdef1"));
    let plan = env.workspace.plan_json(&[]);
    assert_eq!(plan["resource_changes"][0]["change"]["actions"], json!(["delete", "create"]));

    env.config(&three);
    env.proxy.clear_calls();
    env.destroy();
    // The pool has two allocations until then, and each page of the list has one.
    assert_eq!(env.proxy.count("GetIpamPoolAllocations"), 11, "the wait ends when the pool has its range back");
    let next = env.change(OF_POOL);
    assert!(
        next.new.iter().any(|line| line.starts_with("vpc main 10.64.0.0/20")),
        "the pool allocates the same range again: {next:#?}"
    );
    env.destroy();
}

/// Two public subnets, with an IPv6 range from this source.
fn dual(source: &str) -> String {
    format!(
        "  num_availability_zones = 2\n  num_nat_gateways = 0\n  create_private_app_subnets = false\n  \
         create_private_persistence_subnets = false\n  create_vpc_endpoints = false\n  {source}"
    )
}

const IPV6_OF_POOL: &str = "enable_ipv6 = true\n  ipv6_ipam_pool_id = \"ipam-pool-6\"\n  ipv6_netmask_length = 56";

#[test]
fn a_range_of_a_lost_answer_is_found_before_it_is_known() {
    let env = TestEnv::new();
    env.change(&dual(""));
    env.proxy.ipv6_associating(Lasts::Answers(3));
    env.proxy.fault(Fault::on("AssociateVpcCidrBlock").first(1).after_work());
    let added = env.change(&dual(IPV6_OF_POOL));
    assert!(added.calls.contains("AssociateVpcCidrBlock 1"), "no second range is requested: {added:#?}");
    assert!(text(&env.attribute("ipv6_cidr_block")).ends_with("/56"));
    env.assert_state_matches_aws();
    env.end();
}

#[test]
fn an_ipv6_range_returns_to_its_pool() {
    let env = TestEnv::new();
    env.proxy.ipam_releasing(Lasts::Answers(3));
    env.change(&dual(IPV6_OF_POOL));
    env.change(&dual(""));
    let polls = |env: &TestEnv| env.proxy.count("GetIpamPoolAllocations");
    assert_eq!(polls(&env), 7, "the update waits for the pool: three times two pages, and the last one");
    env.change(&dual(IPV6_OF_POOL));
    env.proxy.clear_calls();
    env.destroy();
    assert_eq!(polls(&env), 7, "the destroy waits for the pool");
    assert_eq!(env.proxy.count("DisassociateVpcCidrBlock"), 0, "AWS deletes the range with the VPC");
}

#[test]
fn an_ipv6_range_comes_from_a_pool_and_can_change_its_source() {
    let env = TestEnv::new();
    let public = |source: &str| {
        format!(
            "  num_availability_zones = 2\n  num_nat_gateways = 0\n  create_private_app_subnets = false\n  \
             create_private_persistence_subnets = false\n  create_vpc_endpoints = false\n  enable_ipv6 = true\n  {source}"
        )
    };
    let of_pool = public("ipv6_ipam_pool_id = \"ipam-pool-6\"\n  ipv6_netmask_length = 56");
    let created = env.change(&of_pool);
    assert!(created.calls.contains("AssociateVpcCidrBlock 1"), "{created:#?}");
    let calls = env.proxy.calls();
    let associate =
        calls.iter().map(|record| &record.call).find(|call| call.action == "AssociateVpcCidrBlock").expect("a call");
    assert_eq!([associate.param("Ipv6IpamPoolId"), associate.param("Ipv6NetmaskLength")], ["ipam-pool-6", "56"]);
    assert_eq!(associate.param("AmazonProvidedIpv6CidrBlock"), "");
    let (before, range) = (env.attribute("aws_objects"), env.attribute("ipv6_cidr_block"));

    // The range from the pool may be configured explicitly.
    let written = public(&format!("ipv6_ipam_pool_id = \"ipam-pool-6\"\n  ipv6_cidr_block = {range}"));
    assert_eq!(env.change(&written).calls, "");

    // Another source is another range. moto supports only one range per VPC, so this is only planned here. A test with
    // the simulated account applies it.
    env.config(&public("assign_generated_ipv6_cidr_block = true"));
    let plan = env.workspace.plan_json(&[]);
    let change = &plan["resource_changes"][0]["change"];
    assert_eq!(change["actions"], json!(["update"]));
    assert_eq!(change["after_unknown"]["ipv6_cidr_block"], true);
    for key in ["vpc", "subnet.public.0", "subnet.public.1", "route_table.public"] {
        assert_eq!(change["after"]["aws_objects"][key], before[key], "{key} stays");
    }
    env.config(&of_pool);
    env.end();
}
