//! The data source `fgw_four_tier_vpc` under real Terraform: a configuration that does not own the network.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::examples::without_terraform_block;
use super::{THIS, TestEnv, network, text};
use crate::support::terraform::Workspace;

const FOUND: &str = "fgw_four_tier_vpc.found";

const SMALL: &str = "  num_nat_gateways = 0\n  num_availability_zones = 1\n  create_vpc_endpoints = false\n  \
                     create_private_persistence_subnets = false\n  enable_default_security_group = false\n";

/// A data block with these lines.
fn data(lines: &str) -> String {
    format!("data \"fgw_four_tier_vpc\" \"found\" {{\n{lines}\n}}\n")
}

/// Reads what is there, and asserts that nothing in AWS was changed. The calls by action.
fn read(bed: &TestEnv, other: &Workspace, lines: &str) -> BTreeMap<String, usize> {
    other.config(&data(lines));
    bed.proxy.clear_calls();
    other.apply(&[]).succeeded();
    assert_eq!(bed.calls(), "", "a look changes nothing");
    bed.proxy.by_action()
}

/// Asserts that each attribute that was found is what the resource says of itself.
fn assert_told_as_by_the_resource(bed: &TestEnv, other: &Workspace) {
    let state = other.state();
    let told = state.resource(FOUND).expect("it was found").as_object().expect("attributes");
    assert!(told.len() > 30, "{told:?}");
    for (name, value) in told.iter().filter(|(name, _)| *name != "tags") {
        assert_eq!(*value, bed.attribute(name), "{name}");
    }
}

#[test]
fn a_network_of_another_configuration_is_found_in_each_way_and_told_as_its_resource_tells_it() {
    let bed = TestEnv::with_provider("default_tags {\n    tags = { cost = \"net\" }\n  }");
    bed.config(
        "  num_availability_zones = 2\n  num_nat_gateways = 1\n  create_transit_subnets = true\n  enable_ipv6 = true\n  \
         assign_generated_ipv6_cidr_block = true\n  custom_tags = { team = \"blue\" }\n  vpc_custom_tags = { env = \
         \"prod\" }\n  public_subnet_custom_tags = { tier = \"edge\" }",
    );
    bed.workspace.apply(&[]).succeeded();
    bed.workspace.assert_nothing_to_do();
    bed.proxy.clear_calls();
    bed.workspace.plan(&["-refresh-only"]);
    let refresh = bed.proxy.by_action();

    // The other configuration has no default_tags, and its own Terraform.
    let other = Workspace::new(&bed.proxy);
    let by_id = read(&bed, &other, &format!("  id = \"{}\"", text(&bed.attribute("id"))));
    assert_told_as_by_the_resource(&bed, &other);
    assert_eq!(other.state().attribute(FOUND, "tags_all"), &json!({"cost": "net", "team": "blue", "env": "prod"}));
    // Who we are is asked by each process of the provider.
    for (action, count) in by_id.iter().filter(|(action, _)| *action != "GetCallerIdentity") {
        assert!(refresh.get(action) >= Some(count), "{action} {count} times, a refresh makes {refresh:?}");
    }
    for lines in [
        "  vpc_name = \"main\"",
        "  vpc_name = \"main\"\n  tags = { env = \"prod\" }",
        "  tags = { env = \"prod\", cost = \"net\" }",
    ] {
        let calls = read(&bed, &other, lines);
        assert_told_as_by_the_resource(&bed, &other);
        let mut expected = by_id.clone();
        *expected.get_mut("DescribeVpcs").expect("it is looked at") += 1;
        assert_eq!(calls, expected, "{lines}");
        other.assert_nothing_to_do();
    }
    other.destroy().succeeded();
    bed.destroy();
}

