//! Adoption of the default security group and the default network ACL, which AWS creates with a VPC.

use serde_json::{Value, json};

use super::{THIS, TestEnv, text};
use crate::support::adoption::{generate, without_adopt};
use crate::support::foreign::network::{ForeignNetwork, foreign_tags};
use crate::support::foreign::{assert_same, structure};

/// A VPC with one subnet in each of two AZs, and the IDs of its default group and its default ACL.
struct Found {
    vpc: String,
    group: String,
    acl: String,
    subnets: Vec<String>,
}

impl Found {
    fn new(env: &TestEnv) -> Self {
        let foreign = ForeignNetwork::new(&env.proxy, "shop");
        let subnet = |(index, zone): (usize, &&str)| {
            let id = foreign.subnet(&format!("shop-db-{zone}"), &format!("10.0.{index}.0/24"), zone);
            foreign.table(&format!("shop-db-{zone}"), None, &[&id]);
            id
        };
        let subnets = ["us-east-1a", "us-east-1b"].iter().enumerate().map(subnet).collect();
        let mut defaults = foreign.defaults();
        let [group, acl] = ["default_security_group", "default_network_acl"]
            .map(|key| defaults.remove(key).expect("every VPC has one"));
        Self { vpc: foreign.vpc, group, acl, subnets }
    }

    /// The rules and the tags of both.
    fn described(&self, env: &TestEnv) -> [Value; 2] {
        let account = env.proxy.account();
        let find = |kind: &str, name: &str, id: &str| {
            let all = account.list_of(kind);
            all.iter().find(|it| it[name] == id).unwrap_or_else(|| panic!("{kind} {id}")).clone()
        };
        [find("security_groups", "GroupId", &self.group), find("network_acls", "NetworkAclId", &self.acl)]
    }

    /// Adds a rule to each: inbound HTTPS to the group, and the denial of a range to the ACL.
    fn add_rules(&self, env: &TestEnv) {
        let https = json!({ "IpProtocol": "tcp", "FromPort": 443, "ToPort": 443,
            "IpRanges": [{ "CidrIp": "10.0.0.0/8", "Description": "inside" }] });
        let rules = json!({ "GroupId": self.group, "IpPermissions": [https] });
        env.ec2("authorize_security_group_ingress", rules);
        let denied = json!({ "NetworkAclId": self.acl, "Egress": false, "RuleNumber": 50, "RuleAction": "deny",
            "Protocol": "-1", "CidrBlock": "192.0.2.0/24" });
        env.ec2("create_network_acl_entry", denied);
    }
}

/// Adopts the network as Terraform proposes it, which changes nothing but tags, and removes `adopt`. Returns the number
/// of adopted objects.
fn adopt(env: &TestEnv, found: &Found) -> usize {
    let generated = generate(&env.workspace, THIS, &found.vpc, "");
    let (before, tags) = (structure(env.proxy.account()), foreign_tags(env.proxy.account()));
    env.proxy.clear_calls();
    env.workspace.apply(&[]).succeeded();
    assert_same(&before, &structure(env.proxy.account()));
    let now = foreign_tags(env.proxy.account());
    assert!(tags.iter().all(|(tag, value)| now.get(tag) == Some(value)), "{tags:?} {now:?}");
    let objects = env.attribute("aws_objects");
    let of_kind = |key: &&String| !key.starts_with("route");
    let tables = |key: &&String| key.starts_with("route_table.");
    let keys = || objects.as_object().expect("a map").keys();
    let adopted = keys().filter(of_kind).count() + keys().filter(tables).count();
    assert_eq!(env.calls(), format!("CreateTags {adopted}"));
    env.workspace.assert_nothing_to_do();

    env.workspace.config("");
    env.workspace.write("generated.tf", &without_adopt(&generated));
    env.workspace.assert_nothing_to_do();
    adopted
}

/// Sets attributes besides those of the generated configuration, which they override.
fn override_with(env: &TestEnv, attributes: &str) {
    let block = format!("resource \"fgw_four_tier_vpc\" \"this\" {{\n{attributes}\n}}\n");
    env.workspace.write("further_override.tf", &block);
}

#[test]
fn original_rules_are_adopted() {
    let env = TestEnv::with_terraform();
    let found = Found::new(&env);
    // The VPC, two subnets with their tables, and the two defaults.
    assert_eq!(adopt(&env, &found), 7);
    assert_eq!([env.id("default_security_group"), env.id("default_network_acl")], [&*found.group, &*found.acl]);
    assert_eq!(env.attribute("enable_default_security_group"), json!(true));
    assert_eq!(env.attribute("apply_default_nacl_rules"), json!(true));
    assert_eq!(env.attribute("associate_default_nacl_to_subnets"), json!(false));

    env.proxy.clear_calls();
    env.destroy();
    let calls = env.calls();
    assert!(!["Revoke", "Entry", "DeleteTags"].iter().any(|call| calls.contains(call)), "{calls}");
}

