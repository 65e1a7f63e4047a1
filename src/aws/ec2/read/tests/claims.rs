//! Copied, forged and malformed ownership tags: what a read counts as managed, and what it reports as unmanaged.

use super::*;
use crate::cloud::Seen;

/// What a read returns with a network of one subnet and one route table in state.
async fn refreshed(answers: &[(&str, &str)]) -> Seen {
    refreshed_with_consent(answers, &[]).await
}

/// The same, with the IDs and the slots of objects that the user names.
async fn refreshed_with_consent(answers: &[(&str, &str)], named: &[(&str, &str)]) -> Seen {
    let subnet = keys::subnet(Tier::Public, 0, "use1-az6", &Input::Known("10.0.0.0/21".into()));
    let spec = crate::model::Subnet {
        availability_zone_id: "use1-az6".into(),
        cidr_block: Input::Known("10.0.0.0/21".into()),
        map_public_ip_on_launch: Input::Known(true),
        ..crate::model::Subnet::test()
    };
    let known = [Entry::new(subnet, "subnet-1", Spec::Subnet(spec)), public_table()];
    let aws = network(answers);
    let named = named.iter().map(|(id, slot)| (id.to_string(), slot.to_string())).collect();
    let known = Known { consented: Some(&named), ..Known::entries(&known) };
    read(&aws.session(), OWNER, "vpc-1", known).await.unwrap().expect("the VPC exists")
}

/// Asserts that a read reports an object as unmanaged for a reason, and does not return it otherwise.
async fn assert_unmanaged(answers: &[(&str, &str)], id: &str, reason: &str) {
    let seen = refreshed(answers).await;
    assert!(!seen.objects.iter().any(|it| it.id == id), "{id} is managed: {:#?}", seen.objects);
    let found = seen.unmanaged.iter().find(|it| it.id == id).unwrap_or_else(|| panic!("{id}: {:?}", seen.unmanaged));
    assert!(found.reason.contains(reason), "{found:?}");
}

fn subnets() -> String {
    format!("<subnetSet>{}</subnetSet>", subnet_item("subnet-1", &below("subnet.public.0"), "10.0.0.0/21"))
}

fn address(id: &str, slot: &str) -> String {
    format!("<item><allocationId>{id}</allocationId><associationId>eipassoc-1</associationId>{}</item>", below(slot))
}

fn nat(id: &str, subnet: &str, address: &str, slot: &str) -> String {
    format!(
        "<item><natGatewayId>{id}</natGatewayId><subnetId>{subnet}</subnetId><state>available</state>\
         <connectivityType>public</connectivityType><natGatewayAddressSet><item><allocationId>{address}</allocationId>\
         </item></natGatewayAddressSet>{}</item>",
        below(slot)
    )
}

fn table(id: &str, inside: &str, tags: &str) -> String {
    format!("<item><routeTableId>{id}</routeTableId>{inside}{tags}</item>")
}

#[tokio::test(start_paused = true)]
async fn an_address_counts_only_through_its_nat_gateway() {
    let addresses =
        format!("<addressesSet>{}{}</addressesSet>", address("eipalloc-1", "eip.0"), address("eipalloc-2", "eip.1"));
    let nats = format!("<natGatewaySet>{}</natGatewaySet>", nat("nat-1", "subnet-1", "eipalloc-1", "nat_gateway.0"));
    let subnets = subnets();
    let answers =
        [("DescribeSubnets", subnets.as_str()), ("DescribeAddresses", &addresses), ("DescribeNatGateways", &nats)];
    assert_unmanaged(&answers, "eipalloc-2", "no NAT gateway of this network uses it").await;
    let seen = refreshed(&answers).await;
    assert_eq!(at(&seen.objects, "eip.0").id, "eipalloc-1");
    assert_eq!(at(&seen.objects, "nat_gateway.0").id, "nat-1");
    assert_eq!(seen.requires["eipalloc-1"], ["nat-1".to_string()].into(), "it is taken over with its NAT gateway");
    assert!(seen.requires["nat-1"].is_empty(), "its subnet is in state");
}

