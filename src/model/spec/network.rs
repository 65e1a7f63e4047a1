//! The kinds of objects of a network, one file each.

mod default_network_acl;
mod default_security_group;
mod eip;
mod flow_log;
mod internet_gateway;
mod nat_gateway;
mod route;
mod route_table;
mod route_table_association;
mod subnet;
mod vpc;
mod vpc_endpoint;
mod vpc_ipv6_block;

pub use default_network_acl::{DefaultNetworkAcl, NetworkAclRule, TakenSubnet};
pub use default_security_group::{DefaultSecurityGroup, RuleSource, SecurityGroupRule};
pub use eip::Eip;
pub use flow_log::{DELIVERY_ERROR, DELIVERY_STATUS, DestinationOptions, FlowLog, FlowLogSettings};
pub use internet_gateway::InternetGateway;
pub use nat_gateway::NatGateway;
pub use route::Route;
pub use route_table::RouteTable;
pub use route_table_association::RouteTableAssociation;
pub use subnet::{Subnet, Tier};
pub use vpc::Vpc;
pub use vpc_endpoint::VpcEndpoint;
pub use vpc_ipv6_block::{Ipv6Source, VpcIpv6Block};
