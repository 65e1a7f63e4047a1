//! The pollers of EC2 objects: one for each kind, so that all waits for a kind share one `Describe` call.

use std::time::Duration;

use aws_sdk_ec2::Client;
use aws_sdk_ec2::types::{Address, InternetGateway, NatGateway, NetworkInterface, RouteTable, Subnet, VpcEndpoint};

use super::filter_any;
use crate::aws::calls::AwsError;
use crate::aws::calls::poller::{Polled, Poller};
use crate::aws::calls::wait;
use crate::cloud::Failure;

/// One poller for each kind. Associations and routes are polled with their tables.
#[derive(Default)]
pub(crate) struct Pollers {
    pub(crate) subnets: Poller<Subnet>,
    pub(crate) route_tables: Poller<RouteTable>,
    pub(crate) internet_gateways: Poller<InternetGateway>,
    pub(crate) addresses: Poller<Address>,
    pub(crate) nat_gateways: Poller<NatGateway>,
    pub(crate) vpc_endpoints: Poller<VpcEndpoint>,
    pub(crate) network_interfaces: Poller<NetworkInterface>,
}

/// Implements [`Polled`] with a filter by id, because one missing id in a list of ids fails the whole call.
macro_rules! polled {
    ($kind:ident, $longest:expr, $action:literal, $id:ident, $filter:literal, |$ec2:ident, $ids:ident| $found:expr) => {
        impl Polled for $kind {
            type Client = Client;
            const LONGEST: Duration = $longest;

            async fn describe(client: &Client, ids: &[String]) -> Result<Vec<(String, $kind)>, Failure> {
                let ($ec2, $ids) = (client, filter_any($filter, ids.iter().map(String::as_str)));
                let found: Vec<$kind> = $found.await.map_err(|error| error.failure($action))?;
                Ok(found.into_iter().filter_map(|it| Some((it.$id()?.to_string(), it))).collect())
            }
        }
    };
}

polled!(Subnet, wait::SECONDS, "DescribeSubnets", subnet_id, "subnet-id", |ec2, ids| {
    ec2.describe_subnets().filters(ids).into_paginator().items().send().collect::<Result<_, _>>()
});
polled!(RouteTable, wait::SECONDS, "DescribeRouteTables", route_table_id, "route-table-id", |ec2, ids| {
    ec2.describe_route_tables().filters(ids).into_paginator().items().send().collect::<Result<_, _>>()
});
polled!(
    InternetGateway,
    wait::SECONDS,
    "DescribeInternetGateways",
    internet_gateway_id,
    "internet-gateway-id",
    |ec2, ids| ec2.describe_internet_gateways().filters(ids).into_paginator().items().send().collect::<Result<_, _>>()
);
polled!(NatGateway, wait::MINUTES, "DescribeNatGateways", nat_gateway_id, "nat-gateway-id", |ec2, ids| {
    ec2.describe_nat_gateways().filter(ids).into_paginator().items().send().collect::<Result<_, _>>()
});
polled!(
    NetworkInterface,
    wait::MINUTES,
    "DescribeNetworkInterfaces",
    network_interface_id,
    "network-interface-id",
    // AWS hides the interfaces of some of its services by default.
    |ec2, ids| ec2
        .describe_network_interfaces()
        .include_managed_resources(true)
        .filters(ids)
        .into_paginator()
        .items()
        .send()
        .collect::<Result<_, _>>()
);
// AWS returns addresses on one page.
polled!(Address, wait::SECONDS, "DescribeAddresses", allocation_id, "allocation-id", |ec2, ids| async {
    ec2.describe_addresses().filters(ids).send().await.map(|answer| answer.addresses.unwrap_or_default())
});
