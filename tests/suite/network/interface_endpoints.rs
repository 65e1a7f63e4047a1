//! Interface endpoints and their security groups.

use serde_json::{Value, json};

use super::{THIS, TestEnv};

const ALONE: &str = "  num_availability_zones = 2\n  num_nat_gateways = 0\n  create_public_subnets = false\n  \
                     create_vpc_endpoints = false";

fn with(endpoints: &str) -> String {
    format!("{ALONE}\n  interface_endpoints = {{\n{endpoints}\n  }}")
}

fn actions(env: &TestEnv) -> Vec<String> {
    env.proxy.mutations().into_iter().map(|record| record.call.action).collect()
}

/// The endpoint with this name, as AWS describes it.
fn described(env: &TestEnv, name: &str) -> Value {
    let id = env.attribute("interface_endpoint_ids")[name].clone();
    env.ec2("describe_vpc_endpoints", json!({ "VpcEndpointIds": [id] }))["VpcEndpoints"][0].clone()
}

#[test]
fn endpoints_are_created_changed_imported_and_deleted() {
    let env = TestEnv::new();
    env.change(ALONE);
    let network = env.attribute("aws_objects");
    let on = env.change(&with("    \"ecr.api\" = {}\n    kms = {}"));
    assert_eq!(
        on.calls,
        "AuthorizeSecurityGroupIngress 1, CreateSecurityGroup 1, CreateVpcEndpoint 2, RevokeSecurityGroupEgress 1"
    );
    let kms = described(&env, "kms");
    assert_eq!((&kms["State"], &kms["PrivateDnsEnabled"]), (&json!("available"), &json!(true)));
    let tier = env.attribute("private_app_subnet_ids");
    assert_eq!(kms["SubnetIds"].as_array().map(Vec::len), tier.as_array().map(Vec::len));
    let group = env.attribute("interface_endpoints_security_group_id");
    assert_eq!(kms["Groups"][0]["GroupId"], group);
    let interfaces = env.attribute("interface_endpoint_network_interface_ids");
    assert_eq!(interfaces["kms"].as_array().map(Vec::len), Some(2));
    let names = env.attribute("interface_endpoint_dns_entries");
    assert!(names["kms"][0]["dns_name"].as_str().is_some_and(|name| name.contains(".kms.")), "{names}");

    // What AWS changes in place, and back, without touching the other endpoint.
    let ids = env.attribute("interface_endpoint_ids");
    let statement = "{ Effect = \"Allow\", Principal = \"*\", Action = \"kms:Decrypt\", Resource = \"*\" }";
    let policy = format!("policy = jsonencode({{ Version = \"2012-10-17\", Statement = [{statement}] }})");
    let changed = format!("    \"ecr.api\" = {{}}\n    kms = {{ {policy}, private_dns_enabled = false }}");
    assert_eq!(env.change(&with(&changed)).calls, "ModifyVpcEndpoint 1");
    assert_eq!(env.change(&with("    \"ecr.api\" = {}\n    kms = {}")).calls, "ModifyVpcEndpoint 1");
    assert_eq!(env.attribute("interface_endpoint_ids"), ids);

    env.workspace.reimport(THIS);
    env.workspace.assert_nothing_to_do();

    let off = env.change(&with("    \"ecr.api\" = {}"));
    assert_eq!(off.calls, "DeleteVpcEndpoints 1");
    let off = env.change(ALONE);
    assert_eq!(off.calls, "DeleteSecurityGroup 1, DeleteVpcEndpoints 1");
    assert_eq!(env.attribute("aws_objects"), network, "nothing else was touched");
    env.destroy();
}

#[test]
fn endpoints_need_no_statements_of_other_inputs() {
    let env = TestEnv::new();
    let network = |zones: u8, more: &str| {
        format!(
            "  num_availability_zones = {zones}\n  num_nat_gateways = 0\n  create_igw = false\n  \
             create_public_subnets = false\n  create_vpc_endpoints = false\n  \
             enable_default_security_group = false\n  interface_endpoints = {{ {more} }}"
        )
    };
    env.change(&network(1, "kms = { tags = { team = \"a\" } }"));
    let grown = env.change(&network(2, "kms = { tags = { team = \"b\" } }"));
    assert!(grown.calls.contains("ModifyVpcEndpoint"), "the endpoint gets a subnet: {}", grown.calls);
    let ruled = env.change(&network(2, "kms = { allowed_cidr_blocks = [\"10.9.0.0/16\"] }"));
    assert!(ruled.calls.contains("AuthorizeSecurityGroupIngress"), "{}", ruled.calls);
    env.change(&network(1, "kms = {}"));
    env.change(&network(1, ""));
    env.end();
}

