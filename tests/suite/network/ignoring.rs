//! Ignored drift: `ignore_changes` for attributes, `ignore_drift` for objects.

use serde_json::json;

use super::TestEnv;

const ONE_AZ: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_vpc_endpoints = false";

#[test]
fn ignored_changes_of_a_drifted_attribute_leave_the_plan_empty() {
    let env = TestEnv::with_terraform();
    let ignoring = |further: &str| {
        format!(
            "{ONE_AZ}\n{further}  lifecycle {{\n    ignore_changes = [enable_dns_hostnames, map_public_ip_on_launch]\n  }}"
        )
    };
    env.change(&ignoring(""));
    env.ec2("modify_vpc_attribute", json!({"VpcId": env.id("vpc"), "EnableDnsHostnames": {"Value": false}}));
    let subnet = env.id("subnet.public.0");
    env.ec2("modify_subnet_attribute", json!({"SubnetId": subnet, "MapPublicIpOnLaunch": {"Value": true}}));
    env.workspace.assert_nothing_to_do();

    // An apply for another reason changes neither, and reports no drift afterwards.
    let tagged = env.change(&ignoring("  vpc_custom_tags = { team = \"net\" }\n"));
    assert_eq!(tagged.calls, "CreateTags 1");
    assert_eq!(env.attribute("enable_dns_hostnames"), false);
    assert_eq!(env.attribute("map_public_ip_on_launch"), true);

    let fixed = env.change(&format!("{ONE_AZ}\n  vpc_custom_tags = {{ team = \"net\" }}"));
    assert_eq!(fixed.calls, "ModifySubnetAttribute 1, ModifyVpcAttribute 1");
    env.destroy();
}

#[test]
fn an_apply_does_not_carry_out_an_ignored_change() {
    let env = TestEnv::with_terraform();
    let ignoring = format!("{ONE_AZ}\n  lifecycle {{\n    ignore_changes = [map_public_ip_on_launch]\n  }}");
    env.change(&ignoring);
    let changed =
        env.change(&format!("  map_public_ip_on_launch = true\n  vpc_custom_tags = {{ a = \"b\" }}\n{ignoring}"));
    assert_eq!(changed.calls, "CreateTags 1", "the plan showed nothing else");
    assert_eq!(env.attribute("map_public_ip_on_launch"), false);
    env.destroy();
}

