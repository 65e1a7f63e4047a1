//! Messages and services generated from `proto/`. Public only so that tests can act as Terraform.

// Generated code does not follow our lints.
#![allow(missing_docs, unreachable_pub, clippy::all, clippy::too_many_lines)]

/// Terraform's plugin protocol, version 6.
pub mod tfplugin6 {
    tonic::include_proto!("tfplugin6");
}

/// The services of every plugin process.
pub mod process {
    tonic::include_proto!("plugin");
}
