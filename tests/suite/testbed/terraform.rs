//! What tests rely on when they run Terraform: its workspace, its output, signals and time limits.

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
fn the_built_provider_and_the_endpoint_of_the_proxy_are_what_terraform_uses() {
    let proxy = Proxy::moto();
    let workspace = Workspace::with_provider(&proxy, "  max_retries = 2");
    workspace.run(&["fmt", "-no-color"]).succeeded();
    let provider = std::fs::read_to_string(workspace.path().join("provider.tf")).expect("it is written");
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
fn terraform_gets_a_ctrl_c_at_the_chosen_moment_and_nothing_outlives_it() {
    let workspace = Workspace::bare();
    let marker = workspace.path().join("begun");
    workspace.config(&provisioned(SLEEP));
    let run = workspace.apply_interrupted(|| marker.exists());
    assert_eq!(run.code, 1, "{run}");
    assert!(run.says("Interrupt received"), "{run}");
    assert!(workspace.state().is_tainted("terraform_data.this"));
    let sleeper = std::fs::read_to_string(marker).expect("it has begun");
    until("the provisioner's command has ended too", || !is_running(&sleeper));
}

/// A command that does not end by itself, and first writes its process id.
const SLEEP: &str = "echo $$ > new; mv new begun; exec sleep 3600";

fn provisioned(command: &str) -> String {
    format!(
        "resource \"terraform_data\" \"this\" {{\n  provisioner \"local-exec\" {{\n    command = \"{command}\"\n  }}\n}}\n"
    )
}

fn is_running(process: &str) -> bool {
    let listed =
        Command::new("ps").args(["-o", "stat=", "-p", process.trim()]).output().expect("a POSIX system has ps");
    // What has ended and was not waited for is a zombie.
    let state = String::from_utf8_lossy(&listed.stdout);
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

#[test]
fn a_terraform_run_that_takes_too_long_is_killed_and_fails_the_test() {
    let mut workspace = Workspace::bare();
    workspace.config(&provisioned(SLEEP));
    workspace.within(Duration::from_secs(3));
    let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| workspace.apply(&[])));
    let panic = run.expect_err("it must panic");
    assert!(panic.downcast_ref::<String>().expect("a text").contains("takes too long"));
    // A slow machine may not have begun the command in that time.
    if let Ok(sleeper) = std::fs::read_to_string(workspace.path().join("begun")) {
        until("the provisioner's command has ended too", || !is_running(&sleeper));
    }
}
