//! Values that follow from other inputs, in both directions: with failures, and without the private state in between.

use serde_json::{Value, json};

use super::{THIS, TestEnv, text};
use crate::support::proxy::fault::Fault;

const ALONE: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_public_subnets = false\n  \
                     create_private_persistence_subnets = false";

const KMS: &str = "  interface_endpoints = { kms = {} }";

fn with(further: &[&str]) -> String {
    [&[ALONE, "  create_vpc_endpoints = false"][..], further].concat().join("\n")
}

/// The endpoint with this name, as AWS describes it.
fn described(env: &TestEnv, name: &str) -> Value {
    let id = env.attribute("interface_endpoint_ids")[name].clone();
    // Only the proxy knows the names and addresses of endpoints.
    env.proxy.boto("ec2", "describe_vpc_endpoints", json!({ "VpcEndpointIds": [id] }))["VpcEndpoints"][0].clone()
}

fn has_names(env: &TestEnv, name: &str) -> bool {
    described(env, name)["PrivateDnsEnabled"] == true
}

/// Applies a configuration whose first call of an action is rejected.
fn fails_once(env: &TestEnv, config: &str, action: &str) {
    env.config(config);
    env.proxy.fault(Fault::on(action).first(1).answer(400, "InvalidParameterValue", "not now"));
    env.workspace.apply(&[]).failed_with("not now");
    env.proxy.clear_faults();
}

#[test]
fn private_names_of_endpoints_go_and_return_with_the_dns_inputs() {
    let env = TestEnv::new();
    let both = format!("{ALONE}\n  interface_endpoints = {{ kms = {{}}, s3 = {{}} }}");
    env.change(&both);
    let ids = env.attribute("interface_endpoint_ids");
    let inbound = || described(&env, "s3")["DnsOptions"]["PrivateDnsOnlyForInboundResolverEndpoint"].clone();
    assert_eq!(inbound(), json!(true));
    for input in ["enable_dns_support", "enable_dns_hostnames"] {
        let without = format!("{both}\n  {input} = false");
        env.config(&without);
        let plan = env.workspace.plan(&[]);
        let says = format!("{input} is false, so the endpoint loses its private DNS names");
        assert!(plan.says(&says) && plan.says("com.amazonaws.us-east-1.kms"), "{plan}");
        fails_once(&env, &without, "ModifyVpcEndpoint");
        env.change(&without);
        assert!(!has_names(&env, "kms") && !has_names(&env, "s3"));
        env.workspace.assert_nothing_to_do();
        if input == "enable_dns_support" {
            env.workspace.lose_private_state(THIS);
        }
        fails_once(&env, &both, "ModifyVpcEndpoint");
        env.change(&both);
        assert!(has_names(&env, "kms") && has_names(&env, "s3"), "{input} is true again");
        assert_eq!(inbound(), json!(true), "inside the VPC, the gateway endpoint serves S3 as before");
        env.workspace.assert_nothing_to_do();
    }
    assert_eq!(env.attribute("interface_endpoint_ids"), ids);
    env.destroy();
}

/// A service that supports IPv6.
const XRAY: &str = "  interface_endpoints = { xray = {} }";

const IPV6: &str = "  enable_ipv6 = true\n  assign_generated_ipv6_cidr_block = true\n  \
                    ipv6_subnet_tiers = [\"private_app\"]";

/// Whether the group of the endpoints allows an IPv6 range.
fn allows_ipv6(env: &TestEnv) -> bool {
    let group = env.attribute("interface_endpoints_security_group_id");
    let group = &env.ec2("describe_security_groups", json!({ "GroupIds": [group] }))["SecurityGroups"][0];
    let mut permissions = group["IpPermissions"].as_array().into_iter().flatten();
    permissions.any(|it| it["Ipv6Ranges"].as_array().is_some_and(|ranges| !ranges.is_empty()))
}

