use super::*;
use crate::aws::ec2::recorded::{Notes, Recorded};
use crate::cloud::Cause;

fn spec() -> Vpc {
    Vpc { tags: Input::Known([("Name".to_string(), Input::Known("shop".to_string()))].into()), ..Vpc::test() }
}

fn key() -> crate::model::Key {
    keys::vpc(&Input::Known("10.0.0.0/16".into()), &Input::Known("default".into()))
}

fn vpc_answers(aws: Recorded) -> Recorded {
    let aws = aws
        .on(
            "DescribeVpcs",
            "<vpcSet><item><vpcId>vpc-1</vpcId><cidrBlock>10.0.0.0/16</cidrBlock><ownerId>123456789012</ownerId>\
         <state>available</state><tagSet><item><key>fgw:resource</key><value>four_tier_vpc/shop</value></item></tagSet>\
         </item></vpcSet>",
        )
        .on("ModifyVpcAttribute", "<return>true</return>")
        .on("DescribeVpcAttribute", "<enableDnsHostnames><value>true</value></enableDnsHostnames>");
    default_object_answers(aws)
}

fn default_object_answers(aws: Recorded) -> Recorded {
    aws.on(
        "DescribeRouteTables",
        "<routeTableSet><item><vpcId>vpc-1</vpcId><routeTableId>rtb-main</routeTableId></item></routeTableSet>",
    )
    .on(
        "DescribeNetworkAcls",
        "<networkAclSet><item><vpcId>vpc-1</vpcId><networkAclId>acl-1</networkAclId></item></networkAclSet>",
    )
    .on(
        "DescribeSecurityGroups",
        "<securityGroupInfo><item><vpcId>vpc-1</vpcId><groupId>sg-1</groupId></item></securityGroupInfo>",
    )
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_resolved_by_the_tag_of_the_request() {
    let aws = vpc_answers(Recorded::default().fail("CreateVpc", 500, "InternalError", "An internal error"));
    let notes = Notes::default();
    notes.run(&aws.session(), &key(), &[], async |operation| create(operation, &spec()).await).await.unwrap();
    assert_eq!(aws.calls("CreateVpc").len(), 1);
    let (create, search) = (&aws.calls("CreateVpc")[0], &aws.calls("DescribeVpcs")[0]);
    assert_eq!(create["TagSpecification.1.Tag.2.Key"], "fgw:request");
    assert_eq!(search["Filter.1.Name"], "tag:fgw:request");
    assert_eq!(search["Filter.1.Value.1"], create["TagSpecification.1.Tag.2.Value"]);
    assert_eq!(notes.ids(), ["vpc-1"]);
}

#[tokio::test(start_paused = true)]
async fn a_new_vpc_has_ownership_tags_and_learns_its_defaults() {
    let aws = vpc_answers(
        Recorded::default()
            .on("CreateVpc", "<vpc><vpcId>vpc-1</vpcId><ownerId>123456789012</ownerId><state>pending</state></vpc>"),
    );
    let notes = Notes::default();
    notes.run(&aws.session(), &key(), &[], async |operation| create(operation, &spec()).await).await.unwrap();
    let call = &aws.calls("CreateVpc")[0];
    let tags: Vec<_> = (1..=4).map(|n| call[&format!("TagSpecification.1.Tag.{n}.Key")].as_str()).collect();
    assert_eq!(tags, ["Name", "fgw:request", "fgw:resource", "fgw:state"]);
    let learned = notes.learned.lock().unwrap().clone();
    assert_eq!(learned["owner_id"], "123456789012");
    assert_eq!(learned["default_route_table_id"], "rtb-main");
    assert_eq!(learned["default_network_acl_id"], "acl-1");
    assert_eq!(learned["default_security_group_id"], "sg-1");
}

#[tokio::test(start_paused = true)]
async fn dedicated_tenancy_becomes_default_in_place() {
    let aws = Recorded::default().on("ModifyVpcTenancy", "<return>true</return>");
    let dedicated = Vpc { instance_tenancy: Input::Known("dedicated".into()), ..spec() };
    for from in [&dedicated, &spec()] {
        Notes::default()
            .run(&aws.session(), &key(), &[], async |operation| update(operation, "vpc-1", from, &spec()).await)
            .await
            .unwrap();
    }
    assert_eq!(aws.actions(), ["ModifyVpcTenancy"]);
    assert_eq!(aws.calls("ModifyVpcTenancy")[0]["InstanceTenancy"], "default");
}

#[tokio::test(start_paused = true)]
async fn a_name_with_wildcards_finds_only_its_own_vpc() {
    let item = |id: &str, name: &str| {
        format!(
            "<item><vpcId>{id}</vpcId><cidrBlock>10.0.0.0/16</cidrBlock><tagSet><item><key>fgw:resource</key>\
             <value>four_tier_vpc/{name}</value></item><item><key>fgw:state</key><value>ready</value></item></tagSet></item>"
        )
    };
    let found = format!("<vpcSet>{}{}</vpcSet>", item("vpc-1", "prod-a"), item("vpc-2", "prod-*"));
    let aws = Recorded::default().on("DescribeVpcs", &found);
    for (name, expected) in [("prod-*", vec!["vpc-2"]), ("prod-a", vec!["vpc-1"]), ("prod-?", vec![])] {
        let roots = namesakes(&aws.session(), TopologyKind::FourTierVpc, name).await.unwrap();
        assert_eq!(roots.iter().map(|root| root.id.as_str()).collect::<Vec<_>>(), expected, "{name}");
        let ready = |root: &Namesake| root.state == Some(RootState::Ready) && root.features.contains("10.0.0.0/16");
        assert!(roots.iter().all(ready), "{roots:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rejected_create_is_not_searched_for() {
    let aws = Recorded::default().fail("CreateVpc", 400, "VpcLimitExceeded", "The maximum number of VPCs");
    let failure = Notes::default()
        .run(&aws.session(), &key(), &[], async |operation| create(operation, &spec()).await)
        .await
        .unwrap_err();
    assert_eq!((failure.cause, failure.code.as_deref()), (Cause::Other, Some("VpcLimitExceeded")));
    assert_eq!(failure.request_id.as_deref(), Some("req-1"));
    assert_eq!(aws.actions(), ["CreateVpc"]);
}

fn of_pool() -> Vpc {
    Vpc {
        cidr_block: Input::Known(None),
        ipv4_ipam_pool_id: Input::Known(Some("ipam-pool-1".into())),
        ipv4_netmask_length: Input::Known(Some(20)),
        enable_dns_hostnames: Input::Known(false),
        ..spec()
    }
}

async fn create_on(aws: &Recorded, notes: &Notes, spec: &Vpc) -> Result<(), Failure> {
    notes.run(&aws.session(), &key(), &[], async |operation| create(operation, spec).await).await
}

#[tokio::test(start_paused = true)]
async fn create_waits_until_the_pool_monitors_the_account() {
    let text = "The account 123456789012 is not monitored by IPAM ipam-1";
    let aws = vpc_answers(
        Recorded::default()
            .fail("CreateVpc", 400, "UnsupportedOperation", text)
            .fail("CreateVpc", 400, "UnsupportedOperation", text)
            .on("CreateVpc", "<vpc><vpcId>vpc-1</vpcId><state>pending</state></vpc>"),
    );
    let notes = Notes::default();
    create_on(&aws, &notes, &of_pool()).await.unwrap();
    let calls = aws.calls("CreateVpc");
    assert_eq!(calls.len(), 3);
    assert_eq!((calls[2]["Ipv4IpamPoolId"].as_str(), calls[2]["Ipv4NetmaskLength"].as_str()), ("ipam-pool-1", "20"));
    assert!(!calls[2].contains_key("CidrBlock"), "{calls:?}");
    assert_eq!(notes.learned.lock().unwrap()["cidr_block"], "10.0.0.0/16");
    assert_eq!(notes.ids(), ["vpc-1"]);
}

#[tokio::test(start_paused = true)]
async fn a_pool_range_can_be_requested_and_other_errors_are_final() {
    let spec = Vpc {
        cidr_block: Input::Known(Some("10.3.0.0/20".into())),
        ipv4_netmask_length: Input::Known(None),
        ..of_pool()
    };
    let text = "The operation is not supported in this Region.";
    let aws = Recorded::default().fail("CreateVpc", 400, "UnsupportedOperation", text);
    let failure = create_on(&aws, &Notes::default(), &spec).await.unwrap_err();
    assert_eq!((failure.code.as_deref(), failure.message.as_str()), (Some("UnsupportedOperation"), text));
    let calls = aws.calls("CreateVpc");
    assert_eq!((calls.len(), calls[0]["CidrBlock"].as_str()), (1, "10.3.0.0/20"));
    assert_eq!(calls[0]["Ipv4IpamPoolId"], "ipam-pool-1");
    assert!(!calls[0].contains_key("Ipv4NetmaskLength"), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn the_range_of_a_new_vpc_is_recorded_before_any_wait() {
    let aws = default_object_answers(Recorded::default())
        .on("CreateVpc", "<vpc><vpcId>vpc-1</vpcId><cidrBlock>10.0.0.0/16</cidrBlock><state>pending</state></vpc>")
        .fail("DescribeVpcs", 403, "UnauthorizedOperation", "You are not authorized to perform this operation.");
    let notes = Notes::default();
    assert_eq!(create_on(&aws, &notes, &spec()).await.unwrap_err().cause, Cause::Denied);
    assert_eq!(notes.learned.lock().unwrap()["cidr_block"], "10.0.0.0/16");
}

#[tokio::test(start_paused = true)]
async fn a_pool_that_becomes_known_after_import_needs_no_call() {
    let found = Vpc { ipv4_ipam_pool_id: Input::Known(None), ipv4_netmask_length: Input::Known(None), ..of_pool() };
    let aws = Recorded::default();
    let (notes, session, key) = (Notes::default(), aws.session(), key());
    let updated =
        notes.run(&session, &key, &[], async |operation| update(operation, "vpc-1", &found, &of_pool()).await);
    updated.await.unwrap();
    assert_eq!(aws.actions(), [""; 0]);
}

fn allocations(vpc_ids: &[&str]) -> String {
    let item = |id: &&str| {
        format!("<item><cidr>10.3.0.0/20</cidr><resourceId>{id}</resourceId><resourceType>vpc</resourceType></item>")
    };
    let custom = "<item><cidr>10.3.16.0/20</cidr><resourceType>custom</resourceType></item>";
    format!("<ipamPoolAllocationSet>{custom}{}</ipamPoolAllocationSet>", vpc_ids.iter().map(item).collect::<String>())
}

async fn delete_on(aws: &Recorded, spec: Vpc, limit: Duration) -> Result<(), Failure> {
    let entry = Entry::new(key(), "vpc-1", Spec::Vpc(spec));
    let notes = Notes::default();
    notes.run_for(&aws.session(), &key(), &[], limit, async |operation| delete(operation, &entry).await).await
}

fn deleted() -> Recorded {
    Recorded::default().on("DeleteVpc", "<return>true</return>").on("DescribeVpcs", "<vpcSet/>")
}

#[tokio::test(start_paused = true)]
async fn delete_waits_until_the_pool_releases_the_range() {
    let aws = deleted()
        .on("GetIpamPoolAllocations", &allocations(&["vpc-1"]))
        .on("GetIpamPoolAllocations", &allocations(&["vpc-1", "vpc-2"]))
        .on("GetIpamPoolAllocations", &allocations(&["vpc-2"]));
    delete_on(&aws, of_pool(), Duration::from_secs(20)).await.unwrap();
    let calls = aws.calls("GetIpamPoolAllocations");
    assert_eq!((calls.len(), calls[0]["IpamPoolId"].as_str()), (3, "ipam-pool-1"));
    assert!(!calls[0].contains_key("Filter.1.Name"), "AWS documents no filters of this call: {calls:?}");
}

#[tokio::test(start_paused = true)]
async fn a_pool_that_does_not_release_the_range_is_reported() {
    let aws = deleted().on("GetIpamPoolAllocations", &allocations(&["vpc-1"]));
    let failure = delete_on(&aws, of_pool(), Duration::from_secs(2 * 3600)).await.unwrap_err();
    assert_eq!(failure.cause, Cause::TimedOut);
    assert!(failure.message.contains("ipam-pool-1 has not released 10.3.0.0/20"), "{}", failure.message);
    assert!(failure.message.starts_with("gave up waiting after 2100 s"), "{}", failure.message);
}

#[tokio::test(start_paused = true)]
async fn delete_does_not_wait_for_a_missing_or_unreadable_pool() {
    for (status, code) in [(403, "UnauthorizedOperation"), (400, "AccessDenied"), (400, "InvalidIpamPoolId.NotFound")] {
        let aws = deleted().fail("GetIpamPoolAllocations", status, code, "not you");
        delete_on(&aws, of_pool(), Duration::from_secs(20)).await.unwrap();
        assert_eq!(aws.calls("GetIpamPoolAllocations").len(), 1, "{code}");
    }
    let aws = deleted();
    delete_on(&aws, spec(), Duration::from_secs(20)).await.unwrap();
    assert_eq!(aws.actions(), ["DeleteVpc", "DescribeVpcs"], "the range did not come from a pool");
}

#[tokio::test(start_paused = true)]
async fn roots_are_listed_on_all_pages_with_names_and_tags() {
    let vpc = |id: &str, tags: &[(&str, &str)]| {
        let tags: String =
            tags.iter().map(|(key, value)| format!("<item><key>{key}</key><value>{value}</value></item>")).collect();
        format!("<item><vpcId>{id}</vpcId><tagSet>{tags}</tagSet></item>")
    };
    let first = vpc("vpc-2", &[("fgw:resource", "four_tier_vpc/shop/eu"), ("fgw:state", "ready"), ("team", "web")]);
    // A VPC of the other topology and one without tags.
    let others = vpc("vpc-3", &[("fgw:resource", "http_gateway/shop")]) + &vpc("vpc-4", &[]);
    let last = vpc("vpc-1", &[("fgw:resource", "four_tier_vpc/a*b")]);
    let aws = Recorded::default()
        .on("DescribeVpcs", &format!("<vpcSet>{first}{others}</vpcSet><nextToken>p2</nextToken>"))
        .on("DescribeVpcs", &format!("<vpcSet>{last}</vpcSet>"));
    let found = roots(&aws.session(), TopologyKind::FourTierVpc).await.unwrap();
    let root = |id: &str, name: &str, tags: &[(&str, &str)], state| Root {
        id: id.into(),
        name: name.into(),
        tags: tags.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect(),
        state,
    };
    let expected =
        [root("vpc-1", "a*b", &[], None), root("vpc-2", "shop/eu", &[("team", "web")], Some(RootState::Ready))];
    assert_eq!(found, expected);
    let calls = aws.calls("DescribeVpcs");
    assert_eq!((calls[0]["Filter.1.Value.1"].as_str(), calls[1]["NextToken"].as_str()), ("four_tier_vpc/*", "p2"));
}
