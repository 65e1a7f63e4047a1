//! Drift that users leave to others: `ignore_changes` for what an attribute expresses, `ignore_drift` for objects.

use serde_json::json;

use super::TestEnv;

const ONE_AZ: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_vpc_endpoints = false";

#[test]
fn ignored_changes_of_a_drifted_attribute_leave_the_plan_empty() {
    let bed = TestEnv::with_terraform();
    let ignoring = |further: &str| {
        format!(
            "{ONE_AZ}\n{further}  lifecycle {{\n    ignore_changes = [enable_dns_hostnames, map_public_ip_on_launch]\n  }}"
        )
    };
    bed.change(&ignoring(""));
    bed.ec2("modify_vpc_attribute", json!({"VpcId": bed.id("vpc"), "EnableDnsHostnames": {"Value": false}}));
    let subnet = bed.id("subnet.public.0");
    bed.ec2("modify_subnet_attribute", json!({"SubnetId": subnet, "MapPublicIpOnLaunch": {"Value": true}}));
    bed.workspace.assert_nothing_to_do();

    // An apply for another reason leaves both as they are, and has nothing to report afterwards.
    let tagged = bed.change(&ignoring("  vpc_custom_tags = { team = \"net\" }\n"));
    assert_eq!(tagged.calls, "CreateTags 1");
    assert_eq!(bed.attribute("enable_dns_hostnames"), false);
    assert_eq!(bed.attribute("map_public_ip_on_launch"), true);

    let mended = bed.change(&format!("{ONE_AZ}\n  vpc_custom_tags = {{ team = \"net\" }}"));
    assert_eq!(mended.calls, "ModifySubnetAttribute 1, ModifyVpcAttribute 1");
    bed.destroy();
}

#[test]
fn an_apply_does_not_carry_out_a_change_that_terraform_was_told_to_ignore() {
    let bed = TestEnv::with_terraform();
    let ignoring = format!("{ONE_AZ}\n  lifecycle {{\n    ignore_changes = [map_public_ip_on_launch]\n  }}");
    bed.change(&ignoring);
    let changed =
        bed.change(&format!("  map_public_ip_on_launch = true\n  vpc_custom_tags = {{ a = \"b\" }}\n{ignoring}"));
    assert_eq!(changed.calls, "CreateTags 1", "the plan showed nothing else");
    assert_eq!(bed.attribute("map_public_ip_on_launch"), false);
    bed.destroy();
}

#[test]
fn ignored_drift_of_an_object_is_neither_reported_nor_mended() {
    let bed = TestEnv::new();
    let ignoring = format!("{ONE_AZ}\n  ignore_drift = [\"default_security_group\", \"route.public.*\"]");
    bed.change(&ignoring);
    let rule = json!([{"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}]);
    let group = bed.id("default_security_group");
    bed.ec2("authorize_security_group_ingress", json!({"GroupId": group, "IpPermissions": rule}));
    let table = bed.id("route_table.public");
    bed.ec2("delete_route", json!({"RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0"}));
    bed.workspace.assert_nothing_to_do();
    assert_eq!(bed.attribute("drift"), json!({}));

    // What is ignored is not touched by an apply for another reason either.
    let other = bed.change(&format!("{ignoring}\n  enable_dns_hostnames = false"));
    assert_eq!(other.calls, "ModifyVpcAttribute 1");

    // It is mended once it is ignored no longer.
    let mended = bed.change(&format!("{ONE_AZ}\n  enable_dns_hostnames = false"));
    assert_eq!(mended.calls, "CreateRoute 1, RevokeSecurityGroupIngress 1");

    bed.config(&format!("{ONE_AZ}\n  ignore_drift = [\"default_sg\"]"));
    let plan = bed.workspace.plan(&[]);
    assert!(plan.says("has no object \"default_sg\""), "a slip of the pen is told");
    bed.destroy();
}

#[test]
fn ignored_changes_of_rules_leave_to_others_what_they_add_and_take_away() {
    let bed = TestEnv::with_terraform();
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
    bed.change(&ignoring(""));
    let (group, acl) = (bed.id("default_security_group"), bed.id("default_network_acl"));
    let ssh = json!([{"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}]);
    bed.ec2("authorize_security_group_ingress", json!({"GroupId": group, "IpPermissions": ssh}));
    let everything = json!([{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]);
    bed.ec2("revoke_security_group_egress", json!({"GroupId": group, "IpPermissions": everything}));
    let deny = json!({"NetworkAclId": acl, "Egress": false, "RuleNumber": 90, "RuleAction": "deny", "Protocol": "6",
                      "CidrBlock": "10.9.0.0/16", "PortRange": {"From": 22, "To": 22}});
    bed.ec2("create_network_acl_entry", deny);
    bed.ec2("delete_network_acl_entry", json!({"NetworkAclId": acl, "Egress": true, "RuleNumber": 101}));
    bed.workspace.assert_nothing_to_do();

    let theirs = bed.snapshot();
    let other = bed.change(&ignoring("  enable_dns_hostnames = false\n"));
    assert_eq!(other.calls, "ModifyVpcAttribute 1");
    let changed = |line: &&String| !line.starts_with("vpc ");
    assert_eq!(other.new.iter().find(changed), None, "{theirs:?}");
    for map in &maps[..3] {
        assert_ne!(bed.attribute(map), json!({}), "{map}");
    }

    // Also what is taken away altogether.
    let itself = json!([{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]);
    for permissions in [itself, ssh] {
        bed.ec2("revoke_security_group_ingress", json!({"GroupId": group, "IpPermissions": permissions}));
    }
    bed.workspace.assert_nothing_to_do();

    let mended = bed.change(&format!("{with_acl}\n  enable_dns_hostnames = false"));
    assert_eq!(
        mended.calls,
        "AuthorizeSecurityGroupEgress 1, AuthorizeSecurityGroupIngress 1, CreateNetworkAclEntry 1, \
         DeleteNetworkAclEntry 1"
    );
    bed.destroy();
}
