//! Inputs that become known only in the apply that uses them.

use serde_json::json;

use super::{TestEnv, network};

/// A resource whose output is unknown until it is made or changed.
fn made_in_the_same_run(name: &str, value: &str) -> String {
    format!("resource \"terraform_data\" \"{name}\" {{\n  input = {value}\n}}\n")
}

#[test]
fn a_range_a_name_and_a_tag_made_in_the_same_run_work() {
    let bed = TestEnv::with_terraform();
    let attributes = "  vpc_name = terraform_data.name.output\n  cidr_block = terraform_data.range.output\n  \
                      num_availability_zones = 2\n  num_nat_gateways = 1\n  custom_tags = { run = terraform_data.run.output }";
    let config = |run: &str| {
        [
            network(attributes),
            made_in_the_same_run("name", "\"late\""),
            made_in_the_same_run("range", "\"10.5.0.0/16\""),
            made_in_the_same_run("run", run),
        ]
        .concat()
    };
    bed.workspace.config(&config("\"one\""));
    let plan = bed.workspace.plan_json(&[]);
    let change = plan["resource_changes"]
        .as_array()
        .and_then(|changes| changes.iter().find(|change| change["type"] == "fgw_four_tier_vpc"))
        .expect("the network is planned");
    let unknown = &change["change"]["after_unknown"];
    assert_eq!(unknown["aws_objects"]["subnet.private_app.1"], true, "which objects there will be is known: {unknown}");
    assert_eq!(unknown["public_subnets"], true, "their names are not: {unknown}");
    assert_eq!(change["change"]["after"]["availability_zones"], json!(["us-east-1a", "us-east-1b"]));

    let made = bed.apply();
    for line in [
        "vpc late 10.5.0.0/16 default support=true hostnames=true metrics=false {run=one}",
        "subnet late-private-app-1 us-east-1b use1-az1 10.5.88.0/21 public_ip=false {run=one}",
    ] {
        assert!(made.new.iter().any(|it| it == line), "no {line} in {made:#?}");
    }

    // An update whose tag is unknown at plan changes that tag, and nothing else is planned.
    bed.workspace.config(&config("\"two\""));
    let ids = bed.attribute("aws_objects");
    let changed = bed.apply();
    // VPC, gateway, address, NAT gateway, group, two endpoints, six subnets and five tables.
    assert_eq!(changed.calls, "CreateTags 18");
    assert_eq!(bed.attribute("aws_objects"), ids);
    assert!(changed.new.iter().all(|line| line.ends_with("{run=two}")), "{changed:#?}");
    bed.destroy();
}

#[test]
fn switches_and_counts_made_in_the_same_run_work() {
    let bed = TestEnv::with_terraform();
    let attributes = "  num_availability_zones = terraform_data.count.output\n  num_nat_gateways = terraform_data.count.output - 1\n  \
                      create_transit_subnets = terraform_data.count.output > 5\n  create_vpc_endpoints = false";
    let config = |count: u32| network(attributes) + &made_in_the_same_run("count", &count.to_string());
    bed.workspace.config(&config(1));
    let made = bed.apply();
    assert_eq!(made.new.iter().filter(|line| line.starts_with("subnet ")).count(), 3, "{made:#?}");
    bed.workspace.config(&config(2));
    let grown = bed.apply();
    assert_eq!(grown.new.iter().filter(|line| line.starts_with("subnet ")).count(), 3, "{grown:#?}");
    assert_eq!(bed.attribute("nat_gateway_ids").as_array().map(Vec::len), Some(1));
    bed.destroy();
}

#[test]
fn an_address_allocated_in_the_same_run_would_be_taken_when_it_is_known() {
    let bed = TestEnv::with_terraform();
    let allocated = bed.ec2("allocate_address", json!({"Domain": "vpc"}));
    let id = super::text(&allocated["AllocationId"]);
    let attributes = "  num_availability_zones = 1\n  num_nat_gateways = 1\n  use_custom_nat_eips = true\n  \
                      custom_nat_eips = [terraform_data.address.output]";
    bed.workspace.config(&(network(attributes) + &made_in_the_same_run("address", &format!("\"{id}\""))));
    bed.apply();
    assert_eq!(bed.attribute("nat_gateway_public_ips"), json!([allocated["PublicIp"]]));
    bed.destroy();
}
