//! Deletions in a network.

use std::time::Duration;

use super::Verdicts;
use crate::aws::Session;
use crate::aws::calls::Operation;
use crate::aws::ec2::recorded::{Notes, Recorded};
use crate::cloud::{Cloud, Failure};
use crate::model::keys::network as keys;
use crate::model::{
    DefaultNetworkAcl, DefaultSecurityGroup, EgressOnlyInternetGateway, Eip, Entry, GuardDutyObjects, Input,
    InternetGateway, Ipv6Source, Key, NatGateway, NetworkAclRule, Object, Ref, Route, RouteTable,
    RouteTableAssociation, SecurityGroupRule, Spec, Subnet, Tags, Tier, Vpc, VpcEndpoint, VpcIpv6Block,
};

/// The codes of all kinds, with the prefix of their IDs and the text around the ID.
const CODES: &[(&str, &str, &str)] = &[
    ("InvalidVpcID.NotFound", "vpc", "The vpc ID '{}' does not exist"),
    ("InvalidVpcCidrBlockAssociationID.NotFound", "vpc-cidr-assoc", "The association ID '{}' does not exist"),
    ("InvalidSubnetID.NotFound", "subnet", "The subnet ID '{}' does not exist"),
    ("InvalidSubnetCidrBlockAssociationID.NotFound", "subnet-cidr-assoc", "The association ID '{}' does not exist"),
    ("InvalidInternetGatewayID.NotFound", "igw", "The internetGateway ID '{}' does not exist"),
    ("InvalidGatewayID.NotFound", "eigw", "The gateway ID '{}' does not exist"),
    ("InvalidRouteTableID.NotFound", "rtb", "The routeTable ID '{}' does not exist"),
    ("InvalidAssociationID.NotFound", "rtbassoc", "The association ID '{}' does not exist"),
    ("InvalidRoute.NotFound", "rtb", "no route with destination-cidr-block 0.0.0.0/0 in route table {}"),
    ("InvalidAllocationID.NotFound", "eipalloc", "The allocation ID '{}' does not exist"),
    ("NatGatewayNotFound", "nat", "The Nat Gateway {} was not found"),
    ("InvalidVpcEndpoint.NotFound", "vpce", "The Vpc Endpoint Id '{}' does not exist"),
    ("InvalidVpcEndpointId.NotFound", "vpce", "The Vpc Endpoint Id '{}' does not exist"),
    ("InvalidNetworkAclID.NotFound", "acl", "The networkAcl ID '{}' does not exist"),
    ("InvalidGroup.NotFound", "sg", "The security group '{}' does not exist"),
    ("InvalidSecurityGroupRuleId.NotFound", "sgr", "The security group rule ID '{}' does not exist"),
    ("InvalidVpnGatewayID.NotFound", "vgw", "The vpnGateway ID '{}' does not exist"),
    ("InvalidNetworkInterfaceID.NotFound", "eni", "The networkInterface ID '{}' does not exist"),
];

/// Which operation sends the call.
enum By {
    Delete,
    Disown,
    /// An update of the object in the entry to this object.
    Update(Box<Object>),
}

/// A call that deletes an object or a part of it.
struct Deletion {
    name: &'static str,
    /// The action that receives the foreign answers.
    action: &'static str,
    /// The codes that mean that the object is deleted, if they have its ID.
    own: &'static [&'static str],
    /// Whether AWS reports failures inside a successful answer.
    is_item: bool,
    entry: Entry,
    /// Sends the call.
    by: By,
    /// The answers to all other calls, while the object exists.
    others: Vec<(&'static str, String)>,
    guardduty: GuardDutyObjects,
}

const DONE: &str = "<return>true</return>";

fn tagged() -> Tags {
    Input::Known([("team".to_string(), Input::Known("net".to_string()))].into())
}

