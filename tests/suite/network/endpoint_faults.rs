//! Interface endpoints when AWS rejects, delays or loses something, and next to foreign ones.

use serde_json::{Value, json};

use super::{THIS, TestEnv, text};
use crate::support::interruption::interrupt;
use crate::support::proxy::fault::Fault;
use crate::support::proxy::lasts::Lasts;
use crate::support::proxy::log::Record;

const ALONE: &str = "  num_availability_zones = 2\n  num_nat_gateways = 0\n  create_public_subnets = false";

const PARTNER: &str = "com.amazonaws.vpce.us-east-1.vpce-svc-0123456789abcdef0";

/// A network without gateway endpoints, and with these interface endpoints.
fn with(endpoints: &str) -> String {
    format!("{}\n  interface_endpoints = {{ {endpoints} }}", alone())
}

fn alone() -> String {
    format!("{ALONE}\n  create_vpc_endpoints = false")
}

/// The endpoint with this name, as AWS describes it.
fn described(env: &TestEnv, name: &str) -> Value {
    let id = env.attribute("interface_endpoint_ids")[name].clone();
    env.proxy.boto("ec2", "describe_vpc_endpoints", json!({ "VpcEndpointIds": [id] }))["VpcEndpoints"][0].clone()
}

/// An endpoint in the first subnet of the private app tier, which the network does not manage.
fn foreign(env: &TestEnv, service: &str, more: Value) -> String {
    let mut endpoint = json!({
        "VpcId": env.id("vpc"), "VpcEndpointType": "Interface", "SubnetIds": [env.id("subnet.private_app.0")],
        "ServiceName": format!("com.amazonaws.us-east-1.{service}"),
    });
    endpoint.as_object_mut().expect("a map").extend(more.as_object().cloned().unwrap_or_default());
    text(&env.proxy.boto("ec2", "create_vpc_endpoint", endpoint)["VpcEndpoint"]["VpcEndpointId"])
}

fn delete(env: &TestEnv, endpoint: &str) {
    env.proxy.boto("ec2", "delete_vpc_endpoints", json!({ "VpcEndpointIds": [endpoint] }));
}

fn position(env: &TestEnv, is_it: impl Fn(&Record) -> bool) -> usize {
    let calls = env.proxy.mutations();
    calls.iter().position(is_it).unwrap_or_else(|| panic!("{:?}", env.proxy.mutation_counts()))
}

fn rejected(env: &TestEnv, code: &str) -> usize {
    env.proxy.count_like(|record| record.error.as_deref() == Some(code))
}

#[test]
fn the_owner_of_a_service_accepts_later_or_rejects() {
    let env = TestEnv::new();
    env.proxy.endpoint_service(PARTNER, &["us-east-1a", "us-east-1b"], Some("api.partner.example"));
    let partner = |more: &str| with(&format!("partner = {{ service_name = \"{PARTNER}\"{more} }}"));
    let config = partner(", private_dns_enabled = true");
    env.change(&config);
    let says = |words: &str| {
        env.workspace.apply(&["-refresh-only"]).succeeded();
        let plan = env.workspace.plan(&[]);
        let id = text(&env.attribute("interface_endpoint_ids")["partner"]);
        assert!(plan.code == 0 && plan.says(words) && plan.says(&id), "{plan}");
    };
    says(&format!("waits for the owner of {PARTNER} to accept it"));
    assert_eq!(described(&env, "partner")["PrivateDnsEnabled"], false);

    env.proxy.answer_endpoint_requests(true);
    described(&env, "partner");
    assert_eq!(env.apply().calls, "ModifyVpcEndpoint 1");
    assert_eq!(described(&env, "partner")["PrivateDnsEnabled"], true);

    env.change(&alone());
    env.change(&config);
    env.proxy.answer_endpoint_requests(false);
    says("is rejected, so that");
    assert_eq!(env.change(&partner(", private_dns_enabled = true, tags = { a = \"b\" }")).calls, "CreateTags 1");
    env.destroy();
}

