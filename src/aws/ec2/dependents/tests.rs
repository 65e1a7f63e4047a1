use super::*;
use crate::aws::ec2::recorded::{Recorded, VPC};
use crate::cloud::Cause;
use crate::model::{EndpointAddresses, Input, Learned};
use crate::model::{InternetGateway, Key, NatGateway, RouteTable, VpcEndpoint as VpcEndpointSpec};

/// A managed internet gateway, NAT gateway and route table.
fn known() -> Vec<Entry> {
    vec![
        Entry::new(Key::new("internet_gateway"), "igw-1", Spec::InternetGateway(InternetGateway::test())),
        Entry::new(Key::new("nat_gateway.0"), "nat-1", Spec::NatGateway(NatGateway::test())),
        Entry::new(Key::new("route_table.public"), "rtb-1", Spec::RouteTable(RouteTable::test())),
    ]
}

const INTERFACES: &str = "<networkInterfaceSet>\
    <item><networkInterfaceId>eni-1</networkInterfaceId><subnetId>subnet-1</subnetId>\
    <interfaceType>nat_gateway</interfaceType><description>Interface for NAT Gateway nat-1</description></item>\
    <item><networkInterfaceId>eni-2</networkInterfaceId><subnetId>subnet-1</subnetId>\
    <interfaceType>natGateway</interfaceType><description>Interface for NAT Gateway nat-2</description></item>\
    <item><networkInterfaceId>eni-3</networkInterfaceId><subnetId>subnet-2</subnetId>\
    <interfaceType>lambda</interfaceType><description>AWS Lambda VPC ENI-shop</description>\
    <ownerId>123456789012</ownerId><requesterId>AROA1:shop</requesterId></item>\
    <item><networkInterfaceId>eni-4</networkInterfaceId><subnetId>subnet-2</subnetId>\
    <interfaceType>interface</interfaceType><attachment><instanceId>i-1</instanceId></attachment>\
    <association><publicIp>192.0.2.1</publicIp></association></item></networkInterfaceSet>";

#[tokio::test(start_paused = true)]
async fn one_call_finds_unmanaged_interfaces_in_subnets() {
    let aws = Recorded::default().on("DescribeNetworkInterfaces", INTERFACES);
    let ids = ["subnet-1", "subnet-2"];
    let found = dependents(&aws.session(), VPC, DependentScope::Subnets(&ids), &known()).await;
    assert_eq!(aws.actions(), ["DescribeNetworkInterfaces"]);
    let call = &aws.calls("DescribeNetworkInterfaces")[0];
    let filter = ["Filter.1.Name", "Filter.1.Value.1", "Filter.1.Value.2"].map(|name| call[name].as_str());
    assert_eq!(filter, ["subnet-id", "subnet-1", "subnet-2"]);
    let listed: Vec<(&str, &str)> = found.objects.iter().map(|it| (it.id.as_str(), it.further.as_str())).collect();
    assert_eq!(
        listed,
        [
            ("eni-2", "type natGateway"),
            ("eni-3", "type lambda, created by AROA1:shop"),
            ("eni-4", "attached to instance i-1"),
        ]
    );
    let lambda = &found.objects[1];
    assert_eq!(
        (lambda.description.as_str(), lambda.owner.as_deref()),
        ("AWS Lambda VPC ENI-shop", Some("123456789012"))
    );
    let of_gateway: Vec<String> = found.holding("igw-1").into_iter().map(|it| it.id).collect();
    assert_eq!(of_gateway, ["eni-4"], "a mapped address blocks the internet gateway");
}

