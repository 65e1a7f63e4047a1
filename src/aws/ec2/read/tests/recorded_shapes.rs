//! Reads answers with all the fields that AWS returns, in its spelling on the wire. The comment of each answer names
//! the source of its shape: a recorded answer of the action, or a sample of its documentation.

use super::*;
use crate::aws::ec2::{dependents, security_group_rules};
use crate::aws::lookups::facts;
use crate::cloud::DependentScope;
use crate::model::{DefaultNetworkAcl, DefaultSecurityGroup, Facts, Lookup, NetworkAclRule, SecurityGroupRule};

const OWNER_ID: &str = "<ownerId>123456789012</ownerId>";

/// The tags of an object, first its own.
fn owned(slot: &str) -> String {
    let items = [("Name", slot), ("fgw:object", slot), ("fgw:resource", "four_tier_vpc/vpc-1")];
    tags(&items)
}

/// Recorded: DescribeVpcs of 2020, and of 2019 with IPv6, whose range has a pool and a border group since 2020.
fn vpc_answer() -> String {
    format!(
        "<vpcSet><item><vpcId>vpc-1</vpcId>{OWNER_ID}<state>available</state><cidrBlock>10.0.0.0/16</cidrBlock>\
         <cidrBlockAssociationSet><item><cidrBlock>10.0.0.0/16</cidrBlock><associationId>vpc-cidr-assoc-1</associationId>\
         <cidrBlockState><state>associated</state></cidrBlockState></item></cidrBlockAssociationSet>\
         <ipv6CidrBlockAssociationSet><item><associationId>vpc-cidr-assoc-2</associationId>\
         <ipv6CidrBlock>2600:1f18:0:ab00::/56</ipv6CidrBlock><ipv6CidrBlockState><state>associated</state>\
         </ipv6CidrBlockState><networkBorderGroup>us-east-1</networkBorderGroup><ipv6Pool>Amazon</ipv6Pool></item>\
         </ipv6CidrBlockAssociationSet><dhcpOptionsId>dopt-1</dhcpOptionsId>{}<instanceTenancy>default</instanceTenancy>\
         <isDefault>false</isDefault></item></vpcSet>",
        tags(&[("Name", "shop"), ("fgw:resource", "four_tier_vpc/shop"), ("fgw:state", "ready")])
    )
}

/// Recorded: DescribeSubnets, of 2020 on the wire, with the fields that were added since. The range of IPv6 is
/// documented.
fn subnet_answer() -> String {
    format!(
        "<subnetSet><item><subnetId>subnet-1</subnetId>\
         <subnetArn>arn:aws:ec2:us-east-1:123456789012:subnet/subnet-1</subnetArn><state>available</state>{OWNER_ID}\
         <vpcId>vpc-1</vpcId><cidrBlock>10.0.0.0/21</cidrBlock><ipv6CidrBlockAssociationSet><item>\
         <ipv6CidrBlock>2600:1f18:0:ab00::/64</ipv6CidrBlock><associationId>subnet-cidr-assoc-1</associationId>\
         <ipv6CidrBlockState><state>associated</state></ipv6CidrBlockState></item></ipv6CidrBlockAssociationSet>\
         <availableIpAddressCount>2043</availableIpAddressCount><availabilityZone>us-east-1a</availabilityZone>\
         <availabilityZoneId>use1-az6</availabilityZoneId><defaultForAz>false</defaultForAz>\
         <mapPublicIpOnLaunch>false</mapPublicIpOnLaunch>{}<assignIpv6AddressOnCreation>true\
         </assignIpv6AddressOnCreation><mapCustomerOwnedIpOnLaunch>false</mapCustomerOwnedIpOnLaunch>\
         <enableDns64>false</enableDns64><ipv6Native>false</ipv6Native><privateDnsNameOptionsOnLaunch>\
         <hostnameType>ip-name</hostnameType><enableResourceNameDnsARecord>false</enableResourceNameDnsARecord>\
         <enableResourceNameDnsAAAARecord>false</enableResourceNameDnsAAAARecord></privateDnsNameOptionsOnLaunch>\
         <blockPublicAccessStates><internetGatewayBlockMode>off</internetGatewayBlockMode></blockPublicAccessStates>\
         </item></subnetSet>",
        owned("subnet.public.0")
    )
}

