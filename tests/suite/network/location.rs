//! A network is read, planned and changed only by a provider of its own account and Region.

use super::TestEnv;
use crate::support::proxy::Proxy;
use crate::support::terraform::Workspace;

const ONE_AZ: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_vpc_endpoints = false";

/// Refreshes, plans and destroys with this provider block, and asserts that each fails and changes nothing.
fn assert_rejected(env: &TestEnv, block: &str, connected: &str) {
    let before = env.workspace.state().resource(super::THIS).cloned();
    env.workspace.write("provider.tf", block);
    let runs = [
        env.workspace.plan(&["-refresh-only"]),
        env.workspace.plan(&["-refresh=false"]),
        env.workspace.apply(&[]),
        env.workspace.destroy(),
        env.workspace.apply(&["-destroy", "-refresh=false"]),
    ];
    for run in runs {
        run.failed_with("another account or Region");
        run.failed_with(&format!("{} is in account {} in Region us-east-1", env.id("vpc"), env.proxy.account().id));
        run.failed_with(connected);
        run.failed_with("terraform state rm ADDRESS");
    }
    assert_eq!(env.workspace.state().resource(super::THIS).cloned(), before);
}

#[test]
fn another_account_or_region_is_not_a_deleted_network() {
    let env = TestEnv::new();
    env.change(ONE_AZ);
    let block = Workspace::block(&env.proxy, "");
    let other = Proxy::moto();
    let in_other = format!("account {} in Region us-east-1", other.account().id);
    assert_rejected(&env, &Workspace::block(&other, ""), &in_other);
    assert_eq!(other.count_like(|record| record.call.service == "ec2"), 0);
    env.proxy.clear_calls();
    let in_region = format!("account {} in Region eu-west-1", env.proxy.account().id);
    assert_rejected(&env, &block.replace("us-east-1", "eu-west-1"), &in_region);
    assert_eq!(env.proxy.count_like(|record| record.call.service == "ec2"), 0);

    env.workspace.write("provider.tf", &block);
    env.workspace.assert_nothing_to_do();
    env.destroy();
}
