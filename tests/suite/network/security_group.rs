//! The VPC's default security group.

use serde_json::json;

use super::{THIS, TestEnv};
use crate::support::proxy::fault::Fault;

const ALONE: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_public_subnets = false\n  \
                     create_private_app_subnets = false\n  create_private_persistence_subnets = false\n  \
                     create_vpc_endpoints = false";

fn with(rules: &str) -> String {
    format!("{ALONE}\n{rules}")
}

const HTTPS_AND_SELF: &str = "  default_security_group_ingress_rules = {
    https = { protocol = \"tcp\", from_port = 443, to_port = 443, cidr_blocks = [\"10.0.0.0/8\", \"192.168.0.0/16\"] }
    itself = { protocol = \"-1\", from_port = 0, to_port = 0, self = true }
  }";

#[test]
fn rules_of_the_default_group_change_one_by_one() {
    let env = TestEnv::new();
    env.change(ALONE);
    let allowed = env.change(&with(HTTPS_AND_SELF));
    assert_eq!(allowed.calls, "AuthorizeSecurityGroupIngress 1");
    assert_eq!(
        allowed.new,
        [
            "group default main in(-1 self, tcp:443-443 10.0.0.0/8, tcp:443-443 192.168.0.0/16) out(-1 0.0.0.0/0, -1 ::/0)"
        ]
    );

    // One range replaces another: the new rule is created first.
    let moved = env.change(&with(&HTTPS_AND_SELF.replace("10.0.0.0/8", "172.16.0.0/12")));
    assert_eq!(moved.calls, "AuthorizeSecurityGroupIngress 1, RevokeSecurityGroupIngress 1");
    let actions: Vec<String> = env.proxy.mutations().into_iter().map(|record| record.call.action).collect();
    assert_eq!(actions, ["AuthorizeSecurityGroupIngress", "RevokeSecurityGroupIngress"]);

    // An empty map leaves the rules as they are, and the plan says so.
    env.config(&with("  default_security_group_ingress_rules = {}"));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("still allows this traffic") && plan.says("tcp 443 from 172.16.0.0/12"), "{plan}");
    let left = env.change(&with("  default_security_group_ingress_rules = {}"));
    assert_eq!((left.calls.as_str(), left.new.len()), ("", 0));

    let outbound = env.change(&with(
        "  default_security_group_egress_rules = {\n    dns = { protocol = \"udp\", from_port = 53, to_port = 53, \
         cidr_blocks = [\"10.0.0.2/32\"], description = \"names\" }\n  }",
    ));
    assert_eq!(
        outbound.new,
        ["group default main in(-1 self) out(udp:53-53 10.0.0.2/32)"],
        "the default inbound rule is back"
    );

    // When the group is no longer managed, it loses the applied rules, its name and its ownership tags.
    let off = with("  enable_default_security_group = false");
    env.config(&off);
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("The rules of the default security group that this resource set are revoked."), "{plan}");
    let off = env.change(&off);
    assert_eq!(off.calls, "DeleteTags 1, RevokeSecurityGroupEgress 1, RevokeSecurityGroupIngress 1");
    assert!(off.new.len() == 1 && off.new[0].ends_with(" in() out()"), "{off:#?}");
    assert!(off.new[0].starts_with("group default sg-"), "{off:#?}");
    let on = env.change(ALONE);
    assert_eq!(on.new, ["group default main in(-1 self) out(-1 0.0.0.0/0, -1 ::/0)"]);
    env.destroy();
}