/// Recorded: DescribeRouteTables, of 2020 on the wire, with the routes of a NAT gateway and of gateway endpoints.
fn table_answer() -> String {
    let association = |table: &str, id: &str, inside: &str| {
        format!(
            "<associationSet><item><routeTableAssociationId>{id}</routeTableAssociationId>\
             <routeTableId>{table}</routeTableId>{inside}<associationState><state>associated</state></associationState>\
             </item></associationSet><propagatingVgwSet/>"
        )
    };
    let local = "<item><destinationCidrBlock>10.0.0.0/16</destinationCidrBlock><gatewayId>local</gatewayId>\
                 <state>active</state><origin>CreateRouteTable</origin></item>";
    let created = "<state>active</state><origin>CreateRoute</origin>";
    format!(
        "<routeTableSet><item><routeTableId>rtb-0</routeTableId><vpcId>vpc-1</vpcId>{OWNER_ID}<routeSet>{local}\
         </routeSet>{}<tagSet/></item><item><routeTableId>rtb-1</routeTableId><vpcId>vpc-1</vpcId>{OWNER_ID}<routeSet>\
         {local}<item><destinationCidrBlock>0.0.0.0/0</destinationCidrBlock><natGatewayId>nat-1</natGatewayId>{created}\
         </item><item><destinationPrefixListId>pl-63a5400a</destinationPrefixListId><gatewayId>vpce-1</gatewayId>\
         {created}</item></routeSet>{}{}</item></routeTableSet>",
        association("rtb-0", "rtbassoc-0", "<main>true</main>"),
        association("rtb-1", "rtbassoc-1", "<subnetId>subnet-1</subnetId><main>false</main>"),
        owned("route_table.private_app.0")
    )
}

/// Recorded: DescribeInternetGateways. AWS returns the attachment as available.
fn gateway_answer() -> String {
    format!(
        "<internetGatewaySet><item><internetGatewayId>igw-1</internetGatewayId>{OWNER_ID}<attachmentSet><item>\
         <vpcId>vpc-1</vpcId><state>available</state></item></attachmentSet>{}</item></internetGatewaySet>",
        owned("internet_gateway")
    )
}

/// Recorded: DescribeNatGateways of 2022, with the fields of the documentation of 2023: mark and status of an address.
fn nat_answer() -> String {
    format!(
        "<natGatewaySet><item><createTime>2026-05-30T07:06:33.000Z</createTime><natGatewayAddressSet><item>\
         <allocationId>eipalloc-1</allocationId><networkInterfaceId>eni-1</networkInterfaceId>\
         <privateIp>10.0.1.169</privateIp><publicIp>198.51.100.7</publicIp><associationId>eipassoc-1</associationId>\
         <isPrimary>true</isPrimary><status>succeeded</status></item></natGatewayAddressSet>\
         <natGatewayId>nat-1</natGatewayId><state>available</state><subnetId>subnet-1</subnetId><vpcId>vpc-1</vpcId>{}\
         <connectivityType>public</connectivityType></item></natGatewaySet>",
        owned("nat_gateway.0")
    )
}

/// Recorded: DescribeAddresses, of an address that a NAT gateway uses.
fn address_answer() -> String {
    format!(
        "<addressesSet><item><publicIp>198.51.100.7</publicIp><allocationId>eipalloc-1</allocationId><domain>vpc</domain>\
         <associationId>eipassoc-1</associationId><networkInterfaceId>eni-1</networkInterfaceId>\
         <networkInterfaceOwnerId>123456789012</networkInterfaceOwnerId><privateIpAddress>10.0.1.169</privateIpAddress>\
         {}<publicIpv4Pool>amazon</publicIpv4Pool><networkBorderGroup>us-east-1</networkBorderGroup></item>\
         </addressesSet>",
        owned("eip.0")
    )
}

