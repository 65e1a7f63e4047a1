//! Runs that a person or a machine ends before their time.

use super::{THIS, TestEnv};
use crate::support::interruption::interrupt;
use crate::support::proxy::lasts::Lasts;
use crate::support::proxy::log::Record;

const TWO_AZS: &str = "  num_availability_zones = 2\n  num_nat_gateways = 1\n  create_vpc_endpoints = false";

const APPLY: [&str; 4] = ["apply", "-no-color", "-input=false", "-auto-approve"];

/// Whether AWS has made a subnet, be the answer on its way or lost.
fn makes_a_subnet(record: &Record) -> bool {
    record.call.action == "CreateSubnet" && record.worked.is_some()
}

/// Kills Terraform and the provider when AWS has made this many subnets. Calls in flight at the kill reach AWS all the
/// same.
fn apply_killed(bed: &TestEnv, subnets: usize) {
    bed.proxy.stand_still_when(subnets, makes_a_subnet);
    let mut running = bed.workspace.start(&APPLY);
    running.reach(|| bed.proxy.stands_still());
    running.kill();
    drop(running);
    bed.proxy.finish_calls();
}

#[test]
fn ctrl_c_keeps_what_was_created_in_state_and_destroy_takes_it() {
    let bed = TestEnv::with_terraform();
    bed.config(TWO_AZS);
    bed.proxy.stand_still_when(2, makes_a_subnet);
    let running = bed.workspace.start(&APPLY);
    let run = interrupt(&bed.workspace, running, &bed.proxy, || {}).run;
    assert_eq!(run.code, 1, "{run}");
    assert!(run.says("operations were done before Terraform was asked to stop"), "{run}");
    bed.assert_state_holds_what_exists();
    assert!(bed.workspace.state().is_tainted(THIS));
    assert_eq!(bed.proxy.count("CreateNatGateway"), 0, "nothing new starts after Ctrl-C");
    bed.destroy();
}

#[test]
fn ctrl_c_ends_the_wait_for_a_nat_gateway() {
    let bed = TestEnv::with_terraform();
    bed.config(TWO_AZS);
    bed.proxy.nat_pending(Lasts::UntilSet);
    let made = |record: &Record| record.call.action == "CreateNatGateway" && record.worked.is_some();
    bed.proxy.stand_still_when(1, made);
    let running = bed.workspace.start(&APPLY);
    let run = interrupt(&bed.workspace, running, &bed.proxy, || {}).run;
    run.failed_with("stopped waiting; last seen: the NAT gateway is pending");
    bed.proxy.nat_pending(Lasts::NOT_AT_ALL);
    bed.assert_state_holds_what_exists();
    assert!(bed.attribute("aws_objects")["nat_gateway.0"].is_string(), "{}", bed.attribute("aws_objects"));
    bed.destroy();
}

#[test]
fn a_killed_create_is_found_by_the_next_one_imported_and_finished() {
    let bed = TestEnv::with_terraform();
    bed.config(TWO_AZS);
    apply_killed(&bed, 2);
    assert!(bed.workspace.state().resource(THIS).is_none(), "a killed Terraform has saved nothing");
    let vpcs = bed.proxy.account().list_of("vpcs");
    let vpc = super::text(&vpcs[0]["VpcId"]);
    assert_eq!(vpcs[0]["tags"]["fgw:state"], "creating");

    let refused = bed.workspace.apply(&[]);
    refused.failed_with("An unfinished fgw_four_tier_vpc \"main\" exists already");
    refused.failed_with(&format!("terraform import ADDRESS {vpc}"));
    assert_eq!(bed.proxy.account().list_of("vpcs").len(), 1, "nothing was made beside it");

    bed.workspace.import(THIS, &vpc).succeeded();
    let finished = bed.apply();
    assert!(!finished.calls.contains("CreateVpc"), "{finished:#?}");
    assert!(!finished.calls.contains("Delete"), "what was there is used: {finished:#?}");
    bed.assert_state_holds_what_exists();
    assert_eq!(bed.id("vpc"), vpc);
    assert_eq!(bed.proxy.account().list_of("vpcs")[0]["tags"]["fgw:state"], "ready");
    assert_eq!(bed.proxy.account().list_of("subnets").len(), 6);
    bed.destroy();
}

#[test]
fn a_killed_update_leaves_nothing_that_the_next_apply_does_not_find() {
    let bed = TestEnv::with_terraform();
    bed.change(TWO_AZS);
    bed.config(&format!("{TWO_AZS}\n  create_transit_subnets = true"));
    bed.proxy.clear_calls();
    apply_killed(&bed, 1);
    bed.apply();
    bed.assert_state_holds_what_exists();
    assert_eq!(bed.proxy.account().list_of("subnets").len(), 8, "what the killed run made is taken, not made again");
    bed.destroy();
}
