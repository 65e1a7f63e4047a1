//! Runs that a person or a machine ends before their time.

use std::time::Duration;

use super::{Bed, THIS};

const TWO_AZS: &str = "  num_availability_zones = 2\n  num_nat_gateways = 1\n  create_vpc_endpoints = false";

#[test]
fn ctrl_c_keeps_what_was_created_in_state_and_destroy_takes_it() {
    let bed = Bed::with_terraform();
    bed.config(TWO_AZS);
    bed.proxy.latency(Duration::from_millis(60));
    let run = bed.workspace.apply_interrupted(|| bed.proxy.succeeded("CreateSubnet") >= 2);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.says("operations were done before Terraform was asked to stop"), "{run}");
    bed.assert_state_holds_what_exists();
    assert!(bed.workspace.state().is_tainted(THIS));
    assert_eq!(bed.proxy.count("CreateNatGateway"), 0, "nothing new starts after Ctrl-C");
    bed.proxy.latency(Duration::ZERO);
    bed.destroy();
}

#[test]
fn a_killed_create_is_found_by_the_next_one_imported_and_finished() {
    let bed = Bed::with_terraform();
    bed.config(TWO_AZS);
    bed.proxy.latency(Duration::from_millis(60));
    let mut running = bed.workspace.start(&["apply", "-no-color", "-input=false", "-auto-approve"]);
    bed.proxy.wait_for("CreateSubnet", 2, Duration::from_secs(60));
    running.kill();
    drop(running);
    bed.proxy.latency(Duration::ZERO);
    assert!(bed.workspace.state().resource(THIS).is_none(), "a killed Terraform has saved nothing");
    // Calls in flight at the kill reach AWS all the same.
    std::thread::sleep(Duration::from_millis(500));
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
    let bed = Bed::with_terraform();
    bed.change(TWO_AZS);
    bed.config(&format!("{TWO_AZS}\n  create_transit_subnets = true"));
    bed.proxy.clear_calls();
    bed.proxy.latency(Duration::from_millis(60));
    let mut running = bed.workspace.start(&["apply", "-no-color", "-input=false", "-auto-approve"]);
    bed.proxy.wait_for("CreateSubnet", 1, Duration::from_secs(60));
    running.kill();
    drop(running);
    bed.proxy.latency(Duration::ZERO);
    std::thread::sleep(Duration::from_millis(500));
    bed.apply();
    bed.assert_state_holds_what_exists();
    assert_eq!(bed.proxy.account().list_of("subnets").len(), 8, "what the killed run made is taken, not made again");
    bed.destroy();
}
