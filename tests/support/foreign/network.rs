//! Networks that boto3 builds.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::text;
use crate::support::emulator::Account;
use crate::support::proxy::Proxy;

/// A network built with boto3.
pub(crate) struct ForeignNetwork<'a> {
    proxy: &'a Proxy,
    pub(crate) vpc: String,
}

/// The objects that such a network has, by the keys that they get.
pub(crate) type Objects = BTreeMap<String, String>;

impl<'a> ForeignNetwork<'a> {
    pub(crate) fn new(proxy: &'a Proxy, name: &str) -> Self {
        let vpc = ec2(proxy, "create_vpc", json!({ "CidrBlock": "10.0.0.0/16" }));
        let foreign = Self { proxy, vpc: text(&vpc["Vpc"]["VpcId"]) };
        foreign.name(&foreign.vpc, name);
        foreign.add_original_rule();
        foreign
    }

    /// The VPC of an existing network, in which boto3 builds further objects.
    pub(crate) fn within(proxy: &'a Proxy, vpc: &str) -> Self {
        Self { proxy, vpc: vpc.to_owned() }
    }

    /// Adds the inbound rule that AWS's default security groups have, and those of moto lack: all traffic from itself.
    fn add_original_rule(&self) {
        let group = &self.defaults()["default_security_group"];
        let from_itself = json!({ "IpProtocol": "-1", "UserIdGroupPairs": [{ "GroupId": group }] });
        let rules = json!({ "GroupId": group, "IpPermissions": [from_itself] });
        self.ec2("authorize_security_group_ingress", rules);
    }

    fn name(&self, id: &str, name: &str) {
        self.tag(id, &[("Name", name), ("Owner", "platform")]);
    }

    /// Adds tags to an object. Unlike AWS, the emulator also accepts those with the prefix `aws:`.
    pub(crate) fn tag(&self, id: &str, tags: &[(&str, &str)]) {
        let tags: Vec<Value> = tags.iter().map(|(key, value)| json!({ "Key": key, "Value": value })).collect();
        self.ec2("create_tags", json!({ "Resources": [id], "Tags": tags }));
    }

    /// Adds the tags of a CloudFormation stack to all these objects.
    pub(crate) fn add_to_stack(&self, objects: &Objects, stack: &str) {
        let stack_id = format!("arn:aws:cloudformation:us-east-1:{}:stack/{stack}/1", self.proxy.account().id);
        for (key, id) in objects {
            let tags = [("stack-name", stack), ("stack-id", &stack_id), ("logical-id", key)];
            let tags = tags.map(|(name, value)| (format!("aws:cloudformation:{name}"), value));
            self.tag(id, &tags.each_ref().map(|(key, value)| (key.as_str(), *value)));
        }
    }

    pub(crate) fn internet_gateway(&self) -> String {
        let gateway = self.ec2("create_internet_gateway", json!({}));
        let id = text(&gateway["InternetGateway"]["InternetGatewayId"]);
        self.ec2("attach_internet_gateway", json!({ "InternetGatewayId": id, "VpcId": self.vpc }));
        id
    }

    pub(crate) fn subnet(&self, name: &str, block: &str, zone: &str) -> String {
        let subnet = json!({ "VpcId": self.vpc, "CidrBlock": block, "AvailabilityZone": zone });
        let id = text(&self.ec2("create_subnet", subnet)["Subnet"]["SubnetId"]);
        self.name(&id, name);
        id
    }

    /// A secondary range of the VPC, through the proxy, which adds the local routes of AWS.
    pub(crate) fn range(&self, range: &str) -> String {
        let arguments = json!({ "VpcId": self.vpc, "CidrBlock": range });
        let created = self.proxy.boto("ec2", "associate_vpc_cidr_block", arguments);
        self.proxy.boto("ec2", "describe_vpcs", json!({ "VpcIds": [self.vpc] }));
        text(&created["CidrBlockAssociation"]["AssociationId"])
    }

    /// A route table with a default route to this target, for these subnets.
    pub(crate) fn table(&self, name: &str, target: Option<(&str, &str)>, subnets: &[&str]) -> String {
        let created = self.ec2("create_route_table", json!({ "VpcId": self.vpc }));
        let id = text(&created["RouteTable"]["RouteTableId"]);
        self.name(&id, name);
        if let Some(target) = target {
            self.default_route(&id, target);
        }
        for subnet in subnets {
            self.associate(&id, subnet);
        }
        id
    }

