//! Inputs that no other file here changes in an existing network: each changes its own objects, if possible in place.

use serde_json::json;

use super::{TestEnv, text, without_acl};

/// A VPC with its default group.
const ALONE: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_public_subnets = false\n  \
                     create_private_app_subnets = false\n  create_private_persistence_subnets = false\n  \
                     create_vpc_endpoints = false";

fn alone(further: &str) -> String {
    format!("{ALONE}\n{further}")
}

const ONE_AZ: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0";

fn one_az(further: &str) -> String {
    format!("{ONE_AZ}\n{further}")
}

#[test]
fn tenancy_is_removed_in_place_and_set_by_a_replacement() {
    let env = TestEnv::new();
    env.change(&alone("  tenancy = \"dedicated\""));
    let dedicated = env.attribute("aws_objects");

    let default = env.change(ALONE);
    assert_eq!(default.calls, "ModifyVpcTenancy 1");
    assert_eq!(default.new, ["vpc main 10.0.0.0/16 default support=true hostnames=true metrics=false"]);
    assert_eq!(env.attribute("aws_objects"), dedicated, "the VPC stays");

    env.config(&alone("  tenancy = \"dedicated\""));
    let plan = env.workspace.plan_json(&[]);
    let change = &plan["resource_changes"][0]["change"];
    assert_eq!((&change["actions"], &change["replace_paths"]), (&json!(["delete", "create"]), &json!([["tenancy"]])));
    let shown = env.workspace.plan(&[]);
    let vpc = format!("  vpc ({})", dedicated["vpc"].as_str().expect("an id"));
    assert!(shown.says("Replacing fgw_four_tier_vpc \"main\" deletes") && shown.says(&vpc), "{shown}");
    let replaced = env.apply();
    assert!(replaced.calls.contains("CreateVpc 1") && replaced.calls.contains("DeleteVpc 1"), "{replaced:#?}");
    assert_ne!(env.attribute("aws_objects")["vpc"], dedicated["vpc"]);
    assert_eq!(env.proxy.account().list_of("vpcs").len(), 1);

    env.config(&alone("  tenancy = \"host\""));
    env.workspace.plan(&[]).failed_with("The host tenancy option cannot be used with a VPC");
    env.config(&alone("  tenancy = \"dedicated\""));
    env.destroy();
}

#[test]
fn a_new_name_warns_that_the_keys_of_the_subnets_change() {
    let env = TestEnv::new();
    let tier = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_public_subnets = false\n  \
                create_private_persistence_subnets = false\n  create_vpc_endpoints = false";
    env.change(tier);
    let warning = "Resources with for_each over these maps are replaced.";
    let objects = env.attribute("aws_objects");
    let renamed = format!("  vpc_name = \"other\"\n{tier}");
    env.config(&renamed);
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("The name changes from \"main\" to \"other\"") && plan.says(warning), "{plan}");
    let changed = env.change(&renamed);
    // VPC, group, subnet and table.
    assert_eq!(changed.calls, "CreateTags 4");
    assert_eq!(env.attribute("aws_objects"), objects);
    let subnets = env.attribute("private_app_subnets");
    assert_eq!(subnets.as_object().expect("a map").keys().collect::<Vec<_>>(), ["other-private-app-0"]);

    env.config(&format!("{renamed}\n  custom_tags = {{ a = \"b\" }}"));
    let plan = env.workspace.plan(&[]);
    assert!(plan.code == 2 && !plan.says(warning), "other changes cause no such warning:\n{plan}");
    env.end();
}