#[test]
fn an_endpoint_stays_until_the_owner_has_accepted_its_successor() {
    let env = TestEnv::new();
    env.proxy.endpoint_service(PARTNER, &["us-east-1a", "us-east-1b"], None);
    env.change(&with("x = { service = \"kms\" }"));
    let old = env.id("interface_endpoint.x");
    env.config(&with(&format!("x = {{ service_name = \"{PARTNER}\" }}")));
    env.workspace.apply(&[]).succeeded();
    assert_eq!(env.attribute("pending_deletion"), serde_json::json!({ "interface_endpoint.x": old }));
    assert_eq!(env.workspace.plan(&[]).code, 0, "it waits for the owner");
    env.proxy.answer_endpoint_requests(true);
    described(&env, "x");
    assert_eq!(env.apply().calls, "DeleteVpcEndpoints 1");
    assert_eq!(env.attribute("pending_deletion"), serde_json::json!({}));
    env.destroy();
}

#[test]
fn each_way_out_of_a_conflict_of_private_names_works() {
    let env = TestEnv::new();
    env.change(&alone());
    let other = foreign(&env, "kms", json!({}));
    env.config(&with("kms = {}"));
    env.proxy.clear_calls();
    let failed = env.workspace.plan(&[]);
    failed.failed_with(&format!("{other} has the private DNS names of com.amazonaws.us-east-1.kms in this VPC"));
    failed.failed_with("Otherwise set private_dns_enabled to false, or delete that endpoint");
    assert_eq!(env.calls(), "");

    env.change(&with("kms = { private_dns_enabled = false }"));
    env.config(&with("kms = {}"));
    env.workspace.plan(&[]).failed_with(&format!("{other} has the private DNS names"));
    delete(&env, &other);
    env.apply();
    assert_eq!(described(&env, "kms")["PrivateDnsEnabled"], true);
    env.destroy();
}

#[test]
fn a_gateway_endpoint_with_our_routes_is_named_in_the_plan() {
    let env = TestEnv::new();
    env.change(&alone());
    let table = env.id("route_table.private_app.0");
    let theirs = json!({
        "VpcId": env.id("vpc"), "ServiceName": "com.amazonaws.us-east-1.s3", "RouteTableIds": [table],
        "VpcEndpointType": "Gateway",
    });
    let theirs = text(&env.proxy.boto("ec2", "create_vpc_endpoint", theirs)["VpcEndpoint"]["VpcEndpointId"]);
    env.config(ALONE);
    env.proxy.clear_calls();
    let plan = env.workspace.plan(&[]);
    plan.failed_with(&format!(
        "{theirs}, which this resource does not manage, routes to com.amazonaws.us-east-1.s3 in"
    ));
    assert!(plan.says(&table) && plan.says("create_vpc_endpoints to false"), "{plan}");
    assert_eq!(env.calls(), "");
    delete(&env, &theirs);
    env.change(ALONE);
    env.destroy();
}

/// terraform-aws-modules/terraform-aws-vpc#785 and #462
#[test]
fn an_az_without_the_service_is_named_and_left_out() {
    let env = TestEnv::new();
    let mail = with("email-smtp = { allowed_ports = [587] }");
    env.config(&mail.replace("num_availability_zones = 2", "num_availability_zones = 1"));
    env.workspace.plan(&[]).failed_with("but the tier private_app has subnets in us-east-1a");
    env.config(&mail);
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("com.amazonaws.us-east-1.email-smtp is not available in us-east-1a"), "{plan}");
    env.change(&mail);
    assert_eq!(described(&env, "email-smtp")["SubnetIds"], json!([env.id("subnet.private_app.1")]));
    assert_eq!(env.proxy.count_like(|record| record.error.is_some()), 0);
    env.destroy();
}

