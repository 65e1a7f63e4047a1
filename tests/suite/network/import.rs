//! Imports of networks by their ids: nothing changes in AWS, and the plan that follows is empty.

use serde_json::{Value, json};

use super::examples::{all, prepared};
use super::{THIS, TestEnv, network, text};

/// Removes resources from state, imports each by its id, and asserts that no call changed anything.
fn reimport(env: &TestEnv, addresses: &[String]) {
    env.proxy.clear_calls();
    for address in addresses {
        env.workspace.reimport(address);
    }
    assert_nothing_changed(env);
}

fn assert_nothing_changed(env: &TestEnv) {
    assert_eq!(env.calls(), "", "an import and its plan change nothing in AWS");
}

/// The change of a resource in a plan.
fn change(env: &TestEnv, address: &str) -> Value {
    let plan = env.workspace.plan_json(&[]);
    let changes = plan["resource_changes"].as_array().expect("changes");
    changes.iter().find(|change| change["address"] == address).expect("the resource")["change"].clone()
}

/// The attributes that it changes, without outputs that depend on them.
fn changed(change: &Value) -> Vec<String> {
    let after = change["after"].as_object().expect("it is not deleted");
    let unknown = change["after_unknown"].as_object().expect("an object");
    let is_unknown = |name: &String| unknown.get(name).is_some_and(|it| *it == Value::Bool(true));
    let differs = |name: &&String| is_unknown(name) || change["before"][name.as_str()] != after[name.as_str()];
    let names = change["before"].as_object().expect("it is not created").keys();
    names.filter(|name| after.contains_key(*name) || is_unknown(name)).filter(differs).cloned().collect()
}

/// Applies a network with these attributes, imports it again, generates its configuration, and destroys it.
fn assert_survives_import(attributes: &str) -> TestEnv {
    let env = TestEnv::with_terraform();
    env.change(attributes);
    assert_survives_import_in(&env, attributes);
    env
}

fn assert_survives_import_in(env: &TestEnv, attributes: &str) {
    let before = env.snapshot();
    let objects = env.attribute("aws_objects");
    reimport(env, &[THIS.to_owned()]);
    assert_eq!(env.attribute("aws_objects"), objects);
    env.workspace.assert_nothing_to_do();
    env.workspace.plan(&["-refresh=false"]).succeeded();

    // The plan of the generated configuration is empty, too.
    let id = text(&env.attribute("id"));
    env.proxy.clear_calls();
    env.workspace.generate(THIS, &id);
    env.config(attributes);
    env.workspace.assert_nothing_to_do();
    assert_nothing_changed(env);
    assert_eq!(env.snapshot().lines(), before.lines());
    env.destroy();
}

#[test]
fn every_example_survives_import() {
    let mut kept_groups = 0;
    for example in all() {
        let env = TestEnv::with_terraform();
        let body = prepared(&env, &example);
        env.workspace.config(&body);
        env.workspace.apply(&[]).succeeded();
        let addresses: Vec<String> = body
            .split("resource \"fgw_four_tier_vpc\" \"")
            .skip(1)
            .filter_map(|rest| Some(format!("fgw_four_tier_vpc.{}", rest.split_once('"')?.0)))
            .collect();
        assert!(!addresses.is_empty(), "{} has networks", example.display());
        reimport(&env, &addresses);
        for address in &addresses {
            // AWS stores neither the block `timeouts` nor whether a destroy keeps a log group, so the first plan shows
            // them. An import keeps the group, and the first apply records what the configuration says.
            let block = body.split(&address.replace('.', "\" \"")).nth(1).unwrap_or_default();
            let block = block.split("\n}\n").next().unwrap_or_default();
            let recorded = [("flow_logs", "\n      log_group_name "), ("timeouts", "\n  timeouts {")];
            let recorded = recorded.into_iter().filter(|(_, line)| block.contains(line)).map(|(name, _)| name);
            let expected: Vec<&str> = recorded.collect();
            let mut change = change(&env, address);
            assert_eq!(changed(&change), expected, "{address} of {}", example.display());
            for log in change["before"]["flow_logs"].as_object_mut().into_iter().flat_map(|logs| logs.values_mut()) {
                if log["log_group_name"].is_string() {
                    let kept = std::mem::replace(&mut log["log_group_skip_destroy"], json!(false));
                    assert_eq!(kept, json!(true), "an import keeps the group");
                    kept_groups += 1;
                }
                // AWS does not tell an empty map of tags from none.
                assert_eq!(log["tags"].take(), json!({}));
            }
            assert_eq!(change["before"]["flow_logs"], change["after"]["flow_logs"], "the apply records nothing else");
        }
        env.workspace.apply(&[]).succeeded();
        env.workspace.assert_nothing_to_do();
        assert_nothing_changed(&env);
        env.workspace.destroy().succeeded();
        env.proxy.account().assert_nothing_of_ours_is_left();
    }
    assert_eq!(kept_groups, 1, "an example has a log group");
}

