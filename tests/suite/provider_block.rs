//! Tests of the provider block with real Terraform: each argument, and each source of credentials.
//! `provider_block/table.rs` lists the test of each.

#[path = "provider_block/keys.rs"]
mod keys;
#[path = "provider_block/machines.rs"]
mod machines;
#[path = "provider_block/roles.rs"]
mod roles;
#[path = "provider_block/sign_in.rs"]
mod sign_in;
#[path = "provider_block/table.rs"]
mod table;
#[path = "provider_block/tags.rs"]
mod tags;
#[path = "provider_block/values.rs"]
mod values;
#[path = "provider_block/connection.rs"]
mod connection;

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::emulator::Emulator;
use crate::support::proxy::Proxy;
use crate::support::proxy::fault::Fault;
use crate::support::terraform::Workspace;

const NETWORK: &str = "fgw_four_tier_vpc.this";

/// The smallest network, a VPC with one public subnet, with additional lines.
fn network(name: &str, lines: &str) -> String {
    format!(
        "resource \"fgw_four_tier_vpc\" \"{name}\" {{\n  vpc_name = \"{name}\"\n  cidr_block = \"10.0.0.0/16\"\n  num_nat_gateways = 0\n  \
         num_availability_zones = 1\n  create_private_app_subnets = false\n  create_private_persistence_subnets = false\n  \
         create_vpc_endpoints = false\n{lines}\n}}\n"
    )
}

/// A provider block of these lines, and the smallest network.
fn with_block(lines: &str) -> Workspace {
    let workspace = Workspace::with_blocks(&format!("provider \"fgw\" {{\n{lines}\n}}\n"));
    workspace.config(&network("this", ""));
    workspace
}

/// The `endpoints` block for all services that a network needs.
fn endpoints(proxy: &Proxy) -> String {
    let url = proxy.endpoint();
    format!("  endpoints {{\n    ec2 = \"{url}\"\n    sts = \"{url}\"\n  }}\n")
}

/// The access keys and Regions in the signatures of all calls.
fn scopes(proxy: &Proxy) -> BTreeSet<(String, String)> {
    proxy.calls().into_iter().map(|record| (record.call.access_key, record.call.region)).collect()
}

/// Plans the network, and asserts that every call to EC2 and STS was signed with this key for this Region.
fn assert_signed_by(case: &str, workspace: &Workspace, proxy: &Proxy, key: &str, region: &str) {
    let plan = workspace.plan(&[]);
    assert_eq!(plan.code, 2, "{case}: {plan}");
    assert_eq!(scopes(proxy), BTreeSet::from([(key.to_owned(), region.to_owned())]), "{case}");
    assert_eq!(proxy.count("GetCallerIdentity"), 1, "{case}: credentials are checked once per start");
    assert!(proxy.count("DescribeAvailabilityZones") >= 1, "{case}");
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("not a string: {value}"))
}

/// Writes the shared configuration and credentials files of the home directory.
fn at_home(workspace: &Workspace, config: &str, credentials: &str) {
    std::fs::create_dir_all(workspace.path().join(".aws")).expect("the directory is ours");
    workspace.write(".aws/config", config);
    workspace.write(".aws/credentials", credentials);
}

// Unknown values and secrets.

#[test]
fn the_example_of_the_index_page_applies() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/provider/provider.tf");
    let example = std::fs::read_to_string(example).unwrap_or_else(|error| panic!("{example}: {error}"));
    let proxy = Proxy::moto();
    let mut workspace = Workspace::bare();
    workspace.write("provider.tf", &example.replace("eu-central-1", "us-east-1"));
    workspace.config(&network("this", ""));
    workspace.env("AWS_ACCESS_KEY_ID", &proxy.account().id);
    workspace.env("AWS_SECRET_ACCESS_KEY", "test");
    workspace.env("AWS_ENDPOINT_URL", &proxy.endpoint());
    workspace.apply(&[]).succeeded();
    assert_eq!(workspace.state().attribute(NETWORK, "tags_all")["Owner"], "platform");
    workspace.assert_nothing_to_do();
    workspace.destroy().succeeded();
    proxy.account().assert_nothing_of_ours_is_left();
}

