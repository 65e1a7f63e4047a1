//! Networks whose range comes from an IPAM pool, which the proxy plays.

use serde_json::json;

use super::{TestEnv, assert_others_stay, text};
use crate::support::proxy::lasts::Lasts;

const OF_POOL: &str = "  cidr_block = null\n  ipv4_ipam_pool_id = \"ipam-pool-0123456789abcdef0\"\n  \
                       ipv4_netmask_length = 20\n  num_availability_zones = 2\n  num_nat_gateways = 1\n  \
                       create_vpc_endpoints = false";

#[test]
fn a_network_takes_its_range_from_a_pool_and_gives_it_back() {
    let bed = TestEnv::new();
    bed.proxy.ipam_releasing(Lasts::Looks(5));
    bed.config(OF_POOL);
    let plan = bed.workspace.plan_json(&[]);
    let change = &plan["resource_changes"][0]["change"];
    let unknown = &change["after_unknown"];
    assert_eq!(unknown["vpc_cidr_block"], true, "the pool chooses it: {unknown:#}");
    for (tier, name) in [("public_subnets", "main-public-0"), ("private_app_subnets", "main-private-app-1")] {
        assert_eq!(unknown[tier][name]["cidr_block"], true, "{name} is shown, and its block is not known: {unknown:#}");
    }
    let made = bed.apply();
    for line in [
        "vpc main 10.64.0.0/20 default support=true hostnames=true metrics=false",
        "subnet main-public-0 us-east-1a use1-az6 10.64.0.0/25 public_ip=false",
        "subnet main-private-persistence-1 us-east-1b use1-az1 10.64.10.128/25 public_ip=false",
        "table main-private-app-0 [main-private-app-0] 0.0.0.0/0>main-nat-gateway-0 10.64.0.0/20>local",
    ] {
        assert!(made.new.iter().any(|it| it == line), "no {line} in {made:#?}");
    }
    assert!(made.calls.contains("CreateVpc 1") && made.calls.contains("CreateSubnet 6"), "{made:#?}");
    let calls = bed.proxy.calls();
    let create = calls.iter().find(|record| record.call.action == "CreateVpc").expect("it was made");
    assert_eq!((create.call.param("Ipv4NetmaskLength"), create.call.param("CidrBlock")), ("20", ""));
    assert_eq!(bed.attribute("vpc_cidr_block"), "10.64.0.0/20");
    assert_eq!(bed.attribute("public_subnets")["main-public-0"]["cidr_block"], "10.64.0.0/25");
    bed.assert_state_holds_what_exists();

    // Of a range that is there, blocks are known at plan, and nothing moves.
    let before = bed.attribute("aws_objects");
    let three = OF_POOL.replace("num_availability_zones = 2", "num_availability_zones = 3");
    bed.config(&three);
    let plan = bed.workspace.plan_json(&[]);
    assert_eq!(plan["resource_changes"][0]["change"]["actions"], json!(["update"]));
    let added = bed.apply();
    assert!(added.calls.contains("CreateSubnet 3"), "{added:#?}");
    assert_others_stay(&before, &bed.attribute("aws_objects"));

    // A network of another pool is another network; the range itself may be written down.
    let range = text(&bed.attribute("vpc_cidr_block"));
    let written = three.replace("cidr_block = null", &format!("cidr_block = \"{range}\""));
    let written = written.replace("  ipv4_netmask_length = 20\n", "");
    let same = bed.change(&written);
    assert_eq!((same.calls.as_str(), same.new), ("", vec![]));
    bed.config(&three.replace("abcdef0", "abcdef1"));
    let plan = bed.workspace.plan_json(&[]);
    assert_eq!(plan["resource_changes"][0]["change"]["actions"], json!(["delete", "create"]));

    bed.config(&three);
    bed.proxy.clear_calls();
    bed.destroy();
    assert_eq!(bed.proxy.count("GetIpamPoolAllocations"), 6, "it waits until the pool has its range, and no longer");
    let next = bed.change(OF_POOL);
    assert!(
        next.new.iter().any(|line| line.starts_with("vpc main 10.64.0.0/20")),
        "the pool gives it again: {next:#?}"
    );
    bed.destroy();
}

#[test]
fn an_ipv6_range_of_a_pool_is_asked_for_and_another_source_exchanges_no_subnet() {
    let bed = TestEnv::new();
    let public = |source: &str| {
        format!(
            "  num_availability_zones = 2\n  num_nat_gateways = 0\n  create_private_app_subnets = false\n  \
             create_private_persistence_subnets = false\n  create_vpc_endpoints = false\n  enable_ipv6 = true\n  {source}"
        )
    };
    let of_pool = public("ipv6_ipam_pool_id = \"ipam-pool-6\"\n  ipv6_netmask_length = 56");
    let made = bed.change(&of_pool);
    assert!(made.calls.contains("AssociateVpcCidrBlock 1"), "{made:#?}");
    let calls = bed.proxy.calls();
    let asked =
        calls.iter().map(|record| &record.call).find(|call| call.action == "AssociateVpcCidrBlock").expect("it");
    assert_eq!([asked.param("Ipv6IpamPoolId"), asked.param("Ipv6NetmaskLength")], ["ipam-pool-6", "56"]);
    assert_eq!(asked.param("AmazonProvidedIpv6CidrBlock"), "");
    let (before, range) = (bed.attribute("aws_objects"), bed.attribute("ipv6_cidr_block"));

    // What the pool has chosen may be written down.
    let written = public(&format!("ipv6_ipam_pool_id = \"ipam-pool-6\"\n  ipv6_cidr_block = {range}"));
    assert_eq!(bed.change(&written).calls, "");

    // Another source is another range. moto gives a VPC no second one, so this is planned here and carried out on
    // the simulated account.
    bed.config(&public("assign_generated_ipv6_cidr_block = true"));
    let plan = bed.workspace.plan_json(&[]);
    let change = &plan["resource_changes"][0]["change"];
    assert_eq!(change["actions"], json!(["update"]));
    assert_eq!(change["after_unknown"]["ipv6_cidr_block"], true);
    for key in ["vpc", "subnet.public.0", "subnet.public.1", "route_table.public"] {
        assert_eq!(change["after"]["aws_objects"][key], before[key], "{key} stays");
    }
    bed.config(&of_pool);
    bed.destroy();
}
