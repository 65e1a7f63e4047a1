//! Network ACLs: the filter by ID, which moto does not support, and the ICMP types and codes of rules, which it does
//! not store.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::support::proxy::call::Call;
use crate::support::proxy::lock;
use crate::support::proxy::message::Reply;
use crate::support::proxy::xml::Element;

/// The filter on which moto fails.
pub(super) const ID: &str = "network-acl-id";

/// Applies the filter by ID to the answer, if the call has it.
pub(super) fn of_ids(call: &Call, reply: Reply) -> Result<Reply, String> {
    let filters = call.filters();
    let Some((_, ids)) = filters.iter().find(|(name, _)| *name == ID) else { return Ok(reply) };
    let mut root = Element::parse(&reply.text())?;
    if let Some(set) = root.child_mut("networkAclSet") {
        set.children.retain(|acl| ids.contains(&acl.text_of("networkAclId")));
    }
    Ok(reply.with_body(root.to_string()))
}

/// The ICMP type and code of each rule.
#[derive(Debug, Default)]
pub(super) struct Icmp(Mutex<HashMap<Rule, (String, String)>>);

/// The ID of the network ACL, the egress flag, and the rule number.
type Rule = (String, String, String);

impl Icmp {
    /// Records a created or replaced rule.
    pub(super) fn set(&self, call: &Call) {
        let param = |name: &str| call.param(name).to_owned();
        let rule = (param("NetworkAclId"), param("Egress"), param("RuleNumber"));
        match call.param("Icmp.Type") {
            "" => lock(&self.0).remove(&rule),
            kind => lock(&self.0).insert(rule, (kind.to_owned(), param("Icmp.Code"))),
        };
    }

    pub(super) fn described(&self, reply: Reply) -> Result<Reply, String> {
        let known = lock(&self.0);
        if known.is_empty() {
            return Ok(reply);
        }
        let mut root = Element::parse(&reply.text())?;
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
        Ok(reply.with_body(root.to_string()))
    }
}
