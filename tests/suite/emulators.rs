//! Terraform on the emulators as users start them, without a proxy: each life of a resource from its creation to its
//! destruction. All tests of an emulator share its default account.

#[path = "emulators/gateways.rs"]
mod gateways;
#[path = "emulators/networks.rs"]
mod networks;

use crate::support::emulator::{Account, Emulator};
use crate::support::terraform::Workspace;

const REQUIRED: &str = "terraform {\n  required_providers {\n    fgw = {\n      source = \"fgw/fgw\"\n    }\n  }\n}\n";

/// A provider block as in the guide, with EC2 at the first emulator, and all other services at the second.
fn provider(ec2: &Emulator, others: &Emulator) -> String {
    let others = ["apigatewayv2", "cloudwatchlogs", "lambda", "sts"].map(|service| (service, others.endpoint()));
    let endpoints = others.into_iter().chain([("ec2", ec2.endpoint())]);
    let endpoints: String = endpoints.map(|(service, url)| format!("    {service} = \"{url}\"\n")).collect();
    format!(
        "provider \"fgw\" {{\n  region = \"us-east-1\"\n  access_key = \"test\"\n  secret_key = \"test\"\n  endpoints \
         {{\n{endpoints}  }}\n}}\n"
    )
}

/// A directory with this provider block.
fn workspace(provider: &str) -> Workspace {
    let workspace = Workspace::bare();
    workspace.write("provider.tf", provider);
    workspace
}

/// Applies a configuration, and checks that the next plan is empty.
fn apply(workspace: &Workspace, config: &str) {
    workspace.config(config);
    workspace.apply(&[]).succeeded();
    workspace.assert_nothing_to_do();
}

/// Removes a resource from the state, imports it, and checks that the next plan is empty.
fn import(workspace: &Workspace, address: &str) {
    workspace.reimport(address);
    workspace.assert_nothing_to_do();
}

/// The same for a gateway with a log group.
fn import_with_group(workspace: &Workspace, address: &str) {
    workspace.reimport(address);
    workspace.assert_records_only(&["access_log_logservice_group_skip_destroy"]);
}

/// The ID of a resource.
fn id(workspace: &Workspace, address: &str) -> String {
    workspace.state().attribute(address, "id").as_str().expect("it has an id").to_owned()
}

/// Destroys all resources, and checks that nothing of the roots with these IDs and names is left.
fn destroy(workspace: &Workspace, accounts: &[Account], roots: &[&str]) {
    workspace.destroy().succeeded();
    for account in accounts {
        let left: Vec<String> =
            account.ours().into_iter().filter(|line| roots.iter().any(|it| line.contains(it))).collect();
        assert!(left.is_empty(), "left in {:?}: {left:#?}", account.emulator.kind);
    }
}
