//! IDs of objects of the user that do not exist: the plan reports them, so that no create ends tainted.

use serde_json::json;

use super::{TestEnv, text};
use crate::support::proxy::fault::Fault;

/// Rules of the default security group with this rule.
fn rule(source: &str) -> String {
    let rule = format!("protocol = \"tcp\", from_port = 443, to_port = 443, {source}");
    format!("  default_security_group_ingress_rules = {{ web = {{ {rule} }} }}")
}

const ONE_AZ: &str = "  num_availability_zones = 1\n  create_vpc_endpoints = false";

fn custom(id: &str) -> String {
    format!("{ONE_AZ}\n  num_nat_gateways = 1\n  use_custom_nat_eips = true\n  custom_nat_eips = [\"{id}\"]")
}

fn address(env: &TestEnv) -> String {
    text(&env.ec2("allocate_address", json!({"Domain": "vpc"}))["AllocationId"])
}

#[test]
fn missing_ids_are_errors_of_the_plan_and_taint_nothing() {
    let env = TestEnv::with_terraform();
    let own = address(&env);
    let source = "prefix_list_ids = [\"pl-0123456789abcdef0\"], security_groups = [\"sg-0123456789abcdef0\"]";
    env.config(&format!(
        "{}\n  private_propagating_vgws = [\"vgw-0123456789abcdef0\"]\n{}",
        custom("eipalloc-0123456789abcdef0"),
        rule(source)
    ));
    let apply = env.workspace.apply(&[]);
    let region = "does not exist in this account and Region (us-east-1)";
    for text in [
        "Invalid value for custom_nat_eips[0]",
        &format!(
            "The Elastic IP address eipalloc-0123456789abcdef0 of custom_nat_eips {region}; these are free: {own}."
        ),
        &format!(
            "The virtual private gateway vgw-0123456789abcdef0 of private_propagating_vgws {region}; it has none."
        ),
        &format!("The prefix list pl-0123456789abcdef0 of prefix_list_ids of \"web\" {region}."),
        &format!("The security group sg-0123456789abcdef0 of security_groups of \"web\" {region}."),
        "Correct custom_nat_eips, or the region and account of the provider block.",
    ] {
        apply.failed_with(text);
    }
    assert!(env.proxy.mutations().is_empty(), "{:?}", env.proxy.mutations());

    env.config(&custom(&own));
    env.workspace.apply(&[]).succeeded();
    env.destroy();
}

#[test]
fn a_plan_looks_up_only_new_ids() {
    let env = TestEnv::new();
    let (one, two) = (address(&env), address(&env));
    env.config(&custom(&one));
    env.workspace.apply(&[]).succeeded();
    // A refresh reads the address too.
    let reads = |config: &str| {
        env.config(config);
        env.proxy.clear_calls();
        env.workspace.plan(&[]);
        env.proxy.count("DescribeAddresses")
    };
    let before = reads(&custom(&one));
    assert_eq!(reads(&format!("{}\n  custom_tags = {{ a = \"b\" }}", custom(&one))), before);
    // One looks the address up, and one its user.
    assert_eq!(reads(&custom(&two)), before + 2);
    env.end();
}

#[test]
fn a_failed_call_names_the_input_to_correct() {
    let env = TestEnv::new();
    // The plan does not look up pools.
    let pool = "ipam-pool-0123456789abcdef0";
    env.config(&format!(
        "  cidr_block = null\n  ipv4_ipam_pool_id = \"{pool}\"\n  ipv4_netmask_length = 20\n  num_nat_gateways = 0"
    ));
    let missing = format!("The ipam-pool ID '{pool}' does not exist");
    env.proxy.fault(Fault::on("CreateVpc").answer(400, "InvalidIpamPoolId.NotFound", &missing));
    let apply = env.workspace.apply(&[]);
    apply.failed_with(&missing);
    apply.failed_with(&format!(
        "There is no IPAM pool {pool} in this account and Region (us-east-1). Correct ipv4_ipam_pool_id."
    ));
    assert!(!apply.says("deleted outside Terraform"), "{apply}");
}

#[test]
fn without_the_permission_a_lookup_is_skipped() {
    let env = TestEnv::new();
    let own = address(&env);
    env.config(&custom(&own));
    let denied = Fault::on("DescribeAddresses").first(1);
    env.proxy.fault(denied.answer(403, "UnauthorizedOperation", "You are not authorized to perform this operation."));
    env.workspace.apply(&[]).succeeded();
    env.end();
}