/// Recorded: DescribeVpcEndpoints, of gateway endpoints. One of the recorded policies has an empty Sid.
fn endpoint_answer() -> String {
    let policy = r#"{"Version":"2008-10-17","Statement":[{"Sid":"","Effect":"Allow","Principal":"*","Action":"*","Resource":"*"}]}"#;
    format!(
        "<vpcEndpointSet><item><vpcEndpointId>vpce-1</vpcEndpointId><vpcEndpointType>Gateway</vpcEndpointType>\
         <vpcId>vpc-1</vpcId><serviceName>com.amazonaws.us-east-1.s3</serviceName><state>available</state>\
         <policyDocument>{}</policyDocument><routeTableIdSet><item>rtb-1</item></routeTableIdSet><subnetIdSet/><groupSet/>\
         <privateDnsEnabled>false</privateDnsEnabled><requesterManaged>false</requesterManaged><networkInterfaceIdSet/>\
         <dnsEntrySet/><dnsOptions><dnsRecordIpType>service-defined</dnsRecordIpType></dnsOptions>\
         <creationTimestamp>2026-05-24T14:20:17.000Z</creationTimestamp>{}{OWNER_ID}</item></vpcEndpointSet>",
        policy.replace('"', "&quot;"),
        owned("vpc_endpoint.objectstore")
    )
}

/// Recorded: DescribeSecurityGroups of 2020 on the wire, with empty lists.
fn group_answer() -> String {
    format!(
        "<securityGroupInfo><item>{OWNER_ID}<groupId>sg-1</groupId><groupName>default</groupName>\
         <groupDescription>default VPC security group</groupDescription><ipPermissions><item>\
         <ipProtocol>-1</ipProtocol><groups><item><userId>123456789012</userId><groupId>sg-1</groupId></item></groups>\
         <ipRanges/><ipv6Ranges/><prefixListIds/></item><item><ipProtocol>icmp</ipProtocol><fromPort>8</fromPort>\
         <toPort>-1</toPort><groups/><ipRanges><item><cidrIp>10.0.0.0/8</cidrIp></item></ipRanges><ipv6Ranges/>\
         <prefixListIds/></item></ipPermissions><ipPermissionsEgress><item><ipProtocol>-1</ipProtocol><groups/><ipRanges>\
         <item><cidrIp>0.0.0.0/0</cidrIp></item></ipRanges><ipv6Ranges/><prefixListIds/></item></ipPermissionsEgress>\
         <vpcId>vpc-1</vpcId>{}</item></securityGroupInfo>",
        owned("default_security_group")
    )
}

/// Recorded: DescribeNetworkAcls of a new VPC, egress first. The rules for IPv6 are documented.
fn acl_answer() -> String {
    let entry = |number: u32, action: &str, egress: bool| {
        let range = if [101, 32768].contains(&number) {
            "<ipv6CidrBlock>::/0</ipv6CidrBlock>"
        } else {
            "<cidrBlock>0.0.0.0/0</cidrBlock>"
        };
        format!(
            "<item><ruleNumber>{number}</ruleNumber><protocol>-1</protocol><ruleAction>{action}</ruleAction>\
             <egress>{egress}</egress>{range}</item>"
        )
    };
    let entries = [true, false].map(|egress| {
        let rules = [(100, "allow"), (101, "allow"), (32767, "deny"), (32768, "deny")];
        rules.map(|(number, action)| entry(number, action, egress)).concat()
    });
    format!(
        "<networkAclSet><item><networkAclId>acl-1</networkAclId><vpcId>vpc-1</vpcId><default>true</default><entrySet>{}\
         </entrySet><associationSet><item><networkAclAssociationId>aclassoc-1</networkAclAssociationId>\
         <networkAclId>acl-1</networkAclId><subnetId>subnet-1</subnetId></item></associationSet>{}{OWNER_ID}</item>\
         </networkAclSet>",
        entries.concat(),
        owned("default_network_acl")
    )
}