#[test]
fn explicit_addresses_spacings_and_tag_maps_survive_import() {
    assert_survives_import(
        r#"  num_availability_zones = 2
  num_nat_gateways       = 2
  create_transit_subnets = true
  global_subnet_spacing  = 7
  transit_subnet_spacing = 30
  private_subnet_bits    = 6
  public_subnet_cidr_blocks      = { AZ-1 = "10.0.255.0/26" }
  private_app_subnet_cidr_blocks = { AZ-0 = "10.0.192.0/20" }
  map_public_ip_on_launch        = true
  one_route_table_public_subnets = false
  allow_private_persistence_internet_access = true
  custom_tags                 = { team = "blue", Name = "renamed" }
  vpc_custom_tags             = { team = "red" }
  public_subnet_custom_tags   = { "kubernetes.io/role/elb" = "1" }
  nat_gateway_custom_tags     = { Name = "way-out" }
  transit_route_table_custom_tags = { attach = "here" }
  security_group_tags         = { closed = "yes" }
  objectstore_endpoint_policy = jsonencode({ Version = "2012-10-17", Statement = [
    { Effect = "Allow", Principal = "*", Action = ["s3:GetObject"], Resource = "*" }
  ] })
  default_security_group_ingress_rules = {}
  default_security_group_egress_rules = {
    Https = { protocol = "TCP", from_port = 443, to_port = 443, cidr_blocks = ["0.0.0.0/0"], description = "out" }
    Dns   = { protocol = "17", from_port = 53, to_port = 53, cidr_blocks = ["10.0.0.0/16"], self = true }
  }"#,
    );
}

#[test]
fn existing_addresses_survive_import() {
    let env = TestEnv::with_terraform();
    let allocate = || text(&env.ec2("allocate_address", json!({"Domain": "vpc"}))["AllocationId"]);
    let attributes = format!(
        "  num_availability_zones = 2\n  num_nat_gateways = 2\n  use_custom_nat_eips = true\n  custom_nat_eips = \
         [\"{}\", \"{}\"]",
        allocate(),
        allocate()
    );
    env.change(&attributes);
    assert_survives_import_in(&env, &attributes);
}

#[test]
fn a_single_tier_survives_import() {
    assert_survives_import(
        "  num_availability_zones = 1\n  num_nat_gateways = 3\n  create_public_subnets = false\n  \
         create_private_app_subnets = false\n  create_vpc_endpoints = false\n  enable_default_security_group = false\n  \
         enable_dns_hostnames = false",
    );
}

#[test]
fn tiers_that_are_absent_in_some_azs_survive_import() {
    assert_survives_import(
        "  num_availability_zones = 3\n  num_nat_gateways = 2\n  create_transit_subnets = true\n  create_vpc_endpoints = \
         false\n  tier_availability_zone_ids = {\n    public              = [\"use1-az1\", \"use1-az2\"]\n    \
         private_persistence = [\"use1-az2\", \"use1-az6\"]\n    transit             = [\"use1-az1\"]\n  }",
    );
}

