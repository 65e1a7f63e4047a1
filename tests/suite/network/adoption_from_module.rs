//! The adoption of a network of a module in the same state, with resources of hashicorp/aws that use the outputs of
//! the module, and then those of the adopted network. No plan changes them. They run with hashicorp/aws if
//! `FGW_BENCH_AWS_PROVIDER` names the folder of its binary. Otherwise, boto3 builds an equal network, and the outputs
//! in the plan of the adoption are compared with its objects.

use std::time::Duration;

use serde_json::{Value, json};

use super::{THIS, TestEnv, text};
use crate::support::adoption::{generate, install_hashicorp_aws, removed, without_adopt};
use crate::support::foreign::network::{Objects, one_nat_gateway_per_az};

/// A module with the names and outputs of terraform-aws-modules/vpc. It has a NAT gateway and a private route table in
/// each AZ.
const MODULE: &str = r#"
locals {
  azs = ["us-east-1a", "us-east-1b"]
}

resource "aws_vpc" "this" {
  cidr_block = "10.0.0.0/16"
  tags       = { Name = "legacy" }
}

resource "aws_internet_gateway" "this" {
  vpc_id = aws_vpc.this.id
  tags   = { Name = "legacy" }
}

resource "aws_subnet" "public" {
  count             = 2
  vpc_id            = aws_vpc.this.id
  cidr_block        = cidrsubnet("10.0.0.0/16", 8, 101 + count.index)
  availability_zone = local.azs[count.index]
  tags              = { Name = "legacy-public-${local.azs[count.index]}" }
}

resource "aws_subnet" "private" {
  count             = 2
  vpc_id            = aws_vpc.this.id
  cidr_block        = cidrsubnet("10.0.0.0/16", 8, 1 + count.index)
  availability_zone = local.azs[count.index]
  tags              = { Name = "legacy-private-${local.azs[count.index]}" }
}

resource "aws_route_table" "public" {
  vpc_id = aws_vpc.this.id
  tags   = { Name = "legacy-public" }
}

resource "aws_route_table" "private" {
  count  = 2
  vpc_id = aws_vpc.this.id
  tags   = { Name = "legacy-private-${local.azs[count.index]}" }
}

resource "aws_route_table_association" "public" {
  count          = 2
  subnet_id      = aws_subnet.public[count.index].id
  route_table_id = aws_route_table.public.id
}

resource "aws_route_table_association" "private" {
  count          = 2
  subnet_id      = aws_subnet.private[count.index].id
  route_table_id = aws_route_table.private[count.index].id
}

resource "aws_eip" "nat" {
  count  = 2
  domain = "vpc"
}

resource "aws_nat_gateway" "this" {
  count         = 2
  allocation_id = aws_eip.nat[count.index].id
  subnet_id     = aws_subnet.public[count.index].id
  depends_on    = [aws_internet_gateway.this]
}

resource "aws_route" "public" {
  route_table_id         = aws_route_table.public.id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.this.id
}

resource "aws_route" "private" {
  count                  = 2
  route_table_id         = aws_route_table.private[count.index].id
  destination_cidr_block = "0.0.0.0/0"
  nat_gateway_id         = aws_nat_gateway.this[count.index].id
}

output "vpc_id" {
  value = aws_vpc.this.id
}

output "azs" {
  value = local.azs
}

output "public_subnets" {
  value = aws_subnet.public[*].id
}

output "private_subnets" {
  value = aws_subnet.private[*].id
}

output "private_subnet_arns" {
  value = aws_subnet.private[*].arn
}

output "private_route_table_ids" {
  value = aws_route_table.private[*].id
}
"#;

/// The expressions through which other resources use a network.
struct Outputs {
    vpc: &'static str,
    public: &'static str,
    private: &'static str,
    /// A map from the names of the AZs.
    private_by_zone: &'static str,
    private_arns: &'static str,
    private_route_tables: &'static str,
}

const OF_MODULE: Outputs = Outputs {
    vpc: "module.vpc.vpc_id",
    public: "module.vpc.public_subnets",
    private: "module.vpc.private_subnets",
    private_by_zone: "zipmap(module.vpc.azs, module.vpc.private_subnets)",
    private_arns: "module.vpc.private_subnet_arns",
    private_route_tables: "module.vpc.private_route_table_ids",
};

