//! The steps of the guide "Adopting a network" for a network of hashicorp/aws in the same state. They run with that
//! provider if `FGW_BENCH_AWS_PROVIDER` names the folder of its binary. Otherwise, boto3 builds the network.

use serde_json::json;

use super::{THIS, TestEnv, text};
use crate::support::adoption::{generate, install_hashicorp_aws, removed, without_adopt};
use crate::support::foreign::network::one_nat_gateway_per_az;

/// The network as a configuration of hashicorp/aws: the addresses of its resources, and their blocks.
const RESOURCES: &[(&str, &str)] = &[
    ("aws_vpc.main", "  cidr_block = \"10.0.0.0/16\"\n  tags = { Name = \"plain\" }"),
    ("aws_internet_gateway.main", "  vpc_id = aws_vpc.main.id"),
    (
        "aws_subnet.public",
        "  vpc_id = aws_vpc.main.id\n  cidr_block = \"10.0.101.0/24\"\n  availability_zone = \"us-east-1a\"\n  tags = { \
         Name = \"plain-public\" }",
    ),
    (
        "aws_subnet.private",
        "  vpc_id = aws_vpc.main.id\n  cidr_block = \"10.0.1.0/24\"\n  availability_zone = \"us-east-1a\"\n  tags = { \
         Name = \"plain-private\" }",
    ),
    ("aws_nat_gateway.main", "  subnet_id = aws_subnet.public.id\n  allocation_id = aws_eip.nat.id"),
    ("aws_route_table.public", "  vpc_id = aws_vpc.main.id"),
    ("aws_route_table.private", "  vpc_id = aws_vpc.main.id"),
    (
        "aws_route.public",
        "  route_table_id = aws_route_table.public.id\n  destination_cidr_block = \"0.0.0.0/0\"\n  gateway_id = \
         aws_internet_gateway.main.id",
    ),
    (
        "aws_route.private",
        "  route_table_id = aws_route_table.private.id\n  destination_cidr_block = \"0.0.0.0/0\"\n  nat_gateway_id = \
         aws_nat_gateway.main.id",
    ),
    (
        "aws_route_table_association.public",
        "  subnet_id = aws_subnet.public.id\n  route_table_id = aws_route_table.public.id",
    ),
    (
        "aws_route_table_association.private",
        "  subnet_id = aws_subnet.private.id\n  route_table_id = aws_route_table.private.id",
    ),
];

/// What stays in the hands of hashicorp/aws: the address of the NAT gateway, and a group in the VPC.
fn staying(vpc: &str) -> String {
    format!(
        "resource \"aws_eip\" \"nat\" {{\n  domain = \"vpc\"\n}}\n\nresource \"aws_security_group\" \"app\" {{\n  vpc_id = \
         {vpc}\n  description = \"app\"\n}}\n"
    )
}

fn resource(address: &str, body: &str) -> String {
    let (kind, name) = address.split_once('.').expect("a type and a name");
    format!("resource \"{kind}\" \"{name}\" {{\n{body}\n}}\n")
}

#[test]
fn a_network_of_hashicorp_aws_is_adopted_in_its_state() {
    let env = TestEnv::with_terraform();
    if !install_hashicorp_aws(&env.workspace, &env.proxy, &["ec2"]) {
        let (vpc, _) = one_nat_gateway_per_az(&env.proxy);
        generate(&env.workspace, THIS, &vpc, "");
        assert!(env.workspace.apply(&[]).says("1 imported, 0 added, 1 changed, 0 destroyed"));
        env.workspace.assert_nothing_to_do();
        return;
    }
    let all: String = RESOURCES.iter().map(|(address, body)| resource(address, body)).collect();
    let before = format!("{all}\n{}", staying("aws_vpc.main.id"));
    env.workspace.config(&before);
    env.workspace.apply(&[]).succeeded();
    let vpc = text(env.workspace.state().attribute("aws_vpc.main", "id"));

    let generated = generate(&env.workspace, THIS, &vpc, &before);
    let removed: String = RESOURCES.iter().map(|(address, _)| removed(address)).collect();
    let import = format!("import {{\n  to = {THIS}\n  id = \"{vpc}\"\n}}\n");
    let staying = staying(&format!("{THIS}.vpc_id"));
    env.workspace.config(&format!("{import}{removed}{staying}"));
    env.proxy.clear_calls();
    let applied = env.workspace.apply(&[]);
    assert!(applied.says("1 imported, 0 added, 1 changed, 0 destroyed"), "{applied}");
    // VPC, internet gateway, two subnets, two route tables, NAT gateway, default security group, default network ACL.
    assert_eq!(env.calls(), "CreateTags 9");
    assert_eq!(env.attribute("num_nat_gateways"), json!(1));

    // The blocks have served their purpose, and the group of hashicorp/aws uses an output.
    env.workspace.config(&staying);
    // With a reference, Terraform releases the address only after the network.
    let address = text(env.workspace.state().attribute("aws_eip.nat", "id"));
    let generated = without_adopt(&generated).replace(&format!("\"{address}\""), "aws_eip.nat.id");
    env.workspace.write("generated.tf", &generated);
    env.workspace.assert_nothing_to_do();
    env.workspace.destroy().succeeded();
    env.proxy.account().assert_nothing_of_ours_is_left();
}
