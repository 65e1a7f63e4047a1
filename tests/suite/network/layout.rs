//! The function `subnet_layout` under Terraform.

use std::path::Path;

use serde_json::{Value, json};

use super::TestEnv;
use crate::support::terraform::Workspace;

/// A workspace that requires the provider but has no provider block.
fn without_provider_block() -> Workspace {
    Workspace::with_blocks("")
}

/// The value of an expression, without AWS.
fn evaluated(workspace: &Workspace, expression: &str) -> Value {
    workspace.config(&format!("output \"it\" {{\n  value = {expression}\n}}\n"));
    workspace.apply(&[]).succeeded();
    workspace.state().output("it").clone()
}

/// Asserts that the blocks of a tier are the same in the layout and in the network.
fn assert_tier(env: &TestEnv, layout: &Value, tier: &str) {
    let subnets = env.attribute(&format!("{tier}_subnets"));
    let mut created = json!({});
    for subnet in subnets.as_object().expect("a map").values() {
        created[format!("AZ-{}", subnet["index"])] = subnet["cidr_block"].clone();
    }
    assert_eq!(layout[format!("{tier}_subnet_cidr_blocks")], created, "{tier}");
}

#[test]
fn the_layout_matches_the_subnets_and_can_be_an_input() {
    let env = TestEnv::with_terraform();
    let plain = "  num_nat_gateways = 0\n  create_vpc_endpoints = false\n  num_availability_zones = 3";
    let options = [
        ("create_transit_subnets", "true"),
        ("transit_subnet_bits", "\"8\""),
        ("transit_subnet_spacing", "200"),
        ("private_app_subnet_cidr_blocks", "{ AZ-1 = \"10.0.64.0/20\" }"),
    ];
    let lines = |separator: &str| options.map(|(name, value)| format!("  {name} = {value}")).join(separator);
    let layout = format!(
        "locals {{\n  layout = provider::fgw::subnet_layout(\"10.0.0.0/16\", 3, {{\n{}\n  }})\n}}\noutput \"layout\" {{\n  \
         value = local.layout\n}}\n",
        lines("\n")
    );
    env.workspace.write("layout.tf", &layout);
    env.change(&format!("{plain}\n{}", lines("\n")));
    let output = env.workspace.state().output("layout").clone();
    for tier in ["public", "private_app", "private_persistence", "transit"] {
        assert_tier(&env, &output, tier);
    }
    assert_eq!(output["transit_subnet_cidr_blocks"]["AZ-0"], "10.0.200.0/24");
    assert_eq!(output["warnings"], json!([]));
    // With all blocks of the layout configured explicitly, nothing changes.
    let pinned = ["public", "private_app", "private_persistence", "transit"]
        .map(|tier| format!("  {tier}_subnet_cidr_blocks = local.layout.{tier}_subnet_cidr_blocks"))
        .join("\n");
    let pinned = format!(
        "{plain}\n  create_transit_subnets = true\n  transit_subnet_bits = 8\n  transit_subnet_spacing = 200\n{pinned}"
    );
    assert_eq!(env.change(&pinned).calls, "", "no subnet moves");
    env.destroy();
}

#[test]
fn the_example_works_without_a_provider_block_and_without_aws() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/functions/subnet_layout/function.tf");
    let example = std::fs::read_to_string(path).expect("an example can be read");
    let workspace = Workspace::bare();
    workspace.config(&example);
    workspace.apply(&[]).succeeded();
    let layout = workspace.state().output("layout").clone();
    assert_eq!(layout["private_app_subnet_cidr_blocks"]["AZ-0"], "10.0.192.0/20");
    assert_eq!(layout["transit_subnet_cidr_blocks"]["AZ-2"], "10.0.255.32/28");
    assert_eq!(workspace.state().output("private_app_blocks"), &json!(["10.1.80.0/21", "10.1.88.0/21"]));
    workspace.assert_nothing_to_do();
}

#[test]
fn null_options_are_ignored_and_unknown_ones_defer_the_result() {
    let workspace = without_provider_block();
    let plain = evaluated(&workspace, "provider::fgw::subnet_layout(\"10.0.0.0/16\", \"2\", {})");
    assert_eq!(plain["public_subnet_cidr_blocks"]["AZ-1"], "10.0.8.0/21");
    workspace.write("options.tf", "variable \"options\" {\n  type    = map(number)\n  default = null\n}\n");
    assert_eq!(evaluated(&workspace, "provider::fgw::subnet_layout(\"10.0.0.0/16\", 2, var.options)"), plain);
    // OpenTofu 1.12 does not call a provider's function with a `null` that has no type; the result is unknown.
    if !workspace.is_opentofu() {
        assert_eq!(evaluated(&workspace, "provider::fgw::subnet_layout(\"10.0.0.0/16\", 2, null)"), plain);
    }
    let later = "resource \"terraform_data\" \"later\" {\n  input = 6\n}\noutput \"it\" {\n  value = \
                 provider::fgw::subnet_layout(\"10.0.0.0/16\", 2, { public_subnet_bits = terraform_data.later.output })\n}\n";
    workspace.config(later);
    let plan = workspace.plan_json(&[]);
    assert_eq!(plan["output_changes"]["it"]["after_unknown"], true, "{}", plan["output_changes"]);
    workspace.apply_plan().succeeded();
    assert_eq!(workspace.state().output("it")["public_subnet_cidr_blocks"]["AZ-1"], "10.0.4.0/22");
}

#[test]
fn invalid_arguments_are_reported_by_parameter() {
    let workspace = without_provider_block();
    for (arguments, expected) in [
        ("\"10.0.0.0/40\", 3, {}", &["Invalid value for \"cidr_block\" parameter", "is not an IPv4 CIDR block"][..]),
        ("\"10.0.0.0/16\", 0, {}", &["Invalid value for \"az_count\" parameter: 0 is not a valid value"]),
        ("\"10.0.0.0/16\", null, {}", &["az_count", "null"]),
        (
            "\"10.0.0.0/16\", 3, { transit = true, public_bits = 4 }",
            &["Invalid value for \"options\" parameter: public_bits, transit are not", "create_transit_subnets"],
        ),
        (
            "\"10.0.0.0/16\", 3, { public_subnet_bits = 13, private_subnet_bits = \"many\" }",
            &[
                "Invalid value for \"options\" parameter",
                "public_subnet_bits: 13 is not a",
                "private_subnet_bits: \"many\" has",
            ],
        ),
        (
            "\"10.0.0.0/24\", 3, { public_subnet_bits = 4, private_subnet_bits = 4, persistence_subnet_bits = 4 }",
            &["Invalid value for \"options\" parameter", "fit into 10.0.0.0/24", "requires blocks 20 to 22"],
        ),
        ("\"10.0.0.0/16\"", &["Not enough function arguments"]),
        ("\"10.0.0.0/16\", 3, {}, {}", &["two or three arguments"]),
    ] {
        workspace.config(&format!("output \"it\" {{\n  value = provider::fgw::subnet_layout({arguments})\n}}\n"));
        let plan = workspace.plan(&[]);
        assert_eq!(plan.code, 1, "{arguments} is accepted:\n{plan}");
        for words in expected {
            assert!(plan.says(words), "the error for {arguments} lacks {words:?}:\n{plan}");
        }
    }
}