/// The whole network. Recorded: DescribeVpcAttribute, which returns the requested attribute only; the parser of each
/// call reads its own one.
fn whole_network() -> Recorded {
    let attributes = "<vpcId>vpc-1</vpcId><enableDnsSupport><value>true</value></enableDnsSupport><enableDnsHostnames>\
                      <value>false</value></enableDnsHostnames><enableNetworkAddressUsageMetrics><value>true</value>\
                      </enableNetworkAddressUsageMetrics>";
    let answers = [
        ("DescribeVpcs", vpc_answer()),
        ("DescribeVpcAttribute", attributes.to_string()),
        ("DescribeSubnets", subnet_answer()),
        ("DescribeRouteTables", table_answer()),
        ("DescribeInternetGateways", gateway_answer()),
        ("DescribeNatGateways", nat_answer()),
        ("DescribeAddresses", address_answer()),
        ("DescribeVpcEndpoints", endpoint_answer()),
        ("DescribeFlowLogs", "<flowLogSet/>".to_string()),
        ("DescribeEgressOnlyInternetGateways", "<egressOnlyInternetGatewaySet/>".to_string()),
        ("DescribeSecurityGroups", group_answer()),
        ("DescribeNetworkAcls", acl_answer()),
    ];
    answers.iter().fold(Recorded::default(), |aws, (action, inside)| aws.on(action, inside))
}

#[tokio::test(start_paused = true)]
async fn every_object_of_a_network_is_read() {
    let objects = objects(&whole_network(), &[]).await;
    let ids: Vec<(&str, &str)> = objects.iter().map(|it| (it.key.slot.as_str(), it.id.as_str())).collect();
    assert_eq!(
        ids,
        [
            ("vpc", "vpc-1"),
            ("ipv6_cidr_block", "vpc-cidr-assoc-2"),
            ("internet_gateway", "igw-1"),
            ("subnet.public.0", "subnet-1"),
            ("route_table.private_app.0", "rtb-1"),
            ("route_table_association.public.0", "rtbassoc-1"),
            ("eip.0", "eipalloc-1"),
            ("nat_gateway.0", "nat-1"),
            ("route.private_app.0.ipv4", "rtb-1_0.0.0.0/0"),
            ("vpc_endpoint.objectstore", "vpce-1"),
            ("default_network_acl", "acl-1"),
            ("default_security_group", "sg-1"),
        ]
    );
    let root = at(&objects, "vpc");
    let learned = |name: &str| root.learned.get(name).map(String::as_str);
    assert_eq!(learned("owner_id"), Some("123456789012"));
    assert_eq!(learned("default_route_table_id"), Some("rtb-0"));
    assert_eq!(learned("default_network_acl_id"), Some("acl-1"));
    assert_eq!(learned("default_security_group_id"), Some("sg-1"));
    assert_eq!(at(&objects, "ipv6_cidr_block").learned["ipv6_cidr_block"], "2600:1f18:0:ab00::/56");
    assert_eq!(at(&objects, "nat_gateway.0").learned["public_ip"], "198.51.100.7");
    assert_eq!(at(&objects, "eip.0").learned["public_ip"], "198.51.100.7");
}

