//! Subnets that are removed from the configuration while unmanaged network interfaces still use them.

use serde_json::json;

use super::{SHORT_TIMEOUTS, TestEnv, text};
use crate::support::proxy::fault::Fault;
use crate::support::terraform::Run;

const TWO_AZS: &str = "  num_availability_zones = 2\n  num_nat_gateways = 1\n  create_vpc_endpoints = false\n";

fn two_azs(further: &str) -> String {
    format!("{TWO_AZS}{further}")
}

/// Creates a network interface like those of Lambda in a subnet of the network, and returns its id.
pub(super) fn interface(env: &TestEnv, subnet: &str) -> String {
    let created = env
        .ec2("create_network_interface", json!({"SubnetId": env.id(subnet), "Description": "AWS Lambda VPC ENI-shop"}));
    text(&created["NetworkInterface"]["NetworkInterfaceId"])
}

fn remove(env: &TestEnv, interface: &str) {
    env.ec2("delete_network_interface", json!({"NetworkInterfaceId": interface}));
}

fn assert_says(run: &Run, texts: &[&str]) {
    for text in texts {
        assert!(run.says(text), "no {text:?} in\n{run}");
    }
}

/// The keys in `pending_deletion`.
fn pending_deletion(env: &TestEnv) -> Vec<String> {
    env.attribute("pending_deletion").as_object().expect("a map").keys().cloned().collect()
}

/// Applies a change that deletes a subnet with a network interface in it, deletes the interface, and applies again.
/// `with` are the keys in `pending_deletion`, `then` are the calls of the second apply.
fn assert_deleted_in_two_applies(attributes: &str, subnet: &str, with: &[&str], then: &str) {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    let eni = interface(&env, subnet);
    let id = env.id(subnet);
    env.config(&two_azs(&format!("{attributes}\n{SHORT_TIMEOUTS}")));
    env.proxy.clear_calls();
    let plan = env.workspace.plan(&[]);
    assert_eq!(plan.code, 2, "{plan}");
    assert_eq!(env.proxy.count("DescribeNetworkInterfaces"), 1, "one call for all subnets");
    let account = &env.proxy.account().id;
    let line = format!("({id}), contains 1 network interface: network interface {eni} \"AWS Lambda VPC ENI-shop\"");
    assert_says(
        &plan,
        &["Updating fgw_four_tier_vpc \"main\" deletes", &line, account, "the attribute pending_deletion"],
    );

    let first = env.workspace.apply_plan();
    first.succeeded();
    let in_use = format!("{subnet} is still in use; the next apply deletes it");
    assert_says(&first, &[&in_use, "DeleteSubnet returned DependencyViolation", &format!("network interface {eni}")]);
    assert_eq!(pending_deletion(&env), with);
    assert_eq!(env.attribute("pending_deletion")[subnet], id.as_str());
    assert_eq!(env.attribute("drift"), json!({}), "a pending deletion is not drift");

    let plan = env.workspace.plan(&[]);
    assert_eq!(plan.code, 0, "the interface still uses it: {plan}");
    remove(&env, &eni);
    let plan = env.workspace.plan(&[]);
    assert_eq!(plan.code, 2, "the plan shows the deletion again: {plan}");
    let cleaned = env.change(&two_azs(attributes));
    assert_eq!(cleaned.calls, then);
    let subnets = env.proxy.account().list_of("subnets");
    assert!(subnets.iter().all(|subnet| subnet["SubnetId"] != id.as_str()), "the subnet is deleted");
    env.destroy();
}