/// terraform-aws-modules/terraform-aws-vpc#1012 and #982, hashicorp/terraform-provider-aws#31117
#[test]
fn the_gateway_endpoint_of_s3_outlives_the_interface_endpoint() {
    let env = TestEnv::new();
    let s3 = |more: &str| format!("{ALONE}\n  interface_endpoints = {{ s3 = {{ {more} }} }}");
    let inbound = |env: &TestEnv| {
        described(env, "s3")["DnsOptions"]["PrivateDnsOnlyForInboundResolverEndpoint"]
            .as_bool()
            .expect("AWS returns it")
    };
    let is_gateway = |record: &Record| record.call.param("VpcEndpointType") == "Gateway";
    let is_interface = |record: &Record| record.call.param("VpcEndpointType") == "Interface";
    env.change(&s3(""));
    let is_s3 = |record: &Record| is_gateway(record) && record.call.param("ServiceName").ends_with("s3");
    assert!(position(&env, is_s3) < position(&env, is_interface));
    assert!(inbound(&env));
    let own = env.id("interface_endpoint.s3");

    assert_eq!(env.change(&s3("private_dns_enabled = false")).calls, "ModifyVpcEndpoint 1");
    assert_eq!(env.change(&s3("")).calls, "ModifyVpcEndpoint 1");
    assert!(inbound(&env));

    // Without the option, the gateway endpoint can be deleted in the same apply, and created with it.
    let without = |it: String| format!("{it}\n  create_vpc_endpoints = false");
    env.config(&without(s3("")));
    env.workspace.plan(&[]).failed_with("Set create_vpc_endpoints to true");
    let deletes = |record: &Record| record.call.action == "DeleteVpcEndpoints";
    let modifies = |record: &Record| record.call.action == "ModifyVpcEndpoint";
    env.change(&without(s3("private_dns_only_for_inbound_resolver_endpoint = false")));
    assert!(position(&env, modifies) < position(&env, deletes) && !inbound(&env));
    env.change(&s3(""));
    assert!(position(&env, is_s3) < position(&env, modifies) && inbound(&env));
    assert_eq!(env.id("interface_endpoint.s3"), own);

    let of_gateway = env.id("vpc_endpoint.objectstore");
    env.change(&alone());
    let of = |id: String| move |record: &Record| deletes(record) && record.call.params.values().any(|it| *it == id);
    assert!(position(&env, of(own)) < position(&env, of(of_gateway)));
    assert_eq!(rejected(&env, "InvalidParameter"), 0);
    env.destroy();
}

/// hashicorp/terraform-provider-aws#24820 and #43124
#[test]
fn groups_and_subnets_are_deleted_after_the_last_interface() {
    let env = TestEnv::new();
    env.proxy.endpoint_deleting(Lasts::Answers(3));
    env.proxy.endpoint_interfaces(Lasts::Answers(3));
    let both = with("kms = {}, ssm = { allowed_ports = [443, 8443] }");
    env.change(&both);
    env.change(&both.replace("num_availability_zones = 2", "num_availability_zones = 1"));
    env.change(&with("kms = {}"));
    assert_eq!(rejected(&env, "DependencyViolation"), 0);
    env.proxy.clear_calls();
    env.destroy();
    assert_eq!(rejected(&env, "DependencyViolation"), 0);
}

#[test]
fn a_failed_endpoint_is_replaced() {
    let env = TestEnv::new();
    env.change(&alone());
    env.config(&with("kms = {}, ssm = {}"));
    let fail = || env.proxy.endpoint_fails(1, "InsufficientFreeAddressesInSubnet", "The subnet has no free addresses");
    fail();
    env.workspace.apply(&[]).failed_with("is failed: The subnet has no free addresses");
    env.assert_state_matches_aws();
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("has failed") && !plan.says("resolve to public addresses"), "{plan}");
    let failed: Vec<Value> = env.proxy.boto("ec2", "describe_vpc_endpoints", json!({}))["VpcEndpoints"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|it| it["State"] == "failed")
        .map(|it| it["VpcEndpointId"].clone())
        .collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(env.apply().calls, "CreateVpcEndpoint 1, DeleteVpcEndpoints 1");
    let ids = env.attribute("interface_endpoint_ids");
    assert!(ids["kms"] != failed[0] && ids["ssm"] != failed[0], "{ids}");
    assert_eq!(described(&env, "kms")["State"], "available");

    fail();
    env.config(&with("kms = {}, ssm = {}, sns = {}"));
    env.workspace.apply(&[]).failed_with("is failed: The subnet has no free addresses");
    env.destroy();
}