#[tokio::test(start_paused = true)]
async fn interfaces_that_a_managed_endpoint_has_are_no_dependents() {
    let aws = Recorded::default().on("DescribeNetworkInterfaces", INTERFACES);
    let mut known = known();
    let addresses = EndpointAddresses {
        subnets: vec!["subnet-1".into()],
        has_private_dns: true,
        network_interfaces: vec!["eni-4".into()],
        dns_entries: Vec::new(),
    };
    known[0].learned = Learned { endpoint: Some(addresses), ..Learned::default() };
    let found = dependents(&aws.session(), VPC, DependentScope::Subnets(&["subnet-1", "subnet-2"]), &known).await;
    let ids: Vec<&str> = found.objects.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["eni-2", "eni-3"]);
}

/// A VPC with managed and unmanaged objects.
fn vpc() -> Recorded {
    let attached = "<state>attached</state>";
    Recorded::default()
        .on("DescribeNetworkInterfaces", "<networkInterfaceSet/>")
        .on(
            "DescribeSecurityGroups",
            "<securityGroupInfo><item><groupId>sg-1</groupId><groupName>default</groupName></item><item><groupId>sg-2\
             </groupId><groupName>web</groupName><groupDescription>of the shop</groupDescription></item></securityGroupInfo>",
        )
        .on(
            "DescribeVpcEndpoints",
            "<vpcEndpointSet><item><vpcEndpointId>vpce-2</vpcEndpointId><vpcEndpointType>Interface</vpcEndpointType>\
             <serviceName>guardduty</serviceName><state>available</state></item><item><vpcEndpointId>vpce-3</vpcEndpointId>\
             <state>deleted</state></item></vpcEndpointSet>",
        )
        .on(
            "DescribeVpcPeeringConnections",
            "<vpcPeeringConnectionSet><item><vpcPeeringConnectionId>pcx-1</vpcPeeringConnectionId><requesterVpcInfo>\
             <vpcId>vpc-1</vpcId></requesterVpcInfo><accepterVpcInfo><vpcId>vpc-9</vpcId><ownerId>999999999999</ownerId>\
             </accepterVpcInfo><status><code>active</code></status></item><item><vpcPeeringConnectionId>pcx-2\
             </vpcPeeringConnectionId><status><code>deleted</code></status></item></vpcPeeringConnectionSet>",
        )
        .on("DescribeVpcPeeringConnections", "<vpcPeeringConnectionSet/>")
        .on(
            "DescribeVpnGateways",
            &format!(
                "<vpnGatewaySet><item><vpnGatewayId>vgw-1</vpnGatewayId><attachments><item><vpcId>vpc-1</vpcId>{attached}\
                 </item></attachments></item><item><vpnGatewayId>vgw-2</vpnGatewayId><attachments><item><vpcId>vpc-1\
                 </vpcId><state>detached</state></item></attachments></item></vpnGatewaySet>"
            ),
        )
        .on(
            "DescribeEgressOnlyInternetGateways",
            "<egressOnlyInternetGatewaySet><item><egressOnlyInternetGatewayId>eigw-1</egressOnlyInternetGatewayId>\
             <attachmentSet><item><vpcId>vpc-1</vpcId></item></attachmentSet></item><item><egressOnlyInternetGatewayId>eigw-9\
             </egressOnlyInternetGatewayId><attachmentSet><item><vpcId>vpc-9</vpcId></item></attachmentSet></item>\
             </egressOnlyInternetGatewaySet>",
        )
        .on(
            "DescribeNatGateways",
            "<natGatewaySet><item><natGatewayId>nat-1</natGatewayId></item><item><natGatewayId>nat-2</natGatewayId>\
             <subnetId>subnet-9</subnetId></item><item><natGatewayId>nat-3</natGatewayId><state>deleted</state></item>\
             </natGatewaySet>",
        )
        .on(
            "DescribeSubnets",
            "<subnetSet><item><subnetId>subnet-9</subnetId><cidrBlock>10.0.9.0/24</cidrBlock><tagSet><item><key>Name</key>\
             <value>theirs</value></item></tagSet></item></subnetSet>",
        )
        .on(
            "DescribeRouteTables",
            "<routeTableSet><item><routeTableId>rtb-0</routeTableId><associationSet><item><main>true</main></item>\
             </associationSet></item><item><routeTableId>rtb-1</routeTableId><associationSet><item><routeTableId>rtb-1\
             </routeTableId><subnetId>subnet-9</subnetId></item></associationSet></item><item><routeTableId>rtb-9\
             </routeTableId></item></routeTableSet>",
        )
        .on("DescribeNetworkAcls", "<networkAclSet><item><networkAclId>acl-9</networkAclId></item></networkAclSet>")
        .on(
            "DescribeInternetGateways",
            "<internetGatewaySet><item><internetGatewayId>igw-1</internetGatewayId></item></internetGatewaySet>",
        )
}

