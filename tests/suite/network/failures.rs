//! Calls that AWS rejects: the message names the object and the cause, state contains the existing objects, and the
//! next run continues.

use serde_json::json;

use super::{SHORT_TIMEOUTS, THIS, TestEnv};
use crate::support::proxy::call::Call;
use crate::support::proxy::fault::Fault;
use crate::support::proxy::lasts::Lasts;

const TWO_AZS: &str = "  num_availability_zones = 2\n  num_nat_gateways = 2\n  create_vpc_endpoints = false";

const SMALL: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_vpc_endpoints = false";

#[test]
fn a_failed_create_is_finished_after_untaint() {
    let env = TestEnv::with_terraform();
    env.config(TWO_AZS);
    let fault = Fault::on("CreateNatGateway").when(|call| call.params.values().any(|value| value == "nat_gateway.1"));
    env.proxy.fault(fault.answer(400, "NatGatewayLimitExceeded", "You have reached the limit of NAT gateways"));
    let failed = env.workspace.apply(&[]);
    for text in [
        "Could not create NAT gateway \"nat_gateway.1\"",
        "CreateNatGateway returned NatGatewayLimitExceeded: You have reached the limit of NAT gateways",
        "request ID 00000000-0000-4000-8000-00000000fa17",
        "Not started: route.private_app.1.ipv4",
        "terraform untaint ADDRESS",
        &env.id("vpc"),
    ] {
        failed.failed_with(text);
    }
    assert!(env.workspace.state().is_tainted(THIS));
    env.assert_state_matches_aws();
    let objects = env.attribute("aws_objects");
    assert!(objects["nat_gateway.0"].is_string() && objects["nat_gateway.1"].is_null(), "{objects}");
    assert_eq!(env.proxy.account().list_of("vpcs")[0]["tags"]["fgw:state"], "incomplete");

    env.proxy.clear_faults();
    env.workspace.untaint(THIS);
    let finished = env.apply();
    assert_eq!(finished.calls, "CreateNatGateway 1, CreateRoute 1, CreateTags 1", "only missing objects are created");
    assert_eq!(env.proxy.account().list_of("vpcs")[0]["tags"]["fgw:state"], "ready");
    env.destroy();
}

#[test]
fn a_nat_gateway_that_fails_after_its_creation_is_reported() {
    let env = TestEnv::with_terraform();
    env.config("  num_availability_zones = 1\n  num_nat_gateways = 1\n  create_vpc_endpoints = false");
    env.proxy.nat_fails(1, "InsufficientFreeAddressesInSubnet", "The subnet has no free addresses");
    let failed = env.workspace.apply(&[]);
    failed.failed_with("Could not create NAT gateway \"nat_gateway.0\"");
    failed.failed_with("InsufficientFreeAddressesInSubnet");
    assert!(env.workspace.state().is_tainted(THIS));
    let first = env.id("vpc");
    env.apply();
    assert_ne!(env.id("vpc"), first);
    assert_eq!(env.proxy.account().list_of("vpcs").len(), 1, "the tainted network is deleted");
    env.end();
}

#[test]
fn a_failed_update_continues_without_a_refresh() {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    let full = format!("{TWO_AZS}\n  create_transit_subnets = true\n  custom_tags = {{ a = \"b\" }}");
    env.config(&full);
    let fault =
        Fault::on("CreateRouteTable").when(|call| call.params.values().any(|value| value == "route_table.transit.1"));
    env.proxy.fault(fault.answer(
        400,
        "RouteTableLimitExceeded",
        "The maximum number of route tables has been reached",
    ));
    let failed = env.workspace.apply(&[]);
    failed.failed_with("Could not create route table \"route_table.transit.1\"");
    failed.failed_with("RouteTableLimitExceeded");
    assert!(!env.workspace.state().is_tainted(THIS));
    env.assert_state_matches_aws();
    let drift = env.attribute("drift");
    let left: Vec<&String> = drift.as_object().expect("a map").keys().collect();
    assert_eq!(left, ["route_table.transit.1", "route_table_association.transit.1"], "{drift}");
    assert_eq!(env.attribute("custom_tags"), json!({"a": "b"}), "the planned values of a failed update are in state");

    env.proxy.clear_faults();
    let plan = env.workspace.plan(&["-refresh=false"]);
    assert_eq!(plan.code, 2, "{plan}");
    let finished = env.apply_with(&["-refresh=false"]);
    assert_eq!(finished.calls, "AssociateRouteTable 1, CreateRouteTable 1");
    env.end();
}