    /// The main route table of the VPC, with a default route to this target.
    pub(crate) fn main_table(&self, target: (&str, &str)) -> String {
        let filters = json!([
            { "Name": "vpc-id", "Values": [self.vpc] },
            { "Name": "association.main", "Values": ["true"] },
        ]);
        let described = self.ec2("describe_route_tables", json!({ "Filters": filters }));
        let id = text(&described["RouteTables"][0]["RouteTableId"]);
        self.default_route(&id, target);
        id
    }

    fn default_route(&self, table: &str, (kind, target): (&str, &str)) {
        self.ec2("create_route", json!({ "RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0", kind: target }));
    }

    pub(crate) fn associate(&self, table: &str, subnet: &str) {
        self.ec2("associate_route_table", json!({ "RouteTableId": table, "SubnetId": subnet }));
    }

    /// A NAT gateway, and the allocation ID of its address.
    pub(crate) fn nat_gateway(&self, subnet: &str) -> (String, String) {
        let address = text(&self.ec2("allocate_address", json!({ "Domain": "vpc" }))["AllocationId"]);
        let created = self.ec2("create_nat_gateway", json!({ "SubnetId": subnet, "AllocationId": address }));
        (text(&created["NatGateway"]["NatGatewayId"]), address)
    }

    /// The default security group and the default network ACL, which AWS has created with the VPC.
    pub(crate) fn defaults(&self) -> Objects {
        let filtered = |name: &str, value: &str| json!({ "Filters": [{ "Name": "vpc-id", "Values": [self.vpc] }, { "Name": name, "Values": [value] }] });
        let groups = self.ec2("describe_security_groups", filtered("group-name", "default"));
        let acls = self.ec2("describe_network_acls", filtered("default", "true"));
        Objects::from([
            ("default_security_group".into(), text(&groups["SecurityGroups"][0]["GroupId"])),
            ("default_network_acl".into(), text(&acls["NetworkAcls"][0]["NetworkAclId"])),
        ])
    }

    fn ec2(&self, method: &str, arguments: Value) -> Value {
        ec2(self.proxy, method, arguments)
    }
}

/// A call that bypasses the proxy.
fn ec2(proxy: &Proxy, method: &str, arguments: Value) -> Value {
    proxy.account().boto("ec2", method, arguments)
}

/// A network with a NAT gateway and a private route table in each AZ.
pub(crate) fn one_nat_gateway_per_az(proxy: &Proxy) -> (String, Objects) {
    let foreign = ForeignNetwork::new(proxy, "legacy");
    let gateway = foreign.internet_gateway();
    let mut objects = foreign.defaults();
    objects.extend([("vpc".into(), foreign.vpc.clone()), ("internet_gateway".into(), gateway.clone())]);
    let mut public = Vec::new();
    for (index, zone) in ["us-east-1a", "us-east-1b"].iter().enumerate() {
        let subnet = foreign.subnet(&format!("legacy-public-{zone}"), &format!("10.0.{}.0/24", 101 + index), zone);
        objects.insert(format!("subnet.public.{index}"), subnet.clone());
        let (nat, _) = foreign.nat_gateway(&subnet);
        public.push(subnet);
        let subnet = foreign.subnet(&format!("legacy-private-{zone}"), &format!("10.0.{}.0/24", 1 + index), zone);
        let table = foreign.table(&format!("legacy-private-{zone}"), Some(("NatGatewayId", &nat)), &[&subnet]);
        objects.insert(format!("subnet.private_app.{index}"), subnet);
        objects.insert(format!("route_table.private_app.{index}"), table);
        objects.insert(format!("nat_gateway.{index}"), nat);
    }
    let public: Vec<&str> = public.iter().map(String::as_str).collect();
    objects.insert("route_table.public".into(), foreign.table("legacy-public", Some(("GatewayId", &gateway)), &public));
    (foreign.vpc, objects)
}

/// All tags in the account except those of this provider, by object.
pub(crate) fn foreign_tags(account: &Account) -> BTreeMap<String, Value> {
    let described = account.boto("ec2", "describe_tags", json!({}));
    let mut tags = BTreeMap::new();
    for tag in described["Tags"].as_array().expect("a list") {
        let (id, key) = (text(&tag["ResourceId"]), text(&tag["Key"]));
        if !key.starts_with("fgw:") {
            tags.insert(format!("{id} {key}"), tag["Value"].clone());
        }
    }
    tags
}
