//! The kinds of objects of a network, one file each.

mod default_network_acl;
mod default_security_group;
mod egress_only_internet_gateway;
mod eip;
mod flow_log;
mod interface_endpoint;
mod internet_gateway;
mod nat_gateway;
mod route;
mod route_table;
mod route_table_association;
mod security_group;
mod subnet;
mod vpc;
mod vpc_cidr_block;
mod vpc_endpoint;
mod vpc_ipv6_block;

pub use default_network_acl::*;
pub use default_security_group::*;
pub use egress_only_internet_gateway::*;
pub use eip::*;
pub use flow_log::*;
pub use interface_endpoint::*;
pub use internet_gateway::*;
pub use nat_gateway::*;
pub use route::*;
pub use route_table::*;
pub use route_table_association::*;
pub use security_group::*;
pub use subnet::*;
pub use vpc::*;
pub use vpc_cidr_block::*;
pub use vpc_endpoint::*;
pub use vpc_ipv6_block::*;