#[test]
fn inputs_without_an_effect_in_aws_cause_no_changing_call() {
    let env = TestEnv::new();
    env.change(&one_az(""));
    let objects = env.attribute("aws_objects");
    let unseen = one_az(
        "  allow_duplicate_name = true\n  cloud_region = \"eu-west-1\"\n  route_table_creation_timeout = \"7m\"\n  route_table_update_timeout = \
         \"90s\"\n  route_table_deletion_timeout = \"1h\"\n  timeouts {\n    create = \"50m\"\n    update = \"40m\"\n    \
         delete = \"30m\"\n    read = \"5m\"\n  }",
    );
    env.config(&unseen);
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("Set region instead."), "cloud_region is deprecated:\n{plan}");
    let set = env.change(&unseen);
    assert_eq!((set.calls.as_str(), set.new.len()), ("", 0));
    assert_eq!(env.attribute("route_table_update_timeout"), "90s");
    assert_eq!(env.attribute("timeouts")["delete"], "30m");
    // Settings of objects that do not exist, and switches that depend on another one, are valid and change nothing.
    let idle = one_az(
        "  availability_zone_exclude_names = [\"us-east-1f\"]\n  use_custom_nat_eips = false\n  custom_nat_eips = \
         [\"eipalloc-0123456789abcdef0\"]\n  associate_default_nacl_to_subnets = false\n  transit_subnet_bits = 6\n  \
         transit_subnet_spacing = 9\n  allow_private_persistence_internet_access = true",
    );
    env.config(&idle);
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("custom_nat_eips has no effect while use_custom_nat_eips is false."), "{plan}");
    let idle = env.change(&idle);
    assert_eq!((idle.calls.as_str(), idle.new.len()), ("", 0));
    assert_eq!(env.attribute("aws_objects"), objects);
    env.end();
}

#[test]
fn the_internet_gateway_and_both_policies_change_alone() {
    let env = TestEnv::new();
    env.change(ONE_AZ);
    let objects = env.attribute("aws_objects");
    let off = env.change(&one_az("  create_igw = false"));
    assert_eq!(off.calls, "DeleteInternetGateway 1, DeleteRoute 1, DetachInternetGateway 1");
    assert_eq!(
        off.old,
        ["internet_gateway main on main", "table main-public [main-public-0] 0.0.0.0/0>main 10.0.0.0/16>local"]
    );
    let on = env.change(ONE_AZ);
    assert_eq!(on.calls, "AttachInternetGateway 1, CreateInternetGateway 1, CreateRoute 1");
    assert_eq!((on.new, on.old), (off.old, off.new));
    super::assert_unchanged(
        &json!({"vpc": objects["vpc"], "subnet.public.0": objects["subnet.public.0"]}),
        &env.attribute("aws_objects"),
    );

    let policy = |action: &str, turned: bool| {
        let (effect, principal) = ("\"Effect\":\"Allow\"", "\"Principal\":\"*\"");
        let (first, second) = if turned { (principal, effect) } else { (effect, principal) };
        format!(
            "<<-POLICY\n    {{\"Version\":\"2012-10-17\",\"Statement\":[{{{first},\"Action\":\"{action}\",{second},\
             \"Resource\":\"*\"}}]}}\n  POLICY"
        )
    };
    let both = |turned: bool| {
        one_az(&format!(
            "  objectstore_endpoint_policy = {}\n  keyvalue_endpoint_policy = {}",
            policy("s3:GetObject", turned),
            policy("dynamodb:GetItem", turned)
        ))
    };
    let set = env.change(&both(false));
    assert_eq!(set.calls, "ModifyVpcEndpoint 2");
    assert!(set.new.len() == 2 && set.new[0].contains("(Allow dynamodb:GetItem *)"), "{set:#?}");
    let same = env.change(&both(true));
    assert_eq!((same.calls.as_str(), same.new.len()), ("", 0), "the order of the members has no meaning");
    let one = env.change(&one_az(&format!("  keyvalue_endpoint_policy = {}", policy("dynamodb:Query", false))));
    assert_eq!(one.calls, "ModifyVpcEndpoint 2");
    assert!(one.new[0].contains("(Allow dynamodb:Query *)") && one.new[1].contains("(Allow * *)"), "{one:#?}");
    let none = env.change(ONE_AZ);
    assert_eq!(none.calls, "ModifyVpcEndpoint 1");
    assert_eq!(without_acl(&none.old).len(), 1, "{none:#?}");
    env.end();
}