#[test]
fn a_failed_deletion_in_an_update_continues_without_a_refresh() {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    env.config(&TWO_AZS.replace("num_nat_gateways = 2", "num_nat_gateways = 1"));
    env.proxy.fault(Fault::on("ReleaseAddress").answer(403, "UnauthorizedOperation", "You are not authorized"));
    let failed = env.workspace.apply(&[]);
    failed.failed_with("Could not delete Elastic IP address \"eip.1\"");
    failed.failed_with("The credentials do not allow this call");
    assert!(env.attribute("drift")["eip.1"].is_string(), "{}", env.attribute("drift"));
    assert!(env.attribute("aws_objects")["eip.1"].is_string());
    env.proxy.clear_faults();
    let finished = env.apply_with(&["-refresh=false"]);
    assert_eq!(finished.calls, "ReleaseAddress 1");
    env.end();
}

/// The answer of AWS to the release of an address whose NAT gateway was deleted just now
/// (hashicorp/terraform-provider-aws#49299).
fn missing_interface() -> Fault {
    let text = "The networkInterface ID 'eni-0123456789abcdef0' does not exist";
    Fault::on("ReleaseAddress").answer(400, "InvalidNetworkInterfaceID.NotFound", text)
}

const ONE_ADDRESS: &str = "  num_availability_zones = 1\n  num_nat_gateways = 1\n  create_vpc_endpoints = false\n";

#[test]
fn an_address_is_released_although_its_interface_is_missing() {
    let env = TestEnv::with_terraform();
    env.change(ONE_ADDRESS);
    env.proxy.fault(missing_interface().first(1));
    env.proxy.clear_calls();
    env.destroy();
    assert_eq!(env.proxy.count("ReleaseAddress"), 2);
    assert!(env.proxy.account().list_of("addresses").is_empty());
}

#[test]
fn an_address_that_is_not_released_stays_in_state() {
    let env = TestEnv::with_terraform();
    env.change(&format!("{ONE_ADDRESS}{SHORT_TIMEOUTS}"));
    let address = env.id("eip.0");
    env.proxy.fault(missing_interface());
    let failed = env.workspace.destroy();
    for text in [
        "Could not delete Elastic IP address \"eip.0\"",
        "ReleaseAddress returned InvalidNetworkInterfaceID.NotFound",
        "The object to delete still exists, and stays in state",
    ] {
        failed.failed_with(text);
    }
    assert_eq!(env.id("eip.0"), address);
    assert_eq!(env.proxy.account().list_of("addresses").len(), 1);
    env.proxy.clear_faults();
    env.end();
}

#[test]
fn rejected_credentials_are_one_error() {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    env.config(&format!("{TWO_AZS}\n  custom_tags = {{ a = \"b\" }}"));
    env.proxy.fault(Fault::on("CreateTags").answer(400, "RequestExpired", "Request has expired."));
    let failed = env.workspace.apply(&[]);
    failed.failed_with("Could not apply fgw_four_tier_vpc \"main\": AWS rejected the credentials");
    failed.failed_with("The provider uses access_key and secret_key of the provider block. Correct them");
    failed.failed_with("Operations that failed for this reason:");
    let shown = format!("{}{}", failed.stdout, failed.stderr);
    assert_eq!(shown.matches("Request has expired").count(), 1, "{failed}");
    env.proxy.clear_faults();
    env.apply();
    env.end();
}

#[test]
fn a_failed_destroy_keeps_the_remaining_objects_in_state() {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    let fault = Fault::on("DeleteSubnet").nth(3);
    env.proxy.fault(fault.answer(403, "UnauthorizedOperation", "You are not authorized to perform this operation"));
    let failed = env.workspace.destroy();
    failed.failed_with("DeleteSubnet returned UnauthorizedOperation");
    failed.failed_with("The credentials do not allow this call");
    let objects = env.attribute("aws_objects");
    let keys = objects.as_object().expect("a map").keys();
    assert_eq!(keys.filter(|key| key.starts_with("subnet.")).count(), 1, "{objects}");
    assert!(objects["vpc"].is_string(), "{objects}");
    env.assert_state_matches_aws();
    env.proxy.clear_faults();
    env.end();
}

#[test]
fn throttling_and_lost_answers_create_no_second_object() {
    let env = TestEnv::new();
    env.config("  num_availability_zones = 2\n  num_nat_gateways = 1");
    for action in ["CreateVpc", "CreateSubnet", "CreateInternetGateway", "AllocateAddress", "CreateNatGateway"] {
        env.proxy.fault(Fault::on(action).nth(1).after_work().reset());
    }
    for action in ["CreateRouteTable", "AssociateRouteTable", "CreateRoute"] {
        env.proxy.fault(Fault::on(action).first(2).answer(503, "RequestLimitExceeded", "Request limit exceeded."));
    }
    env.apply();
    env.assert_state_matches_aws();
    let listing = env.proxy.account().list();
    let count = |kind: &str| listing[kind].as_array().map_or(0, Vec::len);
    assert_eq!(
        ["vpcs", "subnets", "internet_gateways", "addresses", "nat_gateways", "route_tables"].map(count),
        [1, 6, 1, 1, 1, 6]
    );
    env.end();
}

