//! Subnets that leave while others still have network interfaces in them.

use serde_json::json;

use super::{TestEnv, text};
use crate::support::proxy::fault::Fault;
use crate::support::terraform::Run;

/// The timeouts end only the wait for the subnets, so they may be short.
const TWO_AZS: &str = "  num_availability_zones = 2\n  num_nat_gateways = 1\n  create_vpc_endpoints = false\n  timeouts {\n    \
                       update = \"2s\"\n    delete = \"2s\"\n  }\n";

fn two_azs(further: &str) -> String {
    format!("{TWO_AZS}{further}")
}

/// A network interface such as Lambda makes, in a subnet of the network.
pub(super) fn interface(bed: &TestEnv, subnet: &str) -> String {
    let made = bed
        .ec2("create_network_interface", json!({"SubnetId": bed.id(subnet), "Description": "AWS Lambda VPC ENI-shop"}));
    text(&made["NetworkInterface"]["NetworkInterfaceId"])
}

fn remove(bed: &TestEnv, interface: &str) {
    bed.ec2("delete_network_interface", json!({"NetworkInterfaceId": interface}));
}

fn assert_says(run: &Run, texts: &[&str]) {
    for text in texts {
        assert!(run.says(text), "no {text:?} in\n{run}");
    }
}

/// The keys in `pending_deletion`.
fn pending_deletion(bed: &TestEnv) -> Vec<String> {
    bed.attribute("pending_deletion").as_object().expect("a map").keys().cloned().collect()
}

/// Applies a change that deletes a subnet which a network interface is in; removes the interface, and applies again.
/// `with` is all that leaves with the subnet.
fn leaves_in_two_applies(attributes: &str, subnet: &str, with: &[&str], then: &str) {
    let bed = TestEnv::new();
    bed.change(TWO_AZS);
    let eni = interface(&bed, subnet);
    let id = bed.id(subnet);
    bed.config(&two_azs(attributes));
    bed.proxy.clear_calls();
    let plan = bed.workspace.plan(&[]);
    assert_eq!(plan.code, 2, "{plan}");
    assert_eq!(bed.proxy.count("DescribeNetworkInterfaces"), 1, "one call for all subnets");
    let account = &bed.proxy.account().id;
    let line = format!("({id}), with 1 network interface in it: network interface {eni} \"AWS Lambda VPC ENI-shop\"");
    assert_says(
        &plan,
        &["The update of fgw_four_tier_vpc \"main\" deletes", &line, account, "the attribute pending_deletion"],
    );

    let first = bed.workspace.apply_plan();
    first.succeeded();
    let in_use = format!("{subnet} is still in use and is deleted by the next apply");
    assert_says(&first, &[&in_use, "DeleteSubnet answered DependencyViolation", &format!("network interface {eni}")]);
    assert_eq!(pending_deletion(&bed), with);
    assert_eq!(bed.attribute("pending_deletion")[subnet], id.as_str());
    assert_eq!(bed.attribute("drift"), json!({}), "it is no drift");

    let plan = bed.workspace.plan(&[]);
    assert_eq!(plan.code, 2, "the deletion is shown again: {plan}");
    assert_says(&plan, &[&eni]);
    remove(&bed, &eni);
    let cleaned = bed.apply();
    assert_eq!(cleaned.calls, then);
    let subnets = bed.proxy.account().list_of("subnets");
    assert!(subnets.iter().all(|subnet| subnet["SubnetId"] != id.as_str()), "the subnet has gone");
    bed.destroy();
}

#[test]
fn a_subnet_of_a_tier_that_is_turned_off_leaves_when_its_interfaces_have_gone() {
    leaves_in_two_applies(
        "  create_private_persistence_subnets = false",
        "subnet.private_persistence.1",
        &[
            "route_table.private_persistence.1",
            "route_table_association.private_persistence.1",
            "subnet.private_persistence.1",
        ],
        "DeleteRouteTable 1, DeleteSubnet 1",
    );
}

#[test]
fn a_subnet_of_an_az_that_is_excluded_leaves_when_its_interfaces_have_gone() {
    leaves_in_two_applies(
        "  availability_zone_exclude_ids = [\"use1-az6\"]",
        "subnet.private_app.0",
        &["route_table_association.private_app.0", "subnet.private_app.0"],
        "DeleteSubnet 1",
    );
}

#[test]
fn a_subnet_whose_block_changes_leaves_when_its_interfaces_have_gone() {
    leaves_in_two_applies(
        "  private_app_subnet_cidr_blocks = { AZ-0 = \"10.0.240.0/24\" }",
        "subnet.private_app.0",
        &["route_table_association.private_app.0", "subnet.private_app.0"],
        "DeleteSubnet 1",
    );
}

#[test]
fn a_block_that_overlaps_a_subnet_in_use_is_refused_until_the_subnet_is_empty() {
    let bed = TestEnv::new();
    bed.change(TWO_AZS);
    let eni = interface(&bed, "subnet.private_app.0");
    let old = bed.id("subnet.private_app.0");
    bed.config(&two_azs("  private_app_subnet_cidr_blocks = { AZ-0 = \"10.0.82.0/24\" }"));
    bed.proxy.clear_calls();
    let refused = bed.workspace.apply(&[]);
    for text in [
        &format!("subnet.private_app.0 would have to wait for subnet.private_app.0 of {old}"),
        &format!("Its block 10.0.82.0/24 overlaps 10.0.80.0/21, the block of subnet {old}"),
        &format!("network interface {eni} \"AWS Lambda VPC ENI-shop\""),
        "choose a block that overlaps no subnet in use",
        "empty the old subnet first",
    ] {
        refused.failed_with(text);
    }
    assert_eq!(bed.proxy.mutations().len(), 0);
    remove(&bed, &eni);
    assert_eq!(bed.apply().calls, "AssociateRouteTable 1, CreateSubnet 1, DeleteSubnet 1");
    bed.destroy();
}

#[test]
fn a_role_that_may_not_look_for_interfaces_plans_and_applies_all_the_same() {
    let bed = TestEnv::new();
    bed.change(TWO_AZS);
    bed.proxy.fault(Fault::on("DescribeNetworkInterfaces").answer(
        403,
        "UnauthorizedOperation",
        "You are not authorized",
    ));
    bed.config(&two_azs("  create_private_persistence_subnets = false"));
    let plan = bed.workspace.plan(&[]);
    assert_eq!(plan.code, 2, "{plan}");
    assert_says(
        &plan,
        &["could not be looked up: DescribeNetworkInterfaces answered UnauthorizedOperation: You are not authorized"],
    );
    bed.workspace.apply_plan().succeeded();
    bed.workspace.assert_nothing_to_do();
    let plan = bed.workspace.plan(&["-destroy"]);
    assert_says(&plan, &["What others keep in fgw_four_tier_vpc \"main\" could not be looked up"]);
    bed.destroy();
}

#[test]
fn the_plan_of_an_update_that_deletes_no_subnet_looks_for_no_interfaces() {
    let bed = TestEnv::new();
    bed.change(TWO_AZS);
    bed.config(&TWO_AZS.replace("num_nat_gateways = 1", "num_nat_gateways = 0"));
    bed.proxy.clear_calls();
    let plan = bed.workspace.plan(&[]);
    assert_says(&plan, &["The update of fgw_four_tier_vpc \"main\" deletes", "the public address"]);
    assert_eq!(bed.proxy.count("DescribeNetworkInterfaces"), 0);
    bed.apply();
    bed.destroy();
}
