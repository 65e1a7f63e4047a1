//! Names and rules of security groups: the checks that moto does not make.

use std::collections::BTreeMap;

use super::{Element, Instead, Repair, Request, async_trait};

#[derive(Debug, Default)]
pub(crate) struct GroupRules;

#[async_trait]
impl Repair for GroupRules {
    async fn instead(&self, call: &Request<'_>) -> Instead {
        match call.name {
            "AuthorizeSecurityGroupIngress" | "AuthorizeSecurityGroupEgress" => rejected(call),
            "CreateSecurityGroup" => duplicate(call).await,
            _ => Ok(None),
        }
    }
}

/// On AWS, the names of two groups in a VPC differ not only in the case of letters.
async fn duplicate(call: &Request<'_>) -> Instead {
    let (vpc, name) = (call.param("VpcId"), call.param("GroupName"));
    let found = call.describe("DescribeSecurityGroups", &[("vpc-id", vpc)]).await?;
    let is_equal = |group: &Element| group.text_of("groupName").eq_ignore_ascii_case(name);
    let exists = found.items("securityGroupInfo").iter().any(is_equal);
    let text = format!("The security group '{name}' already exists for VPC '{vpc}'");
    call.reject_if(exists, "InvalidGroup.Duplicate", &text)
}

/// AWS rejects a request that contains a permission twice, whatever its descriptions are, and descriptions with other
/// characters; moto accepts both. The provider sends one source for each permission.
fn rejected(call: &Request<'_>) -> Instead {
    let mut permissions: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (name, value) in &call.params {
        let Some((number, property)) = name.strip_prefix("IpPermissions.").and_then(|rest| rest.split_once('.')) else {
            continue;
        };
        if !property.ends_with(".Description") {
            permissions.entry(number).or_default().push((property, value));
        } else if !value.chars().all(is_allowed) || value.len() > 255 {
            let text = "Invalid rule description. Valid descriptions are strings less than 256 characters from the \
                        following set:  a-zA-Z0-9. _-:/()#,@[]+=&;{}!$*";
            return Ok(Some(call.rejected("InvalidParameterValue", text)));
        }
    }
    let mut all: Vec<_> = permissions.into_values().collect();
    let count = all.len();
    all.sort();
    all.dedup();
    let text = "The same permission must not appear multiple times";
    call.reject_if(all.len() < count, "InvalidParameterValue", text)
}

fn is_allowed(character: char) -> bool {
    character.is_ascii_alphanumeric() || " ._-:/()#,@[]+=&;{}!$*".contains(character)
}