#[test]
fn block_with_unknown_values_plans_without_aws_and_applies() {
    let proxy = Proxy::moto();
    // Unknown tags alone do not prevent that the provider connects.
    let lines = "  forbidden_account_ids = [terraform_data.account.output]\n  default_tags {\n    tags = { run = \
                 terraform_data.run.output }\n  }\n";
    let workspace = Workspace::with_provider(&proxy, lines);
    let config = |run: &str| {
        workspace.config(&format!(
            "resource \"terraform_data\" \"run\" {{\n  input = \"{run}\"\n}}\nresource \"terraform_data\" \"account\" \
             {{\n  input            = \"123456789012\"\n  triggers_replace = \"{run}\"\n}}\n{}",
            network("this", "")
        ));
    };
    config("first");
    let plan = workspace.plan(&[]);
    assert_eq!(plan.code, 2, "{plan}");
    assert_eq!(proxy.calls().len(), 0, "the block is unknown: {:?}", proxy.by_action());
    workspace.apply_plan().succeeded();
    workspace.assert_nothing_to_do();
    assert_eq!(workspace.state().attribute(NETWORK, "tags_all"), &json!({"run": "first"}));
    assert_eq!(proxy.account().list_of("vpcs")[0]["tags"]["run"], "first");

    // The network exists, and the block becomes unknown again.
    let vpc = workspace.state().attribute(NETWORK, "vpc_id").clone();
    config("second");
    proxy.clear_calls();
    let plan = workspace.plan(&[]);
    assert_eq!(plan.code, 2, "{plan}");
    assert_eq!(proxy.calls().len(), 0, "{:?}", proxy.by_action());
    workspace.apply_plan().succeeded();
    workspace.assert_nothing_to_do();
    assert_eq!(workspace.state().attribute(NETWORK, "vpc_id"), &vpc);
    assert_eq!(proxy.account().list_of("vpcs")[0]["tags"]["run"], "second");
    workspace.destroy().succeeded();
    proxy.account().assert_nothing_of_ours_is_left();
}

#[test]
fn irrelevant_unknown_values_do_not_limit_the_plan() {
    let proxy = Proxy::moto();
    let lines = "  user_agent = [terraform_data.run.output]\n  s3_use_path_style = terraform_data.run.id != \"\"\n";
    let workspace = Workspace::with_provider(&proxy, lines);
    workspace.config(&format!("resource \"terraform_data\" \"run\" {{\n  input = \"x\"\n}}\n{}", network("this", "")));
    let after = workspace.plan_json(&[])["resource_changes"].clone();
    let network = after.as_array().into_iter().flatten().find(|change| change["address"] == NETWORK);
    let subnets = &network.expect("the network is planned")["change"]["after"]["public_subnets"];
    assert_eq!(subnets["this-public-0"]["availability_zone"], "us-east-1a");
    assert_eq!(proxy.count("DescribeAvailabilityZones"), 1);
}

#[test]
fn no_secret_is_in_state_plan_log_or_message() {
    let proxy = Proxy::moto();
    let role = Emulator::moto().account().id;
    let lines = format!(
        "  region = \"us-east-1\"\n  access_key = \"AKIDSECRETIVE\"\n  secret_key = \"open-sesame\"\n  token = \"hidden-token\"\n  \
         https_proxy = \"http://ada:proxy-password@localhost:1\"\n{}  assume_role {{\n    role_arn = \"arn:aws:iam::{role}:role/deploy\"\n  }}\n",
        endpoints(&proxy)
    );
    let mut workspace = with_block(&lines);
    workspace.env("TF_LOG", "TRACE");
    workspace.within(Duration::from_secs(180));
    let apply = workspace.apply(&[]);
    apply.succeeded();
    assert!(apply.stderr.contains("fgw"), "there is a log");
    let plan = workspace.plan(&[]);
    assert_eq!(plan.code, 0);
    proxy.fault(Fault::on("GetCallerIdentity").answer(403, "AccessDenied", "no"));
    let rejected = workspace.plan(&[]);
    assert_eq!(rejected.code, 1);
    proxy.clear_faults();
    workspace.env("TF_LOG", "");
    let shown = workspace.run(&["show", "-json"]);
    let state = std::fs::read_to_string(workspace.path().join("terraform.tfstate")).expect("there is a state");
    for secret in ["open-sesame", "hidden-token", "proxy-password", "SecretAccessKey", "SessionToken"] {
        for (place, text) in [
            ("state", &state),
            ("shown state", &shown.stdout),
            ("output", &apply.stdout),
            ("log of the apply", &apply.stderr),
            ("log of the plan", &plan.stderr),
            ("log of a failed plan", &rejected.stderr),
        ] {
            let line = text.lines().find(|line| line.contains(secret));
            assert!(line.is_none(), "{secret} is in the {place}: {line:?}");
        }
    }
    workspace.destroy().succeeded();
}