#[test]
fn lost_answers_create_and_leave_no_second_object() {
    let env = TestEnv::new();
    let lose = |actions: &[&str]| {
        for action in actions {
            env.proxy.fault(Fault::on(action).nth(1).after_work().reset());
        }
    };
    env.change(&alone());
    env.proxy.hide_new_objects(Lasts::Answers(2));
    lose(&["CreateVpcEndpoint", "CreateSecurityGroup", "AuthorizeSecurityGroupIngress", "RevokeSecurityGroupEgress"]);
    env.change(&with("kms = {}, ssm = { availability_zones = [\"us-east-1a\"] }"));
    env.assert_state_matches_aws();
    let count = |kind: &str| env.proxy.account().list_of(kind).len();
    assert_eq!([count("vpc_endpoints"), count("security_groups")], [2, 2], "one is the default group");

    env.proxy.clear_faults();
    lose(&["ModifyVpcEndpoint"]);
    env.change(&with("kms = {}, ssm = {}"));
    env.proxy.clear_faults();
    lose(&["ModifyVpcEndpoint"]);
    env.change(&with("kms = {}, ssm = { availability_zones = [\"us-east-1b\"] }"));
    assert_eq!(described(&env, "ssm")["SubnetIds"], json!([env.id("subnet.private_app.1")]));
    env.proxy.clear_faults();
    lose(&["DeleteVpcEndpoints", "DeleteSecurityGroup"]);
    env.destroy();
}

fn creates_an_endpoint(record: &Record) -> bool {
    record.call.action == "CreateVpcEndpoint" && record.worked.is_some()
}

const APPLY: [&str; 4] = ["apply", "-no-color", "-input=false", "-auto-approve"];

#[test]
fn ctrl_c_ends_the_wait_for_an_endpoint() {
    let env = TestEnv::with_terraform();
    env.config(&with("kms = {}"));
    env.proxy.endpoint_pending(Lasts::UntilSet);
    env.proxy.pause_when(1, creates_an_endpoint);
    let run = interrupt(&env.workspace, env.workspace.start(&APPLY), &env.proxy, || {}).run;
    run.failed_with("stopped waiting; last seen: the endpoint is pending");
    env.assert_state_matches_aws();
    assert!(env.id("interface_endpoint.kms").starts_with("vpce-"));
    env.destroy();
}

#[test]
fn an_apply_takes_over_what_a_killed_one_has_created() {
    let env = TestEnv::with_terraform();
    env.change(&alone());
    env.config(&with("kms = {}"));
    env.proxy.clear_calls();
    env.proxy.pause_when(1, creates_an_endpoint);
    let mut running = env.workspace.start(&APPLY);
    running.reach(|| env.proxy.is_paused());
    running.kill();
    drop(running);
    env.proxy.finish_calls();
    env.proxy.clear_calls();
    env.apply();
    assert_eq!(["CreateVpcEndpoint", "CreateSecurityGroup"].map(|it| env.proxy.count(it)), [0, 0]);
    env.assert_state_matches_aws();
    env.destroy();
}

#[test]
fn endpoints_of_guardduty_and_ours_for_it_are_kept_apart() {
    let env = TestEnv::new();
    let allowed = |it: String| format!("{it}\n  delete_guardduty_resources = true");
    env.change(&allowed(with("guardduty-data = {}")));
    let own = env.id("interface_endpoint.guardduty-data");
    let tags = json!([{ "Key": "GuardDutyManaged", "Value": "true" }]);
    let theirs = json!({
        "PrivateDnsEnabled": false, "TagSpecifications": [{ "ResourceType": "vpc-endpoint", "Tags": tags }],
    });
    let theirs = foreign(&env, "guardduty-data", theirs);
    let before = env.ec2("describe_vpc_endpoints", json!({ "VpcEndpointIds": [theirs] }));
    let both = "guardduty-data = {}, theirs = { service = \"guardduty-data\", private_dns_enabled = false }";
    env.config(&format!("{}\n  adopt = {{ \"interface_endpoint.theirs\" = \"{theirs}\" }}", allowed(with(both))));
    env.workspace.plan(&[]).failed_with("GuardDuty created it");
    env.change(&allowed(with("guardduty-data = { private_dns_enabled = false, tags = { team = \"net\" } }")));
    env.change(&allowed(with("guardduty-data = {}").replace("zones = 2", "zones = 1")));
    assert_eq!(env.id("interface_endpoint.guardduty-data"), own);
    let after = env.ec2("describe_vpc_endpoints", json!({ "VpcEndpointIds": [theirs] }));
    assert_eq!(before["VpcEndpoints"], after["VpcEndpoints"]);

    env.workspace.reimport(THIS);
    assert_eq!(env.apply().calls, "");
    assert_eq!(env.id("interface_endpoint.guardduty-data"), own);
    env.destroy();
}

