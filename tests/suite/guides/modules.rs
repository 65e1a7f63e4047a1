//! Tests of the guide on coming from modules: the attributes that it names exist. A network of a module that has the
//! ownership tags, as after an adoption whose state was lost, is imported with them.

use std::collections::{BTreeMap, BTreeSet};

use fgw::plugin::{Attribute, AttributeType, Provider as _};
use fgw::provider::Fgw;
use serde_json::{Value, json};

use super::Guide;
use crate::support::proxy::Proxy;
use crate::support::terraform::Workspace;

const THIS: &str = "fgw_four_tier_vpc.this";

/// The names of all attributes of each resource, nested ones included.
fn attributes() -> BTreeMap<&'static str, BTreeSet<String>> {
    fn names(attributes: &[Attribute], into: &mut BTreeSet<String>) {
        for attribute in attributes {
            into.insert(attribute.name.clone());
            if let AttributeType::Nested(_, nested) = &attribute.kind {
                names(nested, into);
            }
        }
    }
    let of = |resource: &std::sync::Arc<dyn fgw::plugin::Resource>| {
        let mut all = BTreeSet::new();
        names(&resource.schema().attributes, &mut all);
        (resource.type_name(), all)
    };
    Fgw::default().resources().iter().map(of).collect()
}

/// The texts in backticks.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn attributes_in_the_guide_for_modules_exist() {
    let guide = Guide::open("coming-from-modules.md");
    let attributes = attributes();
    let mut found = 0;
    let sections = guide
        .text
        .split("\n## ")
        .filter(|section| section.contains("\n| Module | Here |") || section.contains("\n| Resource | Here |"));
    for section in sections {
        let heading = section.lines().next().unwrap_or_default();
        let resource = attributes.keys().find(|name| heading.ends_with(**name));
        let known = &attributes[resource.unwrap_or_else(|| panic!("{heading:?} does not end with a resource"))];
        for row in section.lines().filter(|line| line.starts_with("| `")) {
            let here = row.split('|').nth(2).unwrap_or_default();
            for name in code(here) {
                assert!(known.contains(name), "{heading}: there is no attribute {name}\n{row}");
                found += 1;
            }
        }
    }
    assert!(found > 100, "the tables are not found: {found} names");
}

/// A network as a module creates it: two AZs, with a public and a private subnet in each.
struct ModuleNetwork {
    proxy: Proxy,
    vpc: String,
    /// IDs by the keys of the objects.
    objects: BTreeMap<String, Vec<String>>,
}

impl ModuleNetwork {
    fn ec2(&self, method: &str, arguments: Value) -> Value {
        self.proxy.boto("ec2", method, arguments)
    }

    fn record(&mut self, key: &str, id: &Value) -> String {
        let id = id.as_str().expect("an id").to_owned();
        self.objects.entry(key.into()).or_default().push(id.clone());
        id
    }

    /// Creates a network with this number of NAT gateways and of private route tables.
    fn with_nat_gateways(count: usize) -> Self {
        let mut it = Self { proxy: Proxy::moto(), vpc: String::new(), objects: BTreeMap::new() };
        let vpc = it.ec2("create_vpc", json!({ "CidrBlock": "10.0.0.0/16" }));
        it.vpc = it.record("vpc", &vpc["Vpc"]["VpcId"]);
        it.ec2("modify_vpc_attribute", json!({ "VpcId": it.vpc, "EnableDnsHostnames": { "Value": true } }));
        let gateway = it.ec2("create_internet_gateway", json!({}));
        let gateway = it.record("internet_gateway", &gateway["InternetGateway"]["InternetGatewayId"]);
        it.ec2("attach_internet_gateway", json!({ "InternetGatewayId": gateway, "VpcId": it.vpc }));
        let public = it.table("route_table.public", &json!({ "GatewayId": gateway }));
        let mut private = String::new();
        for (index, zone) in ["us-east-1a", "us-east-1b"].iter().enumerate() {
            let subnet = it.subnet(&format!("subnet.public.{index}"), &format!("10.0.{}.0/24", 101 + index), zone);
            it.associate(&public, &subnet);
            if index < count {
                let address = it.ec2("allocate_address", json!({ "Domain": "vpc" }));
                let address = it.record(&format!("eip.{index}"), &address["AllocationId"]);
                let nat = it.ec2("create_nat_gateway", json!({ "SubnetId": subnet, "AllocationId": address }));
                let nat = it.record(&format!("nat_gateway.{index}"), &nat["NatGateway"]["NatGatewayId"]);
                private = it.table(&format!("route_table.private_app.{index}"), &json!({ "NatGatewayId": nat }));
            }
            let subnet = it.subnet(&format!("subnet.private_app.{index}"), &format!("10.0.{}.0/24", 1 + index), zone);
            it.associate(&private, &subnet);
        }
        it
    }