#[tokio::test(start_paused = true)]
async fn the_fields_of_each_object_are_read() {
    let objects = objects(&whole_network(), &[]).await;
    let Spec::Vpc(vpc) = &at(&objects, "vpc").spec else { panic!("no VPC") };
    let attributes = [&vpc.enable_dns_support, &vpc.enable_dns_hostnames, &vpc.enable_network_address_usage_metrics];
    assert_eq!(attributes.map(|it| it.known().copied()), [Some(true), Some(false), Some(true)]);
    let Spec::Subnet(subnet) = &at(&objects, "subnet.public.0").spec else { panic!("no subnet") };
    assert_eq!((subnet.availability_zone.as_str(), subnet.availability_zone_id.as_str()), ("us-east-1a", "use1-az6"));
    assert_eq!(subnet.ipv6_cidr_block, Input::Known(Some("2600:1f18:0:ab00::/64".into())));
    assert_eq!(subnet.ipv6_block.as_ref(), Some(&at(&objects, "ipv6_cidr_block").key));
    assert_eq!(subnet.assign_ipv6_address_on_creation, Input::Known(true));
    let Spec::InternetGateway(gateway) = &at(&objects, "internet_gateway").spec else { panic!("no gateway") };
    assert!(gateway.vpc.is_some(), "it is attached");
    let Spec::NatGateway(nat) = &at(&objects, "nat_gateway.0").spec else { panic!("no NAT gateway") };
    assert_eq!(nat.allocation, Some(Input::Known(Ref::Key(at(&objects, "eip.0").key.clone()))));
    let Spec::Route(route) = &at(&objects, "route.private_app.0.ipv4").spec else { panic!("no route") };
    assert_eq!(route.target, Ref::Key(at(&objects, "nat_gateway.0").key.clone()));
    let Spec::VpcEndpoint(endpoint) = &at(&objects, "vpc_endpoint.objectstore").spec else { panic!("no endpoint") };
    assert_eq!(endpoint.policy, Input::Known(None), "an empty Sid does not make another policy");
    assert_eq!(endpoint.route_tables, [Ref::Key(at(&objects, "route_table.private_app.0").key.clone())]);
}

#[tokio::test(start_paused = true)]
async fn the_rules_of_the_default_objects_are_read() {
    let objects = objects(&whole_network(), &[]).await;
    let Spec::DefaultNetworkAcl(DefaultNetworkAcl { ingress, egress, taken, .. }) =
        &at(&objects, "default_network_acl").spec
    else {
        panic!("no ACL")
    };
    let rule =
        |rule_no: i64, range: &str| NetworkAclRule { rule_no, cidr_block: range.into(), ..NetworkAclRule::test() };
    let original = Input::Known(vec![rule(100, "0.0.0.0/0"), rule(101, "::/0")]);
    assert_eq!((ingress, egress), (&original, &original));
    assert_eq!(taken, &[]);
    assert_eq!(at(&objects, "subnet.public.0").learned.network_acl_id, None);
    let Spec::DefaultSecurityGroup(DefaultSecurityGroup { ingress, egress, .. }) =
        &at(&objects, "default_security_group").spec
    else {
        panic!("no group")
    };
    let rule = |protocol: &str, ports: Option<(i64, i64)>, source: RuleSource| SecurityGroupRule {
        protocol: protocol.into(),
        from_port: ports.map(|(from, _)| from),
        to_port: ports.map(|(_, to)| to),
        source,
        ..SecurityGroupRule::test()
    };
    let ping = rule("icmp", Some((8, -1)), RuleSource::CidrIpv4("10.0.0.0/8".into()));
    assert_eq!(ingress, &Input::Known(Some(vec![rule("-1", None, RuleSource::ItSelf), ping])));
    let anywhere = rule("-1", None, RuleSource::CidrIpv4("0.0.0.0/0".into()));
    assert_eq!(egress, &Input::Known(Some(vec![anywhere])));
}

