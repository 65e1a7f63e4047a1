//! terraform-provider-fgw: whole AWS topologies as single Terraform resources.
//!
//! The modules, in reading order. One `terraform apply` goes through them from top to bottom.

pub mod plugin;
pub mod provider;
pub mod composite;
pub mod topology;
pub mod model;
pub mod reconcile;
pub mod cloud;
pub mod aws;