#[test]
fn create_and_destroy_wait_for_slow_nat_gateways() {
    let env = TestEnv::new();
    env.proxy.nat_pending(Lasts::Answers(6));
    env.proxy.nat_deleting(Lasts::Answers(6));
    // The number of DescribeNatGateways calls between a create or delete and the call that depends on it.
    let polls_between = |since: &str, needs: &dyn Fn(&Call) -> bool| {
        let calls = env.proxy.calls();
        let begun = calls.iter().position(|record| record.call.action == since).expect("it is called");
        let end = calls.iter().position(|record| needs(&record.call)).expect("it is called");
        calls[begun..end].iter().filter(|record| record.call.action == "DescribeNatGateways").count()
    };
    env.change("  num_availability_zones = 1\n  num_nat_gateways = 1\n  create_vpc_endpoints = false");
    let route = |call: &Call| call.action == "CreateRoute" && !call.param("NatGatewayId").is_empty();
    assert!(polls_between("CreateNatGateway", &route) > 6, "no route uses a pending gateway");
    let snapshot = env.snapshot();
    assert!(snapshot.lines().iter().any(|line| line.starts_with("nat ") && line.contains(" available ")));
    env.proxy.clear_calls();
    env.destroy();
    let release = |call: &Call| call.action == "ReleaseAddress";
    assert!(polls_between("DeleteNatGateway", &release) > 6, "the address of a gateway is released after its deletion");
}

/// Emulators answer calls that they lack with such a page. In 0.1 a call of it was retried for minutes.
#[test]
fn a_failing_server_is_retried_briefly_and_shown_in_the_progress() {
    let mut env = TestEnv::with_terraform();
    let progress = env.workspace.path().join("progress.log");
    env.workspace.env("FGW_PROGRESS", progress.to_str().expect("the path is text"));
    env.config(TWO_AZS);
    env.proxy.fault(Fault::on("ModifyVpcAttribute").page());
    let failed = env.workspace.apply(&[]);
    failed.failed_with("Could not create VPC \"vpc\"");
    failed.failed_with("ModifyVpcAttribute");
    failed.failed_with("HTTP status 500 with a response of type text/html instead of an AWS error");
    failed.failed_with(&format!("The endpoint is {}.", env.proxy.endpoint()));
    assert_eq!(env.proxy.count("ModifyVpcAttribute"), 3, "{failed}");
    let lines = std::fs::read_to_string(&progress).expect("the provider writes the file");
    for number in [1, 2] {
        let line = format!("vpc: retrying ModifyVpcAttribute ({number} of at most 2): HTTP status 500");
        assert!(lines.contains(&line), "{lines}");
    }

    env.proxy.clear_faults();
    env.workspace.untaint(THIS);
    env.config("  num_availability_zones = 3\n  num_nat_gateways = 3\n  create_vpc_endpoints = false");
    let is_third = |call: &Call| call.params.values().any(|value| value == "nat_gateway.2");
    env.proxy.fault(Fault::on("CreateNatGateway").when(is_third).first(1).page());
    env.workspace.apply(&[]).succeeded();
    assert_eq!(env.proxy.account().list_of("nat_gateways").len(), 3);
    let lines = std::fs::read_to_string(&progress).expect("the provider writes the file");
    assert!(lines.contains("nat_gateway.2: retrying CreateNatGateway ("), "{lines}");
    env.workspace.env("FGW_PROGRESS", "");
    env.end();
}

/// In 0.1 each command, even `validate`, waited for a reader until Terraform gave up.
#[test]
fn a_pipe_in_fgw_progress_blocks_no_command() {
    let mut env = TestEnv::with_terraform();
    let pipe = env.workspace.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("a POSIX system has mkfifo");
    assert!(made.success());
    env.workspace.env("FGW_PROGRESS", pipe.to_str().expect("the path is text"));
    env.config(SMALL);
    env.workspace.validate().succeeded();
    env.workspace.apply(&[]).succeeded();
    env.end();
}

#[test]
fn only_an_operation_opens_the_progress_file() {
    use std::os::unix::fs::PermissionsExt;
    let mut env = TestEnv::with_terraform();
    let file = env.workspace.path().join("progress.log");
    env.workspace.env("FGW_PROGRESS", file.to_str().expect("the path is text"));
    env.config(SMALL);
    env.workspace.validate().succeeded();
    assert_eq!(env.workspace.plan(&[]).code, 2);
    assert!(!file.exists(), "a command without operations creates no file");
    env.workspace.apply(&[]).succeeded();
    let mode = file.metadata().expect("the apply creates the file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "other users cannot read the file");
    env.workspace.env("FGW_PROGRESS", "");
    env.end();
}
