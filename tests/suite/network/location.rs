//! A network is read, planned and changed only by a provider of its own account, and always in its own Region.

use serde_json::json;

use super::TestEnv;
use crate::support::proxy::Proxy;
use crate::support::terraform::Workspace;

const ONE_AZ: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_vpc_endpoints = false";

#[test]
fn another_account_is_not_a_deleted_network() {
    let env = TestEnv::new();
    env.change(ONE_AZ);
    let other = Proxy::moto();
    env.subject().assert_rejected_in(&other);
    assert_eq!(other.count_like(|record| record.call.service == "ec2"), 0);
    env.destroy();
}

#[test]
fn a_network_stays_in_its_region_when_the_provider_moves() {
    let env = TestEnv::new();
    env.change(ONE_AZ);
    let block = Workspace::block(&env.proxy, "");
    env.workspace.write("provider.tf", &block.replace("us-east-1", "eu-west-1"));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("stays in Region us-east-1") && plan.code == 0, "the plan is not empty:\n{plan}");
    let vpc = env.id("vpc");
    env.change(&format!("{ONE_AZ}\n  region = \"us-east-1\"\n  enable_dns_hostnames = false"));
    assert_eq!(env.id("vpc"), vpc);
    env.end();
}

#[test]
fn one_provider_manages_networks_in_two_regions() {
    let env = TestEnv::with_terraform();
    let network = |name: &str, region: &str| {
        format!(
            "resource \"fgw_four_tier_vpc\" \"{name}\" {{\n{region}  vpc_name = \"{name}\"\n  cidr_block = \"10.0.0.0/16\"\n\
             {ONE_AZ}\n}}\n"
        )
    };
    let two = network("here", "") + &network("there", "  region = \"eu-west-1\"\n");
    env.workspace.config(&two);
    env.workspace.apply(&[]).succeeded();
    env.workspace.assert_nothing_to_do();
    let region = |name: &str| env.workspace.state().attribute(&format!("fgw_four_tier_vpc.{name}"), "region").clone();
    assert_eq!((region("here"), region("there")), (json!("us-east-1"), json!("eu-west-1")));
    let arn = env.workspace.state().attribute("fgw_four_tier_vpc.there", "vpc_arn").clone();
    assert!(arn.as_str().expect("an ARN").contains(":eu-west-1:"), "{arn}");

    // An import without the Region searches in that of the provider block.
    let id = env.workspace.state().attribute("fgw_four_tier_vpc.there", "id").as_str().expect("an ID").to_owned();
    env.workspace.forget("fgw_four_tier_vpc.there");
    env.workspace.import("fgw_four_tier_vpc.there", &id).failed_with("not found");
    env.workspace.import("fgw_four_tier_vpc.there", &format!("{id}@eu-west-1")).succeeded();
    env.workspace.assert_nothing_to_do();

    // Back to the Region of the provider block.
    env.workspace.config(&two.replace("eu-west-1", "us-east-1"));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("forces replacement") && plan.says("1 to add, 0 to change, 1 to destroy"), "{plan}");
    env.workspace.apply_plan().succeeded();
    assert_eq!(region("there"), json!("us-east-1"));
    env.workspace.assert_nothing_to_do();
    env.workspace.destroy().succeeded();
    env.proxy.account().assert_nothing_of_ours_is_left();
}
