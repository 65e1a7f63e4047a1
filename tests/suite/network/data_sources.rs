//! The data source `fgw_four_tier_vpc` under Terraform, in a configuration that does not manage the network.

use std::collections::BTreeMap;

use serde_json::json;

use super::{TestEnv, network, text};
use crate::both::{Reader, example_of_data_source};

const SMALL: &str = "  num_nat_gateways = 0\n  num_availability_zones = 1\n  create_vpc_endpoints = false\n  \
                     create_private_persistence_subnets = false\n  enable_default_security_group = false\n";

/// Reads the data source, and returns the number of calls by action.
fn read(env: &TestEnv, other: &Reader<'_>, lines: &str) -> BTreeMap<String, usize> {
    other.read(lines);
    env.proxy.by_action()
}

#[test]
fn a_network_is_found_by_id_name_and_tags_with_its_outputs() {
    let env = TestEnv::with_provider("default_tags {\n    tags = { cost = \"net\" }\n  }");
    env.config(
        "  num_availability_zones = 2\n  num_nat_gateways = 1\n  create_transit_subnets = true\n  enable_ipv6 = true\n  \
         assign_generated_ipv6_cidr_block = true\n  custom_tags = { team = \"blue\" }\n  vpc_custom_tags = { env = \
         \"prod\" }\n  public_subnet_custom_tags = { tier = \"edge\" }",
    );
    env.workspace.apply(&[]).succeeded();
    env.workspace.assert_nothing_to_do();
    env.proxy.clear_calls();
    env.workspace.plan(&["-refresh-only"]);
    let refresh = env.proxy.by_action();

    // The other configuration runs under Terraform and has no default_tags.
    let other = Reader::of(env.subject());
    let by_id = read(&env, &other, &format!("  id = \"{}\"", text(&env.attribute("id"))));
    other.assert_same_as_resource(30);
    assert_eq!(other.attribute("tags_all"), json!({"cost": "net", "team": "blue", "env": "prod"}));
    // Each provider process calls GetCallerIdentity once. A refresh looks for flow logs and an egress-only internet
    // gateway only if the network has some.
    let others = ["GetCallerIdentity", "DescribeFlowLogs", "DescribeEgressOnlyInternetGateways"];
    for (action, count) in by_id.iter().filter(|(action, _)| !others.contains(&action.as_str())) {
        assert!(refresh.get(action) >= Some(count), "{action} {count} times; a refresh calls {refresh:?}");
    }
    for lines in [
        "  vpc_name = \"main\"",
        "  vpc_name = \"main\"\n  tags = { env = \"prod\" }",
        "  tags = { env = \"prod\", cost = \"net\" }",
    ] {
        let calls = read(&env, &other, lines);
        other.assert_same_as_resource(30);
        let mut expected = by_id.clone();
        *expected.get_mut("DescribeVpcs").expect("it is called") += 1;
        assert_eq!(calls, expected, "{lines}");
        other.workspace.assert_nothing_to_do();
    }
    other.workspace.destroy().succeeded();
    env.destroy();
}

