//! A network whose state was lost comes back by its id: nothing in AWS changes, and the plan has nothing to show.

use serde_json::{Value, json};

use super::examples::{all, prepared};
use super::{THIS, TestEnv, network, text};

/// Forgets resources and imports each by its id, and asserts that no call changed anything.
fn reimport(bed: &TestEnv, addresses: &[String]) {
    bed.proxy.clear_calls();
    for address in addresses {
        bed.workspace.reimport(address);
    }
    assert_nothing_changed(bed);
}

fn assert_nothing_changed(bed: &TestEnv) {
    assert_eq!(bed.calls(), "", "an import and its plan change nothing in AWS");
}

/// The attributes that a plan changes, apart from outputs that depend on them.
fn changed(bed: &TestEnv, address: &str) -> Vec<String> {
    let plan = bed.workspace.plan_json(&[]);
    let changes = plan["resource_changes"].as_array().expect("changes");
    let change = &changes.iter().find(|change| change["address"] == address).expect("the resource")["change"];
    let after = change["after"].as_object().expect("it stays");
    let unknown = change["after_unknown"].as_object().expect("an object");
    let is_unknown = |name: &String| unknown.get(name).is_some_and(|it| *it == Value::Bool(true));
    let differs = |name: &&String| is_unknown(name) || change["before"][name.as_str()] != after[name.as_str()];
    let names = change["before"].as_object().expect("it was there").keys();
    names.filter(|name| after.contains_key(*name) || is_unknown(name)).filter(differs).cloned().collect()
}

/// A network of these attributes is applied, forgotten, imported, generated and destroyed from what was imported.
fn comes_back(attributes: &str) -> TestEnv {
    let bed = TestEnv::with_terraform();
    bed.change(attributes);
    comes_back_in(&bed, attributes);
    bed
}

fn comes_back_in(bed: &TestEnv, attributes: &str) {
    let before = bed.snapshot();
    let objects = bed.attribute("aws_objects");
    reimport(bed, &[THIS.to_owned()]);
    assert_eq!(bed.attribute("aws_objects"), objects);
    bed.workspace.assert_nothing_to_do();
    bed.workspace.plan(&["-refresh=false"]).succeeded();

    // The configuration that Terraform writes for it plans nothing either.
    let id = text(&bed.attribute("id"));
    bed.proxy.clear_calls();
    bed.workspace.generate(THIS, &id);
    bed.config(attributes);
    bed.workspace.assert_nothing_to_do();
    assert_nothing_changed(bed);
    assert_eq!(bed.snapshot().lines(), before.lines());
    bed.destroy();
}

#[test]
fn every_example_comes_back_by_its_id() {
    for example in all() {
        let bed = TestEnv::with_terraform();
        let body = prepared(&bed, &example);
        bed.workspace.config(&body);
        bed.workspace.apply(&[]).succeeded();
        let addresses: Vec<String> = body
            .split("resource \"fgw_four_tier_vpc\" \"")
            .skip(1)
            .filter_map(|rest| Some(format!("fgw_four_tier_vpc.{}", rest.split_once('"')?.0)))
            .collect();
        assert!(!addresses.is_empty(), "{} has networks", example.display());
        reimport(&bed, &addresses);
        for address in &addresses {
            // Terraform lets no provider keep a block that AWS cannot show, so it shows once.
            let block = body.split(&address.replace('.', "\" \"")).nth(1).unwrap_or_default();
            let block = block.split("\n}\n").next().unwrap_or_default();
            let expected: &[&str] = if block.contains("\n  timeouts {") { &["timeouts"] } else { &[] };
            assert_eq!(changed(&bed, address), expected, "{address} of {}", example.display());
        }
        bed.workspace.apply(&[]).succeeded();
        bed.workspace.assert_nothing_to_do();
        assert_nothing_changed(&bed);
        bed.workspace.destroy().succeeded();
        bed.proxy.account().assert_nothing_of_ours_is_left();
    }
}