const OF_FGW: Outputs = Outputs {
    vpc: "fgw_four_tier_vpc.this.vpc_id",
    public: "fgw_four_tier_vpc.this.public_subnet_ids",
    private: "fgw_four_tier_vpc.this.private_app_subnet_ids",
    private_by_zone: "{ for it in fgw_four_tier_vpc.this.private_app_subnets : it.availability_zone => it.id }",
    private_arns: "fgw_four_tier_vpc.this.private_app_subnet_arns",
    private_route_tables: "fgw_four_tier_vpc.this.private_app_route_table_ids",
};

/// An instance, a load balancer, a security group, and a network interface in each AZ. Each of them is replaced if its
/// network, or the key of its instance, changes.
fn dependents(network: &Outputs) -> String {
    let Outputs { vpc, public, private, private_by_zone, private_arns, private_route_tables } = network;
    format!(
        r#"
resource "aws_security_group" "app" {{
  vpc_id      = {vpc}
  description = "app"
}}

resource "aws_instance" "app" {{
  ami                    = "ami-12c6146b"
  instance_type          = "t3.micro"
  subnet_id              = {private}[1]
  vpc_security_group_ids = [aws_security_group.app.id]
}}

resource "aws_lb" "web" {{
  name            = "web"
  subnets         = {public}
  security_groups = [aws_security_group.app.id]
}}

resource "aws_network_interface" "app" {{
  for_each  = {private_by_zone}
  subnet_id = each.value
}}

resource "aws_vpc_endpoint" "s3" {{
  vpc_id          = {vpc}
  service_name    = "com.amazonaws.us-east-1.s3"
  route_table_ids = {private_route_tables}
}}

output "private_arns" {{
  value = {private_arns}
}}
"#
    )
}

/// The number of resources in [`dependents`].
const DEPENDENTS: usize = 6;

#[test]
fn outputs_of_an_adopted_network_change_no_dependents() {
    let mut env = TestEnv::with_terraform();
    // hashicorp/aws waits a minute for a load balancer.
    env.workspace.within(Duration::from_secs(300));
    if !install_hashicorp_aws(&env.workspace, &env.proxy, &["ec2", "elbv2"]) {
        let (vpc, objects) = one_nat_gateway_per_az(&env.proxy);
        generate(&env.workspace, THIS, &vpc, "");
        assert_known_and_equal(&env, &env.workspace.plan_json(&[]), &objects);
        env.workspace.apply_plan().succeeded();
        env.workspace.assert_nothing_to_do();
        return;
    }
    let workspace = &env.workspace;
    std::fs::create_dir(workspace.path().join("vpc")).expect("the directory is ours");
    workspace.write("vpc/main.tf", MODULE);
    let before = format!("module \"vpc\" {{\n  source = \"./vpc\"\n}}\n{}", dependents(&OF_MODULE));
    workspace.config(&before);
    workspace.run(&["get", "-no-color"]).succeeded();
    workspace.apply(&[]).succeeded();
    workspace.assert_nothing_to_do();
    let objects = objects_of_module(&env);

    let generated = generate(workspace, THIS, &objects["vpc"], &before);
    let import = format!("import {{\n  to = {THIS}\n  id = \"{}\"\n}}\n", objects["vpc"]);
    workspace.config(&format!("{import}{}{}", removed("module.vpc"), dependents(&OF_FGW)));
    env.proxy.clear_calls();
    let plan = workspace.plan_json(&[]);
    assert_known_and_equal(&env, &plan, &objects);
    assert_dependents_do_not_change(&plan);
    let applied = workspace.apply_plan();
    assert!(applied.says("1 imported, 0 added, 1 changed, 0 destroyed"), "{applied}");
    // The default security group and the default network ACL are adopted too.
    assert_eq!(env.calls(), format!("CreateTags {}", objects.len() + 2));

    // The blocks have served their purpose.
    workspace.config(&dependents(&OF_FGW));
    workspace.write("generated.tf", &without_adopt(&generated));
    assert_dependents_do_not_change(&workspace.plan_json(&[]));
    workspace.assert_nothing_to_do();
    workspace.destroy().succeeded();
    env.proxy.account().assert_nothing_of_ours_is_left();
}

