//! The rules that AWS creates with a VPC, and moto does not.

use super::{Answer, Done, Element, Repair, Request, async_trait};

#[derive(Debug, Default)]
pub(crate) struct Vpcs;

#[async_trait]
impl Repair for Vpcs {
    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        match call.name {
            "CreateVpc" => {
                let vpc = answer.root()?.child("vpc").ok_or("CreateVpc returns no VPC")?;
                complete(call, vpc).await
            }
            "AssociateVpcCidrBlock" => {
                let given = ["Ipv6CidrBlock", "Ipv6IpamPoolId"].iter().any(|name| !call.param(name).is_empty());
                let has_range = call.param("AmazonProvidedIpv6CidrBlock") == "true" || given;
                if has_range { allow_ipv6(call, call.param("VpcId")).await } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }
}

/// On AWS, the default security group of a new VPC allows traffic between its members. In moto it allows no ingress.
async fn complete(call: &Request<'_>, vpc: &Element) -> Done {
    let id = vpc.text_of("vpcId");
    let groups = call.describe("DescribeSecurityGroups", &[("vpc-id", id), ("group-name", "default")]).await?;
    for group in groups.items("securityGroupInfo") {
        let group = group.text_of("groupId");
        let rule =
            [("GroupId", group), ("IpPermissions.1.IpProtocol", "-1"), ("IpPermissions.1.Groups.1.GroupId", group)];
        call.describe("AuthorizeSecurityGroupIngress", &rule).await?;
    }
    if vpc.items("ipv6CidrBlockAssociationSet").is_empty() { Ok(()) } else { allow_ipv6(call, id).await }
}

/// On AWS, the association of an IPv6 range also adds rules that allow all IPv6 traffic, to those of the default
/// network ACL and of the default security group that have their original rules: number 101 for each direction of the
/// ACL, and egress for the group. The ACL always gets the last rule 32768, which denies the traffic.
async fn allow_ipv6(call: &Request<'_>, vpc: &str) -> Done {
    let acls = call.describe("DescribeNetworkAcls", &[("vpc-id", vpc), ("default", "true")]).await?;
    for acl in acls.items("networkAclSet") {
        for egress in ["true", "false"] {
            let rules: Vec<&Element> =
                acl.items("entrySet").iter().filter(|entry| entry.text_of("egress") == egress).collect();
            if has_only_original(&rules) {
                allow_in_acl(call, acl, egress, "101", "allow").await?;
            }
            if !rules.iter().any(|rule| rule.text_of("ruleNumber") == "32768") {
                allow_in_acl(call, acl, egress, "32768", "deny").await?;
            }
        }
    }
    let groups = call.describe("DescribeSecurityGroups", &[("vpc-id", vpc), ("group-name", "default")]).await?;
    for group in groups.items("securityGroupInfo").iter().filter(|group| has_original_egress(group)) {
        let rule = [
            ("GroupId", group.text_of("groupId")),
            ("IpPermissions.1.IpProtocol", "-1"),
            ("IpPermissions.1.Ipv6Ranges.1.CidrIpv6", "::/0"),
        ];
        call.describe("AuthorizeSecurityGroupEgress", &rule).await?;
    }
    Ok(())
}

async fn allow_in_acl(call: &Request<'_>, acl: &Element, egress: &str, number: &str, action: &str) -> Done {
    let entry = [
        ("NetworkAclId", acl.text_of("networkAclId")),
        ("RuleNumber", number),
        ("Protocol", "-1"),
        ("RuleAction", action),
        ("Egress", egress),
        ("Ipv6CidrBlock", "::/0"),
    ];
    call.describe("CreateNetworkAclEntry", &entry).await.map(|_| ())
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
