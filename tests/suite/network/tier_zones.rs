//! Tiers that have subnets in some AZs only. A change of the list of a tier concerns only its subnets in these AZs.

use std::collections::BTreeMap;

use serde_json::json;

use super::{TestEnv, assert_unchanged, text, without_acl};
use crate::support::proxy::Zone;

/// Three AZs with the IDs use1-az6, use1-az1 and use1-az2, in this order.
fn in_three_azs() -> TestEnv {
    let env = TestEnv::new();
    let zone = |(letter, id): (&str, &str)| Zone::new(&format!("us-east-1{letter}"), id);
    env.proxy.zones(&[("a", "use1-az6"), ("b", "use1-az1"), ("c", "use1-az2")].map(zone));
    env
}

fn with(lists: &str, further: &str) -> String {
    format!("  create_vpc_endpoints = false\n  tier_availability_zone_ids = {{ {lists} }}\n{further}")
}

/// The block of each subnet by its ID, as boto3 lists them.
fn subnets(env: &TestEnv) -> BTreeMap<String, String> {
    let subnets = env.proxy.account().list_of("subnets");
    subnets.iter().map(|subnet| (text(&subnet["SubnetId"]), text(&subnet["CidrBlock"]))).collect()
}

#[test]
fn a_tier_leaves_an_az_and_returns_without_other_changes() {
    let env = in_three_azs();
    let one_nat = "  num_nat_gateways = 1";
    env.change(&with("", one_nat));
    let (objects, all) = (env.attribute("aws_objects"), subnets(&env));
    let id = env.id("subnet.private_persistence.1");

    let two_azs = with("private_persistence = [\"use1-az2\", \"use1-az6\"]", one_nat);
    env.config(&two_azs);
    let plan = env.workspace.plan(&[]);
    for part in ["Updating fgw_four_tier_vpc \"main\" deletes 3 AWS objects", &format!("private_persistence.1 ({id})")]
    {
        assert!(plan.says(part), "no {part:?} in\n{plan}");
    }
    let left = env.change(&two_azs);
    assert_eq!(left.calls, "DeleteRouteTable 1, DeleteSubnet 1");
    let lines = [
        "subnet main-private-persistence-1 us-east-1b use1-az1 10.0.168.0/21 public_ip=false",
        "table main-private-persistence-1 [main-private-persistence-1] 10.0.0.0/16>local",
    ];
    assert_eq!((without_acl(&left.old), without_acl(&left.new)), (lines.to_vec(), vec![]));
    assert_unchanged(&objects, &env.attribute("aws_objects"));
    let mut others = all;
    others.remove(&id);
    assert_eq!(subnets(&env), others);
    let ids =
        |indices: [u32; 2]| json!(indices.map(|index| objects[format!("subnet.private_persistence.{index}")].clone()));
    assert_eq!(env.attribute("private_persistence_subnet_ids"), ids([0, 2]));
    assert_eq!(env.attribute("availability_zone_ids_used"), json!(["use1-az6", "use1-az1", "use1-az2"]));

    let returned = env.change(&with("", one_nat));
    assert_eq!(returned.calls, "AssociateRouteTable 1, CreateRouteTable 1, CreateSubnet 1");
    assert_eq!((without_acl(&returned.new), without_acl(&returned.old)), (lines.to_vec(), vec![]));
    others.insert(env.id("subnet.private_persistence.1"), "10.0.168.0/21".to_owned());
    assert_eq!(subnets(&env), others);
    env.destroy();
}

#[test]
fn the_nat_gateway_of_an_az_leaves_with_its_public_subnet() {
    let env = in_three_azs();
    env.change(&with("private_persistence = [\"use1-az6\"]", "  num_nat_gateways = 3"));
    let before = env.attribute("aws_objects");
    assert_eq!(before["subnet.private_persistence.1"], json!(null));
    let left = env.change(&with(
        "private_persistence = [\"use1-az6\"], public = [\"use1-az6\", \"use1-az2\"]",
        "  num_nat_gateways = 2",
    ));
    assert_eq!(left.calls, "DeleteNatGateway 1, DeleteSubnet 1, ReleaseAddress 1, ReplaceRoute 1");
    let after = env.attribute("aws_objects");
    assert_unchanged(&before, &after);
    for key in ["nat_gateway.0", "nat_gateway.2", "subnet.private_app.1", "route_table.private_app.1"] {
        assert_eq!(after[key], before[key], "{key}");
    }
    assert!(after["nat_gateway.1"].is_null() && after["subnet.public.1"].is_null(), "{after}");
    let table = "table main-private-app-1 [main-private-app-1] 0.0.0.0/0>main-nat-gateway-2 10.0.0.0/16>local";
    assert!(left.new.iter().any(|line| line == table), "{left:#?}");
    env.end();
}

#[test]
fn a_list_with_an_az_outside_the_network_is_rejected() {
    let env = in_three_azs();
    let lists = "private_persistence = [\"use1-az6\", \"use1-az2\"]";
    env.change(&with(lists, "  num_nat_gateways = 0"));
    env.config(&with(lists, "  num_nat_gateways = 0\n  num_availability_zones = 2"));
    let rejected = env.workspace.plan(&[]);
    for part in [
        "Invalid value for tier_availability_zone_ids[\"private_persistence\"][1]",
        "use1-az2 is not an AZ of the network, because num_availability_zones is 2.",
        "The AZs of the network are use1-az6, use1-az1.",
    ] {
        rejected.failed_with(part);
    }
    env.config(&with("database = [\"use1-az6\"]", "  num_nat_gateways = 0"));
    env.workspace.plan(&[]).failed_with("\"database\" is not a tier.");
    // A list of a tier that is not created has no effect.
    let unused = with(&format!("{lists}, transit = [\"use1-az1\"]"), "  num_nat_gateways = 0");
    env.config(&unused);
    assert!(env.workspace.plan(&[]).says("The entry is not used, because create_transit_subnets is false."));
    assert_eq!(env.change(&unused).calls, "");
    env.end();
}