#[test]
fn a_network_that_is_not_there_or_not_alone_is_an_error_that_says_what_to_do() {
    let bed = TestEnv::new();
    let second = network(&format!("{SMALL}  custom_tags = {{ env = \"test\" }}")).replace("\"this\"", "\"second\"");
    let first = network(&format!("{SMALL}  custom_tags = {{ env = \"prod\" }}"));
    let other = Workspace::new(&bed.proxy);
    let refused = |lines: &str| {
        other.config(&data(lines));
        other.plan(&[])
    };
    let none = refused("  vpc_name = \"main\"");
    none.failed_with("No fgw_four_tier_vpc is called \"main\"");
    none.failed_with("In Region us-east-1");
    none.failed_with("made none there");
    let vpc = text(&bed.ec2("create_vpc", json!({"CidrBlock": "10.9.0.0/16"}))["Vpc"]["VpcId"]);
    let foreign = refused(&format!("  id = \"{vpc}\""));
    foreign.failed_with(&format!("{vpc} was not made by fgw_four_tier_vpc"));
    foreign.failed_with("aws_vpc");
    refused("  id = \"vpc-00000000000000000\"").failed_with("vpc-00000000000000000 does not exist");

    // One after the other: a create that sees another one of its name under way takes it for one that was cut off.
    for config in [first.clone(), first + &second] {
        bed.workspace.config(&config);
        bed.workspace.apply(&[]).succeeded();
    }
    let id = |label: &str| text(bed.workspace.state().attribute(&format!("fgw_four_tier_vpc.{label}"), "id"));
    let (this, second) = (id("this"), id("second"));
    let several = refused("  vpc_name = \"main\"");
    several.failed_with("2 of fgw_four_tier_vpc are called \"main\"");
    for words in [this.as_str(), &second, "env = \"prod\"", "env = \"test\"", "Set id to the one that is meant"] {
        several.failed_with(words);
    }
    let misspelt = refused("  vpc_name = \"mian\"");
    misspelt.failed_with(&this);
    misspelt.failed_with(&second);
    refused("  vpc_name = \"main\"\n  tags = { env = \"live\" }").failed_with("has the tags env = \"live\"");
    read(&bed, &other, "  vpc_name = \"main\"\n  tags = { env = \"test\" }");
    assert_eq!(other.state().attribute(FOUND, "id"), second.as_str());

    // One that is not finished is read, with a warning.
    let tags = json!([{"Key": "fgw:state", "Value": "incomplete"}]);
    bed.ec2("create_tags", json!({"Resources": [second], "Tags": tags}));
    let warned = refused(&format!("  id = \"{second}\""));
    assert!(warned.code != 1 && warned.says(&format!("{second} is not finished")), "{warned}");
    bed.workspace.destroy().succeeded();
}

#[test]
fn a_block_that_says_too_little_or_too_much_is_refused_before_aws_is_asked() {
    let bed = TestEnv::new();
    let other = Workspace::new(&bed.proxy);
    let refused = |lines: &str, words: &str| {
        other.config(&data(lines));
        let run = other.validate();
        assert!(run.code == 1 && run.says(words), "{lines}:\n{run}");
    };
    refused("", "Which fgw_four_tier_vpc is meant is not said");
    refused("  id = \"vpc-1\"\n  vpc_name = \"main\"", "vpc_name stands beside id");
    refused("  id = \"\"", "id is empty");
    refused("  cidr_block = \"10.0.0.0/16\"", "Unsupported argument");
    assert_eq!(bed.proxy.calls().len(), 0);
}

#[test]
fn a_network_of_the_same_run_is_read_after_it_was_made() {
    let bed = TestEnv::with_terraform();
    let outputs = "output \"by_id\" {\n  value = data.fgw_four_tier_vpc.found.private_app_subnet_ids\n}\noutput \"by_name\" {\n  \
                   value = data.fgw_four_tier_vpc.named.private_app_subnet_ids\n}\n";
    let named =
        "data \"fgw_four_tier_vpc\" \"named\" {\n  vpc_name = \"main\"\n  depends_on = [fgw_four_tier_vpc.this]\n}\n";
    let body = network(SMALL) + &data(&format!("  id = {THIS}.id")) + named + outputs;
    bed.workspace.config(&body);
    let plan = bed.workspace.plan_json(&[]);
    assert_eq!(plan["output_changes"]["by_name"]["after_unknown"], Value::Bool(true), "{}", plan["output_changes"]);
    bed.workspace.apply_plan().succeeded();
    let state = bed.workspace.state();
    let made = bed.attribute("private_app_subnet_ids");
    assert_eq!((state.output("by_id"), state.output("by_name")), (&made, &made));
    bed.workspace.assert_nothing_to_do();
    // A change of the network is seen by both in the run that makes it.
    bed.workspace.config(&body.replace("num_availability_zones = 1", "num_availability_zones = 2"));
    bed.workspace.apply(&[]).succeeded();
    let state = bed.workspace.state();
    let made = bed.attribute("private_app_subnet_ids");
    assert_eq!(made.as_array().map(Vec::len), Some(2));
    assert_eq!((state.output("by_id"), state.output("by_name")), (&made, &made));
    bed.workspace.assert_nothing_to_do();
    bed.destroy();
}

#[test]
fn the_example_reads_a_network_of_another_configuration() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data-sources/fgw_four_tier_vpc/data-source.tf");
    let example = std::fs::read_to_string(path).expect("an example can be read");
    let bed = TestEnv::new();
    bed.config(
        "  num_nat_gateways = 0\n  num_availability_zones = 2\n  custom_tags = { Environment = \"production\" }",
    );
    bed.workspace.apply(&[]).succeeded();
    let other = Workspace::new(&bed.proxy);
    other.config(without_terraform_block(&example));
    other.apply(&[]).succeeded();
    let state = other.state();
    assert_eq!(*state.output("database_subnet_ids"), bed.attribute("private_persistence_subnet_ids"));
    assert_eq!(state.output("client_blocks"), &json!(["10.0.80.0/21", "10.0.88.0/21"]));
    bed.destroy();
}
