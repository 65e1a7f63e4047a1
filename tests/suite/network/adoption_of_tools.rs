//! Adoptions of networks in the shapes that other tools build, with the names and tags of these tools.

use serde_json::json;

use super::adoption::assert_is_adopted;
use super::{TestEnv, text};
use crate::support::foreign::network::{ForeignNetwork, Objects, one_nat_gateway_per_az};

/// The warning about objects that CloudFormation still manages.
const OF_STACKS: &str = "Objects belong to CloudFormation stacks";

#[test]
fn a_network_of_aws_cdk_is_adopted_with_a_warning() {
    let (applied, objects) = assert_is_adopted(cdk);
    assert!(applied.says(OF_STACKS), "{applied}");
    // AWS creates the defaults with the VPC, so they are in no stack.
    for (key, id) in objects.into_iter().filter(|(key, _)| !key.starts_with("default_")) {
        assert!(applied.says(&format!("{key} {id}: stack Shop")), "{applied}");
    }
}

#[test]
fn a_network_of_eksctl_is_adopted_with_a_warning() {
    let (applied, objects) = assert_is_adopted(eksctl);
    assert!(applied.says(OF_STACKS), "{applied}");
    assert!(applied.says(&format!("vpc {}: stack eksctl-shop-cluster", objects["vpc"])), "{applied}");
}

#[test]
fn a_network_with_the_names_of_gruntwork_is_adopted() {
    let (applied, _) = assert_is_adopted(gruntwork);
    assert!(!applied.says(OF_STACKS), "{applied}");
}

#[test]
fn interface_endpoints_are_adopted_with_their_groups() {
    let (applied, _) = assert_is_adopted(with_endpoints);
    assert!(!applied.says("main: interface_endpoints"), "nothing to warn of: {applied}");
}

/// A network with two interface endpoints, as the module vpc-endpoints of terraform-aws-modules creates them, in the
/// default group of the VPC. One is only in one AZ, and has a policy and no private names.
fn with_endpoints(env: &TestEnv) -> (String, Objects) {
    let (vpc, mut objects) = one_nat_gateway_per_az(&env.proxy);
    for attribute in ["EnableDnsSupport", "EnableDnsHostnames"] {
        env.ec2("modify_vpc_attribute", json!({ "VpcId": vpc, attribute: { "Value": true } }));
    }
    let group = objects["default_security_group"].clone();
    let subnets = [&objects["subnet.private_app.0"], &objects["subnet.private_app.1"]].map(Clone::clone);
    let statement = json!({ "Effect": "Allow", "Principal": "*", "Action": "kms:Decrypt", "Resource": "*" });
    let policy = json!({ "Version": "2012-10-17", "Statement": [statement] }).to_string();
    for (label, subnets, more) in [
        ("ecr.api", &subnets[..], json!({ "PrivateDnsEnabled": true })),
        ("kms", &subnets[..1], json!({ "PrivateDnsEnabled": false, "PolicyDocument": policy })),
    ] {
        let mut endpoint = json!({
            "VpcId": vpc, "VpcEndpointType": "Interface", "ServiceName": format!("com.amazonaws.us-east-1.{label}"),
            "SubnetIds": subnets, "SecurityGroupIds": [group],
            "TagSpecifications": [{ "ResourceType": "vpc-endpoint", "Tags": [{ "Key": "Name", "Value": label }] }],
        });
        for (name, value) in more.as_object().expect("an object") {
            endpoint[name] = value.clone();
        }
        let created = env.proxy.boto("ec2", "create_vpc_endpoint", endpoint);
        objects.insert(format!("interface_endpoint.{label}"), text(&created["VpcEndpoint"]["VpcEndpointId"]));
    }
    (vpc, objects)
}

/// The construct `Vpc` of AWS CDK: public, private and isolated subnets, each with a route table of its own, and a NAT
/// gateway in each AZ. Numbers in names start at 1. AWS documents the shape and the tags in the reference of
/// `aws-cdk-lib.aws_ec2`.
fn cdk(env: &TestEnv) -> (String, Objects) {
    let foreign = ForeignNetwork::new(&env.proxy, "Shop/Vpc");
    env.ec2("modify_vpc_attribute", json!({ "VpcId": foreign.vpc, "EnableDnsHostnames": { "Value": true } }));
    let gateway = foreign.internet_gateway();
    foreign.tag(&gateway, &[("Name", "Shop/Vpc")]);
    let mut objects =
        Objects::from([("vpc".into(), foreign.vpc.clone()), ("internet_gateway".into(), gateway.clone())]);
    for (index, zone) in ["us-east-1a", "us-east-1b"].iter().enumerate() {
        let mut subnet = |kind: &str, tier: &str, target: Option<(&str, &str)>, block: usize| {
            let name = format!("Shop/Vpc/{kind}Subnet{}", index + 1);
            let id = foreign.subnet(&name, &format!("10.0.{}.0/19", 32 * (block + index)), zone);
            foreign.tag(&id, &[("aws-cdk:subnet-type", kind), ("aws-cdk:subnet-name", kind)]);
            objects.insert(format!("route_table.{tier}.{index}"), foreign.table(&name, target, &[&id]));
            objects.insert(format!("subnet.{tier}.{index}"), id.clone());
            id
        };
        let public = subnet("Public", "public", Some(("GatewayId", &gateway)), 0);
        let attribute = json!({ "SubnetId": public, "MapPublicIpOnLaunch": { "Value": true } });
        env.ec2("modify_subnet_attribute", attribute);
        let (nat, _) = foreign.nat_gateway(&public);
        foreign.tag(&nat, &[("Name", &format!("Shop/Vpc/PublicSubnet{}", index + 1))]);
        subnet("Private", "private_app", Some(("NatGatewayId", &nat)), 2);
        subnet("Isolated", "private_persistence", None, 4);
        objects.insert(format!("nat_gateway.{index}"), nat);
    }
    foreign.add_to_stack(&objects, "Shop");
    objects.extend(foreign.defaults());
    (foreign.vpc, objects)
}