#[test]
fn all_azs_survive_import_and_default_tags_are_no_inputs() {
    let env = TestEnv::with_terraform_and("default_tags {\n    tags = { cost = \"net\" }\n  }");
    let attributes = "  num_nat_gateways = 1\n  custom_tags = { team = \"blue\" }";
    env.change(attributes);
    let tags = json!([{"Key": "karpenter.sh/discovery", "Value": "blue"}]);
    env.ec2("create_tags", json!({"Resources": [env.id("subnet.private_app.0")], "Tags": tags}));
    reimport(&env, &[THIS.to_owned()]);
    assert_eq!(env.attribute("custom_tags"), json!({"team": "blue"}));
    assert_eq!(env.attribute("private_app_subnet_custom_tags"), json!({}));
    env.workspace.assert_nothing_to_do();
    let after = env.change("  num_nat_gateways = 1\n  custom_tags = { team = \"red\" }");
    assert!(!after.calls.contains("DeleteTags"), "{after:#?}");
    env.end();
}

#[test]
fn the_plan_after_an_import_shows_only_real_differences() {
    let env = TestEnv::with_terraform();
    let attributes = "  num_availability_zones = 2\n  num_nat_gateways = 1\n  private_subnet_spacing = 20\n  \
                      persistence_subnet_spacing = 30";
    env.change(attributes);
    reimport(&env, &[THIS.to_owned()]);
    env.config(&format!("{attributes}\n  availability_zone_ids = {}", env.attribute("availability_zone_ids_used")));
    env.workspace.assert_nothing_to_do();
    env.config(&format!(
        "{attributes}\n  availability_zone_ids = {}\n  enable_network_address_usage_metrics = true",
        env.attribute("availability_zone_ids_used")
    ));
    assert_eq!(changed(&change(&env, THIS)), ["enable_network_address_usage_metrics"]);
    let applied = env.apply();
    assert_eq!(applied.calls, "ModifyVpcAttribute 1");
    env.end();
}

#[test]
fn a_killed_create_is_imported_and_finished_by_one_apply() {
    let env = TestEnv::with_terraform();
    let attributes = "  num_availability_zones = 2\n  num_nat_gateways = 1\n  custom_tags = { team = \"blue\" }";
    env.config(attributes);
    env.proxy.pause_when(3, |record| record.call.action == "CreateSubnet" && record.worked.is_some());
    let mut running = env.workspace.start(&["apply", "-no-color", "-input=false", "-auto-approve"]);
    running.reach(|| env.proxy.is_paused());
    running.kill();
    drop(running);
    env.proxy.finish_calls();
    let vpc = text(&env.proxy.account().list_of("vpcs")[0]["VpcId"]);
    let block = format!("import {{\n  to = {THIS}\n  id = \"{vpc}\"\n}}\n");
    env.workspace.config(&format!("{}{block}", network(attributes)));
    env.proxy.clear_calls();
    env.workspace.plan(&[]);
    assert_nothing_changed(&env);
    let finished = env.apply();
    assert!(!finished.calls.contains("CreateVpc 1"), "{finished:#?}");
    assert!(!finished.calls.contains("Delete"), "existing objects are used: {finished:#?}");
    assert_eq!(env.proxy.account().list_of("vpcs")[0]["tags"]["fgw:state"], "ready");
    env.release_unused_addresses();
    env.assert_state_matches_aws();
    env.config(attributes);
    env.end();
}

