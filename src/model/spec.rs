//! The kinds of AWS objects, one file each, in the order of creation.
//!
//! A spec contains all inputs of an object in AWS's terms and refers to other objects by key.

mod gateway;
mod kind;
mod network;
mod phrases;
mod references;
mod units;

use std::collections::BTreeMap;

use crate::plugin::Input;

pub use gateway::{
    AccessLog, Api, ApiMapping, ApiRoute, Authorizer, Cors, DnsRecord, DomainName, Integration, LambdaPermission,
    LogGroup, LogSubscription, Stage,
};
pub use kind::{Kind, Spec};
pub use network::{
    DefaultNetworkAcl, DefaultSecurityGroup, Eip, InternetGateway, Ipv6Source, NatGateway, NetworkAclRule, Route,
    RouteTable, RouteTableAssociation, RuleSource, SecurityGroupRule, Subnet, TakenSubnet, Tier, Vpc, VpcEndpoint,
    VpcIpv6Block,
};
pub use units::{MergeContext, Merged};

/// Values that AWS returned for an object in addition to its ID, by name, such as `public_ip` and `owner_id`.
pub type Learned = BTreeMap<String, String>;

impl Spec {
    /// Adds the tags and propagating gateways of another spec that are missing in this one. They are managed one by
    /// one, and those of both specs are managed from now on.
    pub fn merge(&mut self, other: &Spec) {
        if let (Some(Input::Known(tags)), Some(Input::Known(others))) = (self.tags_mut(), other.tags()) {
            for (key, value) in others {
                tags.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        self.merge_owned(other);
    }

    /// The spec to record when the create of this object begins. Until the create has succeeded, what it does last has
    /// not been done.
    #[must_use]
    pub fn of_begun_create(&self) -> Spec {
        let mut spec = self.clone();
        spec.begin_create();
        spec
    }

    /// This spec after the creation of another object of the topology, which AWS may let change this one.
    #[must_use]
    pub fn after_creation_of(mut self, created: &Spec) -> Spec {
        self.follow_creation_of(created);
        self
    }

    /// Whether every input is known.
    pub fn is_known(&self) -> bool {
        !contains_unknown(&self.fields())
    }

    /// The differences of another spec of the same kind from this one, for messages: one phrase per field, with both
    /// values or, for a list, with the elements that only the other spec (`+`) or only this one has (`-`). For tags,
    /// the phrases contain only keys, because the values may be confidential.
    pub fn differences(&self, other: &Spec) -> Vec<String> {
        let (mine, others) = (self.fields(), other.fields());
        let mut differences = Vec::new();
        for (field, value) in &mine {
            let other = others.get(field).unwrap_or(&serde_json::Value::Null);
            if value == other {
                continue;
            }
            differences.extend(phrases::differences(field, value, other));
        }
        differences
    }

    fn fields(&self) -> serde_json::Map<String, serde_json::Value> {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::Object(fields)) => fields,
            _ => serde_json::Map::new(),
        }
    }
}

fn contains_unknown(fields: &serde_json::Map<String, serde_json::Value>) -> bool {
    fn unknown(value: &serde_json::Value) -> bool {
        match value {
            serde_json::Value::Array(items) => items.iter().any(unknown),
            serde_json::Value::Object(fields) => {
                fields.contains_key(crate::plugin::decode::UNKNOWN) || fields.values().any(unknown)
            }
            _ => false,
        }
    }
    fields.values().any(unknown)
}
