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

/// On AWS, the default network ACL of a VPC with IPv6 has rule 101, which allows all IPv6 traffic, and the last rule
/// 32768, which denies it.
async fn allow_ipv6(emulator: &Upstream, message: &Message, vpc: &str) -> Result<(), String> {
    let filter = [
        ("Filter.1.Name", "vpc-id"),
        ("Filter.1.Value.1", vpc),
        ("Filter.2.Name", "default"),
        ("Filter.2.Value.1", "true"),
    ];
    let acls = emulator.describe(message, "DescribeNetworkAcls", &filter).await?;
    for acl in acls.items("networkAclSet") {
        for (number, action) in [("101", "allow"), ("32768", "deny")] {
            for egress in ["true", "false"] {
                let entry = [
                    ("NetworkAclId", acl.text_of("networkAclId")),
                    ("RuleNumber", number),
                    ("Protocol", "-1"),
                    ("RuleAction", action),
                    ("Egress", egress),
                    ("Ipv6CidrBlock", "::/0"),
                ];
                // For the second block of a VPC, the rules exist already.
                let _may_exist = emulator.ec2(message, "CreateNetworkAclEntry", &entry).await?;
            }
        }
    }
    Ok(())
}