#[test]
fn an_endpoint_with_rules_of_its_own_has_its_own_group() {
    let env = TestEnv::new();
    env.change(&with("    kms = {}"));
    let shared = env.attribute("interface_endpoints_security_group_id");
    let own = env.change(&with(
        "    kms = {}\n    mail = { service = \"email-smtp\", allowed_ports = [587], \
         allowed_cidr_blocks = [\"10.9.0.0/16\"] }",
    ));
    assert_eq!(
        own.calls,
        "AuthorizeSecurityGroupIngress 1, CreateSecurityGroup 1, CreateVpcEndpoint 1, RevokeSecurityGroupEgress 1"
    );
    let mail = described(&env, "mail");
    assert_ne!(mail["Groups"][0]["GroupId"], shared);

    // Another group is exchanged in one call, and the unused one is deleted.
    let theirs =
        env.ec2("create_security_group", json!({ "GroupName": "x", "Description": "x", "VpcId": env.id("vpc") }));
    let theirs = theirs["GroupId"].as_str().expect("an ID").to_string();
    let given =
        format!("    kms = {{}}\n    mail = {{ service = \"email-smtp\", security_group_ids = [\"{theirs}\"] }}");
    assert_eq!(env.change(&with(&given)).calls, "DeleteSecurityGroup 1, ModifyVpcEndpoint 1");
    assert_eq!(described(&env, "mail")["Groups"], json!([{ "GroupId": theirs, "GroupName": "x" }]));
    env.workspace.reimport(THIS);
    env.workspace.assert_nothing_to_do();
    env.change(ALONE);
    env.ec2("delete_security_group", json!({ "GroupId": theirs }));
    env.end();
}

#[test]
fn another_tier_and_other_zones_leave_a_gap_that_the_plan_names() {
    let env = TestEnv::new();
    env.change(&with("    kms = {}"));
    let ids = env.attribute("interface_endpoint_ids");
    let moved = with("    kms = { subnet_tier = \"private_persistence\" }");
    env.config(&moved);
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("one AZ after the other"), "{plan}");
    assert_eq!(env.change(&moved).calls, "ModifyVpcEndpoint 4", "AWS rejects two subnets in one AZ");
    let one = with("    kms = { subnet_tier = \"private_persistence\", availability_zones = [\"us-east-1a\"] }");
    assert_eq!(env.change(&one).calls, "ModifyVpcEndpoint 1");
    assert_eq!(described(&env, "kms")["SubnetIds"].as_array().map(Vec::len), Some(1));
    // A whole AZ: the endpoint leaves its subnet before that is deleted.
    env.change(&moved);
    let smaller = moved.replace("num_availability_zones = 2", "num_availability_zones = 1");
    env.change(&smaller);
    let sent = actions(&env);
    let at = |action: &str| sent.iter().position(|it| it == action).unwrap_or_else(|| panic!("{action} in {sent:?}"));
    assert!(at("ModifyVpcEndpoint") < at("DeleteSubnet"), "{sent:?}");
    // Other blocks: the new subnet comes first, unless it needs addresses of the old one.
    let block = |block: &str| {
        let blocks = format!("  private_persistence_subnet_cidr_blocks = {{ AZ-0 = \"{block}\" }}\n  num_nat");
        env.change(&smaller.replacen("  num_nat", &blocks, 1));
        let sent = actions(&env);
        let position = |action: &str| sent.iter().position(|it| it == action);
        let (first, last) = (position("ModifyVpcEndpoint"), sent.iter().rposition(|it| it == "ModifyVpcEndpoint"));
        let created = position("CreateSubnet");
        assert!(first < last && created < last, "{sent:?}");
        created < first
    };
    assert!(block("10.0.240.0/24") && !block("10.0.240.0/23"));
    assert_eq!(env.attribute("interface_endpoint_ids"), ids, "it was never replaced");
    env.end();
}

#[test]
fn drift_of_endpoints_and_groups_is_shown_and_corrected() {
    let env = TestEnv::new();
    let all = with("    kms = {}\n    logs = { tags = { team = \"net\" } }\n    \"ecr.api\" = {}");
    env.change(&all);
    let good = env.snapshot();
    let ids = env.attribute("interface_endpoint_ids");
    let subnet = env.attribute("private_app_subnet_ids")[0].clone();
    let modify = |name: &str, mut change: Value| {
        change["VpcEndpointId"] = ids[name].clone();
        env.proxy.boto("ec2", "modify_vpc_endpoint", change);
    };
    modify("kms", json!({ "RemoveSubnetIds": [subnet] }));
    modify("logs", json!({ "PrivateDnsEnabled": false }));
    env.ec2("create_tags", json!({ "Resources": [ids["logs"]], "Tags": [{ "Key": "team", "Value": "web" }] }));
    env.proxy.boto("ec2", "delete_vpc_endpoints", json!({ "VpcEndpointIds": [ids["ecr.api"]] }));
    let group = env.attribute("interface_endpoints_security_group_id");
    let rule = json!({ "IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{ "CidrIp": "0.0.0.0/0" }] });
    env.ec2("authorize_security_group_ingress", json!({ "GroupId": group, "IpPermissions": [rule] }));

    let after = &env.workspace.plan_json(&[])["resource_drift"][0]["change"]["after"];
    let shown = &after["interface_endpoints"];
    assert_eq!(shown["kms"]["availability_zones"].as_array().map(Vec::len), Some(1), "{after}");
    assert_eq!((&shown["logs"]["private_dns_enabled"], &shown["logs"]["tags"]["team"]), (&json!(false), &json!("web")));
    assert_eq!(shown["ecr.api"], Value::Null);
    let drift = after["drift"].as_object().expect("a map");
    assert!(drift["security_group.interface_endpoints"].to_string().contains("tcp 22 from 0.0.0.0/0"), "{drift:?}");

    let corrected = env.change(&all);
    assert_eq!(
        corrected.calls, "CreateTags 1, CreateVpcEndpoint 1, ModifyVpcEndpoint 2, RevokeSecurityGroupIngress 1",
        "the others are not touched"
    );
    assert_eq!(env.snapshot().lines(), good.lines());
    env.end();
}
