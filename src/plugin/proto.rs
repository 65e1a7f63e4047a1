//! Messages and services generated from `proto/`. Public only so that a test can be Terraform.

// Generated code follows no house style.
#![allow(missing_docs, unreachable_pub, clippy::all)]

/// Terraform's plugin protocol, version 6.
pub mod tfplugin6 {
    tonic::include_proto!("tfplugin6");
}

/// What every plugin process answers.
pub mod process {
    tonic::include_proto!("plugin");
}