/// A cluster network of eksctl: the roles in the tags of Kubernetes are the only words that tell the tiers, one NAT
/// gateway, one public route table, and a private one in each AZ.
fn eksctl(env: &TestEnv) -> (String, Objects) {
    let stack = "eksctl-shop-cluster";
    let foreign = ForeignNetwork::new(&env.proxy, &format!("{stack}/VPC"));
    env.ec2("modify_vpc_attribute", json!({ "VpcId": foreign.vpc, "EnableDnsHostnames": { "Value": true } }));
    let gateway = foreign.internet_gateway();
    let mut objects =
        Objects::from([("vpc".into(), foreign.vpc.clone()), ("internet_gateway".into(), gateway.clone())]);
    let zones = ["us-east-1b", "us-east-1c", "us-east-1d"];
    let mut subnet = |kind: &str, tier: &str, index: usize, block: usize| {
        let zone = zones[index].to_uppercase().replace('-', "");
        let name = format!("{stack}/Subnet{kind}{zone}");
        let id = foreign.subnet(&name, &format!("10.0.{}.0/19", 32 * block), zones[index]);
        objects.insert(format!("subnet.{tier}.{index}"), id.clone());
        id
    };
    let public: Vec<String> = (0..zones.len()).map(|index| subnet("Public", "public", index, index)).collect();
    let private: Vec<String> =
        (0..zones.len()).map(|index| subnet("Private", "private_app", index, 3 + index)).collect();
    for id in &public {
        foreign.tag(id, &[("kubernetes.io/role/elb", "1")]);
        env.ec2("modify_subnet_attribute", json!({ "SubnetId": id, "MapPublicIpOnLaunch": { "Value": true } }));
    }
    let (nat, _) = foreign.nat_gateway(&public[0]);
    for (index, id) in private.iter().enumerate() {
        foreign.tag(id, &[("kubernetes.io/role/internal-elb", "1")]);
        let name = format!("{stack}/PrivateRouteTable{index}");
        let table = foreign.table(&name, Some(("NatGatewayId", &nat)), &[id]);
        objects.insert(format!("route_table.private_app.{index}"), table);
    }
    let public: Vec<&str> = public.iter().map(String::as_str).collect();
    let table = foreign.table(&format!("{stack}/PublicRouteTable"), Some(("GatewayId", &gateway)), &public);
    objects.extend([("nat_gateway.0".into(), nat), ("route_table.public".into(), table)]);
    foreign.add_to_stack(&objects, stack);
    objects.extend(foreign.defaults());
    (foreign.vpc, objects)
}

/// The names of the VPC modules of Gruntwork. Their numbers give the AZs their indices, against the order of the names
/// of the AZs. There is a route table for each private subnet, and there are gateway endpoints.
fn gruntwork(env: &TestEnv) -> (String, Objects) {
    let foreign = ForeignNetwork::new(&env.proxy, "shop");
    let gateway = foreign.internet_gateway();
    let mut objects =
        Objects::from([("vpc".into(), foreign.vpc.clone()), ("internet_gateway".into(), gateway.clone())]);
    let (mut public, mut tables) = (Vec::new(), Vec::new());
    for (index, zone) in ["us-east-1c", "us-east-1a"].iter().enumerate() {
        let subnet = |tier: &str, block: usize| {
            foreign.subnet(&format!("shop-{tier}-{index}"), &format!("10.0.{}.0/21", 8 * (block + index)), zone)
        };
        let subnets = [subnet("public", 0), subnet("private-app", 8), subnet("private-persistence", 16)];
        let (nat, _) = foreign.nat_gateway(&subnets[0]);
        let app = foreign.table(&format!("shop-private-app-{index}"), Some(("NatGatewayId", &nat)), &[&subnets[1]]);
        let persistence = foreign.table(&format!("shop-private-persistence-{index}"), None, &[&subnets[2]]);
        tables.extend([app.clone(), persistence.clone()]);
        public.push(subnets[0].clone());
        for (tier, id) in ["public", "private_app", "private_persistence"].iter().zip(subnets) {
            objects.insert(format!("subnet.{tier}.{index}"), id);
        }
        objects.extend([
            (format!("nat_gateway.{index}"), nat),
            (format!("route_table.private_app.{index}"), app),
            (format!("route_table.private_persistence.{index}"), persistence),
        ]);
    }
    let public: Vec<&str> = public.iter().map(String::as_str).collect();
    let table = foreign.table("shop-public", Some(("GatewayId", &gateway)), &public);
    tables.push(table.clone());
    objects.insert("route_table.public".into(), table);
    for (key, service) in [("objectstore", "s3"), ("keyvalue", "dynamodb")] {
        let endpoint = json!({ "VpcId": foreign.vpc, "ServiceName": format!("com.amazonaws.us-east-1.{service}"),
            "RouteTableIds": tables, "VpcEndpointType": "Gateway" });
        let created = env.ec2("create_vpc_endpoint", endpoint);
        objects.insert(format!("vpc_endpoint.{key}"), text(&created["VpcEndpoint"]["VpcEndpointId"]));
    }
    objects.extend(foreign.defaults());
    (foreign.vpc, objects)
}