#[test]
fn a_release_removes_only_what_was_added_after_the_adoption() {
    let env = TestEnv::with_terraform();
    let found = Found::new(&env);
    found.add_rules(&env);
    let before = found.described(&env);
    adopt(&env, &found);

    // A later apply adds a rule to each, and changes one of the ACL that was there before.
    let mut group = env.attribute("default_security_group_ingress_rules");
    let mut acl = env.attribute("default_nacl_ingress_rules");
    group["ssh"] = json!({ "protocol": "tcp", "from_port": 22, "to_port": 22, "cidr_blocks": ["10.1.0.0/16"] });
    acl["60"] = json!({ "rule_no": 60, "action": "deny", "protocol": "-1", "from_port": 0, "to_port": 0,
        "cidr_block": "198.51.100.0/24" });
    acl["50"]["cidr_block"] = json!("192.0.2.0/25");
    override_with(
        &env,
        &format!("  default_security_group_ingress_rules = {group}\n  default_nacl_ingress_rules = {acl}"),
    );
    env.proxy.clear_calls();
    env.workspace.apply(&[]).succeeded();
    assert_eq!(env.calls(), "AuthorizeSecurityGroupIngress 1, CreateNetworkAclEntry 1, ReplaceNetworkAclEntry 1");

    let off = "  enable_default_security_group = false\n  apply_default_nacl_rules = false";
    override_with(&env, off);
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("The default network ACL loses the rules that this resource has added"), "{plan}");
    assert!(plan.says("The rules of the default security group that this resource set are revoked"), "{plan}");
    env.proxy.clear_calls();
    env.workspace.apply(&[]).succeeded();
    assert_eq!(
        env.calls(),
        "DeleteNetworkAclEntry 1, DeleteTags 2, ReplaceNetworkAclEntry 1, RevokeSecurityGroupIngress 1"
    );
    assert_eq!(found.described(&env), before, "rules and tags are as before the adoption");
    env.workspace.assert_nothing_to_do();
    env.destroy();
}

#[test]
fn defaults_that_no_input_expresses_stay_unmanaged() {
    let env = TestEnv::with_terraform();
    let found = Found::new(&env);
    let all = json!({ "GroupId": found.group, "IpPermissions": found.described(&env)[0]["IpPermissions"] });
    env.ec2("revoke_security_group_ingress", all);
    // Another network ACL serves one of the subnets, and the adoption of the default one leaves it.
    let other = text(&env.ec2("create_network_acl", json!({ "VpcId": found.vpc }))["NetworkAcl"]["NetworkAclId"]);
    let associations = found.described(&env)[1]["Associations"].clone();
    let of_subnet = associations.as_array().expect("a list").iter().find(|it| it["SubnetId"] == *found.subnets[1]);
    let association = &of_subnet.expect("the subnet has the default ACL")["NetworkAclAssociationId"];
    let moved = json!({ "AssociationId": association, "NetworkAclId": other });
    let replaced = env.ec2("replace_network_acl_association", moved);

    let generated = generate(&env.workspace, THIS, &found.vpc, "");
    let plan = env.workspace.plan(&[]);
    assert!(plan.says(&format!("{}: it has no inbound rules", found.group)), "{plan}");
    // Consent changes nothing about it.
    let entry = format!("  adopt = {{\n    \"default_security_group\" = \"{}\"\n", found.group);
    env.workspace.write("generated.tf", &generated.replace("  adopt = {\n", &entry));
    env.workspace.plan(&[]).failed_with("cannot be adopted: it has no inbound rules");
    std::fs::remove_file(env.workspace.path().join("generated.tf")).expect("it was written");

    assert_eq!(adopt(&env, &found), 6);
    for (name, value) in [("enable_default_security_group", false), ("apply_default_nacl_rules", true)] {
        assert_eq!(env.attribute(name), json!(value), "{name}");
    }
    // AWS does not delete a VPC with another network ACL.
    let back = json!({ "AssociationId": replaced["NewAssociationId"], "NetworkAclId": found.acl });
    env.ec2("replace_network_acl_association", back);
    env.ec2("delete_network_acl", json!({ "NetworkAclId": other }));
    env.end();
}