#[tokio::test(start_paused = true)]
async fn a_tag_copied_from_another_kind_identifies_nothing() {
    let subnets = subnets();
    for slot in ["subnet.public.0", "nat_gateway.0", "eip.", "eip.01", "eip.x", "", "stray.eipalloc-1"] {
        let addresses = format!("<addressesSet>{}</addressesSet>", address("eipalloc-1", slot));
        let answers = [("DescribeSubnets", subnets.as_str()), ("DescribeAddresses", &addresses)];
        assert_unmanaged(&answers, "eipalloc-1", "is not the key of an Elastic IP address").await;
    }
    let tags = tags(&[("fgw:resource", "four_tier_vpc/vpc-1")]);
    let addresses = format!("<addressesSet><item><allocationId>eipalloc-1</allocationId>{tags}</item></addressesSet>");
    assert_unmanaged(&[("DescribeAddresses", &addresses)], "eipalloc-1", "it has no tag fgw:object").await;
}

#[tokio::test(start_paused = true)]
async fn a_nat_gateway_counts_only_in_a_subnet_of_the_network() {
    let subnets = subnets();
    let nats = format!("<natGatewaySet>{}</natGatewaySet>", nat("nat-1", "subnet-9", "eipalloc-1", "nat_gateway.0"));
    let answers = [("DescribeSubnets", subnets.as_str()), ("DescribeNatGateways", &nats)];
    assert_unmanaged(&answers, "nat-1", "its subnet is not managed").await;

    let nats = format!("<natGatewaySet>{}</natGatewaySet>", nat("nat-1", "subnet-1", "eipalloc-1", "nat_gateway.0"));
    let route = "<routeSet><item><destinationCidrBlock>0.0.0.0/0</destinationCidrBlock><natGatewayId>nat-1</natGatewayId>\
                 <state>active</state><origin>CreateRoute</origin></item></routeSet>";
    let tables = format!("<routeTableSet>{}</routeTableSet>", table("rtb-9", route, ""));
    let answers =
        [("DescribeSubnets", subnets.as_str()), ("DescribeNatGateways", &nats), ("DescribeRouteTables", &tables)];
    assert_unmanaged(&answers, "nat-1", "rtb-9, which is not managed, uses it").await;
}

#[tokio::test(start_paused = true)]
async fn a_gateway_of_another_vpc_is_unmanaged() {
    let gateways = format!(
        "<internetGatewaySet><item><internetGatewayId>igw-1</internetGatewayId><attachmentSet><item><vpcId>vpc-9</vpcId>\
         <state>available</state></item></attachmentSet>{}</item></internetGatewaySet>",
        below("internet_gateway")
    );
    let none = ("DescribeInternetGateways", "<internetGatewaySet/>");
    assert_unmanaged(&[none, ("DescribeInternetGateways", &gateways)], "igw-1", "it is attached to vpc-9").await;
}

