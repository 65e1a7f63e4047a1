//! Inputs that no other file here changes on a live network: each changes what it is about, in place where AWS lets it.

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
fn tenancy_is_given_up_in_place_and_taken_up_by_a_replacement() {
    let bed = TestEnv::new();
    bed.change(&alone("  tenancy = \"dedicated\""));
    let dedicated = bed.attribute("aws_objects");

    let default = bed.change(ALONE);
    assert_eq!(default.calls, "ModifyVpcTenancy 1");
    assert_eq!(default.new, ["vpc main 10.0.0.0/16 default support=true hostnames=true metrics=false"]);
    assert_eq!(bed.attribute("aws_objects"), dedicated, "the VPC stays");

    bed.config(&alone("  tenancy = \"dedicated\""));
    let plan = bed.workspace.plan_json(&[]);
    let change = &plan["resource_changes"][0]["change"];
    assert_eq!((&change["actions"], &change["replace_paths"]), (&json!(["delete", "create"]), &json!([["tenancy"]])));
    let told = bed.workspace.plan(&[]);
    let gone = format!("  vpc ({})", dedicated["vpc"].as_str().expect("an id"));
    assert!(told.says("Replacing fgw_four_tier_vpc \"main\" deletes") && told.says(&gone), "{told}");
    let replaced = bed.apply();
    assert!(replaced.calls.contains("CreateVpc 1") && replaced.calls.contains("DeleteVpc 1"), "{replaced:#?}");
    assert_ne!(bed.attribute("aws_objects")["vpc"], dedicated["vpc"]);
    assert_eq!(bed.proxy.account().list_of("vpcs").len(), 1);

    bed.config(&alone("  tenancy = \"host\""));
    let host = bed.workspace.plan(&[]);
    assert!(host.says("The host tenancy option cannot be used with a VPC"), "{host}");
    bed.destroy();
}

#[test]
fn a_new_name_warns_that_the_keys_of_the_subnets_change() {
    let bed = TestEnv::new();
    let tier = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_public_subnets = false\n  \
                create_private_persistence_subnets = false\n  create_vpc_endpoints = false";
    bed.change(tier);
    let warning = "What is made by for_each over these maps is replaced.";
    let objects = bed.attribute("aws_objects");
    let renamed = format!("  vpc_name = \"other\"\n{tier}");
    bed.config(&renamed);
    let plan = bed.workspace.plan(&[]);
    assert!(plan.says("The name changes from \"main\" to \"other\"") && plan.says(warning), "{plan}");
    let changed = bed.change(&renamed);
    // VPC, group, subnet and table.
    assert_eq!(changed.calls, "CreateTags 4");
    assert_eq!(bed.attribute("aws_objects"), objects);
    let subnets = bed.attribute("private_app_subnets");
    assert_eq!(subnets.as_object().expect("a map").keys().collect::<Vec<_>>(), ["other-private-app-0"]);

    bed.config(&format!("{renamed}\n  custom_tags = {{ a = \"b\" }}"));
    let plan = bed.workspace.plan(&[]);
    assert!(plan.code == 2 && !plan.says(warning), "another change says nothing of it:\n{plan}");
    bed.destroy();
}

#[test]
fn what_aws_does_not_see_changes_state_and_calls_nothing() {
    let bed = TestEnv::new();
    bed.change(&one_az(""));
    let objects = bed.attribute("aws_objects");
    let unseen = one_az(
        "  cloud_region = \"eu-west-1\"\n  route_table_creation_timeout = \"7m\"\n  route_table_update_timeout = \
         \"90s\"\n  route_table_deletion_timeout = \"1h\"\n  timeouts {\n    create = \"50m\"\n    update = \"40m\"\n    \
         delete = \"30m\"\n    read = \"5m\"\n  }",
    );
    bed.config(&unseen);
    let plan = bed.workspace.plan(&[]);
    assert!(plan.says("The Region is that of the provider."), "cloud_region is deprecated:\n{plan}");
    let set = bed.change(&unseen);
    assert_eq!((set.calls.as_str(), set.new.len()), ("", 0));
    assert_eq!(bed.attribute("route_table_update_timeout"), "90s");
    assert_eq!(bed.attribute("timeouts")["delete"], "30m");
    // Numbers of what there is not, and switches that need something else, are legal and change nothing.
    let idle = one_az(
        "  availability_zone_exclude_names = [\"us-east-1f\"]\n  use_custom_nat_eips = false\n  custom_nat_eips = \
         [\"eipalloc-0123456789abcdef0\"]\n  associate_default_nacl_to_subnets = false\n  transit_subnet_bits = 6\n  \
         transit_subnet_spacing = 9\n  allow_private_persistence_internet_access = true",
    );
    bed.config(&idle);
    let plan = bed.workspace.plan(&[]);
    assert!(plan.says("It has no effect while use_custom_nat_eips is false."), "{plan}");
    let idle = bed.change(&idle);
    assert_eq!((idle.calls.as_str(), idle.new.len()), ("", 0));
    assert_eq!(bed.attribute("aws_objects"), objects);
    bed.destroy();
}