fn of(
    name: &'static str,
    action: &'static str,
    own: &'static [&'static str],
    entry: (Key, &str, Spec),
    others: &[(&'static str, &str)],
) -> Deletion {
    Deletion {
        name,
        action,
        own,
        is_item: false,
        entry: Entry::new(entry.0, entry.1, entry.2),
        by: By::Delete,
        others: others.iter().map(|(action, answer)| (*action, answer.to_string())).collect(),
        guardduty: GuardDutyObjects::Keep,
    }
}

fn vpc() -> Spec {
    Spec::Vpc(Vpc::test())
}

fn subnet(range: Option<&str>) -> Spec {
    Spec::Subnet(Subnet { ipv6_cidr_block: Input::Known(range.map(str::to_string)), ..Subnet::test() })
}

fn table(gateways: &[&str]) -> Spec {
    Spec::RouteTable(RouteTable {
        propagating_gateways: Input::Known(gateways.iter().map(|id| Input::Known(id.to_string())).collect()),
        ..RouteTable::test()
    })
}

const TABLE: &str = "<routeTableSet><item><routeTableId>rtb-1</routeTableId><routeSet><item><destinationCidrBlock>\
    0.0.0.0/0</destinationCidrBlock><natGatewayId>nat-1</natGatewayId></item></routeSet><associationSet><item>\
    <routeTableAssociationId>rtbassoc-1</routeTableAssociationId><routeTableId>rtb-1</routeTableId><subnetId>subnet-1\
    </subnetId></item></associationSet><propagatingVgwSet><item><gatewayId>vgw-1</gatewayId></item></propagatingVgwSet>\
    </item></routeTableSet>";
const VPCS: &str = "<vpcSet><item><vpcId>vpc-1</vpcId><state>available</state><ipv6CidrBlockAssociationSet><item>\
    <associationId>vpc-cidr-assoc-1</associationId><ipv6CidrBlock>2001:db8::/56</ipv6CidrBlock><ipv6CidrBlockState>\
    <state>associated</state></ipv6CidrBlockState></item></ipv6CidrBlockAssociationSet></item></vpcSet>";
const SUBNETS: &str = "<subnetSet><item><subnetId>subnet-1</subnetId><ipv6CidrBlockAssociationSet><item><associationId>\
    subnet-cidr-assoc-1</associationId><ipv6CidrBlock>2001:db8::/64</ipv6CidrBlock><ipv6CidrBlockState><state>associated\
    </state></ipv6CidrBlockState></item></ipv6CidrBlockAssociationSet></item></subnetSet>";
const EGRESS_GATEWAYS: &str = "<egressOnlyInternetGatewaySet><item>\
    <egressOnlyInternetGatewayId>eigw-1</egressOnlyInternetGatewayId></item></egressOnlyInternetGatewaySet>";
const ATTACHED: &str = "<internetGatewaySet><item><internetGatewayId>igw-1</internetGatewayId><attachmentSet><item>\
    <vpcId>vpc-1</vpcId><state>available</state></item></attachmentSet></item></internetGatewaySet>";
const DETACHED: &str =
    "<internetGatewaySet><item><internetGatewayId>igw-1</internetGatewayId></item></internetGatewaySet>";
const ADDRESSES: &str = "<addressesSet><item><allocationId>eipalloc-1</allocationId></item></addressesSet>";
const NATS: &str =
    "<natGatewaySet><item><natGatewayId>nat-1</natGatewayId><state>available</state></item></natGatewaySet>";
const ENDPOINTS: &str =
    "<vpcEndpointSet><item><vpcEndpointId>vpce-1</vpcEndpointId><state>available</state></item></vpcEndpointSet>";
const ACLS: &str = "<networkAclSet><item><networkAclId>acl-1</networkAclId><entrySet><item><ruleNumber>100</ruleNumber>\
    <protocol>-1</protocol><ruleAction>allow</ruleAction><egress>false</egress><cidrBlock>0.0.0.0/0</cidrBlock></item>\
    <item><ruleNumber>100</ruleNumber><protocol>-1</protocol><ruleAction>allow</ruleAction><egress>true</egress>\
    <cidrBlock>0.0.0.0/0</cidrBlock></item><item><ruleNumber>200</ruleNumber><protocol>-1</protocol><ruleAction>allow\
    </ruleAction><egress>true</egress><cidrBlock>10.0.0.0/8</cidrBlock></item></entrySet><tagSet><item><key>team</key>\
    <value>net</value></item></tagSet></item></networkAclSet>";
const RULES: &str = "<securityGroupRuleSet><item><securityGroupRuleId>sgr-1</securityGroupRuleId><groupId>sg-1</groupId>\
    <isEgress>false</isEgress><ipProtocol>tcp</ipProtocol><fromPort>443</fromPort><toPort>443</toPort>\
    <cidrIpv4>10.0.0.0/8</cidrIpv4></item></securityGroupRuleSet>";
const NO_RULES: &str = "<securityGroupRuleSet/>";

fn of_vpc() -> Vec<Deletion> {
    let (root, gateway) = (Key::new("vpc"), keys::internet_gateway());
    let block = Ipv6Source::Amazon { network_border_group: Input::Known(None) };
    let range = Spec::VpcIpv6Block(VpcIpv6Block { vpc: root.clone(), source: block.clone() });
    let igw = || Spec::InternetGateway(InternetGateway::test());
    let own_gateway = &["InvalidInternetGatewayID.NotFound"];
    let public = || keys::subnet(Tier::Public, 0, "use1-az1", &Input::Known("10.0.0.0/24".into()));
    let without_guardduty = |deletion: Deletion| {
        let others = [deletion.others, vec![("DescribeSecurityGroups", "<securityGroupInfo/>".to_string())]].concat();
        let name = if deletion.action == "DeleteVpc" { "VPC with GuardDuty" } else { "subnet with GuardDuty" };
        Deletion { name, others, guardduty: GuardDutyObjects::Delete, ..deletion }
    };
    let endpoints = ("DescribeVpcEndpoints", "<vpcEndpointSet/>");
    let whole = || {
        of(
            "VPC",
            "DeleteVpc",
            &["InvalidVpcID.NotFound"],
            (root.clone(), "vpc-1", vpc()),
            &[("DescribeVpcs", VPCS), endpoints],
        )
    };
    let part = || {
        let others = [("DescribeSubnets", SUBNETS), endpoints];
        of("subnet", "DeleteSubnet", &["InvalidSubnetID.NotFound"], (public(), "subnet-1", subnet(None)), &others)
    };
    let leaving = Object::new(public(), subnet(None));
    vec![
        whole(),
        without_guardduty(whole()),
        part(),
        without_guardduty(part()),
        of(
            "IPv6 range of the VPC",
            "DisassociateVpcCidrBlock",
            &["InvalidVpcCidrBlockAssociationID.NotFound"],
            (keys::ipv6_cidr_block(&block), "vpc-cidr-assoc-1", range),
            &[("DescribeVpcs", VPCS)],
        ),
        of(
            "attachment of the internet gateway",
            "DetachInternetGateway",
            own_gateway,
            (gateway.clone(), "igw-1", igw()),
            &[("DescribeInternetGateways", ATTACHED), ("DeleteInternetGateway", DONE)],
        ),
        of(
            "internet gateway",
            "DeleteInternetGateway",
            own_gateway,
            (gateway, "igw-1", igw()),
            &[("DescribeInternetGateways", DETACHED), ("DetachInternetGateway", DONE)],
        ),
        of(
            "egress-only internet gateway",
            "DeleteEgressOnlyInternetGateway",
            &["InvalidGatewayID.NotFound"],
            (keys::egress_only_internet_gateway(), "eigw-1", EgressOnlyInternetGateway::test().into()),
            &[("DescribeEgressOnlyInternetGateways", EGRESS_GATEWAYS)],
        ),
        Deletion {
            by: By::Update(Box::new(leaving)),
            ..of(
                "IPv6 range of the subnet",
                "DisassociateSubnetCidrBlock",
                &["InvalidSubnetCidrBlockAssociationID.NotFound"],
                (public(), "subnet-1", subnet(Some("2001:db8::/64"))),
                &[("DescribeSubnets", SUBNETS)],
            )
        },
    ]
}

fn of_routes() -> Vec<Deletion> {
    let (of_tier, tables) = (keys::route_table(Tier::PrivateApp, Some(0)), ("DescribeRouteTables", TABLE));
    let subnet = keys::subnet(Tier::PrivateApp, 0, "use1-az1", &Input::Known("10.0.1.0/24".into()));
    let association = RouteTableAssociation { subnet: subnet.clone(), route_table: Ref::Key(of_tier.clone()) };
    let route = Route { route_table: of_tier.clone(), target: Ref::Key(Key::new("nat_gateway.0")), ..Route::test() };
    let own_table = &["InvalidRouteTableID.NotFound"];
    let others = [tables, ("DescribeSubnets", SUBNETS)];
    let unpropagated = Object::new(of_tier.clone(), table(&[]));
    vec![
        of("route table", "DeleteRouteTable", own_table, (of_tier.clone(), "rtb-1", table(&[])), &others),
        Deletion {
            by: By::Disown,
            ..of("tags of a table", "DeleteTags", own_table, (of_tier.clone(), "rtb-1", table(&[])), &others)
        },
        Deletion {
            by: By::Update(Box::new(unpropagated)),
            ..of(
                "propagation",
                "DisableVgwRoutePropagation",
                &["InvalidVpnGatewayID.NotFound"],
                (of_tier.clone(), "rtb-1", table(&["vgw-1"])),
                &others,
            )
        },
        of(
            "route table association",
            "DisassociateRouteTable",
            &["InvalidAssociationID.NotFound"],
            (keys::route_table_association(&subnet), "rtbassoc-1", Spec::RouteTableAssociation(association)),
            &others,
        ),
        of(
            "route",
            "DeleteRoute",
            &["InvalidRoute.NotFound"],
            (keys::default_route(&of_tier, keys::Family::Ipv4), "rtb-1_0.0.0.0/0", Spec::Route(route)),
            &others,
        ),
    ]
}

fn of_addresses() -> Vec<Deletion> {
    let eip = || Spec::Eip(Eip::test());
    let (subnet, address) = (Key::new("subnet.public.0"), Input::Known(Ref::Key(keys::eip(0))));
    let nat = NatGateway { subnet: subnet.clone(), allocation: Some(address.clone()), ..NatGateway::test() };
    let service = Input::Known("com.amazonaws.us-east-1.s3".to_string());
    let endpoint = VpcEndpoint { service_name: service.clone(), ..VpcEndpoint::test() };
    let key = keys::vpc_endpoint(keys::EndpointService::ObjectStore, &service);
    let own = &["InvalidVpcEndpoint.NotFound", "InvalidVpcEndpointId.NotFound"];
    let endpoint = || {
        let entry = (key.clone(), "vpce-1", Spec::VpcEndpoint(endpoint.clone()));
        of("endpoint", "DeleteVpcEndpoints", own, entry, &[("DescribeVpcEndpoints", ENDPOINTS)])
    };
    let others = [("DescribeAddresses", ADDRESSES), ("DescribeNatGateways", "<natGatewaySet/>")];
    let own_address = &["InvalidAllocationID.NotFound"];
    vec![
        of("address", "ReleaseAddress", own_address, (keys::eip(0), "eipalloc-1", eip()), &others),
        Deletion {
            by: By::Disown,
            ..of("tags of an address", "DeleteTags", own_address, (keys::eip(0), "eipalloc-1", eip()), &others)
        },
        of(
            "NAT gateway",
            "DeleteNatGateway",
            &["NatGatewayNotFound"],
            (keys::nat_gateway(0, &subnet, &address), "nat-1", Spec::NatGateway(nat)),
            &[("DescribeNatGateways", NATS)],
        ),
        endpoint(),
        Deletion { name: "endpoint, as an item", is_item: true, ..endpoint() },
    ]
}

fn of_defaults() -> Vec<Deletion> {
    let allow = NetworkAclRule { rule_no: 200, cidr_block: "10.0.0.0/8".into(), ..NetworkAclRule::test() };
    let acl = Spec::DefaultNetworkAcl(DefaultNetworkAcl {
        egress: Input::Known(vec![allow]),
        tags: tagged(),
        ..DefaultNetworkAcl::test()
    });
    let group = Spec::DefaultSecurityGroup(DefaultSecurityGroup {
        ingress: Input::Known(Some(vec![SecurityGroupRule::test()])),
        tags: tagged(),
        ..DefaultSecurityGroup::test()
    });
    let groups = "<securityGroupInfo><item><groupId>sg-1</groupId></item></securityGroupInfo>";
    let of_acl = (keys::default_network_acl(), "acl-1", acl);
    let of_group = (keys::default_security_group(), "sg-1", group);
    let (acls, vpcs, groups) =
        (("DescribeNetworkAcls", ACLS), ("DescribeVpcs", VPCS), ("DescribeSecurityGroups", groups));
    let own_acl = &["InvalidNetworkAclID.NotFound"];
    let own_group = &["InvalidGroup.NotFound"];
    let added = ("CreateNetworkAclEntry", DONE);
    let (deleted, removed, rules) =
        (("DeleteNetworkAclEntry", DONE), ("DeleteTags", DONE), ("DescribeSecurityGroupRules", RULES));
    vec![
        of("rule of the default ACL", "DeleteNetworkAclEntry", own_acl, of_acl.clone(), &[acls, vpcs, added, removed]),
        of("tags of the default ACL", "DeleteTags", own_acl, of_acl, &[acls, vpcs, added, deleted]),
        of(
            "rule of the default group",
            "RevokeSecurityGroupIngress",
            own_group,
            of_group.clone(),
            &[rules, groups, removed],
        ),
        of(
            "tags of the default group",
            "DeleteTags",
            own_group,
            of_group,
            &[("DescribeSecurityGroupRules", NO_RULES), groups],
        ),
    ]
}

fn all() -> Vec<Deletion> {
    [of_vpc(), of_routes(), of_addresses(), of_defaults()].into_iter().flatten().collect()
}

impl Deletion {
    /// An AWS with this answer to the call, and with the object.
    fn answering(&self, aws: &Recorded, code: &str, message: &str) -> Recorded {
        aws.clear();
        let aws = self.others.iter().fold(aws.clone(), |aws, (action, answer)| aws.on(action, answer));
        match self.is_item {
            true => aws.on(
                self.action,
                &format!("<unsuccessful><item><error><code>{code}</code><message>{message}</message></error></item></unsuccessful>"),
            ),
            false => aws.fail(self.action, 400, code, message),
        }
    }

    async fn run(&self, session: &Session) -> Result<(), Failure> {
        let notes = Notes { guardduty: self.guardduty, ..Notes::default() };
        let root = Key::new("vpc");
        let table = keys::route_table(Tier::PrivateApp, Some(0));
        let ids = [(&root, "vpc-1"), (&table, "rtb-1")];
        // Two attempts.
        let limit = Duration::from_millis(10);
        let body = async |operation: &Operation<'_>| {
            let session = operation.session;
            match &self.by {
                By::Delete => session.delete(operation.work, &self.entry).await,
                By::Disown => session.disown(operation.work, &self.entry).await,
                By::Update(to) => {
                    let record = operation.record.expect("an update records");
                    session.update(operation.work, &self.entry.id, &self.entry.applied, to, record).await
                }
            }
        };
        notes.run_for(session, &self.entry.key, &ids, limit, body).await
    }
}