/// hashicorp/aws removes the rules that a configuration no longer has. The specification of this resource leaves them
/// until the group is released.
#[test]
fn rules_that_an_empty_map_has_left_are_revoked_with_the_release() {
    let env = TestEnv::new();
    let egress = "  default_security_group_egress_rules = { dns = { protocol = \"udp\", from_port = 53, to_port = 53, \
                  cidr_blocks = [\"10.0.0.2/32\"] } }";
    env.change(&with(&format!("{HTTPS_AND_SELF}\n{egress}")));
    let empty = with("  default_security_group_ingress_rules = {}\n  default_security_group_egress_rules = {}");
    let left = env.change(&empty);
    assert_eq!((left.calls.as_str(), left.new.len()), ("", 0));
    let group = env.attribute("aws_objects")["default_security_group"].clone();
    let theirs =
        json!([{ "IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{ "CidrIp": "10.9.0.0/16" }] }]);
    env.ec2("authorize_security_group_ingress", json!({ "GroupId": group, "IpPermissions": theirs }));
    env.workspace.assert_nothing_to_do();
    let off = env.change(&with("  enable_default_security_group = false"));
    assert!(off.new.len() == 1 && off.new[0].ends_with(" in(tcp:22-22 10.9.0.0/16) out()"), "{off:#?}");
    // Null requires AWS's own rules, and only these.
    let on = env.change(ALONE);
    assert_eq!(on.new, ["group default main in(-1 self) out(-1 0.0.0.0/0, -1 ::/0)"]);
    env.end();
}

/// The instance has no group of its own, so AWS puts it into the default one.
#[test]
fn a_restricted_default_group_has_no_rules() {
    let env = TestEnv::new();
    let subnets = ALONE.replace("  create_private_app_subnets = false\n", "");
    let with = |more: &str| format!("{subnets}\n{more}");
    env.change(&subnets);
    let subnet = env.attribute("private_app_subnet_ids")[0].as_str().expect("an ID").to_string();
    let interface = env.ec2("create_network_interface", json!({ "SubnetId": subnet }));
    let id = interface["NetworkInterface"]["NetworkInterfaceId"].as_str().expect("an ID").to_string();

    let restricted = with("  restrict_default_security_group = true");
    env.config(&restricted);
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("Updating fgw_four_tier_vpc \"main\" cuts off 1 network interface") && plan.says(&id), "{plan}");
    let on = env.change(&restricted);
    assert_eq!(on.calls, "RevokeSecurityGroupEgress 1, RevokeSecurityGroupIngress 1");
    assert_eq!(on.new, ["group default main in() out()"]);
    env.ec2("delete_network_interface", json!({ "NetworkInterfaceId": id }));

    // A rule that someone adds is drift of this input, and is revoked.
    let group = env.attribute("aws_objects")["default_security_group"].clone();
    let rule = json!([{ "IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{ "CidrIp": "10.0.0.0/8" }] }]);
    env.ec2("authorize_security_group_ingress", json!({ "GroupId": group, "IpPermissions": rule }));
    let drifted = &env.workspace.plan_json(&[])["resource_drift"][0]["change"]["after"];
    assert_eq!(drifted["restrict_default_security_group"], json!(false), "{drifted}");
    let corrected = env.change(&restricted);
    assert_eq!(
        (corrected.calls.as_str(), corrected.new),
        ("RevokeSecurityGroupIngress 1", vec!["group default main in() out()".to_string()])
    );

    env.workspace.reimport(THIS);
    assert_eq!(env.attribute("restrict_default_security_group"), json!(true));
    env.workspace.assert_nothing_to_do();
    let off = env.change(&subnets);
    assert_eq!(off.new, ["group default main in(-1 self) out(-1 0.0.0.0/0, -1 ::/0)"]);
    env.end();
}

/// A fallback that removes the old rules to make room must not leave the group without rules.
#[test]
fn rules_that_aws_rejects_leave_the_old_ones() {
    let env = TestEnv::new();
    let before = with(HTTPS_AND_SELF);
    env.change(&before);
    env.config(&with(&HTTPS_AND_SELF.replace("443", "8443")));
    let code = "RulesPerSecurityGroupLimitExceeded";
    let limit = Fault::on("AuthorizeSecurityGroupIngress").first(2);
    env.proxy.fault(limit.answer(400, code, "The maximum number of rules has been reached."));
    let failed = env.workspace.apply(&[]);
    failed.failed_with(code);
    failed.failed_with("The rules that were revoked to make room exist again");
    env.proxy.clear_faults();
    let again = env.change(&before);
    assert_eq!((again.old, again.new), (vec![], vec![]), "the rules are those from before");
    env.end();
}

#[test]
fn a_permission_with_two_descriptions_is_refused_at_plan() {
    let env = TestEnv::new();
    let rule = |key: &str, description: &str| {
        format!(
            "    {key} = {{ protocol = \"tcp\", from_port = 443, to_port = 443, cidr_blocks = [\"10.0.0.0/8\"], \
             description = \"{description}\" }}\n"
        )
    };
    let rules = |first: &str, second: &str| {
        with(&format!("  default_security_group_ingress_rules = {{\n{}{}  }}", rule("a", first), rule("b", second)))
    };
    env.config(&rules("office", "vpn"));
    let plan = env.workspace.plan(&[]);
    plan.failed_with("The rules \"a\" and \"b\" both allow tcp 443 from 10.0.0.0/8");
    env.config(&rules("office", "web -> db"));
    env.workspace.plan(&[]).failed_with("contains the character '>'");
    let created = env.change(&rules("office", "office")).new;
    assert!(
        created.iter().any(|line| line.contains(" in(tcp:443-443 10.0.0.0/8) ")),
        "equal rules are one: {created:#?}"
    );
    env.end();
}
