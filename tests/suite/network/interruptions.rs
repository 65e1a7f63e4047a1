//! Runs that are interrupted or killed.

use super::{THIS, TestEnv};
use crate::support::interruption::interrupt;
use crate::support::proxy::lasts::Lasts;
use crate::support::proxy::log::Record;

const TWO_AZS: &str = "  num_availability_zones = 2\n  num_nat_gateways = 1\n  create_vpc_endpoints = false";

const APPLY: [&str; 4] = ["apply", "-no-color", "-input=false", "-auto-approve"];

/// Whether AWS has created a subnet, even if the answer has not arrived.
fn makes_a_subnet(record: &Record) -> bool {
    record.call.action == "CreateSubnet" && record.worked.is_some()
}

/// Kills Terraform and the provider when AWS has created this many subnets. Calls in flight still reach AWS.
pub(super) fn apply_killed(env: &TestEnv, subnets: usize) {
    apply_killed_after(env, subnets, makes_a_subnet);
}

/// The same with another call.
pub(super) fn apply_killed_after(env: &TestEnv, calls: usize, is_one: fn(&Record) -> bool) {
    env.proxy.pause_when(calls, is_one);
    let mut running = env.workspace.start(&APPLY);
    running.reach(|| env.proxy.is_paused());
    running.kill();
    drop(running);
    env.proxy.finish_calls();
}

#[test]
fn created_objects_are_in_state_after_ctrl_c() {
    let env = TestEnv::with_terraform();
    env.config(TWO_AZS);
    env.proxy.pause_when(2, makes_a_subnet);
    let running = env.workspace.start(&APPLY);
    let run = interrupt(&env.workspace, running, &env.proxy, || {}).run;
    assert_eq!(run.code, 1, "{run}");
    assert!(run.says("operations were completed before Terraform requested a stop"), "{run}");
    env.assert_state_matches_aws();
    assert!(env.workspace.state().is_tainted(THIS));
    assert_eq!(env.proxy.count("CreateNatGateway"), 0, "nothing new starts after Ctrl-C");
    env.destroy();
}

#[test]
fn ctrl_c_ends_the_wait_for_a_nat_gateway() {
    let env = TestEnv::with_terraform();
    env.config(TWO_AZS);
    env.proxy.nat_pending(Lasts::UntilSet);
    let created = |record: &Record| record.call.action == "CreateNatGateway" && record.worked.is_some();
    env.proxy.pause_when(1, created);
    let running = env.workspace.start(&APPLY);
    let run = interrupt(&env.workspace, running, &env.proxy, || {}).run;
    run.failed_with("stopped waiting; last seen: the NAT gateway is pending");
    env.proxy.nat_pending(Lasts::NOT_AT_ALL);
    env.assert_state_matches_aws();
    assert!(env.attribute("aws_objects")["nat_gateway.0"].is_string(), "{}", env.attribute("aws_objects"));
    env.destroy();
}

#[test]
fn a_killed_create_is_reported_imported_and_finished() {
    let env = TestEnv::with_terraform();
    env.config(TWO_AZS);
    apply_killed(&env, 2);
    assert!(env.workspace.state().resource(THIS).is_none(), "a killed Terraform saves no state");
    let vpcs = env.proxy.account().list_of("vpcs");
    let vpc = super::text(&vpcs[0]["VpcId"]);
    assert_eq!(vpcs[0]["tags"]["fgw:state"], "creating");

    let rejected = env.workspace.apply(&[]);
    rejected.failed_with("Could not create fgw_four_tier_vpc \"main\": unfinished vpc-");
    rejected.failed_with(&format!("terraform import ADDRESS {vpc}"));
    assert_eq!(env.proxy.account().list_of("vpcs").len(), 1, "no second VPC is created");

    env.workspace.import(THIS, &vpc).succeeded();
    let finished = env.apply();
    assert!(!finished.calls.contains("CreateVpc"), "{finished:#?}");
    assert!(!finished.calls.contains("Delete"), "existing objects are used: {finished:#?}");
    env.release_unused_addresses();
    env.assert_state_matches_aws();
    assert_eq!(env.id("vpc"), vpc);
    assert_eq!(env.proxy.account().list_of("vpcs")[0]["tags"]["fgw:state"], "ready");
    assert_eq!(env.proxy.account().list_of("subnets").len(), 6);
    env.destroy();
}

#[test]
fn the_next_apply_finds_all_objects_of_a_killed_update() {
    let env = TestEnv::with_terraform();
    env.change(TWO_AZS);
    env.config(&format!("{TWO_AZS}\n  create_transit_subnets = true"));
    env.proxy.clear_calls();
    apply_killed(&env, 1);
    env.apply();
    env.assert_state_matches_aws();
    assert_eq!(env.proxy.account().list_of("subnets").len(), 8, "objects of the killed run are used");
    env.destroy();
}
