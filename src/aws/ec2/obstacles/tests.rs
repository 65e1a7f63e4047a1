use super::*;
use crate::aws::ec2::recorded::Recorded;
use crate::model::keys::network as keys;
use crate::model::{FlowLogSettings, Object, Spec};

const VPC: &str = "vpc-1";
const KMS: &str = "com.amazonaws.us-east-1.kms";

async fn found(aws: &Recorded, begun: &[Begun<'_>], existing: &[Entry]) -> Vec<Obstacle> {
    obstacles(&aws.session(), VPC, begun, existing).await.unwrap()
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