#[test]
fn a_changed_member_of_a_group_rule_changes_only_that_rule() {
    let env = TestEnv::new();
    env.change(ALONE);
    let lists = env.ec2("describe_prefix_lists", json!({}));
    let list = text(&lists["PrefixLists"][0]["PrefixListId"]);
    let unmanaged = json!({"GroupName": "web", "Description": "of the web team", "VpcId": env.id("vpc")});
    let group = text(&env.ec2("create_security_group", unmanaged)["GroupId"]);

    // Two variants of each rule. Rules with the same meaning in both variants are not changed.
    let tcp = |port: &str| {
        format!("protocol = \"tcp\", from_port = {port}, to_port = {port}, cidr_blocks = [\"10.0.0.0/8\"]")
    };
    let to = |port: &str, source: &str| format!("protocol = \"tcp\", from_port = {port}, to_port = {port}, {source}");
    let variants = [
        (to("1", "self = true"), to("1", "self = true")),
        (tcp("443"), tcp("443").replace("\"tcp\"", "\"6\"")),
        (tcp("22"), format!("{}, description = \"shell\"", tcp("22"))),
        (tcp("80"), tcp("80").replace("to_port = 80", "to_port = 81")),
        (tcp("53"), tcp("53").replace("\"tcp\"", "\"udp\"")),
        (to("2", "ipv6_cidr_blocks = [\"2001:db8::/32\"]"), to("2", "ipv6_cidr_blocks = [\"2001:db8:1::/48\"]")),
        (to("3", &format!("prefix_list_ids = [\"{list}\"]")), to("3", &format!("security_groups = [\"{group}\"]"))),
        (to("4", "self = true"), "protocol = \"icmp\", from_port = 8, to_port = -1, self = true".into()),
    ];
    let rules = |variants: &[&String]| {
        let rules = variants.iter().enumerate().map(|(number, rule)| format!("    rule{number} = {{ {rule} }}\n"));
        alone(&format!("  default_security_group_ingress_rules = {{\n{}  }}", rules.collect::<String>()))
    };
    let inbound = |env: &TestEnv| {
        let snapshot = env.snapshot();
        let line = snapshot.lines().into_iter().find(|line| line.starts_with("group default ")).expect("a group");
        line.split(['(', ')']).nth(1).expect("inbound rules").replace(&list, "LIST").replace(&group, "GROUP")
    };
    env.change(&rules(&variants.each_ref().map(|(before, _)| before)));
    assert_eq!(
        inbound(&env),
        "tcp:1-1 self, tcp:2-2 2001:db8::/32, tcp:22-22 10.0.0.0/8, tcp:3-3 LIST, tcp:4-4 self, tcp:443-443 10.0.0.0/8, \
         tcp:53-53 10.0.0.0/8, tcp:80-80 10.0.0.0/8"
    );
    let changed = env.change(&rules(&variants.each_ref().map(|(_, after)| after)));
    assert_eq!(
        inbound(&env),
        "icmp:8--1 self, tcp:1-1 self, tcp:2-2 2001:db8:1::/48, tcp:22-22 10.0.0.0/8, tcp:3-3 GROUP, \
         tcp:443-443 10.0.0.0/8, tcp:80-81 10.0.0.0/8, udp:53-53 10.0.0.0/8"
    );
    assert_eq!(
        changed.calls,
        "AuthorizeSecurityGroupIngress 1, RevokeSecurityGroupIngress 1, UpdateSecurityGroupRuleDescriptionsIngress 1"
    );
    let calls = env.proxy.mutations();
    let of = |action: &str| calls.iter().find(|record| record.call.action.starts_with(action)).expect("it is called");
    let protocols = (1..)
        .take_while(|number| of("Authorize").call.params.contains_key(&format!("IpPermissions.{number}.IpProtocol")));
    assert_eq!(
        (protocols.count(), of("Revoke").call.list("SecurityGroupRuleId").len()),
        (5, 5),
        "only the rules that differ are authorized and revoked"
    );
    let described = of("Update").call.params.iter().filter(|(name, _)| name.ends_with(".Description"));
    assert_eq!(described.map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ["shell"]);
    let without = env.change(ALONE);
    assert_eq!(without.calls, "AuthorizeSecurityGroupIngress 1, RevokeSecurityGroupIngress 1");
    env.ec2("delete_security_group", json!({"GroupId": group}));
    env.end();
}