#[test]
fn explicit_addresses_spacings_and_tags_in_many_maps_come_back() {
    comes_back(
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
fn given_addresses_come_back() {
    let bed = TestEnv::with_terraform();
    let allocate = || text(&bed.ec2("allocate_address", json!({"Domain": "vpc"}))["AllocationId"]);
    let attributes = format!(
        "  num_availability_zones = 2\n  num_nat_gateways = 2\n  use_custom_nat_eips = true\n  custom_nat_eips = \
         [\"{}\", \"{}\"]",
        allocate(),
        allocate()
    );
    bed.change(&attributes);
    comes_back_in(&bed, &attributes);
}

#[test]
fn a_single_tier_comes_back() {
    comes_back(
        "  num_availability_zones = 1\n  num_nat_gateways = 3\n  create_public_subnets = false\n  \
         create_private_app_subnets = false\n  create_vpc_endpoints = false\n  enable_default_security_group = false\n  \
         enable_dns_hostnames = false",
    );
}

#[test]
fn every_az_and_foreign_tags_come_back_and_default_tags_are_no_input() {
    let bed = TestEnv::with_terraform_and("default_tags {\n    tags = { cost = \"net\" }\n  }");
    let attributes = "  num_nat_gateways = 1\n  custom_tags = { team = \"blue\" }";
    bed.change(attributes);
    let tags = json!([{"Key": "karpenter.sh/discovery", "Value": "blue"}]);
    bed.ec2("create_tags", json!({"Resources": [bed.id("subnet.private_app.0")], "Tags": tags}));
    reimport(&bed, &[THIS.to_owned()]);
    assert_eq!(bed.attribute("custom_tags"), json!({"team": "blue"}));
    assert_eq!(bed.attribute("private_app_subnet_custom_tags"), json!({}));
    bed.workspace.assert_nothing_to_do();
    let after = bed.change("  num_nat_gateways = 1\n  custom_tags = { team = \"red\" }");
    assert!(!after.calls.contains("DeleteTags"), "{after:#?}");
    bed.destroy();
}

#[test]
fn what_a_configuration_wants_otherwise_is_all_that_the_plan_after_an_import_shows() {
    let bed = TestEnv::with_terraform();
    let attributes = "  num_availability_zones = 2\n  num_nat_gateways = 1\n  private_subnet_spacing = 20\n  \
                      persistence_subnet_spacing = 30";
    bed.change(attributes);
    reimport(&bed, &[THIS.to_owned()]);
    bed.config(&format!("{attributes}\n  availability_zone_ids = {}", bed.attribute("availability_zone_ids_used")));
    bed.workspace.assert_nothing_to_do();
    bed.config(&format!(
        "{attributes}\n  availability_zone_ids = {}\n  enable_network_address_usage_metrics = true",
        bed.attribute("availability_zone_ids_used")
    ));
    assert_eq!(changed(&bed, THIS), ["enable_network_address_usage_metrics"]);
    let applied = bed.apply();
    assert_eq!(applied.calls, "ModifyVpcAttribute 1");
    bed.destroy();
}

#[test]
fn a_creation_that_was_killed_is_imported_by_a_block_and_finished_by_the_same_apply() {
    let bed = TestEnv::with_terraform();
    let attributes = "  num_availability_zones = 2\n  num_nat_gateways = 1\n  custom_tags = { team = \"blue\" }";
    bed.config(attributes);
    bed.proxy.stand_still_when(3, |record| record.call.action == "CreateSubnet" && record.worked.is_some());
    let mut running = bed.workspace.start(&["apply", "-no-color", "-input=false", "-auto-approve"]);
    running.reach(|| bed.proxy.stands_still());
    running.kill();
    drop(running);
    bed.proxy.finish_calls();
    let vpc = text(&bed.proxy.account().list_of("vpcs")[0]["VpcId"]);
    let block = format!("import {{\n  to = {THIS}\n  id = \"{vpc}\"\n}}\n");
    bed.workspace.config(&format!("{}{block}", network(attributes)));
    bed.proxy.clear_calls();
    bed.workspace.plan(&[]);
    assert_nothing_changed(&bed);
    let finished = bed.apply();
    assert!(!finished.calls.contains("CreateVpc 1"), "{finished:#?}");
    assert!(!finished.calls.contains("Delete"), "what was there is used: {finished:#?}");
    assert_eq!(bed.proxy.account().list_of("vpcs")[0]["tags"]["fgw:state"], "ready");
    bed.assert_state_holds_what_exists();
    bed.config(attributes);
    bed.destroy();
}

#[test]
fn a_foreign_network_is_not_imported() {
    let bed = TestEnv::with_terraform();
    bed.config("  num_nat_gateways = 0");
    let vpc = bed.ec2("create_vpc", json!({"CidrBlock": "10.0.0.0/16"}));
    let id = text(&vpc["Vpc"]["VpcId"]);
    let refused = bed.workspace.import(THIS, &id);
    refused.failed_with(&format!("{id} was not made by fgw_four_tier_vpc"));
    refused.failed_with("fgw:resource = \"four_tier_vpc/<name>\"");
    bed.workspace.import(THIS, "vpc-00000000000000000").failed_with("does not exist");
    assert_nothing_changed(&bed);

    // The tags that the message names hand it over.
    let tags = json!([{"Key": "fgw:resource", "Value": "four_tier_vpc/main"}]);
    bed.ec2("create_tags", json!({"Resources": [id], "Tags": tags}));
    bed.workspace.import(THIS, &id).succeeded();
    assert_eq!(bed.attribute("vpc_name"), "main");
    assert_eq!(bed.attribute("create_public_subnets"), json!(false));
    bed.destroy();
}

#[test]
fn a_network_with_ipv6_and_rules_of_its_acl_comes_back() {
    let rule = "action = \"allow\", protocol = \"tcp\", from_port = 443, to_port = 443";
    comes_back(&format!(
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
fn explicit_ipv6_blocks_and_larger_ones_come_back() {
    let bed = TestEnv::with_terraform();
    let dual = "  num_availability_zones = 2\n  num_nat_gateways = 0\n  create_vpc_endpoints = false\n  enable_ipv6 = \
                true\n  assign_generated_ipv6_cidr_block = true";
    bed.change(dual);
    let range: ipnet::Ipv6Net = text(&bed.attribute("ipv6_cidr_block")).parse().expect("a range");
    let block = ipnet::Ipv6Net::new((u128::from(range.network()) + (7 << 68)).into(), 60).expect("a length");
    let attributes =
        format!("{dual}\n  ipv6_subnet_bits = 4\n  public_subnet_ipv6_cidr_blocks = {{ AZ-1 = \"{block}\" }}");
    bed.change(&attributes);
    comes_back_in(&bed, &attributes);
}
