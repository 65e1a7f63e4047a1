//! After a failed update, the next apply sends only what differs from what is read.

use serde_json::{Value, json};

use super::TestEnv;
use crate::support::proxy::fault::Fault;

const ALONE: &str = "  num_availability_zones = 2\n  num_nat_gateways = 0";

fn endpoint(env: &TestEnv, id: &Value) -> Value {
    env.proxy.boto("ec2", "describe_vpc_endpoints", json!({ "VpcEndpointIds": [id] }))["VpcEndpoints"][0].clone()
}

/// Fails the first call of an action.
fn fail_once(env: &TestEnv, action: &str) {
    env.proxy.fault(Fault::on(action).first(1).answer(403, "UnauthorizedOperation", "a policy forbids it"));
}

#[test]
fn a_failed_update_of_an_endpoint_sends_no_policy_that_was_never_set() {
    let env = TestEnv::new();
    let kms = |more: &str| {
        let endpoints = format!("interface_endpoints = {{ kms = {{ {more} }} }}");
        format!("{ALONE}\n  create_public_subnets = false\n  create_vpc_endpoints = false\n  {endpoints}")
    };
    let tagged = kms("tags = { team = \"net\" }");
    env.change(&kms(""));

    fail_once(&env, "CreateTags");
    env.config(&tagged);
    env.workspace.apply(&[]).failed_with("a policy forbids it");
    env.proxy.clear_faults();
    assert_eq!(env.change(&kms("")).calls, "", "the tag was never set");

    fail_once(&env, "CreateTags");
    env.config(&tagged);
    env.workspace.apply(&[]).failed_with("a policy forbids it");
    env.proxy.clear_faults();
    assert_eq!(env.apply().calls, "CreateTags 1");

    // Without a refresh, the plan reads the endpoint itself.
    fail_once(&env, "ModifyVpcEndpoint");
    env.config(&kms("tags = { team = \"net\" }, private_dns_enabled = false"));
    env.workspace.apply(&[]).failed_with("a policy forbids it");
    env.proxy.clear_faults();
    env.config(&kms("tags = { team = \"net\" }, ip_address_type = \"ipv4\""));
    env.proxy.clear_calls();
    env.workspace.apply(&["-refresh=false"]).succeeded();
    let modified = env.proxy.mutations();
    let sent: Vec<&str> = modified.iter().flat_map(|it| it.call.params.keys()).map(String::as_str).collect();
    assert!(sent.contains(&"IpAddressType"), "{sent:?}");
    for never in ["PolicyDocument", "PrivateDnsEnabled", "ResetPolicy", "RemoveSubnetId.1"] {
        assert!(!sent.contains(&never), "{sent:?}");
    }
    env.destroy();
}

#[test]
fn tables_that_a_failed_update_has_added_are_taken_back() {
    let env = TestEnv::new();
    let without = format!("{ALONE}\n  create_public_subnets = false");
    env.change(&without);
    let tables = |env: &TestEnv| -> Vec<usize> {
        let objects = env.attribute("aws_objects");
        let own = objects.as_object().expect("a map").iter().filter(|(slot, _)| slot.starts_with("vpc_endpoint"));
        own.map(|(_, id)| endpoint(env, id)["RouteTableIds"].as_array().map_or(0, Vec::len)).collect()
    };
    let before = tables(&env);
    assert!(!before.is_empty());

    // AWS makes the change, and the answer is an error.
    let fault = Fault::on("ModifyVpcEndpoint").first(1).after_work();
    env.proxy.fault(fault.answer(403, "UnauthorizedOperation", "a policy forbids it"));
    env.config(ALONE);
    env.workspace.apply(&[]).failed_with("a policy forbids it");
    env.proxy.clear_faults();
    env.change(&without);
    assert_eq!(tables(&env), before, "the endpoint keeps no table that the plan has removed");
    env.end();
}