/// Recorded: DescribeNatGateways of a pending gateway of 2026, and the documentation of CreateNatGateway: no IP yet.
#[tokio::test(start_paused = true)]
async fn a_pending_nat_gateway_is_incomplete() {
    let pending = nat_answer().replace("<state>available</state>", "<state>pending</state>").replace(
        "<networkInterfaceId>eni-1</networkInterfaceId><privateIp>10.0.1.169</privateIp><publicIp>198.51.100.7\
         </publicIp><associationId>eipassoc-1</associationId><isPrimary>true</isPrimary><status>succeeded</status>",
        "<isPrimary>true</isPrimary><status>associating</status>",
    );
    let associating = vpc_answer()
        .replace("2600:1f18:0:ab00::/56", "")
        .replace("<ipv6CidrBlockState><state>associated", "<ipv6CidrBlockState><state>associating");
    let aws = network(&[("DescribeNatGateways", &pending), ("DescribeSubnets", &subnet_answer())]);
    let seen = read(&aws.session(), OWNER, "vpc-1", Known::default()).await.unwrap().expect("the VPC exists");
    assert_eq!(seen.incomplete.into_iter().collect::<Vec<_>>(), ["nat-1"]);
    assert_eq!(at(&seen.objects, "nat_gateway.0").learned.get("public_ip"), None);
    let mut aws = Recorded::default().on("DescribeVpcs", &associating).on("DescribeVpcAttribute", ATTRIBUTES);
    for (action, inside) in &EMPTY[..10] {
        aws = aws.on(action, inside);
    }
    let seen = read(&aws.session(), OWNER, "vpc-1", Known::default()).await.unwrap().expect("the VPC exists");
    assert_eq!(seen.incomplete.into_iter().collect::<Vec<_>>(), ["vpc-cidr-assoc-2"]);
}

const ATTRIBUTES: &str = "<enableDnsSupport><value>true</value></enableDnsSupport><enableDnsHostnames><value>true</value>\
                          </enableDnsHostnames><enableNetworkAddressUsageMetrics><value>false</value>\
                          </enableNetworkAddressUsageMetrics>";

/// Documentation of DescribeSecurityGroupRules: a rule for all protocols has the ports -1.
#[tokio::test(start_paused = true)]
async fn the_rules_of_a_group_are_read_one_by_one() {
    let rule = |id: &str, egress: bool, source: &str| {
        format!(
            "<item><securityGroupRuleId>{id}</securityGroupRuleId><groupId>sg-1</groupId>\
             <groupOwnerId>123456789012</groupOwnerId><isEgress>{egress}</isEgress><ipProtocol>-1</ipProtocol>\
             <fromPort>-1</fromPort><toPort>-1</toPort>{source}<tagSet/></item>"
        )
    };
    let group = |id: &str, account: &str| {
        format!("<referencedGroupInfo><groupId>{id}</groupId><userId>{account}</userId></referencedGroupInfo>")
    };
    let rules = [
        rule("sgr-1", false, &group("sg-1", "123456789012")),
        rule("sgr-2", false, &group("sg-9", "999999999999")),
        rule("sgr-3", true, "<cidrIpv6>::/0</cidrIpv6>"),
        rule("sgr-4", true, "<cidrIpv4>0.0.0.0/0</cidrIpv4>"),
    ];
    let answer = format!("<securityGroupRuleSet>{}</securityGroupRuleSet>", rules.concat());
    let aws = Recorded::default().on("DescribeSecurityGroupRules", &answer);
    let found = aws.session().ec2.describe_security_group_rules().send().await.unwrap();
    let existing = found.security_group_rules().iter().map(|rule| security_group_rules::existing(rule).unwrap());
    let existing: Vec<_> = existing.map(|it| (it.id, it.rule.from_port, it.rule.source)).collect();
    let expected = [
        ("sgr-1", RuleSource::ItSelf),
        ("sgr-2", RuleSource::SecurityGroup("999999999999/sg-9".into())),
        ("sgr-3", RuleSource::CidrIpv6("::/0".into())),
        ("sgr-4", RuleSource::CidrIpv4("0.0.0.0/0".into())),
    ];
    assert_eq!(existing, expected.map(|(id, source)| (id.to_string(), None, source)));
}