#[test]
fn a_missing_or_ambiguous_network_is_an_error_with_a_hint() {
    let env = TestEnv::new();
    let second = network(&format!("{SMALL}  custom_tags = {{ env = \"test\" }}\n  allow_duplicate_name = true"))
        .replace("\"this\"", "\"second\"");
    let first = network(&format!("{SMALL}  custom_tags = {{ env = \"prod\" }}"));
    let other = Reader::of(env.subject());
    let rejected = |lines: &str| other.plan(lines);
    let none = rejected("  vpc_name = \"main\"");
    none.failed_with("Could not read fgw_four_tier_vpc: none matches name \"main\"");
    none.failed_with("In Region us-east-1");
    none.failed_with("created none there");
    let vpc = text(&env.ec2("create_vpc", json!({"CidrBlock": "10.9.0.0/16"}))["Vpc"]["VpcId"]);
    let unmanaged = rejected(&format!("  id = \"{vpc}\""));
    unmanaged.failed_with(&format!("Could not read fgw_four_tier_vpc {vpc}: not managed by fgw"));
    unmanaged.failed_with("aws_vpc");
    rejected("  id = \"vpc-00000000000000000\"")
        .failed_with("Could not read fgw_four_tier_vpc vpc-00000000000000000: not found");

    // One after the other: the second one is created while a network with its name and range exists.
    for config in [first.clone(), first + &second] {
        env.workspace.config(&config);
        env.workspace.apply(&[]).succeeded();
    }
    let id = |label: &str| text(env.workspace.state().attribute(&format!("fgw_four_tier_vpc.{label}"), "id"));
    let (this, second) = (id("this"), id("second"));
    let several = rejected("  vpc_name = \"main\"");
    several.failed_with("Could not read fgw_four_tier_vpc: 2 match name \"main\"");
    for words in [this.as_str(), &second, "env = \"prod\"", "env = \"test\"", "Set only id, to one of these IDs"] {
        several.failed_with(words);
    }
    let misspelt = rejected("  vpc_name = \"mian\"");
    misspelt.failed_with(&this);
    misspelt.failed_with(&second);
    rejected("  vpc_name = \"main\"\n  tags = { env = \"live\" }").failed_with("and tags env = \"live\"");
    other.read("  vpc_name = \"main\"\n  tags = { env = \"test\" }");
    assert_eq!(other.attribute("id"), second.as_str());

    // An unfinished network is read, with a warning.
    let tags = json!([{"Key": "fgw:state", "Value": "incomplete"}]);
    env.ec2("create_tags", json!({"Resources": [second], "Tags": tags}));
    let warned = rejected(&format!("  id = \"{second}\""));
    assert!(warned.code != 1 && warned.says(&format!("{second} is incomplete")), "{warned}");
    env.workspace.destroy().succeeded();
}

#[test]
fn a_block_with_missing_or_conflicting_arguments_is_rejected() {
    let env = TestEnv::new();
    let other = Reader::of(env.subject());
    let rejected = |lines: &str, words: &str| {
        other.workspace.config(&env.subject().data(lines));
        let run = other.workspace.validate();
        assert!(run.code == 1 && run.says(words), "{lines}:\n{run}");
    };
    rejected("", "Missing search criteria for fgw_four_tier_vpc");
    rejected("  id = \"vpc-1\"\n  vpc_name = \"main\"", "vpc_name conflicts with id");
    rejected("  id = \"\"", "id is empty");
    rejected("  cidr_block = \"10.0.0.0/16\"", "Unsupported argument");
    assert_eq!(env.proxy.calls().len(), 0);
}

#[test]
fn a_network_created_in_the_same_run_is_read_after_creation() {
    let env = TestEnv::with_terraform();
    env.subject().assert_read_after_creation("vpc_name = \"main\"", "private_app_subnet_ids", |blocks| {
        env.workspace.config(&(network(SMALL) + blocks));
    });
    // Both data sources return a change of the network in the same run.
    let main = env.workspace.path().join("main.tf");
    let body = std::fs::read_to_string(main).expect("the configuration can be read");
    env.workspace.config(&body.replace("num_availability_zones = 1", "num_availability_zones = 2"));
    env.workspace.apply(&[]).succeeded();
    assert_eq!(env.attribute("private_app_subnet_ids").as_array().map(Vec::len), Some(2));
    env.subject().assert_outputs("private_app_subnet_ids");
    env.destroy();
}

#[test]
fn the_example_reads_a_network_of_another_configuration() {
    let env = TestEnv::new();
    env.config(
        "  num_nat_gateways = 0\n  num_availability_zones = 2\n  custom_tags = { Environment = \"production\" }",
    );
    env.workspace.apply(&[]).succeeded();
    let other = Reader::of(env.subject());
    other.workspace.config(&example_of_data_source("fgw_four_tier_vpc"));
    other.workspace.apply(&[]).succeeded();
    let state = other.workspace.state();
    assert_eq!(*state.output("database_subnet_ids"), env.attribute("private_persistence_subnet_ids"));
    assert_eq!(state.output("client_blocks"), &json!(["10.0.80.0/21", "10.0.88.0/21"]));
    env.destroy();
}