/// The objects of the module in the state, by the keys that they get.
fn objects_of_module(env: &TestEnv) -> Objects {
    let state = env.workspace.state();
    let resources = state.0["resources"].as_array().expect("a list");
    let mut objects = Objects::new();
    for (kind, name, slot) in [
        ("aws_vpc", "this", "vpc"),
        ("aws_internet_gateway", "this", "internet_gateway"),
        ("aws_subnet", "public", "subnet.public"),
        ("aws_subnet", "private", "subnet.private_app"),
        ("aws_route_table", "public", "route_table.public"),
        ("aws_route_table", "private", "route_table.private_app"),
        ("aws_nat_gateway", "this", "nat_gateway"),
    ] {
        let is_it = |it: &&Value| it["module"] == "module.vpc" && it["type"] == kind && it["name"] == name;
        let resource = resources.iter().find(is_it).expect("the module has created it");
        for instance in resource["instances"].as_array().expect("a list") {
            let key = instance["index_key"].as_u64().map_or_else(|| slot.to_owned(), |index| format!("{slot}.{index}"));
            objects.insert(key, text(&instance["attributes"]["id"]));
        }
    }
    objects
}

/// Panics unless all outputs of the network in the plan of an adoption are known, and those that other resources use
/// are these objects, in their order.
fn assert_known_and_equal(env: &TestEnv, plan: &Value, objects: &Objects) {
    let changes = plan["resource_changes"].as_array().expect("a list");
    let change = &changes.iter().find(|it| it["address"] == THIS).expect("the plan has the network")["change"];
    assert_eq!(change["actions"], json!(["update"]));
    let unknown: Vec<&String> = change["after_unknown"]
        .as_object()
        .expect("a map")
        .iter()
        .filter(|(_, value)| value.to_string().contains("true"))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(unknown, ["unmanaged_objects"], "no resource depends on what only a read finds");
    let after = &change["after"];
    let of = |slot: &str| -> Vec<&String> {
        objects.iter().filter(|(key, _)| **key == slot || key.starts_with(&format!("{slot}."))).map(|it| it.1).collect()
    };
    for (output, slot) in [
        ("public_subnet_ids", "subnet.public"),
        ("private_app_subnet_ids", "subnet.private_app"),
        ("public_route_table_ids", "route_table.public"),
        ("private_app_route_table_ids", "route_table.private_app"),
        ("nat_gateway_ids", "nat_gateway"),
    ] {
        assert_eq!(after[output], json!(of(slot)), "{output}");
    }
    assert_eq!(after["id"], json!(objects["vpc"]));
    assert_eq!(after["vpc_id"], json!(objects["vpc"]));
    assert_eq!(after["internet_gateway_id"], json!(objects["internet_gateway"]));
    assert_eq!(after["availability_zones"], json!(["us-east-1a", "us-east-1b"]));
    let (public_table, account) = (&objects["route_table.public"], &env.proxy.account().id);
    for (index, zone) in ["us-east-1a", "us-east-1b"].iter().enumerate() {
        for (tier, name, table) in [
            ("public", "public", public_table),
            ("private_app", "private-app", &objects[&format!("route_table.private_app.{index}")]),
        ] {
            let id = &objects[&format!("subnet.{tier}.{index}")];
            let subnet = &after[format!("{tier}_subnets")][format!("legacy-{name}-{index}")];
            assert_eq!(subnet["id"], json!(id), "{after}");
            assert_eq!(subnet["availability_zone"], json!(zone));
            assert_eq!(subnet["route_table_id"], json!(table));
            let arn = json!(format!("arn:aws:ec2:us-east-1:{account}:subnet/{id}"));
            assert_eq!((&subnet["arn"], &after[format!("{tier}_subnet_arns")][index]), (&arn, &arn));
        }
    }
}

/// Panics if a plan changes a resource of hashicorp/aws or an output.
fn assert_dependents_do_not_change(plan: &Value) {
    let changes = plan["resource_changes"].as_array().expect("a list").iter();
    let of_aws =
        changes.filter(|it| it["mode"] == "managed" && it["module_address"].is_null() && it["address"] != THIS);
    let actions: Vec<(&Value, &Value)> = of_aws.map(|it| (&it["address"], &it["change"]["actions"])).collect();
    assert_eq!(actions.len(), DEPENDENTS, "{actions:?}");
    assert!(actions.iter().all(|(_, actions)| **actions == json!(["no-op"])), "{actions:?}");
    // The output of the module is a tuple, so that its action may be an update although the values are the same.
    let output = &plan["output_changes"]["private_arns"];
    assert_eq!((&output["after"], &output["after_unknown"]), (&output["before"], &json!(false)));
}