#[tokio::test(start_paused = true)]
async fn every_unmanaged_kind_in_a_vpc_is_found() {
    let aws = vpc();
    let found = dependents(&aws.session(), VPC, DependentScope::Root, &known()).await;
    assert_eq!(found.unseen, []);
    let listed: Vec<String> = found
        .objects
        .iter()
        .map(|it| [it.kind, &it.id, &it.description, &it.further].join(" ").trim_end().to_string())
        .collect();
    assert_eq!(
        listed,
        [
            "security group sg-2 web of the shop",
            "VPC endpoint vpce-2 guardduty type Interface",
            "peering connection pcx-1  with vpc-9 in account 999999999999",
            "VPN gateway vgw-1",
            "egress-only internet gateway eigw-1",
            "NAT gateway nat-2  in subnet-9",
            "subnet subnet-9 theirs 10.0.9.0/24",
            "route table rtb-9",
            "network ACL acl-9",
        ]
    );
    assert_eq!(found.holding("rtb-1")[0].id, "subnet-9", "the subnet uses a managed table");
    assert_eq!(aws.actions().len(), 12);
}

/// moto never deletes the network interface of a NAT gateway, and LocalStack runs moto.
#[tokio::test(start_paused = true)]
async fn interfaces_of_deleted_nat_gateways_are_no_dependents() {
    let interface = |id: &str| format!("<item><networkInterfaceId>{id}</networkInterfaceId></item>");
    let ids = ["eni-1", "eni-2", "eni-3", "eni-4"].map(interface).concat();
    let nat = |id: &str, interface: &str, state: &str| {
        format!(
            "<item><natGatewayId>{id}</natGatewayId><state>{state}</state><natGatewayAddressSet><item>\
             <networkInterfaceId>{interface}</networkInterfaceId></item></natGatewayAddressSet></item>"
        )
    };
    let nats = [
        nat("nat-2", "eni-1", "deleted"),
        // AWS deletes no subnet with this one.
        nat("nat-3", "eni-2", "deleting"),
        nat("nat-4", "eni-3", "available"),
    ];
    let aws = Recorded::default()
        .denying_others()
        .on("DescribeNetworkInterfaces", &format!("<networkInterfaceSet>{ids}</networkInterfaceSet>"))
        .on("DescribeNatGateways", &format!("<natGatewaySet>{}</natGatewaySet>", nats.concat()));
    let found = dependents(&aws.session(), VPC, DependentScope::Root, &known()).await;
    let found: Vec<&str> = found.objects.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(found, ["eni-2", "eni-3", "eni-4", "nat-4"]);
}

#[tokio::test(start_paused = true)]
async fn a_denied_call_hides_only_its_own_objects() {
    let aws = vpc().fail("DescribeSubnets", 403, "UnauthorizedOperation", "You are not authorized");
    let session = aws.session();
    // The first answer to DescribeSubnets is a success, the second one the error.
    dependents(&session, VPC, DependentScope::Root, &known()).await;
    let found = dependents(&session, VPC, DependentScope::Root, &known()).await;
    let unseen: Vec<(&str, Cause)> = found.unseen.iter().map(|it| (it.action.as_str(), it.cause)).collect();
    assert_eq!(unseen, [("DescribeSubnets", Cause::Denied)]);
    assert!(found.objects.iter().any(|it| it.id == "rtb-9") && found.holding("rtb-1").is_empty());
}

