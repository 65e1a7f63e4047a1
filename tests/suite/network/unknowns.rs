//! Inputs that are known only at apply.

use serde_json::json;

use super::{TestEnv, network};

/// A resource whose output is unknown until it is created or updated.
fn known_at_apply(name: &str, value: &str) -> String {
    format!("resource \"terraform_data\" \"{name}\" {{\n  input = {value}\n}}\n")
}

#[test]
fn a_range_a_name_and_a_tag_known_only_at_apply_work() {
    let env = TestEnv::with_terraform();
    let attributes = "  vpc_name = terraform_data.name.output\n  cidr_block = terraform_data.range.output\n  \
                      num_availability_zones = 2\n  num_nat_gateways = 1\n  custom_tags = { run = terraform_data.run.output }";
    let config = |run: &str| {
        [
            network(attributes),
            known_at_apply("name", "\"late\""),
            known_at_apply("range", "\"10.5.0.0/16\""),
            known_at_apply("run", run),
        ]
        .concat()
    };
    env.workspace.config(&config("\"one\""));
    let plan = env.workspace.plan_json(&[]);
    let change = plan["resource_changes"]
        .as_array()
        .and_then(|changes| changes.iter().find(|change| change["type"] == "fgw_four_tier_vpc"))
        .expect("the network is planned");
    let unknown = &change["change"]["after_unknown"];
    assert_eq!(unknown["aws_objects"]["subnet.private_app.1"], true, "the keys of the objects are known: {unknown}");
    assert_eq!(unknown["public_subnets"], true, "the names of the subnets are unknown: {unknown}");
    assert_eq!(change["change"]["after"]["availability_zones"], json!(["us-east-1a", "us-east-1b"]));

    let created = env.apply();
    for line in [
        "vpc late 10.5.0.0/16 default support=true hostnames=true metrics=false {run=one}",
        "subnet late-private-app-1 us-east-1b use1-az1 10.5.88.0/21 public_ip=false {run=one}",
    ] {
        assert!(created.new.iter().any(|it| it == line), "no {line} in {created:#?}");
    }

    // An update of a tag that is unknown at plan changes that tag and nothing else.
    env.workspace.config(&config("\"two\""));
    let ids = env.attribute("aws_objects");
    let changed = env.apply();
    // VPC, internet gateway, address, NAT gateway, group, two endpoints, six subnets and five tables.
    assert_eq!(changed.calls, "CreateTags 18");
    assert_eq!(env.attribute("aws_objects"), ids);
    assert!(changed.new.iter().all(|line| line.ends_with("{run=two}")), "{changed:#?}");
    env.destroy();
}

#[test]
fn switches_and_counts_known_only_at_apply_work() {
    let env = TestEnv::with_terraform();
    let attributes = "  num_availability_zones = terraform_data.count.output\n  num_nat_gateways = terraform_data.count.output - 1\n  \
                      create_transit_subnets = terraform_data.count.output > 5\n  create_vpc_endpoints = false";
    let config = |count: u32| network(attributes) + &known_at_apply("count", &count.to_string());
    env.workspace.config(&config(1));
    let created = env.apply();
    assert_eq!(created.new.iter().filter(|line| line.starts_with("subnet ")).count(), 3, "{created:#?}");
    env.workspace.config(&config(2));
    let grown = env.apply();
    assert_eq!(grown.new.iter().filter(|line| line.starts_with("subnet ")).count(), 3, "{grown:#?}");
    assert_eq!(env.attribute("nat_gateway_ids").as_array().map(Vec::len), Some(1));
    env.end();
}

#[test]
fn an_address_known_only_at_apply_is_used() {
    let env = TestEnv::with_terraform();
    let allocated = env.ec2("allocate_address", json!({"Domain": "vpc"}));
    let id = super::text(&allocated["AllocationId"]);
    let attributes = "  num_availability_zones = 1\n  num_nat_gateways = 1\n  use_custom_nat_eips = true\n  \
                      custom_nat_eips = [terraform_data.address.output]";
    env.workspace.config(&(network(attributes) + &known_at_apply("address", &format!("\"{id}\""))));
    env.apply();
    assert_eq!(env.attribute("nat_gateway_public_ips"), json!([allocated["PublicIp"]]));
    env.end();
}
