//! Networks that are read at the same time.

use std::collections::BTreeMap;

use futures::future::join_all;

use crate::aws::ec2::recorded::{OWNER, Recorded};
use crate::cloud::{Cloud, Known};

const NETWORKS: usize = 10;

/// Networks with a subnet each.
fn account() -> Recorded {
    let each = |item: fn(usize) -> String| (0..NETWORKS).map(item).collect::<String>();
    let vpcs = each(|n| format!("<item><vpcId>vpc-{n}</vpcId><cidrBlock>10.{n}.0.0/16</cidrBlock></item>"));
    let subnets = each(|n| {
        format!(
            "<item><subnetId>subnet-{n}</subnetId><vpcId>vpc-{n}</vpcId><cidrBlock>10.{n}.0.0/24</cidrBlock>\
             <availabilityZone>us-east-1a\
             </availabilityZone><availabilityZoneId>use1-az6</availabilityZoneId><tagSet><item><key>fgw:resource</key>\
             <value>four_tier_vpc/vpc-{n}</value></item><item><key>fgw:object</key><value>subnet.public.0</value>\
             </item></tagSet></item>"
        )
    });
    let attribute = "<enableDnsSupport><value>true</value></enableDnsSupport><enableDnsHostnames><value>true\
        </value></enableDnsHostnames><enableNetworkAddressUsageMetrics><value>false</value>\
        </enableNetworkAddressUsageMetrics>";
    Recorded::default()
        .on("DescribeVpcs", &format!("<vpcSet>{vpcs}</vpcSet>"))
        .on("DescribeVpcAttribute", attribute)
        .on("DescribeSubnets", &format!("<subnetSet>{subnets}</subnetSet>"))
        .on("DescribeRouteTables", "<routeTableSet/>")
        .on("DescribeInternetGateways", "<internetGatewaySet/>")
        .on("DescribeEgressOnlyInternetGateways", "<egressOnlyInternetGatewaySet/>")
        .on("DescribeNatGateways", "<natGatewaySet/>")
        .on("DescribeAddresses", "<addressesSet/>")
        .on("DescribeVpcEndpoints", "<vpcEndpointSet/>")
        .on("DescribeSecurityGroups", "<securityGroupInfo/>")
        .on("DescribeNetworkAcls", "<networkAclSet/>")
        .on("DescribeFlowLogs", "<flowLogSet/>")
}

#[tokio::test(start_paused = true)]
async fn networks_that_are_read_together_share_their_lists() {
    let aws = account();
    let session = aws.session();
    let ids: Vec<String> = (0..NETWORKS).map(|n| format!("vpc-{n}")).collect();
    for id in &ids {
        session.announce(OWNER, id);
    }
    let reads = ids.iter().map(|id| session.read(OWNER, id, Known::default()));
    for (n, seen) in join_all(reads).await.into_iter().enumerate() {
        let objects = seen.unwrap().expect("the network exists").objects;
        let subnets: Vec<&str> =
            objects.iter().map(|it| it.id.as_str()).filter(|id| id.starts_with("subnet")).collect();
        assert_eq!(subnets, [format!("subnet-{n}")]);
    }
    let mut calls = BTreeMap::<String, usize>::new();
    for action in aws.actions() {
        *calls.entry(action).or_default() += 1;
    }
    assert_eq!(calls.remove("DescribeVpcAttribute"), Some(3 * NETWORKS), "AWS has no list of them");
    // Each network without a gateway is searched for one that was not attached.
    assert_eq!(calls.remove("DescribeInternetGateways"), Some(1 + NETWORKS));
    assert!(calls.values().all(|count| *count == 1), "{calls:?}");
    assert_eq!(aws.calls("DescribeSubnets")[0]["Filter.1.Value.10"], "vpc-9");
}
