use aws_sdk_ec2::types::NatGatewayState;

use super::*;
use crate::aws::ec2::recorded::{OWNER, Recorded};
use crate::aws::recorded::imported;
use crate::cloud::{Members, Observed, RootState};
use crate::model::{Eip, Input, RouteTableAssociation, RuleSource, TakenSubnet, Tier};
use crate::model::{Ref, Route, Spec};
use crate::topology::four_tier_vpc::FourTierVpc;

fn tags(pairs: &[(&str, &str)]) -> String {
    let items: String =
        pairs.iter().map(|(key, value)| format!("<item><key>{key}</key><value>{value}</value></item>")).collect();
    format!("<tagSet>{items}</tagSet>")
}

fn below(slot: &str) -> String {
    tags(&[("Name", slot), ("fgw:resource", "four_tier_vpc/vpc-1"), ("fgw:object", slot), ("team", "blue")])
}

fn subnet_item(id: &str, tags: &str, cidr: &str) -> String {
    format!(
        "<item><subnetId>{id}</subnetId><availabilityZone>us-east-1a</availabilityZone>\
         <availabilityZoneId>use1-az6</availabilityZoneId><cidrBlock>{cidr}</cidrBlock>\
         <mapPublicIpOnLaunch>true</mapPublicIpOnLaunch>{tags}</item>"
    )
}

const DEFAULT_ACL: &str =
    "<networkAclSet><item><networkAclId>acl-1</networkAclId><default>true</default></item></networkAclSet>";

const EMPTY: [(&str, &str); 11] = [
    ("DescribeSubnets", "<subnetSet/>"),
    ("DescribeRouteTables", "<routeTableSet/>"),
    ("DescribeInternetGateways", "<internetGatewaySet/>"),
    ("DescribeEgressOnlyInternetGateways", "<egressOnlyInternetGatewaySet/>"),
    ("DescribeNatGateways", "<natGatewaySet/>"),
    ("DescribeAddresses", "<addressesSet/>"),
    ("DescribeVpcEndpoints", "<vpcEndpointSet/>"),
    ("DescribeSecurityGroups", "<securityGroupInfo/>"),
    ("DescribeNetworkAcls", "<networkAclSet/>"),
    ("DescribeFlowLogs", "<flowLogSet/>"),
    ("DescribeVpcs", "<vpcSet/>"),
];

/// The VPC with these answers. All other calls return empty lists.
fn network(answers: &[(&str, &str)]) -> Recorded {
    network_with("", answers)
}

/// Like [`network`], with more elements of the VPC.
fn network_with(inside: &str, answers: &[(&str, &str)]) -> Recorded {
    let vpc = format!(
        "<vpcSet><item><vpcId>vpc-1</vpcId><cidrBlock>10.0.0.0/16</cidrBlock><instanceTenancy>default\
         </instanceTenancy><ownerId>123456789012</ownerId><state>available</state>{inside}{}</item></vpcSet>",
        tags(&[("Name", "shop"), ("fgw:resource", "four_tier_vpc/shop"), ("fgw:state", "ready")])
    );
    network_of(&vpc, answers)
}

/// Like [`network`], with this list of VPCs.
fn network_of(vpcs: &str, answers: &[(&str, &str)]) -> Recorded {
    let attribute = "<enableDnsSupport><value>true</value></enableDnsSupport><enableDnsHostnames><value>true</value>\
        </enableDnsHostnames><enableNetworkAddressUsageMetrics><value>false</value></enableNetworkAddressUsageMetrics>";
    let mut aws = Recorded::default().on("DescribeVpcs", vpcs).on("DescribeVpcAttribute", attribute);
    for (action, inside) in answers {
        aws = aws.on(action, inside);
    }
    for (action, inside) in EMPTY {
        if action != "DescribeVpcs" && !answers.iter().any(|(it, _)| *it == action) {
            aws = aws.on(action, inside);
        }
    }
    aws
}

async fn objects(aws: &Recorded, known: &[Entry]) -> Vec<Observed> {
    read(&aws.session(), OWNER, "vpc-1", Known::entries(known)).await.unwrap().expect("the VPC exists").objects
}

fn at<'a>(objects: &'a [Observed], slot: &str) -> &'a Observed {
    objects.iter().find(|it| it.key.slot == slot).unwrap_or_else(|| panic!("{slot} is not among {objects:#?}"))
}

fn none() -> crate::model::Tags {
    Input::Known(Default::default())
}

#[test]
fn failed_nat_gateways_are_left_out() {
    let gateway = |id: &str, state: NatGatewayState| NatGateway::builder().nat_gateway_id(id).state(state).build();
    let nats = vec![gateway("nat-1", NatGatewayState::Failed), gateway("nat-2", NatGatewayState::Pending)];
    let vpc = Some((Vpc::builder().cidr_block("10.0.0.0/16").build(), vpc::Attributes::default()));
    let (session, known) = (Recorded::default().session(), HashMap::new());
    let network =
        Network { session: &session, owner: OWNER, root_id: "vpc-1", known: &known, slots: None, consented: None };
    let landscape = Lists { vpc, nats, ..Lists::default() }.landscape(network);
    let ids: Vec<&str> = landscape.nat_gateways.iter().map(|it| it.id.as_str()).collect();
    assert_eq!((ids, landscape.vpc_cidr_block.as_str()), (vec!["nat-2"], "10.0.0.0/16"));
}