#[test]
fn ignored_drift_of_an_object_is_neither_reported_nor_fixed() {
    let env = TestEnv::new();
    let ignoring = format!("{ONE_AZ}\n  ignore_drift = [\"default_security_group\", \"route.public.*\"]");
    env.change(&ignoring);
    let rule = json!([{"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}]);
    let group = env.id("default_security_group");
    env.ec2("authorize_security_group_ingress", json!({"GroupId": group, "IpPermissions": rule}));
    let table = env.id("route_table.public");
    env.ec2("delete_route", json!({"RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0"}));
    env.workspace.assert_nothing_to_do();
    assert_eq!(env.attribute("drift"), json!({}));

    // An apply for another reason does not change ignored objects either.
    let other = env.change(&format!("{ignoring}\n  enable_dns_hostnames = false"));
    assert_eq!(other.calls, "ModifyVpcAttribute 1");

    // The drift is fixed once it is no longer ignored.
    let fixed = env.change(&format!("{ONE_AZ}\n  enable_dns_hostnames = false"));
    assert_eq!(fixed.calls, "CreateRoute 1, RevokeSecurityGroupIngress 1");

    env.config(&format!("{ONE_AZ}\n  ignore_drift = [\"default_sg\"]"));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("\"default_sg\" matches no object"), "the plan reports a typo: {plan}");
    env.destroy();
}

#[test]
fn ignored_changes_of_rules_leave_drift_in_place() {
    let env = TestEnv::with_terraform();
    let maps = [
        "default_security_group_ingress_rules",
        "default_security_group_egress_rules",
        "default_nacl_ingress_rules",
        "default_nacl_egress_rules",
    ];
    let with_acl = format!("{ONE_AZ}\n  apply_default_nacl_rules = true");
    let ignoring = |further: &str| {
        format!("{with_acl}\n{further}  lifecycle {{\n    ignore_changes = [{}]\n  }}", maps.join(", "))
    };
    env.change(&ignoring(""));
    let (group, acl) = (env.id("default_security_group"), env.id("default_network_acl"));
    let ssh = json!([{"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}]);
    env.ec2("authorize_security_group_ingress", json!({"GroupId": group, "IpPermissions": ssh}));
    let everything = json!([{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]);
    env.ec2("revoke_security_group_egress", json!({"GroupId": group, "IpPermissions": everything}));
    let deny = json!({"NetworkAclId": acl, "Egress": false, "RuleNumber": 90, "RuleAction": "deny", "Protocol": "6",
                      "CidrBlock": "10.9.0.0/16", "PortRange": {"From": 22, "To": 22}});
    env.ec2("create_network_acl_entry", deny);
    env.ec2("delete_network_acl_entry", json!({"NetworkAclId": acl, "Egress": true, "RuleNumber": 101}));
    env.workspace.assert_nothing_to_do();

    let theirs = env.snapshot();
    let other = env.change(&ignoring("  enable_dns_hostnames = false\n"));
    assert_eq!(other.calls, "ModifyVpcAttribute 1");
    let changed = |line: &&String| !line.starts_with("vpc ");
    assert_eq!(other.new.iter().find(changed), None, "{theirs:?}");
    for map in &maps[..3] {
        assert_ne!(env.attribute(map), json!({}), "{map}");
    }

    // The same with all inbound rules of the group removed.
    let itself = json!([{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]);
    for permissions in [itself, ssh] {
        env.ec2("revoke_security_group_ingress", json!({"GroupId": group, "IpPermissions": permissions}));
    }
    env.workspace.assert_nothing_to_do();

    let fixed = env.change(&format!("{with_acl}\n  enable_dns_hostnames = false"));
    assert_eq!(
        fixed.calls,
        "AuthorizeSecurityGroupEgress 1, AuthorizeSecurityGroupIngress 1, CreateNetworkAclEntry 1, \
         DeleteNetworkAclEntry 1"
    );
    env.destroy();
}

#[test]
fn a_tag_beside_ignored_drift_changes_only_tags() {
    let env = TestEnv::with_terraform();
    let config = |tags: &str| {
        format!(
            "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_vpc_endpoints = false\n  enable_ipv6 = true\n  \
             assign_generated_ipv6_cidr_block = true\n  ignore_drift = [\"subnet.private_app.*\"]\n  custom_tags = {tags}"
        )
    };
    env.change(&config("{}"));
    let subnet = env.id("subnet.private_app.0");
    let range = env.attribute("ipv6_cidr_block").as_str().unwrap().replace("00::/56", "77::/64");
    env.ec2("associate_subnet_cidr_block", json!({"SubnetId": subnet, "Ipv6CidrBlock": range}));
    env.ec2("modify_subnet_attribute", json!({"SubnetId": subnet, "AssignIpv6AddressOnCreation": {"Value": true}}));
    env.workspace.assert_nothing_to_do();
    for tags in ["{ team = \"net\" }", "{ team = \"web\" }", "{}"] {
        let tagged = env.change(&config(tags));
        assert!(!tagged.calls.contains("Cidr") && !tagged.calls.contains("ModifySubnet"), "{}", tagged.calls);
    }
    let shown = env.ec2("describe_subnets", json!({"SubnetIds": [subnet]}));
    let subnet = &shown["Subnets"][0];
    assert_eq!(subnet["AssignIpv6AddressOnCreation"], true, "{shown}");
    assert_eq!(subnet["Ipv6CidrBlockAssociationSet"][0]["Ipv6CidrBlock"], range, "{shown}");
    env.destroy();
}

#[test]
fn a_route_to_an_appliance_stays_until_its_target_is_deleted() {
    let env = TestEnv::with_terraform();
    let config = |nats: u32| {
        format!(
            "  num_availability_zones = 3\n  num_nat_gateways = {nats}\n  create_vpc_endpoints = false\n  ignore_drift = \
             [\"route.private_app.*\"]"
        )
    };
    env.change(&config(3));
    let subnet = env.id("subnet.private_app.0");
    let interface = env.ec2("create_network_interface", json!({"SubnetId": subnet}));
    let appliance = interface["NetworkInterface"]["NetworkInterfaceId"].as_str().unwrap().to_string();
    let repoint = |tier: &str, target: serde_json::Value| {
        let mut route =
            json!({"RouteTableId": env.id(&format!("route_table.{tier}")), "DestinationCidrBlock": "0.0.0.0/0"});
        route.as_object_mut().unwrap().extend(target.as_object().unwrap().clone());
        env.ec2("replace_route", route);
    };
    repoint("private_app.1", json!({"NetworkInterfaceId": appliance}));
    repoint("private_app.0", json!({"NatGatewayId": env.id("nat_gateway.2")}));
    env.workspace.assert_nothing_to_do();
    env.config(&config(1));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("route.private_app.0.ipv4: target nat_gateway.2 becomes nat_gateway.0"), "{plan}");
    assert!(!plan.says("route.private_app.1.ipv4: target"), "the route to the appliance stays: {plan}");
    env.change(&config(1));
    let targets = env.attribute("route_targets");
    assert_eq!(targets["route.private_app.1.ipv4"], *appliance);
    assert_eq!(targets["route.private_app.0.ipv4"], *env.id("nat_gateway.0"));
    env.workspace.assert_nothing_to_do();
    env.ec2(
        "replace_route",
        json!({"RouteTableId": env.id("route_table.private_app.1"),
        "DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": env.id("nat_gateway.0")}),
    );
    env.ec2("delete_network_interface", json!({"NetworkInterfaceId": appliance}));
    env.destroy();
}

/// Terraform validates the configuration as it is written, and plans it with what `ignore_changes` keeps.
#[test]
fn ignored_ranges_do_not_block_a_plan() {
    let env = TestEnv::with_terraform();
    let blocks = format!("{ONE_AZ}\n  private_app_subnet_cidr_blocks = {{ AZ-0 = \"100.64.0.0/20\" }}");
    env.change(&format!("{blocks}\n  secondary_cidr_blocks = [\"100.64.0.0/16\"]"));
    env.config(&format!("{blocks}\n  lifecycle {{\n    ignore_changes = [secondary_cidr_blocks]\n  }}"));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("unless ignore_changes covers one of the inputs"), "{plan}");
    env.workspace.assert_nothing_to_do();
    env.config(&blocks);
    env.workspace.plan(&[]).failed_with("100.64.0.0/20 is outside");
    env.config(ONE_AZ);
    env.destroy();
}

#[test]
fn each_pair_is_checked_in_the_plan() {
    let env = TestEnv::new();
    for (pair, message) in [
        ("  public_subnet_cidr_blocks = { AZ-0 = \"192.168.0.0/24\" }", "is outside"),
        ("  secondary_cidr_blocks = [\"10.0.16.0/20\"]", "overlaps"),
        ("  ipv4_netmask_length = 20", "conflicts with cidr_block"),
        ("  enable_ipv6 = true", "the IPv6 range has no source"),
        ("  availability_zone_ids = [\"use1-az6\"]\n  availability_zone_exclude_ids = [\"use1-az6\"]", "is also in"),
        ("  availability_zone_ids = [\"use1-az6\"]\n  availability_zone_names = [\"us-east-1a\"]", "conflicts with"),
    ] {
        env.config(&format!("{ONE_AZ}\n{pair}"));
        let validated = env.workspace.validate();
        validated.succeeded();
        assert!(validated.says(message) && validated.says("unless ignore_changes covers"), "{pair}: {validated}");
        env.workspace.plan(&[]).failed_with(message);
    }
    // What one input breaks alone, no other one can change.
    env.config(&format!("{ONE_AZ}\n  public_subnet_cidr_blocks = {{ AZ-0 = \"10.0.0.0/40\" }}"));
    let validated = env.workspace.validate();
    assert_ne!(validated.code, 0, "{validated}");
    assert_eq!(env.proxy.calls().len(), env.proxy.count("GetCallerIdentity"), "nothing is read");
}
