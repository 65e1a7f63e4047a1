//! The rules that AWS creates with a VPC, and moto does not.

use crate::support::proxy::call::Call;
use crate::support::proxy::message::{Message, Reply};
use crate::support::proxy::upstream::Upstream;
use crate::support::proxy::xml::Element;

/// On AWS, the default security group of a new VPC allows traffic between its members. In moto it allows no ingress.
pub(super) async fn complete(emulator: &Upstream, message: &Message, reply: Reply) -> Result<Reply, String> {
    let root = Element::parse(&reply.text())?;
    let vpc = root.child("vpc").ok_or("CreateVpc returns no VPC")?;
    let id = vpc.text_of("vpcId");
    let filter = [
        ("Filter.1.Name", "vpc-id"),
        ("Filter.1.Value.1", id),
        ("Filter.2.Name", "group-name"),
        ("Filter.2.Value.1", "default"),
    ];
    let groups = emulator.describe(message, "DescribeSecurityGroups", &filter).await?;
    for group in groups.items("securityGroupInfo") {
        let group = group.text_of("groupId");
        let rule =
            [("GroupId", group), ("IpPermissions.1.IpProtocol", "-1"), ("IpPermissions.1.Groups.1.GroupId", group)];
        emulator.describe(message, "AuthorizeSecurityGroupIngress", &rule).await?;
    }
    if !vpc.items("ipv6CidrBlockAssociationSet").is_empty() {
        allow_ipv6(emulator, message, id).await?;
    }
    Ok(reply)
}

pub(super) async fn complete_ipv6(
    emulator: &Upstream,
    call: &Call,
    message: &Message,
    reply: Reply,
) -> Result<Reply, String> {
    let given = ["Ipv6CidrBlock", "Ipv6IpamPoolId"].iter().any(|name| !call.param(name).is_empty());
    if call.param("AmazonProvidedIpv6CidrBlock") == "true" || given {
        allow_ipv6(emulator, message, call.param("VpcId")).await?;
    }
    Ok(reply)
}

/// On AWS, the association of an IPv6 range also adds rules that allow all IPv6 traffic, to those of the default
/// network ACL and of the default security group that have their original rules: number 101 for each direction of the
/// ACL, and egress for the group. The ACL always gets the last rule 32768, which denies the traffic.
async fn allow_ipv6(emulator: &Upstream, message: &Message, vpc: &str) -> Result<(), String> {
    let default = |name, value| {
        [("Filter.1.Name", "vpc-id"), ("Filter.1.Value.1", vpc), ("Filter.2.Name", name), ("Filter.2.Value.1", value)]
    };
    let acls = emulator.describe(message, "DescribeNetworkAcls", &default("default", "true")).await?;
    for acl in acls.items("networkAclSet") {
        for egress in ["true", "false"] {
            let rules: Vec<&Element> =
                acl.items("entrySet").iter().filter(|entry| entry.text_of("egress") == egress).collect();
            if has_only_original(&rules) {
                allow_in_acl(emulator, message, acl, egress, "101", "allow").await?;
            }
            if !rules.iter().any(|rule| rule.text_of("ruleNumber") == "32768") {
                allow_in_acl(emulator, message, acl, egress, "32768", "deny").await?;
            }
        }
    }
    let groups = emulator.describe(message, "DescribeSecurityGroups", &default("group-name", "default")).await?;
    for group in groups.items("securityGroupInfo").iter().filter(|group| has_original_egress(group)) {
        let rule = [
            ("GroupId", group.text_of("groupId")),
            ("IpPermissions.1.IpProtocol", "-1"),
            ("IpPermissions.1.Ipv6Ranges.1.CidrIpv6", "::/0"),
        ];
        emulator.describe(message, "AuthorizeSecurityGroupEgress", &rule).await?;
    }
    Ok(())
}

async fn allow_in_acl(
    emulator: &Upstream,
    message: &Message,
    acl: &Element,
    egress: &str,
    number: &str,
    action: &str,
) -> Result<(), String> {
    let entry = [
        ("NetworkAclId", acl.text_of("networkAclId")),
        ("RuleNumber", number),
        ("Protocol", "-1"),
        ("RuleAction", action),
        ("Egress", egress),
        ("Ipv6CidrBlock", "::/0"),
    ];
    emulator.describe(message, "CreateNetworkAclEntry", &entry).await.map(|_| ())
}

/// Whether these are the rules of one direction of a new VPC without IPv6.
fn has_only_original(rules: &[&Element]) -> bool {
    let is_original = |rule: &&&Element| {
        let fields = ["protocol", "ruleAction", "cidrBlock"].map(|name| rule.text_of(name));
        match rule.text_of("ruleNumber") {
            "100" => fields == ["-1", "allow", "0.0.0.0/0"],
            number => number == "32767",
        }
    };
    rules.len() == 2 && rules.iter().filter(is_original).count() == 2
}

/// Whether the group has the egress rule of a new VPC without IPv6, and no other one.
fn has_original_egress(group: &Element) -> bool {
    let [permission] = group.items("ipPermissionsEgress") else { return false };
    let [range] = permission.items("ipRanges") else { return false };
    permission.text_of("ipProtocol") == "-1"
        && range.text_of("cidrIp") == "0.0.0.0/0"
        && ["ipv6Ranges", "groups", "prefixListIds"].iter().all(|list| permission.items(list).is_empty())
}