#[tokio::test(start_paused = true)]
async fn a_vpc_that_aws_does_not_return_reads_as_none() {
    let mut aws = Recorded::default().fail("DescribeVpcAttribute", 400, "InvalidVpcID.NotFound", "does not exist");
    for (action, inside) in EMPTY {
        aws = aws.on(action, inside);
    }
    assert_eq!(read(&aws.session(), OWNER, "vpc-1", Known::default()).await, Ok(None));
}

#[tokio::test(start_paused = true)]
async fn a_read_for_an_adoption_names_the_stacks_of_objects() {
    let stack = tags(&[("aws:cloudformation:stack-name", "legacy")]);
    let subnets = format!("<subnetSet>{}</subnetSet>", subnet_item("subnet-1", &stack, "10.0.0.0/24"));
    let nothing = Classification::default();
    for (members, stacks) in [(Members::Classified(&nothing), vec![("subnet-1", "legacy")]), (Members::Tagged, vec![])]
    {
        let session = network(&[("DescribeSubnets", &subnets)]).session();
        let discovery = discover(&session, OWNER, "vpc-1", None).await.unwrap().expect("the VPC exists");
        let seen = discovery.read(members).await.unwrap();
        let named: Vec<(&str, &str)> = seen.stacks.iter().map(|(id, stack)| (id.as_str(), stack.as_str())).collect();
        assert_eq!(named, stacks);
    }
}