/// Endpoints: one of GuardDuty with two interfaces and a group, and an S3 interface endpoint that needs the gateway
/// endpoint.
const ENDPOINTS: &str = "<vpcEndpointSet><item><vpcEndpointId>vpce-5</vpcEndpointId><vpcEndpointType>Interface\
    </vpcEndpointType><serviceName>com.amazonaws.us-east-1.guardduty-data</serviceName><state>available</state><groupSet>\
    <item><groupId>sg-5</groupId></item></groupSet><networkInterfaceIdSet><item>eni-5</item><item>eni-6</item>\
    </networkInterfaceIdSet><tagSet><item><key>GuardDutyManaged</key><value>true</value></item></tagSet></item><item>\
    <vpcEndpointId>vpce-7</vpcEndpointId><vpcEndpointType>Interface</vpcEndpointType><serviceName>\
    com.amazonaws.us-east-1.s3</serviceName><state>available</state><dnsOptions>\
    <privateDnsOnlyForInboundResolverEndpoint>true</privateDnsOnlyForInboundResolverEndpoint></dnsOptions></item>\
    </vpcEndpointSet>";

const ENDPOINT_INTERFACES: &str = "<networkInterfaceSet><item><networkInterfaceId>eni-5</networkInterfaceId><subnetId>\
    subnet-1</subnetId><interfaceType>vpc_endpoint</interfaceType><description>VPC Endpoint Interface vpce-5</description>\
    </item><item><networkInterfaceId>eni-8</networkInterfaceId><subnetId>subnet-1</subnetId><interfaceType>vpc_endpoint\
    </interfaceType><description>VPC Endpoint Interface vpce-7</description></item></networkInterfaceSet>";

fn guardduty_ids(found: &Dependents) -> Vec<(&str, String)> {
    found.objects.iter().map(|it| (it.id.as_str(), it.guardduty.join(" "))).collect()
}

#[tokio::test(start_paused = true)]
async fn interfaces_of_guardduty_in_subnets_take_one_more_call() {
    let aws =
        Recorded::default().on("DescribeNetworkInterfaces", ENDPOINT_INTERFACES).on("DescribeVpcEndpoints", ENDPOINTS);
    let found = dependents(&aws.session(), VPC, DependentScope::Subnets(&["subnet-1"]), &known()).await;
    assert_eq!(aws.actions(), ["DescribeNetworkInterfaces", "DescribeVpcEndpoints"]);
    assert_eq!(guardduty_ids(&found), [("eni-5", "vpce-5 sg-5".to_string()), ("eni-8", String::new())]);

    let aws = Recorded::default().on("DescribeNetworkInterfaces", ENDPOINT_INTERFACES).fail(
        "DescribeVpcEndpoints",
        403,
        "UnauthorizedOperation",
        "You are not authorized",
    );
    let found = dependents(&aws.session(), VPC, DependentScope::Subnets(&["subnet-1"]), &known()).await;
    assert_eq!((found.objects.len(), found.unseen.len()), (2, 1), "the interfaces are listed all the same");
}

