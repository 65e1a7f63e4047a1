//! Runs of Terraform in tests: workspace, output, signals and time limits.

use std::process::Command;
use std::time::Duration;

use serde_json::json;

use crate::support::proxy::Proxy;
use crate::support::terraform::Workspace;
use crate::support::wait::until;

#[test]
fn terraform_plans_applies_shows_and_destroys() {
    let workspace = Workspace::bare();
    workspace.config("resource \"terraform_data\" \"this\" {\n  input = \"a\"\n}\noutput \"o\" {\n  value = terraform_data.this.output\n}\n");
    workspace.validate().succeeded();
    assert_eq!(workspace.plan(&[]).code, 2);
    assert_eq!(workspace.plan_json(&[])["resource_changes"][0]["change"]["actions"], json!(["create"]));
    workspace.apply_plan().succeeded();
    workspace.assert_nothing_to_do();
    assert_eq!(workspace.state().output("o"), "a");
    assert_eq!(workspace.state().attribute("terraform_data.this", "input")["value"], "a");
    assert!(!workspace.state().is_tainted("terraform_data.this"));
    assert!(workspace.show().says("input = \"a\""));
    workspace.destroy().succeeded();
    assert!(workspace.state().resource("terraform_data.this").is_none());
}

#[test]
fn terraform_uses_the_built_provider_and_the_proxy() {
    let proxy = Proxy::moto();
    let workspace = Workspace::with_provider(&proxy, "  max_retries = 2");
    workspace.run(&["fmt", "-no-color"]).succeeded();
    let provider = std::fs::read_to_string(workspace.path().join("provider.tf")).expect("the file exists");
    assert!(provider.contains(&proxy.endpoint()) && provider.contains("max_retries = 2"), "{provider}");
    let built = std::path::Path::new(env!("CARGO_BIN_EXE_terraform-provider-fgw")).parent().expect("a directory");
    assert!(workspace.validate().says(&format!("fgw/fgw in {}", built.display())));
}

#[test]
fn a_terraform_error_is_found_across_its_line_breaks() {
    let workspace = Workspace::bare();
    workspace.config("resource \"terraform_data\" \"this\" {\n  lifecycle {\n    postcondition {\n      condition = self.input == \"b\"\n      error_message = \"A long message of many words that Terraform breaks into lines of eighty characters or so, here or there.\"\n    }\n  }\n}\n");
    let run = workspace.apply(&[]);
    run.failed_with("that Terraform breaks into lines of eighty characters or so, here or there.");
}

#[test]
fn ctrl_c_ends_terraform_and_its_children() {
    let workspace = Workspace::bare();
    let marker = workspace.path().join("begun");
    workspace.config(&provisioned(SLEEP));
    let run = workspace.apply_interrupted(|| marker.exists());
    assert_eq!(run.code, 1, "{run}");
    assert!(run.says("Interrupt received"), "{run}");
    assert!(workspace.state().is_tainted("terraform_data.this"));
    let sleeper = std::fs::read_to_string(marker).expect("the command has started");
    until("the provisioner's command has ended, too", || !is_running(&sleeper));
}

/// A command that writes its process ID and then does not end by itself.
const SLEEP: &str = "echo $$ > new; mv new begun; exec sleep 3600";

fn provisioned(command: &str) -> String {
    format!(
        "resource \"terraform_data\" \"this\" {{\n  provisioner \"local-exec\" {{\n    command = \"{command}\"\n  }}\n}}\n"
    )
}

fn is_running(process: &str) -> bool {
    let listed =
        Command::new("ps").args(["-o", "stat=", "-p", process.trim()]).output().expect("a POSIX system has ps");
    // A process that has ended but was not waited for is a zombie.
    let state = String::from_utf8_lossy(&listed.stdout);
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

#[test]
fn slow_terraform_run_is_killed_and_fails_the_test() {
    let mut workspace = Workspace::bare();
    workspace.config(&provisioned(SLEEP));
    workspace.within(Duration::from_secs(3));
    let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| workspace.apply(&[])));
    let panic = run.expect_err("it must panic");
    assert!(panic.downcast_ref::<String>().expect("a text").contains("exceeded its time limit"));
    // A slow machine may not have started the command in this time.
    if let Ok(sleeper) = std::fs::read_to_string(workspace.path().join("begun")) {
        until("the provisioner's command has ended, too", || !is_running(&sleeper));
    }
}