#[tokio::test(start_paused = true)]
async fn an_import_of_a_network_repeats_no_call() {
    let subnets = format!("<subnetSet>{}</subnetSet>", subnet_item("subnet-1", "", "10.0.0.0/24"));
    let foreign = "<vpcSet><item><vpcId>vpc-1</vpcId><cidrBlock>10.0.0.0/16</cidrBlock></item></vpcSet>";
    let own = network(&[("DescribeSubnets", &subnets)]);
    let foreign = network_of(foreign, &[("DescribeSubnets", &subnets)]);
    for (aws, is_foreign) in [(foreign, true), (own, false)] {
        let response = imported::<FourTierVpc>(aws.session(), "vpc-1").await;
        let state = response.state.unwrap_or_else(|| panic!("{:?}", response.diagnostics));
        assert_eq!(state.get("adopt").as_map().is_some(), is_foreign);
        let calls = aws.all_calls();
        let once: BTreeSet<_> = calls.iter().collect();
        assert_eq!(calls.len(), once.len(), "{calls:#?}");
        assert!(calls.len() >= 12, "{calls:#?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_call_is_an_error_and_not_an_absence() {
    let mut aws = Recorded::default().fail("DescribeVpcs", 503, "Unavailable", "try later");
    aws = aws.on("DescribeVpcAttribute", "");
    for (action, inside) in &EMPTY[..10] {
        aws = aws.on(action, inside);
    }
    let failure = read(&aws.session(), OWNER, "vpc-1", Known::default()).await.unwrap_err();
    assert_eq!((failure.action.as_str(), failure.code.as_deref()), ("DescribeVpcs", Some("Unavailable")));
}

#[tokio::test(start_paused = true)]
async fn the_root_has_its_name_attributes_and_default_objects() {
    let main = "<routeTableSet><item><routeTableId>rtb-main</routeTableId><associationSet><item>\
        <routeTableAssociationId>rtbassoc-0</routeTableAssociationId><routeTableId>rtb-main</routeTableId>\
        <main>true</main></item></associationSet></item></routeTableSet>";
    let aws = network(&[("DescribeRouteTables", main), ("DescribeNetworkAcls", DEFAULT_ACL)]);
    let objects = objects(&aws, &[]).await;
    assert_eq!(objects.len(), 1, "the main table and the default group are unmanaged: {objects:#?}");
    let root = at(&objects, "vpc");
    assert_eq!(root.key, keys::vpc(&Input::Known("10.0.0.0/16".into()), &Input::Known("default".into())));
    let Spec::Vpc(spec) = &root.spec else { panic!("{root:?}") };
    assert_eq!(spec.name, Input::Known("shop".into()));
    assert_eq!((&spec.enable_dns_support, &spec.enable_dns_hostnames), (&Input::Known(true), &Input::Known(true)));
    assert_eq!(spec.tags, Input::Known([("Name".to_string(), Input::Known("shop".to_string()))].into()));
    assert_eq!(root.learned["default_route_table_id"], "rtb-main");
    assert_eq!(root.learned["default_network_acl_id"], "acl-1");
    assert_eq!(root.learned["owner_id"], "123456789012");
}

#[tokio::test(start_paused = true)]
async fn tagged_objects_on_all_pages_are_found_and_others_ignored() {
    let pages = [
        format!(
            "<subnetSet>{}{}</subnetSet><nextToken>more</nextToken>",
            subnet_item("subnet-1", &below("subnet.public.0"), "10.0.0.0/21"),
            subnet_item("subnet-9", &tags(&[("Name", "unmanaged")]), "10.0.240.0/24"),
        ),
        format!("<subnetSet>{}</subnetSet>", subnet_item("subnet-2", &below("subnet.transit.0"), "10.0.144.0/21")),
    ];
    let aws = network(&[("DescribeSubnets", &pages[0]), ("DescribeSubnets", &pages[1])]);
    let objects = objects(&aws, &[]).await;
    assert_eq!(aws.calls("DescribeSubnets")[1]["NextToken"], "more");
    assert_eq!(objects.len(), 3, "{objects:#?}");
    let subnet = at(&objects, "subnet.transit.0");
    assert_eq!(subnet.id, "subnet-2");
    assert_eq!(subnet.key, keys::subnet(Tier::Transit, 0, "use1-az6", &Input::Known("10.0.144.0/21".into())));
    let Spec::Subnet(spec) = &subnet.spec else { panic!("{subnet:?}") };
    assert_eq!((spec.tier, spec.index, &spec.map_public_ip_on_launch), (Tier::Transit, 0, &Input::Known(true)));
    let tags = spec.tags.known().unwrap();
    assert_eq!(tags.keys().map(String::as_str).collect::<Vec<_>>(), ["Name", "team"]);
}

fn public_subnet_answers(target: &str) -> [(&'static str, String); 6] {
    let subnets =
        format!("<subnetSet>{}</subnetSet>", subnet_item("subnet-1", &below("subnet.public.0"), "10.0.0.0/21"));
    let tables = format!(
        "<routeTableSet><item><routeTableId>rtb-1</routeTableId>{}<associationSet><item>\
         <routeTableAssociationId>rtbassoc-1</routeTableAssociationId><routeTableId>rtb-1</routeTableId>\
         <subnetId>subnet-1</subnetId><main>false</main></item><item>\
         <routeTableAssociationId>rtbassoc-8</routeTableAssociationId><routeTableId>rtb-1</routeTableId>\
         <subnetId>subnet-9</subnetId></item></associationSet><routeSet><item>\
         <destinationCidrBlock>10.0.0.0/16</destinationCidrBlock><gatewayId>local</gatewayId><state>active</state>\
         <origin>CreateRouteTable</origin></item><item><destinationCidrBlock>0.0.0.0/0</destinationCidrBlock>{target}\
         <origin>CreateRoute</origin></item><item><destinationCidrBlock>172.16.0.0/12</destinationCidrBlock>\
         <transitGatewayId>tgw-1</transitGatewayId><state>active</state><origin>CreateRoute</origin></item><item>\
         <destinationPrefixListId>pl-1</destinationPrefixListId><gatewayId>vpce-1</gatewayId><state>active</state>\
         </item></routeSet></item></routeTableSet>",
        below("route_table.public")
    );
    let gateways = format!(
        "<internetGatewaySet><item><internetGatewayId>igw-1</internetGatewayId><attachmentSet><item>\
         <vpcId>vpc-1</vpcId><state>available</state></item></attachmentSet>{}</item></internetGatewaySet>",
        below("internet_gateway")
    );
    let nats = format!(
        "<natGatewaySet><item><natGatewayId>nat-1</natGatewayId><subnetId>subnet-1</subnetId><state>available</state>\
         <connectivityType>public</connectivityType><natGatewayAddressSet><item><allocationId>eipalloc-1</allocationId>\
         <publicIp>198.51.100.7</publicIp></item></natGatewayAddressSet>{tags}</item><item>\
         <natGatewayId>nat-0</natGatewayId><subnetId>subnet-1</subnetId><state>deleted</state>{tags}</item>\
         </natGatewaySet>",
        tags = below("nat_gateway.0")
    );
    let addresses = format!(
        "<addressesSet><item><allocationId>eipalloc-1</allocationId><publicIp>198.51.100.7</publicIp>{}</item>\
         </addressesSet>",
        below("eip.0")
    );
    let endpoints = format!(
        "<vpcEndpointSet><item><vpcEndpointId>vpce-1</vpcEndpointId><vpcEndpointType>Gateway</vpcEndpointType>\
         <serviceName>com.amazonaws.us-east-1.s3</serviceName><state>available</state><routeTableIdSet>\
         <item>rtb-1</item><item>rtb-9</item></routeTableIdSet><policyDocument>{{\"Version\":\"2008-10-17\",\
         \"Statement\":[{{\"Effect\":\"Allow\",\"Principal\":\"*\",\"Action\":\"*\",\"Resource\":\"*\"}}]}}\
         </policyDocument>{}</item></vpcEndpointSet>",
        below("vpc_endpoint.objectstore")
    );
    [
        ("DescribeSubnets", subnets),
        ("DescribeRouteTables", tables),
        ("DescribeInternetGateways", gateways),
        ("DescribeNatGateways", nats),
        ("DescribeAddresses", addresses),
        ("DescribeVpcEndpoints", endpoints),
    ]
}

const TO_GATEWAY: &str = "<gatewayId>igw-1</gatewayId><state>active</state>";

async fn read_public_subnet(target: &str, known: &[Entry]) -> Vec<Observed> {
    let answers = public_subnet_answers(target);
    let answers: Vec<(&str, &str)> = answers.iter().map(|(action, inside)| (*action, inside.as_str())).collect();
    objects(&network(&answers), known).await
}

#[tokio::test(start_paused = true)]
async fn a_network_without_state_reads_like_a_blueprint() {
    let objects = read_public_subnet(TO_GATEWAY, &[]).await;
    let slots: Vec<&str> = objects.iter().map(|it| it.key.slot.as_str()).collect();
    assert_eq!(
        slots,
        [
            "vpc",
            "internet_gateway",
            "subnet.public.0",
            "route_table.public",
            "route_table_association.public.0",
            "eip.0",
            "nat_gateway.0",
            "route.public.ipv4",
            "vpc_endpoint.objectstore",
        ]
    );
    let subnet = keys::subnet(Tier::Public, 0, "use1-az6", &Input::Known("10.0.0.0/21".into()));
    let table = keys::route_table(Tier::Public, None);
    let address = Input::Known(Ref::Key(keys::eip(0)));

    let association = at(&objects, "route_table_association.public.0");
    assert_eq!(association.key, keys::route_table_association(&subnet));
    assert_eq!(
        association.spec,
        Spec::RouteTableAssociation(RouteTableAssociation {
            subnet: subnet.clone(),
            route_table: Ref::Key(table.clone())
        })
    );
    let nat = at(&objects, "nat_gateway.0");
    assert_eq!((nat.id.as_str(), &nat.key), ("nat-1", &keys::nat_gateway(0, &subnet, &address)));
    assert_eq!(nat.learned["public_ip"], "198.51.100.7");
    let Spec::NatGateway(spec) = &nat.spec else { panic!("{nat:?}") };
    assert_eq!((&spec.allocation, &spec.internet_gateway), (&Some(address), &Some(keys::internet_gateway())));

    let route = at(&objects, "route.public.ipv4");
    assert_eq!(route.id, "rtb-1_0.0.0.0/0");
    let Spec::Route(spec) = &route.spec else { panic!("{route:?}") };
    assert_eq!(spec.target, Ref::Key(keys::internet_gateway()));

    let Spec::VpcEndpoint(spec) = &at(&objects, "vpc_endpoint.objectstore").spec else { panic!("no endpoint") };
    assert_eq!(spec.route_tables, [Ref::Key(table)], "an unmanaged table is left out");
    assert_eq!(spec.policy, Input::Known(None));
}

/// The route table of a public subnet, in state.
fn public_table() -> Entry {
    let table = crate::model::RouteTable::test();
    Entry::new(Key::new("route_table.public"), "rtb-1", Spec::RouteTable(table))
}

#[tokio::test(start_paused = true)]
async fn a_blackhole_reads_as_another_target() {
    let known = Route { target: Ref::Key(Key::new("nat_gateway.0")), ..Route::test() };
    let key = Key::new("route.public.ipv4");
    let entry = Entry::new(key, "rtb-1_0.0.0.0/0", Spec::Route(known));
    let target = "<natGatewayId>nat-1</natGatewayId><state>blackhole</state>";
    let objects = read_public_subnet(target, &[entry, public_table()]).await;
    let Spec::Route(spec) = &at(&objects, "route.public.ipv4").spec else { panic!("no route") };
    assert_eq!(spec.target, Ref::Id("blackhole nat-1".into()));
}

#[tokio::test(start_paused = true)]
async fn an_unmanaged_default_route_is_ignored() {
    let target = "<transitGatewayId>tgw-1</transitGatewayId><state>active</state>";
    let objects = read_public_subnet(target, &[]).await;
    assert!(objects.iter().all(|it| it.key.slot != "route.public.ipv4"), "{objects:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_failed_nat_gateway_reads_as_another_object() {
    let item = |state: &str| {
        format!(
            "<natGatewaySet><item><natGatewayId>nat-1</natGatewayId><subnetId>subnet-1</subnetId><state>{state}</state>\
             {}</item></natGatewaySet>",
            below("nat_gateway.0")
        )
    };
    let subnet = keys::subnet(Tier::Public, 0, "use1-az6", &Input::Known("10.0.0.0/21".into()));
    let address = Input::Known(Ref::Key(keys::eip(0)));
    let spec = crate::model::NatGateway {
        subnet: subnet.clone(),
        allocation: Some(address.clone()),
        ..crate::model::NatGateway::test()
    };
    let wanted = keys::nat_gateway(0, &subnet, &address);
    let entry = Entry::new(wanted.clone(), "nat-1", Spec::NatGateway(spec));
    for (state, equal) in [("pending", true), ("available", true), ("failed", false)] {
        let objects = objects(&network(&[("DescribeNatGateways", &item(state))]), std::slice::from_ref(&entry)).await;
        assert_eq!(at(&objects, "nat_gateway.0").key == wanted, equal, "{state}");
    }
}

const PROPAGATED: &str = "<routeTableId>rtb-1</routeTableId><propagatingVgwSet><item><gatewayId>vgw-9</gatewayId>\
    </item><item><gatewayId>vgw-1</gatewayId></item></propagatingVgwSet>";

#[tokio::test(start_paused = true)]
async fn unmanaged_propagation_is_ignored_and_a_stopped_one_is_drift() {
    let tables = format!("<routeTableSet><item>{PROPAGATED}{}</item></routeTableSet>", below("route_table.public"));
    let aws = network(&[("DescribeRouteTables", &tables)]);
    let table = |gateways: &[&str]| crate::model::RouteTable {
        propagating_gateways: Input::Known(gateways.iter().map(|id| Input::Known(id.to_string())).collect()),
        ..crate::model::RouteTable::test()
    };
    let shown = async |known: &[Entry]| match &at(&objects(&aws, known).await, "route_table.public").spec {
        Spec::RouteTable(spec) => spec.propagating_gateways.clone(),
        other => panic!("{other:?}"),
    };
    let applied = Spec::RouteTable(table(&["vgw-1", "vgw-2"]));
    let entry = Entry::new(Key::new("route_table.public"), "rtb-1", applied);
    assert_eq!(shown(&[entry]).await, table(&["vgw-1"]).propagating_gateways);
    assert_eq!(shown(&[]).await, table(&["vgw-1", "vgw-9"]).propagating_gateways, "an import adopts all");
}

#[tokio::test(start_paused = true)]
async fn the_default_acl_is_found_by_tag_and_its_subnets_never_drift() {
    let association = |subnet: &str| format!("<item><subnetId>{subnet}</subnetId></item>");
    let entry = |number: i64, egress: bool| {
        format!(
            "<item><ruleNumber>{number}</ruleNumber><protocol>-1</protocol><ruleAction>allow</ruleAction>\
             <egress>{egress}</egress><cidrBlock>0.0.0.0/0</cidrBlock></item>"
        )
    };
    let acls = |tags: &str| {
        format!(
            "<networkAclSet><item><networkAclId>acl-1</networkAclId><default>true</default><entrySet>{}{}{}</entrySet>\
             <associationSet>{}{}{}</associationSet>{tags}</item><item><networkAclId>acl-9</networkAclId>\
             <associationSet>{}</associationSet></item></networkAclSet>",
            entry(32767, false),
            entry(200, false),
            entry(100, false),
            association("subnet-1"),
            association("subnet-2"),
            association("subnet-9"),
            "<item><networkAclId>acl-9</networkAclId><subnetId>subnet-3</subnetId></item>",
        )
    };
    let subnets = format!(
        "<subnetSet>{}{}{}</subnetSet>",
        subnet_item("subnet-1", &below("subnet.public.0"), "10.0.0.0/21"),
        subnet_item("subnet-2", &below("subnet.transit.0"), "10.0.144.0/21"),
        subnet_item("subnet-9", "", "10.0.240.0/24"),
    );
    let read = async |tags: &str, known: &[Entry]| {
        let aws = network(&[("DescribeNetworkAcls", &acls(tags)), ("DescribeSubnets", &subnets)]);
        objects(&aws, known).await.into_iter().find(|it| it.key == keys::default_network_acl())
    };
    assert_eq!(read("", &[]).await, None, "an ACL without the tag is unmanaged");
    let found = read(&below("default_network_acl"), &[]).await.expect("it has the ownership tag");
    let Spec::DefaultNetworkAcl(spec) = &found.spec else { panic!("{found:?}") };
    let numbers: Vec<i64> = spec.ingress.known().unwrap().iter().map(|rule| rule.rule_no).collect();
    assert_eq!((numbers, spec.egress.known().unwrap().len()), (vec![100, 200], 0));
    assert_eq!(spec.taken, []);

    let mut applied = spec.clone();
    let public = keys::subnet(Tier::Public, 0, "use1-az6", &Input::Known("10.0.0.0/21".into()));
    applied.taken = vec![TakenSubnet { subnet: public, from: "acl-9".into() }];
    let known = Entry::new(keys::default_network_acl(), "acl-1", Spec::DefaultNetworkAcl(applied.clone()));
    let found = read("", &[known]).await.expect("it is in state");
    assert_eq!(found.spec, Spec::DefaultNetworkAcl(crate::model::DefaultNetworkAcl { tags: none(), ..applied }));
}

#[tokio::test(start_paused = true)]
async fn a_subnet_has_learned_an_acl_that_is_not_the_default_one() {
    let of = |subnet: &str| {
        let default = "<item><networkAclId>acl-1</networkAclId><default>true</default></item>";
        format!(
            "<networkAclSet>{default}<item><networkAclId>acl-9</networkAclId><associationSet><item><networkAclId>acl-9\
             </networkAclId><subnetId>{subnet}</subnetId></item></associationSet></item></networkAclSet>"
        )
    };
    let subnets =
        format!("<subnetSet>{}</subnetSet>", subnet_item("subnet-1", &below("subnet.public.0"), "10.0.0.0/21"));
    let read = async |acls: &str, known: &[Entry]| {
        let aws = network(&[("DescribeNetworkAcls", acls), ("DescribeSubnets", &subnets)]);
        let found = objects(&aws, known).await;
        let vpc = found.iter().find(|it| it.key.slot == "vpc").expect("it exists");
        assert_eq!(vpc.learned["default_network_acl_id"], "acl-1");
        assert!(found.iter().all(|it| it.id != "acl-9"), "it is unmanaged: {found:?}");
        found.into_iter().find(|it| it.id == "subnet-1").expect("it exists")
    };
    let found = read(&of("subnet-1"), &[]).await;
    assert_eq!(found.learned.network_acl_id.as_deref(), Some("acl-9"));
    let mut known = Entry::new(found.key, found.id, found.spec);
    known.learned = found.learned;
    assert_eq!(read(&of("subnet-2"), &[known]).await.learned.network_acl_id, None, "it has the default ACL again");
    assert_eq!(read(&of("subnet-2"), &[]).await.learned.network_acl_id, None);
}

#[tokio::test(start_paused = true)]
async fn secondary_addresses_count_for_private_nat_gateways_only() {
    let subnet = keys::subnet(Tier::Transit, 0, "use1-az6", &Input::Known("10.0.0.0/21".into()));
    let subnets =
        format!("<subnetSet>{}</subnetSet>", subnet_item("subnet-1", &below("subnet.transit.0"), "10.0.0.0/21"));
    let address = |rest: &str| format!("<item><privateIp>10.0.0.4</privateIp>{rest}</item>");
    let several = [
        "<isPrimary>false</isPrimary><status>failed</status>",
        "<isPrimary>false</isPrimary><status>assigning</status>",
        "<isPrimary>true</isPrimary><status>succeeded</status>",
        "<isPrimary>false</isPrimary><status>succeeded</status>",
    ]
    .map(address)
    .concat();
    let shown = async |kind: &str, addresses: &str| {
        let slot = if kind == "private" { "private_nat_gateway.0" } else { "nat_gateway.0" };
        let nats = format!(
            "<natGatewaySet><item><natGatewayId>nat-1</natGatewayId><subnetId>subnet-1</subnetId><state>available</state>\
             <connectivityType>{kind}</connectivityType><natGatewayAddressSet>{addresses}</natGatewayAddressSet>{}\
             </item></natGatewaySet>",
            below(slot)
        );
        let aws = network(&[("DescribeNatGateways", &nats), ("DescribeSubnets", &subnets)]);
        let found = objects(&aws, &[]).await;
        let nat = at(&found, slot);
        let Spec::NatGateway(spec) = &nat.spec else { panic!("{nat:?}") };
        (nat.key.clone(), spec.allocation.is_some(), spec.secondary_private_ip_address_count.clone())
    };
    assert_eq!(shown("private", &several).await, (keys::private_nat_gateway(0, &subnet), false, Input::Known(2)));
    assert_eq!(shown("private", &address("")).await.2, Input::Known(0), "a single address is the primary one");
    assert_eq!(shown("public", &several).await.2, Input::Known(0));
}

#[tokio::test(start_paused = true)]
async fn objects_without_tag_or_attachment_are_found_by_id() {
    let eip = Entry::new(keys::eip(0), "eipalloc-1", Spec::Eip(Eip::test()));
    let spec = crate::model::InternetGateway::test();
    let gateway = Entry::new(keys::internet_gateway(), "igw-1", Spec::InternetGateway(spec));
    let aws = network(&[
        ("DescribeAddresses", "<addressesSet/>"),
        ("DescribeAddresses", "<addressesSet><item><allocationId>eipalloc-1</allocationId></item></addressesSet>"),
        ("DescribeInternetGateways", "<internetGatewaySet/>"),
        (
            "DescribeInternetGateways",
            "<internetGatewaySet><item><internetGatewayId>igw-1</internetGatewayId></item></internetGatewaySet>",
        ),
    ]);
    let objects = objects(&aws, &[eip, gateway]).await;
    assert_eq!(at(&objects, "eip.0").id, "eipalloc-1");
    let Spec::InternetGateway(spec) = &at(&objects, "internet_gateway").spec else { panic!("no gateway") };
    assert_eq!(spec.vpc, None);
    assert_eq!(aws.calls("DescribeAddresses")[1]["Filter.1.Name"], "allocation-id");
}

#[tokio::test(start_paused = true)]
async fn the_default_group_lists_rules_of_managed_directions_only() {
    let group = format!(
        "<securityGroupInfo><item><groupId>sg-1</groupId><groupName>default</groupName><ipPermissions><item><ipProtocol>-1</ipProtocol><groups><item>\
         <groupId>sg-1</groupId></item></groups></item></ipPermissions><ipPermissionsEgress><item>\
         <ipProtocol>-1</ipProtocol><ipRanges><item><cidrIp>0.0.0.0/0</cidrIp></item></ipRanges></item>\
         </ipPermissionsEgress>{}</item></securityGroupInfo>",
        below("default_security_group")
    );
    let applied = crate::model::DefaultSecurityGroup {
        ingress: Input::Known(Some(vec![])),
        ..crate::model::DefaultSecurityGroup::test()
    };
    let entry = Entry::new(keys::default_security_group(), "sg-1", Spec::DefaultSecurityGroup(applied));
    let objects = objects(&network(&[("DescribeSecurityGroups", &group)]), &[entry]).await;
    let Spec::DefaultSecurityGroup(spec) = &at(&objects, "default_security_group").spec else { panic!("no group") };
    let ingress = spec.ingress.known().unwrap().as_ref().unwrap();
    assert_eq!(ingress.iter().map(|rule| &rule.source).collect::<Vec<_>>(), [&RuleSource::ItSelf]);
    assert_eq!(spec.egress, Input::Known(None));
}

#[tokio::test(start_paused = true)]
async fn a_network_is_read_with_a_fixed_number_of_calls() {
    let answers = public_subnet_answers(TO_GATEWAY);
    let answers: Vec<(&str, &str)> = answers.iter().map(|(action, inside)| (*action, inside.as_str())).collect();
    let aws = network(&answers);
    objects(&aws, &[]).await;
    assert_eq!(aws.actions().len(), 14);
}

#[tokio::test(start_paused = true)]
async fn addresses_are_read_without_their_vpc() {
    let address = format!(
        "<addressesSet><item><allocationId>eipalloc-1</allocationId><publicIp>203.0.113.7</publicIp>{}</item>\
         </addressesSet>",
        below("eip.0")
    );
    let mut aws = Recorded::default().fail("DescribeVpcAttribute", 400, "InvalidVpcID.NotFound", "does not exist");
    aws = aws.on("DescribeAddresses", &address);
    for (action, inside) in EMPTY.into_iter().filter(|(action, _)| *action != "DescribeAddresses") {
        aws = aws.on(action, inside);
    }
    // Its tags alone do not make it part of a network that does not exist.
    assert_eq!(read(&aws.session(), OWNER, "vpc-1", Known::default()).await, Ok(None));
    let slots = [("eipalloc-1".to_string(), "eip.0".to_string())].into();
    let listed = Known { slots: Some(&slots), ..Known::default() };
    let seen = read(&aws.session(), OWNER, "vpc-1", listed).await.unwrap().expect("an address is left");
    let ids: Vec<&str> = seen.objects.iter().map(|it| it.id.as_str()).collect();
    assert_eq!((ids, seen.objects[0].key.slot.as_str(), seen.root_state), (vec!["eipalloc-1"], "eip.0", None));
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_address_list_is_an_error_and_not_an_absence() {
    let mut aws = Recorded::default().fail("DescribeVpcAttribute", 400, "InvalidVpcID.NotFound", "does not exist");
    aws = aws.fail("DescribeAddresses", 403, "UnauthorizedOperation", "not you");
    for (action, inside) in EMPTY.into_iter().filter(|(action, _)| *action != "DescribeAddresses") {
        aws = aws.on(action, inside);
    }
    let failure = read(&aws.session(), OWNER, "vpc-1", Known::default()).await.unwrap_err();
    assert_eq!(failure.action, "DescribeAddresses");
}

#[tokio::test(start_paused = true)]
async fn an_unattached_internet_gateway_is_found_by_its_tag() {
    let tagged = format!(
        "<internetGatewaySet><item><internetGatewayId>igw-1</internetGatewayId><attachmentSet/>{}</item>\
         </internetGatewaySet>",
        below("internet_gateway")
    );
    let aws = network(&[("DescribeInternetGateways", "<internetGatewaySet/>"), ("DescribeInternetGateways", &tagged)]);
    let objects = objects(&aws, &[]).await;
    let gateway = at(&objects, "internet_gateway");
    let Spec::InternetGateway(spec) = &gateway.spec else { panic!("{gateway:?}") };
    assert_eq!((gateway.id.as_str(), &spec.vpc), ("igw-1", &None), "the next plan attaches it");
    let search = &aws.calls("DescribeInternetGateways")[1];
    assert_eq!(search["Filter.1.Name"], "tag:fgw:resource");
    assert_eq!(search["Filter.1.Value.1"], "four_tier_vpc/vpc-1");
}

#[tokio::test(start_paused = true)]
async fn the_root_state_comes_from_its_tag() {
    let aws = network(&[]);
    let seen = read(&aws.session(), OWNER, "vpc-1", Known::default()).await.unwrap().expect("the VPC exists");
    assert_eq!(seen.root_state, Some(RootState::Ready));
}

#[tokio::test(start_paused = true)]
async fn an_unmanaged_default_route_is_learned_until_it_is_deleted() {
    let table = |routes: &str| {
        format!(
            "<routeTableSet><item><routeTableId>rtb-1</routeTableId><routeSet><item><destinationCidrBlock>10.0.0.0/16\
             </destinationCidrBlock><gatewayId>local</gatewayId></item>{routes}</routeSet>{}</item></routeTableSet>",
            below("route_table.private_app.0")
        )
    };
    let route = |to: &str, target: &str, origin: &str| {
        format!("<item>{to}{target}<state>active</state><origin>{origin}</origin></item>")
    };
    let ipv4 = "<destinationCidrBlock>0.0.0.0/0</destinationCidrBlock>";
    let ipv6 = "<destinationIpv6CidrBlock>::/0</destinationIpv6CidrBlock>";
    let with_routes = table(
        &(route(ipv4, "<transitGatewayId>tgw-9</transitGatewayId>", "CreateRoute")
            + &route(ipv6, "<gatewayId>vgw-9</gatewayId>", "EnableVgwRoutePropagation")),
    );
    let seen = objects(&network(&[("DescribeRouteTables", &with_routes)]), &[]).await;
    let found = at(&seen, "route_table.private_app.0");
    let unmanaged = vec![("0.0.0.0/0".to_string(), "tgw-9".to_string())];
    assert_eq!(found.learned, Learned { unmanaged_routes: unmanaged, ..Learned::new() });
    assert!(!seen.iter().any(|it| matches!(it.spec, Spec::Route(_))), "{seen:#?}");

    let mut known = Entry::new(found.key.clone(), "rtb-1", found.spec.clone());
    known.learned = found.learned.clone();
    let seen = objects(&network(&[("DescribeRouteTables", &table(""))]), &[known.clone()]).await;
    known.learned.update(at(&seen, "route_table.private_app.0").learned.clone());
    assert_eq!(known.learned, Learned::new());
}

#[tokio::test(start_paused = true)]
async fn the_unmanaged_routes_of_a_table_are_learned() {
    let to = |cidr: &str| format!("<destinationCidrBlock>{cidr}</destinationCidrBlock>");
    let list = |id: &str| format!("<destinationPrefixListId>{id}</destinationPrefixListId>");
    let routes = [
        (to("10.0.0.0/16"), "<gatewayId>local</gatewayId>"),
        (list("pl-63a5400a"), "<gatewayId>vpce-1</gatewayId>"),
        (to("10.1.0.0/16"), "<vpcPeeringConnectionId>pcx-1</vpcPeeringConnectionId>"),
        (list("pl-1"), "<transitGatewayId>tgw-2</transitGatewayId>"),
        // A route to an endpoint of a Gateway Load Balancer.
        (to("10.2.0.0/16"), "<gatewayId>vpce-2</gatewayId>"),
    ];
    let item = |(to, target): &(String, &str)| {
        format!("<item>{to}{target}<state>active</state><origin>CreateRoute</origin></item>")
    };
    let table = format!(
        "<routeTableSet><item><routeTableId>rtb-1</routeTableId><routeSet>{}</routeSet>{}</item></routeTableSet>",
        routes.iter().map(item).collect::<String>(),
        below("route_table.private_app.0")
    );
    let seen = objects(&network(&[("DescribeRouteTables", &table)]), &[]).await;
    let table = at(&seen, "route_table.private_app.0");
    let unmanaged = "10.1.0.0/16 to pcx-1, pl-1 to tgw-2, 10.2.0.0/16 to vpce-2";
    assert_eq!(table.learned.unmanaged_routes.len(), 3);
    let lost = table.spec.lost_when_deleted(&table.learned);
    assert_eq!(lost, Some(format!("its unmanaged routes are lost: {unmanaged}")));
}

#[tokio::test(start_paused = true)]
async fn unmanaged_subnets_are_learned_until_they_are_deleted() {
    let ours = subnet_item("subnet-1", &below("subnet.public.0"), "10.0.0.0/24");
    let theirs = subnet_item("subnet-9", &tags(&[("Name", "theirs")]), "10.0.9.0/24");
    let learned = |seen: &[Observed]| at(seen, "vpc").learned.get(UnmanagedSubnet::LEARNED).cloned();
    let both = format!("<subnetSet>{ours}{theirs}</subnetSet>");
    let seen = objects(&network(&[("DescribeSubnets", &both)]), &[]).await;
    assert_eq!(learned(&seen).as_deref(), Some("10.0.9.0/24 subnet-9"));

    let vpc = at(&seen, "vpc");
    let mut known = Entry::new(vpc.key.clone(), "vpc-1", vpc.spec.clone());
    let only_ours = format!("<subnetSet>{ours}</subnetSet>");
    let seen = objects(&network(&[("DescribeSubnets", &only_ours)]), &[known.clone()]).await;
    assert_eq!(learned(&seen), None);
    known.learned = vpc.learned.clone();
    let seen = objects(&network(&[("DescribeSubnets", &only_ours)]), &[known]).await;
    assert_eq!(learned(&seen).as_deref(), Some(""));
}

mod claims;
mod ipv6;
mod secondary_ranges;
mod users;
mod recorded_shapes;

#[tokio::test(start_paused = true)]
async fn a_nat_gateway_without_addresses_uses_that_of_its_number() {
    let subnets =
        format!("<subnetSet>{}</subnetSet>", subnet_item("subnet-1", &below("subnet.public.0"), "10.0.0.0/21"));
    let nats = format!(
        "<natGatewaySet><item><natGatewayId>nat-1</natGatewayId><subnetId>subnet-1</subnetId><state>available</state>\
         <connectivityType>public</connectivityType>{}</item></natGatewaySet>",
        below("nat_gateway.1")
    );
    for (slot, is_found) in [("eip.1", true), ("eip.0", false)] {
        let addresses =
            format!("<addressesSet><item><allocationId>eipalloc-1</allocationId>{}</item></addressesSet>", below(slot));
        let answers =
            [("DescribeSubnets", &subnets[..]), ("DescribeNatGateways", &nats), ("DescribeAddresses", &addresses)];
        let objects = objects(&network(&answers), &[]).await;
        let nat = at(&objects, "nat_gateway.1");
        let Spec::NatGateway(spec) = &nat.spec else { panic!("{nat:?}") };
        let address = if is_found { Input::Known(Ref::Key(keys::eip(1))) } else { Input::Unknown };
        assert_eq!(spec.allocation.as_ref(), Some(&address), "{slot}");
        assert_eq!(nat.key, keys::nat_gateway(1, &at(&objects, "subnet.public.0").key, &address));
    }
}