#[tokio::test(start_paused = true)]
async fn endpoints_and_groups_of_guardduty_in_a_vpc_are_marked() {
    let group = "<securityGroupInfo><item><groupId>sg-5</groupId><groupName>GuardDutyManagedSecurityGroup-vpc-1</groupName>\
        <tagSet><item><key>GuardDutyManaged</key><value>true</value></item></tagSet></item></securityGroupInfo>";
    let mut aws = Recorded::default()
        .on("DescribeNetworkInterfaces", ENDPOINT_INTERFACES)
        .on("DescribeVpcEndpoints", ENDPOINTS)
        .on("DescribeSecurityGroups", group);
    for action in [
        "DescribeVpcPeeringConnections",
        "DescribeVpnGateways",
        "DescribeEgressOnlyInternetGateways",
        "DescribeNatGateways",
        "DescribeSubnets",
        "DescribeRouteTables",
        "DescribeNetworkAcls",
        "DescribeInternetGateways",
    ] {
        aws = aws.on(action, "");
    }
    let gateway = VpcEndpointSpec {
        vpc: Key::new("vpc"),
        service_name: Input::Known("com.amazonaws.us-east-1.s3".into()),
        route_tables: vec![],
        policy: Input::Known(None),
        tags: Input::Known(Default::default()),
    };
    let known = [Entry::new(Key::new("vpc_endpoint.objectstore"), "vpce-1", Spec::VpcEndpoint(gateway))];
    let found = dependents(&aws.session(), VPC, DependentScope::Root, &known).await;
    let marked = ["vpce-5 sg-5", "", "sg-5", "vpce-5 sg-5", ""].map(str::to_string);
    let ids = ["eni-5", "eni-8", "sg-5", "vpce-5", "vpce-7"];
    assert_eq!(guardduty_ids(&found), ids.into_iter().zip(marked).collect::<Vec<_>>());
    let holding: Vec<String> = found.holding("vpce-1").into_iter().map(|it| it.id).collect();
    assert_eq!(holding, ["vpce-7"], "AWS does not delete the gateway endpoint of S3 before it");
}

#[tokio::test(start_paused = true)]
async fn only_unmanaged_objects_of_this_network_are_dependents() {
    // An emulator may apply no filter, and return the interface of a NAT gateway without type and description.
    let interface = |id: &str, vpc: &str, subnet: &str| {
        format!(
            "<item><networkInterfaceId>{id}</networkInterfaceId><vpcId>{vpc}</vpcId><subnetId>{subnet}</subnetId>\
             <interfaceType>interface</interfaceType></item>"
        )
    };
    let interfaces = format!(
        "<networkInterfaceSet>{}{}{}</networkInterfaceSet>",
        interface("eni-nat", "vpc-1", "subnet-1"),
        interface("eni-1", "vpc-1", "subnet-1"),
        interface("eni-9", "vpc-9", "subnet-9"),
    );
    let endpoints = "<vpcEndpointSet><item><vpcEndpointId>vpce-1</vpcEndpointId><vpcId>vpc-1</vpcId></item><item>\
                     <vpcEndpointId>vpce-9</vpcEndpointId><vpcId>vpc-9</vpcId></item></vpcEndpointSet>";
    let mut known = known();
    known[1].learned.insert("network_interface_id".into(), "eni-nat".into());
    let aws = Recorded::default().on("DescribeNetworkInterfaces", &interfaces);
    for scope in [DependentScope::NetworkInterfaces, DependentScope::Subnets(&["subnet-1"])] {
        let found = dependents(&aws.session(), VPC, scope, &known).await;
        assert_eq!(found.objects.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["eni-1"]);
    }
    let default = "<groupSet><item><groupId>sg-1</groupId><groupName>default</groupName></item></groupSet></item>";
    let in_group = interfaces.replacen("</interfaceType></item>", &format!("</interfaceType>{default}"), 2);
    let aws = Recorded::default().on("DescribeNetworkInterfaces", &in_group);
    let found = dependents(&aws.session(), VPC, DependentScope::DefaultSecurityGroup, &known).await;
    assert_eq!(found.objects.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["eni-1"]);
    let aws = Recorded::default().on("DescribeNetworkInterfaces", &interfaces);
    let found = dependents(&aws.session(), VPC, DependentScope::DefaultSecurityGroup, &known).await;
    assert_eq!(found, Dependents::default(), "they are in other groups");
    let aws = Recorded::default().on("DescribeVpcEndpoints", endpoints);
    let found = vpc_endpoint::in_vpc(&aws.session(), VPC).await.unwrap();
    assert_eq!(found.iter().filter_map(|it| it.vpc_endpoint_id()).collect::<Vec<_>>(), ["vpce-1"]);
}
