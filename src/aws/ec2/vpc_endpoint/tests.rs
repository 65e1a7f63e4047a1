use super::*;
use crate::aws::ec2::recorded::{Notes, Recorded};
use crate::model::keys::network as keys;
use crate::model::keys::network::EndpointService;

fn key() -> Key {
    keys::vpc_endpoint(EndpointService::ObjectStore, &Input::Known("com.amazonaws.us-east-1.s3".into()))
}

fn spec(tables: &[&str], policy: Option<&str>) -> VpcEndpoint {
    VpcEndpoint {
        route_tables: tables.iter().map(|slot| Ref::Key(Key::new(*slot))).collect(),
        policy: Input::Known(policy.map(str::to_string)),
        ..VpcEndpoint::test()
    }
}

fn unsuccessful(code: &str) -> String {
    format!(
        "<unsuccessful><item><resourceId>vpce-1</resourceId><error><code>{code}</code><message>no</message>\
         </error></item></unsuccessful>"
    )
}

#[tokio::test(start_paused = true)]
async fn an_error_inside_a_successful_answer_is_a_failure() {
    let aws = Recorded::default().on("DeleteVpcEndpoints", &unsuccessful("InvalidParameter"));
    let entry = Entry::new(key(), "vpce-1", Spec::VpcEndpoint(spec(&[], None)));
    let failure = Notes::default()
        .run(&aws.session(), &key(), &[], async |operation| delete(operation, &entry).await)
        .await
        .unwrap_err();
    assert_eq!(failure.code.as_deref(), Some("InvalidParameter"));
}

#[tokio::test(start_paused = true)]
async fn a_needed_gateway_endpoint_is_retried_and_then_explained() {
    let rejected = "<unsuccessful><item><resourceId>vpce-1</resourceId><error><code>InvalidParameter</code><message>\
                    Gateway endpoint cannot be deleted while Interface endpoint vpce-9 for the service has \
                    PrivateDnsOnlyForInboundResolverEndpoint set to true.</message></error></item></unsuccessful>";
    let aws = Recorded::default().on("DeleteVpcEndpoints", rejected);
    let entry = Entry::new(key(), "vpce-1", Spec::VpcEndpoint(spec(&[], None)));
    let failure = Notes::default()
        .run(&aws.session(), &key(), &[], async |operation| delete(operation, &entry).await)
        .await
        .unwrap_err();
    assert_eq!((failure.cause, failure.case), (Cause::InUse, Some(Case::S3Endpoint)));
    for text in ["Interface endpoint vpce-9", "private_dns_only_for_inbound_resolver_endpoint to false"] {
        assert!(failure.message.contains(text), "{}", failure.message);
    }
    assert!(aws.actions().len() > 1, "the interface endpoint may be deleted in the same run");
}