#[test]
fn an_endpoint_keeps_or_loses_its_ipv6_addresses_with_its_rule() {
    let env = TestEnv::new();
    let dual = "  interface_endpoints = { xray = { ip_address_type = \"dualstack\" } }";
    let kind = || text(&described(&env, "xray")["IpAddressType"]);
    env.change(&with(&[IPV6, dual]));
    assert!(kind() == "dualstack" && allows_ipv6(&env));

    // No longer managed: everything stays, and the plan says so once.
    let open = with(&[IPV6, XRAY]);
    env.config(&open);
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("The endpoint keeps its IPv6 addresses"), "{plan}");
    env.change(&open);
    assert!(kind() == "dualstack" && allows_ipv6(&env));
    env.workspace.assert_nothing_to_do();

    // With the addresses of the tier, those of the endpoint go first.
    let off = with(&[XRAY]);
    env.config(&off);
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("the endpoint loses its own"), "{plan}");
    fails_once(&env, &off, "ModifyVpcEndpoint");
    fails_once(&env, &off, "DisassociateSubnetCidrBlock");
    env.change(&off);
    assert!(kind() == "ipv4" && !allows_ipv6(&env));
    env.workspace.assert_nothing_to_do();
    env.workspace.lose_private_state(THIS);
    env.workspace.assert_nothing_to_do();

    // In one step, and back.
    env.change(&with(&[IPV6, dual]));
    env.change(&off);
    assert!(kind() == "ipv4" && !allows_ipv6(&env));
    env.change(&with(&[IPV6, dual]));
    assert!(kind() == "dualstack" && allows_ipv6(&env));
    env.change(&with(&["  interface_endpoints = { xray = { ip_address_type = \"ipv4\" } }"]));
    assert_eq!(kind(), "ipv4");
    env.end();
}

#[test]
fn the_plan_names_the_ranges_that_private_names_cut_off() {
    let env = TestEnv::new();
    let without = with(&["  interface_endpoints = { kms = { private_dns_enabled = false } }"]);
    env.change(&without);
    let vpc = env.id("vpc");
    env.ec2("associate_vpc_cidr_block", json!({ "VpcId": vpc, "CidrBlock": "100.64.0.0/16" }));
    env.workspace.assert_nothing_to_do();
    env.config(&with(&[KMS]));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("The VPC also has 100.64.0.0/16") && plan.says("com.amazonaws.us-east-1.kms"), "{plan}");
    let allowed = with(&["  interface_endpoints = { kms = { allowed_cidr_blocks = [\"100.64.0.0/16\"] } }"]);
    env.config(&allowed);
    let plan = env.workspace.plan(&[]);
    assert!(!plan.says("The VPC also has"), "{plan}");
    env.change(&allowed);
    assert!(has_names(&env, "kms"));
    env.workspace.assert_nothing_to_do();
    env.end();
}

#[test]
fn ignored_drift_of_an_endpoint_changes_no_output() {
    let env = TestEnv::new();
    let two = with(&[KMS, "  ignore_drift = [\"interface_endpoint.*\"]"])
        .replace("num_availability_zones = 1", "num_availability_zones = 2");
    env.change(&two);
    let outputs = || {
        ["interface_endpoint_dns_entries", "interface_endpoint_network_interface_ids"]
            .map(|name| env.attribute(name)["kms"].clone())
    };
    let (id, subnet) = (env.id("interface_endpoint.kms"), env.attribute("private_app_subnet_ids")[0].clone());
    for change in [json!({ "PrivateDnsEnabled": false }), json!({ "RemoveSubnetIds": [subnet] })] {
        let mut modify = json!({ "VpcEndpointId": id });
        modify.as_object_mut().expect("a map").extend(change.as_object().cloned().unwrap_or_default());
        env.proxy.boto("ec2", "modify_vpc_endpoint", modify);
        described(&env, "kms");
        env.workspace.apply(&["-refresh-only"]).succeeded();
        assert!(outputs().iter().all(Value::is_array), "{:?}", outputs());
        env.workspace.assert_nothing_to_do();
    }
    env.end();
}
