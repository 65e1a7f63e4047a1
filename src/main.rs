//! The program that Terraform starts.

use std::io::Write;
use std::process::ExitCode;

use fgw::plugin::{Program, serve};
use fgw::provider::Fgw;

const VERSION: &str = concat!("terraform-provider-fgw ", env!("CARGO_PKG_VERSION"));

const INTRODUCTION: &str = "\
This is terraform-provider-fgw, a provider for Terraform and OpenTofu that manages whole AWS topologies:
a network with its subnets, gateways and routes, or an HTTP API with its routes and domain, as one resource.

It is not started by hand: Terraform does that. Name it in a configuration and run `terraform init`:

    terraform {
      required_providers {
        fgw = { source = \"fgw/fgw\" }
      }
    }

To use a build of your own, name its directory in ~/.terraformrc, and leave out `terraform init`:

    provider_installation {
      dev_overrides { \"fgw/fgw\" = \"/path/to/the/directory\" }
      direct {}
    }

Options: --version, --help";

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("--version" | "-V") => say(VERSION),
        Some("--help" | "-h") => say(INTRODUCTION),
        _ => serve(Fgw::default(), Program { crate_name: "fgw", introduction: INTRODUCTION }),
    }
}

fn say(text: &str) -> ExitCode {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
