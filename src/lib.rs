//! terraform-provider-fgw: a whole AWS network or HTTP API as one Terraform resource.
//!
//! The modules are in reading order: a `terraform apply` passes through them from top to bottom.

#![cfg_attr(not(test), warn(clippy::too_many_lines))]

pub mod plugin;
pub mod provider;
pub mod composite;
pub mod topology;
pub mod model;
pub mod reconcile;
pub mod cloud;
pub mod aws;
