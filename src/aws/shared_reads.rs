//! The lists that the reads of several roots share, as Terraform starts ten of them at once.

use std::sync::Arc;

use aws_sdk_acm::types::CertificateSummary;
use aws_sdk_apigatewayv2::types::DomainName;
use aws_sdk_ec2::types::{
    Address, AvailabilityZone, EgressOnlyInternetGateway, FlowLog, InternetGateway, NatGateway, NetworkAcl, RouteTable,
    SecurityGroup, Subnet, Vpc, VpcEndpoint,
};
use serde_json::Value;

use super::calls::shared_lists::{Company, SharedList, SharedListsByKey};

#[derive(Default)]
pub(crate) struct SharedReads {
    pub(crate) networks: Arc<Company>,
    pub(crate) vpcs: SharedList<Vpc>,
    pub(crate) subnets: SharedList<Subnet>,
    pub(crate) route_tables: SharedList<RouteTable>,
    pub(crate) internet_gateways: SharedList<InternetGateway>,
    pub(crate) egress_only_gateways: SharedList<EgressOnlyInternetGateway>,
    pub(crate) all_egress_only_gateways: SharedList<EgressOnlyInternetGateway>,
    pub(crate) nat_gateways: SharedList<NatGateway>,
    pub(crate) addresses: SharedList<Address>,
    pub(crate) endpoints: SharedList<VpcEndpoint>,
    pub(crate) security_groups: SharedList<SecurityGroup>,
    pub(crate) network_acls: SharedList<NetworkAcl>,
    pub(crate) flow_logs: SharedList<FlowLog>,
    pub(crate) availability_zones: SharedList<AvailabilityZone>,
    pub(crate) gateway_services: SharedList<String>,

    pub(crate) gateways: Arc<Company>,
    pub(crate) domain_names: SharedList<DomainName>,
    pub(crate) certificates: SharedList<CertificateSummary>,
    /// The statements of the policies of functions, aliases and versions.
    pub(crate) policies: SharedListsByKey<Value>,
}

#[cfg(test)]
mod tests;
