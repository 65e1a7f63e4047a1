use super::*;
use crate::aws::ec2::recorded::Recorded;
use crate::model::keys::network as keys;
use crate::model::{FlowLogSettings, Object, Spec, Tier};

const VPC: &str = "vpc-1";
const KMS: &str = "com.amazonaws.us-east-1.kms";

async fn found(aws: &Recorded, begun: &[Begun<'_>], existing: &[Entry]) -> Vec<Obstacle> {
    obstacles(&aws.session(), Some(VPC), begun, existing).await.unwrap()
}

fn new(object: &Object) -> Begun<'_> {
    Begun { key: &object.key, before: None, spec: &object.spec }
}

fn endpoint(has_names: bool) -> Object {
    let spec = InterfaceEndpoint {
        service_name: Input::Known(KMS.into()),
        private_dns_enabled: Input::Known(has_names),
        ..InterfaceEndpoint::test()
    };
    Object::new(Key::new("interface_endpoint.kms"), spec.into())
}

fn endpoints(more: &str) -> String {
    format!(
        "<vpcEndpointSet><item><vpcEndpointId>vpce-9</vpcEndpointId><vpcId>{VPC}</vpcId><state>available</state>\
         <serviceName>{KMS}</serviceName>{more}</item></vpcEndpointSet>"
    )
}

const NAMES: &str = "<privateDnsEnabled>true</privateDnsEnabled>";