/// Recorded: DescribeNetworkInterfaces, of a NAT gateway and of an interface endpoint.
#[tokio::test(start_paused = true)]
async fn interfaces_are_listed_with_their_creators() {
    let interface = |id: &str, kind: &str, description: &str, requester: &str| {
        format!(
            "<item><networkInterfaceId>{id}</networkInterfaceId><subnetId>subnet-1</subnetId><vpcId>vpc-1</vpcId>\
             <availabilityZone>us-east-1a</availabilityZone><description>{description}</description>{OWNER_ID}\
             <requesterId>{requester}</requesterId><requesterManaged>true</requesterManaged><status>in-use</status>\
             <macAddress>06:4c:11:ac:7a:b3</macAddress><privateIpAddress>10.0.1.151</privateIpAddress>\
             <sourceDestCheck>false</sourceDestCheck><groupSet/><attachment><attachmentId>ela-attach-1</attachmentId>\
             <instanceOwnerId>amazon-aws</instanceOwnerId><deviceIndex>1</deviceIndex><status>attached</status>\
             <deleteOnTermination>false</deleteOnTermination></attachment><tagSet/><privateIpAddressesSet/>\
             <ipv6AddressesSet/><interfaceType>{kind}</interfaceType></item>"
        )
    };
    let found = format!(
        "<networkInterfaceSet>{}{}</networkInterfaceSet>",
        interface("eni-1", "nat_gateway", "Interface for NAT Gateway nat-1", "123456789012"),
        interface("eni-2", "vpc_endpoint", "VPC Endpoint Interface vpce-9", "727180483921"),
    );
    // The endpoint is looked up, because it may be one of GuardDuty.
    let aws =
        Recorded::default().on("DescribeNetworkInterfaces", &found).on("DescribeVpcEndpoints", "<vpcEndpointSet/>");
    let nat = at(&objects(&whole_network(), &[]).await, "nat_gateway.0").clone();
    let known = [Entry::new(nat.key, nat.id, nat.spec)];
    let within = DependentScope::Subnets(&["subnet-1"]);
    let found = dependents(&aws.session(), "vpc-1", within, &known).await;
    assert_eq!(found.objects.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["eni-2"]);
    let call = &aws.calls("DescribeNetworkInterfaces")[0];
    assert_eq!(call["IncludeManagedResources"], "true", "AWS hides interfaces of some services by default");
}

/// Recorded: DescribeAvailabilityZones of 2020 on the wire, and DescribeVpcEndpointServices, which names S3 twice.
#[tokio::test(start_paused = true)]
async fn zones_and_endpoint_services_are_read() {
    let zone = |name: &str, id: &str| {
        format!(
            "<item><zoneName>{name}</zoneName><zoneId>{id}</zoneId><zoneState>available</zoneState>\
             <regionName>us-east-1</regionName><groupName>us-east-1</groupName>\
             <groupLongName>US East (N. Virginia) 1</groupLongName><optInStatus>opt-in-not-required</optInStatus>\
             <networkBorderGroup>us-east-1</networkBorderGroup><zoneType>availability-zone</zoneType><messageSet/></item>"
        )
    };
    let zones = [zone("us-east-1b", "use1-az4"), zone("us-east-1a", "use1-az3")].concat();
    let names = ["com.amazonaws.us-east-1.s3", "com.amazonaws.us-east-1.dynamodb", "com.amazonaws.us-east-1.s3"];
    let names: String = names.iter().map(|name| format!("<item>{name}</item>")).collect();
    let aws = Recorded::default()
        .on("DescribeAvailabilityZones", &format!("<availabilityZoneInfo>{zones}</availabilityZoneInfo>"))
        .on("DescribeVpcEndpointServices", &format!("<serviceNameSet>{names}</serviceNameSet><serviceDetailSet/>"));
    let lookups = [Lookup::AvailabilityZones, Lookup::GatewayEndpointServices];
    let Facts { availability_zones, gateway_endpoint_services, .. } = facts(&aws.session(), &lookups).await.unwrap();
    let zones = availability_zones.unwrap();
    let zones: Vec<(&str, &str)> = zones.iter().map(|zone| (zone.name.as_str(), zone.id.as_str())).collect();
    assert_eq!(zones, [("us-east-1a", "use1-az3"), ("us-east-1b", "use1-az4")]);
    let services = gateway_endpoint_services.unwrap();
    assert_eq!(services, ["com.amazonaws.us-east-1.dynamodb", "com.amazonaws.us-east-1.s3"]);
}