#[test]
fn a_foreign_group_with_our_name_is_named_and_can_be_adopted() {
    let env = TestEnv::new();
    env.change(&alone());
    let group = json!({ "GroupName": "Interface-Endpoints", "Description": "theirs", "VpcId": env.id("vpc") });
    let theirs = text(&env.ec2("create_security_group", group)["GroupId"]);
    env.config(&with("kms = {}"));
    let adopt = format!("\"security_group.interface_endpoints\" = \"{theirs}\"");
    env.workspace.plan(&[]).failed_with(&format!("{adopt} in adopt"));
    let group_of = |env: &TestEnv| text(&described(env, "kms")["Groups"][0]["GroupId"]);
    env.change(&with(&format!("kms = {{ security_group_ids = [\"{theirs}\"] }}")));
    assert_eq!(group_of(&env), theirs);
    env.change(&alone());

    let adopted = format!("{}\n  adopt = {{ {adopt} }}", with("kms = {}"));
    env.config(&adopted);
    let refused = env.workspace.plan(&[]);
    refused.failed_with("egress: - all traffic to 0.0.0.0/0; ingress: + tcp 443 from 10.0.0.0/16");
    let rules = |rule: Value| json!({ "GroupId": theirs, "IpPermissions": [rule] });
    env.ec2(
        "revoke_security_group_egress",
        rules(json!({ "IpProtocol": "-1", "IpRanges": [{ "CidrIp": "0.0.0.0/0" }] })),
    );
    let https =
        json!({ "IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": [{ "CidrIp": "10.0.0.0/16" }] });
    env.ec2("authorize_security_group_ingress", rules(https));
    assert_eq!(env.change(&adopted).calls, "CreateTags 1, CreateVpcEndpoint 1");
    assert_eq!(group_of(&env), theirs);
    env.destroy();
}

/// The limiter of the provider lets a minute pass.
#[test]
fn twenty_endpoints_are_never_throttled_and_cost_no_read() {
    let env = TestEnv::new();
    let three = |more: &str| format!("{}{more}", ALONE.replace("zones = 2", "zones = 3"));
    let plan_calls = |options: &[&str]| {
        env.proxy.clear_calls();
        let plan = env.workspace.plan(options);
        assert_eq!(plan.code, 0, "{plan}");
        env.proxy.by_action()
    };
    env.change(&three(""));
    let before = [plan_calls(&["-refresh-only"]), plan_calls(&[])];
    let services = [
        "athena",
        "codebuild",
        "ec2",
        "ec2messages",
        "ecr.api",
        "ecr.dkr",
        "ecs",
        "events",
        "execute-api",
        "glue",
        "kms",
        "lambda",
        "logs",
        "monitoring",
        "secretsmanager",
        "sns",
        "sqs",
        "ssm",
        "ssmmessages",
        "sts",
    ];
    let entries = services.map(|it| format!("\"{it}\" = {{}}")).join(", ");
    env.config(&three(&format!("\n  interface_endpoints = {{ {entries} }}")));
    env.proxy.clear_calls();
    env.proxy.throttle();
    env.workspace.apply(&[]).succeeded();
    let calls = env.proxy.by_action();
    assert_eq!(rejected(&env, "RequestLimitExceeded"), 0, "{calls:?}");
    assert_eq!(
        env.calls(),
        "AuthorizeSecurityGroupIngress 1, CreateSecurityGroup 1, CreateVpcEndpoint 20, RevokeSecurityGroupEgress 1"
    );
    assert_eq!([plan_calls(&["-refresh-only"]), plan_calls(&[])], before);
}

#[test]
fn an_endpoint_with_ipv6_is_created_together_with_its_range() {
    let env = TestEnv::new();
    env.change(
        "  num_availability_zones = 1\n  num_nat_gateways = 0\n  enable_ipv6 = true\n  \
         assign_generated_ipv6_cidr_block = true\n  interface_endpoints = {\n    \
         s3 = { subnet_tier = \"public\", ip_address_type = \"dualstack\" }\n  }",
    );
    let s3 = described(&env, "s3");
    let group = env.ec2("describe_security_groups", json!({ "GroupIds": [s3["Groups"][0]["GroupId"]] }));
    let rule = &group["SecurityGroups"][0]["IpPermissions"][0];
    assert_eq!(s3["IpAddressType"], "dualstack");
    assert!(text(&rule["Ipv6Ranges"][0]["CidrIpv6"]).ends_with("/56"), "{rule}");
    env.destroy();
}