    fn subnet(&mut self, key: &str, block: &str, zone: &str) -> String {
        let subnet = json!({ "VpcId": self.vpc, "CidrBlock": block, "AvailabilityZone": zone });
        let created = self.ec2("create_subnet", subnet);
        self.record(key, &created["Subnet"]["SubnetId"])
    }

    fn table(&mut self, key: &str, target: &Value) -> String {
        let created = self.ec2("create_route_table", json!({ "VpcId": self.vpc }));
        let id = self.record(key, &created["RouteTable"]["RouteTableId"]);
        let mut route = json!({ "RouteTableId": id, "DestinationCidrBlock": "0.0.0.0/0" });
        for (name, value) in target.as_object().expect("a map") {
            route[name] = value.clone();
        }
        self.ec2("create_route", route);
        id
    }

    fn associate(&self, table: &str, subnet: &str) {
        self.ec2("associate_route_table", json!({ "RouteTableId": table, "SubnetId": subnet }));
    }

    /// Sets the ownership tags.
    fn tag(&self) {
        for (key, ids) in &self.objects {
            let tags = match key.as_str() {
                "vpc" => json!([{ "Key": "fgw:resource", "Value": "four_tier_vpc/main" }]),
                key => json!([
                    { "Key": "fgw:resource", "Value": format!("four_tier_vpc/{}", self.vpc) },
                    { "Key": "fgw:object", "Value": key },
                ]),
            };
            self.ec2("create_tags", json!({ "Resources": ids, "Tags": tags }));
        }
    }

    /// Imports the network and applies. Returns the actions of the mutating calls, except for those on tags.
    fn import(&self, nat_gateways: usize) -> (Workspace, Vec<String>) {
        let workspace = Workspace::new(&self.proxy);
        workspace.config(&format!(
            "resource \"fgw_four_tier_vpc\" \"this\" {{\n  vpc_name = \"main\"\n  cidr_block = \"10.0.0.0/16\"\n  \
             num_availability_zones = 2\n  num_nat_gateways = {nat_gateways}\n  \
             create_private_persistence_subnets = false\n  create_vpc_endpoints = false\n  \
             enable_default_security_group = false\n  public_subnet_bits = 8\n  private_subnet_bits = 8\n}}\n"
        ));
        workspace.import(THIS, &self.vpc).succeeded();
        self.proxy.clear_calls();
        workspace.apply(&[]).succeeded();
        let calls = self.proxy.mutations().into_iter().map(|record| record.call.action);
        let calls: Vec<String> = calls.filter(|action| !action.ends_with("Tags")).collect();
        workspace.assert_nothing_to_do();
        (workspace, calls)
    }
}

#[test]
fn network_with_a_nat_gateway_per_az_is_imported_unchanged() {
    let network = ModuleNetwork::with_nat_gateways(2);
    network.tag();
    let (workspace, calls) = network.import(2);
    assert_eq!(calls, [""; 0], "nothing is created, moved or deleted");
    let recorded = workspace.state().attribute(THIS, "aws_objects").clone();
    for (key, ids) in &network.objects {
        assert_eq!(recorded[key], json!(ids[0]), "{key} in {recorded}");
    }
    workspace.destroy().succeeded();
    network.proxy.account().assert_nothing_of_ours_is_left();
}

#[test]
fn import_gives_each_private_subnet_its_own_route_table() {
    let network = ModuleNetwork::with_nat_gateways(1);
    network.tag();
    let (workspace, mut calls) = network.import(1);
    // In any order: the subnet that moves may have no default route for a moment.
    calls.sort();
    assert_eq!(calls, ["CreateRoute", "CreateRouteTable", "ReplaceRouteTableAssociation"]);
    workspace.destroy().succeeded();
    network.proxy.account().assert_nothing_of_ours_is_left();
}
