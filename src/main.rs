//! The plugin binary that Terraform starts.

use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use fgw::plugin::generate::generate;
use fgw::plugin::lint::{Lint, lint};
use fgw::plugin::{Program, debug, serve};
use fgw::provider::Fgw;

const VERSION: &str = concat!("terraform-provider-fgw ", env!("CARGO_PKG_VERSION"));

const INTRODUCTION: &str = "\
terraform-provider-fgw is a provider for Terraform and OpenTofu. It manages a whole AWS network, with its subnets,
gateways and routes, or a whole HTTP API, with its routes and domain, as one resource.

This binary is a plugin that Terraform starts. Add the provider to a configuration and run `terraform init`:

    terraform {
      required_providers {
        fgw = { source = \"fgw/fgw\" }
      }
    }

`make install` installs a local build, and prints the configuration with which `terraform init` finds it.

`terraform show -json | terraform-provider-fgw generate` prints a resource block for each network and gateway in the
state, with only the arguments that differ from their defaults. It needs no credentials.

`terraform-provider-fgw lint [DIR]` reads the configuration in a directory, by default the working directory, and its
local modules. It prints each name in an object of this provider that the provider does not have, with file and line:
Terraform drops such a name without an error. It needs neither credentials nor `terraform init`. The exit code is 0 if
there are none, 1 if there are, and 2 if a file cannot be read.

Options:

    --version             prints the version
    --help                prints this text
    --debug [ADDRESS...]  serves Terraform until Ctrl-C, for example under a debugger, and prints the environment
                          variable that makes Terraform use this process as the provider with these source addresses,
                          by default fgw/fgw";

/// The source address of the provider. Terraform and OpenTofu each add the host of their own registry.
const SOURCE: &str = "fgw/fgw";

fn main() -> ExitCode {
    let program = Program { crate_name: "fgw", introduction: INTRODUCTION };
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("--version" | "-V") => print(VERSION),
        Some("--help" | "-h") => print(INTRODUCTION),
        Some("generate") => print_generated(),
        Some("lint") => print_lint(&arguments.collect::<Vec<_>>()),
        Some("--debug") => {
            let given: Vec<String> = arguments.collect();
            debug(Fgw::default(), program, &if given.is_empty() { vec![SOURCE.to_string()] } else { given })
        }
        _ => serve(Fgw::default(), program),
    }
}

/// Prints the configuration of the resources in the state on the standard input.
fn print_generated() -> ExitCode {
    let mut input = std::io::stdin().lock();
    let mut shown = Vec::new();
    let generated = match input.is_terminal() {
        true => {
            Err("The standard input is a terminal. Run terraform show -json | terraform-provider-fgw generate.".into())
        }
        false => match input.read_to_end(&mut shown) {
            Ok(_) => generate(&Fgw::default(), &shown),
            Err(error) => Err(format!("Reading the standard input failed: {error}.")),
        },
    };
    match generated {
        Ok(text) => print(text.trim_end()),
        Err(message) => {
            print_error(&message);
            ExitCode::FAILURE
        }
    }
}

/// Prints the names in a configuration that the schemas do not have.
fn print_lint(arguments: &[String]) -> ExitCode {
    /// The exit code if something could not be checked.
    const NOT_CHECKED: u8 = 2;
    let directory = match arguments {
        [] => ".",
        [option] if ["--help", "-h"].contains(&option.as_str()) => return print(INTRODUCTION),
        [directory] if !directory.starts_with('-') => directory,
        _ => {
            print_error("Run terraform-provider-fgw lint, or terraform-provider-fgw lint DIR.");
            return ExitCode::from(NOT_CHECKED);
        }
    };
    let Lint { findings, errors } = lint(&Fgw::default(), Path::new(directory));
    for error in &errors {
        print_error(error);
    }
    let is_printed = findings.is_empty() || print(&findings.join("\n")) == ExitCode::SUCCESS;
    match (errors.is_empty() && is_printed, findings.is_empty()) {
        (false, _) => ExitCode::from(NOT_CHECKED),
        (true, false) => ExitCode::FAILURE,
        (true, true) => ExitCode::SUCCESS,
    }
}

fn print_error(message: &str) {
    let _nothing_else_can_be_done = writeln!(std::io::stderr().lock(), "Error: {message}");
}

fn print(text: &str) -> ExitCode {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
