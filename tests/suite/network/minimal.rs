//! Small networks, which contain no object that was not requested.

use serde_json::json;

use super::{THIS, TestEnv};

#[test]
fn required_inputs_alone_use_every_az_and_one_nat_gateway() {
    let env = TestEnv::with_terraform();
    let change = env.change("  num_nat_gateways = 1");
    let of = |kind: &str| change.new.iter().filter(|line| line.starts_with(kind)).count();
    assert_eq!(["subnet ", "nat ", "address ", "table ", "endpoint "].map(of), [18, 1, 1, 14, 2]);
    for line in [
        "subnet main-public-5 us-east-1f use1-az5 10.0.40.0/21 public_ip=false",
        "subnet main-private-app-0 us-east-1a use1-az6 10.0.80.0/21 public_ip=false",
        "subnet main-private-persistence-5 us-east-1f use1-az5 10.0.200.0/21 public_ip=false",
        "table main-private-app-0 [main-private-app-0] 0.0.0.0/0>main-nat-gateway-0 10.0.0.0/16>local",
        "table main-private-app-5 [main-private-app-5] 0.0.0.0/0>main-nat-gateway-0 10.0.0.0/16>local",
    ] {
        assert!(change.new.iter().any(|it| it == line), "no {line} in {:#?}", change.new);
    }
    assert_eq!(env.attribute("transit_subnets"), json!({}));
    env.destroy();
}

#[test]
fn a_first_plan_shows_no_empty_input() {
    let env = TestEnv::with_terraform();
    env.config("  num_availability_zones = 3\n  num_nat_gateways = 1");
    let plan = env.workspace.plan(&[]);
    assert_eq!(plan.code, 2, "{plan}");
    let shown: Vec<&str> = plan.stdout.lines().skip_while(|line| !line.contains("will be created")).collect();
    let end = shown.iter().position(|line| *line == "    }").expect("the end of the resource");
    let shown = &shown[..=end];
    let is_empty = |line: &&&str| ["= {}", "= []", "= \"\""].iter().any(|it| line.ends_with(it));
    let empty: Vec<&str> = shown.iter().filter(is_empty).filter_map(|line| line.split_whitespace().nth(1)).collect();
    // An empty output says that there is nothing.
    let outputs = [
        "drift",
        "flow_log_arns",
        "flow_log_deliver_statuses",
        "flow_log_ids",
        "interface_endpoint_dns_entries",
        "interface_endpoint_ids",
        "interface_endpoint_network_interface_ids",
        "pending_deletion",
        "private_nat_gateway_ids",
        "tags_all",
        "transit_route_table_ids",
        "transit_subnet_arns",
        "transit_subnet_ids",
        "transit_subnets",
    ];
    assert_eq!(empty, outputs, "{plan}");
    assert!(!plan.says("cloud_region"), "{plan}");
    // 385 without `status`, `restrict_default_security_group`, the three lines of `ipv6_subnet_tiers` and the six empty
    // maps of flow logs and interface endpoints, which came later.
    assert!(shown.len() <= 396, "{} lines:\n{plan}", shown.len());
}

#[test]
fn null_and_empty_differ_only_in_the_attribute_itself() {
    let env = TestEnv::with_terraform();
    let inputs = |given: &str| format!("  num_availability_zones = 1\n  num_nat_gateways = 0\n{given}");
    env.change(&inputs(""));
    let names = ["custom_tags", "route_table_layout", "public_propagating_vgws"];
    for name in names {
        assert!(env.attribute(name).is_null(), "{name}");
    }
    let empty = inputs("  custom_tags = {}\n  route_table_layout = {}\n  public_propagating_vgws = []");
    env.config(&empty);
    let plan = env.workspace.plan_json(&[]);
    let change = &plan["resource_changes"][0]["change"];
    assert_eq!(change["actions"], json!(["update"]));
    let after = change["after"].as_object().expect("an object");
    let differs = |name: &&String| change["before"][name.as_str()] != after[name.as_str()];
    assert_eq!(after.keys().filter(differs).collect::<Vec<_>>(), {
        let mut sorted = names;
        sorted.sort_unstable();
        sorted
    });
    let set = env.change(&empty);
    assert_eq!((set.calls.as_str(), set.new.len()), ("", 0));
    // The plan of the configuration without them is empty.
    assert_eq!(env.change(&inputs("")).calls, "");
    assert_eq!(env.attribute("custom_tags"), json!({}));
    env.destroy();
}

#[test]
fn a_network_with_everything_turned_off_is_only_a_vpc() {
    let env = TestEnv::new();
    let other = env.ec2("create_vpc", json!({"CidrBlock": "10.9.0.0/16"}));
    let tags = json!([{"Key": "fgw:resource", "Value": "four_tier_vpc/main"}, {"Key": "fgw:state", "Value": "ready"}]);
    let other = other["Vpc"]["VpcId"].clone();
    env.ec2("create_tags", json!({"Resources": [other], "Tags": tags}));

    // The other network has the same name but is ready, so it does not stop the create.
    let change = env.change(
        "  num_nat_gateways = 2\n  create_public_subnets = false\n  create_private_app_subnets = false\n  \
         create_private_persistence_subnets = false\n  create_vpc_endpoints = false\n  \
         enable_default_security_group = false\n  tenancy = \"dedicated\"",
    );
    assert_eq!(change.calls, "CreateTags 1, CreateVpc 1, ModifyVpcAttribute 1");
    assert!(
        change.new.contains(&"vpc main 10.0.0.0/16 dedicated support=true hostnames=true metrics=false".to_owned()),
        "{change:#?}"
    );
    assert_eq!(env.attribute("aws_objects"), json!({"vpc": env.id("vpc")}));
    for output in ["nat_gateway_ids", "nat_gateway_public_ips", "public_subnet_ids", "private_app_route_table_ids"] {
        assert_eq!(env.attribute(output), json!([]), "{output}");
    }
    for output in ["internet_gateway_id", "objectstore_endpoint_id", "keyvalue_endpoint_id"] {
        assert!(env.attribute(output).is_null(), "{output}");
    }

    env.workspace.destroy().succeeded();
    assert!(env.workspace.state().resource(THIS).is_none());
    let left = env.proxy.account().list_of("vpcs");
    assert_eq!(left.iter().map(|vpc| &vpc["VpcId"]).collect::<Vec<_>>(), [&other], "the other network stays");
}