/// Each code with an ID of another object, and with the ID of an object of the network that is not the deleted one.
fn foreign_answers(deletion: &Deletion) -> Vec<(&'static str, String)> {
    let answers = CODES.iter().flat_map(|(code, prefix, text)| {
        [9, 1].map(|number| (*code, number, text.replace("{}", &format!("{prefix}-{number}"))))
    });
    let foreign = answers.filter(|(code, number, _)| *number == 9 || !deletion.own.contains(code));
    foreign.map(|(code, _, message)| (code, message)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_foreign_missing_object_never_counts_as_the_deletion() {
    let mut verdicts = Verdicts::default();
    let aws = Recorded::default();
    // Clients are slow to create.
    let session = aws.session();
    for deletion in all() {
        for (code, message) in foreign_answers(&deletion) {
            let answer = format!("{code}: {message}");
            deletion.answering(&aws, code, &message);
            verdicts.always(deletion.name, &answer, &deletion.run(&session).await);
        }
        let (code, text) = ("InvalidNetworkInterfaceID.NotFound", "The networkInterface ID 'eni-9' does not exist");
        deletion.answering(&aws, code, text).on(deletion.action, DONE);
        // It may wait for the end of the deletion, which never comes here.
        let result = deletion.run(&session).await;
        verdicts.once(deletion.name, code, &result, aws.calls(deletion.action).len());
    }
    verdicts.assert_nothing_is_lost(700);
}
