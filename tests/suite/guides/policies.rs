//! Runs the policies of the guide on protecting objects on real plans.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use fgw::plugin::Provider as _;
use fgw::provider::Fgw;
use serde_json::{Value, json};

use super::Guide;
use crate::support::proxy::Proxy;
use crate::support::terraform::Workspace;
use crate::support::venv;

/// The only code block of the guide in a language.
fn block(language: &str) -> String {
    let text = Guide::open("protecting-objects.md").text;
    let begin = format!("\n```{language}\n");
    let blocks: Vec<&str> = text.split(&begin).skip(1).collect();
    assert_eq!(blocks.len(), 1, "the guide has one block of {language}");
    blocks[0].split_once("\n```").expect("a block ends").0.to_owned()
}

/// The lines that a policy reports for a plan, sorted.
fn reported(language: &str, plan: &Value) -> Vec<String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/guides/policies.py");
    let mut python = Command::new(venv::of_policies("python"))
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the environment has Python");
    let request = json!({ "language": language, "policy": block(language), "plan": plan });
    let mut stdin = python.stdin.take().expect("it is piped");
    stdin.write_all(request.to_string().as_bytes()).expect("the script reads its input");
    drop(stdin);
    let output = python.wait_with_output().expect("the script ends");
    assert!(output.status.success(), "the policy fails");
    serde_json::from_slice(&output.stdout).expect("the script prints a list")
}

/// Asserts that both policies report exactly these objects of this resource, which the state contains.
fn assert_reported(workspace: &Workspace, address: &str, plan: &Value, keys: &[&str]) {
    let state = workspace.state();
    let line = |key: &&str| {
        let id = state.attribute(address, "aws_objects")[key].as_str().unwrap_or_else(|| panic!("no {key} in state"));
        format!("{address}: {key} ({id})")
    };
    let mut expected: Vec<String> = keys.iter().map(line).collect();
    expected.sort();
    for language in ["jq", "rego"] {
        assert_eq!(reported(language, plan), expected, "{language}");
    }
}

/// The keys of all objects in state.
fn all_keys(workspace: &Workspace, address: &str) -> Vec<String> {
    let state = workspace.state();
    state.attribute(address, "aws_objects").as_object().expect("a map").keys().cloned().collect()
}

fn network(lines: &str) -> String {
    format!(
        "resource \"fgw_four_tier_vpc\" \"this\" {{\n  vpc_name = \"main\"\n  cidr_block = \"10.0.0.0/16\"\n  \
         num_availability_zones = 2\n  create_vpc_endpoints = false\n  lifecycle {{\n    prevent_destroy = true\n  \
         }}\n{lines}\n}}\n"
    )
}

#[test]
fn policies_find_the_deletions_in_plans_of_a_network() {
    const THIS: &str = "fgw_four_tier_vpc.this";
    let proxy = Proxy::moto();
    let workspace = Workspace::new(&proxy);
    let plan = |lines: &str| {
        workspace.config(&network(lines));
        workspace.plan_json(&[])
    };
    let create = plan("  num_nat_gateways = 2");
    for language in ["jq", "rego"] {
        assert_eq!(reported(language, &create), [""; 0], "{language}");
    }
    workspace.apply_plan().succeeded();
    assert_reported(&workspace, THIS, &plan("  num_nat_gateways = 2"), &[]);
    assert_reported(&workspace, THIS, &plan("  num_nat_gateways = 2\n  custom_tags = { a = \"b\" }"), &[]);

    // Terraform counts no deletion, and does not apply `prevent_destroy`.
    let fewer = plan("  num_nat_gateways = 1");
    assert_eq!(fewer["resource_changes"][0]["change"]["actions"], json!(["update"]));
    assert!(workspace.plan(&[]).says("0 to add, 1 to change, 0 to destroy"));
    assert_reported(&workspace, THIS, &fewer, &["eip.1", "nat_gateway.1"]);

    let moved = "  num_nat_gateways = 2\n  public_subnet_cidr_blocks = { AZ-0 = \"10.0.240.0/24\" }";
    let replaced = ["nat_gateway.0", "route_table_association.public.0", "subnet.public.0"];
    assert_reported(&workspace, THIS, &plan(moved), &replaced);

    workspace.destroy().failed_with("prevent_destroy set");
    workspace.config(&network("  num_nat_gateways = 2").replace("prevent_destroy = true", ""));
    let destroy = workspace.plan_json(&["-destroy"]);
    let all = all_keys(&workspace, THIS);
    assert_reported(&workspace, THIS, &destroy, &all.iter().map(String::as_str).collect::<Vec<_>>());

    workspace.config(&format!("removed {{\n  from = {THIS}\n  lifecycle {{\n    destroy = false\n  }}\n}}\n"));
    let forget = workspace.plan_json(&[]);
    assert_eq!(forget["resource_changes"][0]["change"]["actions"], json!(["forget"]));
    assert_reported(&workspace, THIS, &forget, &[]);
}

#[test]
fn policies_find_the_deletions_in_plans_of_a_gateway() {
    const THIS: &str = "fgw_http_gateway.this";
    let proxy = Proxy::ministack();
    let arn = proxy.account().create_function("orders", "def handler(event, context):\n    return 'orders'\n");
    let workspace = Workspace::new(&proxy);
    let routes = |keys: &[&str]| {
        let routes: String =
            keys.iter().map(|key| format!("    \"{key}\" = {{ faas_function_arn = \"{arn}\" }}\n")).collect();
        format!("resource \"fgw_http_gateway\" \"this\" {{\n  name = \"shop\"\n  route_config = {{\n{routes}  }}\n}}\n")
    };
    workspace.config(&routes(&["GET /a/{id}", "GET /b"]));
    workspace.apply(&[]).succeeded();
    workspace.config(&routes(&["GET /a/{id}", "GET /c"]));
    let plan = workspace.plan_json(&[]);
    assert_reported(&workspace, THIS, &plan, &["route.GET /b"]);

    // Another name of a path variable makes another route.
    workspace.config(&routes(&["GET /a/{order}", "GET /b"]));
    let plan = workspace.plan_json(&[]);
    assert_reported(&workspace, THIS, &plan, &["route.GET /a/{id}"]);
}

#[test]
fn the_sentinel_policy_names_what_the_schema_contains() {
    let policy = block("sentinel");
    let resources = Fgw::default().resources();
    let types: BTreeSet<&str> = resources.iter().map(|resource| resource.type_name()).collect();
    let named: BTreeSet<&str> = policy.split('"').skip(1).step_by(2).filter(|text| text.starts_with("fgw_")).collect();
    assert_eq!(named, types);
    for resource in &resources {
        assert!(resource.schema().attributes.iter().any(|attribute| attribute.name == "aws_objects"));
    }
    assert_eq!(policy.matches("aws_objects").count(), 2);
    for (open, close) in [('{', '}'), ('(', ')'), ('[', ']')] {
        assert_eq!(policy.matches(open).count(), policy.matches(close).count(), "{open} {close}");
    }
}
