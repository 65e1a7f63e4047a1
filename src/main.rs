//! The program that Terraform starts.

use std::io::Write;
use std::process::ExitCode;

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
        _ => fgw::plugin::serve(NoResources, fgw::plugin::Program { crate_name: "fgw", introduction: INTRODUCTION }),
    }
}

fn say(text: &str) -> ExitCode {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Stands in until there is a provider.
struct NoResources;

#[async_trait::async_trait]
impl fgw::plugin::Provider for NoResources {
    fn schema(&self) -> fgw::plugin::Schema {
        fgw::plugin::Schema { version: 0, description: String::new(), attributes: Vec::new() }
    }

    fn resources(&self) -> Vec<std::sync::Arc<dyn fgw::plugin::Resource>> {
        Vec::new()
    }

    fn validate(&self, _: &fgw::plugin::Value) -> fgw::plugin::Diagnostics {
        fgw::plugin::Diagnostics::default()
    }

    async fn configure(&self, _: fgw::plugin::Value, _: &str) -> fgw::plugin::Diagnostics {
        fgw::plugin::Diagnostics::default()
    }
}