#[test]
fn the_internet_gateway_and_both_policies_change_alone() {
    let bed = TestEnv::new();
    bed.change(ONE_AZ);
    let objects = bed.attribute("aws_objects");
    let off = bed.change(&one_az("  create_igw = false"));
    assert_eq!(off.calls, "DeleteInternetGateway 1, DeleteRoute 1, DetachInternetGateway 1");
    assert_eq!(
        off.gone,
        ["internet_gateway main on main", "table main-public [main-public-0] 0.0.0.0/0>main 10.0.0.0/16>local"]
    );
    let on = bed.change(ONE_AZ);
    assert_eq!(on.calls, "AttachInternetGateway 1, CreateInternetGateway 1, CreateRoute 1");
    assert_eq!((on.new, on.gone), (off.gone, off.new));
    super::assert_others_stay(
        &json!({"vpc": objects["vpc"], "subnet.public.0": objects["subnet.public.0"]}),
        &bed.attribute("aws_objects"),
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
    let set = bed.change(&both(false));
    assert_eq!(set.calls, "ModifyVpcEndpoint 2");
    assert!(set.new.len() == 2 && set.new[0].contains("(Allow dynamodb:GetItem *)"), "{set:#?}");
    let same = bed.change(&both(true));
    assert_eq!((same.calls.as_str(), same.new.len()), ("", 0), "the order of the members has no meaning");
    let one = bed.change(&one_az(&format!("  keyvalue_endpoint_policy = {}", policy("dynamodb:Query", false))));
    assert_eq!(one.calls, "ModifyVpcEndpoint 2");
    assert!(one.new[0].contains("(Allow dynamodb:Query *)") && one.new[1].contains("(Allow * *)"), "{one:#?}");
    let none = bed.change(ONE_AZ);
    assert_eq!(none.calls, "ModifyVpcEndpoint 1");
    assert_eq!(without_acl(&none.gone).len(), 1, "{none:#?}");
    bed.destroy();
}

#[test]
fn each_member_of_a_rule_of_the_default_group_changes_its_rule_and_no_other() {
    let bed = TestEnv::new();
    bed.change(ALONE);
    let lists = bed.ec2("describe_prefix_lists", json!({}));
    let list = text(&lists["PrefixLists"][0]["PrefixListId"]);
    let foreign = json!({"GroupName": "web", "Description": "of others", "VpcId": bed.id("vpc")});
    let group = text(&bed.ec2("create_security_group", foreign)["GroupId"]);

    // Two looks of each rule. What is the same in both, in whatever hand, is not touched.
    let tcp = |port: &str| {
        format!("protocol = \"tcp\", from_port = {port}, to_port = {port}, cidr_blocks = [\"10.0.0.0/8\"]")
    };
    let to = |port: &str, source: &str| format!("protocol = \"tcp\", from_port = {port}, to_port = {port}, {source}");
    let looks = [
        (to("1", "self = true"), to("1", "self = true")),
        (tcp("443"), tcp("443").replace("\"tcp\"", "\"6\"")),
        (tcp("22"), format!("{}, description = \"shell\"", tcp("22"))),
        (tcp("80"), tcp("80").replace("to_port = 80", "to_port = 81")),
        (tcp("53"), tcp("53").replace("\"tcp\"", "\"udp\"")),
        (to("2", "ipv6_cidr_blocks = [\"2001:db8::/32\"]"), to("2", "ipv6_cidr_blocks = [\"2001:db8:1::/48\"]")),
        (to("3", &format!("prefix_list_ids = [\"{list}\"]")), to("3", &format!("security_groups = [\"{group}\"]"))),
        (to("4", "self = true"), "protocol = \"icmp\", from_port = 8, to_port = -1, self = true".into()),
    ];
    let rules = |looks: &[&String]| {
        let rules = looks.iter().enumerate().map(|(number, look)| format!("    rule{number} = {{ {look} }}\n"));
        alone(&format!("  default_security_group_ingress_rules = {{\n{}  }}", rules.collect::<String>()))
    };
    let inbound = |bed: &TestEnv| {
        let snapshot = bed.snapshot();
        let line = snapshot.lines().into_iter().find(|line| line.starts_with("group default ")).expect("a group");
        line.split(['(', ')']).nth(1).expect("inbound rules").replace(&list, "LIST").replace(&group, "GROUP")
    };
    bed.change(&rules(&looks.each_ref().map(|(before, _)| before)));
    assert_eq!(
        inbound(&bed),
        "tcp:1-1 self, tcp:2-2 2001:db8::/32, tcp:22-22 10.0.0.0/8, tcp:3-3 LIST, tcp:4-4 self, tcp:443-443 10.0.0.0/8, \
         tcp:53-53 10.0.0.0/8, tcp:80-80 10.0.0.0/8"
    );
    let changed = bed.change(&rules(&looks.each_ref().map(|(_, after)| after)));
    assert_eq!(
        inbound(&bed),
        "icmp:8--1 self, tcp:1-1 self, tcp:2-2 2001:db8:1::/48, tcp:22-22 10.0.0.0/8, tcp:3-3 GROUP, \
         tcp:443-443 10.0.0.0/8, tcp:80-81 10.0.0.0/8, udp:53-53 10.0.0.0/8"
    );
    assert_eq!(
        changed.calls,
        "AuthorizeSecurityGroupIngress 1, RevokeSecurityGroupIngress 1, UpdateSecurityGroupRuleDescriptionsIngress 1"
    );
    let calls = bed.proxy.mutations();
    let of = |action: &str| calls.iter().find(|record| record.call.action.starts_with(action)).expect("it is called");
    let protocols = (1..)
        .take_while(|number| of("Authorize").call.params.contains_key(&format!("IpPermissions.{number}.IpProtocol")));
    assert_eq!(
        (protocols.count(), of("Revoke").call.list("SecurityGroupRuleId").len()),
        (5, 5),
        "only the rules that differ come and go"
    );
    let described = of("Update").call.params.iter().filter(|(name, _)| name.ends_with(".Description"));
    assert_eq!(described.map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ["shell"]);
    let without = bed.change(ALONE);
    assert_eq!(without.calls, "AuthorizeSecurityGroupIngress 1, RevokeSecurityGroupIngress 1");
    bed.ec2("delete_security_group", json!({"GroupId": group}));
    bed.destroy();
}
