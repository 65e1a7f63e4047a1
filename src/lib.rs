//! terraform-provider-fgw: whole AWS topologies as single Terraform resources.

pub mod aws;
pub mod cloud;
pub mod http_gateway;
pub mod objects;
pub mod plugin;
pub mod product;
pub mod reconcile;