#[tokio::test(start_paused = true)]
async fn a_policy_names_the_own_vpc() {
    let with = |action: &str| format!(r#"{{"Statement":{{"Action":"{action}","Resource":"${{fgw:vpc_id}}"}}}}"#);
    let shown = "<vpcEndpointSet><item><vpcEndpointId>vpce-1</vpcEndpointId></item></vpcEndpointSet>";
    let aws = Recorded::default().on("ModifyVpcEndpoint", "<return>true</return>").on("DescribeVpcEndpoints", shown);
    let (from, to) = (spec(&[], Some(&with("s3:GetObject"))), spec(&[], Some(&with("s3:*"))));
    Notes::default()
        .run(&aws.session(), &key(), &[], async |operation| update(operation, "vpce-1", &from, &to).await)
        .await
        .unwrap();
    let sent = &aws.calls("ModifyVpcEndpoint")[0]["PolicyDocument"];
    assert_eq!(*sent, with("s3:*").replace("${fgw:vpc_id}", "vpc-1"));
}

#[tokio::test(start_paused = true)]
async fn a_missing_endpoint_counts_as_deleted() {
    let aws = Recorded::default()
        .on("DeleteVpcEndpoints", &unsuccessful("InvalidVpcEndpoint.NotFound"))
        .on("DescribeVpcEndpoints", "<vpcEndpointSet/>");
    let entry = Entry::new(key(), "vpce-1", Spec::VpcEndpoint(spec(&[], None)));
    Notes::default().run(&aws.session(), &key(), &[], async |operation| delete(operation, &entry).await).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_unmanaged_endpoint_with_the_same_routes_is_named() {
    let endpoint = |id: &str, table: &str| {
        format!(
            "<item><vpcEndpointId>{id}</vpcEndpointId><vpcEndpointType>Gateway</vpcEndpointType><vpcId>vpc-1</vpcId>\
             <serviceName>com.amazonaws.us-east-1.s3</serviceName><state>available</state><routeTableIdSet><item>\
             {table}</item></routeTableIdSet></item>"
        )
    };
    let found = [endpoint("vpce-8", "rtb-z"), endpoint("vpce-9", "rtb-a")].concat();
    let text = "route table rtb-a already has a route with destination-prefix-list-id pl-1";
    let aws = Recorded::default()
        .fail("CreateVpcEndpoint", 400, "RouteAlreadyExists", text)
        .on("DescribeVpcEndpoints", &format!("<vpcEndpointSet>{found}</vpcEndpointSet>"));
    let (vpc, a) = (Key::new("vpc"), Key::new("a"));
    let ids = [(&vpc, "vpc-1"), (&a, "rtb-a")];
    let body = async |operation: &Operation<'_>| create(operation, &spec(&["a"], None)).await;
    let failure = Notes::default().run(&aws.session(), &key(), &ids, body).await.unwrap_err();
    assert_eq!(failure.cause, Cause::Exists);
    let named = "vpce-9, which this resource does not manage, routes to com.amazonaws.us-east-1.s3 in rtb-a";
    assert!(failure.message.contains(named), "{}", failure.message);
    assert!(failure.message.contains("set create_vpc_endpoints to false"), "{}", failure.message);
}

#[tokio::test(start_paused = true)]
async fn tables_and_policy_change_in_one_call() {
    let shown = |tables: &[&str]| {
        let tables: String = tables.iter().map(|table| format!("<item>{table}</item>")).collect();
        format!(
            "<vpcEndpointSet><item><vpcEndpointId>vpce-1</vpcEndpointId><routeTableIdSet>{tables}</routeTableIdSet>\
             </item></vpcEndpointSet>"
        )
    };
    let aws = Recorded::default()
        .on("ModifyVpcEndpoint", "<return>true</return>")
        .on("DescribeVpcEndpoints", &shown(&["rtb-a", "rtb-b"]))
        .on("DescribeVpcEndpoints", &shown(&["rtb-b", "rtb-c"]));
    let (a, b, c) = (Key::new("a"), Key::new("b"), Key::new("c"));
    let ids = [(&a, "rtb-a"), (&b, "rtb-b"), (&c, "rtb-c")];
    Notes::default()
        .run(&aws.session(), &key(), &ids, async |operation| {
            update(operation, "vpce-1", &spec(&["a", "b"], Some("{}")), &spec(&["b", "c"], None)).await
        })
        .await
        .unwrap();
    let read = "DescribeVpcEndpoints";
    assert_eq!(aws.actions(), ["ModifyVpcEndpoint", read, read], "until AWS returns the new tables");
    let call = &aws.calls("ModifyVpcEndpoint")[0];
    assert_eq!(call["AddRouteTableId.1"], "rtb-c");
    assert_eq!(call["RemoveRouteTableId.1"], "rtb-a");
    assert_eq!(call["ResetPolicy"], "true");
    assert!(!call.contains_key("AddRouteTableId.2") && !call.contains_key("PolicyDocument"), "{call:?}");
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_is_tagged_afterwards_where_creation_takes_no_tags() {
    let rejected = || {
        Recorded::default()
            .fail("CreateVpcEndpoint", 400, "UnsupportedOperation", "The operation is not supported.")
            .on("CreateVpcEndpoint", "<vpcEndpoint><vpcEndpointId>vpce-1</vpcEndpointId></vpcEndpoint>")
            .on("CreateTags", "<return>true</return>")
            .on(
                "DescribeVpcEndpoints",
                "<vpcEndpointSet><item><vpcEndpointId>vpce-1</vpcEndpointId><state>available</state></item>\
                 </vpcEndpointSet>",
            )
    };
    for (partition, is_created) in [("aws-iso", true), ("aws-iso-b", true), ("aws", false)] {
        let (aws, notes, vpc, a) = (rejected(), Notes::default(), Key::new("vpc"), Key::new("a"));
        let mut session = aws.session();
        session.scope.partition = partition.to_string();
        let (key, wanted, ids) = (key(), spec(&["a"], None), [(&vpc, "vpc-1"), (&a, "rtb-a")]);
        let created = notes.run(&session, &key, &ids, async |operation| create(operation, &wanted).await);
        assert_eq!(created.await.is_ok(), is_created, "{partition}");
        let calls = aws.calls("CreateVpcEndpoint");
        assert_eq!(calls.iter().filter(|call| call.contains_key("TagSpecification.1.ResourceType")).count(), 1);
        assert_eq!((calls.len(), aws.calls("CreateTags").len()), if is_created { (2, 1) } else { (1, 0) });
        assert_eq!(notes.ids().len(), usize::from(is_created));
    }
}

#[tokio::test(start_paused = true)]
async fn a_new_endpoint_has_a_type_and_a_token() {
    let aws = Recorded::default()
        .on("CreateVpcEndpoint", "<vpcEndpoint><vpcEndpointId>vpce-1</vpcEndpointId></vpcEndpoint>")
        .on(
            "DescribeVpcEndpoints",
            "<vpcEndpointSet><item><vpcEndpointId>vpce-1</vpcEndpointId><state>available</state></item>\
             </vpcEndpointSet>",
        );
    let (vpc, a) = (Key::new("vpc"), Key::new("a"));
    let notes = Notes::default();
    notes
        .run(&aws.session(), &key(), &[(&vpc, "vpc-1"), (&a, "rtb-a")], async |operation| {
            create(operation, &spec(&["a"], None)).await
        })
        .await
        .unwrap();
    let call = &aws.calls("CreateVpcEndpoint")[0];
    assert_eq!(call["VpcEndpointType"], "Gateway");
    assert_eq!(call["ClientToken"].len(), 32);
    assert_eq!(notes.ids(), ["vpce-1"]);
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_with_missing_routes_leaves_its_tables_first() {
    let tables = "<vpcEndpointSet><item><vpcEndpointId>vpce-1</vpcEndpointId><state>available</state><routeTableIdSet>\
                  <item>rtb-1</item><item>rtb-2</item></routeTableIdSet></item></vpcEndpointSet>";
    for code in ["InvalidRoute.NotFound", "InvalidRouteTableID.NotFound"] {
        let aws = Recorded::default()
            .fail("DeleteVpcEndpoints", 400, code, "does not exist")
            .on("DeleteVpcEndpoints", "<unsuccessful/>")
            .on("ModifyVpcEndpoint", "<return>true</return>")
            .on("DescribeVpcEndpoints", tables)
            .on("DescribeVpcEndpoints", "<vpcEndpointSet/>");
        let entry = Entry::new(key(), "vpce-1", Spec::VpcEndpoint(spec(&[], None)));
        Notes::default()
            .run(&aws.session(), &key(), &[], async |operation| delete(operation, &entry).await)
            .await
            .unwrap();
        let (delete, read) = ("DeleteVpcEndpoints", "DescribeVpcEndpoints");
        assert_eq!(aws.actions(), [delete, read, "ModifyVpcEndpoint", delete, read]);
        let call = &aws.calls("ModifyVpcEndpoint")[0];
        let removed = ["RemoveRouteTableId.1", "RemoveRouteTableId.2"].map(|name| call[name].as_str());
        assert_eq!((call["VpcEndpointId"].as_str(), removed), ("vpce-1", ["rtb-1", "rtb-2"]));
    }
}

mod polls {
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
        let found = Endpoint::describe(&aws.session().ec2, &ids).await?;
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
