//! Network ACLs: the filter by ID, which moto does not support, and the ICMP types and codes of rules, which it does
//! not store.

use std::collections::HashMap;
use std::sync::Mutex;

use super::{Answer, Done, Element, Params, Repair, Request, async_trait, lock, remove_filters};

/// The filter on which moto fails.
const ID: &str = "network-acl-id";

/// Applies the filter by ID to the answer, if the call has it.
fn of_ids(call: &Request<'_>, answer: &mut Answer) -> Done {
    let filters = call.filters();
    let Some((_, ids)) = filters.iter().find(|(name, _)| *name == ID) else { return Ok(()) };
    let root = answer.root()?;
    if let Some(set) = root.child_mut("networkAclSet") {
        set.children.retain(|acl| ids.contains(&acl.text_of("networkAclId")));
    }
    Ok(())
}

/// The ICMP type and code of each rule.
#[derive(Debug, Default)]
pub(crate) struct Acls(Mutex<HashMap<Rule, (String, String)>>);

/// The ID of the network ACL, the egress flag, and the rule number.
type Rule = (String, String, String);

#[async_trait]
impl Repair for Acls {
    fn change(&self, call: &Request<'_>, params: &mut Params) -> Done {
        if call.name == "DescribeNetworkAcls" {
            remove_filters(call, params, |filter| filter == ID);
        }
        Ok(())
    }

    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        match call.name {
            "DescribeNetworkAcls" => {
                of_ids(call, answer)?;
                self.described(answer)
            }
            "CreateNetworkAclEntry" | "ReplaceNetworkAclEntry" => {
                self.set(call);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Acls {
    /// Records a created or replaced rule.
    fn set(&self, call: &Request<'_>) {
        let param = |name: &str| call.param(name).to_owned();
        let rule = (param("NetworkAclId"), param("Egress"), param("RuleNumber"));
        match call.param("Icmp.Type") {
            "" => lock(&self.0).remove(&rule),
            kind => lock(&self.0).insert(rule, (kind.to_owned(), param("Icmp.Code"))),
        };
    }

    fn described(&self, answer: &mut Answer) -> Done {
        let known = lock(&self.0);
        if known.is_empty() {
            return Ok(());
        }
        let root = answer.root()?;
        for acl in root.items_mut("networkAclSet") {
            let id = acl.text_of("networkAclId").to_owned();
            for entry in acl.items_mut("entrySet") {
                let rule = (id.clone(), entry.text_of("egress").to_owned(), entry.text_of("ruleNumber").to_owned());
                let has_icmp = ["1", "58"].contains(&entry.text_of("protocol"));
                let Some((kind, code)) = known.get(&rule).filter(|_| has_icmp) else { continue };
                let mut icmp = Element::leaf("icmpTypeCode", "");
                icmp.set("type", kind);
                icmp.set("code", code);
                entry.children.retain(|child| child.name != "icmpTypeCode");
                entry.children.push(icmp);
            }
        }
        Ok(())
    }
}
