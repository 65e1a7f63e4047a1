//! The plugin binary that Terraform starts.

use std::io::Write;
use std::process::ExitCode;

use fgw::plugin::{Program, serve};
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

To use a local build, add its directory to ~/.terraformrc, and skip `terraform init`:

    provider_installation {
      dev_overrides { \"fgw/fgw\" = \"/path/to/the/directory\" }
      direct {}
    }

Options: --version, --help";

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("--version" | "-V") => print(VERSION),
        Some("--help" | "-h") => print(INTRODUCTION),
        _ => serve(Fgw::default(), Program { crate_name: "fgw", introduction: INTRODUCTION }),
    }
}

fn print(text: &str) -> ExitCode {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