#[tokio::test(start_paused = true)]
async fn a_table_of_unmanaged_subnets_is_unmanaged() {
    let association = |inside: &str| format!("<associationSet><item>{inside}</item></associationSet>");
    for (inside, reason) in [
        (association("<subnetId>subnet-9</subnetId>"), "it is associated with subnet-9"),
        (association("<gatewayId>igw-9</gatewayId>"), "it is associated with igw-9"),
        (association("<main>true</main>"), "it is the main route table"),
    ] {
        let tables = table("rtb-2", &inside, &below("route_table.private_app"));
        let tables = format!("<routeTableSet>{tables}</routeTableSet>");
        assert_unmanaged(&[("DescribeRouteTables", &tables)], "rtb-2", reason).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_whose_place_is_taken_is_unmanaged() {
    let tagged = |id: &str, slot: &str| table(id, "", &below(slot));
    let tables = [tagged("rtb-1", "route_table.public"), tagged("rtb-2", "route_table.public")].concat();
    let tables = format!("<routeTableSet>{tables}</routeTableSet>");
    assert_unmanaged(&[("DescribeRouteTables", &tables)], "rtb-2", "rtb-1 is route_table.public").await;

    let tables = [tagged("rtb-3", "route_table.private_app.0"), tagged("rtb-4", "route_table.private_app.0")].concat();
    let tables = format!("<routeTableSet>{tables}</routeTableSet>");
    for id in ["rtb-3", "rtb-4"] {
        assert_unmanaged(&[("DescribeRouteTables", &tables)], id, "rtb-3 and rtb-4 have the same tags").await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_of_another_service_or_table_is_unmanaged() {
    let endpoint = |service: &str, table: &str| {
        format!(
            "<vpcEndpointSet><item><vpcEndpointId>vpce-1</vpcEndpointId><vpcEndpointType>Gateway</vpcEndpointType>\
             <serviceName>com.amazonaws.us-east-1.{service}</serviceName><state>available</state><routeTableIdSet>\
             <item>{table}</item></routeTableIdSet>{}</item></vpcEndpointSet>",
            below("vpc_endpoint.objectstore")
        )
    };
    let (other, foreign) = (endpoint("dynamodb", "rtb-1"), endpoint("s3", "rtb-9"));
    assert_unmanaged(&[("DescribeVpcEndpoints", &other)], "vpce-1", "is not the key of an endpoint for this service")
        .await;
    assert_unmanaged(&[("DescribeVpcEndpoints", &foreign)], "vpce-1", "rtb-9, which is not managed, uses it").await;
}

#[tokio::test(start_paused = true)]
async fn rules_of_a_default_group_that_is_only_tagged_stay() {
    let group = format!(
        "<securityGroupInfo><item><groupId>sg-1</groupId><groupName>default</groupName>{}</item></securityGroupInfo>",
        below("default_security_group")
    );
    assert_unmanaged(
        &[("DescribeSecurityGroups", &group)],
        "sg-1",
        "AWS created it, and its tags do not show who set its rules",
    )
    .await;
    let acl = format!(
        "<networkAclSet><item><networkAclId>acl-1</networkAclId><default>true</default>{}</item></networkAclSet>",
        below("default_network_acl")
    );
    assert_unmanaged(
        &[("DescribeNetworkAcls", &acl)],
        "acl-1",
        "AWS created it, and its tags do not show who set its rules",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn listed_objects_without_tags_are_read_by_id() {
    let untagged = "<addressesSet><item><allocationId>eipalloc-1</allocationId></item></addressesSet>";
    let aws = network(&[("DescribeAddresses", "<addressesSet/>"), ("DescribeAddresses", untagged)]);
    let slots = [("eipalloc-1".to_string(), "eip.3".to_string())].into();
    let known = Known { slots: Some(&slots), ..Known::default() };
    let seen = read(&aws.session(), OWNER, "vpc-1", known).await.unwrap().expect("the VPC exists");
    assert_eq!(at(&seen.objects, "eip.3").id, "eipalloc-1");
    assert_eq!(aws.calls("DescribeAddresses")[1]["Filter.1.Value.1"], "eipalloc-1");
}

#[tokio::test(start_paused = true)]
async fn without_private_state_only_listed_ids_count() {
    let item = |id: &str, slot: &str, range: &str| subnet_item(id, &below(slot), range);
    let subnets =
        [item("subnet-1", "subnet.public.5", "10.0.0.0/21"), item("subnet-2", "subnet.public.1", "10.0.8.0/21")];
    let subnets = format!("<subnetSet>{}</subnetSet>", subnets.concat());
    let aws = network(&[("DescribeSubnets", &subnets)]);
    let slots = [("subnet-1".to_string(), "subnet.public.0".to_string())].into();
    let known = Known { slots: Some(&slots), ..Known::default() };
    let seen = read(&aws.session(), OWNER, "vpc-1", known).await.unwrap().expect("the VPC exists");
    let subnets: Vec<(&str, &str)> = seen
        .objects
        .iter()
        .filter(|it| matches!(it.spec, Spec::Subnet(_)))
        .map(|it| (it.id.as_str(), it.key.slot.as_str()))
        .collect();
    assert_eq!(subnets, [("subnet-1", "subnet.public.0")], "state says which slot an object has");
}

#[tokio::test(start_paused = true)]
async fn an_import_adds_neither_of_two_objects_with_one_key() {
    let both: String = [("subnet-1", "10.0.0.0/21"), ("subnet-2", "10.0.8.0/21")]
        .map(|(id, block)| subnet_item(id, &below("subnet.public.0"), block))
        .concat();
    let aws = network(&[("DescribeSubnets", &format!("<subnetSet>{both}</subnetSet>"))]);
    let seen = read(&aws.session(), OWNER, "vpc-1", Known::default()).await.unwrap().expect("the VPC exists");
    assert!(!seen.objects.iter().any(|it| it.id.starts_with("subnet-")), "{:#?}", seen.objects);
    let reasons: Vec<&str> = seen.unmanaged.iter().map(|it| it.reason.as_str()).collect();
    assert_eq!(reasons, ["subnet-1 and subnet-2 have the same tags"; 2]);
}

#[tokio::test(start_paused = true)]
async fn a_named_object_is_returned_whatever_uses_it() {
    let association = "<associationSet><item><subnetId>subnet-9</subnetId></item></associationSet>";
    let stack = tags(&[("aws:cloudformation:stack-name", "legacy")]);
    let tables = format!(
        "<routeTableSet>{}{}</routeTableSet>",
        table("rtb-2", association, &stack),
        table("rtb-3", association, &below("route_table.private_app.1"))
    );
    let answers = [("DescribeRouteTables", tables.as_str())];
    let named = [("rtb-2", "route_table.private_app.0"), ("rtb-3", "route_table.private_app.1")];
    let seen = refreshed_with_consent(&answers, &named).await;
    for (id, slot) in named {
        assert_eq!(at(&seen.objects, slot).id, id);
    }
    assert_eq!((seen.untagged, seen.unmanaged), (["rtb-2".to_string()].into(), Vec::new()));
    assert_eq!(seen.stacks, [("rtb-2".to_string(), "legacy".to_string())].into());
}

#[tokio::test(start_paused = true)]
async fn a_named_object_is_rejected_for_a_reason() {
    let other = tags(&[("fgw:resource", "four_tier_vpc/vpc-9")]);
    let main = "<associationSet><item><main>true</main></item></associationSet>";
    for (inside, tags, slot, reason) in [
        ("", other, "route_table.transit.0", "another resource manages it"),
        (
            "",
            below("route_table.transit.1"),
            "route_table.transit.0",
            "its tag fgw:object is \"route_table.transit.1\"",
        ),
        ("", String::new(), "subnet.transit.0", "\"subnet.transit.0\" is not the key of a route table"),
        (
            main,
            String::new(),
            "route_table.transit.0",
            "it is the main route table, which can only be adopted for a whole tier",
        ),
    ] {
        let tables = format!("<routeTableSet>{}</routeTableSet>", table("rtb-2", inside, &tags));
        let seen = refreshed_with_consent(&[("DescribeRouteTables", &tables)], &[("rtb-2", slot)]).await;
        assert!(!seen.objects.iter().any(|it| it.id == "rtb-2"), "{:#?}", seen.objects);
        assert!(seen.unmanaged.iter().any(|it| it.id == "rtb-2" && it.reason.contains(reason)), "{:?}", seen.unmanaged);
    }
}

#[tokio::test(start_paused = true)]
async fn a_named_address_must_be_that_of_its_nat_gateway() {
    let (subnets, nats) = (subnets(), nat("nat-1", "subnet-1", "eipalloc-1", "nat_gateway.0"));
    let nats = format!("<natGatewaySet>{nats}</natGatewaySet>");
    for (id, slot, reason) in [
        ("eipalloc-1", "eip.0", None),
        ("eipalloc-2", "eip.0", Some("it is not the address of nat_gateway.0: nat-1 uses eipalloc-1")),
        ("eipalloc-1", "eip.1", Some("this network has no nat_gateway.1")),
    ] {
        let found = format!("<addressesSet><item><allocationId>{id}</allocationId></item></addressesSet>");
        let answers = [
            ("DescribeSubnets", subnets.as_str()),
            ("DescribeNatGateways", &nats),
            ("DescribeAddresses", "<addressesSet/>"),
            ("DescribeAddresses", &found),
        ];
        let named = [(id, slot), ("nat-1", "nat_gateway.0")];
        let seen = refreshed_with_consent(&answers, &named).await;
        match reason {
            None => assert_eq!(at(&seen.objects, slot).id, id),
            Some(reason) => assert!(seen.unmanaged.iter().any(|it| it.id == id && it.reason == reason), "{seen:?}"),
        }
    }
}
