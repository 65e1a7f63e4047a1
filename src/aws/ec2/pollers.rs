//! The pollers of EC2 objects: one for each kind, so that all waits for a kind share one `Describe` call.

use std::time::Duration;

use aws_sdk_ec2::Client;
use aws_sdk_ec2::types::{Address, InternetGateway, NatGateway, RouteTable, Subnet, VpcEndpoint};
use futures::future::join_all;

use super::filter_any;
use crate::aws::calls::codes::missing::Kind;
use crate::aws::calls::poller::{Polled, Poller};
use crate::aws::calls::wait;
use crate::aws::calls::{AwsError, list_all};
use crate::cloud::{Cause, Failure};

/// One poller for each kind. Associations and routes are polled with their tables.
#[derive(Default)]
pub(crate) struct Pollers {
    pub(crate) subnets: Poller<Subnet>,
    pub(crate) route_tables: Poller<RouteTable>,
    pub(crate) internet_gateways: Poller<InternetGateway>,
    pub(crate) addresses: Poller<Address>,
    pub(crate) nat_gateways: Poller<NatGateway>,
    pub(crate) vpc_endpoints: Poller<VpcEndpoint>,
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
// AWS returns addresses on one page.
polled!(Address, wait::SECONDS, "DescribeAddresses", allocation_id, "allocation-id", |ec2, ids| async {
    ec2.describe_addresses().filters(ids).send().await.map(|answer| answer.addresses.unwrap_or_default())
});

/// Endpoints are read by their IDs, because not every implementation of the EC2 API has a filter for these.
impl Polled for VpcEndpoint {
    type Client = Client;
    const LONGEST: Duration = wait::MINUTES;

    async fn describe(client: &Client, ids: &[String]) -> Result<Vec<(String, VpcEndpoint)>, Failure> {
        match endpoints(client, ids).await {
            // One missing endpoint fails the whole call.
            Err(failure) if failure.cause == Cause::NotFound && ids.len() > 1 => {
                let each = join_all(ids.iter().map(|id| endpoints(client, std::slice::from_ref(id)))).await;
                let each = each.into_iter().zip(ids).map(|(found, id)| if_found(found, id));
                each.collect::<Result<Vec<_>, _>>().map(|found| found.concat())
            }
            found => if_found(found, ids.first().map_or("", String::as_str)),
        }
    }
}

/// The endpoints with these IDs, at most 200. `NotFound` if one of them does not exist.
async fn endpoints(client: &Client, ids: &[String]) -> Result<Vec<(String, VpcEndpoint)>, Failure> {
    let call = client.describe_vpc_endpoints().set_vpc_endpoint_ids(Some(ids.to_vec()));
    let found = list_all("DescribeVpcEndpoints", call.into_paginator().items().send()).await?;
    Ok(found.into_iter().filter_map(|it| Some((it.vpc_endpoint_id()?.to_string(), it))).collect())
}

/// Nothing if the failure reports the endpoint as missing.
fn if_found<T>(found: Result<Vec<T>, Failure>, id: &str) -> Result<Vec<T>, Failure> {
    match found {
        Err(failure) if Kind::VpcEndpoint.is_missing(&failure, id) => Ok(Vec::new()),
        found => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::ec2::recorded::Recorded;

    const MISSING: &str = "InvalidVpcEndpointId.NotFound";

    fn endpoint(id: &str) -> String {
        format!(
            "<vpcEndpointSet><item><vpcEndpointId>{id}</vpcEndpointId><state>available</state></item></vpcEndpointSet>"
        )
    }

    async fn poll(aws: &Recorded, ids: &[&str]) -> Result<Vec<String>, Failure> {
        let ids: Vec<String> = ids.iter().map(|id| id.to_string()).collect();
        let found = VpcEndpoint::describe(&aws.session().ec2, &ids).await?;
        Ok(found.into_iter().map(|(id, _)| id).collect())
    }

    #[tokio::test(start_paused = true)]
    async fn a_missing_endpoint_hides_no_other_one() {
        let aws = Recorded::default()
            .fail("DescribeVpcEndpoints", 400, MISSING, "The Vpc Endpoint Id 'vpce-1' does not exist")
            .fail("DescribeVpcEndpoints", 400, MISSING, "The Vpc Endpoint Id 'vpce-1' does not exist")
            .on("DescribeVpcEndpoints", &endpoint("vpce-2"));
        assert_eq!(poll(&aws, &["vpce-1", "vpce-2"]).await.unwrap(), ["vpce-2"]);
        let ids = |call: &std::collections::BTreeMap<String, String>| {
            ["VpcEndpointId.1", "VpcEndpointId.2"].map(|name| call.get(name).cloned().unwrap_or_default())
        };
        let asked: Vec<_> = aws.calls("DescribeVpcEndpoints").iter().map(ids).collect();
        assert_eq!(asked, [["vpce-1", "vpce-2"], ["vpce-1", ""], ["vpce-2", ""]]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_missing_endpoint_alone_takes_one_call() {
        let aws = Recorded::default().fail("DescribeVpcEndpoints", 400, MISSING, "does not exist");
        assert_eq!(poll(&aws, &["vpce-1"]).await.unwrap(), [""; 0]);
        assert_eq!(aws.actions(), ["DescribeVpcEndpoints"]);
    }

    #[tokio::test(start_paused = true)]
    async fn another_failure_to_read_endpoints_is_reported() {
        let aws = Recorded::default().fail("DescribeVpcEndpoints", 400, "UnauthorizedOperation", "not authorized");
        assert_eq!(poll(&aws, &["vpce-1", "vpce-2"]).await.unwrap_err().cause, Cause::Denied);
        assert_eq!(aws.actions(), ["DescribeVpcEndpoints"]);
    }
}
