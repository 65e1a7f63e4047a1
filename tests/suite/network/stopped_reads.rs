//! Ctrl-C while AWS does not answer: whatever only reads ends at once, and the state stays as it is. During the plan of
//! an apply without a saved plan, Terraform and OpenTofu do not forward a stop to providers.

use super::{THIS, TestEnv};
use crate::support::terraform::Running;
use crate::support::wait;

const ONE_AZ: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_vpc_endpoints = false";

const PLAN: [&str; 3] = ["plan", "-no-color", "-input=false"];

/// Runs a command, and presses Ctrl-C when AWS has received the first call of an action. AWS answers it only after the
/// command has ended.
fn assert_stops(env: &TestEnv, arguments: &[&str], action: &'static str, message: &str) {
    assert_ends(env, arguments, action, Running::interrupt, message);
}

/// The same with another way to stop the command.
fn assert_ends(env: &TestEnv, arguments: &[&str], action: &'static str, stop: impl Fn(&Running), message: &str) {
    let state = || std::fs::read(env.workspace.path().join("terraform.tfstate")).expect("there is a state");
    let before = state();
    env.proxy.clear_calls();
    env.proxy.pause_when(1, move |record| record.call.action == action);
    let mut running = env.workspace.start(arguments);
    running.reach(|| env.proxy.is_paused());
    stop(&running);
    let run = running.end();
    env.proxy.finish_calls();
    run.failed_with(message);
    assert!(state() == before, "the state has changed:\n{run}");
}

#[test]
fn ctrl_c_ends_each_command_that_waits_for_a_read() {
    let env = TestEnv::with_terraform();
    env.change(ONE_AZ);
    if env.workspace.is_opentofu() {
        // OpenTofu 1.12 does not forward a stop while it configures a provider. A second one ends OpenTofu at once, and
        // the provider with it.
        let twice = |running: &Running| {
            running.interrupt();
            wait::until("OpenTofu has received the first Ctrl-C", || running.output(None).says("Interrupt received"));
            running.interrupt();
        };
        assert_ends(&env, &PLAN, "GetCallerIdentity", twice, "Two interrupts received");
    } else {
        assert_stops(&env, &PLAN, "GetCallerIdentity", "Stopped configuring the provider");
    }
    assert_stops(&env, &PLAN, "DescribeVpcs", "Stopped reading fgw_four_tier_vpc");
    let id = env.id("vpc");
    let data = format!("\ndata \"fgw_four_tier_vpc\" \"this\" {{\n  id = \"{id}\"\n}}\n");
    env.workspace.write("data.tf", &data);
    let only_data = [&PLAN[..], &["-refresh=false"]].concat();
    assert_stops(&env, &only_data, "DescribeVpcs", "Stopped reading fgw_four_tier_vpc");
    std::fs::remove_file(env.workspace.path().join("data.tf")).expect("the test has written it");

    // A plan without a refresh looks up the objects in a subnet that it deletes.
    env.config(&format!("{ONE_AZ}\n  create_private_persistence_subnets = false"));
    assert_stops(&env, &only_data, "DescribeNetworkInterfaces", "Stopped planning fgw_four_tier_vpc");
    env.config(ONE_AZ);

    env.workspace.forget(THIS);
    env.workspace.write("import.tf", &format!("import {{\n  to = {THIS}\n  id = \"{id}\"\n}}\n"));
    assert_stops(&env, &PLAN, "DescribeVpcs", "Stopped importing fgw_four_tier_vpc");
    env.workspace.apply(&[]).succeeded();
    env.destroy();
}
