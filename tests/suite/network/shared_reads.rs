//! Networks that Terraform refreshes in the same run share their lists.

use super::TestEnv;

const NETWORKS: usize = 6;

#[test]
fn a_plan_of_several_networks_shares_lists() {
    let env = TestEnv::with_terraform();
    env.workspace.config(&format!(
        "resource \"fgw_four_tier_vpc\" \"this\" {{\n  count = {NETWORKS}\n  vpc_name = \"net-${{count.index}}\"\n  \
         cidr_block = \"10.${{count.index}}.0.0/16\"\n  num_availability_zones = 1\n  num_nat_gateways = 0\n}}\n"
    ));
    env.workspace.apply(&[]).succeeded();
    env.proxy.clear_calls();
    let plan = env.workspace.plan(&[]);
    assert_eq!(plan.code, 0, "{plan}");
    let lists = env.proxy.by_action();
    assert_eq!(lists["DescribeVpcAttribute"], 3 * NETWORKS, "AWS has no list of them");
    // How many join is decided by the moments at which Terraform asks, which a busy machine spreads.
    assert!(lists["DescribeSubnets"] < NETWORKS, "{lists:#?}");
}
