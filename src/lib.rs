//! terraform-provider-fgw: whole AWS topologies as single Terraform resources.

pub mod plugin;