#[test]
fn a_subnet_of_a_disabled_tier_is_deleted_once_unused() {
    assert_deleted_in_two_applies(
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
fn a_subnet_of_an_excluded_az_is_deleted_once_unused() {
    assert_deleted_in_two_applies(
        "  availability_zone_exclude_ids = [\"use1-az6\"]",
        "subnet.private_app.0",
        &["route_table_association.private_app.0", "subnet.private_app.0"],
        "DeleteSubnet 1",
    );
}

#[test]
fn a_subnet_with_a_changed_block_is_deleted_once_unused() {
    assert_deleted_in_two_applies(
        "  private_app_subnet_cidr_blocks = { AZ-0 = \"10.0.240.0/24\" }",
        "subnet.private_app.0",
        &["route_table_association.private_app.0", "subnet.private_app.0"],
        "DeleteSubnet 1",
    );
}

#[test]
fn a_group_in_use_is_deleted_once_unused() {
    let env = TestEnv::new();
    let endpoints = two_azs("  interface_endpoints = { kms = { subnet_tier = \"private_app\" } }\n");
    env.change(&endpoints);
    let group = text(&env.attribute("interface_endpoints_security_group_id"));
    let subnet = env.id("subnet.private_app.0");
    let eni = env.ec2("create_network_interface", json!({"SubnetId": subnet, "Groups": [group]}));
    let eni = text(&eni["NetworkInterface"]["NetworkInterfaceId"]);
    let other = json!({"GroupName": "theirs", "Description": "d", "VpcId": env.attribute("vpc_id")});
    let other = text(&env.ec2("create_security_group", other)["GroupId"]);
    let pair = json!({"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "UserIdGroupPairs": [{"GroupId": group}]});
    let rule = json!({"GroupId": other, "IpPermissions": [pair]});
    env.ec2("authorize_security_group_ingress", rule.clone());

    env.config(&two_azs(SHORT_TIMEOUTS));
    let first = env.workspace.apply(&[]);
    first.succeeded();
    let warning = "security_group.interface_endpoints is still in use; the next apply deletes it";
    assert_says(&first, &[warning, &format!("network interface {eni}"), &format!("security group {other} \"theirs\"")]);
    assert_eq!(env.attribute("pending_deletion"), json!({ "security_group.interface_endpoints": group }));
    remove(&env, &eni);
    env.proxy.clear_calls();
    assert_eq!(env.workspace.plan(&[]).code, 0, "the rule still refers to it");
    assert!(env.proxy.mutations().is_empty());
    // Required again, it is used again.
    env.change(&endpoints);
    assert_eq!(env.attribute("interface_endpoints_security_group_id"), group.as_str());
    env.config(&two_azs(SHORT_TIMEOUTS));
    env.workspace.apply(&[]).succeeded();

    env.ec2("revoke_security_group_ingress", rule);
    assert_eq!(env.change(&two_azs(SHORT_TIMEOUTS)).calls, "DeleteSecurityGroup 1");
    assert_eq!(pending_deletion(&env), Vec::<String>::new());
    env.ec2("delete_security_group", json!({"GroupId": other}));
    env.end();
}

#[test]
fn a_destroy_deletes_nothing_while_others_use_the_network() {
    let env = TestEnv::new();
    env.change(&two_azs(SHORT_TIMEOUTS));
    let eni = interface(&env, "subnet.private_app.0");
    env.proxy.clear_calls();
    let refused = env.workspace.destroy();
    for text in [": in use", "Nothing was deleted", &format!("network interface {eni}")] {
        refused.failed_with(text);
    }
    assert!(env.proxy.mutations().is_empty());
    assert_eq!(env.workspace.plan(&[]).code, 0, "the network is whole");
    remove(&env, &eni);
    env.end();
}

#[test]
fn a_block_that_overlaps_a_subnet_in_use_is_rejected() {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    let eni = interface(&env, "subnet.private_app.0");
    let old = env.id("subnet.private_app.0");
    env.config(&two_azs("  private_app_subnet_cidr_blocks = { AZ-0 = \"10.0.82.0/24\" }"));
    env.proxy.clear_calls();
    let rejected = env.workspace.apply(&[]);
    for text in [
        "subnet.private_app.0 overlaps a subnet in use",
        &format!("Its CIDR block 10.0.82.0/24 overlaps 10.0.80.0/21 of subnet.private_app.0 ({old})"),
        &format!("network interface {eni} \"AWS Lambda VPC ENI-shop\""),
        "Choose a block that overlaps no subnet in use",
        "delete the interfaces, then apply",
    ] {
        rejected.failed_with(text);
    }
    assert_eq!(env.proxy.mutations().len(), 0);
    remove(&env, &eni);
    assert_eq!(env.apply().calls, "AssociateRouteTable 1, CreateSubnet 1, DeleteSubnet 1");
    env.end();
}

#[test]
fn a_role_without_access_to_interfaces_plans_and_applies() {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    env.proxy.fault(Fault::on("DescribeNetworkInterfaces").answer(
        403,
        "UnauthorizedOperation",
        "You are not authorized",
    ));
    env.config(&two_azs("  create_private_persistence_subnets = false"));
    let plan = env.workspace.plan(&[]);
    assert_eq!(plan.code, 2, "{plan}");
    assert_says(
        &plan,
        &[
            "The list of network interfaces may be incomplete.",
            "DescribeNetworkInterfaces returned UnauthorizedOperation: You are not authorized",
        ],
    );
    env.workspace.apply_plan().succeeded();
    env.workspace.assert_nothing_to_do();
    let plan = env.workspace.plan(&["-destroy"]);
    assert_says(&plan, &["Could not list unmanaged objects in fgw_four_tier_vpc \"main\""]);
    env.end();
}

#[test]
fn a_plan_that_deletes_no_subnet_reads_no_interfaces() {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    env.config(&TWO_AZS.replace("num_nat_gateways = 1", "num_nat_gateways = 0"));
    env.proxy.clear_calls();
    let plan = env.workspace.plan(&[]);
    assert_says(&plan, &["Updating fgw_four_tier_vpc \"main\" deletes", "the public address"]);
    assert_eq!(env.proxy.count("DescribeNetworkInterfaces"), 0);
    env.apply();
    env.end();
}