#[test]
fn an_imported_network_without_ownership_tags_is_not_owned() {
    let env = TestEnv::with_terraform();
    env.config("  num_nat_gateways = 0");
    let vpc = env.ec2("create_vpc", json!({"CidrBlock": "10.0.0.0/16"}));
    let id = text(&vpc["Vpc"]["VpcId"]);
    let imported = env.workspace.import(THIS, &id);
    imported.succeeded();
    assert!(imported.says(&format!("Importing fgw_four_tier_vpc {id}: not adopted yet")), "{imported}");
    assert_eq!(env.attribute("aws_objects"), json!({}));
    env.workspace.forget(THIS);
    env.workspace
        .import(THIS, "vpc-00000000000000000")
        .failed_with("Could not import fgw_four_tier_vpc vpc-00000000000000000: not found")
        .failed_with(&format!("of account {}", env.proxy.account().id));
    assert_nothing_changed(&env);
    env.proxy.clear_calls();
    for wrong in ["my-network", "subnet-0123456789abcdef0", "arn:aws:ec2:us-east-1:123456789012:vpc/vpc-0ab@us-east-1"]
    {
        let run = env.workspace.import(THIS, wrong);
        run.failed_with("is not the ID of a VPC.").failed_with("vpc-0123456789abcdef0@eu-central-1");
        assert!(!wrong.starts_with("arn:") || run.says("Use the ID at its end: vpc-0ab."), "{run}");
    }
    assert_eq!(env.proxy.count("DescribeVpcs"), 0);

    // The ownership tags identify a network that this provider has created.
    let tags = json!([{"Key": "fgw:resource", "Value": "four_tier_vpc/main"}]);
    env.ec2("create_tags", json!({"Resources": [id], "Tags": tags}));
    env.workspace.import(THIS, &id).succeeded();
    assert_eq!(env.attribute("vpc_name"), "main");
    assert_eq!(env.attribute("create_public_subnets"), json!(false));
    env.end();
}

#[test]
fn a_network_with_ipv6_and_acl_rules_survives_import() {
    let rule = "action = \"allow\", protocol = \"tcp\", from_port = 443, to_port = 443";
    assert_survives_import(&format!(
        "  num_availability_zones = 2\n  num_nat_gateways = 1\n  create_private_persistence_subnets = false\n  \
         create_vpc_endpoints = false\n  enable_ipv6 = true\n  assign_generated_ipv6_cidr_block = true\n  \
         assign_ipv6_address_on_creation = true\n  apply_default_nacl_rules = true\n  default_nacl_ingress_rules = {{\n    \
         Inside    = {{ rule_no = 90, action = \"allow\", protocol = \"all\", from_port = 0, to_port = 0, cidr_block = \
         \"10.0.0.0/8\" }}\n    Https     = {{ rule_no = 100, {rule}, cidr_block = \"0.0.0.0/0\" }}\n    HttpsIpv6 = {{ \
         rule_no = 101, {rule}, ipv6_cidr_block = \"::/0\" }}\n    Ping      = {{ rule_no = 110, action = \"ALLOW\", \
         protocol = \"icmp\", from_port = 0, to_port = 0, icmp_type = 8, icmp_code = -1, cidr_block = \"0.0.0.0/0\" }}\n    \
         Guests    = {{ rule_no = 80, action = \"deny\", protocol = \"udp\", from_port = 53, to_port = 53, cidr_block = \
         \"10.9.0.0/16\" }}\n  }}\n  default_nacl_egress_rules = {{\n    All = {{ rule_no = 1, action = \"allow\", protocol = \
         \"-1\", from_port = 0, to_port = 0, cidr_block = \"0.0.0.0/0\" }}\n  }}"
    ));
}

#[test]
fn explicit_and_larger_ipv6_blocks_survive_import() {
    let env = TestEnv::with_terraform();
    let dual = "  num_availability_zones = 2\n  num_nat_gateways = 0\n  create_vpc_endpoints = false\n  enable_ipv6 = \
                true\n  assign_generated_ipv6_cidr_block = true";
    env.change(dual);
    let range: ipnet::Ipv6Net = text(&env.attribute("ipv6_cidr_block")).parse().expect("a range");
    let block = ipnet::Ipv6Net::new((u128::from(range.network()) + (7 << 68)).into(), 60).expect("a length");
    let attributes =
        format!("{dual}\n  ipv6_subnet_bits = 4\n  public_subnet_ipv6_cidr_blocks = {{ AZ-1 = \"{block}\" }}");
    env.change(&attributes);
    assert_survives_import_in(&env, &attributes);
}