#[tokio::test(start_paused = true)]
async fn what_has_the_private_names_is_named() {
    let aws = || Recorded::default().on("DescribeVpcEndpoints", &endpoints(NAMES));
    let (with, without) = (endpoint(true), endpoint(false));
    let named = found(&aws(), &[new(&with)], &[]).await;
    let [obstacle] = named.as_slice() else { panic!("{named:?}") };
    assert_eq!((obstacle.key.slot.as_str(), obstacle.id.as_str()), ("interface_endpoint.kms", "vpce-9"));
    assert!(obstacle.message.contains(&format!("vpce-9 has the private DNS names of {KMS}")), "{obstacle:?}");
    assert!(obstacle.hint.contains("\"interface_endpoint.kms\" = \"vpce-9\" in adopt"), "{obstacle:?}");

    let turned_on = Begun { key: &with.key, before: Some(&without.spec), spec: &with.spec };
    assert_eq!(found(&aws(), &[turned_on], &[]).await, named);
    let ours = Entry::new(with.key.clone(), "vpce-9", with.spec.clone());
    assert_eq!(found(&aws(), &[turned_on], &[ours]).await, []);
    // An endpoint of a service of AWS cannot be adopted.
    let managed = endpoints(&format!("{NAMES}<requesterManaged>true</requesterManaged>"));
    let aws = Recorded::default().on("DescribeVpcEndpoints", &managed);
    assert!(!found(&aws, &[new(&with)], &[]).await[0].hint.contains("adopt"));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_listed_if_nothing_begins() {
    let (with, without) = (endpoint(true), endpoint(false));
    let keeps = Begun { key: &with.key, before: Some(&with.spec), spec: &with.spec };
    let aws = Recorded::default();
    assert_eq!(found(&aws, &[new(&without), keeps], &[]).await, []);
    assert_eq!(aws.actions(), [""; 0]);
}

/// AWS compares names without case.
#[tokio::test(start_paused = true)]
async fn the_name_of_our_group_is_found_in_another_case() {
    let group = Object::new(Key::new(keys::ENDPOINTS_GROUP), SecurityGroup::test().into());
    let groups = |name: &str| {
        let item = format!("<groupId>sg-9</groupId><groupName>{name}</groupName><vpcId>{VPC}</vpcId>");
        Recorded::default()
            .on("DescribeSecurityGroups", &format!("<securityGroupInfo><item>{item}</item></securityGroupInfo>"))
    };
    let named = found(&groups("Interface-Endpoints"), &[new(&group)], &[]).await;
    assert_eq!(named.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["sg-9"]);
    assert!(named[0].message.contains("Interface-Endpoints"), "{named:?}");
    assert_eq!(found(&groups("interface-endpoints-of-app"), &[new(&group)], &[]).await, []);
}

#[tokio::test(start_paused = true)]
async fn only_an_equal_flow_log_is_an_obstacle() {
    let settings = FlowLogSettings {
        log_destination_type: "s3".to_string().into(),
        traffic_type: "ALL".to_string().into(),
        max_aggregation_interval: 600.into(),
        iam_role_arn: Input::default(),
        ..FlowLog::test().settings
    };
    let spec = FlowLog { destination: "arn:aws:s3:::logs".to_string().into(), settings, ..FlowLog::test() };
    let log = Object::new(Key::new("flow_log.all"), Spec::FlowLog(spec));
    let logs = |kind: &str| {
        let item = format!(
            "<flowLogId>fl-9</flowLogId><resourceId>{VPC}</resourceId><trafficType>{kind}</trafficType>\
             <logDestinationType>s3</logDestinationType><logDestination>arn:aws:s3:::logs</logDestination>\
             <maxAggregationInterval>600</maxAggregationInterval>"
        );
        Recorded::default().on("DescribeFlowLogs", &format!("<flowLogSet><item>{item}</item></flowLogSet>"))
    };
    let named = found(&logs("ALL"), &[new(&log)], &[]).await;
    assert_eq!(named.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["fl-9"]);
    assert!(named[0].hint.contains("\"flow_log.all\" = \"fl-9\" in adopt"), "{named:?}");
    assert_eq!(found(&logs("REJECT"), &[new(&log)], &[]).await, []);
}

#[tokio::test(start_paused = true)]
async fn another_endpoint_with_our_routes_is_named() {
    let table = Entry::new(Key::new("route_table.public"), "rtb-1", crate::model::RouteTable::test().into());
    let spec = |tables: Vec<Ref>| VpcEndpoint {
        service_name: Input::Known(KMS.into()),
        route_tables: tables,
        ..VpcEndpoint::test()
    };
    let routed = Object::new(Key::new("vpc_endpoint.s3"), spec(vec![Ref::Key(table.key.clone())]).into());
    let aws = || {
        let routes = "<vpcEndpointType>Gateway</vpcEndpointType><routeTableIdSet><item>rtb-1</item></routeTableIdSet>";
        Recorded::default().on("DescribeVpcEndpoints", &endpoints(routes))
    };
    let named = found(&aws(), &[new(&routed)], std::slice::from_ref(&table)).await;
    assert!(named[0].message.contains(&format!("routes to {KMS} in rtb-1")), "{named:?}");
    // A new table has no routes yet.
    let none = Recorded::default();
    assert_eq!(found(&none, &[new(&routed)], &[]).await, []);
    assert_eq!(none.actions(), [""; 0]);
}

fn addresses(user: &str) -> String {
    format!(
        "<addressesSet><item><allocationId>eipalloc-1</allocationId><associationId>eipassoc-1</associationId>{user}\
         </item></addressesSet>"
    )
}

fn gateways(state: &str, more: &str) -> String {
    format!(
        "<natGatewaySet><item><natGatewayId>nat-9</natGatewayId><subnetId>subnet-1</subnetId><vpcId>{VPC}</vpcId>\
         <state>{state}</state><natGatewayAddressSet><item><allocationId>eipalloc-1</allocationId>\
         <networkInterfaceId>eni-1</networkInterfaceId></item></natGatewayAddressSet>{more}</item></natGatewaySet>"
    )
}

const INTERFACE: &str = "<networkInterfaceId>eni-1</networkInterfaceId>";

/// A new NAT gateway with an address of the user, and its subnet.
fn with_given_address() -> (Object, Entry) {
    let subnet = keys::subnet(Tier::Public, 0, "use1-az1", &Input::Known("10.0.0.0/24".into()));
    let allocation = Input::Known(Ref::Id("eipalloc-1".into()));
    let key = keys::nat_gateway(0, &subnet, &allocation);
    let spec = NatGateway { subnet: subnet.clone(), allocation: Some(allocation), ..NatGateway::test() };
    let subnet = Entry::new(subnet, "subnet-1", crate::model::Subnet::test().into());
    (Object::new(key, spec.into()), subnet)
}

#[tokio::test(start_paused = true)]
async fn what_uses_a_given_address_is_named() {
    let (gateway, subnet) = with_given_address();
    let on = |user: &str, gateways: &str| {
        Recorded::default().on("DescribeAddresses", &addresses(user)).on("DescribeNatGateways", gateways)
    };
    let none = "<natGatewaySet/>";
    let instance = "<instanceId>i-1</instanceId><networkInterfaceId>eni-2</networkInterfaceId>";
    let tags = "<tagSet><item><key>fgw:resource</key><value>fgw_four_tier_vpc/vpc-7</value></item></tagSet>";
    for (user, gateways, id, owner, parts) in [
        (instance, none, "i-1", None, ["eipalloc-1 is associated with i-1", "--association-id eipassoc-1"]),
        (INTERFACE, none, "eni-1", None, ["eipalloc-1 is associated with eni-1", "in custom_nat_eips"]),
        (INTERFACE, &gateways("available", ""), "nat-9", None, ["of nat-9.", "\"nat_gateway.0\" = \"nat-9\" in adopt"]),
        (
            INTERFACE,
            &gateways("pending", tags),
            "nat-9",
            Some("vpc-7"),
            ["of nat-9 of vpc-7.", "delete that NAT gateway"],
        ),
    ] {
        let named = found(&on(user, gateways), &[new(&gateway)], std::slice::from_ref(&subnet)).await;
        let [obstacle] = named.as_slice() else { panic!("{id}: {named:?}") };
        assert_eq!((obstacle.id.as_str(), obstacle.owner.as_deref(), &obstacle.key), (id, owner, &gateway.key));
        let text = format!("{} {}", obstacle.message, obstacle.hint);
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
    // In another subnet, it cannot take the place of ours.
    let elsewhere = found(&on(INTERFACE, &gateways("available", "")), &[new(&gateway)], &[]).await;
    assert!(elsewhere[0].hint.starts_with("Replace the address in custom_nat_eips"), "{elsewhere:?}");
}

#[tokio::test(start_paused = true)]
async fn an_address_that_becomes_free_is_no_obstacle() {
    let (gateway, subnet) = with_given_address();
    let on = |user: &str, gateways: &str| {
        Recorded::default().on("DescribeAddresses", &addresses(user)).on("DescribeNatGateways", gateways)
    };
    for unused in ["", "<instanceId/><networkInterfaceId/>"] {
        let aws = on(unused, "");
        assert_eq!(found(&aws, &[new(&gateway)], &[]).await, []);
        assert_eq!(aws.actions(), ["DescribeAddresses"]);
    }
    for state in ["deleting", "deleted"] {
        assert_eq!(found(&on(INTERFACE, &gateways(state, "")), &[new(&gateway)], &[]).await, [], "{state}");
    }
    let ours = Entry::new(Key::new("nat_gateway.1"), "nat-9", gateway.spec.clone());
    assert_eq!(found(&on(INTERFACE, &gateways("failed", "")), &[new(&gateway)], &[subnet, ours]).await, []);
    // An address that the network allocates is its own.
    let aws = Recorded::default();
    let allocation = Some(Input::Known(Ref::Key(keys::eip(0))));
    let spec = NatGateway { allocation, ..NatGateway::of(&gateway.spec).unwrap().clone() };
    let object = Object::new(gateway.key.clone(), spec.into());
    assert_eq!(found(&aws, &[new(&object)], &[]).await, []);
    assert_eq!(aws.actions(), [""; 0]);
}
